"""The environment around a program that executes answers: made and reset for every call, queried, and cleaned up.

One call goes: setup, reset, query (must be the pristine state), the program, query, cleanup, query (must be as before
the setup). Whatever of it fails leaves the call unmeasured: a grade from an environment nobody knows says nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader_gate.config import Fixtures as FixturesConfig
from grader_gate.errors import UsageError
from grader_gate.graders.judgement import malformed, unmeasured
from grader_gate.graders.programs import Finished, TooMuchOutput, find_program, run_program
from grader_gate.graders.redaction import Redactor
from grader_gate.model import Environment, Grade, GradeVerdict, digest

VARIABLE = "FIXTURE_DIR"
"""Where fixtures and program find the folder of their environment."""
MAX_EFFECTS = 200
"""Effects and changes kept with a grade, and the most a program may report."""
MAX_SHOWN = 3
"""Differences quoted in a message."""

Started = Callable[[Mapping[str, str]], Awaitable[tuple[Grade, tuple[str, ...]]]]
"""Runs the program with these further variables; its grade and the effects it reports."""


class FixtureProblem(UsageError):
    """Fixtures that cannot give any call a known environment."""


class _Failed(Exception):
    """One step failed; the message says which and how."""


@dataclass(frozen=True, slots=True)
class State:
    """What a query showed.

    :ivar lines: its output line by line; None where the query failed, which before a setup means that there is nothing.
    """

    lines: tuple[str, ...] | None

    @property
    def digest(self) -> str:
        """Content address of the state, 16 hex digits."""
        return digest("state", self.lines)[:16]

    def changes_to(self, after: State) -> tuple[str, ...]:
        """Lines that came, and with ``-`` before them lines that went."""
        old, new = Counter(self.lines or ()), Counter(after.lines or ())
        return (*(new - old).elements(), *(f"-{line}" for line in (old - new).elements()))


class Fixtures:
    """The fixtures of one side's grader.

    :param folder: where the commands are run. :param env: the variables they see.
    :param home: folder in which environments are made.
    """

    def __init__(
        self,
        grader: str,
        config: FixturesConfig,
        folder: Path,
        env: Mapping[str, str],
        home: Path,
        redactor: Redactor,
    ) -> None:
        self._grader, self._config, self._folder, self._env = grader, config, folder, dict(env)
        self._home, self._redactor = home, redactor
        self._turn = asyncio.Lock()
        self._first = asyncio.Lock()
        self._pristine: State | None = None
        self._shared: Path | None = None

    async def prepare(self) -> None:
        """Try the fixtures without the program, twice, and note the pristine state.

        :raises FixtureProblem: a command is missing or fails, the same state is not told alike, a dirtied environment
            looks like a pristine one, or the clean-up leaves something.
        """
        for key in ("setup", "reset", "query", "cleanup", "dirty"):
            command = getattr(self._config, key)
            if command and find_program(command[0], self._folder, self._env["PATH"]) is None:
                raise FixtureProblem(
                    f"graders.{self._grader}.fixtures.{key}: there is no program {command[0]!r}; name an executable "
                    "file of the repository, or the interpreter first"
                )
        try:
            await self._known()
        except _Failed as error:
            raise FixtureProblem(f"graders.{self._grader}.fixtures.{error}") from None

    async def around(self, started: Started, *, dirty: bool) -> Grade:
        """One call in an environment of its own.

        :param started: runs the program. :param dirty: whether the environment is dirtied on purpose first.
        """
        try:
            pristine = await self._known()
            async with self._place() as place:
                return await self._inside(place, pristine, started, dirty=dirty)
        except _Failed as error:
            return unmeasured(f"graders.{self._grader}.fixtures.{error}")

    async def _inside(self, place: Path, pristine: State, started: Started, *, dirty: bool) -> Grade:
        void = await self._void(place)
        async with self._cleaning(place, void):
            before = await self._ready(place)
            if before != pristine:
                raise _Failed(f"reset: the environment was not reset: {_shown(pristine.changes_to(before))}")
            start = await self._dirtied(place, before) if dirty else before
            grade, effects = await started({VARIABLE: str(place)})
            after = await self._query(place)
        cleaned = bool(self._config.cleanup) or self._config.fresh_dir
        evidence = _evidence(pristine, before, start, after, effects, dirtied=dirty, cleaned=cleaned)
        if grade.verdict is GradeVerdict.CORRECT and evidence.planned:
            what = _shown(evidence.planned)
            grade = malformed(f"accepts the answer for effects that were only planned: {what}", grade.raw)
        return grade.model_copy(update={"environment": evidence})

    async def _known(self) -> State:
        """The pristine state, measured once: two rounds must agree."""
        async with self._first:
            if self._pristine is None:
                first, second = await self._round(), await self._round()
                if first != second:
                    raise _Failed(
                        f"reset: two fresh environments differ ({_shown(first.changes_to(second))}); every call must "
                        "start from the same state"
                    )
                if self._config.dirty:
                    await self._round(dirty=True)
                self._pristine = first
            return self._pristine

    async def _round(self, *, dirty: bool = False) -> State:
        async with self._place() as place:
            void = await self._void(place)
            async with self._cleaning(place, void):
                state = await self._ready(place)
                if (again := await self._query(place)) != state:
                    raise _Failed(
                        f"query: the same state is told differently ({_shown(state.changes_to(again))}); print only "
                        "what counts, sorted, and no times or random ids"
                    )
                if dirty:
                    await self._dirtied(place, state)
            return state

    # ---- steps

    async def _ready(self, place: Path) -> State:
        await self._do("setup", place)
        await self._do("reset", place)
        return await self._query(place)

    async def _dirtied(self, place: Path, before: State) -> State:
        if not self._config.dirty:
            raise _Failed("dirty: is not given on this side, so that the dirty environment cannot be tried")
        await self._do("dirty", place)
        start = await self._query(place)
        if start == before:
            raise _Failed("dirty: changes nothing that the query shows")
        return start

    async def _void(self, place: Path) -> State:
        """What there is before the setup; only a clean-up is held against it."""
        return await self._query(place, may_fail=True) if self._config.cleanup else State(None)

    @contextlib.asynccontextmanager
    async def _cleaning(self, place: Path, void: State) -> AsyncIterator[None]:
        """Clean up in any case; where the steps inside failed, theirs is the failure that is told."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(_Failed):
                await self._clean(place, void)
            raise
        await self._clean(place, void)

    async def _clean(self, place: Path, void: State) -> None:
        """Clean up and see that it worked.

        :raises _Failed: something is left.
        """
        if self._config.cleanup:
            await self._do("cleanup", place)
        if self._config.fresh_dir:
            await asyncio.to_thread(_empty, place)
        if self._config.cleanup:
            left = await self._query(place, may_fail=True)
            if left != void:
                raise _Failed(f"cleanup: the environment is not as before the setup: {_shown(void.changes_to(left))}")

    async def _query(self, place: Path, *, may_fail: bool = False) -> State:
        finished = await self._run("query", place)
        if finished.code:
            if may_fail:
                return State(None)
            raise _Failed(f"query: {self._redactor.foreign(finished.how)}")
        # The folder has another name each time; that is no difference.
        text = finished.output.decode("utf-8", "replace").replace(str(place), f"${VARIABLE}")
        return State(tuple(line.rstrip() for line in text.splitlines() if line.strip()))

    async def _do(self, key: str, place: Path) -> None:
        if getattr(self._config, key):
            finished = await self._run(key, place)
            if finished.code:
                raise _Failed(f"{key}: {self._redactor.foreign(finished.how)}")

    async def _run(self, key: str, place: Path) -> Finished:
        command: Sequence[str] = getattr(self._config, key)
        program = find_program(command[0], self._folder, self._env["PATH"])
        if program is None:
            raise _Failed(f"{key}: there is no program {command[0]!r}")
        env = {**self._env, VARIABLE: str(place)}
        try:
            return await run_program([program, *command[1:]], self._folder, env, b"", self._config.timeout_s)
        except TimeoutError:
            raise _Failed(f"{key}: did not end within {self._config.timeout_s:g} s") from None
        except OSError as error:
            raise _Failed(f"{key}: {command[0]!r} cannot be started ({error.strerror})") from None
        except TooMuchOutput:
            raise _Failed(f"{key}: its output has no end in sight") from None

    @contextlib.asynccontextmanager
    async def _place(self) -> AsyncIterator[Path]:
        """A folder for one call: new and removed again, or the one that all share in turn."""
        if self._config.fresh_dir:
            place = Path(tempfile.mkdtemp(prefix="fixture-", dir=self._home))
            try:
                yield place
            finally:
                await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
            if place.exists():
                raise _Failed("fresh_dir: the folder of the environment could not be removed")
            return
        async with self._turn:
            if self._shared is None:
                self._shared = Path(tempfile.mkdtemp(prefix="fixture-", dir=self._home))
            yield self._shared


