# Two commands are enough: `make serve` to read the book, `make test` to check everything.
# Whatever is made goes under _build/, .venv/ and node_modules/.
.DEFAULT_GOAL := help
.SUFFIXES:

PORT ?= 8000
PY := .venv/bin/python
PYTEST := $(PY) -m pytest -p no:nbmake  # which .ci/notebooks.py alone needs, half a second a process
STAGE = @$(PY) .ci/stage.py
# Two stages of one length: in each, tests share a browser, its pages and their started workers.
PAGE_TESTS := $(wildcard tests/test_pages*.py)
IN_A_BROWSER := looks manners
looks: TESTS := tests/test_pages.py
manners: TESTS := $(filter-out tests/test_pages.py,$(PAGE_TESTS))
PILOT_TESTS := lib/pilot $(wildcard tests/test_pilot*.py)
OWN_STAGES := $(PAGE_TESTS) $(PILOT_TESTS) tests/test_pyodide.py
# Four at a time keep two cores busy: those in a browser wait now and then. The longest come first.
STAGES := checked-book units pilot $(IN_A_BROWSER) pyodide
WHOLE_REPORTS := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# Containers often forbid bytecode; without it every process compiles all that it imports, two seconds a kernel.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache
export JUPYTER_PLATFORM_DIRS := 1
export PYTHONPATH := $(CURDIR)/.ci/light

.PHONY: help setup serve book test lab lint bench clean lock $(STAGES)

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*  ## \(.*\)/  make \1\t\2/p' Makefile

serve: book  ## build the book if needed and serve it on this machine
	@$(PY) .ci/serve.py _build/html --port $(PORT)

book: setup  ## build the book into _build/html, running the chapters that changed
	@.ci/book

test: export OPENBLAS_NUM_THREADS := 1  # stages share the cores, and its threads wait for each other busily
test: setup  ## check everything: lint, library, chapters, book, pages in a browser
	@.ci/setup browser sandbox pyodide
	@$(MAKE) --no-print-directory READY=yes lint
	@echo "==> four at a time, each reports when it is done: library, chapters; then the book and its pages"
	@$(MAKE) --no-print-directory READY=yes -j4 --keep-going $(WHOLE_REPORTS) $(STAGES)

lab: setup  ## open the chapters in JupyterLab, as notebooks
	@.ci/lab

lint: setup  ## check the form of the code
	$(STAGE) 60 lint -- sh -c '$(PY) -m ruff check . && $(PY) -m ruff format --check .'

bench: setup  ## measure how fast the build and the pages are
	@.ci/setup browser
	@$(PY) -m tests.bench

clean:  ## remove what was built; the installed packages stay
	rm -rf _build

lock: setup  ## write requirements.lock anew from pyproject.toml
	@.ci/lock

setup:
	@$(if $(READY),,.ci/setup python node)

units: setup
	$(STAGE) 900 "library: units and doctests" -- $(PYTEST) $(OWN_STAGES:%=--ignore=%)

pilot: setup
	$(STAGE) 900 "library: the pilot in JAX" -- $(PYTEST) $(PILOT_TESTS)

checked-book: setup  # shows what the chapters gave when they were checked
	$(STAGE) 600 "chapters as notebooks" -- $(PY) .ci/notebooks.py --all --jobs 1
	$(STAGE) 300 book -- .ci/book --checked

pyodide: setup | checked-book  # whose build leaves the compiled standard library that this one starts with
	@.ci/setup pyodide
	$(STAGE) 600 "library in Pyodide" -- $(PYTEST) tests/test_pyodide.py

$(IN_A_BROWSER): checked-book
	$(STAGE) 600 "in a browser: $@" -- $(PYTEST) $(TESTS)
