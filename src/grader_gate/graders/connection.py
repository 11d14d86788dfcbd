"""Sending a JSON body to a provider: one shared client, patient with outages, short with refusals."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from grader_gate.config import Provider
from grader_gate.errors import UsageError
from grader_gate.graders.redaction import Redactor
from grader_gate.graders.server_errors import message_of, retry_after_s

if TYPE_CHECKING:
    import ssl

    import httpx
    from tenacity import RetryCallState

MAX_REPLY_BYTES = 8_000_000
RETRIED = frozenset((408, 409, 425, 429))
"""Statuses below 500 that may pass by themselves (RFC 9110 §15.5; 425 RFC 8470; 429 RFC 6585)."""
FATAL = frozenset((401, 402, 403, 404))
"""Statuses that every further call would get as well."""
FIRST_WAIT_S = 0.5
MAX_FAILURES = 50
"""Failed calls in a row, each after its own retries, that count as an outage (twice the concurrency where higher)."""

Sleep = Callable[[float], Awaitable[None]]


class MissingKey(UsageError):
    """The variable that must hold a provider's key is not set."""


class BadProvider(UsageError):
    """A provider block that cannot be used as it is."""


class BadAuthorities(UsageError):
    """A file of certificates that cannot be read."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to, retries included.

    :ivar data: the parsed JSON of a successful reply.
    :ivar failure: why there is none, safe to show; None on success.
    :ivar plain: the same without the server's words, which may quote the prompt; None where it has none.
    :ivar fatal: every further call would fail the same way.
    :ivar refusal: the server's own words about a request it will not take (400, 413, 422, …), which another request
        may not meet; without keys, lower case; empty where nothing was refused.
    :ivar calls: requests sent.
    """

    data: Any = None
    failure: str | None = None
    plain: str | None = None
    fatal: bool = False
    refusal: str = ""
    calls: int = 1


