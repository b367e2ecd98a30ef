# Every command of the project. `make` or `make help` lists them.
#
# Nothing has to be set up before: each target makes the virtual environment, builds and installs what it needs, and remembers
# it in stamp files, so that a second run starts at once. What a fresh machine must have (Python, a C linker, Rust, Java,
# Node.js, Chromium) is checked by .ci/prerequisites, which says what is missing and how to get it.
#
#   make PYTHON=python3.12 test     another interpreter            make VENV=/tmp/venv test     another place for the environment

PYTHON ?= python3
VENV ?= .venv
FLINK ?= 1.11

.DEFAULT_GOAL := help
ifndef BESIDE
.NOTPARALLEL:
endif
.SUFFIXES:
.PHONY: help demo develop check check-pythons check-sparks test test-rust test-python test-yarn test-viewer viewer pictures lint sweep matrix runs chaos edits soak docs bench bench-unbounded bench-smoke bench-flink bench-nexmark pyflink golden instructions instructions-update build release-check format clean

BIN := $(VENV)/bin
# cargo must see one interpreter, or it rebuilds the Python door whenever the shell's python3 changes, and not make's job server
CARGO := env -u MAKEFLAGS -u MFLAGS PYO3_PYTHON="$(abspath $(BIN))/python" cargo
# Tests start Python some hundred times; where nobody may keep bytecode, each start compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# what the installed package is made of: a change to any of it reinstalls
NATIVE := pyproject.toml Cargo.toml $(wildcard Cargo.lock) $(shell find rust -type f)
SOURCES := $(NATIVE) $(shell find python -type f ! -name '*.so' ! -name '*.pyc' ! -name viewer.html)
# the page of `penstock view`, which is built and not kept in git, and what it is made of
VIEWER := python/penstock/viewer/viewer.html
PACKAGES := viewer/node_modules/.package-lock.json
# which package the environment holds: the sources themselves (`make develop`), a wheel that is built quickly (`make test`) or
# one as it is released; the last made stays
PACKAGE := $(firstword $(wildcard $(VENV)/.developed $(VENV)/.tested) $(VENV)/.installed)
# what is measured is optimised in full
MEASURED := $(firstword $(wildcard $(VENV)/.developed) $(VENV)/.installed)
# $(call component,SUBCOMMAND,NAME,COMMAND): a minimal Rust toolchain lacks these two; the rest is worth checking all the same
component = @if cargo $(1) --version >/dev/null 2>&1; then echo '$(3)'; $(3); \
	else echo 'SKIPPED, $(2) is not installed (rustup component add $(2)): $(3)'; fi
# one process of pytest more than there are cores: tests wait, too
CORES := -n $(shell expr $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 1) --dist worksteal
# $(call install,FOLDER,STAMPS): the wheel in a folder, and no longer what the stamps stand for
install = $(PIP) --quiet uninstall --yes penstock && \
	$(PIP) install "$$(echo "$(VENV)"/$(1)/penstock-*.whl)[spark]" && \
	rm -f $(addprefix $(VENV)/,$(2)) && touch $@
QUICK := -m 'not spark and not hdfs and not yarn' $(CORES)
# each process has a Spark of its own, and more than a few take too much memory
SPARKS := $(CORES) --maxprocesses 4
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# two targets at a time, of which each then says at its end what it has to say
BESIDE_EACH_OTHER := $(if $(filter output-sync,$(.FEATURES)),BESIDE=yes --jobs=2 --output-sync=target)

help: ## list the commands
	@printf 'Penstock: Flink-style DataStream programs, planned as Flink does, run on Spark.\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nNeeds Python >= 3.10, a C linker and a Rust toolchain; Java >= 17 for Spark and Node.js >= 18 for the viewer, which\n'
	@printf '`make develop` and `make check` do without. Everything else is installed into %s.\n' '$(VENV)'

# --- what a user runs -------------------------------------------------------------------------------------------------------

demo: $(PACKAGE) $(VIEWER) ## show the plan of examples/counts.py, as tables and as a page, then run it on Spark
	@.ci/demo "$(BIN)"

# --- what a contributor runs ------------------------------------------------------------------------------------------------

develop: $(VENV)/.developed ## let the environment run the sources: an edit of a .py needs no build, only one of Rust does

