"""Every kind of fault (a condition that stops the table): its code, its details, and the acts by which people may end
it.

A fault stays until a supervisor ends it by a journalled act. No report, no restart and no passing of time ends a fault.
The help, the screen and the documents are made from the table `FAULTS`, and their sentences come from
`controller/words`.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from controller.table.facts import (
    CabinetOpened,
    CommitFailed,
    JournalAltered,
    JournalGone,
    OutboxFull,
    OwnFact,
    ReplayDiffered,
    ShoeFact,
    StepFailed,
)


class Exit(Enum):
    """The acts by which a supervisor may end a fault."""

    CLEAR = "clear"  # the table and the journal agree: go on
    CARD = "card"  # this is the card that the shoe could not read, or that was missed
    VOID = "void"  # the round is over, wagers go back, and the cards that the fault holds are dead
    NEW_SHOE = "new_shoe"  # this shoe ends here
    COUNT = "count"  # so many cards are left in the shoe


class Clearing(Enum):
    """What happens to the report that raised a fault when a supervisor clears the fault with the act `clear`."""

    PLAY = "play"  # the report counts as the shoe sent it
    PLAY_AS_OURS = "play_as_ours"  # the card goes where our rules put it, not where the shoe did
    BURN = "burn"  # the card is burned
    BURN_IN_ERROR = "burn_in_error"  # the card was drawn in error, whatever the house's rule, and is burned
    HIT = "hit"  # the seat that had to choose took a hit, and this is its card
    DROP = "drop"  # the report changes nothing


class FaultKind(Struct, frozen=True):
    """One kind of fault, which is an entry of the table `FAULTS`.

    If `fact` is set, facts of that class always raise this fault, and nothing else does. The fact's fields, in their
    order, are then the fault's details, and fields that are None are left out. If `fact` is not set, the fault is
    raised by a cell of the table of legality (`legality.py`), or by a check in the code.
    """

    exits: tuple[Exit, ...]
    clearing: Clearing = Clearing.DROP
    card_ends_it: bool = False  # the card's name is enough; otherwise a `clear` must follow
    new_shoe_takes_held: bool = False  # the held card becomes the new shoe's first card
    two_people: bool = False  # `clear` needs a witness too
    details: tuple[str, ...] = ()  # what the fault tells beside its code, by name
    fact: type[OwnFact] | None = None
    of_the_controller: bool = False  # about the controller and no shoe: a new shoe takes the fact over


_CLEAR, _CARD, _VOID, _NEW_SHOE, _COUNT = Exit.CLEAR, Exit.CARD, Exit.VOID, Exit.NEW_SHOE, Exit.COUNT

FAULTS: dict[str, FaultKind] = {
    # The shoe's life
    "card_without_shoe": FaultKind((_NEW_SHOE, _CLEAR), new_shoe_takes_held=True, details=("shoe_mode",)),
    "card_after_shoe": FaultKind((_NEW_SHOE, _CLEAR), new_shoe_takes_held=True, details=("shoe_mode",)),
    "first_card_in_shoe": FaultKind(
        (_NEW_SHOE, _CLEAR, _VOID), Clearing.PLAY_AS_OURS, new_shoe_takes_held=True, details=("shoe_says", "rules_say")
    ),
    "burn_short": FaultKind((_CLEAR, _NEW_SHOE), Clearing.PLAY_AS_OURS, details=("shoe_says", "rules_say")),
    "burn_long": FaultKind((_CLEAR, _VOID, _NEW_SHOE), Clearing.BURN, details=("shoe_says", "rules_say")),
    "burn_count_differs": FaultKind((_CLEAR, _NEW_SHOE), details=("shoe_says", "first_card_is_worth")),
    "cut_card_in_burn": FaultKind((_CLEAR, _NEW_SHOE)),
    "second_cut_card": FaultKind((_CLEAR, _VOID, _NEW_SHOE)),
    "shoe_exhausted": FaultKind((_CLEAR,)),
    "commission_owed": FaultKind((_NEW_SHOE, _CLEAR), new_shoe_takes_held=True, details=("seats", "owed_cents")),
    # Cards
    "unreadable_card": FaultKind(
        (_CARD, _CLEAR, _VOID, _NEW_SHOE), Clearing.BURN, card_ends_it=True, details=("where",)
    ),
    "impossible_card": FaultKind((_CARD, _VOID, _NEW_SHOE), card_ends_it=True, details=("where", "card")),
    "card_not_due": FaultKind((_CLEAR, _NEW_SHOE), Clearing.BURN_IN_ERROR, details=("shoe_mode",)),
    "card_outside_game": FaultKind((_CARD, _VOID, _NEW_SHOE), card_ends_it=True, details=("shoe_mode",)),
    # Choices and wagers
    "choice_due": FaultKind((_CLEAR, _VOID), Clearing.HIT, details=("seat",)),
    "wagers_differ": FaultKind((_CLEAR, _NEW_SHOE), details=("spot", "seats")),
    # Two referees
    "target_differs": FaultKind((_CLEAR, _VOID, _NEW_SHOE), Clearing.PLAY_AS_OURS, details=("shoe_says", "rules_say")),
    "result_differs": FaultKind((_CLEAR, _VOID, _NEW_SHOE), details=("shoe_says", "rules_say")),
    "force_quit": FaultKind((_VOID, _CLEAR)),
    # The shoe as a machine
    "shoe_error": FaultKind((_CLEAR, _VOID, _NEW_SHOE), details=("error",)),
    "reports_missed": FaultKind((_CARD, _CLEAR, _VOID, _NEW_SHOE), Clearing.PLAY),
    "shoe_restarted": FaultKind((_COUNT, _CARD, _VOID, _NEW_SHOE), details=("cards_left", "last_round", "last_result")),
    "shoe_unplugged": FaultKind((_CARD, _CLEAR, _VOID, _NEW_SHOE)),
    "shoe_unheard": FaultKind(
        (_COUNT, _CARD, _VOID, _NEW_SHOE),
        details=("unheard_s", "last_heard_at", "cards_left", "last_round", "last_result"),
    ),
    "round_too_fast": FaultKind(
        (_COUNT, _VOID, _NEW_SHOE), details=("cards", "round_ms", "cards_left", "last_round", "last_result")
    ),
    # The controller itself
    "journal_behind_pit": FaultKind((_CLEAR,), two_people=True, details=("acked_seq", "head_seq", "chain", "acked_at")),
    "journal_failed": FaultKind(
        (_CLEAR, _VOID, _NEW_SHOE), details=("error",), fact=CommitFailed, of_the_controller=True
    ),
    "journal_gone": FaultKind(
        (_CLEAR, _VOID, _NEW_SHOE), details=("file", "found", "kept_as"), fact=JournalGone, of_the_controller=True
    ),
    "journal_altered": FaultKind(
        (_CLEAR, _VOID, _NEW_SHOE), details=("event",), fact=JournalAltered, of_the_controller=True
    ),
    "cabinet_opened": FaultKind((_CLEAR, _VOID, _NEW_SHOE), fact=CabinetOpened, of_the_controller=True),
    "outbox_full": FaultKind((_CLEAR,), details=("waiting", "most"), fact=OutboxFull),
    "replay_differs": FaultKind(
        (_CLEAR, _VOID, _NEW_SHOE), details=("journal_row",), fact=ReplayDiffered, of_the_controller=True
    ),
    "internal": FaultKind(
        (_CARD, _CLEAR, _VOID, _NEW_SHOE), details=("error",), fact=StepFailed, of_the_controller=True
    ),
}


_BY_FACT: dict[type[ShoeFact | OwnFact], str] = {
    kind.fact: code for code, kind in FAULTS.items() if kind.fact is not None
}


def raised_by(fact: ShoeFact | OwnFact) -> tuple[str, dict[str, str | int]] | None:
    """Return the code and the details of the fault that facts of this kind always raise. Return None if this kind of
    fact does not always raise a fault."""
    if (code := _BY_FACT.get(type(fact))) is None:
        return None
    values = (getattr(fact, name) for name in type(fact).__match_args__)
    told = zip(FAULTS[code].details, values, strict=False)
    return code, {name: value for name, value in told if value is not None}


EXITS_BY_PROCEDURE_2: dict[str, tuple[Exit, ...]] = {"shoe_restarted": (_CARD, _CLEAR, _VOID, _NEW_SHOE)}
"""The exits that were different in commit 0f50807, for a shoe opened by that version (`TableRules.procedure`)."""

COUNTED = ("shoe_unheard", "shoe_restarted", "round_too_fast")
"""The faults after which a person counts the cards that are left."""


ALARMS: dict[str, tuple[str, ...]] = {
    "cut_card_misplaced": ("cards_left", "cut_card_from_end"),
    "chips_moved": ("spot", "added", "taken"),
    "lock_lay_long": ("lay_s", "cards_left"),
    "count_differs": ("cards_left", "counted"),
    "impossible_card": ("where", "card"),
    "publish_refused": ("seq", "reason_code"),
    "unacknowledged_many": ("waiting", "most"),
    "journal_large": ("bytes", "most_bytes"),
    "archive_failed": ("error",),
    "client_id_taken": (),
    "journal_forked": ("size", "rows"),
    "cabinet_opened": (),
    "pit_key_differs": ("offered", "pinned"),
    "pit_word_forged": ("topic",),
    "recognition_key_adopted": ("key", "by"),
    "recognition_key_due": (),
    "wager_word_forged": ("why",),
    "wager_word_unfit": ("why",),
    "wagers_differ": ("spot", "seats"),
    "award_impossible": ("award", "hit", "seat", "cents", "least_cents", "most_cents"),
    "hit_unheard": ("seq",),
    "program_changed": ("version_before", "version", "before", "now"),
    "configuration_changed": ("before", "now"),
    "program_not_approved": ("now",),
    "program_measured": ("nonce", "version", "now", "configuration", "proof"),
    "pit_link_lost": ("standing",),
    "pit_link_back": ("lost_s",),
}
"""Every alarm, and what it tells beside its code, by name. The table goes on."""
