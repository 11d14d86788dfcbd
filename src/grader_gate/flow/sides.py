"""Both sides of a comparison: their trees, configurations, suites and graders, under the rules of trust."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader_gate.changes.git import Git
from grader_gate.changes.recording import RecordingTree
from grader_gate.changes.tree import GitTree, ListedTree
from grader_gate.changes.worktree import WorkTree
from grader_gate.config import ChatGrader, CommandGrader, Config, GraderConfig, HttpGrader, Provider, PythonGrader
from grader_gate.configfile import load_config
from grader_gate.errors import UsageError
from grader_gate.flow.casefiles import refuse_case_files
from grader_gate.flow.mutatorset import suite_mutators
from grader_gate.graders.base import Grader
from grader_gate.model import Rubric, Side, Suite
from grader_gate.suite.items import SideTexts
from grader_gate.suite.load import load_suites
from grader_gate.suite.mutators.api import Mutator

if TYPE_CHECKING:
    from grader_gate.changes.closure import SourceClosure

WORKTREE = "WORKTREE"


class NoSuchGrader(UsageError):
    """A suite names a grader that this side does not have."""


class CodeRefused(UsageError):
    """The head brings a grader in code, and code of the head must not run here."""


class ProviderNotTrusted(UsageError):
    """The head names a provider that the base branch does not have."""


@dataclass(slots=True)
class SideSetup:
    """One commit, read: everything needed to grade with it.

    :ivar sha: full commit SHA, or ``WORKTREE``.
    :ivar providers: the trusted side's provider blocks, whichever side this is.
    :ivar mutators: what each suite runs; project-local ones only on the trusted side.
    """

    side: Side
    git: Git
    sha: str
    raw: ListedTree
    tree: RecordingTree
    config: Config
    suites: dict[str, Suite]
    providers: Mapping[str, Provider]
    environ: Mapping[str, str]
    mutators: dict[str, tuple[Mutator, ...]] = field(default_factory=dict)
    _graders: dict[str, Grader] = field(default_factory=dict)
    _rubrics: dict[str, str | None] = field(default_factory=dict)
    _lent: dict[str, SideSetup] = field(default_factory=dict)
    _refused: set[str] = field(default_factory=set)
    _code: Path | None = None
    _exported: bool = False

    def grader(self, name: str) -> Grader:
        """The grader of that name, built once.

        :raises UsageError: it cannot be used as configured.
        """
        if name not in self._graders:
            if name in self._refused:
                raise CodeRefused(
                    f"graders.{name}: code of the head is not run here and the base branch has no such grader; "
                    "merge the grader first, then use it"
                )
            if name not in self.config.graders:
                raise NoSuchGrader(f"graders.{name}: not defined at {self.tree.label}")
            self._graders[name] = self._build(name, self.config.graders[name], self._lent.get(name))
        return self._graders[name]

    def touch(self, name: str) -> None:
        """Have everything read that decides what a grader does, so that the tree's record of it is complete."""
        grader = self.grader(name)
        _ = grader.identity, grader.judgement_digest
        self.texts(name)

    @property
    def built(self) -> dict[str, Grader]:
        """Graders built so far, by name."""
        return dict(self._graders)

    @property
    def not_run(self) -> set[str]:
        """Graders in code of this side that do not run here."""
        return set(self._lent) | self._refused

    def use_code_of(self, base: SideSetup, own: set[str]) -> None:
        """Take the code of graders in code from ``base``; those that base does not have are refused.

        What is no code stays this side's: rubric and contract are data under test. Arguments are told to code, so they
        are base's as well.

        :param own: names of this side's graders in code.
        """
        kinds = {name: type(grader) for name, grader in base.config.graders.items()}
        self._lent = {name: base for name in own if kinds.get(name) is type(self.config.graders.get(name))}
        self._refused = own - set(self._lent)

    def _build(self, name: str, config: GraderConfig, lender: SideSetup | None) -> Grader:
        from grader_gate.graders.build import build_grader

        if isinstance(config, ChatGrader | HttpGrader) and config.provider not in self.providers:
            raise ProviderNotTrusted(
                f"graders.{name}.provider: {config.provider!r} is not defined on the base branch; "
                "provider blocks are trusted from base only: merge the provider first, then use it"
            )
        coded = self if lender is None else lender
        if lender is not None:
            config = with_code_of(config, lender.config.graders[name])
        closure = source_closure(coded.tree, config)
        code = coded._code_dir() if isinstance(config, PythonGrader | CommandGrader) else None
        return build_grader(
            name,
            config,
            providers=self.providers,
            tree=self.tree,
            code_dir=code,
            environ=self.environ,
            source_digest=None if closure is None else closure.digest,
        )

    def _code_dir(self) -> Path:
        if self.sha == WORKTREE:
            return self.git.root
        if self._code is None:
            # Only the name for now: most runs find nothing to grade and never lay the files out.
            self._code = Path(tempfile.gettempdir()) / f"grader-gate-{self.side}-{secrets.token_hex(8)}"
        return self._code

    def prepare(self) -> None:
        """Lay the files of the commit out for graders in code, before the first call."""
        if self._code is not None and not self._exported:
            from grader_gate.changes.export import export_tree

            self._code.mkdir(mode=0o700)
            export_tree(self.raw, self._code)
            self._exported = True

    def texts(self, grader: str) -> SideTexts:
        """How this side shows a suite: rubric files are read from this side's tree."""
        from grader_gate.flow.promptside import mutation_context

        return SideTexts(rubric=self._rubric, context=mutation_context(self.tree, self.config.graders[grader]))

    def _rubric(self, rubric: Rubric | None) -> str | None:
        if rubric is None:
            return None
        if rubric.path is None:
            return rubric.render()
        if rubric.path not in self._rubrics:
            there = self.tree.exists(rubric.path)
            self._rubrics[rubric.path] = (
                self.tree.read(rubric.path).decode("utf-8", "replace").replace("\r\n", "\n") if there else None
            )
        text = self._rubrics[rubric.path]
        return (rubric if text is None else rubric.model_copy(update={"text": text})).render()

    async def aclose(self) -> None:
        """Close graders and remove the files laid out."""
        for grader in self._graders.values():
            await grader.aclose()
        self._graders.clear()
        if self._exported and self._code is not None:
            shutil.rmtree(self._code, ignore_errors=True)
            self._exported = False


