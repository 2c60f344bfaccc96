"""The description of an act. An act is one thing that a person can do with a table, such as to void a round, and one
entry says everything about that act.

An entry says the act's name and arguments, who may do the act, in which phases the act is refused (its row of the table
of legality), the fact that the act becomes, the buttons that mean the act, and a sentence with an example for help. The
socket, `tablectl`, scripts, buttons and documents are made from the entries, which `every.py` lists. To add an act,
write its entry in one of the files beside this one: the fact, the request with `becomes`, and the `Act`. Then say in
`step.py` what the fact does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from math import lcm
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from controller.contract.bounds import MOST_SEAT, MOST_SEQ, is_count
from controller.contract.names import same_name
from controller.rules.game.cards import Card
from controller.table.facts import Fact, ToldMeters
from controller.table.faults import Exit
from controller.table.legality import Refuse, refuse
from controller.table.rules import TableRules
from controller.table.states import Burning, FirstCardDue, Locked, NoShoe, Phase, RoundInPlay, ShoeEnded, Table

LOTS = lcm(*range(1, 15))
"""How many lots there are to draw by. Of any 2 to 14 seats, each ordered pair gets the same number of lots."""


class Ambient(Struct, frozen=True):
    """What a request depends on besides the table's own state.

    - `sensed_seats`: the seats whose sensor sees a wager now.
    - `pit_fresh`: false where the pit has been silent for longer than its limit. Nobody can then bet on a progressive.
    - `levels`: the progressive meters' amounts in cents, as the table shows them.
    - `told`: the message of the pit that gave these levels; None where there is no such message.
    - `lot`: a random number, to draw seats by.
    - `offered_pit_keys`: the last keys, in hex, that were offered as the pit's.
    - `latest_seq`: the highest number that a message of the pit can have by now.

    The fields `rules`, `config_digest` and `version` are what a new shoe would open with.
    """

    sensed_seats: frozenset[int]
    pit_fresh: bool
    rules: TableRules
    config_digest: str
    version: str
    lot: int = 0
    levels: Mapping[str, int] = field(default_factory=dict)
    offered_pit_keys: tuple[str, ...] = ()
    latest_seq: int = MOST_SEQ
    told: ToldMeters | None = None


class Request(Struct, frozen=True):
    """Something that a person asks of the table. A supervisor's request has a field `supervisor`, which is None where
    no name was given."""

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the fact that the request becomes, or the reason to refuse the request. Called only where the act is
        allowed in the table's present phase."""
        raise NotImplementedError


class Who(Enum):
    """The kinds of people who may do an act."""

    DEALER = "the dealer"
    SUPERVISOR = "a supervisor"
    TWO_PEOPLE = "two people"


class When(Enum):
    """The situations that decide what a press of a button means."""

    ANY = "at any time"
    FAULT = "while a fault stands"
    ODD_CARD = "after a card drawn in error"
    PAUSED = "while the table is paused"
    HIT = "between rounds, while a hit is shown"


DEALER = "dealer"
"""The name under which a dealer's act is journalled where a button asked for the act."""

KEY = "key"
"""The name under which a supervisor's act is journalled where the key at the table was turned for the act."""


class Press(Struct, frozen=True):
    """A press of `button`, with the key turned or not, that makes `request` in the situation `when`."""

    button: str
    key_turned: bool
    says: str
    request: Callable[[], Request]
    when: When = When.ANY


class BadArgumentError(ValueError):
    """Raised for an argument that cannot be understood: `what` is wrong with the argument, and what to `do` instead."""

    def __init__(self, what: str, do: str) -> None:
        super().__init__(what)
        self.what, self.do = what, do


class Argument(Struct, frozen=True):
    """An argument of an act.

    `of_text` turns a word that was written in a shell or a script into the argument's JSON value on the socket. `read`
    turns that JSON value into what the request holds. Both raise BadArgumentError. `word` stands for the argument in
    usage texts. Where `flag` is set, a shell writes `--flag WORD`. Where `many` is set, the argument is a list, and a
    script writes the list as one word with `many` as the separator: `!seats 1,2,5`.
    """

    name: str
    word: str
    says: str
    read: Callable[[Any], Any]
    of_text: Callable[[str], Any] = str
    flag: str | None = None
    many: str = ""

    def of_word(self, word: str) -> Any:
        """Return the argument's JSON value for one word of a script."""
        return [*map(self.of_text, word.split(self.many))] if self.many else self.of_text(word)


class Form(Struct, frozen=True):
    """One form in which an act can be requested. `make` takes the values of the arguments in order and, where `named`,
    last the name of the person who asks."""

    request: type[Request]
    make: Callable[..., Request]
    arguments: tuple[Argument, ...] = ()
    named: bool = True

    @property
    def said(self) -> set[str]:
        """Return the names of all the arguments that this form takes, with `by` where the form is `named`."""
        return {*(argument.name for argument in self.arguments), *(["by"] * self.named)}


