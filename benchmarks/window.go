// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// What a Window is made of.
const (
	CoresPerNode = 8
	GPUsPerNode  = 2
	// Demand is what the queue asks for, as a multiple of the free cores.
	Demand = 3.0

	longestRunning = 256 // nodes of a running job, at most
	longestWanted  = 64  // nodes of a contiguous job, at most
	topPriority    = 4294901759
)

// Sizes of the windows that are measured.
var (
	NodeCounts = []int{128, 1024, 10_000, 100_000}
	JobCounts  = []int{50, 200, 500}
)

// Window is a half-busy machine and its queue.
type Window struct {
	Snapshot core.Snapshot
	// Variants are the jobs of Snapshot.Pending, for the stages that know no jobs.
	Variants []market.Variant
}

// NewWindow makes the window of that many nodes and jobs; the same numbers and seed
// make the same one.
//
// The machine has been filled from one end to the other with jobs of log-uniform
// lengths, and jobs have ended at random until half of the cores are free. The queue
// has jobs of all types of aucsched1, section 4, and aucsched2, table 2, each as
// likely as the others; a quarter of them is contiguous.
func NewWindow(nodes, jobs int, seed uint64) (*Window, error) {
	if nodes < 16 || nodes > nodeset.MaxNodes || jobs < 1 || jobs > 1<<20 {
		return nil, fmt.Errorf("window of %d nodes and %d jobs: must be 16 to %d and 1 to %d", nodes, jobs, nodeset.MaxNodes, 1<<20)
	}
	table, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: CoresPerNode, GPUs: GPUsPerNode})
	if err != nil {
		return nil, err
	}
	w := &Window{Snapshot: core.Snapshot{Nodes: table}}
	// Streams of their own keep the machine the same when the number of jobs changes.
	machine, queue := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	if err := w.occupy(machine, 0.5); err != nil {
		return nil, err
	}
	w.submit(queue, jobs, Demand)
	return w, w.setVariants()
}

// occupy fills the machine and ends jobs until that share of the cores is still busy,
// or less, if jobs don't fill as much.
func (w *Window) occupy(r *rand.Rand, busy float64) error {
	t := w.Snapshot.Nodes
	cores := []uint16{2, 4, 6, 8, 8, 8}
	if busy > 0.7 {
		cores = []uint16{6, 8, 8, 8, 8, 8, 8, 8}
	}
	running := fillMachine(r, t.Len(), cores)
	r.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
	held := 0
	for _, x := range running {
		held += nodeset.Cores(x.Segs)
	}
	running = slices.DeleteFunc(running, func(x core.Running) bool {
		cores := nodeset.Cores(x.Segs)
		ends := float64(held-cores) >= busy*float64(t.Len()*CoresPerNode)
		if ends {
			held -= cores
		}
		return ends
	})
	for i := range running {
		running[i].ID = fmt.Sprintf("R%d", i+1)
		if err := t.Allocate(running[i].Segs); err != nil {
			return fmt.Errorf("job %s: %w", running[i].ID, err)
		}
	}
	w.Snapshot.Running = running
	return nil
}

// fillMachine lays jobs side by side over n nodes. Each holds one of the given numbers
// of a node's cores, and on average half of its GPUs.
func fillMachine(r *rand.Rand, n int, cores []uint16) (running []core.Running) {
	longest := min(max(n/8, 1), longestRunning)
	for first := 0; first < n; {
		last := min(first+logUniform(r, longest), n) - 1
		running = append(running, core.Running{
			End: 60 + r.Int64N(3600),
			Segs: []nodeset.Segment{{
				First: int32(first), Last: int32(last),
				Cores: cores[r.IntN(len(cores))], GPUs: uint8(r.IntN(GPUsPerNode + 1)),
			}},
		})
		first = last + 1
	}
	return running
}

// submit makes the queue. Contiguous jobs are kept short enough to find room; the
// others share what is then left of the demand, a multiple of the free cores.
func (w *Window) submit(r *rand.Rand, jobs int, demand float64) {
	n := w.Snapshot.Nodes.Len()
	free, _ := w.Snapshot.Nodes.SumFree()
	weight, contiguous := make([]float64, jobs), make([]bool, jobs)
	for j := range jobs {
		weight[j], contiguous[j] = math.Exp(r.Float64()*math.Log(16)), r.IntN(4) == 0
	}
	most := float64(CoresPerNode * min(max(n/16, 1), longestWanted))
	unit := shareOut(demand*float64(free), most, weight, contiguous)
	for j := range jobs {
		want := weight[j] * unit
		if contiguous[j] {
			want = min(want, most)
		}
		q := drawRequest(r, want, n)
		q.Contiguous = contiguous[j]
		w.Snapshot.Pending = append(w.Snapshot.Pending, &core.Job{
			ID: fmt.Sprintf("J%d", j+1), Request: q, Priority: topPriority - int64(j), TimeLimit: 60 * (1 + r.Int64N(60)),
		})
	}
}

// setVariants has w.Variants ask for what the jobs do.
func (w *Window) setVariants() error {
	w.Variants = w.Variants[:0]
	for _, job := range w.Snapshot.Pending {
		spec, err := place.SpecOf(&job.Request)
		if err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		w.Variants = append(w.Variants, market.Variant{Spec: spec, Priority: job.Priority})
	}
	return nil
}

// shareOut is the number of cores for a weight of 1 with which all jobs together want
// total cores, although the capped ones want at most most.
func shareOut(total, most float64, weight []float64, capped []bool) float64 {
	var all, free float64
	for j := range weight {
		all += weight[j]
		if !capped[j] {
			free += weight[j]
		}
	}
	unit, taken := total/all, 0.0
	for j := range weight {
		if capped[j] {
			taken += min(weight[j]*unit, most)
		}
	}
	if free == 0 {
		return unit
	}
	return max((total-taken)/free, 1e-9)
}

// drawRequest makes a job of about want cores on a machine of n nodes.
func drawRequest(r *rand.Rand, want float64, n int) bids.Request {
	kind, gpus := r.IntN(6), 1+r.IntN(GPUsPerNode)
	perNode := []int{2, 4, 8}[r.IntN(3)]
	for perNode > 1 && float64(perNode) > want {
		perNode /= 2
	}
	cores := max(1, int(math.Round(want)))
	nodes := min(max(1, int(math.Round(want/float64(perNode)))), n)
	fixed := bids.Request{Cores: nodes * perNode, MinNodes: nodes, MaxNodes: nodes}
	switch kind {
	case 0: // type 1; A
		return bids.Request{Cores: cores}
	case 1: // type 2; B
		return fixed
	case 2: // type 2 with a range of nodes
		fixed.MaxNodes = min(2*nodes, n)
		return fixed
	case 3: // type 3
		return bids.Request{MinNodes: nodes, MaxNodes: nodes, TasksPerNode: perNode}
	case 4: // type 2 with GPUs; C, E
		fixed.MinGPUs = gpus
		return fixed
	default: // type 2 with a range of GPUs; C'
		fixed.MinGPUs, fixed.MaxGPUs = 1, GPUsPerNode
		return fixed
	}
}

// logUniform draws from 1..most, each factor of two as likely as any other.
func logUniform(r *rand.Rand, most int) int {
	return min(most, int(math.Exp(r.Float64()*math.Log(float64(most)+1))))
}
