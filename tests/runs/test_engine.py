"""The engine: everything planned is got once, nothing paid is lost, nothing is paid twice."""

import asyncio
import os
import signal
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader_gate.errors import UsageError
from grader_gate.model import ErrorKind, Grade, GradedFacts, GradeError, GradeVerdict, Purpose, Side, Usage
from grader_gate.runs.budget import Budget
from grader_gate.runs.engine import PlanDriftError, RunInterruptedError, UnknownGraderError, run, seed_of
from grader_gate.runs.ledger import Ledger, LedgerWriteError, read_ledger
from tests.runs.support import NOON, PlainGrader, correct, plan

HEAD = (Side.HEAD, "g")
BASE = (Side.BASE, "g")


def ledger_at(tmp_path):
    return Ledger(tmp_path / "ledger.jsonl")


async def go(planned, graders, ledger, **more):
    if not isinstance(graders, dict):
        graders = {HEAD: graders}
    return await run(planned, graders, ledger=ledger, now=lambda: NOON, **more)


async def test_every_planned_grade_becomes_a_row_on_disk(tmp_path):
    grader = PlainGrader()
    with ledger_at(tmp_path) as ledger:
        outcome = await go([plan("a"), plan("b"), plan("a", repeat=1)], grader, ledger)
    assert (outcome.made, outcome.cached, outcome.resumed, outcome.not_made) == (3, 0, 0, 0)
    assert set(outcome.rows) == {plan("a").key, plan("b").key, plan("a", repeat=1).key}
    row = outcome.rows[plan("b").key]
    assert (row.grade.reason, row.at, row.reused) == ("golden/b", "2026-03-01T12:00:00.000+00:00", None)
    assert sorted(r.key for r in read_ledger(tmp_path / "ledger.jsonl")) == sorted(outcome.rows)


async def test_one_key_planned_twice_is_called_once(tmp_path):
    grader = PlainGrader()
    with ledger_at(tmp_path) as ledger:
        outcome = await go([plan("a"), plan("a")], grader, ledger)
    assert (len(grader.calls), outcome.made, outcome.not_made) == (1, 1, 0)


async def test_facts_go_into_the_row_and_are_brought_up_to_date_on_resume(tmp_path):
    from dataclasses import replace

    old = replace(plan("a"), facts=GradedFacts(expected=GradeVerdict.CORRECT))
    new = replace(plan("a"), facts=GradedFacts(expected=GradeVerdict.PARTIAL))
    grader = PlainGrader()
    with ledger_at(tmp_path) as ledger:
        assert (await go([old], grader, ledger)).rows[old.key].facts == old.facts
        outcome = await go([new], grader, ledger)
        assert outcome.rows[new.key].facts == new.facts
        assert ledger.rows()[0].facts == new.facts
    assert len(grader.calls) == 1


async def test_a_second_run_makes_only_what_is_missing_or_was_not_measured(tmp_path):
    down = {"golden/b"}

    def answer(item, call):
        if item.id in down:
            return Grade(error=GradeError(kind=ErrorKind.UNMEASURED, message="503"))
        return correct(item, call)

    grader = PlainGrader(answer)
    with ledger_at(tmp_path) as ledger:
        first = await go([plan("a"), plan("b")], grader, ledger)
    assert first.rows[plan("b").key].grade.unmeasured
    down.clear()
    with ledger_at(tmp_path) as ledger:
        second = await go([plan("a"), plan("b"), plan("c")], grader, ledger)
    assert (second.made, second.resumed) == (2, 1)
    assert [name for name, _ in grader.calls] == ["golden/a", "golden/b", "golden/b", "golden/c"]
    assert second.rows[plan("b").key].grade.verdict is GradeVerdict.CORRECT


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_kill_at_any_byte_never_pays_a_complete_row_twice(tmp_path, data):
    path = tmp_path / "ledger.jsonl"
    path.unlink(missing_ok=True)
    order = data.draw(st.permutations([plan(name, side=side) for name in "abcd" for side in Side]))

    def graders():
        return {HEAD: PlainGrader(), BASE: PlainGrader()}

    async def one(graders):
        with Ledger(path) as ledger:
            return await go(order, graders, ledger, concurrency=3)

    whole = asyncio.run(one(graders()))
    content = path.read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    kept = content[:cut].count(b"\n")
    again = graders()
    resumed = asyncio.run(one(again))
    assert resumed.rows == whole.rows
    # A row whose line end alone was cut is complete as well.
    assert kept <= resumed.resumed <= kept + 1
    assert resumed.made == len(order) - resumed.resumed == sum(len(g.calls) for g in again.values())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), concurrency=st.integers(1, 9), limit=st.integers(1, 5))
