// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// What aucsched2, section 4, says of its workloads for the emulated Tsubame.
const (
	tsubameNodes = 1408
	tsubameCores = 12
	tsubameGPUs  = 3
)

// What the paper leaves open. The durations are those of the authors' earlier
// generator (aucsched1, section 6.1).
const (
	// DefaultMinDuration and DefaultMaxDuration are in seconds.
	DefaultMinDuration = 60
	DefaultMaxDuration = 600
	// DefaultMaxShare is the largest job's share of the machine's cores. It gives
	// the mean theoretical runtimes of the paper's table 3: 3.12 h for 350 jobs
	// and 6.2 h for 700.
	DefaultMaxShare = 0.1943
)

// DefaultArrivals begin like the ESP benchmark as the authors used it (ipsched,
// section VI), with 50 jobs at the start. The mean gap after that is the one with
// which Slurm's backfill has the mean wait of the paper's table 3.
var DefaultArrivals = Arrivals{Initial: 50, MeanGap: 12}

// TsubameOptions are the parameters of [Tsubame]. A zero field has the default
// said with it.
type TsubameOptions struct {
	// Variant is the length and the contiguity of the workload: 1 or 2 for 350 or
	// 700 jobs; NC, HC or FC for none, half or all of the jobs contiguous. "1.NC".
	Variant string
	// Ranges replaces the job types C and D by C' and D', with ranges of GPUs.
	Ranges bool
	// Seed chooses the jobs. Workloads that differ only in Ranges have the same
	// jobs but for the ranges; those that differ in Arrivals, the same but for the
	// submission times; those of one length, the same but for the contiguity.
	Seed uint64

	// Nodes is the number of nodes (1408) and Node what each has (12 cores, 3 GPUs).
	Nodes int
	Node  nodeset.Capacity

	// MaxCores is the most cores that a job asks for (DefaultMaxShare of all).
	// Sizes are uniform over the multiples of a node's cores up to there, rounded
	// to whole nodes, and fewer where a job would need more nodes than there are.
	MaxCores int
	// CoresPerNode are the numbers of cores that a job of type B may want on each
	// node (half a node's and all, the choice of aucsched1, table 4).
	CoresPerNode []int
	// CoresPerGPU are the numbers of cores that a job of type C, D or E may want
	// for each of its GPUs (2 and 3: half of the cores and three quarters of them
	// for three GPUs in all). They settle the ratio of the demand for GPUs to the
	// demand for cores: 3/5 of the jobs times 4 cores a GPU of the machine times
	// the mean of 1/2 and 1/3 is 1, as table 3 shows it.
	CoresPerGPU []int
	// MinDuration and MaxDuration are in seconds (60 and 600), both included.
	// Durations are uniform.
	MinDuration, MaxDuration int64
	// LimitFactor is the time limit as a multiple of the duration, at least 1
	// (1); the limit is rounded up to whole minutes, in which Slurm counts.
	LimitFactor float64
	// Arrivals says when jobs are submitted (DefaultArrivals).
	Arrivals *Arrivals
}

// tsubameType is a job type of aucsched2, table 2.
type tsubameType struct {
	nodes     bool // asks for a number of nodes
	gpus      int  // on each node
	rangeGPUs int  // the most GPUs on each node under Ranges
}

// tsubameTypes are A, B, C or C', D or D', and E.
var tsubameTypes = [...]tsubameType{{}, {nodes: true}, {true, 1, 3}, {true, 2, 3}, {true, 3, 3}}

// tsubameVariant is a row of aucsched2, table 3.
type tsubameVariant struct {
	name       string
	jobs       int
	contiguous float64 // share of the jobs
}

var tsubameVariants = [...]tsubameVariant{
	{"1.NC", 350, 0}, {"1.HC", 350, 0.5}, {"1.FC", 350, 1},
	{"2.NC", 700, 0}, {"2.HC", 700, 0.5}, {"2.FC", 700, 1},
}

func tsubameGenerators() []generator {
	var all []generator
	for _, ranges := range []bool{false, true} {
		for _, v := range tsubameVariants {
			all = append(all, generator{tsubameName(v.name, ranges), func(_ []nodeset.Capacity, seed uint64) (*workload.Workload, error) {
				return Tsubame(TsubameOptions{Variant: v.name, Ranges: ranges, Seed: seed})
			}})
		}
	}
	return all
}

func tsubameName(variant string, ranges bool) string {
	if ranges {
		return "tsubame-" + variant + "-ranges"
	}
	return "tsubame-" + variant
}

// Tsubame generates a workload as aucsched2, section 4, describes them for the
// Tsubame supercomputer: jobs of the types A to E with equal probability. What the
// paper leaves open follows the authors' earlier work; see [TsubameOptions].
// Duration is the one with the fewest GPUs, and TimeLimit is enough for it. An
// option that is out of range, or that the machine cannot meet, is an error.
func Tsubame(o TsubameOptions) (*workload.Workload, error) {
	v, err := o.settle()
	if err != nil {
		return nil, fmt.Errorf("tsubame workload: %w", err)
	}
	w := &workload.Workload{Name: GeneratorPrefix + tsubameName(v.name, o.Ranges), Jobs: make([]workload.Job, v.jobs)}
	// Streams of their own keep the jobs the same when the arrivals change.
	jobs, arrivals := rand.New(rand.NewPCG(o.Seed, 1)), rand.New(rand.NewPCG(o.Seed, 2))
	for i := range w.Jobs {
		o.draw(jobs, v.contiguous, &w.Jobs[i])
		w.Jobs[i].ID = strconv.Itoa(i + 1)
	}
	o.Arrivals.submit(w.Jobs, arrivals)
	workload.AssignBasicPriorities(w.Jobs)
	return w, nil
}

