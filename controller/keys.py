"""The table's own Ed25519 key: made once, kept beside the journal, read only by the table's user."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from controller.errors import TableError
from controller.journal_file import sync_folder

_SIZE = 32


class TableKey:
    """The table's signing key. `public` is its public half, 32 bytes, which the pit adopts with the epoch."""

    def __init__(self, private: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.public = self._key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """The signature of `data`, 64 bytes."""
        return self._key.sign(data)


def load_or_make_key(path: Path) -> TableKey:
    """The key in the file at `path`, 32 raw bytes; made there when there is none.

    Raises TableError `signing_key_unusable` when the file is not a key, is open to others, or cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_whole(path, os.urandom(_SIZE))
        private = path.read_bytes()
        open_to_others = path.stat().st_mode & 0o077
    except OSError as error:
        raise TableError(
            "signing_key_unusable",
            f"The signing key {path} cannot be read or made: {error.strerror}.",
            "Give the file and its folder to the user the table runs as.",
        ) from error
    if len(private) != _SIZE or open_to_others:
        wrong = "can be read by others" if open_to_others else f"is not {_SIZE} bytes long"
        raise TableError(
            "signing_key_unusable",
            f"The signing key {path} {wrong}.",
            "Restore the table's key with mode 600; without it, start a new journal with a new key.",
        )
    return TableKey(private)


def write_whole(path: Path, content: bytes) -> None:
    """Write the whole file or nothing, for its user alone, and have it on the disk. Raises OSError."""
    half = path.with_name(path.name + ".new")
    half.unlink(missing_ok=True)
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    half.rename(path)
    sync_folder(path)  # its name too must survive: the journal, in another folder perhaps, names this key for ever
