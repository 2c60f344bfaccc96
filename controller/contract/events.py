"""The types of the events in a table's durable stream, as the table's core makes them.

`envelope.py` gives an event its id, its time and its place in the chain. `schemas/event.schema.json` is the written
contract. Cards are text (`KS`), money is whole cents. `shoe` counts the shoes of the journal. `round` counts the rounds
of the shoe, simulated hands included. Both are None for an event outside of a shoe or a round.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, to_builtins

from controller.contract.bounds import AwardName, Cents, Name, Number, TableId


class Event(Struct, frozen=True):
    """The base of all events. Every event has a type (its name in the stream), a shoe and a round."""

    TYPE: ClassVar[str]

    shoe: int | None
    round: int | None

    def body(self) -> dict[str, object]:
        """Return the event's type and its own fields as JSON values."""
        return {"type": self.TYPE, **to_builtins(self)}


class SeatK9(Struct, frozen=True):
    """A seat, and the text of the King and 9 that are printed at that seat. `k9` is None where no bet of the game needs
    them."""

    seat: int
    k9: str | None


class ShoeOpened(Event, frozen=True):
    """A new shoe was announced. The fields are the rules and settings that hold for this shoe."""

    TYPE = "shoe_opened"

    by: str
    game: str
    decks: int
    cut_card_from_end: int
    seats: tuple[SeatK9, ...]
    config_digest: str
    version: str


class WagerShown(Struct, frozen=True):
    """The chips on one spot at a seat. `back` is True for the chips of the back bettor, who stands behind the seated
    player."""

    seat: int
    back: bool
    spot: str
    cents: int


class RefusedShown(Struct, frozen=True):
    """A wager that does not play, and the code of the reason."""

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
    """One progressive bet of the game, at the moment when wagers were locked. Each wager of `seats` costs
    `price_cents`, and a part of that price is added to the `meters`. The wagers of `refused_seats` do not play;
    `refusal` is the code of the reason."""

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
    """The pit's announcement to all tables, for their screens, that a meter was won. `seq` numbers the wins of a pit.
    `cents` is the amount of the award. After the win the meter showed `base_cents`."""

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
    """The pit's signed message with the levels of its meters (`pit_words.MetersWord`), with the signature that the pit
    made."""

    seq: int
    at: str
    meters: dict[str, int]
    win: Win | None
    signature: str


class Told(Struct, frozen=True):
    """The pit's message from which the table showed its meters when wagers were locked. The message had arrived
    `ago_ms` milliseconds before the lock."""

    word: SaidMeters
    ago_ms: int


class WagersLocked(Event, frozen=True):
    """Wagers were locked, so nobody may bet on this round any more. `progressive` has every progressive bet of the
    game.

    `wagers` play and `refused` do not; both are empty where the table does not know wagers. `in_play` are the seats
    that play at Lucky 9, in order. `told` is None where no progressive wager plays, and in an older journal.
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
    """The result of one wager: "won", "lost", "pushed", "half_lost" or "returned".

    `hand` counts a split seat's hands from the left. `pays_cents` is what the wager won. `returned_cents` is everything
    that goes back to the bettor's circle. A wager that wins a meter, or a part of a meter, names the `meter` and no
    amount, because only the pit knows the amount.
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
    """The totals of a round's money. What was staked equals what is returned, plus what the house keeps, plus the
    commission taken. Owed commission is not in that sum, because it has not been paid yet."""

    staked_cents: int
    returned_cents: int
    house_cents: int
    commission_taken_cents: int
    commission_owed_cents: int


class SettlementShown(Struct, frozen=True):
    """The results of all wagers of a round, the traditional bets first, and the totals."""

    wagers: tuple[SettledShown, ...]
    totals: TotalsShown


FACE_DOWN = "--"
"""How a card that nobody saw is written."""


class NotRead(Struct, frozen=True):
    """A card of a round that the shoe did not read. `drawn` is its place among the cards of the round, from 1.

    `how` is "typed": a person named the card, because the shoe could not read it or no report from the shoe arrived.
    `by` typed the card, and `witness` agreed where two people had to.
    """

    drawn: int
    card: str
    how: str
    by: str
    witness: str | None


class HandShown(Struct, frozen=True):
    """The cards of a hand in the order in which they were dealt, and the hand's total."""

    cards: tuple[str, ...]
    total: int


class Pairs(Struct, frozen=True):
    """States for Player's hand and for Banker's whether the first two cards have the same rank."""

    player: bool
    banker: bool


class DragonBonusShown(Struct, frozen=True):
    """The result of the Dragon Bonus on each of the two hands: "win", "push" or "lose". `pays_to_one` is the odds that
    a winning wager is paid, to one."""

    player: str
    banker: str
    pays_to_one: int | None


class AwardWon(Struct, frozen=True):
    """A seat whose wager on a progressive bet won, and the tier of the award."""

    spot: str
    seat: int
    tier: str


