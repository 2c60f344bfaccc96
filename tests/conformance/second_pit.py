"""A second pit, written from the contract's page alone. It shows that this page is enough to write a pit. The program
speaks MQTT 5 on a bare socket, and signs with PyNaCl.

    second_pit run LOG HOST:PORT | second_pit adopt LOG TABLE EPOCH KEY | second_pit verified|paid|rejected LOG AWARD
    second_pit corrected LOG EVENT | second_pit limit|price LOG METER CENTS | second_pit close LOG METER INTO

The pit's only record is the file LOG, which has a line for everything that happened, in order. The pit has three
meters, and no screens for people. Nobody should take it as an example.
"""

import asyncio
import base64
import json
import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from math import prod
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

Row = dict[Any, Any]
METERS, SEED, PART, ROOT = ("grand", "major", "minor"), Fraction(1_000_000), Fraction(7, 100), "pit/v1"


def canonical(value: Row) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def at(ms: int = 0) -> str:
    ms = ms or time.time_ns() // 1_000_000
    return datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{ms % 1000:03d}Z"


class Meter:
    """One meter of the second pit. Its amount is computed anew each time, from everything that has happened to the
    meter."""

    def __init__(self) -> None:
        self.wagered, self.given, self.moved, self.off = 0, 0, Fraction(0), list[Row]()
        self.wins, self.wagers, self.voids = list[Row](), Row(), Row()
        self.limits, self.price = list[tuple[int, int | None]](), 0

    def won(self, since: int = 0) -> int:
        """Return how often the whole meter was won. Wins before win number `since` do not count, and neither does a win
        whose awards were all rejected."""
        return sum(win["stands"] and win["share"] == 1 for win in self.wins[since:])

    def holds(self) -> Fraction:
        left = [it["cents"] * prod(1 - win["share"] for win in it["won"] if win["stands"]) for it in self.off]
        held: Fraction = self.moved + SEED * (1 + self.won()) + PART * (self.wagered - sum(left)) - self.given
        return held

    def level(self) -> Fraction:
        """Return what the meter shows: the amount that it holds, or its limit if the limit is lower. A limit that was
        set before the first wager applies immediately. A later limit applies after the meter's next win."""
        run = [limit for limit, since in self.limits if since is None or self.won(since)]
        return min([self.holds(), *map(Fraction, run[-1:])])

    def limit(self, cents: int) -> None:
        self.limits.append((cents, len(self.wins) if self.wagered else None))


def bets_of(event: Row) -> list[Row]:
    if "royal9_seats" in event:  # of version 1 or 2
        seats = event["royal9_seats"]
        return [{"meters": METERS[:1], "price_cents": event.get("royal9_price_cents"), "seats": seats}]
    return [bet for bet in event["progressive"] if bet["seats"]]


