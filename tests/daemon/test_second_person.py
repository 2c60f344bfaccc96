"""Checks how a second person confirms a waiting act with the key at the table.

The second person turns the key after the act was shown, and then holds the act's own button.
"""

from __future__ import annotations

import pytest

from controller.daemon.second_person import HOLD_S, WAITS_S, Confirmed, SecondPerson
from controller.rules.game.cards import Card
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.every import ACTS
from controller.table.acts.rounds import OddCardFate, TellOddCard, VoidRound
from controller.table.acts.stopped import ClearFault
from controller.table.legality import Refuse
from controller.table.requests import ByTwo

HERE = (1, 2, "wagers_open")
BUTTONS = ("key", "deal", "cut_card", "void", "new_shoe")
CORRECT = CorrectRound(1, (Card.parse("KS"),), (Card.parse("2D"),), "Smith")
ASKED_S = 100.0
"""When Smith asks."""


def asked(request: ByTwo = CORRECT, inputs: tuple[str, ...] = BUTTONS) -> SecondPerson:
    second = SecondPerson(inputs)
    second.propose(request, "socket smith(7)", None, None, HERE, ASKED_S)
    return second


def by_key(
    second: SecondPerson,
    button: str = "cut_card",
    turned_s: float = ASKED_S + 1,
    pressed_s: float = ASKED_S + 2,
    held_s: float = HOLD_S,
    moment: object = HERE,
) -> Confirmed | Refuse | None:
    """Let the second person, Jones, turn the key and hold a button. Return the confirmed act, the refusal, or None if
    neither came.

    The key is turned at second `turned_s`. The button is pressed at second `pressed_s` and held for `held_s` seconds.
    `moment` is the shoe, round and phase of the table at that time.
    """
    second.key_turned(True, turned_s)
    second.pressed(button, moment, pressed_s)
    return second.held(moment, pressed_s + held_s)


def test_the_button_of_the_act_held_with_the_key_confirms_it() -> None:
    confirmed = by_key(asked())
    assert isinstance(confirmed, Confirmed)
    assert (confirmed.request.witness, confirmed.via) == ("key", "socket smith(7) and key")


def test_it_waits_half_a_minute_and_not_longer() -> None:
    assert WAITS_S <= 30
    in_time, late = (asked(), asked())
    last_s = ASKED_S + WAITS_S - HOLD_S - 0.1
    assert isinstance(by_key(in_time, pressed_s=last_s), Confirmed)
    assert by_key(late, pressed_s=last_s + 0.2) == Refuse("no_proposal")


@pytest.mark.parametrize("button", [name for name in BUTTONS if name != "cut_card"])
def test_another_button_confirms_nothing_and_keeps_its_meaning(button: str) -> None:
    second = asked()
    second.key_turned(True, ASKED_S + 1)
    assert not second.pressed(button, HERE, ASKED_S + 2)
    assert second.held(HERE, ASKED_S + 10) is None


@pytest.mark.parametrize("turned_s", [ASKED_S - 60, ASKED_S - 0.1, ASKED_S, ASKED_S + 0.2])
def test_a_key_that_was_turned_for_something_else_confirms_nothing(turned_s: float) -> None:
    """A turned key confirms nothing if it was turned before anybody could see that an act waits."""
    assert by_key(asked(), turned_s=turned_s) is None


def test_turning_the_key_alone_confirms_nothing() -> None:
    second = asked()
    second.key_turned(True, ASKED_S + 1)
    assert second.held(HERE, ASKED_S + 20) is None
    assert second.waiting(HERE, ASKED_S + 20) is not None


def test_a_short_press_confirms_nothing_and_means_nothing_else() -> None:
    """While an act waits for a second person, a short press of its button with the key turned does nothing at all.

    Otherwise a second person who lets go of `void` too early would void the round alone.
    """
    second = asked()
    second.key_turned(True, ASKED_S + 1)
    assert second.pressed("cut_card", HERE, ASKED_S + 2), "so no common press follows"
    assert second.held(HERE, ASKED_S + 2 + HOLD_S - 0.1) is None
    second.let_go("cut_card")
    assert second.held(HERE, ASKED_S + 20) is None
    assert isinstance(by_key(second, pressed_s=ASKED_S + 21), Confirmed), "a second try"


def test_a_key_that_is_turned_back_meanwhile_confirms_nothing() -> None:
    second = asked()
    second.key_turned(True, ASKED_S + 1)
    second.pressed("cut_card", HERE, ASKED_S + 2)
    second.key_turned(False, ASKED_S + 3)
    assert second.held(HERE, ASKED_S + 10) is None


def test_an_act_that_was_asked_for_meanwhile_is_not_confirmed() -> None:
    """A held button does not confirm an act that was asked for only after the press began.

    In the test Jones holds the button to confirm the act that was shown. While he holds it, Smith asks for another act,
    which Jones has not seen.
    """
    second = asked()
    second.key_turned(True, ASKED_S + 1)
    second.pressed("cut_card", HERE, ASKED_S + 2)
    second.propose(CORRECT, "socket smith(7)", None, None, HERE, ASKED_S + 3)
    assert second.held(HERE, ASKED_S + 10) == Refuse("proposal_changed")
    assert by_key(second, turned_s=ASKED_S + 1, pressed_s=ASKED_S + 4) is None, "nor by the key turned before it"


def test_what_waited_in_another_round_is_not_confirmed() -> None:
    assert by_key(asked(), moment=(1, 3, "wagers_open")) is None


@pytest.mark.parametrize(
    "request_", [VoidRound("key"), ClearFault("key"), TellOddCard(OddCardFate.NEXT_CARD, "dealer")]
)
def test_what_a_button_asked_for_waits_for_nobody(request_: ByTwo) -> None:
    """An act that was asked for with a button does not wait for a second person's confirmation, because nobody knows
    who pressed the button.

    Example: Jones turns the key to test a lamp, and Smith presses `void`. If the void waited, Smith could confirm it
    from his account as the second person, although he alone wants it.
    """
    second = SecondPerson(BUTTONS)
    second.propose(request_, "button void", None, None, HERE, ASKED_S)
    assert second.waiting(HERE, ASKED_S + 1) is None
    assert second.confirm(1, "Smith", "socket smith(7)", HERE, ASKED_S + 1) == Refuse("no_proposal")


def test_what_waits_goes_on_waiting_where_a_button_asks_for_something_else() -> None:
    second = asked()
    second.propose(VoidRound("key"), "button void", None, None, HERE, ASKED_S + 1)
    assert isinstance(by_key(second), Confirmed)


@pytest.mark.parametrize(
    ("inputs", "button"),
    [
        (BUTTONS, "cut_card"),
        (("key", "deal", "void"), "deal"),
        (("key", "void"), "void"),
        (("key",), None),
        (("deal", "cut_card"), None),
    ],
)
def test_a_table_without_the_acts_button_takes_another(inputs: tuple[str, ...], button: str | None) -> None:
    told = asked(inputs=inputs).status(HERE, ASKED_S)
    assert told is not None
    assert told.button == button


def test_no_button_that_confirms_is_one_that_only_some_shoes_have() -> None:
    """A table with a key and any one of the dealer's buttons can confirm every act by two people."""
    for act in ACTS:
        assert {"deal", "void"} <= {*act.confirmed_by}
