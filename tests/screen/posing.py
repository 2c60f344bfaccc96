"""Shows any state of a table on the players' page, without running a table. A test sends a made-up state to the page,
and the page shows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch

from controller.contract.face.feed import FeedLine, Rounds
from controller.contract.face.placard import Placard
from controller.contract.face.status import Status, WinShown
from controller.contract.face.table import Public
from controller.people.screen import audience, web
from controller.people.screen.hands import hand_view, meters_view
from controller.people.screen.house import SHIPPED, Face
from controller.people.screen.placards import placard_view
from controller.people.screen.server import Screen, Sockets, application
from controller.people.screen.shoes import shoe_view
from controller.people.screen.wording import spoken
from controller.table.lamps import lamps
from controller.table.placard import placard
from controller.table.public import public_rounds
from controller.words.found import SIDE_BY_SIDE
from tests.screen.browser import Browser
from tests.support.five_games import HEALTHY
from tests.support.tables import TableUnderTest
from tests.support.told import healthy, read_back

_NOWHERE = Path("/nowhere")


@contextmanager
def served(face: Face = SHIPPED, said: FeedLine | None = None) -> Iterator[str]:
    """Run a screen's web server in this process, in the house's look (`face`), and yield its address. The server is
    connected to no table. With `said`, it behaves as if a table had sent this line of its feed."""
    screen = Screen(Sockets(_NOWHERE, _NOWHERE, _NOWHERE))
    if said is not None:
        screen.feed.said, screen.feed.live = said, True
    listening, address = web.listen("127.0.0.1", 0)
    loop, over = asyncio.new_event_loop(), asyncio.Event()

    async def until_over() -> None:
        await over.wait()

    app = application(screen, face=face)
    thread = Thread(target=loop.run_until_complete, args=[web.serve(app, listening, (), until_over())])
    thread.start()
    try:
        with patch.object(audience, "BEAT_S", 3600):  # what the page hears, and when, is the test's
            yield address
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def parts(
    table: TableUnderTest,
    cents: dict[str, int] | None = None,
    face: Public | None = None,
    win: WinShown | None = None,
) -> dict[str, Any]:
    """Return all contents of the players' page for this table, by the page's parts. `cents` are the levels of the
    meters, `face` replaces the table's own public state, and `win` is the last win at another table."""
    said: Placard = read_back(placard(table.table.rules, "Table 1", SIDE_BY_SIDE))
    burning = {lamp: pattern.name.lower() for lamp, pattern in lamps(face or table.face, HEALTHY).items()}
    status: Status = healthy(face or table.face, lamps=burning, pit={"meters": cents or {}, "win": win})
    rounds: Rounds = read_back(Rounds(table.table.shoes_opened, public_rounds(table.table)))
    return {
        "link": {"live": True},
        "placard": placard_view(said),
        "shoe": shoe_view(rounds),
        "hand": hand_view(said, status),
        "meters": meters_view(said, status),
        "day": _day(rounds),
    }


def _day(shoe: Rounds) -> dict[str, int]:
    """Return the counts of the day's results: made-up counts of earlier shoes, plus the results of this shoe."""
    outcomes = [each.outcome for each in shoe.hands if not each.simulated]
    before = {"player": 596, "banker": 618, "tie": 126}
    return {outcome: count + outcomes.count(outcome) for outcome, count in before.items()}


class Page:
    """The players' page in a browser. A test can make it show made-up states of a table."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser, self._url = browser, url
        self._languages: tuple[str, ...] = SIDE_BY_SIDE
        self.load()

    def load(self, path: str = "", there: str = "typeof known === 'object' && known.link") -> None:
        """Load this path of the server into the browser. Wait until the JavaScript expression `there` is true in the
        page."""
        self._languages = SIDE_BY_SIDE
        self.browser.run(f"location.href = '{self._url}{path}'")
        self.browser.until(f"{there} && document.fonts.status === 'loaded'")

    def speak(self, *languages: str) -> None:
        """Load the page in these languages, unless it is already shown in them. The page shows one language, or two
        side by side."""
        if self._languages != languages:
            self.load(f"?lang={','.join(languages)}")
            self._languages = languages

    def pose(self, told: dict[str, Any]) -> None:
        """Make the page show these contents. `told` maps each part of the page to its contents."""
        self.browser.run(self._telling(told))

    def unfit_in(self, poses: Iterable[dict[str, Any]], expression: str) -> list[tuple[list[str], Any]]:
        """Show each of these made-up states on the page. Return for each a pair: what does not fit on the page, and the
        value of the JavaScript `expression`."""
        return self.browser.unfit_after(map(self._telling, poses), expression)

    def _telling(self, told: dict[str, Any]) -> str:
        said = json.dumps(spoken(told, self._languages))
        return f"for (const [part, said] of Object.entries({said})) heard(part, said)"
