"""Checks of Midi, at which players turn up the cards. Before a face-down card is turned up, nothing shows what it is:
no message, no lamp, and no message that fails to come.

Each test compares two shoes that differ only in cards that nobody has seen. They must look the same to a person who
sees everything except the journal.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle, groupby
from typing import Any, Literal, Self, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.rules.game.cards import DECK, Card, total
from controller.table.acts.entry import Request
from controller.table.acts.rounds import LockWagers, VoidRound
from controller.table.acts.shoe import NewShoe
from controller.table.acts.stopped import ClearFault, CountCards, NameCard
from controller.table.face_down import hides_cards
from controller.table.facts import (
    CardDrawn,
    CardDrawnOutsideGame,
    CardKept,
    CutCardDrawn,
    ShoeError,
    ShoeErrorRaised,
    ShoePoweredUp,
    ShoeResult,
    ShoeResultReported,
    ShoeStoodBy,
    ShoeUnplugged,
    Target,
)
from controller.table.lamps import Pattern, lamps
from controller.table.states import KnownCard
from tests.support.five_games import HEALTHY, SUGARHOUSE_MIDI, Watched, call, dealt, turns, wager, wagers
from tests.support.samples import examples
from tests.support.tables import TableUnderTest, cards, hand, house

INPUT, HAND_END = dealt(SUGARHOUSE_MIDI, "input"), dealt(SUGARHOUSE_MIDI, "hand_end")
CARDS = st.sampled_from(DECK)
FOUR = st.lists(CARDS, min_size=4, max_size=4)
IN_ONE_DECK = st.lists(
    st.sampled_from([card for card in DECK if str(card) not in ("2D", "3H", "4C")]), min_size=7, max_size=7, unique=True
)


def midi(rules: Any = INPUT, bets: str = "2 player 2000, 5 banker 2500") -> Watched:
    table = Watched(rules).open_shoe("2D 3H 4C")
    return table.do(*wagers(bets)).lock()


# A person beside the table, who knows the sheet and the journal but not the code, says which cards are up.


class Felt:
    """A model of a round of Midi on the felt, dealt by the rule sheet alone: which hand draws next, and which cards
    have been turned up."""

    def __init__(self) -> None:
        self.player: list[Card] = []
        self.banker: list[Card] = []
        self.turned = 0

    @property
    def dealt(self) -> int:
        return len(self.player) + len(self.banker)

    def takes(self) -> str | None:
        """Return which hand takes the next card, or None if the round is complete. Sheet 004 says "The first and third
        cards are the Player Hand". The drawing table decides the rest."""
        if self.dealt < 4:
            return "player" if self.dealt % 2 == 0 else "banker"
        player, banker = total(self.player[:2]), total(self.banker[:2])
        if max(player, banker) >= 8 or len(self.banker) == 3:
            return None
        if player <= 5 and len(self.player) == 2:
            return "player"
        if player >= 6:
            return "banker" if banker <= 5 else None
        third = self.player[2].points
        draws = {3: third != 8, 4: 2 <= third <= 7, 5: 4 <= third <= 7, 6: third in (6, 7), 7: False}
        return "banker" if draws.get(banker, True) else None

    def deal(self, card: Card) -> None:
        side = self.takes()
        assert side is not None
        (self.player if side == "player" else self.banker).append(card)

    def face(self, hand_: str) -> tuple[str, ...]:
        """Return the hand's cards as everybody may see them, with "--" for each card that lies face down."""
        lies = self.player if hand_ == "player" else self.banker
        if self.turned == 0:
            return ("--",) * len(lies)
        up = lies[:2] + [card for card in lies[2:] if self._third_is_up(hand_)]
        return tuple(map(str, up)) + ("--",) * (len(lies) - len(up))

    def _third_is_up(self, hand_: str) -> bool:
        order = [side for side, lies in (("player", self.player), ("banker", self.banker)) if len(lies) == 3]
        return 4 + order.index(hand_) < self.turned


