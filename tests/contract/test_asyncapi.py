"""Checks the AsyncAPI document of the contract between table and pit. The document is valid, and its examples are real
messages. Everything in the document exists in the code, and everything in the code is in the document."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from jsonschema import Draft202012Validator
from msgspec.structs import fields
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from controller.contract import events
from controller.contract.bounds import MOST_SEQ, NAME
from controller.contract.canonical import canonical, parse_object
from controller.contract.envelope import CONTRACT_VERSION, GENESIS, Stamp, seal
from controller.contract.events import Event, HitReset
from controller.contract.keys import SigningKey, signature_holds
from controller.contract.pit_words import (
    REFUSED_CHECKPOINTS,
    AckWord,
    AwardStep,
    CosignedWord,
    MeasureWord,
    MetersWord,
    PitKeyWord,
    Word,
)
from controller.contract.signing import signed
from controller.contract.topics import Topics
from controller.contract.wager_words import WagerWord
from controller.contract.witnessing import ShownCheckpoint
from controller.daemon.config.table_file import PitSection
from controller.daemon.delivery import guarantee as delivery
from controller.daemon.delivery.witness import SHOWN_EVERY
from controller.table.faults import ALARMS, FAULTS
from tests.daemon.daemon_world import RECOGNITION_KEY, running
from tests.documents.contract_examples import KEY
from tests.documents.contract_examples import PIT_KEY as PIT_SIGNS
from tests.documents.contract_page import CONTRACT, DOCUMENT, event_definition, fresh_document
from tests.documents.contract_snippet import next_head, read_event
from tests.documents.pages import PAGES
from tests.support import samples
from tests.support.each import each
from tests.support.waiting import eventually
from tests.support.waiting import run as run_daemon

ACCESS_LIST = Path(__file__).parents[2] / "config" / "mosquitto" / "acl"

DOC: dict[str, Any] = json.loads(DOCUMENT.read_text("utf-8"))
CHANNELS: dict[str, Any] = DOC["channels"]
OPERATIONS: dict[str, Any] = DOC["operations"]
MESSAGES: dict[str, Any] = DOC["components"]["messages"]
SCHEMAS = {path.name: json.loads(path.read_text("utf-8")) for path in (CONTRACT / "schemas").glob("*.json")}
KINDS: list[type[Event]] = [
    kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
]
EXAMPLES = [
    pytest.param(name, example, id=f"{name} {place}")
    for name, message in MESSAGES.items()
    for place, example in enumerate(message["examples"], 1)
]

_BASE = "file:///contract/asyncapi.json"
_REGISTRY: Registry[Any] = Registry().with_resources(
    [
        (_BASE, DRAFT202012.create_resource(DOC)),
        *(
            (f"file:///contract/schemas/{name}", DRAFT202012.create_resource(schema))
            for name, schema in SCHEMAS.items()
        ),
    ]
)


def kept(name: str, payload: object) -> bool:
    """Tell whether a payload is valid under the AsyncAPI document's schema for the message `name`."""
    return _validator(name).is_valid(payload)


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = {"$ref": f"{_BASE}#/components/messages/{name}/payload/schema"}
    return Draft202012Validator(schema, registry=_REGISTRY)


def operation(channel: str) -> dict[str, Any]:
    """Return the single operation that the AsyncAPI document has for a channel."""
    (found,) = (each for each in OPERATIONS.values() if each["channel"] == {"$ref": f"#/channels/{channel}"})
    assert isinstance(found, dict)
    return found


def of_event_channel() -> dict[str, dict[str, Any]]:
    return {name: MESSAGES[name] for name in CHANNELS["event"]["messages"]}


