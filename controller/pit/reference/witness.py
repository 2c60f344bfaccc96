"""The pit as a witness of the tables' journals: the checkpoints that it has cosigned, and the forks (second histories)
that tables showed.

A journal is the record of a table in one epoch. A checkpoint is a note, signed by the table, of the journal's size and
the root hash of its tree. The pit cosigns a checkpoint only if a proof shows that the checkpoint's tree begins with the
tree that the pit cosigned last. The pit writes the checkpoint into its ledger before it sends the cosignature. So if a
table has two histories, the pit cosigns only one of them. The ledger keeps the note of the second history beside the
cosigned note.

Two different notes with the same number of rows prove two histories. Notes with different numbers of rows prove nothing
by themselves: their proof was missing or spoiled, and anybody who carries the message can spoil it. While a fork is not
resolved, each award of that journal is in doubt, until two people have decided. An award of a later hit is in no doubt
once proofs join the notes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from controller.contract.canonical import parse_object
from controller.contract.keys import SigningKey
from controller.contract.note import Checkpoint, Note, read_note
from controller.contract.pit_words import CosignedWord
from controller.contract.witnessing import PIT_WITNESS, ShownCheckpoint
from controller.pit.reference.adoptions import Adoption, Adoptions
from controller.pit.reference.awards import Awards
from controller.pit.reference.incoming import RefusedError
from controller.pit.reference.store import Store, marks, of_row

SCHEMA = """
CREATE TABLE cosigned ( -- the checkpoints that the pit cosigned
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL, -- or the other name of an epoch whose stream was set aside
    after_event INTEGER NOT NULL, -- the event that was committed last
    size INTEGER NOT NULL,
    note TEXT NOT NULL,
    old INTEGER NOT NULL, -- the size of the checkpoint that was cosigned before
    proof TEXT NOT NULL, -- that the tree begins with that one
    UNIQUE (table_id, epoch, size)
) STRICT;
CREATE TABLE fork ( -- notes that no proof joined to the note that was cosigned
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    after_event INTEGER NOT NULL,
    cosigned TEXT NOT NULL,
    shown TEXT NOT NULL,
    UNIQUE (table_id, epoch, shown)
) STRICT;
"""

FORKED = "journal_forked"
"""The doubt in which each award of a journal is while two of its notes are not joined by proofs."""

_MOST_FORKS = 20
"""Of each journal, of one size and of different sizes each; those that are joined do not count. A table that shows
ever new ones does not fill the disk, and notes that prove nothing leave room for a proof."""

_LOOK_FIRST = (
    "Look at `pitctl forks` in a minute: the table shows this checkpoint once more. Where a proof that joins both has"
    " come by then, nothing is wrong with the journal. Otherwise: "
)
_STOP = (
    "Stop the table, and compare its journal with its log here (`tablectl verify --against`). Two machines may sign as"
    " this table, or its journal was put back from a copy. `pitctl forks` prints both signed notes, and what they"
    " prove. No award of this journal is paid before two people have decided on it."
)


class Cosigned(Struct, frozen=True):
    """The pit's answer to a table about its journal: the epoch, the number of rows in the last cosigned checkpoint, the
    pit's cosignature, and the reason if a checkpoint was refused."""

    epoch: str
    size: int
    cosignature: str
    refused: str | None = None

    def payload(self, table: str, at: str, key: SigningKey) -> bytes:
        """Return the message, signed by the pit at the time `at`, that tells the table what the pit has cosigned of its
        journal."""
        return CosignedWord(table, self.epoch, self.size, self.cosignature, self.refused, at).payload(key)


class Judged(Struct, frozen=True):
    """The outcome for a checkpoint that a table showed: the pit's answer to the table (None if it gets none), and an
    alarm for people (None if people are told nothing)."""

    answer: Cosigned | None
    alarm: RefusedError | None = None
    forked: bool = False
    """Whether this journal showed a note that no proof joined just now, for the first time."""


