// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// What aucsched1, section 6.1, leaves open, chosen so that Slurm's backfill, as package
// sim has it, agrees on workload I.1 and Machine-S with table 5. Nothing is fitted to
// the other workloads and machines.
const (
	// DefaultMixRuntime is the theoretical runtime in seconds, the "estimated run
	// time of a workload" that the authors' generator takes: 4.02 h, the mean of
	// tables 5 to 7.
	DefaultMixRuntime = 14472
	// DefaultMixMaxShare is the largest job's share of the machine's cores. With an
	// eighth, fragmentation and spread come out about as in table 5; with a quarter, spread is
	// half of that. The 660 jobs that follow on Machine-S scatter in theoretical
	// runtime by 3.1% from one workload to the next; the tables' means of 7, by 3.6% a workload.
	DefaultMixMaxShare = 0.125
)

// DefaultMixArrivals begin like the ESP benchmark as the authors used it (ipsched,
// section V), with 50 jobs at the start. The mean gap after that is the one with which backfill has
// the mean wait of table 5, 1.71 h; its slowdown is then 26, where the table has 23.6.
var DefaultMixArrivals = Arrivals{Initial: 50, MeanGap: 3.5}

// MixOptions are the parameters of [Mix]. A zero field has the default said with
// it.
type MixOptions struct {
	// Variant is the workload and its version: I to V, and 1 to 3 for none, half
	// or all of the jobs contiguous. "I.1".
	Variant string
	// Seed chooses the jobs. The versions of a workload have the same jobs but for
	// the contiguity; those that differ in Arrivals, the same but for the
	// submission times.
	Seed uint64
	// Nodes is the machine; it has no default. Where nodes differ, "a node's cores"
	// are those of the smallest one.
	Nodes []nodeset.Capacity

	// Runtime is the expected theoretical runtime in seconds (DefaultMixRuntime): the
	// sum of duration x cores over all cores. It settles the number of jobs, which
	// is the same for all seeds and workloads.
	Runtime int64
	// MaxCores is the most cores that a job asks for (DefaultMixMaxShare of all).
	// Sizes are uniform over the multiples of a node's cores up to there, rounded
	// to whole nodes, and fewer where a job would need more nodes than suit it.
	MaxCores int
	// CoresPerNode are the numbers of cores that a job with a node request may want
	// on each node (half a node's and all: 4 and 8 in table 4).
	CoresPerNode []int
	// CoresPerGPU are the numbers of cores that a job with GPUs may want for each
	// of them (1 and 2, table 4).
	CoresPerGPU []int
	// MinDuration and MaxDuration are in seconds (60 and 600), both included.
	// Durations are uniform.
	MinDuration, MaxDuration int64
	// LimitFactor is the time limit as a multiple of the duration, at least 1
	// (DefaultLimitFactor); the limit is rounded up to whole minutes, in which
	// Slurm counts. The paper is silent.
	LimitFactor float64
	// Arrivals says when jobs are submitted (DefaultMixArrivals).
	Arrivals *Arrivals
}

// mixKind is a column of aucsched1, table 4.
type mixKind struct {
	// asks for a number of nodes and cores on each (type 3), otherwise cores only (type 1)
	nodes bool
	gpus  int // on each node
}

var mixKinds = [...]mixKind{{}, {nodes: true}, {true, 1}, {true, 2}}

// mixWorkload is a row of aucsched1, table 4: jobs of each kind out of their sum.
type mixWorkload struct {
	name   string
	shares [len(mixKinds)]int
}

var mixWorkloads = [...]mixWorkload{
	{"I", [...]int{1, 0, 0, 0}}, {"II", [...]int{0, 1, 0, 0}}, {"III", [...]int{1, 1, 0, 0}},
	{"IV", [...]int{2, 2, 1, 0}}, {"V", [...]int{2, 2, 1, 1}},
}

// mixVersions are the shares of contiguous jobs of the versions 1 to 3.
var mixVersions = [...]float64{0, 0.5, 1}

// kind is that of a job for which u in [0, 1) was drawn.
func (m *mixWorkload) kind(u float64) mixKind {
	sum := 0
	for _, n := range m.shares {
		sum += n
	}
	at := pick(u, sum)
	for k, n := range m.shares {
		if at -= n; at < 0 {
			return mixKinds[k]
		}
	}
	panic("a share beyond the sum of the shares")
}

func mixGenerators() []generator {
	var all []generator
	for _, name := range mixVariants() {
		all = append(all, generator{name, func(nodes []nodeset.Capacity, seed uint64) (*workload.Workload, error) {
			return Mix(MixOptions{Variant: name, Nodes: nodes, Seed: seed})
		}})
	}
	return all
}

