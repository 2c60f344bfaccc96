"""Makes a table's metrics for Prometheus from the table's feed (the lines in which it describes its state). The table's
own program is never asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from controller.contract.face.status import Status
from controller.contract.face.table import PublicFault
from controller.people.exposition import Exposition


class FaultCount:
    """Counts, by its code, how often each fault has stopped the table while this program listened.

    Each of `codes` is counted as 0 from the start, because Prometheus sees no increase if a series begins with 1.
    """

    def __init__(self, codes: Iterable[str]) -> None:
        self._last: str | None = None
        self.by_code = Counter(dict.fromkeys(codes, 0))

    def see(self, fault: PublicFault | None) -> None:
        """Count the fault that stops the table now, unless this same stop was counted already. (Each stop of a table
        has an id of its own.) `fault` is None if the table has not stopped."""
        now = None if fault is None else str(fault.id)
        if fault is not None and now != self._last:
            self.by_code[fault.code] += 1
        self._last = now


def table_metrics(live: bool, status: Status | None, view: dict[str, Any] | None, faults: FaultCount) -> str:
    """Return the table's metrics as text for Prometheus. `live` says whether the table is heard, and `view` is what the
    technician's page shows. If the table is not heard, none of its old values is given."""
    said = Exposition()
    said.add("table_heard", "gauge", "1 while the table's program tells what it does.", live)
    if not live or status is None or view is None:
        return said.text()
    pit, journal, fault = status.pit, status.journal, status.face.fault
    said.add("table_info", "gauge", "The version of the table's program.", [({"version": status.version}, 1)])
    said.add("table_up_seconds", "gauge", "Since the program started.", status.up_s)
    links = [({"link": link["name"]}, link) for link in view["links"]]
    said.add("table_link_up", "gauge", "1 while the link is well.", [(of, link["up"]) for of, link in links])
    said.add(
        "table_link_age_seconds",
        "gauge",
        "How long the link has been as it is, as far as this program has seen.",
        [(of, link["for_s"]) for of, link in links],
    )
    said.add("table_events_committed", "gauge", "Events in this epoch of the journal.", pit.head_seq)
    said.add("table_events_unacknowledged", "gauge", "Events that the pit has not acknowledged.", pit.unacknowledged)
    standing = [({"code": fault.code}, 1)] if fault else []
    said.add("table_fault", "gauge", "1 for the code of the fault at which the table stands.", standing)
    counted = [({"code": code}, count) for code, count in sorted(faults.by_code.items())]
    said.add("table_faults_total", "counter", "Faults that came while this program listened.", counted)
    said.add("table_meters_fresh", "gauge", "1 while progressive wagers are taken.", pit.meters_fresh)
    levels = [({"meter": meter}, cents) for meter, cents in sorted(pit.meters.items()) if cents is not None]
    said.add("table_meter_cents", "gauge", "A meter's level as the table shows it.", levels)
    said.add("table_journal_writable", "gauge", "1 unless the journal's disk fails.", journal.error is None)
    said.add("table_clock_set", "gauge", "1 while the network sets the clock.", status.clock_set)
    return said.text()