class Fork(Struct, frozen=True):
    """Two notes (signed checkpoints) of one journal, both with the table's signature. The pit cosigned one of them. The
    other, `shown`, came without a proof that its tree begins with the cosigned tree.

    `cosigned` is the note that the pit had cosigned last when `shown` came. If the pit has since cosigned a note with
    as many rows as `shown` and another root hash, `cosigned` is that note, because it proves more.
    """

    table: str
    epoch: str
    cosigned: str
    shown: str
    joined: bool = False
    """Whether the pit has cosigned the second note since, by proofs that lead from the first."""

    @property
    def is_proof(self) -> bool:
        """Tell whether the two notes prove two histories by themselves, because both have the same number of rows."""
        return _rows(self.cosigned) == _rows(self.shown)

    def __str__(self) -> str:
        told = f"{self.table}/{self.epoch}: the pit has cosigned\n\n{self.cosigned}\nand there came\n\n{self.shown}\n"
        return f"{told}{self._conclusion()}\n"

    def _conclusion(self) -> str:
        """Return as text for people whether the two notes prove that the journal has two histories."""
        one, other = (_rows(note) for note in (self.cosigned, self.shown))
        if self.is_proof:
            return f"They prove two histories by themselves: the table's key signed two trees of {one} rows."
        if self.joined:
            return "They show no second history: since then the table has shown the proof that joins them."
        return (
            f"By themselves they prove nothing: a tree of {other} rows may begin with one of {one}. The proof that came"
            " with the second did not join them, and whoever carries messages to the pit can spoil a proof. The table's"
            " journal decides (docs/evidence.md)."
        )


def forks(db: Store) -> list[Fork]:
    """Return the forks that the ledger keeps, the oldest first. A fork is two signed checkpoints of a table's journal:
    the one that the pit had cosigned, and one that came without a proof that joined it to the first."""
    kept = db.execute("SELECT table_id, epoch, cosigned, shown FROM fork ORDER BY number")
    return [_as_known_now(db, of_row(Fork, row)) for row in kept.fetchall()]


def _as_known_now(db: Store, fork: Fork) -> Fork:
    """Return the fork as it is known now. If the pit has since cosigned the shown note, the fork is `joined`. If the
    pit has cosigned another note of the same number of rows, that note becomes the fork's `cosigned` note."""
    of_its_size = "SELECT note FROM cosigned WHERE table_id = ? AND epoch = ? AND size = ?"
    row = db.execute(of_its_size, (fork.table, fork.epoch, _rows(fork.shown))).fetchone()
    if row is None:
        return fork
    if _point(read_note(row[0])) == _point(read_note(fork.shown)):
        return replace(fork, joined=True)
    return replace(fork, cosigned=row[0])


def _rows(note: str) -> int:
    return _point(read_note(note)).size


