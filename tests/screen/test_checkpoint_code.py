"""Checks that another program can read the QR code on the screen, which shows a checkpoint (the signed size and root
hash of the journal)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.contract.bounds import TABLE
from controller.contract.face.feed import FeedLine
from controller.contract.keys import SigningKey
from controller.contract.merkle import Edge
from controller.contract.note import read_frame
from controller.daemon.record.checkpoints import signed_checkpoint
from controller.people.screen.checkpoints import checkpoint_page, checkpoint_view
from controller.people.screen.qr import Code, qr_code
from controller.people.screen.server import Screen, Sockets, application
from controller.words.found import LANGUAGES
from tests.screen import browser as browser_
from tests.screen.browser import MORE_SIZES, SIZES, Browser, needs_a_browser
from tests.screen.posing import Page, parts, served
from tests.screen.test_posed import CHOICES
from tests.screen.test_server import a_screen, answered
from tests.support.tables import ROYAL9, TableUnderTest
from tests.support.told import healthy

needs_a_reader = pytest.mark.skipif(not shutil.which("zbarimg"), reason="no reader: apt-get install -y zbar-tools")
KEY = SigningKey(bytes([5] * 32))
CHECKPOINT = signed_checkpoint("royal9-01/7c0f19a2be", Edge(3, (bytes(32), bytes(32))), KEY, KEY.public).framed()


def _checkpoint(table: str, epoch: str, size: int) -> str:
    """Return a signed checkpoint of a journal of `size` rows, in the text form in which the table sends it to its
    screen."""
    return signed_checkpoint(f"{table}/{epoch}", Edge(size, (bytes(32),) * size.bit_count()), KEY, KEY.public).framed()


LONG = _checkpoint("long-name-" * 6, "7c0f19a2be", 999_999_999_999)
"""Of a table with the longest id, once its journal has more rows than a century brings."""

LONGEST = _checkpoint("long-name-" * 6, "e" * 60, 10**18 - 1)
"""As long as the contract lets a table's id, an epoch and a size be."""

NOWHERE = Path("/nowhere")
_PIXELS = 3  # of a module


