"""A preview of what an act would do. A person is shown the preview before confirming the act. The functions are pure
and change nothing.

Only an act whose entry names an event in `Act.shows` has a preview. For example: the preview of a correction shows the
event `correction` that would be sent, the hands as they were recorded before, and whether the rules allow the corrected
hands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from controller.contract.canonical import canonical
from controller.rules.game.bets import ratio_text
from controller.rules.game.cards import Card, total
from controller.rules.game.games import Game
from controller.rules.game.hands import Done
from controller.rules.game.play import Call, Choose, Draw, Play, Reveal
from controller.rules.game.seating import Seating
from controller.table.acts.corrections import CorrectionFact
from controller.table.acts.entry import Ambient, Request
from controller.table.acts.every import act_of
from controller.table.dealing import finished_round
from controller.table.legality import Refuse, refuse
from controller.table.requests import ByTwo, decide
from controller.table.states import Table
from controller.table.step import step

_SECOND = "?"
"""Stands in for the second person, who is not known yet. No person has this name."""


def foreseen(table: Table, request: Request, ambient: Ambient) -> dict[str, object] | Refuse:
    """Return the preview of a request, as if the second person had agreed to it: the event that it would make, as JSON
    values, and what a person needs to judge the event. Return the refusal if the request would be refused."""
    if isinstance(request, ByTwo):
        request = replace(request, witness=_SECOND)
    fact = decide(table, request, ambient)
    if isinstance(fact, Refuse):
        return fact
    act = act_of(request)
    _, made = step(table, fact)
    event: dict[str, object] = next((each.body() for each in made if act and act.shows == each.TYPE), {})
    return event | (_beside_correction(table, fact) if isinstance(fact, CorrectionFact) else {})


def name_of(would: dict[str, object]) -> str:
    """Return a short name for the preview `would`, computed from its content. Two previews with different contents have
    different names."""
    return hashlib.sha256(canonical(would)).hexdigest()[:16]


def not_as_shown(table: Table, request: Request, ambient: Ambient, shown: str | None) -> Refuse | None:
    """Check that the request would still do exactly what its preview said. `shown` is the name of the preview that the
    person saw, or None if there was none. Return None if there was no preview or if nothing has changed, otherwise a
    refusal.

    For example: the preview showed a void of round 3, but before the person confirmed it, round 3 ended and round 4
    began.
    """
    if shown is None:
        return None
    would = foreseen(table, request, ambient)
    if isinstance(would, Refuse):
        return would
    return None if name_of(would) == shown else refuse("shown_changed")


def _beside_correction(table: Table, fact: CorrectionFact) -> dict[str, Any]:
    """Return what the preview of a correction shows besides its event: the hands as they were recorded before, the
    corrected hands, whether the rules can lead to them, and what each award is worth."""
    told = finished_round(table, fact.round)
    assert told is not None, "a correction names a finished round"
    done = table.rules.play.corrected(told.done, fact.read)
    return {
        "hands_before": _hands(told.done),
        "hands": _hands(done),
        "by_the_rules": dealt_by_the_rules(table.rules.play, told.seating, done),
        "worth": {
            bet.spot: {
                row.award: {"cents": row.cents, "meter": row.meter, "share": ratio_text(row.share)}
                for row in bet.rows
                if row.award is not None
            }
            for bet in table.rules.progressives
        },
    }


def _hands(done: Done) -> list[dict[str, object]]:
    return [
        {"hand": hand.hand, "cards": [str(card) for card in hand.cards], "total": total(hand.cards)}
        for hand in done.laid
    ]


def dealt_by_the_rules(game: Game, seating: Seating, done: Done) -> bool:
    """Tell whether these hands can come about if the round is dealt card by card by the game's rules.

    Example: at punto banco Player's first two cards total 6, and Player has a third card. The answer is False, because
    Player stands on 6.
    """
    hands = {hand.hand: list(hand.cards) for hand in done.laid}
    return _ends_so(game, seating, done, hands, [])


def _ends_so(game: Game, seating: Seating, done: Done, hands: dict[str, list[Card]], plays: Sequence[Play]) -> bool:
    match game.next_step(seating, plays):
        case Draw(hand):
            if not (left := hands.get(hand)):
                return False
            return _ends_so(game, seating, done, hands | {hand: left[1:]}, [*plays, left[0]])
        case Reveal():
            return _ends_so(game, seating, done, hands, [*plays, Call.REVEAL])
        case Choose(options=options):
            return any(_ends_so(game, seating, done, hands, [*plays, option]) for option in options)
        case end:
            return end.laid == done.laid
