"""Checks that every link in the documents leads to an existing file, and to an existing heading in it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.documents.blocks import DOCUMENTS, ROOT, without_code
from tests.support.each import each

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@cache
def _anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub and the documentation site make them."""
    seen: dict[str, int] = {}
    anchors = set()
    for heading in re.findall(r"^#+ (.+)$", without_code(page.read_text("utf-8")), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = seen[slug] = seen.get(slug, -1) + 1
        anchors.add(f"{slug}_{number}" if number else slug)
    return frozenset(anchors)


def _wrong(page: Path) -> list[str]:
    wrong = []
    for target in _LINK.findall(without_code(page.read_text("utf-8"))):
        if re.match("[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        if not there.exists() or (anchor and anchor not in _anchors(there)):
            wrong.append(target)
        elif path and page.parent == ROOT / "docs" and there.parent != page.parent:
            wrong.append(f"{target}, which is no page of the site")
    return wrong


@each("page", DOCUMENTS)
def test_each_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    assert _wrong(page) == []


def test_a_page_that_is_of_two_folders_has_no_relative_link() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        if page.is_symlink():
            assert [link for link in _LINK.findall(page.read_text("utf-8")) if not re.match("[a-z]+:|#", link)] == []


def test_no_page_is_a_copy_of_another() -> None:
    """No page is a copy of another page. A text editor once replaced a symbolic link between two pages by a copy of the
    file. Later only one of the two was changed."""
    beginnings = [page.read_text("utf-8").split("\n\n")[:2] for page in DOCUMENTS]
    assert [each for each in beginnings if beginnings.count(each) > 1] == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n[a](#a-page) [b](#b) [c](none.md) [d](page.md#a-page) ![e](none.svg)\n", "utf-8")
    assert _wrong(page) == ["#b", "none.md", "none.svg"]


def test_the_site_names_every_page() -> None:
    nav = set(re.findall(r": ([a-z0-9-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))
    assert nav == {page.name for page in (ROOT / "docs").glob("*.md")}
