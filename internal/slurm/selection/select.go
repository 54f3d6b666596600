// SPDX-License-Identifier: BSD-3-Clause

// Package selection chooses nodes for single jobs as stock Slurm does.
package selection

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Selector chooses nodes and cores for one job as Slurm does: the nodes are a one-dimensional
// array, and the job gets the fewest, best-fitting sets of consecutive nodes. The rules are those
// of Slurm 22.05's select/cons_tres (job_test.c: choose_nodes, _eval_nodes, _cpus_to_use;
// dist_tasks.c), on nodes of one weight, a thread a core, and without required nodes:
//
//   - The job needs at least one core of a node, TasksPerNode where that is given,
//     and all of its cores where it may have but one node. Runs of nodes that have
//     them are its sets.
//   - While the job lacks cores or nodes it takes from the set that fits best: of
//     those that suffice the one with fewest cores, else the one with most. (A set
//     that has more cores than the best so far but too few nodes replaces it, even
//     one that suffices. Slurm's test does that, so this one does.)
//   - If one more node is enough and a node of the set holds all that is missing,
//     the fullest such node is taken; otherwise nodes from the set's lowest on.
//   - For a job with GPUs and a known number of tasks a node, nodes count as if they had cores for
//     these and no more. It is known by TasksPerNode, from one node, or from as many tasks as
//     nodes. Of nodes alike in that the lowest is taken (gres_select_filter_sock_core of
//     gres_select_filter.c clears the other cores).
//   - A node gives all it has, save one core for each node that the job must still
//     get. Given a range of nodes, Slurm aims at its upper end.
//   - If that fails, the nodes with fewest cores are left out and all is tried again,
//     threshold by threshold, as a cheap cure for the knapsack problem.
//   - Where the job takes further resources a node has as many cores as these suffice for.
//   - A share of a GPU (gres/shard) is on the first GPU of the node with room for it, by number,
//     whether shared or free. So has gres_select_filter.c of Slurm 24.11: _set_shared_node_bits,
//     _pick_shared_gres_topo; without LL_SHARED_GRES and MULTIPLE_SHARING_GRES_PJ. GPUs that are
//     given whole have no number here: a share may have one that Slurm would not come to yet.
//   - Cores beyond the request are given back as Slurm's task distribution does:
//     one core to each node, then one more to each in turn.
//
// As in Slurm this is greedy: it may find nothing although something fits. One thing is better:
// with --contiguous and a limit on nodes Slurm may leave gaps. Here such a job gets the lowest
// nodes of the set that hold it without any.
//
// With a Tree it chooses as topology/tree does (_eval_nodes_topo), except for contiguous jobs.
//
// The zero Selector is ready. It keeps scratch memory only.
type Selector struct {
	// Tree is where the nodes stand; nil: on a line.
	Tree *nodeset.Topology

	tree   tree
	cand   []uint64 // nodes that may be chosen
	chosen []uint64
	got    []uint16 // cores of the chosen nodes, by node
	sets   []consec
	counts []int32

	limited place.Limited // the table as the job sees it
}

// consec is a set of consecutive nodes.
type consec struct {
	first, last int32
	cores       int64
}

// Select appends to dst the allocation that Slurm would give r on t, and reports whether there is
// one. It has nodes of avail (nil: all) that are up and eligible. Every node gives r.MinGPUs GPUs:
// stock Slurm knows no ranges. t is not changed. A job that takes no core has none. The error is
// that of r.Validate. Time is linear in the number of nodes, times the sets that make up the job.
func (s *Selector) Select(t *nodeset.Table, r *bids.Request, avail nodeset.Mask, dst []nodeset.Segment) ([]nodeset.Segment, bool, error) {
	sh, err := place.SpecOf(r)
	if err != nil {
		return dst, false, err
	}
	if sh.Coreless() || place.CheckUses(sh.More(), t.Resources()) != nil {
		return dst, false, nil // Slurm has no such jobs, or no node has what it uses
	}
	machine, share := t, t.ShareOf(sh.More())
	if share > 0 && sh.GPUs.PerNode.Max > 0 {
		return dst, false, nil // Slurm refuses to give both
	}
	t = s.limited.Of(t, &sh)
	q := newQuery(&sh, r)
	if n := s.candidates(t, &q, r.Eligible, avail); n < q.minNodes {
		return dst, false, nil
	}
	if !s.choose(t, &q) {
		return dst, false, nil
	}
	s.giveBack(&sh)
	start := len(dst)
	for w, word := range s.chosen {
		for ; word != 0; word &= word - 1 {
			n := int32(w<<6 + bits.TrailingZeros64(word))
			seg := nodeset.Segment{First: n, Last: n, Cores: s.got[n], GPUs: uint8(sh.GPUs.PerNode.Min)}
			if share > 0 {
				seg.Bin = firstDevice(machine, int(n), share)
			}
			if len(dst) == start {
				dst = append(dst, seg)
			} else {
				dst = nodeset.Append(dst, seg)
			}
		}
	}
	return dst, true, nil
}

