"""Installs the package on an emulated Raspberry Pi 3B, and plays at the table there. Shoe, people, broker and pit are
outside the Pi.

The package, dpkg, systemd with the shipped units, the Pi's pin library, pyserial and the chip's registers are real.

If an adapter on USB vanishes while the Pi's driver reads, QEMU 7.2 ends. So a test first tells the Pi's kernel to
remove the adapter. For the table, this is the same as a pulled adapter.

QEMU 7.2 does not emulate the chip's watchdog: as soon as the kernel starts it, QEMU resets the board. So the kernel's
driver is given memory in place of the watchdog, and `Watchdog` counts there from outside, as the chip does. The driver,
systemd and the package's setting are real. Whether the chip itself counts in this way must still be seen on a real Pi.

Debian 13 runs here on Debian 12's kernel.
"""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from controller.basics.errors import TableError
from controller.bench.broker_certs import PIT, TABLE, BrokerCerts, say_once
from controller.bench.daemon import Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from controller.contract.face.answers import Answer
from controller.contract.face.status import Status, Waits
from controller.contract.fingerprint import fingerprint
from controller.people.cli.main import main
from drivers.sim import rules
from drivers.sim.deck import shuffled
from drivers.sim.rules import Side
from drivers.sim.signing import public_hex
from tests.deploy.clean_debian import ROOT, alone, layer, make_package
from tests.hil.bench import Bench
from tests.pi.board import arm64_root, board, lacking, make_card
from tests.pi.emulated import PATIENCE_S, Pi, Watchdog, fresh_card_root
from tests.support.brokers import Broker, needs_mosquitto
from tests.support.waiting import eventually_now

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(lacking() != "", reason=f"this machine lacks for an emulated Pi: {lacking()}"),
    needs_mosquitto,
]

_BROKER = "broker.pit"
_SHIPPED = ROOT / "config"
_PINS = tomllib.loads((_SHIPPED / "tables" / "royal9.toml").read_text("utf-8"))["pins"]
_ANSWERS = f"""
table.game = "royal9"
table.id = "{TABLE}"
shoe.driver = "angel_eye"
setup.shoe = "/dev/ttyAMA0"
pit.host = "{_BROKER}"
setup.networks = "10.0.2.2/32"
setup.by = "Smith"
setup.report = "/root/report.html"
"""
_BOARD_WATCHDOG_S = 14  # systemd/watchdog.conf
_WATCHDOG_S = 60
_SLOW = f"[Service]\nTimeoutStartSec=20min\nTimeoutStopSec=5min\nWatchdogSec={_WATCHDOG_S}\n"
"""The unit's limits for a Pi that is some twenty times slower than a real one."""
_UNIT = "table-controller"
_SWITCHED_ON_AT_MOST = 3
_KEPT = 20
"""So many cards stay in the shoe: the cut card lies before them."""


class _Certs(BrokerCerts, frozen=True):
    """The certificates of the pit's own MQTT client. The client runs on the broker's machine and reaches the broker by
    an address, so the host name in the broker's certificate is not checked."""

    def context(self, name: str) -> ssl.SSLContext:
        context = super().context(name)
        context.check_hostname = False
        return context


class _OnPi(Table):
    """The table that runs under its systemd unit in an emulated Pi. Its control socket is reached over the network."""

    def __init__(self, pi: Pi) -> None:
        self.pi = pi
        self.table_id = TABLE

    def _ask(self, request: dict[str, object]) -> Answer:
        with socket.socket() as channel:
            channel.settimeout(PATIENCE_S)
            channel.connect(("127.0.0.1", self.pi.control))
            try:
                channel.sendall(json.dumps(request).encode() + b"\n")
                line = channel.makefile("rb").readline()
            except ConnectionError:
                line = b""
        if not line:
            raise TableError("table_not_running", "The table does not answer.", "")
        answer = msgspec.json.decode(line, type=Answer)
        if not answer.ok:
            raise TableError(answer.code, answer.what, answer.do)
        return answer

    def status(self) -> Status:
        status = self._ask({"do": "status"}).status
        assert status is not None
        return status

    def supervisor(self, act: str, **arguments: str | int) -> Waits | None:
        fault = self.face.fault
        answers = {} if fault is None or act not in ("clear", "count") else {"fault": fault.id}
        return self._ask({"do": act, "by": "Ann", **arguments, **answers}).waits

    def unit(self, name: str) -> str:
        """Return the property `name` of the table's systemd unit."""
        return self.pi.run(f"systemctl show -P {name} {_UNIT}")[1]

    def log_tail(self, _lines: int = 15) -> str:
        return self.pi.log()


