"""Every fact the table is a fold over: what came in and was believed, named in the past tense.

A fact is journalled before anything acts on it. What the shoe says is a fact whatever the table's state thinks of it;
what a person asks for becomes a fact only once it has been allowed (`requests.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from controller.game.cards import Card
from controller.game.seating import Actives
from controller.game.wagers import RefusedWager, Wager
from controller.table.rules import TableRules


class Target(Enum):
    """Where the shoe says a card went."""

    PLAYER = "player"
    BANKER = "banker"
    BURN = "burn"
    FIRST_CARD = "first_card"


class ShoeResult(Enum):
    """The shoe's own opinion of a finished hand."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"
    FORCE_QUIT = "force_quit"


class ShoeError(Enum):
    """What the shoe itself complains of."""

    CANNOT_READ = "cannot_read"
    OVERDRAW = "overdraw"
    BUTTON_MISHANDLED = "button_mishandled"
    REVERSE_AT_EXIT = "reverse_at_exit"
    REVERSE_MIDWAY = "reverse_midway"
    CARD_CODE = "card_code"
    DRAW_TIMEOUT = "draw_timeout"


@dataclass(frozen=True, slots=True)
class Report:
    """The shoe's report behind a fact: its sequence digit and its whole frame in hex.

    `seq` is None from a shoe that numbers nothing: no gap ever shows that a report of it was missed. The frame can
    tell a face-down card, so a report stays in the journal: nothing public is made from it.
    """

    seq: int | None
    frame: str


@dataclass(frozen=True, slots=True)
class SeatHit:
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


# What the shoe reported. `report` is None where no wire stands behind the fact (a script).


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """A card left the shoe. `card` is None when it could not be read.

    `target` and `index` (1 for a hand's first card) are the shoe's opinion of where the card goes, where it has one.
    """

    card: Card | None
    target: Target | None = None
    index: int | None = None
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class CardDrawnOutsideGame:
    """A card left the shoe while its own game was not running; it does not say which card."""

    shoe_mode: str  # "lock", "error" or "setting"
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class CardKept:
    """A card kept after an overdraw was cleared on the shoe: it belongs to the next round."""

    card: Card | None
    target: Target | None = None
    index: int | None = None
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class CutCardDrawn:
    """The cutting card came, seen by the shoe or by the dealer (`by`: "shoe", "dealer")."""

    by: str
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class BurnCountReported:
    """The shoe's own statement of how many cards are burned after the first."""

    count: int
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class ShoeResultReported:
    """The shoe's own result of the hand."""

    result: ShoeResult
    player_pair: bool
    banker_pair: bool
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class ShoeErrorRaised:
    """The shoe went into error."""

    error: ShoeError
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class ShoeErrorCancelled:
    """The shoe's error was cancelled at the shoe."""

    error: ShoeError
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class ShoePoweredUp:
    """The shoe started communicating: it was switched on, and its sequence digit starts anew."""

    report: Report | None = None


@dataclass(frozen=True, slots=True)
class ShoeStoodBy:
    """The shoe is standing by."""

    report: Report | None = None


@dataclass(frozen=True, slots=True)
class ShoeLockReported:
    """The shoe's lock is closed or open."""

    locked: bool
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class ShoePresetChanged:
    """A preset of the shoe was changed at the shoe."""

    address: str
    value: str
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class ShoeUnplugged:
    """The shoe's line was lost inside a hand or the burn, or in older journals wherever a card was due."""


@dataclass(frozen=True, slots=True)
class ShoeUnheard:
    """The shoe was not heard for so long that no number of it tells whether reports were missed.

    Either the program was gone or stood still, or the line was. `unheard_ms` is how long at most; None where the
    machine was started anew since: nobody set a clock that counts through that. `last_heard_at` is then when a fact
    came last by the wall clock, in RFC 3339, if one ever did.
    """

    unheard_ms: int | None
    last_heard_at: str | None = None


# What people did, and what their acts have in common with what the shoe or the pit says.


@dataclass(frozen=True, slots=True)
class ByPerson:
    """What an act of a person became. Each such fact stands beside its act, in `controller/table/acts`."""


@dataclass(frozen=True, slots=True)
class ShoeOpened:
    """A new shoe was announced. It folds to its end under the rules it opened with.

    `by` is "dealer", "first_card" (the shoe's own report), or a supervisor's name. `config_digest` is of the whole
    configuration; `version` is the program's. What outlives the shoe before stands here too, so that a replay can
    begin at this fact: the last report, or None where the new shoe's own have begun, and what a fault held of those.
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


@dataclass(frozen=True, slots=True)
class ProgressiveWagers:
    """The wagers on one progressive bet at the lock: the seats whose wager stands, and those refused and why."""

    spot: str
    seats: tuple[int, ...] = ()
    refused_seats: tuple[int, ...] = ()
    refusal: str | None = None  # a code, when any was refused


@dataclass(frozen=True, slots=True)
class WagersLocked:
    """Wagers were locked, with what decided it. `progressive` has each progressive bet that any seat wagered on.

    `wagers` stand and `refused` do not, where the table knows them; `in_play` are Lucky 9's seats.
    """

    by: str  # "dealer" or "first_card"
    progressive: tuple[ProgressiveWagers, ...] = ()
    wagers: tuple[Wager, ...] = ()
    refused: tuple[RefusedWager, ...] = ()
    in_play: tuple[int, ...] = ()
    levels: dict[str, int] = field(default_factory=dict)  # the progressive meters' cents as shown


@dataclass(frozen=True, slots=True)
class LevelsNoted:
    """What the progressive meters show by now, in cents, while a hand plays for them: a hit notes it."""

    levels: dict[str, int]


@dataclass(frozen=True, slots=True)
class WagersDiffered:
    """The dealer would lock, but at these seats the sensor and bet recognition disagree on the wager it senses."""

    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AwardStepped:
    """The pit says how far a hit has come. `seq` numbers the steps of this table's awards, `hit` is the event's id, and
    `spot`, `shoe`, `round`, `seat`, `tier` and `meter` are that event's."""

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


