# aucsched: `make help` lists the targets. Everything a target needs it installs or
# fetches itself, on Debian as root; elsewhere it says in words what is missing.

GO ?= go
SHELL := /bin/sh

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

.DEFAULT_GOAL := bin/aucsched
.PHONY: bin/aucsched run run-invasive test test-pure test-race test-slurm golden lint cross bench ablation bench-stages bench-locality bench-negotiation docs site check-pages fuzz slurm-plugins emulation emulate-quick emulate load load-long slurm-test malleable-test slurm-test-24.11 slurm-compile slurm-matrix slurm-own-tests slurm-soak slurm-soak-24.11 man deb rpm srpm packages package-reproducible package-test arm64 proto census budget clean help

# The packages of all modules: go.work has these together, so that one command builds what they
# share once, and runs the tests of all beside each other.
ALL := ./... ./benchmarks/... ./invasive/...
# What users run: the command, and the programs that it hands commands on to.
PROGRAMS := ./cmd/aucsched ./benchmarks/cmd/aucsched-lab ./invasive/cmd/aucsched-invasive
# The commit that a program prints with --version, unless Go has stamped it.
STAMP = -ldflags "-X github.com/aucsched/aucsched/internal/version.stamp=$$(sh scripts/commit.sh)"
# tool NAME: the path of a tool of internal/tools, built if need be.
tool = $$(GO="$(GO)" sh scripts/tool.sh $(1))

# with_highs COMMAND: runs a go command with HiGHS built in, or, if HiGHS can't be
# had, says so and runs it without.
define with_highs
	@if highs=$$(sh scripts/highs.sh); then \
		export PKG_CONFIG_PATH="$$highs"; tags="-tags highs"; \
	else \
		echo "make: going on without HiGHS; the native solver needs no C library" >&2; tags=; \
	fi; set -x; $(1)
endef

## bin/aucsched: build the command and its companions (the default)
bin/aucsched: go.mod
	@$(GO) version >/dev/null || { echo "make: Go is missing: see https://go.dev/doc/install" >&2; exit 1; }
	$(call with_highs,$(GO) build $$tags $(STAMP) -o bin/ $(PROGRAMS))

## run: the main job: two windows decided collectively, and a workload simulated
run: bin/aucsched
	bin/aucsched demo

## run-invasive: an urgent job takes cores of running ones, which adapt: the invasive protocol on processes of this host (Linux; some seconds)
run-invasive: bin/aucsched
	$(GO) build -o bin/malleable ./invasive/examples/malleable
	bin/aucsched demo invasive

## test: lint, all tests without any C library or, with goroutines, under the race detector and with HiGHS, and most of slurm-test (SLURM=no: none); with SLURM_SOURCES=DIR, releases of Slurm, a smoke test on the newest too
test:
	@[ "$(SLURM)" = no ] || sh scripts/packages.sh metrics || echo "make: going on without promtool: the rules for alerts are not tested" >&2
	@sh scripts/packages.sh pages || echo "make: going on without chromium: no browser looks at the pages" >&2
	@sh scripts/highs.sh >/dev/null || : # packages are installed by one at a time
	@if [ "$(SLURM)" = no ] || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "make: the plug-ins were left out: a Slurm of their own needs root and Debian's packages" >&2; $(MAKE) ONCE=1 lint test-pure test-race; \
	else sh scripts/beside.sh '$(MAKE) ONCE=1 lint test-pure test-race' '$(MAKE) emulate-quick test-slurm' && \
		if [ -z "$(SLURM_SOURCES)" ]; then \
			echo "make: newer Slurms than the installed one were left out: SLURM_SOURCES=DIR names their releases" >&2; \
		else $(MAKE) slurm-matrix SOURCES="$(SLURM_SOURCES)" VERSIONS=newest QUICK=1; fi; \
	fi

# The packages that start goroutines or tests beside each other, solve with HiGHS, or have C: the
# tests of the others are done with test-pure.
RACY = $$(grep -rlE --include='*.go' '^[[:space:]]*go [A-Za-z_.]+\(|\.Go\(func|t\.Parallel\(\)|/(internal/highs|internal/capi)"|^package highs' . | \
	xargs -n1 dirname | sort -u)

