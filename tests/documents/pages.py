"""Makes the documents that are generated from the code. `make pages` writes them, and a test names each document that
is stale.

Every statement in them has one source: `legality.py`, `acts`, `faults.py`, `lamps.py`, `header_map.py`, `asyncapi.json`
and, for the sentences, `controller/words`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path

from controller.basics.command import Command, Program
from controller.daemon.config import load
from controller.daemon.pins.buttons import PRESSES, SEEN_AFTER_S
from controller.daemon.script import usages
from controller.daemon.second_person import HOLD_S
from controller.people.cli import command as of_tablectl
from controller.people.cli.commands import every_command
from controller.people.cli.programs import EXAMPLE_TABLE
from controller.pit.reference.commands import entries as of_pitctl
from controller.table.acts.entry import Act
from controller.table.acts.every import ACTS
from controller.table.faults import ALARMS, FAULTS, Clearing, Exit, FaultKind
from controller.table.lamps import Pattern
from controller.table.legality import LEADS_TO, LEGALITY, Cell, Move, RaiseFault
from controller.table.public import PHASE_NAMES
from controller.table.requests import ByTwo
from controller.table.states import Phase
from controller.words.found import LANGUAGES, own_words
from controller.words.language import language
from drivers.header_map import PHYSICAL, PULLED_UP_AT_BOOT
from tests.documents.bench_page import bench_page
from tests.documents.clauses_page import clauses_page
from tests.documents.configuration_page import configuration_page
from tests.documents.contract_page import DOCUMENT, contract_page, fresh_document
from tests.documents.face_page import SCHEMA, face_page, face_schema
from tests.documents.glossary_pages import glossaries
from tests.documents.header_picture import header_picture
from tests.documents.plug_page import A_PLUG_PULLED
from tests.documents.reports_page import SCHEMAS, reports_page, schema_of
from tests.documents.table_picture import table_picture

DOCS = Path(__file__).resolve().parents[2] / "docs"
SENTENCES = DOCUMENT.with_name("sentences.json")
_ENGLISH = language("en")
_LAMP_NAMES = {
    "seat": "`seat_N`",
    "draw": "`draw_player`, `draw_banker`",
    "outcome": "`player`, `banker`, `tie`",
    "fault": "`fault`",
}
_OF_THE_CONTRACT = ("fault", "alarm", "doubt", "refusal", "refused_wager", "detail", "pit")
"""The sections of a language that are sentences for the pit's vendor, too."""

_EXITS = {
    Exit.CLEAR: "felt and display agree: go on",
    Exit.CARD: "this is the card",
    Exit.VOID: "the round is over, wagers go back",
    Exit.NEW_SHOE: "this shoe ends here",
    Exit.COUNT: "so many cards are left in the shoe",
}

_CLEARING = {
    Clearing.PLAY: "the card counts as the shoe reported it",
    Clearing.PLAY_AS_OURS: "the card counts where the rules put it",
    Clearing.BURN: "the card is one more burned card",
    Clearing.BURN_IN_ERROR: "the card was drawn in error and is burned; a pause goes on",
    Clearing.HIT: "the seat hit and takes the card; where the rules give it none, the card is one more burned card",
    Clearing.DROP: "the table goes on; a report that raised the fault changes nothing",
}


