"""When to ask GitHub again, and how long to wait before it. Pure: no clock, no sleep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

THROTTLE_WORDS = ("rate limit", "abuse detection", "please wait a few minutes", "please retry your request again later")
"""What GitHub says of primary and secondary limits; a secondary limit often comes as 403 without any header."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long.

    :ivar attempts: tries in all, the first included.
    :ivar first_wait_s: seconds before the second try after an outage; doubles.
    :ivar secondary_wait_s: seconds before the second try after a limit that names no time; doubles.
        GitHub's documentation asks for at least one minute.
    :ivar longest_wait_s: a limit that lifts later than this is not waited for.
    """

    attempts: int = 5
    first_wait_s: float = 1.0
    secondary_wait_s: float = 60.0
    longest_wait_s: float = 300.0

    def after_outage(self, attempt: int) -> float:
        """Seconds to wait after failed try ``attempt`` (from 0)."""
        return min(self.first_wait_s * float(2**attempt), self.longest_wait_s)

    def after_throttle(self, attempt: int, headers: Mapping[str, str], now: float) -> float:
        """Seconds to wait after a limit: Retry-After, else the reset time, else a minute and growing.

        :param now: seconds since the epoch, for the reset time.
        """
        said = retry_after(headers, now)
        return self.secondary_wait_s * float(2**attempt) if said is None else said


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the answer's headers ask to wait, or None where they say nothing usable.

    :param headers: names in lower case.
    """
    if value := headers.get("retry-after"):
        try:
            return max(0.0, float(value))
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - now)
        except (ValueError, TypeError):
            pass
    if headers.get("x-ratelimit-remaining") == "0":
        try:
            # One second more: the limit lifts during the second that the header names.
            return max(0.0, float(headers["x-ratelimit-reset"]) - now) + 1.0
        except (KeyError, ValueError):
            pass
    return None


def is_throttle(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Whether an answer is a rate limit rather than a refusal."""
    if status == 429:
        return True
    if status != 403:
        return False
    if "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0":
        return True
    return any(words in message.lower() for words in THROTTLE_WORDS)
