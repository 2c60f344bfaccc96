"""The Ed25519 signing keys of tables and pits. A key is made once and kept in a file that only its own user can read.

A table's key lies beside its journal, and the pit's key lies beside its ledger. The pit's key may be rotated: the
former key signs the new key. The file `KEY.rotations` keeps these signatures for tables that know the former key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import to_builtins

from controller.basics.disk import sync_folder
from controller.basics.errors import TableError
from controller.contract.bounds import MOST_ROTATIONS
from controller.contract.canonical import canonical
from controller.contract.pit_words import Rotation
from controller.contract.signing import signed_part

_SIZE = 32


class SigningKey:
    """An Ed25519 signing key of a table or a pit. `public` is the public key, 32 bytes, with which others check its
    signatures."""

    def __init__(self, private: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.public = self._key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """Return the Ed25519 signature of `data`, 64 bytes."""
        return self._key.sign(data)


def signature_holds(message: Mapping[str, object], public_key: bytes) -> bool:
    """Tell whether the message has a valid signature of the key `public_key`. The signature is Ed25519 over the
    message's canonical JSON without the field `signature`."""
    try:
        signature, unsigned = signed_part(message)
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, unsigned)
    except (ValueError, RecursionError, InvalidSignature):
        return False
    return True


def load_or_make_key(path: Path) -> SigningKey:
    """Load the signing key from the file at `path`, 32 raw bytes. If there is no such file, make a new key and write it
    to `path`.

    Raises TableError `signing_key_unusable` if the file is not a key, is open to other users, or cannot be read or
    made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_whole(path, os.urandom(_SIZE))
        private = path.read_bytes()
        open_to_others = path.stat().st_mode & 0o077
    except OSError as error:
        raise _unusable(path, error) from error
    if len(private) != _SIZE or open_to_others:
        wrong = "can be read by others" if open_to_others else f"is not {_SIZE} bytes long"
        raise TableError(
            "signing_key_unusable",
            f"The signing key {path} {wrong}.",
            "Restore the key with mode 600. Without it, a table starts a new journal with a new key, which the pit must"
            " adopt; a pit makes a new key, which a person must pin at each table (`tablectl pit-key`).",
        )
    return SigningKey(private)


def rotations_of(path: Path, public_key: bytes) -> tuple[Rotation, ...]:
    """Return the key rotations that led to the present key in the file at `path`, the oldest first. In each rotation a
    former key signed its successor. `public_key` is the public half of the present key.

    Raises TableError `signing_key_unusable` if the file of rotations beside the key cannot be read.
    """
    beside = _rotations_file(path)
    try:
        listed = json.loads(beside.read_bytes())["rotations"] if beside.exists() else []
        rotations = [rotation for each in listed if (rotation := Rotation.read(each)) is not None]
    except OSError as error:
        raise _unusable(beside, error) from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise TableError(
            "signing_key_unusable",
            f"The file {beside} tells no rotations.",
            "Restore that file with the key. Or remove it: then people pin the key at tables that missed a rotation.",
        ) from None
    while rotations and rotations[-1].public_key != public_key.hex():
        rotations.pop()  # it was begun, and its key never came to be
    return tuple(rotations)


def rotate_key(path: Path) -> SigningKey:
    """Replace the signing key in the file at `path` by a new key, and return the new key. The former key signs the new
    key, and is then deleted.

    Raises TableError `signing_key_unusable` if the key or its file of rotations cannot be read or written.
    """
    former = load_or_make_key(path)
    private = os.urandom(_SIZE)
    key = SigningKey(private)
    rotation = Rotation.by(former.public.hex(), former, key.public.hex())
    rotations = (*rotations_of(path, former.public), rotation)[-MOST_ROTATIONS:]
    try:
        # The rotation is written first. After a power cut in between, it names a key that never came to be.
        write_whole(_rotations_file(path), canonical({"rotations": [to_builtins(each) for each in rotations]}))
        write_whole(path, private)
    except OSError as error:
        raise _unusable(path, error) from error
    return key


def _rotations_file(path: Path) -> Path:
    return path.with_name(path.name + ".rotations")


def _unusable(path: Path, error: OSError) -> TableError:
    return TableError(
        "signing_key_unusable",
        f"The signing key {path} cannot be read or made: {error.strerror}.",
        "Give the file and its folder to the user the program runs as.",
    )


def write_whole(path: Path, content: bytes) -> None:
    """Write the file at `path` atomically, readable only by its owner, and sync it to the disk. Raises OSError."""
    half = path.with_name(path.name + ".new")
    half.unlink(missing_ok=True)
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    half.rename(path)
    sync_folder(path)  # its name too must survive: the journal, in another folder perhaps, names this key for ever


def for_owner(path: Path, folder: Path) -> None:
    """Change the owner and group of the file at `path` to those of `folder`. Does nothing unless the program runs as
    root. Raises OSError."""
    if os.geteuid() == 0:
        of = folder.stat()
        os.chown(path, of.st_uid, of.st_gid)
