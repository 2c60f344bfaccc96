"""One check for each clause that a table must keep: what the kit does in the part of the pit, and what it must hear.

The kit hears the table's whole stream from event 1 on, because a pit that acknowledges event 0 is sent everything. The
last clauses are tried on all that the table has said.
"""

from __future__ import annotations

from controller.pit.conformance import table_bet_checks, table_said_checks, table_stream_checks, table_witness_checks
from controller.pit.conformance.checking import Checks
from controller.pit.conformance.table_kit import TableKit

CHECKS: Checks[TableKit] = Checks(
    {**table_stream_checks.CHECKS, **table_bet_checks.CHECKS, **table_said_checks.CHECKS, **table_witness_checks.CHECKS}
)