check: $(VENV)/.developed ## the quick cycle: lint, Rust tests, Python tests that are neither slow nor start Spark
	@$(MAKE) --no-print-directory $(BESIDE_EACH_OTHER) lint test-rust
	$(BIN)/pytest --ignore=tests/docs -m 'not spark and not slow and not hdfs and not yarn' $(CORES) $(ARGS)
	@printf '\nThe quick checks passed. `make test` has the slow tests, Spark, the documentation and the benches too.\n'

check-pythons: $(VENV)/.wheel ## the tests without Spark on Python 3.10 to 3.14, where installed, with one wheel for all
	@.ci/check-pythons "$(VENV)" "$(VENV)/wheel" $(QUICK) $(ARGS)

check-sparks: $(VENV)/.checks ## one package on Spark 3.5 to 4.3, each in an environment of its own (2 GB of downloads, half an hour; ARGS='3.5 4.0', ARGS=--all); writes the table of docs/clusters.md
	$(BIN)/python -m tests.sparks $(ARGS)

test: $(VENV)/.made ## every check, with the package installed from its wheel: lint, tests, documentation, benches, instruction counts
	@$(MAKE) --no-print-directory $(BESIDE_EACH_OTHER) $(VENV)/.tested-wheel $(VENV)/.groups
	@$(MAKE) --no-print-directory $(VENV)/.tested
	@$(MAKE) --no-print-directory $(BESIDE_EACH_OTHER) lint test-rust test-viewer $(VENV)/.prepared
	@$(MAKE) --no-print-directory test-python docs
	@$(MAKE) --no-print-directory $(BESIDE_EACH_OTHER) bench-smoke instructions
	@printf '\nAll checks passed.\n'

lint: $(VENV)/.checks $(VENV)/.forms $(VENV)/.types ## formatting, clippy, ruff, types of the public API, workflows and forms of GitHub
	$(call component,fmt,rustfmt,cargo fmt --all --check)
	$(call component,clippy,clippy,$(CARGO) clippy --workspace --all-targets --locked --quiet -- --deny warnings)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

# The Python door has no logic and no Rust tests; linking it outside Python would need a libpython.
test-rust: $(VENV)/.checks ## the Rust parts' own tests, with the planner's verifiers on
	$(CARGO) test --package penstock-columns --package penstock-planner --package penstock-runtime --locked --quiet

test-viewer: $(VENV)/.checks $(PACKAGES) ## the viewer's own tests: its types, its units, and its pages in a headless Chromium
	@.ci/prerequisites "$(PYTHON)" chromium
	cd viewer && npm run --silent check && npm run --silent test:unit
	@rm -rf viewer/.build/pages
	$(BIN)/python -m tests.viewer.pages viewer/.build/pages
	cd viewer && npm run --silent test:browser

viewer: $(VIEWER) ## build the page of `penstock view` out of viewer/

pictures: $(VENV)/.checks $(PACKAGES) ## draw the pictures of docs/viewer.md anew, in a headless Chromium
	$(BIN)/python -m tests.viewer.pages viewer/.build/pages
	cd viewer && npm run --silent pictures

# 5: none was chosen, as by ARGS that name a test without Spark.
test-python: $(VENV)/.prepared ## the Python tests, those without Spark first; `make test-python ARGS='-k uid'` for some
	$(BIN)/pytest --ignore=tests/docs $(QUICK) $(ARGS) || [ $$? -eq 5 ]
	$(BIN)/pytest --ignore=tests/docs -m spark $(SPARKS) $(ARGS) || [ $$? -eq 5 ]
	$(BIN)/pytest --ignore=tests/docs -m hdfs $(ARGS) || [ $$? -eq 5 ]

test-yarn: $(VENV)/.checks ## programs on YARN and HDFS, Hadoop's mini cluster (Maven, four minutes on two cores; 3 GB of memory)
	$(BIN)/pytest --ignore=tests/docs -m 'hdfs or yarn' $(ARGS)

sweep: $(VENV)/.checks ## the tests without Spark of which make test takes a sample, with each case, and more random examples (an hour)
	HYPOTHESIS_PROFILE=sweep $(BIN)/pytest --ignore=tests/docs -o faulthandler_timeout=0 $(QUICK) $(ARGS)

matrix: $(VENV)/.checks ## every program under every setting (minutes; ARGS='--spark --seconds 600' for some of it on Spark)
	$(BIN)/python -m tests.matrix $(ARGS)

