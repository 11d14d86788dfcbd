"""Read both sides of a comparison and see what that already settles; nothing is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader_gate import __version__
from grader_gate.changes.git import Git
from grader_gate.changes.recording import same_manifest
from grader_gate.changes.tree import ListedTree
from grader_gate.config import DEFAULT_PATH, Config, Mode
from grader_gate.configfile import ConfigMissing, load_config
from grader_gate.errors import ExitCode, UsageError
from grader_gate.flow.sides import SideSetup, open_tree, read_side
from grader_gate.model import GateVerdict, Role, Side, digest
from grader_gate.result import Goalpost, Notice, Result, Revision, SuiteResult
from grader_gate.runs.progress import Progress

if TYPE_CHECKING:
    from grader_gate.baselines.record import BaselineRecord
    from grader_gate.flow.inheritance import Inherited

WORKFLOWS = ".github/workflows/"


class NoSuchSuite(UsageError):
    """``--suite`` names a suite that neither side has."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a caller may ask for; nothing here can loosen the base branch's policy.

    :ivar suites: only these; empty for all.
    :ivar out: folder of the results.
    :ivar max_calls: a lower cap than the policy's.
    :ivar environ: where graders find their keys.
    :ivar progress: makes the progress of one pass from its label.
    :ivar key: tells apart comments of several configurations or matrix legs.
    :ivar run_head_code: False where code of the head must never run (forks): graders in code are then base's.
    :ivar accepted: whether a maintainer's label accepts the goalposts.
    :ivar records: trusted records from other stores than the base commit's files.
    :ivar acceptances: pairs that the freeze label has accepted for this pull request.
    :ivar inherited: what earlier runs confirmed.
    :ivar second_family: grade with the suites' second families as well.
    """

    out: Path
    environ: Mapping[str, str]
    progress: Callable[[str], Progress]
    config_path: str = DEFAULT_PATH
    suites: tuple[str, ...] = ()
    max_calls: int | None = None
    key: str = ""
    cache: Path | None = None
    run_head_code: bool = True
    second_family: bool = False
    accepted: bool = False
    records: tuple[BaselineRecord, ...] = ()
    acceptances: frozenset[str] = frozenset()
    inherited: Inherited | None = None
    now: Callable[[], str] = field(default=lambda: "")


@dataclass(slots=True)
class Prepared:
    """Both sides read and compared; nothing called yet."""

    base: SideSetup
    head: SideSetup
    revisions: tuple[Revision, Revision]
    suites: list[str]
    goalposts: list[Goalpost]
    notices: list[Notice] = field(default_factory=list)


def prepare(git: Git, base: str, head: str, options: CheckOptions) -> Prepared | Result:
    """Read both sides; a :class:`Result` where that already settles it: nothing changed, or not adopted yet."""
    base_sha, base_tree = open_tree(git, base)
    head_sha, head_tree = open_tree(git, head)
    revisions = (Revision(sha=base_sha, name=base), Revision(sha=head_sha, name=head))
    try:
        left = read_side(git, Side.BASE, base_sha, base_tree, config_path=options.config_path, environ=options.environ)
    except ConfigMissing:
        return _bootstrap(head_tree, revisions, options)
    if options.suites:
        known = set(left.config.suites)
        if not known.issuperset(options.suites):
            known |= set(load_config(head_tree, options.config_path).suites)
        refuse_unknown(options.suites, known)
    if _untouched(left, head_tree):
        return settled(GateVerdict.NOT_APPLICABLE, "no grader, case or policy changed", left.config, revisions, options)
    right = read_side(
        git,
        Side.HEAD,
        head_sha,
        head_tree,
        config_path=options.config_path,
        environ=options.environ,
        providers=left.config.providers,
    )
    notices = _trust_code(left, right, options)
    from grader_gate.flow.goals import find_goalposts, find_notices
    from grader_gate.flow.revalidation import revalidation

    notices += [*find_notices(left, right), *revalidation(left, right)]
    goalposts = find_goalposts(left, right, options.config_path)
    if options.accepted:
        goalposts = [g.model_copy(update={"accepted": True}) for g in goalposts]
    names = [n for n in dict.fromkeys([*left.suites, *right.suites]) if not options.suites or n in options.suites]
    return Prepared(left, right, revisions, names, goalposts, notices)


def refuse_unknown(asked: Sequence[str], known: set[str]) -> None:
    from difflib import get_close_matches

    for name in asked:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
            raise NoSuchSuite(f"--suite {name}: not defined on either side; {hint}")


def _untouched(base: SideSetup, head: ListedTree) -> bool:
    """Whether head would answer everything that was read of base with the same bytes: then no digest can differ."""
    for suite in base.config.suites.values():
        for name in (suite.grader, suite.second_family):
            if name is not None:
                base.touch(name)
    if not same_manifest(base.tree.manifest(), head):
        return False
    watched = (WORKFLOWS, base.config.baseline.path.strip("/") + "/")
    paths = {p for tree in (base.raw, head) for p in tree.paths() if p.startswith(watched)}
    return all(base.raw.blob(path) == head.blob(path) for path in paths)


def _trust_code(base: SideSetup, head: SideSetup, options: CheckOptions) -> list[Notice]:
    """Where the head's code must not run, its graders in code are replaced by base's."""
    from grader_gate.config import CommandGrader, PythonGrader

    if options.run_head_code and base.config.policy.head_code == "run":
        return []
    code = {
        name
        for side in (base, head)
        for name, grader in side.config.graders.items()
        if isinstance(grader, PythonGrader | CommandGrader)
    }
    if not code:
        return []
    head.use_code_of(base, code)
    return [Notice(message="graders in code are the base branch's: code of the head is not run here", level="warning")]


def _bootstrap(head: ListedTree, revisions: tuple[Revision, Revision], options: CheckOptions) -> Result:
    """No configuration on base: head's is validated and explained, nothing is called, and it is not green."""
    from grader_gate.suite.load import load_suites

    config = load_config(head, options.config_path)
    suites = load_suites(head, config, config_path=options.config_path)
    # Even a head in report mode is not green here: the mode, like the whole policy, is the base branch's to set.
    config = config.model_copy(update={"mode": Mode.BLOCK})
    counts = ", ".join(f"{n}: {len(s.cases)} cases, {len(s.ladders)} ladders" for n, s in suites.items())
    return settled(
        GateVerdict.ERROR,
        f"not adopted yet: {options.config_path} is not on the base branch",
        config,
        revisions,
        options,
        notices=(Notice(message=f"the configuration is valid ({counts})"),),
        next_steps=(
            "Look at the grades first: `grader-gate run` grades this revision without comparing.",
            "Merge the configuration (start with `mode: report`), then freeze a baseline: `grader-gate freeze`.",
        ),
    )


