"""Every fact of the table: what came in and was believed, in the past tense. The table's state is a fold of facts.

A fact is journalled before anything acts on it. Whatever the shoe reports is a fact, even where it is impossible. What
a person asks for becomes a fact only once it is allowed (`requests.py`).
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from msgspec import Struct, field

from controller.contract.events import Win
from controller.rules.game.cards import Card
from controller.rules.game.seating import Actives
from controller.rules.game.wagers import RefusedWager, Wager
from controller.table.journalled import ClientIdTaken, Journalled, MeasureAnswered, PitLinkBack, PitLinkLost
from controller.table.rules import TableRules


class Target(Enum):
    """Where a card went, by the shoe's report."""

    PLAYER = "player"
    BANKER = "banker"
    BURN = "burn"
    FIRST_CARD = "first_card"


class ShoeResult(Enum):
    """The shoe's own result of a finished round."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"
    FORCE_QUIT = "force_quit"


class ShoeError(Enum):
    """The shoe's own errors."""

    CANNOT_READ = "cannot_read"
    OVERDRAW = "overdraw"
    BUTTON_MISHANDLED = "button_mishandled"
    REVERSE_AT_EXIT = "reverse_at_exit"
    REVERSE_MIDWAY = "reverse_midway"
    CARD_CODE = "card_code"
    DRAW_TIMEOUT = "draw_timeout"


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """The shoe's report behind a fact: its sequence digit and its whole frame in hex.

    `seq` is None from a shoe without numbers: of such a shoe no gap ever shows that a report was missed. The frame can
    tell a face-down card. So a report stays in the journal, and nothing public is made from it.
    """

    seq: int | None
    frame: str


class SeatHit(Struct, frozen=True, forbid_unknown_fields=True):
    """A seat's winning wager on a progressive bet, and how far it has come at the pit: hit, pending, verified, paid or
    rejected.

    The award is `share` of `meter`; a fixed award has no meter. `shown_cents` is what the meter was shown at last
    before the hit, `cents` the award as the pit says it; each is None while not known.
    """

    shoe: int
    round: int
    spot: str
    seat: int
    tier: str
    meter: str | None = None
    share: Fraction = Fraction(1)
    shown_cents: int | None = None
    step: str = "hit"
    cents: int | None = None


# What the shoe reported. `report` is None where no wire stands behind the fact, for example in a script.


class CardDrawn(Journalled, frozen=True):
    """A card left the shoe. `card` is None where the shoe could not read it.

    `target` and `index` (1 for a hand's first card) are the shoe's opinion of the card's place, where it has opinions.
    The card came `after_ms` milliseconds after the card or the lock before it, by a clock that nobody sets; None where
    nobody knows, for example after a restart.
    """

    card: Card | None
    target: Target | None = None
    index: int | None = None
    report: Report | None = None
    after_ms: int | None = None


class CardDrawnOutsideGame(Journalled, frozen=True):
    """A card left the shoe while the shoe's own game was not running. The report does not name the card."""

    shoe_mode: str  # "lock", "error" or "setting"
    report: Report | None = None


class CardKept(Journalled, frozen=True):
    """A card kept after an overdraw was cleared on the shoe: it belongs to the next round."""

    card: Card | None
    target: Target | None = None
    index: int | None = None
    report: Report | None = None
    after_ms: int | None = None


class CutCardDrawn(Journalled, frozen=True):
    """The cut card came, seen by the shoe or by the dealer (`by`: "shoe", "dealer")."""

    by: str
    report: Report | None = None


class BurnCountReported(Journalled, frozen=True):
    """The shoe's own count of the cards that are burned after the first card."""

    count: int
    report: Report | None = None


class ShoeResultReported(Journalled, frozen=True):
    """The shoe's own result of the round."""

    result: ShoeResult
    player_pair: bool
    banker_pair: bool
    report: Report | None = None


class ShoeErrorRaised(Journalled, frozen=True):
    """The shoe reported an error."""

    error: ShoeError
    report: Report | None = None


class ShoeErrorCancelled(Journalled, frozen=True):
    """The shoe's error was cancelled at the shoe."""

    error: ShoeError
    report: Report | None = None


class ShoePoweredUp(Journalled, frozen=True):
    """The shoe was switched on. Its sequence digits start anew."""

    report: Report | None = None


