"""The same words, laid out another way: no grader of content may care."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.lexicon import language_of
from grader_gate.suite.mutators.lists import items_of
from grader_gate.suite.mutators.sentences import sentences
from grader_gate.suite.mutators.spans import has_code, outside, protected
from grader_gate.suite.mutators.text import splice

_MARKDOWN = re.compile(r"\*\*|__|^#{1,6}\s|^[ \t]*(?:[-*+•]|\d{1,3}[.)])\s|^[ \t]*\|.*\|", re.M)
_PAIRS = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'"}


def identity(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The text as it is."""
    return [Mutant(text)]


def whitespace(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Two spaces after each sentence, and a final line break added or taken away."""
    if not text.strip():
        return NotApplicable("no text")
    changed = text
    if not has_code(text):
        edges = {end for _, end in sentences(text, language_of(case))}
        changed = splice(text, [(e, e + 1, "  ") for e in edges if re.match(r" (?=\S)", text[e : e + 2])])
    return [Mutant(changed.rstrip("\n") if changed.endswith("\n") else changed + "\n")]


def unicode_form(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Composed letters decomposed (or the other way round), straight quotes curled (or the other way round)."""
    mutants = []
    decomposed = not all(unicodedata.is_normalized("NFC", text[s:e]) for s, e in outside(text))
    form = _mapped(text, lambda piece, _: unicodedata.normalize("NFC" if decomposed else "NFD", piece))
    if form != text and unicodedata.normalize("NFC", form) == unicodedata.normalize("NFC", text):
        mutants.append(Mutant(form, "normal-form"))
    quotes = _mapped(text, _straight if any(mark in text for mark in _PAIRS) else _curly)
    if quotes != text:
        mutants.append(Mutant(quotes, "quotes"))
    return mutants or NotApplicable("nothing but ASCII without quotes, outside protected spans")


def _mapped(text: str, change: Callable[[str, str], str]) -> str:
    edits = [(start, end, change(text[start:end], text[:start])) for start, end in outside(text)]
    return splice(text, edits)


def _straight(piece: str, before: str) -> str:
    return "".join(_PAIRS.get(character, character) for character in piece)


def _curly(piece: str, before: str) -> str:
    """Opening quotes stand at the start or after a space or bracket; feet and inches (5'8\") stay as they are."""
    parts = []
    opened = {'"': False, "'": False}
    for index, character in enumerate(piece):
        previous = piece[index - 1] if index else before[-1:]
        if character not in opened or (previous.isdigit() and not opened[character]):
            parts.append(character)
        elif not previous or previous.isspace() or previous in "([{<—–-/\"'“‘":
            opened[character] = True
            parts.append("“" if character == '"' else "‘")
        else:
            opened[character] = opened[character] and character == "'" and piece[index + 1 : index + 2].isalpha()
            parts.append("”" if character == '"' else "’")
    return "".join(parts)


def markdown_wrap(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The first sentence in bold, or each sentence as a bullet."""
    if reason := _format_matters(case, context):
        return NotApplicable(reason)
    if _MARKDOWN.search(text) or any(span.kind == "fence" for span in protected(text)):
        return NotApplicable("the text is Markdown already")
    found = sentences(text, language_of(case))
    if not found:
        return NotApplicable("no sentence")
    mutants = []
    start, end = found[0]
    if "*" not in text[start:end] and "\n" not in text[start:end]:
        mutants.append(Mutant(splice(text, [(start, start, "**"), (end, end, "**")]), "bold"))
    if len(found) > 1 and "\n" not in text.strip():
        mutants.append(Mutant("\n".join(f"- {text[s:e]}" for s, e in found), "bullets"))
    return mutants or NotApplicable("no sentence that Markdown can wrap")


def list_style(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Numbers for the bullets of a list, or bullets for its numbers."""
    if {"ordered", "steps", "sequence"} & set(case.tags):
        return NotApplicable("the order of the list matters")
    if reason := _format_matters(case, context):
        return NotApplicable(reason)
    items = items_of(text)
    if not items:
        return NotApplicable("no list")
    numbered = items[0].number is not None
    if numbered and re.search(r"\b(?:step|item|point|number|no\.)s?\s+\d", text, re.I):
        return NotApplicable("the text refers to items by number")
    edits = [(*item.marker, "-" if numbered else f"{index}.") for index, item in enumerate(items, 1)]
    return [Mutant(splice(text, edits))]


def _format_matters(case: GoldenCase, context: MutationContext) -> str | None:
    if is_format_strict(case):
        return "the case is tagged for its format"
    rubric = "\n".join(filter(None, (context.rubric, case.rubric.render() if case.rubric else "")))
    if re.search(r"\b(?:markdown|plain text|formatting|bullets?|bold|numbered list|list form)\b", rubric, re.I):
        return "the rubric speaks of formatting"
    return None


def is_format_strict(case: GoldenCase) -> bool:
    """Whether the case's tags say that the form of the answer counts."""
    strict = {"format", "format-strict", "format_strict", "exact", "exact-match", "exact_match", "json", "code"}
    return bool(strict & {tag.casefold() for tag in case.tags})
