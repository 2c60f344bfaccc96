"""Checks what the screen's server makes of a table's public state for its pages. Every text is in every language, and
no face-down card is revealed."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.contract.face.feed import Rounds
from controller.contract.face.placard import Placard
from controller.contract.face.status import MetersRefused, Status, WinShown
from controller.contract.pit_words import STEPS
from controller.daemon.config import load, load_game
from controller.daemon.config.game_file import play_of
from controller.people.screen.drawing import numbers
from controller.people.screen.figures import past_view
from controller.people.screen.hands import hand_view, meters_view
from controller.people.screen.placards import award_cents, boards, meters_of, placard_view, when_words
from controller.people.screen.rules import parts_of, rules_page
from controller.people.screen.shoes import shoe_view, shown_rounds
from controller.people.screen.technicians import Ages, technician_view
from controller.people.screen.wording import spoken, words
from controller.rules.game.baccarat import PuntoBanco, Tableau
from controller.rules.game.baccarat_royal import BaccaratRoyal
from controller.rules.game.bets import CardsAre, HandIs, When
from controller.rules.game.lucky9 import Lucky9
from controller.rules.game.seating import Actives
from controller.rules.game.settlement import Rounding
from controller.table.acts.seats import ChooseActives
from controller.table.acts.shoe import NewShoe
from controller.table.faults import FAULTS
from controller.table.lamps import lamps
from controller.table.placard import placard
from controller.table.public import PHASE_NAMES, public_rounds
from controller.table.rules import TableRules
from controller.words.found import LANGUAGES, SIDE_BY_SIDE
from tests.support.five_games import HEALTHY, SUGARHOUSE_MIDI, call, seats, wagers
from tests.support.samples import examples
from tests.support.tableaus import USUAL, Picture, at_random, positions
from tests.support.tables import BACCARAT_ROYAL, ROYAL9, TABLES, TableUnderTest
from tests.support.told import but, healthy, read_back

EXAMPLES = sorted(TABLES.glob("*.toml"))


def told(table: TableUnderTest) -> tuple[Placard, Rounds, Status]:
    """Return the table's placard (what holds for the whole shoe), rounds and status, as the screen's server reads them
    from the table."""
    burning = {name: pattern.name.lower() for name, pattern in lamps(table.face, HEALTHY).items()}
    status = healthy(table.face, lamps=burning, pit={"meters": {"player_personal": 1_000_000}})
    rounds = Rounds(table.table.shoes_opened, public_rounds(table.table))
    return placard_of(table.table.rules), read_back(rounds), status


def placard_of(rules: TableRules) -> Placard:
    """Return the placard (what holds for the whole shoe) of a table with these rules, as the screen reads it."""
    return read_back(placard(rules, "Table 1", SIDE_BY_SIDE))


def texts(said: object) -> list[dict[str, str]]:
    """Return every text in a part of the page. A text is a dict with all languages."""
    if isinstance(said, dict):
        if set(said) == set(LANGUAGES):
            return [said]
        return [text for value in said.values() for text in texts(value)]
    return [text for value in said for text in texts(value)] if isinstance(said, list) else []


# Words.


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_words_with_the_same_places_to_fill(language: str) -> None:
    first, other = words(LANGUAGES[0]), words(language)
    assert first.keys() == other.keys()
    for section in first:
        assert first[section].keys() == other[section].keys(), section
        for key, text in first[section].items():
            if isinstance(text, str):
                places = sorted(re.findall(r"\{\w+\}", text))
                assert places == sorted(re.findall(r"\{\w+\}", other[section][key])), (section, key)


def test_players_are_told_of_every_fault_and_every_phase() -> None:
    assert FAULTS.keys() <= words("en")["stop"].keys()
    assert {
        "wagers_open",
        "paused",
        "shoe_ended",
        "no_shoe",
        "first_card_due",
        "burning",
        "wagers_locked",
        "round_in_play",
    } == set(PHASE_NAMES.values())
    assert set(PHASE_NAMES.values()) <= words("en")["waits"].keys()


def test_every_word_of_a_row_has_its_words() -> None:
    said = words("en")["when"].keys()
    for word in (*When.__struct_fields__, *HandIs.__struct_fields__, *CardsAre.__struct_fields__):
        assert word in said or f"{word}_own" in said, word
    for kind in (When, HandIs, CardsAre):
        for word, type_ in get_type_hints(kind).items():
            assert bool not in get_args(type_) or f"not_{word}" in said, word


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_placard_of_every_house_in_words(path: Path) -> None:
    """The page explains the rules of each house in words. No placeholder is left unfilled, and a pay table says what
    each bet pays. Houses that exist only as TOML files are tried too."""
    rules = load(path).rules
    view = placard_view(placard_of(rules))
    said = texts(view)
    assert all(text[language] and "{" not in text[language] for text in said for language in LANGUAGES)
    lines = [line for board in view["pays"] for line in board["lines"]]
    for meter in view["meters"]:  # by one name on the panel and on a pay table
        for language in LANGUAGES:
            assert any(meter["label"][language] in text[language] for text in texts(lines))
    paid = {line["pays"]["en"] for line in lines}
    for bet in rules.bets:
        for row in bet.rows:
            if row.pays is not None and row.commission_taken is None and row.commission_owed is None:
                assert f"{row.pays.numerator}:{row.pays.denominator}" in paid
            if row.cents is not None:
                assert f"${row.cents // 100:,}" in paid


@pytest.mark.parametrize(
    ("table", "has", "has_not"),
    [
        (
            "royal9",
            ("A seat's K9", "Banker, after Player drew"),
            ("Midi", "Another card", "Two players act"),
        ),
        ("kansas_star", ("Back bettors", "Banker, after Player drew"), ("A seat's K9", "Midi", "Two players act")),
        ("sugarhouse_midi", ("Midi", "Banker, after Player drew"), ("A seat's K9", "Two players act", "Another card")),
        ("even_draw", ("Two hands", "One side", "Banker"), ("Banker, after", "Midi", "Two players act", "A seat's K9")),
        ("baccarat_royal", ("Two players act", "Banker, after Player drew"), ("Midi", "A seat's K9", "The dealer")),
        (
            "lucky9",
            ("Another card", "The dealer"),
            ("Two hands", "One side", "Banker", "Midi", "Two players act", "Naturals"),
        ),
    ],
)
def test_the_rules_page_tells_the_rules_of_the_tables_own_game(
    table: str, has: tuple[str, ...], has_not: tuple[str, ...]
) -> None:
    sign = placard_of(load(TABLES / f"{table}.toml").rules)
    titles = [part.title for part in parts_of(sign, "en")]
    assert all(any(title.startswith(start) for title in titles) for start in has)
    assert not any(title.startswith(start) for title in titles for start in has_not)
    page = rules_page(sign, LANGUAGES)
    assert page.count("<section") == len(LANGUAGES)
    assert unescape(page).count(placard_view(sign)["limits"][0]["text"]["en"]) == len(LANGUAGES)


@pytest.mark.parametrize(
    ("moves", "stakes", "told"),
    [
        ({}, "smaller_plays", ("no role", "to the next taken seat.", "smaller")),
        (
            {"on_win": "loser_to_next_seat", "on_tie": "free_seat"},
            "refused",
            ("change roles", "no role", "same amount"),
        ),
        ({"on_win": "both", "on_tie": "nowhere"}, "house_covers", ("or stay, as after a tie", "stay", "whole stake")),
    ],
)
def test_the_rules_page_tells_where_roles_go_and_which_stakes_play(
    moves: dict[str, Any], stakes: Any, told: tuple[str, ...]
) -> None:
    rules = load(TABLES / "baccarat_royal.toml").rules
    bets = tuple(replace(bet, unequal_stakes=stakes) if bet.between_actives else bet for bet in rules.bets)
    assert isinstance(rules.play, BaccaratRoyal)
    rules = replace(rules, play=replace(rules.play, **moves), bets=bets)
    for title, words_ in zip(("After a win", "After a tie", "Unequal stakes"), told, strict=True):
        assert words_ in parts_told(rules)[title]


def parts_told(rules: TableRules) -> dict[str, str]:
    return {part.title: part.text for part in parts_of(placard_of(rules), "en")}


@pytest.mark.parametrize(
    ("play", "splits", "draws"),
    [
        (
            {},
            "Two cards of one rank may be split for a second wager of the same amount, up to 4 hands",
            [("0–4", "draws"), ("5–9", "stands")],
        ),
        ({"pair": "value", "most_splits": 1}, "Two cards of one value, such as", [("0–4", "draws"), ("5–9", "stands")]),
        (
            {"most_splits": 0, "dealer_draws_on": (5, 0)},
            None,
            [("0", "draws"), ("1–4", "stands"), ("5", "draws"), ("6–9", "stands")],
        ),
    ],
)
def test_the_rules_page_tells_what_splits_and_when_the_dealer_draws(
    play: dict[str, Any], splits: str | None, draws: list[tuple[str, str]]
) -> None:
    rules = load(TABLES / "lucky9.toml").rules
    assert isinstance(rules.play, Lucky9)
    rules = replace(rules, play=replace(rules.play, **play))
    told = parts_told(rules)
    assert drawn(rules, "en")["The dealer"] == draws
    assert told.get("Splitting", "").startswith(splits or "")
    assert ("Splitting" in told) == (splits is not None)


def drawn(rules: TableRules, language: str) -> dict[str, list[tuple[str, str]]]:
    """Return the tables of drawing rules that the rules page shows, by their titles."""
    return {part.title: part.lines for part in parts_of(placard_of(rules), language) if part.lines}


def values_of(text: str) -> set[int]:
    """Return the numbers that people read in a text such as `"0–3, 5"`."""
    ends = [[int(end) for end in part.split("–")] for part in text.split(", ")]
    return {value for end in ends for value in range(end[0], end[-1] + 1)}


def read_off(lines: list[tuple[str, str]], draws: tuple[str, str]) -> dict[int, set[int]]:
    """Read a table of drawing rules on the rules page as a person would. `lines` are its rows: the totals of a hand,
    and what that hand does. `draws` are the page's words for drawing.

    Return for each total the points of the opposite hand's third card on which the hand draws.
    """
    found: dict[int, set[int]] = {}
    for totals, does in lines:
        on: set[int] = set()
        for clause in does.split("; "):
            if clause == draws[0]:
                on = {*range(10)}
            elif clause.startswith(draws[1]):
                on = values_of(re.sub("^[^0-9]+", "", clause))
        found |= dict.fromkeys(values_of(totals), on)
    return found


_TABLES = ("player", "banker", "banker_stood", "banker_drew")


def read_otherwise(rules: TableRules, picture: Picture, language: str) -> list[str]:
    """Return every situation of a round in which a person who follows the rules page would not do what the drawing
    rules `picture` say. A row of naturals that the rules page lacks is returned too."""
    said = words(language)
    titles = (said["help"]["part"][f"draws_{each}"]["title"] for each in _TABLES)
    lines, draws = drawn(rules, language), (said["draws"]["draw"], said["draws"]["draw_on"])
    player, blind, stood, drew = (read_off(lines.get(title, []), draws) for title in titles)
    found = []
    for hand, (_, other) in positions():
        if max(hand[1], other) >= len(picture.player) or bool(player[hand[1]]) != (len(hand) == 3):
            continue  # a natural; or Player is still to draw, or has a card that he never draws
        on = (blind or (drew if len(hand) == 3 else stood))[other]
        reads = hand[2] in on if len(hand) == 3 else bool(on)
        if picture.next(hand, (0, other)) != ("banker" if reads else None):
            found.append(f"{hand} {other}")
    naturals = numbers(range(len(picture.player), 10))
    alone = re.compile(rf"(?<![\d–]){naturals}(?![\d–])")
    if naturals and not any(alone.search(part.text) for part in parts_of(placard_of(rules), language)):
        found.append(f"naturals {naturals}")
    return found


@pytest.mark.parametrize(
    ("seed", "language"), [*product((None, *range(8)), LANGUAGES[:1]), *product((None, 0), LANGUAGES[1:])]
)
def test_whoever_reads_the_rules_page_draws_as_the_file_says(seed: int | None, language: str) -> None:
    """A person who follows the rules page draws exactly when the game's file says so. An earlier version of the page
    gave the usual drawing rules, even for a house that has its own."""
    picture = USUAL if seed is None else at_random(seed)
    assert read_otherwise(with_picture(picture), picture, language) == []


def with_picture(picture: Picture) -> TableRules:
    """Return the rules of a house that uses the drawing rules `picture`."""
    says = picture.section()
    rows = {int(total): tuple(row) for total, row in says.pop("banker_draws_on_third_card").items()}
    tableau = Tableau(**{key: tuple(row) for key, row in says.items()}, banker_draws_on_third_card=rows)
    rules = load(TABLES / "even_draw.toml").rules
    assert isinstance(rules.play, PuntoBanco)
    return replace(rules, play=replace(rules.play, tableau=tableau))


def test_baccarat_royals_page_has_the_drawing_tables_of_its_file() -> None:
    games, rules = TABLES.parent / "games", load(TABLES / "baccarat_royal.toml").rules
    files = (load_game(games / f"baccarat_royal{which}.toml")[0] for which in ("", "_corrected"))
    printed, corrected = (drawn(replace(rules, play=play_of(file)), "en") for file in files)
    stood, drew = "Banker, after Player stood", "Banker, after Player drew"
    assert printed["Player"] == [("0–2", "draws"), ("3–6", "chooses"), ("7", "stands")]
    assert printed[stood] == [("0–2", "draws"), ("3–4", "stands"), ("5–6", "draws"), ("7", "stands")]
    assert printed[drew] == [
        ("0–2", "draws"),
        ("3–4", "chooses on 0–1, 8–9; stands on 2–7"),
        ("5–6", "chooses on 0–3, 8–9; draws on 4–7"),
        ("7", "stands"),
    ]
    assert corrected[stood] == [("0–5", "draws"), ("6–7", "stands")]
    assert corrected[drew][1] == ("3–4", "chooses on 0–1, 8–9; draws on 2–7")


def test_the_page_tells_how_many_players_a_table_with_back_bettors_has() -> None:
    """The rules page says how many players a table with back bettors has. By rule sheet 001 there are 14: seven seated,
    and seven behind them."""
    rules = load(TABLES / "kansas_star.toml").rules
    assert "7 seats, and one more person may bet behind each: 14 players" in parts_told(rules)["Back bettors"]
    fewer = replace(rules, seats=rules.seats[:5])
    assert "5 seats, and one more person may bet behind each: 10 players" in parts_told(fewer)["Back bettors"]


# The house's own words.


def test_a_row_is_told_in_the_houses_own_words() -> None:
    """The page describes a row of a pay table with a sentence of the house's own. An earlier version put the condition
    together word by word, and the page of Lucky 9 had no readable sentence."""
    view = placard_view(placard_of(load(TABLES / "lucky9.toml").rules))
    (hand,) = (board for board in view["pays"] if board["title"]["en"] == "Hand")
    assert [line["when"]["en"] for line in hand["lines"]] == [
        "0, 1 or 2 on three cards, whatever the dealer has",
        "Lucky 9 against the dealer's 9 on two cards",
        "Lucky 9: 9 on two cards, no ten or face card, before any split",
        "9 on three cards against the dealer's Lucky 9",
        "tie",
        "Your hand wins",
    ]
    assert hand["lines"][1]["when"]["vi"] == "Lucky 9, khi người chia có 9 điểm với hai lá"


def test_a_table_of_short_bets_tells_the_rule_before_its_exception() -> None:
    """On the table's screen, what a bet usually pays comes before the exception: `Banker, 1:1` comes before `Banker:
    total 6, 1:2`. On the rules page the exception comes first, because the first line that applies to a round decides
    on that page."""
    sign = placard_of(load(TABLES / "punto_2000.toml").rules)
    short, long = (
        [(line["when"]["en"], line["pays"]["en"]) for line in next(boards(sign.bets, at_length=at_length))["lines"]]
        for at_length in (False, True)
    )
    rule, exception = ("Banker", "1:1"), ("Banker wins, total 6", "1:2")
    assert short.index(exception) == short.index(rule) + 1
    assert long.index(exception) < long.index(rule)


def test_a_bettor_reads_what_a_tie_gives_back_what_is_owed_and_what_counts() -> None:
    """The page says that a tie pushes, which commission is owed later, and which cards count for a bet. It also says
    how much must be wagered on Tie if nothing else is wagered.

    People who did not know the project found these faults in an earlier version. Nothing said that a tie pushes. A
    commission that is owed read as one that is taken off the pay. The side bets' minimum seemed to hold for a wager on
    Tie alone. Lucky 9 Bonus seemed a bet on one's own cards.
    """
    sugarhouse, kansas, royal, nine = (
        placard_view(placard_of(load(TABLES / f"{name}.toml").rules))
        for name in ("sugarhouse", "kansas_star", "royal9", "lucky9")
    )
    for view in (sugarhouse, kansas, royal):
        pays = {line["when"]["en"]: line["pays"]["en"] for line in view["pays"][0]["lines"]}
        assert pays["P, B: tie"] == "push"
        assert pays["Banker"] == ("1:1 less 5%" if view is royal else "1:1, 5% owed")
        limits = {line["label"]["en"]: line["text"]["en"] for line in view["limits"]}
        assert limits.get("Tie alone: at least") == ("$15" if view is sugarhouse else None)
    assert nine["pays"][-1]["title"]["en"] == "Lucky 9 Bonus, with the dealer's up card"
    assert all("tie" not in line["when"]["en"] for line in nine["pays"][0]["lines"])


def test_the_rules_page_tells_at_length_what_the_tables_screen_tells_in_short() -> None:
    sign = placard_of(load(TABLES / "royal9.toml").rules)
    page = unescape(rules_page(sign, LANGUAGES))
    on_the_screen = {line["when"]["en"] for board in placard_view(sign)["pays"] for line in board["lines"]}
    told = {
        "Royal 9": "Royal 9: a face card and a 9",
        "by 9": "wins by 9",
        "natural, by any margin": "wins with a natural, by any margin",
    }
    for short, long in told.items():
        assert short in on_the_screen
        assert f"<td>{long}<td>" in page
    assert "<td>thắng cách 9 điểm<td>" in page


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_rules_page_has_every_row_of_every_bet(path: Path) -> None:
    """The rules page shows every row of every bet's pay table. The page says that a wager is lost if no line fits, so a
    missing row would be wrong. An earlier version lacked the row for a tie, at which Player and Banker push."""
    sign = placard_of(load(path).rules)
    lines = [line["pays"] for board in boards(sign.bets, at_length=True) for line in board["lines"]]
    twins = {bet.spot for bet in sign.bets if bet.spot == "dragon_banker"}
    assert len(lines) == sum(len(bet.rows) for bet in sign.bets if bet.spot not in twins)


def test_a_pair_bets_name_says_all_that_the_tables_screen_tells_of_it() -> None:
    """On the table's screen, the line of a pair bet has only the bet's name. In an earlier version the line read
    "Player Pair: Player: pair"."""
    bets = placard_of(load(TABLES / "pairs.toml").rules).bets
    told = [
        [line["when"]["en"] for board in boards(bets, at_length=long) for line in board["lines"]]
        for long in (False, True)
    ]
    assert "Player Pair" in told[False]
    assert "Perfect Pair: either hand: pair, one suit" in told[False]
    assert "Player Pair: Player: pair" in told[True]


def test_the_page_tells_which_bets_are_made_beside_another() -> None:
    royal9, lucky9, pairs = (placard_of(load(TABLES / f"{name}.toml").rules) for name in ("royal9", "lucky9", "pairs"))
    page = unescape(rules_page(royal9, LANGUAGES))
    assert page.count("<td>Dragon Bonus<td>Player, Banker or Tie") == 1, "on either hand, in a line"
    assert "<td>Royal 9<td>Player, Banker or Tie" in page
    assert "<td>Thưởng Rồng<td>Con, Cái hoặc Hòa" in page
    assert "<td>Tie<td>Hand" in unescape(rules_page(lucky9, ("en",)))
    alone = replace(pairs, bets=tuple(replace(bet, needs=()) for bet in pairs.bets))
    assert words("en")["help"]["beside"] not in rules_page(alone, ("en",))


def test_the_page_tells_of_commission_where_it_is_owed() -> None:
    kansas, royal9 = (load(TABLES / f"{name}.toml").rules for name in ("kansas_star", "royal9"))
    assert "end of the shoe" in parts_told(kansas)["Commission"]
    assert "behind" in parts_told(kansas)["Commission of the bet behind"]
    assert "Commission" not in parts_told(royal9), "it is taken at once"
    alone = replace(kansas, wagers=replace(kansas.wagers, back_bettors=False))
    assert "Commission of the bet behind" not in parts_told(alone)


def test_a_houses_own_words_are_text_and_nothing_else() -> None:
    rules = load(TABLES / "even_draw.toml").rules
    words_ = {"en": "<script>{naturals}</script>", "vi": "&"}
    bets = tuple(replace(bet, rows=tuple(replace(row, words=words_) for row in bet.rows)) for bet in rules.bets)
    page = rules_page(placard_of(replace(rules, bets=bets)), LANGUAGES)
    assert "<script>" not in page
    assert "{naturals}" in page
    assert ": &amp;<td>" in page


def test_the_rules_page_tells_which_wagers_the_table_refuses() -> None:
    """The rules page says which wagers the table refuses. Without that, a bettor could read "$1 – $100", be refused,
    and find no reason on the page."""
    rules = load(TABLES / "sugarhouse.toml").rules
    groups = (("player", "banker"), ("tie", "dragon_player", "no_spot_here"), ("tie", "no_spot_here"))
    wagers = replace(rules.wagers, one_of=groups, tie_only_meets_minimum=True, increment_cents=2500)
    told = parts_told(replace(rules, wagers=wagers))
    assert told["One side"] == "Of these a bettor bets on one alone: Player or Banker; Tie or Dragon Bonus on Player."
    assert told["Tie alone"] == "A bet on Tie, without a bet on Player or Banker beside it, is at least $15."
    assert told["Amounts"] == "Each bet is a multiple of $25, unless it has a single price."
    told = parts_told(
        replace(rules, wagers=replace(wagers, one_of=(), tie_only_meets_minimum=False, increment_cents=1))
    )
    assert told.keys().isdisjoint({"One side", "Tie alone", "Amounts"})


def test_the_rules_page_tells_what_an_award_leaves_of_the_stake() -> None:
    rules = load(TABLES / "grand_fortune.toml").rules
    bets = [replace(bet, awards_return_stake=bet.spot == "fortune_7") for bet in rules.bets]
    told = parts_told(replace(rules, bets=tuple(bets)))
    assert told["Awards"] == "On Grand pairs an award is the whole pay, and the stake does not go back."
    assert told["Awards and the stake"] == "On Fortune 7 the stake goes back with an award."


@pytest.mark.parametrize(
    ("after_split", "told"),
    [
        ("leftmost", "After a split the leftmost hand decides Tie."),
        ("rightmost", "After a split the rightmost hand decides Tie."),
        ("best", "After a split the best of the hands decides Tie."),
    ],
)
def test_the_rules_page_tells_which_split_hand_decides(after_split: Any, told: str) -> None:
    rules = load(TABLES / "lucky9.toml").rules
    bets = [replace(bet, after_split=after_split) if bet.spot == "tie" else bet for bet in rules.bets]
    assert parts_told(replace(rules, bets=tuple(bets)))["Bets after a split"] == told


def test_the_rules_page_tells_how_a_pay_is_rounded() -> None:
    rules = load(TABLES / "sugarhouse.toml").rules
    assert "Rounding" not in parts_told(replace(rules, rounding=Rounding()))
    assert parts_told(replace(rules, rounding=Rounding(25, "down")))["Rounding"] == (
        "What a bet wins is rounded down to a multiple of $0.25."
    )


def test_the_rules_page_tells_of_one_side_back_bettors_and_the_burn_as_the_house_has_them() -> None:
    rules, kansas = load(TABLES / "royal9.toml").rules, load(TABLES / "kansas_star.toml").rules
    assert "One side" in parts_told(rules)
    assert "Back bettors" not in parts_told(rules)
    assert "Back bettors" in parts_told(kansas)
    otherwise = replace(rules, wagers=replace(rules.wagers, one_of=()))
    assert "One side" not in parts_told(otherwise)
    assert "itself" not in parts_told(rules)["Burned cards"]
    counts = replace(rules, shoe=replace(rules.shoe, burn_counts_first_card=True))
    assert "itself among them" in parts_told(counts)["Burned cards"]


def test_a_pay_table_with_several_meters_names_each() -> None:
    """A pay table with several meters names each meter. Without names, awards of two different meters both read "100%
    of progressive"."""
    rules = load(TABLES / "grand_fortune.toml").rules
    grand = next(bet for bet in rules.bets if bet.meters)
    two = replace(grand, rows=(grand.rows[0], replace(grand.rows[1], meter="fortune"), *grand.rows[2:]))
    for bet, paid in (
        (grand, ["100% of grand", "10% of grand"]),
        (two, ["100% of grand", "10% of fortune"]),
        (replace(two, rows=two.rows[:2]), ["100% of grand", "10% of fortune"]),  # too short for a table of its own
    ):
        view = placard_view(placard_of(replace(rules, bets=(bet,))))
        (board,) = view["pays"]
        assert [line["pays"]["en"].lower() for line in board["lines"]][:2] == paid


def test_without_a_table_the_rules_page_has_what_holds_for_every_game() -> None:
    assert "The cards decide" in rules_page(None, ("en",))
    assert "Banker" not in rules_page(None, ("en",))


def test_rows_in_words() -> None:
    assert (
        when_words({"winner": ["banker"], "banker": {"total": [7], "cards": [3]}})["en"] == "Banker wins, 7 on 3 cards"
    )
    assert when_words({"margin": [4, 5, 6]})["en"] == "by 4, 5 or 6"
    won = {"winner": ["player"], "natural": True}
    assert when_words(won, "player")["en"] == "natural"
    assert when_words(won, "player", at_length=True)["en"] == "wins with a natural"
    assert when_words({"winner": ["player"], "margin": [4, 5]}, "player", at_length=True)["en"] == "wins by 4 or 5"
    assert when_words({"winner": ["tie"], "natural": True}, "player", at_length=True)["en"] == "tie, natural"
    assert when_words({"both": {"first_two": [["J", "Q", "K"], ["9"]], "suited": True}})["en"] == (
        "each hand: J, Q or K with 9, one suit"
    )
    assert when_words({"with_up_card": {"ranks": ["3", "3", "3"], "same_suit": True}})["en"] == "3-3-3, all of one suit"
    assert when_words({"banker": {"has": {"of": ["8", "KS"], "times": [2]}}})["en"] == "Banker: 8 or K♠, 2 of them"
    assert when_words({"winner": ["tie", "player"]})["en"] == "Player wins or tie"
    assert when_words({"winner": ["tie", "player"]})["vi"] == "Con thắng hoặc hòa"
    assert when_words({"winner": ["player", "banker"]})["en"] == "Player or Banker wins"
    assert when_words({"winner": ["tie"]})["en"] == "tie"
    assert when_words({})["vi"] == words("vi")["when"]["always"]


# The seats.


def _seats_seen(rules: TableRules) -> bool:
    """Return True if the page can show anything at a seat.

    That may be a wager, if the table can learn of wagers; the king and the nine printed at the seat (K9); or, from the
    end of betting to the end of the round, a hand.
    """
    table = TableUnderTest(rules, wagers={*rules.sensors}).open_shoe("2H 3H 4H")
    if rules.play.roles_play:
        table.do(seats(*table.face.seats), ChooseActives(Actives(player=2, banker=5), "dealer"))
    elif rules.bet_recognition:
        table.do(*wagers(f"1 {'hand' if rules.play.seats_play else 'player'} 1500"))
    sign = placard_of(rules)
    seen = any(seat.k9 for seat in sign.seats)
    if rules.play.seats_play and not rules.bet_recognition:
        return True  # nobody has said that a seat plays
    for cards in ("", "KH", "2C", "9H", "5D"):
        table = table.draw(cards) if cards else table.lock()
        burning = {lamp: pattern.name.lower() for lamp, pattern in lamps(table.face, HEALTHY).items()}
        told_of = hand_view(sign, healthy(table.face, lamps=burning))
        seen |= any(any(seat.values()) for seat in told_of["seats"].values())
        seen |= any(hand["seat"] for hand in told_of["hands"])
    return seen


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_seats_are_on_the_page_where_anything_can_be_told_of_one(path: Path) -> None:
    """The page has a row of seats only if it can say anything about a seat. Each house is tried as it is, and without
    sensors and bet recognition. An earlier version showed a row of seven empty boxes."""
    as_it_stands = load(path).rules
    blind = replace(as_it_stands, bet_recognition=False, sensors=(), sensed=None)
    assert placard_view(placard_of(as_it_stands))["seats_told"], "each of these houses knows wagers"
    assert _seats_seen(as_it_stands)
    assert placard_of(blind).seats_told or not _seats_seen(blind)
    punto_banco = isinstance(as_it_stands.play, PuntoBanco) and not any(seat.k9 for seat in as_it_stands.seats)
    assert placard_of(blind).seats_told is not (punto_banco and not as_it_stands.progressives)


# The hand.


def test_a_hand_from_the_lock_to_its_winner() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock()
    rules, rounds, status = told(table)
    waits = hand_view(rules, status)["waits"]
    assert (waits["en"], waits["vi"], waits["zh-Hant"]) == ("Next card: Player", "Lá tiếp theo: Con", "下一張牌：閒")
    table.draw("9H 2C KS 5D")
    rules, rounds, status = told(table)
    view = hand_view(rules, status)
    player, banker = view["hands"]
    assert (player["cards"], player["total"], player["natural"], player["won"]) == (["9H", "KS"], 9, True, True)
    assert (banker["total"], banker["won"]) == (7, False)
    assert view["waits"]["en"] == "Player wins. Place your wagers"
    assert shoe_view(rounds)["beads"] == [[0, 0, "player", False, False]]
    assert shoe_view(rounds)["counts"]["natural"] == 1


def test_the_last_shoes_roads_stay_until_the_first_card_of_the_next() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("KH 2C 9H 5D")

    def shown(before: Rounds | None) -> Rounds:
        _, rounds, status = told(table)
        return shown_rounds(rounds, before, status)

    before = shown(None)
    assert before.hands
    table.new_shoe_by_supervisor()
    assert table.face.phase == "first_card_due"
    assert shown(before) == before
    assert shown(None).hands == (), "a screen that was started meanwhile knows of none"
    table.draw("2H")
    assert shown(before).hands == ()


def test_a_seats_mark_says_what_became_of_its_wagers() -> None:
    table = TableUnderTest(SUGARHOUSE_MIDI).open_shoe("2H 3H 4H")
    table.do(*wagers("3 player 2000, 5 banker 2500")).lock().draw("9H 2C KS 5D")
    assert hand_view(told(table)[0], told(table)[2])["seats"][3]["result"] is None
    table.do(call("reveal"))
    seats = hand_view(told(table)[0], told(table)[2])["seats"]
    assert [seats[seat]["result"] and seats[seat]["result"]["mark"] for seat in (3, 4, 5)] == ["won", None, "lost"]
    assert spoken(seats[3]["result"]["says"], SIDE_BY_SIDE) == {"en": "wins Player", "vi": "thắng Con"}


@pytest.mark.parametrize(
    ("wagered", "cards", "mark", "says"),
    [
        ("3 player 2000, 3 dragon_player 500", "2D QC 3D KS 4C TD", "won", "wins Dragon Bonus +1"),  # 30:1
        ("3 player 2000, 3 royal9 500", "KD QC 9D KS", "won", "wins Royal 9 +1"),  # a meter, whatever its amount
        ("3 royal9 500, 3 banker 9000, 3 dragon_player 500", "KD QC 9D KS", "won", "wins Royal 9 +1"),
        ("3 banker 9000, 3 player 1500, 3 tie 500", "KD QC 9D KS", "lost", "loses"),
        ("3 banker 2000", "KD QC 9D KS", "lost", "loses"),
    ],
)
def test_a_seat_names_the_bet_that_won_most_and_counts_the_others(
    wagered: str, cards: str, mark: str, says: str
) -> None:
    rules = replace(ROYAL9, bet_recognition=True, wagers=replace(ROYAL9.wagers, one_of=()))
    covered = (3,) if "royal9" in wagered else ()
    table = TableUnderTest(rules).open_shoe("2H 3H 4H").do(*wagers(wagered)).lock(*covered).draw(cards)
    seat = hand_view(told(table)[0], told(table)[2])["seats"][3]
    assert (seat["result"]["mark"], seat["result"]["says"]["en"]) == (mark, says)


def test_a_simulated_hand_wins_nothing_and_is_on_no_road() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H 2C KS 5D").draw("8H 2C KS 5D")
    rules, rounds, status = told(table)
    view = hand_view(rules, status)
    assert view["outcome"] is None
    assert [mark["en"] for mark in view["marks"]] == ["Simulated hand: no wagers, no result"]
    assert [hand.simulated for hand in rounds.hands] == [False, True]
    assert shoe_view(rounds)["counts"]["rounds"] == 1


def test_in_midi_the_page_shows_backs_and_who_turns_them() -> None:
    table = TableUnderTest(SUGARHOUSE_MIDI).open_shoe("2H 3H 4H")
    table.do(*wagers("3 player 2000, 5 banker 2500")).lock().draw("9H 2C KS 5D")
    rules, rounds, status = told(table)
    view = hand_view(rules, status)
    said = json.dumps([view, shoe_view(rounds)])
    assert not re.search(r'"[A2-9TJQK][SHDC]"', said), "a card is told"
    player, banker = view["hands"]
    assert (player["cards"], player["total"], player["natural"]) == (["--", "--"], None, False)
    assert player["holder"]["en"] == "Seat 3 turns the cards"
    assert banker["holder"]["vi"] == "Ghế 5 mở bài"
    assert {seat: said["turns"] for seat, said in view["seats"].items() if said["turns"]} == {
        3: ["player"],
        5: ["banker"],
    }
    assert view["waits"]["en"] == "To be turned up: Player and Banker"
    table.do(call("reveal"))
    assert hand_view(told(table)[0], told(table)[2])["outcome"] == "player"


def test_a_stop_is_told_to_players_in_every_language() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H ??")
    rules, _, status = told(table)
    stop = hand_view(rules, status)["stop"]
    assert stop["code"] == "unreadable_card"
    for language, why in stop["why"].items():
        said = words(language)
        assert why == said["join"]["colon"].join((said["stop"]["title"], said["stop"]["unreadable_card"]))
    assert {*stop["why"]} == {*LANGUAGES}
    assert stop["why"]["zh-Hant"].startswith("賭檯暫停："), "Chinese has a colon of its own"


def test_a_hit_names_its_seat_and_amount() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock(2).draw("KH 2C 9H 5D")
    rules, _, status = told(table)
    (hit,) = hand_view(rules, status)["hits"]
    assert (hit["seat"]["en"], hit["tier"]["en"]) == ("Seat 2", "Personal K9, Player")
    assert hit["earlier"] is None
    assert award_cents(rules, "any_royal") == 2500
    assert meters_of(rules) == ["personal_vs_personal", "banker_personal", "player_personal"]
    assert meters_view(rules, status)["cents"]["player_personal"] == 1_000_000


def test_a_win_at_another_table_names_table_meter_amount_and_the_new_base() -> None:
    rules, _, status = told(TableUnderTest(ROYAL9))
    assert meters_view(rules, status)["win"] is None
    win = WinShown(
        "2026-01-01T00:00:00.000Z",
        "royal9-02",
        "royal9-02.1",
        "player_personal",
        "player_personal",
        1_234_500,
        1_000_000,
    )
    said = meters_view(rules, but(status, pit={"win": win}))["win"]
    assert said["en"] == "Won at royal9-02: Personal K9, Player, $12,345. The meter now stands at $10,000"
    assert all("royal9-02" in said[language] and "$12,345" in said[language] for language in LANGUAGES)
    rules, _, status = told(TableUnderTest(load(TABLES / "grand_fortune.toml").rules))
    win = replace(win, award="two_perfect_pairs", tier="two_perfect_pairs", meter="grand")
    said = meters_view(rules, but(status, pit={"win": win}))["win"]
    assert said["en"].startswith("Won at royal9-02: Grand, $12,345."), "named as the meter's own heading"


@pytest.mark.parametrize("step", ["hit", "disputed", *STEPS])
def test_a_hit_says_what_it_waits_for_large_and_at_its_seat(step: str) -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock(2).draw("KH 2C 9H 5D")
    rules, _, status = told(table)
    (hit,) = status.face.hits
    status = but(status, face={"hits": (but(hit, step=step),)})
    view = hand_view(rules, status)
    for language in LANGUAGES:
        assert view["hits"][0]["waits"][language] == words(language)["step"][step]
        assert view["seats"][2]["says"][language] == words(language)["hit_waits"][step]


def test_of_two_hits_of_a_seat_the_one_that_waits_is_told() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock(2).draw("KH 2C 9H 5D")
    rules, _, status = told(table)
    (hit,) = status.face.hits
    status = but(status, face={"hits": (but(hit, step="paid"), but(hit, step="pending"))})
    assert hand_view(rules, status)["seats"][2]["says"]["en"] == "hit: to be verified"


def test_a_hit_of_an_earlier_round_names_its_round_and_its_award_as_the_pay_table_does() -> None:
    """A hit of an earlier round is shown with its round, and its award has the name that the pay table uses. An earlier
    version showed "Two pairs" beside hands without a pair, and the pay table knew no such name."""
    table = TableUnderTest(load(TABLES / "grand_fortune.toml").rules, levels={"grand": 2_000_000, "fortune": 3_000_000})
    table.open_shoe("2H 3H 4H").do(*wagers("1 player 2500, 1 grand_pairs 500")).lock().draw("4H 5C 4S 5D")
    table.lock().draw("9H 2C KS 5D")
    rules, _, status = told(table)
    (hit,) = hand_view(rules, status)["hits"]
    assert hit["tier"]["en"] == "Grand pairs: each hand: pair"
    assert hit["earlier"]["en"] == "in round 1 of shoe 1"


def test_a_closed_bet_is_named_and_its_lines_are_marked() -> None:
    kansas = load(TABLES / "kansas_star.toml").rules
    bets = tuple(
        each if each.spot in ("player", "banker") else replace(each, no_bets_after_round=1) for each in kansas.bets
    )
    of_bets, of_all = replace(kansas, bets=bets), replace(kansas, wagers=replace(kansas.wagers, no_bets_after_round=1))
    views = []
    for rules in (of_bets, of_all):
        table = TableUnderTest(rules).open_shoe()
        assert hand_view(told(table)[0], told(table)[2])["closed"] == []
        table.lock().draw("4S TH 5D 9C")
        views.append(hand_view(told(table)[0], told(table)[2]))
    one, every = views
    assert [spoken(mark, SIDE_BY_SIDE) for mark in one["marks"]] == [
        {
            "en": "Closed in this shoe: Tie, Dragon Bonus",
            "vi": "Hộp bài này không nhận nữa: Hòa, Thưởng Rồng",
        }
    ]
    assert one["waits"]["en"] == "Tie. Place your wagers"
    assert (every["marks"], every["waits"]["en"]) == ([], "Tie. No more wagers in this shoe")
    short, dragon = placard_view(placard_of(of_bets))["pays"]
    assert [line["spots"] for line in short["lines"]] == [["player"], ["banker"], ["tie"], ["player", "banker"]]
    assert dragon["spots"] == ["dragon_player", "dragon_banker"]


def test_at_lucky9_the_finished_round_is_told_as_over() -> None:
    table = TableUnderTest(load(TABLES / "lucky9.toml").rules).open_shoe("2H 3H 4H")
    assert hand_view(told(table)[0], told(table)[2])["waits"]["en"] == "Place your wagers"
    table.do(*wagers("1 hand 2500")).lock().draw("4H 5C 5S 3D").do(call("reveal"))
    rules, _, status = told(table)
    assert hand_view(rules, status)["waits"]["en"] == "Round over. Place your wagers"


def test_the_technicians_page_tells_the_stop_and_what_leaves_it() -> None:
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("9H 2C KS 5D").lock().draw("9H ??")
    rules, _, status = told(table)
    status = but(
        status,
        pit={
            "acked_seq": 3,
            "head_seq": 5,
            "most_unacknowledged": 100,
            "key": {"pinned": None, "forged": {"meters": 2}},
        },
        shoe={"up": False, "why": "unplugged"},
        clock_set=False,
        sensors=(2,),
        inputs=("key",),
        up_s=3700,
    )
    view = technician_view(rules, status, Ages())
    assert status.face.fault is not None
    assert view["fault"]["code"] == "unreadable_card"
    assert f"tablectl card KS --fault {status.face.fault.id} --by NAME" in view["fault"]["exits"]
    assert [(link["name"], link["up"]) for link in view["links"]][:2] == [("Card shoe", False), ("Pit", True)]
    assert (
        "could pass as new" in next(link for link in view["links"] if link["name"] == "Clock" and not link["up"])["why"]
    )
    assert view["facts"]["Events acknowledged"] == "3 of 5"
    assert view["facts"]["Events that wait"] == "2 (100 may wait); the first for 0 s"
    assert (view["waits"], view["inputs"]) == ("Stopped", ["key"])
    assert view["facts"]["Messages refused: not signed by the pit's key"] == "2 on meters"
    shown = {"meter": "player_personal", "here_cents": 1_000_000, "pit_cents": 1_000_000}
    assert (view["meters"][-1], view["meters_refused"]) == (shown, None)
    old = MetersRefused(7, "2026-01-01T00:00:00.000Z", {"player_personal": 900_000}, "it is old")
    refused = technician_view(rules, but(status, pit={"meters_refused": old}), Ages())
    assert refused["meters"][-1] == shown | {"pit_cents": 900_000}, "here and at the pit differ"
    assert "number 7 of 2026-01-01 00:00:00 UTC, is refused: it is old" in refused["meters_refused"]
    assert view["shoe"] == {
        "Shoe": "1, of 8 decks: 416 cards",
        "Turned up and burned at the beginning": "3 cards",
        "Cut card": "to come; its place is 14 cards from the end",
        "Cards left": "407",
        "Last round of the shoe": "to come",
    }
    begun = TableUnderTest(ROYAL9).do(NewShoe()).draw("3H")
    burned = technician_view(rules, but(status, face=told(begun)[2].face), Ages())["shoe"]
    assert burned["Turned up and burned at the beginning"] == "1 card, and 3 to come"
    table.name("2C").draw("KS CUT 5D").lock().draw("9H 2C KS 5D")
    ended = technician_view(rules, but(status, face=told(table)[2].face), Ages())
    assert ended["shoe"]["Cut card"] == "came with 406 cards left; its place is 14 cards from the end"
    assert ended["shoe"]["Last round of the shoe"] == "over"


def test_at_baccarat_royal_the_finished_hands_are_those_of_the_seats_that_played_them() -> None:
    """At Baccarat Royal the page names, at a finished hand, the seat that played the hand. This holds even if the
    loser's role has already moved to another seat."""
    table = TableUnderTest(BACCARAT_ROYAL).open_shoe("2D 3H 4C")
    table.do(seats(1, 2, 4), ChooseActives(Actives(player=1, banker=2), "Smith"))
    table.do(*wagers("1 stake 2000, 2 stake 2000")).lock().draw("KS 9S")
    for dealt in ("", "5D 2C"):
        table.draw(dealt)
        view = hand_view(told(table)[0], told(table)[2])
        assert [hand["holder"]["en"] for hand in view["hands"]] == ["Seat 1", "Seat 2"]
    assert view["outcome"] == "banker"
    assert [seat for seat, said in view["seats"].items() if said["role"]] == [2, 4], "as the next round is played"


@examples(15)
@given(st.lists(st.sampled_from([rank + suit for rank in "A23456789TJQK" for suit in "SHDC"]), min_size=8, max_size=8))
def test_nothing_that_the_pages_are_sent_hangs_on_a_card_that_lies_face_down(dealt: list[str]) -> None:
    """Nothing that a page is sent depends on a card that lies face down. The messages of two rounds with different
    cards are the same, bit by bit, until the cards are turned up."""
    one, other = (_face_down(cards) for cards in (dealt[:4], dealt[4:]))
    assert one == other
    assert not re.search(r'"[A2-9TJQK][SHDC]"', one)


def _face_down(dealt: list[str]) -> str:
    table = TableUnderTest(SUGARHOUSE_MIDI).open_shoe("2H 3H 4H")
    table.do(*wagers("3 player 2000, 5 banker 2500")).lock()
    sent = []
    for card in dealt:
        table.draw(card)
        rules, rounds, status = told(table)
        past = past_view(table.events)
        if past["head"]:
            past["head"] = past["head"] | {"chain": "salted by chance"}
        sent.append([hand_view(rules, status), shoe_view(rounds), meters_view(rules, status), past])
    return json.dumps(sent)


def test_a_bet_with_limits_of_its_own_has_a_line_of_its_own() -> None:
    rules = load(TABLES / "royal9.toml").rules
    own: dict[str, dict[str, Any]] = {
        "tie": {"maximum_cents": 100_000},
        "banker": {"minimum_cents": 2_000, "maximum_cents": 300_000},
    }
    rules = replace(rules, bets=tuple(replace(bet, **own.get(bet.spot, {})) for bet in rules.bets))
    view = placard_view(placard_of(rules))
    assert [(line["label"]["en"], line["text"]["en"]) for line in view["limits"]] == [
        ("Banker", "$20 – $3,000"),
        ("Player", "$15 – $5,000"),
        ("Tie", "$1 – $1,000"),
        ("Other bets", "$1 – $500"),
        ("Royal 9", "$5"),
    ]
