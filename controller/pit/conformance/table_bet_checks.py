"""The conformance checks of how a table handles progressive bets, and wagers that bet recognition reports."""

from __future__ import annotations

import os
import time
from functools import partial

from msgspec import to_builtins
from msgspec.structs import replace

from controller.contract.bounds import MOST_CENTS
from controller.contract.canonical import canonical
from controller.contract.event_reading import read
from controller.contract.events import WagersLocked, Win, WinTold
from controller.contract.keys import SigningKey, signature_holds
from controller.contract.signing import signature_of
from controller.pit.conformance.checking import ANSWERS_WITHIN_S, QUIET_S, BrokenError, Checks
from controller.pit.conformance.deeds import NotTriedError
from controller.pit.conformance.far_pit import FarPit
from controller.pit.conformance.far_recognition import FarRecognition
from controller.pit.conformance.table_kit import (
    TableKit,
    alarmed,
    bets,
    came,
    cents_of,
    must_not_play,
    must_play,
    not_told,
    say_step,
    silence,
    steps_told,
    waiting,
)
from controller.pit.conformance.wire import Message

_OTHER_LEVEL_CENTS = 1_234_500
_FORGED_EVERY_S = 0.3
_NOT_JUDGED = ("wager_old", "wager_leaps", "wager_other_table", "wager_other_round", "recognition_key_due")

CHECKS: Checks[TableKit] = Checks()
_clause = CHECKS.clause


# The progressive bets.


@_clause("T19")
def _well(kit: TableKit) -> None:
    must_play(kit, kit.pit())


@_clause("T20")
def _no_levels(kit: TableKit) -> None:
    pit = kit.pit()
    pit.says_meters = False
    silence(kit)
    must_not_play(kit, pit, f"After {kit.stale_after_s:g} s without levels")
    must_play(kit, kit.pit())


@_clause("T21")
def _no_acks(kit: TableKit) -> None:
    pit, _ = waiting(kit)
    silence(kit)
    must_not_play(kit, pit, f"After {kit.stale_after_s:g} s without an ack of an event")
    must_play(kit, kit.pit())


@_clause("T22")
def _false_levels(kit: TableKit) -> None:
    thief = SigningKey(os.urandom(32))
    for what, word in (
        ("levels that another key has signed", lambda pit: pit.meters_word().payload(thief)),
        ("levels with numbers that came before", lambda pit: _numbered(pit, -100_000)),
        ("levels with a number after their own time", lambda pit: _numbered(pit, 100_000)),
    ):
        pit = kit.pit()
        pit.says_meters = False
        until_s = time.monotonic() + kit.stale_after_s + QUIET_S
        while time.monotonic() < until_s:
            pit.wire.say(pit.topics.meters, word(pit))
            time.sleep(_FORGED_EVERY_S)
        must_not_play(kit, pit, f"While there were only {what}")


def _numbered(pit: FarPit, moved_ms: int) -> bytes:
    word = pit.meters_word()
    return replace(word, seq=word.seq + moved_ms).payload(pit.key)


@_clause("T23")
def _shown(kit: TableKit) -> None:
    kit.deeds.need("hit_meter")
    pit = kit.pit()
    must_play(kit, pit)
    pit.levels = dict.fromkeys(pit.levels, _OTHER_LEVEL_CENTS)
    time.sleep(2 * QUIET_S)
    false = replace(pit.meters_word(), meters=dict.fromkeys(pit.levels, _OTHER_LEVEL_CENTS + 100))
    for payload in (
        false.payload(SigningKey(os.urandom(32))),
        replace(false, seq=false.seq - 100_000).payload(pit.key),
        replace(false, seq=false.seq + 100_000).payload(pit.key),
    ):
        pit.wire.say(pit.topics.meters, payload)
    pit.says_meters = False
    before, _, _ = kit.round(pit, "hit_meter")
    won = came(pit, "hit", before, "hit_meter")["progressive"]
    if not isinstance(won, dict):
        raise NotTriedError("the deed 'hit_meter' hit no meter")
    if won["shown_cents"] != _OTHER_LEVEL_CENTS:
        raise BrokenError(f"The hit shows {won['shown_cents']} cents on its meter. The pit said {_OTHER_LEVEL_CENTS}.")


@_clause("T24")
def _award(kit: TableKit) -> None:
    pit = kit.pit()
    hit = kit.hit(pit)
    words = []
    for step in ("pending", "verified", "paid"):
        words.append(pit.step(hit, cents_of(pit, hit), step))
        say_step(pit, words[-1])
        pit.say(pit.topics.award, words[-1])
    time.sleep(QUIET_S)
    for word in words:
        told = steps_told(pit, word)
        if len(told) != 1:
            raise BrokenError(
                f"The stream tells the step {word.step!r} {len(told)} times. The pit said the step twice."
            )
        for name in ("hit", "seat", "tier", "meter", "cents", "by"):
            if told[0][name] != getattr(word, name):
                raise BrokenError(f"The step has {name} {getattr(word, name)!r}. The stream tells {told[0][name]!r}.")


