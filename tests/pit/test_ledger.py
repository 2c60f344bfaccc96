"""Checks the pit's ledger with events made by hand. The tests read the ledger's file directly, and not through the
ledger's code."""

from __future__ import annotations

import base64
import json
import shlex
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from fractions import Fraction
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.contract.envelope import Stamp, seal
from controller.contract.events import Alarm, Event
from controller.contract.keys import SigningKey, signature_holds
from controller.pit.reference import ledger_file
from controller.pit.reference.__main__ import parser as pit_parser
from controller.pit.reference.committed import Ack
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import Terms
from controller.pit.reference.opening import Place
from controller.pit.reference.taking import Received
from tests.pit.evening import TableEvening
from tests.pit.postgresql import over_both, rows, write
from tests.pit.test_meters import code_of
from tests.support.errors import raising
from tests.support.ledgers import meet
from tests.support.samples import examples

TABLE, EPOCH = "royal9-01", "ab12cd"
KEY, OTHER_KEY = SigningKey(bytes(32)), SigningKey(bytes([7] * 32))
ZEROS = "0" * 64


def chain(seq: int) -> bytes:
    """Return the chain value (the digest that joins an event to the journal) of event `seq`: 32 bytes that differ for
    each event."""
    return seq.to_bytes(32, "big")


def event(
    seq: int, table: str = TABLE, epoch: str = EPOCH, key: SigningKey | None = KEY, what: str = "Something."
) -> bytes:
    body: Event = Alarm(shoe=None, round=None, code="test", details={"what": what})
    return seal(body, table, epoch, seq, Stamp(1_750_000_000_000, True), chain(seq), key)


def changed(body: bytes, key: SigningKey = KEY, **fields: object) -> bytes:
    """Return the event with the given fields changed, and signed again by `key`. With the table's key, only the table
    itself could do this."""
    message = {name: value for name, value in json.loads(body).items() if name != "signature"} | fields
    signed = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    message["signature"] = base64.b64encode(key.sign(signed)).decode()
    return json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def state(table: str = TABLE, epoch: str = EPOCH, key: SigningKey = KEY) -> bytes:
    return json.dumps({"online": True, "table": table, "epoch": epoch, "public_key": key.public.hex()}).encode()


def ack(seq: int, epoch: str = EPOCH) -> Ack:
    return Ack(epoch, seq, chain(seq).hex() if seq else ZEROS)


def held(at: Place, table: str = TABLE, epoch: str = EPOCH) -> list[tuple[int, bytes]]:
    """Return the number and the body of each event that the ledger holds of this table and epoch, in the order of
    commitment."""
    statement = "SELECT seq, body FROM event WHERE table_id = ? AND epoch = ? ORDER BY number"
    return rows(at, statement, table, epoch)


def codes(received: Received) -> list[str]:
    return [refusal.code for _, refusal in received.refused]


@pytest.fixture
def ledger(at: Place) -> Iterator[Ledger]:
    """A ledger that has adopted the table TABLE."""
    ledger = Ledger(at)
    ledger.adopt(TABLE, EPOCH, KEY.public.hex())
    yield ledger
    ledger.close()


def give(ledger: Ledger, *bodies: bytes, table: str = TABLE) -> Received:
    return ledger.receive([(table, body) for body in bodies])


# The stream.


def test_events_in_order_are_committed_byte_for_byte_and_acknowledged_with_their_chain(
    ledger: Ledger, at: Place
) -> None:
    assert ledger.ack(TABLE) == ack(0)
    for seq in (1, 2, 3):
        received = give(ledger, event(seq))
        assert [(done.table, done.seq, done.type) for done in received.committed] == [(TABLE, seq, "alarm")]
        assert received.acks == {TABLE: ack(seq)}
        assert held(at) == [(n, event(n)) for n in range(1, seq + 1)]


@over_both
def test_a_batch_for_which_there_is_no_time_is_taken_event_by_event(ledger: Ledger, at: Place) -> None:
    waiting = [(TABLE, event(seq)) for seq in (1, 2, 3)]
    for seq in (1, 2, 3):
        received = ledger.receive(waiting, longest_s=0.0)
        assert [done.seq for done in received.committed] == [seq]
        assert received.acks == {TABLE: ack(seq)}
        assert [*received.left] == waiting[1:]
        waiting = [*received.left]
    assert held(at) == [(n, event(n)) for n in (1, 2, 3)]


