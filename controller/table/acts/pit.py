"""The acts about the pit: a person pins the pit's key, and two people accept a disputed award. The pit's own messages
about awards and wins are judged here too."""

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
    """The fact that a person compared the pit's key (64 hex digits) at both ends. From now on only that key signs the
    pit's messages."""

    public_key: str
    by: str


class PinPitKey(Request, frozen=True):
    """A request to trust the pit whose key has this fingerprint, as a person read it at the pit."""

    fingerprint: str
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the offered key as pinned, where a key with this fingerprint was offered; otherwise the refusal."""
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
    """A message of the pit that says how far an award has come for a hit of this table, with the least and the most
    cents that the award can be.

    No person asks for this, so it is no act. In every phase of the table the message is believed or refused.
    """

    step: AwardStepped
    least_cents: int = 0
    most_cents: int = MOST_CENTS

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the award's step as a fact; a dispute where its amount is impossible; a refusal where the step is old.

        A step is old where its number is not above the last step's number. One exception: where the last step's number
        is one that no pit can have reached by now, that number was forged, before pits signed their messages, and makes
        no step old.
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
    """A message of the pit that a meter was won, at this table or another. No person asks for this, so it is no act."""

    win: Win
    shown: bool
    word_seq: int

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the win as a fact, or a refusal where the table has heard of this win before. A last number that no
        pit can have reached by now makes no win old, as in `SeeAward`."""
        if self.win.seq <= table.win_seq <= ambient.latest_seq:
            return refuse("win_old")
        return WinHeard(self.win, self.shown, self.word_seq)


class AwardAccepted(ByPerson, frozen=True):
    """The fact that two people compared a disputed award with the hit and with the pit's books, and found the amount
    true. The table believes the award from now on."""

    award: str
    by: str
    witness: str


class AcceptAward(Request, frozen=True):
    """A request to believe an award that was refused for its amount. `award` is the pit's name for the award; `cents`
    is its amount."""

    award: str
    cents: int
    supervisor: str
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """Return what the second person is shown before agreeing: the award's name and its amount in cents."""
        return {"award": self.award, "cents": self.cents}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the acceptance, once two people ask for it. Refused where no such award is disputed or its amount
        differs."""
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