def settled(
    verdict: GateVerdict,
    headline: str,
    config: Config,
    revisions: tuple[Revision, Revision],
    options: CheckOptions,
    **more: object,
) -> Result:
    """A result that took no measurement."""
    return Result(
        tool_version=__version__,
        verdict=verdict,
        mode=config.mode.value,
        headline=headline,
        exit_code=exit_code(verdict, config.mode),
        base=revisions[0],
        head=revisions[1],
        key=options.key,
        config_path=options.config_path,
        policy_digest=policy_digest(config),
        quote=config.report.quote,
        **more,
    )


def policy_digest(config: Config) -> str:
    """Content address of the policy in force."""
    return digest("policy", config.policy.model_dump(mode="json"), config.mode.value)


def exit_code(verdict: GateVerdict, mode: Mode) -> int:
    """The exit code of a verdict; in report mode nothing blocks."""
    if mode is Mode.REPORT:
        return ExitCode.OK
    return {GateVerdict.FAIL: ExitCode.FAIL, GateVerdict.ERROR: ExitCode.ERROR}.get(verdict, ExitCode.OK)


def overall(suites: Sequence[SuiteResult], goalposts: Sequence[Goalpost]) -> GateVerdict:
    """A confirmed fail (or a goalpost nobody accepted) beats an error beats a pass; screen suites never decide."""
    verdicts = {s.verdict for s in suites if s.role is Role.GATE}
    if GateVerdict.FAIL in verdicts or any(not g.accepted for g in goalposts):
        return GateVerdict.FAIL
    if GateVerdict.ERROR in verdicts:
        return GateVerdict.ERROR
    if GateVerdict.PASS in verdicts or goalposts or any(s.role is not Role.GATE for s in suites):
        return GateVerdict.PASS
    return GateVerdict.NOT_APPLICABLE
