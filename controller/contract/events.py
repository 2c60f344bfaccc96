"""The types of the events in a table's durable stream, as the table's core makes them.

`envelope.py` gives an event its id, its time and its place in the hash chain. `schemas/event.schema.json` is the
written contract. Cards are text (`KS`), and money is whole cents. `shoe` is the number of the shoe, counted within the
journal. `round` is the number of the round, counted within the shoe, with simulated rounds (rounds without wagers)
counted too. Each is None if the event does not belong to a shoe or to a round.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, to_builtins

from controller.contract.bounds import AwardName, Cents, Name, Number, TableId


class Event(Struct, frozen=True):
    """The base of all events. Each event has a type (its name in the stream), and the numbers of its shoe and its
    round."""

    TYPE: ClassVar[str]

    shoe: int | None
    round: int | None

    def body(self) -> dict[str, object]:
        """Return the event as a JSON object: its type and the fields of that type."""
        return {"type": self.TYPE, **to_builtins(self)}


class SeatK9(Struct, frozen=True):
    """A seat of the table, and the King and the 9 that are printed at that seat, as text. `k9` is None if no bet of the
    game needs the two printed cards."""

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
    """A wager that does not count in the round, and the code of the reason."""

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
    """One progressive bet of the game, at the moment when betting ended. The wagers at the seats `seats` count. Each of
    them costs `price_cents`, and a part of that price is added to the `meters`. The wagers at `refused_seats` do not
    count, and `refusal` is the code of the reason."""

    spot: str
    price_cents: int
    meters: tuple[str, ...]
    seats: tuple[int, ...]
    refused_seats: tuple[int, ...]
    refusal: str | None


class ProgressiveSeats(Struct, frozen=True):
    """A progressive bet, and the seats whose wager on the bet counted in the round."""

    spot: str
    seats: tuple[int, ...]


class Win(Struct, frozen=True, forbid_unknown_fields=True):
    """The pit's announcement to all tables, for their screens, that a progressive meter was won. `seq` numbers the wins
    at one pit. `cents` is the amount of the award. `base_cents` is the meter's level after the win."""

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
    """A message of the pit with the levels of its progressive meters, and the pit's signature of that message
    (`pit_words.MetersWord`)."""

    seq: int
    at: str
    meters: dict[str, int]
    win: Win | None
    signature: str


class Told(Struct, frozen=True):
    """The message of the pit from which the table showed the levels of its progressive meters when betting ended. The
    message had arrived `ago_ms` milliseconds before betting ended."""

    word: SaidMeters
    ago_ms: int


class WagersLocked(Event, frozen=True):
    """Betting ended: nobody may bet on this round any more. `progressive` has every progressive bet of the game.

    The wagers in `wagers` count in the round, and those in `refused` do not. Both are empty at a table without bet
    recognition, because such a table does not know the single wagers. `in_play` are the seats that play at Lucky 9, in
    order. `told` is the pit's message from which the table showed its meters. It is None if no progressive wager
    counts, if there was no such message, and in older journals.
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

    `hand` numbers the hands of a split seat from the left. `pays_cents` is what the wager won. `returned_cents` is
    everything that goes back to the bettor's circle. If a wager wins a progressive meter or a part of it, `meter` names
    the meter and no amount is given, because only the pit knows the amount.
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
    """The sums of a round's wagers, payments and commission, in cents. What was staked equals what is returned, plus
    what the house keeps, plus the commission taken. Owed commission is not in that sum, because it has not been paid
    yet."""

    staked_cents: int
    returned_cents: int
    house_cents: int
    commission_taken_cents: int
    commission_owed_cents: int


class SettlementShown(Struct, frozen=True):
    """The results of all wagers of a round, the traditional bets first, and the sums over them."""

    wagers: tuple[SettledShown, ...]
    totals: TotalsShown


FACE_DOWN = "--"
"""How a card that nobody saw is written."""


class NotRead(Struct, frozen=True):
    """A card of a round that the shoe did not read. `drawn` is the card's place among the cards of the round, from 1.

    `how` is "typed": a person named the card, because the shoe could not read the card or sent no report of it. `by` is
    the person who typed the card. `witness` is the second person, if two people had to agree.
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
    """Says of Player's hand and of Banker's hand whether its first two cards have the same rank."""

    player: bool
    banker: bool


class DragonBonusShown(Struct, frozen=True):
    """The result of the Dragon Bonus on each of the two hands: "win", "push" or "lose". A winning wager is paid at
    `pays_to_one` to one."""

    player: str
    banker: str
    pays_to_one: int | None


class AwardWon(Struct, frozen=True):
    """A seat whose wager on a progressive bet won, and the tier of the award that it won."""

    spot: str
    seat: int
    tier: str


class Round(Event, frozen=True):
    """A finished round of two hands.

    `progressive` has each progressive bet on which any seat wagered. `awards` are the winning wagers on these bets,
    sorted by bet, then from the best tier down, then by seat. `settlement` is None if the table does not know single
    wagers. `dragon_bonus` and `actives` are None if the game does not have them.
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
    """A seat's hand at Lucky 9, and the result of a wager on that hand. `hand` numbers a split seat's hands from the
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
    """An award of a share of a progressive meter. `share` is a ratio, such as "1:1" for the whole meter. `shown_cents`
    is the level that the table last showed for the meter, or None if the table showed no level."""

    meter: str
    share: str
    shown_cents: int | None


