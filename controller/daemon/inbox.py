"""The items of the main loop's inbox: facts that came, and requests, each with the future that waits for its answer."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from controller.contract.envelope import Stamp
from controller.daemon.answer import Answer
from controller.table.acts.entry import Ambient, Request
from controller.table.facts import Fact


class Asked(Struct, frozen=True):
    """A request in the inbox, and the future that waits for its answer."""

    request: Request
    fault: str | None  # the id of the fault that the request answers
    shown: str | None  # the name of what was shown before the request
    answer: asyncio.Future[Answer] | None


class Arrived(Struct, frozen=True):
    """An item of the main loop's inbox, with the surroundings (such as the covered sensors) at the moment when it came.
    The surroundings are kept, because a chip that is placed after that moment must not count for this item."""

    what: Fact | Asked
    ambient: Ambient
    stamp: Stamp
    via: str
    on_time: bool = True  # read from the shoe's line as soon as it was there
