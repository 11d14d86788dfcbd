"""Terminal, job summary, JUnit and annotations."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader_gate.model import GateVerdict, Location
from grader_gate.report import textdiff
from grader_gate.report.annotations import MAX_ANNOTATIONS, MAX_MESSAGE, MAX_TITLE, annotations
from grader_gate.report.junit import render_junit
from grader_gate.report.summary import render_check, render_summary
from grader_gate.report.terminal import render_terminal
from tests.report import fixtures
from tests.report.strategies import hostile_results

ANSI = re.compile(r"\x1b\[[0-9]+m")
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# ---------------------------------------------------------------- terminal


@pytest.mark.parametrize("name", ["pass", "fail", "error", "not_applicable", "report_mode"])
def test_terminal_golden(name, golden):
    golden(f"terminal-{name}.txt", render_terminal(fixtures.EXAMPLES[name](), width=100, color=False))


def test_colour_changes_nothing_but_colour():
    coloured = render_terminal(fixtures.failing(), width=100, color=True)
    assert "\x1b[31m" in coloured
    assert ANSI.sub("", coloured) == render_terminal(fixtures.failing(), width=100, color=False)


@SLOW
@given(hostile_results())
def test_terminal_holds_no_command_and_no_foreign_escape(result):
    text = render_terminal(result, width=80, color=False)
    assert "\x1b" not in text
    assert "##[" not in text
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
    assert not re.search("[\u202e\u200b\x00\r]", text)


def test_long_sentences_are_wrapped():
    lines = render_terminal(fixtures.failing(), width=70).splitlines()
    assert max(len(line) for line in lines if line.startswith("  - ")) <= 70


def test_terminal_shows_spaces_in_a_difference_as_they_are():
    assert "      + Oslo  is the capital.\n" in render_terminal(fixtures.failing())


def test_terminal_of_an_error_never_looks_green():
    text = render_terminal(fixtures.error())
    assert "✅" not in text
    assert "0 regressions" not in text


def test_terminal_quotes_as_allowed():
    assert "Lima" not in render_terminal(fixtures.failing(quote="none"))
    assert "Second line" not in render_terminal(fixtures.failing(quote="short"))
    assert "Second line" in render_terminal(fixtures.failing(quote="full"))


# ---------------------------------------------------------------- job summary


def test_summary_is_the_comment_without_its_header():
    text = render_summary(fixtures.failing())
    assert text.startswith("## ❌ grader-gate: Fail\n")
    assert "<!--" not in text


def test_summary_tells_more_than_the_comment_and_keeps_its_limit():
    for limit in (900_000, 200_000, 80_000):
        text = render_summary(fixtures.many(), limit)
        assert 40_000 < len(text.encode()) <= limit
        assert text.count("<details>") == text.count("</details>") > 3
    html = MarkdownIt("commonmark").render(render_summary(fixtures.many(), 200_000))
    assert html.count("case-") > 60


def test_check_text_keeps_the_verdict_within_its_limit():
    text = render_check(fixtures.many())
    assert text.startswith("## ❌ grader-gate: Fail\n")
    assert 20_000 < len(text.encode()) <= 65_000
    assert "Compared `b81d5e09c3f7`" in text
    assert render_check(fixtures.passing()) == render_summary(fixtures.passing())


# ---------------------------------------------------------------- JUnit


@pytest.mark.parametrize("name", ["pass", "fail", "error", "not_applicable", "report_mode"])
def test_junit_golden(name, golden):
    golden(f"junit-{name}.xml", render_junit(fixtures.EXAMPLES[name]()))


@SLOW
@given(hostile_results())
def test_junit_is_well_formed_and_its_counts_are_right(result):
    root = ET.fromstring(render_junit(result))
    for element in [root, *root.findall("testsuite")]:
        for key, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            cases = list(element.iter("testcase"))
            assert int(element.get(key)) == sum(tag is None or case.find(tag) is not None for case in cases)
    bad = int(root.get("failures")) + int(root.get("errors"))
    blocks = result.mode == "block" and result.verdict in (GateVerdict.FAIL, GateVerdict.ERROR)
    assert (bad > 0) == blocks


def test_junit_names_file_and_line():
    case = next(c for c in ET.fromstring(render_junit(fixtures.failing())).iter("testcase") if c.get("file"))
    assert (case.get("classname"), case.get("file"), case.get("line")) == ("capitals", "golden/capitals.yml", "41")


# ---------------------------------------------------------------- annotations


def test_annotations_stand_at_the_prompt_the_case_the_ladder_and_the_policy():
    got = [(a.path, a.line, a.level, a.title) for a in annotations(fixtures.failing())]
    assert got == [
        ("graders/judge.md", 12, "failure", "grader-gate: suite capitals, fails after this change"),
        ("golden/capitals.yml", 41, "failure", "grader-gate: regression"),
        ("golden/capitals.yml", 41, "failure", "grader-gate: regression"),
        ("golden/capitals.yml", 41, "failure", "grader-gate: survivor"),
        ("ladders/norway.yml", 7, "failure", "grader-gate: inversion"),
        (".grader-gate.yml", 31, "failure", "grader-gate: goalpost moved, floor lowered"),
    ]


def test_annotations_say_what_broke():
    prompt, regression, *_ = annotations(fixtures.failing())
    assert prompt.message.startswith("Changed: lines 12–14, 20.\n2 confirmed regressions\n")
    assert "expected correct → got incorrect (base: correct) · stricter · confirmed" in regression.message
    assert "Reason: The answer adds a country that was not asked for.\nNext: " in regression.message


def test_in_report_mode_nothing_is_a_failure_and_nothing_is_quoted():
    got = annotations(fixtures.report_mode())
    assert {a.level for a in got} == {"warning"}
    assert not [a for a in got if "Reason:" in a.message]


def test_a_passing_run_annotates_nothing():
    assert annotations(fixtures.passing()) == []
    assert annotations(fixtures.not_applicable()) == []


def test_annotations_are_capped_worst_first():
    got = annotations(fixtures.many())
    assert len(got) == MAX_ANNOTATIONS
    assert {a.level for a in got} == {"failure"}
    assert len(annotations(fixtures.many(), limit=3)) == 3


@SLOW
@given(hostile_results())
def test_annotations_keep_githubs_limits(result):
    for note in annotations(result):
        assert len(note.title) <= MAX_TITLE
        assert "\n" not in note.title
        assert len(note.message) <= MAX_MESSAGE
        assert note.line >= 1
        assert not re.search("[\u202e\u200b\x00\x1b]", note.title + note.message)


def test_a_finding_without_a_line_stands_at_the_first():
    found = fixtures.failing().suites[1].findings[0].model_copy(update={"location": Location(path="a.yml")})
    suite = fixtures.suite(GateVerdict.FAIL, findings=(found,), changes=())
    [note] = annotations(fixtures.failing(suites=(suite,), goalposts=()))
    assert (note.path, note.line) == ("a.yml", 1)


# ---------------------------------------------------------------- text differences

TEXT = st.text(alphabet="ab \n.,", max_size=60)


@given(TEXT, TEXT)
def test_parts_join_to_both_texts(before, after):
    parts = textdiff.parts(before, after)
    assert "".join(p.before for p in parts) == before
    assert "".join(p.after for p in parts) == after
    assert all(p.before == p.after for p in parts if p.kind == "same")
    assert (before == after) == all(p.kind == "same" for p in parts)


@given(TEXT, TEXT)
def test_a_difference_is_never_shown_as_none(before, after):
    lines = textdiff.diff_lines(before, after)
    assert all(line[:2] in ("- ", "+ ", "  ") for line in lines)
    marked = any(line[:2] != "  " for line in lines) or "only line ends differ" in lines[-1]
    assert marked == (before != after)


def test_the_excerpt_keeps_what_changed_and_a_little_beside_it():
    before = "x" * 500 + " ten " + "y" * 500
    left, right = textdiff.excerpt(before, before.replace("ten", "two"), context=10)
    assert left == "…" + "x" * 9 + " ten " + "y" * 9 + "…"
    assert right == left.replace("ten", "two")


def test_long_texts_are_compared_in_time():
    before = " ".join(f"w{i}" for i in range(30_000))
    after = " ".join(f"v{i}" for i in range(30_000))
    assert [p.kind for p in textdiff.parts(before, after)] == ["changed"]
