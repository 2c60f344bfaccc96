"""Makes the record of a finished round, step by step, from the journal: for a terminal, a web page, and a supervisor's
screen.

The frames (messages) that the shoe sent are decoded again, and must give the facts in the journal. A card that nobody
saw stays hidden even after the round. Example: a round is voided before its face-down cards are turned up. Then the
record has neither those cards nor their frames.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import Enum

from msgspec import Struct, structs

from controller.basics.errors import TableError
from controller.basics.money import amount
from controller.contract.events import FACE_DOWN
from controller.contract.face.record import RoundRecord, RowTold, Step
from controller.contract.face.table import Public
from controller.contract.fingerprint import fingerprint
from controller.contract.old_events import as_now
from controller.daemon.record.journal_reading import Origin
from controller.daemon.record.journal_rows import Row
from controller.daemon.record.replay import refold, with_failures
from controller.table.face_down import comes_face_down
from controller.table.facts import CardDrawn, CardKept, Fact, ShoeOpened, StepFailed
from controller.table.lamps import Live, lamps
from controller.table.legality import Row as Report
from controller.table.public import public
from controller.table.states import Locked, RoundInPlay, Table
from drivers import shoe as shoes
from drivers.line.bad_bytes import BadBytes

_LEFT_OUT = ("report", "rules", "carried", "last_report")
_AS_IF = Live(frozenset(), pit_fresh=True, shoe_up=True, pit_up=True, journal_ok=True)
"""What the lamps need and the journal does not hold: as when nothing is wrong."""


def round_named(which: str) -> tuple[int, int]:
    """Parse the name of a round, such as "3/12", into the numbers of the shoe and the round. Raises TableError
    `no_such_round` for any other text."""
    shoe, _, number = which.partition("/")
    if not (shoe.isdecimal() and number.isdecimal()):
        raise TableError("no_such_round", f"`{which}` does not name a round.", "Write SHOE/ROUND, for example 3/12.")
    return int(shoe), int(number)


def round_record(rows: Iterable[Row], origin: Origin, which: str) -> RoundRecord:
    """Return the record of the round that `which` names, such as "3/12".

    `rows` are rows of the journal that begin with the shoe's opening or earlier, and are already checked. `origin` says
    whose journal it is. Raises TableError `no_such_round` if the journal holds no such round or the round has not
    ended.
    """
    steps, corrections = round_steps(rows, which)
    end, seen = steps[-1], seen_at_end(steps)
    told = [step.told(seen) for step in steps]
    seqs = [event["seq"] for step in told for event in step.events]
    return RoundRecord(
        round=which,
        table=origin.table,
        game=end.face.game,
        epoch=origin.epoch,
        key=fingerprint(origin.public_key),
        rows=(steps[0].row.number, end.row.number),
        chain=(steps[0].row.previous_head.hex(), end.row.previous_head.hex()),
        events=(min(seqs), max(seqs)),
        acked_seq=origin.acked_seq,
        steps=(structs.replace(told[0], wagers=steps[0].face.wagers), *told[1:]),
        corrections=tuple(map(_row_told, corrections)),
    )


class RoundStep(Struct):
    """A journal row of a round, with the table's state before and after it. If the row ends the round, `ends` is
    "round" or "void"; otherwise None."""

    row: Row
    before: Table
    after: Table
    failed: bool
    ends: str | None

    @property
    def face(self) -> Public:
        return public(self.after)

    def told(self, seen: Public) -> Step:
        """Return this step of the round in the form for people. `seen` is the table's public view when the round
        ended."""
        row, face, hidden = self.row, self.face, self.hides(seen)
        frame: str | None = None if isinstance(row.fact, StepFailed) else _frame(row.fact)  # it has no frame
        again = None if frame is None or self.failed else _read_again(row, bytes.fromhex(frame))
        then = f"next card to {face.next_hand}" if face.next_hand else face.phase.replace("_", " ")
        return Step(
            **structs.asdict(_row_told(row, hidden)),
            failed=self.failed,
            frame=None if hidden else frame,
            again=None if hidden else again,
            hands=tuple(hand for hand in face.hands if hand.cards),
            then=f"FAULT {face.fault.code}" if face.fault else then,
            lamps={name: pattern.name.lower() for name, pattern in lamps(face, _AS_IF).items()},
        )

    def hides(self, seen: Public) -> bool:
        """Return True if the row must be hidden, because it reveals a card that nobody saw. `seen` is the table's
        public view when the round ended."""
        fact = self.row.fact
        if _frame(fact) is None and getattr(fact, "card", None) is None:
            return False
        up = {(hand.hand, place) for hand in seen.hands for place, card in enumerate(hand.cards) if card != FACE_DOWN}
        if not isinstance(self.after.phase, Locked):  # while wagers are locked, the layout still shows the round before
            there = _laid(public(self.before)) if isinstance(self.before.phase, RoundInPlay) else set()
            if laid := _laid(self.face) - there:
                return not laid <= up
        if isinstance(fact, CardDrawn | CardKept):
            return comes_face_down(self.before, Report.CARD if isinstance(fact, CardDrawn) else Report.CARD_KEPT)
        return any(FACE_DOWN in hand.cards for hand in seen.hands)


def _laid(face: Public) -> set[tuple[str, int]]:
    """Return the places on the felt that hold a card, each as the hand and the card's index in that hand."""
    return {(hand.hand, place) for hand in face.hands for place in range(len(hand.cards))}


