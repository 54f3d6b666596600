# Targets of the laboratory, for the Makefile of the root, which includes this file.

.PHONY: bench ablation bench-stages bench-locality bench-negotiation docs check-pages emulation \
	emulate-quick emulate load load-long

RESULTS := benchmarks/results
# page COMMAND: writes a page of benchmarks/results, and its tables.
page = @$(HIGHS) $(GO) run ./benchmarks/cmd/tables $(1) -into $(RESULTS)

## bench: measure a cycle's stages, deadlines, and the solvers (INSTANCES=DIR: MPS files; FRESH=N: windows)
bench: bin/aucsched
	@sh scripts/packages.sh peers || echo "make: going on with those solvers that are there" >&2
	$(call page,performance)
	$(call page,solver $(if $(FRESH),-fresh $(FRESH)) $(if $(INSTANCES),-instances $(INSTANCES)))

## ablation: measure the native solver without each of its parts (INSTANCES=DIR: MPS files too)
ablation:
	$(call page,ablation $(if $(INSTANCES),-instances $(INSTANCES)))

## bench-stages: the stages of a cycle as Go benchmarks
bench-stages:
	$(GO) test -run '^$$' -bench . -benchmem ./nodeset ./internal/market ./ipmodel/... ./benchmarks/...

## bench-locality: time and memory of the locality-aware schedulers (YEAR=1: over a year's jobs, in hours)
bench-locality:
	$(GO) test -run '^$$' -bench $(if $(YEAR),.,'Log|Scale') -benchtime 1x -timeout 0 ./benchmarks/locality

## bench-negotiation: measure the negotiation of iScheduler and iHypervisor (minutes)
bench-negotiation:
	$(call page,negotiation)

## docs: measure the pages of benchmarks/results (TRACES, LOCALITY, PODS=DIR: those of these data too)
docs: bench
	$(call page,alternatives)
	$(call page,invasive -plot $(RESULTS)/invasive.svg)
	$(call page,malleable $(if $(TRACES),-traces $(TRACES)))
	$(call page,simulation $(if $(TRACES),-traces $(TRACES)))
	$(if $(TRACES),$(call page,stages -seeds 31-35 -jobs 120 -traces $(TRACES)))
	$(if $(TRACES),$(call page,gpu -traces $(TRACES)))
	$(if $(TRACES),$(call page,topology -traces $(TRACES)))
	$(if $(PODS),$(call page,pods -traces $(PODS) -csv $(RESULTS)/pods.csv))
	$(if $(LOCALITY),$(call page,locality -data $(LOCALITY) -tried 1-28 \
		$(if $(TRACES),-traces $(TRACES)) -plot $(RESULTS)/locality-adaptive.svg))

## check-pages: measure all rows that can be measured alone again, and compare (traces beside the checkout; an hour)
check-pages:
	AUCSCHED_ROWS=all $(GO) test -count=1 -timeout 0 -run '^TestDrawnRow$$' -v ./benchmarks/cmd/tables

## emulation: build what aucsched emulate needs: plug-ins, virtual clock, virtual nodes
emulation: bin/aucsched slurm-plugins
	sh scripts/emulation.sh

## emulate-quick: 60 jobs on a real Slurm under a clock 60 times as fast (as root)
emulate-quick: emulation
	out=$$(mktemp -d) && bin/aucsched emulate --scheduler backfill,auction2 --preset packed --cluster 128x8x2 \
		--workload gen:V.1 --first 60 --rate 60 -j 2 --out "$$out"; code=$$?; rm -rf "$$out"; exit $$code

## emulate: the papers' experiments on a real Slurm (hours; runs that benchmarks/results/emulation.csv has are skipped; SEEDS=1-3)
emulate: emulation
	bin/aucsched emulate experiments --seeds $(or $(SEEDS),1-3) --figures $(RESULTS)/emulation.csv --markdown $(RESULTS)/emulation.md

## load: measure long queues on a real slurmctld (as root; an hour; LOAD=-quick: a try, to the terminal)
load: emulation
	$(if $(LOAD),$(GO) run ./benchmarks/cmd/tables load $(LOAD),$(call page,load))

## load-long: the same with 100,000 jobs on 10,000 nodes, and restarts (as root; half an hour; LOAD=-quick; TMPDIR=/dev/shm: state in memory)
load-long: emulation
	$(if $(LOAD),$(GO) run ./benchmarks/cmd/tables load-long $(LOAD),$(call page,load-long))
