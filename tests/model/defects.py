"""Defects that tests plant on purpose into the code that delivers a table's events to the pit. Each defect replaces one
piece of source text. For each, the list has the size of the model world in which the exploration must find the defect.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import NamedTuple

from controller.daemon.delivery import guarantee
from tests.model.world import Bounds

QUIET = Bounds(2, 0, 0)
KILLED = Bounds(2, 1, 0)
GOES_BACK = Bounds(2, 0, 1)
ONE_GOES_BACK = Bounds(1, 0, 1)
REFUSED = Bounds(2, 0, 0, 0, 0, 1)
CLOCK_BACK = Bounds(1, 0, 0, 1)
OLDER_ON_BOTH_SIDES = Bounds(2, 0, 1, 0, 1)


class Defect(NamedTuple):
    """A defect to plant into the source of the delivery: one text, which occurs there once, is replaced by another.
    `world` is the size of the model world in which the exploration must find the defect."""

    was: str
    becomes: str
    world: Bounds = QUIET


DEFECTS = (
    Defect("return range(first, last + 1)", "return range(first, last)"),
    Defect("return range(first, last + 1)", "return range(first + 1, last + 1)"),
    Defect("return range(first, last + 1)", "return range(first, last + 2)"),
    Defect("return range(first, last + 1)", "return range(max(1, first - 1), last + 1)"),
    Defect("self._claimed_seq) + self._window)", "self._claimed_seq) + self._window + 1)", Bounds(3, 0, 0)),
    Defect(
        "min(self.head_seq, max(self.acked_seq, self._claimed_seq) + self._window)", "self.acked_seq + self._window"
    ),
    Defect("        self.head_seq = head_seq\n\n    def connected", "\n    def connected"),
    Defect("self.phase = Phase.ASKING\n", "self.phase = Phase.BEHIND\n"),
    Defect(
        "if self.phase is Phase.ASKING:\n            self._stream(now_s)",
        "if self.phase is Phase.ASKING:\n            pass",
    ),
    Defect("if self.phase is Phase.ASKING or done:", "if done:"),
    Defect(
        "fits = not chain_differs and ack.seq <= self._known_seq",
        "fits = not chain_differs and ack.seq < self._known_seq",
    ),
    Defect("self.head_seq and own_chain != ack.chain", "self.head_seq and own_chain == ack.chain"),
    Defect("self._known_seq = head_seq  #", "self._known_seq = acked_seq  #", KILLED),
    Defect("self._known_seq = max(self._known_seq, last)", "pass"),
    Defect("self._known_seq = max(self._known_seq, last)", "self._known_seq = first"),
    Defect("early = ack.at < self._last_at", "early = False", GOES_BACK),
    Defect("early = ack.at < self._last_at", "early = ack.at > self._last_at", GOES_BACK),
    Defect("        self._last_at = ack.at\n        self._known", "        self._known", GOES_BACK),
    Defect("self._known_then_seq, self._claimed_seq = self._known_seq, 0", "self._claimed_seq = 0", GOES_BACK),
    Defect("return self._known_then_seq < ack.seq", "return self._known_then_seq <= ack.seq", GOES_BACK),
    Defect(
        "        self.head_seq = head_seq\n\n    def connected",
        "        self.head_seq = head_seq - 1\n\n    def connected",
    ),
    Defect(
        "        self.acked_seq = ack.seq\n", "        self.acked_seq = max(self.acked_seq, ack.seq)\n", ONE_GOES_BACK
    ),
    Defect("        self.acked_seq = ack.seq\n", "        self.acked_seq = ack.seq + 1\n"),
    Defect("        self.acked_seq = ack.seq\n", "        self.acked_seq = max(0, ack.seq - 1)\n"),
    Defect("            self._sent_seq = self.acked_seq\n            self._resend", "            self._resend"),
    Defect("self._window = min(2 * self._window, WINDOW)", "self._window = 0"),
    Defect("self._stream(now_s, window=1)", "self._stream(now_s, window=0)"),
    Defect("self.phase = Phase.REFUSED\n", "self.phase = Phase.BEHIND\n", REFUSED),
    Defect("self.phase = Phase.REFUSED\n", "self.phase = Phase.ALTERED\n", REFUSED),
    Defect("self._last_at = ack.at  # what takes back is later than every wrong ack", "pass", OLDER_ON_BOTH_SIDES),
    Defect("if fits and self.phase is Phase.ASKING:", "if not fits and self.phase is Phase.ASKING:", CLOCK_BACK),
    Defect("if fits and self.phase is Phase.ASKING:", "if False:", CLOCK_BACK),
)


def with_defect(defect: Defect | None) -> ModuleType:
    """Return the module that delivers a table's events, with this defect planted in it, or without any if `defect` is
    None. In the returned module at most two events may be sent and not acknowledged."""
    source = inspect.getsource(guarantee).replace("\nWINDOW = 50\n", "\nWINDOW = 2\n")
    assert "\nWINDOW = 2\n" in source
    if defect is not None:
        assert source.count(defect.was) == 1, f"{defect.was!r} stands there {source.count(defect.was)} times"
        source = source.replace(defect.was, defect.becomes)
    module = ModuleType("guarantee_of_the_model")
    sys.modules[module.__name__] = module  # where msgspec looks for a type's names
    exec(compile(source, guarantee.__file__, "exec"), vars(module))  # the product's own text
    return module
