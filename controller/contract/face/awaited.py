"""Tells, as a code, what a table waits for: the table's next step, and who has to act. The code is derived from the
table's public face (what everybody may see of the table). Each page has its own text for the code."""

from __future__ import annotations

from controller.contract.face.table import Public


def awaited(face: Public) -> str:
    """Return the code of what the table waits for, such as "card". The language files have texts for each code: in the
    section `waiting` for the table's status, and in the section `waits` for the players' screen.

    While the table stands still because of a fault, it waits for a supervisor. In this case, the code still says what
    the table would wait for without the fault.
    """
    if face.choice is not None:
        return "choice"
    if face.reveal:
        return "reveal"
    if face.next_hand is not None:
        return "odd_card" if face.simulated and face.phase == "round_in_play" else "card"
    match face.phase:
        case "wagers_locked" | "round_in_play":
            return "any_card"
        case "wagers_open" if face.wagers_stand is not None:
            return "wagers_stand"
        case "shoe_ended" if face.commission_owed:
            return "commission"
        case phase:
            return phase