@dataclass(frozen=True)
class _AtPi(Bench):
    """A table in an emulated Pi, and everything around it: shoe, pins, pit and dealer."""

    table: _OnPi

    @property
    def pi(self) -> Pi:
        return self.table.pi


class Floor:
    """The broker and the pit of the casino to which the table in the emulated Pi belongs. The broker uses TLS."""

    def __init__(self, folder: Path) -> None:
        self.tls = folder / "tls"
        assert main(["certs", str(self.tls), _BROKER, TABLE, "pit", "bets"]) == 0
        text = (_SHIPPED / "mosquitto" / "mosquitto.conf").read_text("utf-8")
        for ours, theirs in {
            "/etc/mosquitto/acl": str(_SHIPPED / "mosquitto" / "acl"),
            "/etc/mosquitto/broker.": f"{self.tls}/{_BROKER}.",
            "/etc/mosquitto/ca.crt": str(self.tls / "ca.crt"),
            "listener 8883\n": "listener {port} 127.0.0.1\n",
        }.items():
            text = text.replace(ours, theirs)
        self.broker = Broker(folder, text)

    def lay_into(self, root: Path) -> None:
        """Copy the table's certificate and the answers for the setup, which a technician would bring, to the memory
        card. Its files lie below `root`. A systemd setting for the slow emulated Pi is written there too."""
        into = root / "etc" / "table-controller" / "tls"
        into.mkdir(parents=True)
        for name in ("ca.crt", f"{TABLE}.crt", f"{TABLE}.key"):
            shutil.copy(self.tls / name, into)
        (root / "root" / "answers").write_text(f"{_ANSWERS}pit.port = {self.broker.port}\n")
        slow = root / "etc" / "systemd" / "system" / f"{_UNIT}.service.d" / "slow.conf"
        slow.parent.mkdir(parents=True)
        slow.write_text(_SLOW)

    @contextmanager
    def pit(self) -> Iterator[FarPit]:
        """Run a pit that knows no table yet, for the length of a `with` block. Retained messages of an earlier table
        are removed from the broker."""
        certs = _Certs(self.tls)
        for name, topic in ((PIT, "ack"), (TABLE, "state")):
            say_once("127.0.0.1", self.broker.port, certs, name, f"pit/v1/{TABLE}/{topic}", b"", retain=True)
        pit = FarPit(self.broker.port, TABLE, certs=certs)
        try:
            yield pit
        finally:
            pit.gone()


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    floor = Floor(tmp_path_factory.mktemp("floor"))
    with floor.broker:
        yield floor


def _new_card(floor: Floor, folder: Path, release: str) -> Path:
    """Make a memory card with a clean Debian and the package's file on it, and return its path."""
    package = make_package(folder / "dist", "arm64", release)
    with layer([board().modules, arm64_root(release)], folder / "layer") as root:
        fresh_card_root(root, package)
        floor.lay_into(root)
        make_card(root, folder / "card")
    return folder / "card"