// query is a request in the terms of Slurm's job_details.
type query struct {
	cores      int // min_cpus
	minNodes   int // min_nodes
	maxNodes   int // max_nodes
	reqNodes   int // req_nodes: the number of nodes that is aimed at
	least      int // free cores without which a node is of no use
	most       int // cores that a node may give
	perNode    int // pn_min_cpus: cores that each node gives at least
	gpus       int
	contiguous bool
}

func newQuery(sh *place.Spec, r *bids.Request) query {
	q := query{
		cores: sh.Cores.Total, minNodes: sh.Nodes.Min, maxNodes: sh.Nodes.Max, reqNodes: sh.Nodes.Min,
		least: 1, most: sh.Cores.PerNode.Max, perNode: 1, gpus: sh.GPUs.PerNode.Min, contiguous: sh.Contiguous,
	}
	if r.MaxNodes > 0 {
		q.reqNodes = sh.Nodes.Max
	}
	switch {
	case r.TasksPerNode > 0:
		q.least, q.perNode = sh.Cores.PerNode.Max, sh.Cores.PerNode.Max
	case sh.Nodes.Max == 1:
		q.least = sh.Cores.Total
	}
	if tasks := tasksPerNode(sh, r); q.gpus > 0 && tasks > 0 {
		q.most = min(q.most, tasks)
	}
	if q.cores == 0 {
		q.cores = sh.Nodes.Min * sh.Cores.PerNode.Min
	}
	return q
}

// tasksPerNode is how many tasks, of a core each, _select_cores finds each node to have, 0 where
// that is open.
func tasksPerNode(sh *place.Spec, r *bids.Request) int {
	switch total := sh.Cores.Total; {
	case r.TasksPerNode > 0:
		return r.TasksPerNode
	case sh.Nodes.Max == 1:
		return total
	case total == 1, total == sh.Nodes.Min && total == sh.Nodes.Max:
		return 1
	}
	return 0
}

// candidates sets s.cand and returns the number of nodes in it.
func (s *Selector) candidates(t *nodeset.Table, q *query, eligible, avail nodeset.Mask) int {
	usable, free := t.Usable(q.gpus), t.FreeCores()
	s.cand = s.cand[:0]
	n := 0
	for w, word := range usable {
		word &= eligible.Word(w) & avail.Word(w)
		if q.least > 1 {
			for left := word; left != 0; left &= left - 1 {
				if b := bits.TrailingZeros64(left); int(free[w<<6+b]) < q.least {
					word &^= 1 << b
				}
			}
		}
		s.cand = append(s.cand, word)
		n += bits.OnesCount64(word)
	}
	return n
}

// choose is choose_nodes: evaluate, and on failure leave out the poorest nodes.
func (s *Selector) choose(t *nodeset.Table, q *query) bool {
	s.findSets(t, q)
	if !s.mayFit(t, q) {
		return false
	}
	if s.evaluate(t, q) {
		return true
	}
	left := 0
	for _, w := range s.cand {
		left += bits.OnesCount64(w)
	}
	for floor := 0; left > q.minNodes; {
		floor = s.poorest(t, q, floor)
		if floor == 0 {
			return false
		}
		left = s.leaveOut(t, q, floor, left)
		s.findSets(t, q)
		if s.evaluate(t, q) {
			return true
		}
	}
	return false
}

// worth is what choose_nodes ranks nodes by: cores, and GPUs for jobs with GPUs.
func (q *query) worth(t *nodeset.Table, n int) int {
	w := min(int(t.FreeCores()[n]), q.most)
	if q.gpus > 0 {
		w += int(t.FreeGPUs()[n])
	}
	return w
}

