// SPDX-License-Identifier: BSD-3-Clause

// Package generate makes the synthetic workloads of the papers, and their machines. It is for tests
// and measurements: what decides reads its jobs.
package generate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// GeneratorPrefix tells the specification of a generated workload from the path of
// a file.
const GeneratorPrefix = "gen:"

// generator makes the workload of a name.
type generator struct {
	name string // without the prefix
	make func(nodes []nodeset.Capacity, seed uint64) (*workload.Workload, error)
}

// generators are all that Generate knows, in the order of its messages.
func generators() []generator {
	return slices.Concat(espGenerators(), mixGenerators(), tsubameGenerators())
}

// Generate makes the workload that spec names, such as "gen:esp", for a machine of
// these nodes ([Nodes]), which it only reads. Those of Tsubame are always for
// Tsubame's own 1408 nodes. The same spec, nodes and seed give the same workload.
// [Generators] lists the names; another one is an error that lists them too, and so
// is a machine that could not run every job of the workload.
func Generate(spec string, nodes []nodeset.Capacity, seed uint64) (*workload.Workload, error) {
	name, ok := strings.CutPrefix(spec, GeneratorPrefix)
	for _, g := range generators() {
		if ok && g.name == name {
			return g.make(nodes, seed)
		}
	}
	if load, is := strings.CutPrefix(name, lublinPrefix); ok && is {
		return lublinAt(load, nodes, seed)
	}
	return nil, fmt.Errorf("workload %.60q: %w; known are %s", spec, ErrUnknownGenerator,
		strings.Join(Generators(), ", ")+input.Hint(spec, Generators()))
}

// ErrUnknownGenerator says that Generate does not know a name.
var ErrUnknownGenerator = errors.New("no such generator")

// Generators lists the specifications that Generate takes. LOAD in one stands for a number.
func Generators() []string {
	var names []string
	for _, g := range generators() {
		names = append(names, GeneratorPrefix+g.name)
	}
	return append(names, GeneratorPrefix+lublinPrefix+"LOAD")
}

// Arrivals says when jobs are submitted.
type Arrivals struct {
	// Initial is how many jobs are there at second 0.
	Initial int
	// MeanGap is the mean number of seconds between one later job and the next;
	// the gaps have an exponential distribution. 0 means no gap.
	MeanGap float64
}

// submit has the jobs, which are in order, come with gaps that r draws.
func (a *Arrivals) submit(jobs []workload.Job, r *rand.Rand) {
	now := 0.0
	for i := range jobs {
		if i >= a.Initial {
			// Without the conversion some processors would round once, others twice.
			now += float64(r.ExpFloat64() * a.MeanGap)
		}
		jobs[i].Submit = int64(now)
	}
}

// setDefault sets an option that was not given.
func setDefault[T comparable](option *T, value T) {
	var none T
	if *option == none {
		*option = value
	}
}

// DefaultLimitFactor is the time limit as a multiple of the duration.
const DefaultLimitFactor = 1.0

// timeLimit is a multiple of a duration, rounded up to the whole minutes in which
// Slurm counts.
func timeLimit(duration int64, factor float64) int64 {
	return 60 * int64(math.Ceil(float64(duration)*factor/60))
}

// pick makes a number in 0..n-1 of one in [0, 1).
func pick(u float64, n int) int { return min(int(u*float64(n)), n-1) }

func checkLimitFactor(f float64) error {
	if !(f >= 1 && f <= 100) {
		return fmt.Errorf("limit factor: %v: must be in 1..100", f)
	}
	return nil
}

// checkTimes checks durations in seconds, a limit factor and arrivals.
func checkTimes(shortest, longest int64, factor float64, a *Arrivals) error {
	const most int64 = 1 << 31 // s; keeps limits and submissions far from the bounds
	if shortest < 1 || shortest > longest || longest > most {
		return fmt.Errorf("durations: %d-%d s: must be in 1..%d and not empty", shortest, longest, most)
	}
	if err := checkLimitFactor(factor); err != nil {
		return err
	}
	switch {
	case a.Initial < 0:
		return fmt.Errorf("initial arrivals: %d: must not be negative", a.Initial)
	case !(a.MeanGap >= 0 && a.MeanGap <= 1<<20):
		return fmt.Errorf("mean gap of arrivals: %v s: must be in 0..%d", a.MeanGap, 1<<20)
	}
	return nil
}

// allCores are the cores of a machine, as many of them as a job may ask for.
func allCores(nodes []nodeset.Capacity) (int, error) {
	if len(nodes) < 1 || len(nodes) > nodeset.MaxNodes {
		return 0, fmt.Errorf("nodes: %d: must be in 1..%d", len(nodes), nodeset.MaxNodes)
	}
	cores := 0
	for _, c := range nodes {
		if c.Cores == 0 {
			return 0, errors.New("cores of a node: 0: must be at least 1")
		}
		cores += int(c.Cores)
	}
	return min(cores, bids.MaxCores), nil
}
