"""Something is missing: the whole answer, half of it, a sentence, a declared fact or a list item."""

from __future__ import annotations

import re
from itertools import pairwise

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.lexicon import language_of, phrases
from grader_gate.suite.mutators.lists import items_of, renumbered
from grader_gate.suite.mutators.sentences import sentences
from grader_gate.suite.mutators.spans import Protected, covering, token_spans
from grader_gate.suite.mutators.text import contains_phrase, graphemes, unspaced_share

MIN_WORDS = 8
MIN_CHARACTERS = 16
"""Below this many words (characters, for scripts without spaces) half an answer may still be all of it."""


def empty(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Say nothing at all."""
    return [Mutant("")]


def truncate_half(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Keep the first half of the words (of the characters, for scripts without spaces)."""
    words = token_spans(text)
    if unspaced_share(text) > 0.5:
        clusters = graphemes(text)
        if len(clusters) < MIN_CHARACTERS:
            return NotApplicable(f"fewer than {MIN_CHARACTERS} characters")
        cut = len("".join(clusters[: len(clusters) // 2]))
    else:
        plain = [match.end() for match in re.finditer(r"\S+", text)]
        if len(plain) < MIN_WORDS:
            return NotApplicable(f"fewer than {MIN_WORDS} words")
        cut = plain[len(plain) // 2 - 1]
    inside = covering(text, cut - 1, cut)
    if inside is not None and inside.end > cut and inside.kind != "fence":
        cut = inside.start  # Half an address, link or formula is no text a person leaves behind.
        cut = next((start for start, end in words if start <= cut < end), cut)
        inside = None
    kept = text[:cut].rstrip()
    if inside is not None and inside.end > cut:
        return [Mutant(_close_fence(text, inside, kept))]
    kept = re.sub(r"[\s,;:\-–—、，；：]+$", "", kept)
    return [Mutant(kept)] if kept else NotApplicable("the first half is one protected span")


def _close_fence(text: str, fence: Protected, kept: str) -> str:
    """End the code where it is cut, with a fence like the one that opens it."""
    opening = re.match(r"(`+|~+)", text[fence.start :])
    line = text.rfind("\n", 0, fence.start) + 1
    lead = text[line : fence.start]
    indent = re.sub(r"\S", " ", lead) if re.fullmatch(r"(?:\s|[-*+>]|\d{1,3}[.)])*", lead) else ""
    return f"{kept}\n{indent}{opening[1] if opening else '```'}"


def drop_last_sentence(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Leave out the last sentence that says something, with the courtesies after it."""
    found = sentences(text, language_of(case))
    fillers = _matcher(phrases(case)["closing_fillers"])
    last = next((i for i in range(len(found) - 1, -1, -1) if not fillers.match(text, found[i][0])), 0)
    if last < 1:
        return NotApplicable("fewer than two sentences")
    return [Mutant(text[: found[last - 1][1]] + _ending(text))]


def drop_first_sentence(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Leave out the first sentence that says something, with the announcements before it."""
    found = sentences(text, language_of(case))
    fillers = _matcher(phrases(case)["opening_fillers"])
    first = next((i for i, (start, end) in enumerate(found) if not _announces(text[start:end], fillers)), len(found))
    if first > len(found) - 2:
        return NotApplicable("fewer than two sentences")
    return [Mutant(text[found[first + 1][0] :])]


def _announces(sentence: str, fillers: re.Pattern[str]) -> bool:
    """Whether a sentence only leads to what follows: ``Sure!``, ``Here is the list:``."""
    return sentence.endswith((":", "：")) or fillers.match(sentence) is not None


def _matcher(words: list[str]) -> re.Pattern[str]:
    """Matches where one of the phrases starts, at a position given to ``match``."""
    return re.compile(rf"(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)


def drop_fact(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Leave out every sentence that states a declared fact; one mutant per fact."""
    if not case.facts:
        return NotApplicable("the case declares no facts")
    found = sentences(text, language_of(case))
    mutants: list[Mutant] = []
    for number, fact in enumerate(case.facts, 1):
        kept = [(start, end) for start, end in found if not contains_phrase(text[start:end], fact)]
        if not kept or len(kept) == len(found):
            continue
        parts: list[str] = []
        for index, (start, end) in enumerate(kept):
            follows = kept[index + 1][0] if index + 1 < len(kept) else None
            gap = "" if follows is None else text[end:follows] if (end, follows) in _gaps(found) else _gap(text, end)
            parts.append(text[start:end] + gap)
        mutants.append(Mutant("".join(parts), f"fact-{number}"))
    return mutants or NotApplicable("no sentence holds a declared fact, or every one does")


def _gaps(found: tuple[tuple[int, int], ...]) -> set[tuple[int, int]]:
    return {(before[1], after[0]) for before, after in pairwise(found)}


def _gap(text: str, end: int) -> str:
    """The whitespace after a sentence, as the text has it."""
    found = re.compile(r"\s*").match(text, end)
    return found[0] if found else ""


def _ending(text: str) -> str:
    return text[len(text.rstrip()) :]


def drop_list_item(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Leave out the middle item of the first list and number the rest anew."""
    items = items_of(text)
    if len(items) < 2:
        return NotApplicable("no list of two items")
    middle = len(items) // 2
    dropped = items[middle]
    kept = [item for index, item in enumerate(items) if index != middle]
    return [Mutant(renumbered(text, kept, items, without=dropped))]
