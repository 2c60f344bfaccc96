"""Check the pit's books: whether every balance in the ledger follows from the committed events, to the cent.

All sums are computed anew. What wagers gave is summed from the text of the events, each balance from its entries, and
what the pit owes from the awards. Each difference from the books is a finding.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

from msgspec import Struct

from controller.contract.old_events import as_now
from controller.pit.reference import slips
from controller.pit.reference.books import HOUSE_RESERVE
from controller.pit.reference.meters import left_after, share_of
from controller.pit.reference.store import Store, of_row


class MeterAccount(Struct, frozen=True):
    """The sums that explain a meter's level, in cents. They must fulfil this equation: level + overflow = seeds +
    contributions + from_reserve - awards + returned + moved.

    `seeds` is what the house put in. `contributions` is what wagers gave, less what corrections of voids took away.
    `returned` is what rejected awards gave back. If that money then went to other hits, `awards` counts it a second
    time. `carried` and `reserve_carried` are fractions of a cent: what the meter and its reserve hold beyond their
    whole cents.
    """

    meter: str
    seeds_cents: int
    contributions_cents: int
    from_reserve_cents: int
    awards_cents: int
    returned_cents: int
    level_cents: int
    carried: Fraction
    reserve_cents: int
    reserve_carried: Fraction
    wagers: int = 0
    """How many qualifying wagers fed the meter and were not voided, at whatever level; `wagered_cents` is their sum."""

    wagered_cents: int = 0
    overflow_cents: int = 0
    """What came at the meter's limit: it goes on the next level."""

    moved_cents: int = 0
    """What came from meters that were closed; below 0, what went away when the meter itself was closed."""

    @property
    def balances(self) -> bool:
        """Tell whether the meter's level and overflow together equal what went into the meter less what went out."""
        inwards = self.seeds_cents + self.contributions_cents + self.from_reserve_cents + self.returned_cents
        return self.level_cents + self.overflow_cents == inwards - self.awards_cents + self.moved_cents


class AwardCount(Struct, frozen=True):
    """How often one kind of award was hit, and how many cents those hits won. A kind is one tier of a bet, on one meter
    or with a fixed amount. `won_cents` leaves out rejected awards. `paid_cents` counts only paid awards."""

    spot: str
    award: str
    meter: str | None
    hits: int
    rejected: int
    won_cents: int
    paid_cents: int


class Account(Struct, frozen=True):
    """The result of checking a ledger's books: each meter, each kind of award, and the cents owed and paid. `findings`
    lists what does not balance.

    `recalled_cents` concerns awards that people recalled, at another amount than the hit won, or after the award was
    rejected here. It is the sum of the cents that the house added to such awards, less the cents that the house kept
    because the other amount was smaller.
    """

    meters: tuple[MeterAccount, ...]
    owed_cents: int
    paid_cents: int
    recalled_cents: int
    findings: tuple[str, ...]
    awards: tuple[AwardCount, ...] = ()
    house_reserve_cents: int = 0
    """What closed meters left, and waits for another meter."""
    shown_cents: int = 0
    """What the house added to awards, since their tables had shown more at the lock than the meter held at the hit."""


def draw_up(db: Store) -> Account:
    """Compute the account of a ledger anew from its events, entries and awards. The caller must hold a transaction."""
    funds = {account: (cents, Fraction(rest)) for account, cents, rest in db.execute("SELECT * FROM fund")}
    meters = tuple(_meter(db, name, funds) for (name,) in db.execute("SELECT name FROM meter ORDER BY name").fetchall())
    return Account(
        meters,
        funds.get("awards", (0, 0))[0],
        funds.get("paid", (0, 0))[0],
        _recalled(db),
        (
            *_unbalanced(db, funds, meters),
            *_unfounded(db, funds),
            *_locks_amiss(db),
            *_awards_amiss(db, funds),
            *slips.amiss(db),
        ),
        _counts(db),
        funds.get(HOUSE_RESERVE, (0, 0))[0],
        _shown(db),
    )


_GENERATION = itemgetter(0)
_HIT = b'"type":"hit"'  # in the bytes of each hit, which are canonical JSON; a text has its quotes escaped

_Funds = dict[str, tuple[int, Fraction]]

_Moment = tuple[int, int]
"""The number of an event, and 0; of a decision, the number of the last event by then, and the decision's own."""


