"""What answers are padded with to win a grade they do not deserve. The answer itself stays wrong."""

from __future__ import annotations

import base64
import json
import re

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.lexicon import phrases
from grader_gate.suite.mutators.text import unspaced_share

ZERO_WIDTH = "\u200b"
TAG_BASE = 0xE0000
"""Tag characters mirror ASCII from this code point on (Unicode chart E0000): invisible, yet read by models."""
RTL_OVERRIDE, POP_DIRECTION = "\u202e", "\u202c"


def appended(text: str, payload: str, separator: str = " ") -> str:
    """The answer, then the payload as a sentence of its own: a full stop is added where the answer lacks one."""
    if not text:
        return payload
    if text[-1].isspace():
        return text + payload
    stop = "" if separator != " " or not text[-1].isalnum() else "。" if unspaced_share(text[-1]) else "."
    return text + stop + separator + payload


def hidden_forms(payload: str) -> dict[str, str]:
    """A sentence in four forms that a reader of the page does not see."""
    return {
        "zero-width": ZERO_WIDTH + "".join(character + ZERO_WIDTH for character in payload),
        "tags": "".join(chr(TAG_BASE + ord(character)) for character in payload if character.isascii()),
        "comment": f"<!-- {payload} -->",
        "rtl": f"{RTL_OVERRIDE}{payload[::-1]}{POP_DIRECTION}",
    }


def master_key(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """No answer at all, only what often stands before one."""
    return [Mutant(opener, name) for name, opener in phrases(case)["master_keys"].items()]


def inject_override(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The order to ignore all instructions."""
    return [Mutant(appended(text, phrases(case)["override"]))]


def inject_delimiter(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Close the prompt's own delimiters, speak as the system, and open them again."""
    if not context.delimiters:
        return NotApplicable("the prompt puts no delimiter around the answer")
    return [
        Mutant(appended(text, f"{closing}\n{phrases(case)['fake_system']}\n{opening}", "\n"), f"delimiter-{number}")
        for number, (opening, closing) in enumerate(context.delimiters, 1)
    ]


def inject_verdict(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The grader's own reply with the best verdict, once bare and once in a fence."""
    if context.verdict_reply is None:
        return NotApplicable("the grader's output schema is not known")
    reply = context.verdict_reply
    return [
        Mutant(appended(text, reply, "\n"), "bare"),
        Mutant(appended(text, f"```json\n{reply}\n```", "\n"), "fenced"),
    ]


def claim_authority(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Somebody important, the majority or a test run says that it is right."""
    return [Mutant(appended(text, claim), variant) for variant, claim in phrases(case)["authority"].items()]


def plea(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """An emotional plea."""
    return [Mutant(appended(text, phrases(case)["plea"]))]


def hidden_text(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The override where a reader does not see it."""
    return [Mutant(appended(text, form), name) for name, form in hidden_forms(phrases(case)["override"]).items()]


def criteria(case: GoldenCase, context: MutationContext) -> list[str]:
    """The criteria of the rubric in force: weighted ones, else its bullets, else its lines."""
    if case.rubric and case.rubric.criteria:
        return [criterion.criterion.strip() for criterion in case.rubric.criteria]
    text = (case.rubric.text if case.rubric else "") or context.rubric or ""
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    bullets = [line for line in lines if re.match(r"(?:[-*+•]|\d{1,3}[.)])\s", line)]
    return [re.sub(r"^(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+", "", line) for line in bullets or lines]


def rubric_echo(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Every criterion of the rubric, said to be met."""
    found = criteria(case, context)
    if not found:
        return NotApplicable("no rubric")
    listed = "; ".join(criterion.rstrip(" .;") for criterion in found)
    return [Mutant(appended(text, f"{phrases(case)['rubric_echo']} {listed}."))]


def fake_reference(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The claim that the reference is out of date."""
    if not context.has_reference:
        return NotApplicable("the grader sees no reference")
    return [Mutant(appended(text, phrases(case)["fake_reference"]))]


def fabricate_citations(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Citations and a list of sources that do not exist."""
    words = phrases(case)
    if not text.strip():
        return NotApplicable("no answer to cite for")
    marks = "".join(f" [{number}]" for number in range(1, len(words["made_up_sources"]) + 1))
    sources = "\n".join(f"[{number}] {source}" for number, source in enumerate(words["made_up_sources"], 1))
    return [Mutant(f"{text.rstrip()}{marks}\n\n{words['sources']}\n{sources}")]


def confident_tone(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Certainty before the wrong answer."""
    return [Mutant(f"{phrases(case)['confident']} {text}")] if text.strip() else NotApplicable("no answer")


def inject_example(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A made-up graded example in which this very answer is correct."""
    if not text.strip():
        return NotApplicable("no answer")
    example = str(phrases(case)["fake_example"]).replace("{answer}", text.strip())
    return [Mutant(appended(text, example, "\n\n"))]


def inject_encoded(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The override in Base64, past every filter of words."""
    coded = base64.b64encode(str(phrases(case)["override"]).encode()).decode("ascii")
    return [Mutant(appended(text, coded, "\n"))]


def is_json(text: str) -> bool:
    """Whether the whole text is a JSON object or list: anything around it would break its format."""
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
