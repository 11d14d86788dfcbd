"""The check to require: created ``in_progress`` first, completed whatever happens, a commit status where it is refused.

A required check is passed by ``neutral`` and ``skipped`` too, so what could not be measured is ``failure``.
Every run creates a check run of its own. GitHub shows the newest of a name, so a slow old run, which completes only its
own, never overwrites a newer verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, Literal, Self

from grader_gate.github.client import Client, Json
from grader_gate.github.errors import GitHubError, NotFound, ReadOnlyToken, Refused
from grader_gate.github.text import cap_bytes

CHECK_NAME = "grader-gate"
MAX_TEXT = 65_535
"""Most characters of ``output.summary`` and ``output.text`` by GitHub's description; kept in bytes to be safe."""

MAX_TITLE = 255
MAX_MESSAGE = 60_000
"""Bytes of an annotation's message; GitHub takes 64 KB."""

MAX_DESCRIPTION = 140
"""Characters of a commit status."""

BATCH = 50
"""Annotations per request."""


def check_name(key: str) -> str:
    """The name to require: ``grader-gate``, with the key behind it where several configurations share a commit."""
    return f"{CHECK_NAME} ({key})" if key else CHECK_NAME


class Conclusion(StrEnum):
    """The two that a required check understands as yes and no."""

    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Note:
    """One annotation. ``path`` is relative to the repository; ``line`` counts from 1."""

    path: str
    line: int
    level: Literal["notice", "warning", "failure"]
    title: str
    message: str

    def to_json(self) -> Json:
        """As the API takes it, cut to its limits."""
        return {
            "path": self.path,
            "start_line": self.line,
            "end_line": self.line,
            "annotation_level": self.level,
            "title": cap_bytes(self.title, MAX_TITLE),
            "message": cap_bytes(self.message, MAX_MESSAGE) or "see the report",
        }


@dataclass(frozen=True, slots=True)
class Output:
    """What a completed check says."""

    conclusion: Conclusion
    title: str
    summary: str
    notes: Sequence[Note] = ()
    text: str = ""


CRASHED = Output(
    Conclusion.FAILURE,
    "Could not measure: the run ended without a verdict",
    "The run ended before it had a verdict. Its log says why. Nothing was measured to the end, so nothing is green.",
)


class Sink(StrEnum):
    """What carries the verdict on the commit."""

    CHECK_RUN = "check run"
    STATUS = "commit status"
    NOTHING = "nothing"


