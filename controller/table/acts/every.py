"""Every act, in the order in which help and documents tell them."""

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
    """The act that the request asks for; None where no person does. A shoe is announced by a dealer or by a
    supervisor, which are two acts."""
    acts = _OF.get(type(request), [])
    by_dealer = getattr(request, "supervisor", "") is None
    return next((act for act in acts if (act.who is Who.DEALER) == by_dealer), acts[0] if acts else None)
