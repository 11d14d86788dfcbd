"""Examples in the documentation are real: configurations and suites load, code parses, the excerpt is the demo's."""

import ast
import importlib.util
import json
import re

import pytest
import yaml

from grader_gate.changes.tree import MemoryTree
from grader_gate.config import SuiteConfig
from grader_gate.configfile import load_config
from grader_gate.suite.load import load_suite
from tests.docs.markdown import PAGES, ROOT, blocks

ALL = [block for page in PAGES for block in blocks(page)]
MARKED = {"configuration": load_config, "cases": "cases", "ladders": "ladders"}


def marked(*marks):
    found = [block for block in ALL if block.mark in marks]
    return pytest.mark.parametrize("block", found, ids=str)


@marked("configuration")
def test_a_configuration_loads(block):
    assert block.language == "yaml"
    config = load_config(MemoryTree({".grader-gate.yml": block.text}))
    assert set(config.graders) == set(yaml.safe_load(block.text)["graders"])


@marked("cases", "ladders")
def test_cases_and_ladders_load(block):
    suite = load_suite(
        MemoryTree({"file.yaml": block.text}), "main", SuiteConfig(grader="x", **{block.mark: ("file.yaml",)})
    )
    entries = yaml.safe_load(block.text)[block.mark]
    assert [one.id for one in getattr(suite, block.mark)] == [entry["id"] for entry in entries]


def test_a_block_that_looks_like_a_configuration_is_marked():
    whole = [
        b for b in ALL if b.language == "yaml" and all(f"\n{key}:" in f"\n{b.text}" for key in ("graders", "suites"))
    ]
    assert len(whole) >= 8
    assert [str(b) for b in whole if b.mark != "configuration"] == []


@pytest.mark.parametrize(
    "block", [b for b in ALL if b.language in ("yaml", "json", "python") and b.mark != "fragments"], ids=str
)
def test_blocks_parse(block):
    """A block of several pieces out of one file is marked `fragments`."""
    if block.language == "yaml":
        assert yaml.safe_load(block.text) is not None
    elif block.language == "json":
        assert json.loads(block.text)
    else:
        assert ast.parse(block.text).body


@pytest.mark.parametrize("block", [b for b in ALL if b.language == "jinja"], ids=str)
def test_prompts_can_be_rendered(block):
    from grader_gate.graders.prompt_files import MessageSource
    from grader_gate.graders.templates import Prompt

    inputs = ("question", "reference", "answer", "sources")
    prompt = Prompt([MessageSource("user", block.text, "judge.md", "judge.md")], MemoryTree({}), inputs, {})
    values = {"question": "Q?", "reference": None, "answer": "An answer.", "sources": [{"id": "7", "text": "A text."}]}
    (message,) = prompt.render(values, "an item")
    assert "An answer." in message["content"]
    assert "[7] A text." in message["content"]
    assert "None" not in message["content"]


def _maker():
    spec = importlib.util.spec_from_file_location("make_excerpts", ROOT / "docs" / "make_excerpts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_quote_what_the_demo_writes():
    """The figures and the case in the README and in the page on reports are those of `make demo`."""
    maker = _maker()
    comment = maker.comment_of_the_demo()
    for page, count in zip(maker.PAGES, (7, 3), strict=True):
        text, prefix = page.read_text("utf-8"), maker.PAGES[page]
        assert sum(bool(maker.QUOTED.match(line.removeprefix(prefix))) for line in text.splitlines()) == count
        assert maker.refreshed(text, prefix, comment) == text, "run `python docs/make_excerpts.py`"
    report = (ROOT / "docs" / "reading-the-report.md").read_text("utf-8")
    (said,) = re.findall(r"^case damaged-wrong-days: .*$", report, re.MULTILINE)
    assert any(line.startswith(f"- {said} (") for line in comment)


def test_an_old_quotation_is_refreshed():
    page = "> | rungs in order | 1 | 2 | 3 |\n> - case other: kept\nrungs in order"
    fresh = _maker().refreshed(page, "> ", ["| rungs in order | 4 | 5 | 6 |", "- case other: new"])
    assert fresh == "> | rungs in order | 4 | 5 | 6 |\n> - case other: kept\nrungs in order"


def test_times_and_ways_are_in_the_readme():
    readme = (ROOT / "README.md").read_text("utf-8")
    for target in ("demo", "test"):
        assert re.search(rf"^\| `make {target}` \|.*\| [^|]*\d+ (?:s|min)[^|]* \|$", readme, re.MULTILINE)
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
