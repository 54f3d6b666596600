// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"math"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// GPUQueue is what becomes of the machine's GPUs while at least one job that asks for
// GPUs waits: means over that time, of shares of all GPUs, as the policy's cycles leave
// them. Free GPUs count up to the number that the waiting jobs ask for in all, each at
// the least: where one job of 8 GPUs waits for a whole node, 8 GPUs are missed and not
// all that are free elsewhere.
//
// A free GPU is of use if there is a waiting job for which its node has enough of them
// free, and enough cores; a job of several nodes counts as if the other nodes were there,
// and every node as if each job might use it. Those of the GPUs missed that cannot be made
// up from GPUs of use are stranded: cores are gone or too few GPUs are left beside them.
// The idea is that of Weng et al. ("Beware of Fragmentation", USENIX ATC'23), who take, of
// each node, the mean over kinds of jobs of the GPUs that a kind cannot use. This is for
// whole GPUs and the jobs that wait instead of all that ever came, and counts what none of
// them can use. Of a job with alternatives the first request counts.
type GPUQueue struct {
	// Seconds is how long jobs waited for GPUs.
	Seconds int64 `json:"s"`
	// Idle are GPUs that nobody has and somebody wants.
	Idle float64 `json:"idle"`
	// Stranded are those of them that are of no use where they are.
	Stranded float64 `json:"stranded"`
}

// gpuDemand is what a job wants at least of each of its nodes.
type gpuDemand struct{ gpus, cores int }

// demandOf is what a request with GPUs wants of a node, and the fewest nodes that it may
// have. A job of several nodes may take all but one of its cores from other nodes, unless
// it says how many on each.
func demandOf(r *bids.Request) (d gpuDemand, nodes int) {
	d, nodes = gpuDemand{r.MinGPUs, 1}, max(r.MinNodes, 1)
	each := r.TasksPerNode
	switch {
	case each > 0 && r.Cores == 0:
		d.cores = each
	case each > 0 && r.Cores%each == 0 && r.Cores/each >= nodes && (r.MaxNodes == 0 || r.Cores/each <= r.MaxNodes):
		d.cores, nodes = each, r.Cores/each
	case each > 0:
		nodes = max(nodes, (r.Cores+each-1)/each)
	case r.MaxNodes == 1:
		d.cores = r.Cores
	}
	return d, nodes
}

// strandedMeter adds up a GPUQueue. Its memory is one entry for each demand that waits.
type strandedMeter struct {
	waiting map[gpuDemand]int // number of jobs
	// need[g] is the fewest free cores with which a node of g free GPUs can serve a
	// waiting job; made anew when a demand comes or goes.
	need           [bids.MaxGPUsPerNode + 1]int
	stale          bool
	wanted         int64 // GPUs that waiting jobs ask for
	free, stuck    int64 // GPUs since the last cycle
	queued         int64 // seconds
	idle, stranded tally // GPU seconds
}

func (m *strandedMeter) come(r *bids.Request) { m.count(r, 1) }

func (m *strandedMeter) start(r *bids.Request) { m.count(r, -1) }

func (m *strandedMeter) count(r *bids.Request, by int) {
	if r.MinGPUs == 0 {
		return
	}
	if m.waiting == nil {
		m.waiting = make(map[gpuDemand]int)
	}
	d, nodes := demandOf(r)
	m.wanted += int64(by * nodes * d.gpus)
	before := m.waiting[d]
	if before+by == 0 {
		delete(m.waiting, d)
	} else {
		m.waiting[d] = before + by
	}
	m.stale = m.stale || before == 0 || before+by == 0
}

// look takes in what is free after a cycle. Time is linear in the nodes.
func (m *strandedMeter) look(t *nodeset.Table) {
	m.free, m.stuck = 0, 0
	if len(m.waiting) == 0 {
		return
	}
	if m.stale {
		m.renew()
	}
	cores := t.FreeCores()
	for n, g := range t.FreeGPUs() {
		m.free += int64(g)
		if int(cores[n]) < m.need[g] {
			m.stuck += int64(g)
		}
	}
}

func (m *strandedMeter) renew() {
	m.stale = false
	for g := range m.need {
		m.need[g] = math.MaxInt
	}
	for d := range m.waiting { // a minimum, so that the order does not matter
		m.need[d.gpus] = min(m.need[d.gpus], d.cores)
	}
	for g := 1; g < len(m.need); g++ {
		m.need[g] = min(m.need[g], m.need[g-1])
	}
}

// pass lets seconds go by in which nothing changes.
func (m *strandedMeter) pass(seconds int64) {
	if len(m.waiting) == 0 {
		return
	}
	m.queued += seconds
	idle, useful := min(m.free, m.wanted), m.free-m.stuck
	m.idle.add(seconds, int(idle))
	m.stranded.add(seconds, int(max(0, idle-useful)))
}

func (m *strandedMeter) result(gpus int64) *GPUQueue {
	q := &GPUQueue{Seconds: m.queued}
	if m.queued > 0 {
		all := float64(m.queued) * float64(gpus)
		q.Idle, q.Stranded = m.idle.float()/all, m.stranded.float()/all
	}
	return q
}
