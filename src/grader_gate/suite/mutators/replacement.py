"""Another text in place of the answer: of another case, the question itself, a refusal, an evasion."""

from __future__ import annotations

from collections.abc import Iterator

from grader_gate.model import GoldenCase, GradeVerdict
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.lexicon import phrases
from grader_gate.suite.mutators.text import fold, jaccard, overlap, terms

OFF_TOPIC_LIKENESS = 0.3
"""Token Jaccard from which another case's answer may be about the same thing."""
CONTAINED = 0.6
"""Share of the smaller text's tokens from which it counts as contained in the other (the same fact in fewer words)."""


def off_topic(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The reference of another case: the next by id that shares little with this one."""
    for other, answer in _others(case, context):
        if fold(other.question) == fold(case.question) or jaccard(answer, text) >= OFF_TOPIC_LIKENESS:
            continue
        if overlap(answer, text) < CONTAINED and not (case.reference and fold(answer) == fold(case.reference)):
            return [Mutant(answer)]
    return NotApplicable("no other case with a different answer")


def neighbour_question(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The reference of the case with the most similar question of the same tag, where the answers differ."""
    best: tuple[float, str] | None = None
    for other, answer in _others(case, context):
        if not set(other.tags) & set(case.tags) or fold(other.question) == fold(case.question):
            continue
        if best is not None and _most(other.question, case.question) <= best[0]:
            continue
        likeness = jaccard(other.question, case.question)
        if (best is None or likeness > best[0]) and overlap(answer, text) < CONTAINED:
            best = (likeness, answer)
    return [Mutant(best[1])] if best else NotApplicable("no case with a shared tag and a different answer")


def _most(left: str, right: str) -> float:
    """The most alike two texts can be for their numbers of terms: cheap, and enough to pass most by."""
    shorter, longer = sorted((len(terms(left)), len(terms(right))))
    return shorter / longer if longer else 0.0


def _others(case: GoldenCase, context: MutationContext) -> Iterator[tuple[GoldenCase, str]]:
    """Other cases with their good answer, from the next id on and round again."""
    others = [other for other in context.others if other.id != case.id]
    following = next((index for index, other in enumerate(others) if other.id > case.id), 0)
    for other in others[following:] + others[:following]:
        answer = other.reference or (other.answer if other.expected is GradeVerdict.CORRECT else None)
        if answer and answer.strip():
            yield other, answer


def parrot_question(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The question, given back as the answer."""
    if not case.question.strip():
        return NotApplicable("the case has no question")
    if jaccard(case.question, text) > CONTAINED:
        return NotApplicable("the question holds the answer")
    return [Mutant(case.question)]


def refusal(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A polite refusal."""
    if {"refusal", "refuse", "should-refuse", "expects-refusal"} & set(case.tags):
        return NotApplicable("the case expects a refusal")
    return [Mutant(str(phrases(case)["refusal"]))]


def evasive(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A sentence that commits to nothing."""
    if {"evasive", "depends", "it-depends", "expects-evasion"} & set(case.tags) or "depends" in fold(text).casefold():
        return NotApplicable("the case expects that it depends")
    return [Mutant(str(phrases(case)["evasive"]))]