def test_rows_do_not_depend_on_the_order_or_on_concurrency(tmp_path, data, concurrency, limit):
    plans = [plan(n, side=s, repeat=r) for n in "abc" for s in Side for r in (0, 1)]
    order = data.draw(st.permutations(plans))

    def answer(item, call):
        return Grade(score=float(call.seed), verdict=GradeVerdict.CORRECT, reason=item.id)

    async def one(order, name, **more):
        (tmp_path / name).unlink(missing_ok=True)
        with Ledger(tmp_path / name) as ledger:
            graders = {HEAD: PlainGrader(answer, concurrency=limit), BASE: PlainGrader(answer)}
            return (await go(order, graders, ledger, **more)).rows

    assert asyncio.run(one(plans, "x", concurrency=1)) == asyncio.run(one(order, "y", concurrency=concurrency))


def test_seeds_differ_by_repeat_and_purpose_and_are_equal_on_both_sides():
    same = {seed_of(plan("a", side=side)) for side in Side}
    other = {
        seed_of(plan("a", repeat=1)),
        seed_of(plan("a", purpose=Purpose.CONFIRM)),
        seed_of(plan("b")),
        seed_of(plan("a", salt="other prompt")),
    }
    assert len(same) == 1
    assert len(other | same) == 5
    assert all(0 <= seed < 2**32 for seed in other | same)


async def until(true):
    """Let the loop turn until something holds; a thousand rounds are more than any of these tests needs."""
    for _ in range(1000):
        if true():
            return
        await asyncio.sleep(0)
    pytest.fail("it never came true")


class Doors:
    """Holds calls until the test lets them go."""

    def __init__(self):
        self.waiting = {}
        self.came = asyncio.Condition()

    async def __call__(self, item):
        future = asyncio.get_running_loop().create_future()
        async with self.came:
            self.waiting[item.id] = future
            self.came.notify_all()
        await future

    async def until(self, count):
        async with self.came:
            await self.came.wait_for(lambda: len(self.waiting) >= count)

    def open(self, *names):
        for name in names or tuple(self.waiting):
            self.waiting.pop(f"golden/{name}" if "/" not in name else name).set_result(None)


async def test_calls_in_flight_never_pass_the_limits(tmp_path):
    overall = []

    async def a_while(item):
        overall.append(slow.in_flight + fast.in_flight)
        for _ in range(40):
            await asyncio.sleep(0)

    slow, fast = PlainGrader(concurrency=2, gate=a_while), PlainGrader(concurrency=50, gate=a_while)
    plans = [plan(f"{n}", side=side) for n in range(40) for side in Side]
    with ledger_at(tmp_path) as ledger:
        outcome = await go(plans, {BASE: slow, HEAD: fast}, ledger, concurrency=7)
    assert outcome.made == 80
    assert slow.most_in_flight == 2
    assert fast.most_in_flight == 5
    assert max(overall) == 7


async def test_a_grader_that_hangs_does_not_hold_up_another(tmp_path):
    doors = Doors()
    stuck, free = PlainGrader(concurrency=1, gate=doors), PlainGrader()
    plans = [*(plan(f"{n}", side=Side.BASE) for n in range(20)), *(plan(f"{n}") for n in range(20))]
    with ledger_at(tmp_path) as ledger:
        task = asyncio.create_task(go(plans, {BASE: stuck, HEAD: free}, ledger, concurrency=4))
        await doors.until(1)
        await until(lambda: len(free.calls) == 20)
        stuck.gate = None
        doors.open()
        assert (await task).made == 40


async def test_calls_start_one_after_the_other_each_with_rounds_of_its_own(tmp_path):
    rounds = [0]
    starts = []

    async def note(item):
        starts.append(rounds[0])

    def tick():
        rounds[0] += 1
        asyncio.get_running_loop().call_soon(tick)

    with ledger_at(tmp_path) as ledger:
        asyncio.get_running_loop().call_soon(tick)
        await go([plan(f"{n}") for n in range(10)], PlainGrader(gate=note), ledger, concurrency=10)
    assert len(starts) == 10
    assert all(later - earlier >= 2 for earlier, later in pairwise(starts))


