"""What becomes of a request put to the table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """`refused` is None when the request was done, otherwise the code why not."""

    refused: str | None
