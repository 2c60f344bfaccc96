"""A list of every input that a table can have: what a person does to it, and which tables need it.

Each button belongs to an act (`controller/table/acts`). The button of a new act is added to the list automatically, as
one that no table must have. The list has the order in which inputs are usually wired: an input takes the next free pin
of docs/wiring.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from msgspec import Struct

from controller.rules.game.play import Call
from controller.table.acts.entry import KEY
from controller.table.acts.every import ACTS
from drivers.devices import PRESENT_INPUT

CABINET = "cabinet_open"
"""The input that is closed while the table's cabinet, or its shoe's compartment, is open."""


class Wanted(Enum):
    """The kind of tables that need a certain input. Example: `TO_LOCK` stands for every table whose dealer locks the
    wagers.

    `tablectl setup` asks a person to press each input in turn. It asks for inputs of every kind, except the one of the
    shoe's plug.
    """

    TO_LOCK = auto()  # every table whose dealer locks the wagers
    EVERYWHERE = auto()  # every table: without it people must use `tablectl`
    BY_A_SHOE = auto()  # with a shoe that leaves something to its dealer (`Brand.buttons`)
    BY_A_GAME = auto()  # in a game whose dealer calls this
    AT_WILL = auto()  # no table misses it
    BY_THE_PLUG = auto()  # where `shoe.present` names it


class Input(Struct, frozen=True):
    """One input of a table. `does` says what a person does to it, such as "Turn the key". `wanted` says which tables
    need it."""

    does: str
    wanted: Wanted


_BUTTONS: dict[str, Wanted] = {
    "deal": Wanted.TO_LOCK,
    "new_shoe": Wanted.EVERYWHERE,
    "void": Wanted.EVERYWHERE,
    KEY: Wanted.EVERYWHERE,
    "cut_card": Wanted.BY_A_SHOE,
    **{call.value: Wanted.BY_A_GAME for call in Call},
}
_OF_OTHER_ACTS = {press.button: Wanted.AT_WILL for act in ACTS for press in act.presses if press.button not in _BUTTONS}

INPUTS: dict[str, Input] = {
    name: Input("Turn the key" if name == KEY else f"Press the button {name}", wanted)
    for name, wanted in (_BUTTONS | _OF_OTHER_ACTS).items()
} | {
    CABINET: Input("Open the cabinet", Wanted.AT_WILL),
    PRESENT_INPUT: Input("Pull the plug at the shoe", Wanted.BY_THE_PLUG),
}
"""The inputs that are no seat's sensor, by name. The sensor of seat 3 is `seat_3`."""


def missed_without(calls: Iterable[Call]) -> list[str]:
    """Return the names of the inputs that a table must have. `calls` are the calls of the game's dealer that each have
    a button, such as `hit` or `split`."""
    called = {call.value for call in calls}
    return [name for name, each in INPUTS.items() if each.wanted is Wanted.EVERYWHERE or name in called]


def to_wire(calls: Iterable[Call], of_shoe: Iterable[str], walks: bool) -> list[str]:
    """Return the inputs that a person is asked to wire at a table, in the usual order.

    `calls` are the calls that the game's dealer makes with a button, such as `hit`. `of_shoe` are the buttons that the
    shoe needs. `walks` is True if the person presses each input in turn during the setup. With `walks` the result also
    has the optional inputs. Example: a shoe that reports the cut card itself needs no button for it, but the table may
    have one.
    """
    own = (Wanted.TO_LOCK, Wanted.EVERYWHERE)
    at_will = (Wanted.BY_A_SHOE, Wanted.AT_WILL) if walks else ()
    names = [name for name, each in INPUTS.items() if each.wanted in own]
    names += [*of_shoe, *(call.value for call in calls)]
    return [*names, *(name for name, each in INPUTS.items() if each.wanted in at_will and name not in names)]


def deed(name: str) -> str:
    """Return what a person does to the input `name`, such as "Turn the key" or "Cover the sensor seat_3"."""
    return f"Cover the sensor {name}" if name not in INPUTS else INPUTS[name].does
