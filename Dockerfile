# The container action. Build with --build-arg BASE=… to take the base from elsewhere.
ARG BASE=python:3.12-slim

FROM ${BASE} AS builder
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
COPY requirements/runtime.lock requirements/build.lock /src/requirements/
# Dependencies come first and by hash: a change of the program leaves this layer alone.
RUN python -m venv /opt/grader-gate \
 && /opt/grader-gate/bin/python -m pip install -q --require-hashes -r /src/requirements/runtime.lock \
 && python -m venv /opt/build \
 && /opt/build/bin/python -m pip install -q --require-hashes -r /src/requirements/build.lock
COPY pyproject.toml README.md /src/
COPY src /src/src
RUN /opt/build/bin/python -m pip wheel -q --no-deps --no-build-isolation -w /wheels /src \
 && /opt/grader-gate/bin/python -m pip install -q --no-deps --no-index /wheels/*.whl \
 && /opt/grader-gate/bin/python -m pip uninstall -q -y pip

FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/*
COPY --from=builder /opt/grader-gate /opt/grader-gate
# A container action runs as root in /github/workspace: no USER, no WORKDIR. -I keeps the checkout's own modules and
# every PYTHON* variable out of this interpreter.
ENTRYPOINT ["/opt/grader-gate/bin/python", "-I", "-m", "grader_gate.action"]
