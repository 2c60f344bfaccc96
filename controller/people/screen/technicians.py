"""Prepares the technician's page: the present state of the table, of its links and of its shoe, made from the table's
public status."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable
from typing import Any

from msgspec.structs import asdict

from controller.contract.face.page import PageCode
from controller.contract.face.placard import Placard
from controller.contract.face.status import MetersRefused, PitLink, Status
from controller.contract.face.table import Public, PublicFault
from controller.people.screen.figures import RoundRow
from controller.people.screen.hands import waits
from controller.people.screen.placards import meters_of
from controller.words.events import asked, counted
from controller.words.language import language

_ROUND_COLUMNS = ("shoe", "round", "at", "outcome", "marks", "cards", "left")

_ACTS = {"new_shoe": "new-shoe", "count": "count CARDS", "card": "card KS"}
"""How an exit is typed, where that differs from its name."""


CLOCK = {
    True: "set by the network",
    False: "Dealing goes on. The times in the journal may be wrong. An old message of the pit, sent again by somebody, "
    "could pass as new. Let the machine's time service set the clock.",
}


class Ages:
    """Notes since when each link (for example, to the shoe or to the pit) has been in its present state, as far as this
    program has seen."""

    def __init__(self) -> None:
        self._since_s: dict[str, tuple[object, float]] = {}

    def of(self, link: str, state: object) -> int:
        """Return for how many seconds the link has been in the state `state`; 0 if the state is new."""
        before, since_s = self._since_s.get(link, (None, 0.0))
        if link not in self._since_s or before != state:
            since_s = time.monotonic()
            self._since_s[link] = state, since_s
        return int(time.monotonic() - since_s)


def page_standing(paints: bool | None, browsers: int) -> PageCode:
    """Return a code that says where the players' page is seen: on the attached monitor, in some browser, or nowhere; or
    that the attached monitor stays dark. `paints` tells whether the page on the attached monitor paints; None if there
    is no monitor."""
    if paints is False:
        return "page_dark"
    if not browsers:
        return "page_unseen"
    return "page_on_monitor" if paints else "page_in_browser"


def technician_view(placard: Placard, status: Status, ages: Ages, page: PageCode = "page_on_monitor") -> dict[str, Any]:
    """Return what the technician's page shows of the table's present state, as a single part of the page, because all
    of it changes every second. `page` is a code that says where the players' page is seen."""
    face, shoe, pit, journal = status.face, status.shoe, status.pit, status.journal
    return {
        "title": f"{placard.name}: {placard.game}",
        "waits": "Stopped" if face.fault else waits(face)["en"],
        "fault": _fault(face.fault),
        "links": _links(status, ages, page),
        "facts": {
            "Phase": face.phase.replace("_", " "),
            "Shoe and round": f"{face.shoe or '–'} / {face.round or '–'}",
            "Events acknowledged": f"{pit.acked_seq} of {pit.head_seq}",
            "Events that wait": _waiting(pit, ages),
            "Bad bytes on the shoe's line": ", ".join(f"{n} {why}" for why, n in shoe.bad_bytes.items()) or "none",
            "Second person": asked(status.second_person, language()) if status.second_person else "nothing waits",
            "Covered sensors": ", ".join(map(str, status.sensors)) or "none",
            "Rows in archives": str(journal.archived_rows),
            "Version": f"{status.version}, up {status.up_s // 3600} h {status.up_s // 60 % 60} min",
            "The table's key": status.key_fingerprint,
            "The pit's key": _shown(pit.key.pinned),
            "Messages refused: not signed by the pit's key": ", ".join(
                f"{many} on {kind}" for kind, many in pit.key.forged.items()
            )
            or "none",
        },
        "shoe": _shoe(placard, face),
        "fresh": pit.meters_fresh,
        "meters": [_meter(meter, pit) for meter in meters_of(placard)],
        "meters_refused": _meters_refused(pit.meters_refused),
        "lamps": status.lamps,
        "inputs": [*status.inputs],
    }


