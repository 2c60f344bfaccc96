"""Runs a table with a built-in defect, to cause the two faults that no sound table ever has: `python -m
tests.hil.broken_table DEFECT run ...`.

With the DEFECT `raises=7H` the table's core fails on that card. With `forgets` a replay of the journal makes one event
fewer than were sent.
"""

from __future__ import annotations

import sys

import controller.daemon.folding
import controller.daemon.record.replay
from controller.people.cli.main import main
from controller.rules.game.cards import Card
from controller.table.facts import CardDrawn, Fact
from controller.table.states import Table
from controller.table.step import step
from controller.table.stops import Stepped


def _break(defect: str) -> None:
    def raises(table: Table, fact: Fact) -> Stepped:
        if isinstance(fact, CardDrawn) and fact.card == Card.parse(defect.removeprefix("raises=")):
            raise ArithmeticError(defect)
        return step(table, fact)

    def forgets(table: Table, fact: Fact) -> Stepped:
        after, made = step(table, fact)
        return after, made[:-1]

    if defect == "forgets":
        controller.daemon.record.replay.step = forgets  # type: ignore[attr-defined]  # the name that it imported
    else:
        controller.daemon.folding.step = raises  # type: ignore[attr-defined]  # the same


if __name__ == "__main__":
    _break(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
