"""Checks the people at a running table: who may clear which fault, who counts as a second person, and who can keep
others away from the control socket."""

from __future__ import annotations

import json
import os
import pwd
import re
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from controller.bench.daemon import Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from tests.hil.bench import Bench
from tests.support.other_user import NOBODY, ask_as, needs_root
from tests.support.samples import at_length
from tests.support.waiting import PATIENCE_S

_IDLE = 200
_FLOOD = 300 if at_length else 100  # Mosquitto keeps a thousand for a client that is slow, and drops the rest
_AT_MOST = 40  # log lines that a flood may make, of all kinds together
WHO_I_AM = f"socket {pwd.getpwuid(os.getuid()).pw_name}({os.getuid()})"


def _control(table: Table) -> Path:
    return Path(table.files.values["control"]["socket"])


def _said(table: Table, **request: object) -> dict[str, Any]:
    """Send this request to the table's control socket, and return the answer. A refusal is also returned, and not
    raised."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(PATIENCE_S)
        channel.connect(str(_control(table)))
        channel.sendall(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(channel.makefile("rb").readline())
        return answer


# Which fault is answered.


@pytest.fixture
def two_faults(table: Table, shoe: FarShoe, dealer: Dealer, eventually: Eventually) -> Table:
    """Return a table that has stopped at a shoe error, while a second fault (a second cut card) waits behind it."""
    dealer.open_shoe()
    shoe.raise_error(4)
    eventually(lambda: table.fault == "shoe_error")
    shoe.cut_card()
    shoe.cut_card()
    table.hear_out()
    return table


def test_two_supervisors_clear_one_fault_and_neither_clears_the_next(two_faults: Table) -> None:
    seen = two_faults.stop_told
    assert seen.code == "shoe_error"
    first = two_faults.tablectl("clear", "--by", "Ann", "--fault", seen.id)
    assert (first.returncode, first.stdout) == (0, "done\n"), first.stderr
    second = two_faults.tablectl("clear", "--by", "Bea", "--fault", seen.id, check=False)
    assert second.returncode == 1
    assert second.stderr.startswith("fault_changed: The fault that you answered is not the fault that stands now")
    assert two_faults.fault == "second_cut_card"
    assert two_faults.came("FaultCleared") == [WHO_I_AM]


def test_an_act_that_names_no_fault_leaves_none(two_faults: Table) -> None:
    for act in ("clear", "new_shoe"):
        answer = _said(two_faults, do=act, by="Bea")
        assert (answer["ok"], answer.get("code")) == (False, "fault_unnamed")
    assert two_faults.fault == "shoe_error"
    said = two_faults.tablectl("clear", "--by", "Bea")  # it looks first, and shows what it answers
    assert said.returncode == 0, said.stderr
    fault, *_, done = said.stdout.splitlines()
    assert fault == "FAULT shoe_error: The shoe reports an error. (the error: a card was pushed back at the exit)"
    assert (done, two_faults.fault) == ("done", "second_cut_card")


# Two people.

CORRECT: dict[str, object] = {"do": "correct", "round": 1, "player": "KS 9S", "banker": "2D 4D"}


@pytest.fixture
def one_round(table: Table, shoe: FarShoe, pins: Pins, pit: FarPit, dealer: Dealer, eventually: Eventually) -> Table:
    """Return a table after one round, in which Player has KS 9S and Banker 2D 3D. The tests correct the 3D to a 4D."""
    dealer.open_shoe()
    pins.press("deal", until=lambda: table.phase == "wagers_locked")
    shoe.deal("KS 2D 9S 3D")
    eventually(lambda: len(pit.rounds) == 1)
    return table


def test_two_names_at_one_account_are_one_person(one_round: Table, pit: FarPit, eventually: Eventually) -> None:
    """Two names from one user account count as one person. The journal keeps each refused act with its account. An
    earlier version counted "Ann" and "Ann." as two people."""
    assert not _said(one_round, **CORRECT, by="Ann", witness="Ann.")["ok"]
    waits = _said(one_round, **CORRECT, by="Ann")["waits"]
    for name in ("Ann.", "Bea"):
        assert _said(one_round, do="witness", proposal=waits["id"], by=name)["code"] == "not_two_people"
    refused = one_round.tablectl("witness", "--by", "Bea", check=False)
    assert refused.returncode == 1
    assert refused.stdout.startswith("Ann asks to correct round 1: Player KS 9S; Banker 2D 4D. The act waits ")
    assert refused.stderr.startswith("not_two_people: ")
    assert pit.told("correction") == []
    eventually(lambda: one_round.came("ActRefused")[-3:] == [WHO_I_AM] * 3)


@needs_root
def test_a_second_user_confirms(one_round: Table, pit: FarPit, eventually: Eventually) -> None:
    asked = one_round.tablectl("correct", "1", "--player", "KS 9S", "--banker", "2D 4D", "--by", "Ann", "--yes")
    assert asked.returncode == 0, asked.stderr
    assert "Ann asks to correct round 1: Player KS 9S; Banker 2D 4D" in asked.stdout
    assert "Ann asks to correct round 1" in one_round.tablectl("status").stdout
    waits = one_round.status().second_person
    assert waits is not None
    nobody = {"do": "witness", "proposal": waits.id}
    assert ask_as(NOBODY, _control(one_round), nobody | {"by": " ann "})["code"] == "not_two_people"
    assert ask_as(NOBODY, _control(one_round), nobody | {"by": "Bea"}) == {"ok": True}
    eventually(lambda: len(pit.told("correction")) == 1)
    assert (pit.told("correction")[0]["by"], pit.told("correction")[0]["witness"]) == ("Ann", "Bea")
    nobodys = f"socket {pwd.getpwuid(NOBODY).pw_name}({NOBODY})"
    assert one_round.came("RoundCorrected") == [f"{WHO_I_AM} and {nobodys}"]


@pytest.mark.proof  # `test_hil_bet_recognition.py` and `test_hil_forged_pit.py` confirm with the key
def test_a_user_and_the_key_at_the_table_are_two(
    one_round: Table, pins: Pins, pit: FarPit, eventually: Eventually
) -> None:
    assert _said(one_round, **CORRECT, by="Ann")["waits"]["by"] == "Ann"
    pins.confirm("deal")
    eventually(lambda: len(pit.told("correction")) == 1)
    assert (pit.told("correction")[0]["by"], pit.told("correction")[0]["witness"]) == ("Ann", "key")
    assert one_round.came("RoundCorrected") == [f"{WHO_I_AM} and key"]


# Who keeps whom from the socket.


def test_idle_connections_keep_no_supervisor_away(two_faults: Table) -> None:
    with ExitStack() as crowd:
        for _ in range(_IDLE):
            crowd.enter_context(socket.socket(socket.AF_UNIX)).connect(str(_control(two_faults)))
        said = two_faults.tablectl("clear", "--by", "Ann")
        assert said.returncode == 0, said.stderr
    assert two_faults.fault == "second_cut_card"


@pytest.mark.proof  # those of one's own user are the harder case
@needs_root
def test_another_users_idle_connections_keep_no_supervisor_away(two_faults: Table) -> None:
    with ExitStack() as crowd:
        for _ in range(_IDLE):
            crowd.enter_context(socket.socket(socket.AF_UNIX)).connect(str(_control(two_faults)))
        fault = two_faults.stop_told.id
        assert ask_as(NOBODY, _control(two_faults), {"do": "clear", "by": "Bea", "fault": fault}) == {"ok": True}


def test_stopping_while_somebody_watches_leaves_no_traceback(table: Table) -> None:
    with ExitStack() as watchers:
        for _ in range(3):
            channel = watchers.enter_context(socket.socket(socket.AF_UNIX))
            channel.connect(str(_control(table)))
            channel.sendall(b'{"do": "watch"}\n')
            assert channel.recv(1)
        assert table.stop() == 0
    assert "Traceback" not in table.log, table.log


# What the log may be filled with.


def _of(log: str, text: str) -> list[str]:
    return [line for line in log.splitlines() if text in line]


def test_bad_wagers_are_a_counted_line(at: Bench) -> None:
    for number in range(_FLOOD):
        at.pit.say_on("wager", b'{"seat": %d}' % number)
    at.pit.say_on("ack", b"the last")  # in order, behind them
    at.eventually(lambda: "is no acknowledgement" in at.table.log)
    assert len(_of(at.table.log, "it is no wager")) == 1
    assert at.table.stop() == 0
    assert f"it is no wager of bet recognition: no_key (the last of {_FLOOD - 1} such lines)" in at.table.log
    assert len(at.table.log.splitlines()) < _AT_MOST


def test_noise_that_reads_as_replies_is_a_line(at: Bench) -> None:
    at.shoe.line.write(b"\x06" * _FLOOD)
    at.eventually(lambda: at.table.status().shoe.bad_bytes.get("noise", 0) == _FLOOD)
    assert at.table.stop() == 0
    assert len(at.table.log.splitlines()) < _AT_MOST, at.table.log


def test_refused_requests_are_a_counted_line_for_each_reason(table: Table) -> None:
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(PATIENCE_S)
        channel.connect(str(_control(table)))
        answers = channel.makefile("rb")
        for _ in range(_FLOOD):
            channel.sendall(b'{"do": "void", "by": "Ann"}\n')
            assert answers.readline()
    assert _said(table, do="clear", by="Ann")["code"] == "no_fault"
    assert len(_of(table.log, "refused void:")) == 1
    assert len(_of(table.log, "refused clear:")) == 1, "another refusal is told although a flood runs"
    assert table.stop() == 0
    assert re.search(rf"refused void: .*\(the last of {_FLOOD - 1} such lines\)", table.log)
