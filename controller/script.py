"""A hand as a text script, played through the very core a table runs: no hardware, no network, no clock.

Tokens are parted by white space; `#` begins a comment. Cards `KS 9H TD`, `CUT` the cutting card, `??` an unreadable
card; `!new-shoe`, `!wager SEAT SPOT CENTS`, `!deal`, `!void SUPERVISOR`, `!card KS SUPERVISOR`, `!clear SUPERVISOR`,
`!cut-card`. Two runs print the same bytes: the epoch is 0, time counts the facts in seconds, nothing is signed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from controller import __version__
from controller.config import Config
from controller.contract import events
from controller.contract.envelope import GENESIS, Stamp, chain_head, seal
from controller.fact_json import fact_to_json
from controller.game.cards import Card
from controller.table.facts import CardDrawn, CutCardDrawn, Fact
from controller.table.legality import REFUSALS, Refuse
from controller.table.requests import (
    Ambient,
    ClearFault,
    LockWagers,
    NameCard,
    NewShoe,
    Request,
    SeeCutCard,
    VoidHand,
    before,
    decide,
)
from controller.table.states import Table, WagersOpen
from controller.table.step import step

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


_ARGUMENTS = {
    "!new-shoe": 0,
    "!wager": 3,
    "!deal": 0,
    "!void": 1,
    "!card": 2,
    "!clear": 1,
    "!cut-card": 0,
}
_COMMANDS = (
    "The commands are: !new-shoe, !wager SEAT SPOT CENTS, !deal, "
    "!void SUPERVISOR, !card KS SUPERVISOR, !clear SUPERVISOR, !cut-card."
)


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
        if name == "!wager":
            self._wager(*arguments)
            return
        ambient = Ambient(self._wagers, True, self._config.rules, self._config.digest, __version__)
        fact = _fact(name) if not name.startswith("!") else decide(self._table, _request(name, arguments), ambient)
        if isinstance(fact, Refuse):
            raise _TokenError(fact.code, REFUSALS[fact.code], "Correct the script at this token.")
        for believed in (*before(self._table, fact, ambient), fact):
            for event, body in self._believe(believed):
                yield body
                if isinstance(event, events.Fault):
                    yield Told(token.line, token.text, event.code, event.what, event.do)
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

    def _wager(self, seat_text: str, spot: str, cents_text: str) -> None:
        """A chip put down before `!deal`."""
        price_cents = self._config.rules.royal9.price_cents
        seats = [seat.number for seat in self._config.rules.seats]
        seat = int(seat_text) if seat_text.isdecimal() else 0
        if self._table.fault is not None or not isinstance(self._table.phase, WagersOpen):
            raise _TokenError("wagers_not_open", "Wagers are not open.", "Put the wager before !deal, between hands.")
        if seat not in seats:
            raise _TokenError("no_such_seat", f"There is no seat {seat_text}.", f"The seats are: {_listed(seats)}.")
        if spot != "royal9":
            raise _TokenError("no_such_spot", f"There is no spot {spot} at this table.", "The spots are: royal9.")
        if cents_text != str(price_cents):
            raise _TokenError("wrong_price", f"{cents_text} cents is not the price.", f"Write {price_cents}.")
        if seat in self._wagers:
            raise _TokenError("wagered_already", f"Seat {seat} has a royal9 wager already.", "Write it once a hand.")
        self._wagers |= {seat}


def _tokens(text: str) -> Iterator[_Token]:
    """The script's tokens; a command takes the words after it, on its own line or the next, up to another command."""
    words = [
        (number, word) for number, line in enumerate(text.splitlines(), 1) for word in line.partition("#")[0].split()
    ]
    while words:
        line, name = words.pop(0)
        taken = tuple(takewhile(lambda word: not word.startswith("!"), (word for _, word in words)))
        arguments = taken[: _ARGUMENTS.get(name, 0)]
        yield _Token(line, (name, *arguments))
        del words[: len(arguments)]


def _fact(word: str) -> Fact:
    if word == "CUT":
        return CutCardDrawn("shoe")
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
        case "!void", [by]:
            return VoidHand(by)
        case "!card", [card, by]:
            return NameCard(_card(card), by)
        case "!clear", [by]:
            return ClearFault(by)
        case _:
            raise _TokenError("script_token", f"{name} is no command.", _COMMANDS)


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
