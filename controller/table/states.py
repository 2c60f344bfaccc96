"""The table's state: one frozen type for each phase, and the type `Table`, which holds the phase and everything that
lasts longer than a phase.

The function `step` makes every state from facts alone, so a replay of the journal makes the same states again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import eq
from typing import Literal, Self, overload

from msgspec import Struct, field

from controller.rules.game.cards import Card
from controller.rules.game.hands import Done, TwoHands
from controller.rules.game.play import Play
from controller.rules.game.seating import NOBODY, Actives, Seating
from controller.rules.game.settlement import Settlement
from controller.rules.game.wagers import RefusedWager, RoundAhead, Wager, closed_spots
from controller.table.facts import DisputedAward, OwnFact, ProgramMeasured, ProgressiveWagers, Report, SeatHit, ShoeFact
from controller.table.rules import TableRules


class Wagers(Struct, frozen=True):
    """The wagers of a round. `progressive` has each progressive bet that any seat wagered on.

    If the table knows all wagers, `placed` holds the wagers that count and `refused` the others. `levels` are the
    amounts in cents that the progressive meters showed last.
    """

    progressive: tuple[ProgressiveWagers, ...] = ()
    placed: tuple[Wager, ...] = ()
    refused: tuple[RefusedWager, ...] = ()
    levels: dict[str, int] = field(default_factory=dict)

    def on(self, spot: str) -> ProgressiveWagers:
        """Return the wagers on the progressive bet whose spot is `spot`."""
        return next((each for each in self.progressive if each.spot == spot), ProgressiveWagers(spot))


NO_WAGERS = Wagers()
"""The wagers of a simulated hand: none."""


class NoShoe(Struct, frozen=True):
    """The phase before any shoe has been announced."""


class FirstCardDue(Struct, frozen=True):
    """The phase after a shoe was announced: its first card must be drawn and turned up next."""


class Burning(Struct, frozen=True):
    """The phase after the shoe's first card was shown: `left` more cards must be burned, face down."""

    first_card: Card
    left: int


class WagersOpen(Struct, frozen=True):
    """The phase between two rounds in which wagers may be placed."""


class Paused(Struct, frozen=True):
    """The phase between two rounds in which the table is paused: no wager, no lock and no card until somebody resumes
    the table."""


class Locked(Struct, frozen=True):
    """The phase after wagers were locked: the round's first card must be drawn next."""

    wagers: Wagers
    seating: Seating = NOBODY


class KnownCard(Struct, frozen=True):
    """A card that left the shoe and whose rank and suit are known. `typed_by` names the one or two people who typed the
    card. It is empty if the shoe read the card."""

    card: Card
    typed_by: tuple[str, ...] = ()


class RoundInPlay(Struct, frozen=True):
    """The phase in which a round is dealt. `plays` are its cards and calls, in order. `wagers` is None in a simulated
    hand (a round without wagers).

    `ahead` are facts that must wait until face-down cards are turned up. `kept` are cards for this round that came
    before a call of the dealer and must wait for it. `typed` are the cards that people typed, by the card's number in
    the round, from 1.
    """

    plays: tuple[Play, ...]
    wagers: Wagers | None
    seating: Seating = NOBODY
    ahead: Waiting = field(default_factory=lambda: Waiting())
    kept: tuple[KnownCard, ...] = ()
    typed: dict[int, KnownCard] = field(default_factory=dict)


class ShoeEnded(Struct, frozen=True):
    """The phase after the shoe has ended: a new shoe must be announced next."""


Phase = NoShoe | FirstCardDue | Burning | WagersOpen | Paused | Locked | RoundInPlay | ShoeEnded

BetweenRounds = WagersOpen | Paused
"""The phases of an open shoe, once it is burned, in which no round is locked or in play."""


class Shoe(Struct, frozen=True):
    """What is known of the open shoe.

    `gone` counts how many copies of each card have left the shoe, in the order of `cards.DECK`; `unnamed` counts the
    cards that left and that nobody could name. `rounds` counts all rounds, simulated hands (rounds without wagers)
    included. `wagered_rounds` counts the wagered rounds that have begun. `final_round` is the number of the last
    wagered round. It is None until the cut card was seen. `burned` counts the cards that were put away before the first
    round, including the first card. `left_at_cut_card` is how many cards were left when the cut card came.
    `unseen_cards` counts the cards drawn in error of which somebody said that nobody had seen them.
    """

    number: int
    gone: tuple[int, ...] = (0,) * 52
    unnamed: int = 0
    rounds: int = 0
    wagered_rounds: int = 0
    final_round: int | None = None
    burned: int = 0
    left_at_cut_card: int | None = None
    unseen_cards: int = 0


