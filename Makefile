# `make demo` and `make test` are all a fresh machine needs: they create .venv, install what is missing
# into it, and leave nothing outside this checkout.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What `chorus` itself needs, without the tools of `make test`.
RUNTIME_STAMP := $(VENV)/.runtime-installed
# Tests that drive a real client wait for it most of the time: one more than there are processors.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# What tests the pure code: run by itself, with branch coverage.
PURE_TESTS := tests/model tests/text tests/changes tests/policy tests/agents
# What touches the system, for a second shell and without a file watch; the rest is the same everywhere.
SYSTEM_TESTS := tests/system tests/hooks tests/agents/test_processes.py tests/wire tests/inbox tests/tmux tests/watcher tests/demo
IMITATED_TESTS ?= tests
# A test of the system or of the real client that fails is run again, and listed as RERUN: each is a bug to be found.
RERUNS ?= 2
OLDER ?= 0.2.110
# How many mutants `make mutants` tries.
N ?= 100
export PIP_NO_CACHE_DIR := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test test-fast test-shells test-imitated matrix check format bench compare mutants test-older dist-check docs pictures clean tmux browser

help:
	@echo 'make demo        the whole story in a scratch repository'
	@echo 'make test        every test, with 100 % branch coverage of the pure code'
	@echo 'make test-fast   the tests of the pure code and the import contract, under a minute, no client'
	@echo 'make test-shells the hook program in every shell that may be sh (installs them)'
	@echo 'make test-imitated  every test on a machine that looks like macOS to Chorus (needs root)'
	@echo 'make matrix      demo and fast tests in Debian stable and unstable and Ubuntu 22.04, with their git, tmux and Python (needs root)'
	@echo 'make check       format, lint, types, import contract'
	@echo 'make bench       benchmarks and the long fuzz run, as ratios'
	@echo 'make mutants     100 random faults in the code: do the tests notice? (N=, SEED=, AREA=, JOBS=; installs cosmic-ray into .mutants)'
	@echo 'make test-older  the end-to-end tests with an older client (OLDER=0.2.110, a version of claude-agent-sdk)'
	@echo 'make dist-check  build the wheel, install it with pip, pipx and uv, play the demo from there'
	@echo 'make compare     Chorus beside others: same edits, same repositories (installs them into .compare)'
	@echo 'make docs        regenerate docs/commands.md, docs/chorus.1 and docs/schema.json from the code'
	@echo 'make pictures    regenerate the pictures of the guide, and the moving one of the README (a real session)'
	@echo 'make format      format the sources'
	@echo 'make clean       remove .venv, .compare, .mutants and every cache'

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv "$(VENV)"
	@echo 'installing into $(VENV) ...'
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@$(BIN)/python -m compileall -q chorus
	@touch $@ $(RUNTIME_STAMP)

$(RUNTIME_STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv "$(VENV)"
	@echo 'installing into $(VENV) ...'
	@$(BIN)/python -m pip install --quiet --editable .
	@$(BIN)/python -m compileall -q chorus
	@touch $@

tmux:
	@sh .ci/need tmux tmux

# For the tests of the web page, which are skipped without it.
browser:
	@sh .ci/need chromium chromium && sh .ci/need chromedriver chromium-driver \
	  || echo 'without Chromium and its driver the tests of the web page are skipped' >&2

demo: $(RUNTIME_STAMP) tmux
	@$(BIN)/chorus demo

test: $(STAMP) tmux browser
	@$(BIN)/python -m pytest -n $(JOBS) --cov --cov-report=term-missing:skip-covered $(PURE_TESTS)
	@$(BIN)/python -m pytest -n $(JOBS) --maxschedchunk 8 --reruns $(RERUNS) -r aR $(PURE_TESTS:%=--ignore=%)

test-shells: $(STAMP)
	@for shell in dash bash busybox zsh mksh; do sh .ci/need $$shell $$shell; done
	@sh .ci/shells $(BIN)/python

test-imitated: $(STAMP) tmux
	@for shell in dash busybox; do sh .ci/need $$shell $$shell; done
	@sh .ci/imitated $(BIN)/python dash fsevents -n $(JOBS) $(IMITATED_TESTS)
	@sh .ci/imitated $(BIN)/python busybox poll -n $(JOBS) $(if $(filter tests,$(IMITATED_TESTS)),$(SYSTEM_TESTS),$(IMITATED_TESTS))

matrix:
	@sh .ci/need debootstrap debootstrap
	@sh .ci/matrix

test-fast: $(STAMP)
	@$(BIN)/python -m pytest -q -n $(JOBS) $(PURE_TESTS) tests/test_architecture.py

check: $(STAMP)
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/mypy --platform darwin --always-false IS_LINUX --cache-dir .mypy_cache/darwin --exclude '^chorus/system/linux/' chorus
	@$(BIN)/python -m pytest -q -p no:xdist tests/test_architecture.py

format: $(STAMP)
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: $(STAMP) tmux
	@sh .ci/need bash bash && sh .ci/need dash dash && sh .ci/need zsh zsh
	@$(BIN)/python -m tests.bench

mutants: $(STAMP)
	@test -x .mutants/bin/python || $(PYTHON) -m venv .mutants
	@.mutants/bin/python -m pip install --quiet 'cosmic-ray>=8.7,<9'
	@.mutants/bin/python -m tests.mutants --python $(abspath $(BIN)/python) --count $(N) --jobs $(JOBS) $(if $(SEED),--seed $(SEED)) $(if $(AREA),--area $(AREA))

test-older: $(STAMP) tmux
	@sh .ci/older $(BIN)/python $(OLDER)

dist-check: tmux
	@PYTHON=$(PYTHON) sh .ci/dist

compare: $(STAMP)
	@$(BIN)/python -m tests.compare --write

docs: $(STAMP)
	@$(BIN)/python -m tests.docs.generated

pictures: $(STAMP) tmux
	@$(BIN)/python -m tests.panel.pictures
	@$(BIN)/python -m tests.pictures.session

clean:
	rm -rf $(VENV) .compare .mutants dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
