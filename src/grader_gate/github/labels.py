"""Labels that ask for something: live or not, put on by whom and when; made on first use, taken off when answered.

An event's payload only names the trigger. A re-run replays it, so what counts is read now.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from grader_gate.github.client import Client, Json
from grader_gate.github.errors import GitHubError, NotFound

SAFE_TO_GRADE = "safe-to-grade"
"""Lets a pull request from a fork be graded with the graders' keys, for one head commit."""

DRIFT = "grader-gate-drift"
"""Marks the one issue about a provider that changed."""

DESCRIPTIONS = {
    SAFE_TO_GRADE: "Grade this pull request's current head with the graders' keys; its code does not run",
    DRIFT: "A provider answers differently while nothing in the repository changed",
}
FREEZE_DESCRIPTION = "Accept this pull request's grades as the new baseline (policy.freeze says who may)"
COLOR = "5319e7"


@dataclass(frozen=True, slots=True)
class Applied:
    """A live label: who put it on last, and when (ISO 8601)."""

    by: str
    at: str


def is_live(pull: Json, label: str) -> bool:
    """Whether a pull request, as it was just read, carries the label."""
    return any(isinstance(x, dict) and str(x.get("name", "")).lower() == label.lower() for x in pull.get("labels", []))


def last_applied(client: Client, repository: str, number: int, label: str) -> Applied | None:
    """Who put the label on, by the pull request's own history; None where the last word was that it went off."""
    found: Applied | None = None
    for event in client.pages(f"/repos/{repository}/issues/{number}/events"):
        name = event.get("label")
        if not isinstance(name, dict) or str(name.get("name", "")).lower() != label.lower():
            continue
        if event.get("event") == "labeled":
            found = Applied(str((event.get("actor") or {}).get("login", "")), str(event.get("created_at", "")))
        elif event.get("event") == "unlabeled":
            found = None
    return found


def ensure_label(client: Client, repository: str, label: str, description: str) -> None:
    """Make the label known to the repository, with a description, unless it is. Never raises for what GitHub does."""
    path = f"/repos/{repository}/labels"
    try:
        try:
            client.get(f"{path}/{quote(label, safe='')}")
        except NotFound:
            body: Json = {"name": label, "description": description[:100], "color": COLOR}
            client.create(path, body, find=lambda: _find(client, f"{path}/{quote(label, safe='')}"))
    except GitHubError:
        # A convenience for people who look for the label; nothing depends on it.
        return


def _find(client: Client, path: str) -> Json | None:
    try:
        return client.get(path)
    except NotFound:
        return None


def remove_label(client: Client, repository: str, number: int, label: str) -> None:
    """Take the label off; one that is gone already counts as taken off."""
    client.delete(f"/repos/{repository}/issues/{number}/labels/{quote(label, safe='')}")
