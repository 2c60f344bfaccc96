"""A hand as a text script, played through the very core a table runs: no hardware, no network, no clock.

Tokens are parted by white space; `#` begins a comment. Cards `KS 9H TD`, `CUT` the cutting card, `??` an unreadable
card; `!new-shoe`, `!seats 1,3,5`, `!actives PLAYER,BANKER`, `!wager SEAT SPOT CENTS` (`3b` is the back bettor behind
seat 3), `!deal`, `!hit`, `!stand`, `!split`, `!reveal`, `!leave SEAT`, `!commission SEAT`, `!void SUPERVISOR`,
`!card KS SUPERVISOR`, `!clear SUPERVISOR`, `!cut-card`; `UNHEARD` the shoe was not heard for a while, and then
`!count CARDS SUPERVISOR`. Two runs print the same bytes: the epoch is 0, time counts the
facts in seconds, nothing is signed.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from controller import __version__
from controller.config import Config
from controller.contract import events
from controller.contract.envelope import GENESIS, Stamp, chain_head, seal
from controller.game.baccarat_royal import Actives
from controller.game.bets import ROYAL9
from controller.game.cards import Card
from controller.game.play import Call
from controller.game.wagers import Wager
from controller.record.fact_json import fact_to_json
from controller.table.facts import CardDrawn, CutCardDrawn, Fact, ShoeUnheard
from controller.table.legality import Refuse
from controller.table.requests import (
    Ambient,
    ChooseActives,
    ClearFault,
    CollectCommission,
    CountCards,
    LeaveSeat,
    LockWagers,
    MakeCall,
    NameCard,
    NewShoe,
    PlaceWager,
    Request,
    SeeCutCard,
    TakeSeats,
    VoidHand,
    before,
    decide,
)
from controller.table.states import Table, WagersOpen
from controller.table.step import step
from controller.words.language import language

EPOCH = "0"


@dataclass(frozen=True, slots=True)
class Told:
    """Something a token could not do, or a fault it made: where, and what to do about it."""

    line: int
    token: str
    code: str
    what: str
    do: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.token}: {self.code}: {self.what}\n  what to do: {self.do}"


@dataclass(frozen=True, slots=True)
class _Token:
    """A command with its arguments, or a card."""

    line: int
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)


_USAGE = {
    "!new-shoe": "",
    "!seats": "1,3,5",
    "!actives": "PLAYER,BANKER",
    "!wager": "SEAT SPOT CENTS",
    "!deal": "",
    "!hit": "",
    "!stand": "",
    "!split": "",
    "!reveal": "",
    "!leave": "SEAT",
    "!commission": "SEAT",
    "!void": "SUPERVISOR",
    "!card": "KS SUPERVISOR",
    "!clear": "SUPERVISOR",
    "!count": "CARDS SUPERVISOR",
    "!cut-card": "",
}
_ARGUMENTS = {name: len(usage.split()) for name, usage in _USAGE.items()}
_COMMANDS = "The commands are: " + ", ".join(f"{name} {usage}".strip() for name, usage in _USAGE.items()) + "."
_BY = "script"


class _TokenError(Exception):
    """A token that cannot be played: its code, what is wrong, what to do."""

    def __init__(self, code: str, what: str, do: str) -> None:
        super().__init__(code)
        self.code, self.what, self.do = code, what, do


class ScriptTable:
    """A table that a script is played on."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._table = Table(config.rules)
        self._wagers: frozenset[int] = frozenset()
        self._facts = 0
        self._seq = 0
        self._head = GENESIS

    def play(self, text: str) -> Iterator[bytes | Told]:
        """Play the script's tokens in order: each event's canonical bytes, and what went wrong, as they come."""
        for token in _tokens(text):
            try:
                yield from self._play(token)
            except _TokenError as error:
                yield Told(token.line, token.text, error.code, error.what, error.do)

    def _play(self, token: _Token) -> Iterator[bytes | Told]:
        name, *arguments = token.words
        if name.startswith("!") and len(arguments) != _ARGUMENTS.get(name):
            raise _TokenError("script_token", f"{name} is unknown or lacks its arguments.", _COMMANDS)
        if name == "!wager" and not self._config.rules.bet_recognition:
            self._cover_sensor(*arguments)
            return
        ambient = Ambient(self._sensed(), True, self._config.rules, self._config.digest, __version__)
        fact = _fact(name) if not name.startswith("!") else decide(self._table, _request(name, arguments), ambient)
        if isinstance(fact, Refuse):
            raise _TokenError(fact.code, language().refusal(fact.code), "Correct the script at this token.")
        for believed in (*before(self._table, fact, ambient), fact):
            for event, body in self._believe(believed):
                yield body
                if isinstance(event, events.Fault):
                    yield Told(token.line, token.text, event.code, *language().fault(event.code))
                if isinstance(event, events.WagersLocked):
                    self._wagers = frozenset()

    def _believe(self, fact: Fact) -> Iterator[tuple[events.Event, bytes]]:
        """Step, and seal the events as a journal would, with a salt of zeros."""
        self._table, made = step(self._table, fact)
        self._facts += 1
        stamp = Stamp(1000 * self._facts, synchronised=False)
        bodies = []
        for event in made:
            self._seq += 1
            bodies.append(seal(event, self._config.rules.table, EPOCH, self._seq, stamp, self._head, None))
        self._head = chain_head(self._head, fact_to_json(fact), bodies, bytes(16))
        yield from zip(made, bodies, strict=True)

    def _sensed(self) -> frozenset[int]:
        """The seats whose sensor sees a Royal 9 wager: where bet recognition tells of one, so does its sensor."""
        told = {wager.seat for wager in self._table.placed if wager.spot == ROYAL9}
        return self._wagers | (told & set(self._config.rules.sensors))

    def _cover_sensor(self, seat_text: str, spot: str, cents_text: str) -> None:
        """A chip put down before `!deal`, where the table knows no wagers but its sensors'."""
        royal9 = self._config.rules.royal9
        if royal9 is None:
            raise _TokenError(
                "no_wagers_known", language().refusal("no_wagers_known"), "Set table.bet_recognition = true."
            )
        price_cents, seats = royal9.price_cents, self._config.rules.seat_numbers
        seat = int(seat_text) if re.fullmatch("[0-9]{1,9}", seat_text) else 0
        if self._table.fault is not None or not isinstance(self._table.phase, WagersOpen):
            raise _TokenError("wagers_not_open", "Wagers are not open.", "Put the wager before !deal, between hands.")
        if seat not in seats:
            raise _TokenError("no_such_seat", f"There is no seat {seat_text}.", f"The seats are: {_listed(seats)}.")
        if spot != ROYAL9:
            raise _TokenError("no_such_spot", f"There is no spot {spot} at this table.", "The spots are: royal9.")
        if cents_text != str(price_cents):
            raise _TokenError("wrong_price", f"{cents_text} cents is not the price.", f"Write {price_cents}.")
        if seat in self._wagers:
            raise _TokenError("wagered_already", f"Seat {seat} has a royal9 wager already.", "Write it once a hand.")
        self._wagers |= {seat}