class Fixed(Struct, frozen=True):
    """An award of a fixed amount."""

    cents: int


class Hit(Event, frozen=True):
    """One winning wager on a progressive bet. The wager wins either a share of a meter (`progressive`) or a set amount
    (`fixed`), never both.

    `not_read` lists the cards of the round that the shoe did not read, because an award may rest on a card that a
    person typed. `doubts` are the codes of reasons to doubt the round's cards. If `doubts` is not empty, people must
    decide before the award can be verified.
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
    """The table learned from the pit that an award reached a new step, such as "paid". `hit` is the id of the event
    that reported the winning wager."""

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
    """The table learned from the pit that a meter was won. `shown` is True if the table's screen announced the win. The
    screen announces only a win at another table that is less than a minute old. `word_seq` is the number of the pit's
    message."""

    TYPE = "win_told"

    win: Win
    shown: bool
    word_seq: int


class HitReset(Event, frozen=True):
    """A person has handled the winning progressive wagers of the seats `seats`. The lamps that showed these hits went
    out."""

    TYPE = "hit_reset"

    seats: tuple[int, ...]
    by: str


class TestHit(Event, frozen=True):
    """Somebody tested how a winning progressive wager is reported, all the way from this seat's lamp to the pit.
    Nothing is won, and no meter changes."""

    TYPE = "test_hit"

    seat: int
    by: str


class Correction(Event, frozen=True):
    """A finished round with Player's and Banker's hands was corrected. `shoe` and `round` name that round. The other
    fields replace those in the event that reported the end of the round.

    `awards_before` and `settlement_before` are the values that held until this correction. They come from the round's
    event, or from the round's last correction.
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
    """A finished round of Lucky 9 was corrected. `shoe` and `round` name that round. The other fields replace those in
    the event that reported the end of the round. `settlement_before` is the settlement that held until this correction.
    """

    TYPE = "correction"

    by: str
    witness: str
    dealer: HandShown
    hands: tuple[SeatHandShown, ...]
    settlement: SettlementShown | None
    settlement_before: SettlementShown | None


class HandOfVoid(Struct, frozen=True):
    """A hand of a round that ended without a result: its name, and its cards in the order dealt, as people saw them.
    "--" stands for a card that lay face down."""

    hand: str
    cards: tuple[str, ...]


class Void(Event, frozen=True):
    """A round ended without a result. All wagers go back. Whatever the wagers in `progressive` had added to the meters
    is subtracted from the meters.

    `settlement` returns each wager; it is None if the table knew no wagers. `witness` is the second person, if two had
    to agree. `hands` are the hands as people saw them. `held` are the cards that were in no hand yet, because they
    waited for a call of the dealer or for a person's decision.

    `awards` are the awards that were certain, whatever cards would have come next. Each has the lowest tier that was
    possible. `would_settle` is the settlement to which every possible end of the round would have led. It is None if
    different ends would have led to different settlements, if the table knew no wagers, or if the table could not tell.
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
    """Cards that no round needed left the shoe. `cards` is their number. `fate` says what happens to them:
    "simulated_hand" (they begin a round without wagers), "next_card" (they begin the next round) or "burn".

    `by` is "rules" if the house's rules decide, or else the person who said that nobody had seen the card. `witness` is
    the second person, if two people had to say so. The event does not name the cards, because they may lie face down.
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
    """A seat paid the commission that it owed. If `cents` is below 0, money went back to the seat, because a correction
    found that the seat had paid too much."""

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
    """A supervisor read the cards that were still in an ended shoe, and the table compared all cards with the shoe's
    decks. The decks have `cards` cards in all. `gone` cards had left the shoe. Of these, `burned` had been burned
    before the first round, and `unnamed` had left without being read. `rest` cards were still in the shoe.

    `missing` are the cards, by rank and suit, that were neither read when they left nor found in the shoe at the end.
    `extra` are the cards of which there were more than the decks have. `complete` is True if no card is extra and
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
    """The table stopped because of a fault. `exits` are the acts by which a person may clear the fault and go on."""

    TYPE = "fault"

    code: str
    details: dict[str, str | int]
    exits: tuple[str, ...]


class FaultCleared(Event, frozen=True):
    """A person cleared the fault for which the table stood still. `exit` is the act by which the person cleared it."""

    TYPE = "fault_cleared"

    code: str
    by: str
    exit: str
    cards_unheard: int | None = None  # cards that left the shoe without a report; only a count finds them

    def body(self) -> dict[str, object]:
        """Return the event as a JSON object: its type and fields. If `cards_unheard` (the number of cards that left the
        shoe without a report) is None, the field is left out."""
        body = Event.body(self)
        if self.cards_unheard is None:
            del body["cards_unheard"]
        return body


class Alarm(Event, frozen=True):
    """A problem that the pit or the house must look into. The table does not stop for it."""

    TYPE = "alarm"

    code: str
    details: dict[str, str | int]
