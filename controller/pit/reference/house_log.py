"""Write a house's log for head office. The log has every event as its table signed it, and a statement that the pit
signs.

The log is a file of lines, each a JSON object. `{"position": 17, "event": {...}}` is an event. A line with `statement`,
signed by the pit, says what the ledger held after the event of its `position`. Positions grow, and may have gaps.

Some things determine the meters but are in no table's events. A statement of form 2 or later has them. `decisions` is
what people decided, in order. Each has in `after` the position of the last event before it. A decision sets a meter's
terms, takes a step of an award, sets a stream aside, adopts or retires a table, or dismisses what a table reported.
Since form 3 each decision names the accounts, is signed by the key that the pit had then, and holds the digest of the
decision before it. `rotations` lead from the pit's former keys to its present key. `checkpoints` are the tables'
checkpoints that the pit cosigned, each with its proof from the one before. `forks` are pairs of notes: a note that the
pit cosigned, and a note that contradicts it, because no proof joins them.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import asdict

from controller.contract.canonical import parse_object
from controller.contract.old_events import as_now
from controller.contract.pit_words import Rotation
from controller.contract.signing import Signer, signed
from controller.pit.reference import decisions
from controller.pit.reference.account import draw_up
from controller.pit.reference.adoptions import Adoptions
from controller.pit.reference.award import Award
from controller.pit.reference.awards import Awards
from controller.pit.reference.books import Books
from controller.pit.reference.clock import now_text
from controller.pit.reference.opening import Place, read_only
from controller.pit.reference.store import Store
from controller.pit.reference.witness import forks

STATEMENT_FORM = 3
_CELL = re.compile("[A-Za-z0-9][A-Za-z0-9_.:~-]{0,99}")
COLUMNS = ("position", "table", "epoch", "seq", "at", "type", "shoe", "round", "spot", "seat", "tier", "meter",
           "award", "step", "cents")  # fmt: skip
"""The columns of the log as CSV, for spreadsheets. Without the signatures this proves nothing."""


def read_events(at: Place, after: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield each event after the position `after`, in the order of commitment, as a tuple of position, epoch and event.

    The epoch is the name under which the ledger keeps the event, for example `ab12cd~3` if people set the event's
    stream aside.
    """
    with read_only(at) as db:
        for position, epoch, body in db.stream(
            "SELECT number, epoch, body FROM event WHERE number > ? ORDER BY number", (after,)
        ):
            yield position, epoch, parse_object(bytes(body))


def json_line(position: int, epoch: str, event: dict[str, Any]) -> str:
    """Return this event as one line of the log, in JSON."""
    line: dict[str, object] = {"position": position, "event": event}
    if epoch != event.get("epoch"):
        line["set_aside_as"] = epoch
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def csv_line(position: int, epoch: str, event: dict[str, Any]) -> str:
    """Return this event as one line of comma-separated values for a spreadsheet."""
    row: dict[str, object] = as_now(event) | {"position": position, "epoch": epoch}
    match row:
        case {"type": "hit", "progressive": {"meter": meter}}:
            row["meter"] = meter
        case {"type": "hit", "fixed": {"cents": cents}}:
            row["cents"] = cents
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([_cell(row.get(column)) for column in COLUMNS])
    return line.getvalue()


def _cell(value: object) -> object:
    """Return the value as it goes into a spreadsheet cell. Return "?" for any other value than a whole number, a plain
    word or None, because a spreadsheet would run a text such as "=1+1" as a formula."""
    well = value is None or type(value) is int or (isinstance(value, str) and _CELL.fullmatch(value))
    return value if well else "?"


def statement(at: Place, signer: Signer, public_key: bytes, rotations: Sequence[Rotation] = ()) -> bytes:
    """Return the pit's signed statement of what the ledger holds now. On a large ledger this takes long, because all
    sums are computed anew."""
    with read_only(at) as db:
        account, books = draw_up(db), Books(db)
        (position,) = db.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()
        adopted = db.execute(
            "SELECT table_id, epoch, public_key, set_aside_as, ended_at, ended_by, ended_why FROM adoption"
            " ORDER BY number"
        ).fetchall()
        heads = {
            table: {"epoch": adoption.epoch, "seq": row[0], "chain": parse_object(bytes(row[1])).get("chain")}
            for table, adoption in Adoptions(db).heard().items()
            for row in db.execute(
                "SELECT seq, body FROM event WHERE table_id = ? AND epoch = ? ORDER BY seq DESC LIMIT 1",
                (table, adoption.epoch),
            )
        }
        decided, awards = decisions.every(db), [_award(each) for each in Awards(db, books).listed()]
        journals = _journals(db)
        terms_digest = books.meter_terms.digest()
    names = ("table", "epoch", "public_key", "set_aside_as", "ended_at", "ended_by", "ended_why")
    body: dict[str, object] = {
        "statement": STATEMENT_FORM,
        "at": now_text(),
        "position": position,
        "public_key": public_key.hex(),
        "heads": heads,
        "adoptions": [dict(zip(names, (*row[:2], bytes(row[2]).hex(), *row[3:]), strict=True)) for row in adopted],
        "meters": [_meter(each) for each in account.meters],
        "rotations": [to_builtins(each) for each in rotations],
        "decisions": decided,
        "terms_digest": terms_digest,
        "awards": awards,
        **journals,
        "house_reserve_cents": account.house_reserve_cents,
        "owed_cents": account.owed_cents,
        "paid_cents": account.paid_cents,
        "findings": list(account.findings),
    }
    return signed(body, signer)


def _journals(db: Store) -> dict[str, object]:
    """Return a dict with two lists: `checkpoints`, the checkpoints that the pit cosigned, and `forks`, the pairs of
    notes that no proof joins."""
    cosigned = db.execute("SELECT table_id, epoch, note, old, proof FROM cosigned ORDER BY number").fetchall()
    names = ("table", "epoch", "note", "old", "proof")
    return {
        "checkpoints": [dict(zip(names, (*row[:4], json.loads(row[4])), strict=True)) for row in cosigned],
        "forks": [(fork.cosigned, fork.shown) for fork in forks(db)],
    }


def _meter(meter: Struct) -> dict[str, object]:
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in asdict(meter).items()}


def _award(award: Award) -> dict[str, object]:
    names = ("hit", "meter", "cents", "house_cents", "step")
    return {"award": award.id, **{name: getattr(award, name) for name in names}}
