"""Checks `tools/verify_award.py` with the two files of one award: the pit's file of the award, and the table's file of
its round. The tool accepts the files if both describe the same hit, and refuses them otherwise.

A holder of the files may want another amount or seat. The pit's people may want to hide who paid what. The table's
people may want to show one round to the pit and another round to a stranger who checks the files.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import Struct

from controller.contract.canonical import canonical
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey
from controller.contract.signing import signed
from controller.daemon.evidence import evidence
from controller.daemon.record.journal import Journal
from controller.pit.reference.award_evidence import award_evidence
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.settings import default
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.pit import PitKeyPinned
from controller.table.facts import ShoeResult, ShoeResultReported
from tests.daemon.test_evidence import changed, resigned
from tests.daemon.test_history import KEY, Recorded
from tests.documents.blocks import ROOT
from tests.pit.test_award_evidence import VERIFY, refusal
from tests.support.ledgers import meet
from tests.support.tables import cards

_PIT = SigningKey(bytes([7] * 32))
_STRANGER = SigningKey(bytes([9] * 32))
_KEYS = fingerprint(_PIT.public), fingerprint(KEY.public)


class Files(NamedTuple):
    """The files for these tests: the file of an award, the file of its round, the file of another round, and the files
    of other awards by the same pit. One of the latter is the file of the same award before it was paid."""

    award: bytes
    round: bytes
    other_round: bytes
    others: list[bytes]


def _won_by_own_cards(table: Recorded) -> Recorded:
    """Play a round in which seat 1 wins its progressive bet with its own King and 9."""
    table.lock(1).round("KS 2D 9S 3D")
    return table.believe(ShoeResultReported(ShoeResult.PLAYER, False, False, table.report(b"G\x90")))


def _play(folder: Path, more: Callable[[Recorded], object] = lambda _: None) -> Files:
    table = Recorded(levels={"player_personal": 250_000}).believe(PitKeyPinned(_PIT.public.hex(), "Ann Lee")).burned()
    _won_by_own_cards(table)
    known_to_pit = len(table.entries)
    more(table)
    _won_by_own_cards(table)
    at, name = folder / "ledger", table.rules.table
    whose = {"online": True, "table": name, "public_key": KEY.public.hex(), "head_seq": 0}
    with (
        closing(Journal(folder / "table.journal", name, KEY, KEY.public)) as journal,
        closing(Ledger(at)) as ledger,
    ):
        ledger.serve()
        ledger.sign_by(_PIT)
        ledger.set_terms(default().meters)
        ledger.adopt(name, journal.epoch, KEY.public.hex(), "ann", "bob")
        meet(ledger, name, canonical(whose | {"epoch": journal.epoch}), adopt_new=False)
        told = [message.body for entry in table.entries for message in journal.append([entry])]
        journal.checkpoint()
        before = sum(len(entry.events) for entry in table.entries[:known_to_pit])
        assert not ledger.receive([(name, body) for body in told[:before]]).refused
        (award,) = ledger.awards()
        pending = award_evidence(at, award.id, _PIT, _PIT.public)
        ledger.take_step(award.id, "verified", "ann")
        ledger.print_slip(award.id, "cho")
        ledger.take_step(award.id, "paid", "cho")
        paid = award_evidence(at, award.id, _PIT, _PIT.public)
        assert not ledger.receive([(name, body) for body in told[before:]]).refused
        another = award_evidence(at, [each.id for each in ledger.awards()][-1], _PIT, _PIT.public)
    rounds = [evidence(folder / "table.journal", which) for which in ("1/1", "1/2")]
    return Files(paid, rounds[0], rounds[1], [another, pending])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return _play(tmp_path_factory.mktemp("won"))


def _both(award: bytes, round_: bytes) -> str | None:
    return refusal(award, *_KEYS, of_round=round_)


def test_both_files_tell_of_one_hit_in_the_same_bytes(files: Files, tmp_path: Path) -> None:
    told = VERIFY.judge(files.award, *_KEYS, of_round=files.round)
    for sentence in (
        "The house's rules of drawing deal Player KS 9S, Banker 2D 3D: player.",
        "Both files have 3 events in the same bytes: among them the lock, the round and the hit of seat 1 in round 1",
    ):
        assert any(each.startswith(sentence) for each in told), sentence
    assert not [each for each in told if "Only the file" in each]
    paths = [tmp_path / "award", tmp_path / "round"]
    for path, file in zip(paths, (files.award, files.round), strict=True):
        path.write_bytes(file)
    tool = [sys.executable, str(ROOT / "tools" / "verify_award.py"), str(paths[0]), *_KEYS, "--round", str(paths[1])]
    said = subprocess.run(tool, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [*told, "ALL THAT IS SHOWN HOLDS."]


def test_a_correction_that_only_one_file_has_is_told(tmp_path: Path) -> None:
    """The verifier reports a correction that only one of the two files has, because a person must know of it. Either
    the pit wrote its file before the correction, or somebody left the correction out."""

    def correct(table: Recorded) -> None:
        table.do(CorrectRound(1, tuple(cards("KS 8S")), tuple(cards("2D 4D")), "Smith", "Jones"))

    files = _play(tmp_path, correct)
    (alone,) = (each for each in VERIFY.judge(files.award, *_KEYS, of_round=files.round) if "Only the file" in each)
    assert alone.startswith("Only the file of the round has event ")
    assert ": correction at " in alone


def test_a_file_of_another_round_is_refused(files: Files) -> None:
    assert _both(files.award, files.other_round) == "The round's file is not of this hit."
    assert _both(files.others[0], files.round) == "The round's file is not of this hit."
    assert _both(files.others[0], files.other_round) is None


@pytest.mark.parametrize(
    ("event_type", "lie", "why"),
    [
        ("hit", {"seat": 2}, "The round's file has another event "),
        ("hit", {"at": "2026-11-25T21:14:08.120Z"}, "The round's file has another event "),
        ("wagers_locked", {"at": "2026-11-25T21:14:08.120Z"}, "The round's file has another event "),
        ("round", {"at": "2026-11-25T21:14:08.120Z"}, "The round's file has another event "),
        ("round", {"awards": []}, "The rules give other awards."),
    ],
)
def test_a_table_that_shows_the_pit_another_round_than_the_stranger_is_refused(
    event_type: str, lie: dict[str, object], why: str, files: Files
) -> None:
    """The verifier refuses the files if a lying table changed its round and signed it again with its own key. Each of
    the two files is correct by itself. The lie is found only because the verifier compares them by the rules of the
    game."""

    def change(event: dict[str, Any]) -> None:
        event.update(lie if event["type"] == event_type else {})

    round_ = resigned(json.loads(files.round), change)
    assert (_both(files.award, round_) or "holds").startswith(why)
    assert _both(files.award, resigned(json.loads(files.round), lambda _: None)) is None


@pytest.mark.parametrize("event_type", ["hit", "wagers_locked"])
def test_a_rounds_file_without_the_hit_or_its_lock_is_refused(event_type: str, files: Files) -> None:
    held = json.loads(files.round)
    held["rows"] = [
        row for row in held["rows"] if not any(f'"type":"{event_type}"' in each for each in row["messages"])
    ]
    assert _both(files.award, resigned(held, lambda _: None)) is not None


def test_another_table_has_another_key(files: Files) -> None:
    other = resigned(json.loads(files.round), lambda _: None, _STRANGER)
    assert _both(files.award, other) is not None


@pytest.mark.proof
def test_an_awards_file_with_any_byte_changed_is_refused(files: Files, figure: Callable[[str], None]) -> None:
    assert not [place for place in range(len(files.award)) if refusal(changed(files.award, place)) is None]
    places = range(len(files.round))
    assert not [place for place in places if _both(files.award, changed(files.round, place)) is None]
    figure(
        f"each of {len(files.award):,} bytes of an award's file, and of {len(files.round):,} of its round's beside it,"
        " changed: refused"
    )


class _Forger(Struct):
    """Makes forged award files in two roles. A stranger has true files of this pit and a key of his own. One of the
    pit's people can also sign the complete file again, but cannot change what the table signed."""

    files: Files
    random: random.Random

    def forged(self, kind: str) -> bytes:
        """Return the award's file with a forgery of the kind `kind`. In some cases the file gets a second forgery that
        the same forger could make."""
        while True:
            held = json.loads(self.files.award)
            kinds = _BY_THE_PIT if kind in _BY_THE_PIT else _BY_A_STRANGER
            for each in (kind, *self.random.choices(kinds, k=self.random.choice((0, 0, 1)))):
                getattr(self, each)(held)
            if kind in _BY_THE_PIT:
                held.pop("signature", None)
                held = json.loads(signed(held, _PIT))
            if held != json.loads(self.files.award):
                return canonical(held)

    def _of(self, held: Any) -> list[Any]:
        part: list[Any] = held[self.random.choice(("decisions", "events"))]
        return part

    def missing(self, held: Any) -> None:
        of = self._of(held)
        of.pop(self.random.randrange(len(of)))

    def doubled(self, held: Any) -> None:
        of = self._of(held)
        of.insert(self.random.randrange(len(of)), self.random.choice(of))

    def swapped(self, held: Any) -> None:
        self.random.shuffle(self._of(held))

    def foreign(self, held: Any) -> None:
        """Insert into the file a decision or an event that does not belong there: it is of another award, or is an
        earlier one of the same award."""
        part = self.random.choice(("decisions", "events"))
        other = json.loads(self.random.choice(self.files.others))[part]
        held[part][self.random.randrange(len(held[part])) :] = [self.random.choice(other)]

    def _other_value(self, of: Any) -> None:
        name = self.random.choice(
            [name for name in of if name != "signature" and not isinstance(of[name], list)] or ["by"]
        )
        value = of.get(name)
        of[name] = self.random.choice([value + 1 if isinstance(value, int) else None, "another", 7, [], {}])

    def changed(self, held: Any) -> None:
        """Change a decision or an event in the file. Either keep its old signature, or sign it with the forger's
        key."""
        of = self._of(held)
        place = self.random.randrange(len(of))
        self._other_value(of[place])
        if self.random.random() < 0.5:
            of[place].pop("signature", None)
            of[place] = json.loads(signed(of[place], _STRANGER))

    def head_changed(self, held: Any) -> None:
        self._other_value(held)

    def head_foreign(self, held: Any) -> None:
        other = json.loads(self.random.choice(self.files.others))
        name = self.random.choice([name for name in held if held[name] != other[name]])
        held[name] = other[name]

    def made_anew(self, held: Any) -> None:
        """Sign the complete file with the forger's key. In the file, name the forger's key either as the pit's key or
        as the successor of the pit's key."""
        former = {"former": held["pit_key"], "public_key": _STRANGER.public.hex(), "at": "2026-11-25T21:14:08.120Z"}
        if self.random.random() < 0.5:
            held["rotations"] = [json.loads(signed(former, _STRANGER))]
        held.pop("signature", None)
        held.update(json.loads(signed(held | {"pit_key": _STRANGER.public.hex()}, _STRANGER)))

    def event_changed(self, held: Any) -> None:
        self._other_value(self.random.choice(held["events"]))

    def event_foreign(self, held: Any) -> None:
        others = json.loads(self.files.others[0])["events"]
        held["events"].insert(self.random.randrange(len(held["events"]) + 1), self.random.choice(others))

    def events_swapped(self, held: Any) -> None:
        events = held["events"]
        one = self.random.randrange(1, len(events))
        events[one - 1], events[one] = events[one], events[one - 1]

    def hit_of_another(self, held: Any) -> None:
        held["hit"] = json.loads(self.files.others[0])["hit"]

    def events_signed_anew(self, held: Any) -> None:
        held["events"] = [json.loads(signed(_unsigned(each), _PIT)) for each in held["events"]]


