"""Every decoder of the table and of the reference pit, prepared for the fuzzer: with good inputs, and with checks of
the decoder's output."""

from __future__ import annotations

import contextlib
import json
import random
import re
import tempfile
from contextlib import closing, redirect_stderr
from functools import partial
from io import StringIO
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from controller.contract.bounds import MOST_WAGER_CENTS, NAME
from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import Stamp
from controller.contract.keys import SigningKey
from controller.contract.pit_words import STEPS, AckWord, AwardStep, MetersWord, PitKeyWord, Rotation
from controller.contract.wager_words import WagerWord
from controller.daemon.config import load
from controller.daemon.control.server import parse as parse_request
from controller.daemon.delivery.guarantee import Behind, Delivery
from controller.daemon.delivery.levels import Levels
from controller.daemon.delivery.pit_log import compare
from controller.daemon.delivery.pit_trust import Offer, PitTrust
from controller.daemon.record.fact_json import fact_from_json, fact_to_json
from controller.daemon.script import ScriptTable
from controller.people.cli.programs import EXAMPLE_TABLE
from controller.pit.reference import settings as pit_settings
from controller.pit.reference.incoming import read_event
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.service import Pit
from controller.rules.game.cards import Card
from controller.rules.game.wagers import Wager
from controller.table.acts.entry import BadArgumentError
from controller.table.acts.seats import ActivesChosen, WagerPlaced
from controller.table.facts import (
    AwardStepped,
    CardDrawn,
    Fact,
    JournalFoundBehindPit,
    ProgressiveWagers,
    Report,
    ShoeOpened,
    ShoeResult,
    ShoeResultReported,
    WagerSeen,
    WagersLocked,
)
from controller.table.facts import Target as Place
from drivers import shoe as shoes
from drivers.line.bad_bytes import BadBytes
from drivers.line.brand import Answered
from drivers.sim.shoe import maker
from tests.daemon.test_pit_log import FACTS as LOG_FACTS
from tests.daemon.test_pit_log import write_journal
from tests.fuzz.fuzzing import Target, chunks

CONFIG = EXAMPLE_TABLE.parents[1]
SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"

_MOST_CENTS = 10**12
_MOST_SEQ = 2**63 - 1


# The shoes.


def _heard(brand: str, data: bytes) -> None:
    """Decode bytes as if they came from a shoe of this brand. Check that the decoder counts no byte as bad twice, and
    that every decoded fact can be written to the journal and read back."""
    codec, bad = shoes.brand(brand).codec(None), 0
    for piece in chunks(data, random.Random(len(data))):
        for heard in codec.feed(piece):
            match heard:
                case BadBytes(_, count):
                    bad += count
                case Answered(_, count):
                    bad += count
                case fact:
                    _journalled(fact)
    assert bad <= len(data)


