// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"context"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// Stage is one step of a cycle on one window. It reuses its memory from run to run,
// as a scheduler would.
type Stage struct {
	// Run does the step once. It is nil where Repeat is not.
	Run func() error
	// Repeat does the step so many times in another process, and says how long that took
	// there.
	Repeat func(times int) (time.Duration, error)
	// Check reports what is wrong with the answer of the last Run, by means that
	// the step itself does not use. It is slow.
	Check func() error
	// Sizes say how much the last Run had to do and what came of it.
	Sizes func() []Size
}

// Size is a number with its name.
type Size struct {
	Of string
	N  int
}

// Times does the step so many times and says how long that took.
func (s Stage) Times(n int) (time.Duration, error) {
	if s.Repeat != nil {
		return s.Repeat(n)
	}
	begin := time.Now()
	for range n {
		if err := s.Run(); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// bidOptions are the recommended ones.
func bidOptions() market.Options {
	o := core.Preset("none")
	return market.Options{MaxBidsPerJob: o.MaxBidsPerJob, Drafts: o.Drafts, ContiguousOnly: o.ContiguousOnly}
}

// Bids is market.Generator.Generate for all jobs of the window.
func Bids(w *Window) Stage {
	var gen market.Generator
	var book market.Book
	space, o := market.Space{Now: w.Snapshot.Nodes}, bidOptions()
	return Stage{
		Run:   func() error { gen.Generate(&space, w.Variants, o, &book); return nil },
		Check: func() error { return checkBook(w, o, &book) },
		Sizes: func() []Size { return []Size{{"bids", len(book.Bids)}, {"bid classes", book.NodeSets}} },
	}
}

// checkBook checks that every bid is within its job's number, meets the job's
// request and fits on the machine, and that the bids of a draft fit together.
func checkBook(w *Window, o market.Options, book *market.Book) error {
	if book.Jobs() != len(w.Variants) || len(book.Bids) == 0 {
		return fmt.Errorf("%d bids of %d jobs, for %d", len(book.Bids), book.Jobs(), len(w.Variants))
	}
	var t nodeset.Table
	t.CopyFrom(w.Snapshot.Nodes)
	for j, job := range w.Snapshot.Pending {
		if k := len(book.Of(j)); k > o.MaxBidsPerJob {
			return fmt.Errorf("job %s: %d bids, more than %d", job.ID, k, o.MaxBidsPerJob)
		}
		for i := int(book.JobStart[j]); i < int(book.JobStart[j+1]); i++ {
			segs := book.Allocation(i)
			if err := place.CheckSegments(&job.Request, segs, t.Len()); err != nil {
				return fmt.Errorf("job %s, bid %d: %w", job.ID, i, err)
			}
			if err := t.Allocate(segs); err != nil {
				return fmt.Errorf("job %s, bid %d: %w", job.ID, i, err)
			}
			if err := t.Release(segs); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTogether checks that bids are of different jobs and fit on the machine side
// by side.
func checkTogether(w *Window, book *market.Book, chosen []int32) error {
	var t nodeset.Table
	t.CopyFrom(w.Snapshot.Nodes)
	served := make(map[int32]bool)
	for _, b := range chosen {
		job := book.Bids[b].Job
		if served[job] {
			return fmt.Errorf("job %d has two bids", job)
		}
		served[job] = true
		if err := t.Allocate(book.Allocation(int(b))); err != nil {
			return fmt.Errorf("bid %d: %w", b, err)
		}
	}
	return nil
}

// Model is market.Builder.Build with merged rows, for the bids of the stage Bids.
func Model(w *Window) Stage {
	var gen market.Generator
	var book market.Book
	space := market.Space{Now: w.Snapshot.Nodes}
	gen.Generate(&space, w.Variants, bidOptions(), &book)
	build := market.Builder{Merge: true}
	var m ipmodel.Model
	return Stage{
		Run:   func() error { return build.Build(&space, w.Variants, &book, nil, &m) },
		Check: func() error { return checkModel(w, &book, &m) },
		Sizes: func() []Size {
			return []Size{{"columns", len(m.Value)}, {"rows", m.Groups() + len(m.Cap)}, {"entries", len(m.Row)}}
		},
	}
}

// checkModel checks the model's form, that the machine has room for a solution of
// it, and that the model has room for the drafts, which fit on the machine.
func checkModel(w *Window, book *market.Book, m *ipmodel.Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if len(m.Value) != len(book.Bids) || m.Groups() != len(w.Variants) {
		return fmt.Errorf("%d columns in %d groups, for %d bids of %d jobs", len(m.Value), m.Groups(), len(book.Bids), len(w.Variants))
	}
	var r ipmodel.Result
	if err := native.New().Solve(context.Background(), m, ipmodel.Options{Work: 100_000}, &r); err != nil {
		return err
	}
	if len(r.Chosen) == 0 {
		return fmt.Errorf("nothing is chosen")
	}
	if err := checkTogether(w, book, r.Chosen); err != nil {
		return fmt.Errorf("solution: %w", err)
	}
	return nil
}

// Cycle is core.Auction.Decide with the recommended options, save that the window is
// as wide as the queue. The solver ends after its share of work, not by the clock, so
// every run decides alike.
func Cycle(w *Window) (Stage, error) {
	o := core.Preset("none")
	o.Window = len(w.Variants)
	auction, err := core.NewAuction(o, nil)
	if err != nil {
		return Stage{}, err
	}
	var p core.Plan
	return Stage{
		Run: func() error {
			return auction.Decide(context.Background(), &w.Snapshot, core.Limits{Seed: 1}, &p)
		},
		Check: func() error { return checkPlan(w, &p) },
		Sizes: func() []Size {
			sizes := []Size{{"solver's work", int(p.Stats.Work)}, {"started", started(&p)}, {"gap‰", gap(&p)}}
			if tree := w.Snapshot.Topology; tree != nil {
				sizes = append(sizes, Size{"leaves a 100 jobs", leavesAJob(tree, &p)})
			}
			return sizes
		},
	}, nil
}

func checkPlan(w *Window, p *core.Plan) error {
	if err := core.Verify(&w.Snapshot, p); err != nil {
		return err
	}
	if len(p.Decisions) != len(w.Variants) || started(p) == 0 {
		return fmt.Errorf("%d decisions on %d jobs, %d start", len(p.Decisions), len(w.Variants), started(p))
	}
	if p.Objective > p.Bound {
		return fmt.Errorf("objective %v above its bound %v", p.Objective, p.Bound)
	}
	return nil
}

func started(p *core.Plan) (n int) {
	for _, d := range p.Decisions {
		if d.Start {
			n++
		}
	}
	return n
}

// gap is by how much the bound lies above the objective, in thousandths of it.
func gap(p *core.Plan) int {
	return int(1000*(p.Bound-p.Objective)/p.Objective + 0.5)
}
