"""The types of a table's placard (what holds for the whole shoe): its game, seats, limits, bets and pays.
`controller/table/placard.py` makes the placard."""

from __future__ import annotations

from typing import Any

import msgspec

When = dict[str, Any]
"""A row's condition: only the words of `game/bets.py` that the row has, and what each asks."""


class SeatK9(msgspec.Struct, frozen=True):
    """A seat of the table, and the King and the 9 that are printed at that seat, as text. `k9` is None if no bet of the
    game needs the two printed cards."""

    seat: int
    k9: str | None


class Limits(msgspec.Struct, frozen=True):
    """The limits on wagers that the game file sets for all bets of a table."""

    circle_minimum_cents: int
    circle_maximum_cents: int
    side_minimum_cents: int
    side_maximum_cents: int
    increment_cents: int
    tie_only_meets_minimum: bool
    back_bettors: bool
    one_of: tuple[tuple[str, ...], ...]
    counted_together: str
    back_bets_beside: str
    largest_circle_counts: str
    equal_circles_squeezed_by: str
    no_bets_after_round: int | None = None
    """The last round of a shoe in which any wager is taken."""

    no_bets_in_final_round: bool = False
    """Whether no wager at all is taken in a shoe's last round."""


class BankerDraws(msgspec.Struct, frozen=True):
    """What Banker does ("draw", "stand" or "choose") when Banker's first two cards have a certain total. There is one
    answer for the case that Player stood, and one for each value of Player's third card."""

    player_stood: str
    on_third_card: tuple[str, ...]
    """Where Player drew: by the value of Player's third card, 0 to 9."""


class Drawing(msgspec.Struct, frozen=True):
    """The rules for third cards. Each field lists what one hand does on a total of 0, of 1, and so on. Totals beyond
    the end of a list are naturals. A list is empty if the game does not have that hand, or if the hand's player chooses
    freely."""

    player: tuple[str, ...] = ()
    banker: tuple[BankerDraws, ...] = ()
    dealer: tuple[str, ...] = ()


class PlacardRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule of a bet: a condition on the finished round, and the result of a wager if the condition holds. Fields
    that the rule does not have are left out of the JSON."""

    when: When
    pays: str | None = None
    """What the wager wins to one, such as "8:1"."""

    commission_taken: str | None = None
    """The part of the win that the house keeps, such as "1:20"."""

    commission_owed: str | None = None
    """The part of the win that the seat owes from now on."""

    result: str | None = None
    award: str | None = None
    """The name of an award."""

    cents: int | None = None
    """The amount of a fixed award."""

    meter: str | None = None
    """The progressive meter that the award pays."""

    share: str = ""
    """How much of that meter the award pays: "1:1" is all of it."""

    words: dict[str, str] | None = None
    """The house's own words for the condition, by language."""


class PlacardBet(msgspec.Struct, frozen=True):
    """A bet of the game: its spot on the layout, its limits, and the rules that decide a wager on it."""

    spot: str
    limits: str
    """Which limits hold where the bet has none of its own: "circle" or "side"."""

    minimum_cents: int | None
    maximum_cents: int | None
    price_cents: int | None
    """The single price of a wager, instead of limits."""

    optional: bool
    between_actives: bool
    """Whether only the two active seats make this wager, against each other."""

    unequal_stakes: str
    rows: tuple[PlacardRow, ...]
    needs: tuple[str, ...] = ()
    """The same bettor must have a wager on at least one of these spots too."""

    maximum_of_needed: str | None = None
    """The most on this spot, by what the same bettor has on the spots of `needs` together: "1:2" is half of it."""

    pays_at_most_cents: int | None = None
    """The most that one wager wins by a row that pays to one."""

    awards_return_stake: bool = False
    """Whether the stake goes back beside an award."""

    no_bets_after_round: int | None = None
    """The last round of a shoe in which a wager is taken here."""

    no_bets_in_final_round: bool = False
    """Whether no wager is taken here in a shoe's last round."""

    after_split: str = ""
    """The hand of a split seat that decides: "leftmost", "rightmost" or "best". Empty where no split hand does."""


class Placard(msgspec.Struct, frozen=True):
    """What a table's players may read of its rules: the game, the seats, the limits and the bets. Money is in cents,
    and odds are text."""

    name: str
    """What people call the table."""

    table: str
    """The table's id."""

    game: str
    dealt_face_down: bool
    roles: bool
    """Whether two active seats play the two hands."""

    house_ways: dict[str, str]
    """The house's own ways to play the game, such as what splits."""

    seat_hands: bool
    """Whether each seat plays a hand of its own."""

    naturals: tuple[int, ...]
    """The two-card totals that are naturals."""

    decks: int
    burn_counts_first_card: bool
    cut_card_from_end: int
    seats: tuple[SeatK9, ...]
    limits: Limits
    bets: tuple[PlacardBet, ...]
    drawing: Drawing = Drawing()
    pays_unit_cents: int = 1
    """What a wager wins is rounded to a multiple of this."""

    pays_rounded: str = "up"
    """How: "up" or "down"."""

    languages: tuple[str, ...] = ("en", "vi")
    """What the players' page is in where a browser asks for no language: one, or two side by side."""

    seats_told: bool = True
    """Whether anything can be told of a single seat, such as its wager, its award or its hand."""
