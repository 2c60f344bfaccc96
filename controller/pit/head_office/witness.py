"""Head office as a second witness of the tables' journals: it cosigns a journal's checkpoint only if rows were at most
added since the last cosigned checkpoint, and none was rewritten.

A pit's statement lists every checkpoint that the pit cosigned, as the table signed it. Each has a proof that its tree
begins with the tree of the checkpoint before. Head office follows a journal from the checkpoint that it cosigned last
to the newest one. Even a pit and tables that conspire cannot rewrite a journal after that unnoticed, because the same
key then signed two histories: one in head office's own copy, and one in the new note. Two different notes that name the
same number of rows prove that there are two histories. Two notes that name different numbers of rows prove nothing
alone: the table must show the proof between them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, convert, field
from msgspec.structs import replace

from controller.contract.bounds import EPOCH, TABLE
from controller.contract.fingerprint import fingerprint
from controller.contract.note import Checkpoint, Note, read_note
from controller.contract.witnessing import PIT_WITNESS, ShownCheckpoint

HEAD_OFFICE = "head-office"
"""The name under which head office cosigns."""

_MOST_LINE_BYTES = 76  # a cosignature: its key's id, the time, and Ed25519


class Witnessed(Struct):
    """What head office found out about the journals in a pit's statement. Each journal is named by its origin
    `table/epoch`.

    `newest` are the notes that extend what head office has cosigned. `forks` are pairs of notes of one journal that one
    key signed, although no proof leads from one note to the other. `alarms` may be harmless, but somebody must look at
    them.
    """

    newest: dict[str, Note] = field(default_factory=dict)
    forks: list[tuple[str, str]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)


class _Chain(Struct, frozen=True):
    """The checkpoint notes of one table's stream, all signed by `key`, in order. Each note is joined by a proof to the
    note before it. The list ends before the first note for which the proof fails."""

    key: bytes
    is_set_aside: bool
    notes: list[Note]

    def has(self, *notes: Note) -> bool:
        """Tell whether all the given notes are among the notes of this chain."""
        return {note.text for note in notes} <= {note.text for note in self.notes}


class _Adopted(Struct, frozen=True):
    table: str
    epoch: str
    set_aside_as: str | None = None


class _Listed(Struct, frozen=True):
    """One checkpoint that the pit cosigned, as the pit's statement lists it. `epoch` is the name under which the pit
    keeps the table's stream. `proof` shows that this checkpoint extends an earlier checkpoint, which had `old` journal
    rows."""

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
    """Check each journal of the statement from checkpoint to checkpoint. `keys` gives the public key of each stream, by
    the table and by the epoch under which the pit keeps the stream. `before` gives the notes that head office cosigned
    last, by the journal's origin.

    Raises KeyError or ValueError if the statement cannot be read.
    """
    said, found = convert(stated, _Stated), Witnessed()
    chains: dict[str, list[_Chain]] = {}
    for adopted in said.adoptions:
        if not (TABLE.fullmatch(adopted.table) and EPOCH.fullmatch(adopted.epoch)):
            raise ValueError(f"{adopted.table!r:.60} in {adopted.epoch!r:.60} is no journal")
        origin, stream = f"{adopted.table}/{adopted.epoch}", (adopted.table, adopted.set_aside_as or adopted.epoch)
        listed = [each for each in said.checkpoints if (each.table, each.epoch) == stream]
        chain = _Chain(keys[stream], adopted.set_aside_as is not None, _extending(origin, keys[stream], listed, found))
        chains.setdefault(origin, []).append(chain)
    for cosigned, shown in said.forks:
        _told_of_a_fork(read_note(cosigned), read_note(shown), chains, found)
    for origin in sorted({*chains, *before}):
        known = None if origin not in before else read_note(before[origin])
        newest = _following(origin, chains.get(origin, []), known, found)
        if newest is not None:
            found.newest[origin] = newest
    return found


def _extending(origin: str, key: bytes, listed: list[_Listed], found: Witnessed) -> list[Note]:
    """Check the listed checkpoints of one stream in order. Return their notes up to the first one that the table did
    not sign, or that no proof joins to the note before it. Add a finding for that one."""
    chain: list[Note] = []
    before: Checkpoint | None = None
    for each in listed:
        shown = ShownCheckpoint.read({"note": each.note, "old": each.old, "proof": each.proof})
        read = None if shown is None else shown.read_note()
        note = None if read is None else _bare(read[0], origin)
        if not (shown and read and note and read[1].origin == origin and note.signed_by(origin, key)):
            found.findings.append(f"a checkpoint of {origin} is not one that its table has signed")
            break
        point = read[1]
        if shown.extends(before, point):
            chain.append(note)
            before = point
            continue
        if chain:
            _fork(chain[-1], note, key, found)
        else:
            found.findings.append(f"{origin}: no proof leads to the first checkpoint, of {point.size} rows")
        break
    return chain


def _bare(note: Note, origin: str) -> Note:
    """Return the note with one short signature line of the table and one of the pit at most. Without this a pit could
    add so many or such long lines that nobody could read the note once head office has added its own line."""
    own = {
        name: (name, line)
        for name, line in note.signatures
        if name in (origin, PIT_WITNESS) and len(line) <= _MOST_LINE_BYTES
    }
    return replace(note, signatures=tuple(own.values()))


def _following(origin: str, chains: list[_Chain], known: Note | None, found: Witnessed) -> Note | None:
    """Return the newest note of the stream that has `known`, the note that head office cosigned last. This can be
    `known` itself. If `known` is None, return the newest note of the last stream with notes. Only streams that people
    did not set aside count. Return None if no such note exists.

    If no stream at all has the given `known`, add a finding. Add an alarm instead if only a stream that was set aside
    has `known`, and another stream of the journal is in use.
    """
    holding = [chain for chain in chains if not chain.is_set_aside]
    if known is None:
        return next((chain.notes[-1] for chain in reversed(holding) if chain.notes), None)
    for chain in holding:
        if chain.has(known):
            return chain.notes[-1]
    if any(chain.has(known) for chain in chains):
        if holding:
            found.alarms.append(
                f"{origin} was set aside after {_size(known)} rows were cosigned: compare both, what was set aside and"
                " what the house adopted again. Head office cosigns no more of this journal until two people have"
                " removed the house from what it remembers"
            )
        return None
    of_its_key = [(note, chain.key) for chain in chains if known.signed_by(origin, chain.key) for note in chain.notes]
    for note, key in of_its_key:
        if _size(note) >= _size(known):
            _fork(known, note, key, found)
            return None
    shown = max((_size(note) for note, _ in of_its_key), default=0)
    found.findings.append(
        f"{origin}: head office has cosigned a checkpoint of {_size(known)} rows, and the house shows {shown} at most"
        " under the same key: the journal, the pit's ledger or the log is an older copy, or the key is another"
    )
    return None


def _told_of_a_fork(
    cosigned: Note | None, shown: Note | None, chains: Mapping[str, list[_Chain]], found: Witnessed
) -> None:
    """Check two notes that contradict each other according to the pit's statement.

    Nothing is wrong if proofs in the statement join the two notes. A stranger may have shown the pit a genuine newer
    note with a spoiled proof.
    """
    one, other = (None if note is None else note.checkpoint() for note in (cosigned, shown))
    if cosigned is None or shown is None or one is None or other is None:
        found.findings.append("the pit tells of a fork with notes that are no checkpoints")
        return
    if one.origin != other.origin or one == other:
        found.findings.append(f"{one.origin}: the pit tells of a fork that is none")
        return
    of_journal = chains.get(one.origin, [])
    signed = [chain for chain in of_journal if all(note.signed_by(one.origin, chain.key) for note in (cosigned, shown))]
    if not signed:
        found.findings.append("the pit tells of a fork with notes that the table has not signed")
    elif not any(chain.has(cosigned, shown) for chain in of_journal):
        _fork(cosigned, shown, signed[0].key, found)


def _fork(one: Note, other: Note, key: bytes, found: Witnessed) -> None:
    """Add a fork and a finding, because the key signed these two notes of one journal and no proof joins the notes."""
    origin, before, size = other.text.partition("\n")[0], _size(one), _size(other)
    found.forks.append((str(one), str(other)))
    if before == size:
        found.findings.append(
            f"{origin} has two histories: the key {fingerprint(key)} signed two checkpoints of {size} rows that differ."
            " The two notes are the proof: keep them, and let nobody pay an award of this journal before two people"
            " have compared them with the film"
        )
    else:
        found.findings.append(
            f"{origin} has two histories, or hides a part of one, or the pit's ledger was put back from an older copy:"
            f" a checkpoint of {before} rows was cosigned, and no proof leads from it to the one of {size} rows."
            f" The key {fingerprint(key)} signed both, and two notes of different sizes prove nothing alone. Keep them,"
            " and let nobody pay an award of this journal before the table has shown the proof between them, or two"
            " people have compared them with the film"
        )


def _size(note: Note) -> int:
    return int(note.text.split("\n")[1])
