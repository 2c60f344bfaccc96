"""The type of a table's own configuration file, with one class for each section, and the checks of each section."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from controller.basics.digest import is_digest
from controller.contract.bounds import MOST_SEAT
from controller.contract.wire.mqtt_tls import TlsFiles
from controller.daemon.config.examples import TABLE_SECTIONS, how_to_add
from controller.daemon.config.problems import Mistake, check_range, unknown
from controller.daemon.config.screen_section import ScreenSection, check_screen
from controller.daemon.pins.inputs import INPUTS
from controller.rules.game.cards import PersonalK9
from controller.table.lamps import LAMPS
from controller.table.rules import LockOn, Seat
from drivers.devices import PRESENT_INPUT, InputWiring, LampWiring
from drivers.header_map import PHYSICAL
from drivers.line.brand import Brand

HEADER_PINS = tuple(sorted(PHYSICAL))
"""The BCM numbers of the 26 general pins on the Raspberry Pi's header."""


class TableSection(Struct, frozen=True):
    """The section `[table]` of a table's file: which table this is, and which game it plays."""

    id: str
    """The table's name in every topic and event, of a-z, 0-9 and -."""

    name: str
    """The table's name for people, as the screen shows it."""

    game: str
    """The path of the game file, from the folder of this file."""

    lock_on: LockOn = "deal"
    """What locks the wagers: the dealer's button `deal`, or a round's first card at a table without that button."""

    dealt: Literal["mini", "midi"] = "mini"
    """`"mini"`: the dealer turns up every card. `"midi"`: the cards lie face down until they are revealed."""

    fastest_card_ms: int = 150
    """The pace of the house's fastest dealer: a round whose cards came faster than one in so many milliseconds was not
    dealt by hand, and stops the table. 0: no pace is too fast."""

    longest_lock_s: int = 60
    """For how many seconds locked wagers may wait for the round's first card. Where they waited longer, cards may have
    been dealt unheard: an alarm says so, and people decide on the round's awards. 0: any time."""

    bet_recognition: bool = False
    """Whether bet recognition tells the table of every wager. Without it the table settles no wager in money."""


_NOT_TABLES = {"pit": "the pit's program", "bets": "bet recognition"}
"""The other names in the broker's access list, `config/mosquitto/acl`."""


def mistakes_in_id(table: str) -> Iterable[Mistake]:
    """Yield a mistake if this text cannot be a table's id, such as "royal9-01"."""
    if not re.fullmatch(r"[a-z0-9-]{1,60}", table):
        yield "table.id", f"{table!r} cannot be part of a topic", "Use only a-z, 0-9 and -, at most 60."
    elif table in _NOT_TABLES:
        do = "Choose another, royal9-01 for instance: the broker's access list would give this table its rights."
        yield "table.id", f"{table!r} is the name of {_NOT_TABLES[table]} at the broker", do


def _check_id(table: TableSection) -> Iterable[Mistake]:
    return mistakes_in_id(table.id)


_DRAWN_BY_HAND_MS = 1000  # a slower limit would stop ordinary rounds


def _check_pace(table: TableSection) -> Iterable[Mistake]:
    yield from check_range("table.fastest_card_ms", table.fastest_card_ms, 0, _DRAWN_BY_HAND_MS)
    yield from check_range("table.longest_lock_s", table.longest_lock_s, 0, 3600)


def _check_seats(seats: tuple[Seat, ...]) -> Iterable[Mistake]:
    if not seats:
        yield "seats", "the table has no seats", "Add a [[seats]] for each seat, with the seat's number."
    at: dict[int, int] = {}
    printed: dict[PersonalK9, int] = {}
    for place, seat in enumerate(seats):
        if not 1 <= seat.number <= MOST_SEAT:
            do = f"Number the seats from 1 to {MOST_SEAT}."
            yield f"seats.{place}.number", f"{seat.number} is not a seat number", do
        if seat.number in at:
            yield f"seats.{place}.number", f"seat {seat.number} is listed twice", "Give each seat its own number."
        if seat.k9 is not None and seat.k9 in printed:
            other = printed[seat.k9]
            yield (
                f"seats.{place}.k9",
                f"{seat.k9} is printed at seat {other} already",
                "Give each seat a K9 of its own.",
            )
        at.setdefault(seat.number, place)
        if seat.k9 is not None:
            printed.setdefault(seat.k9, seat.number)


