"""What is said in the pit's name, and is not the pit's; what is the pit's, and cannot be; and the pit's key.

The table has pinned the key of the test's own pit. Whoever may publish on the broker can say anything besides.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from controller.bench.daemon import Table
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.plugin import Dealer, Eventually
from controller.contract.fingerprint import fingerprint
from controller.errors import TableError
from drivers.sim.signing import public_hex
from tests.hil.awards import award_step

THIEF = Ed25519PrivateKey.from_private_bytes(bytes(32))
HIGHEST = 2**63 - 1
A_LOT = 10**12
PLAYER_WINS = "9C TD TC 5D"


def forged(word: bytes) -> tuple[bytes, ...]:
    """The word as a forger may say it: without a signature, and as another has signed it."""
    said = json.loads(word)
    del said["signature"]
    unsigned = json.dumps(said).encode()
    return unsigned, json.dumps(said | {"signature": "A" * 86 + "=="}).encode()


def print_of(key: Ed25519PrivateKey) -> str:
    return fingerprint(key.public_key().public_bytes_raw())


@pytest.fixture
def hit(table: Table, pins: Pins, shoe: FarShoe, pit: FarPit, dealer: Dealer, eventually: Eventually) -> dict[str, Any]:
    """A table whose seat 1 has hit a meter, and its event."""
    dealer.open_shoe()
    pins.cover(1)
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    shoe.deal("KS 2D 9S 3C")
    eventually(lambda: len(pit.hits) == 1 and table.unacknowledged() == 0)
    return pit.hits[0]


def alarms(pit: FarPit) -> list[str]:
    return [event["code"] for event in pit.told("alarm")]


def test_a_forged_award_is_believed_by_nobody_and_makes_no_true_one_old(
    hit: dict[str, Any], table: Table, pit: FarPit, eventually: Eventually
) -> None:
    for said in (award_step(hit, cents=A_LOT), award_step(hit, seq=HIGHEST)):
        for payload in (*forged(pit.signed("award", **said)), pit.signed("award", signer=THIEF, **said)):
            pit.say_on("award", payload)
    eventually(lambda: table.status()["pit"]["key"]["forged"] == {"award": 4})  # two are no words at all
    for step, seq in (("pending", 1), ("verified", 2)):
        pit.award(**award_step(hit, step=step, seq=seq))
    eventually(lambda: [event["step"] for event in pit.told("award")] == ["pending", "verified"])
    assert alarms(pit) == ["pit_word_forged"], "once, however often it comes"
    assert table.face["hits"][0]["cents"] == 250_000
    assert table.fault is None


def test_the_pit_itself_can_say_no_award_that_its_hit_cannot_have(
    hit: dict[str, Any], table: Table, pit: FarPit, eventually: Eventually
) -> None:
    pit.award(**award_step(hit, cents=A_LOT))
    eventually(lambda: alarms(pit) == ["award_impossible"])
    details = pit.told("alarm")[0]["details"]
    assert (details["cents"], details["most_cents"]) == (A_LOT, 250_000 + 500_000), "as shown, and 1000 wagers of $5"
    pit.award(**award_step(hit, seq=HIGHEST))
    pit.award(**award_step(hit, cents=250_000 + 500_000, seq=1))
    eventually(lambda: [event["cents"] for event in pit.told("award")] == [750_000])
    assert "is a time after its own" in table.log


def test_an_award_that_two_people_accept_is_believed(
    hit: dict[str, Any], table: Table, pins: Pins, pit: FarPit, eventually: Eventually
) -> None:
    pit.award(**award_step(hit, cents=A_LOT))
    eventually(lambda: alarms(pit) == ["award_impossible"])
    asked = table.tablectl("accept-award", f"{hit['table']}.1", str(A_LOT), "--by", "Ann")
    assert "waits" in asked.stdout, asked.stderr
    pins.turn_key()
    eventually(lambda: [event["cents"] for event in pit.told("award")] == [A_LOT])


def test_an_acknowledgement_that_the_pit_never_gave_is_no_fault(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    eventually(lambda: table.unacknowledged() == 0)
    past_the_head: dict[str, Any] = {
        "epoch": pit.events[0]["epoch"],
        "seq": 99,
        "chain": "00" * 32,
        "table": table.table_id,
    }
    for payload in (
        *forged(pit.signed("ack", **past_the_head)),
        pit.signed("ack", signer=THIEF, **past_the_head),
        pit.signed("ack", **past_the_head | {"table": "royal9-99"}),  # the pit's own word to another table
    ):
        pit.say(payload)
    dealer.play(PLAYER_WINS)
    eventually(lambda: len(pit.rounds) == 1 and table.unacknowledged() == 0)
    assert (table.fault, table.status()["pit"]["key"]["forged"]) == (None, {"ack": 2})
    assert alarms(pit) == ["pit_word_forged"]


def test_two_people_leave_the_fault_once_the_pit_has_taken_its_word_back(
    table: Table, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    eventually(lambda: table.unacknowledged() == 0)
    pit.silent()
    epoch, head = pit.events[0]["epoch"], len(pit.events)
    pit.say(pit.ack(epoch=epoch, seq=99, chain="00" * 32))
    eventually(lambda: table.fault == "journal_behind_pit")
    for _ in range(2):  # a restart tells it the same word again
        told = table.tablectl("clear", "--by", "Ann")
        assert told.returncode == 1
        assert "pit_stands_by_it" in told.stderr
        table.restart()
        eventually(lambda: table.status()["pit"]["connected"])
    pit.say(pit.ack(epoch=epoch, seq=head, chain=pit.events[-1]["chain"]))
    eventually(lambda: table.face["fault"]["exits"] == ["clear"])
    assert "tablectl witness" in table.tablectl("clear", "--by", "Ann").stdout
    assert "not_two_people" in table.tablectl("witness", "--by", "Bob").stderr, "from the same account"
    assert table.fault == "journal_behind_pit"
    pins.hold("key")  # the supervisor's, at the table
    eventually(lambda: table.fault == "shoe_unheard")  # since the restart; it waited behind the other
    pins.let_go("key")
    table.count()
    pit.speak()
    dealer.play(PLAYER_WINS)
    eventually(lambda: len(pit.rounds) == 1 and table.unacknowledged() == 0)
    assert [event["by"] for event in pit.told("fault_cleared")] == ["Ann, key", "Ann"]
    assert pit.wrong == []


def test_forged_meters_are_shown_to_nobody_and_make_no_true_ones_old(
    table: Table, pit: FarPit, eventually: Eventually
) -> None:
    false: dict[str, Any] = {"seq": HIGHEST, "meters": dict.fromkeys(pit.levels, A_LOT)}
    for payload in (*forged(pit.signed("meters", **false)), pit.signed("meters", signer=THIEF, **false)):
        pit.say_on("meters", payload)
    pit.say_on("meters", pit.signed("meters", **false))  # nor can the pit itself say so
    pit.levels = pit.levels | {"player_personal": 250_100}
    eventually(lambda: table.status()["pit"]["meters"] == pit.levels)
    assert table.status()["pit"]["key"]["forged"] == {"meters": 2}
    eventually(lambda: alarms(pit) == ["pit_word_forged"])
    assert table.status()["pit"]["meters_fresh"]


def test_what_the_pit_said_once_is_believed_once(
    hit: dict[str, Any], table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    old_ack = pit.ack(epoch=pit.events[0]["epoch"], seq=0, chain="00" * 32)
    old_step = pit.signed("award", **award_step(hit, step="pending", seq=1))
    old_meters = pit.signed("meters", seq=1, meters=dict.fromkeys(pit.levels, 1))
    pit.say_on("award", old_step)
    pit.award(**award_step(hit, step="paid", seq=2))
    eventually(lambda: len(pit.told("award")) == 2 and table.unacknowledged() == 0)
    for topic, payload in (("ack", old_ack), ("award", old_step), ("meters", old_meters)):
        pit.say_on(topic, payload)
    dealer.play(PLAYER_WINS)
    eventually(lambda: len(pit.rounds) == 2 and table.unacknowledged() == 0)
    assert [event["step"] for event in pit.told("award")] == ["pending", "paid"]
    assert table.status()["pit"]["meters"] == pit.levels
    assert pit.repeats == 0, "nothing was sent again"
    assert "was believed before" in table.log


# The pit's key.


def offered_by(pit: FarPit, key: Ed25519PrivateKey) -> bytes:
    return pit.signed("pit_key", signer=key, public_key=public_hex(key), rotations=[])


def test_another_key_is_an_alarm_that_names_both_until_a_person_pins_it(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    pit.say_on("pit-key", offered_by(pit, THIEF))
    eventually(lambda: alarms(pit) == ["pit_key_differs"])
    assert pit.told("alarm")[0]["details"] == {"offered": print_of(THIEF), "pinned": print_of(pit.key)}
    dealer.open_shoe()
    eventually(lambda: table.unacknowledged() == 0)
    shown = table.tablectl("pit-key").stdout
    assert f"offered: {print_of(THIEF)}" in shown
    assert f"pinned:  {print_of(pit.key)}" in shown
    assert "pit_key_differs" in table.tablectl("pit-key", "--trust", print_of(pit.key), "--by", "Ann").stderr
    assert "arguments_incomplete" in table.tablectl("pit-key", "--trust", print_of(THIEF)).stderr

    pit.gone()
    pit.key = Ed25519PrivateKey.generate()  # the pit lost its own
    pit.come()
    eventually(lambda: table.status()["pit"]["key"]["offered"] == print_of(pit.key))
    assert table.tablectl("pit-key", "--trust", print_of(pit.key).upper(), "--by", "Ann").returncode == 0
    pinned = [fact for fact in table.facts() if fact["fact"] == "PitKeyPinned"]
    assert [(fact["public_key"], fact["by"]) for fact in pinned[1:]] == [(public_hex(pit.key), "Ann")]
    eventually(lambda: table.unacknowledged() == 0 and bool(table.status()["pit"]["fresh"]))
    table.restart()
    eventually(lambda: bool(table.status()["pit"]["fresh"]))


def test_a_rotated_key_is_taken_by_the_former_ones_word_also_after_several(
    table: Table, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    dealer.open_shoe()
    pit.gone()
    pit.rotate()
    pit.come()
    eventually(lambda: table.status()["pit"]["key"]["pinned"] == print_of(pit.key))
    dealer.play(PLAYER_WINS)
    eventually(lambda: table.unacknowledged() == 0)
    table.kill()
    pit.gone()
    pit.rotate()
    pit.rotate()
    pit.come()
    table.start()
    table.count()
    eventually(lambda: table.status()["pit"]["key"]["pinned"] == print_of(pit.key))
    eventually(lambda: table.unacknowledged() == 0 and bool(table.status()["pit"]["fresh"]))
    assert [fact["public_key"] for fact in table.facts() if fact["fact"] == "PitKeyRotated"][-1] == public_hex(pit.key)
    assert (alarms(pit), table.fault) == ([], None)


@pytest.mark.table(pit={"trust_first_key": False})
def test_until_a_person_has_pinned_a_key_nothing_of_the_pit_is_believed_and_baccarat_goes_on(
    unstarted_table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    table = unstarted_table
    table.start()
    eventually(lambda: bool(table.status()["shoe"]["up"] and table.status()["pit"]["key"]["offered"]))
    dealer.open_shoe()
    pins.cover(1)
    eventually(lambda: pins.seat(1) == "refused")
    dealer.play(PLAYER_WINS)
    eventually(lambda: len(pit.rounds) == 1)
    told = table.status()["pit"]
    assert (told["acked_seq"], told["meters"], told["fresh"]) == (0, {}, False)
    status = table.tablectl("status").stdout
    assert "No pit key is pinned at this table." in status
    with pytest.raises(TableError, match="pit_key_differs"):
        table.supervisor("pit_key", trust=print_of(THIEF))
    command = next(line for line in status.splitlines() if "tablectl pit-key" in line)
    assert f'--trust "{print_of(pit.key)}" --by NAME' in command
    assert table.tablectl("pit-key", "--trust", print_of(pit.key), "--by", "Ann").returncode == 0
    eventually(lambda: table.unacknowledged() == 0 and bool(table.status()["pit"]["fresh"]))
    assert "PINNED" not in table.tablectl("status").stdout
