"""Checks that the documents generated from the code are fresh, and that what the documents say of the code is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.basics.manual import parsers
from controller.people.cli.command import parser_of
from controller.people.cli.commands import every_command
from controller.pit.reference.__main__ import parser as pit_parser
from controller.pit.reference.commands.entries import COMMANDS
from tests.documents.blocks import ROOT, blocks
from tests.documents.face_page import REPORTS, SCHEMA, face_schema
from tests.documents.pages import DOCS, PAGES, SENTENCES, sentences
from tests.documents.reports_page import PAR_REPORTS, PIT_REPORTS, SCHEMAS, schema_of


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_made_document_is_fresh(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), f"docs/{name} is stale: run `make pages`"


def test_the_contract_has_the_sentences_that_people_are_told() -> None:
    assert SENTENCES.read_text("utf-8") == sentences(), "controller/contract/sentences.json is stale: run `make pages`"


def test_the_faces_schema_is_that_of_its_types() -> None:
    assert SCHEMA.read_text("utf-8") == face_schema(), "controller/contract/face/face.schema.json: run `make pages`"


@pytest.mark.parametrize("at", SCHEMAS, ids=lambda at: at.parent.name)
def test_the_schema_of_reports_is_that_of_their_types(at: Path) -> None:
    assert at.read_text("utf-8") == schema_of(*SCHEMAS[at]), f"{at} is stale: run `make pages`"


def test_whatever_prints_json_has_a_schema() -> None:
    """Every command with the option `--json` has a JSON Schema for what it prints, so a new command without a schema
    fails this test. The command that prints the pit's events is the exception, because tables signed the events."""
    by_name = parsers(pit_parser())
    of_pit = {command.name for command in COMMANDS if "--json" in by_name[command.name].format_help()}
    assert of_pit == {report.command.partition(" --")[0] for report in PIT_REPORTS} | {"events"}
    of_table = {name for name, own in parsers(parser_of(every_command())).items() if "--json" in own.format_help()}
    with_types = {said.partition(" ")[0] for said in REPORTS.values()} | {"status", "doctor"}
    assert of_table == with_types | {report.command.partition(" --")[0] for report in PAR_REPORTS}


def test_no_list_and_no_cell_is_shown_otherwise_than_it_is_written() -> None:
    """No list in a document follows directly on an indented paragraph, because the documentation site would show its
    first item inside the paragraph. No code has a bar with a backslash before it, because the site would show the
    backslash."""
    swallowed, escaped = re.compile(r"^    \S.*\n(?:\d+\.|-) ", re.M), re.compile(r"`[^`\n]*\\\|[^`\n]*`")
    for page in DOCS.glob("*.md"):
        text = re.sub(r"^ *```.*?^ *```", "```", page.read_text("utf-8"), flags=re.M | re.S)
        assert not (found := swallowed.findall(text) + escaped.findall(text)), f"{page.name}: {found}"


def test_the_page_for_another_daemon_has_the_very_files_that_run_at_the_bench() -> None:
    at = ROOT / "tests" / "hil"
    files = [at / "twenty_lines" / "table.pl", at / "test_hil_your_daemon.py"]
    whole = [block.text for block in blocks(DOCS / "bench-your-daemon.md") if block.kind in ("perl", "python")]
    assert whole == [file.read_text("utf-8") for file in files]


def test_the_page_of_the_bench_has_each_fixture_under_both_names() -> None:
    from controller.bench import plugin, short_names

    told = set(re.findall(r"^\| `(bench_\w+)` \|", (DOCS / "bench-api.md").read_text("utf-8"), re.M))
    long = {name for name in vars(plugin) if name.startswith("bench_")}
    short = {name for name, made in vars(short_names).items() if type(made).__name__ == "FixtureFunctionDefinition"}
    assert told == long
    assert {f"bench_{name}" for name in short} == long - {"bench_wires", "bench_wait"}


def test_each_program_and_each_field_of_the_log_is_sent_away() -> None:
    text = (DOCS / "logs.md").read_text("utf-8")
    programs, fields = (
        re.findall(pattern, text, re.M) for pattern in (r"^\| `SYSLOG_IDENTIFIER` \| (.+) \|$", r"^\| (`.+`) \|")
    )
    sent = next(block.text for block in blocks(DOCS / "logs.md") if "imjournal" in block.text)
    named = {name for cell in fields for name in re.findall(r"`((?:TABLE_|MESSAGE|HOUSE)\w*)`", cell)}
    assert {f"$!{name}" for name in named} == set(re.findall(r'name="(\$![A-Z_]+)"', sent))
    assert all(f'"{name}"' in sent for name in re.findall(r"`([\w-]+)`", programs[0]))
