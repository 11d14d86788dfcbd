"""Two tries: one failure may be chance, a second one is an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from grader_gate.model import Grade, Usage


async def twice(once: Callable[[], Awaitable[Grade]], worth_another: Callable[[Grade], bool]) -> Grade:
    """Try, and try once more where the first grade is worth it. What both tries used is added up.

    Where both are malformed, the last reply is the grade's ``raw`` and the first its ``earlier_raw``.
    """
    first = await once()
    if not worth_another(first):
        return first
    second = await once()
    update: dict[str, object] = {"usage": added(first.usage, second.usage)}
    if first.malformed and second.malformed and second.error is not None:
        twice_ = {"message": f"unusable twice: {second.error.message}"}
        if second.error.plain is not None:
            twice_["plain"] = f"unusable twice: {second.error.plain}"
        error = second.error.model_copy(update=twice_)
        update |= {"error": error, "earlier_raw": first.raw}
    return second.model_copy(update=update)


def added(first: Usage, second: Usage) -> Usage:
    """What two tries used together; no cost where none is known."""
    costs = [usage.cost_usd for usage in (first, second) if usage.cost_usd is not None]
    return Usage(
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cost_usd=sum(costs) if costs else None,
        calls=first.calls + second.calls,
    )


def code_is_worth_another(deterministic: bool) -> Callable[[Grade], bool]:
    """For graders that run code: every error, but where the contract says that the same would only come again."""
    return lambda grade: grade.unmeasured or (grade.malformed and not deterministic)
