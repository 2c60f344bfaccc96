"""Tests of the simulated dealer and players at a table. A stand-in replaces the controller, and time is virtual."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from controller.basics.errors import TableError
from drivers.sim import rules
from drivers.sim.account import Account
from drivers.sim.dealer import Dealer
from drivers.sim.deck import Deck, shuffled_decks
from drivers.sim.house import ShoeProcedure
from drivers.sim.people import Pace, Players, TableCues
from drivers.sim.punto_banco import PuntoBanco
from drivers.sim.run import Habits, run_shoe_alone, run_table
from drivers.sim.shoe.angel_eye import SimulatedAngelEye
from drivers.sim.wagers import Bets
from tests.sim.felt import StackedFelt
from tests.sim.games import bets_of, limits_of
from tests.support import samples
from tests.support.errors import raising
from tests.support.waiting import PATIENCE_S

PRINTED = {1: "KS 9S", 2: "KH 9H", 3: "KD 9D"}
ROYAL9 = PuntoBanco(bets_of("royal9"), printed=PRINTED)
DEBOUNCE_S = 0.06  # a hundredth of it is left to the rounding of virtual time
LAMP_DELAY_S = 0.03
FLICKER_S = 0.004  # a refused press makes draw_player flicker, and nobody may take that for an answer
OUTCOMES = {0x90: "player", 0xA0: "tie", 0xC0: "banker"}
CARD_RANKS = " A23456789TJQK"


class TableStandIn:
    """A stand-in for the controller, as the simulated dealer and players see it: a serial line, pins and a clock. It
    knows the cards only from the shoe's reports.

    An input counts as changed only when it has been stable for DEBOUNCE_S seconds. The lamps follow an event after
    LAMP_DELAY_S seconds.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self.drawn = 0
        self.presses: Counter[str] = Counter()
        self.believed_presses: Counter[str] = Counter()
        self.locked_with: list[list[int]] = []
        self.refuse: Counter[str] = Counter()  # how many of a button's presses are yet to be refused
        self.fault: Callable[[], bool] = lambda: False
        self.link_is_down = False
        self._writes = 0
        self._inputs: dict[str, tuple[bool, float]] = {}
        self._believed: set[str] = set()
        self._coming: list[tuple[float, set[str]]] = []
        self._lit: set[str] = set()
        self._hands: dict[str, list[str]] = {"player": [], "banker": []}
        self._to_burn = 0
        self._wagers_open = False

    # The clock.

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        for name, (pressed, since_s) in self._inputs.items():
            if self.now_s - since_s < 0.99 * DEBOUNCE_S or pressed == (name in self._believed):
                continue
            (self._believed.add if pressed else self._believed.discard)(name)
            if pressed and not name.startswith("seat_"):
                self._button(name)

    # The pins.

    def press(self, name: str) -> None:
        self.presses[name] += 1
        self._inputs[name] = (True, self.now_s)

    def release(self, name: str) -> None:
        self._inputs[name] = (False, self.now_s)

    def lamps(self) -> Mapping[str, bool]:
        while self._coming and self._coming[0][0] <= self.now_s:
            self._lit = self._coming.pop(0)[1]
        lit = self._lit
        if self.link_is_down:
            lit = lit | {"fault"} if self.now_s // 0.6 % 2 else lit
        if self.fault():
            lit = {"fault"} if self.now_s // 0.12 % 2 else set()
        return {name: name in lit for name in ("draw_player", "draw_banker", "player", "banker", "tie", "fault")}

    # The shoe's line.

    def listen(self, heard: object) -> None:
        pass

    def write(self, data: bytes) -> None:
        self._writes += 1
        if self._writes % 3:
            return
        code, payload = chr(data[2]), data[3:-3]
        if code == "D":
            self._card(payload[0] >> 4 & 7, payload[0] & 15, payload[1])
        elif code == "G":
            self._wagers_open = True
            self._light(OUTCOMES[payload[0] & 0xF0])
            self._hands = {"player": [], "banker": []}

    def _card(self, target: int, index: int, card: int) -> None:
        if target == 5:
            self._to_burn = index
            return
        self.drawn += 1
        if target == 2:
            self._to_burn -= 1
            if self._to_burn == 0:
                self._wagers_open = True
                self._light()
        elif target in (0, 1):
            self._wagers_open = False
            self._hands["banker" if target else "player"].append(CARD_RANKS[card & 15] + "S")
            side = rules.next_side(self._hands["player"], self._hands["banker"])
            if side:
                self._light(f"draw_{side}")

    def _button(self, name: str) -> None:
        self.believed_presses[name] += 1
        if self.refuse[name] > 0:
            self.refuse[name] -= 1
            self._light("draw_player")
            self._coming.append((self._coming[-1][0] + FLICKER_S, set()))
        elif name == "new_shoe":
            self._light("draw_player", "draw_banker")
        elif name == "deal" and self._wagers_open:
            self._wagers_open = False
            self.locked_with.append(sorted(int(seat[5:]) for seat in self._believed if seat.startswith("seat_")))
            self._light("draw_player")

    def _light(self, *lamps: str) -> None:
        self._coming.append((self.now_s + LAMP_DELAY_S, set(lamps)))


