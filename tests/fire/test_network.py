"""Tests of the simulated network (Linux network namespaces). A cut drops packets in the chosen direction only, and
neither end of a connection is told of the cut."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.support.network import HERE, Network, both_ways, needs_namespaces

pytestmark = [pytest.mark.proof, needs_namespaces]
_ECHO = "import socket; s = socket.create_server(('0.0.0.0', 7)); print(flush=True)\nwhile 1: s.accept()[0].send(b'x')"
_ASK = "import socket, sys; socket.create_connection((sys.argv[1], 7), 0.5).recv(1)"


@pytest.fixture
def network() -> Iterator[Network]:
    with Network("one", "two", HERE) as network:
        echoes = [
            subprocess.Popen([*network.on(machine), "python3", "-c", _ECHO], stdout=subprocess.PIPE)
            for machine in ("one", "two", HERE)
        ]
        for echo in echoes:
            assert echo.stdout is not None
            echo.stdout.readline()
        yield network
        for echo in echoes:
            echo.kill()
            echo.communicate()


def _answer(network: Network, asks: str, at: str) -> str:
    """Send a question from the machine `asks` to the machine `at`. Returns "" if the machine answered, otherwise the
    text of the error."""
    asking = [*network.on(asks), "python3", "-c", _ASK, network.address(at)]
    return subprocess.run(asking, capture_output=True, text=True).stderr.strip().rpartition("\n")[2]


@pytest.mark.parametrize("way", [("one", "two"), (HERE, "two")])
def test_a_cut_drops_what_goes_that_way_and_nothing_else(network: Network, way: tuple[str, str]) -> None:
    machines = "one", "two", HERE
    pairs = [(asks, at) for asks in machines for at in machines if asks != at]
    with network.cut(way):
        for asks, at in pairs:
            cut = {asks, at} == set(way)  # either the question or the answer is dropped
            assert _answer(network, asks, at) == ("TimeoutError: timed out" if cut else "")
    assert [_answer(network, *pair) for pair in pairs] == [""] * len(pairs)


def test_two_ways_can_be_cut_at_once(network: Network) -> None:
    with network.cut(*both_ways("one", "two")):
        assert _answer(network, "one", "two") == _answer(network, "two", "one") == "TimeoutError: timed out"
        assert _answer(network, "one", HERE) == ""
