"""Reads from a table file and its game file what the simulated people and the simulated shoe need, without code of the
controller.

A game file gives its bets, the rules of drawing, and the settings that no rule sheet prints: limits, decks, the place
of the cut card, the order of dealing. The other rules of dealing are written in this package from the rule sheets. The
evaluation of bets is written from `docs/bets.md`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert, field

from controller.basics.errors import TableError
from drivers.sim.shoe import maker

_SIMULATED = ("simulated", "deal")
# The buttons that the dealer needs: always; with a shoe that does not report the cut card; and by how the game is
# dealt.
_BUTTONS = {"deal", "new_shoe"}
_CUT_CARD = {"cut_card"}
_CALLS = {
    "punto_banco": set[str](),
    "midi": {"reveal"},
    "baccarat_royal": {"hit", "stand", "reveal"},
    "lucky9": {"hit", "stand", "split", "reveal"},
}


class Row(Struct, frozen=True):
    """One row of a bet's pay table in a game file: its conditions, and what the house pays or does if they hold."""

    when: dict[str, Any] = field(default_factory=dict)
    award: str | None = None
    meter: str | None = None
    cents: int = 0
    pays: str | None = None
    result: str = "lose"
    commission_taken: str | None = None
    commission_owed: str | None = None


class Bet(Struct, frozen=True):
    """A bet of a game file, without the keys that the simulation does not need."""

    spot: str
    rows: tuple[Row, ...] = ()
    limits: str | None = None
    minimum_cents: int | None = None
    maximum_cents: int | None = None
    price_cents: int = 0
    pays_at_most_cents: int | None = None
    awards_return_stake: bool = False
    unequal_stakes: str | None = None
    needs: tuple[str, ...] = ()
    maximum_of_needed: str | None = None
    no_bets_after_round: int | None = None
    no_bets_in_final_round: bool = False
    each_hand: bool = False
    after_split: str = "leftmost"

    @property
    def has_awards(self) -> bool:
        """True if the bet is progressive, which means that a row of its pay table gives an award."""
        return any(row.award for row in self.rows)

    @property
    def in_circle(self) -> bool:
        """True if the wagers on this bet have the limits of the betting circles (the spots of the main bets)."""
        return self.limits == "circle"


class Coming(Struct, frozen=True):
    """The next round, for which wagers are taken: its number in the shoe, and whether it is the shoe's last round."""

    number: int = 1
    last: bool = False


class Limits(Struct, frozen=True):
    """The bets of a game file, and the house's limits for wagers on them, in cents. The names with "circle" are limits
    for the betting circles, which are the spots of the main bets.

    `sensed` is the spot of the bet whose chips lie on the seats' sensors. It is None if no seat has a sensor, or if the
    table file does not name the spot and the game does not have exactly one progressive bet.
    """

    bets: tuple[Bet, ...]
    sensed: str | None
    circle_minimum_cents: int
    circle_maximum_cents: int
    side_minimum_cents: int
    side_maximum_cents: int
    increment_cents: int
    tie_only_meets_minimum: bool
    back_bettors: bool
    one_of: tuple[tuple[str, ...], ...] = (("player", "banker"),)
    equal_circles_squeezed_by: str = "lowest_seat"
    counted_together: str = "every_spot"
    back_bets_beside: str = "any_bet"
    largest_circle_counts: str = "seated_and_back"
    no_bets_after_round: int | None = None
    no_bets_in_final_round: bool = False

    @property
    def spots(self) -> tuple[str, ...]:
        """Every spot on which the game offers a bet."""
        return tuple(bet.spot for bet in self.bets)

    def range_cents(self, spot: str) -> tuple[int, int]:
        """Return the minimum and the maximum of a wager on this spot, in cents. If the bet has no limits of its own,
        these are the limits of the betting circles for a main bet, and the limits of the side bets for any other bet.
        """
        bet = next(bet for bet in self.bets if bet.spot == spot)
        if bet.in_circle:
            least, most = self.circle_minimum_cents, self.circle_maximum_cents
        else:
            least, most = self.side_minimum_cents, self.side_maximum_cents
        own_least, own_most = bet.minimum_cents, bet.maximum_cents
        return least if own_least is None else own_least, most if own_most is None else own_most

    def open_spots(self, coming: Coming) -> list[str]:
        """Return the spots on which a bettor may wager for the round `coming`. Some bets need a wager on one of certain
        other spots. If all these other spots are closed, the bet's own spot is closed too."""
        signs = {bet.spot: (bet.no_bets_after_round, bet.no_bets_in_final_round) for bet in self.bets}
        of_all = self.no_bets_after_round, self.no_bets_in_final_round
        found = [
            spot
            for spot, own in signs.items()
            if all(
                (last or coming.number) >= coming.number and not (coming.last and none) for last, none in (own, of_all)
            )
        ]
        for _ in found:  # each pass may close what another bet needs
            found = [bet.spot for bet in self.bets if bet.spot in found and (not bet.needs or {*bet.needs} & {*found})]
        return found

    @property
    def prices_cents(self) -> dict[str, int]:
        """The price of a wager on each progressive bet: a dictionary from the bet's spot to cents."""
        return {bet.spot: bet.price_cents for bet in self.bets if bet.has_awards}


