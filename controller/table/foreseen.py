"""A preview of what an act would do, which a person is shown before confirming the act. Pure: nothing is changed.

Only an act whose entry names an event (`Act.shows`) has a preview. For example: a correction shows the event
`correction` that it would send, the hands as they were recorded before, and whether the rules allow such hands.
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
    """Return the event that the request would make, as JSON values, with what a person needs to compare it; or the
    refusal."""
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
    """Return a name for a preview, made from its content. Two previews that differ have different names."""
    return hashlib.sha256(canonical(would)).hexdigest()[:16]


def not_as_shown(table: Table, request: Request, ambient: Ambient, shown: str | None) -> Refuse | None:
    """Check that the request would still do exactly what its preview, named `shown`, said. Return None if so, otherwise
    the refusal.

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
    """Return what a preview of a correction shows beside its event: the hands as recorded before, whether the new hands
    fit the rules, and what each award is worth."""
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
    """Tell whether the game's rules, followed card by card, can lead to these hands.

    Example: at punto banco Player's total is 6 and Player has a third card. That cannot be: Player stands on 6.
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