@pytest.fixture(scope="module")
def fresh_card(floor: Floor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory card with a clean Debian 12 and the package's file on it. A test that boots it must copy it first."""
    return _new_card(floor, tmp_path_factory.mktemp("card"), "bookworm")


@pytest.fixture(scope="module")
def table_card(floor: Floor, fresh_card: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory card on which a table is set up that has not dealt yet. A test that boots it must copy it first."""
    folder = tmp_path_factory.mktemp("table")
    card = _copy(fresh_card, folder)
    with floor.pit() as pit, _at(card, pit, folder) as at:
        _install(at)
        at.pi.run("sync")
    return card


@pytest.fixture
def pit(floor: Floor) -> Iterator[FarPit]:
    with floor.pit() as pit:
        yield pit


def _copy(card: Path, folder: Path) -> Path:
    subprocess.run(["cp", "--sparse=always", card, folder / "card"], check=True)
    return folder / "card"


@contextmanager
def _switched_on(card: Path, kernel_words: str = "", on_usb: bool = False) -> Iterator[Pi]:
    """Run an emulated Pi with this memory card for the length of a `with` block. Only one Pi runs at a time, because
    each uses a complete core."""
    with alone(ROOT / "build" / "pi.lock"):
        for _ in range(_SWITCHED_ON_AT_MOST):
            pi = Pi(board(), card, _PINS, kernel_words, on_usb)
            try:
                if pi.is_reached():
                    pi.run("systemctl is-system-running --wait", check=False)
                    yield pi
                    return
            finally:
                pi.cut_power()
        raise AssertionError("the Pi's network does not come up")


@contextmanager
def _at(
    card: Path, pit: FarPit, folder: Path, shoe: FarShoe | None = None, kernel_words: str = "", on_usb: bool = False
) -> Iterator[_AtPi]:
    """Run an emulated Pi with this memory card, for the length of a `with` block. Dealer, players and pit are at its
    table. A test that switches the Pi on again passes the `shoe` of the block before; None makes a new shoe."""
    with _switched_on(card, kernel_words, on_usb) as pi:
        if shoe is None:
            shoe = FarShoe(pi.line)
        else:
            shoe.line = pi.line
            pi.line.listen(shoe.hear)
        table, pins = _OnPi(pi), Pins(pi.header, _PINS["lamps"], _PINS["inputs"])
        try:
            eventually = Eventually(table, pins, pit, folder)
            yield _AtPi(table, shoe, pins, pit, Dealer(table, shoe, pins, eventually), eventually)
        finally:
            pins.close()


def _install(at: _AtPi) -> None:
    """Type the two commands of a technician on the emulated Pi, and let the table trust the pit's key."""
    pi = at.pi
    pi.run("apt-get install -y -q /root/table-controller.deb")
    pi.run("tablectl setup --answers /root/answers")
    assert at.table.unit("ActiveState") == "active", "systemd has its READY"
    pi.run("sed -i '/^\\[table\\]/a fastest_card_ms = 0' /etc/table-controller/table.toml")  # no hand deals here
    pi.run(f"systemctl restart {_UNIT}")
    at.eventually(lambda: at.table.status().pit.key.offered, PATIENCE_S)
    key = fingerprint(bytes.fromhex(public_hex(at.pit.key)))
    pi.run(f"tablectl pit-key --trust '{key}' --by Smith")
    at.eventually(at.table.links_up, PATIENCE_S)


def _deals_a_royal_9(at: _AtPi) -> None:
    """Deal the first round of a shoe: a Royal 9 for seat 3, the King and nine of diamonds."""
    at.dealer.open_shoe()
    at.dealer.play("KD 2D 9D 3C", 3)
    (hand,) = at.rounds(1)
    assert hand["player"] == {"cards": ["KD", "9D"], "total": 9}
    assert [hit["seat"] for hit in at.pit.hits if hit["tier"] == "player_personal"] == [3]
    assert _fastest_lamp(at.pi) == "seat_3"


def _fastest_lamp(pi: Pi) -> str:
    """Return the name of the lamp that blinks much faster than all others. The lamp of a hit blinks eight times as fast
    as a lamp that invites wagers."""
    before = Counter(pi.header.changes())
    changes: Counter[str] = Counter()

    def enough() -> bool:
        changes.update(Counter(pi.header.changes()) - before - changes)
        return changes.total() > 40

    eventually_now(enough, "for lamps to blink", PATIENCE_S)
    (fastest, most), (_, next_most) = (*changes.most_common(2), ("", 0))[:2]
    assert most > 3 * next_most, changes
    return fastest


def _is_ended(at: _AtPi, how: str) -> float:
    """End the table's process inside a round with the command `how`. Check that no seat's lamp stays lit, and that the
    table comes back by itself.

    Returns how many seconds after the command the lamps were dark.
    """
    stood = _deals_half(at)
    at.eventually(lambda: "seat_1" in at.pins.lit())
    boot = at.table.status().journal.boot
    at.pi.run(f"{how} $(systemctl show -P MainPID {_UNIT})")
    since_s = time.monotonic()
    at.eventually(lambda: at.pins.lit() <= {"fault"}, PATIENCE_S)
    dark_after_s = time.monotonic() - since_s
    at.eventually(lambda: at.table.status().journal.boot == boot + 1, PATIENCE_S)
    _goes_on(at, stood, "4H 5C 3H")
    return dark_after_s


class _Stood(NamedTuple):
    """The state of a table in the middle of a round: its two hands, and how many rounds the pit has received."""

    hands: dict[str, list[str]]
    rounds: int


def _deals_half(at: _AtPi, cards: str = "KS 2D") -> _Stood:
    """Begin a round with a wager at seat 1, deal these cards, and return the state of the table, which is now inside
    the round."""
    at.dealer.lock(1)
    at.dealer.deal(cards)
    return _Stood(at.table.hands, len(at.pit.rounds))


def _goes_on(at: _AtPi, stood: _Stood, cards: str) -> None:
    """Check that the table still has the hands that it had in `stood`. Then let a person count the cards in the shoe,
    and deal the round to its end with `cards`."""
    hands, rounds = stood
    at.eventually(at.table.links_up, PATIENCE_S)
    at.table.count()
    assert at.table.hands == hands
    at.dealer.deal(cards)
    at.rounds(rounds + 1)
    assert len(at.pit.rounds) == rounds + 1
    dealt = [card for side in ("player", "banker") for card in at.pit.rounds[-1][side]["cards"]]
    assert sorted(dealt) == sorted([*chain(*hands.values()), *cards.split()])
    at.pins.uncover(1)


def _deals_a_shoe(at: _AtPi) -> tuple[int, int]:
    """Deal a shoe of shuffled cards, with as many complete rounds as it has. The pit must receive each round as it was
    dealt.

    Returns how many rounds and cards were dealt.
    """
    shuffled_cards = next(shuffled(1, 8))
    cards = iter(shuffled_cards)
    already = len(at.pit.rounds)
    hands: list[tuple[list[str], list[str]]] = []
    first, dealt = next(cards), 1
    burned = [next(cards) for _ in range(rules.burn_count(first))]
    dealt += len(burned)
    at.table.supervisor("close_shoe")
    at.dealer.open_shoe(first, " ".join(burned))
    while len(shuffled_cards) - dealt > _KEPT:
        hand: dict[Side, list[str]] = {"player": [], "banker": []}
        drawn = []
        while (side := rules.next_side(hand["player"], hand["banker"])) is not None:
            drawn.append(next(cards))
            hand[side].append(drawn[-1])
        at.dealer.play(" ".join(drawn), 1 + len(hands) % 7)
        hands.append((hand["player"], hand["banker"]))
        dealt += len(drawn)
    told = at.rounds(already + len(hands))[already:]
    assert [(event["player"]["cards"], event["banker"]["cards"]) for event in told] == hands
    return len(hands), dealt


_LIBRARIES = "paho.mqtt.client, cryptography.hazmat.primitives.asymmetric.ed25519, sqlite3, asyncio, ssl, serial"
_BARE_IMPORTS = f"""
import resource, sys, time
sys.path.append(sys.prefix + "/pins/rpi_gpio")
import RPi.GPIO, {_LIBRARIES}
print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
_USED = f"""
pid=$(systemctl show -P MainPID {_UNIT})
cut -d" " -f14,15 /proc/$pid/stat
grep ^write_bytes /proc/$pid/io
sync
cat /sys/block/mmcblk0/stat
grep ^VmRSS /proc/$pid/status
cat /proc/uptime
"""
_TICK_S, _SECTOR_BYTES = 0.01, 512


@dataclass(frozen=True)
class _Used:
    """The resources that the table's process has used so far, as the emulated Pi's kernel counts them."""

    cpu_s: float
    written_bytes: int
    card_bytes: int
    memory_kib: int
    at_s: float

    @classmethod
    def so_far(cls, pi: Pi) -> _Used:
        cpu, io, card, memory, uptime = pi.run(_USED)[1].splitlines()
        cpu_s = sum(map(int, cpu.split())) * _TICK_S
        card_bytes = int(card.split()[6]) * _SECTOR_BYTES
        return cls(cpu_s, int(io.split()[1]), card_bytes, int(memory.split()[1]), float(uptime.split()[0]))


def _figures(at: _AtPi) -> str:
    """Return in words how much CPU, memory and disk the table uses on this emulated Pi. Only the ratios of these
    figures apply to a real Pi."""
    bare_s, bare_kib = at.pi.run(f"cd /; /opt/table-controller/current/bin/python3 -I -c '{_BARE_IMPORTS}'")[1].split()
    at.pi.run(f"systemctl restart {_UNIT}")
    started = _Used.so_far(at.pi)
    wall_s = int(at.table.unit("ActiveEnterTimestampMonotonic")) - int(at.table.unit("ExecMainStartTimestampMonotonic"))
    at.table.count()
    at.eventually(at.table.links_up, PATIENCE_S)
    before = _Used.so_far(at.pi)
    at.pi.run("sleep 60")
    rested = _Used.so_far(at.pi)
    rounds, cards = _deals_a_shoe(at)
    played = _Used.so_far(at.pi)
    at_rest = (rested.cpu_s - before.cpu_s) / (rested.at_s - before.at_s)
    card_s = (played.cpu_s - rested.cpu_s - at_rest * (played.at_s - rested.at_s)) / cards
    return (
        f"{rounds} rounds of a shoe as dealt; "
        f"start to ready {wall_s / 1e6:.0f} s, {started.cpu_s:.1f} s of CPU (bare imports: {float(bare_s):.1f} s); "
        f"{played.memory_kib / 1024:.0f} MiB (bare imports: {int(bare_kib) / 1024:.0f} MiB); "
        f"CPU at rest {at_rest:.0%}, a card {card_s * 1000:.0f} ms; "
        f"a round {(played.written_bytes - rested.written_bytes) / rounds / 1024:.0f} KiB by the process, "
        f"{(played.card_bytes - rested.card_bytes) / rounds / 1024:.0f} KiB on the card"
    )


def test_a_fresh_card_becomes_a_table_that_deals_on_after_kills_and_a_power_cut(
    fresh_card: Path, pit: FarPit, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    card = _copy(fresh_card, tmp_path)
    with _at(card, pit, tmp_path) as at:
        _install(at)
        _deals_a_royal_9(at)
        killed_s = _is_ended(at, "kill -9")
        hung_s = _is_ended(at, "kill -STOP")
        assert "Watchdog timeout" in at.pi.run(f"journalctl -u {_UNIT} --no-pager")[1]
        stood = _deals_half(at, "KS 2D 4H")
    with _at(card, pit, tmp_path, at.shoe) as at:
        _goes_on(at, stood, "5C 3H")
        assert "_GPIO" in _libraries(at)
        costs = _figures(at)
        at.table.supervisor("close_shoe")  # few cards are left in the shoe
        at.dealer.open_shoe()
        stood = _deals_half(at)
    with _at(card, pit, tmp_path, at.shoe, "modprobe.blacklist=gpiomem") as at:
        _goes_on(at, stood, "4H 5C 3H")
        assert "_lgpio" in _libraries(at)
    assert pit.wrong == []
    figure(f"lamps dark {killed_s:.0f} s after kill -9, {hung_s:.0f} s after a hang (limit {_WATCHDOG_S} s); {costs}")


def _libraries(at: _AtPi) -> str:
    """Return the shared libraries that the table's process has loaded, as text."""
    return at.pi.run(f"cat /proc/$(systemctl show -P MainPID {_UNIT})/maps")[1]


def test_a_shoe_on_usb_is_unplugged_inside_a_hand_and_plugged_again(
    table_card: Path, pit: FarPit, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    with _at(_copy(table_card, tmp_path), pit, tmp_path, on_usb=True) as at:
        adapter = at.pi.run("ls /dev/serial/by-id/*")[1]
        device = at.pi.run(f"readlink -f /sys/class/tty/$(basename $(readlink {adapter}))/device")[1]
        driver = at.pi.run(f"basename $(readlink {device}/driver)")[1]
        at.pi.run(f"sed -i 's|/dev/ttyAMA0|{adapter}|' /etc/table-controller/table.toml")
        at.pi.run(f"systemctl restart {_UNIT}")
        at.eventually(at.table.links_up, PATIENCE_S)
        at.dealer.open_shoe()
        hands, _ = _deals_half(at)
        since_s = time.monotonic()
        at.pi.run(f"echo 1 > {device}/../../remove")
        at.eventually(lambda: at.table.fault == "shoe_unplugged", PATIENCE_S)
        told_s = time.monotonic() - since_s
        at.shoe.unplug()
        assert not at.table.status().shoe.up
        at.pi.run(f"udevadm settle; test ! -e {adapter}")
        since_s = time.monotonic()
        at.shoe.plug()
        at.eventually(at.table.links_up, PATIENCE_S)
        heard_s = time.monotonic() - since_s
        assert (at.table.fault, at.table.hands) == ("shoe_unplugged", hands), "a person is asked"
        at.table.clear_and_count()
        at.dealer.deal("9S 3C")
        (hand,) = at.rounds(1)
        assert (hand["player"]["cards"], hand["banker"]["cards"]) == (["KS", "9S"], ["2D", "3C"])
    assert pit.wrong == []
    figure(
        f"{Path(adapter).name} by {driver}: "
        f"unplugged inside a hand, told after {told_s:.1f} s; plugged again, heard after {heard_s:.1f} s"
    )


_PANIC = "echo 0 > /proc/sys/kernel/panic; echo c > /proc/sysrq-trigger"
"""The kernel stops for good. It has the order not to start anew by itself."""
_FREEZE_SYSTEMD = "echo 1 > /sys/fs/cgroup/init.scope/cgroup.freeze"
_SOON_S = 10
"""Until then the shell that gives the order has ended."""


def _stands_still(at: _AtPi, stop: str) -> tuple[_Stood, float]:
    """Stop the process that pings the watchdog, with the shell command `stop`, in the middle of a round.

    Return the state of the table, and how many seconds after the command the watchdog reset the board.
    """
    watchdog = Watchdog(at.pi.registers)
    stood = _deals_half(at)
    eventually_now(lambda: watchdog.limit_s == _BOARD_WATCHDOG_S, "for systemd to start the watchdog", PATIENCE_S)
    at.pi.run(f"systemd-run --on-active={_SOON_S} --timer-property=AccuracySec=1s sh -c '{stop}'")
    assert not watchdog.bitten.is_set(), "all is well"
    since_s = time.monotonic()
    eventually_now(watchdog.bitten.is_set, "for the watchdog to reset the board", PATIENCE_S)
    return stood, time.monotonic() - since_s - _SOON_S


def test_the_boards_watchdog_resets_a_board_on_which_kernel_or_systemd_stands_still_and_the_hand_goes_on(
    table_card: Path, pit: FarPit, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    card = _copy(table_card, tmp_path)
    with _at(card, pit, tmp_path) as at:
        at.eventually(at.table.links_up, PATIENCE_S)
        at.dealer.open_shoe()
        stood, kernel_s = _stands_still(at, _PANIC)
    with _at(card, pit, tmp_path, at.shoe) as at:
        _goes_on(at, stood, "4H 5C 3H")
        stood, systemd_s = _stands_still(at, _FREEZE_SYSTEMD)
    with _at(card, pit, tmp_path, at.shoe) as at:
        _goes_on(at, stood, "4H 5C 3H")
    assert pit.wrong == []
    figure(
        f"reset {kernel_s:.0f} s after the kernel stopped, {systemd_s:.0f} s after systemd did "
        f"(limit {_BOARD_WATCHDOG_S} s, counted four times slower); both hands dealt on"
    )


def test_debian_13_deals_and_deals_on_after_a_power_cut(
    floor: Floor, pit: FarPit, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    card = _new_card(floor, tmp_path, "trixie")
    with _at(card, pit, tmp_path) as at:
        _install(at)
        _deals_a_royal_9(at)
        stood = _deals_half(at, "KS 2D 4H")
    with _at(card, pit, tmp_path, at.shoe) as at:
        _goes_on(at, stood, "5C 3H")
        assert "_GPIO" in _libraries(at)
        about = at.pi.run(". /etc/os-release; echo $PRETTY_NAME; /opt/table-controller/current/bin/python3 -V")[1]
        memory_kib = _Used.so_far(at.pi).memory_kib
    assert pit.wrong == []
    figure(f"{', '.join(about.splitlines())}: hands dealt, one after a power cut; {memory_kib / 1024:.0f} MiB")
