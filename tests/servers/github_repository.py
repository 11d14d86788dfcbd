"""What the stand-in knows of labels, issues, permissions, git objects and artifacts; routes of ``github_server``."""

from __future__ import annotations

import subprocess
from base64 import b64decode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.servers import github_objects as objects

if TYPE_CHECKING:
    from tests.servers.github_server import GitHubServer, Token

SERVED_BY_GIT = ("PATH", "HOME")


@dataclass
class RepositoryState:
    """What people and workflows left in the repository, beside pull requests, comments and checks.

    :ivar labels: the repository's labels by name. :ivar events: issue events by number.
    :ivar permissions: ``permission`` by login; missing is ``read`` for a public repository.
    :ivar teams: members by (organisation, slug).
    :ivar signed: commits that GitHub calls verified, with the login of their author.
    """

    labels: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)
    teams: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    issues: list[dict[str, Any]] = field(default_factory=list)
    signed: dict[str, str] = field(default_factory=dict)
    artifacts: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    archives: dict[int, bytes] = field(default_factory=dict)


def git(server: GitHubServer, *args: str, stdin: bytes | None = None) -> str:
    """Run git in the served repository."""
    assert server.git_repo is not None
    who = {f"GIT_{w}_{k}": v for w in ("AUTHOR", "COMMITTER") for k, v in _WHO}
    done = subprocess.run(
        ["git", *args],
        cwd=server.git_repo,
        input=stdin,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **who},
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise Answered(422, done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode().strip()


_WHO = (("NAME", "github-actions[bot]"), ("EMAIL", "bot@example.org"))


class Answered(Exception):
    """A refusal, before it becomes the server's own."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def put_label(server: GitHubServer, number: int, name: str, by: str) -> None:
    """Somebody puts a label on a pull request."""
    pull = server.pulls[number]
    pull["labels"] = [*(x for x in pull["labels"] if x["name"] != name), label(server, name)]
    _event(server, number, "labeled", name, by)


def take_label(server: GitHubServer, number: int, name: str, by: str) -> None:
    """Somebody takes a label off."""
    pull = server.pulls[number]
    pull["labels"] = [x for x in pull["labels"] if x["name"] != name]
    _event(server, number, "unlabeled", name, by)


def _event(server: GitHubServer, number: int, kind: str, name: str, by: str) -> None:
    made = {
        "id": server.next_id(),
        "node_id": "LE_1",
        "url": f"{server.url}/repos/{server.repo}/issues/events/1",
        "actor": objects.user(server.url, by),
        "event": kind,
        "commit_id": None,
        "commit_url": None,
        "created_at": server.time(),
        "label": {"name": name, "color": "ffffff"},
        "performed_via_github_app": None,
    }
    server.state.events.setdefault(number, []).append(made)


def label(server: GitHubServer, name: str, color: str = "ededed", description: str | None = None) -> dict[str, Any]:
    """A label as the API gives it."""
    return {
        "id": 208045946,
        "node_id": "LA_1",
        "url": f"{server.url}/repos/{server.repo}/labels/{name}",
        "name": name,
        "description": description,
        "color": color,
        "default": False,
    }


def _may(server: GitHubServer, token: Token, area: str, need: str) -> None:
    server._may(token, area, need)


# ---------------------------------------------------------------- labels and people


def get_label(server: GitHubServer, token: Token, _q: Any, _b: Any, name: str) -> tuple[int, Any]:
    _may(server, token, "issues", "read")
    found = server.state.labels.get(unquote(name))
    return (200, found) if found else (404, "Not Found")


def create_label(server: GitHubServer, token: Token, _q: Any, body: Any) -> tuple[int, Any]:
    _may(server, token, "issues", "write")
    if body["name"] in server.state.labels:
        return 422, "Validation Failed"
    made = label(server, body["name"], body.get("color", "ededed"), body.get("description"))
    server.state.labels[body["name"]] = made
    return 201, made


def remove_label(server: GitHubServer, token: Token, _q: Any, _b: Any, number: str, name: str) -> tuple[int, Any]:
    _may(server, token, "issues", "write")
    pull = server.pulls[int(number)]
    if unquote(name) not in [x["name"] for x in pull["labels"]]:
        return 404, "Label does not exist"
    take_label(server, int(number), unquote(name), token.login)
    return 200, pull["labels"]


def list_events(
    server: GitHubServer, token: Token, query: dict[str, str], _b: Any, number: str
) -> tuple[int, Any, dict[str, str]]:
    _may(server, token, "issues", "read")
    part, headers = server.page(
        server.state.events.get(int(number), []), query, f"/repos/{server.repo}/issues/{number}/events"
    )
    return 200, part, headers


def get_permission(server: GitHubServer, token: Token, _q: Any, _b: Any, login: str) -> tuple[int, Any]:
    permission = server.state.permissions.get(unquote(login), "read")
    known = {**objects.user(server.url, unquote(login)), "role_name": "a role of the organisation's own"}
    return 200, {"permission": permission, "role_name": "a role of the organisation's own", "user": known}


def get_membership(server: GitHubServer, token: Token, _q: Any, _b: Any, org: str, team: str, who: str) -> Any:
    if unquote(who) not in server.state.teams.get((org, team), set()):
        return 404, "Not Found"
    return 200, {"url": f"{server.url}/organizations/1/team/1/memberships/{who}", "role": "member", "state": "active"}


# ---------------------------------------------------------------- git objects


def get_ref(server: GitHubServer, token: Token, _q: Any, _b: Any, ref: str) -> tuple[int, Any]:
    _may(server, token, "contents", "read")
    try:
        return 200, _ref(server, ref, git(server, "rev-parse", "--verify", "-q", f"refs/{unquote(ref)}"))
    except Answered:
        return 404, "Not Found"


def _ref(server: GitHubServer, ref: str, sha: str) -> dict[str, Any]:
    api = f"{server.url}/repos/{server.repo}/git"
    return {
        "ref": f"refs/{ref}",
        "node_id": "REF_1",
        "url": f"{api}/refs/{ref}",
        "object": {"type": "commit", "sha": sha, "url": f"{api}/commits/{sha}"},
    }


def create_ref(server: GitHubServer, token: Token, _q: Any, body: Any) -> tuple[int, Any]:
    _may(server, token, "contents", "write")
    name = body["ref"].removeprefix("refs/")
    if git(server, "for-each-ref", body["ref"]):
        return 422, "Reference already exists"
    git(server, "update-ref", body["ref"], body["sha"], "0" * 40)
    return 201, _ref(server, name, body["sha"])


def update_ref(server: GitHubServer, token: Token, _q: Any, body: Any, ref: str) -> tuple[int, Any]:
    _may(server, token, "contents", "write")
    before = git(server, "rev-parse", "--verify", "-q", f"refs/{ref}")
    if not body.get("force") and git(server, "merge-base", before, body["sha"]) != before:
        return 422, "Update is not a fast forward"
    git(server, "update-ref", f"refs/{ref}", body["sha"], before)
    for pull in server.pulls.values():
        if ref == f"heads/{pull['head']['ref']}":
            pull["head"]["sha"] = body["sha"]
    return 200, _ref(server, ref, body["sha"])


def create_blob(server: GitHubServer, token: Token, _q: Any, body: Any) -> tuple[int, Any]:
    _may(server, token, "contents", "write")
    content = b64decode(body["content"]) if body.get("encoding") == "base64" else body["content"].encode()
    sha = git(server, "hash-object", "-w", "--stdin", stdin=content)
    return 201, {"url": f"{server.url}/repos/{server.repo}/git/blobs/{sha}", "sha": sha}


def create_tree(server: GitHubServer, token: Token, _q: Any, body: Any) -> tuple[int, Any]:
    _may(server, token, "contents", "write")
    index = {"GIT_INDEX_FILE": str(server.git_repo / f".git/index-{server.next_id()}")}  # type: ignore[operator]
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nonexistent", **index}

    def run(*args: str) -> str:
        done = subprocess.run(["git", *args], cwd=server.git_repo, env=env, capture_output=True, check=True)
        return done.stdout.decode().strip()

    run("read-tree", *([body["base_tree"]] if body.get("base_tree") else ["--empty"]))
    for entry in body["tree"]:
        run("update-index", "--add", "--cacheinfo", f"{entry['mode']},{entry['sha']},{entry['path']}")
    sha = run("write-tree")
    return 201, {"sha": sha, "url": f"{server.url}/repos/{server.repo}/git/trees/{sha}", "truncated": False, "tree": []}


def create_commit(server: GitHubServer, token: Token, _q: Any, body: Any) -> tuple[int, Any]:
    _may(server, token, "contents", "write")
    parents = [part for parent in body.get("parents", []) for part in ("-p", parent)]
    sha = git(server, "commit-tree", body["tree"], *parents, "-m", body["message"])
    if token.app and "author" not in body and "committer" not in body:
        server.state.signed[sha] = token.login
    api = f"{server.url}/repos/{server.repo}/git"
    who = {"name": "a", "email": "a@example.org", "date": objects.STAMP}
    return 201, {
        "sha": sha,
        "node_id": "C_1",
        "url": f"{api}/commits/{sha}",
        "html_url": f"{server.url}/{server.repo}/commit/{sha}",
        "author": who,
        "committer": who,
        "message": body["message"],
        "tree": {"sha": body["tree"], "url": f"{api}/trees/{body['tree']}"},
        "parents": [
            {"sha": p, "url": f"{api}/commits/{p}", "html_url": f"{server.url}/{server.repo}/commit/{p}"}
            for p in body.get("parents", [])
        ],
        "verification": {
            "verified": sha in server.state.signed,
            "reason": "valid" if sha in server.state.signed else "unsigned",
            "payload": None,
            "signature": None,
            "verified_at": None,
        },
    }


def _commit(server: GitHubServer, sha: str, *, files: bool = False) -> dict[str, Any]:
    made = objects.commit(server.url, server.repo, sha)
    signer = server.state.signed.get(sha)
    made["commit"]["tree"]["sha"] = git(server, "rev-parse", f"{sha}^{{tree}}")
    made["commit"]["verification"]["verified"] = signer is not None
    made["author"] = objects.user(server.url, signer or "octocat")
    if files:
        lines = git(server, "diff-tree", "-r", "--root", "--no-commit-id", "--name-status", sha).splitlines()
        kinds = {"A": "added", "M": "modified", "D": "removed"}
        made["files"] = [
            {
                "sha": sha,
                "filename": name,
                "status": kinds[kind],
                "additions": 0,
                "deletions": 0,
                "changes": 0,
                "blob_url": made["url"],
                "raw_url": made["url"],
                "contents_url": made["url"],
            }
            for kind, _, name in (line.partition("\t") for line in lines)
        ]
    return made


def list_commits(server: GitHubServer, token: Token, query: dict[str, str], _b: Any) -> tuple[int, Any, dict[str, str]]:
    _may(server, token, "contents", "read")
    paths = ["--", query["path"]] if "path" in query else []
    shas = git(server, "rev-list", query["sha"], *paths).splitlines()
    part, headers = server.page(shas, query, f"/repos/{server.repo}/commits")
    return 200, [_commit(server, sha) for sha in part], headers


def get_commit(server: GitHubServer, token: Token, _q: Any, _b: Any, sha: str) -> tuple[int, Any]:
    _may(server, token, "contents", "read")
    return 200, _commit(server, sha, files=True)


# ---------------------------------------------------------------- pulls, issues, artifacts


def list_pulls(server: GitHubServer, token: Token, query: dict[str, str], _b: Any) -> tuple[int, Any, dict[str, str]]:
    _may(server, token, "pull_requests", "read")
    found = [p for p in server.pulls.values() if query.get("state", "open") in (p["state"], "all")]
    if "head" in query:
        found = [p for p in found if f"{(p['head']['user'] or {}).get('login')}:{p['head']['ref']}" == query["head"]]
    part, headers = server.page(found, query, f"/repos/{server.repo}/pulls")
    simple = [{**p, "assignees": [], "requested_reviewers": [], "requested_teams": []} for p in part]
    return 200, simple, headers


def list_issues(server: GitHubServer, token: Token, query: dict[str, str], _b: Any) -> tuple[int, Any, dict[str, str]]:
    _may(server, token, "issues", "read")
    wanted = set(query.get("labels", "").split(",")) - {""}
    found = [
        issue
        for issue in server.state.issues
        if query.get("state", "open") in (issue["state"], "all") and wanted <= {x["name"] for x in issue["labels"]}
    ]
    part, headers = server.page(found, query, f"/repos/{server.repo}/issues")
    return 200, part, headers


def create_issue(server: GitHubServer, token: Token, _q: Any, body: Any) -> tuple[int, Any]:
    _may(server, token, "issues", "write")
    made = objects.issue(
        server.url, server.repo, len(server.state.issues) + 500, body["title"], body["body"], token.login, server.time()
    )
    made["labels"] = [server.state.labels.get(name) or label(server, name) for name in body.get("labels", [])]
    server.state.issues.append(made)
    return 201, made


def update_issue(server: GitHubServer, token: Token, _q: Any, body: Any, number: str) -> tuple[int, Any]:
    _may(server, token, "issues", "write")
    found = next((i for i in server.state.issues if i["number"] == int(number)), None)
    if found is None:
        return 404, "Not Found"
    found.update({key: body[key] for key in ("title", "body", "state", "state_reason") if key in body})
    return 200, found


def list_artifacts(
    server: GitHubServer, token: Token, query: dict[str, str], _b: Any, run: str
) -> tuple[int, Any, dict[str, str]]:
    _may(server, token, "actions", "read")
    found = server.state.artifacts.get(int(run), [])
    found = [a for a in found if query.get("name", a["name"]) == a["name"]]
    part, headers = server.page(found, query, f"/repos/{server.repo}/actions/runs/{run}/artifacts")
    return 200, {"total_count": len(found), "artifacts": part}, headers


def add_artifact(server: GitHubServer, run: int, name: str, archive: bytes, *, expired: bool = False) -> None:
    """A workflow run left an artifact."""
    number = server.next_id()
    api = f"{server.url}/repos/{server.repo}/actions/artifacts/{number}"
    server.state.archives[number] = archive
    server.state.artifacts.setdefault(run, []).append(
        {
            "id": number,
            "node_id": "A_1",
            "name": name,
            "size_in_bytes": len(archive),
            "url": api,
            "archive_download_url": f"{api}/zip",
            "expired": expired,
            "created_at": objects.STAMP,
            "expires_at": objects.STAMP,
            "updated_at": objects.STAMP,
        }
    )


def get_archive(server: GitHubServer, token: Token, _q: Any, _b: Any, number: str) -> tuple[int, Any, dict[str, str]]:
    _may(server, token, "actions", "read")
    if int(number) not in server.state.archives:
        return 410, "Gone", {}
    return 302, None, {"Location": f"{server.url}/storage/{number}"}


ROUTES = {
    r"GET REPO/labels/([^/]+)": get_label,
    r"POST REPO/labels": create_label,
    r"DELETE REPO/issues/(\d+)/labels/([^/]+)": remove_label,
    r"GET REPO/issues/(\d+)/events": list_events,
    r"GET REPO/collaborators/([^/]+)/permission": get_permission,
    r"GET /orgs/([^/]+)/teams/([^/]+)/memberships/([^/]+)": get_membership,
    r"GET REPO/git/ref/(.+)": get_ref,
    r"POST REPO/git/refs": create_ref,
    r"PATCH REPO/git/refs/(.+)": update_ref,
    r"POST REPO/git/blobs": create_blob,
    r"POST REPO/git/trees": create_tree,
    r"POST REPO/git/commits": create_commit,
    r"GET REPO/commits": list_commits,
    r"GET REPO/commits/([0-9a-f]{40})": get_commit,
    r"GET REPO/pulls": list_pulls,
    r"GET REPO/issues": list_issues,
    r"POST REPO/issues": create_issue,
    r"PATCH REPO/issues/(\d+)": update_issue,
    r"GET REPO/actions/runs/(\d+)/artifacts": list_artifacts,
    r"GET REPO/actions/artifacts/(\d+)/zip": get_archive,
}