class ShoeStoodBy(Journalled, frozen=True):
    """The shoe is standing by."""

    report: Report | None = None


class ShoeLockReported(Journalled, frozen=True):
    """The shoe's lock is closed or open."""

    locked: bool
    report: Report | None = None


class ShoePresetChanged(Journalled, frozen=True):
    """A preset of the shoe was changed at the shoe."""

    address: str
    value: str
    report: Report | None = None


class ShoeUnplugged(Journalled, frozen=True):
    """The shoe's line was lost inside a round or the burn. In older journals: also wherever a card was due."""


class ShoeUnheard(Journalled, frozen=True):
    """The shoe was not heard for so long that its numbers cannot show whether reports were missed.

    Either the program was gone or stood still, or the line was gone. `unheard_ms` is the longest time that this can
    have lasted; None where the machine was restarted meanwhile, since no clock that nobody sets counts through that.
    Then `last_heard_at` is the time of the last fact by the wall clock, in RFC 3339, if there ever was one.
    """

    unheard_ms: int | None
    last_heard_at: str | None = None


# What people did. What these facts have in common with reports of the shoe and words of the pit.


class ByPerson(Journalled, frozen=True):
    """An act of a person, as a fact. Each such fact stands beside its act, in `controller/table/acts`."""


class ShoeOpened(Journalled, frozen=True):
    """A new shoe was announced. All its facts are folded under the rules in this fact.

    `by` is "dealer", "first_card" (the shoe's own report), or a supervisor's name. `config_digest` is the digest of the
    whole configuration; `version` is the program's. What stays from the shoe before stands here too, so that a replay
    can begin at this fact. Examples: the last report, or None where the new shoe's own reports have begun, and without
    its frame where it has no number; and the held reports that are this shoe's.
    """

    shoe: int
    by: str
    rules: TableRules
    config_digest: str
    version: str
    last_report: Report | None = None
    seq_counts_zero: bool = False
    carried: tuple[ShoeFact | OwnFact, ...] = ()
    occupied: tuple[int, ...] = ()
    actives: Actives | None = None
    commission_owed: dict[int, int] = field(default_factory=dict)  # seat to cents
    placed: tuple[Wager, ...] = ()
    hits: tuple[SeatHit, ...] = ()
    award_seq: int = 0
    disputed: tuple[DisputedAward, ...] = ()
    pit_key: str | None = None
    measured: ProgramMeasured | None = None
    recognition_key: str | None = None
    wager_seq: int = 0
    win_seq: int = 0
    measure_asked_at: str = ""
    pit_link_lost: bool = False


class ProgressiveWagers(Struct, frozen=True, forbid_unknown_fields=True):
    """The wagers on one progressive bet at the lock: the seats that stand, and the seats that are refused and why."""

    spot: str
    seats: tuple[int, ...] = ()
    refused_seats: tuple[int, ...] = ()
    refusal: str | None = None  # a code, when any was refused


class ChipsNoted(Journalled, frozen=True):
    """A card leaves the shoe before wagers are locked, and these seats' sensors see a wager at that moment."""

    seats: tuple[int, ...]


class ToldMeters(Struct, frozen=True, forbid_unknown_fields=True):
    """The pit's word by which the meters were shown at a lock, without the levels. It had come `ago_ms` before."""

    seq: int
    at: str
    win: Win | None
    signature: str
    ago_ms: int


class WagersLocked(Journalled, frozen=True):
    """Wagers were locked, with what decided that. `progressive` has each progressive bet that any seat wagered on.

    `wagers` stand and `refused` do not, where the table knows wagers; `in_play` are the seats that play at Lucky 9.
    `chips_added` and `chips_taken` are the seats whose sensor saw a wager at the lock alone, or only before a card of
    the round had left the shoe. At the seats in `differ` the sensor and bet recognition disagreed on the sensed wager.
    """

    by: str  # "dealer" or "first_card"
    progressive: tuple[ProgressiveWagers, ...] = ()
    wagers: tuple[Wager, ...] = ()
    refused: tuple[RefusedWager, ...] = ()
    in_play: tuple[int, ...] = ()
    levels: dict[str, int] = field(default_factory=dict)  # the progressive meters' cents as shown
    chips_added: tuple[int, ...] = ()
    chips_taken: tuple[int, ...] = ()
    differ: tuple[int, ...] = ()
    told: ToldMeters | None = None  # the pit's word that had these levels


