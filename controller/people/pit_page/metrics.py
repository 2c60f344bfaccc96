"""The pit's metrics in Prometheus's text format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from controller.contract.pit_words import moment_ms
from controller.people.exposition import Exposition
from controller.people.pit_page.look import DrawnUp, Look, code_in, count_in, ms_in
from controller.people.pit_page.subscriber import HeardState
from controller.pit.reference.standing import Standing

STEPS = ("pending", "verified")


def pit_metrics(look: Look) -> str:
    """Return the pit's metrics at the moment of `look`, in Prometheus's text format. The age of the oldest waiting hit
    or event is in seconds, and 0 if none waits."""
    said = Exposition()
    said.add("pit_ledger_readable", "gauge", "1 while the ledger can be read.", look.ledger_error is None)
    said.add("pit_broker_connected", "gauge", "1 while the broker is connected.", look.broker_error is None)
    heard_s = None if look.pit_heard_ms is None else _s(look, look.pit_heard_ms)
    said.add("pit_heard_age_seconds", "gauge", "Since this program heard the pit last; empty before.", heard_s)
    if look.standing is not None and look.ledger_error is None:
        _of_ledger(said, look, look.standing)
    if look.account is not None:
        _of_account(said, look, look.account)
    if look.broker_error is None:
        _of_tables(said, look)
    return said.text()


def _of_ledger(metrics: Exposition, look: Look, standing: Standing) -> None:
    metrics.add("pit_running", "gauge", "1 while a pit runs on the ledger.", standing.running)
    can = standing.undecidable is None
    metrics.add("pit_decisions_possible", "gauge", "1 while people can decide on awards.", can)
    metrics.add(
        "pit_events_committed",
        "gauge",
        "Events of the table's adopted epoch that the ledger has.",
        [({"table": each.table}, each.seq) for each in standing.tables],
    )
    metrics.add("pit_meter_cents", "gauge", "A meter's level.", _by("meter", standing.levels))
    metrics.add("pit_reserve_cents", "gauge", "What a meter's reserve holds.", _by("meter", standing.reserves))
    metrics.add("pit_overflow_cents", "gauge", "What came at a meter's limit.", _by("meter", standing.overflows))
    metrics.add("pit_awards_owed_cents", "gauge", "Awards that are pending or verified.", standing.owed_cents)
    metrics.add("pit_awards_paid_cents", "gauge", "Awards that were paid, since the ledger began.", standing.paid_cents)
    waiting = {step: [each for each in standing.waiting if each.award.step == step] for step in STEPS}
    metrics.add(
        "pit_hits_waiting",
        "gauge",
        "Hits on which people have yet to decide, by their award's step.",
        _by("step", {step: len(each) for step, each in waiting.items()}),
    )
    metrics.add(
        "pit_hit_oldest_age_seconds",
        "gauge",
        "Since the oldest of the hits that wait at this step, by its table's clock.",
        [
            ({"step": step}, max((_s(look, moment_ms(each.hit_at)) for each in waiting[step]), default=0))
            for step in STEPS
        ],
    )
    held = sum(each.award.held for each in standing.waiting)
    metrics.add("pit_awards_held", "gauge", "Waiting awards of which a table told a step that the ledger lacks.", held)
    metrics.add("pit_alarms_total", "counter", "Alarms by code.", _by("code", standing.alarms_by_code))


def _of_account(metrics: Exposition, look: Look, drawn: DrawnUp) -> None:
    metrics.add("pit_account_findings", "gauge", "What does not balance in the account.", len(drawn.account.findings))
    metrics.add("pit_account_age_seconds", "gauge", "Since the account was drawn up.", _s(look, drawn.at_ms))
    levels = {each.meter: each.level_cents for each in drawn.account.meters}
    metrics.add(
        "pit_account_meter_cents", "gauge", "A meter's level in the account drawn up last.", _by("meter", levels)
    )


def _of_tables(metrics: Exposition, look: Look) -> None:
    tables = [({"table": table}, heard) for table, heard in sorted(look.states.items())]
    online = [(of, heard) for of, heard in tables if heard.online]
    adopted = () if look.standing is None else (each.table for each in look.standing.tables)
    missing = [({"table": table}, 0) for table in sorted({*adopted} - {*look.states})]
    metrics.add(
        "pit_table_online",
        "gauge",
        "1 while the table is at the broker; 0 also for an adopted table that this program never heard.",
        [*((of, heard.online) for of, heard in tables), *missing],
    )
    metrics.add(
        "pit_table_link_age_seconds",
        "gauge",
        "How long the table has been at the broker, or away from it, as far as this program has seen.",
        [(of, _s(look, heard.since_ms)) for of, heard in tables],
    )
    metrics.add(
        "pit_table_link_up",
        "gauge",
        "1 while the table's own link to its shoe or its disk is well.",
        [(of | {"link": link}, well) for of, heard in online for link, well in heard.state.get("links", {}).items()],
    )
    _of_streams(metrics, look, online)


def _of_streams(metrics: Exposition, look: Look, online: Sequence[tuple[dict[str, str], HeardState]]) -> None:
    """Add the metrics that connected tables report of themselves: how many of their events the pit has not
    acknowledged, how old the oldest of these is, and which fault has stopped the table."""
    metrics.add(
        "pit_table_unacknowledged_events",
        "gauge",
        "Events of the table that the pit has not acknowledged.",
        [(of, count) for of, heard in online if (count := count_in(heard.state, "unacknowledged")) is not None],
    )
    metrics.add(
        "pit_table_oldest_unacknowledged_age_seconds",
        "gauge",
        "Since the oldest event that the pit has not acknowledged, by the table's clock.",
        [(of, _s(look, ms_in(heard.state, "oldest_unacknowledged_at"))) for of, heard in online],
    )
    metrics.add(
        "pit_table_fault",
        "gauge",
        "1 for the code of the fault that has stopped the table.",
        [(of | {"code": code}, 1) for of, heard in online if (code := code_in(heard.state, "fault"))],
    )


def _by(label: str, values: dict[str, int]) -> Iterator[tuple[dict[str, str], float]]:
    return (({label: key}, value) for key, value in values.items())


def _s(look: Look, at_ms: int | None) -> float:
    """Return the seconds that passed from `at_ms` to the time of `look`. Return 0 if `at_ms` is None or later than
    `look`."""
    return 0.0 if at_ms is None else max(0, look.now_ms - at_ms) / 1000
