"""Cut the part of GitHub's OpenAPI description that the tests validate against.

Run by hand when an endpoint joins or the description is renewed::

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    python tests/openapi/make_slice.py package/generated/api.github.com.json

Prose and examples are dropped; every schema that is used is kept whole. The source is MIT licensed, see NOTICE.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

REPO = "/repos/{owner}/{repo}"
OPERATIONS = {
    f"{REPO}/issues/{{issue_number}}/comments": ("get", "post"),
    f"{REPO}/issues/comments/{{comment_id}}": ("get", "patch", "delete"),
    f"{REPO}/check-runs": ("post",),
    f"{REPO}/check-runs/{{check_run_id}}": ("get", "patch"),
    f"{REPO}/commits/{{ref}}/check-runs": ("get",),
    f"{REPO}/commits/{{ref}}/statuses": ("get",),
    f"{REPO}/statuses/{{sha}}": ("post",),
    f"{REPO}/pulls/{{pull_number}}": ("get",),
    f"{REPO}/compare/{{basehead}}": ("get",),
    f"{REPO}/git/ref/{{ref}}": ("get",),
    f"{REPO}/git/refs": ("post",),
    f"{REPO}/git/refs/{{ref}}": ("patch",),
    f"{REPO}/git/blobs": ("post",),
    f"{REPO}/git/trees": ("post",),
    f"{REPO}/git/commits": ("post",),
    f"{REPO}/commits": ("get",),
    f"{REPO}/commits/{{ref}}": ("get",),
    f"{REPO}/labels": ("post",),
    f"{REPO}/labels/{{name}}": ("get",),
    f"{REPO}/issues/{{issue_number}}/labels/{{name}}": ("delete",),
    f"{REPO}/issues/{{issue_number}}/events": ("get",),
    f"{REPO}/issues": ("get", "post"),
    f"{REPO}/issues/{{issue_number}}": ("patch",),
    f"{REPO}/collaborators/{{username}}/permission": ("get",),
    f"{REPO}/pulls": ("get",),
    f"{REPO}/actions/runs/{{run_id}}/artifacts": ("get",),
    f"{REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}": ("get",),
    "/orgs/{org}/teams/{team_slug}/memberships/{username}": ("get",),
}
PROSE = {"description", "summary", "example", "examples", "externalDocs", "tags", "operationId", "title"}
TARGET = Path(__file__).with_name("github_slice.json")


def without_prose(node: Any, *, names_are_data: bool = False) -> Any:
    """``node`` without what only people read. Keys below ``properties`` are names of fields, never prose."""
    if isinstance(node, list):
        return [without_prose(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_prose(child, names_are_data=key in {"properties", "schemas", "parameters", "responses"})
        for key, child in node.items()
        if names_are_data or (key not in PROSE and not key.startswith("x-"))
    }


def references(node: Any) -> set[str]:
    """Every ``#/components/…`` that ``node`` points to."""
    if isinstance(node, list):
        return set().union(*map(references, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own.union(*map(references, node.values()))


def cut(document: dict[str, Any]) -> dict[str, Any]:
    """The slice of ``document``: :data:`OPERATIONS` and all they refer to."""
    paths = {
        path: {verb: without_prose(document["paths"][path][verb]) for verb in verbs}
        for path, verbs in OPERATIONS.items()
    }
    components: dict[str, dict[str, Any]] = {}
    queue, seen = sorted(references(paths)), set()
    while queue:
        reference = queue.pop()
        if reference in seen:
            continue
        seen.add(reference)
        _, _, group, name = reference.split("/")
        part = without_prose(document["components"][group][name])
        components.setdefault(group, {})[name] = part
        queue.extend(references(part))
    return {
        "openapi": document["openapi"],
        "info": {"title": document["info"]["title"], "version": document["info"]["version"], "license": "MIT"},
        "paths": paths,
        "components": {group: dict(sorted(parts.items())) for group, parts in sorted(components.items())},
    }


if __name__ == "__main__":
    sliced = cut(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    TARGET.write_text(json.dumps(sliced, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")
