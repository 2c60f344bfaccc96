"""The schedule of a stress test, drawn from a seed before the test begins. It says which process is killed, which table
stops receiving its shoe's reports, and which connection is cut, and when.

The same seed gives the same schedule. What the processes are doing at those moments still differs from run to run.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Victim = Literal["daemon", "broker", "pit", "absence", "cable", "freeze"]
"""Who is killed; or how a table does not hear its shoe: its daemon is gone for rounds, its cable is out for as long, or
its daemon is frozen, with its cable pulled meanwhile or not."""

UNHEARD: tuple[Victim, ...] = ("absence", "cable", "freeze")
"""Those of a table that does not hear its shoe."""

_AT_THE_LOCK = 0
_MOST_CARDS = 6
_ANY_MOMENT_S = 0.03  # from a card to the pit's acknowledgement of what it ended takes some ms
_LONGEST_DOWN_S = 1.5
_MOST_ROUNDS_UNHEARD = 4
_SURELY_LOST_S, _LONGEST_FREEZE_S = 10.0, 30.0  # the kernel keeps what comes for 8.5 s, or 4.3 s
_LONG_FREEZES = 0.1  # of all; a short one is over in a second or two


@dataclass(frozen=True, slots=True)
class Strike:
    """One planned strike of the stress test: a process is killed (kill -9), or a table stops receiving its shoe's
    reports. It comes `after_s` seconds after the dealer pressed the deal button (`place` 0) or dealt card number
    `place` of the round.

    A broker or pit is started again after `down_s` seconds. A daemon is started again immediately or, with `deals_on`,
    after the rest of the round was dealt without it. If the table stops receiving its shoe's reports, the rest of the
    round is dealt, and then `unheard_rounds` more rounds for which no wagers are locked. After those the shoe sends
    nothing for `down_s` seconds.
    """

    table: int
    round: int
    place: int
    victim: Victim
    after_s: float
    down_s: float
    deals_on: bool
    unheard_rounds: int = 0
    replugs: bool = False


def strikes(seed: int, tables: int, rounds: int, kills: Mapping[Victim, int]) -> tuple[Strike, ...]:
    """Draw the planned strikes (kills and interruptions) of a stress test. `kills` says how many there are for each
    victim. They are spread at random over the rounds of all tables, at most one in each round."""
    rng = random.Random(f"{seed} strikes")
    victims: list[Victim] = [victim for victim, count in kills.items() for _ in range(count)]
    places = rng.sample([(table, round_) for table in range(tables) for round_ in range(rounds)], len(victims))
    return tuple(_strike(rng, victim, table, round_) for victim, (table, round_) in zip(victims, places, strict=True))


def _strike(rng: random.Random, victim: Victim, table: int, round_: int) -> Strike:
    unheard = victim in UNHEARD
    replugs = victim == "freeze" and rng.random() < 0.5
    down_s = rng.uniform(0, _LONGEST_DOWN_S)
    if victim == "freeze" and rng.random() < _LONG_FREEZES:
        down_s = rng.uniform(_SURELY_LOST_S, _LONGEST_FREEZE_S)
    return Strike(
        table=table,
        round=round_,
        place=rng.randint(_AT_THE_LOCK, _MOST_CARDS),
        victim=victim,
        after_s=rng.uniform(0, _ANY_MOMENT_S),
        down_s=down_s,
        deals_on=unheard or rng.random() < 0.3,
        unheard_rounds=rng.randint(0, _MOST_ROUNDS_UNHEARD) if unheard and (victim != "freeze" or replugs) else 0,
        replugs=replugs,
    )


def of_table(table: int, all_strikes: Sequence[Strike]) -> dict[int, Strike]:
    """Return the planned strikes (kills and interruptions) at table number `table`: a dictionary that maps the number
    of a round to its strike."""
    return {strike.round: strike for strike in all_strikes if strike.table == table}


Direction = Literal["to_broker", "from_broker"]
Kind = Literal["delay", "reset", "close", "half_close", "silence"]

Plan = Mapping[Direction, list["Trouble"]]
"""What befalls one connection, each direction's troubles in their order."""

ENDINGS: tuple[Kind, ...] = ("reset", "close", "half_close", "silence")
"""The troubles that cut a link."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One planned trouble of a connection through a proxy. It comes when `at_byte` bytes have passed in one direction,
    before the next byte passes.

    A "delay" holds up that direction for `lasts_s` seconds. The other kinds end the connection. With "reset" both ends
    get a reset. With "close" both ends get an end of stream. With "half_close" one end gets an end of stream, and the
    opposite direction stays open for `lasts_s` seconds. With "silence" no byte passes for `lasts_s` seconds, and then
    both ends get a reset.
    """

    at_byte: int
    kind: Kind
    lasts_s: float


def troubles(
    seed: int, link: str, connection: int, mean_bytes: Mapping[Direction, int]
) -> dict[Direction, list[Trouble]]:
    """Draw the troubles of one connection through the proxy `link`: some delays in both directions, and one trouble
    that ends the connection. `connection` is the connection's number. `mean_bytes` is how many bytes pass before a
    trouble on average.

    One connection in six is cut before a client can do anything with it.
    """
    rng = random.Random(f"{seed} {link} {connection}")
    plan: dict[Direction, list[Trouble]] = defaultdict(list)
    for direction, mean in mean_bytes.items():
        at = 0
        for _ in range(rng.randint(0, 3)):
            at += 1 + int(rng.expovariate(1 / mean))
            plan[direction].append(Trouble(at, "delay", rng.uniform(0.01, 0.5)))
    ends = rng.choice(list(mean_bytes))
    early = rng.random() < 1 / 6
    at = rng.randint(1, 6000) if early else 6000 + int(rng.expovariate(1 / mean_bytes[ends]))
    kept = [trouble for trouble in plan[ends] if trouble.at_byte < at]
    plan[ends] = [*kept, Trouble(at, rng.choice(ENDINGS), rng.uniform(0.1, 2.0))]
    return plan
