"""Measures how long it takes from a card to its lamp, and from a round to the pit's acknowledgement. Both are compared
with the floor (floor.py), a bare table that does only what is indispensable.

Table and floor run at the same time on the same disk and broker, and play rounds in turn. In this way the rest of the
machine's work affects both equally. Four moments are measured from outside: just before the second, confirming copy of
a card's report is written to the pty; the end of the disk's sync (syncs.c); the change of a lamp's byte in the file of
simulated pins; and the arrival of a message at a subscriber.

The broker sends an event to a subscriber in the same turn in which it answers the table with PUBACK. So the arrival at
the subscriber is taken as the moment of the PUBACK.
"""

from __future__ import annotations

import json
import statistics
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.contract.topics import Topics
from controller.contract.wire.mqtt_link import await_thread
from controller.people.cli import programs
from controller.people.cli.client import ask
from drivers.sim import rules
from drivers.sim.deck import Deck, shuffled_decks
from drivers.sim.line import PtyLine
from drivers.sim.pins import PinsPage, SimulatedPins
from drivers.sim.shoe.angel_eye import SimulatedAngelEye
from tests.bench import floor
from tests.bench.house import House, cpu_ms, ready, until, written_bytes
from tests.bench.report import Section, judged, spread
from tests.bench.syncs import Syncs
from tests.support.felt import FeltRound

WAGERED_SEATS = (2, 5)
ROUNDS_A_SHOE = 60
COPY_S = 0.017
"""What a copy of a card's report takes on the shoe's wire."""

_ROUNDS_AN_HOUR = 70
_IDLE_S = 3.0
_LOOK_EVERY_S = 0.00005
_GUIDANCE_AND_OUTCOME = ("player", "tie", "banker", "draw_player", "draw_banker")
"""The lamps that do not blink: whatever changes there, the card did."""


@dataclass
class Times:
    """The measured times of the table or of the floor (the bare table), in milliseconds. The times of a card count from
    the moment when the second, confirming copy of the shoe's report is written."""

    durable: list[float] = field(default_factory=list)
    lamp: list[float] = field(default_factory=list)
    puback: list[float] = field(default_factory=list)
    acknowledged: list[float] = field(default_factory=list)
    card_cpu: list[float] = field(default_factory=list)
    round_cpu: list[float] = field(default_factory=list)


class Ears:
    """An MQTT subscriber that stores what it received and when, by topic."""

    def __init__(self, port: int, *topics: str) -> None:
        self._heard: dict[str, list[tuple[int, bytes]]] = {topic: [] for topic in topics}
        self._client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        self._client.on_message = self._hear
        self._client.on_connect = lambda client, *_: client.subscribe([(topic, 0) for topic in topics])
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()

    def close(self) -> None:
        """Disconnect the subscriber from the broker."""
        self._client.disconnect()
        await_thread(self._client)

    def first(self, topic: str, fits: Callable[[bytes], bool], since_ns: int) -> tuple[int, bytes]:
        """Wait for the first message on the topic that arrived after `since_ns` and for which `fits` returns True.
        `fits` gets the message's payload. Returns the time of the message's arrival in nanoseconds, and its payload."""
        found: list[tuple[int, bytes]] = []

        def heard() -> bool:
            found[:] = [(at, what) for at, what in self._heard[topic] if at > since_ns and fits(what)][:1]
            return bool(found)

        until(heard, f"a word on {topic}")
        self._heard[topic].clear()
        return found[0]

    def _hear(self, _client: Client, _data: Any, message: Any) -> None:
        self._heard[message.topic].append((time.monotonic_ns(), bytes(message.payload)))


class NotedLine(PtyLine):
    """A simulated serial line (pty) that stores the time of the last write to it."""

    wrote_ns = 0

    def write(self, data: bytes) -> None:
        """Store the present time, and then write the data to the line."""
        self.wrote_ns = time.monotonic_ns()
        super().write(data)


class Lamps:
    """Some simulated lamps of a table, whose changes are measured."""

    def __init__(self, page: Path, bcms: Sequence[int]) -> None:
        self._page = PinsPage(page)
        self._bcms = bcms

    def now(self) -> list[int]:
        """Return the present levels of the lamps."""
        return [self._page.output(bcm) for bcm in self._bcms]

    def changed_ns(self, before: list[int], within_s: float) -> int | None:
        """Return the time in nanoseconds at which the lamps first differ from the levels `before`. Returns None if they
        do not change within `within_s` seconds."""
        end_ns = time.monotonic_ns() + int(1e9 * within_s)
        while (now_ns := time.monotonic_ns()) < end_ns:
            if self.now() != before:
                return now_ns
            time.sleep(_LOOK_EVERY_S)
        return None


