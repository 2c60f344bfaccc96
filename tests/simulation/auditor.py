"""Checks after every step of the simulation what must be true of a table and its journal.

The auditor reads the journal's file row by row, with a database connection of its own. It runs the table's facts
through the table's logic again, and keeps its own count of the cards, the rounds, the wagers and the shoe's reports. It
judges rounds by the simulated shoe's rules (`drivers.sim.rules`), which share no code with the table's. If something is
not true, it raises `Broken`.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

import controller.table.step as core
from controller.contract import envelope
from controller.contract.envelope import Stamp
from controller.contract.pit_words import AwardStep
from controller.contract.signing import Signer
from controller.daemon.record.fact_json import fact_from_json
from controller.rules.game.cards import DECK, Card
from controller.rules.game.hands import Done, TwoHands
from controller.table import facts
from controller.table.acts.corrections import RoundCorrected
from controller.table.acts.itself import LampsTested
from controller.table.acts.rounds import RoundVoided
from controller.table.acts.stopped import CardNamed, CardsCounted, FaultCleared
from controller.table.facts import CardDrawn, CardDrawnOutsideGame, CardKept, Fact, Report
from controller.table.public import public
from controller.table.rules import TableRules
from controller.table.states import Burning, FirstCardDue, Held, NoShoe, RoundInPlay, ShoeEnded, Table
from drivers.sim import rules as referee
from tests.simulation.broken import hold
from tests.simulation.hearing import Verdict
from tests.simulation.shoe import Reported
from tests.support import sheets

_SCHEMA = Path(envelope.__file__).parent / "schemas" / "event.schema.json"
_VALIDATOR = jsonschema.Draft202012Validator(json.loads(_SCHEMA.read_text("utf-8")))
_ACTS = (facts.ShoeOpened, RoundVoided, CardNamed, CardsCounted, FaultCleared)
_CARD_FACTS = (CardDrawn, CardKept, CardDrawnOutsideGame)
_CARD = re.compile(r"\b[A23456789TJQK][SHDC]\b")
PROGRESSIVE = ("personal_vs_personal", "banker_personal", "player_personal")
"""The tiers that win a meter of the same name (sheet 000)."""
_NUMBERS = 9  # after 9 some shoes go on with 1
_TAKEN_BACK = ("card_without_shoe", "card_after_shoe")


@dataclass
class _Round:
    """A round of the simulated table, as the table's messages to the pit tell it."""

    shoe: int
    round: int
    seats: tuple[int, ...] | None  # None in a simulated hand
    over: bool = False
    shown: Mapping[str, int] = field(default_factory=dict)  # the levels, as long as it is not over


@dataclass
class _Hit:
    """A hit that the table has reported, and for which the lamp of its seat is lit."""

    seat: int
    tier: str
    progressive: bool
    step: str = "hit"


@dataclass
class _ShoeAccount:
    """The cards and rounds of one shoe as the auditor counts them."""

    drawn: list[str | None] = field(default_factory=list)  # every card that came, in order; None nobody can tell
    kept: list[str | None] = field(default_factory=list)
    taken: list[int] = field(default_factory=lambda: [0, 0])  # how far the rounds have got in either
    burned_checked: bool = False
    corrections: Counter[str | None] = field(default_factory=Counter)  # what people read anew, less what was told
    seats: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by finished round, whose wagers were locked

    @property
    def all_cards(self) -> Counter[str | None]:
        """Return every card that has come out of the shoe, counted by name. Cards that people corrected have their new
        names."""
        cards = Counter(self.drawn)
        cards.update(self.kept)
        cards.update(self.corrections)
        return cards


