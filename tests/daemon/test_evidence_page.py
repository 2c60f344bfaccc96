"""Checks that the web page `tools/verify.html` judges evidence files as `tools/verify.py` does, with the same sentences
and refusals."""

from __future__ import annotations

import base64
import itertools
import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from controller.contract.fingerprint import fingerprint
from controller.contract.note import read_note
from controller.daemon.evidence import evidence
from tests.daemon.test_evidence import (
    HEAD_OFFICE,
    MISTYPED,
    PIT,
    VERIFY,
    Forger,
    beetek,
    changed,
    forger,
    refusal,
    resigned,
    royal9,
    sugarhouse,
    with_value,
    witnessed,
)
from tests.daemon.test_history import KEY
from tests.documents.blocks import ROOT
from tests.screen.browser import chromium, needs_a_browser
from tests.support import samples

__all__ = ["forger", "royal9", "sugarhouse"]  # fixtures

_PAGE = ROOT / "tools" / "verify.html"
_KEYS = fingerprint(KEY.public), fingerprint(PIT.public)
_JUDGES = """
const script = require("fs").readFileSync(process.argv[1], "utf-8").split("<script>")[1].split("</script>")[0];
const done = new Map();  // files of one table repeat its rows: what was computed of one is not computed again
const remembering = (work) => (...of) => {
  const sum = require("crypto").createHash("sha1");
  of.forEach((each) => sum.update(each.bits ? `${each.bits}` : `${each.length} `).update(each.bits ? "" : each));
  const key = sum.digest("hex");
  if (!done.has(key)) done.set(key, work(...of));
  return done.get(key);
};
const judge = require("vm").runInThisContext(`(remembering) => {
  ${script}; sha2 = remembering(sha2); signed = remembering(signed); return judge }`)(remembering);
for (const line of require("fs").readFileSync(0, "utf-8").trim().split("\\n")) {
  const [file, ...keys] = JSON.parse(line);
  try {
    console.log(JSON.stringify(judge(new Uint8Array(Buffer.from(file, "base64")), ...keys.map((key) => key || null))));
  } catch (error) {
    console.log(JSON.stringify(error.message));
  }
}
"""
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="nothing runs the page: apt-get install -y nodejs")


_Asked = tuple[bytes, *tuple[str, ...]]
"""A file, and what the page's fields hold, in their order."""


def _page_says(asked: Sequence[_Asked]) -> list[Any]:
    """Run the page's own script on these evidence files. Return for each file the sentences that the page shows, or why
    it refuses the file."""
    lines = "\n".join(json.dumps([base64.b64encode(file).decode(), *keys]) for file, *keys in asked)
    return [json.loads(line) for line in _output(["node", "-e", _JUDGES, str(_PAGE)], lines).splitlines()]


def _output(command: Sequence[str], given: str) -> str:
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def _differ(asked: Iterable[_Asked]) -> list[tuple[object, object]]:
    """Return the files on which the page and `verify.py` disagree, as pairs of what each of them says.

    If a file cannot be read at all, they may say this in different words.
    """
    asked = list(asked)
    said_by_both = []
    for (file, *keys), by_page in zip(asked, _page_says(asked), strict=True):
        pinned = [key or None for key in keys]
        refused = refusal(file, *pinned)
        said_by_both.append((VERIFY.judge(file, *pinned) if refused is None else refused, by_page))
    unread = "What the file says cannot be read"
    return [
        (one, other)
        for one, other in said_by_both
        if one != other and not (isinstance(one, str) and one.startswith(unread) and isinstance(other, str))
    ]


@needs_node
def test_the_page_says_the_same_sentences_of_good_files_and_takes_what_a_film_shows(
    sugarhouse: bytes, royal9: Path, tmp_path: Path
) -> None:
    rounds = ("1/1", "1/2", "1/3") if samples.at_length else ("1/1",)
    files = [evidence(royal9, which) for which in rounds]
    note = read_note(json.loads(files[0])["checkpoint"])
    assert note is not None
    asked: list[_Asked] = [(file, *_KEYS) for file in (sugarhouse, *files)]
    asked.append((evidence(beetek(tmp_path), "2/1"), fingerprint(KEY.public)))
    asked += [(files[0], "", "", "", frame) for frame in (note.framed(), note.framed()[1:])]
    assert _differ(asked) == []


