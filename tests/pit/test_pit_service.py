"""Checks the pit as a separate process on a real broker. The tests start the pit, send it events, kill it, and start it
again."""

from __future__ import annotations

import json
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

import pytest

from controller.contract.envelope import Stamp, seal
from controller.contract.events import Alarm
from controller.contract.keys import SigningKey
from tests.pit.house import EPOCH, KEY, ROOT, TABLE, Far, House, ack
from tests.support import forks, samples
from tests.support.brokers import needs_mosquitto
from tests.support.waiting import PATIENCE_S, until

pytestmark = needs_mosquitto


def event(seq: int, table: str = TABLE, key: SigningKey = KEY, what: str = "Something.", epoch: str = EPOCH) -> bytes:
    body = Alarm(shoe=None, round=None, code="test", details={"what": what})
    return seal(body, table, epoch, seq, Stamp(1_750_000_000_000, True), seq.to_bytes(32, "big"), key)


def test_events_are_committed_and_acknowledged_for_whoever_comes_later(house: House) -> None:
    far, pit = house.adopting()
    far.ack(ack(0))
    far.send_events(event(1), event(2), event(3))
    far.ack(ack(3))
    assert house.far().ack(ack(3)) == [(ack(3), True)], "the broker retains the last one"
    assert house.held() == [(n, event(n)) for n in (1, 2, 3)]
    assert [pit.out.get(timeout=PATIENCE_S) for _ in range(3)] == [f"{TABLE} {n} alarm" for n in (1, 2, 3)]


def test_killed_and_started_again_the_pit_says_again_how_far_it_is(house: House) -> None:
    far, pit = house.adopting()
    until(pit.err, "connected")
    far.send_events(event(1))
    until(pit.out, f"{TABLE} 1 ")
    far.ack(ack(1))
    pit.ended(signal.SIGKILL)
    far.send_events(event(2))  # nobody hears it
    far.publish(f"pit/v1/{TABLE}/ack", b"", retain=True)
    far.ack(b"")

    house.pit()
    assert far.ack(ack(1)) == [(ack(1), False)]
    far.send_events(event(1), event(2), event(3))
    far.ack(ack(3))
    assert house.held() == [(n, event(n)) for n in (1, 2, 3)]


def test_killed_in_the_middle_of_a_stream_the_pit_loses_nothing_and_doubles_nothing(house: House) -> None:
    far, last = house.far(), 300 if samples.at_length else 150
    far.say_state()
    for _ in range(3):
        pit = house.pit("--adopt-new")
        until(pit.err, "connected")
        far.send_events(*map(event, range(len(house.held()) + 1, last + 1)))
        until(pit.out, TABLE)
        pit.ended(signal.SIGKILL)
        held = house.held()
        assert held == [(n, event(n)) for n in range(1, len(held) + 1)]
        assert set(far.acks_so_far()) <= {ack(n) for n in range(len(held) + 1)}, "no ack is ahead of the file"
        if len(held) == last:
            break
    pit = house.pit()
    until(pit.err, "connected")
    far.send_events(*map(event, range(1, last + 1)))
    far.ack(ack(last))
    assert house.held() == [(n, event(n)) for n in range(1, last + 1)]


_SET_CLOCK = f"""{forks.ALIKE}import runpy, sys, time
from pathlib import Path
right, moved_s = time.time_ns, Path({{moved_s!r}})
time.time_ns = lambda: right() + int(moved_s.read_text()) * 1_000_000_000
sys.argv = sys.argv[2:]
runpy.run_module("controller.pit.reference", run_name="__main__")
"""
"""A pit's program on a machine whose clock a file moves by so many seconds."""

HOUR_S = 3600
TEN_YEARS_S = 10 * 365 * 24 * HOUR_S


