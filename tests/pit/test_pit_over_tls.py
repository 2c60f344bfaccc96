"""Checks the pit with the broker configuration that the project ships. It uses TLS with certificates on both sides, and
an access list under which the pit must still be able to do its work."""

from __future__ import annotations

import json
import signal
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.link.house import House, broker_of, peer, running_house, write
from tests.pit.evening import EPOCH, ROYAL9_METERS, TableEvening
from tests.pit.house import TABLE, state
from tests.support.pit_process import PitProcess
from tests.support.waiting import PATIENCE_S, until


def test_over_tls_the_pit_hears_its_tables_and_says_acks_awards_and_meters(tmp_path: Path) -> None:
    with running_house(tmp_path) as house:
        options = ["--adopt-new", *tls_of(house), "--signing-key", str(tmp_path / "signing")]
        topics = [f"pit/v1/{name}" for name in (f"{TABLE}/ack", f"{TABLE}/award", "meters")]
        with peer(house, TABLE, *topics) as table:
            pit = PitProcess(house.port, tmp_path / "ledger", *options, host="localhost")
            try:
                until(pit.err, "connected")
                table.publish(f"pit/v1/{TABLE}/state", state(), retain=True)
                evening, heard = TableEvening(TABLE, ROYAL9_METERS), dict[str, Any]()
                evening.lock(1)
                evening.hit(1, "any_royal", 2_500)
                while heard.get(topics[0]) is None:
                    topic, payload = table.hears()
                    heard[topic] = json.loads(payload)
                for body in evening.sent:
                    table.publish(f"pit/v1/{TABLE}/event", body)
                done = {"table": TABLE, "epoch": EPOCH, "seq": 2, "chain": f"{2:064x}"}.items()
                while not done <= heard[topics[0]].items() or not set(topics) <= heard.keys():
                    topic, payload = table.hears()
                    heard[topic] = json.loads(payload)
            finally:
                pit.ended(signal.SIGKILL)
        pit = PitProcess(house.port, tmp_path / "another", *options, host="localhost")
        try:
            until(pit.err, "ledger_behind_acks: ")  # it may read what it said
        finally:
            pit.ended(signal.SIGKILL)


def test_a_certificate_that_will_not_do_is_told_before_anything_is_begun(tmp_path: Path) -> None:
    with running_house(tmp_path) as house:
        options = [*tls_of(house)[:-1], str(house.files("bets").private_key)]
        pit = PitProcess(house.port, tmp_path / "ledger", *options, host="localhost")
    assert pit.process.wait(PATIENCE_S) == 1
    assert pit.err.get(timeout=PATIENCE_S).startswith("tls_unusable: ")
    assert not (tmp_path / "ledger").exists()


def test_a_certificate_that_expires_while_the_pit_runs_is_told_and_its_renewal_needs_no_restart(tmp_path: Path) -> None:
    with ExitStack() as stack:
        house = stack.enter_context(running_house(tmp_path))
        pit = PitProcess(house.port, tmp_path / "ledger", *tls_of(house), host="localhost")
        stack.callback(pit.ended, signal.SIGKILL)
        until(pit.err, "connected")
        write(tmp_path, "pit", house.ca.issue("pit", timedelta(days=-1)))
        write(tmp_path, "another", house.ca.issue("pit"))
        with peer(house, "another"):  # of the same name, so it takes the pit's place at the broker
            until(pit.err, "expired on")
        write(tmp_path, "pit", house.ca.issue("pit"))
        until(pit.err, "connected")


def test_a_pit_in_the_clear_on_a_broker_with_tls_is_told_so(tmp_path: Path) -> None:
    with running_house(tmp_path) as house:
        pit = PitProcess(house.port, tmp_path / "ledger")
        try:
            until(pit.err, "hung up before a word; perhaps it does not speak MQTT without TLS: see its log")
        finally:
            pit.ended(signal.SIGKILL)


def test_a_pit_whose_place_is_taken_says_so_once(tmp_path: Path) -> None:
    with running_house(tmp_path) as house, peer(house, TABLE, "pit/v1/meters") as table, ExitStack() as stack:
        pit = PitProcess(house.port, tmp_path / "ledger", "--adopt-new", *tls_of(house), host="localhost")
        stack.callback(pit.ended, signal.SIGKILL)
        for _ in range(2):
            table.hears()  # its meters: the broker has them, and it is there
            table.hears()
            with peer(house, "pit"):
                table.so_far()
        said = until(pit.err, "client_id_taken: ")
        for _ in range(2):
            table.hears()
            with peer(house, "pit"):
                table.so_far()
        assert pit.ended(signal.SIGTERM) == 0
        while not pit.err.empty():
            said.append(pit.err.get())
        assert sum(line.startswith("client_id_taken: ") for line in said) == 1
        assert any(line.startswith("  what to do: Find that client") for line in said)


def test_a_pit_whose_broker_is_killed_again_and_again_sees_no_thief(tmp_path: Path) -> None:
    """The pit raises no alarm if its broker restarts without the retained messages. The missing messages do not mean
    that another client has published in the pit's name."""
    with ExitStack() as stack:
        house = House(tmp_path)
        pit = PitProcess(house.port, tmp_path / "ledger", "--adopt-new", *tls_of(house), host="localhost")
        stack.callback(pit.ended, signal.SIGKILL)
        for _ in range(5):
            with broker_of(house), peer(house, TABLE, "pit/v1/meters") as table:
                table.hears()
        assert pit.ended(signal.SIGTERM) == 0
        said = []
        while not pit.err.empty():
            said.append(pit.err.get())
        assert not any("client_id_taken" in line for line in said)
        assert sum("went away" in line for line in said) == 1, "once a minute"


def tls_of(house: House) -> list[str]:
    """Return the pit's command-line options for TLS."""
    files = house.files("pit")
    tls = ("--ca", files.ca, "--certificate", files.certificate, "--private-key", files.private_key)
    return [*map(str, tls)]