def test_an_ack_is_what_the_contract_says(ledger: Ledger) -> None:
    schema = json.loads(files("controller.contract").joinpath("schemas/ack.schema.json").read_text("utf-8"))
    at, pit = "2026-01-01T00:00:00.000Z", SigningKey(bytes(range(32)))
    nothing = json.loads(ledger.acks()[TABLE].payload(TABLE, at, pit))
    one = json.loads(give(ledger, event(1)).acks[TABLE].payload(TABLE, at, pit))
    for value, seq, of_seq in ((nothing, 0, ZEROS), (one, 1, chain(1).hex())):
        jsonschema.validate(value, schema)
        assert signature_holds(value, pit.public)
        signature = value.pop("signature")
        assert value == {"table": TABLE, "epoch": EPOCH, "seq": seq, "chain": of_seq, "at": at}
        assert not signature_holds(value | {"table": "royal9-02", "signature": signature}, pit.public)


def test_a_batch_is_acknowledged_once_a_table(ledger: Ledger, at: Place) -> None:
    ledger.adopt("royal9-02", "ffff", OTHER_KEY.public.hex())
    second = [event(seq, "royal9-02", "ffff", OTHER_KEY) for seq in (1, 2)]
    received = ledger.receive(
        [(TABLE, event(1)), ("royal9-02", second[0]), (TABLE, event(2)), ("royal9-02", second[1])]
    )
    assert received.acks == {TABLE: ack(2), "royal9-02": ack(2, "ffff")}
    assert held(at, "royal9-02", "ffff") == list(enumerate(second, 1))


def test_after_a_gap_nothing_is_committed_and_the_last_ack_is_repeated(ledger: Ledger, at: Place) -> None:
    give(ledger, event(1))
    received = give(ledger, event(3), event(4))
    assert received == Received((), {TABLE: ack(1)}, ())
    assert held(at) == [(1, event(1))]


def test_a_duplicate_is_dropped_and_the_ack_repeated(ledger: Ledger, at: Place) -> None:
    give(ledger, event(1), event(2))
    assert give(ledger, event(1), event(2)) == Received((), {TABLE: ack(2)}, ())
    assert held(at) == [(1, event(1)), (2, event(2))]


def test_what_commits_nothing_costs_no_signature_and_a_forger_is_still_found(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[object] = []

    def counted(message: Mapping[str, object], key: bytes) -> bool:
        verified.append(message["seq"])
        return signature_holds(message, key)

    monkeypatch.setattr("controller.pit.reference.taking.signature_holds", counted)
    give(ledger, event(1), event(2))
    assert verified == [1, 2]
    give(ledger, event(1), event(2), *map(event, range(4, 50)), event(2))
    assert verified == [1, 2, 4], "of those after the gap the first alone"
    for forged in (event(3, key=OTHER_KEY), event(2, key=OTHER_KEY, what="Forged."), event(9, key=OTHER_KEY)):
        assert codes(give(ledger, forged, event(4), forged)).count("signature_invalid") >= 1
    assert codes(give(ledger, event(1, what="Something else."), event(3))) == ["body_differs"]
    assert ledger.ack(TABLE) == ack(3)


@over_both
def test_another_body_under_a_committed_id_is_an_alarm_and_changes_nothing(ledger: Ledger, at: Place) -> None:
    give(ledger, event(1), event(2))
    received = give(ledger, event(1, what="Something else."))
    assert codes(received) == ["body_differs"]
    assert f"{TABLE}/{EPOCH}/1" in received.refused[0][1].what
    assert received.acks == {TABLE: ack(2)}
    assert held(at) == [(1, event(1)), (2, event(2))]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (event(2, key=None), "signature_invalid"),
        (event(2, key=OTHER_KEY), "signature_invalid"),
        (event(2).replace(b"Something.", b"Some thing"), "signature_invalid"),
        (event(2).replace(b'"signature":"', b'"signature":"!'), "signature_invalid"),
        (event(1, key=OTHER_KEY, what="Forged."), "signature_invalid"),
        (event(2, table="royal9-02"), "event_of_another_table"),
        (event(2, epoch="beef"), "event_of_another_epoch"),
        (changed(event(2), id=f"{TABLE}/{EPOCH}/3"), "event_id_differs"),
        (changed(event(3), seq=2), "event_id_differs"),
        (changed(event(2), contract=5), "contract_unknown"),
        (changed(event(2), seq=0, id=f"{TABLE}/{EPOCH}/0"), "event_malformed"),
        (changed(event(2), seq=2.0, id=f"{TABLE}/{EPOCH}/2.0"), "event_malformed"),
        (changed(event(2), seq=True, id=f"{TABLE}/{EPOCH}/True"), "event_malformed"),
        (changed(event(2), chain="short"), "event_malformed"),
        (changed(event(2), type="\x1b[2J"), "event_malformed"),
        (changed(event(2), epoch="; rm -r", id=f"{TABLE}/; rm -r/2"), "event_malformed"),
        (event(2) + b" ", "event_malformed"),
        (event(2).replace(b"{", b'{"at":"doubled",', 1), "event_malformed"),
        (event(2).decode().encode("utf-16"), "event_malformed"),
        (b"", "event_malformed"),
        (b"null", "event_malformed"),
        (b"[1,2]", "event_malformed"),
        (b"{}", "event_malformed"),
        (b"\xff\x00\xfe", "event_malformed"),
        (b'{"seq":' + b"9" * 5000 + b"}", "event_malformed"),
        (b"[" * 100_000, "event_malformed"),
        (b'{"a":' * 100_000, "event_malformed"),
        (b'{"x":"\\ud800"}', "event_malformed"),
        (b'{"x":NaN}', "event_malformed"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value[:20]),
)
def test_what_is_no_sound_event_is_refused_and_the_good_ones_beside_it_are_committed(
    ledger: Ledger, at: Place, body: bytes, code: str
) -> None:
    give(ledger, event(1))
    received = give(ledger, body, event(2))
    assert codes(received) == [code]
    assert received.acks == {TABLE: ack(2)}
    assert held(at) == [(1, event(1)), (2, event(2))]
    text = str(received.refused[0][1])
    assert all(character.isprintable() or character == "\n" for character in text), text