def read(picture: Path) -> str:
    """Return the text of the QR code in this picture, as the program `zbarimg` reads it."""
    command = ["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", str(picture)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.removesuffix("\n")


def _drawn(code: Code, to: Path) -> Path:
    """Draw the QR code into the picture file `to`, with a few pixels for each module (small square), and return its
    path."""
    rows = [bytearray(b"\xff" * code.size * _PIXELS) for _ in range(code.size)]
    for x, y, wide in (map(int, run) for run in re.findall(r"M(\d+) (\d+)h(\d+)", code.path)):
        rows[y][x * _PIXELS : (x + wide) * _PIXELS] = bytes(wide * _PIXELS)
    side = code.size * _PIXELS
    to.write_bytes(f"P5 {side} {side} 255\n".encode() + b"".join(bytes(row) * _PIXELS for row in rows))
    return to


def _code(text: str) -> Code:
    code = qr_code(text)
    assert code is not None
    return code


@needs_a_reader
@pytest.mark.parametrize("checkpoint", [CHECKPOINT, LONG, LONGEST], ids=["usual", "long", "longest"])
def test_a_reader_reads_the_checkpoint(checkpoint: str, tmp_path: Path) -> None:
    assert read(_drawn(_code(checkpoint), tmp_path / "code.pgm")) == checkpoint


@pytest.mark.proof
@needs_a_reader
def test_a_reader_reads_a_text_of_each_length(tmp_path: Path) -> None:
    for length in range(1, 288):
        text = (CHECKPOINT * 2)[:length]
        assert read(_drawn(_code(text), tmp_path / "code.pgm")).strip() == text.strip(), length


def test_each_checkpoint_that_the_contract_allows_has_a_code() -> None:
    assert TABLE.fullmatch(LONG.partition("/")[0])
    assert read_frame(LONGEST) is not None
    assert len(LONGEST) < 288
    assert qr_code("x" * 287) is not None
    assert qr_code("x" * 288) is None


def test_a_text_without_a_code_stops_no_page() -> None:
    """A checkpoint that is too long for a QR code stops no page. The players' page shows no code, and the page
    `/checkpoint` shows the text itself."""
    screen = Screen(Sockets(NOWHERE, NOWHERE, NOWHERE))
    screen.feed.said = FeedLine(
        status=healthy(replace(TableUnderTest().face, phase="shoe_ended")), checkpoint="x" * 288
    )
    screen.feed.live = True
    screen.feed._changed()
    assert screen.players._parts["checkpoint"].content is None
    code, _, page = answered(application(screen), "/checkpoint")
    assert code == 200
    assert "x" * 288 in page
    assert "<svg" not in page


@pytest.mark.parametrize("checkpoint", [CHECKPOINT, LONG], ids=["usual", "long"])
@pytest.mark.parametrize(("phase", "shown"), [("shoe_ended", True), ("no_shoe", True), ("dealing", False)])
def test_the_players_page_shows_the_checkpoint_once_the_shoe_is_over(phase: str, shown: bool, checkpoint: str) -> None:
    screen = Screen(Sockets(NOWHERE, NOWHERE, NOWHERE))
    status = healthy(replace(TableUnderTest().face, phase=phase))
    screen.feed.said = FeedLine(status=status, checkpoint=checkpoint)
    screen.feed.live = True
    screen.feed._changed()
    assert screen.players._parts["checkpoint"].content == checkpoint_view(checkpoint, shown)
    code, _, page = answered(application(screen), "/checkpoint")
    assert code == 200
    assert _code(checkpoint).path in page
    assert checkpoint in page


def test_without_a_table_no_checkpoint_is_shown() -> None:
    assert answered(a_screen(), "/checkpoint")[0] == 404


@needs_a_browser
@pytest.mark.long("browser")
def test_no_old_code_stands_where_nobody_is_heard(chromium: Browser) -> None:
    """The page removes the QR code of the checkpoint when the server does not answer. It shows a code again when the
    server answers again."""
    pages = [json.dumps(checkpoint_page(each)) for each in (CHECKPOINT, "another")]
    with served() as url:
        chromium.go(f"{url}pages/checkpoint.css")
        chromium.run(f"""
          document.documentElement.innerHTML = {pages[0]};
          document.head.append(Object.assign(document.createElement("script"), {{ src: "/pages/checkpoint-page.js" }}));
        """)
        chromium.until("typeof renew === 'function'")
        for answer, shown in (
            ("Promise.reject()", "not heard"),
            (f"new Response({pages[0]})", CHECKPOINT),
            ("new Response('gone', {status: 404})", "not heard"),
            ("new Response('no page')", "not heard"),
            (f"new Response({pages[1]})", "another"),
        ):
            said = f"fetch = async () => {answer}; renew().then(() => arguments[0](document.body.innerText))"
            told = chromium.run_async(said)
            assert shown in told, answer
            assert ("Checkpoint" in told) == (shown != "not heard"), answer
        chromium.leave()


_FILMED = ("panel", "old", *(size for size in SIZES if size != "phone"))
"""The monitors of a house, and 720 lines, which a film has."""


@needs_a_reader
@needs_a_browser
@pytest.mark.long("browser")
@pytest.mark.parametrize("checkpoint", [CHECKPOINT, LONG, LONGEST], ids=["usual", "long", "longest"])
def test_the_code_is_read_from_the_page_that_shows_it_at_any_time(checkpoint: str, chromium: Browser) -> None:
    with served(said=FeedLine(checkpoint=checkpoint)) as url:
        for size in ("panel", "small"):
            chromium.size(size)
            chromium.go(f"{url}checkpoint")
            chromium.until("document.querySelector('#checkpoint')?.getBoundingClientRect().width > 300")
            chromium.picture("checkpoint")
            assert read(chromium.pictures / "checkpoint.png") == checkpoint, size
        chromium.leave()


@pytest.mark.proof
@needs_a_reader
@needs_a_browser
def test_the_code_is_read_from_the_players_page_at_each_size_and_in_each_language(
    tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """The QR code can be read from pictures of the players' page at each size and in each language. One size is that of
    a surveillance film, which has 720 lines, and one is the smallest monitor. The text is long, because the code of a
    long text has small modules."""
    table = TableUnderTest(ROYAL9).open_shoe("2H 3H 4H").lock().draw("KH 2C 9H 5D")
    with served() as url, browser_.chromium(tmp_path) as browser:
        page = Page(browser, url)
        for size in _FILMED:
            browser.size(size)
            for languages in CHOICES:
                page.speak(*languages)
                page.pose(parts(table))
                for checkpoint in (CHECKPOINT, LONG):
                    page.pose({"checkpoint": checkpoint_view(checkpoint, True)})
                    browser.picture("page")
                    assert read(tmp_path / "page.png") == checkpoint, (size, languages)
        page.pose({"checkpoint": checkpoint_view(CHECKPOINT, False)})
        browser.picture("page")
        assert read(tmp_path / "page.png") == ""
    sizes = ", ".join("{}x{}".format(*(SIZES | MORE_SIZES)[size]) for size in _FILMED)
    figure(
        f"the code of a checkpoint of {len(CHECKPOINT)} bytes and of one of {len(LONG)}, read from the players' page at"
        f" {sizes}, in {len(LANGUAGES)} languages alone and {len(CHOICES) - len(LANGUAGES)} pairs"
    )
