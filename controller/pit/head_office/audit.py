"""Check the log of one house: the signatures, numbers and chain values of its events, and whether the pit's statement
agrees with the events.

Head office never asks the pit for a fact that a table's own signed event gives. The module computes the effect of all
events and decisions anew (`replay`), and compares the result with each figure of the statement. A *finding* is
something wrong: a sound log has none. A *note* is something that head office should know, although it may be right.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from math import floor
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.contract.bounds import EPOCH, HASH, MOST_SEQ, TABLE, is_count
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import signature_holds
from controller.pit.head_office import decided, signed_decisions
from controller.pit.head_office.decided import Decision
from controller.pit.head_office.played import Award, standing
from controller.pit.head_office.remembered import Seen
from controller.pit.head_office.replay import Replay, whole
from controller.pit.head_office.terms import Terms
from controller.pit.head_office.witness import witnessed

STATEMENT_FORM = 3
_MOST_FINDINGS = 100

Stream = tuple[str, str]
"""A table, and the epoch under which its events are kept."""


class Hit(Struct, frozen=True):
    """A winning wager, and the last step of its award (pending, verified, paid or rejected). `step` is the step that
    head office computed from the log. `told` is the last step that the table itself reported."""

    id: str
    table: str
    at: str
    tier: str
    meter: str | None
    cents: int
    step: str
    told: str


class House(Struct):
    """What one house's log contains, and what the check of the log found. Amounts are in cents."""

    name: str
    events: int = 0
    position: int = 0
    stated_at: str | None = None
    keys: dict[str, str] = field(default_factory=dict)
    """By table, the fingerprint of the key with which it signs now; and the pit's own."""
    meters: dict[str, dict[str, int]] = field(default_factory=dict)
    """By meter: its level and reserve as the pit states them, and what was wagered on it, by the events."""
    hits: list[Hit] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    """What changed of the meters since head office saw the house last, and journals that were set aside after head
    office cosigned them: it need not be wrong, and somebody must look."""
    terms_digest: str | None = None
    """The digest of the terms that run, as played again."""
    forks: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of notes of one journal, both signed by one key, that no proof joins. Two of one size are proof."""
    checkpoints: dict[str, str] = field(default_factory=dict)
    """By journal, `table/epoch`, the newest checkpoint that head office may cosign."""
    seen: Seen | None = None
    """What head office is to remember of this log, where its last statement can be read."""


class _Reading:
    """The state of a check that reads the log line by line: the number and chain value of each stream's last event, and
    the meters and awards as computed so far."""

    def __init__(
        self, house: House, keys: Mapping[Stream, bytes], decisions: Sequence[Decision] | None, replay: Replay
    ) -> None:
        self._house = house
        self._keys = keys
        self._last: dict[Stream, tuple[int, str]] = {}
        self._chains: dict[Stream, set[bytes]] = {}
        self._decisions = None if decisions is None else deque(decisions)
        self._digest = sha256()
        self.replay = replay

    def digest(self) -> str:
        """Return the SHA-256 digest, in hexadecimal, of all events read so far. The digest covers each event's position
        in the log and its signature."""
        return self._digest.hexdigest()

    def event(self, position: int, event: dict[str, Any], set_aside_as: str | None) -> None:
        """Check the number, the chain value and the signature of one event. Then apply the event to the meters and
        awards that head office computes anew, if the statement's decisions could be read. `set_aside_as` is the name of
        the event's stream if people set that stream aside."""
        house = self._house
        table, epoch, seq, chain = (event.get(name) for name in ("table", "epoch", "seq", "chain"))
        if not (
            (isinstance(table, str) and TABLE.fullmatch(table))
            and (isinstance(epoch, str) and EPOCH.fullmatch(epoch))
            and (isinstance(chain, str) and HASH.fullmatch(chain))
            and is_count(seq, 1, MOST_SEQ)
        ):
            _find(house, f"position {position} holds no event")
            return
        stream, name = (table, set_aside_as or epoch), f"{table}/{epoch}/{seq}"
        if event.get("id") != name:
            _find(house, f"position {position}: the event is {name} by its fields, and its id is {event.get('id')!r}")
        before, chain_before = self._last.get(stream, (0, ""))
        if seq != before + 1:
            _find(house, f"{name} follows number {before}: events are missing or repeated")
        key = self._keys.get(stream)
        if key is None:
            _find(house, f"{name}: no statement names the key of that epoch")
        elif not signature_holds(event, key):
            _find(house, f"{name} is not signed by the table's key")
        seen = self._chains.setdefault(stream, set())
        if chain != chain_before and chain.encode() in seen:
            _find(house, f"{name} has the chain value of an earlier event, with another chain value in between")
        seen.add(chain.encode())
        self._last[stream] = seq, chain
        house.events += 1
        house.position = position
        self._digest.update(f"{position} {event.get('signature')!a}\n".encode())
        if self._decisions is None:
            return  # nothing can be played again
        self.decide(position)
        self.replay.position = position
        try:
            self.replay.event(stream[1], event)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            _find(house, f"{name} is not an event of the contract: {error!r:.200}")

    def decide(self, before: int = MOST_SEQ) -> None:
        """Apply to the computed meters and awards every decision that people took before the event at position
        `before`."""
        while self._decisions and self._decisions[0][0] < before:
            _, decide = self._decisions.popleft()
            decide(self.replay)

    def heads(self) -> dict[Stream, tuple[int, str]]:
        """Return for each stream, named by table and epoch, the number and the chain value of its last event."""
        return self._last


