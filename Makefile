# The course's commands. `make` alone lists them. Needed beforehand: python3 (3.11 or newer), git and make.
.DEFAULT_GOAL := help
.SUFFIXES:
ifndef BESIDE # what `make test` has run side by side
.NOTPARALLEL:
endif
PYTHON ?= python3
BIN := $(CURDIR)/.venv/bin
# nbgrader calls alembic by name, and Jupyter's kernels start "python": both must be the ones of .venv.
SYSTEM_PATH := $(PATH)
export PATH := $(BIN):$(PATH)
export PYTHON
# Threads of torch that wait for each other sleep: where they spin, and others work beside, training takes ten times as long.
export OMP_WAIT_POLICY := PASSIVE
# Each worker, kernel and grader would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: help setup look student course test pytest test-long book pdf gpu lab lint exercises check-exercises clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

setup:  ## .venv with everything, once; costs nothing when nothing changed
	@PATH="$(SYSTEM_PATH)" sh scripts/setup.sh

look student:
	@PATH="$(SYSTEM_PATH)" sh scripts/setup.sh $@

course:  ## the whole course: set up, exercises, book, and a graded sample class
	@PATH="$(SYSTEM_PATH)" $(PYTHON) scripts/course.py

test: setup  ## everything that CI runs, in some minutes
	@$(MAKE) --no-print-directory -j 2 BESIDE=yes pytest lint check-exercises

# Lint gives way (nice): it computes where book and tests leave a processor idle, as Sphinx does at its end.
pytest: book
	$(PYTEST) -m "not slow and not gpu"

test-long: setup book  ## the long tests: every mutant, every page in three browsers
	@sh scripts/engines.sh
	$(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt -e ".[kernels,peers]"
	$(PYTEST) -m "slow and not gpu"

book: look  ## the rendered book, in _build/html
	$(BIN)/python scripts/build_book.py

pdf: setup book  ## the book on paper: each chapter and the whole, in _build/pdf (Chromium prints it)
	$(BIN)/python scripts/build_pdf.py

gpu: look  ## what needs a GPU: tests, benchmarks, and how to run them there
	$(BIN)/python -m benchmarks.gpu

# One notebook computes at a time: where threads spin, it writes tokens at three times the speed.
lab: student  ## JupyterLab on your own copies of the notebooks, in my_work
	@env -u OMP_WAIT_POLICY $(BIN)/softlookup lab

lint: setup  ## ruff, mypy, eslint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	nice $(BIN)/mypy
	book/_vendor/node_modules/.bin/eslint -c book/_vendor/eslint.config.mjs book lib benchmarks scripts tests

exercises: look  ## exercises/ made again from solutions/
	$(BIN)/softlookup exercises

check-exercises: look  ## fails when exercises/ is not what solutions/ gives
	$(BIN)/softlookup exercises --check

clean:  ## removes what the other commands made, but neither .venv nor my_work
	rm -rf _build .nb-cache .pytest_cache .ruff_cache .mypy_cache .hypothesis jupyter_execute
	@if [ -f course/sample.json ]; then rm -rf course; fi
	find lib benchmarks attacks tests scripts book -name __pycache__ -type d -prune -exec rm -rf {} +
