"""Defects of a pit that show only when connections are cut, events come twice, and the pit's program is killed while
tables play.

Each is planted in a copy of the reference pit, and the conformance kit's stress test (its "fire") must find it. Most of
the defects appear once, after a cut of the pit's own connection, because no other test of the kit cuts that connection.
"""

from __future__ import annotations

from tests.conformance.defects import Defect, acks_ahead

_SERVICE, _LEDGER = "controller/pit/reference/service.py", "controller/pit/reference/ledger.py"
_TAKING = "controller/pit/reference/taking.py"
_METER = "'meter:banker_personal'"
"""The first meter by name, on which the kit plays; a 500th of each wager goes on it."""
_LAST_WAGER = "(SELECT price_cents / 500 FROM stake ORDER BY number DESC LIMIT 1)"
_LAST_VOIDED = (
    "(SELECT price_cents / 500 FROM wager JOIN stake ON stake = number WHERE voided_by IS NOT NULL"
    " ORDER BY voided_by DESC LIMIT 1)"
)


def _moves_meter(by: str) -> str:
    return f"UPDATE fund SET cents = cents {by} WHERE account = {_METER}"


def _once(indent: str, db: str, when: str, statement: str) -> str:
    """Return Python source that changes the ledger only once: the first time that the condition `when` holds and the
    SQL statement finds a row to change. `db` is the Python expression for the database, and `indent` is put before each
    line."""
    lines = (
        f"if {when} and not __import__('os').path.exists('spoiled'):",
        f"    if {db}.execute({statement!r}).rowcount:",
        "        open('spoiled', 'w').close()",
    )
    return "".join(f"{indent}{line}\n" for line in lines)


def _after_a_cut(name: str, clause: str, statement: str, often: bool = False) -> Defect:
    """Return a defect of the pit: after its connection to the broker was cut, an SQL statement changes the ledger. With
    `often` this happens after every cut, otherwise only once."""
    told = "                why = str(ended)\n"
    db = "self._ledger._db"
    indent = " " * 20
    spoils = f"{indent}{db}.execute({statement!r})\n" if often else _once(indent, db, "True", statement)
    return Defect(name, clause, _SERVICE, told, f"{told}                with {db}.transaction():\n{spoils}")


def _ahead_after_a_cut(name: str, clause: str) -> Defect:
    """Return a defect of the pit: from the first cut of its connection to the broker on, it acknowledges events before
    it commits them. It still does so after a restart."""
    told = "                why = str(ended)\n"
    commits, ahead = acks_ahead(0.1)
    was_cut = "__import__('os').path.exists('cut')"
    ahead = ahead.replace("in events:", f"in events if {was_cut} else ():").replace("(0.1)", f"(0.1 * {was_cut})")
    return Defect(name, clause, _SERVICE, told, f"{told}                open('cut', 'w').close()\n", commits, ahead)


def _at_a_late_start(name: str, clause: str, statement: str) -> Defect:
    """Return a defect of the pit: when its program starts with more than 1000 events in the ledger, an SQL statement
    changes the ledger once. Only the conformance kit's stress test sends so many events. Its other tests send about
    350.
    """
    begins = "            self._session.begin(token)\n"
    late = "self._db.execute('SELECT count(*) FROM event').fetchone()[0] > 1_000"
    return Defect(name, clause, _LEDGER, begins, begins + _once(" " * 12, "self._db", late, statement))


_STEP_AGAIN = (
    "INSERT INTO step (table_id, seq, award, step, cents, by_whom, at)"
    " SELECT table_id, (SELECT max(seq) FROM step) + 1, award, step, cents, by_whom, at FROM step WHERE step = 'paid'"
    " ORDER BY seq DESC LIMIT 1"
)
_REJECTED = "FROM award WHERE step = 'rejected' AND meter IS NOT NULL"
_SAID = (
    "(SELECT award.number FROM award JOIN step ON step.award = award.number"
    " WHERE award.step = 'pending' AND heard = {} ORDER BY seq LIMIT 1)"
)
"""A pending award of which the table's stream has told (1), or has yet to tell (0). Where the pit changes an award that
it has never said, it says a right award under another name."""

FIRE_DEFECTS = (
    _ahead_after_a_cut("after a cut acks come before the disk has the events", "P20"),
    _at_a_late_start(
        "a start forgets the last events", "P20", "DELETE FROM event WHERE number > (SELECT max(number) FROM event) - 9"
    ),
    _at_a_late_start("a start finds the meter without the last wager", "P20", _moves_meter(f"- {_LAST_WAGER}")),
    Defect(
        "an event of long ago counts again when it comes again",
        "P08",
        _TAKING,
        "        if body == payload or",
        "        again = body == payload and event.type == 'wagers_locked' and event.seq + 55 < head.seq\n"
        "        if again and not __import__('os').path.exists('spoiled'):\n"
        "            given_cents = event.message['progressive'][0]['price_cents'] // 500\n"
        "            self._books.post('again', {'meter:banker_personal': given_cents}, 'wagers')\n"
        "            open('spoiled', 'w').close()\n"
        "        if body == payload or",
    ),
    _after_a_cut("the last wager counts again after a cut", "P08", _moves_meter(f"+ {_LAST_WAGER}")),
    _after_a_cut(
        "the last void lowers the meter after a cut",
        "P26",
        _moves_meter(f"- {_LAST_VOIDED}") + f" AND {_LAST_VOIDED} < 100000",  # the kit measures the share by more
    ),
    _after_a_cut(
        "acks are taken back after a cut",
        "P20",
        "DELETE FROM event WHERE number > (SELECT max(number) FROM event) - 30",
    ),
    _after_a_cut(
        "a paid award can be paid again after a cut",
        "P33",
        "UPDATE award SET step = 'verified' WHERE step = 'paid'",
        often=True,
    ),
    _after_a_cut("an award is paid twice after a cut", "P33", _STEP_AGAIN),
    _after_a_cut(
        "a hit has another award after a cut",
        "P31",
        f"UPDATE award SET id = id || '000' WHERE number = {_SAID.format(1)}",
    ),
    _after_a_cut(
        "a rejected award goes back on the meter twice after a cut",
        "P34",
        _moves_meter(
            "+ (SELECT cents FROM award WHERE step = 'rejected' AND meter IS NOT NULL ORDER BY number DESC LIMIT 1)"
        ).replace(
            " WHERE account",
            " WHERE EXISTS (SELECT 1 FROM award WHERE step = 'rejected' AND meter IS NOT NULL) AND account",
        ),
    ),
    _after_a_cut(
        "a fixed award has another amount after a cut",
        "P28",
        f"UPDATE step SET cents = cents + 100 WHERE heard = 0 AND award = {_SAID.format(0)} AND cents = 4400",
    ),
    Defect(
        "a decision between two batches loses the last wager",
        "P20",
        _SERVICE,
        "                    self._follow_others(link)  #",
        "                    with self._ledger._db.transaction():\n"
        + _once(" " * 24, "self._ledger._db", "self._left or self._arrived", _moves_meter(f"- {_LAST_WAGER}"))
        + "                    self._follow_others(link)  #",
    ),
)

SECOND_PIT_DEFECT = Defect(
    "the second pit forgets its last lines at a late start",
    "P20",
    "tests/conformance/second_pit.py",
    '    if act == "run":\n',
    '    if act == "run":\n'
    '        lines = open(path, "rb").readlines() if os.path.exists(path) else []\n'
    "        if len(lines) > 60:\n"
    '            open(path, "wb").writelines(lines[:-5])\n',
)
"""It starts in a tenth of a second, so a sample of the fire is cheap at this pit."""
