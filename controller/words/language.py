"""The sentences that people read, in each language. The code of an event, a fault or a refusal is the key to a
sentence.

Records hold codes and no sentences, so a sentence may be improved while a shoe is open.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from controller.words.found import programs_words


class Sentences(NamedTuple):
    """A pair of sentences: what happened, and what to do about it."""

    what: str
    do: str


class Language:
    """One language: the sections of its file. A section has a sentence, or a pair of sentences, for each code."""

    def __init__(self, sections: dict[str, dict[str, Any]]) -> None:
        self.sections = sections

    def fault(self, code: str) -> Sentences:
        """Return the sentences about a fault: what happened, and what to do."""
        return self._pair("fault", code)

    def alarm(self, code: str) -> Sentences:
        """Return the sentences about an alarm: what happened, and what to do."""
        return self._pair("alarm", code)

    def pit(self, code: str) -> Sentences:
        """Return the sentences about the table's link to the pit. `do` is empty where nobody needs to do anything."""
        return self._pair("pit", code)

    def refusal(self, code: str) -> str:
        """Return the sentence that says why a request or a wager was refused."""
        for section in ("refusal", "refused_wager"):
            if code in self.sections[section]:
                return str(self.sections[section][code])
        return self._unknown(code)

    def name(self, section: str, code: str) -> str:
        """Return a short name, for example of a phase or a hand, or the code itself where the file has no name
        for it."""
        return str(self.sections[section].get(code, code))

    def text(self, section: str, code: str, /, **values: object) -> str:
        """Return a sentence of the section, with these values in its braces."""
        return str(self.sections[section][code]).format(**values)

    def _pair(self, section: str, code: str) -> Sentences:
        """Return the pair of sentences for a code. A journal of a later version may hold a code that the file lacks;
        for this case there is a general pair."""
        found = self.sections[section].get(code)
        return Sentences(**found) if found else Sentences(self._unknown(code), self.name("unknown", "do"))

    def _unknown(self, code: str) -> str:
        return self.name("unknown", "what").format(code=code)


@cache
def language(name: str = "en") -> Language:
    """Return the language of this name, one of `LANGUAGES`."""
    return Language(programs_words(name))
