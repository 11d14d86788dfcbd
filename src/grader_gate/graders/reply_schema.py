"""The JSON Schema of a reply, as far as servers that enforce schemas all support it."""

from __future__ import annotations

from typing import Any

from grader_gate.config import Contract, Output


def reply_schema(output: Output, contract: Contract) -> dict[str, Any]:
    """The fields of ``output``, all required, the reason before the verdict so that it is not written to fit.

    Ranges stand in descriptions: strict modes refuse ``minimum`` and ``maximum``.
    """
    properties: dict[str, Any] = {}
    if output.reason is not None:
        properties[output.reason] = {"type": "string", "description": "Why, in one to three sentences."}
    if output.citations is not None:
        properties[output.citations] = {
            "type": "array",
            "items": {"type": "string"},
            "description": "Words of the answer or ids of sources the grade rests on.",
        }
    if output.score is not None and contract.scale is not None:
        scale = contract.scale
        best = "higher" if scale.higher_is_better else "lower"
        text = f"From {scale.min:g} to {scale.max:g}; {best} is better."
        properties[output.score] = {"type": "number", "description": text}
    if output.verdict is not None:
        words = list(output.verdicts)
        if contract.abstains and output.abstain_words:
            words.append(output.abstain_words[0])
        properties[output.verdict] = {"type": "string", "enum": words}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
