"""The answer that a table gives to a request."""

from __future__ import annotations

from msgspec import Struct


class Answer(Struct, frozen=True):
    """A table's answer to a request. `refused` is None if the table did what was asked. Otherwise it is the code of the
    reason for which the table refused."""

    refused: str | None
