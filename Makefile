# Two commands do all the set-up: `make run` talks, `make test` checks. Needs Python 3.11 or newer and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
AUDIT := .audit
CODE := bot adapters tests
ARGS ?=
# With SIZES=full random tests and floods do all that they can, else a part of it (tests/sizes.py).
SIZES ?=
# With HASHES=1 nothing is installed but files whose SHA-256 stands in hashes.txt, with or without the tests' tools.
HASHES ?=
HASHED = $(PIP) --require-hashes -r hashes.txt && $(PIP) --no-deps --no-build-isolation -e .
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run setup test torture torture-table mutants check docs format clean audit hashes

run: $(VENV)/.runtime
	@$(BIN)/nuan chat $(ARGS)

setup: $(VENV)/.dev

test: $(VENV)/.dev
	@$(MAKE) --no-print-directory check

# Every row of the table of faults at its full figure: hours. PART=k/n does a part, ROWS=D1,S1 those rows, JOBS=2 two
# pieces at once, FRESH=1 all anew; what has ended is kept in .torture/ and not done again while what its row is made of is
# the same: the program, what tests stand on, the tests that it names. Two runs at once do no piece twice.
torture: $(VENV)/.dev
	@PART='$(PART)' ROWS='$(ROWS)' JOBS='$(JOBS)' FRESH='$(FRESH)' $(BIN)/python -m tests.torture

torture-table: $(VENV)/.dev
	@ROWS='$(ROWS)' $(BIN)/python -m tests.torture table

# Small faults put into a copy of the code, one at a time: each must be found by the tests that the table names for it
# (tests/mutants.toml). An hour; ARGS=money tries those of a kind, ARGS="'a name'" one.
mutants: $(VENV)/.dev
	@$(BIN)/python -m tests.mutants $(ARGS)

# Explaining asserts beforehand costs five seconds; so only those that fail run again to be explained. Types are checked
# beside the tests, as one core alone does that, and told at the end. All is compiled once before: in a fresh clone three
# processes would do it three times at the same moment. With --asyncio-debug all run in debug mode.
check: export PYTHONDONTWRITEBYTECODE =
check: export TEST_SIZES = $(SIZES)
check:
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	@$(BIN)/python -m compileall -q $(CODE)
	@told=$$(mktemp); $(BIN)/mypy > $$told 2>&1 & types=$$!; failed=0; \
	$(BIN)/python -m pytest -p tests.stacks -n 3 --assert=plain || { $(BIN)/pytest --lf --lfnf none; failed=1; }; \
	wait $$types || failed=1; cat $$told; rm $$told; exit $$failed

# README and docs/ as a site in two languages, to be looked at in build/docs/site.
docs: $(VENV)/.docs
	$(BIN)/python -m docs.site

format: $(VENV)/.dev
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

# Known weaknesses of the versions that are installed; it asks a service on the network, so no test needs it.
audit: $(AUDIT)/.ready
	$(AUDIT)/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict $(ARGS)

# After a change of constraints.txt: the SHA-256 of all files of each version, for every system and Python from 3.11 on.
hashes: $(AUDIT)/.ready
	sed -n '/^#/!q;p' hashes.txt > $(AUDIT)/hashes.txt
	$(AUDIT)/bin/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	  --constraints constraints.txt --no-header --no-annotate --quiet >> $(AUDIT)/hashes.txt
	mv $(AUDIT)/hashes.txt hashes.txt

$(AUDIT)/.ready: | $(BIN)/python
	$(BIN)/python -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit==2.*' 'uv<1'
	@touch $@

clean:
	rm -rf $(VENV) $(AUDIT) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist

# The stamps keep pip away while nothing changed. What pip says goes to standard error: standard output is the chat's.
$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	@echo "nuan: installing into $(VENV) …" >&2
	@$(if $(HASHES),$(HASHED),$(PIP) -c constraints.txt -e .) >&2
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "nuan: installing into $(VENV), with what the tests need …" >&2
	@$(if $(HASHES),$(HASHED),$(PIP) -c constraints.txt -e '.[dev]') >&2
	@touch $@ $(VENV)/.runtime

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	@$(PIP) -c constraints.txt -e '.[docs]' >&2
	@touch $@ $(VENV)/.runtime

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "nuan needs Python 3.11 or newer, and $(PYTHON) is older or missing. Try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) >&2 || { rm -rf $(VENV); \
	  echo "nuan: no virtual environment could be made. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
