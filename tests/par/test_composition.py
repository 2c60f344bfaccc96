"""Checks of the odds of an open shoe, which are computed only from the cards that lay face up."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import tomli_w

from controller.people.cli.composition import open_shoe
from controller.people.cli.main import main
from controller.people.par.sheet import par, subject
from controller.people.par.shoe import fresh
from controller.rules.game.cards import Card
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.shoe import CloseShoe
from tests.daemon.test_config import read
from tests.daemon.test_history import Recorded
from tests.documents.reports_page import PAR_REPORTS, held
from tests.support.errors import raising
from tests.support.tables import MIDI, TABLES, cards


def recorded() -> Recorded:
    """Return a recorded journal that holds a first card (an ace), a burned 2D, a round that was corrected, a void
    round, and a round in play."""
    table = Recorded().burned()
    table.lock().round("KS 2D 9S 3D")
    table.lock().round("8H 5C").void()
    table.lock().round("2S 3S 4H 4S")
    table.do(CorrectRound(1, tuple(cards("KS 9S")), tuple(cards("2D 4D")), "Smith", "Jones"))
    table.lock().round("7D 7C")
    return table


def seen(journal: Path, decks: int = 8) -> Counter[Card]:
    return Counter(fresh(decks)) - Counter(open_shoe(journal).unseen)


def test_what_lay_face_up_is_seen_and_what_was_burned_is_not(tmp_path: Path) -> None:
    journal = recorded().journalled(tmp_path)
    assert seen(journal) == Counter(cards("AS KS 9S 2D 4D 8H 5C 2S 4H 3S 4S 7D 7C"))
    shoe = open_shoe(journal)
    assert (shoe.number, shoe.round) == (1, 4)


def test_a_card_that_lies_face_down_is_not_seen(tmp_path: Path) -> None:
    table = Recorded(MIDI).burned().lock().round("KS 2D 9S 3D")
    assert seen(table.journalled(tmp_path)) == Counter(cards("AS"))


def test_a_shoe_that_is_over_has_no_odds(tmp_path: Path) -> None:
    journal = Recorded().burned().do(CloseShoe("Smith")).journalled(tmp_path)
    with raising("no_open_shoe"):
        open_shoe(journal)


def test_the_odds_of_the_open_shoe_stand_beside_those_of_a_fresh_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = recorded().journalled(tmp_path)
    table = read(TABLES / "royal9.toml")
    table["table"]["game"] = str((TABLES / table["table"]["game"]).resolve())
    table["journal"]["path"] = str(journal)
    file = tmp_path / "table.toml"
    file.write_text(tomli_w.dumps(table), "utf-8")
    assert main(["par", str(file), "--composition", "--json"]) == 0
    both = json.loads(capsys.readouterr().out)
    held(PAR_REPORTS[2], both)
    assert [both[which]["cards"] for which in ("from", "to")] == [416, 403]
    now = par(subject(TABLES / "royal9.toml"), open_shoe(journal).unseen)
    assert [bet["edge"] for bet in both["to"]["bets"]] == [str(bet.edge({})) for bet in now.bets]
    assert main(["par", str(file), "--composition"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("shoe 1, round 4: ")
    assert "for surveillance, never for players" in told
