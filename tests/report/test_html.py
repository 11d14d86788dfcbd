import re
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings

from grader_gate.report.escape import visible
from grader_gate.report.html import content_policy, render_html
from tests.report import fixtures
from tests.report.strategies import hostile_results

VOID = {"meta", "input", "br"}
TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3", "h4", "p", "ul", "ol", "li",
    "section", "article", "code", "span", "strong", "div", "table", "caption", "thead", "tbody", "tr", "th", "td",
    "details", "summary", "main", "label", "input", "select", "option", "del", "ins", "footer", "script",
}  # fmt: skip


class Page(HTMLParser):
    """Elements and text of a page; complains of tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@pytest.mark.parametrize("name", ["pass", "fail", "error", "not_applicable"])
def test_golden(name, golden):
    golden(f"report-{name}.html", render_html(fixtures.EXAMPLES[name]()))


def test_nothing_is_loaded_from_anywhere():
    page = Page(render_html(fixtures.failing()))
    assert not [a for _, attrs in page.tags for a in attrs if a in ("src", "srcset", "data", "action", "style")]
    assert [attrs["href"] for _, attrs in page.tags if "href" in attrs] == ["#main"]
    assert not [a for _, attrs in page.tags for a in attrs if a.startswith("on")]
    assert "@import" not in page.texts["style"][0]
    assert "url(" not in page.texts["style"][0]


def test_the_policy_allows_just_our_style_and_script():
    text = render_html(fixtures.failing())
    page = Page(text)
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy == content_policy(page.texts["style"][0], page.texts["script"][0])
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_results())
def test_hostile_text_adds_no_element(result):
    text = render_html(result)
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= TAGS
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert not [a for _, attrs in page.tags for a in attrs if a.startswith("on")]
    assert visible(text) == text


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_results(examples=("fail",)))
def test_there_is_one_row_per_finding(result):
    rows = [attrs for tag, attrs in Page(render_html(result)).tags if tag == "tr" and "data-order" in attrs]
    assert len(rows) == sum(len(s.findings) for s in result.suites)
    assert {attrs["data-blocking"] for attrs in rows} == {"yes", "no"}


def test_the_difference_is_marked_by_words():
    page = Page(render_html(fixtures.failing()))
    assert "10" in page.texts["del"]
    assert "17" in page.texts["ins"]


def test_quote_none_quotes_nothing():
    text = render_html(fixtures.failing(quote="none"))
    for quoted in ("Lima", "10 million", "Bergen is", "Close enough", "not asked for"):
        assert quoted not in text
    assert "A right answer is now rejected" in text


def test_quote_full_gives_the_whole_reason():
    assert "Second line" not in render_html(fixtures.failing())
    assert "Second line" in render_html(fixtures.failing(quote="full"))


def test_an_error_never_looks_green():
    text = render_html(fixtures.error())
    assert "✅" not in text
    assert "Nothing was found" not in text
    assert 'class="banner error"' in text


def test_every_control_has_a_label_and_every_header_a_scope():
    text = render_html(fixtures.failing())
    page = Page(text)
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in page.tags if tag == "th")
    controls = re.findall(r"<label[^>]*>(?:(?!</label>).)*<(?:input|select)\b", text, re.S)
    assert len(controls) == sum(tag in ("input", "select") for tag, _ in page.tags) == 5
