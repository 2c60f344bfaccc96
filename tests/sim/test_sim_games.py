"""Tests of how the simulation plays Midi, Baccarat Royal and Lucky 9. The expected results are the lines and example
hands of the rule sheets."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import convert

from drivers.sim import lucky9
from drivers.sim.baccarat_royal import BaccaratRoyal, Section, banker_options, player_options
from drivers.sim.bets import pay
from drivers.sim.cashier import Paid
from drivers.sim.felt import Dealt
from drivers.sim.house import Bet
from drivers.sim.lucky9 import Lucky9, SeatHand
from drivers.sim.punto_banco import PuntoBanco
from drivers.sim.wagers import Actives, Bets, Wager
from tests.sim.felt import StackedFelt
from tests.sim.games import bets_of, says_of

WORTH = dict(zip(range(10), ("QH", "AS", "2H", "3D", "4C", "5S", "6H", "7D", "8C", "9S"), strict=True))
BOTH = ("hit", "stand")
PRINTED, CORRECTED = (Section(**says_of(f"baccarat_royal{which}")) for which in ("", "_corrected"))


def settled(dealt: Dealt) -> list[tuple[Any, ...]]:
    """Return a tuple of five values for each wager of the round: its seat, spot, hand and result, and the cents that go
    back to the bettor."""
    settlement: Any = dealt.told["settlement"]
    return [
        (wager["seat"], wager["spot"], wager["hand"], wager["result"], wager["returned_cents"])
        for wager in settlement["wagers"]
    ]


# Punto banco.


def test_midi_turns_up_the_first_four_and_each_third_card() -> None:
    felt = StackedFelt("2S 3D 2H 2D 6C KC")
    PuntoBanco(midi=True).deal(felt, None)
    assert felt.happened[4:] == ["reveal player banker", "card player", "reveal player", "card banker", "reveal banker"]
    assert felt.used_up


@pytest.mark.parametrize(
    ("game", "owed", "back"),
    [("royal9", {}, 1000 + 1000 - 50), ("kansas_star", {1: 50}, 2000), ("sugarhouse", {1: 50}, 2000)],
)
def test_commission_is_taken_or_owed(game: str, owed: dict[int, int], back: int) -> None:
    bets = Bets(standing=(Wager(1, "banker", 1000), Wager(2, "player", 700), Wager(3, "tie", 100)))
    dealt = PuntoBanco(bets_of(game)).deal(StackedFelt("KS 9D QS KD"), bets)
    assert dealt.owed == owed
    assert settled(dealt) == [
        (1, "banker", None, "won", back),
        (2, "player", None, "lost", 0),
        (3, "tie", None, "lost", 0),
    ]


def test_a_tie_pushes_both_sides_and_pays_eight() -> None:
    bets = Bets(standing=tuple(Wager(1, spot, 100) for spot in ("player", "banker", "tie", "dragon_player")))
    assert [back for *_, back in settled(PuntoBanco(bets_of("royal9")).deal(StackedFelt("KS 9D 9S KD"), bets))] == [
        100,
        100,
        900,
        100,
    ]


@pytest.mark.parametrize(("game", "back"), [("royal9", 700), ("kansas_star", 500), ("sugarhouse", 700)])
def test_dragon_bonus_by_sheet(game: str, back: int) -> None:
    """The Dragon Bonus bet on Player pays what the rule sheet says if Player wins by seven without a natural."""
    bets = Bets(standing=(Wager(1, "dragon_player", 100),))
    felt = StackedFelt("KS TD 7S JD QD")
    assert settled(PuntoBanco(bets_of(game)).deal(felt, bets)) == [(1, "dragon_player", None, "won", back)]


# Baccarat Royal.


def test_players_table() -> None:
    options = [player_options(["KS", WORTH[points]], PRINTED) for points in range(8)]
    assert options == [("hit",)] * 3 + [BOTH] * 4 + [("stand",)]


# The sheet's lines for the bank: the sums of its hole cards, the third cards, and whether he draws.
AS_PRINTED = [
    ((0, 1, 2), range(10), ("hit",)),
    ((3, 4), (0, 1, 8, 9), BOTH),
    ((3, 4), (2, 3, 4, 5, 6, 7), ("stand",)),
    ((5, 6), (0, 1, 2, 3, 8, 9), BOTH),
    ((5, 6), (4, 5, 6, 7), ("hit",)),
    ((7,), range(10), ("stand",)),
]


@pytest.mark.parametrize(("sums", "thirds", "options"), AS_PRINTED)
def test_bankers_table(sums: Any, thirds: Any, options: tuple[str, ...]) -> None:
    for points in sums:
        for third in thirds:
            player = ["2S", "3S", WORTH[third]]
            assert banker_options(["KS", WORTH[points]], player, PRINTED) == options
            corrected = ("hit",) if points in (3, 4) and options == ("stand",) else options
            assert banker_options(["KS", WORTH[points]], player, CORRECTED) == corrected


def test_banker_when_player_stood() -> None:
    for says, draws in ((PRINTED, "DDD..DD."), (CORRECTED, "DDDDDD..")):
        for points, draw in enumerate(draws):
            options = banker_options(["KS", WORTH[points]], ["6S", "KH"], says)
            assert options == (("hit",) if draw == "D" else ("stand",))


@pytest.mark.parametrize(
    ("cards", "calls", "happened"),
    [
        ("4S 5S 2H 3H", "", []),
        (
            "2S KS 5H KH 9C 3D",  # on a 2 the banker must draw, and nobody calls
            "hit",
            [
                "seat 4, 5 points: hit stand",
                "card player",
                "reveal banker",
                "card banker",
                "reveal player",
            ],
        ),
        ("7S KS 6H KH", "stand", ["seat 4, 6 points: hit stand", "reveal banker", "reveal player"]),
        (
            "6S KS 5H KH 9C",
            "hit stand",
            [
                "seat 4, 5 points: hit stand",
                "card player",
                "reveal banker",
                "seat 2, 6 points: hit stand",
                "reveal player",
            ],
        ),
    ],
)
def test_a_round_in_the_sheets_order(cards: str, calls: str, happened: list[str]) -> None:
    felt = StackedFelt(cards, calls)
    BaccaratRoyal(bets_of("baccarat_royal"), PRINTED).deal(felt, Bets(standing=(), actives=Actives(player=4, banker=2)))
    assert felt.happened == ["card banker", "card banker", "card player", "card player", *happened]
    assert felt.used_up


def paid(outcome: str, *wagers: Wager) -> list[Any]:
    """Play a round of Baccarat Royal that ends in this outcome, and return the outcomes of the wagers. Seat 1 plays
    Player's hand, and seat 2 plays Banker's."""
    banker, player = "KD 8D", {"player": "KS 9S", "banker": "KS 7S", "tie": "KS 8S"}[outcome]
    bets = Bets(standing=wagers, actives=Actives(1, 2))
    dealt = BaccaratRoyal(bets_of("baccarat_royal"), PRINTED).deal(StackedFelt(f"{banker} {player}"), bets)
    settlement: Any = dealt.told["settlement"]
    return list(settlement["wagers"])


@pytest.mark.parametrize(
    ("outcome", "back"),
    [
        ("player", [100 + 501 + 501, 0, 400, 0, 0]),  # seat 1 is Player with 601, of which 501 play
        ("banker", [100, 501 + 501, 0, 600, 0]),
        ("tie", [100 + 251, 251, 200, 300, 900]),
    ],
)
def test_the_active_seats_play_each_other(outcome: str, back: list[int]) -> None:
    wagers = (
        Wager(1, "stake", 601),
        Wager(2, "stake", 501),
        Wager(3, "player", 200),
        Wager(4, "banker", 300),
        Wager(5, "tie", 100),
    )
    assert [each["returned_cents"] for each in paid(outcome, *wagers)] == back


def test_a_stake_without_another_goes_back() -> None:
    (stake,) = paid("banker", Wager(1, "stake", 601))
    assert (stake["result"], stake["returned_cents"], stake["pays_cents"]) == ("returned", 601, 0)


# Lucky 9.

LUCKY9 = Lucky9(bets_of("lucky9"), lucky9.Section(**says_of("lucky9")))
DEALERS = {"lucky": "4S 5S", "natural": "KS 9S", "three": "2S 3S 4D", "low": "KS 7S"}
MATRIX = """
              lucky    natural  three    low
