"""A demonstration (the story): the first shoe of a simulated table, with captions that explain what happens at the
table.

The shoe's cards, its wagers and one failed reading are arranged beforehand, so that a viewer sees within two minutes
what takes weeks at a real table. Everything else is as in any simulation: the shoe's reports, the lamps, the table's
answers. After the demonstration's shoe the same people go on with random cards and wagers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from controller.basics.errors import TableError
from drivers.sim import rules
from drivers.sim.account import Account
from drivers.sim.cashier import Paid
from drivers.sim.crowd import Crowd, wise_choice
from drivers.sim.deck import Deck, shuffled
from drivers.sim.felt import Dealt, Game
from drivers.sim.house import Coming, House, Limits
from drivers.sim.line import Line, PtyLine
from drivers.sim.people import Clock, Cues, Players, paused_s
from drivers.sim.screen import Face, Screen
from drivers.sim.shoe import CardShoe
from drivers.sim.wagers import FIRST, Actives, Bets, Bettors, Refusal, Wager

_READ_S = 2.2  # the time to read a caption, at speed 1
_TRIES = 1000
_MOST_CARDS = 60  # of a round: seven seats that split their pairs
_FIRST_CARD = "2"  # two more are burned: a short burn
_MISREAD_CARD = 3  # the number of that card in its round
_SHOWN, _MISREAD = 1, 2  # the round that shows the game, and the round with the misread card
_POLL_S = 0.02
_PATIENCE_S = 60.0
_SUPERVISOR = "Smith"


class Stage(Protocol):
    """The interface of the program that shows a demonstration. It shows captions, and does what happens away from the
    table, such as paying at the pit."""

    def say(self, caption: str) -> None:
        """Show a caption of the demonstration, one line of text."""

    def pay(self) -> None:
        """Have people at the pit verify and pay every award that can be verified and paid now."""

    def pull_cable(self) -> None:
        """Pull the table's network cable."""

    def plug_cable(self) -> None:
        """Plug the table's network cable in again."""

    def leave(self) -> None:
        """Wait until the simulated people may leave the table and take the shoe with them. This is called after the
        last round."""


class Plan(Struct, frozen=True):
    """The arranged shoe of a demonstration. `burned` are the burned cards, and `rounds` the cards of each round in
    order. `occupied` are the occupied seats, and `covered` the seats with chips on their sensor in the first round."""

    house: House
    occupied: tuple[int, ...]
    covered: tuple[int, ...]
    burned: tuple[str, ...]
    rounds: tuple[tuple[str, ...], ...]

    @property
    def last(self) -> int:
        """The number of the last round that is arranged for the demonstration, counted from 1."""
        return len(self.rounds)

    def deck(self, seed: int) -> Deck:
        """Return the cards of the demonstration's shoe: first the planned cards, then all other cards in random order.
        The cut card lies among the planned cards."""
        first = [*self.burned, *(card for cards in self.rounds for card in cards)]
        rest = next(shuffled(seed, self.house.shoe.decks))
        for card in first:
            rest.remove(card)
        into_its_round = 2 if self.house.shoe.hands_after_cut_card else 0
        before_cut = len(self.burned) + sum(map(len, self.rounds[: self._cut_in - 1])) + into_its_round
        return Deck([*first, *rest], len(first) + len(rest) - before_cut, slips=False)

    @property
    def _cut_in(self) -> int:
        return self.last - self.house.shoe.hands_after_cut_card


def planned(house: House, game: Game, seed: int) -> Plan:
    """Plan the demonstration's shoe for this game. If such cards are found, a bet wins in its first round: a bet that
    pays from a meter, if the game has one."""
    rng = random.Random(f"{seed} story")
    occupied = house.seats[: 5 if house.kind == "punto_banco" else 3]
    covered = tuple(seat for seat in occupied if seat in house.sensors)[:2]
    more = rules.burn_count(_FIRST_CARD + "S", counts_first=house.shoe.burn_counts_first_card)
    burned = (
        _FIRST_CARD + rng.choice(rules.SUITS),
        *(rng.choice("34567") + suit for suit in rng.sample(rules.SUITS, more)),
    )
    left = [rank + suit for rank in rules.RANKS for suit in rules.SUITS] * house.shoe.decks
    for card in burned:
        left.remove(card)
    rounds: list[tuple[str, ...]] = []
    for number in range(1, 4 + house.shoe.hands_after_cut_card):
        bets = _foreseen_bets(house.limits, occupied, covered if number == _SHOWN else (), number)
        pairs = [house.printed[seat].split() for seat in covered if seat in house.printed] if number == _SHOWN else []
        rounds.append(_stacked(game, bets, left, rng, house.limits, pairs, shows=number == _SHOWN))
        for card in rounds[-1]:
            left.remove(card)
    return Plan(house, occupied, covered, burned, tuple(rounds))


