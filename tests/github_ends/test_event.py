import copy

import pytest

from grader_gate.github.event import BadEvent, Event, EventKind, parse_event
from tests.servers.github_objects import event

ENV = {
    "GITHUB_REPOSITORY": "acme/judges",
    "GITHUB_SHA": "e" * 40,
    "GITHUB_RUN_ID": "4711",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_ACTOR": "octocat",
    "GITHUB_API_URL": "https://ghes.example/api/v3/",
    "GITHUB_SERVER_URL": "https://ghes.example",
}


def test_a_pull_request_of_githubs_own_example():
    read = parse_event("pull_request", event("pull_request.synchronize"), ENV)
    assert read == Event(
        kind=EventKind.PULL_REQUEST,
        name="pull_request",
        action="synchronize",
        repository="acme/judges",
        number=2,
        head_sha="ec26c3e57ca3a959ca5aad62de7213c562f8c821",
        base_sha="f95f852bd8fca8fcc58a9a2d6c842781e32a215e",
        base_ref="master",
        merge_sha="e" * 40,
        labels=("bug",),
        actor="octocat",
        author="Codertocat",
        by="Codertocat",
        default_branch="master",
        run_id=4711,
        attempt=2,
        server_url="https://ghes.example",
        api_url="https://ghes.example/api/v3",
    )
    assert read.run_url == "https://ghes.example/acme/judges/actions/runs/4711/attempts/2"
    assert read.read_only_reason is None


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "labeled", "closed", "converted_to_draft"])
def test_every_example_of_a_pull_request_is_read(action):
    read = parse_event("pull_request", event(f"pull_request.{action}"), ENV)
    assert (read.action, read.is_fork, read.number) == (action, False, 2)
    assert read.draft is (action == "converted_to_draft")


@pytest.mark.parametrize(
    ("repo", "fork"),
    [
        (None, True),
        ({}, True),
        ({"full_name": "mallory/judges"}, True),
        ({"full_name": "Codertocat/Hello-World"}, False),
    ],
)
def test_a_deleted_or_foreign_head_repository_is_a_fork(repo, fork):
    payload = event("pull_request.opened")
    payload["pull_request"]["head"]["repo"] = repo
    read = parse_event("pull_request", payload, ENV)
    assert read.is_fork is fork
    assert ("fork" in (read.read_only_reason or "")) is fork


def test_dependabot_is_told_apart_and_a_persons_re_run_is_not_dependabots():
    payload = event("pull_request.opened")
    payload["sender"]["login"] = "dependabot[bot]"
    assert "Dependabot" in parse_event("pull_request", payload, ENV).read_only_reason
    assert parse_event("pull_request", payload, ENV | {"GITHUB_TRIGGERING_ACTOR": "octocat"}).read_only_reason is None


def test_a_merge_group_names_both_sides():
    read = parse_event("merge_group", event("merge_group"), ENV)
    assert read.head_sha == "2ffea6db159f6b6c47a24e778fb9ef40cf6b1c7d"
    assert read.base_sha == "380387fbc80638b734a49e1be1c4dfec1c01b33c"
    assert (read.base_ref, read.number) == ("main", None)


def test_push_dispatch_and_schedule():
    push = parse_event("push", event("push"), ENV)
    assert (push.kind, push.number) == (EventKind.PUSH, None)
    hand = parse_event("workflow_dispatch", event("workflow_dispatch"), ENV | {"GITHUB_REF_NAME": "main"})
    assert (hand.kind, hand.head_sha, hand.base_ref) == (EventKind.DISPATCH, "e" * 40, "main")
    assert parse_event("schedule", {}, ENV).kind is EventKind.SCHEDULE
    assert parse_event("push", {"after": "0" * 40}, ENV).head_sha == ""


@pytest.mark.parametrize("name", ["issue_comment", "watch", "", "unsupported", "PULL_REQUEST"])
def test_an_unknown_event_is_unsupported_and_no_error(name):
    assert parse_event(name, event("issue_comment"), ENV).kind is EventKind.UNSUPPORTED


@pytest.mark.parametrize("gone", ["pull_request", "number", "head", "base", "head.sha", "base.sha"])
def test_a_payload_that_lacks_what_it_must_have_is_told(gone):
    payload = copy.deepcopy(event("pull_request.opened"))
    node = payload if gone == "pull_request" else payload["pull_request"]
    *way, last = gone.split(".")
    for key in way:
        node = node[key]
    del node[last]
    with pytest.raises(BadEvent, match=f"no `{last}`"):
        parse_event("pull_request", payload, ENV)


@pytest.mark.parametrize("sha", ["main", "--upload-pack=x", "a" * 39, "G" * 40, 7])
def test_a_head_that_is_no_sha_is_refused(sha):
    payload = event("pull_request.opened")
    payload["pull_request"]["head"]["sha"] = sha
    with pytest.raises(BadEvent, match="no full commit SHA"):
        parse_event("pull_request", payload, ENV)


def test_without_variables_the_payload_and_githubs_own_addresses_hold():
    read = parse_event("pull_request", event("pull_request.opened"), {"GITHUB_RUN_ID": "x"})
    assert (read.repository, read.run_id, read.attempt, read.run_url) == ("Codertocat/Hello-World", 0, 1, None)
    assert (read.api_url, read.server_url) == ("https://api.github.com", "https://github.com")


def test_an_event_survives_its_file():
    read = parse_event("pull_request", event("pull_request.labeled"), ENV)
    assert Event.model_validate_json(read.model_dump_json()) == read
