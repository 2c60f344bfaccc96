"""Checks that a new version of the program must first compute a table's past events again. If one event differs from
the recorded one, the table does not switch to the new version.

Here the new version is the adversary: it changes a rule, crashes, hangs, answers nonsense, writes where it should not,
or declares more changes than it makes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec
import pytest

from controller import __version__
from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.daemon.config import load
from controller.daemon.record import journal_reading, replay
from controller.daemon.record.archive import beside
from controller.daemon.record.fact_json import fact_from_json
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import read_latest, read_rows
from controller.daemon.record.journal_rows import Row
from controller.people.cli import rehearsal, versions
from controller.people.cli.main import main
from controller.people.cli.programs import simulated_table
from controller.people.cli.rehearsal import Asked, declared, judge, rehearse
from controller.rules.game.cards import Card
from controller.table.acts.shoe import ShoeClosed
from controller.table.facts import CardDrawn, Fact, ShoeOpened
from controller.table.states import Table
from controller.table.stops import Stepped
from tests.daemon.test_journal import CONFIG, KEY, RULES, TABLE, entries, opened
from tests.support.archives import archive_all
from tests.support.errors import raising
from tests.support.other_user import needs_root
from tests.support.stopped import stopped_table
from tests.support.waiting import eventually_now

NEXT = "9.9.9"
NATURAL = ("KS", "2D", "9S", "3D")
CELL = ("2S", "2D", "3S", "4D", "6H", "7C")
"""Player draws a six, and so Banker draws on six: of all rounds here, the one that this cell of the tableau decides."""


def shoe(number: int, *rounds: tuple[str, ...]) -> list[Fact]:
    cards = ("AS", "2D", *(card for each in rounds for card in each))  # the burn, and the rounds
    return [
        ShoeOpened(number, "dealer", RULES, CONFIG.digest, "test"),
        *(CardDrawn(Card.parse(card)) for card in cards),
    ]


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a journal with three shoes, of which two are in archives."""
    path = tmp_path_factory.mktemp("past") / "table.journal"
    facts = [*shoe(1, NATURAL, NATURAL), *shoe(2, NATURAL, CELL, NATURAL), *shoe(3, CELL), ShoeClosed("A. Nguyen")]
    with closing(opened(path)) as journal:
        journal.append(entries(facts))
        journal.mark_acked(journal.head_seq)
    with closing(Journal(path, TABLE, KEY, KEY.public)) as journal:
        assert len(archive_all(journal, at_most_rows=12)) > 2
    return path


def program(folder: Path, text: str, shebang: str = sys.executable) -> Path:
    """Make a version of the program in `folder`, whose `tablectl` is a script with this text. Returns the folder."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "tablectl").write_text(f"#!{shebang}\n{text}", "utf-8")
    (folder / "bin" / "tablectl").chmod(0o755)
    return folder


OURS = "from controller.people.cli.main import main\nraise SystemExit(main())\n"
OTHER_CELL = """
import controller
controller.__version__ = "9.9.9"

import controller.rules.game.baccarat as game
from msgspec.structs import replace

def planted(tableau, cards):
    rows = {**tableau.banker_draws_on_third_card, 6: (7,)}
    return as_printed(replace(tableau, banker_draws_on_third_card=rows), cards)

