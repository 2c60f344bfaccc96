"""Kills the table's daemon at any instant. The table may not report a round wrongly or twice. It may leave a round out
only if it stops at a fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from controller.bench.far_pit import FarPit
from drivers.sim import rules
from tests.hil.bench import Bench
from tests.hil.evening import Evening
from tests.support.felt import FeltRound

pytestmark = pytest.mark.usefixtures("as_shipped")

KILLS = 4


def _place(event: dict[str, Any]) -> tuple[int, int]:
    return event["shoe"], event["round"]


def _judge(played: list[FeltRound], pit: FarPit) -> None:
    """Check that the events that the pit received agree with the rounds that were really dealt."""
    rounds = {(round_.shoe, round_.round): round_ for round_ in played}
    assert [_place(event) for event in pit.told("wagers_locked")] == list(rounds), (
        "each round was locked once, in order"
    )
    for event in pit.told("wagers_locked"):
        # Just after a restart there is no pit to bet with yet: such a wager is refused.
        (royal9,) = event["progressive"]
        assert royal9["seats"] + royal9["refused_seats"] == rounds[_place(event)].seats
    assert [_place(event) for event in pit.told("void")] == [place for place, round_ in rounds.items() if round_.voided]
    assert [_place(event) for event in pit.rounds] == [place for place, round_ in rounds.items() if not round_.voided]
    for event in pit.rounds:
        round_ = rounds[_place(event)]
        assert (event["player"]["cards"], event["banker"]["cards"]) == (round_.player, round_.banker)
        assert event["outcome"] == rules.outcome(round_.player, round_.banker)
        assert (event["cards_left"], event["simulated"]) == (round_.cards_left, False)


_BEETEK = pytest.mark.table(shoe={"driver": "beetek"})


@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "kills"),
    [
        (6, KILLS),
        pytest.param(8, 10, marks=[pytest.mark.proof, _BEETEK], id="beetek"),
        pytest.param(1000, 250, marks=[pytest.mark.proof, pytest.mark.table(shoe_wrap=1)], id="proof"),
        pytest.param(500, 60, marks=[pytest.mark.proof, _BEETEK], id="proof-beetek"),
    ],
)
def test_a_table_killed_again_and_again_tells_the_pit_every_round_once_and_right(
    seed: int, kills: int, at: Bench, figure: Callable[[str], None]
) -> None:
    evening = Evening(at.table, at.shoe, at.pins, at.eventually, seed, kills)
    evening.deal()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    print(dict(evening.happened))  # shown when something fails, and with -s

    _judge(evening.played, at.pit)
    assert at.table.verify().messages == len(at.pit.events)
    assert at.table.fault is None
    faults, cleared = at.pit.told("fault"), at.pit.told("fault_cleared")
    assert [event["code"] for event in faults] == [event["code"] for event in cleared]
    assert {event["code"] for event in faults} == {"shoe_unheard"}
    happened = evening.happened
    assert happened["kills"] >= kills
    assert len(at.pit.rounds) > kills / 20
    for rare in ("a card was named", "a round was voided", "dealt on while the daemon was down"):
        assert happened[rare] > 0 or kills < KILLS, f"this evening was too quiet: {rare} never happened"
    figure(f"{happened['kills']} kills, {len(evening.played)} rounds compared, {len(at.pit.events)} events, none wrong")
