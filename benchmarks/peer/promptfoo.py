"""The same calls through promptfoo (npm), where node is there.

What is timed is what the server sees, from the first request to the last reply: promptfoo's start is not counted. Each
case is one call of the model with a one-word assertion, the lightest work promptfoo can be given.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from grader_gate.model import Item

PACKAGES = ("promptfoo", "node@22")
"""promptfoo wants a newer node than many machines have; npm brings one."""
INSTALL_TIMEOUT_S = 900
RUN_TIMEOUT_S = 300


class CountingServer(Protocol):
    """The benchmark's model server."""

    base_url: str

    def counts(self) -> dict[str, float]:
        """Counts since the last question."""
        ...


def measure_peer(
    server: CountingServer,
    items: Sequence[Item],
    latency_s: float,
    concurrencies: Sequence[int],
    prompt: str,
    installed: Path | None = None,
) -> dict[str, Any]:
    """Ratios of wall time to the ideal, by concurrency, with promptfoo's version; says why where it cannot run.

    :param installed: a folder in which npm has put :data:`PACKAGES` already; None installs into a temporary one.
    """
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        print("promptfoo: not measured, for there is no node here")
        return {"skipped": "no node"}
    with tempfile.TemporaryDirectory(prefix="grader-gate-peer-") as name:
        folder = Path(name)
        modules = (folder if installed is None else installed) / "node_modules"
        if installed is None:
            print(f"promptfoo: installing from npm into {folder}, about 1.5 GB", flush=True)
            # npm gets the caller's environment: it may need a proxy or a mirror.
            install = [npm, "install", "--no-audit", "--no-fund", "--prefix", name, *PACKAGES]
            done = subprocess.run(install, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S)
            if done.returncode:
                print(f"promptfoo: not measured, npm could not install it: {done.stderr.strip()[-300:]}")
                return {"skipped": "npm could not install it"}
        version = json.loads((modules / "promptfoo" / "package.json").read_text(encoding="utf-8"))["version"]
        # Nothing of the user's: no account, no cache, no telemetry, no look for updates.
        environ = {
            "PATH": f"{modules / '.bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": name,
            "PROMPTFOO_CONFIG_DIR": str(folder / "config"),
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
            "OPENAI_API_KEY": "none",
        }
        command = [str(modules / ".bin" / "promptfoo"), "eval"]
        figures: dict[str, Any] = {"promptfoo": version}
        for concurrency in concurrencies:
            figures[f"c{concurrency}"] = _one(
                command, folder, environ, server, items, latency_s, concurrency, prompt, version
            )
        return figures


def _one(
    command: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    server: CountingServer,
    items: Sequence[Item],
    latency_s: float,
    concurrency: int,
    prompt: str,
    version: str,
) -> dict[str, float]:
    config = {
        "prompts": [prompt],
        "providers": [{"id": "openai:chat:benchmark-1", "config": {"apiBaseUrl": server.base_url, "temperature": 0}}],
        "tests": [{"vars": dict(item.inputs), "assert": [{"type": "contains", "value": "correct"}]} for item in items],
    }
    path = folder / "promptfooconfig.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    server.counts()
    options = [
        "--config", str(path), "--no-cache", "--no-table", "--no-progress-bar", "--no-write",
        "--max-concurrency", str(concurrency), "--output", str(folder / "out.json"),
    ]  # fmt: skip
    done = subprocess.run(
        [*command, *options], cwd=folder, env=environ, capture_output=True, text=True, timeout=RUN_TIMEOUT_S
    )
    counts = server.counts()
    if counts["served"] != len(items):
        said = (done.stderr + done.stdout)[-800:]
        raise SystemExit(f"promptfoo {version} made {counts['served']:g} of {len(items)} calls: {said}")
    ideal = len(items) * latency_s / concurrency
    ratio = counts["span_s"] / ideal
    print(
        f"promptfoo {version}: {len(items)} calls of {latency_s * 1000:g} ms, {concurrency} allowed in flight "
        f"({counts['most_in_flight']:g} seen): {counts['span_s']:.2f} s, ratio {ratio:.3f}"
    )
    return {"ratio": round(ratio, 3), "most_in_flight": counts["most_in_flight"]}