def _stacked(
    game: Game,
    bets: Bets,
    left: Sequence[str],
    rng: random.Random,
    limits: Limits,
    pairs: Sequence[Sequence[str]],
    *,
    shows: bool,
) -> tuple[str, ...]:
    """Find and return the cards for one round of the demonstration, by trying random cards. If no trial fits, return
    the cards of the last trial.

    If `shows` is True, look for cards with which an award from a meter is won. If the game has no such award, look for
    another award, or for a side bet that wins if the game has no progressive bet. If `shows` is False, look for cards
    with which no award is won. If `pairs` are given, one of these pairs is dealt to Player or to Banker.
    """
    for _ in range(_TRIES):
        cards = rng.sample(left, _MOST_CARDS)
        if pairs:
            side = rng.randrange(2)
            cards[side], cards[side + 2] = rng.choice(pairs)
        felt = _Foreseen(cards)
        dealt = game.deal(felt, bets)
        fits = _shown(dealt, limits) >= _most_shown(limits) if shows else not dealt.awards
        if fits and len(felt.drawn) > _MISREAD_CARD:
            break
    return tuple(felt.drawn)


class _Foreseen:
    """A table on which a round is dealt only as a trial, while a demonstration is planned. Nobody sees the round."""

    def __init__(self, cards: Sequence[str]) -> None:
        self._cards = iter(cards)
        self.drawn: list[str] = []

    def card(self, to: str) -> str:
        self.drawn.append(next(self._cards))
        return self.drawn[-1]

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        return wise_choice(options, points)

    def reveal(self, *hands: str) -> None:
        """Do nothing, because nobody sees these cards."""


def _most_shown(limits: Limits) -> int:
    rows = [row for bet in limits.bets for row in bet.rows]
    return 3 if any(row.meter for row in rows) else 2 if limits.prices_cents else 1


def _shown(dealt: Dealt, limits: Limits) -> int:
    """Return how well a round shows the game: 3 if an award from a meter was won, 2 if another award was won, 1 if only
    a side bet won, and 0 if none of these won."""
    if dealt.awards:
        return 3 if any(won.row.meter for won in dealt.awards) else 2
    return int(_best_side(dealt, limits) is not None)


def _best_side(dealt: Dealt, limits: Limits) -> Paid | None:
    """Return the side bet that paid the highest odds in the round, or None if no side bet won. The tie does not count,
    because every game has that bet."""
    sides = {bet.spot for bet in limits.bets if not bet.in_circle} - {"tie"}
    won = [each for each in dealt.paid if each.wager.spot in sides and each.result == "won"]
    return max(won, key=lambda paid: paid.pays / paid.wager.cents, default=None)


def _foreseen_bets(limits: Limits, occupied: Sequence[int], covered: Collection[int], number: int) -> Bets:
    actives = Actives(*occupied[:2]) if "stake" in limits.spots else None
    made = tuple(_wagers(limits, occupied, covered, number, actives))
    on = {spot: tuple(wager.seat for wager in made if wager.spot == spot) for spot in limits.prices_cents}
    return Bets({spot: seats for spot, seats in on.items() if seats}, made, (), actives)


def _wagers(
    limits: Limits, occupied: Collection[int], covered: Collection[int], number: int, actives: Actives | None
) -> Iterator[Wager]:
    """Yield the planned wagers of a demonstration's round. Every seat has a main wager. In the first round, the side
    bets are divided among the seats."""
    others = [bet.spot for bet in limits.bets if not bet.in_circle and bet.spot != limits.sensed]
    seats = [seat for seat in sorted(occupied) if actives is None or seat not in actives.both]
    for seat in actives.both if actives else ():
        yield Wager(seat, "stake", _least(limits, "stake"))
    for place, seat in enumerate(seats):
        main = "hand" if "hand" in limits.spots else ("player", "banker")[place % 2]
        yield Wager(seat, main, _least(limits, main))
        sides = others[place :: len(seats)] if number == _SHOWN else []
        for spot in [*sides, *([limits.sensed] if limits.sensed and seat in covered else [])]:
            yield Wager(seat, spot, limits.prices_cents.get(spot) or _least(limits, spot))


def _least(limits: Limits, spot: str) -> int:
    minimum_cents, _ = limits.range_cents(spot)
    return minimum_cents + -minimum_cents % limits.increment_cents


