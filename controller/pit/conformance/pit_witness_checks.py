"""Conformance checks that a pit cosigns a table's journal that grew, and refuses a journal that shrank, was rewritten,
or comes without proof. A pit that does not cosign at all is allowed."""

from __future__ import annotations

import base64

from msgspec.structs import replace

from controller.contract.keys import signature_holds
from controller.contract.merkle import Edge, Whole, consistency_proof, edge_of, leaf_hash
from controller.contract.note import Checkpoint, Note
from controller.contract.pit_words import CosignedWord
from controller.contract.witnessing import PIT_WITNESS, ShownCheckpoint
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError, Checks
from controller.pit.conformance.deeds import NotTriedError
from controller.pit.conformance.far_table import FarTable
from controller.pit.conformance.pit_kit import PitKit

CHECKS: Checks[PitKit] = Checks()
_clause = CHECKS.clause


@_clause("P41")
def _cosigns_what_grew(kit: PitKit) -> None:
    table = _witnessed(kit)
    for old, size in ((0, 3), (3, 4), (4, 9)):
        _cosigns(kit, table, _note(table, size), old)
    forged = replace(_note(table, 12), signatures=_note(table, 11).signatures)
    table.wire.say(table.topics.checkpoint, ShownCheckpoint.of(forged, 9, _proof(9, 12)).payload())
    _cosigns(kit, table, _note(table, 10), 9)


@_clause("P42")
def _cosigns_one_history(kit: PitKit) -> None:
    table = _witnessed(kit)
    _cosigns(kit, table, _note(table, 5), 0)
    _refuses(kit, table)
    since = len(table.wire.heard)
    try:
        kit.restart(table)
    except NotTriedError as not_tried:
        raise NotTriedError(f"while the pit runs, the clause is kept; {not_tried}") from None
    _said(table, since, "its start")
    _refuses(kit, table)
    _cosigns(kit, table, _note(table, 9), 5)


def _refuses(kit: PitKit, table: FarTable) -> None:
    """Show the pit checkpoints that it must not cosign, after it has cosigned the first 5 rows of the table's journal.
    Each checkpoint has fewer rows, has other rows, or comes without a proof from row 5 on. Raises BrokenError unless
    the pit refuses each of them, with the right code."""
    for size, old, story, code in (
        (8, 0, b"", "not_from_last"),
        (4, 0, b"", "smaller"),
        (5, 0, b"another", "forked"),
        (9, 5, b"another", "forked"),
    ):
        word = _answer(kit, table, ShownCheckpoint.of(_note(table, size, story), old, _proof(old, size, story)))
        if (word.size, word.refused) != (5, code):
            what = f"The pit had cosigned 5 rows. To {size} rows from {old} on, {story.decode() or 'the same'} history,"
            raise BrokenError(f"{what} it said size {word.size} and {word.refused}, and should say 5 and {code}.")


def _witnessed(kit: PitKit) -> FarTable:
    """Return a new simulated table whose journal the pit is ready to cosign. The pit shows this by announcing that it
    has cosigned 0 rows of the journal. Raises NotTriedError if the pit does not cosign journals."""
    table = kit.new_table()
    if not table.wire.wait(lambda: bool(table.heard_on(table.topics.cosigned)), 3 * QUIET_S):
        raise NotTriedError("the pit says no `cosigned`: it is no witness of the tables' journals, and need not be one")
    word = _read(kit, table, 0)
    if (word.size, word.cosignature, word.refused) != (0, "", None):
        raise BrokenError(f"Before the first checkpoint the pit said that it has cosigned {word.size} rows.")
    return table


def _cosigns(kit: PitKit, table: FarTable, note: Note, old: int) -> None:
    """Show the pit a checkpoint of the table's journal, with the proof that the first `old` rows of the journal are
    unchanged. Raises BrokenError unless the pit cosigns the checkpoint."""
    point = note.checkpoint()
    assert point is not None, "the kit makes checkpoints"
    word = _answer(kit, table, ShownCheckpoint.of(note, old, _proof(old, point.size)))
    line = (PIT_WITNESS, base64.b64decode(word.cosignature))
    at_s = Note(note.text, (*note.signatures, line)).cosigned_at_s(PIT_WITNESS, kit.pit_key())
    if (word.size, word.refused) != (point.size, None) or at_s is None:
        raise BrokenError(
            f"A checkpoint of {point.size} rows, with the proof from {old}, was not cosigned: the pit said size"
            f" {word.size} and {word.refused}, and its cosignature {'holds' if at_s else 'does not hold'}."
        )


def _answer(kit: PitKit, table: FarTable, shown: ShownCheckpoint) -> CosignedWord:
    since = len(table.wire.heard)
    table.wire.say(table.topics.checkpoint, shown.payload())
    _said(table, since, "a checkpoint")
    return _read(kit, table, since)


def _said(table: FarTable, since: int, what: str) -> None:
    if not table.wire.wait(lambda: bool(table.heard_on(table.topics.cosigned, since)), ANSWERS_WITHIN_S):
        raise BrokenError(f"The pit did not say what it has cosigned after {what}.")


def _read(kit: PitKit, table: FarTable, since: int) -> CosignedWord:
    message = table.heard_on(table.topics.cosigned, since)[0].message
    word = CosignedWord.read(message)
    if word is None or not signature_holds(message, kit.pit_key()) or word.epoch != table.epoch:
        raise BrokenError(f"The pit's word is not as cosigned.schema.json says, or not the pit's: {message}")
    return word


def _whole(story: bytes) -> Whole:
    """Return a function that computes any node of the Merkle tree over the rows of a made-up journal. `story` chooses
    the rows: two journals with different `story` values have the same first three rows, and differ in all later rows.
    """

    def whole(level: int, place: int) -> bytes:
        edge = Edge()
        for row in range(place << level, (place + 1) << level):
            edge, _ = edge.grown(leaf_hash(b"%s %d" % (story if row > 2 else b"", row)))
        return edge.root()

    return whole


def _note(table: FarTable, size: int, story: bytes = b"") -> Note:
    origin = f"{table.table}/{table.epoch}"
    text = Checkpoint(origin, size, edge_of(size, _whole(story)).root()).text()
    return Note(text, ()).signed(origin, table.key, table.key.public)


def _proof(old: int, size: int, story: bytes = b"") -> list[bytes]:
    return consistency_proof(old, size, _whole(story)) if old else []
