"""Which two commits are compared, for each kind of event.

On ``pull_request`` the payload's ``base.sha`` is frozen when the event is made and replayed by re-runs. What the merge
would land on is the first parent of the merge commit under test, as that commit itself names it; so the comparison is
right in a clone of depth 1 and in a re-run of last week's event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader_gate.changes.git import Git, UnknownRevision
from grader_gate.errors import GateError, UsageError
from grader_gate.github.event import Event, EventKind


class NoBase(GateError):
    """The commit to compare with cannot be told."""


class NoBaseNamed(UsageError):
    """An event without a base of its own, and no input that names one."""


class RevisionsFixed(UsageError):
    """Inputs would change what a pull request is compared with."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Full SHAs of the two sides.

    :ivar how: how they were found, for the log.
    """

    base: str
    head: str
    how: str


def compared(
    git: Git,
    event: Event,
    *,
    fetch: Callable[[Sequence[str]], object],
    merge_base: Callable[[str, str], str | None],
    base: str = "",
    head: str = "",
) -> Compared:
    """Resolve both sides and make them readable in ``git``.

    :param fetch: brings commits by SHA; see :func:`grader_gate.github.fetch.ensure_commits`.
    :param merge_base: asks GitHub for the common ancestor of a ref and a commit; None where it cannot be asked.
    :param base: the input; only where the event has no base of its own.
    :raises GateError: a side cannot be told or brought.
    """
    if event.kind is EventKind.DISPATCH:
        return _named(git, event, base, head, fetch)
    if base or head:
        raise RevisionsFixed(
            f"inputs `base` and `head` are for workflow_dispatch; a {event.name} event fixes both, remove the inputs"
        )
    if event.kind is EventKind.MERGE_GROUP:
        fetch([event.base_sha, event.head_sha])
        return Compared(event.base_sha, event.head_sha, "base and head of the merge group")
    return _pull_request(git, event, fetch, merge_base)


def _pull_request(
    git: Git,
    event: Event,
    fetch: Callable[[Sequence[str]], object],
    merge_base: Callable[[str, str], str | None],
) -> Compared:
    merge = event.merge_sha
    if not merge:
        raise NoBase("GITHUB_SHA is not set; it names the merge commit to test")
    fetch([merge])
    parents = git.parents(merge)
    if len(parents) == 2 and parents[1] == event.head_sha:
        fetch([parents[0]])
        return Compared(parents[0], merge, "first parent of the tested merge commit")
    if event.kind is EventKind.PULL_REQUEST_TARGET:
        # The policy decides here who may spend the keys. A fork chooses its merge base, and an old one may allow more.
        raise NoBase(
            f"GitHub has no merge of {event.head_sha[:12]} with {event.base_ref!r} to test: resolve the conflict, "
            "or try again in a minute"
        )
    # Not the merge of this head: a stale re-run, or a workflow that moved GITHUB_SHA. Fall back to three dots.
    found = merge_base(event.base_ref, event.head_sha)
    if found is None:
        fetch([event.head_sha, event.base_sha])
        found = git.merge_base(event.base_sha, event.head_sha)
    if found is None:
        raise NoBase(
            f"the tested commit {merge[:12]} is no merge of {event.head_sha[:12]}, and no common ancestor with "
            f"{event.base_ref!r} is known; push to the branch again, or set `fetch-depth: 0` in actions/checkout"
        )
    fetch([found, event.head_sha])
    return Compared(found, event.head_sha, "merge base, for the tested commit is not the merge of this head")


def _named(git: Git, event: Event, base: str, head: str, fetch: Callable[[Sequence[str]], object]) -> Compared:
    if not base:
        raise NoBaseNamed("input `base`: workflow_dispatch has no base of its own; name a branch, tag or commit")
    sides = [_resolve(git, revision, fetch) for revision in (base, head or event.merge_sha or "HEAD")]
    fetch(sides)
    return Compared(sides[0], sides[1], "named by the inputs")


def _resolve(git: Git, revision: str, fetch: Callable[[Sequence[str]], object]) -> str:
    if len(revision) in (40, 64) and all(c in "0123456789abcdef" for c in revision):
        fetch([revision])
    try:
        return git.resolve(revision)
    except UnknownRevision:
        # A checkout has remote branches, and only one local one.
        try:
            return git.resolve(f"refs/remotes/origin/{revision}")
        except UnknownRevision:
            pass
        raise
