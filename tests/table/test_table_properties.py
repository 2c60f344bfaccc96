"""Properties of the table that hold whatever happens. Cards come in any order, and may be missed, unreadable or
impossible. The shoe reports any result, and people perform any act."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.contract.keys import SigningKey
from controller.daemon.record.journal import Journal
from controller.daemon.record.journal_reading import verify
from controller.daemon.record.replay import replay
from controller.rules.game.cards import DECK, Card
from controller.rules.game.hands import TwoHands
from controller.table.acts.corrections import CorrectRound, RoundCorrected
from controller.table.acts.entry import Request
from controller.table.acts.itself import LampTest
from controller.table.acts.rounds import LockWagers, OddCardFate, RoundVoided, TellOddCard, VoidRound
from controller.table.acts.shoe import CloseShoe, NewShoe, SeeCutCard
from controller.table.acts.stopped import CardNamed, CardsCounted, ClearFault, CountCards, FaultCleared, NameCard
from controller.table.facts import (
    ArchiveFailed,
    BurnCountReported,
    CabinetOpened,
    CabinetOpeningNoted,
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    CommitFailed,
    CutCardDrawn,
    Fact,
    HitUnheard,
    JournalAltered,
    JournalGone,
    JournalLarge,
    OutboxFilling,
    OutboxFull,
    ProgramMeasured,
    ProgramStarted,
    PublishRefused,
    Report,
    ShoeError,
    ShoeErrorCancelled,
    ShoeErrorRaised,
    ShoeLockReported,
    ShoeOpened,
    ShoePoweredUp,
    ShoeResult,
    ShoeResultReported,
    ShoeStoodBy,
    ShoeUnplugged,
    Target,
)
from controller.table.lamps import Live, lamps
from controller.table.rules import TableRules
from controller.table.states import NoShoe, RoundInPlay, ShoeEnded, Table
from tests.support.contract import check_event
from tests.support.samples import at_length, examples
from tests.support.tables import TableUnderTest, house

CardFact = CardDrawn | CardKept | CardDrawnOutsideGame


def waiting(table: Table) -> int:
    """Return how many cards wait because of the present fault."""
    held = (table.fault.raised_by, *table.held) if table.fault else ()
    return sum(one is not None and isinstance(one.fact, CardFact) for one in held)


class CheckedTable(TableUnderTest):
    """A table under test whose properties are checked after every fact."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._came = 0  # cards that left the open shoe, by the shoe's and the people's word
        self._rounds_to_come: int | None = None  # wagered rounds that may end yet, once the cut card was seen

    def _step(self, fact: Fact) -> None:
        before, said = self.table, len(self.events)
        super()._step(fact)
        made = self.events[said:]
        self._check_fault(before, fact)
        self._check_cards(before, fact)
        self._check_final_round(before, [event for event in made if event["type"] == "round"])
        lamps(self.face, Live(frozenset({1}), pit_fresh=True, shoe_up=True, pit_up=True, journal_ok=True))

    def _check_fault(self, before: Table, fact: Fact) -> None:
        """Check that a fault stays until a person clears it, and that the table does nothing until then."""
        if before.fault is None or isinstance(fact, ShoeOpened | RoundVoided | CardNamed | CardsCounted | FaultCleared):
            return
        assert self.table.fault == before.fault
        if isinstance(fact, CardFact | CutCardDrawn | ShoeResultReported):
            assert (self.table.phase, self.table.shoe) == (before.phase, before.shoe)

    def _check_cards(self, before: Table, fact: Fact) -> None:
        """Check that the table counts every card that left the shoe exactly once: as gone, or as waiting because of a
        fault."""
        if isinstance(fact, ShoeOpened):
            self._came = sum(isinstance(carried, CardFact) for carried in fact.carried)
        named_a_missed_one = isinstance(fact, CardNamed) and waiting(self.table) == waiting(before)
        self._came += isinstance(fact, CardFact) or named_a_missed_one
        if isinstance(fact, RoundCorrected):
            (was,) = (round_.done for round_ in before.finished if round_.number == fact.round)
            assert isinstance(was, TwoHands)
            self._came += len(fact.player + fact.banker) - len(was.player + was.banker)
        shoe = self.table.shoe
        if shoe is None:
            return
        left, gone = self.table.cards_left, sum(shoe.gone) + shoe.unnamed
        assert left is not None
        assert left == max(0, 52 * self.table.rules.shoe.decks - gone)
        assert max(shoe.gone) <= self.table.rules.shoe.decks
        if not isinstance(self.table.phase, NoShoe | ShoeEnded):
            assert gone + waiting(self.table) == self._came

    def _check_final_round(self, before: Table, rounds: list[dict[str, object]]) -> None:
        """Check how many rounds are dealt after the cut card came. If a round with wagers is being dealt, that round is
        finished, and one more is dealt. Otherwise only one round is dealt."""
        if self.table.shoe is None or self.table.shoe.final_round is None:
            self._rounds_to_come = None
            return
        if self._rounds_to_come is None or before.shoe is None or before.shoe.number != self.table.shoe.number:
            in_play = isinstance(self.table.phase, RoundInPlay) and self.table.phase.wagers is not None
            self._rounds_to_come = 2 if in_play else 1
            return
        self._rounds_to_come -= sum(not round_["simulated"] for round_ in rounds)
        assert self._rounds_to_come >= 0

    def check_numbers(self) -> None:
        """Check that no round number is used twice, that nobody wagers after a shoe's last round, and that a second
        fault begins only after the first is cleared."""
        ended = [(event["shoe"], event["round"]) for event in self.events if event["type"] in ("round", "void")]
        locked = [(event["shoe"], event["round"]) for event in self.of_type("wagers_locked")]
        assert ended == sorted(set(ended))
        assert locked == sorted(set(locked))
        last = {round_["shoe"]: round_["round"] for round_ in self.of_type("round") if round_["final_round"]}
        assert all(number <= last.get(shoe, number) for shoe, number in locked)
        faults = [(event["type"], event["code"]) for event in self.events if event["type"].startswith("fault")]
        stood = [code for type_, code in faults if type_ == "fault"]
        assert faults == [(type_, code) for code in stood for type_ in ("fault", "fault_cleared")][: len(faults)]
        assert [event["shoe"] for event in self.of_type("shoe_opened")] == list(
            range(1, len(self.of_type("shoe_opened")) + 1)
        )


