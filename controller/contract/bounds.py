"""What a message may hold: its schemas' bounds and forms, held by whoever takes, stores or adds what it says."""

from __future__ import annotations

import re
from typing import TypeGuard

MOST_SEQ = 2**63 - 1
"""No stream is longer: SQLite counts no further."""

MOST_CENTS = 10**12
"""No amount of money is larger."""

MOST_WAGER_CENTS = 100_000_000
"""No single wager is a million: more is a mistake of whoever says it."""

MOST_METERS = 100
"""No house runs more."""

MOST_ROTATIONS = 100
"""So many former keys a pit's key names at most."""

MOST_AHEAD_MS = 24 * 60 * 60 * 1000
"""A day. What the pit says is at most so far ahead of a clock that is set, and of the pit's own: no time or number that
is further on makes a later word old."""

MOST_LEAP_MS = 1000
"""The pit's numbers are milliseconds since 1970, or one more than the last: at most so far ahead of the message's time.
"""

MOST_PAYLOAD_BYTES = {
    "event": 250_000,
    "state": 250_000,
    "ack": 1_000,
    "award": 4_000,
    "wager": 1_000,
    "meters": 20_000,
    "pit-key": 40_000,
}
"""The longest payload of each topic, by its last word. Whoever hears a longer one refuses it unread."""

MOST_PACKET_BYTES = 262_144
"""No MQTT packet of the contract is longer: what tables and pit ask of their broker, and what a broker should hold
its clients to (`max_packet_size` in config/mosquitto/mosquitto.conf)."""

NAME = re.compile(r"[a-z0-9_]{1,60}")
"""The name of a spot, a tier or a meter."""

TABLE = re.compile(r"[a-z0-9-]+")
"""A table's id."""

EPOCH = re.compile(r"[a-z0-9]+")
"""An epoch's name."""

HASH = re.compile(r"[0-9a-f]{64}")
"""32 bytes in hex: a chain, or a public key."""

EVENT_ID = re.compile(r"([a-z0-9-]+)/([a-z0-9]+)/([1-9][0-9]{0,17})")
"""An event's id: its table, its epoch and its number."""


def is_count(value: object, least: int, most: int) -> TypeGuard[int]:
    """Whether it is a whole number in these bounds; true and false are none."""
    return type(value) is int and least <= value <= most