func mixVariants() (names []string) {
	for _, m := range mixWorkloads {
		for v := range mixVersions {
			names = append(names, mixName(m, v))
		}
	}
	return names
}

func mixName(m mixWorkload, version int) string { return m.name + "." + strconv.Itoa(version+1) }

// Mix generates a workload as aucsched1, section 6.1 and table 4, describes them
// for machines of CPUs and GPUs: jobs that ask for cores only, for nodes, or for nodes with 1
// or 2 GPUs on each, in the proportions of the workloads I to V. What the paper leaves open is
// said with [MixOptions]. An option that is out of range, or that the machine cannot
// meet, is an error.
func Mix(o MixOptions) (*workload.Workload, error) {
	m, contiguous, err := o.settle()
	if err != nil {
		return nil, fmt.Errorf("workload of mixed jobs: %w", err)
	}
	w := &workload.Workload{Name: GeneratorPrefix + o.Variant, Jobs: make([]workload.Job, o.jobs())}
	rooms := o.rooms()
	// Streams of their own keep the jobs the same when the arrivals change.
	jobs, arrivals := rand.New(rand.NewPCG(o.Seed, 1)), rand.New(rand.NewPCG(o.Seed, 2))
	for i := range w.Jobs {
		o.draw(jobs, m, contiguous, rooms, &w.Jobs[i])
		w.Jobs[i].ID = strconv.Itoa(i + 1)
	}
	o.Arrivals.submit(w.Jobs, arrivals)
	workload.AssignBasicPriorities(w.Jobs)
	return w, nil
}

// jobs is how many jobs of mean size and duration the runtime has room for, up to one
// too many.
func (o *MixOptions) jobs() int {
	all := 0
	for _, c := range o.Nodes {
		all += int(c.Cores)
	}
	unit := leastCores(o.Nodes)
	size := float64(unit) * float64(1+o.MaxCores/unit) / 2
	duration := float64(o.MinDuration+o.MaxDuration) / 2
	return max(int(min(math.Round(float64(o.Runtime)*float64(all)/(size*duration)), workload.MaxJobs+1)), 1)
}

// draw makes a job. It takes as many numbers from r whatever the options are.
func (o *MixOptions) draw(r *rand.Rand, m *mixWorkload, contiguous float64, rooms map[[2]int]int, j *workload.Job) {
	k := m.kind(r.Float64())
	size, choice, duration := r.Float64(), r.Float64(), r.Float64()
	j.Contiguous = r.Float64() < contiguous
	j.Duration = o.MinDuration + int64(pick(duration, int(o.MaxDuration-o.MinDuration+1)))
	j.TimeLimit = timeLimit(j.Duration, o.LimitFactor)
	unit := leastCores(o.Nodes)
	j.Cores = (1 + pick(size, o.MaxCores/unit)) * unit
	if k.nodes {
		perNode := o.perNode(k)
		cores := perNode[pick(choice, len(perNode))]
		nodes := min(max((j.Cores+cores/2)/cores, 1), rooms[[2]int{cores, k.gpus}])
		j.Cores, j.MinNodes, j.MaxNodes, j.MinGPUs = nodes*cores, nodes, nodes, k.gpus
		j.TasksPerNode = cores
	}
}

// perNode are the numbers of cores that a job of a kind may want on each node.
func (o *MixOptions) perNode(k mixKind) []int {
	if k.gpus == 0 {
		return o.CoresPerNode
	}
	cores := make([]int, len(o.CoresPerGPU))
	for i, c := range o.CoresPerGPU {
		cores[i] = c * k.gpus
	}
	return cores
}

// leastCores are the cores of the smallest node.
func leastCores(nodes []nodeset.Capacity) int {
	least := int(nodes[0].Cores)
	for _, c := range nodes {
		least = min(least, int(c.Cores))
	}
	return least
}

// rooms are the most consecutive nodes with a number of cores and of GPUs, for all
// that jobs may ask of a node.
func (o *MixOptions) rooms() map[[2]int]int {
	rooms := map[[2]int]int{}
	for _, k := range mixKinds {
		if !k.nodes {
			continue
		}
		for _, cores := range o.perNode(k) {
			run, most := 0, 0
			for _, c := range o.Nodes {
				if run++; int(c.Cores) < cores || int(c.GPUs) < k.gpus {
					run = 0
				}
				most = max(most, run)
			}
			rooms[[2]int{cores, k.gpus}] = most
		}
	}
	return rooms
}
