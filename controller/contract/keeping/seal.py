"""Encrypts secrets with a passphrase, such as the private keys inside a backup. Such an encryption is called a seal.

Scrypt (RFC 7914) derives a key from the passphrase and a salt. ChaCha20-Poly1305 encrypts each secret with that key.
The cost of scrypt is fixed in this module and read from no file. So a crafted file cannot ask for more memory than the
64 MB that a seal needs.
"""

from __future__ import annotations

import getpass
import os
import stat
import sys
import unicodedata
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from controller.basics.errors import TableError

SALT_BYTES = 16
MOST_SEALED_BYTES = 1 << 16

_COST, _BLOCK, _TIMES = 1 << 16, 8, 2  # 64 MB for half a second: what a Pi of 1 GB can spare
_NONCE_BYTES = 12
_LEAST_LETTERS, _MOST_BYTES = 12, 1024


class Seal:
    """Encrypts and decrypts the secrets of one file with a passphrase. `salt` is stored in that file, and is not
    secret."""

    def __init__(self, passphrase: str, salt: bytes | None = None) -> None:
        self.salt = os.urandom(SALT_BYTES) if salt is None else salt
        derived = Scrypt(salt=self.salt, length=32, n=_COST, r=_BLOCK, p=_TIMES).derive(passphrase.encode())
        self._cipher = ChaCha20Poly1305(derived)

    def close(self, secret: bytes, about: str) -> bytes:
        """Encrypt a secret with the passphrase, and return the result. `about` describes the secret, and must be given
        again to decrypt it."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, about.encode())

    def open(self, sealed: bytes, about: str) -> bytes:
        """Decrypt a secret and return it. `about` is the description with which it was encrypted. Raises TableError
        `passphrase_wrong` if the secret cannot be decrypted with this passphrase."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about.encode())
        except (InvalidTag, ValueError):
            do = "Type it again, or name its file: --passphrase-file FILE. Nothing was changed."
            raise TableError("passphrase_wrong", "The passphrase does not open what it sealed.", do) from None


def new_passphrase(file: Path | None) -> str:
    """Ask for a new passphrase twice at the terminal. If `file` is given, read the passphrase from its first line
    instead.

    Raises TableError `passphrase_weak`, `passphrase_differs`, `passphrase_missing` (no terminal) or
    `passphrase_unreadable`.
    """
    passphrase = known_passphrase(file)
    if len(passphrase) < _LEAST_LETTERS:
        do = f"Take at least {_LEAST_LETTERS} letters, for example four words that nobody guesses."
        raise TableError("passphrase_weak", f"The passphrase has {len(passphrase)} letters.", do)
    if file is None and passphrase != _normal(getpass.getpass("The same passphrase again: ")):
        raise TableError("passphrase_differs", "The second passphrase is another one.", "Run the same command again.")
    return passphrase


def known_passphrase(file: Path | None) -> str:
    """Ask for an existing passphrase at the terminal. If `file` is given, read the passphrase from its first line
    instead.

    Raises TableError `passphrase_missing` if there is no terminal. Raises TableError `passphrase_unreadable` if the
    file cannot be read, if other users can read or write it, or if its first line is empty or too long.
    """
    if file is not None:
        return _in_file(file)
    if not sys.stdin.isatty():
        do = "Write it into a file that only you can read, and add --passphrase-file FILE."
        raise TableError("passphrase_missing", "There is no terminal at which to type a passphrase.", do)
    return _normal(getpass.getpass("Passphrase of the backup: "))


def _in_file(file: Path) -> str:
    do = f"Write the passphrase into its first line, and run: chmod 600 {file}"
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if stat.S_ISREG(mode) and mode & 0o077:
                raise TableError("passphrase_unreadable", f"Others can read or write the file {file}.", do)
            line = opened.readline(_MOST_BYTES + 1).rstrip(b"\r\n")
        passphrase = _normal(line.decode())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise TableError("passphrase_unreadable", f"The file {file} cannot be read: {why}.", do) from None
    if not passphrase or len(line) > _MOST_BYTES:
        what = f"The first line of {file} is empty or longer than {_MOST_BYTES} bytes."
        raise TableError("passphrase_unreadable", what, do)
    return passphrase


def _normal(typed: str) -> str:
    """Return the passphrase in Unicode NFC, because keyboards may type an accented letter as one or as two
    characters."""
    return unicodedata.normalize("NFC", typed)
