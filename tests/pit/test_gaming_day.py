"""Checks the pit's figures of each gaming day against the sums of a simulated house, which adds up its own figures.
Also checks that the figures reveal lies by which somebody could gain."""

from __future__ import annotations

import csv
import io
import json
import random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import floor
from pathlib import Path

import pytest

from controller.basics.money import amount
from controller.contract.keys import SigningKey, load_or_make_key, signature_holds
from controller.contract.pit_words import MetersWord
from controller.daemon.config import load
from controller.daemon.record.journal import Journal
from controller.pit.paper.day_file import day_csv, day_page
from controller.pit.reference import clock, day_book
from controller.pit.reference.__main__ import main
from controller.pit.reference.day_book import Day, ParBet, ParSheet
from controller.pit.reference.days import begins_ms, name_of
from controller.pit.reference.house_rules import HouseRules
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.opening import Place, read_only
from controller.rules.game.wagers import Wager
from controller.table.acts.seats import PlaceWager
from tests.pit.evening import EPOCH, KEY, SPOT, TableEvening
from tests.pit.postgresql import over_both
from tests.pit.test_meters import give
from tests.support.errors import raising
from tests.support.tables import SUGARHOUSE, TABLES, TableUnderTest

LOS_ANGELES = HouseRules("America/Los_Angeles", shifts=("06:00", "14:00", "22:00"))
CHANGES = datetime(2026, 3, 8, 10, tzinfo=UTC)  # the clocks of Los Angeles go from 02:00 to 03:00
TERMS = {"big": Terms(100_000, Fraction(1, 3), Fraction(1, 7), 130_000)}
SHEET = ParSheet("A game", "d" * 64, (ParBet("player", (), "1/80", 0.95), ParBet("tie", ("seat 2",), "1/7", 2.6)))


class Clock:
    """The pit's clock, which the test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = datetime(2026, 3, 6, 14, tzinfo=UTC)  # six at the house
        monkeypatch.setattr(clock, "_now_ms", lambda: int(self.now.timestamp() * 1000))

    @property
    def text(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z")


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def ledger(path: Path, wall: Clock) -> Iterator[Ledger]:
    with closing(opened(path, 3)) as ledger:
        yield ledger


def opened(at: Place, tables: int) -> Ledger:
    ledger = Ledger(at)
    ledger.serve()
    ledger.set_house_rules(LOS_ANGELES)
    ledger.set_terms(TERMS)
    for number in range(tables):
        ledger.adopt(f"t-{number}", EPOCH, KEY.public.hex())
        ledger.meet_all([(f"t-{number}", TableEvening(f"t-{number}").state())], adopt_new=False)
    return ledger


def drawn_up(at: Place, name: str, *sheets: ParSheet) -> Day:
    with read_only(at) as db:
        return day_book.draw_up(db, name, sheets)


class OwnMeter:
    """The meter "big" of the simulated house: computes its level and reserve without the pit's code."""

    def __init__(self) -> None:
        self.level, self.reserve = Fraction(100_000), Fraction(0)
        self.voided = 0  # wagers that voids left on it
        self.house = Fraction(0)  # below 0: what voids have cost the house

    def feed(self, wagers: int) -> None:
        self.level += wagers * Fraction(500, 3)
        self.reserve += wagers * Fraction(500, 7)

    def win(self) -> int:
        won, again = floor(self.level), min(floor(self.reserve), 130_000)
        self.level += max(again, 100_000) - won
        self.reserve -= again
        self.voided = 0
        return won

    def void(self, wagers: int) -> int:
        """Void this number of wagers. The money that these wagers added stays on the meter, and the house bears the
        cost. Return that cost in whole cents."""
        self.feed(wagers)
        self.voided += wagers
        return -self._house(-wagers)

    def correct(self) -> int:
        """Subtract from the meter the money that voided wagers had added to it. Return how many whole cents the house
        gets back."""
        wagers, self.voided = self.voided, 0
        self.feed(-wagers)
        return self._house(wagers)

    def _house(self, wagers: int) -> int:
        before = floor(self.house)
        self.house += wagers * (Fraction(500, 3) + Fraction(500, 7))
        return floor(self.house) - before


