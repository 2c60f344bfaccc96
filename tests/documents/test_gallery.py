"""Checks that the gallery of pictures leaves nothing out: it shows the page of each house in each state."""

from __future__ import annotations

from itertools import product

from controller.basics.money import CURRENCIES
from tests.documents.gallery import HOUSES, LOOKS, SCRIPTS, STATES, each


def test_each_house_is_seen_in_each_state_and_at_each_size_in_each_script_and_each_state_in_each_currency() -> None:
    seen = [*each(HOUSES)]
    assert {(house, state) for house, _, _, state, _ in seen} == {*product(HOUSES, STATES)}
    assert {(house, size, script) for house, size, script, _, _ in seen} == {*product(HOUSES, LOOKS, SCRIPTS)}
    assert {(state, code) for _, _, _, state, code in seen} == {*product(STATES, CURRENCIES)}