@examples(20)
@given(st.lists(CARDS, min_size=6, max_size=6))
def test_exactly_what_was_turned_up_is_shown_and_told(six: list[Card]) -> None:
    table, felt, coming = midi(), Felt(), iter(six)
    while felt.takes() is not None or felt.turned < felt.dealt:
        if felt.dealt >= 4 and felt.turned < felt.dealt:
            assert table.face.reveal == tuple(side for side in ("player", "banker") if "--" in felt.face(side))
            assert table.face.next_hand is None, "who draws next would tell the cards"
            assert table.of_type("round") == []
            felt.turned = felt.dealt
            table.do(call("reveal"))
        else:
            assert table.face.next_hand == felt.takes()
            card = next(coming)
            felt.deal(card)
            table.drawn(card)
        if felt.takes() is not None or felt.turned < felt.dealt:
            assert [hand(table.face, side).cards for side in ("player", "banker")] == [
                felt.face(side) for side in ("player", "banker")
            ]
    (told,) = table.of_type("round")
    assert told["player"]["cards"] == [str(card) for card in felt.player]
    assert told["banker"]["cards"] == [str(card) for card in felt.banker]
    assert table.replayed() == (table.table, None)


# Two shoes, seen side by side.


Mishap = Literal[
    "unreadable", "missed", "impossible", "shoe error", "power up", "unplugged", "outside game", "cut card", "calls",
    "nothing",
]  # fmt: skip
MISHAPS: tuple[Mishap, ...] = get_args(Mishap)
AHEAD: st.SearchStrategy[Mishap] = st.sampled_from(("nothing", "missed", "unreadable", "impossible", "shoe error"))


class Asked(Watched):
    """A table whose visible state is recorded after each fact. The record includes which requests the table refuses,
    because an onlooker can try them."""

    def asked(self, *requests: Request) -> Self:
        for request in requests:
            if (refused := self.ask(request)) is not None:
                self.seen.append(("refused", refused))
        return self

    def changes(self) -> list[str]:
        """Return the visible states of the table in order. If a state follows an equal state, leave it out."""
        return [shown for shown, _ in groupby(shown for _, shown in self.seen)]


ONE_DECK = house(INPUT, decks=1)


def four_down(four: list[Card], mishaps: list[Mishap]) -> Asked:
    """Return a table after the first four cards of a round came, face down. `mishaps` says what went wrong at each
    card, such as an unreadable face. 2D, 3H and 4C were burned before."""
    table = Asked(ONE_DECK).open_shoe("2D 3H 4C").do(*wagers("2 player 2000, 5 banker 2500")).lock()
    table.believe(ShoeStoodBy(table.report(None)))
    for card, mishap in zip(four, mishaps, strict=True):
        comes(table, card, mishap)
    return table.asked(call("stand"))


def comes(table: Asked, card: Card, mishap: Mishap) -> None:
    """Let the card come to the table with the given mishap, such as an unreadable face. Then let people repair the
    mishap."""
    match mishap:
        case "unreadable":
            table.believe(CardDrawn(None, report=table.report(card)))
            table.do(NameCard(card, "Smith"))
        case "missed":
            table.drawn(card, missed=3).do(ClearFault("Smith"))
        case "impossible":
            table.drawn(Card.parse("2D")).do(NameCard(card, "Smith"))  # it was this one-deck shoe's first card
        case "shoe error":
            table.believe(ShoeErrorRaised(ShoeError.DRAW_TIMEOUT, table.report(None))).drawn(card)
            table.do(ClearFault("Smith"))
        case "power up":
            table.believe(ShoePoweredUp(table.report(None))).do(NameCard(card, "Smith"))
            table.do(CountCards(table.face.cards_left or 0, "Smith"))
        case "unplugged":
            table.believe(ShoeUnplugged()).do(NameCard(card, "Smith"), ClearFault("Smith"))
        case "outside game":
            table.believe(CardDrawnOutsideGame("error", table.report(None))).do(NameCard(card, "Smith"))
        case "cut card":
            table.believe(CutCardDrawn("shoe", table.report(None))).drawn(card)
        case "calls":
            table.asked(*map(call, ("reveal", "hit", "stand", "split"))).drawn(card)
        case "nothing":
            table.drawn(card)


