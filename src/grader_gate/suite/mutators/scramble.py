"""The words without the sense: a bag of keywords, shuffled words, an answer that contradicts itself."""

from __future__ import annotations

import re

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.attacks import appended
from grader_gate.suite.mutators.lexicon import language_of, phrases
from grader_gate.suite.mutators.negation import negated_sentence
from grader_gate.suite.mutators.numbers import salient
from grader_gate.suite.mutators.sentences import sentences
from grader_gate.suite.mutators.spans import masked, tokens
from grader_gate.suite.mutators.text import graphemes, hash_order, unspaced_share

MIN_TERMS = 5
MIN_TOKENS = 6
_LETTERS = 4
"""Words shorter than this carry grammar more often than content."""


def keyword_salad(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The distinct content words and numbers in hash order, joined by commas."""
    if unspaced_share(text) > 0.5:
        return NotApplicable("a script without spaces: whole clauses would stay together")
    import regex  # type: ignore[import-untyped, unused-ignore]

    word = rf"\p{{L}}(?:[\p{{L}}\p{{M}}]|['’-](?=\p{{L}})){{{_LETTERS - 1},}}"
    seen = {found.casefold(): found for found in regex.findall(word, masked(text, " "))}
    seen |= {number.text: number.text for number in salient(text, language_of(case)) if not number.word}
    if len(seen) < MIN_TERMS:
        return NotApplicable(f"fewer than {MIN_TERMS} keywords")
    return [Mutant(", ".join(hash_order(seen.values(), text)))]


def shuffle_words(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The same words in hash order; characters, for scripts without spaces."""
    unspaced = unspaced_share(text) > 0.5
    parts = [g for g in graphemes(masked(text, " ")) if not g.isspace()] if unspaced else tokens(text)
    if len(set(parts)) < MIN_TOKENS:
        return NotApplicable(f"fewer than {MIN_TOKENS} distinct words")
    shuffled = hash_order(parts, text)
    if unspaced:
        return [Mutant("".join(shuffled))]
    # A fence is one only at the start of a line.
    lines = [f"\n{part}\n" if part.startswith(("```", "~~~")) else part for part in shuffled]
    return [Mutant(re.sub(r" ?\n+ ?", "\n", " ".join(lines)).strip() if lines != shuffled else " ".join(lines))]


def self_contradict(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The answer, then the opposite of its first sentence."""
    found = sentences(text, language_of(case))
    claims = [text[start:end] for start, end in found if not text[start:end].endswith((":", "："))]
    opposite = negated_sentence(claims[0], case, context) if claims else None
    if opposite is None:
        return NotApplicable("the first sentence cannot be negated")
    bare = re.sub(r"^(?:(?:[-*+•#>]+|\d{1,3}[.)])\s+)+", "", opposite)
    return [Mutant(appended(text.rstrip(), f"{phrases(case)['opposite']} {bare}"))]
