# make study   sets up, builds what is needed, runs the aggregation study in its quick form
# make test    sets up, builds, runs the tests; of large products of cases those of SEED, or the day of the year
# make check ROOM=wait   runs the tests of one room; without ROOM it lists the rooms
#
# make setup | lock | build | develop | test-all | nightly | test-elsewhere | test-aarch64 | verbs-conformance | test-flaky K=killed N=20 | coverage | test-install | sdist | wheel | test-wheel | test-container | packages | test-packages | hosts-conformance | stress-waiting | faults | conformance | mpi-conformance | mutation N=200 | fuzz-shmem SECONDS=60 | fuzz-readers SECONDS=60 | sanitize | lint | lint-all | analyze | docs | bench-NAME | clean (removes what was built; the environment .venv stays)

SHELL := /bin/bash -o pipefail
STUDY ?= aggregation
VENV := .venv
BUILD := build/venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Open MPI refuses to run as root unless told that this is meant; containers and CI are root.
export OMPI_ALLOW_RUN_AS_ROOT ?= 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM ?= 1

native := $(shell find src include apps studies python/_core cmake -type f -not -name '*.pyc' 2>/dev/null) \
          CMakeLists.txt python/CMakeLists.txt pyproject.toml
cpp := $(shell find src include apps python/_core tests -name '*.cpp' -o -name '*.hpp' -o -name '*.h')

.PHONY: setup lock build develop study test test-all nightly test-elsewhere test-aarch64 verbs-conformance test-flaky coverage check test-install sdist wheel test-wheel test-container packages test-packages hosts-conformance stress-waiting faults conformance mpi-conformance mutation fuzz-shmem fuzz-readers sanitize lint lint-all checks analyze tidy docs bench-compare clean
setup: $(VENV)/ready
$(VENV)/ready: packages/build.txt pyproject.toml scripts/setup $(wildcard locks/*.txt)
	@scripts/setup packages/build.txt

# The exact Python packages that these install, anew: the newest that pyproject.toml allows.
lock: setup
	@scripts/setup packages/packaging.txt
	@$(VENV)/bin/python scripts/lock

# One CMake build serves the environment and the tests; the package is editable: Python changes need no rebuild.
build: $(BUILD)/built
$(BUILD)/built: all := ON
$(BUILD)/for-study: all := OFF
$(BUILD)/built $(BUILD)/for-study: $(VENV)/ready $(native)
	@echo "==> building"
	@mkdir -p build
	@$(VENV)/bin/python -m pip install -v --disable-pip-version-check --no-build-isolation --no-deps \
	  --config-settings=build-dir=$(BUILD) --config-settings=cmake.define.LULL_INSTALL_OSH_NAMES=ON \
	  --config-settings=cmake.define.LULL_BUILD_ALL=$(all) --editable . 2>&1 | tee build/build.log \
	  | sed -un 's|^ *\(\[[0-9]*/[0-9]*\]\) Building [A-Z]* object \(.*\)/CMakeFiles/.*|\1 \2|p' \
	  || { grep -E 'error|Error|FAILED' -A4 build/build.log | head -40; echo "lull: build: failed; all of it is in build/build.log" >&2; exit 1; }
	@touch $@

# The same, with what tests and checks need; where that was missing, CMake looks for it once more.
develop: $(VENV)/develop
	@$(MAKE) --no-print-directory build
$(VENV)/develop: $(VENV)/ready packages/develop.txt
	@scripts/setup packages/develop.txt
	@rm -f $(BUILD)/built

# Where nothing is built yet, only what this study needs is.
study: $(if $(or $(wildcard $(BUILD)/built),$(filter-out aggregation,$(STUDY))),build,$(BUILD)/for-study)
	@$(VENV)/bin/lull study $(STUDY) --quick

test:
	@scripts/test

# The same, with all cases of all products; some hours; then elsewhere; for Arm; over InfiniBand; and clang-tidy on every source.
test-all:
	@scripts/test --all --keep-going
	@scripts/setup packages/packaging.txt
	@$(VENV)/bin/python scripts/lock --age
	@$(MAKE) --no-print-directory test-elsewhere test-aarch64 verbs-conformance lint-all

