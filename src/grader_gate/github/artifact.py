"""A result in an artifact that anybody could have made: taken as data, within limits, or not at all."""

from __future__ import annotations

import io
import zipfile
import zlib

from pydantic import ValidationError

from grader_gate.errors import GateError
from grader_gate.github.client import Client
from grader_gate.result import Result

MOST_BYTES = 20 * 1024 * 1024
"""Of the archive. A report of thousands of findings has a few megabytes."""

MOST_RESULT = 8 * 1024 * 1024
"""Bytes of ``result.json`` once unpacked: a small archive can unpack to a huge file."""

MOST_MEMBERS = 1_000
NAME = "result.json"


class BadArtifact(GateError):
    """The artifact holds no result of ours."""


def fetch_artifact(client: Client, repository: str, run: int, name: str) -> bytes | None:
    """The archive of a run's artifact; None where there is none of that name.

    :raises GitHubError: it cannot be had.
    :raises BadArtifact: it is larger than :data:`MOST_BYTES`.
    """
    for artifact in client.pages(f"/repos/{repository}/actions/runs/{run}/artifacts", key="artifacts", name=name):
        if artifact.get("name") != name or artifact.get("expired"):
            continue
        if int(artifact.get("size_in_bytes") or 0) > MOST_BYTES:
            raise BadArtifact(f"artifact {name!r} is larger than {MOST_BYTES} bytes")
        path = f"/repos/{repository}/actions/artifacts/{int(artifact['id'])}/zip"
        return client.download(path, limit=MOST_BYTES)
    return None


def read_result(archive: bytes) -> Result:
    """The result in an archive. Only that one member is unpacked, into memory.

    :raises BadArtifact: there is none, or it does not follow the schema.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            members = packed.infolist()
            if len(members) > MOST_MEMBERS:
                raise BadArtifact(f"more than {MOST_MEMBERS} files")
            found = [m for m in members if m.filename == NAME]
            if len(found) != 1:
                raise BadArtifact(f"{len(found)} files named {NAME}")
            with packed.open(found[0]) as file:
                data = file.read(MOST_RESULT + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        raise BadArtifact(f"no archive that can be read ({type(error).__name__})") from None
    if len(data) > MOST_RESULT:
        raise BadArtifact(f"{NAME} is larger than {MOST_RESULT} bytes")
    try:
        return Result.model_validate_json(data)
    except (ValidationError, ValueError, RecursionError) as error:
        first = str(error).splitlines()[0]
        raise BadArtifact(f"{NAME} does not follow the schema ({first[:200]})") from None