def _meter(db: Store, name: str, funds: _Funds) -> MeterAccount:
    """Return the account of one meter. Its sums are computed from the entries of the meter's accounts, grouped by the
    reason of each entry."""
    account, reserve = f"meter:{name}", f"reserve:{name}"
    by_why = dict(
        db.execute(
            "SELECT why, sum(cents) FROM entry JOIN posting ON number = posting WHERE account = ? GROUP BY why",
            (account,),
        )
    )
    (from_reserve,) = db.execute(
        "SELECT coalesce(-sum(cents), 0) FROM entry JOIN posting ON number = posting"
        " WHERE account = ? AND why IN ('reseed', 'unseed')",
        (reserve,),
    ).fetchone()
    seeds = sum(by_why.get(why, 0) for why in ("seed", "reseed", "unseed")) - from_reserve
    wagers, wagered_cents = db.execute(
        "SELECT count(*), coalesce(sum(price_cents), 0) FROM wager JOIN feeding ON feeding.stake = wager.stake"
        " JOIN stake ON stake.number = wager.stake WHERE feeding.meter = ? AND voided_by IS NULL",
        (name,),
    ).fetchone()
    level, carried = funds.get(account, (0, Fraction(0)))
    reserve_cents, reserve_carried = funds.get(reserve, (0, Fraction(0)))
    return MeterAccount(
        name,
        seeds_cents=seeds,
        contributions_cents=sum(by_why.get(why, 0) for why in ("contribution", "void", "corrected")),
        from_reserve_cents=from_reserve,
        awards_cents=-by_why.get("hit", 0) - by_why.get("shared", 0),
        returned_cents=by_why.get("rejected", 0) + by_why.get("shown", 0),
        level_cents=level,
        carried=carried,
        reserve_cents=reserve_cents,
        reserve_carried=reserve_carried,
        wagers=wagers,
        wagered_cents=wagered_cents,
        overflow_cents=funds.get(f"overflow:{name}", (0, Fraction(0)))[0],
        moved_cents=by_why.get("moved", 0) + _moved_off(db, f"overflow:{name}"),
    )


def _moved_off(db: Store, account: str) -> int:
    """Return how many whole cents this account received when meters were closed. The result is negative if the account
    lost money."""
    (cents,) = db.execute(
        "SELECT coalesce(sum(cents), 0) FROM entry JOIN posting ON number = posting"
        " WHERE account = ? AND why = 'moved'",
        (account,),
    ).fetchone()
    return int(cents)


def _counts(db: Store) -> tuple[AwardCount, ...]:
    """Return, for each kind of award that was ever hit, how many hits there were and how many cents they won."""
    rows = db.execute(
        "SELECT spot, tier, meter, count(*), sum(CASE step WHEN 'rejected' THEN 1 ELSE 0 END),"
        " sum(CASE step WHEN 'rejected' THEN 0 ELSE cents END), sum(CASE step WHEN 'paid' THEN cents ELSE 0 END)"
        " FROM award GROUP BY spot, tier, meter ORDER BY spot, tier, coalesce(meter, '')"
    )
    return tuple(of_row(AwardCount, row) for row in rows.fetchall())


def _unbalanced(db: Store, funds: _Funds, meters: tuple[MeterAccount, ...]) -> Iterator[str]:
    for posting, total in db.execute("SELECT posting, sum(cents) FROM entry GROUP BY posting HAVING sum(cents) != 0"):
        yield f"posting {posting} is off by {total} cents"
    sums = dict(db.execute("SELECT account, sum(cents) FROM entry GROUP BY account"))
    for account in sorted(sums.keys() | funds.keys()):
        balance, carried = funds.get(account, (0, Fraction(0)))
        if balance != sums.get(account, 0):
            yield f"{account} says {balance} cents, and its entries make {sums.get(account, 0)}"
        if not 0 <= carried < 1:
            yield f"{account} carries {carried} of a cent"
    limits = dict(db.execute("SELECT name, limit_cents FROM meter JOIN terms ON terms.number = meter.terms"))
    for meter in meters:
        limit = limits[meter.meter]
        if (meter.overflow_cents and meter.level_cents != limit) or (limit is not None and meter.level_cents > limit):
            over = f"{meter.level_cents} cents and {meter.overflow_cents} in its overflow"
            yield f"{meter.meter} has {over}, and its limit is {limit}"
        if not meter.balances:
            yield f"the level of {meter.meter} does not follow from its seeds, contributions and awards"
        if min(meter.level_cents, meter.reserve_cents, meter.overflow_cents) < 0:
            yield f"{meter.meter}, its reserve or its overflow is below zero"


