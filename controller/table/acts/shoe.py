"""The acts about the shoe: to announce a new shoe, to report the cut card, to close a shoe early, to check the cards
that are left in it, and to inspect the card-reading device."""

from __future__ import annotations

from typing import Any

from controller.rules.game.cards import Card
from controller.table.acts.entry import (
    IN_A_ROUND,
    KEY,
    NO_SHOE,
    Act,
    Ambient,
    Argument,
    BadArgumentError,
    Form,
    Press,
    Request,
    Who,
    cards_of_text,
    everywhere,
    read_cards,
)
from controller.table.facts import ByPerson, CutCardDrawn, Fact, Report, ShoeOpened
from controller.table.faults import Exit
from controller.table.legality import Refuse, refuse
from controller.table.states import Burning, FirstCardDue, NoShoe, Paused, ShoeEnded, Table, WagersOpen
from controller.table.stops import carried_into_new_shoe

GROUP = "The shoe"


class NewShoe(Request, frozen=True):
    """A request to announce a new shoe. `supervisor` is None for a dealer's request, and otherwise the supervisor's
    name, or "key" if the supervisor's key was turned. A supervisor may announce a new shoe between rounds even if a
    shoe is open. The request then ends the open shoe."""

    supervisor: str | None = None

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that a new shoe is open. A dealer's request is refused while commission from the
        last shoe is owed, if the house wants that commission collected first."""
        collected_first = ambient.rules.shoe.commission_before_new_shoe
        if table.commission_owed and collected_first and self.supervisor is None:
            return refuse("commission_owed")  # sheet 004: collected before the cards are shuffled again
        return opened(table, self.supervisor or "dealer", ambient)


ANNOUNCE_SHOE = Act(
    name="announce-shoe",
    group=GROUP,
    who=Who.DEALER,
    says="announce a new shoe while no shoe is open",
    example="",
    forms=(Form(NewShoe, NewShoe, named=False),),
    becomes=(ShoeOpened,),
    refused={
        **IN_A_ROUND,
        FirstCardDue: "shoe_announced",
        Burning: "burn_unfinished",
        WagersOpen: "shoe_open",
        Paused: "shoe_open",
    },
    leads_to=(FirstCardDue,),
    presses=(Press("new_shoe", False, "a new shoe begins", NewShoe),),
    on_socket=False,
    script="new-shoe",
)

NEW_SHOE = Act(
    name="new-shoe",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="announce a new shoe, and end an open shoe early, between rounds",
    example="--by Smith",
    forms=(Form(NewShoe, NewShoe),),
    becomes=(ShoeOpened,),
    shows="shoe_closed",
    refused=IN_A_ROUND,
    leads_to=(FirstCardDue,),
    exit=Exit.NEW_SHOE,
    presses=(Press("new_shoe", True, "this shoe ends here and a new shoe begins", lambda: NewShoe(KEY)),),
    script="end-shoe",
)


class SeeCutCard(Request, frozen=True):
    """The dealer's request that says that the cut card came. It is used at a shoe that does not report the cut card by
    itself."""

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the cut card came. It names the dealer as the one who saw the card. If a shoe
        reports the cut card by itself, the same kind of fact names the shoe."""
        return CutCardDrawn("dealer")


CUT_CARD = Act(
    name="cut-card",
    group=GROUP,
    who=Who.DEALER,
    says="say that the cut card came, at a shoe that does not report that card",
    example="",
    forms=(Form(SeeCutCard, SeeCutCard, named=False),),
    becomes=(CutCardDrawn,),
    refused={**NO_SHOE, Paused: "paused"},
    presses=(Press("cut_card", False, "the cut card came (at a shoe that does not report that card)", SeeCutCard),),
)


class ShoeClosed(ByPerson, frozen=True):
    """The journalled fact that a supervisor ended the shoe early, between two rounds, without announcing a new shoe."""

    by: str


class CloseShoe(Request, frozen=True):
    """A supervisor's request to end the shoe early, between two rounds, without announcing a new shoe."""

    supervisor: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the shoe is closed."""
        return ShoeClosed(self.supervisor)


CLOSE_SHOE = Act(
    name="close-shoe",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="end the shoe early, between rounds",
    example="--by Smith",
    forms=(Form(CloseShoe, CloseShoe),),
    becomes=(ShoeClosed,),
    shows="shoe_closed",
    refused={**NO_SHOE, **IN_A_ROUND},
    leads_to=(ShoeEnded,),
)


class ShoeReconciled(ByPerson, frozen=True):
    """The journalled fact that a supervisor read the cards that were left in the ended shoe. The cut card is not among
    them."""

    rest: tuple[Card, ...]
    by: str


class ReconcileShoe(Request, frozen=True):
    """A request to check an ended shoe for missing cards. The cards that left the shoe, together with the cards still
    in it (`rest`), are compared with the cards of its decks."""

    rest: tuple[Card, ...]
    supervisor: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the cards that the supervisor read. The fact does not change the table."""
        return ShoeReconciled(self.rest, self.supervisor)


