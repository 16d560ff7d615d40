# Two commands do everything on a machine with Python 3.11 or 3.12 and git:
#   make train    install, then imitate the bundled demonstration
#   make test     install, then run the tests
PYTHON ?= python3
BIN := .venv/bin

.PHONY: train test check docs bench bench-check study package clean

train: .venv/installed
	$(BIN)/sfm train $(ARGS)

test: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist worksteal $(ARGS)

check: .venv/installed-dev
	$(BIN)/pyright

study: .venv/installed-dev
	$(BIN)/python -m benchmarks.study $(ARGS)

package: .venv/installed-dev
	$(BIN)/python -m benchmarks.package $(ARGS)

docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/python -m benchmarks.website site
	@echo "the documentation: site/index.html; $(BIN)/mkdocs serve shows it in a browser"

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks.suite $(ARGS)

bench-check: .venv/installed-dev
	$(BIN)/python -m benchmarks.suite --check $(ARGS)

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' || \
	  { echo "sfm needs Python 3.11 or 3.12: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml constraints.txt | .venv/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

.venv/installed-dev: pyproject.toml constraints.txt | .venv/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@ .venv/installed

.venv/installed-docs: pyproject.toml constraints.txt | .venv/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@ .venv/installed

clean:
	rm -rf .venv site
