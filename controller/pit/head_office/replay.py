"""Compute a house's progressive money anew from the events that its tables signed and from the decisions of its people.

The rules below follow the words of the contract (the message format between table and pit). No running balance of a
meter is kept: each figure is computed from the wagers under each set of terms, from the levels that were won and not
undone, and from the awards that came back.

- A locked wager gives each meter of its bet a part, and another part to the meter's reserve.
- A hit wins a share of the whole cents on the meter. Hits of one round that win the same share divide what the first of
  them won; odd cents go to the first hits. After a win of the whole level, the meter begins again with money from its
  reserve, up to a limit. The house adds what is missing to the seed.
- If a meter was wagered on, new terms wait until all of the meter is won, and are in force from that hit on. If every
  award of that win is rejected in the end, the former terms are in force again, and the new terms wait again.
- A hit wins no less than its table showed when the wagers were locked, by a message that the pit signed. The house
  adds the difference.
- The moment of such a lock is the message's time, plus how long the table had the message. If the hit of an earlier
  lock comes later, the pending levels of the same share go to the rounds in the order of their locks.
- A meter stops at its limit. Money beyond the limit is the meter's overflow, which goes on the next level.
- A void does not lower a meter. When people correct the void, the meters lose what the voided wagers gave, except for
  what hits have won of it since. At a house of an earlier version, each void lowered the meters at once, until the
  house decided that voids leave the meters as they are.
- The money of a rejected award goes to the awards that share its level. If all of these are rejected, or one is paid
  already, the money goes back on the meter. If all awards of a meter's last levels are rejected, these levels count as
  never won, and the money with which the meter began again goes back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import floor
from operator import itemgetter
from typing import Any, NamedTuple

from controller.basics.money import figures
from controller.contract.bounds import MOST_AHEAD_MS, MOST_CENTS, MOST_SEAT, MOST_WAGER_CENTS, NAME, is_count
from controller.contract.keys import signature_holds
from controller.contract.old_events import as_now
from controller.contract.pit_words import MetersWord, moment_ms
from controller.pit.head_office.played import Award, Meter, Place, Voided, Wagers, Won
from controller.pit.head_office.terms import Terms, digest_of

_SHARE = re.compile("([1-9][0-9]{0,3}):([1-9][0-9]{0,3})")


class Approval(NamedTuple):
    """The approval of a meter's new terms by people. `terms` are the terms from head office's own files, or else the
    pit's. `stated` are the terms as the pit states them. If `waits` is true, the terms come into force only when the
    meter is won."""

    terms: Terms
    stated: Terms
    waits: bool
    digest: object
    people: str
    is_signed: bool


class Replay:
    """The meters and awards of a house, computed anew by applying events and decisions in order. `findings` lists what
    an honest house's log would not contain."""

    def __init__(self, pit_keys: Collection[bytes] = ()) -> None:
        """Keep the pit's public keys. They check the pit's signed messages that told a table the meters' levels."""
        self._pit_keys = pit_keys
        self._shown: dict[tuple[Place, str], int] = {}
        self._locked_ms: dict[Place, int] = {}
        self._last_ms: dict[tuple[str, str], int] = {}
        self._least: dict[tuple[Place, str, Fraction], int] = {}
        self.meters: dict[str, Meter] = {}
        self.awards: dict[str, Award] = {}
        """By the hit's id, under the name of its stream."""
        self.findings: list[str] = []
        self.house_reserve = Fraction(0)
        self.told: list[tuple[int, str]] = []
        """What head office is to be told of at once, each with the position of the log by then."""
        self.position = 0
        self._by_id: dict[str, Award] = {}
        self._wagers: dict[tuple[Place, str], Wagers] = {}
        self._won: dict[tuple[Place, str, Fraction], Won] = {}
        self._streams: set[tuple[str, str]] = set()
        self._of_table: dict[str, int] = {}
        self._voids: dict[str, list[Voided]] = {}  # by the void's id: what it left on the meters
        self._voids_lower = False

    def set_terms(self, meter: str, approval: Approval) -> None:
        """Apply the decision of people to approve new terms for the meter. If the meter is new, it begins at the seed
        of these terms."""
        known = self.meters.setdefault(meter, Meter())
        how = "which wait until it is won" if approval.waits else "which run at once"
        if approval.waits and not known.terms:
            self.findings.append(f"terms of {meter} wait, says the pit, and there was no such meter by then")
        if approval.digest not in (None, digest_of({meter: approval.stated})):
            self.findings.append(f"the terms of {meter}, {approval.stated}, have not the digest {approval.digest}")
        if known.terms:
            self._tell(f"{meter} got other terms, {how}: {approval.terms} ({approval.people})")
        at_once = not approval.waits and not (known.terms and known.is_priced_otherwise(approval.stated))
        if known.was_played_for and not known.closed and at_once and approval.is_signed:
            self.findings.append(
                f"{meter} got other terms at once ({approval.people}), and people had played for it:"
                " they wait until it is won"
            )
        known.approve(approval.terms, approval.waits)

    def withdraw_terms(self, meter: str, people: str) -> None:
        """Apply the decision of people to take back new terms of the meter that were to come into force when the meter
        is won."""
        number = self.meters[meter].waits if meter in self.meters else None
        if number is None:
            self.findings.append(f"terms of {meter} were taken back, says the pit, and none waited by then")
            return
        if number in self.meters[meter].ran:
            self.findings.append(f"terms of {meter} were taken back ({people}), and they had run")
        self.meters[meter].withdrawn.add(number)
        self._tell(f"{meter}: the terms that waited were taken back ({people}): {self.meters[meter].terms[number]}")

    def digest(self) -> str:
        """Return the SHA-256 digest, in hexadecimal, of the terms that are in force now for all open meters."""
        return digest_of({name: self.meters[name].terms[self.meters[name].runs] for name in self.open_meters})

    @property
    def open_meters(self) -> list[str]:
        """Return the names of the meters that are not closed."""
        return [name for name, meter in self.meters.items() if not meter.closed]

    def close(self, meter: str, into: str | None, cents: int, people: str) -> None:
        """Apply the decision of people to close the meter. Its money moves to the meter `into`, or to the house's
        reserve if `into` is None. `cents` is the amount that the pit says was moved; another amount is a finding."""
        if missing := {meter, into or meter}.difference(self.open_meters) or (into == meter and {meter}):
            self.findings.append(
                f"{meter} was closed into {into}, says the pit, and {min(missing)} was not open by then"
            )
            return
        for award in self.awards.values():
            if award.meter == meter and award.step in ("pending", "verified"):
                self.findings.append(f"{meter} was closed ({people}) while award {award.id} ({award.place}) waited")
        on_meter, in_reserve = self.meters[meter].close()
        if into is None:
            self.house_reserve += on_meter + in_reserve
        else:
            self.meters[into].move(on_meter, in_reserve)
        self._moved(f"{meter} was closed", on_meter + in_reserve, into, cents, people)

    def move_reserve(self, into: str, cents: int, people: str) -> None:
        """Apply the decision of people to move the whole reserve of the house to the meter `into`. `cents` is the
        amount that the pit says was moved; another amount is a finding."""
        if into not in self.open_meters:
            self.findings.append(f"the house's reserve moved to {into}, says the pit, which was not open by then")
            return
        held, self.house_reserve = self.house_reserve, Fraction(0)
        self.meters[into].move(held, Fraction(0))
        self._moved("the house's reserve was opened", held, into, cents, people)

    def _moved(self, what: str, held: Fraction, into: str | None, cents: int, people: str) -> None:
        if floor(held) != cents:
            self.findings.append(f"{what} with {figures(floor(held))}, played again; the pit says {figures(cents)}")
        self._tell(f"{what}: {figures(floor(held))} moved to {into or 'the house reserve'} ({people})")

    def _tell(self, what: str) -> None:
        self.told.append((self.position, what))

    def decide(self, id_: str, step: str, cents: int, recalled: bool = False) -> None:
        """Apply a decision of people on the award `id_`. `step` is what they decided: verified, paid or rejected.
        `cents` is the amount of a verified or paid award.

        `recalled` means that people took over a step that the table had reported and that the pit's ledger did not
        have. Such a decision pays nobody.
        """
        if (award := self._by_id.get(id_)) is None:
            self.findings.append(f"people decided on award {id_}, says the pit, and no hit has that award by then")
        elif award.step == "paid" or award.step == step == "rejected":
            self.findings.append(f"award {id_} ({award.place}) was {step}, says the pit, after it was {award}")
        elif recalled and step not in (told for told, _ in award.told):
            self.findings.append(f"award {id_} ({award.place}) was recalled as {step}, and its table had not told so")
        elif step == "rejected":
            self._reject(award)
        else:
            own = 0 if award.step == "rejected" else award.own_cents
            if cents != award.cents and (step, cents) not in award.told:
                self.findings.append(
                    f"award {id_} ({award.place}) was {step} with {figures(cents)}, says the pit: played again it has"
                    f" {figures(award.cents)}, and its table told of no other amount"
                )
            award.cents, award.house_cents, award.step = cents, cents - own, step

    def set_aside(self, table: str, stream: str) -> None:
        """Undo all effects of a table's stream that was adopted wrongly: reject its awards and void its wagers."""
        if (table, stream) not in self._streams:
            return
        self._streams.remove((table, stream))
        for award in self.awards.values():
            if award.place[:2] == (table, stream) and award.step != "rejected":
                self._reject(award)
        for (place, spot), wagers in self._wagers.items():
            if place[:2] == (table, stream):
                self._void(place, spot, {*wagers.seats}, "")
        for void, left in [*self._voids.items()]:
            if {(each.place.table, each.place.stream) for each in left} <= {(table, stream)}:
                self._take_off(void)

    def event(self, stream: str, event: Mapping[str, Any]) -> None:
        """Apply one event of a table. The pit keeps the table's stream under the name `stream`. Raises ValueError,
        KeyError, TypeError or AttributeError for an event that makes no sense, and does nothing then.

        In version 1 or 2 of the contract an event names no meters. The wagers of such an event feed every open meter.
        """
        event = as_now(event, self.open_meters)
        match event["type"]:
            case "wagers_locked":
                self._lock(self._place(stream, event), event["progressive"], event.get("told"))
            case "void":
                void = event["id"]
                place, bets = self._place(stream, event), event["progressive"]
                for spot, seats in [(bet["spot"], _seats(bet["seats"])) for bet in bets]:
                    self._void(place, spot, seats, void)
                if self._voids_lower:
                    self._take_off(void)
            case "hit":
                self._hit(self._place(stream, event), event)
            case "award":
                self._told(event, f"{event['table']}/{stream}/{event['hit'].rpartition('/')[2]}")

    def _place(self, stream: str, event: Mapping[str, Any]) -> Place:
        self._streams.add((event["table"], stream))
        return Place(event["table"], stream, *(whole(event[name], 1, MOST_CENTS) for name in ("shoe", "round")))

    def _lock(self, place: Place, bets: list[dict[str, Any]], proof: object) -> None:
        _each_once([bet["spot"] for bet in bets])
        for bet in bets:
            whole(bet["price_cents"], 0, MOST_WAGER_CENTS)
        locked = [bet for bet in bets if _seats(bet["seats"])]
        if unknown := {name for bet in locked for name in _each_once(bet["meters"])}.difference(self.open_meters):
            raise ValueError(f"no meter is named {min(unknown)}")
        for bet in locked:
            meters = {name: self.meters[name] for name in bet["meters"]}
            self._show(place, proof, meters.keys())
            if (place, bet["spot"]) in self._wagers:
                continue  # a round's wagers are locked once
            self._judge_price(place, bet["price_cents"], meters)
            fed = {name: (meter.runs, len(meter.won)) for name, meter in meters.items()}
            self._wagers[place, bet["spot"]] = Wagers(bet["price_cents"], {*bet["seats"]}, fed)
            for meter in meters.values():
                meter.place = place
                meter.was_played_for = True
                meter.wagered[meter.runs] += bet["price_cents"] * len(bet["seats"])

    def _judge_price(self, place: Place, price_cents: int, meters: Mapping[str, Meter]) -> None:
        """Check the price of a wager against the terms of each meter to which the wager gives money. Add a finding for
        each meter whose terms do not allow the price."""
        for name, meter in meters.items():
            may = meter.terms[meter.runs].prices_cents
            if may is not None and price_cents not in may:
                what = f"a wager of {figures(price_cents)} feeds {name}, whose terms have no such price"
                self.findings.append(f"{place}: {what}")

    def _show(self, place: Place, proof: object, fed: AbstractSet[str]) -> None:
        """Record the moment of the lock, and which level of each meter the table showed when the round's wagers were
        locked. `proof` holds the pit's message that gave the levels. Record nothing if the pit did not sign that
        message. `fed` are the names of the meters that got money from the wagers."""
        match proof:
            case {"word": dict(said), "ago_ms": ago_ms, **others} if not others and is_count(ago_ms, 0, MOST_AHEAD_MS):
                word = MetersWord.read(said)
                if fed and word is not None and any(signature_holds(said, key) for key in self._pit_keys):
                    stream = place.table, place.stream
                    at_ms = max(self._last_ms.get(stream, 0), (moment_ms(word.at) or 0) + ago_ms)
                    self._last_ms[stream] = at_ms  # of one table no lock is before the one before
                    self._locked_ms.setdefault(place, at_ms)
                    for name in fed & word.meters.keys():
                        self._shown.setdefault((place, name), word.meters[name])

    def _void(self, place: Place, spot: str, seats: set[int], void: str) -> None:
        if (wagers := self._wagers.get((place, spot))) is None:
            return
        cents = wagers.price_cents * len(wagers.seats & seats)
        wagers.seats -= seats
        for name, (number, since) in wagers.fed.items() if cents else ():
            self.meters[name].place = place
            self.meters[name].voided_cents += cents
            self._voids.setdefault(void, []).append(Voided(place, name, cents, number, since))

    def let_voids_lower(self) -> None:
        """Let each void from now on lower the meters at once by what the voided wagers gave. Earlier versions had this
        rule, until the house decided that a void lowers no meter."""
        self._voids_lower = True

    def let_voids_stay(self) -> None:
        """Let no void from now on lower a meter. The money that the voided wagers gave stays on the meters until people
        correct the void."""
        self._voids_lower = False
        self._tell("until now each void of this house lowered its meters at once")

    def correct(self, void: str, people: str) -> None:
        """Apply the decision of people to correct the void event `void`: the meters lose what its voided wagers had
        given."""
        if void not in self._voids:
            self.findings.append(f"what the void {void} left was corrected ({people}), and no void left anything there")
            return
        names = sorted({each.meter for each in self._voids[void]})
        self._take_off(void)
        self._tell(f"what the void {void} left on {', '.join(names)} was taken off ({people})")

    def _take_off(self, void: str) -> None:
        for each in self._voids.pop(void, ()):
            meter = self.meters[each.meter]
            meter.off.append((each.cents, each.terms, each.since, len(meter.won)))

    def _hit(self, place: Place, event: Mapping[str, Any]) -> None:
        whole(event["seat"], 1, MOST_SEAT)
        _each_once([event["spot"]])
        _each_once([event["tier"]])
        meter: str | None = None
        won: Won | None = None
        fixed_cents = 0
        match event:
            case {"progressive": {"meter": str(name), "share": str(share)}, "fixed": None} if name in self.open_meters:
                meter, won = name, self._win(place, name, _share(share))
            case {"progressive": None, "fixed": {"cents": cents}}:
                fixed_cents = whole(cents, 0, MOST_CENTS)
            case _:
                raise ValueError("a hit wins a share of a known meter, or a fixed amount")
        self._of_table[place.table] = number = self._of_table.get(place.table, 0) + 1
        hit = f"{place.table}/{place.stream}/{event['seq']}"
        award = Award(f"{place.table}.{number}", hit, place, event, meter, won, fixed_cents)
        self.awards[hit] = self._by_id[award.id] = award
        if won is not None:
            decided = any(other.step != "pending" for other in won.awards)
            won.awards.append(award)
            if not decided:  # else nothing of the level is left for this hit
                _divide(won.cents + won.added_cents, won.awards)
            self._put_in_order(award, won)

    def _put_in_order(self, award: Award, won: Won) -> None:
        """Give the won levels to the rounds in the order in which the rounds' wagers were locked. This matters if a hit
        arrives late: its wagers were locked before those of hits that arrived earlier. Only levels of the same share
        whose awards are all pending change their round."""
        mine = self._locked_ms.get(award.place)
        if mine is None or award.meter is None:
            return
        free = [
            (other, self._locked_ms[place])
            for other in self.meters[award.meter].won
            if other.stands
            and other.share == won.share
            and other.awards
            and all(each.step == "pending" for each in other.awards)
            and self._locked_ms.get(place := other.awards[0].place, -1) >= mine
        ]
        in_order = [other.awards for other, _ in sorted(free, key=itemgetter(1))]
        for (level, _), awards in zip(free, in_order, strict=True):
            if level.awards is awards:
                continue
            key = (awards[0].place, award.meter, won.share)
            self._won[key], level.awards = level, awards
            level.added_cents = max(0, self._least[key] - level.cents)
            for each in awards:
                each.won = level
            _divide(level.cents + level.added_cents, awards)

    def _win(self, place: Place, name: str, share: Fraction) -> Won:
        """Return the record of the level that the round won with this share. The round's first hit of that share takes
        the level off the meter. A later hit of the round with the same share gets the same record, because the hits
        divide the level."""
        self.meters[name].place = place
        key = (place, name, share)
        if key not in self._won:
            before = [other for of, other in self._won.items() if of[:2] == (place, name)]
            taken = sum(other.cents + other.added_cents for other in before)
            self._won[key] = won = self.meters[name].wins(share)
            self._least[key] = floor((self._shown.get((place, name), 0) - taken) * share)
            won.added_cents = max(0, self._least[key] - won.cents)
            if won.former is not None:
                now = self.meters[name].terms[self.meters[name].runs]
                self._tell(f"{name} was won ({place}): the terms that waited run, {now}")
        return self._won[key]

    def _told(self, event: Mapping[str, Any], hit: str) -> None:
        if (award := self.awards.get(hit)) is None:
            self.findings.append(f"{event['id']} tells of an award for {event['hit']}, which is no hit")
        else:
            (step,) = _each_once([event["step"]])
            award.told.append((step, whole(event["cents"], 0, MOST_CENTS)))

    def _reject(self, award: Award) -> None:
        own_cents = award.own_cents
        award.cents, award.house_cents, award.step = own_cents, 0, "rejected"
        if award.meter is None or (won := award.won) is None:
            return
        meter = self.meters[award.meter]
        meter.place = award.place
        meter.returned_cents += own_cents
        standing = [other for other in won.awards if other.step != "rejected"]
        if standing and all(other.step != "paid" for other in standing):
            meter.given_cents += own_cents
            _divide(own_cents + sum(other.own_cents for other in standing), standing)
        else:
            of_house = min(own_cents, won.added_cents)
            won.added_cents -= of_house
            meter.returned_cents -= of_house
        for last in reversed(meter.won):
            if last.is_closing or (last.stands and any(other.step != "rejected" for other in last.awards)):
                return
            meter.never_won(last)


def _divide(cents: int, awards: list[Award]) -> None:
    """Divide the cents equally among the awards. If some cents are left over, the first awards get one cent more
    each."""
    each, odd = divmod(cents, len(awards))
    for number, award in enumerate(awards):
        award.take(each + (number < odd))


def whole(value: object, least: int, most: int) -> int:
    """Return the value if it is a whole number from `least` to `most`. Raises ValueError otherwise."""
    if not is_count(value, least, most):
        raise ValueError(f"{value!r:.60} is no whole number from {least} to {most}")
    return value


def _share(text: str) -> Fraction:
    match = _SHARE.fullmatch(text)
    if match is None or (share := Fraction(int(match[1]), int(match[2]))) > 1:
        raise ValueError(f"{text!r:.20} is no share of a level")
    return share


def _each_once(names: list[str]) -> set[str]:
    if not all(isinstance(name, str) and NAME.fullmatch(name) for name in names) or len({*names}) < len(names):
        raise ValueError(f"{names!r:.60} are no names of the contract, each once")
    return {*names}


def _seats(value: list[object]) -> set[int]:
    seats = [whole(seat, 1, MOST_SEAT) for seat in value]
    if len({*seats}) < len(seats):
        raise ValueError("a seat is named twice")
    return {*seats}