DATA_KEYS = ("contract", "formerly", "rubric", "version")
"""Keys of a grader in code that are data: a pull request may set them where its code does not run."""


def with_code_of(config: GraderConfig, base: GraderConfig) -> GraderConfig:
    """``base``'s grader with the data of ``config``: what runs is base's, what it is asked is the pull request's."""
    own = {key: getattr(config, key) for key in DATA_KEYS if hasattr(base, key) and hasattr(config, key)}
    return base.model_copy(update=own)


def source_closure(tree: RecordingTree, config: GraderConfig) -> SourceClosure | None:
    """The code a grader in code runs; None for the other kinds."""
    from grader_gate.changes.closure import command_closure, source_digest

    if isinstance(config, PythonGrader):
        module = config.callable.partition(":")[0]
        return source_digest(tree, module, config.path, config.sources, config.lock)
    if isinstance(config, CommandGrader):
        fixtures = config.fixtures
        around = () if fixtures is None else (fixtures.setup, fixtures.reset, fixtures.query, fixtures.cleanup)
        words = [*config.command, *(word for one in around for word in one), *(fixtures.dirty if fixtures else ())]
        return command_closure(tree, words, config.sources, config.lock)
    return None


def open_tree(git: Git, revision: str) -> tuple[str, ListedTree]:
    """The tree of a revision, and the SHA it was resolved to (once).

    :raises UsageError: no such revision.
    """
    if revision == WORKTREE:
        return WORKTREE, WorkTree(git)
    sha = git.resolve(revision)
    return sha, GitTree(git, sha)


def read_side(
    git: Git,
    side: Side,
    sha: str,
    raw: ListedTree,
    *,
    config_path: str,
    environ: Mapping[str, str],
    providers: Mapping[str, Provider] | None = None,
) -> SideSetup:
    """Read configuration and suites of one side.

    :param providers: the base side's provider blocks; None where this side is itself the trusted one.
    :raises UsageError: a file of it cannot be used; the message names file, line and key.
    """
    tree = RecordingTree(raw)
    config = load_config(tree, config_path)
    mutators = {
        name: suite_mutators(tree, name, suite.mutators, config_path, trusted=providers is None)
        for name, suite in config.suites.items()
    }
    suites = load_suites(tree, config, config_path=config_path)
    refuse_case_files(config, suites, config_path)
    return SideSetup(
        side=side,
        git=git,
        sha=sha,
        raw=raw,
        tree=tree,
        config=config,
        suites=suites,
        providers=config.providers if providers is None else providers,
        environ=environ,
        mutators=mutators,
    )
