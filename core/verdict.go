// SPDX-License-Identifier: BSD-3-Clause

package core

import "github.com/aucsched/aucsched/nodeset"

// verdict is why a job waits.
type verdict struct {
	why    Why
	reason string
	quota  int // with OverQuota
}

var (
	blocked   = verdict{why: Reserved, reason: reasonReserved}
	noNodes   = verdict{why: NoFit, reason: reasonNoNodes}
	lost      = verdict{why: Lost, reason: reasonLost}
	undecided = verdict{why: TimedOut, reason: reasonTimedOut}
)

// Why jobs wait, in words.
const (
	reasonReserved = "blocked: its place is reserved from the expected start on"
	reasonNoNodes  = "no nodes are free that suit it"
	reasonLost     = "other jobs are worth more together"
	// of jobs with components or without cores, where AuctionOptions.Determiner is set
	reasonComponents = "the policy's program has no jobs of several components"
	reasonCoreless   = "the policy's program has no jobs that take no core"
	reasonTimedOut   = "the time was over before it was decided on"
)

// waits records why the job of d does not start.
func (d *Decision) waits(v verdict) { d.Why, d.Reason, d.Quota = v.why, v.reason, v.quota }

// countTimedOut fills in how many jobs were not decided on.
func (p *Plan) countTimedOut() {
	p.Stats.TimedOut = 0
	for i := range p.Decisions {
		if p.Decisions[i].Why == TimedOut {
			p.Stats.TimedOut++
		}
	}
}

// keep copies segments into the plan's own memory.
func (p *Plan) keep(segs []nodeset.Segment) []nodeset.Segment {
	from := len(p.segs)
	p.segs = append(p.segs, segs...)
	return p.segs[from:len(p.segs):len(p.segs)]
}

func (p *Plan) reset() {
	p.Decisions, p.segs = p.Decisions[:0], p.segs[:0]
	p.Preempted, p.waits, p.Claims = p.Preempted[:0], p.waits[:0], nil
	clear(p.uses) // they are the jobs'
	p.uses = p.uses[:0]
	p.Objective, p.Bound, p.Stats, p.Pace = 0, 0, Stats{}, Pace{}
}
