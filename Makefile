# make demo         record some programs, ask stand-in models about them, run others in nano, our own small model; write a
#                   report, a page to step through a program, and a page of nano's first mistake
# make nano         check the lessons of the level processor (packages/deskcheck-levels), train its models anew with three
#                   seeds, measure them, renew them and their card: SETS='--set cruxeval=FILE', for the sets of the card
# make test         the tests of the core that everybody runs: every feature once, in minutes; what they leave behind is
#                   an error
#                   FILES='tests/ask tests/test_cli.py': these alone; CHANGED=1: those that your change touches
# make test-all     every test, those of packages/ too, with torch, Ray and JupyterLab
# make slowest     test-all, which writes the seconds of the slowest tests into tests/slowest.toml
# make exhaustive   what is left to samples elsewhere, in full, and Hypothesis with more and other examples: hours
# make paper-execution-tuning   the tables of that paper with small models, into lab/: CRUXEVAL=FILE, MBPP=FILE: these sets, too;
#                   BUDGET=N: updates of each model (300); docs/reproduce/execution-tuning.md
# make paper-themisto   the table of that paper, by baselines, into lab/: NOTEBOOKS=FOLDER: yours; MODEL=NAME: a model, too
# make real-model   how the answers of MODEL are read: a GGUF file, a folder of Hugging Face or the address of a server; PROMPT=FILE:
#                   your own prompts, too
# make lint         what a machine can read: ruff, mypy, the size of folders (tools/house), plain words (tools/plain)
# make versions     `make test` on every supported CPython that is found; DEBIAN=1: those that are not found, from Debian's
#                   packages in a root of their own (tools/python-root)
# make coverage     how much of src/ the tests reach, subprocesses too: of `make test`, or of all with ALL=1
# make web          build the pages anew from web/ (needs Node; nobody else does), check and test it
# make docs         the documentation as a site, into build/docs/html; a link that leads nowhere is an error
# make picture      the picture that the README opens with (needs chromium and chromedriver)
# make wheels       the source distribution and a manylinux wheel for each of VERSIONS, in dist/, each tried in a bare
#                   environment: a minute for each
# make benchmarks   what recording costs beside other tracers, into lab/benchmarks.md: half an hour
#
# Each makes the environment it needs (.venv, .venv-all, .venv-demo, .venv-docs, .venv-3.X, .venv-bench-3.X) and keeps it until what
# it was installed from changes.

PYTHON ?= python3
VERSIONS ?= 3.11 3.12 3.13 3.14 3.15
DEBIAN ?=
WORKERS ?= 2
PYTEST_ARGS ?=
BENCHMARK_ARGS ?=
FILES ?=
ALL ?=
PACKAGES = deskcheck-levels deskcheck-methods
CHANGED ?=
BASE ?= HEAD

SPREAD = -n $(WORKERS) --dist worksteal
SOME = -m "not slow and not exhaustive"
ALL_TESTS = -m "not exhaustive"
TESTS_OF_ALL = tests $(PACKAGES:%=packages/%/tests)
INSTALLED_FROM = pyproject.toml $(PACKAGES:%=packages/%/pyproject.toml) tools/bootstrap setup.py $(wildcard src/deskcheck/*/*.[ch] src/deskcheck/*/*/*.[ch])

.PHONY: demo nano paper-execution-tuning paper-themisto real-model test test-all slowest exhaustive lint versions coverage web docs picture wheels benchmarks clean

# Its programs are the library's and our own, so that it runs where the kernel gives nothing to confine others with.
demo: .venv-demo/.installed
	.venv-demo/bin/python -m deskcheck record heapq statistics textwrap --sandbox trusted --out runs/demo/stdlib
	.venv-demo/bin/python -m deskcheck record examples --sandbox trusted --out runs/demo/examples
	.venv-demo/bin/python -m deskcheck ask runs/demo/stdlib runs/demo/examples \
	    --question output,next_line,state,path --model deskcheck/oracle --model deskcheck/guess
	.venv-demo/bin/python -m deskcheck record generated:30,difficulty=1-3,inputs=1,seed=2026 --sandbox trusted --out runs/demo/unseen
	.venv-demo/bin/python -m deskcheck models step runs/demo/unseen --out runs/demo/nano.json
	rm -rf runs/demo/nano
	.venv-demo/bin/python -m deskcheck ask runs/demo/unseen --question output --method dynamic_scratchpad \
	    --model taught/nano --model deskcheck/guess --max-steps 100 --out runs/demo/nano
	.venv-demo/bin/python -m deskcheck view runs/demo/examples bank.transfer --out runs/demo/trace.html
	.venv-demo/bin/python -m deskcheck view runs/demo/unseen --beside runs/demo/nano.json --out runs/demo/mistake.html
	.venv-demo/bin/python -m deskcheck report "$$(ls -td runs/demo/stdlib/ask/*/ | head -1)" runs/demo/nano \
	    --out runs/demo/report.html
	@echo "Written:"; find runs/demo -type f | sort
	@echo "Open in a browser: runs/demo/report.html, what the models answered; runs/demo/trace.html, one of the programs"
	@echo "step by step; runs/demo/mistake.html, a run that nano, our own small model, predicted, where it first goes wrong."

