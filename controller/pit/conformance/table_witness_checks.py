"""The conformance checks of the journal checkpoints that a table shows to a pit that cosigns them, and of the table's
alarm when the pit has cosigned another journal."""

from __future__ import annotations

import base64

from controller.contract.note import Checkpoint, Note
from controller.contract.pit_words import CosignedWord
from controller.contract.witnessing import PIT_WITNESS, ShownCheckpoint
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError, Checks
from controller.pit.conformance.far_pit import FarPit
from controller.pit.conformance.table_kit import TableKit, alarmed
from controller.pit.conformance.wire import Heard, now_text

CHECKS: Checks[TableKit] = Checks()
_clause = CHECKS.clause


@_clause("T43")
def _shows_checkpoints(kit: TableKit) -> None:
    pit = kit.pit()
    kit.round(pit)
    _signs_meanwhile(pit)
    if _shown(pit):
        raise BrokenError("The table shows a checkpoint, and the pit has never said that it cosigns.")
    _say_cosigned(pit, 0, "")
    first = _next_shown(pit, 0, None)
    _cosign(pit, first)
    kit.round(pit)
    _signs_meanwhile(pit)
    since = len(_shown(pit))
    kit.deeds.do("restart")
    _next_shown(pit, since, first.checkpoint())


@_clause("T44")
def _tells_of_another_tree(kit: TableKit) -> None:
    pit = kit.pit()
    kit.round(pit)
    _cosign(pit, Note(Checkpoint(_origin(pit), 1, bytes(32)).text(), ()))
    alarmed(pit, "journal_forked")


def _origin(pit: FarPit) -> str:
    return f"{pit.table}/{pit.ack().epoch}"


def _signs_meanwhile(pit: FarPit) -> None:
    """Wait two seconds, so that the table can sign a checkpoint of its journal after the round that has just ended. No
    message reports when the table has done this."""
    pit.wait(lambda: False, 2 * QUIET_S)


def _shown(pit: FarPit) -> list[Heard]:
    return [heard for heard in pit.heard if heard.topic == pit.topics.checkpoint]


def _next_shown(pit: FarPit, since: int, before: Checkpoint | None) -> Note:
    """Wait until the table has shown more than `since` checkpoints of its journal, and return the checkpoint after the
    first `since` as a signed note. Raises BrokenError if none comes in time, if it is no checkpoint of this journal
    signed by the table's key, or if it does not extend `before`, the checkpoint that the pit has cosigned."""
    if not pit.wait(lambda: len(_shown(pit)) > since, ANSWERS_WITHIN_S):
        raise BrokenError("On a connection on which the pit says what it has cosigned the table shows no checkpoint.")
    heard = _shown(pit)[since]
    shown = ShownCheckpoint.read(heard.message)
    note, point = (None if shown is None else shown.read_note()) or (None, None)
    if shown is None or note is None or point is None:
        raise BrokenError(f"What the table shows is no checkpoint of the contract: {heard.message}")
    origin = _origin(pit)
    if point.origin != origin or not note.signed_by(origin, bytes.fromhex(str(pit.state.get("public_key")))):
        raise BrokenError(f"The checkpoint of {point.origin} is not of {origin}, or not signed by the table's key.")
    if not shown.extends(before, point):
        raise BrokenError(
            f"The checkpoint of {point.size} rows comes with no proof that its tree begins with that of the"
            f" {before.size if before else 0} rows that the pit has cosigned."
        )
    return note


def _cosign(pit: FarPit, note: Note) -> None:
    """Cosign this checkpoint of the table's journal with the simulated pit's key, and announce the signature to the
    table."""
    point = note.checkpoint()
    assert point is not None, "the kit cosigns checkpoints"
    _, line = note.cosigned(PIT_WITNESS, pit.key, pit.key.public, 1_764_111_600).signatures[-1]
    _say_cosigned(pit, point.size, base64.b64encode(line).decode())


def _say_cosigned(pit: FarPit, size: int, cosignature: str) -> None:
    word = CosignedWord(pit.table, pit.ack().epoch, size, cosignature, None, now_text())
    pit.say(pit.topics.cosigned, word, retain=True)
