import json

import pytest

from grader_gate import action
from grader_gate.github.check import MAX_TEXT, Conclusion
from grader_gate.github.event import Event, EventKind
from grader_gate.github.publish import NotAResultFolder, check_for, check_output, load, publish, save_event
from grader_gate.model import GateVerdict
from grader_gate.report.marker import parse_header
from tests.github_ends.conftest import TOKEN
from tests.report import fixtures
from tests.servers.github_server import Token

HEAD = "f" * 40


def pull_request(server, **more) -> Event:
    fields = {
        "kind": EventKind.PULL_REQUEST,
        "name": "pull_request",
        "repository": server.repo,
        "number": 1,
        "head_sha": HEAD,
        "run_id": 5,
        "api_url": server.url,
    }
    return Event(**fields | more)


@pytest.mark.parametrize("verdict", GateVerdict)
@pytest.mark.parametrize("mode", ["block", "report"])
def test_only_a_pass_nothing_to_do_or_report_mode_is_green(verdict, mode):
    output = check_output(fixtures.result(verdict, "words", 0, mode=mode))
    green = verdict in (GateVerdict.PASS, GateVerdict.NOT_APPLICABLE) or mode == "report"
    assert output.conclusion is (Conclusion.SUCCESS if green else Conclusion.FAILURE)
    assert output.title.startswith("Report mode, does not block: ") is (mode == "report")
    assert ("Could not measure: words" in output.title) is (verdict is GateVerdict.ERROR)


def test_two_thousand_findings_fit_check_and_comment(server, client):
    server.add_pull(1, HEAD)
    result = fixtures.many()
    assert len(check_output(result).summary.encode()) <= MAX_TEXT
    event = pull_request(server)
    outcome = publish(result, event, client, check=check_for(event, client, "", print))
    assert outcome.complete
    assert [run["conclusion"] for run in server.check_runs] == ["failure"]
    assert len(server.bodies(1)[0]) <= 60_000


def test_hostile_words_reach_github_in_a_valid_request(server, client):
    server.add_pull(1, HEAD)
    hostile = "-->\n<!-- grader-gate {} --> ::error:: \u202e @everyone \ud800 | ` " * 50
    result = fixtures.failing().model_copy(update={"headline": hostile})
    event = pull_request(server)
    outcome = publish(result, event, client, check=check_for(event, client, "", print))
    assert outcome.complete, outcome.lines
    assert parse_header(server.bodies(1)[0])["verdict"] == "fail"
    assert len(server.check_runs[0]["output"]["title"].encode()) <= 255


def test_what_was_not_posted_is_told_with_its_reason(server, client):
    server.add_pull(1, HEAD)
    server.tokens[TOKEN] = Token(permissions={"pull_requests": "read", "issues": "read"})
    event = pull_request(server)
    outcome = publish(fixtures.failing(), event, client, check=check_for(event, client, "", print))
    assert [(sink.sink, sink.state) for sink in outcome.sinks] == [("check", "failed"), ("comment", "failed")]
    assert not outcome.complete
    assert all("Resource not accessible by integration" in line for line in outcome.lines)


def test_a_token_that_cannot_see_the_pull_request_is_told(server, client):
    outcome = publish(fixtures.failing(), pull_request(server), client, check=None)
    assert [(sink.sink, sink.state) for sink in outcome.sinks] == [("check", "left out"), ("comment", "failed")]
    assert "404 Not Found" in outcome.lines[1]


def test_a_folder_survives_and_a_wrong_one_is_told(server, tmp_path):
    event = pull_request(server)
    save_event(event, tmp_path)
    with pytest.raises(NotAResultFolder, match=r"result\.json cannot be read .*name the output folder"):
        load(tmp_path)
    result = fixtures.failing()
    (tmp_path / "result.json").write_text(result.model_dump_json(), encoding="utf-8")
    assert load(tmp_path) == (result, event)
    (tmp_path / "result.json").write_text(json.dumps({"verdict": "perhaps"}), encoding="utf-8")
    with pytest.raises(NotAResultFolder, match=r"result\.json: .*not written by this version"):
        load(tmp_path)


def test_posting_later_needs_a_token(tmp_path):
    with pytest.raises(action.NotInActions, match="GITHUB_TOKEN is not set"):
        action.publish_folder(tmp_path, {})
