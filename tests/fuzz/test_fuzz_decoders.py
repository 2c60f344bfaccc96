"""Checks that every decoder handles mutated input well: it returns a result or raises TableError, ends in bounded time,
and does not leak memory.

A failure names its seed and its input, and can be repeated with them. With `--proof` many more inputs are tried.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import msgspec
import pytest
from msgspec import structs

from controller.basics.errors import TableError
from controller.contract import pit_words
from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import Stamp
from controller.contract.pit_words import MetersWord
from controller.daemon.delivery.levels import Levels
from drivers import shoe as shoes
from tests.fuzz import fuzzing
from tests.fuzz.fuzzing import TOKENS, FoundError, Run, Target, fuzz, growth, mutated
from tests.fuzz.targets import TARGETS

_SLOW = {
    "pit_log": 20,
    "pit_state": 20,
    "angel_eye": 20,
    "beetek": 20,
    "table_file": 12,
    "game_file": 12,
    "script": 30,
}
_SAMPLE = 50
_EACH = {"script": 8}
"""Of these a sample takes one good input of so many: under the watch one takes as long as hundreds of others."""
_PROOF_TIMES, _SLOW_TIMES, _SEEDS = 200, 60, 5
"""The last new way came before the 7,000th input of a seed, where inputs are short."""


@pytest.mark.parametrize("name", TARGETS)
def test_a_decoder_stands_a_sample_of_bad_input(name: str) -> None:
    target = replace(TARGETS[name], seeds=TARGETS[name].seeds[:: _EACH.get(name, 1)])
    assert _led_on(target, fuzz(target, seed=1, inputs=_SLOW.get(name, _SAMPLE)))


@pytest.mark.proof
@pytest.mark.parametrize("name", TARGETS)
def test_a_decoder_stands_bad_input(name: str, figure: Callable[[str], None]) -> None:
    size = _SLOW[name] * _SLOW_TIMES if name in _SLOW else _SAMPLE * _PROOF_TIMES
    runs = [fuzz(TARGETS[name], seed, size) for seed in range(2, 2 + _SEEDS)]
    assert all(_led_on(TARGETS[name], run) for run in runs)
    ways = set[tuple[str, int, int]]().union(*(run.reached for run in runs))
    inputs, refused = sum(run.inputs for run in runs), sum(run.refused for run in runs)
    figure(f"{name}: {inputs:,} inputs, {refused:,} refused with a TableError, {len(ways):,} ways through the code")


def _led_on(target: Target, run: Run) -> bool:
    """Tell whether mutated inputs took paths through the decoder that its good inputs do not take. If they did not, the
    fuzzing tested nothing new."""
    return run.corpus[: len(target.seeds)] == target.seeds and len(run.corpus) > len(target.seeds)


# How many inputs there are in a lot, and how many bytes of each may seem to be kept. Python takes more for one that is,
# and a few kilobytes of what was freed for the next match statement, which tracemalloc cannot tell from what is held.
_FRAMES, _SHORT, _LONG = (300, 30), (100, 90), (25, 700)
_LOTS = dict.fromkeys(shoes.NAMES, _FRAMES) | {
    "table_file": _LONG,
    "game_file": _LONG,
    "script": _LONG,
    "pit_settings": _LONG,
    "pit_state": (150, 100),
}


def _lots_of_garbage(name: str) -> Callable[[], Iterator[bytes]]:
    """Return a function that yields a new batch of bad inputs for the decoder `name` at each call."""
    luck, target = random.Random(name), TARGETS[name]
    tokens = [*TOKENS, *target.tokens]
    size, _ = _LOTS.get(name, _SHORT)
    return lambda: (mutated(luck, target.seeds, target.seeds, tokens, target.longest) for _ in range(size))


def _too_much(name: str) -> int:
    """Return the limit for the growth of the decoder's memory in one batch of inputs, in bytes. The growth must stay
    below this limit."""
    size, each = _LOTS.get(name, _SHORT)
    return size * each


_QUICK_TO_READ = {"award"}
"""Of what is read while the table runs. All else is tried at length, and a codec that runs for ever
just below."""


@pytest.mark.parametrize(
    "name", [name if name in _QUICK_TO_READ else pytest.param(name, marks=pytest.mark.proof) for name in TARGETS]
)
def test_a_decoder_keeps_nothing_of_what_it_was_given(name: str) -> None:
    assert growth(TARGETS[name].decode, _lots_of_garbage(name)) < _too_much(name)


@pytest.mark.proof
@pytest.mark.parametrize("name", TARGETS)
def test_a_decoder_that_keeps_each_input_is_found(name: str) -> None:
    kept: list[bytes] = []
    assert growth(kept.append, _lots_of_garbage(name)) > _too_much(name)


@pytest.mark.parametrize(
    "name", [name if name == "angel_eye" else pytest.param(name, marks=pytest.mark.proof) for name in shoes.NAMES]
)
def test_a_codec_that_runs_for_ever_does_not_grow(name: str) -> None:
    """A codec that runs for a long time does not use more and more memory. It is fed frames that begin and never end,
    frames that end and never began, and good frames that are never confirmed."""
    codec, garbage = shoes.brand(name).codec(None), _lots_of_garbage(name)
    endless = [b"\x05" * 1500, b"*" * 1500, b"\x051M" + b" " * 1500, b"\x15" * 1500, b"*0" * 750]
    assert growth(codec.feed, lambda: (*garbage(), *endless)) < _too_much(name)


def test_the_levels_do_not_grow_with_what_is_said_of_them() -> None:
    levels = Levels({"player_personal"}, 10.0)
    seqs = count(1)
    word: dict[str, object] = {"at": "2026-01-01T00:00:00.000Z", "signature": "AA=="}

    def said() -> Iterator[bytes]:
        for meters in (1, 50, 100, 450) * 3:
            seq = next(seqs)
            yield canonical(word | {"seq": seq, "meters": {f"m{m}": seq for m in range(meters)}})
            yield canonical(word | {"seq": seq, "meters": {"x" * 30_000: 1}})

    def hear(data: bytes) -> None:
        if (word := MetersWord.read(parse_object(data))) is not None:
            levels.heard(word, 1.0, Stamp(0, synchronised=False))

    assert growth(hear, said) < 9_000
    assert len(levels.cents) <= 100


# The fuzzer itself.


def test_a_decoder_with_one_way_alone_leads_nowhere() -> None:
    """The fuzzer finds no new path in a decoder that has only one path. The other tests check that the fuzzer finds new
    paths, and this test shows that their check can fail."""
    blind = Target("blind", lambda data: None, [b"good"])
    assert not _led_on(blind, fuzz(blind, 1, 50))


def test_an_input_that_is_repeated_again_and_again_stays_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes that repeat an input do not make it longer than its limit. Without the limit, eight changes that each
    repeat the input a hundred times would use up all memory."""
    most = 0

    def repeated(_luck: random.Random, data: bytes, _corpus: object, _tokens: object) -> bytes:
        nonlocal most
        most = max(most, len(data))
        return data * 100

    for kinds in ("_OF_BYTES", "_OF_WORDS"):
        monkeypatch.setattr(fuzzing, kinds, (repeated,))
    assert {len(mutated(random.Random(seed), [b"ten bytes."], [b"ten bytes."], [], 50)) for seed in range(20)} == {50}
    assert most == 50


