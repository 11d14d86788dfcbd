import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_gate.github.check import Conclusion, GateCheck, Note, Output, Sink, check_name, run_of
from grader_gate.github.text import cap_bytes
from tests.github_ends.conftest import TOKEN
from tests.servers.github_server import Fault, Token

REPO, SHA = "acme/judges", "c" * 40
RUN_URL = "https://github.example/acme/judges/actions/runs/100/attempts/1"
PASSED = Output(Conclusion.SUCCESS, "Pass", "All is well.")
FAILED = Output(Conclusion.FAILURE, "2 regressions", "Two cases regress.")


def gate_check(client, lines=None, **more) -> GateCheck:
    fields = {
        "details_url": RUN_URL,
        "run_id": 100,
        "attempt": 1,
        "log": (lines if lines is not None else []).append,
    } | more
    return GateCheck(client, REPO, SHA, **fields)


def notes(count: int) -> list[Note]:
    return [Note("judge.md", n + 1, "failure", f"title {n}", f"message {n}") for n in range(count)]


def test_it_is_in_progress_first_and_then_completed(server, client):
    with gate_check(client) as check:
        (run,) = server.check_runs
        assert (run["status"], run["conclusion"], run["name"], run["head_sha"]) == (
            "in_progress",
            None,
            "grader-gate",
            SHA,
        )
        assert run["details_url"] == RUN_URL
        assert check.complete(FAILED) is True
    assert (run["status"], run["conclusion"]) == ("completed", "failure")
    assert (run["output"]["title"], run["output"]["summary"]) == ("2 regressions", "Two cases regress.")
    assert check.url == run["html_url"]


@pytest.mark.parametrize("error", [ValueError("bug"), KeyboardInterrupt(), SystemExit(9)])
def test_a_crash_completes_it_as_failed(server, client, error):
    with pytest.raises(type(error)), gate_check(client):
        raise error
    (run,) = server.check_runs
    assert (run["status"], run["conclusion"]) == ("completed", "failure")
    assert "without a verdict" in run["output"]["title"]


@pytest.mark.parametrize(("count", "requests"), [(0, 1), (1, 1), (50, 1), (51, 2), (100, 2), (120, 3)])
def test_annotations_go_in_batches_of_50(server, client, count, requests):
    with gate_check(client) as check:
        check.complete(Output(Conclusion.FAILURE, "t", "s", notes(count)))
    patches = [seen for seen in server.requests if seen.verb == "PATCH"]
    assert len(patches) == requests
    assert patches[0].body["conclusion"] == "failure"
    sent = server.annotations[server.check_runs[0]["id"]]
    assert [note["start_line"] for note in sent] == list(range(1, count + 1))


def test_a_refused_annotation_costs_words_and_not_the_verdict(server, client):
    lines = []
    server.fault("PATCH", "/check-runs/", Fault(422, "Invalid request. No subschema matched."))
    with gate_check(client, lines) as check:
        assert check.complete(Output(Conclusion.FAILURE, "2 regressions", "s" * 100, notes(60))) is True
    (run,) = server.check_runs
    assert (run["status"], run["conclusion"], run["output"]["title"]) == ("completed", "failure", "2 regressions")
    assert run["output"]["annotations_count"] == 0
    assert any("sent again in short" in line for line in lines)


def test_a_later_batch_that_fails_leaves_the_verdict(server, client):
    lines = []
    with gate_check(client, lines) as check:
        server.fault("PATCH", "/check-runs/", Fault(pass_through=True), Fault(422, "no"))
        assert check.complete(Output(Conclusion.FAILURE, "t", "s", notes(120))) is True
    assert server.check_runs[0]["output"]["annotations_count"] == 50
    assert lines == [line for line in lines if "annotations from number 51 on not posted" in line]
    assert len(lines) == 1


def test_what_is_too_long_is_cut_before_it_is_sent(server, client):
    with gate_check(client) as check:
        check.complete(
            Output(Conclusion.FAILURE, "ü" * 300, "日" * 65_535, [Note("p", 1, "warning", "t" * 999, "m" * 99_999)])
        )
    run = server.check_runs[0]
    assert len(run["output"]["title"].encode()) <= 255
    assert len(run["output"]["summary"].encode()) <= 65_535
    (note,) = server.annotations[run["id"]]
    assert (len(note["title"].encode()), len(note["message"].encode())) == (255, 60_000)


