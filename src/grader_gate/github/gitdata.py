"""Add one file to a branch through the API: no clone, no push, never by force, and a lost race is run again.

GitHub signs such a commit for a workflow's token, as long as it names no author of its own.
"""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote

from grader_gate.errors import GateError
from grader_gate.github.client import Client, Json
from grader_gate.github.errors import NotFound, Refused

ROUNDS = 8
"""Tries against other writers of the same branch; each loses at most one round to each of them."""

RACES = (409, 422)
"""What GitHub answers where the branch has moved meanwhile (409 from the database, 422 ``not a fast forward``)."""


class HeadMoved(GateError):
    """The branch is not where the caller saw it."""


class RaceLost(GateError):
    """Others write the branch faster than this run can."""


def branch_tip(client: Client, repository: str, branch: str) -> str | None:
    """The commit a branch points to; None where there is no such branch."""
    try:
        ref = client.get(f"/repos/{repository}/git/ref/heads/{quote(branch)}")
    except NotFound:
        return None
    return str(ref["object"]["sha"])


def add_file(
    client: Client,
    repository: str,
    branch: str,
    path: str,
    content: bytes,
    message: str,
    *,
    expected: str | None = None,
) -> str:
    """Commit one new file on a branch, making the branch where it is missing.

    :param expected: the only commit that the branch may be at; None takes it as it is.
    :returns: the new commit.
    :raises HeadMoved: the branch is elsewhere than expected.
    :raises RaceLost: :data:`ROUNDS` tries were lost.
    :raises GitHubError: GitHub refused or is down.
    """
    api = f"/repos/{repository}/git"
    blob = _made(client, f"{api}/blobs", {"content": b64encode(content).decode(), "encoding": "base64"})
    for attempt in range(ROUNDS):
        tip = branch_tip(client, repository, branch)
        if expected is not None and tip != expected:
            raise HeadMoved(f"branch {branch!r} has moved to {(tip or 'nothing')[:12]}; nothing is written to it")
        tree: Json = {"tree": [{"path": path, "mode": "100644", "type": "blob", "sha": blob}]}
        if tip is not None:
            tree["base_tree"] = client.get(f"/repos/{repository}/commits/{tip}", per_page=1)["commit"]["tree"]["sha"]
        body: Json = {
            "message": message,
            "tree": _made(client, f"{api}/trees", tree),
            "parents": [tip] if tip is not None else [],
        }
        commit = _made(client, f"{api}/commits", body)
        try:
            if tip is None:
                _create_branch(client, api, repository, branch, commit)
            else:
                client.patch(f"{api}/refs/heads/{quote(branch)}", {"sha": commit, "force": False})
            return commit
        except Refused as refused:
            if refused.status not in RACES or _forbidden(str(refused)):
                raise
            client.pause(2.0**attempt, f"branch {branch} has moved meanwhile")
    raise RaceLost(f"branch {branch!r}: {ROUNDS} times another run was faster; run the job again")


def _made(client: Client, path: str, body: Json) -> str:
    # Content-addressed, or unreachable until a branch points to it: to make it twice does no harm.
    return str(client.create(path, body, find=lambda: None)["sha"])


def _create_branch(client: Client, api: str, repository: str, branch: str, commit: str) -> None:
    def find() -> Json | None:
        return {} if branch_tip(client, repository, branch) == commit else None

    client.create(f"{api}/refs", {"ref": f"refs/heads/{branch}", "sha": commit}, find=find)


def _forbidden(message: str) -> bool:
    """A rule of the repository, not a race: trying again changes nothing."""
    return any(word in message.lower() for word in ("protected branch", "rule violation", "repository rule"))