@examples(20)
@given(IN_ONE_DECK, IN_ONE_DECK, st.lists(st.sampled_from(MISHAPS), min_size=4, max_size=4, unique=True))
def test_four_cards_face_down_tell_nothing(these: list[Card], those: list[Card], mishaps: list[Mishap]) -> None:
    """Until the dealer presses `reveal`, four face-down cards look the same to an onlooker. Nothing shows whether they
    hold a natural, or whether Player or Banker will draw."""
    these, those = these[:4], those[:4]
    seen = [four_down(four, mishaps) for four in (these, those)]
    assert seen[0].face.reveal == ("player", "banker")
    assert seen[0].seen == seen[1].seen
    for table, four in zip(seen, (these, those), strict=True):
        told = json.dumps([event for event in table.events if event["type"] != "shoe_opened"])
        assert not [card for card in four if f'"{card}"' in told]


@examples(20)
@given(IN_ONE_DECK, IN_ONE_DECK, st.integers(0, 3), st.booleans(), st.lists(AHEAD, min_size=3, max_size=3))
def test_what_comes_ahead_of_reveal_waits_and_tells_nothing(
    these: list[Card], those: list[Card], count: int, result: bool, mishaps: list[Mishap]
) -> None:
    """If the dealer draws cards before pressing `reveal`, the cards wait, and an onlooker sees only their number."""

    def play(seven: list[Card], ends: ShoeResult, pair: bool) -> Asked:
        table = four_down(seven[:4], ["nothing"] * 4)
        for card, mishap in zip(seven[4 : 4 + count], mishaps, strict=False):
            comes(table, card, mishap)
        if result:
            table.believe(ShoeResultReported(ends, pair, not pair, table.report(None)))
        return table

    one, two = play(these, ShoeResult.PLAYER, True), play(those, ShoeResult.BANKER, False)
    assert one.seen == two.seen
    assert (one.fault, one.face.reveal) == (None, ("player", "banker"))
    assert hand(one.face, "player").cards == ("--", "--"), "nothing that came ahead lies on the felt yet"
    assert one.face.cards_left == 52 - 3 - 4 - count


@examples(20)
@given(IN_ONE_DECK, IN_ONE_DECK, st.integers(0, 3), st.sampled_from(["dealt", "held", "in error"]))
def test_whether_the_shoe_says_that_the_hand_is_over_is_seen_by_nobody(
    these: list[Card], those: list[Card], count: int, how: str
) -> None:
    """An onlooker cannot see that the shoe has reported its result. The shoe reports the result as soon as the round is
    complete, so a visible report would show whether a third card is due."""
    tables = []
    for seven in (these, those):
        table = Asked(ONE_DECK).open_shoe("2D 3H 4C")
        if how != "in error":
            table.lock()
        if how == "held":
            table.believe(ShoeErrorRaised(ShoeError.DRAW_TIMEOUT, table.report(None)))
        hidden: list[bool] = []
        felt = Felt()
        for card in seven[: 4 + count]:
            table.drawn(card)
            felt.deal(card)
            if felt.takes() is None:
                table.believe(ShoeResultReported(ShoeResult.TIE, False, False, table.report(card)))
                felt = Felt()
            hidden.append(hides_cards(table.table))
        if how == "held":
            table.do(ClearFault("Smith"))
        assert all(hidden), "so no bad byte is told either"
        tables.append(table)
    assert tables[0].changes() == tables[1].changes()
    assert (tables[0].fault, tables[0].face.reveal) == (None, ("player", "banker"))


@examples(20)
@given(IN_ONE_DECK.filter(lambda four: total(four[:4:2]) <= 5 and total(four[1:4:2]) <= 7))
def test_players_third_card_tells_nothing_before_it_is_turned_up(cards: list[Card]) -> None:
    """While Player's third card lies face down, the table tells nobody which hand draws next, because that card decides
    whether Banker draws."""
    tables = [four_down(cards[:4], ["nothing"] * 4).do(call("reveal")).drawn(third) for third in cards[4:6]]
    assert tables[0].seen == tables[1].seen
    assert (tables[0].face.reveal, tables[0].face.next_hand) == (("player",), None)
    assert hand(tables[0].face, "player").cards[2] == "--"


