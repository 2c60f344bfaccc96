"""Decides which messages the table accepts from bet recognition (a system that sees the chips on the layout): those
signed by the key that two people adopted. The code is pure.

A message of bet recognition makes the table pay for chips, so only the signature proves where it comes from. Neither
the sender's account at the broker nor the topic proves it. The table decides later whether the message's number is new,
and whether its round is the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from controller.contract.envelope import Stamp
from controller.contract.keys import signature_holds
from controller.contract.wager_words import WagerWord
from controller.daemon.delivery.pit_trust import leaps


class Doubt(Enum):
    """The reason why the table does not believe a message on the MQTT topic `wager`, to which bet recognition sends."""

    NO_KEY = "no_key"  # no key is adopted at this table, so nobody's word can be bet recognition's
    UNSIGNED = "unsigned"
    OTHER_KEY = "other_key"
    UNREADABLE = "unreadable"  # bet recognition signed it, and it is no word of this contract
    OTHER_TABLE = "other_table"
    LEAPS = "leaps"  # its number or its time cannot be by now


class RecognitionTrust:
    """Decides which messages come from bet recognition (a system that sees the chips on the layout), by the key that
    two people adopted. `adopted` is that key in hex; None if no key is adopted."""

    def __init__(self, table: str, adopted: str | None) -> None:
        self._table = table
        self.adopted = adopted  # in hex

    def judge(self, message: Mapping[str, object], now: Stamp) -> WagerWord | Doubt:
        """Return the message, parsed, if bet recognition sent it to this table. Otherwise return the reason why it is
        not believed."""
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