def _unsigned(message: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != "signature"}


_BY_A_STRANGER = ("missing", "doubled", "swapped", "foreign", "changed", "head_changed", "head_foreign", "made_anew")
_BY_THE_PIT = ("event_changed", "event_foreign", "events_swapped", "hit_of_another", "events_signed_anew")


def _believed(files: Files, count: int) -> list[str]:
    """Make `count` forgeries of the award's file, and check each together with the true file of the round. Return the
    kinds of the forgeries that the verifier accepts."""
    forger = _Forger(files, random.Random(30))
    kinds = (_BY_A_STRANGER + _BY_THE_PIT) * (count // len(_BY_A_STRANGER + _BY_THE_PIT) + 1)
    return [kind for kind in kinds[:count] if _both(forger.forged(kind), files.round) is None]


def test_forgeries_of_every_kind_are_refused(files: Files) -> None:
    assert _believed(files, 65) == []


@pytest.mark.proof
def test_two_thousand_forgeries_of_an_awards_file_are_refused(files: Files, figure: Callable[[str], None]) -> None:
    assert _believed(files, 2_600) == []
    kinds = f"{len(_BY_A_STRANGER)} kinds by a stranger and {len(_BY_THE_PIT)} by the pit's own people"
    figure(f"2,600 forgeries of an award's file beside its round's, of {kinds}: refused")
