"""One revision on its own: grade a suite, its mutants and its ladders, and say what holds; nothing is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from grader_gate import __version__
from grader_gate.audits.abstentions import abstentions
from grader_gate.audits.claims import Reading
from grader_gate.audits.findings import View, absolute_findings
from grader_gate.audits.gradebook import Gradebook, ReadingPair
from grader_gate.audits.ladders import coverage, flat, total
from grader_gate.audits.ladders import view as ladder_view
from grader_gate.audits.limits import floor_findings, floors, ladder_findings
from grader_gate.audits.pairwise import consistency
from grader_gate.audits.rates import audit_rows, check_rows, mutator_rows, outcomes, rate
from grader_gate.changes.git import Git
from grader_gate.config import DEFAULT_PATH, ChecksGrader, Mode
from grader_gate.decision.ladders import confirmed_inversion
from grader_gate.errors import UsageError
from grader_gate.flow.examining import check_kinds, look_closer_alone
from grader_gate.flow.exams import idle_trials, suite_exam
from grader_gate.flow.positions import pair_stats, position_alone
from grader_gate.flow.secrecy import redact_for
from grader_gate.flow.session import Session, caps, into, open_ledger
from grader_gate.flow.sides import SideSetup, open_tree, read_side
from grader_gate.flow.suite_report import polarities
from grader_gate.flow.untracked import refuse_tracked
from grader_gate.flow.usable import mute_alone
from grader_gate.model import Claim, ClaimKind, GateVerdict, Purpose, Side, digest
from grader_gate.result import (
    Cost,
    Finding,
    LadderStats,
    Notice,
    Rate,
    Result,
    Revision,
    Standing,
    SuiteResult,
)
from grader_gate.runs.cache import Cache
from grader_gate.runs.plan import SideExam, passes
from grader_gate.runs.progress import Progress


@dataclass(frozen=True, slots=True)
class SingleOptions:
    """What ``run``, ``audit``, ``ladder``, ``freeze`` and ``noise`` have in common."""

    out: Path
    environ: Mapping[str, str]
    progress: Callable[[str], Progress]
    config_path: str = DEFAULT_PATH
    suites: tuple[str, ...] = ()
    max_calls: int | None = None
    cache: Path | None = None
    repeats: int | None = None
    kinds: frozenset[ClaimKind] = frozenset(ClaimKind)


@dataclass(slots=True)
class SingleRun:
    """A revision, read, with the session that grades it."""

    side: SideSetup
    revision: Revision
    session: Session
    exams: dict[str, SideExam] = field(default_factory=dict)
    books: dict[str, Gradebook] = field(default_factory=dict)
    seconds: dict[str, SideExam] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)


@contextmanager
def single_run(root: Path, revision: str, options: SingleOptions, label: str) -> Iterator[SingleRun]:
    """Read a revision and open its ledger; the caller grades inside the block and closes ``side`` itself.

    :raises UsageError: a file of it cannot be used.
    """
    from grader_gate.flow.prepare import refuse_unknown
    from grader_gate.flow.work import tariff_of

    with Git.find(root, env=options.environ) as git:
        refuse_tracked(git, options.out, options.cache)
        sha, tree = open_tree(git, revision)
        side = read_side(git, Side.HEAD, sha, tree, config_path=options.config_path, environ=options.environ)
        refuse_unknown(options.suites, set(side.suites))
        names = [n for n in side.suites if not options.suites or n in options.suites]
        exams = {name: _exam(side, name, options.kinds) for name in names}
        seconds, notices = _second_families(side, exams, label)
        cache = None if options.cache is None else Cache(options.cache, readable=("local",), writes="local")
        tariff = tariff_of(side, side)
        pair = {
            "command": label,
            "revision": sha,
            "plan": digest("plan", [(n, e.grader.identity, list(e.exam.items)) for n, e in exams.items()]),
        }
        try:
            with open_ledger(options.out, pair, redact_for(options.environ, side)) as ledger:
                session = Session(
                    ledger=ledger,
                    cache=cache,
                    budget=caps(side.config.policy.budget, options.max_calls),
                    progress=options.progress,
                    concurrency=side.config.concurrency,
                    graders=dict(tariff.graders),
                    tariff=tariff,
                )
                yield SingleRun(
                    side, Revision(sha=sha, name=revision), session, exams, seconds=seconds, notices=notices
                )
        finally:
            if cache is not None:
                cache.close()


def _exam(side: SideSetup, suite: str, kinds: frozenset[ClaimKind]) -> SideExam:
    config = side.config.suites[suite]
    contract = side.config.graders[config.grader].contract
    mutators = side.mutators[suite] if kinds & {ClaimKind.MUTANT, ClaimKind.CONTROL, ClaimKind.ATTACK} else ()
    exam = suite_exam(
        side.config,
        side.suites[suite],
        side.texts(config.grader),
        mutators=mutators,
        per_mutator=config.mutators.per_mutator,
        role_for=contract.role_for,
    )
    exam.claims = {k: c for k, c in exam.claims.items() if c.kind in kinds}
    used = {item for claim in exam.claims.values() for item in claim.items}
    exam.items = {k: i for k, i in exam.items.items() if k in used}
    return SideExam(side.side, suite, config.grader, side.grader(config.grader), exam)


WITH_SECOND = ("run", "audit", "plan")
"""Commands that grade (or plan to grade) with the second family as well."""


def _second_families(
    side: SideSetup, exams: Mapping[str, SideExam], label: str
) -> tuple[dict[str, SideExam], list[Notice]]:
    """The second families' exams, built before the session so that their prices are known, and warnings of kinship."""
    from grader_gate.flow.families import family_notices, not_graded, second_exam, second_name

    if label not in WITH_SECOND:
        return {}, []
    found = {}
    notices = family_notices(side.config, exams, side)
    for suite, exam in exams.items():
        notices += idle_trials(side.config.graders[exam.name], suite, exam.exam) if label == "audit" else []
        name = second_name(side.config, side.config, suite)
        if name is None:
            continue
        try:
            found[suite] = second_exam(side, exam, name)
        except UsageError as error:
            notices.append(not_graded(suite, name, error))
    return found, notices


