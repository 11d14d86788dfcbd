"""Who may do what a label asks for: users, teams and permission as the base branch's policy names them.

The permission endpoint is asked. ``role_name`` may be a role of the organisation's own invention, and
``author_association`` is no permission; neither is read.
"""

from __future__ import annotations

from urllib.parse import quote

from grader_gate.config import FreezeBy
from grader_gate.github.client import Client
from grader_gate.github.errors import NotFound, ReadOnlyToken

RANKS = {"none": 0, "read": 1, "write": 2, "admin": 3}
"""GitHub's four answers, weakest first; ``maintain`` is told as write, ``triage`` as read (REST API, collaborators)."""


def permission_of(client: Client, repository: str, login: str) -> str:
    """``admin``, ``write``, ``read`` or ``none``; a login that GitHub does not know has none."""
    try:
        answer = client.get_document(f"/repos/{repository}/collaborators/{quote(login, safe='')}/permission")
    except NotFound:
        return "none"
    said = answer.get("permission")
    return said if isinstance(said, str) and said in RANKS else "none"


def why_not(client: Client, repository: str, login: str, author: str, rule: FreezeBy) -> str | None:
    """Why this person may not, in words; None where they may.

    Named users and members of named teams need no further permission: the base branch's policy trusts them by name.

    :param author: who opened the pull request.
    :raises GitHubError: it could not be asked; then nobody may.
    """
    if not login:
        return "nobody is known to have asked for it"
    if rule.not_author and login.lower() == author.lower():
        return f"{login} opened this pull request, and the policy asks for somebody else (policy.freeze.not_author)"
    if login.lower() in {user.lower() for user in rule.users}:
        return None
    unread = ""
    for team in rule.teams:
        try:
            if _in_team(client, repository.partition("/")[0], team, login):
                return None
        except ReadOnlyToken:
            unread = f", and this token may not read the members of {team}: see docs/freezing.md"
    if (rule.users or rule.teams) and "permission" not in rule.model_fields_set:
        return f"{login} is none of the users and teams that policy.freeze names{unread}"
    held = permission_of(client, repository, login)
    if RANKS[held] >= RANKS[rule.permission]:
        return None
    return f"{login} has {held} permission, and policy.freeze.permission asks for {rule.permission}{unread}"


def _in_team(client: Client, owner: str, team: str, login: str) -> bool:
    org, _, slug = team.removeprefix("@").rpartition("/")
    path = f"/orgs/{quote(org or owner, safe='')}/teams/{quote(slug, safe='')}/memberships/{quote(login, safe='')}"
    try:
        return client.get(path).get("state") == "active"
    except NotFound:
        return False
