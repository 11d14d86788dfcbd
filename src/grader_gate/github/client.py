"""One connection to GitHub's REST API: PyGithub's transport under a retry policy of our own.

PyGithub repeats a POST whose answer was lost, which makes a second comment; it waits for a rate limit without a cap; it
sleeps between writes. So it is built without retries, and this module repeats what may be repeated:

=============  ==================  ==========================================
request        rate limit          5xx, dropped connection, truncated answer
=============  ==================  ==========================================
GET            again after a wait  again after a wait
PATCH, DELETE  again after a wait  again: the second time changes nothing
POST           again after a wait  only after the caller looked whether it was done (:meth:`Client.create`)
=============  ==================  ==========================================

A rate-limited request was refused before it was done, so even a POST may be sent again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader_gate.github.errors import (
    BadToken,
    GitHubDown,
    GitHubError,
    NotFound,
    ReadOnlyToken,
    Refused,
    Throttled,
)
from grader_gate.github.retry import RetryPolicy, is_throttle

if TYPE_CHECKING:
    from github import Github

Json = dict[str, Any]

PER_PAGE = 100
"""Largest page GitHub gives; its default of 30 costs three times the requests."""

MAX_PAGES = 300
"""Pages after which a listing counts as endless; 30,000 comments."""

TIMEOUT_S = 30
FALLBACK_IDENTITY = "github-actions[bot]"
"""Who a workflow's own token writes as, where GraphQL cannot be asked."""