@_clause("T25")
def _old_step(kit: TableKit) -> None:
    pit = kit.pit()
    hit = kit.hit(pit)
    cents = cents_of(pit, hit)
    old = pit.step(hit, cents, "rejected")
    say_step(pit, pit.step(hit, cents))
    not_told(pit, [old])


@_clause("T26")
def _strange_step(kit: TableKit) -> None:
    pit = kit.pit()
    hit = kit.hit(pit)
    step = partial(pit.step, hit, cents_of(pit, hit))
    seq, epoch, other = hit["seq"], hit["epoch"], f"{kit.table}-other"
    strange = (
        replace(step(), table=other, hit=f"{other}/{epoch}/{seq}"),
        replace(step(), hit=f"{kit.table}/0000000000/{seq}"),
        replace(step(), hit=f"{kit.table}/{epoch}/{int(str(seq)) - 1}"),
        replace(step(), hit=f"{kit.table}/{epoch}/{int(str(seq)) + 100_000}"),
        replace(step(), seat=99),
        replace(step(), tier="no_such_tier"),
    )
    not_told(pit, strange)
    not_told(pit, [step()], SigningKey(os.urandom(32)))
    say_step(pit, step())


@_clause("T27")
def _impossible(kit: TableKit) -> None:
    pit = kit.pit()
    hit = kit.hit(pit)
    cents = MOST_CENTS if hit["fixed"] is None else cents_of(pit, hit) + 1
    alarms = len(_alarms(pit, "award_impossible"))
    not_told(pit, [pit.step(hit, cents)])
    if not pit.wait(lambda: len(_alarms(pit, "award_impossible")) > alarms, ANSWERS_WITHIN_S):
        raise BrokenError(f"An award of {cents} cents cannot be, and the stream tells no alarm 'award_impossible'.")
    say_step(pit, pit.step(hit, cents, "rejected"))


@_clause("T41")
def _wins(kit: TableKit) -> None:
    pit = kit.pit()
    must_play(kit, pit)
    meter = min(pit.levels)
    one = pit.wins(meter, 100)
    _must_tell(pit, one)
    two = pit.wins(meter, 200)
    _must_tell(pit, two)
    pit.win = one  # as somebody who repeats an old word
    time.sleep(2 * QUIET_S)
    for win in (one, two):
        if (times := len(_told(pit, win))) != 1:
            raise BrokenError(f"The stream tells a win {times} times.")


def _told(pit: FarPit, win: Win) -> list[WinTold]:
    told = map(read, pit.events_of("win_told"))
    return [event for event in told if isinstance(event, WinTold) and event.win == win]


def _must_tell(pit: FarPit, win: Win) -> None:
    if not pit.wait(lambda: bool(_told(pit, win)), ANSWERS_WITHIN_S):
        raise BrokenError("The pit names a win, and the stream tells no `win_told` of it.")
    (told, *_) = _told(pit, win)
    if not told.shown or told.word_seq <= win.seq:
        raise BrokenError(f"A win of just now is told with shown {told.shown}, in the word {told.word_seq}.")


@_clause("T42")
def _lock_has_the_word(kit: TableKit) -> None:
    pit = kit.pit()
    must_play(kit, pit)
    lock = read(pit.events_of("wagers_locked")[-1])
    told = lock.told if isinstance(lock, WagersLocked) else None
    if told is None or not signature_holds(to_builtins(told.word), pit.key.public):
        raise BrokenError(f"A progressive wager plays, and its lock has no word of the pit: {told!r:.200}.")
    if told.word.meters != pit.levels:
        raise BrokenError(f"The lock has the levels {told.word.meters}, and the pit said {pit.levels}.")


def _alarms(pit: FarPit, code: str) -> list[Message]:
    return [event for event in pit.events_of("alarm") if event["code"] == code]


@_clause("T28")
def _void(kit: TableKit) -> None:
    pit = kit.pit()
    must_play(kit, pit)
    before = len(pit.taken)
    kit.deeds.do("void")
    locked, void = (came(pit, type_, before, "void") for type_ in ("wagers_locked", "void"))
    played = {bet["spot"]: bet["seats"] for bet in bets(locked) if bet["seats"]}
    returned = {bet["spot"]: bet["seats"] for bet in bets(void) if bet["seats"]}
    if not played:
        raise NotTriedError("no wager on a progressive bet was locked: the deed 'void' must lay a wager")
    if returned != played:
        raise BrokenError(f"The seats {played} played on progressive bets. The void names {returned}.")


# The wagers of bet recognition.


