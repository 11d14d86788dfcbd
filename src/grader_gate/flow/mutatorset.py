"""The mutators a suite runs: the catalogue's by name, and project-local ones read from the trusted tree."""

from __future__ import annotations

from types import ModuleType

from grader_gate.config import Mutators
from grader_gate.configfile import line_of
from grader_gate.errors import LocatedError, UsageError
from grader_gate.model import Tree
from grader_gate.suite.mutators.api import Mutator
from grader_gate.suite.mutators.registry import resolve


class MutatorsUnusable(LocatedError):
    """A suite's `mutators:` cannot be resolved."""


class LocalMutatorError(UsageError):
    """A project-local mutator cannot be loaded."""


def suite_mutators(tree: Tree, suite: str, config: Mutators, config_path: str, *, trusted: bool) -> tuple[Mutator, ...]:
    """Resolve a suite's mutators, with file and line in the message where that fails.

    :param trusted: whether project-local code of this tree may be loaded; else only the names are checked.
    :raises MutatorsUnusable: a name that is not there, or a module that cannot be loaded.
    """
    try:
        if trusted:
            return resolve(config, lambda spec: _load(tree, spec))
        return resolve(config.model_copy(update={"modules": (), "include": _catalogue_names(config)}))
    except UsageError as error:
        keys = ("suites", suite, "mutators")
        raise MutatorsUnusable(
            str(error), path=config_path, line=line_of(tree, config_path, keys), key=f"suites.{suite}"
        ) from error


def _catalogue_names(config: Mutators) -> tuple[str, ...]:
    """Names to check where modules are not loaded: a local mutator's own name cannot be told without its code."""
    return () if config.modules else config.include


def module_path(spec: str) -> str:
    """The file of a project-local mutator ``module:function``."""
    return spec.partition(":")[0].replace(".", "/") + ".py"


def _load(tree: Tree, spec: str) -> Mutator:
    """A mutator of ``module:function`` in one file of the tree."""
    name, _, attribute = spec.partition(":")
    path = module_path(spec)
    if not attribute or not tree.exists(path):
        raise LocalMutatorError(f"{spec}: no file {path} at {tree.label}; write `module:function`, from the top folder")
    module = ModuleType(name)
    try:
        exec(compile(tree.read(path), path, "exec"), module.__dict__)  # noqa: S102 - the trusted side's own code
        made = getattr(module, attribute)
    except Exception as error:
        raise LocalMutatorError(f"{spec}: cannot be loaded: {type(error).__name__}: {error}") from error
    return made if isinstance(made, Mutator) else _called(made, spec)


def _called(made: object, spec: str) -> Mutator:
    from grader_gate.suite.mutators.registry import as_mutator

    return as_mutator(made, spec)