class Witness:
    """The pit's work as a witness of tables' journals, in a ledger. Every method but `judge_all` must be called inside
    the ledger's transaction."""

    def __init__(self, db: Store, adoptions: Adoptions, awards: Awards) -> None:
        self._db = db
        self._adoptions = adoptions
        self._awards = awards

    def judge_all(
        self, shown: Sequence[tuple[str, bytes]], to_look: Collection[str], key: SigningKey, now_s: int
    ) -> tuple[dict[str, Cosigned], list[tuple[str, RefusedError]]]:
        """Judge in one transaction the checkpoints that tables show: cosign each, or refuse it. `shown` holds pairs: a
        table's id, and the payload of its message.

        Returns two values. The first maps a table to the pit's answer. It has each table in `to_look`, which gets its
        last cosigned checkpoint, and each table in `shown` that showed a checkpoint of its adopted journal with its own
        signature. The second has pairs of a table and an alarm for people. A table that is not adopted gets no answer
        and no alarm.
        """
        with self._db.transaction():
            return self._judge_all(shown, to_look, key, now_s)

    def _judge_all(
        self, shown: Sequence[tuple[str, bytes]], to_look: Collection[str], key: SigningKey, now_s: int
    ) -> tuple[dict[str, Cosigned], list[tuple[str, RefusedError]]]:
        tables = {*to_look, *(table for table, _ in shown)}
        heard = self._adoptions.heard(tables)
        answers = self._said({table: heard[table] for table in to_look if table in heard}, key, now_s)
        alarms: list[tuple[str, RefusedError]] = []
        for table, payload in shown:
            if (adopted := heard.get(table)) is None:
                continue
            judged = self.judge(table, payload, adopted, key, now_s)
            if judged.answer is not None:
                answers[table] = judged.answer
            if judged.alarm is not None:
                alarms.append((table, judged.alarm))
            if judged.forked:
                (last,) = self._db.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()
                self._awards.doubt_journal(table, adopted.epoch, last, FORKED)
        return answers, alarms

    def last(self, table: str, epoch: str) -> Note | None:
        """Return the last cosigned checkpoint of a table's journal in this epoch; None if none was cosigned."""
        row = self._db.execute(
            "SELECT note FROM cosigned WHERE table_id = ? AND epoch = ? ORDER BY size DESC LIMIT 1", (table, epoch)
        ).fetchone()
        return None if row is None else read_note(row[0])

    def _said(self, heard: Mapping[str, Adoption], key: SigningKey, now_s: int) -> dict[str, Cosigned]:
        """Return a dict that maps each table in `heard` to the pit's answer about the last cosigned checkpoint of its
        journal. `heard` maps each table to its adoption."""
        if not heard:
            return {}
        last = self._db.execute(
            "SELECT table_id, epoch, note FROM cosigned WHERE (table_id, epoch, size) IN"
            f" (SELECT table_id, epoch, max(size) FROM cosigned WHERE table_id IN ({marks(heard)}) GROUP BY 1, 2)",
            tuple(heard),
        )
        notes = {(table, epoch): read_note(text) for table, epoch, text in last.fetchall()}
        return {
            table: self._told(table, adopted.epoch, notes.get((table, adopted.epoch)), key, now_s)
            for table, adopted in heard.items()
        }

    def _told(self, table: str, epoch: str, note: Note | None, key: SigningKey, now_s: int) -> Cosigned:
        """Return the pit's answer about `note`, the last cosigned checkpoint of a journal. If only a former key of the
        pit cosigned the note, cosign it with `key` first."""
        if note is None:
            return Cosigned(epoch, 0, "")
        if note.cosigned_at_s(PIT_WITNESS, key.public) is None:
            note = _cosigned(note, key, now_s)
            at = (str(note), table, epoch, _point(note).size)
            self._db.execute("UPDATE cosigned SET note = ? WHERE table_id = ? AND epoch = ? AND size = ?", at)
        return _told(epoch, note)

    def judge(self, table: str, payload: bytes, adopted: Adoption, key: SigningKey, now_s: int) -> Judged:
        """Cosign the checkpoint in the table's message, or refuse it and return the reason. `adopted` is the table's
        adopted epoch and its key."""
        shown = ShownCheckpoint.read(parse_object(payload))
        read = None if shown is None else shown.read_note()
        if shown is None or read is None:
            return Judged(None, _refused(table, "checkpoint_malformed", "is no checkpoint of the contract"))
        note, point = read
        origin = f"{table}/{adopted.epoch}"
        if point.origin != origin:
            return Judged(None, _refused(table, "checkpoint_of_another_epoch", "is of a journal that is not adopted"))
        if not note.signed_by(origin, adopted.public_key):
            return Judged(None, _refused(table, "checkpoint_forged", "is not signed by the table's adopted key"))
        note = replace(note, signatures=tuple(each for each in note.signatures if each[0] == origin))
        kept = self.last(table, adopted.epoch)
        before = None if kept is None else _point(kept)
        answer = self._told(table, adopted.epoch, kept, key, now_s)
        if before is not None and point.size < before.size:
            why = f"has {point.size} rows, and one of {before.size} was cosigned before"
            return Judged(replace(answer, refused="smaller"), _refused(table, "checkpoint_smaller", why))
        if before == point:
            return Judged(answer)
        if kept is not None and before is not None and (point.size == before.size or shown.old == before.size):
            if not shown.extends(before, point):
                return self._forked(table, adopted.epoch, answer, kept, note)
        elif not shown.extends(before, point):
            return Judged(replace(answer, refused="not_from_last"))
        seen = _cosigned(note, key, now_s)
        self._keep(table, adopted.epoch, point.size, seen, shown)
        return Judged(_told(adopted.epoch, seen))

    def forked(self, table: str, epoch: str) -> bool:
        """Return True if this journal has an open fork: a checkpoint that the table showed, and that no proof has
        joined to the cosigned checkpoint yet."""
        return bool(self._not_joined(table, epoch))

    def _not_joined(self, table: str, epoch: str) -> list[Fork]:
        its = "SELECT table_id, epoch, cosigned, shown FROM fork WHERE table_id = ? AND epoch = ?"
        kept = self._db.execute(its, (table, epoch)).fetchall()
        return [fork for fork in (_as_known_now(self._db, of_row(Fork, row)) for row in kept) if not fork.joined]

    def set_aside(self, table: str, epoch: str, set_aside_as: str) -> None:
        """Rename a journal's epoch to `set_aside_as` in its cosigned checkpoints and its forks, because the journal's
        adoption was taken back."""
        for kind in ("cosigned", "fork"):
            self._db.execute(
                f"UPDATE {kind} SET epoch = ? WHERE table_id = ? AND epoch = ?", (set_aside_as, table, epoch)
            )

    def _keep(self, table: str, epoch: str, size: int, note: Note, shown: ShownCheckpoint) -> None:
        self._db.execute(
            "INSERT INTO cosigned (table_id, epoch, after_event, size, note, old, proof)"
            " SELECT ?, ?, coalesce(max(number), 0), ?, ?, ?, ? FROM event",
            (table, epoch, size, str(note), shown.old, json.dumps(shown.proof)),
        )

    def _forked(self, table: str, epoch: str, answer: Cosigned, kept: Note, shown: Note) -> Judged:
        """Keep two notes as a fork, because no proof joins them: the note that the pit cosigned (`kept`), and the note
        that the table showed (`shown`). The same two notes are kept once, and only while the journal has few open
        forks. Returns the outcome, with an alarm for people."""
        new, before = Fork(table, epoch, str(kept), str(shown)), self._not_joined(table, epoch)
        if sum(fork.is_proof == new.is_proof for fork in before) < _MOST_FORKS:
            self._db.execute(
                "INSERT INTO fork (table_id, epoch, after_event, cosigned, shown)"
                " SELECT ?, ?, coalesce(max(number), 0), ?, ? FROM event WHERE true ON CONFLICT DO NOTHING",
                (table, epoch, new.cosigned, new.shown),
            )
        one, other = _point(kept).size, _point(shown).size
        came = f"A checkpoint of {one} rows of the journal {table}/{epoch} was cosigned. Then"
        alarm = RefusedError(
            "checkpoint_forked",
            f"{came} table {table} signed another of as many rows: these are two histories."
            if new.is_proof
            else f"{came} one of {other} rows came that table {table} signed, and its proof does not join them: there"
            " are two histories, or the proof was spoiled on its way.",
            ("" if new.is_proof else _LOOK_FIRST) + _STOP,
        )
        return Judged(replace(answer, refused="forked"), alarm, not before)


