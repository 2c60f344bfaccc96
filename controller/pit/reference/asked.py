"""The requests that people can make at the pit's desk: each decision, who may take it, and whether it needs two people.

A request is one JSON object in a line, for example `{"do": "verify", "award": "royal9-01.1"}`. A new kind of decision
needs one type in this module, and its entry in `Asked`.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode, encode

from controller.basics.errors import TableError
from controller.basics.money import figures
from controller.pit.reference import people
from controller.pit.reference.award import Award
from controller.pit.reference.ledger import Ledger
from controller.pit.reference.meters import digest_of
from controller.pit.reference.roles import ROLES, Role
from controller.pit.reference.settings import load


class Decision(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do"):
    """A decision that a person asks for at the pit's desk."""

    may: ClassVar[tuple[Role, ...]]
    """The roles that may decide so, and confirm so."""

    @property
    def needs_two(self) -> bool:
        """Tell whether a second person has to confirm the decision."""
        return True

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        """Return the text that people read before they decide: what the decision would change in the ledger now. Raises
        TableError if there is nothing to decide."""
        raise NotImplementedError

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        """Carry out the decision in the name of the accounts `by` and `witness`. A decision that needs two people has
        both. Return the text that tells the person what was done. Raises TableError if the ledger refuses the decision.
        """
        raise NotImplementedError


class _OfAward(Decision, frozen=True, forbid_unknown_fields=True):
    award: str

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        return "\n".join(award_lines(ledger.award(self.award)))


class Verify(_OfAward, frozen=True, forbid_unknown_fields=True, tag="verify"):
    """The decision that an award's hit is genuine."""

    may = ("attendant", "supervisor")
    despite_doubts: bool = False
    without_waiting: bool = False
    """The award waits for tables, and two people say that it need not."""

    @property
    def needs_two(self) -> bool:
        return self.despite_doubts or self.without_waiting

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        return award_line(ledger.take_step(self.award, "verified", by, witness, self.without_waiting))


class Pay(_OfAward, frozen=True, forbid_unknown_fields=True, tag="pay"):
    """The decision to pay a verified award. Whoever verified the award may not pay it."""

    may = ("accounting", "supervisor")
    despite_doubts: bool = False

    @property
    def needs_two(self) -> bool:
        return self.despite_doubts

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        return award_line(ledger.take_step(self.award, "paid", by, witness))


class Reject(_OfAward, frozen=True, forbid_unknown_fields=True, tag="reject"):
    """The decision that an award's hit is not genuine, so that nobody is paid."""

    may = ("attendant", "supervisor", "accounting")

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        return award_line(ledger.take_step(self.award, "rejected", by, witness))


class PrintSlip(_OfAward, frozen=True, forbid_unknown_fields=True, tag="slip"):
    """The request to print the slip by which an award is paid. The answer is the slip's data; the program that asked
    makes the page from it."""

    may = ("attendant", "supervisor", "accounting")

    @property
    def needs_two(self) -> bool:
        return False

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        return encode(ledger.print_slip(self.award, by)).decode()


class Recall(_OfAward, frozen=True, forbid_unknown_fields=True, tag="recall"):
    """The decision to believe a table that reports a step of an award (for example "paid") which this ledger does not
    have."""

    may = ("supervisor", "accounting")

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        return award_line(ledger.recall(self.award, by, witness))


class Dismiss(_OfAward, frozen=True, forbid_unknown_fields=True, tag="dismiss"):
    """The decision not to believe a table that reports a step of an award (for example "paid"), because nobody took
    that step."""

    may = ("supervisor", "accounting")

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        return award_line(ledger.dismiss(self.award, by, witness or ""))


class Adopt(Decision, frozen=True, forbid_unknown_fields=True, tag="adopt"):
    """The decision that the pit listens to a table from now on, in this epoch (the name of the table's journal) and
    under this public key."""

    may = ("engineer", "supervisor")
    table: str
    epoch: str
    key: str

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        offered, heard = ledger.offered(self.table, self.epoch, self.key), ledger.adoption(self.table)
        now = "is not heard" if heard is None else f"is heard in the epoch {heard.epoch}, key {heard.fingerprint}"
        return f"adopt table {self.table}\nepoch {offered.epoch}\nkey   {offered.fingerprint}\nnow   the table {now}"

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        adopted = ledger.adopt(self.table, self.epoch, self.key, by, witness)
        return f"table {self.table} is now heard in the epoch {self.epoch}, under the key {adopted.fingerprint}"