class Auditor:
    """Checks the journal of a simulated table, in the file `path`. `reported` is the shoe's own record of its reports,
    and `numbered` tells whether the reports have numbers. `verdicts` maps the time of a fact, in ms, to what the table
    could know of its pit at that time. `pit_step(table, seq)` returns the award step number `seq` that the pit took for
    a table; None if the pit took no such step."""

    def __init__(
        self,
        path: Path,
        rules: TableRules,
        signer: Signer,
        reported: list[Reported],
        numbered: bool,
        verdicts: Mapping[int, Verdict],
        pit_step: Callable[[str, int], AwardStep | None],
    ) -> None:
        self.table = Table(rules)
        self.bodies: list[bytes] = []  # the journal's messages, by seq - 1
        self.missed: list[str] = []  # cards whose reports never came, for the supervisor to name
        self.lamp_tests = 0
        self.step_was_broken = False  # the simulation had a step raise
        self._rules = rules
        self._signer = signer
        self._reported = reported
        self._numbered = numbered
        self._verdicts = verdicts
        self._pit_step = pit_step
        self._next_report = 0
        self._first_seen = False  # some report came: numbers are counted on from it
        self._unheard = False  # the table stopped since the last report, for it may not have heard all that came
        self._announced = False  # the shoe's own first-card report comes next: what was missed before it is no matter
        self._opened = False  # a shoe was, since the last report: what was missed before that is no matter
        self._zero_seen = False  # this shoe has gone on with 0 after 9, so that a lost 0 must show
        self._last_digit = ""
        self._db = sqlite3.connect(path, isolation_level=None)
        self._table_id, self._epoch = self._db.execute("SELECT table_id, epoch FROM journal").fetchone()
        self._row, self._head = 0, envelope.GENESIS
        self._salts: set[bytes] = set()
        self._account = _ShoeAccount()
        self._last_round: _Round | None = None
        self._shown: Mapping[str, int] = {}
        self._rounds: set[tuple[int, int]] = set()
        self._hits: set[tuple[int, int, int]] = set()
        self._wagered: dict[tuple[int, int], _Round] = {}  # finished rounds that were no simulated ones
        self._hit_ids: dict[str, tuple[int, int, int, str]] = {}  # shoe, round, seat and tier of every hit ever told
        self._lit: dict[tuple[int, int, int], _Hit] = {}  # by shoe, round and seat
        self.award_steps: dict[str, str] = {}  # the last step told of every award, by its hit
        self._awards_told: set[tuple[str, str, int, str]] = set()  # an amount may come again: the pit says when
        self._award_seq = 0
        self._hits_due: list[tuple[int, str]] = []
        self._result_due: tuple[str, bool, bool] | None = None  # of the round just finished, until the next card

    def close(self) -> None:
        """Close the auditor's connection to the journal's file."""
        self._db.close()

    @property
    def backlog(self) -> int:
        """Return how many of the shoe's reports are not in the journal yet. Only reports after the last one in the
        journal count, and only those that were sent while the table's program listened."""
        return sum(report.listened for report in self._reported[self._next_report :])

    def missed_since(self, life: int) -> list[str]:
        """Return the cards whose reports the table missed. These are the cards that the auditor has noted as missed,
        and the cards of unheard reports after the last report in the journal. `life` is the number of the program's
        present run."""
        since = self._reported[self._next_report :]
        return [*self.missed, *(lost.real for lost in since if lost.real is not None and not lost.came(life))]

    def read(self, life: int) -> None:
        """Read and check the new rows of the journal. `life` is the number of the table program's present run."""
        rows = self._db.execute(
            "SELECT row, at_ms, clock_synchronised, fact, salt, head, boot_id, since_boot_ms, via FROM fact"
            " WHERE row > ? ORDER BY row",
            (self._row,),
        ).fetchall()
        for place, (number, at_ms, synchronised, fact_json, salt, head, boot_id, since_boot_ms, via) in enumerate(rows):
            hold("rows are numbered without gaps", number == self._row + 1, number)
            hold("every row has a salt of its own", salt not in self._salts and len(salt) == 16, number)
            self._salts.add(salt)
            fact = fact_from_json(fact_json)
            bodies = [
                body for (body,) in self._db.execute("SELECT body FROM message WHERE row = ? ORDER BY seq", (number,))
            ]
            fails = place + 1 < len(rows) and json.loads(rows[place + 1][3])["fact"] == "StepFailed"
            if fails:
                hold("a failed step makes no events", not bodies, number)
                self._reports_arrived(self.table, fact, life, fails=True)
            else:
                self._row_committed(fact, Stamp(at_ms, bool(synchronised)), bodies, life)
            digest = hashlib.sha256(self._head)
            came = f"{at_ms} {int(bool(synchronised))} {boot_id or '-'} {since_boot_ms} {json.dumps(via)} "
            for part in (salt, came.encode() + fact_json, *bodies):
                digest.update(len(part).to_bytes(8, "big") + part)
            self._row, self._head = number, digest.digest()
            hold("the chain holds", head == self._head, number)

    def _row_committed(self, fact: Fact, stamp: Stamp, bodies: list[bytes], life: int) -> None:
        before = self.table
        after, events = core.step(before, fact)
        again = [
            envelope.seal(event, self._table_id, self._epoch, len(self.bodies) + n, stamp, self._head, self._signer)
            for n, event in enumerate(events, 1)
        ]
        hold("the facts give the same events again", bodies == again, fact)
        if isinstance(fact, facts.ShoeOpened):
            hold("a replay can begin at any shoe", core.step(Table(self._rules), fact)[0] == after, fact)
        self.table = after
        self.bodies += bodies
        self.lamp_tests += isinstance(fact, LampsTested)
        self._reports_arrived(before, fact, life)
        messages = [json.loads(body) for body in bodies]
        self._faults(before, fact, after, messages)
        self._cards(before, fact, after)
        self._wagers_locked(fact, stamp)
        self._levels_noted(fact, stamp)
        self._shoes_rounds(before, fact, after, messages)
        self._awards(fact, after, messages)
        self._secrets(fact, bodies)
        for seq, message in enumerate(messages, len(self.bodies) - len(bodies) + 1):
            if seq % 25 == 1:
                error = next(_VALIDATOR.iter_errors(message), None)
                hold("every event keeps to its schema", error is None, error)

    # What the shoe said.

    def _reports_arrived(self, before: Table, fact: Fact, life: int, fails: bool = False) -> None:
        """Check that the shoe truly made the report that this fact holds, and made it after the report of the fact
        before. If the shoe made other reports between the two, the table must truly not have received them."""
        report: Report | None = getattr(fact, "report", None)
        if isinstance(fact, facts.StepFailed):
            return  # its report is that of the fact that failed, which stands in the row before
        if isinstance(fact, facts.ShoeUnheard):
            self._unheard = True
        if report is None:
            self._opened = self._opened or isinstance(fact, facts.ShoeOpened)
            self._announced = isinstance(fact, facts.ShoeOpened) and fact.by == "first_card"
            return
        ahead = range(self._next_report, len(self._reported))
        places = [place for place in ahead if self._reported[place].frame == report.frame]
        hold("every report is believed once and in order", bool(places), fact)
        # A power-up that nobody heard can make two alike: the one that was heard is the one believed.
        place = next((place for place in places if self._reported[place].came(life)), places[0])
        skipped = self._reported[self._next_report : place]
        self._next_report = place + 1
        for lost in skipped:
            hold("no report that came is lost", not lost.came(life), lost)
            if lost.real is not None and not isinstance(before.phase, NoShoe | ShoeEnded):
                self.missed.append(lost.real)
        unseen_zero = [lost.frame[2:4] for lost in skipped] == ["30"] and not self._zero_seen
        # Only a 0 that was heard right after a 9 tells how this shoe counts, and only until it is switched on again.
        wrapped, self._last_digit = self._last_digit == "39" and report.frame[2:4] == "30", report.frame[2:4]
        self._zero_seen = (self._zero_seen or wrapped) and not isinstance(fact, facts.ShoePoweredUp)
        first, self._first_seen = not self._first_seen, True
        announced, self._announced = self._announced, False
        opened, self._opened = self._opened, False
        unheard, self._unheard = self._unheard, False
        if unheard:
            self._zero_seen, self._last_digit = False, report.frame[2:4]
        open_shoe = not isinstance(before.phase, NoShoe | ShoeEnded)
        if not self._numbered:
            missed = [lost for lost in skipped if not lost.listened and lost.real is not None]
            if missed and open_shoe and not opened:
                hold("what nobody listened to stops a table whose shoe numbers nothing", unheard, (fact, missed))
            return
        if unseen_zero and not first and not announced and not skipped[0].listened and open_shoe:
            hold("what nobody listened to stops the table, where no number tells", unheard, (fact, skipped))
        if first or fails or announced or unheard:
            return  # nothing to count on from, or no step to judge
        if opened and sum(not lost.listened for lost in skipped) >= _NUMBERS:
            return  # they were the shoe before's, which had ended when its line came back
        if isinstance(fact, facts.ShoePoweredUp) or before.fault is not None:
            return
        gap = any(lost.kind != "S" for lost in skipped)
        code = self.table.fault.code if self.table.fault else None
        if isinstance(fact, CardDrawn) and fact.target is facts.Target.BURN and isinstance(before.phase, FirstCardDue):
            return  # a burned card where the first is due: that one was missed, whatever the numbers say
        if not skipped:
            hold("no gap is seen that was none", code != "reports_missed", fact)
        elif (
            gap
            and not unseen_zero
            and not isinstance(before.phase, NoShoe | ShoeEnded)
            and not any(s.kind == "S" for s in skipped)
        ):
            hold("a gap in a shoe stops the table", code == "reports_missed", (fact, skipped))

    def all_reports_arrived(self, life: int) -> None:
        """Check that every report of the shoe that the table heard is in the journal."""
        for report in self._reported[self._next_report :]:
            hold("no report that came is lost", not report.came(life), report)

    # Faults.

    def _faults(self, before: Table, fact: Fact, after: Table, messages: Sequence[dict[str, Any]]) -> None:
        if before.fault is not None and not isinstance(fact, _ACTS):
            same = after.fault is not None and after.fault == before.fault
            hold("no fault clears by itself", same, (fact, before.fault, after.fault))
        raised = [message["code"] for message in messages if message["type"] == "fault"]
        for code in raised:
            hold("the journal is never behind the pit", code != "journal_behind_pit", messages)
            hold("a replay never differs", code != "replay_differs", messages)
            hold("no step fails", code != "internal" or self.step_was_broken, messages)
        for message in messages:
            if message["type"] == "fault_cleared":
                hold("a fault is left by a person", isinstance(fact, _ACTS) and bool(fact.by), (fact, message))
        if after.fault is not None and after.fault != before.fault and not raised:
            hold("a fault is told", isinstance(fact, CardNamed), (fact, after.fault))

    # Rounds, wagers, hits.

    def _shoes_rounds(self, before: Table, fact: Fact, after: Table, messages: Iterable[dict[str, Any]]) -> None:
        if isinstance(fact, facts.CutCardDrawn) and before.fault is None and after.fault is None and before.shoe:
            assert after.shoe is not None
            if after.shoe.final_round != before.shoe.final_round:
                due = before.shoe.wagered_rounds + 1  # inside a round: one more; before its first card: that round
                hold("the last round is one more than begun", after.shoe.final_round == due, after.shoe)
        self._result(before, fact, after)
        for message in messages:
            match message["type"]:
                case "wagers_locked":
                    (royal9,) = message["progressive"]
                    self._begin(message["shoe"], message["round"], tuple(royal9["seats"]))
                    self._lit = {place: hit for place, hit in self._lit.items() if hit.progressive}
                case "round":
                    self._round(message)
                case "hit":
                    self._hit(message)
                case "void":
                    self._void(message)
                case "correction":
                    self._correction(message)
                case "hit_reset":
                    self._hits_reset(message)
                case "shoe_opened":
                    self._lit = {place: hit for place, hit in self._lit.items() if hit.progressive}
                case "shoe_closed" if message["reason"] == "final_round":
                    assert after.shoe is not None
                    wagered = message["wagered_rounds"]
                    hold("a shoe ends after its last round", wagered == after.shoe.final_round, message)
        hold("every seat that won hits", not self._hits_due, self._hits_due)
        if before.fault is not None:
            self._result_due = None  # what was held may have held the shoe's result, too

    def _begin(self, shoe: int, number: int, seats: tuple[int, ...] | None) -> None:
        last = self._last_round
        hold("one round at a time", last is None or last.over or last.shoe != shoe, last)
        self._last_round = _Round(shoe, number, seats, shown=self._shown)

    def _over(self, message: dict[str, Any]) -> _Round:
        """Return the round that ends with this message. Raises Broken if the round was already over."""
        place = (message["shoe"], message["round"])
        hold("no round ends twice", place not in self._rounds, message)
        self._rounds.add(place)
        if message["simulated"]:
            self._begin(*place, None)
        round_ = self._last_round
        assert round_ is not None
        hold("a round ends that was begun", (round_.shoe, round_.round) == place and not round_.over, (round_, message))
        hold("a simulated hand is called one", message["simulated"] == (round_.seats is None), message)
        played = tuple(seat for bet in message["progressive"] for seat in bet["seats"])
        hold("the wagers are those locked", played == (round_.seats or ()), (round_, message))
        round_.over = True
        return round_

    def _round(self, message: dict[str, Any]) -> None:
        round_ = self._over(message)
        player, banker = message["player"]["cards"], message["banker"]["cards"]
        order = _as_dealt(player, banker)
        hold("a round is dealt by the rules", order is not None, message)
        assert order is not None
        told = (message["outcome"], message["player"]["total"], message["banker"]["total"], message["natural"])
        natural = referee.is_natural(player) or referee.is_natural(banker)
        ours = (referee.outcome(player, banker), referee.total(player), referee.total(banker), natural)
        hold("the round is judged by the rules", told == ours, (message, ours))
        pairs = {"player": referee.is_pair(player), "banker": referee.is_pair(banker)}
        hold("pairs are pairs", message["pairs"] == pairs, message)
        dragon = [sheets.dragon_bonus(player, banker), sheets.dragon_bonus(banker, player)]
        dragon_told = [message["dragon_bonus"]["player"], message["dragon_bonus"]["banker"]]
        hold("the Dragon Bonus is by the sheet", dragon_told == [what for what, _ in dragon], message)
        hold("the cards are those that came, in that order", self._consume(order), (message, self._account))
        won = self._won(round_.seats or (), player, banker)
        self._account.seats[round_.round] = round_.seats or ()
        told_won = [(hit["seat"], hit["tier"]) for hit in message["awards"]]
        hold("the hits are the sheet's, best first", told_won == won, (message, won))
        if round_.seats is not None:
            self._wagered[round_.shoe, round_.round] = round_
        self._hits_due = list(won)
        self._result_due = (message["outcome"], pairs["player"], pairs["banker"])

    def _hit(self, message: dict[str, Any]) -> None:
        hit = (message["seat"], message["tier"])
        hold("a hit is of a locked seat that won", bool(self._hits_due) and self._hits_due[0] == hit, message)
        self._hits_due.pop(0)
        place = (message["shoe"], message["round"], message["seat"])
        hold("no hit twice", place not in self._hits, message)
        self._hits.add(place)
        self._hit_ids[message["id"]] = (*place, message["tier"])
        self._lit[place] = _Hit(*hit, hit[1] in PROGRESSIVE)
        hold("a hit is on a meter or of an amount", (message["progressive"] is None) != (message["fixed"] is None))
        hold("the first three tiers are progressive", (message["progressive"] is not None) == (hit[1] in PROGRESSIVE))
        if message["progressive"] is not None:
            round_ = self._last_round
            assert round_ is not None
            noted, meter = message["progressive"]["shown_cents"], message["progressive"]["meter"]
            hold("a hit notes the level last shown", noted == round_.shown.get(meter), (message, round_))

    def _correction(self, message: dict[str, Any]) -> None:
        place = (message["shoe"], message["round"])
        hold("only a finished round is corrected", place in self._rounds, message)
        hold("a correction takes two people", message["by"] != message["witness"], message)
        player, banker = message["player"]["cards"], message["banker"]["cards"]
        hold("the correction is judged by the rules", message["outcome"] == referee.outcome(player, banker), message)
        won = self._won(self._account.seats[message["round"]], player, banker)
        told = [(hit["seat"], hit["tier"]) for hit in message["awards"]]
        hold("the hits are the sheet's, best first", told == won, (message, won))
        if place == max((wagered for wagered in self._wagered if wagered[0] == place[0]), default=None):
            were = {at: hit for at, hit in self._lit.items() if at[:2] == place}
            for at in were:
                del self._lit[at]
            for seat, tier in won:
                hit = were.get((*place, seat))
                same = hit is not None and hit.tier == tier
                self._lit[(*place, seat)] = hit if same and hit else _Hit(seat, tier, tier in PROGRESSIVE)

    def _hits_reset(self, message: dict[str, Any]) -> None:
        seats = {hit.seat for hit in self._lit.values()}
        hold("a reset is of seats that hit, by a person", bool(seats & set(message["seats"])) and bool(message["by"]))
        self._lit = {place: hit for place, hit in self._lit.items() if hit.seat not in message["seats"]}

    def _wagers_locked(self, fact: Fact, stamp: Stamp) -> None:
        """Check that the table accepted or refused Royal 9 wagers correctly when wagers were locked. If the network's
        messages show that the table heard the pit, the wagers must not be refused because of the pit. If they show that
        it did not, the wagers must be refused."""
        if not isinstance(fact, facts.WagersLocked):
            return
        verdict = self._verdicts[stamp.at_ms]
        plays = any(bet.seats for bet in fact.progressive)
        self._shown = verdict.shown if plays else {}
        if plays:
            hold("no Royal 9 wager is locked on stale levels", verdict.levels_fresh, (fact, verdict))
            hold("no Royal 9 wager is locked without a pit", verdict.stream_fresh is not False, (fact, verdict))
        if any(bet.refusal == "pit_stale" for bet in fact.progressive):
            hold("no Royal 9 wager is refused while the pit is well", verdict.fresh is not True, (fact, verdict))

    def _levels_noted(self, fact: Fact, stamp: Stamp) -> None:
        """Remember which levels of the meters the table shows during a round with progressive wagers. Each fact is
        checked against the levels that were shown before the fact. After a restart the table shows no levels."""
        shown = self._verdicts[stamp.at_ms].shown
        if isinstance(fact, facts.LevelsNoted):
            hold("the levels noted are those shown", fact.levels == shown, (fact, shown))
        round_ = self._last_round
        if round_ is not None and round_.seats and not round_.over and shown:
            round_.shown = shown

    def _awards(self, fact: Fact, after: Table, messages: Sequence[dict[str, Any]]) -> None:
        """Check the award step in this fact. The pit must have taken this step for a hit that this table reported, and
        the table must report the step only once."""
        told = [message for message in messages if message["type"] == "award"]
        hold("an award step is told with its fact", len(told) == isinstance(fact, facts.AwardStepped), messages)
        if isinstance(fact, facts.AwardStepped):
            step = self._pit_step(self._table_id, fact.seq)
            hold("an award step is one the pit took", step is not None, fact)
            assert step is not None
            theirs = (step.award, step.hit, step.seat, step.tier, step.meter, step.cents, step.step, step.by)
            ours = (fact.award, fact.hit, fact.seat, fact.tier, fact.meter, fact.cents, fact.step, fact.by)
            hold("an award step is told as the pit took it", ours == theirs, (ours, theirs))
            hold("award steps are told in order", fact.seq > self._award_seq, fact)
            place = (fact.shoe, fact.round, fact.seat)
            hold("an award is of a hit that was told", self._hit_ids.get(fact.hit) == (*place, fact.tier), fact)
            self._award_seq = fact.seq
            message = told[0]
            once = (message["hit"], message["step"], message["cents"], step.at)
            hold("an award step is told once", once not in self._awards_told, message)
            self._awards_told.add(once)
            self.award_steps[message["hit"]] = message["step"]
            if place in self._lit:
                self._lit[place].step = fact.step
        shown = {(hit.shoe, hit.round, hit.seat): _Hit(hit.seat, hit.tier, hit.meter is not None, hit.step)
                 for hit in after.hits}  # fmt: skip
        hold("a hit is shown until it is reset, a fixed one until the next lock", shown == self._lit, (fact, shown))

    @property
    def seats_hit(self) -> set[int]:
        """Return the seats whose lamps must show a hit."""
        return {hit.seat for hit in self._lit.values()}

    def _won(self, seats: Sequence[int], player: Sequence[str], banker: Sequence[str]) -> list[tuple[int, str]]:
        """Return the seats that hit, each with the tier of its award. The cards of `player` and `banker` are judged by
        the simulated shoe's own rules."""
        printed = {seat.number: str(seat.k9) for seat in self._rules.seats}
        won = [
            (seat, tier) for seat in seats if (tier := sheets.royal9_tier(seat, printed, player, banker)) is not None
        ]
        return sorted(won, key=lambda hit: (sheets.ROYAL9_TIERS.index(hit[1]), hit[0]))

    def _void(self, message: dict[str, Any]) -> None:
        self._over(message)
        self._result_due = None

    def _result(self, before: Table, fact: Fact, after: Table) -> None:
        """Check that the table compares the shoe's result of a finished round with its own, and that a difference stops
        the table."""
        due = self._result_due
        if not isinstance(fact, facts.ShoeErrorRaised | facts.ShoeStoodBy | facts.ShoeLockReported):
            self._result_due = None
        if isinstance(fact, facts.ShoeResultReported) and due is not None and before.fault is None:
            differs = due != (fact.result.value, fact.player_pair, fact.banker_pair)
            code = after.fault.code if after.fault else None
            allowed = ("result_differs", "reports_missed") if differs else (None, "reports_missed")
            hold("the shoe's result is compared", code in allowed, (due, fact, code))

    def _consume(self, order: Sequence[str]) -> bool:
        """Find the cards of a finished round, in their order, among the cards that came out of the shoe. Return False
        if they cannot be found in that order. The shoe may have kept cards back for a later round, so each card is also
        looked for in the list of those."""
        account = self._account

        def search(place: int, drawn_at: int, kept_at: int) -> tuple[int, int] | None:
            if place == len(order):
                return drawn_at, kept_at
            for lane, start in ((account.kept, kept_at), (account.drawn, drawn_at)):
                for at in range(start, len(lane)):
                    if lane[at] == order[place]:
                        ahead = (drawn_at, at + 1) if lane is account.kept else (at + 1, kept_at)
                        found = search(place + 1, *ahead)
                        if found is not None:
                            return found
                        break
            return None

        found = search(0, *account.taken)
        if found is None:
            return False
        account.taken[:] = found
        return True

    # Cards.

    def _cards(self, before: Table, fact: Fact, after: Table) -> None:
        """Check that every card of this shoe is counted exactly once: as a known card that is gone, as a card that
        nobody can name, or as a card that waits until a fault is cleared."""
        account = self._account
        match fact:
            case facts.ShoeOpened(carried=carried):
                account = self._account = _ShoeAccount()
                for held in carried:
                    self._came(account, held)
            case RoundCorrected(number):
                was = next(finished.done for finished in before.finished if finished.number == number)
                account.corrections.update(map(str, (*fact.player, *fact.banker)))
                account.corrections.subtract(map(str, _on_the_felt(was)))
            case CardNamed(card):
                assert before.fault is not None
                self._named(account, before, str(card))
            case CardsCounted(counted):
                self._counted(account, before, counted)
                asked = before.fault is not None  # otherwise more than the table knows are only told
                due = counted if asked else min(counted, public(before).cards_left or 0)
                hold("after a count so many cards are left", public(after).cards_left == due, fact)
            case FaultCleared() if before.fault is not None and before.fault.code in _TAKEN_BACK:
                raised_by = before.fault.raised_by
                assert raised_by is not None
                lane = account.kept if isinstance(raised_by.fact, CardKept) else account.drawn
                lane.remove(_text(raised_by.fact))
            case _:
                self._came(account, fact)
        waiting = () if after.fault is None else (after.fault.raised_by, *after.held)
        held_cards = Counter(_text(h.fact) for h in waiting if h is not None and isinstance(h.fact, _CARD_FACTS))
        placed = account.all_cards
        placed.subtract(held_cards)
        decks = self._rules.shoe.decks
        if after.shoe is None or not after.shoe.number:
            hold("no card is placed without a shoe", not any(placed.values()), placed)
            return
        hold("no card is held that never came", min(placed.values(), default=0) >= 0, (placed, fact))
        gone = {str(card): count for card, count in zip(DECK, after.shoe.gone, strict=True) if count}
        named = {card: min(count, decks) for card, count in placed.items() if card is not None and count}
        hold("every card that came is in one place", gone == named, _difference(gone, named, fact))
        unnamed = sum(placed.values()) - sum(named.values())
        hold("every card nobody can name is counted", after.shoe.unnamed == unnamed, (fact, after.shoe.unnamed, placed))
        left = public(after).cards_left
        hold("the composition adds up", left == max(0, 52 * decks - sum(account.all_cards.values())), (left, account))
        burned = isinstance(before.phase, Burning) and not isinstance(after.phase, Burning | FirstCardDue)
        same_shoe = before.shoe is not None and before.shoe.number == after.shoe.number
        if burned and same_shoe and not isinstance(after.phase, ShoeEnded) and not account.burned_checked:
            account.burned_checked = True
            self._burn_complete(account, before, after)

    def _burn_complete(self, account: _ShoeAccount, before: Table, after: Table) -> None:
        assert isinstance(before.phase, Burning)
        first = str(before.phase.first_card)
        due = 1 + referee.burn_count(first) - self._rules.shoe.burn_counts_first_card
        waiting = () if after.fault is None else (after.fault.raised_by, *after.held)
        held = sum(h is not None and isinstance(h.fact, _CARD_FACTS) for h in waiting)
        dealt = len(_dealt(after.phase)) if isinstance(after.phase, RoundInPlay) else 0
        burned = sum(account.all_cards.values()) - held - dealt - len(after.kept)
        if not after.last_round and self._rules.shoe.drawn_in_error != "burn":
            hold("the burn is as the first card says", burned == due, (first, burned, due, account))

    def _came(self, account: _ShoeAccount, fact: object) -> None:
        if isinstance(fact, CardKept):
            account.kept.append(_text(fact))
        elif isinstance(fact, CardDrawn | CardDrawnOutsideGame):
            account.drawn.append(_text(fact))

    def _counted(self, account: _ShoeAccount, before: Table, left: int) -> None:
        """Note that a supervisor counted `left` cards in the shoe. If that is fewer than the table knew, the shoe has
        dealt cards whose reports the table did not receive. These cards came before all cards that wait for the fault
        to be cleared. If the number is higher than the table knew, one of the waiting reports was a late copy of an
        earlier report, and no card belongs to it."""
        known = public(before).cards_left
        assert known is not None
        if before.fault is None:  # nobody asked for the count: fewer cards are gone, and more are only told
            account.drawn += [None] * (known - left)
            return
        waiting = [held for held in before.held if isinstance(held.fact, CardDrawn | CardDrawnOutsideGame)]
        at = len(account.drawn) - len(waiting)
        account.drawn[at:at] = [None] * (known - left)
        copies = any(held.in_doubt for held in waiting)  # one of them may be a late copy, and so no card
        hold("a count is of no more cards than are known", left <= known + copies, (left, known))
        if left > known:
            waits = zip(account.drawn[at:], waiting, strict=True)
            account.drawn[at:] = [drawn for drawn, held in waits if not held.in_doubt]

    def _named(self, account: _ShoeAccount, before: Table, card: str) -> None:
        """Note the name that a supervisor gave to a card. It is either the card that stopped the table, or a card that
        the table missed. A missed card came before the cards that wait for the fault to be cleared."""
        assert before.fault is not None
        if card in self.missed:
            self.missed.remove(card)
        raised_by = before.fault.raised_by
        ends = before.fault.code in ("unreadable_card", "impossible_card", "card_outside_game")
        if ends and raised_by is not None:
            lane = account.kept if isinstance(raised_by.fact, CardKept) else account.drawn
            lane[_place_of(raised_by.fact, lane, before.held)] = card
            return
        waiting = sum(
            held is not None and isinstance(held.fact, CardDrawn | CardDrawnOutsideGame)
            for held in (raised_by, *before.held)
        )
        account.drawn.insert(len(account.drawn) - waiting, card)

    # Secrets.

    def _secrets(self, fact: Fact, bodies: Iterable[bytes]) -> None:
        report: Report | None = getattr(fact, "report", None)
        for body in bodies:
            if report is not None:
                hold("no frame gets out", report.frame.encode() not in body, body)
            message = json.loads(body)
            if message["type"] in ("fault", "alarm") and isinstance(self.table.phase, Burning | FirstCardDue):
                hold("no burned card gets out", not _CARD.search(json.dumps(message["details"])), message)

    def secret_in(self, published: str) -> None:
        """Check that the text `published`, which the table publishes, names only cards that lie face up."""
        table, face_up = self.table, set[str]()
        if isinstance(table.phase, RoundInPlay):
            face_up |= {str(card) for card in _dealt(table.phase)}
        if table.last_round is not None:
            face_up |= {str(card) for card in _on_the_felt(table.last_round.done)}
        if isinstance(table.phase, Burning):
            face_up.add(str(table.phase.first_card))
        elif table.fault is not None and table.fault.code == "impossible_card":
            face_up.add(str(table.fault.details.get("card")))
        seen = set(_CARD.findall(published))
        hold("no card is shown that is not face up", seen <= face_up, seen - face_up)

    # The pit.

    def marked(self, committed: int) -> None:
        """Check that the journal marks no event as acknowledged beyond event `committed`, the last that the pit has
        committed."""
        marked = self._db.execute("SELECT acked_seq FROM journal").fetchone()[0]
        hold("nothing is marked that the pit has not committed", marked <= committed, (marked, committed))


