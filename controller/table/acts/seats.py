"""The acts about seats and their money: which seats are occupied, which two seats are active, which wagers lie at a
seat, the payment of commission, and the handling of hits."""

from __future__ import annotations

from typing import Any

from controller.contract.bounds import MOST_WAGER_CENTS, NAME
from controller.rules.game.seating import Actives, drawn_actives
from controller.rules.game.wagers import Wager
from controller.table import locking
from controller.table.acts.entry import (
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
    number,
    seat,
    whole,
)
from controller.table.early_cards import card_is_out
from controller.table.facts import ByPerson, Fact
from controller.table.legality import Refuse, refuse
from controller.table.states import Locked, Paused, RoundInPlay, Table

GROUP = "Seats and money"


class SeatsTaken(ByPerson, frozen=True):
    """The journalled fact that exactly the seats in `seats` are occupied now."""

    seats: tuple[int, ...]
    by: str


class TakeSeats(Request, frozen=True):
    """A request that says that exactly the seats in `seats` are occupied now, and no others."""

    seats: tuple[int, ...]
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the occupied seats. Return a refusal if the table does not have one of the
        seats, if a card of the next round has already left the shoe, or if a player who leaves a seat owes commission.
        """
        if not set(self.seats) <= set(table.rules.seat_numbers):
            return refuse("no_such_seat")
        if card_is_out(table):
            return refuse("card_out")
        if set(table.occupied) & table.commission_owed.keys() - set(self.seats):
            return refuse("commission_owed")  # sheet 004: collected when the customer leaves the game
        return SeatsTaken(tuple(sorted(set(self.seats))), self.by)


_SEAT = seat("seat")


def _seats(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise BadArgumentError(f"{value} are not seats.", "Write their numbers: 1 2 5.")
    return tuple(map(_SEAT.read, value))


SEATS = Act(
    name="seats",
    group=GROUP,
    who=Who.DEALER,
    says="these seats are occupied, and no others",
    example="1 2 5 --by Smith",
    forms=(Form(TakeSeats, TakeSeats, (Argument("seats", "SEAT", "the seats' numbers", _seats, number, many=","),)),),
    becomes=(SeatsTaken,),
    refused=IN_A_ROUND,
)


class LeaveSeat(Request, frozen=True):
    """A request that says that the player of a seat leaves the game."""

    seat: int
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the seats that stay occupied. Return a refusal if the seat does not exist, is
        empty or owes commission, or if a card of the next round has already left the shoe."""
        if self.seat not in table.rules.seat_numbers:
            return refuse("no_such_seat")
        if card_is_out(table):
            return refuse("card_out")
        if self.seat in table.commission_owed:
            return refuse("commission_owed")
        if self.seat not in table.occupied:
            return refuse("not_occupied")
        return SeatsTaken(tuple(other for other in table.occupied if other != self.seat), self.by)


LEAVE = Act(
    name="leave",
    group=GROUP,
    who=Who.DEALER,
    says="the player of a seat leaves the game, and first pays the commission owed",
    example="5 --by Smith",
    forms=(Form(LeaveSeat, LeaveSeat, (_SEAT,)),),
    becomes=(SeatsTaken,),
    refused=IN_A_ROUND,
)


class ActivesChosen(ByPerson, frozen=True):
    """The journalled fact that Baccarat Royal's two active seats were chosen. `by` is "lot" if the seats were drawn by
    lot. Otherwise `by` is the name of the person who named the seats."""

    actives: Actives
    by: str


class ChooseActives(Request, frozen=True):
    """A request to choose the two active seats of Baccarat Royal. If `actives` is None, the seats are drawn by lot."""

    actives: Actives | None
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact of the two active seats, as named in the request or drawn by lot from the occupied
        seats. Return a refusal if the game has no active seats, a card of the next round has left the shoe, fewer than
        two seats are occupied, or a named seat is empty."""
        if not table.rules.play.roles_play:
            return refuse("not_this_game")
        if card_is_out(table):
            return refuse("card_out")
        if len(table.occupied) < 2:
            return refuse("seats_too_few")
        if self.actives is None:
            return ActivesChosen(drawn_actives(table.occupied, ambient.lot), "lot")
        if not {self.actives.player, self.actives.banker} <= set(table.occupied):
            return refuse("not_occupied")
        return ActivesChosen(self.actives, self.by)


def _named_actives(player: int, banker: int, by: str) -> ChooseActives:
    if player == banker:
        raise BadArgumentError(f"Seat {player} cannot be both active seats.", "Name two different seats.")
    return ChooseActives(Actives(player, banker), by)


ACTIVES = Act(
    name="actives",
    group=GROUP,
    who=Who.DEALER,
    says="choose Baccarat Royal's two active seats: by lot, or as named",
    example="--player 2 --banker 5 --by Smith",
    forms=(
        Form(
            ChooseActives,
            _named_actives,
            (
                seat("player", "the seat that plays Player's hand", "player"),
                seat("banker", "the seat that plays Banker's hand", "banker"),
            ),
        ),
        Form(ChooseActives, lambda by: ChooseActives(None, by)),
    ),
    becomes=(ActivesChosen,),
    refused=IN_A_ROUND,
)


class WagerPlaced(ByPerson, frozen=True):
    """The journalled fact that a wager lies on a spot now, and replaces the wager that lay on that spot before. An
    amount of 0 cents means that the chips were taken away."""

    wager: Wager
    by: str


class PlaceWager(Request, frozen=True):
    """A request that says that a wager lies on a spot, and replaces what lay on that spot before. An amount of 0 cents
    means that the chips were taken away. `by` says who saw the chips.

    `seen_for` holds the numbers of the shoe and the round for which bet recognition saw the chips. It is None if a
    person at the table reports the chips now.
    """

    wager: Wager
    by: str
    seen_for: tuple[int, int] | None = None

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the wager is placed, or a refusal if the wager may not lie on its spot.

        While a simulated hand (a round without wagers) is dealt, wagers for the next round may be placed.
        """
        if isinstance(table.phase, RoundInPlay) and table.phase.wagers is not None:
            return refuse("already_locked")
        if self.seen_for is not None and self.seen_for != table.next_round:
            return refuse("wager_other_round")
        if locking.lies(table, self.wager):
            return refuse("wager_lies_there")
        if card_is_out(table):
            return refuse("card_out")
        code = locking.refusal(table, self.wager)
        return refuse(code) if code else WagerPlaced(self.wager, self.by)


