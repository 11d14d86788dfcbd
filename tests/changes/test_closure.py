from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.changes.closure import SourceClosure, command_closure, source_digest
from grader_gate.changes.git import Git
from grader_gate.changes.paths import PathOutside
from grader_gate.changes.recording import RecordingTree, same_manifest
from grader_gate.changes.tree import GitTree, MemoryTree, SymlinkRefused
from tests.changes.repo import Repo

PACKAGE: dict[str, str | bytes] = {
    "graders/__init__.py": "",
    "graders/judge.py": "import numpy\nfrom . import helper\nfrom .deep.words import WORDS\nimport shared.units\n",
    "graders/helper.py": "from graders import judge  # a cycle\n",
    "graders/deep/__init__.py": "from .side import x\n",
    "graders/deep/words.py": "WORDS = []\n",
    "graders/deep/side.py": "x = 1\n",
    "graders/unused.py": "import graders.judge\n",
    "shared/units.py": "",  # a namespace package: no __init__
    "README.md": "# read me\n",
    "uv.lock": "numpy 2\n",
}
CLOSURE = (
    "graders/__init__.py",
    "graders/deep/__init__.py",
    "graders/deep/side.py",
    "graders/deep/words.py",
    "graders/helper.py",
    "graders/judge.py",
    "shared/units.py",
)


def closure(files: dict[str, str | bytes], module: str = "judge", path: str = ".", **more: object) -> SourceClosure:
    return source_digest(MemoryTree(files), module, path, **more)  # type: ignore[arg-type]


def test_the_import_closure() -> None:
    found = closure(PACKAGE, "graders.judge")
    assert found.files == CLOSURE
    assert found.unresolved == ()


@pytest.mark.parametrize("file", CLOSURE)
def test_every_file_of_the_closure_is_in_the_digest(file: str) -> None:
    changed = PACKAGE | {file: str(PACKAGE[file]) + "# changed\n"}
    assert closure(changed, "graders.judge").digest != closure(PACKAGE, "graders.judge").digest


@pytest.mark.parametrize("file", ["README.md", "graders/unused.py", "uv.lock", "new.py"])
def test_other_files_are_not(file: str) -> None:
    changed = PACKAGE | {file: "changed = 1\n"}
    assert closure(changed, "graders.judge").digest == closure(PACKAGE, "graders.judge").digest


def test_declared_sources_and_the_lock_are() -> None:
    found = closure(PACKAGE, "graders.judge", sources=["*.md"], lock="uv.lock")
    assert found.files == ("README.md", *CLOSURE, "uv.lock")
    lost = closure(PACKAGE, "graders.judge", lock="poetry.lock")
    assert lost.unresolved == ("lock: poetry.lock is not in the repository",)
    with pytest.raises(PathOutside):
        closure(PACKAGE, "graders.judge", lock="../uv.lock")


def test_line_ends_do_not_count() -> None:
    crlf = {name: str(text).replace("\n", "\r\n") for name, text in PACKAGE.items()}
    assert closure(crlf, "graders.judge").digest == closure(PACKAGE, "graders.judge").digest  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "also"),
    [
        ("if x:\n    import other\n", "other.py"),
        ("def f():\n    try:\n        from other import y\n    except ImportError: pass\n", "other.py"),
        ("import importlib\nm = importlib.import_module('other')\n", "other.py"),
        ("m = __import__('other')\n", "other.py"),
        ("from pkg import *\n", "pkg/b.py"),
        ("from pkg import b\n", "pkg/b.py"),
        ("import pkg.b as c\n", "pkg/b.py"),
        ("import native\n", "native.cpython-311-x86_64-linux-gnu.so"),
        ("from pathlib import Path\nR = (Path(__file__).parent / 'rubric.md').read_text()\n", "src/rubric.md"),
        ("R = open('data/words.txt')\n", "data/words.txt"),
    ],
)
def test_ways_to_depend_on_a_file(code: str, also: str) -> None:
    files: dict[str, str | bytes] = {
        "src/judge.py": code,
        "other.py": "",
        "pkg/__init__.py": "__all__ = ['b']",
        "pkg/b.py": "",
        "native.cpython-311-x86_64-linux-gnu.so": b"\x7fELF\0",
        "src/rubric.md": "r",
        "data/words.txt": "w",
        "unrelated.py": "",
    }
    found = closure(files, "judge", "src")
    assert also in found.files
    assert "unrelated.py" not in found.files
    assert found.unresolved == ()


