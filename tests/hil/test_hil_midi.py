"""Checks a midi round (dealt face down) with a client that subscribes to everything. Before the cards are revealed, no
byte that was sent shows any of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest

from controller.bench.daemon import Broker, ExistingBroker, Table
from controller.daemon.control.lines import line
from tests.hil.bench import Bench
from tests.support.brokers import Peer

Everything = Callable[[], list[bytes]]

_CARD = re.compile(rb"\b(?:[A2-9TJQK][SHDC])\b")
_SIGNATURE = re.compile(rb'"signature": ?"[^"]*"')  # one in a thousand holds what looks like a card
_BURNED = {b"2C"}  # the shoe's first card, which everybody sees; no other card of the tests is one


@pytest.fixture
def everything(broker: Broker | ExistingBroker, table: Table) -> Iterator[Everything]:
    """Yield a function that returns all messages that passed through the broker so far, each with its topic and
    payload."""
    if broker.certs is not None:
        pytest.skip("this broker lets nobody hear everything")
    heard: list[bytes] = []

    def until_now() -> list[bytes]:
        heard.extend(message.topic.encode() + b" " + bytes(message.payload) for message in peer.so_far())
        return heard

    with Peer(broker.port, "#", host=broker.host) as peer:
        yield until_now


@pytest.mark.table(example="sugarhouse_midi", game={"shoe": {"drawn_in_error": "burn"}})
def test_a_whole_round_burned_in_error_is_told_to_nobody(everything: Everything, at: Bench) -> None:
    at.dealer.open_shoe()
    at.shoe.deal("4S")
    for card in ("TH", "5D", "9C"):  # the shoe's own round goes on, and the table's has not begun
        at.shoe.deal(card)
        at.eventually(lambda: at.table.fault == "target_differs")
        at.table.supervisor("clear")
    at.eventually(lambda: any(fact["fact"] == "ShoeResultReported" for fact in at.table.facts()))
    assert (at.table.phase, at.table.fault) == ("wagers_open", None)
    at.eventually(lambda: at.table.unacknowledged() == 0)
    assert [event["details"] for event in at.pit.told("fault")] == [{}] * 3
    told = b"\n".join([*everything(), line(at.table.status()), at.table.log.encode()])
    assert set(_CARD.findall(_SIGNATURE.sub(b"", told))) <= _BURNED
    assert b"tie" not in json.dumps(at.pit.told("fault")).encode()


@pytest.mark.table(example="sugarhouse_midi")
def test_no_card_is_told_before_it_is_revealed(everything: Everything, at: Bench) -> None:
    def seen() -> set[bytes]:
        """Return every card that was named in a sent message, on the control socket, or in the log."""
        told = [*everything(), line(at.table.status()), at.table.log.encode()]
        return set(_CARD.findall(_SIGNATURE.sub(b"", b"\n".join(told)))) - _BURNED

    at.dealer.open_shoe()
    at.table.supervisor("wager", seat=2, spot="player", cents=2000)
    at.eventually(lambda: len(at.table.face.wagers) == 1)
    at.dealer.lock()
    for card in ("5H", "6D", "TH", "8S"):
        at.dealer.deal(card)
        assert seen() == set()
    assert at.table.face.reveal == ("player", "banker")
    at.eventually(lambda: (at.pins.seat(2), at.pins.seat(1)) == ("turn", "nothing"))  # it squeezes Player's cards
    assert seen() == set()

    at.pins.press("reveal", until=lambda: at.table.face.reveal == ())
    assert at.table.hands == {"player": ["5H", "TH"], "banker": ["6D", "8S"]}
    at.shoe.deal("9D")
    at.eventually(lambda: at.table.hands["player"] == ["5H", "TH", "--"])
    assert b"9D" not in seen()
    at.pins.press("reveal", until=lambda: at.table.hands["player"][-1] == "9D")
    at.eventually(lambda: [event["outcome"] for event in at.pit.rounds] == ["tie"])
