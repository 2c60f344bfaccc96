"""Makes the examples in the document of the contract between table and pit: messages that a table, the reference pit
and bet recognition really send.

Three tables play, and the pit commits the events of the first. Keys, epochs and times are fixed, so that the examples
come out the same every time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from controller.basics.digest import digest
from controller.contract.canonical import canonical
from controller.contract.envelope import CONTRACT_VERSION, Stamp, chain_head, seal
from controller.contract.events import Event
from controller.contract.keys import SigningKey
from controller.contract.pit_words import MeasureWord, MetersWord, PitKeyWord, Rotation
from controller.contract.state import offline_state
from controller.contract.wager_words import WagerWord, refused_wager
from controller.daemon.record.fact_json import fact_to_json
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.settings import default
from controller.rules.game.play import Call
from controller.rules.game.wagers import Wager
from controller.table.acts.corrections import CorrectRound, CorrectSeatsRound
from controller.table.acts.entry import Ambient
from controller.table.acts.itself import HitTest
from controller.table.acts.pit import SeeAward, SeeWin
from controller.table.acts.rounds import LockWagers, MakeCall, OddCardFate, TellOddCard
from controller.table.acts.seats import CollectCommission, PlaceWager, ResetHits
from controller.table.acts.shoe import CloseShoe, InspectShoe, ReconcileShoe
from controller.table.facts import AwardStepped, Fact, HitUnheard, ToldMeters
from controller.table.rules import TableRules
from tests.support.contract import check_event
from tests.support.ledgers import meet, unheard_steps
from tests.support.tables import LUCKY9, ROYAL9, SUGARHOUSE, TableUnderTest, cards
from tests.support.trees import Log

KEY = SigningKey(bytes(range(32)))
PIT_KEY = SigningKey(bytes(range(32, 64)))
_FORMER_PIT_KEY = SigningKey(bytes(range(64, 96)))
_BEGAN_MS = 1_767_204_000_000
_PIT_AT = "2025-12-31T18:03:00.000Z"
_BEGAN_AT = "2025-12-31T18:00:00.000Z"
_PIT_SEQ = 1_767_204_180_000  # the reference pit numbers by the clock
_SEEN = Stamp(_BEGAN_MS + 21_000, synchronised=True)
_EPOCH = "7c0f19a2be"
_NONCE = "9f3c1a7e5b2d4086" * 4
_BOOT = 3
_VERSION = "1.0.0"
_PROGRAM = hashlib.sha256(b"the program").hexdigest()
_DIGEST = hashlib.sha256(b"royal9-01.toml").hexdigest()


class SpeakingTable(TableUnderTest):
    """A table for examples. Its events are signed and chained by hashes, as a real table's journal does it. `bodies`
    holds the bytes of the events."""

    def __init__(self, rules: TableRules, epoch: str, levels: Mapping[str, int] | None = None) -> None:
        self._levels = dict(levels or {})
        self._epoch = epoch
        self.bodies: list[bytes] = []
        super().__init__(rules)

    @property
    def ambient(self) -> Ambient:
        word = MetersWord(_PIT_SEQ - 180_000, _BEGAN_AT, self._levels)
        signature = json.loads(word.payload(PIT_KEY))["signature"]
        told = ToldMeters(word.seq, word.at, word.win, signature, 740)
        return replace(super().ambient, levels=self._levels, told=told, config_digest=_DIGEST, version=_VERSION)

    def _journal(self, fact: Fact, made: tuple[Event, ...]) -> None:
        self.facts = getattr(self, "facts", 0) + 1
        stamp = Stamp(_BEGAN_MS + 7_250 * self.facts, synchronised=True)
        first = len(self.bodies) + 1
        bodies = [
            seal(event, self.rules.table, self._epoch, first + place, stamp, self._head, KEY)
            for place, event in enumerate(made)
        ]
        self.bodies += bodies
        self.events += [check_event(body) for body in bodies]
        salt = hashlib.sha256(b"%d" % self.facts).digest()[:16]
        self._head = chain_head(self._head, fact_to_json(fact), bodies, salt)


@cache
def examples() -> dict[str, tuple[dict[str, Any], ...]]:
    """Return the example payloads of each message of the contract, by the message's name in the AsyncAPI document."""
    royal9, state, pit = _evening()
    known, wager, refused = _hand_with_known_wagers()
    of_seats = _hand_of_seats()
    return {
        **{event["type"]: (event,) for event in royal9.events},
        "wagers_locked": (royal9.of_type("wagers_locked")[0], *known.of_type("wagers_locked")),
        "round": (royal9.of_type("round")[0], *known.of_type("round")),
        "round_of_seats": tuple(of_seats.of_type("round")),
        "hit": tuple(royal9.of_type("hit")),
        "correction_of_seats": tuple(of_seats.of_type("correction")),
        "commission": tuple(known.of_type("commission")),
        "state_online": (state,),
        "state_offline": (json.loads(offline_state(ROYAL9.table, _EPOCH, _BOOT)),),
        **pit,
        "wager": (wager,),
        "wager_refused": (refused,),
    }


