"""The conformance checks of a pit, one for each clause of the contract that a pit must keep. In each check the kit acts
as one or more tables, and judges the pit's messages.

The numbers of the clauses are in `asyncapi.json`. A check continues with the table of the check before, if the pit has
acknowledged all of that table's events. Otherwise the check begins a new table.
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
