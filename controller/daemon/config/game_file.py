"""The type of a game's file, and the checks of its sections. A game's file holds one printed rule sheet as data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from math import ceil
from typing import Any, Literal, cast

from msgspec import Struct, defstruct, to_builtins
from msgspec.structs import fields

from controller.contract.bounds import MOST_WAGER_CENTS, NAME
from controller.daemon.config.problems import Mistake, Problem, check_range
from controller.rules.game.bets import DRAGON_BONUS, Bet, ratio_text
from controller.rules.game.games import KINDS, Game, Section
from controller.rules.game.settlement import Rounding
from controller.rules.game.wagers import WagerRules
from controller.table.rules import ShoeRules
from controller.words.found import LANGUAGES, unknown

MOST_BETS = 24
"""No game has more bets."""

MOST_SPOTS = 336
"""No game has more bets times seats: 12 bets at 28 seats, 24 bets at 14. The longest event is the correction of a round
with chips on every spot, and back bettors. A message must hold that event."""

MOST_SEATS = 28
"""No table has more seats: a seat has a lamp, and a Pi no more pins."""


def most_bets(seats: int) -> int:
    """Return how many bets a game with this number of seats may have at most."""
    return min(MOST_BETS, MOST_SPOTS // min(seats, MOST_SEATS))


_LONGEST_WORDS = 90
"""What fits into two lines of a pay table."""

_LONGEST_NAME = 60
"""What fits on a screen's heading."""

_BURNED_AT_MOST = 11
"""A first card of ten points, and the ten cards that are burned for it."""

HAND_AT_MOST = 6
"""Three cards each for the two hands of punto banco."""


class GameFile(Struct, frozen=True, kw_only=True):
    """The content of a game's file, without the section of its kind. That section is named after the key `kind`, for
    example `[lucky9]`, and `of_kind` adds its type."""

    name: str
    """The game's name for people."""

    sheet: str
    """The name of the printed rule sheet."""

    kind: str
    """How the game is dealt, such as `"lucky9"`. The section of that name has the details."""

    most_seats: int = 7
    """How many seats the sheet allows. No seat of a table has a number above this number."""

    shoe: ShoeRules
    wagers: WagerRules
    rounding: Rounding = Rounding()
    bets: tuple[Bet, ...]

    @property
    def section(self) -> Section:
        """The section that is named after the file's `kind`: for `kind = "lucky9"`, the section `[lucky9]`."""
        section: Section = getattr(self, self.kind)
        return section


def of_kind(values: dict[str, Any]) -> type[GameFile]:
    """Return the type for a game file with these values: `GameFile` with one section added. That section is named after
    the file's `kind`, for example `[lucky9]`.

    If `kind` is missing or unknown, a section is added for each known kind for which the file has a section of that
    name.
    """
    named = [kind for kind in KINDS if kind == values.get("kind")]
    return _with_sections(*(named or [kind for kind in KINDS if kind in values]))


@cache  # the same sections are one type
def _with_sections(*kinds: str) -> type[GameFile]:
    literal: Any = Literal  # mypy takes no Literal of computed values
    kind_type = literal[tuple(KINDS)]
    sections = [("kind", kind_type), *((kind, KINDS[kind]) for kind in kinds)]
    return cast(type[GameFile], defstruct("GameFile", sections, bases=(GameFile,), frozen=True, kw_only=True))


USUALLY_LEFT_OUT = (
    *("most_seats", "shoe.burn_counts_first_card", "shoe.cut_card_tolerance", "shoe.hands_after_cut_card_first"),
    *("shoe.voided_hand_counts", "punto_banco.midi_reveal", "wagers.one_of", "wagers.equal_circles_squeezed_by"),
    *("rounding.unit_cents", "rounding.pays", "rounding.commission"),
)
"""The keys that are the same in every shipped game, so that none of these files has them."""


def left_out(game: GameFile) -> tuple[tuple[str, str], ...]:
    """Return the keys that game files usually leave out, each with its value in this game, written as in TOML. Keys of
    other kinds of games are not returned."""
    found = []
    for key in USUALLY_LEFT_OUT:
        section, _, name = key.rpartition(".")
        if section in ("", "shoe", "wagers", "rounding", game.kind):
            found.append((key, _as_written(getattr(getattr(game, section) if section else game, name))))
    return tuple(found)


