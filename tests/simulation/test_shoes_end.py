"""Checks what a table does if somebody pulls the plug at the shoe's end and draws some cards meanwhile, at every point
of a round. The serial port stays open, but nothing arrives from the shoe.

The dealer draws one card in 300 ms, as fast as hands can. However many cards the table did not receive, it stops before
it records another finished round. Wagers that were locked before the plug was pulled do not count in a round that was
dealt later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from tests.simulation.live_table import LiveTable
from tests.simulation.world import Action, World

POINTS = ("wagers_open", "locked", *(f"after card {n}" for n in range(1, 6)))
SHOES = {"angel_eye, 0 after 9": 175, "angel_eye, 1 after 9": 395, "beetek": 31}
"""The first seed that has this shoe, as found so far: a search from seed 0 takes half a minute."""
MOST = 60
_SEEDS = 400
_ENOUGH_CARDS = 12  # two rounds


@cache
def seed_of(shoe: str) -> int:
    """Return a seed that makes a simulated house with one table, which has this shoe. At that table the dealer's button
    locks the wagers, and the second round has six cards."""
    brand, _, wrap = shoe.partition(", ")
    for seed in range(SHOES[shoe], SHOES[shoe] + _SEEDS):
        with World(seed) as world:
            table = world.tables[0]
            config, wraps_to_0 = table.config, getattr(table.shoe.far, "_digits", "0")[0] == "0"
            fits = config.file.shoe.driver.name == brand and wraps_to_0 == (not wrap.startswith("1"))
            rules = config.rules.shoe  # an Angel Eye burns as many more as the first card is worth
            usual = config.rules.lock_on == "deal" and rules.decks == 2 and not rules.burn_counts_first_card
            if not (fits and usual and len(world.tables) == 1):
                continue
        with _at(seed, POINTS[-1]) as (_, table):
            if table.face is not None and table.face.phase == "round_in_play":
                return seed
    raise AssertionError(f"no seed has {shoe}")


@contextmanager
def _at(seed: int, point: str) -> Iterator[tuple[World, LiveTable]]:
    """Yield a simulated house and its table, played to this point of the table's second round. If that round's wagers
    are locked, every seat has a wager."""
    with World(seed) as world:
        table = world.tables[0]
        world.do(Action("wait", (), 2.0))
        world.do(Action("press", ("new_shoe",)))
        while table.face is not None and table.face.phase in ("first_card_due", "burning"):
            world.do(Action("draw", (), 0.3))
        seats = tuple(seat.number for seat in table.config.rules.seats)
        for last in (False, True):
            world.do(Action("wagers", seats, 0.3))
            if last and point == "wagers_open":
                break
            world.do(Action("press", ("deal",), 0.3))
            cards = int(point.rpartition(" ")[2]) if last and point.startswith("after card") else 0
            for _ in range(cards if last else _ENOUGH_CARDS):
                if table.face is not None and table.face.phase in ("wagers_locked", "round_in_play"):
                    world.do(Action("draw", (), 0.3))
        yield world, table


def stops_before_another_round(shoe: str, point: str, unheard: int) -> None:
    """Check that the table stops before it records another finished round. In the simulated round, `unheard` cards are
    drawn that the table does not receive. After them come enough cards for two rounds, which the table receives."""
    with _at(seed_of(shoe), point) as (world, table):
        before = table.face
        assert before is not None
        assert before.fault is None, before
        assert (before.phase == "wagers_open") == (point == "wagers_open"), "the round is not over"
        booked = len(table.auditor.bodies)
        world.do(Action("shoes_end", (unheard, 0.0)))
        for _ in range(_ENOUGH_CARDS):
            world.do(Action("draw", (), 0.3))
        told = b"".join(table.auditor.bodies[booked:])
        assert table.face is not None
        assert table.face.fault is not None, (shoe, point, unheard, told)
        assert b'"type":"round"' not in told, (shoe, point, unheard, told)
        assert b'"type":"hit"' not in told, (shoe, point, unheard, told)


SAMPLE = [
    *(("angel_eye, 0 after 9", "locked", unheard) for unheard in (1, 8)),
    ("angel_eye, 0 after 9", "after card 2", 8),
    ("angel_eye, 1 after 9", "wagers_open", 7),
    ("beetek", "locked", 4),
    ("beetek", "after card 3", 60),
]


@pytest.mark.parametrize(("shoe", "point", "unheard"), SAMPLE)
def test_what_was_dealt_unheard_stops_the_table(shoe: str, point: str, unheard: int) -> None:
    stops_before_another_round(shoe, point, unheard)


@pytest.mark.proof
@pytest.mark.parametrize("shoe", SHOES)
@pytest.mark.parametrize("point", POINTS)
def test_every_number_of_cards_at_every_point_of_a_round(shoe: str, point: str, figure: Callable[[str], None]) -> None:
    for unheard in range(1, MOST + 1):
        stops_before_another_round(shoe, point, unheard)
    figure(f"{shoe}, {point}: 1 to {MOST} cards drawn while the plug was out at the shoe's end; each stopped the table")
