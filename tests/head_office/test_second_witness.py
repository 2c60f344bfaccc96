"""Checks head office as a second witness, after the pit, of the tables' journals. Head office signs a checkpoint of a
journal only if the journal grew since the last checkpoint. If a journal has two histories (a fork), head office keeps a
signed note of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controller.contract.note import Note, read_note
from controller.pit.head_office.main import main as head_office
from controller.pit.head_office.remembered import load
from tests.head_office.evenings import PIT, Lines, pits_ledger, signed_by_the_pit, written
from tests.pit.evening import EPOCH, KEY, TableEvening
from tests.pit.test_meters import give
from tests.support.trees import Log

TABLE = "t-0"
ORIGIN = f"{TABLE}/{EPOCH}"
LOG, REWRITTEN = Log(ORIGIN, KEY, 40), Log(ORIGIN, KEY, 40, b"another")
"""The table's journal, and the same written anew from its fifth row on: the table's key signs both."""


class Home:
    """Head office's folder in a test. It contains the file of what head office remembers, and the notes that head
    office signed. `Home` also holds the report that head office printed last."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder, self._capsys = folder, capsys
        self.notes = folder / "notes"
        self.said: dict[str, Any] = {}

    def hears(self, lines: str, house: str = "north") -> list[str]:
        """Let head office check this log of the house, and return its findings."""
        path = self._folder / f"{house}.log"
        path.write_text(lines, "utf-8")
        remember = str(self._folder / "remembered.json")
        head_office([f"{house}={path}", "--json", "--remember", remember, "--cosign", str(self.notes)])
        (self.said,) = json.loads(self._capsys.readouterr().out)
        return list(self.said["findings"])

    def cosigned(self) -> tuple[int, Note]:
        """Return the checkpoint of a journal that head office signed last, as two values: its number of journal rows,
        and its signed note."""
        text = (self.notes / f"north.{ORIGIN.replace('/', '.')}.note").read_text("utf-8")
        assert load(self._folder / "remembered.json")["north"].checkpoints[ORIGIN] == text
        note = read_note(text)
        assert note is not None
        return int(note.text.split("\n")[1]), note


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Home:
    return Home(tmp_path, capsys)


def _log(path: Path, *shown: bytes) -> str:
    """Return the log of a house in which a table showed these checkpoints to the pit."""
    begun = path.exists()
    with closing(pits_ledger(path)) as ledger:
        if not begun:
            table = TableEvening(TABLE)
            give(ledger, table, table.lock(1))
        for payload in shown:
            ledger.witness.judge_all([(TABLE, payload)], (), PIT, 1_764_111_600)
    return written(path)


