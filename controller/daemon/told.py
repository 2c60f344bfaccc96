"""Makes the reports of a running table about itself: its status for people, its state for the pit, and the values that
its lamps show."""

from __future__ import annotations

from collections.abc import Callable

from controller import __version__
from controller.basics.digest import digest
from controller.contract.face.state import Links, TableState
from controller.contract.face.status import Journal as JournalTold
from controller.contract.face.status import ShoeLine as ShoeTold
from controller.contract.face.status import Status, Waits
from controller.contract.face.table import Public
from controller.contract.fingerprint import fingerprint
from controller.daemon import clock
from controller.daemon.commits import Commits
from controller.daemon.config import Config
from controller.daemon.delivery.standing import GOOD
from controller.daemon.delivery.stream import PitStream
from controller.daemon.folding import Folding
from controller.daemon.measuring import Measuring
from controller.daemon.panel import Panel
from controller.daemon.presses import Presses
from controller.daemon.record.archiving import Archivist
from controller.daemon.record.journal import Journal
from controller.daemon.shoe_line import ShoeLine
from controller.table.face_down import hides_cards
from controller.table.lamps import Live
from controller.table.states import Table


class Told:
    """Makes the reports that one running table gives about itself, from the parts of its program.

    `table` returns the table's state after the last commit, `face` the public view of that state.
    """

    def __init__(
        self,
        config: Config,
        public_key: bytes,
        journal: Journal,
        commits: Commits,
        archivist: Archivist,
        measuring: Measuring,
        folding: Folding,
        shoe_line: ShoeLine,
        panel: Panel,
        presses: Presses,
        stream: PitStream,
        table: Callable[[], Table],
        face: Callable[[], Public],
    ) -> None:
        self._config, self._public_key = config, public_key
        self._journal, self._commits, self._archivist = journal, commits, archivist
        self._measuring, self._folding, self._shoe_line = measuring, folding, shoe_line
        self._panel, self._presses, self._stream = panel, presses, stream
        self._table, self._face = table, face
        self._started_s = clock.monotonic_s()

    def status(self) -> Status:
        """Return the status of the running table: everything that people may know of it."""
        ran = self._measuring.measured
        return Status(
            version=__version__,
            program_digest=ran.program,
            config_digest=ran.configuration,
            digest=digest(ran.program, ran.configuration),
            key_fingerprint=fingerprint(self._public_key),
            up_s=int(clock.monotonic_s() - self._started_s),
            clock_set=clock.stamp_now().synchronised,
            face=self._face(),
            test=self._panel.test_name,
            lamps={name: pattern.name.lower() for name, pattern in self._panel.shown.items()},
            sensors=tuple(sorted(self.sensed_seats())),
            inputs=tuple(sorted(name for name, pressed in self._panel.settled.items() if pressed)),
            second_person=self.waits_for_second_person(),
            shoe=ShoeTold(
                up=self._shoe_line.up,
                why=self._shoe_line.why,
                bad_bytes=self._shoe_line.bad_bytes,
                bad_bytes_wait=hides_cards(self._table()),
            ),
            pit=self._stream.told.status(),
            recognition=self._stream.recognition_status(self._config.rules.bet_recognition),
            journal=JournalTold(
                path=self._config.file.journal.path,
                boot=self._journal.boot,
                error=self._commits.error,
                archived_rows=self._journal.archived_rows,
                archive_error=self._archivist.error,
            ),
        )

    def state(self) -> TableState:
        """Return the table's state for the pit. The MQTT broker keeps the message that holds it."""
        ran, face = self._measuring.measured, self._face()
        return TableState(
            version=__version__,
            program_digest=ran.program,
            config_digest=ran.configuration,
            digest=digest(ran.program, ran.configuration),
            public_key=self._public_key.hex(),
            phase=face.phase,
            shoe=face.shoe,
            round=face.round,
            next_round=face.next_round,
            fault=face.fault.code if face.fault else None,
            links=Links(shoe=self._shoe_line.up, journal=self._commits.error is None),
            meters=tuple(sorted(self._config.rules.meters)),
        )

    def live(self) -> Live:
        """Return the values that the lamps show in addition to the table's public view, such as working connections,
        covered sensors and refused wagers."""
        pit_fresh, pit_up = self.pit_stands()
        return Live(
            sensed_seats=self.sensed_seats(),
            pit_fresh=pit_fresh,
            shoe_up=self._shoe_line.up,
            pit_up=pit_up,
            journal_ok=self._commits.error is None,
            refused_seats=self._folding.refused_seats,
            second_person=self._presses.waiting() is not None,
            sensed_open=self._table().rules.sensed not in self._face().closed,
        )

    def pit_stands(self) -> tuple[bool, bool]:
        """Return two flags that the lamps show. The first is True if bets on progressives may be taken now. The second
        is True if nothing is wrong between table and pit."""
        return self._stream.fresh(), self._stream.told.standing().code in GOOD

    def sensed_seats(self) -> frozenset[int]:
        """Return the seats of this table whose sensor a wager covers."""
        return self._panel.covered.intersection(self._face().seats)

    def waits_for_second_person(self) -> Waits | None:
        """Return the request that waits for a second person, in the form in which the status shows it; None if no
        request waits."""
        return self._presses.waiting_status()
