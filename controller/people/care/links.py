"""The checks of what the table is connected to: the shoe's serial port, the broker, and the certificates with which the
table and the broker prove who they are."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import ssl
import stat
import struct
import termios
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from controller.contract.wire.mqtt_tls import TlsFiles, client_context, wrong_with
from controller.daemon.config.table_file import PitSection, ShoeSection
from controller.people.care.machine import Machine
from controller.people.care.row import Row, absent, fault, ok, warning
from drivers.devices import PRESENT_INPUT
from drivers.line.port import MODEM_LINES, unreadable_modem_line

_PATIENCE_S = 3.0
_REFUSAL_S = 1.0  # TLS 1.3: a broker that refuses a certificate says so right after the handshake
_RENEW_WITHIN = timedelta(days=30)
ACCOUNT = "table-controller"
"""The account that the table runs under."""

_GROUPS = ("dialout", "gpio")  # the unit gives them to the table's account
_RENEW = "Have the house's CA renew the certificate, and replace the file: docs/broker.md, Renewing a certificate."


def shoe_port(machine: Machine, shoe: ShoeSection) -> Iterator[Row]:
    """Check that the shoe's serial port exists, that the table may open it, and that no other program has it open."""
    if shoe.port.startswith("socket://"):
        yield ok("shoe's port", f"The shoe is at the serial server {shoe.port}.")
        return
    port = machine.at(shoe.port)
    if not port.exists():
        there = sorted(path.name for path in machine.at("/dev/serial/by-id").glob("*"))
        plugged = f"Plugged in: {', '.join(there)}." if there else "No serial adapter is plugged in."
        says = f"There is no {shoe.port}. {plugged}"
        do = "Plug the shoe's adapter in. For a new adapter, write its name in /dev/serial/by-id as [shoe] port."
        yield fault("shoe's port", "port_missing", says, do)
        return
    if not _may_open(machine, port):
        says = f"The table's account may not open {shoe.port}: the port's group is {machine.group(port.stat().st_gid)}."
        do = "Plug the adapter in again, or give the port back to dialout: sudo udevadm trigger --subsystem-match=tty"
        yield fault("shoe's port", "port_refused", says, do)
    others = [(number, words) for number, words in machine.holders(Path(shoe.port)) if not _is_table(words)]
    for number, words in others:
        known = "sudo systemctl disable --now ModemManager" if "ModemManager" in words else f"sudo kill {number}"
        says = f"Another program has {shoe.port} open, and takes bytes from the table: process {number}, {words}."
        yield fault("shoe's port", "port_taken", says, f"Stop that program: {known}")
    if re.fullmatch(r"/dev/tty(USB|ACM)\d+", shoe.port):
        says = f"{shoe.port} may be another adapter's name after a restart."
        do = "Write the adapter's name from /dev/serial/by-id as [shoe] port: ls -l /dev/serial/by-id"
        yield warning("shoe's port", "port_not_by_id", says, do)
    elif not others and _may_open(machine, port):
        yield ok("shoe's port", f"{shoe.port} is there, and the table's account may open it.")


def shoes_plug(machine: Machine, shoe: ShoeSection) -> Iterator[Row]:
    """Check that the table would notice if somebody pulled the cable out at the shoe's end and left the serial adapter
    plugged in."""
    part, is_asked = "shoe's plug", shoe.driver.asking is not None and shoe.ask != "off"
    if shoe.present in MODEM_LINES:
        yield from _modem_line(machine, shoe, shoe.present)
    elif shoe.present is not None:
        yield ok(part, f"The input {PRESENT_INPUT} shows the shoe's plug.")
    if is_asked:
        yield ok(part, "The table asks the shoe twice a second whether it is there.")
    elif shoe.present is None:
        cards = "ten reports" if shoe.driver.bits_until_numbers_repeat else "any number of cards"
        says = f"Where the plug is pulled at the shoe's end, nobody notices {cards} that are dealt meanwhile."
        do = "Lead RTS back to CTS in the plug at the shoe's end, or wire its supply to an input: docs/wiring.md."
        yield warning(part, "plug_unseen", says, do)


