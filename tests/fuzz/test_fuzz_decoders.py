"""Every decoder under mutated input: what it says it gives or a TableError, in bounded time, and nothing kept.

A failure names its seed and input, and comes again with them. With `--proof` there are many more.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType

import pytest

from controller import award_step, levels
from controller.errors import TableError
from controller.levels import Levels
from drivers.shoe.angel_eye import AngelEyeCodec
from drivers.shoe.beetek import BeeTekCodec
from tests.fuzz.fuzzing import FoundError, Run, Target, fuzz, growth
from tests.fuzz.targets import TARGETS

_SLOW = {"angel_eye": 500, "beetek": 500, "table_file": 250, "game_file": 150, "script": 150}
_SAMPLE = 1_500
_PROOF_TIMES, _SEEDS = 20, 5


@pytest.mark.parametrize("name", TARGETS)
def test_a_decoder_stands_a_sample_of_bad_input(name: str) -> None:
    size = _SLOW.get(name, _SAMPLE)
    assert _led_on(TARGETS[name], fuzz(TARGETS[name], seed=1, inputs=size))


@pytest.mark.proof
@pytest.mark.parametrize("name", TARGETS)
def test_a_decoder_stands_bad_input(name: str, figure: Callable[[str], None]) -> None:
    size = _SLOW.get(name, _SAMPLE) * _PROOF_TIMES
    runs = [fuzz(TARGETS[name], seed, size) for seed in range(2, 2 + _SEEDS)]
    assert all(_led_on(TARGETS[name], run) for run in runs)
    ways = set[tuple[str, int, int]]().union(*(run.reached for run in runs))
    inputs, refused = sum(run.inputs for run in runs), sum(run.refused for run in runs)
    figure(f"{name}: {inputs:,} inputs, {refused:,} refused with a TableError, {len(ways):,} ways through the code")


def _led_on(target: Target, run: Run) -> bool:
    """Whether bad input took ways through the decoder that its good inputs do not: else none of it was any good."""
    return run.corpus[: len(target.seeds)] == target.seeds and len(run.corpus) > len(target.seeds)


_INPUTS = 300


def _garbage(name: str) -> list[bytes]:
    luck = random.Random(name)
    seeds = TARGETS[name].seeds
    return [
        bytes(byte if luck.random() > 0.05 else luck.randrange(256) for byte in luck.choice(seeds)[:2000])
        for _ in range(_INPUTS)
    ]


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in ("table_file", "game_file", "script")])
def test_a_decoder_keeps_nothing_of_what_it_was_given(name: str) -> None:
    assert growth(TARGETS[name].decode, _garbage(name), 1) < 20_000


@pytest.mark.parametrize("codec", [AngelEyeCodec(), BeeTekCodec()], ids=["angel_eye", "beetek"])
def test_a_codec_that_runs_for_ever_does_not_grow(codec: AngelEyeCodec | BeeTekCodec) -> None:
    """One codec hears it all: frames begun and never ended, ended and never begun, and good ones nobody confirms."""
    name = "angel_eye" if isinstance(codec, AngelEyeCodec) else "beetek"
    endless = [b"\x05" * 4000, b"*" * 4000, b"\x051M" + b" " * 4000, b"\x15" * 4000, b"*0" * 2000]
    assert growth(codec.feed, [*_garbage(name), *endless], 1) < 2_000


def test_the_levels_do_not_grow_with_what_is_said_of_them() -> None:
    levels = Levels({"player_personal"}, 10.0)
    many = [
        b'{"seq":%d,"meters":{%s}}' % (seq, b",".join(b'"m%d":1' % m for m in range(seq * 50))) for seq in (1, 2, 9)
    ]
    names = [b'{"seq":%d,"meters":{"%s":1}}' % (seq, b"x" * 30_000) for seq in range(3, 9)]
    assert growth(lambda data: levels.heard(data, 1.0), [*many, *names], 3) < 2_000
    assert len(levels.cents) <= 100


# The fuzzer itself.


def test_a_decoder_with_one_way_alone_leads_nowhere() -> None:
    """What the samples assert can fail."""
    blind = Target("blind", lambda data: None, [b"good"])
    assert not _led_on(blind, fuzz(blind, 1, 50))


@pytest.mark.parametrize(("name", "module"), [("award", award_step), ("meters", levels)])
def test_the_fuzzer_finds_a_decoder_that_takes_any_number(
    name: str, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "is_count", lambda *_: True)
    with pytest.raises(FoundError, match=f"{name}, seed 1, input"):
        fuzz(TARGETS[name], 1, _SAMPLE)


def test_the_fuzzer_finds_an_exception_behind_a_narrow_way_and_finds_it_again() -> None:
    """One letter in a billion would be right by chance; each that is right opens a new way, and is kept."""

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
        with pytest.raises(FoundError, match="careless, seed 3, input") as caught:
            fuzz(target, 3, 50_000)
        found.append(str(caught.value))
    assert found[0] == found[1]


def test_the_fuzzer_finds_what_takes_too_long() -> None:
    from controller.fact_json import fact_from_json

    def slow(data: bytes) -> None:
        for _ in range(len(data) ** 2):
            try:
                fact_from_json(b"")
            except TableError:
                continue

    with pytest.raises(FoundError, match="too long"):
        fuzz(Target("slow", slow, [b"x" * 50], lines=100, lines_a_byte=10), 1, 10)


def test_growth_is_seen() -> None:
    kept: list[bytes] = []
    assert growth(lambda data: kept.append(data + b"."), [b"x" * 100], 100) > 10_000


# Inputs that once were not stood.

_TABLE, _GAME = TARGETS["table_file"].seeds[0], TARGETS["game_file"].seeds[0]
_AWARD = TARGETS["award"].seeds[0]
_FOUND = [
    ("award", _AWARD.replace(b'"royal9-01.1"', b'"\\ud800"')),
    ("award", _AWARD.replace(b'"meter": "player_personal"', b'"meter": "\\ud800"')),
    ("award", _AWARD.replace(b"250000", b"9" * 4000)),
    ("meters", b'{"seq": 1, "meters": {"\\ud800": 1}}'),
    ("meters", b'{"seq": 1, "meters": {"player_personal": %s}}' % (b"9" * 4000)),
    ("fact", b'{"by":"\\ud800","fact":"HandVoided"}'),
    ("table_file", _TABLE.replace(b"port = 1883", b"port = 0x" + b"f" * 4000)),
    ("table_file", _TABLE.replace(b"port = 1883", b"port = " + b"9" * 5000)),
    ("game_file", _GAME.replace(b"decks = 8", b"decks = 0x" + b"f" * 4000)),
]


@pytest.mark.parametrize(("name", "data"), _FOUND)
def test_what_was_once_not_stood(name: str, data: bytes) -> None:
    assert data not in TARGETS[name].seeds
    with suppress(TableError):
        TARGETS[name].decode(data)
