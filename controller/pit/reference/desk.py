"""The pit's desk, which takes requests for decisions. Each person decides from their own account of the operating
system; a typed name counts for nothing.

The kernel names the account of the process that asks, and the account's groups give its roles. Verifying and paying an
award need two different people. Most other decisions are proposed by one person and confirmed by another. Refused
requests are recorded too.

A person who becomes another account, by `su` or `sudo`, cannot decide anything, because the kernel remembers the
account with which that person logged in. Nothing can distinguish one person with two logins from two people, and root
can make the kernel name any account.

At a pit that was started with --practice a request names who asks: `"as": "Lee"`. The record of such a pit says so.

Each request opens the ledger for itself, as a separate command would. So a request that fails holds up neither the
tables nor the next request.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode

from controller.basics.errors import TableError
from controller.contract.signing import Signer
from controller.contract.wire.callers import Peer
from controller.pit.reference import proposals
from controller.pit.reference.asked import (
    Asked,
    Confirm,
    Decision,
    Look,
    Measured,
    award_lines,
    may_look,
    parse,
    written,
)
from controller.pit.reference.clock import now_ms
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.opening import Place
from controller.pit.reference.people import account_of
from controller.pit.reference.roles import ROLES, Groups, Role, roles_of

_LONGEST_TOLD = 200
_COUNTED_EVERY_S = 60.0


_SOMEBODY = "a second person"
_LONGEST_NAME = 40

PRACTICE = "practice:"
"""How the account of a decision begins that was taken at a pit for practice."""


class _TriedError(Exception):
    """Raised after a decision was carried out only on trial and succeeded. The error makes the ledger's transaction
    undo the changes."""


class Waits(Struct, frozen=True):
    """A proposed decision that a second person must still confirm, in the form in which people see it."""

    number: int
    digest: str
    """Of what is proposed: a confirmation names it, so that nobody confirms something else."""

    account: str
    """Who proposed it, and in `name` that person's name."""

    name: str
    shown: str
    """What would be done, in words."""

    left_s: int
    """For how many seconds it still waits."""


class Answer(Struct, frozen=True, omit_defaults=True):
    """The desk's answer to a request: what was done, which proposals wait for a second person, or why nothing was
    done."""

    ok: bool
    told: str = ""
    """What was done, or what can be decided on, in words."""

    waits: tuple[Waits, ...] = ()
    account: str = ""
    """Who asks, as the kernel names the account, and in `roles` what that account may decide."""

    roles: tuple[str, ...] = ()
    code: str = ""
    """Where nothing was done: the refusal's code, and in `what` and `do` its sentences."""

    what: str = ""
    do: str = ""


class Desk:
    """The desk of one running pit, which takes requests for decisions. `session` is the token that names this run of
    the pit. `key` signs the decisions."""

    def __init__(
        self,
        at: Place,
        session: str,
        key: Signer,
        groups: Groups,
        settings: Path | None = None,
        practice: bool = False,
        clock_ms: Callable[[], int] = now_ms,
    ) -> None:
        self._at = at
        self._session = session
        self._key = key
        self._groups = groups
        self._settings = settings
        self._practice = practice
        self._clock_ms = clock_ms
        self._uncounted: Counter[str] = Counter()
        self._counted_s: dict[str, float] = {}  # by account: when its refusals last went to the disk

    def answer(self, peer: Peer, line: bytes) -> Answer:
        """Carry out one request, and return the answer. `line` is the request as JSON, and `peer` is the process that
        asks. If the request is refused, the answer says why."""
        who, asked = account_of(peer.uid), line.decode("utf-8", "replace").strip()
        try:
            if self._practice:
                who, line = _named_in(line, who)
                return self._decide(who, ROLES, parse(line))
            who = _own_account(peer)
            return self._decide(who, roles_of(peer.groups, self._groups), parse(line))
        except TableError as refusal:
            self._keep_refused(who, asked, refusal)
            return Answer(ok=False, account=who, code=refusal.code, what=refusal.what, do=refusal.do)

    def _decide(self, who: str, roles: tuple[Role, ...], asked: Asked) -> Answer:
        with closing(Ledger(self._at, begin=False)) as ledger:
            ledger.sign_by(self._key)
            ledger.decide_for(self._session)
            match asked:
                case Look():
                    return self._look(ledger, who, roles)
                case Measured(nonce):
                    return _measured(ledger, roles, nonce)
                case Confirm(number, digest):
                    return self._confirm(ledger, who, roles, number, digest)
                case decision:
                    _refuse_without(roles, decision)
                    if decision.needs_two:
                        return self._propose(ledger, who, decision)
                    return Answer(ok=True, told=decision.done(ledger, self._settings, who, None))

    def _look(self, ledger: Ledger, who: str, roles: tuple[Role, ...]) -> Answer:
        if not may_look(roles):
            raise _not_allowed(roles, "see what waits at the pit", ())
        lines = [line for award in ledger.awards() if award.open for line in award_lines(award)]
        at_ms = self._clock_ms()
        waits = tuple(_waits(each, at_ms) for each in ledger.waiting(at_ms))
        return Answer(ok=True, told="\n".join(lines), waits=waits, account=who, roles=roles)

    def _propose(self, ledger: Ledger, who: str, decision: Decision) -> Answer:
        at_ms = self._clock_ms()
        with suppress(_TriedError), ledger.at_once():  # what would be refused then is told now
            decision.done(ledger, self._settings, who, _SOMEBODY)
            raise _TriedError
        with ledger.at_once():
            proposal = ledger.propose(who, written(decision), decision.shown(ledger, self._settings), at_ms)
        return Answer(ok=True, waits=(_waits(proposal, at_ms),))

    def _confirm(self, ledger: Ledger, who: str, roles: tuple[Role, ...], number: int, digest: str) -> Answer:
        with ledger.at_once():
            proposal = ledger.proposal(number, digest, self._clock_ms())
            decision = parse(proposal.request)
            assert isinstance(decision, Decision), "nothing else is proposed"
            _refuse_without(roles, decision)
            if proposal.account == who:
                raise TableError(
                    "not_two_people",
                    f"The account {who} proposed this, and cannot confirm it.",
                    "Let another person confirm it, from that person's own account.",
                )
            if decision.shown(ledger, self._settings) != proposal.shown:
                raise proposals.changed(number)
            told = decision.done(ledger, self._settings, proposal.account, who)
            ledger.proposal_over(number)
        return Answer(ok=True, told=told)

    def _keep_refused(self, who: str, asked: str, refusal: TableError) -> None:
        """Record in the ledger that a request of the account `who` was refused. If the ledger has no more room for this
        account's refusals, record only their number, once a minute."""
        request = "".join(each if each.isprintable() else "?" for each in asked[:_LONGEST_TOLD])
        self._uncounted[who] += 1
        now_s = time.monotonic()
        if now_s - self._counted_s.get(who, -_COUNTED_EVERY_S) < _COUNTED_EVERY_S:
            return
        count = self._uncounted.pop(who)
        with suppress(TableError), closing(Ledger(self._at, begin=False)) as ledger:
            if not ledger.keep_refused(who, request, refusal.code, refusal.what, count):
                self._counted_s[who] = now_s