async def test_sides_are_interleaved_as_planned(tmp_path):
    seen = []

    def noting(side):
        def answer(item, call):
            seen.append((side, item.id))
            return correct(item, call)

        return PlainGrader(answer)

    plans = [plan(f"{n}", side=side) for n in range(5) for side in Side]
    with ledger_at(tmp_path) as ledger:
        await go(plans, {BASE: noting(Side.BASE), HEAD: noting(Side.HEAD)}, ledger, concurrency=1)
    assert seen == [(p.side, p.item.id) for p in plans]


async def test_requests_are_rendered_only_when_their_call_starts(tmp_path):
    doors = Doors()
    grader = PlainGrader(gate=doors)
    with ledger_at(tmp_path) as ledger:
        task = asyncio.create_task(go([plan(f"{n}") for n in range(1000)], grader, ledger, concurrency=5))
        await doors.until(5)
        assert grader.rendered == 6  # Five calls, and one at the start to see that it can be rendered.
        grader.gate = None
        doors.open()
        assert (await task).made == 1000


async def test_an_exception_of_a_grader_is_an_unmeasured_row_naming_it(tmp_path):
    def answer(item, call):
        if item.id == "golden/b":
            raise ZeroDivisionError("division by zero")
        return correct(item, call)

    with ledger_at(tmp_path) as ledger:
        outcome = await go([plan("a"), plan("b")], PlainGrader(answer), ledger)
    error = outcome.rows[plan("b").key].grade.error
    assert error.kind is ErrorKind.UNMEASURED
    assert error.message == "grader 'g' failed instead of answering: ZeroDivisionError: division by zero"
    assert outcome.rows[plan("a").key].grade.verdict is GradeVerdict.CORRECT


async def test_a_grader_that_cancels_itself_loses_its_grade_not_the_run(tmp_path):
    def answer(item, call):
        if item.id == "golden/b":
            raise asyncio.CancelledError
        return correct(item, call)

    with ledger_at(tmp_path) as ledger:
        outcome = await go([plan("a"), plan("b"), plan("c")], PlainGrader(answer), ledger, concurrency=1)
    assert outcome.made == 3
    error = outcome.rows[plan("b").key].grade.error
    assert error.message == "grader 'g' failed instead of answering: CancelledError"


async def test_a_usage_error_ends_the_run_and_lets_paid_calls_come_home(tmp_path):
    doors = Doors()

    def answer(item, call):
        if item.id == "golden/b":
            raise UsageError("graders.g: no such function")
        return correct(item, call)

    with ledger_at(tmp_path) as ledger:
        plans = [plan(f"{n}") for n in "abcdef"]
        task = asyncio.create_task(go(plans, PlainGrader(answer, gate=doors), ledger, concurrency=2))
        await doors.until(2)
        doors.open("b")
        for _ in range(20):
            await asyncio.sleep(0)
        doors.open("a")
        with pytest.raises(UsageError, match="no such function"):
            await task
    assert [r.item for r in read_ledger(tmp_path / "ledger.jsonl")] == ["golden/a"]


async def test_a_ledger_that_cannot_be_written_ends_the_run(tmp_path):
    ledger = ledger_at(tmp_path)
    grader = PlainGrader()
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, ledger._fd)
    os.close(full)
    with pytest.raises(LedgerWriteError, match="cannot be written"):
        await go([plan(f"{n}") for n in range(50)], grader, ledger, concurrency=1)
    ledger.close()
    assert len(grader.calls) == 1


async def test_a_grader_that_would_send_something_else_than_planned_is_refused(tmp_path):
    with ledger_at(tmp_path) as ledger:
        with pytest.raises(PlanDriftError, match="golden/a: grader 'g' would send something else"):
            await go([plan("a")], PlainGrader(salt="edited"), ledger)
        assert ledger.rows() == ()


async def test_a_plan_for_a_grader_that_is_not_there_is_refused(tmp_path):
    with ledger_at(tmp_path) as ledger, pytest.raises(UnknownGraderError, match="'g' of the base side"):
        await go([plan("a", side=Side.BASE)], PlainGrader(), ledger)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_run_with_the_calls_in_flight_saved(tmp_path, number):
    doors = Doors()
    before = signal.getsignal(number)
    grader = PlainGrader(gate=doors)
    with ledger_at(tmp_path) as ledger:
        task = asyncio.create_task(go([plan(f"{n}") for n in range(9)], grader, ledger, concurrency=3))
        await doors.until(3)
        os.kill(os.getpid(), number)
        await until(lambda: signal.getsignal(number) == before)
        doors.open()
        with pytest.raises(RunInterruptedError, match=rf"stopped by {number.name} with 3 of 9 grades.*run the same"):
            await task
    assert len(grader.calls) == 3
    with ledger_at(tmp_path) as ledger:
        grader.gate = None
        outcome = await go([plan(f"{n}") for n in range(9)], grader, ledger)
    assert (outcome.resumed, outcome.made) == (3, 6)


