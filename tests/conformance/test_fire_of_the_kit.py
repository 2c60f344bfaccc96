"""Tests of the conformance kit's stress test (its "fire"): correct pits pass it, and it finds defects that show only
under stress, each with the clause that it breaks."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.contract.keys import SigningKey
from controller.contract.pit_words import AckWord, AwardStep
from controller.pit.conformance import fire, troubled_link
from controller.pit.conformance.clauses import clauses
from controller.pit.conformance.deeds import PIT_DEEDS, Deeds, NotTriedError
from controller.pit.conformance.far_table import FarTable
from controller.pit.conformance.fire import Fire, Player, _await_pit, _line, _refuse_thin_fire
from controller.pit.conformance.fire_verdict import JudgedError, Move, Won, explained, judge_shares
from controller.pit.conformance.main import SOME_BROKEN, main
from controller.pit.conformance.report import Report, Result
from controller.pit.conformance.troubled_link import TroubledLink
from controller.pit.conformance.wire import now_text
from tests.conformance.defects import Defect
from tests.conformance.fire_defects import FIRE_DEFECTS, SECOND_PIT_DEFECT
from tests.conformance.house import try_reference_pit, try_second_pit
from tests.support.brokers import needs_mosquitto
from tests.support.errors import raising

_FIRE_MINUTES = 10
_TRUE_MINUTES = 4


def _broken(report: Report) -> list[tuple[str, str]]:
    return [(line.clause.number, line.why) for line in report.lines if line.result is Result.BROKEN]


@pytest.mark.long
@needs_mosquitto
def test_a_pit_that_forgets_what_it_acknowledged_is_found_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fire, "_KILL_AFTER_S", (0.5, 1.0))
    (tmp_path / "tests/conformance").mkdir(parents=True)
    (tmp_path / SECOND_PIT_DEFECT.file).write_text(SECOND_PIT_DEFECT.planted(), "utf-8")
    report = try_second_pit(tmp_path, tmp_path, fire_minutes=1)
    ((number, why),) = _broken(report)
    assert number == "P20", why
    assert "acknowledged events are lost" in why


@pytest.mark.proof
@needs_mosquitto
@pytest.mark.parametrize("try_pit", [try_reference_pit, try_second_pit])
def test_a_true_pit_stands_in_the_fire(
    try_pit: Callable[..., Report], tmp_path: Path, figure: Callable[[str], None]
) -> None:
    report = try_pit(tmp_path, fire_minutes=_TRUE_MINUTES)
    assert {line.result for line in report.lines} == {Result.KEPT}, report.text()
    figure(report.tried)


@pytest.mark.proof
@needs_mosquitto
@pytest.mark.parametrize("defect", FIRE_DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_is_found_under_fire_within_ten_minutes(
    defect: Defect, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    report = try_reference_pit(tmp_path, defect.plant(tmp_path / "copy"), fire_minutes=_FIRE_MINUTES)
    found = dict(_broken(report))
    why = found.get(defect.clause) or str(found)
    assert defect.clause in found, why
    assert len(found) <= 2, "more than two clauses are no verdict"
    figure(f"found at {' or '.join(found)} in {report.lines[0].seconds:.0f} s: {why}")


@pytest.mark.proof
@needs_mosquitto
@pytest.mark.parametrize("defect", FIRE_DEFECTS, ids=lambda defect: defect.name)
def test_the_kit_without_fire_does_not_find_the_defect(defect: Defect, tmp_path: Path) -> None:
    """Without its stress test (its "fire"), the conformance kit finds no broken clause in a pit with the defect. So
    only the stress test finds the defect."""
    report = try_reference_pit(tmp_path, defect.plant(tmp_path / "copy"))
    assert {line.result for line in report.lines} == {Result.KEPT}, report.text()


def _move(event: str, cents: int) -> Move:
    return Move(event, "1 wager", Fraction(cents), "P20", "P08")


@pytest.mark.parametrize(
    ("off_cents", "number", "says"),
    [
        (-60, "P20", "t/e/7, 1 wager, was acknowledged and does not count."),
        (60, "P08", "t/e/7, 1 wager, counts twice"),
        (500, "P30", "award t.1, 500 cents, never was taken"),
        (-500, "P30", "award t.1, 500 cents, twice was taken"),
        (900, "P34", "award t.2, 900 cents, twice went back"),
        (-900, "P34", "award t.2, 900 cents, never went back"),
        (-70, "P20 or P26", "does not count, or as if event t/e/9, the void of 1 wager, lowered the meter."),
        (80, "P08", "t/e/10, 2 wagers, counts twice"),
        (-40, "P20", "one wager of event t/e/10, 2 wagers, was acknowledged and does not count"),
        (2000, "P08", "t/e/1, 1 wager, counts twice"),
        (501, "P08 or P30", "t/e/2, 1 wager, counts twice, or as if the award t.1, 500 cents, never was taken"),
        (70, "P08", "t/e/8, 1 wager, counts twice"),
        (333, "P24", "No event alone"),
        (1, "P24", "No event alone"),
    ],
)
def test_a_meter_that_is_wrong_by_one_event_says_which(off_cents: int, number: str, says: str) -> None:
    void = Move("t/e/9", "the void of 1 wager", Fraction(0), "P26", "P26", bears=Fraction(70))
    two = Move("t/e/10", "2 wagers", Fraction(80), "P20", "P08", wagers=2)
    moves = [_move("t/e/2", 502), _move("t/e/5", 30), _move("t/e/7", 60), void, _move("t/e/8", 70), two]
    long_before = [_move("t/e/1", 2000), _move("t/e/0", 900)]
    steps = [_step("t.1", 500, "pending"), _step("t.2", 900, "rejected")]
    found, why = explained(Fraction(off_cents), moves, steps, long_before)
    assert (found, says in why) == (number, True), why


def _step(award: str, cents: int, step: str, hit: str = "t/e/9", seat: int = 1, seq: int = 1) -> AwardStep:
    return AwardStep(award, hit, "t", seat, "kit", "grand", cents, step, "Ann", now_text(), seq)


def _player() -> Player:
    """Return a simulated table of the stress test, without a connection to a broker."""
    player, table = object.__new__(Player), object.__new__(FarTable)
    table.table, table.epoch, table.key, table.shoe, table.round, table.made = (
        "t",
        "ab",
        SigningKey(bytes(32)),
        1,
        1,
        [],
    )
    player.table, player.steps, player._award_of, player._held = table, {}, {}, None
    return player


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        ([_step("t.1", 70, "pending"), _step("t.1", 70, "verified", seq=2)], ""),
        ([_step("t.1", 70, "pending"), _step("t.2", 70, "pending")], "P31"),
        ([_step("t.1", 70, "pending", "t/e/8")], "P31"),
        ([_step("t.1", 4400, "pending", "t/e/11"), _step("t.1", 4400, "pending", "t/e/12", seq=2)], "P31"),
        ([_step("t.1", 4400, "pending", "t/e/11"), _step("t.1", 4400, "pending", "t/e/12", seat=2)], "P31"),
        ([_step("t.1", 70, "pending", seat=2)], "P27"),
        ([_step("t.1", 4400, "pending", "t/e/11"), _step("t.1", 4401, "pending", "t/e/11")], "P28"),
        ([_step("t.1", 4401, "pending", "t/e/11"), _step("t.1", 4400, "verified", "t/e/11", seq=2)], "P28"),
        ([_step("t.1", 70, "pending"), _step("t.1", 71, "pending")], "P33"),
    ],
)
def test_a_step_that_does_not_fit_its_hit_is_told_when_it_is_said(steps: list[AwardStep], number: str) -> None:
    player = _player()
    player.won = {"t/e/9": Won(3, 1, None), "t/e/11": Won(4, 1, 4400), "t/e/12": Won(5, 1, 4400)}
    found = ""
    try:
        for step in steps:
            player._hear_step(step, plays=False)
    except JudgedError as judged:
        found = judged.args[0]
    assert found == number


def test_a_step_that_is_said_otherwise_is_told_by_what_differs() -> None:
    player, step = _player(), _step("t.1", 70, "pending")
    player.won = {"t/e/9": Won(3, 1, None)}
    player._hear_step(step, plays=False)
    with pytest.raises(JudgedError, match="meter 'grand' and later None, by 'Ann' and later 'Bob'") as judged:
        player._hear_step(replace(step, by="Bob", meter=None), plays=False)
    assert "cents" not in judged.value.args[1]


def test_a_table_that_missed_a_step_tells_it_when_the_pit_says_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fire, "_HELD_BACK", 1)
    player, first, second = _player(), _step("t.1", 70, "pending"), _step("t.2", 70, "pending", "t/e/10", 2, seq=2)
    player.won = {"t/e/9": Won(3, 1, None), "t/e/10": Won(3, 2, None)}

    def told(step: AwardStep) -> int:
        player._hear_step(step, plays=True)
        return len(player.table.made)

    assert [told(first), told(first), told(second)] == [0, 1, 1]
    assert told(_step("t.1", 70, "verified", seq=3)) == 3, "what comes after the missed step waits for no second word"


def test_two_hits_of_a_round_have_the_same_award() -> None:
    won = {"t/e/9": Won(3, 1, None), "t/e/10": Won(3, 2, None)}
    first, second = _step("t.1", 70, "pending"), _step("t.2", 72, "pending", "t/e/10", 2)
    judge_shares(won, {"t.1": first, "t.2": replace(second, cents=71)})
    with pytest.raises(JudgedError) as judged:
        judge_shares(won, {"t.1": first, "t.2": second})
    assert judged.value.args[0] == "P29"


@pytest.mark.parametrize(("command", "number"), [("true", ""), ("false", "P31 or P33")])
def test_an_award_on_which_nobody_can_decide_in_the_calm_is_told(
    command: str, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fire, "ANSWERS_WITHIN_S", 0)
    burnt, player = object.__new__(Fire), _player()
    monkeypatch.setattr(player, "turn", lambda plays: None)
    player.steps = {"t.1": {1: _step("t.1", 70, "pending")}, "t.2": {2: _step("t.2", 70, "paid", "t/e/10")}}
    burnt.told, burnt._decided, burnt._can, burnt.players = Counter(), {}, ["verify"], [player]
    burnt._deeds, burnt._refused = Deeds(PIT_DEEDS, {"verify": command}, False), {"t.1": "no award", "t.2": "is paid"}
    found = ""
    try:
        burnt._decide_what_was_refused()
    except JudgedError as judged:
        found = judged.args[0]
    assert found == number
    assert burnt._decided == ({} if number else {("t.1", "verify"): "verified"})


@pytest.mark.parametrize("late", ["verified", "rejected", "paid"])
def test_a_pit_whose_word_of_what_was_decided_comes_late_is_not_accused(
    late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stress test does not accuse a pit in this case: a person's command failed, the decision took effect all the
    same, and the pit announces the decision late."""
    monkeypatch.setattr(fire, "ANSWERS_WITHIN_S", 0)
    burnt, player = object.__new__(Fire), _player()
    player.steps = {"t.1": {1: _step("t.1", 70, "verified" if late == "paid" else "pending")}}

    def turn(plays: bool) -> None:
        player.steps["t.1"][2] = _step("t.1", 70, late, seq=2)

    monkeypatch.setattr(player, "turn", turn)
    burnt.told, burnt._decided, burnt._can, burnt.players = Counter(), {}, ["verify", "pay"], [player]
    burnt._deeds, burnt._refused = Deeds(PIT_DEEDS, {"verify": "false", "pay": "false"}, False), {"t.1": "it ended"}
    burnt._decide_what_was_refused()
    assert [*burnt._refused] == ["t.1"], "the next stage tries it again"


