"""An act by two people: the first person's request waits until a second person confirms the request.

Two people are two accounts at the control socket, or an account and the supervisor's key at the table. The kernel tells
whose account it is (`via`), so a second name typed at one account is no second person. Nor are two accounts two people
where their names are the same (`contract.names.same_name`).

A confirmation names the act that waits. At the socket the second person says the act's number. At the table the second
person turns the key once the lamp `fault` says that an act waits, and then holds the button of that act
(`Act.confirmed_by`) for two seconds. Example: Smith asks to void round 12. Jones turns the key and holds `void`.
A key that was turned before, a key turned for a test of the lamps, a short press and another button confirm nothing.
The key confirms and does not ask: an act by two people begins at an account.

To make an act need two people, give its request a field `witness: str | None = None` and a property `details`, which
holds what the second person is shown. End its `becomes` with `acts.entry.by_two`, name the request in `requests.ByTwo`,
and put the act's sentence under `asks` in each file of `controller/words`. The rest is here, in `presses.py` and in
`runtime.py`. A request without a witness that would be allowed is refused with `second_person_due`. The request then
waits, is shown in the status, and comes again with the witness's name.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from msgspec import Struct
from msgspec.structs import replace

from controller.contract.face.status import Waits
from controller.contract.names import same_name
from controller.daemon.pins.buttons import SEEN_AFTER_S
from controller.table.acts.entry import KEY, Act
from controller.table.acts.every import act_of
from controller.table.legality import Refuse, refuse
from controller.table.requests import ByTwo

WAITS_S = 30.0
"""How long a request waits for its second person."""

BUTTON = "button "
"""How the way of a request begins that a button made."""

HOLD_S = 2.0
"""How long the second person holds the button of the act, with the key turned."""


class Proposal(Struct, frozen=True):
    """A request that waits. `via` is the way on which the request came, `fault` the id of the fault that it answers,
    `shown` the name of what was shown before it (`foreseen.py`).

    `moment` is the table's shoe, round and phase when the request came. Once one of them is another, the request is no
    longer valid. The request came at `since_s`, and waits until `until_s`.
    """

    id: int
    request: ByTwo
    via: str
    fault: str | None
    shown: str | None
    moment: Hashable
    since_s: float
    until_s: float

    @property
    def act(self) -> Act:
        """The act that waits."""
        act = act_of(self.request)
        assert act is not None, "a request by two people is an act"
        return act


class _Hold(Struct, frozen=True):
    """A button that is held since `since_s`, to confirm the proposal `id`."""

    button: str
    id: int
    since_s: float


class Confirmed(Struct, frozen=True):
    """A request that two people made. `via` names the ways on which both of them came."""

    request: ByTwo
    via: str
    fault: str | None
    shown: str | None


class SecondPerson:
    """The one request that waits for a second person, if any does. A later request takes its place.

    All moments are seconds of one monotonic clock. `inputs` are the inputs that this table has, by name.
    """

    def __init__(self, inputs: Collection[str]) -> None:
        self._inputs = inputs
        self._waiting: Proposal | None = None
        self._proposed = 0
        self._key_turned_s: float | None = None
        self._hold: _Hold | None = None

    def propose(
        self, request: ByTwo, via: str, fault: str | None, shown: str | None, moment: Hashable, now_s: float
    ) -> None:
        """The first person has asked: the request waits from now on, unless a button asked.

        A button is nobody's account: whoever pressed it, by a key that another person turned, could then confirm the
        request by an own account, and be two people.
        """
        if via.startswith(BUTTON):
            return
        self._proposed += 1
        self._waiting = Proposal(self._proposed, request, via, fault, shown, moment, now_s, now_s + WAITS_S)

    def waiting(self, moment: Hashable, now_s: float) -> Proposal | None:
        """The request that waits at this moment."""
        waiting = self._waiting
        return None if waiting is None or waiting.moment != moment or now_s >= waiting.until_s else waiting

    def confirm(self, id_: int, by: str, via: str, moment: Hashable, now_s: float) -> Confirmed | Refuse:
        """`by`, who came by `via`, confirms the request that was shown under `id_`. The request waits no more."""
        proposal = self.waiting(moment, now_s)
        if proposal is None:
            return refuse("no_proposal")
        if proposal.id != id_:
            return refuse("proposal_changed")
        if proposal.via == via or same_name(proposal.request.supervisor or "", by):
            return refuse("not_two_people")
        self._waiting = None
        ways = f"{proposal.via} and {via}"
        return Confirmed(replace(proposal.request, witness=by), ways, proposal.fault, proposal.shown)

    # The key at the table.

    def key_turned(self, turned: bool, now_s: float) -> None:
        """The key at the table was turned, or turned back. A button that is held confirms nothing any more."""
        self._key_turned_s = now_s if turned else None
        self._hold = None

    def pressed(self, button: str, moment: Hashable, now_s: float) -> bool:
        """Whether this press begins a confirmation: the act's own button, and a key turned since the act was shown.

        Such a press means nothing else, however short it is. Example: the second person of a void lets go too early.
        The table must not take that for a void by one person.
        """
        self._hold = None
        proposal, turned_s = self.waiting(moment, now_s), self._key_turned_s
        if proposal is None or turned_s is None or turned_s < proposal.since_s + SEEN_AFTER_S:
            return False
        if button != self._button(proposal):
            return False
        self._hold = _Hold(button, proposal.id, now_s)
        return True

    def let_go(self, button: str) -> None:
        """A button was let go. Where it was not held long enough, nothing was confirmed, and nothing else is done."""
        if self._hold is not None and self._hold.button == button:
            self._hold = None

    def held(self, moment: Hashable, now_s: float) -> Confirmed | Refuse | None:
        """The confirmation of a button that was held long enough by now; None where there is none."""
        hold = self._hold
        if hold is None or now_s < hold.since_s + HOLD_S:
            return None
        self._hold = None
        return self.confirm(hold.id, KEY, KEY, moment, now_s)

    def status(self, moment: Hashable, now_s: float) -> Waits | None:
        """The request that waits, as the status tells it."""
        proposal = self.waiting(moment, now_s)
        if proposal is None:
            return None
        return Waits(
            id=proposal.id,
            act=proposal.act.name,
            details=proposal.request.details,
            by=proposal.request.supervisor,
            via=proposal.via,
            button=self._button(proposal),
            left_s=int(proposal.until_s - now_s),
        )

    def _button(self, proposal: Proposal) -> str | None:
        """The button that confirms the act at this table; None where the table has no key, or none of the buttons."""
        return next((name for name in proposal.act.confirmed_by if {KEY, name} <= {*self._inputs}), None)
