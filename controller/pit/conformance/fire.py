"""A stress test of any pit: simulated tables play while the program cuts, freezes and slows their network connections
and kills the pit's program.

The test runs in stages. In a stage three tables play rounds. Their events arrive as a network may deliver them: lost,
twice, out of order, or as a repeat of many older events. One of the tables wins awards and voids rounds, and a person
decides on the awards. After that, the program no longer disturbs the connections. The tables send until every event is
acknowledged, people make the decisions that failed before, and the pit's program is killed once more. The pit is judged
by its acknowledgements, by its last messages, and by the answers of its commands for people. The test ends after the
first stage in which a clause of the contract is broken, because later findings would only follow from that one.

No two wagers have the same price. For this reason the error in a meter's level shows which wager was counted wrongly.
If a breach of either of two clauses explains the error, the verdict names both: `P20 or P26`.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from itertools import pairwise
from math import ceil

from msgspec.structs import replace

from controller.basics.errors import TableError
from controller.contract.pit_words import AckWord, AwardStep, moment_ms
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, BrokenError
from controller.pit.conformance.clauses import Clause, clauses
from controller.pit.conformance.deeds import DeedFailedError, Deeds, NotTriedError
from controller.pit.conformance.far_table import FarTable
from controller.pit.conformance.fire_verdict import (
    JudgedError,
    Move,
    Won,
    explained,
    judge_again,
    judge_shares,
    judge_step,
)
from controller.pit.conformance.pit_kit import MUCH_CENTS, Holding, PitKit, a_meter
from controller.pit.conformance.report import Line, Report, Result
from controller.pit.conformance.troubled_link import TroubledLink
from controller.pit.conformance.wire import Address, first_heard

_JUDGED = {
    "P04": ("rounds",),
    "P08": ("events sent again",),
    "P20": ("rounds", "ends of the program under fire"),
    "P24": ("rounds",),
    "P26": ("voids",),
    "P27": ("hits of a share",),
    "P28": ("hits of a fixed amount",),
    "P29": ("rounds with two hits",),
    "P30": ("hits of a share",),
    "P31": ("awards", "events sent again"),
    "P33": ("awards verified", "awards paid"),
    "P34": ("awards of the meter rejected",),
}
"""Each clause that a fire tries, and what a fire must have had, or it has not tried the clause."""
_TABLES = 3
_STAGE_S = 20.0
_CALM_WITHIN_S = 45.0
_COMES_WITHIN_S = 60.0
_QUIET_S = 1.5
_TURN_S = 0.05
_AGAIN_AFTER_S = 2.0
_WINDOW = 50
_HELD_BACK, _HELD_S = 0.25, 6.0
"""How likely a table tells of a pending award only when the pit says that step again, or after so long."""
_BURNS = 6
"""A fire that burned for less than this part of its time has tried nothing: what else passed was the pit's doing."""
_KILL_AFTER_S = 1.0, 6.0
_FIXED_CENTS = 4400
_SHARE = "1:50"
_LEAST_STEP_CENTS = 50
_DEEDS: dict[str, tuple[float, tuple[str, ...]]] = {
    "paid": (0.25, ("pay",)),
    "verified": (0.7, ("pay",)),
    "pending": (1.0, ("verify", "verify", "verify", "reject")),
}
"""What a person does with an award that stands so, and how likely, where there is one; the first comes first."""
_MAY_FOLLOW = {"pending": {"pending", "verified", "rejected"}, "verified": {"paid", "rejected", "pending"}}
_MAY_FOLLOW |= {"paid": set(), "rejected": set()}
"""By the contract. An award is pending again where another award of its level was rejected."""
_SAYS = {"verify": "verified", "pay": "paid", "reject": "rejected"}