class ShoeProcedure(Struct, frozen=True):
    """The rules by which the house deals a shoe, such as the number of decks. The defaults are those of the rule sheet
    of Royal 9."""

    decks: int = 8
    cut_card_from_end: int = 14
    hands_after_cut_card: int = 1
    hands_after_cut_card_first: int = 1
    fewest_cards_to_open: int = 6
    drawn_in_error: str = "simulated_hand"
    burn_counts_first_card: bool = False

    @property
    def slips_are_burned(self) -> bool:
        """True if the house burns a card that was drawn in error. Otherwise such a card begins a simulated round (a
        round without wagers)."""
        return self.drawn_in_error == "burn"


class Rounding(Struct, frozen=True):
    """How the house rounds what it pays (`pays`) and the commission: `up` or `down` to a multiple of `unit_cents`."""

    unit_cents: int = 1
    pays: str = "up"
    commission: str = "up"


CENTS_UP = Rounding()
"""The rounding of a house whose game file says nothing of rounding."""


class House(Struct, frozen=True):
    """A table as its table file and game file describe it. The fields include its shoe, its pins, its socket, its
    seats, and its game. `sensors` are the seats with a sensor. `printed` maps a seat to the cards that are printed
    there, such as `KS 9H`.

    `kind` is the kind of the game, and `section` is the game file's section on how this kind is dealt. If
    `tells_wagers` is True, bet recognition tells the controller of every wager, over the control socket.
    """

    driver: str
    port: Path
    page: Path
    socket: Path
    lamps: dict[str, Any]
    inputs: dict[str, Any]
    debounce_s: float
    seats: tuple[int, ...]
    sensors: tuple[int, ...]
    printed: dict[int, str]
    tells_wagers: bool
    kind: str
    section: Mapping[str, Any]
    midi: bool
    name: str
    shoe: ShoeProcedure
    limits: Limits
    rounding: Rounding = CENTS_UP

    @property
    def roles(self) -> Mapping[str, Any] | None:
        """The game file's section on the roles of the two active seats; None in a game that has no active seats."""
        return self.section if self.kind == "baccarat_royal" else None


class _Table(Struct, frozen=True):
    game: str
    lock_on: str
    dealt: str | None = None
    bet_recognition: bool = False


class _Shoe(Struct, frozen=True):
    driver: str
    port: str


class _Pins(Struct, frozen=True):
    driver: str
    debounce_ms: int
    sample_ms: int
    lamps: dict[str, Any]
    inputs: dict[str, Any]
    page: str = ""
    sensed: str | None = None


class _Control(Struct, frozen=True):
    socket: str


class _Seat(Struct, frozen=True):
    number: int
    k9: str | None = None