def refs(value: object) -> Iterator[str]:
    """Yield every `$ref` in a JSON document, except those inside its examples."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for name, inner in value.items():
            if name != "examples":
                yield from refs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from refs(inner)


# Sound in itself.


def test_it_is_of_asyncapi_3_and_of_the_codes_contract_version() -> None:
    assert DOC["asyncapi"] == "3.0.0"
    assert DOC["info"]["version"] == str(CONTRACT_VERSION)
    states = SCHEMAS["state.schema.json"]["$defs"].values()
    for schema in (SCHEMAS["event.schema.json"], *states):
        assert schema["properties"]["contract"] == {"const": CONTRACT_VERSION} | schema["properties"]["contract"]


@pytest.mark.parametrize("place", ["asyncapi.json", *(f"schemas/{name}" for name in SCHEMAS)])
def test_every_reference_leads_somewhere(place: str) -> None:
    document = DOC if place == "asyncapi.json" else SCHEMAS[place.removeprefix("schemas/")]
    resolver = _REGISTRY.resolver(base_uri=f"file:///contract/{place}")
    for ref in refs(document):
        resolver.lookup(ref)


def test_nothing_in_it_is_of_no_use() -> None:
    used = set(refs(DOC))
    unused = {
        f"#/components/{kind}/{name}"
        for kind, parts in DOC["components"].items()
        for name in parts
        if f"#/components/{kind}/{name}" not in used
    }
    assert unused == {"#/components/schemas/words"}, "which the page alone reads"
    files = {ref.partition("#")[0] for ref in used} - {""}
    assert files == {f"schemas/{name}" for name in SCHEMAS}


@pytest.mark.parametrize("key", CHANNELS)
def test_a_channel_is_told_whole_and_has_one_operation(key: str) -> None:
    channel, used = CHANNELS[key], operation(key)
    assert set(re.findall(r"{(\w+)}", channel["address"])) == set(channel["parameters"])
    assert channel["messages"] == {name: {"$ref": f"#/components/messages/{name}"} for name in channel["messages"]}
    assert used["messages"] == [{"$ref": f"#/channels/{key}/messages/{name}"} for name in channel["messages"]]
    assert channel["title"]
    assert channel["description"]


def test_every_message_is_on_one_channel() -> None:
    assert sorted(name for channel in CHANNELS.values() for name in channel["messages"]) == sorted(MESSAGES)


@each("name", MESSAGES)
def test_a_message_has_a_title_a_meaning_a_payload_and_an_example(name: str) -> None:
    message = MESSAGES[name]
    assert all(message[part] for part in ("title", "summary", "payload", "examples"))
    assert message["payload"]["schemaFormat"] == "application/schema+json;version=draft-2020-12"


def test_who_says_what_and_what_is_retained() -> None:
    """The AsyncAPI document agrees with a list written by hand: who publishes on each topic, and whether the broker
    retains the last message."""
    assert {
        channel["address"]: (channel["x-from"], operation(key)["action"], operation(key)["bindings"]["mqtt"])
        for key, channel in CHANNELS.items()
    } == {
        address: (sender, action, {"qos": 1, "retain": retain, "bindingVersion": "0.2.0"})
        for address, sender, action, retain in (
            ("{root}/{table}/event", "table", "send", False),
            ("{root}/{table}/state", "table", "send", True),
            ("{root}/{table}/ack", "pit", "receive", True),
            ("{root}/{table}/award", "pit", "receive", False),
            ("{root}/{table}/wager", "bet recognition", "receive", False),
            ("{root}/{table}/wager-refused", "table", "send", False),
            ("{root}/{table}/checkpoint", "table", "send", False),
            ("{root}/{table}/cosigned", "pit", "receive", True),
            ("{root}/{table}/measure", "pit", "receive", False),
            ("{root}/meters", "pit", "receive", True),
            ("{root}/pit-key", "pit", "receive", True),
        )
    }


# The same as the code.


def test_its_channels_are_the_codes_topics() -> None:
    topics = Topics("{root}", "{table}")
    in_code = {name: getattr(topics, name) for name, value in vars(Topics).items() if isinstance(value, property)}
    assert in_code == {key: channel["address"] for key, channel in CHANNELS.items()}
    parameters = DOC["components"]["parameters"]
    assert parameters["root"]["default"] == "pit/v1"


def test_the_access_list_lets_each_say_just_what_the_document_lets_it_say() -> None:
    allowed = defaultdict[str, set[str]](set)
    who = "table"
    for line in ACCESS_LIST.read_text("utf-8").splitlines():
        if line.startswith("user "):
            user = line.removeprefix("user ")
            who = {"bets": "bet recognition"}.get(user, user)
        elif match := re.fullmatch(r"(?:pattern|topic) write (\S+)", line):
            allowed[who].add(re.sub(r"%u|\+", "{table}", match[1]).replace("pit/v1", "{root}"))
    said = defaultdict[str, set[str]](set)
    for channel in CHANNELS.values():
        said[channel["x-from"]].add(channel["address"])
    assert allowed == said  # the pit's page says nothing


def test_its_event_messages_and_their_fields_are_the_codes() -> None:
    common = {each.name for each in fields(Event)}
    in_code = sorted((kind.TYPE, sorted({each.name for each in fields(kind)} - common)) for kind in KINDS)
    in_document = sorted(
        (message["name"], sorted(set(message["payload"]["schema"]["properties"]) - {"type"}))
        for message in of_event_channel().values()
    )
    in_schema = sorted(
        (message["name"], sorted(event_definition(message["name"], message["payload"]["schema"])["properties"]))
        for message in of_event_channel().values()
    )
    assert in_code == in_document == in_schema


@each("name", CHANNELS["event"]["messages"])
def test_an_event_message_tells_its_type_and_the_meaning_of_every_field(name: str) -> None:
    message = MESSAGES[name]
    properties = message["payload"]["schema"]["properties"]
    assert properties["type"]["const"] == message["headers"]["properties"]["type"]["const"] == message["name"]
    assert all(rule.get("description") for field, rule in properties.items() if field != "type")


def test_what_every_event_has_is_what_the_code_puts_around_it() -> None:
    own = {each.name for each in fields(HitReset)} - {each.name for each in fields(Event)}
    stamp = Stamp(0, synchronised=False)
    sealed = json.loads(seal(HitReset(1, None, (2,), "Smith"), "t", "0", 1, stamp, GENESIS, KEY))
    envelope = DOC["components"]["schemas"]["envelope"]["properties"]
    assert set(sealed) - own == set(envelope) == set(SCHEMAS["event.schema.json"]["properties"])
    assert all(rule["description"] for rule in envelope.values())


def test_a_spot_is_called_the_same_everywhere() -> None:
    for name in ("wager", "wager_refused"):
        assert SCHEMAS[f"{name}.schema.json"]["properties"]["spot"]["pattern"] == f"^{NAME.pattern}$"
    assert SCHEMAS["event.schema.json"]["$defs"]["spot"]["pattern"] == f"^{NAME.pattern}$"


def test_an_awards_fields_are_the_pits() -> None:
    schema = SCHEMAS["award.schema.json"]
    assert (
        set(schema["properties"])
        == set(schema["required"])
        == {each.name for each in fields(AwardStep)} | {"signature"}
    )


WAGER: dict[str, object] = {
    "table": "royal9-01",
    "epoch": "41d86ab0c3",
    "shoe": 1,
    "round": 2,
    "seat": 3,
    "back": False,
    "spot": "tie",
    "cents": 500,
    "seq": 1_767_225_600_000,
    "at": "2026-01-01T00:00:00.000Z",
    "signature": "A" * 86 + "==",
}


@each(
    "change",
    [
        {},
        {"back": True},
        {"cents": 0},
        {"cents": 100_000_000},
        {"cents": 100_000_001},
        {"cents": -1},
        {"cents": "500"},
        {"cents": None},
        {"cents": True},
        {"seat": 1},
        {"seat": 99},
        {"seat": 0},
        {"seat": 100},
        {"seat": True},
        {"spot": "royal9"},
        {"spot": "corner"},
        {"spot": None},
        {"back": 0},
        {"back": None},
        {"by": "camera 4"},
        {"table": "Royal 9"},
        {"epoch": "41D8"},
        {"shoe": 0},
        {"round": 0},
        {"round": None},
        {"round": True},
        {"seq": 0},
        {"seq": True},
        {"seq": MOST_SEQ},
        {"seq": MOST_SEQ + 1},
        {"at": "2026-01-01T00:00:00Z"},
        {"at": 1_767_225_600_000},
        {"signature": None},
    ],
)
def test_the_table_takes_for_a_wager_just_what_the_schema_does(change: dict[str, object]) -> None:
    assert (WagerWord.read(WAGER | change) is not None) == kept("wager", WAGER | change)


@each("missing", WAGER)
def test_nothing_of_a_wager_may_be_left_out(missing: str) -> None:
    wager = {name: value for name, value in WAGER.items() if name != missing}
    assert (WagerWord.read(wager), kept("wager", wager)) == (None, False)


ACK: dict[str, object] = MESSAGES["ack"]["examples"][0]["payload"]
AWARD: dict[str, object] = MESSAGES["award_step"]["examples"][0]["payload"]
METERS: dict[str, object] = MESSAGES["meters"]["examples"][0]["payload"]
PIT_KEY: dict[str, Any] = MESSAGES["pit_key"]["examples"][0]["payload"]


@pytest.mark.parametrize("seq", [0, 1, 2**63 - 1, 2**63, 10**30, -1, True, "1", None])
def test_the_table_takes_for_an_ack_just_what_the_schema_does(seq: object) -> None:
    assert (AckWord.read(ACK | {"seq": seq}) is not None) == kept("ack", ACK | {"seq": seq})


@each(
    "change",
    [
        {"seq": 0},
        {"seq": 2**63 - 1},
        {"seq": 2**63},
        {"award": "royal9-01"},
        {"award": "royal9-01.0"},
        {"award": "a" * 100 + ".1"},
        {"award": "a" * 101 + ".1"},
        {"award": "a." + "9" * 18},
        {"award": "a." + "9" * 19},
        {"hit": "royal9-01/7c0f19a2be/" + "9" * 18},
        {"hit": "royal9-01/7c0f19a2be/" + "9" * 19},
        {"hit": "royal9-01/7c0f19a2be/0"},
        {"hit": "royal9-01/7c0f19a2be"},
        {"seat": 0},
        {"seat": 99},
        {"seat": 100},
        {"tier": "a" * 60},
        {"tier": "a" * 61},
        {"tier": "Any Royal"},
        {"meter": None},
        {"meter": "a" * 60},
        {"meter": "a" * 61},
        {"meter": ""},
        {"cents": 0},
        {"cents": -1},
        {"cents": 10**12},
        {"cents": 10**12 + 1},
        {"step": "lost"},
        {"by": ""},
        {"by": " "},
        {"by": "é" * 200},
        {"by": "é" * 201},
    ],
)
def test_the_table_takes_for_a_step_just_what_the_schema_does(change: dict[str, object]) -> None:
    assert (AwardStep.read(AWARD | change) is not None) == kept("award_step", AWARD | change)


@each(
    "change",
    [
        {"seq": 0},
        {"seq": 2**63 - 1},
        {"seq": 2**63},
        {"meters": {}},
        {"meters": {"a" * 60: 0}},
        {"meters": {"a" * 61: 0}},
        {"meters": {"A": 0}},
        {"meters": {"a": 10**12}},
        {"meters": {"a": 10**12 + 1}},
        {"meters": {"a": -1}},
        {"meters": {"a": True}},
        {"meters": {f"m{place}": 0 for place in range(100)}},
        {"meters": {f"m{place}": 0 for place in range(101)}},
        {"meters": None},
    ],
)
def test_the_table_takes_for_the_meters_just_what_the_schema_does(change: dict[str, object]) -> None:
    assert (MetersWord.read(METERS | change) is not None) == kept("meters", METERS | change)


@each(
    "change",
    [
        {"public_key": "A" * 64},
        {"public_key": "a" * 63},
        {"rotations": []},
        {"rotations": PIT_KEY["rotations"] * 100},
        {"rotations": PIT_KEY["rotations"] * 101},
        {"rotations": [{}]},
        {"rotations": [PIT_KEY["rotations"][0] | {"former": "A" * 64}]},
        {"rotations": [PIT_KEY["rotations"][0] | {"more": 1}]},
        {"rotations": None},
    ],
)
def test_the_table_takes_for_the_pits_key_just_what_the_schema_does(change: dict[str, object]) -> None:
    assert (PitKeyWord.read(PIT_KEY | change) is not None) == kept("pit_key", PIT_KEY | change)


COSIGNED: dict[str, Any] = MESSAGES["cosigned"]["examples"][0]["payload"]
MEASURE: dict[str, Any] = MESSAGES["measure"]["examples"][0]["payload"]
CHECKPOINT: dict[str, Any] = MESSAGES["checkpoint"]["examples"][0]["payload"]


@each(
    "change",
    [
        {"size": 0},
        {"size": -1},
        {"size": True},
        {"size": MOST_SEQ + 1},
        {"cosignature": ""},
        {"cosignature": COSIGNED["cosignature"][:-1]},
        {"cosignature": COSIGNED["cosignature"][:-3] + "B=="},
        {"cosignature": None},
        {"refused": "forked"},
        {"refused": "smaller"},
        {"refused": "not_from_last"},
        {"refused": "no"},
        {"refused": 0},
        {"epoch": "A"},
        {"more": 1},
    ],
)
def test_the_table_takes_for_what_the_pit_cosigned_just_what_the_schema_does(change: dict[str, object]) -> None:
    assert (CosignedWord.read(COSIGNED | change) is not None) == kept("cosigned", COSIGNED | change)


@each(
    "change",
    [{"nonce": "A" * 64}, {"nonce": "a" * 63}, {"nonce": None}, {"epoch": "A"}, {"at": "now"}, {"more": 1}],
)
def test_the_table_takes_for_a_question_what_runs_just_what_the_schema_does(change: dict[str, object]) -> None:
    assert (MeasureWord.read(MEASURE | change) is not None) == kept("measure", MEASURE | change)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"old": 0},
        {"old": -1},
        {"old": True},
        {"proof": []},
        {"proof": CHECKPOINT["proof"][:1] * 100},
        {"proof": CHECKPOINT["proof"][:1] * 101},
        {"proof": ["A" * 43]},
        {"proof": ["A" * 42 + "B="]},
        {"proof": None},
        {"note": ""},
        {"note": "a" * 8_001},
        {"note": None},
        {"more": 1},
    ],
)
def test_the_pit_takes_for_a_checkpoint_just_what_the_schema_does(change: dict[str, object]) -> None:
    assert (ShownCheckpoint.read(CHECKPOINT | change) is not None) == kept("checkpoint", CHECKPOINT | change)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("ack", AckWord.read),
        ("award_step", AwardStep.read),
        ("cosigned", CosignedWord.read),
        ("measure", MeasureWord.read),
        ("meters", MetersWord.read),
        ("pit_key", PitKeyWord.read),
    ],
)
def test_the_table_understands_what_the_document_says_the_pit_says(
    name: str, read: Callable[[Mapping[str, object]], Word | None]
) -> None:
    """The table can parse every example of a pit's message in the AsyncAPI document. Each example has a valid
    signature. When the parsed message is written again, it has the same bytes as the example."""
    for example in MESSAGES[name]["examples"]:
        message = example["payload"]
        word = read(message)
        assert word is not None
        assert word.payload(PIT_SIGNS) == canonical(message)
        assert signature_holds(parse_object(canonical(message)), PIT_SIGNS.public)
        for field in message:
            assert not signature_holds(message | {field: "AAAA"}, PIT_SIGNS.public), field


def test_what_a_running_table_publishes_is_in_the_document(tmp_path: Path) -> None:
    """A running table publishes only on channels of the AsyncAPI document. A message is retained if the document says
    so, and its payload is valid for exactly one of the document's messages."""

    async def play() -> list[tuple[str, bool, str | None, Any]]:
        async with running(tmp_path) as world:
            await world.open_shoe()
            await world.play_hit()
            seen = {"epoch": world.journal.epoch, "shoe": 1, "round": 2, "seat": 42}
            unsigned = {name: value for name, value in (WAGER | seen).items() if name != "signature"}
            world.broker.say(signed(unsigned, RECOGNITION_KEY), topic="pit/v1/royal9-01/wager")
            await eventually(lambda: any(each.topic.endswith("/wager-refused") for each in world.broker.published))
            await eventually(lambda: "hit" in world.pit.types())
            await eventually(lambda: world.broker.states()[-1].value["phase"] == "wagers_open")
            return [(each.topic, each.retain, each.event_type, each.value) for each in world.broker.published]

    topics = Topics("pit/v1", "royal9-01")
    channel_of = {getattr(topics, key): key for key in CHANNELS}
    seen = set()
    for topic, retain, event_type, value in run_daemon(play()):
        key = channel_of[topic]
        assert operation(key)["action"] == "send"
        assert operation(key)["bindings"]["mqtt"]["retain"] == retain
        (name,) = (name for name in CHANNELS[key]["messages"] if kept(name, value))
        assert event_type == (MESSAGES[name]["name"] if key == "event" else None)
        if name in ("state_online", "wager_refused"):
            assert set(value) == set(MESSAGES[name]["examples"][0]["payload"]), (
                "the example has every field, and no more"
            )
        seen.add(name)
    assert seen >= {"state_online", "shoe_opened", "wagers_locked", "round", "hit", "wager_refused"}