@examples(20)
@given(FOUR, FOUR)
def test_at_hand_end_who_draws_next_is_told_to_nobody(these: list[Card], those: list[Card]) -> None:
    """At a table without a `reveal` button, all cards are turned up when the round ends. Until the round ends, the
    table does not show which hand draws next."""
    tables = []
    for four in (these, those):
        table = midi(HAND_END)
        for card in four:
            table.drawn(card)
        tables.append(table)
    ended = [bool(table.of_type("round")) for table in tables]
    assert ended == [_ends_on(four) for four in (these, those)]
    if not any(ended):
        assert tables[0].seen == tables[1].seen
        assert (tables[0].face.next_hand, tables[0].face.reveal) == (None, ())


def _goes_on(four: list[Card]) -> bool:
    player, banker = total(four[:4:2]), total(four[1:4:2])
    return max(player, banker) < 8 and (player <= 5 or banker <= 5)


@pytest.mark.parametrize("mishap", ["unreadable", "missed", "impossible", "shoe error", "overdrawn and kept"])
@examples(10)
@given(these=IN_ONE_DECK.filter(_goes_on), those=IN_ONE_DECK.filter(_goes_on))
def test_at_hand_end_what_goes_wrong_with_the_fifth_card_does_not_tell_whose_it_is(
    mishap: str, these: list[Card], those: list[Card]
) -> None:
    tables = []
    for seven in (these, those):
        table = Watched(house(HAND_END, decks=1)).open_shoe("2D 3H 4C").lock()
        table.believe(ShoeStoodBy(table.report(None)))
        for card in seven[:4]:
            table.drawn(card)
        match mishap:
            case "unreadable":
                table.believe(CardDrawn(None, report=table.report(seven[4])))
            case "missed":
                table.drawn(seven[4], missed=2)
            case "impossible":
                table.drawn(Card.parse("2D"))
            case "shoe error":
                table.believe(ShoeErrorRaised(ShoeError.CANNOT_READ, table.report(None))).drawn(seven[4])
            case _:
                table.believe(CardKept(seven[4], report=table.report(seven[4])))
        tables.append(table)
    assert tables[0].seen == tables[1].seen


def _result(card: Card) -> tuple[ShoeResult, bool, bool]:
    """Return a result that the shoe could report, with its two flags for pairs. The result depends on the card, so a
    table that showed the result would betray the card."""
    return (ShoeResult.TIE if card.points else ShoeResult.PLAYER, card.points > 4, card.points % 2 == 0)


Happening = Callable[[Asked, Card], object]

# Whatever may happen at a midi table, to the next card of the shoe or beside it.
HAPPENINGS: dict[str, Happening] = {
    "card": lambda table, card: table.drawn(card),
    "a second": lambda table, card: table.drawn(card),
    "a third": lambda table, card: table.drawn(card),
    "a fourth": lambda table, card: table.drawn(card),
    "after a gap": lambda table, card: table.drawn(card, missed=2),
    "unreadable": lambda table, card: table.believe(CardDrawn(None, report=table.report(card))),
    "kept": lambda table, card: table.believe(CardKept(card, report=table.report(card))),
    "outside the game": lambda table, card: table.believe(CardDrawnOutsideGame("error", table.report(card))),
    "cut card": lambda table, _: table.believe(CutCardDrawn("shoe", table.report(None))),
    "shoe error": lambda table, _: table.believe(ShoeErrorRaised(ShoeError.CARD_CODE, table.report(None))),
    "power up": lambda table, _: table.believe(ShoePoweredUp(table.report(None))),
    "unplugged": lambda table, _: table.believe(ShoeUnplugged()),
    "force quit": lambda table, _: table.believe(
        ShoeResultReported(ShoeResult.FORCE_QUIT, False, False, table.report(None))
    ),
    "result": lambda table, card: table.believe(ShoeResultReported(*_result(card), table.report(card))),
    "named": lambda table, card: table.asked(NameCard(card, "Smith")),
    "cleared": lambda table, _: table.asked(ClearFault("Smith")),
    "cleared again": lambda table, _: table.asked(ClearFault("Smith")),
    "void": lambda table, _: table.asked(VoidRound("Smith")),
    "lock": lambda table, _: table.asked(LockWagers()),
    "hit": lambda table, _: table.asked(call("hit")),
    "chips": lambda table, _: table.asked(wager("3 banker 2000")),
    "a new shoe": lambda table, _: table.asked(NewShoe("Smith")),
}