class BareTable:
    """A minimal program in place of the table, whose times show how fast any table could be on this machine. The real
    table's times are compared with them."""

    def __init__(self, ends: ExitStack, house: House, syncs: Syncs) -> None:
        arguments = (str(house.folder), str(house.port))
        program = ("-m", "tests.bench.floor")
        ends.enter_context(ready(programs.python(*program, "pit", *arguments), house.folder, "floor-pit"))
        self._line = NotedLine(house.folder / "floor-line")
        self._lamps = Lamps(house.folder / "floor-header", [floor.LAMP])
        self._process, _ = ends.enter_context(
            ready(programs.python(*program, "table", *arguments), house.folder, "floor-table", syncs.environment)
        )
        self._syncs = syncs
        self._ears = Ears(house.port, floor.EVENT, floor.ACK)
        ends.callback(self._ears.close)
        self.times = Times()
        time.sleep(0.2)  # its subscription

    def play(self, cards: int) -> None:
        """Play one round with this number of cards at the bare table, and measure it."""
        for number in range(1, cards + 1):
            last = number == cards
            cpu = cpu_ms(self._process)
            before = self._lamps.now()
            self._line.write(floor.ROUND if last else floor.CARD)
            begun_ns = self._line.wrote_ns
            changed_ns = self._lamps.changed_ns(before, 1.0)
            assert changed_ns is not None, "the floor does not answer"
            durable_ns = self._syncs.first_ended_ns(begun_ns)
            assert durable_ns is not None, "the floor's commit syncs"
            self.times.durable.append((durable_ns - begun_ns) / 1e6)
            self.times.lamp.append((changed_ns - begun_ns) / 1e6)
            if last:
                self._measure_event(begun_ns)
            time.sleep(COPY_S)
            (self.times.round_cpu if last else self.times.card_cpu).append(cpu_ms(self._process) - cpu)

    def _measure_event(self, begun_ns: int) -> None:
        heard_ns, body = self._ears.first(floor.EVENT, lambda _: True, begun_ns)
        number = body.partition(b" ")[0]
        acked_ns, _ = self._ears.first(floor.ACK, lambda ack: ack == number, begun_ns)
        self.times.puback.append((heard_ns - begun_ns) / 1e6)
        self.times.acknowledged.append((acked_ns - begun_ns) / 1e6)


