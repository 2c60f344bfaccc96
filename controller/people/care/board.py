"""The checks of the Raspberry Pi itself: its power supply, its temperature, the media from which it may start, and
whether something else uses the pins of its GPIO header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from controller.daemon.config.table_file import PinsSection, ShoeSection
from controller.people.care.machine import Machine
from controller.people.care.row import Row, absent, fault, ok, warning
from drivers.header_map import CONFIG_TXT, conflicts, overlaid, wired

_THROTTLED = "/sys/devices/platform/soc/soc:firmware/get_throttled"
_UNDER_VOLTAGE, _SLOWED = 0x1, 0x2 | 0x4 | 0x8
_HAPPENED = 16  # the same bits, 16 places higher, say what happened since the Pi was started
_WARM_C, _HOT_C = 70, 80  # a Pi slows down from 80 to 85
_MODPROBE = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d")
_STORAGE = ("usb-storage", "uas")
_FROM_THE_CARD = frozenset("1ef")  # SD card; stop; start over (Raspberry Pi's documentation of BOOT_ORDER)
_HEADER_UART = ("serial0", "ttyAMA0", "ttyS0")
_PERSIST = "/sys/module/pinctrl_*/parameters/persist_gpio_outputs"


def power(machine: Machine) -> Iterator[Row]:
    """Check that the Pi's supply voltage did not drop, and that the Pi was not slowed down."""
    bits = machine.number(_THROTTLED, 16)
    if bits is None:
        digits = (machine.run(["vcgencmd", "get_throttled"]) or "").strip().removeprefix("throttled=0x")
        bits = int(digits, 16) if re.fullmatch(r"[0-9a-f]+", digits) else None
    supply = "Use the board's own supply with a short cable, and take from its USB ports what the table does not need."
    if bits is None:
        yield absent("power", "This machine does not report its supply voltage. A Raspberry Pi does.")
    elif bits & _UNDER_VOLTAGE:
        yield fault("power", "under_voltage", "The board gets too little voltage now. Its card may be damaged.", supply)
    elif bits >> _HAPPENED & _UNDER_VOLTAGE:
        yield warning("power", "under_voltage_was", "The board got too little voltage since it was started.", supply)
    elif bits & _SLOWED or bits >> _HAPPENED & _SLOWED:
        when = "now" if bits & _SLOWED else "since it was started"
        do = "Give the board air or a heat sink, and look at its supply."
        yield warning("power", "throttled", f"The board slowed itself down {when}: heat, or its supply.", do)
    else:
        yield ok("power", "The supply has held its voltage, and nothing slowed the board down, since it was started.")


def heat(machine: Machine) -> Iterator[Row]:
    """Check that the processor is not too warm."""
    milli_c = machine.number("/sys/class/thermal/thermal_zone0/temp")
    if milli_c is None:
        yield absent("temperature", "This machine does not report its temperature.")
        return
    degrees = milli_c // 1000
    do = "Give the board air: open its case, clear its fan and its slots, keep it away from the lamps."
    if degrees >= _HOT_C:
        yield fault("temperature", "too_hot", f"The processor is at {degrees} °C and slows down.", do)
    elif degrees >= _WARM_C:
        yield warning("temperature", "warm", f"The processor is at {degrees} °C. At {_HOT_C} °C it slows down.", do)
    else:
        yield ok("temperature", f"The processor is at {degrees} °C.")


def media(machine: Machine) -> Iterator[Row]:
    """Check that the machine does not read a memory stick that somebody plugs in, and that it starts only from its own
    memory card."""
    files = (path for folder in _MODPROBE for path in sorted(machine.at(folder).glob("*.conf")))
    told = [line.split() for path in files for line in path.read_text("utf-8", "replace").splitlines()]
    if all(["install", module, "/bin/false"] in told for module in _STORAGE):
        yield ok("media", "No driver is loaded for a memory stick.")
    else:
        lines = " and ".join(f"`install {module} /bin/false`" for module in _STORAGE)
        do = f"Install the package, which closes it; or write {lines}, a line each, into /etc/modprobe.d/NAME.conf."
        yield warning("media", "usb_storage_open", "A memory stick that somebody plugs in is read.", do)
    order = re.search(r"^BOOT_ORDER=0x([0-9a-f]{1,8})$", machine.run(["rpi-eeprom-config"]) or "", re.MULTILINE)
    if order is None:
        yield absent("media", "This machine does not say from which media it starts.", "Seal its card and its ports.")
    elif {*order[1]} <= _FROM_THE_CARD:
        yield ok("media", "The board starts from its own card alone.")
    else:
        says = f"The board also starts from other media than its card (BOOT_ORDER=0x{order[1]})."
        yield warning("media", "boots_elsewhere", says, "Write BOOT_ORDER=0xf1: sudo rpi-eeprom-config --edit")


