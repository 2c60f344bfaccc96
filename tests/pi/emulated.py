"""An emulated Raspberry Pi 3B as seen from outside: its power, its pin header, its serial line, and a root shell."""

from __future__ import annotations

import math
import queue
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import serial

from controller.people.cli.programs import free_port
from tests.pi.board import POWER, Board
from tests.support.waiting import eventually_now

PATIENCE_S = 600.0
"""How long a test waits for the Pi: it is some twenty times slower than a real one, and the machine may be busy."""
_CPU_S = 3600  # what a forgotten Pi may take at most
_NETWORK_S = 120.0
_POLL_S = 0.1
_GPSET, _GPCLR = 0x3F20001C, 0x3F200028
_GPIO = "/machine/soc/peripherals/gpio"
_COUNTER, _TICKS, _TICKS_A_S = POWER + 0x24, 0xFFFFF, 1 << 16
_WATCHDOG_TIMES = 4
_SHELL = {
    "etc/systemd/system/shell.socket": "[Socket]\nListenStream=23\nAccept=yes\n[Install]\nWantedBy=sockets.target\n",
    "etc/systemd/system/shell@.service": "[Service]\nExecStart=-/bin/sh\nStandardInput=socket\nStandardError=socket\n",
    "etc/systemd/system/control.socket": "[Socket]\nListenStream=24\n[Install]\nWantedBy=sockets.target\n",
    "etc/systemd/system/control.service": (
        "[Service]\nExecStart=/lib/systemd/systemd-socket-proxyd /run/table-controller/hil.sock\n"
    ),
    "etc/systemd/network/pit.network": "[Match]\nType=ether\n[Network]\nAddress=10.0.2.15/24\nIPv6AcceptRA=no\n",
    "etc/modules-load.d/pi.conf": "gpiomem\n",
    "etc/systemd/system.conf.d/slow.conf": "[Manager]\nDefaultDeviceTimeoutSec=20min\nDefaultTimeoutStartSec=20min\n",
    "etc/fstab": "",
    "etc/hostname": "table\n",
    "etc/hosts": "127.0.0.1 localhost table\n10.0.2.2 broker.pit\n",
    "usr/lib/clock-epoch": "",  # a Pi has no clock: it starts with the time of this file
}
_ENABLED = {
    "etc/systemd/system/sockets.target.wants/shell.socket": "../shell.socket",
    "etc/systemd/system/sockets.target.wants/control.socket": "../control.socket",
    "etc/systemd/system/multi-user.target.wants/systemd-networkd.service": (
        "/lib/systemd/system/systemd-networkd.service"
    ),
} | {
    f"etc/systemd/system/{unit}": "/dev/null"
    for unit in ("apt-daily.timer", "apt-daily-upgrade.timer", "systemd-timesyncd.service", "getty@tty1.service")
}


def fresh_card_root(root: Path, package: Path) -> None:
    """Add to a clean Debian in `root` what its emulation needs, and the file of the table's package, which is not
    installed yet."""
    for name, text in _SHELL.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name, target in _ENABLED.items():
        link = root / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    shutil.copy(package, root / "root" / "table-controller.deb")


class Registers:
    """The memory, registers and outputs of the emulated board. They are read and written by QEMU's qtest protocol, and
    QEMU reports each change of an output."""

    def __init__(self, channel: Path) -> None:
        self.outputs: dict[int, bool] = {}
        self.changes: Counter[int] = Counter()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(channel))
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._lock = threading.Lock()
        threading.Thread(target=self._hear, daemon=True).start()
        self._say(f"irq_intercept_out {_GPIO}")

    def read(self, address: int) -> int:
        return int(self._say(f"readl {address:#x}"), 16)

    def write(self, address: int, value: int) -> None:
        self._say(f"writel {address:#x} {value:#x}")

    def _say(self, words: str) -> str:
        """Send a qtest command to QEMU and return the answer. Raises ConnectionError if the emulated board has no
        power."""
        with self._lock:
            self._socket.sendall(f"{words}\n".encode())
            ok, _, answer = self._answers.get(timeout=PATIENCE_S).partition(" ")
        if not ok:
            raise ConnectionError(words)
        assert ok == "OK", f"{words}: {ok} {answer}"
        return answer

    def _hear(self) -> None:
        """Read everything that QEMU writes, in a thread, because QEMU stops when nobody reads."""
        with suppress(OSError):
            for line in self._socket.makefile():
                if change := re.match(r"IRQ (raise|lower) (\d+)", line):
                    self.outputs[int(change[2])] = change[1] == "raise"
                    self.changes[int(change[2])] += 1
                else:
                    self._answers.put(line.strip())
        self._answers.put("")


