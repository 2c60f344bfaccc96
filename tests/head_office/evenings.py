"""Random evenings of a house, played on a real pit's ledger, for the tests of head office. An evening contains every
kind of thing that tables can report and people can decide."""

from __future__ import annotations

import io
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, redirect_stdout, suppress
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.contract.keys import SigningKey
from controller.contract.pit_words import MetersWord
from controller.contract.signing import signed
from controller.pit.reference.__main__ import main as pit
from controller.pit.reference.award import Award
from controller.pit.reference.clock import now_text
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from tests.pit.evening import EPOCH, KEY, SPOT, TableEvening
from tests.pit.test_meters import TERMS, give, opened
from tests.support.ledgers import change_at_once, meet, unheard_steps

_PRIVATE = bytes([7]) * 32
PIT = SigningKey(_PRIVATE)
Lines = list[dict[str, Any]]


def pits_ledger(path: Path, terms: Mapping[str, Terms] = TERMS) -> Ledger:
    """Return a new ledger, whose decisions are signed by the key PIT."""
    key = path.with_name(f"{path.name}.key")
    key.touch(0o600)
    key.write_bytes(_PRIVATE)
    return opened(path, terms, PIT)


def written(ledger: Path) -> str:
    """Return the log of this ledger: the lines that `pitctl events` and `pitctl statement` print."""
    with redirect_stdout(io.StringIO()):
        assert pit(["key", "--ledger", str(ledger)]) == 0
    with redirect_stdout(out := io.StringIO()):
        assert pit(["events", "--ledger", str(ledger)]) == 0
        assert pit(["statement", "--ledger", str(ledger)]) == 0
    return out.getvalue()


def chained(decisions: Lines, by: Mapping[int, SigningKey] = MappingProxyType({})) -> Lines:
    """Sign these decisions again, as a lying pit could do with its own key. Each decision holds the digest of the
    decision before it.

    `by` maps the number of a decision to the key that signs it. All other decisions are signed by PIT.
    """
    unsigned = sum(1 for each in decisions if "signature" not in each)
    before = sha256(canonical({"decisions": decisions[:unsigned]})).hexdigest()
    every = decisions[:unsigned]
    for place, each in enumerate(decisions[unsigned:], unsigned + 1):
        bare = {name: value for name, value in each.items() if name != "signature"}
        kept = signed(bare | {"decision": place, "before": before}, by.get(place, PIT))
        before = sha256(kept).hexdigest()
        every.append(json.loads(kept))
    return every


def signed_by_the_pit(said: dict[str, Any]) -> dict[str, Any]:
    """Return the statement with a valid signature by the pit's key PIT."""
    unsigned = {name: value for name, value in said.items() if name != "signature"} | {"public_key": PIT.public.hex()}
    line: dict[str, Any] = json.loads(signed(unsigned, PIT))
    return line


