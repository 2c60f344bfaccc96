"""Shows a par sheet (the odds of every bet) to people: as lines for a terminal, as CSV, and as an HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from csv import writer
from fractions import Fraction
from html import escape
from io import StringIO

from msgspec import Struct
from msgspec.structs import replace

from controller.basics.money import amount
from controller.people.par.capped import Capped, capped
from controller.people.par.long_run import LongRun
from controller.people.par.odds import Levels, Odds, Outcome
from controller.people.par.sheet import Par
from controller.rules.game.bets import Bet, bet_on
from controller.rules.game.wagers import WagerRules


class OnTerms(Struct, frozen=True):
    """What each progressive bet keeps for the house in the long run by the pit's settings for the meters, and how many
    rounds are dealt in an hour."""

    runs: Sequence[LongRun] = ()
    rounds_an_hour: int = 100

    def of(self, bet: Odds) -> LongRun | None:
        """Return what this bet keeps for the house in the long run, or None if the pit's settings for its meters are
        not known."""
        return next((run for run in self.runs if (run.spot, run.seats) == (bet.spot, bet.seats)), None)


NO_TERMS = OnTerms()


def lines(of: Par, levels: Levels, on_terms: OnTerms = NO_TERMS, beside: Sequence[str] = ()) -> Iterator[str]:
    """Yield the par sheet (the odds of every bet) as lines for a terminal. `beside` holds more lines, about all bets
    together, which are yielded too."""
    yield f"{_title(of)}: {_cards(of)}"
    yield f"configuration {of.subject.digest}"
    for bet in of.bets:
        yield ""
        yield f"{name_of(bet)}: house edge {_edge(bet, levels)}"
        if bet.outcomes:
            yield f"  exactly {bet.edge(levels)}"
            yield f"  standard deviation {bet.deviation(levels):.5f}, wins {percent(bet.hit_frequency)} of the time"
            yield f"  {_hold(bet, levels, on_terms)}"
        yield from (f"  {line}" for line in _bounds(bet))
        width = max((len(f"{outcome.ways:,}") for outcome in bet.outcomes), default=0)
        for outcome in bet.outcomes:
            often = percent(Fraction(outcome.ways, bet.deals))
            yield f"  {outcome.ways:>{width},}  {often:>11}  {outcome.result}: {outcome.when}"
        yield from (f"  {line}" for line in (*_capped_lines(of, bet), *_closing_lines(of, bet)))
        yield from (f"  {line}" for line in (*_meter_lines(bet, levels), *_long_run_lines(bet, on_terms)))
    yield ""
    yield from of.play
    yield from _hands(of)
    yield from beside
    yield _left_out(of)
    yield of.method


def edges(of: Par) -> str:
    """Return one line of text with the house edge of every bet."""
    return ", ".join(f"{name_of(bet)} {_edge(bet, {}, 3)}" for bet in of.bets)


def differences(one: Par, other: Par, levels: Levels) -> Iterator[str]:
    """Yield lines that say how each bet's figures change from the par sheet `one` to the par sheet `other`."""
    yield f"from {_title(one)}: {_cards(one)}"
    yield f"to   {_title(other)}: {_cards(other)}"
    before, after = ({name_of(bet): bet for bet in each.bets} for each in (one, other))
    for name in dict.fromkeys([*before, *after]):
        was, is_ = before.get(name), after.get(name)
        if was is None or is_ is None:
            said, bet = ("no longer offered", was) if is_ is None else ("new", is_)
            assert bet is not None
            yield f"{name}: {said}; house edge {_edge(bet, levels)}"
        elif _figures(was) == _figures(is_):
            yield f"{name}: unchanged; house edge {_edge(was, levels)}"
        elif not was.outcomes or not is_.outcomes:
            yield f"{name}: house edge {_edge(was, levels)} -> {_edge(is_, levels)}"
        else:
            yield f"{name}:"
            yield _changed("house edge", was.edge(levels), is_.edge(levels))
            yield _changed("wins", was.hit_frequency, is_.hit_frequency)
            yield f"  standard deviation {was.deviation(levels):.5f} -> {is_.deviation(levels):.5f}"
            yield from (f"  {when}: {line}" for when, bet in (("before", was), ("after", is_)) for line in _bounds(bet))


