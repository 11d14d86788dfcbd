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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO

from grader_gate.errors import ExitCode, GateError, UsageError
from grader_gate.github.event import Event, EventKind, parse_event
from grader_gate.github.inputs import Inputs, read_inputs
from grader_gate.github.outputs import Log, append_summary, set_outputs
from grader_gate.github.ownership import give_to_owner

if TYPE_CHECKING:
    from grader_gate.github.check import GateCheck
    from grader_gate.github.client import Client
    from grader_gate.github.revisions import Compared
    from grader_gate.result import Result
    from grader_gate.runs.progress import Progress

MEASURED = frozenset({EventKind.PULL_REQUEST, EventKind.MERGE_GROUP, EventKind.DISPATCH})
"""Events that compare two commits."""

SECRETS = ("INPUT_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
"""Variables whose values never reach the log, nor what measures."""


class NotInActions(UsageError):
    """The variables that GitHub sets for a step are missing."""


class UnsafeTrigger(UsageError):
    """An event that gives a fork's changes a writing token and secrets."""


class RunCheck(Protocol):
    """What measures: :func:`grader_gate.check.check`. Leaves its files in ``out`` before it returns."""

    def __call__(
        self,
        root: Path,
        base: str,
        head: str,
        *,
        out: Path,
        environ: Mapping[str, str],
        progress: Callable[[str], Progress],
        config_path: str,
        suites: Sequence[str],
        max_calls: int | None,
        key: str,
        run_head_code: bool,
    ) -> Result: ...


@dataclass(frozen=True, slots=True)
class _Job:
    """What one run of the action works with."""

    root: Path
    environ: Mapping[str, str]
    inputs: Inputs
    event: Event
    client: Client | None
    log: Log
    stream: TextIO


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
        secrets_=[environ.get(name, "") for name in SECRETS],
        commands=environ.get("GITHUB_ACTIONS") == "true",
    )
    try:
        if argv:
            raise NotInActions(f"`action` takes no arguments, got {argv[0]!r}; its inputs are INPUT_* variables")
        root = Path(environ.get("GITHUB_WORKSPACE") or ".").resolve()
        inputs = read_inputs(environ, root)
        event = _read_event(environ)
        log.line(f"event {event.name} {event.action}".rstrip() + f" in {event.repository or 'an unknown repository'}")
        if (why := _nothing_to_do(event)) is not None:
            log.line(why)
            return ExitCode.OK
        client = _connect(inputs, event, log, sleep, now)
        job = _Job(root, environ, inputs, event, client, log, stream)
        with _termination_interrupts(), contextlib.closing(client) if client else contextlib.nullcontext():
            return _guarded(job, run_check)
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


def _nothing_to_do(event: Event) -> str | None:
    """Why this event is not measured, in words; None where it is.

    :raises UnsafeTrigger: ``pull_request_target``: ending green would look like a verdict.
    """
    if event.kind is EventKind.PULL_REQUEST_TARGET:
        raise UnsafeTrigger(
            "pull_request_target gives foreign changes a writing token; let the workflow run on `pull_request`"
        )
    if event.kind not in MEASURED:
        return f"a {event.name} event has no two sides to compare; nothing is measured and no check is set"
    if event.kind is EventKind.PULL_REQUEST and event.action == "closed":
        return "the pull request is closed; nothing is measured and no check is set"
    return None


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


def _guarded(job: _Job, run_check: RunCheck | None) -> int:
    """Measure with the check open: whatever happens below, it is completed."""
    check = _check(job)
    try:
        with check if check is not None else contextlib.nullcontext():
            result = _measured(job, run_check)
            # The runner's own files come first: they need no network.
            _summarise(job, result)
            _publish(job, result, check)
    finally:
        give_to_owner(job.root, job.inputs.out)
    return result.exit_code


def _check(job: _Job) -> GateCheck | None:
    if job.client is None or not job.inputs.check:
        return None
    from grader_gate.github.publish import check_for

    return check_for(job.event, job.client, job.inputs.key, job.log.line)


