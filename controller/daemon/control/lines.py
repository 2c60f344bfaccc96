"""Encodes what the table sends on its sockets as lines of JSON."""

from __future__ import annotations

import json

from msgspec import Struct, to_builtins


def line(message: Struct) -> bytes:
    """Encode the message as a line of JSON in ASCII.

    ASCII is used because a text from outside may hold characters that UTF-8 cannot encode.
    """
    return json.dumps(to_builtins(message)).encode() + b"\n"
