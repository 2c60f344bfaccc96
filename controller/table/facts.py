"""The facts of a table: what was reported, seen or done, in the past tense. The table's state follows from its facts.

A fact is journalled before anything acts on it. Whatever the shoe reports is a fact, even if it is impossible. What a
person asks for becomes a fact only once it is allowed (`requests.py`).
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
    """The places to which a card can go, as the shoe's report names them."""

    PLAYER = "player"
    BANKER = "banker"
    BURN = "burn"
    FIRST_CARD = "first_card"


class ShoeResult(Enum):
    """The results of a round that the shoe reports."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"
    FORCE_QUIT = "force_quit"


class ShoeError(Enum):
    """The errors that the shoe can report about itself."""

    CANNOT_READ = "cannot_read"
    OVERDRAW = "overdraw"
    BUTTON_MISHANDLED = "button_mishandled"
    REVERSE_AT_EXIT = "reverse_at_exit"
    REVERSE_MIDWAY = "reverse_midway"
    CARD_CODE = "card_code"
    DRAW_TIMEOUT = "draw_timeout"


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """The shoe's report from which a fact was made: its sequence digit and its whole frame in hex.

    `seq` is None if the shoe sends no numbers. From such a shoe a missed report leaves no gap. The frame can reveal a
    face-down card, so a report stays in the journal, and nothing public is made from it.
    """

    seq: int | None
    frame: str


class SeatHit(Struct, frozen=True, forbid_unknown_fields=True):
    """A seat's winning wager on a progressive bet, and its step at the pit: hit, pending, verified, paid or rejected.

    The award is the share `share` of the meter `meter`, or a fixed award if `meter` is None. `shown_cents` is what the
    meter showed just before the hit; `cents` is the award that the pit named. Each is None while it is not known.
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
    """A card left the shoe. `card` is None if the shoe could not read it.

    `target` and `index` (1 for a hand's first card) say where the shoe itself puts the card; None if the shoe does not
    say. `after_ms` is the time in ms, by a monotonic clock, since the last card or the lock of the wagers. It is None
    if that time is not known, for example after a restart.
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
    """After an overdraw (one card too many) was cleared on the shoe, a card was kept for the next round."""

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
    """The shoe reported its own count of the cards that are burned after the first card."""

    count: int
    report: Report | None = None


class ShoeResultReported(Journalled, frozen=True):
    """The shoe reported its own result of the round."""

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
    """The shoe was switched on. Its sequence digits start from the beginning."""

    report: Report | None = None


class ShoeStoodBy(Journalled, frozen=True):
    """The shoe reported that it is in standby."""

    report: Report | None = None


class ShoeLockReported(Journalled, frozen=True):
    """The shoe reported that its lock is closed (`locked`) or open."""

    locked: bool
    report: Report | None = None


class ShoePresetChanged(Journalled, frozen=True):
    """One of the shoe's presets (settings) was changed at the shoe."""

    address: str
    value: str
    report: Report | None = None


class ShoeUnplugged(Journalled, frozen=True):
    """The line to the shoe was lost during a round or the burn (in older journals: whenever a card was due)."""


class ShoeUnheard(Journalled, frozen=True):
    """The shoe was not heard for so long that its numbers cannot show whether reports were missed.

    The program did not run or stood still, or the line was gone. `unheard_ms` is the longest time that this can have
    taken. It is None if the machine was restarted, because the monotonic clock does not count through a restart. In
    that case `last_heard_at` is the wall-clock time of the last fact, in RFC 3339, or None if there was no fact.
    """

    unheard_ms: int | None
    last_heard_at: str | None = None


# What people did. What these facts have in common with reports of the shoe and words of the pit.


class ByPerson(Journalled, frozen=True):
    """The base class of the facts that people's acts make. Each is defined beside its act (`controller/table/acts`)."""