nano: .venv-all/.installed
	PYTHONPATH=packages/deskcheck-levels .venv-all/bin/python -m benchmarks.levels build/nano --ship $(SETS)

paper-execution-tuning: .venv-all/.installed
	.venv-all/bin/python -m benchmarks.paper_execution_tuning build/paper-execution-tuning $(addprefix --cruxeval ,$(CRUXEVAL)) \
	    $(addprefix --mbpp ,$(MBPP)) $(addprefix --updates ,$(BUDGET)) --publish lab/paper-execution-tuning.md

paper-themisto: .venv-all/.installed
	.venv-all/bin/python -m benchmarks.paper_themisto build/paper-themisto $(addprefix --notebooks ,$(NOTEBOOKS)) \
	    $(addprefix --model ,$(MODEL)) --publish lab/paper-themisto.md

real-model: .venv-all/.installed
	test -n "$(MODEL)" || { echo "make real-model MODEL=model.gguf, MODEL=folder or MODEL=http://127.0.0.1:8080/v1"; exit 2; }
	.venv-all/bin/python -m pip install --quiet openai xllamacpp 'transformers[serving]'
	.venv-all/bin/python -m benchmarks.real_model "$(MODEL)" $(addprefix --prompt ,$(PROMPT)) --out build/real-model

# With CHANGED, the files that a change touches become `files`. (1): environment, (2): arguments of tools/changed.
define touched
	if [ -n "$(CHANGED)" ]; then \
	    files="$$($(1)/bin/python tools/changed $(2) $(BASE))" || exit; \
	    test -n "$$files" || { echo "No test is touched by what differs from $(BASE)."; exit 0; }; \
	fi
endef

test: .venv/.installed
	@files="$(FILES)"; $(call touched,.venv,); \
	.venv/bin/python tools/tests $(SPREAD) $(SOME) $(PYTEST_ARGS) $$files || \
	    { status=$$?; test $$status -eq 5 -a -n "$(CHANGED)" && echo "Only slow tests are touched: make test-all"; }

test-all: .venv-all/.installed
	@files="$(or $(FILES),$(TESTS_OF_ALL))"; $(call touched,.venv-all,--packages); \
	.venv-all/bin/python tools/tests $(SPREAD) $(ALL_TESTS) $(PYTEST_ARGS) $$files

slowest: .venv-all/.installed
	.venv-all/bin/python tools/tests $(SPREAD) $(ALL_TESTS) --slowest tests/slowest.toml $(PYTEST_ARGS) $(TESTS_OF_ALL)

exhaustive: .venv-all/.installed
	.venv-all/bin/python tools/tests $(SPREAD) -m exhaustive $(PYTEST_ARGS) $(or $(FILES),$(TESTS_OF_ALL)) || \
	    test $$? -eq 5 -a -n "$(FILES)"
	HYPOTHESIS_PROFILE=exhaustive .venv-all/bin/python tools/tests $(SPREAD) -m hypothesis $(PYTEST_ARGS) $(or $(FILES),$(TESTS_OF_ALL)) || \
	    test $$? -eq 5 -a -n "$(FILES)"