# Those of them whose tests are all done under the race detector, with none left out there: test
# does these once.
WHOLE = $$(for p in $(RACY); do grep -qE 'race\.(Slow|Skip|Allocates)' $$p/*_test.go 2>/dev/null || echo $$p; done)

test-race:
	$(call with_highs,CGO_ENABLED=1 $(GO) test -timeout 30m -race $$tags $(RACY))
test-slurm:
	GO="$(GO)" sh scripts/slurm-test.sh -short

## test-pure: all tests without any C library (ONCE=1: but for those that test-race does as well)
test-pure:
	CGO_ENABLED=0 $(GO) build $(ALL)
	@packages='$(ALL)'; [ -z "$(ONCE)" ] || packages=$$(CGO_ENABLED=0 $(GO) list -f '{{.Dir}}' $(ALL) | sed "s|^$$PWD|.|" | grep -vxF "$(WHOLE)"); \
	set -x; CGO_ENABLED=0 $(GO) test -timeout 30m $$packages

## golden: check that no decision moved against core/testdata/decisions.golden, and print which moved first (COMMIT=c: against that commit)
golden:
	@GO="$(GO)" sh scripts/golden.sh $(COMMIT)

## cross: compile the packages and the commands for other systems (half a minute for each that Go's library was not built for yet)
cross:
	@for on in darwin/arm64 windows/amd64 linux/386 linux/arm64; do \
		export CGO_ENABLED=0 GOOS=$${on%/*} GOARCH=$${on#*/}; echo "$$on"; \
		$(GO) build ./... $(PROGRAMS) || exit 1; \
	done

## lint: gofmt, vet, staticcheck, govulncheck; each module has its requirements without the others; licence headers, the budget, prose, and what the pages claim
lint:
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "gofmt would change: $$bad" >&2; exit 1; }
	@for module in . benchmarks invasive; do \
		(cd $$module && GOWORK=off $(GO) list -deps -test ./... >/dev/null) || exit 1; \
	done
	sh scripts/spdx.sh --check
	$(GO) run ./benchmarks/cmd/docscheck
	sh scripts/prose.sh
	@$(MAKE) --no-print-directory budget
	$(call with_highs,$(GO) vet $$tags $(ALL) && $(call tool,staticcheck) $$tags $(ALL))
	@out=$$($(call tool,govulncheck) $(ALL) 2>&1); code=$$?; \
	case "$$out" in \
	*"fetching vulnerabilities"*) echo "make: govulncheck can't reach its database and was left out" >&2 ;; \
	*) echo "$$out"; exit $$code ;; esac

# page COMMAND: writes a page of benchmarks/results anew, with its tables, all or nothing.
define page
	$(call with_highs,$(GO) run $$tags ./benchmarks/cmd/tables $(1) -into benchmarks/results)
endef

## bench: measure the stages of a cycle, deadlines, and the solvers side by side, into benchmarks/results (INSTANCES=DIR: MPS files too; FRESH=N: more or fewer windows)
bench: bin/aucsched
	@sh scripts/packages.sh peers || echo "make: going on with those solvers that are there" >&2
	$(call page,performance)
	$(call page,solver $(if $(FRESH),-fresh $(FRESH)) $(if $(INSTANCES),-instances $(INSTANCES)))

## ablation: measure the native solver without each of its parts, into benchmarks/results/solver-ablation.md (INSTANCES=DIR: MPS files too)
ablation:
	$(call page,ablation $(if $(INSTANCES),-instances $(INSTANCES)))

## bench-stages: the same stages as Go benchmarks, one by one
bench-stages:
	$(GO) test -run '^$$' -bench . -benchmem ./nodeset ./internal/market ./ipmodel/... ./benchmarks/...

## bench-locality: time and memory of the locality-aware schedulers, over the authors' log if it is there, and as clusters grow (YEAR=1: over a year's jobs, in hours)
bench-locality:
	$(GO) test -run '^$$' -bench $(if $(YEAR),.,'Log|Scale') -benchtime 1x -timeout 0 ./benchmarks/locality

## bench-negotiation: measure the negotiation of iScheduler and iHypervisor, its times, messages and bytes, into benchmarks/results/negotiation.md (some minutes)
bench-negotiation:
	$(call page,negotiation)

## docs: make all measured pages of benchmarks/results again (TRACES=DIR for those of real traces, LOCALITY=DIR for that of input files, PODS=DIR for that of shared GPUs)
docs: bench
	$(call page,alternatives)
	$(call page,invasive -plot benchmarks/results/invasive.svg)
	$(call page,malleable $(if $(TRACES),-traces $(TRACES)))
	$(call page,simulation $(if $(TRACES),-traces $(TRACES)))
	$(if $(TRACES),$(call page,stages -seeds 31-35 -jobs 120 -traces $(TRACES)))
	$(if $(TRACES),$(call page,gpu -traces $(TRACES)))
	$(if $(TRACES),$(call page,topology -traces $(TRACES)))
	$(if $(PODS),$(call page,pods -traces $(PODS) -csv benchmarks/results/pods.csv))
	$(if $(LOCALITY),$(call page,locality -data $(LOCALITY) -tried 1-28 $(if $(TRACES),-traces $(TRACES)) -plot benchmarks/results/locality-adaptive.svg))

## site: build the site of docs/ into build/site (Debian's mkdocs-material)
site:
	sh scripts/site.sh

