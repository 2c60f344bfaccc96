"""Defects that tests plant on purpose into the code by which the pit handles awards and receives events. Each defect
replaces one piece of source text. For each, the list says whether the model finds it only if the ledger is restored
from an older copy."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from controller.pit.reference import awards, intake, taking
from controller.pit.reference.ledger import Ledger


class Defect(NamedTuple):
    """A defect to plant into the source of the module `of`: the text `was`, which occurs there once, is replaced by
    `becomes`. If `restores` is True, the model finds the defect only if the ledger is replaced by an older copy."""

    was: str
    becomes: str
    restores: bool = False
    of: ModuleType = awards


_ANOTHER_AWARD = (
    "INSERT INTO award (id, table_id, event, hit, hand, seat, tier, cents, step)"
    " SELECT id || '2', table_id, -event, hit || '2', hand, seat, tier, cents, 'pending' FROM award"
)

DEFECTS = (
    Defect('if step == "paid" and by in self._verifiers(award.number):', "if False:"),
    Defect('"paid": ("verified",),', '"paid": ("verified", "pending"),'),
    Defect('"paid": ("verified",),', '"paid": ("verified", "paid"),'),
    Defect('"rejected": ("pending", "verified"),', '"rejected": ("pending", "verified", "paid"),'),
    Defect('"verified": ("pending",),', '"verified": ("pending", "paid"),'),
    Defect("            self._books.pay(award.number, award.cents)\n", "            pass\n"),
    Defect('heard = 1 WHERE award = ? AND seq <= ?"', 'heard = 1 WHERE award = ? AND seq < ?"'),
    Defect("            self._say_again(number, step, cents, by)\n", "            pass\n"),
    Defect("if (first := self._first_to_recall(award)) is not None:", "if (first := None) is not None:", restores=True),
    Defect('stands in ("pending", "verified") or', 'stands in ("verified",) or', restores=True),
    Defect("            self._books.pay(award.number, last.cents)\n", "            pass\n", restores=True),
    Defect(
        "telling SET recalled_by = ? WHERE award = ?", "telling SET recalled_by = ? WHERE award != ?", restores=True
    ),
    # An award for each hit, and a hit for each award.
    Defect("yield from self._hit(number, table, event)", "yield from ()", of=intake),
    Defect(
        'self._db.execute("UPDATE hand SET hits = ? WHERE number = ?", (len(hits), hand))',
        'self._awards.hit(number, f"{table}/{event.epoch}/{event.seq + 1}", hand, "royal9", 1, "suited", 5_000)',
        of=intake,
    ),
    Defect(
        "        if body == payload or",
        f'        if body == payload and event.type == "hit":\n            self._db.execute("{_ANOTHER_AWARD}")\n'
        "        if body == payload or",
        of=taking,
    ),
    Defect(
        "        if event.seq != head.seq + 1:\n",
        '        if event.seq != head.seq + 1 and event.type != "award":\n',
        restores=True,
        of=taking,
    ),
    # An amount that the table disputes.
    Defect("        return row.fetchone() is not None\n", "        return False\n"),
    Defect(
        'if step != "rejected" and self._is_disputed(award):', 'if step == "verified" and self._is_disputed(award):'
    ),
    Defect("UPDATE step SET heard = 2 WHERE", "UPDATE step SET heard = 1 WHERE"),
    Defect(
        "heard = 0 WHERE award = ? AND cents = ? AND heard = 2", "heard = 0 WHERE award = ? AND cents = ? AND FALSE"
    ),
)

_PARTS = {awards: ("_awards", "Awards"), intake: ("_intake", "Intake"), taking: ("_taking", "Taking")}


def with_defect(defect: Defect | None) -> Callable[[Ledger], None]:
    """Return a function that plants this defect in a ledger. Without a defect (None), the function changes nothing."""
    if defect is None:
        return lambda _: None
    source = inspect.getsource(defect.of)
    assert source.count(defect.was) == 1, f"{defect.was!r} stands there {source.count(defect.was)} times"
    module = ModuleType("part_of_the_model")
    sys.modules[module.__name__] = module
    exec(compile(source.replace(defect.was, defect.becomes), str(defect.of.__file__), "exec"), vars(module))
    part, name = _PARTS[defect.of]

    def change(ledger: Ledger) -> None:
        getattr(ledger, part).__class__ = getattr(module, name)

    return change
