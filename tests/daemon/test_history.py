"""Checks `tablectl rounds` and `tablectl replay`, which show a journal's past in words.

A frame of the shoe that disagrees with its journal row must be pointed out. The journals are real, and their frames
come from the simulated shoes, which share no code with the program that decodes them. The simulated shoe's own drawing
rules say how a round must end.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from controller import __version__
from controller.contract.keys import SigningKey
from controller.daemon.record.journal import Journal
from controller.people.cli import versions
from controller.people.cli.main import main
from controller.rules.game.cards import Card
from controller.table.acts.corrections import CorrectRound
from controller.table.facts import CardDrawn, Report, ShoeResult, ShoeResultReported, Target
from drivers.sim import rules
from drivers.sim.shoe.angel_eye import card_byte, frame
from drivers.sim.shoe.beetek import card_line
from tests.documents.blocks import ROOT
from tests.documents.face_page import SCHEMA
from tests.support.felt import FeltRound
from tests.support.five_games import call, wagers
from tests.support.tables import LUCKY9, SUGARHOUSE, TableUnderTest, cards

KEY = SigningKey(bytes(range(32)))
_TARGET_BITS = {Target.PLAYER: 0, Target.BANKER: 1, Target.BURN: 2, Target.FIRST_CARD: 4}


class Recorded(TableUnderTest):
    """A simulated table whose cards come with the shoe's frames. Its journal can be written to a file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._reports = 0

    def report(self, said: bytes) -> Report:
        """Return the next report of an Angel Eye shoe, with the next report number. `said` holds the report's type
        letter and payload."""
        seq = self._reports % 10
        self._reports += 1
        return Report(seq, frame(str(seq), said).hex())

    def card(self, target: Target, index: int, card: str, frame_tells: str | None = None) -> CardDrawn:
        """Return the fact that an Angel Eye shoe drew a card for the place `index` of `target`, such as Player's hand.
        A card `??` is one that the shoe could not read.

        If `frame_tells` is given, the frame in the fact names the card `frame_tells` instead, so that frame and fact
        disagree.
        """
        told = frame_tells or card
        byte = 0x80 if told == "??" else card_byte(told)
        report = self.report(bytes([ord("D"), 0x80 | _TARGET_BITS[target] << 4 | index, byte]))
        return CardDrawn(None if card == "??" else Card.parse(card), target, index, report)

    def burned(self) -> Self:
        """Open a shoe whose first card, an ace, burns one card. This makes rows 1 to 3 of the journal."""
        self.open_shoe("")
        return self.believe(self.card(Target.FIRST_CARD, 0, "AS"), self.card(Target.BURN, 1, "2D"))

    def round(self, text: str) -> Self:
        """Deal these cards of a round after the wagers were locked. The shoe's own drawing rules say to which hand each
        card goes."""
        round_ = FeltRound()
        for card in text.split():
            side, index = round_.take(card)
            self.believe(self.card(Target(side), index, card))
        return self

    def rest_of_round(self, text: str) -> Self:
        """Deal the last three of a natural's four cards: to Banker, Player and Banker."""
        places = ((Target.BANKER, 1), (Target.PLAYER, 2), (Target.BANKER, 2))
        return self.believe(
            *(self.card(target, index, card) for (target, index), card in zip(places, text.split(), strict=True))
        )

    def beetek(self, text: str) -> Self:
        """Deal these cards from a BeeTek shoe, whose reports name only the card and not the hand."""
        return self.believe(
            *(CardDrawn(Card.parse(card), report=Report(None, card_line(card).hex())) for card in text.split())
        )

    def journalled(self, folder: Path) -> Path:
        """Write this table's journal into `folder`, and return the journal's path."""
        path = folder / "table.journal"
        journal = Journal(path, self.rules.table, KEY, KEY.public)
        journal.append(self.entries)
        journal.close()
        return path


