"""Tests of the simulated dealer's calls and of the simulated players. A stand-in shows them the table's lamps and
screen, and time is virtual."""

from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from controller.basics.errors import TableError
from controller.people.cli import programs
from drivers.sim.account import Account
from drivers.sim.crowd import Crowd
from drivers.sim.felt import Dealt
from drivers.sim.house import Bet, Limits, read_house
from drivers.sim.people import Players, TableCues
from drivers.sim.run import Habits, run_table
from drivers.sim.screen import Screen
from drivers.sim.wagers import FIRST, Bettors
from tests.support.errors import raising

LAMPS = ("draw_player", "draw_banker", "player", "banker", "tie", "fault", *(f"seat_{seat}" for seat in range(1, 8)))
DOUBLE_FLASH_S = ((0.0, 0.12), (0.24, 0.36))
LONG_FLASH_S = ((0.0, 1.5),)
BETS = (Bet("player", limits="circle"), Bet("banker", limits="circle"), Bet("tie"))
LIMITS = Limits(BETS, None, 500, 10_000, 100, 5_000, 100, False, False)


class Stage(Screen):
    """A stand-in for the table's pins, clock and screen. `burning` maps a lamp to a function of the time that says
    whether the lamp is lit. `presses` maps a button to the function that a press calls."""

    def __init__(self) -> None:
        super().__init__(Path(), 0.0)
        self.now_s = 0.0
        self.burning: dict[str, Callable[[float], bool]] = {}
        self.shown: dict[str, Any] = {"phase": "round_in_play", "choice": None, "reveal": [], "actives": {}}
        self.shown |= {"progressive": [], "hits": []}
        self.presses: dict[str, Callable[[], None]] = {}
        self.pressed: list[tuple[str, float]] = []
        self.asked: list[dict[str, Any]] = []
        self.refuses: dict[str, str] = {}

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def press(self, name: str) -> None:
        self.pressed.append((name, self.now_s))
        if name in self.presses:
            self.presses[name]()

    def release(self, name: str) -> None:
        pass

    def lamps(self) -> dict[str, bool]:
        return {lamp: lamp in self.burning and self.burning[lamp](self.now_s) for lamp in LAMPS}

    def ask(self, **request: object) -> dict[str, Any]:
        if request["do"] == "status":
            return {"ok": True, "status": {"face": self.shown}}
        self.asked.append(request)
        code = self.refuses.get(str(request["do"]))
        return {"ok": False, "code": code} if code else {"ok": True}


def flashing(lit_s: tuple[tuple[float, float], ...], cycle_s: float) -> Callable[[float], bool]:
    return lambda now_s: any(start <= now_s % cycle_s < end for start, end in lit_s)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def crowd_of(stage: Stage, *, roles: bool = False) -> Crowd:
    bettors = Bettors(7, LIMITS, range(1, 8), mistakes=0.0)
    return Crowd(7, stage, Account(io.StringIO()), bettors, range(1, 8), roles={} if roles else None)


def cues_of(stage: Stage, speed: float) -> TableCues:
    return TableCues(
        stage,
        Players(7, []),
        debounce_s=0.06,
        speed=speed,
        patience_s=15.0,
        clock=stage,
        screen=stage,
        crowd=crowd_of(stage),
    )


# Reveal.


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_reveal_is_pressed_when_the_lamp_flashes(stage: Stage, speed: float) -> None:
    stage.shown["reveal"] = ["banker"]
    stage.burning["draw_banker"] = lambda now_s: now_s < 3.5 or flashing(DOUBLE_FLASH_S, 2.0)(now_s)
    stage.presses["reveal"] = lambda: stage.shown.update(reveal=["player"])
    cues_of(stage, speed).reveal(("banker",))
    ((button, when_s),) = stage.pressed
    assert button == "reveal"
    assert when_s > (4.1 if speed else 3.5)  # without pauses it is enough that the lamp is steady no more


def test_a_lamp_that_does_not_flash_asks_for_no_reveal(stage: Stage) -> None:
    stage.shown["reveal"] = ["banker"]
    with raising("sim_not_seen"):
        cues_of(stage, 1.0).reveal(("banker",))
    assert stage.pressed == []


def test_a_reveal_the_table_is_not_at_is_not_pressed(stage: Stage) -> None:
    stage.shown["reveal"] = ["player"]
    with pytest.raises(TableError):
        cues_of(stage, 0.0).reveal(("banker",))
    assert stage.pressed == []


# Choices.


def turn_of(stage: Stage, seat: int) -> None:
    stage.shown["choice"] = {"seat": seat, "hand": f"seat_{seat}", "options": ["hit", "stand"]}
    stage.burning = {f"seat_{seat}": flashing(LONG_FLASH_S, 1.8)}


