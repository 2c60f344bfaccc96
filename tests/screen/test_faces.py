"""Checks the looks of the players' page that come with the example houses. The looks differ from each other, and every
word on each can be read."""

from __future__ import annotations

import pytest

from controller.daemon.config import load
from controller.people.cli.screen import face_of
from tests.documents.gallery import told
from tests.screen.browser import Browser, needs_a_browser
from tests.screen.posing import Page, served
from tests.support import samples
from tests.support.tables import TABLES

_LOADED = {path.stem: load(path) for path in sorted(TABLES.glob("*.toml"))}
_FELTS = {house: loaded.file.screen.felt for house, loaded in _LOADED.items()}
_OWN = [house for house, felt in _FELTS.items() if felt]


def test_several_shipped_houses_have_a_felt_of_their_own() -> None:
    of_games = {loaded.file.table.game: _FELTS[house] for house, loaded in _LOADED.items()}
    own = [felt for felt in of_games.values() if felt]
    assert len({*own}) == len(own) >= 3


@needs_a_browser
@pytest.mark.long("browser")
@pytest.mark.parametrize("house", _OWN if samples.at_length else _OWN[:1])
def test_nothing_on_a_shipped_houses_own_face_is_faint(house: str, chromium: Browser) -> None:
    chromium.size("monitor")
    with served(face_of(_LOADED[house].file.screen)) as url:
        page = Page(chromium, url)
        for state in ("over", "playing", "stopped"):
            page.pose(told(_LOADED[house].rules, state, 7))
            assert (state, chromium.unfit(), chromium.faint()) == (state, [], [])
        chromium.leave()