class Round(Event, frozen=True):
    """A finished round of two hands.

    `progressive` has each progressive bet on which any seat wagered. `awards` are the wagers on them that won, sorted
    by bet, then the best tier first, then by seat. `settlement` is None where the table does not know wagers.
    `dragon_bonus` and `actives` are None where the game does not have them.
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
    """A seat's hand at Lucky 9, and the result of a wager on that hand. `hand` counts a split seat's hands from the
    left."""

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
    """An award of a `share` of a meter, such as "1:1". `shown_cents` is the level that the table last showed for the
    meter, or None where the table showed nothing."""

    meter: str
    share: str
    shown_cents: int | None


class Fixed(Struct, frozen=True):
    """An award of a fixed amount."""

    cents: int


class Hit(Event, frozen=True):
    """One winning wager on a progressive bet. It wins either from a meter (`progressive`) or an amount (`fixed`), never
    both.

    `not_read` lists the cards that the shoe did not read, as in the round's own event: an award may rest on a card that
    a person typed. `doubts` are codes of reasons to doubt the round's cards. People decide before such an award is
    verified.
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
    """The news, received by the table, that the pit moved an award to a new step. `hit` is the id of the hit's
    event."""

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
    """The pit told the table that a meter was won. `shown` says whether the table's screen announced the win, which the
    screen does for a win at another table less than a minute ago. `word_seq` is the number of the pit's message."""

    TYPE = "win_told"

    win: Win
    shown: bool
    word_seq: int


class HitReset(Event, frozen=True):
    """A person has handled the hits of these seats, and the lamps of the hits went out."""

    TYPE = "hit_reset"

    seats: tuple[int, ...]
    by: str


class TestHit(Event, frozen=True):
    """Somebody tested how a hit is reported, from the lamp of this seat to the pit. Nothing is won; no meter moves."""

    TYPE = "test_hit"

    seat: int
    by: str


class Correction(Event, frozen=True):
    """A finished round of two hands was corrected. `shoe` and `round` name that round. The other fields replace what
    the round's event said.

    `awards_before` and `settlement_before` are the values in the round's event, or in its last correction.
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
    """A finished round of Lucky 9 was corrected. The fields have the same meaning as in `Correction`."""

    TYPE = "correction"

    by: str
    witness: str
    dealer: HandShown
    hands: tuple[SeatHandShown, ...]
    settlement: SettlementShown | None
    settlement_before: SettlementShown | None


class HandOfVoid(Struct, frozen=True):
    """A hand of a void round: the cards that people saw, in the order dealt. "--" stands for a card that lay
    face down."""

    hand: str
    cards: tuple[str, ...]


class Void(Event, frozen=True):
    """A round ended without a result. Its wagers go back, and the parts that the `progressive` wagers had added to the
    meters are taken off again.

    `settlement` returns each wager; it is None where the table knew no wagers. `witness` is the second person, where
    two had to agree. `hands` are the hands as people saw them, and `held` the cards that waited for a person's
    decision. `awards` would have been won at this tier or a better one, whatever cards came next. `would_settle` is the
    settlement that every possible end of the round would have given, or None where there is no such settlement.
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
    """Cards left the shoe that no round needed. `cards` is their number, and `fate` says what becomes of them:
    "simulated_hand", "next_card" or "burn".

    `by` is "rules" where the house's rules decide, or else the person who said that nobody had seen the card. `witness`
    is the second person where two people had to say so. The event does not name the cards, because they may lie face
    down.
    """

    TYPE = "odd_card"

    fate: str
    cards: int
    by: str
    witness: str | None


class SeatCents(Struct, frozen=True):
    """A seat and an amount of money in cents."""

    seat: int
    cents: int


class Commission(Event, frozen=True):
    """A seat paid the commission that it owed. Where `cents` is below 0, the seat got back what a correction found to
    be too much."""

    TYPE = "commission"

    seat: int
    cents: int
    by: str


class ShoeClosed(Event, frozen=True):
    """A shoe came to its end. `reason` is "final_round", "too_few_cards", "exhausted" or "closed_early".

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
    """After a shoe had ended, somebody had the table read the cards that were still in it. `cards` is the number of
    cards in its decks. `gone` cards had left the shoe: `burned` of them before the first round, `unnamed` of them
    without a name. `rest` cards were still in it.

    `missing` are the cards, by rank and suit, that neither left the shoe under their name nor were in it at the end.
    `extra` are the cards of which there were more than the decks have. `complete` is True where no card is extra and
    exactly `unnamed` cards are missing.
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
    """The table stopped because of a fault. `exits` are the acts by which a person may clear the fault."""

    TYPE = "fault"

    code: str
    details: dict[str, str | int]
    exits: tuple[str, ...]


class FaultCleared(Event, frozen=True):
    """A person cleared the fault by one of the acts that its `exits` allowed."""

    TYPE = "fault_cleared"

    code: str
    by: str
    exit: str
    cards_unheard: int | None = None  # cards that left the shoe without a report; only a count finds them

    def body(self) -> dict[str, object]:
        """Return the event's type and fields as JSON values. The field `cards_unheard` is left out where it is None."""
        body = Event.body(self)
        if self.cards_unheard is None:
            del body["cards_unheard"]
        return body


class Alarm(Event, frozen=True):
    """A problem that the pit or the house must look at while the table goes on."""

    TYPE = "alarm"

    code: str
    details: dict[str, str | int]