def test_a_pit_that_comes_later_than_the_key_that_the_broker_kept_is_awaited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = object.__new__(TroubledLink)
    link.came, link.port = 0, 1884
    monkeypatch.setattr(fire, "_COMES_WITHIN_S", 0)
    with pytest.raises(NotTriedError, match="no pit came to port 1884 within 0 s"):
        _await_pit(link)
    monkeypatch.setattr(fire, "_COMES_WITHIN_S", 60)
    monkeypatch.setattr("time.sleep", lambda s: setattr(link, "came", 1))
    _await_pit(link)


def test_a_restart_after_which_no_ack_is_said_again_is_told() -> None:
    burnt, player = object.__new__(Fire), _player()
    burnt.players, player.acked, player.won, player.told_again = [player], 0, {}, False
    assert not player.calm()
    with pytest.raises(JudgedError) as judged:
        burnt._not_settled()
    assert judged.value.args[0] == "P20"
    player.told_again = True
    assert player.calm()


def test_a_fire_that_hardly_burned_has_tried_nothing() -> None:
    _refuse_thin_fire(110, 600)
    with pytest.raises(NotTriedError, match="burned for 90 of 600 s"):
        _refuse_thin_fire(90, 600)


def test_a_fire_that_ended_early_says_what_it_did_not_try() -> None:
    ended = "P20 or P26", Result.BROKEN, "The meter lacks a wager."
    where = "in stage 2, after 40 of 600 s"
    lines = [_line(clause, ended, where, {}, 1.0) for clause in clauses("P") if clause.number in fire._JUDGED]
    broken = {line.clause.number: line.why for line in lines if line.result is Result.BROKEN}
    assert broken == dict.fromkeys(("P20", "P26"), "Either P20 or P26: The meter lacks a wager.")
    missed = [line for line in lines if line.result is Result.NOT_TRIED]
    assert {line.why for line in missed} == {f"the fire ended at P20 or P26, {where}"}
    assert all(line.clause.number in fire._ended_early("P20 or P26", where, lines) for line in missed)


