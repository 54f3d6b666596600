// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"math"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// gpuDemand is what a job wants at least of each of its nodes: GPUs or a share of one, cores, and
// of further resources. What jobs take of the latter, and which nodes they may have, is told apart
// by its place in memory: jobs that are alike share theirs.
type gpuDemand struct {
	gpus, cores int
	uses        *nodeset.Use
	eligible    *uint64
}

// plain is whether a node's free cores and GPUs say if it has what is wanted.
func (d *gpuDemand) plain() bool { return d.uses == nil && d.eligible == nil }

// demandOf is what a request wants of a node, and the fewest nodes that it may have. A job of
// several nodes may take all but one of its cores from other nodes, unless it says how many on
// each.
func demandOf(r *bids.Request) (d gpuDemand, nodes int) {
	d, nodes = gpuDemand{gpus: r.MinGPUs}, max(r.MinNodes, 1)
	if len(r.Uses) > 0 {
		d.uses = &r.Uses[0]
	}
	if len(r.Eligible) > 0 {
		d.eligible = &r.Eligible[0]
	}
	each := r.TasksPerNode
	d.cores = 1
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

// waitingKind are the waiting jobs of one demand.
type waitingKind struct {
	gpuDemand
	jobs     int
	share    int64 // of a GPU; 0: none
	more     nodeset.Uses
	eligible nodeset.Mask
}

// fits reports whether node n has the cores and further resources, and may be had.
func (k *waitingKind) fits(t *nodeset.Table, n, shares int) bool {
	if int(t.FreeCores()[n]) < k.cores || !k.eligible.Has(n) {
		return false
	}
	for _, u := range k.more {
		if u.Row != shares && t.FreeOf(u.Row)[n] < u.PerNode+u.PerCore*int64(k.cores)+u.PerGPU*int64(k.gpus) {
			return false
		}
	}
	return true
}

// strandedMeter adds up a GPUQueue. Its memory is one entry for each demand that waits.
type strandedMeter struct {
	parts   gpuParts
	index   map[gpuDemand]int // of kinds
	kinds   []waitingKind
	special int // of kinds: those that are not plain
	// need[g] is the fewest free cores with which a node of g free GPUs can serve a waiting plain
	// job. It is made again when a demand comes or goes.
	need           [bids.MaxGPUsPerNode + 1]int
	stale          bool
	wanted         int64 // parts of GPUs that waiting jobs ask for
	free, stuck    int64 // parts since the last cycle
	queued         int64 // seconds
	idle, stranded tally // part seconds
}

func (m *strandedMeter) come(r *bids.Request) { m.count(r, 1) }

func (m *strandedMeter) start(r *bids.Request) { m.count(r, -1) }

func (m *strandedMeter) count(r *bids.Request, by int) {
	share := m.parts.share(r.Uses)
	if r.MinGPUs == 0 && share == 0 {
		return
	}
	d, nodes := demandOf(r)
	m.wanted += int64(by*nodes) * (int64(d.gpus)*m.parts.whole + share)
	i, known := m.index[d]
	if !known {
		if m.index == nil {
			m.index = make(map[gpuDemand]int)
		}
		i = len(m.kinds)
		m.index[d], m.stale = i, true
		m.kinds = append(m.kinds, waitingKind{d, 0, share, r.Uses, r.Eligible})
		if !d.plain() {
			m.special++
		}
	}
	if m.kinds[i].jobs += by; m.kinds[i].jobs == 0 {
		m.forget(i)
	}
}

// forget takes out a kind of which no job waits.
func (m *strandedMeter) forget(i int) {
	last := len(m.kinds) - 1
	if !m.kinds[i].plain() {
		m.special--
	}
	delete(m.index, m.kinds[i].gpuDemand)
	if i < last {
		m.kinds[i] = m.kinds[last]
		m.index[m.kinds[i].gpuDemand] = i
	}
	m.kinds, m.stale = m.kinds[:last], true
}

// look takes in what is free after a cycle. Time is linear in the nodes, times the kinds of jobs
// that ask for more than cores and GPUs.
func (m *strandedMeter) look(t *nodeset.Table) {
	m.free, m.stuck = 0, 0
	if len(m.kinds) == 0 {
		return
	}
	if m.stale {
		m.renew()
	}
	cores, whole := t.FreeCores(), m.parts.whole
	for n, g := range t.FreeGPUs() {
		serves, share := int(cores[n]) >= m.need[g], int64(math.MaxInt64)
		if m.special > 0 && (g > 0 || m.parts.shared) {
			serves, share = m.serves(t, n, serves)
		}
		m.free += int64(g) * whole
		if !serves {
			m.stuck += int64(g) * whole
		}
		m.lookAtShares(t, n, share)
	}
}

// serves reports whether GPUs of node n that are free as a whole are of use to a waiting job. plain
// is that for plain jobs. share is the least share that a job asks for; MaxInt64: none.
func (m *strandedMeter) serves(t *nodeset.Table, n int, plain bool) (whole bool, share int64) {
	whole, share = plain, math.MaxInt64
	gpus := int(t.FreeGPUs()[n])
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.plain() || (whole && (k.share == 0 || k.share >= share)) || !k.fits(t, n, m.parts.resource) {
			continue
		}
		if k.share == 0 {
			whole = whole || gpus >= k.gpus
		} else if k.share <= t.TotalOf(m.parts.resource)[n] {
			whole, share = true, min(share, k.share)
		}
	}
	return whole, share
}

