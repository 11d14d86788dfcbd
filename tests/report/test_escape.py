"""Escapers against a real CommonMark/GFM parser, plus the second pass that GitHub makes over text nodes."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader_gate.report import escape

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

PIECES = [
    "|",
    "`",
    "``",
    "```",
    "~~~",
    "\\",
    "\\|",
    "\n",
    "\r\n",
    "\n\n",
    "<!--",
    "-->",
    "<!-- grader-gate ",
    "</details>",
    "<img src=x onerror=alert(1)>",
    "<script>",
    "![a](b)",
    "[a](javascript:x)",
    "[x]: y",
    "@alice",
    "&#64;bob",
    "&amp;",
    "#12",
    "GH-123",
    "org/repo#1",
    "deadbeefcafe1234567890abcdefabcdefabcdef",
    "https://evil.example/a",
    "www.evil.example",
    "a@b.example",
    "mailto:a@b.example",
    ":tada:",
    "$x$",
    "$$",
    "*b*",
    "_i_",
    "~~s~~",
    "- ",
    "1. ",
    "# ",
    "> ",
    "---",
    "===",
    "    ",
    "\t",
    "\u202e",
    "\u200b",
    "\ufeff",
    "\x00",
    "\x1b[31m",
    "::error::x",
    "##[error]",
    "🙂",
    "👩‍🚀",
    "\U00020000",
    "e\u0301",
    "\ud800",
    "GHSA-aaaa-bbbb-cccc",
    "x" * 300,
    " ",
]
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join)

# What GitHub links in a text node (github-flavoured references; docs: autolinked-references-and-urls).
SECOND_PASS = re.compile(
    r"@[A-Za-z0-9]|#\d|\bGH-\d|\b[0-9a-f]{7,40}\b|://|\bwww\.|:[a-z0-9_+-]+:|GHSA-|\$[^$]+\$", re.IGNORECASE
)


def text_nodes(tokens) -> list[str]:
    """Text nodes as the second pass meets them: split by tags, without code."""
    out: list[str] = []
    for token in tokens:
        current, depth = "", 0
        for child in token.children or []:
            if child.type == "html_inline":
                out.append(current)
                current = ""
                depth += child.content == "<code>"
                depth -= child.content == "</code>"
            elif child.type in ("text", "text_special") and depth == 0:
                current += child.content
            else:
                out.append(current)
                current = ""
        out.append(current)
    return out


def shown(tokens) -> str:
    """What a reader sees of inline tokens."""
    return "".join(
        child.content
        for token in tokens
        for child in token.children or []
        if child.type in ("text", "text_special", "code_inline")
    )


ALLOWED_HTML = {"<span>", "</span>", "<code>", "</code>"}


def assert_inert_inline(markdown: str) -> None:
    tokens = PARSER.parse(markdown)
    assert [t.type for t in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])
    for token in tokens:
        for child in token.children or []:
            assert child.type in ("text", "text_special", "code_inline", "html_inline"), child
            if child.type == "html_inline":
                assert child.content in ALLOWED_HTML
    for node in text_nodes(tokens):
        assert not SECOND_PASS.search(node), node


@given(HOSTILE)
@example("@&#8203;alice <b>x</b>")
def test_text_is_inert_and_reads_the_same(text):
    rendered = escape.md_text(text)
    assert "\n" not in rendered
    assert_inert_inline(rendered)
    assert shown(PARSER.parse(rendered)) == escape.one_line(text, 500)


@given(HOSTILE)
def test_text_after_words_of_ours_is_inert(text):
    rendered = f"Case {escape.md_text(text)} is graded."
    assert_inert_inline(rendered)


@given(HOSTILE)
def test_code_is_inert_and_reads_the_same(text):
    rendered = escape.md_code(text)
    assert_inert_inline(rendered)
    assert shown(PARSER.parse(rendered)) == (escape.one_line(text, 120) or "(empty)")


@given(st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1, max_size=4))
def test_a_table_keeps_its_shape(rows):
    lines = ["| a | b | c |", "|---|---|---|"]
    lines += [f"| {escape.md_cell(a)} | {escape.md_code(b)} | end |" for a, b in rows]
    tokens = PARSER.parse("\n".join(lines) + "\n\nafter")
    assert [t.type for t in tokens].count("table_open") == 1
    cells = [t for t in tokens if t.type in ("td_open", "th_open")]
    assert len(cells) == 3 * (len(rows) + 1)
    ends = [tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "td_open"][2::3]
    assert ends == ["end"] * len(rows)
    assert tokens[-2].content == "after"


@given(HOSTILE)
def test_a_block_holds_its_text_and_ends_where_we_end_it(text):
    rendered = escape.md_block(text, "diff")
    tokens = PARSER.parse(f"before\n\n{rendered}\n\nafter")
    assert [t.type for t in tokens if t.nesting >= 0] == [
        "paragraph_open",
        "inline",
        "fence",
        "paragraph_open",
        "inline",
    ]
    fence = next(t for t in tokens if t.type == "fence")
    assert fence.info == "diff"
    assert not re.search(r"<!--\s*grader-gate", fence.content)


def test_block_keeps_lines_and_cuts_long_ones():
    rendered = escape.md_block("one\r\ntwo\n" + "x" * 400, line_limit=10)
    assert rendered == "```text\none\ntwo\nxxxxxxxxxx… (+390 characters)\n```"


def test_block_fence_outgrows_its_content():
    assert escape.md_block("a\n`````\nb").startswith("``````text\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", "plain words"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("👩‍🚀 and ❤️", "👩‍🚀 and ❤️"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("x\ufe0f\ufe0f", "x⟨U+FE0F⟩⟨U+FE0F⟩"),
        ("\U00020000", "\U00020000"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("blank\u3164", "blank⟨U+3164⟩"),
    ],
)
def test_hidden_characters_are_shown(text, expected):
    assert escape.visible(text) == expected


def test_cut_counts_graphemes():
    family = "👨‍👩‍👧"
    assert escape.cut(family * 3, 3) == family * 3
    assert escape.cut(family * 4, 3) == family * 3 + "… (+5 characters)"
    assert escape.cut("ab", 1) == "a… (+1 character)"


def test_stacked_accents_cannot_defeat_the_cut():
    assert len(escape.cut("a" + "\u0301" * 10_000, 50)) < 500


def test_a_megabyte_on_one_line_is_short():
    assert len(escape.md_text("y" * 1_000_000)) < 600
    assert "characters)" in escape.md_text("y" * 1_000_000)


@given(HOSTILE)
def test_log_lines_hold_no_command(text):
    line = escape.log_line(text)
    assert "::" not in line
    assert "##[" not in line
    assert not any(ord(c) < 32 or ord(c) == 127 for c in line)
    assert "\u202e" not in line


@given(HOSTILE)
def test_xml_takes_every_text(text):
    element = ET.Element("e", {"a": escape.xml(text)})
    element.text = escape.xml(text)
    back = ET.fromstring(ET.tostring(element, encoding="utf-8"))
    assert (back.text or "") == escape.xml(text)


@given(HOSTILE)
def test_html_has_no_tag(text):
    assert not set(escape.html(text)) & set("<>\"'")


@pytest.mark.parametrize("forged", ["<!-- grader-gate {}", "<!--grader-gate", "<!--\n GRADER-GATE x"])
@pytest.mark.parametrize("sink", [escape.md_text, escape.md_cell, escape.md_code, escape.md_block, escape.log_line])
def test_our_marker_is_taken_out_of_foreign_text(sink, forged):
    assert "grader-gate" not in sink(f"a {forged} -->").lower()
    assert "marker" in sink(f"a {forged} -->")


@given(HOSTILE)
@example("run `a|b` and ``x`` now")
def test_prose_is_inert(text):
    assert_inert_inline(escape.md_prose(text))
    assert_inert_inline(f"Say {escape.md_prose(text)} twice.")


@pytest.mark.parametrize(
    ("text", "markdown", "html"),
    [
        ("run `make test` now", "run `make test` now", "run <code>make test</code> now"),
        ("`a|b`", "<code>a&#124;b</code>", "<code>a|b</code>"),
        ("one ` alone", "one &#96; alone", "one ` alone"),
        ("``two``", "&#96;&#96;two&#96;&#96;", "``two``"),
        ("`<b>` & *x*", "`<b>` &amp; &#42;x&#42;", "<code>&lt;b&gt;</code> &amp; *x*"),
        ("`@alice` and @bob", "`@alice` and <span>@</span>bob", "<code>@alice</code> and @bob"),
    ],
)
def test_prose_keeps_code(text, markdown, html):
    assert escape.md_prose(text) == markdown
    assert escape.html_prose(text) == html


@given(HOSTILE)
def test_verbatim_lines_hold_no_command_but_keep_spaces(text):
    line = escape.log_verbatim(text)
    assert "::" not in line
    assert "##[" not in line
    assert escape.visible(line, keep="") == line
    assert not any(ord(c) < 32 for c in line)


def test_verbatim_keeps_double_spaces():
    assert escape.log_verbatim("a  b\tc") == "a  b⟨U+0009⟩c"
