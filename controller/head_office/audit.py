"""One house's log, checked by itself: signatures, numbers, chains, awards, and the pit's statement against the events.

What the tables' own signed events tell is never taken from the pit. A *finding* is something wrong: a sound log has
none. A *note* is something that head office should know and that need not be wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from math import ceil, floor
from pathlib import Path
from typing import Any

from controller.contract.bounds import EPOCH, HASH, MOST_SEQ, TABLE, is_count
from controller.contract.fingerprint import fingerprint
from controller.contract.old_events import as_now
from controller.errors import TableError
from controller.head_office.approved import Terms
from controller.head_office.remembered import Seen
from controller.keys import signature_holds

_MOST_FINDINGS = 100
_SHARE = re.compile("[0-9]{1,100}(/[1-9][0-9]{0,99})?")

Stream = tuple[str, str]
"""A table, and the epoch under which its events are kept."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A winning wager, and its award's last step: `step` by the pit's statement, `told` by the table's own events."""

    id: str
    table: str
    at: str
    tier: str
    meter: str | None
    cents: int | None
    step: str
    told: str


@dataclass
class House:
    """What the log of a house says. Amounts are in cents."""

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
    seen: Seen | None = None
    """What head office is to remember of this log, where its last statement can be read."""


@dataclass
class _Told:
    """What a table told of the award of a hit: each step with its amount."""

    hit: dict[str, Any]
    steps: list[tuple[str, int]] = field(default_factory=list)


class _Reading:
    """The log as it is read, line by line."""

    def __init__(self, house: House, keys: Mapping[Stream, bytes]) -> None:
        self._house = house
        self._keys = keys
        self._last: dict[Stream, tuple[int, str]] = {}
        self._chains: dict[Stream, set[bytes]] = {}
        self._stakes: dict[tuple[Any, ...], tuple[int, list[str], set[int], int]] = {}
        self._last_hit: dict[str, int] = {}  # by meter, its position
        self._set_aside: dict[str, int] = {}  # by meter, the first wager that counts no more
        self._voided_late: set[str] = set()
        self.wagered: dict[str, int] = {}
        self.told: dict[str, _Told] = {}
        self._digest = sha256()

    def digest(self) -> str:
        """SHA-256 over the position and the signature of each event up to now."""
        return self._digest.hexdigest()

    def event(self, position: int, event: dict[str, Any], set_aside_as: str | None) -> None:
        """Check one event's place and signature, and note what the event tells of money."""
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
        try:
            self._money(position, stream, as_now(event))
        except (KeyError, TypeError, ValueError, AttributeError):
            _find(house, f"{name} is not an event of the contract")

    def _money(self, position: int, stream: Stream, event: dict[str, Any]) -> None:
        match event["type"]:
            case "wagers_locked" | "void":
                for bet in event["progressive"]:
                    self._wagers(position, (*stream, event["shoe"], event["round"], bet["spot"]), event["type"], bet)
            case "hit":
                _text(event["at"]), _text(event["tier"])
                if event["progressive"] is not None:
                    self._last_hit[_text(event["progressive"]["meter"])] = position
                if event["fixed"] is not None:
                    _whole(event["fixed"]["cents"])
                self.told[f"{stream[0]}/{stream[1]}/{event['seq']}"] = _Told(event)
            case "award":
                of = event["hit"].rpartition("/")[2]
                told = self.told.get(f"{stream[0]}/{stream[1]}/{of}")
                if told is None:
                    _find(self._house, f"{event['id']} tells of an award for {event['hit']}, which is no hit")
                else:
                    told.steps.append((_text(event["step"]), _whole(event["cents"])))

    def _wagers(self, position: int, stake: tuple[Any, ...], type_: str, bet: dict[str, Any]) -> None:
        if type_ == "wagers_locked":
            if "~" in stake[1]:  # the stream was set aside: nothing in it counts, but what a hit took of it before
                for meter in bet["meters"]:
                    self._set_aside.setdefault(meter, position)
            elif bet["seats"] and stake not in self._stakes:
                price, meters, seats = _whole(bet["price_cents"]), [*bet["meters"]], {*bet["seats"]}
                self._stakes[stake] = price, meters, seats, position
                for meter in meters:
                    self.wagered[meter] = self.wagered.get(meter, 0) + price * len(seats)
        elif stake in self._stakes:
            price, meters, seats, locked_at = self._stakes[stake]
            voided = seats & {*bet["seats"]}
            seats -= voided
            for meter in meters:
                self.wagered[meter] -= price * len(voided)
                if self._last_hit.get(meter, 0) > locked_at:
                    self._voided_late.add(meter)

    def inexact(self, meter: str) -> bool:
        """Whether wagers on the meter were taken back after a hit on it: the house then bears what the hit took."""
        set_aside = self._set_aside.get(meter)
        return meter in self._voided_late or (set_aside is not None and self._last_hit.get(meter, 0) > set_aside)

    def heads(self) -> dict[Stream, tuple[int, str]]:
        """The last event of each stream: its number and its chain value."""
        return self._last