_WHY_THESE_PINS = """\
## Why these pins

- BCM 2 to 8 read high from power-up until a program sets them. A lamp there would be lit while the Pi boots. So
  those pins are inputs, and every lamp is on a pin that reads low.
- BCM 2 and 3 have pull-ups of 1.8 kΩ on the board. A contact to ground works there; a sensor with an output of
  its own has to sink 2 mA.
- BCM 14 and 15 are the serial port, on which a Pi may write boot messages. They are left free. A table that needs
  one input more, such as `cut_card` for a shoe that does not report the cut card, takes BCM 15 last.
- SPI, I2C, 1-Wire, digital audio, fans and clocks take pins when they are switched on. In Raspberry Pi OS they are
  off. `tablectl check` on the Pi warns of each line of `/boot/firmware/config.txt` that takes a wired pin, lights a
  lamp or drives an input. `sudo tablectl doctor` also asks the kernel which pins it has given away.
- The line `gpio=12,13,16-26=op,dl` in that file drives the lamps' pins low from the first second of the boot. Write
  `dh` for lamps with `active = "low"`. Name no input in such a line: the pin would work against its contact.

## Lamps: a driver stage each

A pin gives 3.3 V and at most 16 mA, all pins together 50 mA. So no lamp is joined to a pin directly:

```
                        +12 V or +24 V, its own supply
                               |
                              fuse
                               |
                             lamp
                               |
    pin ---[1 kΩ]---+--- gate  drain
                    |    logic-level N-MOSFET (or one channel of a ULN2803A)
                 [10 kΩ]      source
                    |           |
    ground ---------+-----------+--- ground of that supply
```

- The gate gets 3.0 V. Take a MOSFET whose data sheet gives its resistance at 2.5 V, such as an AO3400A. A MOSFET that
  is specified at 4.5 V or 10 V alone may stay half open and grow hot.
- The 10 kΩ resistor keeps the lamp dark while nothing drives the pin: during the boot, and with the cable out.
- A relay or any other coil in a lamp's place needs a diode across it, cathode to plus. A ULN2803A has these diodes:
  join its pin COM to the supply's plus.
- A relay board does as well. The board has to switch at 3.3 V. Many boards for 5 V do not release the relay, as 3.3 V
  is no high level for them. Where the board lights its lamp at a low level, write `active = "low"` for that lamp.
- The supplies' grounds are joined at one point, at the driver board. The lamps' current does not flow through the
  header's ground pins.

## Inputs: contacts to ground, protected

```
    3.3 V ---[Pi's own pull-up, about 50 kΩ, or 4.7 kΩ outside for a cable beyond 1 m]---+
                                                                                         |
    button, key or sensor ---[1 kΩ]---+--------------------------------------------------+--- pin
              |                       |
              |                   [100 nF]
    ground ---+-----------------------+--- ground
```

- The 1 kΩ resistor limits what a static discharge or a wrong cable drives into the pin. Where a wrong setting makes the
  pin an output, at most 3.3 mA flow through the resistor.
- The capacitor takes the contact's bounce together with `debounce_ms`. With the Pi's own pull-up it also delays the
  release by about 5 ms.
- A cable beyond 1 m takes the outside resistor, twisted pairs with one ground each, and a diode array to 3.3 V and
  ground at the pin (such as a BAT54S): cloth and carpet of a table charge people up.
- A sensor with an output of its own has an open collector (NPN), which works like a contact. A sensor with a 5 V or 24
  V output goes through an optocoupler: no pin bears more than 3.3 V.
- A broken wire reads as a button that is not pressed, a key that is not turned, and a seat without a wager."""


def _wired() -> dict[int, tuple[str, str]]:
    """Return what the example table has on each pin of the header, as two texts: what is connected, and how. The keys
    are BCM numbers."""
    pins = load(EXAMPLE_TABLE).file.pins
    lamps = {lamp.bcm: (f"lamp {name}", f"out, lit by {lamp.active}") for name, lamp in pins.lamps.items()}
    return lamps | {
        each.bcm: (f"input {name}", f"in, pull-{each.pull}, pressed is {each.active}")
        for name, each in pins.inputs.items()
    }


