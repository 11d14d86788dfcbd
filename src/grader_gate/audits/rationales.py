"""What reasons are worth: do they cite the evidence, agree with their verdict, and quote what is really there? Pure.

Everything here is listed and never blocks on its own. The patterns are few and narrow: a reason that is called a
contradiction should be one whenever a person looks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader_gate.audits.citations import cites, relevant
from grader_gate.model import GoldenCase, Grade, GradeVerdict, Item, Ladder, Location
from grader_gate.result import Finding, FindingKind, FindingStatus, Rate

MIN_QUOTED_WORDS = 4
"""Shorter quotations are often single terms in scare quotes, which nobody claims to have read."""

LISTED = 10
"""Most places named in one finding."""

_ANSWER = (
    r"(?:the|this|that|his|her|their|your)\s+(?:(?:student|candidate|user|assistant|model)(?:'s|s')?\s+)?"
    r"(?:answer|response|reply|submission|solution)"
)
_VERY = (
    r"(?:(?:clearly|plainly|simply|completely|entirely|fully|totally|wholly|factually|absolutely|indeed|therefore"
    r"|thus)\s+)*"
)
_END = r"(?=\s*(?:[.!;:,)\]\n]|$|because\b|since\b|and\b|as\b))"
_CALLED = {
    GradeVerdict.INCORRECT: re.compile(rf"\b{_ANSWER}\s+is\s+{_VERY}(?:incorrect|wrong|false){_END}", re.IGNORECASE),
    GradeVerdict.CORRECT: re.compile(rf"\b{_ANSWER}\s+is\s+{_VERY}(?:correct|right){_END}", re.IGNORECASE),
}
_STATED = re.compile(
    r"\b(?:final\s+)?(?:verdict|grade|judge?ment)\s*(?:is|:|=)\s*[\"'*_]*(correct|partial(?:ly correct)?|incorrect)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:if|would|could|might|may|unless|whether|had|were|claims?|says?|suggests?|argues?|but|however|although|though"
    r"|except|yet|while|only|partly|partially|in part|mostly|largely|otherwise|not|never|hardly|n't)\b|n't\b|\?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_QUOTED = re.compile(r"(?<!\w)\"(?=\S)([^\"\n]{1,400})(?<=\S)\"(?!\w)|“([^”\n]{1,400})”|«([^»\n]{1,400})»")
"""Straight quotation marks count in pairs, however short what they hold: else a closing mark would open the next."""


def contradiction(grade: Grade) -> str | None:
    """The words of a reason that say the opposite of its verdict, or None.

    Two forms are known: a plain sentence on the whole answer (``The answer is wrong.`` beside ``correct``, ``This
    response is correct.`` beside ``incorrect``), and a stated verdict (``Verdict: incorrect``) that is another one.
    Quotations and sentences with a condition, a contrast or a negation are never read as one.
    """
    if grade.verdict is None or grade.error is not None or grade.abstained:
        return None
    text = _QUOTED.sub(" ", grade.reason)
    stated = {_stated_word(match[1]) for match in _STATED.finditer(text)}
    if stated and grade.verdict not in stated:
        found = _STATED.search(text)
        return found[0].strip() if found else None
    opposite = {GradeVerdict.CORRECT: GradeVerdict.INCORRECT, GradeVerdict.INCORRECT: GradeVerdict.CORRECT}
    wanted = opposite.get(grade.verdict)
    if wanted is None:
        return None
    for sentence in _SENTENCE.split(text):
        said = _CALLED[wanted].search(sentence)
        if said and not _HEDGE.search(sentence):
            return said[0].strip()
    return None


def _stated_word(word: str) -> GradeVerdict:
    return GradeVerdict.PARTIAL if word.casefold().startswith("partial") else GradeVerdict(word.casefold())


def invented_quotation(grade: Grade, shown: Iterable[str]) -> str | None:
    """The first quotation of :data:`MIN_QUOTED_WORDS` words or more that stands in nothing the grader was shown.

    Letters and digits are compared, in order and without case; an ellipsis joins parts that must each stand there.

    :param shown: every text the grader saw.
    """
    if grade.error is not None:
        return None
    known = "\n".join(f" {_squeezed(text)} " for text in shown)
    for match in _QUOTED.finditer(grade.reason):
        quoted = next(part for part in match.groups() if part is not None)
        parts = re.split(r"…|\.\.\.|\[[^\]]*\]", quoted)
        for place, part in enumerate(parts):
            squeezed = _squeezed(part)
            # Whole words, but for the word that an ellipsis may have cut.
            wanted = (" " if place == 0 else "") + squeezed + (" " if place == len(parts) - 1 else "")
            if squeezed.count(" ") + 1 >= MIN_QUOTED_WORDS and wanted not in known:
                return quoted
    return None


def _squeezed(text: str) -> str:
    visible = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    plain = re.sub(r"['’]", "", visible.casefold())
    return " ".join(re.findall(r"\w+", plain))


def shown_texts(inputs: Mapping[str, Any]) -> list[str]:
    """All texts in an item's inputs, those of sources included."""
    found: list[str] = []
    for value in inputs.values():
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, Sequence):
            found += [str(part["text"]) for part in value if isinstance(part, Mapping) and "text" in part]
    return found


