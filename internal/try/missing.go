// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/workload"
)

// Missing is what the accounts do not say, and what comes of that.
type Missing struct {
	Columns string `json:"columns"`
	So      string `json:"so"`
	// Void is whether no comparison says anything without them.
	Void bool `json:"void"`
}

// wanted are columns of which the accounts need one each, in the order of their weight.
var wanted = []struct {
	any  []string
	so   string
	void func(*Past) bool // nil: never
}{
	{[]string{"ReqTRES", "AllocTRES", "ReqGRES", "AllocGRES"},
		"no job counts as one with GPUs: GPUs in use, and all waits where jobs compete for them, are void", (*Past).hasGPUs},
	{[]string{"ReqMem", "ReqTRES"}, "no job takes memory, though slurm.conf has jobs share it: waits for memory are void",
		func(p *Past) bool { return p.CountsMemory }},
	{[]string{"State"}, "jobs that were cancelled or still run can't be told from others", nil},
	{[]string{"Eligible"}, "waits count from the submission: dependencies and begin times count as waits", nil},
	{[]string{"Priority"}, "jobs come in the order of their submission: fair share and the like are void", nil},
	{[]string{"ReqNodes", "NNodes", "AllocNodes", "ReqTRES", "AllocTRES"}, "jobs ask for CPUs only, wherever they are", nil},
	{[]string{"AllocCPUS", "NCPUS", "AllocTRES"}, "jobs have the CPUs that they asked for, not those that they got", nil},
	{[]string{"User", "UID"}, "there is no table by user", nil},
}

// hasGPUs reports whether the machine has GPUs.
func (p *Past) hasGPUs() bool {
	for _, n := range p.Machine.Nodes {
		if n.GPUs > 0 {
			return true
		}
	}
	return false
}

// missing notes what the columns lack. Without the partition there is none to replay in, unless
// slurm.conf has a single one.
func (p *Past) missing(columns map[string]bool, file string) error {
	has := func(name string) bool { return columns[strings.ToLower(name)] }
	for _, w := range wanted {
		if !slices.ContainsFunc(w.any, has) {
			void := w.void != nil && w.void(p)
			if w.void != nil && !void {
				continue // there is nothing of that
			}
			p.Missing = append(p.Missing, Missing{strings.Join(w.any, " or "), w.so, void})
		}
	}
	if has("Partition") {
		return nil
	}
	if n := len(p.Machine.Partitions); n != 1 {
		return &workload.InputError{File: file, Line: 1, Err: fmt.Errorf("no field Partition: slurm.conf has %d, and which nodes "+
			"a job may use can't be told (aucsched try --how prints the command)", n)}
	}
	name := p.Machine.Partitions[0].Name
	for i := range p.Jobs {
		p.Jobs[i].Past.Partition = name
	}
	p.Missing = append(p.Missing, Missing{"Partition", fmt.Sprintf("all jobs are taken as of %q, the only one", name), false})
	return nil
}
