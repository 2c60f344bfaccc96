"""An amount of money in words, as a slip to pay by has it beside the figures: a figure is easily changed with a pen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from controller.basics.money import Currency, in_use

_ENGLISH = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS = ((10**9, "billion"), (10**6, "million"), (10**3, "thousand"))
_VIETNAMESE = ("không", "một", "hai", "ba", "bốn", "năm", "sáu", "bảy", "tám", "chín")
_GROUPS_VI = ((10**9, "tỷ"), (10**6, "triệu"), (10**3, "nghìn"))


def in_words(cents: int, language: str, currency: Currency | None = None) -> str:
    """An amount in words: "Two hundred dollars and five cents". A language not in `IN_WORDS` says it in English.

    Raises ValueError for an amount below zero.
    """
    if cents < 0:
        raise ValueError("nobody is paid less than nothing")
    as_ = currency or in_use()
    as_ = currency or in_use()
    units, minor = divmod(cents, 10**as_.digits)
    said = IN_WORDS.get(language, _english)(units, minor, as_)
    return said[0].upper() + said[1:]


def english(number: int) -> str:
    """A whole number in English words: "one thousand two hundred five"."""
    for each, name in _GROUPS:
        if number >= each:
            return _joined(f"{english(number // each)} {name}", english(number % each) if number % each else "")
    if number >= 100:
        return _joined(f"{_ENGLISH[number // 100]} hundred", english(number % 100) if number % 100 else "")
    if number < 20:
        return _ENGLISH[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_ENGLISH[ones]}" if ones else "")


def vietnamese(number: int) -> str:
    """A whole number in Vietnamese words: "một nghìn hai trăm lẻ năm"."""
    for each, name in _GROUPS_VI:
        if number >= each:
            return _joined(f"{vietnamese(number // each)} {name}", _after(number % each, each))
    return _below_a_thousand(number, leading=True)


def _after(rest: int, group: int) -> str:
    """What follows a group: a lower group that is there is read in full, as in "không trăm lẻ năm"."""
    for each, name in _GROUPS_VI:
        if each < group and rest >= each:
            return _joined(f"{_below_a_thousand(rest // each, leading=False)} {name}", _after(rest % each, each))
    return _below_a_thousand(rest, leading=False) if rest else ""


def _below_a_thousand(number: int, leading: bool) -> str:
    hundreds, rest = divmod(number, 100)
    if leading and not hundreds:
        return _below_a_hundred(rest)
    words = f"{_VIETNAMESE[hundreds]} trăm"
    if not rest:
        return words
    return f"{words} lẻ {_VIETNAMESE[rest]}" if rest < 10 else f"{words} {_below_a_hundred(rest)}"


def _below_a_hundred(number: int) -> str:
    tens, ones = divmod(number, 10)
    if not tens:
        return _VIETNAMESE[ones]
    words = "mười" if tens == 1 else f"{_VIETNAMESE[tens]} mươi"
    if not ones:
        return words
    last = {1: "mốt" if tens > 1 else "một", 5: "lăm"}.get(ones, _VIETNAMESE[ones])
    return f"{words} {last}"


def _joined(*words: str) -> str:
    return " ".join(filter(None, words))


_MONEY = {
    "USD": (("dollar", "dollars", "cent", "cents"), ("đô la", "xu")),
    "HKD": (("Hong Kong dollar", "Hong Kong dollars", "cent", "cents"), ("đô la Hồng Kông", "xu")),
    "MOP": (("pataca", "patacas", "avo", "avos"), ("pataca", "avo")),
    "PHP": (("peso", "pesos", "centavo", "centavos"), ("peso", "centavo")),
    "VND": (("dong", "dong", "", ""), ("đồng", "")),
    "KRW": (("won", "won", "", ""), ("won", "")),
}
"""What a currency's unit and minor unit are called: in English one and several of each, and in Vietnamese."""


def _english(units: int, minor: int, currency: Currency) -> str:
    (one, several, a_minor, minors), _ = _MONEY[currency.code]
    whole = f"{english(units)} {one if units == 1 else several}"
    return f"{whole} and {english(minor)} {a_minor if minor == 1 else minors}" if currency.digits else whole


def _vietnamese(units: int, minor: int, currency: Currency) -> str:
    _, (unit, minor_unit) = _MONEY[currency.code]
    whole = f"{vietnamese(units)} {unit}"
    return f"{whole} và {vietnamese(minor)} {minor_unit}" if currency.digits else whole


IN_WORDS: Mapping[str, Callable[[int, int, Currency], str]] = MappingProxyType({"en": _english, "vi": _vietnamese})
"""What says an amount in each language that has words for it."""
