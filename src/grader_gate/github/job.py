"""What one run of the action works with, handed to whatever the event asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO

from grader_gate.errors import UsageError
from grader_gate.github.event import Event
from grader_gate.github.inputs import Inputs
from grader_gate.github.outputs import Log

if TYPE_CHECKING:
    from grader_gate.baselines.record import BaselineRecord
    from grader_gate.flow.inheritance import Inherited
    from grader_gate.github.client import Client
    from grader_gate.result import Result
    from grader_gate.runs.progress import Progress

SECRETS = ("INPUT_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
"""Variables whose values never reach the log, nor what measures."""

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_?\d+)?$", re.IGNORECASE)
"""Names of variables that by custom hold secrets."""


def log_secrets(environ: Mapping[str, str]) -> list[str]:
    """What the log must not show: GitHub's tokens, and the value of every variable that is named like a secret.

    The log begins before the configuration is read, which names the providers' keys; a crash may show any of them.
    """
    named = [value for name, value in environ.items() if _SECRET_NAME.search(name) and len(value) >= 8]
    return [*(environ.get(name, "") for name in SECRETS), *named]


class NoToken(UsageError):
    """The event asks for something that only a token can do."""


class RunCheck(Protocol):
    """What measures: :func:`grader_gate.check.check`. Leaves its files in ``out`` before it returns."""

    def __call__(
        self,
        root: Path,
        base: str,
        head: str,
        *,
        out: Path,
        environ: Mapping[str, str],
        progress: Callable[[str], Progress],
        config_path: str,
        suites: Sequence[str],
        max_calls: int | None,
        key: str,
        run_head_code: bool,
        records: Sequence[BaselineRecord] = (),
        acceptances: frozenset[str] = frozenset(),
        inherited: Inherited | None = None,
    ) -> Result: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What one run of the action works with."""

    root: Path
    environ: Mapping[str, str]
    inputs: Inputs
    event: Event
    client: Client | None
    log: Log
    stream: TextIO

    @property
    def github(self) -> Client:
        """The client.

        :raises NoToken: there is none, and the event cannot do without.
        """
        if self.client is None:
            raise NoToken(f"input `token`: a {self.event.name} event cannot be served without a token")
        return self.client

    def progress(self, label: str) -> Progress:
        """Progress of one pass as lines of the log."""
        from grader_gate.runs.progress import LineProgress

        return LineProgress(self.stream, label)

    def without_secrets(self) -> dict[str, str]:
        """What measuring may know of the environment: no token of GitHub's; the authorities to trust."""
        environ = {name: value for name, value in self.environ.items() if name not in SECRETS}
        if self.inputs.ca_bundle is not None:
            environ["SSL_CERT_FILE"] = str(self.inputs.ca_bundle)
        return environ