// draw makes a job. It takes as many numbers from r whatever the options are.
func (o *TsubameOptions) draw(r *rand.Rand, contiguous float64, j *workload.Job) {
	t := tsubameTypes[r.IntN(len(tsubameTypes))]
	size, choice := r.Float64(), r.Float64()
	j.Duration = o.MinDuration + r.Int64N(o.MaxDuration-o.MinDuration+1)
	j.Contiguous = r.Float64() < contiguous

	j.Cores = (1 + pick(size, o.MaxCores/int(o.Node.Cores))) * int(o.Node.Cores)
	if t.nodes {
		perNode := o.CoresPerNode[pick(choice, len(o.CoresPerNode))]
		if t.gpus > 0 {
			perNode = t.gpus * o.CoresPerGPU[pick(choice, len(o.CoresPerGPU))]
		}
		nodes := min(max((j.Cores+perNode/2)/perNode, 1), o.Nodes)
		j.Cores, j.MinNodes, j.MaxNodes = nodes*perNode, nodes, nodes
	}
	if j.MinGPUs = t.gpus; o.Ranges && t.rangeGPUs > t.gpus {
		j.MaxGPUs = t.rangeGPUs
	}
	j.TimeLimit = timeLimit(j.Duration, o.LimitFactor)
}

// settle fills in the defaults and checks the options.
func (o *TsubameOptions) settle() (tsubameVariant, error) {
	o.setDefaults()
	for _, check := range []func() error{o.checkMachine, o.checkSizes, o.checkTimes} {
		if err := check(); err != nil {
			return tsubameVariant{}, err
		}
	}
	var known []string
	for _, v := range tsubameVariants {
		if v.name == o.Variant {
			return v, nil
		}
		known = append(known, v.name)
	}
	return tsubameVariant{}, fmt.Errorf("variant %.60q: must be one of %v", o.Variant, known)
}

func (o *TsubameOptions) setDefaults() {
	setDefault(&o.Nodes, tsubameNodes)
	setDefault(&o.Node, nodeset.Capacity{Cores: tsubameCores, GPUs: tsubameGPUs})
	cores, arrivals := int(o.Node.Cores), DefaultArrivals
	setDefault(&o.MaxCores, max(int(DefaultMaxShare*float64(o.Nodes)*float64(cores)), cores))
	if len(o.CoresPerNode) == 0 {
		o.CoresPerNode = []int{max(cores/2, 1), cores}
	}
	if len(o.CoresPerGPU) == 0 {
		o.CoresPerGPU = []int{2, 3}
	}
	setDefault(&o.MinDuration, DefaultMinDuration)
	setDefault(&o.MaxDuration, DefaultMaxDuration)
	setDefault(&o.LimitFactor, DefaultLimitFactor)
	setDefault(&o.Arrivals, &arrivals)
}

func (o *TsubameOptions) checkMachine() error {
	most := tsubameTypes[len(tsubameTypes)-1].gpus
	switch {
	case o.Nodes < 1 || o.Nodes > nodeset.MaxNodes:
		return fmt.Errorf("nodes: %d: must be in 1..%d", o.Nodes, nodeset.MaxNodes)
	case o.Node.Cores == 0:
		return fmt.Errorf("cores of a node: 0: must be at least 1")
	case int(o.Node.GPUs) < most:
		return fmt.Errorf("GPUs of a node: %d: jobs of type E need %d", o.Node.GPUs, most)
	}
	for _, c := range o.CoresPerNode {
		if c < 1 || c > int(o.Node.Cores) {
			return fmt.Errorf("cores per node: %d: must be in 1..%d, what a node has", c, o.Node.Cores)
		}
	}
	for _, c := range o.CoresPerGPU {
		if c < 1 || c > int(o.Node.Cores)/most {
			return fmt.Errorf("cores per GPU: %d: must be in 1..%d, for jobs of type E on nodes of %d cores",
				c, int(o.Node.Cores)/most, o.Node.Cores)
		}
	}
	return nil
}

func (o *TsubameOptions) checkSizes() error {
	all := min(o.Nodes*int(o.Node.Cores), bids.MaxCores)
	if o.MaxCores < int(o.Node.Cores) || o.MaxCores > all {
		return fmt.Errorf("most cores of a job: %d: must be in %d..%d, a node's and all", o.MaxCores, o.Node.Cores, all)
	}
	return nil
}

func (o *TsubameOptions) checkTimes() error {
	return checkTimes(o.MinDuration, o.MaxDuration, o.LimitFactor, o.Arrivals)
}
