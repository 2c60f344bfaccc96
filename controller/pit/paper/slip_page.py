"""Write the slip by which an award is paid as one HTML page to print. The page loads no other file. Its texts are in
each of the house's languages, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from controller.basics.money import amount, in_use
from controller.pit.reference.slips import HandTold, Print, ToPrint
from controller.words.amounts import in_words
from controller.words.found import houses_languages, papers_in_english
from controller.words.language import language

_STYLE = Path(__file__).with_name("slip.css")
_SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}


def check_house() -> list[str]:
    """Return one warning for each of the house's languages that lacks texts of the printed papers; these texts are
    shown in English. Raises TableError `house_file` if the house's file does not say which currency and which languages
    a slip uses."""
    in_use()
    return papers_in_english()


def slip_page(paper: ToPrint) -> str:
    """Return the HTML page of an award's slip. The ledger has already recorded that the slip is printed."""
    slip, last = paper.slip, paper.slip.prints[-1]
    marks = "".join(f'<p class="mark">{mark}</p>' for mark in _marks(paper, last))
    told = "".join(f"<dt>{name}<dd>{said}" for name, said in _told(paper))
    spoken = {in_words(slip.cents, each): each for each in reversed(houses_languages())}  # once where both are English
    words = "".join(f'<p class="words" lang="{each}">{escape(of)}</p>' for of, each in reversed(spoken.items()))
    return f"""<!doctype html>
<html lang="{houses_languages()[0]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(_say("slip", number=slip.number))}</title>
<style>{_STYLE.read_text("utf-8")}</style>
</head>
<body>
<main>
<p class="number">{slip.number}</p>
<h1>{_heading("title")}</h1>
{marks}
<p class="amount">{amount(slip.cents)}</p>
{words}
<dl>{told}</dl>
<div class="sign"><p>{_both("paid_by")}</p><p>{_both("seen_by")}</p></div>
<div class="sign"><p>{_both("winner")}</p><p>{_both("time")}</p></div>
<footer>{_both("printed", copy=last.copy, by=last.by, at=_local(paper, last.at), hit=paper.award.hit)}</footer>
</main>
</body>
</html>
"""


def _marks(paper: ToPrint, last: Print) -> Iterator[str]:
    """Yield the warnings that are printed large on the slip: that the slip is a second copy, that a tax form is due,
    that the award is paid already, or that the slip replaces an earlier one."""
    slip, first = paper.slip, paper.slip.prints[0]
    if last.copy > 1:
        yield _both("copy", copy=last.copy - 1, number=slip.number, by=first.by, at=_local(paper, first.at))
    if slip.tax_form is not None:
        yield _both("tax", form=slip.tax_form, wager=amount(slip.wager_cents))
    if paper.award.step == "paid":
        yield _both("is_paid")
    if paper.replaces is not None:
        yield _both("replaces", number=paper.replaces)


def _told(paper: ToPrint) -> Iterator[tuple[str, str]]:
    award, hit = paper.award, paper.hit
    yield _both("award"), escape(award.id)
    yield _both("table"), escape(award.table)
    yield _both("round"), _both("shoe_and_round", shoe=award.shoe, round=award.round)
    yield _both("seat"), str(award.seat)
    yield _both("bet"), f"{escape(award.spot)} · {escape(award.tier)} · {amount(paper.slip.wager_cents)}"
    if paper.won_cents is not None:
        share = "" if paper.share == "1" else f" × {escape(str(paper.share))}"
        yield _both("level"), f"{escape(str(award.meter))}{share}: {amount(paper.won_cents)}"
    if award.shown_cents:
        yield _both("shown"), amount(award.shown_cents)
    if award.house_cents:
        yield _both("recalled"), amount(award.house_cents)
    for name, hand in (("player", hit.player), ("banker", hit.banker)):
        if hand is not None:
            yield _both(name), _cards(hand)
    yield _both("hit_at"), escape(_local(paper, hit.at))
    for step in paper.steps:
        yield _both(step.step), f"{escape(_local(paper, step.at))}, {escape(step.by)}"


def _cards(hand: HandTold) -> str:
    cards = "".join(f'<span class="card">{escape(_card(card))}</span>' for card in hand.cards)
    return f"{cards} = {hand.total}"


def _card(card: str) -> str:
    return card[:-1] + _SUITS[card[-1]] if card[-1:] in _SUITS else card


def _local(paper: ToPrint, at: str) -> str:
    """Return the moment `at` as text in the house's local time, to the second, with the offset from UTC."""
    return paper.rules.local(at).isoformat(" ", "seconds")


def _say(key: str, **values: object) -> str:
    return " / ".join(dict.fromkeys(language(each).text("slip", key, **values) for each in houses_languages()))


def _both(key: str, **values: object) -> str:
    """Return the text with the name `key` in all the house's languages, separated by slashes and escaped for HTML. The
    `values` are put into the text."""
    return escape(_say(key, **values))


def _heading(key: str) -> str:
    first, *others = dict.fromkeys(language(each).text("slip", key) for each in houses_languages())
    return escape(first) + "".join(f"<small>{escape(each)}</small>" for each in others)