def test_the_rules_of_delivery_say_the_codes_numbers_and_names() -> None:
    rules = DOC["info"]["description"]
    assert SHOWN_EVERY == 15
    for told in (
        f"At most {delivery.WINDOW} events are sent without an ack",
        f"no ack comes for {delivery.RESEND_AFTER_S:g} s",
        f"every {delivery.RESEND_AT_MOST_AFTER_S:g} s, until an ack comes",
        f"offers the oldest event again every {delivery.RETRY_REFUSED_AFTER_S:g} s",
        f"A reason code of 0x{delivery.REFUSED_FROM:02x} or above",
        f"0x{delivery.NOBODY_LISTENS:02x} (nobody subscribes)",
        f"({PitSection().stale_after_s} s by default)",
        "after every fifteen rounds",
    ):
        assert told in rules
    of_version_2 = {"royal9_seats", "royal9_price_cents", "royal9_before", "refused_seats"}
    others = {*MESSAGES, *of_version_2, "refused_wager", "final_round", "last_hand", "wagered_rounds", "wagered_hands"}
    others |= {*REFUSED_CHECKPOINTS}
    codes = {code for code in re.findall(r"`(\w+_\w+)`", rules) if code not in others}
    assert codes <= {*FAULTS, *ALARMS}
    assert codes == {
        "journal_behind_pit",
        "journal_forked",
        "pit_link_back",
        "pit_link_lost",
        "program_measured",
        "publish_refused",
        "hit_unheard",
        "pit_word_forged",
        "pit_key_differs",
        "award_impossible",
        "recognition_key_due",
        "wager_word_forged",
        "wager_word_unfit",
    }