class WagerSeen(Journalled, frozen=True):
    """Bet recognition said with this number that chips lie so, for this shoe and round. 0 cents: they were taken away.

    `refusal` is a code where that changed nothing. The number counts all the same: the word must never play again.
    """

    wager: Wager
    seq: int
    shoe: int
    round: int
    refusal: str | None = None


class LevelsNoted(Journalled, frozen=True):
    """The progressive meters show these amounts, in cents, while a round plays for them. A hit uses these amounts."""

    levels: dict[str, int]


class WagersDiffered(Journalled, frozen=True):
    """The dealer wants to lock, but at these seats the sensor and bet recognition disagree on the sensed wager."""

    seats: tuple[int, ...]


class AwardStepped(Journalled, frozen=True):
    """How far a hit has come, by the pit. `seq` numbers the table's steps. `hit` is the event that the rest is of."""

    seq: int
    award: str
    hit: str
    shoe: int
    round: int
    spot: str
    seat: int
    tier: str
    meter: str | None
    cents: int
    step: str  # "pending", "verified", "paid", "rejected"
    by: str


class WinHeard(Journalled, frozen=True):
    """The pit told of a win of a meter. `shown`: the win was young, and another table's, so the screen tells it."""

    win: Win
    shown: bool
    word_seq: int


class DisputedAward(Struct, frozen=True, forbid_unknown_fields=True):
    """A step of an award that was refused for its amount. Once two people accept the amount, the step is believed."""

    step: AwardStepped
    accepted: bool = False


# What the controller noticed of itself and its links.


class JournalFoundBehindPit(Journalled, frozen=True):
    """The pit has acknowledged an event that this journal does not hold, or holds otherwise.

    `at` is the time of that ack by the pit's clock; empty where an earlier version of this program did not keep it.
    """

    acked_seq: int
    head_seq: int
    chain_differs: bool
    at: str = ""


class PitTookBack(Journalled, frozen=True):
    """A later ack of the pit, of the time `at` by its clock, fits this journal. The one that did not fit was wrong."""

    acked_seq: int
    at: str


class PitKeyRotated(Journalled, frozen=True):
    """The pit's pinned key, `former`, has signed another key, which is pinned now. Both are in hex."""

    public_key: str
    former: str


class PitKeyDiffers(Journalled, frozen=True):
    """Somebody offers a key as the pit's that is neither the pinned key nor signed by it. Both are fingerprints."""

    offered: str
    pinned: str


class PitWordForged(Journalled, frozen=True):
    """A message on the pit's topic `ack`, `award` or `meters` is not signed by the pinned key."""

    topic: str


class RecognitionKeyDue(Journalled, frozen=True):
    """Somebody tells of wagers, and no key of bet recognition is adopted at this table."""


class WagerWordForged(Journalled, frozen=True):
    """A message on the table's `wager` topic is not signed by the adopted key. `why`: "unsigned" or "other_key"."""

    why: str


class WagerWordUnfit(Journalled, frozen=True):
    """Bet recognition signed a word that cannot be for this table now. `why`: "unreadable", "other_table", "leaps"."""

    why: str


class AwardRefused(Journalled, frozen=True):
    """The pit says an award of an amount that its hit cannot have: below `least_cents` or above `most_cents`."""

    step: AwardStepped
    least_cents: int
    most_cents: int


class PublishRefused(Journalled, frozen=True):
    """The broker refused an event with an MQTT 5 reason code of 0x80 or above."""

    seq: int
    reason_code: int


class HitUnheard(Journalled, frozen=True):
    """The broker took a hit, but nobody subscribes to hits (MQTT 5 reason code 0x10)."""

    seq: int


class JournalForked(Journalled, frozen=True):
    """Of this journal the pit has cosigned a tree of `size` rows that is not this journal's, which has `rows` rows."""

    size: int
    rows: int


class OutboxFilling(Journalled, frozen=True):
    """Of the `most` events that may wait for the pit's acknowledgement, four fifths wait."""

    waiting: int
    most: int


class OutboxFull(Journalled, frozen=True):
    """As many events wait for the pit's acknowledgement as may wait. This is a fact between rounds only."""

    waiting: int
    most: int


