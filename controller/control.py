"""The control socket: what `tablectl` asks of a running table, over a Unix socket beside it.

One request is one line of JSON, `{"do": "status"}`; one answer is one line back, `{"ok": true, ...}` or
`{"ok": false, "code": ..., "what": ..., "do": ...}`. `watch` answers with a status at once, and again as `watchers.py`
has it.
The socket's group may connect: who that is, is who may act as a supervisor from the shell.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from pathlib import Path
from typing import Any

from controller.bet_recognition import wager_from_json
from controller.errors import TableError
from controller.game.baccarat_royal import Actives
from controller.game.cards import Card
from controller.game.play import Call
from controller.runtime import Runtime
from controller.table.facts import OddCardFate
from controller.table.requests import (
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
    PlaceWager,
    Request,
    ResetHits,
    SeeCutCard,
    TakeSeats,
    TellOddCard,
    VoidHand,
)
from controller.watchers import Watchers

_LONGEST_LINE = 4096
_MOST_AT_ONCE = 200  # connections: the table needs descriptors for its own wires, too


async def serve(runtime: Runtime, path: Path) -> asyncio.Server:
    """Begin to listen at `path`. Raises TableError `control_socket` when that cannot be."""

    connected: set[asyncio.StreamWriter] = set()
    watchers = Watchers(lambda: _line({"ok": True, "status": runtime.status()}))

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            if len(connected) >= _MOST_AT_ONCE:
                await _say(writer, _refusal("too_many_connections", "Too many are connected already.", "Try later."))
            else:
                connected.add(writer)
                await _converse(runtime, watchers, reader, writer)
        connected.discard(writer)
        writer.close()

    return await asyncio.start_unix_server(met, sock=_bound(path), limit=_LONGEST_LINE)


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


async def _converse(
    runtime: Runtime, watchers: Watchers, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            await _say(writer, _refusal("request_too_long", "A request is at most 4096 bytes.", "Send a shorter one."))
            return
        if not line:
            return
        request = _parse(line)
        if request is None:
            do = 'Send one JSON object a line, such as {"do": "status"}; `tablectl` speaks this for you.'
            await _say(writer, _refusal("bad_request", "This is no request the table knows.", do))
        elif request == "status":
            await _say(writer, {"ok": True, "status": runtime.status()})
        elif request == "watch":
            await watchers.watch(writer)
        elif not isinstance(request, str):
            await _say(writer, await _act(runtime, request))


async def _act(runtime: Runtime, request: Request) -> dict[str, object]:
    answer = await runtime.ask(request)
    if answer.refused is not None:
        return _refusal(answer.refused, answer.why, "See `tablectl status` for what the table waits for.")
    return {"ok": True}


def _refusal(code: str, what: str, do: str) -> dict[str, object]:
    return {"ok": False, "code": code, "what": what, "do": do}


def _parse(line: bytes) -> Request | str | None:
    """The request in a line: one of the table's, "status", "watch", or None for none."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not all(_can_be_kept(text) for text in value.values() if isinstance(text, str)):
        return None
    match value:
        case {"do": "status" | "watch" as look, **rest} if not rest:
            return str(look)
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
            "witness": str(witness),
            **rest,
        } if not rest and not isinstance(number, bool):
            with contextlib.suppress(ValueError):
                return CorrectRound(number, _cards(player), _cards(banker), by, witness)
            return None
        case {
            "do": "correct",
            "round": int(number),
            "hands": list(hands),
            "dealer": str(dealer),
            "by": str(by),
            "witness": str(witness),
            **rest,
        } if not rest and not isinstance(number, bool):
            with contextlib.suppress(ValueError):
                return CorrectSeatsRound(number, _hands(hands), _cards(dealer), by, witness)
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


async def _say(writer: asyncio.StreamWriter, answer: dict[str, object]) -> None:
    writer.write(_line(answer))
    await writer.drain()


def _line(answer: dict[str, object]) -> bytes:
    return json.dumps(answer).encode() + b"\n"
