"""The answer to a request to the table."""

from __future__ import annotations

from msgspec import Struct


class Answer(Struct, frozen=True):
    """`refused` is None where the request was done, and otherwise the code of the reason."""

    refused: str | None
