"""Acts by two people: the first person's request waits until a second person confirms it.

Two people are two accounts at the control socket, or an account and the supervisor's key at the table. The kernel tells
the table from which account a request comes (`via`). So nobody counts as a second person by typing a second name at the
same account. Two accounts with the same person's name are not two people either (`contract.names.same_name`).

A confirmation names the act that waits. At the socket the second person says the act's number. At the table the second
person turns the key after the lamp `fault` has shown that an act waits, and then holds the button of that act
(`Act.confirmed_by`) for two seconds. Example: Smith asks to void round 12. Jones turns the key and holds `void`. A key
that was turned before, a key turned for a test of the lamps, a short press and another button confirm nothing. The key
can only confirm: an act by two people always begins at an account.

A programmer who wants an act to need two people gives its request a field `witness: str | None = None` and a property
`details`, which holds what the second person is shown. The request's `becomes` ends with `acts.entry.by_two`. The
request is named in `requests.ByTwo`, and the act's sentence stands under `asks` in each file of `controller/words`.
This module, `presses.py` and `runtime.py` do the rest: a request without a witness that would be allowed is refused
with `second_person_due`. The request then waits, is shown in the status, and comes again with the witness's name.
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
    """A request that waits for a second person, from `since_s` until `until_s`.

    `via` says from where the request came, such as an account. `fault` is the id of the fault that the person was
    shown. `shown` names the preview that the person saw before asking (`foreseen.py`). `moment` is the table's shoe,
    round and phase when the request came. As soon as one of the three changes, the request is no longer valid.
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
        """The act that this request asks for, such as a void."""
        act = act_of(self.request)
        assert act is not None, "a request by two people is an act"
        return act


class _Hold(Struct, frozen=True):
    """A button that a second person has been holding down since `since_s`, to confirm the request with the number
    `id`."""

    button: str
    id: int
    since_s: float


class Confirmed(Struct, frozen=True):
    """A request that a first person has made and a second person has confirmed.

    `via` names the places where the two people did this: an account, or the key at the table.
    """

    request: ByTwo
    via: str
    fault: str | None
    shown: str | None


class SecondPerson:
    """Keeps the one request that waits for a second person. A later request takes the place of an earlier one.

    All moments are seconds of one monotonic clock. `inputs` are the names of the inputs that this table has.
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
        """Keep the first person's request until a second person confirms it. A request that came from a button is not
        kept.

        A button is nobody's account. Whoever pressed it, with a key that another person turned, could then confirm the
        request from an account of their own, and count as two people.
        """
        if via.startswith(BUTTON):
            return
        self._proposed += 1
        self._waiting = Proposal(self._proposed, request, via, fault, shown, moment, now_s, now_s + WAITS_S)

    def waiting(self, moment: Hashable, now_s: float) -> Proposal | None:
        """Return the request that waits for a second person. Return None if no request waits, its time is over, or the
        table's shoe, round or phase has changed since the request came."""
        waiting = self._waiting
        return None if waiting is None or waiting.moment != moment or now_s >= waiting.until_s else waiting

    def confirm(self, id_: int, by: str, via: str, moment: Hashable, now_s: float) -> Confirmed | Refuse:
        """Confirm the waiting request with the number `id_` for the person `by`, who confirms at `via`. Return the
        confirmed request, which then no longer waits, or a refusal."""
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
        """Take note that the supervisor's key at the table was turned, or turned back. A button that is being held at
        that moment confirms nothing."""
        self._key_turned_s = now_s if turned else None
        self._hold = None

    def pressed(self, button: str, moment: Hashable, now_s: float) -> bool:
        """Return True if this press begins a second person's confirmation: the button belongs to the act that waits,
        and the key was turned after the act was shown.

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
        """Take note that a button was let go. If it was held too briefly, nothing is confirmed and nothing else
        happens."""
        if self._hold is not None and self._hold.button == button:
            self._hold = None

    def held(self, moment: Hashable, now_s: float) -> Confirmed | Refuse | None:
        """If a second person has now held the button for long enough, confirm the act that waits: return the confirmed
        request or a refusal. Return None if no button has been held long enough."""
        hold = self._hold
        if hold is None or now_s < hold.since_s + HOLD_S:
            return None
        self._hold = None
        return self.confirm(hold.id, KEY, KEY, moment, now_s)

    def status(self, moment: Hashable, now_s: float) -> Waits | None:
        """Return the request that waits for a second person, in the form in which the table's status shows it; None if
        no request waits."""
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
        """Return the button with which a second person confirms the act at this table. Return None if the table has no
        supervisor's key or no button that confirms this act."""
        return next((name for name in proposal.act.confirmed_by if {KEY, name} <= {*self._inputs}), None)
