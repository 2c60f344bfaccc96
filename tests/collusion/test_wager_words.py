"""Checks that no wager counts without its chips, even if the network keeps and repeats the messages of bet recognition
(a system that sees the chips).

Because of bet recognition's messages (words) the table pays out money. Bet recognition signs and numbers its messages.
The simulated network keeps each message, delays some, and delivers any of them at any time and any number of times.
Player and network work together: chips lie on the felt, are seen, lose and are taken away, and then their message comes
again. The network never delays the message that chips were taken off, because nothing would notice that
(docs/promises.md). The test looks at the felt itself to judge each wager.
"""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from controller.rules.game.wagers import Wager
from controller.table.acts.entry import Ambient
from controller.table.acts.recognition import PinRecognitionKey, SeeWager
from controller.table.acts.rounds import LockWagers
from controller.table.acts.shoe import NewShoe
from controller.table.facts import Fact
from controller.table.legality import Refuse
from controller.table.states import NoShoe, ShoeEnded, Table, WagersOpen
from tests.support.samples import at_length
from tests.support.tables import SUGARHOUSE, TableUnderTest

SHOES = 300 if at_length else 4
ACTS = 80
_KEY = "1f" * 32
_HELD_UP = 0.3
_CARDS = [f"{rank}{suit}" for rank in "A23456789TJQK" for suit in "SHDC"]


class _Evening:
    """The evening of one shoe, with a network that cheats. `unfounded` are the wagers that counted in a round although
    their chips were not on the felt."""

    def __init__(self, seed: int) -> None:
        self.unfounded: list[Wager] = []
        self._luck = random.Random(f"{seed} network")
        self._table = TableUnderTest(SUGARHOUSE).do(PinRecognitionKey(_KEY, "Smith", "Jones")).open_shoe()
        self._felt: dict[tuple[int, str], int] = {}
        self._kept: list[SeeWager] = []

    def play(self) -> None:
        for _ in range(ACTS):
            open_ = isinstance(self._table.table.phase, WagersOpen)
            self._luck.choice((self._chips, self._again, self._go_on) if open_ else (self._go_on,))()

    def _chips(self) -> None:
        """Put a player's chips down or take them off, and let bet recognition report that."""
        at = self._luck.choice((1, 2)), self._luck.choice(("player", "banker"))
        self._felt[at] = 0 if self._felt.get(at) else self._luck.choice((1000, 2000))
        wager = Wager(*at, self._felt[at])
        next_round = self._table.table.next_round
        assert next_round is not None, "wagers are open"
        word = SeeWager(wager, len(self._kept) + 1, *next_round, _KEY)
        self._kept.append(word)
        if wager.cents and self._luck.random() < _HELD_UP:
            return
        self._table.ask(word)
        if wager.cents and wager not in self._table.table.placed:
            self._felt[at] = 0  # the table refused the wager, and the dealer gives the chips back

    def _again(self) -> None:
        """Deliver one of the messages that the network has kept to the table. The message may have been delayed until
        now, or delivered before."""
        if self._kept:
            self._table.ask(self._luck.choice(self._kept))

    def _go_on(self) -> None:
        table = self._table.table
        if table.fault is not None:
            self._table.ask(NewShoe("Smith"))
        elif isinstance(table.phase, NoShoe | ShoeEnded):
            self._table.ask(NewShoe())
        elif isinstance(table.phase, WagersOpen):
            if self._table.ask(LockWagers()) is None and (locked := self._table.table.locked_wagers) is not None:
                played = locked.placed
                self.unfounded += [each for each in played if self._felt.get((each.seat, each.spot)) != each.cents]
        else:
            self._table.draw(self._luck.choice(_CARDS))
            if isinstance(self._table.table.phase, WagersOpen):
                self._felt.clear()  # paid, taken and gone


def _unfounded(seeds: range) -> list[Wager]:
    found: list[Wager] = []
    for seed in seeds:
        evening = _Evening(seed)
        evening.play()
        found += evening.unfounded
    return found


def test_no_wager_plays_without_its_chips() -> None:
    assert not _unfounded(range(SHOES))


@pytest.mark.parametrize(("rule", "seed"), [("a word counts once", 8), ("a word counts in its round alone", 1)])
def test_without_a_rule_a_wager_plays_without_chips(rule: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cheating network makes a wager count without chips if the table does not check one of two things: the number of
    bet recognition's message, or the round that the message names."""
    becomes = SeeWager.becomes

    def becomes_anew(word: SeeWager, table: Table, ambient: Ambient) -> Fact | Refuse:
        if rule == "a word counts once":
            word = replace(word, seq=max(word.seq, table.wager_seq + 1))
        elif table.next_round is not None:
            shoe, round_ = table.next_round
            word = replace(word, shoe=shoe, round=round_)
        return becomes(word, table, ambient)

    monkeypatch.setattr(SeeWager, "becomes", becomes_anew)
    assert _unfounded(range(seed, seed + 1))
