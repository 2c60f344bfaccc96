"""The rules by which one table plays. They are made from the game file and the table's seats.

A shoe is played to its end under the rules with which it was opened, so the journalled fact `ShoeOpened` holds these
rules.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from controller.rules.game.bets import Bet
from controller.rules.game.cards import PersonalK9
from controller.rules.game.games import Game
from controller.rules.game.settlement import Rounding
from controller.rules.game.wagers import WagerRules

LockOn = Literal["deal", "first_card"]
DrawnInError = Literal["simulated_hand", "burn", "next_card"]


class ShoeRules(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The house's rules about the shoe: decks, burn, cut card and cards drawn in error (sheet 000)."""

    decks: int
    """Decks of 52 cards in the shoe."""

    burn_counts_first_card: bool = False
    """The first card is worth N. `false`: N more cards are burned. `true`: the first card counts as one of the N."""

    cut_card_from_end: int
    """How many cards lie behind the cut card."""

    hands_after_cut_card: int
    """How many rounds are dealt after the round inside which the cut card came."""

    fewest_cards_to_open: int
    """With fewer cards left in the shoe, wagers are not opened."""

    drawn_in_error: DrawnInError
    """What becomes of a card that nobody needs. `"simulated_hand"`: a round without wagers begins with the card.
    `"burn"`: the card is burned. `"next_card"`: the card is the first card of the next round."""

    hands_after_cut_card_first: int = 1
    """How many rounds are dealt after the cut card where it came in place of a round's first card, or inside a
    simulated hand."""

    cut_card_tolerance: int = 10
    """Where the cut card comes more than so many cards from its place, an alarm says how many cards were left. The
    cut card counts all the same."""

    voided_hand_counts: bool = True
    """Whether a round that a supervisor voids counts as one of the rounds after the cut card. `false`: another
    round is dealt in its place."""

    unseen_cards_by_dealer: int = 1
    """How many cards of a shoe, drawn in error, the dealer alone may call unseen. For each further card a second person
    must agree. `0`: a second person must agree for every such card."""

    commission_before_new_shoe: bool = True
    """Whether owed commission must be collected before a new shoe begins. A supervisor may let the commission stand."""


class Seat(Struct, frozen=True, forbid_unknown_fields=True):
    """A seat of the table: its number, and the king and the nine that are printed there."""

    number: int
    """The seat's number on the layout, from 1 to 99."""

    k9: PersonalK9 | None = None
    """The King and the 9 printed at the seat, where a bet of the game needs them. No two seats have the same two."""


class TableRules(Struct, frozen=True, forbid_unknown_fields=True):
    """All the rules that the table's state depends on.

    `sensors` are the seats that have a sensor. Each sensor watches the chip on the spot `sensed`, which is the spot of
    a progressive bet. If `bet_recognition` is False, the table knows no other wagers and settles nothing in money.
    `bets` are the bets of the game; wagers are settled in the order of `bets`.
    """

    table: str  # the table's id: in every topic and event
    game: str  # the game's name on its sheet
    lock_on: LockOn
    seats: tuple[Seat, ...]
    sensors: tuple[int, ...]
    sensed: str | None
    bet_recognition: bool
    shoe: ShoeRules
    play: Game
    wagers: WagerRules
    rounding: Rounding
    bets: tuple[Bet, ...]
    fastest_card_ms: int = 0  # see the table's file; 0 for a shoe that was opened before these were known
    longest_lock_s: int = 0
    procedure: int = 3
    """How the shoe's facts are folded. 2 is the procedure of commit 0f50807, and 1 is that of commit f6a00a5: a card
    that the shoe kept is the next round's first card, and the shoe's reports about kept cards are compared at once."""

    @property
    def seat_numbers(self) -> tuple[int, ...]:
        """The numbers of the table's seats, in the order of `seats`."""
        return tuple(seat.number for seat in self.seats)

    @property
    def progressives(self) -> tuple[Bet, ...]:
        """The progressive bets of the game, in the order of the game file."""
        return tuple(bet for bet in self.bets if bet.progressive)

    @property
    def meters(self) -> frozenset[str]:
        """The names of the progressive meters from which the game's bets are paid."""
        return frozenset(meter for bet in self.bets for meter in bet.meters)
