"""Checks the players' page of a running table in a real browser: each mark on the page agrees with the journal."""

from __future__ import annotations

import json
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from controller.daemon.record.journal_reading import read_rows
from controller.people.cli.main import main
from controller.people.screen.wording import words
from controller.rules.roads.marks import DERIVED
from controller.table.faults import FAULTS
from tests.roads.statements import by_columns, drawn
from tests.screen.browser import SIZES, Browser, needs_a_browser
from tests.screen.showing import LETTER, Showing
from tests.support import samples
from tests.support.metrics import asked_names, samples_of, told_names
from tests.support.waiting import eventually_now

pytestmark = [needs_a_browser, pytest.mark.long("browser")]

HOUSES = ("royal9", "kansas_star", "sugarhouse_midi", "baccarat_royal", "lucky9", "pairs")
"""A table of each sheet's game, and one of a house in TOML alone."""

_LOOK_HANDS = {"lucky9": 1}
"""A whole shoe is looked at whenever so many hands have come, where it is not 5: Lucky 9 has some twenty rounds."""

_SEED_OF_A_HIT = 340
"""With these cards seat 4 wins a progressive in the first hand."""

_HIT_PART = "(({ width, height }) => width * height / innerWidth / innerHeight)(hit.getBoundingClientRect())"

_SMALLEST_TOTAL = (
    "Math.min(...[...document.querySelectorAll('.zone .total, .seat-hand:not(.split) .total')]"
    ".map(each => parseFloat(getComputedStyle(each).fontSize)))"
)
"""Of the totals on a monitor, in pixels. Where a seat has split, its hands are smaller."""

_NOTE_HITS = f"""
window.hitsShown = [];
new MutationObserver(() => {{
  const shown = !hit.hidden;
  if ((hitsShown.at(-1)?.shown ?? false) !== shown)
    hitsShown.push({{ shown, at: performance.now(), part: {_HIT_PART} }});
}}).observe(hit, {{ attributes: true }})"""


@pytest.fixture
def browser(chromium: Browser, tmp_path: Path) -> Iterator[Browser]:
    """Yield the browser, which saves its pictures in the test's folder. At the end of the test, check that no page
    wrote an error to the console."""
    chromium.complaints()
    chromium.pictures = tmp_path
    chromium.size("monitor")
    yield chromium
    assert chromium.complaints() == []