lucky         pushed   pushed   won3:2   won3:2
natural       pushed   pushed   pushed   won1:1
split         pushed   pushed   pushed   won1:1
three         lost     pushed   pushed   won1:1
dead          lost     lost     lost     lost
"""
SEATS_HANDS = {
    "lucky": SeatHand(["AH", "8H"]),
    "natural": SeatHand(["TH", "9H"]),
    "split": SeatHand(["AH", "8H"], from_split=True),
    "three": SeatHand(["2H", "2D", "5H"]),
    "dead": SeatHand(["5H", "5D", "2H"]),
}


def test_the_outcome_matrix() -> None:
    columns, *rows = (line.split() for line in MATRIX.strip().splitlines())
    for row, *cells in rows:
        for column, cell in zip(columns, cells, strict=True):
            paid = on_the_hand(SEATS_HANDS[row], DEALERS[column].split())
            pays = {150: "3:2", 100: "1:1", 0: ""}[paid.pays]
            assert paid.result + pays == cell, (row, column)


def on_the_hand(hand: SeatHand, dealer: list[str]) -> Paid:
    """Return the outcome of a wager of 100 cents on this hand against the dealer's hand. If the hand is from a split
    pair, the seat has a second, equal hand."""
    hands = [hand, hand] if hand.from_split else [hand]
    return LUCKY9.pay(Wager(3, "hand", 100), hands, {3: hand.cards[:2]}, dealer)[0]


@pytest.mark.parametrize(
    ("mine", "dealers", "result"),
    [("KH 8H", "KS 7S", "won"), ("KH 7H", "KS 7S", "pushed"), ("KH 6H", "KS 7S", "lost"), ("KH 2H", "KS QS KD", "won"),
     ("KH KC 2H", "KS QS KD", "lost"), ("KH AC 2H", "KS AS AD", "won"), ("KH 8H", "4S 5S", "lost")],
)  # fmt: skip
def test_the_higher_total(mine: str, dealers: str, result: str) -> None:
    assert on_the_hand(SeatHand(mine.split()), dealers.split()).result == result


@pytest.mark.parametrize(
    ("cards", "pays"),
    [("3S 3S 3S", 200), ("2H 4H 3H", 100), ("3S 3H 3S", 50), ("4H 2H 3S", 40), ("9S 9S AS", 30), ("KS 4S 5S", 30),
     ("9S 9H AS", 5), ("TS QH 9S", 5), ("TS QH 8S", 0), ("3S 3S 2S", 0)],
)  # fmt: skip
def test_the_bonus(cards: str, pays: int) -> None:
    *first_two, up = cards.split()
    (paid,) = LUCKY9.pay(Wager(3, "lucky9_bonus", 1), [SeatHand(first_two)], {3: first_two}, ["KS", up])
    assert paid.pays == pays


def test_splits_to_four_hands() -> None:
    """A seat can split until it has four hands. The left card is played first, each new pair is split, and a pair in
    the fourth hand cannot be split."""
    felt = StackedFelt("8S KD 8H 7D  8C 2S 8D 3S 8S 9C", "split split split")
    bets = Bets(standing=(Wager(3, "hand", 500), Wager(3, "tie", 100)))
    dealt = LUCKY9.deal(felt, bets)
    assert felt.used_up
    hands: Any = dealt.told["hands"]
    assert [" ".join(hand["cards"]) for hand in hands] == ["8S 2S", "8C 3S", "8D 8S", "8H 9C"]
    assert [asked for asked in felt.happened if asked.startswith("seat")] == [
        "seat 3, 6 points: hit stand split",
        "seat 3, 6 points: stand split",
        "seat 3, 6 points: stand split",
    ]
    assert [wager[:3] for wager in settled(dealt)] == [(3, "hand", number) for number in (1, 2, 3, 4)] + [
        (3, "tie", None)
    ]


@pytest.mark.parametrize(
    ("cards", "calls", "dealer"),
    [
        ("KS 2D KH 2H QC", "stand", "2D 2H QC"),  # the dealer draws on four
        ("KS 2D KH 3H", "stand", "2D 3H"),  # and stands on five
        ("5S 2D 5H 2H 2S TC", "hit", "2D 2H TC"),  # even when every hand is dead
    ],
)
def test_the_dealers_rule(cards: str, calls: str, dealer: str) -> None:
    felt = StackedFelt(cards, calls)
    dealt = LUCKY9.deal(felt, Bets(standing=(Wager(1, "hand", 500),)))
    told: Any = dealt.told["dealer"]
    assert (" ".join(told["cards"]), felt.used_up) == (dealer, True)


def test_nobody_hits_a_nine() -> None:
    felt = StackedFelt("4S 9S 2D 5H KH 3H")
    LUCKY9.deal(felt, Bets(standing=(Wager(1, "hand", 500), Wager(2, "hand", 500))))
    assert felt.happened == ["card seat_1", "card seat_2", "card dealer"] * 2 + ["reveal dealer"]


@pytest.mark.parametrize(("said", "back"), [({}, 0), ({"awards_return_stake": True}, 500)])
def test_an_award_is_the_whole_pay_unless_the_house_returns_the_stake(said: dict[str, bool], back: int) -> None:
    bet = convert({"spot": "x", "rows": [{"when": {}, "award": "any", "cents": 2500}], **said}, Bet)
    paid = pay(bet, Wager(1, "x", 500), {"player": ["KS", "9H"], "banker": ["2C", "3D"]}, {})
    assert (paid.back, paid.pays) == (back, 2500)
