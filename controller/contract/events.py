"""The events of a table's durable stream as the core makes them.

`envelope.py` gives an event its id, its time and its place in the chain. `schemas/event.schema.json` is the written
contract. Cards are text (`KS`), money is whole cents. `shoe` counts the shoes of the journal. `round` counts the rounds
of the shoe, simulated hands included. Both are None for an event outside of a shoe or a round.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, to_builtins

from controller.contract.bounds import AwardName, Cents, Name, Number, TableId


class Event(Struct, frozen=True):
    """What every event has: its type in the stream, and its shoe and round."""

    TYPE: ClassVar[str]

    shoe: int | None
    round: int | None

    def body(self) -> dict[str, object]:
        """The event's own fields as JSON values, with its type."""
        return {"type": self.TYPE, **to_builtins(self)}


class SeatK9(Struct, frozen=True):
    """A seat, and the King and 9 printed there where a bet of the game needs them."""

    seat: int
    k9: str | None


class ShoeOpened(Event, frozen=True):
    """A new shoe was announced, and these are its rules."""

    TYPE = "shoe_opened"

    by: str
    game: str
    decks: int
    cut_card_from_end: int
    seats: tuple[SeatK9, ...]
    config_digest: str
    version: str


class WagerShown(Struct, frozen=True):
    """Chips on a spot of a seat: the seated player's, or the back bettor's behind the seat."""

    seat: int
    back: bool
    spot: str
    cents: int


class RefusedShown(Struct, frozen=True):
    """A wager that does not play, and the code that says why."""

    seat: int
    back: bool
    spot: str
    cents: int
    code: str


class ActivesShown(Struct, frozen=True):
    """The two active seats of Baccarat Royal."""

    player: int
    banker: int


class ProgressiveLocked(Struct, frozen=True):
    """A progressive bet of the game when wagers were locked. Each of `seats` adds its part of `price_cents` to the
    `meters`. The wagers of `refused_seats` do not play; `refusal` is the code of the reason."""

    spot: str
    price_cents: int
    meters: tuple[str, ...]
    seats: tuple[int, ...]
    refused_seats: tuple[int, ...]
    refusal: str | None


class ProgressiveSeats(Struct, frozen=True):
    """A progressive bet, and the seats whose wager on it played."""

    spot: str
    seats: tuple[int, ...]


class Win(Struct, frozen=True, forbid_unknown_fields=True):
    """A meter was won, for the screens of all tables. `seq` numbers the wins of a pit. `cents` is the amount of the
    award, and the meter then showed `base_cents`."""

    seq: Number
    at: str
    table: TableId
    award: AwardName
    spot: Name
    tier: Name
    meter: Name
    cents: Cents
    base_cents: Cents


class SaidMeters(Struct, frozen=True):
    """The pit's word on the meters, as the pit signed it (`pit_words.MetersWord`)."""

    seq: int
    at: str
    meters: dict[str, int]
    win: Win | None
    signature: str


class Told(Struct, frozen=True):
    """The pit's word by which the table showed its meters at the lock. The word had come `ago_ms` before the lock."""

    word: SaidMeters
    ago_ms: int


class WagersLocked(Event, frozen=True):
    """Wagers were locked. `progressive` has every progressive bet of the game.

    `wagers` play and `refused` do not; both are None where the table does not know wagers. `in_play` are the seats that
    play at Lucky 9, in order. `told` is None where no progressive wager plays, and in an older journal.
    """

    TYPE = "wagers_locked"

    by: str
    progressive: tuple[ProgressiveLocked, ...]
    wagers: tuple[WagerShown, ...]
    refused: tuple[RefusedShown, ...]
    in_play: tuple[int, ...]
    actives: ActivesShown | None
    told: Told | None = None


class SettledShown(Struct, frozen=True):
    """What became of one wager: "won", "lost", "pushed", "half_lost" or "returned".

    `hand` counts a split seat's hands from the left. `pays_cents` is what the wager won. `returned_cents` is everything
    that goes back to the circle. A win of a meter, or of a part of a meter, names the `meter` and no amount: only the
    pit knows the amount.
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


class TotalsShown(Struct, frozen=True):
    """A round's money: staked is returned plus house plus commission taken. Owed commission has not moved yet."""

    staked_cents: int
    returned_cents: int
    house_cents: int
    commission_taken_cents: int
    commission_owed_cents: int


