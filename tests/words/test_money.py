"""Checks amounts of money in each currency: what the program writes is parsed back by code that shares nothing with the
program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.basics import money
from controller.basics.errors import TableError
from controller.basics.money import CURRENCIES, amount, figures, short
from controller.contract.bounds import MOST_CENTS
from controller.daemon.config import load
from controller.daemon.config.letters import without_a_font
from controller.daemon.config.problems import ConfigError
from controller.people.cli import check as cli_check
from controller.people.cli.main import main
from controller.people.screen.wording import with_money
from controller.words.amounts import in_words
from controller.words.found import SIDE_BY_SIDE, houses_languages
from tests.support.samples import examples
from tests.support.tables import TABLES

WRITTEN = {
    "USD": ("$1,234,567,890.12", "$12.50", "$5,000", "-$0.05"),
    "HKD": ("HK$1,234,567,890.12", "HK$12.50", "HK$5,000", "-HK$0.05"),
    "MOP": ("MOP$1,234,567,890.12", "MOP$12.50", "MOP$5,000", "-MOP$0.05"),
    "PHP": ("₱1,234,567,890.12", "₱12.50", "₱5,000", "-₱0.05"),
    "VND": ("123.456.789.012\u00a0₫", "1.250\u00a0₫", "500.000\u00a0₫", "-5\u00a0₫"),
    "KRW": ("₩123,456,789,012", "₩1,250", "₩500,000", "-₩5"),
}
"""123,456,789,012 minor units in full, then 1,250 and 500,000 in short, and five less than nothing."""


@pytest.mark.parametrize("code", CURRENCIES)
def test_an_amount_is_written_as_the_currencys_people_write_it(code: str) -> None:
    of = CURRENCIES[code]
    assert (amount(123_456_789_012, of), short(1_250, of), short(500_000, of), amount(-5, of)) == WRITTEN[code]
    assert without_a_font(amount(1_234_567, of)) == "", "a page brings each letter of an amount"
    assert figures(123_456, of) in amount(123_456, of)


def test_each_currency_has_its_written_amounts() -> None:
    assert WRITTEN.keys() == CURRENCIES.keys()


def _read(text: str, minor_digits: int, point: str) -> int:
    """Return the amount in minor units (such as cents) that a person would read in this text. `point` is the decimal
    point, and `minor_digits` is how many digits follow it."""
    whole, _, minor = re.sub(rf"[^0-9{re.escape(point)}]", "", text).partition(point)
    return int(whole + minor.ljust(minor_digits, "0")) * (-1 if text.startswith("-") else 1)


@examples(200)
@given(
    cents=st.one_of(st.integers(-MOST_CENTS, MOST_CENTS), st.integers(0, 20_000)), code=st.sampled_from([*CURRENCIES])
)
def test_whoever_reads_an_amount_reads_the_minor_units(cents: int, code: str) -> None:
    of = CURRENCIES[code]
    digits, point = {"VND": (0, ","), "KRW": (0, ".")}.get(code, (2, "."))
    bare = {**dict.fromkeys(("HKD", "MOP", "USD"), "$"), "PHP": "₱", "KRW": "₩"}
    for write in (amount, short):
        text = write(cents, of)
        assert _read(text.replace(bare.get(code, "₫"), ""), digits, point) == cents
        groups = re.findall(r"[0-9]+", text.partition(point)[0] if digits else text)
        assert all(len(group) == 3 for group in groups[1:])
        assert 1 <= len(groups[0]) <= 3


@pytest.mark.parametrize(
    ("code", "in_english", "in_vietnamese"),
    [
        ("HKD", "One Hong Kong dollar and one cent", "Một đô la Hồng Kông và một xu"),
        ("MOP", "One pataca and one avo", "Một pataca và một avo"),
        ("PHP", "One peso and one centavo", "Một peso và một centavo"),
        ("VND", "One hundred one dong", "Một trăm lẻ một đồng"),
        ("KRW", "One hundred one won", "Một trăm lẻ một won"),
    ],
)
def test_an_amount_in_words_names_the_currency(code: str, in_english: str, in_vietnamese: str) -> None:
    assert in_words(101, "en", CURRENCIES[code]) == in_english
    assert in_words(101, "vi", CURRENCIES[code]) == in_vietnamese


def test_the_houses_file_says_the_currency_and_check_tells_what_is_wrong_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        'currency = "KRW"': "",
        'currency = "KWR"': "there is no currency KWR, is KRW meant?",
        'curency = "KRW"': "there is no key curency, is currency meant?",
        "": "currency is missing",
        "currency": "cannot be read",
    }
    for place, (text, wrong) in enumerate(told.items()):
        monkeypatch.setattr(money, "HOUSE", tmp_path / str(place) / "house.toml")
        assert money.in_use().code == "USD", "a machine without that file"
        money._of.cache_clear()
        money._read.cache_clear()
        money.HOUSE.parent.mkdir()
        money.HOUSE.write_text(text, "utf-8")
        if not wrong:
            assert (amount(1_500), json.loads(_told(with_money("{{money}}")))["sign"]) == ("₩1,500", "₩")
            load(TABLES / "royal9.toml")
            continue
        with pytest.raises(TableError, match="house_file") as refused:
            money.in_use()
        assert wrong in refused.value.what
        with pytest.raises(ConfigError, match=re.escape(wrong)):
            load(TABLES / "royal9.toml")


def test_the_houses_file_says_the_languages_of_the_pits_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert houses_languages() == SIDE_BY_SIDE
    told = {
        '["zh-Hant", "en"]': ("zh-Hant", "en"),
        '["es"]': ("es",),
        '["xx"]': None,
        '["es", "es"]': None,
        '["es", "en", "vi"]': None,
        "[]": None,
        "7": None,
        '"es"': None,
        '[["es"]]': None,
    }
    for place, (languages, meant) in enumerate(told.items()):
        monkeypatch.setattr(money, "HOUSE", tmp_path / f"{place}.toml")
        money.HOUSE.write_text(f'currency = "MOP"\nlanguages = {languages}\n', "utf-8")
        if meant:
            assert houses_languages() == meant
        else:
            with pytest.raises(TableError, match="house_file") as refused:
                houses_languages()
            assert "is not one or two languages here" in refused.value.what


def _told(page: str) -> str:
    return page.replace("&quot;", '"')


def test_check_tells_a_house_in_whose_languages_the_papers_are_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def counts(*_: object) -> None:
        raise TableError("counted", "", "")

    monkeypatch.setattr(cli_check, "counted", counts)
    for name, english in (("km", True), ("ko", True), ("pt", True), ("tl", True), ("es", False), ("zh-Hans", False)):
        monkeypatch.setattr(money, "HOUSE", tmp_path / f"{name}.toml")
        money.HOUSE.write_text(f'currency = "USD"\nlanguages = ["{name}", "vi"]\n', "utf-8")
        assert main(["check", str(TABLES / "royal9.toml")]) == 1
        assert (f"the pit's page are not in {name}" in capsys.readouterr().out) == english


def test_check_reports_languages_of_the_house_that_are_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(money, "HOUSE", tmp_path / "house.toml")
    money.HOUSE.write_text('currency = "USD"\nlanguages = ["zh-CN"]\n', "utf-8")
    assert main(["check", str(TABLES / "royal9.toml"), "--json"]) == 78
    (mistake,) = json.loads(capsys.readouterr().out)["mistakes"]
    assert (mistake["file"], mistake["key"]) == (str(money.HOUSE), "languages")
    assert "zh-CN" in mistake["what"]
