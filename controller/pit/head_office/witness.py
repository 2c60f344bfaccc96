"""Head office as a second witness of the tables' journals: it cosigns what only grew since it last cosigned.

A pit's statement has every checkpoint that the pit cosigned, as its table signed it, each with the proof that its tree
begins with the tree of the checkpoint before. So head office follows a journal from the checkpoint that it cosigned
last to the newest one. A house whose pit and tables lie together can no longer write a journal anew once head office
has heard of it: with head office's own copy there are two notes that the table's key signed, and they are the proof.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, convert, field

from controller.contract.bounds import EPOCH, TABLE
from controller.contract.note import Checkpoint, Note, read_note
from controller.contract.witnessing import ShownCheckpoint

HEAD_OFFICE = "head-office"
"""The name under which head office cosigns."""


class Witnessed(Struct):
    """What a statement shows of journals, each named by its origin `table/epoch`.

    `newest` are the notes that extend what head office has cosigned. `forks` are pairs of notes of one journal, both
    signed by its table, of which one does not begin with the other.
    """

    newest: dict[str, Note] = field(default_factory=dict)
    forks: list[tuple[str, str]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


class _Adopted(Struct, frozen=True):
    table: str
    epoch: str
    set_aside_as: str | None = None


class _Listed(Struct, frozen=True):
    """A checkpoint that the pit cosigned. `epoch` is the one under which the pit keeps the stream."""

    table: str
    epoch: str
    note: str
    old: int
    proof: list[str]


class _Stated(Struct, frozen=True):
    adoptions: list[_Adopted]
    checkpoints: list[_Listed] = []
    forks: list[tuple[str, str]] = []


def witnessed(
    stated: Mapping[str, object], keys: Mapping[tuple[str, str], bytes], before: Mapping[str, str]
) -> Witnessed:
    """Follow each journal of the statement. `keys` are by table and the epoch under which the pit keeps its stream;
    `before` are the notes that head office has cosigned last.

    Raises KeyError or ValueError where the statement cannot be read.
    """
    said, found = convert(stated, _Stated), Witnessed()
    chains: dict[str, list[list[Note]]] = {}
    for adopted in said.adoptions:
        if not (TABLE.fullmatch(adopted.table) and EPOCH.fullmatch(adopted.epoch)):
            raise ValueError(f"{adopted.table!r:.60} in {adopted.epoch!r:.60} is no journal")
        origin, stream = f"{adopted.table}/{adopted.epoch}", (adopted.table, adopted.set_aside_as or adopted.epoch)
        listed = [each for each in said.checkpoints if (each.table, each.epoch) == stream]
        chains.setdefault(origin, []).append(_chain(origin, keys[stream], listed, found))
    for cosigned, shown in said.forks:
        _told_of_a_fork(cosigned, shown, {f"{table}/{epoch}": key for (table, epoch), key in keys.items()}, found)
    for origin in sorted({*chains, *before}):
        known = None if origin not in before else read_note(before[origin])
        newest = _following(origin, chains.get(origin, []), known, found)
        if newest is not None:
            found.newest[origin] = newest
    return found


def _chain(origin: str, key: bytes, listed: list[_Listed], found: Witnessed) -> list[Note]:
    """The notes of a stream as far as each extends the one before."""
    chain: list[Note] = []
    before: Checkpoint | None = None
    for each in listed:
        shown = ShownCheckpoint.read({"note": each.note, "old": each.old, "proof": each.proof})
        read = None if shown is None else shown.read_note()
        if not (shown and read and read[1].origin == origin and read[0].signed_by(origin, key)):
            found.findings.append(f"a checkpoint of {origin} is not one that its table has signed")
            break
        note, point = read
        if not shown.extends(before, point):
            _fork(chain[-1] if chain else None, note, found)
            break
        chain.append(note)
        before = point
    return chain


def _following(origin: str, chains: list[list[Note]], known: Note | None, found: Witnessed) -> Note | None:
    """The newest note that extends the known one; None where there is none, which is a finding if one was known."""
    every = [note for chain in chains for note in chain]
    if known is None:
        return every[-1] if every else None
    for chain in chains:
        if any(note.text == known.text for note in chain):
            return chain[-1]
    point = known.checkpoint()
    assert point is not None, "head office remembers checkpoints alone"
    if other := next((note for note in every if _size(note) >= point.size), None):
        _fork(known, other, found)
    else:
        shown = max(map(_size, every), default=0)
        found.findings.append(
            f"{origin}: head office has cosigned a checkpoint of {point.size} rows, and the house shows {shown} at"
            " most: the journal is an older copy, or the log is"
        )
    return None


def _told_of_a_fork(cosigned: str, shown: str, keys: Mapping[str, bytes], found: Witnessed) -> None:
    notes = [read_note(each) for each in (cosigned, shown)]
    if not all(
        note is not None and (point := note.checkpoint()) and note.signed_by(point.origin, keys.get(point.origin, b""))
        for note in notes
    ):
        found.findings.append("the pit tells of a fork with notes that the table has not signed")
        return
    _fork(notes[0], notes[1], found)


def _fork(one: Note | None, other: Note | None, found: Witnessed) -> None:
    """Find that these notes of one journal contradict each other."""
    assert other is not None
    origin, size = other.text.split("\n")[:2]
    if one is None:
        found.findings.append(f"{origin}: no proof leads to the first checkpoint, of {size} rows")
        return
    found.forks.append((str(one), str(other)))
    found.findings.append(
        f"{origin} has two histories, or hides a part of one: a checkpoint of {_size(one)} rows was cosigned, and no"
        f" proof leads from it to the one of {size} rows. The table's key signed both: keep the two notes, and let"
        " nobody pay an award of this journal before two people have compared them with the film"
    )


def _size(note: Note) -> int:
    return int(note.text.split("\n")[1])