def _unfounded(db: Store, funds: _Funds) -> Iterator[str]:
    """Yield each difference between the books and the events. Three things are compared: the cents that each account
    got from wagers, the cents that the house bears because of voids, and the number of wagers that were not voided."""
    gifts = _given_by_events(db)
    given = gifts.given
    booked = dict(
        db.execute(
            "SELECT account, sum(cents) FROM entry JOIN posting ON number = posting"
            " WHERE why IN ('contribution', 'void', 'corrected', 'moved') AND account != 'wagers' GROUP BY account"
        )
    )
    for account, cents in db.execute("SELECT account, cents FROM moved").fetchall():
        given[account] = given.get(account, Fraction(0)) + Fraction(cents)
    for account in sorted((given.keys() | booked.keys() | funds.keys()) - {"wagers"}):
        carried = funds.get(account, (0, Fraction(0)))[1]
        if given.get(account, 0) != booked.get(account, 0) + carried:
            yield f"what wagers gave to {account} is not what the events say"
    (kept,) = db.execute("SELECT count(*) FROM wager WHERE voided_by IS NULL").fetchone()
    if kept != gifts.wagers:
        yield f"{kept} wagers count, and the events have {gifts.wagers}"


_UNDERSTOOD = "number NOT IN (SELECT event FROM alarm WHERE code = 'event_not_understood')"


def _given_by_events(db: Store) -> _Gifts:
    """Compute from the events alone what locked wagers gave to each account, to the fraction of a cent. What voids and
    corrections moved is subtracted."""
    gifts = _Gifts(db)
    taken_back = _taken_back(db)
    for number, table, epoch, body in db.stream(
        f"SELECT number, table_id, epoch, body FROM event WHERE {_UNDERSTOOD} ORDER BY number"
    ):
        while taken_back and taken_back[-1][0] < (number, 0):
            moment, *stream = taken_back.pop()
            gifts.take_back(tuple(stream), moment)
        event = as_now(json.loads(body))
        for bet in event["progressive"] if event["type"] in ("wagers_locked", "void") else ():
            if not bet["seats"]:
                continue  # a bet without wagers need not have a price
            stake, seats = (table, epoch, event["shoe"], event["round"], bet["spot"]), bet["seats"]
            if event["type"] == "void":
                gifts.void(stake, seats, gifts.corrected.get((table, epoch, number)))
            else:
                gifts.lock(stake, seats, bet["price_cents"], (number, 0))
    while taken_back:
        moment, *stream = taken_back.pop()
        gifts.take_back(tuple(stream), moment)
    return gifts


class _Gifts:
    """What wagers have given to each account so far, in cents. A stake (one bet of one round) is the tuple of table,
    epoch, shoe, round and spot."""

    def __init__(self, db: Store) -> None:
        self.given: dict[str, Fraction] = {}
        self._price: dict[tuple[Any, ...], int] = {}
        self._open: set[tuple[Any, ...]] = set()
        self._feedings, self._won = _feedings(db), _won(db)
        self.corrected = _corrected(db)

    @property
    def wagers(self) -> int:
        """Return the number of wagers that were not voided."""
        return len(self._open)

    def lock(self, stake: tuple[Any, ...], seats: Sequence[int], price_cents: int, moment: _Moment) -> None:
        """Count the locked wagers of these seats. Do nothing if the wagers of this stake (one bet of one round) were
        locked before."""
        if stake not in self._price:
            self._price[stake] = price_cents
            self._open |= {(stake, seat) for seat in seats}
            self._give(stake, len(seats) * price_cents, moment)

    def void(self, stake: tuple[Any, ...], seats: Sequence[int], corrected: _Moment | None) -> None:
        """Void those wagers of these seats that are not voided yet. `corrected` is the moment at which people corrected
        the meters after the void; the house then bears only what hits had won until that moment. If `corrected` is
        None, the house bears all that the wagers gave."""
        voided = {(stake, seat) for seat in seats} & self._open
        self._open -= voided
        self._give(stake, -len(voided) * self._price.get(stake, 0), corrected)

    def take_back(self, stream: tuple[Any, ...], moment: _Moment) -> None:
        """Take back from the meters what all wagers of a table's stream of events gave, because people found that the
        stream was adopted wrongly."""
        for stake, seat in [(stake, seat) for stake, seat in self._open if stake[:2] == stream]:
            self._open.discard((stake, seat))
            self._give(stake, -self._price[stake], moment)

    def _give(self, stake: tuple[Any, ...], stake_cents: int, moment: _Moment | None) -> None:
        """Add to each account its part of `stake_cents`, the wagers of one stake (one bet of one round). A void gives a
        negative number.

        Each meter of the bet and its reserve get a part. If hits won a share of the meter after the wagers were locked
        and before `moment`, the house bears that share of the meter's part. If a hit won the whole meter, the house
        bears the reserve's part too. If `moment` is None, the house bears everything.
        """
        for meter, generation, contribution, reserve in self._feedings.get(stake, ()):
            locks = self._won.get(meter, [])
            since = locks[bisect_left(locks, generation, key=_GENERATION) :]
            shares = [Fraction(1)] if moment is None else [share for _, then, share in since if then < moment]
            of_meter, of_reserve = left_after(shares)
            for account, part, left in (
                (f"meter:{meter}", contribution, of_meter),
                (f"reserve:{meter}", reserve, of_reserve),
            ):
                for bearer, bears in ((account, left), ("house", 1 - left)):
                    if bears:
                        self.given[bearer] = self.given.get(bearer, Fraction(0)) + stake_cents * part * bears


