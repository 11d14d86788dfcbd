import pytest

from grader_gate.github.client import Client
from grader_gate.github.errors import BadToken, GitHubDown, NotFound, ReadOnlyToken, Refused, Throttled
from grader_gate.github.retry import RetryPolicy, is_throttle, retry_after
from tests.github_ends.conftest import TOKEN
from tests.servers.github_server import Fault, GitHubServer, Token

PULL = "/repos/acme/judges/pulls/1"
COMMENTS = "/repos/acme/judges/issues/1/comments"
HEAD = "a" * 40


@pytest.fixture(autouse=True)
def pull(server: GitHubServer) -> None:
    server.add_pull(1, HEAD)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_get_is_repeated_after_an_outage_with_growing_waits(server, client, naps, status):
    server.fault("GET", "/pulls/1$", *[Fault(status=status)] * 3)
    assert client.get(PULL)["head"]["sha"] == HEAD
    assert naps == [1, 2, 4]


@pytest.mark.parametrize("fault", [Fault(drop=True), Fault(cut=True)], ids=["dropped", "truncated"])
def test_get_is_repeated_after_an_answer_that_does_not_arrive(server, client, naps, fault):
    server.fault("GET", "/pulls/1$", fault)
    assert client.get(PULL)["head"]["sha"] == HEAD
    assert naps == [1]


def test_get_gives_up_after_five_tries(server, client, naps):
    server.fault("GET", "/pulls/1$", *[Fault(status=502, message="Bad Gateway")] * 5)
    with pytest.raises(GitHubDown, match="502 Bad Gateway"):
        client.get(PULL)
    assert len(naps) == 4


