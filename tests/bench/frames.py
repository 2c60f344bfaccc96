"""Measures how smoothly the players' page moves while a meter's amount rolls up, and while a hit is celebrated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from controller.contract.face.table import PublicHit
from tests.bench.report import Section
from tests.screen.browser import DRIVER, PROGRAM, Browser, chromium
from tests.screen.posing import Page, parts, served
from tests.support.tables import ROYAL9, TableUnderTest
from tests.support.told import but

_METER = "personal_vs_personal"

_SLOWER = (1, 4)
"""The machine's own pace, and a quarter of it."""

_COUNT = """
const [many, done] = arguments, began = performance.now();
let frames = 0;
requestAnimationFrame(function next() {
  frames += 1;
  const passed = performance.now() - began;
  if (passed < many) requestAnimationFrame(next); else done(1000 * frames / passed);
});
"""


def measure(folder: Path, spell_s: float) -> Iterator[Section]:
    """Count the frames per second of the players' page in Chromium. Yields nothing if Chromium is not installed."""
    if not (PROGRAM and DRIVER):
        return
    with served() as url, chromium(folder) as browser:
        browser.moving(moves=True)
        browser.size("monitor")
        rows = [tuple(_row(browser, url, times, spell_s)) for times in _SLOWER]
    yield Section(
        "Frames a second",
        f"Of the players' page at 1920 x 1080 in Chromium, drawn without a graphics card, over {spell_s:g} s, beside "
        "an empty page as the floor. Chromium slows the page's thread down as many times as the first column says.",
        ("slower", "an empty page", "nothing moves", "a meter rolls up", "a hit of a meter is celebrated"),
        rows,
    )


def _row(browser: Browser, url: str, times: int, spell_s: float) -> Iterator[str]:
    def counted() -> str:
        return f"{browser.run_async(_COUNT, 1000 * spell_s):.0f}"

    yield f"{times} x"
    browser.leave()
    browser.slowed(times)
    yield counted()
    page = Page(browser, url)
    page.pose(_told(1_000_160))
    counted()  # in which what a new page works out comes to its end
    yield counted()
    page.pose(_told(2_000_160))
    yield counted()
    page.pose(_told(2_000_160, PublicHit(1, 1, "royal9", 4, _METER, _METER, "1:1", 2_000_160, "pending", 2_000_160)))
    yield counted()
    assert not browser.read("document.getElementById('hit').hidden"), "the hit has the screen all the time"


def _told(cents: int, *hits: PublicHit) -> dict[str, Any]:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("KC KD 9C 9D")
    return parts(table, {_METER: cents}, face=but(table.face, hits=hits))
