"""Finds the library files that were changed since they were installed. Each file is compared with the SHA-256 that was
listed at installation."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

_OURS = "table-controller"


def changed(prefix: Path = Path(sys.prefix)) -> list[str]:
    """Return the library files that are missing, or that differ from the files that were installed.

    If the program was installed as a Debian package, its list SHA256SUMS is used. That list also names the compiled
    Python files and the libraries for the pins.
    """
    if (listed := prefix / "SHA256SUMS").exists():
        lines = (line.split("  ", 1) for line in listed.read_text("utf-8").splitlines())
        return [file for digest, file in lines if _digest(prefix / file) != digest]
    return [
        f"{library.metadata['Name']}: {file}"
        for library in _needed(_OURS, set())
        for file in library.files or ()
        if file.hash is not None and file.hash.mode == "sha256" and _found(library, str(file)) != file.hash.value
    ]


def _found(library: Distribution, file: str) -> str | None:
    """Return the SHA-256 of a library's file as it is now, encoded as in the library's own list of files. Return None
    if the file cannot be read."""
    digest = _digest(Path(str(library.locate_file(file))))
    return digest and base64.urlsafe_b64encode(bytes.fromhex(digest)).rstrip(b"=").decode()


def _digest(file: Path) -> str | None:
    """Return the SHA-256 of the file as it is now, in hex, or None if the file cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def _needed(name: str, seen: set[str]) -> Iterator[Distribution]:
    """Yield the libraries that the library `name` requires, and the libraries that those require in turn. Optional
    requirements (extras) are left out."""
    try:
        needs = distribution(name).requires or []
    except PackageNotFoundError:  # a checkout that is not installed, or a requirement of another system
        return
    for need in needs:
        library = re.split(r"[^A-Za-z0-9._-]", need, maxsplit=1)[0].lower()
        if "extra ==" in need or library in seen:
            continue
        seen.add(library)
        try:
            yield distribution(library)
        except PackageNotFoundError:
            continue
        yield from _needed(library, seen)
