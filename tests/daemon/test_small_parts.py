"""Checks small parts of the daemon: debouncing, the meaning of the buttons, the signing key, the clock, and notices to
systemd."""

from __future__ import annotations

import os
import socket
import stat
import time
from collections import Counter
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from controller.basics.notify import notify
from controller.contract.envelope import Stamp, chain_head
from controller.contract.keys import load_or_make_key
from controller.daemon.clock import stamp_now
from controller.daemon.pins.buttons import PRESSES, pressed
from controller.daemon.pins.debounce import Debouncer
from controller.table.acts.entry import KEY, Request
from controller.table.acts.itself import LampTest
from controller.table.acts.rounds import LockWagers, OddCardFate, TellOddCard, VoidRound
from controller.table.acts.shoe import NewShoe, SeeCutCard
from controller.table.acts.stopped import ClearFault
from controller.table.facts import ShoeError, ShoeErrorRaised
from controller.table.states import Table
from tests.support.errors import raising
from tests.support.tables import TableUnderTest

# Debouncing, at 30 ms, sampled every 10 ms.


def sampled(levels: str, every_ms: int = 10) -> list[tuple[int, bool]]:
    """Debounce a button. `levels` holds its samples: `#` is pressed, `.` is not. Return each new debounced level, with
    its time."""
    debouncer = Debouncer(30)
    settled = []
    for place, level in enumerate(levels):
        changed = debouncer.sample({"deal": level == "#"}, place * every_ms)
        settled += [(place * every_ms, new) for new in changed.values()]
        assert debouncer.changing == ((level == "#") != debouncer.settled["deal"])
        assert debouncer.settled["deal"] == (settled[-1][1] if settled else levels[0] == "#")
    return settled


@pytest.mark.parametrize(
    ("levels", "settled"),
    [
        ("....####", [(70, True)]),
        ("....###....", []),  # shorter than the debounce time
        ("..#.#.#.#.#.#.....", []),  # bouncing for ever
        ("..#.#.####....", [(90, True), (130, False)]),  # bounces, then stays, then is let go
        ("..####.#.##...", [(50, True)]),
        ("########", []),  # held at start: no press
        ("####......####", [(70, False), (130, True)]),
        ("..###.####", [(90, True)]),  # one sample of a bounce begins the count anew
    ],
)
def test_a_change_counts_once_it_has_stood_for_the_debounce_time(levels: str, settled: list[tuple[int, bool]]) -> None:
    assert sampled(levels) == settled


