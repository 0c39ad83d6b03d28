# Everything a developer does here. `make` alone explains itself.
#
# The environment is made on first use and kept in $(VENV); a stamp file inside it says what it holds, so the
# second call costs nothing. Recipes are plain POSIX sh.

VENV     ?= .venv
PYTHON   ?=
PYTEST   ?=
WAREHOUSE ?= target/demo

PY       := $(VENV)/bin/python
INSTALL  := $(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
RECIPES  := pyproject.toml setup.py constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help:  ## Show this help
	@echo "make demo   plays a year of flights through dbt; make test   checks everything. All targets:"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "PYTHON=/path/to/python3.12 chooses the interpreter, VENV=/path another place for the environment."

# ------------------------------------------------------------------------------------------------ environment

$(PY):
	@python=$$(PYTHON='$(PYTHON)' sh scripts/find_python.sh) && \
	  echo "Creating $(VENV) with $$python" && \
	  "$$python" -m venv $(VENV)

$(VENV)/.demo: $(PY) $(RECIPES)
	@sh scripts/check_java.sh
	@echo "Installing dbt-tablestore, dbt and PySpark (a few hundred megabytes the first time) …"
	@$(INSTALL) --editable '.[demo]'
	@touch $@

$(VENV)/.dev: $(PY) $(RECIPES)
	@sh scripts/check_java.sh
	@echo "Installing dbt-tablestore and what its tests need …"
	@$(INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.dev
	@$(INSTALL) --editable '.[dev,bench]'
	@touch $@

.PHONY: venv
venv: $(VENV)/.dev  ## Make the development environment

# ------------------------------------------------------------------------------------------------------- demo

.PHONY: demo
demo: $(VENV)/.demo  ## Play the year 2013 of New York's flights through dbt (3 minutes)
	@sh scripts/check_java.sh
	@$(PY) examples/flights/play.py --folder '$(WAREHOUSE)'

# ------------------------------------------------------------------------------------------------------ tests

.PHONY: test
test: $(VENV)/.dev  ## Run the default suite: unit, functional and fault tests
	@sh scripts/check_java.sh
	$(PY) -m pytest tests/unit tests/functional tests/fault $(PYTEST)

.PHONY: test-unit
test-unit: $(VENV)/.dev  ## Run the unit tests only
	$(PY) -m pytest tests/unit $(PYTEST)

.PHONY: test-functional
test-functional: $(VENV)/.dev  ## Run the engine on Spark, the adapter, and dbt's own suites
	@sh scripts/check_java.sh
	$(PY) -m pytest tests/functional $(PYTEST)

.PHONY: fault
fault: $(VENV)/.dev  ## Kill writers at every step and race committers
	@sh scripts/check_java.sh
	$(PY) -m pytest tests/fault $(PYTEST)

.PHONY: lint
lint: $(VENV)/.dev  ## Check style (ruff), types (mypy) and the direction of imports (import-linter)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

.PHONY: format
format: $(VENV)/.dev  ## Let ruff mend what it can
	$(VENV)/bin/ruff check --fix .

# ------------------------------------------------------------------------------------------ documents, package

.PHONY: docs
docs: $(VENV)/.dev  ## Write docs/options.md anew from the code
	$(PY) scripts/generate_options_docs.py

.PHONY: wheel
wheel: $(VENV)/.dev  ## Build the wheel into dist/
	$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist .
	@ls -l dist

.PHONY: clean
clean:  ## Remove build products and what demo and tests left; keep the environment
	rm -rf build dist *.egg-info target logs .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