def _measured(ledger: Ledger, roles: tuple[Role, ...], nonce: str) -> Answer:
    """Return what a table reported about its program's files, compared with the pit's own program. `nonce` names the
    question to the table. The answer's text is empty until the table has reported."""
    if not may_look(roles):
        raise _not_allowed(roles, "see what a table answered", ())
    question, answer = ledger.measures.answer(nonce)
    if answer is None:
        return Answer(ok=True)
    if (amiss := question.amiss(answer)) is not None:
        return Answer(ok=False, code=amiss.code, what=amiss.what, do=amiss.do)
    lines = (
        f"table {question.table} has just read its files: they are this pit's own program",
        f"version        {answer.get('version')}",
        f"program        {answer.get('now')}",
        f"configuration  {answer.get('configuration')}",
        f"nonce          {nonce}",
        f"proof          {answer.get('proof')}",
    )
    return Answer(ok=True, told="\n".join(lines))


def _named_in(line: bytes, otherwise: str) -> tuple[str, bytes]:
    """Return the account that a request at a practice pit names in its field `as` (or `otherwise`), and the request
    without that field."""
    with suppress(DecodeError, UnicodeError):
        request = decode(line)
        if isinstance(request, dict) and isinstance(said := request.pop("as", otherwise), str):
            return f"{PRACTICE}{said[:_LONGEST_NAME]}", encode(request)
    return f"{PRACTICE}{otherwise}", line


def _own_account(peer: Peer) -> str:
    """Return the account of the process that asks. The person must have logged in by this account, unless the kernel
    knows no login of the process. Raises TableError `login_unknown` or `not_own_account`."""
    account = account_of(peer.uid)
    try:
        login = peer.login()
    except ProcessLookupError:
        raise TableError(
            "login_unknown",
            f"The pit cannot see by which account the person logged in whose process asks as {account}.",
            "Let the process wait for the answer. The pit's service must see other processes: ProtectProc=default.",
        ) from None
    if login not in (None, peer.uid):
        raise TableError(
            "not_own_account",
            f"Somebody who logged in as {account_of(login)} asks as {account}.",
            "Decide from your own account: without sudo, and without su.",
        )
    return account


def _refuse_without(roles: tuple[Role, ...], decision: Decision) -> None:
    if not {*roles} & {*decision.may}:
        raise _not_allowed(roles, f"decide so ({type(decision).__name__.lower()})", decision.may)


def _not_allowed(roles: tuple[Role, ...], what: str, may: tuple[Role, ...]) -> TableError:
    has = f"the roles {', '.join(roles)}" if roles else "no role at the pit"
    need = f" This is for {' or '.join(may)}." if may else ""
    do = "Let an account that may do so ask. Root puts an account into a role's group ([roles] of the pit's settings)."
    return TableError("not_allowed", f"This account has {has}, and may not {what}.{need}", do)


def _waits(proposal: proposals.Proposal, at_ms: int) -> Waits:
    left_s = (proposal.until_ms - at_ms) // 1000
    return Waits(proposal.number, proposal.digest, proposal.account, proposal.name, proposal.shown, left_s)