def audit(
    name: str,
    files: Sequence[Path],
    pins: Mapping[str, str] | None,
    remembered: Seen | None = None,
    approved: Mapping[str, Sequence[Terms]] | None = None,
) -> House:
    """Check the log of the house `name`. `files` are the log's files in order. Raises TableError `log_unreadable`.

    `pins` are the key fingerprints that head office has noted, by the table's name; the fingerprint of the pit's key is
    under `pit`. `remembered` is what head office kept from its last check of this house. `approved` are the terms of
    each meter that head office approved.
    """
    house = House(name)
    stated = _last_statement(files)
    if stated is None:
        house.findings.append("the log has no statement of the pit, and so no keys: add one with `pitctl statement`")
    keys = _keys(house, stated or {}, pins)
    decisions = _decisions(house, stated, approved)
    reading = _Reading(house, keys, decisions, Replay(signed_decisions.pit_keys(stated)))
    noted = [stated and stated.get("position"), remembered and remembered.position]
    digests = _read_all(files, house, reading, None if decisions is None else stated, noted)
    for what in reading.replay.findings:
        _find(house, what)
    if stated is not None:
        _witness(house, stated, keys, {} if remembered is None else remembered.checkpoints)
    seen = -1 if remembered is None else remembered.position
    house.alarms += [what for position, what in reading.replay.told if position >= seen]
    house.hits = [_hit(award) for award in reading.replay.awards.values()]
    if stated is not None and decisions is not None:
        try:
            _extends(house, stated, digests, remembered)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            _find(house, f"what the statement of {stated.get('at')} names cannot be remembered: {error!r:.300}")
    for table in sorted((pins or {}).keys() - {"pit"} - {table for table, _ in reading.heads()}):
        _find(house, f"head office has noted the key of table {table}, and the log has no event of that table")
    return house


def _witness(house: House, stated: dict[str, Any], keys: Mapping[Stream, bytes], before: Mapping[str, str]) -> None:
    """Check the checkpoints of the tables' journals in the pit's statement. `before` maps the name of each journal to
    the checkpoint that head office cosigned last. The new checkpoints must extend that one."""
    try:
        found = witnessed(stated, keys, before)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        _find(house, f"the checkpoints in the statement of {stated.get('at')} cannot be read: {error!r:.300}")
        return
    for what in found.findings:
        _find(house, what)
    house.alarms += found.alarms
    house.forks = found.forks
    house.checkpoints = {origin: str(note) for origin, note in found.newest.items()}


def _last_statement(files: Sequence[Path]) -> dict[str, Any] | None:
    stated = None
    for line in _lines(files):
        if "statement" in line:
            stated = line
    return stated


