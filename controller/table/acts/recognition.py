"""The act about bet recognition: two people adopt its key. And its word on the chips at a seat."""

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
    """Two people adopted bet recognition's key (64 hex digits). From now on that key, and no other, signs its words."""

    public_key: str
    by: str
    witness: str


class PinRecognitionKey(Request, frozen=True):
    """Believe the bet recognition that has this key, as people read it there. A key adopted before is given up."""

    public_key: str
    supervisor: str
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """What the second person is shown."""
        return {"key": fingerprint(bytes.fromhex(self.public_key))}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The adoption, once two people ask for it."""
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
    """Bet recognition's word, signed with this key: chips lie so, for the round of that shoe. `seq` numbers the words.

    No person asks for this, so it is no act. In every phase of the table the word is a fact where its number is new.
    """

    wager: Wager
    seq: int
    shoe: int
    round: int
    public_key: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """The word, with the code of the refusal where its wager may not lie there now.

        A word whose number is not above every number before came once already, or was overtaken. A key that was given
        up while the word was on its way says nothing any more.
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
