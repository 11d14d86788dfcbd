"""The ledger file: written as it comes, read after any kill, never mistaken for another file."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader_gate.model import CheckOutcome, ErrorKind, Grade, GradeError, GradeVerdict, LedgerRow, Purpose, Side
from grader_gate.runs.ledger import (
    Ledger,
    LedgerBusyError,
    LedgerFormatError,
    LedgerWriteError,
    latest,
    read_ledger,
)
from tests.runs.support import plan

CORRECT = Grade(verdict=GradeVerdict.CORRECT, reason="fine", raw="line\nbreak \u2028 \x85 é 😀")
OUTAGE = Grade(error=GradeError(kind=ErrorKind.UNMEASURED, message="503"))
MALFORMED = Grade(error=GradeError(kind=ErrorKind.MALFORMED, message="no verdict"), raw="hm")


def row(name="a", grade=CORRECT, *, repeat=0, purpose=Purpose.SCREEN):
    planned = plan(name, repeat=repeat, purpose=purpose)
    return LedgerRow(
        suite=planned.suite,
        grader=planned.grader,
        item=planned.item.id,
        side=Side.HEAD,
        purpose=purpose,
        request_digest=planned.request_digest,
        judgement_digest=planned.judgement_digest,
        repeat=repeat,
        grade=grade,
        at="2026-03-01T12:00:00+00:00",
    )


def test_rows_are_on_disk_before_the_ledger_is_closed(tmp_path):
    path = tmp_path / "deep" / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.append(row("a"))
        assert path.read_bytes().count(b"\n") == 1
        ledger.append(row("b"))
        assert read_ledger(path) == [row("a"), row("b")]


def test_a_second_run_finds_the_rows_of_the_first(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.append(row("a"))
    with Ledger(path) as ledger:
        assert ledger.get(plan("a")) == row("a")
        assert ledger.get(plan("a", repeat=1)) is None
        assert ledger.get(plan("a", purpose=Purpose.CONFIRM)) is None
        assert ledger.get(plan("a", side=Side.BASE)) is None


def test_an_unmeasured_row_is_asked_again_a_malformed_one_is_not(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.append(row("out", OUTAGE))
        ledger.append(row("bad", MALFORMED))
    with Ledger(path) as ledger:
        assert ledger.get(plan("out")) is None
        assert ledger.get(plan("bad")) == row("bad", MALFORMED)
        assert [r.item for r in ledger.rows()] == ["golden/out", "golden/bad"]


def test_the_last_row_of_a_key_counts_and_the_history_stays(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.append(row("a", OUTAGE))
        ledger.append(row("a"))
        assert ledger.rows() == (row("a"),)
    assert read_ledger(path) == [row("a", OUTAGE), row("a")]
    assert latest(read_ledger(path)) == {row("a").key: row("a")}


def test_a_second_writer_is_refused(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with Ledger(path), pytest.raises(LedgerBusyError, match="another run is writing"):
        Ledger(path)
    Ledger(path).close()


def test_secrets_are_taken_out_of_everything_a_grader_says(tmp_path):
    path = tmp_path / "ledger.jsonl"
    grade = Grade(
        verdict=GradeVerdict.CORRECT,
        reason="key sk-1",
        raw="sk-1",
        earlier_raw="first sk-1",
        citations=("sk-1 doc",),
        checks=(CheckOutcome(name="c", passed=True, detail="saw sk-1"),),
        served_model="m sk-1",
    )
    error = Grade(error=GradeError(kind=ErrorKind.UNMEASURED, message="401 for sk-1"))
    with Ledger(path, redact=lambda text: text.replace("sk-1", "***")) as ledger:
        kept = ledger.append(row("a", grade))
        ledger.append(row("b", error))
    assert b"sk-1" not in path.read_bytes()
    assert kept.grade.reason == "key ***"
    assert read_ledger(path)[0] == kept
    assert read_ledger(path)[1].grade.error.message == "401 for ***"


def test_half_a_surrogate_pair_and_a_score_that_is_no_number_do_not_lose_the_row(tmp_path):
    path = tmp_path / "ledger.jsonl"
    grade = Grade(verdict=GradeVerdict.CORRECT, score=float("nan"), reason="cut \ud83d", raw="\ud83d\ude00 whole")
    with Ledger(path) as ledger:
        kept = ledger.append(row("a", grade))
    assert (kept.grade.reason, kept.grade.raw, kept.grade.score) == ("cut \ufffd", "😀 whole", None)
    assert read_ledger(path) == [kept]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_the_kill_left_all_complete_rows_are_kept_and_the_next_line_is_whole(tmp_path, data):
    path = tmp_path / "ledger.jsonl"
    path.unlink(missing_ok=True)
    names = data.draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1))
    with Ledger(path) as ledger:
        for name in names:
            ledger.append(row(name))
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    complete = whole[:cut].count(b"\n")
    if cut < len(whole) and whole[cut : cut + 1] == b"\n":
        complete += 1  # Only the line's end is missing: the row is there.
    with Ledger(path) as ledger:
        assert [r.item for r in ledger.rows()] == [f"golden/{name}" for name in names[:complete]]
        ledger.append(row("new"))
    assert [r.item for r in read_ledger(path)] == [*(f"golden/{name}" for name in names[:complete]), "golden/new"]


def test_zeros_left_by_a_power_cut_are_dropped(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        ledger.append(row("a"))
    good = path.read_bytes()
    path.write_bytes(good + b"\0" * 40)
    with Ledger(path) as ledger:
        assert ledger.rows() == (row("a"),)
    assert path.read_bytes() == good


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"my notes", 1), (b'{"a": 1}', 1), (b"[1, 2]\n", 1), (b'{"suite": 1}\n{"x"', 2), (b"\xff\xfe\n", 1)],
)
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content, line):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(LedgerFormatError, match=r"no ledger|no complete JSON") as caught:
        Ledger(path)
    assert caught.value.line == line
    assert path.read_bytes() == content


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "ledger.jsonl"
    good = row("a").model_dump_json()
    bad = json.loads(good)
    bad["grade"]["verdict"] = "great"
    path.write_text(f"{good}\n\n{json.dumps(bad)}\n")
    with pytest.raises(LedgerFormatError) as caught:
        read_ledger(path)
    assert str(caught.value).startswith(f"{path}:3: grade.verdict: this is no ledger row: input should be 'correct'")
    assert (caught.value.line, caught.value.key) == (3, "grade.verdict")


def test_bytes_of_a_git_object_are_read_under_the_name_given():
    good = row("a").model_dump_json().encode()
    assert read_ledger(b"\xef\xbb\xbf" + good + b"\r\n" + good) == [row("a"), row("a")]
    with pytest.raises(LedgerFormatError, match=r"^base/old\.jsonl:2: this line is no complete JSON object"):
        read_ledger(good + b"\n{", name="base/old.jsonl")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(LedgerFormatError, match="cannot be read: No such file"):
        read_ledger(tmp_path / "none.jsonl")


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerWriteError, match="cannot be opened for writing"):
        Ledger(tmp_path / "file" / "ledger.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told(tmp_path):
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, ledger._fd)
    os.close(full)
    with pytest.raises(LedgerWriteError, match="No space left on device; make room and run again"):
        ledger.append(row("a"))
    assert ledger.rows() == ()
    ledger.close()
    ledger.close()
