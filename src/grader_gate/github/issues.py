"""One issue about one thing: found by author, label and marker, updated in place, closed when it is over."""

from __future__ import annotations

from dataclasses import dataclass

from grader_gate.github.client import Client, Json
from grader_gate.github.labels import DESCRIPTIONS, DRIFT, ensure_label

MARKER = "<!-- grader-gate-drift {key} -->"
"""First line of the body; with the author it tells our issue from one that quotes it."""


@dataclass(frozen=True, slots=True)
class DriftIssue:
    """The issue about drift of one configuration.

    :ivar key: tells apart several configurations.
    """

    client: Client
    repository: str
    key: str = ""

    @property
    def _marker(self) -> str:
        return MARKER.format(key=self.key or "-")

    def find(self) -> list[Json]:
        """Our open issues about it, oldest first; more than one only after a race."""
        listed = self.client.pages(f"/repos/{self.repository}/issues", state="open", labels=DRIFT)
        identity = self.client.identity.lower().removesuffix("[bot]")
        found = [
            issue
            for issue in listed
            if "pull_request" not in issue
            and str((issue.get("user") or {}).get("login", "")).lower().removesuffix("[bot]") == identity
            and str(issue.get("body") or "").startswith(self._marker)
        ]
        return sorted(found, key=lambda issue: int(issue["number"]))

    def tell(self, title: str, body: str) -> str:
        """Open the issue, or bring it up to date; its page."""
        text = f"{self._marker}\n{body}"
        found = self.find()
        if not found:
            ensure_label(self.client, self.repository, DRIFT, DESCRIPTIONS[DRIFT])
            self.client.create(
                f"/repos/{self.repository}/issues",
                {"title": title, "body": text, "labels": [DRIFT]},
                find=lambda: next(iter(self.find()), None),
            )
            found = self.find()
        keep, *others = found
        if keep["body"] != text or keep["title"] != title:
            keep = self.client.patch(self._path(keep), {"title": title, "body": text})
        for other in others:
            self.client.patch(self._path(other), {"state": "closed", "state_reason": "not_planned"})
        return str(keep.get("html_url", ""))

    def over(self, body: str) -> list[str]:
        """Close what is open, with a last word; the pages of what was closed."""
        closed = []
        for issue in self.find():
            done = {"body": f"{self._marker}\n{body}", "state": "closed", "state_reason": "completed"}
            closed.append(str(self.client.patch(self._path(issue), done).get("html_url", "")))
        return closed

    def _path(self, issue: Json) -> str:
        return f"/repos/{self.repository}/issues/{issue['number']}"
