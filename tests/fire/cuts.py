"""Finds out what a table and the broker had exchanged when a test cut their connection. The evidence is the broker's
log and the lengths of the TLS records that had passed before the cut."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

BEFORE_PUBACK = "after a PUBLISH and before its PUBACK"
BEFORE_ACK = "after the PUBACK and before the pit's acknowledgement"
ELSEWHERE = "elsewhere"

_TLS_OVERHEAD = 17  # TLS 1.3: the type of what is inside, and the tag
_HEADER = 5
_PING_ANSWER = _TLS_OVERHEAD + 2  # the log does not tell of it
_LINE = re.compile(
    r"(?P<at_s>\d+): (?:"
    r"New client connected from \S+?:(?P<port>\d+) as (?P<name>\S+) .*"
    r"|Received PUBLISH from (?P<by>\S+) \(d\d, q1, r0, m(?P<event>\d+), '[^']+/event', .*"
    r"|Sending PUBACK to (?P<answered>\S+) \(m(?P<puback>\d+), rc(?P<code>\d+)\)"
    r"|Sending PUBLISH to (?P<to>\S+) \(d\d, q1, r\d, m\d+, '(?P<topic>[^']+)', \.\.\. \((?P<bytes>\d+) bytes\)\)"
    r")"
)


class Records:
    """The lengths of the TLS records that have passed completely in one direction of an encrypted connection."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self._begun = b""

    def pass_on(self, data: bytes) -> None:
        """Note that these bytes have passed through the connection."""
        self._begun += data
        while len(self._begun) >= _HEADER:
            length = int.from_bytes(self._begun[3:_HEADER])
            if len(self._begun) < _HEADER + length:
                return
            self.lengths.append(length)
            self._begun = self._begun[_HEADER + length :]


@dataclass(frozen=True, slots=True)
class Cut:
    """A connection that a test has cut: its port as the broker knows it, when it was cut (Unix time), and the TLS
    records that had come from the broker before the cut."""

    port: int
    at_s: float
    from_broker: Records


@dataclass
class _Connection:
    """A connection of a table, as the broker's log shows it. `steps` has the messages in order, each with the length of
    its TLS record if the broker sent it, or 0 if the table sent it."""

    name: str
    port: int
    began_s: int
    steps: list[tuple[str, int]] = field(default_factory=list)


def places(log: str, cuts: Sequence[tuple[str, Cut]]) -> Counter[str]:
    """Count the cuts by the moment at which they came: after an event and before its PUBACK, after the PUBACK and
    before the pit's acknowledgement, or at any other moment. A cut whose moment is uncertain counts as "any other
    moment".

    `log` is the broker's log, and `cuts` has pairs of a table's name and a cut of its connection.
    """
    connections = list(_connections(log))
    fallen = Counter({BEFORE_PUBACK: 0, BEFORE_ACK: 0, ELSEWHERE: 0})
    for table, cut in cuts:
        met = [one for one in connections if (one.name, one.port) == (table, cut.port) and one.began_s <= cut.at_s]
        fallen[_place(met[-1].steps, cut.from_broker) if met else ELSEWHERE] += 1
    return fallen


def _connections(log: str) -> Iterator[_Connection]:
    """Yield every connection that a client made to the broker, from the broker's log. Two connections may have the same
    port one after the other."""
    latest: dict[str, _Connection] = {}
    for line in filter(None, map(_LINE.fullmatch, log.splitlines())):
        if line["name"]:
            latest[line["name"]] = _Connection(line["name"], int(line["port"]), int(line["at_s"]))
            yield latest[line["name"]]
        elif (one := latest.get(line["by"] or line["answered"] or line["to"])) is not None:
            one.steps.append(_step(line))


def _step(line: re.Match[str]) -> tuple[str, int]:
    if line["event"]:
        return f"event {line['event']}", 0
    if line["puback"]:
        return f"puback {line['puback']}", _TLS_OVERHEAD + (4 if line["code"] == "0" else 5)
    after_header = 2 + len(line["topic"]) + 2 + 1 + int(line["bytes"])  # the topic, its length, the number, no property
    packet = 1 + (1 if after_header < 128 else 2) + after_header
    return "ack" if line["topic"].endswith("/ack") else "other", _TLS_OVERHEAD + packet


def _place(steps: Sequence[tuple[str, int]], passed: Records) -> str:
    """Return between which messages the connection was cut. `steps` has the connection's messages, and `passed` the TLS
    records that came from the broker before the cut. The broker sends its TLS records in order, so their lengths show
    which messages arrived."""
    left, arrived = list(passed.lengths), set[int]()
    for place, (_, length) in enumerate(steps):
        if length and length not in left:
            break
        if length:
            del left[: left.index(length) + 1]
            arrived.add(place)
    names = [what for place, (what, length) in enumerate(steps) if not length or place in arrived]
    events = [place for place, what in enumerate(names) if what.startswith("event")]
    if not events or set(left) - {_PING_ANSWER}:  # more passed than the log tells of
        return ELSEWHERE
    if any(names[place].replace("event", "puback") not in names[place:] for place in events):
        return BEFORE_PUBACK
    return ELSEWHERE if "ack" in names[events[-1] :] else BEFORE_ACK
