"""Checks a table whose pit cosigns its checkpoints (signs them too, as a witness): what the table sends, what it keeps,
and when it warns people.

The test has its own witness. It keeps one checkpoint, and decides whether the next one extends it, by its own reading
of C2SP's pages.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from controller.contract.keys import SigningKey
from controller.contract.merkle import is_consistent
from controller.contract.note import Checkpoint, Note, read_note
from controller.contract.pit_words import CosignedWord, PitKeyWord
from controller.daemon import beat
from controller.daemon.beat import next_beat
from controller.daemon.delivery.witness import SHOWN_EVERY
from controller.daemon.evidence import evidence
from controller.pit.reference.clock import now_text
from controller.table.acts.rounds import LockWagers
from controller.table.acts.shoe import CloseShoe
from drivers.sim.deck import shuffled
from tests.daemon.daemon_world import KEY, PIT_KEY, Published, World, running
from tests.support.waiting import eventually, run

_CUT = 14
"""So many cards from the end the cut card lies."""

_HASH_BYTES = len(base64.b64encode(bytes(32))) + len('"",')
"""What a hash takes in a proof."""

_TOPIC = "pit/v1/royal9-01/cosigned"


class HeldWitness:
    """A stand-in for a pit that cosigns checkpoints, on the broker in memory.

    `shown` holds the checkpoints that the table sent. While `answers` is False, the pit sends nothing.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.shown: list[Checkpoint] = []
        self.bytes = 0  # both ways, with their topics
        self.hashes = 0  # of all proofs
        self.said = 0  # words
        self.note: Note | None = None
        self.answers = True
        before = world.broker.reason

        def hear(published: Published) -> int | None:
            if published.topic.endswith("/checkpoint"):
                self.bytes += len(published.topic) + len(published.payload)
                self.hashes += len(published.value["proof"])
                self.hear(published.value)
            return before(published)

        world.broker.reason = hear

    def hear(self, message: dict[str, Any]) -> None:
        note = read_note(message["note"])
        point = None if note is None else note.checkpoint()
        assert note is not None
        assert point is not None
        self.shown.append(point)
        if not self.answers:
            return
        proof = [base64.b64decode(each) for each in message["proof"]]
        kept = self.kept
        assert message["old"] == kept.size
        assert not kept.size or is_consistent(kept.size, kept.root, point.size, point.root, proof)
        self.note = note.cosigned("pit", PIT_KEY, PIT_KEY.public, 1_764_111_600)
        self.say()

    @property
    def kept(self) -> Checkpoint:
        point = None if self.note is None else self.note.checkpoint()
        return point or Checkpoint("", 0, b"")

    def say(self, refused: str | None = None, epoch: str | None = None, key: SigningKey = PIT_KEY) -> None:
        line = base64.b64encode(self.note.signatures[-1][1]).decode() if self.note is not None else ""
        epoch = epoch or self.world.journal.epoch
        word = CosignedWord("royal9-01", epoch, self.kept.size, line, refused, now_text())
        self.said += 1
        self.bytes += len(_TOPIC) + len(word.payload(key))
        self.world.broker.say(word.payload(key), _TOPIC)


@asynccontextmanager
async def _witnessed(folder: Path) -> AsyncIterator[tuple[World, HeldWitness]]:
    """Run a table with an open shoe and a pit that cosigns. The table trusts the pit's key."""
    async with running(folder, pinned=False) as world:
        witness = HeldWitness(world)
        witness.say()  # before a key is pinned by which it can be judged
        await next_beat()
        world.broker.say(PitKeyWord(PIT_KEY.public.hex(), now_text(), ()).payload(PIT_KEY), "pit/v1/pit-key")
        await eventually(lambda: world.status.pit.key.pinned)
        await _beats(2)  # the word is judged
        await world.open_shoe()
        yield world, witness


def _alarms(world: World) -> list[dict[str, Any]]:
    return [each for each in world.pit.ledger if each.get("code") == "journal_forked"]


async def _beats(count: int) -> None:
    for _ in range(count):
        await next_beat()


