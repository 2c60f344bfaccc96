"""The acts by which a supervisor lets a stopped table go on: to clear the fault, to name a card, or to count the cards
that are left.

Two acts in other modules can end a fault too: to void the round (`rounds.py`) and to announce a new shoe (`shoe.py`).
"""

from __future__ import annotations

from controller.rules.game.cards import Card
from controller.table import shoe_life
from controller.table.acts.entry import (
    KEY,
    Act,
    Ambient,
    Argument,
    Form,
    Press,
    Request,
    When,
    Who,
    by_two,
    everywhere,
    read_card,
    whole,
)
from controller.table.facts import ByPerson, Fact
from controller.table.faults import FAULTS, Exit
from controller.table.legality import Refuse, refuse
from controller.table.states import Burning, FirstCardDue, Locked, Paused, RoundInPlay, ShoeEnded, Table, WagersOpen
from controller.table.stops import is_card, known_left
from controller.table.voiding import plays_for_awards

GROUP = "When the table has stopped"


class FaultCleared(ByPerson, frozen=True):
    """The journalled fact that a supervisor looked at the stopped table and let it go on. If the fault needs two
    people, `witness` is the second one."""

    by: str
    witness: str | None = None


class ClearFault(Request, frozen=True):
    """A supervisor's request to clear the fault that stops the table, and to let the table go on. Some faults need two
    people."""

    supervisor: str | None
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """Return an empty dictionary, because the second person, who must agree, needs to see only the fault itself."""
        return {}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the fault is cleared. If the fault needs two people, return a refusal until a
        second, different person agrees."""
        assert table.fault is not None, "the act is an exit of this fault"
        assert self.supervisor is not None, "a clear has a name"
        if not FAULTS[table.fault.code].two_people:
            return FaultCleared(self.supervisor)
        return by_two(self, FaultCleared(self.supervisor, self.witness))


CLEAR = Act(
    name="clear",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="leave the standing fault and let the table go on",
    example="--by Smith",
    forms=(Form(ClearFault, ClearFault),),
    becomes=(FaultCleared,),
    refused=everywhere("no_fault"),
    exit=Exit.CLEAR,
    presses=(Press("deal", True, "clear the fault: the table goes on", lambda: ClearFault(KEY), When.FAULT),),
)


class CardNamed(ByPerson, frozen=True):
    """The journalled fact that a supervisor named a card that the shoe could not read, or a card that was missed.

    `witness` is the second person, who is needed in a round with a progressive wager.
    """

    card: Card
    by: str
    witness: str | None = None


class NameCard(Request, frozen=True):
    """A supervisor's request to name a card that the shoe could not read, or a card that was missed."""

    card: Card
    supervisor: str | None
    witness: str | None = None

    @property
    def details(self) -> dict[str, object]:
        """Return what the second person is shown before agreeing: the card."""
        return {"card": str(self.card)}

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that names the unread or missed card, or a refusal.

        The name is refused if all copies of that card have already left the shoe, even if one of these copies lies face
        down. In this case this card or an earlier one was misread. Only the person who reads the felt learns of the
        refusal. If the table believed the name instead, it would stop with the fault of an impossible card, and
        everybody would learn of it. A person who guesses takes a risk, because a name that is not refused is journalled
        and counts as the card from then on.

        In a round with a progressive wager two people must read the card, because the card may win an award. The rule
        applies to each card of the round, so that the need for a second person tells nothing about a face-down card.
        """
        assert self.supervisor is not None, "whoever names a card has a name"
        if table.shoe is not None and not shoe_life.can_still_come(table.shoe, table.rules.shoe, self.card):
            return refuse("card_cannot_be")
        if not plays_for_awards(table):
            return CardNamed(self.card, self.supervisor)
        return by_two(self, CardNamed(self.card, self.supervisor, self.witness))


CARD = Act(
    name="card",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="name the card that the shoe could not read, or that was missed",
    example="KS --by Smith",
    forms=(Form(NameCard, NameCard, (Argument("card", "CARD", "rank, then suit: KS", read_card),)),),
    becomes=(CardNamed,),
    refused=everywhere("no_card_to_name"),
    exit=Exit.CARD,
)


class CardsCounted(ByPerson, frozen=True):
    """The journalled fact that a supervisor counted the cards left in the shoe. `left` is how many there are."""

    left: int
    by: str


class CountCards(Request, frozen=True):
    """A supervisor's request that says how many cards are left in the shoe now. The supervisor counted them or read the
    number from a display."""

    left: int
    supervisor: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the count. If a fault stands and the table cannot go on with that count, return
        a refusal. If no fault stands, every count is accepted."""
        refused = None if table.fault is None else _miscounted(table, self.left)
        return refused or CardsCounted(self.left, self.supervisor)


COUNT = Act(
    name="count",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="say how many cards are left in the shoe: after the shoe was not heard, and whenever they are counted",
    example="397 --by Smith",
    forms=(
        Form(
            CountCards,
            CountCards,
            (whole("left", "CARDS", "the number of cards left in the shoe, without the cut card", 0, 9999),),
        ),
    ),
    becomes=(CardsCounted,),
    refused=everywhere("no_count_due", but=(WagersOpen, Paused, ShoeEnded)),
    exit=Exit.COUNT,
)


def _miscounted(table: Table, left: int) -> Refuse | None:
    """Return a refusal if the count cannot be true, or if a person must first report something else, such as a missed
    cut card. Return None if the table can go on with the count.

    If the shoe sends one report twice, the table counts one card too many as gone, and the true count is one higher
    than the table's. So if a report may be such a copy, only a count that is exactly one higher is accepted. Otherwise
    nobody could say whether the report was a copy or a card.
    """
    known = known_left(table)
    assert known is not None, "a fault that needs a count has a shoe"
    in_doubt = any(held.in_doubt and is_card(held) for held in table.held)
    if in_doubt:
        return None if left == known + 1 else refuse("count_too_high" if left > known else "card_in_doubt")
    if left >= known:
        return None if left == known else refuse("count_too_high")
    match table.phase:
        case FirstCardDue():
            return refuse("first_card_missed")
        case Burning(left=to_burn):
            return None if known - left <= to_burn else refuse("burn_missed")
        case Locked() | RoundInPlay():
            return refuse("cards_missed")
        case WagersOpen() | Paused():
            shoe = table.shoe
            below = left < table.rules.shoe.cut_card_from_end
            return refuse("cut_card_missed") if below and shoe is not None and shoe.final_round is None else None
        case _:
            return None


ACTS = (CLEAR, CARD, COUNT)
