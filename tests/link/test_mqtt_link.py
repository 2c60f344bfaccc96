"""Checks those parts of the MQTT link that need no network. One part counts cut connections. The other part judges
signs of a second client with the same name."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from controller.contract.wire.mqtt_link import Cuts, Rival, await_thread


def test_cuts_are_told_once_a_minute_and_counted_for_ten() -> None:
    cuts = Cuts()
    assert [cuts.cut(at_s) for at_s in (0.0, 1.0, 59.0, 60.0, 61.0)] == [True, False, False, True, False]
    assert cuts.often(61.0) == "the link was cut 5 times in the last minute"
    assert cuts.often(300.0) == "the link was cut 5 times in the last 5 minutes"
    assert cuts.often(620.0) == "the link was cut 3 times in the last 9 minutes"
    assert cuts.often(660.5) == "", "fewer than three are no news"


def test_a_thread_that_ends_while_it_is_awaited_has_ended() -> None:
    """Waiting for the end of paho's thread succeeds even if the thread ends during the wait. The wait reads paho's
    reference to the thread three times, and a thread that ends removes that reference."""

    class Ending(Client):
        looks = 0

        @property
        def _thread(self) -> threading.Thread | None:
            self.looks += 1
            return threading.Thread() if self.looks < 3 else None

        @_thread.setter
        def _thread(self, _: threading.Thread | None) -> None: ...

    client = cast(Any, Ending)(CallbackAPIVersion.VERSION2)
    await_thread(client)
    assert client.looks == 3


def test_two_signs_are_another_client() -> None:
    for signs in ("foreign", "closed"), ("closed", "foreign"), ("foreign", "foreign"), ("closed", "closed"):
        assert [*tell(signs)] == [False, True], signs


@pytest.mark.parametrize("sign", ["foreign", "closed"])
def test_one_sign_is_none_and_after_ten_minutes_it_is_forgotten(sign: str) -> None:
    assert [*tell((sign, sign), 601.0)] == [False, False]


def test_the_brokers_own_word_for_it_is_enough() -> None:
    assert Rival().ended(taken_over=True, closed_by_broker=False, now_s=0.0)


def test_what_was_there_before_we_wrote_is_an_earlier_run() -> None:
    rival = Rival()
    assert not any(rival.own_topic(ours=False, now_s=float(now_s)) for now_s in range(9))


def test_a_broker_that_closed_the_connection_and_forgot_was_restarted() -> None:
    rival = Rival()
    rival.wrote()
    for now_s in range(9):
        assert not rival.ended(taken_over=False, closed_by_broker=True, now_s=float(now_s))


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 100)), max_size=60))
def test_no_number_of_cuts_is_another_client(cuts: list[tuple[bool, float]]) -> None:
    """No number of cut connections is taken as a sign of another client with the same name. This holds however fast the
    cuts follow each other, and whether or not the broker still has the retained message."""
    rival, now_s = Rival(), 0.0
    rival.wrote()
    for remembered, wait_s in cuts:
        now_s += wait_s
        assert not rival.ended(taken_over=False, closed_by_broker=False, now_s=now_s)
        assert not (remembered and rival.own_topic(ours=True, now_s=now_s))


def tell(signs: tuple[str, ...], apart_s: float = 1.0) -> Iterator[bool]:
    """Give these signs, "foreign" or "closed", to a new `Rival` object, `apart_s` seconds apart. Yield after each sign
    whether the object suspects another client with the same name."""
    rival = Rival()
    rival.wrote()
    for place, sign in enumerate(signs):
        now_s = place * apart_s
        closed = sign == "closed"
        rival.ended(taken_over=False, closed_by_broker=closed, now_s=now_s)
        yield rival.own_topic(ours=closed, now_s=now_s)
