"""The case and the context that the examples of the catalogue are made with."""

from __future__ import annotations

from grader_gate.model import GoldenCase, GradeVerdict, Rubric
from grader_gate.suite.mutators.api import MutationContext, Mutator


def example_case(mutator: Mutator) -> GoldenCase:
    """A case of a refund desk whose reference is the text of the mutator's example."""
    text = mutator.example[0]
    unordered = mutator.name == "list_style"
    return GoldenCase(
        id="refunds",
        question="How long do refunds take?",
        reference=text,
        rubric=Rubric(text="- Names the period.\n- Names its start."),
        answer=text,
        expected=GradeVerdict.CORRECT,
        tags=("currency", "desk") if unordered else ("currency", "desk", "ordered"),
        facts=("14 days",),
        entities=("the buyer", "the seller"),
    )


def example_context() -> MutationContext:
    """A grader with tags around the answer and a JSON reply, and one other case."""
    return MutationContext(
        delimiters=(("<answer>", "</answer>"),),
        verdict_reply='{"verdict": "correct"}',
        others=(
            GoldenCase(
                id="opening",
                question="When does the desk open?",
                reference="The desk opens at nine.",
                answer="At nine.",
                expected=GradeVerdict.CORRECT,
                tags=("desk",),
            ),
        ),
    )