class Evening:
    """A random evening of a house with two tables, in which tables and people do whatever is possible. `did` counts how
    often each thing was done.

    If `limits` is true, the house has the rules of the newest ledger: a meter may have a limit, new terms wait until
    the meter is won, and a void lowers no meter. Otherwise the house has the rules of earlier versions.
    """

    def __init__(self, seed: int, path: Path, steps: int = 40, *, limits: bool = True) -> None:
        self._limits = limits
        self._random = random.Random(seed)
        self._heard = random.Random(f"{seed} heard")
        self._words: list[bytes] = []
        self._path = path
        self._ledger = pits_ledger(path)
        self._ledger.sign_by(PIT, [PIT.public])
        self._tables = [TableEvening("t-0"), TableEvening("t-1")]
        self._rounds: list[tuple[TableEvening, int, dict[str, list[int]]]] = []
        self._hits: dict[str, tuple[TableEvening, bytes]] = {}
        self.did: Counter[str] = Counter()
        acts = [self._play] * 10 + [self._void] * 2 + [self._correct] * 2 + [self._decide] * 5 + [self._tell] * 3
        acts += [
            self._tell_of_another_ledger,
            self._dispute,
            self._new_terms,
            self._withdraw_terms,
            self._close,
            self._close,
            self._set_aside,
            self._retire,
            self._kill,
        ]
        try:
            self._play()
            for _ in range(steps):
                act = self._random.choice(acts)
                try:
                    act()
                except TableError:  # people may ask for what the pit refuses
                    self.did["refused"] += 1
                else:
                    self.did[act.__name__] += 1
        finally:
            self._ledger.close()

    def _play(self) -> None:
        """Play a round of one table, with its wagers and its hits. The house's second table sometimes closes its own
        betting before or during this round."""
        table, other = self._random.sample(self._tables, 2)
        seats = self._lock(table)
        if self._random.random() < 0.5:
            self._lock(other)
        winners = [(spot, seat, self._won(spot)) for spot, each in seats.items() for seat in each[: self._draw(0, 2)]]
        place = (table.shoe, table.round)
        give(self._ledger, table, table.finish(*((seat, "tier") for _, seat, _ in winners)))
        for spot, seat, won in winners:
            if self._random.random() < 0.2:
                self._lock(other)
            assert (table.shoe, table.round) == place
            won_as, share = (won, "1:1") if isinstance(won, int) else won
            hit = table.hit(seat, "tier", won_as, share, spot)
            give(self._ledger, table, hit)
            self._hits[json.loads(hit)["id"]] = table, hit

    def _lock(self, table: TableEvening) -> dict[str, list[int]]:
        bets = [(SPOT, ["big", "small"]), ("pair", ["small"])][: self._draw(1, 2)]
        seats = {spot: self._random.sample(range(1, 8), self._draw(1, 3)) for spot, _ in bets}
        price_cents = self._random.choice([500, 1, 777, 2_500])
        of_bets = ((spot, seats[spot], price_cents, meters) for spot, meters in bets)
        give(self._ledger, table, table.lock_on(*of_bets, word=self._word()))
        self._rounds.append((table, table.round, seats))
        return seats

    def _word(self) -> bytes | None:
        """Return one of the pit's last signed messages about the meters, or None. A table names this message when it
        closes its betting. In a ledger of an earlier version, always return None."""
        if not self._limits:
            return None
        self._words.append(MetersWord(len(self._words) + 1, now_text(), self._ledger.levels()).payload(PIT))
        return self._heard.choice([*self._words[-4:], None])

    def _won(self, spot: str) -> tuple[str, str] | int:
        meter = "big" if spot == SPOT else "small"
        share = self._random.choice(["1:1", "1:1", "1:10", "2:3"])
        won: list[tuple[str, str] | int] = [(meter, share), ("small", "1:1"), 2_500]
        return self._random.choice(won)

    def _void(self) -> None:
        """Void some wagers of one of the last rounds. A hit may have happened after these wagers were made."""
        table, round_, seats = self._random.choice(self._rounds[-6:])
        if table in self._tables:
            now, table.round = table.round, round_
            give(
                self._ledger, table, table.void_on(*((spot, each[: self._draw(1, 3)]) for spot, each in seats.items()))
            )
            table.round = now
            if not self._limits:  # a void of an earlier version took off the meters at once what its wagers gave
                with self._ledger._db.transaction():
                    (last,) = self._ledger._db.execute("SELECT max(number) FROM event").fetchone()
                    self._ledger._books.take_off("true", (), last + 1)

    def _correct(self) -> None:
        """Let two people correct the meters after one of the voids that left money on them."""
        with suppress(TableError), self._ledger.closing_meters() as closings:
            if left := closings.corrections.waiting():
                closings.corrections.correct(self._random.choice(left).void, "Ann", "Bob", "F-19", "a card fell")

    def _decide(self) -> None:
        award = self._award()
        if award.held:
            self.did["recall"] += 1
            self._ledger.recall(award.id, "Ann", "Bob")
        elif award.step == "pending":
            self._ledger.take_step(award.id, self._random.choice(["verified", "verified", "rejected"]), "Ann", "Eve")
        else:
            self._ledger.take_step(award.id, self._random.choice(["paid", "paid", "rejected"]), "Bob", "Cas")

    def _tell(self) -> None:
        """Let a table confirm the next steps of its awards, which the pit has published."""
        table = self._random.choice(self._tables)
        while steps := [step for step in unheard_steps(self._ledger, table.table) if step.hit in self._hits]:
            step = steps[0]
            give(self._ledger, table, table.award(self._hits[step.hit][1], step.step, step.cents, step.by))
            if self._random.random() < 0.3:
                return

    def _tell_of_another_ledger(self) -> None:
        """Let a table report a step of an award that this ledger does not have, as if it came from a lost ledger. Two
        people recall the step: they take it over into this ledger. If the step is "verified", which paid nobody, they
        may dismiss it instead."""
        award = self._award()
        if award.step == "paid":  # it would be paid twice, and head office would say so
            return
        table, hit = self._hits[award.hit]
        step, more = self._random.choice([("verified", 0), ("paid", 0), ("paid", 20), ("rejected", 0)])
        give(self._ledger, table, table.award(hit, step, award.cents + more, "Zoe"))
        if step == "verified" and self._random.random() < 0.5:
            self._ledger.dismiss(award.id, "Ann", "Bob")
        else:
            self._ledger.recall(award.id, "Ann", "Bob")

    def _dispute(self) -> None:
        """Let a table dispute an award's amount. Then either two people at the table accept the amount, or two people
        at the pit reject the award."""
        award = self._award()
        table, hit = self._hits[award.hit]
        about = {"hit": award.hit, "cents": award.cents}
        give(self._ledger, table, table.say("alarm", code="award_impossible", details=about))
        if self._random.random() < 0.5:
            give(self._ledger, table, table.award(hit, "pending", award.cents))
        else:
            self._ledger.take_step(award.id, "rejected", "Ann", "Bob")

    def _new_terms(self) -> None:
        name = self._random.choice(["big", "small", "new"])
        contribution, reserve = (Fraction(self._draw(0, 9), self._draw(10, 20)) for _ in range(2))
        seed_cents = self._draw(0, 1_500)
        most_cents = seed_cents + self._draw(0, 200)
        limited = self._limits and self._draw(0, 1)
        limit_cents = most_cents + self._draw(0, 900) if limited else None
        new = {name: Terms(seed_cents, contribution, reserve, most_cents, limit_cents)}
        if not self._limits and name in (running := self._ledger.terms()):
            change_at_once(self._ledger, running | new)
        else:
            self._ledger.set_terms(self._ledger.terms() | new, "Ann", "Bob", "the summer")

    def _withdraw_terms(self) -> None:
        self._ledger.withdraw_terms(self._random.choice(["big", "small", "new"]), "Ann", "Bob", "a mistake")

    def _close(self) -> None:
        """Close a meter between rounds. In some cases, move the house's reserve to another meter. Then open the closed
        meter again."""
        name, other = self._random.sample([*self._ledger.levels()], 2)
        why = ("Ann", "Bob", "F-17", "moved")
        terms = self._ledger.terms()
        if not self._limits:
            return
        with self._ledger.closing_meters() as closings:
            closings.close(name, self._random.choice([other, None]), *why)
        if self._draw(0, 1):
            with self._ledger.closing_meters() as closings, suppress(TableError):
                closings.move_reserve(other, *why)
        self._ledger.set_terms(terms, "Ann", "Bob", "again", (name,))

    def _set_aside(self) -> None:
        """Take back a table's adoption as wrong, so that the events of the table count no more. Then adopt the table
        again, with a new stream of events."""
        number = self._draw(0, 1)
        name = self._tables[number].table
        self._ledger.unadopt(name, EPOCH, "Ann", "the wrong key", "Bob")
        self._hits = {hit: of for hit, of in self._hits.items() if of[0] is not self._tables[number]}
        self._tables[number] = TableEvening(name)
        self._hear(number)

    def _retire(self) -> None:
        number = self._draw(0, 1)
        self._ledger.retire(self._tables[number].table, "Ann", "Bob", "sold")
        self._hear(number)

    def _hear(self, number: int) -> None:
        table = self._tables[number]
        self._ledger.adopt(table.table, EPOCH, KEY.public.hex())
        meet(self._ledger, table.table, table.state(), adopt_new=False)

    def _kill(self) -> None:
        self._ledger.close()
        self._ledger = Ledger(self._path)
        self._ledger.serve()
        self._ledger.sign_by(PIT, [PIT.public])
        for number in (0, 1):
            self._hear(number)

    def _award(self) -> Award:
        if awards := [award for award in self._ledger.awards() if award.hit in self._hits]:
            return self._random.choice(awards)
        raise TableError("award_unknown", "There is no award yet.", "Play on.")

    def _draw(self, least: int, most: int) -> int:
        return self._random.randint(least, most)


