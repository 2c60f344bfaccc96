"""Checks what `tablectl` may ask for at a table's control socket, and that no caller can harm the table."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from controller.contract.face.status import Status
from controller.daemon.beat import BEAT_S
from controller.daemon.control.server import serving
from controller.people.cli import programs
from controller.people.cli.main import main
from controller.rules.game.play import Call
from controller.rules.game.wagers import Wager
from controller.table.acts.corrections import RoundCorrected
from controller.table.acts.rounds import LockWagers, MakeCall
from controller.table.acts.seats import PlaceWager, TakeSeats
from controller.table.facts import CardDrawn, ShoeOpened, ShoeStoodBy
from tests.daemon.daemon_world import World, running, served
from tests.support.errors import raising
from tests.support.tables import TABLES
from tests.support.waiting import PATIENCE_S, eventually


class Line:
    """A connection to a table's control socket, as `tablectl` makes it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer

    async def send(self, raw: bytes) -> None:
        self.writer.write(raw)
        await self.writer.drain()

    async def answer(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE_S):
            line = await self._reader.readline()
        assert line.endswith(b"\n"), line
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def ask(self, **request: object) -> dict[str, Any]:
        await self.send(json.dumps(request).encode() + b"\n")
        return await self.answer()

    async def closed(self) -> bool:
        async with asyncio.timeout(PATIENCE_S):
            return await self._reader.read() == b""


@asynccontextmanager
async def connected(path: Path) -> AsyncIterator[Line]:
    line = Line(*await asyncio.open_unix_connection(path))
    try:
        yield line
    finally:
        line.writer.close()


