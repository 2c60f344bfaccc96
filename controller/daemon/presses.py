"""Turns presses of a table's buttons into requests. What a press means depends on the lamps that people could see at
that moment.

A press may instead confirm an act that waits for a second person.
"""

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
    """Turns presses of one table's buttons into requests. `inputs` are the names of the table's inputs.

    `opened` is called when the cabinet is opened. `ask` is called with each request and its source. `table` returns the
    table's state after the last commit, and `moment` that state's shoe, round and phase. `settled` returns the
    debounced inputs. `testing` tells whether a test of the inputs is running.
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
        """Take note that an input closed: a button is pressed or begins to be held, or the key was turned."""
        if name == CABINET:
            self._opened()  # also in a test of the inputs: otherwise a test would be the time to open it
        elif self._testing():
            _log.info("%s was pressed, in a test of the inputs", name)
        elif name == KEY:
            self._second_person.key_turned(True, at_s)
        elif not self._second_person.pressed(name, self._moment(), at_s):
            self._press(name)

    def let_go(self, name: str, at_s: float) -> None:
        """Take note that an input opened: a button was let go, or the key was turned back."""
        if name == KEY:
            self._second_person.key_turned(False, at_s)
        else:
            self._second_person.let_go(name)

    def sampled(self, at_s: float) -> None:
        """Take note that all inputs were read at `at_s`. If a second person has now held the right button for long
        enough, confirm the act that waits."""
        confirmed = self._second_person.held(self._moment(), at_s)
        if isinstance(confirmed, Confirmed):
            self._ask(Asked(confirmed.request, confirmed.fault, confirmed.shown, None), confirmed.via)

    def _press(self, name: str) -> None:
        """Make the request that a press of this button means. The meaning follows from the lamps that people could see
        at that moment, because the lamps may lag behind the table's state."""
        fault = self._fault_seen()
        request = pressed(name, self._settled().get(KEY, False), replace(self._table(), fault=fault))
        if request is not None:
            self._ask(Asked(request, fault.id if fault else None, None, None), f"{BUTTON}{name}")

    # The fault that people see.

    def note_fault(self, after: Table) -> None:
        """Take note that a fault came or was cleared. `after` is the table's new state.

        Until people can have seen that change on the lamps, a press of a button means what it meant before.
        """
        before = self._table()
        if (after.fault and after.fault.id) != (before.fault and before.fault.id):
            self._fault_before, self._fault_since_s = self._fault_seen(), clock.monotonic_s()

    def _fault_seen(self) -> StandingFault | None:
        """Return the fault that people at the table can have seen by now on the lamps; None if they see no fault."""
        seen = clock.monotonic_s() - self._fault_since_s >= SEEN_AFTER_S
        return self._table().fault if seen else self._fault_before

    # The second person.

    def propose(self, request: ByTwo, via: str, asked: Asked) -> None:
        """Keep the request until a second person confirms it. A request that came from a button is not kept.

        `via` says from where the request came, such as an account.
        """
        self._second_person.propose(request, via, asked.fault, asked.shown, self._moment(), clock.monotonic_s())

    def confirm(self, proposal: int, by: str, via: str) -> Confirmed | Refuse:
        """Confirm the waiting request that was shown under the number `proposal`, for the second person `by`. Return
        the confirmed request, or a refusal."""
        return self._second_person.confirm(proposal, by, via, self._moment(), clock.monotonic_s())

    def waiting(self) -> Proposal | None:
        """Return the request that waits for a second person; None if no request waits."""
        return self._second_person.waiting(self._moment(), clock.monotonic_s())

    def waiting_status(self) -> Waits | None:
        """Return the request that waits for a second person, in the form in which the table's status shows it; None if
        no request waits."""
        return self._second_person.status(self._moment(), clock.monotonic_s())