class Player:
    """A simulated table in the stress test of a pit: it plays rounds, sends events, and notes what the pit says. It
    runs only while the caller calls `turn`.

    Its methods raise JudgedError as soon as the pit contradicts what the pit said before.
    """

    def __init__(self, table: FarTable, meter: str, share: Fraction, prices: Iterator[int], wins: bool) -> None:
        self.table, self._meter, self._share, self._prices, self._wins = table, meter, share, prices, wins
        self.moves: list[Move] = []
        self.won: dict[str, Won] = {}
        self.steps: dict[str, dict[int, AwardStep]] = {}  # by award and number
        self._award_of: dict[str, str] = {}  # by hit
        self._held: tuple[AwardStep, float] | None = None  # a step that the stream has yet to tell, and until when
        self.told_again = True  # whether an ack came since the program's last end in the calm
        self.acked, self._acked_ms = len(table.made), 0
        self._sent = self._ever_sent = self.acked
        self.again = 0  # events that were sent before, and were sent once more
        self._heard, self._stood = len(table.wire.heard), table.wire.stood
        self._moved_s = time.monotonic()  # when an ack came last, or all was sent again

    def turn(self, plays: bool) -> None:
        """Read the messages that came from the pit, play a round if `plays` is True, and send the table's events that
        are due."""
        self._hear(plays)
        if self._held is not None and (not plays or time.monotonic() > self._held[1]):
            self._tell_held()
        if plays and len(self.table.made) < self.acked + _WINDOW:
            self._play()
        if self.table.wire.stood != self._stood:
            self._stood = self.table.wire.stood
            self.table.wire.send(self.table.topics.state, [self.table.state()], retain=True)
            self._sent = self.acked
        self._send(plays)

    def calm(self) -> bool:
        """Return True if the pit has acknowledged every event, has made an award for each hit, and has repeated its
        acknowledgement since its program was last restarted after a stage."""
        return self.acked == len(self.table.made) and self.won.keys() <= self._award_of.keys() and self.told_again

    def last(self) -> dict[str, AwardStep]:
        """Return the newest step of each award that the pit has announced to this table, by the award's name."""
        return {award: steps[max([*steps])] for award, steps in self.steps.copy().items()}

    def _hear(self, plays: bool) -> None:
        came = self.table.wire.heard[self._heard :]
        self._heard += len(came)
        on = self.table.topics
        for heard in came:
            if heard.topic == on.ack and (ack := AckWord.read(heard.message)) and ack.epoch == self.table.epoch:
                self.told_again = True
                self._hear_ack(ack)
            elif heard.topic == on.award and (step := AwardStep.read(heard.message)):
                self._hear_step(step, plays)
            elif heard.topic == on.pit_key:
                self._sent = self.acked  # a pit has begun to listen

    def _hear_ack(self, ack: AckWord) -> None:
        at_ms = moment_ms(ack.at) or 0
        if at_ms < self._acked_ms or (at_ms == self._acked_ms and ack.seq < self.acked):
            return  # a late copy, which no table believes
        if ack.seq > self._ever_sent or ack.chain != self.table.chain_of(ack.seq):
            raise JudgedError(
                "P04", f"An ack of event {self._id(ack.seq)} came, with a chain that is not that event's."
            )
        if ack.seq < self.acked:
            why = f"Event {self._id(self.acked)} was acknowledged, and later only event {ack.seq}."
            raise JudgedError("P20", f"{why} So {self.acked - ack.seq} acknowledged events are lost.")
        if ack.seq > self.acked:
            self._moved_s = time.monotonic()
        self.acked, self._acked_ms = ack.seq, at_ms

    def _hear_step(self, step: AwardStep, plays: bool) -> None:
        """Judge a step of an award that the pit has announced, and confirm it to the pit in an event. Most steps are
        confirmed immediately. A pending step is sometimes confirmed later: when the pit repeats it or sends another
        step, after 6 s, or when the stage ends."""
        if (hit := self.won.get(step.hit)) is None:
            raise JudgedError("P31", f"The award {step.award} is of the event {step.hit}, which is no hit.")
        known = self.steps.get(step.award, {})
        judge_step(step, hit, self._award_of.setdefault(step.hit, step.award), next(iter(known.values()), step).hit)
        again = step.seq in known
        judge_again(known.get(step.seq, step), step)
        self.steps.setdefault(step.award, {step.seq: step}).setdefault(step.seq, step)
        self._tell_held()  # it came again, or another came after it
        if not again:
            self._held = step, time.monotonic() + _HELD_S
            if not plays or step.step != "pending" or random.random() >= _HELD_BACK:
                self._tell_held()

    def _tell_held(self) -> None:
        if self._held is not None:
            (step, _), self._held = self._held, None
            self.table.make({**self.table.award(step), "round": self.won[step.hit].round})

    def _play(self) -> None:
        """Play a round at this table. Most rounds have no hit. At the one table that may win, some rounds are voided,
        and some have one or two hits."""
        table, price_cents = self.table, next(self._prices)
        luck = random.random() if self._wins else 1.0
        seats = (1, 2) if 0.1 <= luck < 0.13 else (1,)
        table.make(table.lock(self._meter, seats, price_cents))
        fed = self._share * price_cents * len(seats)
        what = f"{len(seats)} wager{'s' * (len(seats) > 1)} of {price_cents} cents"
        self._wagered(table.next_seq - 1, what, fed, len(seats))
        if luck < 0.1:
            table.make(table.void(seats))
            self._voided(table.next_seq - 1, what, fed)
            return
        hits: Sequence[tuple[str, str, int] | int] = ()
        if luck < 0.2:
            hits = [(self._meter, _SHARE, 0)] * len(seats) if luck < 0.17 else [_FIXED_CENTS]
        table.make(table.dealt(seats, seats if hits else ()))
        for seat, one in zip(seats, hits, strict=False):
            table.make(table.hit(seat, one))
            self.won[self._id(table.next_seq - 1)] = Won(table.round, seat, one if isinstance(one, int) else None)

    def measured(self, share: Fraction, corrected: bool) -> None:
        """Note the effect of the table's first two events on the meter: a large wager, by which the meter's share was
        measured, and the void of that wager. With `corrected`, people have taken the voided wager off the meter."""
        fed = share * MUCH_CENTS
        what = f"1 wager of {MUCH_CENTS} cents"
        self._wagered(1, what, fed, 1)
        self._voided(2, what, fed)
        if corrected:
            self.moves.append(Move(self._id(2), f"the correction after the void of {what}", -fed, "P26", "P26"))

    def _wagered(self, seq: int, what: str, fed: Fraction, wagers: int) -> None:
        self.moves.append(Move(self._id(seq), what, fed, "P20", "P08", wagers=wagers))

    def _voided(self, seq: int, what: str, fed: Fraction) -> None:
        self.moves.append(Move(self._id(seq), f"the void of {what}", Fraction(0), "P26", "P26", bears=fed))

    def _send(self, plays: bool) -> None:
        made, now_s = self.table.made, time.monotonic()
        if now_s > self._moved_s + _AGAIN_AFTER_S:
            self._sent, self._moved_s = self.acked, now_s
        begins, ends = max(self._sent, self.acked), min(len(made), self.acked + _WINDOW)
        due = made[begins:ends]
        sends = self._troubled(due) if plays and random.random() < 0.1 else due
        self.again += max(0, len(sends) - max(0, ends - self._ever_sent))
        self._sent, self._ever_sent = max(begins, ends), max(self._ever_sent, ends)
        self.table.send_bytes(*sends)

    def _troubled(self, due: list[bytes]) -> list[bytes]:
        """Return the events in `due` as a network may deliver them: out of order, twice, with one lost, or mixed with
        much older events."""
        of_long_ago = self.table.made[max(0, self.acked - 2 * _WINDOW) : self.acked]
        return random.choice((due[::-1], due + due, due[1:], of_long_ago + due, due + of_long_ago[-5:]))

    def _id(self, seq: int) -> str:
        return f"{self.table.table}/{self.table.epoch}/{seq}"


