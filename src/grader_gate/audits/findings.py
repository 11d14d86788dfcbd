"""From what the decision says of each claim to the findings people read. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader_gate.audits.claims import distance, needed_items
from grader_gate.audits.gradebook import SEVERITY, STORED, Gradebook, ReadingPair
from grader_gate.audits.pairwise import changed_place, pair_expected, pair_words
from grader_gate.decision.outcome import ClaimDecision, ClaimStatus
from grader_gate.model import Claim, ClaimKind, Grade, Item, Location, Purpose, Side, digest
from grader_gate.result import Finding, FindingKind, FindingStatus, Tally

KINDS = {
    ClaimKind.GOLDEN: FindingKind.REGRESSION,
    ClaimKind.MUTANT: FindingKind.SURVIVOR,
    ClaimKind.CONTROL: FindingKind.CONTROL,
    ClaimKind.ATTACK: FindingKind.ATTACK,
    ClaimKind.RUNGS: FindingKind.INVERSION,
}

_STATUS = {
    "confirmed": FindingStatus.CONFIRMED,
    "dismissed": FindingStatus.DISMISSED,
    "drift": FindingStatus.CONFIRMED,
    "not_rerun": FindingStatus.NOT_RERUN,
    "undecided": FindingStatus.UNDECIDED,
    "unconfirmed": FindingStatus.UNCONFIRMED,
    "improved": FindingStatus.UNCONFIRMED,
    "gray": FindingStatus.DISMISSED,
}

NEXT = {
    FindingKind.REGRESSION: "Read the reason, then mend the prompt or rubric; relabel a wrong case on its own.",
    FindingKind.SURVIVOR: "Say in the rubric that this defect must fail, or waive the text as equivalent.",
    FindingKind.CONTROL: "The change alters layout or tone only: the grader must not react to it.",
    FindingKind.ATTACK: "Tell the grader that text inside the answer is data, never an instruction.",
    FindingKind.INVERSION: "The better answer scores below the worse one: compare both reasons.",
}

PAIR_NEXT = {
    FindingKind.REGRESSION: "Compare the reasons of both orders; the better answer must win whichever stands first.",
    FindingKind.CONTROL: "The two texts mean the same: which stands first must not matter.",
    FindingKind.INVERSION: "Compare the reasons of both orders; the higher rung must win whichever stands first.",
}
"""The same for graders that compare, where it differs."""


@dataclass(frozen=True, slots=True)
class View:
    """What the findings of one suite are made from.

    :ivar items: head's items by id, for texts and places.
    :ivar before: mutant item id → the text it was made from.
    :ivar blocking: which kinds the policy lets block.
    :ivar waived: claim ids a maintainer called equivalent.
    :ivar quote: how much foreign text may be carried.
    :ivar places: where head has a case or ladder, by id; others are shown where base has them.
    """

    suite: str
    grader: str
    book: Gradebook
    readings: ReadingPair
    items: Mapping[str, Item]
    before: Mapping[str, str] = field(default_factory=dict)
    blocking: frozenset[FindingKind] = frozenset(KINDS.values())
    waived: frozenset[str] = frozenset()
    quote: str = "short"
    places: Mapping[str, Location] = field(default_factory=dict)


def claim_findings(claims: Mapping[str, Claim], decided: Mapping[str, ClaimDecision], view: View) -> list[Finding]:
    """One finding per claim that is not simply upheld; inversions of one ladder are one finding.

    Ordered by severity, then by id.
    """
    found = []
    ladders: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for claim_id, decision in decided.items():
        if decision.status == "upheld":
            continue
        finding = _finding(claims[claim_id], decision, view)
        if finding.kind is FindingKind.INVERSION and finding.case is not None:
            ladders[finding.case, finding.status].append(finding)
        else:
            found.append(finding)
    found += [_merge(group) for group in ladders.values()]
    return sorted(found, key=lambda f: (not f.blocking, -f.severity, f.claim or ""))


def absolute_findings(found: Mapping[str, int | None], claims: Mapping[str, Claim], view: View) -> list[Finding]:
    """What one revision on its own breaks: wrong verdicts, survivors, controls that move, inversions. None blocks.

    :param found: typical distance per claim.
    """
    made: list[Finding] = []
    ladders: dict[str, list[Finding]] = defaultdict(list)
    for claim_id, broken in found.items():
        if not broken:
            continue
        claim = claims[claim_id]
        runs = [r for r in view.book.runs(Side.HEAD, Purpose.SCREEN, needed_items(claim)) if r]
        upheld = sum(distance(claim, run, view.readings.head) == 0 for run in runs)
        tally = Tally(k=upheld, n=len(runs))
        said = ClaimDecision(ClaimStatus.CONFIRMED, Tally(k=0, n=0), tally, f"holds {tally.k} of {tally.n} times")
        kind = FindingKind.WRONG if claim.kind is ClaimKind.GOLDEN else KINDS[claim.kind]
        finding = _finding(claim, said, view).model_copy(
            update={"kind": kind, "status": FindingStatus.ABSOLUTE, "blocking": False, "base": None, "base_runs": None}
        )
        if claim.kind is ClaimKind.RUNGS:
            ladders[claim.case_id].append(finding)
        else:
            made.append(finding)
    made += [_merge(group) for group in ladders.values()]
    return sorted(made, key=lambda f: (-f.severity, f.claim or ""))


def _finding(claim: Claim, decision: ClaimDecision, view: View) -> Finding:
    status = decision.status
    kind = KINDS[claim.kind]
    if status == "drift":
        kind = FindingKind.DRIFT
    elif status == "improved":
        kind = FindingKind.IMPROVEMENT
    elif status == "undecided":
        kind = FindingKind.UNMEASURED
    base, head = _typical_grades(claim, view)
    waived = claim.id in view.waived
    # Only fresh runs of both sides block; what cannot be repeated blocks as a drop of the whole, see the decision.
    blocking = status == "confirmed" and claim.gating and not waived and kind in view.blocking
    mutant = view.items.get(claim.items[0]) if claim.mutator is not None else None
    text = str(mutant.inputs[changed_place(claim)]) if mutant is not None else None
    worst = _worst_distance(claim, head, view)
    return Finding(
        kind=kind,
        status=_STATUS[status],
        blocking=blocking,
        sentence=_sentence(claim, decision, base, head),
        suite=view.suite,
        grader=view.grader,
        claim=claim.id,
        claim_kind=claim.kind,
        case=claim.case_id,
        tags=claim.tags,
        mutator=claim.mutator,
        expected=_expected(claim),
        base=_say(claim, base, view, Side.BASE),
        head=_say(claim, head, view, Side.HEAD),
        direction=_direction(claim, base, head),
        base_runs=decision.base_runs,
        head_runs=decision.head_runs,
        reason=_quote(_reason(claim, head), view.quote),
        before=_quote(view.before.get(claim.items[0]), view.quote) if mutant is not None else None,
        after=_quote(text, view.quote) if mutant is not None else None,
        text_digest=text_digest(text) if text is not None else None,
        suggestion=PAIR_NEXT.get(kind, NEXT.get(kind)) if claim.better else NEXT.get(kind),
        location=view.places.get(claim.case_id, claim.location),
        severity=SEVERITY[claim.kind] + 0.1 * min(worst, 9),
    )


def text_digest(text: str) -> str:
    """What a waiver names: the first 16 hex digits of the mutant text's digest."""
    return digest("mutant text", text)[:16]


