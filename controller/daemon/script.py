"""Plays rounds from a text script with the same rules code that a real table runs, but without hardware, network or
clock.

White space separates the tokens of a script; `#` begins a comment. Cards are written `KS 9H TD`, `CUT` is the cut card,
`??` an unreadable card, `kept:KS` a card that the shoe kept after an overdraw. `UNHEARD` says that nobody heard the
shoe for a while. A command begins with `!` and is an act, written as the act's own file says (`table/acts`): `!wager 3b
tie 500` is a wager of the back bettor behind seat 3. A supervisor's act ends with the supervisor's name, an act by two
people with two names: `!card KS Smith`, `!correct 12 KS,9H 2C,5D Smith Jones`. Some acts need two people only at times.
Then the second person's name follows a plus sign: `!void Smith +Jones`.

Two runs of the same script print the same bytes, because the epoch (the journal's name) is always 0, each fact counts
as one second, and nothing is signed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile

from msgspec import Struct
from msgspec.structs import replace

from controller import __version__
from controller.basics.near import nearest
from controller.contract import events
from controller.contract.envelope import GENESIS, Stamp, chain_head, seal
from controller.contract.face.table import Public
from controller.daemon.config import Config
from controller.daemon.record.fact_json import fact_to_json
from controller.rules.game.bets import bet_on
from controller.rules.game.cards import Card
from controller.rules.game.wagers import Wager
from controller.table.acts.entry import Act, Ambient, Argument, BadArgumentError, Form, Request, Who, read_card
from controller.table.acts.every import ACTS
from controller.table.acts.seats import PlaceWager
from controller.table.facts import CardDrawn, CardKept, CutCardDrawn, Fact, ShoeUnheard
from controller.table.legality import Refuse
from controller.table.public import public
from controller.table.requests import ByTwo, after, before, decide
from controller.table.states import Table, WagersOpen
from controller.table.step import step
from controller.words.language import language

EPOCH = "0"
_KEPT = "kept:"
"""Before a card that the shoe keeps for the next round."""


class Complaint(Struct, frozen=True):
    """A message about a token of the script that could not be played, or that caused a fault: its place in the script,
    what is wrong, and what to do."""

    line: int
    place: int  # of the token in the script, from 1
    token: str
    code: str
    what: str
    do: str

    def __str__(self) -> str:
        return f"line {self.line}, token {self.place}: {self.token}: {self.code}: {self.what}\n  what to do: {self.do}"


class _Token(Struct, frozen=True):
    """A token of the script: a card, or a command with its arguments."""

    line: int
    place: int
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)


_WITNESS = "+"
"""Before the name of the second person of an act that needs two people at times."""

_ACTS = {act.token: act for act in ACTS}
_BY = "script"


def usages(act: Act) -> list[str]:
    """Return how a person writes the act in a script: one line of usage, such as `!card CARD SUPERVISOR`, for each form
    of the act."""
    people = {Who.DEALER: (), Who.SUPERVISOR: ("SUPERVISOR",), Who.TWO_PEOPLE: ("SUPERVISOR", "WITNESS")}[act.who]
    return [" ".join((act.token, *map(_as_written, form.arguments), *people)) for form in act.forms]


def _as_written(argument: Argument) -> str:
    return f"{argument.word}{argument.many}…" if argument.many else argument.word


_MOST_ARGUMENTS = max(len(usage.split()) for act in ACTS for usage in usages(act)) - 1
_COMMANDS = f"The commands are: {', '.join(_ACTS)}."


class _TokenError(Exception):
    """The error for a token of the script that cannot be played: its code, what is wrong, and what to do."""

    def __init__(self, code: str, what: str, do: str) -> None:
        super().__init__(code)
        self.code, self.what, self.do = code, what, do


class ScriptTable:
    """A simulated table that plays the rounds of a text script."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._table = Table(config.rules)
        self._wagers: frozenset[int] = frozenset()
        self._facts = 0
        self._seq = 0
        self._head = GENESIS

    @property
    def face(self) -> Public:
        """The public view of the simulated table in its present state."""
        return public(self._table)

    def play(self, text: str) -> Iterator[bytes | Complaint]:
        """Play the script's tokens in order. Yield the canonical bytes of each event, and a complaint for each token
        that cannot be played or causes a fault."""
        for token in _tokens(text):
            try:
                yield from self._play(token)
            except _TokenError as error:
                yield Complaint(token.line, token.place, token.text, error.code, error.what, error.do)

    def _play(self, token: _Token) -> Iterator[bytes | Complaint]:
        name, *arguments = token.words
        ambient = Ambient(self._sensed(), True, self._config.rules, self._config.digest, __version__)
        fact: Fact | Refuse
        if name.startswith("!"):
            request = _request(name, arguments)
            if isinstance(request, PlaceWager) and not self._config.rules.bet_recognition:
                self._cover_sensor(request.wager)
                return
            fact = decide(self._table, request, ambient)
        else:
            fact = _fact(name)
        if isinstance(fact, Refuse):
            raise _TokenError(fact.code, language().refusal(fact.code), "Correct the script at this token.")
        for event, body in self._with_its_company(fact, ambient):
            yield body
            if isinstance(event, events.Fault):
                yield Complaint(token.line, token.place, token.text, event.code, *language().fault(event.code))
            if isinstance(event, events.WagersLocked):
                self._wagers = frozenset()

    def _with_its_company(self, fact: Fact, ambient: Ambient) -> Iterator[tuple[events.Event, bytes]]:
        """Apply the fact to the table, together with the facts that must come before it and the facts that follow from
        it. Yield each event that they make, with the event's bytes."""
        for believed in (*before(self._table, fact, ambient), fact):
            yield from self._believe(believed)
        for follows in after(self._table, ambient):
            yield from self._believe(follows)

    def _believe(self, fact: Fact) -> Iterator[tuple[events.Event, bytes]]:
        """Apply one fact to the table. Yield each event that it makes, with the event's bytes. The events form a hash
        chain as in a journal, but with a salt of zeros."""
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
        """Return the seats whose chip sensor sees a wager. These are the seats on which the script put a chip, and the
        seats where bet recognition sees a wager on the sensor's spot."""
        told = {wager.seat for wager in self._table.placed if wager.spot == self._config.rules.sensed}
        return self._wagers | (told & set(self._config.rules.sensors))

    def _cover_sensor(self, wager: Wager) -> None:
        """Put a chip on the sensor of the wager's seat. This plays `!wager` at a table without bet recognition, which
        knows only the wagers that its sensors see. Raises _TokenError if the sensor cannot see such a wager now."""
        rules = self._config.rules
        sensed = bet_on(rules.bets, rules.sensed or "")
        if sensed is None:
            raise _TokenError(
                "no_wagers_known", language().refusal("no_wagers_known"), "Set table.bet_recognition = true."
            )
        price_cents, seats = sensed.price_cents, rules.seat_numbers
        if self._table.fault is not None or not isinstance(self._table.phase, WagersOpen):
            raise _TokenError("wagers_not_open", "Wagers are not open.", "Put the wager before !deal, between rounds.")
        if wager.seat not in seats or wager.back:
            what = f"There is no seat {wager.seat}{'b' * wager.back}."
            raise _TokenError("no_such_seat", what, f"The seats are: {_listed(seats)}.")
        if wager.spot != sensed.spot:
            what = f"No sensor sees {wager.spot}."
            raise _TokenError("no_such_spot", what, f"The sensors see {sensed.spot}.")
        if wager.cents != price_cents:
            raise _TokenError("wrong_price", f"{wager.cents} cents is not the price.", f"Write {price_cents}.")
        if wager.seat in self._wagers:
            what = f"Seat {wager.seat} has a {wager.spot} wager already."
            raise _TokenError("wagered_already", what, "Write it once a round.")
        self._wagers |= {wager.seat}


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the script's tokens. A command takes the words after it as its arguments, on its own line or the next, up
    to the next command."""
    words = deque(
        (number, word) for number, line in enumerate(text.splitlines(), 1) for word in line.partition("#")[0].split()
    )
    place = 0
    while words:
        place += 1
        line, name = words.popleft()
        following = islice(words, _MOST_ARGUMENTS + 1 if name.startswith("!") else 0)
        beside = [*takewhile(lambda word: not word[1].startswith("!"), following)]
        said = [word for _, word in beside]
        taken = _taken(name, said, sum(number == line for number, _ in beside))
        taken += said[taken : taken + 1] != [] and said[taken].startswith(_WITNESS)
        yield _Token(line, place, (name, *said[:taken]))
        for _ in range(taken):
            words.popleft()


def _taken(name: str, words: list[str], on_its_line: int) -> int:
    """Return how many of the words after a command are its arguments.

    A form of the command fits if enough words follow. If several forms fit, the longest counts; if none fits, the
    first. If the words are no arguments of that form, only words on the command's own line are taken, so that a wrong
    command does not swallow the next line. After an unknown command, the words on its line up to the next card are
    taken.
    """
    if not words:
        return 0
    if name not in _ACTS:  # a mistyped command: one mistake, and not another for each of its words
        return sum(1 for _ in takewhile(lambda word: not _is_played(word), words[:on_its_line]))
    counts = [len(usage.split()) - 1 for usage in usages(_ACTS[name])]
    taken = max((count for count in counts if _asked(name, words[:count]) is not None), default=counts[0])
    asked = _asked(name, words[:taken])
    return min(taken, on_its_line if asked is None or isinstance(asked, BadArgumentError) else len(words))


def _is_played(word: str) -> bool:
    """Return True if the word stands for something that the shoe reports, such as a card or the cut card."""
    try:
        _fact(word)
    except _TokenError:
        return False
    return True


def _fact(word: str) -> Fact:
    if word == "CUT":
        return CutCardDrawn("shoe")
    if word == "UNHEARD":
        return ShoeUnheard(None)
    if word.startswith(_KEPT):
        return CardKept(_card(word.removeprefix(_KEPT)))
    return CardDrawn(None if word == "??" else _card(word))


def _card(word: str) -> Card:
    try:
        return read_card(word)
    except BadArgumentError:
        what = f"{word} is neither a card nor a command."
        raise _TokenError("script_token", what, f"Write KS 9H TD. {_COMMANDS}") from None


def _asked(name: str, arguments: list[str]) -> Request | BadArgumentError | None:
    """Return the request that a command with these arguments makes, or the error if an argument is wrong. Return None
    if no form of the command has this number of arguments."""
    act = _ACTS[name]
    wrong: BadArgumentError | None = None
    witness = arguments[-1].removeprefix(_WITNESS) if arguments[-1:] and arguments[-1].startswith(_WITNESS) else None
    if witness is not None:
        arguments = arguments[:-1]
    for form, usage in zip(act.forms, usages(act), strict=True):
        if len(usage.split()) - 1 != len(arguments):
            continue
        try:
            return _of_form(act, form, arguments, witness)
        except BadArgumentError as error:
            wrong = wrong or error
    return wrong


def _of_form(act: Act, form: Form, arguments: list[str], witness: str | None) -> Request:
    given = zip(form.arguments, arguments, strict=False)
    values = [argument.read(argument.of_word(word)) for argument, word in given]
    people = arguments[len(values) :] or [_BY] * form.named
    request = form.make(*values, *people[:1])
    if act.who is Who.TWO_PEOPLE:
        assert isinstance(request, ByTwo)
        return replace(request, witness=people[1])
    return replace(request, witness=witness) if witness and isinstance(request, ByTwo) else request


def _request(name: str, arguments: list[str]) -> Request:
    if name not in _ACTS:
        close = nearest(name, _ACTS)
        do = _COMMANDS if close is None else f"Write {' or '.join(usages(_ACTS[close]))}."
        raise _TokenError("script_token", f"{name} is not a command.", do)
    match _asked(name, arguments):
        case Request() as request:
            return request
        case BadArgumentError(what=what, do=do):
            raise _TokenError("script_token", what, do)
        case _:
            usage = " or ".join(usages(_ACTS[name]))
            raise _TokenError("script_token", f"{name} has too few arguments.", f"Write {usage}.")


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
