"""Checks how a meter's wagers, hits and wins are counted, and that the pit refuses wagers at a price that the game does
not have."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.pit.reference.__main__ import main
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place
from controller.pit.reference.settings import default
from tests.pit.evening import TableEvening
from tests.pit.test_meters import TERMS, give, opened


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    with closing(opened(at)) as ledger:
        yield ledger


def test_wagers_hits_and_wins_are_counted_at_any_level(ledger: Ledger) -> None:
    """The counts of a meter's wagers, hits and wins leave out voided wagers, and include a hit on an empty meter.
    Rejected hits have a count of their own."""
    ledger.watch_voids(100)
    tables, chance = [TableEvening("t-0"), TableEvening("t-1", ["small"])], random.Random(1)
    wagers: Counter[str] = Counter()
    won: Counter[tuple[str, int]] = Counter()
    for _ in range(30):
        table = chance.choice(tables)
        seats = chance.sample(range(1, 8), 3)
        bodies = [table.lock(*seats)]
        if chance.random() < 0.2:
            bodies.append(table.void(*seats[1:]))
            seats = seats[:1]
        wagers.update(dict.fromkeys(table.meters, len(seats)))
        bodies.append(table.finish((seats[0], "full")) if (hit := chance.random() < 0.3) else table.finish())
        if hit:
            bodies.append(table.hit(seats[0], "full", "small", share=chance.choice(["1:1", "1:10"])))
        assert give(ledger, table, *bodies) == []
        if hit:
            award = ledger.awards()[-1]
            steps = chance.choice([("verified", "paid"), ("rejected",), ()])
            for step in steps:
                ledger.take_step(award.id, step, "Cas" if step == "paid" else "Ann")  # type: ignore[arg-type]
            rejected = steps == ("rejected",)
            won.update({("hits", 0): 1, ("rejected", 0): rejected, ("won", 0): 0 if rejected else award.cents})
            won["paid", 0] += award.cents if "paid" in steps else 0
    account = ledger.account()
    counted = {meter.meter: (meter.wagers, meter.wagered_cents) for meter in account.meters}
    assert counted == {name: (count, 500 * count) for name, count in wagers.items()}
    (full,) = account.awards
    figures = (full.hits, full.rejected, full.won_cents, full.paid_cents)
    assert figures == tuple(won[name, 0] for name in ("hits", "rejected", "won", "paid"))
    assert (full.award, full.meter, account.findings) == ("full", "small", ())
    assert full.rejected > 1 < full.hits - full.rejected


def test_the_last_hits_are_listed_however_they_were_decided(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command `pitctl award list --all` lists at least the last 25 hits, also paid and rejected ones, because a
    regulator asks for the last 25."""
    with closing(opened(path)) as ledger:
        table = TableEvening("t-0")
        for number in range(26):
            give(ledger, table, table.lock(1), table.finish((1, "full")), table.hit(1, "full", "small"))
            steps: tuple[tuple[str, str], ...] = (("verified", "Ann"), ("paid", "Cas"))
            for step, by in steps if number % 2 else (("rejected", "Ann"),):
                ledger.take_step(ledger.awards()[-1].id, step, by)  # type: ignore[arg-type]
        hits = [award.id for award in ledger.awards()]
    assert main(["award", "list", "--ledger", str(path)]) == 0
    assert capsys.readouterr().out == "no awards are open\n"
    assert main(["award", "list", "--all", "--json", "--ledger", str(path)]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [award["id"] for award in listed] == hits
    assert len(hits) == 26
    assert {award["step"] for award in listed} == {"paid", "rejected"}


def test_a_wager_that_somebody_takes_out_of_the_books_is_found(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(opened(path)) as ledger:
        table = TableEvening("t-0")
        give(ledger, table, table.lock(1, 2, 3))
        assert main(["account", "--ledger", str(path)]) == 0
        assert "3  together 15.00" in capsys.readouterr().out
        with closing(sqlite3.connect(path)) as db:
            db.executescript("DELETE FROM wager WHERE seat = 2")
        assert "2 wagers count, and the events have 3" in ledger.account().findings


def _digest(ledger: Ledger) -> str:
    with ledger.meter_terms() as terms:
        return terms.digest()


def _price(ledger: Ledger, *prices_cents: int) -> None:
    """Let two people approve that the meter `big` accepts wagers only at these prices."""
    ledger.set_terms(TERMS | {"big": replace(TERMS["big"], prices_cents=prices_cents)}, "Ann", "Bob", "the sheet")


@pytest.mark.parametrize("price_cents", [5_000, 499, 501, 1, 0])
def test_a_table_that_wagers_at_another_price_feeds_no_meter(ledger: Ledger, price_cents: int) -> None:
    """The pit refuses a wager at a price that the meter's terms do not list. Otherwise the house's technician could
    change a game file so that wagers raise the meter ten times as fast before a friend plays. A house could also count
    wagers of $5 as wagers of one cent."""
    _price(ledger, 500, 1_000)
    table, levels = TableEvening("t-0"), ledger.levels()
    received = ledger.receive([("t-0", table.lock(1, price_cents=price_cents)), ("t-0", table.finish())])
    assert [refusal.code for _, refusal in received.refused] == ["price_unreasonable"]
    assert "5.00 or 10.00" in received.refused[0][1].what
    assert (received.acks["t-0"].seq, ledger.levels()) == (0, levels), "and nothing after it"
    _price(ledger, 500, 1_000, price_cents)  # people decided that the price is right
    assert ledger.receive([("t-0", body) for body in table.sent]).acks["t-0"].seq == 2


def test_the_games_own_price_and_a_meter_without_prices_are_taken(ledger: Ledger) -> None:
    _price(ledger, 500)
    first, second = TableEvening("t-0"), TableEvening("t-1", ["small"])
    assert give(ledger, first, first.lock(1)) == give(ledger, second, second.lock(1, price_cents=7)) == []
    assert give(ledger, first, first.lock_on(("royal9", (), 9_999, ["big"]))) == [], "nobody wagered"


def test_the_shipped_prices_are_those_of_the_games() -> None:
    prices = {name: terms.prices_cents for name, terms in default().meters.items()}
    assert prices == dict.fromkeys(default().meters, (500,)) | {"fortune": (200,)}


def test_prices_are_terms_that_two_people_approve_and_run_at_once(ledger: Ledger, path: Path) -> None:
    """New prices of a meter's wagers need the approval of two people, and are in force at once. All other new terms of
    a meter wait until the meter is won. Without the second person, one person could change the price in the settings
    file unseen."""
    table, digest = TableEvening("t-0"), _digest(ledger)
    give(ledger, table, table.lock(1))
    priced = TERMS | {"big": replace(TERMS["big"], prices_cents=(500,))}
    ledger.set_terms(priced, "Ann", "Bob", "the sheet")
    assert _digest(ledger) != digest
    assert ledger.terms() == priced
    (decided,) = [each["terms"] for each in ledger.decided()[-1:]]
    assert isinstance(decided, dict)
    assert decided["prices_cents"] == [500]
    both = TERMS | {"big": replace(TERMS["big"], seed_cents=2_000, reseed_at_most_cents=2_000, prices_cents=(600,))}
    ledger.set_terms(both, "Ann", "Bob", "another game")
    assert ledger.terms() == priced, "other terms wait until the meter is won, and their prices with them"
    received = ledger.receive([("t-0", table.lock(1, price_cents=600))])
    assert [refusal.code for _, refusal in received.refused] == ["price_unreasonable"]


def test_check_names_a_price_that_the_pit_would_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from controller.people.cli.main import main as tablectl

    root = Path(__file__).resolve().parents[2]
    settings = tmp_path / "pit.toml"
    settings.write_text((root / "config" / "pit.toml").read_text("utf-8").replace("[500]", "[600]"), "utf-8")
    assert tablectl(["check", str(root / "config" / "tables" / "royal9.toml"), "--pit-settings", str(settings)]) == 78
    told = capsys.readouterr().err
    assert "player_personal.prices_cents: the pit would refuse each wager on royal9, which costs 500" in told
