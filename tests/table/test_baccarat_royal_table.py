"""Checks of Baccarat Royal at the table: which seats are active, in which order the table asks for choices and shows
cards, and who gets the money.

The drawing tables themselves are checked in tests/sheets. These tests check how the table uses them.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.game.cards import DECK, Card, total
from controller.rules.game.seating import Actives
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.entry import Ambient, Request
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.seats import ActivesChosen, ChooseActives, LeaveSeat, TakeSeats
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault, NameCard
from controller.table.facts import CardDrawn, ShoeUnplugged
from controller.table.lamps import Pattern, lamps
from controller.table.requests import decide
from tests.support.five_games import HEALTHY, Watched, assert_money_adds_up, call, seats, turns, wager, wagers
from tests.support.samples import examples
from tests.support.tables import BACCARAT_ROYAL, TableUnderTest, cards, hand, house

CARDS = st.sampled_from(DECK)
NAMED = ChooseActives(Actives(player=2, banker=5), "dealer")


def seated(*numbers: int) -> Watched:
    table = Watched(BACCARAT_ROYAL).open_shoe("2D 3H 4C")
    return table.do(seats(*(numbers or (1, 2, 3, 5))))


def locked(bets: str = "2 stake 2000, 5 stake 3000") -> Watched:
    table = seated().do(NAMED)
    return table.do(*wagers(bets)).lock()


# Who is active.


@pytest.mark.parametrize(
    ("acts", "refused"),
    [
        ([], "no_actives"),
        ([seats(2, 5), NAMED, seats(2)], "no_actives"),
        ([seats(2, 5), NAMED, LeaveSeat(5, "dealer")], "no_actives"),
        ([seats(2, 5), NAMED], None),
        ([seats(2, 5), NAMED, seats(2), seats(2, 5)], None),
    ],
    ids=["nobody chosen", "one seat taken away", "one left", "both there", "back again"],
)
def test_no_hand_begins_without_both_active_seats(acts: list[Request], refused: str | None) -> None:
    table = Watched(BACCARAT_ROYAL).open_shoe().do(*acts)
    assert table.ask(LockWagers()) == refused


@pytest.mark.parametrize(
    ("occupied", "actives", "refused"),
    [
        ((), None, "seats_too_few"),
        ((3,), None, "seats_too_few"),
        ((3,), Actives(3, 4), "seats_too_few"),
        ((3, 4), Actives(3, 5), "not_occupied"),
        ((3, 4), Actives(8, 4), "not_occupied"),
        ((3, 4), Actives(4, 3), None),
        ((3, 4), None, None),
    ],
)
def test_the_active_seats_are_two_that_are_occupied(
    occupied: tuple[int, ...], actives: Actives | None, refused: str | None
) -> None:
    table = Watched(BACCARAT_ROYAL).open_shoe().do(seats(*occupied))
    assert table.ask(ChooseActives(actives, "dealer")) == refused


def test_other_games_have_no_active_seats() -> None:
    assert Watched().open_shoe().do(seats(1, 2)).ask(ChooseActives(Actives(1, 2), "dealer")) == "not_this_game"


def test_the_lot_is_journalled_as_what_it_drew_and_every_pair_is_drawn_as_often() -> None:
    table = seated(1, 4, 6)
    drawn: dict[tuple[int, int], int] = {}
    for lot in range(600):
        ambient = Ambient(frozenset(), True, BACCARAT_ROYAL, "0" * 64, "test", lot)
        fact = decide(table.table, ChooseActives(None, "dealer"), ambient)
        assert isinstance(fact, ActivesChosen)
        assert fact.by == "lot"
        pair = (fact.actives.player, fact.actives.banker)
        drawn[pair] = drawn.get(pair, 0) + 1
    assert drawn == dict.fromkeys([(1, 4), (1, 6), (4, 1), (4, 6), (6, 1), (6, 4)], 100)


def test_the_active_seats_are_told_when_wagers_are_locked() -> None:
    (event,) = locked().of_type("wagers_locked")
    assert event["actives"] == {"player": 2, "banker": 5}
    assert locked().face.actives == {"player": 2, "banker": 5}


def test_nobody_comes_or_goes_or_changes_roles_inside_a_hand() -> None:
    table = locked()
    requests: list[Request] = [seats(1, 2), LeaveSeat(1, "dealer"), NAMED]
    assert [table.ask(request) for request in requests] == ["already_locked"] * 3
    table.draw("2S")
    assert [table.ask(request) for request in requests] == ["round_in_play"] * 3


# The roles move on: loser clockwise to the next occupied seat that holds neither; both on a tie.

BANKER_WINS, PLAYER_WINS, TIE = "9S KH 2D KC", "2S KH 9D KC", "9S KH 9D KC"  # Banker's two cards, then Player's


@pytest.mark.parametrize(
    ("occupied", "were", "dealt", "are"),
    [
        ((1, 2, 3, 5), (2, 5), BANKER_WINS, (3, 5)),
        ((1, 2, 3, 5), (2, 5), PLAYER_WINS, (2, 1)),
        ((1, 2, 3, 5), (2, 5), TIE, (3, 1)),
        ((2, 5), (2, 5), BANKER_WINS, (2, 5)),
        ((2, 5), (2, 5), TIE, (5, 2)),
        ((1, 2, 3, 5), (5, 3), BANKER_WINS, (1, 3)),
        ((2, 5, 7), (7, 2), BANKER_WINS, (5, 2)),
    ],
    ids=["player lost", "banker lost", "tie", "nobody to move to", "two swap on a tie", "past the last", "over a role"],
)
def test_the_roles_move_on(occupied: tuple[int, ...], were: tuple[int, int], dealt: str, are: tuple[int, int]) -> None:
    table = seated(*occupied).do(ChooseActives(Actives(*were), "dealer")).lock().draw(dealt)
    assert len(table.of_type("round")) == 1
    assert table.face.actives == {"player": are[0], "banker": are[1]}


@pytest.mark.parametrize(
    ("dealt", "player", "banker"),
    [(BANKER_WINS, "lost", "won"), (PLAYER_WINS, "won", "lost"), (TIE, "half_lost", "half_lost")],
    ids=["banker", "player", "tie"],
)
def test_what_became_of_the_two_hands_is_told_at_the_seats_that_played_them(
    dealt: str, player: str, banker: str
) -> None:
    table = locked().draw(dealt)
    told = [(each.seat, each.hand, each.result) for each in table.face.results]
    assert told == [(2, "player", player), (5, "banker", banker)], "though the roles have moved on"
    assert table.lock().face.results == ()


def test_the_roles_go_on_over_rounds_restarts_and_shoes() -> None:
    table = seated().do(NAMED).lock().draw(BANKER_WINS).lock().draw(PLAYER_WINS).lock().draw(TIE)
    # Player 2, Banker 5; Player lost: 3, 5; Banker lost: 3, 1; a tie: after 3 the next free is 5, after 1 it is 2
    assert table.face.actives == {"player": 5, "banker": 2}
    assert table.replayed() == (table.table, None)


def test_a_new_shoe_keeps_seats_and_roles() -> None:
    table = seated().do(NAMED).lock().draw(BANKER_WINS).do(NewShoe("Smith")).draw("AS 2D")
    assert (table.face.actives, table.face.occupied) == ({"player": 3, "banker": 5}, (1, 2, 3, 5))
    assert table.lock().face.phase == "wagers_locked"
    assert table.replayed() == (table.table, None)


def test_a_void_hand_moves_nobody() -> None:
    table = locked().draw("2S 3H 2D 2C").do(VoidRound("Smith"))
    assert table.face.actives == {"player": 2, "banker": 5}


# The order of the sheet: Player's turn, Banker uncovers, Banker's turn, Player reveals.


def test_a_round_is_told_and_shown_in_the_sheets_order() -> None:
    table = locked("2 stake 2000, 5 stake 3000, 1 banker 1000, 3 tie 500")
    for card, next_hand in zip(["2S", "3H", "2D", "2C"], ("banker", "banker", "player", "player"), strict=True):
        assert table.face.next_hand == next_hand
        table.draw(card)
    assert _shown(table) == (("--", "--"), ("--", "--"))
    assert (table.face.next_hand, table.face.reveal, _choosing(table)) == (None, (), (2, None))
    table.do(call("hit"))
    assert (table.face.next_hand, table.face.next_seat, table.face.choice) == ("player", 2, None)
    table.draw("8S")
    assert (_shown(table), table.face.reveal) == ((("--", "--", "8S"), ("--", "--")), ("banker",))
    table.do(call("reveal"))
    assert _shown(table) == (("--", "--", "8S"), ("2S", "3H"))
    assert _choosing(table) == (5, ("hit", "stand"))
    table.do(call("hit")).draw("4H")
    assert (_shown(table), table.face.reveal) == ((("--", "--", "8S"), ("2S", "3H", "4H")), ("player",))
    assert table.of_type("round") == []
    table.do(call("reveal"))
    (round_,) = table.of_type("round")
    assert (round_["outcome"], round_["player"]["total"], round_["banker"]["total"]) == ("banker", 2, 9)
    results = {(row["seat"], row["spot"]): (row["result"], row["returned_cents"]) for row in _rows(round_)}
    assert results == {
        (2, "stake"): ("lost", 0),
        (5, "stake"): ("won", 5000),
        (1, "banker"): ("won", 2000),
        (3, "tie"): ("lost", 0),
    }


def test_the_seat_that_acts_is_lit() -> None:
    table = locked().draw("2S 3H 2D 2C")
    assert turns(table) == {2}
    table.do(call("stand"))
    assert turns(table) == {5}
    assert lamps(table.face, HEALTHY)["draw_banker"] is Pattern.DOUBLE_FLASH, "his cards are to be turned up"


@pytest.mark.parametrize(
    ("players", "allowed", "not_allowed"),
    [
        ("KS 2D", ["hit"], "stand"),
        ("KS 3D", ["hit", "stand"], None),
        ("KS 6D", ["hit", "stand"], None),
        ("KS 7D", ["stand"], "hit"),
    ],
    ids=["0-2 must draw", "3 is free", "6 is free", "7 stands"],
)
def test_a_call_the_sheet_does_not_allow_is_refused(players: str, allowed: list[str], not_allowed: str | None) -> None:
    for name in allowed:
        table = locked().draw("2S KH").draw(players)
        assert table.ask(call("split")) == "not_an_option"
        assert table.ask(call("reveal")) == "not_an_option"
        assert table.ask(call(name)) is None
    if not_allowed:
        assert locked().draw("2S KH").draw(players).ask(call(not_allowed)) == "not_an_option"


def test_no_call_is_taken_before_the_hole_cards_lie() -> None:
    table = locked().draw("2S 3H 2D")
    assert [table.ask(call(name)) for name in ("hit", "stand", "reveal")] == ["no_call_due"] * 3


def _choosing(table: Watched) -> tuple[int, tuple[str, ...] | None] | None:
    return (table.face.choice.seat, table.face.choice.options) if table.face.choice else None


def _shown(table: Watched) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return hand(table.face, "player").cards, hand(table.face, "banker").cards


def _rows(event: dict[str, object]) -> list[dict[str, object]]:
    settlement = event["settlement"]
    assert isinstance(settlement, dict)
    rows: list[dict[str, object]] = settlement["wagers"]
    return rows


# What lies face down is told to nobody.

QUIET = st.lists(CARDS, min_size=4, max_size=4).filter(lambda four: total(four[:2]) < 8 and total(four[2:]) < 8)


@examples(20)
@given(QUIET, QUIET, st.sampled_from(["", "unreadable", "unplugged", "too soon"]))
def test_hole_cards_tell_nothing_before_players_call(these: list[Card], those: list[Card], mishap: str) -> None:
    """Player's hole cards do not show before Player's call. The choice lamp is lit even if Player has no choice, so
    totals of 0–2, 3–6 and 7 all look the same."""
    tables = []
    for four in (these, those):
        table = locked()
        for card in four[:3]:
            table.draw(str(card))
        if mishap == "unreadable":
            table.draw("??").do(NameCard(four[3], "Smith"))
        elif mishap == "unplugged":
            table.believe(ShoeUnplugged()).do(NameCard(four[3], "Smith"), ClearFault("Smith"))
        else:
            table.draw(str(four[3]))
        if mishap == "too soon":
            table.draw("5D")
            assert table.fault == "choice_due"
        tables.append(table)
    assert tables[0].seen == tables[1].seen
    assert table.fault or _choosing(tables[0]) == (2, None)


PLAYERS = st.lists(CARDS, min_size=2, max_size=2)


@examples(20)
@given(
    st.lists(CARDS, min_size=2, max_size=2).filter(lambda two: total(two) < 8),
    PLAYERS,
    PLAYERS,
    CARDS,
    st.booleans(),
    st.booleans(),
)
def test_players_hole_cards_tell_nothing_until_he_reveals(
    bankers: list[Card], these: list[Card], those: list[Card], third: Card, hits: bool, banker_hits: bool
) -> None:  # fmt: skip
    """Until Player reveals, an onlooker sees no difference between two different hands of Player, even if their totals
    allow different choices."""
    allowed = (0, 1, 2, 3, 4, 5, 6) if hits else (3, 4, 5, 6, 7)
    if total(these) not in allowed or total(those) not in allowed:
        return
    tables = []
    for two in (these, those):
        table = locked("2 stake 2000, 5 stake 3000, 1 tie 1000")
        for card in (*bankers, *two):
            table.draw(str(card))
        table.do(call("hit" if hits else "stand"))
        if hits:
            table.draw(str(third))
        table.do(call("reveal"))
        if table.face.choice is not None:
            table.do(call("hit" if banker_hits else "stand"))
        if table.face.next_hand == "banker":
            table.draw("4H")
        assert (table.face.reveal, table.of_type("round")) == (("player",), [])
        tables.append(table)
    assert tables[0].seen == tables[1].seen


@examples(20)
@given(QUIET, QUIET)
def test_bankers_hole_cards_tell_nothing_while_player_decides(these: list[Card], those: list[Card]) -> None:
    tables = []
    for two in (these, those):
        table = locked()
        for card in two[:2]:
            table.draw(str(card))
        tables.append(table.draw("2D 2C").do(call("hit")).draw("8S"))
    assert tables[0].seen == tables[1].seen
    assert tables[0].face.reveal == ("banker",)


def test_a_natural_turns_everything_over_at_once() -> None:
    table = locked().draw("9S KH 2D KC")
    (round_,) = table.of_type("round")
    assert (round_["natural"], round_["outcome"]) == (True, "banker")
    assert _shown(table) == (("2D", "KC"), ("9S", "KH"))


def test_an_impossible_hole_card_is_not_named() -> None:
    table = Watched(house(BACCARAT_ROYAL, decks=1)).open_shoe("2D 3H 4C").do(seats(2, 5), NAMED).lock().draw("2S 2D")
    assert (table.fault, table.details) == ("impossible_card", {"where": "banker"})


# Mistakes at the table.


def test_a_card_before_the_choice_waits_and_counts_as_a_hit_where_it_may() -> None:
    table = locked().draw("2S 3H 2D 2C 8S")
    assert (table.fault, table.exits) == ("choice_due", {"clear", "void"})
    assert [table.ask(call(name)) for name in ("hit", "stand", "reveal")] == ["fault_stands"] * 3
    table.clear()
    assert (_shown(table)[0], table.face.reveal, table.fault) == (("--", "--", "8S"), ("banker",), None)
    assert table.replayed() == (table.table, None)


def test_a_card_before_the_choice_of_a_seat_that_must_stand_is_burned() -> None:
    table = locked().draw("2S 3H 2D 5C 8S")
    left = table.face.cards_left
    table.clear()
    assert (_shown(table)[0], _choosing(table), table.face.cards_left) == (("--", "--"), (2, None), left)
    assert table.do(call("stand")).face.reveal == ("banker",)


def test_two_cards_before_the_choice_are_asked_about_one_after_the_other() -> None:
    table = locked().draw("2S 3H 2D 2C 8S 4H").clear()
    assert (_shown(table)[0], table.face.reveal, table.fault) == (("--", "--", "8S"), ("banker",), None)
    table.do(call("reveal"))
    assert table.fault == "choice_due", "the second is Banker's, if he wants it"
    table.clear()
    assert _shown(table)[1] == ("2S", "3H", "4H")


def test_a_card_before_bankers_reveal_waits_for_it() -> None:
    table = locked().draw("2S KH 2D 2C").do(call("stand")).draw("4H")
    assert (table.fault, _shown(table)[1]) == (None, ("--", "--"))
    table.do(call("reveal"))
    assert (_shown(table)[1], table.face.reveal) == (("2S", "KH", "4H"), ("player",)), "on 2 he must draw"


@pytest.mark.parametrize("plays", [0, 2, 4, 6, 7])
def test_a_void_returns_every_stake_and_wager(plays: int) -> None:
    table = locked("2 stake 2000, 5 stake 3000, 1 banker 1000, 3 tie 500")
    for play in ["2S", "3H", "2D", "2C", "hit", "8S", "reveal"][:plays]:
        table.do(call(play)) if play.islower() else table.draw(play)
    table.do(VoidRound("Smith"))
    (void,) = table.of_type("void")
    assert {row["result"] for row in _rows(void)} == {"returned"}
    assert sum(int(str(row["returned_cents"])) for row in _rows(void)) == 6500
    assert_money_adds_up(void)
    assert table.face.phase == "wagers_open"


def test_a_card_drawn_in_error_is_burned() -> None:
    table = seated().do(NAMED).draw("9S")
    assert (table.face.phase, table.face.hands, table.face.cards_left) == ("wagers_open", (), 416 - 4)


# Any shoe, any choices.


@examples(20)
@given(
    st.lists(CARDS, min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=2, max_size=2),
    st.tuples(st.integers(5, 1000), st.integers(5, 1000)),
    st.lists(st.tuples(st.sampled_from(["player", "banker", "tie"]), st.integers(5, 200)), min_size=2, max_size=2),
)
def test_money_is_conserved_and_the_hand_is_as_the_sheet_has_it(
    six: list[Card], hits: list[bool], stakes: tuple[int, int], guesses: list[tuple[str, int]]
) -> None:
    table = locked(f"2 stake {stakes[0]}00, 5 stake {stakes[1]}00")
    table.do(VoidRound("Smith"))
    for seat, cents in zip((2, 5), stakes, strict=True):
        table.do(wager(f"{seat} stake {cents}00"))
    for seat, (spot, dollars) in zip((1, 3), guesses, strict=True):
        table.do(wager(f"{seat} {spot} {dollars}00"))
    table.lock()
    coming = iter(six)
    drawn: list[Card] = []
    decisions = iter(hits)
    while not table.of_type("round"):
        if table.face.reveal:
            table.do(call("reveal"))
        elif table.face.choice is not None:
            wish = "hit" if next(decisions) else "stand"
            if table.ask(call(wish)) is not None:
                table.do(call("stand" if wish == "hit" else "hit"))
        else:
            drawn.append(next(coming))
            table.believe(CardDrawn(drawn[-1]))
    (round_,) = table.of_type("round")
    on_felt = [
        *round_["banker"]["cards"][:2],
        *round_["player"]["cards"][:2],
        *round_["player"]["cards"][2:],
        *round_["banker"]["cards"][2:],
    ]
    assert on_felt == list(map(str, drawn)), "every card drawn lies where the sheet puts it"
    assert table.face.cards_left == 416 - 3 - len(drawn)
    assert_money_adds_up(round_)
    by_spot = {(row["seat"], row["spot"]): row for row in round_["settlement"]["wagers"]}
    played = 100 * min(stakes)
    back = [by_spot[2, "stake"]["returned_cents"], by_spot[5, "stake"]["returned_cents"]]
    whole = [100 * cents for cents in stakes]
    if round_["outcome"] == "tie":
        assert back == [cents - played // 2 for cents in whole], "each loses half of what plays to the house"
    else:
        winner = 0 if round_["outcome"] == "player" else 1
        assert back[winner] == whole[winner] + played
        assert back[1 - winner] == whole[1 - winner] - played
    for seat, (spot, dollars) in zip((1, 3), guesses, strict=True):
        returned = by_spot[seat, spot]["returned_cents"]
        if spot == round_["outcome"]:
            assert returned == 100 * dollars * (9 if spot == "tie" else 2)
        else:
            assert returned == (100 * dollars if round_["outcome"] == "tie" else 0)
    assert table.replayed() == (table.table, None)


def test_a_correction_of_the_last_round_moves_the_roles_as_it_should_have() -> None:
    table = TableUnderTest(BACCARAT_ROYAL).open_shoe()
    table.do(TakeSeats((1, 2, 3), "test"), ChooseActives(Actives(player=2, banker=1), "test"), LockWagers())
    table.draw("9S KH 2D KC")  # Banker's 9, Player's 2
    assert table.face.actives == {"player": 3, "banker": 1}
    table.do(CorrectRound(1, tuple(cards("9D KC")), tuple(cards("2S KH")), "Smith", "Jones"))
    assert table.face.actives == {"player": 2, "banker": 3}
