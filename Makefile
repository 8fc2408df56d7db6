# The commands of this package. `make` without arguments lists them.
#
# SWIFTFLAGS adds options for swift: make test SWIFTFLAGS="-j 1"

SWIFTFLAGS ?=
TILTSHIFT := Examples/TiltShift
PROGRAMS := Examples/FirstPrograms
FORMATTED := $(wildcard Sources Tests Snippets Benchmarks/Sources Package.swift Benchmarks/Package.swift \
	$(TILTSHIFT)/Sources $(TILTSHIFT)/Tests $(TILTSHIFT)/Package.swift \
	$(PROGRAMS)/Sources $(PROGRAMS)/Tests $(PROGRAMS)/Package.swift)
# SwiftPM caches the evaluated manifest, so the environment tells it whether oneTBB is installed.
BENCH := BATON_BENCH_TBB=$${BATON_BENCH_TBB:-$$(scripts/bootstrap onetbb)} \
	swift run $(SWIFTFLAGS) -c release --package-path Benchmarks baton-bench

.DEFAULT_GOAL := help

.PHONY: help
help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

# INPUT is passed through the environment, which preserves quotes and backslashes.
.PHONY: run
run: export INPUT := $(INPUT)
run: ## make miniatures of the sample pictures, or of yours: make run INPUT="holidays 'my house.jpg'"
	@scripts/bootstrap run
	@SWIFTFLAGS="$(SWIFTFLAGS)" $(TILTSHIFT)/demo

.PHONY: setup
setup: ## say what this machine lacks for all of this, and install it; SETUP=no for every command: install nothing
	@scripts/bootstrap all

# The tests of the engine, with fewer operations where they take very many, and few rounds of the stress suites.
.PHONY: test
test: export BATON_TESTS := core
test: export BATON_STRESS ?= 0.05
test: ## run the tests of the engine, before each commit: minutes
	@scripts/bootstrap
	swift build $(SWIFTFLAGS) --product batonPackageTests
	swift test $(SWIFTFLAGS) --skip-build

# In addition, all rounds and operations, the other modules, and the tests that must not run beside others.
.PHONY: test-all
test-all: test test-library test-tiltshift ## run all tests

.PHONY: test-library
test-library:
	@scripts/bootstrap test
	swift build $(SWIFTFLAGS) --product batonPackageTests
	swift test $(SWIFTFLAGS) --skip-build --filter '^Baton(Testing)?Tests'
	swift test $(SWIFTFLAGS) --skip-build --skip '^Baton(Testing)?Tests|OutsideTests|BatonNetwork'
	swift test $(SWIFTFLAGS) --skip-build --disable-xctest --no-parallel --filter OutsideTests
	swift test $(SWIFTFLAGS) --skip-build --disable-xctest --no-parallel --filter BatonNetwork

.PHONY: test-tiltshift
test-tiltshift:
	@if scripts/bootstrap example; then swift test $(SWIFTFLAGS) --package-path $(TILTSHIFT); else [ $$? = 3 ]; fi

.PHONY: programs
programs: ## build and try the first programs: a crawler, a make, a view model, and their tests
	@scripts/bootstrap
	@SWIFTFLAGS="$(SWIFTFLAGS)" $(PROGRAMS)/check

SOAK ?= 600
.PHONY: soak
soak: ## play random graphs for ten minutes, or until a million have been played; SOAK=60 for one minute
	@scripts/bootstrap
	BATON_SOAK=$(SOAK) swift test $(SWIFTFLAGS) --disable-xctest --filter SoakTests

# After a crash, the note contains the seed of the round.
HUNT ?= 3600
.PHONY: hunt
hunt: export BATON_HUNT := $(HUNT)
hunt: export BATON_HUNT_NOTE := $(CURDIR)/.build/hunt-seed
hunt: ## try random programs over pairs of features for an hour; HUNT=60 for one minute, HUNT_SEED=5 for one round
	@scripts/bootstrap
	@mkdir -p .build
	swift test $(SWIFTFLAGS) --disable-xctest --filter HuntTests \
		|| { echo "The last round was HUNT_SEED=$$(cat .build/hunt-seed) make hunt"; exit 1; }

# It measures the processor time of the whole process, so nothing else runs in it.
.PHONY: sizes
sizes: export BATON_SIZES := 1
sizes: ## measure programs of 1,000, 10,000 and 100,000 operations: minutes
	@scripts/bootstrap
	swift test $(SWIFTFLAGS) --disable-xctest --no-parallel --filter SizeTests

FUZZ ?= 20000
.PHONY: fuzz
fuzz: export BATON_FUZZ := $(FUZZ)
fuzz: ## read 20,000 damaged replies of HTTP, and compare each with what curl makes of it; FUZZ=1000 for some of them
	@scripts/bootstrap test
	swift test $(SWIFTFLAGS) --disable-xctest --filter ReplyFuzzTests

