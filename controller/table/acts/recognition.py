"""The act about bet recognition (the system that sees chips on the layout): two people adopt its public key. This
module also decides on the signed messages in which bet recognition says which chips lie at a seat."""

from __future__ import annotations

from typing import Any

from controller.contract.bounds import HASH
from controller.contract.fingerprint import fingerprint
from controller.contract.wager_words import BET_RECOGNITION
from controller.rules.game.wagers import Wager
from controller.table.acts.entry import Act, Ambient, Argument, BadArgumentError, Form, Request, Who, by_two
from controller.table.acts.itself import GROUP
from controller.table.acts.seats import WAGER, PlaceWager
from controller.table.facts import ByPerson, Fact, WagerSeen
from controller.table.legality import Refuse, refuse
from controller.table.states import Table


class RecognitionKeyPinned(ByPerson, frozen=True):
    """The journalled fact that two people adopted the public key (64 hex digits) of bet recognition, the system that
    sees chips on the layout. After this fact, the table believes only messages of that system that are signed with the
    key."""

    public_key: str
    by: str
    witness: str


class PinRecognitionKey(Request, frozen=True):
    """A request to trust the bet recognition system that has this public key. People have read the key at that system.
    The key replaces a key that was adopted earlier."""

    public_key: str
    supervisor: str
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """Return what the second person is shown before agreeing: the key's fingerprint."""
        return {"key": fingerprint(bytes.fromhex(self.public_key))}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the key is adopted, once two people ask for it. Return a refusal if this key
        is already adopted."""
        if self.public_key == table.recognition_key:
            return refuse("recognition_key_pinned")
        return by_two(self, RecognitionKeyPinned(self.public_key, self.supervisor, self.witness or ""))


def _key(value: Any) -> str:
    if isinstance(value, str) and HASH.fullmatch(key := "".join(value.split()).casefold()):
        return key
    raise BadArgumentError(f"{value} is not a public key.", "Write its 64 hex digits, as bet recognition shows them.")


RECOGNITION_KEY = Act(
    name="recognition-key",
    group=GROUP,
    who=Who.TWO_PEOPLE,
    says="show bet recognition's key; with --trust: adopt a key, once a second person agrees within 30 seconds",
    example=f"--trust {'1f0c8a35' * 8} --by Smith",
    forms=(
        Form(
            PinRecognitionKey,
            PinRecognitionKey,
            (Argument("trust", "KEY", "the public key that bet recognition shows, 64 hex digits", _key, flag="trust"),),
        ),
    ),
    becomes=(RecognitionKeyPinned,),
    in_fault=True,
    look=True,
)


class SeeWager(Request, frozen=True):
    """A message of bet recognition (the system that sees chips on the layout), signed with `public_key`. It says that
    the chips of `wager` lie on the layout for the given round of the given shoe. `seq` is the message's number.

    No person asks for this, so it is not an act. A message with a new number is journalled as a fact in every phase of
    the table.
    """

    wager: Wager
    seq: int
    shoe: int
    round: int
    public_key: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the message as a fact to journal. If the wager may not be placed now, the fact carries the code of the
        refusal.

        The message itself is refused, and not journalled, in two cases. The first case: its number is not above the
        numbers of all earlier messages, so it is a copy, or a later message arrived before it. The second case: it is
        signed with another key than the adopted one, because the key was replaced while the message was on its way.
        """
        if self.public_key != table.recognition_key:
            return refuse("recognition_key_other")
        if self.seq <= table.wager_seq:
            return refuse("wager_old")
        return WagerSeen(self.wager, self.seq, self.shoe, self.round, self._refusal(table, ambient))

    def _refusal(self, table: Table, ambient: Ambient) -> str | None:
        if (code := WAGER.refusal(table)) is not None:
            return code
        placed = PlaceWager(self.wager, BET_RECOGNITION, (self.shoe, self.round)).becomes(table, ambient)
        return placed.code if isinstance(placed, Refuse) else None


ACTS = (RECOGNITION_KEY,)
