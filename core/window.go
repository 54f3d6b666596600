package core

import (
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// openWindow takes the first jobs of the queue that could run at all. To find that
// out takes its time on a large machine the first time; jobs for which there is none are
// behind the window. It has the first job at least, if not as many as Window before it can never run.
func (a *Auction) openWindow(s *Snapshot, p *Plan) {
	a.window, a.jobs, a.guarded = a.window[:0], a.jobs[:0], a.guarded[:0]
	a.asks, a.requests, a.ways, a.askStart = a.asks[:0], a.requests[:0], a.ways[:0], append(a.askStart[:0], 0)
	if a.never.reset(s.Nodes) {
		a.machine = totalsOf(s.Nodes)
	}
	a.equals.reset(s.Nodes, a.opts.Reservations)
	a.prefer.reset(s.Nodes)
	a.plan.reserved = a.plan.reserved[:0] // a cycle may end before it makes any
	a.waiting = backlog{}
	looked := 0
	a.next, a.wanting = len(s.Pending), 0
	for i, job := range s.Pending {
		if looked == a.opts.Window || ((looked > 0 || i >= a.opts.Window) && a.eighth != nil && a.eighth()) {
			a.next, a.wanting = i, a.opts.Window-looked
			break
		}
		if why := a.never.checkWays(job); why != "" {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why, Why: Never})
			continue
		}
		looked++
		a.waiting.wait(job)
		if why, ok := a.equals.enough(job); ok {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why.reason, Why: why.why})
			continue
		}
		p.Decisions = append(p.Decisions, Decision{Job: i})
		a.window, a.jobs, a.guarded = append(a.window, i), append(a.jobs, job), append(a.guarded, guard{})
		a.addAsks(s, job)
	}
	for k := range a.asks { // a.requests has its place now
		ask := &a.asks[k]
		ask.Request = &a.requests[k]
		if a.ways[k].alternative == 0 && !a.ways[k].preferred {
			ask.Offer = offer(s, ask.Request, a.jobs[a.ways[k].job].Offer)
		}
	}
	a.weigh()
}

// way is which of the window's jobs an ask is of, and which of its requests; preferred: on the nodes that the
// job prefers alone.
type way struct {
	job, alternative int32
	preferred        bool
}

// addAsks adds an ask for each way in which the machine can meet the job, those left out
// that say the same as an earlier one, and before each one for the same on the nodes that it prefers.
func (a *Auction) addAsks(s *Snapshot, job *Job) {
	from := len(a.asks)
	for k := range job.Ways() {
		r, _ := job.Way(k)
		if len(job.Alternatives) > 0 && a.never.check(&r) != "" {
			continue
		}
		r.Contiguous = r.Contiguous || a.opts.ContiguousOnly
		if k > 0 && slices.ContainsFunc(a.requests[from:], func(o bids.Request) bool { return keyOf(&o) == keyOf(&r) }) {
			continue
		}
		of := way{int32(len(a.askStart) - 1), int32(k), false}
		if preferred, ok := a.prefer.first(job, &r); ok {
			a.addAsk(s, job, &preferred, from, way{of.job, of.alternative, true})
		}
		a.addAsk(s, job, &r, from, of)
	}
	for k := from; k < len(a.asks); k++ {
		a.asks[k].Of = len(a.asks) - from
	}
	a.askStart = append(a.askStart, int32(len(a.asks)))
}

// addAsk adds an ask to those of the job, which begin at from.
func (a *Auction) addAsk(s *Snapshot, job *Job, r *bids.Request, from int, of way) {
	a.requests = append(a.requests, *r)
	a.asks = append(a.asks, bids.Ask{Rank: len(a.asks) - from, Priority: max(job.Priority, 1), Blocks: a.blocksOf(s, r)})
	a.ways = append(a.ways, of)
}

// blocksOf is the Blocks of an ask for r: 0 unless jobs are to stay together.
func (a *Auction) blocksOf(s *Snapshot, r *bids.Request) int {
	if !a.opts.Compact {
		return 0
	}
	return a.never.fewestBlocks(s.Nodes, r)
}

// asksOf are the asks of job j of the window.
func (a *Auction) asksOf(j int) []bids.Ask { return a.asks[a.askStart[j]:a.askStart[j+1]] }

// jobOf is the job of the window that bid b is of.
func (a *Auction) jobOf(b int32) int { return int(a.ways[a.book.Bids[b].Job].job) }

// offer is what a job was offered, if it is what its request asks for.
func offer(s *Snapshot, r *bids.Request, segs []nodeset.Segment) []nodeset.Segment {
	if len(segs) == 0 || CheckAllocation(r, segs, s.Nodes.Len()) != nil {
		return nil
	}
	return segs
}

// contiguous is the job as if it had asked for consecutive nodes in all its ways.
func contiguous(job *Job) *Job {
	if job.Contiguous && len(job.Alternatives) == 0 {
		return job
	}
	c := *job
	c.Contiguous = true
	c.Alternatives = slices.Clone(c.Alternatives)
	for k := range c.Alternatives {
		c.Alternatives[k].Contiguous = true
	}
	return &c
}