def said(capsys: pytest.CaptureFixture[str], *command: str | Path) -> list[str]:
    """Run `tablectl`, which must succeed and print nothing on stderr. Return the lines that it prints."""
    assert main([str(word) for word in command]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def refused(capsys: pytest.CaptureFixture[str], *command: str | Path) -> tuple[str, str]:
    """Run `tablectl`, which must end with exit code 1, and return what it prints on stdout and on stderr."""
    assert main([str(word) for word in command]) == 1
    out, err = capsys.readouterr()
    return out, err


@pytest.fixture
def three_rounds(tmp_path: Path) -> Path:
    """The journal of a Royal 9 table in which seat 1 wins with its own King and 9.

    After that round come a correction, a void round, a new shoe and a round that has not ended.
    """
    table = Recorded(levels={"player_personal": 250_000}).burned()
    table.lock(1).round("KS 2D 9S 3D")
    table.believe(ShoeResultReported(ShoeResult.PLAYER, False, False, table.report(b"G\x90")))
    table.do(CorrectRound(1, tuple(cards("KS 9S")), tuple(cards("2D 4D")), "Smith", "Jones"))
    table.lock().round("8H 5C").void()
    table.new_shoe_by_supervisor()
    table.believe(table.card(Target.FIRST_CARD, 0, "AD"), table.card(Target.BURN, 1, "3C"))
    table.lock().round("2S 3S 4H 4S").lock().round("7D 7C")
    return table.journalled(tmp_path)


# Every round, a line each.


def test_every_round_is_listed_with_its_correction_and_the_void_ones(
    three_rounds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(capsys, "rounds", three_rounds)
    assert [line.split(maxsplit=2)[2] for line in lines] == [
        "shoe 1 round 1  round         player KS 9S = 9  banker 2D 3D = 5  -> player (natural)",
        "shoe 1 round 1  correction    player KS 9S = 9  banker 2D 4D = 6  -> player (by Smith and Jones)",
        "shoe 1 round 2  void          by Smith; player 8H; banker 5C",
        "shoe 2 round 1  round         player 2S 4H = 6  banker 3S 4S = 7  -> banker",
    ]
    whens = [line.split()[0] for line in lines]
    assert whens == sorted(whens)
    assert whens[0].startswith("1970-01-01T00:00:08.000")  # the eighth row, a second each
    numbers = [int(line.split()[1]) for line in lines]
    assert numbers == sorted(set(numbers))


def test_a_journal_without_a_round_lists_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "rounds", Recorded().burned().lock().round("7D 7C").journalled(tmp_path)) == []


# One round, step by step.


def test_a_round_is_told_from_its_lock_to_its_outcome(three_rounds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The record of a round shows everything from the lock of the wagers to the outcome, with the shoe's frames.

    A person computed the checksums of the expected frames. For example, the XOR of the bytes 32 44 81 BD 03
    (hexadecimal) is 49, which the frame holds as the ASCII codes 34 39 of the characters "49".
    """
    locked, *steps = said(capsys, "replay", three_rounds, "1/1")
    wagers = "WagersLocked(by dealer, progressive (spot royal9, seats (1)), levels ("
    assert locked.startswith(f"row 4  1970-01-01T00:00:04.000Z  {wagers}")
    assert "$" in locked, "levels are told in dollars"
    assert steps[:-2] == [  # the last two say how it was corrected
        "    then: next card to player",
        "    event     2 shoe 1 round 1  wagers_locked royal9 at seats [1]",
        "row 5  1970-01-01T00:00:05.000Z  CardDrawn(card KS, target player, index 1)",
        "    frame 05324481bd033439, which reads the same today",
        "    player KS = 0",
        "    then: next card to banker",
        "row 6  1970-01-01T00:00:06.000Z  CardDrawn(card 2D, target banker, index 1)",
        "    frame 0533449192033737, which reads the same today",
        "    player KS = 0",
        "    banker 2D = 2",
        "    then: next card to player",
        "row 7  1970-01-01T00:00:07.000Z  CardDrawn(card 9S, target player, index 2)",
        "    frame 05344482b9033438, which reads the same today",
        "    player KS 9S = 9",
        "    banker 2D = 2",
        "    then: next card to banker",
        "row 8  1970-01-01T00:00:08.000Z  CardDrawn(card 3D, target banker, index 2)",
        "    frame 0535449293033733, which reads the same today",
        "    player KS 9S = 9",
        "    banker 2D 3D = 5",
        "    then: wagers open",
        "    event     3 shoe 1 round 1  round         player KS 9S = 9  banker 2D 3D = 5  -> player (natural)",
        "    event     4 shoe 1 round 1  hit           seat 1 royal9, player_personal: meter player_personal",
    ]


@pytest.mark.parametrize(
    ("dealt", "winner"),
    [
        ("9C TD TC 5D", "player"),
        ("TC 4D TD 4H", "banker"),
        ("6C 2D TC 4H", "tie"),
        ("2S 3S 4H 4S", "banker"),
        ("2C 3D 3C 2H 4D KH", "player"),  # Player's 5 draws a 4, and Banker's 5 draws too
        ("2C TD 3C 4H 8D", "banker"),  # Banker stands on 4 against an 8
        ("TC 3D KD 4H TH", "banker"),  # Banker stands on 7
    ],
)
def test_each_step_shows_the_hands_and_whose_card_is_next(
    tmp_path: Path, dealt: str, winner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Recorded().burned().lock().round(dealt).journalled(tmp_path)
    expected: list[str] = []
    round_ = FeltRound()
    for card in dealt.split():
        round_.take(card)
        laid = {"player": round_.player, "banker": round_.banker}
        expected += [f"    {name} {' '.join(on)} = {rules.total(on)}" for name, on in laid.items() if on]
        expected.append(f"    then: next card to {round_.side}" if round_.side else "    then: wagers open")

    lines = said(capsys, "replay", path, "1/1")
    first = next(place for place, line in enumerate(lines) if "CardDrawn" in line)
    assert [line for line in lines[first:] if not line.startswith(("row ", "    frame ", "    event "))] == expected
    assert [line.partition("  CardDrawn")[2].split(",")[0] for line in lines if "CardDrawn" in line] == [
        f"(card {card}" for card in dealt.split()
    ]
    assert sum(line.endswith(", which reads the same today") for line in lines) == len(dealt.split())
    assert f"-> {winner}" in lines[-1]


def test_a_round_of_the_next_shoe_is_that_shoes(three_rounds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "replay", three_rounds, "2/1")
    drawn = [line.split("(card ")[1][:2] for line in lines if "CardDrawn" in line]
    assert drawn == ["2S", "3S", "4H", "4S"]
    assert all(" shoe 2 round 1 " in line for line in lines if line.startswith("    event"))


def test_a_void_round_is_told_to_its_end(three_rounds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "replay", three_rounds, "1/2")
    assert lines[-6:-3] == ["    player 8H = 8", "    banker 5C = 5", "    then: next card to player"]
    assert lines[-3].endswith("RoundVoided(by Smith)")
    told = "    event     7 shoe 1 round 2  void          by Smith; player 8H; banker 5C"
    assert lines[-2:] == ["    then: wagers open", told]


def test_a_corrected_round_is_told_as_it_was_dealt(three_rounds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The record of a corrected round shows the cards as they were dealt. The list of rounds shows the corrected hands
    that two people read."""
    lines = said(capsys, "replay", three_rounds, "1/1")
    assert "    banker 2D 3D = 5" in lines
    assert "  RoundCorrected(" in lines[-2]
    assert "banker 2D 4D = 6" in lines[-1]
    assert "banker 2D 4D = 6" in said(capsys, "rounds", three_rounds)[1]


def test_a_card_that_a_supervisor_named_has_no_frame(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = Recorded().burned().lock().round("KS 2D")
    table.believe(table.card(Target.PLAYER, 2, "??")).name("9S").believe(table.card(Target.BANKER, 2, "3D"))
    lines = said(capsys, "replay", table.journalled(tmp_path), "1/1")
    assert lines[-17:-6] == [
        "row 7  1970-01-01T00:00:07.000Z  CardDrawn(target player, index 2)",
        "    frame 0534448280033731, which reads the same today",
        "    player KS = 0",
        "    banker 2D = 2",
        "    then: FAULT unreadable_card",
        "    event     3 shoe 1 round 1  fault         unreadable_card: The shoe could not read a card.",
        "row 8  1970-01-01T00:00:08.000Z  CardNamed(card 9S, by Smith)",
        "    player KS 9S = 9",
        "    banker 2D = 2",
        "    then: next card to banker",
        "    event     4 shoe 1 round 1  fault_cleared by Smith",
    ]


def test_a_step_that_failed_is_told_and_its_frame_is_not_accused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Recorded().burned().lock()
    table.fail_on(table.card(Target.PLAYER, 1, "8C")).name("8C").clear().rest_of_round("2C TC 3C")
    lines = said(capsys, "replay", table.journalled(tmp_path), "1/1")
    assert [line for line in lines if "card 8C, target" in line] == [
        "row 5  1970-01-01T00:00:05.000Z  CardDrawn(card 8C, target player, index 1), whose step failed"
    ]
    assert not any("WHICH READS" in line for line in lines)


def test_a_frame_that_tells_another_card_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = Recorded().burned().lock()
    table.believe(table.card(Target.PLAYER, 1, "8H", frame_tells="8S")).rest_of_round("5C KC 2C")
    lines = said(capsys, "replay", table.journalled(tmp_path), "1/1")
    frames = [line for line in lines if line.startswith("    frame ")]
    assert frames[0] == "    frame 05324481b8033443, WHICH READS CardDrawn(card 8S, target player, index 1) TODAY"
    assert all(line.endswith(", which reads the same today") for line in frames[1:])
    assert len(frames) == 4
    assert "    player 8H = 8" in lines  # the table believed the fact


@pytest.mark.parametrize("tells", ["place", "check"])
def test_a_frame_that_tells_another_place_or_nothing_is_told(
    tmp_path: Path, tells: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Recorded().burned().lock()
    card = table.card(Target.PLAYER, 1, "8H")
    assert card.report is not None
    other, reads = {
        "place": (frame("2", b"D\x91\xc8").hex(), "CardDrawn(card 8H, target banker, index 1)"),
        "check": (card.report.frame[:-2] + "00", "BadBytes(reason shape, count 8)"),
    }[tells]
    table.believe(replace(card, report=replace(card.report, frame=other))).rest_of_round("5C KC 2C")
    frames = [line for line in said(capsys, "replay", table.journalled(tmp_path), "1/1") if "    frame " in line]
    assert frames[0] == f"    frame {other}, WHICH READS {reads} TODAY"
    assert [line.endswith(", which reads the same today") for line in frames] == [False, True, True, True]


@pytest.mark.parametrize(
    ("via", "agrees"),
    [
        ("shoe angel_eye", "which reads the same today"),
        ("shoe beetek", "WHICH READS BadBytes(reason noise, count 8) TODAY"),
        ("shoe", "which reads the same today"),  # a row from before the shoe was named: any may have sent it
        ("", "which reads the same today"),
    ],
)
def test_a_frame_is_read_as_the_shoe_that_the_row_names(
    tmp_path: Path, via: str, agrees: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Recorded().burned().lock().round("9C TD TC 5D")
    table.entries[:] = [replace(entry, via=via) for entry in table.entries]
    lines = said(capsys, "replay", table.journalled(tmp_path), "1/1")
    frames = [line for line in lines if "    frame " in line]
    assert [line.partition(", ")[2] for line in frames] == [agrees] * 4


def test_a_beetek_round_keeps_the_hole_card_down_until_it_is_turned_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The record of a BeeTek round names the hole card (a card dealt face down) only from the moment it is turned up.

    The frames were worked out by hand: `*0D`, suit 3 (spades), 2, check 30+44+33+32 = D9, CR LF.
    """
    table = Recorded(LUCKY9).open_shoe("").beetek("AS 2D").do(*wagers("2 hand 1000")).lock()
    table.beetek("2S TD 3S 4D").do(call("hit")).beetek("4C").do(call("reveal")).beetek("5H")
    lines = said(capsys, "replay", table.journalled(tmp_path), "1/1")
    start = next(place for place, line in enumerate(lines) if "card 2S" in line)
    assert lines[start : start + 4] == [
        "row 6  1970-01-01T00:00:06.000Z  CardDrawn(card 2S)",
        "    frame 2a3044333244390d0a, which reads the same today",
        "    seat_2 2S = 2",
        "    then: next card to dealer",
    ]
    assert sum(line.endswith(", which reads the same today") for line in lines) == 6
    dealer = [line.strip() for line in lines if line.startswith("    dealer ")]
    assert dealer == ["dealer --"] * 2 + ["dealer -- 4D"] * 3 + ["dealer TD 4D = 4", "dealer TD 4D 5H = 9"]
    assert [line.partition("  Called")[2] for line in lines if "  Called(" in line] == [
        "(call hit, by dealer)",
        "(call reveal, by dealer)",
    ]
    assert lines[-3:] == [
        "    event     3 shoe 1 round 1  round         dealer TD 4D 5H = 9; seat 2 2S 3S 4C = 9 pushed; house $0.00",
        "      seat 2         hand              $10.00  pushed",
        "      staked $10.00, returned $10.00, house $0.00, commission taken $0.00, owed $0.00",
    ]


def test_what_became_of_the_wagers_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The record shows how the wagers were settled: Banker pays even money and owes 5% of the win, and Player loses."""
    table = Recorded(SUGARHOUSE).burned().do(*wagers("2 banker 2000, 3 player 1500")).lock().round("2S 9D KS TD")
    lines = said(capsys, "replay", table.journalled(tmp_path), "1/1")
    assert lines[-3:] == [
        "      seat 2         banker            $20.00  won, wins $20.00, commission $1.00",
        "      seat 3         player            $15.00  lost",
        "      staked $35.00, returned $40.00, house -$5.00, commission taken $0.00, owed $1.00",
    ]
    assert lines[-4].endswith("player 2S KS = 2  banker 9D TD = 9  -> banker (natural); house -$5.00")


# What is not there.


@pytest.mark.parametrize("which", ["1/3", "2/2", "3/1", "0/0"])
def test_a_round_that_does_not_exist_or_is_still_in_play(
    three_rounds: Path, which: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = refused(capsys, "replay", three_rounds, which)
    assert out == ""
    assert err.startswith(f"no_such_round: The journal holds no finished round {which}.\n  what to do: ")


@pytest.mark.parametrize("which", ["", "1", "1/", "/1", "1/one", "1/1/1", "1/-1", "1 / 1"])
def test_what_names_no_round(three_rounds: Path, which: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = refused(capsys, "replay", three_rounds, which)
    assert (out, err.splitlines()) == (
        "",
        [f"no_such_round: `{which}` does not name a round.", "  what to do: Write SHOE/ROUND, for example 3/12."],
    )


@pytest.mark.parametrize("command", ["rounds", "replay"])
def test_a_journal_that_is_not_there(tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    round_ = ["1/1"] * (command == "replay")
    out, err = refused(capsys, command, tmp_path / "nowhere", *round_)
    assert out == ""
    assert err.startswith("journal_missing: ")
    (tmp_path / "a letter").write_text("Dear sirs")
    out, err = refused(capsys, command, tmp_path / "a letter", *round_)
    assert out == ""
    assert err.startswith("journal_damaged: ")


@pytest.mark.parametrize("command", ["rounds", "replay"])
def test_a_damaged_journal_is_not_believed(
    three_rounds: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(three_rounds)) as db, db:
        db.execute("UPDATE fact SET salt = zeroblob(16) WHERE row = 7")
    out, err = refused(capsys, command, three_rounds, *["1/1"] * (command == "replay"))
    assert out == ""
    assert err.startswith("journal_damaged: ")
    assert "at row 7:" in err


def test_each_report_as_json_is_what_its_schema_says(
    three_rounds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = ROOT / "config" / "tables" / "royal9.toml"
    whole = json.loads(SCHEMA.read_text("utf-8"))

    def told(name: str, *command: str | Path) -> dict[str, Any]:
        report: dict[str, Any] = json.loads("\n".join(said(capsys, *command, "--json")))
        Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": whole["$defs"]}).validate(report)
        return report

    rounds = told("RoundsReport", "rounds", three_rounds)["events"]
    assert [event["at"] for event in rounds] == [line.split()[0] for line in said(capsys, "rounds", three_rounds)]
    assert told("RoundRecord", "replay", three_rounds, "1/1")["round"] == "1/1"
    assert told("VerifyReport", "verify", three_rounds)["events"] > len(rounds)
    digests = told("DigestReport", "digest", table)
    assert [digests[kind] for kind in ("program", "configuration", "both")] == [
        line.split()[1] for line in said(capsys, "digest", table)
    ]
    assert told("VersionsReport", "versions")["this_program"] == __version__
    assert told("CheckReport", "check", table)["is_right"]


def test_mistakes_are_a_report_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = tmp_path / "game.toml"
    game.write_text((ROOT / "config" / "games" / "royal9.toml").read_text("utf-8").replace("decks = 8", "decks = 0"))
    assert main(["check", str(game), "--json"]) == 78
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert not report["is_right"]
    assert [mistake["key"] for mistake in report["mistakes"]] == ["shoe.decks"]
    assert err.startswith("config_invalid: ")
    assert main(["check", str(tmp_path / "nope.toml"), "--json"]) == 78
    assert "nope.toml" in json.loads(capsys.readouterr().out)["mistakes"][0]["file"]


def test_a_machine_without_the_package_says_so_and_which_program_this_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(versions, "FOLDER", tmp_path)
    monkeypatch.setattr(versions.Versions.__init__, "__defaults__", (tmp_path, None))
    lines = said(capsys, "versions")
    assert lines[0].startswith("The package has installed no version on this machine")
    assert f"version {__version__}" in lines[1]
