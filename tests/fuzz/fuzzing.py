"""A fuzzer that is guided by code coverage: it keeps each input that takes a new path through the project's code.

The fuzzer measures time in executed lines of the project's code, so that it finds the same slow inputs on any machine.
A clock ends an input that hangs inside a library, where no lines are counted. The seed decides everything else: a
failure names the seed and the input, and can be repeated.
"""

from __future__ import annotations

import gc
import json
import random
import re
import signal
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from controller.basics.errors import TableError

_ROOT = Path(__file__).resolve().parents[2]
_OURS = (str(_ROOT / "controller"), str(_ROOT / "drivers"), str(_ROOT / "tests" / "fuzz" / "test_"))
_NUMBERS = [b"0", b"-1", b"1e3", b"1.5", b"99", b"9" * 18, b"9" * 20, b"9" * 400, b"9" * 4299, b"9" * 5000]
HANGS_AFTER_S = 60.0  # a thousand times what any input takes: only so that one that hangs is named
TOKENS = [b"", b"\0", b"\xff", b"\n", b'"', b"\\ud800", b"\\u0000", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[2J"]
TOKENS += [b"null", b"true", b"NaN", b"Infinity", b"[]", b"{}", b"[" * 300, b'{"a":' * 300, *_NUMBERS]

Decode = Callable[[bytes], object]
_Edge = tuple[str, int, int]  # a file, and two of the project's lines that ran one after the other


@dataclass(frozen=True, slots=True)
class Target:
    """A decoder to be fuzzed.

    `decode` may return anything, but may raise only TableError; its own assertions check everything else. `seeds` are
    good inputs, and `tokens` are pieces of such inputs. The decoder may execute `lines` lines of the project's code for
    an input, and `lines_a_byte` more for each byte of the input. Mutated inputs are cut off at `longest` bytes.
    """

    name: str
    decode: Decode
    seeds: Sequence[bytes]
    tokens: Sequence[bytes] = ()
    lines: int = 2_000
    lines_a_byte: int = 30
    longest: int = 4_000


@dataclass(slots=True)
class Run:
    """The result of a run of the fuzzer."""

    inputs: int = 0
    refused: int = 0
    reached: set[_Edge] = field(default_factory=set)
    corpus: list[bytes] = field(default_factory=list)
    most_lines_a_byte: float = 0.0


class FoundError(AssertionError):
    """Raised for an input at which a decoder failed."""


def fuzz(target: Target, seed: int, inputs: int) -> Run:
    """Try `inputs` mutated inputs on the decoder of `target`. Raises FoundError at the first input at which the decoder
    fails."""
    luck, run = random.Random(f"{target.name} {seed}"), Run()
    tokens = [*TOKENS, *target.tokens]
    for data in target.seeds:
        _throw(target, data, run, f"{target.name}, a good input")
    run.corpus = list(target.seeds)
    while run.inputs < inputs:
        data = mutated(luck, target.seeds, run.corpus, tokens, target.longest)
        _throw(target, data, run, f"{target.name}, seed {seed}, input {run.inputs}")
    return run


def _throw(target: Target, data: bytes, run: Run, named: str) -> None:
    limit = target.lines + target.lines_a_byte * len(data)
    watch = _Watch(limit)
    try:
        with_trace(watch, target.decode, data)
    except TableError:
        run.refused += 1
    except Exception as error:
        raise FoundError(f"{named}: {type(error).__name__}: {error!s:.300}\n  {data[:2000]!r}") from error
    run.inputs += 1
    run.most_lines_a_byte = max(run.most_lines_a_byte, watch.lines / (len(data) + target.lines / target.lines_a_byte))
    if not watch.reached <= run.reached:
        run.reached |= watch.reached
        run.corpus.append(data)


class _Watch:
    """A trace function that records which line of the project ran after which other line, and how many lines ran."""

    def __init__(self, limit: int) -> None:
        self.lines = 0
        self.reached: set[_Edge] = set()
        self._limit = limit
        self._before = 0

    def call(self, frame: FrameType, _event: str, _argument: object) -> Any:
        return self._line if frame.f_code.co_filename.startswith(_OURS) else None

    def _line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            self.lines += 1
            self.reached.add((frame.f_code.co_filename, self._before, frame.f_lineno))
            self._before = frame.f_lineno
            if self.lines > self._limit:
                raise _TooLongError(f"more than {self._limit} lines")
        return self._line


class _TooLongError(BaseException):
    """Raised if a decoder takes too long for an input. No decoder can catch it."""


def with_trace(watch: _Watch, decode: Decode, data: bytes) -> None:
    """Run the decoder on `data` and let `watch` see every executed line. Raises what the decoder raises, or
    RuntimeError if the decoder takes too long."""
    before = sys.gettrace()
    sys.settrace(watch.call)
    try:
        with _ended_by_the_clock():
            decode(data)
    except _TooLongError as error:
        raise RuntimeError(f"it takes too long: {error}") from error
    finally:
        sys.settrace(before)


@contextmanager
def _ended_by_the_clock() -> Iterator[None]:
    """Interrupt the block with _TooLongError if it runs for too long, even if it hangs inside the library `re`."""

    def end(_signal: int, _frame: object) -> None:
        raise _TooLongError(f"more than {HANGS_AFTER_S:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, HANGS_AFTER_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def growth(decode: Decode, inputs: Callable[[], Iterable[bytes]]) -> int:
    """Return by how many bytes the decoder's use of memory grows each time it is given a batch of inputs. `inputs()`
    returns a new batch at each call.

    The smallest growth of several batches is returned, because a leak shows in every batch. Other growth does not: the
    first batches also replace memory that was held before the measurement, and other threads sometimes hold memory for
    a while.
    """

    def feed() -> None:
        for data in inputs():
            try:
                decode(data)
            except TableError:
                continue

    for _ in range(3):  # what the first inputs of each kind leave, such as a converter, is there by then
        feed()
    tracemalloc.start()
    try:
        held: list[int] = []
        for _ in range(8):
            feed()
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
        return min(after - before for before, after in pairwise(held))
    finally:
        tracemalloc.stop()


def mutated(
    luck: random.Random, seeds: Sequence[bytes], corpus: Sequence[bytes], tokens: Sequence[bytes], longest: int
) -> bytes:
    """Return a new input of at most `longest` bytes. It is made by one or a few random changes to a good input
    (`seeds`), or to an earlier input that took a new path (`corpus`)."""
    data = luck.choice(luck.choice((seeds, corpus, corpus[-4:])))  # what was new last may lead on
    kinds = luck.choice((_OF_BYTES, _OF_WORDS))
    for _ in range(luck.choice((1, 1, 1, 2, 3, 8))):
        changed = luck.choice(kinds)(luck, data, corpus, tokens)
        data = _flip(luck, data, corpus, tokens) if changed == data else changed
        data = data[:longest]  # at once: some changes repeat a piece a hundred times
    return data


_Mutation = Callable[[random.Random, bytes, Sequence[bytes], Sequence[bytes]], bytes]


def _cut(luck: random.Random, data: bytes) -> tuple[bytes, bytes, bytes]:
    first, last = sorted((luck.randint(0, len(data)), luck.randint(0, len(data))))
    if luck.random() < 0.7:
        last = min(last, first + luck.choice((1, 1, 2, 4, 16)))
    return data[:first], data[first:last], data[last:]


def _flip(luck: random.Random, data: bytes, _corpus: Sequence[bytes], _tokens: Sequence[bytes]) -> bytes:
    before, piece, after = _cut(luck, data)
    return before + bytes(byte ^ 1 << luck.randrange(8) for byte in piece) + after


def _replace(luck: random.Random, data: bytes, _corpus: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    before, _, after = _cut(luck, data)
    return before + luck.choice(tokens) + after


def _replace_number(luck: random.Random, data: bytes, _corpus: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    found = list(re.finditer(rb"[0-9]+", data))
    if not found:
        return data
    number = luck.choice(found)
    return data[: number.start()] + luck.choice((*_NUMBERS, *tokens)) + data[number.end() :]


def _replace_text(luck: random.Random, data: bytes, _corpus: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Replace one text in quotation marks in the data by a random token."""
    found = list(re.finditer(rb'"[^"\n]*"', data))
    if not found:
        return data
    text = luck.choice(found)
    return data[: text.start() + 1] + luck.choice(tokens) + data[text.end() - 1 :]


def _repeat(luck: random.Random, data: bytes, _corpus: Sequence[bytes], _tokens: Sequence[bytes]) -> bytes:
    before, piece, after = _cut(luck, data)
    return before + piece * luck.choice((2, 2, 3, 100)) + after


def _splice(luck: random.Random, data: bytes, corpus: Sequence[bytes], _tokens: Sequence[bytes]) -> bytes:
    before, _, after = _cut(luck, data)
    return before + _cut(luck, luck.choice(corpus))[1] + after


def _swap_lines(luck: random.Random, data: bytes, _corpus: Sequence[bytes], _tokens: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    one, other = luck.randrange(len(lines)), luck.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def change_json(luck: random.Random, data: bytes, _corpus: Sequence[bytes], _tokens: Sequence[bytes]) -> bytes:
    """Change or remove one value of a JSON text, or add another value beside it. Return a text that is not JSON
    unchanged."""
    if data.count(b"[") + data.count(b"{") > _DEEPEST:
        return data
    try:
        whole = json.loads(data)
    except ValueError:
        return data
    nodes = list(_nodes(whole))
    if not nodes:
        return data
    holder, key = luck.choice(nodes)
    odd = luck.choice((*_ODD_VALUES, *(other[place] for other, place in nodes)))
    match luck.randrange(4), holder:
        case 0, _:
            del holder[key]
        case 1, dict():
            holder[luck.choice(("", "more", "0", "\ud800", "x" * 300))] = odd
        case _:
            holder[key] = odd
    try:
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=luck.random() < 0.1)
    except ValueError:  # it holds itself now, or a number of too many digits
        return data
    return text.encode("utf-8", "surrogatepass")


_DEEPEST = 300
_ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    7,
    100,
    2**31,
    2**63,
    10**400,
    0.5,
    "",
    "0",
    "x",
    "KS",
    "3:2",
    "1:0",
    "\ud800",
)
_ODD_VALUES += ("\0", "\x1b[2J", "x" * 3000, "a/b/1", [], {}, [[]], [None], ["KS"], {"fact": "CardDrawn"})


def _nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place inside a JSON value as a pair: the object or list that holds the place, and the key or index of
    the place in it."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _nodes(value[key])


def _truncate(luck: random.Random, data: bytes, _corpus: Sequence[bytes], _tokens: Sequence[bytes]) -> bytes:
    return data[: luck.randint(0, len(data))]


_OF_BYTES: tuple[_Mutation, ...] = (_flip, _replace, _repeat, _splice, _truncate)
_OF_WORDS: tuple[_Mutation, ...] = (_replace_number, _replace_text, _swap_lines, *[change_json] * 3)


def chunks(data: bytes, luck: random.Random) -> Iterator[bytes]:
    """Yield the data in pieces of random size, as a serial line or a socket would deliver it."""
    start = 0
    while start < len(data):
        size = luck.choice((1, 1, 2, 7, 40, 4096))
        yield data[start : start + size]
        start += size