def _read_all(
    files: Sequence[Path],
    house: House,
    reading: _Reading,
    to_compare: dict[str, Any] | None,
    noted: Sequence[object],
) -> dict[int, str]:
    """Check every event of the log in order. Compare the statement `to_compare` with the events up to the statement's
    position, as soon as these events are read.

    Return a dict that maps a position to the digest of all events up to that position. Its positions are 0, and those
    in `noted` that occur in the log.
    """
    digests = {0: reading.digest()}
    for line in _lines(files):
        match line:
            case {"position": int(position), "event": dict(event), **more} if isinstance(
                more.get("set_aside_as"), str | None
            ):
                if position <= house.position:
                    _find(house, f"position {position} stands after {house.position}: lines are missing or repeated")
                if to_compare is not None and position > to_compare["position"]:
                    _compare(house, to_compare, reading)
                    to_compare = None
                reading.event(position, event, more.get("set_aside_as"))
                if position in noted:
                    digests[position] = reading.digest()
            case {"statement": _}:
                pass
            case _:
                _find(house, "a line is neither an event nor a statement")
    if to_compare is not None:
        _compare(house, to_compare, reading)
    return digests


def _extends(house: House, stated: Mapping[str, Any], digests: Mapping[int, str], before: Seen | None) -> None:
    """Record in `house.seen` what head office must remember of this log. Add a finding if the log is not a continuation
    of the log that head office saw last time (`before`). If the log does not have the statement's position, add a
    finding and record nothing."""
    at, position, decisions = (stated[name] for name in ("at", "position", "decisions"))
    if position not in digests:
        _find(house, "the last statement is of a position that the log does not have")
        return
    streams = [f"{each['table']}/{each['epoch']} under {each['public_key']}" for each in stated["adoptions"]]
    own = (f"pit {stated['public_key']}", *streams)
    cosigned = {} if before is None else before.checkpoints
    house.seen = Seen(at, position, digests[position], len(decisions), _digest(decisions), own, cosigned)
    if before is None:
        return
    if (position, at) < (before.position, before.at):
        _find(
            house,
            f"the log is an older one: it states position {position} at {at}, and head office has seen position"
            f" {before.position} at {before.at}",
        )
    elif digests.get(before.position) != before.digest:
        _find(
            house,
            f"the log does not extend the one of {before.at}: through position {before.position} it has other events"
            " than head office has seen",
        )
    elif _digest(decisions[: before.decisions]) != before.decided:
        _find(house, f"the first {before.decisions} decisions are others than the statement of {before.at} had")
    elif at < before.at:
        _find(house, f"the statement of {at} is older than the one of {before.at} that head office has seen")


def _digest(decisions: Sequence[object]) -> str:
    return sha256(json.dumps(decisions, sort_keys=True).encode()).hexdigest()


def compare_houses(houses: Sequence[House], remembered: Mapping[str, Seen]) -> None:
    """Add a finding if the same pit's key or the same table's stream appears in the logs of two houses. Each can belong
    to one house only. `remembered` holds, by the house's name, what head office kept from earlier checks."""
    owns = {name: seen.own for name, seen in remembered.items()}
    owns |= {house.name: house.seen.own for house in houses if house.seen is not None}
    for house in houses:
        for other, own in owns.items():
            if other != house.name and house.seen is not None and (both := {*own}.intersection(house.seen.own)):
                what = min(both).partition(" under ")[0]
                _find(house, f"{what} is also in the log of {other}: two houses cannot have the same")


