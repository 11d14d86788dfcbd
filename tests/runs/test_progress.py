"""Progress: lines by count in a log, a bar on a terminal."""

import io
import subprocess
import sys

import pytest

from grader_gate.runs.progress import BarProgress, LineProgress, QuietProgress, progress_for


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines(total, done, *, reused=0, failed=0):
    out = io.StringIO()
    progress = progress_for(out)
    progress.start(total)
    for n in range(done):
        progress.advance(reused=n < reused, failed=n >= done - failed)
    progress.finish()
    return out.getvalue().splitlines()


def test_a_log_gets_one_line_a_tenth():
    assert lines(200, 200)[:2] == ["grades: 20 of 200, 10 %", "grades: 40 of 200, 20 %"]
    assert len(lines(200, 200)) == 10
    assert lines(10_000, 10_000)[-1] == "grades: 10000 of 10000, 100 %"


@pytest.mark.parametrize(("total", "expected"), [(0, 0), (1, 1), (9, 1), (99, 1), (100, 10), (1001, 10)])
def test_a_long_pass_is_a_line_per_tenth_and_a_short_one_is_one_line(total, expected):
    found = lines(total, total)
    assert len(found) == expected
    assert not found or found[-1] == f"grades: {total} of {total}, 100 %"


def test_reused_and_failed_are_said_with_the_count():
    assert lines(10, 10, reused=2, failed=1)[-1] == "grades: 10 of 10, 100 % (2 reused, 1 failed)"
    assert lines(10, 10, reused=2)[-1] == "grades: 10 of 10, 100 % (2 reused)"


def test_a_pass_that_ends_early_says_where():
    assert lines(100, 25)[-1] == "grades: 25 of 100, 25 %"
    assert lines(100, 30) == [f"grades: {n} of 100, {n} %" for n in (10, 20, 30)]


def test_one_progress_serves_several_passes():
    out = io.StringIO()
    progress = LineProgress(out, "confirming")
    for _ in range(2):
        progress.start(1)
        progress.advance(reused=False, failed=False)
        progress.finish()
    assert out.getvalue() == "confirming: 1 of 1, 100 %\n" * 2


def test_a_terminal_gets_a_bar():
    out = Terminal()
    progress = progress_for(out, label="screen")
    assert isinstance(progress, BarProgress)
    for _ in range(2):
        progress.start(4)
        for n in range(4):
            progress.advance(reused=n == 0, failed=n == 3)
        progress.finish()
    progress.finish()
    assert "screen" in out.getvalue()
    assert "4/4" in out.getvalue()
    assert "1 reused, 1 failed" in out.getvalue()


def test_quiet_says_nothing():
    out = Terminal()
    progress = progress_for(out, quiet=True)
    assert isinstance(progress, QuietProgress)
    progress.start(1)
    progress.advance(reused=False, failed=False)
    progress.finish()
    assert out.getvalue() == ""


def test_rich_is_not_imported_until_there_is_a_bar():
    heavy = "print(sorted({'rich', 'httpx', 'jinja2'} & set(sys.modules)))"
    code = f"import sys, grader_gate.runs.engine, grader_gate.runs.estimate; {heavy}"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
