"""What the network may tell a table: the pit's levels and awards, and bet recognition's wagers; and what it may not."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from controller.bench.daemon import Table
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.plugin import Dealer, Eventually
from tests.hil.awards import award_step

SAID_AT = "2026-01-01T00:00:00.000Z"


def test_a_hit_goes_from_pending_to_paid_and_each_step_comes_back(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pins.cover(1)
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    shoe.deal("KS 2D 9S 3C")
    eventually(lambda: len(pit.hits) == 1)
    [hit] = pit.hits
    for seq, step in enumerate(("pending", "verified", "paid"), 1):
        said = award_step(hit, seq=seq, step=step, at=SAID_AT)
        pit.award(**said)
        pit.award(**said)  # a pit that came back says it again
    eventually(lambda: [event["step"] for event in pit.told("award")] == ["pending", "verified", "paid"])
    assert {event["hit"] for event in pit.told("award")} == {hit["id"]}
    [shown] = table.face["hits"]
    assert (shown["step"], shown["cents"]) == ("paid", 250_000)
    eventually(lambda: pins.seat(1) == "hit")


def test_what_is_no_award_of_this_table_is_refused_and_logged(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pins.cover(1)
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    shoe.deal("KS 2D 9S 3C")
    eventually(lambda: len(pit.hits) == 1)
    good = award_step(pit.hits[0], at=SAID_AT)
    of_the_round = pit.rounds[0]["id"]
    for wrong in (
        {"hit": good["hit"].replace(table_epoch(good), "another"), "seq": 2},
        {"table": "another", "hit": "another/x/1", "seq": 3},
        {"hit": of_the_round, "seq": 4},
        {"seat": 2, "seq": 5},
    ):
        pit.award(**(good | wrong))
    for broken in ({"step": "doubled", "seq": 6}, {"cents": -1, "seq": 7}):
        pit.say_on("award", json.dumps(good | broken).encode())
    pit.award(**(good | {"seq": 8}))
    eventually(lambda: len(pit.told("award")) == 1)
    assert table.fault is None
    assert table.stop() == 0
    assert re.findall("it is no step of an award of this table(.*)", table.log) == ["", " (the last of 5 such lines)"]


def table_epoch(step: dict[str, Any]) -> str:
    epoch: str = step["hit"].split("/")[1]
    return epoch


def test_stale_levels_refuse_royal_9_and_baccarat_goes_on(
    table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pins.cover(1)
    eventually(lambda: pins.seat(1) == "wager_seen")
    pit.levels = {"player_personal": 1}  # the others are said no more
    eventually(lambda: pins.seat(1) == "refused")
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    shoe.deal("KS 2D 9S 3C")
    eventually(lambda: len(pit.rounds) == 1)
    assert pit.told("wagers_locked")[0]["progressive"][0]["refused_seats"] == [1]
    assert pit.hits == []


@pytest.mark.parametrize(
    "payload", [b"", b"{}", b"\xff\xfe", b"[" * 50_000, json.dumps({"do": "void", "by": "pit"}).encode()]
)
def test_the_network_neither_deals_nor_voids_nor_clears(
    payload: bytes, table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    shoe.deal("KS 2D")
    for topic in ("ack", "award", "wager"):
        pit.say_on(topic, payload)
    shoe.deal("9S 3C")
    eventually(lambda: len(pit.rounds) == 1)
    assert set(pit.types) == {"shoe_opened", "wagers_locked", "round"}
