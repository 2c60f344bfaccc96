"""The players' page in a real browser, posed in states that a table seldom reaches: all that it says is on it whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import pytest

from controller.daemon.config import load
from tests.screen.browser import MORE_SIZES, SIZES, chromium, needs_a_browser
from tests.screen.posing import Page, parts, served
from tests.support import samples
from tests.support.tables import ROYAL9, TABLES, TableUnderTest

pytestmark = needs_a_browser

LANGUAGES = ("both", "en", "vi")

AMOUNTS = (0, 1_000_160, 123_456_789, 9_999_999_999, 999_999_999_999)
"""Levels of a meter in cents. Those up to ten figures are written in letters of one size."""

_LETTERS = "[...document.querySelectorAll('.meter .cents')].map(each => parseFloat(getComputedStyle(each).fontSize))"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The one page of all these tests."""
    with served() as url, chromium(tmp_path_factory.mktemp("pictures")) as browser:
        yield Page(browser, url)
        assert browser.complaints() == []


def every_pose() -> Iterator[tuple[str, str]]:
    """A size and a language: with the proof all of them, else each size once."""
    sizes = [*SIZES, *MORE_SIZES]
    if samples.at_length:
        return ((size, language) for size in sizes for language in LANGUAGES)
    return zip(sizes, cycle(LANGUAGES), strict=False)


def test_no_amount_is_cut_and_none_is_smaller_than_another(page: Page) -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("KH 2C 9H 5D")
    meters = parts(table)["meters"]["cents"]
    for size, language in every_pose():
        page.browser.size(size)
        page.speak(language)
        sizes = []
        for cents in AMOUNTS:
            page.pose(parts(table, dict.fromkeys(meters, cents)))
            assert page.browser.unfit() == [], f"{cents} at {size}, {language}"
            sizes.append(page.browser.read(_LETTERS))
        assert sizes[0] == sizes[1] == sizes[2] == sizes[3], "a jackpot that has grown is not written smaller"


@pytest.mark.proof
@pytest.mark.parametrize("house", sorted(path.stem for path in TABLES.glob("*.toml")))
def test_all_of_a_house_is_on_its_page(page: Page, house: str) -> None:
    table = TableUnderTest(load(TABLES / f"{house}.toml").rules).open_shoe("2H 3H 4H")
    for stopped in (False, True):
        if stopped:
            table.draw("??")
        for size, language in every_pose():
            page.browser.size(size)
            page.speak(language)
            page.pose(parts(table))
            assert page.browser.unfit() == [], f"{size}, {language}"
