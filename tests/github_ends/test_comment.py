import json
import random

import pytest

from grader_gate.github.comment import CommentAction, is_newer, upsert_comment
from grader_gate.github.errors import GitHubDown, ReadOnlyToken, Refused
from tests.servers.github_server import Fault, Token

REPO, BOT = "acme/judges", "github-actions[bot]"


def body(text: str = "verdict", *, run_id: int = 100, attempt: int = 1, key: str = "", pr_head: str = "aaa") -> str:
    fields = {"key": key, "run_id": run_id, "attempt": attempt, "pr_head": pr_head}
    return f"<!-- grader-gate {json.dumps(fields)} -->\n{text}\n"


def upsert(client, text: str, **more):
    return upsert_comment(client, REPO, 1, text, identity=more.pop("identity", BOT), **more)


def test_first_creates_then_updates_in_place_then_leaves_alone(server, client):
    first = upsert(client, body("one"))
    second = upsert(client, body("two", run_id=101))
    third = upsert(client, body("two", run_id=101))
    assert [o.action for o in (first, second, third)] == ["created", "updated", "unchanged"]
    assert server.bodies(1) == [body("two", run_id=101)]
    assert first.url == second.url == third.url == server.comments[1][0]["html_url"]


@pytest.mark.parametrize("before", [0, 1, 29, 30, 31, 99, 100, 101, 230])
def test_ours_is_found_behind_any_number_of_others(server, client, before):
    for n in range(before):
        server.add_comment(1, f"talk {n}", login="octocat")
    mine = server.add_comment(1, body("old", run_id=1))
    server.add_comment(1, "more talk", login="octocat")
    assert upsert(client, body("new")).action == "updated"
    assert [c["body"] for c in server.comments[1] if c["id"] == mine] == [body("new")]
    assert len(server.comments[1]) == before + 2


def test_nothing_to_say_creates_nothing_but_updates_what_would_mislead(server, client):
    assert upsert(client, body("none"), create=False).action == CommentAction.NONE
    assert server.writes() == []
    server.add_comment(1, body("broken", run_id=1))
    assert upsert(client, body("all well"), create=False).action == "updated"
    assert server.bodies(1) == [body("all well")]


def test_a_marker_by_somebody_else_is_not_ours(server, client):
    forged = server.add_comment(1, body("forged", run_id=10**9), login="mallory")
    twin = server.add_comment(1, body("forged", run_id=10**9), login="github-actions", user_type="User")
    assert upsert(client, body("real")).action == "created"
    kept = {c["id"]: c["body"] for c in server.comments[1]}
    assert kept.pop(forged) == kept.pop(twin) == body("forged", run_id=10**9)
    assert list(kept.values()) == [body("real")]


def test_a_marker_that_does_not_stand_first_is_not_ours(server, client):
    server.add_comment(1, "quoting:\n" + body("model output"))
    assert upsert(client, body("real")).action == "created"
    assert len(server.comments[1]) == 2


def test_keys_keep_comments_apart(server, client):
    upsert(client, body("a", key="a"))
    upsert(client, body("b", key="b"))
    upsert(client, body("a2", key="a", run_id=101))
    assert server.bodies(1) == [body("a2", key="a", run_id=101), body("b", key="b")]


@pytest.mark.parametrize(
    ("identity", "author"),
    [("acme-gate[bot]", "acme-gate[bot]"), ("Acme-Gate", "acme-gate[bot]"), ("octo-pat", "octo-pat")],
)
def test_a_custom_identity_finds_its_own(server, client, identity, author):
    server.add_comment(1, body("old", run_id=1), login=author)
    server.add_comment(1, body("of the default bot", run_id=1))
    assert upsert(client, body("new"), identity=identity).action == "updated"
    assert server.bodies(1) == [body("new"), body("of the default bot", run_id=1)]


def test_duplicates_are_healed_and_the_oldest_stays(server, client):
    oldest = server.add_comment(1, body("one", run_id=1))
    server.add_comment(1, "talk", login="octocat")
    server.add_comment(1, body("two", run_id=2))
    server.add_comment(1, body("three", run_id=3))
    outcome = upsert(client, body("now"))
    assert (outcome.action, outcome.healed) == ("updated", 2)
    assert [(c["id"] == oldest, c["body"]) for c in server.comments[1]] == [(True, body("now")), (False, "talk")]


