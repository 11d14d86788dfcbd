"""Figures, places and evidence in words, alike in every renderer. Knows no sink.

Strings that come out of here are not escaped yet; a renderer passes them through its sink's escaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader_gate.model import Location
from grader_gate.result import (
    AuditRow,
    Certainty,
    Change,
    Cost,
    Finding,
    FindingStatus,
    MutatorRow,
    Rate,
    Standing,
    SuiteResult,
    Tally,
)

AUDIT_WORDS = {
    "golden": "golden cases right",
    "mutants": "mutants caught",
    "controls": "controls unchanged",
    "attacks": "attacks resisted",
    "ladders": "rungs in order",
}
STANDING_WORDS = {
    Standing.ABOVE: "✅ above the floor",
    Standing.UNPROVEN: "〰️ reaches the floor, not proven",
    Standing.BELOW: "❌ below the floor",
    Standing.UNENFORCEABLE: "➖ too few to enforce",
    Standing.NO_FLOOR: "no floor",
}

# ---------------------------------------------------------------- figures


def plural(n: int, one: str, many: str | None = None) -> str:
    """``1 flip``, ``1,204 flips``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def percent(share: float, digits: int = 1) -> str:
    """A share as ``95.0 %``; never rounded up to 100 nor down to 0."""
    text = f"{100 * share:.{digits}f}"
    if float(text) == 100 and share < 1:
        return f"> {100 - 10**-digits:.{digits}f} %"
    if float(text) == 0 and share > 0:
        return f"< {10**-digits:.{digits}f} %"
    return f"{text} %"


def rate_words(rate: Rate | None) -> str:
    """``114 of 120 (95.0 %)``, or ``not measured``; a rate over nothing never looks like a figure."""
    if rate is None:
        return "–"
    if rate.value is None:
        return "not measured"
    return f"{rate.k:,} of {rate.n:,} ({percent(rate.value)})"


def graded_words(rate: Rate | None) -> str:
    """``graded 118 of 120``: how much of what was planned stands behind a rate."""
    return "" if rate is None else f"graded {rate.n:,} of {rate.planned:,}"


def change_words(base: Rate | None, head: Rate | None) -> str:
    """``−3.3 points``, ``no change``, or ``–`` where one side has no figure."""
    if base is None or head is None or base.value is None or head.value is None:
        return "–"
    points = 100 * (head.value - base.value)
    if abs(points) < 1e-9:
        return "no change"
    sign = "+" if points > 0 else "−"
    return f"{sign}{abs(points):.1f} points" if abs(points) >= 0.05 else f"{sign}< 0.1 points"


def audit_change(row: AuditRow) -> str:
    """The change of one audit with its flips: ``−3.3 points, 5 regressed, 1 improved``."""
    parts = [change_words(row.base, row.head)]
    if row.regressions:
        parts.append(f"{row.regressions:,} regressed")
    if row.improvements:
        parts.append(f"{row.improvements:,} improved")
    return ", ".join(parts)


def interval_words(row: MutatorRow) -> str:
    """The 95 % interval of a mutator's rate on head."""
    return "–" if row.interval is None else f"{percent(row.interval[0], 0)} to {percent(row.interval[1], 0)}"


def runs_words(finding: Finding) -> str:
    """``8 of 8 on base, 0 of 8 on this pull request``; empty where it was not run or the sentence says it already."""

    def side(tally: Tally | None, where: str) -> str:
        return "" if tally is None or tally.n == 0 else f"{tally.k} of {tally.n} {where}"

    base, head = side(finding.base_runs, "on base"), side(finding.head_runs, "on this pull request")
    said = [f"{t.k} of {t.n}" in finding.sentence for t in (finding.base_runs, finding.head_runs) if t and t.n]
    return "" if said and all(said) else ", ".join(part for part in (base, head) if part)


_STATUS_WORDS = {
    FindingStatus.CONFIRMED: "confirmed",
    FindingStatus.ABSOLUTE: "",
    FindingStatus.UNCONFIRMED: "unconfirmed: could not be repeated",
    FindingStatus.DISMISSED: "",
    FindingStatus.NOT_RERUN: "not re-run",
    FindingStatus.UNDECIDED: "undecided",
}


def evidence_words(finding: Finding) -> list[str]:
    """What backs a finding: expected → got, the direction, runs of both sides, how sure.

    First comes the mutator, where the sentence does not name it.
    """
    got = ""
    if finding.expected and finding.head:
        got = f"expected {finding.expected} → got {finding.head}" + (f" (base: {finding.base})" if finding.base else "")
    elif finding.base and finding.head:
        got = f"base: {finding.base} → now: {finding.head}"
    elif finding.head:
        got = f"now: {finding.head}"
    elif finding.expected:
        got = f"expected {finding.expected}"
    runs = runs_words(finding)
    mutator = finding.mutator if finding.mutator and finding.mutator not in finding.sentence else None
    upheld = f"upheld in {runs}" if runs else ""
    made = f"mutator {mutator}" if mutator else ""
    return distinct((made, got, finding.direction or "", upheld, _STATUS_WORDS[finding.status]))


