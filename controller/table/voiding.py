"""What a void takes away: which cards of the round were seen, and which awards its wagers had already won.

A void takes away awards that were won. So the event of the void names the cards that were seen, and the awards that
these cards made certain. If an award is certain, two people must agree to the void. Example: seat 1, where KS and 9S
are printed, has a progressive wager. Player's two cards are KS 9S, and Banker's second card has not come. Whatever that
card is, seat 1 wins an award. Two people must also agree if the table cannot rule out an award, because cards lie face
down or were drawn unheard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from controller.contract import events
from controller.contract.events import FACE_DOWN
from controller.rules.game.cards import DECK, Card
from controller.rules.game.hands import Done
from controller.rules.game.play import Call, Choose, Draw, Play, Reveal
from controller.rules.game.settlement import Settlement
from controller.rules.game.wagers import Wager
from controller.table import paying
from controller.table.facts import CardDrawn, CardDrawnOutsideGame, CardKept, ShoeUnheard, ShoeUnplugged
from controller.table.states import Held, Locked, RoundInPlay, Table, Wagers
from controller.table.stops import is_card, raiser, shoe_number

_MOST_ENDS = 1000
"""At most so many ends of a round are looked at. After three cards with a natural among them, 52 ends are left."""

_CARDS_UNHEARD = ("reports_missed", "shoe_restarted", "shoe_unplugged", "shoe_unheard", "internal", "replay_differs")
"""The faults in which cards may lie on the felt of which the table has not heard."""


class Decided(Struct, frozen=True):
    """What the visible cards have decided about a round that is not finished. `awards` are the awards that are certain,
    whatever cards come, each with the lowest tier that is possible. `settlement` is the settlement to which every
    possible end of the round leads. It is None if different ends lead to different settlements.

    `unknown` is True if cards lie on the felt that the table does not know or that nobody has turned up, or if too many
    ends of the round are possible.
    """

    awards: tuple[paying.Won, ...] = ()
    settlement: Settlement | None = None
    unknown: bool = False


def plays_for_awards(table: Table) -> bool:
    """Tell whether a progressive wager counts in the round that is locked or in play. If so, some decisions need two
    people.

    The answer is always False for a shoe that an earlier version of the program opened. In such a shoe, one person
    decides, as under that version.
    """
    wagers = table.locked_wagers
    return table.rules.procedure > 2 and wagers is not None and any(on.seats for on in wagers.progressive)


def needs_two(table: Table) -> bool:
    """Tell whether two people must agree to a void of the round, because a progressive wager has won an award or may
    have won one."""
    wagers = table.locked_wagers
    if wagers is None or not plays_for_awards(table):
        return False
    decided = _decided(table, wagers)
    return bool(decided.awards) or decided.unknown


def void_event(table: Table, by: str, reason: str, witness: str | None = None) -> events.Void:
    """Return the event that reports that the round in play ended without a result."""
    wagers = table.locked_wagers
    told = table.rules.procedure > 2
    decided = _decided(table, wagers) if told and wagers is not None else Decided()
    return events.Void(
        shoe=shoe_number(table),
        round=table.round_number,
        by=by,
        witness=witness,
        reason=reason,
        simulated=wagers is None,
        progressive=paying.progressive_shown(wagers),
        settlement=paying.returned_shown(table.rules, _at_stake(table, wagers.placed)) if wagers else None,
        hands=_hands(table) if told else (),
        held=tuple(_held_card(table, held) for held in _held(table)) if told else (),
        awards=paying.awards_shown(decided.awards),
        would_settle=paying.settlement_shown(decided.settlement),
    )


def _at_stake(table: Table, placed: tuple[Wager, ...]) -> tuple[Wager, ...]:
    """Return the wagers that are at stake in the round in play. If a seat has split its hand, a wager of the seat on
    its own hand is listed once for each of the hands."""
    in_play = table.phase
    if not isinstance(in_play, RoundInPlay):
        return placed
    hands = Counter(lies.seat for lies in table.rules.play.laid(in_play.seating, in_play.plays))
    on_each = {bet.spot for bet in table.rules.bets if bet.each_hand}
    return tuple(wager for wager in placed for _ in range(hands[wager.seat] if wager.spot in on_each else 1))


# The cards that were seen.


def _hands(table: Table) -> tuple[events.HandOfVoid, ...]:
    in_play = table.phase
    if not isinstance(in_play, RoundInPlay):
        return ()
    return tuple(
        events.HandOfVoid(
            laid.hand,
            tuple(FACE_DOWN if down else str(card) for card, down in zip(laid.cards, laid.face_down, strict=True)),
        )
        for laid in table.rules.play.laid(in_play.seating, in_play.plays)
    )


def _waiting(table: Table) -> tuple[Held, ...]:
    """Return the facts that wait for a dealer's call or for a person's decision."""
    ahead = tuple(table.phase.ahead) if isinstance(table.phase, RoundInPlay) else ()
    return (*ahead, *((*raiser(table.fault), *table.held) if table.fault else ()))


def _held(table: Table) -> tuple[Held, ...]:
    """Return the cards that lie in no hand, because they wait for a dealer's call or for a person's decision."""
    return tuple(held for held in _waiting(table) if is_card(held))


def _next_cards(table: Table) -> list[Card]:
    """Return the waiting cards whose rank and suit are known, in the order in which they came. Cards kept for the next
    round are left out."""
    drawn = [held.fact.card for held in _waiting(table) if isinstance(held.fact, CardDrawn)]
    return [card for card in drawn if card is not None]


def _card_may_be_unheard(table: Table) -> bool:
    """Tell whether cards may lie on the felt that were never reported to the table, or that nobody could read."""
    if table.fault is not None and table.fault.code in _CARDS_UNHEARD:
        return True
    return any(
        held.after_gap
        or held.in_doubt
        or isinstance(held.fact, ShoeUnheard | ShoeUnplugged | CardDrawnOutsideGame)
        or (isinstance(held.fact, CardDrawn) and held.fact.card is None)
        for held in _waiting(table)
    )


def _held_card(table: Table, held: Held) -> str:
    """Return the waiting card as text. If nobody can have seen the card, or the table does not know which card it is,
    return the sign for a face-down card."""
    card = held.fact.card if isinstance(held.fact, CardDrawn | CardKept) else None
    return FACE_DOWN if card is None or table.rules.play.deals_face_down else str(card)


def _lies_face_down(table: Table) -> bool:
    in_play = table.phase
    if not isinstance(in_play, RoundInPlay):
        return bool(_held(table)) and table.rules.play.deals_face_down
    return bool(in_play.ahead) or any(
        any(laid.face_down) for laid in table.rules.play.laid(in_play.seating, in_play.plays)
    )


# What they decided.


def _decided(table: Table, wagers: Wagers) -> Decided:
    """Return what the cards already seen by people decide about the wagers. If the table has stopped at a card, that
    card is counted in the hand in which the game's rules put it."""
    assert isinstance(table.phase, Locked | RoundInPlay), "wagers are locked"
    if _lies_face_down(table) or _card_may_be_unheard(table):
        return Decided(unknown=True)
    plays = table.phase.plays if isinstance(table.phase, RoundInPlay) else ()
    ends = _Ends(table, _next_cards(table))
    awards: dict[tuple[str, int], paying.Won] | None = None
    settlements: list[Settlement | None] = []
    for looked_at, done in enumerate(ends.of(plays)):
        if looked_at == _MOST_ENDS:
            return Decided(unknown=True)
        won = {(each.spot, each.seat): each for each in paying.awards(table.rules, table.phase.seating, done, wagers)}
        awards = won if awards is None else {at: _less(table, awards[at], won[at]) for at in awards.keys() & won.keys()}
        settlement = paying.settlement(table.rules, table.phase.seating, wagers.placed, done)
        if settlement not in settlements:
            settlements.append(settlement)
        if not awards and (len(settlements) > 1 or not wagers.placed):
            return Decided()
    if not wagers.placed:
        settlements = []
    certain = sorted((awards or {}).values(), key=lambda award: (award.spot, award.seat))
    return Decided(tuple(certain), settlements[0] if len(settlements) == 1 else None)


