"""A house's log for head office: every event as its table signed it, with a position, and a statement by the pit.

The log is a file of lines, each a JSON object. `{"position": 17, "event": {...}}` is an event. A line with `statement`,
signed by the pit, says how the ledger stood after the event of its `position`. Positions grow, and may have gaps.

Since form 2 a statement has what the meters follow from and no table tells: `decisions` is what people decided, in
order, each `after` the event of a position. A decision sets a meter's terms, takes a step of an award, or sets a stream
aside.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from controller.contract.canonical import parse_object
from controller.contract.old_events import as_now
from controller.contract.signing import Signer, signed
from controller.pit.reference.account import draw_up
from controller.pit.reference.adoptions import Adoptions
from controller.pit.reference.awards import Award, Awards
from controller.pit.reference.books import Books
from controller.pit.reference.clock import now_text
from controller.pit.reference.opening import Place, read_only
from controller.pit.reference.store import Store

STATEMENT_FORM = 2
_TERMS = ("meter", "since", "contribution", "reserve", "seed_cents", "reseed_at_most_cents")
_CELL = re.compile("[A-Za-z0-9][A-Za-z0-9_.:~-]{0,99}")
COLUMNS = ("position", "table", "epoch", "seq", "at", "type", "shoe", "round", "spot", "seat", "tier", "meter",
           "award", "step", "cents")  # fmt: skip
"""The columns of the log as CSV, for spreadsheets. Without the signatures this proves nothing."""


def read_events(at: Place, after: int) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The events after that position, in the order of commitment: position, epoch and event.

    The epoch is the name under which the ledger keeps the event: `ab12cd~3` for a stream that was set aside.
    """
    with read_only(at) as db:
        for position, epoch, body in db.stream(
            "SELECT number, epoch, body FROM event WHERE number > ? ORDER BY number", (after,)
        ):
            yield position, epoch, parse_object(bytes(body))


def json_line(position: int, epoch: str, event: dict[str, Any]) -> str:
    """An event's line of the log."""
    line: dict[str, object] = {"position": position, "event": event}
    if epoch != event.get("epoch"):
        line["set_aside_as"] = epoch
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def csv_line(position: int, epoch: str, event: dict[str, Any]) -> str:
    """An event's line of a spreadsheet."""
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
    """The value, or "?" for what no event of the contract says there: a spreadsheet would run "=1+1" as a formula."""
    well = value is None or type(value) is int or (isinstance(value, str) and _CELL.fullmatch(value))
    return value if well else "?"


def statement(at: Place, signer: Signer, public_key: bytes) -> bytes:
    """How the ledger stands now, signed. On a large ledger this takes long: the account is drawn up."""
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
        awards = Awards(db, books).listed()
        decisions = _decisions(db, {each.number: each.id for each in awards})
    names = ("table", "epoch", "public_key", "set_aside_as", "ended_at", "ended_by", "ended_why")
    body: dict[str, object] = {
        "statement": STATEMENT_FORM,
        "at": now_text(),
        "position": position,
        "public_key": public_key.hex(),
        "heads": heads,
        "adoptions": [dict(zip(names, (*row[:2], bytes(row[2]).hex(), *row[3:]), strict=True)) for row in adopted],
        "meters": [_meter(each) for each in account.meters],
        "decisions": decisions,
        "awards": [_award(each) for each in awards],
        "owed_cents": account.owed_cents,
        "paid_cents": account.paid_cents,
        "findings": list(account.findings),
    }
    return signed(body, signer)


def _meter(said: Struct) -> dict[str, object]:
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in asdict(said).items()}


def _award(award: Award) -> dict[str, object]:
    names = ("hit", "meter", "cents", "house_cents", "step")
    return {"award": award.id, **{name: getattr(award, name) for name in names}}


def _decisions(db: Store, awards: Mapping[int, str]) -> list[dict[str, object]]:
    """What people decided, in order. `awards` are the awards' names by their numbers."""
    terms = {
        number: dict(zip(_TERMS, row, strict=True))
        for number, *row in db.execute(f"SELECT number, {', '.join(_TERMS)} FROM terms")
    }
    set_aside = {
        number: {"table": table, "set_aside_as": name}
        for number, table, name in db.execute("SELECT number, table_id, set_aside_as FROM adoption").fetchall()
    }
    rules = {
        number: {"since": since, "house_rules": json.loads(body)}
        for number, since, body in db.execute("SELECT number, since, body FROM house_rules")
    }
    of_slips = dict(db.execute("SELECT number, award FROM slip"))
    decided: list[dict[str, object]] = []
    for after, what, subject, cents in db.execute(
        "SELECT after_event, what, subject, cents FROM decision ORDER BY number"
    ):
        match what:
            case "terms":
                decided.append({"after": after, "terms": terms[subject]})
            case "set_aside":
                decided.append({"after": after, **set_aside[subject]})
            case "house_rules":
                decided.append({"after": after, **rules[subject]})
            case "slip":  # of a slip that is gone, the account tells
                award = awards.get(of_slips.get(subject, 0))
                decided.append({"after": after, "slip": subject, "of_award": award, "cents": cents})
            case _:
                decided.append({"after": after, "award": awards[subject], "step": what, "cents": cents})
    return decided
