"""Every fault: its code, what it tells people, who may leave it and by what act.

A fault latches: no report, restart or lapse of time ends it, only a journalled act of a supervisor. Help, screen and
documents are made from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Exit(Enum):
    """An act by which a supervisor leaves a fault."""

    CLEAR = "clear"  # the table and the journal agree: go on
    CARD = "card"  # this is the card the shoe could not tell, or that was missed
    VOID = "void"  # the hand is over, wagers go back, cards held with the fault are dead
    NEW_SHOE = "new_shoe"  # this shoe ends here
    COUNT = "count"  # so many cards are left in the shoe


class Clearing(Enum):
    """What `clear` does with the report that raised the fault."""

    PLAY = "play"  # it counts as the shoe reported it
    PLAY_AS_OURS = "play_as_ours"  # it counts where our rules put it, not where the shoe did
    BURN = "burn"  # the card is one more burned card
    HIT = "hit"  # the seat whose choice was due hit, and this is its card
    DROP = "drop"  # it changes nothing


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One row of the table. `what` and `do` are sentences for the person at the table."""

    what: str
    do: str
    exits: tuple[Exit, ...]
    clearing: Clearing = Clearing.DROP
    card_ends_it: bool = False  # naming the card is enough; otherwise a `clear` must follow
    new_shoe_takes_held: bool = False  # the card held becomes the new shoe's first card
    two_people: bool = False  # `clear` needs a witness, too
    details: tuple[str, ...] = ()  # what the fault's event and the status tell besides, by name: see DETAILS


DETAILS: dict[str, str] = {
    "shoe_mode": "why the shoe's own game was not running: `lock`, `error` or `setting`",
    "shoe_says": "the shoe's opinion: where the card went (`banker card 1`), how many to burn, or the result",
    "rules_say": "the rules' opinion of the same",
    "first_card_is_worth": "how many cards the first card says are to be burned",
    "where": "where the card goes: `first_card`, `burn`, a hand by name, or `hand` where that may not be told yet",
    "card": "the card as the shoe reported it (`8H`)",
    "seat": "the seat's number",
    "seats": "the seats' numbers (`2, 5`)",
    "error": "the shoe's error (`overdraw`), why the disk refused, what became of the journal's file, or what "
    "failed inside the controller",
    "acked_seq": "the last event that the pit says it has",
    "acked_at": "when the pit said so, by its clock",
    "head_seq": "the last event that the pit can have from this journal",
    "chain": "`differs` where the pit's chain is another at that event, otherwise `unknown`",
    "event": "the number of the event that is not as it was",
    "waiting": "events that the pit has not acknowledged",
    "most": "events that may wait at most",
    "journal_row": "the first row of the journal that came out otherwise",
    "unheard_s": "for how many seconds at most the shoe was not heard; left out after a boot of the machine",
    "last_heard_at": "after a boot: when the table noted anything last, by its wall clock",
    "cards_left": "the cards that the table counts as left in the shoe; the status counts what came since",
    "last_round": "the number of the last finished round that the table knows",
    "last_result": "who won that round: `player`, `banker` or `tie`",
}
"""What each detail of a fault says, by its name. One that would tell a face-down card is left out of the fault."""

_CLEAR, _CARD, _VOID, _NEW_SHOE, _COUNT = Exit.CLEAR, Exit.CARD, Exit.VOID, Exit.NEW_SHOE, Exit.COUNT