class GateCheck:
    """The check on one commit. Use with ``with``: leaving without :meth:`complete` completes it as failed.

    :param sha: commit that the check belongs to.
    :param name: shown name; the one to require.
    :param run_id: number of the workflow run, 0 outside one; keeps an older run's status from hiding a newer one.
    :param log: told what was not posted and why, one line each.
    """

    def __init__(
        self,
        client: Client,
        repo: str,
        sha: str,
        *,
        name: str = CHECK_NAME,
        details_url: str | None = None,
        run_id: int = 0,
        attempt: int = 1,
        log: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._client, self._repo, self._sha, self._name, self._log = client, repo, sha, name, log
        self._details_url, self._run_id, self._attempt = details_url, run_id, attempt
        self._id: int | None = None
        self.sink = Sink.NOTHING
        self.why_not: str | None = None
        self.url: str | None = None
        self._done = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if not self._done:
            self.complete(CRASHED)

    def start(self) -> None:
        """Show that a run is on its way, which also clears a stale green. Never raises for what GitHub does."""
        try:
            self._start_check_run()
        except (ReadOnlyToken, NotFound, Refused) as refused:
            self._log(f"no check run: {refused}")
            self.why_not = str(refused)
            self._try(lambda: self._post_status("pending", "measuring"), Sink.STATUS)
        except GitHubError as error:
            self._log(f"no check run: {error}")
            self.why_not = str(error)

    def progress(self, line: str) -> None:
        """Say on the running check what is going on. Never raises for what GitHub does."""
        if self._id is None or self._done:
            return
        shown: Json = {"title": cap_bytes(line, MAX_TITLE), "summary": cap_bytes(line, MAX_TEXT)}
        try:
            self._client.patch(f"/repos/{self._repo}/check-runs/{self._id}", {"output": shown})
        except GitHubError as error:
            self._log(f"progress not shown: {error}")

    def complete(self, output: Output) -> bool:
        """Say the verdict. Never raises for what GitHub does: the verdict stands in the files and the exit code.

        :returns: whether it was posted.
        """
        self._done = True
        if self._id is not None:
            return self._try(lambda: self._complete_check_run(output), Sink.CHECK_RUN)
        if self.sink is Sink.NOTHING:
            # What failed at the start may work now: an outage is over, a limit has lifted.
            self.start()
            if self._id is not None:
                return self._try(lambda: self._complete_check_run(output), Sink.CHECK_RUN)
        if self.sink is Sink.STATUS:
            return self._try(lambda: self._post_status(output.conclusion.value, output.title), Sink.STATUS)
        return False

    def _try(self, post: Callable[[], None], sink: Sink) -> bool:
        try:
            post()
        except GitHubError as error:
            self._log(f"no {sink}: {error}")
            self.why_not, self.sink = str(error), Sink.NOTHING
            return False
        self.sink = sink
        return True

    # ------------------------------------------------------------ check run

    def _start_check_run(self) -> None:
        body: Json = {
            "name": self._name,
            "head_sha": self._sha,
            "status": "in_progress",
            "external_id": self._external_id,
            "output": {"title": "Measuring", "summary": "The gate is measuring what this change does to the graders."},
        }
        if self._details_url:
            body["details_url"] = self._details_url
        made = self._client.create(f"/repos/{self._repo}/check-runs", body, find=self._find_check_run)
        self._id, self.sink, self.why_not, self.url = int(made["id"]), Sink.CHECK_RUN, None, made.get("html_url")

    def _find_check_run(self) -> Json | None:
        listed = self._client.pages(
            f"/repos/{self._repo}/commits/{self._sha}/check-runs",
            key="check_runs",
            check_name=self._name,
            filter="all",
        )
        return next((run for run in listed if run.get("external_id") == self._external_id), None)

    @property
    def _external_id(self) -> str:
        return f"grader-gate/{self._name}/{self._run_id}/{self._attempt}"

    def _complete_check_run(self, output: Output) -> None:
        path = f"/repos/{self._repo}/check-runs/{self._id}"
        notes = [note.to_json() for note in output.notes]
        shown: Json = {"title": cap_bytes(output.title, MAX_TITLE), "summary": cap_bytes(output.summary, MAX_TEXT)}
        if output.text:
            shown["text"] = cap_bytes(output.text, MAX_TEXT)
        done: Json = {"status": "completed", "conclusion": output.conclusion.value}
        first = {**shown, "annotations": notes[:BATCH]} if notes else shown
        try:
            self._client.patch(path, {**done, "output": first})
        except Refused as refused:
            # Too long, or an annotation on a line that GitHub does not like: the verdict matters more than its words.
            self._log(f"check run refused, sent again in short: {refused}")
            short = f"{cap_bytes(output.title, MAX_TITLE)}\n\nThe full report is in the job summary and the artifact."
            self._client.patch(path, {**done, "output": {"title": shown["title"], "summary": short}})
            return
        for start in range(BATCH, len(notes), BATCH):
            # Each request adds to what is there. The check is complete already, so a refusal costs only annotations.
            try:
                self._client.patch(path, {"output": {**shown, "annotations": notes[start : start + BATCH]}})
            except GitHubError as error:
                self._log(f"annotations from number {start + 1} on not posted: {error}")
                return

    # ------------------------------------------------------------ commit status

    def _post_status(self, state: str, description: str) -> None:
        if self._newer_status():
            raise Refused("a newer run has already set the status of this commit")
        body: Json = {"state": state, "context": self._name, "description": _cap_characters(description)}
        if self._details_url:
            body["target_url"] = self._details_url
        # The newest status of a context counts and equal ones do no harm, so a lost answer is simply sent again.
        self._client.create(f"/repos/{self._repo}/statuses/{self._sha}", body, find=lambda: None)

    def _newer_status(self) -> bool:
        if not self._run_id:
            return False
        try:
            listed = list(self._client.pages(f"/repos/{self._repo}/commits/{self._sha}/statuses"))
        except (ReadOnlyToken, NotFound):
            return False  # a token that may not look may not write either, and that refusal says why
        newest = next((status for status in listed if status.get("context") == self._name), {})
        return run_of(newest.get("target_url")) > (self._run_id, self._attempt)


def run_of(url: Any) -> tuple[int, int]:
    """Run number and attempt in the address of a run's page; zeros where there are none."""
    parts = url.split("/") if isinstance(url, str) else []
    try:
        run = int(parts[parts.index("runs") + 1])
        attempt = int(parts[parts.index("attempts") + 1]) if "attempts" in parts else 1
    except (ValueError, IndexError):
        return (0, 0)
    return (run, attempt)


def _cap_characters(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_DESCRIPTION else flat[: MAX_DESCRIPTION - 1] + "…"
