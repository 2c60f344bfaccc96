"""The recorded run of a table, for tests that cut the power at any moment of it. The real daemon runs under a recorder,
with a dealer, a supervisor, a broker and a pit.

The table begins its journal and deals. It is killed inside a round, and stopped cleanly between two rounds. A
supervisor closes the shoe, and the table archives it once the next shoe is open. So the recording holds the first
start, commits of facts with and without events, recovery after a kill, checkpoints, rows that move to an archive, and
an ordinary end.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from controller.bench.daemon import Broker, Table, TableFiles
from controller.bench.dealer import Dealer
from controller.bench.far_pit import FarPit
from controller.bench.far_shoe import FarShoe
from controller.bench.header import Pins
from controller.bench.waiting import Eventually
from drivers.sim import rules
from drivers.sim.deck import Deck, shuffled_decks
from drivers.sim.line import PtyLine
from drivers.sim.pins import SimulatedPins
from tests.power_loss.disk import FOLDER, JOURNAL, KEY
from tests.support.felt import FeltRound

SUPERVISOR = "Ann"
"""Speaks on the control socket, as nobody else does."""

_DECKS = 8
_ROUNDS_A_SHOE = 12


class Life:
    """The table whose run is recorded, and everything around it, in `folder`. The recorder writes its notes to the file
    `notes` in that folder.

    The libraries `recorder` and `shim` are preloaded into the daemon. `program` is the command to run instead of
    `tablectl`; if it is empty, `tablectl` runs.
    """

    def __init__(self, folder: Path, recorder: Path, shim: Path, program: Sequence[str]) -> None:
        self._ends = ExitStack()
        self._broker = Broker(folder)
        self._broker.up()
        self._ends.callback(self._broker.down)
        kept = folder / FOLDER
        kept.mkdir()
        files = TableFiles(
            folder,
            "power-loss",
            self._broker.port,
            shim,
            journal={
                "path": str(kept / JOURNAL),
                "signing_key": str(kept / KEY),
                "archive": str(kept),  # with the journal, in the one folder that a power cut is tried on
                "keep_shoes": 0,
            },
        )
        files.environment |= {
            "LD_PRELOAD": f"{recorder}:{shim}",
            "TABLE_RECORD_FOLDER": str(kept),
            "TABLE_RECORD_NOTES": str(folder / "notes"),
        }
        lamps, inputs = files.values["pins"]["lamps"], files.values["pins"]["inputs"]
        self._pins = Pins(SimulatedPins(files.page, lamps, inputs), lamps, inputs)
        self._ends.callback(self._pins.close)
        line = PtyLine(files.port)
        self._ends.callback(line.unplug)
        self._shoe = FarShoe(line)
        self._pit = FarPit(self._broker.port, files.table_id)
        self._ends.callback(self._pit.gone)
        self._table = Table(files, folder)
        self._table.program = program or self._table.program
        self._ends.callback(self._table.close)
        self._eventually = Eventually(self._table, self._pins, self._pit, folder)
        self._dealer = Dealer(self._table, self._shoe, self._pins, self._eventually)
        self._decks = shuffled_decks(5, _DECKS, 0)

    def live(self, rounds: int) -> None:
        """Run the table from its first start to its end, with about `rounds` rounds. At the end the pit has
        acknowledged every event, and the table is stopped."""
        with self._ends:
            self._start()
            self._shoe.power_up()
            for first in range(0, rounds, _ROUNDS_A_SHOE):
                dealt = min(rounds - first, _ROUNDS_A_SHOE)
                self._shoe_of(dealt, killed_once=first <= _ROUNDS_A_SHOE, stopped_once=first == 0)
            archived = self._archived_rows()
            self._open_shoe(next(self._decks))
            self._eventually(lambda: self._table.unacknowledged() == 0)
            self._eventually(lambda: self._archived_rows() > archived)
            assert self._table.stop() == 0
            assert self._pit.wrong == []

    def _shoe_of(self, rounds: int, killed_once: bool, stopped_once: bool) -> None:
        """Deal a shoe of `rounds` rounds and let a supervisor end it. If `killed_once`, kill the daemon inside a round.
        If `stopped_once`, stop it cleanly between two rounds, which empties the write-ahead log.

        SQLite goes back to the start of the write-ahead log when the log is full, and immediately after a kill.
        """
        deck = next(self._decks)
        self._open_shoe(deck)
        for number in range(rounds):
            seats = [1 + number % 7, 1 + (number + 3) % 7]
            if number == rounds // 3 and killed_once:
                self._killed_inside_a_round(deck)
            elif number == rounds // 2:
                self._void_a_round(deck)
            elif number == 2 * rounds // 3 and stopped_once:
                self._stopped_and_started()
            self._dealer.play(" ".join(_round_of(deck)), *seats)
        self._table.supervisor("close_shoe")

    def _open_shoe(self, deck: Deck) -> None:
        first = deck.draw()
        self._dealer.open_shoe(first, " ".join(deck.draw() for _ in range(rules.burn_count(first))))

    def _archived_rows(self) -> int:
        return int(self._table.status().journal.archived_rows)

    def _killed_inside_a_round(self, deck: Deck) -> None:
        cards = _round_of(deck)
        self._dealer.lock(2)
        self._dealer.deal(" ".join(cards[:2]))
        self._table.kill()
        self._start()
        self._table.count()
        self._shoe.deal(" ".join(cards[2:]))
        self._eventually(lambda: self._table.phase == "wagers_open")
        self._pins.uncover(2)

    def _void_a_round(self, deck: Deck) -> None:
        self._dealer.lock(5)
        self._dealer.deal(deck.draw())
        self._table.supervisor("void")
        self._shoe.force_quit()
        self._table.hear_out()
        self._pins.uncover(5)

    def _stopped_and_started(self) -> None:
        assert self._table.stop() == 0
        self._start()
        self._table.count()

    def _start(self) -> None:
        self._table.start()
        self._eventually(self._table.links_up)


def _round_of(deck: Deck) -> list[str]:
    """Draw one round's cards from the deck, and return them in the order in which they are drawn."""
    round_ = FeltRound()
    while round_.side is not None:
        round_.take(deck.draw())
    return round_.cards
