"""Checks wagers that come over the network: each counts once, and only if it is signed with the bet recognition's key
that two people adopted.

The table raises an alarm about every other message. The adversary may publish on the table's topic: he holds the
broker's account `bets`, or controls the broker. He has every message that was ever sent, and can repeat messages, hold
them back and change their order. He has keys of his own, and perhaps a former key of bet recognition.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from controller.contract.bounds import MOST_AHEAD_MS, MOST_LEAP_MS, MOST_SEQ
from controller.contract.canonical import canonical
from controller.contract.envelope import Stamp
from controller.contract.face.status import Recognition as RecognitionTold
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import SigningKey
from controller.contract.signing import signed
from controller.contract.wager_words import WagerWord
from controller.daemon.clock import stamp_now
from controller.daemon.delivery import recognition_said as recognition_room
from controller.daemon.record.replay import replay
from controller.pit.reference.clock import now_text
from controller.rules.game.wagers import Wager
from controller.table.acts.itself import LampTest
from controller.table.acts.recognition import PinRecognitionKey
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.seats import PlaceWager
from controller.table.acts.shoe import NewShoe
from tests.daemon.daemon_world import RECOGNITION_KEY, World, running
from tests.support.waiting import eventually

THIEF = SigningKey(b"t" * 32)
KNOWN: dict[str, Any] = {"table": {"bet_recognition": True}}
TWENTY, FIFTY = Wager(2, "player", 2000), Wager(2, "player", 5000)
TAKEN_AWAY = Wager(2, "player", 0)


@dataclass
class Recognition:
    """The genuine bet recognition of one table. `said` holds the payloads of its messages, which an adversary can read
    too."""

    world: World
    key: SigningKey = RECOGNITION_KEY
    said: list[bytes] = field(default_factory=list)
    _seq: int = 0

    def word(self, wager: Wager, **changed: Any) -> WagerWord:
        """Return bet recognition's next message about this wager, for the table's present shoe and next round.
        `changed` replaces fields of the message."""
        state = self.world.broker.states()[-1].value
        now = stamp_now()
        self._seq = max(self._seq + 1, now.at_ms)
        face = self.world.runtime.face
        word = WagerWord(
            *(state["table"], state["epoch"], face.shoe or 1, face.next_round or 1),
            *(wager.seat, wager.spot, wager.cents, wager.back),
            *(self._seq, now.text()),
        )
        return replace(word, **changed)

    async def says(self, wager: Wager, **changed: Any) -> WagerWord:
        """Sign and send a message about this wager, and wait until the table has judged it. Return the message."""
        word = self.word(wager, **changed)
        self.said.append(word.payload(self.key))
        await arrives(self.world, self.said[-1])
        return word


async def arrives(world: World, *payloads: bytes) -> None:
    """Send these payloads on the table's wager topic, and wait until the table has judged them."""
    for payload in payloads:
        world.broker.say(payload, topic="pit/v1/royal9-01/wager")
    await world.settle()


def lying(world: World) -> list[tuple[int, str, int]]:
    """Return the chips that, as far as the table knows, lie on the felt: seat, spot and cents of each."""
    return [(each.seat, each.spot, each.cents) for each in world.runtime.face.wagers]


def answers(world: World) -> list[tuple[int, str]]:
    """Return the refusals that the table has sent to bet recognition: the number of each refused message, and the
    code."""
    told = [each.value for each in world.broker.published if each.topic.endswith("/wager-refused")]
    return [(each["seq"], each["code"]) for each in told]


def alarms(world: World) -> list[tuple[str, dict[str, Any]]]:
    """Return the code and details of each alarm among the table's events."""
    events = {event["seq"]: event for event in world.broker.events()}
    return [(event["code"], event["details"]) for event in events.values() if event["type"] == "alarm"]


