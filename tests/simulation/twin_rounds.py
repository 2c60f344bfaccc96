"""Pairs of rounds that differ only in cards that lie face down. Everything else happens at the same times in both
rounds.

Whatever people may see of a round is the same in both: how many cards are drawn, which of them lie face up, and the
calls. The script of a pair ends just before the different cards are turned up. The game's rules say which hand gets
each card.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

from msgspec.structs import replace

from controller.daemon.config import Config, load
from controller.rules.game.baccarat import PuntoBanco
from controller.rules.game.baccarat_royal import BaccaratRoyal
from controller.rules.game.cards import DECK, Card
from controller.rules.game.games import Game
from controller.rules.game.hands import Done
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.play import Call, Choose, Draw, Play, Reveal
from controller.rules.game.seating import Actives, Seating
from tests.simulation.onlooker import Noise, Step
from tests.support.tables import TABLES

Table = Literal["midi", "midi, hand_end", "mini", "baccarat_royal", "lucky9"]
# Two in three are tables whose shoe tells more than cards: it has read what nobody has seen.
_OFTEN: dict[Table, int] = {"midi": 6, "midi, hand_end": 1, "mini": 1, "baccarat_royal": 2, "lucky9": 2}

_SEATS = (2, 5)
_BURN = ("2D", "3H", "4C")  # the first card, and the two that it is worth
_CARD_TAKES_S = 24 * 10 / 4800  # an Angel Eye's three copies; what else it sends at once comes after them
_CARD_AND_RESULT_TAKE_S = 0.1  # 94 ms
_APART_S = 0.4  # at least, from one card to the next
_MOST_UNACKNOWLEDGED = 2  # so that a pit that goes back soon finds too many waiting


@dataclass(frozen=True)
class Twins:
    """Two rounds that look the same, the configuration of their table, and the script of what happens at the table.
    `these` and `those` are the cards of the two rounds in the order in which they are drawn."""

    about: str
    config: Config
    script: tuple[Step, ...]
    these: tuple[str, ...]
    those: tuple[str, ...]
    noise: tuple[Noise, ...]

    def __str__(self) -> str:
        steps = "\n".join(f"{step.at_s:8.3f} s  {step.what} {' '.join(map(str, step.args))}" for step in self.script)
        cards = f"{' '.join(self.these)}\n{' '.join(self.those)}"
        return f"{self.about}\n{cards}\nnoise: {', '.join(f'{each.at_s:.4f} s' for each in self.noise)}\n{steps}"


def twins(seed: int) -> Twins:
    """Return the pair of rounds of this seed."""
    luck = random.Random(f"twins {seed}")
    while (pair := _Making(luck).made()).these == pair.those:
        pass
    return pair


@dataclass
class _Making:
    luck: random.Random
    now_s: float = 0.5
    script: list[Step] = field(default_factory=list)
    noise: list[Noise] = field(default_factory=list)
    these: list[str] = field(default_factory=lambda: list(_BURN))
    those: list[str] = field(default_factory=lambda: list(_BURN))

    def made(self) -> Twins:
        luck = self.luck
        (table,) = luck.choices(tuple(_OFTEN), tuple(_OFTEN.values()))
        config = _config(table)
        begins = luck.choice(("locked", "locked", "locked", "in error", "stopped")) if table != "mini" else "in error"
        if begins == "in error":
            fate: Literal["next_card", "simulated_hand"] = (
                "next_card" if table == "mini" or luck.random() < 0.5 else "simulated_hand"
            )
            begins = f"in error, {fate}"
            config = replace(config, rules=replace(config.rules, shoe=replace(config.rules.shoe, drawn_in_error=fate)))
        self._open(config)
        match begins:
            case "locked":
                self._lock(config)
                self._deal(config)
            case "stopped":
                self._lock(config)
                self._stop(config)
                self._deal(config, clear=luck.random() < 0.5)
            case _ if isinstance(config.rules.play, PuntoBanco):
                self._in_error(config, begins)
            case _:
                self._lock(config)
                self._deal(config)
        self._around(config)
        script = tuple(sorted(self.script, key=lambda step: step.at_s))
        return Twins(f"{table}: {begins}", config, script, tuple(self.these), tuple(self.those), tuple(self.noise))

    # What happens to both.

    def _do(self, what: str, *args: object) -> None:
        self.now_s += self.luck.uniform(_APART_S, 0.9)
        self.script.append(Step(round(self.now_s, 4), what, args))

    def _card(self, this: Card, that: Card) -> None:
        self._do("card")
        self.these.append(str(this))
        self.those.append(str(that))

    def _open(self, config: Config) -> None:
        self._do("ask", "new shoe")
        for _ in _BURN:
            self._do("card")
        self._do("ask", "seats", *_SEATS)
        if isinstance(config.rules.play, BaccaratRoyal):
            self._do("ask", "actives", *_SEATS)
        spots = {"midi": "player", "stake": "stake", "hand": "hand"}[_stakes(config)]
        for seat in _SEATS:
            self._do("wager", seat, spots, 2000)

    def _lock(self, config: Config) -> None:
        self._do("ask", "lock")
        self.round_begins_s = self.now_s

    def _stop(self, config: Config) -> None:
        """Stop the table with a fault, so that the table holds back the cards that come after it."""
        if config.file.shoe.driver.name == "angel_eye":
            self._do("shoe", "raise_error", 7)
            self._do("shoe", "cancel_error", 7)
        else:
            self._do("cable", False)
            self._do("cable", True)

    def _deal(self, config: Config, clear: bool | None = None) -> None:
        """Deal both rounds for as long as people would see the same of both. If `clear` is True, clear the table's
        fault on the way."""
        luck, play = self.luck, config.rules.play
        seating = Seating(_SEATS, Actives(*_SEATS))
        turned_first = luck.choice((0, 0, 1, 2)) if isinstance(play, PuntoBanco) else luck.choice((0, 1))
        hands = {"player", "banker", "dealer"}
        if luck.random() < 0.3 or (not isinstance(play, PuntoBanco | Lucky9) and turned_first):
            hands = (
                {luck.choice(("player", "dealer")), "dealer"} if turned_first else {luck.choice(("player", "banker"))}
            )
        these: list[Play] = []
        those: list[Play] = []
        reveals = 0
        while True:
            this, that = (play.next_step(seating, plays) for plays in (these, those))
            if isinstance(this, Done) or isinstance(that, Done):
                if these != those and self.script[-1].what == "card":
                    self._take_back()
                return
            match this, that:
                case Draw(), Draw() if this == that:
                    if clear and len(these) >= 4:
                        self._do("ask", "clear")
                        clear = False
                    card = luck.choice(DECK)
                    differs = this.face_down and this.hand in hands and reveals >= turned_first
                    other = luck.choice(DECK) if differs else card
                    these.append(card)
                    those.append(other)
                    self._card(card, other)
                case Reveal(), Reveal() if this == that and _same(play, seating, these, those, this.hands):
                    self._call(Call.REVEAL, these, those)
                    reveals += 1
                case Choose(), Choose() if both := [call for call in this.options if call in that.options]:
                    self._call(luck.choice(both), these, those)
                case _:
                    break
        if clear:
            self._do("ask", "clear")
        if isinstance(this, Reveal) and isinstance(that, Reveal) and isinstance(play, PuntoBanco):
            for _ in range(luck.choice((0, 0, 0, 1, 2))):
                self._card(luck.choice(DECK), luck.choice(DECK))

    def _call(self, call: Call, these: list[Play], those: list[Play]) -> None:
        self._do("ask", "call", call.value)
        these.append(call)
        those.append(call)

    def _take_back(self) -> None:
        """Remove the last card from the script and from both rounds, because it would complete a round and so turn all
        cards up."""
        self.script.pop()
        self.these.pop()
        self.those.pop()

    def _in_error(self, config: Config, begins: str) -> None:
        """Draw cards before a round needs them. They lie face down until a round needs them."""
        self.round_begins_s = self.now_s
        kept = begins.endswith("next_card")
        for _ in range(self.luck.randint(3, 8) if kept else 4):
            self._card(self.luck.choice(DECK), self.luck.choice(DECK))
        play = config.rules.play
        assert isinstance(play, PuntoBanco)
        if kept and play.reveal == "input" and self.luck.random() < 0.5:
            self._do("ask", "lock")
        if play.reveal == "hand_end" and not kept:
            self._take_back()

    # What happens around the round.

    def _around(self, config: Config) -> None:
        luck = self.luck
        cards = [step.at_s for step in self.script if step.what == "card" and step.at_s > self.round_begins_s]
        if config.file.shoe.driver.name == "angel_eye":
            for at_s in cards:
                self._disturb(at_s, _CARD_TAKES_S)
                self._disturb(at_s + _CARD_TAKES_S, _CARD_TAKES_S)
        first_s, last_s = self.round_begins_s, self.now_s + 1.0
        for _ in range(luck.choice((0, 1, 2, 3, 4))):
            just_after_a_card_s = luck.choice((*cards, *cards[-1:] * len(cards))) + luck.uniform(0.02, 0.12)
            at_s = just_after_a_card_s if luck.random() < 0.6 else luck.uniform(first_s, last_s)
            self.script += self._happening(config, round(at_s, 4), round(luck.choice(cards) - 0.01, 4))
        self.script += [Step(round(luck.uniform(first_s, last_s + 1.0), 4), "status") for _ in range(12)]

    def _disturb(self, from_s: float, for_s: float) -> None:
        if self.luck.random() < 0.35:
            self.noise.append(Noise(round(from_s + self.luck.uniform(0.0, for_s), 5), self.luck.randint(1, 255)))

    def _happening(self, config: Config, at_s: float, before_a_card_s: float) -> Iterable[Step]:
        luck = self.luck
        later_s = round(at_s + luck.uniform(0.05, 2.0), 4)
        what: Literal["broker", "pit", "back", "disk", "wager", "void", "shoe"] = luck.choice(
            ("broker", "pit", "back", "disk", "wager", "void", "shoe")
        )
        match what:
            case "broker":
                return Step(at_s, "broker", (False,)), Step(later_s, "broker", (True,))
            case "pit":
                return Step(at_s, "pit", (False,)), Step(later_s, "pit", (True,))
            case "back":
                return (Step(at_s, "pit goes back", (luck.randint(1, _MOST_UNACKNOWLEDGED),)),)
            case "disk":  # it begins to fail where both tables write: see `Runtime._commit`
                until_s = round(before_a_card_s + luck.uniform(0.05, 2.0), 4)
                return Step(before_a_card_s, "disk", (True,)), Step(until_s, "disk", (False,))
            case "wager":
                return (Step(at_s, "wager", (3, "player", 2000)),)
            case "void":
                return (Step(at_s, "ask", ("nobody's void",)),)
            case "shoe" if config.file.shoe.driver.name == "angel_eye":
                told = luck.choice((("stand_by",), ("report_lock", False), ("cut_card",)))
                return (Step(self._wire_is_free_s(at_s), "shoe", told),)
            case "shoe":
                return ()
            case never:
                assert_never(never)

    def _wire_is_free_s(self, at_s: float) -> float:
        """Return `at_s`, or a later time if the shoe's serial line may still be busy at `at_s`. The line is busy with
        the last card's reports, and perhaps with the shoe's report of the round's result after them.

        A result keeps the line busy, so the shoe's next report comes later than without a result, whatever the table
        does. A cut card is drawn like a card, and never comes so soon after a card.
        """
        cards = [step.at_s for step in self.script if step.what == "card" and step.at_s <= at_s]
        return round(max(at_s, cards[-1] + _CARD_AND_RESULT_TAKE_S), 4)


def _same(play: Game, seating: Seating, these: Sequence[Play], those: Sequence[Play], hands: Iterable[str]) -> bool:
    """Tell whether the cards of the hands named in `hands` are the same in both rounds, so that turning them up shows
    no difference."""
    alike = [{str(lies.hand): lies.cards for lies in play.laid(seating, plays)} for plays in (these, those)]
    return all(alike[0][hand] == alike[1][hand] for hand in hands)


def _stakes(config: Config) -> str:
    match config.rules.play:
        case PuntoBanco():
            return "midi"
        case Lucky9():
            return "hand"
        case _:
            return "stake"


@functools.cache
def _config(table: Table) -> Config:
    """Return the configuration of the example table of this game."""
    name = "sugarhouse_midi" if table.startswith("midi") else "sugarhouse" if table == "mini" else table
    config = load(TABLES / f"{name}.toml")
    if table == "midi, hand_end":
        assert isinstance(config.rules.play, PuntoBanco)
        config = replace(config, rules=replace(config.rules, play=replace(config.rules.play, reveal="hand_end")))
    pit = replace(config.file.pit, most_unacknowledged=_MOST_UNACKNOWLEDGED)
    return replace(config, file=replace(config.file, pit=pit))