def _taken_back(db: Store) -> list[tuple[Any, ...]]:
    """Return the streams of events that people set aside, the last one first. Each item holds the moment of that
    decision, the table, and the name under which the ledger keeps the stream."""
    rows = db.execute(
        "SELECT before_event - 1, coalesce((SELECT max(decision.number) FROM decision WHERE what = 'set_aside'"
        " AND subject = back.last), 0), table_id, set_aside_as"
        " FROM (SELECT before_event, table_id, set_aside_as, max(number) AS last FROM adoption"
        " WHERE set_aside_as IS NOT NULL GROUP BY before_event, table_id, set_aside_as) AS back"
        " ORDER BY before_event DESC, 2 DESC"
    )
    return [((after, decision), table, name) for after, decision, table, name in rows.fetchall()]


def _corrected(db: Store) -> dict[tuple[str, str, int], _Moment]:
    """Return for each corrected void the moment at which people corrected the meters. A void is named by its table,
    epoch and event number."""
    back = {(table, name): moment for moment, table, name in _taken_back(db)}
    rows = db.execute(
        "SELECT DISTINCT table_id, epoch, voided_by, off_at, (SELECT max(number) FROM decision WHERE what = 'corrected'"
        " AND subject = voided_by) FROM wager JOIN stake ON stake.number = stake JOIN hand ON hand.number = hand"
        " WHERE off_at IS NOT NULL"
    )
    return {
        # until form 18 a void took off the meters at once
        (table, epoch, void): (void, 0)
        if off_at == void
        else (off_at - 1, decision or back.get((table, epoch), (0, 0))[1])
        for table, epoch, void, off_at, decision in rows.fetchall()
    }


def _feedings(db: Store) -> dict[tuple[Any, ...], list[tuple[str, int, Fraction, Fraction]]]:
    """Return for each progressive bet of a round the meters that its wagers fed. Each item has the meter's name, its
    generation (how often it had been won or closed), and the parts of a wager that the meter and its reserve got."""
    feedings: dict[tuple[Any, ...], list[tuple[str, int, Fraction, Fraction]]] = {}
    for *stake, meter, generation, contribution, reserve in db.execute(
        "SELECT table_id, epoch, shoe, round, spot, feeding.meter, generation, contribution, reserve FROM feeding"
        " JOIN stake ON stake.number = feeding.stake JOIN hand ON hand.number = stake.hand"
        " JOIN terms ON terms.number = feeding.terms"
    ):
        row = (meter, generation, Fraction(contribution), Fraction(reserve))
        feedings.setdefault(tuple(stake), []).append(row)
    return feedings


def _won(db: Store) -> dict[str, list[tuple[int, _Moment, Fraction]]]:
    """Return for each meter its wins that were not undone, and its closings. Each item has the meter's generation (how
    often it had been won or closed before), the moment, and the share of the meter's money that was won. The share of a
    closing is the whole."""
    won: dict[str, list[tuple[int, _Moment, Fraction]]] = {}
    for meter, generation, event, decision, share in db.execute(
        "SELECT meter, generation, event, 0, share FROM lock WHERE undone = 0"
        " UNION ALL SELECT meter, generation, after_event, (SELECT max(decision.number) FROM decision"
        " WHERE what = 'closed' AND subject = closing.number), '1' FROM closing ORDER BY generation"
    ):
        won.setdefault(meter, []).append((generation, (event, decision or 0), Fraction(share)))
    return won