class StoryPlayers(Players):
    """Simulated players who put chips on the seats' sensors as planned during the demonstration, and at random after
    it. `round` is the number of the demonstration's round, or None after the demonstration."""

    round: int | None = 0

    def __init__(self, seed: int, plan: Plan) -> None:
        super().__init__(seed, plan.house.sensors, plan.house.limits)
        self._plan = plan

    def choose(self) -> dict[int, bool]:
        """Decide for each seat whether its sensor is covered in the next round."""
        if self.round is None:
            return super().choose()
        return {seat: self.round == _SHOWN and seat in self._plan.covered for seat in self._plan.house.sensors}


class StoryBettors(Bettors):
    """Simulated bettors who wager as planned during the demonstration, and at random after it. Bet recognition reports
    their wagers to the table."""

    round: int | None = 0

    def choose(
        self,
        occupied: Collection[int],
        covered: Mapping[int, bool],
        actives: Actives | None,
        coming: Coming = FIRST,
    ) -> tuple[list[Wager], tuple[Refusal, ...]]:
        """Return the wagers for the round `coming`, and the refusals of the wagers among them that the house refuses.
        During the demonstration no wager is refused."""
        if self.round is None:
            return super().choose(occupied, covered, actives, coming)
        seen = [seat for seat, is_covered in covered.items() if is_covered]
        planned, takes = _wagers(self._limits, occupied, seen, self.round, actives), self._limits.open_spots(coming)
        return [wager for wager in planned if wager.spot in takes], ()


class StoryCrowd(Crowd):
    """Simulated players who occupy a few seats and choose wisely during the demonstration. After it the other seats are
    taken too, and the players choose as in any simulation: mostly, but not always, wisely."""

    over = False
    first: Collection[int] = ()

    def choose(self, options: Sequence[str], points: int) -> str:
        """Return the choice of a player whose hand has this many points. During the demonstration this is always the
        wise choice."""
        return super().choose(options, points) if self.over else wise_choice(options, points)

    def _move(self) -> None:
        if self.over:
            super()._move()
        elif not self.occupied:
            self._sit(set(self.first))

    def story_ends(self) -> None:
        """Tell these players that the demonstration is over, and let players take every seat."""
        self.over = True
        self._sit(set(self._seats))


class Cast(Struct, frozen=True):
    """The people of a demonstration, and the plan that they all follow."""

    plan: Plan
    players: StoryPlayers
    bettors: StoryBettors
    crowd: StoryCrowd

    def round_begins(self, number: int | None) -> None:
        """Tell the people of the demonstration which round is next. `number` is None when the demonstration is over."""
        self.players.round = self.bettors.round = number
        if number is None:
            self.crowd.story_ends()


def cast_for(plan: Plan, seed: int, screen: Screen, account: Account) -> Cast:
    """Return the people of a demonstration, who follow this plan."""
    house = plan.house
    bettors = StoryBettors(seed, house.limits, house.seats)
    crowd = StoryCrowd(seed, screen, account, bettors, house.seats, roles=house.roles)
    crowd.first = plan.occupied
    return Cast(plan, StoryPlayers(seed, plan), bettors, crowd)