def test_a_seq_beyond_what_the_file_could_hold_is_a_gap(ledger: Ledger, at: Place) -> None:
    assert give(ledger, event(10**30)) == Received((), {TABLE: ack(0)}, ())
    assert held(at) == []


def test_a_batch_the_disk_would_not_take_is_not_acknowledged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_file, "_BUSY_S", 0.0)
    ledger = Ledger(path)
    ledger.adopt(TABLE, EPOCH, KEY.public.hex())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert code_of(lambda: give(ledger, event(1))) == "ledger_locked"
    other.execute("ROLLBACK")
    other.close()
    assert held(path) == []
    assert give(ledger, event(1)).acks == {TABLE: ack(1)}
    ledger.close()


def test_a_ledger_opened_again_goes_on_where_it_was(ledger: Ledger, at: Place) -> None:
    give(ledger, event(1), event(2))
    ledger.close()
    again = Ledger(at)
    assert again.acks() == {TABLE: ack(2)}
    assert give(again, event(1), event(2), event(3)).acks == {TABLE: ack(3)}
    assert held(at) == [(n, event(n)) for n in (1, 2, 3)]
    again.close()


@examples(13)
@given(st.data())
def test_however_a_stream_is_shuffled_and_doubled_it_is_committed_once_in_order(data: Any) -> None:
    """The ledger commits each event of a table once and in order, although the network loses, doubles and reorders
    events, the pit restarts, and the table sends unacknowledged events again."""
    last = data.draw(st.integers(1, 8), label="events")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        ledger = Ledger(path)
        ledger.adopt(TABLE, EPOCH, KEY.public.hex())
        acked = 0
        while acked < last:
            wild = data.draw(st.lists(st.integers(1, last), max_size=12), label="comes")
            heard = [seq for seq in [*wild, acked + 1] if data.draw(st.booleans(), label="heard") or seq == acked + 1]
            word = give(ledger, *map(event, heard)).acks[TABLE]
            assert acked < word.seq <= last, "the next one came, so the ack must have grown"
            assert held(path) == [(n, event(n)) for n in range(1, word.seq + 1)]
            acked = word.seq
            if data.draw(st.booleans(), label="restart"):
                ledger.close()
                ledger = Ledger(path)
        assert ledger.acks() == {TABLE: ack(last)}
        ledger.close()


# Epochs.


