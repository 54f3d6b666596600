// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/test/inputs"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// FileFlags are the settings of input files: those that all policies share, and whether those that
// look at nodes, cores and GPUs only have files at all.
type FileFlags struct {
	// Bandwidth is in GB/s, Memory in GB.
	Bandwidth, Memory float64
	// Sharers is the most jobs that share a file; 0: any number.
	Sharers int

	load, prefer bool
}

// fileSettings are the flags that say nothing without files.
var fileSettings = []string{"bandwidth", "memory", "sharers"}

func (f *FileFlags) register(flags *pflag.FlagSet) {
	flags.Float64Var(&f.Memory, "memory", 128,
		"files: GB of memory of a node, where the cluster's file does not say; it keeps those read "+
			"last. With --count-memory: for jobs")
	flags.Float64Var(&f.Bandwidth, "bandwidth", 0.1,
		"files: GB/s from the shared file system to a node, where the cluster's file does not say")
	flags.IntVar(&f.Sharers, "sharers", 0, "files: most jobs that share one, where the workload's file does not say; 0: any number")
	flags.BoolVar(&f.load, "files", false,
		"auctions, ipsched, backfill: jobs have input files, which each of their nodes loads "+
			"first unless it has it; time limits grow by the time of a load")
	flags.BoolVar(&f.prefer, "locality", false, "auctions: --files, and prefer nodes that hold a job's file")
}

// Check reports which of the settings that locality-aware policies share is out of range.
func (f *FileFlags) Check() error {
	const most = 1 << 20 // GB
	switch {
	case !(f.Memory > 0 && f.Memory <= most):
		return fmt.Errorf("--memory: %g: must be above 0 and at most %d GB", f.Memory, most)
	case !(f.Bandwidth > 0 && f.Bandwidth <= most):
		return fmt.Errorf("--bandwidth: %g: must be above 0 and at most %d GB/s", f.Bandwidth, most)
	case f.Sharers < 0:
		return fmt.Errorf("--sharers: %d: must not be negative", f.Sharers)
	}
	return nil
}

// apply gives the jobs their files, if they are to have any, and says what these cost. counted: the
// memory is for jobs.
func (f *FileFlags) apply(flags *pflag.FlagSet, counted bool, jobs []workload.Job, nodes []nodeset.Capacity) (o inputs.Files, err error) {
	if !f.load && !f.prefer {
		for _, name := range fileSettings {
			if flags.Changed(name) && !(counted && name == "memory") {
				return o, fmt.Errorf("--%s: goes with --files, --locality, or the policies %s",
					name, strings.Join(LocalityPolicies(), ", "))
			}
		}
		return o, nil
	}
	if err := f.Check(); err != nil {
		return o, err
	}
	o = inputs.Files{Bandwidth: bytesOf(f.Bandwidth), Memory: bytesOf(f.Memory), Prefer: f.prefer}
	cores := 0
	for _, c := range nodes {
		cores = max(cores, int(c.Cores))
	}
	if err := traces.ShareInputs(jobs, cores, o.Memory, f.Sharers); err != nil {
		return o, fmt.Errorf("--files: %w", err)
	}
	for i := range jobs {
		jobs[i].TimeLimit += (jobs[i].Input.Bytes-1)/o.Bandwidth + 1
	}
	return o, nil
}

// bytesOf is a number of GB, at least a byte.
func bytesOf(gb float64) int64 { return max(1, int64(math.Round(gb*1e9))) }