@dataclass(frozen=True, slots=True)
class DisputedAward:
    """A step of an award that was refused for its amount. Once two people have accepted the amount, it is believed."""

    step: AwardStepped
    accepted: bool = False


# What the controller noticed about itself and its links.


@dataclass(frozen=True, slots=True)
class JournalFoundBehindPit:
    """The pit has acknowledged what this journal does not hold, or holds otherwise.

    `at` is when the pit said so, by its clock; empty where an earlier version of this program did not keep it.
    """

    acked_seq: int
    head_seq: int
    chain_differs: bool
    at: str = ""


@dataclass(frozen=True, slots=True)
class PitTookBack:
    """A later word of the pit, `at` by its clock, fits this journal: the one that did not was wrong."""

    acked_seq: int
    at: str


@dataclass(frozen=True, slots=True)
class PitKeyRotated:
    """The pit's pinned key, `former`, has signed this one, which is pinned in its place: both in hex."""

    public_key: str
    former: str


@dataclass(frozen=True, slots=True)
class PitKeyDiffers:
    """A key is offered as the pit's that is not the pinned one, nor signed by it: both as their fingerprints."""

    offered: str
    pinned: str


@dataclass(frozen=True, slots=True)
class PitWordForged:
    """What came on the pit's topic, `ack`, `award` or `meters`, is not signed by the pinned key."""

    topic: str


@dataclass(frozen=True, slots=True)
class AwardRefused:
    """The pit says an award of an amount that its hit cannot have: below `least_cents` or above `most_cents`."""

    step: AwardStepped
    least_cents: int
    most_cents: int


@dataclass(frozen=True, slots=True)
class PublishRefused:
    """The broker refused an event with an MQTT 5 reason code of 0x80 or above."""

    seq: int
    reason_code: int


@dataclass(frozen=True, slots=True)
class HitUnheard:
    """The broker took a hit that nobody subscribes to (MQTT 5 reason code 0x10)."""

    seq: int


@dataclass(frozen=True, slots=True)
class ClientIdTaken:
    """Another client connected to the broker under this table's id, and was given its place."""


@dataclass(frozen=True, slots=True)
class OutboxFilling:
    """Four fifths of the `most` events that may wait for the pit's acknowledgement do wait."""

    waiting: int
    most: int


@dataclass(frozen=True, slots=True)
class OutboxFull:
    """Between hands, as many events wait for the pit's acknowledgement as may."""

    waiting: int
    most: int


@dataclass(frozen=True, slots=True)
class JournalLarge:
    """The journal's rows take more bytes than they may, and none of them may go to an archive yet."""

    bytes: int
    most_bytes: int


@dataclass(frozen=True, slots=True)
class ArchiveFailed:
    """Old rows of the journal could not be put into an archive. They stay in the journal. `error` is a code."""

    error: str


@dataclass(frozen=True, slots=True)
class CommitFailed:
    """The journal could not be written. What waited was kept in memory, and has been written since.

    `error` is a code, such as SQLITE_FULL. In older journals a sentence ends with the code.
    """

    error: str


@dataclass(frozen=True, slots=True)
class JournalGone:
    """The journal's file was removed or replaced while the table ran. All of it has been written there again.

    `file` is the name of the file that was missed: the journal's, or that of its write-ahead log. `found` is "removed"
    or "replaced". What stood in the file's place has been given the name `kept_as`.
    """

    file: str
    found: str
    kept_as: str | None = None


@dataclass(frozen=True, slots=True)
class JournalAltered:
    """Event `seq`, which the pit has not acknowledged, does not stand in the journal as this table signed it."""

    seq: int


@dataclass(frozen=True, slots=True)
class ReplayDiffered:
    """At start, the journal's facts did not give the messages that stand beside them."""

    row: int


@dataclass(frozen=True, slots=True)
class StepFailed:
    """The step over the fact in the row before this one raised; that fact changed nothing but the report heard last."""

    error: str
    report: Report | None = None


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
    | PublishRefused
    | HitUnheard
    | ClientIdTaken
    | OutboxFilling
    | OutboxFull
    | JournalLarge
    | ArchiveFailed
    | CommitFailed
    | JournalGone
    | JournalAltered
    | ReplayDiffered
    | StepFailed
)
TableFact = ShoeOpened | WagersLocked | WagersDiffered | AwardStepped | AwardRefused
Fact = ShoeFact | OwnFact | TableFact | ByPerson


def begins_shoe(fact: Fact) -> bool:
    """Whether the shoe says of a card that a new shoe has begun with the card."""
    return isinstance(fact, CardDrawn) and fact.target is Target.FIRST_CARD