def _modem_line(machine: Machine, shoe: ShoeSection, line: str) -> Iterator[Row]:
    """Check that the serial port can read the modem line `line` (CTS, DSR or DCD), and that the line shows that the
    shoe is plugged in. No byte is read or sent."""
    part, bits = "shoe's plug", {"cts": termios.TIOCM_CTS, "dsr": termios.TIOCM_DSR, "dcd": termios.TIOCM_CAR}
    try:
        port = os.open(machine.at(shoe.port), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield absent(part, f"{shoe.port} cannot be opened, so its modem line {line.upper()} cannot be read.")
        return
    try:
        lines = struct.unpack("I", fcntl.ioctl(port, termios.TIOCMGET, bytes(4)))[0]
    except OSError as error:
        unreadable = unreadable_modem_line(shoe.port, line, error)
        yield fault(part, "modem_line_unreadable", f"{unreadable.what[0].upper()}{unreadable.what[1:]}.", unreadable.do)
        return
    finally:
        os.close(port)
    if lines & bits[line]:
        yield ok(part, f"The modem line {line.upper()} shows the shoe's plug.")
    else:
        do = "Put the plug in at the shoe's end, and see that it leads RTS back on that line: docs/wiring.md."
        yield fault(part, "plug_out", f"The modem line {line.upper()} of {shoe.port} shows no plug.", do)


def _may_open(machine: Machine, port: Path) -> bool:
    """Tell whether the account under which the table runs may open the port. If the machine has no such account, judge
    by the rights of the present user."""
    held, account = port.stat(), machine.account(ACCOUNT)
    if account in (None, os.geteuid()):
        return os.access(port, os.R_OK | os.W_OK)
    of_group = held.st_mode & stat.S_IRGRP and machine.group(held.st_gid) in _GROUPS
    return bool(held.st_uid == account or of_group or held.st_mode & stat.S_IROTH)


def _is_table(words: str) -> bool:
    return bool(re.search(r"(tablectl|controller\.people\.cli\.main)\s+run\b", words))


def certificates(machine: Machine, pit: PitSection, table: str) -> Iterator[Row]:
    """Check that the table's files for mutual TLS work today. Warn if one of them expires within 30 days; otherwise say
    until when they work. Report a fault if the connection is not encrypted, or if others may read the private key."""
    named = pit.tls
    if named is None:
        if pit.is_local:
            yield absent("certificates", "The broker is on this machine, and no certificate is asked for.")
            return
        brokers = " and ".join(pit.brokers)
        says = f"The connection to {brokers} is not encrypted: anybody on the network can read and change it."
        do = "Give the table a certificate: docs/broker.md; then ca, certificate and private_key under [pit]."
        yield fault("certificates", "no_tls", says, do)
        return
    files = TlsFiles(
        machine.at(named.ca),
        machine.at(named.certificate),
        machine.at(named.private_key),
        None if named.crl is None else machine.at(named.crl),
    )
    if files.private_key.exists() and not os.access(files.private_key, os.R_OK):
        yield absent("certificates", f"This user may not read {files.private_key}.", "sudo tablectl doctor")
        return
    wrong = [fault("certificates", f"{key}_unusable", f"{what}.", do) for key, what, do in wrong_with(files, table)]
    if wrong:
        yield from wrong
        return
    ends = {path: end for path, end in _ends(files) if end is not None}
    for path, end in ends.items():
        if end - datetime.now(UTC) < _RENEW_WITHIN:
            days = (end - datetime.now(UTC)).days
            yield warning("certificates", "certificate_ends", f"{path} is good for {days} days more.", _RENEW)
    if all(end - datetime.now(UTC) >= _RENEW_WITHIN for end in ends.values()):
        yield ok("certificates", f"The certificates are the table's, and good until {min(ends.values()):%Y-%m-%d}.")
    if files.private_key.stat().st_mode & 0o077:
        do = f"sudo chmod 600 {named.private_key}"
        yield fault("certificates", "key_open", f"Others may read the table's private key {named.private_key}.", do)


def _ends(files: TlsFiles) -> Iterator[tuple[Path, datetime | None]]:
    from cryptography import x509

    for path in (files.ca, files.certificate):
        yield path, min(each.not_valid_after_utc for each in x509.load_pem_x509_certificates(path.read_bytes()))
    if files.crl is not None:
        yield files.crl, x509.load_pem_x509_crl(files.crl.read_bytes()).next_update_utc


def broker(machine: Machine, pit: PitSection, table: str) -> Iterator[Row]:
    """Check that each broker answers, and that its certificate proves it to be the house's. No MQTT message is sent."""
    for host in pit.brokers:
        yield from _reached(pit, host, table)


def _reached(pit: PitSection, host: str, table: str) -> Iterator[Row]:
    at = f"{host}:{pit.port}"
    try:
        with socket.create_connection((host, pit.port), _PATIENCE_S) as line:
            if pit.tls is None:
                yield ok("broker", f"{at} answers.")
                return
            if [*wrong_with(pit.tls, table)]:
                yield absent("broker", f"{at} answers. Without good certificates its identity cannot be checked.")
                return
            with client_context(pit.tls, table).wrap_socket(line, server_hostname=host) as secure:
                found = [*_of_broker(at, secure)]
                secure.settimeout(_REFUSAL_S)
                with suppress(TimeoutError):
                    secure.recv(1)
                yield from found
    except ssl.SSLError as error:
        if "ALERT" in (error.reason or ""):
            alert = str(error.reason).partition("ALERT_")[2].replace("_", " ").lower()
            says = f"{at} refuses this table's certificate: {alert}."
            do = (
                "Was the certificate renewed or revoked? Example: a backup holds the certificate of its day. Put the "
                "good certificate and its key in place: docs/broker.md, Renewing a certificate."
            )
            yield fault("broker", "certificate_refused", says, do)
            return
        says = f"{at} answers, but is not trusted: {getattr(error, 'verify_message', '') or error.reason or error}."
        do = "Compare the CA here with the broker's own: docs/broker.md. Look at this machine's clock too."
        yield fault("broker", "broker_untrusted", says, do)
    except OSError as error:
        do = f"Look at the network's cable and address (ip address), at [pit], and at the broker: ping {host}"
        yield fault("broker", "broker_unreachable", f"{at} does not answer: {error.strerror or error}.", do)


def _of_broker(at: str, secure: ssl.SSLSocket) -> Iterator[Row]:
    ends: datetime | None = None
    with suppress(KeyError, TypeError, ValueError):
        not_after = str((secure.getpeercert() or {})["notAfter"])
        ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(not_after), UTC)
    if ends is not None and ends - datetime.now(UTC) < _RENEW_WITHIN:
        says = f"The certificate of the broker {at} ends on {ends:%Y-%m-%d}."
        yield warning("broker", "broker_certificate_ends", says, "Have the keeper of the broker renew the certificate.")
    else:
        yield ok("broker", f"{at} answers, and its certificate is of the house's CA.")
