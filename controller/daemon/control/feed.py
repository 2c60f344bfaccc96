"""The feed: a second socket, beside the control socket, that sends what everybody may know and reads nothing.

Anybody on this machine may connect. Each line is the JSON of a `FeedLine`, with one of these keys:

- `placard`: the table's rules.
- `rounds`: the finished rounds of the open shoe, as corrected.
- `wiring`: the pin of each lamp and input.
- `status`: the table's status.
- `checkpoint`: the last signed checkpoint of the journal, if one was signed.

A new reader gets all these lines at once. After that, a line is sent again whenever it has changed, at the next beat of
the clock (`watchers.py`). So a reader needs no earlier line. The table's screen reads this feed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from controller.contract.face.feed import FeedLine, Rounds, Wiring
from controller.daemon.config import Config
from controller.daemon.control.lines import line
from controller.daemon.runtime import Runtime
from controller.table.placard import placard
from controller.table.public import public_rounds
from controller.table.rules import TableRules
from controller.table.states import FinishedRound
from drivers.header_map import PHYSICAL

SUFFIX = ".feed"


def feed_of(control: Path) -> Path:
    """Return the path of the feed's socket, which lies beside the control socket `control`."""
    return control.with_name(control.name + SUFFIX)


def feed_lines(runtime: Runtime) -> Callable[[], Sequence[bytes]]:
    """Return a function that renders the lines of the feed, the public view of this table. The function renders the
    line of the rules and the line of the finished rounds anew only if they have changed."""
    languages = runtime.config.file.screen.languages
    rules: TableRules | None = None
    finished: tuple[FinishedRound, ...] | None = None
    shoe: int | None = None
    placard_line = rounds_line = b""
    wiring_line = line(FeedLine(wiring=wiring(runtime.config)))

    def lines() -> Sequence[bytes]:
        nonlocal rules, finished, shoe, placard_line, rounds_line
        table = runtime.table
        if table.rules is not rules:
            rules = table.rules
            placard_line = line(FeedLine(placard=placard(rules, runtime.table_name, languages)))
        if table.finished is not finished or table.shoes_opened != shoe:
            finished, shoe = table.finished, table.shoes_opened
            rounds_line = line(FeedLine(rounds=Rounds(shoe, public_rounds(table))))
        signed = runtime.last_checkpoint
        checkpoint_line = b"" if signed is None else line(FeedLine(checkpoint=signed.framed()))
        return placard_line, rounds_line, wiring_line, line(FeedLine(status=runtime.told.status())), checkpoint_line

    return lines


def wiring(config: Config) -> Wiring:
    """Return the pin to which each lamp and input of the table is wired, and the configuration's digest."""
    pins = config.file.pins
    return Wiring(
        digest=config.digest,
        lamps={name: (lamp.bcm, PHYSICAL.get(lamp.bcm)) for name, lamp in pins.lamps.items()},
        inputs={name: (input_.bcm, PHYSICAL.get(input_.bcm)) for name, input_ in pins.inputs.items()},
    )
