# aucsched: `make help` lists the targets. Everything a target needs it installs or fetches itself,
# on Debian as root; elsewhere it says what is missing. The laboratory's targets are in
# benchmarks/targets.mk, those with a real Slurm in slurmplugin/targets.mk, those of packages in
# packaging/targets.mk; all are called from here.

GO ?= go
SHELL := /bin/sh
export GO

# The packages of all modules: go.work has these together.
ALL := ./... ./benchmarks/... ./invasive/...
# What users run: the command, and the programs that it hands commands on to.
PROGRAMS := ./cmd/aucsched ./benchmarks/cmd/aucsched-lab ./invasive/cmd/aucsched-invasive
# The commit that a program prints with --version, unless Go has stamped it.
STAMP = -ldflags "-X github.com/aucsched/aucsched/internal/version.stamp=$$(sh scripts/commit.sh)"
# Runs a go command with HiGHS built in, if HiGHS can be had.
HIGHS := sh scripts/with-highs.sh

.DEFAULT_GOAL := bin/aucsched
.PHONY: bin/aucsched run run-invasive test test-quick test-pure test-race golden lint site cross \
	census budget fuzz proto clean help

## bin/aucsched: build the command and its companions (the default)
bin/aucsched: go.mod
	@$(GO) version >/dev/null || { echo "make: Go is missing: see https://go.dev/doc/install" >&2; exit 1; }
	@$(HIGHS) $(GO) build $(STAMP) -o bin/ $(PROGRAMS)

## run: decide two windows, and simulate a workload
run: bin/aucsched
	bin/aucsched demo

## run-invasive: an urgent job takes cores of running jobs, which adapt (Linux; some seconds)
run-invasive: bin/aucsched
	$(GO) build -o bin/malleable ./invasive/examples/malleable
	bin/aucsched demo invasive

## test-quick: all tests but those that take long, without C libraries and Slurm (minutes)
test-quick:
	@sh scripts/test.sh quick

## test: lint and all tests, with the race detector, HiGHS and a real Slurm (SLURM=no: without; SLURM_SOURCES=DIR: on the newest release there too)
test:
	@MAKE="$(MAKE)" SLURM="$(SLURM)" SLURM_SOURCES="$(SLURM_SOURCES)" sh scripts/test.sh all

## test-pure: all tests without any C library (ONCE=1: but for those that test-race does as well)
test-pure:
	@ONCE="$(ONCE)" sh scripts/test.sh pure

## test-race: the tests with goroutines, HiGHS or C, under the race detector
test-race:
	@sh scripts/test.sh race

## golden: check that no decision moved, and print which moved first (COMMIT=c: since that commit)
golden:
	@sh scripts/golden.sh $(COMMIT)

## lint: gofmt, vet, staticcheck, govulncheck, licence headers, the budget, prose, and what pages claim
lint:
	@sh scripts/lint.sh

## site: build the site of docs/ into build/site (Debian's mkdocs-material)
site:
	sh scripts/site.sh

## cross: compile the packages and the commands for other systems
cross:
	@for on in darwin/arm64 windows/amd64 linux/386 linux/arm64; do \
		export CGO_ENABLED=0 GOOS=$${on%/*} GOARCH=$${on#*/}; echo "$$on"; \
		$(GO) build ./... $(PROGRAMS) || exit 1; \
	done

## census: count lines, packages, exported names and the like (DIRS='DIR DIR': of these checkouts)
census:
	@$(GO) run ./benchmarks/cmd/census $(or $(DIRS),.)

## budget: hold the product's size to benchmarks/cmd/census/budget.txt, which only shrinks
budget:
	@$(GO) run ./benchmarks/cmd/census -budget benchmarks/cmd/census/budget.txt .

## fuzz: fuzz every parser and every decision for FUZZTIME=60s each (FUZZ='DIR DIR': below these)
fuzz:
	@FUZZTIME="$(FUZZTIME)" sh scripts/fuzz.sh $(FUZZ)

## proto: make the Go code of the invasive protocol's messages (needs protoc)
proto:
	sh scripts/protobuf.sh

## clean: remove what was built
clean:
	rm -rf bin build

## help: list the targets
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

include benchmarks/targets.mk slurmplugin/targets.mk packaging/targets.mk
