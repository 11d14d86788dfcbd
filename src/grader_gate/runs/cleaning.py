"""What is done to a grade's foreign strings before they are kept anywhere."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from grader_gate.model import CheckOutcome, Grade


def cleaned(grade: Grade, redact: Callable[[str], str]) -> Grade:
    """The grade without secrets and without what JSON in UTF-8 cannot hold.

    Models do return halves of surrogate pairs (``"\\ud83d"``, cut by a token limit); they become U+FFFD. A score that
    is no number becomes None, as it would on its way through the file.
    """

    def clean(text: str) -> str:
        text = redact(text)
        if text.isascii():
            return text
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def maybe(text: str | None) -> str | None:
        return None if text is None else clean(text)

    return grade.model_copy(
        update={
            "reason": clean(grade.reason),
            "raw": maybe(grade.raw),
            "earlier_raw": maybe(grade.earlier_raw),
            "served_model": maybe(grade.served_model),
            "citations": tuple(clean(text) for text in grade.citations),
            "checks": tuple(
                CheckOutcome(name=clean(check.name), passed=check.passed, detail=clean(check.detail))
                for check in grade.checks
            ),
            "error": grade.error
            and grade.error.model_copy(
                update={"message": clean(grade.error.message), "plain": maybe(grade.error.plain)}
            ),
            "environment": grade.environment
            and grade.environment.model_copy(
                update={
                    name: tuple(clean(text) for text in getattr(grade.environment, name))
                    for name in ("planned", "committed", "unreported")
                }
            ),
            "score": grade.score if grade.score is None or isfinite(grade.score) else None,
        }
    )
