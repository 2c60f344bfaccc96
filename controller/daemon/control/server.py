"""The control socket: a Unix socket over which `tablectl` asks a running table for its status and for acts.

A request is one line of JSON: `{"do": "status"}`, or an act as its own file says (`table/acts`), for example `{"do":
"card", "card": "KS", "by": "Smith"}`. The answer is one line: `{"ok": true, ...}`, or `{"ok": false, "code": ...,
"what": ..., "do": ...}`. `watch` is answered with a status at once, and then with each status that differs
(`watchers.py`). The socket's group may connect: whoever is in that group may act as a supervisor from the shell. An act
that clears a fault names that fault as the status does: `"fault": "3-2"`. An act by two people is answered `{"ok":
true, "waits": {...}}`, and is done once a second person says `{"do": "witness", "proposal": 1, "by": ...}`. `{"do":
"foresee", "act": {...}}` is answered with what the act would do, and changes nothing. `{"do": "replay", "round":
"3/12"}` is answered with a finished round's record (`round_record.py`), with its frames.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from pathlib import Path
from typing import Any

from msgspec import Struct

from controller.basics.errors import TableError
from controller.contract.face.answers import Answer
from controller.contract.wire.callers import IDLE_S, LONGEST_PATH, Connection, Connections, bound
from controller.daemon.control.feed import SUFFIX, feed_lines, feed_of
from controller.daemon.control.lines import line as _line
from controller.daemon.control.past import Past, past_of
from controller.daemon.control.watchers import Watchers
from controller.daemon.runtime import Runtime
from controller.table.acts.entry import BadArgumentError, Form, Request
from controller.table.acts.every import ACTS, act_of
from controller.table.foreseen import name_of
from controller.table.legality import Refuse
from controller.words.language import language

_LONGEST_LINE = 4096
_LOOK = "See `tablectl status` for what the table waits for."

_Serves = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@contextlib.asynccontextmanager
async def serving(runtime: Runtime, path: Path) -> AsyncIterator[None]:
    """Serve three sockets while the context lasts: the control socket at `path`, and beside it the socket of the feed
    and the socket for past events.

    Raises TableError `control_socket` if a socket cannot be made.
    """
    served = _Served(runtime)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(_end, served.conversations)
        stopped = "The table's program was stopped, so this view has ended."
        last_word = _line(_refusal("table_stopped", stopped, "Start the table: systemctl start table-controller."))
        stack.callback(served.watchers.end, last_word)
        for at, serve, mode in (
            (path, served.requests, 0o660),
            (feed_of(path), served.feed, 0o666),
            (past_of(path), served.events, 0o666),
        ):
            channel = bound(at, mode, "[control] socket", LONGEST_PATH - len(SUFFIX))
            server = await asyncio.start_unix_server(served.begin(serve), sock=channel, limit=_LONGEST_LINE)
            stack.callback(server.close)
        yield


class _Served:
    """Serves the connections to the three sockets of a running table: requests, the public feed, and past events."""

    def __init__(self, runtime: Runtime) -> None:
        kept = runtime.config.file.journal
        self._runtime = runtime
        self._connections = Connections()
        self._fed = Watchers(feed_lines(runtime))
        self._past = Past(Path(kept.path), kept.archives)
        self.watchers = Watchers(lambda: (_line(Answer(ok=True, status=runtime.told.status())),))
        self.conversations: set[asyncio.Task[None]] = set()

    async def feed(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._connections.of(writer) as connection:
            with contextlib.suppress(ConnectionError):
                if connection is not None:
                    await self._fed.watch(writer)

    async def events(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._connections.of(writer) as connection:
            with contextlib.suppress(ConnectionError, TimeoutError, ValueError, TableError):
                if connection is not None:
                    await self._past.tell(reader, writer)

    async def requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._connections.of(writer) as connection:
            with contextlib.suppress(ConnectionError):
                if connection is None:
                    full = _refusal("too_many_connections", "Too many requests are being done at once.", "Try later.")
                    writer.write(_line(full))
                else:
                    await _converse(self._runtime, self._past, self.watchers, connection, reader)

    def begin(self, serve: _Serves) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        """Return the function that asyncio calls for a new connection. The function starts a task in which `serve`
        serves the connection."""

        def with_task(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            conversation = asyncio.get_running_loop().create_task(serve(reader, writer))
            self.conversations.add(conversation)
            conversation.add_done_callback(self.conversations.discard)

        return with_task


async def _end(conversations: Collection[asyncio.Task[None]]) -> None:
    for conversation in conversations:
        conversation.cancel()
    await asyncio.gather(*conversations, return_exceptions=True)


async def _converse(
    runtime: Runtime, past: Past, watchers: Watchers, connection: Connection, reader: asyncio.StreamReader
) -> None:
    while True:
        try:
            line = await connection.line(reader)
        except ValueError:
            do = "Send a shorter request."
            await connection.say(_line(_refusal("request_too_long", "A request is at most 4096 bytes.", do)))
            return
        except TimeoutError:
            do = "Connect again when you have something to ask."
            await connection.say(_line(_refusal("idle", f"No request came for {IDLE_S:g} s.", do)))
            return
        if not line:
            return
        try:
            request = parse(line)
        except BadArgumentError as wrong:
            await connection.say(_line(_refusal("bad_request", wrong.what, wrong.do)))
            continue
        if request == "status":
            await connection.say(_line(Answer(ok=True, status=runtime.told.status())))
        elif request == "watch":
            await watchers.watch(connection.writer)
        elif isinstance(request, _Replayed):
            await connection.say(_line(await _replayed(past, request.round)))
        elif isinstance(request, _Foreseen):
            await connection.say(_line(_would(runtime, request.asked)))
        elif not isinstance(request, str):
            connection.acting = True
            answer = await _act(runtime, request, connection.via)
            connection.acting = False
            await connection.say(_line(answer))


async def _act(runtime: Runtime, asked: _Asked | _Confirmed, via: str) -> Answer:
    match asked:
        case _Asked(request, fault, shown):
            answer = await runtime.ask(request, via, fault, shown)
        case _Confirmed(proposal, by):
            answer = await runtime.confirm(proposal, by, via)
    if answer.refused == "second_person_due" and (waits := runtime.told.waits_for_second_person()) is not None:
        return Answer(ok=True, waits=waits)
    if answer.refused is not None:
        return _refusal(answer.refused, language().refusal(answer.refused), _LOOK)
    return Answer(ok=True)


async def _replayed(past: Past, which: str) -> Answer:
    try:
        return Answer(ok=True, hand=await past.hand(which))
    except TableError as error:
        return _refusal(error.code, error.what, error.do)


def _would(runtime: Runtime, asked: _Asked) -> Answer:
    match runtime.foresee(asked.request, asked.fault):
        case Refuse(code):
            return _refusal(code, language().refusal(code), _LOOK)
        case would:
            return Answer(ok=True, would=would, shown=name_of(would))


def _refusal(code: str, what: str, do: str) -> Answer:
    return Answer(ok=False, code=code, what=what, do=do)


class _Asked(Struct, frozen=True):
    """A client's request to the table. `fault` is the id of the fault that the person was shown. `shown` is the name of
    the preview that the person was shown."""

    request: Request
    fault: str | None = None
    shown: str | None = None


class _Foreseen(Struct, frozen=True):
    """A client's question for a preview. The answer says what the request `asked` would do."""

    asked: _Asked


