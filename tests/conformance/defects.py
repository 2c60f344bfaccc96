"""Defects that the conformance tests plant, one at a time, in a copy of the pit or the table. The conformance kit must
find each defect, and report the clause of the contract that the defect breaks.

A defect is a piece of the program's source and the source that replaces it. Apart from this, the copy runs like the
real program.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect to plant in the pit or the table: what is wrong, the clause of the contract that it breaks, and one or
    two changes of a source file."""

    name: str
    clause: str
    file: str
    text: str
    instead: str
    and_text: str | None = None  # of the same file
    and_instead: str = ""

    def planted(self) -> str:
        """Return the source file's text with the defect in it. Each piece that is replaced must occur exactly once in
        the file."""
        whole = (ROOT / self.file).read_text("utf-8")
        for text, instead in ((self.text, self.instead), (self.and_text, self.and_instead)):
            if text is not None:
                assert whole.count(text) == 1, f"{self.name}: {self.file} holds {text!r} {whole.count(text)} times"
                whole = whole.replace(text, instead)
        return whole

    def plant(self, folder: Path) -> Path:
        """Copy the program into `folder` with the defect in it, and return the folder from which to start the copy."""
        for package in ("controller", "drivers", "config"):
            shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / self.file).write_text(self.planted(), "utf-8")
        return folder


_SERVICE, _LEDGER, _BOOKS = (
    "controller/pit/reference/service.py",
    "controller/pit/reference/ledger.py",
    "controller/pit/reference/books.py",
)
_WITNESS = "controller/pit/reference/witness.py"
_CLOCK = "controller/pit/reference/clock.py"
_COMMITTED, _TAKING = "controller/pit/reference/committed.py", "controller/pit/reference/taking.py"
_INCOMING, _INTAKE, _AWARDS = (
    "controller/pit/reference/incoming.py",
    "controller/pit/reference/intake.py",
    "controller/pit/reference/awards.py",
)


def _at_a_start(name: str, clause: str, statement: str) -> Defect:
    """Return a defect of the pit: each time its program starts, the SQL statement `statement` changes the ledger."""
    begins = "            self._session.begin(token)\n"
    return Defect(name, clause, _LEDGER, begins, f"{begins}            self._db.execute({statement!r})\n")


def _noted(name: str) -> str:
    """Return Python source for an expression that reads the number in the file `name`, or is 0 if there is no such
    file. The planted defect uses it in the pit's program."""
    return f"int(open({name!r}).read() if __import__('os').path.exists({name!r}) else 0)"


def _note(name: str) -> str:
    """Return Python source for a function that takes a number and writes it into the file `name`."""
    return f"lambda number: __import__('pathlib').Path({name!r}).write_text(str(number)) and None"


def _times_of_acks_alone(moments: str) -> tuple[str, str, str, str]:
    """Return two changes of the pit's source, as four texts: old, new, old, new. After the changes, the times in
    acknowledgements come from the Python expression `moments`. The meters' messages still use the pit's own clock."""
    made, acks = "        self._moments = Moments(", "ack.payload(table, self._moments.next()"
    return made, f"        self._of_acks = {moments}\n{made}", acks, acks.replace("_moments", "_of_acks")


def acks_ahead(by_s: float) -> tuple[str, str]:
    """Return a change of the pit's source, as the old text and the new text. After it, the pit acknowledges each event
    `by_s` seconds before it commits the event."""
    commits = "            self._commit(events)\n"
    return commits, (
        "            for table, payload in events:\n"
        "                event, last = parse_object(payload), self._acked.get(table)\n"
        "                if last and (event.get('epoch'), event.get('seq')) == (last.epoch, last.seq + 1):\n"
        "                    self._acknowledge(table, Ack(last.epoch, last.seq + 1, str(event['chain'])))\n"
        "            self._say_acks(link)\n"
        "            link.loop(0)\n"
        f"            time.sleep({by_s})\n" + commits
    )