class ShoeSection(Struct, frozen=True):
    """The section `[shoe]` of a table's file: the card-reading shoe and its serial line."""

    driver: Brand
    """The brand of the shoe."""

    port: str
    """The serial port, a device such as `"/dev/serial/by-id/…"`, or a serial server: `"socket://10.0.0.7:4001"`."""

    baud: int | None = None
    """The speed of the line in baud. Left out: the brand's usual speed."""

    ask: str | None = None
    """The command by which the table asks the shoe twice a second whether it is there. The command must change nothing;
    the shoe may refuse it. `"off"`: the shoe is not asked. Left out: the brand's usual command, `"ZZ00"` for an Angel
    Eye."""

    answers_within_ms: int | None = None
    """For how many milliseconds the shoe may leave that unanswered. From then on the line is down. Left out: 1500 for
    an Angel Eye. In that time no hand can draw so many cards that the shoe's numbers come round."""

    present: Literal["cts", "dsr", "dcd", "input"] | None = None
    """What shows that the shoe's plug is in. `"cts"`, `"dsr"`, `"dcd"`: a modem line of the port, to which the plug at
    the shoe's end leads RTS back. `"input"`: the input `shoe_present`. Left out: nothing shows it."""


def _check_line(shoe: ShoeSection) -> Iterable[Mistake]:
    brand, baud = shoe.driver, shoe.baud
    if baud is not None and baud not in brand.bauds:
        do = f"Write one of: {', '.join(map(str, sorted(brand.bauds)))}."
        yield "shoe.baud", f"the line of {brand.called} does not run at {baud}", do
    port = shoe.port
    do = "Write a device, best from /dev/serial/by-id, or socket://HOST:PORT."
    if re.fullmatch(r"COM[0-9]+|/dev/(cu|tty)\..*", port, re.IGNORECASE):
        yield "shoe.port", f"{port!r} is a port of another system, and a table runs on Linux", do
    elif not port.startswith("/") and not re.fullmatch(r"socket://[^/\s]+:[0-9]{1,5}", port):
        yield "shoe.port", f"{port!r} is neither a device's full path nor a serial server", do


_SHORTEST_ANSWER_MS, _LONGEST_ANSWER_MS = 500, 60_000


def _check_asking(shoe: ShoeSection) -> Iterable[Mistake]:
    brand, ask, asking = shoe.driver, shoe.ask, shoe.driver.asking
    if asking is None:
        for key, value in (("ask", ask), ("answers_within_ms", shoe.answers_within_ms)):
            if value is not None:
                yield f"shoe.{key}", f"{brand.called} takes no commands, and answers none", "Remove it."
        return
    if ask is not None and ask != "off":
        does = next((what for begins, what in asking.acts.items() if ask.startswith(begins)), None)
        do = f'Write a command that changes nothing, such as "{asking.such_as}", or "off".'
        if not re.fullmatch(asking.form, ask):
            yield "shoe.ask", f"{ask!r} is no command of {brand.called}", do
        elif does is not None:
            yield "shoe.ask", f"{ask} {does}", do
    if shoe.answers_within_ms is not None:
        yield from check_range(
            "shoe.answers_within_ms", shoe.answers_within_ms, _SHORTEST_ANSWER_MS, _LONGEST_ANSWER_MS
        )


def _check_present(shoe: ShoeSection, pins: PinsSection) -> Iterable[Mistake]:
    of_input = shoe.present == "input"
    if shoe.present is not None and not of_input and shoe.port.startswith("socket://"):
        do = 'Wire the shoe\'s supply to an input and write present = "input", or use an adapter at the table.'
        yield "shoe.present", f"a serial server does not tell its modem line {shoe.present.upper()}", do
    if of_input and PRESENT_INPUT not in pins.inputs:
        do = f"Wire the shoe's supply to an input {PRESENT_INPUT} (docs/wiring.md), or remove shoe.present."
        yield f"pins.inputs.{PRESENT_INPUT}", 'is missing, and shoe.present = "input" needs it', do
    if PRESENT_INPUT in pins.inputs and not of_input:
        do = 'Write present = "input" under [shoe], or remove the input.'
        yield f"pins.inputs.{PRESENT_INPUT}", "is wired, and shoe.present does not name it", do