// lookAtShares takes in what is free of the GPUs of node n that are in shared use, where the least
// share that is asked for is share.
func (m *strandedMeter) lookAtShares(t *nodeset.Table, n int, share int64) {
	for _, left := range t.BinsLeft(n) {
		m.free += int64(max(left, 0))
		if left > 0 && int64(left) < share {
			m.stuck += int64(left)
		}
	}
}

func (m *strandedMeter) renew() {
	m.stale = false
	for g := range m.need {
		m.need[g] = math.MaxInt
	}
	for i := range m.kinds {
		if d := &m.kinds[i]; d.plain() {
			m.need[d.gpus] = min(m.need[d.gpus], d.cores)
		}
	}
	for g := 1; g < len(m.need); g++ {
		m.need[g] = min(m.need[g], m.need[g-1])
	}
}

// pass lets seconds go by in which nothing changes.
func (m *strandedMeter) pass(seconds int64) {
	if len(m.kinds) == 0 {
		return
	}
	m.queued += seconds
	idle, useful := min(m.free, m.wanted), m.free-m.stuck
	m.idle.add(seconds, int(idle))
	m.stranded.add(seconds, int(max(0, idle-useful)))
}

// result is for a machine of so many parts of GPUs.
func (m *strandedMeter) result(parts int64) *GPUQueue {
	q := &GPUQueue{Seconds: m.queued}
	if m.queued > 0 {
		all := float64(m.queued) * float64(parts)
		q.Idle, q.Stranded = m.idle.float()/all, m.stranded.float()/all
	}
	return q
}

// GPUQueue is what becomes of the machine's GPUs while at least one job that asks for GPUs waits.
// Its figures are means over that time, of shares of all GPUs, as cycles leave them. Free GPUs
// count up to the number that waiting jobs ask for, each at the least. If one job of 8 GPUs waits
// for a whole node, 8 GPUs are missed, not all that are free elsewhere. Of a GPU in shared use the
// free part counts, and of a job that asks for a share that share.
//
// A free GPU is of use if a waiting job may have its node, and the node has enough free of all that
// the job takes there. A job of several nodes counts as if the other nodes were there. The free
// part of a GPU in shared use is of use if such a job asks for no larger share. GPUs missed that
// GPUs of use cannot make up for are stranded, as in Weng et al. ("Beware of Fragmentation", USENIX
// ATC'23). They take the mean over kinds of jobs; this counts what none of the waiting jobs can
// use. Of alternatives the first counts.
type GPUQueue struct {
	// Seconds is how long jobs waited for GPUs.
	Seconds int64 `json:"s"`
	// Idle are GPUs that nobody has and somebody wants.
	Idle float64 `json:"idle"`
	// Stranded are those of them that are of no use where they are.
	Stranded float64 `json:"stranded"`
}

// LeafUse is below how many leaf switches jobs were.
type LeafUse struct {
	// Mean is of all jobs, WideMean of those of more than one node.
	Mean     float64 `json:"mean"`
	WideMean float64 `json:"wide_mean"`
	// Wide is how many jobs had more than one node, and Whole how many of these were below as few
	// leaves as so many nodes can be.
	Wide  int `json:"wide_jobs"`
	Whole int `json:"wide_jobs_below_fewest"`
}

// leafMeter counts leaves. The tree must be set.
type leafMeter struct {
	tree      *nodeset.Topology
	sprawl    place.Sprawl
	all, wide moments
	whole     int
}

func (m *leafMeter) add(segs []nodeset.Segment) {
	leaves, nodes := m.sprawl.Of(m.tree, 1, segs), nodeset.Nodes(segs)
	m.all.add(float64(leaves))
	if nodes < 2 {
		return
	}
	m.wide.add(float64(leaves))
	if leaves == m.tree.Fewest(1, nodes) {
		m.whole++
	}
}

func (m *leafMeter) result() *LeafUse {
	return &LeafUse{Mean: m.all.mean, WideMean: m.wide.mean, Wide: m.wide.n, Whole: m.whole}
}