def audit(
    name: str,
    files: Sequence[Path],
    pins: Mapping[str, str] | None,
    remembered: Seen | None = None,
    approved: Mapping[str, Sequence[Terms]] | None = None,
) -> House:
    """Check a house's log, whose files are in order. Raises TableError `log_unreadable`.

    `pins` are the fingerprints that head office has noted, by the table's name; the pit's is under `pit`. `remembered`
    is what head office has seen of this house before. `approved` are the terms of each meter that head office approved.
    """
    house = House(name)
    stated = None
    for line in _lines(files):
        if "statement" in line:
            stated = line
    if stated is None:
        house.findings.append("the log has no statement of the pit, and so no keys: add one with `pitctl statement`")
    keys = _keys(house, stated or {}, pins)
    reading = _Reading(house, keys)
    digests = {0: reading.digest()}
    for line in _lines(files):
        match line:
            case {"position": int(position), "event": dict(event), **more} if isinstance(
                more.get("set_aside_as"), str | None
            ):
                if position <= house.position:
                    _find(house, f"position {position} stands after {house.position}: lines are missing or repeated")
                reading.event(position, event, more.get("set_aside_as"))
                if (stated and position == stated.get("position")) or (remembered and position == remembered.position):
                    digests[position] = reading.digest()
            case {"statement": _}:
                pass
            case _:
                _find(house, "a line is neither an event nor a statement")
    if stated is not None:
        try:
            _compare(house, stated, reading)
            _compare_terms(house, stated["terms"], approved)
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            _find(house, f"the statement of {stated.get('at')} cannot be read: {error!r}")
        _extends(house, stated, digests, remembered)
    for table in sorted((pins or {}).keys() - {"pit"} - {table for table, _ in reading.heads()}):
        _find(house, f"head office has noted the key of table {table}, and the log has no event of that table")
    return house


def _extends(house: House, stated: Mapping[str, Any], digests: Mapping[int, str], before: Seen | None) -> None:
    """Note what is to be remembered, and compare with what head office has seen of this house before."""
    match stated:
        case {"at": str(at), "position": int(position), "public_key": str(key), "adoptions": list(adoptions)} if (
            position in digests
        ):
            streams = [f"{each['table']}/{each['epoch']} under {each['public_key']}" for each in adoptions]
            house.seen = Seen(at, position, digests[position], (f"pit {key}", *streams))
        case _:
            _find(house, "the last statement is of a position that the log does not have")
            return
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
    elif at < before.at:
        _find(house, f"the statement of {at} is older than the one of {before.at} that head office has seen")


def compare_houses(houses: Sequence[House], remembered: Mapping[str, Seen]) -> None:
    """Find what no two houses can share: a pit's key, or a table's stream. `remembered` is by house."""
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
    """By stream, the key under which the pit heard the stream. Each key is compared with what head office has noted."""
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


