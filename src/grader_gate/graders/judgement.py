"""From what a grader said to a grade: one set of rules for every kind, closed where something is missing."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader_gate.config import Contract, Output, OutputMode, Scale
from grader_gate.errors import UsageError
from grader_gate.graders import extraction
from grader_gate.model import CheckOutcome, ErrorKind, Grade, GradeError, GradeVerdict, digest

PARSER_VERSION = 1
"""Part of the judgement digest: raised when the same reply would be read differently."""

TEXT_LABELS = ("grade", "verdict", "judgement", "judgment", "rating", "decision")
MAX_REASON = 20_000


class ScaleMissing(UsageError):
    """A score is read but the contract does not say on which scale."""


class Unusable(ValueError):
    """A reply that is no verdict; the message says why, without quoting foreign text."""


def malformed(message: str, raw: str | None = None, *, plain: str | None = None) -> Grade:
    """A grade for a reply that could not be used.

    :param plain: the message without foreign words, where it has some.
    """
    return Grade(error=GradeError(kind=ErrorKind.MALFORMED, message=message, plain=plain), raw=raw)


def unmeasured(message: str, *, plain: str | None = None) -> Grade:
    """A grade for a call that brought nothing; ``plain`` as for :func:`malformed`."""
    return Grade(error=GradeError(kind=ErrorKind.UNMEASURED, message=message, plain=plain))


@dataclass(frozen=True)
class Judgement:
    """Reads replies under one contract.

    :ivar output: which fields mean what and which words mean which verdict.
    :ivar scale: the scale of scores, None for a grader of verdicts only.
    :ivar abstains: whether the contract lets the grader abstain.
    """

    output: Output
    scale: Scale | None
    abstains: bool

    @classmethod
    def under(cls, contract: Contract, output: Output, grader: str) -> Judgement:
        """The rules for one grader.

        :raises ScaleMissing: ``output.score`` without ``contract.scale``, or no way from scores to verdicts.
        """
        if output.score is not None and contract.scale is None:
            raise ScaleMissing(f"graders.{grader}: output.score needs contract.scale (min, max, thresholds)")
        if output.verdict is None and (contract.scale is None or contract.scale.thresholds is None):
            raise ScaleMissing(
                f"graders.{grader}: without output.verdict, contract.scale.thresholds must turn scores into verdicts"
            )
        return cls(output, contract.scale, contract.abstains)

    @property
    def digest(self) -> str:
        """The judgement digest: equal digests read equal replies equally."""
        scale = self.scale.model_dump(mode="json") if self.scale else None
        # Words for preferences count where the grader compares; there they stand among the verdicts.
        output = self.output.model_dump(mode="json", exclude={"preferences"})
        return digest("judgement", PARSER_VERSION, output, scale, self.abstains)

    @cached_property
    def words(self) -> dict[str, GradeVerdict]:
        """The grader's words for verdicts, case folded."""
        return {_folded(word): verdict for word, verdict in self.output.verdicts.items()}

    @cached_property
    def _abstain_words(self) -> frozenset[str]:
        return frozenset(_folded(word) for word in self.output.abstain_words)

    def text(self, reply: str) -> Grade:
        """Read a model's reply. Never raises: what cannot be used is ``malformed``."""
        try:
            return self._from_text(reply).model_copy(update={"raw": reply})
        except (Unusable, extraction.Contradiction) as error:
            return malformed(str(error), reply)

    def fields(self, fields: Mapping[str, Any]) -> Grade:
        """Read the fields of a structured reply. Never raises."""
        try:
            return self._from_fields(fields)
        except Unusable as error:
            return malformed(str(error))

    # ---- text

    def _from_text(self, reply: str) -> Grade:
        if len(reply) > extraction.MAX_REPLY_CHARACTERS:
            raise Unusable(f"the reply has more than {extraction.MAX_REPLY_CHARACTERS:,} characters")
        text = extraction.without_thinking(reply)
        if not text.strip():
            raise Unusable("the reply is empty")
        objects, outside = extraction.json_objects(text)
        needed = [field for field in (self.output.verdict, self.output.score) if field is not None]
        if candidates := list(extraction.holding(objects, needed)):
            grade = _agreed([self._from_fields(candidate) for candidate in candidates])
            self._same_outside(grade, outside)
            return grade
        if partly := [o for o in objects if any(field in o for field in needed)]:
            missing = ", ".join(f"`{field}`" for field in needed if field not in partly[-1])
            raise Unusable(f"the reply has no field {missing}")
        if self.output.mode is not OutputMode.TEXT and objects:
            raise Unusable(f"the reply has no field {', '.join(f'`{field}`' for field in needed)}")
        return self._from_words(text)

    def _from_words(self, text: str) -> Grade:
        if self.abstains and extraction.bare_word(text, self.output.abstain_words) is not None:
            return Grade(abstained=True, reason=text.strip()[:MAX_REASON])
        fields: dict[str, Any] = {}
        if self.output.verdict is not None:
            fields[self.output.verdict] = self._stated_word(text)
        if self.output.score is not None:
            fields[self.output.score] = self._stated_score(text)
        if self.output.reason is not None:
            fields[self.output.reason] = text.strip()
        return self._from_fields(fields)

    def _same_outside(self, grade: Grade, outside: str) -> None:
        """An object may be a quotation: a verdict stated in words beside it must be the same."""
        if self.output.verdict is None:
            return
        stated = {self.words.get(_folded(word)) for word in self._labelled(outside) if word is not None}
        if stated and stated != {grade.verdict}:
            raise Unusable("contradiction: the reply states one verdict in JSON and another in words")

    def _labelled(self, text: str) -> list[str | None]:
        words = [*self.output.verdicts, *self.output.abstain_words]
        labels = dict.fromkeys((*TEXT_LABELS, (self.output.verdict or "verdict").casefold()))
        return extraction.labelled_words(text, list(labels), words)

    def _stated_word(self, text: str) -> str:
        stated = self._labelled(text)
        if not stated:
            words = [*self.output.verdicts, *self.output.abstain_words]
            if (word := extraction.bare_word(text, words)) is not None:
                return word
            raise Unusable("the reply states no verdict")
        if None in stated:
            raise Unusable("the reply states a verdict in words the configuration does not know")
        meant = {self.words.get(_folded(word)) for word in stated if word is not None}
        if len(meant) > 1:
            raise Unusable("contradiction: the reply states more than one verdict")
        return str(stated[-1])

    def _stated_score(self, text: str) -> float:
        labels = list(dict.fromkeys(("score", (self.output.score or "").casefold())))
        stated = extraction.labelled_numbers(text, labels)
        if not stated:
            raise Unusable("the reply states no score")
        if len({number for number, _ in stated}) > 1:
            raise Unusable("contradiction: the reply states more than one score")
        number, out_of = stated[-1]
        if out_of is not None and self.scale is not None and out_of != self.scale.max:
            raise Unusable(f"the score is out of {out_of:g}, the scale ends at {self.scale.max:g}")
        return number

    # ---- fields

    def _from_fields(self, fields: Mapping[str, Any]) -> Grade:
        reason = _text(fields.get(self.output.reason)) if self.output.reason else ""
        citations = _texts(fields.get(self.output.citations)) if self.output.citations else ()
        stated: GradeVerdict | None = None
        if self.output.verdict is not None:
            word = fields.get(self.output.verdict)
            if word is None or word == "":
                raise Unusable(f"the reply has no `{self.output.verdict}`")
            folded = _folded(word)
            if folded in self._abstain_words:
                if not self.abstains:
                    raise Unusable("the grader abstains, which its contract does not allow (`abstains: false`)")
                return Grade(abstained=True, reason=reason, citations=citations)
            if folded not in self.words:
                raise Unusable(f"the `{self.output.verdict}` is none of {', '.join(self.output.verdicts)}")
            stated = self.words[folded]
        score: float | None = None
        if self.output.score is not None:
            score = self.score(fields.get(self.output.score), self.output.score)
        return self.grade(stated, score, reason, citations)

    def score(self, value: Any, name: str = "score") -> float:
        """A score on the scale.

        :raises Unusable: no number, not finite, outside the scale.
        """
        if isinstance(value, str):
            try:
                value = float(value.strip())
            except ValueError:
                raise Unusable(f"the `{name}` is not a number") from None
        if value is None:
            raise Unusable(f"the reply has no `{name}`")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Unusable(f"the `{name}` is not a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise Unusable(f"the `{name}` is not a finite number")
        if self.scale is not None and not self.scale.min <= number <= self.scale.max:
            raise Unusable(f"the `{name}` lies outside the scale {self.scale.min:g} to {self.scale.max:g}")
        return number

    def verdict_of(self, score: float) -> GradeVerdict | None:
        """The verdict a score stands for, None without thresholds."""
        if self.scale is None or (limits := self.scale.thresholds) is None:
            return None
        sign = 1 if self.scale.higher_is_better else -1
        if sign * score >= sign * limits.correct:
            return GradeVerdict.CORRECT
        if limits.partial is not None and sign * score >= sign * limits.partial:
            return GradeVerdict.PARTIAL
        return GradeVerdict.INCORRECT

    def grade(
        self,
        stated: GradeVerdict | None,
        score: float | None,
        reason: str = "",
        citations: tuple[str, ...] = (),
        checks: tuple[CheckOutcome, ...] = (),
    ) -> Grade:
        """Put verdict and score together.

        :raises Unusable: they contradict each other, or neither gives a verdict.
        """
        scored = None if score is None else self.verdict_of(score)
        if stated is not None and scored is not None and stated is not scored:
            raise Unusable(f"contradiction: the verdict is {stated}, the score's thresholds say {scored}")
        verdict = stated or scored
        if verdict is None:
            raise Unusable("there is no verdict, and the scale has no thresholds to get one from the score")
        return Grade(verdict=verdict, score=score, reason=reason[:MAX_REASON], citations=citations, checks=checks)


def _agreed(grades: list[Grade]) -> Grade:
    if len({(g.verdict, g.score, g.abstained) for g in grades}) > 1:
        raise Unusable("contradiction: the reply holds more than one verdict")
    return grades[-1]


def _folded(word: Any) -> str:
    text = json.dumps(word) if isinstance(word, bool | int | float) else str(word)
    return " ".join(text.replace("_", " ").casefold().split()).strip(" .!\"'*`")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value[:MAX_REASON]
    if isinstance(value, list):
        return "\n".join(_text(part) for part in value)[:MAX_REASON]
    return json.dumps(value, ensure_ascii=False, default=str)[:MAX_REASON]


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(_text(part) for part in values if part is not None)
