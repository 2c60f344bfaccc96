"""The conformance checks of a table, one for each clause of the contract that a table must keep. In each check the kit
acts as the pit, and judges the table's messages.

At the beginning the kit acknowledges event 0, so that the table sends it all events from event 1 onwards. The last
checks judge all messages that the table has sent.
"""

from __future__ import annotations

from controller.pit.conformance import table_bet_checks, table_said_checks, table_stream_checks, table_witness_checks
from controller.pit.conformance.checking import Checks
from controller.pit.conformance.table_kit import TableKit

CHECKS: Checks[TableKit] = Checks(
    {**table_stream_checks.CHECKS, **table_bet_checks.CHECKS, **table_said_checks.CHECKS, **table_witness_checks.CHECKS}
)
