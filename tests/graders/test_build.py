"""The registry of kinds: built-in, third-party, unknown; and how little a start takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader_gate.config import PluginGrader
from grader_gate.errors import UsageError
from grader_gate.graders.build import build_grader

from .parts import KEY, MemoryTree

NOTHING: dict[str, Any] = {"providers": {}, "tree": MemoryTree({}), "code_dir": None, "environ": {}}


PLUGIN = PluginGrader(kind="plugin", plugin="oracle", version="1", options={"depth": 3})


def test_an_unknown_plug_in() -> None:
    with pytest.raises(UsageError, match=r"graders\.judge\.plugin: no plug-in 'oracle'; install the package"):
        build_grader("judge", PLUGIN, **NOTHING)


def test_a_third_partys_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "oracle.py").write_text("def build(parts):\n    return (parts.name, parts.config.options)\n")
    record = tmp_path / "oracle-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: oracle\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text("[grader_gate.graders]\noracle = oracle:build\n")
    monkeypatch.syspath_prepend(tmp_path)
    built: Any = build_grader("judge", PLUGIN, **NOTHING)
    assert built == ("judge", {"depth": 3})


def test_building_and_identity_import_nothing_heavy() -> None:
    script = """
import sys
from tests.graders.parts import grader
files = {"j.md": "{{ answer }}", "s.json": "{}", "l.jsonl": ""}
built = [
    grader({"kind": "chat", "provider": "local", "model": "m", "prompt": "j.md"},
           provider={"base_url": "http://127.0.0.1:1"}, files=files),
    grader({"kind": "http", "provider": "local", "version": "1"}, provider={"base_url": "http://127.0.0.1:1"}),
    grader({"kind": "checks", "checks": [{"type": "json_schema", "schema": "s.json"}, {"type": "numbers"}]}, files=files),
    grader({"kind": "python", "callable": "m:f"}, source_digest="0"),
    grader({"kind": "command", "command": ["true"]}, source_digest="0"),
]
assert len({one.identity for one in built}) == 5
heavy = ("httpx", "aiohttp", "jinja2", "tenacity", "jsonschema", "regex", "pint", "yaml", "numpy")
print([name for name in heavy if name in sys.modules])
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    assert KEY not in done.stdout
