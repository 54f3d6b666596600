// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/intprog"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Direct is AUCSCHED1's program of a window (aucsched1, section 3, equations 1-8): a bid
// names its nodes, and the program says how many cores each of them gives. With
//
//	b_jc  bid of job j on class c wins
//	u_jn  node n is among those of job j's winning bid
//	r_jn  cores that job j gets on node n beyond the first
//
// it maximises the sum of (P_j + alpha F_jc) b_jc (1) subject to
//
//	sum_c b_jc <= 1                                    each job; = 1 if it is required (2)
//	sum_{n in N_c} u_jn >= R_jc^node b_jc              each bid                        (3)
//	sum_n u_jn = sum_c R_jc^node b_jc                  each job                        (3)
//	sum_n (u_jn + r_jn) = sum_c R_jc^cpu b_jc          each job                        (4)
//	sum_j (u_jn + r_jn) <= A_n^cpu                     each node                       (5)
//	sum_j R_j^gpu u_jn <= A_n^gpu                      each node                       (6)
//	r_jn <= u_jn min(A_n^cpu - 1, R_jmax^cpu - 1)      each job and node               (7)
//	u_jn + r_jn = R_j^cpn sum_{c: n in N_c} b_jc       each node of jobs of type 3     (8)
//
// Equation 3 is printed as an equality for every bid by itself. Of two bids of one job
// that share a node it then forbids both, since u_jn knows the job and not the bid; the
// two inequalities above say what is meant, and the same for bids that share none. A
// class has exactly the nodes of its bid, |N_c| = R^node: section 4 has a bid class
// "require as few nodes as possible" of a nodeset, and with more nodes a contiguous job
// could get nodes with gaps. In equation 6 a job whose bids differ in GPUs counts those of
// its winning bid (aucsched2, section 3), and in (7) --ntasks-per-node counts where it is a limit.
// Reservations have rows (5) and (6) of their own, for the jobs that run into them. Quotas have a
// row each, for what the bids count that win.
// A job with several variants has u and r, and rows (3), (4), (7) and (8), for each, as if they
// were several jobs; (2) holds for the bids of all of them together.
type Direct struct {
	intprog.Program
	pair     map[[2]int32]int32 // ask and node -> column of u; r follows it
	on       [][]bidOn          // by ask: the nodes on which it bids
	variants []market.Variant
	book     *market.Book
}

// PaperSize is how many variables and constraints the model of aucsched1 has as it is
// printed, for so many jobs, nodes and bids: (2), (4) |J| each, (3) |B|, (5), (6) |N| each,
// (7) |J||N|, and (8) |N| for each job of type 3.
func PaperSize(jobs, nodes, bids, type3 int64) (columns, rows int64) {
	return bids + 2*jobs*nodes, 2*jobs + bids + 2*nodes + jobs*nodes + type3*nodes
}

// NewDirect makes the program of the window of which m is AUCSCHED2's model, by
// [market.Builder.Build]: its columns' worths and required jobs count. It has u and r only for
// nodes on which the job bids.
func NewDirect(space *market.Space, variants []market.Variant, book *market.Book, m *ipmodel.Model) (*Direct, error) {
	d := &Direct{pair: make(map[[2]int32]int32), variants: variants, book: book}
	for i := range book.Bids {
		d.AddColumn(fmt.Sprintf("b%d", i), m.Value[i], 1)
	}
	for j, job := 0, 0; j < len(variants); job++ {
		end := market.NextJob(variants, j)
		d.addOne(job, book.JobStart[j], book.JobStart[end], m.IsRequired(job))
		for ; j < end; j++ {
			if err := d.addAsk(int32(j), space); err != nil {
				return nil, fmt.Errorf("job %d: %w", job, err)
			}
		}
	}
	d.addCapacities(0, space.Now)
	for k, left := range space.Left {
		d.addCapacities(k+1, left)
	}
	d.addQuotas(space)
	return d, nil
}