RECONCILE_SHOE = Act(
    name="reconcile-shoe",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="name the cards that the ended shoe still holds: with those that left it they are compared with its decks",
    example='"KS 9H TD" --by Smith',
    forms=(
        Form(
            ReconcileShoe,
            ReconcileShoe,
            (Argument("rest", "CARDS", "the cards left in the shoe, read one by one", read_cards, cards_of_text),),
        ),
    ),
    becomes=(ShoeReconciled,),
    refused={**everywhere("shoe_open", but=(ShoeEnded,)), NoShoe: "no_shoe"},
)


class ShoeInspected(ByPerson, frozen=True):
    """The journalled fact that a supervisor inspected the card-reading shoe. The serial number and the version of the
    firmware are as they stand on the shoe's plate or screen."""

    serial: str
    firmware: str
    by: str


class InspectShoe(Request, frozen=True):
    """A supervisor's request to record that the card-reading shoe was inspected."""

    serial: str
    firmware: str
    supervisor: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the inspection. The fact does not change the table's state."""
        return ShoeInspected(self.serial, self.firmware, self.supervisor)


_LONGEST_PLATE = 40


def _plate(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= _LONGEST_PLATE or not value.isprintable():
        raise BadArgumentError(f"{value!r} is not what a shoe's plate says.", "Write 1 to 40 letters and digits.")
    return value


INSPECT_SHOE = Act(
    name="inspect-shoe",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="note that the card-reading shoe was inspected: its serial number and the version of its firmware",
    example="AE-22314 4.17 --by Smith",
    forms=(
        Form(
            InspectShoe,
            InspectShoe,
            (
                Argument("serial", "SERIAL", "the shoe's serial number, as its plate says", _plate),
                Argument("firmware", "FIRMWARE", "its firmware's version, as its screen or papers say", _plate),
            ),
        ),
    ),
    becomes=(ShoeInspected,),
    refused=IN_A_ROUND,
)


def opened(table: Table, by: str, ambient: Ambient) -> ShoeOpened:
    """Return the journalled fact that opens the next shoe. The fact holds everything that the table keeps from the time
    before this shoe, such as owed commission."""
    carried = carried_into_new_shoe(table)
    # A report missed before the shoe's first card is no card of this shoe: its reports are counted from that card on. A
    # card that a person named came without a number: the next report is still counted from the last report.
    numbered = any(getattr(fact, "report", None) is not None for fact in carried)
    first_card_came = by == "first_card" or numbered
    return ShoeOpened(
        shoe=table.shoes_opened + 1,
        by=by,
        rules=ambient.rules,
        config_digest=ambient.config_digest,
        version=ambient.version,
        last_report=None if first_card_came else _last_of_shoe_before(table.last_report),
        seq_counts_zero=table.seq_counts_zero,
        carried=carried,
        occupied=table.occupied,
        actives=table.actives,
        commission_owed=table.commission_owed,
        placed=table.placed,
        hits=tuple(hit for hit in table.hits if hit.meter is not None),
        award_seq=table.award_seq,
        disputed=table.disputed,
        pit_key=table.pit_key,
        measured=table.measured,
        recognition_key=table.recognition_key,
        wager_seq=table.wager_seq,
        win_seq=table.win_seq,
        measure_asked_at=table.measure_asked_at,
        pit_link_lost=table.pit_link_lost,
    )


def _last_of_shoe_before(report: Report | None) -> Report | None:
    """Return the last report of the previous shoe, because the number of the new shoe's first report must follow that
    report's number. If the report has no number, return a report without its frame. The frame is not needed, and it
    would publish a card of the previous shoe beside the rules of the new one."""
    return report if report is None or report.seq is not None else Report(None, "")


ACTS = (ANNOUNCE_SHOE, NEW_SHOE, CUT_CARD, CLOSE_SHOE, RECONCILE_SHOE, INSPECT_SHOE)
