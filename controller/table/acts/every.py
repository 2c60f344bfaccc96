"""The list of all acts, in the order in which help and documents list them."""

from __future__ import annotations

from controller.table.acts import corrections, itself, pit, recognition, rounds, seats, shoe, stopped
from controller.table.acts.entry import Act, Request, Who

ACTS: tuple[Act, ...] = (
    *shoe.ACTS,
    *rounds.ACTS,
    *corrections.ACTS,
    *stopped.ACTS,
    *seats.ACTS,
    *pit.ACTS,
    *recognition.ACTS,
    *itself.ACTS,
)

_OF: dict[type[Request], list[Act]] = {}
for _act in ACTS:
    for _form in _act.forms:
        _OF.setdefault(_form.request, []).append(_act)


def act_of(request: Request) -> Act | None:
    """Return the act that the request asks for, or None where no person makes such a request. The announcement of a
    shoe is two acts, a dealer's and a supervisor's; the request's `supervisor` decides which one is meant."""
    acts = _OF.get(type(request), [])
    by_dealer = getattr(request, "supervisor", "") is None
    return next((act for act in acts if (act.who is Who.DEALER) == by_dealer), acts[0] if acts else None)