def _locks_amiss(db: Store) -> Iterator[str]:
    """Yield a finding for each error in the locks (the records of the meter levels that hits took). A lock must agree
    with a hit event. A meter's last lock must be undone if all its awards are rejected. Also check that each meter's
    generation is the number of its locks and closings, and that a closed meter is empty."""
    by_events: dict[tuple[Any, ...], int] = {}
    for number, table, epoch, body in db.stream(
        f"SELECT number, table_id, epoch, body FROM event WHERE {_UNDERSTOOD} ORDER BY number"
    ):
        match as_now(json.loads(body)) if _HIT in body else None:
            case {"type": "hit", "shoe": shoe, "round": round_, "progressive": {"meter": str(meter), "share": won}}:
                by_events.setdefault((table, epoch, shoe, round_, meter, str(share_of(won))), number)
    locks = {
        tuple(of): event
        for *of, event in db.execute(
            "SELECT table_id, epoch, shoe, round, meter, share, event FROM lock JOIN hand ON hand.number = hand"
        )
    }
    # where an earlier lock's hit came later, its level is that of a later hit: see `order`
    if by_events.keys() != locks.keys() or {*by_events.values()} != {*locks.values()}:
        yield "the levels that were locked are not those that hits won"
    for (meter,) in db.execute(
        "SELECT name FROM meter WHERE generation != (SELECT count(*) FROM lock WHERE lock.meter = name AND undone = 0)"
        " + (SELECT count(*) FROM closing WHERE closing.meter = name)"
    ):
        yield f"the generation of {meter} is not the number of its locks and closings"
    for (meter,) in db.execute(
        "SELECT name FROM meter JOIN fund ON account IN ('meter:' || name, 'overflow:' || name, 'reserve:' || name)"
        " WHERE closed = 1 AND (cents != 0 OR remainder != '0') GROUP BY name"
    ):
        yield f"{meter} is closed and not empty"
    for (lock,) in db.execute(
        "SELECT lock.number FROM lock JOIN meter ON name = meter WHERE lock.generation = meter.generation - 1"
        " AND undone = 0 AND NOT EXISTS (SELECT 1 FROM award WHERE award.lock = lock.number AND step != 'rejected')"
    ):
        yield f"every award of lock {lock} is rejected, and the lock is not undone"


def _shown(db: Store) -> int:
    (cents,) = db.execute("SELECT coalesce(sum(cents), 0) FROM added").fetchone()
    return int(cents)


def _recalled(db: Store) -> int:
    (cents,) = db.execute("SELECT coalesce(sum(house_cents), 0) FROM award").fetchone()
    return int(cents)


def _awards_amiss(db: Store, funds: _Funds) -> Iterator[str]:
    by_step = dict(db.execute("SELECT step, sum(cents) FROM award GROUP BY step"))
    for account, steps in (("awards", ("pending", "verified")), ("paid", ("paid",))):
        balance, stands = funds.get(account, (0, Fraction(0)))[0], sum(by_step.get(step, 0) for step in steps)
        if balance != stands:
            yield f"{account} says {balance} cents, and the awards make {stands}"
    returned = dict(
        db.execute(
            "SELECT lock, sum(entry.cents) FROM posting JOIN award ON award.number = posting.award"
            " JOIN entry ON entry.posting = posting.number"
            " WHERE why IN ('rejected', 'shared', 'shown') AND account = 'meter:' || meter GROUP BY lock"
        )
    )
    for lock, cents, shared in db.execute(
        "SELECT lock.number, lock.cents + coalesce(added.cents, 0),"
        " (SELECT coalesce(sum(award.cents - house_cents), 0) FROM award"
        " WHERE award.lock = lock.number AND step != 'rejected')"
        " FROM lock LEFT JOIN added ON added.lock = lock.number"
    ):
        if shared + returned.get(lock, 0) != cents:
            yield f"the hits of lock {lock} share {shared} cents of a level of {cents}"
    if -funds.get("shown", (0, Fraction(0)))[0] != _shown(db):
        yield f"the house added {_shown(db)} cents to what meters held, and its account says otherwise"
    (added,) = db.execute(
        "SELECT coalesce(-sum(entry.cents), 0) FROM entry JOIN posting ON number = posting"
        " WHERE why = 'recalled' AND account = 'house'"
    ).fetchone()
    if added != _recalled(db):
        yield f"the house added {added} cents to recalled awards, and the awards say {_recalled(db)}"
    for number, body in db.stream(
        f"SELECT number, body FROM event WHERE {_UNDERSTOOD} AND number NOT IN (SELECT event FROM award)"
    ):
        if _HIT in body and json.loads(body).get("type") == "hit":
            yield f"the hit that is event {number} has no award"
