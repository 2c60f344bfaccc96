"""The part of `tablectl setup` that asks about the pit's MQTT broker: on which host it runs, and with which
certificates the table and the broker identify themselves. The setup then tries to connect."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from pwd import getpwnam
from typing import Any

from controller.daemon.config.table_file import PitSection, is_local, mistakes_in_brokers
from controller.people.care.links import ACCOUNT, broker, certificates
from controller.people.care.machine import Machine
from controller.people.care.row import Row, Verdict
from controller.people.cli.doctor import row_lines
from controller.people.cli.setup.draft import Draft
from controller.people.cli.setup.questions import Dialogue

_FILES = ("ca", "certificate", "private_key", "crl")
_CREDENTIALS = "/run/credentials"
_RESOLVER = Path("/etc/resolv.conf")


def ask_broker(dialogue: Dialogue, folder: Path, draft: Draft) -> str:
    """Ask the technician for the section `[pit]` of the table's file, put the answers into the draft of that file, and
    try to connect to the broker. Returns in sentences what the attempt found."""
    pit = draft.pit
    while True:
        explains = (
            "The name or address of the MQTT broker between table and pit. With TLS: the name in its certificate. "
            "Where the pit serves several brokers alike, name each of them, with blanks between them."
        )
        default = " ".join(pit.get("hosts", ())) or "127.0.0.1"
        named = dialogue.ask("pit.host", "Host of the pit's broker", explains, default, _brokers)
        for key in {"host", "hosts"} - named.keys():
            pit.pop(key, None)
        pit |= named
        tls = dialogue.agrees(
            "setup.tls",
            "With TLS",
            "Without TLS everybody on the network can read each round and speak as the pit. Only a broker on this "
            "machine needs no TLS.",
            not PitSection(**named).is_local,
        )
        default = "8883" if tls else "1883"
        pit |= {"port": dialogue.ask("pit.port", "Port of the broker", f"Usually {default}.", default, _port)}
        if tls:
            _ask_files(dialogue, folder / "tls", draft)
        else:
            for key in _FILES:
                pit.pop(key, None)
        explains = "How every topic begins. Table and pit must agree."
        pit |= {"root": dialogue.ask("pit.root", "Root of the topics", explains, "pit/v1", str)}
        rows = _tried(draft)
        dialogue.say(*row_lines(rows))
        found = " ".join(row.says for row in rows)
        well = all(row.verdict is not Verdict.FAULT for row in rows)
        if well or dialogue.terminal is None:
            return found
        if dialogue.agrees("setup.broker_stays", "Go on all the same", "The table deals without its pit too.", False):
            return found
        dialogue.asks_again("pit.", "setup.tls", "setup.broker_stays")


def _ask_files(dialogue: Dialogue, tls: Path, draft: Draft) -> None:
    own, secret = draft.id, Path()
    for key, says, file in (
        ("ca", "The house's CA", "ca.crt"),
        ("certificate", "The table's certificate", f"{own}.crt"),
        ("private_key", "The key of that certificate", f"{own}.key"),
    ):
        explains = f"A PEM file. The certificate's common name is {own}."
        named = dialogue.ask(f"pit.{key}", says, explains, str(tls / file), _file)
        draft.pit[key] = named
        secret = Path(named)  # the last of them is the key
    with suppress(KeyError):  # a machine without the package has no such account
        account = getpwnam(ACCOUNT)
        if os.geteuid() == 0 and secret.stat().st_uid != account.pw_uid and not secret.is_relative_to(_CREDENTIALS):
            explains = "The table runs under that account and must read this key. Nobody else can read the key then."
            if dialogue.agrees("setup.key_owner", f"Give {secret} to {ACCOUNT}, mode 600", explains, True):
                os.chown(secret, account.pw_uid, account.pw_gid)
                secret.chmod(0o600)


def _tried(draft: Draft) -> list[Row]:
    """Check the certificates in the draft of the table's file, and try a connection to each broker. No MQTT message is
    sent. Returns a row of findings for each check."""
    section = PitSection(**{name: draft.pit[name] for name in ("host", "hosts", "port", *_FILES) if name in draft.pit})
    return [*certificates(Machine(), section, draft.id), *broker(Machine(), section, draft.id)]


def ask_networks(dialogue: Dialogue, draft: Draft) -> list[str]:
    """Ask the technician which networks the table may communicate with, besides its own machine. Returns the networks,
    or ["any"] for no limit."""
    default = " ".join(dict.fromkeys(_needed(draft))) or "localhost"
    explains = (
        "The kernel then lets the table speak only with these addresses. Write those of the broker, of a serial server "
        "and of a name server that the table needs. Example: 10.20.0.0/16. localhost: only this machine. any: no limit."
    )
    return dialogue.ask("setup.networks", "Networks that the table may speak with", explains, default, _networks)


def _needed(draft: Draft) -> Iterator[str]:
    """Yield the present IP addresses of the remote hosts with which the table must communicate: the brokers, a serial
    server and, if a host is given by name, the name servers. Yields "any" for a name that is not found."""
    hosts = [*PitSection(draft.pit.get("host"), draft.pit.get("hosts")).brokers]
    if (server := re.fullmatch(r"socket://(.+):[0-9]+", draft.shoe.get("port", ""))) is not None:
        hosts.append(server[1])
    for host in hosts:
        if is_local(host):
            continue
        try:
            yield str(ipaddress.ip_address(host))
        except ValueError:
            yield from _resolved(host)


def _resolved(host: str) -> Iterator[str]:
    """Yield the IP addresses of a host name, and those of this machine's name servers. Yields only "any" if the name is
    not found."""
    try:
        yield from (str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
    except OSError:
        yield "any"
        return
    servers = re.findall(r"^nameserver\s+(\S+)", _RESOLVER.read_text("utf-8"), re.M) if _RESOLVER.exists() else []
    yield from (server for server in servers if not is_local(server))


def _networks(text: str) -> list[str]:
    words = text.replace(",", " ").split()
    if "any" in words:
        return ["any"]
    for word in words:
        if word != "localhost":
            try:
                ipaddress.ip_network(word)
            except ValueError as error:
                raise ValueError(f"{error}. Write networks such as 10.20.0.0/16, localhost, or any.") from None
    return words


def _brokers(text: str) -> dict[str, Any]:
    """Parse a technician's answer with one or several host names of the broker. Returns the key `host` or `hosts` of
    the section `[pit]` with its value. Raises ValueError for a wrong host name."""
    hosts = tuple(text.split())
    named = {"host": hosts[0]} if len(hosts) == 1 else {"hosts": hosts}
    for _, what, do in mistakes_in_brokers(PitSection(**named)):
        raise ValueError(f"{what}. {do}")
    return named


def _port(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise ValueError("Write a number from 1 to 65535.")
    return int(text)


def _file(text: str) -> str:
    if not text.startswith("/") or not Path(text).is_file():
        raise ValueError(f"There is no file {text}. Write the full path of a PEM file.")
    return text
