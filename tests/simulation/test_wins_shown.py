"""Checks how a win of a meter appears on the screens of the other tables, in simulated time."""

from __future__ import annotations

import json
from typing import Any

from controller.contract.face.status import WinShown
from controller.contract.pit_words import MetersWord
from controller.contract.signing import signed
from controller.pit.reference.clock import now_text
from tests.pit.evening import EPOCH, SPOT, TableEvening
from tests.simulation.live_table import LiveTable
from tests.simulation.pit import KEY
from tests.simulation.signing import Signer
from tests.simulation.world import World

_SIGNER = Signer(bytes(32))
_OF_SEVERAL_TABLES = 3  # the seed
_OF_TWO_TABLES = 2  # a seed whose first tables open a shoe without a fault
_WITHIN_S = 30
_ROUND = 6
METER = "player_personal"


def _shown(world: World) -> list[WinShown | None]:
    return [None if table.runtime is None else table.runtime.stream.told.status().win for table in world.tables]


def _win(world: World) -> None:
    """Let an extra table win the meter. No program runs for this table: the test puts its events directly into the
    pit's ledger."""
    ledger, table = world.pit.ledger, TableEvening("t-9", (METER,))
    ledger.adopt(table.table, EPOCH, _SIGNER.public.hex())
    word = MetersWord(1, now_text(), ledger.levels()).payload(KEY)
    events = (
        table.lock_on((SPOT, (1,), 500, (METER,)), word=word),
        table.finish((1, METER)),
        table.hit(1, METER, METER),
    )
    assert len(ledger.receive([(table.table, _signed(each)) for each in events]).committed) == len(events)


def _signed(body: bytes) -> bytes:
    message = json.loads(body)
    return signed({name: value for name, value in message.items() if name != "signature"}, _SIGNER)


def _waits(world: World) -> set[str]:
    """Return the tables that hold up the award of the extra table "t-9". A person may verify that award only when the
    pit no longer waits for these tables."""
    return {table for award in world.pit.ledger.awards() if award.table == "t-9" for table, _ in award.waits}


def _told(table: LiveTable) -> list[dict[str, Any]]:
    table.check(settled=False)
    return [event for event in map(json.loads, table.auditor.bodies) if event["type"] == "win_told"]


def test_every_other_tables_screen_tells_a_win_within_thirty_seconds_once_and_for_a_minute() -> None:
    with World(_OF_SEVERAL_TABLES) as world:
        assert len(world.tables) > 1
        world.go_on(10)
        level_cents = world.pit.ledger.levels()[METER]
        _win(world)
        world.go_on(_WITHIN_S)
        base_cents = world.pit.ledger.levels()[METER]
        for win in _shown(world):
            assert win is not None
            assert (win.table, win.award, win.tier, win.meter) == ("t-9", "t-9.1", METER, METER)
            assert win.cents >= level_cents > 0
            assert win.base_cents == base_cents
        assert [len(_told(table)) for table in world.tables] == [1] * len(world.tables), (
            "though the pit repeats it in every word"
        )
        world.go_on(_WITHIN_S + 5)
        assert _shown(world) == [None] * len(world.tables)


def test_who_comes_later_is_told_no_old_win() -> None:
    with World(_OF_SEVERAL_TABLES) as world:
        late = world.tables[0]
        world.go_on(10)
        late.do_kill()
        _win(world)
        world.go_on(90)
        late.do_start()
        world.go_on(10)
        assert _shown(world) == [None] * len(world.tables)
        (told,) = _told(late)
        assert told["shown"] is False, "the pit hears that the table knows of the win, and no screen tells it"


def _play(world: World, table: LiveTable, cards: int) -> None:
    """Let the table open a shoe, lock the wagers of every seat, and deal this many cards."""
    table.do_press("new_shoe")
    while table.face is not None and table.face.phase in ("first_card_due", "burning"):
        table.do_draw()
        world.go_on(0.3)
    table.do_wagers(*(seat.number for seat in table.config.rules.seats))
    world.go_on(0.3)
    table.do_press("deal")
    for _ in range(cards):
        if table.face is not None and table.face.phase in ("wagers_locked", "round_in_play"):
            table.do_draw()
            world.go_on(0.3)


def test_an_award_waits_for_a_table_that_is_away_in_a_round_and_for_none_that_told_of_the_win() -> None:
    with World(_OF_TWO_TABLES) as world:
        world.go_on(10)
        away, other = world.tables[:2]
        _play(world, away, 1)
        _play(world, other, _ROUND)
        away.do_kill()
        _win(world)
        world.go_on(_WITHIN_S)
        assert _waits(world) == {away.id}, "people are told for whom; who is there has told of the win"
        away.do_start()
        world.go_on(_WITHIN_S)
        assert _waits(world) == {away.id}, "its round was locked before, and is not over"
        assert away.face is not None
        assert away.face.fault is not None
        away.do_leave(away.face.fault.exits.index("void"), by_key=False)
        world.go_on(_WITHIN_S)
        assert _waits(world) == set()
