"""Checks that a table's file and its game's file fit together, makes the table's rules from both, and warns of values
that may be mistakes."""

from __future__ import annotations

from collections.abc import Iterable

from controller.daemon.config.game_file import HAND_AT_MOST, GameFile, play_of
from controller.daemon.config.letters import without_a_font
from controller.daemon.config.problems import Mistake
from controller.daemon.config.seldom_meant import differences
from controller.daemon.config.table_file import PinsSection, ShoeSection, TableFile, TableSection
from controller.daemon.pins.inputs import missed_without
from controller.rules.game.baccarat import Tableau
from controller.table.lamps import LAMPS
from controller.table.rules import Seat, TableRules
from drivers import shoe as shoes
from drivers.header_map import conflicts
from drivers.line.brand import Brand


def rules_of(table: TableFile, game: GameFile) -> TableRules:
    """Return the rules by which the table plays, made from the table's file and its game's file."""
    return TableRules(
        table=table.table.id,
        game=game.name,
        lock_on=table.table.lock_on,
        seats=tuple(sorted(table.seats, key=lambda seat: seat.number)),
        sensors=tuple(sorted(seat.number for seat in table.seats if f"seat_{seat.number}" in table.pins.inputs)),
        sensed=_sensed(table.pins, game),
        bet_recognition=table.table.bet_recognition,
        shoe=game.shoe,
        play=play_of(game, table.table.dealt),
        wagers=game.wagers,
        rounding=game.rounding,
        bets=game.bets,
        fastest_card_ms=table.table.fastest_card_ms,
        longest_lock_s=table.table.longest_lock_s,
    )


def _sensed(pins: PinsSection, game: GameFile) -> str | None:
    """Return the spot (the place of a bet on the felt) whose chips the seats' sensors see.

    That is the spot that `[pins]` names, or else the spot of the game's only progressive bet. The result is None if
    `[pins]` names no spot and the game has no progressive bet, or more than one.
    """
    progressives = _progressives(game)
    return pins.sensed or (progressives[0] if len(progressives) == 1 else None)


def _progressives(game: GameFile) -> list[str]:
    """Return the spots (places on the felt) of the game's progressive bets, such as a bet on a jackpot meter."""
    return [bet.spot for bet in game.bets if bet.progressive]


def check_game_fits(
    table: TableSection, seats: tuple[Seat, ...], shoe: ShoeSection, pins: PinsSection, game: GameFile
) -> Iterable[Mistake]:
    """Yield a mistake for each value in the table's file that does not fit the game that the table deals, such as a
    seat that the game does not have."""
    yield from _check_shoe_deals(shoe.driver, play_of(game).tableau)
    most = play_of(game).most_cards(len(seats))
    if HAND_AT_MOST <= game.shoe.fewest_cards_to_open < most:
        what = f"a round of {len(seats)} seats can take {most} cards, more than fewest_cards_to_open"
        yield "seats", what, f"Write shoe.fewest_cards_to_open = {most} in the game's file, or take seats away."
    for place, seat in enumerate(seats):
        if seat.number > game.most_seats:
            do = f"Number the seats from 1 to {game.most_seats}: most_seats in the game's file says how many."
            yield f"seats.{place}.number", f"seat {seat.number} is beyond the sheet's seats", do
    if table.lock_on == "first_card" and play_of(game).tableau is None:
        yield "table.lock_on", "the dealer locks the wagers of this game", 'Write "deal".'
    if game.section.dealt(table.dealt) is None:
        yield "table.dealt", f"this game is not dealt as {table.dealt.title()}", "Remove it."
    printed = any(hand.seat_pair for bet in game.bets for row in bet.rows for hand in row.when.hands())
    for place, seat in enumerate(seats):
        if printed and seat.k9 is None:
            yield f"seats.{place}.k9", "is missing, and a bet of the game needs it", 'Add it, such as "KS 9H".'
        if not printed and seat.k9 is not None:
            yield (
                f"seats.{place}.k9",
                "is printed only where a bet needs it, and this game has no such bet",
                "Remove it.",
            )
    progressives = _progressives(game)
    named = ", ".join(progressives) or "none: remove it"
    if pins.sensed is not None and pins.sensed not in progressives:
        yield "pins.sensed", f"{pins.sensed} is not a progressive bet of the game", f"The game's are: {named}."
    sensors = [name for seat in seats if (name := f"seat_{seat.number}") in pins.inputs]
    if sensors and pins.sensed is None and len(progressives) > 1:
        do = f"Name the spot whose chips the seats' inputs see, one of: {named}."
        yield "pins.sensed", "is missing, and the game has more than one progressive bet", do
    if not progressives:
        for name in sensors:
            yield f"pins.inputs.{name}", "senses a progressive wager, and the game has none", "Remove it."


