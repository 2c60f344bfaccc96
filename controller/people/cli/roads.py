"""`tablectl roads`: print the five roads of a shoe as text. Roads are the scoreboards that baccarat players read."""

from __future__ import annotations

from pathlib import Path

from controller.basics.errors import TableError
from controller.people.cli.client import shoe_rounds
from controller.people.cli.files import default_table
from controller.rules.roads.marks import Roads, rounds_of
from controller.rules.roads.text import LETTERS, roads_text, rounds_from


def roads(of: str | None) -> int:
    """Print the roads (scoreboards) of a series of rounds. `of` is either a text of the winners, such as BBPT, or the
    path of the file of a running table that has an open shoe. None means the default table.

    Raises TableError `no_hands` for any other text.
    """
    if of is not None and set(of.upper()) <= LETTERS.keys():
        rounds = rounds_from(of)
    elif of is None or of.endswith(".toml"):
        rounds = rounds_of(shoe_rounds(default_table("roads") if of is None else Path(of)))
    else:
        do = "Write B for Banker, P for Player and T for a tie, in their order: tablectl roads BBPPPTBPBB"
        raise TableError("no_hands", f"{of} is neither a string of rounds nor a table's file.", do)
    print(roads_text(Roads(rounds)))
    return 0
