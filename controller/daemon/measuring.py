"""What runs: the program's files are measured at the start and once an hour, and a change is a row of the journal.

The pit can ask for a measure of now. Its question has a nonce, and the answer a proof that no memory of an earlier
measure has: a digest of the nonce and then of every file's bytes. Each answer is a row of the journal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from controller import __version__
from controller.basics.digest import program_digest, proof
from controller.contract.pit_words import MeasureWord
from controller.daemon.config.table_file import ProgramSection
from controller.table.facts import OwnFact, ProgramMeasured
from controller.table.journalled import MeasureAnswered

_log = logging.getLogger(__name__)

_EACH_S = 3600


class Measuring:
    """Measures the program of one table. `measured` is what was last found. `start` is the digest of the start, and
    `tell` takes each later change to the table, and each answer to the pit. `asked_at` is when the pit asked last."""

    def __init__(
        self,
        program: ProgramSection,
        configuration: str,
        start: str,
        tell: Callable[[OwnFact], None],
        asked_at: str = "",
    ) -> None:
        self._approved = program.approved
        self._configuration = configuration
        self._tell = tell
        self._asked_at = asked_at
        self._questions: list[MeasureWord] = []
        self._asked = asyncio.Event()
        self.measured = self._as_found(start)

    def ask(self, question: MeasureWord) -> None:
        """The pit asks. A question that is no later than the one before is that one once more, and is not answered."""
        if question.at > self._asked_at:
            self._asked_at = question.at
            self._questions.append(question)
            self._asked.set()

    async def run(self) -> None:
        """Measure once an hour and whenever the pit asks, until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EACH_S):
                    await self._asked.wait()
            self._asked.clear()
            await self.measure()
            questions, self._questions = self._questions, []
            for each in questions:
                await self._answer(each)

    async def _answer(self, question: MeasureWord) -> None:
        """Read the program's files after the question came, and tell what they are."""
        try:
            program, proven = await asyncio.to_thread(lambda: (program_digest(), proof(question.nonce)))
        except OSError as error:
            _log.warning("the program's files cannot be measured for the pit now: %s", error)
            return
        now = question.nonce, question.at, __version__, program, self._configuration, proven
        self._tell(MeasureAnswered(*now))

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