def _less(table: Table, one: paying.Won, other: paying.Won) -> paying.Won:
    """Return the smaller of two awards that are possible for the same wager. This is the award whose row stands further
    down in the bet's pay table."""
    rows = next(bet.rows for bet in table.rules.bets if bet.spot == one.spot)
    return max(one, other, key=lambda won: rows.index(won.row))


class _Ends:
    """All ways in which a round can still end with the cards that are left in the shoe. The cards in `next_` have
    already left the shoe and wait, so they come first."""

    def __init__(self, table: Table, next_: list[Card]) -> None:
        assert isinstance(table.phase, Locked | RoundInPlay), "a round is locked or in play"
        assert table.shoe is not None, "a round has a shoe"
        self._game, self._seating, self._next = table.rules.play, table.phase.seating, next_
        self._left = {card: table.rules.shoe.decks - gone for card, gone in zip(DECK, table.shoe.gone, strict=True)}
        for card in next_:
            self._left[card] -= 1

    def of(self, plays: tuple[Play, ...], came: int = 0) -> Iterator[Done]:
        """Yield each end that the round can come to after `plays`, the cards and calls so far. `came` is the number of
        waiting cards that `plays` already contains."""
        match self._game.next_step(self._seating, plays):
            case Draw() if came < len(self._next):
                yield from self.of((*plays, self._next[came]), came + 1)
            case Draw():
                for card in [card for card, left in self._left.items() if left > 0]:
                    self._left[card] -= 1
                    yield from self.of((*plays, card), came)
                    self._left[card] += 1
            case Reveal():
                yield from self.of((*plays, Call.REVEAL), came)
            case Choose(options=options):
                # Games with choices deal face down, so a choice lies before the first card, more than _MOST_ENDS away.
                for option in options:  # pragma: no branch
                    yield from self.of((*plays, option), came)
            case done:
                yield done