# All that is too long for every commit, one after the other; what fails does not keep the rest from running. Fuzzers: an hour each.
nightly:
	@failed=; for target in test-all conformance mpi-conformance faults stress-waiting sanitize fuzz-shmem fuzz-readers coverage mutation; do \
	  case $$target in fuzz-*) seconds=SECONDS=3600 ;; *) seconds= ;; esac; \
	  $(MAKE) --no-print-directory $$target $$seconds || failed="$$failed $$target"; done; \
	  [ -z "$$failed" ] || { echo "lull: nightly: failed:$$failed" >&2; exit 1; }

# `make test` in checkouts that are set up otherwise: names of folders, umask, locale, no home, no network, other versions, other
# Pythons; scripts/elsewhere says which names there are. All is built once more for each.
test-elsewhere: NAMES ?= odd c-locale lowest newest
test-elsewhere: setup
	@scripts/elsewhere $(NAMES)

# The unit tests and programs of several PEs for 64-bit Arm, by qemu; an hour the first time. PARTS names some of its parts (scripts/aarch64).
test-aarch64: setup
	@scripts/aarch64 $(PARTS)

# Programs of several PEs over InfiniBand's verbs, in a virtual machine whose adapter is software; a quarter of an hour. PARTS names some
# of its parts (tests/verbs/guest).
verbs-conformance: develop
	@cmake --build $(BUILD) --target run_tests lull-launch
	@scripts/verbs $(PARTS)

# The tests whose names match K so many times, beside twice as many busy processes as there are cores: make test-flaky K=killed N=20
test-flaky: N ?= 20
test-flaky: develop
	@scripts/test-flaky $(N) "$(K)"

# Which lines of each room the tests run; an hour, for all is built once more and counts. KEEP=1 keeps the figures for the docs.
coverage: setup
	@scripts/setup packages/develop.txt packages/llvm.txt
	@$(VENV)/bin/python scripts/coverage $(if $(KEEP),--keep)

check: $(if $(ROOM),develop)
	@$(if $(ROOM),$(VENV)/bin/python,python3) scripts/check $(ROOM)

# What `cmake --install` puts below a prefix, used as a user would; some minutes, for all is compiled once more.
test-install: develop
	@cmake -S . -B build/install -G Ninja -DLULL_BUILD_PYTHON=OFF -DLULL_BUILD_TESTS=OFF \
	  -DCMAKE_INSTALL_PREFIX=$(CURDIR)/build/prefix > build/install.log
	@cmake --build build/install >> build/install.log || { tail -n 30 build/install.log; exit 1; }
	@cmake --install build/install >> build/install.log
	@INSTALLED_PREFIX=$(CURDIR)/build/prefix $(VENV)/bin/python -m pytest tests/python/shmem/test_building_programs.py

# The source distribution, in dist/; the Debian packages, in build/packages; and both in a bare Debian 12 that is made for that:
# installed, used, removed. The last needs root and the network, and takes some twenty minutes: all is compiled twice.
sdist: $(VENV)/ready
	@mkdir -p dist
	@$(VENV)/bin/python -c 'from scikit_build_core.build import build_sdist; print("dist/" + build_sdist("dist"))'

packages: $(VENV)/ready
	@scripts/setup packages/packaging.txt
	@packaging/debian/make

test-packages: packages sdist
	@packaging/try-in-chroot deb
	@packaging/try-in-chroot sdist

# A wheel for machines without compilers, in dist/, of what `make build` has built; and it in bare Debians
# and Ubuntus, first with Python alone (root and the network, some three minutes for each).
wheel: build
	@scripts/setup packages/packaging.txt
	@$(VENV)/bin/python packaging/wheel/make

test-wheel: RELEASES ?= bookworm trixie jammy noble
test-wheel: wheel
	@packaging/try-in-chroot wheel $(RELEASES)

# An image for Podman and Docker, of the wheel, built and used (root, buildah and the network; some minutes).
test-container: wheel
	@packaging/container/try

# Every program of tests/run on two virtual hosts (needs root), with 2, 4, 8 PEs, under three policies.
hosts-conformance: develop
	@cmake --build $(BUILD) --target tests
	@$(VENV)/bin/python -m pytest tests/python/hosts/test_run_on_hosts.py -k conformance --all-programs-on-hosts

# A million sleeps of 8 PEs, none of which may end by its time-out; some minutes on two cores.
stress-waiting: develop
	@cmake --build $(BUILD) --target run_stress_waiting lull-launch
	@LULL_WAIT=interrupt LULL_WAIT_YIELDS=0 LULL_WAIT_TIMEOUT_MS=10000 SHMEM_SYMMETRIC_SIZE=16M \
	  $(VENV)/bin/lull run -n 8 $(BUILD)/tests/run/run_stress_waiting 1000000

