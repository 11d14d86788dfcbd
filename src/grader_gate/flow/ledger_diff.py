"""Two ledgers compared: recorded runs cannot be repeated, so the exact paired test alone decides."""

from __future__ import annotations

from pathlib import Path

from grader_gate import __version__
from grader_gate.audits.claims import Reading
from grader_gate.audits.findings import View, claim_findings
from grader_gate.audits.gradebook import STORED, Gradebook, ReadingPair, evidence
from grader_gate.audits.rates import audit_rows, outcomes
from grader_gate.config import Scale
from grader_gate.decision.decide import decide
from grader_gate.decision.outcome import Decision, Settings
from grader_gate.errors import UsageError
from grader_gate.model import Claim, ClaimKind, GateVerdict, Item, LedgerRow, Purpose, Side
from grader_gate.result import Finding, FindingKind, FindingStatus, Rate, Result, Revision, SuiteResult
from grader_gate.runs.ledger import latest, read_ledger
from grader_gate.suite.items import adjacent_pairs


class NothingInCommon(UsageError):
    """The ledgers hold no item that both graded and whose expected verdict or level is known."""


def diff_ledgers(a: Path, b: Path) -> Result:
    """Compare ledger ``b`` with ledger ``a``, item by item.

    Rows say what their item must get (`facts`); golden cases and rungs are compared, mutants need their suite.

    :raises LedgerProblem: a file is no ledger. :raises NothingInCommon: nothing can be compared.
    """
    before, after = _usable(a), _usable(b)
    suites = []
    for suite in dict.fromkeys(name for name, _ in before):
        part = _suite(suite, before, after)
        if part is not None:
            suites.append(part)
    if not suites:
        raise NothingInCommon(
            f"{a} and {b}: no item that both graded carries `facts.expected` or `facts.level`; "
            "compare ledgers of this program that hold the same suite"
        )
    verdicts = {s.verdict for s in suites}
    verdict = next((v for v in (GateVerdict.FAIL, GateVerdict.ERROR) if v in verdicts), GateVerdict.PASS)
    worse = sum(row.regressions for s in suites for row in s.audits)
    better = sum(row.improvements for s in suites for row in s.audits)
    return Result(
        tool_version=__version__,
        verdict=verdict,
        headline=f"{worse} worse, {better} better; " + "; ".join(w for s in suites for w in s.why)
        if any(s.why for s in suites)
        else f"{worse} worse, {better} better",
        base=Revision(sha="", name=a.name),
        head=Revision(sha="", name=b.name),
        suites=tuple(suites),
        config_path="",
        exit_code={GateVerdict.FAIL: 1, GateVerdict.ERROR: 3}.get(verdict, 0),
    )


Rows = dict[tuple[str, str], list[LedgerRow]]


def _usable(path: Path) -> Rows:
    """The screening (or freezing) grades of each item; of a ledger with both sides, those of head."""
    rows = [r for r in latest(read_ledger(path)).values() if r.purpose in (Purpose.SCREEN, Purpose.FREEZE)]
    head = {(r.suite, r.item) for r in rows if r.side is Side.HEAD}
    found: Rows = {}
    for row in sorted(rows, key=lambda r: r.repeat):
        key = (row.suite, row.item)
        if row.facts is not None and (row.side is Side.HEAD or key not in head):
            found.setdefault(key, []).append(row)
    return found


