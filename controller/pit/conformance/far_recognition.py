"""A simulated bet recognition for the conformance tests of tables. It reports wagers to one table, and records which of
them the table refuses.

All its wagers lie on a spot that no game has. A table that accepts the report as genuine must therefore refuse the
wager, and the test leaves no chips on the table for the next round.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from controller.contract.keys import SigningKey
from controller.contract.signing import signed
from controller.contract.topics import Topics
from controller.pit.conformance.wire import Address, Message, Wire, at_text

_CHIPS = {"seat": 1, "back": False, "spot": "no_spot_of_any_game", "cents": 500}


class FarRecognition:
    """A simulated bet recognition (the system that sees chips on the layout) for one table."""

    def __init__(self, address: Address, table: str) -> None:
        self.topics = Topics(address.root, table)
        self.key = SigningKey(os.urandom(32))
        self.wire = Wire(address, [self.topics.wager_refused])
        self._seq = 0

    def word(self, place: Mapping[str, object]) -> Message:
        """Make and return the next message that reports a wager. The message is neither signed nor sent. `place` says
        for which round the chips are laid: it holds the message's fields for the table, for the epoch (the random name
        of the table's journal), for the shoe and for the round."""
        now_ms = time.time_ns() // 1_000_000
        self._seq = max(self._seq + 1, now_ms)
        return {**place, **_CHIPS, "seq": self._seq, "at": at_text(now_ms)}

    def say(self, word: Message, key: SigningKey | None = None) -> None:
        """Publish a message that reports a wager, signed by bet recognition's key, or by `key` if one is given."""
        self.wire.say(self.topics.wager, signed(word, key or self.key))

    def answers(self, word: Message) -> list[Message]:
        """Return the messages in which the table has refused the wager of the message `word`."""
        return [each.message for each in self.wire.heard if each.message.get("seq") == word["seq"]]

    def close(self) -> None:
        """Disconnect from the broker."""
        self.wire.close()