def reported_effects(value: object) -> tuple[str, ...] | None:
    """The ``effects`` a program reports in its reply; None where they are no list of texts."""
    effects = value.get("effects", []) if isinstance(value, Mapping) else []
    if not isinstance(effects, list) or len(effects) > MAX_EFFECTS:
        return None
    if not all(isinstance(effect, str) for effect in effects):
        return None
    return tuple(effect.rstrip() for effect in effects)


def _evidence(
    pristine: State,
    before: State,
    start: State,
    after: State,
    effects: Sequence[str],
    *,
    dirtied: bool,
    cleaned: bool,
) -> Environment:
    """Told apart: effects reported that are there, reported ones that are not, and changes nobody reported."""
    left = Counter(start.changes_to(after))
    committed, planned = [], []
    for effect in effects:
        if left[effect] > 0:
            left[effect] -= 1
            committed.append(effect)
        else:
            planned.append(effect)
    return Environment(
        pristine=pristine.digest,
        before=before.digest,
        after=after.digest,
        planned=tuple(planned),
        committed=tuple(committed),
        unreported=tuple(left.elements())[:MAX_EFFECTS],
        dirtied=dirtied,
        cleaned=cleaned,
    )


def _shown(changes: Sequence[str]) -> str:
    """A few differences for a message."""
    listed = "; ".join(line[:120] for line in changes[:MAX_SHOWN]) or "its lines stand in another order"
    return listed + (f"; and {len(changes) - MAX_SHOWN} more" if len(changes) > MAX_SHOWN else "")


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
