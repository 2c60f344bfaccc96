"""A win of a meter on the screens of the other tables, in simulated time."""

from __future__ import annotations

import json
from typing import Any

from controller.contract.face.status import WinShown
from controller.contract.signing import signed
from tests.pit.evening import EPOCH, TableEvening
from tests.simulation.live_table import LiveTable
from tests.simulation.signing import Signer
from tests.simulation.world import World

_SIGNER = Signer(bytes(32))
_OF_SEVERAL_TABLES = 3  # the seed
_WITHIN_S = 30
METER = "player_personal"


def _shown(world: World) -> list[WinShown | None]:
    return [None if table.runtime is None else table.runtime.stream.status().win for table in world.tables]


def _win(world: World) -> None:
    """A table that is no live one wins the meter."""
    ledger, table = world.pit.ledger, TableEvening("t-9", (METER,))
    ledger.adopt(table.table, EPOCH, _SIGNER.public.hex())
    events = (table.lock(1), table.finish((1, METER)), table.hit(1, METER, METER))
    assert len(ledger.receive([(table.table, _signed(each)) for each in events]).committed) == len(events)


def _signed(body: bytes) -> bytes:
    message = json.loads(body)
    return signed({name: value for name, value in message.items() if name != "signature"}, _SIGNER)


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