class Unadopt(Decision, frozen=True, forbid_unknown_fields=True, tag="unadopt"):
    """The decision that it was wrong to listen to a table under the key of this epoch (the name of the table's
    journal). The events that came under that key no longer count."""

    may = ("engineer", "supervisor")
    table: str
    epoch: str
    reason: str

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        of_stream = [award for award in ledger.awards() if award.hit.startswith(f"{self.table}/{self.epoch}/")]
        lines = [
            f"take back the adoption of table {self.table} in the epoch {self.epoch}: {people.reason(self.reason)}"
        ]
        return "\n".join([*lines, *(f"rejects {award_line(award)}" for award in of_stream if award.step != "rejected")])

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        set_aside_as = ledger.unadopt(self.table, self.epoch, by, self.reason, witness)
        return (
            f"table {self.table} is not heard in the epoch {self.epoch} any more; its events there count no more\n"
            f"those events are kept for the audit: events --epoch {set_aside_as}"
        )


class Retire(Decision, frozen=True, forbid_unknown_fields=True, tag="retire"):
    """The decision that the pit stops listening to a table, because the table is gone for good."""

    may = ("engineer", "supervisor")
    table: str
    reason: str

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        waiting = [
            each for each in ledger.awards() if each.table == self.table and each.step in ("pending", "verified")
        ]
        lines = [f"retire table {self.table}: {people.reason(self.reason)}"]
        return "\n".join([*lines, *(f"waits {award_line(award)}" for award in waiting)])

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        ledger.retire(self.table, by, witness or "", self.reason)
        return (
            f"table {self.table} is not heard any more, until somebody adopts it again\n"
            "people can decide on its awards without what the table knows: see that none of these awards was paid"
        )


class ProposeTerms(Decision, frozen=True, forbid_unknown_fields=True, tag="terms"):
    """The decision of two people to approve the meters' terms (seed, prices, shares) that the pit's settings file has
    now. `open_again` names closed meters that are to be opened again."""

    may = ("supervisor", "accounting")
    reason: str
    open_again: tuple[str, ...] = ()

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        why = people.reason(self.reason)
        with ledger.meter_terms() as terms:
            changes = terms.changes(load(_named(settings)).meters, self.open_again)
        if not changes:
            what = f"The terms of {settings} run already, or wait."
            raise TableError("terms_unchanged", what, "Write the new terms into that file first.")
        lines = [f"{change}\n    digest {digest_of({change.meter: change.terms})}" for change in changes]
        return "\n".join([*lines, f"why: {why}"])

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        meters, why = load(_named(settings)).meters, people.reason(self.reason)
        return "\n".join(ledger.set_terms(meters, by, witness, why, self.open_again))


class WithdrawTerms(Decision, frozen=True, forbid_unknown_fields=True, tag="withdraw_terms"):
    """The decision of two people to take back a meter's new terms, which were approved but come into force only when
    the meter is won."""

    may = ("supervisor", "accounting")
    meter: str
    reason: str

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        why = people.reason(self.reason)
        with ledger.meter_terms() as every:
            _, terms = every.refuse_unwithdrawable(self.meter)
        return f"take back the terms of the meter {self.meter} that wait: {terms}\nwhy: {why}"

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        terms = ledger.withdraw_terms(self.meter, by, witness or "", self.reason)
        return f"meter {self.meter}: these terms wait no more: {terms}"


class CloseMeter(Decision, frozen=True, forbid_unknown_fields=True, tag="close_meter"):
    """The decision of two people to close a meter and to move its money to the meter `into`, or to the house's reserve
    if `into` is None."""

    may = ("supervisor", "accounting")
    meter: str
    document: str
    reason: str
    into: str | None = None

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        with ledger.closing_meters() as closings:
            return closings.shown(self.meter, self.into, self.document, self.reason)

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        with ledger.closing_meters() as closings:
            cents = closings.close(self.meter, self.into, by, witness or "", self.document, self.reason)
        return f"meter {self.meter} is closed, and {figures(cents)} moved; take its name out of the settings"


