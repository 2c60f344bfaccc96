"""The people at a simulated table: a dealer and players, who watch its lamps, press its buttons and draw its cards.

The cards, the wagers and the cards drawn in error depend on the seed alone, so that the same seed gives the same shoes.
A pause is as long as a person's at a real table, divided by the run's `speed`: 2 is twice as fast, 0 has no pauses.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from controller.basics.errors import TableError
from drivers.sim.crowd import Crowd
from drivers.sim.felt import Dealt
from drivers.sim.house import Coming, Limits
from drivers.sim.screen import Face, Screen
from drivers.sim.wagers import Bets

# A person's times at speed 1. A round takes some eight seconds.
_SHUFFLE_S = 5.0
_BURN_S = 0.4
_CARD_S = 0.7
_WAGERS_S = 3.0
_THINK_S = 1.2
_SQUEEZE_S = 2.5
_PAY_S = 1.5

_POLL_S = 0.005
_PRESS_AGAIN_S = 2.0  # a press without an answer is made again after this time
_CALL_AGAIN_S = 10.0  # a call is made again much later: a second one could count for the next seat
_HOLD_S = 0.25  # how long a press without an answer is held: many times what a table needs to believe it
_FAST_BLINK_S = 0.35  # a stopped table's fault lamp changes faster than this; for a lost link it changes more slowly
_FLASH_S = 0.25  # a flash is shorter than this
_FLASHED_S = 2.1  # and comes again within this

_OUTCOMES = ("player", "banker", "tie")
# The lamps draw_player and draw_banker, by the hand that the next card goes to.
_GUIDANCE = {
    "burn": (True, True),
    "player": (True, False),
    "banker": (False, True),
    "dealer": (False, True),
    None: (False, False),
}
_LAMPS_OF = {"player": "draw_player", "banker": "draw_banker", "dealer": "draw_banker"}

Lamps = Mapping[str, bool]


def paused_s(human_s: float, speed: float) -> float:
    """Return how many seconds a person's pause of `human_s` seconds takes in a simulation of this speed. Speed 2 is
    twice as fast as people, and speed 0 has no pauses."""
    return human_s / speed if speed else 0.0


class Players:
    """Simulated players who cover the seats' sensors with chips. Each seat has a habit of its own: some wager nearly
    always, some seldom. `limits` are the bets and limits of the house, among them the spot of the bet whose chips lie
    on the sensors."""

    def __init__(self, seed: int, seats: Sequence[int], limits: Limits | None = None) -> None:
        self._limits = limits
        self._rng = random.Random(f"{seed} wagers")
        self._habits = {seat: self._rng.uniform(0.2, 0.9) for seat in seats}

    def choose(self) -> dict[int, bool]:
        """Decide for every seat whether its player wagers on the next round. The seats are in the order in which the
        players act."""
        chosen = {seat: self._rng.random() < habit for seat, habit in self._habits.items()}
        order = self._rng.sample(sorted(chosen), len(chosen))
        return {seat: chosen[seat] for seat in order}

    def seen(self, down: Mapping[int, bool], coming: Coming) -> Bets:
        """Return the wagers of a round at a table where only sensors see wagers. `down` says for each seat whether
        chips lie on its sensor. Chips on a bet that is closed for the round `coming` do not count."""
        seats = tuple(seat for seat, is_down in down.items() if is_down)
        sensed = self._limits and self._limits.sensed
        plays = seats and self._limits and sensed in self._limits.open_spots(coming)
        return Bets({sensed: seats} if plays and sensed else {})


class Cues(Protocol):
    """The signals between the simulated dealer and the table, apart from the cards. A method returns when the dealer
    may go on, and raises TableError if that moment does not come."""

    def announce_shoe(self) -> None:
        """Announce to the table that a new shoe is in place."""

    def card_due(self, to: str) -> None:
        """Wait until the dealer may draw the next card. `to` is where the card goes: "player", "banker", "dealer", a
        seat, or "burn". The first card of a shoe goes to "burn" too."""

    def take_wagers(self, coming: Coming) -> Bets:
        """Let the players wager on the round `coming`. Returns the wagers that the table accepts."""

    def lock_wagers(self) -> None:
        """Tell the table that no more wagers are taken."""

    def cut_card_out(self) -> None:
        """Report the cut card to the table before the next card is drawn, because the shoe does not report it."""

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Let the player of `seat` choose one of the options. The player's hand has `points` points. Returns the option
        that the dealer called."""

    def reveal(self, hands: Sequence[str]) -> None:
        """Have the face-down cards of these hands ("player", "banker" or "dealer") turned up."""

    def round_over(self, dealt: Dealt) -> None:
        """Do what the dealer does after a complete round, such as pay the wagers."""

    def shoe_over(self) -> None:
        """Do what the dealer does after the last round of a shoe, such as collect commission."""


