"""Reads ``.grader-gate.yml`` from a tree and says in plain words what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from grader_gate.config import DEFAULT_PATH, Config
from grader_gate.documents import Document, DocumentError, Keys, read_document
from grader_gate.errors import LocatedError, UsageError
from grader_gate.explain import MAX_SHOWN, Problem, problems
from grader_gate.model import Tree

MAX_CONFIG_BYTES = 1_000_000
"""Largest configuration, in bytes; a long one has some thousand."""


class ConfigMissing(UsageError):
    """The tree holds no configuration at this path."""

    def __init__(self, path: str, tree: str) -> None:
        self.path = path
        super().__init__(f"{path}: no such file in {tree}; `grader-gate init` writes a first one")


class ConfigError(LocatedError):
    """The configuration cannot be used.

    :ivar problems: all that is wrong, in the order of the file; the message has one line for each.
    """

    def __init__(self, found: Sequence[Problem]) -> None:
        first = found[0]
        super().__init__(first.message, path=first.path, line=first.line, key=first.key or None)
        self.problems = tuple(found)
        lines = [str(problem) for problem in found[:MAX_SHOWN]]
        if len(found) > MAX_SHOWN:
            lines.append(f"{first.path}: and {len(found) - MAX_SHOWN} more")
        self.args = ("\n".join(lines),)


def load_config(tree: Tree, path: str = DEFAULT_PATH) -> Config:
    """Read and validate a configuration.

    :raises ConfigMissing: there is no such file.
    :raises ConfigError: it cannot be parsed, or holds what the models do not allow; all problems at once.
    :raises UsageError: the tree refuses to read it (a symlink, outside the repository).
    """
    if not tree.exists(path):
        raise ConfigMissing(path, tree.label)
    return parse_config(tree.read(path), path)


def parse_config(data: bytes, path: str = DEFAULT_PATH) -> Config:
    """The same from bytes. Raises :class:`ConfigError`."""
    try:
        document = read_document(data, path, limit=MAX_CONFIG_BYTES)
    except DocumentError as error:
        raise ConfigError([Problem(path, error.line, error.key or "", error.detail)]) from None
    if not isinstance(document.value, dict):
        what = "is empty" if document.value is None else "must be a mapping with `graders:` and `suites:`"
        raise ConfigError([Problem(path, 1, "", f"the configuration {what}; `grader-gate init` writes a first one")])
    try:
        return Config.model_validate(document.value)
    except ValidationError as error:
        raise ConfigError(problems(error, Config, document)) from None


def line_of(tree: Tree, path: str, keys: Keys) -> int | None:
    """The line of a key in a configuration, for a message; None where it cannot be told."""
    try:
        document: Document = read_document(tree.read(path), path, limit=MAX_CONFIG_BYTES)
    except UsageError:
        return None
    return document.line(keys)
