"""The action's entry: environment and event in; measure; check, comment, summary, outputs and exit code out.

Only here and in ``cli.py`` is the environment read. The container runs ``python -I -m grader_gate.action``; a job of
the team's own runs ``grader-gate action``. Both call :func:`main`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from grader_gate.errors import ExitCode, GateError, UsageError
from grader_gate.github.event import Event, EventKind, parse_event
from grader_gate.github.inputs import Inputs, read_inputs
from grader_gate.github.job import Job, RunCheck, log_secrets
from grader_gate.github.outputs import Log
from grader_gate.github.ownership import give_to_owner
from grader_gate.github.routing import Task, route

if TYPE_CHECKING:
    from grader_gate.github.check import GateCheck
    from grader_gate.github.client import Client
    from grader_gate.github.revisions import Compared
    from grader_gate.result import Result


class NotInActions(UsageError):
    """The variables that GitHub sets for a step are missing."""


def main(
    environ: Mapping[str, str],
    argv: Sequence[str] = (),
    *,
    stream: TextIO | None = None,
    run_check: RunCheck | None = None,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.time,
) -> int:
    """Run the action once.

    :param environ: the step's environment.
    :param argv: must be empty; inputs come from the environment.
    :param stream: where the log goes; standard output by default.
    :param run_check: what measures; by default :func:`grader_gate.check.check`.
    :param sleep: waits seconds between tries of a request.
    :returns: an exit code of :class:`~grader_gate.errors.ExitCode`.
    """
    stream = stream or sys.stdout
    log = Log(
        stream,
        secrets_=log_secrets(environ),
        commands=environ.get("GITHUB_ACTIONS") == "true",
    )
    try:
        if argv:
            raise NotInActions(f"`action` takes no arguments, got {argv[0]!r}; its inputs are INPUT_* variables")
        root = Path(environ.get("GITHUB_WORKSPACE") or ".").resolve()
        inputs = read_inputs(environ, root)
        event = _read_event(environ)
        log.line(f"event {event.name} {event.action}".rstrip() + f" in {event.repository or 'an unknown repository'}")
        served = route(event, inputs)
        if isinstance(served, str):
            log.line(served)
            return ExitCode.OK
        client = _connect(inputs, event, log, sleep, now)
        job = Job(root, environ, inputs, event, client, log, stream)
        with _termination_interrupts(), contextlib.closing(client) if client else contextlib.nullcontext():
            return _served(served, job, run_check)
    except GateError as error:
        log.error(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        log.error("cancelled before there was a verdict")
        return ExitCode.ERROR
    except Exception as error:
        log.foreign(traceback.format_exc())
        log.error(f"the gate crashed ({type(error).__name__}); this is a bug of grader-gate, please report it")
        return ExitCode.ERROR


# ---------------------------------------------------------------- before


def _read_event(environ: Mapping[str, str]) -> Event:
    name, path = environ.get("GITHUB_EVENT_NAME"), environ.get("GITHUB_EVENT_PATH")
    if not name or not path:
        raise NotInActions(
            "GITHUB_EVENT_NAME and GITHUB_EVENT_PATH are not set; outside Actions use `grader-gate check`"
        )
    try:
        payload = json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise NotInActions(f"{path}: the event cannot be read ({type(error).__name__})") from None
    return parse_event(name, payload if isinstance(payload, dict) else {}, environ)


def _served(task: Task, job: Job, run_check: RunCheck | None) -> int:
    """Do what the event asks for."""
    match task:
        case Task.FREEZE:
            from grader_gate.github.freeze import freeze_by_label

            return _owned(job, lambda: freeze_by_label(job))
        case Task.SAFE_TO_GRADE:
            from grader_gate.github.safe import grade_safely

            return grade_safely(job, lambda request: _guarded(request, run_check))
        case Task.ROLL_FORWARD:
            from grader_gate.github.roll import roll_forward

            return _owned(job, lambda: roll_forward(job))
        case Task.DRIFT:
            from grader_gate.github.drift import watch_drift

            return _owned(job, lambda: watch_drift(job))
        case Task.COMPANION:
            from grader_gate.github.companion import publish_testimony

            return publish_testimony(job)
        case Task.CHECK:
            return _guarded(job, run_check)


def _owned(job: Job, serve: Callable[[], int]) -> int:
    try:
        return serve()
    finally:
        give_to_owner(job.root, job.inputs.out)


def _connect(
    inputs: Inputs, event: Event, log: Log, sleep: Callable[[float], None], now: Callable[[], float]
) -> Client | None:
    if inputs.token is None:
        log.warning(
            "no token: the change is measured, but neither check nor comment can be written; see the job summary"
        )
        return None
    if event.read_only_reason:
        log.line(f"{event.read_only_reason}; what needs no secret is measured all the same")
    from grader_gate.github.client import Client

    return Client(inputs.token, event.api_url, ca_bundle=inputs.ca_bundle, sleep=sleep, now=now, log=log.line)


@contextlib.contextmanager
def _termination_interrupts() -> Iterator[None]:
    """A cancelled job gets SIGTERM: treat it as Ctrl-C, which ends asyncio and completes the check on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# ---------------------------------------------------------------- measuring


