"""One check for each clause that a pit must keep: what the kit does in the part of the tables, and what it must hear.

The numbers of the clauses are in `asyncapi.json`. Checks share a table as long as the table's stream of events is
sound.
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
