"""Runs the table for a conformance test: its daemon, and a simulated person who does at the table what the conformance
kit asks people to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from itertools import cycle
from pathlib import Path

from controller.basics.errors import TableError
from controller.bench.daemon import ROOT, Broker, Table, TableFiles, comes_true
from controller.bench.far_shoe import FarShoe
from controller.pit.conformance.clauses import clauses
from controller.pit.conformance.deeds import TABLE_DEEDS, DeedFailedError, Deeds
from controller.pit.conformance.main import try_table
from controller.pit.conformance.report import Report
from controller.pit.conformance.wire import Address
from drivers.sim.line import PtyLine
from drivers.sim.pins import SimulatedPins
from tests.support.waiting import eventually_now

NAME = "kit-01"
_STALE_AFTER_S = 2
_NOT_YET = ("no_pit_key", "pit_key_differs", "pit_stands_by_it")
_NO_HIT = "8{0} J{0} T{0} 5{0}"  # in one suit after the other: the shoe has eight of each card
_HITS_A_METER, _HITS_A_FIXED_AWARD = "2C KS 3D 9S", "QD 2C 9H 3D"  # at seat 1, whose cards are KS 9S


class Person(Deeds):
    """The simulated person who deals, decides and restarts programs at the table under test. `home` is the folder with
    the table's program, a copy of this repository's packages."""

    def __init__(self, folder: Path, broker: Broker, home: Path) -> None:
        super().__init__(TABLE_DEEDS, {}, asks=False)
        files = TableFiles(
            folder, NAME, broker.port, None, pit={"trust_first_key": False, "stale_after_s": _STALE_AFTER_S}
        )
        self.broker = broker
        self.table = Table(files, folder)
        self.table.program = ("-c", _RUNS.format(home=str(home)))
        self._suits = cycle("SHDC")
        self._line = PtyLine(files.port)
        self._shoe = FarShoe(self._line)
        pins = files.values["pins"]
        self._pins = SimulatedPins(files.page, pins["lamps"], pins["inputs"])
        for name in pins["inputs"]:
            self._pins.release(name)
        self._deeds: dict[str, Callable[..., None]] = {
            "pin": lambda fingerprint: self._act("pit_key", trust=fingerprint),
            "events": self._events,
            "round": lambda: self._round(_NO_HIT.format(next(self._suits))),
            "hit_meter": lambda: self._round(_HITS_A_METER),
            "hit_fixed": lambda: self._round(_HITS_A_FIXED_AWARD),
            "void": self._void,
            "clear": self._clear,
            "recognition": self._adopt,
            "restart": self.table.restart,
            "broker": self._restart_broker,
        }

    def need(self, deed: str) -> None:
        """Check that this person can do the deed (the act of people) that the conformance kit asks for. The person can
        do every deed at a table."""
        assert deed in self._deeds, deed

    def do(self, deed: str, **names: str) -> None:
        """Do the deed (the act of people) at the table. `names` are the deed's details. Raises DeedFailedError if the
        table does not allow it."""
        try:
            self._deeds[deed](**names)
        except (TableError, AssertionError) as error:
            raise DeedFailedError(f"{deed}: {error}") from error

    def begin(self) -> None:
        """Start the table's program, open a shoe, and draw the shoe's first card and the cards of the burn."""
        self.table.start()
        eventually_now(lambda: self.table.status().shoe.up)
        self._tap("new_shoe", "first_card_due")
        self._shoe.new_shoe()
        self._shoe.deal("2C KC KD")
        eventually_now(lambda: self.table.phase == "wagers_open")

    def close(self) -> None:
        """End the table's program."""
        self.table.close()
        self._line.unplug()

    def _act(self, act: str, **said: str | int) -> None:
        eventually_now(lambda: self._answered(act, **said))

    def _answered(self, act: str, **said: str | int) -> bool:
        try:
            self.table.supervisor(act, **said)
        except TableError as error:
            if error.code in _NOT_YET:
                return False
            raise
        return True

    def _events(self, count: str) -> None:
        for _ in range(int(count)):
            self.table.supervisor("test_hit", seat=1)

    def _round(self, cards: str) -> None:
        self._lock()
        self._shoe.deal(cards)
        eventually_now(lambda: self.table.phase == "wagers_open")
        self._pins.release("seat_1")
        with suppress(TableError):  # no hit shows
            self.table.supervisor("reset_hit", seat=1)

    def _lock(self) -> None:
        self._pins.press("seat_1")
        eventually_now(lambda: 1 in self.table.status().sensors)
        self._tap("deal", "wagers_locked")

    def _tap(self, button: str, phase: str) -> None:
        """Press and release the button until the table reaches the phase. Press it only once a second: if a contact
        opens only for a moment, the table counts it as closed all the time, and would take two quick presses for one.
        """

        def tapped() -> bool:
            self._pins.tap(button)
            return comes_true(lambda: self.table.phase == phase, 1)

        eventually_now(tapped)

    def _void(self) -> None:
        self._lock()
        self.table.supervisor("void")
        self._pins.release("seat_1")

    def _clear(self, fault: str) -> None:
        assert self.table.fault == fault
        self._act("clear")
        self._pins.confirm("deal")
        eventually_now(lambda: self.table.fault is None)

    def _adopt(self, key: str) -> None:
        self.table.supervisor("recognition_key", trust=key)
        self._pins.confirm("deal")
        eventually_now(lambda: self.table.status().second_person is None)

    def _restart_broker(self) -> None:
        self.broker.down()
        self.broker.up()


_RUNS = """\
import sys
sys.path.insert(0, {home!r})
from controller.people.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def try_reference_table(folder: Path, home: Path = ROOT, only: Sequence[str] = ()) -> Report:
    """Run the conformance kit on the table whose program is in `home`, and return the report. The table has a broker of
    its own."""
    wanted = [clause for clause in clauses("T") if not only or clause.number in only]
    with ExitStack() as stack:
        broker = Broker(folder)
        broker.up()
        stack.callback(broker.down)
        person = Person(folder, broker, home)
        stack.callback(person.close)
        person.begin()
        address = Address(broker.host, broker.port, "pit/v1")
        return try_table(address, person, NAME, _STALE_AFTER_S, wanted, lambda line: None)
