"""The pit's books: double entries for what committed events and people's decisions do to the meters.

Every function works inside the ledger's transaction, so an event and its change of a meter are committed together. The
accounts are `wagers` (below zero: what locked wagers have given), `house` (below zero: what the house has added),
`shown` (below zero: what the house has added to awards whose tables had shown more than the meter held), `meter:NAME`,
`reserve:NAME` and `overflow:NAME`, `house_reserve` (what closed meters left), `awards` (what is owed) and `paid`. Each
posting sums to zero.

**Contributions.** Every locked wager on a progressive bet gives a part to each meter that the bet awards.

**Hits.** A hit wins a share of a meter's level: the whole, or a part such as a tenth. The first hit of a round takes
that share off the meter; this is called a lock. A meter that was won whole begins again at its seed. If only a part was
won, the rest stays on the meter. A meter's generation is the number of its closings, and of its locks that are not
undone.

**Limits.** A meter shows no more than its limit, and no more can be won. What the meter holds above its limit is its
overflow. A posting that moves the meter is followed by a second one, which brings meter and overflow into this order
again. So the overflow goes on the next level once the meter was won, because players gave that money.

**Voids.** A void lowers no meter. What its wagers gave stays there, and the house bears it. Two people can correct that
(`corrections`): what the void left on the meter is taken off, and the house gets it back, except for the share that has
been won since. For example: a wager gave 100 cents, the wager was voided, and then a tenth of the meter was won. A
correction takes 90 cents off the meter, and the house bears 10.

**Undone locks.** If every award of a lock is rejected, the lock is undone: the level was never won. If the house had
borne a part of a correction because of that lock, the meter bears that part from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import groupby
from math import floor
from operator import itemgetter

from msgspec import Struct, field

from controller.pit.reference.decisions import Decisions
from controller.pit.reference.meters import Fund, Terms, left_after, reseed
from controller.pit.reference.store import Store, marks
from controller.pit.reference.terms import MeterTerms, Running

SCHEMA = """
CREATE TABLE fund ( -- each account's balance: the sum of its entries, and the part of a cent it carries
    account TEXT PRIMARY KEY,
    cents INTEGER NOT NULL,
    remainder TEXT NOT NULL
) STRICT;
CREATE TABLE posting (
    number INTEGER PRIMARY KEY,
    why TEXT NOT NULL,
    event INTEGER,
    award INTEGER,
    adoption INTEGER -- the adoption that was taken back, where that is the reason
) STRICT;
CREATE TABLE entry (
    posting INTEGER NOT NULL REFERENCES posting,
    account TEXT NOT NULL,
    cents INTEGER NOT NULL,
    PRIMARY KEY (posting, account)
) STRICT, WITHOUT ROWID;
CREATE TABLE hand (
    number INTEGER PRIMARY KEY,
    table_id TEXT NOT NULL,
    epoch TEXT NOT NULL,
    shoe INTEGER NOT NULL,
    round INTEGER NOT NULL,
    hits INTEGER, -- NULL until its round is finished
    UNIQUE (table_id, epoch, shoe, round)
) STRICT;
CREATE TABLE stake ( -- a progressive bet of a round whose wagers were locked
    number INTEGER PRIMARY KEY,
    hand INTEGER NOT NULL REFERENCES hand,
    spot TEXT NOT NULL,
    price_cents INTEGER NOT NULL,
    UNIQUE (hand, spot)
) STRICT;
CREATE TABLE wager (
    stake INTEGER NOT NULL REFERENCES stake,
    seat INTEGER NOT NULL,
    voided_by INTEGER, -- the event that voided the wager, or before which the adoption was taken back
    off_at INTEGER, -- the event before which the meters were corrected, NULL while they hold what the wager gave
    PRIMARY KEY (stake, seat)
) STRICT, WITHOUT ROWID;
CREATE INDEX wager_left ON wager (voided_by) WHERE voided_by IS NOT NULL AND off_at IS NULL;
CREATE TABLE feeding ( -- a meter that a stake's wagers fed: on which terms, and in which generation of the meter
    stake INTEGER NOT NULL REFERENCES stake,
    meter TEXT NOT NULL,
    terms INTEGER NOT NULL REFERENCES terms,
    generation INTEGER NOT NULL,
    PRIMARY KEY (stake, meter)
) STRICT, WITHOUT ROWID;
CREATE TABLE lock ( -- a share of a level that a round won, and what the meter began again with
    number INTEGER PRIMARY KEY,
    event INTEGER NOT NULL, -- the hit
    hand INTEGER NOT NULL REFERENCES hand,
    meter TEXT NOT NULL,
    share TEXT NOT NULL, -- 1, or a part: 1/10
    generation INTEGER NOT NULL,
    cents INTEGER NOT NULL,
    from_reserve_cents INTEGER NOT NULL,
    from_house_cents INTEGER NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0,
    UNIQUE (hand, meter, share)
) STRICT;
"""

FROM_FORM_18 = """
ALTER TABLE wager ADD COLUMN off_at INTEGER;
UPDATE wager SET off_at = voided_by WHERE voided_by IS NOT NULL;
CREATE INDEX wager_left ON wager (voided_by) WHERE voided_by IS NOT NULL AND off_at IS NULL;
INSERT INTO decision (after_event, what, subject, cents)
SELECT (SELECT coalesce(max(number), 0) FROM event), 'voids_stay', 0, 0
WHERE EXISTS (SELECT 1 FROM wager WHERE voided_by IS NOT NULL);
"""
"""Until form 18 a void took off the meters at once what its wagers gave. Head office reads when that ended."""

HOUSE_RESERVE = "house_reserve"
"""The account of players' money that closed meters left, and that waits for another meter."""