class Client:
    """Requests to one GitHub, as one token.

    :param token: never appears in a message.
    :param api_url: ``GITHUB_API_URL``; of an Enterprise Server as well.
    :param ca_bundle: PEM file of certificate authorities to trust instead of the usual ones.
    :param sleep: waits seconds; tests count instead.
    :param now: seconds since the epoch, for reset times.
    :param log: told of every wait, one line.
    """

    def __init__(
        self,
        token: str,
        api_url: str,
        *,
        ca_bundle: Path | None = None,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        log: Callable[[str], None] = lambda line: None,
    ) -> None:
        from github import Auth, Github

        self._token = token
        self._api_url = api_url.rstrip("/")
        self._verify: bool | str = True if ca_bundle is None else str(ca_bundle)
        self._policy = policy or RetryPolicy()
        self._sleep, self._now, self._log = sleep, now, log
        self._github: Github = Github(
            auth=Auth.Token(token),
            base_url=api_url.rstrip("/"),
            timeout=TIMEOUT_S,
            verify=self._verify,
            retry=None,
            seconds_between_requests=0,
            seconds_between_writes=0,
            per_page=PER_PAGE,
            user_agent="grader-gate",
        )
        self._identity: str | None = None

    def close(self) -> None:
        """Close the connection."""
        self._github.close()

    # ------------------------------------------------------------ requests

    def get(self, path: str, /, **parameters: str | int) -> Json:
        """The JSON object at ``GET path``.

        :raises GitHubError: one of its subclasses.
        """
        return _object(f"GET {path}", self._repeat("GET", path, parameters=parameters)[1])

    def get_document(self, path: str, /, **parameters: str | int) -> Json:
        """The JSON object at ``GET path`` where GitHub gives it no address of its own.

        :raises GitHubError: one of its subclasses.
        """
        data = self._repeat("GET", path, parameters=parameters)[1]
        if not isinstance(data, dict) or set(data) == {"data", "url"}:
            raise GitHubDown(f"GET {path}: not the answer that was asked for; is a proxy in between?")
        return data

    def pages(self, path: str, /, *, key: str | None = None, **parameters: str | int) -> Iterator[Json]:
        """Every element of a listing, over all its pages.

        :param key: where the answer is an object, its field that holds the elements.
        """
        for page in range(1, MAX_PAGES + 1):
            wanted = {**parameters, "per_page": PER_PAGE, "page": page}
            headers, data = self._repeat("GET", path, parameters=wanted)
            elements = data.get(key) if key is not None and isinstance(data, dict) else data
            if not isinstance(elements, list):
                raise GitHubDown(f"GET {path}: not the listing that was asked for")
            yield from elements
            # The number of the next page is ours; the address in the header could name any host.
            if 'rel="next"' not in headers.get("link", ""):
                return
        raise Refused(f"GET {path}: more than {MAX_PAGES} pages")

    def patch(self, path: str, body: Json) -> Json:
        """``PATCH path``; repeated after an outage."""
        return _object(f"PATCH {path}", self._repeat("PATCH", path, body=body)[1])

    def delete(self, path: str) -> None:
        """``DELETE path``; repeated after an outage. What is gone already counts as deleted."""
        try:
            self._repeat("DELETE", path)
        except NotFound:
            return

    def create(self, path: str, body: Json, *, find: Callable[[], Json | None]) -> Json:
        """``POST path``, once. After a lost answer ``find`` looks for what the lost request may have made.

        :param find: the made thing, or None where it is safe to send again.
        """
        for attempt in range(self._policy.attempts):
            try:
                return _object(f"POST {path}", self._repeat("POST", path, body=body)[1])
            except GitHubDown as error:
                self._wait(self._policy.after_outage(attempt), str(error))
                if (found := find()) is not None:
                    return found
                if attempt + 1 == self._policy.attempts:
                    raise
        raise AssertionError("a policy has at least one attempt")

    def download(self, path: str, *, limit: int) -> bytes:
        """The file that ``GET path`` redirects to, which may lie on another host: no token goes there.

        :param limit: most bytes.
        :raises GitHubError: it is not to be had, or longer.
        """
        import requests

        what, address = f"GET {path}", f"{self._api_url}{path}"
        headers = {"Authorization": f"Bearer {self._token}", "User-Agent": "grader-gate"}
        for attempt in range(self._policy.attempts):
            try:
                first = self._plain(requests, address, headers)
                if first.status_code in (302, 307):
                    return _body(what, self._plain(requests, str(first.headers.get("location")), {}), limit)
                raise self._classified(
                    what, first.status_code, _json(first), {k.lower(): v for k, v in first.headers.items()}
                )
            except requests.RequestException as error:
                if attempt + 1 == self._policy.attempts:
                    raise GitHubDown(f"{what}: no answer ({type(error).__name__})") from None
                self._wait(self._policy.after_outage(attempt), f"{what}: no answer")
        raise AssertionError("a policy has at least one attempt")

    def _plain(self, requests: Any, address: str, headers: dict[str, str]) -> Any:
        if not address.startswith(("https://", f"{self._api_url.partition('://')[0]}://")):
            raise Refused("a redirect to an address that is not https")
        return requests.get(
            address, headers=headers, timeout=TIMEOUT_S, verify=self._verify, allow_redirects=False, stream=True
        )

    def pause(self, seconds: float, why: str) -> None:
        """Wait before a caller's own next try."""
        self._wait(seconds, why)

    @property
    def identity(self) -> str:
        """Login that this token writes as: what GraphQL calls the viewer, else :data:`FALLBACK_IDENTITY`."""
        if self._identity is None:
            self._identity = self._viewer() or FALLBACK_IDENTITY
        return self._identity

    def _viewer(self) -> str | None:
        # Asked once, never waited for: an Enterprise Server may have no GraphQL, a proxy may not let it through.
        try:
            _, answer = self._github.requester.graphql_query("query { viewer { login } }", {})
            login = answer["data"]["viewer"]["login"]
        except Exception:
            return None
        return login if isinstance(login, str) and login else None

    # ------------------------------------------------------------ repeating

    def _repeat(
        self, verb: str, path: str, *, parameters: dict[str, str | int] | None = None, body: Json | None = None
    ) -> tuple[dict[str, str], Any]:
        for attempt in range(self._policy.attempts):
            last = attempt + 1 == self._policy.attempts
            try:
                return self._once(verb, path, parameters, body)
            except _Limited as limit:
                wait = self._policy.after_throttle(attempt, limit.headers, self._now())
                if last or wait > self._policy.longest_wait_s:
                    raise Throttled(
                        f"{limit}; it lifts in about {max(1, round(wait / 60))} min, later than this run waits: "
                        "post again then with `grader-gate publish DIR`"
                    ) from None
                self._wait(wait, str(limit))
            except GitHubDown as error:
                if last or verb == "POST":
                    raise
                self._wait(self._policy.after_outage(attempt), str(error))
        raise AssertionError("a policy has at least one attempt")

    def _wait(self, seconds: float, why: str) -> None:
        self._log(f"{why}; waiting {seconds:.0f} s")
        self._sleep(seconds)

    def _once(
        self, verb: str, path: str, parameters: dict[str, str | int] | None, body: Json | None
    ) -> tuple[dict[str, str], Any]:
        from github import GithubException
        from requests import RequestException

        what = f"{verb} {path}"
        try:
            headers, data = self._github.requester.requestJsonAndCheck(verb, path, parameters or None, input=body)
        except GithubException as error:
            raise self._classified(what, error.status, error.data, error.headers or {}) from None
        except RequestException as error:
            if _certificate(error):
                raise Refused(
                    f"{what}: the host's certificate is not trusted; name its authority with the input `ca_bundle`"
                ) from None
            raise GitHubDown(f"{what}: no answer ({type(error).__name__})") from None
        except ValueError:
            raise GitHubDown(f"{what}: the answer is cut off or not JSON") from None
        except (RuntimeError, AttributeError, AssertionError) as error:
            # PyGithub raises these for a redirect elsewhere and for error bodies that are no objects.
            raise Refused(f"{what}: {self._clean(str(error)) or type(error).__name__}; check GITHUB_API_URL") from None
        return headers, data

    def _classified(self, what: str, status: int, data: Any, headers: dict[str, str]) -> GitHubError:
        said = data.get("message") if isinstance(data, dict) else None
        message = self._clean(said if isinstance(said, str) else "no message")
        line = f"{what}: {status} {message}"
        if is_throttle(status, headers, message):
            return _Limited(line, headers)
        if status >= 500:
            return GitHubDown(line)
        if status == 401:
            return BadToken(f"{line}; the token is wrong or expired")
        if status == 403:
            if "is locked" in message.lower():
                return Refused(f"{line}; unlock the conversation", status)
            return ReadOnlyToken(f"{line}; the job needs the permission for it, see docs/github.md")
        if status in (404, 410):
            return NotFound(f"{line}; it is gone, or this token may not see it")
        return Refused(f"{line}{_details(data, self._clean)}", status)

    def _clean(self, text: str) -> str:
        flat = " ".join(text.replace(self._token, "***").split()) if self._token else " ".join(text.split())
        return flat if len(flat) <= 300 else flat[:299] + "…"