class _TableFile(Struct, frozen=True):
    """The part of a table file that the simulation reads."""

    table: _Table
    shoe: _Shoe
    pins: _Pins
    control: _Control
    seats: tuple[_Seat, ...]


class _GameFile(Struct, frozen=True):
    """The part of a game file that the simulation reads. `section` is the section that has the same name as the game's
    kind."""

    kind: str
    name: str
    shoe: ShoeProcedure
    wagers: dict[str, Any]
    bets: tuple[Bet, ...]
    section: dict[str, Any]
    rounding: Rounding = CENTS_UP


def read_house(table_file: Path) -> House:
    """Read a table file and its game file, and return the table that they describe. Raises TableError `sim_table_file`
    if the files cannot be used, and `sim_not_simulated` if the simulation cannot play at this table."""
    try:
        table = convert(tomllib.loads(table_file.read_text(encoding="utf-8")), _TableFile)
        said = tomllib.loads((table_file.parent / table.table.game).read_text(encoding="utf-8"))
        game = convert({**said, "section": said[said["kind"]]}, _GameFile)
        _check_simulated(table_file, table, game)
        return _house(table, game)
    except (OSError, KeyError, TypeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise TableError(
            "sim_table_file", f"{table_file} or its game file cannot be used: {error!r}", "see `tablectl check`"
        ) from error


def _check_simulated(table_file: Path, table: _TableFile, game: _GameFile) -> None:
    midi = table.table.dealt == "midi"
    needs = _BUTTONS | (set() if maker(table.shoe.driver).tells_cut_card else _CUT_CARD)
    needs |= _CALLS["midi" if midi else game.kind]
    simulated = (table.pins.driver, table.table.lock_on) == _SIMULATED and needs <= table.pins.inputs.keys()
    told = game.kind == "punto_banco" or table.table.bet_recognition
    turned_by_hand = not midi or game.section.get("midi_reveal", "input") == "input"
    if not (simulated and told and turned_by_hand):
        raise TableError(
            "sim_not_simulated",
            f"the table of {table_file} cannot be simulated",
            'its files need [pins] driver = "simulated", [table] lock_on = "deal", the inputs '
            + ", ".join(sorted(needs))
            + ", [table] bet_recognition = true where seats have hands of their own, and in the game file of a table "
            + 'that is dealt as Midi midi_reveal = "input"',
        )


def _sensed(pins: _Pins, bets: Iterable[Bet]) -> str | None:
    """Return the spot of the bet whose chips lie on the seats' sensors. If the table file names no such spot, return
    the spot of the only progressive bet, or None if the game has none or several. Return None too if no seat has a
    sensor."""
    with_awards = [bet.spot for bet in bets if bet.has_awards]
    only = with_awards[0] if len(with_awards) == 1 else None
    return (pins.sensed or only) if any("seat_" in name for name in pins.inputs) else None


def _house(table: _TableFile, game: _GameFile) -> House:
    pins = table.pins
    if not pins.page:
        raise KeyError("pins.page")
    return House(
        driver=table.shoe.driver,
        port=Path(table.shoe.port),
        page=Path(pins.page),
        socket=Path(table.control.socket),
        lamps=pins.lamps,
        inputs=pins.inputs,
        debounce_s=(pins.debounce_ms + 5 * pins.sample_ms) / 1000,
        seats=tuple(sorted(seat.number for seat in table.seats)),
        sensors=tuple(sorted(seat.number for seat in table.seats if f"seat_{seat.number}" in pins.inputs)),
        printed={seat.number: seat.k9 for seat in table.seats if seat.k9 is not None},
        tells_wagers=table.table.bet_recognition,
        kind=game.kind,
        section=game.section,
        midi=table.table.dealt == "midi",
        name=game.name,
        shoe=game.shoe,
        limits=Limits(**game.wagers, bets=game.bets, sensed=_sensed(pins, game.bets)),
        rounding=game.rounding,
    )
