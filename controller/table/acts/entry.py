"""The class `Act`, which describes one thing that a person can do with a table, such as to void a round. One instance,
called an entry, says everything about its act.

An entry gives the act's name and arguments, who may do the act, the phases in which the act is refused, the fact that
is journalled when the act is done, the buttons that trigger the act, and a sentence with an example for the help. The
control socket, `tablectl`, scripts, buttons and documents are made from the entries, which `every.py` lists. To add an
act, write in one of the files of this folder: the fact, the request with its method `becomes`, and the `Act`. Then say
in `step.py` how the fact changes the table.
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
    """The information from outside the table's own state that the decision on a request needs.

    - `sensed_seats`: the seats whose sensor sees a wager now.
    - `pit_fresh`: False if the pit has been silent for longer than its limit. Nobody can then bet on a progressive.
    - `levels`: the progressive meters' amounts in cents, as the table shows them.
    - `told`: the pit's message that gave the amounts in `levels`; None if there is no such message.
    - `lot`: a random number, for drawing seats by lot.
    - `offered_pit_keys`: the last public keys, in hex, that were offered to the table as the pit's key.
    - `latest_seq`: a limit for message numbers. The pit numbers its messages by the time, so a number above this limit
      lies in the future and is not genuine.

    A new shoe that is opened now gets the values of `rules`, `config_digest` and `version`.
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
    """The base class of everything that a person can ask of the table. A supervisor's request has a field `supervisor`:
    the supervisor's name, or None if the person gave no name."""

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the fact to journal if the request is granted, or the refusal. Called only if the table's present
        phase allows the act."""
        raise NotImplementedError


class Who(Enum):
    """The kinds of people who may do an act."""

    DEALER = "the dealer"
    SUPERVISOR = "a supervisor"
    TWO_PEOPLE = "two people"


class When(Enum):
    """The situations of the table in which a press of a button has a meaning of its own."""

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
    """One meaning of a button: in the situation `when`, a press of `button` makes the request `request`. `key_turned`
    says whether the supervisor's key must be turned for this meaning."""

    button: str
    key_turned: bool
    says: str
    request: Callable[[], Request]
    when: When = When.ANY


class BadArgumentError(ValueError):
    """An error that says that an argument of an act cannot be understood. `what` says what is wrong with the argument,
    and `do` says what the person should write instead."""

    def __init__(self, what: str, do: str) -> None:
        super().__init__(what)
        self.what, self.do = what, do


class Argument(Struct, frozen=True):
    """The description of one argument of an act.

    `of_text` turns a word from a shell or a script into the JSON value that is sent over the control socket. `read`
    turns that JSON value into the value that the request holds. Both raise BadArgumentError. `word` is the name that
    stands for the argument in usage texts. If `flag` is set, a person writes `--FLAG WORD` in a shell. If `many` is
    set, the argument is a list. A script writes the list as one word, with `many` as the separator: `!seats 1,2,5`.
    """

    name: str
    word: str
    says: str
    read: Callable[[Any], Any]
    of_text: Callable[[str], Any] = str
    flag: str | None = None
    many: str = ""

    def of_word(self, word: str) -> Any:
        """Parse one word of a script into the argument's JSON value."""
        return [*map(self.of_text, word.split(self.many))] if self.many else self.of_text(word)


class Form(Struct, frozen=True):
    """One of the sets of arguments with which an act can be requested. The function `make` builds the request from the
    values of the arguments, in order. If `named` is set, the name of the person who asks is its last parameter."""

    request: type[Request]
    make: Callable[..., Request]
    arguments: tuple[Argument, ...] = ()
    named: bool = True

    @property
    def said(self) -> set[str]:
        """Return the names of all arguments that this form of the act takes. If the form is `named`, the set also holds
        "by", the name of the person who asks."""
        return {*(argument.name for argument in self.arguments), *(["by"] * self.named)}


NO_SHOE: Mapping[type[Phase], str] = {NoShoe: "no_shoe", ShoeEnded: "no_shoe"}
UNTIL_BURNED: Mapping[type[Phase], str] = {FirstCardDue: "burn_unfinished", Burning: "burn_unfinished"}
IN_A_ROUND: Mapping[type[Phase], str] = {Locked: "already_locked", RoundInPlay: "round_in_play"}


def everywhere(code: str, but: tuple[type[Phase], ...] = ()) -> Mapping[type[Phase], str]:
    """Return a dictionary that maps each phase, except the phases in `but`, to the code `code`. An act uses this
    dictionary to say that it is refused, with that code, in all these phases."""
    return {phase: code for phase in Phase.__args__ if phase not in but}


class Act(Struct, frozen=True):
    """The description of one act, that is, of one thing that a person can do with the table.

    `refused` maps each phase in which the act is refused to the code of the refusal. The act is allowed in every other
    phase. `leads_to` lists the phases in which the table may be after the act. If the list is empty, the phase stays
    the same. While a fault stands, the act is refused, unless `exit` says that the act may clear that fault, or
    `in_fault` is set. An act that is not `on_socket` can only come from a button or a script. If `look` is set, the act
    without its arguments only shows something: `tablectl pit-key` shows the pit's keys.
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
        """Return the word that stands for this act in a script, such as `!new-shoe`."""
        return f"!{self.script or self.name}"

    def refusal(self, table: Table) -> str | None:
        """Return the code with which the table would refuse this act now, or None if the act is allowed. While a fault
        stands, the code is `fault_stands`, unless the act is allowed `in_fault`. This is so even for an act that may
        clear the fault; `requests.py` lets such an act through."""
        if table.fault is None or self.in_fault:
            return self.refused.get(type(table.phase))
        return "fault_stands"

    @property
    def do(self) -> str:
        """Return the act's name in the form that messages on the control socket use under the key `do`, such as
        "new_shoe"."""
        return self.name.replace("-", "_")


# Who asks.


def by_two(request: Any, fact: Fact) -> Fact | Refuse:
    """Return `fact` if two different people, a supervisor and a witness, made the request. Otherwise return a refusal:
    the second person is missing, or the same person asked twice."""
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
    """Parse `text`, which must be digits only, into a number. Raises BadArgumentError if `text` holds anything else or
    has more than 18 digits."""
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise BadArgumentError(f"{text} is not a number.", "Write digits alone, at most 18.")
    return int(text)


def seat(name: str, says: str = "the seat's number", flag: str | None = None) -> Argument:
    """Return the description of an argument that is a seat's number. The argument itself accepts every possible seat
    number. Whether this table has that seat is checked when the request is decided."""
    return replace(whole(name, "SEAT", says, 1, MOST_SEAT), flag=flag)


def read_card(value: Any) -> Card:
    """Parse a word such as "KS" into a card. Raises BadArgumentError if the word is not a card."""
    if isinstance(value, str):
        with suppress(ValueError):
            return Card.parse(value)
    raise BadArgumentError(f"{value} is not a card.", "Write rank, then suit: KS 9H TD AC.")


def read_cards(value: Any) -> tuple[Card, ...]:
    """Parse a text such as "KS 9H" into cards. Raises BadArgumentError if the text is not a list of cards."""
    if not isinstance(value, str):
        raise BadArgumentError(f"{value} are not cards.", "Write them as one text: KS 9H.")
    return tuple(map(read_card, value.split()))


def cards_of_text(text: str) -> str:
    """Return a list of cards in its JSON form, "KS 9H". A person writes it in a shell as "KS 9H", or in a script as
    KS,9H. Raises BadArgumentError if a word is not a card."""
    cards = text.replace(",", " ")
    read_cards(cards)
    return cards
