"""Checks the payment slips that are printed for awards. Nobody must gain by printing a second slip, by removing a slip
from the record, or by leaving out a tax form."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime
from pathlib import Path

import pytest

from controller.basics import money
from controller.pit.paper.slip_page import slip_page
from controller.pit.reference import clock
from controller.pit.reference.__main__ import main
from controller.pit.reference.house_rules import HouseRules, TaxRule
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place
from controller.pit.reference.settings import load
from controller.pit.reference.slips import ToPrint
from tests.pit.evening import KEY, TableEvening
from tests.pit.postgresql import over_both
from tests.pit.test_meters import give, opened
from tests.support.at_desk import practising
from tests.support.errors import raising

PIT = Path(__file__).resolve().parents[2] / "config" / "pit.toml"
ZONE = "America/Los_Angeles"
W2G = (TaxRule("W-2G", date(1977, 1, 1), 300, 60_000), TaxRule("W-2G", date(2026, 1, 1), 300, 200_000))
TOLD = (
    *("$2,500.80", "Two thousand five hundred dollars and eighty cents", "Hai nghìn năm trăm đô la và tám mươi xu"),
    *("t-0.1", "shoe 1, round 1", "royal9 · suited · $5.00", "K♠", "9♥", "T♦", "= 6", "W-2G"),
    *("2026-01-01 12:00:00-08:00", "Ann", "signature", "chữ ký"),
)
HANDS = {"player": {"cards": ["KS", "9H"], "total": 9}, "banker": {"cards": ["2C", "TD", "4S"], "total": 6}}


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    with closing(opened(at)) as ledger:
        yield ledger


def won(ledger: Ledger, table: TableEvening, cents: int, price_cents: int = 500) -> str:
    """Play one more round with a hit of `cents` at the table, let Ann verify the award, and return the award's name."""
    given = [table.lock(1, price_cents=price_cents), table.finish((1, "suited"))]
    given.append(table.say("hit", spot="royal9", seat=1, tier="suited", doubts=[], progressive=None,
                           fixed={"cents": cents}, **HANDS))  # fmt: skip
    assert give(ledger, table, *given) == []
    award = ledger.awards()[-1].id
    ledger.take_step(award, "verified", "Ann")
    return award


def at_time(monkeypatch: pytest.MonkeyPatch, utc: str) -> None:
    moment_ms = int(datetime.fromisoformat(utc).timestamp() * 1000)
    monkeypatch.setattr(clock, "_now_ms", lambda: moment_ms)


@over_both
def test_numbers_have_no_gaps_and_a_second_print_is_a_copy(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    first, second = won(ledger, table, 5_000), won(ledger, table, 6_000)
    assert [_print(paper) for paper in (ledger.print_slip(first, "Ann"), ledger.print_slip(second, "Bob"),
                                        ledger.print_slip(first, "Cho"))] == [(1, 1), (2, 1), (1, 2)]  # fmt: skip
    listed = [(slip.number, slip.award, [(each.copy, each.by) for each in slip.prints]) for slip in ledger.slips()]
    assert listed == [(1, first, [(1, "Ann"), (2, "Cho")]), (2, second, [(1, "Bob")])]
    assert ledger.account().findings == ()


def _print(paper: ToPrint) -> tuple[int, int]:
    return paper.slip.number, paper.slip.prints[-1].copy


def test_a_pending_and_a_rejected_award_have_no_slip(ledger: Ledger) -> None:
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1), table.finish((1, "suited")), table.hit(1, "suited", 500))
    with raising("slip_not_due"):
        ledger.print_slip("t-0.1", "Ann")
    with raising("award_unknown"):
        ledger.print_slip("t-0.9", "Ann")
    with raising("name_missing"):
        ledger.print_slip("t-0.1", " ")
    ledger.take_step("t-0.1", "rejected", "Ann")
    with raising("slip_not_due"):
        ledger.print_slip("t-0.1", "Ann")
    assert ledger.slips() == []