def _as_written(value: object) -> str:
    return json.dumps(to_builtins(value))  # TOML writes lists of texts, texts, numbers, true and false as JSON does


def play_of(game: GameFile, dealt: Literal["mini", "midi"] = "mini") -> Game:
    """Return the game's rules of play, dealt as Mini (the dealer turns up every card) or Midi (cards lie face down
    first). The caller has checked with `check_game_fits` that the game can be dealt in this way."""
    return _dealt(game.section, dealt)


def _dealt(section: Section, dealt: Literal["mini", "midi"] = "mini") -> Game:
    play = section.dealt(dealt)
    assert play is not None, "every game is dealt as Mini"
    return play


def _check_shoe_rules(shoe: ShoeRules) -> Iterable[Mistake]:
    if not 1 <= shoe.decks <= 12:
        yield "shoe.decks", f"{shoe.decks} is out of range", "Write a number from 1 to 12."
    else:
        deepest = 52 * shoe.decks - _BURNED_AT_MOST - HAND_AT_MOST
        if not 0 <= shoe.cut_card_from_end <= max(0, deepest):
            what = f"{shoe.cut_card_from_end} cards behind the cut card leave no round before it"
            do = f"Write a number from 0 to {max(0, deepest)}: the burned cards and one round come before that card."
            yield "shoe.cut_card_from_end", what, do
        if shoe.fewest_cards_to_open > 52 * shoe.decks:
            yield "shoe.fewest_cards_to_open", "is more than the shoe holds", "Write 6, or a few more."
    yield from check_range("shoe.hands_after_cut_card", shoe.hands_after_cut_card, 0, 10)
    yield from check_range("shoe.hands_after_cut_card_first", shoe.hands_after_cut_card_first, 1, 10)
    yield from check_range("shoe.cut_card_tolerance", shoe.cut_card_tolerance, 0, 624)
    if shoe.fewest_cards_to_open < HAND_AT_MOST:
        yield "shoe.fewest_cards_to_open", "is less than a round can take", f"Write {HAND_AT_MOST} or more."