def play(
    table: TableStandIn,
    *,
    seed: int = 7,
    rounds: int | None = None,
    shoes: int | None = None,
    speed: float = 0.0,
    error_rate: float = 0.0,
    watch_lamps: bool = True,
) -> list[dict[str, Any]]:
    """Let the simulated people play at this table with the given seed, and return the simulation's record of what
    happened."""
    shoe = SimulatedAngelEye(table, speed=speed, sleep=table.sleep)
    decks = shuffled_decks(seed, 8, 14)
    cues = TableCues(
        table,
        Players(seed, sorted(PRINTED), limits_of("royal9")),
        debounce_s=DEBOUNCE_S,
        speed=speed,
        watch_lamps=watch_lamps,
        patience_s=20.0,
        clock=table,
    )
    out = io.StringIO()
    limited = decks if shoes is None else [next(decks) for _ in range(shoes)]
    Dealer(shoe, limited, cues, Account(out), game=ROYAL9, seed=seed, error_rate=error_rate).play(rounds)
    return read_account(out)


def read_account(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def of_type(account: Sequence[dict[str, Any]], type_: str) -> list[dict[str, Any]]:
    return [entry for entry in account if entry["type"] == type_]


# Whole shoes.


@pytest.mark.parametrize("error_rate", [0.0, 0.2])
def test_a_whole_shoe_adds_up(error_rate: float) -> None:
    table = TableStandIn()
    account = play(table, shoes=1, error_rate=error_rate)
    opened, closed = account[0], account[-1]
    rounds = account[1:-1]
    assert (opened["type"], closed["type"]) == ("shoe_opened", "shoe_closed")
    left = opened["cards_left"]
    assert left == 416 - 1 - rules.burn_count(opened["first_card"])
    for number, entry in enumerate(rounds, 1):
        assert (entry["type"], entry["round"]) == ("round", number)
        left -= len(entry["player"]["cards"]) + len(entry["banker"]["cards"])
        assert entry["cards_left"] == left
    assert closed["cards_left"] == left
    assert table.drawn == 416 - left
    assert 0 < left < 14
    cards = Counter(card for entry in rounds for side in ("player", "banker") for card in entry[side]["cards"])
    assert max(cards.values()) <= 8
    assert [entry["final_round"] for entry in rounds] == [False] * (len(rounds) - 1) + [True]
    assert closed["wagered_rounds"] == sum(not entry["simulated"] for entry in rounds) == len(table.locked_with)
    assert any(entry["simulated"] for entry in rounds) == (error_rate > 0)


def test_the_wagers_of_the_account_are_those_a_controller_believed_at_lock() -> None:
    table = TableStandIn()
    account = play(table, rounds=40, error_rate=0.2)
    rounds = [entry for entry in of_type(account, "round") if not entry["simulated"]]
    wagered = [[seat for bet in entry["progressive"] for seat in bet["seats"]] for entry in rounds]
    assert wagered == table.locked_with
    assert len({tuple(seats) for seats in wagered}) > 4
    assert all(entry["progressive"] == [] for entry in account if entry.get("simulated"))


def test_one_seed_is_one_account() -> None:
    first = play(TableStandIn(), rounds=100, error_rate=0.1)
    faster = play(TableStandIn(), rounds=15, error_rate=0.1, speed=0.2)
    assert faster == first[: len(faster)]
    another = play(TableStandIn(), rounds=5, error_rate=0.1, seed=8)
    assert another != first[: len(another)]
    assert {entry["shoe"] for entry in first} == {1, 2}


def test_it_stops_after_so_many_wagered_rounds() -> None:
    account = play(TableStandIn(), rounds=12, error_rate=0.5)
    assert sum(not entry["simulated"] for entry in of_type(account, "round")) == 12
    assert not account[-1]["simulated"]


def test_a_round_takes_its_human_time() -> None:
    table = TableStandIn()
    play(table, rounds=1, speed=1.0)
    opening_s = table.now_s
    table = TableStandIn()
    play(table, rounds=21, speed=1.0)
    assert 6 < (table.now_s - opening_s) / 20 < 10


def test_an_account_line() -> None:
    out = io.StringIO()
    dealt = ROYAL9.deal(StackedFelt("KS QH 9S 8D"), Bets({"royal9": (3, 2, 1)}))
    Account(out).round(shoe=2, round_=5, simulated=False, final_round=True, cards_left=9, dealt=dealt)
    assert read_account(out) == [
        {
            "type": "round",
            "shoe": 2,
            "round": 5,
            "outcome": "player",
            "player": {"cards": ["KS", "9S"], "total": 9},
            "banker": {"cards": ["QH", "8D"], "total": 8},
            "natural": True,
            "margin": 1,
            "pairs": {"player": False, "banker": False},
            "simulated": False,
            "final_round": True,
            "cards_left": 9,
            "dragon_bonus": {"player": "win", "banker": "lose", "pays_to_one": 1},
            "progressive": [{"spot": "royal9", "seats": [1, 2, 3]}],
            "awards": [
                {"spot": "royal9", "seat": 1, "tier": "player_personal"},
                {"spot": "royal9", "seat": 2, "tier": "suited_royal"},
                {"spot": "royal9", "seat": 3, "tier": "suited_royal"},
            ],
            "actives": None,
            "settlement": None,
        }
    ]


# The lamps.


@pytest.mark.parametrize("button", ["new_shoe", "deal"])
def test_a_refused_press_is_made_again(button: str) -> None:
    table = TableStandIn()
    table.refuse[button] = 2
    assert len(of_type(play(table, rounds=1), "round")) == 1
    assert table.presses[button] == table.believed_presses[button] == 3


def test_a_stopped_table_is_not_dealt_to_and_the_dealer_goes_on_when_it_is_cleared() -> None:
    table = TableStandIn()
    table.fault = lambda: table.drawn >= 20 and table.now_s < 10
    account = play(table, rounds=30)
    assert table.now_s > 10
    assert len(of_type(account, "round")) == 30


def test_a_fault_that_stays_is_said_so() -> None:
    table = TableStandIn()
    table.fault = lambda: table.drawn >= 20
    with raising("sim_table_stopped"):
        play(table, rounds=30)
    assert 20 <= table.drawn <= 21  # a lamp takes a moment, and one card may be on its way


def test_a_link_that_is_down_stops_nobody() -> None:
    table, undisturbed = TableStandIn(), TableStandIn()
    table.link_is_down = True
    assert play(table, rounds=30) == play(undisturbed, rounds=30)
    assert table.now_s == undisturbed.now_s


def test_no_button_is_pressed_at_a_stopped_table() -> None:
    table = TableStandIn()
    table.fault = lambda: bool(table.locked_with)
    with pytest.raises(TableError):
        play(table, rounds=30)
    assert table.presses["deal"] == 1


def test_a_lamp_that_never_comes_is_said_so() -> None:
    table = TableStandIn()
    table.refuse["deal"] = 1000
    with raising("sim_not_seen") as error:
        play(table, rounds=30)
    assert "draw_player" in error.value.what
    assert table.locked_with == []


def test_a_lamp_for_another_hand_stops_the_dealer(monkeypatch: pytest.MonkeyPatch) -> None:
    table = TableStandIn()
    monkeypatch.setattr(table, "_light", lambda *_: table._coming.append((0.0, {"draw_banker"})))
    with raising("sim_not_seen"):
        play(table, rounds=30)
    assert table.drawn == 0


def test_another_outcome_stops_the_dealer(monkeypatch: pytest.MonkeyPatch) -> None:
    table = TableStandIn()
    monkeypatch.setitem(OUTCOMES, 0x90, "banker")
    monkeypatch.setitem(OUTCOMES, 0xC0, "player")
    with raising("sim_not_seen"):
        play(table, rounds=30)


def test_a_blind_dealer_needs_no_controller() -> None:
    table = TableStandIn()
    table.fault = lambda: True
    rounds = 100 if samples.at_length else 40
    account = play(table, rounds=rounds, error_rate=0.1, watch_lamps=False)
    assert account == play(TableStandIn(), rounds=rounds, error_rate=0.1)
    assert table.believed_presses["deal"] == rounds


# The cut card and simulated hands, with a shoe of fours alone: four are burned after the first, and each round is
# a natural tie of four cards.


def deal_fours(
    cards: int, cut_after: int, *, error_rate: float = 0.0, procedure: ShoeProcedure | None = None
) -> list[dict[str, Any]]:
    """Deal a shoe of `cards` fours, and return the simulation's record of it. The cut card comes after `cut_after`
    cards."""
    table = TableStandIn()
    out = io.StringIO()
    shoe = SimulatedAngelEye(table)
    deck = Deck(["4S"] * cards, cut_card_from_end=cards - cut_after)
    cues, account = Pace(0.0, table), Account(out)
    Dealer(shoe, [deck], cues, account, game=ROYAL9, procedure=procedure, error_rate=error_rate).play()
    return read_account(out)


def test_a_first_card_that_counts_in_the_burn_leaves_one_card_more() -> None:
    (opened,) = of_type(deal_fours(40, 20, procedure=ShoeProcedure(burn_counts_first_card=True)), "shoe_opened")
    assert (opened["burned"], opened["cards_left"]) == (3, 36)


def test_where_the_next_round_keeps_a_card_in_error_the_dealer_draws_none() -> None:
    """At a house that keeps a card drawn in error for the next round, the simulated dealer never draws one. Such a card
    would lie on the table before anybody had wagered, and so would influence who plays."""
    kept = deal_fours(80, 40, error_rate=1.0, procedure=ShoeProcedure(drawn_in_error="next_card"))
    assert kept == deal_fours(80, 40)
    assert kept != deal_fours(80, 40, error_rate=1.0)


@pytest.mark.parametrize(
    ("cut_after", "last"),
    [
        (5 + 4, 2),  # where round 2's first card would be: round 2 is the last
        (5 + 4 + 1, 3),  # inside round 2, after its first card: one more
        (5 + 4 + 3, 3),  # inside round 2, before its last card: one more
        (5 + 8, 3),  # where round 3's first card would be
    ],
)
def test_the_final_round(cut_after: int, last: int) -> None:
    account = deal_fours(40, cut_after)
    assert [entry["final_round"] for entry in of_type(account, "round")] == [False] * (last - 1) + [True]
    assert account[-1] == {
        "type": "shoe_closed",
        "shoe": 1,
        "rounds": last,
        "wagered_rounds": last,
        "cards_left": 35 - 4 * last,
        "commission_owed": [],
    }


@pytest.mark.parametrize(
    "cut_after",
    [
        5 + 1,  # inside the first wagered round
        5 + 4,  # before the card drawn in error
        5 + 4 + 2,  # inside the first simulated hand
        5 + 4 + 8,  # before the card that opens the third one
    ],
)
def test_a_simulated_hand_is_never_the_one_more(cut_after: int) -> None:
    account = deal_fours(29, cut_after, error_rate=1.0)
    rounds = [(entry["simulated"], entry["final_round"]) for entry in of_type(account, "round")]
    assert rounds == [(False, False), (True, False), (True, False), (True, False), (False, True)]
    assert (account[-1]["rounds"], account[-1]["wagered_rounds"]) == (5, 2)


def test_the_cut_card_lies_where_it_was_put() -> None:
    deck = next(shuffled_decks(1, 8, 14))
    assert deck.cards_left == 416
    drawn = [deck.draw() for _ in range(402)]
    assert "CUT" not in drawn
    assert deck.draw() == "CUT"
    assert deck.cards_left == 14
    drawn += [deck.draw() for _ in range(14)]
    assert set(Counter(drawn).values()) == {8}
    assert len(set(drawn)) == 52


# The programs.


def test_a_shoe_alone() -> None:
    table = TableStandIn()
    out = io.StringIO()
    run_shoe_alone(table, seed=7, pace_s=0.0, rounds=5, out=out, driver="angel_eye")
    rounds = of_type(read_account(out), "round")
    with_people = of_type(play(TableStandIn(), rounds=5), "round")
    assert [entry["player"] for entry in rounds] == [entry["player"] for entry in with_people]


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    """The path of a copy of the example table's file, with simulated pins and a simulated shoe."""
    config = Path(__file__).parents[2] / "config"
    text = (config / "tables" / "royal9.toml").read_text()
    text = text.replace('driver = "rpi_gpio"', f'driver = "simulated"\npage = "{tmp_path}/pins"')
    lines = [f'port = "{tmp_path}/shoe"' if line.startswith('port = "/dev') else line for line in text.splitlines()]
    text = "\n".join(lines).replace("../games", str(config / "games"))
    (tmp_path / "table.toml").write_text(text)
    return tmp_path / "table.toml"


def start(table_file: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "drivers.sim", str(table_file), "--account", str(table_file.with_name("account"))]
    root = Path(__file__).parents[2]
    return subprocess.Popen([*command, *options], cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_the_program_deals_blind(table_file: Path) -> None:
    run = start(table_file, "--seed", "7", "--rounds", "2", "--speed", "0", "--blind")
    assert run.communicate(timeout=PATIENCE_S)[0] == ""
    assert run.returncode == 0
    account = [json.loads(line) for line in table_file.with_name("account").read_text().splitlines()]
    assert [entry["type"] for entry in account] == ["shoe_opened", "round", "round"]


def test_the_program_says_what_it_lacks(table_file: Path) -> None:
    """The simulation ends with the error `sim_unheard` if no program has opened the simulated shoe's port. Usually the
    simulation looks for such a program for a while. In this test it looks only once, because on a busy machine any time
    limit could be too short."""
    with raising("sim_unheard"):
        run_table(table_file, table_file.with_name("account"), Habits(patience_s=0.0))


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_cleanly(table_file: Path, ending: signal.Signals) -> None:
    run = start(table_file)
    shoe = table_file.with_name("shoe")
    gives_up_s = time.monotonic() + 30
    while not os.path.lexists(shoe):
        assert time.monotonic() < gives_up_s
        time.sleep(0.01)
    run.send_signal(ending)
    assert run.communicate(timeout=PATIENCE_S)[0] == ""
    assert run.returncode == 0
    assert not os.path.lexists(shoe)


def test_a_signal_in_the_moment_that_the_shoe_appears_takes_it_away_again(
    table_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def interrupted(fresh: Path, shoe: Path) -> None:
        replace(fresh, shoe)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_table(table_file, table_file.with_name("account"), Habits())
    assert not os.path.lexists(table_file.with_name("shoe"))


def test_a_table_with_real_pins_is_refused(table_file: Path) -> None:
    table_file.write_text(table_file.read_text().replace('"simulated"', '"rpi_gpio"'))
    run = start(table_file)
    said, _ = run.communicate(timeout=PATIENCE_S)
    assert said.startswith("sim_not_simulated: ")
    assert run.returncode == 1


def test_a_table_file_that_lacks_something_is_refused(table_file: Path) -> None:
    table_file.write_text(table_file.read_text().replace("debounce_ms", "bounce_ms"))
    run = start(table_file)
    said, _ = run.communicate(timeout=PATIENCE_S)
    assert said.startswith("sim_table_file: ")
    assert "debounce_ms" in said
    assert run.returncode == 1