class Fire:
    """One stress test of a pit, with its disturbed connections, its tables, and its people. `told` counts what
    happened: it maps a phrase of the report, such as "rounds" or "awards paid", to a number."""

    def __init__(self, kit: PitKit, deeds: Deeds, links: Sequence[TroubledLink]) -> None:
        self._deeds, self._links = deeds, links
        self.told: Counter[str] = Counter()
        tables = [kit.new_table() for _ in range(_TABLES)]
        meter = a_meter(tables[0])
        self._holds = Holding(tables[0], meter)
        share = kit.share(tables[0], meter)
        step_cents = max(_LEAST_STEP_CENTS, ceil(6 / share))
        self._prices = itertools.count(10 * step_cents, step_cents)
        self.players = [Player(table, meter, share, self._prices, not place) for place, table in enumerate(tables)]
        self.players[0].measured(share, deeds.has("correct"))
        self._meter = meter
        self._given_cents = 0
        self._before: list[Move] = []  # of the stage before: an event of it may go wrong now
        self._long_before: list[Move] = []
        self._refused: dict[str, str] = {}  # by award, why a person could not decide on it when this was tried last
        self.burned_s, self.where = 0.0, "before its first stage"
        self._decided: dict[tuple[str, str], str] = {}  # by award and deed, what the pit must say of it
        self._wrong: list[Exception] = []
        self._can = [deed for deed in _SAYS if deeds.has(deed)]

    def burn(self, begun_s: float, asked_s: float, hear: Callable[[str], None]) -> None:
        """Run stages of the stress test until `asked_s` seconds after `begun_s`, and at least one stage. `hear` is
        called with a line of text after each stage. The attribute `where` names the present stage. Raises JudgedError,
        BrokenError or DeedFailedError when a stage finds the pit at fault."""
        left_s, stages = asked_s, itertools.count(1)
        while left_s > 0:
            self.where = f"in stage {next(stages)}, after {time.monotonic() - begun_s:.0f} of {asked_s:.0f} s"
            self.stage(min(_STAGE_S, left_s))
            hear(_in_words(self.told, self._links))
            left_s = begun_s + asked_s - time.monotonic()

    def stage(self, lasts_s: float) -> None:
        """Run one stage of the stress test for `lasts_s` seconds, and judge the pit afterwards. An error during the
        stage ends it early. Raises JudgedError, BrokenError or DeedFailedError if the pit is at fault."""
        ends = threading.Event()
        threads = [threading.Thread(target=self._while_it_burns, args=(ends, act)) for act in self._acts()]
        self._calm(False)
        for thread in threads:
            thread.start()
        begun_s = time.monotonic()
        ends.wait(lasts_s)
        ends.set()
        self.burned_s += time.monotonic() - begun_s
        for thread in threads:
            thread.join()
        self._calm(True)
        if self._wrong:
            raise self._wrong[0]
        self._settle()
        self._decide_what_was_refused()
        self._settle()
        for player in self.players:
            player.told_again = False
        self._deeds.do("restart")
        self._settle()
        self._judge()

    def _acts(self) -> list[Callable[[], None]]:
        return [*(lambda player=player: self._plays(player) for player in self.players), self._kills, self._decides]

    def _while_it_burns(self, ends: threading.Event, act: Callable[[], None]) -> None:
        try:
            while not ends.is_set():
                act()
        except Exception as wrong:  # noqa: BLE001  # told where the stage ends: a thread that died unheard judges nothing
            self._wrong.append(wrong)
            ends.set()

    def _calm(self, calm: bool) -> None:
        for link in self._links:
            link.calm = calm

    def _plays(self, player: Player) -> None:
        player.turn(plays=True)
        time.sleep(_TURN_S * random.uniform(0.2, 1.8))

    def _kills(self) -> None:
        time.sleep(random.uniform(*_KILL_AFTER_S))
        self._deeds.do("restart")
        self.told.update(["ends of the program under fire"])

    def _decides(self) -> None:
        """Let a person decide on one award. Sometimes the person tries to pay an award that is already paid, and the
        pit must refuse this."""
        open_ = [step for step in self._last().values() if not self._awaits(step)]
        for stands, (chance, deeds) in _DEEDS.items():
            those = [step for step in open_ if step.step == stands]
            can = [deed for deed in deeds if deed in self._can]
            if those and can and random.random() < chance:
                self._decide(random.choice(those), random.choice(can))
                return
        time.sleep(_TURN_S)

    def _decide(self, step: AwardStep, deed: str) -> None:
        if (refusal := self._deeds.refusal(deed, table=step.table, award=step.award)) is not None:
            self._refused[step.award] = refusal  # the pit may be down, or may have yet to hear a table
            return
        if step.step == "paid":
            raise JudgedError("P33", f"The award {step.award} was paid, and a person could pay it once more.")
        self._decided[step.award, deed] = _SAYS[deed]
        self.told.update([f"awards {_SAYS[deed]}"])

    def _decide_what_was_refused(self) -> None:
        """Repeat the decisions on awards that the pit refused during the stage. Now the connections are calm and the
        tables have sent all their events, so that the pit must allow a decision on each of these awards that is still
        open."""
        refused, self._refused = self._refused, {}
        for award in refused:
            if (step := self._last().get(award)) is not None:
                self._decide_in_the_calm(step)

    def _decide_in_the_calm(self, step: AwardStep) -> None:
        """Decide on an award while the connections are calm. Raises JudgedError if the pit keeps refusing.

        If the pit announces another step of the award meanwhile, no error is raised, because a command that seemed to
        fail may have taken effect. The decision on this award is then tried after the next stage.
        """
        can = [deed for deed in _DEEDS.get(step.step, (0, ()))[1] if deed in self._can]
        if step.step == "paid" or not can or self._awaits(step):
            return
        ends_s = time.monotonic() + ANSWERS_WITHIN_S
        while True:
            self._refused.pop(step.award, None)
            self._decide(step, can[0])
            for player in self.players:
                player.turn(plays=False)
            if (why := self._refused.get(step.award)) is None or self._last()[step.award] != step:
                return
            if time.monotonic() > ends_s:
                raise JudgedError(
                    "P31 or P33",
                    f"The pit said the award {step.award} of the hit {step.hit}, which is {step.step}. All is calm, and"
                    f" nobody can {can[0]} it. So its hit has another award by now, or the pit refuses people: {why}",
                )

    def _awaits(self, step: AwardStep) -> bool:
        """Tell whether a person has decided on the award and the pit has not yet announced that decision."""
        said = {each.step for each in self._steps(step.award)}
        return any(award == step.award and says not in said for (award, _), says in self._decided.items())

    def _steps(self, award: str) -> list[AwardStep]:
        return [each for player in self.players for each in player.steps.get(award, {}).copy().values()]

    def _last(self) -> dict[str, AwardStep]:
        return {award: step for player in self.players for award, step in player.last().items()}

    def _settle(self) -> None:
        """Let the tables send until the pit has acknowledged every event, has made an award for every hit, and sends
        nothing new. Raises JudgedError if that takes too long."""
        ends_s, quiet_s, before = time.monotonic() + _CALM_WITHIN_S, time.monotonic(), -1
        while True:
            for player in self.players:
                player.turn(plays=False)
            now_s, made = time.monotonic(), sum(len(player.table.made) for player in self.players)
            if made != before or not all(player.calm() for player in self.players):
                before, quiet_s = made, now_s
            if now_s > quiet_s + _QUIET_S:
                return
            if now_s > ends_s:
                self._not_settled()
            time.sleep(_TURN_S)

    def _not_settled(self) -> None:
        for player in self.players:
            if player.acked < len(player.table.made):
                raise JudgedError(
                    "P20",
                    f"All is calm for {_CALM_WITHIN_S:.0f} s, and event {player._id(player.acked + 1)} is not"
                    " acknowledged, though its table sends it again.",
                )
            if not player.told_again:
                why = f"{_CALM_WITHIN_S:.0f} s after its restart in the calm the pit has not said its ack of the table"
                raise JudgedError("P20", f"{why} {player.table.table} again.")
        told = {step.hit for step in self._last().values()}
        for hit, won in ((hit, won) for player in self.players for hit, won in player.won.items() if hit not in told):
            number = "P27" if won.cents is None else "P28"
            raise JudgedError(number, f"The hit {hit} was acknowledged, and its award does not come.")
        raise JudgedError("P33", f"All is calm for {_CALM_WITHIN_S:.0f} s, and new steps of awards come all the time.")

    def _judge(self) -> None:
        last = self._last()
        won = {hit: won for player in self.players for hit, won in player.won.items()}
        self._count(won.values(), last.values())
        judge_shares(won, last)
        for award in last:
            self._judge_steps(sorted(self._steps(award), key=lambda step: step.seq))
        self._judge_level(last)

    def _count(self, won: Collection[Won], last: Collection[AwardStep]) -> None:
        moves = [move for player in self.players for move in player.moves]
        voids = sum(move.bears > 0 for move in moves)
        self.told.update({"rounds": len(moves) - voids, "voids": voids})
        of_a_share = Counter(one.round for one in won if one.cents is None)
        self.told |= Counter(
            {
                "events acknowledged": sum(player.acked for player in self.players),
                "events sent again": sum(player.again for player in self.players),
                "hits of a share": of_a_share.total(),
                "hits of a fixed amount": len(won) - of_a_share.total(),
                "rounds with two hits": sum(hits > 1 for hits in of_a_share.values()),
                "awards": len(last),
                "awards of the meter rejected": sum(one.step == "rejected" and one.meter is not None for one in last),
            }
        )

    def _judge_steps(self, steps: Sequence[AwardStep]) -> None:
        award, said = steps[0].award, [step.step for step in steps]
        for before, after in pairwise(said):
            if after not in _MAY_FOLLOW[before]:
                why = f"The award {award} was {before}, and then {after}. Its steps are {', '.join(said)}."
                raise JudgedError("P33", why)
        for (of, deed), says in self._decided.items():
            if of == award and says not in said:
                why = f"A person's command to {deed} the award {award} succeeded, and the pit does not say {says!r}."
                raise JudgedError("P33", why)

    def _judge_level(self, last: dict[str, AwardStep]) -> None:
        moves = [move for player in self.players for move in player.moves]
        of_meter = [step for step in last.values() if step.meter is not None]
        given_cents = sum(step.cents for step in of_meter if step.step != "rejected")
        due_cents = sum((move.cents for move in moves), Fraction(self._given_cents - given_cents))
        before_cents, self._given_cents = self._holds.cents, given_cents
        for player in self.players:
            player.moves = []
        try:
            self._holds.moved(due_cents, f"{len(moves)} wagers and voids")
        except BrokenError as broken:
            self._holds = Holding(self.players[0].table, self._meter)
            off_cents = self._holds.cents - before_cents - due_cents
            number, why = explained(off_cents, [*moves, *self._before], of_meter, self._long_before)
            raise JudgedError(number, f"{broken}{why}") from None
        self._before, self._long_before = moves, [*self._before, *self._long_before]