FAULTS: dict[str, FaultKind] = {
    # The shoe's life
    "card_without_shoe": FaultKind(
        "A card was drawn and no shoe has been announced.",
        "If a new shoe has begun, announce it: this card is its first. If not, take the card back and clear.",
        (_NEW_SHOE, _CLEAR),
        new_shoe_takes_held=True,
        details=("shoe_mode",),
    ),
    "card_after_shoe": FaultKind(
        "A card was drawn after the shoe's last hand.",
        "If it is a new shoe's first card, announce the shoe. If not, take the card back and clear.",
        (_NEW_SHOE, _CLEAR),
        new_shoe_takes_held=True,
        details=("shoe_mode",),
    ),
    "first_card_in_shoe": FaultKind(
        "The shoe reports a new shoe's first card, but a shoe is being dealt.",
        "If a new shoe has begun, announce it: this card is its first. If not, clear: the card is the next card here.",
        (_NEW_SHOE, _CLEAR, _VOID),
        Clearing.PLAY_AS_OURS,
        new_shoe_takes_held=True,
        details=("shoe_says", "rules_say"),
    ),
    "burn_short": FaultKind(
        "A card was dealt to a hand before the burn was complete.",
        "Put the card with the burned cards and clear, or end the shoe.",
        (_CLEAR, _NEW_SHOE),
        Clearing.PLAY_AS_OURS,
        details=("shoe_says", "rules_say"),
    ),
    "burn_long": FaultKind(
        "The shoe reports a burned card after the burn was complete.",
        "Put the card with the burned cards and clear, or end the shoe.",
        (_CLEAR, _VOID, _NEW_SHOE),
        Clearing.BURN,
        details=("shoe_says", "rules_say"),
    ),
    "burn_count_differs": FaultKind(
        "The shoe and the first card disagree on how many cards to burn.",
        "Count by the first card. Clear to go on with that count, or end the shoe.",
        (_CLEAR, _NEW_SHOE),
        details=("shoe_says", "first_card_is_worth"),
    ),
    "cut_card_in_burn": FaultKind(
        "The cutting card came before the burn was complete.",
        "Put it back in its place and clear, or end the shoe.",
        (_CLEAR, _NEW_SHOE),
    ),
    "second_cut_card": FaultKind(
        "A second cutting card came in one shoe.",
        "Take it out and clear: the first one counts. Or void and end the shoe.",
        (_CLEAR, _VOID, _NEW_SHOE),
    ),
    "shoe_exhausted": FaultKind(
        "The cards ran out inside a hand. The hand is void and the shoe is closed.",
        "Return the wagers, clear, and begin a new shoe.",
        (_CLEAR,),
    ),
    # Cards
    "unreadable_card": FaultKind(
        "The shoe could not read a card.",
        "Read the card on the felt and name it. A burned card may stay unnamed: clear. Or void the hand.",
        (_CARD, _CLEAR, _VOID, _NEW_SHOE),
        Clearing.BURN,
        card_ends_it=True,
        details=("where",),
    ),
    "impossible_card": FaultKind(
        "The shoe reports a card of which no more can be in it.",
        "Read the card on the felt and name it. If it is truly one too many, void the hand and end the shoe.",
        (_CARD, _VOID, _NEW_SHOE),
        card_ends_it=True,
        details=("where", "card"),
    ),
    "card_outside_game": FaultKind(
        "A card left the shoe outside its game, and the shoe does not say which.",
        "Name the card: it is the next card. Or void the hand.",
        (_CARD, _VOID, _NEW_SHOE),
        card_ends_it=True,
        details=("shoe_mode",),
    ),
    # Choices and wagers
    "choice_due": FaultKind(
        "A card was drawn before a seat's choice was called.",
        "Ask the seat. Clear if it asked for the card: it is dealt to it, or burned where the rules give it none. "
        "Or void the hand.",
        (_CLEAR, _VOID),
        Clearing.HIT,
        details=("seat",),
    ),
    "royal9_wagers_differ": FaultKind(
        "At some seats the sensor and bet recognition disagree on the Royal 9 wager. Wagers were not locked.",
        "Look at those seats, put the chip on its sensor or take it off, then clear and press deal again.",
        (_CLEAR, _NEW_SHOE),
        details=("seats",),
    ),
    # Two referees
    "target_differs": FaultKind(
        "The shoe and the drawing rules disagree on which hand takes the card.",
        "Look at the felt. Clear to deal the card by the rules, or void the hand.",
        (_CLEAR, _VOID, _NEW_SHOE),
        Clearing.PLAY_AS_OURS,
        details=("shoe_says", "rules_say"),
    ),
    "result_differs": FaultKind(
        "The shoe and the rules disagree on the result of the hand.",
        "Read the cards on the felt. The result shown is by the rules; clear to go on.",
        (_CLEAR, _VOID, _NEW_SHOE),
        details=("shoe_says", "rules_say"),
    ),
    "force_quit": FaultKind(
        "The hand was ended by force at the shoe.",
        "Void the hand, or clear to deal it on.",
        (_VOID, _CLEAR),
    ),
    # The shoe as a machine
    "shoe_error": FaultKind(
        "The shoe reports an error.",
        "Cancel the error at the shoe, compare the cards on the felt with the display, then clear. Or void the hand.",
        (_CLEAR, _VOID, _NEW_SHOE),
        details=("error",),
    ),
    "reports_missed": FaultKind(
        "Reports of the shoe were missed: cards may have been drawn unseen.",
        "Compare the felt with the display. Name each missed card in the order it came, then clear. Or void the hand.",
        (_CARD, _CLEAR, _VOID, _NEW_SHOE),
        Clearing.PLAY,
    ),
    "shoe_restarted": FaultKind(
        "The shoe was switched off and on inside a shoe.",
        "Compare the felt with the display. Name each missed card in the order it came, then clear. Or void the hand.",
        (_CARD, _CLEAR, _VOID, _NEW_SHOE),
    ),
    "shoe_unplugged": FaultKind(
        "The shoe was not heard while a card was due: cards may have been drawn unseen.",
        "Compare the felt with the display. Name each missed card in the order it came, then clear. Or void the hand.",
        (_CARD, _CLEAR, _VOID, _NEW_SHOE),
    ),
    "shoe_unheard": FaultKind(
        "The shoe was not heard for a while. Cards, and whole hands, may have been dealt that no report told of.",
        "Count the cards in the shoe, and compare the last result. Say the count: tablectl count TABLE.toml CARDS --by "
        "NAME. Inside a hand, first name each missed card in the order it came, or void the hand. A cutting card that "
        "came meanwhile is told afterwards: tablectl cut-card TABLE.toml. Or end the shoe.",
        (_COUNT, _CARD, _VOID, _NEW_SHOE),
        details=("unheard_s", "last_heard_at", "cards_left", "last_round", "last_result"),
    ),
    # The controller itself
    "journal_behind_pit": FaultKind(
        "The pit has acknowledged events that this journal does not hold as they were sent: the journal is not the "
        "one that sent them.",
        "If the pit was wrong, mend it: once a later word of it fits this journal, two people clear. If the journal is "
        "a copy, stop the table, keep it for the audit, and start a new one, which the pit must adopt.",
        (_CLEAR,),
        two_people=True,
        details=("acked_seq", "head_seq", "chain", "acked_at"),
    ),
    "journal_failed": FaultKind(
        "The journal could not be written for a while. Nothing was lost: what waited has been written.",
        "Make room on the disk or replace the card before the next shoe, then clear.",
        (_CLEAR, _VOID, _NEW_SHOE),
        details=("error",),
    ),
    "journal_gone": FaultKind(
        "The journal's file was removed or replaced while the table ran. Nothing was lost: all of it was written there "
        "again.",
        "Find out who or what touched the file, and let only the table write in its folder. Then clear.",
        (_CLEAR, _VOID, _NEW_SHOE),
        details=("error",),
    ),
    "journal_altered": FaultKind(
        "An event that the pit has not acknowledged does not stand in the journal as this table signed it. The pit is "
        "sent nothing from that event on.",
        "Clear to finish the shoe without the pit, or void the hand. Then stop the table, see to the hits that the pit "
        "has not heard of, and begin a new journal with `tablectl new-journal`, which keeps this one for the audit.",
        (_CLEAR, _VOID, _NEW_SHOE),
        details=("event",),
    ),
    "outbox_full": FaultKind(
        "As many events wait for the pit's acknowledgement as this table may hold. None is lost.",
        "Mend the link to the pit or start its program. When it has acknowledged, clear.",
        (_CLEAR,),
        details=("waiting", "most"),
    ),
    "replay_differs": FaultKind(
        "After a restart the journal did not give the same events again.",
        "Compare the felt with the display and report this to the maker. Clear to go on, or void the hand.",
        (_CLEAR, _VOID, _NEW_SHOE),
        details=("journal_row",),
    ),
    "internal": FaultKind(
        "The controller failed on the last report or act, which therefore changed nothing.",
        "Compare the felt with the display, name a missed card if there is one, then clear. Report this to the maker.",
        (_CARD, _CLEAR, _VOID, _NEW_SHOE),
        details=("error",),
    ),
}


