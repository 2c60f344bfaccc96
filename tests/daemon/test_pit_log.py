"""Checks that `tablectl verify --against` finds every later change of a journal, or of the pit's log of its events."""

from __future__ import annotations

import base64
import json
import os
import secrets
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.contract.keys import SigningKey
from controller.daemon.delivery.pit_log import compare
from controller.daemon.record.journal_reading import verify
from controller.people.cli.main import main
from controller.rules.game.cards import Card
from controller.table.facts import CardDrawn, Fact
from tests.daemon.test_journal import KEY, OTHER_KEY, SHOES, TABLE, entries, opened, shoe

EPOCH = "0123456789"


def write_journal(path: Path, facts: Iterable[Fact], key: SigningKey = KEY) -> list[bytes]:
    """Write an undamaged journal of these facts, always with the same name and salts, and return its messages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_hex", lambda _: EPOCH)
        patch.setattr(os, "urandom", bytes)
        journal = opened(path, key=key)
        try:
            return [message.body for message in journal.append(entries([*facts]))]
        finally:
            journal.close()


FACTS = [entry.fact for entry in SHOES]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[bytes]]:
    path = tmp_path_factory.mktemp("written") / "table.journal"
    return path, write_journal(path, FACTS)


class Case:
    """A journal, and the log of a pit that has recorded all of the journal's events."""

    def __init__(self, written: tuple[Path, list[bytes]], folder: Path) -> None:
        self.journal, self.log = folder / "table.journal", folder / "pit.log"
        shutil.copyfile(written[0], self.journal)
        self.bodies = list(written[1])
        self.write(self.bodies)

    def write(self, lines: Iterable[bytes]) -> None:
        self.log.write_bytes(b"".join(line + b"\n" for line in lines))

    def tamper(self, script: str) -> None:
        with closing(sqlite3.connect(self.journal)) as db:
            db.executescript(script)

    def refused(self) -> TableError:
        with pytest.raises(TableError) as caught:
            compare(self.journal, self.log)
        return caught.value


@pytest.fixture
def case(written: tuple[Path, list[bytes]], tmp_path: Path) -> Case:
    return Case(written, tmp_path)


def changed(body: bytes, key: SigningKey | None = KEY, **fields: Any) -> bytes:
    """Return the event with these fields changed, and signed with `key`. If `key` is None, the old signature stays."""
    event = json.loads(body) | fields
    if key is not None:
        del event["signature"]
        event["signature"] = base64.b64encode(key.sign(canonical(event))).decode()
    return canonical(event)


# They agree.