@pytest.mark.parametrize("minutes", ["0", "-1", "nan"])
def test_a_fire_without_time_is_refused(minutes: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--broker", "127.0.0.1:1", "--fire", minutes]) == SOME_BROKEN
    assert f"A fire of {minutes} minutes tries nothing." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("beside", "says"),
    [
        (["--fire", "1", "--table", "t"], "--fire cannot stand beside --table."),
        (["--fire", "1", "--only", "P20"], "--fire cannot stand beside --only."),
        (["--pit-port", "1"], "--pit-port says nothing without --fire."),
    ],
)
def test_options_of_which_one_would_do_nothing_are_refused(
    beside: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--broker", "127.0.0.1:1", *beside]) == SOME_BROKEN
    assert says in capsys.readouterr().err


def test_a_clause_for_which_the_fire_had_nothing_is_not_tried() -> None:
    """The report calls a clause not tried if the stress test had none of the events or decisions that the clause is
    about. This test begins with enough of everything for every clause. After that it sets one count at a time to zero.
    """
    burnt = object.__new__(Fire)
    burnt.told, burnt._decided = Counter({"ends of the program under fire": 1}), {}
    burnt._deeds = Deeds(PIT_DEEDS, {"verify": "true", "pay": "true"}, False)
    player = object.__new__(Player)
    void = Move("t/e/2", "the void of 1 wager", Fraction(0), "P26", "P26", bears=Fraction(30))
    player.moves, player.acked, player.again = [void, _move("t/e/1", 30)], 9, 4
    burnt.players = [player]
    for stands, deed in (("pending", "verify"), ("verified", "pay")):
        burnt._decide(_step("t.1", 70, stands), deed)
    won = [Won(3, 1, None), Won(3, 2, None), Won(4, 1, 4400)]
    burnt._count(won, [_step("t.1", 70, "paid"), _step("t.2", 70, "rejected")])

    def not_tried(told: Counter[str]) -> dict[str, str]:
        lines = [_line(clause, None, "", told, 1.0) for clause in clauses("P") if clause.number in fire._JUDGED]
        assert len(lines) == 12
        return {line.clause.number: line.why for line in lines if line.result is Result.NOT_TRIED}

    assert not_tried(burnt.told) == {}
    for what, numbers in {
        "rounds": {"P04", "P20", "P24"},
        "ends of the program under fire": {"P20"},
        "events sent again": {"P08", "P31"},
        "voids": {"P26"},
        "hits of a share": {"P27", "P30"},
        "hits of a fixed amount": {"P28"},
        "rounds with two hits": {"P29"},
        "awards": {"P31"},
        "awards verified": {"P33"},
        "awards paid": {"P33"},
        "awards of the meter rejected": {"P34"},
    }.items():
        assert not_tried(burnt.told - Counter({what: 99})) == dict.fromkeys(numbers, f"the fire had no {what}")
    assert len(not_tried(Counter())) == 12


def test_an_ack_that_goes_back_is_a_loss_and_a_late_copy_of_one_is_none() -> None:
    table = object.__new__(FarTable)
    table.table, table.epoch, table.made = "t", "ab", [b""] * 9
    player = object.__new__(Player)
    player.table, player.acked, player._acked_ms, player._ever_sent = table, 0, 0, 9

    def hear(seq: int, second: int, chain: str | None = None) -> None:
        at = f"2026-11-26T09:00:{second:02}.000Z"
        player._hear_ack(AckWord("t", "ab", seq, chain or table.chain_of(seq), at))

    hear(7, 10)
    hear(5, 9)
    hear(6, 10)  # of the same millisecond
    assert player.acked == 7
    for seq, chain, number in ((6, None, "P20"), (8, "ab" * 32, "P04"), (10, None, "P04")):
        with pytest.raises(JudgedError) as judged:
            hear(seq, 11, chain)
        assert judged.value.args[0] == number


@pytest.fixture
def echo() -> Iterator[int]:
    """Start a server that sends back everything that it receives, and yield its port."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                line, _ = server.accept()
                threading.Thread(target=_echo, args=(line,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


def _echo(line: socket.socket) -> None:
    with suppress(OSError):
        while said := line.recv(100):
            line.sendall(said)


def test_a_link_passes_what_is_said_while_it_is_calm_and_cuts_it_then(
    echo: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(troubled_link, "_TROUBLE_AFTER_S", (0.01, 0.02))
    monkeypatch.setattr(troubled_link, "_FROZEN_S", (0.01, 0.02))
    link = TroubledLink(("127.0.0.1", echo))
    try:
        with socket.create_connection(("127.0.0.1", link.port), timeout=20) as line:
            line.sendall(b"calm")
            assert line.recv(100) == b"calm"
            assert not link.suffered
            link.calm = False
            with suppress(ConnectionResetError):
                assert line.recv(100) == b""
            assert link.suffered["cut"] == 1
        with raising("port_unusable"):
            TroubledLink(("127.0.0.1", echo), link.port)
    finally:
        link.close()
