"""Which files of the repository a grader in code depends on, and one digest over them.

The import closure is found by reading the code, never by running it. What reading cannot determine widens the closure
to the whole folder, so that a change of a grader is never overlooked; the price is that more is graded anew.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader_gate.changes.imports import Imports, read_imports
from grader_gate.changes.paths import PathOutside, normalise
from grader_gate.changes.tree import BlobTree
from grader_gate.errors import UsageError
from grader_gate.model import digest

_PYTHON = re.compile(r"^python(?:\d(?:\.\d+)?)?(?:\.exe)?$")
_EXTENSIONS = ("*.so", "*.pyd")
_SCRIPT_MAX = 200_000
"""Bytes of a program in another language that are looked through for the files it names."""


@dataclass(frozen=True, slots=True)
class SourceClosure:
    """The files that decide what a grader in code does.

    :ivar files: sorted paths.
    :ivar digest: hex SHA-256 over names and contents; line ends do not count.
    :ivar unresolved: what could not be determined, in words; each of them widened ``files``.
    """

    files: tuple[str, ...]
    digest: str
    unresolved: tuple[str, ...] = ()


def source_digest(
    tree: BlobTree, module: str, path: str = ".", sources: Sequence[str] = (), lock: str | None = None
) -> SourceClosure:
    """Closure of a Python grader.

    :param module: dotted name of the module that holds the callable.
    :param path: folder put first on the import path; the repository's top folder is looked in after it.
    :param sources: globs of further files.
    :param lock: lock file of its dependencies.
    :raises PathOutside: ``path``, ``lock`` or a glob leaves the repository.
    """
    closure = _Closure(tree, [normalise(path)])
    if not closure.follow(module):
        closure.widen(f"module {module} is not in the repository", closure.roots[0])
    return closure.finish(["python", module, closure.roots[0]], sources, lock)


def command_closure(
    tree: BlobTree, command: Sequence[str], sources: Sequence[str] = (), lock: str | None = None
) -> SourceClosure:
    """Closure of a command grader: files that its arguments name, the imports of those in Python, and ``sources``.

    Another program than Python may use any file: without ``sources`` the folder of each one named counts whole, and
    where no program of the repository is named the whole repository does.

    :raises PathOutside: ``lock`` or a glob leaves the repository.
    """
    closure = _Closure(tree, [""])
    words = [word for argument in command for word in _words(argument)]
    module = _module_option(words)
    program_found = module is not None and closure.follow(module)
    for word in words:
        if tree.exists(word):
            file = normalise(word)
            closure.add(file)
            if file.endswith(".py"):
                closure.roots.append(_folder(file))
                closure.scan(file)
                program_found = True
            elif _runs(tree, file):
                program_found = True
                if not sources:
                    closure.script(file)
                    closure.widen(f"what {file} uses", _folder(file))
        elif not sources and (folder := _as_folder(tree, word)) is not None:
            closure.widen(f"the command names the folder {word}", folder)
    if not program_found and not sources:
        closure.widen("the command names no program of the repository", "")
    return closure.finish(["command"], sources, lock)


def _as_folder(tree: BlobTree, word: str) -> str | None:
    try:
        folder = normalise(word)
        return folder if word and (not folder or tree.glob(f"{_escaped(folder)}/**")) else None
    except UsageError:
        return None


def _words(argument: str) -> Iterator[str]:
    """An argument, the value of ``--option=value``, and the words of a shell line."""
    yield argument
    if "=" in argument:
        yield argument.partition("=")[2]
    if any(char.isspace() for char in argument):
        try:
            yield from shlex.split(argument)
        except ValueError:
            yield from argument.split()


def _module_option(words: Sequence[str]) -> str | None:
    """The module of ``python -m MODULE``."""
    for index, word in enumerate(words[:-1]):
        if word == "-m" and any(_PYTHON.match(w.rpartition("/")[2]) for w in words[:index]):
            return words[index + 1]
    return None


def _runs(tree: BlobTree, file: str) -> bool:
    """Whether a file looks like a program in a language that is not read here, rather than data."""
    try:
        head = tree.read(file)[:4]
    except UsageError:
        return True
    return head.startswith((b"#!", b"\x7fELF")) or file.endswith(
        (".sh", ".js", ".mjs", ".ts", ".rb", ".pl", ".r", ".R")
    )


class _Closure:
    """The growing set of files."""

    def __init__(self, tree: BlobTree, roots: list[str]) -> None:
        self._tree = tree
        self.roots = roots if "" in roots else [*roots, ""]
        self._files: set[str] = set()
        self._scanned: set[str] = set()
        self._queue: list[str] = []
        self._unresolved: dict[str, None] = {}
        self._widened: set[str] = set()

    def add(self, file: str) -> None:
        self._files.add(file)

    def widen(self, why: str, folder: str) -> None:
        """Take in the whole folder."""
        self._unresolved[f"{why}; all files of {folder or 'the repository'} count"] = None
        if folder not in self._widened:
            self._widened.add(folder)
            prefix = folder and folder + "/"
            files = [path for path in self._tree.paths() if path.startswith(prefix)]
            self._files.update(files)
            if folder:  # what they import may lie outside it
                self._queue += files

    def follow(self, module: str) -> bool:
        """Take in a module under every root, with its packages' ``__init__``; whether a file of it was found."""
        found = [self._module(root, module) for root in dict.fromkeys(self.roots)]
        self._drain()
        return any(found)

    def scan(self, file: str) -> None:
        """Take in what a Python file imports."""
        self._queue.append(file)
        self._drain()

    def _module(self, root: str, module: str) -> bool:
        """Queue the files that ``import module`` runs when ``root`` is on the path."""
        base, found = root, False
        parts = module.split(".")
        if not all(part.isidentifier() for part in parts):
            return False
        for index, part in enumerate(parts):
            base = f"{base}/{part}" if base else part
            last = index == len(parts) - 1
            here = [f for f in (f"{base}/__init__.py", *([f"{base}.py", f"{base}/__main__.py"] if last else []))
                    if self._tree.exists(f)]  # fmt: skip
            if last and not here:
                # A literal glob finds nothing here, but refuses a symlink: what it points to could not be followed.
                self._tree.glob(_escaped(f"{base}.py"))
                here = [f for end in _EXTENSIONS for f in self._tree.glob(f"{_escaped(base)}.{end}")]
                here += [f for end in _EXTENSIONS for f in self._tree.glob(f"{_escaped(base)}{end[1:]}")]
            self._queue += here
            found = bool(here)
        return found

    def _drain(self) -> None:
        while self._queue:
            file = self._queue.pop()
            self._files.add(file)
            if file in self._scanned or not file.endswith(".py"):
                continue
            self._scanned.add(file)
            try:
                imports = read_imports(self._tree.read(file))
            except UsageError:  # an LFS pointer, or huge
                imports = None
            if imports is None:
                self.widen(f"{file} cannot be parsed", _folder(file))
                continue
            self._take(file, imports)

    def _take(self, file: str, imports: Imports) -> None:
        folder = _folder(file)
        for name in imports.absolute:
            for root in dict.fromkeys(self.roots):
                self._module(root, name)
        for level, name, members in imports.relative:
            package = _package(folder, level)
            if package is None:
                continue  # beyond the top folder: cannot be imported, whatever it means
            found = self._module(package, name) if name else True
            below = f"{package}/{name.replace('.', '/')}".strip("/") if name else package
            inner = [self._module(below, member) for member in members]
            if not name and self._tree.exists(init := f"{package}/__init__.py".lstrip("/")):
                self._queue.append(init)
            if not found and not any(inner):
                self.widen(f"{file} imports {'.' * level}{name}, which is not in the repository", package)
        for level, name in imports.stars:
            starts = [_package(folder, level)] if level else list(dict.fromkeys(self.roots))
            for start in starts:
                base = "/".join(part for part in (start, name.replace(".", "/")) if part)
                # `from package import *` imports the submodules that its `__all__` lists.
                if self._tree.exists(f"{base}/__init__.py"):
                    self._queue += self._tree.glob(f"{_escaped(base)}/*.py")
        for text in imports.strings:
            for place in dict.fromkeys((folder, *self.roots)):
                self._data(place, text)
        if imports.reads:
            for piece in dict.fromkeys(imports.pieces):
                self._piece(folder, piece)
        if imports.dynamic:
            self.widen(f"{file} imports by a computed name ({imports.dynamic})", self.roots[0])
        if imports.changes_path:
            self.widen(f"{file} changes the import path", "")

    def _data(self, place: str, text: str) -> None:
        """Take in a file that a string in the code names, such as a rubric beside the module."""
        try:
            path = normalise(f"{place}/{text}" if place else text)
        except PathOutside:
            return
        if path and self._tree.exists(path):
            self._queue.append(path)

    def _piece(self, folder: str, text: str) -> None:
        """Take in what a name put together with this text may mean: a file or a folder beside the code or above it,
        files of a pattern or of an ending below the code's folder."""
        text = text.strip("/").removeprefix("./").removeprefix("../")
        if re.fullmatch(r"\.\w{1,10}", text):
            self._queue += self._files_of(folder, f"**/*{text}")
            return
        if (sign := re.search(r"[*?]", text)) is not None:
            self._queue += [*self._files_of(folder, text), *self._files_of(folder, f"**/{text}")]
            text = text[: sign.start()].rpartition("/")[0]
        if not text.strip("./"):
            return
        parts = folder.split("/") if folder else []
        above = ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]
        for place in dict.fromkeys((*above, *self.roots)):
            try:
                path = normalise(f"{place}/{text}" if place else text)
            except PathOutside:
                continue
            self._queue += [path] if self._tree.exists(path) else self._files_of(path, "**")

    def _files_of(self, folder: str, pattern: str) -> list[str]:
        """Files of a pattern below a folder; all below it where a symlink stands in the way."""
        try:
            return self._tree.glob(f"{_escaped(folder)}/{pattern}" if folder else pattern)
        except UsageError:
            return [path for path in self._tree.paths() if path.startswith(folder and folder + "/")]

    def script(self, file: str) -> None:
        """Take in the files that a program in another language names: its words that are paths of the repository."""
        if file in self._scanned:
            return
        self._scanned.add(file)
        try:
            text = self._tree.read(file)[:_SCRIPT_MAX].decode("utf-8", "replace")
        except UsageError:
            return
        words = [word for word in re.split(r"""[\s"'`=;|&()<>{},]+""", text) if word]
        if (module := _module_option(words)) is not None:
            self.follow(module)
        for word in dict.fromkeys(words):
            for place in dict.fromkeys((_folder(file), "")):
                try:
                    path = normalise(f"{place}/{word}" if place else word)
                except UsageError:
                    continue
                if not path or not self._tree.exists(path):
                    continue
                self.add(path)
                if path.endswith(".py"):
                    self.roots.append(_folder(path))
                    self.scan(path)
                elif _runs(self._tree, path):
                    self.script(path)

    def finish(self, about: list[str], sources: Sequence[str], lock: str | None) -> SourceClosure:
        for pattern in sources:
            found = self._tree.glob(pattern)
            if not found:
                self.widen(f"sources: {pattern!r} matches no file", "")
            self._files.update(found)
            for file in found:
                if file.endswith(".py"):
                    self.scan(file)
        if lock is not None:
            if self._tree.exists(lock):
                self._files.add(normalise(lock))
            else:
                normalise(lock)
                self._unresolved[f"lock: {lock} is not in the repository"] = None
        self._drain()
        files = tuple(sorted(self._files))
        parts = [[file, self._content(file)] for file in files]
        return SourceClosure(files, digest("source", about, parts), tuple(self._unresolved))

    def _content(self, file: str) -> str:
        try:
            data = self._tree.read(file)
        except UsageError:
            # An LFS pointer or a huge file met while widening: its blob id is a content address too.
            return f"blob {self._tree.blob(file)}"
        return hashlib.sha256(data if b"\0" in data else data.replace(b"\r\n", b"\n")).hexdigest()


def _package(folder: str, level: int) -> str | None:
    """The folder that ``level`` dots mean in a file of ``folder``; None above the repository."""
    parts = folder.split("/") if folder else []
    return None if level - 1 > len(parts) else "/".join(parts[: len(parts) - (level - 1)])


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _escaped(path: str) -> str:
    """A path as a glob that matches only itself."""
    return re.sub(r"([*?\[])", r"[\1]", path)
