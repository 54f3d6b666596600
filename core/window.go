package core

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// openWindow takes the first jobs of the queue that could run at all. To find that
// out takes its time on a large machine the first time; jobs for which there is none are
// behind the window.
func (a *Auction) openWindow(s *Snapshot, p *Plan) {
	a.window, a.jobs, a.asks, a.guarded = a.window[:0], a.jobs[:0], a.asks[:0], a.guarded[:0]
	a.never.reset(s.Nodes)
	a.equals.reset(s.Nodes, a.opts.Reservations)
	a.plan.reserved = a.plan.reserved[:0] // a cycle may end before it makes any
	looked := 0
	a.next = len(s.Pending)
	for i, job := range s.Pending {
		if looked == a.opts.Window || (a.eighth != nil && a.eighth()) {
			a.next = i
			break
		}
		if why := a.never.check(&job.Request); why != "" {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why, Why: Never})
			continue
		}
		looked++
		if why, ok := a.equals.enough(job); ok {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why.reason, Why: why.why})
			continue
		}
		if a.opts.ContiguousOnly && !job.Contiguous {
			job = contiguous(job)
		}
		p.Decisions = append(p.Decisions, Decision{Job: i})
		a.window, a.jobs = append(a.window, i), append(a.jobs, job)
		a.asks = append(a.asks, bids.Ask{Request: &job.Request, Priority: max(job.Priority, 1), Offer: offer(s, job)})
		a.guarded = append(a.guarded, guard{})
	}
	a.weigh()
}

// offer is the job's, if it is what the job asks for.
func offer(s *Snapshot, job *Job) []nodeset.Segment {
	if len(job.Offer) == 0 || CheckAllocation(job, job.Offer, s.Nodes.Len()) != nil {
		return nil
	}
	return job.Offer
}

// contiguous is the job as if it had asked for consecutive nodes.
func contiguous(job *Job) *Job {
	c := *job
	c.Contiguous = true
	return &c
}