def test_to_a_pit_that_does_not_cosign_the_table_shows_nothing(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path) as world:
            witness = HeldWitness(world)
            await world.open_shoe()
            await world.do_rounds(2)
            await world.do(CloseShoe("Smith"))
            await eventually(lambda: world.journal.last_note("signed"))
            await _beats(3)
            witness.say(epoch="another")
            witness.say(key=SigningKey(bytes(32)))
            world.broker.say(b"{}", _TOPIC)
            await _beats(3)
            assert not witness.shown

    run(play())


def test_a_checkpoint_is_shown_at_a_shoes_end_and_its_cosignature_is_in_the_evidence(tmp_path: Path) -> None:
    async def play() -> tuple[Path, int]:
        async with _witnessed(tmp_path) as (world, witness):
            await world.do_rounds(1)
            await eventually(lambda: world.journal.last_note("signed"))
            await _beats(3)
            assert not witness.shown, "a round alone is not worth a thousand bytes"
            await world.do(CloseShoe("Smith"))
            await eventually(lambda: world.journal.last_note("cosigned"))
            (point,) = witness.shown
            assert not _alarms(world)
            return Path(world.config.file.journal.path), point.size

    path, size = run(play())
    note = read_note(json.loads(evidence(path, "1/1"))["checkpoint"])
    assert _size(note) == size
    assert note is not None
    assert note.cosigned_at_s("pit", PIT_KEY.public) == 1_764_111_600
    assert note.signed_by(note.text.partition("\n")[0], KEY.public)


def test_after_fifteen_rounds_one_is_shown_from_the_last_that_was_cosigned(tmp_path: Path) -> None:
    """After fifteen rounds the table sends the pit a checkpoint, with a proof that it extends the checkpoint that the
    pit cosigned last.

    The table sends a checkpoint on each new connection too, because the last message may have been lost with the old
    connection.
    """

    async def play() -> None:
        async with _witnessed(tmp_path) as (world, witness):
            await world.do_rounds(1)
            await eventually(lambda: world.journal.last_note("signed"))
            note = world.journal.last_note("signed")
            assert note is not None
            for _ in range(SHOWN_EVERY - 2):
                world.runtime.stream.checkpoint_signed(note, False)
            await _beats(3)
            assert not witness.shown
            world.runtime.stream.checkpoint_signed(note, False)
            await eventually(lambda: len(witness.shown) == 1)
            witness.answers = False
            await world.do(CloseShoe("Smith"))
            await eventually(lambda: len(witness.shown) == 2)
            world.broker.disconnect()
            world.broker.connect()
            witness.answers = True
            witness.say()
            await eventually(lambda: len(witness.shown) == 3)
            await eventually(lambda: _size(world.journal.last_note("cosigned")) == witness.shown[1].size)
            assert witness.shown[1] == witness.shown[2]

    run(play())


async def _signed_after(world: World, size: int | None) -> None:
    """Wait until the table has signed a new checkpoint. `size` is the number of rows that the checkpoint before covers,
    or None if there was none."""
    await eventually(lambda: _size(world.journal.last_note("signed")) != size)


def _size(note: Note | None) -> int | None:
    point = None if note is None else note.checkpoint()
    return None if point is None else point.size


def test_a_whole_shoe_costs_two_hundred_bytes_a_round_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figure: Callable[[str], None]
) -> None:
    """To have the checkpoints of a shoe cosigned, table and pit send at most 200 bytes on the network for each round.
    This holds even if the connection is lost within the shoe.

    The messages are longest at a table with the longest id and at the end of a journal of 2**24 rows, which would take
    many years to write. The test computes these lengths.
    """
    monkeypatch.setattr(beat, "BEAT_S", 0.02)

    async def play() -> tuple[int, HeldWitness]:
        async with _witnessed(tmp_path) as (world, witness):
            cards, rounds = next(shuffled(30, 8)), 0
            for opening in ("AS", "2D"):
                cards.remove(opening)
            while len(cards) > _CUT:
                before = _size(world.journal.last_note("signed"))
                await world.do(LockWagers())
                while world.runtime.face.phase != "wagers_open":
                    await world.deal(cards.pop())
                rounds += 1
                await _signed_after(world, before)
                await _beats(3)  # what is due is shown, as at a table, where a round takes a minute
                if rounds == 40:
                    world.broker.disconnect()
                    world.broker.connect()
                    witness.say()
            before = _size(world.journal.last_note("signed"))
            await world.do(CloseShoe("Smith"))
            await _signed_after(world, before)
            last = _size(world.journal.last_note("signed"))
            await eventually(lambda: _size(world.journal.last_note("cosigned")) == last)
            return rounds, witness

    rounds, witness = run(play())
    assert rounds > 75
    shown, said = len(witness.shown), witness.said
    assert rounds // SHOWN_EVERY <= shown <= rounds // SHOWN_EVERY + 2
    letters = 60 - len("royal9-01")
    most = witness.bytes + (25 * shown - witness.hashes) * _HASH_BYTES + shown * len("16777216")
    most += letters * (3 * shown + 2 * said)  # in the topics, the origin, the key's name, and the word's table
    assert witness.bytes < most <= 200 * rounds
    figure(
        f"a shoe of {rounds} rounds, {shown} checkpoints shown and {said} words of the pit, with their topics:"
        f" {witness.bytes / rounds:.0f} bytes a round; {most / rounds:.0f} at most at the longest id and in a journal"
        " of 2**24 rows"
    )


