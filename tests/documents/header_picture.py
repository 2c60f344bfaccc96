"""Draws `docs/wiring.svg`: the pin header of a Raspberry Pi from above, with what the example table has on each pin."""

from __future__ import annotations

from collections.abc import Mapping

from drivers.header_map import GROUNDS, PHYSICAL, POWER

_COLOURS = {"lamp": "#e0a100", "input": "#2f6fb5", "ground": "#333333", "power": "#c0392b", "free": "#ffffff"}
_ROW, _PAD, _HALF, _TOP = 24, 8, 300, 16
_FORM = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg"\
 font-family="DejaVu Sans, Verdana, sans-serif" font-size="13" role="img">
<title>The 40-pin header, wired as the example table</title>
<rect width="{width}" height="{height}" fill="#f7f7f4"/>
<rect x="{left}" y="{top}" width="76" height="{length}" rx="6" fill="#d9dccb" stroke="#888"/>
{pins}
</svg>
"""


def header_picture(wired: Mapping[int, str]) -> str:
    """Draw the pin header of a Raspberry Pi as SVG. `wired` says what is connected to each BCM number, such as "lamp
    seat_1"."""
    at = {place: bcm for bcm, place in PHYSICAL.items()}
    height = 20 * _ROW + 2 * _TOP
    return _FORM.format(
        width=2 * _HALF,
        height=height,
        left=_HALF - 38,
        top=_TOP // 2,
        length=height - _TOP,
        pins="\n".join(_pin(place, *_has(place, at.get(place), wired)) for place in range(1, 41)),
    )


def _has(place: int, bcm: int | None, wired: Mapping[int, str]) -> tuple[str, str]:
    """Return two texts for the pin at this place of the header: the kind of thing that is on it, and a description for
    people."""
    if place in GROUNDS:
        return "ground", "ground"
    if bcm is None:
        return "power", POWER[place]
    told = wired.get(bcm, "free")
    return told.split()[0], f"{told} (BCM {bcm})"


def _pin(place: int, kind: str, told: str) -> str:
    right = place % 2 == 0
    side = 1 if right else -1
    x, y = _HALF + side * 18, _TOP + _ROW * ((place - 1) // 2) + _ROW // 2
    anchor, bold = ("start", "end")[not right], ' font-weight="bold"' if kind in ("lamp", "input") else ""
    pad = f'<circle cx="{x}" cy="{y}" r="{_PAD}" fill="{_COLOURS[kind]}" stroke="#555"/>'
    if place == 1:
        pad = pad.replace(
            "<circle", f'<rect x="{x - 11}" y="{y - 11}" width="22" height="22" fill="none" stroke="#555"/><circle'
        )
    number = f'<text x="{x + side * 31}" y="{y + 5}" text-anchor="middle" fill="#777">{place}</text>'
    words = f'<text x="{x + side * 46}" y="{y + 5}" text-anchor="{anchor}"{bold}>{told}</text>'
    return pad + number + words