class SettlementShown(Struct, frozen=True):
    """Every wager's result, the traditional bets first."""

    wagers: tuple[SettledShown, ...]
    totals: TotalsShown


FACE_DOWN = "--"
"""How a card that nobody saw is written."""


class NotRead(Struct, frozen=True):
    """A card of a round that the shoe did not read. It was the `drawn`-th card of the round, from 1.

    `how` is "typed": a person named the card, as the shoe could not read it or nobody heard the shoe. `by` typed it,
    and `witness` agreed where two people had to.
    """

    drawn: int
    card: str
    how: str
    by: str
    witness: str | None


class HandShown(Struct, frozen=True):
    """A hand's cards in the order in which they came, and its total."""

    cards: tuple[str, ...]
    total: int


class Pairs(Struct, frozen=True):
    """For each hand, whether its first two cards have the same rank."""

    player: bool
    banker: bool


class DragonBonusShown(Struct, frozen=True):
    """The Dragon Bonus on either hand: "win", "push" or "lose"; and what a winning wager on it pays, to one."""

    player: str
    banker: str
    pays_to_one: int | None


class AwardWon(Struct, frozen=True):
    """A seat whose wager on a progressive bet won, and the tier that it won."""

    spot: str
    seat: int
    tier: str


class Round(Event, frozen=True):
    """A finished round of two hands.

    `progressive` has each progressive bet that any seat wagered on. `awards` are the wagers that won: by bet, then the
    best tier first, then by seat. `settlement` is None where the table does not know wagers. `dragon_bonus` and
    `actives` are None where the game does not have them.
    """

    TYPE = "round"

    outcome: str
    player: HandShown
    banker: HandShown
    natural: bool
    margin: int
    pairs: Pairs
    simulated: bool
    final_round: bool
    cards_left: int
    dragon_bonus: DragonBonusShown | None
    progressive: tuple[ProgressiveSeats, ...]
    awards: tuple[AwardWon, ...]
    actives: ActivesShown | None
    settlement: SettlementShown | None
    not_read: tuple[NotRead, ...]


class SeatHandShown(Struct, frozen=True):
    """A seat's hand at Lucky 9, and what became of a wager on it. `hand` counts a split seat's hands from the left."""

    seat: int
    hand: int
    cards: tuple[str, ...]
    total: int
    result: str


class SeatsRound(Event, frozen=True):
    """A finished round of Lucky 9: the dealer's hand, and each seat's hands."""

    TYPE = "round"

    dealer: HandShown
    hands: tuple[SeatHandShown, ...]
    simulated: bool
    final_round: bool
    cards_left: int
    settlement: SettlementShown | None
    not_read: tuple[NotRead, ...]


class Progressive(Struct, frozen=True):
    """An award of a `share` of a meter, such as "1:1". `shown_cents` is what the table last showed on the meter; it is
    None where the table showed nothing."""

    meter: str
    share: str
    shown_cents: int | None


class Fixed(Struct, frozen=True):
    """An award of a fixed amount."""

    cents: int


class Hit(Event, frozen=True):
    """One winning wager on a progressive bet. It wins a meter (`progressive`) or an amount (`fixed`), never both.

    `not_read` is as in the round's own event: an award may rest on a card that a person typed. `doubts` are codes of
    what speaks against the round's cards. People decide before such an award is verified.
    """

    TYPE = "hit"

    spot: str
    seat: int
    tier: str
    player: HandShown
    banker: HandShown
    progressive: Progressive | None
    fixed: Fixed | None
    not_read: tuple[NotRead, ...]
    doubts: tuple[str, ...] = ()


class Award(Event, frozen=True):
    """A step of an award at the pit, as the table heard it. `hit` is the id of the hit's event."""

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


class WinTold(Event, frozen=True):
    """The table heard of a win, and its screen told it where it was `shown`: the win was another table's, and less
    than a minute old. `word_seq` is the number of the pit's word that told it."""

    TYPE = "win_told"

    win: Win
    shown: bool
    word_seq: int


class HitReset(Event, frozen=True):
    """A person has handled these seats' hits: their lamps went out."""

    TYPE = "hit_reset"

    seats: tuple[int, ...]
    by: str


class TestHit(Event, frozen=True):
    """Somebody tested how a hit is reported, from the lamp of this seat to the pit. Nothing is won; no meter moves."""

    TYPE = "test_hit"

    seat: int
    by: str


