"""What of an item a grader may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader_gate.errors import LocatedError
from grader_gate.model import Item, Tree

MAX_TEXT_BYTES = 1_000_000
"""Largest prompt, rubric or schema file that is read; far above any real one."""


class UnreadableText(LocatedError):
    """A prompt, rubric or schema file is missing, too large or not UTF-8."""


def read_text(tree: Tree, path: str, *, key: str | None = None) -> str:
    """The text of a file of the grader's side, with ``\\n`` line ends whatever the checkout did.

    :raises UnreadableText: no such file, over :data:`MAX_TEXT_BYTES`, or not UTF-8.
    """
    if not tree.exists(path):
        raise UnreadableText(
            f"there is no such file at {tree.label}; correct the path or add the file", path=path, key=key
        )
    data = tree.read(path)
    if len(data) > MAX_TEXT_BYTES:
        raise UnreadableText(f"has {len(data):,} bytes; the limit is {MAX_TEXT_BYTES:,}", path=path, key=key)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UnreadableText("is not UTF-8 text; save it as UTF-8", path=path, line=line, key=key) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


class VisibleInputs:
    """Picks the inputs a contract names, with the rubric as the grading side has it.

    :param names: the contract's inputs.
    :param tree: files of the grading side.
    :param default_rubric: file whose text is the rubric of items without their own.
    """

    def __init__(self, names: Sequence[str], tree: Tree, default_rubric: str | None = None) -> None:
        self.names = tuple(names)
        self._tree = tree
        self._default_rubric = default_rubric
        self._rubrics: dict[str, str] = {}

    def of(self, item: Item) -> dict[str, Any]:
        """Name → value; an input the item lacks is None (for ``sources`` an empty list).

        :raises UnreadableText: the rubric file cannot be read.
        """
        values: dict[str, Any] = {}
        for name in self.names:
            value = item.inputs.get(name)
            if name == "rubric":
                value = self._rubric(item, value)
            elif name == "sources" and value is None:
                value = []
            values[name] = value
        return values

    def identity(self) -> list[Any]:
        """What decides the visible inputs beside the item itself; plain JSON."""
        shared = self._read(self._default_rubric) if "rubric" in self.names and self._default_rubric else None
        return [list(self.names), shared]

    def _rubric(self, item: Item, own: Any) -> Any:
        # A rubric file that the grading side no longer has leaves the item with the text it came with: the case is
        # the other side's, and what the case says about itself still holds.
        if item.rubric_path is not None and self._tree.exists(item.rubric_path):
            text = self._read(item.rubric_path)
            # The item may hold this side's text already, with the case's own weighted criteria below it.
            return own if isinstance(own, str) and own.startswith(text) else text
        if own is None and self._default_rubric is not None:
            return self._read(self._default_rubric)
        return own

    def _read(self, path: str) -> str:
        if path not in self._rubrics:
            self._rubrics[path] = read_text(self._tree, path, key="rubric").strip("\n")
        return self._rubrics[path]
