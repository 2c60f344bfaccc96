"""Makes the web page with the rules of the table's game, in every language. Its sentences tell the rules that are the
same in every house. Its tables show the drawing rules, limits and bets in the house's own file."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import NamedTuple

import msgspec

from controller.basics.money import short
from controller.contract.face.placard import Placard, PlacardBet
from controller.people.screen.drawing import Lines, numbers, tables
from controller.people.screen.placards import beside, boards, either_of_each, placard_view
from controller.people.screen.wording import Text, words

_PAGE = Path(__file__).with_name("pages") / "help.html"


def rules_page(placard: Placard | None, languages: Iterable[str]) -> str:
    """Return the rules page in HTML, with a column for each language. If `placard` is None, the page holds only what is
    true of every game."""
    columns = "".join(_column(placard, language) for language in languages)
    return _PAGE.read_text("utf-8").replace("{{columns}}", columns)


class Part(NamedTuple):
    """One part of the rules page: a title, sentences, and the lines of a table of drawing rules. Sentences or lines may
    be empty."""

    title: str
    text: str
    lines: Lines


class _Written(msgspec.Struct, frozen=True):
    """One part of the rules page as a language file writes it, under `[help.part.NAME]`."""

    title: str
    text: str = ""
    table: str = ""
    of: str | None = None


class _Help(msgspec.Struct, frozen=True):
    """The texts of the rules page as a language file writes them, under `[help]`."""

    title: str
    pays: str
    pays_how: str
    limits: str
    beside: str
    part: dict[str, _Written]


def _help(language: str) -> _Help:
    return msgspec.convert(words(language)["help"], _Help)


def parts_of(placard: Placard | None, language: str) -> list[Part]:
    """Return the parts of the rules page that apply to this table's game, in one language."""
    has, filled = (_kinds(placard), _figures(placard, language)) if placard else (set[str](), {})
    drawn = tables(placard.drawing, language) if placard else {}
    has |= {f"draws_{name}" for name in drawn}
    return [
        Part(part.title, part.text.format(**filled), drawn.get(part.table, []))
        for part in _help(language).part.values()
        if part.of is None or part.of in has
    ]


def _figures(placard: Placard, language: str) -> dict[str, str]:
    """Return the values for the placeholders in the sentences of the rules page: the amounts and bets of this table,
    and the rules that differ between houses, such as which pairs may be split."""
    seats, limits = len(placard.seats), placard.limits
    told = {
        "naturals": numbers(placard.naturals),
        "seats": str(seats),
        "players": str(2 * seats),
        "least_circle": short(limits.circle_minimum_cents),
        "step": short(limits.increment_cents),
        "pays_unit": short(placard.pays_unit_cents),
    }
    bets = _bets_of(placard) | {"one_of": either_of_each(placard.bets, _groups(placard))}
    return told | placard.house_ways | {kind: text[language] for kind, text in bets.items()}


def _groups(placard: Placard) -> list[list[str]]:
    """Return the groups of spots of which a bettor may bet on only one, such as Player and Banker. Spots that this game
    does not have are left out, and so are groups with fewer than two spots."""
    spots = {bet.spot for bet in placard.bets}
    groups = ([spot for spot in group if spot in spots] for group in placard.limits.one_of)
    return [group for group in groups if len(group) > 1]


def _bets_of(placard: Placard) -> dict[str, Text]:
    """Return the bets that the rules page names in its parts about certain bets, as a dict. It maps the part's kind to
    the names of the bets. For example, `stake_kept` has the bets whose awards do not return the stake."""
    circles = [bet for bet in placard.bets if bet.limits == "circle"]
    of: dict[str, list[PlacardBet]] = {}
    for bet in placard.bets:
        if bet.spot == "tie" and placard.limits.tie_only_meets_minimum and circles:
            of["tie_alone"] = circles
        if any(row.award for row in bet.rows):
            of.setdefault("stake_returned" if bet.awards_return_stake else "stake_kept", []).append(bet)
        if bet.after_split:
            of.setdefault(f"split_{bet.after_split}", []).append(bet)
    return {kind: either_of_each(placard.bets, [[bet.spot for bet in bets]]) for kind, bets in of.items()}


def _kinds(placard: Placard) -> set[str]:
    """Return the kinds of parts that the rules page needs for this game, such as "back_bettors" or "face_down"."""
    rows = [row for bet in placard.bets for row in bet.rows]
    owed = any(row.commission_owed for row in rows)
    natural = "natural" if placard.naturals else "no_natural"
    kinds = {
        "seat_hands": placard.seat_hands,
        "two_hands": not placard.seat_hands,
        "roles": placard.roles,
        f"roles_{natural}": placard.roles,
        f"tableau_{natural}": not placard.seat_hands and not placard.roles,
        "face_down": placard.dealt_face_down and not placard.roles,
        "one_side": bool(_groups(placard)),
        "amounts": placard.limits.increment_cents > 1,
        "rounded_up": placard.pays_rounded == "up" and placard.pays_unit_cents > 1,
        "rounded_down": placard.pays_rounded == "down",
        "optional": any(bet.optional for bet in placard.bets),
        "back_bettors": placard.limits.back_bettors,
        "owed": owed,
        "owed_behind": owed and placard.limits.back_bettors,
        "burn_counts_first_card": placard.burn_counts_first_card,
        "burn_besides_first_card": not placard.burn_counts_first_card,
        "personal_pair": "seat_pair" in str(rows),
    }
    stakes = [bet.unequal_stakes for bet in placard.bets if bet.between_actives]
    ways = {f"{name}_{value}" for name, value in placard.house_ways.items()} | {f"stakes_{each}" for each in stakes}
    return {kind for kind, there in kinds.items() if there} | ways | _bets_of(placard).keys()


def _column(placard: Placard | None, language: str) -> str:
    told = _help(language)
    parts = "".join(map(_part, parts_of(placard, language)))
    title = told.title.format(game=placard.game if placard else "baccarat")
    return f'<section lang="{language}"><h1>{escape(title)}</h1>{parts}{_printed(placard, language)}</section>'


def _part(part: Part) -> str:
    text = f"<p>{escape(part.text)}</p>" if part.text else ""
    return f"<h2>{escape(part.title)}</h2>{text}{_rows(part.lines) if part.lines else ''}"


def _printed(placard: Placard | None, language: str) -> str:
    """Return the last sections of the rules page in HTML, made from the table's file: limits, bets that need another
    bet, and pay tables."""
    if placard is None:
        return ""
    told, view = _help(language), placard_view(placard)
    limits = _rows((limit["label"][language], limit["text"][language]) for limit in view["limits"])
    tables_of_pays = "".join(
        f"<h3>{escape(board['title'][language])}</h3>"
        + _rows((line["when"][language], line["pays"][language]) for line in board["lines"])
        for board in boards(placard.bets, at_length=True)
    )
    pays = f"<h2>{escape(told.pays)}</h2><p>{escape(told.pays_how)}</p>{tables_of_pays}" if tables_of_pays else ""
    with_another = _rows((bet[language], others[language]) for bet, others in beside(placard.bets))
    needs = f"<h2>{escape(told.beside)}</h2>{with_another}" if "<tr>" in with_another else ""
    return f"<h2>{escape(told.limits)}</h2>{limits}{needs}{pays}"


def _rows(pairs: Iterable[tuple[str, str]]) -> str:
    return f"<table>{''.join(f'<tr><td>{escape(name)}<td>{escape(said)}' for name, said in pairs)}</table>"