class PlayedTable:
    """The real daemon of a table, which is measured. It has its shoe on a pty, simulated pins and a pit."""

    def __init__(self, ends: ExitStack, house: House, syncs: Syncs) -> None:
        values = tomllib.loads(house.table.read_text("utf-8"))
        page, wiring = Path(values["pins"]["page"]), values["pins"]
        self._house = house
        self._pins = SimulatedPins(page, wiring["lamps"], wiring["inputs"])
        for name in wiring["inputs"]:
            self._pins.release(name)
        self._settle_s = 2 * (wiring["debounce_ms"] + 3 * wiring["sample_ms"]) / 1000
        self._line = NotedLine(Path(values["shoe"]["port"]))
        ends.callback(self._line.unplug)
        self._lamps = Lamps(page, [wiring["lamps"][name]["bcm"] for name in _GUIDANCE_AND_OUTCOME])
        self._shoe = SimulatedAngelEye(self._line, speed=1.0, sleep=self._look)
        self._syncs = syncs
        self._topics = Topics(values["pit"]["root"], values["table"]["id"])
        self._ears = Ears(house.port, self._topics.event, self._topics.ack)
        ends.callback(self._ears.close)
        self._process, _ = ends.enter_context(house.daemon(syncs.environment))
        self._log = house.folder / "daemon.log"
        self._decks = shuffled_decks(1, 8, 0)  # each shoe is closed long before its cut card, at its end, comes
        self._deck: Deck | None = None
        self._rounds_left = 0
        self._copies_ns: list[int] = []
        self._before: list[int] = []
        self._changed_ns: int | None = None
        self._idle_share = 0.0
        self.times = Times()
        self.rounds = self.syncs = self.written = self.logged = 0
        until(house.links_are_up, "the links")
        self._shoe.power_up()
        for seat in WAGERED_SEATS:
            self._pins.press(f"seat_{seat}")

    def play(self) -> int:
        """Play one round at the real table and measure it. Returns how many cards the round had."""
        if not self._rounds_left:
            self._deck = self._open_shoe(next(self._decks))
        assert self._deck is not None
        self._rounds_left -= 1
        syncs, written, logged = self._syncs.count, written_bytes(self._process), self._log.stat().st_size
        self._press("deal", "wagers_locked")
        if not self._idle_share:
            self._idle_share = self._measured_idle_share()
        cards = self._deal(self._deck)
        until(self._house.all_is_acknowledged, "the pit")
        self.rounds += 1
        self.syncs += self._syncs.count - syncs
        self.written += written_bytes(self._process) - written
        self.logged += self._log.stat().st_size - logged
        return cards

    @property
    def idle_share(self) -> float:
        """The fraction of one CPU core that the table's daemon uses while nothing happens except that it samples its
        pins."""
        return self._idle_share

    def _open_shoe(self, deck: Deck) -> Deck:
        if self._deck is not None:
            ask(self._house.table, {"do": "close_shoe", "by": "bench"})
        self._press("new_shoe", "first_card_due")
        self._shoe.new_shoe()
        first = deck.draw()
        self._shoe.draw(first)
        for _ in range(rules.burn_count(first)):
            self._shoe.draw(deck.draw())
        until(lambda: self._house.phase() == "wagers_open", "the burn")
        self._rounds_left = ROUNDS_A_SHOE
        return deck

    def _deal(self, deck: Deck) -> int:
        round_ = FeltRound()
        while round_.side is not None:
            card = deck.draw()
            side, _ = round_.take(card)
            self._measure_card(card, lamp_changes=round_.side != side, last=round_.side is None)
        return len(round_.cards)

    def _measure_card(self, card: str, lamp_changes: bool, last: bool) -> None:
        """Draw a card, and measure the daemon's CPU time and how long the table takes to store the card and to change a
        lamp. If the card changes no lamp, no time of a lamp is measured. With the `last` card of a round, the round's
        event is measured too."""
        cpu, begun_s = cpu_ms(self._process), time.monotonic()
        changed_ns = self._draw(card, lamp_changes)
        confirmed_ns = self._copies_ns[1]
        if changed_ns is not None:
            self.times.lamp.append((changed_ns - confirmed_ns) / 1e6)
        until(lambda: self._syncs.first_ended_ns(confirmed_ns), "the card's commit")
        durable_ns = self._syncs.first_ended_ns(confirmed_ns)
        assert durable_ns is not None
        self.times.durable.append((durable_ns - confirmed_ns) / 1e6)
        if last:
            self._measure_event(confirmed_ns)
        idle_ms = 1000 * self._idle_share * (time.monotonic() - begun_s)
        (self.times.round_cpu if last else self.times.card_cpu).append(cpu_ms(self._process) - cpu - idle_ms)

    def _draw(self, card: str, lamp_changes: bool) -> int | None:
        """Draw a card. Returns the time in nanoseconds at which a lamp changed, or None for a card that changes no
        lamp."""
        self._copies_ns.clear()
        self._before, self._changed_ns = self._lamps.now(), None
        self._shoe.draw(card)  # which looks at the lamps while a copy takes its time on the wire
        if lamp_changes and self._changed_ns is None:
            self._changed_ns = self._lamps.changed_ns(self._before, 5.0)
            assert self._changed_ns is not None, "the lamp never changed"
        return self._changed_ns

    def _measure_event(self, confirmed_ns: int) -> None:
        heard_ns, body = self._ears.first(
            self._topics.event, lambda body: json.loads(body)["type"] == "round", confirmed_ns
        )
        seq = json.loads(body)["seq"]
        acked_ns, _ = self._ears.first(self._topics.ack, lambda ack: json.loads(ack)["seq"] >= seq, confirmed_ns)
        self.times.puback.append((heard_ns - confirmed_ns) / 1e6)
        self.times.acknowledged.append((acked_ns - confirmed_ns) / 1e6)

    def _look(self, seconds: float) -> None:
        """Wait for `seconds` while the shoe sends the copies of its report. Store the time of the last write. From the
        second copy on, watch the lamps for a change."""
        self._copies_ns.append(self._line.wrote_ns)
        ends_s = time.monotonic() + seconds
        if self._changed_ns is None and len(self._copies_ns) > 1:
            self._changed_ns = self._lamps.changed_ns(self._before, seconds)
        time.sleep(max(0.0, ends_s - time.monotonic()))

    def _press(self, button: str, phase: str) -> None:
        self._pins.press(button)
        until(lambda: self._house.phase() == phase, f"{button} to be heard")
        self._pins.release(button)
        time.sleep(self._settle_s)

    def _measured_idle_share(self) -> float:
        cpu, begun_s = cpu_ms(self._process), time.monotonic()
        time.sleep(_IDLE_S)
        return (cpu_ms(self._process) - cpu) / 1000 / (time.monotonic() - begun_s)


