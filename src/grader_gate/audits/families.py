"""Two graders on the same items: where they differ, what each is blind to, what both are blind to. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader_gate.audits.claims import Reading, distance, needed_items
from grader_gate.audits.rates import rate, typical
from grader_gate.decision.evidence import Distance
from grader_gate.model import Claim, ClaimKind, GoldenCase, Grade, GradeVerdict, Item, Ladder
from grader_gate.result import (
    Disagreement,
    FamilyRow,
    Finding,
    FindingKind,
    FindingStatus,
    Rate,
    SecondFamily,
)

MAX_LISTED = 50
"""Disagreements that are listed; the number is always told."""
MIN_TEXTS = 3
"""Texts of one mutator from which a common blindness is more than one odd text."""
BLIND = 0.5
"""Share of a mutator's texts that a grader must miss to count as blind to it."""
GENERATOR = "generator_family"
"""Key of a case's metadata that names the model family which wrote its answer."""


@dataclass(frozen=True, slots=True)
class Judge:
    """One of the two graders.

    :ivar runs: all its grades of an item.
    :ivar family: as its contract says.
    """

    name: str
    runs: Callable[[str], Sequence[Grade]]
    reading: Reading
    family: str | None = None


def compare_families(
    claims: Mapping[str, Claim], items: Mapping[str, Item], first: Judge, second: Judge
) -> SecondFamily:
    """Both graders side by side, over what both measured."""
    agreed, differing, planned = 0, [], len(items)
    expected = {c.items[0]: str(c.expected) for c in claims.values() if c.kind is ClaimKind.GOLDEN and c.expected}
    for name, item in items.items():
        here, there = usual_say(first.runs(name)), usual_say(second.runs(name))
        if here is None or there is None:
            continue
        if here == there:
            agreed += 1
        else:
            differing.append(
                Disagreement(
                    item=name,
                    case=item.case_id,
                    expected=expected.get(name),
                    first=here,
                    second=there,
                    location=item.location,
                )
            )
    differing.sort(key=lambda d: (not d.item.startswith(("golden/", "pair/")), d.item.startswith("mutant/"), d.item))
    golden = [c for c in claims.values() if c.kind is ClaimKind.GOLDEN]
    right = _both(golden, first, second, _distance)
    return SecondFamily(
        grader=second.name,
        first_family=first.family,
        family=second.family,
        agreement=Rate(k=agreed, n=agreed + len(differing), planned=planned),
        first_right=rate(a for a, _ in right) if golden else None,
        second_right=rate(b for _, b in right) if golden else None,
        mutators=_rows(claims.values(), first, second),
        disagreements=tuple(differing[:MAX_LISTED]),
        disagreed=len(differing),
    )


def usual_say(grades: Sequence[Grade]) -> str | None:
    """What a grader says of an item in most of its runs; None where nothing was measured."""
    said = Counter(_said(grade) for grade in grades if not grade.unmeasured)
    return max(sorted(said), key=lambda word: said[word]) if said else None


def _said(grade: Grade) -> str:
    if grade.error is not None:
        return "unusable reply"
    if grade.abstained:
        return "abstained"
    if grade.preference is not None:
        return grade.preference.value
    return "no verdict" if grade.verdict is None else grade.verdict.value


def _rows(claims: Iterable[Claim], first: Judge, second: Judge) -> tuple[FamilyRow, ...]:
    grouped: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.kind is ClaimKind.MUTANT and claim.mutator is not None:
            grouped[claim.mutator].append(claim)
    rows = []
    for mutator, mine in sorted(grouped.items()):
        pairs = _both(mine, first, second, _kill)
        rows.append(
            FamilyRow(
                mutator=mutator,
                first=rate(a for a, _ in pairs).model_copy(update={"planned": len(mine)}),
                second=rate(b for _, b in pairs).model_copy(update={"planned": len(mine)}),
                both_missed=sum(bool(a and b) for a, b in pairs),
            )
        )
    return tuple(rows)