def try_pit_under_fire(
    address: Address, deeds: Deeds, minutes: float, pit_port: int | None, hear: Callable[[str], None]
) -> Report:
    """Run the stress test for `minutes` on the pit that uses this broker, and return the report. `hear` is called with
    a line of text about each stage.

    With `pit_port`, the pit itself connects to that port of this machine, and its connection is troubled too. Raises
    TableError `fire_without_time` if `minutes` is not above 0, and `port_unusable` if the port cannot be used.
    """
    if not minutes > 0:
        raise TableError("fire_without_time", f"A fire of {minutes:g} minutes tries nothing.", "Give --fire 10.")
    ended: tuple[str, Result, str] | None = None
    fire: Fire | None = None
    begun_s = time.monotonic()
    with ExitStack() as stack:
        links = [TroubledLink((address.host, address.port), port) for port in (0, pit_port) if port is not None]
        for link in links:
            stack.callback(link.close)
        kit = PitKit(replace(address, through=links[0].port), deeds)
        stack.callback(kit.close)
        try:
            fire = _lit(kit, deeds, links)
            fire.burn(begun_s, minutes * 60, hear)
            _refuse_thin_fire(fire.burned_s, minutes * 60)
        except JudgedError as judged:
            number, why = judged.args
            ended = number, Result.BROKEN, why
        except (BrokenError, DeedFailedError) as broken:
            ended = "P20", Result.BROKEN, str(broken)
        except NotTriedError as not_tried:
            ended = "", Result.NOT_TRIED, str(not_tried)
        told, where = (fire.told, fire.where) if fire else (Counter[str](), "before its first stage")
        own = "" if pit_port is not None else "; the pit's own link was left alone, without --pit-port"
        tried = f"the pit under fire ({_in_words(told, links)}{own})"
    seconds = time.monotonic() - begun_s
    lines = [_line(clause, ended, where, told, seconds) for clause in clauses("P") if clause.number in _JUDGED]
    if ended is not None:
        hear(_ended_early(ended[0], where, lines))
    return Report.of(tried, f"{address.host}:{address.port}, below {address.root}", lines)


