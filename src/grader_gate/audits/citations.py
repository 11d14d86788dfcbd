"""Whether a reason cites the evidence of what it judges: token-boundary matches, never substrings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from grader_gate.model import Grade


def holds(text: str, token: str) -> bool:
    """Whether ``token`` stands in ``text`` as whole words: ``14 days`` is not in ``114 days``.

    Case and runs of white space do not matter.
    """
    words = [re.escape(word) for word in token.split()]
    if not words:
        return False
    pattern = r"(?<![\w])" + r"\s+".join(words) + r"(?![\w])"
    return re.search(pattern, text, re.IGNORECASE) is not None


def cites(grade: Grade, evidence: Iterable[str]) -> bool:
    """Whether the reason, or a citation the grader gave, holds one of the evidence tokens."""
    said = [grade.reason, *grade.citations]
    return any(holds(text, token) for token in evidence for text in said)


def relevant(evidence: Iterable[str], answer: str) -> tuple[str, ...]:
    """The evidence tokens the answer holds: only those can be asked of its reason."""
    return tuple(token for token in evidence if holds(answer, token))
