"""The simulated bettors: what they wager on which spots, and which of their wagers the house refuses.

Nearly every wager is within the limits. Sometimes a bettor makes a mistake. The simulation knows beforehand with which
code the table must refuse the wager, and whether it must do so immediately or when wagers are locked.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from drivers.sim.house import Coming, Limits

_MISTAKES = 0.04  # this part of the bettors' turns is a mistake
_SPOT_OF_ANOTHER_GAME = {"stake": "hand"}
_NEEDS_MAIN = dict.fromkeys(("dragon_player", "dragon_banker"), "dragon_needs_main")
_MAIN = ("player", "banker")
_AT_MOST_TIMES_THE_MINIMUM = 6

FIRST = Coming()
"""The first round of a shoe, when it is not the last."""


class Wager(Struct, frozen=True):
    """A wager of `cents` on a spot of a seat. It is made by the seated player or, with `back`, by the back bettor
    behind that seat."""

    seat: int
    spot: str
    cents: int
    back: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the wager as a JSON object for the simulation's record."""
        return {"seat": self.seat, "back": self.back, "spot": self.spot, "cents": self.cents}


class Refusal(Struct, frozen=True):
    """A wager that the house refuses, with the code that the table must give as the reason. If `at_once` is True, the
    table refuses the wager immediately. If it is False, the table refuses the wager when wagers are locked."""

    wager: Wager
    code: str
    at_once: bool = False


class Actives(Struct, frozen=True):
    """The two active seats in Baccarat Royal: the seat that plays Player's hand, and the seat that plays Banker's."""

    player: int
    banker: int

    @property
    def both(self) -> tuple[int, int]:
        """The numbers of the two active seats: first the one that plays Player's hand, then the one that plays
        Banker's."""
        return self.player, self.banker


class Bets(Struct, frozen=True):
    """The wagers of a round at the moment when wagers are locked.

    `progressive` maps the spot of each progressive bet to the seats whose wager on it was accepted. `standing` are all
    accepted wagers, or None at a table where only sensors see wagers. `refused` are the refused wagers.
    """

    progressive: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    standing: tuple[Wager, ...] | None = None
    refused: tuple[Refusal, ...] = ()
    actives: Actives | None = None

    def on(self, spot: str) -> list[Wager]:
        """Return the accepted wagers on this spot."""
        return [wager for wager in self.standing or () if wager.spot == spot]


class _Turn(Struct):
    """The wagers that one seat makes for a round, in order. `codes` maps each wager that the house refuses to its
    refusal."""

    wagers: list[Wager]
    codes: dict[Wager, Refusal] = field(default_factory=dict)

    def refuse(self, wager: Wager, code: str, *, at_once: bool = False) -> _Turn:
        self.wagers.append(wager)
        self.codes[wager] = Refusal(wager, code, at_once)
        return self