def _wiring() -> str:
    """Draw the Raspberry Pi's pin header, with the wiring in the example table's file, as SVG."""
    wired = _wired()
    pins = [
        f"| {bcm} | {PHYSICAL[bcm]} | {wired[bcm][0]} | {wired[bcm][1]} |"
        f" {'high' if bcm in PULLED_UP_AT_BOOT else 'low'} |"
        for bcm in sorted(wired)
    ]
    return _text(
        "# Wiring",
        "",
        "Made from `config/tables/royal9.toml` and `drivers/header_map.py` by `make pages`.",
        "",
        "![The 40-pin header, seen from above with pin 1 at the top left](wiring.svg)",
        "",
        "The header of a Raspberry Pi, seen from above. Pin 1 is at the top left, on the side of the SD card.",
        "",
        "## Each pin",
        "",
        "| BCM | pin | wired to | how | reads from power-up |",
        "|---:|---:|---|---|---|",
        *pins,
        "",
        _WHY_THESE_PINS,
        "",
        A_PLUG_PULLED.rstrip(),
    )


def _legality() -> str:
    return _text(
        "# What may happen when",
        "",
        "Made from `controller/table/legality.py` and the acts in `controller/table/acts` by `make pages`. Which",
        "regulators' clauses the program keeps, and what a house still has to do itself, stands on",
        "[another page](regulators.md).",
        "",
        "A standing fault comes before these tables. While a fault stands, reports of the shoe are held, and people",
        "can do only two things: the acts by which the fault is left ([faults](faults.md)), and the acts marked",
        "with a star. What the pit says of an award is noted at any time.",
        "",
        "```mermaid",
        "stateDiagram-v2",
        "    [*] --> no_shoe",
        *_edges(),
        "```",
        "",
        "## Reports",
        "",
        "A report tells what has happened, whatever the phase. In bold: the fault that the report raises.",
        "",
        *_head(),
        *(f"| {_words(row.name)} | {' | '.join(map(_cell, cells.values()))} |" for row, cells in LEGALITY.items()),
        "",
        "## Acts",
        "",
        "An act is what a person does. A dot: the act is allowed. In italics: the code of the refusal. After",
        "`cut-card` the same follows as after the report of that card, above.",
        "",
        *_head("who"),
        *map(_row, ACTS),
        "",
        "| refusal | what it tells |",
        "|---|---|",
        *(
            f"| `{code}` | {sentence} |"
            for section in ("refusal", "refused_wager")
            for code, sentence in _ENGLISH.sections[section].items()
        ),
    )


def _edges() -> Iterable[str]:
    """Return the arrows of the diagram of a table's phases. An arrow leads from each phase in which a move or an act
    may happen to each phase in which it may end."""
    edges: dict[tuple[type[Phase], type[Phase]], set[str]] = {}
    for cells in LEGALITY.values():
        for start, cell in cells.items():
            if isinstance(cell, Move):
                for end in LEADS_TO.get(cell, ()):
                    edges.setdefault((start, end), set()).add(_words(cell.name))
    for act in ACTS:
        for start in PHASE_NAMES:
            for end in act.leads_to if start not in act.refused else ():
                edges.setdefault((start, end), set()).add(act.name)
    for (start, end), moves in edges.items():
        yield f"    {PHASE_NAMES[start]} --> {PHASE_NAMES[end]}: {', '.join(sorted(moves))}"


def _head(*more: str) -> Iterable[str]:
    yield f"| | {' | '.join((*more, *map(_words, PHASE_NAMES.values())))} |"
    yield "|---" * (len(PHASE_NAMES) + len(more) + 1) + "|"


def _row(act: Act) -> str:
    cells = (f"*{act.refused[phase]}*" if phase in act.refused else "·" for phase in PHASE_NAMES)
    star = "\\*" if act.in_fault else ""
    return f"| {act.name}{star} | {act.who.value} | {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    match cell:
        case Move.IGNORE:
            return ""
        case Move():
            return _words(cell.name)
        case RaiseFault(code):
            return f"**{code}**"


