"""A bare ladder file and a bare callable: monotonicity without a configuration or a repository."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from grader_gate import __version__
from grader_gate.audits.claims import Reading
from grader_gate.audits.findings import View, absolute_findings
from grader_gate.audits.gradebook import Gradebook, ReadingPair
from grader_gate.audits.ladders import flat, total
from grader_gate.audits.ladders import view as ladder_view
from grader_gate.audits.rates import Outcome, audit_rows, rate
from grader_gate.config import Contract, PythonGrader, Scale, SuiteConfig, Thresholds
from grader_gate.decision.ladders import confirmed_inversion
from grader_gate.errors import UsageError
from grader_gate.flow.session import Session
from grader_gate.graders.base import Call, Grader
from grader_gate.graders.build import build_grader
from grader_gate.model import Claim, GateVerdict, Grade, Item, Purpose, Role, Side, Tree
from grader_gate.result import LadderStats, Rate, Result, Revision, SuiteResult
from grader_gate.runs.budget import Budget
from grader_gate.runs.ledger import Ledger
from grader_gate.runs.plan import SideExam, passes
from grader_gate.runs.progress import Progress
from grader_gate.suite.items import SideTexts, examine
from grader_gate.suite.load import load_suite

ANY_SCALE = Scale(min=-1e9, max=1e9)
"""A bare callable has no contract: any score is taken, and the range is read off the scores that came."""

SCORES_ALONE = Scale(min=-1e9, max=1e9, thresholds=Thresholds(correct=1e9))
"""The same for a callable that gives no verdict: one comes from the threshold, and is not used."""

USUAL_TOPS = (1.0, 5.0, 10.0, 100.0)
"""Tops of the scales in use, starting at 0: the smallest that holds all scores is taken for the callable's."""


class NotOnDisk(UsageError):
    """The ladder file, or a file it refers to, cannot be read."""