def _compare(house: House, stated: dict[str, Any], reading: _Reading) -> None:
    """Compare the pit's last statement with what the tables' own events say."""
    house.stated_at = str(stated["at"])
    house.findings += [f"the pit's own account: {each}" for each in stated["findings"]]
    if stated["position"] != house.position:
        house.notes.append(
            f"the last statement is of position {stated['position']}, and the log goes to {house.position}:"
            " the amounts are compared with the next statement"
        )
        current = False
    else:
        current = True
        for table, epoch in _heard(stated["adoptions"]):
            if (table, epoch) in reading.heads() and table not in stated["heads"]:
                _find(house, f"the pit hears table {table}, and its statement does not say how far")
        for table, head in stated["heads"].items():
            if reading.heads().get((table, head["epoch"])) != (head["seq"], head["chain"]):
                _find(house, f"the pit has {table} through event {head['seq']}, and the log ends at another event")
    _awards(house, stated["awards"], reading, current)
    for said, steps in (("owed_cents", ("pending", "verified")), ("paid_cents", ("paid",))):
        stands = sum(each["cents"] for each in stated["awards"] if each["step"] in steps)
        if stated[said] != stands:
            _find(house, f"the pit says {said} {stated[said]}, and its awards make {stands}")
    for meter in stated["meters"]:
        _meter(house, meter, stated, reading, current)


def _compare_terms(
    house: House, stated: Sequence[dict[str, Any]], approved: Mapping[str, Sequence[Terms]] | None
) -> None:
    """Whether each meter had the terms that head office approved, in their order, and no others."""
    if approved is None:
        house.notes.append("the terms were not compared with terms that head office has approved: see --terms")
        return
    had: dict[str, list[Terms]] = {}
    for each in stated:
        terms = _whole(each["seed_cents"]), _share(each["contribution"]), _share(each["reserve"])
        before = had.setdefault(_text(each["meter"]), [])
        if before[-1:] != [terms]:
            before.append(terms)
    for name in sorted(had.keys() | approved.keys()):
        if (has := had.get(name, [])) != (may := [*approved.get(name, [])]):
            _find(house, f"{name} had the terms {_shown(has)}, and head office has approved {_shown(may)}")


def _shown(terms: Sequence[Terms]) -> str:
    return ", then ".join(f"seed {seed} cents, {part} and {kept}" for seed, part, kept in terms) or "none"


def _heard(adoptions: Sequence[dict[str, Any]]) -> list[Stream]:
    """The streams that the pit hears: each table's last adoption that was not taken back, where nothing ended it."""
    last = {each["table"]: each for each in adoptions if not each["set_aside_as"]}
    return [(table, each["epoch"]) for table, each in last.items() if not each["ended_at"]]


def _awards(house: House, awards: Sequence[dict[str, Any]], reading: _Reading, current: bool) -> None:
    by_hit = {each["hit"]: each for each in awards}
    for hit in by_hit.keys() - reading.told.keys():
        _find(house, f"the pit has an award for {hit}, and no table told of that hit")
    for id_, told in reading.told.items():
        award, paid = by_hit.get(id_), {cents for step, cents in told.steps if step == "paid"}
        if award is None:
            if current:
                _find(house, f"the hit {id_} has no award at the pit")
        elif len(paid) > 1 or (paid and told.steps[-1][0] == "rejected"):
            _find(house, f"{award['award']}: the table was told of a payment, and of something else: {told.steps}")
        elif paid and award["step"] != "paid" and current:
            _find(house, f"{award['award']} is {award['step']} at the pit, and the table was told that the pit paid")
        elif award["step"] == "paid" and paid - {award["cents"]}:
            _find(house, f"{award['award']} is paid with {award['cents']} cents, and the table was told {paid.pop()}")
        elif award["step"] == "paid" and not paid:
            house.notes.append(f"{award['award']} is paid, and its table has not told of the payment yet")
        fixed, won = told.hit["fixed"], told.hit["progressive"]
        if award is not None and fixed is not None and award["cents"] - award["house_cents"] != fixed["cents"]:
            _find(house, f"{award['award']} is {award['cents']} cents, and its hit won {fixed['cents']}")
        house.hits.append(
            Hit(
                id_,
                told.hit["table"],
                told.hit["at"],
                told.hit["tier"],
                None if won is None else won["meter"],
                None if award is None else _whole(award["cents"]),
                "unknown" if award is None else _text(award["step"]),
                told.steps[-1][0] if told.steps else "nothing",
            )
        )