FORGERS: dict[str, tuple[Callable[[WagerWord], bytes], str]] = {
    "no signature": (lambda word: unsigned(word), "unsigned"),
    "the word of before signatures": (lambda word: unsigned(word, "seq", "at"), "unsigned"),
    "no JSON": (lambda _: b"{", "unsigned"),
    "a thief's key": (lambda word: word.payload(THIEF), "other_key"),
    "a signature that is no text": (lambda word: canonical(parsed(word) | {"signature": 7}), "other_key"),
    "more chips than were signed": (lambda word: canonical(parsed(word) | {"cents": 5000}), "other_key"),
    "another seat": (lambda word: canonical(parsed(word) | {"seat": 3}), "other_key"),
    "a newer number": (lambda word: canonical(parsed(word) | {"seq": word.seq + 1}), "other_key"),
    "another round": (lambda word: canonical(parsed(word) | {"round": word.round + 1}), "other_key"),
    "another table's name": (lambda word: canonical(parsed(word) | {"table": "royal9-02"}), "other_key"),
}


def parsed(word: WagerWord) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(word.payload(RECOGNITION_KEY))
    return message


def unsigned(word: WagerWord, *without: str) -> bytes:
    return canonical({name: value for name, value in parsed(word).items() if name not in ("signature", *without)})


async def test_the_brokers_account_alone_stakes_nothing(tmp_path: Path) -> None:
    """Whoever holds only an account at the broker, and not bet recognition's key, can place no wager.

    The test sends every kind of forged message. None counts and none is answered. For each kind, one alarm is raised.
    """
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        for name, (forge, why) in FORGERS.items():
            before = world.status.recognition.not_believed.get(why, 0)
            await arrives(world, forge(recognition.word(TWENTY)))
            assert lying(world) == [], name
            assert world.status.recognition.not_believed[why] == before + 1, name
        assert answers(world) == []
        assert world.status.lamps["seat_2"] != "fast_blink"
        await eventually(
            lambda: (
                alarms(world)
                == [("wager_word_forged", {"why": "unsigned"}), ("wager_word_forged", {"why": "other_key"})]
            )
        )
        await recognition.says(TWENTY)
        assert lying(world) == [(2, "player", 2000)]


async def test_a_word_that_comes_again_puts_no_chips_back(tmp_path: Path) -> None:
    """A repeated wager message does not put back chips that were seen and then taken away.

    The first message comes a second time, from a slow broker or a thief.
    """
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        first = await recognition.says(TWENTY)
        await recognition.says(TAKEN_AWAY)
        await arrives(world, recognition.said[0], recognition.said[0])
        assert lying(world) == []
        assert answers(world) == [(first.seq, "wager_old")] * 2
        assert alarms(world) == [], "a broker may bring a message twice"


async def test_words_in_another_order_leave_the_latest(tmp_path: Path) -> None:
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        early, late = recognition.word(FIFTY), recognition.word(TWENTY)
        await arrives(world, late.payload(RECOGNITION_KEY), early.payload(RECOGNITION_KEY))
        assert lying(world) == [(2, "player", 2000)]
        assert answers(world) == [(early.seq, "wager_old")]


async def test_a_word_that_was_refused_or_said_nothing_new_never_counts_later(tmp_path: Path) -> None:
    """If a wager message was refused or said nothing new, it does not count when it is sent again, because its number
    is used up.

    The first sending was during a fault, after the lock of the wagers, or about chips that the table knew already.
    """
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        await recognition.says(TWENTY)
        again = await recognition.says(TWENTY)  # exactly that lies there already: no answer
        assert answers(world) == []
        await world.do(PlaceWager(TAKEN_AWAY, "Smith"))
        await arrives(world, recognition.said[1])
        assert lying(world) == [], "a person took the chips away after that"
        assert answers(world) == [(again.seq, "wager_old")]
        odd = await recognition.says(Wager(2, "player", 1))
        await arrives(world, recognition.said[2])
        assert [code for _, code in answers(world)[1:]] == ["not_in_increment", "wager_old"]
        await world.do(LockWagers())
        late = await recognition.says(FIFTY, round=1)
        await world.do(VoidRound("Smith"))
        await arrives(world, recognition.said[3])
        assert lying(world) == []
        assert answers(world)[3:] == [(late.seq, "already_locked"), (late.seq, "wager_old")]
        assert odd.seq < late.seq


