"""What an act would do, as a person reads it before a yes. `controller/table/foreseen.py` makes it of the event that
the act would make."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.contract.events import AwardWon, ProgressiveSeats, SeatCents, SettlementShown
from controller.contract.face.table import PublicHand


class Worth(msgspec.Struct, frozen=True):
    """What an award of a progressive bet is worth: cents, or a share of a meter."""

    cents: int | None
    meter: str | None
    share: str


class WouldCorrect(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="correction"):
    """A correction of a finished round."""

    shoe: int
    round: int
    hands_before: tuple[PublicHand, ...]
    """The hands as they were told."""

    hands: tuple[PublicHand, ...]
    by_the_rules: bool
    """Whether the rules deal the new hands so."""

    worth: dict[str, dict[str, Worth]]
    """By progressive bet and award."""

    outcome: str | None = None
    awards: tuple[AwardWon, ...] = ()
    awards_before: tuple[AwardWon, ...] = ()
    settlement: SettlementShown | None = None
    settlement_before: SettlementShown | None = None


class WouldVoid(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="void"):
    """The end of a round without a result."""

    shoe: int
    round: int
    progressive: tuple[ProgressiveSeats, ...]
    awards: tuple[AwardWon, ...]
    """What would have been won whatever cards came."""

    settlement: SettlementShown | None = None


class WouldClose(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="shoe_closed"):
    """The end of a shoe."""

    shoe: int
    rounds: int
    cards_left: int
    commission_owed: tuple[SeatCents, ...]


Would = WouldCorrect | WouldVoid | WouldClose


def would(answer: dict[str, Any]) -> Would | None:
    """What `Answer.would` says; None for an act that shows nothing. Raises ValueError for an answer of another
    version."""
    return msgspec.convert(answer, Would) if answer else None