def test_a_log_that_is_whole_agrees_to_its_end(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    last = len(case.bodies)
    assert compare(case.journal, case.log) == last
    assert main(["verify", str(case.journal), "--against", str(case.log)]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.splitlines()[0].startswith(f"{TABLE}/{EPOCH}: {len(FACTS)} rows, {last} events, all good; head ")
    assert told.out.splitlines()[1:] == [
        f"the pit's log agrees from event 1 to its last, {last}; the journal ends with that event too"
    ]


def test_a_log_that_is_shorter_agrees_and_it_is_said_how_far(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    last = len(case.bodies)
    for length in range(1, last):
        case.write(case.bodies[:length])
        assert compare(case.journal, case.log) == length
    assert main(["verify", str(case.journal), "--against", str(case.log)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        f"the pit's log agrees from event 1 to its last, {last - 1}; the journal has 1 more, up to {last}"
    )


def test_white_space_the_order_of_keys_and_the_ends_of_lines_are_of_no_account(case: Case) -> None:
    events = [json.loads(body) for body in case.bodies]
    turned = [json.dumps(dict(reversed(event.items())), indent=None).encode() + b" \r\n" for event in events]
    case.log.write_bytes(b"\n" + b"\n".join(turned).rstrip())
    assert compare(case.journal, case.log) == len(events)


def test_while_the_table_runs(tmp_path: Path) -> None:
    journal = opened(tmp_path / "j")
    try:
        bodies = [message.body for message in journal.append(SHOES[:9])]
        (tmp_path / "log").write_bytes(b"\n".join(bodies))
        more = threading.Thread(target=lambda: journal.append(SHOES[9:]))
        more.start()
        assert compare(tmp_path / "j", tmp_path / "log") == len(bodies)
        more.join()
        assert compare(tmp_path / "j", tmp_path / "log") == len(bodies)
    finally:
        journal.close()


# The journal was tampered with.


def _forged(case: Case) -> int:
    """Write the whole journal anew, with another last card in the second round. Return the number of the first event
    that differs.

    Anybody who has the table's key could do this.
    """
    facts = list(FACTS)
    last = max(place for place, fact in enumerate(facts[: len(shoe(1, 2))]) if isinstance(fact, CardDrawn))
    facts[last] = CardDrawn(Card.parse("4D"))
    case.journal.unlink()
    forged = write_journal(case.journal, facts)
    return next(seq for seq, (one, other) in enumerate(zip(forged, case.bodies, strict=True), 1) if one != other)


def test_a_journal_written_again_with_the_tables_own_key_is_sound_in_itself_and_found_out(case: Case) -> None:
    seq = _forged(case)
    assert seq > 1
    verify(case.journal)
    told = case.refused()
    assert told.code == "journal_differs_from_log"
    assert f"Event {seq} in the journal" in told.what
    assert "banker" in told.what
    case.write(case.bodies[: seq - 1])
    assert compare(case.journal, case.log) == seq - 1, "before that hand nothing is another"


def test_a_changed_message_is_named_with_its_fields(case: Case) -> None:
    for seq in (1, 3, len(case.bodies)):
        with closing(sqlite3.connect(case.journal)) as db, db:
            body = changed(case.bodies[seq - 1], cards_left=7, at="2026-01-01T00:00:00.000Z")
            db.execute("UPDATE message SET body = ? WHERE seq = ?", (body, seq))
        told = case.refused()
        assert (told.code, f"Event {seq} in" in told.what) == ("journal_differs_from_log", True)
        assert told.what.endswith("they differ in at, cards_left, signature.")
        with closing(sqlite3.connect(case.journal)) as db, db:
            db.execute("UPDATE message SET body = ? WHERE seq = ?", (case.bodies[seq - 1], seq))


def test_true_is_not_one(case: Case) -> None:
    with closing(sqlite3.connect(case.journal)) as db, db:
        body = changed(case.bodies[0], None, contract=True)
        db.execute("UPDATE message SET body = ? WHERE seq = 1", (body,))
    assert case.refused().what.endswith("they differ in contract.")


@pytest.mark.parametrize("garbage", ["x'00'", "x''", "CAST('[]' AS BLOB)", "CAST('{\"a\":1e999}' AS BLOB)"])
def test_a_message_that_is_garbage_is_named(case: Case, garbage: str) -> None:
    case.tamper(f"UPDATE message SET body = {garbage} WHERE seq = 2")
    told = case.refused()
    assert told.code == "journal_differs_from_log"
    assert told.what.endswith("it is no event at all.")


def test_a_message_of_the_same_words_in_other_bytes_is_another(case: Case) -> None:
    case.tamper("UPDATE message SET body = CAST(body || ' ' AS BLOB) WHERE seq = 2")
    assert case.refused().what.endswith("its bytes are not canonical.")


@pytest.mark.parametrize(
    ("gone", "first", "after"), [("seq = 2", 2, 3), ("seq = 1", 1, 2), ("seq BETWEEN 2 AND 4", 2, 5)]
)
def test_a_deleted_event_is_named(case: Case, gone: str, first: int, after: int) -> None:
    case.tamper(f"DELETE FROM message WHERE {gone}")
    told = case.refused()
    assert told.code == "journal_lacks_event"
    assert told.what == (
        f"Event {first}, which the pit has, is missing in the journal {case.journal}, which goes on with event {after}."
    )


@pytest.mark.parametrize("kept", [0, 1, 5])
def test_last_rows_cut_off_with_their_messages_are_missed(case: Case, kept: int) -> None:
    case.tamper(
        f"DELETE FROM fact WHERE row > coalesce((SELECT row FROM message WHERE seq = {kept}), 0);"
        "DELETE FROM message WHERE row NOT IN (SELECT row FROM fact)"
    )
    left = verify(case.journal).messages
    told = case.refused()
    last = len(case.bodies)
    assert told.code == "journal_shorter_than_log"
    assert (
        f"ends with event {left}, and the pit has committed events up to {last}. So the last {last - left} events "
        in told.what
    )


def test_events_numbered_otherwise_are_missed(case: Case) -> None:
    case.tamper("UPDATE message SET seq = seq + 100")
    told = case.refused()
    assert told.code == "journal_lacks_event"
    assert told.what.startswith("Event 1, which the pit has, is missing")


def test_only_what_the_table_signed_counts_as_cut_off(case: Case) -> None:
    last = len(case.bodies)
    case.write([*case.bodies[:-1], changed(case.bodies[-1], OTHER_KEY)])
    case.tamper(f"DELETE FROM message WHERE seq > {last - 3}")
    told = case.refused()
    assert (told.code, f"Line {last} of" in told.what) == ("log_unsound", True)


def test_what_the_log_does_not_know_of_is_still_verified(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """A fact that was changed in the journal is found, even if its events still agree with the pit's log.

    The journal's hash chain covers the fact too.
    """
    case.tamper("UPDATE fact SET at_ms = at_ms + 1 WHERE row = 4")
    compare(case.journal, case.log)
    assert main(["verify", str(case.journal), "--against", str(case.log)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("journal_damaged: ")
    assert "row 4" in told.err


def test_a_journal_made_again_has_another_epoch(case: Case) -> None:
    case.journal.unlink()
    opened(case.journal).close()
    told = case.refused()
    assert told.code == "log_of_another_journal"
    assert f"Line 1 of the log {case.log} is of {TABLE}, epoch {EPOCH}; the journal is {TABLE}'s, epoch " in told.what


def test_a_journal_of_another_key_is_not_held_to_this_log(case: Case) -> None:
    case.journal.unlink()
    write_journal(case.journal, FACTS, OTHER_KEY)
    told = case.refused()
    assert told.code == "log_unsound"
    assert "line 1 " in told.what.lower()
    assert "another key signed it" in told.what


@pytest.mark.parametrize(
    "script",
    [
        "DELETE FROM journal",
        "DROP TABLE message",
        "UPDATE journal SET public_key = x'00'; DELETE FROM message",
        "PRAGMA user_version = 0",
    ],
)
def test_what_is_no_sound_journal_is_told_as_damage(case: Case, script: str) -> None:
    case.tamper(script)
    assert case.refused().code == "journal_damaged"


def test_a_journal_that_is_not_there(case: Case) -> None:
    case.journal.unlink()
    assert case.refused().code == "journal_missing"


# The log will not do.


def _without(seq: int) -> Callable[[list[bytes]], list[bytes]]:
    return lambda bodies: bodies[: seq - 1] + bodies[seq:]


def _then(garbage: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda bodies: [bodies[0], garbage]


UNSOUND: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int, str]] = {
    "a missing event": (_without(3), 3, "event 4 stands where event 3 should"),
    "a missing first event": (_without(1), 1, "event 2 stands where event 1 should"),
    "an event twice": (lambda b: [*b[:2], *b[1:]], 3, "event 2 stands where event 3 should"),
    "two events swapped": (lambda b: [b[1], b[0], *b[2:]], 1, "event 2 stands where event 1 should"),
    "an event numbered true": (lambda b: [changed(b[0], seq=True), *b[1:]], 1, "event True stands where"),
    "a changed event": (
        lambda b: [*b[:2], changed(b[2], None, cards_left=9), *b[3:]],
        3,
        "its signature does not hold",
    ),
    "a changed chain": (lambda b: [*b[:2], changed(b[2], None, chain="0" * 64), *b[3:]], 3, "its signature does not"),
    "an event that another key signed": (
        lambda b: [changed(b[0], OTHER_KEY, cards_left=9)],
        1,
        "its signature does not",
    ),
    "no signature": (lambda b: [canonical({"table": TABLE, "epoch": EPOCH, "seq": 1})], 1, "its signature does not"),
    "a signature that is none": (lambda b: [changed(b[0], None, signature=7)], 1, "its signature does not hold"),
    "a signature in other letters": (lambda b: [changed(b[0], None, signature="é")], 1, "its signature does not hold"),
    "a last line cut off": (lambda b: [*b[:4], b[4][:-20]], 5, "it is not a whole event in JSON"),
    "an invented event past the journal": (
        lambda b: [*b, changed(b[-1], OTHER_KEY, seq=len(b) + 1)],
        0,
        "its signature does not hold",
    ),
    **{
        f"garbage {garbage[:12]!r}": (_then(garbage), 2, "it is not a whole event in JSON")
        for garbage in (
            b"royal9-01 7 hit",
            b"\xff\xfe\x00",
            b"[]",
            b"null",
            b"7",
            b'"\\ud800"',
            b'{"a":"\\ud800"}',
            b'{"a":NaN}',
            b'{"a":' + b"9" * 5000 + b"}",
            b"[" * 100_000,
            b'{"a":' * 100_000,
        )
    },
}


@pytest.mark.parametrize("kind", UNSOUND)
def test_a_log_that_is_unsound_in_itself_is_named_with_the_line(case: Case, kind: str) -> None:
    spoil, number, why = UNSOUND[kind]
    case.write(spoil(case.bodies))
    told = case.refused()
    assert told.code == "log_unsound"
    assert told.what.startswith(f"Line {number or len(case.bodies) + 1} of the log {case.log} cannot be used: {why}")


@pytest.mark.parametrize("fields", [{"table": "royal9-02"}, {"epoch": "feedbeef00"}, {"table": None}, {"epoch": ["a"]}])
def test_an_event_of_another_stream_is_named(case: Case, fields: dict[str, Any]) -> None:
    case.write([*case.bodies[:2], changed(case.bodies[2], **fields)])
    told = case.refused()
    assert told.code == "log_of_another_journal"
    assert told.what.startswith(f"Line 3 of the log {case.log} is of ")


def test_nothing_in_a_log_plays_tricks_on_a_terminal(case: Case) -> None:
    case.write([changed(case.bodies[0], table="\x1b[2J" + "x" * 500)])
    what = case.refused().what
    assert "\x1b" not in what
    assert len(what) < 400


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_log_proves_nothing(case: Case, content: bytes) -> None:
    case.log.write_bytes(content)
    assert case.refused().code == "log_empty"


def test_a_log_that_cannot_be_read(case: Case) -> None:
    case.log.unlink()
    assert case.refused().code == "log_unreadable"
    case.log.mkdir()
    assert case.refused().code == "log_unreadable"


@pytest.mark.parametrize("kind", ["a missing event", "a last line cut off"])
def test_a_person_is_told_what_and_what_to_do(case: Case, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    case.write(UNSOUND[kind][0](case.bodies))
    assert main(["verify", str(case.journal), "--against", str(case.log)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("log_unsound: Line ")
    assert "what to do: " in told.err