def _guarded(job: Job, run_check: RunCheck | None) -> int:
    """Measure with the check open: whatever happens below, it is completed."""
    from grader_gate.github.finish import posted, summarise

    check = _check(job)
    try:
        with check if check is not None else contextlib.nullcontext():
            result = _measured(job, run_check)
            # The runner's own files come first: they need no network.
            summarise(job, result)
            posted(job, result, check)
            _offer_label(job, result)
    finally:
        give_to_owner(job.root, job.inputs.out)
    return result.exit_code


def _check(job: Job) -> GateCheck | None:
    if job.client is None or not job.inputs.check:
        return None
    from grader_gate.github.publish import check_for

    return check_for(job.event, job.client, job.inputs.key, job.log.line)


def _measured(job: Job, run_check: RunCheck | None) -> Result:
    """The result, also where measuring failed: then one that says why, with the same exit code."""
    from grader_gate.flow.inheritance import carry
    from grader_gate.github.finish import kept
    from grader_gate.github.results import tightened, unmeasured
    from grader_gate.github.trusted import Trusted, gather

    sides: Compared | None = None
    trusted = Trusted()
    try:
        from grader_gate.changes.git import Git
        from grader_gate.github.workspace import bring_sides

        with Git(job.root, env=job.environ) as git:
            sides = bring_sides(git, job.event, job.inputs, job.client, job.log)
            trusted = gather(job, git, sides)
        measure = run_check or _default_check()
        job.inputs.out.mkdir(parents=True, exist_ok=True)
        with job.log.group("Measuring"):
            result = measure(
                job.root,
                sides.base,
                sides.head,
                out=job.inputs.out,
                environ=job.without_secrets(),
                progress=job.progress,
                config_path=job.inputs.config,
                suites=job.inputs.suites,
                max_calls=job.inputs.max_calls,
                key=job.inputs.key,
                run_head_code=_may_run_code(job),
                records=trusted.records,
                acceptances=trusted.acceptances,
                inherited=trusted.inherited,
            )
        return kept(job, carry(tightened(result, block=job.inputs.block), trusted.inherited))
    except GateError as error:
        job.log.error(str(error))
        result = unmeasured(job.event, job.inputs, sides, job.log.clean(str(error)), error.exit_code)
        return kept(job, carry(result, trusted.inherited))
    except Exception as error:
        job.log.foreign(traceback.format_exc())
        line = (
            f"the gate crashed ({type(error).__name__}); this is a bug of grader-gate, the job's log has the traceback"
        )
        job.log.error(line)
        result = unmeasured(job.event, job.inputs, sides, line, ExitCode.ERROR)
        return kept(job, carry(result, trusted.inherited))


def _offer_label(job: Job, result: Result) -> None:
    """Where the comment speaks of the freeze label, have it there to be picked; nothing depends on it."""
    from grader_gate.model import GateVerdict

    if (
        job.client is None
        or job.event.number is None
        or not job.inputs.comment
        or result.verdict is not GateVerdict.FAIL
    ):
        return
    from grader_gate.changes.git import Git
    from grader_gate.github.labels import FREEZE_DESCRIPTION, ensure_label
    from grader_gate.github.trusted import base_config

    try:
        with Git(job.root, env=job.environ) as git:
            config = base_config(git, result.base.sha, job.inputs.config)
    except GateError:
        return
    if config is not None:
        ensure_label(job.client, job.event.repository, config.policy.freeze.label, FREEZE_DESCRIPTION)


def _may_run_code(job: Job) -> bool:
    """Whether graders in code of the head may run: never those of a fork, also not in the merge queue."""
    event = job.event
    if event.kind is EventKind.PULL_REQUEST_TARGET or event.is_fork:
        return False
    if event.kind is not EventKind.MERGE_GROUP:
        return True
    if event.queued is None or job.client is None:
        return False
    from grader_gate.github.errors import GitHubError

    try:
        pull = job.client.get(f"/repos/{event.repository}/pulls/{event.queued}")
    except GitHubError as error:
        job.log.line(f"whether the queued pull request is from a fork is not known: {error}")
        return False
    repo = pull["head"].get("repo")
    return bool(repo) and repo.get("full_name") == pull["base"]["repo"]["full_name"]


def _default_check() -> RunCheck:
    from grader_gate.check import check

    return check


def publish_folder(
    files: Path,
    environ: Mapping[str, str],
    *,
    stream: TextIO | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Post the results of an earlier run of the action, with the token in ``GITHUB_TOKEN``.

    :param files: the run's output folder.
    :returns: 0 where everything is posted, 3 where something is not.
    :raises GateError: no token, or a folder that no run of the action left.
    """
    from grader_gate.github.client import Client
    from grader_gate.github.publish import check_for, load, publish

    token = environ.get("GITHUB_TOKEN", "").strip()
    if not token:
        raise NotInActions("GITHUB_TOKEN is not set; `publish` needs a token that may write comments and checks")
    log = Log(stream or sys.stdout, secrets_=[token], commands=environ.get("GITHUB_ACTIONS") == "true")
    result, event = load(files)
    with contextlib.closing(Client(token, event.api_url, sleep=sleep, log=log.line)) as client:
        outcome = publish(result, event, client, check=check_for(event, client, result.key, log.line), log=log.line)
    for line in outcome.lines:
        log.line(line)
    return ExitCode.OK if outcome.complete else ExitCode.ERROR


if __name__ == "__main__":
    sys.exit(main(os.environ, sys.argv[1:]))