# Random programs of path operations, HDF5 and MPI-IO, plain and under `lull stage` with slow, full and small storage; some minutes.
# Then experiments of each kind, killed at random moments and called again.
faults: PROGRAMS ?= 200
faults: KILLS ?= 20
faults: develop
	@$(VENV)/bin/python tests/python/support/stage_faults.py --programs $(PROGRAMS) $(if $(SEED),--seed $(SEED))
	@PYTHONPATH=tests/python $(VENV)/bin/python tests/python/support/shared_faults.py --programs $$(($(PROGRAMS) / 2)) $(if $(SEED),--seed $(SEED))
	@PYTHONPATH=tests/python $(VENV)/bin/python tests/python/support/killed_experiments.py --kills $(KILLS) $(if $(SEED),--seed $(SEED))

# The tests of HDF5, netCDF-C, PnetCDF and ROMIO, plain and under each approach of `lull stage`; hours, and the first time their build.
# SUITE and ONLY are regular expressions: of suites that are built and run, and of programs.
conformance: develop
	@scripts/setup packages/test.txt packages/conformance.txt
	@$(VENV)/bin/python tests/conformance/staged_suites.py $(if $(SUITE),--suite '$(SUITE)') $(if $(ONLY),--only '$(ONLY)')

# With the MPI libraries of this machine and of PyPI: mpi4py's tests, plain and under each tool that is preloaded; two hours. And programs
# that verify their messages, plain and under policies of waiting; half an hour. LIBRARY is a regular expression, as are TESTS, with which
# only these modules of mpi4py's tests run, and PROGRAMS, with which only these programs run.
mpi-conformance: develop
	@failed=0; \
	$(if $(PROGRAMS),:,$(VENV)/bin/python tests/conformance/mpi_suites.py $(if $(LIBRARY),--library '$(LIBRARY)') $(if $(TESTS),--tests '$(TESTS)')) || failed=1; \
	$(if $(TESTS),:,$(VENV)/bin/python tests/conformance/waiting_programs.py $(if $(LIBRARY),--library '$(LIBRARY)') $(if $(PROGRAMS),--program '$(PROGRAMS)')) || failed=1; \
	exit $$failed

# Do the tests of the rooms that compute notice a change of the code? N small changes drawn by SEED, each built and tried in a copy:
# make mutation ROOM=meter N=50; FRESH=1 forgets what earlier calls have found. An hour or two, less in later calls.
mutation: develop
	@$(VENV)/bin/python tests/mutation/mutation.py $(if $(N),--number $(N)) $(if $(SEED),--seed $(SEED)) $(if $(ROOM),--room $(ROOM)) $(if $(FRESH),--fresh)

# Random OpenSHMEM programs against a model, seed after seed; FIRST_SEED=N begins with another.
fuzz-shmem: SECONDS ?= 60
fuzz-shmem: develop
	@cmake --build $(BUILD) --target run_fuzz lull-launch
	@scripts/fuzz-shmem $(BUILD)/src/launch/lull-launch $(BUILD)/tests/run/run_fuzz $(SECONDS)

# The readers of traces, archives, machine files and meters' answers with random bytes, SECONDS each; NAMES some of them.
fuzz-readers: SECONDS ?= 60
fuzz-readers: $(VENV)/develop
	@scripts/setup packages/llvm.txt
	@cmake --preset fuzz > build/fuzz.log && cmake --build build/fuzz --target fuzzers >> build/fuzz.log || { tail -40 build/fuzz.log; exit 1; }
	@scripts/fuzz-readers $(SECONDS) $(NAMES)

# The unit tests of base, meter, wait, job and fabric under ASan and UBSan, the programs of several PEs under these and under TSan, with
# 2 and 4 PEs on 1 and 2 nodes. The presets by themselves build and run all.
programs := ^run\.([a-z_]+\.[24]pe\.[12]node\.interrupt$$|mistakes.*\.2node|cpufreq)
sanitize: $(VENV)/develop
	@echo "==> building with ASan and UBSan"
	@cmake --preset asan > build/asan.log && cmake --build build/asan --target run_tests test_base test_meter test_regions test_wait test_job test_fabric test_stage >> build/asan.log || { tail -40 build/asan.log; exit 1; }
	@echo "==> tests with ASan and UBSan"
	@LD_LIBRARY_PATH=$(CURDIR)/build/asan/src/stage/blocks ctest --preset asan --progress -R '^(base|meter|regions|wait|job|fabric|stage)\.|$(programs)'
	@echo "==> building with TSan"
	@cmake --preset tsan > build/tsan.log && cmake --build build/tsan --target run_tests test_netsim >> build/tsan.log || { tail -40 build/tsan.log; exit 1; }
	@echo "==> tests with TSan"
	@ctest --preset tsan --progress -R '^netsim\.(netsim\.any_number_of_threads|netsim\.savings|threads|a_deadlock|an_error_in_one_thread)$$|$(programs)'