def _lit(kit: PitKit, deeds: Deeds, links: Sequence[TroubledLink]) -> Fire:
    """Wait until the pit has announced its key and, if `links` has a second link, has connected to it. Returns the
    stress test that is ready to run. Raises BrokenError if no pit announces its key in time. Raises NotTriedError if
    nobody can restart the pit, or if the pit does not connect to the second link in time."""
    deeds.need("restart")
    if first_heard(kit.address, f"{kit.address.root}/pit-key", _COMES_WITHIN_S) is None:
        raise BrokenError(f"No pit said its key within {_COMES_WITHIN_S:.0f} s.")
    if len(links) > 1:
        _await_pit(links[1])
    return Fire(kit, deeds, links)


def _await_pit(link: TroubledLink) -> None:
    """Wait until the pit connects to the link. Raises NotTriedError if it does not connect in time. The pit's key on
    the broker does not show that the pit runs, because the broker retains the key."""
    ends_s = time.monotonic() + _COMES_WITHIN_S
    while not link.came:
        if time.monotonic() > ends_s:
            what = f"a pit's key is on the broker, and no pit came to port {link.port} within {_COMES_WITHIN_S:.0f} s"
            raise NotTriedError(what)
        time.sleep(_TURN_S)


def _refuse_thin_fire(burned_s: float, asked_s: float) -> None:
    """Raise NotTriedError if the pit was under stress for too short a time: `burned_s` is less than a sixth of the
    requested `asked_s`. The rest of the time was lost in waiting for the pit."""
    if burned_s < asked_s / _BURNS:
        what = (
            f"the fire burned for {burned_s:.0f} of {asked_s:.0f} s: the pit's commands and its silence took the rest"
        )
        raise NotTriedError(what)


