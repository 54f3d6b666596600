// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
)

// seedRange is first to last, both included.
type seedRange struct{ First, Last uint64 }

func (r *seedRange) String() string { return fmt.Sprintf("%d-%d", r.First, r.Last) }

// Set implements flag.Value.
func (r *seedRange) Set(s string) error {
	a, b, ok := strings.Cut(s, "-")
	if !ok {
		b = a
	}
	first, err1 := strconv.ParseUint(a, 10, 32)
	last, err2 := strconv.ParseUint(b, 10, 32)
	if err1 != nil || err2 != nil || first > last || last-first >= 1000 {
		return fmt.Errorf("must be FIRST-LAST, at most 1000 seeds")
	}
	*r = seedRange{first, last}
	return nil
}

func (r *seedRange) count() int { return int(r.Last-r.First) + 1 }

// method is a policy on one kind of workload. Backfill knows no ranges, so it gets the
// jobs without them, as in the paper.
type method struct {
	name   string
	ranges bool
	policy func() (core.Policy, error)
}

// contender is a policy of a page, and what it is called there.
type contender struct {
	name   string
	policy func() (core.Policy, error)
}

// runs are what run makes of the policy, anew for each seed.
func runs[R any](ctx context.Context, c *contender, seeds seedRange,
	run func(context.Context, core.Policy, uint64) (R, error)) ([]R, error) {
	all := make([]R, seeds.count())
	for i := range all {
		policy, err := c.policy()
		if err != nil {
			return nil, err
		}
		seed := seeds.First + uint64(i)
		if all[i], err = run(ctx, policy, seed); err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", c.name, seed, err)
		}
	}
	return all, nil
}

// backfill makes Slurm's, and auction the policy with these options.
func backfill() (core.Policy, error) { return sim.NewBackfill(sim.DefaultBackfill()) }

func auction(o core.AuctionOptions) func() (core.Policy, error) {
	return func() (core.Policy, error) { return core.NewAuction(o, nil) }
}

func methods() []method {
	recommended, papers := auction(core.Preset("none")), auction(core.Preset("paper"))
	return []method{
		{methodBackfill, false, backfill},
		{methodAuction, false, recommended},
		{methodRanges, true, recommended},
		{methodPaper, false, papers},
		{methodPaperRng, true, papers},
	}
}

// tsubameRow are one method's results on one variant, a seed each.
type tsubameRow struct {
	Variant, Method string
	Results         []*sim.Result
}

type simulationFigures struct {
	Machine string
	Seeds   seedRange
	Rows    []tsubameRow
	// Traces is nil if there were none to replay.
	Traces []traceRow
}

// simulation runs everything and writes the page.
func simulation(ctx context.Context, seeds seedRange, traces, match string, errs io.Writer) (string, error) {
	f := simulationFigures{Machine: machine(), Seeds: seeds}
	var err error
	// The traces come first: a child's peak memory counts from what this process
	// has had in memory when it starts the child.
	if traces != "" {
		if f.Traces, err = replayTraces(ctx, traces, match, errs); err != nil {
			return "", err
		}
	}
	if f.Rows, err = simulateTsubame(ctx, seeds, match, errs); err != nil {
		return "", err
	}
	return f.page()
}

// simulationRows are the page's sections that take a minute or two.
func simulationRows() []string { return append([]string{realTraces[0].name}, variants...) }

func simulateTsubame(ctx context.Context, seeds seedRange, match string, errs io.Writer) ([]tsubameRow, error) {
	var rows []tsubameRow
	for _, v := range variants {
		if !strings.Contains(v, match) {
			continue
		}
		fmt.Fprintf(errs, "simulating: Tsubame %s, seeds %s\n", v, seeds.String())
		for _, m := range methods() {
			results, err := benchmarks.Tsubame(ctx, v, m.ranges, seeds.First, seeds.count(), m.policy)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			rows = append(rows, tsubameRow{Variant: v, Method: m.name, Results: results})
		}
	}
	return rows, nil
}