def _tokens(text: str) -> Iterator[_Token]:
    """The script's tokens; a command takes the words after it, on its own line or the next, up to another command."""
    words = deque(
        (number, word) for number, line in enumerate(text.splitlines(), 1) for word in line.partition("#")[0].split()
    )
    while words:
        line, name = words.popleft()
        arguments: list[str] = []
        while words and len(arguments) < _ARGUMENTS.get(name, 0) and not words[0][1].startswith("!"):
            arguments.append(words.popleft()[1])
        yield _Token(line, (name, *arguments))


def _fact(word: str) -> Fact:
    if word == "CUT":
        return CutCardDrawn("shoe")
    if word == "UNHEARD":
        return ShoeUnheard(None)
    return CardDrawn(None if word == "??" else _card(word))


def _card(word: str) -> Card:
    try:
        return Card.parse(word)
    except ValueError:
        raise _TokenError(
            "script_token", f"{word} is no card and no command.", f"Write KS 9H TD. {_COMMANDS}"
        ) from None


def _request(name: str, arguments: list[str]) -> Request:
    match name, arguments:
        case "!new-shoe", []:
            return NewShoe()
        case "!deal", []:
            return LockWagers()
        case "!cut-card", []:
            return SeeCutCard()
        case "!seats", [seats]:
            return TakeSeats(_numbers(seats), _BY)
        case "!actives", [seats]:
            return ChooseActives(_actives(seats), _BY)
        case "!wager", [seat, spot, cents]:
            return PlaceWager(_wager(seat, spot, cents), _BY)
        case "!hit" | "!stand" | "!split" | "!reveal", []:
            return MakeCall(Call(name[1:]), _BY)
        case "!leave", [seat]:
            return LeaveSeat(_number(seat), _BY)
        case "!commission", [seat]:
            return CollectCommission(_number(seat), _BY)
        case "!void", [by]:
            return VoidHand(by)
        case "!card", [card, by]:
            return NameCard(_card(card), by)
        case "!clear", [by]:
            return ClearFault(by)
        case "!count", [left, by]:
            return CountCards(_number(left), by)
        case _:
            raise _TokenError("script_token", f"{name} is no command.", _COMMANDS)


def _wager(seat: str, spot: str, cents: str) -> Wager:
    return Wager(_number(seat.removesuffix("b")), spot, _number(cents), back=seat.endswith("b"))


def _actives(text: str) -> Actives:
    try:
        return Actives(*_numbers(text))
    except (TypeError, ValueError):
        raise _TokenError("script_token", f"{text} is not two seats.", "Write PLAYER,BANKER, such as 2,5.") from None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_number(part) for part in text.split(","))


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise _TokenError("script_token", f"{text} is no number.", _COMMANDS)
    return int(text)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