// addOne adds row (2) of a job, which has the bids first to last-1.
func (d *Direct) addOne(job int, first, last int32, required bool) {
	if first == last && !required {
		return
	}
	low := int64(intprog.NoLow)
	if required {
		low = 1
	}
	d.OpenRow(fmt.Sprintf("one%d", job), low, 1)
	for i := first; i < last; i++ {
		d.AddEntry(i, 1)
	}
}

// addAsk adds the columns of ask j and its rows (3), (4), (7) and (8).
func (d *Direct) addAsk(j int32, space *market.Space) error {
	first, last := d.book.JobStart[j], d.book.JobStart[j+1]
	if first == last {
		d.on = append(d.on, nil)
		return nil
	}
	spec := &d.variants[j].Spec
	if !spec.Valid() {
		return errors.New("it bids without a valid request")
	}
	cores := spec.Cores.PerNode
	nodes := d.addPairs(j)
	for i := first; i < last; i++ {
		d.OpenRow(fmt.Sprintf("in%d", i), 0, intprog.NoHigh)
		d.eachNode(i, func(n int32) { d.AddEntry(d.pair[[2]int32{j, n}], 1) })
		d.AddEntry(i, -int64(nodeset.Nodes(d.book.Allocation(int(i)))))
	}
	d.addTotals(j, nodes)
	for _, n := range nodes {
		u := d.pair[[2]int32{j, n.node}]
		room := max(min(d.free(space, j, n.node), int64(cores.Max), int64(d.maxCores(j)))-1, 0)
		d.Upper[u+1] = room
		d.OpenRow(fmt.Sprintf("rest%d_%d", j, n.node), intprog.NoLow, 0)
		d.AddEntry(u+1, 1)
		d.AddEntry(u, -room)
		if spec.Exact() {
			d.OpenRow(fmt.Sprintf("cpn%d_%d", j, n.node), 0, 0)
			d.AddEntry(u, 1)
			d.AddEntry(u+1, 1)
			for _, i := range n.bids {
				d.AddEntry(i, -int64(cores.Min))
			}
		}
	}
	return nil
}

// bidOn are the bids of a job that are on a node: C_jn.
type bidOn struct {
	node int32
	bids []int32
}

// addPairs adds u and r for the nodes on which job j bids, and returns these.
func (d *Direct) addPairs(j int32) (nodes []bidOn) {
	place := make(map[int32]int)
	for i := d.book.JobStart[j]; i < d.book.JobStart[j+1]; i++ {
		d.eachNode(i, func(n int32) {
			at, ok := place[n]
			if !ok {
				at, place[n] = len(nodes), len(nodes)
				d.pair[[2]int32{j, n}] = d.AddColumn(fmt.Sprintf("u%d_%d", j, n), 0, 1)
				d.AddColumn(fmt.Sprintf("r%d_%d", j, n), 0, 0)
				nodes = append(nodes, bidOn{node: n})
			}
			nodes[at].bids = append(nodes[at].bids, i)
		})
	}
	d.on = append(d.on, nodes)
	return nodes
}

// addTotals adds the job's rows for its number of nodes and of cores.
func (d *Direct) addTotals(j int32, nodes []bidOn) {
	for cores := range int32(2) {
		d.OpenRow(fmt.Sprintf("%s%d", [...]string{"nodes", "cores"}[cores], j), 0, 0)
		for _, n := range nodes {
			for k := range cores + 1 {
				d.AddEntry(d.pair[[2]int32{j, n.node}]+k, 1)
			}
		}
		for i := d.book.JobStart[j]; i < d.book.JobStart[j+1]; i++ {
			need := nodeset.Nodes(d.book.Allocation(int(i)))
			if cores == 1 {
				need = nodeset.Cores(d.book.Allocation(int(i)))
			}
			d.AddEntry(i, -int64(need))
		}
	}
}

// entry is a column with its coefficient.
type entry struct {
	col  int32
	coef int64
}

