"""The main job: a pull request's graders against the base branch's. The same on a laptop and in the action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader_gate.changes.git import Git
from grader_gate.config import DEFAULT_PATH
from grader_gate.flow.prepare import CheckOptions, Prepared, prepare
from grader_gate.flow.untracked import refuse_tracked
from grader_gate.result import Result
from grader_gate.runs.progress import Progress

if TYPE_CHECKING:
    from grader_gate.baselines.record import BaselineRecord
    from grader_gate.flow.inheritance import Inherited


def check(
    root: Path,
    base: str,
    head: str,
    *,
    out: Path,
    environ: Mapping[str, str],
    progress: Callable[[str], Progress],
    config_path: str = DEFAULT_PATH,
    suites: Sequence[str] = (),
    max_calls: int | None = None,
    key: str = "",
    cache: Path | None = None,
    run_head_code: bool = True,
    accepted: bool = False,
    second_family: bool = False,
    records: Sequence[BaselineRecord] = (),
    acceptances: frozenset[str] = frozenset(),
    inherited: Inherited | None = None,
) -> Result:
    """Compare ``head`` with ``base`` and write everything into ``out``.

    :param root: any folder of the repository.
    :param base: a revision. :param head: a revision, or ``WORKTREE``.
    :param records: trusted baseline records beside the base commit's files.
    :param second_family: grade with the suites' second families as well, after the verdict.
    :param acceptances: pairs that the freeze label has accepted. :param inherited: what earlier runs confirmed.
    :returns: the result, which is also in ``out/result.json`` beside the ledger and the reports.
    :raises UsageError: configuration, cases or command line cannot be used (exit code 2).
    :raises GateError: it could not be measured (exit code 3).
    """
    from grader_gate.flow.outputs import write_reports

    options = CheckOptions(
        out=out,
        environ=environ,
        progress=progress,
        config_path=config_path,
        suites=tuple(suites),
        max_calls=max_calls,
        key=key,
        cache=cache,
        run_head_code=run_head_code,
        accepted=accepted,
        second_family=second_family,
        records=tuple(records),
        acceptances=acceptances,
        inherited=inherited,
    )
    with Git.find(root, env=environ) as git:
        refuse_tracked(git, out, cache)
        prepared = prepare(git, base, head, options)
        result = prepared if isinstance(prepared, Result) else _measure(prepared, options)
    write_reports(result, out)
    return result


def dry_run(
    root: Path,
    base: str,
    head: str,
    *,
    out: Path,
    environ: Mapping[str, str],
    progress: Callable[[str], Progress],
    config_path: str = DEFAULT_PATH,
    suites: Sequence[str] = (),
    max_calls: int | None = None,
    cache: Path | None = None,
    second_family: bool = False,
) -> str:
    """What :func:`check` would grade, why, and what it costs, in words; calls nothing and writes nothing."""
    from grader_gate.flow.planning import describe_check

    options = CheckOptions(
        out=out,
        environ=environ,
        progress=progress,
        config_path=config_path,
        suites=tuple(suites),
        max_calls=max_calls,
        cache=cache,
        second_family=second_family,
    )
    with Git.find(root, env=environ) as git:
        prepared = prepare(git, base, head, options)
        return prepared.headline if isinstance(prepared, Result) else describe_check(prepared, options)


def _measure(prepared: Prepared, options: CheckOptions) -> Result:
    import asyncio

    from grader_gate.flow.measure import measure

    return asyncio.run(measure(prepared, options))
