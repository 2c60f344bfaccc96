"""`tablectl new-journal`: set a table's old journal aside and let the table continue with a new one, because a person
has decided so."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from controller.basics.errors import TableError
from controller.contract.fingerprint import fingerprint
from controller.daemon.config import load
from controller.daemon.record.epochs import open_journal
from controller.daemon.record.journal_file import set_aside


def new_journal(table: Path, by: str) -> int:
    """Set the table's journal aside, begin a new journal in its place, and print the new epoch (the random name that
    each new journal gets), which the pit must adopt. `by` names the person who decides.

    Raises TableError `journal_in_use` if the table runs.
    """
    file = load(table).file
    path = Path(file.journal.path)
    try:
        aside = set_aside(Path(os.path.realpath(path)))
    except OSError as error:
        raise TableError(
            "journal_in_use",
            f"The journal {path} could not be set aside: {error}.",
            "Stop the table first, and run this command as the table's user.",
        ) from error
    key, journal = open_journal(path, Path(file.journal.signing_key), file.table.id, file.journal.archives, by)
    with closing(journal):
        if aside is not None:
            print(f"The old journal is kept as {aside}. Events that the pit does not have are in that file alone.")
        print(f"A new journal was begun at {path}. A person must adopt it at the pit:")
        print(f"  table {file.table.id}, epoch {journal.epoch}, public key {key.public.hex()}")
        print(f"Its fingerprint is {fingerprint(key.public)}. The pit must show the same.")
    return 0
