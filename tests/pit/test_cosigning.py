"""Checks that a pit adds its signature to a checkpoint of a table's journal only if a proof shows that the journal
grew, and was not rewritten."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from controller.basics.errors import TableError
from controller.contract.canonical import canonical
from controller.contract.keys import SigningKey
from controller.contract.merkle import is_consistent
from controller.contract.note import Checkpoint, read_note
from controller.contract.witnessing import ShownCheckpoint
from controller.pit.reference.__main__ import main
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import read_alarms, read_forks
from controller.pit.reference.witness import Cosigned
from tests.pit.evening import KEY as TABLES_KEY
from tests.pit.evening import TableEvening
from tests.pit.house import KEY as HOUSE_KEY
from tests.pit.house import House
from tests.pit.test_meters import opened
from tests.support.brokers import needs_mosquitto
from tests.support.ledgers import meet
from tests.support.trees import Log

TABLE, EPOCH, NEXT_EPOCH = "royal9-01", "ab12cd", "ef34ab"
KEY, PIT, OTHER = (SigningKey(bytes([number] * 32)) for number in (1, 2, 3))
NOW_S = 1_764_111_600
LOG = Log(f"{TABLE}/{EPOCH}", KEY, 40)
FORK = Log(f"{TABLE}/{EPOCH}", KEY, 40, b"another")
"""The same table's log with another history from its fifth row on."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pit.ledger"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with closing(_opened(path)) as ledger:
        ledger.adopt(TABLE, EPOCH, KEY.public.hex())
        yield ledger


def _opened(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger.serve()
    return ledger


def shows(ledger: Ledger, payload: bytes, key: SigningKey = PIT) -> tuple[Cosigned | None, list[str]]:
    """Give the pit a checkpoint (a signed digest) of a table's journal. Return the pit's answer, and the codes of the
    alarms for people."""
    answers, alarms = ledger.witness.judge_all([(TABLE, payload)], (), key, NOW_S)
    ledger.keep(alarms)
    return answers.get(TABLE), [alarm.code for _, alarm in alarms]


def said(ledger: Ledger, key: SigningKey = PIT) -> Cosigned:
    return ledger.witness.judge_all([], [TABLE], key, NOW_S)[0][TABLE]


def cosigned_by(payload: bytes, answer: Cosigned | None, key: SigningKey) -> bool:
    """Tell whether the pit's answer is a valid second signature under this checkpoint. The signature line of the answer
    is appended to the table's signed note, and the note is read by the C2SP rules."""
    assert answer is not None
    note = read_note(f"{json.loads(payload)['note']}\u2014 pit {answer.cosignature}\n")
    return note is not None and note.cosigned_at_s("pit", key.public) == NOW_S


def test_it_says_from_the_beginning_that_it_cosigns(ledger: Ledger) -> None:
    assert said(ledger) == Cosigned(EPOCH, 0, "")
    assert ledger.witness.judge_all([], ["unheard"], PIT, NOW_S) == ({}, [])


def test_a_journal_that_only_grows_is_cosigned_step_by_step(ledger: Ledger) -> None:
    old = 0
    for size in (3, 4, 17, 40):
        answer, told = shows(ledger, LOG.shown(size, old))
        assert not told
        assert answer == said(ledger)
        assert answer is not None
        assert (answer.size, answer.refused) == (size, None)
        assert cosigned_by(LOG.shown(size), answer, PIT)
        assert shows(ledger, LOG.shown(size)) == (answer, []), "shown once more, whatever the proof"
        old = size


@pytest.mark.parametrize("old", [0, 3, 39])
def test_without_a_proof_from_the_last_it_cosigns_nothing(ledger: Ledger, old: int) -> None:
    last, _ = shows(ledger, LOG.shown(17))
    answer, told = shows(ledger, LOG.shown(40, old))
    assert answer is not None
    assert (answer.size, answer.refused, told) == (17, "not_from_last", [])
    assert said(ledger) == last


def test_a_first_checkpoint_needs_no_proof_and_takes_none(ledger: Ledger) -> None:
    answer, _ = shows(ledger, LOG.shown(17, 4))
    assert answer == Cosigned(EPOCH, 0, "", "not_from_last")


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(FORK.shown(17), id="of the same size with another root"),
        pytest.param(FORK.shown(40, 17), id="of more rows with its own proof"),
        pytest.param(canonical(json.loads(LOG.shown(40, 17)) | {"proof": []}), id="of more rows without its proof"),
        pytest.param(
            canonical(json.loads(FORK.shown(40, 17)) | {"proof": json.loads(LOG.shown(40, 17))["proof"]}),
            id="of more rows with the other's proof",
        ),
    ],
)
def test_of_two_histories_one_is_cosigned_and_both_notes_are_kept(ledger: Ledger, path: Path, second: bytes) -> None:
    first, _ = shows(ledger, LOG.shown(17))
    for _ in range(2):
        answer, told = shows(ledger, second)
        assert answer is not None
        assert (answer.size, answer.refused, told) == (17, "forked", ["checkpoint_forked"])
    assert said(ledger) == first, "the first history goes on"
    grown, told = shows(ledger, LOG.shown(20, 17))
    assert grown is not None
    assert (grown.size, told) == (20, [])
    (alarm,) = read_alarms(path, TABLE)
    assert alarm.code == "checkpoint_forked"
    (fork,) = read_forks(path)
    notes = [read_note(text) for text in (fork.cosigned, fork.shown)]
    points = [None if note is None else note.checkpoint() for note in notes]
    assert all(note is not None and note.signed_by(f"{TABLE}/{EPOCH}", KEY.public) for note in notes)
    assert points[0] is not None
    assert points[0].size == 17
    assert str(notes[1]) == json.loads(second)["note"]