def seen_at_end(steps: list[RoundStep]) -> Public:
    """Return the table's public view when the round ended. It names the cards that lay face up, and no other card."""
    end = steps[-1]
    return public(end.before) if end.ends == "void" else end.face


def round_steps(rows: Iterable[Row], which: str) -> tuple[list[RoundStep], list[Row]]:
    """Return the steps of the round that `which` names, such as "3/12", and the later rows that corrected it.

    `rows` are rows of the journal that begin with the shoe's opening or earlier. Raises TableError `no_such_round` if
    no such round has ended.
    """
    shoe, number = round_named(which)
    table: Table | None = None
    steps: list[RoundStep] = []
    corrections: list[Row] = []
    for row, failed in with_failures(rows):
        if steps and steps[-1].ends:
            if any(_is(body, shoe, number, "correction") for body in row.messages):
                corrections.append(row)
            continue
        if isinstance(row.fact, ShoeOpened):
            table = Table(row.fact.rules)
        if table is None:
            continue
        before = table
        if not failed:
            table, _ = refold(table, row)
        if table.shoe is None or table.shoe.number != shoe:
            continue
        ends = next((type_ for body in row.messages if (type_ := _is(body, shoe, number, "round", "void"))), None)
        if ends or number in (before.round_number, table.round_number):
            steps.append(RoundStep(row, before, table, failed, ends))
    if not steps or not steps[-1].ends:
        do = "`tablectl rounds` lists the finished rounds. A round in play has no record yet."
        raise TableError("no_such_round", f"The journal holds no finished round {which}.", do)
    return steps, corrections


def _is(body: bytes, shoe: int, number: int, *types: str) -> str | None:
    event = json.loads(body)
    type_: str = event["type"]
    return type_ if type_ in types and (event["shoe"], event["round"]) == (shoe, number) else None


def _row_told(row: Row, hidden: bool = False) -> RowTold:
    kind = type(row.fact).__name__
    return RowTold(
        row=row.number,
        at=row.stamp.text(),
        clock_set=row.stamp.synchronised,
        via=row.via,
        fact=f"{kind}(of a card that nobody saw)" if hidden else said_in_words(row.fact),
        events=tuple(as_now(json.loads(body)) for body in row.messages),
    )


def tells_card(frame: str) -> bool:
    """Tell whether a frame of a shoe, in hex, reveals a card. The frame is decoded as each brand of shoe would."""
    told = (fact for name in shoes.NAMES for fact in shoes.brand(name).read_again(bytes.fromhex(frame)))
    return any(hasattr(fact, "card") for fact in told)


def _frame(fact: Fact) -> str | None:
    report = getattr(fact, "report", None)
    return None if report is None else report.frame


def _read_again(row: Row, frame: bytes) -> str:
    """Decode the shoe's frame with the present version of the program. Return a text that says whether the result is
    still the row's fact.

    The row names the brand of shoe that sent the frame. If an old row names no brand, every brand is tried.
    """
    written_by = row.via.removeprefix("shoe ")
    names = [written_by] if written_by in shoes.NAMES else shoes.NAMES
    read = [shoes.brand(name).read_again(frame) for name in names]
    if [row.fact] in read:
        return "which reads the same today"
    heard = min(read, key=lambda reports: sum(isinstance(report, BadBytes) for report in reports))
    return f"WHICH READS {', '.join(map(said_in_words, heard)) or 'NOTHING'} TODAY"


def said_in_words(report: Struct) -> str:
    """Return the type's name and the values of a fact, or of bad bytes of the shoe, as text for people.

    The text leaves out the shoe's raw reports, the rules, the reports that a new shoe sent early, empty values, and
    values that are None or False.
    """
    return f"{type(report).__name__}({_values_in_words(report)})"


def _values_in_words(report: Struct) -> str:
    values = {name: value for name, value in structs.asdict(report).items() if name not in _LEFT_OUT}
    there = {name: value for name, value in values.items() if value is not None and value is not False}
    return ", ".join(_named(name, value) for name, value in there.items() if value not in ((), {}))


def _named(name: str, value: object) -> str:
    if value is True:
        return name.replace("_", " ")
    return amount(value) if name == "cents" and isinstance(value, int) else f"{name} {_value_in_words(value)}"


def _value_in_words(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        between = "; " if any(isinstance(each, Struct) for each in value) else ", "
        return f"({between.join(map(_value_in_words, value))})"
    if isinstance(value, dict):  # the meters' levels
        return f"({', '.join(f'{name} {amount(cents)}' for name, cents in value.items())})"
    if isinstance(value, Struct):
        return _values_in_words(value)
    return str(value)
