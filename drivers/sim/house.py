"""What the simulated people and the simulated shoe read from a table file and its game file, with code of their own.

From a game file they take its bets, who draws, and what no sheet prints: limits, decks, the place of the cut card,
the order of dealing. How a game is dealt otherwise is written here from the sheet; how a bet is read, from
`docs/bets.md`.
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
    """A row of a bet: the words that must hold, and what the house then does."""

    when: dict[str, Any] = field(default_factory=dict)
    award: str | None = None
    meter: str | None = None
    cents: int = 0
    pays: str | None = None
    result: str = "lose"
    commission_taken: str | None = None
    commission_owed: str | None = None


class Bet(Struct, frozen=True):
    """A bet as the game file has it. Whatever a simulation need not know of it is left out."""

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
        """Whether the bet is progressive."""
        return any(row.award for row in self.rows)

    @property
    def in_circle(self) -> bool:
        """Whether the limits of the betting circles hold for the bet."""
        return self.limits == "circle"


class Coming(Struct, frozen=True):
    """The round that the dealer takes wagers for: its number in the shoe, and whether it is the shoe's last."""

    number: int = 1
    last: bool = False


class Limits(Struct, frozen=True):
    """Where the house takes wagers, and from how many cents to how many. A circle is the spot of a main bet at a seat.

    `bets` are the game file's. The seats' sensors see the chips on the spot `sensed`.
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
        """Every spot that the game offers."""
        return tuple(bet.spot for bet in self.bets)

    def range_cents(self, spot: str) -> tuple[int, int]:
        """The least and the most on this spot: the bet's own, or else those of the betting circles or the side bets."""
        bet = next(bet for bet in self.bets if bet.spot == spot)
        if bet.in_circle:
            least, most = self.circle_minimum_cents, self.circle_maximum_cents
        else:
            least, most = self.side_minimum_cents, self.side_maximum_cents
        own_least, own_most = bet.minimum_cents, bet.maximum_cents
        return least if own_least is None else own_least, most if own_most is None else own_most

    def open_spots(self, coming: Coming) -> list[str]:
        """The spots on which a bettor may wager for this round. Where a house closes what a bet needs, all of it, that
        bet is not open either."""
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
        """What a wager on each progressive bet costs. A progressive bet is a bet with awards."""
        return {bet.spot: bet.price_cents for bet in self.bets if bet.has_awards}


class ShoeProcedure(Struct, frozen=True):
    """How a shoe is dealt out. The defaults are those of the Royal 9 sheet."""

    decks: int = 8
    cut_card_from_end: int = 14
    hands_after_cut_card: int = 1
    hands_after_cut_card_first: int = 1
    fewest_cards_to_open: int = 6
    drawn_in_error: str = "simulated_hand"
    burn_counts_first_card: bool = False

    @property
    def slips_are_burned(self) -> bool:
        """Whether a card drawn in error is burned; otherwise that card opens a simulated hand."""
        return self.drawn_in_error == "burn"


class Rounding(Struct, frozen=True):
    """To which multiple of cents the house rounds what it pays, and the commission that it takes: `up` or `down`."""

    unit_cents: int = 1
    pays: str = "up"
    commission: str = "up"


CENTS_UP = Rounding()
"""The rounding of a house whose game file says nothing of rounding."""


class House(Struct, frozen=True):
    """A table: its wires, its seats, the seats with a sensor, what is printed at each seat (`KS 9H`, or nothing), and
    its game by kind and name. `section` is the section of the game file that says how its kind is dealt.

    `tells_wagers`: bet recognition tells the controller every wager, over the control socket.
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
        """What the game file says of the active seats' roles; None where no seats have roles."""
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
    """What the simulation reads of a table file."""

    table: _Table
    shoe: _Shoe
    pins: _Pins
    control: _Control
    seats: tuple[_Seat, ...]


class _GameFile(Struct, frozen=True):
    """What the simulation reads of a game file; `section` is the one with the name of its kind."""

    kind: str
    name: str
    shoe: ShoeProcedure
    wagers: dict[str, Any]
    bets: tuple[Bet, ...]
    section: dict[str, Any]
    rounding: Rounding = CENTS_UP


def read_house(table_file: Path) -> House:
    """The house that a table file and its game file describe. Raises TableError: `sim_table_file` where the files
    cannot be used, `sim_not_simulated` where the table cannot be simulated."""
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
    """The spot that the sensors see: the spot in the table file, or else the only bet with awards."""
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