def _faults() -> str:
    return _text(
        "# Faults and alarms",
        "",
        "Made from `controller/table/faults.py` and `controller/words/en.toml` by `make pages`.",
        "",
        "A fault stops the table. The fault lamp blinks fast, and the draw lamps are dark. The outcome of the last",
        "round stays lit. A seat's lamp still tells of a hit and of a wager that is locked; everything else that a",
        "seat's lamp can tell waits. A fault stands through power cuts and restarts.",
        "",
        "Only a supervisor can let the table go on: with the key at the table, or with `tablectl` and a name. The",
        "acts that go on from a fault are called its exits. `tablectl status` names the fault, for example 3-2, the",
        "second fault of shoe 3. An act answers the fault that was shown: `tablectl` shows the fault that stands",
        "and answers that fault, and with `--fault 3-2` the fault that was seen before. Where another fault stands",
        f"by then, the act is refused. A press with the key sooner than {1000 * SEEN_AFTER_S:.0f} ms after a",
        "fault came does nothing: nobody can have seen that fault yet. One fault also ends by the dealer's act:",
        "`commission_owed`, once the last seat has paid.",
        "",
        "| exit | at the table | `tablectl` | what it says |",
        "|---|---|---|---|",
        *(f"| `{exit_.value}` | {_key(exit_) or '-'} | `{_shell(exit_)}` | {says} |" for exit_, says in _EXITS.items()),
        "",
        "`void` is an exit inside a round only, and `new_shoe` outside a round only. Cards that come while a fault",
        "stands are kept. Once the fault is left they are dealt in the order in which they came. After a `void`",
        "they are dead.",
        "",
        *(line for code, kind in FAULTS.items() for line in _fault(code, kind)),
        "## Alarms",
        "",
        "The table goes on.",
        "",
        "| alarm | what happened | what to do | details |",
        "|---|---|---|---|",
        *(
            f"| `{code}` | {' | '.join(_ENGLISH.alarm(code))} | {', '.join(f'`{name}`' for name in details)} |"
            for code, details in ALARMS.items()
        ),
        "",
        *_details(sorted({name for details in ALARMS.values() for name in details})),
        "",
        "## How the table finds its pit",
        "",
        "`tablectl status`, the screen and the table's `state` say one of these. A word in braces is filled in.",
        "",
        "| code | what it says | what to do |",
        "|---|---|---|",
        *(f"| `{code}` | {of['what']} | {of['do']} |" for code, of in _ENGLISH.sections["pit"].items()),
    )


def _fault(code: str, kind: FaultKind) -> Iterable[str]:
    yield f"## {code}"
    yield ""
    yield " ".join(_ENGLISH.fault(code))
    yield ""
    who = "Two people, a supervisor and a witness, leave" if kind.two_people else "A supervisor leaves"
    yield f"{who} the fault by:"
    yield ""
    yield from (f"- {_exit(exit_, kind)}" for exit_ in kind.exits)
    yield ""
    if kind.details:
        yield from _details(kind.details)
        yield ""


def _details(names: Iterable[str]) -> Iterable[str]:
    yield "| detail | what it says |"
    yield "|---|---|"
    yield from (f"| `{name}` | {_ENGLISH.sections['detail'][name]} |" for name in names)


def _exit(exit_: Exit, kind: FaultKind) -> str:
    """Describe one act that clears a fault (an exit): how people can do it, and what happens afterwards. `kind` is the
    kind of the fault."""
    if kind.two_people:
        by = "`tablectl`, and a second person: `tablectl witness`"
        return f"`{exit_.value}` ({by}): once a later word of the pit fits this journal"
    key, counted = _key(exit_), Exit.COUNT in kind.exits
    goes_on = Exit.COUNT.value if counted else Exit.CLEAR.value
    then = {
        Exit.CLEAR: _CLEARING[kind.clearing],
        Exit.CARD: "then the fault is left" if kind.card_ends_it else f"one at a time; when all are named, `{goes_on}`",
        Exit.VOID: "inside a round" + ("; the stop then stands again for the count" if counted else ""),
        Exit.COUNT: "the cards that went unheard are gone, unnamed; what was held is believed in its order",
        Exit.NEW_SHOE: "outside a round" + ("; the card is the new shoe's first" if kind.new_shoe_takes_held else ""),
    }
    return f"`{exit_.value}` ({f'{key}, or ' if key else ''}`tablectl`): {then[exit_]}"


