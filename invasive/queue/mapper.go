// SPDX-License-Identifier: BSD-3-Clause

package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/nodeset"
)

// Options are the settings of a Mapper. DefaultOptions has the recommended ones.
type Options struct {
	Metrics Metrics
	// Auction are core's settings; its Window and Depth are how many of the
	// waiting jobs are looked at.
	Auction core.AuctionOptions
	// Soon is how late the cores of a virtual offer may be to be mapped like those that are there.
	// It is for cores that malleable jobs let go of; a job that is mapped onto cores which running
	// jobs hold keeps others from what it waits for.
	Soon time.Duration
	// Fill is the share of an offer, in percent, that a mapping has to use for the offer to be good
	// although the first job isn't in it; unless that has waited longer than Patience.
	Fill     uint32
	Patience time.Duration
	// Seed starts the random choices.
	Seed uint64
}

// DefaultOptions are the recommended settings. The window is smaller than core's, since each
// negotiation has several decisions, and another one follows as soon as cores are free.
func DefaultOptions() Options {
	a := core.Preset("none")
	a.Window, a.Depth, a.MaxBidsPerJob, a.Drafts, a.Work = 50, 200, 8, 4, 1_000_000
	return Options{Metrics: DefaultMetrics(), Auction: a, Soon: 15 * time.Second, Fill: 90, Patience: 10 * time.Minute, Seed: 1}
}

// A Mapper maps jobs onto offers. It is not safe for concurrent use.
type Mapper struct {
	opts    Options
	auction *core.Auction
	count   uint64 // decisions so far
	plan    core.Plan
	ranked  []ranked
	jobs    []core.Job
	pending []*core.Job
	ways    []bids.Request
	offer   offer
}

// NewMapper returns a Mapper. The error names the setting that is out of its range.
func NewMapper(o Options) (*Mapper, error) {
	if o.Fill > 100 {
		return nil, fmt.Errorf("fill %d%%: must be at most 100%%", o.Fill)
	}
	auction, err := core.NewAuction(o.Auction, nil)
	if err != nil {
		return nil, err
	}
	return &Mapper{opts: o, auction: auction}, nil
}

// SoonAtLeast raises Options.Soon to what the iHypervisor says that malleable jobs may
// take to let go of cores.
func (m *Mapper) SoonAtLeast(d time.Duration) { m.opts.Soon = max(m.opts.Soon, d) }

// Decide answers AskDecision with a Decided: which of the waiting jobs (those of Agent.Queue) are
// mapped onto the offer, or that it is rejected; final: it may not be. It is due at the deadline of
// ctx; without one, equal calls give equal mappings. The mapping belongs to the caller, and has
// been held against [Verify]. With an error the event is a rejection, or an empty mapping.
func (m *Mapper) Decide(ctx context.Context, waiting []Entry, o *invasive.Offer, final bool, now time.Duration) (invasive.Event, error) {
	m.count++
	refuse := invasive.Event{Kind: invasive.Decided, Accept: final}
	if err := m.offer.read(o, m.opts.Soon); err != nil {
		return refuse, err
	}
	m.ranked = m.opts.Metrics.rank(m.ranked[:0], waiting, m.opts.Auction.Window+m.opts.Auction.Depth, now)
	mapping, err := m.mapJobs(ctx, o, now)
	if err == nil {
		err = Verify(o, mapping)
	}
	if err != nil {
		return refuse, fmt.Errorf("mapping %d jobs onto %d cores: %w", len(waiting), m.offer.soon, err)
	}
	if why := m.judge(mapping, len(waiting), now); why != "" && !final {
		refuse.Text = why
		return refuse, nil
	}
	return invasive.Event{Kind: invasive.Decided, Accept: true, Map: mapping}, nil
}

