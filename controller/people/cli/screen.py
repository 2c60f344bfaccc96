"""`tablectl screen`: serve the web pages of a running table."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from controller.basics.errors import TableError
from controller.basics.extras import how_to_install
from controller.basics.journald import Kind, Priority, tell
from controller.daemon.config import load
from controller.daemon.config.screen_section import SHIPPED, ScreenSection, colours, images
from controller.daemon.control.feed import feed_of
from controller.daemon.control.past import past_of

if TYPE_CHECKING:
    from controller.people.screen.house import Face


def screen(table: Path, listen: str, names: Collection[str] = (), supervisor: bool = False) -> int:
    """Serve the table's web pages at the address `listen`, HOST:PORT. Browsers may also use any of the host names in
    `names` for the server. With `supervisor` the pages also show finished rounds. Raises TableError `screen_missing` if
    the libraries of the screen are not installed."""
    host, _, port = listen.rpartition(":")
    if not (host and port.isdecimal()):
        do = "Write HOST:PORT, for example 127.0.0.1:8080, or 0.0.0.0:8080 for other machines too."
        raise TableError("screen_address", f"{listen} is not an address to listen at.", do)
    try:
        from controller.people.screen.server import Sockets, serve
    except ImportError as error:
        do = how_to_install("screen")
        raise TableError("screen_missing", f"The screen needs a library that is not installed: {error}.", do) from None
    file = load(table).file
    control = Path(file.control.socket)
    sockets = Sockets(feed_of(control), past_of(control), control)
    return serve(sockets, host.strip("[]"), int(port), names, supervisor, face_of(file.screen), file.screen.day_begins)


def face_of(screen: ScreenSection) -> Face:
    """Return how the house wants its page to look: the colours, images and words in the section `[screen]` of the
    table's file. An unusable image is reported on standard error, and the page is shown without it."""
    from controller.people.screen.house import Face

    good, mistakes = images(screen)
    for key, what, do in mistakes:
        tell(f"{key}: {what}. {do}", Kind.PAGE_BLIND, sys.stderr, "tablectl", Priority.WARNING)
    own = colours(screen)
    return Face(
        colours=own if own != SHIPPED else {},
        images={name: (image.content, image.kind) for name, image in good.items()},
        celebrates=screen.celebrates,
        welcome=screen.welcome or {},
    )
