from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.changes import tree as trees
from grader_gate.changes.git import Git
from grader_gate.changes.paths import PathOutside, compile_glob, normalise, normalise_glob
from grader_gate.changes.recording import RecordingTree, same_manifest
from grader_gate.changes.tree import (
    FileMissing,
    GitTree,
    LfsPointer,
    MemoryTree,
    SubmoduleRefused,
    SymlinkRefused,
    TooLarge,
)
from grader_gate.changes.worktree import WorkTree
from grader_gate.errors import UsageError
from grader_gate.model import Tree
from tests.changes.repo import Repo

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


def both(repo: Repo, git: Git) -> list[GitTree | WorkTree]:
    return [GitTree(git, git.resolve("HEAD")), WorkTree(git)]


def test_a_commit_is_read_whatever_stands_on_disk(repo: Repo, git: Git) -> None:
    sha = repo.commit({"prompts/judge.md": "Judge.\n", "a.txt": "a"})
    repo.write({"prompts/judge.md": "Changed.\n", "new.txt": "n"})
    (repo.root / "a.txt").unlink()
    tree: Tree = GitTree(git, sha)
    assert tree.label == sha[:10]
    assert tree.read("./prompts//x/../judge.md") == b"Judge.\n"
    assert tree.glob("**") == ["a.txt", "prompts/judge.md"]
    assert not tree.exists("new.txt")
    work = WorkTree(git)
    assert work.label == "WORKTREE"
    assert work.read("prompts/judge.md") == b"Changed.\n"
    assert work.paths() == ["new.txt", "prompts/judge.md"]
    assert (work.exists("a.txt"), work.exists("new.txt")) == (False, True)


