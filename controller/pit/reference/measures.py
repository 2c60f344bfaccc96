"""Asks a table which program it runs, when somebody at the pit wants to know, and judges the answer.

The question is a decision that the pit signs. The question has a random nonce. With the question the pit records the
proof: the digest of its own program files together with the nonce. The answer is an event that the table signs. Both
are in the ledger, and are compared here.

If an answer has the right program digest but a wrong proof, the table did not read its files for the answer. It only
remembered the digest. Even a right proof has a limit: whoever is root on the table's machine can keep a true copy of
the files to show, and run others.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from controller.basics.digest import program_digest, proof
from controller.basics.errors import TableError
from controller.contract.canonical import parse_object
from controller.contract.pit_words import MeasureWord
from controller.pit.reference.adoptions import Adoptions
from controller.pit.reference.decisions import Decisions
from controller.pit.reference.store import Store, nonsense_explained

ANSWER = "program_measured"
"""The code of the alarm by which a table answers."""

_LATEST = 100  # questions that an answer may be to


class Question(Struct, frozen=True):
    """A question to a table about its program. `number` is the number of the pit's decision to ask. `program` and
    `proof` are the digests that the pit's own files give."""

    number: int
    after: int
    table: str
    epoch: str
    nonce: str
    program: str
    proof: str

    def word(self, at: str) -> MeasureWord:
        """Return the message that asks the table this question. `at` is the message's time."""
        return MeasureWord(self.table, self.epoch, self.nonce, at)

    def amiss(self, answer: Mapping[str, Any]) -> TableError | None:
        """Return an alarm if the table's answer, with the details `answer`, shows another program than the pit's own or
        has no right proof. Return None if the table runs the pit's own program."""
        if answer.get("now") != self.program:
            version = f"{answer.get('version')!s:.20}"
            what = f"Table {self.table} runs version {version}, whose program's digest is {answer.get('now')!s:.64}."
            do = (
                f"This pit's own program has the digest {self.program}. Compare the table's with the approved digest of"
                " that version. If it is none, let the table stand, and find out who changed its program."
            )
            return TableError("program_differs", what, do)
        if answer.get("proof") != self.proof:
            what = f"Table {self.table} names this pit's program, and did not read its files for the answer."
            do = "Let the table stand. Compare its files by hand (docs/care.md), and find out who changed its program."
            return TableError("measure_not_proven", what, do)
        return None


class Measures:
    """The pit's questions about tables' programs, and the tables' answers, in a ledger. `ask` and `heard` must be
    called inside the ledger's transaction."""

    def __init__(self, db: Store, adoptions: Adoptions, decisions: Decisions) -> None:
        self._db = db
        self._adoptions = adoptions
        self._decisions = decisions

    def ask(self, table: str, by: str) -> str:
        """Ask an adopted table which program it runs. Returns the question's nonce. Raises `table_unknown`."""
        adoption = self._adoptions.of(table)
        if adoption is None:
            raise TableError("table_unknown", f"No table {table!r} is adopted.", "Check the table's name.")
        nonce = secrets.token_hex(32)
        asked = {"measure": table, "epoch": adoption.epoch, "nonce": nonce}
        self._decisions.note("measure", 0, by, None, {**asked, "program": program_digest(), "proof": proof(nonce)})
        return nonce

    def since(self, number: int | None) -> tuple[list[Question], int]:
        """Return the questions to tables that were decided after decision `number`, and the number of the last
        decision. If `number` is None, return no questions."""
        with nonsense_explained(self._db), self._db.reading():
            (last,) = self._db.execute("SELECT coalesce(max(number), 0) FROM decision").fetchone()
            return [] if number is None else self._after(number), int(last)

    def answer(self, nonce: str) -> tuple[Question, Mapping[Any, Any] | None]:
        """Return the question with this nonce, and the details of the table's answer. The details are None if no answer
        came. Raises TableError `measure_unknown`."""
        with nonsense_explained(self._db), self._db.reading():
            question = next((each for each in self._after(0) if each.nonce == nonce), None)
            if question is not None:
                return question, next((details for _, details in self._answers(question)), None)
        raise TableError("measure_unknown", "Nobody asked with this nonce lately.", "Ask again: pitctl measure.")

    def _after(self, number: int) -> list[Question]:
        """Return the questions to tables that were decided after decision `number`, in order: at most the latest
        hundred."""
        rows = self._db.execute(
            "SELECT decision.number, after_event, body FROM decision JOIN decided ON decided.number = decision.number"
            " WHERE what = 'measure' AND decision.number > ? ORDER BY decision.number DESC LIMIT ?",
            (number, _LATEST),
        ).fetchall()
        return [_question(*row) for row in reversed(rows)]

    def heard(self, number: int, table: str, epoch: str, details: Mapping[str, Any]) -> TableError | None:
        """Judge a table's answer to a question about its program, which came as event `number` of the ledger. Returns
        an alarm for people if the answer is wrong, if it answers no question, or if the question was answered before.
        Returns None if the answer is right."""
        asked = table, epoch, details.get("nonce")
        question = next((each for each in self._after(0) if (each.table, each.epoch, each.nonce) == asked), None)
        if question is not None and [event for event, _ in self._answers(question)] == [number]:
            return question.amiss(details)
        what = f"Table {table} tells what it runs, and this pit asked nothing that this answers."
        do = "Ask again: pitctl measure. If it comes again, find out who speaks to the table in the pit's name."
        return TableError("measure_unasked", what, do)

    def _answers(self, question: Question) -> Iterator[tuple[int, Mapping[Any, Any]]]:
        """Yield the table's events that answer the question, in order. Each is a pair: the event's number in the
        ledger, and its details."""
        rows = self._db.execute(
            "SELECT number, body FROM event WHERE number > ? AND table_id = ? AND epoch = ? ORDER BY number",
            (question.after, question.table, question.epoch),
        )
        for number, body in rows.fetchall():
            if question.nonce.encode() in bytes(body):
                match parse_object(bytes(body)):
                    case {"code": code, "details": {"nonce": question.nonce, **others}} if code == ANSWER:
                        yield number, others


def _question(number: int, after: int, body: bytes) -> Question:
    asked = parse_object(bytes(body))
    told = (str(asked[name]) for name in ("measure", "epoch", "nonce", "program", "proof"))
    return Question(number, after, *told)