@pytest.mark.parametrize("rules", [INPUT, HAND_END], ids=["input", "hand_end"])
@examples(20)
@given(
    happens=st.lists(st.sampled_from(sorted(HAPPENINGS)), max_size=25),
    these=st.lists(CARDS, min_size=25, max_size=25),
    those=st.lists(CARDS, min_size=25, max_size=25),
)
def test_until_cards_are_turned_up_nothing_that_may_happen_tells_them(
    rules: Any, happens: list[str], these: list[Card], those: list[Card]
) -> None:
    tables = []
    for _ in range(2):
        table = Asked(rules).open_shoe("2D 3H 4C").do(*wagers("2 player 2000, 5 banker 2500")).lock()
        tables.append(table.believe(ShoeStoodBy(table.report(None))))
    for happening, this, that in zip(happens, these, those, strict=False):
        HAPPENINGS[happening](tables[0], this)
        HAPPENINGS[happening](tables[1], that)
        if any(_is_up(table) for table in tables):
            return
        assert tables[0].seen[-3:] == tables[1].seen[-3:], happening
    assert tables[0].seen == tables[1].seen


def _is_up(table: Watched) -> bool:
    """Tell whether a card of the round, or a shoe's first card, is visible, or the round has ended. From that moment
    two shoes with different cards may look different."""
    laid_in_sight = {card for each in table.face.hands for card in each.cards} - {"--"}
    drawn_fifth = any(len(each.cards) == 3 for each in table.face.hands)  # whose it is can be seen on the felt
    return bool(table.of_type("round") or laid_in_sight or table.face.first_card or drawn_fifth)


def _ends_on(four: list[Card]) -> bool:
    player, banker = total(four[::2]), total(four[1::2])
    return max(player, banker) >= 8 or (player >= 6 and banker >= 6)


@examples(20)
@given(IN_ONE_DECK, IN_ONE_DECK)
def test_a_void_hand_takes_its_cards_with_it(these: list[Card], those: list[Card]) -> None:
    tables = [four_down(four[:4], ["nothing"] * 4).do(VoidRound("Smith")) for four in (these, those)]
    assert tables[0].seen == tables[1].seen
    (void,) = tables[0].of_type("void")
    assert [row["result"] for row in void["settlement"]["wagers"]] == ["returned", "returned"]
    assert void["settlement"]["totals"]["returned_cents"] == 4500


def test_a_void_hands_cards_that_came_ahead_are_gone_from_the_shoe() -> None:
    table = midi().draw("4S TH 5D 9C 2H 3H").do(VoidRound("Smith"))
    assert (table.face.phase, table.face.cards_left, table.face.hands) == ("wagers_open", 416 - 9, ())
    table.do(*wagers("2 player 2000")).lock()
    assert table.face.hands == (), "they are not the next hand's"


# The shoe's opinions.


@pytest.mark.parametrize("rules", [INPUT, HAND_END], ids=["input", "hand_end"])
@pytest.mark.parametrize("dealt_so_far", [1, 2, 3])
def test_a_result_reported_too_soon_does_not_tell_what_the_shoe_knows(rules: Any, dealt_so_far: int) -> None:
    tables = []
    for said, pair in ((ShoeResult.PLAYER, True), (ShoeResult.BANKER, False)):
        table = midi(rules)
        for card in cards("4S TH 4D")[:dealt_so_far]:
            table.drawn(card)
        tables.append(table.believe(ShoeResultReported(said, pair, not pair, table.report(None))))
    assert tables[0].fault == "result_differs"
    assert tables[0].seen == tables[1].seen


