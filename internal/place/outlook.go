// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/aucsched/aucsched/nodeset"
)

// outlook says what a start makes useless where jobs share GPUs, or not all GPUs will do for them.
// Sequences of usual requests, which are drawn once, come to a node; what is left over of its GPUs is
// its loss. Two states of a node are compared on the same future. The next request alone is what F of
// Weng et al. is about ("Beware of Fragmentation", USENIX ATC'23, section 4). To the loss come the
// prices of what is scarce in the whole machine.
//
// What it remembers depends on nothing but what is told in the cycle.
type outlook struct {
	asks    []ask // what the sequences are drawn from
	masks   []nodeset.Mask
	total   []nodeset.Capacity // of each node
	size    []int64            // shares of a GPU of each node
	scale   int32              // a node's cores are told apart in units of so many
	classes []class
	of      []uint8 // by node: its class
	losses  map[vacancy]int64
	known   []vacancy // by node
	ways    map[request][]cell
	scarce  scarce
	turn    int // of its prices, from 1
}

// begin has the outlook be of a machine and of what is asked of it, with masks by number.
func (o *outlook) begin(t *nodeset.Table, asks []ask, masks []*nodeset.Mask) {
	size := []int64(nil)
	if r, ok := t.Shares(); ok {
		size = t.TotalOf(r)
	}
	same := len(o.total) == t.Len() && slices.Equal(o.size, size) && slices.Equal(o.asks, asks) &&
		slices.EqualFunc(o.masks, masks, func(a nodeset.Mask, b *nodeset.Mask) bool { return slices.Equal(a, *b) })
	for n := 0; n < t.Len() && same; n++ {
		same = o.total[n] == t.Total(n)
	}
	if same {
		return
	}
	total, most := make([]nodeset.Capacity, t.Len()), 0
	for n := range total {
		total[n] = t.Total(n)
		most = max(most, int(total[n].Cores))
	}
	o.total, o.size, o.scale = total, slices.Clone(size), int32(max(most/steps, 1))
	o.asks, o.masks = append(o.asks[:0], asks...), o.masks[:0]
	for _, m := range masks {
		o.masks = append(o.masks, slices.Clone(*m))
	}
	kinds, sorted := o.kinds()
	o.classify(t.Len(), sorted)
	o.draw(kinds)
	o.losses, o.known, o.ways = make(map[vacancy]int64), make([]vacancy, t.Len()), make(map[request][]cell)
	o.scarce = newScarce(t, kinds, o.classes)
}

// kinds are the distinct asks and masks, in an order that does not depend on that of their telling.
func (o *outlook) kinds() (kinds []ask, masks []nodeset.Mask) {
	masks = slices.Clone(o.masks)
	slices.SortFunc(masks, func(a, b nodeset.Mask) int { return slices.Compare(a, b) })
	masks = slices.CompactFunc(masks, func(a, b nodeset.Mask) bool { return slices.Equal(a, b) })
	masks = masks[:min(len(masks), maxMasks)]
	number := make([]int32, len(o.masks)+1)
	for i, m := range o.masks {
		number[i+1] = int32(slices.IndexFunc(masks, func(x nodeset.Mask) bool { return slices.Equal(x, m) }) + 1)
	}
	all := slices.Clone(o.asks)
	for i := range all {
		all[i].mask = number[all[i].mask]
	}
	slices.SortFunc(all, func(a, b ask) int {
		return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.share, b.share),
			cmp.Compare(a.cores, b.cores), cmp.Compare(a.mask, b.mask))
	})
	for _, a := range all {
		if n := len(kinds); n > 0 && kinds[n-1].request == a.request && kinds[n-1].mask == a.mask {
			kinds[n-1].nodes += a.nodes
		} else {
			kinds = append(kinds, a)
		}
	}
	return kinds, masks
}

// classify finds the classes of so many nodes. If there are too many the last one has the others too.
func (o *outlook) classify(nodes int, masks []nodeset.Mask) {
	o.classes, o.of = nil, make([]uint8, nodes)
	for n := range nodes {
		has := uint64(1)
		for k, m := range masks {
			if m.Has(n) {
				has |= 2 << k
			}
		}
		c := slices.IndexFunc(o.classes, func(c class) bool { return c.masks == has })
		if c < 0 {
			if c = len(o.classes); c < 64 {
				o.classes = append(o.classes, class{masks: has, cores: math.MaxInt32, part: whole})
			} else {
				c--
			}
		}
		o.of[n] = uint8(c)
	}
}

