"""A midi hand watched by a subscriber to everything: before it is revealed no card of it is in any byte sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest

from controller.bench.daemon import Broker, ExistingBroker, Table
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.plugin import Dealer, Eventually
from tests.support.brokers import Peer

Everything = Callable[[], list[bytes]]

_CARD = re.compile(rb"\b(?:[A2-9TJQK][SHDC])\b")
_SIGNATURE = re.compile(rb'"signature": ?"[^"]*"')  # one in a thousand holds what looks like a card
_BURNED = {b"2C"}  # the shoe's first card, which everybody sees; no other card of the tests is one


@pytest.fixture
def everything(broker: Broker | ExistingBroker, table: Table) -> Iterator[Everything]:
    """Every message on the broker until now, topic and payload."""
    if broker.certs is not None:
        pytest.skip("this broker lets nobody hear everything")
    heard: list[bytes] = []

    def until_now() -> list[bytes]:
        heard.extend(message.topic.encode() + b" " + bytes(message.payload) for message in peer.so_far())
        return heard

    with Peer(broker.port, "#", host=broker.host) as peer:
        yield until_now


@pytest.mark.table(example="sugarhouse_midi", game={"shoe": {"drawn_in_error": "burn"}})
def test_a_whole_hand_burned_in_error_is_told_to_nobody(
    everything: Everything,
    table: Table,
    shoe: FarShoe,
    pit: FarPit,
    dealer: Dealer,
    eventually: Eventually,
) -> None:
    dealer.open_shoe()
    shoe.deal("4S")
    for card in ("TH", "5D", "9C"):  # the shoe's own hand goes on, and the table's has not begun
        shoe.deal(card)
        eventually(lambda: table.fault == "target_differs")
        table.supervisor("clear")
    eventually(lambda: any(fact["fact"] == "ShoeResultReported" for fact in table.facts()))
    assert (table.phase, table.fault) == ("wagers_open", None)
    assert [event["details"] for event in pit.told("fault")] == [{}] * 3
    told = b"\n".join([*everything(), json.dumps(table.status()).encode(), table.log.encode()])
    assert set(_CARD.findall(_SIGNATURE.sub(b"", told))) <= _BURNED
    assert b"tie" not in json.dumps(pit.told("fault")).encode()


@pytest.mark.table(example="sugarhouse_midi")
def test_no_card_is_told_before_it_is_revealed(
    everything: Everything,
    table: Table,
    shoe: FarShoe,
    pins: Pins,
    pit: FarPit,
    dealer: Dealer,
    eventually: Eventually,
) -> None:
    def seen() -> set[bytes]:
        """Every card in what was sent, shown over the socket, or logged."""
        told = [*everything(), json.dumps(table.status()).encode(), table.log.encode()]
        return set(_CARD.findall(_SIGNATURE.sub(b"", b"\n".join(told)))) - _BURNED

    dealer.open_shoe()
    pit.wager(seat=2, spot="player", cents=2000)
    eventually(lambda: len(table.face["wagers"]) == 1)
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    for came, card in enumerate(("5H", "6D", "TH", "8S"), 1):
        shoe.deal(card)
        eventually(lambda came=came: sum(map(len, table.hands.values())) == came)  # type: ignore[misc]
        assert seen() == set()
    assert table.face["reveal"] == ["player", "banker"]
    eventually(lambda: pins.seat(2) == "turn")  # it squeezes Player's cards
    assert pins.seat(1) == "nothing"
    assert seen() == set()

    pins.press("reveal", until=lambda: table.face["reveal"] == [])
    assert table.hands == {"player": ["5H", "TH"], "banker": ["6D", "8S"]}
    shoe.deal("9D")
    eventually(lambda: table.hands["player"] == ["5H", "TH", "--"])
    assert b"9D" not in seen()
    pins.press("reveal", until=lambda: table.hands["player"][-1] == "9D")
    eventually(lambda: [hand["outcome"] for hand in pit.rounds] == ["tie"])
