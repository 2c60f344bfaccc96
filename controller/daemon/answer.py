"""The answer that a table gives to a request."""

from __future__ import annotations

from msgspec import Struct


class Answer(Struct, frozen=True):
    """A table's answer to a request. `refused` is None where the request was done, and otherwise the code of the
    refusal."""

    refused: str | None
