package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/nodeset"
	"github.com/aucsched/aucsched/sim"
	"github.com/aucsched/aucsched/workload"
)

// fileFlags are the settings of input files.
type fileFlags struct {
	bandwidth, memory string
	sharers           int
	locality          bool
}

func (f *fileFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.bandwidth, "bandwidth", "", "have each node of a job load the job's input file first, unless it has it, at so many bytes a second (K, M, G, T: 1024, ...); jobs that ask for as much within 800 s share a file of their share of a node's --file-memory, and time limits grow by the time of a load")
	flags.StringVar(&f.memory, "file-memory", "128G", "with --bandwidth: bytes of files that a node keeps, those read last")
	flags.IntVar(&f.sharers, "sharers", 100, "with --bandwidth: most jobs that share a file")
	flags.BoolVar(&f.locality, "locality", false, "with --bandwidth: auctions prefer nodes that hold a job's file")
}

// apply gives the jobs their files and says what these cost.
func (f *fileFlags) apply(jobs []workload.Job, nodes []nodeset.Capacity) (o sim.Files, err error) {
	if f.bandwidth == "" {
		if f.locality {
			return o, fmt.Errorf("--locality: needs --bandwidth")
		}
		return o, nil
	}
	if o.Bandwidth, err = parseBytes(f.bandwidth); err != nil {
		return o, fmt.Errorf("--bandwidth: %w", err)
	}
	if o.Memory, err = parseBytes(f.memory); err != nil {
		return o, fmt.Errorf("--file-memory: %w", err)
	}
	o.Prefer = f.locality
	cores := 0
	for _, c := range nodes {
		cores = max(cores, int(c.Cores))
	}
	share := workload.DefaultShareOptions(cores)
	share.Memory, share.Most = o.Memory, f.sharers
	if f.sharers < 1 {
		return o, fmt.Errorf("--sharers: %d: must be at least 1", f.sharers)
	}
	if err := workload.ShareInputs(jobs, share); err != nil {
		return o, fmt.Errorf("--file-memory: %w", err)
	}
	for i := range jobs {
		jobs[i].TimeLimit += (jobs[i].Input.Bytes-1)/o.Bandwidth + 1
	}
	return o, nil
}

// parseBytes reads a number of bytes, at least 1, with or without a suffix for powers of 1024.
func parseBytes(text string) (int64, error) {
	digits, unit := text, int64(1)
	if n := len(text); n > 0 {
		if k := strings.IndexByte("KMGT", text[n-1]); k >= 0 {
			digits, unit = text[:n-1], 1<<(10*(k+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q: must be a number of bytes, at least 1, such as 512, 100M or 128G", text)
	}
	return n * unit, nil
}