.PHONY: refusals
refusals: ## see that the compiler refuses every mistake in Tests/DoesNotCompile
	@scripts/bootstrap
	scripts/check-refusals

.PHONY: lint
lint: ## check the format, columns, unsafe code, snippets, links, commits, guarantees, precedents and mutations
	@scripts/bootstrap lint
	swift format lint --recursive --strict $(FORMATTED)
	scripts/generate-inputs --check
	scripts/check-snippets
	scripts/check-columns
	scripts/check-unsafe
	scripts/check-links
	scripts/check-commits
	scripts/check-guarantees
	scripts/check-precedents
	scripts/mutate --check

.PHONY: format
format: ## put everything in the right format
	swift format --recursive --in-place $(FORMATTED)

.PHONY: bench
bench: ## measure against Foundation, Dispatch, tasks and oneTBB: minutes, writes Benchmarks/results.json
	@scripts/bootstrap bench
	$(BENCH) --json Benchmarks/results.json

.PHONY: bench-quick
bench-quick: ## a short benchmark: seconds, writes nothing
	@scripts/bootstrap
	$(BENCH) --quick

HTTPX := .build/httpx
.PHONY: bench-http
bench-http: ## measure HTTP against curl and httpx: minutes; a missed threshold of Benchmarks/http is a failure
	@scripts/bootstrap test
	@$(HTTPX)/bin/python -c 'import httpx' 2>/dev/null || \
		{ python3 -m venv $(HTTPX) && $(HTTPX)/bin/pip install --quiet httpx; }
	$(HTTPX)/bin/python Benchmarks/http --check $(if $(QUICK),--quick)

# The tests that run under a sanitizer: engine (the suites in which threads interact), core (all tests of the engine),
# network (those of BatonNetwork), others (those of the other modules, and those that use the public API only), or all.
WATCH ?= all
WATCHED_engine := --filter 'StressTests|Guarantees'
WATCHED_network := --filter BatonNetwork
WATCHED_others := --skip '^Baton(Testing)?Tests|^StressTests|BatonNetwork'
SANITIZED = BATON_TESTS=$(if $(filter engine core,$(WATCH)),core) swift
.PHONY: sanitize
sanitize: sanitize-thread sanitize-address ## run all tests under ThreadSanitizer and AddressSanitizer; WATCH=engine

.PHONY: sanitize-thread
sanitize-thread: export BATON_SANITIZE := thread
sanitize-thread: export TSAN_OPTIONS := halt_on_error=1 atexit_sleep_ms=0 suppressions=$(CURDIR)/scripts/tsan.supp
sanitize-thread:
	@scripts/bootstrap test
	$(SANITIZED) build $(SWIFTFLAGS) --sanitize=thread --product batonPackageTests --scratch-path .build/tsan
	$(SANITIZED) test $(SWIFTFLAGS) --sanitize=thread --skip-build --disable-xctest --no-parallel \
		--scratch-path .build/tsan $(WATCHED_$(WATCH))

.PHONY: sanitize-address
sanitize-address: export BATON_SANITIZE := address
sanitize-address: export ASAN_OPTIONS := detect_leaks=1
sanitize-address: export LSAN_OPTIONS := suppressions=$(CURDIR)/scripts/lsan.supp:print_suppressions=0
sanitize-address:
	@scripts/bootstrap test
	$(SANITIZED) build $(SWIFTFLAGS) --sanitize=address --product batonPackageTests --scratch-path .build/asan
	$(SANITIZED) test $(SWIFTFLAGS) --sanitize=address --skip-build --disable-xctest --no-parallel \
		--scratch-path .build/asan $(WATCHED_$(WATCH))

.PHONY: mutants
mutants: ## break the code on purpose, and see that the tests notice: hours; SAMPLE=5 for some of them
	scripts/mutate $(if $(SAMPLE),--sample $(SAMPLE))

.PHONY: coverage
coverage: ## say how much of each module the tests reach; less than 95 % of the core is a failure
	@scripts/bootstrap test
	SWIFTFLAGS="$(SWIFTFLAGS)" scripts/coverage

.PHONY: snippets
snippets: ## run every snippet of the README, the articles and the guides
	@scripts/bootstrap
	SWIFTFLAGS="$(SWIFTFLAGS)" scripts/run-snippets

.PHONY: docs
docs: ## build the documentation of all modules as a static site, in .build/docs
	@scripts/bootstrap
	SWIFTFLAGS="$(SWIFTFLAGS)" scripts/docs

.PHONY: api
api: ## list the public API in Documentation/API
	SWIFTFLAGS="$(SWIFTFLAGS)" scripts/api

.PHONY: api-check
api-check: ## see that Documentation/API lists the public API as it is
	SWIFTFLAGS="$(SWIFTFLAGS)" scripts/api --check

.PHONY: clean
clean: ## remove what was built
	rm -rf .build Benchmarks/.build $(TILTSHIFT)/.build