def test_the_acting_seat_is_told_by_its_lamp_and_its_button_is_pressed_until_taken(stage: Stage) -> None:
    turn_of(stage, 3)
    tried: list[None] = []

    def stand() -> None:
        tried.append(None)
        if len(tried) == 2:
            turn_of(stage, 4)

    stage.presses["stand"] = stand
    assert cues_of(stage, 0.0).choice(3, ["stand"], 7) == "stand"
    assert [button for button, _ in stage.pressed] == ["stand", "stand"]
    assert stage.pressed[1][1] - stage.pressed[0][1] > 9  # long after: made twice, it would be the next seat's


@pytest.mark.parametrize("lit", ["seat_4", "draw_player"])
def test_another_lamp_stops_the_dealer(stage: Stage, lit: str) -> None:
    turn_of(stage, 3)
    stage.burning[lit] = lambda _: True
    with raising("sim_not_seen"):
        cues_of(stage, 0.0).choice(3, ["hit"], 0)
    assert stage.pressed == []


def test_a_lamp_for_a_wager_on_a_progressive_bet_does_not_stop_the_dealer(stage: Stage) -> None:
    """The dealer lets a seat choose even if another seat's lamp is lit because of a progressive wager. A house that
    offers a progressive bet in Baccarat Royal needs this."""
    turn_of(stage, 3)
    stage.burning["seat_4"] = lambda _: True
    stage.shown["progressive"] = [{"spot": "duel", "seats": [4], "refused_seats": [], "refusal": None}]
    stage.presses["hit"] = lambda: turn_of(stage, 4)
    assert cues_of(stage, 0.0).choice(3, ["hit"], 0) == "hit"


# The players.


def test_an_answer_the_house_did_not_foresee_ends_it(stage: Stage) -> None:
    crowd = crowd_of(stage)
    crowd.come_and_go()
    stage.refuses["wager"] = "over_maximum"
    with raising("sim_answered_otherwise") as error:
        crowd.wager({}, FIRST, lambda _: None)
    assert "over_maximum" in error.value.what


def test_the_active_seats_are_those_the_table_drew(stage: Stage) -> None:
    crowd = crowd_of(stage, roles=True)
    stage.shown["actives"] = {"player": 99, "banker": 1}
    crowd.come_and_go()
    assert [request["do"] for request in stage.asked] == ["seats", "actives"]
    stage.shown["actives"] = {"player": 2, "banker": 1}
    crowd.come_and_go()  # 99 sits nowhere: they are drawn anew
    assert [request["do"] for request in stage.asked].count("actives") == 2


def test_what_is_owed_is_collected_and_told(stage: Stage) -> None:
    out = io.StringIO()
    account = Account(out)
    crowd = Crowd(7, stage, account, Bettors(7, LIMITS, range(1, 8)), range(1, 8), roles=None)
    for owed in ({3: 50, 5: 25}, {3: 5}):
        dealt = Dealt("banker", {}, owed)
        account.round(shoe=1, round_=1, simulated=False, final_round=False, cards_left=9, dealt=dealt)
    crowd.pay_up()
    assert [(told["do"], told["seat"]) for told in stage.asked] == [
        ("commission", 3),
        ("commission", 5),
    ]
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["seat"], line["cents"]) for line in lines if line["type"] == "commission"] == [(3, 55), (5, 25)]
    assert account.owed == {}


# The table file.


@pytest.mark.parametrize(
    ("table", "lacks"), [("lucky9", "split"), ("baccarat_royal", "stand"), ("sugarhouse_midi", "reveal")]
)
def test_a_dealer_who_lacks_a_button_is_not_simulated(table: str, lacks: str, tmp_path: Path) -> None:
    path = programs.simulated_table(tmp_path, 1883, programs.example_table(table))
    read_house(path)
    values = tomllib.loads(path.read_text("utf-8"))
    del values["pins"]["inputs"][lacks]
    path.write_text(tomli_w.dumps(values), "utf-8")
    with raising("sim_not_simulated") as error:
        read_house(path)
    assert lacks in error.value.do


def test_nobody_wagers_with_a_blind_dealer(tmp_path: Path) -> None:
    table = programs.simulated_table(tmp_path, 1883, programs.example_table("lucky9"))
    with raising("sim_blind"):
        run_table(table, tmp_path / "account", Habits(watch_lamps=False))


def test_without_a_controller_the_screen_says_so(tmp_path: Path) -> None:
    with raising("sim_no_table"):
        Screen(tmp_path / "no.sock", 0.0).face()
