"""Punto banco: which hand takes the next card, and how a round ends.

The game file holds the rules for third cards, as a `Tableau` (sheet 000, "Player … Banker …"). No number of those rules
is in this code. Each answer is computed from all cards dealt so far, so nothing but the cards is kept for a round. In
Midi Baccarat all cards, third cards too, lie face down until the seats that squeeze them have handed them back
(`PuntoBanco.reveal`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from msgspec import Struct

from controller.rules.game.bets import Finished, Printed
from controller.rules.game.cards import Card, Points, total
from controller.rules.game.drawing import BankerDraws, Does, Drawing, check_draws, check_once
from controller.rules.game.hands import Done, Hand, TwoHands, closer_to_nine, two_hands_read
from controller.rules.game.play import Call, Draw, Laid, Play, Reveal
from controller.rules.game.seating import NOBODY, Seating, TieMoves, WinMoves


class Tableau(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of punto banco for third cards. Hands' totals, and the points of third cards, are 0 to 9. The numbers
    in a list may have any order.

    Raises ValueError unless the naturals are the highest totals, nobody draws on a natural, every lower total of Banker
    has its list of third cards, and no list names a number twice.
    """

    natural: tuple[Points, ...]
    """Two-card totals of either hand on which nobody draws."""

    player_draws_on: tuple[Points, ...]
    """Player's two-card totals that take a third card."""

    banker_draws_on_when_player_stands: tuple[Points, ...]
    """Banker's two-card totals that take a third card when Player took none."""

    banker_draws_on_third_card: dict[int, tuple[Points, ...]]
    """Where Player drew: by Banker's two-card total, the values of Player's third card on which Banker draws."""

    def __post_init__(self) -> None:
        stands, rows = "banker_draws_on_when_player_stands", self.banker_draws_on_third_card
        totals = {"player_draws_on": self.player_draws_on, stands: self.banker_draws_on_when_player_stands}
        check_draws(self.natural, totals, "banker_draws_on_third_card", [*rows])
        check_once({f"banker_draws_on_third_card.{total}": third_cards for total, third_cards in rows.items()})


class Section(Struct, frozen=True):
    """The section `[punto_banco]` of a game file: the rules for third cards, and when the face-down cards of Midi
    Baccarat count as turned up."""

    tableau: Tableau
    """`[punto_banco.tableau]`: the rules of drawing."""

    midi_reveal: Literal["input", "hand_end"] = "input"
    """When the cards of Midi count as turned up. `"input"`: when the dealer presses `reveal`. `"hand_end"`: when the
    round is complete, at a table without that button."""

    own_tableau: bool = False
    """The house means it where its tableau differs from the usual one, and `tablectl check` does not warn."""

    def dealt(self, how: Literal["mini", "midi"]) -> PuntoBanco:
        """Return the game of punto banco for a table that deals it face up ("mini") or face down ("midi")."""
        return PuntoBanco(self.tableau, self.midi_reveal if how == "midi" else "dealt")