def _check_play(section: Section, shoe: ShoeRules, bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    """Check that the section that is named after the game's kind, such as `[punto_banco]`, fits the shoe's rules and
    the bets."""
    play = _dealt(section)
    if play.tableau is None and shoe.drawn_in_error == "simulated_hand":
        do = 'Write "burn" or "next_card".'
        yield "shoe.drawn_in_error", "nobody could make the choices of a simulated hand of this game", do
    each_hand = [place for place, bet in enumerate(bets) if bet.each_hand]
    if play.seats_play and len(each_hand) != 1:
        do = "Write each_hand = true in the bet of that wager, and in no other bet."
        yield "bets", f"{len(each_hand) or 'no'} bets lie on a seat's own hand, and exactly one bet must", do
    elif play.seats_play:
        yield from _check_beside_the_hand(bets, bets[each_hand[0]].spot)
    for place, bet in enumerate(bets):
        if bet.each_hand and not play.seats_play:
            yield f"bets.{place}.each_hand", "no seat has hands of its own in this game", "Remove it."
        if bet.between_actives and not play.roles_play:
            yield f"bets.{place}.between_actives", "no seats play each other in this game", "Remove it."
        if bet.unequal_stakes != "smaller_plays" and not bet.between_actives:
            yield f"bets.{place}.unequal_stakes", f"nobody plays against another seat on {bet.spot}", "Remove it."
        if bet.after_split != "leftmost" and (bet.each_hand or not play.seats_play):
            why = "an equal wager lies on each hand" if bet.each_hand else "no seat splits in this game"
            yield f"bets.{place}.after_split", why, "Remove it."


def _check_beside_the_hand(bets: tuple[Bet, ...], hand: str) -> Iterable[Mistake]:
    """Check that nobody can wager on another bet without a wager on the seat's own hand, whose spot is `hand`. So each
    bet must need `hand`, directly or through another bet that needs it."""
    beside = {hand}
    while more := {bet.spot for bet in bets if bet.needs and beside.issuperset(bet.needs)} - beside:
        beside |= more
    for place, bet in enumerate(bets):
        if bet.spot not in beside:
            do = f'Write needs = ["{hand}"].'
            yield f"bets.{place}.needs", f"a seat with {bet.spot} and without {hand} is dealt no cards", do


def _check_names(name: str, sheet: str) -> Iterable[Mistake]:
    for key, text in (("name", name), ("sheet", sheet)):
        if not (0 < len(text) <= _LONGEST_NAME and text.isprintable() and text == text.strip()):
            do = f"Write what people call it, in a line of at most {_LONGEST_NAME} characters."
            yield key, f"{text!r} is no name", do


def _check_most_seats(most_seats: int) -> Iterable[Mistake]:
    yield from check_range("most_seats", most_seats, 1, MOST_SEATS)


def _check_spots(bets: tuple[Bet, ...], most_seats: int) -> Iterable[Mistake]:
    spots = [bet.spot for bet in bets]
    if not bets:
        yield "bets", "the game takes no wager", "Add a [[bets]] for each spot."
    if len(bets) > (most := most_bets(max(most_seats, 1))):
        what = f"{len(bets)} bets at {most_seats} seats are more than the event of a round can hold"
        yield "bets", what, f"Write at most {most}" + ("." if most == MOST_BETS else ", or lower most_seats.")
    for place, bet in enumerate(bets):
        key = f"bets.{place}"
        if not re.fullmatch("[a-z0-9_]{1,24}", bet.spot):
            yield f"{key}.spot", f"{bet.spot!r} cannot be a spot's name", "Use only a-z, 0-9 and _, at most 24."
        elif bet.spot in spots[:place]:
            yield f"{key}.spot", f"{bet.spot} is listed twice", "Write each spot once, with all its rows."
        for needed in bet.needs:
            if needed == bet.spot or needed not in spots:
                others = ", ".join(spot for spot in spots if spot != bet.spot)
                yield f"{key}.needs", f"{needed} is not another spot of this game", f"Name some of: {others}."
        if not bet.rows:
            yield f"{key}.rows", f"nothing says when {bet.spot} wins", "Add its rows: the first row that holds decides."


def _check_one_of(wagers: WagerRules, bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    """Check each group of spots in `wagers.one_of`: if it names a spot of this game, all its spots must be spots of
    this game.

    A group that names only spots of other games is no mistake, because the default group names spots that some games do
    not have.
    """
    spots = [bet.spot for bet in bets]
    for place, group in enumerate(wagers.one_of):
        unknown = [spot for spot in group if spot not in spots]
        if unknown and len(unknown) < len(group):
            do = f"Name some of: {', '.join(spots)}."
            yield f"wagers.one_of.{place}", f"{unknown[0]} is not a spot of this game", do


def _check_placeable(wagers: WagerRules, bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    """Check that a player can place each bet together with at least one of the bets that it needs. A group in
    `wagers.one_of` allows a wager on only one of its spots, and so may make that impossible."""
    needs = {bet.spot: bet.needs for bet in bets}

    def can(spot: str, beside: frozenset[str]) -> bool:
        if spot in beside or spot not in needs:
            return spot in beside
        if any(spot in group and not beside.isdisjoint(group) for group in wagers.one_of):
            return False
        return not needs[spot] or any(can(needed, beside | {spot}) for needed in needs[spot])

    for place, bet in enumerate(bets):
        if bet.needs and not needs.keys().isdisjoint(bet.needs) and not can(bet.spot, frozenset()):
            what = f"{bet.spot} can never be placed: wagers.one_of keeps it from every bet that it needs"
            yield f"bets.{place}.needs", what, "Correct the group in wagers.one_of, or name another bet."


def _check_limits(wagers: WagerRules, bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    """Check the limits that a bet has of its own. They must be amounts that the program allows, and a multiple of
    `increment_cents` must lie between the bet's two limits. A bet with a fixed price must have no such limits."""
    for place, bet in enumerate(bets):
        own = [word for word in ("minimum_cents", "maximum_cents") if getattr(bet, word) is not None]
        if not own:
            continue
        key = f"bets.{place}.{own[0]}"
        least, most = wagers.minimum_cents(bet), wagers.maximum_cents(bet)
        if bet.price_cents is not None:
            yield key, "stands beside price_cents, which is the one wager on this spot", "Remove one of the two."
        elif least < 1:
            yield key, f"{least} is not a minimum", "Write the minimum in cents, at least 1."
        elif most > MOST_WAGER_CENTS:
            yield f"bets.{place}.maximum_cents", f"{most} is too much", f"Write at most {MOST_WAGER_CENTS}."
        elif most // wagers.increment_cents < -(-least // wagers.increment_cents):
            what = f"no multiple of increment_cents ({wagers.increment_cents}) lies between {least} and {most}"
            yield key, f"{what}, so no wager can be made", "Change the increment or the limits."


def _check_most_paid(wagers: WagerRules, rounding: Rounding, bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    """Check a bet's `pays_at_most_cents`, the most that a wager can win.

    The amount must be enough to pay the smallest wager in full, and must be a multiple of `rounding.unit_cents`. The
    bet's pay table must have a row that pays odds such as "8:1". A bet on a seat's own hand, or between two seats, must
    have no such limit.
    """
    for place, bet in enumerate(bets):
        if (most_cents := bet.pays_at_most_cents) is None:
            continue
        key, pays = f"bets.{place}.pays_at_most_cents", [row.pays for row in bet.rows if row.pays is not None]
        least = wagers.least_wager_cents(bet)
        if bet.each_hand or bet.between_actives:
            why = "the seats' hands are several" if bet.each_hand else "two seats play each other"
            yield key, f"{bet.spot} has no such limit: {why}", "Remove it, and lower maximum_cents."
        elif not pays:
            yield key, f"no row of {bet.spot} pays to one, so nothing is ever cut", "Remove it."
        elif most_cents < max(1, ceil(max(pays) * least)):
            what = f"{most_cents} cuts the pay of even the least wager: {ratio_text(max(pays))} for {least} is more"
            yield key, what, "Raise it, or write in the row what is paid."
        elif rounding.unit_cents > 0 and most_cents % rounding.unit_cents:
            what = f"{most_cents} is no multiple of rounding.unit_cents ({rounding.unit_cents})"
            yield key, what, "Write an amount that can be paid."


def _check_maximum_of_needed(wagers: WagerRules, bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    """Check each bet with `maximum_of_needed`, whose maximum is a multiple of the wagers on the bets that it needs. The
    bet must need another bet and have no fixed price, and its maximum must not be below its minimum."""
    of = {bet.spot: bet for bet in bets}
    for place, bet in enumerate(bets):
        if bet.maximum_of_needed is None:
            continue
        key, beside = f"bets.{place}.maximum_of_needed", [of[spot] for spot in bet.needs if spot in of]
        most, least = bet.maximum_of_needed * sum(map(wagers.most_wager_cents, beside)), wagers.least_wager_cents(bet)
        if not bet.needs:
            yield (
                key,
                f"{bet.spot} needs no other wager, so there is none to go by",
                'Add needs = ["player", "banker"].',
            )
        elif bet.price_cents is not None:
            yield key, "stands beside price_cents, which is the one wager on this spot", "Remove one of the two."
        elif beside and most < least:
            what = f"{ratio_text(bet.maximum_of_needed)} of the greatest wagers beside it is {float(most):.0f}"
            yield key, f"{what}, and the least wager here is {least}", "Raise it, or lower the minimum of this bet."


def _check_closing(shoe: ShoeRules, wagers: WagerRules, section: Section, bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    """Check the keys that close bets after a certain round of the shoe, or in its last round.

    At least the first round must take wagers. After the closing, the shoe must have enough cards for another round.
    Only a cut card tells which round is the last. A bet on a seat's own hand must never close, because only a seat with
    that wager is dealt cards.
    """
    most = max(1, (52 * shoe.decks - 2) // _FEWEST_A_ROUND)
    words: list[tuple[str, WagerRules | Bet]] = [
        ("wagers", wagers),
        *((f"bets.{n}", bet) for n, bet in enumerate(bets)),
    ]
    for key, of in words:
        last = of.no_bets_after_round
        if last is not None and last < 1:
            do = "Write the last round of a shoe in which wagers are taken, from 1, or remove it."
            yield f"{key}.no_bets_after_round", f"{last} leaves no round in which a wager is taken", do
        elif last is not None and last >= most:
            what = f"a shoe of {shoe.decks} decks has no round after round {last}, so nothing ever closes"
            yield f"{key}.no_bets_after_round", what, f"Write less than {most}, or remove it."
        if of.no_bets_in_final_round and not shoe.cut_card_from_end:
            do = "Write how many cards lie behind the cut card in shoe.cut_card_from_end, or remove this word."
            yield f"{key}.no_bets_in_final_round", "no cut card tells which round is the last", do
        for word in ("no_bets_after_round", "no_bets_in_final_round"):
            hand = isinstance(of, WagerRules) or of.each_hand
            if getattr(of, word) and hand and _dealt(section).seats_play:
                what = "no round could be dealt any more: only a seat with a wager on its hand is dealt cards"
                yield f"{key}.{word}", what, "Remove it. To end a shoe early, place the cut card earlier."


_FEWEST_A_ROUND = 4
"""Two cards each, to two hands at least."""


def _check_money(bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    for place, bet in enumerate(bets):
        if bet.price_cents is not None and not 1 <= bet.price_cents <= MOST_WAGER_CENTS:
            do = f"Write the price of the wager in cents, at most {MOST_WAGER_CENTS}."
            yield f"bets.{place}.price_cents", "is no price", do
        for number, row in enumerate(bet.rows):
            key = f"bets.{place}.rows.{number}"
            if row.pays == 0:
                do = 'Write what the row pays to one, such as "8:1", or result = "push".'
                yield f"{key}.pays", "0 to one is not a win", do
            for word in ("commission_taken", "commission_owed"):
                part = getattr(row, word)
                if part is not None and not 0 < part < 1:
                    yield f"{key}.{word}", f"{part} is no part of a win", 'Write less than the whole, such as "1:20".'
            if not 0 < row.share <= 1:
                do = 'Write the whole, "1:1", or less, such as "1:10".'
                yield f"{key}.share", f"{ratio_text(row.share)} is no part of a meter", do
            if row.cents is not None and row.cents < 1:
                yield f"{key}.cents", f"{row.cents} is no award", "Write the award in cents."
            for word in ("award", "meter"):
                name = getattr(row, word)
                if name is not None and not NAME.fullmatch(name):
                    yield f"{key}.{word}", f"{name!r} cannot be a name", "Use only a-z, 0-9 and _, at most 60."
            if bet.spot in DRAGON_BONUS and (row.result == "half" or (row.pays and row.pays.denominator != 1)):
                do = "Write whole odds, or give the bet another name."
                yield key, f"a round's event holds what {bet.spot} pays to one as a whole number", do


def _check_words(bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    for place, bet in enumerate(bets):
        for number, row in enumerate(bet.rows):
            for language, text in (row.words or {}).items():
                if language not in LANGUAGES:
                    yield f"bets.{place}.rows.{number}.words.{language}", *unknown(language)
                if not (0 < len(text) <= _LONGEST_WORDS and text.isprintable() and text == text.strip()):
                    do = f"Write what a player reads before the pay, in a line of at most {_LONGEST_WORDS} characters."
                    yield f"bets.{place}.rows.{number}.words.{language}", f"{text!r} cannot stand on a pay table", do


def _check_awards(section: Section, bets: tuple[Bet, ...]) -> Iterable[Mistake]:
    play = _dealt(section)
    whole = {row.meter for bet in bets for row in bet.rows if row.share == 1}
    for place, bet in enumerate(bets):
        awards = [row.award for row in bet.rows if row.award is not None]
        if awards and play.seats_play:
            do = "Write what each row pays to one: only a game of two hands, Player and Banker, has awards."
            yield f"bets.{place}.rows", f"{bet.spot} has awards", do
        if len(set(awards)) != len(awards):
            yield f"bets.{place}.rows", "holds an award twice", "Give each row an award of its own name."
        if awards and bet.price_cents is None:
            yield f"bets.{place}.price_cents", "is missing, and the bet has awards", "Write its one price in cents."
        for number, row in enumerate(bet.rows):
            if row.meter not in whole:
                do = (
                    "Correct the name, or add a row that wins the whole meter: without one the meter never starts anew."
                )
                yield f"bets.{place}.rows.{number}.meter", f"no row awards the whole of {row.meter}", do


def _check_wagers(wagers: WagerRules, rounding: Rounding) -> Iterable[Mistake]:
    for low, high in (("circle_minimum_cents", "circle_maximum_cents"), ("side_minimum_cents", "side_maximum_cents")):
        least, most = getattr(wagers, low), getattr(wagers, high)
        if least < 1:
            yield f"wagers.{low}", f"{least} is not a minimum", "Write the minimum in cents, at least 1."
        elif most // wagers.increment_cents < -(-least // wagers.increment_cents):
            what = f"no multiple of increment_cents ({wagers.increment_cents}) lies between {low} and {high}"
            yield f"wagers.{high}", f"{what}, so no wager can be made", "Change the increment or the limits."
        elif most > MOST_WAGER_CENTS:
            yield f"wagers.{high}", f"{most} is too much", f"Write at most {MOST_WAGER_CENTS}, in cents."
    if not wagers.back_bettors:
        for word in _OF_BACK_BETTORS:
            if getattr(wagers, word) != _left_out_of_wagers()[word]:
                do = "Remove it, or write back_bettors = true."
                yield f"wagers.{word}", "nobody bets behind a seat in this game", do
    for place, group in enumerate(wagers.one_of):
        if len(set(group)) < 2:
            yield f"wagers.one_of.{place}", "names fewer than two spots", 'Write two or more: ["player", "banker"].'
    if rounding.unit_cents < 1:
        yield (
            "rounding.unit_cents",
            f"{rounding.unit_cents} is not a unit",
            "Write the unit in cents: 1 for exact cents.",
        )
    elif wagers.increment_cents % rounding.unit_cents:
        do = "Write a unit that the wagers' increment is a multiple of."
        yield "rounding.unit_cents", f"{rounding.unit_cents} does not divide every wager", do


_OF_BACK_BETTORS = ("counted_together", "back_bets_beside", "largest_circle_counts")


@cache
def _left_out_of_wagers() -> dict[str, object]:
    """Return the default value of each key of the section `wagers`. The default holds if a file leaves the key out."""
    return {field.name: field.default for field in fields(WagerRules)}


GAME_CHECKS = (
    *(_check_names, _check_most_seats, _check_shoe_rules, _check_play, _check_wagers, _check_spots, _check_one_of),
    *(
        _check_placeable,
        _check_limits,
        _check_most_paid,
        _check_maximum_of_needed,
        _check_closing,
        _check_money,
        _check_awards,
        _check_words,
    ),
)
"""Every check of a game's file. A check's arguments are the sections that the check looks at, by their names; `section`
is the section of the file's kind."""


def old_form(values: dict[str, Any], file: str) -> list[Problem]:
    """Return a problem for each key that describes bets in the old form of game files. Today one `[[bets]]` entry
    describes each bet.

    Each problem says how the key is written now.
    """
    sections = {key: value for key, value in values.items() if isinstance(value, dict)} | {"": values}
    split = ((key, *key.rpartition(".")[::2], do) for key, do in _AS_BETS.items())
    what = "is not how a bet is written"
    return [Problem(file, key, what, do) for key, section, word, do in split if word in sections.get(section, ())]


_WITH_TO_ONE = 'Write a [[bets]] for each spot, such as { when = { winner = "tie" }, pays = "8:1" }.'
_WITH_ROWS = 'Write rows in the [[bets]] of each spot, such as { when = { winner = "own" }, pays = "1:1" }.'
_AS_BETS = {
    "pays": 'Write a [[bets]] for each spot, with rows such as { when = { winner = "banker" }, pays = "1:1", '
    'commission_taken = "1:20" }: see docs/bets.md.',
    "dragon_bonus": "Write a [[bets]] for dragon_player and one for dragon_banker, with rows such as "
    '{ when = { winner = "player", natural = false, margin = 9 }, pays = "30:1" }: see docs/bets.md.',
    "royal9": "Write a [[bets]] with rows such as "
    '{ when = { banker = { seat_pair = "own" } }, award = "banker_personal", meter = "banker_personal" }: '
    "see docs/bets.md.",
    "wagers.spots": "Remove it: the spots stand in the [[bets]], in the order in which they are settled.",
    **{f"baccarat_royal.{key}": _WITH_TO_ONE for key in ("gamblers_pay", "tie_pays", "gamblers_on_tie")},
    **{f"lucky9.{key}": _WITH_ROWS for key in ("outcomes", "dead_totals", "higher_pays", "tie_pays", "bonus_pays")},
}


GAME_KEYS = ("kind", "sheet", "bets", *KINDS, *(key for key in _AS_BETS if "." not in key))
"""Keys that a game's file has or had, and a table's file never."""
