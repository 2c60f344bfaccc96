"""The acts on the table itself."""

from __future__ import annotations

from dataclasses import dataclass

from controller.table.acts.entry import IN_A_HAND, KEY, Act, Ambient, Form, Press, Request, Who
from controller.table.facts import ByPerson, Fact
from controller.table.legality import Refuse
from controller.table.states import Burning, Table

GROUP = "The table itself"


@dataclass(frozen=True, slots=True)
class LampsTested(ByPerson):
    """A person had every lamp lit for a while."""

    by: str


@dataclass(frozen=True, slots=True)
class LampTest(Request):
    """Light every lamp for a while."""

    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The test. Only the lamps follow this fact."""
        return LampsTested(self.by)


LAMP_TEST = Act(
    name="lamp-test",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="light every lamp for five seconds",
    example="--by Smith",
    forms=(Form(LampTest, LampTest),),
    becomes=(LampsTested,),
    refused={Burning: "burn_unfinished", **IN_A_HAND},
    presses=(Press("cut_card", True, "light every lamp for five seconds", lambda: LampTest(KEY)),),
)

ACTS = (LAMP_TEST,)
