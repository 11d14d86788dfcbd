"""The record of what was read from a tree, and the proof that another tree would answer the same."""

from __future__ import annotations

from dataclasses import dataclass

from grader_gate.changes.tree import BlobTree
from grader_gate.errors import UsageError


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a reader learnt of a tree.

    :ivar blobs: path as asked → blob id, or None where there was no regular file.
    :ivar globs: pattern as asked → paths it gave.
    :ivar everything: all regular files, where all were asked for.
    """

    blobs: tuple[tuple[str, str | None], ...]
    globs: tuple[tuple[str, tuple[str, ...]], ...]
    everything: tuple[str, ...] | None = None


class RecordingTree:
    """A tree that remembers what was asked of it. One reader whose answers all come from it, and who is a pure
    function of them, gives the same result on any tree with the :func:`same_manifest`.
    """

    def __init__(self, tree: BlobTree) -> None:
        self._tree = tree
        self._blobs: dict[str, str | None] = {}
        self._globs: dict[str, tuple[str, ...]] = {}
        self._everything: tuple[str, ...] | None = None

    @property
    def label(self) -> str:
        """The label of the tree itself."""
        return self._tree.label

    def read(self, path: str) -> bytes:
        """As the tree; a failed read is remembered too."""
        self.blob(path)
        return self._tree.read(path)

    def exists(self, path: str) -> bool:
        """As the tree."""
        return self.blob(path) is not None

    def blob(self, path: str) -> str | None:
        """As the tree."""
        if path not in self._blobs:
            self._blobs[path] = self._tree.blob(path)
        return self._blobs[path]

    def glob(self, pattern: str) -> list[str]:
        """As the tree."""
        if pattern not in self._globs:
            self._globs[pattern] = tuple(self._tree.glob(pattern))
        return list(self._globs[pattern])

    def paths(self) -> list[str]:
        """As the tree, remembered with every file's content: whoever asks for all files depends on all."""
        paths = self._tree.paths()
        self._everything = tuple(paths)
        for path in paths:
            self.blob(path)
        return paths

    def manifest(self) -> Manifest:
        """What was asked so far, and answered."""
        return Manifest(tuple(sorted(self._blobs.items())), tuple(sorted(self._globs.items())), self._everything)


def same_manifest(manifest: Manifest, other: BlobTree) -> bool:
    """Whether ``other`` would have given the same answers: the proof that nothing it holds was changed."""
    try:
        return (
            all(other.blob(path) == oid for path, oid in manifest.blobs)
            and all(tuple(other.glob(pattern)) == paths for pattern, paths in manifest.globs)
            and manifest.everything in (None, tuple(other.paths()))
        )
    except UsageError:
        return False  # a glob that is refused there, for a symlink, was not refused here
