"""Evidence belongs to the pair of digests: what a run confirmed stands for every later run of the same pair.

Otherwise a re-run, or an empty commit, would be a new throw of the dice, and enough of them are green.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader_gate.audits.findings import KINDS
from grader_gate.flow.contradiction import Brought
from grader_gate.flow.prepare import Prepared, policy_digest
from grader_gate.flow.work import Work, plan_digest
from grader_gate.model import Claim, GateVerdict, digest
from grader_gate.result import Finding, FindingKind, FindingStatus, Result, SuiteResult

MOST_PAIRS = 5
"""Pairs whose evidence is carried on: a branch that goes to and fro is told, and a comment's header stays short."""

MOST_MARKS = 20
"""Findings carried per pair. The confirmation stops at five a suite; one would be enough to stay red."""

_FINAL = (FindingStatus.CONFIRMED, FindingStatus.ABSOLUTE, FindingStatus.UNCONFIRMED)


@dataclass(frozen=True, slots=True)
class Inherited:
    """What earlier runs confirmed.

    :ivar marks: pair → marks of blocking findings; oldest pair first.
    """

    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def pair_digest(prepared: Prepared, work: Work, brought: Brought) -> str:
    """Content address of what is compared: both graders, all that is asked of them, both policies, the goalposts, and
    the records that the change brings along itself."""
    posts = sorted([g.what, g.detail] for g in prepared.goalposts)
    policies = [policy_digest(prepared.base.config), policy_digest(prepared.head.config)]
    return digest("pair", plan_digest(work), policies, posts, list(brought.contents))


def mark(finding: Finding) -> str:
    """Names a finding without any of its words."""
    if finding.kind is FindingKind.INVERSION or finding.claim is None:
        what = [finding.case, finding.mutator, sorted(finding.tags)]
    else:
        what = [finding.claim]
    return digest("mark", finding.suite, finding.kind.value, what)[:16]


def inherit(result: Result, inherited: Inherited | None, claims: Mapping[str, Mapping[str, Claim]]) -> Result:
    """``result`` with what earlier runs of its pair confirmed, and the evidence that later runs inherit.

    :param claims: the affected claims by suite, to name what this run did not see break again.
    """
    known = dict(inherited.marks) if inherited is not None else {}
    earlier = known.pop(result.pair, ())
    result = _with(result, earlier, claims)
    own = [mark(f) for s in result.suites for f in s.findings if f.blocking and f.status in _FINAL]
    marks = tuple(dict.fromkeys([*earlier, *own]))[:MOST_MARKS]
    if marks and result.pair:
        known[result.pair] = marks
    return result.model_copy(update={"evidence": dict(list(known.items())[-MOST_PAIRS:])})


def _with(result: Result, earlier: Sequence[str], claims: Mapping[str, Mapping[str, Claim]]) -> Result:
    blocking = {mark(f) for s in result.suites for f in s.findings if f.blocking}
    missing = [m for m in earlier if m not in blocking]
    if not missing:
        return result
    suites = [_suite(suite, set(missing), claims.get(suite.name, {})) for suite in result.suites]
    told = {mark(f) for s in suites for f in s.findings if f.blocking}
    lost = [m for m in missing if m not in told]
    if lost and suites:
        # A drop of a tag, or a floor: known only by its mark. Still told, for it still decides.
        first = suites[0]
        finding = _finding(first, FindingKind.REGRESSION, f"{len(lost)} further findings ({EARLIER})")
        suites[0] = _failed(first, [finding])
    return result.model_copy(update={"suites": tuple(suites), "verdict": GateVerdict.FAIL})


EARLIER = "confirmed by an earlier run of the same change; evidence belongs to the change, a re-run does not clear it"


def _suite(suite: SuiteResult, missing: set[str], claims: Mapping[str, Claim]) -> SuiteResult:
    kept: list[Finding] = []
    made: list[Finding] = []
    for finding in suite.findings:
        if mark(finding) in missing and not finding.blocking:
            made.append(
                finding.model_copy(
                    update={
                        "blocking": True,
                        "status": FindingStatus.CONFIRMED,
                        "sentence": f"{finding.sentence} ({EARLIER})",
                    }
                )
            )
        else:
            kept.append(finding)
    done = {mark(f) for f in made}
    for claim in claims.values():
        kind = KINDS[claim.kind]
        named = _finding(suite, kind, f"{claim.id}: {EARLIER}", claim)
        if mark(named) in missing - done:
            done.add(mark(named))
            made.append(named)
    return _failed(suite.model_copy(update={"findings": tuple(kept)}), made) if made else suite


def _finding(suite: SuiteResult, kind: FindingKind, sentence: str, claim: Claim | None = None) -> Finding:
    return Finding(
        kind=kind,
        status=FindingStatus.CONFIRMED,
        blocking=True,
        sentence=sentence,
        suite=suite.name,
        grader=suite.grader,
        claim=None if claim is None else claim.id,
        claim_kind=None if claim is None else claim.kind,
        case=None if claim is None else claim.case_id,
        mutator=None if claim is None else claim.mutator,
        tags=() if claim is None else claim.tags,
        location=None if claim is None else claim.location,
        suggestion="Change the prompt, rubric or code, or let a maintainer accept it with the freeze label.",
        severity=5,
    )


def _failed(suite: SuiteResult, findings: Sequence[Finding]) -> SuiteResult:
    return suite.model_copy(
        update={
            "verdict": GateVerdict.FAIL,
            "findings": (*findings, *suite.findings),
            "why": (f"{len(findings)} confirmed by an earlier run of the same change", *suite.why),
        }
    )


def carry(result: Result, inherited: Inherited) -> Result:
    """``result`` with evidence of other pairs kept, for a result that was not measured or was accepted."""
    accepted = result.verdict is GateVerdict.PASS
    kept = {pair: m for pair, m in inherited.marks.items() if not (accepted and pair == result.pair)}
    known = {**kept, **result.evidence}
    return result.model_copy(update={"evidence": dict(list(known.items())[-MOST_PAIRS:])})