def test_where_an_amount_changes_the_slip_before_is_void_and_the_next_has_its_own_number(ledger: Ledger) -> None:
    """If an award's amount changes, its old slip is void, and its next slip has a new number. In the test, two hits
    share a meter, and the first is rejected, so its half goes to the second."""
    table = TableEvening("t-0")
    give(ledger, table, table.lock(1, 2), table.finish((1, "a"), (2, "a")))
    give(ledger, table, table.hit(1, "a", "big"), table.hit(2, "a", "big"))
    ledger.take_step("t-0.2", "verified", "Ann")
    half = ledger.print_slip("t-0.2", "Ann").slip
    ledger.take_step("t-0.1", "rejected", "Bob")
    assert [slip.void for slip in ledger.slips()] == [True]
    ledger.take_step("t-0.2", "verified", "Ann")
    whole = ledger.print_slip("t-0.2", "Ann")
    assert (half.number, whole.slip.number, whole.replaces) == (1, 2, 1)
    assert whole.slip.cents == half.cents + ledger.awards()[0].cents
    assert [slip.void for slip in ledger.slips()] == [True, False]


@pytest.mark.parametrize(
    ("now", "cents", "price_cents", "form"),
    [
        ("2025-12-31T20:00:00Z", 150_000, 500, "W-2G"),  # 300 times $5, and over $600
        ("2026-01-01T07:59:59Z", 150_000, 500, "W-2G"),  # still the old year at the house
        ("2026-01-01T08:00:00Z", 150_000, 500, None),  # the new threshold holds
        ("2026-11-25T20:00:00Z", 199_999, 500, None),
        ("2026-11-25T20:00:00Z", 200_000, 500, "W-2G"),
        ("2026-11-25T20:00:00Z", 299_999, 1_000, None),  # not 300 times its wager
        ("2026-11-25T20:00:00Z", 300_000, 1_000, "W-2G"),
    ],
)
def test_a_win_to_be_reported_cannot_be_paid_before_its_slip_says_so(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, now: str, cents: int, price_cents: int, form: str | None
) -> None:
    award = won(ledger, TableEvening("t-0"), cents, price_cents)
    ledger.set_house_rules(HouseRules(ZONE, W2G))
    at_time(monkeypatch, now)
    if form is not None:
        with raising("award_reportable"):
            ledger.take_step(award, "paid", "Lee")
    assert ledger.print_slip(award, "Ann").slip.tax_form == form
    assert ledger.take_step(award, "paid", "Lee").step == "paid"