runs: $(VENV)/.checks ## every program that Flink ran, on Spark, against what Flink gave (a minute or two; ARGS='r12 keyed_sum' for some, ARGS='--feed random:1 --kill 2' in steps, ARGS='--native off' without native code)
	$(BIN)/python -m tests.spark.runs $(ARGS)

chaos: $(VENV)/.checks ## kill jobs that go on a hundred times: here, on an S3 endpoint, on Spark, on a cluster of two workers (many minutes; ARGS='--parts cluster', ARGS='--native off')
	$(BIN)/python -m tests.chaos $(ARGS)

edits: $(VENV)/.checks ## edit two thousand random programs between their runs: what survives goes on, the rest begins anew (ARGS='0 5000')
	$(BIN)/python -m tests.datastream.random_edits $(or $(ARGS),0 2000)

soak: $(VENV)/.checks ## run a job at a constant rate for five minutes; nothing it takes may grow (ARGS='--executor spark --minutes 60')
	$(BIN)/python -m tests.soak $(ARGS)

# The site is built by one core, while its examples run; then it is looked at.
docs: $(VENV)/.prepared ## build the site in site/, warnings being errors, and run every example of README.md and docs/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs --quiet build --strict & site=$$!; \
	$(BIN)/pytest tests/docs --ignore=tests/docs/test_site.py $(SPARKS) $(ARGS); status=$$?; \
	wait $$site && [ $$status -eq 0 ]
	$(BIN)/pytest tests/docs/test_site.py

bench: $(VENV)/.checks $(MEASURED) ## measure beside Flink, Python and graph libraries (20 minutes), and write benches/report
	$(BIN)/python benches/run.py $(ARGS)

bench-unbounded: $(VENV)/.checks $(MEASURED) ## measure programs that never end beside Spark, Bytewax and PyFlink (12 minutes), and write benches/report
	$(BIN)/python benches/run.py --steps unbounded,steps $(ARGS)

instructions: $(VENV)/.checks ## count the planner's instructions, where valgrind is; fail when they have grown
	$(BIN)/python benches/instructions.py $(ARGS)

instructions-update: $(VENV)/.checks ## take the counts of now as the ones to compare with
	$(BIN)/python benches/instructions.py --update --require

bench-smoke: $(VENV)/.prepared ## the benches at their smallest sizes, once each, for correctness only
	PENSTOCK_BENCH_SMOKE=1 $(BIN)/pytest benches --benchmark-disable $(SPARKS) $(ARGS)

bench-flink: $(VENV)/.checks $(MEASURED) ## build the real Flinks (Maven, network), and hold them and Penstock against the golden records
	PENSTOCK_FLINK=1 $(BIN)/pytest tests/flink $(ARGS)

bench-nexmark: $(VENV)/.checks $(MEASURED) ## measure Nexmark beside Flink's own Java, or PyFlink and Beam (Maven, network, half an hour; ARGS='--queries q5 --formats csv', ARGS=check)
	$(BIN)/python benches/nexmark/run.py $(ARGS)

pyflink: $(VENV)/.checks ## install the real PyFlinks (PyPI; Java 11 or 17, Python 3.11), and read their graphs through Java
	@for version in 1.20 2.3; do \
		$(PYTHON) -m venv "$(VENV)-pyflink-$$version" && \
		"$(VENV)-pyflink-$$version/bin/pip" install --quiet "apache-flink==$$version.*" "setuptools<80" || exit 1; \
	done
	PENSTOCK_PYFLINK="$(abspath $(VENV)-pyflink-1.20)/bin/python $(abspath $(VENV)-pyflink-2.3)/bin/python" $(BIN)/pytest tests/pyflink/test_from_pyflink.py $(ARGS)

golden: ## what the real Flink makes of graphs: `make golden SPECS=specs.jsonl FLINK=2.3 > results.jsonl`
	@$(PYTHON) benches/flink_peer.py "$(FLINK)" < "$(SPECS)"

build: $(VENV)/.wheel ## an installable wheel in dist/
	@mkdir -p dist && cp "$(VENV)"/wheel/penstock-*.whl dist
	@ls -l dist