class SimulatedHouse:
    """A random simulation of tables, dealers and players. It keeps its own sums, and sets the pit's clock forward."""

    def __init__(self, ledger: Ledger, wall: Clock, tables: int, seed: int) -> None:
        self.tally: dict[str, dict[tuple[str, str, str], Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self.paid: dict[str, Counter[str]] = defaultdict(Counter)
        self.meter, self.closing = OwnMeter(), dict[str, tuple[int, int]]()
        self.borne: dict[str, Counter[str]] = defaultdict(Counter)
        self._ledger, self._wall, self._chance = ledger, wall, random.Random(seed)
        self._tables = [TableEvening(f"t-{number}", ["big"]) for number in range(tables)]
        self.names = [table.table for table in self._tables]
        for table in self._tables:
            table.at = wall.text
            self.send(table, table.say("shoe_opened", round=None, config_digest=SHEET.digest))

    def send(self, table: TableEvening, *bodies: bytes) -> None:
        assert not self._ledger.receive([(table.table, body) for body in bodies]).refused
        self._ledger.meet_all([(table.table, table.state())], adopt_new=False)

    def local(self) -> datetime:
        """Return the simulation's present time as local time in Los Angeles, without a time zone."""
        return self._wall.now.replace(tzinfo=None) - timedelta(hours=8 if self._wall.now < CHANGES else 7)

    def play(self, days: int, rounds: int) -> list[str]:
        """Play `days` gaming days, with `rounds` rounds at each table on each day. A gaming day lasts from six o'clock
        to six o'clock. Return the days' names."""
        names = []
        for _ in range(days):
            names.append(f"{self.local() - timedelta(hours=6):%Y-%m-%d}")
            for _ in range(rounds):
                self._wall.now += timedelta(minutes=self._chance.randint(1, 22 * 60 // rounds))
                for table in self._tables:
                    self._round(table, names[-1])
                if self._chance.random() < 0.2:
                    self._correct(names[-1])
            self._pay(names[-1])
            self.closing[names[-1]] = floor(self.meter.level), floor(self.meter.reserve)
            evening = self.local() - timedelta(hours=6)
            left = timedelta(days=1) - timedelta(hours=evening.hour, minutes=evening.minute, seconds=evening.second)
            before = self.local()
            self._wall.now += left
            self._wall.now -= self.local() - before - left  # the clocks were changed in this night
            self._ledger.begin_day_if_due()
        return names

    def _correct(self, day: str) -> None:
        """Let two people correct the meters after every void that left money on them. Add the corrected amounts to the
        house's figures of the gaming day `day`."""
        with self._ledger.closing_meters() as closings:
            for left in closings.corrections.waiting():
                closings.corrections.correct(left.void, "Ann", "Cas", "F-19", "a card fell")
                self.borne[day]["corrected"] += self.meter.correct()

    def _pay(self, day: str) -> None:
        for award in self._ledger.awards():
            if award.table in self.names and award.step == "pending" and self._chance.random() < 0.7:
                self._ledger.take_step(award.id, "verified", "Ann")
                self._ledger.take_step(award.id, "paid", "Cas")
                self.paid[day][award.table] += award.cents

    def _round(self, table: TableEvening, day: str) -> None:
        chance, hour = self._chance, self.local().hour
        shift = "06:00" if 6 <= hour < 14 else "14:00" if 14 <= hour < 22 else "22:00"
        table.at, dealer = self._wall.text, chance.choice(["Ann", "Bob"])
        tally = self.tally[day][table.table, shift, dealer]
        seats = chance.sample(range(1, 8), 3)
        table.round += 1
        bet = {"spot": SPOT, "seats": seats, "price_cents": 500, "meters": ["big"]}
        sent = [table.say("wagers_locked", by=dealer, progressive=[bet])]
        if chance.random() < 0.1:
            tally["voids"] += 1
            self.borne[day]["voids"] += self.meter.void(3)
            self.send(table, *sent, table.say("void", simulated=False, progressive=[bet]))
            return
        self.meter.feed(3)
        tally.update({"rounds": 1, "progressive_cents": 1500})
        settled = [self._wager(seat) for seat in seats]
        won: str | int | None = chance.choice(("big", 5_000)) if chance.random() < 0.2 else None
        hits = [] if won is None else [{"spot": SPOT, "seat": seats[0], "tier": "x"}]
        sent.append(table.say("round", simulated=False, settlement=_settlement(settled), awards=hits))
        if won is not None:
            sent.append(table.hit(seats[0], "x", won))
            tally.update({"hits": 1, "awards_cents": self.meter.win() if won == "big" else 5_000})
        if chance.random() < 0.1:
            before, settled = settled, [self._wager(seat) for seat in seats]
            told = {"settlement_before": _settlement(before), "settlement": _settlement(settled)}
            sent.append(table.say("correction", awards=[], awards_before=[], **told))
        for seat, spot, cents, returned in settled:
            tally.update({"wagered_cents": cents, "returned_cents": returned, "house_cents": cents - returned})
            known = spot == "player" or seat == 2
            tally["uncounted_cents"] += 0 if known else cents
            tally["theoretical x 560"] += cents * (7 if spot == "player" else 80) if known else 0
        self.send(table, *sent)

    def _wager(self, seat: int) -> tuple[int, str, int, int]:
        """Return a random wager with its result, as four values: its seat, its spot, its cents, and the cents that the
        player gets back."""
        cents = self._chance.randrange(500, 100_000, 7)
        return seat, self._chance.choice(["player", "tie"]), cents, self._chance.choice([0, 0, cents, 2 * cents])


def _settlement(wagers: list[tuple[int, str, int, int]]) -> dict[str, object]:
    staked, returned = sum(cents for _, _, cents, _ in wagers), sum(back for *_, back in wagers)
    totals = {"staked_cents": staked, "returned_cents": returned, "house_cents": staked - returned}
    told = [{"seat": seat, "spot": spot, "cents": cents} for seat, spot, cents, _ in wagers]
    return {"wagers": told, "totals": totals | {"commission_taken_cents": 0, "commission_owed_cents": 0}}


def _told(day: Day) -> dict[tuple[str, str, str], dict[str, object]]:
    """Return the figures that the pit reports for the day. The result maps table, shift and dealer to a dict of
    figures. Figures of 0 are left out."""
    lines = {}
    for line in day.lines:
        figures = {name: getattr(line.sums, name) for name in (*COUNTED, "uncounted_cents")}
        figures["theoretical x 560"] = line.sums.theoretical * 560
        lines[line.table, line.shift, line.dealer] = {name: value for name, value in figures.items() if value}
    return {key: figures for key, figures in lines.items() if figures}


COUNTED = (
    *("rounds", "voids", "wagered_cents", "returned_cents", "house_cents", "progressive_cents", "hits"),
    "awards_cents",
)


@pytest.mark.parametrize(("days", "tables", "rounds"), [(3, 3, 12), pytest.param(30, 20, 10, marks=pytest.mark.proof)])
def test_every_day_is_the_simulated_houses_to_the_cent(
    path: Path, wall: Clock, days: int, tables: int, rounds: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(opened(path, tables)) as ledger:
        house = SimulatedHouse(ledger, wall, tables, seed=days)
        names = house.play(days, rounds)
        assert names[:3] == ["2026-03-06", "2026-03-07", "2026-03-08"]
        opening = (100_000, 0)
        for name in names:
            day = drawn_up(path, name, SHEET)
            tallied = {key: {what: n for what, n in tally.items() if n} for key, tally in house.tally[name].items()}
            assert _told(day) == {key: tally for key, tally in tallied.items() if tally}
            assert day.paid_cents == house.paid[name]
            meters = {meter.account: meter for meter in day.parts[0].meters}
            level, reserve = meters["meter:big"], meters["reserve:big"]
            if name != names[0]:
                assert (level.opening_cents, reserve.opening_cents) == opening
            opening = house.closing[name]
            assert (level.closing_cents, reserve.closing_cents) == opening
            assert day.findings == day.notes == ()
            borne = house.borne[name]
            assert (day.voids_cents, day.corrected_cents) == (borne["voids"], borne["corrected"])
            assert level.moved_cents.get("corrected", 0) == day.void_entries["corrected"].get("meter:big", 0)
            assert [sum(of.values()) for of in day.void_entries.values()] == [0, 0]
            assert day.void_entries["void"].get("house", 0) == -borne["voids"]
        borne = sum(house.borne.values(), Counter[str]())
        assert borne["voids"] > borne["corrected"] > 0, "a meter was won meanwhile, and the house bears the rest"
        hours = [_hours(drawn_up(path, name)) for name in names[:3]]
        assert hours == [24, 23, 24], "in the night to the 8th of March the clocks of Los Angeles go forward"
        load_or_make_key(path.with_name(f"{path.name}.key"))
        files = [_file(capsys, path, names[0]) for _ in range(2)]
        assert files[0] == files[1]


def _hours(day: Day) -> float:
    (part,) = day.parts
    return (datetime.fromisoformat(part.ended_at) - datetime.fromisoformat(part.noted_at)).total_seconds() // 3600


def _file(capsys: pytest.CaptureFixture[str], path: Path, name: str, *words: str, code: int = 0) -> str:
    assert main(["day", name, "--ledger", str(path), *words]) == code
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("begins", "day", "utc", "hours"),
    [
        ("06:00", "2026-11-25", "2026-11-25T14:00", 24),
        ("06:00", "2026-03-07", "2026-03-07T14:00", 23),
        ("06:00", "2026-10-31", "2026-10-31T13:00", 25),
        ("02:30", "2026-03-08", "2026-03-08T10:30", 23),  # 02:30 is left out in that night: 03:30
        ("01:30", "2026-11-01", "2026-11-01T08:30", 25),  # 01:30 comes twice: the first
        ("00:00", "2026-11-01", "2026-11-01T07:00", 25),
    ],
)
def test_a_day_begins_by_the_houses_clock_also_where_clocks_are_changed(
    begins: str, day: str, utc: str, hours: int
) -> None:
    rules = HouseRules("America/Los_Angeles", day_begins=begins)
    first = date.fromisoformat(day)
    at_ms, end_ms = (begins_ms(rules, each) for each in (first, first + timedelta(days=1)))
    assert at_ms == int(datetime.fromisoformat(f"{utc}+00:00").timestamp() * 1000)
    assert (end_ms - at_ms) / 3_600_000 == hours
    names = [name_of(rules, each) for each in (at_ms - 1, at_ms, end_ms - 1, end_ms)]
    assert names == [str(first + timedelta(days=number)) for number in (-1, 0, 0, 1)]


BOOKED = """UPDATE fund SET cents = cents - 100 WHERE account = 'meter:big';
INSERT INTO posting (number, why) VALUES (999, 'rounding');
INSERT INTO entry VALUES (999, 'meter:big', -100), (999, 'house', 100)"""


def evening(ledger: Ledger, wall: Clock, table: str = "t-0") -> tuple[SimulatedHouse, TableEvening]:
    """Return a simulated house with one table, and that table's stream of events."""
    house = SimulatedHouse(ledger, wall, 1, seed=1)
    return house, house._tables[0]


def win(house: SimulatedHouse, table: TableEvening, wall: Clock, at: str | None = None) -> None:
    table.at = at or wall.text
    house.send(table, table.lock(1), table.finish((1, "x")), table.hit(1, "x", 7_000))


def days_of(path: Path) -> list[tuple[str, int, int]]:
    """Return three values for each finished gaming day: its name, the number of its hits, and the number of its
    findings."""
    with closing(sqlite3.connect(path)) as db:
        names = dict.fromkeys(name for (name,) in db.execute("SELECT name FROM day ORDER BY number"))
    told = [drawn_up(path, name) for name in [*names][:-1]]
    return [(day.day, sum(line.sums.hits for line in day.lines), len(day.findings)) for day in told]


def test_a_manager_who_moves_the_days_hour_hides_no_hit(path: Path, ledger: Ledger, wall: Clock) -> None:
    house, table = evening(ledger, wall)
    win(house, table, wall)
    wall.now += timedelta(hours=24, minutes=-10)  # 05:50: the day would end in ten minutes
    ledger.set_house_rules(HouseRules("America/Los_Angeles", day_begins="09:00"))
    win(house, table, wall)
    wall.now += timedelta(hours=2)
    win(house, table, wall)
    wall.now += timedelta(hours=2)
    win(house, table, wall)
    ledger.set_house_rules(HouseRules("America/Los_Angeles", day_begins="06:00"))
    wall.now += timedelta(hours=23)
    win(house, table, wall)
    assert days_of(path) == [("2026-03-06", 3, 1), ("2026-03-07", 1, 1)]
    assert "day begins 06:00" in drawn_up(path, "2026-03-06").findings[0]


@pytest.mark.parametrize(
    ("forged", "finding"),
    [
        ("UPDATE fund SET cents = cents - 100 WHERE account = 'meter:big'", "meter:big was read as"),
        (BOOKED, "meter:big was moved for the reason 'rounding'"),
        ("UPDATE reading SET cents = cents - 100 WHERE account = 'meter:big'", "all that was booked until then"),
    ],
)
def test_a_house_that_lowers_a_meter_over_the_days_end_is_found(
    path: Path, ledger: Ledger, wall: Clock, forged: str, finding: str
) -> None:
    house, table = evening(ledger, wall)
    wall.now += timedelta(hours=1)
    house.send(table, table.lock(1))
    in_the_reading = "reading" in forged
    for late in (False, True):
        if late == in_the_reading:
            with closing(sqlite3.connect(path)) as db:
                db.executescript(forged)
        if not late:
            wall.now += timedelta(days=1)
            ledger.begin_day_if_due()
    found = drawn_up(path, "2026-03-06").findings
    assert any(each.startswith(finding) or finding in each for each in found), found


def test_a_clock_put_back_and_a_pit_that_did_not_run_are_told_and_lose_nothing(
    path: Path, ledger: Ledger, wall: Clock
) -> None:
    house, table = evening(ledger, wall)
    win(house, table, wall)
    wall.now += timedelta(days=1, hours=3)  # nothing ran at six
    win(house, table, wall)
    wall.now -= timedelta(minutes=30)  # a clock that was corrected begins no day
    win(house, table, wall)
    wall.now -= timedelta(days=1)
    win(house, table, wall)
    wall.now += timedelta(days=2)
    win(house, table, wall)
    assert days_of(path) == [("2026-03-06", 2, 1), ("2026-03-07", 2, 1)]
    (note,) = drawn_up(path, "2026-03-07").notes
    assert note == "the meters were read at 2026-03-07T17:00:00.000Z: at the day's hour no pit ran"


def test_a_tables_clock_moves_no_hit_to_another_day(path: Path, ledger: Ledger, wall: Clock) -> None:
    house, table = evening(ledger, wall)
    win(house, table, wall, at="2026-03-01T00:00:00.000Z")
    wall.now += timedelta(days=1)
    ledger.begin_day_if_due()
    assert days_of(path) == [("2026-03-06", 1, 0)]
    (note,) = drawn_up(path, "2026-03-06").notes
    assert note.startswith("3 events happened before the day by their tables' clocks")


def test_what_the_house_added_to_awards_is_named_and_a_rejected_one_gives_it_back(
    ledger: Ledger, path: Path, wall: Clock
) -> None:
    pit = SigningKey(bytes([9] * 32))
    ledger.sign_by(pit, [pit.public])
    ledger.begin_day_if_due()
    late, first = TableEvening("t-0", ["big"]), TableEvening("t-1", ["big"])
    give(ledger, late, late.lock(1, 2, 3), late.finish())
    told = MetersWord(1, wall.text, ledger.levels()).payload(pit)
    give(ledger, late, late.lock_on((SPOT, (1,), 3, ["big"]), word=told))
    give(ledger, first, first.lock(1), first.finish((1, "all")), first.hit(1, "all", "big"))
    give(ledger, late, late.finish((1, "all")), late.hit(1, "all", "big"))
    added_cents = ledger.awards()[-1].shown_cents
    assert added_cents > 0
    wall.now += timedelta(days=1)
    ledger.take_step("t-0.1", "rejected", "Ann", "Bob")
    wall.now += timedelta(days=1)
    ledger.begin_day_if_due()
    days = [drawn_up(path, name) for name in ("2026-03-06", "2026-03-07")]
    assert [day.shown_cents for day in days] == [added_cents, -added_cents]
    assert [day.findings for day in days] == [(), ()]
    assert f"2026-03-06,house,,shown_cents,{added_cents}" in day_csv(days[0])
    assert f": {amount(added_cents)}<" in day_page(days[0])


@over_both
def test_a_ledger_keeps_its_days_in_a_file_and_in_a_database(at: Place, wall: Clock) -> None:
    with closing(opened(at, 1)) as ledger:
        house, table = evening(ledger, wall)
        win(house, table, wall)
        ledger.take_step("t-0.1", "verified", "Ann")
        ledger.take_step("t-0.1", "paid", "Lee")
        for _ in range(2):
            wall.now += timedelta(days=1)
            ledger.begin_day_if_due()
        first, second = (drawn_up(at, name, SHEET) for name in ("2026-03-06", "2026-03-07"))
    (line,) = first.lines
    assert (line.sums.rounds, line.sums.hits, line.sums.awards_cents, first.paid_cents) == (1, 1, 7_000, {"t-0": 7_000})
    assert (first.findings, second.findings, second.lines, second.paid_cents) == ((), (), (), {})
    assert second.parts[0].meters[0].opening_cents == first.parts[0].meters[0].closing_cents > 100_000


def test_a_day_that_is_not_over_and_a_day_that_never_was_have_no_file(path: Path, ledger: Ledger) -> None:
    for name, code in (("2026-03-06", "day_not_over"), ("2026-03-05", "day_unknown"), ("=1", "day_unknown")):
        with raising(code):
            drawn_up(path, name)


def test_a_days_file_is_signed_and_the_same_after_all_that_came_later(
    path: Path, ledger: Ledger, wall: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house, wrong = SimulatedHouse(ledger, wall, 2, seed=5), TableEvening("t-2", ["big"])
    house.send(wrong, wrong.lock(1), wrong.finish((1, "x")), wrong.hit(1, "x", 900))
    (name,) = house.play(1, 10)
    key = load_or_make_key(path.with_name(f"{path.name}.key"))
    sheet = tmp_path / "par.json"
    sheet.write_text(json.dumps({"game": "A game", "digest": SHEET.digest, "bets": [
        {"spot": "player", "seats": [], "edge": "1/80", "standard_deviation": 0.95}]}))  # fmt: skip
    forms: tuple[tuple[str, ...], ...] = ((), ("--par", str(sheet)), ("--csv",), ("--html",))
    first = [_file(capsys, path, name, *words) for words in forms]
    house.play(1, 10)
    ledger.unadopt("t-2", EPOCH, "Ann", "another's key")
    assert [_file(capsys, path, name, *words) for words in forms] == first
    file = json.loads(first[0])
    assert signature_holds(file, key.public)
    file["parts"][0]["meters"][0]["closing_cents"] += 1
    assert not signature_holds(file, key.public)
    lines = [*csv.DictReader(io.StringIO(first[2]))]
    total = {line["figure"]: line["value"] for line in lines if (line["by"], line["name"]) == ("dealer", "all")}
    wagered = sum(tally["wagered_cents"] for tally in house.tally[name].values())
    assert (int(total["wagered_cents"]), total["drop_cents"]) == (wagered, "")
    assert f"{wagered // 100:,}.{wagered % 100:02d}" in first[3]


def test_the_count_rooms_drop_stands_beside_what_the_tables_told(
    path: Path, ledger: Ledger, wall: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figures of the day compare the drop boxes (cash boxes of the tables) that the count room opened with the
    rounds that tables reported. Otherwise somebody could steal a drop box and say that its table dealt nothing, or add
    a box for a table that was closed."""
    house = SimulatedHouse(ledger, wall, 2, seed=5)
    (name,) = house.play(1, 10)
    dealt = sorted({(line.table, line.shift) for line in drawn_up(path, name).lines})
    tally = {key: 1_000 * number + 7 for number, key in enumerate(dealt, 1)}
    lines = [f"{table},{shift},{cents}" for (table, shift), cents in tally.items()]
    written, heading = tmp_path / "drop.csv", "table,shift,drop_cents"
    written.write_text("\n".join((heading, *lines, "")))
    load_or_make_key(path.with_name(f"{path.name}.key"))
    file = json.loads(_file(capsys, path, name, "--drop", str(written)))
    of = {table: sum(cents for key, cents in tally.items() if key[0] == table) for table in {key[0] for key in dealt}}
    assert {table: sums["drop_cents"] for table, sums in file["by_table"].items()} == {"": sum(tally.values()), **of}
    assert file["by_shift"][dealt[0][1]]["drop_cents"] == sum(v for k, v in tally.items() if k[1] == dealt[0][1])
    assert {dealer: sums["drop_cents"] for dealer, sums in file["by_dealer"].items() if dealer} == dict.fromkeys(
        (dealer for dealer in file["by_dealer"] if dealer), None
    )
    assert [finding for finding in file["findings"] if "drop" in finding] == []
    written.write_text("\n".join((heading, *lines[1:], "t-9,06:00,5", "")))
    assert main(["day", name, "--ledger", str(path), "--drop", str(written)]) == 1
    file = json.loads(capsys.readouterr().out)
    table, shift = dealt[0]
    assert [finding for finding in file["findings"] if "drop" in finding] == [
        "the count room has a drop of table t-9 in shift 06:00, in which that table told no round",
        f"the count room has no drop of table {table} in shift {shift}",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 0"),
        ("table,drop_cents\n", "line 1: the first line must be table,shift,drop_cents"),
        ("table,shift,drop_cents\nt-0,06:00,-1\n", "line 2: a drop is 0 cents or more"),
        ("table,shift,drop_cents\nt-0,06:00,12.50\n", "line 2: "),
        ("table,shift,drop_cents\nt-0,06:00\n", "line 2: "),
        ("table,shift,drop_cents\nt-0,06:00,1\nt-0,06:00,1\n", "line 3: table t-0 has a drop of shift 06:00 in an"),
    ],
)
def test_a_wrong_file_of_drops_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    written = tmp_path / "drop.csv"
    written.write_text(text)
    with raising("drop_invalid") as caught:
        day_book.read_drops(written)
    assert told in caught.value.what


def test_the_events_of_a_true_table_are_read(path: Path, ledger: Ledger, wall: Clock, tmp_path: Path) -> None:
    """The figures of the day can be computed from the events of a table that played by the real rules. The events name
    the digest of the table's file, and a par sheet exists for that table."""
    table = TableUnderTest(SUGARHOUSE).open_shoe()
    table.do(PlaceWager(Wager(3, "player", 2500), "Ann"), PlaceWager(Wager(4, "tie", 2500), "Ann")).lock()
    table.draw("2S 3C 7S 5C")  # 9 against 8
    with closing(Journal(tmp_path / "table.journal", SUGARHOUSE.table, KEY, KEY.public)) as journal:
        bodies = [message.body for message in journal.append(table.entries)]
        ledger.adopt(SUGARHOUSE.table, journal.epoch, KEY.public.hex())
    assert not ledger.receive([(SUGARHOUSE.table, body) for body in bodies]).refused
    wall.now += timedelta(days=1)
    ledger.begin_day_if_due()
    digest = next(event["config_digest"] for event in table.events if event["type"] == "shoe_opened")
    assert load(TABLES / "sugarhouse.toml").digest != digest, "the table under test has a digest of its own"
    sheet = ParSheet("Sugarhouse", digest, (ParBet("player", (), "1/80", 0.95),))
    day = drawn_up(path, "2026-03-06", sheet)
    (line,) = day.lines
    sums = line.sums
    assert (sums.rounds, sums.wagered_cents, sums.returned_cents, sums.house_cents) == (1, 5000, 5000, 0)
    assert (sums.theoretical, sums.variance, sums.uncounted_cents) == (
        Fraction(2500, 80),
        Fraction(2500 * 95, 100) ** 2,
        2500,
    )
    assert sums.interval == (31 - 4750 - 1, 32 + 4750 + 1)
    assert day.findings == ()
