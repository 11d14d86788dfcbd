"""Prompts: reading them, finding every mistake before a call is made, and rendering them for an item."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import BaseLoader, TemplateNotFound, TemplateSyntaxError, UndefinedError, meta, nodes
from jinja2.environment import Environment, Template
from jinja2.exceptions import SecurityError, TemplateError

from grader_gate.errors import LocatedError
from grader_gate.graders.inputs import read_text
from grader_gate.graders.prompt_files import MessageSource
from grader_gate.graders.sandbox import NothingToPrint, PromptEnvironment
from grader_gate.model import INPUT_NAMES, PAIR_INPUTS, Tree

MAX_TEMPLATE_CHARACTERS = 200_000
"""All templates of one prompt, includes counted: what bounds the time to compile them, some 10 µs a character."""
MAX_MESSAGE_CHARACTERS = 1_000_000
"""Longest rendered message; more than any model reads."""
INCLUDABLE = frozenset((".md", ".txt", ".j2", ".jinja", ".jinja2", ".prompt", ".tmpl", ".xml", ".html"))
"""What a prompt may include. Data files are not among them: golden cases hold the expected verdicts."""

ELSEWHERE = {
    "output": "answer", "completion": "answer", "submission": "answer", "response": "answer",
    "actual_output": "answer", "prediction": "answer", "input": "question", "query": "question", "prompt": "question",
    "expected": "reference", "expected_output": "reference", "ideal": "reference", "target": "reference",
    "criterion": "rubric", "criteria": "rubric", "context": "sources", "documents": "sources",
}  # fmt: skip
"""What other tools call our inputs, for the hint in the error."""


class TemplateProblem(LocatedError):
    """A prompt that cannot be rendered as it is; always found before a call is made."""


class _FolderLoader(BaseLoader):
    """Reads text files below one folder of a tree, and nothing else."""

    def __init__(self, tree: Tree, folder: str | None) -> None:
        self.tree, self.folder = tree, folder
        self.read: dict[str, str] = {}

    def path_of(self, name: str) -> str:
        if self.folder is None:
            raise TemplateProblem(f"an inline prompt cannot include {name!r}; put the prompt in a file")
        path = posixpath.normpath(posixpath.join(self.folder, name))
        parts = path.split("/")
        inside = path.startswith(self.folder + "/") if self.folder else True
        if name.startswith("/") or ".." in parts or not inside:
            raise TemplateProblem(f"cannot include {name!r}: only files below the prompt's own folder may be included")
        if posixpath.splitext(path)[1].lower() not in INCLUDABLE or any(part.startswith(".") for part in parts):
            raise TemplateProblem(
                f"cannot include {name!r}: only text files may be included ({', '.join(sorted(INCLUDABLE))})"
            )
        return path

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        path = self.path_of(template)
        if not self.tree.exists(path):
            raise TemplateNotFound(template)
        if path not in self.read:
            self.read[path] = read_text(self.tree, path)
        return self.read[path], path, lambda: True

    def size(self, name: str) -> int:
        return len(self.read.get(self.path_of(name), "")) if isinstance(name, str) else 0


@dataclass(frozen=True, slots=True)
class _Message:
    source: MessageSource
    template: Template
    environment: PromptEnvironment


class Prompt:
    """The messages of one prompt, checked when built.

    :param sources: the messages' templates and where they come from.
    :param tree: the grading side's files, for includes.
    :param inputs: the inputs the contract makes visible.
    :param variables: the grader's own variables, plain values.
    :ivar warnings: inputs the contract names and the prompt never prints.
    :raises TemplateProblem: a syntax error, an unknown variable, an input outside the contract, an ``answer`` that is
        never shown, a forbidden include, a template over the limits.
    """

    def __init__(
        self, sources: Sequence[MessageSource], tree: Tree, inputs: Sequence[str], variables: Mapping[str, Any]
    ) -> None:
        self._inputs, self._variables = tuple(inputs), dict(variables)
        for name in variables:
            if name in INPUT_NAMES:
                raise TemplateProblem(f"`{name}` is an input; give the variable another name", key="variables")
        self._used: set[str] = set()
        self._size = 0
        self._messages = [self._compile(source, tree) for source in sources]
        self._check_use(sources[0])
        self._trial()

    @property
    def warnings(self) -> list[str]:
        """Inputs the contract names and the prompt does not use: the grader is blind to them."""
        unused = [name for name in self._inputs if name not in self._used]
        return [f"the prompt never uses `{name}`, which the contract makes visible" for name in unused]

    def render(self, values: Mapping[str, Any], item: str) -> list[dict[str, str]]:
        """The messages as they are sent.

        :param values: the visible inputs.
        :param item: the item's id, for errors.
        :raises TemplateProblem: an input the item lacks, an attribute that does not exist, a limit passed.
        """
        context = {**self._variables, **values}
        return [{"role": m.source.role, "content": self._render(m, context, item)} for m in self._messages]

    # ---- building

    def _compile(self, source: MessageSource, tree: Tree) -> _Message:
        loader = _FolderLoader(tree, None if source.path is None else posixpath.dirname(source.path))
        environment = PromptEnvironment(loader)
        try:
            self._check_variables(source, environment, loader)
            code = environment.compile(source.text, name=source.label, filename=source.label)
            template = Template.from_code(environment, code, environment.make_globals(None))
        except TemplateError as error:
            raise self._problem(source, error) from None
        except (RecursionError, SyntaxError, MemoryError, ValueError, OverflowError):
            raise TemplateProblem(
                "the template is nested too deeply, or holds a number too large", **source.at(None)
            ) from None
        return _Message(source, template, environment)

    def _check_variables(self, source: MessageSource, environment: PromptEnvironment, loader: _FolderLoader) -> None:
        """Walk the template and all it includes for names that nothing will fill."""
        seen: set[str] = set()
        assigned: set[str] = set()
        self._count(source)
        waiting = [(source, environment.parse(source.text, filename=source.label))]
        while waiting:
            here, tree = waiting.pop()
            assigned |= {n.name for n in tree.find_all(nodes.Name) if n.ctx != "load"}
            assigned |= {n.target for n in tree.find_all(nodes.Import)} | {n.name for n in tree.find_all(nodes.Macro)}
            for brought in tree.find_all(nodes.FromImport):
                assigned |= {name if isinstance(name, str) else name[1] for name in brought.names}
            try:
                undeclared = meta.find_undeclared_variables(tree)
            except TemplateError as error:
                raise self._problem(here, error) from None
            for name in sorted(undeclared - (assigned if here is not source else set())):
                line = min((n.lineno for n in tree.find_all(nodes.Name) if n.name == name), default=None)
                self._check_name(name, here, line)
            for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
                for name in _literal_names(node, here):
                    try:
                        path = loader.path_of(name)
                    except TemplateProblem as problem:
                        raise TemplateProblem(problem.detail, **here.at(node.lineno)) from None
                    if path in seen:
                        continue
                    seen.add(path)
                    try:
                        text = environment.loader.get_source(environment, name)[0]  # type: ignore[union-attr]
                    except TemplateNotFound:
                        raise TemplateProblem(f"there is no {path} to include", **here.at(node.lineno)) from None
                    inner = MessageSource(role=source.role, text=text, path=path, label=path)
                    self._count(inner)
                    try:
                        waiting.append((inner, environment.parse(text, filename=path)))
                    except TemplateError as error:
                        raise self._problem(inner, error) from None

    def _count(self, source: MessageSource) -> None:
        self._size += len(source.text)
        if self._size > MAX_TEMPLATE_CHARACTERS:
            raise TemplateProblem(
                f"the prompt's templates have over {MAX_TEMPLATE_CHARACTERS:,} characters together; shorten them",
                **source.at(None),
            )

    def _check_name(self, name: str, source: MessageSource, line: int | None) -> None:
        if name in self._inputs:
            self._used.add(name)
        elif name in INPUT_NAMES:
            message = f"`{name}` is not among the contract's inputs; add it to `contract.inputs` or do not use it here"
            raise TemplateProblem(message, **source.at(line))
        elif name not in self._variables:
            from difflib import get_close_matches

            known = [*self._inputs, *self._variables]
            near = ELSEWHERE.get(name) or next(iter(get_close_matches(name, known, 1)), None)
            hint = f"did you mean `{near}`?" if near in known else f"known are {', '.join(known)}"
            raise TemplateProblem(f"unknown variable `{name}`; {hint}", **source.at(line))

    def _check_use(self, first: MessageSource) -> None:
        for name in ("answer", *PAIR_INPUTS):
            if name in self._inputs and name not in self._used:
                message = f"the prompt never shows the `{name}`; print it with {{{{ {name} }}}}"
                raise TemplateProblem(message, **first.at(None))

    def _trial(self) -> None:
        """Render once on sample values: syntax aside, this finds what is forbidden or would never end."""
        samples: dict[str, Any] = {name: f"sample {name}" for name in self._inputs}
        if "sources" in samples:
            samples["sources"] = [{"id": "1", "text": "sample text"}]
        try:
            self.render(samples, "a sample item")
        except TemplateProblem as problem:
            # What samples lack, real items may have; those are all rendered before the first call.
            if not isinstance(problem.__cause__, UndefinedError):
                raise

    # ---- rendering

    def _render(self, message: _Message, context: dict[str, Any], item: str) -> str:
        meter = message.environment.meter
        meter.reset()
        try:
            text = message.template.render(context)
        except NothingToPrint as error:
            raise TemplateProblem(
                f"prints an input that {item} does not have; give the case one, or ask with {{% if … %}}",
                **message.source.at(_line_of(error, message.source.label)),
            ) from error
        except TemplateProblem as problem:
            raise TemplateProblem(problem.detail, **message.source.at(None)) from None
        except TemplateError as error:
            raise self._problem(message.source, error, item) from error
        except (RecursionError, MemoryError):
            raise TemplateProblem("the template calls itself too deeply", **message.source.at(None)) from None
        except Exception as error:
            # Whatever else a template's expression can raise (a division by zero, a wrong type) is the template's.
            raise TemplateProblem(
                f"cannot be rendered for {item}: {type(error).__name__}: {error}",
                **message.source.at(_line_of(error, message.source.label)),
            ) from error
        if len(text) > MAX_MESSAGE_CHARACTERS:
            raise TemplateProblem(
                f"renders to {len(text):,} characters for {item}; the limit is {MAX_MESSAGE_CHARACTERS:,}",
                **message.source.at(None),
            )
        return text

    def _problem(self, source: MessageSource, error: TemplateError, item: str | None = None) -> TemplateProblem:
        place = source
        if isinstance(error, TemplateSyntaxError):
            line: int | None = error.lineno
            if error.filename and error.filename not in (source.label, "<introspection>"):
                place = MessageSource(source.role, source.text, error.filename, error.filename)
        else:
            line = _line_of(error, source.label)
        text = error.message or type(error).__name__
        where = f" for {item}" if item else ""
        if isinstance(error, SecurityError):
            return TemplateProblem(f"not allowed in a prompt: {text}", **place.at(line))
        return TemplateProblem(f"cannot be rendered{where}: {text}", **place.at(line))


def _line_of(error: BaseException, label: str) -> int | None:
    """The template line an error came from: Jinja rewrites the traceback to the template's own lines."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == label:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _literal_names(node: nodes.Node, source: MessageSource) -> list[str]:
    value = node.template  # type: ignore[attr-defined]
    if isinstance(value, nodes.Const) and isinstance(value.value, str):
        return [value.value]
    raise TemplateProblem("name the included file literally, in quotes", **source.at(node.lineno))


_INCLUDES = re.compile(r"\{%[-+]?\s*(?:include|import|from|extends)\b")


def includes_anything(text: str) -> bool:
    """Whether a template may pull in other files; cheap, so that a start without work needs no Jinja."""
    return _INCLUDES.search(text) is not None
