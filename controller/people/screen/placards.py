"""Prepares the table's placard (what holds for the whole shoe) for the players' page: limits, seats and what each bet
pays. What each bet pays is taken only from the pay tables in the game's file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from operator import itemgetter
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from controller.basics.money import short
from controller.contract.face.placard import Limits, Placard, PlacardBet, PlacardRow, When
from controller.people.screen.wording import SUIT_SIGNS, Text, either, joined, knows, plain, same, say

_SHORT = 3
"""A bet with at most this many rows has no pay table of its own."""

_NAMES = ("player", "banker", "dealer", "tie", "wins", "natural", "next", "turns")

_SIDES = {"player": "banker", "banker": "player"}


def placard_view(placard: Placard) -> dict[str, Any]:
    """Return the parts of the players' page that do not change during a shoe, such as limits, seats and pay tables."""
    return {
        "name": placard.name,
        "game": placard.game,
        "seat_hands": placard.seat_hands,
        "seats_told": placard.seats_told,
        "languages": placard.languages,
        "names": {name: say("label", name) for name in _NAMES},
        "marks": {winner: say("mark", winner) for winner in ("player", "banker", "tie")},
        "cards": {"--": say("label", "face_down"), **{suit: say("when", suit) for suit in SUIT_SIGNS}},
        "limits": _limits(placard),
        "seats": [
            {"seat": seat.seat, "label": say("label", "seat", seat=seat.seat), "k9": (seat.k9 or "").split()}
            for seat in placard.seats
        ],
        "meters": [{"meter": meter, "label": meter_name(meter)} for meter in meters_of(placard)],
        "pays": list(boards(placard.bets)),
    }


def beside(bets: Sequence[PlacardBet]) -> list[tuple[Text, Text]]:
    """Return the bets that a bettor may make only together with another bet, as pairs of texts. The first text is the
    bet's name. The second names the bets of which the bettor must make at least one."""
    of = [(bet.spot, [bet_name(bets, each) for each in bet.needs]) for bet in bets if bet.needs]
    told = [(bet_name(bets, spot), either(others)) for spot, others in of]
    return [line for place, line in enumerate(told) if line not in told[:place]]  # a bet on either hand, once


def either_of_each(bets: Sequence[PlacardBet], groups: Sequence[Sequence[str]]) -> Text:
    """Return the names of the spots as one text, with "or" within a group and ";" between groups: `"Player or Banker;
    Tie or Small"`."""
    return joined([either([_name("spot", spot) for spot in group]) for group in groups], "semicolon")


def meters_of(placard: Placard) -> list[str]:
    """Return the codes of the progressive meters that the bets award, in the order in which the pay tables name the
    meters."""
    rows = (row for bet in placard.bets for row in bet.rows)
    return list(dict.fromkeys(row.meter for row in rows if row.meter is not None))


def meter_name(meter: str) -> Text:
    """Return the name of a progressive meter for people, as the page writes it beside the meter's amount."""
    return _name("award", meter)


def bet_name(bets: Sequence[PlacardBet], spot: str) -> Text:
    """Return the name of the bet on `spot` for people. Two bets that differ only in their side, such as Dragon Bonus on
    Player and on Banker, have the same name."""
    bet = next(bet for bet in bets if bet.spot == spot)
    if _twin(bet, bets) is None:
        return _name("spot", spot)
    stem = spot.rpartition("_")[0]
    return _name("spot", f"{stem}_bonus" if knows("spot", f"{stem}_bonus") else stem)


def award_cents(placard: Placard, award: str) -> int | None:
    """Return the amount of an award in cents; None if the award has no fixed amount, as with a meter."""
    rows = (row for bet in placard.bets for row in bet.rows)
    return next((row.cents for row in rows if row.award == award), None)


def award_name(placard: Placard, spot: str, award: str) -> Text:
    """Return the name of an award for people. If the language files do not know the award, because the house made it
    up, the name is that of its bet, followed by the words in the pay table."""
    if knows("award", award):
        return say("award", award)
    rows = (row for bet in placard.bets if bet.spot == spot for row in bet.rows)
    row = next((row for row in rows if row.award == award), None)
    return same(plain(award)) if row is None else joined([_name("spot", spot), _row_words(row, spot, False)], "colon")


