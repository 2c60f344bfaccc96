"""An act by two people: the first person's request waits until a second person confirms the request.

Two people are two accounts at the control socket, or an account and the supervisor's key turned at the table. The
kernel tells whose account it is (`via`), so a second name typed at one account is no second person. Nor are
two accounts two people where their names are the same (`contract.names.same_name`).

To make an act need two people, give its request a field `witness: str | None = None` and a property `details`, which
holds what the second person is shown. End its `becomes` with `acts.entry.by_two`, name the request in `requests.ByTwo`,
and put the act's sentence under `asks` in each file of `controller/words`. The rest is here and in `runtime.py`. A
request without a witness that would be allowed is refused with `second_person_due`. The request then waits, is shown in
the status, and comes again with the witness's name.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from controller.contract.names import same_name
from controller.table.acts.entry import KEY
from controller.table.acts.every import act_of
from controller.table.legality import Refuse, refuse
from controller.table.requests import ByTwo

WAITS_S = 300.0
"""How long a request waits for its second person."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A request that waits. `via` is the way on which the request came, `fault` the id of the fault that it answers,
    `shown` the name of what was shown before it (`foreseen.py`).

    `moment` is the table's shoe, round and phase when the request came. Once one of them is another, the request is no
    longer valid.
    """

    id: int
    request: ByTwo
    via: str
    fault: str | None
    shown: str | None
    moment: Hashable
    until_s: float


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A request that two people made. `via` names the ways on which both of them came."""

    request: ByTwo
    via: str
    fault: str | None
    shown: str | None


class SecondPerson:
    """The one request that waits for a second person, if any does. A later request takes its place."""

    def __init__(self) -> None:
        self._waiting: Proposal | None = None
        self._proposed = 0

    def propose(
        self, request: ByTwo, via: str, fault: str | None, shown: str | None, moment: Hashable, now_s: float
    ) -> None:
        """The first person has asked: the request waits from now on."""
        self._proposed += 1
        self._waiting = Proposal(self._proposed, request, via, fault, shown, moment, now_s + WAITS_S)

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

    def turn_key(self, moment: Hashable, now_s: float) -> Confirmed | Refuse:
        """The key was turned at the table. That confirms whatever request waits."""
        proposal = self.waiting(moment, now_s)
        return refuse("no_proposal") if proposal is None else self.confirm(proposal.id, KEY, KEY, moment, now_s)

    def status(self, moment: Hashable, now_s: float) -> dict[str, object] | None:
        """The request that waits, as JSON values: its act, and what the second person is shown."""
        proposal = self.waiting(moment, now_s)
        if proposal is None:
            return None
        act = act_of(proposal.request)
        assert act is not None, "a request by two people is an act"
        return {
            "id": proposal.id,
            "act": act.name,
            "details": proposal.request.details,
            "by": proposal.request.supervisor,
            "via": proposal.via,
            "left_s": int(proposal.until_s - now_s),
        }
