"""A sample journal that holds everything that can happen in a shoe, and functions that damage such a file in random
ways."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from controller.contract.envelope import GENESIS, Stamp, chain_head
from controller.daemon.config import Config
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_rows import Entry
from controller.rules.game.cards import Card
from controller.table.acts.entry import Ambient, Request
from controller.table.acts.rounds import LockWagers, RoundVoided
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault
from controller.table.facts import CardDrawn, CommitFailed, Fact
from controller.table.requests import decide
from controller.table.states import Table
from controller.table.step import step
from tests.daemon.daemon_world import KEY

_ROUNDS = ("KS 2D 9S 3D", "9S 7H KD TC", "4S 4H KD TC 2C 3C")


def write_journal(path: Path, config: Config, rounds: int) -> None:
    """Write the journal of a shoe with `rounds` rounds, a fault and a void. Close the journal, so that its file holds
    all rows."""
    journal = Journal(path, config.file.table.id, KEY, KEY.public)
    table, at_ms = Table(config.rules), 1_750_000_000_000

    def believe(fact: Fact) -> None:
        nonlocal table, at_ms
        at_ms += 1_000
        table, events = step(table, fact)
        journal.append([Entry(Stamp(at_ms, synchronised=True), fact, tuple(events))])

    def ask(request: Request) -> None:
        ambient = Ambient(frozenset({1}), True, config.rules, config.digest, "1")
        believe(decide(table, request, ambient))  # type: ignore[arg-type]  # nothing here is refused

    def deal(cards: str) -> None:
        for card in cards.split():
            believe(CardDrawn(Card.parse(card)))

    ask(NewShoe("Smith"))
    deal("AS 2D")
    for number in range(rounds):
        ask(LockWagers())
        deal(_ROUNDS[number % len(_ROUNDS)])
    believe(CommitFailed("disk full"))
    ask(ClearFault("Smith"))
    ask(LockWagers())
    deal("5D")
    believe(RoundVoided("Smith"))
    journal.mark_acked(2)
    journal.close()


def damaged(luck: random.Random, whole: bytes, other: bytes) -> bytes:
    """Return the bytes of the journal file `whole` after damage of a random kind. Some kinds of damage put pages of the
    file `other` into it."""
    return luck.choice(_MISHAPS)(luck, whole, other)


def _flipped_bits(luck: random.Random, whole: bytes, _other: bytes) -> bytes:
    data = bytearray(whole)
    for _ in range(luck.choice((1, 1, 1, 2, 10, 200))):
        data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
    return bytes(data)


def _in_the_header_or_a_page_head(luck: random.Random, whole: bytes, _other: bytes) -> bytes:
    """Damage the header of an SQLite file or the head of one of its pages, by which SQLite finds everything else."""
    data = bytearray(whole)
    page = 4096 * luck.randrange(len(data) // 4096)
    for _ in range(luck.choice((1, 1, 2, 4))):
        data[page + luck.randrange(140)] = luck.choice((0, 1, 2, 5, 10, 13, 127, 128, 255, luck.randrange(256)))
    return bytes(data)


def _truncated(luck: random.Random, whole: bytes, _other: bytes) -> bytes:
    return whole[: luck.choice((luck.randrange(len(whole)), 4096 * luck.randrange(len(whole) // 4096), 100, 1))]


def _random_sectors(luck: random.Random, whole: bytes, _other: bytes) -> bytes:
    data = bytearray(whole)
    for _ in range(luck.choice((1, 2, 8))):
        start = 512 * luck.randrange(len(data) // 512)
        data[start : start + 512] = luck.choice((bytes(512), b"\xff" * 512, luck.randbytes(512)))
    return bytes(data)


def _pages_swapped(luck: random.Random, whole: bytes, other: bytes) -> bytes:
    """Overwrite one page of an SQLite file with another page, taken from the same journal or from another one."""
    data = bytearray(whole)
    giver = luck.choice((whole, other))
    to, come_from = luck.randrange(len(whole) // 4096), luck.randrange(len(giver) // 4096)
    data[4096 * to : 4096 * to + 4096] = giver[4096 * come_from : 4096 * come_from + 4096]
    return bytes(data)


def _grown(luck: random.Random, whole: bytes, other: bytes) -> bytes:
    return whole + luck.choice((luck.randbytes(5000), bytes(4096), other))


def _no_journal(luck: random.Random, _whole: bytes, _other: bytes) -> bytes:
    return luck.choice((b"", b"\n", luck.randbytes(9000), b"SQLite format 3\0" + luck.randbytes(8000), b"{}" * 4000))


_MISHAPS: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    _flipped_bits,
    _flipped_bits,
    _in_the_header_or_a_page_head,
    _in_the_header_or_a_page_head,
    _truncated,
    _random_sectors,
    _pages_swapped,
    _grown,
    _no_journal,
)


def rechained(path: Path, change: Callable[[int, str, bytes], tuple[str, bytes]]) -> None:
    """Forge a journal's file. Replace the kind and the fact of each row by what `change(row, kind, fact)` returns, and
    compute the hash chain again, so that it fits.

    The hashes do not show such a forgery. Only the events' signatures show it, because each signature covers the chain
    before its event.
    """
    with closing(sqlite3.connect(path)) as db:
        head = GENESIS
        for row, at_ms, synchronised, kind, fact, salt in db.execute(
            "SELECT row, at_ms, clock_synchronised, kind, fact, salt FROM fact ORDER BY row"
        ).fetchall():
            messages = [body for (body,) in db.execute("SELECT body FROM message WHERE row = ? ORDER BY seq", (row,))]
            now_kind, now_fact = change(row, kind, fact)
            head = chain_head(head, f"{at_ms} {synchronised} ".encode() + now_fact, messages, salt)
            db.execute("UPDATE fact SET kind = ?, fact = ?, head = ? WHERE row = ?", (now_kind, now_fact, head, row))
        db.commit()
