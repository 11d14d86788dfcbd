"""Events × tokens × faults, generated: what every cell must and must not leave behind.

A cell is one run of the action on a world that is set up for its event. Whatever happens: green only after a complete
measurement, at most one comment, nothing written by a token that may only read, no key anywhere, no code of the head
where it must not run, and one line that says what became of it.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.freeze.moody import JUDGE, moody_world
from tests.freeze.world import FREEZE, World
from tests.servers.github_server import AREAS, Fault, Token

KEY = "sk-the-graders-own-key-987"
TOKENS = {
    "write": Token(),
    "check job": Token(
        permissions={"contents": "read", "checks": "write", "pull_requests": "write", "actions": "read"}
    ),
    "read": Token(permissions=dict.fromkeys(AREAS, "read")),
    "personal": Token(login="robot", app=False),
}
FAULTS: dict[str, list[tuple[str, str, Fault]]] = {
    "none": [],
    "comment list 502": [("GET", r"/issues/1/comments$", Fault(502))] * 5,
    "comment 500 but made": [("POST", r"/issues/1/comments$", Fault(500, after=True))],
    "check 500 but made": [("POST", r"/check-runs$", Fault(500, after=True))],
    "check 422": [("PATCH", r"/check-runs/\d+$", Fault(422, "Validation Failed"))],
    "secondary limit": [("*", r"/check-runs", Fault(403, "You have exceeded a secondary rate limit"))],
    "limit far away": [
        (
            "*",
            r".",
            Fault(403, "API rate limit exceeded", {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1001440"}),
        )
    ],
    "events 404": [("GET", r"/issues/1/events$", Fault(404, "Not Found"))],
    "permission 500": [("GET", r"/permission$", Fault(500))] * 5,
    "dropped": [("*", r"/pulls/1$", Fault(drop=True))],
    "cut": [("GET", r"/pulls/1$", Fault(pass_through=False, cut=True))],
    "ref race": [("PATCH", r"/git/refs/", Fault(422, "Update is not a fast forward"))],
    "blob 500": [("POST", r"/git/blobs$", Fault(500))] * 5,
    "token gone": [("*", r".", Fault(401, "Bad credentials"))] * 60,
    "label 404": [("DELETE", r"/labels/", Fault(404, "Label does not exist"))],
    "issue 410": [("POST", r"/issues$", Fault(410, "Issues are disabled for this repo"))],
}
EVENTS = (
    "opened", "synchronize", "reopened", "edited", "ready_for_review", "unlabeled", "closed", "draft", "dependabot",
    "deleted fork", "fork", "stale re-run", "head moved", "freeze", "freeze by author", "other label", "safe-to-grade",
    "target synchronize", "merge_group", "merge_group destroyed", "push", "push elsewhere", "schedule", "schedule drifted",
    "dispatch", "dispatch pr", "workflow_run", "workflow_run push", "watch",
)  # fmt: skip


@dataclass
class Cell:
    """One run, and what was there before."""

    world: World
    code: int
    canary: Path
    conclusions: list[str | None]
    comments: int
    records: int


def start(world: World, state: Any, event: str, token: str) -> int:
    """Bring the world to where the event happens, with a token that may, then run."""
    more = {"token": token, "env": {"JUDGE_KEY": KEY, "GITHUB_ACTOR": "maintainer"}}
    pull = world.server.pulls[1]
    match event:
        case "freeze" | "freeze by author" | "other label" | "safe-to-grade":
            label = {"other label": "documentation", "safe-to-grade": "safe-to-grade"}.get(event, FREEZE)
            return world.freeze("Codertocat" if event == "freeze by author" else "maintainer", label, **more)
        case "merge_group":
            return world.merge_group(**more)
        case "merge_group destroyed":
            payload = {"action": "destroyed", "merge_group": {"head_sha": world.merge, "base_sha": world.main}}
            return world.run("merge_group", payload, world.merge, "refs/pull/1/merge", **more)
        case "push":
            return world.pushed(**more)
        case "push elsewhere":
            payload = {"ref": "refs/heads/x", "after": world.main, "repository": {"default_branch": "main"}}
            return world.run("push", payload, world.main, "refs/heads/main", **more)
        case "schedule" | "schedule drifted":
            state.write_text("drifted" if event.endswith("drifted") else "usual")
            return world.scheduled(**more)
        case "dispatch":
            return world.run(
                "workflow_dispatch", {"inputs": {}}, world.main, "refs/heads/main", base=world.main, **more
            )
        case "dispatch pr":
            return world.run("workflow_dispatch", {"inputs": {"pr": "1"}}, world.main, "refs/heads/main", **more)
        case "workflow_run" | "workflow_run push":
            payload = {"action": "completed"}
            payload["workflow_run"] = {
                "id": 77, "event": "push" if event.endswith("push") else "pull_request", "head_sha": world.head,
                "head_branch": "feature", "head_repository": {"owner": {"login": pull["head"]["user"]["login"]}},
            }  # fmt: skip
            return world.run("workflow_run", payload, world.main, "refs/heads/main", **more)
        case "watch":
            return world.run("watch", {"action": "started"}, world.main, "refs/heads/main", **more)
        case "target synchronize":
            payload = world.pull_event("synchronize")
            return world.run("pull_request_target", payload, world.main, "refs/heads/main", **more)
    payload = world.pull_event("synchronize")
    if event in ("opened", "synchronize", "reopened", "edited", "ready_for_review", "unlabeled", "closed"):
        payload["action"] = event
    payload["pull_request"]["draft"] = event == "draft"
    if event == "dependabot":
        payload["sender"]["login"] = "dependabot[bot]"
    if event == "deleted fork":
        payload["pull_request"]["head"]["repo"] = None
    if event == "stale re-run":
        payload["pull_request"]["base"]["sha"] = "b" * 40
        more["env"] |= {"GITHUB_RUN_ATTEMPT": "2"}
    if event == "head moved":
        pull["head"]["sha"] = "c" * 40
    return world.run("pull_request", payload, world.merge, "refs/pull/1/merge", **more)


FORKS = frozenset({"fork", "deleted fork", "workflow_run", "safe-to-grade"})
QUIET = frozenset({"closed", "merge_group destroyed", "push elsewhere", "watch", "workflow_run push", "other label"})
"""Events that ask nothing: explained, 0, and nothing written."""

NEEDS_GITHUB = frozenset({"other label"})


EVERY = 5
"""Of the faults, every event gets each fifth, another fifth than its neighbour; with 1 it is the whole product."""


def cells() -> list[tuple[str, str, str]]:
    """The product, thinned: every event with every token and no fault, and each fault with every event's writing token
    or the check's, in turn."""
    plain = [(event, token, "none") for event in EVENTS for token in TOKENS if token != "write"]
    faulty = list(itertools.product(EVENTS, [f for f in FAULTS if f != "none"]))
    kept = [
        (event, "write", fault)
        for n, (event, fault) in enumerate(faulty)
        if n % EVERY == EVENTS.index(event) % EVERY and event not in QUIET - NEEDS_GITHUB
    ]
    return plain + kept


