# Everything a developer does here. `make` alone explains itself.
#
# The environment is made on first use and kept in $(VENV); a stamp file inside it says what it holds, so the
# second call costs nothing. Recipes are plain POSIX sh.

VENV     ?= .venv
PYTHON   ?=
PYTEST   ?=
FOLDER   ?= target/demo
STREAM_FOLDER ?= target/demo-stream

# Other readers of the format pin what they like, so they live apart.
INTEROP  ?= $(VENV)-interop

PY       := $(VENV)/bin/python
INSTALL  := $(PY) -m pip install --quiet --disable-pip-version-check
RECIPES  := pyproject.toml setup.py

# Every process of a check would compile anew what it imports, dbt and PySpark too: three seconds of a dbt command.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help:  ## Show this help
	@echo "make demo   plays a year of flights through dbt; make test   checks everything. All targets:"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "PYTHON=/path/to/python3.12 chooses the interpreter, VENV=/path another folder for the environment."

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
	@touch $@ $(VENV)/.demo $(VENV)/.stream

$(VENV)/.bench: $(VENV)/.dev $(RECIPES)
	@$(INSTALL) --editable '.[dev,bench]'
	@touch $@

.PHONY: venv
venv: $(VENV)/.dev  ## Make the development environment

# ------------------------------------------------------------------------------------------------------- demo

.PHONY: demo
demo: $(VENV)/.demo  ## Play the year 2013 of New York's flights through dbt (2 to 3 minutes on two cores)
	@sh scripts/check_java.sh
	@$(PY) examples/flights/play.py --folder '$(FOLDER)'

$(VENV)/.stream: $(VENV)/.demo
	@$(INSTALL) --editable '.[demo,kafka]'
	@touch $@

# How long the shop is open, in seconds; Spark's start and the last run come before and after.
SECONDS_OPEN ?= 100

.PHONY: demo-stream
demo-stream:  ## Play a shop's changes through Kafka and models (two minutes; skipped without Maven)
	@command -v mvn >/dev/null || { echo 'Skipped: the broker is fetched by Maven, which was not found.'; exit 0; }; \
	  sh scripts/check_java.sh && $(MAKE) --no-print-directory '$(VENV)/.stream' '$(KAFKA)/.made' && \
	  $(PY) examples/orders/play_shop.py --folder '$(STREAM_FOLDER)' --jars '$(KAFKA)' --seconds '$(SECONDS_OPEN)'

.PHONY: demo-stream-small
demo-stream-small:  ## The same in less than a minute
	@$(MAKE) --no-print-directory demo-stream SECONDS_OPEN=20

# ------------------------------------------------------------------------------------------------------ tests

# Two processes, each with a Spark session; a class, or a module, makes its fixtures in one of them. They take these
# in the order given: modules of minutes first and classes of seconds last, so that both end at about the same time.
SIDE_BY_SIDE := --numprocesses 2 --dist loadscope --no-loadscope-reorder
SLOWEST      := --durations=25

.PHONY: test
test: $(VENV)/.dev  ## Run the default suite, and list the 25 slowest tests
	@sh scripts/check_java.sh
	$(PY) -m pytest -m 'not slow and not soak and not conformance' $(SIDE_BY_SIDE) $(SLOWEST) \
	  tests/property tests/spark/property tests/fault tests/spark \
	  tests/unit tests/functional $(PYTEST)

# Each starts Java, Spark or dbt anew several times, on both cores; the default suite has one session per process.
PROCESSES := tests/fault/test_kill_spark.py tests/functional/test_interrupt.py tests/functional/test_dbt_terminal.py \
  tests/functional/test_how_to.py tests/functional/adapter/test_dbt_init.py tests/spark/spark/session/test_session.py

.PHONY: processes
processes: $(VENV)/.dev
processes:  ## Start, kill and interrupt Spark and dbt as whole processes, and play the guides, in some four minutes
	@sh scripts/check_java.sh
	$(PY) -m pytest -m slow $(PROCESSES) $(PYTEST)

.PHONY: test-unit
test-unit: $(VENV)/.dev  ## Run the unit tests only
	$(PY) -m pytest tests/unit $(PYTEST)

.PHONY: test-functional
test-functional: $(VENV)/.dev  ## Run the adapter through dbt, with dbt's own suites
	@sh scripts/check_java.sh
	$(PY) -m pytest tests/functional $(PYTEST)

.PHONY: fault
fault: $(VENV)/.dev  ## Kill writers at every step and race committers
	@sh scripts/check_java.sh
	$(PY) -m pytest tests/fault $(PYTEST)

