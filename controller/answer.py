"""What becomes of a request put to the table."""

from __future__ import annotations

from dataclasses import dataclass

from controller.table.legality import refusal_words


@dataclass(frozen=True, slots=True)
class Answer:
    """`refused` is None when the request was done, otherwise the code why not."""

    refused: str | None

    @property
    def why(self) -> str:
        """The refusal in words."""
        return "" if self.refused is None else refusal_words(self.refused)
