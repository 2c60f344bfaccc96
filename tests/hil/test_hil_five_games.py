"""Plays a shoe of each game, with wagers, through every connection of the table. The tests compare the account of the
project's own pit with the account of the simulated house, to the cent.

The simulated people deal, wager, choose and pay. Their house judges and pays with its own code, written from the rule
sheets. The events that the pit committed must agree with the house's account.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import pytest

from controller.bench.broker_certs import TABLE
from controller.bench.daemon import (
    ROOT,
    Broker,
    ExistingBroker,
    Table,
    TableFiles,
    comes_true,
    pit_options,
    pit_section,
)
from controller.bench.far_pit import Event
from controller.bench.header import Pins
from controller.people.cli import programs

_A_SHOE_S = 180
_ODD_CENTS = {"wagers": {"increment_cents": 1}}
_TO_THE_QUARTER: dict[str, dict[str, Any]] = {
    "wagers": {"increment_cents": 25},
    "rounding": {"unit_cents": 25, "pays": "down", "commission": "down"},
}
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Evening:
    """The table, cards and length of one test: an example table with changes, the seed of the cards, and the number of
    rounds. If the number is None, a whole shoe is played."""

    table: str
    seed: int = 7
    rounds: int | None = None
    game: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)


_CORRECTED = {"game": str(programs.example_game("baccarat_royal_corrected"))}
_SHEETS = ("royal9", "kansas_star", "sugarhouse", "sugarhouse_midi", "baccarat_royal", "lucky9")
_TABLES = sorted(path.stem for path in programs.EXAMPLE_TABLE.parent.glob("*.toml"))
_OTHERWISE: dict[str, dict[str, dict[str, Any]]] = {
    "baccarat_royal": {
        "baccarat_royal": {"on_win": "loser_to_next_seat", "on_tie": "free_seat", "deal_order": "alternating"},
        "shoe": {"hands_after_cut_card": 2, "hands_after_cut_card_first": 3},
    },
    "lucky9": {
        "lucky9": {
            "pair": "value",
            "most_splits": 2,
            "dealer_draws_on": [0, 1, 2, 3, 4, 5],
            "deal_order": "dealer_first",
            "first_seat": "highest",
            "dealer_shows": "first_card",
            "split_order": "rightmost_first",
        }
    },
}
_EVENINGS = [
    # Of every table a whole shoe and its end with the proof.
    pytest.param(Evening("lucky9", rounds=4), id="lucky9"),
    pytest.param(Evening("royal9", rounds=4), id="royal9"),
    pytest.param(Evening("sugarhouse_midi", rounds=4), id="sugarhouse_midi"),
    pytest.param(Evening("sugarhouse", rounds=8), marks=pytest.mark.proof, id="sugarhouse"),
    pytest.param(Evening("baccarat_royal", rounds=4), id="baccarat_royal"),
    # A house written in TOML alone, with a tableau of its own; all of them with the proof.
    pytest.param(Evening("even_draw", rounds=4), id="even_draw"),
    # What the increments of these tables would never let be rounded.
    *(
        pytest.param(Evening(table, rounds=8, game=_ODD_CENTS), marks=pytest.mark.proof, id=f"{table} in odd cents")
        for table in ("kansas_star", "baccarat_royal", "lucky9")
    ),
    pytest.param(Evening("baccarat_royal", keys=_CORRECTED), marks=pytest.mark.proof, id="corrected, proof"),
    # Houses that have it otherwise.
    pytest.param(Evening("grand_fortune", rounds=8, game=_TO_THE_QUARTER), marks=pytest.mark.proof, id="quarters"),
    *(
        pytest.param(Evening(table, rounds=20, game=game), marks=pytest.mark.proof, id=f"{table} otherwise")
        for table, game in _OTHERWISE.items()
    ),
    *(pytest.param(Evening(table, seed=70), marks=pytest.mark.proof, id=f"{table}, proof") for table in _TABLES),
]


@pytest.fixture
def evening(request: pytest.FixtureRequest) -> Evening:
    """Return which table, cards and number of rounds this test plays."""
    played: Evening = request.param
    return played


@pytest.fixture
def bench_table_files(
    request: pytest.FixtureRequest, evening: Evening, tmp_path: Path, broker: Broker | ExistingBroker, shim: Path | None
) -> TableFiles:
    """Return the configuration files of the evening's table. The simulated people press buttons and see lamps through
    the pins page, and have a shoe on a pty."""
    if request.config.getoption("--shoe") or request.config.getoption("--gpio") == "real":
        pytest.skip("the simulated people use the pins page and a pty alone")
    return TableFiles(
        tmp_path,
        TABLE if broker.certs else f"five-{os.getpid()}-{next(_numbers)}",
        broker.port,
        shim,
        None,
        programs.example_table(evening.table),
        table={"bet_recognition": True} | evening.keys,
        pit=pit_section(broker),
        pins={"debounce_ms": 5},  # the people press some hundred times a shoe, and wait each time to be believed
        **({"game": evening.game} if evening.game else {}),
    )


@pytest.fixture
def ledger(broker: Broker | ExistingBroker, tmp_path: Path) -> Iterator[Path]:
    """Run the project's own pit, and yield the path of its ledger."""
    ledger = tmp_path / "pit"
    command = ["-m", "controller.pit.reference", "run", *pit_options(broker), "--ledger", str(ledger)]
    log = tmp_path / "pit.log"
    with programs.started(programs.python(*command, "--adopt-new"), log):
        # Until then a broker that runs on retains the key of an earlier test's pit, and the table would pin that one.
        assert comes_true(lambda: "connected to the broker" in log.read_text("utf-8"), 20), log.read_text("utf-8")
        yield ledger