async def test_a_wager_seen_for_one_round_never_plays_in_another(tmp_path: Path) -> None:
    """A wager message for one round counts in no other round, even if it is signed and comes for the first time.

    The network delivers the message too late, and the chips may be gone from the felt.
    """
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        kept = recognition.word(TWENTY)
        await world.do(LockWagers(), VoidRound("Smith"))
        await arrives(world, kept.payload(RECOGNITION_KEY))
        for changed in ({"round": 3}, {"shoe": 2}, {"epoch": "0000000000"}):
            await recognition.says(TWENTY, **changed)
        assert lying(world) == []
        codes = ["wager_other_round", "wager_other_round", "wager_other_round", "wager_other_table"]
        assert [code for _, code in answers(world)] == codes
        await recognition.says(TWENTY, round=2)
        assert lying(world) == [(2, "player", 2000)]


async def test_another_tables_word_counts_nothing_here_and_people_hear_of_it(tmp_path: Path) -> None:
    """A wager message for another table is refused, and people are told.

    One bet recognition with one key watches forty tables. Somebody sends its message for another table to this one.
    """
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        ours = recognition.word(TWENTY)
        theirs = await recognition.says(FIFTY, table="royal9-02")
        assert lying(world) == []
        assert answers(world) == [(theirs.seq, "wager_other_table")]
        await eventually(lambda: alarms(world) == [("wager_word_unfit", {"why": "other_table"})])
        await arrives(world, ours.payload(RECOGNITION_KEY))
        assert lying(world) == [(2, "player", 2000)], "another table's numbers are not this table's"


async def test_a_number_or_a_time_that_cannot_be_yet_makes_no_true_word_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition_room, "stamp_now", lambda: replace(stamp_now(), synchronised=True))
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        now = stamp_now().at_ms
        in_two_days = Stamp(now + 2 * MOST_AHEAD_MS, synchronised=True).text()
        for seq, at in ((MOST_SEQ, now_text()), (now + MOST_LEAP_MS + 60_000, now_text()), (now, in_two_days)):
            await recognition.says(FIFTY, seq=seq, at=at)
            assert lying(world) == []
        assert [code for _, code in answers(world)] == ["wager_leaps"] * 3
        await eventually(lambda: alarms(world) == [("wager_word_unfit", {"why": "leaps"})])
        await recognition.says(TWENTY)
        assert lying(world) == [(2, "player", 2000)]


async def test_a_signed_message_that_is_no_wager_is_told(tmp_path: Path) -> None:
    """A message that is signed with bet recognition's key but is no wager raises an alarm.

    Bet recognition may use another version of the messages, or its key may sign other messages too.
    """
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        await arrives(world, signed({"hello": "table"}, RECOGNITION_KEY))
        await eventually(lambda: alarms(world) == [("wager_word_unfit", {"why": "unreadable"})])
        assert answers(world) == []


async def test_no_restart_lets_an_old_word_play(tmp_path: Path) -> None:
    """After a restart of the table an old wager message still does not count. The journal keeps the highest message
    number, in the next shoe as well."""
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        await recognition.says(TWENTY)
        await recognition.says(TAKEN_AWAY)
        said, last = recognition.said, recognition.word(TWENTY)
        face = world.runtime.face
    async with running(tmp_path, **KNOWN) as world:
        assert (world.runtime.face.shoe, world.runtime.face.next_round) == (face.shoe, face.next_round)
        await arrives(world, *said)
        assert lying(world) == []
        assert [code for _, code in answers(world)] == ["wager_old"] * 2
        await arrives(world, last.payload(RECOGNITION_KEY))
        assert lying(world) == [(2, "player", 2000)]
        table = world.runtime.table
        replayed, differs = replay(world.journal.open_shoe(), world.config.rules, table.rules.table, face.table)
        assert (replayed.wager_seq, replayed.placed, differs) == (last.seq, table.placed, None)


async def test_key_and_number_outlive_the_shoe_in_which_they_came(tmp_path: Path) -> None:
    """The row that opens a shoe holds bet recognition's key and its highest message number.

    A replay begins with the row that opened the present shoe, so that row must hold both.
    """
    async with running(tmp_path, recognised=False, **KNOWN) as world:
        await world.open_shoe()
        await adopt(world, RECOGNITION_KEY)
        recognition = Recognition(world)
        word = await recognition.says(TWENTY)
        await world.do(NewShoe("Smith"))
    async with running(tmp_path, recognised=False, **KNOWN) as world:
        assert world.status.recognition.key == fingerprint(RECOGNITION_KEY.public)
        await arrives(world, *recognition.said)
        assert answers(world) == [(word.seq, "wager_old")]


