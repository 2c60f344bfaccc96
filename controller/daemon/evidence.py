"""Makes the evidence of one round: a file with which a stranger can check the round without this program (with
`tools/verify.py`).

The file shows the journal's rows about the round, and proves that each is in the Merkle tree of a checkpoint that the
table has signed. Every other row stays closed: the file has at most a salted hash of it. Three kinds of rows about the
round stay closed too: a row that reveals a card which nobody saw, a row that is about another round as well, and the
row that opened the shoe if it reveals an earlier card. Without that opening row the file does not hold the game's
rules, and `tools/verify.py` says so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from msgspec import Struct

from controller.basics.errors import TableError
from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import GENESIS
from controller.contract.merkle import edge_of, opening_proof
from controller.contract.note import Checkpoint, Note, read_frame, read_note
from controller.daemon.record.checkpoints import kept_note
from controller.daemon.record.fact_json import fact_from_json
from controller.daemon.record.journal_form import form_of, whose_journal
from controller.daemon.record.journal_reading import archived_rows, chained, kept_rows, reading
from controller.daemon.record.journal_rows import Row
from controller.daemon.record.stored_row import StoredRow, stamped
from controller.daemon.record.tree import Tree
from controller.daemon.round_record import round_named, round_steps, seen_at_end, tells_card
from controller.table.acts.pit import PitKeyPinned
from controller.table.facts import AwardStepped, PitKeyRotated, ShoeOpened, StepFailed

_FORM = 1


class _Opened(Struct, frozen=True):
    """A row of the journal that the evidence shows in full. `before` is the head of the journal's hash chain before
    this row."""

    stored: StoredRow
    before: bytes

    def row(self) -> Row:
        stored = self.stored
        fact = fact_from_json(stored.fact)
        return Row(stored.number, stored.stamp, fact, stored.messages, self.before, stored.first_seq, stored.via)

    def told(self, leaf: int) -> dict[str, object]:
        """Return the row as a JSON object for the evidence file. `leaf` is the row's place in the Merkle tree. The key
        `came` holds the row's fact, its time and its source, as the same text from which the hash chain was computed.
        """
        stored = self.stored
        return {
            "leaf": leaf,
            "before": self.before.hex(),
            "salt": stored.salt.hex(),
            "came": stamped(stored.stamp, stored.via, stored.fact).decode(),
            "messages": [body.decode() for body in stored.messages],
        }


def evidence(path: Path, which: str, archive: Path | None = None, *folders: Path, frame: str | None = None) -> bytes:
    """Return the evidence file of the round `which`, such as "3/12", made from the journal at `path`. The journal is
    only read, so the table may run meanwhile.

    `archive` is the one folder in which the journal's archives are looked for. Without it, they are looked for where
    the journal says, in `folders` and beside the journal. `frame` is the text of a checkpoint that somebody filmed, or
    that witnesses signed as well: the file then proves the rows against that checkpoint. Raises TableError
    `no_such_round`, `journal_without_tree`, `round_before_tree`, `checkpoint_due`, `frame_unreadable`, `frame_foreign`,
    `frame_uncovered` or `frame_unfit`, or an error for a damaged or missing journal or archive.
    """
    shoe, _ = round_named(which)
    with reading(path) as db:
        if form_of(db) < 3:
            do = "Start the table with this version once: it gives the journal its tree."
            raise TableError("journal_without_tree", f"An earlier version wrote the journal {path}.", do)
        stored = chain(archived_rows(db, path, archive, *folders), kept_rows(db, 1))
        of_shoe, key_row = _of_shoe((_Opened(*each) for each in chained(path, stored, GENESIS, 1)), shoe)
        places = _places(of_shoe, which)
        opened = {row: of_shoe[row] for row in places} | ({} if key_row is None else {key_row.stored.number: key_row})
        tree = Tree(db, *([archive] if archive else folders))
        if min(opened) < tree.first_row:
            opened = {row: each for row, each in opened.items() if row in places or row >= tree.first_row}
        return _bundle(db, path, tree, opened, which, frame)


def _of_shoe(rows: Iterator[_Opened], shoe: int) -> tuple[dict[int, _Opened], _Opened | None]:
    """Return all rows from the one that opened the shoe onwards, by row number, and the journal's last row that pinned
    a key of the pit (None if no row did)."""
    found: dict[int, _Opened] = {}
    key_row: _Opened | None = None
    for each in rows:
        if each.stored.kind in (PitKeyPinned.__name__, PitKeyRotated.__name__):
            key_row = each
        opens = each.stored.kind == ShoeOpened.__name__ and any(
            (says := parse_object(body)).get("type") == "shoe_opened" and says.get("shoe") == shoe
            for body in each.stored.messages
        )
        if found or opens:
            found[each.stored.number] = each
    return found, key_row


def _places(of_shoe: dict[int, _Opened], which: str) -> list[int]:
    """Return the numbers of the journal rows that the evidence shows: the round's own rows, later rows about the round,
    and the row that opened the shoe.

    These rows are left out: a row that reveals a card which nobody saw, a row that is about another round as well, a
    row at which the program failed, and the row that opened the shoe if it reveals an earlier card.
    """
    shoe, number = round_named(which)
    rows = {row: each.row() for row, each in of_shoe.items()}
    steps, corrections = round_steps(rows.values(), which)
    seen = seen_at_end(steps)
    of_round = [step.row for step in steps if not step.failed and not step.hides(seen) and _of_round(step.row, number)]
    later = [row for row in rows.values() if isinstance(row.fact, AwardStepped) and _is_about(row.fact, shoe, number)]
    opening = [row for row in [next(iter(rows.values()))] if not _carries_cards(row)]
    return sorted({row.number for row in (*opening, *of_round, *corrections, *later)})


def _of_round(row: Row, number: int) -> bool:
    """Return True if the row names no other round than `number`. A row that names no round at all counts too.

    Return False for the record of a failed step and for the row that opened the shoe.
    """
    others = [getattr(row.fact, "round", number), *(parse_object(body).get("round") for body in row.messages)]
    return all(other in (number, None) for other in others) and not isinstance(row.fact, StepFailed | ShoeOpened)


def _is_about(step: AwardStepped, shoe: int, number: int) -> bool:
    return (step.shoe, step.round) == (shoe, number)


def _carries_cards(opening: Row) -> bool:
    fact = opening.fact
    assert isinstance(fact, ShoeOpened), "a shoe begins with its opening"
    return bool(fact.carried) or (fact.last_report is not None and tells_card(fact.last_report.frame))


def _bundle(
    db: sqlite3.Connection, path: Path, tree: Tree, opened: dict[int, _Opened], which: str, frame: str | None
) -> bytes:
    shoe, number = round_named(which)
    leaves = {tree.place_of(row): each for row, each in sorted(opened.items())}
    if min(leaves) < 0:
        do = "`tablectl replay` shows the round, and `tablectl verify` checks the whole journal."
        raise TableError("round_before_tree", f"Round {which} is older than the journal's tree.", do)
    note, size = _covering(db, max(leaves) + 1) if frame is None else _filmed(db, path, tree, frame, max(leaves) + 1)
    _, _, key = whose_journal(db, path)
    return canonical(
        {
            "evidence": _FORM,
            "shoe": shoe,
            "round": number,
            "table_key": key.hex(),
            "checkpoint": str(note),
            "rows": [each.told(leaf) for leaf, each in leaves.items()],
            "proof": [each.hex() for each in opening_proof(leaves, size, tree.whole)],
        }
    )


def _filmed(db: sqlite3.Connection, path: Path, tree: Tree, frame: str, rows: int) -> tuple[Note, int]:
    """Parse `frame`, the text of a checkpoint that somebody filmed or copied. Return the checkpoint and the number of
    rows that it covers, which must be at least `rows`.

    Raises TableError if the checkpoint cannot be used. Only `frame_unfit` shows that the table signed another history.
    The other errors prove nothing, because the text may have been copied wrongly.
    """
    text = frame.strip("\n")
    note, last = read_frame(text) or read_note(f"{text}\n"), kept_note(db, "signed")
    point, newest = (None if each is None else each.checkpoint() for each in (note, last))
    if note is None or point is None:
        do = "Copy it again, each letter, space and line of it. This shows nothing of the table."
        raise TableError("frame_unreadable", "What was shown is no checkpoint, or was copied wrongly.", do)
    table, epoch, key = whose_journal(db, path)
    if point.origin != f"{table}/{epoch}" or not note.signed_by(point.origin, key):
        what = f"The checkpoint that was shown is not signed by the table as one of the journal {table}/{epoch}."
        do = "Take the journal that it names, and copy it again. This shows nothing of the table."
        raise TableError("frame_foreign", what, do)
    size = 0 if newest is None else newest.size
    if point.size <= size and edge_of(point.size, tree.whole).root() != point.root:
        what = f"The table signed a tree of {point.size} rows which is not this journal's."
        do = "Keep what was shown, and the journal. Together they prove that the table's key signed two histories."
        raise TableError("frame_unfit", what, do)
    if not rows <= point.size <= size:
        what = (
            f"The checkpoint that was shown has {point.size} rows. The round needs {rows}, and the table signed {size}."
        )
        do = "Take a checkpoint from after the round, and the whole journal. This shows nothing of the table."
        raise TableError("frame_uncovered", what, do)
    return note, point.size


def _covering(db: sqlite3.Connection, rows: int) -> tuple[Note, int]:
    """Return a checkpoint that covers at least the journal's first `rows` rows, and the number of rows that it covers.

    The last checkpoint that a witness has cosigned is preferred to the last one that the table signed. Raises
    TableError `checkpoint_due` if neither covers so many rows.
    """
    for kind in ("cosigned", "signed"):
        note = kept_note(db, kind)
        point: Checkpoint | None = None if note is None else note.checkpoint()
        if note is not None and point is not None and point.size >= rows:
            return note, point.size
    do = "The table signs one at the end of a round in which nothing is face down. Wait for it, and repeat the command."
    raise TableError("checkpoint_due", "No checkpoint of the journal covers the round yet.", do)