// poorest is the least worth above floor of any candidate but the richest, which
// are never left out; 0 if there is none.
func (s *Selector) poorest(t *nodeset.Table, q *query, floor int) int {
	least, most := 0, 0
	for w, word := range s.cand {
		for ; word != 0; word &= word - 1 {
			v := q.worth(t, w<<6+bits.TrailingZeros64(word))
			most = max(most, v)
			if v > floor && (least == 0 || v < least) {
				least = v
			}
		}
	}
	if least == most {
		return 0
	}
	return least
}

// leaveOut removes the candidates worth floor, lowest first, while more than
// minNodes are left. It returns the number that is left.
func (s *Selector) leaveOut(t *nodeset.Table, q *query, floor, left int) int {
	for w := range s.cand {
		for word := s.cand[w]; word != 0 && left > q.minNodes; word &= word - 1 {
			b := bits.TrailingZeros64(word)
			if q.worth(t, w<<6+b) <= floor {
				s.cand[w] &^= 1 << b
				left--
			}
		}
	}
	return left
}

// findSets sets s.sets to the runs of candidates.
func (s *Selector) findSets(t *nodeset.Table, q *query) {
	free := t.FreeCores()
	s.sets = s.sets[:0]
	end := int32(-2) // the node after the last run
	for w, word := range s.cand {
		for ; word != 0; word &= word - 1 {
			n := int32(w<<6 + bits.TrailingZeros64(word))
			if n != end {
				s.sets = append(s.sets, consec{first: n})
			}
			set := &s.sets[len(s.sets)-1]
			set.last = n
			set.cores += int64(min(int(free[n]), q.most))
			end = n + 1
		}
	}
}

// mayFit is a quick test: where it is false no choice of candidates can do.
func (s *Selector) mayFit(t *nodeset.Table, q *query) bool {
	nodes, cores := 0, int64(0)
	for _, set := range s.sets {
		n := int(set.last-set.first) + 1
		if q.contiguous {
			if n >= q.minNodes && set.cores >= int64(q.cores) {
				return true
			}
			continue
		}
		nodes += n
		cores += set.cores
	}
	if q.contiguous || nodes < q.minNodes || cores < int64(q.cores) {
		return false
	}
	return nodes <= q.maxNodes || s.richest(t, q) >= int64(q.cores)
}

// richest is the number of cores of the maxNodes richest candidates.
func (s *Selector) richest(t *nodeset.Table, q *query) int64 {
	free := t.FreeCores()
	if q.maxNodes == 1 {
		most := 0
		for _, set := range s.sets {
			for n := set.first; n <= set.last; n++ {
				most = max(most, min(int(free[n]), q.most))
			}
		}
		return int64(most)
	}
	s.counts = s.counts[:0]
	for _, set := range s.sets {
		for n := set.first; n <= set.last; n++ {
			c := min(int(free[n]), q.most)
			for len(s.counts) <= c {
				s.counts = append(s.counts, 0)
			}
			s.counts[c]++
		}
	}
	sum, left := int64(0), q.maxNodes
	for c := len(s.counts) - 1; c > 0 && left > 0; c-- {
		n := min(left, int(s.counts[c]))
		sum += int64(n) * int64(c)
		left -= n
	}
	return sum
}

// want is what a job still lacks while it is evaluated.
type want struct {
	cores    int // rem_cpus, rem_max_cpus
	nodes    int // rem_nodes: up to the number aimed at
	minNodes int // min_rem_nodes: up to the least number
	maxNodes int // max_nodes: that may still be added
}

func (w *want) met() bool { return w.nodes <= 0 && w.cores <= 0 }

// evaluate is _eval_nodes: it fills s.chosen and s.got, and uses up s.sets.
func (s *Selector) evaluate(t *nodeset.Table, q *query) bool {
	if s.Tree != nil && !q.contiguous {
		return s.evaluateTree(t, q)
	}
	s.chosen = append(s.chosen[:0], s.cand...)
	clear(s.chosen)
	if n := t.Len(); len(s.got) < n {
		s.got = append(s.got[:0], make([]uint16, n)...)
	}
	w := want{q.cores, max(q.minNodes, q.reqNodes), q.minNodes, q.maxNodes}
	slack := q.reqNodes - q.minNodes // nodes that are aimed at but not needed
	for len(s.sets) > 0 && w.maxNodes > 0 && !w.met() {
		best, suffices := s.bestSet(&w, slack)
		if q.contiguous && !suffices {
			break // no hole is large enough
		}
		set := s.sets[best]
		if q.contiguous {
			set.first = lowestStart(t.FreeCores(), q, set)
		}
		s.takeFrom(t.FreeCores(), q, &w, set)
		if q.contiguous {
			break
		}
		s.sets = slices.Delete(s.sets, best, best+1)
	}
	return w.cores <= 0 && w.nodes <= slack
}

