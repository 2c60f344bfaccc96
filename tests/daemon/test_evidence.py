"""Checks the evidence file of a round, using only `tools/verify.py`: what the file proves, what it hides, and that no
forged file is accepted."""

from __future__ import annotations

import ast
import base64
import importlib.util
import json
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from controller.contract.canonical import canonical
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey, load_or_make_key
from controller.contract.merkle import Edge, opening_proof
from controller.contract.note import Note, read_note
from controller.daemon.config import load
from controller.daemon.evidence import evidence
from controller.daemon.record.checkpoints import signed_checkpoint
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import read_origin, read_rows
from controller.people.cli.files import VARIABLE
from controller.people.cli.main import main
from controller.people.cli.setup.report import made_report, page
from controller.pit.reference.__main__ import main as pitctl
from controller.pit.reference.ledger import Ledger
from controller.table.acts.corrections import CorrectRound
from controller.table.acts.pit import PitKeyPinned
from controller.table.facts import ShoeResult, ShoeResultReported, Target
from tests.daemon.daemon_world import running
from tests.daemon.test_history import KEY, Recorded, said
from tests.documents.blocks import ROOT
from tests.support.archives import archive_all
from tests.support.errors import raising
from tests.support.five_games import wagers
from tests.support.tables import MIDI, SUGARHOUSE, TABLE_FILE, cards
from tests.support.waiting import eventually
from tests.support.waiting import run as run_daemon

_TOOL = ROOT / "tools" / "verify.py"
PIT = SigningKey(bytes([7] * 32))
_SAMPLE = 200
_WORDS_A_MINUTE = 150
"""As a person reads who does at once what the words say."""