// judge says why an offer isn't good enough, or nothing.
func (m *Mapper) judge(mapping []invasive.Mapping, waiting int, now time.Duration) string {
	if len(m.ranked) == 0 || len(mapping) == waiting {
		return ""
	}
	first := &m.ranked[0].entry
	var used uint64
	for _, e := range mapping {
		if e.Job.ID == first.Job.ID {
			return ""
		}
		for _, p := range e.Parts {
			used += uint64(p.Cores)
		}
	}
	switch {
	case len(mapping) == 0:
		return "no job fits"
	case used*100 < uint64(m.opts.Fill)*m.offer.soon:
		return fmt.Sprintf("%d of %d cores are used, and job %d, the first, isn't served", used, m.offer.soon, first.Job.ID)
	case now-first.Submitted > m.opts.Patience:
		return fmt.Sprintf("job %d has waited for too long", first.Job.ID)
	}
	return ""
}

// mapJobs has the auction decide on the ranked jobs.
func (m *Mapper) mapJobs(ctx context.Context, o *invasive.Offer, now time.Duration) ([]invasive.Mapping, error) {
	if m.offer.soon == 0 || len(m.ranked) == 0 {
		return nil, nil
	}
	m.fill()
	s := &core.Snapshot{Now: int64(now / time.Second), Nodes: m.offer.table, Pending: m.pending, Running: m.offer.held}
	for i := range s.Running {
		s.Running[i].End += s.Now
	}
	deadline, due := ctx.Deadline()
	if due { // the best mapping that is known by then is wanted, not none
		ctx = context.WithoutCancel(ctx)
	}
	if err := m.auction.Decide(ctx, s, core.Limits{Deadline: deadline, Seed: m.opts.Seed + m.count}, &m.plan); err != nil {
		return nil, err
	}
	var mapping []invasive.Mapping
	for _, d := range m.plan.Decisions {
		if !d.Start || uint64(len(mapping)) >= uint64(o.Jobs) {
			continue
		}
		mapping = append(mapping, invasive.Mapping{Job: m.ranked[d.Job].entry.Job, Parts: m.offer.take(d.Segs)})
	}
	m.offer.topUp(mapping)
	return mapping, nil
}

// fill makes jobs of core of the ranked ones, in their order.
func (m *Mapper) fill() {
	m.jobs, m.pending, m.ways = m.jobs[:0], m.pending[:0], m.ways[:0]
	for i := range m.ranked {
		r := &m.ranked[i]
		j := r.entry.Job
		from := len(m.ways)
		m.ways = appendWays(m.ways, j, m.offer.soon)
		limit := int64(j.Limit)
		if limit == 0 {
			limit = core.NoTimeLimit
		}
		m.jobs = append(m.jobs, core.Job{
			ID: strconv.FormatUint(uint64(j.ID), 10), Request: m.ways[from], Alternatives: m.ways[from+1 : len(m.ways) : len(m.ways)],
			Priority: r.priority(), TimeLimit: limit, Since: int64(r.entry.Submitted / time.Second),
		})
	}
	for i := range m.jobs {
		m.pending = append(m.pending, &m.jobs[i])
	}
	// by rounded points they are in order already
	slices.SortStableFunc(m.pending, func(a, b *core.Job) int { return cmp.Compare(b.Priority, a.Priority) })
}

// appendWays appends the requests by which a job can be met on so many cores, the most cores first.
func appendWays(ways []bids.Request, j *invasive.Job, cores uint64) []bids.Request {
	r := bids.Request{Cores: int(j.MaxCores), MinNodes: int(j.MinNodes), MaxNodes: int(j.MaxNodes)}
	if most := max(uint64(j.MinCores), cores); uint64(j.MaxCores) > most {
		r.Cores = int(most)
	}
	ways = append(ways, r)
	for k := 0; k < core.MaxAlternatives && r.Cores > int(j.MinCores); k++ {
		if r.Cores = max(r.Cores/2, int(j.MinCores)); k == core.MaxAlternatives-1 {
			r.Cores = int(j.MinCores)
		}
		ways = append(ways, r)
	}
	return ways
}

// An offer is an invasive.Offer as a machine of core: the nodes that are in it.
type offer struct {
	nodes []uint32 // of the partition, ascending
	soon  uint64   // cores that may be mapped
	left  []uint32 // of them, of each node
	late  []invasive.Part
	cap   []nodeset.Capacity
	table *nodeset.Table
	held  []core.Running // parts that come later; End counts from now
	segs  []nodeset.Segment
}

