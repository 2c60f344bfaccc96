"""The control socket: what `tablectl` asks of a running table, over a Unix socket beside it.

One request is one line of JSON, `{"do": "status"}`; one answer is one line back, `{"ok": true, ...}` or
`{"ok": false, "code": ..., "what": ..., "do": ...}`. `watch` answers with a status at once, and again as `watchers.py`
has it.
The socket's group may connect: who that is, is who may act as a supervisor from the shell. An act that leaves a fault
names it, `"fault": "3-2"`, as the status shows it. An act by two people is answered `{"ok": true, "waits": {...}}`, and
is done once a second one says `{"do": "witness", "proposal": 1, "by": ...}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.control.connections import IDLE_S, Connection, Connections
from controller.control.watchers import Watchers
from controller.delivery.bet_recognition import wager_from_json
from controller.errors import TableError
from controller.game.baccarat_royal import Actives
from controller.game.cards import Card
from controller.game.play import Call
from controller.runtime import Runtime
from controller.table.facts import OddCardFate
from controller.table.requests import (
    EXITS,
    ChooseActives,
    ClearFault,
    CloseShoe,
    CollectCommission,
    CorrectRound,
    CorrectSeatsRound,
    CountCards,
    LampTest,
    LeaveSeat,
    MakeCall,
    NameCard,
    NewShoe,
    PinPitKey,
    PlaceWager,
    Request,
    ResetHits,
    SeeCutCard,
    TakeSeats,
    TellOddCard,
    VoidHand,
)
from controller.words.language import language

_LONGEST_LINE = 4096


@contextlib.asynccontextmanager
async def serving(runtime: Runtime, path: Path) -> AsyncIterator[None]:
    """Listen at `path` for as long as the context. Raises TableError `control_socket` when that cannot be."""

    connections = Connections()
    watchers = Watchers(lambda: _line({"ok": True, "status": runtime.status()}))
    conversations: set[asyncio.Task[None]] = set()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with connections.of(writer) as connection:
            with contextlib.suppress(ConnectionError):
                if connection is None:
                    full = _refusal("too_many_connections", "Every connection is waiting for its act.", "Try later.")
                    writer.write(_line(full))
                else:
                    await _converse(runtime, watchers, connection, reader)

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversation = asyncio.get_running_loop().create_task(met(reader, writer))
        conversations.add(conversation)
        conversation.add_done_callback(conversations.discard)

    server = await asyncio.start_unix_server(begin, sock=_bound(path), limit=_LONGEST_LINE)
    try:
        yield
    finally:
        server.close()
        for conversation in conversations:
            conversation.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)


def _bound(path: Path) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_socket():
            path.unlink()  # a dead run's: the journal's lock keeps a second live one away
        channel.bind(str(path))
        path.chmod(0o660)
    except OSError as error:
        channel.close()
        raise TableError(
            "control_socket",
            f"The control socket {path} cannot be made: {error.strerror or error}.",
            "Name a path of at most 107 characters that the table's user may write, as [control] socket.",
        ) from error
    return channel


async def _converse(runtime: Runtime, watchers: Watchers, connection: Connection, reader: asyncio.StreamReader) -> None:
    while True:
        try:
            line = await connection.line(reader)
        except ValueError:
            do = "Send a shorter one."
            await connection.say(_line(_refusal("request_too_long", "A request is at most 4096 bytes.", do)))
            return
        except TimeoutError:
            do = "Connect again when you have something to ask."
            await connection.say(_line(_refusal("idle", f"Nothing was asked for {IDLE_S:g} s.", do)))
            return
        if not line:
            return
        request = _parse(line)
        if request is None:
            do = 'Send one JSON object a line, such as {"do": "status"}; `tablectl` speaks this for you.'
            await connection.say(_line(_refusal("bad_request", "This is no request the table knows.", do)))
        elif request == "status":
            await connection.say(_line({"ok": True, "status": runtime.status()}))
        elif request == "watch":
            await watchers.watch(connection.writer)
        elif not isinstance(request, str):
            connection.acting = True
            answer = await _act(runtime, request, connection.via)
            connection.acting = False
            await connection.say(_line(answer))


async def _act(runtime: Runtime, asked: _Asked | _Confirmed, via: str) -> dict[str, object]:
    match asked:
        case _Asked(request, fault):
            answer = await runtime.ask(request, via, fault)
        case _Confirmed(proposal, by):
            answer = await runtime.confirm(proposal, by, via)
    if answer.refused == "second_person_due" and (waits := runtime.waits_for_second_person()) is not None:
        return {"ok": True, "waits": waits}
    if answer.refused is not None:
        return _refusal(
            answer.refused, language().refusal(answer.refused), "See `tablectl status` for what the table waits for."
        )
    return {"ok": True}


def _refusal(code: str, what: str, do: str) -> dict[str, object]:
    return {"ok": False, "code": code, "what": what, "do": do}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request, and the id of the fault it answers."""

    request: Request
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """A second person's word."""

    proposal: int
    by: str


