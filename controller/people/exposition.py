"""Prometheus's text format, version 0.0.4: what `/metrics` of the screen and of the pit's page answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


class Exposition:
    """The text of one look. Metrics stand in the order in which they were added."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(
        self,
        name: str,
        kind: Literal["gauge", "counter"],
        help_: str,
        samples: float | Iterable[tuple[Mapping[str, str], float]] | None,
    ) -> None:
        """A metric: one number, or a number for each set of labels. What is not known (None) has a name alone."""
        self._lines += (f"# HELP {name} {help_}", f"# TYPE {name} {kind}")
        each = [({}, samples)] if isinstance(samples, int | float) else samples or ()
        self._lines += (f"{name}{_labels(labels)} {float(value):.15g}" for labels, value in each)

    def text(self) -> str:
        """All of it."""
        return "".join(f"{line}\n" for line in self._lines)


def _labels(labels: Mapping[str, str]) -> str:
    told = ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in labels.items())
    return f"{{{told}}}" if told else ""
