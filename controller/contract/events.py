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
    """A seat, and the King and 9 printed at it where a bet of the game asks for them."""

    seat: int
    k9: str | None


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
class WagerShown:
    """Chips on a spot of a seat's circle: the seated player's, or the back bettor's behind the seat."""

    seat: int
    back: bool
    spot: str
    cents: int


@dataclass(frozen=True, slots=True)
class RefusedShown:
    """A wager that does not play, and the code that says why."""

    seat: int
    back: bool
    spot: str
    cents: int
    code: str


@dataclass(frozen=True, slots=True)
class ActivesShown:
    """Baccarat Royal's active seats."""

    player: int
    banker: int


@dataclass(frozen=True, slots=True)
class ProgressiveLocked:
    """A progressive bet of the game as wagers were locked. Its `meters` grow by a wager of `price_cents` at each of
    `seats`; those of `refused_seats` do not play, and `refusal` is the code why."""

    spot: str
    price_cents: int
    meters: tuple[str, ...]
    seats: tuple[int, ...]
    refused_seats: tuple[int, ...]
    refusal: str | None


@dataclass(frozen=True, slots=True)
class ProgressiveSeats:
    """A progressive bet, and the seats whose wager on it played."""

    spot: str
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WagersLocked(Event):
    """Wagers were locked. `progressive` has every progressive bet of the game.

    `wagers` play and `refused` do not, where the table knows them; `in_play` are Lucky 9's seats in their order.
    """

    TYPE = "wagers_locked"

    by: str
    progressive: tuple[ProgressiveLocked, ...]
    wagers: tuple[WagerShown, ...]
    refused: tuple[RefusedShown, ...]
    in_play: tuple[int, ...]
    actives: ActivesShown | None


@dataclass(frozen=True, slots=True)
class SettledShown:
    """What became of one wager: "won", "lost", "pushed", "half_lost" or "returned".

    `hand` counts a split seat's hands from its left. `pays_cents` is won, `returned_cents` all that goes back to the
    circle. A win of a meter or of a part of it names the `meter` and no amount: the pit knows that.
    """

    seat: int
    back: bool
    spot: str
    hand: int | None
    cents: int
    result: str
    pays_cents: int
    commission_cents: int
    returned_cents: int
    meter: str | None


@dataclass(frozen=True, slots=True)
class TotalsShown:
    """A hand's money: what was staked is what was returned, and what the house kept, its commission among it."""

    staked_cents: int
    returned_cents: int
    house_cents: int
    commission_taken_cents: int
    commission_owed_cents: int


@dataclass(frozen=True, slots=True)
class SettlementShown:
    """Every wager's result, the traditional bets first."""

    wagers: tuple[SettledShown, ...]
    totals: TotalsShown


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
class AwardWon:
    """A seat whose wager on a progressive bet won, and the tier."""

    spot: str
    seat: int
    tier: str


@dataclass(frozen=True, slots=True)
class Round(Event):
    """A finished round of two hands.

    `progressive` has each progressive bet that any seat wagered on; `awards` lists the wagers that won: bet by bet,
    best tier first, then by seat. `settlement` is None where the table knows no wagers, `dragon_bonus` and `actives`
    where the game has none.
    """

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
    dragon_bonus: DragonBonusShown | None
    progressive: tuple[ProgressiveSeats, ...]
    awards: tuple[AwardWon, ...]
    actives: ActivesShown | None
    settlement: SettlementShown | None


@dataclass(frozen=True, slots=True)
class SeatHandShown:
    """A seat's hand at Lucky 9, and what became of a wager on it. `hand` counts a split seat's hands from its left."""

    seat: int
    hand: int
    cards: tuple[str, ...]
    total: int
    result: str


@dataclass(frozen=True, slots=True)
class SeatsRound(Event):
    """A finished round of Lucky 9: the dealer's hand, and each seat's."""

    TYPE = "round"

    dealer: HandShown
    hands: tuple[SeatHandShown, ...]
    simulated: bool
    last_hand: bool
    cards_left: int
    settlement: SettlementShown | None


