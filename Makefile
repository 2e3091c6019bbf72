# What to do with gloom. `make` alone lists it. Cargo decides what has to be built again.

CARGO ?= cargo
CFLAGS ?= -O2 -g
# The keys of the demo (a file, or - for stdin; nothing: the files below /usr) and its options.
KEYS ?=
ARGS ?=
export KEYS

RELEASE = target/release
STATIC = $(RELEASE)/libgloom.a
ifeq ($(shell uname -s),Darwin)
SHARED = $(RELEASE)/libgloom.dylib
STATIC_NEEDS = -lpthread -lm
BESIDE = @loader_path
else
SHARED = $(RELEASE)/libgloom.so
STATIC_NEEDS = -lgcc_s -lutil -lrt -lpthread -lm -ldl
BESIDE = $$ORIGIN
# Programs look for the library by this name.
SONAME = libgloom.so.$(shell scripts/version abi)
endif

# Where `make install` puts things, and where it takes them from.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DOCDIR ?= $(PREFIX)/share/doc/gloom
DESTDIR ?=
CARGO_TARGET ?= target
PACKAGE ?= target/package
DEB ?= target/deb

DEMO = target/demo/gloom-demo
DEMO_SHARED = target/demo/gloom-demo-shared
DEMO_SOURCES = $(wildcard examples/c/*.c)
DEMO_HEADERS = include/gloom.h $(wildcard examples/c/*.h)
DEMO_FLAGS = -std=c11 -pthread -Wall -Wextra -pedantic -Werror -Iinclude

BENCH_FILES = target/bench/files
BENCH_HASHES = target/bench/hashes

SOAK = target/soak
SOAK_MINUTES ?= 3
SOAK_SEED ?= $(shell date +%s%N)

.NOTPARALLEL:
.PHONY: help build demo demo-programs test test-rust test-loom test-tsan test-aarch64 test-fuzz fuzz test-demo test-cpp test-install test-go soak bench-go package install uninstall deb \
	header bench bench-quick bench-files bench-hashes fmt lint deps-demo deps-test deps-lint clean

help: ## list what make can do (default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

build: deps-demo ## build the library for C: target/release/libgloom.so and libgloom.a
	CARGO=$(CARGO) scripts/library cdylib
	CARGO=$(CARGO) scripts/library staticlib
	$(if $(SONAME),@ln -sf libgloom.so $(RELEASE)/$(SONAME))
	@echo
	@ls -l $(SHARED) $(STATIC)
	@echo "header: include/gloom.h; the static library needs $(STATIC_NEEDS)"

demo: $(DEMO) ## run a C program that links the library; KEYS=file or - and ARGS="--query --threads 4 ..." change what it does
	@echo
	@$(DEMO) $(ARGS) $${KEYS:+-- "$$KEYS"}

$(STATIC) $(SHARED): build ;

$(DEMO): $(STATIC) $(DEMO_SOURCES) $(DEMO_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(DEMO_FLAGS) $(CFLAGS) $(DEMO_SOURCES) $(STATIC) $(STATIC_NEEDS) -o $@

$(DEMO_SHARED): $(SHARED) $(DEMO_SOURCES) $(DEMO_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(DEMO_FLAGS) $(CFLAGS) $(DEMO_SOURCES) $(SHARED) -Wl,-rpath,'$(BESIDE)/../release' -o $@

test: deps-test test-rust test-loom test-tsan test-fuzz test-demo test-cpp test-install test-go ## run every test (as in: make -k test, to see all that fails)

# With debug assertions and overflow checks, which the release profile has not; optimised all the same.
test-rust: build ## ... of the library, and of its C ABI in C and C++
	$(CARGO) test --workspace --no-fail-fast --target-dir target

# Another --cfg builds everything anew, so it gets a folder of its own. LTO would double the time that takes.
test-loom: ## ... of the concurrent parts, under every interleaving (loom)
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 RUSTFLAGS="$(RUSTFLAGS) --cfg loom" \
		$(CARGO) test --release --test loom --test loom_batch --no-fail-fast --target-dir target/loom

# So do the sanitizer's flags, and the standard library is built as well: target/tsan.
test-tsan: ## ... with threads, under ThreadSanitizer (Linux)
	CARGO=$(CARGO) scripts/test-tsan

# Not part of `make test`: its compilers come by rustup, and it takes five to ten minutes.
test-aarch64: ## run the tests on aarch64 Linux, emulated; and compile for macOS
	CARGO=$(CARGO) scripts/test-aarch64

# The flags of coverage and AddressSanitizer build everything anew, so this, too, has a folder of its own: target/fuzz.
test-fuzz: ## ... of the fuzz targets: the corpora, some thousand inputs more, and faults that must be found
	CARGO=$(CARGO) scripts/fuzz test

# How long each target is fuzzed, and which are (all).
SECONDS_EACH ?= 300
TARGETS ?=
fuzz: ## fuzz for minutes: SECONDS_EACH=300 TARGETS="load calls sizing kernels"
	CARGO=$(CARGO) scripts/fuzz run $(SECONDS_EACH) $(TARGETS)

test-demo: $(DEMO) $(DEMO_SHARED) ## ... of the demo
	scripts/test-demo $(DEMO) $(DEMO_SHARED)

bench-files: $(BENCH_FILES) ## time saving, loading and mapping, beside dd; ARGS="FOLDER MEBIBYTES" (. 1024)
	@$(BENCH_FILES) $(ARGS)

$(BENCH_FILES): $(STATIC) benches/files.c include/gloom.h
	@mkdir -p $(@D)
	$(CC) $(DEMO_FLAGS) $(CFLAGS) benches/files.c $(STATIC) $(STATIC_NEEDS) -o $@

bench-hashes: $(BENCH_HASHES) ## time keys by XXH3 and by SipHash: half a minute
	@$(BENCH_HASHES)

$(BENCH_HASHES): $(STATIC) benches/hashes.c include/gloom.h
	@mkdir -p $(@D)
	$(CC) $(DEMO_FLAGS) $(CFLAGS) benches/hashes.c $(STATIC) $(STATIC_NEEDS) -o $@

# Two compilers at a time: there are many to run, and each takes less than a gigabyte.
test-cpp: build ## ... of the C++ wrapper: gcc and clang, C++17 to 23, with and without exceptions, sanitized
	$(MAKE) --no-print-directory -k -j2 -C bindings/cpp test

test-install: package ## ... of what gets installed, and of the Debian packages
	scripts/test-install $(PACKAGE) $(CARGO_TARGET)

test-go: package ## ... of the Go module: races, cgo rules, garbage collection, fuzzing; in this checkout, and installed
	scripts/with-go scripts/test-go $(PACKAGE)

soak: $(SOAK) ## eight threads do everything at once for SOAK_MINUTES (3), checked against a model; SOAK_SEED repeats a run
	$(SOAK) $(SOAK_SEED) 1 $(SOAK_MINUTES)

$(SOAK): $(STATIC) ctests/c/soak.c $(wildcard ctests/c/*.h) include/gloom.h
	@mkdir -p $(@D)
	$(CC) $(DEMO_FLAGS) $(CFLAGS) ctests/c/soak.c $(STATIC) $(STATIC_NEEDS) -o $@

bench-go: build ## compare the Go module with filters in pure Go (minutes)
	cd bindings/go/benchmarks && ../../../scripts/with-go go test -tags gloom_checkout -run '^$$' -bench . -timeout 0 .

package: ## build what gets installed (Linux): target/package
	$(if $(NEEDS_NOTHING),,@scripts/deps demo)
	CARGO=$(CARGO) scripts/package $(PACKAGE) $(CARGO_TARGET)

INSTALL = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' DOCDIR='$(DOCDIR)' \
	STATIC_NEEDS="$(filter-out -lgcc_s,$(STATIC_NEEDS))"

install: package ## install headers, libraries, pkg-config and CMake files below PREFIX (/usr/local)
	@$(INSTALL) scripts/install install $(PACKAGE)

uninstall: ## remove them again; with the same PREFIX
	@$(INSTALL) scripts/install uninstall $(PACKAGE)

deb: package ## build the Debian packages libgloom0 and libgloom-dev: target/deb
	@STATIC_NEEDS="$(filter-out -lgcc_s,$(STATIC_NEEDS))" scripts/deb $(PACKAGE) $(DEB)

header: ## write include/gloom.h anew from the Rust sources
	GLOOM_UPDATE_HEADER=1 $(CARGO) test --test header --target-dir target

# Criterion's own words for each benchmark go to a file: what is wanted is one table.
BENCH = $(CARGO) bench -p gloom-benches --bench speed --target-dir target
REPORT = $(CARGO) run -q -p gloom-benches --bin report --target-dir target --
BENCH_LOG = target/tmp/bench.log

bench: ## measure gloom beside other filters (about 10 minutes) and write the result to docs/performance.md
	$(BENCH) --no-run
	@echo "measuring; progress is in $(BENCH_LOG)"
	@$(BENCH) >$(BENCH_LOG) 2>&1 || { tail -n 20 $(BENCH_LOG); exit 1; }
	$(REPORT) target/tmp/bench/results.json docs

bench-quick: ## ... gloom, its hash and fastbloom only (one minute), and write nothing
	$(BENCH) --no-run
	@echo "measuring; progress is in $(BENCH_LOG)"
	@BENCH_QUICK=1 $(BENCH) >$(BENCH_LOG) 2>&1 || { tail -n 20 $(BENCH_LOG); exit 1; }
	$(REPORT) target/tmp/bench/quick.json

fmt: deps-lint ## check the formatting
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check

lint: deps-lint ## check with clippy
	$(CARGO) clippy --workspace --all-targets --target-dir target -- -D warnings
	$(CARGO) clippy --manifest-path fuzz/Cargo.toml --locked --target-dir target/fuzz -- -D warnings

deps-demo deps-test deps-lint:
	@scripts/deps $(@:deps-%=%)

clean: ## remove everything that was built
	rm -rf target
