"""Writes an amount of money in words, for the slips by which awards are paid, because a number in figures is easily
changed with a pen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
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
    """Write an amount in words: "Two hundred dollars and five cents". Falls back to English if the language has no
    number words in `IN_WORDS`.

    Raises ValueError for an amount below zero.
    """
    if cents < 0:
        raise ValueError("nobody is paid less than nothing")
    as_ = currency or in_use()
    units, minor = divmod(cents, 10**as_.digits)
    said = IN_WORDS.get(language, _english)(units, minor, as_)
    return said[0].upper() + said[1:]


def english(number: int) -> str:
    """Write a whole number in English words: "one thousand two hundred five"."""
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
    """Write a whole number in Vietnamese words: "một nghìn hai trăm lẻ năm"."""
    for each, name in _GROUPS_VI:
        if number >= each:
            return _joined(f"{vietnamese(number // each)} {name}", _after(number % each, each))
    return _below_a_thousand(number, leading=True)


def _after(rest: int, group: int) -> str:
    """Write in Vietnamese the lower part of a number. For 1005, `group` is 1000, which is already written, and `rest`
    is 5. A missing hundreds digit of `rest` is written out as "không trăm" (zero hundred): this 5 is "không trăm lẻ
    năm"."""
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


_FINANCIAL = {"zh-Hant": "零壹貳叁肆伍陸柒捌玖 拾佰仟 萬 億 兆", "zh-Hans": "零壹贰叁肆伍陆柒捌玖 拾佰仟 万 亿 万亿"}
"""The digits of cheques, which no pen changes into others; tens, hundreds and thousands; and 10⁴, 10⁸ and 10¹²."""