async def test_without_an_adopted_key_no_word_counts_and_people_hear_why(tmp_path: Path) -> None:
    async with running(tmp_path, recognised=False, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        word = await recognition.says(TWENTY)
        await arrives(world, unsigned(word))
        assert lying(world) == []
        assert answers(world) == [(word.seq, "recognition_key_due")]
        assert world.status.recognition == RecognitionTold(expected=True, key=None, not_believed={"no_key": 2})
        await eventually(lambda: alarms(world) == [("recognition_key_due", {})])
        await adopt(world, RECOGNITION_KEY)
        await arrives(world, recognition.said[0])
        assert lying(world) == [(2, "player", 2000)]


async def adopt(world: World, key: SigningKey) -> None:
    """Let two people adopt this key at the table as the key of bet recognition."""
    asked = await world.ask(PinRecognitionKey(key.public.hex(), "Smith"))
    assert asked.refused == "second_person_due"
    waits = world.waits
    assert waits.details == {"key": fingerprint(key.public)}
    answer = await world.runtime.confirm(waits.id, "Jones", "another account")
    assert answer.refused is None


async def test_who_has_the_former_key_says_nothing_any_more(tmp_path: Path) -> None:
    """After two people have adopted a new key for bet recognition, no message signed with the former key counts.

    The former key was stolen. The pit is told of the new key, with the names of both people.
    """
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        former = Recognition(world)
        await former.says(TWENTY)
        await former.says(TAKEN_AWAY)
        new = SigningKey(b"n" * 32)
        on_its_way = former.word(FIFTY).payload(RECOGNITION_KEY)
        await adopt(world, new)
        await arrives(world, *former.said, on_its_way, former.word(FIFTY).payload(RECOGNITION_KEY))
        assert lying(world) == []
        await eventually(
            lambda: (
                alarms(world)
                == [
                    ("recognition_key_adopted", {"key": fingerprint(new.public), "by": "Smith, Jones"}),
                    ("wager_word_forged", {"why": "other_key"}),
                ]
            )
        )
        await Recognition(world, new).says(FIFTY)
        assert lying(world) == [(2, "player", 5000)]
        assert (await world.ask(PinRecognitionKey(new.public.hex(), "Smith"))).refused == "recognition_key_pinned"


async def test_one_person_adopts_no_key(tmp_path: Path) -> None:
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        assert (await world.ask(PinRecognitionKey(THIEF.public.hex(), "Smith"))).refused == "second_person_due"
        waits = world.waits
        assert (await world.runtime.confirm(waits.id, "smith", "another account")).refused == "not_two_people"
        await arrives(world, Recognition(world, THIEF).word(TWENTY).payload(THIEF))
        assert lying(world) == []


async def test_a_word_of_the_former_key_that_is_judged_behind_the_new_one_counts_nothing(tmp_path: Path) -> None:
    """A message signed with the former key does not count if the table judges it after the new key was adopted.

    The disk is slow while two people adopt the new key. Meanwhile the message comes.
    """
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        former = Recognition(world)
        await world.ask(PinRecognitionKey(THIEF.public.hex(), "Smith"))
        waits = world.waits
        async with world.committing(LampTest("key")):
            adopting = asyncio.create_task(world.runtime.confirm(waits.id, "Jones", "another account"))
            await asyncio.sleep(0)
            word = former.word(FIFTY)
            world.broker.say(word.payload(RECOGNITION_KEY), topic="pit/v1/royal9-01/wager")
        assert (await adopting).refused is None
        await world.settle()
        assert lying(world) == []
        assert answers(world) == [(word.seq, "recognition_key_other")]


@pytest.mark.parametrize("cents", [0, 2000])
async def test_a_forged_word_of_chips_taken_away_takes_none(tmp_path: Path, cents: int) -> None:
    """A forged message that a winning player's chips are gone does not remove them from the table's record."""
    async with running(tmp_path, **KNOWN) as world:
        await world.open_shoe()
        recognition = Recognition(world)
        await recognition.says(FIFTY)
        await arrives(world, recognition.word(Wager(2, "player", cents)).payload(THIEF))
        assert lying(world) == [(2, "player", 5000)]