class Clock:
    """A clock for the pit's process, which the test can set. At first it shows the right time."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "moved_s"
        self.move(0)
        self.program = (sys.executable, "-c", _SET_CLOCK.format(moved_s=str(self._file)))

    def move(self, by_s: int) -> None:
        """Set the clock to show a time that is `by_s` seconds ahead of the right time, or behind it if `by_s` is
        negative."""
        new = self._file.with_name("moved_s.new")
        new.write_text(str(by_s))
        new.rename(self._file)


def times_until(far: Far, seq: int) -> list[str]:
    """Return the times in the next acks, up to and including the ack of event `seq`."""
    said = [json.loads(far.next().payload)]
    while said[-1]["seq"] < seq:
        said.append(json.loads(far.next().payload))
    return [word["at"] for word in said]


@pytest.mark.parametrize("remembers", [True, False], ids=["by its retained acks", "by its ledger alone"])
def test_a_machine_whose_clock_is_behind_takes_over_and_says_no_earlier_time(
    house: House, tmp_path: Path, remembers: bool
) -> None:
    far, pit = house.adopting()
    until(pit.err, "connected")
    far.send_events(event(1))
    before = times_until(far, 1)[-1]
    pit.ended(signal.SIGKILL)
    if not remembers:
        far.publish(f"pit/v1/{TABLE}/ack", b"", retain=True)
        far.ack(b"")

    other = Clock(tmp_path)
    other.move(-20)
    pit = house.pit(program=other.program)
    until(pit.err, "clock_behind")
    far.send_events(event(2))
    assert min(times_until(far, 2)) >= before


@pytest.mark.parametrize(("ahead_s", "goes_back"), [(HOUR_S, False), (TEN_YEARS_S, True)], ids=["an hour", "ten years"])
def test_a_clock_that_is_set_back_while_the_pit_runs_takes_back_only_times_a_day_ahead(
    house: House, tmp_path: Path, ahead_s: int, goes_back: bool
) -> None:
    clock, far = Clock(tmp_path), house.far()
    far.say_state()
    pit = house.pit("--adopt-new", program=clock.program)
    until(pit.err, "connected")
    clock.move(ahead_s)
    far.send_events(event(1))
    before = times_until(far, 1)[-1]
    clock.move(0)
    far.send_events(event(2))
    after = times_until(far, 2)
    told = until(pit.err, "clock_behind")[-1].partition("s before ")[2].partition(",")[0]
    said_again_s = (datetime.fromisoformat(told) - datetime.fromisoformat(before)).total_seconds()
    assert 0 <= said_again_s < PATIENCE_S, "the last ack, or the same ack said again"
    assert (after[-1] < before) is goes_back
    pit.ended(signal.SIGKILL)

    house.pit(program=clock.program)
    assert min(times_until(far, 2)) >= after[-1]


def test_after_a_broker_restart_without_memory_the_acks_are_retained_again(house: House) -> None:
    far, pit = house.adopting()
    until(pit.err, "connected")
    far.send_events(event(1))
    until(pit.out, f"{TABLE} 1 ")
    house.broker.kill()
    until(pit.err, "went away")
    house.broker.start()
    until(pit.err, "connected")
    far = house.far()
    far.ack(ack(1))
    far.send_events(event(2))
    far.ack(ack(2))


def test_garbage_does_not_end_the_pit(house: House) -> None:
    far, pit = house.adopting()
    far.ack(ack(0))
    for garbage in (b"", b"\xff\xfe", b"[" * 100_000, b"{}", event(1, key=SigningKey(bytes([7] * 32)))):
        far.send_events(garbage)
        far.send_events(garbage, table="Nobody's")
        far.publish("pit/v1/garbage/state", garbage)
    far.send_events(event(1), event(1, what="Something else."), event(2))
    far.ack(ack(2))
    alarms = until(pit.err, "body_differs")
    assert sum("signature_invalid" in line for line in alarms) == 1
    assert not any("Traceback" in line for line in alarms)
    assert house.held() == [(1, event(1)), (2, event(2))]
    assert pit.ended(signal.SIGTERM) == 0


def test_an_alarm_that_stands_is_said_once(house: House) -> None:
    """If a table sends the same refused event again every two seconds, the pit reports the alarm to people only once.
    It may report an alarm again after the table's next accepted event."""
    forged = event(1, key=SigningKey(bytes([7] * 32)))
    far, pit = house.adopting()
    until(pit.err, "connected")
    far.send_events(forged, forged, forged, b"the end")
    told = until(pit.err, "event_malformed")
    far.send_events(event(1))
    until(pit.out, f"{TABLE} 1 ")
    far.send_events(forged, forged, b"the end")
    told += until(pit.err, "event_malformed")
    codes = [line.partition(":")[0] for line in told if not line.startswith(("pit", " "))]
    assert codes == ["signature_invalid", "event_malformed"] * 2


