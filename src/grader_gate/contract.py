"""The grader's card: what it judges, what it may see, on which scale, and what it may decide."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from grader_gate.model import PAIR_INPUTS, Frozen, Role

InputName = Literal["question", "reference", "rubric", "answer", "sources", "answer_a", "answer_b"]


class Thresholds(Frozen):
    """Scores from which an answer counts as ``correct`` and as ``partial``, in the scale's own units."""

    correct: float
    partial: float | None = None


class Scale(Frozen):
    """The scale of a grader that gives scores. Scores outside are malformed replies.

    Without ``thresholds`` the grader must also give a verdict.
    """

    min: float = 0.0
    max: float = 1.0
    higher_is_better: bool = True
    thresholds: Thresholds | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Scale:
        if self.min >= self.max:
            raise ValueError(f"min ({self.min:g}) must be below max ({self.max:g})")
        if (limits := self.thresholds) is not None:
            for name, value in (("correct", limits.correct), ("partial", limits.partial)):
                if value is not None and not self.min <= value <= self.max:
                    raise ValueError(f"thresholds.{name} ({value:g}) lies outside {self.min:g} to {self.max:g}")
            if limits.partial is not None and (limits.partial > limits.correct) == self.higher_is_better:
                raise ValueError("thresholds.partial must be the easier one to reach")
        return self


class Slice(Frozen):
    """Cases that carry all of ``tags`` get this role instead of the contract's."""

    tags: tuple[str, ...] = Field(min_length=1)
    role: Role


class Contract(Frozen):
    """The grader's card: what it judges, what it may see, what its mistakes cost, and what it may decide."""

    property: str = Field(default="correctness", description="What it judges, in a word or two")
    compares: bool = Field(default=False, description="Is shown `answer_a` and `answer_b` and says `a`, `b` or `tie`")
    inputs: tuple[InputName, ...] = Field(default=("question", "reference", "rubric", "answer"), min_length=1)
    scale: Scale | None = Field(default=None, description="Absent: the grader gives verdicts only")
    abstains: bool = Field(default=False, description="May answer 'insufficient context' instead of a verdict")
    deterministic: bool = Field(default=False, description="Same input, same verdict: one confirming call a side")
    family: str | None = Field(default=None, description="Model family, for the monoculture warning")
    role: Role = Role.GATE
    slices: tuple[Slice, ...] = ()
    false_accept: str | None = Field(default=None, description="What accepting a wrong answer costs")
    false_reject: str | None = Field(default=None, description="What rejecting a right answer costs")
    failure_modes: tuple[str, ...] = ()
    served_model: str | None = Field(default=None, description="Pinned model version the provider must report")

    @model_validator(mode="before")
    @classmethod
    def _pair_by_default(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("compares") is True and "inputs" not in data:
            return {**data, "inputs": ("question", "reference", "rubric", *PAIR_INPUTS)}
        return data

    @field_validator("inputs")
    @classmethod
    def _answer_is_seen(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not {"answer", *PAIR_INPUTS} & set(value):
            raise ValueError("a grader must see the `answer`: add it to `inputs`")
        if len(set(value)) != len(value):
            raise ValueError("an input is named twice")
        return value

    @model_validator(mode="after")
    def _one_or_two_answers(self) -> Contract:
        pair = [name for name in PAIR_INPUTS if name in self.inputs]
        if self.compares:
            if len(pair) < 2 or "answer" in self.inputs:
                raise ValueError("a grader that compares sees `answer_a` and `answer_b`, not `answer`: mend `inputs`")
            if self.scale is not None:
                raise ValueError("a grader that compares says `a`, `b` or `tie`: it has no `scale`")
        elif pair:
            raise ValueError(f"`{pair[0]}` is for graders that compare: set `compares: true`, or see the `answer`")
        return self

    def strongest_role(self) -> Role:
        """The most that any case may do: a contract that only reports gates where one of its slices does."""
        roles = {self.role, *(part.role for part in self.slices)}
        return next(role for role in (Role.GATE, Role.SCREEN, Role.ABSTAIN) if role in roles)

    def role_for(self, tags: tuple[str, ...] | list[str]) -> Role:
        """The role on a case with these tags: the last matching slice wins."""
        role = self.role
        for part in self.slices:
            if set(part.tags) <= set(tags):
                role = part.role
        return role