.PHONY: cluster
cluster: $(VENV)/.dev  ## Run the engine on a cluster of two workers, over Spark Connect, and on a shared server
	@sh scripts/check_java.sh
	$(PY) -m pytest tests/cluster $(PYTEST)

.PHONY: shared
shared: $(VENV)/.dev  ## Run the adapter's tests, with dbt's own suites, over a shared server
	@sh scripts/check_java.sh
	TABLESTORE_SHARED=1 $(PY) -m pytest -m 'not slow and not soak' tests/functional $(PYTEST)

.PHONY: soak
soak: $(VENV)/.dev  ## Fold random histories against a dictionary, and run the cases that the default suite leaves out
	@sh scripts/check_java.sh
	TABLESTORE_SOAK=2000 $(PY) -m pytest tests/property tests/spark/property tests/unit/sql/parse/test_parse_mutations.py \
	  tests/fault/test_every_step.py \
	  $(PYTEST)
	TABLESTORE_SOAK=300 $(PY) -m pytest -m 'soak or hypothesis' $(SIDE_BY_SIDE) --ignore tests/spark/property \
	  tests/fault tests/spark tests/unit tests/functional $(PYTEST)

.PHONY: races
races: $(VENV)/.dev  ## Change columns, write, compact and read in four processes for a minute
	TABLESTORE_RACE=60 $(PY) -m pytest tests/fault/test_evolving_races.py $(PYTEST)

.PHONY: chain
chain: $(VENV)/.dev  ## Build a chain of models from 200 batches of changes, each run killed at a random storage step
	@sh scripts/check_java.sh
	TABLESTORE_CHAIN=200 $(PY) -m pytest tests/functional/test_model_chain.py -s $(PYTEST)

.PHONY: chain-small
chain-small: $(VENV)/.dev  ## The same with 3 batches
	@sh scripts/check_java.sh
	TABLESTORE_CHAIN=3 $(PY) -m pytest tests/functional/test_model_chain.py -s $(PYTEST)

.PHONY: streams
streams: $(VENV)/.dev  ## Kill a stream 20 times; each row arrives once
	@sh scripts/check_java.sh
	TABLESTORE_KILLS=$${TABLESTORE_KILLS:-20} $(PY) -m pytest tests/fault/test_killed_streams.py $(PYTEST)

.PHONY: streams-small
streams-small:  ## The same with 3 kills, in some two minutes
	@TABLESTORE_KILLS=3 $(MAKE) --no-print-directory streams

.PHONY: conformance
conformance: $(VENV)/.dev  ## Run dbt's own adapter tests and write docs/conformance.md
	@sh scripts/check_java.sh
	$(PY) scripts/conformance.py

$(INTEROP)/.made: tests/interop/requirements.txt | $(PY)
	@echo "Installing other readers of the format into $(INTEROP) …"
	@$(PY) -m venv --clear $(INTEROP)
	@$(INTEROP)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/interop/requirements.txt
	@touch $@

.PHONY: interop
interop: $(VENV)/.dev $(INTEROP)/.made  ## Let pypaimon and pypaimon-rust read our tables, and read theirs
	@sh scripts/check_java.sh
	PYPAIMON_PYTHON='$(abspath $(INTEROP))/bin/python' $(PY) -m pytest tests/interop $(PYTEST)

JAVA_NOW := $(INTEROP)-java-1.4.2
JAVA_OLD := $(INTEROP)-java-0.9.0

$(INTEROP)-java-%/.made: tests/interop/java/pom.xml
	@echo "Fetching Java Paimon $* into $(@D) (100 megabytes) …"
	@mvn --quiet --batch-mode -f tests/interop/java/pom.xml dependency:copy-dependencies \
	  -Dpaimon.version=$* -DexcludeTransitive=true -DoutputDirectory='$(abspath $(@D))'
	@touch $@

.PHONY: interop-java
interop-java: $(VENV)/.dev $(JAVA_NOW)/.made $(JAVA_OLD)/.made
interop-java:  ## Let Java Paimon, of today and old, read our tables and us theirs (needs Maven)
	@sh scripts/check_java.sh
	PAIMON_JARS='$(abspath $(JAVA_NOW))' PAIMON_OLD_JARS='$(abspath $(JAVA_OLD))' \
	  $(PY) -m pytest tests/interop/test_java*.py $(PYTEST)

