import re

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt

from grader_gate.model import GateVerdict
from grader_gate.report import comment, view
from grader_gate.report.comment import BYTE_LIMIT, DROP_ORDER, MIN_LIMIT, render_body, render_comment
from grader_gate.report.marker import fields, parse_header
from grader_gate.result import FindingKind, Notice, SuiteResult
from tests.report import fixtures
from tests.report.strategies import hostile_results
from tests.report.test_escape import SECOND_PASS, text_nodes

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
RUN = {"run_id": 4711, "attempt": 1}
ALLOWED_TAGS = {"br", "sub", "details", "summary", "span", "code"}


@pytest.mark.parametrize("name", sorted(fixtures.EXAMPLES))
def test_golden(name, golden):
    golden(f"comment-{name}.md", render_comment(fixtures.EXAMPLES[name](), run=RUN))


@pytest.mark.parametrize("name", sorted(fixtures.EXAMPLES))
def test_same_result_same_bytes(name):
    make = fixtures.EXAMPLES[name]
    assert render_comment(make(), run=RUN) == render_comment(make(), run=RUN)


def test_the_header_is_at_position_0_and_reads_back():
    result = fixtures.failing()
    assert parse_header(render_comment(result, run=RUN)) == fields(result, RUN)


def tags(markdown: str) -> list[str]:
    """Every tag of raw HTML in the rendered comment, in order; code and text hold none."""
    found = []
    for token in PARSER.parse(markdown):
        for part in [token, *(token.children or [])]:
            if part.type in ("html_block", "html_inline"):
                found += re.findall(r"<(/?[a-z]+)[ >]", part.content)
    return found


def assert_well_formed(markdown: str) -> None:
    opened = []
    for tag in tags(markdown):
        assert tag.lstrip("/") in ALLOWED_TAGS, tag
        if tag == "br":
            continue
        if tag.startswith("/"):
            assert opened.pop() == tag[1:]
        else:
            opened.append(tag)
    assert opened == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_results())
def test_hostile_text_stays_text(result):
    markdown = render_comment(result, run=RUN)
    assert parse_header(markdown) == fields(result, RUN)
    body = markdown.split("\n", 1)[1]
    assert "<!-- grader-gate" not in body
    assert_well_formed(body)
    tokens = PARSER.parse(body)
    links = [c for t in tokens for c in t.children or [] if c.type == "link_open"]
    assert all(str(link.attrs["href"]) == result.report_url for link in links)
    assert not [c for t in tokens for c in t.children or [] if c.type in ("image", "em_open", "s_open")]
    for node in text_nodes(tokens):
        assert not SECOND_PASS.search(node), node
    headings = [tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "heading_open"]
    expected = {*view.GROUP_TITLES.values(), "Goalposts moved", "What to do next"}
    assert all("grader-gate:" in h or h in expected for h in headings)


def rows(markdown: str) -> list[int]:
    """Cells of every table row in the rendered comment."""
    out: list[int] = []
    for token in PARSER.parse(markdown):
        if token.type == "tr_open":
            out.append(0)
        elif token.type in ("td_open", "th_open"):
            out[-1] += 1
    return out


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_results(examples=("fail",)))
def test_hostile_text_keeps_the_tables_shape(result):
    assert rows(render_comment(result, limit=1_000_000)) == rows(render_comment(fixtures.failing())) == (
        [4] * 6 + [6] * 5 + [2] * 2
    )  # fmt: skip


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_results(examples=("fail", "many")))
def test_never_longer_than_the_limit(result):
    for limit in (MIN_LIMIT, 60_000):
        text = render_comment(result, run=RUN, limit=limit)
        assert len(text.encode("utf-16-le")) // 2 <= limit
        assert len(text.encode()) <= BYTE_LIMIT
        assert_well_formed(text.split("\n", 1)[1])


def test_two_thousand_findings_keep_verdict_counts_and_footer():
    result = fixtures.many()
    text = render_comment(result, run=RUN)
    assert len(text) <= 60_000
    assert "## ❌ grader-gate: Fail" in text
    assert " · ".join(view.counts(result).words(result.verdict)) in text
    assert "Compared `b81d5e09c3f7`" in text
    assert "more in the full report" in text


def test_sections_give_way_in_order_and_the_comment_says_so():
    result = fixtures.many()
    gone_before: set[str] = set()
    for limit in range(60_000, MIN_LIMIT, -8_000):
        text = render_comment(result, run=RUN, limit=limit)
        found = re.search(r"Left out to fit the size limit \(the full report has them\): (.*)\.", text)
        gone = set(found[1].split("; ")) if found else set()
        assert gone >= gone_before
        gone_before = gone
        for name in gone:
            assert f"<summary>{name}" not in text
    assert "Standing debt" in gone_before