def _limits(placard: Placard) -> list[dict[str, Any]]:
    """Return the lines of the placard that tell the limits, in this order: the circle bets, the side bets, the bets
    with a fixed price, and special limits. Bets of one kind without limits of their own share a line."""
    limits = placard.limits
    told: list[tuple[Text, str]] = []
    own = [bet for bet in placard.bets if bet.minimum_cents is not None or bet.maximum_cents is not None]
    priced = [bet for bet in placard.bets if bet.price_cents is not None]
    for kind, least, most in (
        ("circle", limits.circle_minimum_cents, limits.circle_maximum_cents),
        ("side", limits.side_minimum_cents, limits.side_maximum_cents),
    ):
        of_kind = [bet for bet in placard.bets if bet.limits == kind]
        for bet in (bet for bet in of_kind if bet in own):
            of_bet = (bet.minimum_cents, least), (bet.maximum_cents, most)
            ends = [ours if ours is not None else of_all for ours, of_all in of_bet]
            told.append((_name("spot", bet.spot), _range(*ends)))
        if spots := [_name("spot", bet.spot) for bet in of_kind if bet not in own and bet not in priced]:
            told.append((joined(spots, "list") if kind == "circle" else say("limit", kind), _range(least, most)))
    if limits.tie_only_meets_minimum and any(bet.spot == "tie" for bet in placard.bets):
        told.append((say("limit", "tie_alone"), short(limits.circle_minimum_cents)))
    told += [(_name("spot", bet.spot), short(bet.price_cents or 0)) for bet in priced]
    capped = ((bet.spot, bet.pays_at_most_cents) for bet in placard.bets)
    told += [(say("limit", "pays_at_most", bet=_name("spot", spot)), short(most)) for spot, most in capped if most]
    lines = [(label, same(text)) for label, text in told]
    for bet in placard.bets:
        if bet.maximum_of_needed is not None:
            needed = either([bet_name(placard.bets, each) for each in bet.needs])
            times = Fraction(*map(int, bet.maximum_of_needed.split(":")))
            lines.append((_name("spot", bet.spot), say("limit", "of_needed", times=str(times), needed=needed)))
    lines += _closing(placard)
    return [{"label": label, "text": text} for label, text in lines]


def _closing(placard: Placard) -> Iterator[tuple[Text, Text]]:
    """Yield the lines that say up to which round of a shoe wagers are taken: one for every bet, and one for each bet
    with a rule of its own."""
    words: list[tuple[Text, Limits | PlacardBet]] = [(say("limit", "every_bet"), placard.limits)]
    words += [(_name("spot", bet.spot), bet) for bet in placard.bets]
    for label, of in words:
        said = [say("limit", "after_round", round=of.no_bets_after_round)] if of.no_bets_after_round is not None else []
        said += [say("limit", "final_round")] if of.no_bets_in_final_round else []
        if said:
            yield label, joined(said, "comma")


def _range(least_cents: int, most_cents: int) -> str:
    return f"{short(least_cents)} – {short(most_cents)}"


def _name(section: str, key: str) -> Text:
    return say(section, key) if knows(section, key) else same(plain(key))