class _Paper:
    """A stand-in for a serial line that keeps every message written to it."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def listen(self, heard: object) -> None:
        pass


def _sent(brand: str) -> list[bytes]:
    """Return the messages that a simulated shoe of this brand sends."""
    line = _Paper()
    shoe = maker(brand)(line)
    shoe.power_up()
    for card in ("AS", "KH", "TD", "9C"):
        shoe.draw(card)
    shoe.cut_card()
    return line.written


def _journalled(fact: Fact) -> None:
    """Check that the fact is unchanged after it was written as JSON and read back."""
    assert fact_from_json(fact_to_json(fact)) == fact


# What comes over the network.


def _ack(data: bytes) -> None:
    ack = AckWord.read(parse_object(data))
    if ack is not None:
        assert ack.seq >= 0
        delivery = Delivery(ack.epoch, 0, 7, 10.0)
        delivery.connected()
        behind = delivery.acked(ack, "00" * 32, 1.0)
        if isinstance(behind, Behind):
            _journalled(JournalFoundBehindPit(behind.acked_seq, behind.head_seq, behind.chain_differs, behind.at))
        assert delivery.acked_seq <= 7


def _award(data: bytes) -> None:
    said = AwardStep.read(parse_object(data))
    if said is not None:
        assert 1 <= said.seq <= _MOST_SEQ
        assert 0 <= said.cents <= _MOST_CENTS
        assert said.step in STEPS
        for text in (said.award, said.hit, said.tier, said.meter or "none", said.by):
            assert text.isprintable(), text
        _journalled(
            AwardStepped(
                said.seq,
                said.award,
                said.hit,
                1,
                1,
                "royal9",
                said.seat,
                said.tier,
                said.meter,
                said.cents,
                said.step,
                said.by,
            )
        )


def _wager(data: bytes) -> None:
    word = WagerWord.read(parse_object(data))
    if word is not None:
        wager = word.wager
        assert NAME.fullmatch(wager.spot)
        assert 0 <= wager.cents <= MOST_WAGER_CENTS
        _journalled(WagerSeen(wager, word.seq, word.shoe, word.round, "wager_other_round"))


def _meters(data: bytes) -> None:
    levels = Levels({"player_personal"}, 10.0)
    said = MetersWord.read(parse_object(data))
    if said is not None and levels.heard(said, 1.0, Stamp(_NOW_MS, synchronised=True)) is None:
        assert all(0 <= cents <= _MOST_CENTS for cents in levels.cents.values())
        _journalled(WagersLocked("dealer", (ProgressiveWagers("royal9", (1,)),), levels=levels.cents))
        assert len(canonical({"levels": levels.cents})) < 10_000


_PIT_KEYS = [SigningKey(bytes([place]) * 32) for place in range(3)]


def _pit_key(data: bytes) -> None:
    """Offer bytes to the table as the pit's next key. Check that the table trusts a new key only if its pinned key has
    signed the handover."""
    former, pinned, rotated = _PIT_KEYS
    trust = PitTrust(pinned.public)
    offer = trust.offer(data, present=True)
    assert trust.pinned == (rotated.public if offer is Offer.ROTATED else pinned.public)
    assert offer is not Offer.UNPINNED
    assert trust.offered in (None, former.public, pinned.public, rotated.public), "each signed its own word"


def _key_word(key: SigningKey, *rotations: Rotation) -> bytes:
    return PitKeyWord(key.public.hex(), "2025-06-15T12:00:00.000Z", rotations).payload(key)


def _pit_event(data: bytes) -> None:
    event = read_event("royal9-01", data)
    assert canonical(event.message) == data


def _committed() -> tuple[list[bytes], bytes]:
    """Return the events of a sample journal as a list of bytes, and the bytes of the journal's file."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "journal")
        return write_journal(journal, LOG_FACTS), journal.read_bytes()


_COMMITTED, _JOURNAL = _committed()


def _pit_log(data: bytes) -> None:
    """Compare a log of events, given as bytes, with a sample journal. Check that a log which passes holds exactly the
    journal's events, beginning with the first."""
    with tempfile.TemporaryDirectory() as folder:
        journal, log = Path(folder, "journal"), Path(folder, "log")
        journal.write_bytes(_JOURNAL)
        log.write_bytes(data)
        events = compare(journal, log)
    lines = [line for line in data.split(b"\n") if line.strip()]
    assert events == len(lines) > 0
    assert [canonical(json.loads(line)) for line in lines] == _COMMITTED[:events]


class _Wire:
    """A stand-in for an MQTT client that has only the methods that the pit uses."""

    def __init__(self) -> None:
        self.said: dict[str, bytes] = {}

    def publish(self, topic: str, payload: bytes, **_: object) -> SimpleNamespace:
        self.said[topic] = payload
        return SimpleNamespace(mid=len(self.said))


def _pit_state(data: bytes) -> None:
    """Give the bytes to the pit as a table's state, once for an adopted table and once for a table that the pit does
    not know.

    Check that the adopted table stays as it was adopted. Check that the unknown table is adopted as the state says, or
    that the pit says why it is not.
    """
    wire: Any = _Wire()
    of_new = data.replace(b"royal9-01", b"royal9-02")
    with closing(Ledger(Path(":memory:"))) as ledger, redirect_stderr(StringIO()):
        ledger.adopt("royal9-01", _EPOCH, _PUBLIC_KEY)
        pit = Pit(ledger, "", 0, "pit", adopt_new=True, key=SigningKey(bytes(32)))
        pit._arrived += [("pit/royal9-01/state", data), ("pit/royal9-02/state", of_new)]
        pit._settle(wire)
        known, *new = ledger._db.execute("SELECT table_id, epoch, lower(hex(public_key)) FROM adoption ORDER BY number")
    told = {table: set(alarms) for table, alarms in pit._alarms.items()}
    assert known == ("royal9-01", _EPOCH, _PUBLIC_KEY)
    assert told.get("royal9-01", set()) <= {"state_malformed", "epoch_to_adopt", "epoch_of_another_key"}
    assert told.get("royal9-02", set()) <= {"state_malformed"}
    assert ("royal9-02" in told) + bool(new) + _says_goodbye(of_new) == 1, "one of the three"
    assert ("royal9-02" in pit._acks_due) == bool(new)
    if new:
        said = json.loads(of_new)
        assert said["online"] is True
        assert new == [(said["table"], said["epoch"], said["public_key"])]
        assert re.fullmatch("royal9-02 [a-z0-9]+ [0-9a-f]{64}", " ".join(new[0]))
    assert ("royal9-02" in pit._steps_due) == (bool(new) and said.get("boot") is not None), "what it may have missed"
    for refusal in pit._alarms.get("royal9-02", {}).values():
        raise refusal


