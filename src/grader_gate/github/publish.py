"""Posting a finished result: check, then comment. Idempotent, so that a run that GitHub let down is posted later.

Nothing here decides or measures. The verdict stands in ``result.json`` before the first write; what cannot be posted is
told, with the reason, and changes neither verdict nor exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from grader_gate.errors import UsageError
from grader_gate.github.check import MAX_TEXT, Conclusion, GateCheck, Note, Output, check_name
from grader_gate.github.client import Client
from grader_gate.github.comment import CommentAction, upsert_comment
from grader_gate.github.errors import GitHubError, ReadOnlyToken, Refused
from grader_gate.github.event import Event, EventKind
from grader_gate.model import GateVerdict
from grader_gate.report.marker import header
from grader_gate.result import Result

EVENT_FILE = "event.json"
RESULT_FILE = "result.json"

COMMENT_LIMIT = 60_000
"""Characters; GitHub takes 65,536."""

SHORT_LIMIT = 20_000
"""Characters of the second try, after GitHub called the first one too long."""

CHECK_LIMITS = (COMMENT_LIMIT, 40_000, SHORT_LIMIT)
"""Characters of a check's summary, tried in turn: GitHub's limit may count bytes."""


class NotAResultFolder(UsageError):
    """The folder does not hold what a run of the action left."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of one sink.

    :ivar state: ``posted``; ``left out``: by choice, nothing is missing; ``failed``: the reason is in ``detail``.
    """

    sink: str
    state: Literal["posted", "left out", "failed"]
    detail: str


@dataclass(frozen=True, slots=True)
class PublishOutcome:
    """What was posted and what was not."""

    sinks: tuple[Posted, ...]

    @property
    def complete(self) -> bool:
        """Whether nothing failed."""
        return all(sink.state != "failed" for sink in self.sinks)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line per sink, for the log."""
        return tuple(f"{sink.sink}: {sink.state}: {sink.detail}" for sink in self.sinks)


def save_event(event: Event, files: Path) -> None:
    """Keep the event beside the results, for :func:`load`."""
    (files / EVENT_FILE).write_text(event.model_dump_json(indent=1) + "\n", encoding="utf-8", newline="\n")