# What may come.

Happening = Callable[[CheckedTable], object]

CARDS = st.sampled_from(DECK)
HANDS = st.lists(CARDS, min_size=2, max_size=3).map(tuple)
BY = st.sampled_from(["Smith", "Jones", None])
MAYBE_REPORT = st.none() | st.builds(Report, seq=st.integers(0, 9), frame=st.just("05"))

REPORTS: st.SearchStrategy[Fact] = st.one_of(
    st.builds(
        CardDrawn,
        st.none() | CARDS,
        st.none() | st.sampled_from(Target),
        st.integers(0, 4),
        MAYBE_REPORT,
    ),
    st.builds(CardKept, st.none() | CARDS, st.sampled_from(Target), st.integers(1, 3), MAYBE_REPORT),
    st.builds(CardDrawnOutsideGame, st.sampled_from(["lock", "error", "setting"]), MAYBE_REPORT),
    st.builds(CutCardDrawn, st.sampled_from(["shoe", "dealer"]), MAYBE_REPORT),
    st.builds(BurnCountReported, st.integers(1, 10), MAYBE_REPORT),
    st.builds(ShoeResultReported, st.sampled_from(ShoeResult), st.booleans(), st.booleans(), MAYBE_REPORT),
    st.builds(ShoeErrorRaised, st.sampled_from(ShoeError), MAYBE_REPORT),
    st.builds(ShoeErrorCancelled, st.sampled_from(ShoeError), MAYBE_REPORT),
    st.builds(ShoePoweredUp, MAYBE_REPORT),
    st.builds(ShoeStoodBy, MAYBE_REPORT),
    st.builds(ShoeLockReported, st.booleans(), MAYBE_REPORT),
    st.builds(ShoeUnplugged),
    st.builds(CommitFailed, st.just("disk full")),
    st.builds(JournalGone, st.just("the journal was removed")),
    st.builds(JournalAltered, st.just(3)),
    st.builds(CabinetOpened),
    st.builds(CabinetOpeningNoted),
    st.builds(OutboxFilling, st.just(8), st.just(10)),
    st.builds(OutboxFull, st.just(10), st.just(10)),
    st.builds(JournalLarge, st.just(300), st.just(200)),
    st.builds(ArchiveFailed, st.just("disk full")),
    st.builds(PublishRefused, st.just(3), st.just(0x87)),
    st.builds(HitUnheard, st.just(3)),
    st.builds(ProgramStarted, st.just(7)),
    st.builds(ProgramMeasured, st.just("1"), st.sampled_from(["aa", "bb"]), st.sampled_from(["cc", "dd"])),
)
REQUESTS: st.SearchStrategy[Request] = st.one_of(
    st.builds(NewShoe, BY),
    st.builds(LockWagers),
    st.builds(SeeCutCard),
    st.builds(VoidRound, BY, BY),
    st.builds(NameCard, CARDS, BY, BY),
    st.builds(ClearFault, BY),
    st.builds(TellOddCard, st.sampled_from(OddCardFate), st.just("Smith"), BY),
    st.builds(CorrectRound, st.integers(1, 3), HANDS, HANDS, st.just("Smith"), st.sampled_from(["Jones", "smith"])),
    st.builds(CloseShoe, st.just("Smith")),
    st.builds(LampTest, st.just("Smith")),
)


def _a_card(table: CheckedTable, dice: Random) -> Card:
    """Return a random card. In 95 of 100 cases the shoe can still hold the card."""
    shoe, decks = table.table.shoe, table.table.rules.shoe.decks
    there = [card for card, gone in zip(DECK, shoe.gone, strict=True) if gone < decks] if shoe else DECK
    return dice.choice(there if there and dice.random() < 0.95 else DECK)


