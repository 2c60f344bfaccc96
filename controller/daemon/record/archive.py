"""Writes and reads archives. An archive is a file that holds some successive rows of a table's journal, compressed and
signed with the table's key.

The first line is the header, in JSON: whose rows these are, the numbers of the first and the last row, the journal's
chain heads before and after these rows, and the SHA-256 of the rest of the file. (A chain head is a salted hash over a
row and all rows before it.) The rest is compressed with xz, and has a line of JSON for each row: `tail -n +2 FILE | xz
-dc` shows the rows without this program. The archive does not hold the chain heads between its rows. A reader computes
them, and must arrive at the header's chain head after the last row.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import Stamp
from controller.contract.keys import signature_holds
from controller.contract.signing import Signer, signed
from controller.daemon.record.stored_row import StoredRow

_FORM = 1
# With a larger dictionary a shoe's rows pack no better, and the table needs more memory.
_XZ = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 20}]


class Run(Struct, frozen=True):
    """The range of successive journal rows in an archive: rows `first_row` to `last_row`, with messages `first_seq` to
    `last_seq`.

    If the rows have no messages, `last_seq` is `first_seq` - 1. `head_before` is the journal's chain head (a hash over
    all rows so far) before the first row, and `head_after` the one after the last row.
    """

    table: str
    epoch: str
    public_key: bytes
    first_row: int
    last_row: int
    first_seq: int
    last_seq: int
    head_before: bytes
    head_after: bytes

    @property
    def file_name(self) -> str:
        """Return the file name of the archive of these rows."""
        return f"{self.table}-{self.epoch}-{self.first_row:010d}-{self.last_row:010d}.archive"

    def header(self) -> dict[str, object]:
        """Return the header line of the archive as a dict, without the two values that are added later: the signature,
        and the SHA-256 of the rows."""
        return {
            "archive": _FORM,
            "table": self.table,
            "epoch": self.epoch,
            "public_key": self.public_key.hex(),
            "first_row": self.first_row,
            "last_row": self.last_row,
            "first_seq": self.first_seq,
            "last_seq": self.last_seq,
            "head_before": self.head_before.hex(),
            "head_after": self.head_after.hex(),
        }


def beside(journal: Path) -> Path:
    """Return the folder for a journal's archives that is used if the table's file names no folder. For the journal
    `table.db` it is `table.db.archive` in the same place."""
    return journal.with_name(journal.name + ".archive")


def write_archive(folder: Path, run: Run, rows: Sequence[StoredRow], signer: Signer) -> Path:
    """Write an archive with these rows, sync the file to the disk, read it back as a check, and return its path.

    If a power cut ended an earlier attempt, a file of the same name may exist. Such a file is never overwritten. If it
    holds exactly these rows, it is used. Raises OSError if the disk fails, TableError `archive_in_the_way` if the file
    holds other rows, and `archive_damaged` if the archive cannot be read back.
    """
    path = folder / run.file_name
    folder.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        _write_new(path, run, _sealed(run, rows, signer))
    elif not _holds(path, run, rows):
        raise TableError(
            "archive_in_the_way",
            f"The archive {path} is there already and does not hold the rows that this journal has.",
            "Keep that file for the audit in another folder: another copy of this journal wrote it, or it was altered.",
        )
    sync_folder(path)
    sync_folder(folder)
    if read_archive(path, run) != list(rows):
        raise _damaged(path, "read back, it does not hold what was written")
    return path


def read_archive(path: Path, run: Run) -> list[StoredRow]:
    """Read an archive and return its rows. The header, the signature, the chain of hashes and the numbers are checked,
    and the rows must be those that `run` names.

    Raises TableError `archive_missing`, `archive_unreadable` or `archive_damaged`.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise TableError(
            "archive_missing",
            f"The archive {path} is missing. Rows {run.first_row} to {run.last_row} of the journal are in that file.",
            "Bring that file back from its backup; `--archive FOLDER` names another folder where archives are.",
        ) from None
    except OSError as error:
        raise TableError(
            "archive_unreadable",
            f"The archive {path} cannot be read: {error.strerror}.",
            "Check its disk, and who may read that file.",
        ) from error
    header, _, packed = data.partition(b"\n")
    _check_header(path, header, packed, run)
    try:
        lines = lzma.decompress(packed, lzma.FORMAT_XZ).split(b"\n")
        rows = _chained([json.loads(line) for line in lines], run)
    except (lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(path, "its rows cannot be read") from error
    if len(rows) != 1 + run.last_row - run.first_row or rows[-1].head != run.head_after:
        raise _damaged(path, "its rows do not fit the chain")
    return rows


def _sealed(run: Run, rows: Sequence[StoredRow], signer: Signer) -> bytes:
    packed = lzma.compress(b"\n".join(map(_line, rows)), lzma.FORMAT_XZ, filters=_XZ)
    header = run.header() | {"rows_sha256": hashlib.sha256(packed).hexdigest()}
    return signed(header, signer) + b"\n" + packed


def _line(row: StoredRow) -> bytes:
    return canonical(
        {
            "row": row.number,
            "at_ms": row.stamp.at_ms,
            "clock_synchronised": row.stamp.synchronised,
            "boot_id": row.stamp.boot_id,
            "since_boot_ms": row.stamp.since_boot_ms,
            "via": row.via,
            "kind": row.kind,
            "fact": row.fact.decode(),
            "salt": row.salt.hex(),
            "messages": [body.decode() for body in row.messages],
        }
    )


def _check_header(path: Path, line: bytes, packed: bytes, run: Run) -> None:
    header = parse_object(line)
    if not signature_holds(header, run.public_key):
        raise _damaged(path, "its header is not one that this table's key signed")
    del header["signature"]
    digest = header.pop("rows_sha256", None)
    if header != run.header():
        raise _damaged(path, "it holds other rows than the journal says")
    if digest != hashlib.sha256(packed).hexdigest():
        raise _damaged(path, "its rows are not those that were signed")


def _chained(lines: list[dict[str, Any]], run: Run) -> list[StoredRow]:
    """Turn the lines of an archive into rows. For each row compute again what the line does not hold: the chain head (a
    hash over all rows so far) and the number of the row's first message."""
    rows: list[StoredRow] = []
    head, seq = run.head_before, run.first_seq
    for said in lines:
        messages = tuple(body.encode() for body in said["messages"])
        row = StoredRow(
            number=run.first_row + len(rows),
            stamp=Stamp(said["at_ms"], said["clock_synchronised"], said["boot_id"], said["since_boot_ms"]),
            via=said["via"],
            kind=said["kind"],
            fact=said["fact"].encode(),
            salt=bytes.fromhex(said["salt"]),
            head=b"",
            first_seq=seq if messages else 0,
            messages=messages,
        )
        head, seq = row.head_after(head), seq + len(messages)
        rows.append(replace(row, head=head))
    return rows


def _write_new(path: Path, run: Run, data: bytes) -> None:
    """Write `data` to a file with a temporary name, sync the file, and rename it to `path`. A file at `path` is
    therefore always complete."""
    half = path.with_name(f"{run.table}-{run.epoch}.archive.new")  # a power cut may have left one
    half.unlink(missing_ok=True)
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)  # so that it is read back from the disk
        half.rename(path)
    except OSError:
        with suppress(OSError):
            half.unlink(missing_ok=True)
        raise


def _holds(path: Path, run: Run, rows: Sequence[StoredRow]) -> bool:
    try:
        return read_archive(path, run) == list(rows)
    except TableError:
        return False


def _damaged(path: Path, why: str) -> TableError:
    return TableError(
        "archive_damaged",
        f"The archive {path} is damaged: {why}.",
        "Bring that file back from its backup, and keep the damaged one for the audit.",
    )