def _point(note: Note | None) -> Checkpoint:
    point = None if note is None else note.checkpoint()
    assert point is not None, "the ledger keeps notes of checkpoints alone"
    return point


def _cosigned(note: Note, key: SigningKey, now_s: int) -> Note:
    """Return the note with the pit's cosignature, dated `now_s`, in the place of any earlier cosignature of the pit."""
    own = replace(note, signatures=tuple(each for each in note.signatures if each[0] != PIT_WITNESS))
    return own.cosigned(PIT_WITNESS, key, key.public, now_s)


def _told(epoch: str, note: Note) -> Cosigned:
    line = next(line for name, line in note.signatures if name == PIT_WITNESS)
    return Cosigned(epoch, _point(note).size, base64.b64encode(line).decode())


def _refused(table: str, code: str, why: str) -> RefusedError:
    do = {
        "checkpoint_smaller": "The table's journal was put back from an older copy, or somebody repeats an older"
        " message. Look at the table: where it says so too, begin a new journal there (`tablectl new-journal`).",
        "checkpoint_of_another_epoch": "Adopt the table's new journal, or find out which machine speaks for the table.",
    }.get(code, "Find out who publishes there: only the table may. Check the broker's access list.")
    return RefusedError(code, f"A checkpoint that came for table {table} {why}.", do)
