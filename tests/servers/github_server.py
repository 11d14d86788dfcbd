"""A stand-in for GitHub: stateful, over a real socket, judged by GitHub's own description.

What a client sends and what this server answers are both checked against the OpenAPI slice; complaints gather in
``violations``, which the fixture asserts to be empty. Tokens have permissions, endpoints can be given faults, and every
request is kept in ``requests``.
"""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import threading
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.openapi.spec import Spec
from tests.servers import github_objects as objects
from tests.servers import github_repository as repository

MAX_BODY = 65_536
READ = {"GET"}


@dataclass
class Token:
    """Who a token writes as and what it may do; a permission is ``read``, ``write`` or absent."""

    login: str = "github-actions[bot]"
    permissions: dict[str, str] = field(default_factory=lambda: dict.fromkeys(AREAS, "write"))
    app: bool = True


AREAS = ("issues", "checks", "statuses", "pull_requests", "contents", "actions")


@dataclass
class Fault:
    """What to do to one request instead of answering it.

    :ivar raw: the answer's body, whatever it is.
    :ivar pass_through: answer as usual; for the sake of ``then``.
    :ivar then: called after the request, before its answer leaves: what others do at that moment.
    :ivar after: do what was asked first, so that only the answer is lost.
    :ivar drop: close the connection without an answer.
    :ivar cut: answer, but stop in the middle of the JSON.
    """

    status: int = 500
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    errors: list[dict[str, str]] | None = None
    after: bool = False
    drop: bool = False
    cut: bool = False
    pass_through: bool = False
    raw: bytes | None = None
    then: Callable[[], None] | None = None


@dataclass(frozen=True)
class Seen:
    """One request."""

    verb: str
    path: str
    query: dict[str, str]
    body: Any
    status: int


class Answer(Exception):
    """An answer that ends the handling of a request."""

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers or {}