// draw draws the sequences, of each class those requests that it will do for.
func (o *outlook) draw(kinds []ask) {
	upTo, sum := make([]int, len(kinds)), 0
	for i, k := range kinds {
		sum += int(k.nodes)
		upTo[i] = sum
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for s := range sequences {
		for range length {
			k := &kinds[sort.SearchInts(upTo, rng.IntN(sum)+1)]
			for i := range o.classes {
				c := &o.classes[i]
				if c.masks>>k.mask&1 == 0 {
					continue
				}
				c.sequences[s] = append(c.sequences[s], k.request)
				if k.gpus > 0 || k.share > 0 {
					c.cores = min(c.cores, k.cores)
				}
				if k.share > 0 {
					c.part = min(c.part, k.share)
				}
			}
		}
	}
}

// loss is what is left over of a node, the sum over all sequences in thousandths of GPUs. Each request
// starts if it fits, shares on the fullest GPU.
func (o *outlook) loss(v *vacancy) (sum int64) {
	if v.idle() == 0 { // as of most nodes without GPUs
		return 0
	}
	sum, ok := o.losses[*v]
	if ok {
		return sum
	}
	c := &o.classes[v.class]
	begin := vacant{cores: v.cores * o.scale, gpus: int16(v.gpus)}
	for _, part := range v.parts {
		if part > 0 {
			begin.part[begin.shared] = part
			begin.shared++
		}
	}
	for _, s := range c.sequences {
		x := begin
		sum += int64(x.run(c, s, v.idle()))
	}
	if len(o.losses) == mostKnown {
		clear(o.losses)
	}
	o.losses[*v] = sum
	return sum
}

// on is what node n of t has free.
func (o *outlook) on(t *nodeset.Table, n int) (x vacant) {
	c := t.Free(n)
	x.cores, x.gpus = int32(c.Cores), int16(c.GPUs)
	for i, left := range t.BinsLeft(n) {
		if left >= 0 && x.shared < maxShared {
			x.part[x.shared], x.bin[x.shared] = uint16(int64(left)*whole/o.size[n]), uint8(i+1)
			x.shared++
		}
	}
	return x
}

// settle looks at what is free of the whole machine.
func (o *outlook) settle(t *nodeset.Table) {
	for n := range o.known {
		var v vacancy
		if t.Up(n) && t.Total(n).GPUs > 0 {
			x := o.on(t, n)
			v = x.seen(o.of[n], o.scale)
		}
		if was := &o.known[n]; v != *was {
			o.scarce.move(was, o.loss(was), o.scale, -1)
			o.scarce.move(&v, o.loss(&v), o.scale, 1)
			*was = v
		}
	}
	o.scarce.settle()
	o.turn++
}

// cell is what a request costs on a node that has so much free.
type cell struct {
	free nodeset.Capacity
	left []int32 // see [nodeset.Table.BinsLeft]
	has  vacant
	// loss is by way to start it: by number of the GPU for a share, else one.
	bin  [maxShared + 1]uint8
	loss [maxShared + 1]int64
	ways int
	// least is what the best of them costs by the prices of a turn.
	turn  int
	least int64
	best  uint8 // its GPU
}

// remembered are the cells of how many nodes are remembered at most.
const remembered = 1 << 18

// cells are those of a request, by node.
func (o *outlook) cells(r request) []cell {
	c := o.ways[r]
	if c == nil {
		if len(o.ways)*len(o.of) > remembered {
			clear(o.ways)
		}
		c = make([]cell, len(o.of))
		o.ways[r] = c
	}
	return c
}

// look fills in what c has of node n of t.
func (o *outlook) look(c *cell, t *nodeset.Table, n int, r request, share int64) {
	c.free, c.left, c.has, c.ways, c.turn = t.Free(n), append(c.left[:0], t.BinsLeft(n)...), o.on(t, n), 0, 0
	v := c.has.seen(o.of[n], o.scale)
	before := o.loss(&v)
	add := func(bin uint8) {
		after := c.has.take(r, bin)
		v := after.seen(o.of[n], o.scale)
		c.bin[c.ways], c.loss[c.ways] = bin, o.loss(&v)-before
		c.ways++
	}
	if share == 0 {
		add(0)
		return
	}
	for i, b := range c.has.bin[:c.has.shared] {
		if int64(c.left[b-1]) >= share && !slices.Contains(c.has.part[:i], c.has.part[i]) {
			add(b)
		}
	}
	if unused := slices.Index(c.left, -1); unused >= 0 && c.has.gpus > 0 {
		add(uint8(unused + 1))
	}
}

// start is the least that a start of r on node n of t costs, and with a share on which of its GPUs.
func (o *outlook) start(cells []cell, t *nodeset.Table, n int, r request, share int64) (cost int64, bin uint8) {
	c := &cells[n]
	if c.ways == 0 || c.free != t.Free(n) || !slices.Equal(c.left, t.BinsLeft(n)) {
		o.look(c, t, n, r, share)
	}
	if c.turn == o.turn {
		return c.least, c.best
	}
	c.turn, c.least = o.turn, math.MaxInt64
	for i, b := range c.bin[:c.ways] {
		x := c.loss[i]
		if share > 0 { // the price of the hole has most of it, but neither the node's cores nor its other GPUs
			x = x/sharePart + o.scarce.hole(&c.has, r.share, b)
		}
		if x > 0 {
			x += grain*sequences - 1
		}
		if x = x/(grain*sequences)*(grain*sequences) + o.scarce.takes(o.of[n], &c.has, r, b); x < c.least {
			c.least, c.best = x, b
		}
	}
	return c.least, c.best
}