async def test_calls_that_outlast_the_grace_are_given_up(tmp_path):
    doors = Doors()
    grader = PlainGrader(gate=doors)
    with ledger_at(tmp_path) as ledger:
        task = asyncio.create_task(go([plan(f"{n}") for n in range(9)], grader, ledger, concurrency=3, grace_s=0))
        await doors.until(3)
        doors.open("1")
        await doors.until(3)
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(RunInterruptedError, match="with 1 of 9 grades"):
            await task
    assert [r.item for r in read_ledger(tmp_path / "ledger.jsonl")] == ["golden/1"]
    assert grader.in_flight == 0


async def test_cancelling_leaves_no_call_and_no_reservation_behind(tmp_path):
    doors, budget, grader = Doors(), Budget(max_calls=3), PlainGrader()
    grader.gate = doors
    with ledger_at(tmp_path) as ledger:
        task = asyncio.create_task(go([plan(f"{n}") for n in range(9)], grader, ledger, concurrency=3, budget=budget))
        await doors.until(3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (grader.in_flight, budget.calls) == (0, 0)
        grader.gate = None
        assert (await go([plan("x")], grader, ledger, budget=budget)).made == 1


async def test_the_budget_stops_before_the_call_and_what_is_stored_still_counts(tmp_path):
    grader = PlainGrader()
    with ledger_at(tmp_path) as ledger:
        await go([plan("9")], grader, ledger)
        budget = Budget(max_calls=4)
        outcome = await go([plan(f"{n}") for n in range(10)], grader, ledger, budget=budget, concurrency=3)
    assert (outcome.made, outcome.resumed, outcome.not_made) == (4, 1, 5)
    assert len(grader.calls) == 1 + 4
    assert len(outcome.rows) == 5
    assert (
        budget.exhausted
        == "the cap of 4 calls is reached; raise `policy.budget.max_calls`, and --max-calls where it is given"
    )


async def test_the_cost_cap_is_never_passed_and_is_used_up_by_cheap_calls(tmp_path):
    def answer(item, call):
        return Grade(verdict=GradeVerdict.CORRECT, usage=Usage(cost_usd=0.01))

    budget = Budget(max_cost_usd=0.1)
    with ledger_at(tmp_path) as ledger:
        outcome = await go(
            [plan(f"{n}") for n in range(40)],
            PlainGrader(answer),
            ledger,
            budget=budget,
            concurrency=16,
            worst_cost=lambda key, request: 0.03,
        )
    # The eighth call starts with 0.07 spent and room for a worst case of 0.03; a ninth could pass the cap.
    assert outcome.made == 8
    assert budget.cost_usd == pytest.approx(0.08)


async def test_each_grader_that_will_be_called_is_prepared_once_before_any_call(tmp_path):
    log = []

    class Prepared(PlainGrader):
        async def prepare(self):
            log.append(f"prepare {self.salt}")

        async def grade(self, item, request, call):
            log.append(f"grade {self.salt}")
            return await super().grade(item, request, call)

    graders = {HEAD: Prepared(salt="h"), BASE: Prepared(salt="b"), (Side.HEAD, "idle"): Prepared(salt="idle")}
    plans = [plan("a", salt="h"), plan("b", salt="h"), plan("a", salt="b", side=Side.BASE)]
    with ledger_at(tmp_path) as ledger:
        await go(plans, graders, ledger)
        assert sorted(log[:2]) == ["prepare b", "prepare h"]
        assert sorted(log[2:]) == ["grade b", "grade h", "grade h"]
        await go(plans, graders, ledger)
    assert len(log) == 5


async def test_progress_hears_of_every_grade(tmp_path):
    class Notes:
        def __init__(self):
            self.heard = []

        def start(self, total):
            self.heard.append(total)

        def advance(self, *, reused, failed):
            self.heard.append((reused, failed))

        def finish(self):
            self.heard.append("end")

    def answer(item, call):
        return (
            Grade(error=GradeError(kind=ErrorKind.MALFORMED, message="?"))
            if item.id == "golden/b"
            else correct(item, call)
        )

    with ledger_at(tmp_path) as ledger:
        await go([plan("a")], PlainGrader(answer), ledger)
        notes = Notes()
        await go([plan("a"), plan("b")], PlainGrader(answer), ledger, progress=notes)
    assert notes.heard == [2, (True, False), (False, True), "end"]
