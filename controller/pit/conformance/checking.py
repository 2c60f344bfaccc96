"""What both kits share: how a check says that a clause is broken, and the register of checks by clause."""

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
    """A clause is not kept: what was awaited, and what came."""


class Checks(dict[str, Callable[[_Kit], None]], Generic[_Kit]):
    """One check for each clause, by the clause's number.

    A check raises BrokenError, or NotTriedError where there is nobody for a deed. A clause is broken too where a deed
    is refused, or where a message lacks what its check reads there. A clause is kept where its check ends without any
    of that.
    """

    def clause(self, number: str) -> Callable[[Callable[[_Kit], None]], Callable[[_Kit], None]]:
        """This function checks the clause of that number."""

        def register(check: Callable[[_Kit], None]) -> Callable[[_Kit], None]:
            self[number] = check
            return check

        return register

    def lines(self, kit: _Kit, wanted: Sequence[Clause], hear: Callable[[Line], None]) -> list[Line]:
        """Try each of these clauses; `hear` is given each line as it comes."""
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
