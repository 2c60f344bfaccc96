"""A checkpoint of a table's journal as a signed note, in the text forms of C2SP: signed-note, tlog-checkpoint and
tlog-cosignature.

A note is a text, an empty line, and a line for each signature. A checkpoint's text names the log (its *origin*), the
number of leaves in the log's Merkle tree, and the tree's root. The table signs the text. A witness signs the text
together with a time. This signature states that, until that time, the witness has seen no larger consistent tree of
this origin.

The id of a key depends on the type of signature too. So types other than Ed25519 can be added later.
"""

from __future__ import annotations

import base64
import re
import struct
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Struct

from controller.contract.signing import Signer

ED25519 = b"\x01"
"""The type of a note's own signature."""

COSIGNATURE = b"\x04"
"""The type of a witness's signature: its time, and Ed25519 over the time and the text."""

MOST_NOTE_BYTES = 8_000

_SIGNATURES = 16  # a note with so many must be read
_HASH_BYTES = 32
_NAME = re.compile(r"[^\s+]{1,200}")
_SIGNATURE = re.compile(r"— (\S{1,200}) ([A-Za-z0-9+/]+={0,2})")
_SIZE = re.compile(r"0|[1-9][0-9]{0,17}")


class Checkpoint(Struct, frozen=True):
    """The statement that the log `origin` has `size` entries, and that the Merkle tree over these entries has the hash
    `root`."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Return the checkpoint as the text that a table and its witnesses sign."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


class Note(Struct, frozen=True):
    """A text and its signatures. Each signature is a pair: the name of the signing key, and the bytes of the signature
    line, which begin with the key's id."""

    text: str
    signatures: tuple[tuple[str, bytes], ...]

    def __str__(self) -> str:
        lines = "".join(f"— {name} {base64.b64encode(line).decode()}\n" for name, line in self.signatures)
        return f"{self.text}\n{lines}"

    def framed(self) -> str:
        """Return the note's text and its first signature as a single line, which a screen shows to a camera. The
        function `read_frame` parses such a line."""
        return " ".join((*self.text.split(), base64.b64encode(self.signatures[0][1]).decode()))

    def checkpoint(self) -> Checkpoint | None:
        """Parse the note's text as a checkpoint. Returns None if the text is not a checkpoint."""
        match self.text.split("\n"):
            case [origin, size, root, ""] if _NAME.fullmatch(origin) and _SIZE.fullmatch(size):
                said = Checkpoint(origin, int(size), _unspelt(root) or b"")
                return said if len(said.root) == _HASH_BYTES and said.text() == self.text else None
            case _:
                return None

    def signed_by(self, name: str, key: bytes) -> bool:
        """Return True if the key with this name has signed the text, and if every signature of this key is valid."""
        own = key_id(name, ED25519, key)
        lines = [line[4:] for named, line in self.signatures if named == name and line[:4] == own]
        return bool(lines) and all(_holds(key, line, self.text.encode()) for line in lines)

    def cosigned_at_s(self, name: str, key: bytes) -> int | None:
        """Return the time at which a witness cosigned this note, in seconds since 1970. `name` and `key` identify the
        witness. Returns None if the note has no cosignature of the witness, or if any of them is not valid."""
        own = key_id(name, COSIGNATURE, key)
        lines = [line[4:] for named, line in self.signatures if named == name and line[:4] == own]
        if not lines or not all(len(line) == 72 and _holds(key, line[8:], self._seen(line[:8])) for line in lines):
            return None
        return int.from_bytes(lines[-1][:8], "big")

    def signed(self, name: str, signer: Signer, key: bytes) -> Note:
        """Return this note with one more signature, made by `signer`. `name` and `key` are the name and the public key
        of that signer."""
        line = key_id(name, ED25519, key) + signer.sign(self.text.encode())
        return Note(self.text, (*self.signatures, (name, line)))

    def cosigned(self, name: str, signer: Signer, key: bytes, at_s: int) -> Note:
        """Return this note with the cosignature of a witness. `name` and `key` are the witness's name and public key.
        `at_s` is the time of the cosignature, in seconds since 1970."""
        at = struct.pack(">Q", at_s)
        line = key_id(name, COSIGNATURE, key) + at + signer.sign(self._seen(at))
        return Note(self.text, (*self.signatures, (name, line)))

    def _seen(self, at: bytes) -> bytes:
        """Return the bytes that a witness signs: a heading, the time in `at`, and the note's text."""
        return f"cosignature/v1\ntime {int.from_bytes(at, 'big')}\n{self.text}".encode()


def key_id(name: str, type_: bytes, key: bytes) -> bytes:
    """Return the four bytes that identify a signing key in the signature lines of a note: a hash of the key's name, of
    the signature's type and of the public key."""
    return sha256(name.encode() + b"\n" + type_ + key).digest()[:4]


def read_note(text: str) -> Note | None:
    """Parse a signed note. Returns None if `text` is not a note, or is not spelt exactly as a note must be."""
    body, gap, rest = text.rpartition("\n\n")
    lines = rest.split("\n")
    if not gap or len(text) > MOST_NOTE_BYTES or lines.pop() or not 1 <= len(lines) <= _SIGNATURES:
        return None
    found = [(match[1], _unspelt(match[2])) for match in map(_SIGNATURE.fullmatch, lines) if match]
    signatures = tuple((name, line) for name, line in found if line is not None and len(line) > 4)
    note = Note(f"{body}\n", signatures)
    return note if len(signatures) == len(lines) and str(note) == text else None


def read_frame(frame: str) -> Note | None:
    """Parse a note from the single line that a table's screen shows (made by `Note.framed`). Returns None if the line
    is not of this form."""
    match frame.split(" "):
        case [origin, size, root, line]:
            return read_note(f"{origin}\n{size}\n{root}\n\n— {origin} {line}\n")
        case _:
            return None


def _unspelt(text: str) -> bytes | None:
    """Decode a Base64 text. Returns None if `text` is not Base64, or not the one standard spelling of its bytes."""
    try:
        value = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return value if base64.b64encode(value).decode() == text else None


def _holds(key: bytes, signature: bytes, text: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (ValueError, InvalidSignature):
        return False
    return True
