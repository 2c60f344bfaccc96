"""Records each call of a table's event delivery during a stress test, and checks the record against a model of the
contract's rules.

`python -m tests.fire.noted FILE ...` runs `tablectl ...` and writes a note of each call to FILE, one in each line. A
note is written before the next call, and before the call's message is sent, so that a kill loses no note.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from controller.daemon.delivery.guarantee import Delivery
from controller.daemon.delivery.sending import Sending
from controller.people.cli.main import main
from tests.model.walk import NotAWalkError, Note, Walk, noted


def findings(table: str, file: Path, sent: Sequence[bytes]) -> tuple[int, list[str]]:
    """Check the notes of a table's event delivery in `file`. Returns the number of notes, and a text for each thing
    that the contract's rules do not allow. `sent` has the events of the table's journal, all of which the pit has
    acknowledged.

    No number of notes is required, because one call may commit, send or acknowledge many events. The notes are complete
    if they end with every event acknowledged, and if no acknowledgement came before its event was sent.
    """
    chains = ["0" * 64, *(json.loads(body)["chain"] for body in sent)]
    walk, acks, found = Walk(), list[tuple[str, int]](), list[str]()
    notes = [Note(what, tuple(told), *after) for what, told, *after in map(json.loads, file.read_text().splitlines())]
    for place, note in enumerate(notes):
        try:
            walk.take(note)
        except NotAWalkError as error:
            return place, [f"{table}: note {place}, {note}: {error}"]
        if note.what == "acked":
            seq, at, _, fits, chain = note.told
            acks.append((at, seq))
            if seq > walk.went_out:
                found.append(f"{table}: the pit acknowledged event {seq}, and {walk.went_out} went out")
            if chain != chains[seq] or (seq and not fits):
                found.append(f"{table}: the ack of event {seq} has another chain than the journal")
    if [seq for _, seq in sorted(acks)] != sorted(seq for _, seq in acks):
        found.append(f"{table}: the pit's acknowledgements went back")
    if walk.acked < len(sent):
        found.append(f"{table}: by its notes {walk.acked} of {len(sent)} events are acknowledged")
    return len(notes), found


def _run() -> int:
    out = os.open(sys.argv.pop(1), os.O_APPEND | os.O_CREAT | os.O_WRONLY)

    def write(_: object, note: Note) -> None:
        os.write(out, json.dumps(note).encode() + b"\n")

    noted(Delivery, write)
    send = Sending._send

    def sending(self: Sending, due: range) -> None:
        if due:
            table = self._delivery
            write(self, Note("sent", (due[0], due[-1]), table.phase.name, table.acked_seq))
        send(self, due)

    Sending._send = sending  # type: ignore[method-assign]  # what goes out, besides what is due
    return main()


if __name__ == "__main__":
    sys.exit(_run())