lint: .venv/.installed
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/mypy --python-version 3.13
	.venv/bin/python tools/house --check pyproject.toml
	.venv/bin/python tools/plain --check pyproject.toml

# Without the extra [ask]: the core must work alone. With the packages: some read the bytecode of each version.
versions:
	@passed=; failed=; absent=; \
	for version in $(VERSIONS); do \
	    inside=; \
	    if ! tools/find-python $$version >/dev/null; then \
	        inside="tools/python-root $$version"; \
	        test -n "$(DEBIAN)" && $$inside >/dev/null || { absent="$$absent $$version"; continue; }; \
	    fi; \
	    echo "== CPython $$version"; \
	    if $$inside $(MAKE) --no-print-directory .venv-$$version/.installed \
	        && $$inside .venv-$$version/bin/python tools/tests $(SPREAD) $(SOME) $(PYTEST_ARGS) \
	            $(or $(FILES),$(TESTS_OF_ALL)); \
	    then passed="$$passed $$version"; else failed="$$failed $$version"; fi; \
	done; \
	echo "== passed:$${passed:- none}; failed:$${failed:- none}; not found:$${absent:- none}"; \
	test -z "$$failed" && test -n "$$passed"

coverage: $(if $(ALL),.venv-all,.venv)/.installed
	rm -rf .coverage .coverage.*
	-COVERAGE_FILE="$(CURDIR)/.coverage" $(if $(ALL),.venv-all,.venv)/bin/python -m coverage run tools/tests \
	    $(SPREAD) $(if $(ALL),$(ALL_TESTS),$(SOME)) $(PYTEST_ARGS) $(or $(FILES),$(if $(ALL),$(TESTS_OF_ALL)))
	-$(if $(ALL),.venv-all,.venv)/bin/python -W ignore -m coverage combine -q  # what was killed left files without data
	rm -f .coverage.*
	$(if $(ALL),.venv-all,.venv)/bin/python -m coverage report --skip-covered

web: web/node_modules/.package-lock.json
	cd web && npm run --silent check && npm run --silent build && npm run --silent test

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund

docs: .venv-docs/.installed
	.venv-docs/bin/python tools/docs

picture: .venv/.installed
	.venv/bin/python tools/picture

wheels: .venv-wheels/.installed
	.venv-wheels/bin/python tools/wheels dist $(VERSIONS)

# In environments of their own: some peers bring files that every start of an interpreter runs.
benchmarks:
	@given=; first=; \
	for version in $(VERSIONS); do \
	    if ! tools/find-python $$version >/dev/null; then echo "== CPython $$version is not found"; continue; fi; \
	    $(MAKE) --no-print-directory .venv-bench-$$version/.installed || exit 1; \
	    given="$$given --python $$version=.venv-bench-$$version/bin/python"; \
	    first=$${first:-.venv-bench-$$version/bin/python}; \
	done; \
	test -n "$$first" && "$$first" benchmarks/record.py $$given --publish lab/benchmarks.md $(BENCHMARK_ARGS)

clean:
	rm -rf .venv .venv-all .venv-demo .venv-docs .venv-wheels .venv-3.* .venv-bench-3.* build dist src/*.egg-info packages/*/src/*.egg-info packages/*/build .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$(PYTHON)" .venv ask,notebook,jupyter,inputs,sets,nano,test

.venv-all/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$(PYTHON)" .venv-all ask,notebook,jupyter,mcp,inputs,sets,teach,nano,scale,test-all $(PACKAGES)

# Light: no torch, no Jupyter.
.venv-demo/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$(PYTHON)" .venv-demo ask,nano

.venv-docs/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$(PYTHON)" .venv-docs docs

.venv-wheels/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$(PYTHON)" .venv-wheels wheels

.venv-%/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$$(tools/find-python $*)" .venv-$* test $(PACKAGES)

.venv-bench-%/.installed: $(INSTALLED_FROM)
	@tools/bootstrap "$$(tools/find-python $*)" .venv-bench-$* bench