def _measured(job: _Job, run_check: RunCheck | None) -> Result:
    """The result, also where measuring failed: then one that says why, with the same exit code."""
    from grader_gate.github.results import tightened, unmeasured

    sides: Compared | None = None
    try:
        from grader_gate.changes.git import Git
        from grader_gate.github.workspace import bring_sides
        from grader_gate.runs.progress import LineProgress

        with Git(job.root, env=job.environ) as git:
            sides = bring_sides(git, job.event, job.inputs, job.client, job.log)
        measure = run_check or _default_check()
        job.inputs.out.mkdir(parents=True, exist_ok=True)
        with job.log.group("Measuring"):
            result = measure(
                job.root,
                sides.base,
                sides.head,
                out=job.inputs.out,
                environ=_without_secrets(job),
                progress=lambda label: LineProgress(job.stream, label),
                config_path=job.inputs.config,
                suites=job.inputs.suites,
                max_calls=job.inputs.max_calls,
                key=job.inputs.key,
                run_head_code=not job.event.is_fork,
            )
        return _kept(job, tightened(result, block=job.inputs.block))
    except GateError as error:
        job.log.error(str(error))
        return _kept(job, unmeasured(job.event, job.inputs, sides, job.log.clean(str(error)), error.exit_code))
    except Exception as error:
        job.log.foreign(traceback.format_exc())
        line = (
            f"the gate crashed ({type(error).__name__}); this is a bug of grader-gate, the job's log has the traceback"
        )
        job.log.error(line)
        return _kept(job, unmeasured(job.event, job.inputs, sides, line, ExitCode.ERROR))


def _default_check() -> RunCheck:
    from grader_gate.check import check

    return check


def _without_secrets(job: _Job) -> dict[str, str]:
    """What measuring may know of the environment: no token of GitHub's; the authorities to trust."""
    environ = {name: value for name, value in job.environ.items() if name not in SECRETS}
    if job.inputs.ca_bundle is not None:
        environ["SSL_CERT_FILE"] = str(job.inputs.ca_bundle)
    return environ


def _kept(job: _Job, result: Result) -> Result:
    """``result`` with the link to this run, on disk with the event before anything is posted."""
    from grader_gate.flow.outputs import write_reports
    from grader_gate.github.publish import save_event

    result = result if result.report_url else result.model_copy(update={"report_url": job.event.run_url})
    try:
        write_reports(result, job.inputs.out)
        save_event(job.event, job.inputs.out)
    except OSError as error:
        job.log.warning(f"input `out`: the result could not be written ({error.strerror}); it cannot be posted later")
    except Exception as error:
        # A report that cannot be drawn must not cost the verdict: result.json is written before any of them.
        job.log.foreign(traceback.format_exc())
        job.log.warning(f"a report could not be written ({type(error).__name__}); this is a bug of grader-gate")
    return result


# ---------------------------------------------------------------- after


def _summarise(job: _Job, result: Result) -> None:
    from grader_gate.github.results import output_values
    from grader_gate.report.summary import render_summary

    job.log.line(f"verdict: {result.verdict.value}: {result.headline}")
    report = job.inputs.out / "report.html"
    try:
        if path := job.environ.get("GITHUB_STEP_SUMMARY"):
            append_summary(Path(path), render_summary(result))
        if path := job.environ.get("GITHUB_OUTPUT"):
            shown = report.relative_to(job.root).as_posix() if report.is_file() else ""
            set_outputs(Path(path), output_values(result, shown))
    except OSError as error:
        job.log.warning(f"summary or outputs could not be written ({error.strerror})")


def _publish(job: _Job, result: Result, check: GateCheck | None) -> None:
    if job.client is None:
        return
    from grader_gate.github.publish import publish

    try:
        outcome = publish(result, job.event, job.client, check=check, comment=job.inputs.comment, log=job.log.line)
    except Exception as error:
        # The verdict is known and kept; what goes wrong in telling it must not change it.
        job.log.foreign(traceback.format_exc())
        job.log.warning(f"posting crashed ({type(error).__name__}); this is a bug of grader-gate, please report it")
        return
    for line in outcome.lines:
        job.log.line(line)
    if not outcome.complete:
        folder = job.inputs.out.relative_to(job.root).as_posix()
        job.log.warning(f"not everything was posted, see above; the verdict stands in {folder} and in the job summary")


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
