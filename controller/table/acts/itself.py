"""The acts on the table itself, whatever is dealt there: its pause, and the tests of its lamps and inputs.

A test is journalled, because somebody did it, and changes nothing of the table. The test shows at the lamps for
seconds, and the status says meanwhile that a test shows there. A round, a fault or a new shoe ends the test.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from controller.table.acts.entry import (
    DEALER,
    IN_A_ROUND,
    KEY,
    NO_SHOE,
    UNTIL_BURNED,
    Act,
    Ambient,
    Argument,
    BadArgumentError,
    Form,
    Press,
    Request,
    When,
    Who,
    everywhere,
    seat,
)
from controller.table.facts import ByPerson, Fact
from controller.table.legality import Refuse, refuse
from controller.table.states import Burning, NoShoe, Paused, ShoeEnded, Table, WagersOpen

GROUP = "The table itself"


class TablePaused(ByPerson, frozen=True):
    """Somebody paused the table between two rounds: for a dealer's change, a fill or a break."""

    by: str


class PauseTable(Request, frozen=True):
    """Pause the table: no wager, no lock and no card until it is resumed."""

    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The pause. Chips that lie on the layout stay as they lie."""
        return TablePaused(self.by)


class TableResumed(ByPerson, frozen=True):
    """Somebody resumed the paused table: wagers are open."""

    by: str


class ResumeTable(Request, frozen=True):
    """Resume the paused table."""

    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The end of the pause."""
        return TableResumed(self.by)


PAUSE = Act(
    name="pause",
    group=GROUP,
    who=Who.DEALER,
    says="pause the table between rounds: no wager, no lock and no card until it is resumed",
    example="--by Smith",
    forms=(Form(PauseTable, PauseTable),),
    becomes=(TablePaused,),
    refused={**NO_SHOE, **UNTIL_BURNED, Paused: "paused", **IN_A_ROUND},
    leads_to=(Paused,),
    presses=tuple(
        Press("pause", key_turned, "the table is paused: no wagers and no cards", partial(PauseTable, DEALER), When.ANY)
        for key_turned in (False, True)
    ),
)

RESUME = Act(
    name="resume",
    group=GROUP,
    who=Who.DEALER,
    says="resume the paused table: wagers are open",
    example="--by Smith",
    forms=(Form(ResumeTable, ResumeTable),),
    becomes=(TableResumed,),
    refused=everywhere("not_paused", but=(Paused,)),
    leads_to=(WagersOpen,),
    presses=tuple(
        Press("pause", key_turned, "the table goes on: wagers are open", partial(ResumeTable, DEALER), When.PAUSED)
        for key_turned in (False, True)
    ),
)


class LampsTested(ByPerson, frozen=True):
    """Somebody had every lamp lit for a while, or this one and no other."""

    by: str
    lamp: str | None = None


class LampTest(Request, frozen=True):
    """Light every lamp for a while, or this one and no other."""

    by: str
    lamp: str | None = None

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The test, which the lamps alone follow."""
        return LampsTested(self.by, self.lamp)


class InputsTested(ByPerson, frozen=True):
    """Somebody pressed the buttons to see them come, so for a while no press meant anything."""

    by: str


class InputTest(Request, frozen=True):
    """Let no press mean anything for a while, and show what is pressed."""

    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The test, which the buttons alone follow."""
        return InputsTested(self.by)


class HitTested(ByPerson, frozen=True):
    """Somebody had a test hit of this seat shown and told. Nothing was won."""

    seat: int
    by: str


class HitTest(Request, frozen=True):
    """Show and tell a test hit of this seat."""

    seat: int
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The test, unless a hit is shown that somebody could take for it."""
        if self.seat not in table.rules.seat_numbers:
            return refuse("no_such_seat")
        return refuse("hit_shown") if table.hits else HitTested(self.seat, self.by)


def _lamp(value: Any) -> str:
    if not isinstance(value, str) or not value or len(value) > 40:
        raise BadArgumentError(f"{value} is not a lamp.", "Write its name from [pins.lamps]: seat_3, fault.")
    return value


_LAMP = Argument("lamp", "LAMP", "this lamp alone, by its name in [pins.lamps]", _lamp, flag="lamp")

LAMP_TEST = Act(
    name="lamp-test",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="light every lamp for five seconds, or one lamp alone",
    example="--by Smith",
    forms=(
        Form(LampTest, LampTest),
        Form(LampTest, lambda lamp, by: LampTest(by, lamp), (_LAMP,)),
    ),
    becomes=(LampsTested,),
    refused={Burning: "burn_unfinished", **IN_A_ROUND},
    presses=(Press("cut_card", True, "light every lamp for five seconds", lambda: LampTest(KEY)),),
)

INPUT_TEST = Act(
    name="input-test",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="for a minute no button means anything, so that each can be pressed and seen to come",
    example="--by Smith",
    forms=(Form(InputTest, InputTest),),
    becomes=(InputsTested,),
    refused=everywhere("shoe_open", but=(NoShoe, ShoeEnded)),
)

TEST_HIT = Act(
    name="test-hit",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="a test hit: the seat's lamp blinks for five seconds and the pit is told; nothing is won",
    example="3 --by Smith",
    forms=(Form(HitTest, HitTest, (seat("seat"),)),),
    becomes=(HitTested,),
    refused={Burning: "burn_unfinished", **IN_A_ROUND},
)

TESTS: dict[type[ByPerson], str] = {LampsTested: "lamp_test", InputsTested: "input_test", HitTested: "test_hit"}
"""What the status calls the test that shows."""

ACTS = (PAUSE, RESUME, LAMP_TEST, INPUT_TEST, TEST_HIT)
