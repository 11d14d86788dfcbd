"""The cache: right rows for the right readers, and never a reason for a run to end."""

import sqlite3

import pytest

from grader_gate.model import ErrorKind, Grade, GradeError, GradeVerdict, LedgerRow, Purpose, Side, Usage
from grader_gate.runs.cache import SCHEMA_VERSION, Cache, Observed
from grader_gate.runs.engine import run
from grader_gate.runs.ledger import Ledger
from tests.runs.support import NOON, PlainGrader, correct, plan

HEAD = (Side.HEAD, "g")


def row(name="a", grade=None, *, repeat=0, purpose=Purpose.SCREEN, judgement="judge-1", at="2026-03-01T12:00:00"):
    planned = plan(name)
    return LedgerRow(
        suite="s",
        grader="g",
        item=planned.item.id,
        side=Side.HEAD,
        purpose=purpose,
        request_digest=planned.request_digest,
        judgement_digest=judgement,
        repeat=repeat,
        grade=grade or Grade(verdict=GradeVerdict.CORRECT, reason=name, raw="raw"),
        at=at,
    )


@pytest.fixture
def cache_of(tmp_path):
    """Opens caches on one file and closes them at the end."""
    opened, told = [], []

    def make(readable=("base",), writes="base"):
        opened.append(Cache(tmp_path / "cache.sqlite", readable=readable, writes=writes, tell=told.append))
        return opened[-1]

    make.told = told
    yield make
    for cache in opened:
        cache.close()


def get(cache, name="a", *, judgement="judge-1", repeat=0):
    return cache.get(plan(name).request_digest, judgement, repeat)


def test_a_grade_comes_back_for_its_request_and_repeat_only(cache_of):
    cache = cache_of()
    cache.put(row("a"), model="m", characters=9)
    assert get(cache).grade == row("a").grade
    assert get(cache).judgement_digest == "judge-1"
    assert get(cache, repeat=1) is None
    assert get(cache, "b") is None
    cache.close()
    assert get(cache_of()).grade == row("a").grade


@pytest.mark.parametrize("kind", ErrorKind)
def test_errors_are_never_kept(cache_of, kind):
    cache = cache_of()
    cache.put(row(grade=Grade(error=GradeError(kind=kind, message="x"))), model="m", characters=9)
    assert get(cache) is None


@pytest.mark.parametrize("purpose", [p for p in Purpose if p is not Purpose.SCREEN])
def test_only_screening_is_kept(cache_of, purpose):
    cache = cache_of()
    cache.put(row(purpose=purpose), model="m", characters=9)
    assert get(cache) is None


def test_rows_of_base_are_for_all_rows_of_a_pull_request_for_itself(cache_of):
    base, one, two = cache_of(), cache_of(("pr-1", "base"), "pr-1"), cache_of(("pr-2", "base"), "pr-2")
    base.put(row("b"), model="m", characters=9)
    one.put(row("p"), model="m", characters=9)
    assert [get(c, "b") is not None for c in (base, one, two)] == [True, True, True]
    assert [get(c, "p") is not None for c in (base, one, two)] == [False, True, False]


def test_a_pull_request_cannot_overwrite_a_row_of_base(cache_of):
    base, one = cache_of(), cache_of(("base", "pr-1"), "pr-1")
    base.put(row(grade=Grade(verdict=GradeVerdict.CORRECT)), model="m", characters=9)
    one.put(row(grade=Grade(verdict=GradeVerdict.INCORRECT)), model="m", characters=9)
    assert get(base).grade.verdict is GradeVerdict.CORRECT
    assert get(one).grade.verdict is GradeVerdict.CORRECT


def test_a_run_that_may_neither_read_nor_write_does_neither(cache_of):
    cache_of().put(row("a"), model="m", characters=9)
    closed = cache_of((), None)
    closed.put(row("b"), model="m", characters=9)
    assert get(closed) is None
    assert closed.observed("m") is None
    assert get(cache_of(), "b") is None


def test_the_row_of_the_present_judgement_is_preferred(cache_of):
    cache = cache_of()
    cache.put(row(judgement="old", grade=Grade(verdict=GradeVerdict.PARTIAL), at="2026-03-02"), model="m", characters=9)
    cache.put(row(judgement="judge-1", at="2026-03-01"), model="m", characters=9)
    assert get(cache).judgement_digest == "judge-1"
    assert get(cache, judgement="newest").judgement_digest == "old"


