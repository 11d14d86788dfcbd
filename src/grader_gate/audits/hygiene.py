"""What is doubtful about golden cases and ladders themselves, before anything is graded. Pure.

A remark is a question to a person, never a verdict.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader_gate.model import GoldenCase, GradeVerdict, Ladder, Location

NEAR = 95.0
"""Likeness (per cent, normalised Indel similarity of rapidfuzz) from which two answers count as near-duplicates."""

MOST_COMPARED = 500
"""Answers of one question that each is compared with, nearest in length first: bounds the work on large sets."""

ADVERSARIAL_TAGS = frozenset({"adversarial", "attack", "attacks", "injection", "hard", "tricky", "red-team", "redteam"})
MIN_ADVERSARIAL = 0.05
MIN_INCORRECT = 0.15
"""Shares below which a set is called one-sided. Conventions, not theorems: with fewer, one or two cases decide."""

CONFIDENCE = 0.95
LISTED = 8


@dataclass(frozen=True, slots=True)
class Remark:
    """One doubtful thing.

    :ivar kind: a word or two, stable: what scripts filter by.
    :ivar message: what is doubtful and what to do.
    """

    kind: str
    message: str
    location: Location | None = None


def remarks(
    cases: Sequence[GoldenCase],
    ladders: Sequence[Ladder],
    *,
    acceptable_error: float,
    sentences_of: Callable[[str], Sequence[str]],
) -> list[Remark]:
    """Everything that can be said of a suite's texts and labels alone.

    :param acceptable_error: the policy's; decides which tags are too small to show it.
    :param sentences_of: splits an answer into sentences.
    """
    return [
        *duplicates(cases),
        *near_duplicates(cases),
        *label_conflicts(cases),
        *copied_references(cases),
        *small_tags(cases, acceptable_error),
        *balance(cases),
        *(remark for ladder in ladders for remark in ladder_steps(ladder, sentences_of)),
    ]


def folded(text: str) -> str:
    """Text without case, layout and Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _key(case: GoldenCase) -> tuple[str, str, str]:
    return folded(case.question), folded(case.answer), folded(case.reference or "")


def duplicates(cases: Sequence[GoldenCase]) -> list[Remark]:
    """The same question and answer more than once; with different verdicts, one of them must be wrong."""
    groups: dict[tuple[str, str, str], list[GoldenCase]] = defaultdict(list)
    for case in cases:
        groups[_key(case)].append(case)
    found = []
    for group in groups.values():
        if len(group) < 2:
            continue
        first, *others = group
        names = ", ".join(case.id for case in others)
        if len({case.expected for case in group}) > 1:
            said = ", ".join(f"{case.id} {case.expected}" for case in group)
            message = f"the same question and answer with different verdicts ({said}): decide which holds"
            found.append(Remark("contradictory verdicts", message, first.location))
        else:
            message = f"{first.id} stands again as {names}: it counts {len(group)} times; keep one"
            found.append(Remark("duplicate", message, others[0].location))
    return found


def near_duplicates(cases: Sequence[GoldenCase]) -> list[Remark]:
    """Answers to one question that are all but equal, with one verdict and the same figures.

    Where figures or verdicts differ the pair is a minimal pair, which is a good thing to have.
    """
    from rapidfuzz import fuzz, process

    by: dict[tuple[str, GradeVerdict, tuple[str, ...]], list[tuple[str, GoldenCase]]] = defaultdict(list)
    for case in cases:
        answer = folded(case.answer)
        figures = tuple(re.findall(r"\d+(?:[.,]\d+)*", answer))
        by[folded(case.question), case.expected, figures].append((answer, case))
    found = []
    for group in by.values():
        group.sort(key=lambda pair: (len(pair[0]), pair[1].id))
        answers = [answer for answer, _ in group]
        lengths = [len(answer) for answer in answers]
        for index, (answer, case) in enumerate(group):
            # Two texts of a and b characters are alike by 2a / (a + b) at most, for a the shorter.
            end = min(bisect_right(lengths, len(answer) * (200 - NEAR) / NEAR), index + 1 + MOST_COMPARED)
            best = process.extractOne(answer, answers[index + 1 : end], scorer=fuzz.ratio, score_cutoff=NEAR)
            if best is None or _key(other := group[index + 1 + best[2]][1]) == _key(case):
                continue
            message = f"{other.id} is {best[1]:.0f} % the same as {case.id}, with the same verdict"
            found.append(Remark("near-duplicate", f"{message}: it adds weight, not knowledge", other.location))
    return found


def label_conflicts(cases: Sequence[GoldenCase]) -> list[Remark]:
    """Cases whose raters disagree, and those whose expected verdict is not what most raters say."""
    found = []
    for case in cases:
        votes = Counter(label for label in case.labels.values() if label is not None)
        if not votes:
            continue
        said = ", ".join(f"{n} {label}" for label, n in sorted(votes.items(), key=lambda v: (-v[1], v[0])))
        most = max(votes.values())
        if votes[case.expected] < most:
            message = f"{case.id}: expected {case.expected}, but the raters say {said}: decide it or say why"
            found.append(Remark("label conflict", message, case.location))
        elif len(votes) > 1:
            message = f"{case.id}: the raters disagree ({said}): settle it, or tag it and let the grader abstain"
            found.append(Remark("label conflict", message, case.location))
    return found


def copied_references(cases: Sequence[GoldenCase]) -> list[Remark]:
    """Answers that are the reference word for word, yet not expected ``correct``."""
    return [
        Remark(
            "contradictory verdicts",
            f"{case.id}: the answer is the reference itself, yet {case.expected} is expected",
            case.location,
        )
        for case in cases
        if case.reference is not None
        and case.expected is not GradeVerdict.CORRECT
        and folded(case.answer) == folded(case.reference)
    ]


