"""A simulated bet recognition, which reports wagers to a table in signed messages. It can also act as a faulty network
or as a thief.

The program is written from the contract. Use it for practice only, because its private key is in this file.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from drivers.sim.signing import canonical, public_hex, signed


class _State(msgspec.Struct, frozen=True):
    """The round for which bet recognition reports wagers. It is read from the table's state message, which may come
    some time after the table has gone on to another round."""

    table: str | None = None
    epoch: str | None = None
    shoe: int | None = None
    round: int | None = msgspec.field(default=None, name="next_round")


class _Refused(msgspec.Struct, frozen=True):
    """A wager that the table has refused, with the code that gives the reason."""

    seat: int
    back: bool
    spot: str
    cents: int
    code: str


_KEY = Ed25519PrivateKey.from_private_bytes(b"the simulated bet recognition's key"[:32])
_THIEF = Ed25519PrivateKey.from_private_bytes(b"a key that nobody adopted anywhere"[:32])

_PATIENCE_S, _POLL_S = 2.0, 0.02

PUBLIC_KEY = public_hex(_KEY)
"""Its public key, which two people adopt at the table."""


class SimulatedRecognition:
    """A simulated bet recognition for the table on `topic`. `on_word` is called with a line of text for each wager that
    the table refuses, in paho's thread. Raises OSError if there is no broker."""

    def __init__(self, host: str, port: int, topic: str, on_word: Callable[[str], None]) -> None:
        self._topic = topic
        self._told = on_word
        self._state = _State()
        self._seq = 0
        self._last: bytes | None = None
        self._client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        self._client.on_connect = lambda client, *_: client.subscribe(
            [(f"{topic}/state", 1), (f"{topic}/wager-refused", 1)]
        )
        self._client.on_message = self._heard
        self._client.connect(host, port)
        self._client.loop_start()

    def close(self) -> None:
        """Disconnect the simulated bet recognition from the broker."""
        self._client.disconnect()
        self._client.loop_stop()

    def sees(self, seat: int, back: bool, spot: str, cents: int) -> None:
        """Report chips worth `cents` on a spot, for the round that the table's state names as the next one. Raises
        ValueError if the state names no next round."""
        self._last = self._word(_KEY, seat=seat, back=back, spot=spot, cents=cents)
        self._say(self._last)

    def again(self) -> None:
        """Send the last report of chips a second time, as a faulty network does. Raises ValueError if nothing was sent
        yet."""
        if self._last is None:
            raise ValueError("nothing was said yet")
        self._say(self._last)

    def forged(self, seat: int, back: bool, spot: str, cents: int) -> None:
        """Report chips on a spot, signed with a key that no table has adopted. A thief with access to the broker could
        do this."""
        self._say(self._word(_THIEF, seat=seat, back=back, spot=spot, cents=cents))

    def _word(self, key: Ed25519PrivateKey, **chips: object) -> bytes:
        gives_up_s = time.monotonic() + _PATIENCE_S
        while None in msgspec.structs.astuple(place := self._state):
            if time.monotonic() >= gives_up_s:
                raise ValueError("the table has no open shoe")
            time.sleep(_POLL_S)
        self._seq = max(self._seq + 1, time.time_ns() // 1_000_000)
        return canonical(signed({**msgspec.structs.asdict(place), **chips, "seq": self._seq}, key))

    def _say(self, word: bytes) -> None:
        self._client.publish(f"{self._topic}/wager", word, qos=1)

    def _heard(self, _client: Client, _data: object, message: MQTTMessage) -> None:
        if message.topic.endswith("/state"):
            self._state = msgspec.json.decode(message.payload, type=_State)
        else:
            said = msgspec.json.decode(message.payload, type=_Refused)
            seat = f"{said.seat}{'b' * said.back}"
            self._told(f"bet recognition is told: {seat} {said.spot} {said.cents}: {said.code}")