@dataclass
class Accounts:
    """Two accounts of the same rounds of the first shoe: the simulated house's and the pit's."""

    house: list[dict[str, Any]]
    pit: list[Event]

    def both(self, type_: str) -> list[tuple[Event, dict[str, Any]]]:
        """Return pairs of the entries of this type: the pit's entry, and the house's entry for the same thing. Raises
        ValueError if the two accounts do not have equally many entries."""
        pits = [event for event in self.pit if event["type"] == type_]
        return list(zip(pits, [line for line in self.house if line["type"] == type_], strict=True))


@pytest.fixture
def accounts(
    evening: Evening, table_files: TableFiles, ledger: Path, unstarted_table: Table, pins: Pins, tmp_path: Path
) -> Accounts:
    """Play the whole evening, and return the house's and the pit's accounts of it."""
    table = unstarted_table
    table.start()
    assert comes_true(lambda: _pit_is_up(table), 20), table.log_tail()
    account, log = tmp_path / "account", tmp_path / "people.log"
    command = ["-m", "drivers.sim", str(table_files.for_people), "--account", str(account)]
    command += ["--seed", str(evening.seed), "--speed", "0", "--error-rate", "0.05", "--patience", "20"]
    command += ["--rounds", str(evening.rounds)] if evening.rounds else []

    def over() -> bool:
        if dealing.poll() is not None:
            assert dealing.returncode == 0, log.read_text("utf-8") + table.log_tail()
            return True
        return account.exists() and account.read_bytes().count(b'"shoe_opened"') > 1

    with programs.started(programs.python(*command), log) as dealing:
        assert comes_true(over, _A_SHOE_S), table.log_tail()
    assert comes_true(lambda: table.unacknowledged() == 0, 20), table.log_tail()
    return Accounts(
        [line for line in _lines(account) if line["shoe"] == 1],
        [event for event in _committed(ledger, table.table_id) if event["shoe"] == 1],
    )


def _pit_is_up(table: Table) -> bool:
    pit = table.status().pit
    return bool(pit.stream == "streaming" and pit.meters_fresh)


def _lines(account: Path) -> list[dict[str, Any]]:
    whole = account.read_text("utf-8").rpartition("\n")[0] if account.exists() else ""
    return [json.loads(line) for line in whole.splitlines()]


def _committed(ledger: Path, table: str) -> list[Event]:
    """Return the table's events that the pit has committed to its ledger, in order."""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT body FROM event WHERE table_id = ? ORDER BY seq", (table,)).fetchall()
    return [json.loads(body) for (body,) in rows]


