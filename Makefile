# Every target sets up what it needs, in .venv; a fresh clone and Python 3.11+ suffice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# TF Transform wants Beam, and old versions of what else is installed.
TRANSFORM := .venv-transform

.PHONY: demo test foreign transform conformance lint format bench docs clean

demo: $(VENV)/.dev
	$(BIN)/python examples/digits/train.py

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

# The tests of datasets of other libraries, and of programs migrated from them, with those
# that `make test` does not install: it skips what needs TensorFlow or torch.
foreign: $(VENV)/.foreign
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/unit/dataset/foreign \
		tests/unit/input/test_distributed_dataset.py \
		tests/unit/keras/test_data_sources.py tests/unit/keras/test_callbacks.py \
		tests/examples/test_migrations.py $(ARGS)

# What TF Transform has learned, in datasets of a strategy; in an environment of its own.
transform: $(TRANSFORM)/.done
	$(TRANSFORM)/bin/python -m pytest tests/unit/preprocessing/test_tf_transform.py $(ARGS)

# make conformance ARGS="run reduce": chosen areas or cases, expected to pass or not.
conformance: $(VENV)/.dev
	cd tests && ../$(BIN)/python -m conformance $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright --project pyproject.toml --pythonpath $(BIN)/python
	$(BIN)/pyright --pythonpath $(BIN)/python --project tests
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py $(ARGS)

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky docs docs/_build/html

clean:
	rm -rf $(VENV) $(TRANSFORM) build dist docs/_build .coverage* .hypothesis
	rm -rf .import_linter_cache .pytest_cache .ruff_cache
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} + \
		2>/dev/null || true

# One stamp for each set of requirements; a change of pyproject.toml renews them.
$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml
	$(PIP) install --editable . --group dev
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) install --group docs
	touch $@

$(VENV)/.foreign: $(VENV)/.dev
	$(PIP) install --group foreign
	touch $@

$(TRANSFORM)/.done: pyproject.toml
	$(PYTHON) -m venv $(TRANSFORM)
	$(TRANSFORM)/bin/python -m pip --disable-pip-version-check --quiet \
		install --upgrade pip
	$(TRANSFORM)/bin/python -m pip --disable-pip-version-check --quiet \
		install --editable . --group transform
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) install --group bench
	touch $@
