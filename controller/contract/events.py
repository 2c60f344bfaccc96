"""The events of a table's durable stream, as the core makes them: what happened, ready to be said in JSON.

`envelope.py` gives an event its id, time and place in the chain; `schemas/event.schema.json` is the written contract.
Cards are text (`KS`), money whole cents. `shoe` and `round` number shoes from the journal's first and hands, simulated
ones included, from the shoe's first; None where the event belongs to none.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """What every event has: its type in the stream, and the shoe and round it belongs to."""

    TYPE: ClassVar[str]

    shoe: int | None
    round: int | None

    def body(self) -> dict[str, object]:
        """The event's own fields as JSON values, its type among them."""
        return {"type": self.TYPE, **asdict(self)}


@dataclass(frozen=True, slots=True)
class SeatK9:
    """A seat and the King and 9 printed at it."""

    seat: int
    k9: str


@dataclass(frozen=True, slots=True)
class ShoeOpened(Event):
    """A new shoe was announced; what it will be played by."""

    TYPE = "shoe_opened"

    by: str
    game: str
    decks: int
    cut_card_from_end: int
    seats: tuple[SeatK9, ...]
    config_digest: str
    version: str


@dataclass(frozen=True, slots=True)
class WagersLocked(Event):
    """Wagers were locked. The meters grow by `royal9_seats`; the seats refused were told why by `refusal`."""

    TYPE = "wagers_locked"

    by: str
    royal9_seats: tuple[int, ...]
    royal9_price_cents: int
    refused_seats: tuple[int, ...]
    refusal: str | None


@dataclass(frozen=True, slots=True)
class HandShown:
    """A hand's cards in the order they came, and its total."""

    cards: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which hand's first two cards are of one rank."""

    player: bool
    banker: bool


@dataclass(frozen=True, slots=True)
class DragonBonusShown:
    """The Dragon Bonus on either hand: "win", "push" or "lose"; what the winning side is paid, to one."""

    player: str
    banker: str
    pays_to_one: int | None


@dataclass(frozen=True, slots=True)
class SeatTier:
    """A seat whose Royal 9 wager won, and the tier."""

    seat: int
    tier: str


@dataclass(frozen=True, slots=True)
class Round(Event):
    """A finished hand. `royal9` lists every wagered seat that won, best tier first, then by seat."""

    TYPE = "round"

    outcome: str
    player: HandShown
    banker: HandShown
    natural: bool
    margin: int
    pairs: Pairs
    simulated: bool
    last_hand: bool
    cards_left: int
    dragon_bonus: DragonBonusShown
    royal9_seats: tuple[int, ...]
    royal9: tuple[SeatTier, ...]


@dataclass(frozen=True, slots=True)
class Progressive:
    """An award that is a whole meter."""

    meter: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """An award that is an amount."""

    cents: int


@dataclass(frozen=True, slots=True)
class Hit(Event):
    """One winning Royal 9 wager: a meter (`progressive`) or an amount (`fixed`), never both."""

    TYPE = "hit"

    seat: int
    tier: str
    player: HandShown
    banker: HandShown
    progressive: Progressive | None
    fixed: Fixed | None


@dataclass(frozen=True, slots=True)
class Correction(Event):
    """A finished round amended by reference: `shoe` and `round` name it, and the rest is what holds instead.

    `royal9_before` is what had been told of the Royal 9 wagers, by the round or its last correction.
    """

    TYPE = "correction"

    by: str
    witness: str
    outcome: str
    player: HandShown
    banker: HandShown
    natural: bool
    margin: int
    pairs: Pairs
    dragon_bonus: DragonBonusShown
    royal9: tuple[SeatTier, ...]
    royal9_before: tuple[SeatTier, ...]


@dataclass(frozen=True, slots=True)
class Void(Event):
    """A hand ended without a result: its wagers go back, and what `royal9_seats` put on the meters is reversed."""

    TYPE = "void"

    by: str
    reason: str
    simulated: bool
    royal9_seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShoeClosed(Event):
    """A shoe came to its end: "last_hand", "too_few_cards", "exhausted" or "closed_early"."""

    TYPE = "shoe_closed"

    reason: str
    by: str
    rounds: int
    wagered_hands: int
    cards_left: int


@dataclass(frozen=True, slots=True)
class Fault(Event):
    """The table stopped. `exits` are the acts that leave the fault."""

    TYPE = "fault"

    code: str
    what: str
    do: str
    details: dict[str, str | int]
    exits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FaultCleared(Event):
    """A person left the fault by one of its exits."""

    TYPE = "fault_cleared"

    code: str
    by: str
    exit: str


@dataclass(frozen=True, slots=True)
class Alarm(Event):
    """Something the pit or the house must look at, though the table goes on."""

    TYPE = "alarm"

    code: str
    what: str
    do: str
    details: dict[str, str | int]