class _Limited(GitHubError):
    """A rate limit, on its way to being waited for."""

    def __init__(self, message: str, headers: dict[str, str]) -> None:
        super().__init__(message)
        self.headers = headers


def _object(what: str, data: Any) -> Json:
    """The answer, if it is one of GitHub's objects: each has a whole address of its own.

    A proxy's page with status 200 is none. PyGithub gives it as a text under ``data``, and the asked path as ``url``.
    """
    if not isinstance(data, dict) or not str(data.get("url", "")).startswith("http"):
        raise GitHubDown(f"{what}: not the answer that was asked for; is a proxy in between?")
    return data


def _details(data: Any, clean: Callable[[str], str]) -> str:
    """GitHub's list of what was wrong with a request, in brackets."""
    errors = data.get("errors") if isinstance(data, dict) else None
    if not isinstance(errors, list) or not errors:
        return ""
    told = [str(e.get("message") or e.get("code") or e) if isinstance(e, dict) else str(e) for e in errors[:3]]
    return f" ({clean('; '.join(told))})"


def _certificate(error: Exception) -> bool:
    from requests.exceptions import SSLError

    return isinstance(error, SSLError)


def _json(answer: Any) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _body(what: str, answer: Any, limit: int) -> bytes:
    """The body of a plain answer, read no further than ``limit`` bytes."""
    if answer.status_code != 200:
        raise Refused(f"{what}: {answer.status_code} from the storage", answer.status_code)
    data = b""
    for chunk in answer.iter_content(65_536):
        data += chunk
        if len(data) > limit:
            raise Refused(f"{what}: more than {limit} bytes")
    return data
