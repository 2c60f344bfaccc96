"""The program behind `make lab-report`. It runs the tests that show that the clauses of regulations are met, and writes
the signed report for a test laboratory."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from controller import __version__
from controller.basics.digest import program_digest
from controller.basics.errors import TableError
from controller.contract.envelope import CONTRACT_VERSION
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import load_or_make_key
from controller.contract.signed_page import said_by
from tests.lab.clauses import clauses
from tests.lab.report import Report, components, figures, page, tried

ROOT = Path(__file__).resolve().parents[2]
_INSTALLED = ("demo", "postgresql", "pi", "pi5")


def main() -> int:
    """Write the report for a test laboratory, or check an existing one. Returns 1 if a test failed, or if the checked
    report was changed."""
    parser = argparse.ArgumentParser(prog="make lab-report", allow_abbrev=False)
    parser.add_argument("--key", type=Path, default=ROOT / "build" / "lab-report.key", help="the key that signs")
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "lab-report.html", help="the page")
    parser.add_argument("--verify", type=Path, metavar="PAGE", help="check a page, and run no test")
    options = parser.parse_args()
    try:
        return _verify(options.verify) if options.verify else _write(options.to, options.key)
    except TableError as error:
        print(f"{error}", file=sys.stderr)
        return 1


def _verify(path: Path) -> int:
    said = said_by(path, "make lab-report")
    print(f"{path}: not a byte was changed since it was signed.")
    print(f"Signed with the key {fingerprint(bytes.fromhex(said['public_key']))}. Compare this with the house's.")
    print(f"It tells of version {said['version']}, commit {said['commit']}.")
    return 0


def _write(to: Path, key_path: Path) -> int:
    every = clauses()
    files = sorted({f"tests/{name.partition('::')[0]}" for clause in every for name in clause.tests})
    with TemporaryDirectory() as folder:
        outcomes = Path(folder) / "outcomes"
        run = (sys.executable, "-m", "pytest", "-q", "-p", "tests.lab.outcomes", "--outcomes", str(outcomes))
        parallel = ("--numprocesses", "auto", "--dist", "worksteal", "-m", "clause")
        code = subprocess.run((*run, *parallel, *files), cwd=ROOT, check=False).returncode
        became = json.loads(outcomes.read_bytes())
    key = load_or_make_key(key_path)
    report = Report(
        version=__version__,
        commit=_commit(),
        program_digest=program_digest(ROOT),
        contract_version=str(CONTRACT_VERSION),
        machine=f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        packages=_packages(ROOT / "dist" / "SHA256SUMS"),
        components=components(ROOT / "requirements" / f"{name}.lock" for name in _INSTALLED),
        figures=figures(ROOT / "proof" / "FIGURES.md"),
        clauses=tried(every, became),
    )
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(page(report, key), "utf-8")
    print(f"{os.path.relpath(to)}, signed with the key {fingerprint(key.public)}")
    return 1 if code else 0


def _commit() -> str:
    """Return the commit whose files were tested, with a remark if any file differs from that commit."""

    def git(*words: str) -> str:
        return subprocess.run(("git", *words), cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "HEAD") + (", with changes that no commit has" if git("status", "--porcelain") else "")


def _packages(sums: Path) -> tuple[tuple[str, str], ...]:
    """Return the packages that `make package` has made on this machine, as pairs of file name and SHA-256. They are
    read from the file of checksums `sums`. Without that file, return no packages."""
    if not sums.is_file():
        return ()
    return tuple((name, digest) for digest, name in (line.split() for line in sums.read_text("utf-8").splitlines()))


if __name__ == "__main__":
    sys.exit(main())
