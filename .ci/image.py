"""Build the image and run it as a runner would, on the demo's pull request, by a script that serves an engine.

Usage: python .ci/image.py SCRIPT, where SCRIPT takes ACTION_DIR IMAGE_TAG REPO_DIR EVENT_JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


def main() -> int:
    """0 where the container measured the pull request and found it failing."""
    script = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="grader-gate-image-") as folder:
        repository, event = Path(folder) / "repo", Path(folder) / "event.json"
        subprocess.run(
            [sys.executable, HERE / "examples" / "demo.py", "--dir", repository], check=True, stdout=subprocess.DEVNULL
        )
        head = git(repository, "rev-parse", "tidy-rubric")
        git(repository, "switch", "-q", "-c", "merge", "main")
        git(repository, "merge", "-q", "--no-ff", "-m", "Merge", "tidy-rubric")
        payload = json.loads((HERE / "tests" / "openapi" / "events" / "pull_request.opened.json").read_text("utf-8"))
        payload["number"] = payload["pull_request"]["number"] = 1
        payload["pull_request"]["head"]["sha"] = head
        payload["pull_request"]["base"]["sha"] = git(repository, "rev-parse", "main")
        event.write_text(json.dumps(payload), "utf-8")
        done = subprocess.run(
            ["bash", script, HERE, "grader-gate-ci", repository, event], capture_output=True, text=True, check=False
        )
        print(done.stdout[-6000:], done.stderr[-3000:])
        lines = done.stdout.splitlines()
        verdict = [after for line, after in pairwise(lines) if line.startswith("verdict<<")]
        if verdict != ["fail"]:
            sys.exit(f"the container did not find the demo's breakage: verdict {verdict}")
        if not (repository / "grader-gate-report" / "report.html").exists():
            sys.exit("the container left no report in the workspace")
    print("the image was built, run, and found the demo's breakage")
    return 0


def git(repository: Path, *arguments: str) -> str:
    """Run git; its output."""
    command = ["git", "-c", "user.name=ci", "-c", "user.email=ci@example.com", *arguments]
    return subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
