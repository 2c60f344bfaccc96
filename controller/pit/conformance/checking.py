"""Shared by the kit for pits and the kit for tables: the error for a broken clause, and the register of checks by
clause."""

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
    """Raised where a pit or a table breaks a clause. The text says what was expected, and what came."""


class Checks(dict[str, Callable[[_Kit], None]], Generic[_Kit]):
    """The checks of the conformance kit, one for each clause, by the clause's number.

    A check raises BrokenError where the clause is broken, and NotTriedError where nobody can do an act that the check
    needs. A clause counts as broken too where the pit or the table refuses such an act, or where a message lacks a
    field that the check reads. A clause is kept where its check ends without an error.
    """

    def clause(self, number: str) -> Callable[[Callable[[_Kit], None]], Callable[[_Kit], None]]:
        """Return a decorator that registers a function as the check of the clause `number`."""

        def register(check: Callable[[_Kit], None]) -> Callable[[_Kit], None]:
            self[number] = check
            return check

        return register

    def lines(self, kit: _Kit, wanted: Sequence[Clause], hear: Callable[[Line], None]) -> list[Line]:
        """Try the clauses in `wanted`, one after the other, and return a line of the report for each. Each line is
        passed to `hear` as soon as its clause was tried."""
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
