"""Check a table's message by itself, before it reaches the ledger: its form, its names, and that its bytes are
canonical JSON."""

from __future__ import annotations

from msgspec import Struct

from controller.basics.errors import TableError
from controller.contract.bounds import EPOCH, HASH, MOST_PAYLOAD_BYTES, NAME, TABLE
from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import CONTRACTS_READ

_LONGEST_TOLD = 200  # characters of a topic's name, which may have 65,535 bytes

# A name that does not have its form is never shown: such a name could play tricks on a terminal or a shell.
FORMS = {
    "table": TABLE,
    "epoch": EPOCH,
    "type": NAME,
    "chain": HASH,
    "public_key": HASH,
}


class RefusedError(TableError):
    """The error for a message that the pit refuses. People at the pit must look at the message."""


class TableEvent(Struct, frozen=True):
    """A table's event whose form was checked: its names agree with each other, and its bytes are canonical JSON. Its
    signature has not been checked."""

    epoch: str
    seq: int
    type: str
    message: dict[str, object]


def read_event(table: str, payload: bytes) -> TableEvent:
    """Parse an event that came on the topic of `table`. Raises RefusedError if the payload is not an event of that
    table, or has an unknown version of the contract."""
    message = parse_object(payload)
    match message:
        case {
            "id": str(id_),
            "contract": int(contract),
            "type": str(type_),
            "table": str(name),
            "epoch": str(epoch),
            "seq": int(seq),
            "chain": str(chain),
        } if (
            type(seq) is int
            and type(contract) is int
            and seq >= 1
            and in_form(table=name, epoch=epoch, type=type_, chain=chain)
            and _is_canonical(payload, message)
        ):
            pass
        case _:
            raise RefusedError(
                "event_malformed",
                f"What came on the event topic of {table!r} is no event in canonical JSON.",
                "Find out who publishes there: only the table may.",
            )
    _refuse_of_others(table, name, f"{name}/{epoch}/{seq}", id_)
    if contract not in CONTRACTS_READ:
        raise RefusedError(
            "contract_unknown",
            f"Table {table} speaks version {contract} of the contract; this pit knows versions "
            f"{' and '.join(map(str, CONTRACTS_READ))}.",
            "Run the version of the pit that goes with the table's version.",
        )
    return TableEvent(epoch, seq, type_, message)


def refused_unread(table: str | None, kind: str, topic: str, payload: bytes) -> tuple[str, RefusedError] | None:
    """Return the reason why the pit refuses a message without reading its payload, as a pair of the table's name and
    the error. Return None if the pit may read the message. Reasons are a strange topic, a long name or a long payload.
    The table's name is "" for a strange topic or a long name."""
    if table is None or kind not in ("event", "state", "ack", "checkpoint"):
        what = f"The broker sent a message on {topic[:_LONGEST_TOLD]!r}, to which the pit has not subscribed."
        do = "Find out which broker this is: Mosquitto sends no such message."
        return "", RefusedError("topic_unknown", what, do)
    if len(table) > _LONGEST_TOLD:
        what = f"A message came for a table whose name has {len(table)} letters: {table[:_LONGEST_TOLD]!r}..."
        do = "Find out who publishes there: no table has such a name. Check the broker's access list."
        return "", RefusedError("name_too_long", what, do)
    if len(payload) > MOST_PAYLOAD_BYTES[kind]:
        what = f"A message on {topic!r} is longer than {MOST_PAYLOAD_BYTES[kind]} bytes, and refused unread."
        do = "Find out who publishes there: no table has so much to say. Let the broker refuse such a packet."
        return table, RefusedError("message_too_long", what, do)
    return None


def _refuse_of_others(table: str, name: str, by_fields: str, id_: str) -> None:
    """Raise RefusedError if the event names another table than the topic on which it came, or if the event's id `id_`
    differs from `by_fields`, the id that its fields make."""
    if name != table:
        raise RefusedError(
            "event_of_another_table",
            f"An event of table {name} came on the topic of {table!r}.",
            "Find out who publishes there, and check the broker's access list.",
        )
    if id_ != by_fields:
        raise RefusedError(
            "event_id_differs",
            f"An event of {table} is {by_fields} by its fields, and has another id.",
            "Find out which machine speaks for the table. No table controller makes such an event.",
        )


def _is_canonical(payload: bytes, message: dict[str, object]) -> bool:
    """Tell whether the payload is the canonical JSON of the message.

    Without this check, an event with additional spaces or a repeated key would pass as the same event with the same
    signature, although its bytes differ.
    """
    try:
        return canonical(message) == payload
    except (ValueError, RecursionError):
        return False


def in_form(**names: str) -> bool:
    """Tell whether each name has the form that the constant FORMS gives for its keyword. Example:
    `in_form(table="royal9-01")`."""
    return all(FORMS[name].fullmatch(value) for name, value in names.items())