class ShoeOpened(Journalled, frozen=True):
    """A new shoe was announced. The rules in this fact hold for all facts of the shoe.

    `by` is "dealer", "first_card" (the shoe's own report), or a supervisor's name. `config_digest` is the digest of the
    whole configuration; `version` is the program's. The other fields are kept from the last shoe, so that a replay can
    begin here. `carried` are held facts: the new shoe's own, and the controller's about itself. `last_report` is the
    last shoe's last report, without its frame if it has no number; None if the new shoe has already reported a card.
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
    """The wagers on one progressive bet when wagers were locked: whose wagers count, and whose are refused and why."""

    spot: str
    seats: tuple[int, ...] = ()
    refused_seats: tuple[int, ...] = ()
    refusal: str | None = None  # a code, when any was refused


class ChipsNoted(Journalled, frozen=True):
    """The seats whose sensors saw a wager at the moment when a card left the shoe before wagers were locked."""

    seats: tuple[int, ...]


class ToldMeters(Struct, frozen=True, forbid_unknown_fields=True):
    """The pit's signed message, without its amounts, by which meters were shown at a lock; then `ago_ms` old."""

    seq: int
    at: str
    win: Win | None
    signature: str
    ago_ms: int


class WagersLocked(Journalled, frozen=True):
    """Wagers were locked. `progressive` has each progressive bet that any seat wagered on.

    If the table knows all wagers, `wagers` count and `refused` do not; `in_play` are the seats that play at Lucky 9.
    `chips_added` are seats whose sensor first saw a wager at the lock. `chips_taken` are seats whose sensor saw a wager
    only before a card of the round left the shoe. At the seats in `differ` the sensor and bet recognition disagreed.
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
    """Bet recognition's message `seq` says which wager lies at a seat in this shoe and round. 0 cents: no wager.

    `refusal` is a code if the table refused the wager. Even then, no later message may have the number `seq` again.
    """

    wager: Wager
    seq: int
    shoe: int
    round: int
    refusal: str | None = None


class LevelsNoted(Journalled, frozen=True):
    """The amounts in cents that the progressive meters showed during a round. A hit of the round uses these amounts."""

    levels: dict[str, int]


class WagersDiffered(Journalled, frozen=True):
    """The dealer tried to lock wagers, but at these seats the sensor and bet recognition disagree about the wager."""

    seats: tuple[int, ...]


class AwardStepped(Journalled, frozen=True):
    """The pit reported the next step of a hit's award. `seq` numbers this table's steps; `hit` names the hit event."""

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
    """The pit reported that a meter was won. `shown`: the screen shows the win (a recent win at another table)."""

    win: Win
    shown: bool
    word_seq: int


class DisputedAward(Struct, frozen=True, forbid_unknown_fields=True):
    """A step of an award whose amount the table refused. The table believes the step once two people accept it."""

    step: AwardStepped
    accepted: bool = False


# What the controller noticed of itself and its links.


class JournalFoundBehindPit(Journalled, frozen=True):
    """The pit has acknowledged an event that this journal does not hold, or holds with other content.

    `at` is the time of that acknowledgement by the pit's clock. It is empty if an earlier version wrote the fact.
    """

    acked_seq: int
    head_seq: int
    chain_differs: bool
    at: str = ""


class PitTookBack(Journalled, frozen=True):
    """A newer acknowledgement by the pit fits this journal, so an older one that did not fit was wrong. `at` is the
    time of the newer acknowledgement, by the pit's clock."""

    acked_seq: int
    at: str


class PitKeyRotated(Journalled, frozen=True):
    """The pit's pinned key (`former`) signed its successor (`public_key`), which is pinned now. Both are in hex."""

    public_key: str
    former: str


class PitKeyDiffers(Journalled, frozen=True):
    """Somebody offers a pit key that is neither the pinned key nor signed by it. Both fields are fingerprints."""

    offered: str
    pinned: str


class PitWordForged(Journalled, frozen=True):
    """A message on the pit's topic `ack`, `award` or `meters` is not signed with the pit's pinned key."""

    topic: str