def test_a_result_before_the_end_does_not_tell_four_cards_that_lie_face_down() -> None:
    tables = []
    for said, pair in ((ShoeResult.PLAYER, True), (ShoeResult.BANKER, False)):
        table = midi(HAND_END)
        for card in cards("4S 2H AD 2D"):
            table.drawn(card)
        tables.append(table.believe(ShoeResultReported(said, pair, not pair, table.report(None))))
    assert tables[0].fault == "result_differs"
    assert tables[0].seen == tables[1].seen


def test_a_result_that_waits_is_compared_once_everything_is_turned_up() -> None:
    table = midi().draw("4S TH 5D 9C")
    table.believe(ShoeResultReported(ShoeResult.TIE, player_pair=False, banker_pair=False))
    assert (table.fault, table.of_type("round")) == (None, [])
    table.do(call("reveal"))
    assert (table.fault, len(table.of_type("round"))) == (None, 1)


def test_a_result_that_differs_is_told_after_reveal_with_both_opinions() -> None:
    table = midi().draw("4S TH 5D 9C")
    table.believe(ShoeResultReported(ShoeResult.BANKER, player_pair=False, banker_pair=False))
    assert table.fault is None
    table.do(call("reveal"))
    assert table.details == {"shoe_says": "banker", "rules_say": "tie"}
    assert table.told_types()[-2:] == ["round", "fault result_differs"]


def test_where_the_shoe_puts_a_card_is_not_compared_aloud_while_cards_lie_face_down() -> None:
    """If the shoe puts a card in another place than the rules, and four cards lie face down, the table's fault names
    neither place. At this table cards are turned up only when the round ends."""
    table = midi(HAND_END).draw("4S 2H AD 2D").believe(CardDrawn(Card.parse("3C"), Target.BANKER, 3))
    assert (table.fault, table.details) == ("target_differs", {})


@pytest.mark.parametrize("came", ["??", "impossible"])
def test_a_bad_card_ahead_of_reveal_names_neither_itself_nor_its_hand(came: str) -> None:
    table = Watched(house(INPUT, decks=1, fewest_cards_to_open=6)).open_shoe("2D 3H 4C").lock().draw("4S TH 5D 8C")
    table.draw("??" if came == "??" else "2D")
    assert table.details == {"where": "hand"}
    told = json.dumps(table.told())
    assert "2D" not in told.replace('"2D 3H"', "")


# A reveal is pressed where it is due, and there alone.


def test_reveal_is_refused_before_four_cards_lie_and_once_they_are_turned_up() -> None:
    table = midi()
    for card in cards("4S TH AD 2C"):
        assert table.ask(call("reveal")) == "no_call_due"
        table.drawn(card)
    assert [table.ask(call(name)) for name in ("hit", "stand", "split")] == ["reveal_due"] * 3
    table.do(call("reveal"))
    assert table.ask(call("reveal")) == "no_call_due", "Player's third card is to come"
    assert table.face.next_hand == "player"
    table.draw("2S")
    assert (table.face.reveal, table.of_type("round")) == (("player",), [])
    table.do(call("reveal")).draw("7C")
    assert (table.face.reveal, table.of_type("round")) == (("banker",), [])
    table.do(call("reveal"))
    assert (len(table.of_type("round")), table.ask(call("reveal"))) == (1, "no_call_due")


def test_reveal_is_refused_while_a_fault_stands() -> None:
    table = midi().draw("4S TH AD 2C ??")
    assert (table.fault, table.ask(call("reveal"))) == ("unreadable_card", "fault_stands")


def test_an_overdrawn_card_that_the_shoe_keeps_is_never_this_hands() -> None:
    """A card that the shoe keeps after an overdraw (one card too many) belongs to the next round, whether or not this
    round still takes cards. The rule holds in a face-up game too, where the dealer turns up every card."""
    mini = Watched(dealt(INPUT, "dealt")).open_shoe().do(wager("2 player 2000")).lock().draw("4S TH AD 2C")
    mini.believe(CardKept(Card.parse("3D")))
    assert mini.table.kept == (KnownCard(Card.parse("3D")),)
    table = midi().draw("4S TH AD 2C").believe(CardKept(Card.parse("3D"))).do(call("reveal"))
    assert hand(table.face, "player").cards == ("4S", "AD")
    assert table.table.kept == (KnownCard(Card.parse("3D")),)