class MoveReserve(Decision, frozen=True, forbid_unknown_fields=True, tag="move_reserve"):
    """The decision of two people to move the house's reserve (the money that closed meters left) to the meter
    `into`."""

    may = ("supervisor", "accounting")
    into: str
    document: str
    reason: str

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        with ledger.closing_meters() as closings:
            return closings.shown_of_reserve(self.into, self.document, self.reason)

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        with ledger.closing_meters() as closings:
            cents = closings.move_reserve(self.into, by, witness or "", self.document, self.reason)
        return f"{figures(cents)} moved from the house's reserve to the meter {self.into}"


class CorrectVoid(Decision, frozen=True, forbid_unknown_fields=True, tag="correct_void"):
    """The decision of two people to remove from the meters the money that voided wagers had given. `void` is the id of
    the void event."""

    may = ("supervisor", "accounting")
    void: str
    document: str
    reason: str

    def shown(self, ledger: Ledger, settings: Path | None) -> str:
        with ledger.closing_meters() as closings:
            return closings.corrections.shown(self.void, self.document, self.reason)

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        with ledger.closing_meters() as closings:
            off = closings.corrections.correct(self.void, by, witness or "", self.document, self.reason)
        return "\n".join(f"meter {meter} shows {figures(cents)} less" for meter, cents in off.items()) or "corrected"


class Measure(Decision, frozen=True, forbid_unknown_fields=True, tag="measure"):
    """The request that a table reads its program's files now and reports their digests. The answer is a nonce, by which
    the table's report is found later."""

    may = ROLES
    table: str

    @property
    def needs_two(self) -> bool:
        return False

    def done(self, ledger: Ledger, settings: Path | None, by: str, witness: str | None) -> str:
        return ledger.ask_measure(self.table, by)


class Measured(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="measured"):
    """The request to see the digests that a table reported of its program's files. `nonce` is the answer to the earlier
    request that made the table read these files."""

    nonce: str


class Confirm(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="confirm"):
    """The confirmation of a proposal by a second person. `proposal` is the proposal's number, and `digest` is the
    digest of the text that the second person was shown."""

    proposal: int
    digest: str


class Look(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag="look"):
    """The request to see which decisions are open, and which roles the asking account has at the pit."""


Asked = (
    Verify | Pay | Reject | PrintSlip | Recall | Dismiss | Adopt | Unadopt | Retire | ProposeTerms | WithdrawTerms
    | CloseMeter | MoveReserve | CorrectVoid | Measure
    | Confirm | Look | Measured
)  # fmt: skip


def parse(line: bytes | str) -> Asked:
    """Parse one line from the pit's control socket into a request. Raises TableError `bad_request`."""
    try:
        asked: Asked = decode(line, type=Asked)
    except (DecodeError, ValidationError, RecursionError, UnicodeError) as error:
        raise TableError(
            "bad_request", f"The pit does not know this request: {error}.", "Let `pitctl` make the request."
        ) from error
    return asked


def written(decision: Decision) -> str:
    """Return the decision as JSON text, in the form in which a proposal stores the request."""
    return encode(decision).decode()


def may_look(roles: tuple[Role, ...]) -> bool:
    """Tell whether a person with these roles may see which decisions are open."""
    return bool({*roles} & {*ROLES})


def award_line(award: Award) -> str:
    """Describe the award to people in one line."""
    won = award.meter or "fixed"
    where = f"shoe {award.shoe} round {award.round} seat {award.seat}"
    return f"{award.id}  {award.step:<8}  {figures(award.cents):>14}  {where}  {award.spot} {award.tier} ({won})"


def award_lines(award: Award) -> list[str]:
    """Describe the award to people in several lines, with all that they should know before they decide on it."""
    lines = [award_line(award)]
    if award.house_cents:
        lines.append(
            f"    the house added {figures(award.house_cents)}: the table told another amount than this ledger had"
        )
    if award.shown_cents:
        lines.append(f"    the house added {figures(award.shown_cents)} to the level: the table had shown so much more")
    lines += [f"    waits for table {table}: {why}" for table, why in award.waits]
    lines += [f"    told by the table: {telling}, {telling.became}" for telling in award.tellings]
    lines += [f"    ? {doubt}" for doubt in award.doubts]
    if award.more:
        lines.append(f"    the table has yet to tell of {award.more} more winning wagers of this round")
    return lines + [f"    ! {alarm}" for alarm in award.alarms]


def _named(settings: Path | None) -> Path:
    if settings is None:
        what = "This pit was started without --settings, so there is no file with new terms."
        raise TableError("settings_unnamed", what, "Start the pit with --settings FILE.")
    return settings