def test_what_a_spoiled_proof_did_not_join_is_shown_once_more(tmp_path: Path) -> None:
    """If the pit refuses a checkpoint because its proof was damaged on the way, the table sends the checkpoint a second
    time. It never sends it a third time.

    Otherwise somebody who damages each proof would make table and pit repeat themselves for ever.
    """

    async def play() -> None:
        async with _witnessed(tmp_path) as (world, witness):
            await world.do_rounds(1)
            await world.do(CloseShoe("Smith"))
            await eventually(lambda: world.journal.last_note("cosigned"))
            witness.answers = False
            await world.open_shoe()
            await world.do_rounds(1)
            await world.do(CloseShoe("Smith"))
            await eventually(lambda: len(witness.shown) == 2)
            for _ in range(3):
                witness.say("forked")
                await _beats(3)
            assert len(witness.shown) == 3
            assert witness.shown[1] == witness.shown[2]

    run(play())


def test_the_word_may_come_before_the_connection_stands(tmp_path: Path) -> None:
    async def play() -> None:
        async with running(tmp_path, connected=False) as world:
            witness = HeldWitness(world)
            witness.say()
            world.broker.connect()
            await world.open_shoe()
            await world.do(CloseShoe("Smith"))
            await eventually(lambda: world.journal.last_note("cosigned"))

    run(play())


def test_a_journal_put_back_from_a_copy_is_told_to_people(tmp_path: Path) -> None:
    """People are told if a journal was replaced by an older copy.

    This holds even if the copy lacks only the last row, and the table wrote another row in its place before it was
    restarted. The pit's acknowledgement fits such a journal.
    """

    async def play() -> Note:
        async with _witnessed(tmp_path) as (world, witness):
            await world.do_rounds(1)
            await world.do(CloseShoe("Smith"))
            await eventually(lambda: world.journal.last_note("cosigned"))
            assert witness.note is not None
            return witness.note

    note = run(play())
    point = note.checkpoint()
    assert point is not None

    async def again(seen: Note, fits: bool) -> tuple[list[dict[str, Any]], int]:
        async with running(tmp_path, connected=False) as world:
            witness = HeldWitness(world)
            witness.note = seen
            world.broker.connect()
            witness.say()
            await _beats(2)
            await eventually(lambda: fits or _told(world))
            rows = world.journal.tree_size
            return [entry.says for entry in world.journal.messages_after(0, 100)], rows

    told, _ = run(again(note, True))
    assert not [each for each in told if each.get("code") == "journal_forked"]
    ahead = Note(Checkpoint(point.origin, point.size + 1000, point.root).text(), ())
    for seen in (ahead, Note(Checkpoint(point.origin, point.size, bytes(32)).text(), ())):
        told, rows = run(again(seen.cosigned("pit", PIT_KEY, PIT_KEY.public, 1), False))
        details = [each["details"] for each in told if each.get("code") == "journal_forked"][-1]
        assert details["size"] == (seen.checkpoint() or point).size
        assert point.size <= details["rows"] <= rows


def _told(world: World) -> bool:
    return any(each.says.get("code") == "journal_forked" for each in world.journal.messages_after(0, 100))
