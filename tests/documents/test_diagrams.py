"""Checks that the Mermaid diagrams of the pages become pictures in the documentation site. Every diagram must be drawn
completely. A diagram that cannot be drawn must raise an error."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.diagrams import on_page_content, on_page_markdown, svg

ROOT = Path(__file__).resolve().parents[2]
_PAGES = {page: page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")}
_DIAGRAMS = [found for text in _PAGES.values() for found in re.findall(r"```mermaid\n(.*?)```", text, re.S)]


def _shown(picture: str) -> list[str]:
    """Return the texts in an SVG picture, which must be well-formed XML."""
    return [str(each.text) for each in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


def test_every_arrow_of_every_page_is_drawn_with_its_words() -> None:
    assert len(_DIAGRAMS) >= 5
    for diagram in _DIAGRAMS:
        picture = svg(diagram)
        arrows = diagram.count(" --> ") - diagram.count("[*] --> ") + diagram.count("->>")
        assert picture.count('fill="currentColor"/>') - picture.count("<circle") == arrows
        words = re.findall(r'\["(.+?)"\]|(?:: |participant \w+ as )(.+)$', diagram, re.M)
        assert {one or other for one, other in words if "[" not in other} <= {*_shown(picture)}


def test_no_picture_is_wider_than_a_page_shows() -> None:
    widths = [int(re.findall(r"max-width: (\d+)px", svg(diagram))[0]) for diagram in _DIAGRAMS]
    assert max(widths) < 900


def test_a_page_gets_the_picture_in_the_place_of_the_diagram_and_keeps_the_rest() -> None:
    page = on_page_markdown('Before.\n\n```mermaid\nflowchart LR\n    a --> b["<b> & c"]\n```\n\n```sh\nls\n```\n')
    before, picture, after = re.split(r"<div class=\"diagram\">|</div>", page)
    assert (before, after) == ("Before.\n\n", "\n\n```sh\nls\n```\n")
    assert _shown(picture) == ["a", "<b> & c"]
    assert "<b>" not in picture
    assert unescape(picture) != picture


def test_a_name_in_code_is_not_broken_at_a_hyphen_and_a_line_of_code_is() -> None:
    told = on_page_content("<p><code>--json</code> <code>tablectl status --json</code></p>")
    assert told == '<p><code class="name">--json</code> <code>tablectl status --json</code></p>'
    key = on_page_content(f"<td><code>--trust {'1f0c' * 16} --by Smith</code></td>")
    assert key == f"<td><code>--trust {'<wbr>'.join(['1f0c' * 4] * 4)} --by Smith</code></td>"


@pytest.mark.parametrize(
    "diagram",
    [
        "pie\n",
        "flowchart LR\na -.-> b\n",
        "flowchart LR\na --> b\nb --> a\n",
        "stateDiagram-v2\nstate a {\n",
        "sequenceDiagram\na->>b: c\n",
    ],
)
def test_what_cannot_be_drawn_is_an_error(diagram: str) -> None:
    with pytest.raises(ValueError):
        svg(diagram)


def test_a_page_has_one_title_in_the_menu_and_at_its_top() -> None:
    menu = re.findall(r"- (.+): ([\w-]+[.]md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M)
    titles = {page: _PAGES[ROOT / "docs" / page].partition("\n")[0].removeprefix("# ") for _, page in menu}
    assert {page: title for title, page in menu} == titles
