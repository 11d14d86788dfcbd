"""Deterministic checks against mutators: what each kills, what decorates, what would kill a survivor. Pure.

What a check looks at is known by its type. A mutant that only a check of something else kills is a lucky kill: the next
text of that sort may pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader_gate.audits.gradebook import STORED, Gradebook
from grader_gate.config import Check
from grader_gate.model import Claim, ClaimKind, Grade, GradeVerdict, Purpose, Side
from grader_gate.result import CheckRow, Finding, FindingKind, FindingStatus

LOOKS_AT: Mapping[str, frozenset[str]] = {
    "numbers": frozenset({"numeric", "unit", "date", "completeness"}),
    "citations": frozenset({"citations"}),
    "identifiers": frozenset({"numeric", "completeness", "relevance"}),
    "names": frozenset({"roles", "relevance"}),
    "contains": frozenset(
        {"completeness", "relevance", "numeric", "unit", "date", "direction", "modality", "negation"}
    ),
    "length": frozenset({"completeness"}),
    "json": frozenset({"completeness", "coherence"}),
    "json_schema": frozenset({"completeness", "coherence", "numeric"}),
}
"""Type of a check → the mutators' properties it is about. A ``regex`` may be about anything, and an empty answer
(``completeness``) is for every check to reject."""

Passes = Callable[[Check, Mapping[str, Any]], bool | None]
"""Whether a check passes an item's inputs; None where it cannot be asked (an input or key is missing)."""


LONGEST_SNIPPET = 160
"""Characters of a suggested line; a report would cut a longer one, and half a line cannot be pasted."""

MOST_REJECTED = 1 / 3
"""Share of the right answers a suggested check may reject; beyond it, it would cost more than it mends."""


def related(kind: str | None, mutator_property: str | None) -> bool:
    """Whether a check of this type is about what a mutator breaks; unknown types and patterns count as related."""
    return kind is None or kind not in LOOKS_AT or mutator_property in LOOKS_AT[kind]


@dataclass(frozen=True, slots=True)
class Kill:
    """One mutant under all checks.

    :ivar failed: names of the checks that reject it.
    """

    claim: str
    mutator: str
    property: str | None
    failed: tuple[str, ...]

    def lucky(self, kinds: Mapping[str, str]) -> bool:
        """Whether only checks of something else reject it.

        :param kinds: name of a check → its type.
        """
        return bool(self.failed) and not any(related(kinds.get(name), self.property) for name in self.failed)


def kills(claims: Mapping[str, Claim], book: Gradebook) -> list[Kill]:
    """Every degraded text of head that was graded by checks; one that did not move says what base says."""
    found = []
    for claim in claims.values():
        if claim.kind is not ClaimKind.MUTANT or claim.mutator is None:
            continue
        grades = book.of(Side.HEAD, Purpose.SCREEN, claim.items[0]) or book.of(Side.BASE, STORED, claim.items[0])
        grade: Grade | None = next(iter(grades.values()), None)
        if grade is not None and grade.error is None and grade.checks:
            failed = tuple(c.name for c in grade.checks if not c.passed)
            found.append(Kill(claim.id, claim.mutator, claim.property, failed))
    return found


def marked(rows: Sequence[CheckRow], found: Sequence[Kill], kinds: Mapping[str, str]) -> tuple[CheckRow, ...]:
    """The rows of the matrix with decoration and lucky kills marked."""
    lucky: dict[str, int] = {}
    for kill in found:
        if len(kill.failed) == 1 and kill.lucky(kinds):
            lucky[kill.failed[0]] = lucky.get(kill.failed[0], 0) + 1
    return tuple(
        row.model_copy(update={"unrelated": lucky.get(row.check, 0), "decoration": row.mutants > 0 and row.killed == 0})
        for row in rows
    )


