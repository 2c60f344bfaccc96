"""A record of a shoe's wire: all bytes in both directions with their times, as a text that a person can read and write.

    # Whatever follows a # is a remark.
         0.000 open
         1.204 shoe 2A 30 44 33 44 46 42 0D 0A  | *0D3DFB..
         1.655 host 02 4F 50 4C 4B 30 31 03 31 38  | .OPLK01.18

A line has: seconds since the record began, who sent the bytes, and the bytes in hex. The text after a | is the same
bytes as readable characters, and is ignored when the record is read. `open` and `gone` say that the port was opened or
vanished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct

from controller.basics.errors import TableError

Way = Literal["shoe", "host", "open", "gone"]

MOST_BYTES_A_LINE = 16
_LINE = re.compile(r" *([0-9]{1,9})\.([0-9]{3}) +(?:(open|gone)|(shoe|host)((?: +[0-9A-Fa-f]{2})+)) *(?:\|.*)?")
_EXAMPLE = "     1.204 shoe 2A 30 44 33 44"


class Piece(Struct, frozen=True):
    """What passed on a shoe's wire at one moment, `at_ms` milliseconds after the record began. `way` says who sent the
    bytes: the shoe, or the host (the table).

    If `way` is "open" or "gone", the port was opened or vanished, and there are no bytes.
    """

    at_ms: int
    way: Way
    data: bytes = b""


def lines_of(piece: Piece) -> Iterator[str]:
    """Yield the lines of text that record this piece of a shoe's wire, without line ends."""
    head = f"{piece.at_ms // 1000:6}.{piece.at_ms % 1000:03} {piece.way}"
    if not piece.data:
        yield head
    for begin in range(0, len(piece.data), MOST_BYTES_A_LINE):
        part = piece.data[begin : begin + MOST_BYTES_A_LINE]
        seen = "".join(chr(byte) if 0x20 <= byte < 0x7F and byte != ord("|") else "." for byte in part)
        yield f"{head} {part.hex(' ').upper()}  | {seen}"


def pieces_of(lines: Iterable[str], named: str) -> Iterator[Piece]:
    """Parse the lines of a record of a shoe's wire, and yield its pieces in order.

    Raises TableError `wire_unreadable` for a wrong line. The error names the line, and the record by the text `named`.
    """
    last_ms = 0
    for number, whole in enumerate(lines, 1):
        line = whole.partition("#")[0].rstrip() if "|" not in whole.partition("#")[0] else whole.rstrip()
        if not line:
            continue
        form = _LINE.fullmatch(line)
        if form is None:
            raise _unreadable(f"{named}, line {number}: {line.strip()[:60]!r} is no line of a record.")
        at_ms = int(form[1]) * 1000 + int(form[2])
        if at_ms < last_ms:
            raise _unreadable(f"{named}, line {number}: the moment lies before that of the line above.")
        last_ms = at_ms
        yield Piece(at_ms, cast(Way, form[3] or form[4]), bytes.fromhex(form[5] or ""))


def read_record(path: Path) -> tuple[Piece, ...]:
    """Read the whole record of a shoe's wire from the file at `path`.

    Raises TableError `wire_unreadable` if the file cannot be read, if a line is wrong, or if the record holds no bytes
    of a shoe.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise _unreadable(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise _unreadable(f"{path} is no text, so no record of a wire.") from None
    pieces = tuple(pieces_of(lines, str(path)))
    if not any(piece.way == "shoe" for piece in pieces):
        raise _unreadable(f"In {path} no shoe says anything.")
    return pieces


def _unreadable(what: str) -> TableError:
    do = f"A line of a record is seconds, who spoke, and bytes in hex, for example `{_EXAMPLE.strip()}`."
    return TableError("wire_unreadable", what, do)
