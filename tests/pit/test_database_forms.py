"""Checks that a PostgreSQL ledger of an earlier version is updated to the newest form of the schema. Afterwards it must
hold the same data as a ledger in a file."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.opening import Place
from tests.head_office.evenings import TO_FORM_6, as_form_6
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.postgresql import needs_postgresql, rows, write
from tests.pit.test_meters import TERMS, balanced, code_of, give, opened
from tests.support.ledgers import change_at_once, meet

pytestmark = needs_postgresql


def evening(at: Place) -> None:
    """Write a ledger that has awards of each kind, changed terms of a meter, and a table whose adoption people took
    back, so that its events count no more."""
    with closing(opened(at)) as ledger:
        one, other = TableEvening("t-0"), TableEvening("t-1")
        give(ledger, one, one.lock(1, 2), one.finish((1, "x")), one.hit(1, "x", "big"), one.lock(3), one.finish())
        ledger.take_step("t-0.1", "verified", "Ann")
        ledger.take_step("t-0.1", "paid", "Cas")
        change_at_once(ledger, TERMS | {"big": Terms(2_000, Fraction(1, 3), Fraction(1, 3), 2_000)})
        give(ledger, other, other.lock(1), other.finish((1, "x")), other.hit(1, "x", "small"))
        ledger.take_step("t-1.1", "rejected", "Ann", "Bob")
        give(ledger, one, one.lock(1), one.finish((1, "x")), one.hit(1, "x", 2_500))
        ledger.unadopt("t-1", EPOCH, "Ann", "the wrong key", "Bob")


def told(ledger: Ledger) -> list[dict[str, Any]]:
    """Return the ledger's decisions, without the times at which a meter's terms began, because these times differ in
    each run."""
    decided = [dict(each) for each in ledger.decided()]
    for each in decided:
        if isinstance(terms := each.get("terms"), dict):
            each["terms"] = {name: value for name, value in terms.items() if name != "since"}
    return decided


def test_a_database_of_form_6_goes_up_and_tells_what_a_file_of_form_6_tells(database: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    for at in (path, database):
        evening(at)
    as_form_6(path)
    for statement in (*TO_FORM_6, "UPDATE ledger_form SET form = 6"):
        write(database, statement)
    assert code_of(lambda: Ledger(database, begin=False)) == "ledger_of_earlier_form", "whoever reads changes no form"
    with closing(Ledger(path)) as of_file, closing(Ledger(database)) as of_database:
        assert told(of_database) == told(of_file)
        assert of_database.account() == of_file.account()
        balanced(of_database)
        of_database.serve()
        table = TableEvening("t-1")
        of_database.adopt("t-1", EPOCH, KEY.public.hex())
        meet(of_database, "t-1", table.state(), adopt_new=False)
        give(of_database, table, table.lock(1), table.finish((1, "x")), table.hit(1, "x", "big"))
        balanced(of_database)


def test_a_database_on_which_an_earlier_pit_leads_keeps_its_form(database: str) -> None:
    with closing(opened(database)):
        write(database, "UPDATE ledger_form SET form = 13")
        assert code_of(lambda: Ledger(database)) == "ledger_locked"
        assert rows(database, "SELECT form FROM ledger_form") == [(13,)]
