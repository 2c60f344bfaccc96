"""Computes SHA-256 digests of the installed program and of a table's configuration. Equal files give equal digests on
every machine.

The program's digest is SHA-256 over a line for each file of the packages `controller` and `drivers`, in the order of
their names: `SHA-256-of-the-file  controller/daemon/app.py`. What Python writes itself (`__pycache__`) is left out. The
configuration's digest is over the values of the table's file and of its game's file. A third digest is over these two.
The digests reveal an accident, a forgotten change and a clumsy forgery. They are no defence against root, who can make
the program report a false digest.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from controller.basics.errors import TableError

_PACKAGES = ("controller", "drivers")


def program_digest(folder: Path = Path(__file__).parents[2]) -> str:
    """Return the SHA-256 digest of the program that is installed in `folder`, in hex."""
    return _sha256("".join(f"{_sha256_of(path)}  {name}\n" for name, path in _files(str(folder))))


def proof(nonce: str, folder: Path = Path(__file__).parents[2]) -> str:
    """Return a proof that the program's files are present: SHA-256 over the nonce and a line feed, followed by the
    bytes of every file of the program in `folder`, in hex.

    Nobody can compute the proof from the program's digest alone. The files' bytes are needed, because they are hashed
    after a nonce that nobody knew before.
    """
    whole = hashlib.sha256(f"{nonce}\n".encode())
    for _, path in _files(str(folder)):
        whole.update(Path(path).read_bytes())
    return whole.hexdigest()


def digest(program: str, configuration: str) -> str:
    """Return one digest for a program and its configuration together: SHA-256 over their two digests, in hex."""
    return _sha256(f"{program}\n{configuration}\n")


def check_approved(program: str, approved: Collection[str], named_in: str) -> None:
    """Raise TableError `program_not_approved` if the digest `program` is not among the approved ones. An empty
    `approved` allows every program. `named_in` tells people where the approved digests are listed, such as "[program]
    approved in the table's file"."""
    if approved and program not in approved:
        do = (
            f"Install the approved program again. Or have this program approved, and add its digest to {named_in}; keep"
            " the digest of the version before until the update is over."
        )
        what = f"This program is not approved, and does not run. Its digest is {program}."
        raise TableError("program_not_approved", what, do)


def is_digest(text: object) -> bool:
    """Tell whether `text` is a SHA-256 digest in the form used here: 64 hexadecimal digits, in small letters."""
    return isinstance(text, str) and re.fullmatch("[0-9a-f]{64}", text) is not None


def _files(folder: str) -> Iterator[tuple[str, str]]:
    """Return the name and the path of each file of the program, sorted by the bytes of the names.

    The program's start waits for this function. For that reason it does not use `Path`, which takes four times as long.
    """
    paths: list[str] = []
    for package in _PACKAGES:
        for parent, folders, names in os.walk(f"{folder}/{package}"):
            folders[:] = [name for name in folders if name != "__pycache__"]
            paths += [f"{parent}/{name}" for name in names]
    there = (path for path in sorted(paths, key=os.fsencode) if os.path.isfile(path))  # noqa: PTH113  # a start waits for this
    return ((path[len(folder) + 1 :], path) for path in there)


def _sha256_of(path: str) -> str:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123  # a start waits for this
        return hashlib.sha256(file.read()).hexdigest()


def _sha256(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()