_MOST_ROWS = 1_000  # in one statement: a database takes some ten thousand values at most


class _Gathered(Struct, frozen=True):
    """A cache for booking many events together: the balances that were read, and the database rows that are still to be
    written."""

    meters: dict[str, Running] = field(default_factory=dict)
    funds: dict[str, Fund] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)  # the accounts of `funds` whose balance is to be written
    rows: dict[str, list[Sequence[object]]] = field(default_factory=dict)  # by their table and columns


class Books:
    """The meters' accounts in a ledger."""

    def __init__(self, db: Store, decisions: Decisions | None = None) -> None:
        self._db = db
        self.meter_terms = MeterTerms(db, decisions or Decisions(db))
        self._gathered: _Gathered | None = None

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Book many events together inside one transaction: within this context each balance is read once and written
        once. If the code in the context raises an error, no balance is written, and the caller must roll back the
        transaction."""
        self._gathered = gathered = _Gathered()
        try:
            yield
            self._put_rows()
            self._write({account: gathered.funds[account] for account in sorted(gathered.changed)})
        finally:
            self._gathered = None

    def terms(self) -> dict[str, Terms]:
        """Return the terms that are in force now, by the meter's name."""
        return {name: meter.terms for name, meter in self._meters().items()}

    def set_terms(
        self, meters: Mapping[str, Terms], by: str, witness: str | None, why: str, open_again: Collection[str] = ()
    ) -> tuple[str, ...]:
        """Record that people approved these terms of meters. A new meter begins at its seed. Return a line of text for
        each change. Raises TableError `meter_left_out`, `terms_wait` or `limit_below_level` if a change cannot be
        approved."""
        changes = self.meter_terms.changes(meters, open_again)
        self.meter_terms.approve(changes, by, witness, why)
        for change in changes:
            name = change.meter
            if change.before is None:
                self.post("seed", {f"meter:{name}": change.terms.seed_cents, f"reserve:{name}": 0}, "house")
        return tuple(map(str, changes))

    def levels(self) -> dict[str, int]:
        """Return every open meter's level in cents."""
        rows = "SELECT name, cents FROM meter JOIN fund ON account = 'meter:' || name WHERE closed = 0 ORDER BY name"
        return dict(self._db.execute(rows))

    def level_cents(self, meter: str) -> int:
        """Return the meter's level, the amount that tables show, in cents."""
        (fund,) = self.funds([f"meter:{meter}"]).values()
        return fund.cents

    def part_taken(self, meters: Collection[str]) -> Fraction:
        """Return the part of a wager that goes to these meters and their reserves together."""
        terms = self.terms()
        return sum((terms[name].contribution + terms[name].reserve for name in meters if name in terms), Fraction(0))

    def hand(self, table: str, epoch: str, shoe: int, round_: int) -> int:
        """Return the ledger's own number of a table's round. If the round is new, give it a number."""
        key = (table, epoch, shoe, round_)
        columns = "hand (table_id, epoch, shoe, round)"
        begun = f"INSERT INTO {columns} VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING number"
        known = "SELECT number FROM hand WHERE table_id = ? AND epoch = ? AND shoe = ? AND round = ?"
        row = self._db.execute(begun, key).fetchone() or self._db.execute(known, key).fetchone()
        return int(row[0])

    def lock_wagers(
        self, event: int, hand: int, spot: str, seats: tuple[int, ...], price_cents: int, meters: Collection[str]
    ) -> bool:
        """Book the locked wagers of these seats on a progressive bet. Their parts go to the given `meters` and to these
        meters' reserves. Return False, and book nothing, if the round's wagers on that bet were locked before."""
        row = self._db.execute(
            "INSERT INTO stake (hand, spot, price_cents) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING number",
            (hand, spot, price_cents),
        ).fetchone()
        if row is None:
            return False
        (stake,) = row
        self._gather("wager (stake, seat)", [(stake, seat) for seat in seats])
        fed = {name: meter for name, meter in self._meters().items() if name in meters}
        self._gather("feeding", [(stake, name, meter.terms_number, meter.generation) for name, meter in fed.items()])
        wagered_cents = price_cents * len(seats)
        shares = {
            account: wagered_cents * part
            for name, meter in fed.items()
            for account, part in (
                (f"meter:{name}", meter.terms.contribution),
                (f"reserve:{name}", meter.terms.reserve),
            )
        }
        self.post("contribution", shares, "wagers", event)
        return True

    def void_wagers(
        self, event: int, hand: int, spot: str, seats: tuple[int, ...], adoption: int | None = None
    ) -> tuple[int, ...]:
        """Void the wagers of these seats on the bet `spot`. The house bears what the wagers gave. Return those of the
        seats that had no locked wager.

        If `adoption` is None, the event with the number `event` voids the wagers. Otherwise people took back the
        adoption with this number, and `event` is the next event after that.
        """
        self._put_rows()
        stake, price_cents = self._db.execute(
            "SELECT number, price_cents FROM stake WHERE hand = ? AND spot = ?", (hand, spot)
        ).fetchone() or (0, 0)
        voided = [
            seat
            for seat in seats
            if self._db.execute(
                "UPDATE wager SET voided_by = ? WHERE stake = ? AND seat = ? AND voided_by IS NULL",
                (event, stake, seat),
            ).rowcount
        ]
        if voided:
            says_so = event if adoption is None else None
            given = price_cents * len(voided) * self._part_given(stake)
            self.post("void", {"house": -given}, "wagers", says_so, adoption=adoption)
        return tuple(seat for seat in seats if seat not in voided)

    def voided_rounds(self, hand: int) -> int:
        """Count the rounds with voided wagers in the shoe to which the round `hand` belongs."""
        self._put_rows()
        (count,) = self._db.execute(
            "SELECT count(DISTINCT other.number) FROM hand JOIN hand other ON other.table_id = hand.table_id"
            " AND other.epoch = hand.epoch AND other.shoe = hand.shoe JOIN stake ON stake.hand = other.number"
            " JOIN wager ON wager.stake = stake.number WHERE hand.number = ? AND wager.voided_by IS NOT NULL",
            (hand,),
        ).fetchone()
        return int(count)

    def take_back(self, table: str, epoch: str, set_aside_as: str, before_event: int, adoption: int) -> None:
        """Void all wagers of a table's stream that was wrongly adopted. Remove from the meters what is still there of
        the money of all its voided wagers, also of those that were voided before. Keep the stream's rounds under the
        epoch name `set_aside_as` from now on."""
        open_wagers = self._db.execute(
            "SELECT hand, spot, seat FROM wager JOIN stake ON stake.number = stake JOIN hand ON hand.number = hand"
            " WHERE table_id = ? AND epoch = ? AND voided_by IS NULL ORDER BY hand, stake, seat",
            (table, epoch),
        ).fetchall()
        for (hand, spot), wagers in groupby(open_wagers, key=itemgetter(0, 1)):
            self.void_wagers(before_event, hand, spot, tuple(seat for *_, seat in wagers), adoption)
        hands = "SELECT number FROM hand WHERE table_id = ? AND epoch = ?"
        of_stream = f"stake IN (SELECT stake.number FROM stake WHERE hand IN ({hands}))"
        self.take_off(of_stream, (table, epoch), before_event, adoption)
        self._db.execute("UPDATE hand SET epoch = ? WHERE table_id = ? AND epoch = ?", (set_aside_as, table, epoch))

    def left_by_voids(self, which: str = "true", values: Sequence[object] = ()) -> dict[int, dict[str, Fraction]]:
        """Return how much money of voided wagers is still on the meters and in their reserves. The result maps the
        number of each void event to the exact cents on each account. `which` is an SQL condition that selects wagers,
        and `values` are its parameters."""
        self._put_rows()
        rows = self._db.execute(
            "SELECT voided_by, stake, price_cents * count(*) FROM wager JOIN stake ON number = stake"
            f" WHERE voided_by IS NOT NULL AND off_at IS NULL AND {which}"
            " GROUP BY voided_by, stake, price_cents ORDER BY voided_by, stake",
            values,
        )
        voids: dict[int, dict[str, Fraction]] = {}
        for void, stake, cents in rows.fetchall():
            left = voids.setdefault(void, {})
            for account, share in self._shares(stake, cents).items():
                left[account] = left.get(account, Fraction(0)) + share
        return voids

    def take_off(self, which: str, values: Sequence[object], before_event: int, adoption: int | None = None) -> None:
        """Move to the house the money of voided wagers that is still on the meters and in their reserves. Only wagers
        that the SQL condition `which` selects count."""
        amounts: dict[str, Fraction] = {}
        for left in self.left_by_voids(which, values).values():
            for account, cents in left.items():
                amounts[account] = amounts.get(account, Fraction(0)) - cents
        amounts["house"] = -sum(amounts.values(), Fraction(0))
        self.post("corrected", amounts, "wagers", adoption=adoption)
        self._db.execute(
            f"UPDATE wager SET off_at = ? WHERE voided_by IS NOT NULL AND off_at IS NULL AND {which}",
            (before_event, *values),
        )

    def has_wager(self, hand: int, spot: str, seat: int) -> bool:
        """Tell whether the seat has a locked wager on the bet `spot` in this round. A voided wager does not count."""
        self._put_rows()
        row = self._db.execute(
            "SELECT 1 FROM wager JOIN stake ON number = stake"
            " WHERE hand = ? AND spot = ? AND seat = ? AND voided_by IS NULL",
            (hand, spot, seat),
        )
        return row.fetchone() is not None

    def win(self, event: int, hand: int, meter: str, share: Fraction, least_cents: int = 0) -> tuple[int, int]:
        """Book that a hit of the round wins this share of the meter. Return the number of the lock (the record of the
        won share) and its whole cents.

        The lock has at least `least_cents`, because the table showed that much when the wagers were locked. The house
        adds what is missing.

        The round's first hit locks its share of the level. A meter that is won whole begins again. A later hit of the
        round that wins the same share gets the same lock, and the hits divide its cents. A later hit that wins another
        share locks that share of what the meter still holds. For example: on $1,000 a first hit wins a tenth and a
        second hit wins the whole. They lock $100 and $900.
        """
        row: tuple[int, int] | None = self._db.execute(
            "SELECT number, cents FROM lock WHERE hand = ? AND meter = ? AND share = ?", (hand, meter, str(share))
        ).fetchone()
        if row is not None:
            return row[0], row[1] + self.added_cents(row[0])
        level, reserve = self.funds([f"meter:{meter}", f"reserve:{meter}"]).values()
        won = floor(level.cents * share)
        (lock,) = self._db.execute(
            "INSERT INTO lock (event, hand, meter, share, generation, cents, from_reserve_cents, from_house_cents)"
            " SELECT ?, ?, name, ?, generation, ?, 0, 0 FROM meter WHERE name = ? RETURNING number",
            (event, hand, str(share), won, meter),
        ).fetchone()
        self.post("hit", {f"meter:{meter}": -won}, "awards", event)
        added = max(0, least_cents - won)
        self.add_shown(event, int(lock), added)
        if share == 1:
            self._begin_again(event, meter, int(lock), reserve.cents)
        self._db.execute("UPDATE meter SET generation = generation + 1 WHERE name = ?", (meter,))
        self._read_meters_anew()
        return int(lock), won + added

    def _begin_again(self, event: int, meter: str, lock: int, reserve_cents: int) -> None:
        """Begin the next level of a meter that was won whole, with money from its reserve and from the house. New terms
        that waited for this win come into force."""
        self.meter_terms.begin_waiting(meter, event, lock)
        self._read_meters_anew()
        again = reseed(self.terms()[meter], reserve_cents)
        begun = {f"reserve:{meter}": -again.from_reserve_cents, "house": -again.from_house_cents}
        self.post("reseed", begun, f"meter:{meter}", event)
        self._db.execute(
            "UPDATE lock SET from_reserve_cents = ?, from_house_cents = ? WHERE number = ?",
            (again.from_reserve_cents, again.from_house_cents, lock),
        )

    def owe(self, event: int, cents: int) -> None:
        """Book the hit of a fixed award: the house now owes `cents`."""
        self.post("fixed", {"house": -cents}, "awards", event)

    def pay(self, award: int, cents: int) -> None:
        """Book that `cents` were paid for the award with this number."""
        self.post("paid", {"awards": -cents}, "paid", award=award)

    def give_back(self, award: int, cents: int, meter: str | None) -> None:
        """Book that an award was rejected. Its amount goes back to its meter, or to the house if `meter` is None (a
        fixed award)."""
        self.post("rejected", {"awards": -cents}, "house" if meter is None else f"meter:{meter}", award=award)

    def added_cents(self, lock: int | None) -> int:
        """Return how many cents the house added to the won level `lock`, because the table had shown more than the
        meter held."""
        row = self._db.execute("SELECT cents FROM added WHERE lock = ?", (lock,)).fetchone()
        return 0 if row is None else int(row[0])

    def add_shown(self, event: int, lock: int, cents: int) -> None:
        """Book that the house adds `cents` to the won level `lock`. If `cents` is negative, the house takes it back."""
        if cents:
            self.post("shown", {"shown": -cents}, "awards", event)
            self._db.execute(
                "INSERT INTO added (lock, cents) VALUES (?, ?)"
                " ON CONFLICT (lock) DO UPDATE SET cents = added.cents + excluded.cents",
                (lock, cents),
            )

    def take_added(self, award: int, cents: int, meter: str, lock: int) -> None:
        """Book that the house takes back what it had added to the won level `lock`, but no more than the rejected
        award's `cents`."""
        if back := min(cents, self.added_cents(lock)):
            self.post("shown", {f"meter:{meter}": -back}, "shown", award=award)
            self._db.execute("UPDATE added SET cents = cents - ? WHERE lock = ?", (back, lock))

    def share(self, award: int, cents: int, meter: str) -> None:
        """Book that the money of a rejected award, which is on its meter again, goes to the other awards of the same
        level."""
        self.post("shared", {f"meter:{meter}": -cents}, "awards", award=award)

    def add(self, award: int, cents: int) -> None:
        """Book what the house adds to an award, because people took over another amount that the table had reported. If
        `cents` is below 0, the house keeps that money."""
        self.post("recalled", {"awards": cents}, "house", award=award)

    def last_lock(self, meter: str) -> int | None:
        """Return the number of the meter's last win that is not undone. Return None if the meter has no such win, or
        was closed after it."""
        row = self._db.execute(
            "SELECT number FROM lock JOIN meter ON name = meter"
            " WHERE name = ? AND lock.generation = meter.generation - 1 AND undone = 0",
            (meter,),
        ).fetchone()
        return None if row is None else int(row[0])

    def undo_lock(self, award: int, lock: int) -> None:
        """Undo a meter's last win, because all its awards are rejected. The meter goes on as if nobody had won.

        The money with which the meter began again goes back to its reserve and to the house. Voids of wagers from
        before the win can be corrected in full again. If a void was corrected after the win, the house had borne the
        share that was won. Now the meter bears that share.
        """
        meter, event, share, generation, from_reserve_cents, from_house_cents = self._db.execute(
            "SELECT meter, event, share, generation, from_reserve_cents, from_house_cents FROM lock WHERE number = ?",
            (lock,),
        ).fetchone()
        back = {f"reserve:{meter}": from_reserve_cents, "house": from_house_cents}
        self.post("unseed", back, f"meter:{meter}", award=award)
        borne = self._db.execute(
            "SELECT price_cents * count(*), generation, contribution, reserve FROM feeding"
            " JOIN stake ON stake.number = feeding.stake"
            " JOIN wager ON wager.stake = feeding.stake JOIN terms ON terms.number = feeding.terms"
            " WHERE feeding.meter = ? AND generation <= ? AND off_at > ?"
            " GROUP BY feeding.stake, price_cents, generation, contribution, reserve ORDER BY feeding.stake",
            (meter, generation, event),
        )
        for voided_cents, fed, *terms in borne.fetchall():
            of_meter, of_reserve = self._left(meter, fed, generation)
            contribution, kept_back = (voided_cents * Fraction(part) for part in terms)
            given = contribution * of_meter * Fraction(share)
            kept = kept_back * of_reserve if share == "1" else Fraction(0)
            amounts = {f"meter:{meter}": -given, f"reserve:{meter}": -kept, "house": given + kept}
            self.post("corrected", amounts, "wagers", award=award)
        self._db.execute(
            "UPDATE feeding SET generation = ? WHERE meter = ? AND generation = ?", (generation, meter, generation + 1)
        )
        self._db.execute("UPDATE meter SET generation = ? WHERE name = ?", (generation, meter))
        self._db.execute("UPDATE lock SET undone = 1 WHERE number = ?", (lock,))
        self.meter_terms.undo(meter, lock)
        self._read_meters_anew()
        self._stop_at_limit(f"meter:{meter}", None, award, None)  # by the terms that run again

    def post(
        self,
        why: str,
        amounts: Mapping[str, Fraction | int],
        against: str,
        event: int | None = None,
        award: int | None = None,
        adoption: int | None = None,
    ) -> None:
        """Write one posting with the reason `why`. Each account in `amounts` gains its exact amount. The account
        `against` loses the whole cents that these accounts gain together."""
        assert against not in amounts, "an account is not posted against itself"
        before = self.funds([*amounts, against])
        after = {account: before[account].plus(amount) for account, amount in amounts.items()}
        entries = {account: fund.cents - before[account].cents for account, fund in after.items()}
        entries[against] = -sum(entries.values())
        after[against] = before[against].plus(entries[against])
        if self._gathered is None:
            self._write(after)
        else:
            self._gathered.funds.update(after)
            self._gathered.changed.update(after)
        rows = [(account, cents) for account, cents in entries.items() if cents]
        if rows:
            (number,) = self._db.execute(
                "INSERT INTO posting (why, event, award, adoption) VALUES (?, ?, ?, ?) RETURNING number",
                (why, event, award, adoption),
            ).fetchone()
            self._gather("entry", [(number, *row) for row in rows])
        for account in (*amounts, against) if why != "overflow" else ():
            if account.startswith("meter:"):
                self._stop_at_limit(account, event, award, adoption)

    def _stop_at_limit(self, account: str, event: int | None, award: int | None, adoption: int | None) -> None:
        """Move cents between a meter and its overflow, so that the meter holds at most its limit and the overflow holds
        the rest."""
        name = account.removeprefix("meter:")
        overflow = f"overflow:{name}"
        meter, over = self.funds([account, overflow]).values()
        running = self._meters().get(name)  # None of a closed meter, which is at zero
        level = meter.cents if running is None else running.terms.level(meter.cents + over.cents)
        if level != meter.cents:
            self.post("overflow", {overflow: meter.cents - level}, account, event, award, adoption)

    def _part_given(self, stake: int) -> Fraction:
        """Return the part of a wager of this stake (one bet of one round) that goes to all meters and reserves
        together."""
        rows = self._db.execute(
            "SELECT contribution, reserve FROM feeding JOIN terms ON terms.number = feeding.terms WHERE stake = ?",
            (stake,),
        )
        return sum((Fraction(part) for row in rows.fetchall() for part in row), Fraction(0))

    def _shares(self, stake: int, wagered_cents: int) -> dict[str, Fraction]:
        """Return how many cents are still on each meter and in each reserve of the money that wagers of `wagered_cents`
        gave. The wagers are of one stake (one bet of one round)."""
        shares: dict[str, Fraction] = {}
        for meter, contribution, reserve, fed, now in self._db.execute(
            "SELECT feeding.meter, contribution, reserve, feeding.generation, meter.generation FROM feeding"
            " JOIN terms ON terms.number = feeding.terms JOIN meter ON name = feeding.meter"
            " WHERE stake = ? ORDER BY feeding.meter",
            (stake,),
        ).fetchall():
            of_meter, of_reserve = self._left(meter, fed, now)
            shares[f"meter:{meter}"] = wagered_cents * Fraction(contribution) * of_meter
            shares[f"reserve:{meter}"] = wagered_cents * Fraction(reserve) * of_reserve
        return shares

    def _left(self, meter: str, since: int, until: int) -> tuple[Fraction, Fraction]:
        """Return two fractions: how much of the money of generation `since` a meter and its reserve still hold in
        generation `until`. A generation counts how often the meter was won or closed. Each win takes its share of the
        meter. A win of the whole meter takes the reserve too, and so does a closing."""
        if since == until:
            return left_after(())
        locks = self._db.execute(
            "SELECT share FROM lock WHERE meter = ? AND generation >= ? AND generation < ? AND undone = 0"
            " UNION ALL SELECT '1' FROM closing WHERE meter = ? AND generation >= ? AND generation < ?",
            (meter, since, until, meter, since, until),
        )
        return left_after(Fraction(share) for (share,) in locks)

    def funds(self, accounts: Collection[str]) -> dict[str, Fund]:
        """Return what each of these accounts holds, in the order of `accounts`."""
        known = {} if self._gathered is None else self._gathered.funds
        if unread := [account for account in accounts if account not in known]:
            rows = self._db.execute(
                f"SELECT account, cents, remainder FROM fund WHERE account IN ({marks(unread)})", unread
            )
            kept = {account: Fund(cents, Fraction(remainder)) for account, cents, remainder in rows}
            known.update((account, kept.get(account, Fund())) for account in unread)
        return {account: known[account] for account in accounts}

    def _write(self, funds: Mapping[str, Fund]) -> None:
        self._insert(
            "fund",
            [(account, fund.cents, str(fund.remainder)) for account, fund in funds.items()],
            "ON CONFLICT (account) DO UPDATE SET cents = excluded.cents, remainder = excluded.remainder",
        )

    def _meters(self) -> dict[str, Running]:
        """Return the open meters by name, with the terms that are in force."""
        known = {} if self._gathered is None else self._gathered.meters
        if not known:
            known.update(self.meter_terms.running())
        return known

    def _read_meters_anew(self) -> None:
        """Empty the cache of meters, because the terms or the generation of a meter changed."""
        if self._gathered is not None:
            self._gathered.meters.clear()

    def _gather(self, into: str, rows: Sequence[Sequence[object]]) -> None:
        """Insert the rows into the database. While many events are booked together, keep the rows and insert them
        later."""
        if self._gathered is None:
            self._insert(into, rows)
            return
        gathered = self._gathered.rows.setdefault(into, [])
        gathered += rows
        if len(gathered) > _MOST_ROWS:
            self._put_rows()

    def _put_rows(self) -> None:
        """Insert the rows that were kept for later. Must be called before wagers are read from the database."""
        if self._gathered is not None:
            for into, rows in self._gathered.rows.items():
                self._insert(into, rows)
            self._gathered.rows.clear()

    def _insert(self, into: str, rows: Sequence[Sequence[object]], otherwise: str = "") -> None:
        """Insert all rows in one statement, because each statement to a database on another machine costs a round trip.
        `otherwise` is SQL text at the end of the statement."""
        if rows:
            values = ", ".join(f"({marks(row)})" for row in rows)
            self._db.execute(f"INSERT INTO {into} VALUES {values} {otherwise}", [each for row in rows for each in row])