class Header:
    """The pin header of the emulated Pi as people use it: inputs to press and lamps to look at, with the names in a
    table's file."""

    def __init__(self, registers: Registers, lamps: Mapping[str, Mapping[str, Any]], inputs: Mapping[str, Any]) -> None:
        self._lamps = {name: (int(lamp["bcm"]), lamp["active"] == "high") for name, lamp in lamps.items()}
        self._inputs = {name: (int(wired["bcm"]), wired["active"] == "high") for name, wired in inputs.items()}
        self._registers = registers
        for name in inputs:
            self.release(name)

    def press(self, name: str) -> None:
        bcm, active = self._inputs[name]
        self._drive(bcm, active)

    def release(self, name: str) -> None:
        bcm, active = self._inputs[name]
        self._drive(bcm, not active)

    def lamps(self) -> dict[str, bool]:
        outputs = self._registers.outputs
        return {name: outputs.get(bcm, False) == high for name, (bcm, high) in self._lamps.items()}

    def changes(self) -> dict[str, int]:
        """Return how often each lamp has gone on or out so far, by the lamp's name."""
        return {name: self._registers.changes[bcm] for name, (bcm, _) in self._lamps.items()}

    def _drive(self, bcm: int, level: bool) -> None:
        self._registers.write(_GPSET if level else _GPCLR, 1 << bcm)


class Watchdog:
    """The chip's watchdog timer, simulated outside of the emulated Pi. `bitten` is set when the timer would reset the
    board, because the kernel was silent for `limit_s` seconds.

    As in the chip, each write of the kernel's driver to the counter starts the count anew. But this watchdog counts
    four times slower, because the emulated Pi is slower too.
    """

    limit_s = 0.0

    def __init__(self, registers: Registers) -> None:
        self._registers = registers
        self.bitten = threading.Event()
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        bites_at_s = math.inf
        with suppress(OSError):  # the power was cut
            while time.monotonic() < bites_at_s:
                if ticks := self._registers.read(_COUNTER) & _TICKS:
                    self._registers.write(_COUNTER, 0)
                    self.limit_s = ticks / _TICKS_A_S
                    bites_at_s = time.monotonic() + self.limit_s * _WATCHDOG_TIMES
                time.sleep(_POLL_S)
            self.bitten.set()


