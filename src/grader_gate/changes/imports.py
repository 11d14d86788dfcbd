"""What one Python file imports, by its syntax alone: pure text, nothing is run."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field

_FILE_LIKE = re.compile(r"^(?:[\w .@+-]+/)*[\w .@+-]+\.[A-Za-z][A-Za-z0-9]{0,9}$")
"""A string that may name a file: relative, with a suffix."""

_PIECE = re.compile(r"^[\w.@+/*?-]+$")
"""A string that may be a part of a path or a pattern of file names."""

_STRING_MAX = 200
_LOADERS = frozenset(
    {"spec_from_file_location", "SourceFileLoader", "run_path", "run_module", "iter_modules", "walk_packages"}
    | {"load_source", "resolve_name"}
)
"""Callables that import what no literal names."""

_READERS = frozenset(
    {"open", "read_text", "read_bytes", "get_data", "files", "open_text", "open_binary", "resource_string"}
    | {"resource_filename", "resource_stream", "glob", "iglob", "rglob", "joinpath", "loadtxt", "FileSystemLoader"}
)
"""Callables that read files whose names may be put together."""

_LISTERS = frozenset({"iterdir", "listdir", "scandir"})
"""Callables that read whatever a folder holds."""


@dataclass(slots=True)
class Imports:
    """What a file imports.

    :ivar absolute: dotted names that may be modules, conditional imports and ``import_module("literal")`` included.
    :ivar relative: (level, module or ``""``, imported names that may be modules).
    :ivar stars: (level, module) of which everything is imported; level 0 is absolute.
    :ivar strings: string literals that look like file names.
    :ivar pieces: string literals that may be parts of file names; they count where the file ``reads``.
    :ivar reads: files are read, by names that may be put together from ``pieces``.
    :ivar dynamic: the call that imports by a computed name, if there is one.
    :ivar changes_path: ``sys.path`` or ``__path__`` is changed.
    """

    absolute: list[str] = field(default_factory=list)
    relative: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    stars: list[tuple[int, str]] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    reads: bool = False
    dynamic: str | None = None
    changes_path: bool = False


def read_imports(source: bytes) -> Imports | None:
    """The imports of a file, or None where this Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        found = Imports()
        for node in ast.walk(tree):
            _visit(node, found)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found


def _visit(node: ast.AST, found: Imports) -> None:
    if isinstance(node, ast.Import):
        found.absolute += [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        _from(node, found)
    elif isinstance(node, ast.Call):
        _call(node, found)
    elif isinstance(node, ast.Attribute):
        if node.attr == "path" and isinstance(node.value, ast.Name) and node.value.id == "sys":
            found.changes_path = True
    elif isinstance(node, ast.Name):
        if node.id == "__path__":
            found.changes_path = True
        elif node.id == "__file__":
            found.reads = True
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= _STRING_MAX:
        if _FILE_LIKE.match(node.value):
            found.strings.append(node.value)
        if _PIECE.match(node.value):
            found.pieces.append(node.value)


def _from(node: ast.ImportFrom, found: Imports) -> None:
    names = [alias.name for alias in node.names]
    module = node.module or ""
    if "*" in names:
        found.stars.append((node.level, module))
    members = tuple(name for name in names if name != "*")
    if node.level:
        found.relative.append((node.level, module, members))
        return
    found.absolute += [module, *(f"{module}.{name}" for name in members)]
    if (module == "sys" and "path" in names) or (module == "site" and "addsitedir" in names):
        found.changes_path = True
    if module == "importlib" and any(a.name in ("import_module", "__import__") and a.asname for a in node.names):
        found.dynamic = "import_module"  # under another name its calls are not known


def _call(node: ast.Call, found: Imports) -> None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _LOADERS:
        found.dynamic = name
    elif name == "addsitedir":
        found.changes_path = True
    elif name in _READERS:
        found.reads = True
    elif name in _LISTERS:
        found.reads = True
        found.pieces.append("*")
    elif name in ("import_module", "__import__"):
        target = node.args[0] if node.args else None
        literal = target.value if isinstance(target, ast.Constant) else None
        if isinstance(literal, str) and not literal.startswith(".") and len(node.args) + len(node.keywords) == 1:
            found.absolute.append(literal)
        else:
            found.dynamic = name
