// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"fmt"
	"math/rand/v2"

	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// What the queue is like.
const (
	// variant is workload V of aucsched1, table 4: a third of the jobs ask for cores, a third
	// for nodes, a sixth each for nodes with one or two GPUs. None is contiguous.
	variant = "V.1"
	// largest is the largest job's share of the machine's cores: some 400 jobs run at a time.
	largest = 0.005
	// runningShare of the machine's cores is what the first jobs ask for that have been
	// running for a while: more than all, so that the machine is theirs when it is full.
	runningShare = 1.5
	// firstPriority is that of the first job of the queue; each has one less than the one before.
	firstPriority = 1_000_000_000
)

// Jobs are n jobs for a machine of so many nodes, in order of priority. They last 60 to 600 s;
// those that fill the machine first have part of that behind them, so that jobs end
// all the time from the beginning on. The first jobs do not depend on n.
func Jobs(nodes, n int, seed uint64) ([]workload.Job, error) {
	machine := make([]nodeset.Capacity, nodes)
	for i := range machine {
		machine[i] = Node
	}
	all := float64(nodes) * float64(Node.Cores)
	w, err := generate.Mix(generate.MixOptions{
		Variant: variant, Seed: seed, Nodes: machine,
		MaxCores: max(int(largest*all), int(Node.Cores)),
		Runtime:  runtimeOf(n, all),
	})
	if err != nil {
		return nil, err
	}
	if len(w.Jobs) < n {
		return nil, fmt.Errorf("%d jobs on %d nodes: the generator makes %d", n, nodes, len(w.Jobs))
	}
	jobs := w.Jobs[:n]
	age(jobs, runningShare*all, rand.New(rand.NewPCG(seed, 3)))
	return jobs, nil
}

// runtimeOf is a theoretical runtime that n jobs surely do not reach: the generator makes as
// many jobs as have room in it, and the mean job has half of the cores of the largest one
// and at most ten minutes.
func runtimeOf(n int, all float64) int64 {
	most := max(largest*all, float64(Node.Cores))
	return int64(float64(n)*most*600/all) + 1
}

// age has the first jobs, as many as ask for so many cores, behind them a part of their time
// that is uniform: what is left of duration and limit is what they ask for.
func age(jobs []workload.Job, cores float64, r *rand.Rand) {
	for i := range jobs {
		j := &jobs[i]
		if cores -= float64(j.Cores); cores < 0 {
			return
		}
		gone := r.Int64N(j.Duration)
		j.Duration -= gone
		j.TimeLimit = (j.TimeLimit - gone + 59) / 60 * 60
	}
}
