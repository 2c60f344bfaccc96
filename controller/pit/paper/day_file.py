"""Write the report of one gaming day in three forms: signed JSON, a spreadsheet (CSV) and an HTML page. The same day
always gives the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from html import escape
from pathlib import Path

from msgspec import Struct, to_builtins
from msgspec.structs import asdict

from controller.basics.money import amount, figures
from controller.contract.signing import Signer, signed
from controller.pit.reference.day_book import Day, Sums
from controller.words.found import houses_languages
from controller.words.language import language

FORM = 1
COLUMNS = ("day", "by", "name", "figure", "value")
"""The columns of the spreadsheet: a line for each figure."""

_STYLE = Path(__file__).with_name("day.css")
_BY = ("table", "shift", "dealer")
_MONEY = (
    *("wagered_cents", "returned_cents", "house_cents", "commission_taken_cents", "commission_owed_cents"),
    *("drop_cents", "progressive_cents", "awards_cents"),
)
_COUNTS = ("rounds", "voids", "unsettled", "hits")


class Figures(Struct, frozen=True):
    """The figures of a gaming day for one table, one shift or one dealer. In a mapping by name, the name "" holds the
    totals of all tables, all shifts or all dealers.

    `wagered_cents`, `returned_cents` and `house_cents` count settled rounds only.
    """

    rounds: int
    voids: int
    unsettled: int
    """Rounds whose wagers the table does not know."""

    hits: int
    wagered_cents: int
    returned_cents: int
    house_cents: int
    commission_taken_cents: int
    commission_owed_cents: int
    drop_cents: int | None
    """The count room's (`--drop`): a table counts no cash. Null where it has said nothing, and for each dealer."""

    progressive_cents: int
    """Progressive wagers that were locked, less those that were voided."""

    awards_cents: int
    theoretical_cents: int
    """What the house keeps on average of the wagers that a par sheet counts, rounded down."""

    theoretical_low_cents: int
    """In 19 days of 20 the house's hold lies between this and `theoretical_high_cents`."""

    theoretical_high_cents: int
    uncounted_cents: int
    """What was wagered on bets that no par sheet of the shoe knows."""


class DayFile(Day, frozen=True, kw_only=True):
    """The fields of the JSON file that `pitctl day` prints: the figures of one finished gaming day, signed by the pit's
    key."""

    gaming_day: int
    """The form of this file."""

    public_key: str
    """The pit's key, in hex."""

    by_table: dict[str, Figures]
    by_shift: dict[str, Figures]
    by_dealer: dict[str, Figures]
    signature: str
    """Of the other fields, as a table signs an event."""


def day_json(day: Day, signer: Signer, public_key: bytes) -> bytes:
    """Return the gaming day as one line of JSON, signed by the pit's key."""
    body = {
        "gaming_day": FORM,
        "public_key": public_key.hex(),
        **to_builtins(day, enc_hook=str),
        **{f"by_{what}": {name: asdict(_figures(sums)) for name, sums in day.by(what).items()} for what in _BY},
    }
    return signed(body, signer)