## check-pages: measure all rows of the pages of simulations again that can be measured alone, and compare (traces beside the checkout; an hour)
check-pages:
	AUCSCHED_ROWS=all $(GO) test -count=1 -timeout 0 -run '^TestDrawnRow$$' -v ./benchmarks/cmd/tables

## census: count lines, packages, exported names and the like (DIRS='DIR DIR': of these checkouts, side by side)
census:
	@$(GO) run ./benchmarks/cmd/census $(or $(DIRS),.)

## budget: hold the product's lines, exported names, arrows back and excuses to benchmarks/cmd/census/budget.txt, which only shrinks
budget:
	@$(GO) run ./benchmarks/cmd/census -budget benchmarks/cmd/census/budget.txt .

## fuzz: fuzz every parser and every decision for FUZZTIME=60s, in bounded memory; a table says how many inputs were tried (FUZZ='DIR DIR': below these)
fuzz:
	@GO="$(GO)" FUZZTIME="$(FUZZTIME)" sh scripts/fuzz.sh $(FUZZ)

## slurm-plugins: build the plug-ins for the installed Slurm, into build/slurm/VERSION
slurm-plugins:
	sh scripts/packages.sh build
	sh scripts/packages.sh slurm
	$(MAKE) -C slurmplugin

## emulation: build what aucsched emulate needs for the installed Slurm: plug-ins, virtual clock, virtual nodes
emulation: bin/aucsched slurm-plugins
	sh scripts/emulation.sh

## emulate-quick: 60 jobs on a real Slurm under a clock 60 times as fast, by backfill and by the auction (as root)
emulate-quick: emulation
	out=$$(mktemp -d) && bin/aucsched emulate --scheduler backfill,auction2 --preset packed --cluster 128x8x2 --workload gen:V.1 --first 60 \
		--rate 60 -j 2 --out "$$out"; code=$$?; rm -rf "$$out"; exit $$code

## emulate: the papers' experiments on a real Slurm and in the simulator, into benchmarks/results/emulation.md; takes hours, and goes on where it was interrupted (what benchmarks/results/emulation.csv has is not run: remove it to measure anew)
emulate: emulation
	bin/aucsched emulate experiments --seeds $(or $(SEEDS),1-3) --figures benchmarks/results/emulation.csv --markdown benchmarks/results/emulation.md

## load: measure long queues on a real slurmctld, into benchmarks/results/load.md (as root; an hour, most of it sbatch; LOAD=-quick: a try, in a minute, to the terminal)
load: emulation
	$(if $(LOAD),$(GO) run ./benchmarks/cmd/tables load $(LOAD),$(call page,load))

## load-long: measure 100,000 jobs on 10,000 nodes of a real slurmctld, and restarts, into benchmarks/results/load-long.md (as root; half an hour; TMPDIR=/dev/shm: with slurmctld's state in memory; LOAD=-quick: a try, in some minutes, to the terminal)
load-long: emulation
	$(if $(LOAD),$(GO) run ./benchmarks/cmd/tables load-long $(LOAD),$(call page,load-long))

## slurm-test: test the plug-ins with the installed Slurm, on N=64 virtual nodes of this machine (as root)
slurm-test: bin/aucsched
	@sh scripts/packages.sh mpi || echo "make: going on without Open MPI: examples/heat is not tested" >&2
	GO="$(GO)" N="$(N)" sh scripts/slurm-test.sh
	@case "$$(sh scripts/slurm-installed.sh version)" in \
	2[2-4].*) sh scripts/emulation.sh && \
		AUCSCHED_SLURM_TEST=1 $(GO) test -count=1 ./benchmarks/emulation/... ./benchmarks/cmd/aucsched-lab ;; \
	*) echo "make: the emulation was left out: its nodes are written for Slurm 22.05 to 24.11" >&2 ;; esac

## slurm-test-24.11: the same with Debian trixie's Slurm 24.11, in a chroot
slurm-test-24.11:
	N="$(N)" sh scripts/slurm-test-chroot.sh trixie
	sh scripts/slurm-chroot.sh trixie sh -c 'sh scripts/emulation.sh && AUCSCHED_SLURM_TEST=1 go test -count=1 ./benchmarks/emulation/... ./benchmarks/cmd/aucsched-lab'

## malleable-test: 200 malleable, rigid and urgent jobs on 16 virtual nodes while members, leads, slurmctld and nodes are killed, and how long urgent jobs wait; by the auction, then by stock's schedulers (as root; 20 minutes; SEED=n: that day, SAMPLES=20; MODE=auction: that alone)
malleable-test: bin/aucsched
	GO="$(GO)" SEED="$(SEED)" SAMPLES="$(SAMPLES)" AUCSCHED_SLURM_LONG=1 sh scripts/slurm-test.sh -run '^TestMalleable(Day|Urgent)$$$(if $(MODE),/^$(MODE)$$)' -v

