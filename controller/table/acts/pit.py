"""The acts about the pit: a person pins the pit's key; two people accept an award. And the pit's word on an award."""

from __future__ import annotations

from typing import Any

from controller.contract.bounds import MOST_CENTS
from controller.contract.events import Win
from controller.contract.fingerprint import fingerprint
from controller.table.acts.entry import Act, Ambient, Argument, BadArgumentError, Form, Request, Who, by_two, whole
from controller.table.acts.itself import GROUP
from controller.table.awards import disputed, is_disputed, is_possible
from controller.table.facts import AwardRefused, AwardStepped, ByPerson, Fact, WinHeard
from controller.table.legality import Refuse, refuse
from controller.table.states import Table


class PitKeyPinned(ByPerson, frozen=True):
    """A person compared the pit's key (64 hex digits) at both ends. From now on that key signs the pit's word."""

    public_key: str
    by: str


class PinPitKey(Request, frozen=True):
    """Believe the pit whose key has this fingerprint, as a person read it at the pit."""

    fingerprint: str
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The key that was offered, where its fingerprint is the one that a person read at the pit."""
        if not ambient.offered_pit_keys:
            return refuse("no_pit_key")
        asked = "".join(self.fingerprint.split()).casefold()
        fitting = (key for key in ambient.offered_pit_keys if _letters(key) == asked)
        offered = next(fitting, None)
        if offered is None:
            return refuse("pit_key_differs")
        if offered == table.pit_key:
            return refuse("pit_key_pinned")
        return PitKeyPinned(offered, self.by)


def _letters(key: str) -> str:
    return "".join(fingerprint(bytes.fromhex(key)).split())


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise BadArgumentError(f"{value} is not a text.", "Write it as the pit shows it.")


PIT_KEY = Act(
    name="pit-key",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="show the pit's keys, offered and pinned; with --trust: pin the offered key",
    example='--trust "1f0c 8a…" --by Smith',
    forms=(
        Form(
            PinPitKey,
            PinPitKey,
            (Argument("trust", "FINGERPRINT", "the fingerprint that the pit shows", _text, flag="trust"),),
        ),
    ),
    becomes=(PitKeyPinned,),
    in_fault=True,
    look=True,
)


class SeeAward(Request, frozen=True):
    """The pit's word on how far a hit of this journal has come, and the least and most cents that the award can be.

    No person asks for this, so it is no act. In every phase of the table the word is believed or refused.
    """

    step: AwardStepped
    least_cents: int = 0
    most_cents: int = MOST_CENTS

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The step, unless the step is old; a dispute where its amount is impossible.

        A step is old where its number is not above that of the last step. The last step's number may be one that no pit
        can have given by now: it was forged before pits signed their words. Such a number makes no step old.
        """
        step = self.step
        if step.seq <= table.award_seq <= ambient.latest_seq:
            return refuse("award_old")
        if is_possible(table, step, self.least_cents, self.most_cents):
            return step
        if is_disputed(table, step):
            return refuse("award_impossible")
        return AwardRefused(step, self.least_cents, self.most_cents)


class SeeWin(Request, frozen=True):
    """The pit tells of a win of a meter, at whichever table. No person asks for this, so it is no act."""

    win: Win
    shown: bool
    word_seq: int

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The win, unless the table has heard of it: each win is told once. A number that no pit can have given by now
        makes no win old, as in `SeeAward`."""
        if self.win.seq <= table.win_seq <= ambient.latest_seq:
            return refuse("win_old")
        return WinHeard(self.win, self.shown, self.word_seq)


class AwardAccepted(ByPerson, frozen=True):
    """Two people compared a disputed award with the hit and the pit's books. The amount is true, and is believed."""

    award: str
    by: str
    witness: str


class AcceptAward(Request, frozen=True):
    """Believe an award that was refused for its amount: the pit's name for the award, and the amount in cents."""

    award: str
    cents: int
    supervisor: str
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """What the second person is shown."""
        return {"award": self.award, "cents": self.cents}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The acceptance, once two people ask for it."""
        dispute = disputed(table, self.award)
        if dispute is None:
            return refuse("no_disputed_award")
        if dispute.step.cents != self.cents:
            return refuse("award_differs")
        return by_two(self, AwardAccepted(self.award, self.supervisor, self.witness or ""))


ACCEPT_AWARD = Act(
    name="accept-award",
    group=GROUP,
    who=Who.TWO_PEOPLE,
    says="accept an award that was refused for its amount; a second person must agree within 30 seconds",
    example="table-01.7 1250000 --by Smith",
    forms=(
        Form(
            AcceptAward,
            AcceptAward,
            (
                Argument("award", "AWARD", "the award's name at the pit, as the alarm tells it", _text),
                whole("cents", "CENTS", "the amount in cents, as compared at the pit", 0, MOST_CENTS),
            ),
        ),
    ),
    becomes=(AwardAccepted,),
    confirmed_by=("cut_card", "deal", "void"),
    in_fault=True,
)


ACTS = (PIT_KEY, ACCEPT_AWARD)