@given(st.text("#.", max_size=200))
def test_what_settles_stood_for_the_whole_time_before(levels: str) -> None:
    for at_ms, level in sampled(levels):
        stood = levels[at_ms // 10 - 3 : at_ms // 10 + 1]
        assert stood == ("#" if level else ".") * 4


def test_every_input_is_debounced_by_itself() -> None:
    debouncer = Debouncer(30)
    debouncer.sample({"deal": False, "void": False}, 0)
    debouncer.sample({"deal": True, "void": False}, 10)
    debouncer.sample({"deal": True, "void": True}, 30)
    assert debouncer.sample({"deal": True, "void": True}, 40) == {"deal": True}
    assert debouncer.sample({"deal": True, "void": True}, 60) == {"void": True}
    assert debouncer.settled == {"deal": True, "void": True}


def test_samples_that_come_late_still_count_by_the_clock() -> None:
    debouncer = Debouncer(30)
    debouncer.sample({"deal": False}, 0)
    assert debouncer.sample({"deal": True}, 1000) == {}
    assert debouncer.sample({"deal": True}, 5000) == {"deal": True}


def test_a_sample_that_comes_after_a_newer_one_counts_for_nothing() -> None:
    debouncer = Debouncer(30)
    debouncer.sample({"deal": False}, 0)
    debouncer.sample({"deal": False}, 1000)
    assert debouncer.sample({"deal": True}, 990) == {}
    assert debouncer.sample({"deal": True}, 1020) == {}
    assert debouncer.sample({"deal": True}, 1050) == {"deal": True}


# The buttons: button, key turned, the moment, and what is asked for.

FAULTY = TableUnderTest().believe(ShoeErrorRaised(ShoeError.CARD_CODE)).table
OPEN = TableUnderTest().open_shoe().table
ODD_CARD = TableUnderTest().open_shoe().draw("4C").table

BUTTONS: list[tuple[str, bool, Table, Request | None]] = [
    ("deal", False, OPEN, LockWagers()),
    ("deal", True, OPEN, LockWagers()),
    ("deal", False, FAULTY, LockWagers()),
    ("deal", True, FAULTY, ClearFault("key")),
    ("cut_card", False, OPEN, SeeCutCard()),
    ("cut_card", False, FAULTY, SeeCutCard()),
    ("cut_card", True, OPEN, LampTest("key")),
    ("new_shoe", False, OPEN, NewShoe(None)),
    ("new_shoe", True, OPEN, NewShoe("key")),
    ("new_shoe", True, FAULTY, NewShoe("key")),
    ("void", False, OPEN, VoidRound(None)),
    ("void", False, FAULTY, VoidRound(None)),
    ("void", False, ODD_CARD, TellOddCard(OddCardFate.NEXT_CARD, "dealer")),
    ("void", True, ODD_CARD, VoidRound("key")),
    ("void", True, OPEN, VoidRound("key")),
    ("key", True, OPEN, None),
    ("seat_1", False, OPEN, None),
]


@pytest.mark.parametrize(("button", "key_turned", "table", "asked"), BUTTONS)
def test_a_button_asks_for(button: str, key_turned: bool, table: Table, asked: Request | None) -> None:
    assert KEY == "key"
    assert pressed(button, key_turned, table) == asked


def test_no_press_means_two_things() -> None:
    """No single press of a button asks for two acts, because only the first of the two would ever be done."""
    meant = Counter((press.button, press.key_turned, press.when) for press in PRESSES)
    assert {press: times for press, times in meant.items() if times > 1} == {}


# The chain: a hash of the parts with their lengths, so that nothing can be moved from one into the next.


def test_no_two_rows_hash_alike() -> None:
    zero = bytes(32)
    heads = [
        chain_head(zero, b"fact", [b"one", b"two"], b"salt"),
        chain_head(zero, b"fact", [b"onetwo"], b"salt"),
        chain_head(zero, b"fact", [b"one", b"two"], b"tlas"),
        chain_head(zero, b"factone", [b"two"], b"salt"),
        chain_head(zero, b"fact", [b"two", b"one"], b"salt"),
        chain_head(bytes(31) + b"\1", b"fact", [b"one", b"two"], b"salt"),
        chain_head(zero, b"fac", [b"tone", b"two"], b"salt"),
        chain_head(zero, b"fact", [], b"salt"),
        chain_head(zero, b"fact", [b""], b"salt"),
    ]
    assert len(set(heads)) == len(heads)


# The signing key.


def test_a_key_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "table.key"
    made = load_or_make_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_bytes()) == 32
    assert load_or_make_key(path).public == made.public
    Ed25519PublicKey.from_public_bytes(made.public).verify(made.sign(b"data"), b"data")
    assert [entry.name for entry in path.parent.iterdir()] == ["table.key"]
    assert load_or_make_key(tmp_path / "other.key").public != made.public


def test_a_key_half_written_by_a_dead_run_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "table.key.new").write_bytes(b"half")
    load_or_make_key(tmp_path / "table.key")
    assert len((tmp_path / "table.key").read_bytes()) == 32


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33])
def test_what_is_no_key_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with raising("signing_key_unusable"):
        load_or_make_key(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602])
def test_a_key_open_to_others_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "table.key"
    load_or_make_key(path)
    path.chmod(mode)
    with raising("signing_key_unusable"):
        load_or_make_key(path)


@pytest.mark.parametrize("where", ["a folder", "below a file"])
def test_where_no_key_can_be_is_told(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path if where == "a folder" else tmp_path / "file" / "table.key"
    with raising("signing_key_unusable"):
        load_or_make_key(path)


# The clock.


def test_a_stamp_is_the_time_to_the_millisecond() -> None:
    before = time.time()
    stamp = stamp_now()
    after = time.time()
    assert before - 0.001 <= stamp.at_ms / 1000 <= after


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_709_208_000_007, "2024-02-29T12:00:00.007Z"),
        (1_767_225_599_999, "2025-12-31T23:59:59.999Z"),
    ],
)
def test_a_stamp_in_words(at_ms: int, text: str) -> None:
    assert Stamp(at_ms, True).text() == text


# systemd.


def test_systemd_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in (str(tmp_path / "notify"), f"@table-controller-{os.getpid()}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.bind("\0" + address[1:] if address.startswith("@") else address)
            monkeypatch.setenv("NOTIFY_SOCKET", address)
            notify("READY=1")
            assert systemd.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", [None, "", "/nowhere/at/all"])
def test_without_systemd_nothing_happens(address: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    if address is not None:
        monkeypatch.setenv("NOTIFY_SOCKET", address)
    notify("WATCHDOG=1")


def test_a_systemd_that_does_not_read_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        for _ in range(2000):  # more than any queue holds
            notify("WATCHDOG=1")
