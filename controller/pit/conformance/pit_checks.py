"""One check for each clause that a pit keeps: what the kit does as its tables, and what it must hear.

`asyncapi.json` has the numbers. Checks share a table as long as its stream is sound.
"""

from __future__ import annotations

from controller.pit.conformance import (
    pit_money_checks,
    pit_stream_checks,
    pit_terms_checks,
    pit_win_checks,
    pit_witness_checks,
)
from controller.pit.conformance.checking import Checks
from controller.pit.conformance.pit_kit import PitKit

_ROOMS = (pit_stream_checks, pit_money_checks, pit_win_checks, pit_witness_checks, pit_terms_checks)

CHECKS: Checks[PitKit] = Checks({number: check for room in _ROOMS for number, check in room.CHECKS.items()})