class PinsSection(Struct, frozen=True):
    """The section `[pins]` of a table's file: the lamps, buttons and sensors that are wired to the Raspberry Pi's GPIO
    header."""

    driver: Literal["rpi_gpio", "simulated"]
    """`"rpi_gpio"`: the real header. `"simulated"`: a file in its place, for a machine without a header."""

    lamps: dict[str, LampWiring]
    """`[pins.lamps]`: the wiring of each lamp, by the lamp's name."""

    inputs: dict[str, InputWiring]
    """`[pins.inputs]`: the wiring of each button, of the supervisor's key and of each seat's sensor, by its name."""

    page: str | None = None
    """The file that stands in for the header. The driver `"simulated"` needs this file; `"rpi_gpio"` has none."""

    sensed: str | None = None
    """The spot whose chips the seats' sensors see. Left out: the spot of the game's only progressive bet."""

    cabinet_opened: Literal["fault", "alarm"] = "fault"
    """What the table does when the input `cabinet_open` closes. `"fault"`: the table stops until a supervisor has
    looked. `"alarm"`: the table tells the pit, and goes on."""

    sample_ms: int = 10
    """The time between two looks at the inputs while an input changes. While none changes, that time is three times as
    long: 30 ms for 10."""

    debounce_ms: int = 30
    """How long an input must stay changed to count. With `sample_ms = 10` and `debounce_ms = 30`, a button held for 65
    ms is never missed."""


def _check_pins(pins: PinsSection) -> Iterable[Mistake]:
    yield from check_range("pins.sample_ms", pins.sample_ms, 5, 50)
    yield from check_range("pins.debounce_ms", pins.debounce_ms, 5, 500)
    if pins.driver == "simulated" and pins.page is None:
        yield "pins.page", "is missing", "Name the file that stands in for the header."
    if pins.driver == "rpi_gpio" and pins.page is not None:
        yield "pins.page", "is only for the simulated driver", 'Remove it, or set pins.driver = "simulated".'
    taken: dict[int, str] = {}
    for key, bcm in [
        *((f"pins.lamps.{name}.bcm", lamp.bcm) for name, lamp in pins.lamps.items()),
        *((f"pins.inputs.{name}.bcm", input_.bcm) for name, input_ in pins.inputs.items()),
    ]:
        if bcm not in HEADER_PINS:
            yield key, f"BCM {bcm} is not on the header", "Use one of the header's 26 pins, BCM 2 to 27."
        elif bcm in taken:
            yield key, f"BCM {bcm} is taken by {taken[bcm]}", "Give each lamp and input a pin of its own."
        taken.setdefault(bcm, key.removesuffix(".bcm"))


def _check_wiring(table: TableSection, seats: tuple[Seat, ...], pins: PinsSection) -> Iterable[Mistake]:
    of_seats = [f"seat_{seat.number}" for seat in seats]
    yield from _check_wiring_names("pins.lamps", pins.lamps, [*of_seats, *LAMPS])
    yield from _check_wiring_names("pins.inputs", pins.inputs, [*of_seats, *INPUTS])
    if table.lock_on == "deal" and "deal" not in pins.inputs:
        do = 'Wire the dealer\'s `deal` button, or set table.lock_on = "first_card".'
        yield "pins.inputs.deal", "is missing, and this button locks the wagers", do


def _check_wiring_names(section: str, wired: Iterable[str], known: list[str]) -> Iterable[Mistake]:
    for name in wired:
        if name not in known:
            yield f"{section}.{name}", unknown(name, known), "The names here are: " + ", ".join(known) + "."


