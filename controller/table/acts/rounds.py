"""The acts of a round: to lock the wagers, to make a dealer's call (hit, stand, split, reveal), to void the round, and
to say what happens to a card drawn in error."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Any

from msgspec.structs import replace

from controller.rules.game.play import Call, Choose, Reveal
from controller.table import locking
from controller.table.acts.entry import (
    DEALER,
    IN_A_ROUND,
    KEY,
    NO_SHOE,
    UNTIL_BURNED,
    Act,
    Ambient,
    Argument,
    BadArgumentError,
    Form,
    Press,
    Request,
    When,
    Who,
    by_two,
    everywhere,
)
from controller.table.dealing import following, odd_card
from controller.table.facts import ByPerson, Fact, WagersDiffered, WagersLocked
from controller.table.faults import Exit
from controller.table.legality import Refuse, refuse
from controller.table.states import Locked, Paused, RoundInPlay, ShoeEnded, Table, WagersOpen
from controller.table.voiding import needs_two

GROUP = "The round"


class LockWagers(Request, frozen=True):
    """The dealer's request, made with the button `deal`, to lock the wagers. No more wagers are taken, and the round
    begins."""

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the wagers are locked, or a refusal. If the sensors and bet recognition
        disagree on who wagered, return a fact that stops the table instead, because the table would have to guess."""
        locked = lock(table, "dealer", ambient)
        if isinstance(locked, WagersLocked) and (differ := locking.wagers_differ(table, ambient.sensed_seats)):
            return WagersDiffered(differ)
        return locked


_NO_MORE_WAGERS = "no more wagers: the round begins"

DEAL = Act(
    name="deal",
    group=GROUP,
    who=Who.DEALER,
    says="lock the wagers: the round begins",
    example="",
    forms=(Form(LockWagers, LockWagers, named=False),),
    becomes=(WagersLocked, WagersDiffered),
    refused={**NO_SHOE, **UNTIL_BURNED, **IN_A_ROUND, Paused: "paused"},
    leads_to=(Locked, RoundInPlay, WagersOpen, ShoeEnded),  # kept cards can be a whole round
    presses=(
        Press("deal", False, _NO_MORE_WAGERS, LockWagers),
        Press("deal", True, _NO_MORE_WAGERS, LockWagers),
    ),
    on_socket=False,
)


def lock(table: Table, by: str, ambient: Ambient, *, late: bool = False) -> WagersLocked | Refuse:
    """Return the journalled fact that locks the wagers which lie on the layout, or a refusal if wagers may not be
    locked now.

    Wagers are locked in two ways: by the dealer's `deal` or, at some tables, by the first card of the round. Both ways
    use this function, so the same rules apply to both.
    """
    if (code := DEAL.refused.get(type(table.phase)) or locking.why_no_round(table)) is not None:
        return refuse(code)
    locked = locking.lock(table, by, ambient.sensed_seats, ambient.pit_fresh, late=late)
    plays = any(on.seats for on in locked.progressive)
    return replace(locked, levels=dict(ambient.levels), told=ambient.told) if plays else locked


class Called(ByPerson, frozen=True):
    """The journalled fact that the dealer made a call: a seat's choice (hit, stand or split), or that face-down cards
    were turned up."""

    call: Call
    by: str


