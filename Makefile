# Every target does all the set-up that it needs: a virtual environment, pinned packages, the engine.
# Nothing is installed outside this folder.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
FABRILOOM := $(VENV)/bin/fabriloom

# cargo is often installed for one user without being on the path of a plain shell.
export PATH := $(PATH):$(HOME)/.cargo/bin
# The engine is installed here, also where another environment is active.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport CONDA_PREFIX
# Without this a missing cargo makes the build download a tool chain silently, instead of saying so.
export MATURIN_NO_INSTALL_RUST := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start hundreds of processes: without compiled modules each spends a third of its time on compiling them again.
unexport PYTHONDONTWRITEBYTECODE
# The type checker and clippy compile the Python face without linking it: they need to know for which Python.
export PYO3_PYTHON := $(CURDIR)/$(PY)

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml

# The main job of `make demo`: the network, and the folder in which its results are written.
DEMO := scenarios/macrame-clos-256.toml
DEMO_OUT := out/demo
REPRODUCTION := out/reproduction

# What only some commands need, each with a file of requirements.
EXTRAS := measure cluster search pandas notebook
INSTALLED := $(VENV)/dev.stamp $(VENV)/engine.stamp $(EXTRAS:%=$(VENV)/%.stamp)

.DEFAULT_GOAL := help
# One thing after the other, except what `make test` needs first: compilers and pip leave a core idle much of the time.
ifneq ($(MAKECMDGOALS),test-built)
.NOTPARALLEL:
endif
.DELETE_ON_ERROR:
# How long `make soak` compares freshly drawn networks.
MINUTES ?= 10
# Release code with overflow checks and debug assertions: one build for every test of the engine.
TEST_RUST := cargo test --profile checked --locked --quiet
SOAK_RUST := $(TEST_RUST) --package fabriloom-twin --test all

.PHONY: help setup $(EXTRAS:%=setup-%) demo test test-built test-rust-built check-format lint clippy types test-rust test-python soak bench reproduce docs site test-site dist audit test-dist fmt clean

help:
	@echo "make demo        the 256-terminal Clos from 5 % load to saturation, beside the published numbers; report.html"
	@echo "make test        every test: Rust, Python, documentation, format, lint, types, walls"
	@echo "make soak        compare fresh random networks of every kind with the slow twin, for MINUTES=10 or any other time"
	@echo "make setup       the fabriloom command in $(FABRILOOM), and nothing else"
	@echo "make setup-measure  the same, with an MPI for fabriloom measure"
	@echo "make setup-cluster  the same, with Dask for fabriloom study --on"
	@echo "make setup-search   the same, with optuna for searches: [study.search]"
	@echo "make setup-pandas   the same, with pandas for to_pandas() of tables"
	@echo "make setup-notebook the same, with anywidget for fabriloom.widget() in notebooks"
	@echo "make reproduce   compute every figure and number of the papers again, published beside ours; reproduction.html"
	@echo "make bench       measure speed and memory; writes the tables of benches/; AGAINST=PYTHON: in pairs with that build"
	@echo "make docs        the documentation as a site in out/docs"
	@echo "make site        the same, with the engine in its pages where there is a compiler for WebAssembly"
	@echo "make test-site   that engine against this machine's, to the byte"
	@echo "make dist        wheels and the sources in dist/: with the wheels, nobody needs a compiler"
	@echo "make audit       known weaknesses of dependencies, where pip-audit and cargo-audit are installed"
	@echo "make test-dist   install that wheel into an empty environment and use it"
	@echo "make fmt         format Rust and Python"
	@echo "make clean       remove everything that was built here"

setup: $(VENV)/engine.stamp

$(EXTRAS:%=setup-%): setup-%: setup $(VENV)/%.stamp

demo: setup
	$(FABRILOOM) curve $(DEMO) --published --out $(DEMO_OUT) --force
	@cp $(DEMO_OUT)/report.html report.html
	@echo "Open report.html: $(CURDIR)/report.html"

test:
	@$(MAKE) --no-print-directory --jobs 2 --output-sync test-built
	@$(MAKE) --no-print-directory test-rust test-python

# In this order no core waits for the other: the tests of Rust are compiled while packages are installed and the engine,
# which keeps one core busy, is built.
test-built: test-rust-built $(VENV)/dev.stamp $(VENV)/engine.stamp types clippy check-format lint $(INSTALLED)

