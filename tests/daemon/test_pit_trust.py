"""Checks which messages the table accepts as the pit's: the pit's key can be pinned, offered, or handed over to a new
key.

Messages whose time is far ahead of the clock are checked too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from controller.contract.bounds import MOST_AHEAD_MS, MOST_LEAP_MS, MOST_SEQ
from controller.contract.canonical import parse_object
from controller.contract.envelope import Stamp
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord, AwardStep, PitKeyWord, Rotation
from controller.daemon.delivery.pit_trust import Offer, PitTrust, latest_ms, leaps
from controller.table.acts.entry import Ambient
from controller.table.acts.pit import PinPitKey, PitKeyPinned, SeeAward
from controller.table.facts import AwardStepped
from controller.table.requests import decide
from controller.table.states import Table
from tests.support.tables import ROYAL9, TableUnderTest

NOW = Stamp(1_767_225_600_000, synchronised=True)
AT = NOW.text()
KEYS = [SigningKey(bytes([place]) * 32) for place in range(4)]
ROTATIONS = tuple(Rotation.by(old.public.hex(), old, new.public.hex()) for old, new in pairwise(KEYS))


def offered(key: SigningKey, *rotations: Rotation, signer: SigningKey | None = None) -> bytes:
    return PitKeyWord(key.public.hex(), AT, rotations).payload(signer or key)


def test_a_key_is_only_offered_until_a_person_pins_it() -> None:
    trust = PitTrust(None)
    assert trust.offer(offered(KEYS[0]), present=True) is Offer.UNPINNED
    assert (trust.pinned, trust.offered) == (None, KEYS[0].public)
    assert not trust.signed(parse_object(AckWord("t", "e", 0, "0" * 64, AT).payload(KEYS[0])))


def test_what_the_pinned_key_has_signed_is_the_pits_and_nothing_else() -> None:
    trust = PitTrust(KEYS[0].public)
    word = parse_object(AckWord("t", "e", 0, "0" * 64, AT).payload(KEYS[0]))
    assert trust.signed(word)
    for name in word:
        assert not trust.signed(word | {name: "AAAA"}), name
        assert not trust.signed({other: value for other, value in word.items() if other != name}), name
    assert not trust.signed(parse_object(AckWord("t", "e", 0, "0" * 64, AT).payload(KEYS[1])))


@pytest.mark.parametrize("pinned", [0, 1, 2])
def test_rotations_lead_from_whatever_key_is_pinned_to_the_pits_own(pinned: int) -> None:
    trust = PitTrust(KEYS[pinned].public)
    assert trust.offer(offered(KEYS[3], *ROTATIONS), present=True) is Offer.ROTATED
    assert trust.pinned == KEYS[3].public
    assert trust.offer(offered(KEYS[3], *ROTATIONS), present=True) is Offer.PINNED
    assert trust.offer(offered(KEYS[0]), present=True) is Offer.DIFFERS, "there is no way back"


def test_a_table_that_was_away_asks_a_person_and_believes_neither_the_thief_of_a_former_key_nor_that_key() -> None:
    stolen, true, thief = KEYS[0], KEYS[1], KEYS[2]
    trust = PitTrust(stolen.public)
    by_thief = Rotation.by(stolen.public.hex(), stolen, thief.public.hex())
    ack = AckWord("t", "e", 0, "0" * 64, AT)
    assert trust.offer(offered(thief, by_thief), present=False) is Offer.HANDED_OVER
    assert (trust.pinned, trust.successor) == (stolen.public, thief.public)
    assert trust.offer(offered(true, ROTATIONS[0]), present=False) is Offer.HANDED_OVER
    for _ in range(100):  # however often the thief goes on, and by whichever key
        trust.offer(offered(stolen), present=True)
        assert trust.offer(offered(thief, by_thief), present=True) is Offer.HANDED_OVER
        assert not any(trust.signed(parse_object(ack.payload(key))) for key in (stolen, true, thief))
    assert true.public in trust.offers, "a person can pin it"
    trust.pin(true.public)
    assert trust.signed(parse_object(ack.payload(true)))
    assert trust.offer(offered(thief, by_thief), present=True) is Offer.DIFFERS
    assert not trust.signed(parse_object(ack.payload(stolen)))


@pytest.mark.parametrize(
    "rotations",
    [
        (),
        ROTATIONS[1:],
        (ROTATIONS[0], ROTATIONS[2]),
        (replace(ROTATIONS[0], signature=ROTATIONS[1].signature), *ROTATIONS[1:]),
        (replace(ROTATIONS[0], signature="not Base64"), *ROTATIONS[1:]),
        (Rotation.by(KEYS[0].public.hex(), KEYS[3], KEYS[3].public.hex()),),
    ],
    ids=["none", "begun later", "a gap", "another's signature", "no signature", "signed by the new key"],
)
def test_a_key_that_the_pinned_one_has_not_handed_over_to_differs(rotations: tuple[Rotation, ...]) -> None:
    trust = PitTrust(KEYS[0].public)
    assert trust.offer(offered(KEYS[3], *rotations), present=True) is Offer.DIFFERS
    assert (trust.pinned, trust.offered) == (KEYS[0].public, KEYS[3].public)


@pytest.mark.parametrize("payload", [b"", b"{}", b"[" * 100_000, offered(KEYS[3], signer=KEYS[0])])
def test_what_is_no_key_that_signed_itself_is_not_offered(payload: bytes) -> None:
    trust = PitTrust(KEYS[0].public)
    assert trust.offer(payload, present=True) is Offer.MALFORMED
    assert trust.offered is None


# Numbers and times.

STEP = AwardStep("t.1", "t/e/7", "t", 1, "royal", None, 5, "pending", "pit", AT, NOW.at_ms)


@pytest.mark.parametrize(
    ("change", "leap"),
    [
        ({}, False),
        ({"seq": NOW.at_ms + MOST_LEAP_MS}, False),
        ({"seq": NOW.at_ms + MOST_LEAP_MS + 1}, True),
        ({"seq": MOST_SEQ}, True),
        ({"at": replace(NOW, at_ms=NOW.at_ms + MOST_AHEAD_MS).text()}, False),
        ({"at": replace(NOW, at_ms=NOW.at_ms + MOST_AHEAD_MS + 1).text()}, True),
    ],
    ids=repr,
)
def test_a_number_is_no_time_to_come(change: dict[str, Any], leap: bool) -> None:
    word = replace(STEP, **change)
    assert (leaps(word, NOW) is not None) is leap


# What the table does with it.


def ambient(**known: Any) -> Ambient:
    return replace(TableUnderTest().ambient, **known)


def stepped(seq: int, cents: int = 5) -> AwardStepped:
    return AwardStepped(seq, "t.1", "t/e/7", 1, 1, "royal9", 1, "royal", "big", cents, "pending", "pit")


def test_a_number_that_was_forged_once_makes_no_true_one_old_for_ever() -> None:
    """If the journal holds a forged, much too high award number, the table still accepts the pit's true, lower numbers.

    A journal of an earlier version may hold such a number, because that version believed unsigned messages.
    """
    poisoned = Table(ROYAL9, award_seq=MOST_SEQ)
    latest = latest_ms(NOW) + MOST_LEAP_MS
    assert decide(poisoned, SeeAward(stepped(NOW.at_ms)), ambient(latest_seq=latest)) == stepped(NOW.at_ms)
    well = Table(ROYAL9, award_seq=NOW.at_ms + 1)
    told = decide(well, SeeAward(stepped(NOW.at_ms)), ambient(latest_seq=latest))
    assert getattr(told, "code", None) == "award_old"


def test_a_key_is_pinned_by_the_fingerprint_that_a_person_read() -> None:
    table, key = Table(ROYAL9), KEYS[0].public
    told = fingerprint(key)
    for asked in (told, told.replace(" ", ""), told.upper()):
        assert decide(
            table,
            PinPitKey(asked, "Ann"),
            ambient(offered_pit_keys=(KEYS[2].public.hex(), key.hex(), KEYS[3].public.hex())),
        ) == PitKeyPinned(key.hex(), "Ann")
    refused = {
        "no_pit_key": (table, told, None),
        "pit_key_differs": (table, fingerprint(KEYS[1].public), key.hex()),
        "pit_key_pinned": (replace(table, pit_key=key.hex()), told, key.hex()),
    }
    for code, (of, asked, offer) in refused.items():
        answer = decide(of, PinPitKey(asked, "Ann"), ambient(offered_pit_keys=() if offer is None else (offer,)))
        assert getattr(answer, "code", None) == code
