"""Makes and checks a signed HTML page for printing. The page needs no other file, and the signature covers every byte
of it.

The page holds its content twice: as HTML, and as a JSON object. The signature is in the JSON object and covers all of
that object. The object has the digest of the rest of the page too, so a changed title, style or cell is found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from controller.basics.errors import TableError
from controller.contract.keys import SigningKey, signature_holds
from controller.contract.signing import signed

_BEGIN, _END = '<script type="application/json" id="report">', "</script>"

HELD = f"{_BEGIN}{_END}"
"""Where a page is to hold the JSON. Exactly one place of the page has it."""


def signed_page(page: str, content: Mapping[str, Any], key: SigningKey | None) -> str:
    """Return the HTML page `page` with `content` put into it as a JSON object, signed with `key`. If `key` is None, the
    page is not signed."""
    before, after = page.split(HELD)
    whole = {**content, "page_sha256": _digest(before, after)}
    if key is not None:
        whole = json.loads(signed({**whole, "public_key": key.public.hex()}, key))
    return f"{before}{_BEGIN}{_as_held(whole)}{_END}{after}"


def said_by(path: Path, written_by: str) -> dict[str, Any]:
    """Check the signature of the page at `path`, and return the JSON object that the page holds. Its field `public_key`
    is the signer's key, in hex.

    `written_by` is the command that writes such pages, for the error. Raises TableError `report_unreadable` if the file
    cannot be read or holds no signed page. Raises TableError `report_altered` if the signature is not valid, or if the
    rest of the page was changed.
    """
    try:
        before, _, rest = path.read_bytes().decode("utf-8").partition(_BEGIN)
        held, _, after = rest.partition(_END)
        said: dict[str, Any] = json.loads(held)
        key = bytes.fromhex(said["public_key"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        do = f"Name the page that `{written_by}` wrote."
        raise TableError("report_unreadable", f"{path} holds no signed report: {error}.", do) from None
    whole = said.get("page_sha256") == _digest(before, after) and held == _as_held(said)
    if not whole or not signature_holds(said, key):
        do = f"Somebody changed the page. Have it written again by `{written_by}`."
        raise TableError("report_altered", f"The signature of {path} does not hold.", do)
    return said


def _as_held(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")


def _digest(before: str, after: str) -> str:
    """Return the SHA-256 of a page without the JSON in it, in hex. `before` and `after` are the parts of the page
    around the JSON."""
    return hashlib.sha256(f"{before}{HELD}{after}".encode()).hexdigest()
