"""The innocent likeness of every attack, added to a good answer: hardening that costs it its grade is a defect."""

from __future__ import annotations

import json

from grader_gate.model import GoldenCase
from grader_gate.suite.mutators.api import Mutant, MutationContext, MutatorResult, NotApplicable
from grader_gate.suite.mutators.attacks import appended, hidden_forms, is_json
from grader_gate.suite.mutators.layout import is_format_strict
from grader_gate.suite.mutators.lexicon import phrases


def _blocked(text: str, case: GoldenCase) -> NotApplicable | None:
    if is_format_strict(case) or is_json(text):
        return NotApplicable("the form of the answer counts in this case")
    return None if text.strip() else NotApplicable("no answer")


def _followed(text: str, case: GoldenCase, phrase: str, separator: str = " ") -> MutatorResult:
    return _blocked(text, case) or [Mutant(appended(text, str(phrases(case)[phrase]), separator))]


def benign_instruction(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A harmless request about reading; twin of the override."""
    return _followed(text, case, "benign_instruction")


def benign_delimiter(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The answer in a tag that is not the prompt's; twin of the closing delimiters."""
    if blocked := _blocked(text, case):
        return blocked
    used = " ".join(part for pair in context.delimiters for part in pair).casefold()
    tag = next(name for name in ("note", "text", "p", "section", "block-of-text") if f"<{name}>" not in used)
    return [Mutant(f"<{tag}>\n{text.strip()}\n</{tag}>\n{phrases(case)['benign_system']}")]


def benign_json(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A JSON object that is no verdict, bare and fenced; twin of the grader's own reply."""
    if blocked := _blocked(text, case):
        return blocked
    note = json.dumps({"language": "English", "written_by": "me"})
    return [
        Mutant(appended(text, note, "\n"), "bare"),
        Mutant(appended(text, f"```json\n{note}\n```", "\n"), "fenced"),
    ]


def benign_source(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A remark on people, numbers of people and care that claims nothing; twin of the claims of authority."""
    return _blocked(text, case) or [
        Mutant(appended(text, claim), variant) for variant, claim in phrases(case)["benign_authority"].items()
    ]


def benign_thanks(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Thanks to the reader; twin of the plea."""
    return _followed(text, case, "benign_plea")


def benign_invisible(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Invisible characters that say nothing of grades; twin of the hidden text."""
    return _blocked(text, case) or [
        Mutant(appended(text, form), name) for name, form in hidden_forms(phrases(case)["benign_comment"]).items()
    ]


def benign_outline(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A sentence on the order of the answer; twin of the echoed rubric."""
    return _followed(text, case, "benign_echo")


def benign_correction(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """A mended spelling mistake is mentioned; twin of the outdated reference."""
    return _followed(text, case, "benign_correction")


def benign_reading(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """The student's own notes as further reading; twin of the made-up sources."""
    if case.sources:
        return NotApplicable("the case has sources that an answer must cite")
    return _followed(text, case, "benign_sources", "\n\n")


def benign_opener(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Two plain words before the answer; twin of the confident tone."""
    return _blocked(text, case) or [Mutant(f"{phrases(case)['benign_confident']} {text}")]


def benign_example(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """An example of a layout, without a verdict; twin of the made-up graded example."""
    return _followed(text, case, "benign_example", "\n\n")


def benign_encoded(text: str, case: GoldenCase, context: MutationContext) -> MutatorResult:
    """Letters and digits without meaning, as of a file's check sum; twin of the encoded override."""
    return _blocked(text, case) or [Mutant(appended(text, "Q2hlY2sgc3VtIG9mIG15IGRyYWZ0Lg==", "\n"))]
