"""Work out from a table's journal which cards of the open shoe nobody has seen yet. This is for surveillance, never for
players.

A card counts as seen once it has lain face up. Burned cards, and cards that still lie face down, count as unseen,
although the journal may know them. Odds computed from the unseen cards therefore reveal nothing about a face-down card:
they are the odds of a player who has watched every card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from controller.basics.errors import TableError
from controller.contract.events import FACE_DOWN
from controller.daemon.record.journal_reading import read_open_shoe
from controller.daemon.record.replay import refold, with_failures
from controller.people.par.shoe import Shoe, fresh
from controller.rules.game.cards import Card
from controller.rules.game.hands import cards_of
from controller.table.facts import ShoeOpened
from controller.table.public import public
from controller.table.rules import TableRules
from controller.table.states import NoShoe, ShoeEnded, Table


class OpenShoe(Struct, frozen=True):
    """An open shoe, as a person knows it who has watched every card: the cards that nobody has seen yet, and the rules
    under which the shoe was opened."""

    number: int
    round: int | None
    """The last round that has begun."""

    rules: TableRules
    config_digest: str
    unseen: Shoe


def open_shoe(journal: Path) -> OpenShoe:
    """Read a table's journal, and return its open shoe with the cards that nobody has seen. Raises TableError
    `no_open_shoe`, and the errors of reading a journal."""
    table: Table | None = None
    digest = ""
    seen: dict[object, Sequence[Card]] = {}
    for row, failed in with_failures(read_open_shoe(journal)):
        if isinstance(row.fact, ShoeOpened):
            table, digest = Table(row.fact.rules), row.fact.config_digest
        if table is None or failed:
            continue
        table, _ = refold(table, row)
        seen |= _face_up(table)
    if table is None or table.shoe is None or isinstance(table.phase, NoShoe | ShoeEnded):
        raise TableError("no_open_shoe", f"No shoe is open in {journal}.", "Ask again once a shoe is dealt.")
    seen |= {finished.number: cards_of(finished.done) for finished in table.finished}  # as corrected
    gone = Counter(card for cards in seen.values() for card in cards)
    unseen = {card: max(many - gone[card], 0) for card, many in fresh(table.rules.shoe.decks).items()}
    return OpenShoe(table.shoe.number, table.shoe.rounds or None, table.rules, digest, unseen)


def _face_up(table: Table) -> dict[object, Sequence[Card]]:
    """Return the cards that lie face up at the table now, as a dict. The key "burn" holds the first card of the burn,
    and the present round's number is the key for the cards of all hands of that round."""
    face = public(table)
    up: dict[object, Sequence[Card]] = {}
    if face.first_card is not None:
        up["burn"] = [Card.parse(face.first_card)]
    if face.hands:
        up[face.round] = [Card.parse(card) for hand in face.hands for card in hand.cards if card != FACE_DOWN]
    return up
