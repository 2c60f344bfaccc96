"""Checks which messages from the network a table believes (the pit's levels and awards, and bet recognition's wagers),
and which it refuses."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.hil.awards import award_step
from tests.hil.bench import Bench

SAID_AT = "2026-01-01T00:00:00.000Z"


def test_a_hit_goes_from_pending_to_paid_and_each_step_comes_back(hit: dict[str, Any], at: Bench) -> None:
    for seq, step in enumerate(("pending", "verified", "paid"), 1):
        said = award_step(hit, seq=seq, step=step, at=SAID_AT)
        at.pit.award(**said)
        at.pit.award(**said)  # a pit that came back says it again
    at.eventually(lambda: [event["step"] for event in at.pit.told("award")] == ["pending", "verified", "paid"])
    assert {event["hit"] for event in at.pit.told("award")} == {hit["id"]}
    [shown] = at.table.face.hits
    assert (shown.step, shown.cents) == ("paid", 250_000)
    at.eventually(lambda: at.pins.seat(1) == "hit")


def test_what_is_no_award_of_this_table_is_refused_and_logged(hit: dict[str, Any], at: Bench) -> None:
    good = award_step(hit, at=SAID_AT)
    of_the_round = at.pit.rounds[0]["id"]
    for wrong in (
        {"hit": good["hit"].replace(table_epoch(good), "another"), "seq": 2},
        {"table": "another", "hit": "another/x/1", "seq": 3},
        {"hit": of_the_round, "seq": 4},
        {"seat": 2, "seq": 5},
    ):
        at.pit.award(**(good | wrong))
    for broken in ({"step": "doubled", "seq": 6}, {"cents": -1, "seq": 7}):
        at.pit.say_on("award", json.dumps(good | broken).encode())
    at.pit.award(**(good | {"seq": 8}))
    at.eventually(lambda: len(at.pit.told("award")) == 1)
    assert at.table.fault is None
    assert at.table.stop() == 0
    assert re.findall("it is no step of an award of this table(.*)", at.table.log) == [
        "",
        " (the last of 5 such lines)",
    ]


def table_epoch(step: dict[str, Any]) -> str:
    epoch: str = step["hit"].split("/")[1]
    return epoch


@pytest.mark.long
def test_stale_levels_refuse_royal_9_and_baccarat_goes_on(at: Bench) -> None:
    at.dealer.open_shoe()
    at.pins.cover(1)
    at.eventually(lambda: at.pins.seat(1) == "wager_seen")
    at.pit.levels = {"player_personal": 1}  # the others are said no more
    at.eventually(lambda: at.pins.seat(1) == "refused")
    at.dealer.lock()
    at.shoe.deal("KS 2D 9S 3C")
    at.eventually(lambda: len(at.pit.rounds) == 1)
    assert at.pit.told("wagers_locked")[0]["progressive"][0]["refused_seats"] == [1]
    assert at.pit.hits == []


def test_the_network_neither_deals_nor_voids_nor_clears(at: Bench) -> None:
    at.dealer.open_shoe()
    at.dealer.lock()
    at.shoe.deal("KS 2D")
    for payload in (b"", b"{}", b"\xff\xfe", b"[" * 50_000, json.dumps({"do": "void", "by": "pit"}).encode()):
        for topic in ("ack", "award", "wager"):
            at.pit.say_on(topic, payload)
    at.shoe.deal("9S 3C")
    at.eventually(lambda: len(at.pit.rounds) == 1)
    assert set(at.pit.types) - {"alarm"} == {"shoe_opened", "wagers_locked", "round"}
    assert {alarm["code"] for alarm in at.pit.told("alarm")} <= {"recognition_key_due"}, "a wager by nobody's key"
