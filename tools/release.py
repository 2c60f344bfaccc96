"""What `make release` checks: the version, the CHANGELOG, the working copy and the tags agree. It changes nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_VERSION = re.compile(r'^__version__ = "(\d+\.\d+\.\d+)"$', re.MULTILINE)
_SECTION = re.compile(r"^## (\S+)(?: \((\S+)\))?$", re.MULTILINE)
_UNRELEASED = re.compile(r"^## Unreleased$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def amiss(version: str, changelog: str, tags: list[str], changed: list[str]) -> Iterator[str]:
    """Yield everything that keeps this version from being released. `changed` are the files that are not committed."""
    sections = [(name, date) for name, date in _SECTION.findall(changelog) if name != "Unreleased"]
    names = [name for name, _ in sections]
    unreleased = _UNRELEASED.search(changelog)
    if version not in names:
        yield f"CHANGELOG.md has no section `## {version} (YEAR-MONTH-DAY)`: let `## Unreleased` become that section."
    elif unreleased is not None and unreleased[1].strip() and dict(sections)[version] and f"v{version}" not in tags:
        yield f"CHANGELOG.md tells of {version} as released, and no tag v{version} is there: make both sections one."
    elif unreleased is not None and unreleased[1].strip():
        yield "CHANGELOG.md has changes under `## Unreleased`: they belong to this version, or the version is older."
    elif names[0] != version:
        yield f"The first section of CHANGELOG.md is {names[0]}, and controller/__init__.py says {version}."
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", sections[0][1]):
        yield f"The section {version} of CHANGELOG.md has no date: write `## {version} (YEAR-MONTH-DAY)`."
    if f"v{version}" in tags:
        yield f"The tag v{version} is there already: set the next version in controller/__init__.py."
    if missing := [name for name in names if name != version and f"v{name}" not in tags]:
        yield f"CHANGELOG.md tells of releases without a tag: {', '.join(missing)}."
    if changed:
        yield f"Not committed: {', '.join(changed)}."


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def main() -> int:
    """Print what is amiss, or what a person does now. Returns the exit code."""
    found = _VERSION.search((ROOT / "controller" / "__init__.py").read_text("utf-8"))
    if found is None:
        print("controller/__init__.py has no version.", file=sys.stderr)
        return 1
    version = found[1]
    changed = [line[3:] for line in _git("status", "--porcelain")]
    problems = [*amiss(version, (ROOT / "CHANGELOG.md").read_text("utf-8"), _git("tag"), changed)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"Everything agrees on {version}. Now run .ci/run, and then:")
        print(f"  git tag -a v{version} -m 'Version {version}' && make package SIGN=KEY && git push origin v{version}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
