# Thin front for CMake (see CMakePresets.json). `make demo` and `make test` need nothing installed beforehand on Debian.
PRESET ?= release
JOBS ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PREFIX ?= /usr/local
CTEST_ARGS ?=
BENCH_ARGS ?=
PEERS_ARGS ?=
FUZZ_SECONDS ?= 600
TEST_TARGET = all
BUILD_DIR := build/$(PRESET)
# Tracked files, and new ones that git does not ignore.
CXX_FILES = $(or $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp'),$(error no files: is this a git checkout?))

.DEFAULT_GOAL := help
.PHONY: help demo test build bench results paper planning format format-check tidy asan tsan fuzz install clean deps-build \
        deps-bench deps-demo deps-figures deps-fuzz deps-ci deps-python deps-web figures web-test python-test wheel docs peers

help: ## this list
	@echo "gpilot: make TARGET"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{printf "%-16s%s\n", $$1, $$2}'
	@echo "Variables: JOBS=$(JOBS) PRESET=$(PRESET) PREFIX=$(PREFIX) CTEST_ARGS= BENCH_ARGS= FUZZ_SECONDS=$(FUZZ_SECONDS)"

demo: deps-demo build ## compare strategies on a pendulum and explore it once, with every command shown
	@scripts/demo.sh $(BUILD_DIR)/bin/gpilot build/demo

test: deps-web $(BUILD_DIR)/build.ninja ## build and run all tests, those of the page in a browser too
	@cmake --build $(BUILD_DIR) --parallel $(JOBS) --target $(TEST_TARGET)
	@ctest --test-dir $(BUILD_DIR) --output-on-failure --no-tests=error --parallel $(JOBS) $(CTEST_ARGS)
	@$(if $(filter-out release,$(PRESET))$(CTEST_ARGS),,$(MAKE) --no-print-directory python-test)

python-test: deps-python ## the Python package in its own environment: install, ruff, mypy, pytest, examples (PYTEST_ARGS=)
	@$(MAKE) --no-print-directory build
	@JOBS=$(JOBS) scripts/python.sh test

wheel: deps-python ## dist/*.whl with its shared libraries (auditwheel)
	@JOBS=$(JOBS) scripts/python.sh wheel

docs: deps-python ## build/docs: reference of the Python package and tutorials, a static site
	@JOBS=$(JOBS) scripts/python.sh docs

build: $(BUILD_DIR)/build.ninja ## the library and build/release/bin/gpilot
	@cmake --build $(BUILD_DIR) --parallel $(JOBS) --target gpilot_cli

web-test: deps-web build ## only the tests of the page: types, units, Chromium, accessibility
	@node web/tests/run.mjs $(BUILD_DIR)/bin/gpilot

figures: deps-web build ## the pictures of README and docs that come from reports (docs/images; a few minutes)
	@scripts/figures.sh $(BUILD_DIR)/bin/gpilot build/figures

bench: deps-bench ## speed, as a table and as build/bench.json (BENCH_ARGS=--benchmark_filter=elbo)
	@$(MAKE) --no-print-directory build/bench/build.ninja
	@cmake --build build/bench --parallel $(JOBS) --target gpilot_benchmarks
	@build/bench/bin/gpilot_benchmarks --benchmark_out=build/bench.json --benchmark_out_format=json $(BENCH_ARGS)

peers: deps-bench deps-python ## gpilot beside JAX, PyTorch and GPflow (docs/results/peers.md; downloads 4 GB into build/peers)
	@benchmarks/peers/run.sh $(PEERS_ARGS)

results: deps-bench ## accuracy tables of docs/results/engine.md (some minutes)
	@$(MAKE) --no-print-directory build/bench/build.ninja
	@cmake --build build/bench --parallel $(JOBS) --target engine
	@build/bench/bin/engine kink
	@build/bench/bin/engine latent

paper: deps-figures build ## the experiments and figures of docs/results/paper.md (hours; goes on where it stopped)
	@scripts/paper.sh $(BUILD_DIR)/bin/gpilot build/paper

planning: deps-bench deps-figures build ## the experiments and figures of docs/results/planning.md (hours; goes on where it stopped)
	@$(MAKE) --no-print-directory build/bench/build.ninja
	@cmake --build build/bench --parallel $(JOBS) --target oracle planners
	@scripts/planning.sh $(BUILD_DIR)/bin/gpilot build/bench/bin build/planning build/paper

format: deps-ci ## format all C++ files in place
	@clang-format -i $(CXX_FILES)

format-check: deps-ci ## fail if a file is not formatted
	@clang-format --dry-run -Werror $(CXX_FILES)

tidy: deps-build deps-ci ## clang-tidy against the stored counts (ci/tidy-baseline.txt)
	@JOBS=$(JOBS) ci/tidy.sh

asan: ## unit tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory build/asan/build.ninja
	@cmake --build build/asan --parallel $(JOBS) --target unit_tests
	@JOBS=$(JOBS) ci/shards.sh build/asan/bin/gpilot_unit_tests
	@ctest --test-dir build/asan --output-on-failure --no-tests=error --parallel $(JOBS) -R '^fuzz_corpus'

tsan: ## tests with "Thread" in their name under ThreadSanitizer; builds only those
	@$(MAKE) --no-print-directory test PRESET=tsan TEST_TARGET=gpilot_unit_tests CTEST_ARGS="-R Thread $(CTEST_ARGS)"

fuzz: deps-build deps-fuzz ## the fuzzers, two at a time, FUZZ_SECONDS each (600); findings go to build/fuzz/NAME
	@$(MAKE) --no-print-directory build/fuzz/build.ninja
	@cmake --build build/fuzz --parallel $(JOBS) --target fuzzers
	@scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS)

install: build ## install the library and the program under PREFIX (builds no tests)
	@cmake --install $(BUILD_DIR) --prefix $(PREFIX)

clean: ## remove everything that was built
	@rm -rf build

# Configured once per preset; afterwards ninja itself notices changed CMake files.
build/%/build.ninja: CMakePresets.json | deps-build
	@cmake --preset $*
	@touch $@

deps-build:
	@scripts/install-deps.sh build test
deps-web:
	@scripts/install-deps.sh web
deps-bench:
	@scripts/install-deps.sh build test bench
deps-demo:
	@scripts/install-deps.sh demo
deps-figures:
	@scripts/install-deps.sh figures
deps-fuzz:
	@scripts/install-deps.sh fuzz
deps-python:
	@scripts/install-deps.sh build test python
deps-ci:
	@scripts/install-deps.sh ci