@pytest.mark.parametrize(
    ("second", "then", "told"),
    [
        pytest.param(FORK.shown(17), None, "They prove two histories by themselves", id="of one size"),
        pytest.param(FORK.shown(40, 17), None, "By themselves they prove nothing", id="of two sizes"),
        pytest.param(
            canonical(json.loads(LOG.shown(40, 17)) | {"proof": []}),
            LOG.shown(40, 17),
            "They show no second history",
            id="a true note with a spoiled proof, and then with its own",
        ),
        pytest.param(
            FORK.shown(40, 17),
            LOG.shown(40, 17),
            "They prove two histories by themselves",
            id="of two sizes, and then another of the second's size was cosigned",
        ),
    ],
)
def test_people_are_told_what_two_notes_prove(
    ledger: Ledger, path: Path, second: bytes, then: bytes | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command `pitctl forks` says whether two contradicting notes (signed checkpoints of one journal) prove that
    the table lied. Otherwise somebody could spoil a proof on its way to the pit, and accuse an honest table with notes
    that prove nothing."""
    shows(ledger, LOG.shown(17))
    shows(ledger, second)
    assert then is None or shows(ledger, then)[1] == []
    assert main(["forks", "--ledger", str(path)]) == 0
    printed = capsys.readouterr().out
    said = ("They prove two histories", "By themselves they prove nothing", "They show no second history")
    assert [each for each in said if each in printed] == [each for each in said if told.startswith(each)]
    (fork,) = read_forks(path)
    points = [ShownCheckpoint(text, 0, ()).read_note() for text in (fork.cosigned, fork.shown)]
    assert fork.cosigned in printed
    sizes = {read[1].size for read in points if read is not None}
    assert (len(sizes) == 1) == ("two histories" in told), "what proves them is printed"


@pytest.mark.parametrize("joined", [False, True])
def test_spoiled_proofs_leave_room_for_two_histories(ledger: Ledger, path: Path, joined: bool) -> None:
    """The pit still records a real second history of a journal after it has recorded twenty pairs of notes that prove
    nothing. Otherwise somebody could fill the limited list with such pairs, and only then show the second history."""
    last = 5
    shows(ledger, LOG.shown(last))
    for size in range(6, 30):
        shows(ledger, spoiled(size, last))
        if joined:
            shows(ledger, LOG.shown(size, last))
            last = size
    assert ledger.witness.forked(TABLE, EPOCH) is not joined
    shows(ledger, FORK.shown(40, last) if joined else FORK.shown(last))
    told = [str(fork) for fork in read_forks(path)]
    assert len(told) == (25 if joined else 21)
    assert ("By themselves they prove nothing" if joined else "They prove two histories") in told[-1]
    assert ledger.witness.forked(TABLE, EPOCH)


def spoiled(size: int, old: int) -> bytes:
    """Return a checkpoint of an honest table from which somebody removed the proof on its way to the pit. `size` is the
    number of journal rows that the checkpoint names. The removed proof showed that these rows extend the first `old`
    rows."""
    return canonical(json.loads(LOG.shown(size, old)) | {"proof": []})


def test_people_look_first_where_a_proof_may_have_been_spoiled(ledger: Ledger) -> None:
    shows(ledger, LOG.shown(17))
    for second, first in ((spoiled(40, 17), "Look"), (FORK.shown(17), "Stop the table")):
        ((_, alarm),) = ledger.witness.judge_all([(TABLE, second)], (), PIT, NOW_S)[1]
        assert alarm.do.startswith(first)


def test_a_smaller_journal_is_told_and_the_last_word_stands(ledger: Ledger) -> None:
    shows(ledger, LOG.shown(17))
    for log in (LOG, FORK):
        answer, told = shows(ledger, log.shown(9))
        assert answer is not None
        assert (answer.size, answer.refused, told) == (17, "smaller", ["checkpoint_smaller"])
        assert cosigned_by(LOG.shown(17), answer, PIT)


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"\xff", "checkpoint_malformed"),
        (b"{}", "checkpoint_malformed"),
        (canonical(json.loads(LOG.shown(17)) | {"note": "royal9-01/ab12cd\n17\n"}), "checkpoint_malformed"),
        (Log(f"{TABLE}/{EPOCH}", OTHER, 20).shown(17), "checkpoint_forged"),
        (Log(f"{TABLE}/{NEXT_EPOCH}", KEY, 20).shown(17), "checkpoint_of_another_epoch"),
        (Log(f"other/{EPOCH}", KEY, 20).shown(17), "checkpoint_of_another_epoch"),
    ],
)
def test_what_is_not_the_tables_is_told_and_not_answered(ledger: Ledger, payload: bytes, code: str) -> None:
    assert shows(ledger, payload) == (None, [code])
    assert said(ledger) == Cosigned(EPOCH, 0, "")


def test_no_other_line_of_a_note_is_kept_beside_the_tables_own(ledger: Ledger) -> None:
    """The pit keeps only the table's own signature line of a note (a signed checkpoint). A table could add a line that
    names the pit as its signer. Nobody could tell such a line from the pit's own signature, so the pit drops it."""
    shown = ShownCheckpoint.read(json.loads(LOG.shown(17)))
    assert shown is not None
    note = read_note(shown.note)
    assert note is not None
    double = ShownCheckpoint.of(note.cosigned("pit", OTHER, OTHER.public, NOW_S), 0, ())
    answer, _ = shows(ledger, double.payload())
    assert cosigned_by(LOG.shown(17), answer, PIT)


def test_what_was_cosigned_outlives_a_restart_and_a_new_key_of_the_pit(ledger: Ledger, path: Path) -> None:
    before, _ = shows(ledger, LOG.shown(17))
    ledger.close()
    with closing(_opened(path)) as again:
        assert said(again) == before
        now = said(again, OTHER)
        assert now.size == 17
        assert cosigned_by(LOG.shown(17), now, OTHER)
        assert shows(again, FORK.shown(40, 17), OTHER)[1] == ["checkpoint_forked"]


def test_a_new_journal_begins_anew_and_the_old_one_stays_as_it_was(ledger: Ledger) -> None:
    old, _ = shows(ledger, LOG.shown(17))
    ledger.adopt(TABLE, NEXT_EPOCH, OTHER.public.hex())
    assert said(ledger) == Cosigned(NEXT_EPOCH, 0, "")
    answer, _ = shows(ledger, Log(f"{TABLE}/{NEXT_EPOCH}", OTHER, 9).shown(9))
    assert answer is not None
    assert answer.size == 9
    assert shows(ledger, LOG.shown(40, 17)) == (None, ["checkpoint_of_another_epoch"])
    ledger.adopt(TABLE, EPOCH, KEY.public.hex())
    assert said(ledger) == old
    assert shows(ledger, FORK.shown(40, 17))[1] == ["checkpoint_forked"]


def test_what_came_under_an_adoption_that_was_wrong_counts_no_more(ledger: Ledger, path: Path) -> None:
    shows(ledger, FORK.shown(17))
    shows(ledger, LOG.shown(17))
    ledger.unadopt(TABLE, EPOCH, "Ann Lee", "a thief's key")
    ledger.adopt(TABLE, EPOCH, KEY.public.hex())
    assert said(ledger) == Cosigned(EPOCH, 0, "")
    assert shows(ledger, LOG.shown(17))[1] == []
    (fork,) = read_forks(path)
    assert fork.epoch.startswith(f"{EPOCH}~")


def test_ever_new_histories_do_not_fill_the_disk(ledger: Ledger, path: Path) -> None:
    shows(ledger, LOG.shown(17))
    for number in range(30):
        shows(ledger, Log(f"{TABLE}/{EPOCH}", KEY, 17, b"%d" % number).shown(17))
    assert len(read_forks(path)) == 20


def test_each_kept_checkpoint_leads_to_the_next_by_its_proof(ledger: Ledger) -> None:
    """The proofs that the pit records join each checkpoint of a table's journal to the next checkpoint. Head office can
    therefore check the journal without trusting the pit."""
    old = 0
    for size in (3, 4, 17, 40):
        shows(ledger, LOG.shown(size, old))
        old = size
    before = Checkpoint(LOG.origin, 0, b"")
    for size, text, old, proof in ledger._db.execute("SELECT size, note, old, proof FROM cosigned ORDER BY number"):
        note = read_note(text)
        point = None if note is None else note.checkpoint()
        assert point is not None
        assert (point.size, before.size) == (size, old)
        shown = ShownCheckpoint(text, old, tuple(json.loads(proof)))
        assert shown.extends(before if before.size else None, point)
        before = point
    assert before.size == 40
    assert not is_consistent(4, b"", 17, before.root, [])


def test_each_award_of_a_journal_with_two_histories_waits_for_two_people(path: Path) -> None:
    """If a journal has two histories, an award needs two people even if its hit comes later, because only people can
    say which history is true."""
    with closing(opened(path)) as ledger:
        evening = TableEvening("t-0")

        def win(seat: int) -> None:
            evening.lock(seat)
            evening.finish((seat, "banker_personal"))
            evening.hit(seat, "banker_personal", "big")
            ledger.receive([("t-0", body) for body in evening.sent])
            meet(ledger, "t-0", evening.state(), adopt_new=False)

        win(1)
        for story in (b"one", b"two"):
            ledger.witness.judge_all([("t-0", Log("t-0/ab12cd", TABLES_KEY, 9, story).shown(9))], (), PIT, NOW_S)
        win(2)
        for award in ledger.awards():
            with pytest.raises(TableError) as refused:
                ledger.take_step(award.id, "verified", "Ann Lee")
            assert refused.value.code == "award_doubted"
            assert "without a proof that joins them" in refused.value.what
            assert ledger.take_step(award.id, "verified", "Ann Lee", "Bea Ong").step == "verified"
        assert len(ledger.awards()) == 2


def test_an_award_is_in_no_doubt_once_a_proof_joined_what_a_spoiled_one_did_not(path: Path) -> None:
    """If a proof between two checkpoints of a journal was spoiled, a later good proof ends the doubt about the
    journal's awards. Otherwise somebody who changes one byte on the connection could make each later award of that
    journal wait for two people."""
    with closing(opened(path)) as ledger:
        log, evening = Log("t-0/ab12cd", TABLES_KEY, 9), TableEvening("t-0")
        torn = canonical(json.loads(log.shown(9, 4)) | {"proof": []})
        for payload in (log.shown(4), torn, log.shown(9, 4)):
            ledger.witness.judge_all([("t-0", payload)], (), PIT, NOW_S)
        evening.lock(1)
        evening.finish((1, "banker_personal"))
        evening.hit(1, "banker_personal", "big")
        ledger.receive([("t-0", body) for body in evening.sent])
        meet(ledger, "t-0", evening.state(), adopt_new=False)
        (award,) = ledger.awards()
        assert ledger.take_step(award.id, "verified", "Ann Lee").step == "verified"


@needs_mosquitto
def test_on_a_broker_the_pit_cosigns_for_whoever_comes_later_and_after_it_was_killed(house: House) -> None:
    topic = f"pit/v1/{TABLE}/cosigned"
    log = Log(f"{TABLE}/{EPOCH}", HOUSE_KEY, 40)
    _, pit = house.adopting()
    far = house.far(topic)
    assert far.said()["size"] == 0
    far.send(f"pit/v1/{TABLE}/checkpoint", log.shown(17))
    word = far.said()
    assert word["size"] == 17
    pit.ended(signal.SIGKILL)
    far.publish(topic, b"", retain=True)
    assert far.next().payload == b""
    house.pit()
    again = far.said()
    assert (again["size"], again["cosignature"]) == (17, word["cosignature"])
    assert house.far(topic).said() == again, "the broker retains it"
    fork = Log(f"{TABLE}/{EPOCH}", HOUSE_KEY, 40, b"another")
    far.send(f"pit/v1/{TABLE}/checkpoint", fork.shown(40, 17))
    assert far.said()["refused"] == "forked"