// bestSet is the set to take from next, and whether it is all that is needed.
func (s *Selector) bestSet(w *want, slack int) (best int, suffices bool) {
	var cores int64
	for i, set := range s.sets {
		ok := set.cores >= int64(w.cores) && int(set.last-set.first)+1 >= w.nodes-slack
		if i == 0 || (ok && (!suffices || set.cores < cores)) || (!ok && set.cores > cores) {
			best, suffices, cores = i, ok, set.cores
		}
	}
	return best, suffices
}

// takeFrom takes nodes of a set until the job has all or the set is used up.
func (s *Selector) takeFrom(free []uint16, q *query, w *want, set consec) {
	if w.nodes <= 1 {
		if n, ok := fullestFit(free, q, w.cores, set); ok {
			set.first, set.last = n, n
		}
	}
	for n := set.first; n <= set.last && w.maxNodes > 0 && !w.met(); n++ {
		give := min(int(free[n]), q.most)
		if w.maxNodes == 1 && give < w.cores {
			continue // the last node has to hold the rest
		}
		give = min(give, max(w.cores-max(w.minNodes-1, 0), q.perNode))
		s.chosen[n>>6] |= 1 << (n & 63)
		s.got[n] = uint16(give)
		w.cores -= give
		w.nodes--
		w.minNodes--
		w.maxNodes--
	}
}

// lowestStart is the first node of a set from which maxNodes nodes hold the job;
// past the end if there is none.
func lowestStart(free []uint16, q *query, set consec) int32 {
	first, cores := set.first, 0
	for n := set.first; n <= set.last; n++ {
		cores += min(int(free[n]), q.most)
		if int(n-first) == q.maxNodes {
			cores -= min(int(free[first]), q.most)
			first++
		}
		if cores >= q.cores && int(set.last-first)+1 >= q.minNodes {
			return first
		}
	}
	return set.last + 1
}

// fullestFit finds the node of a set with fewest free cores, but enough.
func fullestFit(free []uint16, q *query, cores int, set consec) (node int32, ok bool) {
	size := 0
	for n := set.first; n <= set.last; n++ {
		c := min(int(free[n]), q.most)
		if c < cores || (ok && c >= size) {
			continue
		}
		node, size, ok = n, c, true
		if c == cores {
			break
		}
	}
	return node, ok
}

// giveBack lowers s.got to the total asked for, by _dist_tasks_compute_c_b.
func (s *Selector) giveBack(sh *place.Spec) {
	if sh.Cores.Total == 0 {
		return // type 3: as many as each node gives
	}
	upTo := func(height int) (sum int) {
		for w, word := range s.chosen {
			for ; word != 0; word &= word - 1 {
				sum += min(int(s.got[w<<6+bits.TrailingZeros64(word)]), height)
			}
		}
		return sum
	}
	if upTo(bids.MaxCoresPerNode) == sh.Cores.Total {
		return
	}
	// the most rounds that all cores allow
	lo := 1 + sort.Search(bids.MaxCoresPerNode-1, func(i int) bool { return upTo(i+2) > sh.Cores.Total })
	extra := sh.Cores.Total - upTo(lo)
	for w, word := range s.chosen {
		for ; word != 0; word &= word - 1 {
			got := &s.got[w<<6+bits.TrailingZeros64(word)]
			switch {
			case int(*got) <= lo:
			case extra > 0:
				*got = uint16(lo + 1)
				extra--
			default:
				*got = uint16(lo)
			}
		}
	}
}

// firstDevice is the first GPU of node n that has room for a share, one in shared use or one that
// is free; the node has such a GPU.
func firstDevice(t *nodeset.Table, n int, share int64) uint8 {
	resource, _ := t.Shares()
	whole := t.FreeGPUs()[n] > 0 && t.TotalOf(resource)[n] >= share
	for i, free := range t.BinsLeft(n) {
		if int64(free) >= share || free < 0 && whole {
			return uint8(i + 1)
		}
	}
	return 0
}