@pytest.mark.long
@pytest.mark.parametrize("evening", _EVENINGS, indirect=True)
def test_the_pits_account_of_a_shoe_is_the_houses_to_the_cent(
    evening: Evening, accounts: Accounts, ledger: Path, unstarted_table: Table, figure: Callable[[str], None]
) -> None:
    for number, (event, line) in enumerate(accounts.both("wagers_locked"), 1):
        for what in ("wagers", "refused"):
            assert _in_one_order(event[what]) == _in_one_order(line[what]), f"{what} of round {number}"
    for number, (event, line) in enumerate(accounts.both("round"), 1):
        _settles_the_traditional_first(event, _optional(evening))
        assert _in_the_houses_words(event) == _sorted(line), f"round {number}"
        _balances(line["settlement"])
    for event, line in accounts.both("commission"):
        assert {key: event[key] for key in line} == line
    for event, line in accounts.both("shoe_closed"):
        assert {key: event[key] for key in line} == line
        assert event["reason"] == "final_round"
    types = Counter(event["type"] for event in accounts.pit)
    assert not types.keys() & {"fault", "alarm", "void"}, types
    _is_an_evening(evening, accounts)
    drawn_up = programs.python("-m", "controller.pit.reference", "account", "--ledger", str(ledger))
    told = subprocess.run(drawn_up, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    awarded, levels = _reckoned_meters(evening, accounts.house)
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as db:
        of_the_shoe = "SELECT cents FROM award JOIN hand ON hand.number = hand WHERE shoe = 1 ORDER BY award.number"
        assert [cents for (cents,) in db.execute(of_the_shoe)] == awarded
        if evening.rounds:  # otherwise wagers of a next shoe may have come
            on_them = dict(db.execute("SELECT substr(account, 7), cents FROM fund WHERE account LIKE 'meter:%'"))
            assert on_them == levels
    settled = _settled(accounts)
    staked = sum(wager["cents"] for wager in settled)
    figure(f"{types['round']} rounds, {len(settled)} wagers of {staked / 100:,.2f} compared, none a cent off")


def _reckoned_meters(evening: Evening, house: list[dict[str, Any]]) -> tuple[list[int], dict[str, int]]:
    """Compute what the meters should have done: every award in cents, and each meter's level at the end. The figures
    come from the house's account and from the files of the game and the pit."""
    table = tomllib.loads(programs.example_table(evening.table).read_text("utf-8"))["table"]
    game = evening.keys.get("game", programs.example_table(evening.table).parent / table["game"])
    bets = {bet["spot"]: bet for bet in tomllib.loads(Path(game).read_text("utf-8"))["bets"]}
    terms = tomllib.loads((ROOT / "config" / "pit.toml").read_text("utf-8"))["meters"]
    level = {name: Fraction(meter["seed_cents"]) for name, meter in terms.items()}
    reserve = dict.fromkeys(terms, Fraction(0))
    awarded: list[int] = []
    for line in (line for line in house if line["type"] == "round"):
        for on in line.get("progressive", ()):
            bet = bets[on["spot"]]
            for name in {row["meter"] for row in bet["rows"] if "meter" in row}:
                staked = bet["price_cents"] * len(on["seats"])
                level[name] += staked * _part(terms[name]["contribution"])
                reserve[name] += staked * _part(terms[name]["reserve"])
        won = [_row(bets, award) for award in line.get("awards", ())]
        shares = [(row.get("meter"), _part(row.get("share", "1:1"))) for row in won]
        locked: dict[Any, int] = {}
        for name, share in shares:
            if name is not None and (name, share) not in locked:
                locked[name, share] = floor(floor(level[name]) * share)
                level[name] -= locked[name, share]
                if share == 1:
                    from_reserve = min(floor(reserve[name]), terms[name]["seed_cents"])
                    reserve[name] -= from_reserve
                    level[name] += terms[name]["seed_cents"]
        for place, row in enumerate(won):
            sharers, before = shares.count(shares[place]), shares[:place].count(shares[place])
            cents = locked.get(shares[place], 0)
            awarded.append(row["cents"] if "cents" in row else (cents + sharers - 1 - before) // sharers)
    return awarded, {name: floor(exact) for name, exact in level.items()}


def _part(text: str) -> Fraction:
    return Fraction(*map(int, text.split(":")))


def _row(bets: dict[str, Any], won: dict[str, Any]) -> dict[str, Any]:
    (row,) = (row for row in bets[won["spot"]]["rows"] if row.get("award") == won["tier"])
    return dict(row)


def _in_the_houses_words(event: Event) -> dict[str, Any]:
    """Return a round's event in the form in which the simulated house notes a round in its account."""
    envelope = {"id", "contract", "table", "epoch", "seq", "at", "clock_synchronised", "chain", "signature"}
    said = {key: value for key, value in event.items() if key not in envelope}
    assert said.pop("not_read") == [], "the shoe read every card"
    return _sorted(said)


def _sorted(round_: dict[str, Any]) -> dict[str, Any]:
    """Return the round with its settled wagers sorted, so that two accounts of the round can be compared."""
    settlement = round_["settlement"]
    if settlement is None:
        return round_
    return round_ | {"settlement": settlement | {"wagers": _in_one_order(settlement["wagers"])}}


def _in_one_order(wagers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(wagers, key=lambda wager: json.dumps(wager, sort_keys=True))


def _settles_the_traditional_first(event: Event, spots: set[str]) -> None:
    if event["settlement"] is not None:
        optional = [wager["spot"] in spots for wager in event["settlement"]["wagers"]]
        assert optional == sorted(optional)


def _optional(evening: Evening) -> set[str]:
    return {bet["spot"] for bet in _bets(evening) if bet.get("optional")}


def _bets(evening: Evening) -> list[dict[str, Any]]:
    table = tomllib.loads(programs.example_table(evening.table).read_text("utf-8"))
    game = programs.example_table(evening.table).parent / table["table"]["game"]
    return list(tomllib.loads(game.read_text("utf-8"))["bets"])


def _balances(settlement: dict[str, Any] | None) -> None:
    """Check that the settlement of a round balances: each stake went back, to the house, or into commission, and each
    total is the sum of its wagers."""
    if settlement is None:
        return
    totals, wagers = settlement["totals"], settlement["wagers"]
    assert totals["staked_cents"] == (
        totals["returned_cents"] + totals["house_cents"] + totals["commission_taken_cents"]
    )
    assert totals["staked_cents"] == sum(wager["cents"] for wager in wagers)
    assert totals["returned_cents"] == sum(wager["returned_cents"] for wager in wagers)
    commission = totals["commission_taken_cents"] + totals["commission_owed_cents"]
    assert commission == sum(wager["commission_cents"] for wager in wagers)


def _settled(accounts: Accounts) -> list[dict[str, Any]]:
    settlements = [event["settlement"] for event in accounts.pit if event["type"] == "round"]
    return [wager for settlement in settlements if settlement for wager in settlement["wagers"]]


def _is_an_evening(evening: Evening, accounts: Accounts) -> None:
    """Check that enough happened in the evening for the comparison to mean something. If a whole shoe was played, check
    too that all owed commission was paid at its end."""
    settled, locked = _settled(accounts), [line for line in accounts.house if line["type"] == "wagers_locked"]
    if evening.rounds is None:
        assert accounts.both("shoe_closed")
        owed = sum(
            event["settlement"]["totals"]["commission_owed_cents"]
            for event in accounts.pit
            if event["type"] == "round" and event["settlement"]
        )
        assert owed == sum(event["cents"] for event, _ in accounts.both("commission"))
        spots = {bet["spot"] for bet in _bets(evening)}
        assert {wager["spot"] for wager in settled} == spots, "somewhere nobody wagered"
        if evening.table in _SHEETS:  # side bets of other houses win too seldom for one shoe
            won = {wager["spot"] for wager in settled if wager["result"] == "won"}
            assert won == spots, "somewhere nobody won: choose another seed"
        assert any(line["refused"] for line in locked), "nothing was refused at lock: choose another seed"
        assert any(line["refused_at_once"] for line in locked), "nothing was refused at once: choose another seed"
    if evening.game == _ODD_CENTS:
        assert any(wager["cents"] % 2 and wager["returned_cents"] % 100 for wager in settled)
    assert {wager["result"] for wager in settled} >= {"won", "lost"}