def _act(exit_: str, card: Card, left: int) -> Request:
    acts: dict[str, Request] = {
        "count": CountCards(left, "Smith"),
        "clear": ClearFault("Smith"),
        "card": NameCard(card, "Smith", "Jones"),
        "void": VoidRound("Smith", "Jones"),
        "new_shoe": NewShoe("Smith"),
    }
    return acts[exit_]


def go_on(seed: int) -> Happening:
    """Return a test step in which the people at the table act for some turns: they end a fault, announce a shoe, lock
    wagers, or draw cards."""

    def happens(table: CheckedTable) -> None:
        dice = Random(seed)
        for _ in range(dice.randint(1, 12)):
            card = _a_card(table, dice)
            if table.table.fault is not None:
                refused = table.ask(_act(dice.choice(sorted(table.exits)), card, table.face.cards_left or 0))
                assert refused in (None, "card_cannot_be"), "an exit that is told is open"
            elif table.face.phase in ("no_shoe", "shoe_ended"):
                table.do(NewShoe())
            elif table.face.odd_card and dice.random() < 0.3:
                table.do(TellOddCard(dice.choice(list(OddCardFate)), "Smith", "Jones"))
            elif table.face.phase == "wagers_open" and table.table.finished and dice.random() < 0.1:
                two, three = (tuple(_a_card(table, dice) for _ in range(count)) for count in (2, 3))
                refused = table.ask(CorrectRound(table.table.finished[-1].number, two, three, "Smith", "Jones"))
                assert refused in (None, "card_cannot_be")
            elif table.face.phase == "wagers_open" and dice.random() < 0.8:
                table.lock(dice.randint(1, 7))
            else:
                table.believe(CardDrawn(card))

    return happens


GO_ON = st.integers(0, 2**32).map(go_on)
COMES = REPORTS.map(lambda fact: lambda table: table.believe(fact))
FAILS = REPORTS.map(lambda fact: lambda table: table.fail_on(fact))
ASKED = REQUESTS.map(lambda request: lambda table: table.ask(request))
HAPPENINGS: st.SearchStrategy[list[Happening]] = st.lists(
    st.sampled_from([*[GO_ON] * 12, *[COMES] * 5, *[ASKED] * 2, FAILS]).flatmap(lambda kind: kind),
    min_size=15,
    max_size=40,
)
HOUSES: st.SearchStrategy[TableRules] = st.builds(
    house,
    lock_on=st.sampled_from(["deal", "first_card"]),
    decks=st.sampled_from([1, 2]),
    drawn_in_error=st.sampled_from(["simulated_hand", "burn", "next_card"]),
    burn_counts_first_card=st.booleans(),
)


@examples(33 if at_length else 20)
@given(HOUSES, HAPPENINGS)
def test_whatever_comes_the_table_holds_together_and_a_restart_makes_it_again(
    rules: TableRules, happenings: list[Happening]
) -> None:
    table = CheckedTable(rules)
    for happens in happenings:
        happens(table)
    table.check_numbers()
    assert table.replayed() == (table.table, None)


@examples(13)
@given(HOUSES, st.integers(0, 2**24), st.integers(0, 51))
def test_a_shoe_dealt_to_its_end_from_one_deck(rules: TableRules, seed: int, cut_after: int) -> None:
    """A shoe of one deck, dealt card by card to its end, raises no fault except that it may run out of cards."""
    order = Random(seed).sample(DECK, 52)
    table = CheckedTable(replace(rules, shoe=replace(rules.shoe, decks=1))).do(NewShoe())
    for place, card in enumerate(order):
        if place == cut_after:
            table.believe(CutCardDrawn("shoe"))
            if table.fault is not None:
                table.clear()
        if table.face.phase == "wagers_open":
            table.lock()
        if table.face.phase == "shoe_ended":
            break
        table.believe(CardDrawn(card))
        assert table.fault in (None, "shoe_exhausted")
    table.check_numbers()
    (closed,) = table.of_type("shoe_closed")
    assert closed["reason"] in ("final_round", "too_few_cards")
    assert closed["rounds"] == closed["wagered_rounds"] == len(table.of_type("round"))


@examples(8)
@given(HOUSES, HAPPENINGS)
def test_the_journal_on_the_disk_gives_the_same_table(rules: TableRules, happenings: list[Happening]) -> None:
    table = CheckedTable(rules)
    for happens in happenings:
        happens(table)
    key = SigningKey(bytes(range(32)))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.journal"
        journal = Journal(path, rules.table, key, key.public)
        messages = journal.append(table.entries)
        assert replay(journal.open_shoe(), rules, rules.table, journal.epoch) == (table.table, None)
        assert verify(path).rows == len(table.rows)
        journal.close()
    assert [check_event(message.body)["type"] for message in messages] == [event["type"] for event in table.events]
