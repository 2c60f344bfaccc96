"""Decides which messages the table takes for bet recognition's: those signed by the key that two people adopted. Pure.

A message of bet recognition makes the table pay for chips, so only that signature proves it. Neither the broker's
account nor the topic does. The table's state decides later whether the message's number is new, and whether its round
is the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from controller.contract.envelope import Stamp
from controller.contract.keys import signature_holds
from controller.contract.wager_words import WagerWord
from controller.daemon.delivery.pit_trust import leaps


class Doubt(Enum):
    """The reason why a message on the table's `wager` topic is not believed."""

    NO_KEY = "no_key"  # no key is adopted at this table, so nobody's word can be bet recognition's
    UNSIGNED = "unsigned"
    OTHER_KEY = "other_key"
    UNREADABLE = "unreadable"  # bet recognition signed it, and it is no word of this contract
    OTHER_TABLE = "other_table"
    LEAPS = "leaps"  # its number or its time cannot be by now


class RecognitionTrust:
    """Judges the messages of bet recognition by its key `adopted`, which two people adopted; None where no key is
    adopted."""

    def __init__(self, table: str, adopted: str | None) -> None:
        self._table = table
        self.adopted = adopted  # in hex

    def judge(self, message: Mapping[str, object], now: Stamp) -> WagerWord | Doubt:
        """Return the message as bet recognition's word for this table, or the reason why the message is not
        believed."""
        if self.adopted is None:
            return Doubt.NO_KEY
        if not signature_holds(message, bytes.fromhex(self.adopted)):
            return Doubt.OTHER_KEY if "signature" in message else Doubt.UNSIGNED
        word = WagerWord.read(message)
        if word is None:
            return Doubt.UNREADABLE
        if word.table != self._table:
            return Doubt.OTHER_TABLE
        return word if leaps(word, now) is None else Doubt.LEAPS
