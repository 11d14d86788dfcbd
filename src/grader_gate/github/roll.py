"""A push to the default branch: what no record covers is measured by this trusted run and appended as ``measured``."""

from __future__ import annotations

import asyncio

from grader_gate.baselines.branch import commit_message
from grader_gate.baselines.record import BaselineRecord
from grader_gate.changes.git import Git
from grader_gate.changes.tree import GitTree
from grader_gate.config import Config
from grader_gate.configfile import ConfigMissing, load_config
from grader_gate.errors import ExitCode
from grader_gate.flow.accepted import Stamp
from grader_gate.flow.rolling import measure_missing
from grader_gate.flow.single import SingleOptions
from grader_gate.github.errors import GitHubError
from grader_gate.github.finish import keep_record
from grader_gate.github.gitdata import HeadMoved, add_file
from grader_gate.github.job import Job
from grader_gate.github.trusted import branch_store
from grader_gate.github.workspace import bring


def roll_forward(job: Job) -> int:
    """Measure and append.

    :returns: 0 where every item has a record now, 3 where the record could not be stored.
    :raises GateError: the commit cannot be had or measured.
    """
    sha = job.event.head_sha
    with Git(job.root, env=job.environ) as git:
        bring(job, git, [sha])
        try:
            config = load_config(GitTree(git, sha), job.inputs.config)
        except ConfigMissing:
            job.log.line(f"{job.inputs.config} is not on this branch; nothing is measured")
            return ExitCode.OK
        records: tuple[BaselineRecord, ...] = ()
        if config.baseline.store == "branch":
            held = branch_store(job, git, config).read()
            for line in held.refused:
                job.log.warning(f"baseline record not used: {line}")
            records = held.records
        job.inputs.out.mkdir(parents=True, exist_ok=True)
        options = SingleOptions(
            out=job.inputs.out,
            environ=job.without_secrets(),
            progress=job.progress,
            config_path=job.inputs.config,
            suites=job.inputs.suites,
            max_calls=job.inputs.max_calls,
        )
        stamp = Stamp(job.event.actor or "push", None, job.event.run_url, job.event.workflow or job.event.name)
        with job.log.group("Measuring what has no record"):
            rolled = asyncio.run(measure_missing(job.root, sha, options, stamp, records))
        job.log.line(f"{rolled.kept} items have a record, {rolled.items} measured now with {rolled.calls} calls")
        if rolled.record is None:
            return ExitCode.OK
        keep_record(job.inputs.out / "baseline", rolled.record)
        return _append(job, git, config, rolled.record)


def _append(job: Job, git: Git, config: Config, record: BaselineRecord) -> int:
    try:
        if config.baseline.store == "branch":
            where = branch_store(job, git, config).append(record).where
        else:
            path = f"{config.baseline.path.strip('/')}/{record.name}"
            add_file(
                job.github,
                job.event.repository,
                job.event.base_ref,
                path,
                record.render().encode(),
                commit_message(record),
                expected=job.event.head_sha,
            )
            where = f"{path} on {job.event.base_ref}"
    except HeadMoved as moved:
        # The newer push has its own run, which measures what is still missing then.
        job.log.line(f"not recorded: {moved}")
        return ExitCode.OK
    except GitHubError as error:
        folder = job.inputs.out.relative_to(job.root).as_posix()
        job.log.error(
            f"the record could not be stored: {error}; it is in {folder}/baseline: commit it by a pull request, "
            "or use `baseline.store: branch`"
        )
        return ExitCode.ERROR
    job.log.line(f"recorded: {where}")
    return ExitCode.OK