@pytest.mark.parametrize(
    ("fault", "waits"),
    [
        (Fault(429, "Too many", {"Retry-After": "7"}), [7]),
        (Fault(403, "You have exceeded a secondary rate limit."), [60]),
        (Fault(403, "API rate limit exceeded", {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000030"}), [31]),
        (Fault(429, "Too many", {"Retry-After": "Mon, 12 Jan 1970 13:46:50 GMT"}), [10]),
    ],
    ids=["retry-after", "secondary without header", "primary with reset", "retry-after as a date"],
)
def test_a_limit_is_waited_for_as_it_asks(server, client, naps, fault, waits):
    server.fault("GET", "/pulls/1$", fault)
    assert client.get(PULL)["number"] == 1
    assert naps == waits


def test_a_secondary_limit_without_header_waits_longer_each_time(server, client, naps):
    server.fault("GET", "/pulls/1$", *[Fault(403, "You have exceeded a secondary rate limit.")] * 3)
    client.get(PULL)
    assert naps == [60, 120, 240]


def test_a_limit_that_lifts_in_24_minutes_is_not_waited_for(server, client, naps):
    reset = str(1_000_000 + 24 * 60)
    server.fault(
        "GET",
        "/pulls/1$",
        Fault(403, "API rate limit exceeded", {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}),
    )
    with pytest.raises(Throttled, match=r"about 24 min.*grader-gate publish"):
        client.get(PULL)
    assert naps == []


def test_a_rate_limited_post_is_sent_again_for_it_was_not_done(server, client, naps):
    server.fault("POST", "/comments$", Fault(429, "slow down", {"Retry-After": "3"}))
    client.create(COMMENTS, {"body": "hello"}, find=lambda: pytest.fail("nothing was lost"))
    assert server.bodies(1) == ["hello"]
    assert naps == [3]


def test_a_post_that_failed_after_it_was_done_is_found_and_not_sent_again(server, client):
    server.fault("POST", "/comments$", Fault(500, after=True))
    made = client.create(COMMENTS, {"body": "hello"}, find=lambda: server.comments[1][0])
    assert made["body"] == "hello"
    assert server.bodies(1) == ["hello"]


def test_a_post_that_failed_before_it_was_done_is_sent_again(server, client):
    server.fault("POST", "/comments$", Fault(drop=True), Fault(502))
    client.create(COMMENTS, {"body": "hello"}, find=lambda: None)
    assert server.bodies(1) == ["hello"]


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (401, "Bad credentials", BadToken),
        (403, "Resource not accessible by integration", ReadOnlyToken),
        (403, "Unable to create comment because issue is locked.", Refused),
        (404, "Not Found", NotFound),
        (410, "Issues are disabled for this repo", NotFound),
        (422, "Validation Failed", Refused),
        (451, "Repository access blocked", Refused),
    ],
)
def test_refusals_are_told_by_reason_and_not_repeated(server, client, naps, status, message, error):
    server.fault("POST", "/comments$", Fault(status, message))
    with pytest.raises(error) as raised:
        client.create(COMMENTS, {"body": "hello"}, find=lambda: None)
    assert f"POST {COMMENTS}: {status} {message}" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert naps == []


def test_the_reasons_of_a_422_are_told(server, client):
    server.fault(
        "POST",
        "/comments$",
        Fault(422, "Validation Failed", errors=[{"code": "custom", "message": "Body is too long"}]),
    )
    with pytest.raises(Refused, match=r"Validation Failed \(Body is too long\)") as raised:
        client.create(COMMENTS, {"body": "hello"}, find=lambda: None)
    assert raised.value.status == 422


def test_the_token_is_in_no_message_and_no_repr(server, client):
    server.fault("GET", "/pulls/1$", Fault(404, f"no such thing for {TOKEN}"))
    with pytest.raises(NotFound) as raised:
        client.get(PULL)
    assert "no such thing for ***" in str(raised.value)
    assert TOKEN not in repr(raised.value) + repr(client)


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 250])
def test_every_page_of_a_listing_is_read(server, client, count):
    for n in range(count):
        server.add_comment(1, f"comment {n}")
    assert [c["body"] for c in client.pages(COMMENTS)] == [f"comment {n}" for n in range(count)]
    assert len(server.requests) == max(1, -(-count // 100))


def test_a_deleted_thing_counts_as_deleted(server, client):
    client.delete("/repos/acme/judges/issues/comments/5")
    assert server.requests[0].status == 404


def test_identity_is_the_viewer_and_falls_back_without_graphql(server, client):
    server.tokens[TOKEN] = Token(login="acme-gate[bot]")
    assert client.identity == "acme-gate[bot]"
    server.graphql = False
    other = Client(TOKEN, server.url)
    assert other.identity == "github-actions[bot]"
    other.close()


def test_a_redirect_to_another_host_is_refused(server, client):
    server.fault("GET", "/pulls/1$", Fault(301, "Moved", {"Location": "http://evil.invalid/x"}))
    with pytest.raises(Refused, match="redirected from host"):
        client.get(PULL)


def test_no_server_is_one_clear_line(naps):
    client = Client(TOKEN, "http://127.0.0.1:9", sleep=naps.append, policy=RetryPolicy(attempts=2))
    with pytest.raises(GitHubDown, match=r"GET /x: no answer \(ConnectionError\)"):
        client.get("/x")
    assert naps == [1]
    client.close()


def test_headers_that_say_nothing_usable_are_ignored():
    assert retry_after({"retry-after": "soon"}, 0) is None
    assert retry_after({"x-ratelimit-remaining": "0"}, 0) is None
    assert retry_after({"x-ratelimit-remaining": "5", "x-ratelimit-reset": "99"}, 0) is None
    assert retry_after({"retry-after": "-4"}, 0) == 0


def test_a_refusal_is_no_limit():
    assert not is_throttle(403, {}, "Resource not accessible by integration")
    assert not is_throttle(404, {"retry-after": "5"}, "Not Found")
    assert is_throttle(403, {"retry-after": "5"}, "wait")


@pytest.mark.parametrize("page", [b"<html>Sign in</html>", b"", b"[]", b"{}", b"null"])
def test_a_page_of_a_proxy_with_status_200_is_no_answer(server, client, page):
    server.fault("GET", "/pulls/1$", Fault(200, raw=page))
    with pytest.raises(GitHubDown, match="not the answer that was asked for"):
        client.get(PULL)


def test_a_page_of_a_proxy_in_place_of_a_listing_is_no_empty_listing(server, client):
    server.fault("GET", "/comments$", Fault(200, raw=b"<html>Sign in</html>"))
    with pytest.raises(GitHubDown, match="not the listing that was asked for"):
        list(client.pages(COMMENTS))
