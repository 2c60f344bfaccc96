"""The table's placard: the rules that players must know (name, game, seats, limits, bets). It is computed from the
table's rules alone. `controller/contract/face/placard.py` defines its form. The functions are pure."""

from __future__ import annotations

from fractions import Fraction

from msgspec import convert, to_builtins
from msgspec.structs import asdict

from controller.contract.face.placard import Drawing, Limits, Placard, PlacardBet, PlacardRow, SeatK9, When
from controller.rules.game.bets import Bet, Row, ratio_text
from controller.rules.game.bets import When as Condition
from controller.table.rules import TableRules


def placard(rules: TableRules, name: str, languages: tuple[str, ...]) -> Placard:
    """Return the placard (what players must know of the rules) of the table named `name`. `languages` are the languages
    of the table's page for players."""
    return Placard(
        name=name,
        table=rules.table,
        game=rules.game,
        dealt_face_down=rules.play.squeezed,
        roles=rules.play.roles_play,
        house_ways=dict(rules.play.house_ways),
        seat_hands=rules.play.seats_play,
        naturals=tuple(rules.play.naturals),
        drawing=convert(to_builtins(rules.play.drawing), Drawing),
        decks=rules.shoe.decks,
        burn_counts_first_card=rules.shoe.burn_counts_first_card,
        cut_card_from_end=rules.shoe.cut_card_from_end,
        seats=tuple(SeatK9(seat.number, str(seat.k9) if seat.k9 else None) for seat in rules.seats),
        limits=Limits(**asdict(rules.wagers)),
        bets=tuple(_bet(bet, rules.play.seats_play) for bet in rules.bets),
        pays_unit_cents=rules.rounding.unit_cents,
        pays_rounded=rules.rounding.pays,
        languages=languages,
        seats_told=_seats_told(rules),
    )


def _seats_told(rules: TableRules) -> bool:
    """Tell whether the placard must list the seats, because the seats differ for players. They differ if a seat has a
    hand or a role of its own, or a King and a 9 printed at it. They also differ if the table can learn of single wagers
    at a seat: by bet recognition, or on a progressive bet."""
    has_its_own = rules.play.seats_play or rules.play.roles_play or any(seat.k9 for seat in rules.seats)
    return has_its_own or rules.bet_recognition or bool(rules.progressives)


def _bet(bet: Bet, seats_play: bool) -> PlacardBet:
    a_hand_decides = (
        seats_play and not bet.each_hand and any(_when(row.when).keys() != {"with_up_card"} for row in bet.rows)
    )
    return PlacardBet(
        spot=bet.spot,
        limits=bet.limits,
        minimum_cents=bet.minimum_cents,
        maximum_cents=bet.maximum_cents,
        price_cents=bet.price_cents,
        optional=bet.optional,
        between_actives=bet.between_actives,
        unequal_stakes=bet.unequal_stakes,
        rows=tuple(map(_row, bet.rows)),
        needs=bet.needs,
        maximum_of_needed=_ratio(bet.maximum_of_needed),
        pays_at_most_cents=bet.pays_at_most_cents,
        awards_return_stake=bet.awards_return_stake,
        no_bets_after_round=bet.no_bets_after_round,
        no_bets_in_final_round=bet.no_bets_in_final_round,
        after_split=bet.after_split if a_hand_decides else "",
    )


def _row(row: Row) -> PlacardRow:
    return PlacardRow(
        when=_when(row.when),
        pays=_ratio(row.pays),
        commission_taken=_ratio(row.commission_taken),
        commission_owed=_ratio(row.commission_owed),
        result=row.result,
        award=row.award,
        cents=row.cents,
        meter=row.meter,
        share=ratio_text(row.share),
        words=row.words,
    )


def _when(when: Condition) -> When:
    """Return the condition of a pay-table row as a dictionary. Fields that the row leaves open are left out."""
    return {
        name: {word: said for word, said in value.items() if said is not None} if isinstance(value, dict) else value
        for name, value in to_builtins(when).items()
        if value is not None
    }


def _ratio(ratio: Fraction | None) -> str | None:
    return None if ratio is None else ratio_text(ratio)
