"""The command `table-controller-head-office`, which checks the logs of several houses and shows what it found."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import to_builtins
from msgspec.structs import replace

from controller.basics.command import OptionParser
from controller.basics.errors import TableError
from controller.basics.journald import Kind, Priority, tell, tell_error
from controller.basics.money import figures
from controller.basics.waited import waited_for
from controller.contract.keys import load_or_make_key, write_whole
from controller.contract.note import read_note
from controller.pit.head_office import approved, remembered
from controller.pit.head_office.audit import House, audit, compare_houses
from controller.pit.head_office.remembered import Seen
from controller.pit.head_office.witness import HEAD_OFFICE

_NAME = "table-controller-head-office"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the houses' logs and print what was found. Return the exit code: 1 if a house has a finding, or if a log or
    another file cannot be used, else 0."""
    options = parser().parse_args(arguments)
    if options.cosign is not None and options.remember is None:
        parser().error("--cosign needs --remember: a witness keeps what it has cosigned")
    try:
        known = {} if options.remember is None else remembered.load(options.remember)
        terms = None if options.terms is None else approved.load(options.terms)
        with waited_for("Checking every event"):
            houses = [
                audit(name, files, _pins(options.keys, name), known.get(name), terms)
                for name, files in _by_house(options.logs).items()
            ]
            compare_houses(houses, known)
        sound = {house.name: house.seen for house in houses if house.seen is not None and not house.findings}
        if options.cosign is not None:
            sound = _cosign(options.cosign, houses, sound)
        if options.remember is not None:
            remembered.save(options.remember, known | sound)
        if options.cosign is not None:
            _write_notes(options.cosign, houses, sound)
    except TableError as error:
        tell_error(error, sys.stderr, _NAME)
        return 1
    if options.json:
        print(json.dumps([to_builtins(house) for house in houses], indent=2))
    else:
        for house in houses:
            _show(house)
    return 1 if any(house.findings for house in houses) else 0


def _cosign(folder: Path, houses: Sequence[House], sound: Mapping[str, Seen]) -> dict[str, Seen]:
    """Cosign the newest checkpoints of each sound house (a house whose log has no finding). Return a copy of `sound`,
    what head office remembers of each sound house, with these cosigned checkpoints added."""
    folder.mkdir(parents=True, exist_ok=True)
    key, now_s = load_or_make_key(folder / "head-office.key"), int(time.time())
    print(f"head office cosigns with the public key {key.public.hex()}", file=sys.stderr)
    cosigned = {
        house.name: {
            origin: str(note.cosigned(HEAD_OFFICE, key, key.public, now_s))
            for origin, text in house.checkpoints.items()
            if (note := read_note(text)) is not None
        }
        for house in houses
    }
    return {name: replace(seen, checkpoints=seen.checkpoints | cosigned[name]) for name, seen in sound.items()}


def _write_notes(folder: Path, houses: Sequence[House], sound: Mapping[str, Seen]) -> None:
    """Write into the folder the cosigned checkpoints of each sound house (a house whose log has no finding). For each
    fork, write the two notes that contradict each other. Must be called after the cosigned checkpoints are saved in the
    file of `--remember`."""
    for house in houses:
        if house.name in sound:
            for origin, text in sound[house.name].checkpoints.items():
                write_whole(folder / f"{house.name}.{origin.replace('/', '.')}.note", text.encode())
        for number, notes in enumerate(house.forks, 1):
            write_whole(folder / f"{house.name}.fork-{number}", "\n".join(notes).encode())


