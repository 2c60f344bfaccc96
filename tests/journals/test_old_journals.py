"""Checks that journals which earlier commits wrote can still be read, replayed and continued."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.basics.errors import TableError
from controller.contract import events as events_of
from controller.contract.envelope import Stamp
from controller.contract.face.table import Public
from controller.contract.keys import load_or_make_key
from controller.daemon.clock import stamp_now
from controller.daemon.config import load
from controller.daemon.control.past import Past
from controller.daemon.record.archive import beside
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_form import SCHEMA_VERSION
from controller.daemon.record.journal_reading import read_rows, verify
from controller.daemon.record.journal_rows import Entry
from controller.daemon.record.replay import replay
from controller.people.cli import programs
from controller.people.cli.client import ask, status_of
from controller.people.cli.main import main
from controller.people.screen.figures import past_view
from controller.people.screen.past import Past as PastOfScreen
from controller.rules.game.bets import Bet, Row
from controller.rules.game.cards import Card
from controller.rules.game.hands import SeatHand, SeatHands
from controller.rules.game.seating import NOBODY
from controller.table.acts.stopped import FaultCleared
from controller.table.facts import CardDrawn, CardKept, CommitFailed, CutCardDrawn, ShoeOpened, ShoeResultReported
from controller.table.public import public
from controller.table.states import KnownCard, Table
from controller.table.step import step
from tests.journals.old_journals import NAMES, OF_0F50807, OldJournal, copied, original
from tests.support.bets import bets_of, decided
from tests.support.tables import LUCKY9, cards

TABLES = Path(__file__).parents[2] / "config" / "tables"


@pytest.mark.parametrize("name", [*NAMES, *OF_0F50807])
def test_a_table_goes_on_from_it(name: str, tmp_path: Path) -> None:
    old = copied(name, tmp_path)
    read = verify(old.journal)
    rows = list(read_rows(old.journal))
    opened = [row.fact for row in rows if isinstance(row.fact, ShoeOpened)]
    knows_how = name in OF_0F50807
    assert all((row.via, row.stamp.boot_id) == ("", "") or knows_how for row in rows), "form 1 knows nothing of this"
    key = load_or_make_key(old.key)
    journal = Journal(old.journal, read.table, key, key.public)
    table, differs = replay(journal.open_shoe(), load(TABLES / "royal9.toml").rules, read.table, journal.epoch)
    assert differs is None
    assert table.shoe is not None
    assert table.rules == opened[-1].rules, "an open shoe folds under the rules it opened with"
    assert table.rules.procedure == (2 if name in OF_0F50807 else 1)
    assert (table.recognition_key, table.wager_seq) == (None, 0), "the network wagers nothing before a key is adopted"

    fact, stamp = CommitFailed("disk full"), stamp_now()
    journal.append([Entry(stamp, fact, step(table, fact)[1], "controller")])
    journal.close()
    again = verify(old.journal)
    assert (again.rows, again.epoch) == (read.rows + 1, read.epoch)
    last = list(read_rows(old.journal))[-1]
    assert (last.fact, last.stamp, last.via) == (fact, stamp, "controller")
    with closing(sqlite3.connect(old.journal)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


def test_an_open_shoe_folds_by_the_procedure_of_then(tmp_path: Path) -> None:
    """A shoe that an earlier version left open is replayed by that version's procedure. By the old procedure, a result
    that the shoe reported from kept cards stopped the table, and a card that the shoe kept is the next round's first
    card."""
    old = copied("royal9-kept", tmp_path)
    facts = [row.fact for row in read_rows(old.journal)]
    assert {ShoeResultReported, FaultCleared, CutCardDrawn, CardKept} <= set(map(type, facts))
    table = opened_again(old)
    assert (table.fault, [str(known.card) for known in table.kept]) == (None, ["7C"])
    for fact in (CardDrawn(Card.parse("4D")), CardDrawn(Card.parse("5H"))):
        table, _ = step(table, fact)
    assert (public(table).phase, table.kept) == ("round_in_play", (KnownCard(Card.parse("7C")),))
    _, events = step(table, CardDrawn(Card.parse("6H")))
    assert [type(event) for event in events] == [events_of.Round, events_of.ShoeClosed]


def opened_again(old: OldJournal) -> Table:
    """Replay the open shoe of an old journal, check that its events come out as they were stored, and return the
    table's state."""
    key = load_or_make_key(old.key)
    whose = verify(old.journal).table
    journal = Journal(old.journal, whose, key, key.public)
    table, differs = replay(journal.open_shoe(), load(TABLES / "royal9.toml").rules, whose, journal.epoch)
    journal.close()
    assert differs is None
    return table


