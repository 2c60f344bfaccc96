"""The command `python -m tests.power_loss FOLDER MOMENT LOSS DRAW`. From a kept recording, it makes again one state in
which a power cut can leave the disk, so that a person can look at the files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

from tests.power_loss.crash import Recording, State, examine, leave, left_behind
from tests.power_loss.disk import Loss


def main(arguments: list[str]) -> int:
    """Make the state of the disk that the arguments name, check it, and print where its files are. Return 0 if nothing
    is wrong with the state."""
    folder, moment, loss, draw = arguments
    state = State(int(moment), next(known for known in get_args(Loss) if known == loss), int(draw))
    recording, scratch = Recording(Path(folder)), Path(folder, "left behind")
    wrong = examine(recording, [state], scratch).wrong.get(state)
    disk = recording.disk()
    for note in recording.notes[: state.moment]:
        disk.do(note)
    files, index = left_behind(disk, state)
    leave(files | index, scratch)  # once more, as it was before it was opened
    print(f"{scratch}: {wrong or 'nothing wrong'}")
    return 0 if wrong is None else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