@pytest.mark.parametrize("name", ["award", "meters"])
def test_the_fuzzer_finds_a_decoder_that_takes_any_number(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def bounded(value: Any) -> Any:
        return dict.fromkeys(value, 1) if isinstance(value, dict) else 1 if type(value) is int else value

    def any_number(said: dict[str, Any], type_: Any) -> Any:
        given = {name: value for name, value in said.items() if name != "win"}
        return structs.replace(msgspec.convert({name: bounded(given[name]) for name in given}, type_), **given)

    monkeypatch.setattr(pit_words, "convert", any_number)
    with pytest.raises(FoundError, match=f"{name}, seed 1, input"):
        fuzz(TARGETS[name], 1, 1_000)


def test_the_fuzzer_finds_an_exception_behind_a_narrow_way_and_finds_it_again() -> None:
    """The fuzzer finds an exception that random inputs alone would never reach, because it keeps each input that gets
    one letter further. With the same seed it finds the exception again."""

    def careless(data: bytes) -> None:
        match data[:1]:
            case b"F":
                match data[1:2]:
                    case b"U":
                        match data[2:3]:
                            case b"Z":
                                raise KeyError("as planted")

    target = Target("careless", careless, [b"......"], [b"F", b"U", b"Z"])
    found = []
    for _ in range(2):
        with pytest.raises(FoundError, match="careless, seed 7, input") as caught:
            fuzz(target, 7, 50_000)
        found.append(str(caught.value))
    assert found[0] == found[1]


def test_the_fuzzer_finds_what_takes_too_long() -> None:
    from controller.daemon.record.fact_json import fact_from_json

    def slow(data: bytes) -> None:
        for _ in range(len(data) ** 2):
            try:
                fact_from_json(b"")
            except TableError:
                continue

    with pytest.raises(FoundError, match="too long"):
        fuzz(Target("slow", slow, [b"x" * 50], lines=100, lines_a_byte=10), 1, 10)


def test_the_fuzzer_finds_what_hangs_where_no_line_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "HANGS_AFTER_S", 0.2)
    hanging = Target("hanging", lambda data: re.match(rb"(a+)+b", data), [b"a" * 100])
    with pytest.raises(FoundError, match=r"hanging, a good input: .* more than 0\.2 s\n  b'aaa"):
        fuzz(hanging, 1, 10)


# Inputs that once were not stood.

_TABLE, _GAME = TARGETS["table_file"].seeds[0], TARGETS["game_file"].seeds[0]
_AWARD = TARGETS["award"].seeds[0]
_FOUND = [
    ("award", _AWARD.replace(b'"royal9-01.1"', b'"\\ud800"')),
    ("award", _AWARD.replace(b'"meter":"player_personal"', b'"meter":"\\ud800"')),
    ("award", _AWARD.replace(b"250000", b"9" * 4000)),
    ("meters", b'{"seq": 1, "meters": {"\\ud800": 1}}'),
    ("meters", b'{"seq": 1, "meters": {"player_personal": %s}}' % (b"9" * 4000)),
    ("fact", b'{"by":"\\ud800","fact":"RoundVoided"}'),
    ("table_file", _TABLE.replace(b"port = 1883", b"port = 0x" + b"f" * 4000)),
    ("table_file", _TABLE.replace(b"port = 1883", b"port = " + b"9" * 5000)),
    ("game_file", _GAME.replace(b"decks = 8", b"decks = 0x" + b"f" * 4000)),
]


@pytest.mark.parametrize(("name", "data"), _FOUND)
def test_what_was_once_not_stood(name: str, data: bytes) -> None:
    assert data not in TARGETS[name].seeds
    with suppress(TableError):
        TARGETS[name].decode(data)