def _tool() -> Any:
    spec = importlib.util.spec_from_file_location("verify", _TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VERIFY = _tool()


def refusal(data: bytes, *keys: str | None) -> str | None:
    """Return why the verifier refuses the evidence file; None if it accepts the file."""
    try:
        VERIFY.judge(data, *keys)
    except VERIFY.Refused as refused:
        return str(refused).removeprefix("REFUSED: ")
    return None


def _royal9(folder: Path) -> Path:
    """Write a journal of two shoes at a Royal 9 table, and return its path.

    The journal has four special things: a hit whose round was corrected, a void round, a round without hidden cards,
    and a pit's key that people have compared.
    """
    table = Recorded(levels={"player_personal": 250_000}).believe(PitKeyPinned(PIT.public.hex(), "Ann Lee")).burned()
    table.lock(1).round("KS 2D 9S 3D")
    table.believe(ShoeResultReported(ShoeResult.PLAYER, False, False, table.report(b"G\x90")))
    table.do(CorrectRound(1, tuple(cards("KS 9S")), tuple(cards("2D 4D")), "Smith", "Jones"))
    table.lock().round("8H 5C").void()
    table.lock(2).round("2H 4C 3C AH 6S JH")
    table.new_shoe_by_supervisor()
    table.believe(table.card(Target.FIRST_CARD, 0, "AD"), table.card(Target.BURN, 1, "3C"))
    table.lock().round("2S 3S 4H 4S").lock().round("7D 7C")
    return table.journalled(folder)


def _sugarhouse() -> Recorded:
    """Return a table that has played a round with wagers on many spots, one round before it and one after it."""
    table = Recorded(SUGARHOUSE).believe(PitKeyPinned(PIT.public.hex(), "Ann Lee")).burned().lock().round("6H 7C KD TC")
    table.do(*wagers("2 banker 2000, 3 player 1500, 3 tie 500, 2 dragon_banker 1000")).lock().round("2S 9D KS TD")
    return table.do(*wagers("5 player 2500")).lock().round("3S 8C QH JD")


def beetek(folder: Path) -> Path:
    """Write a journal of two shoes from a BeeTek. Each shoe has a round with a hit and one other round. Return the
    journal's path."""
    table = Recorded().open_shoe("").beetek("AS 2D").lock(1).beetek("KS 2D 9S 3D").lock().beetek("7D 2C 2H 6S")
    table.new_shoe_by_supervisor().beetek("AD 3C").lock(1).beetek("KS 2D 9S 3D").lock().beetek("8H 5C KC 2S")
    return _signed(table.journalled(folder), cosigned=False)


def _signed(path: Path, cosigned: bool = True) -> Path:
    """Sign a checkpoint of the journal. With `cosigned`, the pit signs it too. Return the journal's path."""
    with closing(Journal(path, _table(path), KEY, KEY.public)) as journal:
        note = journal.checkpoint()
        point = note.checkpoint()
        assert point is not None
        if cosigned:
            journal.keep_cosigned(point.size, note.cosigned("pit", PIT, PIT.public, 1764111600))
    return path


def _table(path: Path) -> str:
    return read_origin(path).table


@pytest.fixture(scope="module")
def sugarhouse(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return evidence(_signed(_sugarhouse().journalled(tmp_path_factory.mktemp("sugarhouse"))), "1/2")


@pytest.fixture(scope="module")
def royal9(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _signed(_royal9(tmp_path_factory.mktemp("royal9")))


def test_it_tells_in_sentences_what_holds_and_what_it_leaves_open(sugarhouse: bytes) -> None:
    told = VERIFY.judge(sugarhouse, fingerprint(KEY.public), fingerprint(PIT.public))
    for sentence in (
        f"with the key {fingerprint(KEY.public)}",
        f"with the key {fingerprint(PIT.public)}: the journal only grew",
        "was accepted at the table by Ann Lee",
        "tell the cards 2S 9D KS TD",
        "deal Player 2S KS, Banker 9D TD: banker",
        "settle its 4 wagers just so",
    ):
        assert any(sentence in each for each in told), sentence
    assert sum(each.startswith("NOT SHOWN") for each in told) == 3


def test_a_hit_a_correction_and_a_void_are_told(royal9: Path) -> None:
    told = "\n".join(VERIFY.judge(evidence(royal9, "1/1")))
    assert "Smith and Jones corrected it" in told
    assert "give 1 awards" in told
    assert "Every wager went back, by the word of Smith" in "\n".join(VERIFY.judge(evidence(royal9, "1/2")))
    told = "\n".join(VERIFY.judge(evidence(royal9, "1/3")))
    assert "deal Player 2H 3C 6S, Banker 4C AH JH: banker" in told


@pytest.mark.parametrize("which", ["1/1", "1/2", "1/3", "2/1"])
def test_it_shows_this_round_and_no_other(which: str, royal9: Path) -> None:
    """The evidence file of a round holds no card of another round. The test searches the file's texts, the shoe's
    frames and the events."""
    of = {"1/1": "KS 2D 9S 3D 4D", "1/2": "8H 5C", "1/3": "2H 4C 3C AH 6S JH", "2/1": "2S 3S 4H 4S"}
    held = json.loads(evidence(royal9, which))
    rules = "{}"
    for row in held["rows"]:
        if '"fact":"ShoeOpened"' in row["came"]:
            rules = canonical(json.loads(row["came"][row["came"].index('{"') :])["rules"]).decode()
    told = [(row["came"], *map(json.loads, row["messages"])) for row in held["rows"]]
    for event in (event for _, *events in told for event in events):
        del event["signature"], event["chain"]  # in which two letters may look like a card
    text = json.dumps(told).replace(json.dumps(rules)[1:-1], "")
    shown = {*re.findall(r"(?<![A-Z0-9])([A2-9TJQK][SHDC])(?![A-Za-z0-9 ])", text)}
    printed = {"KS", "9S", "KH", "9H", "KD", "9D", "KC", "9C"}  # as the opening tells
    assert shown - printed <= {*of[which].split()}
    frames = re.findall(r'\\"frame\\":\\"([0-9a-f]+)\\"', json.dumps(held["rows"]))
    assert {VERIFY.read(bytes.fromhex(frame)) for frame in frames} - {None} <= {*of[which].split()}
    rounds = {event["round"] for row in held["rows"] for event in map(json.loads, row["messages"])}
    assert rounds <= {None, int(which[2:])}


def test_a_card_that_nobody_saw_stays_closed(tmp_path: Path) -> None:
    """The evidence of a Midi round that was voided before its cards were turned up reveals none of those cards."""
    table = Recorded(MIDI).believe(PitKeyPinned(PIT.public.hex(), "Ann Lee")).burned().lock().round("8H 5C").void()
    held = evidence(_signed(table.journalled(tmp_path)), "1/1")
    assert refusal(held) is None
    rows = re.sub(
        r'"signature\\":\\"[^\\]+', "", json.dumps(json.loads(held)["rows"])
    )  # its letters may look like a card
    assert '"signature' not in rows
    assert "8H" not in rows
    assert "5C" not in rows
    assert '\\"frame\\"' not in rows
    heads = {row.previous_head.hex() for row in read_rows(tmp_path / "table.journal")}
    assert len(heads & {row["before"] for row in json.loads(held)["rows"]}) == len(json.loads(held)["rows"])


@pytest.mark.parametrize("which", ["1/1", "2/1"])
def test_a_round_of_a_beetek_is_judged_by_the_rules_in_each_of_its_shoes(which: str, tmp_path: Path) -> None:
    """The verifier judges a round of a BeeTek shoe by the rules in the first journal row of that shoe. The test tries a
    round of each of two shoes.

    In an earlier version the first row of the second shoe could not be shown. It contained the last report of the shoe
    before, and so revealed a card.
    """
    held = evidence(beetek(tmp_path), which)
    told = "\n".join(VERIFY.judge(held))
    assert "The shoe's own frames and people's words tell the cards KS 2D 9S 3D." in told
    assert "The house's rules of drawing deal Player KS 9S, Banker 2D 3D: player." in told
    assert "The house's rules settle its 0 wagers just so, and give 1 awards." in told
    frames = re.findall(r'\\"frame\\":\\"([0-9a-f]*)\\"', json.dumps(json.loads(held)["rows"]))
    assert {VERIFY.read(bytes.fromhex(frame)) for frame in frames} - {None} == {"KS", "2D", "9S", "3D"}


def test_a_shoe_whose_first_row_tells_a_card_keeps_it_closed_and_is_told_without_its_rules(tmp_path: Path) -> None:
    """If a shoe's first row in the journal reveals a card, the evidence leaves the row out. The house's rules are in
    that row too, so the verifier says that it cannot judge by them.

    In the test the shoe's first card comes before anybody has announced the new shoe. The row that opens the shoe then
    contains that card.
    """
    table = Recorded().burned().lock(1).round("KS 2D 9S 3D")
    table.believe(ShoeResultReported(ShoeResult.PLAYER, False, False, table.report(b"G\x90")))
    table.believe(table.card(Target.FIRST_CARD, 0, "AD"))
    table.new_shoe_by_supervisor()
    table.believe(table.card(Target.BURN, 1, "3C")).lock().round("8H 5C KC 2S")
    held = evidence(_signed(table.journalled(tmp_path), cosigned=False), "2/1")
    told = VERIFY.judge(held)
    closed = "How a shoe whose first row stays closed is drawn and paid is not known here"
    assert f"{closed}: drawing and wagers are NOT judged." in told
    assert "The shoe's own frames and people's words tell the cards 8H 5C KC 2S." in told
    assert not [each for each in told if each.startswith("The house's rules")]
    assert "AD" not in re.sub(r'"signature[^,]+', "", json.dumps(json.loads(held)["rows"]))


def test_the_tool_is_one_short_file_of_the_standard_library_and_cryptography() -> None:
    """The verifier is short and imports only the standard library and `cryptography`, because a stranger must read all
    of it.

    The test counts every line of the file, and finds imports inside functions too.
    """
    source = _TOOL.read_text("utf-8")
    assert len(source.splitlines()) <= 300
    nodes = [*ast.walk(ast.parse(source))]
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += ["." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in named} <= {*sys.stdlib_module_names, "cryptography"} - {"importlib"}
    assert not {node.id for node in nodes if isinstance(node, ast.Name)} & {"__import__", "exec", "eval", "open"}


def test_the_tool_runs_alone(sugarhouse: bytes, tmp_path: Path) -> None:
    (tmp_path / "round.evidence").write_bytes(sugarhouse)
    command = [sys.executable, "-I", str(_TOOL), str(tmp_path / "round.evidence")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert done.stdout.endswith("ALL THAT IS SHOWN HOLDS.\n")
    (tmp_path / "round.evidence").write_bytes(sugarhouse.replace(b"9D", b"9C"))
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr[:8]) == (1, "REFUSED:")


def changed(data: bytes, place: int, bit: int | None = None) -> bytes:
    """Return the file with one bit of the byte at `place` flipped. If `bit` is None, bit number `place` modulo 8 is
    flipped."""
    return data[:place] + bytes([data[place] ^ 1 << (place % 8 if bit is None else bit)]) + data[place + 1 :]


def test_a_file_with_one_byte_changed_is_refused(sugarhouse: bytes) -> None:
    places = {*random.Random(3).sample(range(len(sugarhouse)), _SAMPLE), *range(40)}
    assert not [place for place in places if refusal(changed(sugarhouse, place)) is None]


@pytest.mark.proof
def test_a_file_with_any_byte_changed_is_refused(
    sugarhouse: bytes, royal9: Path, figure: Callable[[str], None]
) -> None:
    files = [sugarhouse, evidence(royal9, "1/1")]
    assert not [place for data in files for place in range(len(data)) if refusal(changed(data, place)) is None]
    figure(f"each of {sum(map(len, files)):,} bytes of two files of evidence, changed: refused")


@pytest.mark.proof
def test_a_file_with_any_bit_flipped_is_refused(royal9: Path, figure: Callable[[str], None]) -> None:
    file = evidence(royal9, "1/2")
    flipped = [(place, bit) for place in range(len(file)) for bit in range(8)]
    assert not [each for each in flipped if refusal(changed(file, *each)) is None]
    figure(f"each of {len(flipped):,} bits of a file of evidence, flipped: refused")


@pytest.mark.parametrize(
    "lie",
    [
        lambda held: held["rows"].pop(2),
        lambda held: held["rows"].reverse(),
        lambda held: held["rows"].append(held["rows"][-1]),
        lambda held: held["proof"].reverse(),
        lambda held: held["proof"].append(held["proof"][0]),
        lambda held: held.update(round=1),
        lambda held: held.update(table_key=PIT.public.hex()),
        lambda held: held.update(checkpoint=held["checkpoint"].rpartition("— ")[0]),
        lambda held: held["rows"][1].update(leaf=held["rows"][1]["leaf"] + 1),
        lambda held: held.update(more=1),
        lambda held: held.update(evidence=True),
        lambda held: held.update(round=2.0),
    ],
)
def test_what_is_missing_reordered_or_foreign_is_refused(lie: Callable[[Any], object], sugarhouse: bytes) -> None:
    held = json.loads(sugarhouse)
    lie(held)
    assert refusal(canonical(held), None, fingerprint(PIT.public)) is not None


def test_another_table_that_signs_everything_anew_has_another_key(tmp_path: Path) -> None:
    other = evidence(_signed(_sugarhouse().journalled(tmp_path), cosigned=False), "1/2")
    assert refusal(other) is None
    assert refusal(other, fingerprint(PIT.public)) == f"Another key signed this: {fingerprint(KEY.public)}."
    assert refusal(other, None, fingerprint(PIT.public)) == "Nobody cosigned this checkpoint as pit."


def resigned(held: Any, change: Callable[[Any], None], key: SigningKey = KEY) -> bytes:
    """Return evidence as a lying table would make it with its own key. `held` is the evidence, and `change` changes
    each of its events. After that, all hashes and signatures are made anew.

    With another `key`, the evidence is made by a stranger who pretends to be the table.
    """
    before: bytes | None = None
    leaves: dict[int, bytes] = {}
    for row in held["rows"]:
        if leaves and row["leaf"] - 1 in leaves:
            assert before is not None
            row["before"] = before.hex()
        bodies = []
        for event in map(json.loads, row["messages"]):
            change(event)
            told = {**event, "chain": row["before"]}
            del told["signature"]
            bodies.append(
                canonical({**told, "signature": base64.b64encode(key.sign(canonical(told))).decode()}).decode()
            )
        row["messages"] = bodies
        made = VERIFY.Row(row)
        before, leaves[row["leaf"]] = made.head, made.hash
    origin = held["checkpoint"].split("\n")[0]
    size = max(leaves) + 1
    everything = [leaves.get(leaf, bytes(32)) for leaf in range(size)]

    def whole(level: int, place: int) -> bytes:
        part = dict(enumerate(everything[place << level : (place + 1) << level]))
        return bytes(VERIFY.tree_root(part, 0, 1 << level, iter(())))

    held["proof"] = [each.hex() for each in opening_proof(leaves, size, whole)]
    root = VERIFY.tree_root(leaves, 0, size, map(bytes.fromhex, held["proof"]))
    text = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"
    line = VERIFY.key_id(origin, b"\1", KEY.public) + key.sign(text.encode())
    held["checkpoint"] = f"{text}\n— {origin} {base64.b64encode(line).decode()}\n"
    return canonical(held)


def with_value(path: str, value: object) -> Callable[[Any], None]:
    """Return a function that sets the value at `path`, such as "player.total", in the round's event."""

    def change(event: Any) -> None:
        if event["type"] == "round":
            *way, last = [int(each) if each.isdecimal() else each for each in path.split(".")]
            for each in way:
                event = event[each]
            event[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("banker.total", 8, "totals"),
        ("outcome", "tie", "totals"),
        ("banker.cards.0", "9C", "frames"),
        ("player.cards", ["2S", "KS", "AS"], "deal other cards"),
        ("settlement.wagers.0.pays_cents", 2100, "the rules say"),
        ("settlement.wagers.1.result", "pushed", "the rules say"),
        ("settlement.wagers.0.cents", 2500, "Other wagers"),
        ("awards", [{"spot": "dragon_banker", "seat": 2, "tier": "all"}], "other awards"),
    ],
)
def test_a_table_that_lies_with_its_own_key_is_refused_by_the_rules(
    path: str, value: object, why: str, sugarhouse: bytes
) -> None:
    assert refusal(resigned(json.loads(sugarhouse), lambda _: None)) is None
    assert why in (refusal(resigned(json.loads(sugarhouse), with_value(path, value))) or "holds")


class Forger:
    """A forger who holds genuine evidence files of this table and of another table, and has a key of his own. Each
    forgery changes one file.

    Both tables sign with the same key. So a row of one table can be told from a row of the other only by the table's
    name and by the Merkle tree.
    """

    def __init__(self, good: bytes, files: list[bytes], notes: list[str], seed: int) -> None:
        self._good = good
        self._files = [json.loads(file) for file in files]
        self._notes = notes
        self._random = random.Random(seed)
        self.kinds: tuple[Callable[[Any], None], ...] = (
            self._missing,
            self._doubled,
            self._swapped,
            self._foreign,
            self._parts_exchanged,
            self._event_changed,
            self._made_anew,
            self._other_checkpoint,
            self._other_witness,
            self._hashes_swapped,
            self._hash_missing,
            self._hash_foreign,
            self._renamed,
        )

    def forged(self, kind: Callable[[Any], None]) -> bytes:
        """Return the genuine evidence file with this forgery made in it, and sometimes a second one."""
        while True:
            held = json.loads(self._good)
            for change in (kind, *self._random.choices(self.kinds, k=self._random.choice((0, 0, 1)))):
                if held["rows"] and held["proof"]:
                    change(held)
            if (file := canonical(held)) != self._good:
                return file

    def _two(self, of: list[Any]) -> tuple[int, int]:
        one, other = self._random.choices(range(len(of)), k=2)
        return one, other

    def _missing(self, held: Any) -> None:
        held["rows"].pop(self._random.randrange(len(held["rows"])))

    def _doubled(self, held: Any) -> None:
        one, other = self._two(held["rows"])
        held["rows"].insert(one, held["rows"][other])

    def _swapped(self, held: Any) -> None:
        one, other = self._two(held["rows"])
        held["rows"][one], held["rows"][other] = held["rows"][other], held["rows"][one]

    def _foreign(self, held: Any) -> None:
        """Replace one of the file's rows by a row of another round or table. In half of the cases the new row gets the
        old row's place in the Merkle tree."""
        place = self._random.randrange(len(held["rows"]))
        row = self._random.choice(self._random.choice(self._files)["rows"])
        held["rows"][place] = {**row, **({"leaf": held["rows"][place]["leaf"]} if self._random.random() < 0.5 else {})}

    def _parts_exchanged(self, held: Any) -> None:
        one, other = self._two(held["rows"])
        part = self._random.choice(("leaf", "before", "salt", "came", "messages"))
        first, second = ({**held["rows"][place]} for place in (one, other))
        held["rows"][one] = {**first, part: second[part]}
        held["rows"][other] = {**second, part: first[part]}

    def _event_changed(self, held: Any) -> None:
        """Change an event, and sign it with the forger's key. The Merkle tree stays as it was."""
        row = self._random.choice([row for row in held["rows"] if row["messages"]] or [{"messages": ["{}"]}])
        event = {**json.loads(row["messages"][0]), "at": "2026-11-25T21:14:08.120Z"}
        event.pop("signature", None)
        signature = base64.b64encode(PIT.sign(canonical(event))).decode()
        row["messages"] = [canonical({**event, "signature": signature}).decode(), *row["messages"][1:]]

    def _made_anew(self, held: Any) -> None:
        """Change the round's event, and make all hashes, signatures and the checkpoint anew with the forger's key."""
        path, value = self._random.choice((("outcome", "tie"), ("player.total", 9), ("banker.cards.0", "9C")))
        held.update(json.loads(resigned(json.loads(self._good), with_value(path, value), PIT)))

    def _other_checkpoint(self, held: Any) -> None:
        held["checkpoint"] = self._random.choice(self._notes)

    def _other_witness(self, held: Any) -> None:
        """Replace the pit's signature of the checkpoint by a false one: it belongs to another checkpoint, or was made
        with another key. The table's own signature stays."""
        own = held["checkpoint"].rpartition("— pit ")[0]
        line = self._random.choice(self._notes).rpartition("— pit ")[2]
        made = base64.b64encode(KEY.sign(self._random.randbytes(9)) + self._random.randbytes(12)).decode()
        held["checkpoint"] = f"{own}— pit " + self._random.choice((line, f"{made}\n"))

    def _hashes_swapped(self, held: Any) -> None:
        one, other = self._two(held["proof"])
        held["proof"][one], held["proof"][other] = held["proof"][other], held["proof"][one]

    def _hash_missing(self, held: Any) -> None:
        held["proof"].pop(self._random.randrange(len(held["proof"])))

    def _hash_foreign(self, held: Any) -> None:
        place = self._random.randrange(len(held["proof"]))
        held["proof"][place] = self._random.choice(self._random.choice(self._files)["proof"])

    def _renamed(self, held: Any) -> None:
        held[self._random.choice(("shoe", "round"))] = self._random.choice((0, 2, 3, 4, None, "2", 1))


@pytest.fixture(scope="module")
def forger(royal9: Path, tmp_path_factory: pytest.TempPathFactory) -> Forger:
    """A forger of the evidence of one round. The round's journal has two cosigned checkpoints, and one of them is older
    than the round."""
    table, path = _sugarhouse(), tmp_path_factory.mktemp("forged") / "table.journal"
    with closing(Journal(path, table.rules.table, KEY, KEY.public)) as journal:
        journal.append(table.entries[:9])
        early = journal.checkpoint().cosigned("pit", PIT, PIT.public, 1764111000)
        journal.append(table.entries[9:])
    files = [evidence(_signed(path), f"1/{number}") for number in (2, 1, 3)] + [evidence(royal9, "1/1")]
    good, *others = files
    assert refusal(good, fingerprint(KEY.public), fingerprint(PIT.public)) is None
    return Forger(good, others, [str(early), json.loads(files[3])["checkpoint"]], seed=30)


def _believed(forger: Forger, count: int) -> list[str]:
    """Try `count` forgeries, and return the names of those that the verifier accepts.

    The verifier knows the table's key and the pit's key.
    """
    keys = fingerprint(KEY.public), fingerprint(PIT.public)
    kinds = [forger.kinds[number % len(forger.kinds)] for number in range(count)]
    return [kind.__name__ for kind in kinds if refusal(forger.forged(kind), *keys) is None]


def test_a_hundred_forgeries_of_every_kind_are_refused(forger: Forger) -> None:
    assert _believed(forger, 104) == []


@pytest.mark.proof
def test_ten_thousand_forgeries_are_refused(forger: Forger, figure: Callable[[str], None]) -> None:
    assert _believed(forger, 10_000) == []
    figure(f"10,000 forgeries of a file of evidence, of {len(forger.kinds)} kinds, one or two at once: refused")


def _disputed(folder: Path, pit: SigningKey) -> Path:
    """Make the table of the example in the documentation's page on evidence. Return the path of the table's file.

    The example is a dispute about round 3/12. The table's journal holds this round, and the pit has cosigned the
    journal. The report of the machine's setup is in the folder too.
    """
    told = TABLE_FILE.read_text("utf-8").replace("/var/lib/table-controller", str(folder))
    (folder / "table.toml").write_text(told.replace("../games", str(TABLE_FILE.parents[1] / "games")), "utf-8")
    config = load(folder / "table.toml")
    key = load_or_make_key(Path(config.file.journal.signing_key))
    table = Recorded().believe(PitKeyPinned(pit.public.hex(), "Ann Lee")).burned()
    for _ in range(2):
        table.lock().round("7D 2C 2H 6S")
        table.believe(ShoeResultReported(ShoeResult.PLAYER, False, False, table.report(b"G\x90")))
        table.new_shoe_by_supervisor()
        table.believe(table.card(Target.FIRST_CARD, 0, "AD"), table.card(Target.BURN, 1, "3C"))
    for suit in "SHDCSHDCSHD":
        table.lock().round(f"8{suit} 2{suit} K{suit} 5{suit}")
    table.lock().round("KS 2D 9S 3D")
    with closing(Journal(Path(config.file.journal.path), table.rules.table, key, key.public)) as journal:
        journal.append(table.entries)
        note = journal.checkpoint()
        journal.keep_cosigned(journal.tree_size, note.cosigned("pit", pit, pit.public, 1764111600))
    made = made_report(config, "Ann Lee", {}, None, ())
    (folder / "REPORT").write_text(page(made, Path(config.file.journal.signing_key)), "utf-8")
    return folder / "table.toml"


def test_the_page_on_evidence_leads_from_the_dispute_to_the_verdict(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    figure: Callable[[str], None],
) -> None:
    """The commands on the documentation's page about evidence work as written.

    The first commands run at the table and at the pit. The others run in a folder with two files only, as on the
    computer of a stranger who has nothing else of the table.
    """
    text = (ROOT / "docs" / "evidence.md").read_text("utf-8").partition("## What the file is")[0]
    lists, shows, judges, judges_both = re.findall(r"^ +\$ (.+)$", text, re.MULTILINE)
    setup, at_pit = re.findall(r"`(tablectl setup --verify REPORT|sudo pitctl key)`", text)
    (line,) = re.findall(r"^ +\S+Z +\d+ (shoe 3 .+)$", text, re.MULTILINE)
    here, there = tmp_path / "table", tmp_path / "stranger"
    here.mkdir()
    there.mkdir()
    Ledger(here / "ledger").close()
    pit = load_or_make_key(here / "ledger.key")
    monkeypatch.setenv("LEDGER", str(here / "ledger"))
    monkeypatch.setenv(VARIABLE, str(_disputed(here, pit)))
    monkeypatch.chdir(here)
    begun_s = perf_counter()
    listed, _, signed = (said(capsys, *shlex.split(command)[1:]) for command in (lists, shows, setup))
    assert line in [each.split(maxsplit=2)[2] for each in listed]
    (key,) = re.findall(r"Signed with the key ([0-9a-f ]+)\.", signed[0])
    assert pitctl(shlex.split(at_pit)[2:]) == 0
    pit_key = capsys.readouterr().out.strip()
    (there / "verify.py").write_bytes(_TOOL.read_bytes())
    for command in (judges, judges_both):
        program, *words = shlex.split(command.replace("TABLE KEY", key).replace("PIT KEY", pit_key))
        shutil.copy(here / words[1], there)
        assert program == "python3"
        verdict = subprocess.run([sys.executable, *words], cwd=there, capture_output=True, text=True, check=True).stdout
        assert "deal Player KS 9S, Banker 2D 3D: player" in verdict
        assert f"The pit cosigned it at 2025-11-25 23:00:00 UTC, with the key {pit_key}" in verdict
        assert verdict.endswith("ALL THAT IS SHOWN HOLDS.\n")
    waited_s = perf_counter() - begun_s
    held = (there / words[1]).read_bytes()
    assert refusal(held, key[::-1]) == f"Another key signed this: {key}."
    assert refusal(held, key, key) == f"Another key cosigned this: {pit_key}."
    read_min = (len(text.split()) + len(verdict.split())) / _WORDS_A_MINUTE
    assert read_min < 5, "half of the ten minutes: the rest is for the people"
    figure(
        f"from the dispute to the verdict: six commands in {waited_s:.1f} s, and the page's walk with the verdict's"
        f" sentences in {read_min:.1f} min at {_WORDS_A_MINUTE} words a minute"
    )


def test_what_a_film_shows_is_this_checkpoint_or_the_evidence_is_refused(royal9: Path, sugarhouse: bytes) -> None:
    held = json.loads(evidence(royal9, "1/1"))
    note = read_note(held["checkpoint"])
    assert note is not None
    frame = note.framed()
    told = VERIFY.judge(evidence(royal9, "1/1"), frame=frame)
    assert [each for each in told if each.startswith("The film of the table's screen shows this checkpoint")]
    for other in (f"{frame} ", frame.replace(" ", "  ", 1), frame[:-2] + "==", frame.replace("/", "x", 1), ""):
        assert refusal(evidence(royal9, "1/1"), None, None, None, other) is not None, other
    assert (refusal(sugarhouse, None, None, None, frame) or "").startswith("The film shows another checkpoint")


def test_evidence_is_in_the_checkpoint_that_a_film_shows_where_the_journal_has_it(tmp_path: Path) -> None:
    path = _royal9(tmp_path)
    with closing(Journal(path, _table(path), KEY, KEY.public)) as journal:
        journal.checkpoint()
        size = journal.tree_size
        later = evidence(path, "1/1")
        older = journal.note_at(size - 1)
        assert older is not None
        first = journal.note_at(3)
        assert first is not None
        forged = signed_checkpoint(journal.origin, Edge(1, (bytes(32),)), KEY, KEY.public)
    frame = older.framed()
    held = evidence(path, "1/1", frame=frame)
    assert refusal(held, None, None, None, frame) is None
    assert json.loads(held)["checkpoint"] != json.loads(later)["checkpoint"]
    made_up = signed_checkpoint(f"{journal.origin}x", Edge(1, (bytes(32),)), KEY, KEY.public)
    greater = signed_checkpoint(journal.origin, Edge(1 << 20, (bytes(32),)), KEY, KEY.public)
    for code, wrong in (
        ("frame_unreadable", ""),
        ("frame_unreadable", "not a frame at all"),
        ("frame_unreadable", str(older).replace("\n\n", "\n")),
        ("frame_foreign", made_up.framed()),
        ("frame_foreign", frame.replace(str(size - 1), str(size))),
        ("frame_uncovered", first.framed()),
        ("frame_uncovered", greater.framed()),
        ("frame_unfit", forged.framed()),
    ):
        with raising(code):
            evidence(path, "1/1", frame=wrong)


def test_evidence_comes_out_of_archives_and_waits_for_a_checkpoint(tmp_path: Path) -> None:
    path = _royal9(tmp_path)
    with raising("checkpoint_due"):
        evidence(path, "1/1")
    with closing(Journal(path, _table(path), KEY, KEY.public)) as journal:
        journal.mark_acked(journal.head_seq)
        assert archive_all(journal, 0, 50)
        journal.checkpoint()
    assert refusal(evidence(path, "1/1")) is None
    with raising("no_such_round"):
        evidence(path, "2/2")


def test_a_running_table_signs_at_the_end_of_a_round_and_its_round_becomes_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A running table signs a checkpoint at the end of a round, and the round's evidence can then be made.

    The verifier reads this file and refuses it at the first frame, because this test's shoe has made-up frames.
    """

    async def play() -> Path:
        async with running(tmp_path) as world:
            await world.open_shoe()
            await world.play_hit()
            await eventually(lambda: world.journal.last_note("signed") is not None)
            return Path(world.config.file.journal.path)

    journal = run_daemon(play())
    assert main(["evidence", str(journal), "1/1", "-o", str(tmp_path / "file")]) == 0
    assert "Check it with tools/verify.py" in capsys.readouterr().out
    assert refusal((tmp_path / "file").read_bytes()) == "A frame of the shoe tells None, and its row tells KS."


HEAD_OFFICE = SigningKey(bytes([8] * 32))


def witnessed(data: bytes, *witnesses: tuple[str, SigningKey], seconds: int = 1764111600) -> bytes:
    """Return the evidence with its checkpoint signed by the table and by exactly these witnesses, at the Unix time
    `seconds`."""
    held = json.loads(data)
    note = read_note(held["checkpoint"])
    assert note is not None
    own = Note(note.text, note.signatures[:1])
    for name, key in witnesses:
        own = own.cosigned(name, key, key.public, seconds)
    return canonical(held | {"checkpoint": str(own)})


def test_head_office_as_a_second_witness_is_judged_by_its_own_key_alone(sugarhouse: bytes) -> None:
    keys = (fingerprint(KEY.public), fingerprint(PIT.public), HEAD_OFFICE.public.hex())
    both = witnessed(sugarhouse, ("pit", PIT), ("head-office", HEAD_OFFICE))
    assert refusal(both, *keys) is None
    told = "\n".join(VERIFY.judge(both, *keys))
    said = "The head-office cosigned it at 2025-11-25 23:00:00 UTC, with the key"
    assert f"{said} {fingerprint(HEAD_OFFICE.public)}: the journal only grew." in told
    lacks = "Nobody cosigned this checkpoint as"
    assert refusal(witnessed(sugarhouse), *keys) == f"{lacks} head-office and pit."
    assert refusal(sugarhouse, *keys) == f"{lacks} head-office.", "the pit alone"
    assert refusal(witnessed(sugarhouse, ("head-office", HEAD_OFFICE)), *keys) == f"{lacks} pit.", "head office alone"
    unknown = "Nobody whom this file names signed as head-office."
    assert refusal(both, *keys[:2], PIT.public.hex()) == unknown, "whose key is another"
    poses = witnessed(sugarhouse, ("pit", PIT), ("head-office", PIT))
    assert refusal(poses, *keys) == unknown, "the pit poses"
    assert refusal(witnessed(sugarhouse, ("pit", HEAD_OFFICE)), *keys) == "Nobody whom this file names signed as pit."
    later = json.loads(witnessed(sugarhouse, ("pit", PIT)))
    again = json.loads(both)["checkpoint"].splitlines()[-1]
    moved = later["checkpoint"] + again.replace("head-office", "pit") + "\n"
    assert refusal(canonical(later | {"checkpoint": moved}), *keys) == "Nobody whom this file names signed as pit."


def test_the_moment_of_a_cosignature_is_told_as_a_date_where_it_is_one(sugarhouse: bytes) -> None:
    """The verifier prints the time of a witness's signature as a date in UTC, through the year 9999.

    A number that is no such date is not printed as a time.
    """
    for seconds, date in ((0, "1970-01-01 00:00:00 UTC"), (253402300799, "9999-12-31 23:59:59 UTC")):
        told = VERIFY.judge(witnessed(sugarhouse, ("pit", PIT), seconds=seconds))
        assert any(f"The pit cosigned it at {date}, with the key" in each for each in told), date
    for seconds in (253402300800, 2**64 - 1):
        unread = refusal(witnessed(sugarhouse, ("pit", PIT), seconds=seconds)) or "holds"
        assert unread.startswith("What the file says cannot be read"), seconds


def test_head_offices_line_is_not_judged_without_its_key_and_shows_nothing(sugarhouse: bytes) -> None:
    said = "Head office is said to have cosigned it. Its key was not given, so that is not judged."
    alone = "that the table shows everybody the same journal is not shown here."
    for key in (HEAD_OFFICE, PIT):
        assert said in VERIFY.judge(witnessed(sugarhouse, ("pit", PIT), ("head-office", key)), fingerprint(KEY.public))
        told = VERIFY.judge(witnessed(sugarhouse, ("head-office", key)), fingerprint(KEY.public))
        assert said in told
        assert any(alone in each for each in told)
    assert said not in VERIFY.judge(sugarhouse)


MISTYPED = (HEAD_OFFICE.public.hex()[1:], f"{HEAD_OFFICE.public.hex()} ", "g" * 64, "é" * 64)


@pytest.mark.parametrize("typed", [*MISTYPED, ""])
def test_a_mistyped_key_of_head_office_is_not_blamed_on_the_file(sugarhouse: bytes, typed: str) -> None:
    both = witnessed(sugarhouse, ("pit", PIT), ("head-office", HEAD_OFFICE))
    assert refusal(both, None, None, typed) == "Head office's key must be given as 64 of the digits 0-9 and a-f."


def test_a_cosignature_of_another_checkpoint_does_not_count_for_this_one(royal9: Path, sugarhouse: bytes) -> None:
    keys = (fingerprint(KEY.public), None, HEAD_OFFICE.public.hex())
    other = json.loads(witnessed(evidence(royal9, "1/1"), ("head-office", HEAD_OFFICE)))["checkpoint"]
    line = other.splitlines()[-1]
    held = json.loads(witnessed(sugarhouse))
    replayed = canonical(held | {"checkpoint": f"{held['checkpoint']}{line}\n"})
    assert refusal(replayed, *keys) == "The head-office did not sign this."


def test_evidence_is_in_the_checkpoint_that_head_office_cosigned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _royal9(tmp_path)
    with closing(Journal(path, _table(path), KEY, KEY.public)) as journal:
        first = journal.checkpoint().cosigned("head-office", HEAD_OFFICE, HEAD_OFFICE.public, 1764111600)
    note, held = tmp_path / "north.note", tmp_path / "held"
    note.write_text(str(first), "utf-8")
    assert main(["evidence", str(path), "1/1", "--cosigned", str(note), "-o", str(held)]) == 0
    assert json.loads(held.read_bytes())["checkpoint"] == str(first)
    assert refusal(held.read_bytes(), fingerprint(KEY.public), None, HEAD_OFFICE.public.hex()) is None
    for copied in (f"\n{first}", f"{first}\n", str(first).rstrip("\n")):
        note.write_text(copied, "utf-8")
        assert main(["evidence", str(path), "1/1", "--cosigned", str(note), "-o", str(held)]) == 0, "copied by hand"
    note.write_text(str(first).replace("head-office", "head office"), "utf-8")
    assert main(["evidence", str(path), "1/1", "--cosigned", str(note), "-o", str(held)]) == 1
    assert "frame_unreadable" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["evidence", str(path), "1/1", "--cosigned", str(tmp_path / "none"), "-o", str(held)])
