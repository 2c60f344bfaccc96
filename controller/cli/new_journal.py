"""`tablectl new-journal`: a person's word that a table goes on without the journal it had."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from controller.config import load
from controller.contract.fingerprint import fingerprint
from controller.errors import TableError
from controller.record.epochs import open_journal
from controller.record.journal_file import set_aside


def new_journal(table: Path, by: str) -> int:
    """Set aside what stands in the journal's place, begin a new journal there and print what the pit is to adopt.

    Raises TableError: `journal_in_use` where the table runs.
    """
    file = load(table).file
    path = Path(file.journal.path)
    try:
        aside = set_aside(Path(os.path.realpath(path)))
    except OSError as error:
        raise TableError(
            "journal_in_use",
            f"The journal {path} could not be set aside: {error}.",
            "Stop the table first, and run this as the user the table runs as.",
        ) from error
    archive = None if file.journal.archive is None else Path(file.journal.archive)
    key, journal = open_journal(path, Path(file.journal.signing_key), file.table.id, archive, by)
    with closing(journal):
        if aside is not None:
            print(f"The old journal is kept as {aside}: what the pit has not acknowledged stands there alone.")
        print(f"A new journal was begun at {path}. At the pit a person adopts it:")
        print(f"  table {file.table.id}, epoch {journal.epoch}, public key {key.public.hex()}")
        print(f"Its key is {fingerprint(key.public)}: the pit shows the same.")
    return 0
