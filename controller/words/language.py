"""The sentences that people read, in each language. An event, a fault or a refusal carries a code, which finds them.

No record holds a sentence, so a sentence may be improved while a shoe is open.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from controller.words.found import programs_words


class Sentences(NamedTuple):
    """What happened, and what to do about it."""

    what: str
    do: str


class Language:
    """One language: the sections of its file. A section has for each code a sentence, or a pair of sentences."""

    def __init__(self, sections: dict[str, dict[str, Any]]) -> None:
        self.sections = sections

    def fault(self, code: str) -> Sentences:
        """What a fault tells people."""
        return self._pair("fault", code)

    def alarm(self, code: str) -> Sentences:
        """What an alarm tells people."""
        return self._pair("alarm", code)

    def pit(self, code: str) -> Sentences:
        """How the table finds the pit. `do` is empty where nobody needs to do anything."""
        return self._pair("pit", code)

    def refusal(self, code: str) -> str:
        """Why a request or a wager was refused."""
        for section in ("refusal", "refused_wager"):
            if code in self.sections[section]:
                return str(self.sections[section][code])
        return self._unknown(code)

    def name(self, section: str, code: str) -> str:
        """A short name, for example of a phase or a hand; the code itself where the file has none."""
        return str(self.sections[section].get(code, code))

    def text(self, section: str, code: str, /, **values: object) -> str:
        """A sentence of the section, with these values in its braces."""
        return str(self.sections[section][code]).format(**values)

    def _pair(self, section: str, code: str) -> Sentences:
        """The pair of sentences. A journal of a later version may hold a code that this program's file lacks."""
        found = self.sections[section].get(code)
        return Sentences(**found) if found else Sentences(self._unknown(code), self.name("unknown", "do"))

    def _unknown(self, code: str) -> str:
        return self.name("unknown", "what").format(code=code)


@cache
def language(name: str = "en") -> Language:
    """The language of this name, one of `LANGUAGES`."""
    return Language(programs_words(name))