def _lines(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in files:
        try:
            with path.open(encoding="utf-8") as file:
                for number, text in enumerate(file, 1):
                    line = json.loads(text)
                    if not isinstance(line, dict):
                        raise ValueError(f"line {number} is no JSON object")
                    yield line
        except (OSError, ValueError, RecursionError) as error:
            what = f"The log {path} cannot be read: {error}."
            do = "Fetch the log from the house again. A last line is cut off where the log was fetched while it grew."
            raise TableError("log_unreadable", what, do) from None


def _keys(house: House, stated: Mapping[str, Any], pins: Mapping[str, str] | None) -> dict[Stream, bytes]:
    """Return the public key of each stream, as the pit's statement names them. Check the statement's signature. Compare
    with `pins`, the fingerprints that head office has noted, the pit's key and the key that each table adopted last and
    nobody set aside."""
    keys: dict[Stream, bytes] = {}
    pit = stated.get("public_key")
    try:
        named = {"pit": bytes.fromhex(pit)} if isinstance(pit, str) else {}
        for each in stated.get("adoptions", ()):
            key = bytes.fromhex(each["public_key"])
            keys[each["table"], each["set_aside_as"] or each["epoch"]] = key
            if not each["set_aside_as"]:
                named[_text(each["table"])] = key
    except (KeyError, TypeError, ValueError):
        _find(house, "the statement's keys cannot be read")
        return keys
    if stated and ("pit" not in named or not signature_holds(stated, named["pit"])):
        _find(house, "the statement is not signed by the key that it names")
    house.keys = {name: fingerprint(key) for name, key in named.items()}
    if pins is None:
        house.notes.append("the keys were not compared with keys that head office has noted: see --keys")
        return keys
    for name, shown in house.keys.items():
        if name not in pins:
            _find(house, f"head office has noted no key of {name}; the log has {shown}")
        elif _plain(pins[name]) != _plain(shown):
            _find(house, f"{name} has the key {shown}, and head office has noted {pins[name]}")
    return keys


def _decisions(
    house: House, stated: dict[str, Any] | None, approved: Mapping[str, Sequence[Terms]] | None
) -> list[Decision] | None:
    """Return the decisions that the statement lists. Return None if there is no statement, if the statement has another
    form than head office reads, or if its decisions cannot be read. The events cannot be computed anew then."""
    if stated is None:
        return None
    if stated["statement"] != STATEMENT_FORM:
        _find(
            house,
            f"the statement of {stated.get('at')} has form {stated['statement']!r:.20}, and head office reads form"
            f" {STATEMENT_FORM}: let the house update its pit and state anew",
        )
        return None
    if approved is None:
        house.notes.append("the terms were not compared with terms that head office has approved: see --terms")
    try:
        for what in signed_decisions.findings(stated):
            _find(house, what)
        decisions, amiss = decided.read(stated, approved)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        _find(house, f"the decisions in the statement of {stated.get('at')} cannot be read: {error!r:.300}")
        return None
    for what in amiss:
        _find(house, what)
    return decisions


def _compare(house: House, stated: dict[str, Any], reading: _Reading) -> None:
    """Compare the pit's statement with the result that head office computed from the events up to the statement's
    position."""
    try:
        reading.decide()
        house.stated_at = str(stated["at"])
        house.findings += [f"the pit's own account: {each}" for each in stated["findings"]]
        for table, epoch in _heard(stated["adoptions"]):
            if (table, epoch) in reading.heads() and table not in stated["heads"]:
                _find(house, f"the pit hears table {table}, and its statement does not say how far")
        for table, head in stated["heads"].items():
            if reading.heads().get((table, head["epoch"])) != (head["seq"], head["chain"]):
                _find(house, f"the pit has {table} through event {head['seq']}, and the log has another event there")
        _awards(house, stated, reading.replay.awards)
        _meters(house, stated, reading.replay)
        if (held := floor(reading.replay.house_reserve)) != (said := _cents(stated.get("house_reserve_cents", 0))):
            _find(house, f"the house's reserve is {figures(held)}, played again; the pit says {figures(said)}")
        house.terms_digest = reading.replay.digest()
        if (stated_as := stated.get("terms_digest", house.terms_digest)) != house.terms_digest:
            _find(house, f"the terms that run have the digest {house.terms_digest}; the pit says {stated_as!r:.80}")
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        _find(house, f"the statement of {stated.get('at')} cannot be read: {error!r:.300}")


def _heard(adoptions: Sequence[dict[str, Any]]) -> list[Stream]:
    """Return the streams of events that the pit listens to. For each table this is the stream of the last adoption that
    nobody set aside. A table is left out if that adoption has ended."""
    last = {each["table"]: each for each in adoptions if not each["set_aside_as"]}
    return [(table, each["epoch"]) for table, each in last.items() if not each["ended_at"]]


def _awards(house: House, stated: dict[str, Any], awards: Mapping[str, Award]) -> None:
    """Compare each award that head office computed (`awards`) with the pit's statement, and with what the table
    reported of the award."""
    said = {each["hit"]: each for each in stated["awards"]}
    for hit in said.keys() - awards.keys():
        _find(house, f"the pit has an award of {_money(said[hit]['cents'])} for {hit}, and no table told of that hit")
    for hit, award in awards.items():
        named, told = f"award {award.id} ({award.place})", [] if award.place.is_set_aside else award.told
        paid = {cents for step, cents in told if step == "paid"}
        if hit not in said:
            _find(house, f"{named} is {award}, and the pit has no award for its hit")
        elif (pits := _stated(said[hit])) != str(award):
            _find(house, f"{named} is {award}, played again; the pit says {pits}")
        elif (said[hit]["award"], said[hit]["meter"]) != (award.id, award.meter):
            _find(house, f"{named} is of {award.meter}; the pit says {said[hit]['award']}, of {said[hit]['meter']}")
        if len(paid) > 1 or (paid and told[-1][0] == "rejected"):
            steps = ", ".join(f"{step} with {figures(cents)}" for step, cents in told)
            _find(house, f"{named}: the table was told of a payment, and of something else: {steps}")
        elif paid and (award.step, {award.cents}) != ("paid", paid):
            _find(house, f"{named} is {award}, and the table was told that the pit paid {figures(min(paid))}")
        elif award.step == "paid" and not paid:
            house.notes.append(f"{named} is paid, and its table has not told of the payment yet")
    for key, which in (("owed_cents", ("pending", "verified")), ("paid_cents", ("paid",))):
        if stated[key] != (stands := sum(award.cents for award in awards.values() if award.step in which)):
            until = f" to {[*awards.values()][-1].place}" if awards else ""
            _find(
                house,
                f"{key}: the awards make {figures(stands)}, played again{until}; the pit says {_money(stated[key])}",
            )


def _stated(award: dict[str, Any]) -> str:
    """Return one award of the pit's statement in words: its step, its amount, and the part of the amount that the house
    bears. Example: paid with 120.00, of which 20.00 are the house's."""
    return standing(_text(award["step"]), _cents(award["cents"]), _cents(award["house_cents"]))


_FIGURES = {
    "level_cents": "the level",
    "reserve_cents": "the reserve",
    "overflow_cents": "the overflow",
    "seeds_cents": "what the house put in",
    "contributions_cents": "what wagers gave",
    "from_reserve_cents": "what came from the reserve",
    "awards_cents": "what hits won",
    "returned_cents": "what came back from rejected awards",
    "moved_cents": "what closings of meters moved",
    "carried": "the part of a cent on the meter",
    "reserve_carried": "the part of a cent in the reserve",
}


def _meters(house: House, stated: dict[str, Any], replay: Replay) -> None:
    """Compare each meter's figures that head office computed from the log with the figures in the pit's statement."""
    said = {_text(each["meter"]): each for each in stated["meters"]}
    for name in sorted(said.keys() ^ replay.meters.keys()):
        _find(house, f"the pit states the meter {name} or gives it terms, and does not do both")
    for name, meter in replay.meters.items():
        if name not in said:
            continue
        keys = ("level_cents", "reserve_cents")
        house.meters[name] = {key: _cents(said[name][key]) for key in keys} | {"wagered_cents": meter.wagered_cents}
        until = f" to {meter.place}" if meter.place else ""
        for key, stands in meter.figures().items():
            shown = figures(stands) if key.endswith("cents") else str(stands)
            stated_as = said[name].get(key, 0)  # a pit without limits states no overflow
            pits = _money(stated_as) if key.endswith("cents") else _text(stated_as)
            if shown != pits:
                _find(house, f"{name}: {_FIGURES[key]} is {shown}, played again{until}; the pit says {pits}")


def _hit(award: Award) -> Hit:
    return Hit(
        award.hit,
        award.place.table,
        str(award.event.get("at")),
        str(award.event.get("tier")),
        award.meter,
        award.cents,
        award.step,
        award.told[-1][0] if award.told else "nothing",
    )


def _money(value: object) -> str:
    return figures(_cents(value))


def _cents(value: object) -> int:
    """Return the value if it is a whole number of cents, of a size that a pit can hold. Raises ValueError otherwise."""
    return whole(value, -MOST_SEQ, MOST_SEQ)


def _text(value: object) -> str:
    """Return the value if it is a text. Raises TypeError otherwise."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


def _plain(shown: str) -> str:
    return "".join(shown.split()).lower()


def _find(house: House, what: str) -> None:
    if len(house.findings) < _MOST_FINDINGS:
        house.findings.append(what)
    elif len(house.findings) == _MOST_FINDINGS:
        house.findings.append("and more")