def _meter(house: House, said: dict[str, Any], stated: dict[str, Any], reading: _Reading, current: bool) -> None:
    """One meter: its own sum, its awards, and whether its contributions follow from the wagers."""
    name = _text(said["meter"])
    wagered = reading.wagered.get(name, 0)
    house.meters[name] = {key: _whole(said[key]) for key in ("level_cents", "reserve_cents")} | {
        "wagered_cents": wagered
    }
    for key in ("level_cents", "reserve_cents", "seeds_cents", "from_reserve_cents", "contributions_cents"):
        if _whole(said[key]) < 0 and not (key == "contributions_cents" and reading.inexact(name)):
            _find(house, f"{key} of {name} is {said[key]}: below zero")
    inwards = sum(said[key] for key in ("seeds_cents", "contributions_cents", "from_reserve_cents", "returned_cents"))
    if said["level_cents"] != inwards - said["awards_cents"]:
        _find(house, f"the level of {name} does not follow from what the pit says went in and out")
    standing = sum(
        each["cents"] - each["house_cents"]
        for each in stated["awards"]
        if each["meter"] == name and each["step"] != "rejected"
    )
    if standing != said["awards_cents"] - said["returned_cents"]:
        gave = said["awards_cents"] - said["returned_cents"]
        _find(house, f"the awards of {name} make {standing} cents, and the meter gave {gave} cents")
    if current:
        _seeds(house, said, [each for each in stated["terms"] if each["meter"] == name], stated["awards"], reading)
    if not current or reading.inexact(name):
        why = "wagers were taken back after a hit" if current else "the last statement is of another position"
        house.notes.append(f"the contributions to {name} are not compared with its wagers: {why}")
        return
    of_meter = [each for each in stated["terms"] if each["meter"] == name]
    _reserve(house, said, of_meter, wagered)
    shares = [_share(each["contribution"]) for each in of_meter]
    least, most = floor(min(shares) * wagered), ceil(max(shares) * wagered)
    if not least <= said["contributions_cents"] <= most:
        _find(
            house,
            f"{name} got {said['contributions_cents']} cents, says the pit, and its wagers of {wagered} cents give"
            f" {least}" + (f" to {most}" if most > least else ""),
        )


def _reserve(house: House, said: dict[str, Any], terms: Sequence[dict[str, Any]], wagered: int) -> None:
    """What the reserve holds and gave is its share of the wagers."""
    shares = [_share(each["reserve"]) for each in terms]
    least, most = floor(min(shares) * wagered), floor(max(shares) * wagered)
    if not least <= (got := said["reserve_cents"] + said["from_reserve_cents"]) <= most:
        _find(
            house,
            f"the reserve of {said['meter']} got {got} cents, says the pit, and the wagers of {wagered} cents give"
            f" {least}" + (f" to {most}" if most > least else ""),
        )


def _seeds(
    house: House,
    said: dict[str, Any],
    terms: Sequence[dict[str, Any]],
    awards: Sequence[dict[str, Any]],
    reading: _Reading,
) -> None:
    """The meter began at its seed, and again after each level that was won whole and stands."""
    name = said["meter"]
    won = {
        (*award["hit"].split("/")[:2], hit["shoe"], hit["round"])
        for award in awards
        if award["meter"] == name and award["step"] != "rejected" and award["cents"] > award["house_cents"]
        if award["hit"] in reading.told
        if (hit := reading.told[award["hit"]].hit)["progressive"]["share"] in ("1:1", None)
    }
    least = min(_whole(each["seed_cents"]) for each in terms) * (1 + len(won))
    if (had := said["seeds_cents"] + said["from_reserve_cents"]) < least:
        _find(house, f"{name} began with {had} cents in all, says the pit, and its {len(won)} hits need {least}")


def _text(value: object) -> str:
    """The value, which must be a text. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value


def _whole(value: object) -> int:
    """The value, which must be a whole number that the pit can hold. Raises TypeError."""
    if not is_count(value, -MOST_SEQ, MOST_SEQ):
        raise TypeError(f"{value!r:.60} is no whole number that a pit holds")
    return value


def _share(value: object) -> Fraction:
    """The value, which must be a part as the pit writes it, for example 3/50. Raises TypeError."""
    if not _SHARE.fullmatch(text := _text(value)):  # a number such as 1e99999999 takes hours to write out
        raise TypeError(f"{text!r:.60} is no part")
    return Fraction(text)


def _plain(shown: str) -> str:
    return "".join(shown.split()).lower()


def _find(house: House, what: str) -> None:
    if len(house.findings) < _MOST_FINDINGS:
        house.findings.append(what)
    elif len(house.findings) == _MOST_FINDINGS:
        house.findings.append("and more")
