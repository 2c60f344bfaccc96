"""What a finished hand is worth: its settlement, its Royal 9 awards, its Dragon Bonus, by the table's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from controller.contract import events
from controller.game import baccarat, lucky9
from controller.game.baccarat import PuntoBanco
from controller.game.baccarat_royal import Actives, BaccaratRoyal
from controller.game.dragon_bonus import dragon_bonus
from controller.game.games import Done, Seating
from controller.game.lucky9 import Lucky9
from controller.game.royal9 import Award, judge
from controller.game.settlement import Settlement, returned, settle_baccarat_royal, settle_lucky9, settle_punto_banco
from controller.game.wagers import RefusedWager, Spot, Wager
from controller.table.facts import RoyalHit
from controller.table.rules import TableRules


def settlement(
    rules: TableRules, seating: Seating, wagers: tuple[Wager, ...], done: Done, awards: list[tuple[int, Award]]
) -> Settlement | None:
    """The hand's settlement; None where the table knows no wagers."""
    if not rules.bet_recognition:
        return None
    match rules.play:
        case PuntoBanco():
            assert isinstance(done, baccarat.Done)
            assert rules.pays is not None
            won = dict(awards)
            royal9 = {wager.seat: won.get(wager.seat) for wager in wagers if wager.spot is Spot.ROYAL9}
            return settle_punto_banco(rules.pays, rules.rounding, rules.dragon_bonus, royal9, wagers, done)
        case BaccaratRoyal() as game:
            assert isinstance(done, baccarat.Done)
            assert seating.actives is not None
            return settle_baccarat_royal(game, rules.rounding, seating.actives, wagers, done.outcome)
        case Lucky9() as game:
            assert isinstance(done, lucky9.Done)
            return settle_lucky9(game, rules.rounding, wagers, done)
        case never:
            assert_never(never)


def awards(rules: TableRules, done: Done, seats: Iterable[int]) -> list[tuple[int, Award]]:
    """The winning Royal 9 wagers of these seats, best tier first, then by seat."""
    royal9 = rules.royal9
    if royal9 is None or not isinstance(done, baccarat.Done):
        return []
    k9_at = {seat.number: seat.k9 for seat in rules.seats if seat.k9 is not None}
    won: list[tuple[int, Award]] = []
    for seat in seats:
        others = [k9 for other, k9 in k9_at.items() if other != seat]
        award = judge(royal9, done.player[:2], done.banker[:2], k9_at[seat], others)
        if award is not None:
            won.append((seat, award))
    return sorted(won, key=lambda seat_award: (royal9.awards.index(seat_award[1]), seat_award[0]))


def seat_tiers(won: Iterable[tuple[int, Award]]) -> tuple[events.SeatTier, ...]:
    """The awards as events tell them."""
    return tuple(events.SeatTier(seat, award.tier.value) for seat, award in won)


def royal_hits(
    shoe: int, round_: int, won: Iterable[tuple[int, Award]], levels: Mapping[str, int]
) -> tuple[RoyalHit, ...]:
    """The awards as the table keeps them, with the levels that were shown."""
    return tuple(
        RoyalHit(shoe, round_, seat, award.tier.value, award.meter, levels.get(award.meter) if award.meter else None)
        for seat, award in won
    )


def dragon_bonus_shown(rules: TableRules, done: baccarat.Done) -> events.DragonBonusShown | None:
    """The Dragon Bonus as events tell it; None where the game has none."""
    if rules.dragon_bonus is None:
        return None
    settled = dragon_bonus(rules.dragon_bonus, done)
    return events.DragonBonusShown(settled.player.value, settled.banker.value, settled.pays_to_one)


def wagers_shown(wagers: Iterable[Wager]) -> tuple[events.WagerShown, ...]:
    """Wagers as events tell them."""
    return tuple(events.WagerShown(wager.seat, wager.back, wager.spot.value, wager.cents) for wager in wagers)


def refused_shown(refused: Iterable[RefusedWager]) -> tuple[events.RefusedShown, ...]:
    """Refused wagers as events tell them."""
    return tuple(
        events.RefusedShown(each.wager.seat, each.wager.back, each.wager.spot.value, each.wager.cents, each.code)
        for each in refused
    )


def settlement_shown(settled: Settlement | None) -> events.SettlementShown | None:
    """A settlement as events tell it."""
    if settled is None:
        return None
    totals = settled.totals
    return events.SettlementShown(
        wagers=tuple(
            events.SettledShown(
                seat=each.wager.seat,
                back=each.wager.back,
                spot=each.wager.spot.value,
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


def returned_shown(wagers: tuple[Wager, ...]) -> events.SettlementShown | None:
    """The wagers of a void hand, every one returned; None where there were none."""
    return settlement_shown(returned(wagers)) if wagers else None


def actives_shown(actives: Actives | None) -> events.ActivesShown | None:
    """Baccarat Royal's active seats as events tell them."""
    return None if actives is None else events.ActivesShown(actives.player, actives.banker)


def hand_results(rules: TableRules, done: lucky9.Done) -> list[str]:
    """What becomes of a wager on each seat's hand at Lucky 9."""
    assert isinstance(rules.play, Lucky9)
    return [lucky9.hand_verdict(rules.play, hand, done.dealer).result.value for hand in done.hands]