@pytest.mark.parametrize(
    ("code", "why", "folder"),
    [
        ("def broken(:\n", "cannot be parsed", "src"),
        (b"\xff\xfe", "cannot be parsed", "src"),
        ("x = (" + "(" * 5000, "cannot be parsed", "src"),
        ("import importlib\nimportlib.import_module(name)\n", "computed name", "src"),
        ("import importlib\nimportlib.import_module('.x', __package__)\n", "computed name", "src"),
        ("import runpy\nrunpy.run_path(p)\n", "computed name", "src"),
        ("from .generated import x\n", "imports .generated", "src"),
        ("import sys\nsys.path.insert(0, 'lib')\n", "changes the import path", ""),
        ("from sys import path\n", "changes the import path", ""),
    ],
)
def test_what_cannot_be_determined_widens(code: str | bytes, why: str, folder: str) -> None:
    files: dict[str, str | bytes] = {"src/judge.py": code, "src/a/b.txt": "", "src/c.py": "", "lib/d.py": ""}
    found = closure(files, "judge", "src")
    assert why in found.unresolved[0]
    assert found.files == tuple(sorted(p for p in files if p.startswith(folder)))


def test_a_module_that_is_elsewhere_widens() -> None:
    found = closure({"a/x.py": "import z", "z.py": "", "y.py": ""}, "installed.judge", "a")
    assert found.files == ("a/x.py", "z.py")
    assert "installed.judge" in found.unresolved[0]


def test_a_glob_of_sources_that_matches_nothing_widens() -> None:
    found = closure({"judge.py": "", "z.txt": ""}, sources=["promtps/*.md"])
    assert found.files == ("judge.py", "z.txt")
    assert "promtps" in found.unresolved[0]


def test_a_symlinked_module_is_refused(repo: Repo, git: Git) -> None:
    repo.write({"judge.py": "import linked\n", "real.py": ""})
    (repo.root / "linked.py").symlink_to("real.py")
    with pytest.raises(SymlinkRefused, match=r"linked\.py"):
        source_digest(GitTree(git, repo.commit()), "judge")


def test_a_recorded_closure_notices_a_file_that_would_shadow_another() -> None:
    files: dict[str, str | bytes] = {"src/judge.py": "import words\n", "words.py": ""}
    record = RecordingTree(MemoryTree(files))
    source_digest(record, "judge", "src")
    assert same_manifest(record.manifest(), MemoryTree(files | {"README.md": "new"}))
    assert not same_manifest(record.manifest(), MemoryTree(files | {"src/words.py": ""}))


# ---------------------------------------------------------------- commands

PROGRAMS: dict[str, str | bytes] = {
    "bin/grade.py": "import util\n",
    "bin/util.py": "",
    "bin/run.sh": "#!/bin/sh\npython bin/grade.py\n",
    "cfg/a.json": "{}",
    "pkg/__init__.py": "",
    "pkg/__main__.py": "from . import core\n",
    "pkg/core.py": "",
    "README.md": "",
}
ALL = tuple(sorted(PROGRAMS))


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (["python3", "bin/grade.py", "--config=cfg/a.json"], ("bin/grade.py", "bin/util.py", "cfg/a.json")),
        (["/usr/bin/python3.12", "-m", "pkg"], ("pkg/__init__.py", "pkg/__main__.py", "pkg/core.py")),
        (["bash", "./bin/run.sh"], ("bin/grade.py", "bin/run.sh", "bin/util.py")),
        (["sh", "-c", "cat | python bin/grade.py"], ("bin/grade.py", "bin/util.py")),
        (["installed-grader"], ALL),
        (["installed-grader", "cfg/a.json"], ALL),
        (["python", "-c", "print(1)"], ALL),
        (["python", "-m", "installed"], ALL),
        (["node", "."], ALL),
        (["python", "bin/grade.py", "cfg"], ("bin/grade.py", "bin/util.py", "cfg/a.json")),
    ],
)
def test_commands(command: list[str], files: tuple[str, ...]) -> None:
    assert command_closure(MemoryTree(PROGRAMS), command).files == files


def test_declared_sources_stand_for_what_cannot_be_read() -> None:
    tree = MemoryTree(PROGRAMS)
    assert command_closure(tree, ["bash", "bin/run.sh"], ["pkg/*.py"], "cfg/a.json").files == (
        "bin/run.sh", "cfg/a.json", "pkg/__init__.py", "pkg/__main__.py", "pkg/core.py",
    )  # fmt: skip
    assert command_closure(tree, ["installed"], ["README.md"]).files == ("README.md",)


NAMES = st.sampled_from(["a", "b", "c"])


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=3), min_size=1))
def test_the_closure_is_reachability_whatever_the_cycles(graph: dict[str, list[str]]) -> None:
    files = {f"{name}.py": "".join(f"import {other}\n" for other in others) for name, others in graph.items()}
    start = next(iter(graph))
    reached, queue = set(), [start]
    while queue:
        name = queue.pop()
        if name in graph and name not in reached:
            reached.add(name)
            queue += graph[name]
    assert closure(dict(files), start).files == tuple(sorted(f"{name}.py" for name in reached))
