"""A pit's broker with the shipped configuration, with certificates from a test CA, and clients of it that use no
product code."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.contract.wire.mqtt_tls import TlsFiles
from controller.people.cli.certs import BenchCa
from controller.people.cli.programs import free_port
from tests.support.brokers import Broker, Peer

SHIPPED = Path(__file__).parents[2] / "config" / "mosquitto"
HOST = "localhost"
CLIENTS = ("royal9-01", "royal9-02", "pit", "pit-page", "bets")


class House:
    """The broker on `localhost:port`, and the PEM files of all its clients."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.ca = BenchCa()
        (folder / "ca.crt").write_bytes(self.ca.certificate)
        for name in CLIENTS:
            write(folder, name, self.ca.issue(name))
        self.broker = write(folder, "broker", self.ca.issue(HOST))

    def files(self, name: str) -> TlsFiles:
        """Return the PEM files of one client."""
        return TlsFiles(self.folder / "ca.crt", self.folder / f"{name}.crt", self.folder / f"{name}.key")

    def config(self, revoking: bool = False) -> str:
        """Return the shipped configuration with another port.

        With `revoking`, the line that names the list of revoked certificates is not commented out.
        """
        text = (SHIPPED / "mosquitto.conf").read_text("utf-8")
        assert "listener 8883\n" in text
        if revoking:
            assert "\n#crlfile " in text
            text = text.replace("\n#crlfile ", "\ncrlfile ")
        return text.replace("listener 8883\n", "listener {port} 127.0.0.1\n")


def write(folder: Path, name: str, pair: tuple[bytes, bytes]) -> tuple[Path, Path]:
    """Write a certificate and its key to NAME.crt and NAME.key."""
    paths = folder / f"{name}.crt", folder / f"{name}.key"
    for path, pem in zip(paths, pair, strict=True):
        path.write_bytes(pem)
    return paths


@contextmanager
def running_house(folder: Path) -> Iterator[House]:
    """Run a broker with the shipped configuration. Skips the test where Mosquitto is not installed."""
    house = House(folder)
    with broker_of(house):
        yield house


def broker_of(house: House, revoking: bool = False) -> Broker:
    """Return the broker of a house, for a test to start. It remembers nothing of an earlier run."""
    return Broker(house.folder, house.config(revoking), (SHIPPED / "acl").read_text("utf-8"), house.port)


def peer(house: House, name: str, *topics: str) -> Peer:
    """Connect and subscribe a client with one of the house's certificates."""
    files = house.files(name)
    context = ssl.create_default_context(cafile=files.ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # what Python 3.13 asks of a certificate
    context.load_cert_chain(files.certificate, files.private_key)
    return Peer(house.port, *topics, host=HOST, context=context)