_SINCE_FORM_6 = (
    *("decided", "proposal", "refused", "reading", "day", "slip_print", "slip", "house_rules", "decision", "doubt"),
    *("ack_time", "in_force", "win", "closing", "moved", "cosigned", "fork", "added", "shown"),
    *("locked_at", "at_least", "come_to"),
)
_TO_FORM_18 = ("DROP INDEX wager_left", "ALTER TABLE wager DROP COLUMN off_at")
TO_FORM_6 = (
    *(f"DROP TABLE {name}" for name in _SINCE_FORM_6),
    "ALTER TABLE terms DROP COLUMN prices_cents",
    "ALTER TABLE terms DROP COLUMN limit_cents",
    "ALTER TABLE terms DROP COLUMN withdrawn",
    "ALTER TABLE meter DROP COLUMN closed",
    *_TO_FORM_18,
)
"""The statements by which a ledger gets the form of the version before this one."""


def as_form_6(path: Path) -> None:
    """Convert the ledger in this file to form 6, the oldest version of the schema that the pit can still update."""
    with closing(sqlite3.connect(path)) as db:
        for statement in (*TO_FORM_6, "PRAGMA user_version = 6"):
            db.execute(statement)


def as_form_18(path: Path) -> None:
    """Convert the ledger in this file to form 18 of the schema. In that version a void lowered the meters at once, and
    there were no decisions to correct a void."""
    of_voids = "number IN (SELECT number FROM decision WHERE what = 'corrected')"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"DELETE FROM decided WHERE {of_voids}")
        db.execute(f"DELETE FROM decision WHERE {of_voids}")
        for statement in (*_TO_FORM_18, "PRAGMA user_version = 18"):
            db.execute(statement)
        db.commit()
