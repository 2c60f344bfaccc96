"""The address of a running broker, as the option `--broker` names it."""

from __future__ import annotations

import argparse
from urllib.parse import urlsplit

from msgspec import Struct

_PORTS = {"mqtt": 1883, "mqtts": 8883}


class Address(Struct, frozen=True):
    """The host and port of a broker, and whether the broker is reached over TLS."""

    host: str
    port: int
    tls: bool


def broker_address(url: str) -> Address:
    """Parse the address in `mqtt://HOST[:PORT]`, `mqtts://HOST[:PORT]` or `HOST:PORT`.

    Raises ArgumentTypeError for any other text. The error does not repeat the text, which may hold a password.
    """
    try:
        parts = urlsplit(url if "://" in url else f"mqtt://{url}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"this is not an address of a broker: {error}") from None
    if "@" in parts.netloc:
        raise argparse.ArgumentTypeError("the bench has no passwords: write mqtt://HOST[:PORT] or mqtts://HOST[:PORT]")
    if parts.scheme not in _PORTS or not host or port == 0 or parts.path.strip("/") or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError(
            "this is not an address of a broker: write mqtt://HOST[:PORT], mqtts://HOST[:PORT] or HOST:PORT"
        )
    return Address(host, port or _PORTS[parts.scheme], parts.scheme == "mqtts")