class Books:
    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self.key, self.read, self.seq = SigningKey(bytes(range(32))), 0, 0
        self.meters = {name: Meter() for name in METERS}
        self.adopted, self.head, self.hits = Row(), Row(), Row()
        self.shown, self.locked, self.open = Row(), Row(), Row()
        self.awards, self.steps, self.told = list[Row](), list[Row](), list[Row]()
        self.last = self.held = 0
        self.catch_up()
        self.last = self.held

    def moment(self) -> int:
        """Return a time for the pit's next message, in milliseconds since 1970. It is later than every time that was
        returned before, even after a restart or with a slow clock."""
        self.last = max(self.last + 1, time.time_ns() // 1_000_000)
        if self.last > self.held:
            self.write(passed_by_none=self.last + 900)
        return self.last

    def levels(self) -> dict[str, int]:
        return {name: int(meter.level()) for name, meter in self.meters.items()}

    def write(self, **line: object) -> None:
        os.write(self.file, canonical({**line, "ms": time.time_ns() // 1_000_000}) + b"\n")
        os.fsync(self.file)
        self.catch_up()

    def catch_up(self) -> None:
        lines, _, _ = os.pread(self.file, 1 << 30, self.read).rpartition(b"\n")
        self.read += len(lines) + bool(lines)
        for line in filter(None, lines.split(b"\n")):
            self.apply(json.loads(line))

    def apply(self, line: Row) -> None:
        event, ms = line.get("event", {}), line["ms"]
        hand = tuple(event.get(name) for name in ("table", "epoch", "shoe", "round"))
        self.head |= {hand[:2]: (event["seq"], event["chain"])} if event else {}
        match line | event:
            case {"passed_by_none": held}:
                self.held = held
            case {"adopt": [table, epoch, key]}:
                self.adopted[table] = epoch, key
            case {"decided": award, "as": step}:
                (found,) = (each for each in self.awards if each["award"] == award)
                self.take(found, step, "Ann", ms)
                if step == "rejected" and (win := found["win"]):
                    stand = [each for each in win["awards"] if each["step"] != "rejected"]
                    if stand and all(each["step"] != "paid" for each in stand):
                        self.divide(found["cents"] + sum(each["cents"] for each in stand), stand, ms)
                    else:
                        of_house = min(found["cents"], win["added"])
                        win["added"] -= of_house
                        win["from"].given -= found["cents"] - of_house
                    for last in reversed([it for it in win["from"].wins if it["stands"]]):
                        if any(each["step"] != "rejected" for each in last["awards"]):
                            break
                        last["stands"] = False
            case {"limit": [name, cents]}:
                self.meters[name].limit(int(cents))
            case {"price": [name, cents]}:
                self.meters[name].price = int(cents)
            case {"close": [name, into]}:
                self.meters[into].moved += self.meters.pop(name).holds()
            case {"type": "wagers_locked"}:
                if told := event.get("told"):
                    word = {name: value for name, value in told["word"].items() if name != "signature"}
                    with suppress(BadSignatureError, KeyError, ValueError):
                        self.key.verify_key.verify(canonical(word), base64.b64decode(told["word"]["signature"]))
                        self.shown[hand] = dict(word["meters"])
                        since = datetime.fromisoformat(word["at"]).timestamp() * 1000 + told["ago_ms"]
                        since = max([since, *(ms for of, ms in self.locked.items() if of[:2] == hand[:2])])
                        self.locked[hand] = self.open[hand[:2]] = since
                for bet, name, seat in [
                    (it, name, seat) for it in bets_of(event) for name in it["meters"] for seat in it["seats"]
                ]:
                    meter, wager = self.meters[name], {"cents": bet["price_cents"], "won": list[Row]()}
                    meter.wagers[hand, bet.get("spot"), seat] = wager
                    meter.wagered += bet["price_cents"]
            case {"type": "round", "awards": won} | {"type": "round", "royal9": won}:
                self.hits[hand] = len(won)
                if not won:
                    self.open.pop(hand[:2], None)
            case {"type": "void"}:
                places = [(hand, bet.get("spot"), seat) for bet in bets_of(event) for seat in bet["seats"]]
                self.open.pop(hand[:2], None)
                for meter in self.meters.values():
                    gone = [meter.wagers.pop(place) for place in places if place in meter.wagers]
                    meter.voids[event["id"]] = gone  # what they gave stays
            case {"corrected": void}:
                for meter in self.meters.values():
                    meter.off += meter.voids.pop(void, [])
            case {"type": "hit", "progressive": of_meter, "fixed": fixed}:
                award = {
                    "award": f"{event['table']}.{len(self.awards) + 1}",
                    "hit": event["id"],
                    "hand": hand,
                    "win": None,
                }
                award |= {name: event[name] for name in ("table", "seat", "tier")}
                self.awards.append(award | {"meter": of_meter and of_meter["meter"], "cents": 0})
                if of_meter:
                    self.win((hand, of_meter.get("share", "1:1")), self.awards[-1], ms)
                else:
                    self.divide(fixed["cents"], self.awards[-1:], ms)
                of_round = [each for each in self.awards if each["hand"] == hand]
                if len(of_round) >= self.hits.get(hand, 0):
                    self.open.pop(hand[:2], None)
                    self.tell([each for each in of_round if each["win"]], event.get("spot", "royal9"), ms)
            case {"type": "award", "hit": hit, "step": step, "cents": cents}:
                told = {"hit": hit, "step": step, "cents": cents}
                self.steps = [each for each in self.steps if not told.items() <= each.items()]

    def win(self, of: tuple[Any, str], award: Row, ms: int) -> None:
        meter = self.meters[award["meter"]]
        win = next((it for it in meter.wins if it["of"] == of), None)
        if win is None:
            share = Fraction(*map(int, of[1].split(":")))
            win = {"of": of, "share": share, "cents": int(meter.level() * share), "awards": list[Row](), "stands": True}
            win["from"] = meter
            meter.given += win["cents"]
            shown = self.shown.get(of[0], {}).get(award["meter"], 0)
            shown -= sum(it["cents"] for it in meter.wins if it["of"][0] == of[0])
            win["least"] = int(shown * share)
            win["added"] = max(0, win["least"] - win["cents"])
            win["cents"] += win["added"]
            meter.wins.append(win)
            for wager in [*meter.wagers.values(), *(each for void in meter.voids.values() for each in void)]:
                wager["won"].append(win)
        award["win"] = win
        win["awards"].append(award)
        self.divide(win["cents"], win["awards"], ms)
        self.put_in_order(win, ms)

    def put_in_order(self, win: Row, ms: int) -> None:
        mine = self.locked.get(win["of"][0])
        wins = win["from"].wins
        same = [it for it in wins if it["share"] == win["share"] and self.locked.get(it["of"][0], -1) >= (mine or 0)]
        free = [it for it in same if it["stands"] and all(each["step"] == "pending" for each in it["awards"])]
        of_round = [{name: it[name] for name in ("of", "awards", "least")} for it in free]
        of_round.sort(key=lambda it: self.locked[it["of"][0]])
        for level, to in zip(free, of_round, strict=True):
            if mine is not None and level["of"] != to["of"]:
                bare = level["cents"] - level["added"]
                level |= {**to, "added": max(0, to["least"] - bare), "cents": max(to["least"], bare)}
                for each in level["awards"]:
                    each["win"] = level
                self.divide(level["cents"], level["awards"], ms)

    def tell(self, won: list[Row], spot: str, ms: int) -> None:
        for each in won:
            seq = max(ms, *(win["seq"] + 1 for win in self.told), 0)
            win = {name: each[name] for name in ("table", "award", "tier", "meter", "cents")}
            self.told.append(
                {**win, "seq": seq, "at": at(ms), "spot": spot, "base_cents": self.levels()[each["meter"]]}
            )

    def divide(self, cents: int, awards: list[Row], ms: int) -> None:
        for place, each in enumerate(awards):
            each["cents"] = cents // len(awards) + (place < cents % len(awards))
            self.take(each, "pending", "pit", ms)

    def take(self, award: Row, step: str, by: str, ms: int) -> None:
        self.seq = max(self.seq + 1, ms)
        award["step"] = step
        kept = {name: award[name] for name in ("award", "hit", "table", "seat", "tier", "meter", "cents")}
        self.steps.append({**kept, "step": step, "by": by, "at": at(self.seq), "seq": self.seq})

    def receive(self, table: str, body: bytes) -> None:
        self.catch_up()  # a person may have decided since
        event: Row = json.loads(body)
        epoch, key = self.adopted[table]
        unsigned = {name: value for name, value in event.items() if name != "signature"}
        VerifyKey(bytes.fromhex(key)).verify(canonical(unsigned), base64.b64decode(event["signature"], validate=True))
        fits = True
        match event["type"]:
            case "hit" if event["progressive"]:
                fits = event["progressive"]["meter"] in self.meters
            case "wagers_locked":
                prices = [(name, bet["price_cents"]) for bet in bets_of(event) for name in bet["meters"]]
                fits = all(name in self.meters and self.meters[name].price in (0, cents) for name, cents in prices)
        seq = self.head.get((table, epoch), (0, ""))[0] + 1
        named = (event["table"], event["epoch"], event["seq"], event["id"]) == (
            table,
            epoch,
            seq,
            f"{table}/{epoch}/{seq}",
        )
        if named and canonical(event) == body and len(body) <= 250_000 and event["contract"] in (1, 2, 3, 4) and fits:
            self.write(event=event)


class SecondPit:
    def __init__(self, books: Books) -> None:
        self.books, self.packet_id, self.free = books, 0, asyncio.Semaphore(15)
        self.outbox: asyncio.Queue[tuple[str, bytes, bool]] = asyncio.Queue()
        self.acked, self.said = Row(), Row()

    def say(self, topic: str, word: Row, retain: bool = True) -> None:
        signature = base64.b64encode(self.books.key.sign(canonical(word)).signature).decode()
        self.outbox.put_nowait((f"{ROOT}/{topic}", canonical({**word, "signature": signature}), retain))

    def ack(self, table: str) -> None:
        epoch, _ = self.books.adopted[table]
        seq, chain = self.books.head.get((table, epoch), (0, "0" * 64))
        self.say(
            f"{table}/ack",
            {"table": table, "epoch": epoch, "seq": seq, "chain": chain, "at": at(self.books.moment())},
        )
        self.acked[table] = epoch

    def hear(self, topic: str, payload: bytes) -> None:
        *_, table, kind = topic.split("/")
        if kind == "state":
            self.said.pop(table, None)  # perhaps the table came back
        elif table in self.books.adopted:
            with suppress(AttributeError, ValueError, KeyError, TypeError, RecursionError, BadSignatureError):
                self.books.receive(table, payload)
            self.ack(table)

    async def run(self, host: str, port: int) -> None:
        self.reader, self.writer = await asyncio.open_connection(host, port)
        self.send(0x10, b"\0\4MQTT\5\2\0\0\0\0\4tiny")
        self.send(0x82, b"\0\1\0" + b"".join(b"\0\x0e" + f"{ROOT}/+/{kind}\1".encode() for kind in ("event", "state")))
        self.say("pit-key", {"public_key": bytes(self.books.key.verify_key).hex(), "at": at(), "rotations": []})
        await asyncio.gather(self.read(), self.write(), self.tell())

    def send(self, kind: int, body: bytes) -> None:
        length = [len(body)] if len(body) < 128 else [len(body) % 128 | 128, len(body) // 128]  # no word has 16 kB
        self.writer.write(bytes([kind, *length]) + body)

    async def write(self) -> None:
        while True:
            topic, payload, retain = await self.outbox.get()
            await self.free.acquire()
            self.packet_id = self.packet_id % 65535 + 1
            self.send(
                0x32 | retain,
                bytes([0, len(topic)]) + topic.encode() + self.packet_id.to_bytes(2, "big") + b"\0" + payload,
            )

    async def read(self) -> None:
        while True:
            kind, length, shift = (await self.reader.readexactly(1))[0], 0, 0
            while (digit := (await self.reader.readexactly(1))[0]) > 127:
                length, shift = length + (digit - 128 << shift), shift + 7
            body = await self.reader.readexactly(length + (digit << shift))
            if kind >> 4 == 4:
                self.free.release()
            elif kind >> 4 == 3:
                end = 2 + int.from_bytes(body[:2], "big")
                self.hear(body[2:end].decode(), body[end + 3 + body[end + 2] :])  # properties are below 128 bytes
                self.send(0x40, body[end : end + 2])

    async def tell(self) -> None:
        place = len(self.books.told) - 1
        while True:
            self.books.catch_up()
            for table, (epoch, _) in self.books.adopted.items():
                if self.acked.get(table) != epoch:
                    self.ack(table)
                step = next((each for each in self.books.steps if each["table"] == table), {"seq": 0})
                if step["seq"] not in (0, self.said.get(table)):
                    self.said[table] = step["seq"]
                    self.say(f"{table}/award", step, retain=False)
            seq = self.books.moment()
            place = min(place + 1, len(self.books.told) - 1)
            win = self.books.told[place] if place >= 0 else None
            self.say("meters", {"seq": seq, "at": at(seq), "meters": self.books.levels(), "win": win})
            await asyncio.sleep(0.3)


def main(act: str, path: str, *words: str) -> None:
    if act == "run":
        host, _, port = words[0].rpartition(":")
        asyncio.run(SecondPit(Books(path)).run(host, int(port)))
        return
    if act in ("corrected", "limit", "price", "close"):
        books = Books(path)
        if act == "corrected" and not any(meter.voids.get(words[0]) for meter in books.meters.values()):
            sys.exit("It is no void, or was corrected before.")
        waits = {each["meter"] for each in books.awards if each["step"] in ("pending", "verified")}
        if act != "corrected" and (
            not {*words} - {words[-1]} <= {*books.meters} or (act == "close" and words[0] in waits)
        ):
            sys.exit("There is no such meter, or an award of it waits.")
        books.write(**{act: words[0] if act == "corrected" else words})
        return
    books, after = Books(path), {"verified": ["pending"], "paid": ["verified"], "rejected": ["pending", "verified"]}
    if any(each["award"] == words[0] and each["step"] not in after[act] for each in books.awards):
        sys.exit(f"The award cannot be {act} now.")
    hands = [each["hand"] for each in books.awards]
    if any(
        each["award"] == words[0] and hands.count(each["hand"]) < books.hits.get(each["hand"], 0)
        for each in books.awards
    ):
        sys.exit("Hits of this round are still to come.")
    mine = next((books.locked.get(each["hand"], 0) for each in books.awards if each["award"] == words[0]), 0)
    if act == "verified" and any(ms < mine for ms in books.open.values()):
        sys.exit("A round that was locked before is not over.")
    books.write(**({"adopt": words} if act == "adopt" else {"decided": words[0], "as": act}))


if __name__ == "__main__":
    main(*sys.argv[1:])