def day_csv(day: Day) -> str:
    """Return the figures of the gaming day as comma-separated values for a spreadsheet. The CSV has no signature."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(COLUMNS)
    for what in _BY:
        for name, sums in day.by(what).items():
            lines.writerows((day.day, what, _cell(name or "all"), *figure) for figure in asdict(_figures(sums)).items())
    for part in day.parts:
        for meter in part.meters:
            moved = {"opening_cents": meter.opening_cents, **meter.moved_cents, "closing_cents": meter.closing_cents}
            lines.writerows((day.day, "meter", meter.account, *figure) for figure in moved.items())
    lines.writerows((day.day, "paid", _cell(table), "paid_cents", cents) for table, cents in day.paid_cents.items())
    for figure in ("shown_cents", "voids_cents", "corrected_cents"):
        lines.writerow((day.day, "house", "", figure, getattr(day, figure)))
    for why, booked in day.void_entries.items():
        lines.writerows((day.day, why, account, "entry_cents", cents) for account, cents in booked.items())
    lines.writerows((day.day, "finding", "", "", _cell(finding)) for finding in day.findings)
    return file.getvalue()


def _cell(text: str) -> str:
    """Return the text as it goes into a spreadsheet cell. If a spreadsheet would run the text as a formula, put an
    apostrophe before the text."""
    return f"'{text}" if text[:1] in "=+-@\t" else text


def _figures(sums: Sums) -> Figures:
    low, high = sums.interval
    return Figures(
        **{name: getattr(sums, name) for name in (*_COUNTS, *_MONEY)},
        theoretical_cents=sums.theoretical.numerator // sums.theoretical.denominator,
        theoretical_low_cents=low,
        theoretical_high_cents=high,
        uncounted_cents=sums.uncounted_cents,
    )


def day_page(day: Day) -> str:
    """Return the gaming day as one HTML page to print. The page loads no other file. Its headings are in each of the
    house's languages, side by side."""
    tables = "".join(f"<h2>{_say(f'by_{what}')}</h2>{_table(day.by(what))}" for what in _BY)
    parts = "".join(
        f"<p>{escape(part.due_at)} – {escape(part.ended_at)}, {part.first_event}–{part.last_event}</p>"
        for part in day.parts
    )
    told = "".join(f"<li>{escape(each)}</li>" for each in (*day.findings, *day.notes))
    paid = "".join(_row(table, amount(cents)) for table, cents in day.paid_cents.items())
    borne = {"void": day.voids_cents, "corrected": day.corrected_cents}
    voids = "".join(f"<p>{_say(why)}: {amount(cents)}</p>{_entries(day, why)}" for why, cents in borne.items())
    return f"""<!doctype html>
<html lang="{houses_languages()[0]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(day.day)}</title>
<style>{_STYLE.read_text("utf-8")}</style>
</head>
<body>
<main>
<h1>{_say("title")} {escape(day.day)}</h1>
<p>{escape(str(day.rules))}</p>
{parts}
<h2>{_say("findings")}: {len(day.findings)}</h2>
<ul>{told}</ul>
{tables}
<h2>{_say("meters")}</h2>
{_meters(day)}
<h2>{_say("paid")}</h2>
<table>{paid}</table>
<p>{_say("shown")}: {amount(day.shown_cents)}</p>
{voids}
</main>
</body>
</html>
"""


def _table(by: dict[str, Sums]) -> str:
    names = [*_COUNTS, *_MONEY, "theoretical", "interval"]
    head = "".join(f"<th>{_say(name)}" for name in ("name", *names))
    rows = "".join(_row(name or "Σ", *_shown(sums)) for name, sums in by.items())
    return f"<table><tr>{head}</tr>{rows}</table>"


def _shown(sums: Sums) -> Iterator[str]:
    yield from (str(getattr(sums, name)) for name in _COUNTS)
    for name in _MONEY:
        cents = getattr(sums, name)
        yield "–" if cents is None else figures(cents)
    low, high = sums.interval
    outside = " !" if sums.variance and not low <= sums.house_cents <= high else ""
    yield figures(sums.theoretical.numerator // sums.theoretical.denominator)
    yield f"{figures(low)} … {figures(high)}{outside}"


def _meters(day: Day) -> str:
    rows = [
        _row(meter.account, figures(meter.opening_cents), *_moved(meter.moved_cents), figures(meter.closing_cents))
        for part in day.parts
        for meter in part.meters
    ]
    head = "".join(f"<th>{_say(name)}" for name in ("name", "opening", "moved", "closing"))
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _entries(day: Day, why: str) -> str:
    booked = day.void_entries.get(why, {})
    return f"<table>{''.join(_row(account, figures(cents)) for account, cents in booked.items())}</table>"


def _moved(moved: dict[str, int]) -> Iterator[str]:
    yield ", ".join(f"{why} {figures(cents)}" for why, cents in moved.items())


def _row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}' for cell in cells)}</tr>"


def _say(key: str) -> str:
    return escape(" / ".join(dict.fromkeys(language(each).text("day", key) for each in houses_languages())))
