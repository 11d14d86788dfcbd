"""GitHub's objects as its API gives them, with every field that its description requires."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

EVENTS = Path(__file__).parent.parent / "openapi" / "events"
STAMP = "2026-11-30T12:00:00Z"


def event(name: str) -> dict[str, Any]:
    """One of GitHub's example payloads."""
    payload: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return payload


def user(url: str, login: str, kind: str = "") -> dict[str, Any]:
    page, api = f"{url}/{quote(login)}", f"{url}/users/{quote(login)}"
    links = [
        "followers",
        "following",
        "gists",
        "starred",
        "subscriptions",
        "organizations",
        "repos",
        "events",
        "received_events",
    ]
    return {
        "login": login,
        "id": 41898282,
        "node_id": "MDM6Qm90NDE4OTgyODI=",
        "avatar_url": f"{page}.png",
        "gravatar_id": "",
        "url": api,
        "html_url": page,
        **{f"{link}_url": f"{api}/{link}" for link in links},
        "type": kind or ("Bot" if login.endswith("[bot]") else "User"),
        "site_admin": False,
    }


def comment(
    url: str, repo: str, number: int, comment_id: int, body: str, login: str, at: str, kind: str
) -> dict[str, Any]:
    api = f"{url}/repos/{repo}/issues"
    return {
        "id": comment_id,
        "node_id": "IC_1",
        "url": f"{api}/comments/{comment_id}",
        "issue_url": f"{api}/{number}",
        "html_url": f"{url}/{repo}/pull/{number}#issuecomment-{comment_id}",
        "body": body,
        "user": user(url, login, kind),
        "created_at": at,
        "updated_at": at,
        "author_association": "NONE",
    }


def check_run(url: str, repo: str, check_id: int, body: dict[str, Any], at: str) -> dict[str, Any]:
    api, output = f"{url}/repos/{repo}/check-runs/{check_id}", body.get("output", {})
    return {
        "id": check_id,
        "node_id": "CR_1",
        "head_sha": body["head_sha"],
        "name": body["name"],
        "url": api,
        "html_url": f"{url}/{repo}/runs/{check_id}",
        "details_url": body.get("details_url"),
        "external_id": body.get("external_id"),
        "status": body.get("status", "queued"),
        "conclusion": body.get("conclusion"),
        "started_at": at,
        "completed_at": None,
        "check_suite": {"id": 7},
        "output": {
            "title": output.get("title"),
            "summary": output.get("summary"),
            "text": output.get("text"),
            "annotations_count": 0,
            "annotations_url": f"{api}/annotations",
        },
        "app": None,
        "pull_requests": [],
    }


def status(
    url: str, repo: str, sha: str, status_id: int, context: str, state: str, description: Any, target: Any, at: str
) -> dict[str, Any]:
    return {
        "url": f"{url}/repos/{repo}/statuses/{sha}",
        "avatar_url": None,
        "id": status_id,
        "node_id": "S_1",
        "state": state,
        "description": description,
        "target_url": target,
        "context": context,
        "created_at": at,
        "updated_at": at,
        "creator": user(url, "octocat"),
    }


def pull(url: str, repo: str, number: int, head_sha: str) -> dict[str, Any]:
    """A pull request from a branch of the repository itself, after GitHub's own example."""
    made: dict[str, Any] = event("pull_request.synchronize")["pull_request"]
    made["number"] = number
    made["head"]["sha"] = head_sha
    made["auto_merge"] = None
    return made


def commit(url: str, repo: str, sha: str) -> dict[str, Any]:
    api = f"{url}/repos/{repo}/commits/{sha}"
    who = {"name": "Octo Cat", "email": "octo@example.org", "date": STAMP}
    return {
        "url": api,
        "sha": sha,
        "node_id": "C_1",
        "html_url": f"{url}/{repo}/commit/{sha}",
        "comments_url": f"{api}/comments",
        "commit": {
            "url": api,
            "author": who,
            "committer": who,
            "message": "A commit",
            "comment_count": 0,
            "tree": {"sha": sha, "url": f"{api}/tree"},
            "verification": {
                "verified": False,
                "reason": "unsigned",
                "payload": None,
                "signature": None,
                "verified_at": None,
            },
        },
        "author": user(url, "octocat"),
        "committer": user(url, "octocat"),
        "parents": [],
    }


def comparison(url: str, repo: str, basehead: str, merge_base: str) -> dict[str, Any]:
    page, api = f"{url}/{repo}/compare/{basehead}", f"{url}/repos/{repo}/compare/{basehead}"
    return {
        "url": api,
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": commit(url, repo, merge_base),
        "merge_base_commit": commit(url, repo, merge_base),
        "status": "diverged",
        "ahead_by": 1,
        "behind_by": 1,
        "total_commits": 1,
        "commits": [],
    }


def issue(url: str, repo: str, number: int, title: str, body: str, login: str, at: str) -> dict[str, Any]:
    api = f"{url}/repos/{repo}/issues/{number}"
    return {
        "id": number,
        "node_id": "I_1",
        "url": api,
        "repository_url": f"{url}/repos/{repo}",
        "labels_url": f"{api}/labels{{/name}}",
        "comments_url": f"{api}/comments",
        "events_url": f"{api}/events",
        "html_url": f"{url}/{repo}/issues/{number}",
        "number": number,
        "state": "open",
        "state_reason": None,
        "title": title,
        "body": body,
        "user": user(url, login),
        "labels": [],
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": 0,
        "closed_at": None,
        "created_at": at,
        "updated_at": at,
        "closed_by": None,
        "author_association": "NONE",
    }