def test_observed_calls_give_the_ratio_of_characters_to_tokens(cache_of):
    cache = cache_of()
    for name, tokens, out in (("a", 10, 5), ("b", 30, 25)):
        usage = Usage(input_tokens=tokens, output_tokens=out)
        cache.put(row(name, Grade(verdict=GradeVerdict.CORRECT, usage=usage)), model="m", characters=80)
    cache.put(row("c"), model="m", characters=80)  # No count of tokens: says nothing.
    assert cache.observed("m") == Observed(calls=2, chars_per_token=4.0, output_low=5, output_high=25)
    assert cache.observed("other") is None
    assert cache.observed(None) is None
    assert cache_of(("pr-9",), None).observed("m") is None


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be read as one" * 40, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_cache_is_set_aside_and_told(cache_of, tmp_path, content):
    (tmp_path / "cache.sqlite").write_bytes(content)
    cache = cache_of()
    cache.put(row(), model="m", characters=9)
    assert get(cache) is not None
    assert (tmp_path / "cache.sqlite.set-aside").read_bytes() == content
    assert len(cache_of.told) == 1
    assert "it is set aside as cache.sqlite.set-aside" in cache_of.told[0]


def test_a_database_of_another_program_is_set_aside_whole(cache_of, tmp_path):
    with sqlite3.connect(tmp_path / "cache.sqlite") as other:
        other.execute("CREATE TABLE mine (x)")
        other.execute("INSERT INTO mine VALUES (7)")
    other.close()
    (tmp_path / "cache.sqlite.set-aside").write_text("an earlier one")
    cache_of().put(row(), model="m", characters=9)
    assert "another program's" in cache_of.told[0]
    aside = sqlite3.connect(tmp_path / "cache.sqlite.set-aside-1")
    assert aside.execute("SELECT x FROM mine").fetchall() == [(7,)]
    aside.close()


def test_damage_inside_is_told_and_the_run_goes_on(cache_of, tmp_path):
    cache = cache_of()
    for n in range(400):
        cache.put(row(f"{n}"), model="m", characters=9)
    cache.close()
    path = tmp_path / "cache.sqlite"
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    path.write_bytes(data)
    fresh = cache_of()
    assert len(cache_of.told) == 1
    assert "set aside" in cache_of.told[0]
    fresh.put(row("x"), model="m", characters=9)
    assert get(fresh, "x") is not None


def version(path, number):
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {number}")
    db.close()


def test_a_file_of_an_older_version_is_begun_anew_one_of_a_newer_is_left_alone(cache_of, tmp_path):
    cache_of().close()
    version(tmp_path / "cache.sqlite", SCHEMA_VERSION + 1)
    newer = cache_of()
    newer.put(row(), model="m", characters=9)
    assert get(newer) is None
    assert "a newer grader-gate (cache schema 2, here 1) wrote it; this run goes on without a cache" in cache_of.told[0]
    assert not (tmp_path / "cache.sqlite.set-aside").exists()
    version(tmp_path / "cache.sqlite", 0)
    older = cache_of()
    older.put(row(), model="m", characters=9)
    assert get(older) is not None
    assert "an older grader-gate" in cache_of.told[1]


def test_a_place_that_cannot_hold_a_cache_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    told = []
    cache = Cache(tmp_path / "file" / "cache.sqlite", readable=("base",), writes="base", tell=told.append)
    cache.put(row(), model="m", characters=9)
    assert get(cache) is None
    assert len(told) == 1
    assert "this run goes on without one" in told[0]


def test_a_cache_that_fails_in_the_middle_is_given_up_and_told_once(cache_of, tmp_path):
    cache = cache_of()
    cache.put(row(), model="m", characters=9)
    other = sqlite3.connect(tmp_path / "cache.sqlite", isolation_level=None)
    other.execute("DROP TABLE grades")
    other.close()
    assert get(cache) is None
    cache.put(row(), model="m", characters=9)
    assert get(cache) is None
    assert len(cache_of.told) == 1
    assert "no such table: grades; this run goes on without it" in cache_of.told[0]


