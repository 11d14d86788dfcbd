"""Which event asks for what. Pure: what is not served is explained, and is no failure."""

from __future__ import annotations

from enum import Enum

from grader_gate.errors import UsageError
from grader_gate.github.event import Event, EventKind
from grader_gate.github.inputs import Inputs
from grader_gate.github.labels import SAFE_TO_GRADE


class Task(Enum):
    """What one run of the action does."""

    CHECK = "check"
    FREEZE = "freeze"
    SAFE_TO_GRADE = "safe to grade"
    ROLL_FORWARD = "roll forward"
    DRIFT = "drift"
    COMPANION = "companion"


class UnsafeTrigger(UsageError):
    """An event that gives a fork's changes a writing token and secrets."""


def route(event: Event, inputs: Inputs) -> Task | str:
    """The task of an event, or why there is none, in words.

    :raises UnsafeTrigger: ``pull_request_target`` without a label: ending green would look like a verdict.
    """
    match event.kind:
        case EventKind.PULL_REQUEST | EventKind.PULL_REQUEST_TARGET if event.action == "closed":
            return "the pull request is closed; nothing is measured and no check is set"
        case EventKind.PULL_REQUEST if event.action == "edited" and event.only_words:
            return "only words of the pull request were edited; nothing is measured, and the check stays as it is"
        case EventKind.PULL_REQUEST:
            if not inputs.freeze:
                return Task.CHECK
            if event.action == "labeled":
                return Task.FREEZE
            return f"a {event.name} event {event.action} puts no label on; nothing is frozen and no check is set"
        case EventKind.PULL_REQUEST_TARGET:
            return _target(event)
        case EventKind.MERGE_GROUP:
            if event.action == "destroyed":
                return "the merge group is gone; nothing is measured and no check is set"
            return Task.CHECK
        case EventKind.DISPATCH:
            return Task.FREEZE if event.asked_pull or inputs.freeze else Task.CHECK
        case EventKind.PUSH if event.head_sha and event.default_branch and event.base_ref == event.default_branch:
            return Task.ROLL_FORWARD
        case EventKind.SCHEDULE:
            return Task.DRIFT
        case EventKind.WORKFLOW_RUN if event.source is not None:
            return Task.COMPANION
    return f"a {event.name} event has no two sides to compare; nothing is measured and no check is set"


def _target(event: Event) -> Task | str:
    if event.action == "labeled":
        return Task.SAFE_TO_GRADE if event.label.lower() == SAFE_TO_GRADE else Task.FREEZE
    if event.action == "unlabeled":
        return f"label {event.label!r} was taken off; nothing is measured and no check is set"
    raise UnsafeTrigger(
        "pull_request_target gives foreign changes a writing token; let the workflow run on `pull_request`, "
        "and on this event only for `types: [labeled]`"
    )
