"""Stress tests of whole processes: whatever is killed or cut, each event counts at the pit once, in order, to the cent.

The same seed gives the same schedule of kills and cuts. What the processes are doing at those moments still differs
from run to run.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from controller.pit.reference.ledger import Ledger
from tests.fire import cuts, noted, reckoning, terms
from tests.fire.dealing import SecondDealer
from tests.fire.floor import LISTENED_TO, TERMS, Floor, came_true, heads, notes
from tests.fire.reckoning import Books
from tests.fire.schedule import ENDINGS, Strike, Victim, of_table, strikes

_EXPECTED_FAULTS = {"shoe_unheard", "shoe_unplugged"}
_EXPECTED_ALARMS = {"hit_unheard", "award_impossible", "pit_link_lost", "pit_link_back"}
"""Nobody listens while the pit is down, which the table tells afterwards; a table that starts after a hit has not heard
all its meter showed."""
_MAY_TELL = ("award_disputed", "wins_put_in_order", "win_came_late", "lock_heard_late", "many_voids")
"""Alarms of the pit about tables that were cut off, or whose people void rounds in which they were cut off. The house
must know of them."""
_DO = (
    "Compare the amount|Read the amounts anew|Find out why the table's events|The table was cut off|Look at the film of"
)
_PIT_SAYS = re.compile(rf"pit: .*|fire-\d\d \d+ [a-z_]+|({'|'.join(_MAY_TELL)}): .*|  what to do: ({_DO}),? .*")
_LAST_ROUNDS = 3  # are dealt between the younger of the copies and its return


@dataclass(frozen=True)
class Size:
    """The size of a stress test, and the minimum of trouble that it must meet, because a test without trouble proves
    nothing.

    At least `events` events were sent, and `resent` of them more than once. There were about `cuts` cuts of each kind,
    and `between` cuts at each step between an event and its acknowledgement. At least `decided` awards were decided. At
    least `kept` cards were shown before a kill, and so had to be kept. `cut_rate` says how many times more often than
    usual connections are cut.
    """

    tables: int
    rounds: int
    kills: Mapping[Victim, int]
    events: int
    resent: int
    cuts: int
    between: int
    decided: int
    kept: int
    cut_rate: int


SAMPLE = Size(
    tables=2,
    rounds=26,
    kills={"daemon": 1, "broker": 1, "pit": 1, "absence": 1, "cable": 1, "freeze": 1},
    events=110,
    resent=20,
    cuts=1,
    between=0,  # what a cut meets in so short a time is chance
    decided=0,
    kept=0,
    cut_rate=8,
)
_EACH_CUT_SOON = 283  # by this seed the links' first connections suffer every kind of cut within a few kB

PROOF = Size(
    tables=4,
    rounds=600,
    kills={"daemon": 40, "broker": 38, "pit": 38, "absence": 40, "cable": 30, "freeze": 30},
    events=7_000,
    resent=1_000,
    cuts=10,
    between=2,
    decided=1,
    kept=40,
    cut_rate=2,
)


@pytest.mark.long
def test_in_a_sample_nothing_is_lost_or_doubled_whatever_is_killed_or_cut(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    _play(_EACH_CUT_SOON, SAMPLE, tmp_path, figure)


@pytest.mark.proof
def test_nothing_is_lost_or_doubled_whatever_is_killed_or_cut(
    request: pytest.FixtureRequest, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    _play(request.config.getoption("--fire-seed"), PROOF, tmp_path, figure)


def _play(seed: int, size: Size, tmp_path: Path, figure: Callable[[str], None]) -> None:
    print(f"the fire's seed is {seed}")  # the whole schedule follows from it, and not what it meets
    with ExitStack() as ends:
        floor = Floor(tmp_path, seed, size.tables, size.cut_rate)
        evening = Evening(floor, seed, size)
        ends.callback(evening.close)
        ends.callback(floor.close)
        evening.run(figure)


class Evening:
    """One stress test on a gaming floor: deal rounds while programs are killed and connections cut, wait until
    everything has settled, judge the result, and then put older copies of the journals back."""

    def __init__(self, floor: Floor, seed: int, size: Size) -> None:
        self._floor = floor
        self._size = size
        self._folder = floor.folder
        self._over = threading.Event()  # also where one table failed
        self._steps = 0  # of the tables' deliveries, each a step of the model that may be of many events
        schedule = strikes(seed, size.tables, size.rounds, size.kills)
        self._dealers = [
            SecondDealer(table, seed, of_table(place, schedule), self._hurt) for place, table in enumerate(floor.tables)
        ]

    def run(self, figure: Callable[[str], None]) -> None:
        """Run the stress test: deal under trouble, wait until everything has settled, judge the result, and then put
        older copies of the journals back. `figure` is called with a line of figures for the test report."""
        began_s = time.monotonic()
        self._floor.open()
        with ThreadPoolExecutor(len(self._dealers)) as pool:
            try:
                for future in as_completed([pool.submit(self._deal, place) for place in range(len(self._dealers))]):
                    future.result()
            finally:
                self._over.set()
        dealt_s = time.monotonic()
        self._floor.settle(self._accept)
        settled_s = time.monotonic()
        events = self._judge()
        self._tell(figure, events, dealt_s - began_s, settled_s - dealt_s)
        self._turn_disks_back()

    def close(self) -> None:
        """Unplug the simulated shoes of all tables."""
        for dealer in self._dealers:
            dealer.unplug()

    def _hurt(self, strike: Strike) -> None:
        victim = self._floor.broker if strike.victim == "broker" else self._floor.pit
        victim.kill(strike.down_s)

    def _accept(self, table: str, award: str, cents: int) -> None:
        next(dealer for dealer in self._dealers if dealer.table_id == table).accept_award(award, cents)

    def _copy(self, place: int) -> Path:
        return self._folder / f"copy-{place}"

    def _deal(self, place: int) -> None:
        """Deal all the rounds of table number `place`, and copy its journal after half of them."""
        dealer, rounds = self._dealers[place], self._size.rounds
        for number in range(rounds):
            if number == rounds // 2:
                dealer.change_disk(copy=self._copy(place))
            if not self._over.is_set():
                dealer.deal(1)

    # The judgement.

    def _judge(self) -> int:
        """Judge what tables and pit have recorded, and return the number of events. Raises AssertionError if anything
        is wrong."""
        floor = self._floor
        books = Books(floor.ledger)
        journals = {table.table_id: reckoning.messages(table.journal) for table in floor.tables}
        findings = list(floor.wrong)
        for table, dealer in zip(floor.tables, self._dealers, strict=True):
            table.verify()
            sent = journals[table.table_id]
            findings += reckoning.contract_findings(table.table_id, sent)
            findings += reckoning.stream_findings(table.table_id, sent, books)
            findings += reckoning.felt_findings(table.table_id, sent, dealer.dealt)
            findings += reckoning.hit_findings(table.table_id, sent, dealer.dealt, dealer.combinations)
            findings += reckoning.award_findings(table.table_id, sent, books)
            findings += self._unexpected(table.table_id, sent, table.log)
            steps, strange = noted.findings(table.table_id, notes(floor.folder / table.table_id), sent)
            self._steps += steps
            findings += strange
        assert findings == []
        reckoned = reckoning.reckon(journals, books, terms.exact(TERMS))
        findings += reckoning.money_findings(reckoned, books)
        with closing(Ledger(floor.ledger)) as ledger:
            findings += ledger.account().findings
            shown = ledger.levels()
        findings += [f"the pit has the alarm {code}: {what}" for code, what in books.alarms if code not in _MAY_TELL]
        findings += [f"the pit says {line}" for line in self._pit_lines() if not _PIT_SAYS.fullmatch(line)]
        for dealer in self._dealers:
            came_true(partial(_shows, dealer, shown), 10, floor.picture)
        assert findings == []
        return sum(map(len, journals.values()))

    def _unexpected(self, table: str, sent: list[bytes], log: str) -> list[str]:
        codes = Counter((event["type"], event["code"]) for event in map(json.loads, sent) if "code" in event)
        known = {("fault", code) for code in _EXPECTED_FAULTS} | {("fault_cleared", code) for code in _EXPECTED_FAULTS}
        known |= {("alarm", code) for code in _EXPECTED_ALARMS}
        print(table, dict(codes))
        found = [f"{table}: {kind} {code}" for kind, code in codes if (kind, code) not in known]
        return found + [f"{table}: {line}" for line in log.splitlines() if "Traceback" in line]

    def _pit_lines(self) -> list[str]:
        return self._floor.pit_log.read_text("utf-8", "replace").splitlines()

    def _tell(self, figure: Callable[[str], None], events: int, dealt_s: float, settled_s: float) -> None:
        """Check that enough was killed and cut in the stress test, and call `figure` with a line of its figures."""
        floor, size = self._floor, self._size
        kills: Counter[Victim] = Counter({"broker": floor.broker.kills, "pit": floor.pit.kills})
        for dealer in self._dealers:
            kills += dealer.struck
        assert all(kills[victim] >= count for victim, count in size.kills.items()), kills
        assert events >= size.events
        assert floor.decided >= size.decided, f"only {floor.decided} awards were decided"
        assert floor.audits == kills["pit"], f"{floor.audits} audits of {kills['pit']} kills"
        rounds = [round_ for dealer in self._dealers for round_ in dealer.dealt]
        kept = sum(dealer.kept for dealer in self._dealers)
        asked = sum(round_.voided and round_.sure for round_ in rounds)
        struck = sum(round_.voided and not round_.sure for round_ in rounds)
        assert kept >= size.kept, f"only {kept} cards were shown before a kill"
        suffered = Counter(kind for link in floor.links for kind, _ in link.suffered.elements())
        delays = suffered.pop("delay", 0)
        assert suffered.total() >= size.cuts * len(ENDINGS), f"too few cuts: {suffered}"
        assert all(suffered[kind] >= size.cuts // 2 for kind in ENDINGS), f"too few cuts of a kind: {suffered}"
        log = floor.broker_log.read_text("utf-8", "replace")
        links = zip([table.table_id for table in floor.tables], floor.table_links, strict=True)
        fallen = cuts.places(log, [(table, cut) for table, link in links for cut in link.cuts])
        assert all(fallen[place] >= size.between for place in (cuts.BEFORE_PUBACK, cuts.BEFORE_ACK)), fallen
        disputed = sum(code == "award_disputed" for code, _ in Books(floor.ledger).alarms)
        resent = len(re.findall(r"Received PUBLISH from \S+ \(.*'pit/v1/[^/]+/event'", log)) - events
        assert resent >= size.resent, f"only {resent} events were sent again"
        assert floor.heard.keys() == {topic.rpartition("/")[2] for topic in LISTENED_TO}, floor.heard
        where = ", ".join(f"{count} times {place}" for place, count in fallen.items())
        figure(
            f"{events} events of {len(rounds)} rounds at {size.tables} tables; "
            f"{kills.total()} kills and absences ({', '.join(f'{count} {name}' for name, count in kills.items())}); "
            f"{suffered.total()} cuts ({', '.join(f'{count} {kind}' for kind, count in sorted(suffered.items()))}), "
            f"{delays} delays; a table's link was cut {where}; "
            f"{asked} rounds voided as drawn and {struck} that a kill of the daemon broke, each of {kept} cards shown "
            f"before a kill is there after it; {resent} events sent again; {floor.decided} awards decided, {disputed} "
            "disputed and accepted by two people, "
            f"{floor.audits} audits of a killed pit; "
            f"an event waited {floor.longest_wait_s:.0f} s at most for the pit, all was told "
            f"{settled_s:.0f} s after the last trouble; every event and {floor.heard.total()} other messages keep the "
            f"contract; {self._steps} steps of the deliveries are walks of the model; "
            f"{dealt_s:.0f} s of dealing; 0 lost, 0 doubled, 0 out of order"
        )

    # The disks go back in time.

    def _turn_disks_back(self) -> None:
        """Replace each table's journal by an older copy, and check that each table notices that its journal is behind
        the pit. The copy is from the middle of the test or from three rounds ago.

        A table with a copy from three rounds ago then deals on without the pit. In this way it makes different events
        with numbers that the pit already knows.
        """
        deals_on = self._dealers[::2]
        for place, dealer in enumerate(self._dealers):
            if dealer in deals_on:
                dealer.change_disk(copy=self._copy(place))
                dealer.deal(_LAST_ROUNDS)
        self._floor.settle(self._accept)
        before = self._ledger_rows()
        committed = heads(self._floor.ledger, "SELECT table_id, max(seq) FROM event GROUP BY table_id")
        for place, (dealer, link) in enumerate(zip(self._dealers, self._floor.table_links, strict=True)):
            if dealer in deals_on:
                link.shut()
            dealer.change_disk(restore=self._copy(place))
            if dealer in deals_on:
                while dealer.status()["pit"]["head_seq"] <= committed[dealer.table_id]:
                    dealer.deal(1)
                link.reopen()
            dealer.end_shoe()
            came_true(partial(_is_behind, dealer), 20, self._floor.picture)
            details = dealer.status()["face"]["fault"]["details"]
            assert details["chain"] == ("differs" if dealer in deals_on else "unknown"), details
        assert self._ledger_rows() == before
        with closing(Ledger(self._floor.ledger)) as ledger:
            assert ledger.account().findings == ()
        assert self._floor.wrong == []

    def _ledger_rows(self) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(f"file:{self._floor.ledger}?mode=ro", uri=True)) as db:
            tables = ("event", "entry", "fund", "award", "step", "alarm", "adoption")
            return [row for table in tables for row in db.execute(f"SELECT '{table}', * FROM {table}")]


def _is_behind(dealer: SecondDealer) -> bool:
    fault = dealer.status()["face"]["fault"]
    return fault is not None and fault["code"] == "journal_behind_pit"


def _shows(dealer: SecondDealer, levels: Mapping[str, int]) -> bool:
    return bool(dealer.status()["pit"]["meters"] == levels)