def _ended_early(number: str, where: str, lines: Sequence[Line]) -> str:
    missed = ", ".join(line.clause.number for line in lines if line.result is Result.NOT_TRIED)
    if not number:
        return f"The fire says nothing of {missed}."
    return f"{number} is broken: the fire ended {where}. So it says nothing of {missed}. Repair the pit and try again."


def _line(
    clause: Clause, ended: tuple[str, Result, str] | None, where: str, tally: Mapping[str, int], seconds: float
) -> Line:
    """Return the report's line of one clause of the contract.

    If the stress test ended early, `ended` holds the clauses that ended it, the result, and the reason. Only these
    clauses are judged, and `where` names the stage. If it did not end early, the clause is kept if everything happened
    that is needed to test it. `tally` counts what happened.
    """
    if ended is None:
        missing = [what for what in _JUDGED[clause.number] if not tally.get(what)]
        why = f"the fire had no {' and no '.join(missing)}" if missing else ""
        return Line(clause, Result.NOT_TRIED if missing else Result.KEPT, why, seconds)
    number, result, why = ended
    if clause.number in number.split(" or "):
        either = f"Either {number}: " if clause.number != number else ""
        return Line(clause, result, either + why, seconds)
    return Line(clause, Result.NOT_TRIED, f"the fire ended at {number}, {where}" if number else why, seconds)


def _in_words(tally: Counter[str], links: Sequence[TroubledLink]) -> str:
    suffered = sum((link.suffered for link in links), Counter[str]())
    counts = [f"{number} {what}" for what, number in tally.items()]
    return ", ".join([*counts, *(f"{number} times {kind}" for kind, number in sorted(suffered.items()))])