# ---------------------------------------------------------------- places and revisions


def short_sha(sha: str) -> str:
    """Twelve characters of a full SHA; names such as ``WORKTREE`` stay whole."""
    return sha[:12] if len(sha) >= 40 and all(c in "0123456789abcdef" for c in sha) else sha


def place(location: Location | None) -> str:
    """``path:line``, ``path`` or nothing."""
    if location is None:
        return ""
    return location.path if location.line is None else f"{location.path}:{location.line}"


def line_ranges(lines: Sequence[int]) -> str:
    """``3, 7–9`` for lines 3, 7, 8, 9."""
    runs: list[list[int]] = []
    for line in sorted(set(lines)):
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    shown = [f"{a}" if a == b else f"{a}–{b}" for a, b in runs[:8]]
    return ", ".join(shown) + (f" and {len(runs) - 8} more places" if len(runs) > 8 else "")


def change_lines(change: Change) -> str:
    """``line 3`` or ``lines 3–5, 9`` of a change, or nothing."""
    if not change.lines:
        return ""
    return f"line{'' if len(set(change.lines)) == 1 else 's'} {line_ranges(change.lines)}"


def cost_words(cost: Cost) -> str:
    """``240 calls, 30 from the cache, 120,000 tokens in and 9,000 out, $0.84, 42 s``."""
    parts = [plural(cost.calls, "call")]
    if cost.cached:
        parts.append(f"{cost.cached:,} from the cache")
    if cost.from_baseline:
        parts.append(f"{cost.from_baseline:,} from the baseline")
    if cost.input_tokens or cost.output_tokens:
        parts.append(f"{cost.input_tokens:,} tokens in and {cost.output_tokens:,} out")
    if cost.usd is not None:
        parts.append(f"${cost.usd:,.2f}" if cost.usd >= 0.01 or cost.usd == 0 else "less than $0.01")
    if cost.seconds:
        parts.append(f"{cost.seconds:,.0f} s" if cost.seconds >= 10 else f"{cost.seconds:.1f} s")
    return ", ".join(parts)


def certainty_words(certainty: Certainty) -> list[str]:
    """How sure a suite's verdict is, in sentences."""
    out = []
    if not certainty.confirmable:
        out.append("These grades are recordings and cannot be repeated, so no flip is confirmed side by side.")
    if certainty.flips or certainty.expected_flips is not None:
        line = f"{plural(certainty.flips, 'flip')} seen"
        if certainty.expected_flips is not None:
            line += f", {certainty.expected_flips:.1f} expected from noise alone"
        if certainty.reruns:
            line += f"; {plural(certainty.reruns, 'call')} spent on confirmation"
        out.append(line + ".")
    if certainty.false_block_bound is not None:
        out.append(f"Chance that noise alone blocks: at most {percent(certainty.false_block_bound, 2)}.")
    if certainty.detectable_drop is not None:
        out.append(
            f"Smallest uniform drop this run would see four times in five: {percent(certainty.detectable_drop)}."
        )
    return out


def examined_words(suite: SuiteResult) -> list[str]:
    """What was seen of a suite beside its claims, in sentences: position consistency, abstentions, a second family."""
    out = []
    if (steady := suite.ladders.consistency) is not None:
        line = f"Told alike in both orders: {rate_words(steady)} of the pairs"
        if suite.ladders.consistency_interval is not None:
            low, high = suite.ladders.consistency_interval
            line += f", 95 % interval {percent(low, 0)} to {percent(high, 0)}"
        if suite.ladders.consistency_base is not None:
            line += f"; on base {rate_words(suite.ladders.consistency_base)}"
        out.append(line + ".")
    declined, before = suite.abstained, suite.abstained_base
    if (declined is not None and declined.k) or (before is not None and before.k):
        line = f"The grader declined to judge {rate_words(declined)}"
        out.append(line + (f"; on base {rate_words(before)}." if before is not None else "."))
    if (both := suite.second_family) is not None:
        line = f"The second family {both.grader} says the same of {rate_words(both.agreement)}"
        if both.first_right is not None and both.second_right is not None:
            line += f"; right on golden cases: {rate_words(both.first_right)} against {rate_words(both.second_right)}"
        out.append(line + ".")
    return out


def distinct(texts: Iterable[str]) -> list[str]:
    """The texts in order, each once, without empty ones."""
    return [text for text in dict.fromkeys(texts) if text]
