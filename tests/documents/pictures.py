"""Makes the documents' pictures of the table's screen, from real tables. `make pictures` runs it."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path
from urllib.request import urlopen

from controller.people.screen.technicians import CLOCK
from tests.screen.browser import chromium
from tests.screen.posing import Page, parts, served
from tests.screen.showing import Showing
from tests.screen.test_posed import example_face
from tests.support.tables import ROYAL9, TableUnderTest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = {
    "screen": ("royal9", 40, "small"),
    "screen-hit": ("royal9", 1, "small"),
    "screen-lucky9": ("lucky9", 6, "small"),
    "screen-technician": ("royal9", 36, "tall"),
}
"""A picture's name, the table of it, after how many rounds, and the window's size."""

_SEEDS = {"screen-hit": 340}
"""Where the cards are not those of seed 7: a progressive is hit in the first round."""

_AS_ON_A_TABLE = """{ const own = draw; draw = (told) => {
  told = JSON.parse(JSON.stringify(told).replaceAll(%r, '/dev/ttyUSB0'));
  Object.assign(told.links.find((link) => link.name === 'Clock'), { up: true, why: %r });
  own(told);
}; }"""
"""The shoe is simulated, on a port in a folder of this machine, whose clock no network may set. The page names the port
that a table has, and says that the clock is set."""

_AS_IN_THE_PICTURE = (
    f"document.querySelector('#rounds tr') && ['ttyUSB0', 'A browser shows it', '{CLOCK[True]}'].every(each =>"
    " document.body.innerText.includes(each))"
)

_DAYS_ROUNDS = "Object.values(known.day).reduce((sum, won) => sum + won, 0)"

_LAST_PART = "seconds"
"""The picture of the technician's page ends below the row of parts that this plot is in."""


FACES = {"screen-harbour": (0, ("en", "vi")), "screen-lotus": (1, ("zh-Hant", "en"))}
"""The pictures of the houses' own faces, with the place and the languages of each in docs/screen.md."""


def faces() -> None:
    """Write pictures of pages that have a house's own look: one during a round, and one between two shoes."""
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("KH 2C 9H 5D")
    for name, (place, languages) in FACES.items():
        with served(example_face(place)) as url, chromium(DOCS) as browser:
            browser.size("small")
            page = Page(browser, url)
            page.speak(*languages)
            told = parts(table, dict(zip(parts(table)["meters"]["cents"], (12_345_678, 1_000_160, 8_230), strict=True)))
            page.pose(told | {"hand": told["hand"] | {"between": place == 1}})
            browser.small_picture(name, None)


def main() -> None:
    """Write every picture of the screen that the documents show."""
    for name, (house, rounds, size) in PICTURES.items():
        with (
            tempfile.TemporaryDirectory(prefix="table-picture-") as folder,
            Showing(Path(folder), house).running() as showing,
            chromium(DOCS) as browser,
            urlopen(f"{showing.url}events"),  # the players' page is seen by somebody all the time
        ):
            browser.size(size)
            browser.open(showing.url)
            technicians = name == "screen-technician"  # the table as it is while people play
            people = showing.people(rounds + 9 if technicians else rounds, seed=_SEEDS.get(name, 7))
            reached = ">=" if technicians else "==="
            browser.until(f"Number(document.getElementById('round').textContent) {reached} {rounds}")
            if technicians:
                people.send_signal(signal.SIGSTOP)
                browser.open(f"{showing.url}technician")
                browser.run(_AS_ON_A_TABLE % (str(Path(folder) / "shoe"), CLOCK[True]))
                browser.until(_AS_IN_THE_PICTURE)
            else:
                people.wait()
                browser.until(f"known.placard.seat_hands || known.day && {_DAYS_ROUNDS} === known.shoe.counts.rounds")
                browser.until(f"document.getElementById('hit').hidden === {str(name != 'screen-hit').lower()}")
                browser.run("document.documentElement.dataset.turn = 0")
            browser.small_picture(name, _LAST_PART if technicians else None)
            people.send_signal(signal.SIGCONT)
    faces()


if __name__ == "__main__":
    main()
