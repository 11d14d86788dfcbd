"""The files of a run: written before anything is published, so that nothing measured is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from grader_gate.result import Result

RESULT_FILE = "result.json"


def make_folder(out: Path) -> None:
    """Make the folder of results. A new one tells git to leave it alone: results are no part of the working tree."""
    if not out.exists():
        out.mkdir(parents=True)
        (out / ".gitignore").write_text("*\n", "utf-8")


def write_reports(result: Result, out: Path) -> None:
    """Write ``result.json`` first, then what is rendered from it: comment, page and JUnit report."""
    make_folder(out)
    for name, text in _files(result):
        replace_file(out / name, text)


def _files(result: Result) -> Iterator[tuple[str, str]]:
    from grader_gate.report.comment import render_comment
    from grader_gate.report.html import render_html
    from grader_gate.report.junit import render_junit

    yield RESULT_FILE, json.dumps(result.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n"
    yield "comment.md", render_comment(result)
    yield "report.html", render_html(result)
    yield "junit.xml", render_junit(result)


def replace_file(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text, "utf-8", errors="backslashreplace", newline="\n")
    os.replace(temporary, path)  # noqa: PTH105
