"""The section `[screen]`: how the players' page looks, with the house's own colours, logo, picture and words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from controller.daemon.config.letters import without_a_font
from controller.daemon.config.problems import Mistake
from controller.words import found
from controller.words.found import LANGUAGES, MOST_SIDE_BY_SIDE, SIDE_BY_SIDE


class ScreenSection(Struct, frozen=True):
    """The section `[screen]` of a table's file: how the players' page looks."""

    languages: tuple[str, ...] = SIDE_BY_SIDE
    """What the page is in: one language, or two that stand side by side, such as `["zh-Hant", "en"]`."""

    celebrates: Literal["a_while", "until_paid"] = "a_while"
    """How long a progressive hit has the screen: `"a_while"` is ten seconds, `"until_paid"` until it is paid."""

    day_begins: str = "06:00"
    """When the house's gaming day begins, by the machine's clock: the page counts the day's rounds from then on."""

    felt: str | None = None
    """The colour of the page, such as `"#06261c"`. Left out: a green felt."""

    panel: str | None = None
    """The colour behind seats, pay tables and what the table waits for."""

    accent: str | None = None
    """The colour of limits, of what bets pay and of titles."""

    band: str | None = None
    """The colour behind the progressive meters."""

    amounts: str | None = None
    """The colour of the progressive meters' figures."""

    logo: str | None = None
    """The full path of the house's logo beside the table's name: SVG, PNG or JPEG."""

    picture: str | None = None
    """The full path of the picture that is shown between two shoes: SVG, PNG or JPEG."""

    welcome: dict[str, str] | None = None
    """The house's words between two shoes, by language: `{ en = "Welcome to the Harbour" }`."""


SHIPPED = {"felt": "#06261c", "panel": "#041a13", "accent": "#f0cf7d", "band": "#33260a", "amounts": "#ffd977"}
"""The colours of a page whose house names none."""

_FIXED = {"the page's words": "#f6f1e4", "the page's small words": "#b9c7bd"}
_READ_ON = (
    *((words, behind) for words in _FIXED for behind in ("felt", "panel")),
    *(("accent", "felt"), ("accent", "panel"), ("amounts", "band")),
)
"""What is read on what."""

_LEAST_CONTRAST = 4.5
"""WCAG 2.2, 1.4.3, for text of any size."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_TIME = re.compile("([01][0-9]|2[0-3]):[0-5][0-9]")
_MOST_LETTERS = 60
_MOST_BYTES = {"logo": 300_000, "picture": 3_000_000}
_MOST_PIXELS = 3840
"""As wide or high as an image may be: a Pi keeps four bytes of each pixel in memory."""


def check_screen(screen: ScreenSection) -> Iterable[Mistake]:
    """Yield each mistake in the section `[screen]` itself. The image files that it names are checked by
    `check_images`."""
    yield from _languages(screen)
    yield from _colours(screen)
    if not _TIME.fullmatch(screen.day_begins):
        yield "screen.day_begins", f"{screen.day_begins!r} is no time of day", 'Write it as "06:00".'
    for language, text in (screen.welcome or {}).items():
        key = f"screen.welcome.{language}"
        if language not in LANGUAGES:
            yield key, *found.unknown(language)
        if len(text) > _MOST_LETTERS:
            yield key, f"has {len(text)} letters", f"Write at most {_MOST_LETTERS}, which are read from afar."
        if letters := without_a_font(text):
            yield key, f"the pages bring no font with {letters}", "Write it in other letters."


def _languages(screen: ScreenSection) -> Iterator[Mistake]:
    if not 1 <= len(screen.languages) <= MOST_SIDE_BY_SIDE:
        do = 'Write one language, or two that stand side by side: languages = ["zh-Hant", "en"].'
        yield "screen.languages", f"the page has no place for {len(screen.languages)} languages", do
    for place, name in enumerate(screen.languages):
        if name not in LANGUAGES:
            yield "screen.languages", *found.unknown(name)
        elif name in screen.languages[:place]:
            yield "screen.languages", f"{name} is listed twice", "Name each language once."


def colours(screen: ScreenSection) -> dict[str, str]:
    """Return each colour of the players' page by its key, such as `felt`: the house's own, or else the default."""
    return {name: getattr(screen, name) or shipped for name, shipped in SHIPPED.items()}


def _colours(screen: ScreenSection) -> Iterator[Mistake]:
    own = colours(screen)
    wrong = [name for name, colour in own.items() if not _COLOUR.fullmatch(colour)]
    for name in wrong:
        yield f"screen.{name}", f"{own[name]!r} is not a colour", 'Write six digits, such as "#06261c".'
    seen, shipped = _FIXED | own, _FIXED | SHIPPED
    for words, behind in _READ_ON:
        if {words, behind} & {*wrong} or (seen[words], seen[behind]) == (shipped[words], shipped[behind]):
            continue
        if (ratio := contrast(seen[words], seen[behind])) < _LEAST_CONTRAST:
            key, other = (words, behind) if seen[words] != shipped[words] else (behind, words)
            least = f"and the least is {_LEAST_CONTRAST}:1"
            what = f"{words} on {behind} {seen[behind]} have a contrast of {ratio:.1f}:1, {least}"
            nearest = _nearest(seen[key], seen[other])
            yield f"screen.{key}", what, f'Nobody reads that from afar. The nearest that is read is "{nearest}".'


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21, as WCAG 2.2 defines it. Colours are written "#06261c"."""
    dark, light = sorted(map(_light, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))


