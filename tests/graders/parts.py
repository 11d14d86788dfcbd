"""What the grader tests share: a tree in memory, items, and the quickest way to a grader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from grader_gate.config import GraderConfig, Provider
from grader_gate.graders.base import Call, Grader
from grader_gate.graders.build import build_grader
from grader_gate.graders.inputs import UnreadableText
from grader_gate.model import Grade, Item

KEY = "sk-test-0123456789abcdefghijklmnop"
CONFIG: TypeAdapter[Any] = TypeAdapter(GraderConfig)


class MemoryTree:
    """A tree of given files."""

    label = "0123abc"

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}

    def read(self, path: str) -> bytes:
        if path not in self.files:
            raise UnreadableText("no such file", path=path)
        return self.files[path]

    def exists(self, path: str) -> bool:
        return path in self.files

    def glob(self, pattern: str) -> list[str]:
        wild = {"*": "[^/]*", "**/": "(?:.*/)?"}
        parts = [wild.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*)", pattern)]
        return sorted(path for path in self.files if re.fullmatch("".join(parts), path))


def item(answer: str = "42", **inputs: Any) -> Item:
    """A golden item; ``id`` and ``rubric_path`` may be given."""
    item_id = inputs.pop("id", "golden/one")
    rubric_path = inputs.pop("rubric_path", None)
    values = {"question": "What is six times seven?", "reference": "42", "rubric": "Be exact.", "sources": []}
    return Item(item_id, {**values, "answer": answer, **inputs}, item_id.split("/")[1], rubric_path)


def grader(
    config: Mapping[str, Any],
    *,
    provider: Mapping[str, Any] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    code_dir: Path | None = None,
    environ: Mapping[str, str] | None = None,
    **more: Any,
) -> Grader:
    """Build a grader from a plain configuration block."""
    return build_grader(
        "judge",
        CONFIG.validate_python(config),
        providers={"local": Provider.model_validate(provider)} if provider is not None else {},
        tree=MemoryTree(files or {}),
        code_dir=code_dir,
        environ={"MODEL_KEY": KEY} if environ is None else environ,
        **more,
    )


async def graded(built: Grader, *items: Item, seed: int = 0) -> list[Grade]:
    """Grade items one after the other and close the grader."""
    try:
        return [await built.grade(one, built.request(one), Call(seed)) for one in items]
    finally:
        await built.aclose()
