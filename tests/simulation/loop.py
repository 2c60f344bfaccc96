"""An asyncio event loop in simulated time. It never waits, but sets its clock to the next moment at which something is
due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

_SPINS = 10_000


class PowerCut(BaseException):
    """Raised by the simulated disk to cut the power of a table's computer at that moment."""


@dataclass
class Worker:
    """The simulated thread of an executor. Each piece of work takes `takes_s` seconds. If it raises `PowerCut`,
    `on_power_cut` is called.

    No result is given back for work that raised `PowerCut`. While `gone` is True, no work is done.
    """

    takes_s: float
    on_power_cut: Callable[[], None]
    gone: bool = False


class SpinningError(Exception):
    """Raised if the program keeps itself busy without end, so that no simulated time goes by."""


class _NothingToSelect:
    """A stand-in for a selector: no file is ever ready, and waiting only moves the clock."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._idle = 0

    def select(self, timeout_s: float | None) -> list[Any]:
        assert timeout_s is not None, "the simulation waits for something that will never come"
        self._idle = 0 if timeout_s else self._idle + 1
        if self._idle > _SPINS:
            self._idle = 0
            raise SpinningError(f"at {self._loop.now_s} s")
        self._loop.now_s += timeout_s
        return []


async def watch_in_turns(look: Callable[[], bool], noticed: Callable[[], None], every_s: float) -> None:
    """Call `look` every `every_s` seconds of simulated time, and `noticed` when it returns True. This stands in for
    `controller.daemon.pins.watch.keep_watching`, which does the same on a thread."""
    while True:
        if look():
            noticed()
        await asyncio.sleep(every_s)


class VirtualLoop(asyncio.BaseEventLoop):
    """An asyncio event loop in simulated time. The work of executors is done on the same thread, and takes as long as
    its `Worker` says. There is no other thread and no file descriptor."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 1000.0
        self.workers: dict[Executor, Worker] = {}
        self._selector = _NothingToSelect(self)
        self._clock_resolution = 1e-9
        self.set_exception_handler(lambda loop, context: None)

    def time(self) -> float:
        """Return the simulated time, in seconds."""
        return self.now_s

    def run_for(self, seconds: float) -> None:
        """Let this many seconds of simulated time go by."""
        stop = self.call_later(seconds, self.stop)
        self.run_forever()
        stop.cancel()

    def run_in_executor(  # type: ignore[override]  # the one caller awaits the result
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Run `func` on this thread, after the simulated time that the executor's `Worker` takes for its work. Return a
        future for the result."""
        result = self.create_future()
        assert executor is not None, "the loop has no executor of its own"
        worker = self.workers[executor]
        self.call_later(worker.takes_s, self._work, worker, result, func, args)
        return result

    def _work(
        self, worker: Worker, result: asyncio.Future[Any], func: Callable[..., Any], args: tuple[Any, ...]
    ) -> None:
        if worker.gone:
            return
        try:
            value = func(*args)
        except PowerCut:
            worker.gone = True
            worker.on_power_cut()
        except Exception as error:  # noqa: BLE001  # as an executor does: it is the caller's
            if not result.done():
                result.set_exception(error)
        else:
            if not result.done():
                result.set_result(value)

    def _process_events(self, event_list: list[Any]) -> None:
        """Do nothing, because there are no files and so no events."""

    def _write_to_self(self) -> None:
        """Do nothing, because there is no selector to wake."""