@pytest.mark.parametrize("name", NAMES)
def test_the_technicians_page_has_its_figures(name: str, tmp_path: Path) -> None:
    """The technician's page of the screen shows the rounds and awards of an old journal. The events of the journal
    reach the screen with today's field names."""

    async def told() -> list[dict[str, Any]]:
        past = Past(original(name), beside(original(name)))

        async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await past.tell(reader, writer)
            writer.close()

        async with await asyncio.start_unix_server(met, tmp_path / "past"):
            screen = PastOfScreen(tmp_path / "past")
            await screen.catch_up("epoch")
            return screen.events

    events = asyncio.run(told())
    view = past_view(events)
    assert len(view["rounds"]) == sum(event["type"] in ("round", "void") for event in events) > 0
    assert [won["seat"] for won in view["awards"]] == [e["seat"] for e in events if e["type"] == "hit"][::-1][:20]


def table_over(old: OldJournal, name: str, folder: Path) -> Path:
    """Write the file of a simulated table that continues this old journal, and return the file's path."""
    game = name.rpartition("/")[2].partition("-")[0].removesuffix("_corrected")
    changes: dict[str, dict[str, Any]] = {
        "table": {"id": verify(old.journal).table},
        "journal": {"path": str(old.journal), "signing_key": str(old.key)},
    }
    example = programs.example_table(game)
    return programs.simulated_table(folder, programs.free_port(), example, **changes)


SAMPLE = ("lucky9", "royal9-stopped", "0f50807/royal9-restarted")
THE_REST = [pytest.param(name, marks=pytest.mark.proof) for name in [*NAMES, *OF_0F50807] if name not in SAMPLE]


@pytest.mark.parametrize("name", [*SAMPLE, *THE_REST])
def test_the_daemon_goes_on_from_it(name: str, tmp_path: Path) -> None:
    """The table's program starts on an old journal and shows the shoe that was left open. By a supervisor's acts, the
    program then ends the unfinished round and the shoe, and opens the next shoe."""
    old = copied(name, tmp_path)
    read = verify(old.journal)
    shoe = max(row.fact.shoe for row in read_rows(old.journal) if isinstance(row.fact, ShoeOpened))
    table = table_over(old, name, tmp_path)
    with programs.started(programs.python("-m", "controller.people.cli.main", "run", str(table)), tmp_path / "log"):
        face = started(table)
        assert face.shoe == shoe
        for act in ("void", "new_shoe") if face.phase in ("wagers_locked", "round_in_play") else ("new_shoe",):
            supervised(table, act)
        assert started(table).shoe == shoe + 1
    again = verify(old.journal)
    assert (again.epoch, again.table) == (read.epoch, read.table)
    assert again.rows > read.rows


def supervised(table: Path, act: str) -> None:
    """Send a supervisor's act to the running table, with the id of the table's fault. If another fault has come
    meanwhile, send the act again with that fault's id."""
    fault = started(table).fault
    while True:
        try:
            ask(table, {"do": act, "by": "Smith", **({} if fault is None else {"fault": fault.id})})
        except TableError as refused:
            before, fault = fault, started(table).fault
            if refused.code != "fault_unnamed" or fault is None or fault == before:
                raise
        else:
            return


def started(table: Path) -> Public:
    """Wait until the started table answers, and return its public face (what everybody may see of it)."""
    for _ in range(2000):
        with suppress(TableError):
            return status_of(table).face
        time.sleep(0.01)
    raise AssertionError("the table does not answer")


def test_a_shoe_that_this_version_cannot_fold_is_told_with_the_version_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = copied("royal9", tmp_path)
    table = table_over(old, "royal9", tmp_path)
    key = load_or_make_key(old.key)
    journal = Journal(old.journal, verify(old.journal).table, key, key.public)
    unknown = b'{"fact":"ShoeOpened","version":"9.9.9","wheels":3}'
    monkeypatch.setattr("controller.daemon.record.journal.fact_to_json", lambda _: unknown)
    opened = next(row.fact for row in read_rows(original("royal9")) if isinstance(row.fact, ShoeOpened))
    journal.append([Entry(stamp_now(), opened, ())])
    journal.close()
    assert main(["run", str(table)]) == 78, "starting again changes nothing"
    told = capsys.readouterr().err
    assert told.startswith("shoe_of_another_version: The open shoe of the journal was begun by version 9.9.9")
    assert "what to do: Install version 9.9.9 again." in told


