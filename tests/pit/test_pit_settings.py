"""Checks the pit's settings file: the example file, the default values, and the mistakes that such a file can have."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from controller.pit.reference import settings
from controller.pit.reference.meters import Terms
from controller.pit.reference.settings import Settings, default, load
from tests.support.each import each
from tests.support.errors import raising

EXAMPLE = Path(__file__).resolve().parents[2] / "config" / "pit.toml"
SOUND = '[meters.a]\nseed_cents = 5\ncontribution = "12:100"\n'
TAX = '[[tax]]\nform = "W-2G"\nsince = 2026-01-01\ntimes_the_wager = 300\nat_least_cents = 200000\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "pit.toml"
    path.write_text(text)
    return path


def test_the_example_is_what_holds_without_a_settings_file() -> None:
    """The default settings equal those of the example file, which the test reads with a parser of its own. If a
    settings file leaves out the section [tables], the defaults apply to that section."""
    there = tomllib.loads(EXAMPLE.read_text("utf-8"))["meters"]
    seeds = {name: terms.seed_cents for name, terms in default().meters.items()}
    assert seeds == {name: meter["seed_cents"] for name, meter in there.items()}
    assert default() == Settings(default().meters, house=default().house)


def test_every_meter_of_the_example_games_has_its_terms() -> None:
    games = [tomllib.loads(game.read_text("utf-8")) for game in (EXAMPLE.parent / "games").glob("*.toml")]
    rows = [row for game in games for bet in game["bets"] for row in bet.get("rows", ())]
    named = {row["meter"] for row in rows if "meter" in row}
    assert named == default().meters.keys()


def test_what_is_left_out_is_no_reserve_and_the_seed(tmp_path: Path) -> None:
    assert load(written(tmp_path, SOUND)) == Settings({"a": Terms(5, Fraction(3, 25), Fraction(0), 5)}, 2)
    text = SOUND + 'reserve = "1:1000"\nreseed_at_most_cents = 9\n'
    assert load(written(tmp_path, text)).meters == {"a": Terms(5, Fraction(3, 25), Fraction(1, 1000), 9)}
    assert load(written(tmp_path, SOUND + "[tables]\nmost_voids_in_a_shoe = 0\n")).most_voids_in_a_shoe == 0


@each(
    "text, told",
    [
        ("", "the file names no meter"),
        ("meters = 3", "the file names no meter"),
        ("[meters]\na = 3", "meters.a: write [meters.a]"),
        ("[meters.'\x7f']", "cannot be read"),
        ("[meters.Big]\n", "a meter's name is of"),
        (SOUND + "[other]\n", "'other'"),
        (SOUND + "sed_cents = 1\n", "meters.a.'sed_cents': is no key of a meter"),
        ("[meters.a]\nseed_cents = 5\n", "meters.a.contribution: is missing"),
        (SOUND.replace("5", "-5"), "meters.a.seed_cents: -5"),
        (SOUND.replace("5", "5.0"), "meters.a.seed_cents: 5.0"),
        (SOUND.replace("5", "true"), "meters.a.seed_cents: True"),
        (SOUND.replace("5", "9" * 30), "is no amount"),
        (SOUND + "limit_cents = 4\n", "meters.a.limit_cents: is below the level"),
        (SOUND + "limit_cents = -4\n", "meters.a.limit_cents: -4"),
        (SOUND + "prices_cents = 500\n", "meters.a.prices_cents: 500"),
        (SOUND + "prices_cents = [5, 0]\n", "meters.a.prices_cents: [5, 0]"),
        (SOUND.replace("12:100", "12%"), "meters.a.contribution: '12%'"),
        (SOUND.replace("12:100", "12:0"), "meters.a.contribution: '12:0'"),
        (SOUND.replace('"12:100"', "0.12"), "meters.a.contribution: 0.12"),
        (SOUND + "reseed_at_most_cents = 4\n", "is below seed_cents"),
        (SOUND + 'reserve = "9:10"\n', "more than the whole wager"),
        (SOUND.replace("seed_cents = 5", "seed_cents = 0x" + "f" * 4000), "a number far too large"),
        ("[meters", "cannot be read"),
        ("tables = 3\n" + SOUND, "tables: write [tables]"),
        (SOUND + "[tables]\nmost_voids = 1\n", "tables.'most_voids': is no key of [tables]"),
        (SOUND + "[tables]\nleast_edge = 0.05\n", "tables.least_edge: 0.05"),
        (SOUND + '[tables]\nleast_edge = "1:1"\n', "tables.least_edge: '1:1'"),
        (SOUND + "[tables]\nmost_voids_in_a_shoe = -1\n", "tables.most_voids_in_a_shoe: -1"),
        ("house = 3\n" + SOUND, "house: write [house]"),
        (SOUND + "[house]\nzone = 'Utopia'\n", "house.zone: 'Utopia'"),
        (SOUND + "[house]\nhour = 3\n", "house.'hour': is no key of [house]"),
        ("tax = 3\n" + SOUND, "tax: write [[tax]]"),
        (SOUND + TAX.replace("300", "-1"), "tax, rule 1: times_the_wager"),
        (SOUND + TAX.replace("2026-01-01", "'soon'"), "tax, rule 1: Invalid"),
        (SOUND + TAX.replace("W-2G", "W<2G"), "tax, rule 1: 'W<2G'"),
        (SOUND + TAX + "until = 1\n", "tax, rule 1: 'until' is no key"),
        (SOUND + "[roles]\ncashier = ['c']\n", "roles.'cashier': is no role"),
        (SOUND + "[roles]\naccounting = 'c'\n", "roles.accounting: write a list of groups"),
        (SOUND + "[roles]\naccounting = [-1]\n", "roles.accounting: write a list of groups"),
        ("program = 3\n" + SOUND, "program: write [program]"),
        (SOUND + "[program]\nallowed = []\n", "program: write [program]"),
        (SOUND + "[program]\napproved = 'aa'\n", "program.approved: write a list of digests"),
        (SOUND + "[program]\napproved = ['aa']\n", "program.approved: write a list of digests"),
    ],
)
def test_everything_wrong_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with raising("settings_invalid") as caught:
        load(written(tmp_path, text))
    assert told in caught.value.what


def test_a_machine_without_time_zones_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_zones", frozenset)
    with raising("settings_invalid") as caught:
        load(written(tmp_path, SOUND + "[house]\nzone = 'America/Los_Angeles'\n"))
    assert "sudo apt-get install -y tzdata" in caught.value.what


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none", tmp_path, tmp_path / "binary"):
        with raising("settings_invalid"):
            load(path)