class MakeCall(Request, frozen=True):
    """A dealer's request to record a call: hit, stand, split or reveal."""

    call: Call
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the call. Return a refusal if the round does not wait for a call, or waits for
        a different call."""
        match following(table):
            case Reveal():
                return Called(self.call, self.by) if self.call is Call.REVEAL else refuse("reveal_due")
            case Choose(options=options):
                return Called(self.call, self.by) if self.call in options else refuse("not_an_option")
            case _:
                return refuse("no_call_due")


def _call(call: Call, says: str, pressed: str) -> Act:
    return Act(
        name=call.value,
        group=GROUP,
        who=Who.DEALER,
        says=says,
        example="--by Smith",
        forms=(Form(MakeCall, partial(MakeCall, call)),),
        becomes=(Called,),
        refused=everywhere("no_call_due", but=(RoundInPlay,)),
        leads_to=(RoundInPlay, WagersOpen, ShoeEnded),
        presses=tuple(
            Press(call.value, key_turned, pressed, partial(MakeCall, call, DEALER)) for key_turned in (False, True)
        ),
    )


CALLS = (
    _call(Call.HIT, "the seat whose turn it is takes a card", "the seat whose lamp is lit takes a card"),
    _call(Call.STAND, "the seat whose turn it is takes no card", "the seat whose lamp is lit takes no card"),
    _call(Call.SPLIT, "the seat whose turn it is splits its pair", "the seat whose lamp is lit splits its pair"),
    _call(
        Call.REVEAL,
        "the face-down cards that are due have been turned up",
        "the face-down cards whose lamp flashes have been turned up",
    ),
)


class RoundVoided(ByPerson, frozen=True):
    """The journalled fact that a supervisor ended the round without a result and returned its wagers. `witness` is the
    second person, or None if one person was enough."""

    by: str
    witness: str | None = None


class VoidRound(Request, frozen=True):
    """A supervisor's request to end the round without a result and to return its wagers."""

    supervisor: str | None
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """Return an empty dictionary, because the second person, who must agree to the void, needs to see only the
        round itself."""
        return {}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the round is void. If the round has won an award, or may have won one, two
        people must agree; until then the request is refused."""
        assert self.supervisor is not None, "a void has a name"
        if not needs_two(table):
            return RoundVoided(self.supervisor)
        return by_two(self, RoundVoided(self.supervisor, self.witness))


VOID = Act(
    name="void",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="end the round and return its wagers",
    example="--by Smith",
    forms=(Form(VoidRound, VoidRound),),
    becomes=(RoundVoided,),
    confirmed_by=("void", "deal"),
    shows="void",
    refused=everywhere("no_round", but=(Locked, RoundInPlay)),
    leads_to=(WagersOpen, ShoeEnded),
    exit=Exit.VOID,
    presses=(
        Press("void", False, "nothing: the key must be turned", lambda: VoidRound(None)),
        Press("void", True, "the round is over and wagers go back", lambda: VoidRound(KEY)),
    ),
)


class OddCardFate(Enum):
    """What can happen to a card that was drawn in error and that nobody saw: it becomes the next round's first card, or
    it is burned."""

    NEXT_CARD = "next_card"
    BURN = "burn"


class OddCardTold(ByPerson, frozen=True):
    """The journalled fact that somebody said that nobody saw the last card, which was drawn in error. `fate` says what
    happens to the card. The simulated hand (a round without wagers) that the card had opened is undone.

    `witness` is the second person. A second person is needed if this shoe has already had as many such cards as the
    dealer alone may call unseen.
    """

    fate: OddCardFate
    by: str
    witness: str | None = None


class TellOddCard(Request, frozen=True):
    """A request that says that nobody saw the last card, which was drawn in error, and that says what happens to the
    card (`fate`)."""

    fate: OddCardFate
    by: str
    witness: str | None = None

    @property
    def supervisor(self) -> str:
        """Return the name of the person who asks. Where two people must agree, this is the first of them."""
        return self.by

    @property
    def details(self) -> dict[str, object]:
        """Return what the second person is shown before agreeing: what happens to the card."""
        return {"fate": self.fate.value}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of what happens to the card. Return a refusal if the last card did not open a
        simulated hand (a round without wagers), or if that hand has already received its second card. If two people
        must agree, return a refusal until the second person asks too."""
        if not odd_card(table) or table.shoe is None:
            return refuse("no_odd_card")
        if table.shoe.unseen_cards < table.rules.shoe.unseen_cards_by_dealer or table.rules.procedure <= 2:
            return OddCardTold(self.fate, self.by)
        return by_two(self, OddCardTold(self.fate, self.by, self.witness))


def _fate(value: Any) -> OddCardFate:
    try:
        return OddCardFate(value)
    except ValueError:
        fates = " or ".join(fate.value for fate in OddCardFate)
        raise BadArgumentError(f"{value} is not a fate of a card.", f"Write {fates}.") from None


ODD_CARD = Act(
    name="odd-card",
    group=GROUP,
    who=Who.DEALER,
    says="say that a card drawn in error was not exposed, and what becomes of it",
    example="next_card --by Smith",
    forms=(
        Form(
            TellOddCard,
            TellOddCard,
            (Argument("fate", "FATE", "next_card: the next round's first card; or burn: burned", _fate),),
        ),
    ),
    becomes=(OddCardTold,),
    confirmed_by=("void", "deal"),
    refused=everywhere("no_odd_card", but=(RoundInPlay,)),
    leads_to=(WagersOpen,),
    presses=(
        Press(
            "void",
            False,
            "nobody saw that card: it is the first card of the next round",
            lambda: TellOddCard(OddCardFate.NEXT_CARD, DEALER),
            When.ODD_CARD,
        ),
    ),
)

ACTS = (DEAL, *CALLS, VOID, ODD_CARD)