def run_cell(new_world, tmp_path, server, event: str, token: str, fault: str) -> Cell:
    canary, state = tmp_path / "canary", None
    if event in FORKS or event.startswith("schedule"):
        world, state = moody_world(new_world, tmp_path, good=5)
        plant = f'\nopen({str(canary)!r}, "w").write("ran")\n'
        change: dict[str, Any] | None = {"rubric.md": "harsh\n", "code/judge.py": JUDGE + plant}
    else:
        world, change = new_world(), None
    if event.startswith("schedule") or event == "merge_group":
        assert world.pushed() == 0
    world.open_pull(change, fork=event in FORKS)
    if event in ("freeze", "freeze by author", "dispatch pr"):
        assert world.check() == 1
    records = len(world.records())
    server.tokens["token-of-the-cell-1"] = TOKENS[token]
    for verb, pattern, what in FAULTS[fault]:
        server.fault(verb, pattern, what)
    server.requests.clear()
    before = len(server.check_runs)
    code = start(world, state, event, "token-of-the-cell-1")
    server.faults.clear()
    conclusions = [run["conclusion"] for run in server.check_runs[before:]]
    return Cell(world, code, canary, conclusions, len(server.bodies(1)), len(world.records()) - records)


@pytest.mark.parametrize(("event", "token", "fault"), cells(), ids=lambda part: part.replace(" ", "-"))
def test_cell(new_world, tmp_path, server, event, token, fault):
    cell = run_cell(new_world, tmp_path, server, event, token, fault)
    log = cell.world.log
    assert cell.code in expected(event, token, fault), log
    assert cell.comments <= 1, server.bodies(1)
    everything = log + json.dumps([server.comments, server.check_runs, server.statuses, server.state.issues])
    assert KEY not in everything
    assert "token-of-the-cell-1" not in everything
    assert not cell.canary.exists()
    if token == "read":
        assert [seen for seen in server.writes() if seen.status < 400] == []
    if event in QUIET:
        assert [seen for seen in server.writes() if seen.status < 400] == []
    assert "a bug of grader-gate" not in log, log
    assert log.strip(), "every run says something"
    states = [s["state"] for listed in server.statuses.values() for s in listed]
    if event not in ("freeze", "dispatch pr"):
        # Each world's change is a real regression: only an accepted one, or none at all, may be green.
        assert "success" not in cell.conclusions
        assert "success" not in states
    if "success" in cell.conclusions or "success" in states:
        assert cell.code == 0
        assert cell.records == 1
    if cell.records:
        assert event in ("freeze", "dispatch pr", "push")


@dataclass(frozen=True)
class After:
    """What a run leaves where nothing stands in its way.

    :ivar check: conclusion of the check it set; None where it sets none.
    """

    code: int
    check: str | None = None
    comments: int = 0
    labels: tuple[str, ...] = ()
    records: int = 0
    issues: int = 0


RED = After(1, "failure", 1)
FROZEN = After(0, "success", 1, records=1)
AFTER = dict.fromkeys(EVENTS, RED) | {
    **dict.fromkeys(QUIET, After(0)),
    "other label": After(0, labels=("documentation",)),
    "head moved": After(1, "failure"),
    "freeze": FROZEN,
    "dispatch pr": FROZEN,
    "freeze by author": After(2, comments=1),
    "target synchronize": After(2),
    "merge_group": After(1, "failure"),
    "push": After(0, records=1),
    "schedule": After(0),
    "schedule drifted": After(1, issues=1),
    "dispatch": After(0),
    "workflow_run": After(0, "failure", 1),
}


@pytest.mark.parametrize("event", EVENTS, ids=lambda part: part.replace(" ", "-"))
def test_what_each_event_leaves(new_world, tmp_path, server, event):
    cell = run_cell(new_world, tmp_path, server, event, "write", "none")
    assert (
        After(
            cell.code,
            cell.conclusions[-1] if cell.conclusions else None,
            cell.comments,
            tuple(cell.world.labels),
            cell.records,
            len(server.state.issues),
        )
        == AFTER[event]
    ), cell.world.log


def expected(event: str, token: str, fault: str) -> set[int]:
    """The exit codes that a cell may end in: its own, and where something stands in the way, those of a refusal."""
    if event in QUIET - NEEDS_GITHUB or event == "target synchronize":
        return {AFTER[event].code}
    return {AFTER[event].code, 2, 3}