def test_a_slip_from_before_the_rule_held_does_not_do(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slip that was printed before the house had a tax rule carries no tax mark. A cashier cannot pay an award by
    such a slip once the tax rule is in force. The award needs a new slip with the tax mark."""
    award = won(ledger, TableEvening("t-0"), 250_000)
    assert ledger.print_slip(award, "Ann").slip.tax_form is None
    assert ledger.set_house_rules(HouseRules(ZONE, W2G)) is not None
    assert ledger.set_house_rules(HouseRules(ZONE, W2G)) is None
    with raising("award_reportable"):
        ledger.take_step(award, "paid", "Lee")
    marked = ledger.print_slip(award, "Ann")
    assert (marked.slip.number, marked.slip.tax_form, marked.replaces) == (2, "W-2G", 1)
    ledger.take_step(award, "paid", "Lee")
    ledger.set_house_rules(HouseRules(ZONE))  # without the rule from now on, a paid award's slip keeps its mark
    assert _print(ledger.print_slip(award, "Ann")) == (2, 2)


@pytest.mark.parametrize(
    ("forged", "finding"),
    [
        ("DELETE FROM slip_print WHERE slip = 2; DELETE FROM slip WHERE number = 2", "slip 2 is missing"),
        ("DELETE FROM slip_print WHERE slip = 1; DELETE FROM slip WHERE number = 1", "slip 1 is missing"),
        ("DELETE FROM slip_print WHERE slip = 1 AND copy = 2", "slip 1 was printed 2 times"),
        ("UPDATE slip_print SET copy = 3 WHERE slip = 1 AND copy = 2", "slip 1 was printed 2 times"),
        ("UPDATE slip SET cents = 900000 WHERE number = 2", "slip 2 is of 9,000.00, and was printed with 60.00"),
        ("INSERT INTO slip VALUES (3, 1, 5000, 500, NULL)", "slip 3 was printed 0 times"),
    ],
)
def test_a_slip_that_somebody_deletes_or_alters_in_the_ledger_is_found(path: Path, forged: str, finding: str) -> None:
    with closing(opened(path)) as ledger:
        table = TableEvening("t-0")
        first, second = won(ledger, table, 5_000), won(ledger, table, 6_000)
        for award in (first, second, first):
            ledger.print_slip(award, "Ann")
        with closing(sqlite3.connect(path)) as db:
            db.executescript(f"PRAGMA foreign_keys = OFF; {forged}")
        assert any(each.startswith(finding) for each in ledger.account().findings), ledger.account().findings
        third = ledger.print_slip(won(ledger, table, 7_000), "Ann").slip
        assert third.number == 3 + forged.startswith("INSERT"), "no number is given twice"


def test_a_slip_is_in_the_languages_that_the_house_chose(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    award = won(ledger, TableEvening("t-0"), 250_080)
    monkeypatch.setattr(money, "HOUSE", tmp_path / "house.toml")
    money.HOUSE.write_text('currency = "MOP"\nlanguages = ["zh-Hant", "es"]\n', "utf-8")
    page = slip_page(ledger.print_slip(award, "Ann"))
    assert '<html lang="zh-Hant">' in page
    for told in ("派彩單<small>Comprobante de pago</small>", "MOP$2,500.80", "澳門幣貳仟伍佰元捌角正",
                 "Dos mil quinientas patacas con ochenta avos", "第 1 靴，第 1 局 / sabot 1, ronda 1"):  # fmt: skip
        assert told in page
    assert "Payout" not in page
    monkeypatch.setattr(money, "HOUSE", tmp_path / "ko.toml")
    money.HOUSE.write_text('currency = "USD"\nlanguages = ["ko", "en"]\n', "utf-8")  # no slip is in Korean
    assert slip_page(ledger.print_slip(award, "Ann")).count("Two thousand five hundred dollars and eighty cents") == 1
    monkeypatch.setattr(money, "HOUSE", tmp_path / "xx.toml")
    money.HOUSE.write_text('currency = "USD"\nlanguages = ["xx"]\n', "utf-8")
    assert main(["slip", award, "-o", str(tmp_path / "1.html"), "--control", str(tmp_path / "nobody")]) == 1
    assert not (tmp_path / "1.html").exists(), "refused before the pit is asked"
    assert "languages" in capsys.readouterr().err


def test_the_page_says_all_and_what_was_typed_is_no_markup(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(file: str, by: str) -> str:
        code = main(["slip", award, "-o", str(tmp_path / file), "--control", str(control), "--as", by])
        assert code == 0, capsys.readouterr().err
        return (tmp_path / file).read_text("utf-8")

    with closing(opened(path)) as ledger, practising(ledger, path, KEY) as control:
        ledger.set_house_rules(HouseRules(ZONE, W2G))
        award = won(ledger, TableEvening("t-0"), 250_080)
        first, second = printed("1.html", "<b>Ann"), printed("2.html", "Bob")
        again = ["slip", award, "-o", str(tmp_path / "2.html"), "--control", str(control), "--as", "Bob"]
        assert main(again) == 1
    text = re.sub(r"<[^>]*>", " ", first)
    for told in TOLD:
        assert told in text, told
    assert "<b>Ann" not in first
    assert "practice:&lt;b&gt;Ann" in first
    assert "COPY" not in first
    assert not re.search(r"(src|href)=|@import|url\(", first), "the page needs no other file"
    assert "COPY 1 of slip 1. practice:&lt;b&gt;Ann printed the original" in second
    assert "slip_not_written" in capsys.readouterr().err
    assert main(["slips", "--json", "--ledger", str(path)]) == 0
    (slip,) = json.loads(capsys.readouterr().out)
    by = [each["by"] for each in slip["prints"]]
    assert by == ["practice:<b>Ann", "practice:Bob"], "nobody's print is lost, nor one kept unmade"


def test_a_refused_slip_leaves_no_file(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(opened(path)) as ledger, practising(ledger, path, KEY) as control:
        assert main(["slip", "t-0.1", "-o", str(tmp_path / "s.html"), "--control", str(control)]) == 1
    assert "award_unknown" in capsys.readouterr().err
    assert not (tmp_path / "s.html").exists()


def test_the_shipped_settings_know_the_form_and_its_threshold_of_2026() -> None:
    assert (load(PIT).house.zone, load(PIT).house.tax) == (ZONE, W2G)
