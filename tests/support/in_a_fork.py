"""Runs work in a fork of this process, so that nothing has to be imported again."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def exit_code(work: Callable[[], object]) -> int:
    """Do the work in a fork, and return how the fork ended: 0 after success, 1 if the work raised, or minus the number
    of the signal that killed the fork."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
