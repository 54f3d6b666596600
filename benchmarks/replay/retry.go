// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"context"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
)

// limited is a policy with so much wall-clock time for a cycle.
type limited struct {
	core.Policy
	usual    time.Duration
	interval int64 // seconds between cycles
	clock    func() time.Time
	retry    retry
}

// Limited is the policy with so much wall-clock time for one cycle, for one simulation; 0 means no
// limit, without which runs repeat bit for bit. If a cycle has no time for some jobs
// (core.TimedOut), there is another after an interval, and later and later ones while they start
// nothing; on an idle machine these have ever more time, so that no limit is too short for a job to
// run.
func Limited(policy core.Policy, limit time.Duration, cfg *sim.Config) core.Policy {
	if limit <= 0 {
		return policy
	}
	clock := cfg.Clock
	if clock == nil {
		clock = time.Now
	}
	return &limited{Policy: policy, usual: limit, interval: cfg.Interval, clock: clock}
}

// Decide implements [core.Policy].
func (l *limited) Decide(ctx context.Context, s *core.Snapshot, limits core.Limits, p *core.Plan) error {
	idle := len(s.Running) == 0
	limits.Deadline = l.clock().Add(l.retry.limit(l.usual, idle))
	if err := l.Policy.Decide(ctx, s, limits, p); err != nil {
		return err
	}
	started := 0
	for i := range p.Decisions {
		if p.Decisions[i].Start {
			started++
		}
	}
	l.retry.learn(l.interval, s.Now, p.Stats.TimedOut > 0, started, idle)
	return nil
}

// Again implements [sim.Paced].
func (l *limited) Again() int64 {
	at := l.retry.at
	if p, paced := l.Policy.(sim.Paced); paced {
		if other := p.Again(); other > 0 && (at == 0 || other < at) {
			at = other
		}
	}
	return at
}

// retry is when to decide again on jobs for which a cycle had no time.
type retry struct {
	at   int64 // second; 0: not before a job comes or goes
	vain int   // cycles in a row that had no time for some, and started none
	idle int   // those of them on an idle machine
}

const (
	// longestCycle is what a cycle gets at most, unless the configuration gives more.
	longestCycle = time.Hour
	// maxVain is after how many cycles in vain a policy is not asked again: the last
	// ones had longestCycle.
	maxVain = 50
	// maxWait is by how many doublings of the interval the next of them is put off.
	maxWait = 10
)

// learn takes note of a cycle at second now, on a machine that was idle or not. Those of a busy
// machine say nothing about how long one on an idle one needs.
func (r *retry) learn(interval, now int64, timedOut bool, started int, idle bool) {
	if !timedOut {
		*r = retry{}
		return
	}
	if started > 0 {
		r.vain, r.idle = 0, 0
	} else if r.vain++; idle {
		r.idle++
	}
	vain := r.vain
	if idle {
		vain = r.idle
	}
	if r.at = 0; vain <= maxVain {
		r.at = now + interval<<min(vain, maxWait)
	}
}

// limit is how long the next cycle may take: on an idle machine, where waiting
// doesn't help, ever longer.
func (r *retry) limit(usual time.Duration, idle bool) time.Duration {
	if idle {
		for range r.idle {
			if usual < longestCycle/2 {
				usual *= 2
			}
		}
	}
	return usual
}
