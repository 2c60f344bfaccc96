"""Checks of Lucky 9 at the table: each seat plays against the dealer, hands are split, rounds go wrong, and the money
is settled."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card, total
from controller.table.acts.corrections import CorrectRound, CorrectSeatsRound
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.shoe import SeeCutCard
from controller.table.acts.stopped import ClearFault, NameCard
from controller.table.facts import CardDrawn, ShoeUnheard, ShoeUnplugged
from controller.table.lamps import Pattern, lamps
from tests.support.five_games import HEALTHY, Watched, assert_money_adds_up, call, seats, turns, wager, wagers
from tests.support.samples import examples
from tests.support.tables import LUCKY9, TableUnderTest, cards, hand, house

CARDS = st.sampled_from(DECK)


def locked(bets: str = "3 hand 1000", rules: Any = LUCKY9) -> Watched:
    table = Watched(rules).open_shoe("2D 3H 4C")
    return table.do(*wagers(bets)).lock()


def play(table: Watched, script: str) -> Watched:
    """Play the cards and calls of the script in order, such as "4S split 5D"."""
    for word in script.split():
        table.do(call(word)) if word.islower() else table.draw(word)
    return table


def rows(event: dict[str, Any], spot: str = "hand") -> list[tuple[int, int | None, str, int]]:
    return [
        (row["seat"], row["hand"], row["result"], row["returned_cents"])
        for row in event["settlement"]["wagers"]
        if row["spot"] == spot
    ]


# The seats.


def test_seats_with_a_wager_are_dealt_in_turn_and_then_the_dealer() -> None:
    table = locked("5 hand 1000, 2 hand 500, 7 hand 1000")
    dealt = []
    for card in ("2S", "3S", "4S", "5S", "2C", "3C", "4C", "6C"):
        dealt.append((table.face.next_hand, table.face.next_seat))
        table.draw(card)
    turn = [("seat_2", 2), ("seat_5", 5), ("seat_7", 7), ("dealer", None)]
    assert dealt == [*turn, *turn]
    assert hand(table.face, "dealer").cards == ("--", "6C"), "first down, second up"
    assert hand(table.face, "dealer").total is None
    assert [hand(table.face, f"seat_{seat}").total for seat in (2, 5, 7)] == [4, 6, 8]
    (event,) = table.of_type("wagers_locked")
    assert event["in_play"] == [2, 5, 7]


def test_nobody_plays_without_a_wager_on_a_hand() -> None:
    table = Watched(LUCKY9).open_shoe().do(seats(1, 2, 3))
    assert table.ask(LockWagers()) == "no_seats"
    table.do(wager("2 tie 500"))
    assert table.ask(LockWagers()) == "no_seats"
    table.do(wager("2 hand 400"))
    assert table.ask(LockWagers()) == "no_seats", "it is under the minimum, and would be refused"
    table.do(wager("2 hand 500")).lock()


def test_the_lamp_of_the_acting_seat_goes_round_the_table() -> None:
    table = locked("2 hand 1000, 5 hand 1000")
    lit = []
    for word in "2S 3S KD 2C 4C 5D hit TH stand".split():  # noqa: SIM905  # read as it is played
        lit.append(turns(table))
        play(table, word)
    assert lit == [{2}, {5}, set(), {2}, {5}, set(), {2}, {2}, {5}]
    assert (turns(table), table.face.reveal) == (set(), ("dealer",))
    assert lamps(table.face, HEALTHY)["draw_banker"] is Pattern.DOUBLE_FLASH


@pytest.mark.parametrize("nine", ["4S 5D", "9S KD", "TS 9D"], ids=["Lucky 9", "Natural 9", "Natural 9 either way"])
def test_a_nine_on_two_cards_is_asked_nothing(nine: str) -> None:
    first, second = nine.split()
    table = play(locked(), f"{first} 2C {second} 3C")
    assert table.face.reveal == ("dealer",)


def test_all_seven_seats_may_play() -> None:
    table = locked(", ".join(f"{seat} hand 1000" for seat in range(1, 8)))
    play(table, "AS 2S 3S 4S 5S 6S 7S 8S KS KH KD KC QS QH QD QC")
    assert table.face.choice is not None
    assert (table.face.choice.seat, table.face.choice.options) == (1, ("hit", "stand"))
    play(table, "stand " * 7 + "reveal")
    (event,) = table.of_type("round")
    assert [seat for seat, *_ in rows(event)] == list(range(1, 8))
    assert {result for *_, result, _ in rows(event)} == {"lost"}


def _results(table: Watched) -> list[tuple[int, str, str]]:
    return [(each.seat, each.hand, each.result) for each in table.face.results]


# Splits.


def test_a_pair_splits_to_four_hands_and_no_further() -> None:
    table = play(locked(), "4S 2C 4D 3C split 4H split 4C")
    assert _hands(table) == [("4S", "4C"), ("4H",), ("4D",)]
    assert table.face.choice is not None
    assert table.face.choice.options == ("stand", "split")
    play(table, "split AS")
    assert _hands(table) == [("4S", "AS"), ("4C",), ("4H",), ("4D",)], "cards go to the leftmost hand first"
    play(table, "4S")
    assert _hands(table) == [("4S", "AS"), ("4C", "4S"), ("4H",), ("4D",)]
    assert _choosing(table) is None, "four hands: a new pair does not split"
    play(table, "5H KS")
    assert table.face.reveal == ("dealer",)
    play(table, "reveal")
    (event,) = table.of_type("round")
    assert rows(event) == [
        (3, 1, "pushed", 1000),  # 5 against the dealer's 2 and 3
        (3, 2, "won", 2000),  # 8
        (3, 3, "won", 2000),  # a 9 after a split is paid even money
        (3, 4, "lost", 0),  # 4
    ]
    assert event["settlement"]["totals"]["staked_cents"] == 4000
    assert_money_adds_up(event)


def test_no_hand_of_a_split_is_hit() -> None:
    table = play(locked(), "4S 2C 4D 3C split 2H")
    assert table.face.choice is None
    assert table.ask(call("hit")) == "no_call_due"


@pytest.mark.parametrize(
    ("two", "options"),
    [("4S 4D", True), ("KS KD", True), ("KS QD", False), ("TS JD", False), ("4S 5S", None), ("4S 6S", False)],
)
def test_only_two_of_a_rank_split(two: str, options: bool | None) -> None:
    first, second = two.split()
    table = play(locked(), f"{first} 2C {second} 3C")
    if options is None:
        assert _choosing(table) is None
    else:
        assert table.face.choice is not None
        assert table.face.choice.options == (("hit", "stand", "split") if options else ("hit", "stand"))


def _choosing(table: TableUnderTest) -> int | None:
    return table.face.choice.seat if table.face.choice else None


def _hands(table: TableUnderTest, seat: int = 3) -> list[tuple[str, ...]]:
    return [each.cards for each in table.face.hands if each.hand.startswith(f"seat_{seat}")]


# The dealer.


@pytest.mark.parametrize(("holds", "draws"), [("KC", True), ("AC", True), ("4C", True), ("5C", False), ("9C", False)])
def test_the_dealer_draws_on_0_to_4_and_stands_from_5(holds: str, draws: bool) -> None:
    table = play(locked(), f"2S {holds} 3S KD stand reveal")
    assert bool(table.of_type("round")) is not draws
    assert (table.face.next_hand == "dealer") is draws


def test_the_dealer_reveals_and_draws_even_if_every_hand_is_dead() -> None:
    table = play(locked(), "2S 2C 3S 2D hit 5H")
    assert (hand(table.face, "seat_3").total, table.face.reveal) == (0, ("dealer",))
    play(table, "reveal")
    assert table.face.next_hand == "dealer"
    (event,) = play(table, "4H").of_type("round")
    assert (rows(event), event["dealer"]["total"]) == ([(3, None, "lost", 0)], 8)


@examples(20)
@given(CARDS, CARDS, st.sampled_from(["stand", "hit", "split", "voided", "card too soon", "early dealer card"]), CARDS)
def test_the_dealers_hole_card_tells_nothing_until_it_is_turned_up(
    this: Card, that: Card, does: str, more: Card
) -> None:
    """The dealer's hole card stays secret until it is turned up. Until then the table does not show whether the dealer
    will draw, because the hole card decides that."""
    tables = []
    for hole in (this, that):
        table = locked("2 hand 1000, 3 hand 1000, 3 tie 500, 3 lucky9_bonus 500")
        play(table, "KS 2S").drawn(hole)
        play(table, "2H 2C 5C stand")
        match does:
            case "hit":
                play(table, f"hit {more}")
            case "split":
                play(table, "split KH KD")
            case "voided":
                table.do(VoidRound("Smith"))
            case "card too soon":
                table.draw(str(more)).do(ClearFault("Smith"))
            case "early dealer card":
                play(table, "stand").draw(str(more))
        if table.face.choice is not None:
            play(table, "stand")
        tables.append(table)
    assert tables[0].seen == tables[1].seen
    assert does == "voided" or tables[0].face.reveal == ("dealer",)
    assert does == "voided" or hand(tables[0].face, "dealer").cards == ("--", "5C")


@pytest.mark.parametrize("mishap", ["unreadable", "unplugged"])
def test_a_hole_card_that_a_supervisor_names_stays_face_down(mishap: str) -> None:
    tables = []
    for name in ("9D", "AD"):
        table = play(locked(), "2S")
        if mishap == "unreadable":
            table.draw("??").do(NameCard(Card.parse(name), "Smith"))
        else:
            table.believe(ShoeUnplugged()).do(NameCard(Card.parse(name), "Smith"), ClearFault("Smith"))
        tables.append(play(table, "3S 2C"))
    assert tables[0].seen == tables[1].seen


def test_a_card_ahead_of_the_dealers_reveal_is_his_or_burned() -> None:
    drew = play(locked(), "2S 2C 5S 2D stand 3H")
    assert (drew.of_type("round"), hand(drew.face, "dealer").cards) == ([], ("--", "2D"))
    (event,) = play(drew, "reveal").of_type("round")
    assert event["dealer"]["cards"] == ["2C", "2D", "3H"]
    stood = play(locked(), "2S 2C 5S 5D stand 3H reveal")
    (event,) = stood.of_type("round")
    assert event["dealer"]["cards"] == ["2C", "5D"]
    assert (stood.face.phase, stood.fault, stood.face.cards_left) == ("wagers_open", None, 416 - 3 - 5)


# What goes wrong in the middle.


def test_an_unreadable_card_stops_the_seat_it_is_for() -> None:
    table = play(locked("2 hand 1000, 3 hand 1000"), "2S KS 2C 4S KD 3C hit ??")
    assert (table.fault, table.details) == ("unreadable_card", {"where": "seat_2"})
    table.name("2H")
    assert (hand(table.face, "seat_2").total, _choosing(table)) == (8, 3)


def test_unheard_after_a_round_of_seats_it_tells_no_result_of_two_hands() -> None:
    table = play(locked(), "2S 3S 4C 5D stand reveal").believe(ShoeUnheard(1000))
    assert table.face.fault is not None
    assert table.face.fault.details == {"unheard_s": 1, "cards_left": 409, "last_round": 1}


def test_a_card_before_a_seats_choice_waits_and_is_a_hit_when_cleared() -> None:
    table = play(locked("2 hand 1000, 3 hand 1000"), "2S KS 2C 4S KD 3C 5H")
    assert (table.fault, table.details) == ("choice_due", {"seat": 2})
    table.clear()
    assert (hand(table.face, "seat_2").cards, _choosing(table)) == (("2S", "4S", "5H"), 3)


def test_a_card_before_the_choice_to_split_again_is_burned() -> None:
    """If a card comes before a seat has chosen whether to split again, the card is burned. A split hand takes no card
    as a hit, so the card belongs to no hand yet."""
    table = play(locked(), "4S 2C 4D 3C split 4H 5H")
    assert table.fault == "choice_due"
    left = table.face.cards_left
    table.clear()
    assert (_hands(table), table.face.cards_left) == ([("4S", "4H"), ("4D",)], left)
    assert table.face.choice is not None


def test_an_impossible_card_is_named_but_for_the_hole_card() -> None:
    rules = house(LUCKY9, decks=1, fewest_cards_to_open=6)
    up = play(locked(rules=rules), "2D")
    assert up.details == {"where": "seat_3", "card": "2D"}
    hole = play(locked(rules=rules), "2S 2D")
    assert hole.details == {"where": "dealer"}


@pytest.mark.parametrize(
    ("plays", "hands"),
    [
        ("", 1),
        ("4S 2C", 1),
        ("4S 2C 4D 3C", 1),
        ("4S 2C 4D 3C split", 2),
        ("4S 2C 4D 3C split 4H split", 3),
        ("4S 2C 4D 3C split 4H split 4C split AS", 4),
    ],
)
def test_a_void_returns_every_wager_and_one_more_for_each_split(plays: str, hands: int) -> None:
    table = play(locked("3 hand 1000, 3 tie 500, 3 lucky9_bonus 300, 5 hand 700"), "")
    words = plays.split()
    if len(words) >= 2:  # seat 5 gets a ten and a 9 between: it has nothing to act on
        words[1:1] = ["9S"]
    if len(words) >= 5:
        words[4:4] = ["TS"]
    play(table, " ".join(words))
    table.do(VoidRound("Smith"))
    (event,) = table.of_type("void")
    returned = Counter((seat, cents) for seat, _, result, cents in rows(event) if result == "returned")
    assert returned == {(3, 1000): hands, (5, 700): 1}
    assert event["settlement"]["totals"]["returned_cents"] == 1000 * hands + 500 + 300 + 700
    assert_money_adds_up(event)


# The shoe.


def test_the_cut_card_lies_60_from_the_end_and_the_round_in_hand_is_the_last() -> None:
    assert (LUCKY9.shoe.cut_card_from_end, LUCKY9.shoe.hands_after_cut_card) == (60, 0)
    table = play(locked(), "2S 2C")
    table.do(SeeCutCard())
    assert table.face.final_round
    play(table, "3S 6C stand reveal")
    (event,) = table.of_type("round")
    (closed,) = table.of_type("shoe_closed")
    assert (event["final_round"], closed["reason"], table.face.phase) == (True, "final_round", "shoe_ended")


def test_the_cut_card_between_rounds_leaves_one_more() -> None:
    table = play(locked(), "2S 2C 3S 6C stand reveal").do(SeeCutCard(), wager("3 hand 1000"))
    assert table.lock().face.final_round
    assert play(table, "2S 2C 3S 6C stand reveal").face.phase == "shoe_ended"


def test_with_fewer_cards_than_a_round_may_take_wagers_do_not_open() -> None:
    table = Watched(house(LUCKY9, decks=2)).open_shoe("2D 3H 4C")
    coming = iter([str(card) for card in DECK if str(card) not in ("2D", "3H", "4C")])
    while table.face.phase == "wagers_open":
        assert (table.face.cards_left or 0) >= 59
        table.do(wager("3 hand 1000")).lock()
        while table.face.phase in ("wagers_locked", "round_in_play"):
            table.draw(next(coming)) if table.face.next_hand else play(
                table, "reveal" if table.face.reveal else "stand"
            )
    assert 53 < (table.face.cards_left or 0) < 59
    assert [event["reason"] for event in table.of_type("shoe_closed")] == ["too_few_cards"]


@pytest.mark.parametrize(("plays", "hands"), [("2S 2C", 1), ("4S 2C 4H 3C split", 2)])
def test_cards_that_run_out_inside_a_round_return_every_wager(plays: str, hands: int) -> None:
    """If the cards run out during a round, the round is void, and every wager is returned. A real shoe runs out only if
    cards were lost, so the test burns all other cards first."""
    rules = house(LUCKY9, decks=1, fewest_cards_to_open=1)
    table = Watched(rules).open_shoe("2D 3H 4C")
    burned = [card for card in DECK if str(card) not in {"2D", "3H", "4C", *plays.split()}]
    for card in burned:
        table.drawn(card)
    assert (table.face.phase, table.face.cards_left) == ("wagers_open", len(plays.split()) - (hands - 1))
    play(table.do(wager("3 hand 1000")).lock(), plays)
    assert table.fault == "shoe_exhausted"
    (event,) = table.of_type("void")
    assert event["settlement"]["totals"]["returned_cents"] == 1000 * hands
    assert table.told_types()[-3:] == ["void", "shoe_closed", "fault shoe_exhausted"]


# A correction.


def correction(
    hands: str, dealer: str, by: str = "Smith", witness: str = "Jones", number: int = 1
) -> CorrectSeatsRound:
    """Return a request to correct round `number`, made by `by` and confirmed by `witness`. In `hands`, each hand is
    written after the number of its seat: `correction("3 8S KS, 3 8D QS", "2C 9C TC")`."""
    by_seat: dict[int, tuple[tuple[Card, ...], ...]] = {}
    for text in hands.split(","):
        seat, *words = text.split()
        by_seat[int(seat)] = (*by_seat.get(int(seat), ()), tuple(cards(" ".join(words))))
    return CorrectSeatsRound(number, by_seat, tuple(cards(dealer)), by, witness)


def dealt(bets: str = "2 hand 1000, 2 tie 500, 2 lucky9_bonus 500, 5 hand 700") -> Watched:
    """Return a table after a round in which seat 2 split its eights, seat 5 stood on 7, and the dealer drew a ten to 2
    and 9, which makes 1."""
    return play(locked(bets), "8S 4S 2C 8D 3S 9C split KS QS stand reveal TC")


AS_DEALT = "2 8S KS, 2 8D QS, 5 4S 3S"


def test_a_correction_tells_the_whole_round_anew_and_settles_it_by_the_sheet() -> None:
    table = dealt()
    (told,) = table.of_type("round")
    left = table.face.cards_left
    table.do(correction("2 8S KS, 2 8D 3S, 5 4S 3S", "2C 9C TC"))
    (event,) = table.of_type("correction")
    assert (event["shoe"], event["round"], event["by"], event["witness"]) == (1, 1, "Smith", "Jones")
    assert event["dealer"] == told["dealer"]
    assert [(each["seat"], each["hand"], each["cards"], each["result"]) for each in event["hands"]] == [
        (2, 1, ["8S", "KS"], "won"),
        (2, 2, ["8D", "3S"], "pushed"),  # 1 against the dealer's 1
        (5, 1, ["4S", "3S"], "won"),
    ]
    assert rows(event) == [(2, 1, "won", 2000), (2, 2, "pushed", 1000), (5, None, "won", 1400)]
    assert event["settlement_before"] == told["settlement"]
    assert_money_adds_up(event)
    assert table.of_type("round") == [told], "the round stands as it was told"
    assert (hand(table.face, "seat_2_hand_2").cards, table.face.cards_left) == (("8D", "3S"), left)
    assert _results(table) == [(2, "seat_2", "won"), (2, "seat_2_hand_2", "pushed"), (5, "seat_5", "won")]
    assert table.replayed() == (table.table, None)


def test_what_splits_and_hits_follows_from_the_hands() -> None:
    """A correction computes from the corrected hands which seats split and which hit. Here seat 2 has no pair after the
    correction. So it counts as a seat that hit, and its wager counts once instead of twice."""
    table = dealt()
    table.do(correction("2 8S 7D KS, 5 4S 3S", "2C 9C TC"))
    (event,) = table.of_type("correction")
    assert rows(event) == [(2, None, "won", 2000), (5, None, "won", 1400)]
    staked = [event[which]["totals"]["staked_cents"] for which in ("settlement_before", "settlement")]
    assert staked == [1000 * 2 + 500 + 500 + 700, 1000 + 500 + 500 + 700]
    table.do(correction(AS_DEALT, "2C 9C TC"))
    assert table.of_type("correction")[1]["settlement"] == event["settlement_before"], "and back again"


def test_the_side_bets_are_settled_by_the_corrected_cards() -> None:
    table = dealt()
    assert [rows(table.of_type("round")[0], spot) for spot in ("tie", "lucky9_bonus")] == [
        [(2, None, "lost", 0)],  # the leftmost's 8 against 1
        [(2, None, "lost", 0)],  # 8, 8 and the dealer's 9: 5
    ]
    table.do(correction("2 8S KS, 2 8D QS, 5 4S 3S", "5C 3C"))
    (event,) = table.of_type("correction")
    assert rows(event, "tie") == [(2, None, "won", 4000)]  # 8 against 8, 7 to 1
    assert rows(event, "lucky9_bonus") == [(2, None, "won", 3000)]  # 8, 8 and the up card 3: any 9, 5 to 1


def test_the_composition_follows_a_correction() -> None:
    table = locked("2 hand 1000", house(LUCKY9, decks=1, fewest_cards_to_open=6))
    play(table, "8S 2C KS 9C stand reveal TC")
    left = table.face.cards_left
    table.do(correction("2 8S KD", "2C 9C TH"), wager("2 hand 1000")).lock()
    assert (table.face.cards_left, play(table, "KS TC").fault) == (left, None)
    assert play(table, "TH").fault == "impossible_card"


def test_where_no_wagers_are_known_a_correction_settles_nothing() -> None:
    table = Watched(replace(LUCKY9, bet_recognition=False)).open_shoe("2D 3H 4C").do(seats(3)).lock()
    play(table, "2S 2C 3S 6C stand reveal").do(correction("3 2S 4S", "2C 6C"))
    (event,) = table.of_type("correction")
    assert (event["settlement"], event["settlement_before"]) == (None, None)
    assert event["hands"] == [{"seat": 3, "hand": 1, "cards": ["2S", "4S"], "total": 6, "result": "lost"}]


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        (correction(AS_DEALT, "2C 9C TC"), "nothing_differs"),
        (correction(AS_DEALT, "2C 9C KC", number=2), "no_such_round"),
        (correction(AS_DEALT, "2C 9C KC", "Smith", " sMITH "), "not_two_people"),
        (correction("2 8S KS, 2 8D QS", "2C 9C TC"), "other_seats"),
        (correction(f"{AS_DEALT}, 6 4S 3S", "2C 9C TC"), "other_seats"),
        (correction(AS_DEALT, "2C"), "not_a_hand"),
        (correction("2 8S KS, 2 8D QS, 5 4S", "2C 9C TC"), "not_a_hand"),
        (correction("2 8S KS, 2 8D QS, 5 4S 3S 2S 2H", "2C 9C TC"), "not_a_hand"),
        (correction("2 8S KS, 2 7D QS, 5 4S 3S", "2C 9C TC"), "not_by_the_rules"),
        (correction("2 8S KS, 2 8D QS, 5 4S 5S 2D", "2C 9C TC"), "not_by_the_rules"),
        (correction(AS_DEALT, "2C 9C"), "not_by_the_rules"),
        (correction("2 8S KS, 2 8D QS, 5 2D 3S", "2C 9C TC"), "card_cannot_be"),
        (correction(AS_DEALT, "2C 9C 2D"), "card_cannot_be"),
        (CorrectRound(1, tuple(cards("8S KS")), tuple(cards("2C 9C TC")), "Smith", "Jones"), "other_hands"),
    ],
)
def test_a_correction_is_refused(asked: CorrectSeatsRound | CorrectRound, refused: str) -> None:
    """The table refuses a correction that cannot be right, and changes nothing. The shoe here has one deck, and 2D was
    its first card."""
    table = locked("2 hand 1000, 5 hand 700", house(LUCKY9, decks=1, fewest_cards_to_open=6))
    play(table, "8S 4S 2C 8D 3S 9C split KS QS stand reveal TC")
    before = table.table
    assert table.ask(asked) == refused
    assert (table.table, table.of_type("correction")) == (before, [])


def test_a_round_of_two_hands_has_no_seats_hands() -> None:
    table = TableUnderTest().open_shoe().lock().draw("4S TH 5D 9C")
    assert table.ask(correction("3 4S 5D", "TH 9C")) == "other_hands"


# Any shoe, any choices, any mistakes.


@examples(20)
@given(
    st.lists(st.sampled_from(DECK * 2), min_size=59, max_size=59),
    st.dictionaries(st.integers(1, 7), st.integers(5, 100), min_size=1, max_size=7),
    st.lists(st.sampled_from(["split", "hit", "stand", "reveal", "card"]), min_size=200, max_size=200),
)
def test_money_is_conserved_and_every_card_is_accounted_for(
    shoe: list[Card], stakes: dict[int, int], wishes: list[str]
) -> None:
    """Money and cards add up at the end of a round, whatever calls the seats ask for. The table allows only the calls
    that the rule sheet allows."""
    table = locked(", ".join(f"{seat} hand {dollars}00, {seat} tie 200" for seat, dollars in stakes.items()))
    drawn: list[str] = []
    coming, wish = iter(shoe), iter(wishes)
    splits: Counter[int] = Counter()
    while not table.of_type("round") and table.fault is None:
        if table.face.next_hand is not None:
            drawn.append(str(next(coming)))
            table.believe(CardDrawn(Card.parse(drawn[-1])))
            continue
        wished = next(wish, "stand")
        if table.face.reveal:
            wished = "reveal"
        chooses = table.face.choice
        if wished == "card":
            continue
        refused = table.ask(call(wished))
        if chooses is not None and chooses.options is not None:
            assert (refused is None) == (wished in chooses.options), "what is offered is accepted, and nothing else"
            _assert_offer(table, chooses.hand, wished, refused)
            splits[chooses.seat] += wished == "split" and refused is None
    assert table.fault in (None, "impossible_card")
    if table.fault is not None:
        table.do(VoidRound("Smith"))
        (event,) = table.of_type("void")
        assert event["settlement"]["totals"]["returned_cents"] == sum(
            100 * dollars * (1 + splits[seat]) + 200 for seat, dollars in stakes.items()
        )
        return
    (event,) = table.of_type("round")
    lies = [card for each in event["hands"] for card in each["cards"]] + event["dealer"]["cards"]
    assert Counter(lies) == Counter(drawn)
    assert table.face.cards_left == 416 - 3 - len(drawn)
    assert_money_adds_up(event)
    assert max(splits.values(), default=0) <= 3
    for seat, dollars in stakes.items():
        mine = [row for row in rows(event) if row[0] == seat]
        assert len(mine) == 1 + splits[seat]
        _assert_seat(event, seat, 100 * dollars, mine)
    assert table.replayed() == (table.table, None)


def _assert_offer(table: TableUnderTest, name: str, wished: str, refused: str | None) -> None:
    """Check a call that a seat asked for. If the table allowed the call `wished` (`refused` is None), it must be legal:
    no hit on a nine or after a split, and no split of two cards that are not a pair."""
    if refused is None and wished == "split":
        assert table.fault is None
    if refused is None and wished == "hit":
        cards = hand(table.face, name).cards
        assert len(cards) == 2
        assert total(map(Card.parse, cards)) != 9
        assert len(_hands(table, int(name.split("_")[1]))) == 1


def _assert_seat(event: dict[str, Any], seat: int, cents: int, mine: list[tuple[int, int | None, str, int]]) -> None:
    """Check that the seat won or lost exactly what the sentences of the rule sheet say. `mine` holds the settled wagers
    of the seat."""
    dealer = event["dealer"]
    dealers_kind = _kind(dealer["cards"])
    hands = [each for each in event["hands"] if each["seat"] == seat]
    for each, (_, _, result, returned) in zip(hands, mine, strict=True):
        kind, split = _kind(each["cards"]), len(hands) > 1
        if len(each["cards"]) == 3 and each["total"] in (0, 1, 2):
            expected = 0
        elif kind == "lucky9" and not split:
            expected = cents if dealers_kind in ("lucky9", "natural9") else cents + cents * 3 // 2
        elif each["total"] == 9 and dealer["total"] == 9:
            expected = 0 if (len(each["cards"]), dealers_kind) == (3, "lucky9") else cents
        elif each["total"] == dealer["total"]:
            expected = cents
        else:
            expected = 2 * cents if each["total"] > dealer["total"] else 0
        assert (returned, result) == (expected, _word(expected, cents)), f"{each} against {dealer}"
    (tie,) = [row for row in rows(event, "tie") if row[0] == seat]
    assert tie[3] == (200 * 8 if hands[0]["total"] == dealer["total"] else 0)


def _kind(cards: list[str]) -> str:
    points = [Card.parse(card).points for card in cards]
    if sum(points) % 10 != 9:
        return "other"
    if len(cards) == 3:
        return "three"
    return "lucky9" if all(points) else "natural9"


def _word(expected: int, cents: int) -> str:
    return "lost" if expected == 0 else "pushed" if expected == cents else "won"