class Correction(Event, frozen=True):
    """A finished round of two hands was corrected. `shoe` and `round` name that round; the other fields hold from now.

    `awards_before` and `settlement_before` are what the round's event, or its last correction, said.
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


class SeatsCorrection(Event, frozen=True):
    """A finished round of Lucky 9 was corrected. The fields mean what they mean in `Correction`."""

    TYPE = "correction"

    by: str
    witness: str
    dealer: HandShown
    hands: tuple[SeatHandShown, ...]
    settlement: SettlementShown | None
    settlement_before: SettlementShown | None


class HandOfVoid(Struct, frozen=True):
    """A hand of a void round: the cards that people saw, in order. A card that lay face down is "--"."""

    hand: str
    cards: tuple[str, ...]


class Void(Event, frozen=True):
    """A round ended without a result. Its wagers go back, and the parts that the `progressive` wagers added to the
    meters are taken off.

    `settlement` returns each wager; None where the table knew no wagers. `witness` is the second person, where two had
    to agree. `hands` are the hands as people saw them, and `held` the cards that waited for a person's decision.
    `awards` would have been won whatever cards came next, each at least so high. `would_settle` is the settlement,
    where every end of the round would have given the same.
    """

    TYPE = "void"

    by: str
    witness: str | None
    reason: str
    simulated: bool
    progressive: tuple[ProgressiveSeats, ...]
    settlement: SettlementShown | None
    hands: tuple[HandOfVoid, ...]
    held: tuple[str, ...]
    awards: tuple[AwardWon, ...]
    would_settle: SettlementShown | None


class OddCard(Event, frozen=True):
    """Cards left the shoe that no round needed: `cards` is their number, and `fate` is "simulated_hand", "next_card" or
    "burn".

    `by` is "rules" where the house's rules decide, or the person who said that nobody had seen the card; `witness` is
    the second person where two said so. The cards themselves are not told: they may lie face down.
    """

    TYPE = "odd_card"

    fate: str
    cards: int
    by: str
    witness: str | None


class SeatCents(Struct, frozen=True):
    """A seat and an amount."""

    seat: int
    cents: int


class Commission(Event, frozen=True):
    """A seat paid the commission that it owed. Below 0: the seat got back what a correction found to be too much."""

    TYPE = "commission"

    seat: int
    cents: int
    by: str


class ShoeClosed(Event, frozen=True):
    """A shoe came to its end: "final_round", "too_few_cards", "exhausted" or "closed_early".

    `commission_owed` must be collected before the next shoe.
    """

    TYPE = "shoe_closed"

    reason: str
    by: str
    rounds: int
    wagered_rounds: int
    cards_left: int
    commission_owed: tuple[SeatCents, ...]


class ShoeReconciled(Event, frozen=True):
    """Somebody read the cards that an ended shoe still held. `cards` is how many its decks have, `gone` how many left
    the shoe, `burned` of them before the first round and `unnamed` without a name; `rest` is how many it still held.

    `missing` are the cards, by rank and suit, that neither left the shoe under their name nor were in it at the end,
    and `extra` those of which there were more than its decks have. `complete`: none is extra, and just `unnamed` are
    missing.
    """

    TYPE = "shoe_reconciled"

    cards: int
    gone: int
    burned: int
    unnamed: int
    rest: int
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    complete: bool
    by: str


class ShoeInspected(Event, frozen=True):
    """Somebody inspected the card-reading shoe at the table, and read its serial number and its firmware's version."""

    TYPE = "shoe_inspected"

    serial: str
    firmware: str
    by: str


class Fault(Event, frozen=True):
    """The table stopped. `exits` are the acts that leave the fault."""

    TYPE = "fault"

    code: str
    details: dict[str, str | int]
    exits: tuple[str, ...]


class FaultCleared(Event, frozen=True):
    """A person left the fault by one of its exits."""

    TYPE = "fault_cleared"

    code: str
    by: str
    exit: str
    cards_unheard: int | None = None  # cards that left the shoe without a report; only a count finds them

    def body(self) -> dict[str, object]:
        """As every event's body, but without a `cards_unheard` of None."""
        body = Event.body(self)
        if self.cards_unheard is None:
            del body["cards_unheard"]
        return body


class Alarm(Event, frozen=True):
    """Something that the pit or the house must look at while the table goes on."""

    TYPE = "alarm"

    code: str
    details: dict[str, str | int]
