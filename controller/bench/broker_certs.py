"""The bench's certificates for a broker that wants mutual TLS: a folder as `tablectl certs` writes it.

The broker's access list uses the common names in the certificates. So the table under test is called `hil`. The bench's
pit is called `pit`, and its client that publishes wagers, the bet recognition, is called `bets`.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from msgspec import Struct
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.contract.wire.mqtt_link import await_thread
from controller.contract.wire.mqtt_tls import TlsFiles, wrong_with

TABLE, PIT, BETS = "hil", "pit", "bets"
"""The three clients, by the common names of their certificates."""

_PATIENCE_S = 10.0


class BrokerCerts(Struct, frozen=True):
    """The folder with the certificates for a broker: `ca.crt`, and NAME.crt and NAME.key for each client."""

    folder: Path

    @classmethod
    def read(cls, folder: Path, host: str) -> BrokerCerts:
        """Check the folder for a broker at `host`, and return it. Raises ValueError, in words for people, for a folder
        that cannot be used."""
        certs = cls(folder)
        for name in (TABLE, PIT, BETS):
            for _, what, do in wrong_with(certs.files(name), name):
                all_of_it = f"tablectl certs FOLDER {host} {TABLE} {PIT} {BETS}"
                raise ValueError(f"{what}. {do} `{all_of_it}` makes all that a bench needs.")
        return certs

    def files(self, name: str) -> TlsFiles:
        """Return the PEM files (certificate, key and CA) of the client called `name`."""
        return TlsFiles(self.folder / "ca.crt", self.folder / f"{name}.crt", self.folder / f"{name}.key")

    def context(self, name: str) -> ssl.SSLContext:
        """Return the TLS context for the bench's own client called `name`."""
        files = self.files(name)
        context = ssl.create_default_context(cafile=files.ca)
        context.load_cert_chain(files.certificate, files.private_key)
        return context


def new_client(certs: BrokerCerts | None, name: str) -> Client:
    """Return an MQTT client that has not connected yet. If `certs` is given, the client uses the certificate with the
    common name `name`."""
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
    if certs is not None:
        client.tls_set_context(certs.context(name))
    return client


def say_once(
    host: str, port: int, certs: BrokerCerts | None, name: str, topic: str, payload: bytes, retain: bool = False
) -> None:
    """Connect to the broker as the client called `name`, publish one message, and disconnect."""
    client = new_client(certs, name)
    client.connect(host, port)
    client.loop_start()
    client.publish(topic, payload, qos=1, retain=retain).wait_for_publish(_PATIENCE_S)
    client.disconnect()
    await_thread(client)