def _evening() -> tuple[SpeakingTable, dict[str, Any], dict[str, tuple[dict[str, Any], ...]]]:
    """Play a shoe in which much happens. Returns three values: the table, its state message in the middle of the shoe,
    and the messages of the reference pit by name."""
    with TemporaryDirectory() as folder, closing(Ledger(Path(folder) / "pit.ledger")) as ledger:
        ledger.set_terms(default().meters)
        ledger.serve()
        ledger.adopt(ROYAL9.table, _EPOCH, KEY.public.hex())
        table = SpeakingTable(ROYAL9, _EPOCH, ledger.levels()).open_shoe()
        table.lock(1, 2).draw("2S KH 3D 9H")  # Banker's King and 9 of hearts: seat 2's own
        state = _state(table)
        _commit(ledger, table)
        meet(ledger, ROYAL9.table, canonical(state), adopt_new=False)  # so that it is heard to its head
        (award, *_) = ledger.awards()
        ledger.take_step(award.id, "verified", "Ann Lee")
        ledger.take_step(award.id, "paid", "Cas Ong")
        steps = [
            json.loads(replace(step, at=_PIT_AT, seq=_PIT_SEQ + place).payload(PIT_KEY))
            for place, step in enumerate(unheard_steps(ledger, ROYAL9.table))
        ]
        of_award = [step for step in steps if step["award"] == award.id]
        for step in of_award:
            said = {name: value for name, value in step.items() if name not in ("table", "at", "signature")}
            table.do(SeeAward(AwardStepped(**said, shoe=award.shoe, round=award.round, spot=award.spot)))
        told = ledger.win_after(None)
        assert told is not None, "a meter was won"
        win = replace(told, seq=_PIT_SEQ, at=_PIT_AT)
        table.do(SeeWin(replace(win, award="royal9-02.1", table="royal9-02"), True, _PIT_SEQ))
        table.do(ResetHits(2, "Smith")).lock(3).draw("KD 2S 9D").void().do(HitTest(3, "Smith"))
        table.lock().draw("4S ??").name("TH").draw("5D 9C").draw("7C").do(TellOddCard(OddCardFate.BURN, "dealer"))
        table.do(CorrectRound(3, tuple(cards("4S 5D")), tuple(cards("TH 8C")), "Smith", "Jones"))
        table.believe(HitUnheard(4)).do(InspectShoe("AE-22314", "4.17", "Smith"))
        table.do(CloseShoe("Smith"), ReconcileShoe(tuple(cards("KS 9H")), "Smith"))
        rotation = Rotation.by(_FORMER_PIT_KEY.public.hex(), _FORMER_PIT_KEY, PIT_KEY.public.hex())
        pit = {
            "ack": (_commit(ledger, table),),
            "award_step": (of_award[0], of_award[-1]),
            "meters": (json.loads(MetersWord(_PIT_SEQ, _PIT_AT, ledger.levels(), win).payload(PIT_KEY)),),
            **_witnessed(ledger, table),
            "measure": (json.loads(MeasureWord(ROYAL9.table, _EPOCH, _NONCE, _PIT_AT).payload(PIT_KEY)),),
            "pit_key": (json.loads(PitKeyWord(PIT_KEY.public.hex(), _PIT_AT, (rotation,)).payload(PIT_KEY)),),
        }
    return table, state, pit


