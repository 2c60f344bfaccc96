"""The answer that a table gives to a request."""

from __future__ import annotations

from msgspec import Struct


class Answer(Struct, frozen=True):
    """A table's answer to a request. `refused` is None if the table did what was asked, and otherwise the code that
    says why the table refused."""

    refused: str | None
