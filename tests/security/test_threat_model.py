"""The threat model names tests; each of them exists, and each test of this folder is part of it."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "security.md"
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE.read_text("utf-8"))))


def functions(path):
    tree = ast.parse(path.read_text("utf-8"))
    return {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[name for _, name in NAMED])
def test_it_exists(path, name):
    assert name in functions(TESTS / path)


def test_the_page_names_many():
    assert len(NAMED) >= 50


def test_every_row_of_a_boundary_names_one():
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ") and line.count("|") == 4]
    told = [line for line in rows if not line.startswith(("| what could", "| who", "|---"))]
    assert len(told) >= 30
    assert [line for line in told if "::test_" not in line] == []


def test_every_file_of_this_folder_is_named():
    files = {f"security/{path.name}" for path in Path(__file__).parent.glob("test_*.py")} - {
        f"security/{Path(__file__).name}"
    }
    assert files <= {path for path, _ in NAMED}