# clang-tidy looks at what a change concerns (scripts/touched says how that is found): make lint BASE=COMMIT; lint-all: at everything.
lint: checks
	@echo "==> clang-tidy"
	@$(MAKE) --no-print-directory tidy TIDY='-clang-analyzer-*' SOURCES="$$(scripts/touched $(BASE))"

lint-all: checks
	@echo "==> clang-tidy (some minutes)"
	@$(MAKE) --no-print-directory tidy TIDY='-clang-analyzer-*'

checks: develop
	@scripts/setup packages/lint.txt
	@shellcheck -x scripts/setup scripts/bare.sh scripts/test scripts/test-flaky scripts/elsewhere scripts/aarch64 scripts/verbs tests/verbs/guest scripts/fuzz-shmem scripts/fuzz-readers .ci/run packaging/debian/make packaging/try-in-chroot packaging/smoke packaging/container/try
	@echo "==> ruff, mypy"
	@ruff check python src tests benchmarks docs studies scripts/check scripts/coverage scripts/lock scripts/touched scripts/vocabulary packaging/wheel/make
	@ruff format --check python src tests benchmarks docs studies scripts/check scripts/coverage scripts/lock scripts/touched scripts/vocabulary packaging/wheel/make
	@mypy
	@mypy src/shmem/interface
	@mypy src/mpi/interface
	@MYPYPATH=src/shmem/interface mypy src/shmem_trace
	@mypy --scripts-are-modules scripts/lock scripts/coverage
	@mypy --scripts-are-modules scripts/touched packaging/wheel/make
	@mypy --scripts-are-modules scripts/vocabulary
	@mypy tests/mutation
	@echo "==> words"
	@scripts/vocabulary
	@echo "==> rooms of Python"
	@lint-imports --no-cache > build/rooms.log || { sed -n '/^Broken contracts/,$$p' build/rooms.log >&2; exit 1; }
	@echo "==> clang-format"
	@clang-format --dry-run -Werror $(cpp)
	@echo "==> documentation"
	@$(MAKE) --no-print-directory docs

# clang-tidy's static analyzer: what may be null, uninitialised or leaked on some path. It takes about as long as all other checks.
analyze: develop
	@scripts/setup packages/lint.txt
	@$(MAKE) --no-print-directory tidy TIDY='-*,clang-analyzer-*,-clang-analyzer-optin.performance.Padding,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling'

tidy: SOURCES ?= (src|apps|python)/.*[.]c(pp)?
tidy:
	@cmake -S . -B build/lint -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
	  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=OFF -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python > build/lint.log 2>&1 && cmake --build build/lint --target lull_mpi_functions >> build/lint.log 2>&1 \
	  || { cat build/lint.log; exit 1; }
	@[ -z '$(SOURCES)' ] || run-clang-tidy -quiet -checks='$(TIDY)' -p build/lint $(SOURCES:%='^$(CURDIR)/%$$') > build/tidy.log 2>&1 \
	  || { grep -E -A4 '(error|warning): ' build/tidy.log; exit 1; }

docs: develop
	@sphinx-build -q -W --keep-going docs build/docs

# Ratios between two things run in turn in one run, as JSON; benchmarks/figures.toml says which. KEEP=1 keeps them in
# docs/results, of which the documentation's tables are made.
bench-%: develop
	@$(VENV)/bin/python benchmarks/run.py $* $(if $(KEEP),--keep)

# The same figures of this tree and of another commit, in turn: make bench-compare BASE=COMMIT NAME=one-sided
bench-compare: export BASE := $(BASE)
bench-compare: export NAME := $(NAME)
bench-compare: develop
	@$(VENV)/bin/python benchmarks/compare.py

clean:
	@rm -rf build dist docs/_build
	@find python src tests -name __pycache__ -type d -prune -exec rm -rf {} +
