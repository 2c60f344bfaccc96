"""One check for each clause that a pit keeps: what the kit does as its tables, and what it must hear.

`asyncapi.json` has the numbers. Checks share a table as long as its stream is sound.
"""

from __future__ import annotations

from controller.pit.conformance import pit_money_checks, pit_stream_checks, pit_win_checks, pit_witness_checks
from controller.pit.conformance.checking import Checks
from controller.pit.conformance.pit_kit import PitKit

CHECKS: Checks[PitKit] = Checks(
    {**pit_stream_checks.CHECKS, **pit_money_checks.CHECKS, **pit_win_checks.CHECKS, **pit_witness_checks.CHECKS}
)
