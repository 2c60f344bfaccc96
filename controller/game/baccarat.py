"""Punto banco: who takes the next card, and how a hand ends.

The rules of drawing are a `Tableau`, a table's data (sheet 000, "Player … Banker …"); nothing here knows a number of
it. Everything is recomputed from the cards dealt so far, so a hand has no state but its cards. In Midi Baccarat they
lie face down, third cards too, until their squeezers have handed them back (`PuntoBanco.reveal`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Literal

from controller.game.cards import Card, total
from controller.game.play import Call, Draw, Laid, Play, Reveal


class Hand(StrEnum):
    """One of the two hands of a round."""

    PLAYER = "player"
    BANKER = "banker"


class Outcome(Enum):
    """Which hand came closer to nine, or neither."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Tableau:
    """The rules of drawing. Totals and third cards' point values are 0 to 9; the order within a row means nothing.

    Raises ValueError unless the naturals are the highest totals and every lower one has its row of third cards.
    """

    natural: tuple[int, ...]
    """Two-card totals of either hand on which nobody draws."""

    player_draws_on: tuple[int, ...]
    """Player's two-card totals that take a third card."""

    banker_draws_on_when_player_stands: tuple[int, ...]
    """Banker's two-card totals that take a third card when Player took none."""

    banker_draws_on_third_card: dict[int, tuple[int, ...]]
    """When Player drew: Banker's two-card total to the values of Player's third card on which Banker draws."""

    def __post_init__(self) -> None:
        if [*sorted(self.banker_draws_on_third_card), *sorted(self.natural)] != list(range(10)):
            raise ValueError("the tableau needs one row of third cards for each Banker total below the naturals")


@dataclass(frozen=True, slots=True)
class PuntoBanco:
    """The game: its tableau, and when cards are turned up.

    "dealt": as they are dealt (Mini). Otherwise face down (Midi): "input", until the dealer says that they have been
    handed back and turned up; "hand_end", until the hand is complete.
    """

    tableau: Tableau
    reveal: Literal["dealt", "input", "hand_end"]


@dataclass(frozen=True, slots=True)
class Done:
    """A complete hand: each side's two or three cards in the order dealt, and how it ended."""

    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    outcome: Outcome
    natural: bool
    """Ended by a natural: one hand or both, on two cards, so nobody drew."""

    @property
    def player_total(self) -> int:
        """Player's points, 0 to 9."""
        return total(self.player)

    @property
    def banker_total(self) -> int:
        """Banker's points, 0 to 9."""
        return total(self.banker)

    @property
    def margin(self) -> int:
        """The points between the two hands, 0 to 9, whoever won."""
        return abs(self.player_total - self.banker_total)

    @property
    def player_pair(self) -> bool:
        """Player's first two cards are of one rank (a ten and a king are not)."""
        return self.player[0].rank == self.player[1].rank

    @property
    def banker_pair(self) -> bool:
        """Banker's first two cards are of one rank."""
        return self.banker[0].rank == self.banker[1].rank


def next_play(game: PuntoBanco, plays: Sequence[Play]) -> Draw | Reveal | Done:
    """What follows the hand's `plays` so far. Face-down cards are turned up before anything is told from them.

    Raises ValueError when they are more than the hand takes.
    """
    following = next_step(game.tableau, [play for play in plays if isinstance(play, Card)])
    if game.reveal == "dealt":
        return following
    if game.reveal == "input" and (down := _face_down(game, plays)):
        return Reveal(down)
    if isinstance(following, Draw):
        four_lie = sum(isinstance(play, Card) for play in plays) >= 4
        return Draw(following.hand, face_down=True, secret=four_lie and game.reveal == "hand_end")
    return following


def _face_down(game: PuntoBanco, plays: Sequence[Play]) -> tuple[str, ...]:
    """The hands with cards to be turned up now: the first four together, then each third card by itself."""
    cards = [play for play in plays if isinstance(play, Card)]
    if len(cards) < 4:
        return ()
    return tuple(hand.hand for hand in laid(game, plays) if any(hand.face_down))


def laid(game: PuntoBanco, plays: Sequence[Play]) -> tuple[Laid, ...]:
    """Both hands as they lie, Player's first."""
    cards = [play for play in plays if isinstance(play, Card)]
    last_reveal = max((place for place, play in enumerate(plays) if play is Call.REVEAL), default=0)
    turned = sum(isinstance(play, Card) for play in plays[:last_reveal])
    if game.reveal == "dealt" or (isinstance(next_step(game.tableau, cards), Done) and game.reveal == "hand_end"):
        turned = len(cards)
    up_of = hands(game.tableau, cards[:turned])
    return tuple(
        Laid(hand, all_of, tuple(place >= len(up) for place in range(len(all_of))))
        for hand, all_of, up in zip(Hand, hands(game.tableau, cards), up_of, strict=True)
    )


def next_step(tableau: Tableau, dealt: Sequence[Card]) -> Draw | Done:
    """What follows once the cards `dealt`, in order from the hand's first, are on the layout.

    Raises ValueError when they are more than the hand takes.
    """
    player, banker = hands(tableau, dealt)
    hand = _next_hand(tableau, player, banker)
    if hand is not None:
        return Draw(hand)
    return Done(player, banker, _outcome(total(player), total(banker)), _has_natural(tableau, player, banker))


def as_it_lies(natural: Collection[int], player: Sequence[Card], banker: Sequence[Card]) -> Done:
    """A hand judged by the cards on the felt alone, whether or not the rules would have drawn them.

    `natural` are the two-card totals that end a hand.

    Raises ValueError unless each side has two or three cards.
    """
    if not (2 <= len(player) <= 3 and 2 <= len(banker) <= 3):
        raise ValueError("each hand has two or three cards")
    sides = tuple(player), tuple(banker)
    ended = len(player) == len(banker) == 2 and (total(player) in natural or total(banker) in natural)
    return Done(*sides, _outcome(total(player), total(banker)), ended)


def hands(tableau: Tableau, dealt: Sequence[Card]) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Player's and Banker's cards of a hand, complete or not, `dealt` in order from its first card.

    Raises ValueError when they are more than the hand takes.
    """
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()
    for card in dealt:
        match _next_hand(tableau, player, banker):
            case Hand.PLAYER:
                player += (card,)
            case Hand.BANKER:
                banker += (card,)
            case None:
                raise ValueError(f"the hand was complete before {card}")
    return player, banker


def _next_hand(tableau: Tableau, player: tuple[Card, ...], banker: tuple[Card, ...]) -> Hand | None:
    """The hand that the next card goes to; None when both have all they take."""
    if len(banker) < 2:  # the first four cards alternate, Player's first
        return Hand.PLAYER if len(player) == len(banker) else Hand.BANKER
    if len(banker) == 3 or _has_natural(tableau, player, banker):
        return None
    if total(player[:2]) in tableau.player_draws_on:
        if len(player) == 2:
            return Hand.PLAYER
        banker_draws = player[2].points in tableau.banker_draws_on_third_card[total(banker)]
    else:
        banker_draws = total(banker) in tableau.banker_draws_on_when_player_stands
    return Hand.BANKER if banker_draws else None


def _has_natural(tableau: Tableau, player: tuple[Card, ...], banker: tuple[Card, ...]) -> bool:
    """Either hand's first two cards are a natural."""
    return total(player[:2]) in tableau.natural or total(banker[:2]) in tableau.natural


def _outcome(player_total: int, banker_total: int) -> Outcome:
    if player_total == banker_total:
        return Outcome.TIE
    return Outcome.PLAYER if player_total > banker_total else Outcome.BANKER
