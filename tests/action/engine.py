"""A container engine, where the machine has one; nothing here is needed to run the rest of the tests."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BASE = os.environ.get("GRADER_GATE_TEST_BASE", "python:3.12-slim")
"""Base image; named by the environment where the registry is out of reach."""

IMAGE = "grader-gate-under-test"


@dataclass(frozen=True)
class Engine:
    """The ``docker`` or ``podman`` command line, tried and found answering."""

    program: str

    def __call__(self, *args: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        env = {"DOCKER_BUILDKIT": "0"} if "podman" in os.environ.get("DOCKER_HOST", "") else {}
        return subprocess.run(
            [self.program, *args], env=os.environ | env, capture_output=True, text=True, timeout=timeout, check=False
        )

    def run_image(self, *args: str) -> subprocess.CompletedProcess[str]:
        """``run``, and remove what is left after its exit code is known.

        Behind podman's socket, ``docker run --rm`` loses the exit code and says 0.
        """
        name = f"grader-gate-{secrets.token_hex(6)}"
        try:
            return self("run", "--name", name, *args)
        finally:
            self("rm", "-f", name)


def find_engine(*programs: str) -> Engine:
    """The first of ``programs`` that works, with the base image at hand; skips, and says why, where none does."""
    tried = []
    for program in programs:
        if shutil.which(program) is None:
            tried.append(f"{program}: not installed")
            continue
        engine = Engine(program)
        try:
            answered = engine("info", timeout=20)
        except subprocess.TimeoutExpired:
            tried.append(f"{program}: no answer")
            continue
        if answered.returncode != 0:
            tried.append(f"{program}: {(answered.stderr.strip().splitlines() or ['failed'])[-1]}")
            continue
        if engine("image", "inspect", BASE).returncode != 0 and engine("pull", BASE, timeout=300).returncode != 0:
            tried.append(f"{program}: base image {BASE} is neither here nor to be pulled; see GRADER_GATE_TEST_BASE")
            continue
        started = engine.run_image("--network", "host", "--entrypoint", "/bin/true", BASE)
        if started.returncode != 0:
            tried.append(f"{program}: cannot start a container: {(started.stderr.strip().splitlines() or ['?'])[-1]}")
            continue
        return engine
    pytest.skip("THE IMAGE IS NOT TESTED HERE. No container engine: " + "; ".join(tried))


def build_image(engine: Engine) -> None:
    """Build the image of this checkout; the engine's own cache makes a second time quick."""
    built = engine("build", "--build-arg", f"BASE={BASE}", "-t", IMAGE, str(ROOT), timeout=1200)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