class Serial:
    """The shoe's end of the emulated Pi's serial line. The Pi's end is either the header's own port (`/dev/ttyAMA0`) or
    an adapter on USB.

    The adapter stays plugged in for as long as the serial line exists.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._in_shoe = True
        self.plug()

    def plug(self) -> None:
        self._line = serial.serial_for_url(f"socket://127.0.0.1:{self._port}", timeout=0)

    def unplug(self) -> None:
        self._line.close()

    def unplug_at_shoe(self) -> None:
        self._in_shoe = False

    def plug_at_shoe(self) -> None:
        self._in_shoe = True

    def write(self, data: bytes) -> None:
        if self._in_shoe:
            self._line.write(data)

    def listen(self, heard: Callable[[bytes], None]) -> None:
        """Call `heard` with the bytes that the table sends to the shoe, in a thread."""

        def hear() -> None:
            while True:
                try:
                    data = self._line.read(max(1, self._line.in_waiting))
                except (OSError, TypeError, ValueError):  # unplugged
                    data = b""
                if data and self._in_shoe:
                    heard(data)
                else:
                    time.sleep(_POLL_S)

        threading.Thread(target=hear, name="shoe's ears", daemon=True).start()


class Pi:
    """A running emulated Raspberry Pi with this memory card. `pins` is the section about pins from the table's file.
    The shoe is on the header's port or, with `on_usb`, on a USB adapter."""

    def __init__(
        self, board: Board, card: Path, pins: Mapping[str, Any], kernel_words: str = "", on_usb: bool = False
    ) -> None:
        self.console = card.with_suffix(".console")
        channel = card.with_suffix(".qtest")
        for old in (channel, self.console):
            old.unlink(missing_ok=True)
        self._shell, self.control, header, adapter = (free_port() for _ in range(4))
        words = f"console=ttyS1,115200 loglevel=1 panic=1 {kernel_words}"
        qemu = f"""qemu-system-aarch64 -M raspi3b -global bcm2837.enabled-cpus=1 -nodefaults -display none
            -serial tcp:127.0.0.1:{header},server=on,wait=off -serial file:{self.console} -monitor none
            -kernel {board.kernel} -dtb {board.device_tree} -initrd {board.first_files}
            -drive if=sd,format=raw,file={card} -device usb-net,netdev=net
            -netdev user,id=net,hostfwd=tcp:127.0.0.1:{self._shell}-:23,hostfwd=tcp:127.0.0.1:{self.control}-:24
            -qtest unix:{channel},server=on,wait=off -qtest-log none"""
        if on_usb:
            qemu += f""" -chardev socket,id=shoe,host=127.0.0.1,port={adapter},server=on,wait=off
                -device usb-serial,chardev=shoe,serial=A50285BI"""
        # Whatever becomes of the test, the kernel ends the Pi with it; and a Pi that nobody ends uses up its time.
        command = ["setpriv", "--pdeathsig", "KILL", "prlimit", f"--cpu={_CPU_S}", *qemu.split(), "-append", words]
        self.said = card.with_suffix(".qemu").open("wb")
        self._qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said)
        eventually_now(lambda: (channel.exists() and self.console.exists()) or self._qemu.poll() is not None)
        self.registers = Registers(channel)
        self.header = Header(self.registers, pins["lamps"], pins["inputs"])
        self.line = Serial(adapter if on_usb else header)

    def cut_power(self) -> None:
        """Cut the emulated Pi's power, so that nothing more is written to its memory card."""
        self.line.unplug()
        self._qemu.send_signal(signal.SIGKILL)
        self._qemu.wait()
        self.said.close()

    def is_reached(self) -> bool:
        """Wait until the emulated Pi asks for a login, and tell whether its network works. QEMU's USB, which carries
        the network, sometimes fails."""
        eventually_now(lambda: b"login:" in self.console.read_bytes(), "for the Pi to ask for a login", PATIENCE_S)
        deadline_s = time.monotonic() + _NETWORK_S
        while not (reached := self._once("") != "") and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
        return reached

    def run(self, script: str, check: bool = True) -> tuple[int, str]:
        """Run this shell script in the emulated Pi as root. Returns the exit code and what the script printed. With
        `check` the exit code must be 0."""
        said = self._once(script)
        ended = re.fullmatch(r"begun\n(.*)ended (\d+)\n", said, re.DOTALL)
        assert ended is not None, f"{script} was cut: {said}"
        code, text = int(ended[2]), ended[1].strip()
        assert not check or code == 0, f"{script}\n{text}\n{self.log()}"
        return code, text

    def _once(self, script: str) -> str:
        lines = f"exec 2>&1; echo begun; (\n{script}\n) </dev/null; echo ended $?; exit\n"
        answer = bytearray()
        with socket.socket() as channel, suppress(ConnectionError):
            channel.settimeout(PATIENCE_S)
            channel.connect(("127.0.0.1", self._shell))
            channel.sendall(lines.encode())
            while part := channel.recv(65536):
                answer += part
        return answer.decode("utf-8", "replace")

    def log(self) -> str:
        """Return the last lines of the Pi's log."""
        return self._once("journalctl --lines 60 --output short-monotonic --no-pager 2>&1; exit\n")