def test_a_card_ahead_of_a_naturals_reveal_opens_a_simulated_hand_after_it() -> None:
    table = midi().draw("4S TH 5D 9C 2H")
    assert table.of_type("round") == []
    table.do(call("reveal"))
    assert (len(table.of_type("round")), table.face.simulated, hand(table.face, "player").cards) == (1, True, ("--",))


def test_a_simulated_hand_is_dealt_face_down_too_and_turned_up_by_the_dealer() -> None:
    table = Watched(INPUT).open_shoe().draw("4S TH 5D 9C")
    assert (table.face.simulated, table.face.reveal, table.of_type("round")) == (True, ("player", "banker"), [])
    assert table.face.squeezing == {"player": None, "banker": None}
    table.do(call("reveal"))
    assert [event["simulated"] for event in table.of_type("round")] == [True]


# The seats that squeeze.


@pytest.mark.parametrize(
    ("bets", "player", "banker"),
    [
        ("2 player 2000, 5 banker 2500", 2, 5),
        ("2 player 2000, 3 player 2500, 5 banker 2500, 6 banker 2000", 3, 5),
        ("6 player 2000, 4 player 2000", 4, None),
        ("6 banker 2000, 4 banker 2000", None, 4),
        ("1 tie 2000", None, None),
    ],
    ids=["one each", "the largest", "equal: the lowest number", "banker alone", "the dealer holds both"],
)
def test_the_largest_wager_on_a_side_squeezes_its_cards(bets: str, player: int | None, banker: int | None) -> None:
    table = midi(bets=bets)
    assert table.face.squeezing == {"player": player, "banker": banker}
    table.draw("4S TH AD")
    assert turns(table) == set(), "they are not all dealt yet"
    table.draw("2C")
    assert turns(table) == {player, banker} - {None}
    assert _guided(table) == {"draw_player": Pattern.DOUBLE_FLASH, "draw_banker": Pattern.DOUBLE_FLASH}
    table.do(call("reveal"))
    assert turns(table) == set()
    table.draw("2S")
    assert turns(table) == {player} - {None}, "Player's third card lies with Player's squeezer"
    assert _guided(table) == {"draw_player": Pattern.DOUBLE_FLASH, "draw_banker": Pattern.DARK}
    table.do(call("reveal")).draw("7C")
    assert turns(table) == {banker} - {None}
    table.do(call("reveal"))
    assert (table.face.squeezing, len(table.of_type("round"))) == ({}, 1)


def test_a_back_bet_counts_for_the_circle_it_lies_in() -> None:
    rules = replace(INPUT, wagers=replace(INPUT.wagers, back_bettors=True))
    table = midi(rules, "2 player 2000, 3 player 1500, 3b player 1500")
    assert table.face.squeezing == {"player": 3, "banker": None}


def test_a_wager_refused_at_lock_squeezes_nothing() -> None:
    table = midi(bets="2 player 1000, 3 player 1500")
    assert table.face.squeezing == {"player": 3, "banker": None}


def _guided(table: TableUnderTest) -> dict[str, Pattern]:
    return {name: pattern for name, pattern in lamps(table.face, HEALTHY).items() if name.startswith("draw_")}


# After a power cut.


@examples(13)
@given(st.lists(CARDS, min_size=8, max_size=40), st.lists(st.integers(0, 9), min_size=8, max_size=40))
def test_a_restart_at_any_moment_gives_the_same_table(drawn: list[Card], acts: list[int]) -> None:
    table = midi()
    for card, act in zip(drawn, cycle(acts), strict=False):
        table.drawn(card)
        if act > 3:
            table.ask(call("reveal"))
        if act == 9:
            table.ask(VoidRound("Smith"))
        table.ask(ClearFault("Smith"))
        assert table.replayed() == (table.table, None)


def test_a_new_shoe_begins_with_nothing_of_the_last_ones_cards() -> None:
    table = midi().draw("4S TH 5D 9C 2H").do(VoidRound("Smith")).do(NewShoe("Smith"))
    assert (table.face.hands, table.table.kept, table.face.cards_left) == ((), (), 416)