def _key(exit_: Exit) -> str:
    """Return how people can do this exit (an act that clears a fault) at the table: by the key and which button.
    Returns an empty text if no button does it."""
    buttons = [press.button for press in _act(exit_).presses if press.key_turned]
    return f"key and `{buttons[0]}`" if buttons else ""


def _shell(exit_: Exit) -> str:
    """Say with which command people do this exit (an act that clears a fault) from a shell."""
    act = _act(exit_)
    return f"{act.name} TABLE.toml {act.example}"


def _act(exit_: Exit) -> Act:
    return next(act for act in ACTS if act.exit is exit_)


def _lamps() -> str:
    return _text(
        "# Lamps and buttons",
        "",
        "Made from `controller/table/lamps.py` and the acts in `controller/table/acts` by `make pages`.",
        "",
        "| lamp | pattern | meaning |",
        "|---|---|---|",
        *(
            f"| {'' if place else lamps} | {'both steady' if name == 'both' else _words(name)} | {meaning} |"
            for kind, lamps in _LAMP_NAMES.items()
            for place, (name, meaning) in enumerate(_ENGLISH.sections["lamp"][kind].items())
        ),
        "",
        "| pattern | lit and dark in turn, ms |",
        "|---|---|",
        *(f"| {_words(p.name)} | {', '.join(map(str, p.value)) if len(p.value) > 1 else '-'} |" for p in Pattern),
        "",
        "| button | key | when | what it says |",
        "|---|---|---|---|",
        *(f"| `{m.button}` | {'turned' if m.key_turned else ''} | {m.when.value} | {m.says} |" for m in PRESSES),
        "",
        "A button may have several rows: the first row that fits holds. A press answers what the lamps showed",
        f"{1000 * SEEN_AFTER_S:.0f} ms earlier: nobody can have seen sooner that a fault came or was left.",
        "",
        "An act by two people waits for the second person, and the lamp `fault` flashes twice meanwhile. At the table",
        f"the second person turns the key and then holds the button of the act for {HOLD_S:g} seconds. A key that was",
        "turned before confirms nothing until somebody turns the key back and again. A shorter press of that button",
        "does nothing.",
        "",
        "| act | button to hold: the first that the table has |",
        "|---|---|",
        *(
            f"| `{act.name}` | {', '.join(f'`{button}`' for button in act.confirmed_by)} |"
            for act in ACTS
            if any(issubclass(form.request, ByTwo) for form in act.forms)
        ),
    )


def _tablectl() -> str:
    acts = {act.name: act for act in ACTS if act.on_socket}
    lines = [
        "# tablectl",
        "",
        "Made by `make pages` from the acts in `controller/table/acts` and the commands in `controller/people/cli`.",
        "",
        "`TABLE.toml` is the table's file. It comes first after a command's name: `tablectl status TABLE.toml`. The",
        "file can be left out where `TABLE_CONTROLLER_TABLE` names it, or where `/etc/table-controller` holds one",
        "table's file alone. So at a table `tablectl status` is enough. A command that reads a journal then reads",
        "that table's journal.",
        "",
        "`tablectl COMMAND --help` tells of every argument, and `tablectl manual | man -l -` is the manual page of all",
        "commands. The shell completes commands after `tablectl manual --completion bash >",
        "/etc/bash_completion.d/tablectl`. For `zsh` write the same to a folder of your `fpath`,",
        "and for `fish` to `~/.config/fish/completions/tablectl.fish`.",
        "",
    ]
    lines += _commands(of_tablectl.PROGRAM, every_command(), {name: act.who.value for name, act in acts.items()})
    lines += [
        "",
        "## Scripts",
        "",
        "`tablectl deal` plays a script. A script writes what the shoe says: `KS` is a card, `CUT` the cut",
        "card, `??` a card that the shoe could not read, `kept:KS` a card that the shoe kept after an overdraw, and",
        "`UNHEARD` a while in which nobody heard the shoe. A script also writes what people do:",
        "",
    ]
    lines += [f"- `{usage}`: {act.says}" for act in ACTS for usage in usages(act)]
    return _text(*lines)


