// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Machine is what the nodes of a machine have in all, with nothing running and all
// of them up. It is for many questions about one machine: most are answered from the few kinds of
// nodes that there are. It does not change, and any number of goroutines may use it.
type Machine struct {
	nodes []nodeset.Capacity
	kinds []kind
}

// kind is a number of nodes that are alike.
type kind struct {
	nodeset.Capacity
	count int
}

// NewMachine looks at the nodes of t. Time is linear in them.
func NewMachine(t *nodeset.Table) *Machine {
	m := &Machine{nodes: make([]nodeset.Capacity, t.Len())}
	count := map[nodeset.Capacity]int{}
	for n := range m.nodes {
		m.nodes[n] = t.Total(n)
		count[m.nodes[n]]++
	}
	for c, n := range count {
		m.kinds = append(m.kinds, kind{c, n})
	}
	slices.SortFunc(m.kinds, func(a, b kind) int { return cmp.Or(cmp.Compare(a.Cores, b.Cores), cmp.Compare(a.GPUs, b.GPUs)) })
	return m
}

// Is reports whether the machine's nodes are those of t.
func (m *Machine) Is(t *nodeset.Table) bool {
	if len(m.nodes) != t.Len() {
		return false
	}
	for n := range m.nodes {
		if m.nodes[n] != t.Total(n) {
			return false
		}
	}
	return true
}

// CanEverRun reports in words why a request could not be met even if nothing ran
// on t and all of its nodes were up; nil if it could. A malformed request gives
// the error of Validate.
func CanEverRun(t *nodeset.Table, r *Request) error { return NewMachine(t).CanEverRun(r) }

// FewestNodes is [Machine.FewestNodes] of the machine of t.
func FewestNodes(t *nodeset.Table, r *Request) (int, error) { return NewMachine(t).FewestNodes(r) }

// CanEverRun is as the function of that name.
func (m *Machine) CanEverRun(r *Request) error {
	_, err := m.FewestNodes(r)
	return err
}

// FewestNodes is the least number of nodes that r can be given if nothing
// runs and all nodes are up: what the packing factor (ipsched, section VI)
// compares with. It fails as CanEverRun does. Time is linear in the nodes for
// requests that are contiguous or may not use all nodes, and in the kinds of nodes for others.
func (m *Machine) FewestNodes(r *Request) (int, error) {
	sh, err := r.shape()
	if err != nil {
		return 0, err
	}
	kinds := m.kinds
	if r.Eligible != nil {
		kinds = m.eligible(r.Eligible)
	}
	if err := sh.noKind(kinds); err != nil {
		return 0, fmt.Errorf("can never run: %w", err)
	}
	var n int
	if sh.contiguous {
		n = sh.fewestInRun(m.nodes, r.Eligible)
	} else {
		n = sh.fewestOf(sh.rooms(kinds))
	}
	if n == 0 {
		return 0, fmt.Errorf("can never run: %w", sh.shortage(m.nodes, r.Eligible, kinds))
	}
	return n, nil
}

// eligible are the kinds of the nodes that a job may use.
func (m *Machine) eligible(mask nodeset.Mask) []kind {
	kinds := slices.Clone(m.kinds)
	for i := range kinds {
		kinds[i].count = 0
	}
	at := 0
	for n, c := range m.nodes {
		if !mask.Has(n) {
			continue
		}
		if kinds[at].Capacity != c { // mostly it is the last one's
			at = slices.IndexFunc(kinds, func(k kind) bool { return k.Capacity == c })
		}
		kinds[at].count++
	}
	return slices.DeleteFunc(kinds, func(k kind) bool { return k.count == 0 })
}

// room is what a node could give the job: 0 if it can't serve it.
func (sh *shape) room(c nodeset.Capacity) int {
	if int(c.GPUs) < sh.minGPUs || int(c.Cores) < sh.lo {
		return 0
	}
	return min(int(c.Cores), sh.hi)
}