class FolderTree:
    """The files of a plain folder. Only what lies inside it is there."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    @property
    def label(self) -> str:
        """The folder."""
        return str(self._root)

    def _inside(self, path: str) -> Path | None:
        full = (self._root / path).resolve()
        return full if self._root in full.parents and full.is_file() else None

    def read(self, path: str) -> bytes:
        """Bytes of a file.

        :raises NotOnDisk: there is no such file inside the folder.
        """
        found = self._inside(path)
        if found is None:
            raise NotOnDisk(f"{path}: no such file in {self._root}; check the path")
        return found.read_bytes()

    def exists(self, path: str) -> bool:
        """Whether there is such a file inside the folder."""
        return self._inside(path) is not None

    def glob(self, pattern: str) -> list[str]:
        """Only literal paths are asked for here."""
        return [pattern] if self.exists(pattern) else []


def try_ladders(
    file: Path,
    callable_: str,
    *,
    repeats: int,
    ledger: Path,
    environ: Mapping[str, str],
    progress: Callable[[str], Progress],
) -> Result:
    """Grade every rung ``repeats`` times and say which adjacent rungs are out of order.

    The callable is imported from the current folder. Exit code 1 on an inversion: the worse answer wins at least 90 %
    of the cross pairs of repeats.

    :raises UsageError: the file or the callable cannot be used.
    """
    if not file.is_file():
        raise NotOnDisk(f"{file}: no such file; give a ladder file (YAML, JSON or JSON Lines)")
    tree = FolderTree(file.parent)
    suite = load_suite(tree, "ladders", SuiteConfig(grader="bare", ladders=(file.name,)))
    return asyncio.run(_try(suite, callable_, repeats, ledger, environ, progress, tree))


async def _taken(callable_: str, tree: Tree, environ: Mapping[str, str], item: Item) -> Grader:
    """The callable as a grader: as one that gives verdicts (and scores) where a first grade shows it does, else as one
    that gives scores alone."""
    made: Grader | None = None
    for scale in (ANY_SCALE, SCORES_ALONE):
        if made is not None:
            await made.aclose()
        config = PythonGrader(kind="python", callable=callable_, contract=Contract(scale=scale))
        made = build_grader("bare", config, providers={}, tree=tree, code_dir=Path.cwd(), environ=environ)
        await made.prepare()
        if not (await made.grade(item, made.request(item), Call())).malformed:
            break
    assert made is not None
    return made


async def _try(suite, callable_, repeats, ledger, environ, progress, tree) -> Result:  # type: ignore[no-untyped-def]
    asked = examine(suite, (), 0, SideTexts(rubric=lambda r: r.render() if r else None), lambda _: Role.GATE)
    grader = await _taken(callable_, tree, environ, next(iter(asked.items.values())))
    try:
        exam = SideExam(Side.HEAD, suite.name, "bare", grader, asked)
        book = Gradebook()
        ledger.parent.mkdir(parents=True, exist_ok=True)
        ledger.unlink(missing_ok=True)  # A callable has no digest without a repository: an old grade may be another's.
        with Ledger(ledger) as rows:
            session = Session(rows, None, Budget(), progress, 8, {(Side.HEAD, "bare"): grader})
            planned = list(passes(exam, list(exam.exam.items), Purpose.SCREEN, range(repeats)))
            outcome = await session.grade(planned, "ladder")
            for row in outcome.rows.values():
                # A score needs no verdict here, and the thresholds of no scale are known.
                grade = row.grade
                bare = grade if grade.score is None else grade.model_copy(update={"verdict": None})
                book.put(row.side, row.purpose, row.item, row.repeat, bare)
            return _result(suite, exam, book, session)
    finally:
        await grader.aclose()


def _result(suite, exam: SideExam, book: Gradebook, session: Session) -> Result:  # type: ignore[no-untyped-def]
    reading = Reading(_scale(book))
    claims = exam.exam.claims
    found = [Outcome(c, None, _order(c, book, reading), affected=True) for c in claims.values()]
    view = View(suite.name, "bare", book, ReadingPair(reading, reading), exam.exam.items, quote="short")
    findings = [
        f.model_copy(update={"blocking": True})
        for f in absolute_findings({o.claim.id: o.head for o in found}, claims, view)
    ]
    views = [
        ladder_view(x, lambda i: list(book.of(Side.HEAD, Purpose.SCREEN, i).values()), reading) for x in suite.ladders
    ]
    pairs = rate(o.head for o in found)
    unmeasured = [o for o in found if o.head is None]
    verdict = GateVerdict.FAIL if findings else GateVerdict.ERROR if unmeasured or not found else GateVerdict.PASS
    said = sorted({g.error.message for g in book.grades(Side.HEAD) if g.error is not None})[:3]
    why = [f"{len(unmeasured)} of {len(found)} pairs could not be measured", *said] if unmeasured else []
    part = SuiteResult(
        name=suite.name,
        grader="bare",
        kind="python",
        verdict=verdict,
        why=tuple(why),
        items=len(exam.exam.items),
        affected=len(exam.exam.items),
        audits=audit_rows(found),
        findings=tuple(findings),
        graded=Rate(k=pairs.n, n=pairs.n, planned=pairs.planned),
        ladders=LadderStats(
            ladders=len(views),
            pairs=pairs,
            inversions=pairs.n - pairs.k,
            flat=len(flat(views, 0.3)),
            unstable=sum(v.unstable for v in views),
            cited=total([v.cited for v in views]),
        ),
    )
    words = {
        GateVerdict.PASS: f"All {pairs.n} adjacent rungs are in order",
        GateVerdict.FAIL: f"{pairs.n - pairs.k} of {pairs.n} adjacent rungs are out of order",
        GateVerdict.ERROR: "Could not measure everything: " + "; ".join(why),
    }
    none = Revision(sha="", name="")
    return Result(
        tool_version=__version__,
        verdict=verdict,
        headline=words[verdict],
        base=none,
        head=none,
        suites=(part,),
        exit_code={GateVerdict.FAIL: 1, GateVerdict.ERROR: 3}.get(verdict, 0),
        cost=session.cost(),
        config_path="",
    )


def _scale(book: Gradebook) -> Scale | None:
    scores = [g.score for g in book.grades(Side.HEAD) if g.score is not None]
    if not scores:
        return None
    low, high = min(scores), max(scores)
    top = next((t for t in USUAL_TOPS if low >= 0 and high <= t), None)
    return Scale(min=0, max=top) if top is not None else Scale(min=low, max=max(high, low + 1e-9))


def _order(claim: Claim, book: Gradebook, reading: Reading) -> int | None:
    def levels(item: str) -> list[float]:
        grades: list[Grade] = list(book.of(Side.HEAD, Purpose.SCREEN, item).values())
        return [v for g in grades if (v := reading.level(g)) is not None]

    low, high = (levels(item) for item in claim.items)
    return int(confirmed_inversion(low, high)) if low and high else None
