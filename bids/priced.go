package bids

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// PricedOptions of GeneratePriced.
type PricedOptions struct {
	// MaxBidsPerJob is how many bids a job may have in all, those included that it had.
	MaxBidsPerJob int
	// Stop, if not nil, is asked once a job; when it says true, the generator makes
	// do with what it has added.
	Stop func() bool
}

// priced is the memory of GeneratePriced.
type priced struct {
	prices  *Prices
	tariffs []tariff // by reservations crossed
	rosters map[rosterKey]int
	orders  [][]int32 // the rosters' memory
	used    int
	eye     appraiser
	mark    nodeset.Mask
	limit   int

	fresh []Bid   // not yet in the book, but for their segments
	last  []int32 // by job: its last fresh bid, or -1
	prev  []int32 // by fresh bid: the job's one before it, or -1
	count []int   // by job: its fresh bids
	old   []Bid
	moved []int32 // by old bid, and then by fresh bid: number in the book
	net   []float64
	order []int32
	draft draft
	segs  []nodeset.Segment
}

// alike is how many of its best alignments a job bids at the same prices.
const alike = 2

// GeneratePriced adds to the book of the last Generate what its jobs would choose
// at the given prices, the column generation of a Lagrangian relaxation: of all runs of
// nodes on which a job could start those that are worth most net of prices, of
// combined nodes the cheapest, and what it gets in one more draft of the window, in which
// jobs take by falling net worth what is worth most to them on what the earlier ones left. The
// first two of these give as many GPUs on each node even where MixedGPUs lets them differ.
//
// It returns the new number of each bid that was in the book before; the slice belongs to the
// Generator. The new draft is the book's last. Time for a job is linear in the nodes that
// it may use.
func (g *Generator) GeneratePriced(prices *Prices, o PricedOptions) []int32 {
	p := &g.priced
	g.opts.Stop = o.Stop
	p.reset(g, prices, o.MaxBidsPerJob)
	for j := range g.asks {
		if g.shapes[j].minNodes > 0 && !g.opts.stopped() {
			g.bidAtPrices(j)
		}
	}
	g.draftAtPrices()
	g.regroup()
	return p.moved[:len(p.old)]
}

func (p *priced) reset(g *Generator, prices *Prices, limit int) {
	p.prices, p.limit = prices, limit
	for len(p.tariffs) < len(prices.Cores) {
		p.tariffs = append(p.tariffs, tariff{})
	}
	for k := range prices.Cores {
		p.tariffs[k].set(prices.Cores[k], prices.GPUs[k])
	}
	if p.rosters == nil {
		p.rosters = make(map[rosterKey]int)
	}
	clear(p.rosters)
	p.used = 0
	p.fresh, p.prev, p.segs = p.fresh[:0], p.prev[:0], p.segs[:0]
	p.last, p.count, p.net = p.last[:0], p.count[:0], p.net[:0]
	for range g.asks {
		p.last, p.count, p.net = append(p.last, -1), append(p.count, 0), append(p.net, 0)
	}
}

// bidAtPrices adds the bids of job j that pay at the prices, and sets its net worth.
func (g *Generator) bidAtPrices(j int) {
	p, a, s := &g.priced, &g.asks[j], &g.shapes[j]
	t := g.views.View(a.Crosses)
	p.net[j] = -float64(a.Priority)
	p.eye.best = p.eye.best[:0]
	g.appraise(j, t, alike)
	for _, x := range p.eye.best {
		p.net[j] = max(p.net[j], x.net)
		if x.net > 0 {
			p.segs = g.lay(p.segs[:0], t, s, x)
			g.addFresh(j, p.segs)
		}
	}
	var combined bool
	if p.segs, p.net[j], combined = g.combine(p.segs[:0], j, t, p.net[j]); combined && p.net[j] > 0 {
		g.addFresh(j, p.segs)
	}
}

// appraise leaves in g.priced.eye.best the best alignments of job j on t, for all of its counts of GPUs.
func (g *Generator) appraise(j int, t *nodeset.Table, most int) {
	p, a, s := &g.priced, &g.asks[j], &g.shapes[j]
	e := &p.eye
	e.ask, e.s, e.free, e.tariff, e.nodes = a, s, t.FreeCores(), &p.tariffs[a.Crosses], t.Len()
	e.prio, e.alpha, e.most = float64(a.Priority), p.prices.Alpha, most
	for k := min(s.maxGPUs, t.MaxGPUs()); k >= s.minGPUs; k-- {
		e.gpus, e.full = k, g.setsOf(j, k)
		if e.sets = e.full.sets; t != g.views.View(a.Crosses) {
			g.placer.sets = t.Scan(g.placer.sets[:0], nodeset.Query{GPUs: k, MinCores: s.lo, Eligible: a.Eligible})
			e.sets = g.placer.sets
		}
		e.appraise()
	}
}

