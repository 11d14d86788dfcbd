"""The reference page is what the program says of itself."""

import importlib.util
import json
import re

import pytest

from grader_gate.schemas import schemas
from tests.docs.markdown import ROOT

SCRIPT = ROOT / "docs" / "make_reference.py"


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("make_reference", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(maker):
    return maker.render()


def test_the_page_is_up_to_date(maker, page):
    assert maker.PAGE.read_text("utf-8") == page, "run `python docs/make_reference.py`"


def test_check_tells_an_old_page_from_a_fresh_one(maker, page, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(maker, "PAGE", tmp_path / "reference.md")
    monkeypatch.setattr("sys.argv", ["make_reference.py", "--check"])
    maker.PAGE.write_text(page + "an old line\n", "utf-8")
    assert maker.main() == 1
    assert "not up to date" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["make_reference.py"])
    assert maker.main() == 0
    assert maker.PAGE.read_text("utf-8") == page
    monkeypatch.setattr("sys.argv", ["make_reference.py", "--check"])
    assert maker.main() == 0


def test_every_key_of_the_configuration_has_a_row(page):
    configuration = page[page.index("\n## Configuration") : page.index("\n## Golden cases")]
    schema = schemas()["config"]
    for name, one in [("", schema), *schema["$defs"].items()]:
        for key in one.get("properties", ()):
            assert f"| `{key}` |" in configuration, f"{name}.{key}"


def test_rows_say_kind_limits_default_and_meaning(page):
    assert "| `--base REV` | What the merge would land on, e.g. origin/main (required) |" in page
    assert "| `concurrency` | whole number (1 or more, at most 1000) | `32` |" in page
    assert "| `kill_rate` | mapping of names to number (0 or more, at most 1) |" in page
    assert "| `question` | `input` | What the answer replies to |" in page
    assert re.search(r"^\| `3` \| error: could not measure or not decide \|$", page, re.MULTILINE)


def test_shared_options_stand_once(page):
    assert page.count("| `--max-calls N` |") == 1
    assert re.search(r"^grader-gate check --base REV .*\[--dry-run\].* \[shared options\]$", page, re.MULTILINE)


def test_equal_definitions_are_linked_not_repeated(page):
    ledger, baseline = page.index("\n### ledger"), page.index("\n### baseline")
    assert "#### Grade\n" in page[ledger:]
    assert page.count("#### Grade\n") == 1
    assert "list of [Grade](#ledger-grade)" in page[baseline:]


def test_a_definition_of_the_same_name_and_other_content_is_not_taken_for_it(maker):
    def schema(kind):
        one = {"properties": {"x": {"type": kind}}, "required": ["x"]}
        return {"properties": {"one": {"$ref": "#/$defs/One"}}, "$defs": {"One": one}}

    written = {}
    first = "\n".join(maker._schema(schema("string"), "first", written))
    other = "\n".join(maker._schema(schema("integer"), "other", written))
    again = "\n".join(maker._schema(schema("string"), "again", written))
    assert "[One](#first-one)" in first
    assert "| `x` | text | required |" in first
    assert "[One](#other-one)" in other
    assert "| `x` | whole number | required |" in other
    assert "[One](#first-one)" in again
    assert "| `x` |" not in again
    assert json.dumps(sorted(written.values())) == '["first-one", "other-one"]'