def _bettor(value: Any) -> tuple[int, bool]:
    """Parse the name of a bettor into the seat's number and a flag. The flag is True for the back bettor, who stands
    behind the seat: "3b" gives 3 and True. Raises BadArgumentError if the value is not of this form."""
    text = str(value) if type(value) is int else value
    if isinstance(text, str):
        digits, back = text.removesuffix("b"), text.endswith("b")
        if digits.isascii() and digits.isdecimal() and len(digits) <= 2 and int(digits):
            return int(digits), back
    raise BadArgumentError(f"{value} is not a bettor.", "Write the seat's number: 3; for its back bettor: 3b.")


def _spot(value: Any) -> str:
    if isinstance(value, str) and NAME.fullmatch(value):
        return value
    raise BadArgumentError(f"{value} is not a spot.", "Write its name: player, banker, tie, royal9.")


def _placed(bettor: tuple[int, bool], spot: str, cents: int, by: str) -> PlaceWager:
    number_, back = bettor
    return PlaceWager(Wager(number_, spot, cents, back), by)


WAGER = Act(
    name="wager",
    group=GROUP,
    who=Who.DEALER,
    says="chips lie on a spot, in place of what lay there; 0 cents: the chips were taken away",
    example="3 tie 500 --by Smith",
    forms=(
        Form(
            PlaceWager,
            _placed,
            (
                Argument("seat", "SEAT", "the seat's number: 3; for its back bettor: 3b", _bettor),
                Argument("spot", "SPOT", "player, banker, tie, dragon_player, …", _spot),
                whole("cents", "CENTS", "an amount in cents, 500 for $5", 0, MOST_WAGER_CENTS),
            ),
        ),
    ),
    becomes=(WagerPlaced,),
    refused={**NO_SHOE, **UNTIL_BURNED, Paused: "paused", Locked: "already_locked"},
)


class CommissionCollected(ByPerson, frozen=True):
    """The journalled fact that a seat paid all the commission that it owed."""

    seat: int
    cents: int
    by: str


class CollectCommission(Request, frozen=True):
    """A request that says that a seat has paid all the commission that it owed."""

    seat: int
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the seat paid all its commission, or a refusal if the seat owes nothing."""
        owed = table.commission_owed.get(self.seat)
        return refuse("nothing_owed") if owed is None else CommissionCollected(self.seat, owed, self.by)


COMMISSION = Act(
    name="commission",
    group=GROUP,
    who=Who.DEALER,
    says="a seat pays all the commission that it owes; `tablectl status` shows how much that is",
    example="3 --by Smith",
    forms=(Form(CollectCommission, CollectCommission, (_SEAT,)),),
    becomes=(CommissionCollected,),
    in_fault=True,
)


class HitsReset(ByPerson, frozen=True):
    """The journalled fact that a supervisor has handled the hits of one seat, or the hits of all seats if `seat` is
    None. The lamps of these seats stop showing the hit."""

    seat: int | None
    by: str


class ResetHits(Request, frozen=True):
    """A supervisor's request that says that the hits of one seat are handled, or the hits of all seats if `seat` is
    None. The lamps of these seats may stop showing the hit."""

    seat: int | None
    by: str

    def becomes(self, table: Table, ambient: Ambient) -> Fact | Refuse:
        """Return the journalled fact that the hits are handled, or a refusal if the table shows no such hit."""
        known = any(self.seat in (None, hit.seat) for hit in table.hits)
        return HitsReset(self.seat, self.by) if known else refuse("no_hit")


RESET_HIT = Act(
    name="reset-hit",
    group=GROUP,
    who=Who.SUPERVISOR,
    says="a seat's hit is handled: its lamp goes out",
    example="3 --by Smith",
    forms=(Form(ResetHits, ResetHits, (_SEAT,)),),
    becomes=(HitsReset,),
    in_fault=True,
    presses=(Press("void", True, "the hits are handled: their lamps go out", lambda: ResetHits(None, KEY), When.HIT),),
)

ACTS = (SEATS, LEAVE, ACTIVES, WAGER, COMMISSION, RESET_HIT)
