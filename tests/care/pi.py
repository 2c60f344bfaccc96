"""The system files of a sound Raspberry Pi, written below a folder. A test then changes one of them to imitate a fault
of the machine.

The texts are those of real machines: Raspberry Pi OS with kernel 6.6 (see the kernel's documentation of each file).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from controller.contract.envelope import Stamp
from controller.daemon.config import Config, load
from controller.people.care.machine import Machine
from controller.people.cli.programs import EXAMPLE_TABLE

NOW = Stamp(1_790_000_000_000, synchronised=True)
PORT = "/dev/serial/by-id/usb-FTDI-if00-port0"
ROOT = Path(__file__).resolve().parents[2]
_EEPROM = "[all]\nBOOT_UART=0\nBOOT_ORDER=0xf1\n"
_UNIT = "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nNRestarts=0\n"

FILES = {
    "/proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4\0",
    "/proc/cmdline": "console=tty1 root=PARTUUID=1-02 rootfstype=ext4 rootwait\n",
    "/proc/self/mountinfo": (
        "21 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n"
        "28 21 0:24 / /run rw,nosuid shared:5 - tmpfs tmpfs rw,size=1000k\n"
    ),
    "/usr/lib/modprobe.d/table-controller.conf": (ROOT / "systemd" / "modprobe.conf").read_text("utf-8"),
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\ntable-controller:x:999:999::/:/usr/sbin/nologin\n",
    "/etc/group": "root:x:0:\ndialout:x:20:\n",
    "/boot/firmware/config.txt": "dtparam=audio=on\n[all]\n",
    "/dev/ttyUSB0": "",
    "/dev/gpiomem": "",
    "/sys/devices/platform/soc/soc:firmware/get_throttled": "0\n",
    "/sys/class/thermal/thermal_zone0/temp": "51121\n",
    "/sys/kernel/debug/pinctrl/fe200000.gpio-pinctrl-bcm2711/pinmux-pins": (
        "Pinmux settings per pin\nFormat: pin (name): mux_owner gpio_owner hog?\n"
        "pin 16 (gpio16): (MUX UNCLAIMED) pinctrl-bcm2711:528\npin 17 (gpio17): (MUX UNCLAIMED) (GPIO UNCLAIMED)\n"
    ),
    "/sys/kernel/debug/gpio": "gpiochip0: GPIOs 512-569, parent: platform/fe200000.gpio, pinctrl-bcm2711:\n",
    "/sys/module/pinctrl_rp1/parameters/persist_gpio_outputs": "Y\n",
    "/sys/devices/mmc/mmcblk0/mmcblk0p2/partition": "2\n",
    "/sys/block/mmcblk0/device/type": "MMC\n",
    "/sys/block/mmcblk0/device/life_time": "0x01 0x02\n",
    "/sys/fs/ext4/mmcblk0p2/errors_count": "0\n",
}

_PACKAGES = "ii  python3.11-minimal\nrc  linux-image-6.1\nii  linux-image-6.6\n"
_VERIFIED = "??5?????? c /etc/systemd/journald.conf\n"  # a house changes settings


class Pi:
    """A simulated machine whose files lie below the folder `root`. `says` maps the name of a program to the text that
    the program prints."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.says = {"systemctl": _UNIT, "rpi-eeprom-config": _EEPROM, "dpkg-query": _PACKAGES, "dpkg": _VERIFIED}
        self.machine = Machine(root, self._run, lambda: NOW, lambda: 21)
        for path, text in FILES.items():
            self.write(path, text)
        self.link(PORT, "../../ttyUSB0")
        self.link("/sys/dev/block/179:2", "../../devices/mmc/mmcblk0/mmcblk0p2")
        self.machine.at("/dev/ttyUSB0").chmod(0o666)
        self.config = self._config()

    def write(self, path: str, text: str) -> None:
        there = self.machine.at(path)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text)

    def link(self, path: str, to: str) -> None:
        there = self.machine.at(path)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(to)

    def remove(self, path: str) -> None:
        self.machine.at(path).unlink()

    def _run(self, command: Sequence[str]) -> str | None:
        return self.says.get(command[0])

    def _config(self) -> Config:
        config = load(EXAMPLE_TABLE)
        return replace(config, file=replace(config.file, shoe=replace(config.file.shoe, port=PORT)))