def chinese(number: int, script: str) -> str:
    """Write a whole number in the Chinese digits of cheques: "壹仟零伍拾", in the script `zh-Hant` or `zh-Hans`."""
    digits, places, *groups = _FINANCIAL[script].split()
    said, gap = "", False
    for place in range(len(str(number)) - 1, -1, -1):
        digit = number // 10**place % 10
        if digit:
            said += (digits[0] if gap else "") + digits[digit] + ("", *places)[place % 4]
        gap = digit == 0 and bool(said)
        if place and place % 4 == 0 and number // 10**place % 10_000:
            said += groups[place // 4 - 1]
    return said or digits[0]


_SPANISH = (
    *("cero", "un", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce"),
    *("trece", "catorce", "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve", "veinte", "veintiún"),
    *("veintidós", "veintitrés", "veinticuatro", "veinticinco", "veintiséis", "veintisiete", "veintiocho"),
    "veintinueve",
)
_TENS_ES = ("treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
_HUNDREDS_ES = (
    *("ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos", "seiscientos", "setecientos"),
    *("ochocientos", "novecientos"),
)


def spanish(number: int, feminine: bool = False) -> str:
    """Write a whole number in Spanish words, in the form that stands before a noun: "veintiún mil doscientos".
    `feminine` is True if the noun is feminine: "doscientas una"."""
    if number >= 10**12:
        ones, rest = divmod(number, 10**12)
        first = f"{_below_a_million(ones)} {'billón' if ones == 1 else 'billones'}"
        return _joined(first, spanish(rest, feminine) if rest else "")
    millions, rest = divmod(number, 10**6)
    first = f"{_below_a_million(millions)} {'millón' if millions == 1 else 'millones'}" if millions else ""
    second = _below_a_million(rest) if rest or not millions else ""
    if feminine:  # millions are masculine, whatever is counted
        second = re.sub(r"cientos\b", "cientas", second).replace("quinientos", "quinientas")
        second = re.sub(r"\bun\b", "una", second).replace("veintiún", "veintiuna")
    return _joined(first, second)


def _below_a_million(number: int) -> str:
    thousands, rest = divmod(number, 1_000)
    first = f"{_below_a_thousand_es(thousands) if thousands > 1 else ''} mil".strip() if thousands else ""
    return _joined(first, _below_a_thousand_es(rest) if rest or not thousands else "")


def _below_a_thousand_es(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    if number == 100:
        return "cien"
    if hundreds:
        return _joined(_HUNDREDS_ES[hundreds - 1], _below_a_thousand_es(rest) if rest else "")
    if number < 30:
        return _SPANISH[number]
    tens, ones = divmod(number, 10)
    return _TENS_ES[tens - 3] + (f" y {_SPANISH[ones]}" if ones else "")


_CENTAVOS = ("centavo", "centavos")
_MONEY_EN = {
    "USD": ("dollar", "dollars", "cent", "cents"),
    "HKD": ("Hong Kong dollar", "Hong Kong dollars", "cent", "cents"),
    "MOP": ("pataca", "patacas", "avo", "avos"),
    "PHP": ("peso", "pesos", *_CENTAVOS),
    "VND": ("dong", "dong", "", ""),
    "KRW": ("won", "won", "", ""),
}
"""What a currency's unit and minor unit are called, one and several of each."""

_MONEY_ES = {
    "USD": ("dólar", "dólares", *_CENTAVOS),
    "HKD": ("dólar de Hong Kong", "dólares de Hong Kong", *_CENTAVOS),
    "MOP": ("pataca", "patacas", "avo", "avos"),
    "PHP": ("peso", "pesos", *_CENTAVOS),
    "VND": ("dong", "dongs", "", ""),
    "KRW": ("won", "wones", "", ""),
}
_MONEY_VI = {
    "USD": ("đô la", "xu"),
    "HKD": ("đô la Hồng Kông", "xu"),
    "MOP": ("pataca", "avo"),
    "PHP": ("peso", "centavo"),
    "VND": ("đồng", ""),
    "KRW": ("won", ""),
}
_MONEY_ZH = {
    "USD": {"zh-Hans": "美元", "zh-Hant": "美元"},
    "HKD": {"zh-Hans": "港币", "zh-Hant": "港幣"},
    "MOP": {"zh-Hans": "澳门币", "zh-Hant": "澳門幣"},
    "PHP": {"zh-Hans": "菲律宾比索", "zh-Hant": "菲律賓披索"},
    "VND": {"zh-Hans": "越南盾", "zh-Hant": "越南盾"},
    "KRW": {"zh-Hans": "韩元", "zh-Hant": "韓元"},
}
"""The currency's name stands first, as on a cheque, and units are 元."""


def _english(units: int, minor: int, currency: Currency) -> str:
    one, several, a_minor, minors = _MONEY_EN[currency.code]
    whole = f"{english(units)} {one if units == 1 else several}"
    return f"{whole} and {english(minor)} {a_minor if minor == 1 else minors}" if currency.digits else whole


def _spanish(units: int, minor: int, currency: Currency) -> str:
    one, several, a_minor, minors = _MONEY_ES[currency.code]
    of = "de " if units and units % 10**6 == 0 else ""
    whole = f"{spanish(units, feminine=one == 'pataca')} {of}{one if units == 1 else several}"
    return f"{whole} con {spanish(minor)} {a_minor if minor == 1 else minors}" if currency.digits else whole


def _vietnamese(units: int, minor: int, currency: Currency) -> str:
    unit, minor_unit = _MONEY_VI[currency.code]
    whole = f"{vietnamese(units)} {unit}"
    return f"{whole} và {vietnamese(minor)} {minor_unit}" if currency.digits else whole


def _chinese(units: int, minor: int, currency: Currency, script: str) -> str:
    """Write an amount in Chinese as on a cheque. A tenth of the unit is 角, and a hundredth is 分. The amount's last
    character is 分, 正 or 整 (the last two mean "exactly"), so that nobody can add digits."""
    tenths, hundredths = divmod(minor, 10)
    said = f"{_MONEY_ZH[currency.code][script]}{chinese(units, script)}元"
    if minor:
        said += f"{chinese(tenths, script)}{'角' if tenths else ''}"
    ends = "正" if script == "zh-Hant" else "整"
    return said + (f"{chinese(hundredths, script)}分" if hundredths else ends)


IN_WORDS: Mapping[str, Callable[[int, int, Currency], str]] = MappingProxyType(
    {
        "en": _english,
        "es": _spanish,
        "vi": _vietnamese,
        "zh-Hans": partial(_chinese, script="zh-Hans"),
        "zh-Hant": partial(_chinese, script="zh-Hant"),
    }
)
"""What says an amount in each language that has words for it."""
