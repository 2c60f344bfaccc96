"""Checks every web page with the program axe, which finds barriers for people who see little or use a screen reader. No
page may have a barrier."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from controller.contract.face.table import PublicHit
from controller.contract.keys import load_or_make_key
from controller.daemon.config import load
from controller.people.cli.main import main
from controller.people.cli.screen import face_of
from controller.people.screen.checkpoints import checkpoint_page
from controller.pit.conformance.clauses import clauses
from controller.pit.conformance.report import Line, Report, Result
from controller.pit.paper.day_file import day_page
from controller.pit.paper.slip_page import slip_page
from controller.pit.reference.day_book import Day, MeterDay, Part
from controller.pit.reference.house_rules import HouseRules
from tests.daemon.test_hand_record import DEALT, page_of
from tests.daemon.test_history import Recorded
from tests.lab.report import page as lab_page
from tests.lab.test_lab_report import a_report
from tests.pit.evening import TableEvening
from tests.pit.test_meters import opened
from tests.pit.test_slips import won
from tests.screen.browser import Browser, needs_a_browser, needs_axe
from tests.screen.posing import Page, parts, served
from tests.screen.test_checkpoint_code import CHECKPOINT
from tests.setup.test_report import signed_page
from tests.support.tables import ROYAL9, TABLES, TableUnderTest
from tests.support.told import but

pytestmark = [needs_a_browser, needs_axe, pytest.mark.proof]

_TOOLS = Path(__file__).parents[2] / "tools"
_SIZES = ("monitor", "panel", "phone")


def _slip(folder: Path) -> str:
    with closing(opened(folder / "ledger.sqlite")) as ledger:
        return slip_page(ledger.print_slip(won(ledger, TableEvening("t-0"), 150_000), "Ann"))


def _day(_folder: Path) -> str:
    meter = MeterDay("big", 1_000_000, {"contributed": 5_000, "won": -900_000}, 105_000)
    part = Part("2026-03-06T14:00:00.000Z", "2026-03-06T14:00:00.000Z", "2026-03-07T14:00:00.000Z", 1, 2, (meter,))
    return day_page(Day("2026-03-06", HouseRules(), (part,), (), {"t-0": 900_000}, (), ("A finding.",), ("A note.",)))


def _round(folder: Path) -> str:
    return page_of(Recorded().burned().lock().round(" ".join(DEALT)).journalled(folder))


def _par(folder: Path) -> str:
    page = folder / "par.html"
    assert main(["par", str(TABLES.parent / "games" / "ez_baccarat.toml"), "--html", str(page)]) == 0
    return page.read_text("utf-8")


def _evidence(_folder: Path) -> str:
    return (_TOOLS / "verify.html").read_text("utf-8")


def _checkpoint(_folder: Path) -> str:
    return checkpoint_page(CHECKPOINT)


def _setup(folder: Path) -> str:
    return signed_page(folder)[1].decode()


def _lab(folder: Path) -> str:
    return lab_page(a_report("tests/pit/test_slips.py::test_numbers_have_no_gaps"), load_or_make_key(folder / "key"))


def _conformance(_folder: Path) -> str:
    lines = [Line(clause, result, "What came.", 0.1) for clause in clauses()[:4] for result in Result]
    return Report.of("the pit", "127.0.0.1:1883", lines).page()


_FILES = [_slip, _day, _round, _par, _evidence, _checkpoint, _setup, _lab, _conformance]


@pytest.mark.parametrize("page", _FILES)
def test_a_page_that_is_a_file_has_no_barriers(page: Callable[[Path], str], chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(tmp_path), "utf-8")
    chromium.go(file.as_uri())
    for size in _SIZES:
        chromium.size(size)
        assert chromium.barriers() == [], size


@pytest.mark.parametrize("house", sorted(path.stem for path in TABLES.glob("*.toml")))
def test_players_and_technicians_pages_have_no_barriers(house: str, chromium: Browser) -> None:
    loaded = load(TABLES / f"{house}.toml")
    table = TableUnderTest(loaded.rules).open_shoe("2H 3H 4H")
    with served(face_of(loaded.file.screen)) as url:
        page = Page(chromium, url)
        for size, languages in zip(_SIZES, (("en", "vi"), ("zh-Hant", "en"), ("km",)), strict=True):
            chromium.size(size)
            page.speak(*languages)
            page.pose(parts(table))
            assert chromium.barriers() == [], size
            page.load(f"help?lang={','.join(languages)}", "document.readyState === 'complete'")
            assert chromium.barriers() == [], size
            page.load()
        page.pose(parts(table.draw("??")) | {"link": {"live": False}})
        assert chromium.barriers() == [], "stopped, and then away"
        page.load("technician", "typeof drawRounds === 'function'")
        row = {"shoe": 1, "round": 1, "at": "2026-11-25T10:00:00", "outcome": "tie", "cards": "9H 2C", "marks": []}
        chromium.run(f"document.body.classList.remove('waiting'); rounds = [{json.dumps(row)}]; drawRounds()")
        assert chromium.barriers() == []
        chromium.leave()


def test_a_hit_that_has_the_screen_is_no_barrier(chromium: Browser) -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("KH 2C 9H 5D")
    hit = PublicHit(1, 1, "royal9", 3, "player_personal", "player_personal", "1:1", 1_000_160, "pending", 1_000_160)
    with served() as url:
        page = Page(chromium, url)
        chromium.size("monitor")
        page.pose(parts(table, face=but(table.face, hits=(hit,))))
        assert not chromium.read("document.getElementById('hit').hidden")
        assert chromium.barriers() == []
        chromium.leave()