## slurm-compile: compile the plug-ins, no more, for the Slurm releases in SOURCES=DIR (slurm-VERSION.tar.*); VERSIONS="24.05 25.05" for some of them
slurm-compile:
	@[ -n "$(SOURCES)" ] || { echo "make: which releases? SOURCES=DIR names a directory of slurm-VERSION.tar.*" >&2; exit 1; }
	sh scripts/slurm-compile.sh "$(SOURCES)" $(VERSIONS)

# What shows within half a minute whether the plug-ins work with a Slurm: on, off, removed; requests and
# GPU ranges; slurmctld killed as jobs end, and as they have just started.
SLURM_SMOKE := ^Test(OffAndOn|GPURanges|Options|KilledAfterAnEnd|KilledKnowsSteps)$$

## slurm-matrix: build, link and test the plug-ins for the Slurm releases in SOURCES=DIR (slurm-VERSION.tar.*), each built once into build/slurm-stock (AUCSCHED_STOCK=DIR: there); VERSIONS="24.05 25.05" for some, QUICK=1 for a smoke test alone
slurm-matrix:
	@[ -n "$(SOURCES)" ] || { echo "make: which releases? SOURCES=DIR names a directory of slurm-VERSION.tar.*" >&2; exit 1; }
	@GO="$(GO)" SMOKE='$(SLURM_SMOKE)' QUICK="$(QUICK)" sh scripts/slurm-matrix.sh "$(SOURCES)" $(VERSIONS)

## slurm-own-tests: run Slurm's own test suite on clusters of the installed Slurm without and with the plug-ins, and compare (as root; half an hour; VERSION=24.11 SOURCES=DIR: of that release; TESTS="test1.1 test1.2", BEDS=4, LIMIT=60)
slurm-own-tests:
	@TESTS="$(TESTS)" BEDS="$(BEDS)" LIMIT="$(LIMIT)" sh scripts/slurm-own-tests.sh $(VERSION) $(if $(VERSION),"$(SOURCES)")

## slurm-soak: run Slurm under faults for HOURS=1, without and with the plug-ins, and count lost and doubled jobs (as root; SEED=n: that plan)
slurm-soak:
	GO="$(GO)" sh scripts/slurm-soak.sh "$(or $(HOURS),1)" $(SEED)

## slurm-soak-24.11: the same with Debian trixie's Slurm 24.11, in a chroot
slurm-soak-24.11:
	sh scripts/slurm-chroot.sh trixie sh scripts/slurm-soak.sh "$(or $(HOURS),1)" $(SEED)

## man: write the manual pages of all commands into build/man
man: bin/aucsched
	@export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || date +%s); \
	for program in $(notdir $(PROGRAMS)); do bin/$$program man-pages build/man || exit 1; done

## deb: make the Debian packages aucsched and, for the installed Slurm, aucsched-slurm, in build/packages
deb:
	@GO="$(GO)" sh scripts/package.sh deb cli && GO="$(GO)" sh scripts/package.sh deb slurm

## rpm: the same as RPMs, which are for a Slurm where SchedMD's RPMs put it (SLURM_PREFIX=DIR: for one there; SLURM_PLUGINS=DIR)
rpm:
	@GO="$(GO)" sh scripts/package.sh rpm cli && GO="$(GO)" sh scripts/package.sh rpm slurm

## srpm: make the source RPMs of both, with all Go modules, to be rebuilt where the Slurm is (docs/howto/install.md)
srpm:
	@GO="$(GO)" sh scripts/package.sh srpm cli && GO="$(GO)" sh scripts/package.sh srpm slurm

## packages: make deb, RPM and tarball of the commands alone, in build/packages (ARCH=arm64: for that, without HiGHS)
packages:
	@export ARCH="$(ARCH)"; for format in deb rpm tar; do GO="$(GO)" sh scripts/package.sh $$format cli || exit 1; done

## package-reproducible: make all packages twice, in different directories, and compare their bytes (takes minutes)
package-reproducible:
	GO="$(GO)" sh scripts/package-reproducible.sh

## package-test: install, upgrade, downgrade and remove deb and RPM, by apt, rpm and dnf, beside a slurmctld that runs, in a chroot; rebuild the source RPMs (as root; takes minutes)
package-test:
	GO="$(GO)" sh scripts/package-test.sh

## arm64: cross-compile the library and plug-ins, and run them in Debian's arm64 slurmctld under qemu (as root; takes minutes)
arm64:
	GO="$(GO)" sh scripts/arm64.sh

## proto: make the Go code of the invasive protocol's messages again (protoc, of Debian's protobuf-compiler)
proto:
	GO="$(GO)" sh scripts/protobuf.sh

## clean: remove what was built
clean:
	rm -rf bin build

## help: list the targets
help:
	@sed -n 's/^## //p' Makefile