@needs_node
def test_the_page_judges_head_office_as_the_tool_does(sugarhouse: bytes) -> None:
    pairs = itertools.product(("pit", "head-office"), (PIT, HEAD_OFFICE))
    files = [sugarhouse, *(witnessed(sugarhouse, ("pit", PIT), one) for one in pairs)]
    files.append(witnessed(sugarhouse, ("head-office", HEAD_OFFICE)))
    files.append(witnessed(sugarhouse))
    moments = (0, 951827696, 253402300799, 253402300800, 2**64 - 1)
    files += [witnessed(sugarhouse, ("pit", PIT), seconds=seconds) for seconds in moments]
    asked: list[_Asked] = [(sugarhouse, "", "", typed) for typed in MISTYPED]
    for office in (HEAD_OFFICE.public.hex(), PIT.public.hex(), ""):
        asked += [(file, fingerprint(KEY.public), "", office) for file in files]
        asked += [(file, "", fingerprint(PIT.public), office) for file in files]
    assert _differ(asked) == []


@needs_node
def test_the_page_refuses_what_the_tool_refuses(sugarhouse: bytes, forger: Forger) -> None:
    places = random.Random(5).sample(range(len(sugarhouse)), 12)
    lies = [
        resigned(json.loads(sugarhouse), with_value("banker.total", 8)),
        resigned(json.loads(sugarhouse), with_value("awards", [1])),
    ]
    files = [*(forger.forged(kind) for kind in forger.kinds), *(changed(sugarhouse, place) for place in places), *lies]
    assert _differ((file, *_KEYS) for file in files) == []


@pytest.mark.proof
@needs_node
def test_the_page_refuses_ten_thousand_forgeries_as_the_tool_does(
    sugarhouse: bytes, forger: Forger, figure: Callable[[str], None]
) -> None:
    forged = [forger.forged(forger.kinds[number % len(forger.kinds)]) for number in range(10_000)]
    assert _differ((file, *_KEYS) for file in forged) == []
    assert _differ((changed(sugarhouse, place), *_KEYS) for place in range(len(sugarhouse))) == []
    figure(f"10,000 forgeries, and each of {len(sugarhouse):,} bytes changed: the page and the tool say the same")


@pytest.mark.proof
@needs_a_browser
def test_the_page_opened_from_the_disk_judges_without_a_network(sugarhouse: bytes, tmp_path: Path) -> None:
    """In a browser without a network, the page judges a good file, a bad file, and a file with another table's key."""
    good, bad = tmp_path / "good.evidence", tmp_path / "bad.evidence"
    good.write_bytes(sugarhouse)
    bad.write_bytes(changed(sugarhouse, 900))
    verdict = "document.getElementById('verdict').textContent"
    told = "[...document.querySelectorAll('li')].map((each) => each.innerText)"
    with chromium(tmp_path) as browser:
        browser.open(_PAGE.as_uri())
        browser.give("#file", good)
        browser.until(f"{verdict} === 'ALL THAT IS SHOWN HOLDS.'")
        assert browser.read(told) == VERIFY.judge(sugarhouse)
        browser.picture("verdict")
        browser.run("document.getElementById('table_key').value = 'another'")
        browser.run("document.getElementById('table_key').dispatchEvent(new Event('change'))")
        browser.until(f"{verdict} === 'REFUSED: Another key signed this: {fingerprint(KEY.public)}.'")
        browser.run("document.getElementById('table_key').value = ''")
        browser.give("#file", bad)
        browser.until(f"{verdict} === 'REFUSED: {refusal(bad.read_bytes())}'")
        assert browser.read(told) == []
        assert browser.read("performance.getEntriesByType('resource').length") == 0
        assert browser.complaints() == []