// noKind says why not a single node can serve the job.
func (sh *shape) noKind(kinds []kind) error {
	if len(kinds) == 0 {
		return errors.New("it may use no node at all")
	}
	cores, gpus := 0, 0
	for _, k := range kinds {
		if sh.room(k.Capacity) > 0 {
			return nil
		}
		if gpus = max(gpus, int(k.GPUs)); int(k.GPUs) >= sh.minGPUs {
			cores = max(cores, int(k.Cores))
		}
	}
	if gpus < sh.minGPUs {
		return fmt.Errorf("needs %d GPUs on a node, most has %d", sh.minGPUs, gpus)
	}
	return fmt.Errorf("needs %d cores on a node, largest has %d", sh.lo, cores)
}

// rooms is how many nodes could give how many cores, the most first.
func (sh *shape) rooms(kinds []kind) []kind {
	var out []kind
	for _, k := range kinds {
		if c := sh.room(k.Capacity); c > 0 {
			out = append(out, kind{nodeset.Capacity{Cores: uint16(c)}, k.count})
		}
	}
	slices.SortFunc(out, func(a, b kind) int { return cmp.Compare(b.Cores, a.Cores) })
	return out
}

// fewestOf is the least number of nodes that hold the job, 0 if none does.
func (sh *shape) fewestOf(rooms []kind) int {
	nodes, sum := 0, 0
	for _, k := range rooms {
		c := int(k.Cores)
		need := max((sh.cores-sum+c-1)/c, sh.minNodes-nodes)
		if take := max(need, 0); take <= k.count {
			if nodes += take; nodes > sh.maxNodes {
				return 0
			}
			return nodes
		}
		if nodes, sum = nodes+k.count, sum+k.count*c; nodes > sh.maxNodes {
			return 0
		}
	}
	return 0
}

func (sh *shape) fewestInRun(nodes []nodeset.Capacity, mask nodeset.Mask) int {
	best, first, sum := 0, 0, 0
	for n := range nodes {
		c := sh.roomAt(nodes, mask, n)
		if c == 0 {
			first, sum = n+1, 0
			continue
		}
		sum += c
		for n-first+1 > sh.maxNodes || (n-first+1 > sh.minNodes && sum-sh.room(nodes[first]) >= sh.cores) {
			sum -= sh.room(nodes[first])
			first++
		}
		if k := n - first + 1; k >= sh.minNodes && sum >= sh.cores && (best == 0 || k < best) {
			best = k
		}
	}
	return best
}

func (sh *shape) roomAt(nodes []nodeset.Capacity, mask nodeset.Mask, n int) int {
	if !mask.Has(n) {
		return 0
	}
	return sh.room(nodes[n])
}

// shortage says why the job fits nowhere: too few nodes, or too few cores.
func (sh *shape) shortage(all []nodeset.Capacity, mask nodeset.Mask, kinds []kind) error {
	where, nodes, most := "", 0, 0
	if sh.contiguous {
		where = " consecutive"
		nodes, most = sh.mostInRun(all, mask)
	} else {
		left := sh.maxNodes
		for _, k := range sh.rooms(kinds) {
			nodes += k.count
			take := min(k.count, left)
			most, left = most+take*int(k.Cores), left-take
		}
	}
	if nodes < sh.minNodes {
		return fmt.Errorf("needs %d%s nodes that can serve it, there are %d", sh.minNodes, where, nodes)
	}
	if sh.maxNodes == 1 {
		return fmt.Errorf("needs %d cores on a node, largest has %d", sh.cores, most)
	}
	if nodes > sh.maxNodes {
		where = fmt.Sprintf(" %d%s", sh.maxNodes, where)
	}
	return fmt.Errorf("needs %d cores, its%s nodes have at most %d", sh.cores, where, most)
}

// mostInRun is the longest run of nodes that can serve the job, and the most cores that
// as many of them as it may have give.
func (sh *shape) mostInRun(nodes []nodeset.Capacity, mask nodeset.Mask) (longest, most int) {
	first, sum, run := 0, 0, 0
	for n := range nodes {
		c := sh.roomAt(nodes, mask, n)
		if c == 0 {
			first, sum, run = n+1, 0, 0
			continue
		}
		run++
		longest = max(longest, run)
		if sum += c; n-first+1 > sh.maxNodes {
			sum -= sh.room(nodes[first])
			first++
		}
		most = max(most, sum)
	}
	return longest, most
}
