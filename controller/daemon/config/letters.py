"""The letters that come with the pages. A name in others is drawn only where a browser's machine has a font."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from unicodedata import normalize


def _among(*ranges: tuple[int, int]) -> Callable[[str], bool]:
    return lambda letter: any(first <= ord(letter) <= last for first, last in ranges)


def _of(codec: str, first: int, last: int) -> Callable[[str], bool]:
    """Whether a letter is of an old national standard, by the first of its two bytes there."""

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
_KANA, _KHMER = _among((0x3000, 0x30FF), (0xFF00, 0xFF5E)), _among((0x1780, 0x17FF), (0x19E0, 0x19FF), (0x200B, 0x200D))
_JAMO = _among((0x3131, 0x318E))
_TRADITIONAL, _SIMPLIFIED = _of("big5", 0xA4, 0xC6), _of("gb2312", 0xB0, 0xF7)
_HANGUL = _of("euc_kr", 0xB0, 0xC8)

FONTS: Mapping[str, Callable[[str], bool]] = {
    "inter": _LATIN,
    "noto-traditional": lambda letter: _TRADITIONAL(letter) or _KANA(letter),
    "noto-simplified": lambda letter: _SIMPLIFIED(letter) and not _TRADITIONAL(letter),
    "noto-korean": lambda letter: _HANGUL(letter) or _JAMO(letter),
    "noto-khmer": _KHMER,
}
"""Which letters each font of the pages has, by the name of its file. The Chinese ones are those of daily use: the first
level of Big5, and GB 2312. The Korean ones are those of KS X 1001."""


def without_a_font(text: str) -> str:
    """The letters of this text that no font of the pages has."""
    return "".join(dict.fromkeys(letter for letter in normalize("NFC", text) if not _has(letter)))


@cache
def _has(letter: str) -> bool:
    return any(has(letter) for has in FONTS.values())
