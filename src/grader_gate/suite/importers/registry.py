"""Which formats can be imported. A new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from grader_gate.errors import UsageError
from grader_gate.explain import suggestion
from grader_gate.suite.importers.base import Imported

Importer = Callable[[bytes, str], Imported]

FORMATS: dict[str, str] = {
    "autoevals": "grader_gate.suite.importers.autoevals",
    "braintrust": "grader_gate.suite.importers.autoevals",
    "deepeval": "grader_gate.suite.importers.deepeval",
    "inspect": "grader_gate.suite.importers.inspect_ai",
    "judgegate": "grader_gate.suite.importers.judgegate",
    "langfuse": "grader_gate.suite.importers.langfuse",
    "openai-evals": "grader_gate.suite.importers.openai_evals",
    "promptfoo": "grader_gate.suite.importers.promptfoo",
    "ragas": "grader_gate.suite.importers.ragas",
    "rubric-bench": "grader_gate.suite.importers.rubric_bench",
}
"""Format name → module with ``read(data, name) -> Imported``."""


class UnknownFormat(UsageError):
    """No importer has this name."""


def importer(name: str) -> Importer:
    """The importer of a format.

    :raises UnknownFormat: with a suggestion.
    """
    if name not in FORMATS:
        raise UnknownFormat(f"unknown format `{name}`; {suggestion(name, FORMATS)}")
    read: Importer = import_module(FORMATS[name]).read
    return read