def parser() -> argparse.ArgumentParser:
    """Return the command-line parser of `table-controller-head-office`."""
    parser = OptionParser(
        prog=_NAME,
        description="Checks the logs of houses, which `pitctl events` and `pitctl statement` write.",
    )
    parser.add_argument(
        "logs", nargs="+", type=_log, metavar="HOUSE=FILE", help="a house's log; a log of several files: in their order"
    )
    parser.add_argument(
        "--keys",
        type=Path,
        metavar="FILE",
        help="the keys that head office has noted, a line each: HOUSE, then a table or `pit`, then the fingerprint",
    )
    parser.add_argument(
        "--terms",
        type=Path,
        action="append",
        metavar="FILE",
        help="the terms that head office approved, in the form of config/pit.toml; once for each change, in order",
    )
    parser.add_argument(
        "--remember",
        type=Path,
        metavar="FILE",
        help="what head office has seen of each house: an older log, or another, is found; a sound log is added",
    )
    parser.add_argument(
        "--cosign",
        type=Path,
        metavar="FOLDER",
        help="with --remember: cosign the newest checkpoint of each table of a sound house. Notes, the proofs of two "
        "histories and head office's own key are kept in this folder",
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON, for a program")
    return parser


def _log(text: str) -> tuple[str, Path]:
    house, _, path = text.partition("=")
    if not (house and path):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOUSE=FILE")
    return house, Path(path)


def _by_house(logs: Sequence[tuple[str, Path]]) -> dict[str, list[Path]]:
    houses: dict[str, list[Path]] = {}
    for name, path in logs:
        houses.setdefault(name, []).append(path)
    return houses


def _pins(path: Path | None, house: str) -> dict[str, str] | None:
    """Return the key fingerprints that head office has noted for a house, by the table's name; the fingerprint of the
    pit's key is under `pit`. Return None if `path` is None. Raises TableError `keys_unreadable`."""
    if path is None:
        return None
    do = (
        "A line is: HOUSE TABLE FINGERPRINT, for example `north royal9-01 139e 3940 ...`; the pit's is `north pit ...`."
    )
    try:
        lines = [line.split() for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise TableError("keys_unreadable", f"The keys {path} cannot be read: {error}.", do) from None
    if short := next((line for line in lines if len(line) < 3), None):
        raise TableError("keys_unreadable", f"The line {' '.join(short)!r} of {path} has no key.", do)
    return {name: " ".join(words) for of, name, *words in lines if of == house}


def _show(house: House) -> None:
    stated = f"stated {house.stated_at}" if house.stated_at else "never stated"
    _say(house, f"{house.name}: {house.events:,} events, to position {house.position}, {stated}")
    for name, shown in house.keys.items():
        _say(house, f"    key of {name:<24}{shown}")
    for meter, cents in house.meters.items():
        level, reserve, wagered = (figures(cents[key]) for key in ("level_cents", "reserve_cents", "wagered_cents"))
        _say(house, f"    {meter:<24}{level:>16}  reserve {reserve:>12}  wagered {wagered:>16}")
    for hit in house.hits:
        how = f"{figures(hit.cents)}  {hit.step}, the table was told: {hit.told}"
        _say(house, f"    hit {hit.id:<30}{hit.at}  {hit.tier}  {how}", table=hit.table)
    if house.terms_digest is not None:
        _say(house, f"    terms {house.terms_digest}")
    for alarm in house.alarms:
        _say(house, f"    ALARM: {alarm}", Kind.HOUSE_ALARM, Priority.WARNING)
    for note in house.notes:
        _say(house, f"    note: {note}", Kind.HOUSE_NOTE, Priority.WARNING)
    for finding in house.findings:
        _say(house, f"    WRONG: {finding}", Kind.HOUSE_FINDING, Priority.ERR)
    if not house.findings:
        _say(house, "    everything holds", Kind.HOUSE_SOUND)
    else:
        _say(house, f"    findings: {len(house.findings)}", Kind.HOUSE_FINDING, Priority.ERR)


def _say(
    house: House,
    line: str,
    kind: Kind = Kind.HOUSE_SHOWN,
    priority: Priority = Priority.INFO,
    table: str | None = None,
) -> None:
    """Print one line about the house. Replace each character that cannot be printed by its code, because such a
    character could move the cursor or reverse the direction of the text."""
    told = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
    tell(told, kind, sys.stdout, _NAME, priority, {"HOUSE": house.name, "TABLE_ID": table})
