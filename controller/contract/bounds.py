"""The bounds and patterns of the fields in messages between a table and its pit, the same as in the JSON schemas. A
program that receives a message checks the message's fields against them."""

from __future__ import annotations

import re
from typing import Annotated, TypeGuard

from msgspec import Meta

MOST_SEQ = 2**63 - 1
"""The highest number of an event or a word: SQLite counts no further."""

MOST_CENTS = 10**12
"""The largest amount of money."""

MOST_WAGER_CENTS = 100_000_000
"""The largest wager: $1,000,000. A larger wager is a mistake of the sender."""

MOST_SEAT = 99
"""The highest number of a seat."""

MOST_METERS = 100
"""The most meters of a house."""

MOST_ROTATIONS = 100
"""The most former keys that a pit's key names."""

MOST_AHEAD_MS = 24 * 60 * 60 * 1000
"""A day. The time of a pit's word is at most so far ahead of the table's clock, where that is set, and of the word
before. So one wrong time or number cannot make all later words look old."""

MOST_LEAP_MS = 1000
"""The pit's numbers are milliseconds since 1970, or one more than the number before. A number is at most so far ahead
of the time in its own message."""

MOST_PAYLOAD_BYTES = {
    "event": 250_000,
    "state": 250_000,
    "ack": 1_000,
    "award": 4_000,
    "wager": 1_000,
    "checkpoint": 16_000,
    "cosigned": 1_000,
    "measure": 1_000,
    "meters": 20_000,
    "pit-key": 40_000,
}
"""The longest payload of each topic, by the topic's last word. A longer payload is refused unread."""

MOST_PACKET_BYTES = 262_144
"""The longest MQTT packet of the contract. Tables and pit ask this of their broker, and a broker should ask it of its
clients (`max_packet_size` in config/mosquitto/mosquitto.conf)."""

NAME = re.compile(r"[a-z0-9_]{1,60}")
"""The name of a spot, a tier, a meter or a type of event."""

TABLE = re.compile(r"[a-z0-9-]{1,60}")
"""A table's id."""

EPOCH = re.compile(r"[a-z0-9]{1,60}")
"""An epoch's name."""

HASH = re.compile(r"[0-9a-f]{64}")
"""32 bytes in hex: a chain, or a public key."""

EVENT_ID = re.compile(r"([a-z0-9-]{1,60})/([a-z0-9]{1,60})/([1-9][0-9]{0,17})")
"""An event's id: its table, its epoch and its number."""


def is_count(value: object, least: int, most: int) -> TypeGuard[int]:
    """Tell whether `value` is a whole number from `least` to `most`. True and False do not count as numbers."""
    return type(value) is int and least <= value <= most


def whole(form: re.Pattern[str]) -> Meta:
    """Return the msgspec constraint under which a string is valid only if all of it matches the pattern `form`."""
    return Meta(pattern=rf"\A(?:{form.pattern})\Z")


TableId = Annotated[str, whole(TABLE)]
EpochName = Annotated[str, whole(EPOCH)]
Hash = Annotated[str, whole(HASH)]
Name = Annotated[str, whole(NAME)]
AwardName = Annotated[str, whole(re.compile(r"[a-z0-9-]{1,60}[.][1-9][0-9]{0,17}"))]
Cents = Annotated[int, Meta(ge=0, le=MOST_CENTS)]
SeatNumber = Annotated[int, Meta(ge=1, le=MOST_SEAT)]
Number = Annotated[int, Meta(ge=1, le=MOST_SEQ)]
"""The number of an event, a word, a shoe or a round."""