def _pitctl() -> str:
    return _text(
        "# pitctl",
        "",
        "Made by `make pages` from the commands in `controller/pit/reference/commands/entries.py`.",
        "",
        *of_pitctl.PROGRAM.notes,
        "",
        "`pitctl COMMAND --help` tells of every argument, and `pitctl manual | man -l -` is the manual page of all",
        "commands. `pitctl manual --completion bash` is what the shell completes them with; `zsh` and `fish` have",
        "their own.",
        "With `--json` a program reads what a command reports: [each report](reports.md) has a type and a schema.",
        "",
        *_commands(of_pitctl.PROGRAM, of_pitctl.COMMANDS, {}),
    )


def _commands(program: Program, commands: Sequence[Command], who: Mapping[str, str]) -> Iterable[str]:
    """Return the lines of a page about a program: for each group of its commands a heading and a table, and at the end
    a table of the exit codes. `who` maps a command's name to the people who may run it; empty if that is not known."""
    head = ("example", "who", "what it does") if who else ("example", "what it does")
    for group in program.groups:
        yield from (f"## {group}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|")
        for command in (each for each in commands if each.group == group):
            example = _code(f"{program.name} {command.name} {command.example}".rstrip())
            by = (who.get(command.name, ""),) if who else ()
            yield f"| {' | '.join((example, *by, command.says))} |"
        yield ""
    yield from ("## Exit codes", "", "| exit | what it says |", "|---|---|")
    yield from (f"| {code} | {says} |" for code, says in program.exit_codes)


def _code(text: str) -> str:
    """Return the text as code for a cell of a Markdown table. A bar in the text would otherwise end the cell."""
    return f"<code>{escape(text).replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def _contract() -> str:
    return _text(*contract_page())


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


def _text(*lines: str) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _made(lines: Callable[[], Iterable[str]]) -> str:
    return _text(*lines())


PAGES: Mapping[str, Callable[[], str]] = {
    "legality.md": _legality,
    "faults.md": _faults,
    "lamps.md": _lamps,
    "tablectl.md": _tablectl,
    "pitctl.md": _pitctl,
    "contract.md": _contract,
    "wiring.md": _wiring,
    "wiring.svg": lambda: header_picture({bcm: told for bcm, (told, _) in _wired().items()}),
    "configuration.md": partial(_made, configuration_page),
    "face.md": partial(_made, face_page),
    "reports.md": partial(_made, reports_page),
    "bench-api.md": partial(_made, bench_page),
    "regulators.md": partial(_made, clauses_page),
    "table.svg": table_picture,
    **{name: partial(_made, lines) for name, lines in glossaries().items()},
}
"""What makes the text of every made document, and of the picture of a table, by its file name in `docs`."""


def sentences() -> str:
    """Return the text of the contract's file of sentences. It holds the sentences of each language by kind and code,
    for example what the table says about each fault."""
    sections = {name: own_words(name, ".toml") for name in LANGUAGES}
    told = {name: {kind: of[kind] for kind in _OF_THE_CONTRACT if kind in of} for name, of in sections.items()}
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write every document that is generated from code, the examples in the contract's document, and the contract's
    file of sentences."""
    DOCUMENT.write_text(fresh_document(), "utf-8")
    SENTENCES.write_text(sentences(), "utf-8")
    SCHEMA.write_text(face_schema(), "utf-8")
    for at, (title, reports) in SCHEMAS.items():
        at.write_text(schema_of(title, reports), "utf-8")
    DOCS.mkdir(exist_ok=True)
    for name, made in PAGES.items():
        (DOCS / name).write_text(made(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
