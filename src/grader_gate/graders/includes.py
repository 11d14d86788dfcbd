"""The texts a prompt pulls in, found without Jinja where there are none."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from grader_gate.graders.prompt_files import MessageSource
from grader_gate.model import Tree

_TAG = re.compile(r"\{%[-+]?\s*(?:include|import|from|extends)\b(.*?)%\}", re.DOTALL)
_NAME = re.compile(r"""["']([^"'\n]{1,400})["']""")


def included_texts(sources: Iterable[MessageSource], tree: Tree) -> dict[str, str]:
    """Path → content digest-able text of every file below the prompt's folder that an include may name.

    This only widens: a name in quotes counts whether or not the tag would load it, and for a name that is computed all
    files below the folder count. Whether the include is allowed is checked where the prompt is compiled.
    """
    found: dict[str, str] = {}
    for source in sources:
        if source.path is None:
            continue
        folder = posixpath.dirname(source.path)
        waiting = [source.text]
        while waiting:
            for tag in _TAG.finditer(waiting.pop()):
                names = _NAME.findall(tag.group(1))
                if not names or "~" in tag.group(1):
                    for path in tree.glob(f"{folder}/**" if folder else "**"):
                        found.setdefault(path, _text(tree, path))
                for name in names:
                    path = posixpath.normpath(posixpath.join(folder, name))
                    if path in found or path.startswith(("../", "/")) or not tree.exists(path):
                        continue
                    found[path] = _text(tree, path)
                    waiting.append(found[path])
    return found


def _text(tree: Tree, path: str) -> str:
    return tree.read(path).decode("utf-8", "replace").replace("\r\n", "\n")
