"""Refusals of messages that claim to come from a table, but use a key or an epoch (the random name of a journal) that
nobody has adopted. The module also has the texts in which people are told of them."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from msgspec import Struct, field

from controller.contract.bounds import MOST_SEQ, is_count
from controller.contract.canonical import parse_object
from controller.contract.fingerprint import fingerprint
from controller.contract.keys import signature_holds
from controller.pit.reference.adoptions import Adoption, Adoptions
from controller.pit.reference.incoming import FORMS, RefusedError, TableEvent, in_form
from controller.pit.reference.store import Store

_MOST_KEYS_TRIED = 4  # and named, of those seen in an epoch: each takes a tenth of a millisecond an event
_MOST_SHOWN = 1000  # keys that wait for a disk that takes nothing

_INSTALLED = Path("/usr/bin/pitctl")
_HEX_OF_KEY = 64
_KEY = re.compile("[0-9a-f]{32}|[0-9a-f]{64}")  # a fingerprint, or the key itself


class Met(Struct):
    """The result of judging tables' state messages. `adopted` are the tables that were adopted just now. `refused`
    holds pairs: a table and its refusal. `to_look` are the tables for which the caller must check whether all their
    events are committed by now."""

    adopted: list[str] = field(default_factory=list)
    refused: list[tuple[str, RefusedError]] = field(default_factory=list)
    to_look: set[str] = field(default_factory=set)


class Strangers:
    """The keys that tables' states showed and that nobody has adopted. Every method must be called inside the ledger's
    transaction."""

    def __init__(self, db: Store, adoptions: Adoptions) -> None:
        self._db = db
        self._adoptions = adoptions
        self.control: str | None = None  # the pit's own control socket, where it is another than the package's
        self.shown: list[tuple[str, str, bytes]] = []  # table, epoch and key of states, not kept yet

    def offered(self, table: str, epoch: str, key: str) -> Adoption:
        """Return the adoption of this epoch under this key, which people may then confirm. `key` is a key's 64 hex
        digits or the fingerprint of a key that was seen. Raises RefusedError `adoption_malformed` or `key_unseen`."""
        digits = "".join(key.split()).lower()
        for name, value, form in (
            ("table", table, FORMS["table"]),
            ("epoch", epoch, FORMS["epoch"]),
            ("public key or fingerprint", digits, _KEY),
        ):
            if not form.fullmatch(value):
                raise RefusedError(
                    "adoption_malformed",
                    f"{value!r} cannot be a {name}.",
                    "Copy the three words from the pit's message about the table: `alarms` shows that message.",
                )
        if len(digits) == _HEX_OF_KEY:
            return Adoption(epoch, bytes.fromhex(digits))
        for seen in self.keys_seen(table, epoch):
            if "".join(fingerprint(seen).split()) == digits:
                return Adoption(epoch, seen)
        raise RefusedError(
            "key_unseen",
            f"The pit has seen no key of table {table} in the epoch {epoch} that has this fingerprint.",
            "Compare the fingerprint with `tablectl status` at the table. Check that the table reaches the pit's"
            " broker.",
        )

    def refusal(self, table: str, shown: Adoption) -> RefusedError:
        """Return the refusal for a table that shows an epoch or key whose adoption is not in force. A key that was not
        seen before is remembered in memory, while there is room; the ledger keeps it later."""
        epoch = shown.epoch
        adopted, seen = self._adoptions.key_of(table, epoch), self.keys_seen(table, epoch)
        others = [key for key in seen if key != shown.public_key]
        if len(others) == len(seen) and len(self.shown) < _MOST_SHOWN:
            self.shown.append((table, epoch, shown.public_key))
        if adopted not in (None, shown.public_key):
            return self.of_another_key(table, epoch, shown.public_key, adopted)
        command = self._command("adopt", table, epoch, shown.public_key.hex())
        if others:
            shown_before = " and ".join(sorted(map(fingerprint, others[:_MOST_KEYS_TRIED])))
            return RefusedError(
                "epoch_of_another_key",
                f"Table {table} speaks in the epoch {epoch} with two keys: now {shown.fingerprint}, and {shown_before}"
                " before. One of them is not the table's.",
                "Compare both with the key that `tablectl status` shows at the table. If that key is"
                f" {shown.fingerprint}, adopt it: {command}",
            )
        return RefusedError(
            "epoch_to_adopt",
            f"Table {table} speaks in the epoch {epoch} with the key {shown.fingerprint}. Nobody has adopted that"
            " epoch, so the table's events are not committed.",
            "If the table's journal is known to be new, and `tablectl status` at the table shows this very key, adopt"
            f" it: {command}",
        )

    def of_another_epoch(self, table: str, event: TableEvent) -> RefusedError:
        """Return the refusal of an event in an epoch that is not adopted."""
        seen = self.keys_seen(table, event.epoch)[:_MOST_KEYS_TRIED]
        if seen and not any(signature_holds(event.message, key) for key in seen):
            return RefusedError(
                "epoch_of_another_key",
                f"Table {table} speaks in the epoch {event.epoch} with two keys: an event is not signed by the key"
                f" that the table's state showed, {' nor by '.join(map(fingerprint, seen))}.",
                "One of the keys is not the table's. Adopt the key that `tablectl status` shows at the table, or none.",
            )
        return RefusedError(
            "event_of_another_epoch",
            f"Table {table} sends events of the epoch {event.epoch}, which is not the adopted epoch.",
            "Adopt that epoch if the table's journal is known to be new. Otherwise find out which machine speaks for"
            " the table.",
        )

    def of_wrong_signature(self, table: str, event: TableEvent, adopted: Adoption) -> RefusedError:
        """Return the refusal of an event in the adopted epoch that the adopted key did not sign."""
        for key in self.keys_seen(table, event.epoch):
            if key != adopted.public_key and signature_holds(event.message, key):
                return self.of_another_key(table, event.epoch, key, adopted.public_key)
        return RefusedError(
            "signature_invalid",
            f"An event of {table}/{event.epoch} is not signed by the key adopted with that epoch,"
            f" {adopted.fingerprint}.",
            "Find out which machine speaks for the table: it does not hold the table's key.",
        )

    def of_another_key(self, table: str, epoch: str, key: bytes, adopted: bytes | None) -> RefusedError:
        """Return the refusal for messages that a table signs with `key`, because the epoch was adopted with the key
        `adopted`."""
        adopted_key = "none" if adopted is None else fingerprint(adopted)
        unadopt = self._command("unadopt", table, epoch)
        return RefusedError(
            "epoch_of_another_key",
            f"Table {table} speaks in the epoch {epoch} with the key {fingerprint(key)}. The epoch was adopted with"
            f" the key {adopted_key}.",
            "Find out which machine speaks for the table: `tablectl status` at the table shows its key. If the adopted"
            f" key is another, take the adoption back: {unadopt} --reason TEXT",
        )

    def keys_seen(self, table: str, epoch: str) -> list[bytes]:
        """Return the keys that the table's states showed with this epoch, including those that the ledger does not keep
        yet."""
        return [*self._adoptions.keys_seen(table, epoch), *(key for *of, key in self.shown if of == [table, epoch])]

    def _command(self, act: str, *words: str) -> str:
        """Return a whole command line for a person to type. It begins with `pitctl` if the pit was installed as a
        package, else with the path of this program's own `pitctl`."""
        program = Path(sys.executable).with_name("pitctl")
        installed = _INSTALLED.resolve() == program.resolve()
        desk = () if self.control is None else ("--control", self.control)
        return shlex.join(("pitctl" if installed else str(program), act, *desk, *words))


class ShownState(Struct, frozen=True):
    """The content of a table's state message: the table's epoch and key, the number of its last event, and the meters
    of its game. The state of an earlier version names no meters."""

    adoption: Adoption
    head_seq: int | None
    meters: list[object]


def read_state(table: str, payload: bytes) -> ShownState | None:
    """Parse a table's state message. Return None if the table says that it goes offline.

    Raises RefusedError `state_malformed`.
    """
    match parse_object(payload):
        case {"online": False}:
            return None
        case {"online": True, "table": str(name), "epoch": str(epoch), "public_key": str(public_key), **more} if (
            name == table and in_form(table=table, epoch=epoch, public_key=public_key)
        ):
            head_seq = more.get("head_seq")
            noted = head_seq if is_count(head_seq, 0, MOST_SEQ) else None
            meters = more.get("meters")
            return ShownState(
                Adoption(epoch, bytes.fromhex(public_key)), noted, meters if isinstance(meters, list) else []
            )
    raise RefusedError(
        "state_malformed",
        f"What came on the state topic of {table!r} is not that table's state.",
        "Find out who publishes there: only the table may.",
    )
