"""Checks the bytes of an event: their canonical form, their place in the journal's hash chain, and the table's
signature over them."""

from __future__ import annotations

import base64
import hashlib
import json
from itertools import permutations

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from controller.contract.canonical import canonical
from controller.contract.envelope import GENESIS, Stamp, chain_head, seal
from controller.contract.events import FaultCleared, SeatCents, ShoeClosed
from controller.contract.keys import SigningKey
from tests.support.contract import check_event

EVENT = ShoeClosed(3, None, "final_round", "table", 71, 70, 14, (SeatCents(2, 125),))
KEY = SigningKey(bytes(range(32)))


def test_canonical_bytes_are_sorted_tight_utf_8() -> None:
    assert canonical({"b": [1, {"d": None, "c": True}], "a": "Kärtchen ♠"}) == (
        '{"a":"Kärtchen ♠","b":[1,{"c":true,"d":null}]}'.encode()
    )


def test_key_order_changes_nothing_and_values_everything() -> None:
    assert {canonical(dict(order)) for order in permutations([("a", 1), ("b", 2), ("c", 3)])} == {
        b'{"a":1,"b":2,"c":3}'
    }
    assert canonical({"a": 1}) != canonical({"a": "1"}) != canonical({"a": True})


@pytest.mark.parametrize("cannot", [float("nan"), float("inf"), b"bytes", {1, 2}, EVENT])
def test_what_json_cannot_say_is_an_error(cannot: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical({"a": cannot})


def test_a_sealed_event_says_where_and_when_it_stands() -> None:
    body = seal(EVENT, "royal9-01", "3f2a", 12, Stamp(1_700_000_000_005, synchronised=True), GENESIS, None)
    event = check_event(body, signed=False)
    assert event == {
        "type": "shoe_closed",
        "shoe": 3,
        "round": None,
        "reason": "final_round",
        "by": "table",
        "rounds": 71,
        "wagered_rounds": 70,
        "cards_left": 14,
        "commission_owed": [{"seat": 2, "cents": 125}],
        "id": "royal9-01/3f2a/12",
        "contract": 4,
        "table": "royal9-01",
        "epoch": "3f2a",
        "seq": 12,
        "at": "2023-11-14T22:13:20.005Z",
        "clock_synchronised": True,
        "chain": "00" * 32,
    }


def test_a_signature_holds_over_the_event_without_it_and_over_nothing_else() -> None:
    event = check_event(seal(EVENT, "royal9-01", "3f2a", 12, Stamp(0, synchronised=False), GENESIS, KEY))
    signature = base64.b64decode(event.pop("signature"))
    public = Ed25519PublicKey.from_public_bytes(KEY.public)
    public.verify(signature, canonical(event))
    for name, value in event.items():
        with pytest.raises(InvalidSignature):
            public.verify(signature, canonical(event | {name: f"{value}!"}))
        with pytest.raises(InvalidSignature):
            public.verify(signature, canonical({other: event[other] for other in event if other != name}))
    with pytest.raises(InvalidSignature):
        Ed25519PublicKey.from_public_bytes(SigningKey(bytes(32)).public).verify(signature, canonical(event))


def test_a_name_in_any_script_survives_the_seal() -> None:
    body = seal(
        FaultCleared(1, 2, "shoe_error", "Müller ♣", "clear"), "t", "0", 1, Stamp(0, synchronised=False), GENESIS, KEY
    )
    assert check_event(body)["by"] == "Müller ♣"
    assert "Müller ♣".encode() in body


def test_the_chain_head_is_this_hash() -> None:
    """The head of the hash chain equals a hash that the test computes by hand. The hash covers the salt first and then
    each other part, and eight bytes with its length stand before each part."""
    head, fact, messages, salt = b"h" * 32, b"fact", [b"one", b"two"], b"s" * 16
    parts = b"".join(len(part).to_bytes(8, "big") + part for part in (salt, fact, *messages))
    assert chain_head(head, fact, messages, salt) == hashlib.sha256(head + parts).digest()


def test_the_chain_head_changes_with_every_part() -> None:
    heads = [
        chain_head(GENESIS, b"fact", [b"one", b"two"], bytes(16)),
        chain_head(b"h" * 32, b"fact", [b"one", b"two"], bytes(16)),
        chain_head(GENESIS, b"facts", [b"one", b"two"], bytes(16)),
        chain_head(GENESIS, b"fact", [b"one", b"too"], bytes(16)),
        chain_head(GENESIS, b"fact", [b"two", b"one"], bytes(16)),
        chain_head(GENESIS, b"fact", [b"onetwo"], bytes(16)),
        chain_head(GENESIS, b"fact", [b"one"], bytes(16)),
        chain_head(GENESIS, b"fact", [], bytes(16)),
        chain_head(GENESIS, b"factone", [b"two"], bytes(16)),
        chain_head(GENESIS, b"fact", [b"one", b"two"], b"s" * 16),
    ]
    assert len(set(heads)) == len(heads)


def test_a_message_holds_no_more_of_a_face_down_card_than_the_head_before_it() -> None:
    """With different salts, the same burned card gives different heads of the hash chain. So nobody can find out the
    card by computing the head for each possible card."""
    burned = json.dumps({"fact": "CardDrawn", "card": "KS"}).encode()
    assert chain_head(GENESIS, burned, [], b"a" * 16) != chain_head(GENESIS, burned, [], b"b" * 16)