class Bettors:
    """Chooses the wagers of the simulated bettors at random. The same seed gives the same wagers."""

    def __init__(self, seed: int, limits: Limits, seats: Collection[int], mistakes: float = _MISTAKES) -> None:
        self._rng = random.Random(f"{seed} chips")
        self._limits = limits
        self._seats = seats
        self._mistakes = mistakes
        self._empty: list[int] = []
        self._open: Collection[str] = limits.spots

    def choose(
        self,
        occupied: Collection[int],
        covered: Mapping[int, bool],
        actives: Actives | None,
        coming: Coming = FIRST,
    ) -> tuple[list[Wager], tuple[Refusal, ...]]:
        """Return two things: the wagers for the round `coming`, in the order in which they are made, and the refusals
        of the wagers among them that the house refuses.

        `covered` says for each seat whether chips cover its sensor. The wagers include these chips.
        """
        self._empty = sorted(set(self._seats) - set(occupied))
        self._open = self._limits.open_spots(coming)
        turns = [self._turn(seat, covered.get(seat, False), actives) for seat in self._rng.sample(*_all(occupied))]
        if "hand" in self._limits.spots and not any(self._plays(turn) for turn in turns):
            turns = [_Turn([self._main(min(occupied), "hand")])]  # without any wager there is no round
        self._stakes_differ(turns)
        self._over_needed(turns)
        made = [wager for turn in turns for wager in turn.wagers]
        return made, tuple(refusal for turn in turns for refusal in turn.codes.values())

    def _stakes_differ(self, turns: Collection[_Turn]) -> None:
        """Mark the stakes of the two active seats as refused if they differ and the house demands equal stakes."""
        asked = any(bet.unequal_stakes == "refused" for bet in self._limits.bets)
        good = [
            (turn, each) for turn in turns for each in turn.wagers if each.spot == "stake" and each not in turn.codes
        ]
        if asked and len({wager.cents for _, wager in good}) > 1:
            for turn, wager in good:
                turn.codes[wager] = Refusal(wager, "stakes_differ")

    def _over_needed(self, turns: Collection[_Turn]) -> None:
        """Mark a wager as refused if it is too large compared with the other wagers that its bet needs. For example, a
        side bet may be limited to the amount of the same bettor's main wager."""
        for turn in turns:
            good = [each for each in turn.wagers if each not in turn.codes]
            for wager in (each for each in good if self._is_over(each, good)):
                turn.codes[wager] = Refusal(wager, "over_needed")

    def progressive(self, standing: Collection[Wager]) -> dict[str, tuple[int, ...]]:
        """Return the seats that have a wager on each progressive bet: a dictionary from the bet's spot to seat numbers.
        A bet without wagers is left out."""
        on = {
            spot: tuple(sorted(wager.seat for wager in standing if wager.spot == spot))
            for spot in self._limits.prices_cents
        }
        return {spot: seats for spot, seats in on.items() if seats}

    def _plays(self, turn: _Turn) -> bool:
        return any(wager.spot == "hand" and wager not in turn.codes for wager in turn.wagers)

    def _turn(self, seat: int, covered: bool, actives: Actives | None) -> _Turn:
        is_active = actives is not None and seat in actives.both
        if (late := self._too_late(seat, is_active)) is not None:
            return late
        if self._rng.random() < self._mistakes and (turn := self._mistaken_at_lock(seat, covered, is_active)):
            at_open_bets = all(self._is_open(wager.spot) for wager in turn.wagers)
            if at_open_bets:
                return turn
        turn = _Turn(self._bundle(seat, covered, is_active))
        if turn.wagers and self._rng.random() < self._mistakes:
            wager, code = self._rng.choice(self._refused_at_once(turn.wagers[0], actives))
            return turn.refuse(wager, code, at_once=True)
        return turn

    def _too_late(self, seat: int, is_active: bool) -> _Turn | None:
        """Decide by chance whether a seat wagers on a bet that is already closed. Return the seat's wagers with that
        mistake, or None if the seat does not make it."""
        closed = [spot for spot in self._limits.spots if not self._is_open(spot) and (spot == "stake") == is_active]
        if not closed or not self._chance(_MISTAKES):
            return None
        wager = self._side(seat, self._rng.choice(closed))
        return _Turn(self._bundle(seat, covered=False, is_active=is_active)).refuse(wager, "bet_closed", at_once=True)

    def _is_open(self, spot: str) -> bool:
        """Tell whether the bet on this spot takes wagers for the next round. A spot that the game does not have counts
        as open."""
        return spot in self._open or spot not in self._limits.spots

    # What is within the limits.

    def _bundle(self, seat: int, covered: bool, is_active: bool) -> list[Wager]:
        """Return a list of random wagers that one seat makes and that the house accepts. The list may be empty."""
        spots = self._limits.spots
        if is_active:
            return [self._main(seat, "stake")] if self._chance(0.95) and self._is_open("stake") else []
        main = "hand" if "hand" in spots else self._rng.choice([*filter(self._is_open, _MAIN)] or _MAIN)
        wagers = [self._main(seat, main)] if (covered or self._chance(0.8)) and self._is_open(main) else []
        if wagers and covered and self._limits.sensed and self._is_open(self._limits.sensed):
            wagers.append(self._side(seat, self._limits.sensed))
        if self._chance(0.25) and "tie" in self._open and (wagers or main != "hand"):
            wagers += self._tie(seat, alone=not wagers)
        for side, needs in self._sides():
            lie = {wager.spot for wager in wagers}
            if wagers and (not needs or needs & lie) and not self._excluded(side, lie) and self._chance(0.2):
                wager = self._side(seat, side)
                wagers += [] if self._is_needed(side) and self._is_over(wager, wagers) else [wager]
        if self._limits.back_bettors and wagers and wagers[0].spot == main and self._chance(0.4):
            return self._with_back_bettor(wagers)
        return wagers

    def _excluded(self, spot: str, lie: set[str]) -> bool:
        """Tell whether a bettor who already has wagers on the spots in `lie` may have no wager on `spot`."""
        return any(spot in group and lie & {*group} for group in self._limits.one_of)

    def _is_needed(self, spot: str) -> bool:
        """Tell whether another bet may be made only together with a wager on this spot. If the wager on this spot were
        refused, the wager on the other bet would be refused too."""
        return any(spot in bet.needs for bet in self._limits.bets)

    def _is_over(self, wager: Wager, made: Collection[Wager]) -> bool:
        """Tell whether the wager is larger than its bet allows beside the same bettor's other wagers. For example, a
        side bet may be limited to the amount of the main wager. `made` are the wagers of the seat."""
        bet = next(bet for bet in self._limits.bets if bet.spot == wager.spot)
        if bet.maximum_of_needed is None:
            return False
        times, one = map(int, bet.maximum_of_needed.split(":"))
        beside = [each.cents for each in made if each.back == wager.back and each.spot in bet.needs]
        return wager.cents * one > times * sum(beside)

    def _sides(self) -> list[tuple[str, set[str]]]:
        """Return the open side bets. Each is a pair: the bet's spot, and a set of other spots. If this set is not
        empty, the bettor must have a wager on one of the spots in the set.

        Two bets are left out: the tie, which may be made alone, and the bet whose chips are seen by the seats' sensors.
        """
        return [
            (bet.spot, set(bet.needs))
            for bet in self._limits.bets
            if not bet.in_circle and bet.spot not in ("tie", self._limits.sensed) and self._is_open(bet.spot)
        ]

    def _with_back_bettor(self, wagers: list[Wager]) -> list[Wager]:
        """Return a seat's wagers together with those of a back bettor, who stands behind the seat. In about half of the
        cases, each of the two main wagers is below the spot's minimum, and only their sum meets it. If the two together
        might exceed a maximum, return the seat's wagers alone."""
        main, *others = wagers
        limits = self._limits
        step, (minimum, _) = limits.increment_cents, limits.range_cents(main.spot)
        if self._chance(0.5) and minimum > step:
            less = replace(main, cents=step * self._rng.randint(1, (minimum - 1) // step))
            back = minimum - less.cents
            back += -back % step
            if not any(self._is_needed(each.spot) and self._is_over(each, [less]) for each in others):
                return [less, replace(main, cents=back, back=True), *others]
        behind = [self._main(main.seat, main.spot)]
        may_tie = limits.back_bets_beside == "any_bet" or "tie" in {wager.spot for wager in wagers}
        behind += [self._side(main.seat, "tie")] if "tie" in self._open and may_tie else []
        most = {spot: min(limits.side_maximum_cents, limits.range_cents(spot)[1]) for spot in limits.spots}
        if any(wager.cents * 2 > most[wager.spot] for wager in (*wagers, *behind)):
            return wagers  # the two together would exceed the maximum
        return [*wagers, *(replace(wager, back=True) for wager in behind)]

    def _main(self, seat: int, spot: str) -> Wager:
        return Wager(seat, spot, self._amount(*self._limits.range_cents(spot)))

    def _side(self, seat: int, spot: str) -> Wager:
        limits = self._limits
        if spot in limits.prices_cents:
            return Wager(seat, spot, limits.prices_cents[spot])
        return Wager(seat, spot, self._amount(*limits.range_cents(spot)))

    def _tie(self, seat: int, *, alone: bool) -> list[Wager]:
        """Return a list with one wager on the tie. If `alone` is True, the seat has no other wager, and the house may
        demand the minimum of a main bet too. The list is empty if no amount then fits the limits."""
        limits = self._limits
        if not (alone and limits.tie_only_meets_minimum):
            return [self._side(seat, "tie")]
        minimum, maximum = limits.range_cents("tie")
        minimum, step = max(minimum, limits.circle_minimum_cents), limits.increment_cents
        return [Wager(seat, "tie", self._amount(minimum, maximum))] if -(-minimum // step) <= maximum // step else []

    def _amount(self, minimum: int, maximum: int) -> int:
        """Return a random amount in cents between `minimum` and `maximum`. The amount is a multiple of the table's
        increment. Sometimes it is exactly the lowest or the highest possible amount."""
        step = self._limits.increment_cents
        least, most = -(-minimum // step), maximum // step
        if self._chance(0.02):
            return step * most
        if self._chance(0.2):
            return step * least
        return step * self._rng.randint(least, min(most, _AT_MOST_TIMES_THE_MINIMUM * least))

    def _chance(self, probability: float) -> bool:
        return self._rng.random() < probability

    # What is not within the limits.

    def _refused_at_once(self, good: Wager, actives: Actives | None) -> list[tuple[Wager, str]]:
        """Return wagers that the table must refuse immediately, each with the code of the refusal. `good` is a wager of
        the same bettor that the table accepts."""
        limits, seat = self._limits, good.seat
        step = limits.increment_cents
        elsewhere = _SPOT_OF_ANOTHER_GAME.get(next(iter(limits.spots)), "stake")
        mistakes = [
            (replace(good, seat=max(self._seats) + 1), "no_such_seat"),
            (Wager(seat, elsewhere, limits.circle_minimum_cents), "no_such_spot"),
            (replace(good, cents=limits.range_cents(good.spot)[1] // step * step + step), "over_maximum"),
        ]
        if step > 1:
            mistakes.append((replace(good, cents=good.cents + 1), "not_in_increment"))
        if self._empty and actives is None:  # nobody sits there; where seats have roles, an empty seat has none
            mistakes.append((replace(good, seat=self._empty[0]), "not_occupied"))
        if not limits.back_bettors:
            mistakes.append((replace(good, back=True), "no_back_bettors"))
        for group in limits.one_of:
            others = [replace(good, spot=spot) for spot in group if good.spot in group and spot != good.spot]
            mistakes += [(other, "both_sides") for other in others]
        if actives is None or seat not in actives.both:
            mistakes += [(Wager(seat, spot, cents + 1), "wrong_price") for spot, cents in limits.prices_cents.items()]
        if actives is not None:
            is_active = seat in actives.both
            wrong = replace(good, spot="tie" if is_active else "stake")
            mistakes.append((wrong, "active_seat" if is_active else "not_active"))
        return [(wager, code) for wager, code in mistakes if self._is_open(wager.spot)]

    def _mistaken_at_lock(self, seat: int, covered: bool, is_active: bool) -> _Turn | None:
        """Return the wagers of a seat, with one mistaken wager among them that the table must refuse when wagers are
        locked. Return None if no such mistake is possible for this seat."""
        limits, spots = self._limits, self._limits.spots
        step = limits.increment_cents
        main = "stake" if is_active else "hand" if "hand" in spots else self._rng.choice(("player", "banker"))
        if covered and limits.sensed:
            return _Turn([]).refuse(self._side(seat, limits.sensed), "needs_another")
        least = {spot: -(-limits.range_cents(spot)[0] // step) * step for spot in spots}
        below = {spot: (limits.range_cents(spot)[0] - 1) // step * step for spot in spots}
        mistakes = [_Turn([]).refuse(Wager(seat, main, below[main]), "under_minimum")] if below[main] else []
        if is_active:
            return mistakes[0] if mistakes else None
        if below.get("tie"):
            mistakes.append(_Turn([self._main(seat, main)]).refuse(Wager(seat, "tie", below["tie"]), "under_minimum"))
        if limits.tie_only_meets_minimum and "tie" in spots and least["tie"] < limits.circle_minimum_cents:
            mistakes.append(_Turn([]).refuse(Wager(seat, "tie", least["tie"]), "tie_under_minimum"))
        if main == "hand":
            mistakes.append(_Turn([]).refuse(Wager(seat, "tie", least["tie"]), "tie_needs_hand"))
            mistakes.append(_Turn([]).refuse(Wager(seat, "lucky9_bonus", least["lucky9_bonus"]), "bonus_needs_hand"))
        alone = [side for side, needs in self._sides() if needs and main != "hand"]
        if alone:
            cents = limits.prices_cents.get(alone[0], least[alone[0]])
            mistakes.append(_Turn([]).refuse(Wager(seat, alone[0], cents), _NEEDS_MAIN.get(alone[0], "needs_another")))
        if limits.back_bettors:
            mistakes.append(_Turn([]).refuse(replace(self._main(seat, main), back=True), "back_without_seat"))
        return self._rng.choice(mistakes) if mistakes else None


def _all(seats: Collection[int]) -> tuple[list[int], int]:
    """Return the seats in order, and their number. With these two arguments, `random.sample` puts all the seats in a
    random order."""
    return sorted(seats), len(seats)