as_printed, game.next_step = game.next_step, planted
"""


def told(version: Path, past: Path, most: int | None = None) -> str:
    return rehearse(version, past, beside(past), most, None, None)


@pytest.mark.proof
def test_the_same_program_tells_the_whole_past_again_and_nothing_is_written(past: Path, tmp_path: Path) -> None:
    files = [past, *beside(past).iterdir()]
    before = [file.read_bytes() for file in files]
    events = sum(len(row.messages) for row in read_rows(past))
    assert told(program(tmp_path / "new", OURS), past) == (
        f"3 shoes with {events} events told again, each event the same."
    )
    assert [file.read_bytes() for file in files] == before


def test_a_changed_cell_of_drawing_is_refused_at_the_first_round_that_it_decides(past: Path, tmp_path: Path) -> None:
    with raising("told_differently") as caught:
        told(program(tmp_path / "new", OTHER_CELL + OURS), past)
    row = 1 + sum(map(len, (shoe(1, NATURAL, NATURAL), shoe(2, NATURAL)))) + CELL.index("6H")
    assert caught.value.what.startswith(f"Shoe 2, round 2 (row {row} of the journal): the table told: nothing.")
    assert f"Version {NEXT} would tell: round, player 2S 3S 6H = 1  banker 2D 4D = 6  -> banker" in caught.value.what


# What a version may answer, tried without a process.


class New:
    """A new version of the program that takes part in a rehearsal (computes a table's past events again), through
    pipes. It computes the events honestly. Then it passes its answer through the function `says`, and sends the result.
    """

    def __init__(self, says: Callable[[dict[str, Any]], object] = dict, declares: object = ()) -> None:
        self._says = says
        self._due = [json.dumps({"version": NEXT, "changed": declares}).encode() + b"\n"]
        self._table: Table | None = None

    def write(self, line: bytes) -> None:
        asked = msgspec.json.decode(line, type=Asked)
        fact, chain = fact_from_json(asked.fact.encode()), bytes.fromhex(asked.chain)
        row = Row(asked.row, asked.stamp, fact, (), chain, asked.first_seq)
        table = None if asked.fresh else self._table
        self._table, events = rehearsal._folded(table, row, asked.table, asked.epoch)
        answer = self._says({"row": row.number, "events": [json.loads(event) for event in events]})
        if isinstance(answer, dict):
            answer |= {"events": [canonical(event).decode() for event in answer["events"]]}
        self._due.append(answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n")

    def flush(self) -> None:
        pass

    def readline(self, longest: int) -> bytes:
        return self._due.pop(0)[:longest]


def judged(past: Path, new: New, most: int | None = None, archives: Path | None = None) -> str:
    return judge(past, archives or beside(past), most, cast(BinaryIO, new), cast(BinaryIO, new))


def changing(type_: str, change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], object]:
    """Return a function that alters an answer of the new version: it applies `change` to each event of the type `type_`
    in the answer."""

    def says(answer: dict[str, Any]) -> object:
        for event in answer["events"]:
            if event["type"] == type_:
                change(event)
        return answer

    return says


def spelt(spell: Callable[[str], str]) -> Callable[[dict[str, Any]], object]:
    """Return a function that alters an answer of the new version: it applies `spell` to the text of each event in the
    answer."""

    def says(answer: dict[str, Any]) -> object:
        bodies = [spell(canonical(event).decode()) for event in answer["events"]]
        return json.dumps(answer | {"events": bodies}).encode() + b"\n"

    return says


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (lambda _: b"", "It ended before it answered row 1."),
        (lambda _: b'{"row":1,"ev', "It ended before it answered row 1."),
        (lambda _: b"no JSON\n", "Its answer to row 1 is none"),
        (lambda _: [], "Its answer to row 1 is none"),
        (lambda _: b'{"row":1,"events":["no JSON"]}\n', "Its answer to row 1 has an event without a type."),
        (lambda _: b'{"row":1,"events":["' + b"[" * 100_000 + b'"]}\n', "has an event without a type."),
        (lambda _: b'{"row":1,"events":["\xff"]}\n', "Its answer to row 1 is none"),
        (spelt(lambda body: body.replace(":", ": ", 1)), "not in the canonical form"),
        (spelt(lambda body: '{"type":"alarm",' + body[1:]), "not in the canonical form"),
        (spelt(lambda body: '{"zeta":"last",' + body[1:]), "not in the canonical form"),
        (spelt(lambda body: '{"a":NaN,' + body[1:]), "not in the canonical form"),
        (spelt(lambda body: '{"a":"\\ud800",' + body[1:]), "not in the canonical form"),
        (lambda answer: answer | {"row": 2}, "It answered row 2 where row 1 was asked."),
        (lambda answer: answer | {"events": answer["events"] * 2}, "the table told: nothing."),
        (lambda answer: answer | {"events": []}, "Version 9.9.9 would tell: nothing."),
        (changing("round", lambda event: event.update(natural=1)), "They differ in natural."),  # true == 1 in Python
        (changing("round", lambda event: event.update(seq=0)), "They differ in seq."),
        (changing("shoe_opened", lambda event: event.update(type="alarm")), "They differ in type."),
    ],
)
def test_whatever_else_a_version_answers_is_refused(past: Path, says: Callable[[Any], object], why: str) -> None:
    with pytest.raises(TableError) as caught:
        judged(past, New(says))
    assert why in caught.value.what


def test_a_version_that_gives_no_answer_is_not_waited_for(past: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hangs(New):
        def readline(self, _: int) -> bytes:
            while True:
                signal.pause()

    monkeypatch.setattr(rehearsal, "_ANSWER_S", 0.01)
    with raising("rehearsal_failed"):
        judged(past, Hangs())


def test_a_slow_version_is_not_waited_for_in_all_before_a_switch(past: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "monotonic_s", count(0.0, 100.0).__next__)
    with raising("rehearsal_failed") as caught:
        judged(past, New(), most=10**6)
    assert caught.value.what == "It has not told the past again within 1800.0 s."
    assert judged(past, New()).startswith("3 shoes"), "a person rehearses without a limit"


WHY = "The sheet of the house says it otherwise."


def entry(**other: object) -> dict[str, object]:
    return {"version": NEXT, "events": ["round"], "reason": WHY} | other


def test_a_declared_change_is_taken_and_told_with_how_many_events_it_covers(past: Path) -> None:
    said = judged(past, New(changing("round", lambda event: event.update(natural=None)), [entry(field="natural")]))
    assert "each event the same but for what is declared." in said
    assert said.endswith(f" Version {NEXT} declares natural of round ({WHY}): 6.")


@pytest.mark.parametrize(
    "declares",
    [
        entry(field="final_round"),
        entry(field="natural", events=["void", "shoe_opened"]),
        entry(field="natural", version=__version__),
        entry(field="natural", version="10.0.0"),
        entry(told="added"),
        entry(told="removed"),
    ],
)
def test_a_change_that_is_not_declared_for_its_field_type_and_version_is_refused(past: Path, declares: object) -> None:
    with raising("told_differently"):
        judged(past, New(changing("round", lambda event: event.update(natural=None)), [declares]))


@pytest.mark.parametrize(
    "declares",
    [
        entry(field="*"),
        entry(field=""),
        entry(field="type"),
        entry(field="natural", events=[]),
        entry(field="natural", events=["*"]),
        entry(field="natural", reason="better"),
        entry(field="natural", told="added"),
        entry(),
        entry(everything=True),
        entry(field=["natural", "winner"]),
    ],
)
def test_a_declaration_of_everything_or_of_nothing_is_refused(past: Path, declares: object) -> None:
    with raising("rehearsal_failed") as caught:
        judged(past, New(declares=[declares]))
    assert "What it declares as changed cannot be taken" in caught.value.what


def test_a_field_in_a_field_is_declared_without_the_fields_beside_it(past: Path) -> None:
    def of_each_seat(name: str) -> Callable[[dict[str, Any]], object]:
        return changing("shoe_opened", lambda event: [seat.update({name: 0}) for seat in event["seats"]])

    declares = [entry(events=["shoe_opened"], field="seats.k9")]
    assert judged(past, New(of_each_seat("k9"), declares)).endswith(": 3.")
    with raising("told_differently"):
        judged(past, New(of_each_seat("seat"), declares))


def test_events_that_are_added_or_told_no_more_are_declared_by_their_type(past: Path) -> None:
    def adds(answer: dict[str, Any]) -> object:
        for event in [*answer["events"]][:1]:
            answer["events"].insert(0, event | {"type": "news"})
            for later in answer["events"][1:]:
                later.update(seq=later["seq"] + 1, id=f"{later['id']}+")  # numbered on behind the added one
        return answer

    def removes(answer: dict[str, Any]) -> object:
        return answer | {"events": [event for event in answer["events"] if event["type"] != "round"]}

    for says, declares in ((adds, entry(events=["news"], told="added")), (removes, entry(told="removed"))):
        assert f"declares {declares['told']} of" in judged(past, New(says, [declares]))
        with raising("told_differently"):
            judged(past, New(says))
    both = [entry(told="added"), entry(told="removed")]
    with raising("told_differently"):
        judged(past, New(changing("round", lambda event: event.update(natural=None)), both))


# The past itself.


def test_without_older_archives_what_is_there_is_told_again(past: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(past.parent, tmp_path / "copy")) / past.name
    archives = tmp_path / "copy" / f"{past.name}.archive"
    oldest, *others = sorted(beside(past).iterdir())
    with pytest.MonkeyPatch.context() as set_:
        set_.setattr(journal_reading, "file_of_run", lambda run, *_: archives / run.file_name)
        assert judged(copy, New(), archives=archives).startswith("3 shoes")
        (archives / oldest.name).unlink()
        assert judged(copy, New(), archives=archives).startswith("2 shoes")
        damaged = archives / others[0].name
        damaged.write_bytes(damaged.read_bytes()[:-8] + bytes(8))
        with raising("archive_damaged"):
            judged(copy, New(), archives=archives)


def test_before_a_switch_the_latest_rows_are_rehearsed_from_a_shoes_beginning(past: Path) -> None:
    assert judged(past, New(), most=1).startswith("1 shoe with")
    assert judged(past, New(), most=8).startswith("1 shoe with")
    assert judged(past, New(), most=10**6) == judged(past, New())


def test_a_row_that_the_version_that_runs_cannot_fold_leaves_out_the_rest_of_its_shoe(
    past: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refold(table: Table, row: Row) -> Stepped:
        if row.number == 5:
            raise TableError("replay_failed", "another version believed this", "")
        return replay.refold(table, row)

    monkeypatch.setattr(rehearsal, "refold", refold)
    said = judged(past, New())
    assert said.startswith("3 shoes with")
    assert said.endswith(" 1 shoe left out from a row on that this version cannot fold.")


def test_a_version_never_learns_of_the_open_shoe(tmp_path: Path) -> None:
    path, asked = tmp_path / "table.journal", list[int]()
    ended = shoe(1, NATURAL)
    *rows, closes = entries([*ended, *shoe(2, NATURAL), ShoeClosed("A. Nguyen")])

    def says(answer: dict[str, Any]) -> object:
        asked.append(answer["row"])
        return answer

    with closing(opened(path)) as journal:
        journal.append(rows)
        told = judged(path, New(says))
        assert told.startswith("1 shoe with")
        assert told.endswith("The open shoe was left out.")
        assert asked == [*range(1, len(ended) + 1)]
        journal.append([closes])
        assert judged(path, New()).startswith("2 shoes with")


def test_the_table_may_empty_its_log_and_archive_while_a_version_is_slow(
    past: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_reading, "_PORTION", 3)
    path = tmp_path / "table.journal"
    with closing(opened(path)) as journal:
        journal.append(entries([*shoe(1, NATURAL), *shoe(2, NATURAL), *shoe(3)]))
        journal.mark_acked(journal.head_seq)
        before = [row.number for _, row in read_latest(path, None)]
        rows = read_latest(path, None)
        numbers = [next(rows)[1].number]
        assert journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0, "the log is busy"
        assert archive_all(journal, at_most_rows=12)
        assert numbers + [row.number for _, row in rows] == before == [*range(1, len(before) + 1)]


# The processes.


def ended(past: Path, version: Path, nobody: str | None = None) -> TableError:
    with pytest.raises(TableError) as caught:
        rehearse(version, past, beside(past), None, None, nobody)
    return caught.value


def test_a_version_that_crashes_is_refused_with_its_last_words(past: Path, tmp_path: Path) -> None:
    error = ended(past, program(tmp_path / "new", "echo Out of memory. >&2\nexit 1\n", "/bin/sh"))
    assert error.what == "It ended before it answered its first line. Its last words: Out of memory."


def test_of_last_words_without_end_the_end_is_told(past: Path, tmp_path: Path) -> None:
    text = "head -c 9000000 /dev/zero >&2\necho Out of memory. >&2\nexit 1\n"
    error = ended(past, program(tmp_path / "new", text, "/bin/sh"))
    assert error.what.endswith("Out of memory.")
    assert len(error.what) < 1200


def test_what_cannot_be_run_is_refused_and_nothing_is_left_running(past: Path, tmp_path: Path) -> None:
    error = ended(past, program(tmp_path / "unread", "", "/nowhere"))
    assert (error.code, "cannot be run as this account" in error.what) == ("rehearsal_failed", True)
    mark = tmp_path / "pid"
    hangs = program(tmp_path / "new", f"echo $$ > {mark}.new; mv {mark}.new {mark}; sleep 600\n", "/bin/sh")
    with raising("rehearsal_failed"):
        rehearse(hangs, past, beside(past), None, None, None, judge_by="/nowhere/bin/python3")
    assert not mark.exists() or not Path(f"/proc/{mark.read_text().strip()}").exists()


@needs_root
def test_a_version_that_writes_to_the_journal_cannot(past: Path) -> None:
    folder = Path(tempfile.mkdtemp())  # where anybody may pass, so that modes alone keep the journal
    try:
        copy = Path(shutil.copyfile(past, folder / "table.journal"))
        folder.chmod(0o755)
        copy.chmod(0o600)
        before = copy.read_bytes()
        error = ended(copy, program(folder / "new", f"echo no row >> {copy}\ncat {copy}\n", "/bin/sh"), "nobody")
        assert error.what.count("Permission denied") == 2
        assert copy.read_bytes() == before
    finally:
        shutil.rmtree(folder)


def test_what_hangs_is_ended_with_all_that_it_started(past: Path, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    text = f"sleep 600 & echo $! > {mark}; echo nothing; sleep 600\n"
    assert ended(past, program(tmp_path / "new", text, "/bin/sh")).code == "rehearsal_failed"
    stat = Path(f"/proc/{mark.read_text().strip()}/stat")
    eventually_now(lambda: not stat.exists() or ") Z " in stat.read_text())


# The switch.


def test_the_version_that_runs_judges_and_not_the_one_before_that_does_the_switch(
    past: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        program(tmp_path / name, "read line\n", "/bin/sh")
    for link, name in (("before", "a"), ("current", "b")):
        (tmp_path / link).symlink_to(name)
    python = tmp_path / "b" / "bin" / "python3"
    python.write_text("""#!/bin/sh\necho '["B has judged."]' >&2\n""", "utf-8")
    python.chmod(0o755)

    def under_this_account(version: Path, *of: Any) -> str:
        journal, archives, most, account, nobody, judge_by = of
        assert (account, nobody) == ("table-controller", "nobody")
        return rehearse(version, journal, archives, most, None, None, judge_by)

    table = tmp_path / "table.toml"
    table.write_text(f"[journal]\npath = '{past}'\nsigning_key = 'key'\n", "utf-8")
    monkeypatch.setenv("TABLE_CONTROLLER_TABLE", str(table))
    monkeypatch.setattr(versions, "FOLDER", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(versions, "rehearse", under_this_account)
    assert versions._rehearsed(tmp_path / "c") == "B has judged."


@pytest.mark.parametrize("text", [None, b"", b"[journal", b"\xff"])
def test_a_tables_file_that_does_not_say_where_the_journal_is_refuses_the_version(
    text: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "table.toml"
    if text is not None:
        table.write_bytes(text)
    monkeypatch.setenv("TABLE_CONTROLLER_TABLE", str(table))
    with raising("rehearsal_failed") as caught:
        versions._rehearsed(tmp_path)
    assert "does not say where the journal is" in caught.value.what


def test_a_person_rehearses_a_folder_and_switches_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = load(simulated_table(tmp_path, 1)).rules
    table = stopped_table(tmp_path, [ShoeOpened(1, "dealer", rules, "digest", "test"), ShoeClosed("A. Nguyen")])
    table.write_text(table.read_text("utf-8") + "\n[news]\n", "utf-8")
    with raising("config_invalid"):
        load(table)  # written for the new version already
    monkeypatch.setenv("TABLE_CONTROLLER_TABLE", str(table))
    monkeypatch.setattr(versions, "FOLDER", tmp_path / "none")
    new = program(tmp_path / "new", OURS)
    assert main(["update", "--rehearse", str(new)]) == 0
    assert capsys.readouterr().out == "1 shoe with 2 events told again, each event the same.\n"
    assert main(["update", "--rehearse", "9.9.9"]) == 1
    assert capsys.readouterr().err.startswith("version_unknown: ")


def test_what_this_version_declares_is_in_the_form_that_it_takes_itself() -> None:
    assert declared() == ()
