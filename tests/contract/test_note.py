"""Compares the product's signed notes with a published note, and with the byte forms that C2SP's pages define, written
out by hand."""

from __future__ import annotations

import base64
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from controller.contract.keys import SigningKey
from controller.contract.note import ED25519, Checkpoint, Note, key_id, read_note
from tests.support import samples

_TABLE, _PIT, _OTHER = (SigningKey(bytes([number] * 32)) for number in (1, 2, 3))
_POINT = Checkpoint("table-7/a1b2c3d4e5", 20852163, sha256(b"root").digest())

# The example of golang.org/x/mod/sumdb/note, the form's first implementation.
_PUBLISHED = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
_PUBLISHED_KEY = base64.b64decode("ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")


def _note() -> Note:
    return Note(_POINT.text(), ()).signed(_POINT.origin, _TABLE, _TABLE.public)


def test_the_published_note_is_read_and_holds() -> None:
    note = read_note(_PUBLISHED)
    assert note is not None
    assert str(note) == _PUBLISHED
    assert key_id("PeterNeumann", ED25519, _PUBLISHED_KEY[1:]).hex() == "c74f20a3"
    assert note.signed_by("PeterNeumann", _PUBLISHED_KEY[1:])
    assert not note.signed_by("PeterNeumann", _TABLE.public)
    assert note.checkpoint() is None


def test_a_checkpoint_and_its_cosignature_are_the_bytes_of_the_specification() -> None:
    text = str(_note().cosigned("pit", _PIT, _PIT.public, 1764111600))
    body, _, signatures = text.partition("\n\n")
    assert body.split("\n") == ["table-7/a1b2c3d4e5", "20852163", base64.b64encode(sha256(b"root").digest()).decode()]
    own, seen, end = signatures.split("\n")
    assert end == ""
    dash, name, line = own.split(" ")
    assert (dash, name) == ("\u2014", "table-7/a1b2c3d4e5")
    raw = base64.b64decode(line)
    assert raw[:4] == sha256(b"table-7/a1b2c3d4e5\n\x01" + _TABLE.public).digest()[:4]
    Ed25519PublicKey.from_public_bytes(_TABLE.public).verify(raw[4:], f"{body}\n".encode())
    raw = base64.b64decode(seen.split(" ")[2])
    assert raw[:4] == sha256(b"pit\n\x04" + _PIT.public).digest()[:4]
    assert raw[4:12] == (1764111600).to_bytes(8, "big")
    signed = f"cosignature/v1\ntime 1764111600\n{body}\n".encode()
    Ed25519PublicKey.from_public_bytes(_PIT.public).verify(raw[12:], signed)


def test_a_note_is_read_back_and_names_who_signed_it() -> None:
    note = read_note(str(_note().cosigned("pit", _PIT, _PIT.public, 1764111600)))
    assert note is not None
    assert note.checkpoint() == _POINT
    assert note.signed_by(_POINT.origin, _TABLE.public)
    assert note.cosigned_at_s("pit", _PIT.public) == 1764111600
    assert note.cosigned_at_s("pit", _OTHER.public) is None
    assert note.cosigned_at_s(_POINT.origin, _TABLE.public) is None, "the table is no witness of itself"
    assert not note.signed_by("pit", _PIT.public), "a cosignature is no signature of the log"


def test_no_byte_of_a_note_can_be_changed() -> None:
    good = str(_note().cosigned("pit", _PIT, _PIT.public, 1764111600)).encode()
    for place in range(len(good)):
        for bit in range(8) if samples.at_length else (place % 8,):
            changed = good[:place] + bytes([good[place] ^ 1 << bit]) + good[place + 1 :]
            note = read_note(changed.decode("utf-8", "replace"))
            assert (
                note is None
                or not note.signed_by(_POINT.origin, _TABLE.public)
                or note.cosigned_at_s("pit", _PIT.public) is None
            ), (place, bit)


def test_what_is_no_checkpoint_says_nothing() -> None:
    root = base64.b64encode(_POINT.root).decode()
    for text in (
        f"a table/x\n1\n{root}\n",
        f"a+b\n1\n{root}\n",
        f"table-7/x\n01\n{root}\n",
        f"table-7/x\n-1\n{root}\n",
        f"table-7/x\n1\n{root[:-4]}\n",
        f"table-7/x\n1\n{root}\nmore\n",
        f"table-7/x\n1\n{root}",
        "\n",
    ):
        assert Note(text, ()).checkpoint() is None, text


def test_a_line_of_a_known_key_that_fails_spoils_the_note_and_an_unknown_key_does_not() -> None:
    good = _note().signed("stranger", _OTHER, _OTHER.public)
    assert good.signed_by(_POINT.origin, _TABLE.public)
    spoilt = Note(good.text, (*good.signatures, (good.signatures[0][0], good.signatures[0][1][:4] + bytes(64))))
    assert not spoilt.signed_by(_POINT.origin, _TABLE.public)
    many = Note(good.text, good.signatures[:1] * 16)
    assert read_note(str(many)) == many
    assert read_note(str(Note(good.text, good.signatures[:1] * 17))) is None