def _figures(bet: Odds) -> object:
    """Return the figures of the bet that can be compared between two par sheets. Each outcome is given as a fraction of
    all deals, because the deals of the two sheets may have different numbers of cards."""
    return bet.bounds, [(replace(each, ways=0), Fraction(each.ways, bet.deals)) for each in bet.outcomes]


def _changed(what: str, was: Fraction, is_: Fraction) -> str:
    return f"  {what} {percent(was)} -> {percent(is_)} ({100 * float(is_ - was):+.5f})"


def _edge(bet: Odds, levels: Levels, decimals: int = 5) -> str:
    """Return the house edge of a bet in words. If its outcomes are not known, return the two bounds of the edge, or one
    figure if both bounds are equal."""
    if not bet.outcomes and bet.bounds is not None:
        return " to ".join(dict.fromkeys(percent(bound, decimals) for bound in bet.bounds))
    return f"{percent(bet.edge(levels), decimals)}{_meters_of(bet, levels)}"


def _bounds(bet: Odds) -> Iterator[str]:
    if bet.bounds is not None and bet.outcomes:
        least, most = map(percent, bet.bounds)
        yield f"whatever is chosen, the house edge is from {least} to {most}"


def _hold(bet: Odds, levels: Levels, on_terms: OnTerms) -> str:
    rounds = on_terms.rounds_an_hour
    mean, least, most = bet.hold(levels, rounds)
    hour = f"in an hour of {rounds} rounds with one unit each"
    return f"{hour} the house holds {mean:+.3f} units on average, 19 times in 20 from {least:+.2f} to {most:+.2f}"


def csv_of(of: Par, levels: Levels, on_terms: OnTerms = NO_TERMS) -> str:
    """Return the par sheet (the odds of every bet) as CSV, with a line for each outcome of each bet. Each line also
    repeats the figures of the bet as a whole."""
    out = StringIO()
    written = writer(out, lineterminator="\n")
    of_bet = "edge", "standard_deviation", "hit_frequency", "hold_an_hour", "hold_from", "hold_to"
    written.writerow(("spot", "seats", "when", "result", "ways", "probability", "net", *of_bet))
    for bet in of.bets:
        for each in bet.outcomes:
            figures = bet.deviation(levels), float(bet.hit_frequency), *bet.hold(levels, on_terms.rounds_an_hour)
            ends = each.when, each.result, each.ways, each.ways / bet.deals, each.worth(levels)
            written.writerow((bet.spot, " ".join(bet.seats), *ends, bet.edge(levels), *figures))
    return out.getvalue()


def percent(part: Fraction, decimals: int = 5) -> str:
    """Return the fraction `part` as a percentage for people, such as "1.05791%"."""
    return f"{100 * float(part):.{decimals}f}%"


def capped_of(of: Par, odds: Odds) -> Capped | None:
    """Return the house edge of the bet at the greatest wager, if the house limits what it pays for one wager. Returns
    None if the bet has no such limit, or if its outcomes are not counted."""
    bet = bet_on(of.subject.bets, odds.spot)
    return capped(bet, odds, of.subject.wagers) if bet is not None else None


def _capped_lines(of: Par, odds: Odds) -> Iterator[str]:
    if (found := capped_of(of, odds)) is not None:
        in_full = f"a wager up to {amount(found.in_full_to_cents)} is paid in full"
        yield f"a wager wins at most {amount(found.pays_at_most_cents)}: {in_full}"
        yield f"at the greatest wager, {amount(found.greatest_cents)}, the house edge is {percent(found.edge)}"


