"""The rules ("mends") of the table and the pit that keep cheats from a gain. For each rule there is a function that
switches it off, and a note of which people can gain when it is off.

A rule is switched off in memory, at the one place in the program that implements it. The simulated cheats must then
find the gain again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from controller.daemon.second_person import SecondPerson
from controller.pit.reference import awards
from tests.collusion.evening import Gain, Kind, Right


@dataclass(frozen=True, slots=True)
class Mend:
    """A rule of the table or the pit that keeps cheats from a gain. `rights` are the rights of the cheats who would
    gain without the rule, and `kinds` the kinds of their gain. `paid` is True if the gain is cash, and not only a false
    hit."""

    says: str
    rights: frozenset[Right]
    kinds: tuple[Kind, ...]
    take_out: Callable[[pytest.MonkeyPatch], None]
    paid: bool = False

    def is_missing(self, gain: Gain) -> bool:
        """Tell whether this gain is one that the rule would have prevented."""
        return gain.kind in self.kinds and (gain.cents > 0 or not self.paid)


def _instead(where: str, what: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(where, what)


def _returns(where: str, value: object) -> Callable[[pytest.MonkeyPatch], None]:
    return _instead(where, lambda *_, **__: value)


def _chips_count_late(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("controller.table.requests.chips_to_note", lambda *_: None)
    patch.setattr("controller.table.step.with_chips_noted", lambda table: table)


def _one_account_is_two_people(patch: pytest.MonkeyPatch) -> None:
    propose: Any = SecondPerson.propose
    patch.setattr(
        SecondPerson, "propose", lambda self, request, via, *rest: propose(self, request, f"{via} too", *rest)
    )


def _anything_that_waits_is_confirmed(patch: pytest.MonkeyPatch) -> None:
    confirm: Any = SecondPerson.confirm

    def confirm_whatever_waits(self: SecondPerson, id_: int, by: str, via: str, moment: Any, now_s: float) -> Any:
        waiting = self.waiting(moment, now_s)
        return confirm(self, waiting.id if waiting else id_, by, via, moment, now_s)

    patch.setattr(SecondPerson, "confirm", confirm_whatever_waits)


def _paid_is_paid_again(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(awards._AFTER, "paid", ("verified", "paid"))


def _rights(*rights: Right) -> frozenset[Right]:
    return frozenset(rights)


_LATE_CHIP: tuple[Kind, ...] = ("a chip put down after a card was out",)
_VOIDED: tuple[Kind, ...] = ("a won award voided",)
_FALSE_CARDS: tuple[Kind, ...] = ("cards that never lay",)
_TWICE: tuple[Kind, ...] = ("an award paid twice",)
_BY_TWO = (*_VOIDED, *_FALSE_CARDS)

MENDS: tuple[Mend, ...] = (
    Mend(
        "a chip plays that lay before a card was out",
        _rights("dealer"),
        _LATE_CHIP,
        _chips_count_late,
        paid=True,
    ),
    Mend(
        "two people type a card",
        _rights("supervisor"),
        _FALSE_CARDS,
        _returns("controller.table.acts.stopped.plays_for_awards", False),
    ),
    Mend(
        "a typed card puts the award in doubt",
        _rights("supervisor", "second supervisor"),
        _FALSE_CARDS,
        _returns("controller.table.dealing._not_read", ()),
        paid=True,
    ),
    Mend(
        "two people void a won round",
        _rights("supervisor"),
        _VOIDED,
        _returns("controller.table.acts.rounds.needs_two", False),
    ),
    Mend(
        "a key that was turned before confirms nothing",
        _rights("supervisor"),
        _BY_TWO,
        _instead("controller.daemon.second_person.SEEN_AFTER_S", -1e6),
    ),
    Mend(
        "what a button asks for waits for nobody",
        _rights("supervisor"),
        _BY_TWO,
        _instead("controller.daemon.second_person.BUTTON", "no button"),
    ),
    Mend("two names at one account are one person", _rights("supervisor"), _BY_TWO, _one_account_is_two_people),
    Mend(
        "the second person confirms what was looked at",
        _rights("dealer", "supervisor"),
        _FALSE_CARDS,
        _anything_that_waits_is_confirmed,
    ),
    Mend("an award is paid once", _rights("cashier"), _TWICE, _paid_is_paid_again, paid=True),
    Mend(
        "what the table told holds an award",
        _rights("cashier"),
        _TWICE,
        _returns("controller.pit.reference.awards.Awards._first_to_recall", None),
        paid=True,
    ),
    Mend(
        "nobody decides before each table was heard",
        _rights("cashier"),
        _TWICE,
        _returns("controller.pit.reference.session.Session.refuse_decisions", None),
        paid=True,
    ),
)