def _lies(log: str, change: Callable[[dict[str, Any]], None]) -> str:
    """Return the log with its statement changed by the function `change` and signed again by the pit."""
    *events, said = [json.loads(line) for line in log.splitlines()]
    change(said)
    lines: Lines = [*events, signed_by_the_pit(said)]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def test_it_cosigns_the_newest_checkpoint_and_goes_on_from_there(home: Home, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    assert home.hears(_log(ledger, LOG.shown(3), LOG.shown(17, 3))) == []
    size, note = home.cosigned()
    key = home.notes / "head-office.key"
    assert size == 17
    assert [name for name, _ in note.signatures] == [ORIGIN, "pit", "head-office"]
    assert home.hears(_log(ledger, LOG.shown(40, 17))) == []
    assert home.cosigned()[0] == 40
    assert key.stat().st_mode & 0o77 == 0


def test_a_house_that_wrote_its_journal_anew_after_head_office_heard_is_found_with_both_notes(
    home: Home, tmp_path: Path
) -> None:
    """Head office finds a house that rewrites a table's journal after head office has signed a checkpoint of it. This
    works even if pit and table lie together, and the pit signs the new history as if no other history existed."""
    true = _log(tmp_path / "true", LOG.shown(17))
    assert home.hears(true) == []
    for place, sizes in enumerate(([17], [3, 20], [40])):
        anew = [REWRITTEN.shown(size, old) for size, old in zip(sizes, [0, *sizes], strict=False)]
        told = json.loads(_log(tmp_path / f"anew-{place}", *anew).splitlines()[-1])["checkpoints"]
        (finding,) = home.hears(_lies(true, partial(_tell, told)))
        assert "has two histories" in finding
        ((one, other),) = home.said["forks"]
        notes = [read_note(one), read_note(other)]
        assert all(note is not None and note.signed_by(ORIGIN, KEY.public) for note in notes)
        assert (home.notes / "north.fork-1").read_text("utf-8") == f"{one}\n{other}"
        assert home.cosigned()[0] == 17, "nothing of it is cosigned or remembered"


def test_a_night_that_was_written_anew_before_head_office_heard_is_not_found(home: Home, tmp_path: Path) -> None:
    """Head office cannot find a journal that was rewritten before head office first saw it. The documentation page on
    evidence names this limit."""
    _log(tmp_path / "true", LOG.shown(17))
    assert home.hears(_log(tmp_path / "anew", REWRITTEN.shown(17))) == []


def test_an_older_log_is_found_by_its_checkpoints(home: Home, tmp_path: Path) -> None:
    old = _log(tmp_path / "ledger", LOG.shown(17))
    assert home.hears(_log(tmp_path / "ledger", LOG.shown(40, 17))) == []
    assert any("40 rows, and the house shows 17 at most" in each for each in home.hears(old))
    assert home.cosigned()[0] == 40


def test_a_fork_stays_proof_after_its_stream_was_set_aside(home: Home, tmp_path: Path) -> None:
    _log(tmp_path / "ledger", LOG.shown(17), REWRITTEN.shown(17))
    with closing(pits_ledger(tmp_path / "ledger")) as ledger:
        ledger.unadopt(TABLE, EPOCH, "Ann", "the wrong key", "Bob")
    (finding,) = home.hears(written(tmp_path / "ledger"))
    assert "has two histories" in finding
    assert len(home.said["forks"]) == 1


def _note(payload: bytes) -> str:
    return str(json.loads(payload)["note"])


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        ((_note(LOG.shown(17)), _note(LOG.shown(17))), "a fork that is none"),
        ((_note(LOG.shown(17)), _note(Log("t-0/other", KEY, 40).shown(17))), "a fork that is none"),
        ((_note(LOG.shown(17)), _note(LOG.shown(40))), None),
    ],
)
def test_a_pit_frames_no_honest_table_by_forks(
    pair: tuple[str, str], says: str | None, home: Home, tmp_path: Path
) -> None:
    """Head office does not accuse a table of two histories if proofs in the statement join the two notes (signed
    checkpoints). A stranger may have given the pit one of the notes with a spoiled proof."""
    log = _log(tmp_path / "ledger", LOG.shown(17), LOG.shown(40, 17))
    findings = home.hears(_lies(log, lambda said: said.update(forks=[pair])))
    assert [each for each in findings if says is None or says not in each] == []
    assert (home.said["forks"], len(findings)) == ([], 0 if says is None else 1)


def test_two_notes_of_different_sizes_accuse_no_table_alone(home: Home, tmp_path: Path) -> None:
    """Two signed checkpoints that name different numbers of journal rows prove nothing against a table. An honest table
    can have signed both, if its pit's ledger was restored from a backup and the table continued."""
    ledger = tmp_path / "ledger"
    _log(ledger, LOG.shown(3))
    backup = ledger.read_bytes()
    assert home.hears(_log(ledger, LOG.shown(17, 3))) == []
    ledger.write_bytes(backup)
    (finding,) = home.hears(_log(ledger, LOG.shown(40, 3)))
    assert "or the pit's ledger was put back from an older copy" in finding
    assert "prove nothing alone" in finding
    assert "are the proof" not in finding


def test_what_was_set_aside_is_not_followed_and_people_are_told(home: Home, tmp_path: Path) -> None:
    assert home.hears(_log(tmp_path / "ledger", LOG.shown(17))) == []
    with closing(pits_ledger(tmp_path / "ledger")) as ledger:
        ledger.unadopt(TABLE, EPOCH, "Ann", "the wrong key", "Bob")
    assert home.hears(written(tmp_path / "ledger")) == []
    assert home.said["alarms"] == []
    with closing(pits_ledger(tmp_path / "ledger")) as ledger:
        ledger.adopt(TABLE, EPOCH, KEY.public.hex())
    assert home.hears(_log(tmp_path / "ledger", REWRITTEN.shown(20), REWRITTEN.shown(30, 20))) == []
    (alarm,) = home.said["alarms"]
    assert f"{ORIGIN} was set aside after 17 rows were cosigned" in alarm
    assert home.cosigned()[0] == 17


def test_a_journal_that_was_set_aside_is_never_cosigned(home: Home, tmp_path: Path) -> None:
    _log(tmp_path / "ledger", LOG.shown(17))
    with closing(pits_ledger(tmp_path / "ledger")) as ledger:
        ledger.unadopt(TABLE, EPOCH, "Ann", "the wrong key", "Bob")
    assert home.hears(written(tmp_path / "ledger")) == []
    assert (home.said["checkpoints"], [*home.notes.glob("*.note")]) == ({}, [])


