"""Checks of three texts: the text by which a person requests an act, the text that a second person reads before
agreeing to it, and the public keys that two people can adopt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from controller.contract.fingerprint import fingerprint
from controller.rules.game.cards import Card
from controller.rules.game.wagers import Wager
from controller.table.acts import corrections, itself, pit, recognition, seats
from controller.table.acts.entry import BadArgumentError
from controller.table.acts.pit import AcceptAward, PinPitKey
from controller.table.acts.recognition import PinRecognitionKey, SeeWager
from controller.table.acts.rounds import OddCardFate, TellOddCard, VoidRound
from controller.table.acts.stopped import ClearFault, NameCard
from controller.table.facts import WagerSeen
from controller.table.foreseen import not_as_shown
from controller.table.legality import Refuse
from tests.support.tables import TableUnderTest, between

KEY, OTHER = "ab" * 32, "cd" * 32


@pytest.mark.parametrize(
    ("read", "wrong"),
    [
        (corrections._hand_of_text, "8S,KS"),
        (itself._lamp, ""),
        (itself._lamp, "x" * 41),
        (pit._text, 7),
        (recognition._key, "ab"),
        (recognition._key, 7),
        (seats._seats, "1 2"),
        (seats._bettor, "0"),
        (seats._bettor, 1.5),
        (seats._spot, "Player!"),
        (seats._spot, None),
    ],
)
def test_a_word_that_is_none_is_refused_with_what_to_write(read: Callable[[object], object], wrong: object) -> None:
    with pytest.raises(BadArgumentError):
        read(wrong)


def test_keys_and_names_are_read_as_people_write_them() -> None:
    assert recognition._key(" ".join(["AB"] * 32)) == KEY
    assert pit._text("12 34") == "12 34"
    assert seats._bettor("3b") == (3, True)


def test_no_seat_is_both_active_seats() -> None:
    with pytest.raises(BadArgumentError, match="cannot be both"):
        seats._named_actives(2, 2, "Smith")


@pytest.mark.parametrize(
    ("request_", "shown"),
    [
        (VoidRound("Smith"), {}),
        (TellOddCard(OddCardFate.BURN, "Smith"), {"fate": "burn"}),
        (ClearFault("Smith"), {}),
        (NameCard(Card.parse("KS"), "Smith"), {"card": "KS"}),
        (AcceptAward("royal9-01.1", 500, "Smith"), {"award": "royal9-01.1", "cents": 500}),
        (PinRecognitionKey(KEY, "Smith"), {"key": fingerprint(bytes.fromhex(KEY))}),
    ],
)
def test_the_second_person_is_shown_what_the_act_would_do(request_: Any, shown: dict[str, object]) -> None:
    assert request_.details == shown


def _pins(table: TableUnderTest, offered: tuple[str, ...], asked: str) -> str | None:
    becomes = PinPitKey(asked, "Smith").becomes(table.table, replace(table.ambient, offered_pit_keys=offered))
    return becomes.code if isinstance(becomes, Refuse) else None


def test_a_pits_key_is_pinned_once_it_is_offered_and_compared() -> None:
    table, compared = between(), fingerprint(bytes.fromhex(KEY))
    assert _pins(table, (), compared) == "no_pit_key"
    assert _pins(table, (OTHER,), compared) == "pit_key_differs"
    assert _pins(table, (OTHER, KEY), compared.lower()) is None
    table.table = replace(table.table, pit_key=KEY)
    assert _pins(table, (KEY,), compared) == "pit_key_pinned"


def test_a_wager_of_bet_recognition_is_seen_once_and_under_the_adopted_key_alone() -> None:
    table = between().do(PinRecognitionKey(KEY, "Smith", "Jones"))
    assert table.ask(PinRecognitionKey(KEY, "Smith", "Jones")) == "recognition_key_pinned"
    wager = Wager(2, "player", 2000)
    assert table.ask(SeeWager(wager, 1, 1, 1, OTHER)) == "recognition_key_other"
    assert table.ask(SeeWager(wager, 1, 1, 1, KEY)) is None
    assert table.ask(SeeWager(wager, 1, 1, 1, KEY)) == "wager_old"


def test_a_word_of_bet_recognition_that_comes_where_no_wager_may_lie_is_noted_with_its_refusal() -> None:
    table = TableUnderTest().do(PinRecognitionKey(KEY, "Smith", "Jones"))
    assert table.ask(SeeWager(Wager(2, "player", 2000), 1, 1, 1, KEY)) is None
    noted = table.rows[-1].fact
    assert isinstance(noted, WagerSeen)
    assert noted.refusal == "no_shoe"
    assert table.face.wagers == ()


def test_a_yes_to_what_is_refused_by_now_gets_the_refusal() -> None:
    table = between()
    refused = not_as_shown(table.table, VoidRound("Smith", "Jones"), table.ambient, "as it was")
    assert refused is not None
    assert refused.code == table.ask(VoidRound("Smith", "Jones"))
