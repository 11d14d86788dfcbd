"""From a configuration to a grader: the registry of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from grader_gate.config import GraderConfig, PluginGrader, Provider
from grader_gate.errors import UsageError
from grader_gate.graders.base import Grader
from grader_gate.model import LedgerRow, Tree

ENTRY_POINTS = "grader_gate.graders"
"""Group in which third parties register a kind: a callable ``Parts → Grader``."""


class UnknownKind(UsageError):
    """A grader kind nobody provides."""


class UnknownProvider(UsageError):
    """A grader names a provider that the base branch does not have."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a kind is built from.

    :ivar name: the grader's name.
    :ivar config: the grading side's block.
    :ivar providers: the trusted side's provider blocks.
    :ivar tree: the grading side's files.
    :ivar code_dir: the grading side's files on disk, for kinds that run code; None where code may not run.
    :ivar environ: variables keys are looked up in.
    :ivar source_digest: content address of the code a kind runs.
    :ivar ledger_rows: recorded rows, where the caller has read them already.
    """

    name: str
    config: Any
    providers: Mapping[str, Provider]
    tree: Tree
    code_dir: Path | None
    environ: Mapping[str, str]
    source_digest: str | None = None
    ledger_rows: Iterable[LedgerRow] | None = None

    def provider(self) -> Provider:
        """The provider the grader names.

        :raises UnknownProvider: the base branch has none of that name.
        """
        wanted = self.config.provider
        if wanted not in self.providers:
            known = ", ".join(sorted(self.providers)) or "none"
            raise UnknownProvider(
                f"graders.{self.name}.provider: the base branch has no provider {wanted!r} (known: {known}); "
                "providers are always read from the base branch, so merge it there first"
            )
        return self.providers[wanted]


KINDS = {
    "chat": "grader_gate.graders.kinds:chat",
    "python": "grader_gate.graders.kinds:python",
    "command": "grader_gate.graders.kinds:command",
    "http": "grader_gate.graders.kinds:http",
    "checks": "grader_gate.graders.kinds:checks",
    "replay": "grader_gate.graders.kinds:replay",
}
"""Kind → the function that builds it; imported when asked for."""


def build_grader(
    name: str,
    config: GraderConfig,
    *,
    providers: Mapping[str, Provider],
    tree: Tree,
    code_dir: Path | None,
    environ: Mapping[str, str],
    source_digest: str | None = None,
    ledger_rows: Iterable[LedgerRow] | None = None,
) -> Grader:
    """The grader of one side. Nothing is sent or started before its first use.

    :raises UsageError: the configuration cannot work (see the kinds).
    """
    parts = Parts(name, config, providers, tree, code_dir, environ, source_digest, ledger_rows)
    if isinstance(config, PluginGrader):
        return _plugin(name, config.plugin)(parts)
    module, _, attribute = KINDS[config.kind].partition(":")
    builder: Callable[[Parts], Grader] = getattr(import_module(module), attribute)
    return builder(parts)


def _plugin(name: str, plugin: str) -> Callable[[Parts], Grader]:
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS, name=plugin):
        loaded: Callable[[Parts], Grader] = point.load()
        return loaded
    raise UnknownKind(
        f"graders.{name}.plugin: no plug-in {plugin!r}; install the package that registers it under the entry points "
        f"{ENTRY_POINTS!r}"
    )
