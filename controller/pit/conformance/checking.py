"""What the conformance tests of pits and those of tables share: the error for a broken clause of the contract, and the
list of the checks by clause."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from controller.pit.conformance.clauses import Clause
from controller.pit.conformance.deeds import DeedFailedError, NotTriedError
from controller.pit.conformance.report import Line, Result

ANSWERS_WITHIN_S = 10.0
"""How long a kit waits for an answer. By the contract a table sends an event again after 2 s."""

QUIET_S = 1.0
"""A message that must not come would come within this time."""

_OUT_OF_FORM = (LookupError, TypeError, ValueError, AssertionError)  # what a check raises at another form of a message

_Kit = TypeVar("_Kit")


class BrokenError(Exception):
    """Raised when a pit or a table breaks a clause (a numbered rule) of the contract. The text says what was expected,
    and what came."""


class Checks(dict[str, Callable[[_Kit], None]], Generic[_Kit]):
    """The checks of the conformance kit: a dictionary from a clause's number to the function that checks this clause.

    The clause is broken if its check raises BrokenError. It is broken too if the pit or the table refuses an act of
    people that must be possible, or if a message lacks a field that the check reads. The clause is not tried if the
    check raises NotTriedError, because nobody can do an act that the check needs. The clause is kept if its check ends
    without an error.
    """

    def clause(self, number: str) -> Callable[[Callable[[_Kit], None]], Callable[[_Kit], None]]:
        """Return a decorator that registers a function as the check of the contract's clause with this number."""

        def register(check: Callable[[_Kit], None]) -> Callable[[_Kit], None]:
            self[number] = check
            return check

        return register

    def lines(self, kit: _Kit, wanted: Sequence[Clause], hear: Callable[[Line], None]) -> list[Line]:
        """Run the check of each clause in `wanted`, one after the other, and return the report's line for each clause.
        `hear` is called with each line as soon as the line's check has ended."""
        lines: list[Line] = []
        for clause in wanted:
            lines.append(self._tried(kit, clause))
            hear(lines[-1])
        return lines

    def _tried(self, kit: _Kit, clause: Clause) -> Line:
        began_s = time.monotonic()
        result, why = Result.KEPT, ""
        try:
            self[clause.number](kit)
        except (BrokenError, DeedFailedError) as broken:
            result, why = Result.BROKEN, str(broken)
        except NotTriedError as not_tried:
            result, why = Result.NOT_TRIED, str(not_tried)
        except _OUT_OF_FORM as error:
            result = Result.BROKEN
            why = f"A message does not have the form that this check reads: {type(error).__name__}: {error}"
        return Line(clause, result, why, time.monotonic() - began_s)
