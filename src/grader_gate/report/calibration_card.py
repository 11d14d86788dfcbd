"""The card: role and slices of a contract as YAML, with the figures they are frozen from in comments. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from grader_gate.audits.calibration_records import Calibration, SuggestedSlice, SuiteCalibration
from grader_gate.report.calibration_words import error_words, interval_words, split_words, truth_words
from grader_gate.report.escape import log_line

CARD_MARK = "# grader-gate calibration card"
"""First words of every card: tells a card that may be written anew from a file of somebody's own."""


def render_card(calibration: Calibration) -> str:
    """YAML with ``graders: NAME: contract:``, to be merged into ``.grader-gate.yml`` after a look."""
    when = calibration.started_at[:10]
    lines = [
        f"{CARD_MARK}, written by grader-gate {calibration.tool_version} on {when}.",
        "# Review it, then copy `role` and `slices` into the contract of the grader in .grader-gate.yml.",
        "graders:",
    ]
    for suite in calibration.suites:
        lines += [f"  {_quoted(suite.grader)}:", "    contract:"]
        lines += [f"      # {_comment(line)}" for line in _provenance(calibration, suite)]
        lines.append(f"      # {_comment(suite.suggestion.why)}")
        lines.append(f"      role: {suite.suggestion.role.value}")
        if suite.suggestion.slices:
            lines.append("      # The last slice that matches a case decides, so the weakest roles come last.")
            lines.append("      slices:")
        else:
            lines.append("      slices: []")
        for part in suite.suggestion.slices:
            lines.append(f"        # {_comment(part.why)}")
            tags = ", ".join(_quoted(tag) for tag in part.tags)
            lines.append(f"        - {{tags: [{tags}], role: {part.role.value}}}")
        lines += _inheriting(suite.suggestion.inherits)
    return "\n".join(lines) + "\n"


def _provenance(calibration: Calibration, suite: SuiteCalibration) -> list[str]:
    whole, revision = suite.overall, calibration.revision
    source = f"revision {revision.sha}, suite {suite.suite}, grader {suite.grader_digest[:16]}"
    return [
        f"frozen from: {source}, ledger {suite.ledger_digest}",
        split_words(suite),
        truth_words(suite),
        f"false accepts: {error_words(whole.false_accept, suite.acceptable_error)}",
        f"false rejects: {error_words(whole.false_reject, suite.acceptable_error)}",
        f"weighted kappa {interval_words(whole.weighted_kappa)}, people's alpha {interval_words(whole.people.alpha)}",
        f"{whole.abstained.k} abstained, {whole.unusable} unusable, of {whole.cases} cases",
    ]


def _inheriting(parts: Sequence[SuggestedSlice]) -> list[str]:
    return [
        f"      # too few cases of its own, inherits: {_comment(' + '.join(p.tags))}: {_comment(p.why)}" for p in parts
    ]


def _comment(text: str) -> str:
    return log_line(text, 600)


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar. Its escapes are those of JSON but for pairs of surrogates, so none are made."""
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in shown)
