"""Checks messages that somebody forges in the pit's name, messages of the pit that cannot be true, and the handling of
the pit's key.

The table has pinned (accepted as the pit's) the key of the test's own pit. Anybody who may publish on the broker can
send anything else.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from controller.basics.errors import TableError
from controller.bench.daemon import Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from controller.contract.fingerprint import fingerprint
from drivers.sim.signing import public_hex, signature
from tests.hil.awards import award_step
from tests.hil.bench import Bench

THIEF = Ed25519PrivateKey.from_private_bytes(bytes(32))
HIGHEST = 2**63 - 1
A_LOT = 10**12
PLAYER_WINS = "9C TD TC 5D"


def forged(word: bytes) -> tuple[bytes, ...]:
    """Return a message of the pit as a forger could send it: once without a signature, and once signed with another
    key."""
    said = json.loads(word)
    del said["signature"]
    unsigned = json.dumps(said).encode()
    return unsigned, json.dumps(said | {"signature": "A" * 86 + "=="}).encode()


def print_of(key: Ed25519PrivateKey) -> str:
    return fingerprint(key.public_key().public_bytes_raw())


def alarms(pit: FarPit) -> list[str]:
    return [event["code"] for event in pit.told("alarm")]


def test_a_forged_award_is_believed_by_nobody_and_makes_no_true_one_old(hit: dict[str, Any], at: Bench) -> None:
    for said in (award_step(hit, cents=A_LOT), award_step(hit, seq=HIGHEST)):
        for payload in (*forged(at.pit.signed("award", **said)), at.pit.signed("award", signer=THIEF, **said)):
            at.pit.say_on("award", payload)
    at.eventually(lambda: at.table.status().pit.key.forged == {"award": 4})  # two are no words at all
    for step, seq in (("pending", 1), ("verified", 2)):
        at.pit.award(**award_step(hit, step=step, seq=seq))
    at.eventually(lambda: [event["step"] for event in at.pit.told("award")] == ["pending", "verified"])
    assert alarms(at.pit) == ["pit_word_forged"], "once, however often it comes"
    assert at.table.face.hits[0].cents == 250_000
    assert at.table.fault is None


def test_the_pit_itself_can_say_no_award_that_its_hit_cannot_have(hit: dict[str, Any], at: Bench) -> None:
    at.pit.award(**award_step(hit, cents=A_LOT))
    at.eventually(lambda: alarms(at.pit) == ["award_impossible"])
    details = at.pit.told("alarm")[0]["details"]
    assert (details["cents"], details["most_cents"]) == (A_LOT, 250_000 + 500_000), "as shown, and 1000 wagers of $5"
    at.pit.award(**award_step(hit, seq=HIGHEST))
    at.pit.award(**award_step(hit, cents=250_000 + 500_000, seq=1))
    at.eventually(lambda: [event["cents"] for event in at.pit.told("award")] == [750_000])
    assert "is a time after its own" in at.table.log


def test_an_award_that_two_people_accept_is_believed(hit: dict[str, Any], at: Bench) -> None:
    at.pit.award(**award_step(hit, cents=A_LOT))
    at.eventually(lambda: alarms(at.pit) == ["award_impossible"])
    asked = at.table.tablectl("accept-award", f"{hit['table']}.1", str(A_LOT), "--by", "Ann")
    assert "waits" in asked.stdout, asked.stderr
    at.pins.confirm("deal")
    at.eventually(lambda: [event["cents"] for event in at.pit.told("award")] == [A_LOT])


def test_an_acknowledgement_that_the_pit_never_gave_is_no_fault(at: Bench) -> None:
    at.dealer.open_shoe()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    past_the_head: dict[str, Any] = {
        "epoch": at.pit.events[0]["epoch"],
        "seq": 99,
        "chain": "00" * 32,
        "table": at.table.table_id,
    }
    for payload in (
        *forged(at.pit.signed("ack", **past_the_head)),
        at.pit.signed("ack", signer=THIEF, **past_the_head),
        at.pit.signed("ack", **past_the_head | {"table": "royal9-99"}),  # the pit's own word to another table
    ):
        at.pit.say(payload)
    at.dealer.play(PLAYER_WINS)
    at.eventually(lambda: len(at.pit.rounds) == 1 and at.table.unacknowledged() == 0)
    assert (at.table.fault, at.table.status().pit.key.forged) == (None, {"ack": 2})
    assert alarms(at.pit) == ["pit_word_forged"]


@pytest.mark.long
def test_two_people_leave_the_fault_once_the_pit_has_taken_its_word_back(at: Bench) -> None:
    at.dealer.open_shoe()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    at.pit.silent()
    epoch, head = at.pit.events[0]["epoch"], len(at.pit.events)
    at.pit.say(at.pit.ack(epoch=epoch, seq=99, chain="00" * 32))
    at.eventually(lambda: at.table.fault == "journal_behind_pit")
    for _ in range(2):  # a restart tells it the same word again
        told = at.table.tablectl("clear", "--by", "Ann", check=False)
        assert told.returncode == 1
        assert "pit_stands_by_it" in told.stderr
        at.table.restart()
        at.eventually(lambda: at.table.status().pit.connected)
    at.pit.say(at.pit.ack(epoch=epoch, seq=head, chain=at.pit.events[-1]["chain"]))
    at.eventually(lambda: at.table.stop_told.exits == ("clear",))
    assert "tablectl witness" in at.table.tablectl("clear", "--by", "Ann").stdout
    assert "not_two_people" in at.table.tablectl("witness", "--by", "Bob", check=False).stderr, "from the same account"
    assert at.table.fault == "journal_behind_pit"
    at.pins.confirm("deal")  # the supervisor's key, at the table
    at.eventually(lambda: at.table.fault == "shoe_unheard")  # since the restart; it waited behind the other
    at.pins.let_go("key")
    at.table.count()
    at.pit.speak()
    at.dealer.play(PLAYER_WINS)
    at.eventually(lambda: len(at.pit.rounds) == 1 and at.table.unacknowledged() == 0)
    assert [event["by"] for event in at.pit.told("fault_cleared")] == ["Ann, key", "Ann"]
    assert at.pit.wrong == []


def test_forged_meters_are_shown_to_nobody_and_make_no_true_ones_old(at: Bench) -> None:
    false: dict[str, Any] = {"seq": HIGHEST, "meters": dict.fromkeys(at.pit.levels, A_LOT)}
    for payload in (*forged(at.pit.signed("meters", **false)), at.pit.signed("meters", signer=THIEF, **false)):
        at.pit.say_on("meters", payload)
    at.pit.say_on("meters", at.pit.signed("meters", **false))  # nor can the pit itself say so
    at.pit.levels = at.pit.levels | {"player_personal": 250_100}
    at.eventually(lambda: at.table.status().pit.meters == at.pit.levels)
    assert at.table.status().pit.key.forged == {"meters": 2}
    at.eventually(lambda: alarms(at.pit) == ["pit_word_forged"])
    assert at.table.status().pit.meters_fresh


def test_what_the_pit_said_once_is_believed_once(hit: dict[str, Any], at: Bench) -> None:
    old_ack = at.pit.ack(epoch=at.pit.events[0]["epoch"], seq=0, chain="00" * 32)
    old_step = at.pit.signed("award", **award_step(hit, step="pending", seq=1))
    old_meters = at.pit.signed("meters", seq=1, meters=dict.fromkeys(at.pit.levels, 1))
    at.pit.say_on("award", old_step)
    at.pit.award(**award_step(hit, step="paid", seq=2))
    at.eventually(lambda: len(at.pit.told("award")) == 2 and at.table.unacknowledged() == 0)
    for topic, payload in (("ack", old_ack), ("award", old_step), ("meters", old_meters)):
        at.pit.say_on(topic, payload)
    at.dealer.play(PLAYER_WINS)
    at.eventually(lambda: len(at.pit.rounds) == 2 and at.table.unacknowledged() == 0)
    assert [event["step"] for event in at.pit.told("award")] == ["pending", "paid"]
    assert at.table.status().pit.meters == at.pit.levels
    assert at.pit.repeats == 0, "nothing was sent again"
    assert "was believed before" in at.table.log


# The pit's key.


def offered_by(pit: FarPit, key: Ed25519PrivateKey) -> bytes:
    return pit.signed("pit_key", signer=key, public_key=public_hex(key), rotations=[])


def test_another_key_is_an_alarm_that_names_both_until_a_person_pins_it(at: Bench) -> None:
    at.pit.say_on("pit-key", offered_by(at.pit, THIEF))
    at.eventually(lambda: alarms(at.pit) == ["pit_key_differs"])
    assert at.pit.told("alarm")[0]["details"] == {"offered": print_of(THIEF), "pinned": print_of(at.pit.key)}
    at.dealer.open_shoe()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    shown = at.table.tablectl("pit-key").stdout
    assert f"offered: {print_of(THIEF)}" in shown
    assert f"pinned:  {print_of(at.pit.key)}" in shown
    assert (
        "pit_key_pinned"
        in at.table.tablectl("pit-key", "--trust", print_of(at.pit.key), "--by", "Ann", check=False).stderr
    )
    assert "arguments_incomplete" in at.table.tablectl("pit-key", "--trust", print_of(THIEF), check=False).stderr

    at.pit.gone()
    at.pit.key = Ed25519PrivateKey.generate()  # the pit lost its own
    at.pit.come()
    at.eventually(lambda: at.table.status().pit.key.offered == print_of(at.pit.key))
    assert at.table.tablectl("pit-key", "--trust", print_of(at.pit.key).upper(), "--by", "Ann").returncode == 0
    pinned = [fact for fact in at.table.facts() if fact["fact"] == "PitKeyPinned"]
    assert [(fact["public_key"], fact["by"]) for fact in pinned[1:]] == [(public_hex(at.pit.key), "Ann")]
    at.eventually(lambda: at.table.unacknowledged() == 0 and bool(at.table.status().pit.fresh))
    at.table.restart()
    at.eventually(lambda: bool(at.table.status().pit.fresh))


def test_a_rotated_key_is_taken_by_the_former_ones_word_also_after_several(at: Bench) -> None:
    at.dealer.open_shoe()
    at.pit.gone()
    at.pit.rotate()
    at.pit.come()
    at.eventually(lambda: at.table.status().pit.key.pinned == print_of(at.pit.key))
    at.dealer.play(PLAYER_WINS)
    at.eventually(lambda: at.table.unacknowledged() == 0)
    at.pit.gone()
    at.pit.rotate()
    at.pit.rotate()
    at.pit.come()
    at.eventually(lambda: at.table.status().pit.key.pinned == print_of(at.pit.key))
    at.eventually(lambda: at.table.unacknowledged() == 0 and bool(at.table.status().pit.fresh))
    at.eventually(  # it is pinned at the pit's word, and in the journal at the next commit
        lambda: (
            [fact["public_key"] for fact in at.table.facts() if fact["fact"] == "PitKeyRotated"][-1]
            == public_hex(at.pit.key)
        )
    )
    assert (alarms(at.pit), at.table.fault) == ([], None)


@pytest.mark.proof  # `tests/daemon/test_pit_trust.py` has it without a table
def test_the_thief_of_a_former_key_is_not_pinned_at_a_table_that_was_away_and_a_person_pins_the_pits(at: Bench) -> None:
    at.dealer.open_shoe()
    at.eventually(lambda: at.table.unacknowledged() == 0)
    stolen = at.pit.key
    at.table.kill()
    at.pit.gone()
    at.pit.rotate()
    handed_over = {"former": public_hex(stolen), "public_key": public_hex(THIEF)}
    rotation = handed_over | {"signature": signature(handed_over, stolen)}
    theft = at.pit.signed("pit_key", signer=THIEF, public_key=public_hex(THIEF), rotations=[rotation])
    at.table.start()
    at.table.count()
    at.pit.come()
    for _ in range(2):
        at.pit.say_on("pit-key", theft)
        at.eventually(lambda: at.table.status().pit.key.offered == print_of(THIEF))
        now = at.table.status().pit
        assert (now.key.pinned, now.standing.code) == (print_of(stolen), "key_handed_over")
        assert not now.fresh
        at.pit.say_on("meters", at.pit.signed("meters", signer=stolen, seq=HIGHEST // 2**20, meters=at.pit.levels))
        at.dealer.play(PLAYER_WINS)
    assert at.table.unacknowledged() > 0
    shown = at.table.tablectl("pit-key").stdout
    assert "while this table was away" in shown
    assert f'--trust "{print_of(THIEF)}"' in shown, "the person compares it, and the pit shows another"
    assert at.table.tablectl("pit-key", "--trust", print_of(at.pit.key), "--by", "Ann").returncode == 0
    at.eventually(lambda: at.table.unacknowledged() == 0 and bool(at.table.status().pit.fresh))
    at.pit.say_on("pit-key", theft)
    at.eventually(lambda: at.table.status().pit.key.offered == print_of(THIEF))
    assert at.table.status().pit.key.pinned == print_of(at.pit.key)
    assert alarms(at.pit)[0] == "pit_key_differs"


@pytest.mark.table(pit={"trust_first_key": False})
def test_until_a_person_has_pinned_a_key_nothing_of_the_pit_is_believed_and_baccarat_goes_on(
    unstarted_table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually
) -> None:
    table = unstarted_table
    table.start()
    eventually(lambda: bool(table.status().shoe.up and table.status().pit.key.offered))
    dealer.open_shoe()
    pins.cover(1)
    eventually(lambda: pins.seat(1) == "refused")
    dealer.play(PLAYER_WINS)
    eventually(lambda: len(pit.rounds) == 1)
    told = table.status().pit
    assert (told.acked_seq, told.meters, told.fresh) == (0, {}, False)
    status = table.tablectl("status").stdout
    assert "No pit key is pinned at this table." in status
    with pytest.raises(TableError, match="pit_key_differs"):
        table.supervisor("pit_key", trust=print_of(THIEF))
    command = next(line for line in status.splitlines() if "tablectl pit-key" in line)
    assert f'--trust "{print_of(pit.key)}" --by NAME' in command
    assert table.tablectl("pit-key", "--trust", print_of(pit.key), "--by", "Ann").returncode == 0
    eventually(lambda: table.unacknowledged() == 0 and bool(table.status().pit.fresh))
    assert "PINNED" not in table.tablectl("status").stdout
