"""Records of frozen grades: immutable files whose numbers can always be found again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import Field, ValidationError

from grader_gate.errors import LocatedError
from grader_gate.model import Frozen, Grade, GradeError, Tree, canonical_json, digest

RECORD_SCHEMA = 1
"""Version of the record format; a reader refuses a newer one."""


class RecordError(LocatedError):
    """A baseline record cannot be read."""


class RecordHead(Frozen):
    """First line of a record: who froze what, when, and under which rules."""

    schema_version: int = RECORD_SCHEMA
    kind: str = Field(default="freeze", description="`freeze`, `measured` (rolled forward) or `noise`")
    at: str = Field(description="UTC time, ISO 8601")
    commit: str
    by: str = Field(description="Login or name of who froze it")
    pull_request: int | None = None
    run: str | None = Field(default=None, description="Workflow run that measured it")
    workflow: str | None = None
    policy_digest: str = ""
    accepts: str | None = Field(default=None, description="The pair of digests that the freeze label accepted")
    tool_version: str = ""
    graders: dict[str, str] = Field(default_factory=dict, description="Identity digest per grader")
    mutators: dict[str, int] = Field(default_factory=dict, description="Version per mutator")


class FrozenGrades(Frozen):
    """One line of a record: the repeats of one item under one grader."""

    suite: str
    grader: str
    item: str
    request_digest: str
    judgement_digest: str
    grades: tuple[Grade, ...]


@dataclass(slots=True)
class BaselineRecord:
    """One frozen file."""

    head: RecordHead
    rows: list[FrozenGrades] = field(default_factory=list)

    def render(self) -> str:
        """The file's text: JSON Lines, header first, rows sorted; equal records give equal bytes."""
        rows = sorted(self.rows, key=lambda r: (r.suite, r.grader, r.item, r.request_digest))
        lines = [self.head.model_dump(exclude_none=True)] + [
            r.model_dump(mode="json", exclude_defaults=True) for r in rows
        ]
        return "".join(canonical_json(line) + "\n" for line in lines)

    @property
    def name(self) -> str:
        """File name: sorts by time, tells the commit, and by its content digest never collides."""
        stamp = self.head.at.replace("-", "").replace(":", "").split(".")[0].split("+")[0].rstrip("Z")
        return f"{stamp}-{self.head.commit[:12].lower()}-{digest('record', self.render())[:8]}.jsonl"


def parse_record(text: str, path: str) -> BaselineRecord:
    """Read one record.

    :raises RecordError: not a record of ours, or of a newer schema; names file and line.
    """
    lines = text.splitlines()
    head: RecordHead | None = None
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if head is None:
                head = RecordHead.model_validate(value)
                if head.schema_version > RECORD_SCHEMA:
                    raise RecordError(
                        f"record schema {head.schema_version} is newer than this program reads; upgrade it",
                        path=path,
                        line=number,
                    )
            else:
                rows.append(FrozenGrades.model_validate(value))
        except (ValueError, ValidationError) as error:
            first = str(error).splitlines()[0]
            raise RecordError(
                f"not a baseline record ({first}); records are never edited by hand: restore the file or freeze anew",
                path=path,
                line=number,
            ) from error
    if head is None:
        raise RecordError("an empty baseline record; restore the file or freeze anew", path=path)
    return BaselineRecord(head, rows)


@dataclass(slots=True)
class Baseline:
    """Frozen grades by request digest; the newest record wins.

    :ivar records: how many records were read.
    """

    records: int = 0
    newest: RecordHead | None = None
    _frozen: dict[str, FrozenGrades] = field(default_factory=dict)
    _noise: dict[str, FrozenGrades] = field(default_factory=dict)

    def add(self, record: BaselineRecord) -> None:
        """Lay a newer record over what is there."""
        self.records += 1
        target = self._noise if record.head.kind == "noise" else self._frozen
        for row in record.rows:
            target[row.request_digest] = row
        if record.head.kind != "noise":
            self.newest = record.head

    def frozen(self, request_digest: str) -> FrozenGrades | None:
        """Frozen repeats of a request, whichever suite asked it."""
        return self._frozen.get(request_digest)

    def noise(self, request_digest: str) -> FrozenGrades | None:
        """Noise repeats of a request."""
        return self._noise.get(request_digest)

    def describe(self) -> str:
        """In words, for the report."""
        if self.newest is None:
            return "no baseline record; the base side was measured live in this run"
        head = self.newest
        return f"frozen {head.at[:10]} by {head.by} at {head.commit[:12]}"


def read_records(tree: Tree, folder: str) -> dict[str, BaselineRecord]:
    """All records below ``folder`` of a tree, by path.

    :raises RecordError: see :func:`parse_record`.
    """
    records = {}
    for path in tree.glob(f"{folder.strip('/')}/*.jsonl"):
        try:
            text = tree.read(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise RecordError("not UTF-8; restore the file or freeze anew", path=path) from error
        records[path] = parse_record(text, path)
    return records


def read_baseline(tree: Tree, folder: str, more: Iterable[BaselineRecord] = ()) -> Baseline:
    """All records below ``folder`` of a tree and ``more`` from other stores, oldest first.

    :raises RecordError: see :func:`parse_record`.
    """
    named = [(record, path.rpartition("/")[2]) for path, record in read_records(tree, folder).items()]
    named += [(record, record.name) for record in more]
    baseline = Baseline()
    for record, _ in sorted(named, key=lambda pair: (pair[0].head.at, pair[1])):
        baseline.add(record)
    return baseline


def shown_error(error: GradeError, quote: str) -> str:
    """An error's message; where nothing may be quoted, without the words of providers and programs."""
    return error.message if quote != "none" or error.plain is None else error.plain


def strip_quotes(grade: Grade, quote: str) -> Grade:
    """A grade as a store may keep it: ``none`` keeps no text of the model's, ``short`` the first 400 characters."""
    if quote == "full":
        return grade
    if quote == "none":
        error = grade.error and GradeError(kind=grade.error.kind, message=shown_error(grade.error, quote))
        kept: dict[str, object] = {
            "reason": "",
            "raw": None,
            "earlier_raw": None,
            "citations": (),
            "checks": (),
            "error": error,
        }
        if grade.environment is not None:
            silent = {"planned": (), "committed": (), "unreported": ()}
            kept["environment"] = grade.environment.model_copy(update=silent)
        return grade.model_copy(update=kept)
    raws = {name: text for name in ("raw", "earlier_raw") if len(text := getattr(grade, name) or "") > 4000}
    return grade.model_copy(update={"reason": grade.reason[:400], **dict.fromkeys(raws)})


def group_rows(graded: Iterable[tuple[str, str, str, str, str, Grade]], quote: str) -> list[FrozenGrades]:
    """Rows of a record from (suite, grader, item, request digest, judgement digest, grade) in repeat order."""
    found: dict[tuple[str, str, str, str, str], list[Grade]] = {}
    for suite, grader, item, request, judgement, grade in graded:
        found.setdefault((suite, grader, item, request, judgement), []).append(strip_quotes(grade, quote))
    return [
        FrozenGrades(suite=k[0], grader=k[1], item=k[2], request_digest=k[3], judgement_digest=k[4], grades=tuple(v))
        for k, v in found.items()
    ]