async def grade_all(run: SingleRun, purpose: Purpose, repeats: Callable[[str], int]) -> bool:
    """Grade every item of every suite; True where each has a measured grade."""
    run.side.prepare()
    planned = [
        one
        for name, exam in run.exams.items()
        for one in passes(exam, list(exam.exam.items), purpose, range(repeats(name)))
    ]
    outcome = await run.session.grade(planned, purpose.value)
    for name in run.exams:
        book = run.books.setdefault(name, Gradebook())
        into(book, (row for row in outcome.rows.values() if row.suite == name))
    return not outcome.not_made and not any(row.grade.unmeasured for row in outcome.rows.values())


def single_result(run: SingleRun, complete: bool, *, gate: bool) -> Result:
    """What the revision shows.

    :param gate: whether the policy's absolute limits (floors, inversion rate) make it fail.
    """
    suites = tuple(
        look_closer_alone(run.side, exam, run.books[name], _suite(run, name, complete, gate))
        for name, exam in run.exams.items()
    )
    verdicts = {s.verdict for s in suites}
    verdict = next((v for v in (GateVerdict.FAIL, GateVerdict.ERROR) if v in verdicts), GateVerdict.PASS)
    config = run.side.config
    code = {GateVerdict.FAIL: 1, GateVerdict.ERROR: 3}.get(verdict, 0)
    words = {
        GateVerdict.PASS: "Graded",
        GateVerdict.FAIL: "Below the policy's limits",
        GateVerdict.ERROR: "Could not measure everything",
    }
    why = "; ".join(w for s in suites for w in s.why)
    return Result(
        tool_version=__version__,
        verdict=verdict,
        mode=Mode.BLOCK.value,
        exit_code=code,
        headline=words[verdict] + (f": {why}" if why else ""),
        base=run.revision,
        head=run.revision,
        config_path="",
        suites=suites,
        notices=(*run.notices, *_unenforced(suites)),
        cost=run.session.cost() if run.session else Cost(),
        quote=config.report.quote,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _unenforced(suites: Sequence[SuiteResult]) -> list[Notice]:
    """Floors that could not be held: a pass beside them must not look like sensitivity."""
    found = []
    for suite in suites:
        rows = [row for row in suite.mutators if row.standing is Standing.UNENFORCEABLE and row.head is not None]
        if rows:
            killed, n = sum(row.head.k for row in rows if row.head), sum(row.head.n for row in rows if row.head)
            found.append(
                Notice(
                    level="warning",
                    message=f"suite {suite.name}: the floors of {len(rows)} mutators are not enforceable, each has "
                    f"under 10 mutants; {killed} of these {n} mutants are caught",
                )
            )
    return found


def _suite(run: SingleRun, name: str, complete: bool, gate: bool) -> SuiteResult:
    exhausted = run.session.budget.exhausted
    return suite_alone(run.side, name, run.exams[name], run.books[name], complete, gate=gate, exhausted=exhausted)


def suite_alone(
    side: SideSetup,
    name: str,
    exam: SideExam,
    book: Gradebook,
    complete: bool,
    *,
    gate: bool,
    exhausted: str | None = None,
    waived: frozenset[str] = frozenset(),
) -> SuiteResult:
    """What one suite's grades show under the absolute limits of this side's policy.

    :param book: the grades, as screen grades of the head side, whichever commit it is.
    :param gate: whether the limits make it fail.
    :param exhausted: why the budget ended the run, if it did.
    :param waived: claim ids of survivors a maintainer called equivalent.
    """
    config = side.config
    grader = config.graders[exam.name]
    reading = Reading(grader.contract.scale)
    readings = ReadingPair(reading, reading)
    claims = exam.exam.claims
    # A comparing grader says itself which rung is higher; the scores of single answers are compared here.
    scored = [c for c in claims.values() if c.kind is ClaimKind.RUNGS and not c.better]
    settled = {c.id: _inverted(c, book, reading) for c in scored}
    found = outcomes(claims, set(claims), book, readings, None)
    found = [
        o if o.claim.id not in settled or o.head is None else type(o)(o.claim, None, int(settled[o.claim.id]), True)
        for o in found
    ]
    rows = mutator_rows(
        found,
        config.policy.kill_rate,
        exam.exam.applicability,
        waived,
        polarities(),
    )
    view = View(
        suite=name,
        grader=exam.name,
        book=book,
        readings=readings,
        items=exam.exam.items,
        before=exam.exam.before,
        quote=config.report.quote,
    )
    findings: list[Finding] = absolute_findings({o.claim.id: o.head for o in found}, claims, view)
    why: list[str] = []
    checks = grader if isinstance(grader, ChecksGrader) else None
    check_table = check_rows(claims, book, check_kinds(checks) if checks else ())
    findings += floor_findings(name, exam.name, floors(config.policy.kill_rate, rows, check_table, None), gate=gate)
    rungs = [o for o in found if o.claim.kind is ClaimKind.RUNGS]
    pairs = rate(o.head for o in rungs)
    steady = consistency((c, book.runs(exam.side, Purpose.SCREEN, c.items)) for c in claims.values())
    if (biased := position_alone(name, exam.name, steady)) is not None:
        findings.append(biased)
    known = [x for x in side.suites[name].ladders if f"rung/{x.id}/0" in exam.exam.items]
    views = [
        ladder_view(x, lambda item: list(book.of(exam.side, Purpose.SCREEN, item).values()), reading) for x in known
    ]
    limits = ladder_findings(name, exam.name, found, {Side.BASE: (), Side.HEAD: views}, config.policy)
    findings += limits if gate else [f.model_copy(update={"blocking": False}) for f in limits]
    verdict = GateVerdict.PASS
    measured = sum(o.head is not None for o in found)
    if not complete or not measured:
        verdict = GateVerdict.ERROR
        why.append(exhausted or f"{measured} of {len(found)} claims could be measured")
        why += sorted({g.error.message for g in book.grades(exam.side) if g.unmeasured and g.error})[:3]
    elif any(f.blocking for f in findings):
        verdict = GateVerdict.FAIL
        why += [f.sentence for f in findings if f.blocking][:5]
    elif mute := mute_alone(book.of(exam.side, Purpose.SCREEN, i).values() for i in exam.exam.items):
        verdict = GateVerdict.ERROR
        why += mute
    declined = abstentions(
        exam.exam.items, lambda item: list(book.of(exam.side, Purpose.SCREEN, item).values()), config.report.quote
    )
    got = sum(any(not g.unmeasured for g in book.of(exam.side, Purpose.SCREEN, i).values()) for i in exam.exam.items)
    return SuiteResult(
        name=name,
        grader=exam.name,
        kind=grader.kind,
        role=grader.contract.strongest_role(),
        verdict=verdict,
        why=tuple(why),
        affected=len(exam.exam.items),
        items=len(exam.exam.items),
        graded=Rate(k=got, n=got, planned=len(exam.exam.items)),
        audits=audit_rows(found),
        mutators=rows,
        checks=check_table,
        ladders=LadderStats(
            ladders=len(views),
            pairs=pairs,
            inversions=pairs.n - pairs.k,
            flat=len(flat(views, config.policy.min_spread)),
            unstable=sum(v.unstable for v in views),
            cited=total([v.cited for v in views]),
            coverage=coverage(side.suites[name].ladders, {c.question for c in side.suites[name].cases}),
        )
        if views
        else (LadderStats() if steady is None else pair_stats(rungs, side.suites[name], steady, None)),
        findings=tuple(sorted(findings, key=lambda f: (not f.blocking, -f.severity, f.claim or ""))),
        baseline="none: one revision on its own",
        abstained=declined.rate,
        review=declined.review,
        served_models=tuple(sorted({g.served_model for g in book.grades(exam.side) if g.served_model})),
    )


def _inverted(claim: Claim, book: Gradebook, reading: Reading) -> bool:
    """Whether the better rung stands below the worse one: by cross pairs of the repeats, at least 90 % of them."""
    levels = [
        [v for g in book.of(Side.HEAD, Purpose.SCREEN, item).values() if (v := reading.level(g)) is not None]
        for item in claim.items
    ]
    low, high = levels
    return bool(low and high) and confirmed_inversion(low, high)
