"""What a message may hold at most: its schemas' bounds, held by whoever takes, stores or adds what it says."""

from __future__ import annotations

import re

MOST_SEQ = 2**63 - 1
"""No stream is longer: SQLite counts no further."""

MOST_CENTS = 10**12
"""No amount of money is larger."""

MOST_METERS = 100
"""No house runs more."""

MOST_PAYLOAD_BYTES = {
    "event": 250_000,
    "state": 250_000,
    "ack": 1_000,
    "award": 4_000,
    "wager": 1_000,
    "meters": 20_000,
}
"""The longest payload of each topic, by its last word. Whoever hears a longer one refuses it unread."""

MOST_PACKET_BYTES = 262_144
"""No MQTT packet of the contract is longer: what tables and pit ask of their broker, and what a broker should hold
its clients to (`max_packet_size` in config/mosquitto/mosquitto.conf)."""

NAME = re.compile(r"[a-z0-9_]{1,60}")
"""A tier's or a meter's name."""


def is_count(value: object, least: int, most: int) -> bool:
    """Whether it is a whole number in these bounds; true and false are none."""
    return type(value) is int and least <= value <= most