def _text(fact: object) -> str | None:
    card = getattr(fact, "card", None)
    return None if card is None else str(card)


def _place_of(waits: object, lane: Sequence[str | None], held: Iterable[Held]) -> int:
    """Return the index of the card of the fact `waits` in `lane`, the list of all cards of that kind that came out of
    the shoe. `held` are the later facts that wait as well. Those of the same kind stand behind `waits` in `lane`."""
    kind = CardKept if isinstance(waits, CardKept) else (CardDrawn | CardDrawnOutsideGame)
    place = len(lane) - 1 - sum(isinstance(later.fact, kind) for later in held)
    assert lane[place] == _text(waits), (lane, place, waits)
    return place


def _difference(gone: dict[str, int], named: dict[str, int], fact: Fact) -> object:
    return {"gone": Counter(gone) - Counter(named), "came": Counter(named) - Counter(gone), "fact": fact}


def _dealt(round_: RoundInPlay) -> list[Card]:
    """Return the cards dealt in a round, in the order in which they came."""
    return [play for play in round_.plays if isinstance(play, Card)]


def _on_the_felt(done: Done) -> tuple[Card, ...]:
    """Return the cards of both hands of a finished round. (The simulated house deals only punto banco, which has two
    hands.)"""
    assert isinstance(done, TwoHands)
    return (*done.player, *done.banker)


def _as_dealt(player: Sequence[str], banker: Sequence[str]) -> list[str] | None:
    """Return the cards of both hands in the order in which they were dealt; None if the rules of drawing would not have
    dealt these hands."""
    order: list[str] = []
    hands: dict[str, list[str]] = {"player": [], "banker": []}
    source = {"player": list(player), "banker": list(banker)}
    while (side := referee.next_side(hands["player"], hands["banker"])) is not None:
        if not source[side]:
            return None
        card = source[side].pop(0)
        hands[side].append(card)
        order.append(card)
    return None if source["player"] or source["banker"] else order
