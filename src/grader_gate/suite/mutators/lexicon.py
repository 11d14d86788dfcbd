"""Word lists of one language, read from ``data/<language>/*.json``. Another language is another folder."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from grader_gate.model import GoldenCase

DEFAULT_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The word lists of a language; see the files for what each holds."""

    language: str
    abbreviations: frozenset[str]
    abbreviations_before_number: frozenset[str]
    labels: tuple[str, ...]
    announcements: tuple[str, ...]
    months: tuple[str, ...]
    number_words: dict[str, int]
    magnitudes: frozenset[str]
    units: dict[str, str]
    symbols: dict[str, str]
    count_nouns: frozenset[str]
    grammar: dict[str, Any]
    antonyms: dict[str, str]
    guarded: dict[str, dict[str, Any]]
    blocked_after: dict[str, list[str]]
    modality: tuple[tuple[str, str], ...]
    contractions: tuple[tuple[str, str], ...]
    phrases: dict[str, Any]

    def is_unit(self, word: str) -> bool:
        """Whether a token names a unit: a symbol in its exact case, or a word in any."""
        return word in self.symbols or word.casefold() in self.units


def language_of(case: GoldenCase) -> str:
    """The language a case declares (``metadata: {language: pt-BR}``, BCP 47), without its region; else English."""
    declared = case.metadata.get("language")
    if not isinstance(declared, str) or not declared.strip():
        return DEFAULT_LANGUAGE
    return re.split(r"[-_]", declared.strip().casefold())[0]


@cache
def lexicon(language: str) -> Lexicon | None:
    """The word lists of a language, or None where it has no folder."""
    if not re.fullmatch(r"[a-z]{2,3}", language):
        return None
    folder = resources.files("grader_gate.suite.mutators") / "data" / language
    if not folder.is_dir():
        return None

    def read(name: str) -> Any:
        return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))

    numerals, words = read("numerals"), read("words")
    pairs = words["antonyms"]
    return Lexicon(
        language=language,
        abbreviations=frozenset(words["abbreviations"]),
        abbreviations_before_number=frozenset(words["abbreviations_before_number"]),
        labels=tuple(numerals["labels"]),
        announcements=tuple(numerals["announcements"]),
        months=tuple(numerals["months"]),
        number_words=dict(numerals["number_words"]),
        magnitudes=frozenset(numerals["magnitudes"]),
        units=dict(numerals["units"]),
        symbols=dict(numerals["symbols"]),
        count_nouns=frozenset(numerals["count_nouns"]),
        grammar=words["grammar"],
        antonyms={a: b for left, right in pairs for a, b in ((left, right), (right, left))},
        guarded=words["guarded_antonyms"],
        blocked_after=words["blocked_antonyms_after"],
        modality=tuple((a, b) for a, b in words["modality"]),
        contractions=tuple((a, b) for a, b in words["contractions"]),
        phrases=read("phrases"),
    )


def phrases(case: GoldenCase) -> dict[str, Any]:
    """Ready-made sentences in the case's language, in English where that language has none."""
    found = lexicon(language_of(case)) or lexicon(DEFAULT_LANGUAGE)
    if found is None:  # The package is broken without its English lists.
        raise FileNotFoundError("grader_gate.suite.mutators/data/en")
    return found.phrases
