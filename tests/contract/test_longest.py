"""Checks that the longest messages that the largest possible table can send are well within the contract's length
limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from controller.contract.bounds import (
    MOST_CENTS,
    MOST_METERS,
    MOST_PACKET_BYTES,
    MOST_PAYLOAD_BYTES,
    MOST_ROTATIONS,
    MOST_SEQ,
)
from controller.contract.canonical import canonical
from controller.daemon.config import load
from controller.daemon.config.game_file import MOST_SEATS, MOST_SPOTS, most_bets
from controller.rules.game.cards import Card
from controller.rules.game.wagers import Wager
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.rounds import LockWagers
from controller.table.acts.seats import PlaceWager
from tests.support.tables import TABLES, TableUnderTest

CONTRACT = Path(__file__).parents[2] / "controller" / "contract"
_ROOM = 2  # so many times as long may a message be as the longest there is
_MARGIN_BYTES = 4096  # of a packet for its topic, of 65 letters and the root's 200 at most, and its properties


def wagers_everywhere(table: TableUnderTest) -> Iterator[PlaceWager]:
    """Yield requests to place a wager on every spot at every seat, for the seated player and for the back bettor. For
    each of them come two requests: one of $2,500 and then one of $500. The table may refuse a request because of its
    limits."""
    for seat in table.rules.seats:
        for back in (False, True):
            for spot in (bet.spot for bet in table.rules.bets):
                for cents in (250_000, 50_000):
                    yield PlaceWager(Wager(seat.number, spot, cents, back), "bet recognition of the largest table")


@pytest.mark.parametrize("seats", [MOST_SEATS, pytest.param(14, marks=pytest.mark.proof)])
def test_a_round_and_its_correction_with_chips_on_every_spot_fit(seats: int) -> None:
    rules = load(TABLES / "kansas_star.toml").rules
    more = (replace(rules.bets[2], spot=f"{n:_>24}") for n in range(most_bets(seats) - len(rules.bets)))
    every_seat = tuple(replace(rules.seats[0], number=1 + n) for n in range(seats))
    rules = replace(rules, seats=every_seat, bets=(*rules.bets, *more))
    table = TableUnderTest(rules).open_shoe()
    lain = [request for request in wagers_everywhere(table) if table.ask(request) is None]
    assert len(lain) >= len(rules.bets) * seats == MOST_SPOTS
    table.do(LockWagers())
    longest_state = len(canonical(to_builtins(table.face)))
    table.draw("9S 2D 9H 3C")
    longest_state = max(longest_state, len(canonical(to_builtins(table.face))))
    player, banker = (tuple(map(Card.parse, cards.split())) for cards in ("2D 3C", "9S 9H"))
    table.do(CorrectRound(1, player, banker, "Ann", "Bob"))
    longest, type_ = max((len(canonical(event)), event["type"]) for event in table.events)
    assert type_ == "correction"
    assert 10_000 < longest <= MOST_PAYLOAD_BYTES["event"] // _ROOM
    assert longest_state <= MOST_PAYLOAD_BYTES["state"] // _ROOM


def test_what_the_pit_says_fits() -> None:
    signature, table = "x" * 88, "t" * 60
    meters = {f"{n:060d}": MOST_CENTS for n in range(MOST_METERS)}
    longest: dict[str, dict[str, object]] = {
        "meters": {"seq": MOST_SEQ, "at": "2026-01-01T00:00:00.000Z", "meters": meters, "signature": signature},
        "ack": {"table": table, "epoch": "e" * 60, "seq": MOST_SEQ, "chain": "c" * 64, "at": "2026-01-01T00:00:00.000Z"}
        | {"signature": signature},
        "award": {
            "seq": MOST_SEQ,
            "award": "a" * 120,
            "hit": "h" * 150,
            "table": table,
            "seat": 99,
            "tier": "t" * 60,
            "meter": "m" * 60,
            "cents": MOST_CENTS,
            "step": "verified",
            "by": "\N{PLAYING CARD ACE OF SPADES}" * 200,
            "at": "2026-01-01T00:00:00.000Z",
            "signature": signature,
        },
        "pit-key": {
            "public_key": "k" * 64,
            "at": "2026-01-01T00:00:00.000Z",
            "rotations": [{"former": "k" * 64, "public_key": "k" * 64, "signature": signature}] * MOST_ROTATIONS,
            "signature": signature,
        },
        "wager": {
            "table": "t" * 60,
            "epoch": "e" * 60,
            "shoe": MOST_SEQ,
            "round": MOST_SEQ,
            "seat": 99,
            "back": False,
            "spot": "s" * 60,
            "cents": 100_000_000,
            "seq": MOST_SEQ,
            "at": "2026-01-01T00:00:00.000Z",
            "signature": signature,
        },
    }
    for kind, message in longest.items():
        assert len(canonical(message)) <= MOST_PAYLOAD_BYTES[kind], kind


def test_a_packet_holds_the_longest_payload_its_topic_and_its_properties() -> None:
    assert max(MOST_PAYLOAD_BYTES.values()) + _MARGIN_BYTES <= MOST_PACKET_BYTES


def test_the_contract_says_the_lengths() -> None:
    document = json.loads((CONTRACT / "asyncapi.json").read_text("utf-8"))
    [said] = [line for line in document["info"]["description"].splitlines() if line.startswith("- **Lengths.**")]
    for bytes_ in (*MOST_PAYLOAD_BYTES.values(), MOST_PACKET_BYTES):
        assert f"{bytes_:,}" in said
