"""Checks the record of a round and the web page made from it.

Both must be complete for people who dispute the round, and must not reveal cards that nobody saw.
"""

from __future__ import annotations

import hashlib
import json
import re
from html import unescape
from pathlib import Path

import pytest

from controller.daemon.record.journal_reading import read_rows
from controller.people.cli.main import main
from controller.table.acts.corrections import CorrectRound
from controller.table.facts import CardDrawn
from tests.daemon.test_history import KEY, Recorded
from tests.support.five_games import SUGARHOUSE_MIDI, call
from tests.support.tables import cards

DEALT = ("9H", "2C", "KS", "5D")


def page_of(journal: Path) -> str:
    """Return the text of the page that `tablectl replay --html` writes about round 1/1."""
    page = journal.with_name("hand.html")
    assert main(["replay", str(journal), "1/1", "--html", str(page)]) == 0
    return page.read_text("utf-8")


def test_a_page_needs_nothing_but_itself_and_tells_every_step(tmp_path: Path) -> None:
    table = Recorded().burned().lock().round(" ".join(DEALT))
    journal = table.journalled(tmp_path)
    page = page_of(journal)
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
    said = unescape(re.sub(r"<[^>]+>", "", page))
    rows = [row for row in read_rows(journal) if row.number > 3]
    for row in rows:
        assert row.stamp.text() in said
        report = getattr(row.fact, "report", None)
        if report is not None:
            assert report.frame in said.replace(" ", "")
        for body in row.messages:
            assert json.loads(body)["signature"] in said
    assert f"Each row fits the row before. Before row 4 the chain's head was {rows[0].previous_head.hex()}" in said
    assert f"holds under the table's key {_fingerprint()}" in said
    assert "The pit has not acknowledged all of events 2 to 3: its last acknowledgement is of event 0." in said


def test_a_page_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = Recorded().burned().lock().round(" ".join(DEALT)).journalled(tmp_path)
    assert main(["replay", str(journal), "1/1", "--html", str(tmp_path / "none" / "hand.html")]) == 1
    assert capsys.readouterr().err.startswith("page_unwritable: ")


def _fingerprint() -> str:
    """Return the fingerprint of the journal's key, which two people can compare. It is computed with the standard
    library alone."""
    digits = hashlib.sha256(KEY.public).hexdigest()[:32]
    return " ".join(digits[place : place + 4] for place in range(0, 32, 4))


def _frames(journal: Path) -> list[str]:
    """Return the shoe's frames of the drawn cards in the journal, in order."""
    reports = [row.fact.report for row in read_rows(journal) if isinstance(row.fact, CardDrawn)]
    return [report.frame for report in reports if report is not None]


def test_face_down_cards_are_told_once_they_were_revealed(tmp_path: Path) -> None:
    table = Recorded(SUGARHOUSE_MIDI).burned().lock().round(" ".join(DEALT)).do(call("reveal"))
    record = page_of(table.journalled(tmp_path))
    assert all(f"card {card}," in record for card in DEALT)


@pytest.mark.parametrize("dealt", range(1, 5))
def test_cards_that_nobody_turned_up_stay_unknown(tmp_path: Path, dealt: int) -> None:
    """If a round is voided while cards lie face down, its record contains neither those cards nor their frames."""
    table = Recorded(SUGARHOUSE_MIDI).burned().lock().round(" ".join(DEALT[:dealt])).void()
    journal = table.journalled(tmp_path)
    page = page_of(journal)
    for frame in _frames(journal):
        assert frame not in page.replace(" ", "")
    assert not any(f"card {card}" in page for card in DEALT)
    assert page.count("of a card that nobody saw") == dealt


def test_a_card_that_was_burned_is_in_no_record(tmp_path: Path) -> None:
    journal = Recorded().burned().lock().round(" ".join(DEALT)).journalled(tmp_path)
    page = page_of(journal)
    assert "card 2D" not in page
    for frame in _frames(journal)[:2]:  # the shoe's first card, and the burned one
        assert frame not in page.replace(" ", "")


def test_a_void_round_that_lay_face_up_is_told_with_its_frames(tmp_path: Path) -> None:
    page = page_of(Recorded().burned().lock().round("9H 2C").void().journalled(tmp_path))
    assert "card 9H," in page
    assert "nobody saw" not in page


def test_a_correction_stands_after_the_round(tmp_path: Path) -> None:
    table = Recorded().burned().lock().round(" ".join(DEALT))
    table.do(CorrectRound(1, tuple(cards("9H KS")), tuple(cards("2C 4D")), "Smith", "Jones"))
    page = page_of(table.journalled(tmp_path))
    assert page.index("Corrected afterwards") < page.index("RoundCorrected(")
