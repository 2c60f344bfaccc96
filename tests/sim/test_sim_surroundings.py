"""Tests of the network ports that the demo, the practice table and the tests reserve. A free port of this machine that
was reserved stays free until it is used."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from controller.people.cli.programs import free_port, python


def _given_to_another_process(wanted: Iterable[int]) -> set[int]:
    said = "from controller.people.cli.programs import free_port; "
    said += f"print(*(free_port(port) for port in {sorted(wanted)}))"
    return {int(port) for port in subprocess.check_output(python("-c", said), text=True).split()}


def test_a_port_that_was_given_is_nobody_elses_before_it_is_used() -> None:
    """A network port that was given out stays reserved until a broker starts on it. No other process and no outgoing
    connection can take the port."""
    ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    mine = {free_port() for _ in range(60)}
    assert len(mine) == 60
    assert max(mine) < ephemeral
    assert not mine & _given_to_another_process(mine)


def test_the_wanted_port_is_given_when_it_is_free() -> None:
    wanted = free_port()
    for _ in range(64):
        free_port()  # the claim on the first port ends
    assert free_port(wanted) == wanted
