package nodeset

import "fmt"

// MaxNodes is the greatest number of nodes of a Table.
const MaxNodes = 1 << 20

// Capacity is what one node has in all, or has free.
type Capacity struct {
	Cores uint16
	GPUs  uint8
}

// Table is the availability of N nodes. See the package comment.
type Table struct {
	total []Capacity
	cores []uint16 // free cores of each node
	gpus  []uint8  // free GPUs of each node
	down  []uint64 // bit n: node n gives nothing
	// level[g] has bit n where node n is up, has a free core and g free GPUs.
	level [][]uint64
	// block[w] is the sum of free cores of the nodes of word w, so that a scan
	// passes a whole word of nodes that are all in without reading their cores.
	block []uint32
	// freeCores and freeGPUs are sums over all nodes, also those that are down.
	freeCores, freeGPUs int64
}

// New returns the table of a machine with the given nodes, all free. The slice is
// copied. It fails for no node at all and for more than MaxNodes.
func New(nodes []Capacity) (*Table, error) {
	n := len(nodes)
	if n == 0 {
		return nil, fmt.Errorf("a machine needs at least one node")
	}
	if n > MaxNodes {
		return nil, fmt.Errorf("%d nodes: at most %d are supported", n, MaxNodes)
	}
	t := &Table{
		total: append([]Capacity(nil), nodes...),
		cores: make([]uint16, n),
		gpus:  make([]uint8, n),
		down:  make([]uint64, words(n)),
		block: make([]uint32, words(n)),
	}
	levels := 0
	for i, c := range nodes {
		t.cores[i], t.gpus[i] = c.Cores, c.GPUs
		t.block[i>>6] += uint32(c.Cores)
		t.freeCores += int64(c.Cores)
		t.freeGPUs += int64(c.GPUs)
		levels = max(levels, int(c.GPUs))
	}
	for range levels + 1 {
		t.level = append(t.level, make([]uint64, words(n)))
	}
	for i := range nodes {
		t.mark(i)
	}
	return t, nil
}

// NewUniform returns the table of n equal nodes.
func NewUniform(n int, c Capacity) (*Table, error) {
	if n < 0 || n > MaxNodes {
		return nil, fmt.Errorf("%d nodes: between 1 and %d are supported", n, MaxNodes)
	}
	nodes := make([]Capacity, n)
	for i := range nodes {
		nodes[i] = c
	}
	return New(nodes)
}

func words(n int) int { return (n + 63) / 64 }

// Len is the number of nodes.
func (t *Table) Len() int { return len(t.total) }

// Total is what node n has in all.
func (t *Table) Total(n int) Capacity { return t.total[n] }

// Free is what node n has free, whether it is up or not.
func (t *Table) Free(n int) Capacity { return Capacity{t.cores[n], t.gpus[n]} }

// FreeCores are the free cores of all nodes, indexed by node. The slice belongs
// to the table: read it only, and not after the table's next change.
func (t *Table) FreeCores() []uint16 { return t.cores }

// FreeGPUs are the free GPUs of all nodes, under the same terms as FreeCores.
func (t *Table) FreeGPUs() []uint8 { return t.gpus }

// Up reports whether node n may be used at all.
func (t *Table) Up(n int) bool { return t.down[n>>6]>>(n&63)&1 == 0 }

// MaxGPUs is the most GPUs that any node has in all.
func (t *Table) MaxGPUs() int { return len(t.level) - 1 }

// SumFree is the number of free cores and GPUs of all nodes, down ones included.
func (t *Table) SumFree() (cores, gpus int64) { return t.freeCores, t.freeGPUs }

// Usable is the mask of the nodes that are up and have a free core and at least
// g free GPUs; it is empty, not nil, where no node could ever have g. It belongs
// to the table and is valid until its next change.
func (t *Table) Usable(g int) Mask {
	if g >= len(t.level) {
		return Mask{}
	}
	return t.level[g]
}

// SetUp says whether node n may be used (true) or is drained or down (false).
// What jobs hold on it stays held.
func (t *Table) SetUp(n int, up bool) {
	if up {
		t.down[n>>6] &^= 1 << (n & 63)
	} else {
		t.down[n>>6] |= 1 << (n & 63)
	}
	t.mark(n)
}

// SetFree sets what node n has free. It fails if that is more than its total.
func (t *Table) SetFree(n int, c Capacity) error {
	if n < 0 || n >= t.Len() {
		return fmt.Errorf("node %d is outside 0-%d", n, t.Len()-1)
	}
	if c.Cores > t.total[n].Cores || c.GPUs > t.total[n].GPUs {
		return fmt.Errorf("node %d: %d cores and %d GPUs free of %d and %d", n, c.Cores, c.GPUs, t.total[n].Cores, t.total[n].GPUs)
	}
	t.block[n>>6] += uint32(c.Cores) - uint32(t.cores[n])
	t.freeCores += int64(c.Cores) - int64(t.cores[n])
	t.freeGPUs += int64(c.GPUs) - int64(t.gpus[n])
	t.cores[n], t.gpus[n] = c.Cores, c.GPUs
	t.mark(n)
	return nil
}

