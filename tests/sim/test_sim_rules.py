"""Tests of the simulation's rules of drawing. The expected results are the lines of the rule sheet, and rounds that
were worked out by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from drivers.sim import rules
from tests.support import sheets
from tests.support.felt import dealt

# The sheet's lines for Banker when Player has drawn: Banker's total, the third cards on which he draws, and does not.
SHEET = [
    (0, "1-2-3-4-5-6-7-8-9-0", ""),
    (1, "1-2-3-4-5-6-7-8-9-0", ""),
    (2, "1-2-3-4-5-6-7-8-9-0", ""),
    (3, "1-2-3-4-5-6-7-9-0", "8"),
    (4, "2-3-4-5-6-7", "1-8-9-0"),
    (5, "4-5-6-7", "1-2-3-8-9-0"),
    (6, "6-7", "1-2-3-4-5-8-9-0"),
    (7, "", "1-2-3-4-5-6-7-8-9-0"),
]
SHEET_CASES = [
    (total, third, draws)
    for total, draw, stand in SHEET
    for line, draws in ((draw, True), (stand, False))
    for third in line.split("-")
    if third
]
CARD_WORTH = dict(zip("1234567890", ("AS", "2H", "3D", "4C", "5S", "6H", "7D", "8C", "9S", "QH"), strict=True))


def deal(cards: str) -> tuple[list[str], list[str]]:
    """Deal these cards by the rules of drawing, and return Player's hand and Banker's. The round must need exactly
    these cards."""
    player, banker = map(list, dealt(cards.split()))
    assert len(player) + len(banker) == len(cards.split()), "nobody draws the last of them"
    assert rules.next_side(player, banker) is None
    return player, banker


def test_the_sheet_names_every_third_card_for_every_total() -> None:
    assert Counter(total for total, _, _ in SHEET_CASES) == dict.fromkeys(range(8), 10)


def test_banker_after_player_drew() -> None:
    for total, third, draws in SHEET_CASES:
        _banker_draws(total, third, draws)


def _banker_draws(total: int, third: str, draws: bool) -> None:
    banker = ["KS", CARD_WORTH[str(total)]]
    assert rules.next_side(["2S", "3S", CARD_WORTH[third]], banker) == ("banker" if draws else None)


@pytest.mark.parametrize(
    ("total", "draws"), [(0, True), (1, True), (2, True), (3, True), (4, True), (5, True), (6, False), (7, False)]
)
@pytest.mark.parametrize("player", [["6D", "TD"], ["9D", "8D"]])
def test_banker_when_player_stands(player: list[str], total: int, draws: bool) -> None:
    banker = ["KS", CARD_WORTH[str(total)]]
    assert rules.next_side(player, banker) == ("banker" if draws else None)


@pytest.mark.parametrize(
    ("total", "draws"), [(0, True), (1, True), (2, True), (3, True), (4, True), (5, True), (6, False), (7, False)]
)
def test_player(total: int, draws: bool) -> None:
    assert rules.next_side(["KS", CARD_WORTH[str(total)]], ["7S", "KH"]) == ("player" if draws else None)


@pytest.mark.parametrize(
    ("cards", "player", "banker", "outcome"),
    [
        ("9S 2D KH 3D", "9S KH", "2D 3D", "player"),  # a natural: a Banker's 5 does not draw
        ("2D 8S 3D QS", "2D 3D", "8S QS", "banker"),  # nor does a Player's 5
        ("4S 3D 4H 5D", "4S 4H", "3D 5D", "tie"),
        ("KS 3D 7H 4D", "KS 7H", "3D 4D", "tie"),  # both stand on 7
        ("KS 3D 6H TD AS", "KS 6H", "3D TD AS", "player"),  # Player stands on 6, Banker draws on 3
        ("AS KD AH 7D 9S", "AS AH 9S", "KD 7D", "banker"),
        ("2S KD 3H 6D 6S 2H", "2S 3H 6S", "KD 6D 2H", "banker"),
    ],
)
def test_whole_hands(cards: str, player: str, banker: str, outcome: str) -> None:
    assert deal(cards) == (player.split(), banker.split())
    assert rules.outcome(*deal(cards)) == outcome


def test_points_and_totals() -> None:
    assert [rules.points(rank + "S") for rank in "A23456789TJQK"] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0]
    assert rules.total(["6S", "7D"]) == 3
    assert rules.total(["9S", "9D", "9H"]) == 7


def test_burn_counts() -> None:
    burned = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
    assert [rules.burn_count(rank + "H") for rank in "A23456789TJQK"] == burned
    of_those = [rules.burn_count(rank + "H", counts_first=True) for rank in "A23456789TJQK"]
    assert of_those == [many - 1 for many in burned]


def test_naturals_and_pairs() -> None:
    assert rules.is_natural(["KS", "8D"])
    assert rules.is_natural(["4S", "5D"])
    assert not rules.is_natural(["KS", "7D"])
    assert not rules.is_natural(["2S", "3D", "3H"])
    assert rules.is_pair(["KS", "KD"])
    assert not rules.is_pair(["KS", "QS"])
    assert not rules.is_pair(["2S", "3D", "3H"])


@pytest.mark.parametrize(
    ("mine", "theirs", "result"),
    [
        ("9S KS", "7D KD", ("win", 1)),  # a natural by 2
        ("9S KS", "KC KD", ("win", 1)),  # a natural by 9: still one to one
        ("8S KS", "9D KD", ("lose", None)),
        ("8S KS", "8D KD", ("push", None)),
        ("2S 3S 4S", "KD TD QD", ("win", 30)),
        ("2S 3S 3H", "KD TD QD", ("win", 10)),
        ("2S 3S 2H", "KD TD QD", ("win", 6)),
        ("KS 6S", "KD TD QD", ("win", 4)),
        ("2S 3S KH", "KD TD QD", ("win", 2)),
        ("2S 2H KH", "KD TD QD", ("win", 1)),
        ("2S AH KH", "KD TD QD", ("lose", None)),  # won by 3
        ("KD 7D", "KS 7S", ("lose", None)),  # a tie without naturals
        ("KD TD QD", "2S 3S 4S", ("lose", None)),
    ],
)
def test_dragon_bonus(mine: str, theirs: str, result: tuple[str, int | None]) -> None:
    assert sheets.dragon_bonus(mine.split(), theirs.split()) == result


PRINTED = {1: "KS 9S", 2: "KH 9H", 3: "KS 9H"}


@pytest.mark.parametrize(
    ("player", "banker", "seat", "tier"),
    [
        ("KS 9S", "9S KS", 1, "personal_vs_personal"),
        ("2S 9S", "9S KS", 1, "banker_personal"),
        ("KS 9S", "KH 9H", 1, "player_personal"),
        ("KS 9S", "KH 9H", 2, "banker_personal"),
        ("9H KS", "KS 9H", 1, "other_identical"),
        ("KD 9C", "9C KD", 1, "royal_vs_royal"),  # identical, but printed at no seat
        ("QD 9D", "9C JC", 1, "suited_vs_suited"),
        ("QD 9D", "9C JD", 1, "royal_vs_royal"),
        ("QD 9D", "2C 3D 4S", 1, "suited_royal"),
        ("2D 2H 3S", "9C JC", 1, "suited_royal"),
        ("QD 9H", "2C 3D 4S", 1, "any_royal"),
        ("TD 9D", "2C 3D 4S", 1, None),  # a ten is no face card
        ("2D KD 9D", "2C 3D", 1, None),  # a third card does not count
    ],
)
def test_royal9(player: str, banker: str, seat: int, tier: str | None) -> None:
    assert sheets.royal9_tier(seat, PRINTED, player.split(), banker.split()) == tier
