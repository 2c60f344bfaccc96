"""Counts the par sheet (the odds of every bet) of a table's file or a game file once, and caches it. A second `tablectl
par` or `tablectl check` of the same file reads the cached counts.

The cache is in `$XDG_CACHE_HOME` or `~/.cache` of the person who runs the command. Its key is a digest over the program
and the values in the file. A cached file is used only if it belongs to this person, if nobody else can write it, if it
is complete, and if it names the same digest. Any other file is ignored: the figures are counted and cached again. Only
a program that runs as this person can therefore change the figures that this person sees.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar

import msgspec

from controller.basics.digest import digest, program_digest
from controller.people.par.odds import Odds
from controller.people.par.sheet import Par, RoundsInShoe, Subject, par
from controller.people.par.together import Together, together

_T = TypeVar("_T", bound="_Kept")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MOST_BYTES = 10_000_000


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a cached file. `of` is the digest over the program and the game or table file for which the
    content was counted."""

    of: str


class _Sheet(_Kept, frozen=True, forbid_unknown_fields=True):
    """A par sheet (the odds of every bet) as it is cached. The rules of the game are not part of it."""

    cards: int
    bets: tuple[Odds, ...]
    hands: tuple[RoundsInShoe, ...]
    play: tuple[str, ...]
    method: str
    left_out: tuple[str, ...]


class _Together(_Kept, frozen=True, forbid_unknown_fields=True):
    """A cached count of how often each combination of results of all bets occurs in one round."""

    together: Together


def counted(of: Subject) -> Par:
    """Return the par sheet (the odds of every bet) for a fresh shoe, from the cache if it is there. Raises TableError
    if the game cannot be counted."""
    key = digest(program_digest(), of.digest)
    if (kept := _read(key, _Sheet)) is None:
        sheet = par(of)
        kept = _Sheet(key, sheet.cards, sheet.bets, sheet.hands, sheet.play, sheet.method, sheet.left_out)
        _keep(kept)
    return Par(of, kept.cards, kept.bets, kept.hands, kept.play, kept.method, kept.left_out)


def counted_together(of: Subject) -> Together:
    """Return how often each combination of results of all bets occurs in one round with a fresh shoe. The count comes
    from the cache if it is there."""
    key = digest(program_digest(), of.digest)
    if (kept := _read(key, _Together)) is None:
        kept = _Together(key, together(of))
        _keep(kept)
    return kept.together


def _folder() -> Path | None:
    """Return the folder of the cached par sheets. Returns None if neither `$XDG_CACHE_HOME` nor a home directory is
    known."""
    with suppress(RuntimeError):
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "table-controller"
    return None


def _name(key: str, type_: type[_Kept]) -> str:
    return f"{key}.{type_.__name__.strip('_').lower()}"


def _read(key: str, type_: type[_T]) -> _T | None:
    """Return the figures that are cached under the digest `key`, as an object of `type_`. Returns None if the cache has
    no file for `key`, or if that file cannot be trusted or read."""
    if (folder := _folder()) is None:
        return None
    try:
        own = _is_own(folder.stat())
        file = os.open(folder / _name(key, type_), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with os.fdopen(file, "rb") as opened:
        if not (own and stat.S_ISREG(os.fstat(file).st_mode) and _is_own(os.fstat(file))):
            return None
        whole, _, text = opened.read(_MOST_BYTES).partition(b"\n")
    if whole != hashlib.sha256(text).hexdigest().encode():
        return None
    try:
        kept = msgspec.json.decode(text, type=type_, dec_hook=lambda _, value: Fraction(value))
    except (msgspec.MsgspecError, ValueError, ZeroDivisionError):  # of another program
        return None
    return kept if kept.of == key else None


def _is_own(of: os.stat_result) -> bool:
    return of.st_uid == os.geteuid() and not of.st_mode & _OTHERS_WRITE


def _keep(kept: _Kept) -> None:
    """Write `kept` (the counted figures of a file) into the cache. A failure is ignored, because the figures can be
    counted again."""
    if (folder := _folder()) is None:
        return
    text = msgspec.json.encode(kept, enc_hook=str)
    with suppress(OSError, ValueError):
        folder.mkdir(0o700, parents=True, exist_ok=True)
        if not _is_own(folder.stat()):
            return
        with NamedTemporaryFile(dir=folder, delete=False) as new:
            new.write(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
        Path(new.name).replace(folder / _name(kept.of, type(kept)))