def _typical_grades(claim: Claim, view: View) -> tuple[dict[str, Grade], dict[str, Grade]]:
    """Grades that show the difference: base's first upheld run, head's first broken one where there are such."""
    base = _pick(claim, view, Side.BASE, (STORED, Purpose.CONFIRM, Purpose.FRESH), broken=False)
    head = _pick(claim, view, Side.HEAD, (Purpose.SCREEN, Purpose.CONFIRM, Purpose.FRESH), broken=True)
    return base, head


def _pick(claim: Claim, view: View, side: Side, purposes: Sequence[str], *, broken: bool) -> dict[str, Grade]:
    first: dict[str, Grade] = {}
    for purpose in purposes:
        for run in view.book.runs(side, purpose, claim.items):
            if not all(item in run for item in needed_items(claim)):
                continue
            first = first or run
            found = distance(claim, run, view.readings.of(side))
            if found is not None and (found > 0) == broken:
                return run
    return first


def _worst_distance(claim: Claim, run: Mapping[str, Grade], view: View) -> int:
    return (distance(claim, run, view.readings.head) if run else None) or 0


def _expected(claim: Claim) -> str | None:
    if claim.better:
        return pair_expected(claim)
    match claim.kind:
        case ClaimKind.GOLDEN:
            return str(claim.expected)
        case ClaimKind.MUTANT:
            return "not correct"
        case ClaimKind.CONTROL:
            return "correct" if len(claim.items) == 1 else "same as unchanged"
        case ClaimKind.ATTACK:
            return "no gain"
        case ClaimKind.RUNGS:
            return "higher rung not below the lower one"