def closing(of: Par, odds: Odds) -> tuple[int | None, bool]:
    """Return when a bet takes no wagers in a shoe, as two values: the last round in which it takes wagers (None if
    there is no such limit), and whether it is closed in the shoe's last round. A bet is closed by its own rule or by
    the rule for all bets."""
    bet, all_ = bet_on(of.subject.bets, odds.spot), of.subject.wagers
    words: list[WagerRules | Bet] = [all_] if bet is None else [all_, bet]
    last = min((word.no_bets_after_round for word in words if word.no_bets_after_round is not None), default=None)
    return last, any(word.no_bets_in_final_round for word in words)


def _closing_lines(of: Par, odds: Odds) -> Iterator[str]:
    """Yield a line that says in which rounds of a shoe the bet takes no wagers, if there are any. No figure of the par
    sheet depends on that, because each figure is for one wager with a fresh shoe."""
    last, final = closing(of, odds)
    rounds = f" of about {of.hands[0].about:.0f}" if len(of.hands) == 1 else ""
    when = [f"after round {last}{rounds}"] * (last is not None) + ["in a shoe's last round"] * final
    if when:
        yield f"no wager is taken {' or '.join(when)}; the figures of one wager stay the same"


def html(of: Par, levels: Levels, on_terms: OnTerms = NO_TERMS, beside: Sequence[str] = ()) -> str:
    """Return the par sheet (the odds of every bet) as an HTML page to print. `beside` holds more lines, about all bets
    together, which the page shows too."""
    bets = "\n".join(_bet_html(of, bet, levels, on_terms) for bet in of.bets)
    rows = "".join(
        f"<tr><td>{escape(name_of(bet))}<td>{escape(_edge(bet, levels))}"
        + (f"{_number(f'{bet.deviation(levels):.5f}')}{_number(percent(bet.hit_frequency))}" if bet.outcomes else "")
        for bet in of.bets
    )
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{escape(of.subject.name)}: par sheet</title>
<style>
body {{ font: 10pt/1.4 serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border-bottom: 1px solid #bbb; padding: .2em .6em .2em 0; text-align: left; vertical-align: top; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
ul {{ padding-left: 1.2em; }}
section {{ break-inside: avoid; }}
.exact {{ overflow-wrap: anywhere; font-size: 8pt; }}
</style>
<main>
<h1>{escape(of.subject.name)}: par sheet</h1>
<p>Rule sheet {escape(of.subject.sheet)}. {escape(_cards(of))}.</p>
<p>Configuration, SHA-256: <span class="exact">{of.subject.digest}</span></p>
<h2>Method</h2>
<p>{escape(of.method)}</p>
<h2>Bets</h2>
<table><tr><th>bet<th>house edge<th class="number">standard deviation<th class="number">wins{rows}</table>
{_list("The best play", of.play)}
{_list("Rounds", _hands(of))}
{_list("Together", beside)}
<p>{escape(_left_out(of))}</p>
{bets}
</main>
</html>
"""


def _list(heading: str, lines: Iterable[str]) -> str:
    said = "".join(f"<li>{escape(line)}" for line in lines)
    return f"<section><h2>{heading}</h2><ul>{said}</ul></section>" if said else ""


def _number(text: str) -> str:
    return f'<td class="number">{text}'


def _bet_html(of: Par, bet: Odds, levels: Levels, on_terms: OnTerms) -> str:
    rows = "".join(_outcome_html(outcome, bet) for outcome in bet.outcomes)
    hold = [_hold(bet, levels, on_terms)] if bet.outcomes else []
    of_house = *_capped_lines(of, bet), *_closing_lines(of, bet)
    said = *hold, *_bounds(bet), *of_house, *_meter_lines(bet, levels), *_long_run_lines(bet, on_terms)
    notes = "".join(f"<p>{escape(line)}</p>" for line in said)
    exact = f', exactly <span class="exact">{bet.edge(levels)}</span>' if bet.outcomes else ""
    head = '<tr><th>when<th>result<th class="number">deals<th class="number">probability'
    return f"""<section>
<h2>{escape(name_of(bet))}</h2>
<p>House edge {escape(_edge(bet, levels))}{exact}</p>
{f"<table>{head}{rows}</table>" if rows else ""}
{notes}</section>"""


def _outcome_html(outcome: Outcome, bet: Odds) -> str:
    often = percent(Fraction(outcome.ways, bet.deals))
    return f"<tr><td>{escape(outcome.when)}<td>{escape(outcome.result)}{_number(f'{outcome.ways:,}')}{_number(often)}"


def _left_out(of: Par) -> str:
    """Return a line that lists the settings which most game files leave out, with the value of each in this game."""
    keys = ", ".join(f"{key} = {value}" for key, value in of.subject.left_out)
    return f"By the file, or where it says nothing: {keys}"


def _title(of: Par) -> str:
    return f"{of.subject.name} (rule sheet {of.subject.sheet})"


def _cards(of: Par) -> str:
    return f"{of.cards} cards, {of.deals:,} ordered deals of {of.cards_a_deal}"


def name_of(bet: Odds | LongRun) -> str:
    """Return the name of the bet's spot. If the bet is not worth the same at every seat, the seats are added to the
    name."""
    return f"{bet.spot} at {', '.join(bet.seats)}" if bet.seats else bet.spot


def _meters_of(bet: Odds, levels: Levels) -> str:
    """Return a text that says for which amounts on the bet's progressive meters the house edge is computed."""
    meters = bet.edge_by_meter()
    if not meters:
        return ""
    if not any(levels.get(meter) for meter in meters):
        return " with empty meters"
    return " with " + ", ".join(f"{meter} at {amount(levels.get(meter, 0))}" for meter in meters)


def _meter_lines(bet: Odds, levels: Levels) -> Iterator[str]:
    for meter, each in bet.edge_by_meter().items():
        taken = percent(each * 100_000, 7)
        yield f"each $1,000 on {meter} lowers the edge by {taken}; {_break_even(bet, meter, levels)}"


def _long_run_lines(bet: Odds, on_terms: OnTerms) -> Iterator[str]:
    if (run := on_terms.of(bet)) is None:
        return
    yield f"on the pit's terms the house keeps {percent(run.edge)} in the long run, with one wager a round"
    yield f"exactly {run.edge}"
    for each in run.fillings:
        reserve = 1 - each.from_house / each.seeds if each.seeds else Fraction(1)
        yield (
            f"{each.meter}: each wager gives {percent(each.given, 3)} to the meter and its reserve; its seeds cost "
            f"{percent(each.seeds, 3)}, of which the reserve pays {percent(reserve, 1)}"
        )
    for award, often in run.often:
        if often:
            hours = float(1 / often / on_terms.rounds_an_hour)
            pace = f"at {on_terms.rounds_an_hour} rounds an hour once in {hours:,.1f} hours"
            yield f"{award}: a wager wins it once in {float(1 / often):,.1f} rounds, {pace}"


def _break_even(bet: Odds, meter: str, levels: Levels) -> str:
    cents = bet.break_even_cents(meter, levels)
    if cents is None:
        return "these cards never win the meter"
    beside = "the other meters as they are" if len(bet.edge_by_meter()) > 1 else "nothing else changed"
    if cents <= 0:
        return f"the house has no edge even while the meter is empty, {beside}"
    return f"the house has no edge from {amount(cents)} on, {beside}"


def _hands(of: Par) -> Iterator[str]:
    for hands in of.hands[:1]:
        cards = ", ".join(f"{cards} cards {percent(often, 3)}" for cards, often in hands.by_cards.items())
        yield f"{'A round' if hands.seats is None else 'A seat'} takes {cards}."
    for hands in of.hands:
        played = "" if hands.seats is None else f"With {hands.seats} seat{'s'[: hands.seats - 1]} in play: "
        yield (
            f"{played}{float(hands.cards_a_round):.4f} cards a round on average, and about {hands.about:.0f} rounds in "
            f"a shoe (an estimate); by the burn and the cut card, from {hands.fewest} to {hands.most}."
        )
