"""Where a prompt's messages stand: inline, in a text file, or in a YAML or JSON list of ``{role, content}``."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader_gate.config import Message
from grader_gate.errors import LocatedError
from grader_gate.graders.inputs import read_text
from grader_gate.model import Tree

ROLES = ("system", "developer", "user", "assistant")
LISTS = (".yaml", ".yml", ".json")
DATA = (".jsonl", ".csv", ".tsv", ".xlsx")


class PromptFileProblem(LocatedError):
    """A prompt file that is no prompt."""


@dataclass(frozen=True, slots=True)
class MessageSource:
    """One message's template.

    :ivar path: the file it stands in, None where it is inline in the configuration.
    :ivar label: what the place is called in errors: the path, or the configuration's key.
    :ivar offset: lines of the file above the template's first line.
    """

    role: str
    text: str
    path: str | None
    label: str
    offset: int = 0

    def at(self, line: int | None) -> dict[str, Any]:
        """Keyword arguments of a :class:`LocatedError` for a line of this template."""
        if self.path is None:
            return {"key": self.label if line is None else f"{self.label} (line {line})"}
        return {"path": self.path, "line": (line or 1) + self.offset}


def read_prompt(prompt: str | Sequence[Message], tree: Tree, grader: str) -> list[MessageSource]:
    """The messages of a grader's ``prompt``.

    :raises PromptFileProblem: the file is data, or no list of messages.
    :raises UnreadableText: the file is missing or not text.
    """
    key = f"graders.{grader}.prompt"
    if isinstance(prompt, str):
        return _read_file(prompt, tree, "user", key)
    sources: list[MessageSource] = []
    for number, message in enumerate(prompt):
        if message.file is not None:
            sources += _read_file(message.file, tree, message.role, f"{key}.{number}.file")
        elif message.text is not None:
            label = f"{key}.{number}.text"
            sources.append(MessageSource(message.role, message.text, None, label))
    return sources or _empty(key)


def _empty(key: str) -> list[MessageSource]:
    raise PromptFileProblem("the prompt has no message; add one", key=key)


def _read_file(path: str, tree: Tree, role: str, key: str) -> list[MessageSource]:
    suffix = posixpath.splitext(path)[1].lower()
    if suffix in DATA:
        raise PromptFileProblem(f"{suffix} holds data, not a prompt; name a text file", path=path, key=key)
    if "\n" in path or "{{" in path:
        raise PromptFileProblem("names a file; write inline text as `prompt: [{text: …}]`", key=key)
    text = read_text(tree, path, key=key)
    if not text.strip():
        raise PromptFileProblem("the prompt is empty", path=path, line=1)
    if suffix in LISTS:
        return _read_list(text, path)
    return [MessageSource(role, text, path, path)]


def _read_list(text: str, path: str) -> list[MessageSource]:
    import yaml

    def problem(message: str, node: Any = None) -> PromptFileProblem:
        return PromptFileProblem(message, path=path, line=node.start_mark.line + 1 if node is not None else None)

    try:
        # Nodes, not values: they know their lines, and an alias stays one node however often it is named.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "broken"
        raise PromptFileProblem(f"is not valid YAML or JSON: {what}", path=path, line=mark and mark.line + 1) from None
    if not isinstance(root, yaml.SequenceNode) or not root.value:
        raise problem("must be a list of {role, content}; put a plain prompt in a .md or .txt file", root)
    sources: list[MessageSource] = []
    for entry in root.value:
        if not isinstance(entry, yaml.MappingNode):
            raise problem("each message must be {role, content}", entry)
        fields = {key.value: value for key, value in entry.value if isinstance(key, yaml.ScalarNode)}
        if extra := sorted(set(fields) - {"role", "content"}):
            raise problem(f"unknown key {extra[0]!r} in a message; known are role, content", entry)
        role, content = fields.get("role"), fields.get("content")
        if not isinstance(content, yaml.ScalarNode) or not content.value.strip():
            raise problem("a message needs `content`, a text", entry)
        name = role.value if isinstance(role, yaml.ScalarNode) else None
        if name not in ROLES:
            raise problem(f"a message needs a `role`, one of {', '.join(ROLES)}", entry)
        offset = content.start_mark.line + (content.style in ("|", ">"))
        sources.append(MessageSource(name, content.value, path, f"{path}#{len(sources)}", offset))
    return sources
