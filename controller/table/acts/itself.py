"""The acts on the table itself, which every game has: to pause the table, to resume it, and to test the lamps, the
buttons or the display of a hit.

A test is journalled, because somebody did it, but it does not change the table's state. For some seconds the lamps show
the test, and the table's status says that a test is running. A round, a fault or a new shoe ends the test.
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
    """The journalled fact that somebody paused the table between two rounds, for a change of dealers, a fill of chips
    or a break."""

    by: str


class PauseTable(Request, frozen=True):
    """A request to pause the table. Until somebody resumes the table, no wager can be placed or locked and no card can
    be drawn."""

    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the table is paused. The chips on the layout stay as they are."""
        return TablePaused(self.by)


class TableResumed(ByPerson, frozen=True):
    """The journalled fact that somebody resumed the paused table. Wagers may be placed again."""

    by: str


class ResumeTable(Request, frozen=True):
    """A request to resume the paused table."""

    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the pause has ended."""
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
    """The journalled fact that somebody tested the lamps: for a few seconds every lamp was lit, or only the lamp that
    `lamp` names."""

    by: str
    lamp: str | None = None


class LampTest(Request, frozen=True):
    """A request to light every lamp for a few seconds, or only the lamp that `lamp` names."""

    by: str
    lamp: str | None = None

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that somebody tested the lamps. This fact lights the lamps and changes nothing
        else."""
        return LampsTested(self.by, self.lamp)


class InputsTested(ByPerson, frozen=True):
    """The journalled fact that somebody tested the buttons: for a few seconds each press was only shown on the screen,
    and had no effect."""

    by: str


class InputTest(Request, frozen=True):
    """A request to test the buttons: for a few seconds each press is only shown on the screen, and has no effect."""

    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that somebody tested the buttons. This fact affects only the buttons."""
        return InputsTested(self.by)


class HitTested(ByPerson, frozen=True):
    """The journalled fact that somebody made a test hit at a seat. The table showed the hit and reported it to the pit,
    but nobody won anything."""

    seat: int
    by: str


class HitTest(Request, frozen=True):
    """A request to show a test hit at a seat, and to report the test to the pit. Nobody wins anything."""

    seat: int
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the test hit. The test is refused if the table has no such seat. It is also
        refused while a real hit is shown, because somebody could mistake the real hit for the test."""
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