PIT_DEFECTS = (
    Defect(
        "the key is not retained",
        "P01",
        _SERVICE,
        "self._every_table.pit_key, key, retain=True",
        "self._every_table.pit_key, key",
    ),
    Defect(
        "the first ack has a chain", "P02", _COMMITTED, "chain = GENESIS.hex() if body", "chain = 'ab' * 32 if body"
    ),
    Defect(
        "acks are signed by nobody's key",
        "P03",
        _SERVICE,
        "ack.payload(table, self._moments.next(), self._key)",
        "ack.payload(table, self._moments.next(), SigningKey(bytes(32)))",
    ),
    Defect(
        "acks are not retained",
        "P04",
        _SERVICE,
        "Topics(self._root, table).ack, payload, retain=True",
        "Topics(self._root, table).ack, payload",
    ),
    Defect(
        "acks are one ahead",
        "P04",
        _COMMITTED,
        "return cls(head.adoption.epoch, head.seq, head.chain)",
        "return cls(head.adoption.epoch, head.seq + 1 if head.seq else head.seq, head.chain)",
    ),
    Defect(
        "an ack has the chain of another event",
        "P04",
        _COMMITTED,
        "        chain = GENESIS.hex() if body",
        "        body = self._body(table, epoch, max(1, seq - 1))\n        chain = GENESIS.hex() if body",
    ),
    Defect(
        "what comes after a gap is committed",
        "P05",
        _TAKING,
        "if event.seq != head.seq + 1:",
        "if event.seq <= head.seq:",
    ),
    Defect(
        "a gap is not answered",
        "P05",
        _LEDGER,
        "heads = self._events.heads({table for table, _ in events})\n            self._session",
        "heads = self._events.heads({one.table for one in taken.committed})\n            self._session",
    ),
    Defect(
        "a repeated lock counts again",
        "P06",
        _TAKING,
        "        if body == payload or",
        "        if body == payload:\n"
        "            self._db.execute(\"UPDATE fund SET cents = cents + 1 WHERE account LIKE 'meter:%'\")\n"
        "        if body == payload or",
    ),
    Defect(
        "an ack is said again with its bytes",
        "P06",
        _SERVICE,
        "payload = ack.payload(table, self._moments.next(), self._key)",
        "same = self.__dict__.setdefault('_same', {})\n"
        "            payload = same.setdefault((table, ack), ack.payload(table, self._moments.next(), self._key))",
    ),
    Defect(
        "another body is booked",
        "P07",
        _TAKING,
        "if body is not None:\n            raise RefusedError(",
        "if body is not None:\n            self._intake.take(1, table, event)\n            return False\n"
        "        if body is not None:\n            raise RefusedError(",
    ),
    Defect(
        "a window is committed as it comes",
        "P08",
        _TAKING,
        "if event.seq != head.seq + 1:",
        "if not head.seq < event.seq <= head.seq + 20:",
    ),
    Defect(
        "signatures are not looked at",
        "P09",
        _TAKING,
        "if not signature_holds(event.message, adopted.public_key):",
        "if False:",
    ),
    Defect(
        "the key of any adopted table will do",
        "P09",
        _TAKING,
        "if not signature_holds(event.message, adopted.public_key):",
        "every = self._events._adoptions.heard().values()\n"
        "        if not any(signature_holds(event.message, each.public_key) for each in every):",
    ),
    Defect(
        "an event without a signature is taken",
        "P09",
        _TAKING,
        "if not signature_holds(event.message, adopted.public_key):",
        'if "signature" in event.message and not signature_holds(event.message, adopted.public_key):',
    ),
    Defect(
        "signatures of locked wagers are not looked at",
        "P09",
        _TAKING,
        "if not signature_holds(event.message, adopted.public_key):",
        'if event.type != "wagers_locked" and not signature_holds(event.message, adopted.public_key):',
    ),
    Defect(
        "bytes need not be canonical",
        "P10",
        _INCOMING,
        "return canonical(message) == payload",
        "return True",
    ),
    Defect("a table's topic is not looked at", "P11", _INCOMING, "if name != table:", "if False:"),
    Defect("ids are not looked at", "P12", _INCOMING, "if id_ != by_fields:", "if False:"),
    Defect("every version is read", "P13", _INCOMING, "if contract not in CONTRACTS_READ:", "if False:"),
    Defect(
        "older versions are refused",
        "P14",
        _INCOMING,
        "if contract not in CONTRACTS_READ:",
        "if contract != 4:",
    ),
    Defect(
        "events of older versions are not booked",
        "P14",
        _INTAKE,
        "tuple(self._take(number, table, self._as_now(event)))",
        "tuple(\n"
        "                self._take(number, table, self._as_now(event)) if event.message['contract'] == 4 else ()\n"
        "            )",
    ),
    Defect(
        "older words are not understood",
        "P14",
        _INTAKE,
        "return replace(event, message=as_now(event.message, [*self._books.terms()]))",
        "return event",
    ),
    Defect(
        "every table is adopted",
        "P15",
        _SERVICE,
        "self._ledger.meet_all(states, self._adopt_new)",
        "self._ledger.meet_all(states, True)",
    ),
    Defect(
        "the state's newest key is believed",
        "P16",
        _LEDGER,
        "        with self._db.explained():\n            holds =",
        "        if heard is not None and heard.epoch == shown.epoch and heard != shown:\n"
        "            with self._asked():\n"
        "                self._adoptions.adopt(table, shown.epoch, shown.public_key)\n"
        "        with self._db.explained():\n            holds =",
    ),
    Defect(
        "the former epoch goes on",
        "P17",
        _TAKING,
        "if head is None or head.adoption.epoch != event.epoch:",
        "key = self._events._adoptions.key_of(table, event.epoch)\n"
        "        if head is not None and key is not None:\n"
        "            last = self._events.last({table: event.epoch})[table]\n"
        "            head = Head(type(head.adoption)(event.epoch, key), *last)\n"
        "        if head is None or head.adoption.epoch != event.epoch:",
    ),
    Defect(
        "an epoch that is adopted again begins anew",
        "P17",
        _LEDGER,
        "            if self._adoptions.of(table) != adoption:\n",
        "            for of in ('event', 'hand'):\n"
        "                anew = f\"UPDATE {of} SET epoch = epoch || '~' || number WHERE table_id = ? AND epoch = ?\"\n"
        "                self._db.execute(anew, (table, epoch))\n"
        "            if self._adoptions.of(table) != adoption:\n",
    ),
    Defect(
        "garbage ends the pit",
        "P18",
        _INCOMING,
        "message = parse_object(payload)\n    match message:",
        "message = parse_object(payload)\n    if not message:\n        raise SystemExit(1)\n    match message:",
    ),
    Defect(
        "no event is too long",
        "P19",
        _INCOMING,
        "if len(payload) > MOST_PAYLOAD_BYTES[kind]:",
        "if len(payload) > 10**9:",
    ),
    _at_a_start(
        "the last event is lost at a start",
        "P20",
        "DELETE FROM event WHERE number = (SELECT max(number) FROM event)",
    ),
    Defect(
        "an ack comes half a second before its commit",
        "P20",
        _SERVICE,
        *acks_ahead(0.5),
    ),
    _at_a_start(
        "no wager can be voided after a start", "P20", "UPDATE wager SET voided_by = 0 WHERE voided_by IS NULL"
    ),
    Defect(
        "the time of acks goes back",
        "P21",
        _CLOCK,
        "return Stamp(self._last_ms, True).text()",
        "self._less = getattr(self, '_less', 0) + 1000\n        return Stamp(self._last_ms - self._less, True).text()",
    ),
    Defect(
        "the time of acks begins anew at a start",
        "P21",
        _CLOCK,
        "return Stamp(self._last_ms, True).text()",
        "self._count = getattr(self, '_count', 0) + 1\n        return Stamp(self._count, True).text()",
    ),
    Defect(
        "the time of acks is the clock's at a start",
        "P21",
        _SERVICE,
        *_times_of_acks_alone("Moments(0, lambda held_ms: None)"),
    ),
    Defect(
        "the time of acks is kept on the machine and not in the ledger",
        "P21",
        _SERVICE,
        *_times_of_acks_alone(f"Moments({_noted('ack_time')}, {_note('ack_time')})"),
    ),
    Defect("the meters come late", "P22", _SERVICE, "_METERS_AT_LEAST_EVERY_S = 1.5", "_METERS_AT_LEAST_EVERY_S = 4.0"),
    Defect(
        "the meters are not retained",
        "P22",
        _SERVICE,
        "self._every_table.meters, payload, retain=True",
        "self._every_table.meters, payload, retain=False",
    ),
    Defect(
        "the meters' numbers begin anew",
        "P23",
        _SERVICE,
        "payload = MetersWord(seq,",
        "self._count = getattr(self, '_count', 0) + 1\n        payload = MetersWord(self._count,",
    ),
    Defect(
        "the meters' numbers are the clock's at a start",
        "P23",
        _LEDGER,
        "first = next_number(next_seq - 1)",
        "first = next_number(0)",
    ),
    Defect(
        "the meters' numbers are kept on the machine and not in the ledger",
        "P23",
        _LEDGER,
        "first = next_number(next_seq - 1)",
        f"first = next_number({_noted('next')} - 1)\n            ({_note('next')})(first + count)",
    ),
    Defect(
        "parts of a cent are lost",
        "P24",
        _BOOKS,
        "account: wagered_cents * part",
        "account: Fraction(int(wagered_cents * part))",
    ),
    _at_a_start("parts of a cent are lost at a start", "P24", "UPDATE fund SET remainder = '0'"),
    Defect("a wager goes on every meter", "P24", _BOOKS, "if name in meters}", "if meters}"),
    Defect("a wager goes on one meter of its bet", "P24", _BOOKS, "if name in meters}", "if name in [*meters][:1]}"),
    Defect(
        "a shoe's rounds are those of the shoe before",
        "P24",
        _BOOKS,
        "(table, epoch, shoe, round_)\n",
        "(table, epoch, 1, round_)\n",
    ),
    Defect(
        "one bet of a table counts",
        "P24",
        _INTAKE,
        "for bet in _bets(message) if (locked",
        "for bet in _bets(message)[:1] if (locked",
    ),
    Defect(
        "wagers of an hour ago do not count",
        "P24",
        _INTAKE,
        '            case "wagers_locked":\n',
        '            case "wagers_locked" if (moment_ms(str(message["at"])) or 0) < time_ns() // 10**6 - 3_600_000:\n'
        "                pass\n"
        '            case "wagers_locked":\n',
        "import re\n",
        "import re\nfrom time import time_ns\nfrom controller.contract.pit_words import moment_ms\n",
    ),
    Defect(
        "refused wagers count",
        "P25",
        _INTAKE,
        'return _word(bet, "spot"), _seats(bet),',
        'return _word(bet, "spot"), tuple(bet["seats"]) + tuple(bet["refused_seats"]),',
    ),
    Defect(
        "a payment takes something off a meter",
        "P33",
        _BOOKS,
        'self.post("paid", {"awards": -cents}, "paid", award=award)',
        'self.post("paid", {"awards": -cents}, "paid", award=award)\n'
        '        self.post("paid", {f"meter:{min(self._meters())}": -1}, "house", award=award)',
    ),
    Defect(
        "a correction takes too little off",
        "P26",
        _BOOKS,
        "amounts[account] = amounts.get(account, Fraction(0)) - cents",
        "amounts[account] = amounts.get(account, Fraction(0)) - cents / 2",
    ),
    Defect(
        "a void lowers its meter by itself",
        "P26",
        _BOOKS,
        'self.post("void", {"house": -given}, "wagers", says_so, adoption=adoption)\n',
        'self.post("void", {"house": -given}, "wagers", says_so, adoption=adoption)\n'
        "            self.take_off('voided_by = ?', (event,), event)\n",
    ),
    Defect(
        "a void is corrected twice",
        "P26",
        _BOOKS,
        'f"UPDATE wager SET off_at = ? WHERE voided_by',
        'f"UPDATE wager SET off_at = ? WHERE false AND voided_by',
    ),
    _at_a_start("no void can be corrected after a start", "P26", "UPDATE wager SET off_at = 0 WHERE voided_by > 0"),
    Defect(
        "nobody can correct a void",
        "P26",
        _BOOKS,
        "voids.setdefault(void, {})",
        "dict[str, Fraction]()",
    ),
    Defect(
        "a void takes every seat of its bet",
        "P26",
        _BOOKS,
        "            seat\n            for seat in seats\n",
        "            seat\n"
        "            for (seat,) in self._db.execute('SELECT seat FROM wager WHERE stake = ?', (stake,)).fetchall()\n",
    ),
    Defect(
        "a void takes every round of its table",
        "P26",
        _INTAKE,
        "        hand = self._hand(table, event)\n        has_hit",
        "        for (other,) in self._db.execute('SELECT number FROM hand WHERE table_id = ?', (table,)).fetchall():\n"
        "            for spot, seats in wagers:\n"
        "                self._books.void_wagers(number, other, spot, seats)\n"
        "        hand = self._hand(table, event)\n        has_hit",
    ),
    Defect(
        "a void takes every bet of its seats",
        "P26",
        _INTAKE,
        "for spot, seats in wagers}",
        "for _, seats in wagers for (spot,) in self._db.execute('SELECT spot FROM stake WHERE hand = ?', (hand,))}",
    ),
    Defect(
        "a void after a hit takes all that the wager added",
        "P26",
        _BOOKS,
        "of_meter, of_reserve = self._left(meter, fed, now)",
        "of_meter, of_reserve = left_after(())",
    ),
    Defect(
        "a void after a hit takes nothing",
        "P26",
        _BOOKS,
        "of_meter, of_reserve = self._left(meter, fed, now)",
        "of_meter = of_reserve = Fraction(fed == now)",
    ),
    Defect(
        "a meter that is won stays",
        "P27",
        _BOOKS,
        'self.post("hit", {f"meter:{meter}": -won}, "awards", event)',
        'self.post("hit", {"house": -won}, "awards", event)',
        "        if share == 1:\n",
        "        if share == 1 and False:\n",
    ),
    Defect(
        "a hit takes from every meter",
        "P27",
        _BOOKS,
        '        self.post("hit", {f"meter:{meter}": -won}, "awards", event)\n',
        '        self.post("hit", {f"meter:{meter}": -won}, "awards", event)\n'
        "        for name in self.terms().keys() - {meter}:\n"
        '            self.post("hit", {f"meter:{name}": -100}, "house", event)\n',
    ),
    Defect("a fixed award is of a dollar more", "P28", _AWARDS, "cents = won\n", "cents = won + 100\n"),
    Defect(
        "the first hit has the whole level",
        "P29",
        "controller/pit/reference/meters.py",
        "return [each + (place < left) for place in range(hits)]",
        "return [cents] + [0] * (hits - 1)",
    ),
    Defect(
        "the cent that is left over is nobody's",
        "P29",
        "controller/pit/reference/meters.py",
        "return [each + (place < left) for place in range(hits)]",
        "return [each for place in range(hits)]",
    ),
    Defect(
        "every odd cent is the first hit's",
        "P29",
        "controller/pit/reference/meters.py",
        "return [each + (place < left) for place in range(hits)]",
        "return [each + left * (place == 0) for place in range(hits)]",
    ),
    Defect(
        "odd cents are the last hits'",
        "P29",
        "controller/pit/reference/meters.py",
        "return [each + (place < left) for place in range(hits)]",
        "return [each + (hits - place <= left) for place in range(hits)]",
    ),
    _at_a_start("a start between two hits of a round parts them", "P29", "UPDATE lock SET share = share || ' '"),
    Defect(
        "every share is the whole",
        "P30",
        _INTAKE,
        "            if not 0 < won <= 1:",
        "            won = Fraction(1)\n            if not 0 < won <= 1:",
    ),
    Defect(
        "a second share is of the level before the first",
        "P30",
        _BOOKS,
        "won = floor(level.cents * share)",
        "of_round = 'SELECT coalesce(sum(cents), 0) FROM lock WHERE hand = ? AND meter = ?'\n"
        "        won = floor((level.cents + self._db.execute(of_round, (hand, meter)).fetchone()[0]) * share)",
    ),
    Defect(
        "a repeated hit has a second award",
        "P31",
        _SERVICE,
        "            self._commit(events)\n",
        "            self._commit(events)\n"
        "            for table, payload in events:\n"
        "                is_hit = parse_object(payload).get('type') == 'hit'\n"
        "                for step in getattr(self, '_told', ()) if is_hit else ():\n"
        "                    again = __import__('msgspec').structs.replace(\n"
        "                        step, award=step.award + '0', seq=step.seq + 1\n"
        "                    )\n"
        "                    self._publish(link, Topics(self._root, table).award, again.payload(self._key))\n",
        "self._steps_said[table] = step.seq, now_s",
        "self._steps_said[table] = step.seq, now_s\n                self._told = [step]",
    ),
    Defect(
        "a step is said once",
        "P32",
        _SERVICE,
        "self._steps_said.pop(table, None)\n            self._steps_due.add(table)",
        "pass",
        "_STEP_AGAIN_AFTER_S = 5.0",
        "_STEP_AGAIN_AFTER_S = 1e9",
    ),
    Defect(
        "only a new start of its program is a return of the table",
        "P32",
        _SERVICE,
        "        self._boots[table] = boot\n",
        "        self._boots[table] = boot or self._boots.get(table)\n",
        "_STEP_AGAIN_AFTER_S = 5.0",
        "_STEP_AGAIN_AFTER_S = 1e9",
    ),
    Defect(
        "a step is said for ever",
        "P32",
        _AWARDS,
        "UPDATE step SET heard = 1 WHERE award = ? AND seq <= ?",
        "UPDATE step SET heard = 0 WHERE award = ? AND seq <= ?",
    ),
    _at_a_start("every step is said again after a start", "P32", "UPDATE step SET heard = 0"),
    _at_a_start("no step is said again after a start", "P32", "UPDATE step SET heard = 1"),
    Defect(
        "steps have one number",
        "P33",
        _SERVICE,
        "step.payload(self._key)",
        "__import__('msgspec').structs.replace(step, seq=1).payload(self._key)",
    ),
    _at_a_start(
        "a paid award is payable after a start", "P33", "UPDATE award SET step = 'verified' WHERE step = 'paid'"
    ),
    Defect("an award is paid twice", "P33", _AWARDS, '"paid": ("verified",),', '"paid": ("verified", "paid"),'),
    Defect("an award is decided on before its round's other hits come", "P33", _AWARDS, "if award.more:", "if False:"),
    Defect("nobody need verify", "P33", _AWARDS, '"paid": ("verified",),', '"paid": ("pending", "verified"),'),
    Defect(
        "a paid award can be rejected",
        "P33",
        _AWARDS,
        '"rejected": ("pending", "verified"),',
        '"rejected": ("pending", "verified", "paid"),',
    ),
    Defect(
        "a rejected amount is the house's",
        "P34",
        _BOOKS,
        '"house" if meter is None else f"meter:{meter}", award=award',
        '"house", award=award',
    ),
    Defect(
        "a rejected hit leaves its seed on the meter",
        "P34",
        _BOOKS,
        'self.post("unseed", back, f"meter:{meter}", award=award)',
        "del back",
    ),
    Defect(
        "a seed comes out of what a later hit has left",
        "P34",
        _AWARDS,
        "        while (lock := self._books.last_lock(meter)) is not None:\n",
        "        if award.lock is not None and award.lock != self._books.last_lock(meter):\n"
        "            self._books.undo_lock(award.number, award.lock)\n"
        "            return\n"
        "        while (lock := self._books.last_lock(meter)) is not None:\n",
    ),
    Defect(
        "a seed comes out although a hit of its level is paid",
        "P34",
        _AWARDS,
        "standing = \"SELECT 1 FROM award WHERE lock = ? AND step != 'rejected'\"",
        "standing = \"SELECT 1 FROM award WHERE lock = ? AND step NOT IN ('rejected', 'paid')\"",
    ),
    Defect(
        "the part of a rejected hit goes to nobody who shares the level",
        "P34",
        _AWARDS,
        'if standing and all(other.step != "paid" for other in standing):',
        "if False:",
    ),
    Defect(
        "the part of a rejected hit goes to a hit that is paid",
        "P34",
        _AWARDS,
        'if standing and all(other.step != "paid" for other in standing):',
        "if standing:",
    ),
    Defect(
        "what the house bore of a corrected void it bears for ever",
        "P26",
        _BOOKS,
        'self.post("corrected", amounts, "wagers", award=award)',
        "del amounts",
    ),
    Defect("nobody can reject", "P34", _AWARDS, '"rejected": ("pending", "verified"),', '"rejected": (),'),
    Defect(
        "a rejected award is payable",
        "P34",
        _AWARDS,
        '"verified": ("pending",),',
        '"verified": ("pending", "rejected"),',
    ),
    Defect(
        "awards are retained",
        "P35",
        _SERVICE,
        "Topics(self._root, table).award, step.payload(self._key))",
        "Topics(self._root, table).award, step.payload(self._key), retain=True)",
    ),
    Defect(
        "the newest ack is every table's",
        "P36",
        _SERVICE,
        "            ack = self._acks_due.pop(table)\n",
        "            ack = self._acks_due.pop(table)\n"
        "            for other, before in [*self._acked.items()]:\n"
        "                wrong = Ack(before.epoch, ack.seq, ack.chain)\n"
        "                wrong = wrong.payload(other, self._moments.next(), self._key)\n"
        "                self._publish(link, Topics(self._root, other).ack, wrong, retain=True)\n",
    ),
    Defect(
        "rounds of the same number are one round",
        "P36",
        _BOOKS,
        "key = (table, epoch, shoe, round_)",
        'key = ("every table", "every epoch", shoe, round_)',
    ),
    Defect(
        "a test hit is paid from each meter",
        "P37",
        _INTAKE,
        '            case "hit":\n',
        '            case "test_hit":\n'
        "                for meter in self._books.levels():\n"
        '                    self._books.post("hit", {f"meter:{meter}": -100}, "awards", number)\n'
        '            case "hit":\n',
    ),
    Defect(
        "a wager on a meter that the pit lacks is passed over",
        "P38",
        _INTAKE,
        'case {"type": "wagers_locked", "progressive": list(bets)}:\n                for bet in bets:',
        'case {"type": "no wager", "progressive": list(bets)}:\n                for bet in bets:',
    ),
    Defect(
        "a wager is booked on those of its meters that the pit has",
        "P38",
        _INTAKE,
        "if meter not in known]",
        "if not {*known}.intersection(named_well)]",
    ),
    Defect(
        "a hit on a meter that the pit lacks is passed over",
        "P38",
        _INTAKE,
        'case {"type": "hit", "progressive": {"meter": meter}}:',
        'case {"type": "no hit", "progressive": {"meter": meter}}:',
        "                yield from self._hit(number, table, event)\n",
        "                of = message.get('progressive')\n"
        "                if not isinstance(of, dict) or of['meter'] in self._books.terms():\n"
        "                    yield from self._hit(number, table, event)\n",
    ),
    Defect(
        "no table hears of a win",
        "P39",
        _SERVICE,
        "MetersWord(seq, self._moments.of_number(seq), levels, win)",
        "MetersWord(seq, self._moments.of_number(seq), levels)",
    ),
    Defect(
        "a table that another was before is paid what is left",
        "P40",
        _BOOKS,
        "added = max(0, least_cents - won)\n",
        "added = 0\n",
    ),
    Defect(
        "what the house added to a rejected award stays on the meter",
        "P40",
        _AWARDS,
        "self._books.take_added(award.number, own_cents, award.meter, award.lock)",
        "pass",
    ),
    Defect(
        "a level that the pit never said is paid",
        "P40",
        "controller/pit/reference/shown.py",
        "if said != self._proved and any(signature_holds(said, key) for key in self.keys):",
        "if said != self._proved:",
    ),
    Defect(
        "a checkpoint that another key has signed is cosigned",
        "P41",
        _WITNESS,
        "if not note.signed_by(origin, adopted.public_key):",
        "if not note.signatures:",
    ),
    Defect(
        "a cosignature is of another time",
        "P41",
        _WITNESS,
        "return own.cosigned(PIT_WITNESS, key, key.public, now_s)",
        "made = own.cosigned(PIT_WITNESS, key, key.public, now_s)\n"
        "    name, line = made.signatures[-1]\n"
        "    return replace(made, signatures=(*own.signatures, (name, line[:11] + bytes([line[11] ^ 1]) + line[12:])))",
    ),
    Defect(
        "a checkpoint needs no proof from the last",
        "P42",
        _WITNESS,
        "elif not shown.extends(before, point):",
        "elif before is None and not shown.extends(before, point):",
    ),
    Defect("a smaller tree is cosigned", "P42", _WITNESS, "point.size < before.size:", "point.size < 0:"),
    Defect(
        "a second history is cosigned",
        "P42",
        _WITNESS,
        "if not shown.extends(before, point):\n                return",
        "if shown.old > point.size:\n                return",
    ),
    _at_a_start("what was cosigned is forgotten at a start", "P42", "DELETE FROM cosigned"),
    Defect(
        "the win that comes first is the first",
        "P43",
        _AWARDS,
        "self._put_right(event, lock), self.order.later_decided(lock)",
        "[], self.order.later_decided(lock)",
    ),
    Defect(
        "a word's age counts for nothing",
        "P43",
        "controller/pit/reference/shown.py",
        "return locked_ms, None",
        "return at_ms, None",
    ),
    Defect(
        "one person verifies while an earlier lock's round is not over",
        "P44",
        _AWARDS,
        'if step == "verified" and award.waits and not',
        'if step == "never" and award.waits and not',
    ),
    Defect(
        "a round that is over is waited for until its table locks again",
        "P44",
        "controller/pit/reference/order.py",
        "return any(_ROUND_OVER",
        "return False and any(_ROUND_OVER",
    ),
    Defect(
        "other terms run at once while people play",
        "P45",
        "controller/pit/reference/terms.py",
        "waits = self._was_played_for(name) and not",
        "waits = False and not",
    ),
    Defect(
        "a hit of a part ends the former terms",
        "P45",
        _BOOKS,
        "        if share == 1:\n            self._begin_again(",
        "        if share < 1:\n            self.meter_terms.begin_waiting(meter, event, lock)\n"
        "        if share == 1:\n            self._begin_again(",
    ),
    Defect(
        "a meter shows more than its limit",
        "P46",
        "controller/pit/reference/meters.py",
        "return cents if self.limit_cents is None else min(cents, self.limit_cents)",
        "return cents",
    ),
    Defect(
        "a wager at any price feeds a meter",
        "P47",
        _INTAKE,
        "if prices and price_cents not in prices:",
        "if not prices and price_cents in prices:",
    ),
    Defect(
        "a tenth of a closed meter is nowhere",
        "P48",
        "controller/pit/reference/closing.py",
        'given = {f"meter:{into}": on_meter + over,',
        'given = {f"meter:{into}": on_meter * 9 / 10 + over,',
    ),
    Defect(
        "a meter is closed while its award waits",
        "P48",
        "controller/pit/reference/closing.py",
        "if open_awards := sorted({*self._open_awards(meter)}):",
        "if open_awards := [str(each) for each in ()]:",
    ),
)
"""Every clause has a defect of its own at least."""
