"""What a press means: for the lamps that people could see, and for an act that waits for its second person."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Hashable, Mapping

from msgspec.structs import replace

from controller.contract.face.status import Waits
from controller.daemon import clock
from controller.daemon.inbox import Asked
from controller.daemon.pins.buttons import SEEN_AFTER_S, pressed
from controller.daemon.pins.inputs import CABINET
from controller.daemon.second_person import BUTTON, Confirmed, Proposal, SecondPerson
from controller.table.acts.entry import KEY
from controller.table.legality import Refuse
from controller.table.requests import ByTwo
from controller.table.states import StandingFault, Table

_log = logging.getLogger(__name__)


class Presses:
    """Makes requests of the buttons of one table, whose inputs are `inputs`.

    `opened` hears that the cabinet was opened. `ask` takes each request with the way on which it came. `table` is the
    table as committed last, `moment` its shoe, round and phase. `settled` are the settled inputs. `testing` says
    whether the inputs are under test.
    """

    def __init__(
        self,
        inputs: Collection[str],
        opened: Callable[[], None],
        ask: Callable[[Asked, str], None],
        table: Callable[[], Table],
        moment: Callable[[], Hashable],
        settled: Callable[[], Mapping[str, bool]],
        testing: Callable[[], bool],
    ) -> None:
        self._second_person = SecondPerson(inputs)
        self._opened = opened
        self._ask = ask
        self._table = table
        self._moment = moment
        self._settled = settled
        self._testing = testing
        self._fault_before: StandingFault | None = table().fault  # what people saw before the fault that stands came,
        self._fault_since_s = clock.monotonic_s()  # or before the last was left, and when that was

    # The panel says (`Hands`).

    def pressed(self, name: str, at_s: float) -> None:
        """An input closed: a button is pressed or begins to be held, or the key was turned."""
        if name == CABINET:
            self._opened()  # also in a test of the inputs: otherwise a test would be the time to open it
        elif self._testing():
            _log.info("%s was pressed, in a test of the inputs", name)
        elif name == KEY:
            self._second_person.key_turned(True, at_s)
        elif not self._second_person.pressed(name, self._moment(), at_s):
            self._press(name)

    def let_go(self, name: str, at_s: float) -> None:
        """An input opened: a button was let go, or the key was turned back."""
        if name == KEY:
            self._second_person.key_turned(False, at_s)
        else:
            self._second_person.let_go(name)

    def sampled(self, at_s: float) -> None:
        """A button may have been held for long enough by now to confirm an act."""
        confirmed = self._second_person.held(self._moment(), at_s)
        if isinstance(confirmed, Confirmed):
            self._ask(Asked(confirmed.request, confirmed.fault, confirmed.shown, None), confirmed.via)

    def _press(self, name: str) -> None:
        """A press of a button means what it meant for the lamps that people could see."""
        fault = self._fault_seen()
        request = pressed(name, self._settled().get(KEY, False), replace(self._table(), fault=fault))
        if request is not None:
            self._ask(Asked(request, fault.id if fault else None, None, None), f"{BUTTON}{name}")

    # The fault that people see.

    def note_fault(self, after: Table) -> None:
        """Note that a fault came or was left. Until people can have seen that, they answer what they saw before."""
        before = self._table()
        if (after.fault and after.fault.id) != (before.fault and before.fault.id):
            self._fault_before, self._fault_since_s = self._fault_seen(), clock.monotonic_s()

    def _fault_seen(self) -> StandingFault | None:
        """The fault that people at the table can have seen by now."""
        seen = clock.monotonic_s() - self._fault_since_s >= SEEN_AFTER_S
        return self._table().fault if seen else self._fault_before

    # The second person.

    def propose(self, request: ByTwo, via: str, asked: Asked) -> None:
        """A request waits from now on for its second person."""
        self._second_person.propose(request, via, asked.fault, asked.shown, self._moment(), clock.monotonic_s())

    def confirm(self, proposal: int, by: str, via: str) -> Confirmed | Refuse:
        """A second person confirms the request that was shown under this number."""
        return self._second_person.confirm(proposal, by, via, self._moment(), clock.monotonic_s())

    def waiting(self) -> Proposal | None:
        """The request that waits; None where none does."""
        return self._second_person.waiting(self._moment(), clock.monotonic_s())

    def waiting_status(self) -> Waits | None:
        """The request that waits; None where none does."""
        return self._second_person.status(self._moment(), clock.monotonic_s())
