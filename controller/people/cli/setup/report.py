"""The commissioning report of `tablectl setup`: a page to print and to store. The page also contains the report as
JSON, signed with the table's key."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import asdict

from controller import __version__
from controller.basics.digest import program_digest
from controller.basics.errors import TableError
from controller.contract.face.status import Status
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import load_or_make_key
from controller.contract.signed_page import HELD, said_by, signed_page
from controller.daemon.clock import stamp_now
from controller.daemon.config import Config
from controller.people.care.machine import Machine
from controller.people.care.row import Row
from controller.people.cli.setup.draft import Wired
from drivers.header_map import PHYSICAL


class _Running(Struct, frozen=True):
    """The state of the running table at the end of the setup: its keys, its shoe and its pit."""

    table_key: str
    pit_key_offered: str
    pit_key_pinned: str
    shoe: str
    pit: str


class Report(Struct, frozen=True):
    """The results of a setup: the table, its wiring, what was found at each part, the state of the running table (None
    if the table does not run), and the result of each check of the machine."""

    table: str
    name: str
    game: str
    sheet: str
    by: str
    at: str
    version: str
    configuration_digest: str
    program_digest: str
    machine: dict[str, str]
    seats: dict[str, str]
    lamps: dict[str, Wired]
    inputs: dict[str, Wired]
    found: dict[str, str]
    warnings: list[str]
    checks: list[Row]
    status: _Running | None


def made_report(
    config: Config, by: str, found: Mapping[str, str], status: Status | None, rows: Iterable[Row]
) -> Report:
    """Build the report of a setup. `by` names the technician. `found` maps the name of each part, such as the shoe, to
    what the setup found there, in words. `rows` holds the results of the checks of the machine. `status` is the table's
    status at the end of the setup, or None if the table does not run."""
    pins = config.file.pins
    return Report(
        table=config.file.table.id,
        name=config.file.table.name,
        game=config.game.name,
        sheet=config.game.sheet,
        by=by,
        at=stamp_now().text(),
        version=__version__,
        configuration_digest=config.digest,
        program_digest=program_digest(),
        machine=_machine(),
        seats={str(seat.number): str(seat.k9 or "") for seat in config.rules.seats},
        lamps={name: Wired(lamp.bcm, lamp.active) for name, lamp in pins.lamps.items()},
        inputs={name: Wired(wired.bcm, wired.active, wired.pull) for name, wired in pins.inputs.items()},
        found=dict(found),
        warnings=list(config.warnings),
        checks=list(rows),
        status=None if status is None else _running(status),
    )


def _running(status: Status) -> _Running:
    key = status.pit.key
    return _Running(
        *(status.key_fingerprint, key.offered or "", key.pinned or ""),
        *(status.shoe.why, status.pit.standing.code),
    )


def _machine() -> dict[str, str]:
    model = Machine().text("/proc/device-tree/model") or platform.machine()
    return {"model": model, "name": platform.node(), "kernel": platform.release(), "python": platform.python_version()}


def page(report: Report, signing_key: Path) -> str:
    """Return the report of a setup as an HTML page that needs no other file, signed with the table's key. A table that
    never started has no key, so its page is not signed."""
    key = load_or_make_key(signing_key) if signing_key.exists() else None
    signer = "nobody: the table has not been started, and has no key" if key is None else fingerprint(key.public)
    sections = "".join(
        f"<h2>{escape(title)}</h2><table>{_rows(rows)}</table>\n" for title, rows in _sections(report, signer) if rows
    )
    name = escape(f"{report.name} ({report.table})")
    return signed_page(_PAGE.format(name=name, sections=sections, held=HELD), to_builtins(report), key)


def _sections(report: Report, signer: str) -> list[tuple[str, list[tuple[str, str]]]]:
    def wired(pin: Wired) -> str:
        pull = f", pull {pin.pull}" if pin.pull else ""
        return f"BCM {pin.bcm}, pin {PHYSICAL[pin.bcm]}, active {pin.active}{pull}"

    heads = ("table", "name", "game", "sheet", "by", "at", "version", "configuration_digest", "program_digest")
    as_it_runs = {"status": "the table was not started"} if report.status is None else asdict(report.status)
    return [
        ("Table", [*((name, text) for name, text in asdict(report).items() if name in heads), *report.machine.items()]),
        ("Seats and what is printed at each", [*report.seats.items()]),
        ("Lamps", [(name, wired(each)) for name, each in report.lamps.items()]),
        ("Inputs", [(name, wired(each)) for name, each in report.inputs.items()]),
        ("Found and looked at", [*report.found.items()]),
        ("The table as it runs", [*as_it_runs.items()]),
        ("Warnings", [("", warning) for warning in report.warnings]),
        ("Checks", [(each.part, f"{each.verdict.value}: {each.says}") for each in report.checks]),
        ("Signed", [("with the key", signer), ("technician", ""), ("supervisor", ""), ("date", "")]),
    ]


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<tr><th>{escape(name.replace('_', ' '))}<td>{escape(text)}" for name, text in rows)


class Signed(Struct, frozen=True):
    """The statements of a signed commissioning report: the table, when and by whom the report was made, and the public
    key that signed it."""

    table: str
    at: str
    by: str
    public_key: str


def verified(path: Path) -> Signed:
    """Check the signature of a commissioning report, and return who made the report, when, and for which table. The
    signature covers each byte of the page. Raises TableError `report_unreadable`, `report_altered`."""
    said = said_by(path, "tablectl setup")
    try:
        return convert(said, Signed)
    except ValidationError as error:
        do = "Name the page that `tablectl setup` wrote."
        raise TableError("report_unreadable", f"{path} is no report of a setup: {error}.", do) from None


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Commissioning of {name}</title><style>
body {{ font: 14px/1.4 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; width: 100%; }} h2 {{ font-size: 1.1em; margin: 1.2em 0 .3em; break-after: avoid; }}
td, th {{ border: 1px solid #bbb; padding: .3em .5em; text-align: left; vertical-align: top; overflow-wrap: anywhere; }}
th {{ width: 14em; font-weight: normal; background: #f4f4f4; }}
</style></head><body><main><h1>Commissioning of {name}</h1>
{sections}{held}
</main></body></html>
"""
