"""Imitated machines, as network namespaces on one bridge. Packets from any machine to any other can be dropped.

When packets are dropped, neither end of a connection is told, and neither receives a reset. This module needs root and
Debian's iproute2.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count

import pytest

needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("tc") is None, reason="needs root and Debian's iproute2, for namespaces"
)
KEEPALIVED = shutil.which("keepalived", path="/usr/sbin:/sbin")
needs_keepalived = pytest.mark.skipif(KEEPALIVED is None, reason="needs Debian's keepalived, which is not here")
HERE = "here"
"""The machine that the test's own process is on."""

_ports = count()


class Network:
    """A network of imitated machines. Each machine has the interface `eth0`. The last number of its address is the
    machine's place in the list, counted from 1.

    The machine `HERE` has its interface in the namespace of the test. `network` is the first three numbers of the
    addresses. If it is not given, the network is one of those that RFC 2544 reserves for tests.
    """

    def __init__(self, *machines: str, network: str = "") -> None:
        self._machines = machines
        self._network = network or f"198.18.{os.getpid() % 256}"
        self._name = f"net{os.getpid()}-{next(_ports)}"

    def __enter__(self) -> Network:
        _ip("netns", "add", self._name)
        _ip("-n", self._name, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._name, "link", "set", "bridge", "up")
        for place, machine in enumerate(self._machines, 1):
            if machine != HERE:
                _ip("netns", "add", self._space(machine))
                _ip("-n", self._space(machine), "link", "set", "lo", "up")
            there = [] if machine == HERE else ["netns", self._space(machine)]
            _ip("link", "add", self._leg(machine), *there, "type", "veth", "peer", f"p{place}", "netns", self._name)
            _ip("-n", self._name, "link", "set", f"p{place}", "master", "bridge", "up")
            _ip(*self._in(machine), "address", "add", f"{self.address(machine)}/24", "dev", self._leg(machine))
            _ip(*self._in(machine), "link", "set", self._leg(machine), "up")
            self._prepare_drops(machine)
        return self

    def __exit__(self, *_: object) -> None:
        for machine in self._machines:
            if machine != HERE:
                _ip("netns", "delete", self._space(machine))
        _ip("netns", "delete", self._name)  # with the bridge and the far end of each interface

    def address(self, machine: str) -> str:
        """Return the IP address of the machine."""
        return f"{self._network}.{self._machines.index(machine) + 1}"

    def on(self, machine: str) -> list[str]:
        """Return the command-line words that run a command on the machine when they stand before the command."""
        return [] if machine == HERE else ["ip", "netns", "exec", self._space(machine)]

    @contextmanager
    def cut(self, *ways: tuple[str, str]) -> Iterator[None]:
        """Drop the packets from a sender to a receiver while a block runs. Each of `ways` is a pair: the sender and the
        receiver."""
        for sender, receiver in ways:
            to = f"{self.address(receiver)}/32"
            self._tc(sender, "filter", "add", "parent", "1:", "protocol", "ip", "prio", self._prio(receiver),
                     "u32", "match", "ip", "dst", to, "flowid", "1:1")  # fmt: skip
        try:
            yield
        finally:
            for sender, receiver in ways:
                self._tc(sender, "filter", "delete", "parent", "1:", "prio", self._prio(receiver))

    def cut_off(self, machine: str) -> AbstractContextManager[None]:
        """Drop all that the machine sends, and all that is sent to it, while a block runs."""
        others = (other for other in self._machines if other != machine)
        return self.cut(*(way for other in others for way in both_ways(machine, other)))

    def _prepare_drops(self, machine: str) -> None:
        """Set up on the machine a class of packets that are dropped. At first no packet belongs to that class."""
        self._tc(machine, "qdisc", "add", "root", "handle", "1:", "htb", "r2q", "100000")
        self._tc(machine, "class", "add", "parent", "1:", "classid", "1:1", "htb", "rate", "1gbit")
        self._tc(machine, "qdisc", "add", "parent", "1:1", "blackhole")

    def _prio(self, receiver: str) -> str:
        return str(self._machines.index(receiver) + 1)

    def _space(self, machine: str) -> str:
        return f"{self._name}-{machine}"

    def _leg(self, machine: str) -> str:
        return self._name if machine == HERE else "eth0"

    def _in(self, machine: str) -> list[str]:
        return [] if machine == HERE else ["-n", self._space(machine)]

    def _tc(self, machine: str, what: str, do: str, *words: str) -> None:
        _run("tc", *self._in(machine), what, do, "dev", self._leg(machine), *words)


def both_ways(one: str, other: str) -> Sequence[tuple[str, str]]:
    """Return both directions between two machines, each as a pair of a sender and a receiver."""
    return (one, other), (other, one)


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