NO_SHOE: Mapping[type[Phase], str] = {NoShoe: "no_shoe", ShoeEnded: "no_shoe"}
UNTIL_BURNED: Mapping[type[Phase], str] = {FirstCardDue: "burn_unfinished", Burning: "burn_unfinished"}
IN_A_ROUND: Mapping[type[Phase], str] = {Locked: "already_locked", RoundInPlay: "round_in_play"}


def everywhere(code: str, but: tuple[type[Phase], ...] = ()) -> Mapping[type[Phase], str]:
    """Return a row of the table of legality in which every phase refuses the act with `code`, except for the phases in
    `but`."""
    return {phase: code for phase in Phase.__args__ if phase not in but}


class Act(Struct, frozen=True):
    """One act: a thing that a person can do with the table.

    `refused` is the act's row of the table of legality: it maps a phase to the code of the refusal. In a phase that
    `refused` does not name, the act is allowed. `leads_to` are the phases in which the act may end; where none is
    named, the phase stays. While a fault stands, the act is refused, unless the act is an `exit` of that fault (may
    clear it) or is allowed `in_fault`. An act that is not `on_socket` can only come from a button or a script. An act
    with `look`, requested without its arguments, only shows something: `tablectl pit-key` shows the pit's keys.
    """

    name: str
    group: str
    who: Who
    says: str
    example: str
    forms: tuple[Form, ...]
    becomes: tuple[type[Fact], ...]
    refused: Mapping[type[Phase], str] = field(default_factory=dict)
    leads_to: tuple[type[Phase], ...] = ()
    exit: Exit | None = None
    in_fault: bool = False
    presses: tuple[Press, ...] = ()
    on_socket: bool = True
    script: str | None = None  # its token, where that is not the name
    look: bool = False
    shows: str | None = None  # the event that is shown before the act is done, and a yes is asked for
    confirmed_by: tuple[str, ...] = ("deal", "void")  # the second person holds the first of these that the table has

    @property
    def token(self) -> str:
        """Return the word that a script writes for this act, such as `!new-shoe`."""
        return f"!{self.script or self.name}"

    def refusal(self, table: Table) -> str | None:
        """Return the code with which the table would refuse this act now, or None where the act is allowed. While a
        fault stands the code is `fault_stands`, even for an act that may clear the fault; `requests.py` lets such an
        act pass."""
        if table.fault is None or self.in_fault:
            return self.refused.get(type(table.phase))
        return "fault_stands"

    @property
    def do(self) -> str:
        """Return the act's name as a message on the control socket has it under `do`."""
        return self.name.replace("-", "_")


# Who asks.


def by_two(request: Any, fact: Fact) -> Fact | Refuse:
    """Return `fact` where two different people ask for the act, a supervisor and a witness. Otherwise return the
    refusal: no second person yet, or the same person twice."""
    if request.witness is None:
        return refuse("second_person_due")
    return refuse("not_two_people") if same_name(request.supervisor or "", request.witness) else fact


# Arguments.


def whole(name: str, word: str, says: str, least: int, most: int) -> Argument:
    """Return the description of an argument that is a whole number from `least` to `most`."""

    def read(value: Any) -> int:
        if not is_count(value, least, most):
            raise BadArgumentError(f"{value} is not {says}.", f"Write a whole number from {least} to {most}.")
        return value

    return Argument(name, word, says, read, number)


def number(text: str) -> int:
    """Return the number that `text` writes in digits. Raises BadArgumentError where `text` is anything else or longer
    than 18 digits."""
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise BadArgumentError(f"{text} is not a number.", "Write digits alone, at most 18.")
    return int(text)


def seat(name: str, says: str = "the seat's number", flag: str | None = None) -> Argument:
    """Return the description of an argument that is a seat's number. Whether the table has that seat is checked
    elsewhere, when the request is decided."""
    return replace(whole(name, "SEAT", says, 1, MOST_SEAT), flag=flag)


def read_card(value: Any) -> Card:
    """Parse a word such as "KS" into a card. Raises BadArgumentError where the word is not a card."""
    if isinstance(value, str):
        with suppress(ValueError):
            return Card.parse(value)
    raise BadArgumentError(f"{value} is not a card.", "Write rank, then suit: KS 9H TD AC.")


def read_cards(value: Any) -> tuple[Card, ...]:
    """Parse a text such as "KS 9H" into cards. Raises BadArgumentError where the text is not a list of cards."""
    if not isinstance(value, str):
        raise BadArgumentError(f"{value} are not cards.", "Write them as one text: KS 9H.")
    return tuple(map(read_card, value.split()))


def cards_of_text(text: str) -> str:
    """Return the JSON form ("KS 9H") of cards that a shell writes as "KS 9H" or a script as KS,9H. Raises
    BadArgumentError where a word is not a card."""
    cards = text.replace(",", " ")
    read_cards(cards)
    return cards
