"""The rules of the table's own game, in every language: fixed sentences, and the figures of the table's file."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from controller.contract.face.placard import Placard
from controller.people.screen.placards import placard_view
from controller.people.screen.wording import words

_PAGE = Path(__file__).with_name("pages") / "help.html"


def rules_page(placard: Placard | None, languages: Iterable[str]) -> str:
    """The page, a column for each language. Without a placard it has what holds for every game."""
    columns = "".join(_column(placard, language) for language in languages)
    return _PAGE.read_text("utf-8").replace("{{columns}}", columns)


def parts_of(placard: Placard | None, language: str) -> list[dict[str, str]]:
    """The sentences about this game, each part with a `title` and a `text`."""
    has, ways = (_kinds(placard), placard.house_ways) if placard else (set[str](), {})
    parts = [part for part in words(language)["help"]["part"] if part.get("of") is None or part["of"] in has]
    return [part | {"text": part["text"].format(**ways)} for part in parts]


def _kinds(placard: Placard) -> set[str]:
    """The kinds of page parts that this table's game has."""
    spots = [bet.spot for bet in placard.bets]
    rows = [row for bet in placard.bets for row in bet.rows]
    kinds = {
        "seat_hands": placard.seat_hands,
        "two_hands": not placard.seat_hands,
        "roles": placard.roles,
        "tableau": not placard.seat_hands and not placard.roles,
        "face_down": placard.dealt_face_down and not placard.roles,
        "dragon_bonus": any(spot.startswith("dragon_") and spot[7:] in ("player", "banker") for spot in spots),
        "one_side": any({"player", "banker"} <= set(group) for group in placard.limits.one_of),
        "back_bettors": placard.limits.back_bettors,
        "burn_counts_first_card": placard.burn_counts_first_card,
        "burn_besides_first_card": not placard.burn_counts_first_card,
        "personal_pair": "seat_pair" in str(rows),
    }
    stakes = [bet.unequal_stakes for bet in placard.bets if bet.between_actives]
    ways = {f"{name}_{value}" for name, value in placard.house_ways.items()} | {f"stakes_{each}" for each in stakes}
    return {kind for kind, there in kinds.items() if there} | ways


def _column(placard: Placard | None, language: str) -> str:
    told = words(language)["help"]
    parts = "".join(
        f"<h2>{escape(part['title'])}</h2><p>{escape(part['text'])}</p>" for part in parts_of(placard, language)
    )
    title = told["title"].format(game=placard.game if placard else "baccarat")
    return f'<section lang="{language}"><h1>{escape(title)}</h1>{parts}{_printed(placard, language)}</section>'


def _printed(placard: Placard | None, language: str) -> str:
    """Limits and pay tables, from the table's file."""
    if placard is None:
        return ""
    told, view = words(language)["help"], placard_view(placard)
    limits = _rows((limit["label"][language], limit["text"][language]) for limit in view["limits"])
    boards = "".join(
        f"<h3>{escape(board['title'][language])}</h3>"
        + _rows((line["when"][language], line["pays"][language]) for line in board["lines"])
        for board in view["pays"]
    )
    pays = f"<h2>{escape(told['pays'])}</h2>{boards}" if boards else ""
    return f"<h2>{escape(told['limits'])}</h2>{limits}{pays}"


def _rows(pairs: Iterable[tuple[str, str]]) -> str:
    return f"<table>{''.join(f'<tr><td>{escape(name)}<td>{escape(said)}' for name, said in pairs)}</table>"
