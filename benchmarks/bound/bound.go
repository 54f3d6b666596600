// SPDX-License-Identifier: BSD-3-Clause

package bound

import (
	"fmt"
	"math"
	"math/big"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Bounds are lower bounds on the time from the first submission to the last end, in
// seconds.
type Bounds struct {
	// Cores is the core time of the jobs submitted at some time or later, over all
	// cores, and that time.
	Cores float64 `json:"cores_s"`
	// GPUs is as Cores for GPUs; 0 without GPUs.
	GPUs float64 `json:"gpus_s"`
	// Longest is the end of the last job if each starts when it is submitted.
	Longest float64 `json:"longest_s"`
	// Nodes is what follows from the capacity of single nodes as well: at least the
	// greatest of the others.
	Nodes float64 `json:"nodes_s"`
}

// Runtime bounds the runtime of the jobs on a machine with these nodes, none of which
// it changes. A job runs as package sim has it: to its limit at most, for a second at
// least, and with k GPUs on each node for Duration x MinGPUs / k (aucsched2, equation 5).
// Each resource takes the number of GPUs that is best for it. No jobs at all are bounded by 0. A
// request that is not valid or that fits no node is an error, and so is a time beyond
// workload.MaxSeconds.
//
// The time is linear in the jobs, but for the linear programs, whose work is limited:
// see maxWork, sample and maxClasses.
func Runtime(nodes []nodeset.Capacity, jobs []workload.Job) (Bounds, error) {
	if len(jobs) == 0 {
		return Bounds{}, nil
	}
	if len(jobs) > workload.MaxJobs {
		return Bounds{}, fmt.Errorf("%d jobs: at most %d are supported", len(jobs), workload.MaxJobs)
	}
	m, err := newMachine(nodes)
	if err != nil {
		return Bounds{}, err
	}
	d, err := newDemand(m, jobs)
	if err != nil {
		return Bounds{}, err
	}
	resource := func(capacity int64, of func(*need) work) (float64, int64) {
		return best(capacity, len(d), func(i int) work { return of(&d[i]) })
	}
	var b Bounds
	times := make([]int64, 2)
	b.Cores, times[0] = resource(m.cores, func(n *need) work { return work{n.submit, n.cores, n.seconds} })
	b.GPUs, times[1] = resource(m.gpus, func(n *need) work { return work{n.submit, n.gpus, n.gpuSeconds} })
	b.Longest = d.longest()
	b.Nodes = max(b.Cores, b.GPUs, b.Longest)
	if (m.widest+1)*(m.deepest+1) <= maxStates {
		b.Nodes = max(b.Nodes, newPacking(m, d, newClasses(m, d)).bound(times...))
	}
	return b, nil
}

// work is what has to be done after it was submitted: units of a capacity, and seconds
// for which they are needed.
type work struct{ submit, units, seconds int64 }

// best is the best, over all times t of submission, of t and the work that is submitted
// then or later over capacity, and that t. There are n works, in the order of submission.
func best(capacity int64, n int, of func(int) work) (seconds float64, t int64) {
	if capacity == 0 {
		return 0, 0
	}
	sum, from := 0.0, n
	for i := n - 1; i >= 0; i-- {
		w := of(i)
		sum += float64(w.units) * float64(w.seconds)
		if s := float64(w.submit) + sum/float64(capacity); s > seconds && sum > 0 {
			seconds, t, from = s, w.submit, i
		}
	}
	// What floating point found is said in whole numbers.
	var total, product, factor big.Int
	for i := from; i < n; i++ {
		w := of(i)
		total.Add(&total, product.Mul(product.SetInt64(w.units), factor.SetInt64(w.seconds)))
	}
	r := new(big.Rat).SetFrac(&total, big.NewInt(capacity))
	return below(r.Add(r, new(big.Rat).SetInt64(t))), t
}

// below is the nearest number that is not above r.
func below(r *big.Rat) float64 {
	f, exact := r.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(r) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// longest is the greatest sum of a job's submission and run time.
func (d demand) longest() float64 {
	longest := int64(0)
	for i := range d {
		longest = max(longest, d[i].submit+d[i].seconds)
	}
	return float64(longest)
}
