"""`tablectl par`: print the house edge and the other figures of every bet of a game or a table (the par sheet).
`tablectl check` takes its house edges from this module too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from controller.basics.errors import TableError
from controller.basics.near import ended
from controller.basics.waited import waited_for
from controller.daemon.config import load
from controller.people.cli.counted import counted, counted_together
from controller.people.cli.files import writing
from controller.people.cli.meters import long_runs
from controller.people.cli.told import print_report
from controller.people.par.odds import Levels
from controller.people.par.page import OnTerms, csv_of, differences, edges, html, lines, percent
from controller.people.par.page_together import sensitivity_lines, together_lines
from controller.people.par.report import ParChange, report
from controller.people.par.sensitivity import by_cut_card, by_decks
from controller.people.par.sheet import Par, par, subject
from controller.pit.reference.settings import load as load_settings


def par_sheet(
    file: Path,
    against: Path | None,
    composition: bool,
    meters: Iterable[str],
    as_json: bool,
    page: Path | None,
    pit: Path | None = None,
    rounds_an_hour: int = 100,
    as_csv: bool = False,
    sensitivity: bool = False,
) -> int:
    """Print the par sheet (the odds of every bet) of a table's file or a game file. If `against` is given, print
    instead how this par sheet differs from the par sheet of the file `against`. With `page`, also write the sheet as a
    page to that file.

    `composition`: use the unseen cards of the table's open shoe. `meters`: levels of meters, each as NAME=CENTS. `pit`:
    the pit's settings, whose starting amounts are the levels of all other meters. `sensitivity`: also show how the
    figures change with the number of decks and the place of the cut card. Raises TableError.
    """
    levels: Levels = dict(map(_level, meters))
    if composition:
        return _composition(file, levels, as_json)
    sheet, on_terms = counted_of(file), OnTerms(rounds_an_hour=rounds_an_hour)
    if unknown := sorted(levels.keys() - _meters(sheet)):
        what = f"No bet of {file} awards the meter {unknown[0]}{ended(unknown[0], _meters(sheet))}"
        raise TableError("no_such_meter", what, f"The meters are: {', '.join(sorted(_meters(sheet))) or 'none'}.")
    if pit is not None:
        levels, on_terms = _by_the_pit(sheet, pit, levels, rounds_an_hour)
    with waited_for("Counting every deal"):
        count = counted_together(sheet.subject)
        moved = sensitivity_lines(sheet, by_decks(sheet.subject), [*by_cut_card(sheet)], levels) if sensitivity else ()
    beside = [*together_lines(sheet, count, levels), *moved]
    if page is not None:
        with writing(page):
            page.write_text(html(sheet, levels, on_terms, beside), "utf-8")
    if against is not None:
        _print_differences(sheet, counted_of(against), levels, as_json)
    elif as_json:
        print_report(report(sheet, levels, on_terms, count))
    else:
        text = csv_of(sheet, levels, on_terms) if as_csv else "\n".join((*lines(sheet, levels, on_terms, beside), ""))
        print(text, end="")
    return 0


def _meters(sheet: Par) -> set[str]:
    return {meter for bet in sheet.bets for meter in bet.edge_by_meter()}


def _by_the_pit(sheet: Par, pit: Path, levels: Levels, rounds_an_hour: int) -> tuple[Levels, OnTerms]:
    """Read the pit's settings file `pit`. Returns two values. The first is the levels of the meters; a meter without a
    given level gets the amount at which the pit begins it. The second is what each progressive bet keeps for the house
    in the long run under these settings."""
    terms = load_settings(pit)
    seeds = {name: meter.seed_cents for name, meter in terms.meters.items() if name in _meters(sheet)}
    return {**seeds, **levels}, OnTerms(long_runs(sheet, terms), rounds_an_hour)


def counted_of(file: Path) -> Par:
    """Return the par sheet (the odds of every bet) of a table's file or a game file. Raises TableError, and ConfigError
    with every mistake in the file."""
    with waited_for("Counting every deal"):
        return counted(subject(file))


def _composition(table: Path, levels: Levels, as_json: bool) -> int:
    """Print how the figures of each bet change from a fresh shoe to the unseen cards of the table's open shoe."""
    from controller.people.cli.composition import open_shoe

    shoe = open_shoe(Path(load(table).file.journal.path))
    rules = shoe.rules
    table_now = replace(
        subject(table), digest=shoe.config_digest, seats=rules.seats, shoe=rules.shoe, play=rules.play, bets=rules.bets
    )
    if not as_json:
        print(f"shoe {shoe.number}, round {shoe.round or '-'}: what each bet is worth with the unseen cards")
        print("for surveillance, never for players; burned and face-down cards count as unseen")
    with waited_for("Counting every deal"):
        fresh, unseen = par(table_now), par(table_now, shoe.unseen)
    _print_differences(fresh, unseen, levels, as_json)
    return 0


def _print_differences(one: Par, other: Par, levels: Levels, as_json: bool) -> None:
    if as_json:
        print_report(ParChange(report(one, levels), report(other, levels)))
    else:
        print("\n".join(differences(one, other, levels)))


def edge_lines(sheet: Par, highest: float) -> Iterator[str]:
    """Yield a warning for each bet whose house edge is below zero or above `highest`, a fraction such as 0.3. A bet
    that can win a progressive meter gets no warning of a high edge. At the end, yield one line that lists the edges of
    all bets, and the bets that were not counted."""
    for bet in sheet.bets:
        if not bet.outcomes:
            continue
        edge = bet.edge({})
        if edge < 0:
            yield f"warning: the house loses on {bet.spot}: its edge is {percent(edge)}"
        elif edge > highest and not bet.edge_by_meter():
            yield f"warning: the house keeps {percent(edge)} of {bet.spot}, more than {100 * highest:g}%"
    yield f"house edges: {edges(sheet)}" + "".join(f", {spot} not counted" for spot in sheet.left_out)


def _level(text: str) -> tuple[str, int]:
    name, _, cents = text.partition("=")
    if not (cents.isascii() and cents.isdecimal() and len(cents) <= 15):
        do = "Write its name and cents: --meter banker_personal=1000000."
        raise TableError("no_such_meter", f"{text} is not a meter and its level.", do)
    return name, int(cents)
