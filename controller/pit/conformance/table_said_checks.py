"""The conformance checks of what must be true of all the messages that a table has sent during the tests."""

from __future__ import annotations

from collections import defaultdict

from controller.contract.bounds import HASH
from controller.contract.canonical import canonical
from controller.contract.keys import signature_holds
from controller.pit.conformance.checking import QUIET_S, BrokenError, Checks
from controller.pit.conformance.far_pit import FarPit
from controller.pit.conformance.table_kit import (
    TableKit,
    wrong_form,
)
from controller.pit.conformance.wire import NO_CHAIN, Message, first_heard

_SEVERAL = 3

CHECKS: Checks[TableKit] = Checks()
_clause = CHECKS.clause


# All that the table has said.


@_clause("T29")
def _rounds(kit: TableKit) -> None:
    pit = kit.pit()
    if not pit.events_of("hit"):
        kit.hit(pit)
    locked: set[tuple[object, object]] = set()
    for place, event in enumerate(pit.taken):
        number = event["shoe"], event["round"]
        if event["type"] == "wagers_locked":
            locked.add(number)
        if event["type"] != "round" or event["simulated"]:
            continue
        if number not in locked:
            raise BrokenError(
                f"Round {number[1]} of shoe {number[0]} was told, and the lock of its wagers was not told before."
            )
        won = event.get("awards", [])
        assert isinstance(won, list)
        hits = [(hit["spot"], hit["seat"], hit["tier"]) for hit in _hits_after(pit, place, number)]
        if hits != [(each["spot"], each["seat"], each["tier"]) for each in won]:
            raise BrokenError(f"Round {number[1]} of shoe {number[0]} has the awards {won}. Its hits are {hits}.")


def _hits_after(pit: FarPit, place: int, number: tuple[object, object]) -> list[Message]:
    hits = []
    for event in pit.taken[place + 1 :]:
        if event["type"] != "hit" or (event["shoe"], event["round"]) != number:
            break
        hits.append(event)
    return hits


@_clause("T30")
def _forms(kit: TableKit) -> None:
    pit = kit.pit()
    wrong_form("event", pit.taken)
    wrong_form("state", pit.states)


@_clause("T31")
def _signatures(kit: TableKit) -> None:
    pit = kit.pit()
    key = bytes.fromhex(str(pit.state["public_key"]))
    for each in pit.heard:
        if each.topic != pit.topics.event:
            continue
        shown = f"event {each.message.get('seq')}"
        if canonical(each.message) != each.payload:
            raise BrokenError(f"The bytes of {shown} are not canonical JSON.")
        if not signature_holds(each.message, key):
            raise BrokenError(f"The signature of {shown} does not hold by the key in the table's state.")


@_clause("T32")
def _numbers(kit: TableKit) -> None:
    pit = kit.pit()
    epoch = pit.state["epoch"]
    if pit.changed:
        raise BrokenError(f"Event {pit.changed[0]} came with two bodies.")
    for event in pit.sent():
        if event.get("id") != f"{kit.table}/{epoch}/{event.get('seq')}" or event.get("epoch") != epoch:
            raise BrokenError(f"The event {event.get('id')} is not `table/epoch/seq` of epoch {epoch} of {kit.table}.")
        if event.get("table") != kit.table:
            raise BrokenError(f"Event {event['id']} names the table {event.get('table')!r}.")


@_clause("T33")
def _chain(kit: TableKit) -> None:
    pit = kit.pit()
    last: dict[str, int] = defaultdict(int)
    for seq, event in enumerate(pit.taken, 1):
        chain = str(event["chain"])
        if not HASH.fullmatch(chain):
            raise BrokenError(f"The chain of event {seq} is {chain!r}.")
        if last[chain] not in (0, seq - 1):
            raise BrokenError(
                f"Event {seq} has the chain of event {last[chain]}, and the events between have another chain."
            )
        if chain == NO_CHAIN and seq > 1 and last[chain] != seq - 1:
            raise BrokenError(f"Event {seq} begins the chain anew.")
        last[chain] = seq
    if len(pit.taken) >= _SEVERAL and len(last) == 1:
        raise BrokenError("All events have one chain.")


@_clause("T34")
def _flags(kit: TableKit) -> None:
    pit = kit.pit()
    for each in pit.heard:
        if each.qos != 1:
            raise BrokenError(f"A message on {each.topic} came at QoS {each.qos}.")
        if each.topic == pit.topics.event and each.type != each.message.get("type"):
            raise BrokenError(f"Event {each.message.get('seq')} has the user property `type` {each.type!r}.")
    first = first_heard(kit.address, pit.topics.event, QUIET_S)
    if first is not None and first.retained:
        raise BrokenError("An event is retained: each new subscriber would hear that event again.")