class RecognitionKeyDue(Journalled, frozen=True):
    """A message about wagers came, but no key of bet recognition has been adopted at this table."""


class WagerWordForged(Journalled, frozen=True):
    """A message on the topic `wager` is not signed with the adopted key. `why`: "unsigned" or "other_key"."""

    why: str


class WagerWordUnfit(Journalled, frozen=True):
    """A signed message of bet recognition is unusable. `why`: "unreadable", "other_table", "leaps" (in the future)."""

    why: str


class AwardRefused(Journalled, frozen=True):
    """The pit reported an award of an impossible amount for its hit: below `least_cents` or above `most_cents`."""

    step: AwardStepped
    least_cents: int
    most_cents: int


class PublishRefused(Journalled, frozen=True):
    """The broker refused an event with an MQTT 5 reason code of 0x80 or above."""

    seq: int
    reason_code: int


class HitUnheard(Journalled, frozen=True):
    """The broker accepted a hit, but nobody subscribes to hits (MQTT 5 reason code 0x10)."""

    seq: int


class JournalForked(Journalled, frozen=True):
    """The pit has signed a Merkle tree of `size` rows that does not fit this journal, which has `rows` rows."""

    size: int
    rows: int


class OutboxFilling(Journalled, frozen=True):
    """Many events wait for the pit's acknowledgement: four fifths of `most`, the largest allowed number."""

    waiting: int
    most: int


class OutboxFull(Journalled, frozen=True):
    """The largest allowed number of events (`most`) waits for the pit's acknowledgement. Noted between rounds only."""

    waiting: int
    most: int


class JournalLarge(Journalled, frozen=True):
    """The journal is larger than its limit in bytes, and none of its rows may be archived yet."""

    bytes: int
    most_bytes: int


class ArchiveFailed(Journalled, frozen=True):
    """Old rows of the journal could not be archived. They stay in the journal. `error` is a code."""

    error: str


class CommitFailed(Journalled, frozen=True):
    """The journal could not be written for a while. Everything was kept in memory, and has been written since.

    `error` is a code, such as SQLITE_FULL. In older journals `error` is a sentence that ends with the code.
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
    """Event `seq`, which the pit has not acknowledged, no longer stands in the journal as this table signed it."""

    seq: int


class CabinetOpened(Journalled, frozen=True):
    """The table's cabinet was opened, or was open at the start. The house's rules stop the table in this case."""


class CabinetOpeningNoted(Journalled, frozen=True):
    """The table's cabinet was opened, or was open at the start. The house's rules let the table go on in this case."""


class ProgramStarted(Journalled, frozen=True):
    """The program started on this journal, for the `boot`-th time. This is the run's first row. It makes no event.

    The row's salt is part of the chain value of each later event. So if the journal was replaced by an older copy, no
    event of a later run has the same chain value as an event that the copy lacks.
    """

    boot: int


class ProgramMeasured(Journalled, frozen=True):
    """The program or the configuration is not the one that ran last on this journal, or is the first: the program's
    version, and the digests of the program's files and of the configuration, in hex. The table measures at its start
    and once an hour.

    `approved` says whether the house has approved this program; None if the house names no approved program.
    """

    version: str
    program: str
    configuration: str
    approved: bool | None = None


class ReplayDiffered(Journalled, frozen=True):
    """At the start, replaying the journal's facts did not give the messages that are stored beside those facts."""

    row: int


class StepFailed(Journalled, frozen=True):
    """The program failed on the fact in the row before. Of that fact only its report counts, as the last one heard."""

    error: str
    report: Report | None = None


class ActRefused(Journalled, frozen=True):
    """A person asked for the act `act`, and the table refused it with the code `code`. Nothing changes.

    `by`: the name that the person gave. `more`: how many earlier refusals to the same user were left out, to save room.
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
    """Tell whether the shoe reports the fact's card as the first card of a new shoe."""
    return isinstance(fact, CardDrawn) and fact.target is Target.FIRST_CARD
