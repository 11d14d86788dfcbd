import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.github.outputs import SUMMARY_LIMIT, Log, append_summary, output_block, set_outputs


def runner_reads(text: str) -> dict[str, str]:
    """What a runner makes of a file of outputs; raises where the step would fail."""
    values, lines = {}, text.split("\n")
    assert lines.pop() == "", "the last line has no end"
    while lines:
        name, arrow, delimiter = lines.pop(0).partition("<<")
        assert arrow, "not a heredoc"
        end = lines.index(delimiter)
        values[name] = "\n".join(lines[:end])
        del lines[: end + 1]
    return values


@given(
    st.dictionaries(st.sampled_from(["verdict", "report", "calls"]), st.text(st.characters(exclude_characters="\r")))
)
def test_any_value_arrives_and_sets_nothing_else(values):
    tokens = iter(f"{n:032x}" for n in range(10**6))
    assert runner_reads("".join(output_block(k, v, lambda: next(tokens)) for k, v in values.items())) == {
        k: v.encode("utf-8", "replace").decode() for k, v in values.items()
    }


def test_a_delimiter_that_occurs_in_the_value_is_not_used(tmp_path):
    tokens = iter(["aaa", "bbb"])
    path = tmp_path / "output"
    set_outputs(path, {"verdict": "x\ngrader-gate-aaa\nregressions=99"}, token=lambda: next(tokens))
    assert path.read_text() == "verdict<<grader-gate-bbb\nx\ngrader-gate-aaa\nregressions=99\ngrader-gate-bbb\n"


def test_outputs_are_appended_to_what_is_there(tmp_path):
    path = tmp_path / "output"
    path.write_text("before=1\n")
    set_outputs(path, {"calls": "7"})
    assert re.fullmatch(r"before=1\ncalls<<(grader-gate-\w{32})\n7\n\1\n", path.read_text())


def test_a_summary_stays_within_the_runners_limit_together_with_what_is_there(tmp_path):
    path = tmp_path / "summary"
    path.write_text("earlier\n")
    append_summary(path, "ä" * SUMMARY_LIMIT)
    data = path.read_bytes()
    assert SUMMARY_LIMIT - 4 <= len(data) <= SUMMARY_LIMIT
    assert data.decode().startswith("earlier\nää")
    assert data.decode().endswith("the full report is in the artifact)*\n")


def test_a_short_summary_is_written_whole(tmp_path):
    append_summary(tmp_path / "summary", "# Verdict")
    assert (tmp_path / "summary").read_text() == "# Verdict\n"


def log(**more) -> tuple[Log, io.StringIO]:
    stream = io.StringIO()
    return Log(stream, **more), stream


@pytest.mark.parametrize(
    "text",
    ["::set-output name=x::y", "a\n::error::b", "##[error]x", "x\r\n::add-mask::y", "\x1b[31m::stop-commands::z"],
)
def test_foreign_text_commands_nothing(text):
    made, stream = log()
    made.line(text)
    made.error(text)
    lines = stream.getvalue().split("\n")
    assert len(lines) == 3
    assert not lines[0].startswith("::")
    assert lines[1].startswith("::error title=grader-gate::")
    assert "::" not in lines[1].removeprefix("::error title=grader-gate::")
    assert "##[" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_secrets_are_replaced_everywhere_and_short_ones_do_not_blot_out_words():
    made, stream = log(secrets_=["sesame-open", "sesame-open-wide", "a"])
    made.line("key sesame-open-wide and sesame-open")
    made.warning("sesame-open")
    made.foreign("trace\nsesame-open-wide")
    assert "sesame" not in stream.getvalue()
    assert stream.getvalue().startswith("key *** and ***\n")


def test_many_foreign_lines_stand_between_marks_that_do_not_occur_in_them():
    made, stream = log()
    tokens = iter(["in-text", "fresh"])
    made.foreign("::error::x\nin-text", token=lambda: next(tokens))
    lines = stream.getvalue().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("::stop-commands::fresh", "::fresh::", 4)


def test_a_percent_sign_is_encoded_as_the_runner_decodes_it():
    made, stream = log()
    made.error("100% at %0A")
    assert stream.getvalue() == "::error title=grader-gate::100%25 at %250A\n"


def test_outside_actions_there_are_no_commands():
    made, stream = log(commands=False)
    with made.group("Measuring"):
        made.error("bad")
    made.foreign("x")
    assert stream.getvalue() == "Measuring\nerror: bad\nx\n"
