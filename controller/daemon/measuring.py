"""Computes a digest of the running program's files, at the start and once an hour. A changed digest becomes a row of
the journal.

The pit can ask for a fresh digest. Its question has a nonce (a random number). The answer holds a digest of the nonce
followed by the bytes of every file, which cannot be computed from an earlier digest. Each answer is a row of the
journal.
"""

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
    """Computes the digest of the files of one table's program.

    `start` is the digest when the daemon started. `measured` is the latest result. `tell` is called with each later
    change, and with each answer to the pit. `asked_at` is the time of the pit's latest question.
    """

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
        """Queue the pit's question for a fresh digest of the program's files.

        A question whose time is not later than that of the question before is a repeat, and is not answered.
        """
        if question.at > self._asked_at:
            self._asked_at = question.at
            self._questions.append(question)
            self._asked.set()

    async def run(self) -> None:
        """Compute the digest of the program's files once an hour and whenever the pit asks, until cancelled."""
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
        """Answer the pit's question: read the program's files now, and report their digest, and a digest over the
        question's nonce and the files, which proves that the files were read after the question came."""
        try:
            program, proven = await asyncio.to_thread(lambda: (program_digest(), proof(question.nonce)))
        except OSError as error:
            _log.warning("the program's files cannot be measured for the pit now: %s", error)
            return
        now = question.nonce, question.at, __version__, program, self._configuration, proven
        self._tell(MeasureAnswered(*now))

    async def measure(self) -> None:
        """Compute the digest of the program's files now, in a thread. Report a changed digest.

        If the files cannot be read, only log that, and let the table go on.
        """
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
