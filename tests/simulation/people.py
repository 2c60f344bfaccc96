"""Chooses what people do at the simulated tables: a mixture of good play, impatience, faulty machines and supervisors,
drawn from a seed.

Every choice is recorded as an `Action`, so that a run can be repeated without any random choice.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from controller.contract.face.table import Public
from drivers.sim import rules
from tests.simulation.live_table import LiveTable
from tests.simulation.world import Action, World

_FATES = ("good", "good", "bad", "alias", "lost")
_STRAYS = ("again", "again", "of_another_table", "of_another_epoch", "of_another_seat", "of_no_hit")
_SHORT_S = 0.02
_UNHEARD_S = 0.2  # where nobody listens, no more reports are lost in a time than the wire can carry


class People:
    """Chooses the next action in the simulated house. With some seeds people are rough, with others calm, so that some
    shoes are dealt to their end."""

    def __init__(self, seed: int) -> None:
        self._luck = random.Random(f"{seed} people")
        self._roughness = self._luck.choice((0.02, 0.05, 0.1, 0.2))
        self._place = 0

    def next(self, world: World) -> Action:
        """Return the next action, mostly at a table where something has just happened."""
        if self._luck.random() < 0.2:
            self._place = self._luck.randrange(len(world.tables))
        return replace(self._at(world.tables[self._place]), table=self._place)

    def _at(self, table: LiveTable) -> Action:
        luck = self._luck
        if luck.random() < self._roughness:
            return self._mishap(table)
        if luck.random() < self._roughness / 2:
            return self._repair(table)
        face = table.face
        if face is None:
            return Action("start") if luck.random() < 0.7 else self._draw(table)
        if face.fault is not None:
            return self._stopped(table, face)
        return self._play(table, face)

    # Play.

    def _play(self, table: LiveTable, face: Public) -> Action:
        luck = self._luck
        if face.odd_card and luck.random() < 0.3:
            return Action("ask", (luck.choice(("odd_is_next", "odd_is_burned")),))
        match face.phase:
            case "no_shoe" | "shoe_ended":
                return self._between_shoes(table)
            case "first_card_due" | "burning":
                return self._draw(table) if luck.random() < 0.95 else self._impatience()
            case "wagers_open":
                return self._wagers_open(table, face)
            case _:
                return self._in_round(table)

    def _between_shoes(self, table: LiveTable) -> Action:
        luck = self._luck
        roll = luck.random()
        if table.shoe.cards_left < 52 * table.config.rules.shoe.decks:
            return Action("refill")
        if roll < 0.7:
            return Action("press", ("new_shoe",))
        if roll < 0.85:
            return self._draw(table)  # the shoe's own first card announces it
        return self._impatience()

    def _wagers_open(self, table: LiveTable, face: Public) -> Action:
        luck = self._luck
        if table.shoe.in_round and luck.random() < 0.9:
            return Action("close_round")
        if face.hits and luck.random() < 0.1:
            return self._about_hits(face)
        roll = luck.random()
        if roll < 0.3:
            seats = [seat.number for seat in table.config.rules.seats]
            return Action("wagers", tuple(luck.sample(seats, luck.randrange(len(seats) + 1))), 0.12)
        if roll < 0.9 and table.config.rules.lock_on == "deal":
            return Action("press", ("deal",))
        if roll < 0.94 or (roll < 0.97 and table.config.rules.lock_on == "first_card"):
            return self._draw(table)
        if roll < 0.972:
            return Action("ask", ("close_shoe",))
        return self._impatience() if roll < 0.98 else Action("wait", (), luck.choice((0.5, 4.0)))

    def _about_hits(self, face: Public) -> Action:
        """Return the next action about the hits that the table shows: a dealer resets a seat, or the pit decides on an
        award."""
        luck = self._luck
        return luck.choice(
            (
                Action("ask", ("reset_hits",)),
                Action("reset", (luck.choice(face.hits).seat,)),
                Action("press", ("key", "void")),
                *(self._decision() for _ in range(6)),
            )
        )

    def _decision(self) -> Action:
        luck = self._luck
        return Action("decide", (luck.randrange(4), luck.choice(("verified", "verified", "paid", "rejected"))))

    def _in_round(self, table: LiveTable) -> Action:
        luck = self._luck
        roll = luck.random()
        if roll < 0.96:
            return self._draw(table)
        return self._impatience()

    def _impatience(self) -> Action:
        return self._luck.choice(
            (
                Action("press", ("deal",)),
                Action("twice", ("deal",)),
                Action("press", ("new_shoe",)),
                Action("press", ("cut_card",)),
                Action("press", ("void",)),
                Action("press", ("key", "void")),
                Action("press", ("key", "new_shoe")),
                Action("press", ("key", "deal")),
                Action("ask", (self._luck.choice(("void", "clear", "new_shoe", "cut_card")),)),
                Action("name", (self._card(),)),
                Action("ask", ("test_lamps",)),
                Action("correct", (self._luck.randrange(4), self._card())),
                Action("draw"),
                Action("draw", (), 0.0),
                Action("wait", (), 0.3),
                self._decision(),
            )
        )

    def _draw(self, table: LiveTable) -> Action:
        """Return the next action that draws a card, which the shoe reports correctly. Some cards come so fast that two
        are committed in one transaction."""
        if table.shoe.cards_left == 0:
            return Action("refill")
        if not table.shoe.cable.heard:
            return Action("draw", (), _UNHEARD_S)
        return Action("draw", (), self._luck.choice((0.0, _SHORT_S, _SHORT_S, _SHORT_S, 0.1)))

    def _stopped(self, table: LiveTable, face: Public) -> Action:
        luck = self._luck
        assert face.fault is not None
        roll = luck.random()
        if roll < 0.1:
            return self._draw(table)
        if roll < 0.2:
            return self._impatience()
        if face.fault.code == "shoe_error" and roll < 0.6:
            return Action("report", ("cancel_error", 2))
        if {"card", "count"} & set(face.fault.exits) and roll < 0.7:
            return Action("name_missed")
        return Action("leave", (luck.randrange(4), luck.random() < 0.3))

    # Mishaps.

    def _mishap(self, table: LiveTable) -> Action:
        luck = self._luck
        kinds: tuple[tuple[int, Callable[[LiveTable], Action]], ...] = (
            (6, self._damaged_copies),
            (3, self._lost_report),
            (2, self._wrong_card),
            (3, self._of_the_shoe),
            (4, self._of_the_program),
            (4, self._of_the_network),
            (3, self._of_the_levels),
            (2, self._of_the_line),
            (2, self._absence),
            (2, self._shoes_end),
            (2, lambda table: self._impatience()),
        )
        weights = [weight for weight, _ in kinds]
        return luck.choices([make for _, make in kinds], weights)[0](table)

    def _damaged_copies(self, table: LiveTable) -> Action:
        fates = [self._luck.choice(_FATES) for _ in range(3)]
        while fates.count("alias") > 1:
            fates[fates.index("alias")] = "bad"
        return Action("draw", tuple(fates))

    def _lost_report(self, table: LiveTable) -> Action:
        if self._luck.random() < 0.3:
            return Action("report_lost", self._luck.choice((("stand_by",), ("cut_card",), ("report_lock", False))))
        return Action("draw", ("lost", "lost", "lost"))

    def _wrong_card(self, table: LiveTable) -> Action:
        luck = self._luck
        return luck.choice(
            (
                Action("unreadable"),
                Action("unreadable"),
                Action("misread", (self._card(),)),
                Action("draw_wrong", (luck.choice(("PLAYER", "BANKER", "BURNED", "FIRST_CARD")), luck.randrange(4))),
                Action("draw_result", (luck.choice(("PLAYER", "BANKER", "TIE")),)),
                Action("draw_outside", (luck.choice(("lock", "error", "setting")),)),
                Action("keep"),
            )
        )

    def _of_the_shoe(self, table: LiveTable) -> Action:
        luck = self._luck
        return luck.choice(
            (
                Action("report", ("raise_error", luck.choice((2, 3, 4)))),
                Action("report", ("power_up",)),
                Action("report", ("force_quit",)),
                Action("report", ("cut_card",)),
                Action("report", ("stand_by",)),
                Action("report", ("report_lock", luck.random() < 0.5)),
                Action("refill"),
            )
        )

    def _of_the_program(self, table: LiveTable) -> Action:
        luck = self._luck
        return luck.choice(
            (
                Action("kill"),
                Action("lose_power"),
                Action("cut_at_commit", (luck.choice(("before", "after")),)),
                Action("cut_at_publish", (luck.randrange(1, 4),)),
                Action("crash_in_copies", (luck.choice((1, 2)), luck.random() < 0.7)),
                Action("disk", (True, 0.0)),
                Action("disk", (False, luck.choice((0.013, 0.107)))),
                Action("step_fails"),
            )
        )

    def _of_the_network(self, table: LiveTable) -> Action:
        luck = self._luck
        return luck.choice(
            (
                Action("weather", (luck.choice((0.0, 0.3)), luck.choice((0.0, 0.3)), luck.choice((0.0, 0.5)))),
                Action("broker", (luck.choice(("down", "restart", "forget", "refuse")),)),
                Action("drop"),
                Action("pit", (luck.choice(("crash", "slow")),)),
                Action("stray_ack", (luck.randrange(40),)),
                Action("clock", (luck.choice((-40_000_007, -3_003, 1_501, 40_000_007)), luck.random() < 0.5)),
                Action("wait", (), luck.choice((2.1, 5.0))),
            )
        )

    def _of_the_levels(self, table: LiveTable) -> Action:
        luck = self._luck
        return luck.choice(
            (
                Action("levels", (luck.choice(("silent", "stuck", "old")),), luck.choice((0.02, 3.1))),
                Action("stray_levels", (luck.randrange(9),)),
                Action("stray_award", (luck.choice(_STRAYS), luck.randrange(40))),
            )
        )

    def _of_the_line(self, table: LiveTable) -> Action:
        luck = self._luck
        return luck.choice(
            (
                Action("cable", (False,), luck.choice((0.0, 0.3))),
                Action("noise", (luck.randbytes(luck.randrange(1, 12)).hex(),)),
            )
        )

    def _absence(self, table: LiveTable) -> Action:
        luck = self._luck
        return Action("absence", (luck.random() < 0.5, luck.randrange(4), luck.choice((0.0, 0.5, 15.0))))

    def _shoes_end(self, table: LiveTable) -> Action:
        luck = self._luck
        cards = luck.randrange(luck.choice((4, 12, 61)))
        return Action("shoes_end", (cards, luck.choice((0.0, 0.05, 0.5, 3.0))))

    def _repair(self, table: LiveTable) -> Action:
        luck = self._luck
        return luck.choice(
            (
                Action("start"),
                Action("cable", (True,)),
                Action("disk", (False, 0.0), 1.2),
                Action("weather", (0.0, 0.0, 0.0)),
                Action("broker", ("up",), 0.4),
                Action("broker", ("allow",)),
                Action("pit", ("start",)),
                Action("pit", ("quick",)),
                Action("levels", ("well",), 1.6),
                Action("clock", (0, True)),
                Action("report", ("report_lock", False)),
                Action("report", ("cancel_error", 2)),
            )
        )

    def _card(self) -> str:
        return self._luck.choice(rules.RANKS) + self._luck.choice(rules.SUITS)