class _Replayed(Struct, frozen=True):
    """A client's question for the record of the finished round `round`, such as "3/12"."""

    round: str


class _Confirmed(Struct, frozen=True):
    """The confirmation, by the second person `by`, of the waiting request with the number `proposal`."""

    proposal: int
    by: str


def parse(line: bytes) -> _Asked | _Foreseen | _Replayed | _Confirmed | str:
    """Parse a line that a client sent to the control socket.

    The result is a request to the table, a question for a request's preview, a second person's confirmation, a question
    for a finished round's record, or the text "status" or "watch". Raises BadArgumentError, which says what is wrong,
    for any other line.
    """
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise _no_request() from None
    if not isinstance(value, dict) or not _keeps(value):
        raise _no_request()
    match value:
        case {"do": "status" | "watch" as look, **rest} if not rest:
            return str(look)
        case {"do": "replay", "round": str(which), **rest} if not rest:
            return _Replayed(which)
        case {"do": "witness", "proposal": int(proposal), "by": str(by), **rest} if not rest and type(proposal) is int:
            return _Confirmed(proposal, by)
        case {"do": "foresee", "act": {"do": str(do)}, **rest} if not rest and _keeps(value["act"]):
            asked = _asked(do, {name: said for name, said in value["act"].items() if name != "do"})
            act = act_of(asked.request)
            if act is None or act.shows is None:  # a refusal of `card KS` would tell where each KS is
                raise _no_request()
            return _Foreseen(asked)
        case {"do": str(do), **said}:
            return _asked(do, said)
        case _:
            raise _no_request()


def _no_request() -> BadArgumentError:
    return BadArgumentError(
        "The table does not know this request.",
        'Send one JSON object in a line, such as {"do": "status"}. `tablectl` does that for you.',
    )


def _asked(do: str, body: dict[str, Any]) -> _Asked:
    """Parse the fields of a client's JSON object into a request to the table. `do` is the name of the act. Raises
    BadArgumentError if they make no request."""
    for act in ACTS:
        if act.do != do or not act.on_socket:
            continue
        fault = body.pop("fault", None) if act.exit is not None and isinstance(body.get("fault"), str) else None
        shown = body.pop("shown", None) if act.shows is not None and isinstance(body.get("shown"), str) else None
        for form in act.forms:
            if body.keys() == form.said:
                return _Asked(_request(form, body), fault, shown)
    raise _no_request()


def _request(form: Form, body: dict[str, Any]) -> Request:
    values = [argument.read(body[argument.name]) for argument in form.arguments]
    if not form.named:
        return form.make(*values)
    if not isinstance(body["by"], str):
        raise BadArgumentError(f"{body['by']} is not a name.", 'Write a name: "by": "Smith".')
    return form.make(*values, body["by"])


def _keeps(body: dict[str, Any]) -> bool:
    return all(_can_be_kept(text) for text in body.values() if isinstance(text, str))


def _can_be_kept(text: str) -> bool:
    """Return True if the text is printable and not blank, so that the journal and a log line can hold it. JSON can
    write half of a surrogate pair, which no file can hold."""
    return text.isprintable() and bool(text.strip())