// mark sets node n's bit in each level from its numbers.
func (t *Table) mark(n int) {
	w, bit := n>>6, uint64(1)<<(n&63)
	g := -1
	if t.cores[n] > 0 && t.down[w]&bit == 0 {
		g = int(t.gpus[n])
	}
	for l := range t.level {
		if l <= g {
			t.level[l][w] |= bit
		} else {
			t.level[l][w] &^= bit
		}
	}
}

// Allocate takes an allocation off the free cores and GPUs. If anything of it is
// not free, on a node that is down or in bad form, it changes nothing and says
// what is wrong. Time is in the number of nodes of the allocation.
func (t *Table) Allocate(segs []Segment) error {
	if err := CheckSegments(segs, t.Len()); err != nil {
		return err
	}
	if n, s, ok := t.lacking(segs); ok {
		return fmt.Errorf("node %d (up: %t) has %d cores and %d GPUs free: %d and %d are asked for",
			n, t.Up(int(n)), t.cores[n], t.gpus[n], s.Cores, s.GPUs)
	}
	for _, s := range segs {
		t.take(s)
	}
	return nil
}

// Fits reports whether Allocate would take an allocation, which has to be in good
// form.
func (t *Table) Fits(segs []Segment) bool {
	_, _, lacks := t.lacking(segs)
	return !lacks
}

// lacking finds the first node that can't give what segs ask of it, if there is one.
func (t *Table) lacking(segs []Segment) (node int32, s Segment, ok bool) {
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			if t.cores[n] < s.Cores || t.gpus[n] < s.GPUs || !t.Up(int(n)) {
				return n, s, true
			}
		}
	}
	return 0, Segment{}, false
}

func (t *Table) take(s Segment) {
	t.freeCores -= int64(s.Len()) * int64(s.Cores)
	t.freeGPUs -= int64(s.Len()) * int64(s.GPUs)
	for n := s.First; n <= s.Last; n++ {
		w, bit := n>>6, uint64(1)<<(n&63)
		was := t.gpus[n]
		t.block[w] -= uint32(s.Cores)
		t.cores[n] -= s.Cores
		t.gpus[n] -= s.GPUs
		low := int(t.gpus[n]) + 1 // levels from here on are lost
		if t.cores[n] == 0 {
			low = 0
		}
		for l := low; l <= int(was); l++ {
			t.level[l][w] &^= bit
		}
	}
}

// Release gives an allocation back. If that would leave a node with more free
// than it has in all, or the form is bad, it changes nothing and says so. It is
// allowed on nodes that are down. Time is in the number of nodes released.
func (t *Table) Release(segs []Segment) error {
	if err := CheckSegments(segs, t.Len()); err != nil {
		return err
	}
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			c := t.total[n]
			if int(t.cores[n])+int(s.Cores) > int(c.Cores) || int(t.gpus[n])+int(s.GPUs) > int(c.GPUs) {
				return fmt.Errorf("node %d would have %d of %d cores and %d of %d GPUs free", n,
					int(t.cores[n])+int(s.Cores), c.Cores, int(t.gpus[n])+int(s.GPUs), c.GPUs)
			}
		}
	}
	for _, s := range segs {
		t.give(s)
	}
	return nil
}

func (t *Table) give(s Segment) {
	t.freeCores += int64(s.Len()) * int64(s.Cores)
	t.freeGPUs += int64(s.Len()) * int64(s.GPUs)
	for n := s.First; n <= s.Last; n++ {
		t.block[n>>6] += uint32(s.Cores)
		t.cores[n] += s.Cores
		t.gpus[n] += s.GPUs
		if !t.Up(int(n)) {
			continue
		}
		w, bit := n>>6, uint64(1)<<(n&63)
		for l := 0; l <= int(t.gpus[n]); l++ {
			t.level[l][w] |= bit
		}
	}
}

// CopyFrom makes t an independent copy of o, reusing t's memory. The zero Table
// is a valid receiver.
func (t *Table) CopyFrom(o *Table) {
	t.total = append(t.total[:0], o.total...)
	t.cores = append(t.cores[:0], o.cores...)
	t.gpus = append(t.gpus[:0], o.gpus...)
	t.down = append(t.down[:0], o.down...)
	t.block = append(t.block[:0], o.block...)
	for len(t.level) < len(o.level) {
		t.level = append(t.level, nil)
	}
	t.level = t.level[:len(o.level)]
	for l := range o.level {
		t.level[l] = append(t.level[l][:0], o.level[l]...)
	}
	t.freeCores, t.freeGPUs = o.freeCores, o.freeGPUs
}

// Intersect lowers what every node of t has free to what o has free at the most,
// and takes down the nodes that are down in o. Both describe the same machine.
func (t *Table) Intersect(o *Table) {
	for w := range t.down {
		t.down[w] |= o.down[w]
	}
	for n := range t.cores {
		a, b := t.Free(n), o.Free(n)
		c := Capacity{min(a.Cores, b.Cores), min(a.GPUs, b.GPUs)}
		if a != c {
			t.block[n>>6] -= uint32(a.Cores - c.Cores)
			t.freeCores -= int64(a.Cores - c.Cores)
			t.freeGPUs -= int64(a.GPUs - c.GPUs)
			t.cores[n], t.gpus[n] = c.Cores, c.GPUs
			t.mark(n)
		}
	}
	for l := range t.level {
		for w := range t.level[l] {
			t.level[l][w] &^= t.down[w]
		}
	}
}
