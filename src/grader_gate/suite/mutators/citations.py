"""Citations: what they look like, dropping them, and pointing them at the wrong source."""

from __future__ import annotations

import re
from functools import lru_cache

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.spans import is_protected
from grader_gate.suite.mutators.text import splice

_NAME = r"[^\W\d_][\w.’'-]*"
_AUTHORS = rf"{_NAME}(?:(?:,?\s+(?:&|and|et)\s+|,\s+|\s+){_NAME}){{0,6}}"
_YEAR = r"(?:1[5-9]|20)\d\d[a-z]?(?:,?\s+p{1,2}\.\s*\d+(?:[-–]\d+)?)?"
_BRACKET = r"\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]"
_CITATION = re.compile(
    rf"""
    (?: (?<![\w\])`=])(?<!=[ ])(?:{_BRACKET})+(?![(:\[\w]|\s*=[^=])
      | (?<=[^\W\d_.,;]{{3}})(?!\[0)(?:{_BRACKET})+(?=[.,;:!?)](?:\s|$)|$) )
  | \[\^[\w-]+\](?!:)
  | 【[^【】\n]{{1,80}}】
  | <sup>\s*\[?\d{{1,3}}(?:\s*[,–-]\s*\d{{1,3}})*\]?\s*</sup>
  | \((?:(?:see|e\.g\.|cf\.),?\s+)?(?=[A-Z]){_AUTHORS}(?:\s+et\s+al\.?)?,?\s+{_YEAR}
      (?:;\s*{_AUTHORS}(?:\s+et\s+al\.?)?,?\s+{_YEAR})*\)
    """,
    re.X,
)
# The line of a source list, or an item whose text begins with a bracket: not a citation but what is cited.
_LISTED = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])?[ \t]*$", re.M)


@lru_cache(maxsize=8192)
def citation_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Start and end of each citation in the running text."""
    if not re.search(r"[\[【(<]", text):
        return ()
    found = []
    for match in _CITATION.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        opens_line = _LISTED.fullmatch(text, line_start, match.start()) is not None
        if opens_line and match[0].startswith(("[", "【")) and text[match.end() : match.end() + 1].strip(" \t") == "":
            continue
        if not is_protected(text, *match.span()):
            found.append(match.span())
    return tuple(found)


def strip_citations(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Remove every citation with the space before it."""
    spans = citation_spans(text)
    if not spans:
        return NotApplicable("no citation")
    edits = []
    for start, end in spans:
        while start > 0 and text[start - 1] in " \t\u00a0\u202f" and text[end : end + 1] not in ("", "(", "["):
            start -= 1
        edits.append((start, end, ""))
    return [Mutant(splice(text, edits).rstrip(" ") if text.rstrip() == text else splice(text, edits))]


def shift_citation(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Let every numbered citation name the next of the cited numbers, the last one the first."""
    places: list[tuple[int, int]] = []
    for start, end in citation_spans(text):
        inner = text[start:end]
        if re.search(r"\d\s*[–-]\s*\d", inner) or not re.match(r"\[\s*\^?\d|<sup>", inner):
            continue
        places += [(start + m.start(), start + m.end()) for m in re.finditer(r"\d+", inner)]
    numbers = sorted({int(text[start:end]) for start, end in places})
    if len(numbers) < 2:
        return NotApplicable("fewer than two cited numbers")
    following = dict(zip(numbers, [*numbers[1:], numbers[0]], strict=True))
    return [Mutant(splice(text, [(s, e, str(following[int(text[s:e])])) for s, e in places]))]
