"""Checks the game Baccarat Royal: the drawing rules as the rule sheet prints them, which cards stay hidden, which seat
decides next, and who is paid."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.game.baccarat_royal import BaccaratRoyal, BankerRow, Step
from controller.rules.game.cards import DECK, Card
from controller.rules.game.hands import Outcome, TwoHands, as_it_lies
from controller.rules.game.play import Call, Choose, Draw, Play, Reveal
from controller.rules.game.seating import Actives, Seating, TieMoves, WinMoves, drawn_actives, next_actives
from tests.support.bets import bet, bets_of, decided
from tests.support.each import each
from tests.support.samples import examples
from tests.support.tables import cards

GAMES = Path(__file__).parents[2] / "config" / "games"
HIT, STAND, SPLIT, REVEAL = Call.HIT, Call.STAND, Call.SPLIT, Call.REVEAL
ACTIVES = Actives(player=2, banker=5)
SEATING = Seating(actives=ACTIVES)
TOTALS = range(10)
OPTIONS: dict[str, tuple[Call, ...]] = {"D": (HIT,), "S": (STAND,), "c": (HIT, STAND)}

# The sheet's drawing tables. D draws, S stands, c has free choice.
PLAYER = "DDDccccS"  # by the sum of Player's hole cards, 0 to 7
BANK_AS_PRINTED = [
    # by the value of Player's third card, then | Player stood
    # 0123456789
    "DDDDDDDDDD|D",  # Banker has 0
    "DDDDDDDDDD|D",  # 1
    "DDDDDDDDDD|D",  # 2
    "ccSSSSSScc|S",  # 3
    "ccSSSSSScc|S",  # 4
    "ccccDDDDcc|D",  # 5
    "ccccDDDDcc|D",  # 6
    "SSSSSSSSSS|S",  # 7
]
BANK_CORRECTED = [
    "DDDDDDDDDD|D",
    "DDDDDDDDDD|D",
    "DDDDDDDDDD|D",
    "ccDDDDDDcc|D",
    "ccDDDDDDcc|D",
    "ccccDDDDcc|D",
    "ccccDDDDcc|S",
    "SSSSSSSSSS|S",
]
BANK = {"baccarat_royal": BANK_AS_PRINTED, "baccarat_royal_corrected": BANK_CORRECTED}


def game_file(name: str) -> dict[str, Any]:
    return tomllib.loads((GAMES / f"{name}.toml").read_text("utf-8"))


def game_of(name: str) -> BaccaratRoyal:
    rows = game_file(name)["baccarat_royal"]
    tuples = {key: tuple(value) for key, value in rows.items() if isinstance(value, list) and key != "banker"}
    banker = tuple(
        BankerRow(**row | {"hole_cards": tuple(row["hole_cards"]), "free_choice_on": tuple(row["free_choice_on"])})
        for row in rows["banker"]
    )
    return BaccaratRoyal(**rows | tuples | {"banker": banker})


PRINTED = game_of("baccarat_royal")


def worth(points: int) -> Card:
    return Card.parse("TA23456789"[points] + "S")


def two_cards(total: int) -> list[Card]:
    """Return two cards that add up to the total: an ace and a card that makes up the rest. Example: 9 is A and 8, and 0
    is A and 9."""
    return [worth(1), worth((total - 1) % 10)]


def hole_cards(player: int, banker: int) -> list[Play]:
    return [*two_cards(banker), *two_cards(player)]


def script(text: str) -> list[Play]:
    """Parse the course of a round from text: cards such as "KS", and the calls hit, stand, split and reveal, in the
    order in which they came."""
    return [Card.parse(word) if word[0].isupper() or word[0].isdigit() else Call(word) for word in text.split()]


def step(plays: list[Play], game: BaccaratRoyal = PRINTED) -> Step:
    return game.next_step(SEATING, plays)


def refuses(plays: list[Play], *illegal: Play, game: BaccaratRoyal = PRINTED) -> None:
    """Check that the game refuses each of the cards or calls in `illegal` after `plays`, with an error that names no
    card."""
    for play in illegal:
        for ask in (game.next_step, game.laid):
            with pytest.raises(ValueError, match=r"^(a card|the call [a-z]+) was not due$"):
                ask(SEATING, [*plays, play])


# The drawing tables.


@each("game_name, banker, player", product(BANK, TOTALS, TOTALS))
def test_every_round_follows_the_drawing_tables(game_name: str, banker: int, player: int) -> None:
    game, plays = game_of(game_name), hole_cards(player, banker)
    if player > 7 or banker > 7:
        ends(game, plays, player, banker, natural=True)
        return
    options = OPTIONS[PLAYER[player]]
    assert step(plays, game) == Choose("player", ACTIVES.player, options, secret=True)
    refuses(plays, *{HIT, STAND, SPLIT, REVEAL} - set(options), worth(5), game=game)
    on_third_card, _, on_stand = BANK[game_name][banker].partition("|")
    if STAND in options:
        bank_acts(game, [*plays, STAND], player, banker, on_stand)
    if HIT in options:
        assert step([*plays, HIT], game) == Draw("player", ACTIVES.player)
        for third in TOTALS:
            bank_acts(game, [*plays, HIT, worth(third)], (player + third) % 10, banker, on_third_card[third])


def bank_acts(game: BaccaratRoyal, plays: list[Play], player: int, banker: int, letter: str) -> None:
    """Check the next steps after these cards and calls. First Banker's two cards are turned up. Then Banker draws,
    stands or chooses freely. `letter` is the cell of the rule sheet's grid that says which of the three is right.
    `player` and `banker` are the totals."""
    assert step(plays, game) == Reveal(("banker",))
    plays = [*plays, REVEAL]
    if letter == "c":
        assert step(plays, game) == Choose("banker", ACTIVES.banker, (HIT, STAND), secret=False)
        refuses(plays, SPLIT, REVEAL, worth(5), game=game)
        player_reveals(game, [*plays, STAND], player, banker)
        bank_draws(game, [*plays, HIT], player, banker)
    elif letter == "D":
        bank_draws(game, plays, player, banker)
    else:
        player_reveals(game, plays, player, banker)


def bank_draws(game: BaccaratRoyal, plays: list[Play], player: int, banker: int) -> None:
    assert step(plays, game) == Draw("banker", ACTIVES.banker)
    refuses(plays, *Call, game=game)
    for third in TOTALS:
        player_reveals(game, [*plays, worth(third)], player, (banker + third) % 10)


def player_reveals(game: BaccaratRoyal, plays: list[Play], player: int, banker: int) -> None:
    assert step(plays, game) == Reveal(("player",))
    ends(game, [*plays, REVEAL], player, banker, natural=False)


def ends(game: BaccaratRoyal, plays: list[Play], player: int, banker: int, *, natural: bool) -> None:
    """Check that the round is over after these cards and calls, with these totals and the outcome that follows from
    them."""
    done = step(plays, game)
    assert isinstance(done, TwoHands)
    assert (done.player_total, done.banker_total, done.natural) == (player, banker, natural)
    if player == banker:
        assert done.outcome is Outcome.TIE
    else:
        assert done.outcome is (Outcome.PLAYER if player > banker else Outcome.BANKER)


@pytest.mark.parametrize("game_name", BANK)
def test_the_grids_say_what_the_sheets_sentences_say(game_name: str) -> None:
    """The grids of letters in this test file agree with the rule sheet's own column of free choices. So a mistake in
    copying a grid from the sheet would be found."""
    free = {3: "0189", 4: "0189", 5: "012389", 6: "012389"}
    for banker, row in enumerate(BANK[game_name]):
        assert {str(value) for value in TOTALS if row[value] == "c"} == set(free.get(banker, ""))


def test_after_the_end_nothing_more_is_played() -> None:
    refuses(script("KS 9H 2D 3C"), *Call, worth(5))
    refuses(script("KS 7H 2D 5C stand reveal reveal"), *Call, worth(5))


def test_a_call_is_no_hole_card() -> None:
    for dealt in ("", "KS", "KS 7H", "KS 7H 2D"):
        refuses(script(dealt), *Call)


def test_only_the_reveal_ends_a_reveal() -> None:
    refuses(script("KS 4H 2D 5C stand"), HIT, STAND, SPLIT, worth(5))
    refuses(script("KS 7H 2D 5C stand reveal"), HIT, STAND, SPLIT, worth(5))


# The order of dealing, and what lies hidden.


@pytest.mark.parametrize(
    ("deal_order", "hands"),
    [
        ("banker_first", "banker banker player player"),
        ("player_first", "player player banker banker"),
        ("alternating", "player banker player banker"),
    ],
)
def test_hole_cards_come_in_the_houses_order(deal_order: Any, hands: str) -> None:
    game = replace(PRINTED, deal_order=deal_order)
    dealt = script("2S 3H KD TC")
    assert [step(dealt[:n], game) for n in range(4)] == [Draw(hand, face_down=True) for hand in hands.split()]
    lies = {hand.hand: list(hand.cards) for hand in game.laid(SEATING, dealt)}
    for name in ("player", "banker"):
        assert lies[name] == [card for card, hand in zip(dealt, hands.split(), strict=True) if hand == name]


@pytest.mark.parametrize(
    ("plays", "player", "banker"),
    [
        # plays so far; how each hand lies, a card face down as ##
        ("", "", ""),
        ("4S", "", "##"),
        ("4S JH", "", "## ##"),
        ("4S JH 2D", "##", "## ##"),
        ("4S JH 2D 3C", "## ##", "## ##"),
        ("4S JH 2D 3C hit", "## ##", "## ##"),
        ("4S JH 2D 3C hit 9C", "## ## 9C", "## ##"),
        ("4S JH 2D 3C hit 9C reveal", "## ## 9C", "4S JH"),
        ("4S JH 2D 3C hit 9C reveal hit", "## ## 9C", "4S JH"),
        ("4S JH 2D 3C hit 9C reveal hit 5D", "## ## 9C", "4S JH 5D"),
        ("4S JH 2D 3C hit 9C reveal hit 5D reveal", "2D 3C 9C", "4S JH 5D"),
        ("4S JH 2D 3C stand", "## ##", "## ##"),
        ("4S JH 2D 3C stand reveal", "## ##", "4S JH"),
        ("4S JH 2D 3C stand reveal reveal", "2D 3C", "4S JH"),
        ("4S JH KD 9C", "KD 9C", "4S JH"),  # a natural of either: both are turned over at once
        ("4S 4H KD 2C", "KD 2C", "4S 4H"),
        ("4S 4H KD", "##", "## ##"),  # but not before the fourth card
        ("KS 9H KD", "##", "## ##"),
    ],
)
def test_cards_lie_face_down_until_they_are_revealed(plays: str, player: str, banker: str) -> None:
    lies = PRINTED.laid(SEATING, script(plays))
    shown = [
        " ".join("##" if down else str(card) for card, down in zip(hand.cards, hand.face_down, strict=True))
        for hand in lies
    ]
    assert [(hand.hand, hand.seat) for hand in lies] == [("player", 2), ("banker", 5)]
    assert shown == [player, banker]


def test_the_end_has_each_sides_cards_in_the_order_dealt() -> None:
    done = step(script("4S JH 2D 3C hit 9C reveal hit 5D reveal"))
    assert done == TwoHands(tuple(cards("2D 3C 9C")), tuple(cards("4S JH 5D")), Outcome.BANKER, natural=False)


def test_nine_on_three_cards_is_not_a_natural() -> None:
    done = step(script("7S JH 2D 3C hit 4C reveal reveal"))
    assert done == TwoHands(tuple(cards("2D 3C 4C")), tuple(cards("7S JH")), Outcome.PLAYER, natural=False)


def test_while_players_hole_cards_are_hidden_only_his_secret_choice_depends_on_them() -> None:
    """The table's next step does not depend on Player's face-down cards: with the same visible cards, the step is the
    same. There is one exception: the options of Player's own choice, which the table does not show, may depend on them.
    """
    after_hit = [
        [step([*hole_cards(player, 5), HIT, worth(4), *more]) for player in range(7)] for more in ((), [REVEAL])
    ]
    after_stand = [[step([*hole_cards(player, 5), STAND, *more]) for player in range(3, 8)] for more in ((), [REVEAL])]
    for steps in (*after_hit, *after_stand):
        assert len(set(steps)) == 1
    turns = [step(hole_cards(player, 5)) for player in range(8)]
    assert {(turn.hand, turn.seat, turn.secret) for turn in turns if isinstance(turn, Choose)} == {("player", 2, True)}
    assert all(isinstance(turn, Choose) for turn in turns)


@examples(67)
@given(st.data())
def test_any_round_keeps_its_cards_and_its_secrets(data: st.DataObject) -> None:
    """With any shoe and any choices of the players, each card lies in exactly one place, and a hand's first two cards
    are not shown before the hand is revealed."""
    game = replace(
        game_of(data.draw(st.sampled_from(sorted(BANK)))),
        deal_order=data.draw(st.sampled_from(["banker_first", "player_first", "alternating"])),
    )
    shoe = data.draw(st.permutations(DECK))
    plays: list[Play] = []
    revealed: set[str] = set()
    drawn: list[Card] = []
    while not isinstance(now := game.next_step(SEATING, plays), TwoHands):
        match now:
            case Draw(hand=hand):
                refuses(plays, *Call, game=game)
                before = {lies.hand: lies.cards for lies in game.laid(SEATING, plays)}
                plays.append(shoe[len(drawn)])
                drawn.append(shoe[len(drawn)])
                after = {lies.hand: lies.cards for lies in game.laid(SEATING, plays)}
                assert after == before | {hand: (*before[hand], drawn[-1])}
            case Choose(options=options):
                refuses(plays, *set(Call) - set(options), shoe[-1], game=game)
                plays.append(data.draw(st.sampled_from(options)))
            case Reveal(hands=hands):
                refuses(plays, *set(Call) - {REVEAL}, shoe[-1], game=game)
                plays.append(REVEAL)
                revealed |= set(hands)
        over = isinstance(game.next_step(SEATING, plays), TwoHands)
        hands_laid = game.laid(SEATING, plays)
        assert Counter(card for lies in hands_laid for card in lies.cards) == Counter(drawn)
        for lies in hands_laid:
            assert len(lies.cards) == len(lies.face_down) <= 3
            hidden = not over and lies.hand not in revealed
            assert lies.face_down == tuple(hidden for _ in lies.cards[:2]) + (False,) * len(lies.cards[2:])
    refuses(plays, *Call, shoe[-1], game=game)
    assert 4 <= len(drawn) <= 6
    assert now.natural == (len(plays) == 4)
    assert Counter(now.player + now.banker) == Counter(drawn)


# The seats that play.

_P, _B, _T = Outcome.PLAYER, Outcome.BANKER, Outcome.TIE


LOST_OR_WON = [
    # occupied  P  B  won  then P, B
    ("1234567", 2, 5, _P, 2, 6),  # Banker lost: his position moves to the left neighbour
    ("1234567", 2, 5, _B, 3, 5),
    ("1234567", 2, 7, _P, 2, 1),  # round the table's end
    ("1234567", 7, 2, _B, 1, 2),
    ("1234567", 2, 3, _B, 4, 3),  # past the other active seat
    ("1234567", 1, 7, _P, 1, 2),
    ("1 34 67", 1, 4, _P, 1, 6),  # past an empty chair
    ("1 34 67", 1, 4, _B, 3, 4),
    ("2  5  7", 2, 5, _P, 2, 7),
    ("2  5  7", 2, 5, _B, 7, 5),
    (" 2  5  ", 2, 5, _P, 2, 5),  # nobody to move to
    (" 2  5  ", 2, 5, _B, 2, 5),
    ("1 3 5 7", 2, 5, _B, 3, 5),  # Player has left his chair: his position moves from there
]
LOSER_TO_NEXT_SEAT = [
    ("1234567", 2, 5, _P, 2, 6),
    ("1234567", 2, 5, _B, 3, 5),
    ("1234567", 4, 5, _B, 5, 4),  # Player 4 lost: Banker sits next to him, and the two change roles
    ("1234567", 5, 4, _P, 4, 5),
    ("1 34 67", 1, 4, _P, 1, 6),  # past an empty chair
    ("2  5  7", 2, 7, _P, 7, 2),  # across the table's end
    (" 2  5  ", 2, 5, _P, 5, 2),
    ("1 3 5 7", 2, 5, _B, 3, 5),  # Player has left his chair: his position moves from there
]
FREE_SEAT_ON_A_TIE = [
    ("1234567", 2, 5, _T, 3, 6),  # a tie moves both
    ("1234567", 7, 4, _T, 1, 5),
    ("12   67", 6, 2, _T, 7, 1),  # Banker 2 passes 6, and the 7 that Player takes from 6
    ("1234567", 2, 3, _T, 5, 4),  # side by side: both look at 4, Banker 3 is nearer, Player takes the one after
    ("1234567", 3, 2, _T, 4, 5),  # the same the other way round
    ("1234567", 7, 1, _T, 3, 2),  # and across the table's end
    ("1234567", 1, 7, _T, 2, 3),
    ("2  5  7", 2, 5, _T, 2, 7),  # one seat free, both look at it: the nearer has it, the other stays
    ("2  5  7", 5, 2, _T, 7, 2),
    ("2  5  7", 2, 7, _T, 5, 7),
    (" 2  5  ", 2, 5, _T, 2, 5),
]
NEXT_SEAT_ON_A_TIE = [
    ("   456 ", 4, 5, _T, 5, 6),  # Player takes the seat that Banker is just leaving
    ("   456 ", 5, 4, _T, 6, 5),
    ("   456 ", 5, 6, _T, 6, 4),  # and round the table's end
    ("1234567", 2, 5, _T, 3, 6),
    ("1 34 67", 1, 4, _T, 3, 6),  # past an empty chair
    (" 2  5  ", 2, 5, _T, 5, 2),  # two who sit there swap
    (" 2 4 6 ", 3, 2, _T, 4, 6),  # Player has left his chair, and both come to 4: Banker takes the one after
    ("  3 5  ", 2, 5, _T, 3, 5),  # he stays where there is none
]
_SEAT_AND_MOVE = [
    *(("loser_to_free_seat", on_tie, *row) for row in LOST_OR_WON for on_tie in get_args(TieMoves)),
    *(("loser_to_next_seat", on_tie, *row) for row in LOSER_TO_NEXT_SEAT for on_tie in get_args(TieMoves)),
    *((on_win, "free_seat", *row) for row in FREE_SEAT_ON_A_TIE for on_win in get_args(WinMoves)),
    *((on_win, "next_seat", *row) for row in NEXT_SEAT_ON_A_TIE for on_win in get_args(WinMoves)),
    # By "both" a win moves the roles just as a tie does; by "nowhere" neither does.
    *(("both", "free_seat", *row[:3], won, *row[4:]) for row in FREE_SEAT_ON_A_TIE for won in (_P, _B)),
    *(("both", "next_seat", *row[:3], won, *row[4:]) for row in NEXT_SEAT_ON_A_TIE for won in (_P, _B)),
    ("loser_to_free_seat", "nowhere", "1234567", 2, 5, _T, 2, 5),
    ("both", "nowhere", "1234567", 2, 5, _P, 2, 5),
]


@each("on_win, on_tie, occupied, player, banker, won, then_player, then_banker", _SEAT_AND_MOVE)
def test_the_losers_position_moves_clockwise(
    on_win: WinMoves,
    on_tie: TieMoves,
    occupied: str,
    player: int,
    banker: int,
    won: Outcome,
    then_player: int,
    then_banker: int,
) -> None:
    seats = [int(seat) for seat in occupied if seat != " "]
    for order in (seats, seats[::-1], frozenset(seats)):
        assert next_actives(Actives(player, banker), won, order, on_win, on_tie) == Actives(then_player, then_banker)


@given(st.sets(st.integers(1, 9), min_size=2), st.data())
def test_a_position_only_ever_moves_to_an_occupied_seat_that_held_neither(
    occupied: set[int], data: st.DataObject
) -> None:
    player, banker = data.draw(st.permutations(sorted(occupied)))[:2]
    won = data.draw(st.sampled_from(Outcome))
    after = next_actives(Actives(player, banker), won, occupied, "loser_to_free_seat", "free_seat")
    losers = {_P: {"banker"}, _B: {"player"}, _T: {"player", "banker"}}[won]
    moved = {role for role, seat in (("player", player), ("banker", banker)) if getattr(after, role) != seat}
    assert moved <= losers
    assert len(moved) == min(len(losers), len(occupied) - 2)
    assert {getattr(after, role) for role in moved} <= occupied - {player, banker}


@given(st.sets(st.integers(1, 9), min_size=2), st.data())
def test_on_a_tie_both_move_one_occupied_seat_on(occupied: set[int], data: st.DataObject) -> None:
    player, banker = data.draw(st.permutations(sorted(occupied)))[:2]
    after = next_actives(Actives(player, banker), _T, occupied, "loser_to_free_seat", "next_seat")
    ring = sorted(occupied) * 2
    assert (after.player, after.banker) == (ring[ring.index(player) + 1], ring[ring.index(banker) + 1])


def test_every_ordered_pair_of_occupied_seats_is_as_likely() -> None:
    lots = [drawn_actives([7, 2, 5], lot) for lot in range(100, 112)]
    pairs = [(2, 5), (2, 7), (5, 2), (5, 7), (7, 2), (7, 5)]
    assert Counter((drawn.player, drawn.banker) for drawn in lots) == dict.fromkeys(pairs, 2)


def test_a_lot_names_the_same_pair_however_the_seats_are_listed() -> None:
    for lot in range(6):
        assert drawn_actives([7, 2, 5], lot) == drawn_actives({2, 5, 7}, lot) == drawn_actives((5, 5, 7, 2), lot)


@pytest.mark.parametrize("occupied", [(), (3,), (3, 3)])
def test_one_seat_cannot_play_itself(occupied: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two seats must be occupied"):
        drawn_actives(occupied, 0)
    with pytest.raises(ValueError, match="both Player and Banker"):
        Actives(3, 3)


# Wagers.


@pytest.mark.parametrize(("outcome", "player", "banker"), [(_P, "1", "lose"), (_B, "lose", "1"), (_T, "half", "half")])
def test_the_actives_play_for_each_others_stake(outcome: Outcome, player: str, banker: str) -> None:
    stake = bet(bets_of("baccarat_royal"), "stake")
    hands = {_P: ("KS 5H", "KS 4H"), _B: ("KS 4H", "KS 5H"), _T: ("KS 5H", "5S KH")}[outcome]
    done = as_it_lies(PRINTED.natural, *map(cards, hands))
    seen = {seat: PRINTED.seen(done, SEATING, seat, (None, ())) for seat in (ACTIVES.player, ACTIVES.banker, 7)}
    assert [decided(stake, *seen[seat]) for seat in seen] == [player, banker, "half" if outcome is _T else "lose"]


# The game files.


@pytest.mark.parametrize("game_name", BANK)
def test_the_files_hold_the_sheets_numbers(game_name: str) -> None:
    file, game = game_file(game_name), game_of(game_name)
    assert (file["kind"], file["sheet"]) == ("baccarat_royal", "002_e04db094ed386872")
    assert set(file) == {"name", "sheet", "kind", "shoe", "baccarat_royal", "wagers", "bets"}
    royal9 = game_file("royal9")["shoe"]
    assert file["shoe"] == royal9 | {"drawn_in_error": "burn"}
    push = {"when": {"winner": "tie"}, "result": "push"}
    assert [(bet["spot"], bet.get("rows")) for bet in file["bets"]] == [
        ("stake", [{"when": {"winner": "own"}, "pays": "1:1"}, {"when": {"winner": "tie"}, "result": "half"}]),
        ("player", [{"when": {"winner": "player"}, "pays": "1:1"}, push]),
        ("banker", [{"when": {"winner": "banker"}, "pays": "1:1"}, push]),
        ("tie", [{"when": {"winner": "tie"}, "pays": "8:1"}]),
    ]
    assert (game.deal_order, game.natural) == ("banker_first", (8, 9))


def test_the_corrected_file_differs_from_the_printed_one_in_the_bankers_table_only() -> None:
    printed, corrected = (game_file(name)["baccarat_royal"] for name in BANK)
    assert printed | {"banker": None} == corrected | {"banker": None}
    assert game_file("baccarat_royal")["name"] != game_file("baccarat_royal_corrected")["name"]


@pytest.mark.parametrize(
    ("totals", "says"),
    [((), "no row for the total 7"), ((7, 7), "two rows for the total 7"), ((7, 8), "a row for 8, a natural")],
)
def test_a_banker_table_without_each_total_below_the_naturals_once_is_refused(totals: Any, says: str) -> None:
    rows = (*PRINTED.banker[:-1], replace(PRINTED.banker[-1], hole_cards=totals))
    with pytest.raises(ValueError, match=says):
        replace(PRINTED, banker=rows)


def test_a_total_that_must_draw_and_may_choose_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be a free choice"):
        replace(PRINTED, player_chooses_on=(2, 3, 4, 5, 6))


def test_a_house_may_leave_banker_the_choice_when_player_stood() -> None:
    rows = tuple(replace(row, player_stood="choose") for row in PRINTED.banker)
    plays = [*hole_cards(6, 4), STAND, REVEAL]
    assert step(plays, replace(PRINTED, banker=rows)) == Choose("banker", ACTIVES.banker, (HIT, STAND))