def shown_of(browser: Browser, showing: Showing) -> None:
    """Check that the page shows the rounds of the shoe as the journal has them, and every road (chart of results) that
    these rounds make.

    Rounds that came after the page was read are left out. If a road is too long for its window, only its end is
    compared.
    """
    shown = browser.roads()  # at one moment, and before the journal is read: which may have more by then
    rounds = showing.rounds()[: sum(map(int, shown["counts"]))]
    told = [(place // 6, place % 6, each["outcome"], each["pairs"]) for place, each in enumerate(rounds)]
    beads = [mark.lower() for mark in shown["bead_plate"]]
    assert len(beads) > len(told) - 6 or len(beads) > 72, "a plate too long for its window shows its end"
    assert beads == [
        f"{column} {row} {winner} {pairs['player']} {pairs['banker']}".lower()
        for column, row, winner, pairs in told[len(told) - len(beads) :]
    ]
    letters = "".join(LETTER[each["outcome"]] for each in rounds)
    for name, reach in DERIVED.items():
        marks = [mark.split() for mark in shown[name]]
        _shows_its_end(
            [(int(column), int(row), color[0].upper()) for column, row, color in marks], by_columns(letters, reach)
        )
    circles = [mark.split() for mark in shown["big_road"] if "null" not in mark]
    _shows_its_end(
        [(int(column), int(row), LETTER[winner]) for column, row, winner, _ in circles], letters.replace("T", "")
    )
    assert shown["counts"] == [str(letters.count(letter)) for letter in "PBT"]


def _shows_its_end(shown: list[tuple[int, int, str]], letters: str) -> None:
    """Check that the marks in `shown` are the last marks of the road that the results `letters` make. If the road is
    too long for its window, `shown` begins at a later column than the first."""
    marks = [(*place, letter) for place, letter in zip(drawn(list(letters)), letters, strict=True)]
    first = min((column for column, _, _ in shown), default=0)
    assert shown == [mark for mark in marks if mark[0] >= first]
    assert bool(shown) == bool(marks)


def shows_the_day(browser: Browser, showing: Showing) -> None:
    """Check that the page's counts of the day include the rounds of every shoe in the journal, because all of them were
    dealt today."""
    dealt = [json.loads(body) for row in read_rows(showing.journal) for body in row.messages]
    won = Counter(each["outcome"] for each in dealt if each["type"] == "round" and not each["simulated"])
    want = "".join(f"{LETTER[side]} {won[side]}" for side in ("player", "banker", "tie"))
    browser.until(f"document.getElementById('day').textContent.endsWith('{want}')")


def shows_the_final_round(browser: Browser, rounds: list[dict[str, Any]]) -> None:
    """Check that the page shows the last of these rounds: its cards and totals, the seats that played, and who won."""
    last, language = rounds[-1], browser.read("page.lang")
    for side in ("player", "banker", "dealer"):
        if side in last:
            _shows(browser, f".zone.{side}", last[side])
    if "dealer" in last:
        for hand in last["hands"]:
            selector = f".seat-hand[data-seat='{hand['seat']}'] .one:nth-of-type({hand['hand'] + 1})"
            _shows(browser, selector, hand)
            said = f"document.querySelector(`{selector}.{hand['result']} .result [lang={language}]`)?.textContent"
            browser.until(f"{said} === '{words(language)['result'][hand['result']]}'")  # it comes after the cards
        return
    for side, seat in (last.get("actives") or {}).items():
        said = words(language)["label"]["seat"].format(seat=seat)
        assert browser.text(f".zone.{side} .holder [lang={language}]") == said
    winner = browser.read("document.querySelector('.zone.won, .zone.tied')?.className ?? ''")
    assert (last["outcome"] in winner) if last["outcome"] != "tie" else ("tied" in winner)


def _shows(browser: Browser, selector: str, hand: dict[str, Any]) -> None:
    cards = f"[...document.querySelectorAll(`{selector} [data-card]`)].map(e => e.dataset.card)"
    browser.until(f"{cards}.join(' ') === '{' '.join(hand['cards'])}'")  # cards and roads come one after the other
    assert browser.text(f"{selector} .total") == str(hand["total"])


def every_size(browser: Browser, name: str) -> None:
    """Check that everything fits on the page at every window size. With pytest's option `--proof`, pictures called
    `name` are kept."""
    browser.size("monitor")
    assert browser.read(_SMALLEST_TOTAL) >= 96
    for size in SIZES:
        browser.size(size)
        if samples.at_length:
            browser.picture(f"{name}-{size}")
        assert browser.unfit() == [], f"{name} at {size}"
    browser.size("monitor")


def says_that_it_is_away(browser: Browser, what: str) -> None:
    """Check that the page says, in both languages, that `what` (the table or the screen's server) is away, and that all
    other text still fits."""
    browser.until(f"document.getElementById('{what}').checkVisibility()")
    assert browser.unfit() == []
    assert browser.text(f"#{what}") == "".join(words(each)["link"][what.replace("-", "_")] for each in ("en", "vi"))


def shows_the_stop(browser: Browser, code: str) -> None:
    """Check that the page explains, in both languages that it shows, why the table has stopped. `code` is the fault's
    code."""
    browser.until(
        f"!document.getElementById('stop').hidden && document.getElementById('stop').dataset.code === '{code}'"
    )
    for language in ("en", "vi"):
        assert words(language)["stop"][code] in browser.text(f"#stop [lang={language}]")


def status_names_the_page(showing: Showing) -> None:
    """Check that the last line of `tablectl status` gives the address of the players' page."""

    def line() -> str:
        said = StringIO()
        with redirect_stdout(said):
            assert main(["status", str(showing.table), "--screen", showing.url.split("/")[2]]) == 0
        return said.getvalue().splitlines()[-1]

    seen = r"players' page, seen so for \d+ s: A browser shows it; no attached monitor is known.*"
    eventually_now(lambda: re.fullmatch(seen, line()), "a screen that was started anew has counted its browsers")


def metrics_tell(showing: Showing) -> None:
    """Check that the metrics for Prometheus agree with the table's state, and include every name that the dashboard and
    the alert rules use."""
    with urlopen(f"{showing.url}metrics", timeout=20) as answer:
        said = answer.read().decode()
    assert asked_names("table_") <= told_names(said)
    status = showing.status()
    assert samples_of(said, "table_events_committed") == {"": status.pit.head_seq}
    assert samples_of(said, "table_fault") == {'{code="shoe_unheard"}': 1}
    counted = samples_of(said, "table_faults_total")
    assert {f'{{code="{code}"}}' for code in FAULTS} == set(counted), "a series that begins with 1 shows no increase"
    assert {code: count for code, count in counted.items() if count} == {'{code="shoe_unheard"}': 1}
    assert samples_of(said, "table_meter_cents") == {
        f'{{meter="{meter}"}}': cents for meter, cents in status.pit.meters.items()
    }


def test_the_page_beside_the_journal(tmp_path: Path, browser: Browser) -> None:
    """The page shows a hit and some rounds as the journal has them. The page still does so after the table's daemon was
    killed and started again, and after the same was done to the screen's server."""
    with Showing(tmp_path, "royal9").running() as showing:
        browser.open(showing.url)
        people = showing.people(8, seed=_SEED_OF_A_HIT)
        browser.until("!document.getElementById('hit').hidden")
        assert browser.text("#hit .who [lang=en]") == "Seat 4"
        assert browser.read(_HIT_PART) >= 0.25
        assert browser.unfit() == []
        people.wait(60)
        rounds = showing.rounds()
        browser.until(f"document.querySelectorAll('#bead_plate [data-mark]').length === {len(rounds)}")
        shown_of(browser, showing)
        shows_the_final_round(browser, rounds)
        shows_the_day(browser, showing)
        assert browser.read(_SMALLEST_TOTAL) >= 96

        showing.daemon.kill()
        says_that_it_is_away(browser, "away")
        showing.daemon_returns()
        shows_the_stop(browser, "shoe_unheard")
        assert browser.unfit() == []
        shown_of(browser, showing)

        showing.screen.kill()
        says_that_it_is_away(browser, "screen-away")
        showing.screen_returns()
        browser.until("document.getElementById('screen-away').hidden")
        metrics_tell(showing)
        status_names_the_page(showing)
        browser.open(f"{showing.url}?lang=vi")  # a page opened late
        shown_of(browser, showing)
        shows_the_day(browser, showing)
        assert browser.text(".zone.player .title [lang=vi]") == words("vi")["label"]["player"]
        assert browser.read("document.querySelectorAll('span[lang=en]').length") == 0

        browser.open(showing.supervisors_url())
        browser.until(f"document.querySelectorAll('#rounds tr').length === {len(rounds)}")
        for wanted in ("banker", "1/1"):  # each row tells the cards of both hands, and 1/10 begins as 1/1
            browser.run(f"search.value = '{wanted}'; search.dispatchEvent(new Event('input'))")
            found = [each for each in rounds if wanted in (each["outcome"], f"{each['shoe']}/{each['round']}")]
            assert browser.read("document.querySelectorAll('#rounds tr').length") == len(found) > 0
        browser.run("search.value = ''; search.dispatchEvent(new Event('input'))")
        assert "shoe_unheard" in browser.text("#fault b")
        assert browser.read("document.querySelector('[data-lamp=fault]').classList.contains('dark')") is False
        browser.open(browser.read("document.querySelector('#rounds a').href"))
        assert browser.read("document.querySelectorAll('li code').length") >= len(rounds[-1]["player"]["cards"])


@pytest.mark.proof
@pytest.mark.parametrize("house", HOUSES)
def test_a_whole_shoe_beside_the_journal(house: str, tmp_path: Path, browser: Browser) -> None:
    """The page agrees with the journal throughout a whole shoe, although the screen's server and the table's daemon are
    killed and started again."""
    roads = house != "lucky9"
    with Showing(tmp_path, house).running() as showing:
        browser.open(showing.url)
        browser.run(_NOTE_HITS)
        people = showing.people(None, seed=_SEED_OF_A_HIT)
        seen = looks = 0
        while people.poll() is None:
            people.send_signal(signal.SIGCONT)
            time.sleep(0.1)
            people.send_signal(signal.SIGSTOP)  # they deal in short spells, else a slow machine would look too seldom
            if (hands := int(browser.text("[data-count=rounds]") or 0)) < seen + _LOOK_HANDS.get(house, 5):
                continue
            seen, looks = hands, looks + 1
            assert browser.unfit() == [], f"hand {hands}"
            if roads:
                shown_of(browser, showing)
            if looks == 3:
                showing.screen_returns()
                browser.until("document.getElementById('screen-away').hidden")
            if looks == 6:
                at_rest(showing)
                showing.daemon_returns()
                shows_the_stop(browser, "shoe_unheard")
                every_size(browser, f"{house}-stopped")
                assert browser.faint() == []
                showing.go_on()
        assert people.returncode == 0
        assert looks >= 10
        rounds = showing.rounds()
        browser.until(f"document.querySelector('[data-count=rounds]').textContent === '{len(rounds)}'")
        for opened in ("", "?lang=en", "?lang=vi"):  # as it was all the time, and opened late
            if opened:
                _hits_were_seen(browser, showing) if opened == "?lang=en" else None
                browser.open(showing.url + opened)
                browser.until("document.getElementById('hit').hidden")
            if roads:
                shown_of(browser, showing)
            shows_the_final_round(browser, rounds)
            every_size(browser, f"{house}{opened[-3:].replace('=', '-')}")
            assert browser.faint() == []


def at_rest(showing: Showing) -> None:
    """Wait until the table has taken in every card that was dealt, and its public state no longer changes."""
    before = None
    while before != (before := showing.status().face):
        time.sleep(0.3)


def _hits_were_seen(browser: Browser, showing: Showing) -> None:
    """Check that the page showed every hit for at least eight seconds, on at least a quarter of the page's area."""
    shown = browser.read("window.hitsShown")
    if showing.events("hit"):
        assert shown
    for appeared, went in zip(shown[::2], shown[1::2], strict=False):
        assert (appeared["shown"], went["shown"]) == (True, False)
        assert went["at"] - appeared["at"] >= 8000
        assert appeared["part"] >= 0.25