class _Transient(Exception):
    def __init__(self, message: str, retry_after_s: float | None = None, *, plain: str | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.plain = plain


@dataclass(slots=True)
class Connection:
    """One provider's host as one grader uses it.

    :ivar name: the provider's name in the configuration, for messages.
    :ivar provider: the trusted side's provider block.
    :ivar environ: where the key is looked up; nothing else is read from it.
    :ivar extra_headers: the wire's own headers.
    :ivar key_header: turns the key into a header, ``(key, configured name) → (name, value)``.
    :ivar sleep: waits between retries, seconds; tests pass their own.
    :ivar jitter: a number from 0 to 1.
    :ivar now: the time, for ``Retry-After`` dates.
    :ivar ca_file: certificates of authorities to trust beside the public ones.
    """

    name: str
    provider: Provider
    environ: Mapping[str, str]
    key_header: Callable[[str, str | None], tuple[str, str]]
    extra_headers: Mapping[str, str] = field(default_factory=dict)
    sleep: Sleep = asyncio.sleep
    jitter: Callable[[], float] = random.random
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ca_file: str | None = None
    _stopped: str | None = None
    _stopped_plain: str | None = None
    _failures_in_a_row: int = 0
    _client: httpx.AsyncClient | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _redactor: Redactor | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.provider.base_url)
        if parts.username or parts.password or not parts.hostname:
            raise BadProvider(
                f"providers.{self.name}.base_url must be scheme://host[:port]/path without a name or password; "
                "name the variable that holds the key in `key_env`"
            )
        if parts.query or parts.fragment:
            raise BadProvider(f"providers.{self.name}.base_url must end with the path; put the rest in `query`")

    @property
    def host(self) -> str:
        """Host and port, for messages and digests."""
        return urlsplit(self.provider.base_url).netloc

    def identity(self) -> list[Any]:
        """What decides where a request goes and as what; plain JSON, no key in it."""
        provider = self.provider
        path = urlsplit(provider.base_url).path.rstrip("/")
        return [provider.wire, self.host, path, provider.query, provider.api_version, provider.headers]

    @property
    def redactor(self) -> Redactor:
        """Hides this provider's key."""
        if self._redactor is None:
            self._redactor = Redactor([self._key()] if self._key() else [])
        return self._redactor

    def check_key(self) -> None:
        """See that the key is there.

        :raises MissingKey: it is not.
        """
        if self.provider.key_env and not self._key():
            raise MissingKey(
                f"providers.{self.name}: the variable {self.provider.key_env} is not set; set it to the key "
                "(in a workflow: under `env:`, from a secret)"
            )
        if not all(33 <= ord(char) <= 126 for char in self._key()):
            raise MissingKey(
                f"providers.{self.name}: the variable {self.provider.key_env} holds spaces, line ends or characters "
                "beyond ASCII, which no key has; copy the key anew"
            )

    def _key(self) -> str:
        return self.environ.get(self.provider.key_env, "").strip() if self.provider.key_env else ""

    def stop(self, why: str, plain: str | None = None) -> None:
        """Send nothing more: every later call fails at once, saying why."""
        if self._stopped is None:
            self._stopped, self._stopped_plain = why, plain

    async def prepare(self) -> None:
        """Load what sending needs, and see that the key is there.

        :raises MissingKey: it is not.
        """
        import tenacity  # noqa: F401

        self._open()

    async def post(self, path: str, body: Any) -> Outcome:
        """Send a body and bring the reply, or say why not. Never raises for what network or server do.

        A refusal that every call would get, or :data:`MAX_FAILURES` failed calls in a row, stop the connection, so
        that a thousand calls do not each fail slowly.
        """
        if self._stopped is None:
            try:
                self.check_key()
            except MissingKey as error:
                self.stop(str(error))
        if self._stopped is not None:
            return Outcome(failure=self._stopped, plain=self._stopped_plain, fatal=True, calls=0)
        outcome = await self._post(path, body)
        if outcome.failure is None or outcome.refusal:
            self._failures_in_a_row = 0
        else:
            self._failures_in_a_row += 1
            limit = max(MAX_FAILURES, 2 * self.provider.concurrency)
            if outcome.fatal:
                self.stop(outcome.failure, outcome.plain)
            elif self._failures_in_a_row >= limit:
                given_up = f"given up after {limit} failed calls in a row; the last: "
                self.stop(given_up + outcome.failure, given_up + (outcome.plain or outcome.failure))
        return outcome

    async def _post(self, path: str, body: Any) -> Outcome:
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt

        content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.provider.max_retries + 1),
            wait=self._wait_s,
            retry=retry_if_exception_type(_Transient),
            sleep=self.sleep,
            reraise=True,
        )
        calls = 0

        async def attempt() -> Outcome:
            nonlocal calls
            calls += 1
            return await self._attempt(path, content)

        try:
            outcome: Outcome = await retrying(attempt)
        except _Transient as error:
            tries = "" if calls == 1 else f" ({calls} tries)"
            where = f"{self.name} ({self.host})"
            plain = None if error.plain is None else f"{where}: {error.plain}{tries}"
            outcome = Outcome(failure=f"{where}: {error}{tries}", plain=plain)
        return replace(outcome, calls=calls)

    def _wait_s(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_s if isinstance(error, _Transient) else None
        limit = self.provider.max_retry_wait_s
        if asked is not None:
            return min(asked, limit)
        growing: float = FIRST_WAIT_S * 2.0 ** (state.attempt_number - 1)
        return min(growing * (0.5 + self.jitter()), limit)

    async def _attempt(self, path: str, content: bytes) -> Outcome:
        import aiohttp
        import httpx
        from aiohttp.http_exceptions import HttpProcessingError

        provider = self.provider
        url = provider.base_url.rstrip("/") + path
        try:
            async with asyncio.timeout(provider.timeout_s):
                client = self._open()
                async with client.stream("POST", url, content=content, params=provider.query or None) as response:
                    received = bytearray()
                    async for chunk in response.aiter_bytes():
                        received += chunk
                        if len(received) > MAX_REPLY_BYTES:
                            return Outcome(
                                failure=f"{self.name} ({self.host}): the reply has over {MAX_REPLY_BYTES:,} bytes"
                            )
                    return self._classify(response.status_code, response.headers, bytes(received))
        except TimeoutError:
            raise _Transient(f"no reply within {provider.timeout_s:g} s") from None
        except httpx.TransportError as error:
            raise _Transient(
                f"the connection failed ({self.redactor.foreign(str(error)) or type(error).__name__})"
            ) from None
        except (aiohttp.ClientError, HttpProcessingError) as error:
            # The transport lets these through: headers or chunks that are no HTTP, or too long.
            raise _Transient(f"the reply is no valid HTTP ({type(error).__name__})") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Outcome(failure=f"{self.name} ({self.host}): {self.redactor.foreign(str(error))}")

    def _classify(self, status: int, headers: Mapping[str, str], received: bytes) -> Outcome:
        try:
            data: Any = json.loads(received)
        except (ValueError, RecursionError):
            if 200 <= status < 300:
                raise _Transient("the reply is not JSON; is base_url right?") from None
            data = None
        error = data.get("error") if isinstance(data, dict) else None
        # Gateways such as OpenRouter report an upstream failure in the body of a 200.
        if status == 200 and error and not ({"choices", "content"} & set(data)):
            code = error.get("code") if isinstance(error, dict) else None
            status = code if isinstance(code, int) and 400 <= code <= 599 else 502
        if 200 <= status < 300:
            return Outcome(data=data)
        said = message_of(data) or received[:2000].decode("utf-8", "replace")
        text = self.redactor.foreign(said)
        if status in RETRIED or status >= 500:
            if status == 429 and "insufficient_quota" in json.dumps(error):
                return self._refused(status, "the quota is used up; raise it with the provider", text, fatal=True)
            raise _Transient(f"answers {status}: {text}", retry_after_s(headers, self.now()), plain=f"answers {status}")
        if 300 <= status < 400:
            return self._refused(
                status, "redirects are not followed; set base_url to the final address", "", fatal=True
            )
        outcome = self._refused(status, self._mend(status), text, fatal=status in FATAL)
        if outcome.fatal:
            return outcome
        return replace(outcome, refusal=self.redactor.hide(said[:5000]).casefold() or "refused")

    def _refused(self, status: int, mend: str, text: str, *, fatal: bool) -> Outcome:
        said = f" (it says: {text})" if text else ""
        plain = f"{self.name} ({self.host}) answers {status}: {mend}"
        return Outcome(failure=plain + said, plain=plain, fatal=fatal)

    def _mend(self, status: int) -> str:
        key = self.provider.key_env
        match status:
            case 401:
                return f"the key in {key} is wrong or expired; replace it" if key else "it wants a key; set `key_env`"
            case 402:
                return "the account has no credit; top it up"
            case 403:
                return f"the key in {key} may not do this; check its rights, the model and the region" if key else (
                    "it refuses access; set `key_env` or check the address"
                )  # fmt: skip
            case 404:
                return "no such model or path; check `model` and `base_url`"
            case 413:
                return "the request is too large; shorten the prompt or the case"
            case _:
                return "it refuses the request; check `parameters`, `model` and the prompt"

    def _open(self) -> httpx.AsyncClient:
        self.check_key()
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._new_client(), loop
        return self._client

    def _new_client(self) -> httpx.AsyncClient:
        import httpx
        from httpx_aiohttp import AiohttpTransport

        headers = {"content-type": "application/json", "accept": "application/json", **self.extra_headers}
        headers |= {name.lower(): value for name, value in self.provider.headers.items()}
        if key := self._key():
            name, value = self.key_header(key, self.provider.key_header)
            headers[name.lower()] = value
        verify: Any = True
        if self.provider.base_url.startswith("http:"):
            verify = False
        else:
            verify = self._authorities()
        limits = httpx.Limits(max_connections=self.provider.concurrency, max_keepalive_connections=None)
        # The aiohttp transport: httpx's own slows down badly with a hundred calls in flight.
        transport = AiohttpTransport(verify=verify, trust_env=False, limits=limits)
        # No timeout of httpx's own: `_attempt` bounds the whole call, a slowly dripping reply included.
        return httpx.AsyncClient(
            transport=transport, headers=headers, trust_env=False, follow_redirects=False, timeout=httpx.Timeout(None)
        )

    def _authorities(self) -> ssl.SSLContext:
        """Whom to trust: the public authorities, and the file's beside them. A company's own server is often asked
        by the same job as a public provider."""
        import httpx

        context = httpx.create_ssl_context(trust_env=False)
        if self.ca_file:
            try:
                context.load_verify_locations(cafile=self.ca_file)
            except OSError as error:
                why = error.strerror or type(error).__name__
                raise BadAuthorities(
                    f"{self.ca_file}: no certificates can be read from it ({why}); name a PEM file with the input "
                    "`ca_bundle` or the variable SSL_CERT_FILE"
                ) from None
        return context

    async def aclose(self) -> None:
        """Close the client."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()
