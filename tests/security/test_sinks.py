"""Every hostile string through every renderer: nothing of it comes alive."""

import io
import re
import xml.etree.ElementTree as ET
from itertools import cycle, islice

import pytest

from grader_gate.cli import _complain
from grader_gate.github.outputs import Log, append_summary, set_outputs
from grader_gate.github.publish import check_output
from grader_gate.report.annotations import annotations
from grader_gate.report.comment import render_comment
from grader_gate.report.junit import render_junit
from grader_gate.report.marker import parse_header
from grader_gate.report.summary import render_check, render_summary
from grader_gate.report.terminal import render_terminal
from tests.report import fixtures
from tests.security.hostile import CURATED, HOSTILE, poisoned
from tests.security.reading import HIDDEN, commands, elements, linked, outputs, page_of, skeleton

BATCHES = [HOSTILE[start : start + 90] for start in range(0, len(HOSTILE), 90)]
EXAMPLES = ["fail", "error", "report_mode"]
MARKDOWN = {
    "comment": lambda result: render_comment(result, limit=2_000_000),
    "summary": lambda result: render_summary(result),
    "check": lambda result: render_check(result, limit=2_000_000),
}


def made(example, batch):
    return poisoned(fixtures.EXAMPLES[example](), cycle(batch))


def test_the_list_is_long_and_has_no_twins():
    assert len(CURATED) >= 250
    assert len(HOSTILE) == len(set(HOSTILE)) >= 1_000


@pytest.mark.parametrize("sink", MARKDOWN)
@pytest.mark.parametrize("example", EXAMPLES)
def test_markdown_keeps_its_shape_and_links_nothing(sink, example):
    plain = MARKDOWN[sink](poisoned(fixtures.EXAMPLES[example](), cycle(["word"])))
    wanted, ours = skeleton(plain), len(page_of(plain).comments)
    for batch in BATCHES:
        text = MARKDOWN[sink](made(example, batch))
        assert skeleton(text) == wanted
        assert linked(text) == linked(plain) == []
        assert not HIDDEN.search(text.replace("\t", ""))
        assert len(page_of(text).comments) == ours


@pytest.mark.parametrize("batch", BATCHES, ids=range(len(BATCHES)))
def test_only_our_header_is_taken_for_ours(batch):
    text = render_comment(made("fail", batch), run={"run_id": 7, "note": batch[0]})
    assert parse_header(text)["run_id"] == 7
    head, _, body = text.partition("\n")
    assert head.count("-->") == 1
    assert "<!-- grader-gate" not in body
    assert parse_header(body.lstrip()) is None


@pytest.mark.parametrize("example", EXAMPLES)
def test_check_output_and_annotations_are_plain_text(example):
    for batch in BATCHES:
        result = made(example, batch)
        output = check_output(result)
        assert len(output.summary.encode()) <= 65_535
        for note in annotations(result):
            shown = f"{note.title}\n{note.message}"
            assert not HIDDEN.search(shown.replace("\t", "")), shown
            assert len(note.title) <= 255
            assert note.line >= 1


def test_terminal_and_log_command_nothing():
    for batch in BATCHES:
        for color in (False, True):
            text = render_terminal(made("fail", batch), color=color)
            if color:
                text = re.sub(r"\x1b\[(?:0|1|2|31|32|33)m", "", text)
            assert not HIDDEN.search(text.replace("\t", ""))
            assert commands(text) == []


def test_every_string_in_the_log_of_a_job():
    stream = io.StringIO()
    log = Log(stream, commands=True)
    for text in HOSTILE:
        log.line(text)
        log.error(text)
        log.warning(text)
        log.foreign(text)
        with log.group(text):
            log.line(text)
    said = stream.getvalue()
    assert commands(said, own=("error", "warning", "group", "endgroup", "stop-commands")) == []
    assert said.count("::error title=grader-gate::") == said.count("::warning title=grader-gate::") == len(HOSTILE)
    lines = said.splitlines()
    assert sum(line.startswith("::error") for line in lines) == len(HOSTILE)
    assert not HIDDEN.search(said)
    assert not any(0xD800 <= ord(char) <= 0xDFFF for char in said)


def test_every_string_as_an_error_on_the_command_line(capsys):
    for text in HOSTILE:
        _complain(text)
    said = capsys.readouterr().err
    assert commands(said) == []
    assert not HIDDEN.search(said)
    assert all(line.startswith("grader-gate: ") for line in said.splitlines())


def test_every_string_as_an_output_of_the_step(tmp_path):
    path = tmp_path / "output"
    names = [f"o{index}" for index in range(len(HOSTILE))]
    set_outputs(path, dict(zip(names, HOSTILE, strict=True)))
    read = outputs(path)
    assert list(read) == names
    for name, text in zip(names, HOSTILE, strict=True):
        assert read[name] == text.encode("utf-8", "replace").decode()


def test_every_string_in_the_job_summary(tmp_path):
    path = tmp_path / "summary"
    for batch in BATCHES:
        append_summary(path, render_summary(made("fail", batch), limit=100_000), limit=10**9)
    assert linked(path.read_text("utf-8")) == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_junit_is_xml_of_the_same_shape(example):
    wanted = elements(render_junit(poisoned(fixtures.EXAMPLES[example](), cycle(["word"]))))
    for batch in BATCHES:
        text = render_junit(made(example, batch))
        assert elements(text) == wanted
        for element in ET.fromstring(text.encode()).iter():
            for shown in (element.text or "", *element.attrib.values()):
                assert not HIDDEN.search(shown.replace("\t", "")), shown


def test_each_string_alone_in_the_headline():
    """The most read line of all, one string at a time: no neighbour can hide a fault."""
    result = fixtures.EXAMPLES["pass"]()
    wanted = skeleton(render_comment(result.model_copy(update={"headline": "word"})))
    for text in islice(HOSTILE, 0, None, 2):
        rendered = render_comment(result.model_copy(update={"headline": f"x{text}"}))
        assert skeleton(rendered) == wanted, text
        assert linked(rendered) == [], text


def test_the_readers_see_what_is_alive():
    """Otherwise the tests above would pass for any text."""
    tags = {tag for text in HOSTILE for tag in skeleton(text)}
    assert {"a https://evil.example", "img", "img.onerror", "script", "h1", "table", "hr", "iframe"} <= tags
    assert {"@o", "#1", ":t", "GH", "ww", ":/"} <= {found[:2] for text in HOSTILE for found in linked(text)}
    assert {"error", "set-output", "add-path"} <= {name for text in HOSTILE for name in commands(text)}
    assert sum(bool(HIDDEN.search(text)) for text in HOSTILE) > 100
