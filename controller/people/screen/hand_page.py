"""Makes one web page about a disputed round. The page needs no other file. `tablectl replay --html` writes it to a
file, and a supervisor's screen shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

from controller.contract.face.record import RoundRecord, RowTold, Step
from controller.contract.face.table import PublicHand
from controller.people.screen.wording import card_text
from controller.words.events import event_line, settlement_lines

_STYLE = Path(__file__).with_name("pages") / "hand.css"


def hand_page(record: RoundRecord) -> str:
    """Return an HTML page that shows one round step by step, made from the round's record."""
    first, last = record.steps[0], record.steps[-1]
    shoe, _, number = record.round.partition("/")
    facts = {
        "Table": f"{record.table}, {record.game}",
        "From": first.at,
        "To": f"{last.at}{'' if last.clock_set else ' (the clock of the table was not set)'}",
        "Journal": f"rows {record.rows[0]} to {record.rows[1]} of epoch {record.epoch}",
        "Chain": f"Each row fits the row before. Before row {record.rows[0]} the chain's head was "
        f"{record.chain[0]}, before row {record.rows[1]} {record.chain[1]}.",
        "Signatures": f"The signature of each event holds under the table's key {record.key}.",
        "Pit": _acknowledged(record),
    }
    told = "".join(f"<dt>{escape(name)}<dd>{escape(said)}" for name, said in facts.items())
    steps = "".join(_step(step) for step in record.steps)
    corrections = "".join(_step(step) for step in record.corrections)
    corrected = f"<h2>Corrected afterwards</h2><ol>{corrections}</ol>" if corrections else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(record.table)}, shoe {shoe}, round {number}</title>
<style>{_STYLE.read_text("utf-8")}</style>
</head>
<body>
<main>
<h1>Shoe {shoe}, round {number}</h1>
<dl>{told}</dl>
<h2>Step by step</h2>
<p>All times are UTC, to the millisecond, as the table stamped each row. The journal does not hold the chips that
sensors saw, or links that failed. So the lamps are shown as if every link had worked.</p>
<ol>{steps}</ol>
{corrected}
</main>
</body>
</html>
"""


def _acknowledged(record: RoundRecord) -> str:
    first, last = record.events
    events = f"events {first} to {last}"
    if record.acked_seq >= last:
        return f"The pit has acknowledged {events}; its last acknowledgement is of event {record.acked_seq}."
    return f"The pit has not acknowledged all of {events}: its last acknowledgement is of event {record.acked_seq}."


def _step(step: RowTold) -> str:
    return f"<li>{''.join(_parts(step))}</li>"


def _parts(step: RowTold) -> Iterator[str]:
    via = f' <span class="via">via {escape(step.via)}</span>' if step.via else ""
    yield f'<p><time>{escape(step.at)}</time> <span class="row">row {step.row}</span>{via}</p>'
    yield f"<p>{escape(step.fact)}</p>"
    if isinstance(step, Step):
        yield from _table_after(step)
    for event in step.events:
        lines = "\n".join([*settlement_lines(event), json.dumps(event, indent=2, ensure_ascii=False)])
        line = " ".join(event_line(event).split())
        yield f"<details><summary>Event {escape(line)}</summary><pre>{escape(lines)}</pre></details>"


def _table_after(step: Step) -> Iterator[str]:
    if step.failed:
        yield '<p class="bad">The program failed on this row; the next row says so.</p>'
    if step.frame:
        frame = " ".join(step.frame[place : place + 2] for place in range(0, len(step.frame), 2))
        bad = "" if step.again is None or step.again.startswith("which") else ' class="bad"'
        yield f"<p{bad}>Frame <code>{escape(frame)}</code> {escape(step.again or '')}</p>"
    if step.hands:
        yield f'<div class="felt">{"".join(map(_hand, step.hands))}</div>'
    lit = [f"{name.replace('_', ' ')}, {how.replace('_', ' ')}" for name, how in step.lamps.items() if how != "dark"]
    lamps = "".join(f'<span class="lamp">{escape(each)}</span>' for each in lit) or "all dark"
    yield f"<p>Then: {escape(step.then)}. Lamps: {lamps}</p>"


def _hand(hand: PublicHand) -> str:
    total = "" if hand.total is None else f'<span class="total">{hand.total}</span>'
    name = escape(hand.hand.replace("_", " "))
    return f'<span class="hand"><b>{name}</b>{"".join(map(_card, hand.cards))}{total}</span>'


def _card(card: str) -> str:
    if card == "--":
        return '<span class="card down">?</span>'
    red = " red" if card[-1] in "HD" else ""
    return f'<span class="card{red}">{escape(card_text(card))}</span>'
