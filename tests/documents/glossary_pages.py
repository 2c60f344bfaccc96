"""Makes a glossary page for each language: the terms of the trade as the table's pages use them, with the source of
each term."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from controller.words.found import AUDIENCES, LANGUAGES, gaps, pages_words, sentences

_SOURCES = Path(__file__).with_name("sources.toml")
_NONE = "no published source found"
_OF_OTHERS = ("(an online house)", "(a guide)", "(a player's page)")
"""What a source says of itself that is neither a casino's nor a regulator's own rules."""

TERMS = (
    *("label.player", "label.banker", "label.tie", "waits.tie", "label.dealer", "label.shoe", "label.round"),
    *("label.final_round", "label.natural", "label.simulated", "label.meters", "label.face_down", "label.own"),
    *(
        "spot.player_pair",
        "spot.banker_pair",
        "spot.either_pair",
        "spot.perfect_pair",
        "spot.dragon_bonus",
        "spot.hand",
    ),
    *("spot.stake", "spot.small", "spot.big", "spot.super_6", "spot.dragon_7", "spot.panda_8"),
    *("label.bead_plate", "label.big_road", "label.big_eye_boy", "label.small_road", "label.cockroach_pig"),
    *("label.if_next", "waits.wagers_open", "waits.wagers_locked", "choice.hit", "choice.stand", "choice.split"),
    *("draws.draw", "draws.stand", "pays.push", "pays.half", "pays.commission", "pays.commission_owed"),
    *("result.won", "result.lost"),
    *("when.total", "when.pair", "when.suited", "when.same_rank", "when.straight", "when.margin"),
    *("when.S", "when.H", "when.D", "when.C", "hit.title", "step.pending", "step.verified", "step.paid"),
    *("stop.title", "help.pays", "help.limits", "help.part.worth.text", "help.part.face_down.text"),
    *("help.part.burn_counts_first_card.title", "help.part.burn_counts_first_card.text", "help.part.owed.title"),
    *("help.part.back_bettors.title", "help.part.last_round.text", "help.part.decide.text"),
)
"""The terms that a house's own people look at first, by their keys in a file of the pages' words."""


def sources() -> dict[str, dict[str, str]]:
    """Return the source of each term in the glossaries, by language and then by the term's key."""
    return tomllib.loads(_SOURCES.read_text("utf-8"))


def glossaries() -> dict[str, Callable[[], Iterable[str]]]:
    """Return, for the name of each glossary page, the function that makes the lines of the page."""
    return {f"words-{name.lower()}.md": partial(_page, name) for name in LANGUAGES if name != "en"}


def _page(name: str) -> Iterable[str]:
    said, english = dict(sentences(pages_words(name))), dict(sentences(pages_words("en")))
    found = sources().get(name, {})
    yield f"# {said['label.language']} ({name})"
    yield ""
    yield "Made by `make pages` from the words of the table's pages. No native reader has read them. A house's own"
    yield "people read this page, and write what they say otherwise into a file: see [the screen](screen.md#words)."
    yield ""
    for audience in AUDIENCES:
        lacking = len(gaps(name, audience))
        yield f"- For {audience}: {'whole' if not lacking else f'{lacking} sentences are said in English'}"
    own = sum(not any(other in source for other in _OF_OTHERS) for source in found.values())
    yield f"- {len(found)} of {len(TERMS)} terms have a published source; of these, {own} are in a casino's or a"
    yield "  regulator's own rules. A source of another kind says so. The word `writes` stands where the source says"
    yield "  the term otherwise."
    yield ""
    yield "| English | here | key | source |"
    yield "|---|---|---|---|"
    for key in TERMS:
        yield f"| {english[key]} | {said[key]} | `{key}` | {found.get(key, _NONE)} |"