def header(machine: Machine, pins: PinsSection, shoe: ShoeSection) -> Iterator[Row]:
    """Check that nothing but the table uses those pins of the GPIO header to which its lamps and inputs are wired."""
    if pins.driver == "simulated":
        yield absent("pins", "The pins are simulated: no lamp of a real table is lit.")
        return
    if machine.board is None:
        do = 'Run the table on its Pi, or set driver = "simulated" under [pins] on a bench.'
        yield fault(
            "pins", "no_header", "The table's file wires a Raspberry Pi's header, and this machine has none.", do
        )
        return
    rewire = "Use another pin, and write it in the table's file. `tablectl check` names the pins that suit."
    found = [warning("pins", "pin_unfit", f"{says}.", rewire) for says in conflicts(pins.lamps, pins.inputs)]
    for says in overlaid(pins.lamps, pins.inputs, machine.at(CONFIG_TXT)):
        do = f"Remove that line: sudo nano {CONFIG_TXT}; then sudo reboot."
        found.append(fault("pins", "pin_given_away", f"{says}.", do))
    found += [*_console(machine, pins, shoe), *_held(machine, pins)]
    yield from found or [ok("pins", f"{len(pins.lamps)} lamps and {len(pins.inputs)} inputs have pins of their own.")]
    if machine.text("/sys/kernel/debug/gpio") is None:
        yield absent("pins", "Only root can see which pins of the header the kernel holds.", "sudo tablectl doctor")
    yield from _let_go(machine)


def _console(machine: Machine, pins: PinsSection, shoe: ShoeSection) -> Iterator[Row]:
    """Report a fault if the kernel writes its console to pins of the GPIO header that a lamp, an input or the shoe
    uses."""
    named = re.findall(r"(?:^|\s)console=([^,\s]+)", machine.text("/proc/cmdline") or "")
    on = next((name for name in named if name in _HEADER_UART), None)
    if on is None:
        return
    at_it = [f"{name} (BCM {bcm})" for name, bcm in wired(pins.lamps, pins.inputs) if bcm in (14, 15)]
    same = machine.at(shoe.port).resolve() == machine.at(f"/dev/{on}").resolve()
    if at_it or same:
        whose = "the shoe's line" if same else " and ".join(at_it)
        do = "Switch the console off: sudo raspi-config nonint do_serial_cons 1; then sudo reboot."
        says = f"The kernel writes its console to {on}, which is BCM 14 and 15 of the header: {whose}."
        yield fault("pins", "console_on_header", says, do)


def _held(machine: Machine, pins: PinsSection) -> Iterator[Row]:
    """Report each pin of the GPIO header that is wired to a lamp or an input although, by the kernel's own list, one of
    the kernel's drivers uses it."""
    lists = sorted(machine.at("/sys/kernel/debug/pinctrl").glob("*/pinmux-pins")) if _may_look(machine) else []
    text = "\n".join(machine.text(Path("/") / path.relative_to(machine.root)) or "" for path in lists)
    owners = {int(bcm): owner for bcm, owner in re.findall(r"pin (\d+) \(gpio\d+\): ([^(\s]\S*)", text)}
    for name, bcm in wired(pins.lamps, pins.inputs):
        if bcm in owners:
            do = f"Switch off its dtparam, dtoverlay or enable_uart line in {CONFIG_TXT}; then sudo reboot."
            says = f"{name}: the kernel has given BCM {bcm} to {owners[bcm]}."
            yield fault("pins", "pin_held_by_kernel", says, do)


def _may_look(machine: Machine) -> bool:
    try:
        return any(machine.at("/sys/kernel/debug").iterdir())
    except OSError:
        return False


def _let_go(machine: Machine) -> Iterator[Row]:
    """Warn if the pins of lamps float (have no defined level) while no program drives them. Pins that the library
    RPi.GPIO drove keep their level, so a machine that uses it gets no warning."""
    if machine.at("/dev/gpiomem").exists() and "Raspberry Pi 5" not in (machine.board or ""):
        return
    for path in sorted(machine.at("/").glob(_PERSIST.lstrip("/"))):
        if path.read_text("ascii").strip() in ("N", "0"):
            module = path.parents[1].name
            says = "When the table's program ends, its lamps' pins float until it runs again."
            do = (
                f"Remove dtparam=strict_gpiod from {CONFIG_TXT}; or add {module}.persist_gpio_outputs=1 to cmdline.txt."
            )
            yield warning("pins", "pins_let_go", says, do)