async def test_status_tells_everything_as_json(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        await world.open_shoe()
        answer = await line.ask(do="status")
        assert answer["ok"] is True
        status = answer["status"]
        assert status["face"]["phase"] == "wagers_open"
        assert [*status] == [*Status.__struct_fields__]
        assert status["pit"]["head_seq"] == 1
        assert set(status["lamps"]) == set(world.config.file.pins.lamps)


async def test_the_acts_of_a_supervisor(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        assert await line.ask(do="new_shoe", by="Smith") == {"ok": True}
        await world.deal("AS 2D")
        assert await line.ask(do="cut_card") == {"ok": True}
        assert world.runtime.face.final_round
        assert (await line.ask(do="void", by="Smith"))["code"] == "no_round"
        world.shoe.listener.shoe_reported(CardDrawn(None))
        await world.settle()
        assert (await line.ask(do="clear", by="Smith"))["code"] == "fault_unnamed"
        assert (await line.ask(do="clear", by="Smith", fault="1-1"))["code"] == "not_an_exit"
        assert (await line.ask(do="card", card="KS", by="Smith", fault="1-2"))["code"] == "fault_changed"
        assert await line.ask(do="card", card="KS", by="Smith", fault="1-1") == {"ok": True}
        assert world.fault() is None
        assert (await line.ask(do="clear", by="Smith"))["code"] == "no_fault"
        assert await line.ask(do="void", by="Jörg Ñandú") == {"ok": True}
        opened = world.rows()[0].fact
        assert isinstance(opened, ShoeOpened)
        assert opened.by == "Smith"


async def _confirmed_by_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Confirm the act that waits for a second person: turn the key at the table, and hold the button of that act."""
    waits = world.waits
    assert world.status.lamps["fault"] == "double_flash"
    monkeypatch.setattr("controller.daemon.second_person.SEEN_AFTER_S", 0.0)
    monkeypatch.setattr("controller.daemon.second_person.HOLD_S", 0.05)
    world.pins.pressed.add("key")
    await world.pins.sampled(20)
    assert world.waits.id == waits.id, "the key alone says nothing"
    assert waits.button is not None
    world.pins.pressed.add(waits.button)
    await eventually(lambda: world.status.second_person is None)
    world.pins.pressed.clear()
    await world.pins.sampled(20)
    assert world.status.lamps["fault"] == "dark"


async def test_a_correction_waits_for_a_second_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        await world.open_shoe()
        await world.do_rounds(1)
        correct: dict[str, object] = {"do": "correct", "round": 1, "player": "KS 9S", "banker": "2D 3D"}
        assert (await line.ask(**correct, by="Smith"))["code"] == "nothing_differs"
        assert (await line.ask(**correct | {"round": 10**20, "by": "Smith"}))["code"] == "no_such_round"
        assert (await line.ask(**correct | {"player": "KS", "by": "Smith"}))["code"] == "not_a_hand"
        assert (await line.ask(do="witness", proposal=1, by="Jones"))["code"] == "no_proposal"
        answer = await line.ask(**correct | {"banker": "2D 4D", "by": "Smith"})
        assert answer["waits"] == to_builtins(replace(world.waits, left_s=answer["waits"]["left_s"]))
        assert (answer["waits"]["act"], answer["waits"]["details"]) == (
            "correct",
            {"round": 1, "hands": {"player": ["KS", "9S"], "banker": ["2D", "4D"]}},
        )
        assert answer["waits"]["via"] == f"socket {pwd.getpwuid(os.getuid()).pw_name}({os.getuid()})"
        # The kernel knows whose account it is: another name makes no other person.
        assert (await line.ask(do="witness", proposal=1, by="Jones"))["code"] == "not_two_people"
        assert "correction" not in world.pit.types()
        await _confirmed_by_key(world, monkeypatch)
        await eventually(lambda: world.pit.types()[-1] == "correction")
        row = world.rows()[-1]
        assert isinstance(row.fact, RoundCorrected)
        assert (row.fact.by, row.fact.witness, row.via) == ("Smith", "key", f"{answer['waits']['via']} and key")
        seats = {"do": "correct", "round": 1, "hands": [{"seat": 3, "cards": "KS 9S"}], "dealer": "2D 4D"}
        assert (await line.ask(**seats, by="Smith"))["code"] == "other_hands"


async def test_a_key_that_was_turned_before_confirms_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        await world.open_shoe()
        await world.do_rounds(1)
        world.pins.pressed.add("key")
        await world.pins.sampled(20)
        waits = (await line.ask(do="correct", round=1, player="KS 9S", banker="2D 4D", by="Smith"))["waits"]
        monkeypatch.setattr("controller.daemon.second_person.HOLD_S", 0.0)
        world.pins.pressed.add(waits["button"])
        await eventually(lambda: world.pit.types()[-1] == "wagers_locked", "deal means what it always means")
        await world.pins.sampled(20)
        assert "correction" not in world.pit.types()


async def test_what_waits_holds_only_where_the_table_stood_and_only_so_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        await world.open_shoe()
        await world.do_rounds(1)
        correct: dict[str, object] = {"do": "correct", "round": 1, "player": "KS 9S", "by": "Smith"}
        first = (await line.ask(**correct, banker="2D 4D"))["waits"]
        second = (await line.ask(**correct, banker="2D 5D"))["waits"]
        assert (second["id"], second["details"]["hands"]["banker"]) == (first["id"] + 1, ["2D", "5D"])
        old = await world.runtime.confirm(first["id"], "Jones", "socket jones(7)")
        assert old.refused == "proposal_changed"
        same_name = await world.runtime.confirm(second["id"], " SMITH.", "socket jones(7)")
        assert same_name.refused == "not_two_people"
        assert world.waits.id == second["id"], "it waits on"
        await world.do(LockWagers())
        assert world.status.second_person is None
        assert (await world.runtime.confirm(second["id"], "Jones", "socket jones(7)")).refused == "no_proposal"
        await world.deal("KS 2D 9S 3D")
        monkeypatch.setattr("controller.daemon.second_person.WAITS_S", 0.0)
        assert (await line.ask(**correct, banker="2D 4D"))["code"] == "second_person_due", "its time is over already"
        assert "correction" not in world.pit.types()


async def test_lucky_9s_hands_are_corrected_from_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, example=TABLES / "lucky9.toml", table={"bet_recognition": False}) as (world, _):
        await world.open_shoe()
        await world.do(TakeSeats((3, 5), "dealer"), LockWagers())
        await world.deal("8S 4S 2C 8D 3S 9C")
        await world.do(MakeCall(Call.SPLIT, "dealer"))
        await world.deal("KS QS")
        await world.do(MakeCall(Call.STAND, "dealer"), MakeCall(Call.REVEAL, "dealer"))
        await world.deal("TC")
        file = str(tmp_path / "table.toml")
        seats = ["--hand", "3=8S KS", "--hand", "5=4S 3S", "--hand", "3=8D 3S"]
        said = ["correct", file, "1", *seats, "--dealer", "2C 9C TC", "--by", "Smith", "--yes"]
        assert await asyncio.to_thread(main, said) == 0
        await _confirmed_by_key(world, monkeypatch)
        await eventually(lambda: world.pit.types()[-1] == "correction")
        event = world.pit.ledger[-1]
        hands = [(hand["seat"], hand["hand"], hand["cards"]) for hand in event["hands"]]
        assert hands == [(3, 1, ["8S", "KS"]), (3, 2, ["8D", "3S"]), (5, 1, ["4S", "3S"])]
        assert (event["dealer"]["cards"], event["by"], event["witness"]) == (["2C", "9C", "TC"], "Smith", "key")
        assert await asyncio.to_thread(main, ["rounds", world.config.file.journal.path]) == 0
    assert (
        capsys.readouterr()
        .out.splitlines()[-1]
        .endswith(
            "correction    dealer 2C 9C TC = 1; seat 3 8S KS = 8 won; seat 3/2 8D 3S = 1 pushed; seat 5 4S 3S = 7 won"
            " (by Smith and key)"
        )
    )


async def test_what_an_act_would_do_is_shown_and_a_yes_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, example=programs.example_table("sugarhouse")) as (world, _):
        file = str(tmp_path / "table.toml")

        async def said(*words: str, answer: str | None = None) -> tuple[int, list[str]]:
            monkeypatch.setattr("sys.stdin", Typed(answer))
            code = await asyncio.to_thread(main, [words[0], file, *words[1:], "--by", "Smith"])
            told = capsys.readouterr()
            return code, [line.strip() for line in (told.out + told.err).splitlines()]

        await world.open_shoe()
        await world.do(PlaceWager(Wager(2, "player", 2000), "dealer"), PlaceWager(Wager(3, "tie", 500), "dealer"))
        await world.do_rounds(1)
        correct = ("correct", "1", "--player", "4S 2S 9S", "--banker", "2D 4D")
        code, told = await said(*correct)
        assert (code, told[:7]) == (
            1,
            [
                "Round 1 of shoe 1",
                "was told:   player KS 9S = 9, banker 2D 3D = 5",
                "would be:   player 4S 2S 9S = 5, banker 2D 4D = 6 -> banker",
                "WARNING: the rules do not deal these cards so. Check again which card went to which hand.",
                "seat 2 player $20.00: won -> lost, $40.00 less",
                "The house: $40.00 more.",
                "not_confirmed: This act needs a yes, and no terminal is here. Nothing was done.",
            ],
        )
        assert (await said(*correct, answer="no"))[1][-1].endswith("Nothing was done.")
        assert not world.status.second_person
        code, told = await said(*correct, answer="yes")
        assert (code, any(line.startswith("Do it? Type yes:") for line in told)) == (0, True)
        assert world.waits.by == "Smith"
        assert await said("void", answer="yes") == (
            1,
            [
                "no_round: There is no round to void.",
                "what to do: See `tablectl status` for what the table waits for.",
            ],
        )
        assert (await said("new-shoe", answer="no"))[1] == [
            "Shoe 1 ends here, after 1 rounds, with 410 cards left in it.",
            "Do it? Type yes: Nothing was done.",
        ]
        assert world.waits.by == "Smith", "the correction still waits"
        await world.do(PlaceWager(Wager(2, "player", 2000), "dealer"), LockWagers())
        code, told = await said("void", "--yes")
        assert (code, told[0], told[-1]) == (0, "Round 2 of shoe 1 ends without a result.", "done")
        assert "$20.00  returned" in told[1]
        code, told = await said("close-shoe", answer="yes")
        assert (code, told[0]) == (
            0,
            "Shoe 1 ends here, after 2 rounds, with 410 cards left in it.",
        )
        assert world.runtime.face.phase == "shoe_ended"
        assert await said("new-shoe") == (0, ["done"]), "no shoe ends by it"
        code, told = await said("new-shoe", answer="yes")
        assert (code, told[0]) == (0, "Shoe 2 ends here, after 0 rounds, with 416 cards left in it.")
        assert world.runtime.face.shoe == 3


class Typed(StringIO):
    """A standard input on which somebody types one line at a terminal. If the line is None, the input is no
    terminal."""

    def __init__(self, typed: str | None) -> None:
        super().__init__(f"{typed}\n")
        self._terminal = typed is not None

    def isatty(self) -> bool:
        return self._terminal


async def test_only_what_is_shown_before_it_is_done_is_foreseen(tmp_path: Path) -> None:
    """The table previews only acts whose effect `tablectl` shows to people before they confirm, such as closing the
    shoe. It refuses to preview any other act.

    A preview leaves no trace in the journal. If typing a card could be previewed, a person could find out a hidden card
    by trying one card after another.
    """
    async with served(tmp_path) as (world, path), connected(path) as line:
        await world.open_shoe()
        for act in (
            {"do": "card", "card": "KS", "by": "Smith"},
            {"do": "cut_card"},
            {"do": "foresee", "act": {"do": "close_shoe", "by": "Smith"}},
            {"do": "close_shoe", "by": " "},
            "close_shoe",
        ):
            assert (await line.ask(do="foresee", act=act))["code"] == "bad_request"
        rows = len(world.rows())
        assert (await line.ask(do="foresee", act={"do": "close_shoe", "by": "Smith"}))["would"]["cards_left"] == 414
        assert len(world.rows()) == rows
        assert world.runtime.face.phase == "wagers_open"


async def test_what_is_done_on_a_yes_is_what_was_shown_or_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        await world.open_shoe()
        await world.do(LockWagers())
        await world.deal("KS")
        void = {"do": "void", "by": "Smith"}
        before = await line.ask(do="foresee", act=void)
        await world.deal("2D 9S 3C")  # this round is over, and the next one begins before the yes
        await world.do(LockWagers())
        assert (await line.ask(**void, shown=before["shown"]))["code"] == "shown_changed"
        assert (world.runtime.face.phase, world.runtime.face.round) == ("wagers_locked", 2), "nothing was done"
        now = await line.ask(do="foresee", act=void)
        assert (before["would"]["round"], now["would"]["round"]) == (1, 2)
        assert (await line.ask(**void, shown=now["shown"]))["ok"]
        assert world.runtime.face.phase == "wagers_open"


async def test_a_refusal_says_what_and_what_to_do(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, path), connected(path) as line:
        answer = await line.ask(do="void", by="Smith")
        assert answer == {
            "ok": False,
            "code": "no_round",
            "what": "There is no round to void.",
            "do": "See `tablectl status` for what the table waits for.",
        }


async def test_an_act_is_answered_once_it_is_committed(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        world.journal.gate.clear()
        await line.send(b'{"do": "new_shoe", "by": "Smith"}\n')
        await eventually(lambda: world.journal.at_gate)
        answer = asyncio.create_task(line.answer())
        await world.pins.sampled(10)
        assert not answer.done()
        async with connected(path) as other:
            assert (await other.ask(do="status"))["ok"], "whoever only looks need not wait for the disk"
        world.journal.gate.set()
        assert await answer == {"ok": True}


async def test_watch_tells_at_once_and_what_is_new(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        await line.send(b'{"do": "watch"}\n')
        assert (await line.answer())["status"]["face"]["phase"] == "no_shoe"
        await world.open_shoe()
        while (await line.answer())["status"]["face"]["phase"] != "wagers_open":
            pass


async def test_a_commit_that_changes_nothing_to_see_is_not_pushed(tmp_path: Path) -> None:
    """If a commit changes nothing that people may see, the table sends nothing to the connections that watch it.

    In the test four cards lie face down, and the shoe sends reports that change nothing visible. Nobody may learn even
    that a report was committed.
    """
    midi = programs.example_table("sugarhouse_midi")
    async with served(tmp_path, example=midi) as (world, path), connected(path) as line:
        await world.open_shoe()
        await world.do(LockWagers())
        await world.deal("4S TH 5D 9C")
        began_s = asyncio.get_running_loop().time()
        await line.send(b'{"do": "watch"}\n')
        commits = 100
        for _ in range(commits):
            world.shoe.listener.shoe_reported(ShoeStoodBy())
            await world.settle()
        assert len(world.journal.batches) >= commits
        took_s = asyncio.get_running_loop().time() - began_s
        world.shoe.deal("2C")
        pushes = 1
        while (await line.answer())["status"]["face"]["cards_left"] != 416 - 2 - 5:
            pushes += 1
        assert pushes <= 3 + took_s / BEAT_S, "no more than one a beat"


async def test_a_watcher_that_leaves_or_never_reads_is_no_burden(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path):
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.connect(str(path))
            deaf.sendall(b'{"do": "watch"}\n')
            async with connected(path) as leaving:
                await leaving.send(b'{"do": "watch"}\n')
                await leaving.answer()
            await world.open_shoe()
            await world.do_rounds(5)
            async with connected(path) as line:
                assert (await line.ask(do="status"))["status"]["face"]["round"] == 5


async def test_many_requests_on_one_line_are_answered_in_order(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, path), connected(path) as line:
        await line.send(b'{"do": "status"}\nnonsense\n{"do": "void", "by": "S"}\n{"do": "status"}\n')
        answers = [await line.answer() for _ in range(4)]
        assert [answer.get("code") for answer in answers] == [None, "bad_request", "no_round", None]


NO_REQUEST = [
    b"",
    b"status",
    b"null",
    b"7",
    b'"status"',
    b"[]",
    b"{}",
    b"\x00\x01\xff",
    b"\xff\xfe{\x00}\x00",
    b"[" * 4000,
    b'{"a":' * 800,
    b'{"do": null}',
    b'{"do": ["status"]}',
    b'{"do": "Status"}',
    b'{"do": "status", "more": 1}',
    b'{"do": "watch", "by": "Smith"}',
    b'{"do": "deal"}',
    b'{"do": "lock"}',
    b'{"do": "run", "command": "rm"}',
    b'{"do": "new_shoe"}',
    b'{"do": "new_shoe", "by": ""}',
    b'{"do": "new_shoe", "by": "   "}',
    b'{"do": "new_shoe", "by": null}',
    b'{"do": "new_shoe", "by": 5}',
    b'{"do": "new_shoe", "by": ["Smith"]}',
    b'{"do": "new_shoe", "by": "\\ud800"}',
    b'{"do": "new_shoe", "by": "Smith\\nERROR a line of its own"}',
    b'{"do": "new_shoe", "by": "\\u0000"}',
    b'{"do": "new_shoe", "by": "Smith", "shoe": 9}',
    b'{"do": "cut_card", "by": "Smith"}',
    b'{"do": "void"}',
    b'{"do": "clear", "by": {}}',
    b'{"do": "card", "by": "Smith"}',
    b'{"do": "card", "card": "KS"}',
    b'{"do": "card", "card": "KX", "by": "Smith"}',
    b'{"do": "card", "card": "", "by": "Smith"}',
    b'{"do": "card", "card": 5, "by": "Smith"}',
    b'{"do": "card", "card": "\\ud83d\\ud83d", "by": "Smith"}',
    b'{"do": "clear", "by": "Smith", "fault": 3}',
    b'{"do": "clear", "by": "Smith", "fault": null}',
    b'{"do": "cut_card", "fault": "1-1"}',
    b'{"do": "lamp_test", "by": "Smith", "fault": "1-1"}',
    b'{"do": "witness", "by": "Smith"}',
    b'{"do": "witness", "by": "Smith", "proposal": true}',
    b'{"do": "witness", "by": "Smith", "proposal": 1, "fault": "1-1"}',
    b'{"do": "close_shoe"}',
    b'{"do": "close_shoe", "by": "\\ud800"}',
    b'{"do": "lamp_test", "by": " "}',
    b'{"do": "lamp_test", "by": "\\udfff"}',
    b'{"do": "odd_card", "fate": "eaten", "by": "Smith"}',
    b'{"do": "odd_card", "fate": "burn", "by": "\\n"}',
    b'{"do": "correct", "round": 1, "player": "KS 9S", "banker": "2D 3D", "by": "Smith", "witness": "Jones"}',
    b'{"do": "correct", "round": true, "player": "KS 9S", "banker": "2D 3D", "by": "S"}',
    b'{"do": "correct", "round": "1", "player": "KS 9S", "banker": "2D 3D", "by": "S"}',
    b'{"do": "correct", "round": 1, "player": "KS 9Z", "banker": "2D 3D", "by": "S"}',
    b'{"do": "correct", "round": 1, "player": ["KS"], "banker": "2D 3D", "by": "S"}',
    b'{"do": "correct", "round": 1, "player": "KS 9S", "banker": "2D 3D", "by": "\\ud800"}',
    b'{"do": "correct", "round": 1, "player": "KS 9S", "banker": "2D 3D", "by": "S", "more": 1}',
    *(
        b'{"do": "correct", "round": 1, "hands": %b, "dealer": "2D 4D", "by": "S"}' % hands
        for hands in (
            b'{"3": "KS 9S"}',
            b'["KS 9S"]',
            b'[{"seat": 0, "cards": "KS 9S"}]',
            b'[{"seat": true, "cards": "KS 9S"}]',
            b'[{"seat": "3", "cards": "KS 9S"}]',
            b'[{"seat": 3, "cards": ["KS", "9S"]}]',
            b'[{"seat": 3, "cards": "KS 9Z"}]',
            b'[{"seat": 3, "cards": "KS 9S", "hand": 1}]',
        )
    ),
    b'{"do": "correct", "round": 1, "hands": [], "player": "KS 9S", "banker": "2D 3D", "by": "S"}',
    b'{"do": "correct", "round": true, "hands": [], "dealer": "2D 4D", "by": "S"}',
    b'{"do": "correct", "round": 1, "hands": [], "dealer": "2D 4Z", "by": "S"}',
    b"9" * 4000,
]


async def test_what_is_no_request_is_answered_and_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path), connected(path) as line:
        for raw in NO_REQUEST:
            await line.send(raw + b"\n")
            answer = await line.answer()
            assert (answer["ok"], answer["code"]) == (False, "bad_request"), raw
            assert answer["what"].endswith(".")
            assert answer["do"].endswith(".")
        assert world.rows() == []
        assert (await line.ask(do="status"))["ok"]


@pytest.mark.parametrize("end", [b"", b"\n"])
async def test_a_line_too_long_is_told_and_the_connection_closed(tmp_path: Path, end: bytes) -> None:
    async with served(tmp_path) as (_, path):
        async with connected(path) as line:
            await line.send(b"x" * 10_000 + end)
            assert (await line.answer())["code"] == "request_too_long"
            assert await line.closed()
        async with connected(path) as line:
            assert (await line.ask(do="status"))["ok"]


async def test_half_a_request_and_gone(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, path):
        for raw in (b"", b'{"do": "new_sh', b'{"do": "status"}\n'):
            async with connected(path) as line:
                await line.send(raw)
        async with connected(path) as line:
            assert (await line.ask(do="status"))["ok"]
        assert world.rows() == []


async def test_the_socket_is_for_its_user_and_group(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660


async def test_a_dead_runs_socket_is_replaced(tmp_path: Path) -> None:
    async with running(tmp_path) as world:
        path = Path(world.config.file.control.socket)
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
        async with serving(world.runtime, path), connected(path) as line:
            assert (await line.ask(do="status"))["ok"]


@pytest.mark.parametrize("where", ["a file", "a folder", "a path too long", "below a file"])
async def test_where_no_socket_can_be_is_told_and_nothing_removed(tmp_path: Path, where: str) -> None:
    file = tmp_path / "precious"
    file.write_text("the journal, perhaps")
    path = {
        "a file": file,
        "a folder": tmp_path,
        "a path too long": tmp_path / ("x" * 120),
        "below a file": file / "sock",
    }[where]
    async with running(tmp_path) as world:
        with raising("control_socket"):
            async with serving(world.runtime, path):
                pass
    assert file.read_text() == "the journal, perhaps"