def test_a_new_table_is_told_to_a_person_with_the_command_that_adopts_it(
    at: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger(at)
    with raising("epoch_to_adopt") as told:
        meet(ledger, TABLE, state(), adopt_new=False)
    assert codes(give(ledger, event(1))) == ["event_of_another_epoch"]
    assert ledger.acks() == {}

    program, *command = shlex.split(told.value.do.partition("adopt it: ")[2])
    assert Path(program) == Path(sys.executable).with_name("pitctl")
    adopt = pit_parser().parse_args(command)
    ledger.adopt(adopt.table, adopt.epoch, adopt.key, "Ann", "Bob")
    assert meet(ledger, TABLE, state(), adopt_new=False) is False, "the running pit has noticed"
    assert give(ledger, event(1)).acks == {TABLE: ack(1)}
    ledger.close()


def test_the_first_epoch_of_an_unknown_table_may_be_adopted_unasked_a_second_never(at: Place) -> None:
    ledger = Ledger(at)
    assert meet(ledger, TABLE, state(), adopt_new=True)
    assert not meet(ledger, TABLE, state(), adopt_new=True)
    give(ledger, event(1))
    assert code_of(lambda: meet(ledger, TABLE, state(epoch="beef"), adopt_new=True)) == "epoch_to_adopt"
    assert code_of(lambda: meet(ledger, TABLE, state(key=OTHER_KEY), adopt_new=True)) == "epoch_of_another_key"
    received = give(ledger, event(1, epoch="beef"))
    assert codes(received) == ["event_of_another_epoch"]
    assert received.acks == {TABLE: ack(1)}
    ledger.close()


def test_an_adopted_second_epoch_begins_at_zero_and_ends_the_first(ledger: Ledger, at: Place) -> None:
    give(ledger, event(1), event(2))
    ledger.adopt(TABLE, "beef", OTHER_KEY.public.hex())
    assert ledger.acks() == {TABLE: ack(0, "beef")}
    assert codes(give(ledger, event(3))) == ["event_of_another_epoch"]
    assert give(ledger, event(1, epoch="beef", key=OTHER_KEY)).acks == {TABLE: ack(1, "beef")}
    assert held(at) == [(1, event(1)), (2, event(2))]

    ledger.adopt(TABLE, EPOCH, KEY.public.hex())  # the person was wrong, and goes back
    assert give(ledger, event(3)).acks == {TABLE: ack(3)}


def test_an_epoch_keeps_its_key(ledger: Ledger) -> None:
    assert code_of(lambda: ledger.adopt(TABLE, EPOCH, OTHER_KEY.public.hex())) == "epoch_of_another_key"
    assert give(ledger, event(1)).acks == {TABLE: ack(1)}


@pytest.mark.parametrize("words", [("Royal 9", EPOCH, ZEROS), (TABLE, "", ZEROS), (TABLE, EPOCH, "00")])
def test_words_that_cannot_be_adopted_are_refused(ledger: Ledger, words: tuple[str, str, str]) -> None:
    assert code_of(lambda: ledger.adopt(*words)) == "adoption_malformed"


def test_a_table_that_says_goodbye_is_nothing_to_judge(at: Place) -> None:
    ledger = Ledger(at)
    goodbye = json.dumps({"online": False, "table": TABLE, "epoch": EPOCH, "boot": 1, "contract": 1}).encode()
    assert not meet(ledger, TABLE, goodbye, adopt_new=True)
    assert ledger.acks() == {}
    ledger.close()


@pytest.mark.parametrize(
    ("table", "payload"),
    [
        (TABLE, b""),
        (TABLE, b"["),
        (TABLE, b"3"),
        (TABLE, state(table="royal9-02")),
        (TABLE, state(epoch="$(reboot)")),
        ("Royal 9", state(table="Royal 9")),
        (TABLE, state().replace(KEY.public.hex().encode(), b"00")),
    ],
)
def test_a_state_that_is_none_is_refused_and_adopts_nothing(at: Place, table: str, payload: bytes) -> None:
    ledger = Ledger(at)
    assert code_of(lambda: meet(ledger, table, payload, adopt_new=True)) == "state_malformed"
    assert ledger.acks() == {}
    ledger.close()


@over_both
def test_an_event_that_cannot_be_booked_is_one_tables_trouble(ledger: Ledger, at: Place) -> None:
    """If the pit fails to book an event, the ledger keeps nothing of the event, and still commits the events of other
    tables. Booking fails if the ledger's file holds nonsense, or if the program has a defect."""
    ledger.set_terms({"big": Terms(1_000, Fraction(1, 3), Fraction(0), 1_000)})
    ledger.adopt("other", EPOCH, KEY.public.hex())
    write(at, "UPDATE fund SET remainder = 'nonsense' WHERE account = 'meter:big'")
    table, other = TableEvening(TABLE, ["big"]), TableEvening("other")
    bodies = [(TABLE, table.lock(1)), ("other", other.say("shoe_closed")), (TABLE, table.finish())]
    received = ledger.receive(bodies)
    assert codes(received) == ["event_not_booked"]
    assert [(event.table, event.seq) for event in received.committed] == [("other", 1)]
    assert (received.acks[TABLE].seq, held(at)) == (0, [])
    assert ledger._db.execute("SELECT count(*) FROM hand").fetchone() == (0,), "it was undone whole"


@over_both
def test_what_is_undone_of_one_table_is_not_left_in_the_books_of_another(ledger: Ledger, at: Place) -> None:
    ledger.set_terms({name: Terms(1_000, Fraction(1, 2), Fraction(0), 1_000) for name in ("big", "small")})
    ledger.adopt("other", EPOCH, KEY.public.hex())
    write(at, "UPDATE fund SET remainder = 'nonsense' WHERE account = 'meter:big'")
    table, other = TableEvening(TABLE, ["small", "big"]), TableEvening("other", ["small"])
    nonsense = table.lock(1)
    received = ledger.receive([("other", other.lock(1)), (TABLE, nonsense), ("other", other.finish())])
    assert (len(received.committed), codes(received)) == (2, ["event_not_booked"])
    assert ledger.levels() == {"big": 1_000, "small": 1_250}
    write(at, "UPDATE fund SET remainder = '0' WHERE account = 'meter:big'")
    assert len(ledger.receive([(TABLE, nonsense), ("other", other.lock(2))]).committed) == 2
    assert ledger.levels() == {"big": 1_250, "small": 1_750}
    assert ledger.account().findings == ()


# The file.


def test_only_one_pit_runs_on_a_ledger(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    with closing(Ledger(path)) as first, closing(Ledger(link)) as second:
        first.serve()
        assert code_of(second.serve) == "ledger_locked"
    with closing(Ledger(path)) as again:
        again.serve()


def test_a_ledger_of_two_names_is_refused(path: Path) -> None:
    """The ledger refuses a file that has two names (hard links). Each name would have its own lock file and its own
    write-ahead log, so two pits could run on one ledger."""
    Ledger(path).close()
    other = path.with_name("other.sqlite")
    other.hardlink_to(path)
    for name in (path, other):
        assert code_of(partial(Ledger, name)) == "ledger_linked"
    other.unlink()
    Ledger(path).close()


def test_a_file_that_is_no_database_is_damaged(path: Path) -> None:
    path.write_bytes(b"not a database at all, but long enough to be taken for one" * 100)
    assert code_of(lambda: Ledger(path)) == "ledger_damaged"


def test_a_damaged_page_is_told_when_it_is_met(path: Path) -> None:
    ledger = Ledger(path)
    ledger.adopt(TABLE, EPOCH, KEY.public.hex())
    give(ledger, event(1))
    pages = ledger._db.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ('adoption', 'event')").fetchall()
    ledger.close()
    size = 4096
    raw = bytearray(path.read_bytes())
    for (page,) in pages:  # the schema is whole, so that it opens
        raw[(page - 1) * size : page * size] = b"\xa5" * size
    path.write_bytes(raw)
    ledger = Ledger(path)
    assert code_of(ledger.acks) == "ledger_damaged"
    assert code_of(lambda: give(ledger, event(2))) == "ledger_damaged"
    ledger.close()


def test_a_committed_event_that_cannot_be_read_again_is_damage(ledger: Ledger, at: Place) -> None:
    give(ledger, event(1))
    write(at, "UPDATE event SET body = substr(body, 2)")
    assert code_of(lambda: ledger.ack(TABLE)) == "ledger_damaged"


def test_another_database_is_left_alone(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE fact (row INTEGER PRIMARY KEY)")
    db.close()
    before = path.read_bytes()
    assert code_of(lambda: Ledger(path)) == "ledger_of_another_program"
    assert path.read_bytes() == before


def test_a_ledger_of_a_later_program_is_left_alone(path: Path) -> None:
    Ledger(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    assert code_of(lambda: Ledger(path)) == "ledger_too_new"


@pytest.mark.parametrize("form", [1, 2])
def test_a_ledger_of_an_older_program_is_left_alone(path: Path, form: int) -> None:
    Ledger(path).close()
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {form}")
    db.close()
    assert code_of(lambda: Ledger(path)) == "ledger_too_old"


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    assert code_of(lambda: Ledger(tmp_path)) == "ledger_unusable"


def test_a_commit_is_on_the_disk_before_its_ack(path: Path) -> None:
    ledger = Ledger(path)
    assert ledger._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert ledger._db.execute("PRAGMA synchronous").fetchone() == (2,), "FULL"