def _suite(suite: str, before: Rows, after: Rows) -> SuiteResult | None:
    shared = [item for name, item in before if name == suite and (suite, item) in after]
    claims = _claims(suite, shared, after)
    if not claims:
        return None
    book = Gradebook()
    for item in shared:
        for repeat, row in enumerate(before[suite, item]):
            book.put(Side.BASE, STORED, item, repeat, row.grade)
        for repeat, row in enumerate(after[suite, item]):
            book.put(Side.HEAD, Purpose.SCREEN, item, repeat, row.grade)
    reading = Reading(_scale([r for rows in (before, after) for i in shared for r in rows[suite, i]]))
    readings = ReadingPair(reading, reading)
    outcome = decide([evidence(c, book, readings, repeatable=False) for c in claims.values()], Settings())
    assert isinstance(outcome, Decision)
    grader = next(iter(after[suite, shared[0]])).grader
    view = View(suite, grader, book, readings, {i: Item(i, {}, i) for i in shared}, quote="short")
    found = outcomes(claims, set(claims), book, readings)
    drops = [
        Finding(
            kind=FindingKind.DROP,
            status=FindingStatus.UNCONFIRMED,
            blocking=True,
            suite=suite,
            grader=grader,
            sentence=("the suite: " if not d.tags else f"tag {d.scope}: ") + d.sentence,
            tags=d.tags,
            base=f"{d.base_rate:.1%}",
            head=f"{d.head_rate:.1%}",
            severity=6,
        )
        for d in outcome.drops
        if d.blocked
    ]
    held = [item for name, item in before if name == suite]
    verdict, why = outcome.verdict, list(outcome.why)
    if missing := len(held) - len(shared):
        why.append(f"{missing} of {len(held)} items of the first ledger are not in the second")
        verdict = GateVerdict.ERROR if verdict is GateVerdict.PASS else verdict
    return SuiteResult(
        name=suite,
        grader=grader,
        kind="replay",
        verdict=verdict,
        why=tuple(why),
        items=len(shared),
        affected=len(shared),
        graded=Rate(k=len(shared), n=len(shared), planned=len(held)),
        audits=audit_rows(found),
        findings=(*drops, *claim_findings(claims, outcome.claims, view)),
        certainty=outcome.certainty,
        baseline="the first ledger; recorded grades cannot be repeated",
    )


def _claims(suite: str, items: list[str], rows: Rows) -> dict[str, Claim]:
    claims: dict[str, Claim] = {}
    ladders: dict[str, list[tuple[int, float, str]]] = {}
    for item in items:
        facts = rows[suite, item][0].facts
        assert facts is not None
        case = item.split("/", 1)[-1]
        if facts.expected is not None:
            claims[item] = Claim(item, ClaimKind.GOLDEN, case, (item,), facts.tags, facts.expected)
        elif facts.level is not None and item.startswith("rung/"):
            ladder, _, index = case.rpartition("/")
            if index.isdigit():
                ladders.setdefault(ladder, []).append((int(index), facts.level, item))
    claims |= _pairs(suite, items, rows)
    for ladder, rungs in ladders.items():
        rungs.sort(key=lambda r: (r[1], r[0]))
        tags = rows[suite, rungs[0][2]][0].facts
        for low, high in adjacent_pairs([level for _, level, _ in rungs]):
            name = f"rungs/{ladder}/{rungs[low][0]}<{rungs[high][0]}"
            claims[name] = Claim(
                name, ClaimKind.RUNGS, ladder, (rungs[low][2], rungs[high][2]), tags.tags if tags else ()
            )
    return claims


def _pairs(suite: str, items: list[str], rows: Rows) -> dict[str, Claim]:
    """Pairs of golden answers and of rungs, where both orders are there."""
    claims = {}
    kinds = {"rungs": ClaimKind.RUNGS, "pair": ClaimKind.GOLDEN}
    for first in items:
        name, _, order = first.rpartition("/")
        second = f"{name}/2"
        kind = kinds.get(name.partition("/")[0])
        if order != "1" or kind is None or (suite, second) not in rows or second not in items:
            continue
        facts = [rows[suite, item][0].facts for item in (first, second)]
        better = tuple(f.better for f in facts if f is not None and f.better is not None)
        if len(better) == 2 and facts[0] is not None:
            case = name.split("/", 1)[-1]
            case = case.rpartition("/")[0] if kind is ClaimKind.RUNGS else case
            claims[name] = Claim(name, kind, case, (first, second), facts[0].tags, better=better)
    return claims


def _scale(rows: list[LedgerRow]) -> Scale | None:
    scores = [r.grade.score for r in rows if r.grade.score is not None]
    return Scale(min=min(scores), max=max(scores)) if scores and min(scores) < max(scores) else None