class JournalLarge(Journalled, frozen=True):
    """The journal's rows take more bytes than they may, and no row may go into an archive yet."""

    bytes: int
    most_bytes: int


class ArchiveFailed(Journalled, frozen=True):
    """Old rows of the journal could not be put into an archive. They stay in the journal. `error` is a code."""

    error: str


class CommitFailed(Journalled, frozen=True):
    """The journal could not be written for a while. Everything was kept in memory, and has been written since.

    `error` is a code, such as SQLITE_FULL. In older journals it is a sentence that ends with the code.
    """

    error: str


class JournalGone(Journalled, frozen=True):
    """The journal's file was removed or replaced while the table ran. The whole journal has been written there again.

    `file` names the missing file: the journal, or its write-ahead log. `found` is "removed" or "replaced". A file that
    stood in its place has been renamed to `kept_as`.
    """

    file: str
    found: str
    kept_as: str | None = None


class JournalAltered(Journalled, frozen=True):
    """Event `seq`, which the pit has not acknowledged, is not in the journal as this table signed it."""

    seq: int


class CabinetOpened(Journalled, frozen=True):
    """The table's cabinet was opened, or stood open when the table started, and the house stops the table for that."""


class CabinetOpeningNoted(Journalled, frozen=True):
    """The table's cabinet was opened, or stood open when the table started. The table goes on."""


class ProgramStarted(Journalled, frozen=True):
    """The program started on this journal, for the `boot`-th time: the first row of that run, and it makes no event.

    The salt of this row is in the chain value of each later event. So where the journal became an older copy, no event
    of a later run has the chain value of an event that the copy lacks."""

    boot: int


class ProgramMeasured(Journalled, frozen=True):
    """What runs on this journal is not what ran on it before, or is the first: the program's version, and the digests
    of the program's files and of the configuration, in hex. The table measures at its start and once an hour.

    `approved` says whether the house has approved this program; None where the house names no approved program.
    """

    version: str
    program: str
    configuration: str
    approved: bool | None = None


class ReplayDiffered(Journalled, frozen=True):
    """At the start, the journal's facts did not make the messages that are stored beside them."""

    row: int


class StepFailed(Journalled, frozen=True):
    """The step over the fact in the row before failed. That fact changed nothing but the report that was heard last."""

    error: str
    report: Report | None = None


class ActRefused(Journalled, frozen=True):
    """A person at an account asked for this act, and it was refused with this code. It changes nothing.

    `by` is the name that the person gave. `more` refusals of that account before this one found no room.
    """

    act: str
    by: str | None
    code: str
    more: int = 0


ShoeFact = (
    CardDrawn
    | CardDrawnOutsideGame
    | CardKept
    | CutCardDrawn
    | BurnCountReported
    | ShoeResultReported
    | ShoeErrorRaised
    | ShoeErrorCancelled
    | ShoePoweredUp
    | ShoeStoodBy
    | ShoeLockReported
    | ShoePresetChanged
)
OwnFact = (
    ShoeUnplugged
    | ShoeUnheard
    | LevelsNoted
    | JournalFoundBehindPit
    | PitTookBack
    | PitKeyRotated
    | PitKeyDiffers
    | PitWordForged
    | RecognitionKeyDue
    | WagerWordForged
    | WagerWordUnfit
    | PublishRefused
    | HitUnheard
    | ClientIdTaken
    | JournalForked
    | OutboxFilling
    | OutboxFull
    | JournalLarge
    | ArchiveFailed
    | CommitFailed
    | JournalGone
    | JournalAltered
    | CabinetOpened
    | CabinetOpeningNoted
    | ProgramStarted
    | ProgramMeasured
    | MeasureAnswered
    | PitLinkLost
    | PitLinkBack
    | ReplayDiffered
    | StepFailed
)
TableFact = (
    ShoeOpened
    | ChipsNoted
    | WagerSeen
    | WagersLocked
    | WagersDiffered
    | AwardStepped
    | AwardRefused
    | WinHeard
    | ActRefused
)
Fact = ShoeFact | OwnFact | TableFact | ByPerson


def begins_shoe(fact: Fact) -> bool:
    """Whether a new shoe begins with this card, by the shoe's report."""
    return isinstance(fact, CardDrawn) and fact.target is Target.FIRST_CARD
