"""Every hostile string through what freezing, forks and drift write: nothing of it comes alive."""

from itertools import cycle

import pytest

from grader_gate.flow.drifting import Drift, SuiteDrift
from grader_gate.model import GateVerdict
from grader_gate.report.drift import render_drift
from grader_gate.report.escape import md_prose
from grader_gate.report.marker import parse_header
from grader_gate.report.testimony import render_testimony
from tests.report import fixtures
from tests.security.hostile import HOSTILE, poisoned
from tests.security.reading import HIDDEN, linked, page_of, skeleton

BATCHES = [HOSTILE[start : start + 90] for start in range(0, len(HOSTILE), 90)]
HEAD = "f00dface" * 5


def words_of_a_fork(words) -> str:
    said = poisoned(fixtures.EXAMPLES["fail"](), cycle(words))
    return render_testimony(said, HEAD, key="", run={"run_id": 1, "pr_head": HEAD}, link=None)


def drift(words) -> str:
    word = cycle(words)
    suite = SuiteDrift(
        next(word), GateVerdict.FAIL, (next(word), next(word)), tuple(next(word) for _ in range(20)), 5, 5,
        tuple(next(word) for _ in range(4)), tuple(next(word) for _ in range(4)),
    )  # fmt: skip
    return render_drift(Drift("a" * 40, next(word), (suite, suite), 7), day="2026-11-30", link=None)


def note(words) -> str:
    return "\n\n".join(f"> 🏷️ {md_prose(word)}" for word in words)


@pytest.mark.parametrize("batch", BATCHES, ids=range(len(BATCHES)))
@pytest.mark.parametrize("body", [words_of_a_fork, drift, note])
def test_nothing_comes_alive(body, batch):
    text, plain = body(batch), body(["word"] * len(batch))
    allowed = {"code", "/code"}  # code spans may come and go with a word; they hold text only
    assert [t for t in skeleton(text) if t not in allowed] == [t for t in skeleton(plain) if t not in allowed]
    assert set(linked(text)) <= set(linked(plain))
    assert not HIDDEN.search(text.replace("\t", ""))
    assert len(page_of(text).comments) == len(page_of(plain).comments)


@pytest.mark.parametrize("batch", BATCHES, ids=range(len(BATCHES)))
def test_the_header_of_testimony_is_ours(batch):
    first, _, rest = words_of_a_fork(batch).partition("\n")
    header = parse_header(first)
    assert (header["testimony"], header["verdict"], header["pr_head"]) == (1, "error", HEAD)
    assert "evidence" not in header
    assert parse_header(rest.lstrip()) is None


def test_testimony_without_a_report():
    text = render_testimony(None, HEAD, key="k", run={"run_id": 1}, link="https://github.com/a/b/actions/runs/1")
    assert "It left no report that can be read." in text
    assert parse_header(text)["key"] == "k"


def test_many_findings_are_counted_and_not_all_told():
    said = fixtures.EXAMPLES["fail"]()
    suite = next(s for s in said.suites if s.findings)
    many = suite.model_copy(update={"findings": suite.findings[:1] * 50})
    text = render_testimony(said.model_copy(update={"suites": (many,)}), HEAD, key="", run={}, link=None)
    assert "And 30 more in the artifact" in text
