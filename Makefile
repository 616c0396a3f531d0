# Two commands do all the set-up: `make run` talks, `make test` checks. Needs Python 3.11 or newer and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CODE := bot adapters tests
ARGS ?=

.PHONY: run setup test torture torture-table check format clean

run: $(VENV)/.runtime
	@$(BIN)/nuan chat $(ARGS)

setup: $(VENV)/.dev

test: $(VENV)/.dev
	@$(MAKE) --no-print-directory check

# Every row of the table of faults at its full figure: hours. PART=k/n does a part, ROWS=D1,S1 those rows, JOBS=2 two
# pieces at once, FRESH=1 all anew; what has ended is kept in .torture/ and not done again while the sources are the same.
torture: $(VENV)/.dev
	@PART=$(PART) ROWS=$(ROWS) JOBS=$(JOBS) FRESH=$(FRESH) $(BIN)/python -m tests.torture

torture-table: $(VENV)/.dev
	@ROWS=$(ROWS) $(BIN)/python -m tests.torture table

# Explaining asserts beforehand costs every worker five seconds; so only those that fail run again to be explained.
check:
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	$(BIN)/python -m pytest -p tests.stacks -n 4 --dist worksteal --assert=plain || { $(BIN)/pytest --lf --lfnf none; exit 1; }

format: $(VENV)/.dev
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist

# The stamps keep pip away while nothing changed. What pip says goes to standard error: standard output is the chat's.
$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	@echo "nuan: installing into $(VENV) …" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e . >&2
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "nuan: installing into $(VENV), with what the tests need …" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' >&2
	@touch $@ $(VENV)/.runtime

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "nuan needs Python 3.11 or newer, and $(PYTHON) is older or missing. Try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) >&2 || { rm -rf $(VENV); \
	  echo "nuan: no virtual environment could be made. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