// addCapacities adds rows (5) and (6) for what is free now, or what reservation k-1 leaves.
func (d *Direct) addCapacities(k int, t *nodeset.Table) {
	cores, gpus := make([][]entry, t.Len()), make([][]entry, t.Len())
	for j, nodes := range d.on {
		if d.variants[j].Crosses < k {
			continue
		}
		for _, n := range nodes {
			u := d.pair[[2]int32{int32(j), n.node}]
			cores[n.node] = append(cores[n.node], entry{u, 1}, entry{u + 1, 1})
			gpus[n.node] = d.addGPUs(gpus[n.node], j, u, n)
		}
	}
	for n := range cores {
		d.addCapacity(fmt.Sprintf("cpu%d_%d", k, n), cores[n], int64(t.FreeCores()[n]))
		d.addCapacity(fmt.Sprintf("gpu%d_%d", k, n), gpus[n], int64(t.FreeGPUs()[n]))
	}
}

func (d *Direct) addCapacity(name string, entries []entry, capacity int64) {
	if len(entries) == 0 {
		return
	}
	d.OpenRow(name, intprog.NoLow, capacity)
	for _, e := range entries {
		d.AddEntry(e.col, e.coef)
	}
}

// addGPUs appends what ask j takes of a node's GPUs: R_j^gpu for u_jn, or where its bids
// differ in that, what each of those on the node does.
func (d *Direct) addGPUs(dst []entry, j int, u int32, on bidOn) []entry {
	all := d.book.Of(j)
	if !d.variants[j].Spec.MixedGPUs && !slices.ContainsFunc(all, func(b market.Bid) bool { return b.GPUs != all[0].GPUs }) {
		if all[0].GPUs == 0 {
			return dst
		}
		return append(dst, entry{u, int64(all[0].GPUs)})
	}
	for _, i := range on.bids {
		if g := gpusOn(d.book.Allocation(int(i)), on.node); g > 0 {
			dst = append(dst, entry{i, int64(g)})
		}
	}
	return dst
}

// gpusOn is how many GPUs an allocation has of a node, which is one of its.
func gpusOn(segs []nodeset.Segment, n int32) uint8 {
	i, _ := slices.BinarySearchFunc(segs, n, func(s nodeset.Segment, n int32) int { return cmp.Compare(s.Last, n) })
	return segs[i].GPUs
}

// maxCores is R_jmax^cpu, the most cores that any bid of job j asks for.
func (d *Direct) maxCores(j int32) (most int) {
	for i := d.book.JobStart[j]; i < d.book.JobStart[j+1]; i++ {
		most = max(most, nodeset.Cores(d.book.Allocation(int(i))))
	}
	return most
}

// free is what node n has for job j.
func (d *Direct) free(space *market.Space, j, n int32) int64 {
	free := space.Now.FreeCores()[n]
	for _, t := range space.Left[:d.variants[j].Crosses] {
		free = min(free, t.FreeCores()[n])
	}
	return int64(free)
}

func (d *Direct) eachNode(bid int32, visit func(n int32)) {
	for _, s := range d.book.Allocation(int(bid)) {
		for n := s.First; n <= s.Last; n++ {
			visit(n)
		}
	}
}

// Values are the variables of a choice of bids with these layouts, one for each of chosen,
// so that [intprog.Program.Check] can judge it.
func (d *Direct) Values(chosen []int32, layouts [][]nodeset.Segment) ([]int64, error) {
	x := make([]int64, d.Columns())
	for k, i := range chosen {
		x[i]++
		for _, s := range layouts[k] {
			for n := s.First; n <= s.Last; n++ {
				u, ok := d.pair[[2]int32{d.book.Bids[i].Job, n}]
				if !ok {
					return nil, fmt.Errorf("bid %d: the job does not bid for node %d", i, n)
				}
				x[u]++
				x[u+1] += int64(s.Cores) - 1
			}
		}
	}
	return x, nil
}
