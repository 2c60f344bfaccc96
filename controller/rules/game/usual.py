"""The usual rules for third cards in punto banco, as sheets 000, 001 and 004 print them.

A table deals by its game file alone. These rules have two uses: a shoe that decides rounds by itself follows them, and
a game file that differs from them gets a warning.
"""

from __future__ import annotations

from controller.rules.game.baccarat import Tableau

USUAL = Tableau(
    natural=(8, 9),
    player_draws_on=(0, 1, 2, 3, 4, 5),
    banker_draws_on_when_player_stands=(0, 1, 2, 3, 4, 5),
    banker_draws_on_third_card={
        **dict.fromkeys((0, 1, 2), (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)),
        3: (0, 1, 2, 3, 4, 5, 6, 7, 9),
        4: (2, 3, 4, 5, 6, 7),
        5: (4, 5, 6, 7),
        6: (6, 7),
        7: (),
    },
)
"""Banker with 3 stands on a third card of 8 alone. The rows below go by the third card, and 7 always stands."""