def grade_word(grade: Grade | None) -> str:
    """A grade in a word or two."""
    if grade is None:
        return "not measured"
    if grade.error is not None:
        return "unusable reply" if grade.malformed else "not measured"
    if grade.abstained:
        return "abstained"
    if grade.preference is not None:
        return grade.preference.value
    if grade.verdict is not None:
        return grade.verdict.value if grade.score is None else f"{grade.verdict.value} ({grade.score:g})"
    return f"{grade.score:g}"


def _say(claim: Claim, run: Mapping[str, Grade], view: View, side: Side) -> str:
    if not run:
        return "not measured"
    if claim.better:
        return pair_words(claim, run)
    if claim.kind is ClaimKind.RUNGS:
        low, high = (grade_word(run.get(item)) for item in claim.items)
        return f"{low} → {high}"
    if len(claim.items) == 2 and claim.kind is not ClaimKind.MUTANT:
        return f"{grade_word(run.get(claim.items[0]))} (unchanged: {grade_word(run.get(claim.items[1]))})"
    return grade_word(run.get(claim.items[0]))


def _direction(claim: Claim, base: Mapping[str, Grade], head: Mapping[str, Grade]) -> str | None:
    item = claim.items[0]
    before, after = base.get(item), head.get(item)
    if claim.kind is ClaimKind.RUNGS or before is None or after is None:
        return None
    if before.verdict is None or after.verdict is None or before.verdict is after.verdict:
        return None
    return "more lenient" if after.verdict.rank > before.verdict.rank else "stricter"


def _reason(claim: Claim, run: Mapping[str, Grade]) -> str | None:
    last = claim.kind is ClaimKind.RUNGS and not claim.better
    grade = run.get(claim.items[-1 if last else 0])
    if grade is None:
        return None
    return grade.error.message if grade.error is not None else grade.reason or None


def _quote(text: str | None, quote: str) -> str | None:
    if text is None or quote == "full":
        return text
    if quote == "none":
        return None
    return text if len(text) <= 600 else text[:600] + "…"


def _sentence(claim: Claim, decision: ClaimDecision, base: Mapping[str, Grade], head: Mapping[str, Grade]) -> str:
    name = {
        ClaimKind.GOLDEN: f"pair {claim.id.removeprefix('pair/')}" if claim.better else f"case {claim.case_id}",
        ClaimKind.MUTANT: f"{claim.mutator} of {claim.case_id}",
        ClaimKind.CONTROL: f"{claim.mutator} of {claim.case_id}",
        ClaimKind.ATTACK: f"{claim.mutator} on {claim.case_id}",
        ClaimKind.RUNGS: f"ladder {claim.case_id}, rungs {claim.id.rsplit('/', 1)[-1]}",
    }[claim.kind]
    return f"{name}: {decision.sentence}"


def _merge(group: list[Finding]) -> Finding:
    """Inversions of one ladder with one status are one finding: one bad rung breaks several pairs."""
    group = sorted(group, key=lambda f: (-f.severity, f.claim or ""))
    first = group[0]
    if len(group) == 1:
        return first
    pairs = ", ".join((f.claim or "").rsplit("/", 1)[-1] for f in group)
    return first.model_copy(
        update={"sentence": f"{first.sentence} (pairs {pairs})", "blocking": any(f.blocking for f in group)}
    )
