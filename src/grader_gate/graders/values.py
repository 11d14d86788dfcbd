"""From what code returns (a callable, a program, an endpoint) to a grade."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from grader_gate.config import Contract, Output
from grader_gate.graders.judgement import MAX_REASON, Judgement, Unusable, malformed
from grader_gate.graders.pairwise import as_preference, comparing_output
from grader_gate.model import CheckOutcome, Grade, GradeVerdict, canonical_json, digest

FORMS = "a verdict (correct, partial, incorrect), true or false, a score, or an object with `verdict` or `score`"
PAIR_FORMS = "`a`, `b` or `tie`, or an object with one of them as its `verdict`"
FIELDS = frozenset(("verdict", "score", "reason", "abstained", "citations", "checks"))


class ReturnedValues:
    """Reads returned values under one contract.

    Forms: :data:`FORMS`; an object may also hold ``reason``, ``abstained``, ``citations`` (texts) and ``checks``
    (``{name, passed, detail}``). Other keys are ignored.
    """

    def __init__(self, contract: Contract) -> None:
        self._compares, self._abstains = contract.compares, contract.abstains
        output = comparing_output(Output(), "") if contract.compares else Output()
        self._judgement = Judgement(output, contract.scale, contract.abstains)

    @property
    def digest(self) -> str:
        """The judgement digest."""
        return digest("values", self._judgement.digest)

    def grade(self, value: Any) -> Grade:
        """The grade a value stands for, with the value as JSON in ``raw``. Never raises."""
        try:
            raw: str | None = canonical_json(value)
        except (ValueError, TypeError):
            raw = json.dumps(value, default=str)
        try:
            grade = self._read(value).model_copy(update={"raw": raw})
            return as_preference(grade) if self._compares else grade
        except Unusable as error:
            return malformed(str(error), raw)

    def judge(self, raw: str) -> Grade:
        """Read a stored value again."""
        try:
            return self.grade(json.loads(raw))
        except ValueError:
            return malformed("the stored reply is not JSON", raw)

    def _read(self, value: Any) -> Grade:
        if self._compares and isinstance(value, bool | int | float):
            self._nothing()
        if isinstance(value, bool):
            return Grade(verdict=GradeVerdict.CORRECT if value else GradeVerdict.INCORRECT)
        if isinstance(value, int | float):
            if self._judgement.scale is None:
                raise Unusable("a score came back, but the contract has no `scale`; add one with thresholds")
            return self._judgement.grade(None, self._judgement.score(value))
        if isinstance(value, str):
            return self._judgement.fields({"verdict": value}) if value.strip() else self._nothing()
        if isinstance(value, Mapping):
            return self._read_fields(value)
        return self._nothing()

    def _nothing(self) -> Grade:
        raise Unusable(f"no grade came back; expected {PAIR_FORMS if self._compares else FORMS}")

    def _read_fields(self, fields: Mapping[str, Any]) -> Grade:
        reason = fields.get("reason")
        text = "" if reason is None else (reason if isinstance(reason, str) else json.dumps(reason, default=str))
        extra = {
            "reason": text[:MAX_REASON],
            "citations": _citations(fields.get("citations")),
            "checks": _checks(fields.get("checks")),
        }
        if (abstained := fields.get("abstained", False)) not in (True, False, None):
            raise Unusable("`abstained` must be true or false")
        if abstained:
            if not self._abstains:
                raise Unusable("the grader abstains, which its contract does not allow (`abstains: false`)")
            if fields.get("verdict") is not None or fields.get("score") is not None:
                raise Unusable("contradiction: the grader abstains and gives a verdict or score")
            return Grade(abstained=True).model_copy(update=extra)
        verdict, score = fields.get("verdict"), fields.get("score")
        if self._compares and score is not None:
            raise Unusable("a grader that compares gives no `score`; it says `a`, `b` or `tie`")
        if verdict is None and score is None:
            self._nothing()
        number = None if score is None else self._judgement.score(score)
        if verdict is None:
            if self._judgement.scale is None:
                raise Unusable("a score came back, but the contract has no `scale`; add one with thresholds")
            grade = self._judgement.grade(None, number)
        else:
            stated = self._read(verdict) if isinstance(verdict, bool | str) else self._nothing()
            if stated.error is not None:
                raise Unusable(stated.error.message)
            if stated.abstained:
                return stated.model_copy(update=extra)
            grade = self._judgement.grade(stated.verdict, number)
        return grade.model_copy(update=extra)


def _citations(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise Unusable("`citations` must be a list of texts")


def _checks(value: Any) -> tuple[CheckOutcome, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = [{"name": name, "passed": passed} for name, passed in value.items()]
    if not isinstance(value, list | tuple):
        raise Unusable("`checks` must be a list of {name, passed, detail}")
    outcomes = []
    for part in value:
        if (
            not isinstance(part, Mapping)
            or not isinstance(part.get("name"), str)
            or not isinstance(part.get("passed"), bool)
        ):
            raise Unusable("each of `checks` must be {name: text, passed: true or false, detail}")
        detail = part.get("detail")
        outcomes.append(
            CheckOutcome(name=part["name"], passed=part["passed"], detail="" if detail is None else str(detail)[:2000])
        )
    return tuple(outcomes)
