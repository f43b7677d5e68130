# make demo      record some programs, ask two stand-in models about them, mark the answers
# make test      every test
# make lint      what a machine can read: ruff, mypy
# make versions  the fast tests on every supported CPython that is found
# make benchmarks  what recording costs beside other tracers, into docs/benchmarks.md: half an hour
#
# Each makes the environment it needs (.venv, .venv-3.X, .venv-bench-3.X) and keeps it until what it was
# installed from changes.

PYTHON ?= python3
VERSIONS ?= 3.11 3.12 3.13
PYTEST_ARGS ?=
BENCHMARK_ARGS ?=

PYTEST = -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)
INSTALLED_FROM = pyproject.toml tools/bootstrap setup.py $(wildcard src/deskcheck/*/*.[ch] src/deskcheck/*/*/*.[ch])

.PHONY: demo test lint versions benchmarks clean

# Its programs are the library's and our own, so that it runs where the kernel gives nothing to confine others with.
demo: .venv/.installed
	.venv/bin/python -m deskcheck.cli record heapq statistics textwrap --sandbox trusted --out runs/demo/stdlib
	.venv/bin/python -m deskcheck.cli record examples --sandbox trusted --out runs/demo/examples
	.venv/bin/python -m deskcheck.cli ask runs/demo/stdlib runs/demo/examples \
	    --question output,next_line,state,path --model deskcheck/oracle --model deskcheck/guess
	@echo "Written:"; find runs/demo -type f | sort

test: .venv/.installed
	.venv/bin/python $(PYTEST)

lint: .venv/.installed
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/mypy --python-version 3.13

# Without the extra [ask]: the core must work alone.
versions:
	@passed=; failed=; absent=; \
	for version in $(VERSIONS); do \
	    if ! tools/find-python $$version >/dev/null; then absent="$$absent $$version"; continue; fi; \
	    echo "== CPython $$version"; \
	    if $(MAKE) --no-print-directory .venv-$$version/.installed \
	        && .venv-$$version/bin/python $(PYTEST) -m "not slow"; \
	    then passed="$$passed $$version"; else failed="$$failed $$version"; fi; \
	done; \
	echo "== passed:$${passed:- none}; failed:$${failed:- none}; not found:$${absent:- none}"; \
	test -z "$$failed" && test -n "$$passed"

# In environments of their own: some peers bring files that every start of an interpreter runs.
benchmarks:
	@given=; first=; \
	for version in $(VERSIONS); do \
	    if ! tools/find-python $$version >/dev/null; then echo "== CPython $$version is not found"; continue; fi; \
	    $(MAKE) --no-print-directory .venv-bench-$$version/.installed || exit 1; \
	    given="$$given --python $$version=.venv-bench-$$version/bin/python"; \
	    first=$${first:-.venv-bench-$$version/bin/python}; \
	done; \
	test -n "$$first" && "$$first" benchmarks/record.py $$given --publish docs/benchmarks.md $(BENCHMARK_ARGS)

clean:
	rm -rf .venv .venv-3.* .venv-bench-3.* build src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$(PYTHON)" .venv ask,notebook,jupyter,browser,sets,test

.venv-%/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$$(tools/find-python $*)" .venv-$* test

.venv-bench-%/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$$(tools/find-python $*)" .venv-bench-$* bench