def place(pit: FarPit) -> dict[str, int | str]:
    """Return the fields of a wager's message that name the table's next round: the table, the epoch (the random name of
    the table's journal), the shoe and the round's number. They come from the table's state. Raises BrokenError if the
    state names no shoe or no next round."""
    shoe, round_ = pit.state.get("shoe"), pit.state.get("next_round")
    if not isinstance(shoe, int) or not isinstance(round_, int):
        raise BrokenError(f"Between two rounds the table's state has shoe {shoe!r} and next_round {round_!r}.")
    return {"table": pit.table, "epoch": str(pit.state["epoch"]), "shoe": shoe, "round": round_}


def judged(recognition: FarRecognition, word: Message, what: str, code: str | None = None, times: int = 1) -> None:
    """Wait until the table has refused the wager in `word` `times` times. Raises BrokenError if it does not do so in
    time, or if the last refusal has another code than `code`.

    If `code` is None, the code must be one by which the table judged the wager by the rules of its game. `what`
    describes the wager in the error's text.
    """
    wire = recognition.wire
    if not wire.wait(lambda: len(recognition.answers(word)) >= times, ANSWERS_WITHIN_S):
        raise BrokenError(f"{what} is not answered on `wager-refused`.")
    told = recognition.answers(word)[times - 1].get("code")
    if told != code if code else told in _NOT_JUDGED:
        raise BrokenError(f"{what} is refused with {told!r}" + (f", and not with {code!r}." if code else "."))


def not_judged(recognition: FarRecognition, word: Message, what: str) -> None:
    """Wait one second, and raise BrokenError if the table has answered the message `word`, which reports a wager.
    `what` describes the message in the error's text."""
    time.sleep(QUIET_S)
    if told := recognition.answers(word):
        raise BrokenError(f"{what} is answered on `wager-refused` with {told[0].get('code')!r}.")


@_clause("T36")
def _forged_wager(kit: TableKit) -> None:
    pit = kit.pit()
    recognition = kit.recognition()
    thief = SigningKey(os.urandom(32))
    by_thief, unsigned, changed = (recognition.word(place(pit)) for _ in range(3))
    recognition.say(by_thief, thief)
    recognition.wire.say(recognition.topics.wager, canonical(unsigned))
    more = {**changed, "signature": signature_of(changed, recognition.key), "cents": 100}
    recognition.wire.say(recognition.topics.wager, canonical(more))
    for what, word in (("by another key", by_thief), ("without a signature", unsigned), ("changed", changed)):
        not_judged(recognition, word, f"A wager {what}")
    alarmed(pit, "wager_word_forged")


@_clause("T37")
def _signed_wager(kit: TableKit) -> None:
    pit = kit.pit()
    recognition = kit.recognition()
    word = recognition.word(place(pit))
    recognition.say(word)
    judged(recognition, word, "A wager that the adopted key has signed")
    former, recognition.key = recognition.key, SigningKey(os.urandom(32))
    kit.adopt(recognition)
    word = recognition.word(place(pit))
    recognition.say(word, former)
    not_judged(recognition, word, "A wager by the key that was adopted before")
    word = recognition.word(place(pit))
    recognition.say(word)
    judged(recognition, word, "A wager that the key adopted last has signed")


@_clause("T38")
def _old_wager(kit: TableKit) -> None:
    kit.deeds.need("restart")
    pit = kit.pit()
    recognition = kit.recognition()
    early, late = recognition.word(place(pit)), recognition.word(place(pit))
    recognition.say(late)
    judged(recognition, late, "A wager")
    recognition.say(late)
    judged(recognition, late, "A wager that came once already", "wager_old", times=2)
    recognition.say(early)
    judged(recognition, early, "A wager with a lower number than the last", "wager_old")
    kit.deeds.do("restart")
    kit.pit()
    recognition.say(late)
    judged(recognition, late, "A wager that came before the table's program ended", "wager_old", times=3)


@_clause("T39")
def _strange_wager(kit: TableKit) -> None:
    pit = kit.pit()
    recognition = kit.recognition()
    here = place(pit)
    for what, code, changed in (
        ("for the round after the next", "wager_other_round", {"round": int(here["round"]) + 1}),
        ("of another shoe", "wager_other_round", {"shoe": int(here["shoe"]) + 1}),
        ("of another epoch", "wager_other_table", {"epoch": "0000000000"}),
        ("of another table", "wager_other_table", {"table": f"{kit.table}-other"}),
    ):
        word = recognition.word({**here, **changed})
        recognition.say(word)
        judged(recognition, word, f"A wager {what}", code)
    ahead = recognition.word(here)
    ahead["seq"] = int(str(ahead["seq"])) + 100_000
    recognition.say(ahead)
    judged(recognition, ahead, "A wager whose number is a time after its own `at`", "wager_leaps")
    alarmed(pit, "wager_word_unfit")
    word = recognition.word(place(pit))
    recognition.say(word)
    judged(recognition, word, "A wager after those")