# Its examples.


def test_the_examples_are_those_the_code_makes() -> None:
    assert DOCUMENT.read_text("utf-8") == fresh_document(), (
        "controller/contract/asyncapi.json is stale: run `make pages`"
    )


@each("name, example", EXAMPLES)
def test_an_example_is_of_its_message_and_of_no_other_on_the_channel(name: str, example: dict[str, Any]) -> None:
    (key,) = (key for key, channel in CHANNELS.items() if name in channel["messages"])
    on_channel = [*CHANNELS[key]["messages"]]
    others = on_channel if samples.at_length else {name, *on_channel[len(example["payload"]) % 3 :: 3]}
    assert [other for other in others if kept(other, example["payload"])] == [name]
    assert example.get("headers") == ({"type": MESSAGES[name]["name"]} if key == "event" else None)


@each("name, example", EXAMPLES)
def test_no_field_of_an_example_may_be_missing_or_added(name: str, example: dict[str, Any]) -> None:
    payload = example["payload"]
    for field in payload:
        assert not kept(name, {other: value for other, value in payload.items() if other != field}), field
    assert not kept(name, payload | {"dealer_s_name": "Smith"})


def test_there_is_an_example_of_both_rounds_both_hits_and_every_type() -> None:
    shown = [example["payload"] for message in of_event_channel().values() for example in message["examples"]]
    assert {event["type"] for event in shown} == {kind.TYPE for kind in KINDS}
    assert {"dealer" in event for event in shown if event["type"] == "round"} == {True, False}
    assert {event["progressive"] is None for event in shown if event["type"] == "hit"} == {True, False}