check-format: $(VENV)/dev.stamp
	cargo fmt --all --check
	$(PY) -m ruff format --check .

lint: $(VENV)/dev.stamp clippy
	$(PY) -m ruff check .

clippy: $(VENV)/made.stamp
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

# The types of the MPI library are checked, too.
types: $(VENV)/dev.stamp $(VENV)/engine.stamp $(VENV)/measure.stamp
	$(PY) -m basedpyright

# The Python face holds no logic to test from Rust, and a test binary of it would need a linkable Python.
test-rust: test-rust-built
	$(TEST_RUST) --workspace --exclude fabriloom-python

test-rust-built: $(VENV)/made.stamp
	$(TEST_RUST) --workspace --exclude fabriloom-python --no-run

# See conftest.py for the groups.
test-python: $(INSTALLED)
	$(PY) -m pytest -n 2 --dist loadgroup

# A difference stops its kind of network with the seed, which FABRILOOM_SEEDS=7..8 repeats. What the tests in Python have
# tried is written beside the page of how it is tested.
soak: export FABRILOOM_SOAK_TALLY := $(CURDIR)/out/soak.csv
soak: $(VENV)/dev.stamp $(VENV)/engine.stamp $(VENV)/search.stamp
	$(SOAK_RUST) --no-run
	@mkdir -p out && rm -f $(FABRILOOM_SOAK_TALLY)
	FABRILOOM_SOAK_SECONDS=$$(( $(MINUTES) * 60 )) nice $(SOAK_RUST) soak:: -- --nocapture --test-threads 8 & rust=$$!; \
	FABRILOOM_SOAK_SECONDS=$$(( $(MINUTES) * 60 )) nice $(PY) -m pytest -m 'soak or seeds' -n 2 -rP; python=$$?; \
	$(PY) tests/soaked.py $(FABRILOOM_SOAK_TALLY) $(MINUTES); \
	wait $$rust && exit $$python

# Instructions are counted, too, where valgrind is installed. AGAINST=/path/to/python compares with the build which that
# interpreter imports.
bench: setup $(VENV)/dev.stamp
	for script in run presets rings programs startup; do \
		$(PY) benches/$$script.py $(if $(AGAINST),--against $(AGAINST)) || exit 1; \
	done
	$(PY) benches/features.py
	$(PY) benches/studies.py
	$(PY) benches/bounds.py
	$(PY) benches/scale.py

reproduce: setup
	$(FABRILOOM) reproduce all --out $(REPRODUCTION) --force
	@echo "Open $(CURDIR)/$(REPRODUCTION)/reproduction.html"

# The pages of the repository are the sources of the site as they are.
docs: $(VENV)/dev.stamp $(VENV)/engine.stamp
	rm -rf out/docs-source out/docs
	mkdir -p out/docs-source
	cp *.md out/docs-source
	cp -r docs out/docs-source/docs
	$(PY) docs/site/gallery.py scenarios out/docs-source/docs $(ENGINE)
	PYTHONPATH=tests $(PY) docs/site/messages.py tests/cases/invalid out/docs-source/docs
	$(PY) -m sphinx -q -W --keep-going -c docs/site -b html out/docs-source out/docs
	cp -r out/docs-source/docs/replays out/docs/docs
	@printf '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0; url=docs/README.html"><title>Fabriloom</title>' > out/docs/index.html
	@echo "Open $(CURDIR)/out/docs/index.html"

# Without a compiler for WebAssembly it says so, and the site is that of `make docs`.
site: $(VENV)/dev.stamp $(VENV)/engine.stamp
	@mkdir -p out && rm -f out/engine.wasm
	@echo "building the engine for browsers (the first time some minutes)"
	@$(PY) docs/site/engine.py out/engine.wasm
	@$(MAKE) --no-print-directory docs ENGINE=out/engine.wasm

test-site: site
	$(PY) -m pytest tests/site

# The same sources give the same bytes, wherever they lie: times are those of the commit, and no path of this machine is
# in them. The sources are packed first and the wheel is built from what is in the pack, or that might be incomplete.
# WHEEL="--zig --target ..." builds one for another machine.
dist: export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || echo 1700000000))
dist: export CARGO_TARGET_DIR := $(CURDIR)/target/dist
dist: $(VENV)/run.stamp
	$(check-compilers)
	rm -rf dist
	$(PY) -m maturin sdist --out dist
	@echo "building the engine in release mode (about two minutes)"
	@set -e; unpacked=$$(mktemp -d); trap 'rm -rf "$$unpacked"' EXIT; \
	tar -xzf dist/fabriloom-*.tar.gz --strip-components 1 -C "$$unpacked"; cd "$$unpacked"; \
	export RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=cargo"; \
	$(CURDIR)/$(PY) -m maturin build --release --locked --quiet $(WHEEL) --out $(CURDIR)/dist
	$(PY) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist ./papers
	$(PY) docs/site/supply.py dist/fabriloom.cdx.json
	@cd dist && sha256sum *