class StoryCues:
    """The signals between the simulated dealer and the table, with captions that explain them during the demonstration.
    After the demonstration there are no captions."""

    def __init__(self, cues: Cues, cast: Cast, stage: Stage, screen: Screen, *, speed: float, clock: Clock) -> None:
        self._cues = cues
        self._cast = cast
        self._plan = cast.plan
        self._stage = stage
        self._screen = screen
        self._speed = speed
        self._clock = clock
        self._round: int | None = 0
        self._cards = 0  # drawn in the round, or in the burn
        self._said: set[str] = set()

    def announce_shoe(self) -> None:
        """Announce to the table that a new shoe is in place. The demonstration first shows the caption of scene 1."""
        if self._round == 0:
            self._say("1/6 A new shoe. The dealer shuffles and presses new_shoe; both draw lamps light.")
        self._cues.announce_shoe()

    def card_due(self, to: str) -> None:
        """Wait until the dealer may draw the next card. During the burn and during the last round of the demonstration,
        captions are shown too."""
        if self._round is not None:
            self._cards += 1
            if to == "burn" and self._cards == 2:
                self._say("    The first card is a 2, so two more are burned. Nobody is told which.")
            if self._round == self._plan.last and self._cards == 2:
                self._say("6/6 The table's network cable is pulled. The fault lamp blinks slowly.")
                self._stage.pull_cable()
                self._say("    The game goes on, and what the pit must know waits in the journal.")
        self._cues.card_due(to)

    def take_wagers(self, coming: Coming) -> Bets:
        """Let the players wager on the round `coming`, and return the wagers. The demonstration counts its rounds here,
        and shows the captions of scene 2."""
        if self._round is not None:
            self._round, self._cards = self._round + 1, 0
            self._cast.round_begins(self._round)
        if self._round == _SHOWN:
            if (sensed := self._plan.house.limits.sensed) is not None:
                self._say(f"2/6 Wagers. A seat's lamp flashes: a chip may go on {_plain(sensed)}.")
            else:
                self._say("2/6 Wagers. Bet recognition tells the table every chip.")
        bets = self._cues.take_wagers(coming)
        if self._round == _SHOWN and bets.actives is not None:
            actives = bets.actives
            self._say(f"    By lot, seat {actives.player} plays Player's hand and seat {actives.banker} Banker's.")
        return bets

    def lock_wagers(self) -> None:
        """Tell the table that no more wagers are taken. In its first round, the demonstration shows the captions that
        end scene 2 and begin scene 3."""
        if self._round == _SHOWN:
            lamps = " A lamp that is lit plays." if self._plan.covered else ""
            self._say(f"    The dealer presses deal: no more wagers.{lamps}")
        self._cues.lock_wagers()
        if self._round == _SHOWN:
            self._say("3/6 A round. A lamp says where the next card goes.")

    def cut_card_out(self) -> None:
        """Report the cut card to the table, because the shoe does not report it."""
        self._cues.cut_card_out()

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Let the player of the seat choose among the options, and return the choice. In the demonstration, captions
        explain the first choice."""
        self._say_once(f"    Seat {seat} may choose. Its lamp is lit with short pauses.")
        chosen = self._cues.choice(seat, options, points)
        self._say_once(f"    Its player says {chosen}, and the dealer presses that button.")
        return chosen

    def reveal(self, hands: Sequence[str]) -> None:
        """Have the face-down cards of these hands turned up. In the demonstration, a caption explains this the first
        time that it happens."""
        self._say_once("    Cards lie face down. The table tells nobody which, until reveal is pressed.")
        self._cues.reveal(hands)

    def round_over(self, dealt: Dealt) -> None:
        """Do what the dealer does after a complete round. After its first round, the demonstration shows what was won.
        If awards were won, it waits until they are paid."""
        self._cues.round_over(dealt)
        if self._round != _SHOWN:
            return
        for won in dealt.awards:
            row = won.row
            wins = f"on the meter {_plain(row.meter)}" if row.meter else _dollars(row.cents)
            self._say(f"    Seat {won.seat} wins {_plain(won.spot)}, {_plain(row.award or '')}, {wins}.")
        if dealt.awards:
            self._paid(sorted({won.seat for won in dealt.awards if won.row.meter}))
        elif (side := _best_side(dealt, self._plan.house.limits)) is not None:
            staked, won_cents = _dollars(side.wager.cents), _dollars(side.pays)
            self._say(f"    Seat {side.wager.seat} wins {_plain(side.wager.spot)}: {won_cents} for {staked}.")

    def shoe_over(self) -> None:
        """Do what the dealer does after the last round of a shoe. The demonstration shows the captions that end its
        last scene."""
        if self._round is not None and self._face().commission_owed:
            self._say("    The shoe is over. Each seat pays the commission that it owes.")
        self._cues.shoe_over()
        if self._round is None:
            return
        self._say(
            f"    Events that wait: {self._unacknowledged()}. The cable is put back, and the table sends them in order."
        )
        self._stage.plug_cable()
        self._until(lambda: self._unacknowledged() == 0)
        self._say("    The pit has acknowledged every event: none was lost, and none counts twice.")
        self._say("The story is over. From here on cards and wagers are random. Ctrl-C ends the demo.")
        self._round = None
        self._cast.round_begins(None)

    # What the shoe does in the story.

    @property
    def cards_in_shoe(self) -> int:
        """The number of cards in the demonstration's shoe at its beginning."""
        return len(rules.RANKS) * len(rules.SUITS) * self._plan.house.shoe.decks

    @property
    def misreads(self) -> bool:
        """True if the card that is drawn now is the one that the shoe fails to read in the demonstration."""
        return self._round == _MISREAD and self._cards == _MISREAD_CARD

    def cut_card_comes(self) -> None:
        """Show the captions of the demonstration's scene 5, which say that the cut card comes."""
        if self._round is not None:
            then = (
                "this round is finished, and one more is dealt"
                if self._round < self._plan.last
                else "this round is the last"
            )
            self._say(f"5/6 The cut card comes: {then}.")
            self._say("    For the story it lies near the front of the shoe, and an alarm tells that.")

    def misread(self, what: str, card: str, cards_left: int) -> None:
        """Play the demonstration's scene 4: a fault has stopped the table, and a supervisor clears the fault by the
        acts that the table allows.

        `what` says how the shoe missed the card `card`, and `cards_left` is the number of cards that are still in the
        shoe.
        """
        self._until(lambda: self._face().fault is not None)
        self._say(f"4/6 {what} The table guesses nothing: it stops.")
        self._until(lambda: self._screen.status().shoe.up)
        by = f"--by {_SUPERVISOR}"
        named = False
        while (fault := self._face().fault) is not None:
            answers = {"by": _SUPERVISOR, "fault": fault.id}
            if "card" in fault.exits and not named:
                self._say(f"    A supervisor reads the felt: tablectl card {card} {by}")
                self._screen.ask(do="card", card=card, **answers)
                named = True
            elif "count" in fault.exits:
                self._say(f"    Nobody heard the shoe, so its cards are counted: tablectl count {cards_left} {by}")
                self._screen.ask(do="count", left=cards_left, **answers)
            else:
                self._say(f"    Felt and display agree: tablectl clear {by}")
                self._screen.ask(do="clear", **answers)
        self._say("    The round goes on where it stood.")

    def _paid(self, on_meters: Sequence[int]) -> None:
        self._say("    The lamps of winning seats blink fast. At the pit, Ana verifies, and Ben pays.")
        self._until(self._all_paid)
        for seat in on_meters:
            self._say(f"    Paid. Smith puts seat {seat}'s lamp out: tablectl reset-hit {seat} --by {_SUPERVISOR}")
            self._screen.ask(do="reset_hit", seat=seat, by=_SUPERVISOR)

    def _face(self) -> Face:
        return self._screen.face()

    def _unacknowledged(self) -> int:
        return self._screen.status().pit.unacknowledged

    def _all_paid(self) -> bool:
        self._stage.pay()
        return all(hit.step == "paid" for hit in self._face().hits)

    def _until(self, so: Callable[[], bool]) -> None:
        gives_up_s = self._clock.monotonic() + _PATIENCE_S
        while not so():
            if self._clock.monotonic() >= gives_up_s:
                what = f"in {_PATIENCE_S:g} s the table did not come to what the story shows next"
                raise TableError("sim_not_seen", what, "see what the table's log says")
            self._clock.sleep(_POLL_S)

    def _say_once(self, caption: str) -> None:
        """Show a caption, but only in the demonstration's first round, and only one time for each kind of event. The
        first word of the caption names the kind."""
        kind = caption.lstrip().partition(" ")[0]
        if self._round == _SHOWN and kind not in self._said:
            self._said.add(kind)
            self._say(caption)

    def _say(self, caption: str) -> None:
        self._stage.say(caption)
        self._clock.sleep(paused_s(_READ_S, self._speed))