def test_a_journal_that_goes_on_after_it_was_set_aside_is_cosigned_where_it_shows_what_was_cosigned(
    home: Home, tmp_path: Path
) -> None:
    assert home.hears(_log(tmp_path / "ledger", LOG.shown(17))) == []
    with closing(pits_ledger(tmp_path / "ledger")) as ledger:
        ledger.unadopt(TABLE, EPOCH, "Ann", "the wrong key", "Bob")
        ledger.adopt(TABLE, EPOCH, KEY.public.hex())
    assert home.hears(_log(tmp_path / "ledger", LOG.shown(17), LOG.shown(40, 17))) == []
    assert home.said["alarms"] == []
    assert home.cosigned()[0] == 40


@pytest.mark.parametrize("lines", [[("pit", 72)] * 14, [("x", 72)] * 14, [("x", 5_000)], [("pit", 5_000)]])
def test_lines_that_a_pit_puts_under_a_checkpoint_stop_no_other_house(
    lines: list[tuple[str, int]], home: Home, tmp_path: Path
) -> None:
    def pad(said: dict[str, Any]) -> None:
        note = read_note(said["checkpoints"][0]["note"])
        assert note is not None
        more = tuple((name, bytes(4 + size)) for name, size in lines)
        said["checkpoints"][0]["note"] = str(Note(note.text, (*note.signatures, *more)))

    assert home.hears(_lies(_log(tmp_path / "ledger", LOG.shown(17)), pad)) == []
    size, note = home.cosigned()
    assert size == 17
    assert [name for name, _ in note.signatures] == [ORIGIN, "pit", "head-office"]


def test_a_fork_that_the_pit_saw_is_told_with_both_notes(home: Home, tmp_path: Path) -> None:
    (finding,) = home.hears(_log(tmp_path / "ledger", LOG.shown(17), REWRITTEN.shown(17)))
    assert "has two histories" in finding
    assert len(home.said["forks"]) == 1


def _tell(checkpoints: list[dict[str, Any]], said: dict[str, Any]) -> None:
    said["checkpoints"] = checkpoints


def _drop_proof(said: dict[str, Any]) -> None:
    said["checkpoints"][1]["proof"] = []


def _leave_out_the_first(said: dict[str, Any]) -> None:
    del said["checkpoints"][0]


def _sign_by_another(said: dict[str, Any]) -> None:
    note = read_note(said["checkpoints"][1]["note"])
    assert note is not None
    said["checkpoints"][1]["note"] = str(Note(note.text, ()).signed(ORIGIN, PIT, PIT.public))


def _of_another_journal(said: dict[str, Any]) -> None:
    said["checkpoints"][1]["note"] = said["checkpoints"][1]["note"].replace(TABLE, "t-9")


def _hide_all(said: dict[str, Any]) -> None:
    said["checkpoints"] = []


def _accuse_falsely(said: dict[str, Any]) -> None:
    note = said["checkpoints"][0]["note"]
    said["forks"] = [[note, note.replace("\n17\n", "\n18\n")]]


@pytest.mark.parametrize(
    ("lie", "says"),
    [
        (_drop_proof, "two histories"),
        (_leave_out_the_first, "no proof leads to the first checkpoint"),
        (_sign_by_another, "not one that its table has signed"),
        (_of_another_journal, "not one that its table has signed"),
        (_hide_all, "the house shows 0 at most"),
        (_accuse_falsely, "notes that the table has not signed"),
        (lambda said: said.update(checkpoints=[{"table": "t-0"}]), "cannot be read"),
        (lambda said: said["adoptions"][0].update(table="../../x"), "cannot be read"),
    ],
)
def test_a_pit_that_lies_of_checkpoints_has_nothing_cosigned(
    lie: Callable[[dict[str, Any]], None], says: str, home: Home, tmp_path: Path
) -> None:
    assert home.hears(_log(tmp_path / "ledger", LOG.shown(17))) == []
    log = _log(tmp_path / "ledger", LOG.shown(40, 17))
    assert any(says in finding for finding in home.hears(_lies(log, lie))), home.said["findings"]
    assert home.cosigned()[0] == 17


def test_a_witness_without_a_memory_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        head_office([f"north={tmp_path}/log", "--cosign", str(tmp_path)])
    assert "--remember" in capsys.readouterr().err
