"""The acts of a round: the lock of the wagers, the dealer's calls, a void, and the fate of a card drawn in error."""

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
    """A request of the dealer, by the button `deal`: no more wagers, and the round begins."""

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the lock of the wagers. Where the sensors and bet recognition disagree on who wagered, return the fact
        that stops the table, because the table would have to guess."""
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
    """Return the lock of the wagers as they lie on the layout, or the refusal where no wagers may be locked now.

    Both ways to lock use this function: the dealer's `deal`, and the first card of a round at a table where that card
    locks. So the same rules forbid both.
    """
    if (code := DEAL.refused.get(type(table.phase)) or locking.why_no_round(table)) is not None:
        return refuse(code)
    locked = locking.lock(table, by, ambient.sensed_seats, ambient.pit_fresh, late=late)
    plays = any(on.seats for on in locked.progressive)
    return replace(locked, levels=dict(ambient.levels), told=ambient.told) if plays else locked


class Called(ByPerson, frozen=True):
    """The fact that the dealer made a call: what a seat chose, or that cards were turned up."""

    call: Call
    by: str


class MakeCall(Request, frozen=True):
    """A dealer's call: hit, stand, split or reveal."""

    call: Call
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the call as a fact. Refused where the round does not wait for a call, or waits for a different one."""
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
    """The fact that a supervisor ended the round and returned its wagers. `witness` is the second person, where two had
    to agree."""

    by: str
    witness: str | None = None


class VoidRound(Request, frozen=True):
    """A request to end the round and return its wagers."""

    supervisor: str | None
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """Return what the second person is shown besides the round: nothing."""
        return {}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the void of the round. Two people must agree where the round has won an award, or may have (see
        `voiding.py`)."""
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
    """What happens to a card that was drawn in error and that nobody saw."""

    NEXT_CARD = "next_card"
    BURN = "burn"


class OddCardTold(ByPerson, frozen=True):
    """The fact that somebody said that the last card, drawn in error, was not exposed, and what happens to that card
    (`fate`). The card therefore opened no simulated hand.

    `witness` is the second person, where the shoe has had so many such cards that two people must agree.
    """

    fate: OddCardFate
    by: str
    witness: str | None = None


class TellOddCard(Request, frozen=True):
    """A request to treat the last card, drawn in error, as not exposed, and to give that card this `fate`."""

    fate: OddCardFate
    by: str
    witness: str | None = None

    @property
    def supervisor(self) -> str:
        """Return the first of the two people who must agree."""
        return self.by

    @property
    def details(self) -> dict[str, object]:
        """Return what the second person is shown before agreeing: what happens to the card."""
        return {"fate": self.fate.value}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the card's fate as a fact. Refused once a second card of the simulated hand has come."""
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
