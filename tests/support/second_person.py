"""The second person who confirms a waiting act: another user account, or, if the tests do not run as root, the key at
the table."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from controller.contract.face.status import Waits
from tests.support.other_user import NOBODY, ask_as


def agree(waits: Waits | None, control: Path, by_key: Callable[[str], None]) -> None:
    """Confirm the waiting act as a second person, if an act waits. `by_key(button)` turns the key at the table and
    holds the button of that name."""
    if waits is None:
        return
    if os.getuid() == 0:
        answer = ask_as(NOBODY, control, {"do": "witness", "proposal": waits.id, "by": "Bea"})
        assert answer.get("ok") or answer["code"] == "no_proposal", answer
    else:
        assert waits.button is not None, "this table has a key and the act's button"
        by_key(waits.button)