def _commit(ledger: Ledger, table: SpeakingTable) -> dict[str, Any]:
    """Let the pit commit all events of the table, and return the pit's acknowledgement."""
    received = ledger.receive([(ROYAL9.table, body) for body in table.bodies])
    assert not received.refused
    ack: dict[str, Any] = json.loads(received.acks[ROYAL9.table].payload(ROYAL9.table, _PIT_AT, PIT_KEY))
    return ack


def _witnessed(ledger: Ledger, table: SpeakingTable) -> dict[str, tuple[dict[str, Any], ...]]:
    """Show the pit two checkpoints (signed summaries of the journal) of the table. Returns the second checkpoint, and
    the pit's signature of it."""
    log = Log(f"{ROYAL9.table}/{_EPOCH}", KEY, table.facts)
    said: dict[str, tuple[dict[str, Any], ...]] = {}
    for shown in (log.shown(21), log.shown(table.facts, 21)):
        answers, alarms = ledger.witness.judge_all([(ROYAL9.table, shown)], (), PIT_KEY, _SEEN.at_ms // 1000)
        assert not alarms
        said = {
            "checkpoint": (json.loads(shown),),
            "cosigned": (json.loads(answers[ROYAL9.table].payload(ROYAL9.table, _PIT_AT, PIT_KEY)),),
        }
    return said


def _state(table: SpeakingTable) -> dict[str, Any]:
    """Return the table's state message as the daemon would send it. A test compares this message with the state message
    of a running table."""
    face, (*_, last) = table.face, table.events
    return {
        "online": True,
        "table": last["table"],
        "epoch": last["epoch"],
        "boot": _BOOT,
        "contract": CONTRACT_VERSION,
        "version": _VERSION,
        "program_digest": _PROGRAM,
        "config_digest": _DIGEST,
        "digest": digest(_PROGRAM, _DIGEST),
        "public_key": KEY.public.hex(),
        "phase": face.phase,
        "shoe": face.shoe,
        "round": face.round,
        "next_round": face.next_round,
        "fault": None,
        "links": {"shoe": True, "journal": True},
        "meters": ["banker_personal", "personal_vs_personal", "player_personal"],
        "pit": "well",
        "head_seq": last["seq"],
        "unacknowledged": 3,  # the round and its two hits
        "oldest_unacknowledged_at": last["at"],
        "broker": "broker.pit:8883",
    }


def _hand_with_known_wagers() -> tuple[SpeakingTable, dict[str, Any], dict[str, Any]]:
    """Play a round whose wagers bet recognition reports. One wager is refused when it arrives, and another one when the
    wagers are locked. Banker wins, and commission is owed."""
    table = SpeakingTable(SUGARHOUSE, "41d86ab0c3").open_shoe()
    good, alone, odd = Wager(2, "banker", 2000), Wager(3, "dragon_banker", 500), Wager(5, "player", 2050)
    code = table.ask(PlaceWager(odd, "bet recognition"))
    assert code is not None
    table.do(PlaceWager(good, "bet recognition"), PlaceWager(alone, "bet recognition"), LockWagers())
    table.draw("5S 8H KD TC").do(CollectCommission(2, "Smith"))
    word = WagerWord(SUGARHOUSE.table, "41d86ab0c3", 1, 1, 2, "banker", 2000, False, _SEEN.at_ms, _SEEN.text())
    return table, json.loads(word.payload(KEY)), json.loads(refused_wager(odd, word.seq + 1, code))


def _hand_of_seats() -> SpeakingTable:
    """Play a round of Lucky 9 in which a seat splits its eights. A card of the seat's second hand is misread at first,
    and then corrected."""
    table = SpeakingTable(LUCKY9, "c95502e7d1").open_shoe()
    table.do(PlaceWager(Wager(3, "hand", 2000), "dealer"), LockWagers()).draw("8S 2H 8D 9C")
    table.do(MakeCall(Call.SPLIT, "dealer")).draw("KS QS").do(MakeCall(Call.REVEAL, "dealer")).draw("TC")
    hands = {3: tuple(tuple(cards(hand)) for hand in ("8S KS", "8D 3S"))}
    return table.do(CorrectSeatsRound(1, hands, tuple(cards("2H 9C TC")), "Smith", "Jones"))
