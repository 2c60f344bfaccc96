"""Checks the bench with a broker that requires mutual TLS. The broker has the shipped configuration, and the
certificates come from `tablectl certs`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from controller.bench.daemon import ROOT
from controller.people.cli.main import main
from tests.hil.elsewhere import A_ROUND, run_elsewhere, run_pytest, told_elsewhere
from tests.support.brokers import Broker

SHIPPED = ROOT / "config" / "mosquitto"


@dataclass(frozen=True)
class SecuredBroker:
    """A broker that requires mutual TLS, running with the shipped configuration on `localhost:port`. `folder` holds the
    certificates that `tablectl certs` wrote."""

    folder: Path
    port: int
    log: Path

    @property
    def options(self) -> tuple[str, ...]:
        """Return the command-line options with which the bench connects to this broker."""
        return "--broker", f"mqtts://localhost:{self.port}", "--broker-certs", str(self.folder)

    @property
    def clients(self) -> set[str]:
        """Return the clients that have connected to the broker so far, by the names in their certificates."""
        return set(re.findall(r"New client connected from \S+ as \S+ \(.*u'(\w+)'\)", self.log.read_text("utf-8")))


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make certificates as docs/bench.md says, and return their folder."""
    folder = tmp_path_factory.mktemp("bench") / "tls"
    assert main(["certs", str(folder), "localhost", "hil", "pit", "bets"]) == 0
    return folder


@pytest.fixture
def secured(certs: Path, tmp_path: Path) -> Iterator[SecuredBroker]:
    """Run a broker with the shipped configuration. Only the paths of its files, its port and its user are changed."""
    text = (SHIPPED / "mosquitto.conf").read_text("utf-8")
    for ours, theirs in {
        "/etc/mosquitto/acl": str(SHIPPED / "acl"),
        "/etc/mosquitto/broker.": f"{certs}/localhost.",
        "/etc/mosquitto/ca.crt": str(certs / "ca.crt"),
        "listener 8883\n": "listener {port} 127.0.0.1\n",
    }.items():
        assert ours in text
        text = text.replace(ours, theirs)
    with Broker(tmp_path, text) as broker:
        yield SecuredBroker(certs, broker.port, broker.log)


_TWICE = """
import pytest

@pytest.mark.parametrize("time", [1, 2])
def test_of_this_table_alone(time, table, dealer, pit, eventually):
    dealer.open_shoe()
    eventually(lambda: len(pit.events) == 1 and table.unacknowledged() == 0)
    assert {state.epoch for state in pit.states} == {table.status().pit.epoch}
    assert [line for line in table.log.splitlines() if "WARNING" in line and "trust_first_key" not in line] == []
"""


@pytest.mark.proof
def test_another_repository_deals_a_round_and_hears_nothing_of_an_earlier_tests_table(
    secured: SecuredBroker, tmp_path: Path
) -> None:
    """A test in another repository can play a round with this broker, and receives no message of an earlier test's
    table. Such a message could come, because every test's table is called `hil`, and the broker retains the table's
    state and its pit's last acknowledgement. A relative folder of certificates is found from the folder in which pytest
    is called."""
    (tmp_path / "here").symlink_to(secured.folder)
    named = ("--broker", f"mqtts://localhost:{secured.port}", "--broker-certs", "here")
    run = run_elsewhere(tmp_path, A_ROUND + _TWICE, *named)
    assert run.returncode == 0, run.stdout
    assert f"broker localhost:{secured.port} over TLS, header" in run.stdout
    assert secured.clients == {"hil", "pit"}


_ITS_OWN = (
    "every_fault.py::test_the_fault_comes_is_seen_and_is_left[wagers_differ]",
    "story.py::test_the_shoes_own_first_card_announces_it",
    "story.py::test_a_whole_round_from_new_shoe_to_a_royal_9_hit",
    "stream.py::test_a_journal_restored_from_an_old_copy_is_found_out_by_the_pits_word",
    "bet_recognition.py::test_only_the_key_that_two_people_adopted_stakes_and_each_of_its_words_stakes_once",
    # Last: the broker retains the key of this test's pit, which is another than that of the others.
    "five_games.py::test_the_pits_account_of_a_shoe_is_the_houses_to_the_cent[sugarhouse_midi]",
)
_CANNOT = (
    "stream.py::test_what_happens_while_the_broker_is_down_arrives_in_order",
    "stream.py::test_the_reference_pit_acknowledges_all_it_hears_also_after_a_kill",
    "midi.py::test_no_card_is_told_before_it_is_revealed",
)
"""These cannot be played at such a broker, and say why. All of these run without `--proof` too."""


@pytest.mark.proof
def test_the_bench_plays_its_own_tests_there_one_after_another(secured: SecuredBroker) -> None:
    of_this_bench = [f"{ROOT}/tests/hil/test_hil_{test}" for test in (*_ITS_OWN, *_CANNOT)]
    run = run_pytest(ROOT, *of_this_bench, *secured.options, CI="")
    assert run.returncode == 0, run.stdout
    assert f"{len(_ITS_OWN)} passed, {len(_CANNOT)} skipped" in run.stdout
    assert "the bench may not stop this broker" in run.stdout
    assert "two pits cannot be at a broker" in run.stdout
    assert "lets nobody hear everything" in run.stdout
    assert secured.clients == {"hil", "pit", "bets"}


def _without(name: str, certs: Path, to: Path) -> Path:
    copy: Path = shutil.copytree(certs, to)
    (copy / name).unlink()
    return copy


_HALF_TOLD = [
    (["--broker", "mqtts://pit.example"], "give both --broker mqtts://HOST[:PORT] and --broker-certs FOLDER"),
    (["--broker", "mqtt://pit.example", "--broker-certs", "CERTS"], "give both"),
    (["--broker-certs", "CERTS"], "give both"),
    (["--broker", "mqtts://pit.example", "--broker-certs", "absent"], "absent/ca.crt' cannot be read: No such file"),
    (["--broker", "mqtts://pit.example", "--broker-certs", "CERTS", "-n", "2"], "one test runs at a time"),
    (["--broker", "mqtts://pit.example", "--broker-certs", "ANOTHERS"], "hil.crt is for pit, not for hil"),
]
_FILES = ("ca.crt", "hil.crt", "hil.key", "pit.crt", "pit.key", "bets.crt", "bets.key")


@pytest.mark.proof
def test_certificates_that_lack_something_are_told_before_anything_runs(certs: Path, tmp_path: Path) -> None:
    """The bench refuses incomplete options or certificates before any test runs. The test tries three mistakes: only
    half of the options, a certificate for another name, and a folder in which one file is missing."""
    anothers = _without("hil.crt", certs, tmp_path / "anothers")
    shutil.copy(certs / "pit.crt", anothers / "hil.crt")
    named = {"CERTS": str(certs), "ANOTHERS": str(anothers)}
    wrong = [([named.get(option, option) for option in options], told) for options, told in _HALF_TOLD]
    for name in _FILES:
        folder = _without(name, certs, tmp_path / f"without {name}")
        options = ["--broker", "mqtts://10.0.0.5", "--broker-certs", str(folder)]
        wrong.append((options, f"{folder / name}' cannot be read: No such file"))
        wrong.append((options, "`tablectl certs FOLDER 10.0.0.5 hil pit bets` makes all"))
    calls = told_elsewhere(tmp_path, [options for options, _ in wrong])
    for (options, told), (code, said) in zip(wrong, calls, strict=True):
        assert (code, told in said) == (pytest.ExitCode.USAGE_ERROR, True), (options, said)
