"""Claims on which repeats of one grader disagree with one another. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from grader_gate.audits.claims import Reading, distance, needed_items
from grader_gate.audits.gradebook import SEVERITY, Gradebook
from grader_gate.audits.rates import AUDITS
from grader_gate.model import Claim, Purpose, Side
from grader_gate.result import Finding, FindingKind, FindingStatus, Tally


def unstable_findings(
    claims: Mapping[str, Claim], book: Gradebook, reading: Reading, *, suite: str, grader: str
) -> list[Finding]:
    """One finding per claim that some repeats on head uphold and others break; most severe first, none blocks.

    With one repeat there is nothing to compare, and nothing is found.
    """
    made = []
    for claim in claims.values():
        runs = [run for run in book.runs(Side.HEAD, Purpose.SCREEN, needed_items(claim)) if run]
        found = [d for run in runs if (d := distance(claim, run, reading)) is not None]
        upheld = sum(d == 0 for d in found)
        if not 0 < upheld < len(found):
            continue
        minority = min(upheld, len(found) - upheld)
        made.append(
            Finding(
                kind=FindingKind.UNSTABLE,
                status=FindingStatus.ABSOLUTE,
                blocking=False,
                suite=suite,
                grader=grader,
                claim=claim.id,
                claim_kind=claim.kind,
                case=claim.case_id,
                tags=claim.tags,
                mutator=claim.mutator,
                head_runs=Tally(k=upheld, n=len(found)),
                sentence=f"{claim.id}: equal calls disagree, {upheld} of {len(found)} uphold it ({AUDITS[claim.kind]})",
                suggestion="Measure it with `grader-gate noise`; a claim that flips in 40 % or more does not gate.",
                location=claim.location,
                severity=SEVERITY[claim.kind] / 10 + minority / len(found) / 10,
            )
        )
    return sorted(made, key=lambda f: (-f.severity, f.claim or ""))