@pytest.mark.parametrize(
    "change",
    ["boot_id = 'feed'", "boot_id = ''", "since_boot_ms = since_boot_ms + 1", "via = 'socket'", "via = ''"],
)
def test_how_a_fact_came_is_in_the_chain(change: str, tmp_path: Path) -> None:
    old = copied("royal9", tmp_path)
    key = load_or_make_key(old.key)
    journal = Journal(old.journal, verify(old.journal).table, key, key.public)
    journal.append([Entry(Stamp(1_800_000_000_000, True, "c0ffee", 12), CommitFailed("disk full"), (), "shoe")])
    journal.close()
    rows = verify(old.journal).rows
    with closing(sqlite3.connect(old.journal)) as db:
        db.execute(f"UPDATE fact SET {change} WHERE row = ?", (rows,))
        db.commit()
    with pytest.raises(Exception, match=f"row {rows}: it does not fit the chain"):
        verify(old.journal)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "lucky9"])
def test_the_bets_of_its_shoe_are_those_of_the_game_file(name: str) -> None:
    """The bets stored in an old journal equal the bets of today's game file, row by row of their pay tables. Two things
    are not compared. One is the texts for players. The other is how winning margins (by how many points a hand wins)
    are grouped, because Kansas Star's sheet puts two margins in one row of the pay table."""
    rules = next(row.fact.rules for row in read_rows(original(name)) if isinstance(row.fact, ShoeOpened))
    game = name.partition("-")[0]
    written = tuple(
        replace(bet, rows=tuple(replace(row, words=None) for row in bet.rows))
        for bet in bets_of("baccarat_royal" if game.startswith("baccarat_royal") else game)
    )
    assert _by_spot(rules.bets) == _by_spot(written)


TWO = "AS 8H, KS 9H, 9S KS, 3S 3S, 4H 3H, 2S 4S, KS QH, TS 7H, 5S 5C, 8S KD, 2S 3S"
THREE = "2S 3S 4D, KS QH 9C, 3S 4D 3C, KS KH AC, 9S 3D KC, 5S 6D 8H, 2S AS 2D"
HANDS = [tuple(cards(text)) for text in f"{TWO}, {THREE}".split(", ")]


def test_the_rows_that_are_made_of_lucky_9s_outcomes_decide_as_those_of_the_game_file() -> None:
    """The bets on Lucky 9 in an old journal decide every wager in the same way as today's game file does. Every kind of
    hand of a seat, split or not, is tried against every kind of hand of the dealer."""
    rules = next(row.fact.rules for row in read_rows(original("lucky9")) if isinstance(row.fact, ShoeOpened))
    then, now = ({bet.spot: bet for bet in bets} for bets in (rules.bets, bets_of("lucky9")))
    assert then.keys() == now.keys()
    kinds: set[tuple[str, str]] = set()
    for own, dealer, split in product(HANDS, HANDS, (False, True)):
        if split and len(own) == 3:
            continue
        end = SeatHands(dealer, (SeatHand(3, 1, own, split),), {3: own[:2]})
        (seen,) = LUCKY9.play.seen(end, NOBODY, 3, (None, ()))
        for spot, bet in now.items():
            became = decided(bet, seen)
            assert decided(then[spot], seen) == became, (spot, own, dealer, split)
            kinds.add((spot, became))
    every_row = {spot: {f"{row.pays or row.result}" for row in bet.rows} | {"lose"} for spot, bet in now.items()}
    assert kinds == {(spot, became) for spot, of in every_row.items() for became in of}
    assert [replace(bet, rows=()) for bet in then.values()] == [replace(now[spot], rows=()) for spot in then]


def _by_spot(bets: Sequence[Bet]) -> dict[str, Bet]:
    """Return a dict that maps a spot to its bet, in a form that can be compared. Each winning margin (by how many
    points a hand wins) gets a row of its own in the pay table, and these rows are sorted. Their order has no effect,
    because no two margins hold in the same round."""
    return {bet.spot: replace(bet, rows=tuple(_each_margin(bet.rows))) for bet in bets}


def _each_margin(rows: Sequence[Row]) -> list[Row]:
    each = [replace(row, when=replace(row.when, margin=(margin,))) for row in rows for margin in row.when.margin or ()]
    return [row for row in rows if not row.when.margin] + sorted(each, key=lambda row: row.when.margin or ())
