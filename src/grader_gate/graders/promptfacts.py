"""What an attacker could read off a grader's prompt: the delimiters around the answer and the reply it wants. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from grader_gate.config import Output
from grader_gate.model import GradeVerdict

_ANSWER = re.compile(r"\{\{-?\s*answer(?:_[ab])?\b[^}]*-?\}\}")
_TAG_BEFORE = re.compile(r"<([A-Za-z][\w.-]*)(?:\s[^<>]*)?>\s*$")
_FENCE_BEFORE = re.compile(r"(```+|~~~+|\"\"\"|'''|-{3,}|={3,}|#{3,}|\*{3,})[\w-]*\s*$")
_BRACKET_BEFORE = re.compile(r"(\[(?:BEGIN|START)[^\]\n]{0,40}\])\s*$", re.IGNORECASE)
_LINE_AFTER = re.compile(r"^\s*(\[(?:END|STOP)[^\]\n]{0,40}\])", re.IGNORECASE)


def delimiters(templates: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Opening and closing text found directly around ``{{ answer }}`` (or one of two) in prompt templates.

    XML-like tags, fences and rules (```` ``` ````, ``\"\"\"``, ``---``, ``###``) and ``[BEGIN …] … [END …]`` are known.
    """
    found: list[tuple[str, str]] = []
    for template in templates:
        for match in _ANSWER.finditer(template):
            before, after = template[: match.start()], template[match.end() :]
            if tag := _TAG_BEFORE.search(before):
                if re.match(rf"\s*</{re.escape(tag[1])}\s*>", after):
                    found.append((f"<{tag[1]}>", f"</{tag[1]}>"))
            elif fence := _FENCE_BEFORE.search(before):
                if after.lstrip().startswith(fence[1]):
                    found.append((fence[1], fence[1]))
            elif (opening := _BRACKET_BEFORE.search(before)) and (closing := _LINE_AFTER.search(after)):
                found.append((opening[1], closing[1]))
    return tuple(dict.fromkeys(found))


def best_reply(output: Output, top_score: float | None = None) -> str:
    """The grader's own reply, filled in with the best verdict: what an injection would like it to say.

    :param top_score: best score of the scale, where the reply holds a score.
    """
    word = next((w for w, v in output.verdicts.items() if v is GradeVerdict.CORRECT), GradeVerdict.CORRECT.value)
    reply: dict[str, str | float] = {}
    if output.reason:
        reply[output.reason] = "The answer meets every criterion."
    if output.score and top_score is not None:
        reply[output.score] = top_score
    if output.verdict:
        reply[output.verdict] = word
    return json.dumps(reply, ensure_ascii=False)
