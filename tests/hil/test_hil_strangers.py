"""Checks what a stranger could try at a table's machine. Each attempt is refused, noticed, and written down."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from controller.bench.daemon import ROOT, Table
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.waiting import Eventually
from tests.support.other_user import NOBODY, ask_as, needs_root

ROUND = "9C TD TC 5D"


@needs_root
def test_without_the_sockets_group_nobody_asks_the_table_anything(table: Table, dealer: Dealer) -> None:
    dealer.open_shoe()
    facts = len(table.facts())
    control = Path(table.files.values["control"]["socket"])
    asked: list[dict[str, object]] = [{"do": "status"}, {"do": "test_hit", "seat": 1, "by": "Ann"}]
    for request in asked:
        with pytest.raises(PermissionError):
            ask_as(NOBODY, control, request, group=NOBODY)
    assert ask_as(NOBODY, control, {"do": "status"})["ok"], "with the group it is heard"
    assert len(table.facts()) == facts


@pytest.mark.proof
def test_a_changed_file_of_the_program_is_told_to_the_pit_and_kept_and_found_by_the_doctor(
    table: Table, dealer: Dealer, pit: FarPit, eventually: Eventually, tmp_path: Path
) -> None:
    copy = tmp_path / "program"
    for package in ("controller", "drivers"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    table.stop()
    main = (
        f"import sys; sys.path.insert(0, {str(copy)!r}); from controller.people.cli.main import main; sys.exit(main())"
    )
    table.program = ("-c", main)
    table.start()
    eventually(table.links_up)
    dealer.open_shoe()
    dealer.play(ROUND)
    honest = table.status()
    table.stop()
    assert _measured(table) == [honest.program_digest], "the copy is what ran before, byte for byte"

    changed = copy / "drivers" / "gpio.py"
    changed.write_bytes(changed.read_bytes() + b"# a stranger was here\n")
    table.start()
    now = table.status()
    assert now.digest != honest.digest
    assert _measured(table) == [honest.program_digest, now.program_digest]
    eventually(lambda: pit.told("alarm"))
    (alarm,) = pit.told("alarm")
    assert alarm["code"] == "program_changed"
    assert (alarm["details"]["before"], alarm["details"]["now"]) == (honest.program_digest, now.program_digest)
    assert "program_changed" in table.log
    assert table.fault in (None, "shoe_unheard"), "the table deals on"

    changed.write_bytes(changed.read_bytes() + b"# and again, while the table runs\n")
    rows: list[dict[str, Any]] = json.loads(table.tablectl("doctor", "--json", check=False).stdout)
    assert [row["verdict"] for row in rows if row["code"] == "program_changed"] == ["fault"]


def _measured(table: Table) -> list[str]:
    """Return the hashes of the installed program that the journal notes, in order."""
    return [fact["program"] for fact in table.facts() if fact["fact"] == "ProgramMeasured"]
