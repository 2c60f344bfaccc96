"""Makes pictures of every house's page at every size and in three scripts, for somebody to look at: `make pictures
EACH=FOLDER`.

Each house is shown with its own look in many states: during a round, after a round, stopped, with a tie, with hits of a
meter, with a win at another table, and while nothing comes from the table, for a short or a long time. Size, script and
currency change from picture to picture. The cards are dealt by the table's own rules, and the roads follow from them.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, cycle, groupby, islice, product
from operator import itemgetter
from pathlib import Path
from typing import Any
from unittest.mock import patch

from controller.basics import money
from controller.basics.money import CURRENCIES
from controller.contract.face.status import WinShown
from controller.contract.face.table import PublicHit
from controller.daemon.config import load
from controller.people.cli.screen import face_of
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
STATES = ("over", "playing", "stopped", "hit", "elsewhere", "hits", "silent", "stale")
_NO_METERS = {"hit": "tie", "hits": "over", "elsewhere": "playing"}
"""What is seen instead of a house without progressives."""

_STALE = "liveMs -= STALE_MS; standing()"
WINNING = {"two_perfect_pairs": "9D 4S 9D 4S", "personal_vs_personal": "KC KC 9C 9C"}
"""Cards that win an award, by its name: a K9 is seat 4's."""

_BESIDE = {"personal_vs_personal": "other_identical"}
"""What seat 6 wins by the same cards, by seat 4's award. Where no other award stands here, both win the same."""

_TIED, _TIED_BY_ROLES = "9S 9H KD KC", "9S KD 9H KC"
LEVELS = (1_234_567_890, 2_345_612, 123_400)
_BEGUN_ANEW = 100_000  # in cents: what a meter shows once it was won
_ROUNDS = 46
_SEAT_ROUNDS = 12


def dealt(rules: TableRules, seed: int, rounds: int) -> tuple[TableUnderTest, Iterator[str]]:
    """Return two values: a table with these rules at which `rounds` rounds have been dealt, and the cards that are left
    in its shoe."""
    left = shoe(random.Random(seed), rules.shoe.decks)
    table = TableUnderTest(rules).open_shoe("2H 3H 4H")
    for _ in range(rounds):
        lock(table)
        while not table.face.phase.startswith("wagers_open"):
            go_on(table, left)
    return table, left


def shoe(rng: random.Random, decks: int) -> Iterator[str]:
    """Yield the cards of a shuffled shoe, without the three that were burned."""
    cards = [rank + suit for rank in "A23456789TJQK" for suit in "SHDC"] * decks
    for burned in ("2H", "3H", "4H"):
        cards.remove(burned)
    rng.shuffle(cards)
    return iter(cards)


def lock(table: TableUnderTest) -> None:
    """Begin a round: make wagers and lock them. In a game with two active seats, all seats are taken. In a game in
    which each seat has its own hand, all seats but the third make a wager."""
    play = table.rules.play
    if play.roles_play:
        table.do(seats(*table.face.seats))
        if not table.face.actives:
            table.do(ChooseActives(Actives(player=2, banker=5), "dealer"))
    if play.seats_play:
        table.do(*wagers(", ".join(f"{seat} hand 1000" for seat in table.face.seats if seat != 3)))
    table.lock()


def go_on(table: TableUnderTest, left: Iterator[str]) -> None:
    """Do the next thing that a round needs: make a call, or draw a card from `left`."""
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
    """Return the JSON that the players' page receives from a table in this state, such as "playing" or "hit"."""
    table, left = dealt(rules, seed, _SEAT_ROUNDS if rules.play.seats_play else _ROUNDS)
    if state in ("playing", "stopped"):
        lock(table)
        for _ in range(3):
            go_on(table, left)
        if state == "stopped":
            table.draw("??")
    won = _progressives(rules)
    if state in ("hit", "hits", "tie"):
        lock(table)
        tied = _TIED_BY_ROLES if rules.play.roles_play else _TIED
        coming = chain((tied if state == "tie" else WINNING[won[0][1].award or ""]).split(), left)
        while not table.face.phase.startswith("wagers_open"):
            go_on(table, coming)
    face = table.face
    cents = dict(zip(parts(table)["meters"]["cents"], cycle(LEVELS), strict=False))
    if state in ("hit", "hits"):
        of = face.shoe or 1, face.round or 1
        spot, first = won[0]
        second = _row(rules, _BESIDE.get(first.award or "", first.award or ""))
        steps = [(4, first, LEVELS[0], "pending"), (6, second, second.cents or _BEGUN_ANEW, "verified")]
        hits = [
            PublicHit(*of, spot, seat, row.award or "", row.meter, "1:1", wins, step, wins)
            for seat, row, wins, step in steps[: 1 if state == "hit" else 2]
        ]
        face = but(face, hits=tuple(hits))
        cents[first.meter or ""] = _BEGUN_ANEW
    win = None
    if state == "elsewhere":
        award, meter = won[0][1].award or "", won[0][1].meter or ""
        win = WinShown("2026-03-01T20:15:00.000Z", "table-09", "a1", award, meter, LEVELS[0], _BEGUN_ANEW)
        cents[meter] = _BEGUN_ANEW
    heard = {"link": {"live": False}} if state in ("silent", "stale") else {}
    return parts(table, cents, face, win) | heard


def _progressives(rules: TableRules) -> list[tuple[str, Row]]:
    return [(bet.spot, row) for bet in rules.bets for row in bet.rows if row.meter]


def _row(rules: TableRules, award: str) -> Row:
    return next(row for bet in rules.bets for row in bet.rows if row.award == award)


def moment(rules: TableRules, state: str) -> str:
    """Return the state in which to show the house's page. That is `state`, or another state if `state` cannot occur in
    this house, for example because the house has no meters."""
    state = state if _progressives(rules) else _NO_METERS.get(state, state)
    return "over" if state == "tie" and rules.play.seats_play else state


def each(houses: list[str]) -> Iterator[tuple[str, str, tuple[str, ...], str, str]]:
    """Yield five values for each picture: house, size, languages, state and currency. Each house is shown in every size
    and every script. The state and the currency change from one picture to the next."""
    codes = cycle(CURRENCIES)
    for first, house in enumerate(houses):
        states = islice(cycle(STATES), 2 * first, None)
        for size, languages in product(LOOKS, SCRIPTS):
            yield house, size, languages, next(states), next(codes)


def main(folder: Path, houses: list[str]) -> None:
    """Write the pictures of these houses' pages into a folder, and print what does not fit on a page."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="currencies-") as currencies, chromium(folder) as browser:
        for code in CURRENCIES:
            Path(currencies, code).write_text(f'currency = "{code}"\n', "utf-8")
        for house, pictures in groupby(each(houses), itemgetter(0)):
            loaded = load(TABLES / f"{house}.toml")
            with served(face_of(loaded.file.screen)) as url:
                page = Page(browser, url)
                for _, size, languages, state, code in pictures:
                    seen = moment(loaded.rules, state)
                    browser.size(size)
                    with patch.object(money, "HOUSE", Path(currencies, code)):
                        page.load()
                        page.speak(*languages)
                        page.pose(told(loaded.rules, seen, 7))
                    if seen == "stale":
                        browser.run(_STALE)
                    print(house, size, *languages, seen, code, *browser.unfit(), sep="; ", flush=True)
                    browser.picture(f"{house}-{size}-{languages[0]}-{seen}-{code}")
                browser.leave()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or HOUSES)
