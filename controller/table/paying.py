"""What a finished round pays by the table's rules: its settlement, its awards and its Dragon Bonus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from controller.contract import events
from controller.rules.game.bets import DRAGON_BONUS, Finished, Row, bet_on, deciding
from controller.rules.game.hands import BANKER, PLAYER, Done, SeatHands, seat_hand_name
from controller.rules.game.seating import Actives, Seating
from controller.rules.game.settlement import Settlement, result_of, returned, settle
from controller.rules.game.wagers import RefusedWager, Wager
from controller.table.facts import SeatHit
from controller.table.rules import TableRules
from controller.table.states import Wagers


def settlement(rules: TableRules, seating: Seating, wagers: tuple[Wager, ...], done: Done) -> Settlement | None:
    """Return the round's settlement, that is, what each wager wins or loses in money. Return None if the table does not
    know the wagers."""
    if not rules.bet_recognition:
        return None
    return settle(rules.bets, rules.rounding, lambda seat: _seen(rules, seating, done, seat), wagers)


class Won(Struct, frozen=True):
    """A seat's winning wager on a progressive bet, and the row of the pay table that it won."""

    spot: str
    seat: int
    row: Row


def awards(rules: TableRules, seating: Seating, done: Done, wagers: Wagers) -> list[Won]:
    """Return the winning wagers on the progressive bets. They are ordered by bet, then by pay-table row with the best
    row first, then by seat. Lucky 9 has none."""
    if isinstance(done, SeatHands):
        return []
    won = []
    for bet in rules.progressives:
        seats = wagers.on(bet.spot).seats
        decided = {seat: deciding(bet, _seen(rules, seating, done, seat)[0]) for seat in seats}
        won += [Won(bet.spot, seat, row) for row in bet.rows for seat in sorted(seats) if decided[seat] is row]
    return [each for each in won if each.row.award is not None]


def _seen(rules: TableRules, seating: Seating, done: Done, at: int | None = None) -> tuple[Finished, ...]:
    """Return the finished round in the form in which the bets of seat `at` are decided, once for each hand of the seat.
    If `at` is None, the round is returned for no seat in particular."""
    own = next((seat.k9 for seat in rules.seats if seat.number == at), None)
    others = [seat.k9 for seat in rules.seats if seat.number != at and seat.k9 is not None]
    return rules.play.seen(done, seating, at, (own, others))


def awards_shown(won: Iterable[Won]) -> tuple[events.AwardWon, ...]:
    """Return the won awards in the form that events use."""
    return tuple(events.AwardWon(each.spot, each.seat, each.row.award or "") for each in won)


def hits(shoe: int, round_: int, won: Iterable[Won], levels: Mapping[str, int]) -> tuple[SeatHit, ...]:
    """Return the won awards as hits for the table's state. Each hit holds the amount that its meter showed, taken from
    `levels`."""
    return tuple(
        SeatHit(
            shoe,
            round_,
            each.spot,
            each.seat,
            each.row.award or "",
            each.row.meter,
            each.row.share,
            levels.get(each.row.meter) if each.row.meter else None,
        )
        for each in won
    )


def progressive_shown(wagers: Wagers | None) -> tuple[events.ProgressiveSeats, ...]:
    """Return the progressive bets on which seats have a wager, in the form that events use."""
    on = wagers.progressive if wagers else ()
    return tuple(events.ProgressiveSeats(each.spot, each.seats) for each in on if each.seats)


def progressive_locked(rules: TableRules, wagers: Wagers) -> tuple[events.ProgressiveLocked, ...]:
    """Return the locked wagers on every progressive bet of the game, in the form that events use."""
    on = [(bet, wagers.on(bet.spot)) for bet in rules.progressives]
    return tuple(
        events.ProgressiveLocked(
            bet.spot, bet.price_cents or 0, bet.meters, each.seats, each.refused_seats, each.refusal
        )
        for bet, each in on
    )


