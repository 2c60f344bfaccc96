"""How a correction by two people changes the table: the settlement and the awards of a finished round are computed
again from the hands that the two people read.

The event that the table sent when the round ended stays as it is. A new event, `correction`, names that round and says
what holds instead.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract import events
from controller.rules.game.hands import Done, SeatHands, cards_of
from controller.rules.game.seating import Actives, next_actives
from controller.rules.game.settlement import Settlement
from controller.table import paying, shoe_life
from controller.table.acts.corrections import CorrectionFact
from controller.table.dealing import finished_round, hands_shown, last_wagered, owing, shown
from controller.table.facts import SeatHit
from controller.table.states import NO_WAGERS, FinishedRound, Table
from controller.table.stops import Stepped, open_shoe, shoe_number

_Awards = list[paying.Won]


def correct(table: Table, fact: CorrectionFact) -> Stepped:
    """Correct a finished round. Return the corrected table and the event `correction`. The event that the table sent
    when the round ended stays as it is."""
    before = finished_round(table, fact.round)
    assert before is not None, "a correction names a finished round"
    rules, wagers = table.rules, before.wagers or NO_WAGERS
    done = rules.play.corrected(before.done, fact.read)
    won, won_before = (paying.awards(rules, before.seating, each, wagers) for each in (done, before.done))
    settled = paying.settlement(rules, before.seating, wagers.placed, done) if before.settlement else None
    after = replace(before, done=done, settlement=settled)
    corrected = replace(
        table,
        shoe=shoe_life.corrected(open_shoe(table), rules.shoe, cards_of(before.done), cards_of(done)),
        finished=tuple(after if finished is before else finished for finished in table.finished),
        last_round=after if table.last_round is before else table.last_round,
        hits=_hits_as_corrected(table, before, won, won_before) if before is last_wagered(table) else table.hits,
        actives=_actives_as_corrected(table, before, done),
        commission_owed=_owed_otherwise(table, before.settlement, settled),
    )
    return corrected, (_event(table, fact, before, after, won, won_before),)


def _event(
    table: Table, fact: CorrectionFact, before: FinishedRound, after: FinishedRound, won: _Awards, won_before: _Awards
) -> events.Correction | events.SeatsCorrection:
    """Return the event that reports a correction. For games with Player and Banker it is a `Correction`. For Lucky 9 it
    is a `SeatsCorrection`."""
    done, rules = after.done, table.rules
    settlement, settlement_before = (paying.settlement_shown(each.settlement) for each in (after, before))
    if isinstance(done, SeatHands):
        return events.SeatsCorrection(
            shoe=shoe_number(table),
            round=fact.round,
            by=fact.by,
            witness=fact.witness,
            dealer=shown(done.dealer),
            hands=hands_shown(rules, done),
            settlement=settlement,
            settlement_before=settlement_before,
        )
    return events.Correction(
        shoe=shoe_number(table),
        round=fact.round,
        by=fact.by,
        witness=fact.witness,
        outcome=done.outcome.value,
        player=shown(done.player),
        banker=shown(done.banker),
        natural=done.natural,
        margin=done.margin,
        pairs=events.Pairs(done.player_pair, done.banker_pair),
        dragon_bonus=paying.dragon_bonus_shown(rules, after.seating, done),
        awards=paying.awards_shown(won),
        awards_before=paying.awards_shown(won_before),
        settlement=settlement,
        settlement_before=settlement_before,
    )


def _hits_as_corrected(table: Table, before: FinishedRound, won: _Awards, won_before: _Awards) -> tuple[SeatHit, ...]:
    """Return the hits to show after the last wagered round was corrected. `won` are its awards after the correction,
    and `won_before` its awards before. A hit that stays keeps its step at the pit (pending, verified, paid, rejected).
    """
    number, levels = open_shoe(table).number, (before.wagers or NO_WAGERS).levels
    of_the_round = [hit for hit in table.hits if (hit.shoe, hit.round) == (number, before.number)]
    awarded = {(each.spot, each.seat, each.row.award) for each in won}
    stay = [hit for hit in of_the_round if (hit.spot, hit.seat, hit.tier) in awarded]
    new = paying.hits(number, before.number, [each for each in won if each not in won_before], levels)
    return (*(hit for hit in table.hits if hit not in of_the_round), *stay, *new)


def _actives_as_corrected(table: Table, before: FinishedRound, done: Done) -> Actives | None:
    """Return Baccarat Royal's active seats after a correction. The active seats change only if the corrected round is
    the last finished one."""
    if before.seating.actives is None or done.outcome is None or before is not table.finished[-1]:
        return table.actives
    play = table.rules.play
    return next_actives(before.seating.actives, done.outcome, table.occupied, play.on_win, play.on_tie)


def _owed_otherwise(table: Table, before: Settlement | None, after: Settlement | None) -> dict[int, int]:
    """Return the commission that each seat owes, in cents by seat, after a correction changed a round's settlement from
    `before` to `after`."""
    no_more = {seat: -cents for seat, cents in before.owed} if before else {}
    return owing(owing(table.commission_owed, no_more), dict(after.owed) if after else {})
