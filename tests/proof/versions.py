"""Identifies the state of the working copy by git's own hashes. Changes that are in no commit count too."""

from __future__ import annotations

import os
import subprocess
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from msgspec import Struct

from tests.proof.parts import PRODUCT, ROOMS, ROOT, own_paths

PAGE_FOLDER = "proof"
"""Its page is no part of what is proved."""


class Version(Struct, frozen=True):
    """The state of a working copy. It has three parts: the commit, with a + if files other than proof/FIGURES.md have
    changed since; a digest of the product's files; and a digest of the test files of each room (a folder of tests). The
    digests are made from git's hashes."""

    commit: str
    product: str
    rooms: dict[str, str]


def version() -> Version:
    """Return the present state of this working copy: its commit, and digests of its files.

    Raises:
        CalledProcessError, FileNotFoundError: without git, or outside of a repository.
    """
    paths = {room: own_paths(room) for room in ROOMS}
    listed = _git("ls-tree", "-t", _tree(), "--", *PRODUCT, *{path for own in paths.values() for path in own})
    entries = {entry.partition("\t")[2]: entry for entry in listed.splitlines()}

    def digest(of: tuple[str, ...]) -> str:
        return sha256("\n".join(entries.get(path, path) for path in of).encode()).hexdigest()[:12]

    return Version(commit(), digest(PRODUCT), {room: digest(own) for room, own in paths.items()})


def commit() -> str:
    """Return this working copy's commit, with a + if files other than proof/FIGURES.md have changed since then."""
    changed = _git("status", "--porcelain", "--", ".", f":!{PAGE_FOLDER}")
    return _git("rev-parse", "--short=8", "HEAD") + "+" * bool(changed)


def _tree() -> str:
    """Return the hash of the git tree that a commit of all present files would have. Git's index is not changed."""
    with TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        copyfile(ROOT / _git("rev-parse", "--git-path", "index"), index)
        _git("add", "--all", index=index)
        return _git("write-tree", index=index)


def _git(*words: str, index: Path | None = None) -> str:
    env = os.environ | ({"GIT_INDEX_FILE": str(index)} if index else {})
    done = subprocess.run(["git", *words], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()
