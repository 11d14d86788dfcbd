"""The mutators there are, and those a suite's configuration asks for."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import metadata
from types import MappingProxyType

from grader_gate.config import Mutators
from grader_gate.errors import UsageError
from grader_gate.model import digest
from grader_gate.suite.mutators.api import IDENTITY, Mutator
from grader_gate.suite.mutators.catalogue import builtin

ENTRY_POINTS = "grader_gate.mutators"


class MutatorNameError(UsageError):
    """A configuration names a mutator that does not exist."""

    def __init__(self, name: str, key: str, known: Iterable[str]) -> None:
        close = difflib.get_close_matches(name, list(known), n=1)
        hint = f"did you mean `{close[0]}`?" if close else "`grader-gate mutators` lists them all"
        super().__init__(f"mutators.{key}: no mutator is called `{name}`; {hint}")


class MutatorConflictError(UsageError):
    """Two mutators want one name."""

    def __init__(self, name: str, origin: str) -> None:
        super().__init__(f"{origin}: a mutator called `{name}` exists already; give this one another name")


class MutatorPluginError(UsageError):
    """An entry point or a project-local module does not give a mutator."""

    def __init__(self, origin: str, problem: str) -> None:
        super().__init__(f"{origin}: {problem}; it must be a grader_gate.suite.mutators.Mutator, or return one")


class IdentityExcludedError(UsageError):
    """``identity`` is excluded, but kill rates rest on it."""

    def __init__(self) -> None:
        super().__init__(
            "mutators.exclude: `identity` cannot be excluded, a kill counts only where the unchanged text passes; "
            "use `mutators: none` to run no mutators"
        )


@cache
def registry() -> Mapping[str, Mutator]:
    """All mutators by name: built-in ones, then those of installed packages (entry points ``grader_gate.mutators``).

    :raises MutatorPluginError: an entry point cannot be loaded or is no mutator.
    :raises MutatorConflictError: it takes a name that exists.
    """
    found = {mutator.name: mutator for mutator in builtin()}
    for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda p: (p.name, p.value)):
        origin = f"entry point {point.name} ({point.value})"
        try:
            loaded = point.load()
        except Exception as error:
            raise MutatorPluginError(origin, f"cannot be loaded: {error}") from error
        _add(found, as_mutator(loaded, origin), origin)
    return MappingProxyType(found)


def as_mutator(loaded: object, origin: str) -> Mutator:
    """What a module or entry point offers, as a mutator: itself, or what it returns when called without arguments.

    :raises MutatorPluginError: it is neither.
    """
    if not isinstance(loaded, Mutator) and callable(loaded):
        try:
            loaded = loaded()
        except Exception as error:
            raise MutatorPluginError(origin, f"calling it fails: {error}") from error
    if not isinstance(loaded, Mutator):
        raise MutatorPluginError(origin, f"is a {type(loaded).__name__}")
    return loaded


def resolve(config: Mutators, load: Callable[[str], Mutator] | None = None) -> tuple[Mutator, ...]:
    """The mutators a suite runs, ``identity`` first: ``use``, plus ``include`` and ``modules``, less ``exclude``.

    ``identity`` is added wherever another mutator runs, for kill rates are conditional on it.

    :param load: makes a mutator of ``module:function``; the caller decides which tree's code that is.
    :raises MutatorNameError: a name that is not there, with the nearest one that is.
    :raises MutatorPluginError: ``modules`` are named where project-local code may not be loaded.
    :raises MutatorConflictError: a module takes a name that exists.
    :raises IdentityExcludedError: ``exclude`` names ``identity``.
    """
    known = dict(registry())
    local: list[str] = []
    for spec in config.modules:
        if load is None:
            raise MutatorPluginError(f"mutators.modules: {spec}", "project-local mutators are not loaded here")
        local.append(_add(known, as_mutator(load(spec), spec), spec))
    for key, names in (("include", config.include), ("exclude", config.exclude)):
        for name in names:
            if name not in known:
                raise MutatorNameError(name, key, known)
    if IDENTITY in config.exclude:
        raise IdentityExcludedError
    chosen = {
        name
        for name, mutator in known.items()
        if name in config.include
        or name in local
        or config.use == "all"
        or (config.use == "default" and mutator.default)
    } - set(config.exclude)
    if chosen:
        chosen.add(IDENTITY)
    return tuple(
        sorted((known[name] for name in chosen), key=lambda m: (m.name != IDENTITY, list(known).index(m.name)))
    )


def catalogue_digest(mutators: Iterable[Mutator]) -> str:
    """Content address of the mutators' names and versions: where it changes, their baseline lapses."""
    return digest("mutators", sorted((mutator.name, mutator.version) for mutator in mutators))


def _add(known: dict[str, Mutator], mutator: Mutator, origin: str) -> str:
    if mutator.name in known:
        raise MutatorConflictError(mutator.name, origin)
    known[mutator.name] = mutator
    return mutator.name
