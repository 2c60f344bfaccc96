"""Checks the report of a table's setup: if any single byte of the page was changed, it is refused. No table is started
here."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from controller.basics.errors import TableError
from controller.contract.keys import load_or_make_key
from controller.daemon.config import load
from controller.people.cli.setup.report import made_report, page, verified
from tests.deploy.clean_debian import ROOT

_SAMPLE = 300


def signed_page(folder: Path) -> tuple[Path, bytes]:
    key = folder / "key"
    load_or_make_key(key)
    report = made_report(load(ROOT / "config" / "tables" / "royal9.toml"), "Nguyễn", {"shoe": "found"}, None, ())
    path = folder / "report.html"
    path.write_text(page(report, key), "utf-8")
    return path, path.read_bytes()


def _accepted(path: Path, good: bytes, place: int, bit: int) -> bool:
    path.write_bytes(good[:place] + bytes([good[place] ^ bit]) + good[place + 1 :])
    try:
        verified(path)
    except TableError as error:
        return error.code not in ("report_altered", "report_unreadable")
    return True


def test_a_page_with_one_byte_changed_is_refused(tmp_path: Path) -> None:
    """A setup report with one changed byte is refused.

    The test changes a bit in each letter of the signature, each bit at its end (Base64 leaves the last bits unused),
    and a sample of the other bytes.
    """
    path, good = signed_page(tmp_path)
    assert verified(path).by == "Nguyễn"
    begin = good.index(b'"signature": "') + len(b'"signature": "')
    signature = range(begin, good.index(b'"', begin))
    assert len(signature) == 88
    places = {*random.Random(11).sample(range(len(good)), _SAMPLE)}
    accepted = [place for place in places if _accepted(path, good, place, 1)]
    bits = {place: range(8) if place >= signature[-4] else [place % 8] for place in signature}
    accepted += [place for place in signature for bit in bits[place] if _accepted(path, good, place, 1 << bit)]
    assert not accepted


@pytest.mark.proof
def test_a_page_with_any_bit_changed_is_refused(tmp_path: Path) -> None:
    path, good = signed_page(tmp_path)
    assert not [
        (place, bit) for place in range(len(good)) for bit in range(8) if _accepted(path, good, place, 1 << bit)
    ]