class FinishedRound(Struct, frozen=True):
    """A round that was dealt to its end, with its wagers. `done` and `settlement` include later corrections.

    `settlement` is None if the table does not know the wagers, or if there were none.
    """

    number: int
    done: Done
    wagers: Wagers | None
    seating: Seating
    settlement: Settlement | None

    @property
    def simulated(self) -> bool:
        """True if the round was a simulated hand, that is, dealt without wagers after a card drawn in error."""
        return self.wagers is None


class Held(Struct, frozen=True):
    """A fact with what is in doubt about it. A fact is held if it came while a fault stood, if it raised the fault, or
    if it waits for face-down or kept cards.

    `after_gap`: reports were missed just before this fact. `in_doubt`: the shoe was not heard just before this fact,
    and the fact's frame equals the last frame before that silence, so the fact may be a late copy of the earlier
    report, or a new report that is like it. `typed_by`: who named the card of this fact, if the shoe did not.
    """

    fact: ShoeFact | OwnFact
    after_gap: bool = False
    in_doubt: bool = False
    typed_by: tuple[str, ...] = ()


class Waiting(Sequence[Held]):
    """An immutable list of the facts that wait, in the order in which they came.

    The method `then` takes the same time however many facts wait, because a longer list shares the facts of the list
    from which it was made.
    """

    __slots__ = ("_count", "_shared")

    def __init__(self, held: Iterable[Held] = ()) -> None:
        self._shared = list(held)
        self._count = len(self._shared)

    def then(self, held: Held) -> Self:
        """Return a new list that holds the facts of this list, followed by `held`."""
        more = type(self)()
        more._shared = self._shared if len(self._shared) == self._count else self._shared[: self._count]
        more._shared.append(held)
        more._count = self._count + 1
        return more

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Held]:
        return (self._shared[place] for place in range(self._count))

    @overload
    def __getitem__(self, place: int) -> Held: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Held]: ...
    def __getitem__(self, place: int | slice) -> Held | Sequence[Held]:
        return (
            self._shared[: self._count][place] if isinstance(place, slice) else self._shared[range(self._count)[place]]
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Waiting) and len(self) == len(other) and all(map(eq, self, other))

    def __repr__(self) -> str:
        return f"Waiting({self._shared[: self._count]})"


class StandingFault(Struct, frozen=True):
    """The fault that stops the table now. `details` are public, so they never reveal a face-down card.

    `raised_by` is the fact that raised the fault, or None if that fact does not wait for a person's decision. `id`
    identifies this stop of the table: "3-2" is the second stop of shoe 3. A later fault with the same code has another
    `id`.
    """

    code: str
    details: dict[str, str | int]
    raised_by: Held | None = None
    id: str = ""


