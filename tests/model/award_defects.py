"""Defects planted into the pit's awards, each as one change of their text, and the world in which each is found."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from controller.pit.reference import awards
from controller.pit.reference.ledger import Ledger


class Defect(NamedTuple):
    """One text in place of another, which stands there once. `restores`: only a restored ledger shows it."""

    was: str
    becomes: str
    restores: bool = False


DEFECTS = (
    Defect('if step == "paid" and by in self._verifiers(award.number):', "if False:"),
    Defect('"paid": ("verified",),', '"paid": ("verified", "pending"),'),
    Defect('"paid": ("verified",),', '"paid": ("verified", "paid"),'),
    Defect('"rejected": ("pending", "verified"),', '"rejected": ("pending", "verified", "paid"),'),
    Defect('"verified": ("pending",),', '"verified": ("pending", "paid"),'),
    Defect("            self._books.pay(award.number, award.cents)\n", "            pass\n"),
    Defect('heard = 1 WHERE award = ? AND seq <= ?"', 'heard = 1 WHERE award = ? AND seq < ?"'),
    Defect("if (first := self._first_to_recall(award)) is not None:", "if (first := None) is not None:", restores=True),
    Defect('holds = stands in ("pending", "verified")', 'holds = stands in ("verified",)', restores=True),
    Defect("            self._books.pay(award.number, last.cents)\n", "            pass\n", restores=True),
    Defect(
        "telling SET recalled_by = ? WHERE award = ?", "telling SET recalled_by = ? WHERE award != ?", restores=True
    ),
)


def with_defect(defect: Defect | None) -> Callable[[Ledger], None]:
    """What gives a ledger's awards this defect."""
    source = inspect.getsource(awards)
    if defect is not None:
        assert source.count(defect.was) == 1, f"{defect.was!r} stands there {source.count(defect.was)} times"
        source = source.replace(defect.was, defect.becomes)
    module = ModuleType("awards_of_the_model")
    sys.modules[module.__name__] = module
    exec(compile(source, awards.__file__, "exec"), vars(module))  # the product's own text

    def change(ledger: Ledger) -> None:
        ledger._awards.__class__ = module.Awards

    return change
