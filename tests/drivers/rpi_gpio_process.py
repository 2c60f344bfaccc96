"""Runs the real RPi.GPIO in a separate process, on a simulated header's file. A test uses it like the module itself.

The module's state belongs to its process, so each test starts a new process. In the test, `RpiGpioProcess` sends each
call as a line of JSON. In the other process, `serve` makes the call.
"""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any


class RpiGpioProcess:
    """A stand-in for the module RPi.GPIO, with its constants and functions. Each function call is made by the real
    module in another process."""

    def __init__(self, shim: Path, page: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"LD_PRELOAD": str(shim), "TABLE_PINS_PAGE": str(page)},
        )

    def __getattr__(self, name: str) -> Any:
        return self._ask(name) if name.isupper() else partial(self._ask, name)

    def end(self) -> None:
        """Let the other process end normally, so that RPi.GPIO's exit functions run."""
        self._process.communicate()

    def _ask(self, name: str, *args: object, **named: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([name, args, named]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, "the process with RPi.GPIO died: its traceback is above"
        value, error = json.loads(answer)
        if error:
            raise getattr(builtins, error[0])(error[1])
        return value


def serve() -> None:
    """Make the RPi.GPIO calls that come in on standard input. Answer each with [value, null] or [null, [error,
    text]]."""
    import RPi.GPIO

    for line in sys.stdin:
        name, args, named = json.loads(line)
        attribute = getattr(RPi.GPIO, name)
        answer: list[Any]
        try:
            answer = [attribute(*args, **named) if callable(attribute) else attribute, None]
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            answer = [None, [type(error).__name__, str(error)]]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
