"""The acts about the pit: a person pins the pit's public key, or two people accept an award whose amount the table
refused. This module also decides on the pit's own messages about awards and wins."""

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
    """The journalled fact that a person compared the pit's public key (64 hex digits) at the table and at the pit.
    After this fact, the table believes only messages of the pit that are signed with that key."""

    public_key: str
    by: str


class PinPitKey(Request, frozen=True):
    """A request to trust the pit whose public key has this fingerprint, which a person has read at the pit."""

    fingerprint: str
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that pins the key with this fingerprint, if the pit has offered such a key to the
        table. Return a refusal if the pit has not, or if this key is pinned already."""
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
    """A message of the pit that says which step (pending, verified, paid or rejected) the award for a hit of this table
    has reached. `least_cents` and `most_cents` are the bounds that the table has computed for the award's amount.

    No person asks for this, so it is not an act. The table judges the message in every phase.
    """

    step: AwardStepped
    least_cents: int = 0
    most_cents: int = MOST_CENTS

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the award's step as a fact to journal. If the amount is impossible, return the fact that opens a
        dispute, or a refusal if a dispute about this amount exists already. If the step is old, return a refusal.

        A step is old if its number is not above the number of the last step. There is one exception. The pit numbers
        its messages by the time. If the last step's number lies in the future, that number was forged before pits
        signed their messages, and no step counts as old.
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
    """A message of the pit that says that a progressive meter was won, at this table or at another one. No person asks
    for this, so it is not an act."""

    win: Win
    shown: bool
    word_seq: int

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the win as a fact to journal. Return a refusal if the win's number is not above the number of the last
        win. The pit numbers its messages by the time. If the last win's number lies in the future, that number was
        forged, and no win is refused."""
        if self.win.seq <= table.win_seq <= ambient.latest_seq:
            return refuse("win_old")
        return WinHeard(self.win, self.shown, self.word_seq)


class AwardAccepted(ByPerson, frozen=True):
    """The journalled fact that two people compared a disputed award with the hit and with the pit's books, and found
    that the amount is right. After this fact, the table believes the award."""

    award: str
    by: str
    witness: str


class AcceptAward(Request, frozen=True):
    """A request to believe an award that the table refused because of its amount. `award` is the pit's name for the
    award, and `cents` is its amount."""

    award: str
    cents: int
    supervisor: str
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """Return what the second person is shown before agreeing: the award's name and its amount in cents."""
        return {"award": self.award, "cents": self.cents}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the award is accepted, once two people ask for it. Return a refusal if no
        award of this name is disputed or if the disputed award has another amount."""
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
