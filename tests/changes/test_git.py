from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from grader_gate.changes.diff import changed_files, changed_lines
from grader_gate.changes.git import Git, GitError, GitMissing, NotARepository, ObjectMissing, UnknownRevision, printable
from grader_gate.changes.tree import GitTree
from grader_gate.changes.worktree import WorkTree
from grader_gate.errors import ExitCode
from tests.changes.repo import ENV, Repo


@pytest.fixture
def merged(repo: Repo) -> tuple[Repo, str, str, str]:
    """A repository whose main is a merge commit: (repo, first parent, second parent, merge)."""
    repo.commit({"prompt.md": "one\n", "other.md": "x\n"})
    repo.git("checkout", "-q", "-b", "topic")
    topic = repo.commit({"prompt.md": "two\n"})
    repo.git("checkout", "-q", "main")
    base = repo.commit({"other.md": "y\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    return repo, base, topic, repo.git("rev-parse", "HEAD")


def test_a_revision_becomes_a_full_sha(repo: Repo, git: Git) -> None:
    sha = repo.commit({"a": "1"})
    repo.git("tag", "-a", "v1", "-m", "annotated")
    assert git.resolve("HEAD") == git.resolve("main") == git.resolve("v1") == git.resolve(sha[:12]) == sha


@pytest.mark.parametrize(
    "revision", ["--output=canary", "-h", "", "  ", "a\nb", "HEAD\0", "--upload-pack=touch canary"]
)
def test_an_option_is_never_a_revision(repo: Repo, git: Git, revision: str) -> None:
    repo.commit({"a": "1"})
    with pytest.raises(UnknownRevision, match="not a revision") as caught:
        git.resolve(revision)
    assert caught.value.exit_code is ExitCode.USAGE
    assert "\n" not in str(caught.value)
    assert not (repo.root / "canary").exists()


@pytest.mark.parametrize("revision", ["nope", "f" * 40, "HEAD:a", "HEAD..HEAD", "HEAD^1", "@{u}"])
def test_an_unknown_revision_says_how_to_mend(repo: Repo, git: Git, revision: str) -> None:
    repo.commit({"a": "1"})
    with pytest.raises(UnknownRevision, match="git fetch origin"):
        git.resolve(revision)


def test_parents_are_read_at_depth_1(merged: tuple[Repo, str, str, str], tmp_path: Path) -> None:
    repo, base, topic, merge = merged
    with Git(repo.clone(tmp_path / "one", depth=1), env=ENV) as git:
        assert git.is_shallow
        assert git.resolve("HEAD") == merge
        assert git.parents(merge) == (base, topic)
        assert not git.has_commit(base)
        assert git.has_commit(merge)
        with pytest.raises(UnknownRevision, match="fetch-depth: 2"):
            git.resolve("HEAD^1")
        with pytest.raises(UnknownRevision, match="shallow"):
            git.resolve(base)
        with pytest.raises(GitError, match="ls-tree failed"):
            GitTree(git, base).paths()


def test_depth_2_holds_both_parents(merged: tuple[Repo, str, str, str], tmp_path: Path) -> None:
    repo, base, topic, merge = merged
    with Git(repo.clone(tmp_path / "two", depth=2), env=ENV) as git:
        assert git.resolve("HEAD^1") == base
        assert GitTree(git, base).read("prompt.md") == b"one\n"
        assert GitTree(git, merge).read("prompt.md") == b"two\n"
        assert git.merge_base(base, topic) is None  # both parents are cut off there


def test_merge_base_of_a_full_clone(merged: tuple[Repo, str, str, str]) -> None:
    repo, base, topic, _ = merged
    with Git(repo.root, env=ENV) as git:
        assert git.merge_base(base, topic) == repo.git("rev-parse", "main~2")
        assert not git.is_shallow
        assert git.object_format == "sha1"


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NotARepository, match="top folder") as caught:
        Git(tmp_path, env=ENV)
    assert caught.value.exit_code is ExitCode.USAGE
    with pytest.raises(NotARepository):
        Git.find(tmp_path / "deep" / "er", env=ENV)


def test_a_damaged_repository_is_not_blamed_on_the_revision(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(GitError, match="rev-parse failed"), Git(tmp_path, env=ENV) as git:
        git.resolve("HEAD")


def test_a_damaged_repository_is_not_replaced_by_one_around_it(repo: Repo) -> None:
    repo.commit({"a": "1"})
    inner = repo.root / "inner"
    (inner / ".git").mkdir(parents=True)
    with pytest.raises(GitError, match="failed"), Git(inner, env=ENV) as git:
        git.resolve("HEAD")


def test_the_repository_is_found_from_below(repo: Repo) -> None:
    repo.commit({"a/b/c": "1"})
    with Git.find(repo.root / "a" / "b", env=ENV) as git:
        assert git.root == repo.root.resolve()


def test_no_git_program(repo: Repo) -> None:
    sha = repo.commit({"a": "1"})
    git = Git(repo.root, env=ENV, program="git-that-is-not-there")
    with pytest.raises(GitMissing, match="install git"):
        git.resolve("HEAD")
    with pytest.raises(GitMissing, match="install git"):
        git.read_object(sha)


def test_objects_and_the_limit(repo: Repo, git: Git) -> None:
    repo.commit({"a": b"0123456789", "empty": b""})
    big, empty = repo.git("rev-parse", "HEAD:a", "HEAD:empty").split()
    assert git.read_object(big, limit=4) == ("blob", b"01234")
    assert git.read_object(big) == ("blob", b"0123456789")
    assert git.read_object(empty) == ("blob", b"")
    with pytest.raises(ObjectMissing, match="not in this clone"):
        git.read_object("0" * 39 + "1")
    with pytest.raises(ObjectMissing, match="not an object id"):
        git.read_object("HEAD\nHEAD")
    assert git.read_object(big, limit=0) == ("blob", b"0")
    git.close()
    assert git.read_object(big) == ("blob", b"0123456789")


def test_a_lost_object_is_missing(repo: Repo, git: Git) -> None:
    sha = repo.commit({"a": "content"})
    oid = repo.git("rev-parse", "HEAD:a")
    (repo.root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(ObjectMissing, match=oid[:12]):
        GitTree(git, sha).read("a")
    assert git.parents(sha) == ()


def test_a_partial_clone_is_not_completed_over_the_network(repo: Repo, tmp_path: Path) -> None:
    sha = repo.commit({"a": "content"})
    repo.git("config", "uploadpack.allowFilter", "true")
    to = tmp_path / "partial"
    repo.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo.root}", str(to))
    with Git(to, env=ENV) as git, pytest.raises(ObjectMissing, match="partial or damaged"):
        GitTree(git, sha).read("a")


def test_a_foreign_owned_workspace(repo: Repo) -> None:
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: only root can give a folder to another user")
    sha = repo.commit({"a": "1"})
    for path in [repo.root, *repo.root.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    with Git(repo.root, env=ENV) as git:
        assert git.resolve("HEAD") == sha
        assert GitTree(git, sha).read("a") == b"1"
        assert WorkTree(git).paths() == ["a"]


def test_a_hostile_configuration_runs_nothing(repo: Repo, tmp_path: Path) -> None:
    """Every key by which a repository's own configuration could start a program names one that leaves a trace."""
    canary = tmp_path / "canary"
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{canary}'\ncat\n")
    program.chmod(0o755)
    first = repo.commit({".gitattributes": "* diff=evil filter=evil text eol=crlf\n", "a": "one\n"})
    second = repo.commit({"a": "two\n"})
    hooks = repo.root / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        (hooks / hook).symlink_to(program)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command",
                "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.sshCommand", "core.editor",
                "credential.helper", "pager.ls-tree", "gpg.program"):  # fmt: skip
        repo.git("config", key, str(program))
    repo.git("config", "core.hooksPath", str(hooks))
    repo.git("config", "core.worktree", str(tmp_path))
    repo.git("config", "protocol.ext.allow", "always")
    repo.git("config", "remote.origin.url", f"ext::{program}")
    repo.git("config", "remote.origin.promisor", "true")
    repo.write({"a": "three\n"})  # from here on `git` in a test would run the program too
    (repo.root / "hooks" / "README").write_text("x")
    canary.unlink(missing_ok=True)  # `git config` itself is the test's doing
    with Git(repo.root, env=ENV) as git:
        base, head, work = GitTree(git, first), GitTree(git, second), WorkTree(git)
        assert git.resolve("HEAD") == second
        assert [f.path for f in changed_files(git, base, head)] == ["a"]
        assert "a" in [f.path for f in changed_files(git, head, work)]
        assert "evil.sh" not in work.entries
        assert changed_lines(base, work, "a") == (1,)
        assert git.merge_base(first, second) == first
        with pytest.raises(ObjectMissing):
            git.read_object("1" * 40)
        with pytest.raises(UnknownRevision):
            git.resolve("1" * 40)
    assert not canary.exists(), canary.read_text()
    repo.git("config", "--unset", "core.worktree")
    subprocess.run(["git", "diff", "HEAD"], cwd=repo.root, env=ENV, capture_output=True, check=False)
    assert canary.exists(), "git as it is would have run them: the test shows something"


def test_the_callers_own_git_variables_do_not_reach_git(repo: Repo, tmp_path: Path) -> None:
    sha = repo.commit({"a": "1"})
    other = Repo(tmp_path / "other")
    other.commit({"b": "2"})
    env = ENV | {"GIT_DIR": str(other.root / ".git"), "GIT_INDEX_FILE": "nowhere", "GITHUB_TOKEN": "ghs_secret"}
    with Git(repo.root, env=env) as git:
        assert git.resolve("HEAD") == sha
        assert "GITHUB_TOKEN" not in git.environment()
        assert git.environment(config=[("http.extraHeader", "x")])["GIT_CONFIG_COUNT"] == "9"


def test_foreign_text_fits_one_line() -> None:
    assert printable("a\nb\x1b[31m\udcff") == "a b [31m\\udcff"
    assert printable("x" * 300) == "x" * 199 + "…"
