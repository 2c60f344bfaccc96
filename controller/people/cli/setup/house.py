"""The questions of `tablectl setup` about the house: which game, which table, which seats, and what is printed at each
seat."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

from controller.daemon.config import is_game_file, load_game
from controller.daemon.config.game_file import GameFile
from controller.daemon.config.problems import ConfigError
from controller.daemon.config.table_file import mistakes_in_id
from controller.people.cli.setup.draft import Draft, SeatDraft
from controller.people.cli.setup.questions import Dialogue
from controller.rules.game.cards import PersonalK9, Suit


def ask_house(dialogue: Dialogue, folder: Path, draft: Draft) -> GameFile:
    """Ask the technician for the section `[table]` and the seats of the table's file, and put the answers into the
    draft of that file. Returns the content of the game's file. `folder` holds the table's file, and the game files in
    its subfolder `games`."""
    games = sorted(path for path in (folder / "games").glob("*.toml") if is_game_file(path))
    names = ", ".join(path.stem for path in games) or "none"

    def game(text: str) -> Path:
        path = folder / "games" / f"{text}.toml" if re.fullmatch(r"[a-z0-9_]+", text) else folder / text
        if path.is_dir():
            raise ValueError(f"{path} is a folder. Name one of its files: {', '.join(map(str, path.glob('*.toml')))}")
        try:
            load_game(path)
        except ConfigError as error:
            raise ValueError(f"{error}\nThe games here: {names}. Or write the path of a game file.") from None
        return path

    explains = f"The rule sheet that the table plays. Here are: {names}. For a game of your own, write its file's path."
    path = dialogue.ask("table.game", "Game", explains, games[0].stem if games else "", game)
    rules, _ = load_game(path)
    explains = "The table's name in each message to the pit and in its certificate: a-z, 0-9 and -, such as royal9-01."
    default = re.sub("[^a-z0-9]", "-", path.stem) + "-01"
    named = dialogue.ask("table.id", "Name of the table at the pit", explains, default, read_id)
    explains = "As the screen shows it."
    called = dialogue.ask("table.name", "Name of the table for people", explains, f"{rules.name}, table 1", str)
    file = str(path.relative_to(folder) if path.is_relative_to(folder) else path)
    draft.table |= {"game": file, "id": named, "name": called, **_ask_dealing(dialogue, rules)}
    draft.seats = _ask_seats(dialogue, rules)
    return rules


def _ask_dealing(dialogue: Dialogue, rules: GameFile) -> dict[str, object]:
    said: dict[str, object] = {}
    if rules.section.dealt("midi") is not None:
        explains = "mini: the dealer turns up every card. midi: cards lie face down until they are revealed."
        read = choice("mini", "midi")
        said |= {"dealt": dialogue.ask("table.dealt", "Dealt as mini or midi", explains, "mini", read)}
    explains = "Cameras or chips that tell the table of each wager. Without them the table settles no wager in money."
    recognised = dialogue.agrees("table.bet_recognition", "Is there bet recognition", explains, False)
    return said | {"bet_recognition": recognised}


def _ask_seats(dialogue: Dialogue, rules: GameFile) -> list[SeatDraft]:
    def numbers(text: str) -> list[int]:
        if not re.fullmatch(r"[0-9]{1,2}( [0-9]{1,2})*", text):
            raise ValueError("Write how many seats there are, such as 7, or the seats' numbers, such as 1 2 3 5.")
        found = [*map(int, text.split())]
        found = [*range(1, found[0] + 1)] if len(found) == 1 else found
        if not found or len(set(found)) < len(found) or not all(1 <= each <= rules.most_seats for each in found):
            raise ValueError(f"The sheet allows seats 1 to {rules.most_seats}. Write each seat once.")
        return found

    explains = "How many seats the felt has. Where a number is left out (no seat 4), write the numbers: 1 2 3 5."
    found = dialogue.ask("seats.numbers", "Seats", explains, str(rules.most_seats), numbers)
    seats = [*map(SeatDraft, found)]
    if not any(hand.seat_pair for bet in rules.bets for row in bet.rows for hand in row.when.hands()):
        return seats
    dialogue.say("Each seat has a King and a 9 printed on the felt. Read the felt: a wrong pair pays the wrong seat.")
    free = [
        str(PersonalK9(king, nine)) for king, nine in sorted(product(_SUITS, repeat=2), key=lambda k9: k9[0] != k9[1])
    ]
    for seat in seats:

        def k9(text: str) -> str:
            printed = str(PersonalK9.parse(text.upper()))
            if printed not in free:
                raise ValueError(f"{printed} is printed at another seat already.")
            return printed

        explains = "Rank, then suit: S spades, H hearts, D diamonds, C clubs. Example: KS 9H."
        key = f"seats.{seat.number}.k9"
        seat.k9 = dialogue.ask(key, f"Printed at seat {seat.number}", explains, free[0], k9)
        free.remove(seat.k9)
    return seats


_SUITS = (Suit.SPADES, Suit.HEARTS, Suit.DIAMONDS, Suit.CLUBS)


def read_id(text: str) -> str:
    """Return the text unchanged if it can be a table's id. Raises ValueError otherwise."""
    for _, what, do in mistakes_in_id(text):
        raise ValueError(f"{what}. {do}")
    return text


def choice(*words: str) -> Callable[[str], str]:
    """Return a function that accepts one of these words as an answer, and raises ValueError for any other text."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"Write one of: {', '.join(words)}.")
        return text

    return read
