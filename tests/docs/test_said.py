"""Lists in the documentation are those of the code: inputs, exit codes, files, kinds, errors, imports."""

import ast
import importlib
import pkgutil
import re

import pytest
import yaml

import grader_gate
from grader_gate.config import Budget, Policy
from grader_gate.errors import ExitCode, GateError, LocatedError, UsageError
from grader_gate.graders.build import KINDS
from grader_gate.graders.checks import TYPES
from grader_gate.report.view import GROUP_TITLES, VERDICT_WORDS
from grader_gate.result import FindingStatus
from grader_gate.suite.importers.registry import FORMATS
from tests.docs.markdown import ROOT

SOURCE = ROOT / "src" / "grader_gate"


def page(name):
    return (ROOT / name).read_text("utf-8")


def section(text, heading):
    """A page from a heading to the next one of its level."""
    level = heading.split(" ")[0]
    start = text.index(f"\n{heading}\n")
    end = re.compile(rf"^#{{1,{len(level)}}} ", re.MULTILINE).search(text, start + len(heading) + 2)
    return text[start : end.start() if end else None]


def first_cells(text):
    """The first cell of every table's rows below its header."""
    found, inside = [], False
    for line in text.splitlines():
        if re.fullmatch(r"\|(?: ?:?-+:? ?\|)+", line):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside:
            found.append(line.split("|")[1].strip())
    return found


def codes(text):
    return set(re.findall(r"`([^`]+)`", text))


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_inputs_and_outputs_of_the_action(kind):
    declared = yaml.safe_load(page("action.yml"))[kind]
    documented = [cell.strip("`") for cell in first_cells(section(page("docs/github.md"), f"## {kind.title()}"))]
    assert documented == list(declared)


def test_exit_codes():
    rows = first_cells(section(page("README.md"), "## Exit codes"))
    assert rows == [str(code.value) for code in ExitCode]


def test_files_of_a_run():
    from grader_gate.flow import outputs
    from tests.report import fixtures

    written = {name for name, _ in outputs._files(fixtures.failing())} | {"ledger.jsonl"}
    assert {cell.strip("`") for cell in first_cells(section(page("README.md"), "## Files it writes"))} == written


def test_grader_kinds_and_checks():
    graders = page("docs/graders.md")
    assert {cell.strip("`") for cell in first_cells(graders)} >= set(KINDS)
    assert {kind for kind in KINDS if f"\n## {kind}\n" in graders} == set(KINDS)
    assert {cell.strip("`") for cell in first_cells(section(graders, "## checks"))} == set(TYPES)


def test_import_formats():
    table = section(page("docs/cases-and-ladders.md"), "## From other tools")
    assert {name for cell in first_cells(table) for name in codes(cell)} == set(FORMATS)


def test_keys_of_the_policy():
    table = section(page("docs/configuration.md"), "## policy")
    assert {name for cell in first_cells(table) for name in codes(cell)} >= set(Policy.model_fields)
    assert set(Budget.model_fields) <= codes(table)


def test_limits_of_files():
    from grader_gate.documents import MAX_ALIASED, MAX_BYTES, MAX_DEPTH
    from grader_gate.suite.entry import MAX_TEXT_BYTES

    table = section(page("docs/cases-and-ladders.md"), "## Limits")
    assert f"| a file | {MAX_BYTES // 10**6} MB |" in table
    assert f"| a text in a file of its own | {MAX_TEXT_BYTES // 10**6} MB |" in table
    assert f"| nesting | {MAX_DEPTH} levels |" in table
    assert f"| what YAML aliases may stand for | {MAX_ALIASED // 10**6} million characters |" in table


def test_words_of_the_report():
    report = page("docs/reading-the-report.md")
    shown = {cell.split(" ", 1)[1] for cell in first_cells(section(report, "## The verdict"))}
    assert shown == {word.split(" (")[0] for word in VERDICT_WORDS.values()}
    statuses = first_cells(section(report, "## What broke"))
    assert set(statuses) == {status.value for status in FindingStatus}
    for title in GROUP_TITLES.values():
        assert title.split(":")[0].lower() in report.lower(), title


# ---------------------------------------------------------------- errors


def _errors():
    for module in pkgutil.walk_packages(grader_gate.__path__, "grader_gate."):
        if not module.name.endswith(("__main__", "python_worker")):
            importlib.import_module(module.name)
    found, waiting = set(), [GateError]
    while waiting:
        for one in waiting.pop().__subclasses__():
            waiting.append(one)
            if one.__module__.startswith("grader_gate.") and not one.__name__.startswith("_"):
                found.add(one)
    return found


def test_every_error_says_how_to_mend_it():
    families = {UsageError, LocatedError, importlib.import_module("grader_gate.github.errors").GitHubError}
    names = {one.__name__ for one in _errors() - families}
    table = section(page("docs/operations.md"), "## Troubleshooting")
    documented = {name for cell in first_cells(table) for name in codes(cell) if re.fullmatch(r"[A-Z]\w+", name)}
    assert documented == names


# ---------------------------------------------------------------- architecture


def _imports():
    """Package or module below grader_gate → those it imports, wherever in its code that stands."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        me = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("grader_gate."):
                found.setdefault(me, set()).add(node.module.split(".")[1])
    return found


def test_who_imports_whom():
    table = section(page("docs/architecture.md"), "## Who may know whom")
    rows = dict(re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| [^|]*\| ([^|]*)\|$", table, re.MULTILINE))
    allowed = {name: codes(words) for cell, words in rows.items() for name in codes(cell)}
    free = {"cli", "commands", "action"}
    allowed["flow"] = set(allowed) - {"github", "flow", "check", "schemas", *free}
    imports = _imports()
    for name, others in imports.items():
        if name not in {*free, "__init__", "__main__"}:
            others = others - {name, "errors"}
            assert name in allowed, f"{name}: add a row"
            assert others <= allowed[name], f"{name} imports {others - allowed[name]}"
