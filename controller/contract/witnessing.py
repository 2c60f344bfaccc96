"""The message in which a table shows its pit a checkpoint of its journal. The message has a proof that the journal only
grew since the last cosigned checkpoint.

The pit cosigns a checkpoint only if the checkpoint extends everything that the pit has cosigned of this journal before.
So if a table has two histories, at most one of them is cosigned.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct, to_builtins

from controller.contract.bounds import MOST_SEQ, is_count
from controller.contract.canonical import canonical
from controller.contract.merkle import is_consistent
from controller.contract.note import MOST_NOTE_BYTES, Checkpoint, Note, read_note

PIT_WITNESS = "pit"
"""The name under which a pit cosigns."""

_MOST_HASHES = 100  # a proof in a tree of 2**63 leaves has fewer
_HASH_BYTES = 32


class ShownCheckpoint(Struct, frozen=True):
    """A checkpoint of a table's journal, as a signed note, and the proof that the journal's Merkle tree begins with the
    tree of its first `old` rows.

    The proof's hashes are in Base64. The note has the table's signature, so the message itself needs none.
    """

    note: str
    old: int
    proof: tuple[str, ...]

    @classmethod
    def of(cls, note: Note, old: int, proof: Sequence[bytes]) -> Self:
        """Make the message for the pit from a checkpoint's note, and from the proof that the journal still begins with
        its first `old` rows."""
        return cls(str(note), old, tuple(base64.b64encode(each).decode() for each in proof))

    def payload(self) -> bytes:
        """Return the bytes to publish."""
        return canonical(to_builtins(self))

    @classmethod
    def read(cls, message: Mapping[str, object]) -> Self | None:
        """Parse a received message that shows a checkpoint. Returns None if the message does not have this form."""
        match message:
            case {"note": str(note), "old": int(old), "proof": list(proof), **others} if (
                not others
                and len(note) <= MOST_NOTE_BYTES
                and is_count(old, 0, MOST_SEQ)
                and len(proof) <= _MOST_HASHES
                and all(map(_is_hash, proof))
            ):
                return cls(note, old, tuple(proof))
            case _:
                return None

    def read_note(self) -> tuple[Note, Checkpoint] | None:
        """Return the note and the checkpoint in it, or None if the message's note does not hold a checkpoint."""
        note = read_note(self.note)
        point = None if note is None else note.checkpoint()
        return None if note is None or point is None else (note, point)

    def extends(self, before: Checkpoint | None, point: Checkpoint) -> bool:
        """Return True if this message's proof shows that the journal at the checkpoint `point` begins with the journal
        at the earlier checkpoint `before`. If `before` is None, the proof must be empty."""
        hashes = [base64.b64decode(each) for each in self.proof]
        if before is None:
            return self.old == 0 and not hashes
        return self.old == before.size and is_consistent(before.size, before.root, point.size, point.root, hashes)


def _is_hash(text: object) -> bool:
    """Return True if the text is 32 bytes in the one standard Base64 spelling."""
    if not isinstance(text, str):
        return False
    try:
        value = base64.b64decode(text, validate=True)
    except ValueError:
        return False
    return len(value) == _HASH_BYTES and base64.b64encode(value).decode() == text