# How to check it: the page's own program.


@each("name", CHANNELS["event"]["messages"])
def test_the_pages_program_takes_the_examples_and_nothing_changed(name: str) -> None:
    for example in MESSAGES[name]["examples"]:
        event = example["payload"]
        assert read_event(canonical(event), KEY.public.hex()) == event
        for field in event:
            with pytest.raises((InvalidSignature, ValueError)):
                read_event(canonical(event | {field: "AAAA"}), KEY.public.hex())
        with pytest.raises(ValueError):
            read_event(json.dumps(event).encode(), KEY.public.hex())
        with pytest.raises(InvalidSignature):
            read_event(canonical(event), SigningKey(bytes(32)).public.hex())


def test_the_pages_program_follows_the_chain_of_a_journal(tmp_path: Path) -> None:
    async def play() -> Path:
        async with running(tmp_path) as world:
            await world.open_shoe()
            await world.play_hit()
            return Path(world.config.file.journal.path)

    with closing(sqlite3.connect(run_daemon(play()))) as db:
        head, chains, heads = GENESIS, [], [GENESIS]
        for row, at_ms, synchronised, boot, since_boot_ms, via, fact, salt, stored in db.execute(
            "SELECT row, at_ms, clock_synchronised, boot_id, since_boot_ms, via, fact, salt, head FROM fact"
            " ORDER BY row"
        ).fetchall():
            bodies = [body for (body,) in db.execute("SELECT body FROM message WHERE row = ? ORDER BY seq", (row,))]
            chains += [json.loads(body)["chain"] == head.hex() for body in bodies]
            came = f"{at_ms} {synchronised} {boot} {since_boot_ms} {json.dumps(via)} ".encode()
            head = next_head(head, salt, came + fact, bodies)
            heads.append(head)
            assert head == stored
    assert len(chains) >= 4
    assert all(chains)
    assert all(one != other for one, other in pairwise(heads))


# The page.


def test_the_page_has_every_message_with_its_examples_and_no_field_without_a_meaning() -> None:
    page = PAGES["contract.md"]()
    for message in MESSAGES.values():
        title = message["title"]
        section = page.partition(f"### `{message['name']}`: {title[0].lower()}{title[1:]}\n")[2].partition("\n#")[0]
        assert message["summary"] in section
        shown = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", section, re.DOTALL)]
        assert shown == [example["payload"] for example in message["examples"]]
    assert not re.findall(r"^\|.*\| +\|$", page, re.MULTILINE)


def test_the_pages_links_lead_to_its_headings() -> None:
    page = PAGES["contract.md"]()
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= anchors
