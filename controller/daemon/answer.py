"""The answer to a request to the table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """`refused` is None where the request was done, and otherwise the code of the reason."""

    refused: str | None
