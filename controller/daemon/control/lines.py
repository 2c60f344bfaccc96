"""What the table tells on its sockets, as lines of JSON."""

from __future__ import annotations

import json

from msgspec import Struct, to_builtins


def line(message: Struct) -> bytes:
    """A type of the face as a line. All of it is ASCII: a text from outside may hold what UTF-8 cannot write."""
    return json.dumps(to_builtins(message)).encode() + b"\n"