class PuntoBanco(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag=True):
    """The game of punto banco: its rules for third cards, and when its cards are turned up (`reveal`).

    The field `reveal` has one of three values. "dealt": each card is dealt face up (Mini). "input" (Midi): cards lie
    face down until the dealer signals that they have been handed back and turned up. "hand_end" (Midi): cards lie face
    down until the round is complete.
    """

    tableau: Tableau
    reveal: Literal["dealt", "input", "hand_end"]

    roles_play: ClassVar[bool] = False
    on_win: ClassVar[WinMoves] = "loser_to_free_seat"
    on_tie: ClassVar[TieMoves] = "next_seat"
    seats_play: ClassVar[bool] = False
    house_ways: ClassVar[Mapping[str, str]] = {}

    @property
    def naturals(self) -> tuple[int, ...]:
        """The two-card totals that end a round before any third card."""
        return self.tableau.natural

    @property
    def drawing(self) -> Drawing:
        """The rules for third cards, as a list of totals for players to read."""
        says, totals = self.tableau, range(len(self.tableau.banker_draws_on_third_card))
        return Drawing(
            player=tuple(_does(points in says.player_draws_on) for points in totals),
            banker=tuple(
                BankerDraws(
                    _does(points in says.banker_draws_on_when_player_stands),
                    tuple(_does(third in says.banker_draws_on_third_card[points]) for third in range(10)),
                )
                for points in totals
            ),
        )

    @property
    def squeezed(self) -> bool:
        """True in Midi Baccarat, because there the seats are handed the cards and turn them up themselves."""
        return self.reveal != "dealt"

    @property
    def deals_face_down(self) -> bool:
        """True if any card is dealt face down, which is so in Midi Baccarat only."""
        return self.squeezed

    @property
    def calls(self) -> tuple[Call, ...]:
        """The signals that the dealer may give during a round. If the dealer signals that face-down cards have been
        turned up, this is the call "reveal". Otherwise there are no signals."""
        return (Call.REVEAL,) if self.reveal == "input" else ()

    def next_step(self, _: Seating, plays: Sequence[Play]) -> Draw | Reveal | TwoHands:
        """Return the next step of the round after these cards and signals of the dealer. Face-down cards are turned up
        before any step that would show what they are.

        Raises ValueError if the round was complete before the last card.
        """
        following = next_step(self.tableau, _cards(plays))
        if self.reveal == "dealt":
            return following
        if self.reveal == "input" and (down := self._face_down(plays)):
            return Reveal(down)
        if isinstance(following, Draw):
            four_lie = len(_cards(plays)) >= 4
            return Draw(following.hand, face_down=True, secret=four_lie and self.reveal == "hand_end")
        return following

    def laid(self, _: Seating, plays: Sequence[Play]) -> tuple[Laid, ...]:
        """Return Player's and Banker's hands as they lie on the layout after these cards and signals of the dealer."""
        lie = turned_up = hands(self.tableau, _cards(plays))
        if self.reveal != "dealt" and (self.reveal == "input" or _next_hand(self.tableau, *lie) is not None):
            last_reveal = max((place for place, play in enumerate(plays) if play is Call.REVEAL), default=0)
            turned_up = hands(self.tableau, _cards(plays[:last_reveal]))
        return tuple(
            Laid(hand, all_of, tuple(place >= len(up) for place in range(len(all_of))))
            for hand, all_of, up in zip(Hand, lie, turned_up, strict=True)
        )

    def corrected(self, _: Done, hands: Mapping[str, tuple[Card, ...]]) -> TwoHands:
        """Return the finished round with the hands that people read on the layout. `hands` maps the name of each hand
        to its cards. Raises HandsError if the hands are not Player's and Banker's, or if one of them does not have two
        or three cards."""
        return two_hands_read(self.naturals, hands)

    def seen(self, done: Done, _: Seating, __: int | None, printed: Printed) -> tuple[Finished, ...]:
        """Return the finished round in the form in which a seat's bets are judged. Every seat sees the same two hands;
        only the King and 9 printed at the seats (`printed`) differ."""
        assert isinstance(done, TwoHands), "a round of this game"
        return (Finished(done, self.naturals, *printed),)

    def most_cards(self, _: int) -> int:
        """Return the most cards that a round can take: three for each of the two hands."""
        return 6

    def _face_down(self, plays: Sequence[Play]) -> tuple[str, ...]:
        """Return the names of the hands whose face-down cards must be turned up now. The first four cards are turned up
        together, and each third card by itself."""
        if len(_cards(plays)) < 4:
            return ()
        return tuple(hand.hand for hand in self.laid(NOBODY, plays) if any(hand.face_down))


def _does(draws: bool) -> Does:
    return "draw" if draws else "stand"


def _cards(plays: Sequence[Play]) -> list[Card]:
    return [play for play in plays if isinstance(play, Card)]


def next_step(tableau: Tableau, dealt: Sequence[Card]) -> Draw | TwoHands:
    """Return the next step of a round of punto banco: the hand that takes a card, or the finished round. `dealt` are
    the cards on the layout, in the order dealt.

    Raises ValueError if the round was complete before the last card.
    """
    player, banker = hands(tableau, dealt)
    hand = _next_hand(tableau, player, banker)
    if hand is not None:
        return Draw(hand)
    return TwoHands(player, banker, closer_to_nine(player, banker), _has_natural(tableau, player, banker))


def hands(tableau: Tableau, dealt: Sequence[Card]) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Return Player's cards and Banker's cards, from all cards of a round in the order dealt. The round may be
    incomplete.

    Raises ValueError if the round was complete before the last card.
    """
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()
    for card in dealt:
        match _next_hand(tableau, player, banker):
            case Hand.PLAYER:
                player += (card,)
            case Hand.BANKER:
                banker += (card,)
            case None:  # pragma: no branch: a hand, or none
                raise ValueError(f"the round was complete before {card}")
    return player, banker


def _next_hand(tableau: Tableau, player: tuple[Card, ...], banker: tuple[Card, ...]) -> Hand | None:
    """Return the hand that takes the next card, or None if both hands are complete."""
    if len(banker) < 2:  # the first four cards alternate, Player first
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
    """Tell whether Player or Banker has a natural with the first two cards."""
    return total(player[:2]) in tableau.natural or total(banker[:2]) in tableau.natural