.PHONY: interop-java-small
interop-java-small: $(VENV)/.dev  ## The same with random tables only, in two to three minutes; skipped without Maven
	@command -v mvn >/dev/null || { echo 'Skipped: Java Paimon is fetched by Maven, which was not found.'; exit 0; }; \
	  sh scripts/check_java.sh && $(MAKE) --no-print-directory '$(JAVA_NOW)/.made' && \
	  PAIMON_JARS='$(abspath $(JAVA_NOW))' TABLESTORE_INTEROP_SEEDS='0-2' \
	  $(PY) -m pytest tests/interop/test_java_engines.py tests/interop/test_java_random.py \
	    tests/interop/test_java_file_formats.py $(PYTEST)

KAFKA := $(INTEROP)-kafka-4.3.1

$(KAFKA)/.made: tests/kafka/pom.xml
	@echo "Fetching a Kafka broker into $(@D) (45 megabytes) …"
	@mvn --quiet --batch-mode -f tests/kafka/pom.xml dependency:copy-dependencies \
	  -DincludeScope=runtime -DoutputDirectory='$(abspath $(@D))'
	@touch $@

.PHONY: kafka
kafka: $(VENV)/.dev  ## Publish tables to a real Kafka broker and take changes from it; skipped without Maven
	@command -v mvn >/dev/null || { echo 'Skipped: the broker is fetched by Maven, which was not found.'; exit 0; }; \
	  sh scripts/check_java.sh && $(MAKE) --no-print-directory '$(KAFKA)/.made' && \
	  KAFKA_JARS='$(abspath $(KAFKA))' $(PY) -m pytest tests/kafka $(PYTEST)

.PHONY: floors
floors:  ## Run the unit tests on the lowest Python that is found and the lowest dependencies allowed
	@$(MAKE) --no-print-directory VENV='$(VENV)-floors' PYTHON='$(or $(PYTHON),$(shell sh scripts/pythons.sh lowest))' \
	  '$(VENV)-floors/bin/python'
	@python3 scripts/floors.py > '$(VENV)-floors/floors.txt'
	@'$(VENV)-floors/bin/python' -m pip install --quiet --disable-pip-version-check \
	  --constraint '$(VENV)-floors/floors.txt' --editable '.[test]'
	'$(VENV)-floors/bin/python' -m pytest tests/unit $(PYTEST)

.PHONY: pythons
pythons:  ## Run the unit tests on every supported Python that is found
	@MAKE='$(MAKE)' VENV='$(VENV)' sh scripts/pythons.sh

# ------------------------------------------------------------------------------------------------- benchmarks

.PHONY: bench
bench: $(VENV)/.bench  ## Measure against plain Parquet and write docs/benchmarks.md (an hour)
	@sh scripts/check_java.sh
	$(PY) -m benchmarks --write

.PHONY: bench-small
bench-small: $(VENV)/.bench  ## The same on little data, in a few minutes
	@sh scripts/check_java.sh
	$(PY) -m benchmarks --small

.PHONY: bench-kafka
bench-kafka: $(VENV)/.dev  ## Measure the log of tables against a Kafka client alone (needs Maven, half a minute)
	@sh scripts/check_java.sh && $(MAKE) --no-print-directory '$(KAFKA)/.made'
	KAFKA_JARS='$(abspath $(KAFKA))' PYTHONPATH=.:tests $(PY) -m benchmarks.kafka_log

PEERS := --scale 1

.PHONY: bench-peers
bench-peers: $(VENV)/.bench  ## Measure Delta, Iceberg, Paimon and Hudi beside this engine (needs Maven, an hour)
	@sh scripts/check_java.sh
	$(PY) -m benchmarks.peers --folder '$(VENV)-peers' --write $(PEERS)

# ------------------------------------------------------------------------------------------------------ style

.PHONY: lint
lint: $(VENV)/.dev  ## Check style (ruff), types (mypy) and the direction of imports (import-linter)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(PY) scripts/lint_adapter.py

.PHONY: format
format: $(VENV)/.dev  ## Format the code, let ruff correct what it can, and wrap the prose of the docs
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(PY) scripts/wrap_docs.py

# ------------------------------------------------------------------------------------------ documents, package

.PHONY: docs
docs: $(VENV)/.dev  ## Write docs/options.md and docs/sql.md anew from the code
	$(PY) scripts/generate_options_docs.py
	$(PY) scripts/generate_sql_docs.py

.PHONY: wheel
wheel: $(VENV)/.dev  ## Build the wheel into dist/, install it aside and try it
	@rm -rf dist build
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(PY) scripts/try_wheel.py dist/*.whl

.PHONY: clean
clean:  ## Remove build products and what demo and tests left; keep the environment
	rm -rf build dist *.egg-info target logs .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