def test_a_newer_run_is_kept_also_where_it_stands_in_a_duplicate(server, client):
    server.add_comment(1, body("old", run_id=1))
    server.add_comment(1, body("newer", run_id=200))
    outcome = upsert(client, body("slow old run", run_id=100))
    assert outcome.action == "kept newer"
    assert server.bodies(1) == [body("newer", run_id=200)]


@pytest.mark.parametrize(
    ("theirs", "ours", "newer"),
    [
        ({"run_id": 5, "attempt": 1}, {"run_id": 5, "attempt": 1}, False),
        ({"run_id": 5, "attempt": 2}, {"run_id": 5, "attempt": 1}, True),
        ({"run_id": 6, "attempt": 1}, {"run_id": 5, "attempt": 1}, True),
        ({"run_id": 4, "attempt": 9}, {"run_id": 5, "attempt": 1}, False),
        ({"run_id": 6, "attempt": 1, "pr_head": "a"}, {"run_id": 5, "attempt": 2, "pr_head": "a"}, False),
        ({"run_id": 6, "attempt": 1, "pr_head": "b"}, {"run_id": 5, "attempt": 2, "pr_head": "a"}, True),
        ({}, {"run_id": 5, "attempt": 1}, False),
        ({"run_id": "x", "attempt": True}, {"run_id": 5, "attempt": 1}, False),
    ],
)
def test_which_run_is_newer(theirs, ours, newer):
    assert is_newer(theirs, ours) is newer


def test_a_create_that_answered_500_but_was_done_makes_one_comment(server, client):
    server.fault("POST", "/comments$", Fault(500, after=True))
    assert upsert(client, body()).action == "created"
    assert server.bodies(1) == [body()]
    assert [seen.verb for seen in server.writes()] == ["POST"]


def test_a_create_that_was_not_done_is_repeated(server, client):
    server.fault("POST", "/comments$", Fault(502), Fault(drop=True))
    assert upsert(client, body()).action == "created"
    assert server.bodies(1) == [body()]


def test_an_outage_that_lasts_is_told(server, client):
    server.fault("POST", "/comments$", *[Fault(503)] * 5)
    with pytest.raises(GitHubDown):
        upsert(client, body())
    assert server.bodies(1) == []


def test_two_runs_that_create_at_once_leave_one(server, client):
    # The other run's comment appears between our listing and our create.
    other = lambda: server.add_comment(1, body("other run", run_id=99))  # noqa: E731
    server.fault("GET", "/issues/1/comments$", Fault(pass_through=True, then=other))
    outcome = upsert(client, body("ours", run_id=100))
    assert (outcome.action, outcome.healed) == ("created", 1)
    assert server.bodies(1) == [body("ours", run_id=100)]


def test_deleted_between_listing_and_edit_is_written_anew(server, client):
    server.add_comment(1, body("old", run_id=1))
    server.fault("GET", "/issues/1/comments$", Fault(pass_through=True, then=lambda: server.comments[1].clear()))
    assert upsert(client, body("new")).action == "created"
    assert server.bodies(1) == [body("new")]


def test_a_bot_that_deletes_for_ever_is_told(server, client):
    for _ in range(20):
        server.fault("POST", "/comments$", Fault(pass_through=True, then=lambda: server.comments[1].clear()))
    with pytest.raises(Refused, match="deleted as often as it was written"):
        upsert(client, body("new"))


def test_a_read_only_token_is_told_by_its_class(server, client):
    server.tokens["good-token-0123456789"] = Token(permissions={"issues": "read", "pull_requests": "read"})
    with pytest.raises(ReadOnlyToken, match="Resource not accessible by integration"):
        upsert(client, body())
    assert server.bodies(1) == []


def test_a_body_without_header_is_a_mistake_of_ours(client):
    with pytest.raises(ValueError, match="begin with its header"):
        upsert(client, "no header")


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_order_one_comment_of_the_newest_run_is_left(server, client, seed):
    chance = random.Random(seed)
    for run_id in chance.sample(range(1, 30), chance.randint(0, 4)):
        server.add_comment(1, body(f"left by {run_id}", run_id=run_id))
    runs = chance.sample(range(30, 60), 5)
    left = [json.loads(b.split(" ", 2)[2].split(" -->")[0])["run_id"] for b in server.bodies(1)]
    for run_id in runs:
        upsert(client, body(f"run {run_id}", run_id=run_id))
        newest = max([run_id, *left])
        left = [newest]
        assert len(server.bodies(1)) == 1
        assert f'"run_id": {newest}' in server.bodies(1)[0]