@dataclass(slots=True)
class Rationales:
    """What the reasons of one side show.

    :ivar uncited_rungs: ladder id → index of each rung whose reason cites none of its evidence.
    :ivar uncited_cases: golden cases whose reason cites none of theirs.
    :ivar cited_cases: of the golden cases whose answer holds evidence, those whose reason cites some.
    :ivar contradictions: item id → the words that contradict its verdict, with the verdict.
    :ivar invented: item id → the quotation that stands nowhere.
    """

    uncited_rungs: dict[str, list[int]] = field(default_factory=dict)
    uncited_cases: list[str] = field(default_factory=list)
    cited_cases: Rate = field(default_factory=lambda: Rate(k=0, n=0, planned=0))
    contradictions: dict[str, tuple[str, GradeVerdict]] = field(default_factory=dict)
    invented: dict[str, str] = field(default_factory=dict)


def read_rationales(
    cases: Sequence[GoldenCase],
    ladders: Sequence[Ladder],
    items: Mapping[str, Item],
    runs: Callable[[str], Sequence[Grade]],
) -> Rationales:
    """Look at every reason of a side.

    A rung or case counts as cited where more than half of its usable runs cite some of the evidence that its answer
    holds (token boundaries, see :mod:`grader_gate.audits.citations`). A contradiction or an invented quotation in any
    run is listed.

    :param runs: all grades of an item on this side.
    """
    seen = Rationales()
    for ladder in ladders:
        for index, rung in enumerate(ladder.rungs):
            said = _cited(runs(f"rung/{ladder.id}/{index}"), relevant(rung.evidence, rung.answer))
            if said is False:
                seen.uncited_rungs.setdefault(ladder.id, []).append(index)
    told = {case.id: (relevant(case.evidence, case.answer), runs(f"golden/{case.id}")) for case in cases}
    asked = {name: _cited(grades, evidence) for name, (evidence, grades) in told.items() if evidence}
    seen.uncited_cases = [name for name, said in asked.items() if said is False]
    known = [said for said in asked.values() if said is not None]
    seen.cited_cases = Rate(k=sum(known), n=len(known), planned=len(asked))
    for name, item in items.items():
        shown: list[str] | None = None
        for grade in runs(name):
            if name not in seen.contradictions and (said_so := contradiction(grade)) is not None and grade.verdict:
                seen.contradictions[name] = (said_so, grade.verdict)
            if name not in seen.invented and _QUOTED.search(grade.reason):
                shown = shown_texts(item.inputs) if shown is None else shown
                if (quoted := invented_quotation(grade, shown)) is not None:
                    seen.invented[name] = quoted
    return seen


def _cited(grades: Sequence[Grade], evidence: Sequence[str]) -> bool | None:
    usable = [grade for grade in grades if grade.error is None]
    if not evidence or not usable:
        return None
    return sum(cites(grade, evidence) for grade in usable) * 2 > len(usable)


def rationale_findings(
    head: Rationales,
    base: Rationales | None,
    cases: Sequence[GoldenCase],
    ladders: Sequence[Ladder],
    *,
    suite: str,
    grader: str,
    quote: str = "short",
) -> list[Finding]:
    """One finding per ladder with uncited rungs, one for uncited cases, one for each sort of bad reason; none blocks.

    :param base: what base shows: only what is new on head is listed. None where nothing is compared.
    :param quote: ``none`` leaves the reasons' own words out.
    """
    old = base or Rationales()
    common = {"suite": suite, "grader": grader, "status": FindingStatus.ABSOLUTE, "blocking": False}
    made: list[Finding] = []
    for ladder in ladders:
        known = set(old.uncited_rungs.get(ladder.id, ()))
        rungs = [i for i in head.uncited_rungs.get(ladder.id, ()) if i not in known]
        if rungs:
            made.append(
                Finding(
                    kind=FindingKind.CITATION,
                    case=ladder.id,
                    sentence=f"ladder {ladder.id}: the reason cites no evidence on {_rungs(ladder, rungs)}",
                    suggestion="Ask the grader to quote the words of the answer that decide.",
                    location=ladder.location,
                    severity=0.6,
                    **common,
                )
            )
    where = {case.id: case.location for case in cases}
    uncited = [name for name in head.uncited_cases if name not in set(old.uncited_cases)]
    if uncited:
        rate = head.cited_cases
        made.append(
            Finding(
                kind=FindingKind.CITATION,
                sentence=f"the reason cites no evidence in {_listed(uncited)} ({rate.k} of {rate.n} cases are cited)",
                suggestion="Ask the grader to quote the words of the answer that decide.",
                location=where.get(uncited[0]),
                severity=0.5,
                **common,
            )
        )
    against = [name for name in head.contradictions if name not in old.contradictions]
    if against:
        said, verdict = head.contradictions[against[0]]
        example = "" if quote == "none" else f"; the first says “{_short(said)}” and grades {verdict}"
        made.append(
            Finding(
                kind=FindingKind.RATIONALE,
                sentence=f"the reason says the opposite of the verdict in {_listed(against)}{example}",
                suggestion="Have the grader give its reason first and the verdict after it.",
                location=_place(against[0], where),
                severity=0.9,
                **common,
            )
        )
    invented = [name for name in head.invented if name not in old.invented]
    if invented:
        words = head.invented[invented[0]]
        example = "" if quote == "none" else f"; the first quotes “{_short(words)}”"
        made.append(
            Finding(
                kind=FindingKind.CITATION,
                sentence=f"the reason quotes what stands in nothing it was shown in {_listed(invented)}{example}",
                suggestion="Compare the reason with the answer; quotations must be word for word.",
                location=_place(invented[0], where),
                severity=0.7,
                **common,
            )
        )
    return made


def _place(item: str, where: Mapping[str, Location | None]) -> Location | None:
    return where.get(item.removeprefix("golden/"))


def _rungs(ladder: Ladder, indexes: Sequence[int]) -> str:
    return "rung " + ", ".join(ladder.rungs[i].id or str(i) for i in indexes)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:120] + "…"