def test_a_lost_answer_to_the_create_makes_one_check_run(server, client):
    server.fault("POST", "/check-runs$", Fault(500, after=True))
    with gate_check(client) as check:
        check.complete(PASSED)
    assert [run["conclusion"] for run in server.check_runs] == ["success"]


def test_a_re_run_has_a_check_run_of_its_own_and_leaves_the_older_one(server, client):
    first = gate_check(client)
    first.start()
    with gate_check(client, attempt=2) as second:
        second.complete(PASSED)
    first.complete(FAILED)
    assert [(run["external_id"], run["conclusion"]) for run in server.check_runs] == [
        ("grader-gate/grader-gate/100/1", "failure"),
        ("grader-gate/grader-gate/100/2", "success"),
    ]


@pytest.mark.parametrize(
    "token",
    [Token(login="octo-pat", app=False), Token(permissions={"statuses": "write", "issues": "write", "checks": "read"})],
    ids=["personal token", "no checks: write"],
)
def test_where_check_runs_are_refused_a_commit_status_says_it(server, client, token):
    server.tokens[TOKEN] = token
    with gate_check(client) as check:
        assert [(s["state"], s["context"]) for s in server.statuses[SHA]] == [("pending", "grader-gate")]
        assert check.complete(Output(Conclusion.FAILURE, "x " * 100, "s")) is True
    assert check.sink is Sink.STATUS
    assert "403" in check.why_not
    last = server.statuses[SHA][-1]
    assert (last["state"], last["target_url"], len(last["description"])) == ("failure", RUN_URL, 140)
    assert server.check_runs == []


def test_an_older_run_does_not_hide_a_newer_status(server, client):
    server.tokens[TOKEN] = Token(app=False)
    server.add_status(SHA, "grader-gate", "failure", RUN_URL.replace("/100/", "/200/"))
    server.add_status(SHA, "other", "success", None)
    with gate_check(client) as check:
        assert check.complete(PASSED) is False
    assert [s["state"] for s in server.statuses[SHA]] == ["failure", "success"]
    assert "newer run" in check.why_not


def test_a_token_that_may_do_neither_is_told_and_nothing_raises(server, client):
    server.tokens[TOKEN] = Token(permissions={"contents": "read", "checks": "read", "statuses": "read"})
    lines = []
    with gate_check(client, lines) as check:
        assert check.complete(PASSED) is False
    assert check.sink is Sink.NOTHING
    assert "Resource not accessible by integration" in check.why_not
    assert any(line.startswith("no commit status") for line in lines)


def test_an_outage_at_the_start_is_made_good_at_the_end(server, client):
    server.fault("POST", "/check-runs$", *[Fault(503)] * 5)
    with gate_check(client) as check:
        assert server.check_runs == []
        assert check.complete(FAILED) is True
    assert [run["conclusion"] for run in server.check_runs] == ["failure"]


def test_an_outage_at_the_end_is_told(server, client):
    with gate_check(client) as check:
        server.fault("PATCH", "/check-runs/", *[Fault(503)] * 5)
        assert check.complete(PASSED) is False
    assert "503" in check.why_not


@pytest.mark.parametrize(
    ("url", "run"),
    [
        (RUN_URL, (100, 1)),
        ("https://x/a/b/actions/runs/7", (7, 1)),
        ("https://x/a/b/actions/runs/", (0, 0)),
        ("https://x/runs/abc", (0, 0)),
        (None, (0, 0)),
    ],
)
def test_the_run_in_an_address(url, run):
    assert run_of(url) == run


def test_the_key_is_part_of_the_name():
    assert (check_name(""), check_name("nightly")) == ("grader-gate", "grader-gate (nightly)")


@given(st.text(max_size=200), st.integers(4, 100))
def test_cut_text_fits_and_stays_a_beginning(text, limit):
    cut = cap_bytes(text, limit)
    assert len(cut.encode()) <= limit
    clean = text.encode("utf-8", "replace").decode()
    assert cut == clean or (cut.endswith("…") and clean.startswith(cut[:-1]))
