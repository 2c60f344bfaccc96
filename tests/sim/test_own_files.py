"""Checks that the demo and the practice table can play a house's own game files, and that their pit has every meter
that the game names."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.daemon.config import load
from controller.daemon.config.problems import ConfigError
from controller.people.cli.main import main
from controller.people.cli.played import played, settings_of
from controller.people.cli.programs import example_game, example_table
from controller.pit.reference.settings import default
from controller.pit.reference.settings import load as settings_in
from drivers.sim.house import read_house
from drivers.sim.run import game_of
from drivers.sim.story import planned


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Write a house's own game file, which is not one of the example games, and return its path. Its larger meter has a
    name that no pit knows."""
    path = tmp_path / "house" / "own.toml"
    path.parent.mkdir()
    path.write_text(example_game("grand_fortune").read_text("utf-8").replace('"grand"', '"jackpot_of_ours"'), "utf-8")
    return path


def test_a_game_file_is_played_at_a_table_that_fits_and_the_pit_begins_its_meter(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, config = played(tmp_path, 1, own)
    assert load(table) == config
    assert config.rules.meters == {"jackpot_of_ours", "fortune"}
    settings = settings_of(tmp_path, config, None)
    assert "jackpot_of_ours at $2,000.00" in capsys.readouterr().out
    begun = dict(settings_in(settings).meters)
    assert begun.pop("jackpot_of_ours").seed_cents == 200_000, "what a smaller award of the same cards is worth"
    assert begun == default().meters, "and no other terms are changed"
    assert settings_of(tmp_path, config, settings) == settings
    assert capsys.readouterr().out == "", "nothing lacks there"


def test_a_meter_begins_no_lower_than_a_smaller_award_of_the_same_cards(tmp_path: Path) -> None:
    game = tmp_path / "own.toml"
    game.write_text(example_game("royal9").read_text("utf-8").replace('meter = "', 'meter = "our_'), "utf-8")
    _, config = played(tmp_path, 1, game)
    meters = settings_in(settings_of(tmp_path, config, None)).meters
    assert {name: terms.seed_cents for name, terms in meters.items() if name.startswith("our_")} == {
        "our_personal_vs_personal": 150_000,
        "our_banker_personal": 150_000,
        "our_player_personal": 150_000,
    }


@pytest.mark.parametrize("most_seats", [1, 4])
def test_a_game_of_few_seats_is_played_at_a_table_with_as_many(most_seats: int, own: Path, tmp_path: Path) -> None:
    """A game file that allows at most one seat, or at most four, is played at a table with one or four seats, although
    each example table has seven."""
    own.write_text(f"most_seats = {most_seats}\n{own.read_text('utf-8')}", "utf-8")
    table, config = played(tmp_path, 1, own)
    assert config.rules.seat_numbers == tuple(range(1, most_seats + 1))
    house = read_house(table)
    assert planned(house, game_of(house), seed=1).occupied == house.seats


def test_an_own_game_is_played_at_a_table_that_has_its_buttons(tmp_path: Path) -> None:
    """A house's own Lucky 9 is played at a table with a split button. It is not played at Baccarat Royal's table,
    because that table has no such button."""
    own = tmp_path / "own.toml"
    own.write_text(f"most_seats = 3\n{example_game('lucky9').read_text('utf-8')}", "utf-8")
    table, _ = played(tmp_path, 1, own)
    assert "split" in read_house(table).inputs


def test_a_table_s_own_file_is_played_without_its_broker_and_certificates(own: Path, tmp_path: Path) -> None:
    text = example_table("grand_fortune").read_text("utf-8").replace("../games/grand_fortune.toml", str(own))
    tls = '[pit]\nca = "/etc/ca.crt"\ncertificate = "/etc/t.crt"\nprivate_key = "/etc/t.key"\n'
    table = own.with_name("table.toml")
    table.write_text(text.replace("[pit]\n", tls), "utf-8")
    _, config = played(tmp_path, 1, table)
    assert (config.file.pit.tls, config.file.pit.brokers) == (None, ("127.0.0.1",))
    assert config.file.table.name == load(example_table("grand_fortune")).file.table.name


@pytest.mark.parametrize("command", [["demo"], ["practice", "made"]])
def test_the_mistakes_of_own_files_are_all_told(
    command: list[str], own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = own.read_text("utf-8")
    assert 'pays = "9:1"' in text
    own.write_text(text.replace('pays = "9:1"', 'pays = "9 zu 1"'), "utf-8")
    assert main([*command, str(own)]) == 78
    with pytest.raises(ConfigError) as mistakes:
        played(tmp_path, 1, own)
    assert str(mistakes.value) in capsys.readouterr().err