# Both need their lists of weaknesses, from the network or from before; without them they say so and fail.
audit: $(VENV)/made.stamp
	@if command -v pip-audit >/dev/null; then \
		for file in requirements*.txt; do pip-audit --no-deps --disable-pip --requirement $$file || exit 1; done; \
	else echo "no pip-audit here: nothing is known about packages of Python"; fi
	@if cargo audit --version >/dev/null 2>&1; then cargo audit; \
	else echo "no cargo-audit here: nothing is known about crates of Rust"; fi

# Without the fixtures of the other tests, which need the engine built in place.
test-dist: dist $(VENV)/dev.stamp
	$(PY) -m pytest --confcutdir tests/installed -m installed tests/installed

fmt: $(VENV)/dev.stamp
	cargo fmt --all
	$(PY) -m ruff check --fix-only --quiet .
	$(PY) -m ruff format .

clean:
	rm -rf $(VENV) target build dist out report.html .pytest_cache .ruff_cache .hypothesis
	find python -name '*.so' -delete

define check-compilers
@command -v cargo >/dev/null || { echo "fabriloom needs Rust 1.95 or newer to build its engine: install cargo (Debian, Ubuntu: apt install rustup && rustup default stable)" >&2; exit 1; }
@command -v cc >/dev/null || { echo "fabriloom needs a C compiler to link its engine (Debian, Ubuntu: apt install gcc)" >&2; exit 1; }
endef

# A virtual environment that lost its interpreter (an upgrade, a moved folder) is made again by deleting it.
$(VENV)/made.stamp:
	@command -v $(PYTHON) >/dev/null || { echo "fabriloom needs Python 3.11 or newer: install python3, or call 'make PYTHON=/path/to/python3 ...'" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "fabriloom needs Python 3.11 or newer, this is $$($(PYTHON) --version): call 'make PYTHON=/path/to/newer/python3 ...'" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "this Python cannot make virtual environments: install its venv module (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	$(check-compilers)
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The papers are a package beside the command; their build tool is among the requirements.
$(VENV)/run.stamp: requirements.txt papers/pyproject.toml | $(VENV)/made.stamp
	$(PY) -m pip install --quiet --requirement requirements.txt
	$(PY) -m pip install --quiet --no-deps --no-build-isolation --editable papers
	@touch $@

# Without an MPI everything works but `fabriloom measure`, and its tests are skipped.
$(VENV)/measure.stamp: requirements-measure.txt $(VENV)/run.stamp
	$(PY) -m pip install --quiet --requirement $< || echo "no MPI could be installed: programs cannot be measured here" >&2
	@touch $@

$(VENV)/%.stamp: requirements-%.txt $(VENV)/run.stamp
	$(PY) -m pip install --quiet --requirement $<
	@touch $@

# The stamp carries the time at which the build began: what is edited during a build is built again.
# PIP_NO_INDEX: everything is pinned and installed by now, so whatever is still missing is a mistake.
$(VENV)/engine.stamp: $(RUST_SOURCES) $(VENV)/run.stamp
	$(check-compilers)
	@touch $@.begun
	@echo "building the engine in release mode (about a minute)"
	PIP_NO_INDEX=1 PIP_QUIET=1 $(PY) -m maturin develop --release --locked --quiet
	@mv $@.begun $@

# Where two things are done at a time, still only one pip changes the virtual environment, and the engine comes first.
ifeq ($(MAKECMDGOALS),test-built)
clippy: | $(VENV)/dev.stamp
$(VENV)/measure.stamp: | $(VENV)/dev.stamp
$(VENV)/cluster.stamp: | $(VENV)/measure.stamp
$(VENV)/search.stamp: | $(VENV)/cluster.stamp
$(VENV)/pandas.stamp: | $(VENV)/search.stamp
$(VENV)/notebook.stamp: | $(VENV)/pandas.stamp
endif