def _light(colour: str) -> float:
    linear = ((p / 255) / 12.92 if p <= 10 else ((p / 255 + 0.055) / 1.055) ** 2.4 for p in _parts(colour))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _nearest(colour: str, other: str) -> str:
    """Return the colour nearest to `colour`, lighter or darker, that has enough contrast with `other` to be read."""
    mixes = (
        "#" + "".join(f"{round(part + (end - part) * step / 100):02x}" for part in _parts(colour))
        for step in range(1, 101)
        for end in (0, 255)
    )
    return next(mix for mix in mixes if contrast(mix, other) >= _LEAST_CONTRAST)  # black or white always is


# Files.


class Image(Struct, frozen=True):
    """An image of the house for the web pages: its bytes and its media type, such as "image/png"."""

    content: bytes
    kind: str
    """Its media type."""


def images(screen: ScreenSection) -> tuple[dict[str, Image], list[Mistake]]:
    """Read the house's logo and picture. Return the usable images by name ("logo", "picture"), and a mistake for each
    image that cannot be used."""
    good: dict[str, Image] = {}
    mistakes: list[Mistake] = []
    for name, path in (("logo", screen.logo), ("picture", screen.picture)):
        if path is None:
            continue
        try:
            good[name] = _image(Path(path), _MOST_BYTES[name])
        except _FileError as wrong:
            mistakes.append((f"screen.{name}", *wrong.args))
    return good, mistakes


class _FileError(Exception):
    """The error for an image file that cannot be used: what is wrong with the file, and what to do."""


def check_images(screen: ScreenSection) -> Iterable[Mistake]:
    """Return a mistake for each image file named in `[screen]` that cannot be used."""
    return images(screen)[1]


def _image(path: Path, most_bytes: int) -> Image:
    if not path.is_absolute():
        raise _FileError(f"{str(path)!r} is not a full path", "Write the full path, from /.")
    try:
        if not path.is_file():
            raise _FileError(f"there is no file {path}", "Put the file there, or remove the key.")
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
            size = path.stat().st_size
    except OSError as error:
        raise _FileError(f"{path} cannot be read: {error.strerror}", "Let everybody read it: chmod 644.") from None
    if len(content) > most_bytes:
        do = f"Save it smaller: at most {most_bytes:,} bytes, and no wider than a monitor."
        raise _FileError(f"{path} has {size:,} bytes", do)
    if b"<svg" in content[:2000]:
        _check_svg(path, content)
        return Image(content, "image/svg+xml")
    kind, wide, high = _measured(content)
    if not kind:
        raise _FileError(f"{path} is not an SVG, a PNG or a JPEG", "Save it as one of these.")
    if max(wide, high) > _MOST_PIXELS:
        raise _FileError(f"{path} is {wide} x {high} pixels", f"Save it at most {_MOST_PIXELS} wide and high.")
    return Image(content, kind)


def _measured(content: bytes) -> tuple[str, int, int]:
    """Return the media type, width and height in pixels of a PNG or a JPEG. For any other file, return an empty text
    and two zeros."""
    if content.startswith(b"\x89PNG\r\n\x1a\n") and len(content) >= 24:
        return "image/png", int.from_bytes(content[16:20]), int.from_bytes(content[20:24])
    at = 2
    while content.startswith(b"\xff\xd8\xff") and at + 9 <= len(content) and content[at] == 0xFF:
        if content[at + 1] in {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}:  # the frame's header
            return "image/jpeg", int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7])
        at += 2 + int.from_bytes(content[at + 2 : at + 4])
    return "", 0, 0


_ACTIVE = {"script", "foreignObject", "iframe", "image", "feImage", "a", "handler", "set", "animate"}
"""Elements of an SVG that run, lead elsewhere or bring something else along."""


def _check_svg(path: Path, content: bytes) -> None:
    from xml.etree import ElementTree  # a start waits for what is imported, and few houses have an image

    if b"<!DOCTYPE" in content or b"<!ENTITY" in content or content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _FileError(f"{path} has a DOCTYPE or entities", "Save it as a plain SVG, in UTF-8.")
    try:
        elements = [*ElementTree.fromstring(content).iter()]
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise _FileError(f"{path} is not XML: {error}", "Save it anew as a plain SVG.") from None
    for each in elements:
        name = str(each.tag).rpartition("}")[2]
        if name in _ACTIVE:
            raise _FileError(f"{path} has the element <{name}>", "Take it out: an image shows, and does nothing else.")
        values = {key.rpartition("}")[2]: said for key, said in each.attrib.items()}
        for key, said in values.items():
            if key.lower().startswith("on"):
                raise _FileError(f"{path} has a script in {key}", "Take it out: an image shows, and does nothing else.")
            if key in ("href", "src") and not said.startswith("#"):
                raise _FileError(f"{path} leads to {said[:60]}", "Put what it shows into the file itself.")
        for text in (*values.values(), each.text or "" if name == "style" else ""):
            if "@import" in text or "\\" in text or re.search(r"url\(\s*['\"]?\s*[^#'\"\s]", text, re.IGNORECASE):
                raise _FileError(f"{path} leads to {text.strip()[:60]}", "Put what it shows into the file itself.")
    root = {key.lower() for key in elements[0].attrib}
    if not ({"viewbox"} <= root or {"width", "height"} <= root):
        raise _FileError(f"{path} says no size", "Add a viewBox to its first element.")
