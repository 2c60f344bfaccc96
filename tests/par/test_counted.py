"""Checks of the cache of computed odds. If odds are in the cache, the program does not compute them again. A file that
another user put into the cache changes no figure."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.people.cli import counted as keeping
from controller.people.cli.counted import counted
from controller.people.par.sheet import Par, Subject, par, subject

GAMES = Path(__file__).parents[2] / "config" / "games"
GAME, ANOTHER = GAMES / "even_draw.toml", GAMES / "pairs.toml"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "table-controller"


_TRUE: dict[str, Par] = {}


def true_count(of: Subject) -> Par:
    """Return the odds of the game `of`, computed without the cache. They are computed once for all tests in here."""
    if of.digest not in _TRUE:
        _TRUE[of.digest] = par(of)
    return _TRUE[of.digest]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[Subject]:
    """Return a list of the games whose odds the program really computes instead of reading them from the cache. The
    list grows during the test."""
    found: list[Subject] = []

    def counting(of: Subject) -> Par:
        found.append(of)
        return true_count(of)

    monkeypatch.setattr(keeping, "par", counting)
    return found


def test_a_second_count_reads_what_the_first_has_kept(cache: Path, counts: list[Subject]) -> None:
    of = subject(GAME)
    assert counted(of) == counted(of) == true_count(of)
    assert len(counts) == 1
    assert {path.stat().st_mode & 0o777 for path in cache.iterdir()} == {0o600}


def test_another_game_or_another_program_is_counted_by_itself(
    cache: Path, counts: list[Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted(subject(GAME))
    assert counted(subject(ANOTHER)) == true_count(subject(ANOTHER))
    monkeypatch.setattr(keeping, "program_digest", lambda: "another program")
    counted(subject(GAME))
    assert len(counts) == 3


def test_without_a_place_to_keep_it_a_count_is_made(monkeypatch: pytest.MonkeyPatch, counts: list[Subject]) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert counted(subject(GAME)) == counted(subject(GAME))
    assert len(counts) == 2


# Who gains by a wrong figure? A file is laid where the true count would be.


def _better_for_the_player(file: Path) -> None:
    """Forge a cache file: its checksum is right, but its figures favour the player."""
    text = file.read_bytes().partition(b"\n")[2].replace(b'"net":"-1"', b'"net":"-1/2"')
    file.write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)


def _another_game(file: Path) -> None:
    counted(subject(ANOTHER))
    (other,) = {*file.parent.iterdir()} - {file}
    other.replace(file)


def _by_another_user(file: Path) -> None:
    _better_for_the_player(file)
    os.chown(file, 12345, -1)


def _that_anybody_can_write(file: Path) -> None:
    _better_for_the_player(file)
    file.chmod(0o666)


def _where_anybody_can_write(file: Path) -> None:
    _better_for_the_player(file)
    file.parent.chmod(0o777)


def _behind_a_link(file: Path) -> None:
    _better_for_the_player(file)
    file.symlink_to(file.rename(file.with_name("elsewhere")))


def _a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


FOREIGN: dict[str, Callable[[Path], object]] = {
    "one digit changed": lambda file: file.write_bytes(file.read_bytes().replace(b'"net":"-1"', b'"net":"-2"')),
    "cut short": lambda file: os.truncate(file, file.stat().st_size - 1),
    "empty": lambda file: os.truncate(file, 0),
    "the count of another game": _another_game,
    "a file that anybody can write": _that_anybody_can_write,
    "in a folder that anybody can write": _where_anybody_can_write,
    "another user's file": _by_another_user,
    "a link": _behind_a_link,
    "a pipe": _a_pipe,
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_wrong_or_a_foreign_file_changes_no_figure(case: str, cache: Path, counts: list[Subject]) -> None:
    if case == "another user's file" and os.geteuid() != 0:
        pytest.skip("root alone can give a file away")
    of = subject(GAME)
    true = counted(of)
    (file,) = cache.iterdir()
    FOREIGN[case](file)
    counts.clear()
    assert counted(of) == true
    assert counts == [of]


def test_the_planted_figures_would_be_seen(cache: Path, counts: list[Subject]) -> None:
    """A forged cache file changes the figures if the file belongs to the user who runs the program, because the program
    checks only the file's owner. This shows that the other tests would notice if a forged file was used."""
    of = subject(GAME)
    true = counted(of)
    (file,) = cache.iterdir()
    _better_for_the_player(file)
    assert counted(of) != true
