"""The simulated dealer, who opens shoes, deals rounds, and sometimes draws a card in error."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from drivers.sim import rules
from drivers.sim.account import Account
from drivers.sim.deck import CUT, Deck
from drivers.sim.felt import Game
from drivers.sim.house import Coming, ShoeProcedure
from drivers.sim.people import Cues
from drivers.sim.punto_banco import PuntoBanco
from drivers.sim.shoe import CardShoe
from drivers.sim.wagers import Bets

_A_HAND = 6  # the most cards of a simulated hand


class _Shoe(Struct):
    """The shoe that the simulated dealer is dealing, with the numbers of its rounds so far."""

    number: int
    deck: Deck
    rounds: int = 0
    wagered_rounds: int = 0  # begun
    last_wagered_round: int | None = None  # known once the cut card was seen
    in_wagered_round: bool = False


class Dealer:
    """The simulated dealer, who deals shoe after shoe by the game's rule sheet and writes the simulation's record. The
    dealer keeps to the rule sheet whatever the shoe or the controller reports.

    `error_rate` is the probability that the dealer draws a card in error after a finished round. The house's
    `procedure` says whether that card is burned or begins a simulated round (a round without wagers).
    """

    def __init__(
        self,
        shoe: CardShoe,
        decks: Iterable[Deck],
        cues: Cues,
        account: Account,
        *,
        game: Game | None = None,
        procedure: ShoeProcedure | None = None,
        seed: int = 0,
        error_rate: float = 0.0,
    ) -> None:
        self._card_shoe = shoe
        self._decks = decks
        self._cues = cues
        self._account = account
        self._game = game or PuntoBanco()
        self._procedure = procedure or ShoeProcedure()
        self._slips = random.Random(f"{seed} slips")
        self._error_rate = error_rate

    def play(self, rounds: int | None = None) -> None:
        """Deal until `rounds` rounds with wagers are finished. If `rounds` is None, deal until all shuffled shoes are
        dealt."""
        self._rounds_to_go = rounds
        for number, deck in enumerate(self._decks, 1):
            self._play_shoe(_Shoe(number, deck))
            if self._rounds_to_go == 0:
                return

    def _play_shoe(self, shoe: _Shoe) -> None:
        self._shoe = shoe
        self._open()
        while self._rounds_to_go != 0:
            self._wagered_round()
            if shoe.wagered_rounds == shoe.last_wagered_round:
                self._account.shoe_closed(
                    shoe=shoe.number,
                    rounds=shoe.rounds,
                    wagered_rounds=shoe.wagered_rounds,
                    cards_left=shoe.deck.cards_left,
                )
                self._cues.shoe_over()
                return
            while self._rounds_to_go != 0 and self._draws_in_error():
                self._slip()

    def _open(self) -> None:
        self._card_shoe.new_shoe()
        self._cues.announce_shoe()
        self._cues.card_due("burn")
        first_card = self._draw()
        burned = rules.burn_count(first_card, counts_first=self._procedure.burn_counts_first_card)
        for _ in range(burned):
            self._cues.card_due("burn")
            self._draw()
        self._account.shoe_opened(
            shoe=self._shoe.number,
            first_card=first_card,
            burned=burned,
            cards_left=self._shoe.deck.cards_left,
        )

    def _wagered_round(self) -> None:
        last = self._shoe.last_wagered_round
        coming = Coming(self._shoe.rounds + 1, last is not None and self._shoe.wagered_rounds + 1 >= last)
        bets = self._cues.take_wagers(coming)
        self._cues.lock_wagers()
        self._account.wagers_locked(shoe=self._shoe.number, round_=self._shoe.rounds + 1, bets=bets)
        self._round(_Felt(self._cues, self._draw, self._begin), bets)
        if self._rounds_to_go is not None:
            self._rounds_to_go -= 1

    def _begin(self) -> None:
        """Count a round with wagers. The count goes up when the round's first card is drawn."""
        self._shoe.wagered_rounds += 1
        self._shoe.in_wagered_round = True

    def _draws_in_error(self) -> bool:
        """Decide by chance whether the dealer draws a card in error now. Return False if too few cards might be left
        for the next round, or if no card may be drawn in error from this shoe.

        Return False too if the house keeps a card drawn in error for the next round, because the card would lie on the
        table before anybody has wagered.
        """
        if self._procedure.drawn_in_error == "next_card":
            return False
        takes = 1 if self._procedure.slips_are_burned else _A_HAND
        enough = self._shoe.deck.cards_left >= takes + self._procedure.fewest_cards_to_open
        return self._shoe.deck.slips and enough and self._slips.random() < self._error_rate

    def _slip(self) -> None:
        """Draw a card in error. By the house's procedure, the card is burned, or it begins a round without wagers."""
        if self._procedure.slips_are_burned:
            self._draw()
        else:
            self._round(_Felt(self._cues, self._draw, already_drawn=self._draw()), None)

    def _round(self, felt: _Felt, bets: Bets | None) -> None:
        shoe = self._shoe
        shoe.rounds += 1
        dealt = self._game.deal(felt, bets)
        shoe.in_wagered_round = False
        self._account.round(
            shoe=shoe.number,
            round_=shoe.rounds,
            simulated=bets is None,
            final_round=shoe.wagered_rounds == shoe.last_wagered_round,
            cards_left=shoe.deck.cards_left,
            dealt=dealt,
        )
        self._cues.round_over(dealt)

    def _draw(self) -> str:
        """Draw a card from the shoe and return it. If the cut card comes before it, draw the cut card too."""
        shoe = self._shoe
        card = shoe.deck.draw()
        if card == CUT:
            self._card_shoe.cut_card()
            if not self._card_shoe.tells_cut_card:
                self._cues.cut_card_out()
            says = self._procedure
            more = says.hands_after_cut_card if shoe.in_wagered_round else says.hands_after_cut_card_first
            shoe.last_wagered_round = shoe.wagered_rounds + more
            card = shoe.deck.draw()
        self._card_shoe.draw(card)
        return card


class _Felt:
    """The table on which the simulated dealer deals one round. Before each card, it waits until the signals `cues` let
    the dealer draw the card. `begin` is called when the round's first card was drawn.

    If the dealer has drawn a card in error, `already_drawn` names this card. It becomes the round's first card, and no
    signal is waited for.
    """

    def __init__(
        self, cues: Cues, draw: Callable[[], str], begin: Callable[[], None] | None = None, already_drawn: str = ""
    ) -> None:
        self._cues = cues
        self._draw = draw
        self._begin = begin
        self._already_drawn = already_drawn

    def card(self, to: str) -> str:
        """Wait until the table lets the next card be dealt to `to` ("player", "banker", "dealer" or a seat), draw the
        card, and return it."""
        card, self._already_drawn = self._already_drawn, ""
        if card:
            return card
        self._cues.card_due(to)
        card = self._draw()
        if self._begin is not None:
            self._begin()
            self._begin = None
        return card

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Let the player of `seat` choose one of the options, and return the choice. The player's hand has `points`
        points."""
        return self._cues.choice(seat, options, points)

    def reveal(self, *hands: str) -> None:
        """Have the face-down cards of these hands ("player", "banker" or "dealer") turned up."""
        self._cues.reveal(hands)
