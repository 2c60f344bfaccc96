"""The list of all acts (the things that people can do with the table), in the order in which the help and the documents
list them."""

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
    """Return the act that the request asks for, or None if the request is of a kind that no person makes. Two acts
    announce a new shoe, one for the dealer and one for a supervisor. The request's field `supervisor` decides which of
    the two acts is returned. The four calls share one request: for each of them `hit` is returned."""
    acts = _OF.get(type(request), [])
    by_dealer = getattr(request, "supervisor", "") is None
    return next((act for act in acts if (act.who is Who.DEALER) == by_dealer), acts[0] if acts else None)
