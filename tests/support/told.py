"""The status of a healthy table, for tests, and helpers that read a value back as a client at a socket would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from controller.contract.face.status import Journal, PitKeys, PitLink, Recognition, ShoeLine, Standing, Status
from controller.contract.face.table import Public
from controller.daemon.control.lines import line

_Told = TypeVar("_Told", bound=msgspec.Struct)


def read_back(told: _Told) -> _Told:
    """Encode the value and decode it, and return the result: the value as a client at the other end of a socket gets
    it."""
    return msgspec.json.decode(line(told), type=type(told))


def healthy(face: Public, /, **changed: Any) -> Status:
    """Return the status of a healthy table with this public face, as a client gets it. The fields in `changed` replace
    its own; a mapping replaces only the fields that it names inside a field."""
    status = Status(
        version="1.2.3",
        program_digest="aa" * 32,
        config_digest="bb" * 32,
        digest="cc" * 32,
        key_fingerprint="ab12 cd34",
        up_s=60,
        clock_set=True,
        face=face,
        test=None,
        lamps={},
        sensors=(),
        inputs=(),
        second_person=None,
        shoe=ShoeLine(up=True, why="reports come", bad_bytes={}, bad_bytes_wait=False),
        pit=PitLink(
            connected=True,
            broker="127.0.0.1:1883",
            why="",
            standing=Standing("well"),
            stream="streaming",
            fresh=True,
            epoch="ab12cd34ef",
            head_seq=12,
            acked_seq=10,
            unacknowledged=2,
            most_unacknowledged=1000,
            meters={},
            meters_fresh=True,
            meters_refused=None,
            key=PitKeys(pinned="ab12 cd34", offered="ab12 cd34", forged={}),
        ),
        recognition=Recognition(expected=False, key=None, not_believed={}),
        journal=Journal(path="/var/lib/table.journal", boot=1, error=None, archived_rows=0, archive_error=None),
    )
    return read_back(but(status, **changed))


def but(told: _Told, **changed: Any) -> _Told:
    """Return the value with the fields in `changed` replaced. A mapping replaces only the fields that it names inside a
    field."""
    for name, value in changed.items():
        now = getattr(told, name)
        told = replace(told, **{name: but(now, **value) if isinstance(value, Mapping) and _is_type(now) else value})
    return told


def _is_type(value: object) -> bool:
    return isinstance(value, msgspec.Struct)
