"""Records on a data branch: which of them are to be believed. Pure; the connection is somebody else's.

The branch is append-only: every commit adds one record, made by a workflow through the API, so that GitHub itself signs
it. A file that any other commit has touched is not believed, whatever it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader_gate.baselines.record import BaselineRecord, RecordError, parse_record
from grader_gate.baselines.stores import Held


@dataclass(frozen=True, slots=True)
class BranchCommit:
    """One commit of a branch as GitHub tells it.

    :ivar verified: whether GitHub vouches for its signature.
    :ivar author: login; empty where GitHub knows none.
    """

    sha: str
    verified: bool
    author: str

    def by_workflow(self, identities: Iterable[str]) -> bool:
        """Whether GitHub vouches that one of these identities made it."""
        return self.verified and bool(self.author) and self.author.lower() in {i.lower() for i in identities}


def commit_message(record: BaselineRecord) -> str:
    """What the commit of a record says: what it is, and which run and workflow made it."""
    head = record.head
    pull = f" (#{head.pull_request})" if head.pull_request else ""
    lines = [f"Record {head.kind} baseline at {head.commit[:12]}{pull}", "", f"By: {head.by}"]
    lines += [f"Run: {head.run}"] if head.run else []
    lines += [f"Workflow: {head.workflow}"] if head.workflow else []
    return "\n".join(lines) + "\n"


def believed(files: Mapping[str, bytes], touched: Mapping[str, str] | None) -> Held:
    """The records among ``files`` that can be trusted.

    :param files: content by path.
    :param touched: path → why it is not believed, for files that a commit which is no workflow's touched; None where
        that could not be told: then nothing is believed.
    """
    records: list[BaselineRecord] = []
    refused: list[str] = []
    for path, data in sorted(files.items()):
        name = path.rpartition("/")[2]
        if touched is None:
            refused.append(f"{name}: its commits could not be verified")
        elif path in touched:
            refused.append(f"{name}: {touched[path]}")
        else:
            try:
                record = parse_record(data.decode("utf-8"), path)
            except (RecordError, UnicodeDecodeError) as error:
                refused.append(f"{name}: {error}")
                continue
            if record.name != name:
                refused.append(f"{name}: its content is not what its name says; records are never edited")
            elif not record.head.run or not record.head.workflow:
                refused.append(f"{name}: it names no run and workflow that made it")
            else:
                records.append(record)
    return Held(tuple(records), tuple(refused))