def _links(status: Status, ages: Ages, page: PageCode) -> list[dict[str, Any]]:
    shoe, pit, journal = status.shoe, status.pit, status.journal
    return [
        _link("Card shoe", shoe.up, shoe.why, ages),
        _link("Pit", pit.stream == "streaming", pit.stream.replace("_", " ") + _why(pit.why), ages),
        _link("Progressive levels", pit.meters_fresh, _levels(pit), ages),
        _link("Clock", status.clock_set, CLOCK[status.clock_set], ages) | {"down": "not set"},
        _link("Journal", journal.error is None, journal.error or "written", ages),
        _link("Players' page", page in ("page_on_monitor", "page_in_browser"), language().text("say", page), ages),
    ]


def _shoe(placard: Placard, face: Public) -> dict[str, str]:
    """Return the lines about the open shoe: how many cards were burned, where the cut card came, and how many cards are
    left."""
    if face.shoe is None:
        return {"Shoe": "none yet"}
    to_come = f", and {face.burn_left} to come" if face.burn_left else ""
    left = face.left_at_cut_card
    cut = "to come" if left is None else f"came with {counted(left, 'card')} left"
    return {
        "Shoe": f"{face.shoe}, of {counted(placard.decks, 'deck')}: {52 * placard.decks} cards",
        "Turned up and burned at the beginning": f"{counted(face.burned or 0, 'card')}{to_come}",
        "Cut card": f"{cut}; its place is {counted(placard.cut_card_from_end, 'card')} from the end",
        "Cards left": _shown(face.cards_left),
        "Last round of the shoe": _last_round(face),
    }


def _last_round(face: Public) -> str:
    if face.phase == "shoe_ended":
        return "over"
    return "now" if face.final_round else "to come"


def rounds_csv(rows: Iterable[RoundRow]) -> str:
    """Return these rounds as CSV text for a spreadsheet, one round a line."""
    told = io.StringIO()
    table = csv.DictWriter(told, _ROUND_COLUMNS, lineterminator="\n", extrasaction="ignore")
    table.writeheader()
    table.writerows(asdict(row) | {"marks": " ".join(row.marks)} for row in rows)
    return told.getvalue()


def _waiting(pit: PitLink, ages: Ages) -> str:
    """Return a text that says how many events wait for the pit's acknowledgement, and for at least how many seconds the
    first of them has waited."""
    waits_s = ages.of("acknowledgement", (pit.acked_seq, pit.unacknowledged > 0))
    many = f"{pit.unacknowledged} ({pit.most_unacknowledged} may wait)"
    return f"{many}; the first for {waits_s} s" if pit.unacknowledged else many


def _levels(pit: PitLink) -> str:
    """Return a text that says whether the levels of the progressive meters are fresh. If the pit does not know a meter
    of this game, the text names that meter and says what to do."""
    if pit.standing.code != "meter_unknown":
        return "fresh" if pit.meters_fresh else "not fresh"
    return " ".join(told.format(**pit.standing.details) for told in language().pit("meter_unknown"))


def _meter(meter: str, pit: PitLink) -> dict[str, Any]:
    """Return a meter's level twice: as the table shows it (`here_cents`), and as the pit's last message has it
    (`pit_cents`), even if the table refused that message."""
    refused, here = pit.meters_refused, pit.meters.get(meter)
    return {"meter": meter, "here_cents": here, "pit_cents": refused.meters.get(meter) if refused else here}


def _meters_refused(refused: MetersRefused | None) -> str | None:
    if refused is None:
        return None
    said = f"The pit's last word on the meters, number {refused.seq} of {refused.at[:19].replace('T', ' ')} UTC"
    return f"{said}, is refused: {refused.why}. The table shows the word before."


def _link(name: str, up: bool, why: str, ages: Ages) -> dict[str, Any]:
    return {"name": name, "up": up, "down": "DOWN", "why": why, "for_s": ages.of(name, (up, why))}


def _why(why: str) -> str:
    return f": {why}" if why else ""


def _shown(value: object) -> str:
    return "–" if value is None else str(value)


def _fault(fault: PublicFault | None) -> dict[str, Any] | None:
    if fault is None:
        return None
    what, do = language().fault(fault.code)
    return {
        "code": fault.code,
        "what": what,
        "do": do,
        "details": ", ".join(f"{name.replace('_', ' ')} {said}" for name, said in fault.details.items()),
        "exits": [f"tablectl {_ACTS.get(exit_, exit_)} --fault {fault.id} --by NAME" for exit_ in fault.exits],
        "held_cards": fault.held_cards,
    }