def test_a_row_that_cannot_be_read_is_a_miss(cache_of, tmp_path):
    cache = cache_of()
    cache.put(row(), model="m", characters=9)
    other = sqlite3.connect(tmp_path / "cache.sqlite", isolation_level=None)
    other.execute('UPDATE grades SET grade = \'{"verdict": "great"}\'')
    other.close()
    assert get(cache) is None
    assert cache_of.told == []


async def go(planned, grader, tmp_path, cache, name="ledger.jsonl"):
    with Ledger(tmp_path / name) as ledger:
        return await run(planned, {HEAD: grader}, ledger=ledger, cache=cache, now=lambda: NOON)


async def test_a_run_takes_screening_from_the_cache_and_says_so_in_the_row(cache_of, tmp_path):
    cache, grader = cache_of(), PlainGrader()
    await go([plan("a")], grader, tmp_path, cache)
    plans = [plan("a"), plan("a", repeat=1), plan("b")]
    outcome = await go(plans, grader, tmp_path, cache, "second.jsonl")
    assert (outcome.cached, outcome.made) == (1, 2)
    assert [outcome.rows[p.key].reused for p in plans] == ["cache", None, None]
    assert len(grader.calls) == 3
    resumed = await go(plans, grader, tmp_path, cache, "second.jsonl")
    assert (resumed.resumed, resumed.made, resumed.rows) == (3, 0, outcome.rows)


@pytest.mark.parametrize("purpose", [p for p in Purpose if p is not Purpose.SCREEN])
async def test_what_must_be_new_never_comes_from_the_cache(cache_of, tmp_path, purpose):
    cache, grader = cache_of(), PlainGrader()
    await go([plan("a")], grader, tmp_path, cache)
    outcome = await go([plan("a", purpose=purpose)], grader, tmp_path, cache)
    assert (outcome.cached, outcome.made, len(grader.calls)) == (0, 1, 2)


async def test_an_error_is_asked_again_by_the_next_run(cache_of, tmp_path):
    def malformed(item, call):
        return Grade(error=GradeError(kind=ErrorKind.MALFORMED, message="?"), raw="?")

    cache = cache_of()
    await go([plan("a")], PlainGrader(malformed), tmp_path, cache)
    outcome = await go([plan("a")], PlainGrader(), tmp_path, cache, "second.jsonl")
    assert outcome.rows[plan("a").key].grade.verdict is GradeVerdict.CORRECT
    assert outcome.made == 1


@pytest.mark.parametrize("store", ["cache", "ledger"])
async def test_another_judgement_judges_the_stored_reply_again_without_a_call(cache_of, tmp_path, store):
    cache, first = cache_of(), PlainGrader()
    await go([plan("a")], first, tmp_path, cache)
    second = PlainGrader(judge=lambda raw: Grade(verdict=GradeVerdict.PARTIAL, reason=f"anew from {raw}"))
    ledger = "ledger.jsonl" if store == "ledger" else "second.jsonl"
    outcome = await go([plan("a", judgement="judge-2")], second, tmp_path, cache if store == "cache" else None, ledger)
    row = outcome.rows[plan("a").key]
    assert (row.grade.verdict, row.grade.reason) == (GradeVerdict.PARTIAL, 'anew from {"v": "correct"}')
    assert (row.judgement_digest, row.grade.raw) == ("judge-2", '{"v": "correct"}')
    assert row.grade.usage == correct(plan("a").item, None).usage
    assert (second.calls, outcome.made) == ([], 0)


@pytest.mark.parametrize(
    "judge", [lambda raw: None, lambda raw: Grade(error=GradeError(kind=ErrorKind.MALFORMED, message="?"))]
)
async def test_a_reply_that_the_new_judgement_cannot_use_is_asked_for_anew(cache_of, tmp_path, judge):
    cache = cache_of()
    await go([plan("a")], PlainGrader(), tmp_path, cache)
    grader = PlainGrader(judge=judge)
    outcome = await go([plan("a", judgement="judge-2")], grader, tmp_path, cache)
    assert (outcome.made, outcome.cached, outcome.resumed) == (1, 0, 0)
    assert outcome.rows[plan("a").key].judgement_digest == "judge-2"