def test_a_table_is_adopted_by_a_person_while_the_pit_runs(house: House) -> None:
    far = house.far()
    far.say_state()
    pit = house.pit()
    told = until(pit.err, "pitctl adopt")
    assert any(line.startswith("epoch_to_adopt: ") for line in told)
    far.send_events(event(1))
    until(pit.err, "event_of_another_epoch")
    assert house.held() == []

    command = shlex.split(told[-1].partition("adopt it: ")[2])
    subprocess.run([*command, "--as", "Ann", "--with", "Bob"], cwd=ROOT, check=True, capture_output=True)
    assert far.ack(ack(0)) == [(ack(0), False)], "the running pit has noticed, though the table says nothing new"
    until(pit.err, "awards can be decided on")
    far.send_events(event(1))
    far.ack(ack(1))


def test_an_acknowledgement_the_broker_refuses_is_an_alarm(tmp_path: Path) -> None:
    with ExitStack() as ends:
        house = House(tmp_path, ends, access_list="topic read pit/v1/#\ntopic write pit/v1/+/state\n")
        _, pit = house.adopting()
        until(pit.err, "ack_refused")
        assert pit.process.poll() is None


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_ends_well(house: House, by: signal.Signals) -> None:
    pit = house.pit()
    until(pit.err, "connected")
    assert pit.ended(by) == 0
    assert pit.err.empty()


def test_it_waits_for_a_broker_that_is_not_there_yet(house: House) -> None:
    house.broker.kill()
    pit = house.pit()
    until(pit.err, "cannot reach the broker")
    house.broker.start()
    until(pit.err, "connected")
    assert pit.ended(signal.SIGTERM) == 0


def test_a_second_pit_on_the_same_ledger_ends_with_words_for_people(house: House) -> None:
    first = house.pit()
    until(first.err, "connected")
    second = house.pit()
    assert second.process.wait(PATIENCE_S) == 1
    assert until(second.err, "what to do")[0].startswith("ledger_locked: ")


@pytest.mark.proof
def test_a_ledger_that_somebody_holds_is_waited_for(house: House) -> None:
    """The pit waits while another process locks the ledger, for example a person's command that decides on many awards,
    or a program that copies the ledger. If the pit ended instead, the tables would have no pit for minutes."""
    far, pit = house.adopting()
    far.ack(ack(0))
    with closing(sqlite3.connect(house.ledger, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        far.send_events(event(1))
        until(pit.err, f"Another process has the ledger {house.ledger}.; trying again")
        other.execute("ROLLBACK")
    until(pit.err, "connected")
    far.send_events(event(1))
    far.ack(ack(1))
    assert house.held() == [(1, event(1))]


def test_a_ledger_that_is_none_ends_the_pit_with_words_for_people(house: House) -> None:
    house.ledger.write_bytes(b"no ledger" * 1000)
    pit = house.pit()
    assert pit.process.wait(PATIENCE_S) == 1
    assert until(pit.err, "what to do")[0].startswith("ledger_damaged: ")


@pytest.mark.parametrize("lost", ["event", "adoption"])
def test_a_ledger_lost_while_the_pit_runs_ends_it(house: House, lost: str) -> None:
    """The pit ends if its ledger can no longer be used. It must not treat the failure as a mistake in the tables'
    messages."""
    far, pit = house.adopting()
    far.ack(ack(0))
    db = sqlite3.connect(house.ledger)
    db.execute(f"DROP TABLE {lost}")
    db.close()
    far.say_state()
    far.send_events(event(1))
    assert pit.process.wait(PATIENCE_S) == 1
    told = until(pit.err, "what to do")
    assert told[-2].startswith("ledger_unusable: ")
    assert not any("Traceback" in line for line in told)
