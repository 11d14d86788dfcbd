"""The opposite claim: add or remove ``not`` at the first finite verb that can carry it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.lexicon import Lexicon, language_of, lexicon
from grader_gate.suite.mutators.sentences import sentences
from grader_gate.suite.mutators.spans import is_protected
from grader_gate.suite.mutators.text import match_case

_WINDOW = 300
"""Characters around a verb that are read: more than a clause, and a bound on the work."""
_WORD_AFTER = re.compile(r"(\s+)([^\W\d_]+(?:['’][^\W\d_]+)?)")


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    replacement: str
    main: bool


def negate(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Add or remove "not" at the first finite verb of a main clause, of any clause where there is none."""
    language = language_of(case)
    words = lexicon(language)
    if words is None:
        return NotApplicable("no grammar for the case's language")
    first: _Edit | None = None
    for start, end in sentences(text, language):
        if re.search(r"[?？][\"”’')\]*_]*$", text[max(start, end - 10) : end]):
            continue
        for edit in _edits(text, start, end, words):
            first = first or edit
            if edit.main:
                return [_applied(text, edit)]
    return [_applied(text, first)] if first else NotApplicable("no finite verb that can carry a negation")


def _applied(text: str, edit: _Edit) -> Mutant:
    return Mutant(text[: edit.start] + edit.replacement + text[edit.end :])


def negated_sentence(sentence: str, case: GoldenCase, context: MutationContext) -> str | None:
    """A sentence with its claim reversed, or None."""
    made = negate(sentence, case, context)
    return None if isinstance(made, NotApplicable) else made[0].text


def _edits(text: str, start: int, end: int, words: Lexicon) -> Iterator[_Edit]:
    for match in _verbs(words.language).finditer(text, start, end):
        if not is_protected(text, *match.span()):
            made = _edit(text, start, end, match, words)
            if made is not None:
                yield made


def _edit(text: str, start: int, end: int, match: re.Match[str], words: Lexicon) -> _Edit | None:
    grammar = words.grammar
    lead = text[max(start, match.start() - _WINDOW) : match.start()]
    tail = text[match.end() : min(end, match.end() + _WINDOW)]
    before = [word.casefold() for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[,;:()—–]", lead)]
    after = [word.casefold() for word in re.findall(r"[^\W_]+(?:['’][^\W\d_]+)?|[,;:()—–.]", tail)[:4]]
    main = not _subordinate(before, words)
    verb = match[0].casefold().replace("’", "'")
    if verb in grammar["contracted"]:
        if after and after[0] in grammar["not_idioms"]:
            return None
        positive = match_case(str(grammar["contracted"][verb]), match[0])
        return _Edit(match.start(), match.end(), positive, main)
    if match["joined"]:  # they're, I'm, it's
        if not after or not re.match(r"\w", after[0]) or _negative_ahead(after, words):
            return _without_not(text, match.end(), end, words, main)
        return _Edit(match.end(), match.end(), " not", main)
    if not _is_verb(text, match, before, after, words):
        return None
    removal = _without_not(text, match.end(), end, words, main)
    if removal is not None or _negative_ahead(after, words):
        return removal
    if verb in grammar["auxiliary_do"]:
        return None  # Without "not" it is a main verb: "they do the work".
    if verb == "can":
        return _Edit(match.start(), match.end(), match_case("cannot", match[0]), main)
    return _Edit(match.end(), match.end(), " NOT" if match[0].isupper() and len(match[0]) > 1 else " not", main)


def _is_verb(text: str, match: re.Match[str], before: list[str], after: list[str], words: Lexicon) -> bool:
    """Whether the word is the finite verb it looks like: not May, a can, his will, and "that is,"."""
    verb = match[0].casefold()
    previous = before[-1] if before else ""
    if (
        not after
        or not re.match(r"\w", after[0])
        or previous in words.grammar["expletives"]
        or re.match(r"\s*[-‐/]", text[match.end() :])
    ):
        return False
    if text[match.start() - 1 : match.start()] in ("-", "/", "_", ".", "@", "#", "'", "’"):
        return False
    if verb in words.grammar["modals"]:
        if previous in words.grammar["determiners"] and previous not in ("this", "that"):
            return False
        if match[0][0].isupper() and (before or verb == "may"):
            return match[0].isupper() and text[: match.end()].isupper()
        if after[0].isdigit():
            return False
    opens_question = not before and match[0][0].isupper()
    return not (opens_question and verb in words.grammar["auxiliary_do"])


def _without_not(text: str, position: int, end: int, words: Lexicon, main: bool) -> _Edit | None:
    """The edit that takes out a "not" right after the verb, or after one or two adverbs."""
    at = position
    for _ in range(3):
        following = _WORD_AFTER.match(text, at, end)
        if following is None:
            return None
        word = following[2].casefold()
        if word == "not":
            next_word = _WORD_AFTER.match(text, following.end(), end)
            if next_word is not None and next_word[2].casefold() in words.grammar["not_idioms"]:
                return None
            return _Edit(following.start(), following.end(), "", main)
        if word not in words.grammar["adverbs"]:
            return None
        at = following.end()
    return None


def _negative_ahead(after: list[str], words: Lexicon) -> bool:
    """Whether a "not", "no" or "never" follows at once or after adverbs: a second one would undo it."""
    for word in after[:3]:
        if word == "not" or word in words.grammar["negative_after"]:
            return True
        if word not in words.grammar["adverbs"]:
            return False
    return False


def _subordinate(before: list[str], words: Lexicon) -> bool:
    """Whether the verb belongs to a condition, a reason or a relative clause instead of the main claim."""
    if before and before[-1] in words.grammar["relatives"]:
        return True
    clause: list[str] = []
    for word in before:
        clause = [] if word in ",;:" else [*clause, word]
    return bool(clause) and any(word in words.grammar["subordinators"] for word in clause if word != "that")


@cache
def _verbs(language: str) -> re.Pattern[str]:
    words = lexicon(language)
    grammar = words.grammar if words else {}
    plain = [*grammar["be"], *grammar["modals"], *grammar["auxiliary_do"]]
    contracted = [re.escape(word).replace("'", "['’]") for word in grammar["contracted"]]
    joined = [re.escape(word).replace("'", "['’]") for word in grammar["pronoun_is"]]
    suffixes = [re.escape(word).replace("'", "['’]") for word in grammar["subject_contractions"]]
    return re.compile(
        rf"\b(?:{'|'.join(contracted)}|(?P<joined>(?:{'|'.join(joined)})|(?:I|you|we|they)(?:{'|'.join(suffixes)}))"
        rf"|(?:{'|'.join(plain)}))(?![\w'’])",
        re.IGNORECASE,
    )