def _both(
    claims: Iterable[Claim], first: Judge, second: Judge, read: Callable[[Claim, Judge], Distance]
) -> list[tuple[Distance, Distance]]:
    """Distances of both graders where both were measured."""
    found = [(read(claim, first), read(claim, second)) for claim in claims]
    return [(a, b) for a, b in found if a is not None and b is not None]


def _distance(claim: Claim, judge: Judge) -> Distance:
    grades = {item: list(judge.runs(item)) for item in needed_items(claim)}
    count = max((len(found) for found in grades.values()), default=0)
    runs = [{item: found[r] for item, found in grades.items() if r < len(found)} for r in range(count)]
    return typical([distance(claim, run, judge.reading) for run in runs])


def _kill(claim: Claim, judge: Judge) -> Distance:
    """As :func:`_distance`; None where the grader rejects the unchanged text as well, for then a kill says nothing."""
    if not claim.better and usual_say(judge.runs(claim.items[-1])) not in (None, GradeVerdict.CORRECT.value):
        return None
    return _distance(claim, judge)


def blind_to(row: FamilyRow) -> bool:
    """Whether both graders miss at least half of a mutator's texts (of three or more)."""
    rates = (row.first, row.second)
    return all(r.n >= MIN_TEXTS and (r.n - r.k) >= BLIND * r.n for r in rates) and row.both_missed > 0


def family_findings(suite: str, grader: str, both: SecondFamily) -> list[Finding]:
    """Common blindness by mutator, and one summary of the disagreements. None blocks."""
    common = {"suite": suite, "grader": grader, "status": FindingStatus.ABSOLUTE, "blocking": False}
    found = [
        Finding(
            kind=FindingKind.MONOCULTURE,
            mutator=row.mutator,
            sentence=(
                f"{row.mutator}: {grader} catches {row.first.k} of {row.first.n}, {both.grader} {row.second.k} of "
                f"{row.second.n}; {row.both_missed} pass both"
            ),
            suggestion="Both miss it: add a deterministic check, or name the defect in the rubric.",
            severity=0.7,
            **common,
        )
        for row in both.mutators
        if blind_to(row)
    ]
    if both.disagreed:
        shown = "; ".join(f"{d.item}: {d.first} against {d.second}" for d in both.disagreements[:3])
        more = f"; and {both.disagreed - 3} more" if both.disagreed > 3 else ""
        found.append(
            Finding(
                kind=FindingKind.DISAGREEMENT,
                sentence=(
                    f"{grader} and {both.grader} differ on {both.disagreed} of {both.agreement.n} items: {shown}{more}"
                ),
                suggestion="Read these first: one of the two is wrong on each.",
                severity=0.4,
                **common,
            )
        )
    return found


def kinship(
    suite: str,
    grader: str,
    family: str | None,
    things: Iterable[GoldenCase | Ladder],
    generator: str | None,
    second: tuple[str, str | None] | None,
) -> list[str]:
    """Warnings where a grader judges its own family's texts, or a second grader is of the first one's family.

    Graders prefer what their own family wrote (Panickssery et al., arXiv 2404.13076).

    :param generator: the family that wrote the answers where a case's metadata does not say.
    :param second: name and family of the second grader, if there is one.
    """
    warnings = []
    known = list(things)
    own = family.casefold() if family else None
    kin = [t for t in known if own and str(t.metadata.get(GENERATOR, generator or "")).casefold() == own]
    if kin:
        warnings.append(
            f"suite {suite}: {grader} is of the family `{family}`, which also wrote the answers of {len(kin)} of "
            f"{len(known)} cases and ladders; graders prefer their own family's texts, so check it with a "
            "`second_family` of another one"
        )
    if own and second is not None and second[1] is not None and second[1].casefold() == own:
        warnings.append(
            f"suite {suite}: {grader} and its second family {second[0]} are both of the family `{family}`; "
            "what both say alike proves little"
        )
    return warnings
