"""Starts the daemon that runs one table: reads the table's file, builds the parts, and connects the shoe, the pins and
the MQTT broker.

`header.py` picks the driver for the Raspberry Pi's GPIO header, to which the lamps and inputs are wired.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
import time
from functools import partial
from pathlib import Path

from controller import __version__
from controller.basics.digest import check_approved, digest, program_digest
from controller.basics.errors import TableError
from controller.basics.notify import notify
from controller.contract.fingerprint import fingerprint
from controller.contract.state import offline_state
from controller.contract.topics import Topics
from controller.contract.wire.mqtt_tls import client_context
from controller.daemon.clock import boot_id, since_boot_ms
from controller.daemon.config import Config, load
from controller.daemon.config.table_file import ShoeSection, TableFile
from controller.daemon.control.server import serving
from controller.daemon.counted_log import EVERY_ONE, CountedLog
from controller.daemon.header import take_pins
from controller.daemon.journald import log_to
from controller.daemon.record.epochs import open_journal
from controller.daemon.record.journal import Journal
from controller.daemon.record.replay import replay_open_shoe
from controller.daemon.runtime import Runtime
from controller.daemon.shoe_heard import Mark
from controller.table.facts import Report
from drivers.line.shoe_on_line import ShoeOnLine
from drivers.line.tap import Tap, tap_of
from drivers.mqtt import MqttBroker, Will

_log = logging.getLogger(__name__)

_SWITCH_S = 0.0005
"""How long a thread that has something to send waits for the loop's thread, at most. Python's own value is 5 ms."""


def run_table(path: Path) -> int:
    """Run the table that the configuration file at `path` describes, until SIGTERM or SIGINT. Return the exit code 0.
    Raises TableError if the table cannot start or cannot go on."""
    config = load(path)
    log = log_to(sys.stderr)
    line = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    line.converter = time.gmtime
    log.setFormatter(line)
    logging.basicConfig(handlers=[log], level=logging.INFO)
    for warning in config.warnings:
        _log.warning("%s", warning, extra=EVERY_ONE)
    if config.file.pins.driver == "simulated":
        _log.warning("the pins are simulated: no lamp of a real table is lit")
    try:
        asyncio.run(_run(config, log))
    except* TableError as group:
        raise group.exceptions[0] from None
    return 0


async def _run(config: Config, log: CountedLog) -> None:
    file, kept = config.file, config.file.journal
    program = program_digest()
    if file.program.unapproved == "stop":
        check_approved(program, file.program.approved, "[program] approved in the table's file")
    key, journal = open_journal(Path(kept.path), Path(kept.signing_key), file.table.id, kept.archives)
    _log.info("the table's key is %s; the pit must show the same before it adopts this table", fingerprint(key.public))
    try:
        table, differs = replay_open_shoe(journal, config.rules, file.table.id, __version__)
        _log.info("the digest of program and configuration is %s", digest(program, config.digest))
        runtime = Runtime(
            *(config, journal, key.public, table, differs, program),
            mark=_mark(Path(file.control.socket)),
            pins=take_pins(file.pins.driver, file.pins.page, file.pins.lamps, file.pins.inputs),
            shoe=_shoe(file.shoe, table.last_report, Tap(tap_of(Path(kept.path)), since_boot_ms)),
            broker=_broker(file, journal),
            alive=lambda: notify("WATCHDOG=1"),
        )
        telling = asyncio.create_task(log.keep_telling())
        running = asyncio.create_task(runtime.run())
        for signal_ in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(signal_, running.cancel)
        try:
            async with serving(runtime, Path(file.control.socket)):
                _log.info("table %s is ready: shoe %s, phase %s", file.table.id, table.shoes_opened, runtime.face.phase)
                notify("READY=1")
                _settle_down()
                await asyncio.wait([running])
        finally:
            notify("STOPPING=1")
            running.cancel()
            telling.cancel()
            await asyncio.wait([running, telling])
        if not running.cancelled():
            running.result()  # raises what ended it
    finally:
        _close(journal)


def _shoe(shoe: ShoeSection, last_report: Report | None, tap: Tap) -> ShoeOnLine:
    asking = shoe.ask, shoe.answers_within_ms, shoe.present
    return ShoeOnLine(shoe.driver, shoe.port, shoe.baud, last_report, *asking, tap)


def _broker(file: TableFile, journal: Journal) -> MqttBroker:
    pit, own = file.pit, file.table.id
    topics = Topics(pit.root, own)
    return MqttBroker(
        *(pit.brokers, pit.port, f"table-{own}", pit.keepalive_s),
        Will(topics.state, offline_state(own, journal.epoch, journal.boot)),
        # The key first: it judges the others.
        [topics.pit_key, topics.ack, topics.award, topics.wager, topics.meters, topics.cosigned, topics.measure],
        tls=None if pit.tls is None else partial(client_context, pit.tls, own),
    )


def _settle_down() -> None:
    """Tune Python for the long run, after the daemon has started.

    Garbage collection is switched on, but skips all objects that were made during the start. So a collection during a
    round is short. Threads take turns more often, so that a thread that has something to send waits only briefly for
    the main loop's thread.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    sys.setswitchinterval(_SWITCH_S)


def _close(journal: Journal) -> None:
    """Close the journal. If the journal's file was removed or replaced meanwhile, first write the file anew at its
    path.

    Raises TableError `journal_gone` if the file cannot be written.
    """
    try:
        if (missing := journal.missing()) is not None:
            _log.error("the journal's file is gone from its place, and is written there again: %s", missing)
            journal.put_back()
    except OSError as error:
        what = f"The journal's file was removed or replaced, and could not be written to its place again: {error}."
        raise TableError("journal_gone", what, "Keep everything in its folder, and report this to the maker.") from None
    finally:
        journal.close()


def _mark(control: Path) -> Mark:
    """Return the `Mark`. This object records in a file the moment until which the shoe was heard. The next start of the
    daemon reads that file.

    The file lies beside the control socket, in a folder that is kept in memory. So the file is gone when the machine
    boots.
    """
    return Mark(control.with_name(f"{control.name}.heard"), boot_id())
