"""Checks amounts that are written in words. The words are compared with those that people write on a cheque, and a
second program parses them back into numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.basics.money import CURRENCIES
from controller.contract.bounds import MOST_CENTS
from controller.words.amounts import IN_WORDS, chinese, english, in_words, spanish, vietnamese
from controller.words.found import LANGUAGES
from tests.support.samples import examples


@pytest.mark.parametrize(
    ("cents", "in_english", "in_vietnamese"),
    [
        (0, "Zero dollars and zero cents", "Không đô la và không xu"),
        (101, "One dollar and one cent", "Một đô la và một xu"),
        (1_515, "Fifteen dollars and fifteen cents", "Mười lăm đô la và mười lăm xu"),
        (2_155, "Twenty-one dollars and fifty-five cents", "Hai mươi mốt đô la và năm mươi lăm xu"),
        (10_500, "One hundred five dollars and zero cents", "Một trăm lẻ năm đô la và không xu"),
        (111_111, "One thousand one hundred eleven dollars and eleven cents",
         "Một nghìn một trăm mười một đô la và mười một xu"),
        (100_500, "One thousand five dollars and zero cents", "Một nghìn không trăm lẻ năm đô la và không xu"),
        (1_000_080, "Ten thousand dollars and eighty cents", "Mười nghìn đô la và tám mươi xu"),
        (100_000_000, "One million dollars and zero cents", "Một triệu đô la và không xu"),
        (100_001_500, "One million fifteen dollars and zero cents",
         "Một triệu không trăm mười lăm đô la và không xu"),
        (250_040_030_001, "Two billion five hundred million four hundred thousand three hundred dollars and one cent",
         "Hai tỷ năm trăm triệu bốn trăm nghìn ba trăm đô la và một xu"),
    ],
)  # fmt: skip
def test_an_amount_is_written_as_people_write_it(cents: int, in_english: str, in_vietnamese: str) -> None:
    assert in_words(cents, "en") == in_english
    assert in_words(cents, "vi") == in_vietnamese


@pytest.mark.parametrize(
    ("cents", "currency", "in_spanish", "in_chinese"),
    [
        (0, "USD", "Cero dólares con cero centavos", "美元零元正"),
        (101, "MOP", "Una pataca con un avo", "澳門幣壹元零壹分"),
        (2_100_150, "MOP", "Veintiuna mil una patacas con cincuenta avos", "澳門幣貳萬壹仟零壹元伍角正"),
        (53_199, "HKD", "Quinientos treinta y un dólares de Hong Kong con noventa y nueve centavos",
         "港幣伍佰叁拾壹元玖角玖分"),
        (100_000_000, "USD", "Un millón de dólares con cero centavos", "美元壹佰萬元正"),
        (1_000_020_000, "VND", "Mil millones veinte mil dongs", "越南盾壹拾億零貳萬元正"),
        (10**12 + 1, "VND", "Un billón un dongs", "越南盾壹兆零壹元正"),
        (10_100, "KRW", "Diez mil cien wones", "韓元壹萬零壹佰元正"),
    ],
)  # fmt: skip
def test_a_cheque_is_written_so_in_spanish_and_chinese(
    cents: int, currency: str, in_spanish: str, in_chinese: str
) -> None:
    assert in_words(cents, "es", CURRENCIES[currency]) == in_spanish
    assert in_words(cents, "zh-Hant", CURRENCIES[currency]) == in_chinese


def test_every_language_has_its_amounts_and_nobody_is_paid_less_than_nothing() -> None:
    assert all(in_words(123, name) for name in LANGUAGES)
    assert {*IN_WORDS} <= {*LANGUAGES}
    assert in_words(123, "ko") == in_words(123, "en")
    with pytest.raises(ValueError, match="less than nothing"):
        in_words(-1, "en")


_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_TENS = """twenty thirty forty fifty
sixty seventy eighty ninety"""
_DIGITS = """không một hai ba bốn
năm sáu bảy tám chín"""
_EN = {word: number for number, word in enumerate(_ONES.split())}
_EN |= {word: number * 10 for number, word in enumerate(_TENS.split(), 2)}
_VI = {word: number for number, word in enumerate(_DIGITS.split())} | {"mốt": 1, "lăm": 5, "mười": 10}


def _read(words: str, units: Mapping[str, int], ten: str, hundred: str, groups: Mapping[str, int]) -> int:
    """Parse a number in words, from the left. `units` are the words for digits, `ten` and `hundred` the words for 10
    and 100, and `groups` those for thousands, millions and so on."""
    total, group, digit = 0, 0, 0
    for word in words.replace("-", " ").split():
        if word in groups:
            total, group, digit = total + (group + digit) * groups[word], 0, 0
        elif word == hundred:
            group, digit = group + digit * 100, 0
        elif word == ten:
            group, digit = group + digit * 10, 0
        elif word != "lẻ":
            digit += units[word]
    return total + group + digit


_UNDER_THIRTY = """cero un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
diecisiete dieciocho diecinueve veinte veintiún veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete
veintiocho veintinueve"""
_FULL_TENS = """treinta cuarenta cincuenta
sesenta setenta ochenta noventa"""
_HUNDREDS = """ciento doscientos trescientos cuatrocientos
quinientos seiscientos setecientos ochocientos novecientos"""
_ES = {word: number for number, word in enumerate(_UNDER_THIRTY.split())} | {"cien": 100}
_ES |= {word: 10 * number for number, word in enumerate(_FULL_TENS.split(), 3)}
_ES |= {word: 100 * number for number, word in enumerate(_HUNDREDS.split(), 1)}
_ZH = {**{sign: number for number, sign in enumerate("零壹贰叁肆伍陆柒捌玖")}, "拾": 10, "佰": 100, "仟": 1_000}


def _read_spanish(words: str) -> int:
    total, group = 0, 0
    for word in words.split():
        if word in ("millón", "millones"):
            total, group = (total + group) * 10**6, 0
        elif word == "mil":
            total, group = total + max(group, 1) * 1_000, 0
        elif word != "y":
            group += _ES[word]
    return total + group


def _read_chinese(words: str) -> int:
    total, group, digit = 0, 0, 0
    for sign in words:
        if sign in "万亿":
            total, group, digit = total + (group + digit) * (10**4 if sign == "万" else 10**8), 0, 0
        elif _ZH[sign] >= 10:
            group, digit = group + digit * _ZH[sign], 0
        else:
            digit = _ZH[sign]
    return total + group + digit


@examples(200)
@given(number=st.one_of(st.integers(0, MOST_CENTS // 100), st.integers(0, 2_000)))
def test_who_reads_the_words_reads_the_number(number: int) -> None:
    readers: list[tuple[Callable[[int], str], int]] = [
        (english, _read(english(number), _EN, "", "hundred", {"thousand": 10**3, "million": 10**6, "billion": 10**9})),
        (spanish, _read_spanish(spanish(number))),
        (lambda number: chinese(number, "zh-Hans"), _read_chinese(chinese(number, "zh-Hans"))),
        (vietnamese, _read(vietnamese(number), _VI, "mươi", "trăm", {"nghìn": 10**3, "triệu": 10**6, "tỷ": 10**9})),
    ]
    assert [(write(number), read) for write, read in readers] == [(write(number), number) for write, _ in readers]
