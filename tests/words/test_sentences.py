"""Checks that every code that the program uses has a sentence in every language, and that journals hold codes and no
sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from controller.contract.events import Fixed, HandShown, Hit, ProgressiveLocked, WagersLocked
from controller.contract.face.status import Waits
from controller.daemon.record.replay import replay
from controller.people.screen import wording
from controller.rules.game.wagers import WagerRules
from controller.table.acts.every import ACTS
from controller.table.facts import HitUnheard, ShoeError, ShoeErrorRaised
from controller.table.faults import ALARMS, FAULTS
from controller.table.lamps import Pattern, SeatSign
from controller.table.public import PHASE_NAMES
from controller.words import language as languages
from controller.words.events import asked, event_sentence, locked_lines
from controller.words.found import LANGUAGES
from controller.words.language import language
from tests.support.tables import EPOCH, ROYAL9, TableUnderTest

CONTROLLER = Path(languages.__file__).parents[1]


_MAY_ASK = re.compile(
    r"\b(refuse|Refuse|say|_name|knows|filled|words)\(|\.(name|_pair|text)\(|\.sections\[|words\.text"
)
"""What every file that asks for words has in its text. To parse the others would take a second."""


@cache
def _asking() -> dict[Path, list[ast.Call | ast.Subscript | ast.FunctionDef]]:
    """Return a dict that maps each source file of the program to its code that may look up a text of a language: calls,
    subscripts and functions, as syntax trees."""
    texts = {path: path.read_text("utf-8") for path in CONTROLLER.rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in texts.items() if _MAY_ASK.search(text)}
    return {
        path: [node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.Subscript | ast.FunctionDef)]
        for path, tree in trees.items()
    }


def refused_with() -> Iterator[str]:
    """Yield every code with which the program refuses a request: the codes in the tables of acts, and those in calls of
    `refuse("…")`."""
    yield from (code for act in ACTS for code in act.refused.values())
    for nodes in _asking().values():
        for node in nodes:
            match node:
                case ast.Call(func=ast.Name(id="refuse" | "Refuse"), args=[*arguments]):
                    constants = (part for argument in arguments for part in ast.walk(argument))
                    yield from (str(part.value) for part in constants if isinstance(part, ast.Constant) and part.value)


@cache
def every_asked_for() -> frozenset[tuple[str, str, str | None]]:
    """Return every text of a language that the program looks up by name, each once: the kind of file ("screen" or
    "others"), the section, and a key or None."""
    return frozenset(asked_for())


def asked_for() -> Iterator[tuple[str, str, str | None]]:
    """Yield every text of a language that the program looks up by name. Each is a triple: the kind of file ("screen" or
    "others"), the section, and a key. The key is None if the program computes it, or looks up the whole section."""
    for path, nodes in _asking().items():
        has_pages = path.parent.name in ("screen", "pit_page")
        for node in nodes:
            match node:
                case ast.Call(func=ast.Name(id="say" | "_name" | "knows"), args=[ast.Constant(section), key]) if (
                    has_pages
                ):
                    yield from (("screen", str(section), each) for each in named(key))
                case ast.Call(func=ast.Name(id="filled"), args=[_, *sections]):
                    yield from (
                        ("screen", str(each.value), None) for each in sections if isinstance(each, ast.Constant)
                    )
                case ast.Subscript(value=ast.Call(func=ast.Name(id="words")), slice=ast.Constant(section)):
                    yield "screen", str(section), None
                case ast.Call(func=ast.Attribute(attr="name" | "_pair"), args=[ast.Constant(section), key]):
                    yield from (("others", str(section), each) for each in named(key))
                case ast.Call(func=ast.Attribute(attr="text"), args=[ast.Constant(section), key]):
                    yield from (("others", str(section), each) for each in named(key))
                case ast.Subscript(value=ast.Attribute(attr="sections"), slice=ast.Constant(section)):
                    yield "others", str(section), None
                case ast.FunctionDef():
                    yield from _said_of_one_section(node)


def _said_of_one_section(function: ast.FunctionDef) -> Iterator[tuple[str, str, str | None]]:
    """Yield the keys that a function looks up through a local `say = partial(words.text, "waiting")`, each with its
    section."""
    sections = [
        str(section)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "partial"
        and ast.unparse(node.args[0]).endswith("words.text")
        for section in [ast.literal_eval(node.args[1])]
    ]
    for node in ast.walk(function) if sections else ():
        match node:
            case ast.Call(func=ast.Name(id="say"), args=[key]):
                yield from (("others", sections[0], each) for each in named(key))


def named(key: ast.expr) -> list[str | None]:
    """Return the text keys that an expression in the program's source may stand for. None stands for a key that the
    program computes."""
    match key:
        case ast.Constant(value=str(value)):
            return [value]
        case ast.IfExp(body=body, orelse=orelse):
            return named(body) + named(orelse)
        case _:
            return [None]


def leaves(section: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every sentence in a section of a language file, as pairs of its place (the keys joined with dots) and the
    sentence."""
    for code, told in section.items():
        if isinstance(told, dict):
            yield from leaves(told, f"{path}{code}.")
        else:
            yield path + code, told


