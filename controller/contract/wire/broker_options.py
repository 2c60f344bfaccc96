"""Command-line options that say where the MQTT broker is and which files mutual TLS uses. The pit and the conformance
kit have these options."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from controller.basics.errors import TableError
from controller.contract.wire.mqtt_tls import TlsFiles, client_context


def add_broker(parser: ArgumentParser, whose: str, required: bool = True) -> None:
    """Add the options for the MQTT broker, the root of the topics and the TLS files. `whose` names the owner of the
    certificate in the help text, such as "the pit's"."""
    parser.add_argument("--broker", type=host_and_port, required=required, metavar="HOST:PORT")
    parser.add_argument("--root", default="pit/v1", help="the topics' root, as in the tables' files (%(default)s)")
    for name, what in (("ca", "the house's CA"), ("certificate", f"{whose} own"), ("private-key", "and its key")):
        parser.add_argument(f"--{name}", type=Path, metavar="PEM", help=f"mutual TLS, all three or none: {what}")
    parser.add_argument("--crl", type=Path, metavar="PEM", help="with TLS: the CA's list of revoked certificates")


def host_and_port(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT` for argparse. Raises ArgumentTypeError if the text does not have this form."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.strip("[]"), int(port)


def tls_files(options: Namespace) -> TlsFiles | None:
    """Check the TLS files that the command line names, and return their paths. Returns None if the command line names
    none.

    Raises TableError `tls_incomplete` or `tls_unusable`.
    """
    files = (options.ca, options.certificate, options.private_key)
    if not any(files):
        if options.crl is not None:
            raise TableError("tls_incomplete", "--crl is for TLS.", "Give --ca, --certificate and --private-key too.")
        return None
    if not all(files):
        raise TableError("tls_incomplete", "TLS needs all three files.", "Give --ca, --certificate and --private-key.")
    tls = TlsFiles(*files, options.crl)
    client_context(tls)  # what is wrong with them is told before anything is begun
    return tls