// read makes a table of the offer.
func (f *offer) read(o *invasive.Offer, soon time.Duration) error {
	f.nodes, f.late, f.soon = f.nodes[:0], f.late[:0], 0
	for _, p := range o.Parts {
		f.nodes = append(f.nodes, p.Node)
	}
	slices.Sort(f.nodes)
	f.nodes = slices.Compact(f.nodes)
	f.left = append(f.left[:0], make([]uint32, len(f.nodes))...)
	f.cap = append(f.cap[:0], make([]nodeset.Capacity, len(f.nodes))...)
	for _, p := range o.Parts {
		i, _ := slices.BinarySearch(f.nodes, p.Node)
		if time.Duration(p.Delay)*time.Second <= soon {
			f.soon += uint64(p.Cores)
			f.left[i] += p.Cores
		} else {
			f.late = append(f.late, invasive.Part{Node: uint32(i), Cores: p.Cores, Delay: p.Delay})
		}
		if n := uint32(f.cap[i].Cores) + p.Cores; n <= bids.MaxCoresPerNode {
			f.cap[i].Cores = uint16(n)
		} else {
			return fmt.Errorf("node %d has %d cores on offer: at most %d can be mapped", p.Node, n, bids.MaxCoresPerNode)
		}
	}
	if len(f.nodes) == 0 {
		return nil
	}
	var err error
	if f.table, err = nodeset.New(f.cap); err != nil {
		return err
	}
	return f.hold()
}

// hold has one running job for each delay hold the parts that come then.
func (f *offer) hold() error {
	slices.SortFunc(f.late, func(a, b invasive.Part) int {
		return cmp.Or(cmp.Compare(a.Delay, b.Delay), cmp.Compare(a.Node, b.Node))
	})
	f.held, f.segs = f.held[:0], slices.Grow(f.segs[:0], len(f.late))
	for i := 0; i < len(f.late); {
		from, delay := len(f.segs), f.late[i].Delay
		for ; i < len(f.late) && f.late[i].Delay == delay; i++ {
			p := f.late[i]
			if n := len(f.segs); n > from && uint32(f.segs[n-1].First) == p.Node {
				// two jobs of a node
				f.segs[n-1].Cores += uint16(p.Cores)
				continue
			}
			f.segs = append(f.segs, nodeset.Segment{First: int32(p.Node), Last: int32(p.Node), Cores: uint16(p.Cores)})
		}
		segs := f.segs[from:len(f.segs):len(f.segs)]
		if err := f.table.Allocate(segs); err != nil {
			return err
		}
		f.held = append(f.held, core.Running{ID: strconv.Itoa(len(f.held)), End: int64(delay), Segs: segs})
	}
	return nil
}

// take is an allocation as parts, which are then gone.
func (f *offer) take(segs []nodeset.Segment) []invasive.Part {
	parts := make([]invasive.Part, 0, nodeset.Nodes(segs))
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			parts = append(parts, invasive.Part{Node: f.nodes[n], Cores: uint32(s.Cores)})
			f.left[n] -= uint32(s.Cores)
		}
	}
	return parts
}

// topUp gives what is left of a node to the jobs there that can use more: first those
// that can't grow later.
func (f *offer) topUp(mapping []invasive.Mapping) {
	for _, flex := range [...]invasive.Flex{invasive.Moldable, invasive.Malleable} {
		for i := range mapping {
			e := &mapping[i]
			if e.Job.Flex != flex {
				continue
			}
			cores := uint32(0)
			for _, p := range e.Parts {
				cores += p.Cores
			}
			for k := range e.Parts {
				n, _ := slices.BinarySearch(f.nodes, e.Parts[k].Node)
				more := min(f.left[n], e.Job.MaxCores-cores)
				e.Parts[k].Cores += more
				f.left[n] -= more
				cores += more
			}
		}
	}
}
