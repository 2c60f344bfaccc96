"""The pictures of the screen in the documents, made of real tables: `make pictures`."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path

from tests.screen.browser import chromium
from tests.screen.showing import Showing

DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = {"screen": ("royal9", 40, "small"), "screen-lucky9": ("lucky9", 6, "small")}
"""A picture's name, the table of it, after how many rounds, and the window's size."""


def main() -> None:
    """Write every picture, and one of a hit."""
    for name, (house, rounds, size) in PICTURES.items():
        with (
            tempfile.TemporaryDirectory(prefix="table-picture-") as folder,
            Showing(Path(folder), house).running() as showing,
            chromium(DOCS) as browser,
        ):
            browser.size(size)
            browser.open(showing.url)
            people = showing.people(rounds, seed=7)
            if house == "royal9":
                browser.until("!document.getElementById('hit').hidden")
                browser.run("document.documentElement.dataset.turn = 'en'")
                browser.small_picture(f"{name}-hit")
                browser.until(f"document.getElementById('round').textContent >= '{rounds // 2}'")
                people.send_signal(signal.SIGSTOP)  # the table as it is while people play
                browser.open(f"{showing.url}technician")
                browser.until("document.querySelector('#rounds tr')")
                browser.size("tall")
                browser.small_picture(f"{name}-technician")
                people.send_signal(signal.SIGCONT)
                browser.size(size)
                browser.open(showing.url)
            people.wait()
            browser.until(f"document.getElementById('round').textContent >= '{rounds}'")
            browser.until("document.getElementById('hit').hidden")
            browser.run("document.documentElement.dataset.turn = 'en'")
            browser.small_picture(name)


if __name__ == "__main__":
    main()
