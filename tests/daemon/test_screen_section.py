"""Checks the section `[screen]` of a table's file. A page that would hide an amount, run a program or fill a small
machine's memory is refused."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest
from msgspec import convert

from controller.daemon.config import load
from controller.daemon.config.problems import ConfigError
from controller.daemon.config.screen_section import ScreenSection, check_screen, contrast, images

DOCS = Path(__file__).parents[2] / "docs"
CONFIG = Path(__file__).parents[2] / "config"


def _wrong(screen: ScreenSection) -> dict[str, str]:
    return {key: what for key, what, _ in (*check_screen(screen), *images(screen)[1])}


def test_contrast_is_that_of_the_recommendation() -> None:
    assert [round(contrast(one, "#ffffff"), 2) for one in ("#000000", "#767676", "#777777")] == [21, 4.54, 4.48]


def test_colours_that_hide_a_jackpot_are_told_with_one_that_does_not() -> None:
    (mistake,) = check_screen(ScreenSection(band="#7a5c00", amounts="#7a5d10"))
    key, what, do = mistake
    assert (key, "1.0:1" in what) == ("screen.amounts", True)
    nearest = do.split('"')[1]
    assert contrast(nearest, "#7a5c00") >= 4.5
    assert not [*check_screen(ScreenSection(band="#7a5c00", amounts=nearest))]
    assert "screen.band" in _wrong(ScreenSection(band="#ffd977")), "the shipped figures are as light"


def test_every_mistake_of_a_face_is_told_at_once(tmp_path: Path) -> None:
    screen = ScreenSection(
        languages=("vn",), felt="white", accent="#06261d", logo="logo.svg", picture=f"{tmp_path}/none.png",
        welcome={"vn": "x", "en": "x" * 61, "ko": "\U0001d360"},
    )  # fmt: skip
    assert _wrong(screen).keys() == {
        *("screen.languages", "screen.felt", "screen.accent", "screen.logo", "screen.picture"),
        *("screen.welcome.vn", "screen.welcome.en", "screen.welcome.ko"),
    }


def test_a_table_plays_without_its_houses_logo_and_check_tells_it_beside_the_rest(tmp_path: Path) -> None:
    for folder in ("tables", "games"):
        (tmp_path / folder).mkdir()
    shutil.copy(CONFIG / "games" / "royal9.toml", tmp_path / "games")
    text = (CONFIG / "tables" / "royal9.toml").read_text("utf-8")
    file = tmp_path / "tables" / "royal9.toml"
    file.write_text(text + '[screen]\nlogo = "/none/logo.svg"\n', "utf-8")
    assert load(file).file.screen.logo == "/none/logo.svg"
    file.write_text(text + '[screen]\nlogo = "/none/logo.svg"\nfelt = "#ffffff"\n', "utf-8")
    with pytest.raises(ConfigError) as caught:
        load(file, with_images=True)
    assert {problem.key for problem in caught.value.problems} == {"screen.logo", "screen.felt"}


_SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">{}</svg>'


@pytest.mark.parametrize(
    ("inside", "what"),
    [
        ("<script>fetch('/')</script>", "<script>"),
        ('<path onload="alert(1)" d="M0 0"/>', "script in onload"),
        ('<image href="http://192.0.2.1/seen.png"/>', "<image>"),
        ('<use xlink:href="http://192.0.2.1/x.svg#a"/>', "leads to"),
        ('<rect fill="url(http://192.0.2.1/x#a)"/>', "leads to"),
        ("<style>@import 'http://192.0.2.1/x.css';</style>", "leads to"),
        ('<rect style="background:u\\72l(//192.0.2.1)"/>', "leads to"),
        ("<foreignObject/>", "<foreignObject>"),
        ("<path", "not XML"),
    ],
)
def test_a_logo_that_does_more_than_show_is_refused(tmp_path: Path, inside: str, what: str) -> None:
    file = tmp_path / "logo.svg"
    file.write_text(_SVG.format(inside), "utf-8")
    good, mistakes = images(ScreenSection(logo=str(file)))
    assert not good
    assert what in mistakes[0][1]
    file.write_text("<!DOCTYPE x [<!ENTITY a 'b'>]>" + _SVG.format("&a;"), "utf-8")
    assert "entities" in _wrong(ScreenSection(logo=str(file)))["screen.logo"]
    file.write_text(_SVG.format('<rect fill="url(#a)"/>'), "utf-8")
    assert images(ScreenSection(logo=str(file)))[1] == []


def test_a_picture_of_80_megabytes_or_of_far_too_many_points_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "picture.png"
    with file.open("wb") as large:
        large.truncate(80_000_000)
    assert "80,000,000 bytes" in _wrong(ScreenSection(picture=str(file)))["screen.picture"]
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    file.write_bytes(head + (30_000).to_bytes(4) * 2 + b"\x08\x06\0\0\0")
    assert "30000 x 30000" in _wrong(ScreenSection(picture=str(file)))["screen.picture"]
    file.write_bytes(b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\x20\x00\x00\x09\x03")
    assert "9 x 8192" in _wrong(ScreenSection(picture=str(file)))["screen.picture"]
    file.write_bytes(b"GIF89a")
    assert "not an SVG" in _wrong(ScreenSection(picture=str(file)))["screen.picture"]
    file.write_bytes(head + (1920).to_bytes(4) + (1080).to_bytes(4))
    assert images(ScreenSection(picture=str(file)))[0]["picture"].kind == "image/png"


def test_the_examples_of_the_documents_have_no_mistake() -> None:
    told = (DOCS / "screen.md").read_text("utf-8").split("```toml\n")[1:]
    faces = [tomllib.loads(each.split("```")[0])["screen"] for each in told]
    assert len(faces) == 2
    for face in faces:
        for name in ("logo", "picture"):
            face[name] = face[name].replace("/etc/table-controller/house", str(DOCS / "faces"))
        screen = convert(face, ScreenSection)
        assert _wrong(screen) == {}
        assert images(screen)[0].keys() == {"logo", "picture"}
