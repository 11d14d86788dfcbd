# Two commands matter: `make demo` shows the gate at work, `make test` passes the tests.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint check-docs lock clean

help: ## say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# The program alone, from the hash-locked list: what `make demo` needs.
$(VENV)/.runtime: requirements/runtime.lock requirements/build.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("grader-gate needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/runtime.lock -r requirements/build.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# What the tests need besides.
$(VENV)/.dev: requirements/dev.lock $(VENV)/.runtime
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.lock
	touch $@

demo: $(VENV)/.runtime ## run the gate on an embedded example: no key, no network service
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev ## run lint, types and tests
	$(MAKE) lint
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lock: ## resolve the dependencies anew (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o requirements/runtime.lock
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -c requirements/runtime.lock -o requirements/dev.lock
	printf 'hatchling>=1.27\neditables\nsetuptools\n' | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -c requirements/dev.lock -o requirements/build.lock

clean: ## remove what the targets made
	rm -rf $(VENV) out build dist