@dataclass(frozen=True, slots=True)
class Progressive:
    """An award that is `share` of a meter ("1:1" is all of it, "1:10" a tenth), and what the table last showed of the
    meter; None where it showed nothing."""

    meter: str
    share: str
    shown_cents: int | None


@dataclass(frozen=True, slots=True)
class Fixed:
    """An award that is an amount."""

    cents: int


@dataclass(frozen=True, slots=True)
class Hit(Event):
    """One winning wager on a progressive bet: of a meter (`progressive`) or an amount (`fixed`), never both."""

    TYPE = "hit"

    spot: str
    seat: int
    tier: str
    player: HandShown
    banker: HandShown
    progressive: Progressive | None
    fixed: Fixed | None


@dataclass(frozen=True, slots=True)
class Award(Event):
    """A step of a hit's way at the pit, as the table saw it. `hit` is the id of the hit's event."""

    TYPE = "award"

    award: str
    hit: str
    spot: str
    seat: int
    tier: str
    meter: str | None
    cents: int
    step: str
    by: str


@dataclass(frozen=True, slots=True)
class HitReset(Event):
    """Somebody saw to these seats' hits: their lamps went out."""

    TYPE = "hit_reset"

    seats: tuple[int, ...]
    by: str


@dataclass(frozen=True, slots=True)
class Correction(Event):
    """A finished round of two hands amended by reference: `shoe` and `round` name it, the rest is what holds instead.

    `awards_before` and `settlement_before` are what had been told, by the round or its last correction.
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
    dragon_bonus: DragonBonusShown | None
    awards: tuple[AwardWon, ...]
    awards_before: tuple[AwardWon, ...]
    settlement: SettlementShown | None
    settlement_before: SettlementShown | None


@dataclass(frozen=True, slots=True)
class SeatsCorrection(Event):
    """A finished round of Lucky 9 amended by reference, as `Correction` amends one of two hands."""

    TYPE = "correction"

    by: str
    witness: str
    dealer: HandShown
    hands: tuple[SeatHandShown, ...]
    settlement: SettlementShown | None
    settlement_before: SettlementShown | None


@dataclass(frozen=True, slots=True)
class Void(Event):
    """A hand ended without a result: its wagers go back, and what those on `progressive` put on the meters is reversed.

    `settlement` returns each wager, where the table knew any.
    """

    TYPE = "void"

    by: str
    reason: str
    simulated: bool
    progressive: tuple[ProgressiveSeats, ...]
    settlement: SettlementShown | None


@dataclass(frozen=True, slots=True)
class SeatCents:
    """An amount of a seat's."""

    seat: int
    cents: int


@dataclass(frozen=True, slots=True)
class Commission(Event):
    """A seat paid the commission it owed; below 0 cents, it was given back what a correction found to be too much."""

    TYPE = "commission"

    seat: int
    cents: int
    by: str


@dataclass(frozen=True, slots=True)
class ShoeClosed(Event):
    """A shoe came to its end: "last_hand", "too_few_cards", "exhausted" or "closed_early".

    `commission_owed` is to be collected before the next shoe.
    """

    TYPE = "shoe_closed"

    reason: str
    by: str
    rounds: int
    wagered_hands: int
    cards_left: int
    commission_owed: tuple[SeatCents, ...]


@dataclass(frozen=True, slots=True)
class Fault(Event):
    """The table stopped. `exits` are the acts that leave the fault."""

    TYPE = "fault"

    code: str
    details: dict[str, str | int]
    exits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FaultCleared(Event):
    """A person left the fault by one of its exits."""

    TYPE = "fault_cleared"

    code: str
    by: str
    exit: str
    cards_unheard: int | None = None  # that left the shoe and were counted by nobody's report; only a count tells

    def body(self) -> dict[str, object]:
        """As every event's; what was not counted is not in it."""
        said = Event.body(self)
        if self.cards_unheard is None:
            del said["cards_unheard"]
        return said


@dataclass(frozen=True, slots=True)
class Alarm(Event):
    """Something the pit or the house must look at, though the table goes on."""

    TYPE = "alarm"

    code: str
    details: dict[str, str | int]