def test_ignored_files_are_not_part_of_the_working_tree(repo: Repo, git: Git) -> None:
    repo.commit({".gitignore": "*.log\n/out/\n", "kept.log": "tracked all the same"})
    repo.git("add", "-f", "kept.log")
    repo.commit()
    repo.write({"x.log": "", "out/y": "", "z": ""})
    assert WorkTree(git).paths() == [".gitignore", "kept.log", "z"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a\0b", "../repo/a"])
def test_paths_outside(repo: Repo, git: Git, path: str) -> None:
    repo.commit({"a": "1"})
    for tree in both(repo, git):
        with pytest.raises(PathOutside, match="outside the repository"):
            tree.read(path)
        assert not tree.exists(path)
        assert tree.blob(path) is None
        with pytest.raises(PathOutside):
            tree.glob(path)


def test_missing_files_name_a_near_one(repo: Repo, git: Git) -> None:
    repo.commit({"Prompts/judge.md": "1", "rubric.txt": "2"})
    for tree in both(repo, git):
        for wrong, hint in [
            ("prompts/judge.md", "did you mean Prompts/judge.md"),
            ("judge.md", "did you mean Prompts/judge.md"),
            ("rubrik.txt", "did you mean rubric.txt"),
            ("zzz", "commit the file"),
            ("Prompts", "a folder"),
            (".", "top folder"),
            ("rubric.txt/x", "no such file"),
        ]:
            with pytest.raises(FileMissing, match=hint):
                tree.read(wrong)


def test_symlinks_are_refused(repo: Repo, git: Git, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    repo.write({"real/a.md": "a", "cases/one.yml": "1"})
    (repo.root / "link.md").symlink_to("real/a.md")
    (repo.root / "folder").symlink_to(outside)
    (repo.root / "cases" / "two.yml").symlink_to("../real/a.md")
    repo.commit()
    for tree in both(repo, git):
        for path in ("link.md", "folder", "folder/secret.md"):
            with pytest.raises(SymlinkRefused, match="symbolic link"):
                tree.read(path)
            assert not tree.exists(path)
        with pytest.raises(SymlinkRefused, match=r"cases/two\.yml"):
            tree.glob("cases/*.yml")
        with pytest.raises(SymlinkRefused, match="folder"):
            tree.glob("folder/*.md")
        assert tree.glob("real/*") == ["real/a.md"]
        assert tree.paths() == ["cases/one.yml", "real/a.md"]


def test_a_tracked_folder_replaced_by_a_link_leads_nowhere(repo: Repo, git: Git, tmp_path: Path) -> None:
    repo.commit({"data/deep/a.md": "inside"})
    outside = tmp_path / "outside" / "deep"
    outside.mkdir(parents=True)
    (outside / "a.md").write_text("outside")
    (repo.root / "data" / "deep" / "a.md").unlink()
    (repo.root / "data" / "deep").rmdir()
    (repo.root / "data").rmdir()
    (repo.root / "data").symlink_to(outside.parent)
    with pytest.raises(SymlinkRefused):
        WorkTree(git).read("data/deep/a.md")
    assert WorkTree(git).paths() == []


def test_a_file_swapped_for_a_link_after_the_listing(repo: Repo, git: Git, tmp_path: Path) -> None:
    repo.commit({"a.md": "inside"})
    (tmp_path / "secret").write_text("secret")
    work = WorkTree(git)
    assert work.paths() == ["a.md"]
    (repo.root / "a.md").unlink()
    (repo.root / "a.md").symlink_to(tmp_path / "secret")
    with pytest.raises(FileMissing, match="cannot be read"):
        work.read("a.md")


def test_submodules_are_refused(repo: Repo, git: Git, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.commit({"lib.py": "x"})
    repo.commit({"a": "1"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"file://{inner.root}", "sub")
    repo.commit()
    for tree in both(repo, git):
        for path in ("sub", "sub/lib.py"):
            with pytest.raises(SubmoduleRefused, match="submodule"):
                tree.read(path)
        with pytest.raises(SubmoduleRefused):
            tree.glob("sub/**/*.py")
        assert tree.glob("**/*.py") == []
        assert tree.paths() == [".gitmodules", "a"]


def test_lfs_pointers_and_huge_files(repo: Repo, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"cases.jsonl": POINTER, "about-lfs.md": b"About: " + POINTER, "big": b"x" * 2048})
    for tree in both(repo, git):
        with pytest.raises(LfsPointer, match="Git LFS"):
            tree.read("cases.jsonl")
        assert tree.read("about-lfs.md").startswith(b"About")
    monkeypatch.setattr(trees, "MAX_FILE", 2047)
    with pytest.raises(TooLarge, match="big: larger than"):
        GitTree(git, git.resolve("HEAD")).read("big")


def test_odd_names(repo: Repo, git: Git) -> None:
    names = ["fälle/größe ß.yml", "two words.yml", "new\nline.yml", 'quo"te.yml', "tab\tx.yml", "*star.yml", "[a].yml"]
    repo.commit({unicodedata.normalize("NFC", name): name for name in names})
    for tree in both(repo, git):
        for name in names:
            assert tree.read(name).decode() == name
        assert tree.glob("**/*.yml") == sorted(names)
        assert tree.glob("[a].yml") == ["[a].yml"]
        assert tree.glob("*star.yml") == ["*star.yml"]
        assert tree.glob("f*/gr*.yml") == tree.glob("fälle/*") == ["fälle/größe ß.yml"]


def test_the_other_unicode_form_finds_a_file_only_if_it_is_unique(repo: Repo, git: Git) -> None:
    nfd, nfc = (unicodedata.normalize(form, "é/ü.md") for form in ("NFD", "NFC"))
    repo.commit({nfd: "decomposed"})
    for tree in both(repo, git):
        assert tree.read(nfc) == b"decomposed"
        assert tree.glob(unicodedata.normalize("NFC", "é/*.md")) == [nfd]
        assert tree.blob(nfc) == tree.blob(nfd) is not None
    repo.commit({nfc: "composed"})
    for tree in both(repo, git):
        assert tree.read(nfc) == b"composed"
        assert tree.read(nfd) == b"decomposed"
        mixed = unicodedata.normalize("NFC", "é") + "/" + unicodedata.normalize("NFD", "ü.md")
        with pytest.raises(FileMissing, match="Unicode form"):
            tree.read(mixed)


def test_a_name_that_is_no_utf8(repo: Repo, git: Git) -> None:
    oid = repo.git("hash-object", "-w", "--stdin", stdin=b"bytes")
    repo.git("update-index", "-z", "--index-info", stdin=b"100644 " + oid.encode() + b"\tcases/\xff.yml\0")
    repo.git("commit", "-q", "-m", "odd")
    tree = GitTree(git, git.resolve("HEAD"))
    assert tree.glob("cases/*.yml") == ["cases/\\xff.yml"]
    assert tree.read("cases/\\xff.yml") == b"bytes"


def test_line_ends_of_a_checkout_do_not_change_blob_ids(repo: Repo, git: Git) -> None:
    sha = repo.commit({".gitattributes": "*.md text eol=crlf\n", "a.md": "one\ntwo\n", "kept.txt": "a\r\nb\r\n"})
    (repo.root / "a.md").write_bytes(b"one\r\ntwo\r\n")
    commit, work = GitTree(git, sha), WorkTree(git)
    for path in ("a.md", "kept.txt"):
        assert work.blob(path) == commit.blob(path) == repo.git("rev-parse", f"HEAD:{path}")
    (repo.root / "a.md").write_bytes(b"one\r\nthree\r\n")
    assert WorkTree(git).blob("a.md") == repo.git("hash-object", "--path=a.md", "a.md")


def test_three_thousand_files_are_listed_and_read_fast(repo: Repo, git: Git) -> None:
    repo.commit({f"d{n % 50}/f{n}.md": f"text {n}" for n in range(3000)})
    tree = GitTree(git, git.resolve("HEAD"))
    start = time.process_time()
    assert sum(len(tree.read(path)) for path in tree.glob("**/*.md")) == sum(len(f"text {n}") for n in range(3000))
    # Processor time of this process, far above what it takes; a git process per file would need minutes.
    assert time.process_time() - start < 5


def test_memory_tree_is_a_tree_of_git_blobs(repo: Repo, git: Git) -> None:
    files = {"a/b.md": "x\n", "c": b"\0"}
    commit, memory = GitTree(git, repo.commit(dict(files))), MemoryTree(files)
    assert memory.paths() == commit.paths()
    assert [memory.blob(p) for p in memory.paths()] == [commit.blob(p) for p in commit.paths()]
    assert memory.read("./a/b.md") == b"x\n"


# ---------------------------------------------------------------- globs


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.md", ["x.md"]),
        ("./a//*.md", ["a/x.md"]),
        ("**/*.md", ["a/b/x.md", "a/x.md", "x.md"]),
        ("a/**", ["a/.hidden", "a/b/x.md", "a/x.md"]),
        ("a/", ["a/.hidden", "a/b/x.md", "a/x.md"]),
        ("a", []),
        ("a/*", ["a/.hidden", "a/x.md"]),
        ("a/**/x.md", ["a/b/x.md", "a/x.md"]),
        ("**/b/**", ["a/b/x.md"]),
        ("?.md", ["x.md"]),
        ("[w-y].md", ["x.md"]),
        ("[!x].md", []),
        ("X.md", []),
        ("x.md", ["x.md"]),
        ("a**b/*", []),
        ("a/b**/x.md", ["a/b/x.md"]),
        ("[z-a].md", []),
        ("[.md", []),
        ("**", ["a/.hidden", "a/b/x.md", "a/x.md", "x.md"]),
        ("", ["a/.hidden", "a/b/x.md", "a/x.md", "x.md"]),
    ],
)
def test_globs(pattern: str, expected: list[str]) -> None:
    assert MemoryTree({"x.md": "", "a/x.md": "", "a/b/x.md": "", "a/.hidden": ""}).glob(pattern) == expected


_PARTS = st.text(st.sampled_from("ab.-[]^!*?é\n "), min_size=1, max_size=6)


@given(st.lists(_PARTS, min_size=1, max_size=4).map("/".join), st.lists(_PARTS, min_size=1, max_size=4).map("/".join))
def test_a_glob_always_compiles_and_never_crosses_a_folder_with_one_star(path: str, pattern: str) -> None:
    if ".." in pattern.split("/") or ".." in path.split("/"):
        return
    wanted = normalise_glob(pattern)
    if compile_glob(wanted).fullmatch(path) and "**" not in wanted.split("/"):
        assert path.count("/") == wanted.count("/")


@given(st.text(st.sampled_from("ab/."), max_size=12))
def test_a_normalised_path_stays_inside_and_is_stable(path: str) -> None:
    try:
        found = normalise(path)
    except PathOutside:
        assert path.startswith("/") or ".." in path.split("/")
        return
    assert normalise(found) == found
    assert not {"", ".", ".."} & set(found.split("/")) or found == ""


# ---------------------------------------------------------------- records


FILES = st.dictionaries(st.sampled_from(["a.md", "b.md", "d/a.md", "d/e.txt"]), st.sampled_from(["1", "2"]))


@given(FILES, FILES)
def test_the_same_manifest_is_the_same_answers(one: dict[str, str], two: dict[str, str]) -> None:
    """A reader's answers are equal on another tree exactly where the manifest says so."""

    def reader(tree: Tree) -> list[object]:
        found: list[object] = [tree.glob("*.md"), tree.exists("d/e.txt")]
        found += [tree.read(path) for path in tree.glob("*.md")]
        return found

    record = RecordingTree(MemoryTree(one))
    first = reader(record)
    assert same_manifest(record.manifest(), MemoryTree(one))
    if same_manifest(record.manifest(), MemoryTree(two)):
        assert reader(MemoryTree(two)) == first
    unread = {k: v for k, v in one.items() if k != "d/a.md"}
    assert same_manifest(record.manifest(), MemoryTree(unread))


def test_a_failed_read_is_remembered() -> None:
    record = RecordingTree(MemoryTree({"a": "1"}, label="here"))
    assert record.label == "here"
    with pytest.raises(UsageError):
        record.read("b")
    assert record.manifest().blobs == (("b", None),)
    assert not same_manifest(record.manifest(), MemoryTree({"a": "1", "b": ""}))


def test_who_asks_for_everything_depends_on_everything() -> None:
    record = RecordingTree(MemoryTree({"a": "1"}))
    assert record.paths() == ["a"]
    assert same_manifest(record.manifest(), MemoryTree({"a": "1"}))
    assert not same_manifest(record.manifest(), MemoryTree({"a": "2"}))
    assert not same_manifest(record.manifest(), MemoryTree({"a": "1", "b": ""}))


def test_a_glob_that_is_refused_elsewhere_is_no_same_answer(repo: Repo, git: Git) -> None:
    base = repo.commit({"cases/a.yml": "1"})
    (repo.root / "cases" / "b.yml").symlink_to("a.yml")
    head = repo.commit()
    record = RecordingTree(GitTree(git, base))
    record.glob("cases/*.yml")
    assert same_manifest(record.manifest(), GitTree(git, base))
    assert not same_manifest(record.manifest(), GitTree(git, head))
