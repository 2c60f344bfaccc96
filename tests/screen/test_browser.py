"""The players' page in a real browser, before a real table: what it shows is what the journal says, mark by mark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.cli import surroundings
from controller.roads.marks import DERIVED
from controller.screen.wording import words
from tests.roads.statements import by_columns, drawn
from tests.screen.browser import SIZES, Browser, chromium, needs_a_browser
from tests.screen.showing import LETTER, Showing

pytestmark = needs_a_browser

HOUSES = ("royal9", "kansas_star", "sugarhouse_midi", "baccarat_royal", "lucky9", "pairs")
"""A table of each sheet's game, and one of a house in TOML alone."""


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where the pictures of a test are kept."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    return folder


@pytest.fixture
def browser(pictures: Path) -> Iterator[Browser]:
    """A browser, which has nothing to complain of at the end."""
    with chromium(pictures) as opened:
        yield opened
        assert opened.complaints() == []


def shown_of(browser: Browser, showing: Showing) -> None:
    """The page shows the shoe's first hands, all that it can know of, and every road of it is what they make."""
    shown = browser.roads()  # at one moment, and before the journal is read: which may have more by then
    rounds = showing.rounds()[: len(shown["bead_plate"])]
    told = [(place // 6, place % 6, each["outcome"], each["pairs"]) for place, each in enumerate(rounds)]
    assert [mark.lower() for mark in shown["bead_plate"]] == [
        f"{column} {row} {winner} {pairs['player']} {pairs['banker']}".lower() for column, row, winner, pairs in told
    ]
    letters = "".join(LETTER[each["outcome"]] for each in rounds)
    for name, reach in DERIVED.items():
        marks = "".join(mark.split()[-1][0].upper() for mark in shown[name])
        said = by_columns(letters, reach)
        assert said.endswith(marks), "a road too long for its window shows its end"
        assert bool(marks) == bool(said)
    decided = [letter for letter in letters if letter != "T"]
    circles = [mark.split() for mark in shown["big_road"] if "null" not in mark]
    assert [(int(column), int(row)) for column, row, *_ in circles] == drawn(decided)[-len(circles) or None :]
    assert [LETTER[winner] for _, _, winner, _ in circles] == decided[-len(circles) or None :]
    assert shown["counts"] == [str(letters.count(letter)) for letter in "PBT"]


def shows_the_last_hand(browser: Browser, rounds: list[dict[str, Any]]) -> None:
    """The cards and totals of the last hand, and who won it."""
    last = rounds[-1]
    for side in ("player", "banker"):
        cards = browser.read(f"[...document.querySelectorAll('.zone.{side} [data-card]')].map(e => e.dataset.card)")
        assert cards == last[side]["cards"]
        assert browser.text(f".zone.{side} .total") == str(last[side]["total"])
    winner = browser.read("document.querySelector('.zone.won, .zone.tied')?.className ?? ''")
    assert (last["outcome"] in winner) if last["outcome"] != "tie" else ("tied" in winner)


def every_size(browser: Browser, name: str) -> None:
    """At every size everything fits; the pictures are kept."""
    for size in SIZES:
        browser.size(size)
        browser.picture(f"{name}-{size}")
        assert browser.unfit() == [], f"{name} at {size}"
    browser.size("monitor")


def test_the_page_beside_the_journal(tmp_path: Path, browser: Browser) -> None:
    """A few hands; then the daemon is killed and comes back, stopped; then the server is."""
    with Showing(tmp_path, "royal9").running() as showing:
        browser.size("monitor")
        browser.open(showing.url)
        people = showing.people(8)
        people.wait(60)
        rounds = showing.rounds()
        browser.until(f"document.querySelectorAll('#bead_plate [data-mark]').length === {len(rounds)}")
        shown_of(browser, showing)
        shows_the_last_hand(browser, rounds)
        assert browser.read("parseFloat(getComputedStyle(document.querySelector('.zone .total')).fontSize) >= 96")
        every_size(browser, "royal9")

        surroundings.stop(showing.daemon)
        browser.until("!document.getElementById('away').hidden")
        assert browser.text("#away", "vi") == words("vi")["link"]["away"]
        showing.start_daemon()
        browser.until(
            "document.getElementById('stop').dataset.code === 'shoe_unheard' && !document.getElementById('stop').hidden"
        )
        for language in ("en", "vi"):
            assert words(language)["stop"]["shoe_unheard"] in browser.text(f"#stop [lang={language}]")
        every_size(browser, "stopped")
        shown_of(browser, showing)

        browser.open(f"{showing.url}technician")
        browser.until("document.querySelectorAll('#hands tr').length >= 1")
        assert "shoe_unheard" in browser.text("#fault b")
        assert browser.read("document.querySelectorAll('#hands tr').length") >= len(rounds)
        browser.picture("technician")
        browser.open(showing.url)

        surroundings.stop(showing.screen)
        browser.until("!document.getElementById('screen-away').hidden")
        showing.start_screen()
        browser.until("document.getElementById('screen-away').hidden")
        browser.open(f"{showing.url}?lang=vi")  # a page opened late
        shown_of(browser, showing)
        assert browser.text(".zone.player .title [lang=vi]") == words("vi")["label"]["player"]
        assert browser.read("getComputedStyle(document.querySelector('#says [lang=en]')).display") == "none"


@pytest.mark.proof
@pytest.mark.parametrize("house", HOUSES)
def test_a_whole_shoe_beside_the_journal(house: str, tmp_path: Path, browser: Browser) -> None:
    """At every look on the way, and at the end."""
    with Showing(tmp_path, house).running() as showing:
        browser.size("monitor")
        browser.open(showing.url)
        people = showing.people(None, seed=11)
        seen, looks = 0, 0
        while people.poll() is None:
            hands = int(browser.text("[data-count=hands]") or 0)
            if hands >= seen + 6:
                seen, looks = hands, looks + 1
                assert browser.unfit() == [], f"hand {hands}"
                if house != "lucky9":
                    shown_of(browser, showing)
        rounds = showing.rounds()
        browser.until(f"document.querySelector('[data-count=hands]').textContent === '{len(rounds)}'")
        assert looks >= 5
        if house != "lucky9":
            shown_of(browser, showing)
        every_size(browser, house)
