"""After measuring: the result on disk before anything is posted, then summary and outputs, then check and comment."""

from __future__ import annotations

import traceback
from pathlib import Path

from grader_gate.baselines.record import BaselineRecord
from grader_gate.github.check import GateCheck
from grader_gate.github.job import Job
from grader_gate.github.outputs import append_summary, set_outputs
from grader_gate.github.publish import publish, save_event
from grader_gate.result import Result


def kept(job: Job, result: Result) -> Result:
    """``result`` with the link to this run, on disk with the event before anything is posted."""
    from grader_gate.flow.outputs import write_reports

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


def keep_record(folder: Path, record: BaselineRecord) -> None:
    """Leave a record in the output folder, which becomes the run's artifact."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / record.name).write_text(record.render(), "utf-8", newline="\n")


def summarise(job: Job, result: Result) -> None:
    """Job summary and outputs; both are files of the runner and need no network."""
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


def posted(job: Job, result: Result, check: GateCheck | None) -> None:
    """Check and comment. What goes wrong in telling the verdict does not change it."""
    if job.client is None:
        return
    try:
        outcome = publish(result, job.event, job.client, check=check, comment=job.inputs.comment, log=job.log.line)
    except Exception as error:
        job.log.foreign(traceback.format_exc())
        job.log.warning(f"posting crashed ({type(error).__name__}); this is a bug of grader-gate, please report it")
        return
    for line in outcome.lines:
        job.log.line(line)
    if not outcome.complete:
        folder = job.inputs.out.relative_to(job.root).as_posix()
        job.log.warning(f"not everything was posted, see above; the verdict stands in {folder} and in the job summary")
