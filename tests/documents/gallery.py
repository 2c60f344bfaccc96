"""Every house's page at every size and in three scripts, for somebody to look at: `make pictures EACH=FOLDER`.

Each house is seen after a round, while a round is played, stopped, and with a hit or a tie, each time at another
size and in another script. The cards are dealt by the table's own rules, and so are the roads.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from controller.contract.face.table import PublicHit
from controller.daemon.config import load
from controller.rules.game.bets import Row
from controller.rules.game.seating import Actives
from controller.table.acts.seats import ChooseActives
from controller.table.rules import TableRules
from tests.screen.browser import chromium
from tests.screen.posing import Page, parts, served
from tests.support.five_games import call, seats, wagers
from tests.support.tables import TABLES, TableUnderTest
from tests.support.told import but

HOUSES = sorted(path.stem for path in TABLES.glob("*.toml"))
LOOKS = ("panel", "small", "monitor", "portrait", "4k")
SCRIPTS = (("en", "vi"), ("zh-Hant", "en"), ("km",))
STATES = ("over", "playing", "stopped", "hit")
WINNING = {"two_perfect_pairs": "9D 4S 9D 4S", "personal_vs_personal": "KC KC 9C 9C"}
"""Cards that win an award, by its name: a K9 is seat 4's."""

_TIED, _TIED_BY_ROLES = "9S 9H KD KC", "9S KD 9H KC"
LEVELS = (1_234_567_890, 2_345_612, 123_400)
_BEGUN_ANEW = 100_000  # in cents: what a meter shows once it was won
_ROUNDS = 46
_SEAT_ROUNDS = 12


def dealt(rules: TableRules, seed: int, rounds: int) -> tuple[TableUnderTest, Iterator[str]]:
    """A table of this house after so many rounds, and the cards that are left."""
    left = shoe(random.Random(seed), rules.shoe.decks)
    table = TableUnderTest(rules).open_shoe("2H 3H 4H")
    for _ in range(rounds):
        lock(table)
        while not table.face.phase.startswith("wagers_open"):
            go_on(table, left)
    return table, left


def shoe(rng: random.Random, decks: int) -> Iterator[str]:
    """Shuffled cards, without those that were burned."""
    cards = [rank + suit for rank in "A23456789TJQK" for suit in "SHDC"] * decks
    for burned in ("2H", "3H", "4H"):
        cards.remove(burned)
    rng.shuffle(cards)
    return iter(cards)


def lock(table: TableUnderTest) -> None:
    """Begin a round. Where seats play, all are taken; where each has its hand, all but the third have a wager."""
    play = table.rules.play
    if play.roles_play:
        table.do(seats(*table.face.seats))
        if not table.face.actives:
            table.do(ChooseActives(Actives(player=2, banker=5), "dealer"))
    if play.seats_play:
        table.do(*wagers(", ".join(f"{seat} hand 1000" for seat in table.face.seats if seat != 3)))
    table.lock()


def go_on(table: TableUnderTest, left: Iterator[str]) -> None:
    """The next thing of a round: a card, or a call."""
    face = table.face
    assert face.fault is None, face.fault
    if face.reveal:
        table.do(call("reveal"))
    elif face.choice is not None:
        if (
            table.ask(call("stand")) is not None
        ):  # nobody tells of which calls a seat may choose whose cards lie face down
            table.do(call("hit"))
    else:
        table.draw(next(left))


def told(rules: TableRules, state: str, seed: int) -> dict[str, Any]:
    """What the page is told of a table in this state."""
    table, left = dealt(rules, seed, _SEAT_ROUNDS if rules.play.seats_play else _ROUNDS)
    if state in ("playing", "stopped"):
        lock(table)
        for _ in range(3):
            go_on(table, left)
        if state == "stopped":
            table.draw("??")
    won = _progressive(rules) if state == "hit" else None
    if state in ("hit", "tie"):
        lock(table)
        tied = _TIED_BY_ROLES if rules.play.roles_play else _TIED
        coming = chain((WINNING[won[1].award or ""] if won else tied).split(), left)
        while not table.face.phase.startswith("wagers_open"):
            go_on(table, coming)
    face = table.face
    if won is not None:
        spot, row = won
        of = (face.shoe or 1, face.round or 1, spot, 4)
        face = but(face, hits=(PublicHit(*of, row.award or "", row.meter, "1:1", LEVELS[0], "pending", LEVELS[0]),))
    cents = dict(zip(parts(table)["meters"]["cents"], cycle(LEVELS), strict=False))
    if won is not None:
        cents[won[1].meter or ""] = _BEGUN_ANEW
    return parts(table, cents, face)


def _progressive(rules: TableRules) -> tuple[str, Row] | None:
    won = [(bet.spot, row) for bet in rules.bets for row in bet.rows if row.meter]
    return won[0] if won else None


def moment(rules: TableRules, state: str) -> str:
    """This state, or another one where the house has no progressive that could be hit."""
    if state != "hit" or _progressive(rules):
        return state
    return "over" if rules.play.seats_play else "tie"


def each(houses: list[str]) -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """House, size, languages and state of each picture: at each size each script, and over the sizes each state."""
    for house in houses:
        for place, size in enumerate(LOOKS):
            for turn, languages in enumerate(SCRIPTS):
                yield house, size, languages, STATES[(place + turn) % len(STATES)]


def main(folder: Path, houses: list[str]) -> None:
    """Write the pictures into this folder, and print what does not fit on a page."""
    folder.mkdir(parents=True, exist_ok=True)
    with served() as url, chromium(folder) as browser:
        page = Page(browser, url)
        for house, size, languages, state in each(houses):
            browser.size(size)
            page.load()
            page.speak(*languages)
            rules = load(TABLES / f"{house}.toml").rules
            state = moment(rules, state)
            page.pose(told(rules, state, 7))
            print(house, size, *languages, state, *browser.unfit(), sep="; ", flush=True)
            name = f"{house}-{size}-{languages[0]}-{state}"
            browser.picture(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or HOUSES)