release-check: $(VENV)/.made $(VIEWER) ## rehearse a release: build and check the sources and every wheel that can be built here, and run each in a bare root (25 minutes, the first time 10 more; ARGS=--only-check, ARGS='--only musl')
	@.ci/prerequisites "$(PYTHON)" build
	@$(PIP) install --group release
	$(BIN)/python .ci/release_check.py $(ARGS)

format: $(VENV)/.checks ## rewrite the code in the project's format
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove everything that was built, the virtual environment too
	rm -rf target dist site $(VIEWER) viewer/node_modules viewer/.build "$(VENV)" "$(VENV)"-3.* python/penstock/*.so .pytest_cache .ruff_cache .hypothesis .benchmarks spark-warehouse metastore_db derby.log
	find rust python tests benches examples -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up, each step once -------------------------------------------------------------------------------------------------

$(VENV)/.made:
	@.ci/prerequisites "$(PYTHON)" build
	@printf 'Making the virtual environment %s\n' '$(VENV)'
	@$(PYTHON) -m venv "$(VENV)"
	@$(PIP) install --upgrade 'pip>=25.1'   # the first that knows --group
	@touch $@

$(PACKAGES): viewer/package.json viewer/package-lock.json
	@.ci/prerequisites "$(PYTHON)" node
	@printf 'Installing what the viewer is built with\n'
	@cd viewer && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@

$(VIEWER): $(PACKAGES) viewer/build.mjs $(wildcard viewer/src/*)
	@cd viewer && npm run --silent build

# by the profiles of Cargo.toml: as it is released, and as `make test` has it
$(VENV)/.wheel: PROFILE := release
$(VENV)/.tested-wheel: PROFILE := tested
$(VENV)/.wheel $(VENV)/.tested-wheel: $(VENV)/.made $(SOURCES) $(VIEWER)
	@.ci/prerequisites "$(PYTHON)" java
	@printf 'Building the package (some minutes the first time)\n'
	@rm -rf "$(@:$(VENV)/.%=$(VENV)/%)"
	@MATURIN_PEP517_ARGS='--profile $(PROFILE)' $(PIP) wheel --no-deps --wheel-dir "$(@:$(VENV)/.%=$(VENV)/%)" .
	@touch $@

# pip does not replace a package by another one of the same version
$(VENV)/.installed: $(VENV)/.wheel
	@$(call install,wheel,.tested .developed)

$(VENV)/.tested: $(VENV)/.tested-wheel
	@$(call install,tested-wheel,.installed .developed)

# Neither Java nor Node.js: what is tested without Spark needs none, and `penstock view` says how its page is built.
$(VENV)/.developed: $(VENV)/.made $(NATIVE)
	@.ci/prerequisites "$(PYTHON)" build
	@printf 'Building the native module into python/penstock (some minutes the first time)\n'
	@$(PIP) install --group develop
	@PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV="$(abspath $(VENV))" $(BIN)/maturin develop --release --quiet --extras spark
	@rm -f $(VENV)/.installed $(VENV)/.tested
	@touch $@

$(VENV)/.groups: $(VENV)/.made pyproject.toml
	@printf 'Installing what the checks need\n'
	@$(PIP) install --no-compile --group test --group lint --group bench --group docs   # what is used is compiled then
	@touch $@

$(VENV)/.checks: $(PACKAGE) $(VENV)/.groups
	@touch $@

# Each Spark that the tests start then starts in half the time; tests/conftest.py names the folder.
$(VENV)/.prepared: pyproject.toml | $(VENV)/.checks
	XDG_CACHE_HOME="$(abspath $(VENV))/cache" $(BIN)/penstock prepare
	@touch $@

# The types take as long as all the rest of the lint: only where something has changed that they are of. A second thread
# would read everything once more, half of the time again, and something else runs beside it anyway.
$(VENV)/.types: $(VENV)/.checks $(shell find python examples -name '*.py' -o -name '*.pyi')
	$(BIN)/pyright --pythonpath $(BIN)/python
	@touch $@

# workflows, forms and hooks seldom change, and what checks them takes two seconds to load
$(VENV)/.forms: $(VENV)/.checks .ci/check_forms.py action.yml .pre-commit-config.yaml .pre-commit-hooks.yaml $(wildcard .github/*.yml .github/*/*.yml)
	$(BIN)/python .ci/check_forms.py
	$(BIN)/pre-commit validate-manifest .pre-commit-hooks.yaml
	$(BIN)/pre-commit validate-config
	@touch $@
