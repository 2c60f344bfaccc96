"""What runs: the program's files are measured at the start and once an hour, and a change is a row of the journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from controller import __version__
from controller.basics.digest import program_digest
from controller.daemon.config.table_file import ProgramSection
from controller.table.facts import ProgramMeasured

_log = logging.getLogger(__name__)

_EACH_S = 3600


class Measuring:
    """Measures the program of one table. `measured` is what was last found. `start` is the digest of the start, and
    `tell` takes each later change to the table."""

    def __init__(
        self, program: ProgramSection, configuration: str, start: str, tell: Callable[[ProgramMeasured], None]
    ) -> None:
        self._approved = program.approved
        self._configuration = configuration
        self._tell = tell
        self.measured = self._as_found(start)

    async def run(self) -> None:
        """Measure once an hour, until cancelled."""
        while True:
            await asyncio.sleep(_EACH_S)
            await self.measure()

    async def measure(self) -> None:
        """Measure now, on a thread. Where files cannot be read, a line of the log says so, and the table goes on."""
        try:
            found = self._as_found(await asyncio.to_thread(program_digest))
        except OSError as error:
            _log.warning("the program's files cannot be measured now: %s", error)
            return
        if found != self.measured:
            self.measured = found
            self._tell(found)

    def _as_found(self, program: str) -> ProgramMeasured:
        approved = program in self._approved if self._approved else None
        return ProgramMeasured(__version__, program, self._configuration, approved)