class PitSection(Struct, frozen=True):
    """The section `[pit]` of a table's file: the pit's MQTT brokers, and after how long a silence the pit counts as
    gone.

    With `ca`, `certificate` and `private_key`, table and broker always use mutual TLS and never an open connection.
    """

    host: str | None = None
    """The broker's name or address. With TLS: the name in the broker's certificate. A table needs `host` or `hosts`."""

    hosts: tuple[str, ...] | None = None
    """In place of `host`: several brokers that the pit serves alike, such as `["one.pit", "two.pit"]`. The table speaks
    with one at a time. It goes on to the next where the broker does not answer, or where no pit is heard for
    `stale_after_s`."""

    port: int = 1883
    """The broker's port. A broker with TLS usually has 8883."""

    root: str = "pit/v1"
    """How every topic begins. Table and pit must agree."""

    keepalive_s: int = 5
    """After this many seconds without a message the table asks the broker for a sign of life."""

    stale_after_s: int = 10
    """For how many seconds the pit may be silent. From then on progressive wagers are refused at the lock."""

    most_unacknowledged: int = 100_000
    """How many events may wait for the pit. At four fifths an alarm warns; at the limit the table stops."""

    trust_first_key: bool = False
    """Only for a demo: the first key that is offered as the pit's is pinned, and nobody compares its fingerprint."""

    ca: str | None = None
    """The house's CA, a PEM file."""

    certificate: str | None = None
    """The table's certificate, a PEM file. Its common name is the table's `id`."""

    private_key: str | None = None
    """The key of that certificate, a PEM file."""

    crl: str | None = None
    """The CA's list of revoked certificates, a PEM file. The broker's own certificate is then judged by that list."""

    @property
    def brokers(self) -> tuple[str, ...]:
        """The host names of the pit's MQTT brokers, in the order in which the table tries them."""
        return (self.hosts or ()) if self.host is None else (self.host,)

    @property
    def is_local(self) -> bool:
        """True if every MQTT broker runs on the table's own machine, so that the connection needs no TLS."""
        return all(map(is_local, self.brokers))

    @property
    def tls(self) -> TlsFiles | None:
        """The paths of the certificate files for mutual TLS; None if the table uses no TLS.

        The files are not opened here, because a person who runs only `tablectl status` need not be allowed to read
        them.
        """
        if self.ca is None or self.certificate is None or self.private_key is None:
            return None
        crl = None if self.crl is None else Path(self.crl)
        return TlsFiles(Path(self.ca), Path(self.certificate), Path(self.private_key), crl)


def is_local(host: str) -> bool:
    """Return True if `host` is the table's own machine, such as "localhost". A connection to it needs no TLS."""
    return re.fullmatch(r"localhost|127\.[0-9.]+|::1", host) is not None


def mistakes_in_brokers(pit: PitSection) -> Iterable[Mistake]:
    """Yield each mistake in `host` and `hosts`, which name the MQTT brokers of the pit."""
    key = "pit.hosts" if pit.host is None else "pit.host"
    if pit.host is not None and pit.hosts is not None:
        yield "pit.hosts", "is given beside pit.host", "Keep `host` for one broker, or `hosts` for several."
    elif pit.hosts == ():
        yield key, "names no broker", 'Name each broker: hosts = ["one.pit", "two.pit"].'
    elif pit.host is None and pit.hosts is None:
        yield "pit.host", "host is missing", how_to_add("pit.host", TABLE_SECTIONS)
    for place, host in enumerate(pit.brokers):
        if not re.fullmatch(r"[A-Za-z0-9._:-]+", host):
            yield key, f"{host!r} is not a host", "Write the broker's host name or its address."
        elif host in pit.brokers[:place]:
            yield key, f"{host} is listed twice", "Name each broker once."


def _check_pit(pit: PitSection) -> Iterable[Mistake]:
    if not re.fullmatch(r"(?=.{1,200}$)[a-z0-9-]+(/[a-z0-9-]+)*", pit.root):
        yield "pit.root", f"{pit.root!r} cannot be a topic's root", "Use words of a-z, 0-9 and -, parted by /."
    yield from mistakes_in_brokers(pit)
    yield from check_range("pit.port", pit.port, 1, 65535)
    yield from check_range("pit.keepalive_s", pit.keepalive_s, 1, 60)
    yield from check_range("pit.stale_after_s", pit.stale_after_s, 1, 600)
    yield from check_range("pit.most_unacknowledged", pit.most_unacknowledged, 100, 10_000_000)
    tls = {"ca": pit.ca, "certificate": pit.certificate, "private_key": pit.private_key}
    if any((*tls.values(), pit.crl)):
        for key in [key for key, path in tls.items() if not path]:
            yield f"pit.{key}", "is missing, and TLS needs all three files", f"Write {', '.join(tls)}, or none of them."