class Clock(Protocol):
    """The interface of a clock for the simulation. The module `time` has it, and so has a test's own clock."""

    def monotonic(self) -> float:
        """Return the seconds since some fixed moment."""

    def sleep(self, seconds: float, /) -> None:
        """Let this many seconds pass."""


class Pins(Protocol):
    """The interface to a simulated table's buttons, sensors and lamps, by the names that the table file gives them."""

    def press(self, name: str) -> None:
        """Press a button, or cover a seat's sensor."""

    def release(self, name: str) -> None:
        """Let go of a button, or uncover a seat's sensor."""

    def lamps(self) -> Lamps:
        """Return for every lamp, by name, whether it is lit now."""


class Pace:
    """The signals for a simulated dealer who deals a shoe without a table. The dealer may draw one card every `card_s`
    seconds, and waits for nothing else."""

    def __init__(self, card_s: float, clock: Clock = time) -> None:
        self._card_s = card_s
        self._clock = clock

    def announce_shoe(self) -> None:
        """Do nothing, because there is no table that needs to know of the shoe."""

    def card_due(self, to: str) -> None:
        """Wait for the seconds between two cards."""
        self._clock.sleep(self._card_s)

    def take_wagers(self, coming: Coming) -> Bets:
        """Return no wagers, because nobody wagers."""
        return Bets()

    def lock_wagers(self) -> None:
        """Do nothing, because there are no wagers."""

    def cut_card_out(self) -> None:
        """Do nothing, because there is no table that needs to know of the cut card."""

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Return the first option, because there is no player who chooses."""
        return options[0]

    def reveal(self, hands: Sequence[str]) -> None:
        """Do nothing, because there is nobody to show the cards to."""

    def round_over(self, dealt: Dealt) -> None:
        """Do nothing, because there is nobody to pay."""

    def shoe_over(self) -> None:
        """Do nothing, because nobody owes commission."""


class _FaultLamp:
    """Tells whether the lamp `fault` blinks fast, which means that the table is stopped, or slowly, which means that a
    connection is down."""

    def __init__(self) -> None:
        self._lit = False
        self._changed_s = float("-inf")
        self._fast = False

    def watch(self, lit: bool, now_s: float) -> None:
        if lit != self._lit:
            self._fast = now_s - self._changed_s < _FAST_BLINK_S
            self._lit, self._changed_s = lit, now_s
        elif now_s - self._changed_s >= _FAST_BLINK_S:
            self._fast = False

    @property
    def stopped(self) -> bool:
        return self._fast


class _Flash:
    """Tells whether a lamp flashes (is lit only for short moments), as distinct from a lamp that is dark or steadily
    lit."""

    def __init__(self) -> None:
        self._lit = False
        self._changed_s = self._ended_s = float("-inf")

    def watch(self, lit: bool, now_s: float) -> None:
        if lit == self._lit:
            return
        if self._lit and now_s - self._changed_s < _FLASH_S:
            self._ended_s = now_s
        self._lit, self._changed_s = lit, now_s

    def seen(self, now_s: float) -> bool:
        return now_s - self._ended_s < _FLASHED_S


class TableCues:
    """The signals between the simulated dealer and a table: the dealer reads the table's lamps and presses its buttons.

    `debounce_s` is how long an input must be unchanged before the table believes it. `patience_s` is how long the
    dealer waits for any one thing, for example for a supervisor at a stopped table. If `watch_lamps` is False, the
    dealer looks at no lamp and keeps to people's usual times, whatever the table does.

    No lamp shows that the table accepted a call, or that a round without an outcome is over. The people read these on
    the table's `screen`. `crowd` are the players whose wagers are sent to the table. If `screen` and `crowd` are None,
    only sensors see wagers.

    Raises TableError `sim_table_stopped` if a fault lasts longer than `patience_s`, and `sim_not_seen` if a lamp does
    not come in that time.
    """

    def __init__(
        self,
        pins: Pins,
        players: Players,
        *,
        debounce_s: float,
        speed: float = 1.0,
        watch_lamps: bool = True,
        patience_s: float = 60.0,
        clock: Clock = time,
        screen: Screen | None = None,
        crowd: Crowd | None = None,
    ) -> None:
        self._screen = screen
        self._crowd = crowd
        self._pins = pins
        self._players = players
        self._debounce_s = debounce_s
        self._speed = speed
        self._watch_lamps = watch_lamps
        self._patience_s = patience_s
        self._clock = clock
        self._believed_s = clock.monotonic() + debounce_s  # when the latest change of an input is believed
        self._fault = _FaultLamp()
        self._flashes = {lamp: _Flash() for lamp in _LAMPS_OF.values()}

    def announce_shoe(self) -> None:
        """Shuffle, put the shoe in its place, and press the button `new_shoe` until the lamps draw_player and
        draw_banker are both lit."""
        self._pause(_SHUFFLE_S)
        self._press_until("new_shoe", _guides("burn"), "both draw lamps, for the first card of a new shoe")

    def card_due(self, to: str) -> None:
        """Wait until the lamps show that the table expects the dealer's next card. A card to Player or Banker is shown
        by the lamps draw_player and draw_banker, and a card to a seat by that seat's lamp."""
        self._pause(_BURN_S if to == "burn" else _CARD_S)
        self._await(_guides(to), f"the lamps, for a card to {to}")

    def take_wagers(self, coming: Coming) -> Bets:
        """Let the players wager on the round `coming`: they cover and uncover their seats' sensors, and bet recognition
        sees their chips. Returns the wagers."""
        self._await(_guides(None), "dark draw lamps, for wagers to open")
        wagers = self._players.choose()
        if self._crowd is None:
            for seat, down in wagers.items():
                self._set(f"seat_{seat}", down)
                self._pause(_WAGERS_S / len(wagers))
            return self._players.seen(wagers, coming)
        self._await(lambda _: self._face().phase == "wagers_open", "the screen, for wagers to open")
        self._crowd.come_and_go()
        covered = {seat: down and seat in self._crowd.occupied for seat, down in wagers.items()}
        for seat, down in covered.items():
            self._set(f"seat_{seat}", down)
        return self._crowd.wager(covered, coming, lambda wagers: self._pause(_WAGERS_S / wagers))

    def lock_wagers(self) -> None:
        """Press the button `deal` until the table shows that wagers are locked. The sign is that the lamp draw_player
        is lit and draw_banker is not. At a table to which the players' wagers are sent, the sign is on the table's
        screen."""
        self._press_until("deal", self._locked, "the lamp draw_player alone, for locked wagers")

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        """Wait until the table expects this seat's choice. The sign is that the seat's lamp is lit, that no other
        seat's lamp is lit except for a progressive bet, and that the screen names the seat. Then ask the player to
        choose, and press the button of that choice until the table's screen shows that the choice was accepted. Returns
        the choice."""
        assert self._crowd is not None, "only where there are players"
        others = {f"seat_{each}": False for each in self._progressive_seats() - {seat}}

        def turn(lamps: Lamps) -> bool:
            return _guides(f"seat_{seat}")({**lamps, **others}) and self._chooses() == seat

        self._await(turn, f"the lamp of seat {seat}, for its choice")
        self._pause(_THINK_S)
        chosen = self._crowd.choose(options, points)
        before = self._face().choice
        self._call(chosen, lambda _: self._face().choice != before)
        return chosen

    def reveal(self, hands: Sequence[str]) -> None:
        """Let the players squeeze the cards, wait until the lamps of these hands flash, and press the button `reveal`
        until the table's screen shows that the press was accepted.

        In a simulation without pauses the dealer does not wait for a flash, because a flash takes up to two seconds.
        The dealer waits only until the lamps are not steadily lit.
        """
        self._pause(_SQUEEZE_S)
        lamps_due = {_LAMPS_OF[hand] for hand in hands}

        def due(lamps: Lamps) -> bool:
            now_s = self._clock.monotonic()
            flash = not self._speed or all(self._flashes[lamp].seen(now_s) for lamp in lamps_due)
            return _guides(None)(lamps) and flash and self._face().reveal == tuple(hands)

        self._await(due, f"flashing lamps, for the cards of {' and '.join(hands)} to be turned up")
        self._call("reveal", lambda _: self._face().reveal != tuple(hands))

    def cut_card_out(self) -> None:
        """Press the button `cut_card` and hold it for a while. No lamp shows that the table has seen the press, and the
        press must count before the next card is drawn."""
        self._await(lambda _: True, "a table that goes on, for the cut card")
        self._set("cut_card", True)
        self._wait(_HOLD_S)
        self._set("cut_card", False)

    def round_over(self, dealt: Dealt) -> None:
        """Wait until the lamp of the outcome is lit. If the round has no outcome, wait until the table's screen shows
        the end of the round. After that, pause for as long as paying takes."""
        if dealt.outcome is not None:
            self._await(_shows(dealt.outcome), f"the lamp {dealt.outcome} alone, for the outcome")
        else:
            self._await(lambda _: self._face().phase != "round_in_play", "the screen, for the end of the round")
        if self._crowd is not None and dealt.outcome is not None:
            self._crowd.round_over(dealt.outcome)
        self._pause(_PAY_S)

    def shoe_over(self) -> None:
        """Let the seats pay the commission that they owe, because the shoe is over and the cards are shuffled next."""
        if self._crowd is not None:
            self._crowd.pay_up()

    def _call(self, button: str, taken: Callable[[Lamps], bool]) -> None:
        self._press_until(button, taken, f"the screen, for {button} to be taken", again_s=_CALL_AGAIN_S)

    def _locked(self, lamps: Lamps) -> bool:
        return _guides("player")(lamps) if self._crowd is None else self._face().phase == "wagers_locked"

    def _face(self) -> Face:
        assert self._screen is not None, "only where there is a screen"
        return self._screen.face()

    def _progressive_seats(self) -> set[int]:
        """Return the seats whose lamps may be lit while another seat chooses: seats with a wager on a progressive bet,
        and seats with a hit."""
        face = self._face()
        wagered = {seat for bet in face.progressive for seat in (*bet.seats, *bet.refused_seats)}
        return wagered | {hit.seat for hit in face.hits}

    def _chooses(self) -> int | None:
        choice = self._face().choice
        return choice.seat if choice else None

    def _press_until(
        self, button: str, seen: Callable[[Lamps], bool], what: str, again_s: float = _PRESS_AGAIN_S
    ) -> None:
        gives_up_s = self._clock.monotonic() + self._patience_s
        while True:
            self._await(lambda _: True, what)  # nobody presses a button at a stopped table
            self._set(button, True)
            answered = self._seen(seen, again_s)
            self._set(button, False)
            if answered:
                return
            if self._clock.monotonic() >= gives_up_s:
                raise self._gave_up(what)

    def _set(self, name: str, pressed: bool) -> None:
        """Press or release an input of the table. A button is changed only after the table has had time to believe the
        change before it. A seat's sensor is changed immediately."""
        if not name.startswith("seat_"):
            self._wait(self._believed_s - self._clock.monotonic())
        (self._pins.press if pressed else self._pins.release)(name)
        self._believed_s = self._clock.monotonic() + self._debounce_s

    def _await(self, seen: Callable[[Lamps], bool], what: str) -> None:
        if not self._seen(seen, self._patience_s):
            raise self._gave_up(what)

    def _seen(self, seen: Callable[[Lamps], bool], timeout_s: float) -> bool:
        """Wait until `seen` holds for two readings of the lamps in a row and the fault lamp does not blink fast, and
        return True. Return False after `timeout_s` seconds. If the dealer looks at no lamp, return True immediately.
        Two readings are needed, because the lamps do not all change at the same instant."""
        gives_up_s = self._clock.monotonic() + timeout_s
        in_a_row = 0
        while self._watch_lamps and in_a_row < 2:
            in_a_row = in_a_row + 1 if seen(self._look()) and not self._fault.stopped else 0
            if self._clock.monotonic() >= gives_up_s:
                return False
            self._clock.sleep(_POLL_S)
        return True

    def _pause(self, human_s: float) -> None:
        self._wait(paused_s(human_s, self._speed))

    def _wait(self, seconds: float) -> None:
        until_s = self._clock.monotonic() + seconds
        while (left_s := until_s - self._clock.monotonic()) > 0:
            self._look()
            self._clock.sleep(min(_POLL_S, left_s))

    def _look(self) -> Lamps:
        """Read the lamps, note which of them blink, and return for each lamp whether it is lit. The dealer reads the
        lamps during every wait, so that no change is missed."""
        lamps = self._pins.lamps()
        now_s = self._clock.monotonic()
        self._fault.watch(lamps["fault"], now_s)
        for lamp, flash in self._flashes.items():
            flash.watch(lamps[lamp], now_s)
        return lamps

    def _gave_up(self, what: str) -> TableError:
        waited = f"the dealer waited {self._patience_s:g} s for {what}"
        if self._fault.stopped:
            return TableError(
                "sim_table_stopped",
                f"{waited}, but the table is stopped by a fault: the fault lamp blinks fast",
                "see what `tablectl status` says, clear the fault, and start the simulation again",
            )
        lit = ", ".join(name for name, is_lit in self._pins.lamps().items() if is_lit) or "none"
        return TableError(
            "sim_not_seen",
            f"{waited}; lamps lit: {lit}",
            "see that the controller runs with this same table file, and what `tablectl status` says",
        )


def _guides(to: str | None) -> Callable[[Lamps], bool]:
    if to is None or to in _GUIDANCE:
        return lambda lamps: (lamps["draw_player"], lamps["draw_banker"]) == _GUIDANCE[to]
    return lambda lamps: _guides(None)(lamps) and [lamp for lamp in lamps if "seat" in lamp and lamps[lamp]] == [to]


def _shows(outcome: str) -> Callable[[Lamps], bool]:
    return lambda lamps: _guides(None)(lamps) and [lamp for lamp in _OUTCOMES if lamps[lamp]] == [outcome]
