"""Checks that `tablectl words check` finds each mistake that a house's people can make in a language file of
their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.basics.errors import TableError
from controller.people.cli.main import main
from controller.people.cli.words import look
from controller.words.found import LANGUAGES, PAGES, SHIPPED

MISTAKES = {
    'playr = "X"': "label.playr: there is no such key, is label.player meant?",
    'seat = "Seat"': "label.seat: what is put in differs: nothing here, {seat} in English",
    'seat = "{seat"': "label.seat: a brace is wrong",
    'tie = " Tie"': "label.tie: a space stands at an end",
    'tie = ""': "label.tie: is empty",
    'tie = "เสมอ"': "label.tie: the pages bring no font with เสมอ",
    'tie = "Neither of the two hands has won"': "is wider than in any shipped language",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_each_mistake_in_a_file_of_words_is_told_at_its_place(line: str, tmp_path: Path) -> None:
    file = tmp_path / f"de{PAGES}"
    file.write_text(f'[label]\nplayer = "Spieler"\n{line}\n', "utf-8")
    wrong, lacking = look(file)
    assert [MISTAKES[line] in each for each in wrong] == [True]
    assert "label.banker" in lacking["players"]
    assert "label.player" not in lacking["players"]


def test_a_command_that_a_sentence_lost_is_told(tmp_path: Path) -> None:
    file = tmp_path / "de.toml"
    file.write_text('[fault.commission_owed]\nwhat = "Kommission"\ndo = "Kassieren: `tablectl comission`."\n', "utf-8")
    assert [each.partition(":")[0] for each in look(file)[0]] == ["fault.commission_owed.do"]


@pytest.mark.parametrize("name", LANGUAGES)
def test_each_shipped_file_passes(name: str) -> None:
    for ending in (PAGES, ".toml"):
        assert look(SHIPPED / (name + ending))[0] == []


def test_the_command_tells_what_is_wrong_and_what_is_said_in_english(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"vi{PAGES}"
    file.write_text('[label]\nplayer = "Nhà Con"\n', "utf-8")
    assert main(["words", "check", str(file)]) == 0
    assert "players: 0 sentences are said in English\n" in capsys.readouterr().out, "the shipped file has the others"
    file.rename(tmp_path / f"my words{PAGES}")
    assert main(["words", "check", str(tmp_path / f"my words{PAGES}")]) == 1
    assert "the file's name is not that of a language" in capsys.readouterr().out
    file.write_text("[label", "utf-8")
    with pytest.raises(TableError, match="words_unread"):
        look(file)