def _parse(line: bytes) -> _Asked | _Confirmed | str | None:
    """What a line says: a request of the table's, a second person's word, "status", "watch", or None for nothing."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not all(_can_be_kept(text) for text in value.values() if isinstance(text, str)):
        return None
    match value:
        case {"do": "status" | "watch" as look, **rest} if not rest:
            return str(look)
        case {"do": "witness", "proposal": int(proposal), "by": str(by), **rest} if not rest and not isinstance(
            proposal, bool
        ):
            return _Confirmed(proposal, by)
        case {"fault": str(fault), **rest}:
            request = _request(rest)
            return _Asked(request, fault) if request is not None and type(request) in EXITS else None
        case _:
            request = _request(value)
            return None if request is None else _Asked(request)


def _request(value: dict[str, Any]) -> Request | None:
    """The table's request that this object is, if it is one."""
    match value:
        case {"do": "new_shoe", "by": str(by), **rest} if not rest:
            return NewShoe(by)
        case {"do": "cut_card", **rest} if not rest:
            return SeeCutCard()
        case {"do": "void", "by": str(by), **rest} if not rest:
            return VoidHand(by)
        case {"do": "clear", "by": str(by), **rest} if not rest:
            return ClearFault(by)
        case {"do": "count", "left": int(left), "by": str(by), **rest} if not rest and _is_count(left):
            return CountCards(left, by)
        case {"do": "pit_key", "trust": str(told), "by": str(by), **rest} if not rest:
            return PinPitKey(told, by)
        case {"do": "close_shoe", "by": str(by), **rest} if not rest:
            return CloseShoe(by)
        case {"do": "lamp_test", "by": str(by), **rest} if not rest:
            return LampTest(by)
        case {"do": "odd_card", "fate": "next_card" | "burn" as fate, "by": str(by), **rest} if not rest:
            return TellOddCard(OddCardFate(fate), by)
        case {
            "do": "correct",
            "round": int(number),
            "player": str(player),
            "banker": str(banker),
            "by": str(by),
            **rest,
        } if not rest and not isinstance(number, bool):
            with contextlib.suppress(ValueError):
                return CorrectRound(number, _cards(player), _cards(banker), by)
            return None
        case {
            "do": "correct",
            "round": int(number),
            "hands": list(hands),
            "dealer": str(dealer),
            "by": str(by),
            **rest,
        } if not rest and not isinstance(number, bool):
            with contextlib.suppress(ValueError):
                return CorrectSeatsRound(number, _hands(hands), _cards(dealer), by)
            return None
        case {"do": "hit" | "stand" | "split" | "reveal" as called, "by": str(by), **rest} if not rest:
            return MakeCall(Call(called), by)
        case {"do": "seats", "seats": list(seats), "by": str(by), **rest} if not rest and all(map(_is_seat, seats)):
            return TakeSeats(tuple(seats), by)
        case {"do": "leave", "seat": int(seat), "by": str(by), **rest} if not rest and _is_seat(seat):
            return LeaveSeat(seat, by)
        case {"do": "draw_actives", "by": str(by), **rest} if not rest:
            return ChooseActives(None, by)
        case {"do": "name_actives", "player": int(player), "banker": int(banker), "by": str(by), **rest} if (
            not rest and _is_seat(player) and _is_seat(banker) and player != banker
        ):
            return ChooseActives(Actives(player, banker), by)
        case {"do": "collect_commission", "seat": int(seat), "by": str(by), **rest} if not rest and _is_seat(seat):
            return CollectCommission(seat, by)
        case {"do": "reset_hit", "seat": int(seat), "by": str(by), **rest} if not rest and _is_seat(seat):
            return ResetHits(seat, by)
        case {"do": "wager", "by": str(by), **wager}:
            seen = wager_from_json(wager)
            return None if seen is None else PlaceWager(seen, by)
        case {"do": "card", "card": str(card), "by": str(by), **rest} if not rest:
            with contextlib.suppress(ValueError):
                return NameCard(Card.parse(card), by)
            return None
        case _:
            return None


def _is_seat(value: object) -> bool:
    return type(value) is int and 1 <= value <= 99


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= 9999


def _can_be_kept(text: str) -> bool:
    """Whether it can stand in the journal and in a log line. JSON can write half a character, which no file holds."""
    return text.isprintable() and bool(text.strip())


def _cards(text: str) -> tuple[Card, ...]:
    return tuple(map(Card.parse, text.split()))


def _hands(said: list[Any]) -> dict[int, tuple[tuple[Card, ...], ...]]:
    """`[{"seat": 3, "cards": "8S KS"}, …]`, a seat's from left to right, by the seat. Raises ValueError where one is
    no hand of a seat."""
    hands: dict[int, tuple[tuple[Card, ...], ...]] = {}
    for hand in said:
        match hand:
            case {"seat": int(seat), "cards": str(cards), **rest} if not rest and _is_seat(seat):
                hands[seat] = (*hands.get(seat, ()), _cards(cards))
            case _:
                raise ValueError(f"{hand} is no hand of a seat")
    return hands


def _line(answer: dict[str, object]) -> bytes:
    return json.dumps(answer).encode() + b"\n"