def dragon_bonus_shown(rules: TableRules, seating: Seating, done: Done) -> events.DragonBonusShown | None:
    """Return what a wager on the Dragon Bonus of Player's and of Banker's hand pays, in the form that events use.
    Return None if the game has no Dragon Bonus."""
    bets = [bet_on(rules.bets, spot) for spot in DRAGON_BONUS]
    if None in bets:
        return None
    (seen,) = _seen(rules, seating, done)
    on_player, on_banker = (deciding(bet, seen) for bet in bets if bet is not None)
    pays = next((row.pays for row in (on_player, on_banker) if row is not None and row.pays is not None), None)
    return events.DragonBonusShown(_shown(on_player), _shown(on_banker), None if pays is None else int(pays))


def _shown(row: Row | None) -> str:
    return "win" if row is not None and row.pays is not None else (row and row.result) or "lose"


def wagers_shown(wagers: Iterable[Wager]) -> tuple[events.WagerShown, ...]:
    """Return the wagers in the form that events use."""
    return tuple(events.WagerShown(wager.seat, wager.back, wager.spot, wager.cents) for wager in wagers)


def refused_shown(refused: Iterable[RefusedWager]) -> tuple[events.RefusedShown, ...]:
    """Return the refused wagers in the form that events use."""
    return tuple(
        events.RefusedShown(each.wager.seat, each.wager.back, each.wager.spot, each.wager.cents, each.code)
        for each in refused
    )


def settlement_shown(settled: Settlement | None) -> events.SettlementShown | None:
    """Return a settlement in the form that events use, or None if `settled` is None."""
    if settled is None:
        return None
    totals = settled.totals
    return events.SettlementShown(
        wagers=tuple(
            events.SettledShown(
                seat=each.wager.seat,
                back=each.wager.back,
                spot=each.wager.spot,
                hand=each.hand,
                cents=each.wager.cents,
                result=each.result.value,
                pays_cents=each.pays_cents,
                commission_cents=each.commission_cents + each.owed_cents,
                returned_cents=each.returned_cents,
                meter=each.meter,
            )
            for each in settled.settled
        ),
        totals=events.TotalsShown(
            staked_cents=totals.staked,
            returned_cents=totals.returned,
            house_cents=totals.house,
            commission_taken_cents=totals.commission,
            commission_owed_cents=totals.commission_owed,
        ),
    )


def returned_shown(rules: TableRules, wagers: tuple[Wager, ...]) -> events.SettlementShown | None:
    """Return the settlement of a void round, in which every wager is returned, in the form that events use. Return None
    if there was no wager."""
    return settlement_shown(returned(rules.bets, wagers)) if wagers else None


def actives_shown(actives: Actives | None) -> events.ActivesShown | None:
    """Return Baccarat Royal's active seats in the form that events use, or None if `actives` is None."""
    return None if actives is None else events.ActivesShown(actives.player, actives.banker)


def played(rules: TableRules, seating: Seating, done: Done) -> list[tuple[int, str, str]]:
    """Return the hands that seats played in a finished round. Each entry is a tuple: the seat's number, the hand's
    name, and the result of the wager on that hand. Return an empty list if the game has no bet on such hands."""
    if isinstance(done, SeatHands):
        hands = [(hand.seat, seat_hand_name(hand.seat, hand.number)) for hand in done.hands]
    else:
        actives = seating.actives
        hands = [] if actives is None else [(actives.player, PLAYER), (actives.banker, BANKER)]
    bet = next((bet for bet in rules.bets if bet.each_hand or bet.between_actives), None)
    if bet is None:
        return []
    seen = (one for seat in dict.fromkeys(seat for seat, _ in hands) for one in _seen(rules, seating, done, seat))
    results = [result_of(deciding(bet, one)).value for one in seen]
    return [(*hand, result) for hand, result in zip(hands, results, strict=True)]
