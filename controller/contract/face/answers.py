"""The type of the answers on a table's control socket. `controller/daemon/control/server.py` makes them."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.contract.face.record import RoundRecord
from controller.contract.face.status import Status, Waits


class Answer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A table's answer to a request on its control socket. The JSON has the field `ok`, and further fields that depend
    on the request."""

    ok: bool
    """Whether the table did it, or told it. False: `code`, `what` and `do` say why not."""

    code: str = ""
    what: str = ""
    """What happened, in a sentence."""

    do: str = ""
    """What to do about it."""

    status: Status | None = None
    """The answer to "status", and a line of "watch"."""

    waits: Waits | None = None
    """The act, where it waits for a second person."""

    would: dict[str, Any] | None = None
    """What the act would do: the event that it would make, with what a person compares that with."""

    shown: str = ""
    """The name of `would`, by which a person says yes to exactly that."""

    hand: RoundRecord | None = None
    """The finished round that was asked for."""
