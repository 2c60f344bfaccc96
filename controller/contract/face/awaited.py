"""What a table waits for, as a code: what the table does next, and who is asked. Each page has its own words for it."""

from __future__ import annotations

from controller.contract.face.table import Public


def awaited(face: Public) -> str:
    """What the table waits for, a key of the words' section `waiting` and of the players' section `waits`.

    While a fault stands the table waits for a supervisor; then the code says what its phase would wait for.
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
