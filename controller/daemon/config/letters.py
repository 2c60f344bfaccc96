"""Tells which letters the fonts that come with the web pages can draw. Any other letter shows only if the browser's
machine has a font with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


def _among(*ranges: tuple[int, int]) -> Callable[[str], bool]:
    return lambda letter: any(first <= ord(letter) <= last for first, last in ranges)


def _of(codec: str, first: int, last: int) -> Callable[[str], bool]:
    """Return a function that tells whether a letter belongs to an old national character set, or to a part of it.
    `codec` is Python's name of the set, such as "big5". A letter belongs if `codec` encodes it as two bytes, of which
    the first lies from `first` to `last`."""

    def has(letter: str) -> bool:
        try:
            coded = letter.encode(codec)
        except UnicodeEncodeError:
            return False
        return len(coded) == 2 and first <= coded[0] <= last

    return has


_LATIN = _among(
    *((0x20, 0x7E), (0xA0, 0xAC), (0xAE, 0xFF), (0x102, 0x103), (0x110, 0x111), (0x128, 0x129), (0x168, 0x169)),
    *((0x1A0, 0x1A1), (0x1AF, 0x1B0), (0x300, 0x303), (0x309, 0x309), (0x323, 0x323), (0x1EA0, 0x1EF9)),
    *((0x2013, 0x2014), (0x2018, 0x201D), (0x2022, 0x2022), (0x2026, 0x2026), (0x20AB, 0x20AB), (0x2212, 0x2212)),
)
_SIGNS = _among((0x131, 0x131), (0x152, 0x153), (0x20AC, 0x20AC), (0x2122, 0x2122))
_MORE_LATIN = _among(
    *((0x100, 0x148), (0x14A, 0x1C3), (0x1CD, 0x24F), (0x1E00, 0x1E9B), (0x1E9E, 0x1E9F)),
    *((0x20A0, 0x20AB), (0x20AD, 0x20AF), (0x20B1, 0x20B5), (0x20B8, 0x20BA), (0x20BC, 0x20BF)),
)
_GREEK = _among((0x384, 0x38A), (0x38C, 0x38C), (0x38E, 0x3A1), (0x3A3, 0x3CE))
_CYRILLIC = _among((0x400, 0x45F), (0x490, 0x491))
_KANA = _among((0x3000, 0x303F), (0x3041, 0x3096), (0x3099, 0x30FF), (0xFF01, 0xFF5E))
_KHMER = _among((0x1780, 0x17DD), (0x17E0, 0x17E9), (0x17F0, 0x17F9), (0x19E0, 0x19FF), (0x200B, 0x200D))
_JAMO = _among((0x3131, 0x318E))
_TRADITIONAL, _SIMPLIFIED = _of("big5", 0xA4, 0xC6), _of("gb2312", 0xB0, 0xF7)
_SELDOM, _HONG_KONG = _of("big5", 0xC9, 0xF9), _of("big5hkscs", 0x87, 0xFE)
_IDEOGRAPHS, _ALL_IDEOGRAPHS = _among((0x4E00, 0x9FA5)), _among((0x3400, 0x9FFF), (0x20000, 0x2FA1F))
_KOREAN, _HANGUL = _of("euc_kr", 0xB0, 0xC8), _among((0xAC00, 0xD7A3))

_BY_FONT: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("inter", _LATIN),
    ("inter-signs", _SIGNS),
    ("inter-latin", _MORE_LATIN),
    ("inter-greek", _GREEK),
    ("inter-cyrillic", _CYRILLIC),
    ("noto-khmer", _KHMER),
    ("noto-korean", lambda letter: _KOREAN(letter) or _JAMO(letter)),
    ("noto-korean-seldom", _HANGUL),
    ("noto-traditional", lambda letter: _TRADITIONAL(letter) or _KANA(letter)),
    ("noto-simplified", _SIMPLIFIED),
    ("noto-traditional-seldom", _SELDOM),
    ("noto-hong-kong", lambda letter: _ALL_IDEOGRAPHS(letter) and _HONG_KONG(letter)),
    ("noto-seldom", _IDEOGRAPHS),
)
FONTS = tuple(name for name, _ in _BY_FONT)
"""The fonts of the pages, by the names of their files. Of Chinese and Korean letters each language has those of daily
use in a font of their own: the first level of Big5, GB 2312, and KS X 1001. The other letters of Big5, those of Hong
Kong, and the rest of Unicode's first block are in three fonts more, so that a browser loads them for a seldom name."""


def without_a_font(text: str) -> str:
    """Return the letters of this text that no font of the web pages can draw, each letter once."""
    return "".join(dict.fromkeys(letter for letter in text if font_of(letter) is None))


@cache
def font_of(letter: str) -> str | None:
    """Return the name of the web pages' font that draws this letter; None if no font draws it."""
    return next((name for name, has in _BY_FONT if has(letter)), None)