def boards(bets: Sequence[PlacardBet], *, at_length: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the pay tables: one for all bets with few rows in their pay table, and one for each bet with many rows. Two
    long bets that differ only in their side, such as Dragon Bonus on Player and on Banker, share a table.

    `at_length` asks for the long texts of the rules page; without it the texts are short, for the table's screen.
    `meters` in a yielded table is True if only this table tells how a meter is won.
    """
    few = [bet for bet in bets if len(bet.rows) <= _SHORT]
    of_bets = {bet.spot: [*_short_lines(bet, at_length)] for bet in few}
    if not at_length:
        of_bets.setdefault("tie", []).extend(_pushed_by_ties(few))
    if lines := [*chain.from_iterable(of_bets.values())]:
        yield {"title": say("label", "pays"), "lines": lines, "meters": any(map(_tells_of_a_meter, few))}
    shown: list[object] = []
    for bet in bets:
        if len(bet.rows) <= _SHORT or bet.rows in shown:
            continue
        title, own_side = bet_name(bets, bet.spot), ""
        if all("with_up_card" in row.when for row in bet.rows):
            title = joined([title, say("label", "with_up_card")], "comma")
        if (twin := _twin(bet, bets)) is not None:
            shown.append(twin.rows)
            own_side = bet.spot.rpartition("_")[2]
        rows: Iterable[PlacardRow] = bet.rows
        if any(row.when.get("natural") for row in rows):  # decides before the rows of hands without one
            margins = any("margin" in row.when for row in rows)
            rows = [replace(row, when=_natural_said_once(row, margins)) for row in rows]
        lines = [{"when": _row_words(row, own_side, at_length), "pays": _row_pays(row)} for row in rows]
        spots = [bet.spot] if twin is None else [bet.spot, twin.spot]
        yield {"title": title, "lines": lines, "spots": spots, "meters": _tells_of_a_meter(bet)}


def _tells_of_a_meter(bet: PlacardBet) -> bool:
    """Tell whether the bet's pay table must be shown, because only the table says how a meter is won. This is so if an
    award has a different name from the meter that it pays."""
    return any(row.meter not in (None, row.award) for row in bet.rows)


def _twin(bet: PlacardBet, bets: Sequence[PlacardBet]) -> PlacardBet | None:
    """Return the bet that differs from `bet` only in its side; None if there is no such bet. Example: for Dragon Bonus
    on Player, return Dragon Bonus on Banker."""
    spot, rows = _other_side(bet.spot), _other_side(to_builtins(bet.rows))
    sided = "_" in spot and spot != bet.spot
    return next((other for other in bets if sided and other.spot == spot and [*to_builtins(other.rows)] == rows), None)


def _natural_said_once(row: PlacardRow, margins: bool) -> When:
    """Return the condition of a pay table row without the words "not a natural". They are not needed, because other
    rows of the same pay table are for naturals. `margins` says whether some rows of the pay table ask for a margin. If
    so, the row for a winning natural says that its margin does not count."""
    told = {word: said for word, said in row.when.items() if (word, said) != ("natural", False)}
    any_margin = {"natural": "natural_by_any"} if margins and row.pays is not None else {}
    return {any_margin.get(word, word): said for word, said in told.items()}


def _short_lines(bet: PlacardBet, at_length: bool) -> Iterator[dict[str, Any]]:
    """Yield the pay table lines of a bet with few rows. Each line begins with the bet's name, and leaves out conditions
    that the name already tells. On the table's screen the usual case comes before its exceptions, and rows that say
    only that a tie gives the wager back are left out. With `at_length` (on the rules page) the lines keep the order of
    the pay table, because its first row that applies decides."""
    spot = bet.spot
    named = {spot.removesuffix("_pair"): {"pair": True}}  # the condition that "Player Pair" tells

    def exceptional_in(row: PlacardRow) -> bool:
        told_by_name = row.when == named and not row.words and not at_length
        return not told_by_name and any(said != [spot] for said in row.when.values())

    rows = [(row, exceptional_in(row)) for row in bet.rows]
    for row, exceptional in rows if at_length else sorted(rows, key=itemgetter(1)):
        if _tie_pushes(row) and not at_length:
            continue  # one line says this of all such bets
        name = _name("spot", spot)
        if exceptional and row.when.get("winner") == [spot] and not row.words:
            name = _row_words(row, "", at_length)  # "Banker wins, total 6" says whose bet it is
        elif exceptional:
            name = joined([name, _row_words(row, spot, at_length)], "colon")
        yield {"when": name, "pays": _row_pays(row), "spots": [spot]}


def _pushed_by_ties(bets: Iterable[PlacardBet]) -> Iterator[dict[str, Any]]:
    """Yield one line that names all bets whose wagers a tie gives back. Bets that have a letter on the roads (charts of
    results) are named by it: `P, B: tie`. The page may leave this line out if it has no room, because the rules page
    says the same."""
    if spots := [bet.spot for bet in bets if any(map(_tie_pushes, bet.rows))]:
        names = [say("mark", spot) if knows("mark", spot) else _name("spot", spot) for spot in spots]
        tied = joined([joined(names, "list"), say("when", "winner_tie")], "colon")
        yield {"when": tied, "pays": say("pays", "push"), "spots": spots, "spare": True}


def _tie_pushes(row: PlacardRow) -> bool:
    """Tell whether this pay table row says that a tie gives the wager back, as it does on Player and Banker."""
    return row.result == "push" and row.when == {"winner": ["tie"]} and not row.words


def _other_side(value: Any) -> Any:
    """Return the value with Player and Banker exchanged in all names: `dragon_player` becomes `dragon_banker`."""
    match value:
        case str():
            stem, part, side = value.rpartition("_")
            return f"{stem}{part}{_SIDES.get(side, side)}"
        case dict():
            return {_other_side(key): _other_side(said) for key, said in value.items()}
        case list() | tuple():
            return [_other_side(each) for each in value]
        case _:
            return value


def _row_words(row: PlacardRow, own_side: str, at_length: bool) -> Text:
    """Return the words for the first column of a pay table row. These are the house's own words if it has written some.
    Otherwise they are the name of the award, if the language files know it, or else the row's condition. On the table's
    screen (without `at_length`) the name of a known award is shown instead of the house's words."""
    named = row.award is not None and knows("award", row.award)
    made = say("award", row.award or "") if named else when_words(row.when, own_side, at_length=at_length)
    own = (row.words or {}) if at_length or not named else {}
    return {language: own.get(language, text) for language, text in made.items()}


def _row_pays(row: PlacardRow) -> Text:
    """Return what a pay table row pays, in words. If an award has the same name as its meter, the meter's name is left
    out."""
    if (meter := row.meter) is not None:
        if meter == row.award:
            return say("pays", "meter") if row.share == "1:1" else same(_percent(row.share))
        return say("pays", "share", share=_percent(row.share), meter=meter_name(meter))
    if row.cents is not None:
        return same(short(row.cents))
    if row.result is not None:
        return say("pays", row.result)
    commission = row.commission_taken or row.commission_owed
    if commission is None:
        return same(row.pays or "")
    taken = "commission" if row.commission_taken else "commission_owed"
    return say("pays", taken, ratio=row.pays or "", percent=_percent(commission).rstrip("%"))


def _percent(ratio: str) -> str:
    part = Fraction(*map(int, ratio.split(":"))) * 100
    return f"{float(part):g}%"


def when_words(when: When, own_side: str = "", *, at_length: bool = False) -> Text:
    """Return the condition of a pay table row in words. `own_side` is the side that the bet is on. The words leave out
    that this side wins, unless `at_length` is given."""
    said: list[Text] = []
    others = dict(when)
    if when.get("winner") == [own_side]:
        del others["winner"]
        said += [_taken_as_win(others)] if at_length else []
    for word, value in others.items():
        if word == "winner":
            sides = [say("label", each) for each in value if each != "tie"]
            won = [say("when", "winner", values=either(sides))] if sides else []
            tied = [say("when", "winner_tie")] if "tie" in value else []
            said.append(either([*won, *tied]))
        elif isinstance(value, dict):
            hand = joined(_hand(value), "comma")
            said.append(hand if when.get("winner") == [word] or own_side == word else say("when", word, hand=hand))
        else:
            said.append(_said(word, value))
    return joined(said, "comma") if said else say("when", "always")


def _taken_as_win(others: When) -> Text:
    """Return words that say that the bet's own side wins, and how: with a natural, or by a margin. `others` are the
    conditions of the pay table row. Those that the returned words express are removed from `others`."""
    for natural in ("natural", "natural_by_any"):
        if others.pop(natural, None):
            return say("when", f"wins_{natural}")
    if "margin" in others:
        return say("when", "wins_margin", values=_among(others.pop("margin")))
    return say("when", "wins")


def _hand(words: dict[str, Any]) -> list[Text]:
    """Return a text for each condition that a pay table row sets on one hand, or on some cards. A total and a number of
    cards are put together in one text."""
    match words:
        case {"total": total, "cards": [cards], **others}:
            both = say("when", "total_on_cards", total=_among(total), cards=str(cards))
            return [both, *(_said(word, said) for word, said in others.items())]
    return [_said(word, said) for word, said in words.items()]


def _said(word: str, value: Any) -> Text:
    match word, value:
        case _, bool():
            return say("when", word if value else f"not_{word}")
        case "has", {"of": list(of), "times": list(times)}:
            return say("when", "has_none" if times == [0] else "has_times", values=_among(of), times=_among(times))
        case "has", {"of": list(of)}:
            return say("when", "has", values=_among(of))
        case "first_two", [one, other]:
            return say("when", word, one=_among(one), other=_among(other))
        case "seat_pair", _:
            return say("when", f"seat_pair_{value}")
        case "ranks", _:
            return say("when", word, values="-".join(map(_card_text, value)))
        case "color" | "suit", _:
            return say("when", word, values=either([say("when", each) for each in value]))
        case _:
            return say("when", word, values=_among(value))


def _among(values: list[Any]) -> Text:
    return either([same(_card_text(str(each))) for each in values])


def _card_text(text: str) -> str:
    """Return a rank, a suit or a card as people write it, such as `10♠`."""
    return "".join({"T": "10", **SUIT_SIGNS}.get(letter, letter) for letter in text)
