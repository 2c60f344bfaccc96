"""Tests with three invented houses whose rules are as unusual as a casino might want. The simulated house deals at a
table. The table and the simulated house must agree on each refusal, each card and each cent.

The table reads the house's file with the product's own code, and the simulated house reads it with separate code. There
are no wires: what people press or say goes straight to the table. If the two differed, somebody would be paid wrongly.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import convert, to_builtins

from controller.daemon.config import load
from controller.daemon.control.server import parse
from controller.people.cli.played import played
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers
from controller.table.acts.shoe import NewShoe
from drivers.sim.account import Account
from drivers.sim.crowd import Crowd
from drivers.sim.dealer import Dealer
from drivers.sim.deck import shuffled_decks
from drivers.sim.felt import Dealt
from drivers.sim.house import Coming, House, read_house
from drivers.sim.run import game_of
from drivers.sim.screen import Face, Screen
from drivers.sim.shoe import CardShoe
from drivers.sim.wagers import Bets, Bettors
from tests.support.five_games import call
from tests.support.tables import TableUnderTest

HOUSES = Path(__file__).with_name("houses")
ENVELOPE = {"id", "contract", "table", "epoch", "seq", "at", "clock_synchronised", "chain", "signature", "not_read"}


class AtTable(Screen):
    """A table without wires, for the simulated house. It stands in for three things: the shoe from which the dealer
    draws, the screen that people read, and the dealer's signals."""

    tells_cut_card = True

    def __init__(self, table: TableUnderTest, house: House) -> None:
        self.table, self.house = table, house
        self.crowd: Crowd | None = None
        self.due: str | None = None
        self.refused: list[str] = []

    # The screen.

    def ask(self, **request: object) -> dict[str, Any]:
        asked = getattr(parse(json.dumps(request).encode()), "request", None)
        assert isinstance(asked, Request)
        code = self.table.ask(asked)
        self.refused += [code] if code else []
        return {"ok": code is None, **({"code": code} if code else {})}

    def face(self) -> Face:
        return convert(to_builtins(self.table.face), Face)

    # The shoe.

    def new_shoe(self) -> None:
        pass

    def draw(self, card: str) -> None:
        self.table.draw(card)

    def cut_card(self) -> None:
        self.table.draw("CUT")

    # The cues.

    def announce_shoe(self) -> None:
        self.table.do(NewShoe())

    def card_due(self, to: str) -> None:
        face = self.table.face
        seat = None if face.next_seat is None else f"seat_{face.next_seat}"
        assert to in ("burn", face.next_hand, seat), (to, face.next_hand, seat)

    def take_wagers(self, coming: Coming) -> Bets:
        assert self.crowd is not None
        self.crowd.come_and_go()
        return self.crowd.wager({}, coming, lambda _: None)

    def lock_wagers(self) -> None:
        self.table.do(LockWagers())

    def cut_card_out(self) -> None:
        raise AssertionError("the shoe tells the cut card")

    def choice(self, seat: int, options: Sequence[str], points: int) -> str:
        choice = self.table.face.choice
        assert choice is not None
        assert choice.seat == seat
        assert choice.options is None or {*choice.options} == {*options}
        assert self.crowd is not None
        chosen = self.crowd.choose(options, points)
        self.table.do(call(chosen))
        return chosen

    def reveal(self, hands: Sequence[str]) -> None:
        assert self.table.face.reveal == tuple(hands)
        self.table.do(call("reveal"))

    def round_over(self, dealt: Dealt) -> None:
        assert self.table.fault is None
        if self.crowd is not None and dealt.outcome is not None:
            self.crowd.round_over(dealt.outcome)

    def shoe_over(self) -> None:
        assert self.table.face.phase == "shoe_ended"
        assert self.crowd is not None
        self.crowd.pay_up()


def dealt(folder: Path, game: Path, seed: int, shoes: int, rounds: int | None) -> tuple[AtTable, list[dict[str, Any]]]:
    """Deal shoes of this game at a table. Returns the table, and the simulation's record of what was dealt and paid."""
    path, config = played(folder, 1, game, bet_recognition=True)
    house = read_house(path)
    assert config.rules == load(path).rules
    at = AtTable(TableUnderTest(config.rules), house)
    out = io.StringIO()
    account = Account(out)
    at.crowd = Crowd(seed, at, account, Bettors(seed, house.limits, house.seats), house.seats, roles=house.roles)
    decks = islice(shuffled_decks(seed, house.shoe.decks, house.shoe.cut_card_from_end), shoes)
    Dealer(
        cast(CardShoe, at), decks, at, account, game=game_of(house), procedure=house.shoe, seed=seed, error_rate=0.05
    ).play(rounds)
    return at, [json.loads(line) for line in out.getvalue().splitlines()]


def in_order(said: dict[str, Any]) -> dict[str, Any]:
    """Return the record `said` of a round with its wagers sorted, because the table and the simulated house list the
    wagers in different orders."""
    if (settlement := said.get("settlement")) is None:
        return said
    key = ("seat", "back", "spot", "hand")
    wagers = sorted(settlement["wagers"], key=lambda each: [str(each.get(name)) for name in key])
    return {**said, "settlement": {**settlement, "wagers": wagers}}


def chips(told: dict[str, Any]) -> list[str]:
    return [str(told.get(name)) for name in ("seat", "back", "spot", "cents", "code")]


A_FEW = (1, 1, 14)
WHOLE = [pytest.param(seed, 3, None, marks=pytest.mark.proof) for seed in range(5)]


@pytest.mark.parametrize("name", ["dragon_gate", "river9", "duel"])
@pytest.mark.parametrize(("seed", "shoes", "rounds"), [A_FEW, *WHOLE])
def test_a_bold_house_is_dealt_and_paid_to_the_cent(
    name: str, seed: int, shoes: int, rounds: int | None, tmp_path: Path
) -> None:
    at, account = dealt(tmp_path, HOUSES / f"{name}.toml", seed, shoes, rounds)
    table = at.table
    theirs = [line for line in account if line["type"] == "round"]
    ours = [{key: said for key, said in event.items() if key not in ENVELOPE} for event in table.of_type("round")]
    assert len(theirs) >= (rounds or 0)
    for ours_, theirs_ in zip(ours, theirs, strict=True):
        assert in_order(ours_) == in_order(theirs_)
    locked = [line for line in account if line["type"] == "wagers_locked"]
    for event, line in zip(table.of_type("wagers_locked"), locked, strict=True):
        for word in ("wagers", "refused"):
            assert sorted(map(chips, event[word])) == sorted(map(chips, line[word])), word
    won = [(line["round"], win["seat"], win["tier"]) for line in theirs for win in line.get("awards", ())]
    assert [(hit["round"], hit["seat"], hit["tier"]) for hit in table.of_type("hit")] == won
    assert (table.fault, table.replayed()) == (None, (table.table, None))
    if rounds is None:
        assert "bet_closed" in at.refused
