"""`tablectl screen`: the pages of a running table."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from controller.basics.errors import TableError
from controller.daemon.config import load
from controller.daemon.control.feed import feed_of
from controller.daemon.control.past import past_of


def screen(table: Path, listen: str, names: Collection[str] = (), supervisor: bool = False) -> int:
    """Serve the table's pages at `listen`, HOST:PORT, to whoever asks by one of `names`; for a `supervisor`, finished
    rounds too. Raises TableError `screen_missing` without its libraries."""
    host, _, port = listen.rpartition(":")
    if not (host and port.isdecimal()):
        do = "Write HOST:PORT, for example 127.0.0.1:8080, or 0.0.0.0:8080 for other machines too."
        raise TableError("screen_address", f"{listen} is not an address to listen at.", do)
    try:
        from controller.people.screen.server import Sockets, serve
    except ImportError as error:
        do = 'Install them: pip install "table-controller[screen]"; in a copy of the project: tools/setup.sh.'
        raise TableError("screen_missing", f"The screen needs a library that is not installed: {error}.", do) from None
    control = Path(load(table).file.control.socket)
    return serve(Sockets(feed_of(control), past_of(control), control), host.strip("[]"), int(port), names, supervisor)