def _check_shoe_deals(brand: Brand, tableau: Tableau | None) -> Iterable[Mistake]:
    """Check that the shoe can deal this game. Some brands of shoe apply drawing rules of their own (`brand.tableau`),
    which must be the same as the game's."""
    if brand.tableau is None:
        return
    if tableau is None:
        yield "shoe.driver", f"{brand.called} deals punto banco only", f"Write one of: {_without_rules()}."
    elif otherwise := ", ".join(differences(tableau, brand.tableau)):
        what = f"{brand.called} draws by rules of its own, and the game by others: {otherwise}"
        ways = f"Write one of: {_without_rules()}; or give the game the shoe's rules."
        yield "shoe.driver", what, f"{ways} No command that we know switches them off."


def _without_rules() -> str:
    """Return the names of the shoe brands that have no drawing rules of their own, as one text in which commas separate
    them."""
    return ", ".join(name for name in shoes.NAMES if shoes.brand(name).tableau is None)


def _without_letters(table: TableFile, game: GameFile) -> Iterable[str]:
    rows = {
        f"{bet.spot}: words": "".join(text for row in bet.rows for text in (row.words or {}).values())
        for bet in game.bets
    }
    for key, name in {"table.name": table.table.name, f"{table.table.game}: name": game.name, **rows}.items():
        if letters := without_a_font(name):
            yield f"{key}: the pages bring no font with {letters}: only a browser whose machine has one shows them"


def warnings(table: TableFile, game: GameFile) -> Iterable[str]:
    """Yield a warning for each value that is allowed but may be a mistake, such as a seat without a sensor or a
    connection without TLS."""
    if table.pit.tls is None and not table.pit.is_local:
        anybody = "anybody on its network can read every round and speak as the pit"
        yield f"[pit] has no TLS (ca, certificate, private_key): {anybody}"
    if table.pit.trust_first_key:
        yield "[pit] trust_first_key: whoever speaks first as the pit is believed, and nobody compares its key"
    yield from _without_letters(table, game)
    yield from conflicts(table.pins.lamps, table.pins.inputs)
    if not table.table.bet_recognition:
        sensed = _sensed(table.pins, game)
        unseen = [seat.number for seat in table.seats if f"seat_{seat.number}" not in table.pins.inputs]
        for spot in _progressives(game):
            if spot == sensed:
                yield from (f"seat {seat} has no sensor: no {spot} wager can be placed there" for seat in unseen)
            else:
                yield f"no sensor and no bet recognition sees wagers on {spot}: none can be placed, at any seat"
    for name in [*(f"seat_{seat.number}" for seat in table.seats), *LAMPS]:
        if name not in table.pins.lamps:
            yield f"there is no lamp {name}"
    for name in missed_without(play_of(game, table.table.dealt).calls):
        if name not in table.pins.inputs:
            yield f"there is no input {name}: people must use `tablectl` in its place"
    brand = table.shoe.driver
    for name, why in brand.buttons.items():
        if name not in table.pins.inputs:
            yield f"there is no input {name}, and {why}"
    if table.table.lock_on == "first_card":
        kept = ", except on a card that the shoe reports as kept" if brand.tableau else ""
        yield f"a first card locks the wagers, so no card is drawn too early: shoe.drawn_in_error has no effect{kept}"
    if brand.tableau and game.shoe.drawn_in_error == "burn":
        counts_it = f"{brand.called} takes a burned card for a round's first: end the shoe's own game"
        yield f'shoe.drawn_in_error = "burn": {counts_it} after each such card, or the table stops at the next card'
    yield from _unnoticed(table.shoe)
    if not brand.bits_until_numbers_repeat and table.table.lock_on == "first_card":
        numbers_nothing = f"{brand.called} does not number its reports: a report lost between rounds goes unnoticed"
        yield f"a first card locks the wagers, and {numbers_nothing}"


def _unnoticed(shoe: ShoeSection) -> Iterable[str]:
    """Yield warnings about shoe settings with which something can happen unnoticed. Example: the table does not notice
    cards that are dealt while the plug at the shoe is pulled out."""
    brand, asking = shoe.driver, None if shoe.ask == "off" else shoe.driver.asking
    if asking is None and shoe.present is None:
        cards = "ten reports or a multiple of ten" if brand.bits_until_numbers_repeat else "any number of cards"
        unseen = f"nobody notices {cards} that are dealt while the plug is out at the shoe's end"
        what = "shoe.present is left out" if brand.asking is None else 'shoe.ask = "off" and shoe.present is left out'
        yield f"{what}: {unseen}; docs/wiring.md, A plug pulled at the shoe"
    if asking is not None and shoe.ask == asking.unlocks:
        yield f'shoe.ask = "{shoe.ask}": the table unlocks a locked shoe within half a second'
    if asking is not None and (shoe.answers_within_ms or 0) > asking.answers_within_ms:
        unseen = "hands can deal ten reports in that time, and nobody notices where the plug was out meanwhile"
        yield f"shoe.answers_within_ms is above {asking.answers_within_ms}: {unseen}"
