"""Bringing the commits of a comparison into a shallow clone, by SHA, with the job's token.

The token travels in git's environment only: not on a command line, where every process of the machine reads it, and not
in a file. The address is made from the event, never from the clone's own ``origin``.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from grader_gate.changes.git import Git, GitError
from grader_gate.errors import GateError


class CommitsMissing(GateError):
    """A commit of the comparison is neither in the clone nor to be had."""


def remote_url(server_url: str, repository: str) -> str:
    """Address of a repository on a server: ``https://github.com/owner/name.git``."""
    return f"{server_url.rstrip('/')}/{repository}.git"


def ensure_commits(
    git: Git, shas: Sequence[str], *, url: str, token: str | None, ca_bundle: Path | None = None
) -> list[str]:
    """Make every commit of ``shas``, with its tree and files, readable in this clone.

    :param url: where to fetch from; see :func:`remote_url`.
    :param token: sent as the checkout action does; None fetches without one, enough for a public repository.
    :returns: the commits that were fetched.
    :raises CommitsMissing: a fetch failed, or ended without the commit.
    """
    missing = [sha for sha in dict.fromkeys(shas) if not git.has_commit(sha)]
    if not missing:
        return []
    # Depth 1 in a full clone would cut its history off; without it a shallow clone would fetch all of it.
    depth = ["--depth=1"] if git.is_shallow else []
    try:
        git.run(
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            *depth,
            "--end-of-options",
            url,
            *missing,
            config=credentials(url, token, ca_bundle),
            network=True,
        )
    except GitError as error:
        raise CommitsMissing(
            f"commit {missing[0][:12]} is not in this clone and could not be fetched: {error}; "
            "give the job `contents: read`, or set `fetch-depth: 2` in actions/checkout"
        ) from None
    for sha in missing:
        if not git.has_commit(sha):
            raise CommitsMissing(
                f"commit {sha[:12]} was fetched but is still not readable; set `fetch-depth: 2` in actions/checkout"
            )
    return missing


def credentials(url: str, token: str | None, ca_bundle: Path | None) -> list[tuple[str, str]]:
    """Git settings for one fetch: the token as a header for this address only, and the authorities to trust."""
    settings: list[tuple[str, str]] = [("credential.helper", "")]
    if token and url.startswith(("https://", "http://")):
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        key = f"http.{url}.extraheader"
        # The empty value drops the header that actions/checkout left in the clone: two of them are refused.
        settings += [(key, ""), (key, f"AUTHORIZATION: basic {basic}")]
    settings.append(("http.followRedirects", "false"))
    if ca_bundle is not None:
        settings.append(("http.sslCAInfo", str(ca_bundle)))
    return settings