class StoryShoe:
    """The shoe of a demonstration, which misses one planned card. An Angel Eye shoe cannot read that card. A shoe of
    any other brand loses its cable while that card is drawn."""

    def __init__(self, shoe: CardShoe, cues: StoryCues) -> None:
        self._shoe = shoe
        self._cues = cues
        self._drawn = 0
        self.line: Line = shoe.line
        self.tells_cut_card = shoe.tells_cut_card
        self.power_up = shoe.power_up
        self.new_shoe = shoe.new_shoe
        self.verbs = shoe.verbs

    def draw(self, card: str) -> None:
        """Draw a card. If the plan says that the shoe misses this card, let the shoe fail and play the scene about the
        failure."""
        self._drawn += 1
        if not self._cues.misreads:
            self._shoe.draw(card)
            return
        unreadable: Callable[[str], None] | None = getattr(self._shoe, "unreadable", None)
        if unreadable is not None:
            what = "The shoe cannot read a card."
            unreadable(card)
        else:
            what = "The shoe's cable slips, and a card is not told."
            assert isinstance(self.line, PtyLine), "a demonstration's shoe is on a pty"
            self.line.unplug()
            self._shoe.draw(card)
            self.line.plug()
        self._cues.misread(what, card, self._cues.cards_in_shoe - self._drawn)

    def cut_card(self) -> None:
        """Show the captions about the cut card, and draw it."""
        self._cues.cut_card_comes()
        self._shoe.cut_card()


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _dollars(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}${abs(cents) // 100:,}.{abs(cents) % 100:02}"