class GitHubServer:
    """The server; use with ``with``. One repository, ``acme/judges`` by default.

    :param tls: certificate and key, PEM files: the server then speaks https.
    """

    def __init__(self, repo: str = "acme/judges", *, tls: tuple[Path, Path] | None = None) -> None:
        self.repo = repo
        self.tokens: dict[str, Token] = {"good-token-0123456789": Token()}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.check_runs: list[dict[str, Any]] = []
        self.annotations: dict[int, list[dict[str, Any]]] = {}
        self.statuses: dict[str, list[dict[str, Any]]] = {}
        self.pulls: dict[int, dict[str, Any]] = {}
        self.merge_bases: dict[str, str] = {}
        self.faults: list[tuple[str, re.Pattern[str], Fault]] = []
        self.requests: list[Seen] = []
        self.violations: list[str] = []
        self.graphql = True
        self.git_repo: Path | None = None
        self.git_is_private = True
        self.state = repository.RepositoryState()
        self._ids = iter(range(1000, 10**9))
        self._clock = iter(range(10**6))
        self._lock = threading.RLock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._scheme = "http"
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
            self._scheme = "https"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> GitHubServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    # ------------------------------------------------------------ set-up by tests

    def fault(self, verb: str, pattern: str, *faults: Fault) -> None:
        """Give the next requests that match ``pattern`` (searched in the path) these faults, one each."""
        self.faults += [(verb, re.compile(pattern), fault) for fault in faults]

    def add_pull(self, number: int, head_sha: str, **changes: Any) -> None:
        self.pulls[number] = objects.pull(self.url, self.repo, number, head_sha) | changes

    def add_comment(self, number: int, body: str, *, login: str = "github-actions[bot]", user_type: str = "") -> int:
        made = objects.comment(self.url, self.repo, number, next(self._ids), body, login, self.time(), user_type)
        self.comments.setdefault(number, []).append(made)
        return int(made["id"])

    def add_status(self, sha: str, context: str, state: str, target_url: str | None) -> None:
        made = objects.status(self.url, self.repo, sha, next(self._ids), context, state, "", target_url, self.time())
        self.statuses.setdefault(sha, []).append(made)

    def next_id(self) -> int:
        return next(self._ids)

    def bodies(self, number: int) -> list[str]:
        return [comment["body"] for comment in self.comments.get(number, [])]

    def writes(self) -> list[Seen]:
        """Requests that changed something, or would have."""
        return [seen for seen in self.requests if seen.verb not in READ and seen.path != "/graphql"]

    def time(self) -> str:
        n = next(self._clock)
        return f"2026-11-30T{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}Z"

    # ------------------------------------------------------------ answering

    def handle(self, verb: str, target: str, headers: Any, raw: bytes) -> tuple[int, bytes, dict[str, str], bool]:
        """Status, body, headers, and whether to hang up without any of them."""
        url = urlsplit(target)
        query = {key: values[-1] for key, values in parse_qs(url.query, keep_blank_values=True).items()}
        body = json.loads(raw) if raw else None
        with self._lock:
            fault = self._fault(verb, url.path)
            graphql = url.path == "/graphql"
            if not graphql:
                self.violations += Spec.load().request(verb, url.path, url.query, body)
            if fault is not None and not (fault.after or fault.cut or fault.pass_through):
                answer = self._faulty(fault)
            else:
                answer = self._answer(verb, url.path, query, body, headers)
                if fault is not None and fault.after:
                    answer = self._faulty(fault)
            if not graphql and (fault is None or fault.pass_through):
                self.violations += Spec.load().response(verb, url.path, answer.status, answer.body)
            self.requests.append(Seen(verb, url.path, query, body, answer.status))
            if fault is not None and fault.then is not None:
                fault.then()
        data = b"" if answer.body is None else json.dumps(answer.body).encode()
        if fault is not None and fault.raw is not None:
            data = fault.raw
        if fault is not None and fault.cut:
            data = data[: len(data) // 2]
        return answer.status, data, answer.headers, fault is not None and fault.drop

    def _fault(self, verb: str, path: str) -> Fault | None:
        for index, (wanted, pattern, fault) in enumerate(self.faults):
            if wanted in (verb, "*") and pattern.search(path):
                del self.faults[index]
                return fault
        return None

    @staticmethod
    def _faulty(fault: Fault) -> Answer:
        body = {"message": fault.message, "documentation_url": "https://docs.github.com/rest"}
        return Answer(fault.status, body | ({"errors": fault.errors} if fault.errors else {}), fault.headers)

    def _answer(self, verb: str, path: str, query: dict[str, str], body: Any, headers: Any) -> Answer:
        try:
            token = self.tokens.get(headers.get("Authorization", "").partition(" ")[2])
            if token is None:
                raise Answer(401, _message("Bad credentials"))
            if path == "/graphql":
                return self._graphql(token)
            for pattern, route in _ROUTES.items():
                known, _, rest = pattern.partition(" ")
                if known == verb and (found := re.fullmatch(rest.replace("REPO", f"/repos/{self.repo}"), path)):
                    return route(self, token, query, body, *found.groups())
            for pattern, handler in repository.ROUTES.items():
                known, _, rest = pattern.partition(" ")
                if known == verb and (found := re.fullmatch(rest.replace("REPO", f"/repos/{self.repo}"), path)):
                    return self._elsewhere(handler, token, query, body, *found.groups())
            raise Answer(404, _message("Not Found"))
        except Answer as answer:
            return answer

    def _elsewhere(self, handler: Callable[..., Any], *arguments: Any) -> Answer:
        try:
            status, said, *headers = handler(self, *arguments)
        except repository.Answered as refused:
            status, said, headers = refused.status, refused.message, []
        return Answer(status, _message(said) if isinstance(said, str) else said, headers[0] if headers else None)

    def _graphql(self, token: Token) -> Answer:
        if not self.graphql:
            raise Answer(404, _message("Not Found"))
        return Answer(200, {"data": {"viewer": {"login": token.login}}})

    def _may(self, token: Token, area: str, need: str) -> None:
        held = [token.permissions.get(area)]
        if area == "issues":  # a pull request's comments: either permission will do
            held.append(token.permissions.get("pull_requests"))
        has = "write" if "write" in held else next(filter(None, held), None)
        if need == "read" and has is None:
            raise Answer(404, _message("Not Found"))
        if need == "write" and has != "write":
            kind = "integration" if token.app else "personal access token"
            raise Answer(403, _message(f"Resource not accessible by {kind}"))

    def page(self, elements: list[Any], query: dict[str, str], path: str) -> tuple[list[Any], dict[str, str]]:
        return self._page(elements, query, path)

    def _page(self, elements: list[Any], query: dict[str, str], path: str) -> tuple[list[Any], dict[str, str]]:
        size, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        part = elements[(page - 1) * size : page * size]
        links = []
        if page * size < len(elements):
            links.append(f'<{self.url}{path}?per_page={size}&page={page + 1}>; rel="next"')
        if page > 1:
            links.append(f'<{self.url}{path}?per_page={size}&page=1>; rel="first"')
        return part, {"Link": ", ".join(links)} if links else {}

    # comments

    def _list_comments(self, token: Token, query: dict[str, str], _: Any, number: str) -> Answer:
        self._may(token, "issues", "read")
        part, headers = self._page(
            self.comments.get(int(number), []), query, f"/repos/{self.repo}/issues/{number}/comments"
        )
        return Answer(200, part, headers)

    def _create_comment(self, token: Token, _: Any, body: Any, number: str) -> Answer:
        self._may(token, "issues", "write")
        self._fits(body["body"])
        self.add_comment(int(number), body["body"], login=token.login)
        return Answer(201, self.comments[int(number)][-1])

    def _comment(self, comment_id: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        for listed in self.comments.values():
            for comment in listed:
                if comment["id"] == int(comment_id):
                    return listed, comment
        raise Answer(404, _message("Not Found"))

    def _get_comment(self, token: Token, _q: Any, _b: Any, comment_id: str) -> Answer:
        self._may(token, "issues", "read")
        return Answer(200, self._comment(comment_id)[1])

    def _update_comment(self, token: Token, _: Any, body: Any, comment_id: str) -> Answer:
        self._may(token, "issues", "write")
        comment = self._comment(comment_id)[1]
        self._fits(body["body"])
        comment.update(body=body["body"], updated_at=self.time())
        return Answer(200, comment)

    def _delete_comment(self, token: Token, _q: Any, _b: Any, comment_id: str) -> Answer:
        self._may(token, "issues", "write")
        listed, comment = self._comment(comment_id)
        listed.remove(comment)
        return Answer(204, None)

    @staticmethod
    def _fits(body: str) -> None:
        if len(body) > MAX_BODY:
            errors = [
                {
                    "resource": "IssueComment",
                    "code": "unprocessable",
                    "field": "data",
                    "message": "Body is too long (maximum is 65536 characters)",
                }
            ]
            raise Answer(
                422, {"message": "Validation Failed", "errors": errors, "documentation_url": "https://docs.github.com"}
            )

    # checks and statuses

    def _create_check(self, token: Token, _: Any, body: Any) -> Answer:
        self._may(token, "checks", "write")
        if not token.app:
            raise Answer(403, _message("You must authenticate via a GitHub App."))
        made = objects.check_run(self.url, self.repo, next(self._ids), body, self.time())
        self.check_runs.append(made)
        self._annotate(made, body)
        return Answer(201, made)

    def _check_run(self, check_id: str) -> dict[str, Any]:
        found = next((run for run in self.check_runs if run["id"] == int(check_id)), None)
        if found is None:
            raise Answer(404, _message("Not Found"))
        return found

    def _get_check(self, token: Token, _q: Any, _b: Any, check_id: str) -> Answer:
        self._may(token, "checks", "read")
        return Answer(200, self._check_run(check_id))

    def _update_check(self, token: Token, _: Any, body: Any, check_id: str) -> Answer:
        self._may(token, "checks", "write")
        run = self._check_run(check_id)
        run.update({key: body[key] for key in ("status", "conclusion", "details_url", "name") if key in body})
        if "conclusion" in body:
            run.update(status="completed", completed_at=self.time())
        output = body.get("output", {})
        run["output"].update({key: output[key] for key in ("title", "summary", "text") if key in output})
        self._annotate(run, body)
        return Answer(200, run)

    def _annotate(self, run: dict[str, Any], body: Any) -> None:
        notes = self.annotations.setdefault(run["id"], [])
        notes += body.get("output", {}).get("annotations", [])
        run["output"]["annotations_count"] = len(notes)

    def _list_checks(self, token: Token, query: dict[str, str], _: Any, ref: str) -> Answer:
        self._may(token, "checks", "read")
        found = [
            r
            for r in reversed(self.check_runs)
            if r["head_sha"] == ref and query.get("check_name", r["name"]) == r["name"]
        ]
        if query.get("filter", "latest") == "latest":
            found = list({run["name"]: run for run in reversed(found)}.values())
        part, headers = self._page(found, query, f"/repos/{self.repo}/commits/{ref}/check-runs")
        return Answer(200, {"total_count": len(found), "check_runs": part}, headers)

    def _list_statuses(self, token: Token, query: dict[str, str], _: Any, ref: str) -> Answer:
        self._may(token, "statuses", "read")
        newest_first = list(reversed(self.statuses.get(ref, [])))
        part, headers = self._page(newest_first, query, f"/repos/{self.repo}/commits/{ref}/statuses")
        return Answer(200, part, headers)

    def _create_status(self, token: Token, _: Any, body: Any, sha: str) -> Answer:
        self._may(token, "statuses", "write")
        if len(body.get("description") or "") > 140:
            raise Answer(422, _message("Validation Failed"))
        made = objects.status(
            self.url,
            self.repo,
            sha,
            next(self._ids),
            body["context"],
            body["state"],
            body.get("description"),
            body.get("target_url"),
            self.time(),
        )
        self.statuses.setdefault(sha, []).append(made)
        return Answer(201, made)

    # pulls and commits

    def _get_pull(self, token: Token, _q: Any, _b: Any, number: str) -> Answer:
        self._may(token, "pull_requests", "read")
        if int(number) not in self.pulls:
            raise Answer(404, _message("Not Found"))
        return Answer(200, self.pulls[int(number)])

    def _compare(self, token: Token, _q: Any, _b: Any, basehead: str) -> Answer:
        self._may(token, "contents", "read")
        if basehead not in self.merge_bases:
            raise Answer(404, _message("Not Found"))
        return Answer(200, objects.comparison(self.url, self.repo, basehead, self.merge_bases[basehead]))


_ROUTES: dict[str, Callable[..., Answer]] = {
    r"GET REPO/issues/(\d+)/comments": GitHubServer._list_comments,
    r"POST REPO/issues/(\d+)/comments": GitHubServer._create_comment,
    r"GET REPO/issues/comments/(\d+)": GitHubServer._get_comment,
    r"PATCH REPO/issues/comments/(\d+)": GitHubServer._update_comment,
    r"DELETE REPO/issues/comments/(\d+)": GitHubServer._delete_comment,
    r"POST REPO/check-runs": GitHubServer._create_check,
    r"GET REPO/check-runs/(\d+)": GitHubServer._get_check,
    r"PATCH REPO/check-runs/(\d+)": GitHubServer._update_check,
    r"GET REPO/commits/([^/]+)/check-runs": GitHubServer._list_checks,
    r"GET REPO/commits/([^/]+)/statuses": GitHubServer._list_statuses,
    r"POST REPO/statuses/([0-9a-f]+)": GitHubServer._create_status,
    r"GET REPO/pulls/(\d+)": GitHubServer._get_pull,
    r"GET REPO/compare/([^/]+)": GitHubServer._compare,
}


def _message(text: str) -> dict[str, str]:
    return {"message": text, "documentation_url": "https://docs.github.com/rest"}


def _handler(server: GitHubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet per answer, or every request waits for a delayed acknowledgement
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if ".git/" in self.path:
                self._git(raw)
                return
            if self.path.startswith("/storage/"):
                # Another host on the real GitHub: whoever sends it a token has given the token away.
                if self.headers.get("Authorization"):
                    server.violations.append("the token was sent to the storage")
                self._send(200, server.state.archives[int(self.path.rsplit("/", 1)[1])], {})
                return
            status, data, headers, hang_up = server.handle(self.command, self.path, self.headers, raw)
            if hang_up:
                self.close_connection = True
                return
            self._send(status, data, {"Content-Type": "application/json; charset=utf-8", **headers})

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _serve  # noqa: N815

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _git(self, raw: bytes) -> None:
            """Git's smart protocol through git's own CGI program, behind the token as GitHub's is."""
            kind, _, value = self.headers.get("Authorization", "").partition(" ")
            password = b64decode(value).decode().partition(":")[2] if kind.lower() == "basic" else ""
            several = len(self.headers.get_all("Authorization") or []) > 1
            url = urlsplit(self.path)
            allowed = not several and (not server.git_is_private or password in server.tokens)
            status = 400 if several else 200 if allowed else 401
            if server.git_repo is None or url.path.partition(".git/")[0] != f"/{server.repo}":
                status = 404
            if status != 200:
                server.requests.append(Seen(self.command, url.path, {}, None, status))
                self._send(status, b"", {"WWW-Authenticate": 'Basic realm="GitHub"'})
                return
            server.requests.append(Seen("GET", url.path, {}, None, 200))
            env = {
                "GIT_PROJECT_ROOT": str(server.git_repo),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH": "/usr/bin:/bin:/usr/local/bin",
                "PATH_INFO": "/" + url.path.partition(".git/")[2],
                "QUERY_STRING": url.query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(raw)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "GIT_CONFIG_COUNT": "2",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
                "GIT_CONFIG_KEY_1": "uploadpack.allowAnySHA1InWant",
                "GIT_CONFIG_VALUE_1": "true",
            }
            done = subprocess.run(["git", "http-backend"], input=raw, env=env, capture_output=True, check=True)
            head, _, data = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
            self._send(int(headers.pop("Status", "200 OK").split()[0]), data, headers)

        def log_message(self, *_: Any) -> None:
            return

    return Handler
