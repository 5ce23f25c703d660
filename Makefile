# Every task of the house. Each one makes .venv first where it is missing or older than its lock.

# Byte code is kept even where the environment switches it off: starting must be quick, and is measured.
unexport PYTHONDONTWRITEBYTECODE

# Held to 100 % of branches; everything else to 95 %.
PROVEN := src/goldseam/kernel/*,src/goldseam/models/*,src/goldseam/tools/policy.py
# Runs under the Python of the repository being mended, where no coverage is measured.
GUEST := src/goldseam/workspace/guest/*
WORKERS ?= 2
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench matrix chaos crash mutation prices lock modules clean

help:  ## say what there is
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 14

setup: .venv/.ready  ## make .venv with everything in it

.venv/.ready: requirements/dev.txt scripts/setup
	scripts/setup

demo: .venv/.ready  ## mend the bug of examples/tally with no key and print the verified patch
	@scripts/demo

test: .venv/.ready  ## run all tests; branch coverage 100 % for kernel, models, policy, 95 % elsewhere
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(WORKERS) --dist worksteal
	$(BIN)/coverage combine --quiet
	@rm -f .coverage.*  # what is left: half files of children that a test killed
	$(BIN)/coverage report --include='$(PROVEN)' --fail-under=100
	$(BIN)/coverage report --omit='$(PROVEN),$(GUEST)' --fail-under=95

check: .venv/.ready  ## format, lint, types, imports, shape, household, dependencies, dead code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest tests/test_shape.py tests/test_household.py
	$(BIN)/deptry src
	$(BIN)/vulture

bench: .venv/.ready  ## figures as ratios in one run; fails where a limit is broken
	$(BIN)/python -m compileall -q src
	$(BIN)/python -m benchmarks.run

matrix: .venv/.ready  ## let each of seven endpoints take over from each other one; ends with 504 of 504
	@PYTHONPATH=tests $(BIN)/python -m models.matrix

chaos: .venv/.ready  ## let every model fail in every way at every turn, 200 runs at once; ends with `all complete`
	@PYTHONPATH=tests $(BIN)/python -m chaos

crash: .venv/.ready  ## kill a run after every event and resume each
	GOLDSEAM_CRASHES=all $(BIN)/pytest tests/e2e/test_crash_matrix.py -q

prices: .venv/.ready  ## write what models cost anew from the data of genai-prices
	$(BIN)/python scripts/prices.py --write

mutation: .venv/.ready  ## hours: change the writers one thing at a time; ONLY=word picks modules
	@PYTHONPATH=tests $(BIN)/python -m mutation.run $(ONLY)

lock: .venv/.ready  ## pin requirements/*.txt anew from pyproject.toml
	scripts/lock

modules: .venv/.ready  ## write the module lines of ARCHITECTURE.md anew
	$(BIN)/python scripts/modules.py --write

clean:  ## remove what the tasks made, .venv included
	rm -rf .venv .tools .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
