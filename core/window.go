// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/answers"
	"github.com/aucsched/aucsched/nodeset"
)

// window is the stage that says which jobs take part in a cycle, and what they ask for.
type window struct {
	opts     *AuctionOptions
	jobs     []*Job
	index    []int          // by job: its index in the queue, and in the decisions
	asks     []bids.Ask     // of all jobs; reservations binds them
	requests []bids.Request // by ask
	ways     []way          // by ask
	askStart []int32        // by job: its first ask, and one more
	next     int            // index in the queue of the first job behind the window
	wanting  int            // jobs that the window has fewer than it should, for lack of time
	shift    int            // asks' priorities are in units of 2^shift
	waiting  backlog        // of the jobs
	machine  totals
	answers  answers.Cache
	equals   equals
	prefer   preferences
}

// open takes the first jobs of the queue that could run at all. To find that
// out takes its time on a large machine the first time; jobs for which there is none are
// behind the window. It has the first job at least, if not as many as Window before it can never run.
func (w *window) open(s *Snapshot, c *clock, p *Plan) {
	w.reset(s)
	looked := 0
	for i, job := range s.Pending {
		if looked == w.opts.Window || ((looked > 0 || i >= w.opts.Window) && c.past(eighth)) {
			w.next, w.wanting = i, w.opts.Window-looked
			break
		}
		if why := neverRuns(&w.answers, job); why != "" {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why, Why: Never})
			continue
		}
		looked++
		w.waiting.wait(job)
		if why, ok := w.equals.enough(job); ok {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why.reason, Why: why.why})
			continue
		}
		p.Decisions = append(p.Decisions, Decision{Job: i})
		w.index, w.jobs = append(w.index, i), append(w.jobs, job)
		w.addAsks(s, job)
	}
	for k := range w.asks { // w.requests has its place now
		ask := &w.asks[k]
		ask.Request = &w.requests[k]
		if w.ways[k].alternative == 0 && !w.ways[k].preferred {
			ask.Offer = offer(s, ask.Request, w.jobs[w.ways[k].job].Offer)
		}
	}
	w.weigh()
}

func (w *window) reset(s *Snapshot) {
	w.index, w.jobs = w.index[:0], w.jobs[:0]
	w.asks, w.requests, w.ways, w.askStart = w.asks[:0], w.requests[:0], w.ways[:0], append(w.askStart[:0], 0)
	if w.answers.Reset(s.Nodes) {
		w.machine = totalsOf(s.Nodes)
	}
	w.equals.reset(s.Nodes, w.opts.Reservations)
	w.prefer.reset(s.Nodes)
	w.waiting = backlog{}
	w.next, w.wanting = len(s.Pending), 0
}

// way is which of the window's jobs an ask is of, and which of its requests; preferred: on the nodes that the
// job prefers alone.
type way struct {
	job, alternative int32
	preferred        bool
}

// addAsks adds an ask for each way in which the machine can meet the job, those left out
// that say the same as an earlier one, and before each one for the same on the nodes that it prefers.
func (w *window) addAsks(s *Snapshot, job *Job) {
	from := len(w.asks)
	for k := range job.Ways() {
		r, _ := job.Way(k)
		if len(job.Alternatives) > 0 && w.answers.Never(&r) != "" {
			continue
		}
		r.Contiguous = r.Contiguous || w.opts.ContiguousOnly
		if k > 0 && slices.ContainsFunc(w.requests[from:], func(o bids.Request) bool { return answers.KeyOf(&o) == answers.KeyOf(&r) }) {
			continue
		}
		of := way{int32(len(w.askStart) - 1), int32(k), false}
		if preferred, ok := w.prefer.first(job, &r); ok {
			w.addAsk(s, job, &preferred, from, way{of.job, of.alternative, true})
		}
		w.addAsk(s, job, &r, from, of)
	}
	for k := from; k < len(w.asks); k++ {
		w.asks[k].Of = len(w.asks) - from
	}
	w.askStart = append(w.askStart, int32(len(w.asks)))
}

// addAsk adds an ask to those of the job, which begin at from.
func (w *window) addAsk(s *Snapshot, job *Job, r *bids.Request, from int, of way) {
	w.requests = append(w.requests, *r)
	w.asks = append(w.asks, bids.Ask{Rank: len(w.asks) - from, Priority: max(job.Priority, 1), Blocks: w.blocksOf(s, r)})
	w.ways = append(w.ways, of)
}

// blocksOf is the Blocks of an ask for r: 0 unless jobs are to stay together.
func (w *window) blocksOf(s *Snapshot, r *bids.Request) int {
	if !w.opts.Compact {
		return 0
	}
	return w.answers.FewestBlocks(s.Nodes, r)
}

// asksOf are the asks of job j of the window.
func (w *window) asksOf(j int) []bids.Ask { return w.asks[w.askStart[j]:w.askStart[j+1]] }

// jobOf is the job that a bid is of.
func (w *window) jobOf(b *bids.Bid) int { return int(w.ways[b.Job].job) }

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

// anyFree reports whether any node has a core to give.
func anyFree(t *nodeset.Table) bool {
	for _, w := range t.Usable(0) {
		if w != 0 {
			return true
		}
	}
	return false
}