@dataclass(frozen=True, slots=True)
class AlarmKind:
    """What an alarm tells people; the table goes on."""

    what: str
    do: str


ALARMS: dict[str, AlarmKind] = {
    "impossible_card": AlarmKind(
        "A card came of which no more can be in the shoe.",
        "Count the decks, and look at the shoe and its cards before they are used again.",
    ),
    "publish_refused": AlarmKind(
        "The broker refused an event of this table.",
        "Look at the broker's access list for this table. The event is kept and sent again.",
    ),
    "unacknowledged_many": AlarmKind(
        "Four fifths of the events that this table may hold wait for the pit's acknowledgement.",
        "Mend the link to the pit or start its program. When no more may wait, the table stops between hands.",
    ),
    "journal_large": AlarmKind(
        "The journal is larger than this table's file allows, and nothing in it may go to an archive yet.",
        "Mend the link to the pit or start its program: only what the pit has acknowledged is archived. Where the pit "
        "has all, end the open shoe, or allow more in [journal] most_bytes. Nothing is lost while there is room.",
    ),
    "archive_failed": AlarmKind(
        "Old shoes could not be put into an archive. They stay in the journal, which grows.",
        "Read the error. Make room on the archive's disk, give its folder to the user the table runs as, or put aside "
        "the file in the way. It is tried again each minute.",
    ),
    "client_id_taken": AlarmKind(
        "Another client connected to the broker under this table's id, or says this table's state.",
        "Find it: somebody has a copy of this table's certificate, or of the table. Then give the table a new one.",
    ),
    "pit_key_differs": AlarmKind(
        "A key is offered as the pit's that is not the one pinned here, and that one has not signed it.",
        "Believe nothing yet. Compare the fingerprints with the pit's own: if the pit has truly got a new key, pin it "
        "with `tablectl pit-key`. If not, find out who says so.",
    ),
    "pit_word_forged": AlarmKind(
        "Something was said in the pit's name that the pit's key has not signed. It was not believed.",
        "Find out who publishes on the pit's topics, and check the broker's access list. If the pit has got a new key, "
        "see `tablectl pit-key`.",
    ),
    "award_impossible": AlarmKind(
        "The pit says an award of an amount that its hit cannot have. It was not believed.",
        "Pay nothing of it. Compare the award at the pit with the hit and with what its meter has shown.",
    ),
    "hit_unheard": AlarmKind(
        "The broker took a hit that nobody listens for.",
        "Start the pit's program. The hit is kept and sent again until the pit acknowledges it.",
    ),
}
