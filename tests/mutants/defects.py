"""The defects (mutants) that are planted in the program to test the simulation. Each replaces a few words in the
program's source, in memory only.

A patch names a module, the text to replace and the new text. The text must stand exactly once in the module; otherwise
the mutant is out of date.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Patch:
    """One replacement in the source text of `module`: `old` becomes `new`."""

    module: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """A defect to plant in the program: its name, what it does, and its replacements in the source text."""

    name: str
    what: str
    patches: tuple[Patch, ...]


def _mutant(name: str, what: str, *patches: tuple[str, str, str]) -> Mutant:
    return Mutant(name, what, tuple(Patch(*patch) for patch in patches))


_STEP = "controller.table.step"
_BELIEVING = "controller.table.believing"
_GOING_ON = "controller.table.going_on"
_DEALING = "controller.table.dealing"
_DELIVERY = "controller.daemon.delivery.guarantee"
_ANGEL_EYE = "drivers.shoe.angel_eye"
_LEVELS = "controller.daemon.delivery.levels"
_SHOE_ACTS = "controller.table.acts.shoe"
_BOOKS = "controller.pit.reference.books"

MUTANTS = (
    _mutant(
        "shown_before_commit",
        "the lamps and the face follow a fact before its commit",
        (
            "controller.daemon.runtime",
            "                messages = await self._commits.commit(folded.entries)\n",
            (
                "                self.face = public(folded.table)\n                self._panel.render()\n"
                "                messages = await self._commits.commit(folded.entries)\n"
            ),
        ),
    ),
    _mutant(
        "acted_on_before_safe",
        "after the first acknowledgement commits are no longer synced, so events leave before they are safe",
        (
            "controller.daemon.record.journal",
            'finally:\n                self._db.execute("PRAGMA synchronous = FULL")',
            'finally:\n                self._db.execute("PRAGMA synchronous = NORMAL")',
        ),
    ),
    _mutant(
        "acked_before_the_pit",
        "all that was sent is marked as acknowledged",
        (
            "controller.daemon.delivery.sending",
            "        seq = self._delivery.acked_seq\n",
            "        seq = self._delivery.head_seq\n",
        ),
    ),
    _mutant(
        "constant_salt",
        "every row has the same salt, so a burned card's hash can be guessed",
        ("controller.daemon.record.journal", "salt = os.urandom(16)", "salt = bytes(16)"),
    ),
    _mutant(
        "resend_off_by_one",
        "a resend leaves out the first unacknowledged event",
        (
            _DELIVERY,
            "now_s >= self._act_at_s:\n            self._sent_seq = self.acked_seq\n",
            "now_s >= self._act_at_s:\n            self._sent_seq = self.acked_seq + 1\n",
        ),
    ),
    _mutant(
        "another_epochs_ack",
        "the pit's word for another journal is believed",
        (_DELIVERY, " or ack.epoch != self.epoch:", ":"),
        (
            "controller.daemon.delivery.pit_said",
            "        if not self.heard.adopted:\n",
            "        if False:\n",
        ),
    ),
    _mutant(
        "copy_taken_for_a_card",
        "one copy is enough, and a restart does not know the last report",
        (_ANGEL_EYE, "_CONFIRMED_BY = 2 ", "_CONFIRMED_BY = 1 "),
        (_ANGEL_EYE, 'bytes.fromhex(last.frame) if last else b""', 'b""'),
    ),
    _mutant(
        "gap_not_noticed",
        "a number that does not follow the last is taken for the next",
        (_BELIEVING, "return report.seq != last.seq + 1\n", "return False\n"),
    ),
    _mutant(
        "lost_zero_not_noticed",
        "after 9 a 1 is the next even of a shoe that counts from 0",
        (_BELIEVING, "(report.seq != 1 or table.seq_counts_zero)", "report.seq != 1"),
    ),
    _mutant(
        "banker_row_short",
        "the third case of each of Banker's rows is dropped",
        (
            "controller.rules.game.baccarat",
            "player[2].points in tableau.banker_draws_on_third_card[total(banker)]",
            (
                "player[2].points in tableau.banker_draws_on_third_card[total(banker)][:2]"
                " + tableau.banker_draws_on_third_card[total(banker)][3:]"
            ),
        ),
    ),
    _mutant(
        "fault_clears_itself",
        "a shoe error goes when it is cancelled at the shoe",
        (
            _BELIEVING,
            "    if table.fault is not None:\n        if isinstance(fact, ShoeUnplugged | ShoeUnheard)",
            (
                "    if isinstance(fact, ShoeErrorCancelled):\n        return replace(table, fault=None), ()\n"
                "    if table.fault is not None:\n        if isinstance(fact, ShoeUnplugged | ShoeUnheard)"
            ),
        ),
    ),
    _mutant(
        "held_cards_dropped",
        "clearing a fault forgets what was held",
        (
            _GOING_ON,
            "    table, released = release(table, later)\n    return table, (*made, *released)\n",
            "    table, released = release(table, ())\n    return table, (*made, *released)\n",
        ),
    ),
    _mutant(
        "one_hand_too_many",
        "two hands follow the cut card",
        ("controller.table.shoe_life", "    further = rules.hands_after_cut_card if", "    further = 2 if"),
    ),
    _mutant(
        "void_keeps_wagers",
        "a void does not say whose wagers go back",
        ("controller.table.voiding", "progressive=paying.progressive_shown(wagers),", "progressive=(),"),
    ),
    _mutant(
        "failed_step_replayed",
        "a replay steps over the fact that failed when it happened",
        (
            "controller.daemon.record.replay",
            "isinstance(following.fact, StepFailed)",
            "isinstance(following.fact, type)",
        ),
    ),
    _mutant(
        "hit_for_anybody",
        "a seat hits without a locked wager",
        (
            "controller.table.paying",
            "seats = wagers.on(bet.spot).seats",
            "seats = rules.seat_numbers",
        ),
    ),
    _mutant(
        "burned_cards_not_counted",
        "a burned card does not count as gone from the shoe",
        (
            _BELIEVING,
            "taken = replace(table, shoe=shoe_life.without(open_shoe(table), table.rules.shoe, card))",
            (
                "taken = table if move is Move.BURN_CARD else "
                "replace(table, shoe=shoe_life.without(open_shoe(table), table.rules.shoe, card))"
            ),
        ),
    ),
    _mutant(
        "result_not_compared",
        "the shoe's result is taken whatever it says",
        ("controller.table.referees", "    if ours == shoes:\n", "    if ours or shoes:\n"),
    ),
    _mutant(
        "burned_card_named",
        "the alarm of an impossible card names it even in the burn",
        (_BELIEVING, "    if not comes_face_down(table, row):\n", "    if True:\n"),
    ),
    _mutant(
        "shoe_forgets_the_last_report",
        "a new shoe forgets the shoe's numbers, so a gap just after it does not show",
        (
            _SHOE_ACTS,
            "last_report=None if first_card_came else _last_of_shoe_before(table.last_report)",
            "last_report=None",
        ),
    ),
    _mutant(
        "levels_never_stale",
        "levels that were fresh once are so for ever",
        (_LEVELS, "is not None and now_s - self._fresh_at_s <= self._stale_after_s", "is not None"),
    ),
    _mutant(
        "retained_levels_count_as_fresh",
        "the word that the broker kept counts as one of a living pit",
        (
            _LEVELS,
            "if self._heard_on_connection and self.said_lately(word, now):",
            "if self.said_lately(word, now):",
        ),
    ),
    _mutant(
        "old_levels_taken",
        "a word on the levels that is older than one already seen is taken",
        (_LEVELS, "        if word.seq < self._seq:\n", "        if word.seq < 0:\n"),
    ),
    _mutant(
        "royal9_locked_without_levels",
        "whether there is a pit to bet with is asked of the stream alone",
        (
            "controller.daemon.delivery.stream",
            "self._delivery.fresh(now_s) and self.levels.fresh(now_s)",
            "self._delivery.fresh(now_s)",
        ),
    ),
    _mutant(
        "award_step_told_twice",
        "a step of an award that comes again is told again",
        (
            "controller.table.acts.pit",
            "if step.seq <= table.award_seq <= ambient.latest_seq:",
            "if step.seq < table.award_seq <= ambient.latest_seq:",
        ),
    ),
    _mutant(
        "strange_award_believed",
        "a step of an award of another table or epoch is believed",
        (
            "controller.daemon.delivery.pit_said",
            "(said.table, said.epoch) == (self._table_id, self._delivery.epoch)",
            "True",
        ),
    ),
    _mutant(
        "hit_forgets_its_level",
        "a hit does not tell the level that was shown",
        (_DEALING, "shoe.rounds, won, wagers.levels)", "shoe.rounds, won, {})"),
    ),
    _mutant(
        "reset_forgets_nothing",
        "a hit that was seen to is still shown",
        (_STEP, "hits=tuple(hit for hit in table.hits if hit.seat not in seen_to)", "hits=table.hits"),
    ),
    _mutant(
        "lock_forgets_progressive_hits",
        "the next lock forgets the hits that nobody has seen to",
        (_STEP, "last_round=None, hits=open_hits", "last_round=None, hits=()"),
    ),
    _mutant(
        "new_shoe_forgets_progressive_hits",
        "a new shoe forgets the hits that nobody has seen to",
        (_SHOE_ACTS, "hits=tuple(hit for hit in table.hits if hit.meter is not None)", "hits=()"),
    ),
    _mutant(
        "void_lowers_its_meter",
        "a void takes off a meter what players were shown there",
        (_BOOKS, 'self.post("void", {"house": -given}', 'self.post("void", {f"meter:{min(self._meters())}": -given}'),
    ),
    _mutant(
        "parts_of_a_cent_lost",
        "the pit rounds each contribution down to the cent",
        ("controller.pit.reference.meters", "Fund(floor(exact), exact - floor(exact))", "Fund(floor(exact))"),
    ),
    _mutant(
        "levels_grow_old_by_the_wall_clock",
        "how old the levels are is told by the wall clock, which may be set",
        (
            "controller.daemon.delivery.stream",
            "import logging\n",
            "import logging\n\nimport controller.pit.reference.clock as wall\n",
        ),
        (
            "controller.daemon.delivery.pit_said",
            "import logging\n",
            "import logging\n\nimport controller.pit.reference.clock as wall\n",
        ),
        (
            "controller.daemon.delivery.pit_said",
            "self._levels.heard(said, now_s, own, ",
            "self._levels.heard(said, wall._now_ms() / 1000, own, ",
        ),
        (
            "controller.daemon.delivery.stream",
            "self._delivery.fresh(now_s) and self.levels.fresh(now_s)",
            "self._delivery.fresh(now_s) and self.levels.fresh(wall._now_ms() / 1000)",
        ),
    ),
    _mutant(
        "hands_of_two_tables_mixed",
        "the pit knows a hand by its shoe and round alone, whichever table it is of",
        (_BOOKS, "hand WHERE table_id = ? AND epoch = ? AND shoe = ?", "hand WHERE ? != '' AND ? != '' AND shoe = ?"),
    ),
)