// lay appends the allocation of an alignment.
func (g *Generator) lay(dst []nodeset.Segment, t *nodeset.Table, s *shape, x alignment) []nodeset.Segment {
	l := level
	if x.packed {
		l = packUp
	}
	g.spans = append(g.spans[:0], span{int(x.first), int(x.first+x.nodes) - 1})
	return g.placer.spread(dst, t, s, g.spans, l, int(x.gpus))
}

// addFresh notes a bid of job j and returns its number: less than len(book.Bids) if
// the job had it before, from there on if it is fresh, and -1 if the job has all its bids.
func (g *Generator) addFresh(j int, segs []nodeset.Segment) int32 {
	p, b := &g.priced, g.book
	for i := b.JobStart[j]; i < b.JobStart[j+1]; i++ {
		if slices.Equal(b.Allocation(int(i)), segs) {
			return i
		}
	}
	for f := p.last[j]; f >= 0; f = p.prev[f] {
		if slices.Equal(b.Segs[p.fresh[f].First:p.fresh[f].Last], segs) {
			return int32(len(b.Bids)) + f
		}
	}
	if int(b.JobStart[j+1]-b.JobStart[j])+p.count[j] >= p.limit {
		return -1
	}
	bid := g.describe(j, segs)
	bid.First = int32(len(b.Segs))
	b.Segs = append(b.Segs, segs...)
	bid.Last = int32(len(b.Segs))
	p.fresh, p.prev = append(p.fresh, bid), append(p.prev, p.last[j])
	p.last[j] = int32(len(p.fresh) - 1)
	p.count[j]++
	return int32(len(b.Bids)) + p.last[j]
}

// draftAtPrices drafts the window by falling net worth and notes what each job gets.
func (g *Generator) draftAtPrices() {
	p, d := &g.priced, &g.priced.draft
	d.order = d.order[:0]
	d.order = g.appendJobs(d.order)
	slices.SortStableFunc(d.order, func(a, b int32) int {
		return cmp.Compare(g.mostNet(b), g.mostNet(a))
	})
	g.runDraft(d, draftStyle{greedyGPUs: true, layout: level, keep: true, priced: true})
	p.order = p.order[:0]
	for j := range g.asks {
		if sh := d.got[j]; !sh.empty() {
			if b := g.addFresh(j, d.segs[sh.first:sh.last]); b >= 0 {
				p.order = append(p.order, b)
			}
		}
	}
}

// mostNet is what the best ask of the job whose first is j is worth net of prices.
func (g *Generator) mostNet(j int32) float64 {
	most := g.priced.net[j]
	for k := int(j) + 1; k < NextJob(g.asks, int(j)); k++ {
		most = max(most, g.priced.net[k])
	}
	return most
}

// placeAtPrices is placeInDraft for a draft at prices.
func (g *Generator) placeAtPrices(dst []nodeset.Segment, j int, t *nodeset.Table) ([]nodeset.Segment, int, bool) {
	p, s := &g.priced, &g.shapes[j]
	from := len(dst)
	p.eye.best = p.eye.best[:0]
	g.appraise(j, t, 1)
	net := -float64(4 * g.asks[j].Priority)
	if len(p.eye.best) > 0 {
		net = p.eye.best[0].net
		dst = g.lay(dst, t, s, p.eye.best[0])
	}
	var combined bool
	if p.segs, _, combined = g.combine(p.segs[:0], j, t, net); combined {
		dst = append(dst[:from], p.segs...)
	}
	if len(dst) > from {
		return dst, int(dst[from].GPUs), true
	}
	return dst, 0, false
}

// regroup brings the fresh bids into the book, each behind those of its job.
func (g *Generator) regroup() {
	p, b := &g.priced, g.book
	p.old = append(p.old[:0], b.Bids...)
	p.moved = append(p.moved[:0], make([]int32, len(p.old)+len(p.fresh))...)
	b.Bids = b.Bids[:0]
	g.nodes.reset()
	put := func(bid Bid, number int) {
		p.moved[number] = int32(len(b.Bids))
		bid.NodeSet = g.nodes.of(b, b.Segs[bid.First:bid.Last])
		b.Bids = append(b.Bids, bid)
	}
	i := int32(0)
	for j := range g.asks {
		end := b.JobStart[j+1]
		for ; i < end; i++ {
			put(p.old[i], int(i))
		}
		for f := p.last[j]; f >= 0; f = p.prev[f] {
			put(p.fresh[f], len(p.old)+int(f))
		}
		b.JobStart[j+1] = int32(len(b.Bids))
	}
	b.NodeSets = g.nodes.count
	for _, d := range b.Drafts {
		p.renumber(d)
	}
	p.renumber(b.Kept)
	b.addDraft(p.order)
	p.renumber(b.Drafts[len(b.Drafts)-1])
}

func (p *priced) renumber(bids []int32) {
	for i, b := range bids {
		bids[i] = p.moved[b]
	}
}