def test_every_section_has_a_place_in_the_drop_order():
    assert set(DROP_ORDER) == set(comment._NAMES)
    assert set(view.GROUP_TITLES) <= set(DROP_ORDER)


def test_a_limit_too_small_is_refused():
    with pytest.raises(ValueError, match="at least 20000"):
        render_comment(fixtures.passing(), limit=MIN_LIMIT - 1)
    with pytest.raises(ValueError, match="at least 60000 bytes"):
        render_body(fixtures.passing(), limit=59_999)


def test_quote_none_quotes_nothing():
    text = render_comment(fixtures.failing(quote="none"))
    for quoted in ("Lima", "10 million", "Bergen is", "Close enough", "not asked for"):
        assert quoted not in text
    assert "A right answer is now rejected" in text


def test_quote_short_gives_the_reasons_first_line_and_full_the_rest():
    assert "Second line" not in render_comment(fixtures.failing(quote="short"))
    assert "Second line" in render_comment(fixtures.failing(quote="full"))


def test_an_error_never_looks_green():
    text = render_comment(fixtures.error())
    assert "✅" not in text
    assert "0 regressions" not in text
    assert "graded 0 of 96" in text
    assert "not measured<br>graded 0 of 48" in text


def test_not_applicable_is_short():
    text = render_comment(fixtures.not_applicable(), run=RUN)
    assert len(text) < 800
    assert "## ➖ grader-gate: Not applicable" in text
    assert "✅" not in text


def test_not_applicable_still_says_what_must_be_known():
    result = fixtures.not_applicable().model_copy(
        update={"notices": (Notice(level="warning", message="Old baseline."),)}
    )
    assert "Old baseline." in render_comment(result)


def test_report_mode_says_that_it_does_not_block():
    assert "Report mode: does not block." in render_comment(fixtures.report_mode())
    assert "Report mode" not in render_comment(fixtures.failing())


def test_regressions_say_expected_got_and_both_sides_once():
    text = render_comment(fixtures.failing())
    assert text.count("8 of 8 on base, 0 of 8 on this pull request") == 1
    assert "expected correct → got incorrect (base: correct) · stricter · confirmed" in text
    assert "upheld in 8 of 8 on base, 1 of 8 on this pull request" in text


def test_findings_name_their_suite_only_where_several_have_some():
    main = fixtures.failing().suites[1]
    assert "- `chile-3`: A wrong answer" in render_comment(fixtures.failing())
    other = main.model_copy(
        update={"name": "rivers", "findings": tuple(f.model_copy(update={"suite": "rivers"}) for f in main.findings)}
    )
    text = render_comment(fixtures.failing(suites=(main, other)))
    assert "- `rivers` `chile-3`: A wrong answer" in text
    assert "- `capitals` `chile-3`: A wrong answer" in text


def test_a_survivor_names_its_mutator():
    assert "mutator number&#95;shift · expected incorrect → got correct" in render_comment(fixtures.failing())


def test_a_screening_suite_says_so_and_many_suites_are_listed():
    suites = tuple(
        SuiteResult(name=f"suite-{i}", grader="g", kind="chat", verdict=GateVerdict.PASS if i % 2 else GateVerdict.FAIL)
        for i in range(30)
    )
    text = render_comment(fixtures.failing(suites=suites))
    assert "And 20 more suites:" in text
    assert text.index("**`suite-0`** graded") < text.index("`suite-1`")
    assert "**`style`** graded by `tone` (chat, reports only)" in render_comment(fixtures.failing())


def test_only_a_plain_web_address_becomes_a_link():
    good = fixtures.failing(report_url="https://github.example/acme/evals/actions/runs/4711?pr=1")
    assert "[Full report](https://github.example/acme/evals/actions/runs/4711?pr=1)" in render_comment(good)
    for bad in ("javascript:alert(1)", "https://x) [y](https://z", "https://a b", 'https://a"'):
        assert "Full report" not in render_comment(fixtures.failing(report_url=bad))


def test_every_finding_is_in_exactly_one_group():
    result = fixtures.many()
    grouped = view.groups(result)
    assert sum(map(len, grouped.values())) == 2_000
    assert all(f.blocking or name == "errors" for name in view.MAIN_GROUPS for f in grouped[name])


def test_counts_are_what_blocks():
    got = view.counts(fixtures.failing())
    assert (got.regressions, got.kill_rate_breaches, got.inversions, got.goalposts) == (3, 1, 1, 1)
    blocking = sum(f.blocking for s in fixtures.failing().suites for f in s.findings)
    behind = fixtures.failing().count(FindingKind.INVERSION_RATE)
    counted = got.regressions + got.kill_rate_breaches + got.survivors + got.inversions + got.others
    assert counted == blocking - behind