def needed_cases(error: float) -> int:
    """How many cases that all pass show, with 95 % confidence, an error rate of at most ``error``.

    From (1 - error)^n <= 0.05, the exact binomial bound for no failure (Clopper and Pearson 1934).
    """
    return math.ceil(math.log(1 - CONFIDENCE) / math.log(1 - error)) if 0 < error < 1 else 1


def shown_error(n: int) -> float:
    """The error rate that ``n`` cases without a failure leave possible at 95 % confidence."""
    return float(1 - (1 - CONFIDENCE) ** (1 / n)) if n else 1.0


def small_tags(cases: Sequence[GoldenCase], acceptable_error: float) -> list[Remark]:
    """Tags with too few cases to show the acceptable error, in one remark."""
    sizes = Counter(tag for case in cases for tag in case.tags)
    need = needed_cases(acceptable_error)
    small = sorted((n, tag) for tag, n in sizes.items() if n < need)
    if not small:
        return []
    listed = ", ".join(f"{tag} ({n})" for n, tag in small[:LISTED])
    more = f" and {len(small) - LISTED} more" if len(small) > LISTED else ""
    worst = shown_error(small[0][0])
    message = (
        f"too few cases to show an error rate of {acceptable_error:.0%}, which takes {need} that all pass: "
        f"{listed}{more}; with {small[0][0]}, an error rate of {worst:.0%} can still hide"
    )
    return [Remark("small tag", message)]


def balance(cases: Sequence[GoldenCase]) -> list[Remark]:
    """Sets without adversarial cases or with next to no wrong answers."""
    if not cases:
        return []
    found = []
    hostile = sum(bool(ADVERSARIAL_TAGS & {tag.casefold() for tag in case.tags}) for case in cases)
    if hostile < MIN_ADVERSARIAL * len(cases):
        message = f"{hostile} of {len(cases)} cases are adversarial (tags {', '.join(sorted(ADVERSARIAL_TAGS))})"
        found.append(Remark("few adversarial cases", f"{message}: put hard ones beside the easy ones"))
    wrong = sum(case.expected is GradeVerdict.INCORRECT for case in cases)
    if wrong < MIN_INCORRECT * len(cases):
        message = f"{wrong} of {len(cases)} cases expect incorrect: a grader that accepts everything looks good"
        found.append(Remark("one-sided verdicts", message))
    if sum(case.expected is GradeVerdict.CORRECT for case in cases) < MIN_INCORRECT * len(cases):
        message = f"few of {len(cases)} cases expect correct: a grader that rejects everything looks good"
        found.append(Remark("one-sided verdicts", message))
    return found


def ladder_steps(ladder: Ladder, sentences_of: Callable[[str], Sequence[str]]) -> list[Remark]:
    """Adjacent rungs that seem to differ by more than one defect, and ladders with too few rungs."""
    found = []
    levels: dict[float, list[int]] = defaultdict(list)
    for index, rung in enumerate(ladder.rungs):
        levels[rung.level].append(index)
    if len(levels) < 3:
        message = f"ladder {ladder.id} has {len(levels)} levels: three or more show where the order breaks"
        found.append(Remark("short ladder", message, ladder.location))
    for lower, higher in pairwise(sorted(levels)):
        low, high = ladder.rungs[levels[lower][0]], ladder.rungs[levels[higher][0]]
        where = f"ladder {ladder.id}, level {lower:g} to {higher:g}"
        if low.defect and re.search(r";|\band\b|\bplus\b|,.*,", low.defect):
            message = f"{where}: “{low.defect}” names more than one defect; put a rung between"
            found.append(Remark("more than one defect", message, ladder.location))
            continue
        changed = changed_sentences(sentences_of(low.answer), sentences_of(high.answer))
        if changed is not None and changed > 1:
            message = f"{where}: {changed} sentences differ; is that one defect? Put a rung between if not"
            found.append(Remark("more than one defect", message, ladder.location))
    return found


def changed_sentences(low: Sequence[str], high: Sequence[str]) -> int | None:
    """How many sentences differ between two answers; None where they share none, for then nothing can be counted."""
    left, right = Counter(folded(s) for s in low), Counter(folded(s) for s in high)
    if not left & right:
        return None
    return max((left - right).total(), (right - left).total())


def unmutated(reasons: Mapping[str, Sequence[str]], cases: Sequence[GoldenCase]) -> list[Remark]:
    """Cases that no mutator of content applies to: nothing shows whether the grader reads them.

    :param reasons: case id → why each mutator does not apply; cases that one applies to are not in it.
    """
    found = []
    for case in cases:
        if case.id in reasons:
            common = [why for why, _ in Counter(reasons[case.id]).most_common(2)]
            message = f"{case.id}: no mutator of content applies ({'; '.join(common) or 'none is used'})"
            found.append(Remark("no mutator applies", f"{message}: give it a longer reference", case.location))
    return found


def shaky_references(failed: Mapping[str, Sequence[str]], cases: Sequence[GoldenCase]) -> list[Remark]:
    """References that fail the suite's own deterministic checks: mutants of them prove nothing.

    :param failed: case id → ``check: why`` of each check that rejects its reference.
    """
    return [
        Remark("shaky reference", f"{case.id}: its reference fails {'; '.join(failed[case.id][:3])}", case.location)
        for case in cases
        if failed.get(case.id)
    ]
