"""A Mosquitto broker for tests with the configuration that the product ships, and certificates from a test CA. Its test
clients use no code of the product."""

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
    """A broker's files for tests: its configuration on `localhost:port`, its own certificate, and the PEM files of all
    its clients."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.ca = BenchCa()
        (folder / "ca.crt").write_bytes(self.ca.certificate)
        for name in CLIENTS:
            write(folder, name, self.ca.issue(name))
        self.broker = write(folder, "broker", self.ca.issue(HOST))

    def files(self, name: str) -> TlsFiles:
        """Return the paths of the PEM files of the client with this name."""
        return TlsFiles(self.folder / "ca.crt", self.folder / f"{name}.crt", self.folder / f"{name}.key")

    def config(self, revoking: bool = False) -> str:
        """Return the text of the shipped Mosquitto configuration, with a placeholder for the port.

        In the shipped text, the line that names the list of revoked certificates is a comment. If `revoking` is True,
        that line is in force.
        """
        text = (SHIPPED / "mosquitto.conf").read_text("utf-8")
        assert "listener 8883\n" in text
        if revoking:
            assert "\n#crlfile " in text
            text = text.replace("\n#crlfile ", "\ncrlfile ")
        return text.replace("listener 8883\n", "listener {port} 127.0.0.1\n")


def write(folder: Path, name: str, pair: tuple[bytes, bytes]) -> tuple[Path, Path]:
    """Write a certificate and its key (`pair`) to NAME.crt and NAME.key in this folder, and return both paths."""
    paths = folder / f"{name}.crt", folder / f"{name}.key"
    for path, pem in zip(paths, pair, strict=True):
        path.write_bytes(pem)
    return paths


@contextmanager
def running_house(folder: Path) -> Iterator[House]:
    """Run a Mosquitto broker with the shipped configuration while the `with` block runs. Skips the test if Mosquitto is
    not installed."""
    house = House(folder)
    with broker_of(house):
        yield house


def broker_of(house: House, revoking: bool = False) -> Broker:
    """Return a broker with the files of this house, which the test has yet to start. The broker begins without any
    stored messages. With `revoking`, it refuses the certificates on its list of revoked ones."""
    return Broker(house.folder, house.config(revoking), (SHIPPED / "acl").read_text("utf-8"), house.port)


def peer(house: House, name: str, *topics: str) -> Peer:
    """Connect a client with the certificate of this name to the broker, and subscribe it to these topics."""
    files = house.files(name)
    context = ssl.create_default_context(cafile=files.ca)
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # what Python 3.13 asks of a certificate
    context.load_cert_chain(files.certificate, files.private_key)
    return Peer(house.port, *topics, host=HOST, context=context)
