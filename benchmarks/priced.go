package benchmarks

import (
	"context"
	"time"

	"github.com/aucsched/aucsched/core"
)

// Worth is what came of one cycle.
type Worth struct {
	// Started is the sum of the priorities of the jobs that start.
	Started float64
	// Gap is by how much of the objective the bound on all allocations lies above it.
	Gap float64
	// Elapsed is how long the cycle took.
	Elapsed time.Duration
}

// WorthOf decides the window, all jobs of which take part, and verifies the plan. It decides
// twice and returns the second outcome, for which memory has grown to its size.
func WorthOf(w *Window, o core.AuctionOptions) (Worth, error) {
	o.Window = len(w.Asks)
	auction, err := core.NewAuction(o, nil)
	if err != nil {
		return Worth{}, err
	}
	var p core.Plan
	for range 2 {
		if err := auction.Decide(context.Background(), &w.Snapshot, core.Limits{Seed: 1}, &p); err != nil {
			return Worth{}, err
		}
	}
	if err := checkPlan(w, &p); err != nil {
		return Worth{}, err
	}
	x := Worth{Gap: p.Stats.BoundAll/p.Objective - 1, Elapsed: p.Stats.Elapsed}
	for _, d := range p.Decisions {
		if d.Start {
			x.Started += float64(w.Snapshot.Pending[d.Job].Priority)
		}
	}
	return x, nil
}
