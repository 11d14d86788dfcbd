"""Short ways to run one mutator."""

from typing import Any

from grader_gate.model import GoldenCase, GradeVerdict
from grader_gate.suite.mutators import MutationContext, NotApplicable, mutate, registry


def case(text: str = "", **fields: Any) -> GoldenCase:
    defaults = {
        "id": "c",
        "question": "What is true?",
        "reference": text,
        "answer": text,
        "expected": GradeVerdict.CORRECT,
    }
    return GoldenCase(**{**defaults, **fields})


def run(name: str, text: str, context: MutationContext | None = None, **fields: Any) -> list[str] | str:
    """The mutants' texts, or the reason why there are none."""
    result = mutate(registry()[name], text, case(text, **fields), context or MutationContext())
    return result.reason if isinstance(result, NotApplicable) else [mutant.text for mutant in result]


def variants(name: str, text: str, context: MutationContext | None = None, **fields: Any) -> dict[str, str]:
    """The mutants by variant; empty where the mutator does not apply."""
    result = mutate(registry()[name], text, case(text, **fields), context or MutationContext())
    return {} if isinstance(result, NotApplicable) else {mutant.variant: mutant.text for mutant in result}