def load(files: Path) -> tuple[Result, Event]:
    """Result and event that a run of the action left in its output folder.

    :raises NotAResultFolder: a file is missing or not what this version writes.
    """
    try:
        result = Result.model_validate_json((files / RESULT_FILE).read_bytes())
        event = Event.model_validate_json((files / EVENT_FILE).read_bytes())
    except OSError as error:
        raise NotAResultFolder(
            f"{files}: {Path(str(error.filename)).name} cannot be read ({error.strerror}); "
            "name the output folder of a run of the action"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "(whole file)"
        raise NotAResultFolder(
            f"{files}: {error.title.lower()}.json: {key}: {first['msg']}; "
            "it was not written by this version of grader-gate"
        ) from None
    return result, event


def publish(
    result: Result,
    event: Event,
    client: Client,
    *,
    check: GateCheck | None,
    comment: bool = True,
    log: Callable[[str], None] = lambda line: None,
) -> PublishOutcome:
    """Post a result where it belongs.

    :param check: the check to complete, opened by the caller or new; None posts none.
    :param comment: whether to write the comment of a pull request.
    :param log: told what is going on, one line each.
    """
    sinks = [
        _post_check(result, check) if check is not None else Posted("check", "left out", "switched off"),
        _post_comment(result, event, client, log) if comment else Posted("comment", "left out", "switched off"),
    ]
    return PublishOutcome(tuple(sinks))


# ---------------------------------------------------------------- check


def check_for(event: Event, client: Client, key: str, log: Callable[[str], None]) -> GateCheck | None:
    """The check that an event's result belongs to; None for a run that somebody started by hand on two revisions."""
    if event.kind is EventKind.DISPATCH or not event.head_sha:
        return None
    return GateCheck(
        client,
        event.repository,
        event.head_sha,
        name=check_name(key),
        details_url=event.run_url,
        run_id=event.run_id,
        attempt=event.attempt,
        log=log,
    )


def check_output(result: Result) -> Output:
    """What the check says. Not measured is never green; report mode never blocks, and says so in the title."""
    from grader_gate.report.annotations import annotations

    green = result.verdict in (GateVerdict.PASS, GateVerdict.NOT_APPLICABLE)
    title = result.headline
    if result.verdict is GateVerdict.ERROR and "could not measure" not in title.lower():
        title = f"Could not measure: {title}"
    if result.mode == "report":
        title = f"Report mode, does not block: {title}"
    return Output(
        Conclusion.SUCCESS if green or result.mode == "report" else Conclusion.FAILURE,
        title,
        _check_summary(result),
        [Note(note.path, note.line, note.level, note.title, note.message) for note in annotations(result)],
        # For a later run of the same commit, which inherits what this one confirmed; people see nothing of it.
        header(result, {}) if result.evidence else "",
    )


def _check_summary(result: Result) -> str:
    """The comment's text without its header, told shorter until its bytes fit a check's summary."""
    from grader_gate.report.comment import render_comment

    text = ""
    for limit in CHECK_LIMITS:
        text = render_comment(result, limit=limit).split("\n", 1)[1]
        if len(text.encode()) <= MAX_TEXT:
            break
    return text


def _post_check(result: Result, check: GateCheck) -> Posted:
    if check.complete(check_output(result)):
        fallback = f", instead of a check run: {check.why_not}" if check.why_not else ""
        return Posted("check", "posted", f"{check.sink}{fallback}")
    return Posted("check", "failed", check.why_not or "no reason given")


# ---------------------------------------------------------------- comment


def _post_comment(result: Result, event: Event, client: Client, log: Callable[[str], None]) -> Posted:
    if event.number is None:
        return Posted("comment", "left out", f"a {event.name} event has no pull request")
    try:
        if (moved := _moved_head(event, client)) is not None:
            return Posted(
                "comment", "left out", f"the pull request's head is now {moved[:12]}; its own run speaks for it"
            )
        return _write_comment(result, event, event.number, client, log)
    except ReadOnlyToken as error:
        return Posted("comment", "failed", event.read_only_reason or str(error))
    except GitHubError as error:
        return Posted("comment", "failed", str(error))


def _moved_head(event: Event, client: Client) -> str | None:
    pull = client.get(f"/repos/{event.repository}/pulls/{event.number}")
    live = pull["head"]["sha"]
    return None if live == event.head_sha else str(live)


def _write_comment(result: Result, event: Event, number: int, client: Client, log: Callable[[str], None]) -> Posted:
    from grader_gate.report.comment import render_comment

    run: Mapping[str, str | int] = {"run_id": event.run_id, "attempt": event.attempt, "pr_head": event.head_sha}
    # Who changes nothing that is measured is not written to, unless an older comment of ours would mislead.
    create = result.verdict is not GateVerdict.NOT_APPLICABLE

    def upsert(limit: int) -> Posted:
        body = render_comment(result, run=run, limit=limit)
        outcome = upsert_comment(client, event.repository, number, body, identity=client.identity, create=create)
        healed = f"; {outcome.healed} duplicate(s) deleted" if outcome.healed else ""
        if outcome.action is CommentAction.NONE:
            return Posted("comment", "left out", "nothing is affected and there is no comment to update")
        if outcome.action is CommentAction.KEPT_NEWER:
            return Posted("comment", "left out", f"a newer run has written it: {outcome.url}{healed}")
        return Posted("comment", "posted", f"{outcome.action}: {outcome.url}{healed}")

    try:
        return upsert(COMMENT_LIMIT)
    except Refused as refused:
        if refused.status != 422:
            raise
        log(f"comment refused, sent again in short: {refused}")
        return upsert(SHORT_LIMIT)
