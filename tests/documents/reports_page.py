"""Makes the page `docs/reports.md` and the JSON Schemas of the reports that pitctl, the head office, the doctor and the
par sheet print with `--json`.

The page and the schemas are made from the types that the commands print. The meaning of a field is the text below the
field in its type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from jsonschema import Draft202012Validator
from msgspec.inspect import StructType, Type, type_info
from msgspec.structs import astuple

import controller.people.care
import controller.people.par
import controller.pit.head_office
import controller.pit.reference
from controller.people.care.row import Row
from controller.people.par.report import ParChange, ParReport
from controller.pit.head_office.audit import House
from controller.pit.paper.day_file import DayFile
from controller.pit.reference.account import Account
from controller.pit.reference.alarms import KeptAlarm, LeftOut
from controller.pit.reference.award import Award
from controller.pit.reference.corrections import LeftByVoid
from controller.pit.reference.desk import Answer
from controller.pit.reference.refused import Refusal
from controller.pit.reference.reports import BackupTold, DecisionTold
from controller.pit.reference.slips import Slip
from controller.pit.reference.terms import TermsShown
from tests.documents.face_page import table_of, with_meanings


class Report(NamedTuple):
    """The form of what a command prints with `--json`: one value of one of `types` or, with `many`, a list of such
    values."""

    program: str
    command: str
    types: tuple[type[msgspec.Struct], ...]
    many: bool = False

    @property
    def name(self) -> str:
        """Return the report's name in its JSON Schema."""
        return "houses" if "=" in self.command else self.command.replace("--", "").replace(" ", "-").lower()


PIT_REPORTS = (
    Report("pitctl", "account", (Account,)),
    Report("pitctl", "alarms", (KeptAlarm, LeftOut), many=True),
    Report("pitctl", "award list", (Award,), many=True),
    Report("pitctl", "day", (DayFile,)),
    Report("pitctl", "decisions", (DecisionTold,), many=True),
    Report("pitctl", "decisions --refused", (Refusal,), many=True),
    Report("pitctl", "desk", (Answer,)),
    Report("pitctl", "meter voids", (LeftByVoid,), many=True),
    Report("pitctl", "slips", (Slip,), many=True),
    Report("pitctl", "terms show", (TermsShown,)),
    Report("pitctl", "verify", (BackupTold,)),
)
OFFICE_REPORTS = (Report("table-controller-head-office", "HOUSE=FILE", (House,), many=True),)
DOCTOR_REPORTS = (Report("tablectl", "doctor", (Row,), many=True),)
PAR_REPORTS = (
    Report("tablectl", "par", (ParReport,)),
    Report("tablectl", "par --against FILE", (ParChange,)),
    Report("tablectl", "par --composition", (ParChange,)),
)

_AT = "reports.schema.json"
SCHEMAS: dict[Path, tuple[str, Sequence[Report]]] = {
    Path(controller.pit.reference.__file__).with_name(_AT): ("What pitctl prints with --json", PIT_REPORTS),
    Path(controller.pit.head_office.__file__).with_name(_AT): (
        "What table-controller-head-office prints with --json",
        OFFICE_REPORTS,
    ),
    Path(controller.people.care.__file__).with_name(_AT): ("What tablectl doctor prints with --json", DOCTOR_REPORTS),
    Path(controller.people.par.__file__).with_name(_AT): ("What tablectl par prints with --json", PAR_REPORTS),
}
"""By its file, each schema's title and the reports in it."""

_INTRODUCTION = """\
# What a program reads from the commands

Made by `make pages` from the types that the commands print. The JSON Schemas are made so too. Each is a file
`reports.schema.json` in the package: in `controller/pit/reference` for `pitctl`, in `controller/pit/head_office` for
head office, in `controller/people/care` for `tablectl doctor`, and in `controller/people/par` for `tablectl par`. In a
schema each report has the name of its command, with `-` for a space: `#/$defs/award-list`. What a table tells of itself
by `tablectl` is on [a page of its own](face.md).

Amounts are whole cents, and times are RFC 3339 in UTC. A fraction is a text, such as `"1/3"`. A reader skips a
key that it does not know. The exit code is that of the command without `--json`.

`pitctl events --json` and `pitctl statement` print what head office checks: lines that a table or the pit signed
([several houses](head-office.md)). An event's own fields are in [the contract](contract.md).

| command | what it prints |
|---|---|"""


def held(report: Report, told: object) -> None:
    """Check that a printed report fits its JSON Schema. Raises an error if it does not, or if it has a key that the
    schema lacks."""
    schema = next(at for at, (_, reports) in SCHEMAS.items() if report in reports)
    whole = json.loads(schema.read_text("utf-8"))
    for type_ in whole["$defs"].values():
        if "properties" in type_:
            type_["additionalProperties"] = False
    Draft202012Validator({**whole, "$ref": f"#/$defs/{report.name}"}).validate(told)


def schema_of(title: str, reports: Iterable[Report]) -> str:
    """Return the JSON Schema of these reports, as the text of a file."""
    reports = (*reports,)
    every = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "$defs": {report.name: _value_of(report) for report in reports} | _types(reports),
    }
    return json.dumps(every, indent=2, ensure_ascii=False) + "\n"


def reports_page() -> Iterator[str]:
    """Yield the lines of the page `docs/reports.md`."""
    yield _INTRODUCTION
    every = [report for _, reports in SCHEMAS.values() for report in reports]
    for report in every:
        types = " or ".join(f"[{type_.__name__}](#{type_.__name__.lower()})" for type_ in report.types)
        yield f"| `{report.program} {report.command} --json` | {'a list, each of it ' if report.many else ''}{types} |"
    yield ""
    types_told = _types(every)
    first = [type_.__name__ for report in every for type_ in report.types]
    for name in [*dict.fromkeys(first), *sorted(types_told.keys() - {*first})]:
        told = types_told[name]
        values = [f"Its values: {', '.join(f'`{value}`' for value in told.get('enum', ()))}."]
        yield from (
            f"## {name}",
            "",
            told["description"],
            "",
            *(table_of(told) if "properties" in told else values),
            "",
        )


def _types(reports: Iterable[Report]) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of every type that occurs in the reports, by the type's name. Each field in it has its
    meaning as a description."""
    whole = [type_ for report in reports for type_ in report.types]
    _, types = msgspec.json.schema_components(whole, schema_hook=_fraction, ref_template="#/$defs/{name}")
    known = {found.__name__: found for type_ in whole for found in _structs(type_info(type_))}
    return {
        name: with_meanings(known[name], type_) if name in known else type_  # an enumeration has no fields
        for name, type_ in sorted(types.items())
    }


def _value_of(report: Report) -> dict[str, Any]:
    refs = [{"$ref": f"#/$defs/{type_.__name__}"} for type_ in report.types]
    one = refs[0] if len(refs) == 1 else {"anyOf": refs}
    return {"type": "array", "items": one} if report.many else one


def _structs(told: Type) -> Iterator[type[msgspec.Struct]]:
    """Yield every struct type that occurs in the type `told`, which may be a struct type too."""
    if isinstance(told, StructType):
        yield told.cls
        parts: Iterable[object] = (field.type for field in told.fields)
    else:
        parts = (part for value in astuple(told) for part in (value if isinstance(value, tuple) else (value,)))
    for part in parts:
        if isinstance(part, Type):
            yield from _structs(part)


def _fraction(type_: type) -> dict[str, Any]:
    assert type_ is Fraction
    return {"type": "string", "pattern": "^-?[0-9]+(/[0-9]+)?$"}