def changed(section: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a language's section in which every sentence is replaced by a different sentence. The keys stay
    the same."""
    return {
        code: changed(told) if isinstance(told, dict) else f"{told[::-1]}!".replace("{", "(").replace("}", ")")
        for code, told in section.items()
    }


def wagers_refused_with() -> set[str]:
    """Return every code with which a wager is refused, read from the source of the two files that refuse wagers."""
    files = (CONTROLLER / name for name in ("rules/game/wagers.py", "table/locking.py"))
    constants = (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    texts = {str(node.value) for node in constants if isinstance(node, ast.Constant)}
    of_settings = {text for hint in get_type_hints(WagerRules).values() for text in get_args(hint)}
    others = {"lucky9_bonus", "dragon_player", "dragon_banker"} | of_settings
    return {text for text in texts if re.fullmatch("[a-z0-9]+(_[a-z0-9]+)+", text)} - others


NO_SENTENCE = (
    *("rules", "contract", "table", "people/pit_page/view.py"),
    *(f"people/screen/{page}.py" for page in ("placards", "hands", "shoes", "rules", "wording")),
)
"""Whatever makes the record or a page for people in every language, by its place in the program."""
ABOUT_WHAT_SOMEBODY_WROTE = (
    *("table/acts/", "rules/game/wagers.py"),
    *("contract/keys.py", "contract/signed_page.py", "contract/wire/", "contract/keeping/"),
)
"""Except for these, which tell in English what to write instead of a wrong argument, key or file."""


def sentences(file: Path) -> Iterator[str]:
    """Yield every string in a source file that begins and ends as a sentence does, except docstrings."""
    nodes = [*ast.walk(ast.parse(file.read_text("utf-8")))]
    explains = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = [part.value if isinstance(part, ast.Constant) else "…" for part in parts if id(part) not in explains]
        text = "".join(text for text in texts if isinstance(text, str))
        if re.fullmatch(r"[A-Z].* .*[.!?]", text, re.DOTALL):
            yield text


def test_a_sentence_for_people_stands_in_a_file_of_a_language_alone() -> None:
    files = {path.relative_to(CONTROLLER).as_posix(): path for path in CONTROLLER.rglob("*.py")}
    assert {place for place in NO_SENTENCE if not any(f"{file}/".startswith(f"{place}/") for file in files)} == set()
    elsewhere = {
        file: [*sentences(path)]
        for file, path in files.items()
        if f"{file}/".startswith(tuple(f"{place}/" for place in NO_SENTENCE))
        and not file.startswith(ABOUT_WHAT_SOMEBODY_WROTE)
    }
    assert {file: told for file, told in elsewhere.items() if told} == {}


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_fault_alarm_and_detail_has_its_sentences_and_no_other_has(name: str) -> None:
    sections = language(name).sections
    assert sections["fault"].keys() == FAULTS.keys()
    assert sections["alarm"].keys() == ALARMS.keys()
    details = {name for kind in FAULTS.values() for name in kind.details} | {
        name for names in ALARMS.values() for name in names
    }
    assert sections["shown"].keys() == details
    assert sections["detail"].keys() == details


def test_every_sign_of_a_seat_and_every_pattern_has_its_words() -> None:
    lit = {pattern.name.lower() for pattern in Pattern} - {"dark"}
    assert language().sections["pattern"].keys() == lit
    signs = {sign.value.name.lower() for sign in SeatSign} - {"dark"}
    assert language().sections["lamp"]["seat"].keys() == signs


def test_every_code_that_a_request_is_refused_with_has_its_sentence() -> None:
    codes = set(refused_with())
    assert len(codes) > 40
    assert codes <= language().sections["refusal"].keys()


def test_every_code_that_a_wager_is_refused_with_has_its_sentence() -> None:
    codes = wagers_refused_with()
    assert {"pit_stale", "over_maximum", "needs_another"} <= codes
    sections = language().sections
    assert codes <= sections["refused_wager"].keys() | sections["refusal"].keys()
    assert sections["refused_wager"].keys() <= codes


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_section_and_every_key_that_the_program_names_is_there(name: str) -> None:
    """Every section and key of a language file that the program looks up by name exists. In an earlier version a page
    looked up a section that had been removed, and failed with KeyError."""
    told = {"screen": wording.words(name), "others": language(name).sections}
    asked = every_asked_for()
    assert {("screen", "label", "pays"), ("screen", "pit", "held"), ("others", "waiting", "any_choice")} <= asked
    for which, section, key in asked:
        assert key is None or key in told[which].get(section, {}), (which, section, key)
        assert section in told[which], (which, section)


@pytest.mark.parametrize("name", LANGUAGES)
def test_whatever_a_table_waits_for_has_its_words(name: str) -> None:
    in_a_round = {"wagers_locked", "round_in_play"}  # a card, a call, or nothing that may be told
    codes = {"choice", "reveal", "card", "odd_card", "any_card", "wagers_stand", "commission"}
    assert {*codes, *PHASE_NAMES.values()} - in_a_round <= language(name).sections["waiting"].keys()


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_act_by_two_people_has_its_words_for_the_second(name: str) -> None:
    by_two = {act.name for act in ACTS for form in act.forms if hasattr(form.request, "details")}
    assert language(name).sections["asks"].keys() == by_two
    hands = {"round": 3, "hands": {"player": ["KS", "9H"], "seat_3_hand_2": ["8S"], "dealer": ["2C"]}}
    assert asked(Waits(1, "correct", hands, "Ann", "", None, 30), language(name)).count(";") == 2
    in_english = asked(Waits(1, "correct", hands, "Ann", "", None, 30), language())
    assert in_english == "correct round 3: Player KS 9H; seat 3, hand 2 8S; the dealer 2C"
    accept = Waits(1, "accept-award", {"award": "table-01.7", "cents": 1_250_000}, "Ann", "", None, 30)
    assert asked(accept, language()) == "accept award table-01.7 of $12,500.00"


def test_a_code_of_a_later_version_is_no_traceback() -> None:
    assert language().fault("shoe_on_fire").what.startswith("shoe_on_fire: ")
    assert language().alarm("shoe_on_fire").do.endswith(".")
    assert language().refusal("shoe_on_fire").startswith("shoe_on_fire: ")


def test_every_sentence_may_change_while_a_shoe_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    before, english = stopped_in_a_hand(), language("en")
    told = [sentence for _, sentence in leaves(english.sections) if " " in sentence]
    monkeypatch.setattr(english, "sections", changed(english.sections))
    assert english.fault("shoe_error").what == ".rorre na stroper eohs ehT!"
    assert replay(before.rows, ROYAL9, ROYAL9.table, EPOCH) == (before.table, None)
    messages = [row.messages for row in before.rows]
    assert [row.messages for row in stopped_in_a_hand().rows] == messages
    recorded = b"".join(chain.from_iterable(messages)).decode()
    assert '"fault"' in recorded
    assert '"alarm"' in recorded
    assert [sentence for sentence in told if sentence in recorded] == []


def stopped_in_a_hand() -> TableUnderTest:
    """Return a table that has raised an alarm, and has then stopped with a fault inside a round with a wager."""
    table = TableUnderTest().open_shoe().lock(2).draw("KS")
    return table.believe(HitUnheard(2), ShoeErrorRaised(ShoeError.OVERDRAW))


def test_the_wagers_that_a_sensor_sees_and_the_lock_refuses_are_told_bet_by_bet() -> None:
    bets = (
        ProgressiveLocked("grand", 500, ("grand",), (1,), (), None),
        ProgressiveLocked("fortune", 500, ("fortune",), (), (2, 5), "pit_stale"),
    )
    told = locked_lines(WagersLocked(1, 1, "dealer", bets, (), (), (), None).body())
    assert told == [f"seat 2, 5 fortune: refused: {language().refusal('pit_stale')}"]


@pytest.mark.parametrize(("cents", "line"), [(150_000, "$1,500"), (1_250, "$12.50"), (99, "$0.99")])
def test_a_fixed_award_is_shown_to_the_cent(cents: int, line: str) -> None:
    """A fixed award is shown with its cents. An earlier version showed an award of $12.50 as $12."""
    hand = HandShown(("KS", "9H"), 9)
    hit = Hit(1, 1, "pairs", 3, "suited", hand, hand, None, Fixed(cents), ())
    assert event_sentence(hit.body()) == f"seat 3 pairs, suited: {line}"