def _says_goodbye(state: bytes) -> bool:
    try:
        said = json.loads(state)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("online") is False


# What people write.


def _request(data: bytes) -> None:
    with contextlib.suppress(BadArgumentError):
        parse_request(data)


def _table_file(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.toml")
        table.write_bytes(data.replace(b"../games/", str(CONFIG / "games").encode() + b"/"))
        load(table)


def _game_file(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table, game = Path(folder, "table.toml"), Path(folder, "game.toml")
        game.write_bytes(data)
        table.write_bytes(EXAMPLE_TABLE.read_bytes().replace(b"../games/royal9.toml", b"game.toml"))
        load(table)


def _pit_settings(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pit.toml")
        path.write_bytes(data)
        pit_settings.load(path)


_TABLES = [load(path) for path in sorted((CONFIG / "tables").glob("*.toml"))]


def _script(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    config = _TABLES[len(data) % len(_TABLES)]
    for outcome in ScriptTable(config).play(text):
        assert outcome if isinstance(outcome, bytes) else str(outcome)


# The journal.


def _fact(data: bytes) -> None:
    fact = fact_from_json(data)
    written = fact_to_json(fact)
    assert fact_to_json(fact_from_json(written)) == written


_WIRE = [b"1D\x81\xb8\x03", b"2G\xc3\x03", b"3R\x92\xc9\x03", b"4C\x03", b"5E\xc2\x03", b"6L\x81\x03", b"7M120030\x03"]
_EPOCH = "ab12cd"
_NOW_MS = 1_749_988_800_000
_AT = "2025-06-15T12:00:00.000Z"
_ROTATIONS = [Rotation.by(old.public.hex(), old, new.public.hex()) for old, new in pairwise(_PIT_KEYS)]
_WAGER = WagerWord("royal9-01", _EPOCH, 1, 1, 3, "tie", 500, True, 1, _AT)
_AWARD = AwardStep(
    award="royal9-01.1",
    hit=f"royal9-01/{_EPOCH}/7",
    table="royal9-01",
    seat=1,
    tier="player_personal",
    meter="player_personal",
    cents=250_000,
    step="pending",
    by="Smith",
    at=_AT,
    seq=1,
)
_EVENT = {
    "id": f"royal9-01/{_EPOCH}/1",
    "contract": 1,
    "type": "alarm",
    "table": "royal9-01",
    "epoch": _EPOCH,
    "seq": 1,
    "chain": "00" * 32,
}
_PUBLIC_KEY = "0123456789abcdef" * 4
_STATE = {"online": True, "table": "royal9-01", "epoch": _EPOCH, "public_key": _PUBLIC_KEY, "boot": 1, "contract": 1}
_STATES = [
    _STATE,
    _STATE | {"epoch": "beef"},
    _STATE | {"public_key": "00" * 32},
    {"online": False, "table": "royal9-01", "epoch": _EPOCH, "boot": 1, "contract": 1},
]
_REQUESTS: list[dict[str, object]] = [
    {"do": "status"},
    {"do": "watch"},
    {"do": "new_shoe", "by": "Smith"},
    {"do": "cut_card"},
    {"do": "void", "by": "Smith"},
    {"do": "clear", "by": "Smith", "fault": "1-1"},
    {"do": "witness", "proposal": 1, "by": "Jones"},
    {"do": "pit_key", "trust": "ab12 cd34", "by": "Smith"},
    {"do": "close_shoe", "by": "Smith"},
    {"do": "lamp_test", "by": "Smith"},
    {"do": "odd_card", "fate": "burn", "by": "Smith"},
    {"do": "correct", "round": 1, "player": "KS 9S", "banker": "2D 3D", "by": "Smith"},
    {
        "do": "correct",
        "round": 1,
        "hands": [{"seat": 3, "cards": "8S KS"}, {"seat": 3, "cards": "8D QS"}],
        "dealer": "2D 3D",
        "by": "Smith",
    },
    {"do": "stand", "by": "Smith"},
    {"do": "seats", "seats": [1, 3], "by": "Smith"},
    {"do": "leave", "seat": 1, "by": "Smith"},
    {"do": "draw_actives", "by": "Smith"},
    {"do": "name_actives", "player": 1, "banker": 3, "by": "Smith"},
    {"do": "collect_commission", "seat": 1, "by": "Smith"},
    {"do": "reset_hit", "seat": 1, "by": "Smith"},
    {"do": "wager", "seat": 3, "back": False, "spot": "tie", "cents": 500, "by": "Smith"},
    {"do": "card", "card": "KS", "by": "Smith"},
]


def _frame(body: bytes) -> bytes:
    check = 0
    for byte in body:
        check ^= byte
    return b"\x05" + body + b"%02X" % check


def _facts() -> list[Fact]:
    from controller.rules.game.seating import Actives

    card = CardDrawn(Card.parse("KS"), Place.PLAYER, 1, Report(1, "053144"))
    wager = Wager(3, "tie", 500)
    return [
        card,
        ActivesChosen(Actives(1, 3), "lot"),
        ShoeResultReported(ShoeResult.TIE, True, False),
        WagerPlaced(wager, "Smith"),
        WagersLocked(
            "dealer", (ProgressiveWagers("royal9", (1,), (2,), "pit_stale"),), (wager,), (), (), {"player_personal": 5}
        ),
        *(ShoeOpened(1, "dealer", config.rules, config.digest, "1", carried=(card,)) for config in _TABLES),
    ]


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


_ODD_SCRIPTS = [
    b"!new-shoe 3H 8C KD 2S !deal " + b"KS 2D 3C 4H " * 1_000,
    *(b"!new-shoe 3H 8C KD 2S !wager " + b"9" * digits + b" royal9 500" for digits in range(5_000, 5_006)),
    b"!new-shoe " * 1_000,
]

_SAID = {
    "angel_eye": ([_frame(body) * 3 for body in _WIRE] + [b"\x06", b"\x1502"], _WIRE),
    "beetek": ([b"*0D21D7\r\n*0D0DE8\r\n", b"*1X00A9\r\n"], [b"*", b"\r\n", b"0D"]),
}
"""What a brand's shoe says and its parts, where that is more than a simulated shoe sends by itself."""

_HEX = b"0x" + b"f" * 4_000
_TOML = [b"=", b"[", b"]", b"[[seats]]\n", b'"""', b"'", b"2024-01-01", b"inf", b"0x1F", b"a.b.c = 1\n", b"3:2", b"| @"]

TARGETS = {
    target.name: target
    for target in (
        *(
            Target(brand, partial(_heard, brand), *_SAID.get(brand, (_sent(brand), [])), 1_000, 60, 400)
            for brand in shoes.NAMES
        ),
        Target(
            "ack", _ack, [AckWord("royal9-01", _EPOCH, seq, "00" * 32, _AT).payload(_PIT_KEYS[0]) for seq in (0, 5, 9)]
        ),
        Target("award", _award, [step.payload(_PIT_KEYS[0]) for step in (_AWARD, replace(_AWARD, meter=None))]),
        Target("wager", _wager, [_WAGER.payload(_PIT_KEYS[0])]),
        Target("meters", _meters, [MetersWord(4, _AT, {"player_personal": 5}).payload(_PIT_KEYS[0])]),
        Target("pit_key", _pit_key, [*map(_key_word, _PIT_KEYS), _key_word(_PIT_KEYS[2], *_ROTATIONS)]),
        Target("request", _request, [_json(request) for request in _REQUESTS]),
        Target("fact", _fact, [fact_to_json(fact) for fact in _facts()], lines=5_000),
        Target("pit_event", _pit_event, [canonical(_EVENT)]),
        Target("pit_state", _pit_state, [_json(state) for state in _STATES]),
        Target("pit_log", _pit_log, [b"\n".join(_COMMITTED), b" " + _COMMITTED[0]], longest=8_000),
        Target("pit_settings", _pit_settings, [(CONFIG / "pit.toml").read_bytes()], _TOML),
        Target(
            "table_file",
            _table_file,
            [path.read_bytes() for path in sorted((CONFIG / "tables").glob("*.toml"))],
            [*_TOML, _HEX],
            lines=40_000,
        ),
        Target(
            "game_file",
            _game_file,
            [path.read_bytes() for path in sorted((CONFIG / "games").glob("*.toml"))],
            [*_TOML, _HEX],
            lines=40_000,
        ),
        Target(
            "script",
            _script,
            [*(path.read_bytes() for path in sorted(SCRIPTS.glob("*.script"))), *_ODD_SCRIPTS],
            [b"KS ", b"?? ", b"CUT ", b"!deal ", b"!new-shoe ", b"!wager 1 royal9 500 ", b"!clear A ", b"!void A "],
            lines=10_000,
            lines_a_byte=400,
            longest=12_000,
        ),
    )
}
"""Every decoder, by its name."""