def check_findings(
    rows: Sequence[CheckRow], found: Sequence[Kill], kinds: Mapping[str, str], *, suite: str, grader: str
) -> list[Finding]:
    """Checks that decorate and mutants killed by luck; none blocks.

    :param kinds: name of a check → its type, where it is known.
    """
    common = {
        "kind": FindingKind.CHECKS,
        "status": FindingStatus.ABSOLUTE,
        "blocking": False,
        "suite": suite,
        "grader": grader,
    }
    made = [
        Finding(
            sentence=f"check {row.check} is decoration: it rejects none of {row.mutants} degraded texts",
            suggestion="Remove it, or add a mutator or case that needs it.",
            severity=0.4,
            **common,
        )
        for row in rows
        if row.decoration
    ]
    by: dict[tuple[str, str], list[Kill]] = {}
    for kill in found:
        if kill.lucky(kinds):
            by.setdefault((kill.mutator, ", ".join(kill.failed)), []).append(kill)
    for (mutator, checks), group in sorted(by.items()):
        about = group[0].property or mutator
        made.append(
            Finding(
                mutator=mutator,
                claim=group[0].claim,
                sentence=f"{mutator}: {len(group)} of the texts are rejected only by {checks}, "
                f"which does not look at {about}",
                suggestion=f"Add a check of {about}: the next text of this sort may pass.",
                severity=0.3,
                **common,
            )
        )
    return made


CANDIDATES: tuple[Check, ...] = (
    Check(type="numbers", expect="reference"),
    Check(type="citations"),
    Check(type="identifiers", expect="reference"),
    Check(type="names", expect="reference"),
)
"""Checks that need nothing but what the grader is shown, most telling first."""


def suggested_checks(
    mutator_property: str | None,
    right: Mapping[str, Any],
    degraded: Mapping[str, Any],
    passes: Passes,
    *,
    facts: Sequence[str] = (),
) -> list[Check]:
    """The checks that pass the text a survivor was made from and reject the survivor.

    Each candidate is run on both texts before it is suggested. Only those about the property that broke are: what
    something else rejects by chance would be a lucky kill.

    :param right: inputs with the text before the mutation. :param degraded: inputs of the survivor.
    :param facts: what the case says a right answer holds: a ``contains`` check of those in the text.
    """
    answer, broken = str(right.get("answer", "")), str(degraded.get("answer", ""))
    held = tuple(fact for fact in facts if fact in answer and fact not in broken)
    candidates = list(CANDIDATES)
    if held and len(snippet(holds := Check(type="contains", values=held))) <= LONGEST_SNIPPET:
        candidates.append(holds)
    if len(broken.split()) * 2 <= len(answer.split()):
        candidates.append(Check(type="length", unit="words", min=max(2, len(answer.split()) * 2 // 3)))
    about = [check for check in candidates if related(check.type, mutator_property)]
    return [check for check in about if passes(check, right) is True and passes(check, degraded) is False]


def snippet(check: Check) -> str:
    """A check as one line of YAML, ready for the ``checks:`` of a grader."""
    import json

    keys = check.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    ordered = {"type": keys.pop("type"), **keys}
    body = ", ".join(f"{key}: {_plain(value, json.dumps)}" for key, value in ordered.items())
    return "- {" + body + "}"


def _plain(value: Any, quoted: Callable[..., str]) -> str:
    if isinstance(value, str) and value.isidentifier():
        return value
    return quoted(value, ensure_ascii=False)


def with_suggestions(
    findings: Sequence[Finding],
    suggest: Callable[[str], Sequence[Check]],
    right_answers: Sequence[Mapping[str, Any]],
    passes: Passes,
) -> list[Finding]:
    """Findings of survivors with the check that would have rejected them, where there is one worth its cost.

    :param suggest: claim id → :func:`suggested_checks`.
    :param right_answers: inputs of golden answers expected ``correct``; how many the check would reject is said, and
        one that rejects more than :data:`MOST_REJECTED` of them is not suggested.
    """
    costs: dict[str, tuple[int, int]] = {}

    def cost(check: Check) -> tuple[int, int]:
        line = snippet(check)
        if line not in costs:
            known = [said for inputs in right_answers if (said := passes(check, inputs)) is not None]
            costs[line] = (sum(not said for said in known), len(known))
        return costs[line]

    made = []
    for finding in findings:
        found: Sequence[Check] = ()
        if finding.kind is FindingKind.SURVIVOR and finding.claim is not None:
            found = suggest(finding.claim)
        for check in found:
            rejected, asked = cost(check)
            if rejected <= MOST_REJECTED * asked:
                also = f"; it also rejects {rejected} of {asked} right answers" if rejected else ""
                words = (
                    f"A deterministic check catches it: `{snippet(check)}` passes the original and rejects this text"
                )
                made.append(finding.model_copy(update={"suggestion": f"{words}{also}."}))
                break
        else:
            made.append(finding)
    return made


def is_right(expected: GradeVerdict) -> bool:
    """Whether a check should pass an answer with this label."""
    return expected is GradeVerdict.CORRECT
