"""The table's public face: everything that lamps, status, screen, log lines and the pit's `state` may show of the
table.

The face holds no card that lies face down, and nothing from which such a card could be worked out. Of the cards that
are burned before the first round, the face shows only the first card while the others are burned, and how many are
burned and left to burn. `controller/table/public.py` makes the face.
"""

from __future__ import annotations

import msgspec

BETWEEN_SHOES = ("no_shoe", "shoe_ended")
"""The phases without an open shoe."""


class PublicHand(msgspec.Struct, frozen=True):
    """A hand on the layout: its cards as text, and their total. The total is None while a card lies face down."""

    hand: str
    """One of "player", "banker", "dealer", or a seat's: "seat_3", "seat_3_hand_2"."""

    cards: tuple[str, ...]
    total: int | None


class PublicResult(msgspec.Struct, frozen=True):
    """The result of a hand that a seat played, after the seat's wager on the hand was settled."""

    seat: int
    hand: str
    result: str
    """One of "won", "lost", "pushed" and "half_lost"."""


class PublicSettled(msgspec.Struct, frozen=True):
    """The result of a round for one seat, with all its wagers taken together: "won", "lost" or "even"."""

    result: str
    """One of "won", "lost" and "even". A progressive award is won, whatever its amount."""

    won: tuple[str, ...]
    """The spots that won, the one that won most first."""


class PublicChoice(msgspec.Struct, frozen=True):
    """A seat that has to choose now, with the options for its hand."""

    seat: int
    hand: str
    options: tuple[str, ...] | None
    """None where the options would tell a face-down card."""


class PublicFault(msgspec.Struct, frozen=True):
    """The fault for which the table stands still. The fields hold nothing that players must not see."""

    id: str
    """The name of this one stop, such as "3-2": an act that leaves the fault names it."""

    code: str
    details: dict[str, str | int]
    exits: tuple[str, ...]
    """The acts that leave the fault."""

    held_cards: int
    """How many cards wait for a person's decision."""


class PublicHit(msgspec.Struct, frozen=True):
    """A seat's winning wager on a progressive bet, and the last step of its award at the pit, such as "verified"."""

    shoe: int
    round: int
    """The round of the shoe in which the wager was won."""

    spot: str
    seat: int
    tier: str
    meter: str | None
    """The meter that it wins; None for a fixed award."""

    share: str
    """The part of the meter that it wins: "1:1" is all of it, "1:10" a tenth."""

    shown_cents: int | None
    """What it wins by what the meter showed."""

    step: str
    """One of "hit", "pending", "verified", "paid" and "rejected"; or "disputed", while people have to decide on the
    amount."""

    cents: int | None
    """What the pit says that it wins."""


class PublicWager(msgspec.Struct, frozen=True):
    """The chips on one spot at a seat."""

    seat: int
    back: bool
    """Whether they are the back bettor's, behind the seat."""

    spot: str
    cents: int
    refused: str | None = None
    """The code that says why the wager does not play; None where it does."""


class PublicProgressive(msgspec.Struct, frozen=True):
    """One progressive bet of the game. After betting has ended: the seats whose wagers count, and the seats whose
    wagers were refused."""

    spot: str
    seats: tuple[int, ...] = ()
    refused_seats: tuple[int, ...] = ()
    refusal: str | None = None
    """The code of the reason, where any was refused."""


class Public(msgspec.Struct, frozen=True):
    """Everything that may be shown of the table to anybody."""

    table: str
    """The table's id."""

    game: str
    phase: str
    shoe: int | None
    round: int | None
    """The round in play; between rounds, the last round."""

    next_round: int | None
    """The number of the round that is dealt next. A wager that is placed now is for that round."""

    seats: tuple[int, ...]
    first_card: str | None
    """The shoe's first card, while cards are burned after it."""

    burn_left: int | None
    """How many cards are left to burn."""

    burned: int | None
    """How many cards were put away before the shoe's first round, the first card among them."""

    hands: tuple[PublicHand, ...]
    """The hands in play; between rounds, the hands of the last round."""

    next_hand: str | None
    """The hand that takes the next card."""

    next_seat: int | None
    """The seat of that hand, where the hand is a seat's."""

    choice: PublicChoice | None
    reveal: tuple[str, ...]
    """The hands whose cards are turned up first."""

    squeezing: dict[str, int | None]
    """By face-down hand, the seat that holds its cards; None is the dealer."""

    occupied: tuple[int, ...]
    actives: dict[str, int]
    """The two active seats of Baccarat Royal, by hand."""

    outcome: str | None
    results: tuple[PublicResult, ...]
    """What became of each hand that a seat played, at Lucky 9 and at Baccarat Royal, until the next round ends."""

    simulated: bool
    odd_card: bool
    """Whether a person may still say that the card drawn in error opens no simulated hand."""

    kept: int
    """How many cards were drawn early. They are the first cards of the next round."""

    wagers_stand: tuple[int, ...] | None
    """The seats whose sensor saw a wager when a card of the next round left the shoe. No wager is placed or changed
    from then on. None: wagers may be placed."""

    final_round: bool
    """Whether the round that takes wagers or is dealt now is the last of the shoe."""

    cards_left: int | None
    left_at_cut_card: int | None
    """How many cards were left when the cut card came."""

    wagers: tuple[PublicWager, ...]
    """They lie on the layout, or play."""

    progressive: tuple[PublicProgressive, ...]
    """Every progressive bet, and its seats once wagers are locked."""

    hits: tuple[PublicHit, ...]
    settled: dict[str, PublicSettled]
    """By seat, what became of its wagers, until the next round ends."""

    commission_owed: dict[str, int]
    """Cents by seat."""

    fault: PublicFault | None
    closed: tuple[str, ...] = ()
    """The spots on which the open shoe takes no wager any more, from the next round on. Wagers that are locked play."""


class PublicRound(msgspec.Struct, frozen=True):
    """A finished round of the shoe that is being dealt, with all later corrections. `outcome`, `natural` and the pairs
    have a meaning only in games of two hands."""

    number: int
    simulated: bool
    outcome: str | None
    natural: bool
    player_pair: bool
    banker_pair: bool
    hands: tuple[PublicHand, ...]
