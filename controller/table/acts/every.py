"""Every act, in the order in which help and documents tell them."""

from __future__ import annotations

from controller.table.acts.corrections import CORRECT
from controller.table.acts.entry import Act, Request, Who
from controller.table.acts.hand import CALLS, DEAL, ODD_CARD, VOID
from controller.table.acts.pit import PIT_KEY
from controller.table.acts.seats import ACTIVES, COMMISSION, LEAVE, RESET_HIT, SEATS, WAGER
from controller.table.acts.shoe import ANNOUNCE_SHOE, CLOSE_SHOE, CUT_CARD, LAMP_TEST, NEW_SHOE
from controller.table.acts.stopped import CARD, CLEAR, COUNT

ACTS: tuple[Act, ...] = (
    ANNOUNCE_SHOE,
    NEW_SHOE,
    CUT_CARD,
    CLOSE_SHOE,
    DEAL,
    *CALLS,
    VOID,
    ODD_CARD,
    CORRECT,
    CLEAR,
    CARD,
    COUNT,
    SEATS,
    LEAVE,
    ACTIVES,
    WAGER,
    COMMISSION,
    RESET_HIT,
    PIT_KEY,
    LAMP_TEST,
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