class JournalSection(Struct, frozen=True):
    """The section `[journal]` of a table's file: where the table keeps its journal, and the key that signs its events.

    The rows of closed shoes are moved to archive files once the pit has received their events.
    """

    path: str
    """The journal's file."""

    signing_key: str
    """The file of the table's key. The first start makes the key."""

    archive: str | None = None
    """The folder of the archives. Left out: beside the journal, `<path>.archive`."""

    keep_shoes: int = 30
    """How many closed shoes stay in the journal besides the last closed shoe."""

    most_bytes: int = 256_000_000
    """The size in bytes above which the journal keeps only the last closed shoe."""

    keep_years: int | None = None
    """For how many years the house keeps its records. The program deletes no record. The doctor warns where the disk is
    full before that time. Left out: nobody warns."""

    @property
    def archives(self) -> Path:
        """The folder for the archive files, which hold the journal's older rows."""
        return Path(f"{self.path}.archive" if self.archive is None else self.archive)


def _check_journal(journal: JournalSection) -> Iterable[Mistake]:
    yield from check_range("journal.keep_shoes", journal.keep_shoes, 0, 100_000)
    if journal.keep_years is not None:
        yield from check_range("journal.keep_years", journal.keep_years, 1, 100)
    yield from check_range("journal.most_bytes", journal.most_bytes, 1_000_000, 1_000_000_000_000)


class ControlSection(Struct, frozen=True):
    """The section `[control]` of a table's file: the socket by which `tablectl` reaches the running table."""

    socket: str
    """The path of the control socket. The feed for the screen is in the same folder."""


def _check_paths(
    shoe: ShoeSection, pins: PinsSection, journal: JournalSection, control: ControlSection
) -> Iterable[Mistake]:
    taken: dict[str, str] = {}
    for key, path in (
        ("shoe.port", shoe.port),
        ("pins.page", pins.page),
        ("journal.path", journal.path),
        ("journal.signing_key", journal.signing_key),
        ("journal.archive", journal.archive),
        ("control.socket", control.socket),
    ):
        if path is None:
            continue
        if "\0" in path or not Path(path).name:
            yield key, f"{path!r} is not a path", "Write the path of a file."
        elif not path.startswith("/") and key != "shoe.port":
            do = "Write the full path, from /. The daemon does not run in the folder in which a person types a command."
            yield key, f"{path!r} is not a full path", do
        elif path in taken:
            yield key, f"{path} is taken by {taken[path]}", "Give each key a path of its own."
        taken.setdefault(path, key)


class ProgramSection(Struct, frozen=True):
    """The section `[program]` of a table's file: which versions of the program the house allows to run.

    Without this section every version may run, and a changed program causes an alarm.
    """

    approved: tuple[str, ...] = ()
    """The digests of the approved programs, as `tablectl digest` prints them. Name that of the next version too before
    an update. Left out: each program is let run."""

    unapproved: Literal["stop", "alarm"] = "stop"
    """What the table does with a program that is not approved. `"stop"`: the table does not start. `"alarm"`: the table
    tells the pit, and plays."""


def _check_program(program: ProgramSection) -> Iterable[Mistake]:
    for digest in program.approved:
        if not is_digest(digest):
            do = "Write the 64 digits that `tablectl digest` prints for the program."
            yield "program.approved", f"{digest!r} is not the digest of a program", do


class TableFile(Struct, frozen=True):
    """The content of a table's own configuration file."""

    table: TableSection
    seats: tuple[Seat, ...]
    shoe: ShoeSection
    pins: PinsSection
    pit: PitSection
    journal: JournalSection
    control: ControlSection
    screen: ScreenSection = ScreenSection()
    program: ProgramSection = ProgramSection()


TABLE_CHECKS = (
    _check_id,
    _check_pace,
    _check_seats,
    _check_line,
    _check_asking,
    _check_present,
    _check_pins,
    _check_wiring,
    _check_pit,
    _check_journal,
    _check_paths,
    check_screen,
    _check_program,
)
"""Every check of a table's file. A check's arguments are the sections that the check looks at, by their names."""
