# Targets with a real Slurm, for the Makefile of the root, which includes this file.

# A Slurm of one's own, and its source tree or release, for all targets that need one.
ifneq ($(SLURM_PREFIX),)
override SLURM_PREFIX := $(abspath $(SLURM_PREFIX))
export SLURM_PREFIX
export PATH := $(SLURM_PREFIX)/sbin:$(SLURM_PREFIX)/bin:$(PATH)
endif
ifneq ($(SLURM_SOURCE),)
override SLURM_SOURCE := $(abspath $(SLURM_SOURCE))
export SLURM_SOURCE
endif

.PHONY: slurm-plugins test-slurm slurm-test slurm-test-24.11 malleable-test slurm-compile slurm-matrix \
	slurm-own-tests slurm-soak slurm-soak-24.11 arm64

## slurm-plugins: build the plug-ins for the installed Slurm, into build/slurm/VERSION
slurm-plugins:
	sh scripts/packages.sh build
	sh scripts/packages.sh slurm
	$(MAKE) -C slurmplugin

## test-slurm: the part of slurm-test that make test does (as root)
test-slurm:
	sh scripts/slurm-test.sh -short

## slurm-test: test the plug-ins with the installed Slurm, on N=64 virtual nodes of this machine (as root)
slurm-test: bin/aucsched
	@sh scripts/packages.sh mpi || echo "make: going on without Open MPI: examples/heat is not tested" >&2
	N="$(N)" sh scripts/slurm-test.sh
	@case "$$(sh scripts/slurm-installed.sh version)" in \
	2[2-4].*) sh scripts/emulation.sh && \
		AUCSCHED_SLURM_TEST=1 $(GO) test -count=1 ./benchmarks/emulation/... ./benchmarks/cmd/aucsched-lab ;; \
	*) echo "make: the emulation was left out: its nodes are written for Slurm 22.05 to 24.11" >&2 ;; esac

## slurm-test-24.11: the same with Debian trixie's Slurm 24.11, in a chroot
slurm-test-24.11:
	N="$(N)" sh scripts/slurm-test-chroot.sh trixie
	sh scripts/slurm-chroot.sh trixie sh -c 'sh scripts/emulation.sh && \
		AUCSCHED_SLURM_TEST=1 go test -count=1 ./benchmarks/emulation/... ./benchmarks/cmd/aucsched-lab'

## malleable-test: malleable, rigid and urgent jobs while members, slurmctld and nodes are killed (as root; 20 minutes; SEED=n; SAMPLES=20; MODE=auction)
malleable-test: bin/aucsched
	SEED="$(SEED)" SAMPLES="$(SAMPLES)" AUCSCHED_SLURM_LONG=1 sh scripts/slurm-test.sh \
		-run '^TestMalleable(Day|Urgent)$$$(if $(MODE),/^$(MODE)$$)' -v

# What targets with releases of Slurm need.
need_sources = @[ -n "$(SOURCES)" ] || { echo "make: which releases? SOURCES=DIR names a directory of slurm-VERSION.tar.*" >&2; exit 1; }

## slurm-compile: compile the plug-ins for the Slurm releases in SOURCES=DIR (VERSIONS="24.05 25.05": some)
slurm-compile:
	$(need_sources)
	sh scripts/slurm-compile.sh "$(SOURCES)" $(VERSIONS)

# What shows within half a minute whether the plug-ins work with a Slurm: on, off, removed; requests and
# GPU ranges; slurmctld killed as jobs end, and as they have just started.
SLURM_SMOKE := ^Test(OffAndOn|GPURanges|Options|KilledAfterAnEnd|KilledKnowsSteps)$$

## slurm-matrix: build and test the plug-ins for the Slurm releases in SOURCES=DIR (VERSIONS="24.05 25.05"; QUICK=1: a smoke test; AUCSCHED_STOCK=DIR: built there)
slurm-matrix:
	$(need_sources)
	@SMOKE='$(SLURM_SMOKE)' QUICK="$(QUICK)" sh scripts/slurm-matrix.sh "$(SOURCES)" $(VERSIONS)

## slurm-own-tests: run Slurm's own test suite without and with the plug-ins, and compare (as root; half an hour; VERSION=24.11 SOURCES=DIR; TESTS="test1.1"; BEDS=4; LIMIT=60)
slurm-own-tests:
	@TESTS="$(TESTS)" BEDS="$(BEDS)" LIMIT="$(LIMIT)" sh scripts/slurm-own-tests.sh $(VERSION) $(if $(VERSION),"$(SOURCES)")

## slurm-soak: run Slurm under faults for HOURS=1, without and with the plug-ins, and count lost jobs (as root; SEED=n)
slurm-soak:
	sh scripts/slurm-soak.sh "$(or $(HOURS),1)" $(SEED)

## slurm-soak-24.11: the same with Debian trixie's Slurm 24.11, in a chroot
slurm-soak-24.11:
	sh scripts/slurm-chroot.sh trixie sh scripts/slurm-soak.sh "$(or $(HOURS),1)" $(SEED)

## arm64: cross-compile library and plug-ins, and run them in Debian's arm64 slurmctld under qemu (as root; minutes)
arm64:
	sh scripts/arm64.sh