class Table(Struct, frozen=True):
    """The whole state of a table.

    The rounds:
    - `finished`: the shoe's finished rounds. `last_round`: the round that is shown until the next round begins.
    - `hits`: the hits of the last wagered round, until wagers are locked again. A hit on a progressive meter stays
      until a person has handled it.
    - `kept`: cards that left the shoe too early and are the first cards of the next round. `kept_results`: the results
      that the shoe has reported for the rounds that these cards make. `chips_noted`: the seats whose sensor saw a wager
      when the first card of the next round left the shoe; None while no such card is out (`early_cards.py`).
    - `held`: the facts that came while the fault stood. `stops` counts the faults since this shoe was announced.
    - `doubts`: signs that the recorded cards of the present round may be wrong (`doubts.py`).
      `shoe_doubts`: signs that the table's count of the shoe may be wrong. `dealt_ms`: the time from the round's first
      card to its last card so far; None if nobody knows it.

    The shoe's reports:
    - `awaiting_result`: the round whose result the shoe has yet to report; "voided" if the shoe may still report a
      result for a round that was void or burned.
    - `burned_in_shoes_round`: True if a card was burned that the shoe counts as part of a round. Until the shoe reports
      that round's result, its opinions could reveal something about the card.
    - `last_report`: the report whose number the next report must follow. If the shoe was not heard for a time,
      `last_report` is None and `unheard_since` is that report, until another report comes.
    - `seq_counts_zero`: True if the shoe has gone on with 0 after 9 since it was switched on. Such a shoe always does.

    The seats and the pit:
    - `placed`: the chips for the next round. `occupied`: the seats with players. `commission_owed`: cents by seat.
    - `award_seq`: the number of the pit's last award step. `disputed`: the awards of an impossible amount.
    - `win_seq`: the number of the last win that the pit reported.
    - `pit_key`: the pit's public key in hex; None until a person has pinned a key.
    - `recognition_key`: bet recognition's public key in hex; None until two people have adopted a key. `wager_seq`:
      the highest number of a message signed with that key.
    - `measured`: the program and the configuration that run; None in a journal of an earlier version.
    - `measure_asked_at`: when the pit last asked which program runs, by the pit's clock. `pit_link_lost`: True after
      an alarm reported that the link to the pit is lost, until an alarm reports that it is back.
    """

    rules: TableRules
    phase: Phase = NoShoe()
    shoe: Shoe | None = None
    shoes_opened: int = 0
    kept: tuple[KnownCard, ...] = ()
    kept_results: tuple[Held, ...] = ()
    chips_noted: tuple[int, ...] | None = None
    finished: tuple[FinishedRound, ...] = ()
    last_round: FinishedRound | None = None
    hits: tuple[SeatHit, ...] = ()
    awaiting_result: TwoHands | Literal["voided"] | None = None
    burned_in_shoes_round: bool = False
    fault: StandingFault | None = None
    held: Waiting = field(default_factory=Waiting)
    last_report: Report | None = None
    unheard_since: Report | None = None
    seq_counts_zero: bool = False
    placed: tuple[Wager, ...] = ()
    occupied: tuple[int, ...] = ()
    actives: Actives | None = None
    commission_owed: dict[int, int] = field(default_factory=dict)
    award_seq: int = 0
    disputed: tuple[DisputedAward, ...] = ()
    stops: int = 0
    doubts: tuple[str, ...] = ()
    shoe_doubts: tuple[str, ...] = ()
    dealt_ms: int | None = 0
    pit_key: str | None = None
    measured: ProgramMeasured | None = None
    recognition_key: str | None = None
    wager_seq: int = 0
    win_seq: int = 0
    measure_asked_at: str = ""
    pit_link_lost: bool = False

    @property
    def round_number(self) -> int | None:
        """The number of the round whose wagers are locked or whose cards are dealt; None between rounds."""
        return self.shoe.rounds if self.shoe and isinstance(self.phase, Locked | RoundInPlay) else None

    @property
    def next_round(self) -> tuple[int, int] | None:
        """The number of the open shoe, and the number of the round that it deals next. None if no shoe is open."""
        return (self.shoe.number, self.shoe.rounds + 1) if self.shoe else None

    @property
    def closed_spots(self) -> frozenset[str]:
        """The spots that take no wagers in the next round of the open shoe."""
        if self.shoe is None or isinstance(self.phase, NoShoe | ShoeEnded):
            return frozenset()
        wagered = self.shoe.wagered_rounds + (2 if isinstance(self.phase, Locked) else 1)
        final = self.shoe.final_round is not None and wagered >= self.shoe.final_round
        return closed_spots(self.rules.wagers, self.rules.bets, RoundAhead(self.shoe.rounds + 1, final))

    @property
    def locked_wagers(self) -> Wagers | None:
        """The wagers of the round that is locked or in play. None between rounds, and in a round without wagers."""
        return self.phase.wagers if isinstance(self.phase, Locked | RoundInPlay) else None

    @property
    def owes_before_new_shoe(self) -> bool:
        """True if seats owe commission that must be collected, by the house's rules, before a new shoe begins."""
        return self.rules.shoe.commission_before_new_shoe and bool(self.commission_owed)

    @property
    def cards_left(self) -> int | None:
        """How many cards are still in the shoe, never below 0. None if there is no shoe."""
        if self.shoe is None:
            return None
        return max(0, 52 * self.rules.shoe.decks - sum(self.shoe.gone) - self.shoe.unnamed)
