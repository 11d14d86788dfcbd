"""``init``: look at the repository, then write a configuration, a workflow and a first ladder to edit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from grader_gate.changes.git import Git
from grader_gate.changes.tree import ListedTree
from grader_gate.changes.worktree import WorkTree
from grader_gate.config import DEFAULT_PATH, SuiteConfig
from grader_gate.errors import UsageError
from grader_gate.suite.load import load_suite

_PROMPT = re.compile(r"(judge|grader|grading|rubric|evaluat)[^/]*\.(md|txt|j2|jinja2?|prompt)$", re.IGNORECASE)
_CASES = re.compile(r"(golden|cases?|eval|labell?ed|dataset)[^/]*(/[^/]+)?\.(ya?ml|jsonl?|json)$", re.IGNORECASE)
_FUNCTION = re.compile(r"^(grade|judge|score|evaluate)", re.IGNORECASE)
_MOST_FILES = 400
"""Files of one sort that are looked into; a repository with more is not worth guessing about."""

LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.lock", "requirements.txt")
"""Names of lock files, the strictest first."""

WORKFLOW = ".github/workflows/grader-gate.yml"
LADDER = ".grader-gate/ladders/first.yaml"


class AlreadyThere(UsageError):
    """A file that ``init`` would write exists."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What looks like a grader in this repository.

    :ivar prompt: template of a chat grader.
    :ivar callable: ``module:function`` and its folder.
    :ivar cases: file of golden cases.
    :ivar lock: lock file of the dependencies.
    """

    prompt: str | None
    callable: tuple[str, str] | None
    cases: str | None
    lock: str | None = None


def start(root: Path, *, environ: Mapping[str, str], force: bool) -> Iterator[str]:
    """Write the files and say what was found; nothing is overwritten without ``force``.

    :raises AlreadyThere: a file exists. :raises NotARepository: ``root`` is not in a git repository.
    """
    with Git.find(root, env=environ) as git:
        top = git.root
        seen = look(WorkTree(git))
    written = dict(_files(seen))
    taken = [path for path in written if (top / path).exists()]
    if taken and not force:
        raise AlreadyThere(f"{taken[0]}: exists already; use --force to overwrite, or edit it by hand")
    if seen.prompt:
        yield f"found a prompt that looks like a grader's: {seen.prompt}"
    elif seen.callable:
        yield f"found a function that looks like a grader: {seen.callable[0]} in {seen.callable[1]}"
    else:
        yield "found no grader; wrote an example prompt to start from"
    yield f"found golden cases: {seen.cases}" if seen.cases else "found no golden cases; wrote two examples to replace"
    for path, text in written.items():
        target = top / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="\n")
        yield f"wrote {path}"
    yield "next: edit them, then `grader-gate plan` shows what a run takes and `grader-gate run` grades once"


def look(tree: ListedTree) -> Findings:
    """Guess prompt, callable and cases from names and contents; cases only count if they load."""
    paths = [p for p in tree.paths() if not p.startswith((".github/", ".grader-gate/"))]
    prompt = next((p for p in paths if _PROMPT.search(p) and b"{{" in tree.read(p)), None)
    function = None if prompt else next(_callables(tree, [p for p in paths if p.endswith(".py")][:_MOST_FILES]), None)
    cases = next(_loadable(tree, [p for p in paths if _CASES.search(p)][:_MOST_FILES]), None)
    return Findings(prompt, function, cases, next((name for name in LOCKS if name in paths), None))


def _callables(tree: ListedTree, paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        if "test" in path:
            continue
        try:
            module = ast.parse(tree.read(path))
        except (SyntaxError, ValueError, UsageError):
            continue
        for node in module.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _FUNCTION.match(node.name):
                names = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)}
                if "answer" in names:
                    folder, dotted = _importable(tree, path)
                    yield f"{dotted}:{node.name}", folder


def _importable(tree: ListedTree, path: str) -> tuple[str, str]:
    """The folder to put on the import path and the module's name from there: a package is imported as one."""
    folder, _, file = path.rpartition("/")
    module = file.removesuffix(".py")
    while folder and tree.exists(f"{folder}/__init__.py"):
        folder, _, package = folder.rpartition("/")
        module = f"{package}.{module}"
    return folder or ".", module


def _loadable(tree: ListedTree, paths: list[str]) -> Iterator[str]:
    for path in paths:
        try:
            if load_suite(tree, "main", SuiteConfig(grader="x", cases=(path,))).cases:
                yield path
        except UsageError:
            continue


def _files(seen: Findings) -> Iterator[tuple[str, str]]:
    starter = files("grader_gate.flow") / "starter"

    def text(name: str) -> str:
        return (starter / name).read_text("utf-8")

    providers, grader = "", ""
    if seen.callable is not None:
        grader = f"    kind: python\n    callable: {seen.callable[0]}\n    path: {seen.callable[1]}\n"
        if seen.lock is not None:
            grader += f"    lock: {seen.lock}   # a change of the dependencies grades anew\n"
    else:
        providers = (
            "providers:\n  openai:\n    base_url: https://api.openai.com/v1\n    key_env: OPENAI_API_KEY\n"
            "    # models: [gpt-4o-2024-08-06]   # what a pull request may name; leave out to allow all\n\n"
        )
        grader = (
            "    kind: chat\n    provider: openai\n    model: gpt-4o-2024-08-06\n"
            f"    prompt: {seen.prompt or 'graders/judge.md'}\n    parameters: {{ temperature: 0, max_tokens: 400 }}\n"
        )
        if seen.prompt is None:
            yield "graders/judge.md", text("judge.md")
    if seen.cases is None:
        yield "cases/first.yaml", text("cases.yaml")
    config = text("config.yml")
    for mark, value in (
        ("@PROVIDERS@", providers),
        ("@NAME@", "judge"),
        ("@GRADER@", grader),
        ("@CASES@", seen.cases or "cases/*.yaml"),
    ):
        config = config.replace(mark, value)
    yield DEFAULT_PATH, config
    yield LADDER, text("ladder.yaml")
    # A grader in code finds its dependencies in a job of the team's own.
    yield WORKFLOW, text("workflow.yml" if seen.callable is None else "workflow-pip.yml")
