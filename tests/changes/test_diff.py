from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.changes import diff
from grader_gate.changes.diff import FileChange, changed_files, changed_lines
from grader_gate.changes.git import Git
from grader_gate.changes.tree import GitTree, MemoryTree
from grader_gate.changes.worktree import WorkTree
from tests.changes.repo import Repo

LONG = "".join(f"line {n}\n" for n in range(40))


def test_every_kind_of_change(repo: Repo, git: Git) -> None:
    base = repo.commit({
        "kept.md": "kept\n", "edited.md": "old\n", "gone.md": "gone\n", "moved/judge.md": "judge\n",
        "Case.md": "case\n", "ends.md": "a\nb\n", "long.md": LONG, "empty": "", "ü \n.md": "odd\n",
    })  # fmt: skip
    for name in ("gone.md", "moved/judge.md", "Case.md", "long.md", "empty"):
        (repo.root / name).unlink()
    (repo.root / "link").symlink_to("kept.md")
    head = repo.commit({
        "edited.md": "new\n", "added.md": "added\n", "prompts/judge.md": "judge\n", "other.md": "judge\n",
        "case.md": "case\n", "ends.md": "a\r\nb\r\n", "longer.md": LONG + "one more\n", "nothing": "", "ü \n.md": "o\n",
    })  # fmt: skip
    assert changed_files(git, GitTree(git, base), GitTree(git, head)) == [
        FileChange("added", "added.md"),
        FileChange("renamed", "case.md", "Case.md"),
        FileChange("modified", "edited.md"),
        FileChange("deleted", "empty"),
        FileChange("modified", "ends.md", eol_only=True),
        FileChange("deleted", "gone.md"),
        FileChange("added", "link"),
        FileChange("renamed", "longer.md", "long.md"),
        FileChange("added", "nothing"),
        FileChange("added", "other.md"),
        FileChange("renamed", "prompts/judge.md", "moved/judge.md"),
        FileChange("modified", "ü \n.md"),
    ]


def test_the_same_commit_differs_in_nothing(repo: Repo, git: Git) -> None:
    sha = repo.commit({"a": "1"})
    assert changed_files(git, GitTree(git, sha), GitTree(git, sha)) == []
    assert changed_files(git, GitTree(git, sha), WorkTree(git)) == []


def test_the_working_folder_against_a_commit(repo: Repo, git: Git) -> None:
    sha = repo.commit({"a.md": "1\n2\n", "b.md": "b\n", ".gitignore": "*.log\n", "ends.md": "a\nb\n"})
    (repo.root / "b.md").unlink()
    repo.write({"a.md": "1\nzwei\n", "c.md": "b\n", "x.log": "", "ends.md": "a\r\nb\r\n"})
    base, work = GitTree(git, sha), WorkTree(git)
    assert changed_files(git, base, work) == [FileChange("modified", "a.md"), FileChange("renamed", "c.md", "b.md")]
    assert changed_lines(base, work, "a.md") == (2,)
    assert changed_lines(base, work, "c.md", "b.md") == ()


def test_a_file_replaced_by_a_symlink_is_modified(repo: Repo, git: Git) -> None:
    base = repo.commit({"a": "b", "b": ""})
    (repo.root / "a").unlink()
    (repo.root / "a").symlink_to("b")
    head = repo.commit()
    assert changed_files(git, GitTree(git, base), GitTree(git, head)) == [FileChange("modified", "a")]


def test_a_name_in_the_other_unicode_form_is_a_rename(repo: Repo, git: Git) -> None:
    nfc, nfd = (unicodedata.normalize(form, "ä.md") for form in ("NFC", "NFD"))
    base = repo.commit({nfc: "x\n"})
    (repo.root / nfc).unlink()
    head = repo.commit({nfd: "x\n"})
    assert changed_files(git, GitTree(git, base), GitTree(git, head)) == [FileChange("renamed", nfd, nfc)]


@pytest.mark.parametrize("count", [299, 300, 301, 3001])
def test_no_file_is_lost_in_a_large_change(count: int, repo: Repo, git: Git) -> None:
    base, head = ({f"f{n}.md": f"{side} {n}\n" for n in range(count)} for side in ("old", "new"))
    found = changed_files(git, MemoryTree(base), MemoryTree(head))
    assert [change.path for change in found] == sorted(base)
    assert {change.status for change in found} == {"modified"}


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", (2,)),
        ("a\nb\n", "a\nx\ny\nb\n", (2, 3)),
        ("a\nb\nc\n", "a\nc\n", (2,)),
        ("a\nb\n", "a\n", (1,)),
        ("a\n", "", ()),
        ("a\nb\n", "a\r\nb\r\n", ()),
        ("a\nb", "a\nb\n", ()),
        ("a\nb\nc\nd\ne\n", "x\nb\nc\nd\ny\n", (1, 5)),
        ("a\0", "a\0b", ()),
    ],
)
def test_changed_lines(old: str, new: str, lines: tuple[int, ...]) -> None:
    assert changed_lines(MemoryTree({"f": old}), MemoryTree({"f": new}), "f") == lines


def test_lines_of_files_that_are_on_one_side_only() -> None:
    assert changed_lines(MemoryTree({}), MemoryTree({"f": "a\nb\n"}), "f") == (1, 2)
    assert changed_lines(MemoryTree({"f": "a\n"}), MemoryTree({}), "f") == ()


def test_a_huge_difference_counts_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff, "LINES_LIMIT", 3)
    old, new = "a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\nE\nf\n"
    assert changed_lines(MemoryTree({"f": old}), MemoryTree({"f": new}), "f") == (2, 3, 4, 5)


TEXT = st.lists(st.sampled_from(["a", "b", "c"]), max_size=8)


@given(TEXT, TEXT)
def test_unchanged_lines_are_common_to_both(old: list[str], new: list[str]) -> None:
    """Taking the changed lines out of head leaves lines that stand on base in the same order."""
    lines = changed_lines(MemoryTree({"f": "\n".join(old)}), MemoryTree({"f": "\n".join(new)}), "f")
    assert set(lines) <= set(range(1, len(new) + 1))
    rest = iter(old)
    assert all(any(line == other for other in rest) for n, line in enumerate(new, 1) if n not in lines)
    assert (lines == ()) <= (old == new or not new)