def measure(house: House, library: Path, rounds: int, added_ms: float) -> Iterator[Section]:
    """Measure `rounds` rounds on the real table and on the floor (the bare table). Each sync of the disk is made
    `added_ms` milliseconds slower."""
    disk = f"each sync {added_ms:g} ms longer" if added_ms else "the disk as it is"
    with ExitStack() as ends:
        played = PlayedTable(ends, house, Syncs(library, house.folder / "syncs", added_ms))
        bare = BareTable(ends, house, Syncs(library, house.folder / "floor-syncs", added_ms))
        for _ in range(rounds):
            bare.play(played.play())
    yield _latencies(played, bare, disk, aim=1.3 if added_ms else None)
    if not added_ms:
        yield _disk(played)
        yield _cpu(played, bare)


def _latencies(played: PlayedTable, bare: BareTable, disk: str, aim: float | None) -> Section:
    table, least = played.times, bare.times
    return Section(
        f"Latency, {disk}",
        f"From the moment before a card's confirming copy is written to the pty, over {played.rounds} rounds; median / "
        "p99 in ms. The floor in the same run: pty, one SQLite FULL commit, lamp; paho QoS 1, a bare pit's commit and "
        "acknowledgement. Both without TLS. The aim is for the medians.",
        ("", "samples", "table ms", "floor ms", "ratio", "added ms", "aim"),
        [
            _beside("card durable", table.durable, least.durable, aim),
            _beside("card's lamp written", table.lamp, least.lamp, aim),
            _beside("round's event taken by the broker", table.puback, least.puback, aim),
            _beside("round acknowledged by the pit", table.acknowledged, least.acknowledged, aim),
        ],
    )


def _beside(what: str, table: list[float], least: list[float], aim: float | None) -> tuple[str, ...]:
    (median, p99), (floor_median, floor_p99) = spread(table), spread(least)
    ratio = median / floor_median
    return (
        what,
        str(len(table)),
        f"{median:.2f} / {p99:.2f}",
        f"{floor_median:.2f} / {floor_p99:.2f}",
        f"{ratio:.2f} x",
        f"{median - floor_median:.2f}",
        "" if aim is None else judged(ratio, aim, "x"),
    )


def _disk(played: PlayedTable) -> Section:
    kib, logged = (of_all / played.rounds / 1024 for of_all in (played.written, played.logged))
    syncs = played.syncs / played.rounds
    return Section(
        "Disk",
        "The daemon's `write_bytes` of /proc (the file system's own journal comes on top) and its fsync and fdatasync "
        f"calls, from the lock to the pit's acknowledgement of the round, {played.rounds} rounds with two Royal 9 "
        f"wagers, each card a commit of its own. An hour has {_ROUNDS_AN_HOUR} rounds. The log is kept in memory: what "
        "is logged is no write.",
        ("", "a round", "an hour", "aim a round"),
        [
            ("written", f"{kib:.0f} KiB", f"{kib * _ROUNDS_AN_HOUR / 1024:.1f} MiB", judged(kib, 128, "KiB")),
            ("syncs", f"{syncs:.1f}", f"{syncs * _ROUNDS_AN_HOUR:.0f}", judged(syncs, 10)),
            ("logged", f"{logged:.2f} KiB", f"{logged * _ROUNDS_AN_HOUR:.0f} KiB", ""),
        ],
    )


def _cpu(played: PlayedTable, bare: BareTable) -> Section:
    table, least = played.times, bare.times
    rows = [
        (
            what,
            f"{of_table:.2f}",
            f"{of_floor:.2f}",
            f"{of_table - of_floor:.2f}",
            judged(of_table - of_floor, 0.5, "ms"),
        )
        for what, of_table, of_floor in (
            ("a card inside a round", statistics.mean(table.card_cpu), statistics.mean(least.card_cpu)),
            (
                "a round's last card, to the pit's ack",
                statistics.mean(table.round_cpu),
                statistics.mean(least.round_cpu),
            ),
        )
    ]
    return Section(
        "CPU",
        "User and system time of the process, all three copies of a report included; mean, less what the daemon takes "
        f"for sampling its pins at rest ({100 * played.idle_share:.1f} % of one core). The last card brings its event, "
        "the delivery and the shoe's own result, which is a commit too. What is added is Python at work on cold "
        "caches: three readings of the line, the fold, the hand-over to the journal's thread, the chain, the lamps.",
        ("", "table ms", "floor ms", "added ms", "aim"),
        rows,
    )
