"""Checks what happens if somebody copies a table's memory card with its journal and key. Two machines then run, one
with the card and one with the copy, at one broker and one pit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.bench.daemon import Broker, Table, TableFiles, pit_section
from controller.bench.dealer import Dealer
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from drivers.sim.line import PtyLine
from drivers.sim.pins import SimulatedPins
from tests.hil.bench import Bench
from tests.support.pit_process import PitProcess

pytestmark = pytest.mark.proof


@pytest.fixture
def clone(at: Bench, broker: Broker, tmp_path: Path) -> Iterator[Bench]:
    """Yield a second machine for a table of the same name, with its own shoe and pins. Its memory card holds no journal
    and no key yet."""
    folder = tmp_path / "clone"
    folder.mkdir()
    files = TableFiles(folder, at.table.table_id, broker.port, None, pit=pit_section(broker))
    lamps, inputs = files.values["pins"]["lamps"], files.values["pins"]["inputs"]
    pins = Pins(SimulatedPins(files.page, lamps, inputs), lamps, inputs)
    table, shoe = Table(files, folder), FarShoe(PtyLine(files.port))
    eventually = Eventually(table, pins, at.pit, folder)
    yield Bench(table, shoe, pins, at.pit, Dealer(table, shoe, pins, eventually), eventually)
    table.close()
    pins.close()
    shoe.line.unplug()


def _copy_card(table: Table, to: Table) -> None:
    """Copy the journal and the key of a stopped table to another machine's table."""
    key, copied_key = (Path(each.files.values["journal"]["signing_key"]) for each in (table, to))
    for own, copied in ((table.journal, to.journal), (key, copied_key)):
        for path in own.parent.glob(f"{own.name}*"):
            shutil.copy(path, copied.with_name(path.name))


def _told(pit: PitProcess, table: str, type_: str) -> list[dict[str, Any]]:
    """Return the events of the type `type_` that the pit has committed for this table, in order."""
    events = [json.loads(line) for line in pit.says("events", table).splitlines()]
    return [event for event in events if event["type"] == type_]


def test_one_of_two_is_stopped_both_tell_of_it_and_a_hit_of_both_is_one_award(
    at: Bench, clone: Bench, broker: Broker, reference_pit: PitProcess
) -> None:
    at.pit.gone()  # the reference pit alone speaks and hears
    at.dealer.open_shoe()
    at.dealer.lock(1)
    at.eventually(lambda: at.table.unacknowledged() == 0)
    clone.shoe.new_shoe()
    clone.shoe.deal("2C KC KD")  # nobody listens: it stands where the other shoe does
    clone.shoe.unplug()
    clone.shoe.plug()
    at.table.kill()
    _copy_card(at.table, clone.table)
    broker.down()
    for each in (at, clone):
        each.table.start()
        each.table.count()
        each.dealer.deal("KS 2D 9S 3C")
        each.await_phase("wagers_open")
    broker.up()
    both = (at.table, clone.table)
    at.eventually(lambda: sorted(str(table.fault) for table in both) == ["None", "journal_behind_pit"])
    stopped, goes_on = sorted(both, key=lambda table: table.fault is None)
    assert stopped.status().pit.stream == "behind"
    assert stopped.stop_told.exits == (), "nobody at the table can leave that"
    at.eventually(lambda: all("ClientIdTaken" in {fact["fact"] for fact in table.facts()} for table in both))
    at.eventually(lambda: goes_on.unacknowledged() == 0)
    at.eventually(
        lambda: (
            [alarm["code"] for alarm in _told(reference_pit, goes_on.table_id, "alarm")].count("client_id_taken") == 1
        )
    )
    assert [hit["seat"] for hit in _told(reference_pit, goes_on.table_id, "hit")] == [1]
    (award,) = json.loads(reference_pit.says("award", "list", "--all", "--json"))
    assert award["table"] == goes_on.table_id
    reference_pit.says("account")  # fails where the books do not balance
