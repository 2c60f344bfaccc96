"""The sentences that people read, in each language. The code of an event, a fault or a refusal is the key to its
sentence.

Journals hold codes and no sentences, so a sentence may be reworded even while a shoe is being dealt.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from controller.words.found import programs_words


class Sentences(NamedTuple):
    """A pair of sentences for people: what happened, and what to do about it."""

    what: str
    do: str


class Language:
    """The texts of one language. Its sections are those of the language file: each has a sentence, or a pair of
    sentences, for each code."""

    def __init__(self, sections: dict[str, dict[str, Any]]) -> None:
        self.sections = sections

    def fault(self, code: str) -> Sentences:
        """Return the two sentences about a fault: what happened, and what to do."""
        return self._pair("fault", code)

    def alarm(self, code: str) -> Sentences:
        """Return the two sentences about an alarm: what happened, and what to do."""
        return self._pair("alarm", code)

    def pit(self, code: str) -> Sentences:
        """Return the two sentences about the state of the table's link to the pit: what it is, and what to do. The
        second sentence is empty if nobody needs to do anything."""
        return self._pair("pit", code)

    def refusal(self, code: str) -> str:
        """Return the sentence that says why a request or a wager was refused."""
        for section in ("refusal", "refused_wager"):
            if code in self.sections[section]:
                return str(self.sections[section][code])
        return self._unknown(code)

    def name(self, section: str, code: str) -> str:
        """Return the short name of a phase, a hand or the like, by its code. Return the code itself if the language
        file has no name for it."""
        return str(self.sections[section].get(code, code))

    def text(self, section: str, code: str, /, **values: object) -> str:
        """Return a sentence of a section of the language file, with `values` filled into its braces."""
        return str(self.sections[section][code]).format(**values)

    def _pair(self, section: str, code: str) -> Sentences:
        """Return the pair of sentences for a code. Return a general pair for an unknown code, because the journal of a
        later version may hold codes that this language file lacks."""
        found = self.sections[section].get(code)
        return Sentences(**found) if found else Sentences(self._unknown(code), self.name("unknown", "do"))

    def _unknown(self, code: str) -> str:
        return self.name("unknown", "what").format(code=code)


@cache
def language(name: str = "en") -> Language:
    """Return the texts of the language with this name, one of `LANGUAGES`."""
    return Language(programs_words(name))
