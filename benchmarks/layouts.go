// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"context"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/benchmarks/layout"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
)

// ModelSize is how many columns and rows a model has.
type ModelSize struct{ Columns, Rows int64 }

// Outcome is what one policy made of a window.
type Outcome struct {
	Objective, Bound float64
	Started          int
	Elapsed          time.Duration
}

// Gap is by how much of the objective the bound lies above it.
func (o *Outcome) Gap() float64 { return o.Bound/o.Objective - 1 }

// Layouts are AUCSCHED1 and AUCSCHED2 side by side on one window with the same bids.
type Layouts struct {
	// Fixed is the size of AUCSCHED2's model, |B| and |J| + 2|N|; Printed that of AUCSCHED1's as
	// printed, Direct that of the one that is made.
	Fixed, Printed, Direct ModelSize
	// Auction1 and Auction2 are the policies' outcomes.
	Auction1, Auction2 Outcome
}

// CompareLayouts decides the window with both auctions, all jobs in one window and options o, and
// verifies the plans.
func CompareLayouts(w *Window, o core.AuctionOptions) (*Layouts, error) {
	x := new(Layouts)
	o.Window = len(w.Variants)
	var free *layout.Determiner
	for _, layouts := range []bool{false, true} {
		if layouts {
			o.Determiner = func(packing ipmodel.Solver) market.Determiner {
				free = layout.NewDeterminer(packing)
				return free
			}
		}
		auction, err := core.NewAuction(o, nil)
		if err != nil {
			return nil, err
		}
		out := &x.Auction2
		if layouts {
			out = &x.Auction1
		}
		if err := out.decide(w, auction); err != nil {
			return nil, fmt.Errorf("%s: %w", auction.Name(), err)
		}
		if layouts {
			err = x.measure(w, free)
		}
		if err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *Outcome) decide(w *Window, a *core.Auction) error {
	var p core.Plan
	for range 2 { // the second time memory has grown to its size
		if err := a.Decide(context.Background(), &w.Snapshot, core.Limits{Seed: 1}, &p); err != nil {
			return err
		}
	}
	*x = Outcome{p.Objective, p.Bound, started(&p), p.Stats.Elapsed}
	return checkPlan(w, &p)
}

// measure sets the sizes of the models of auction1's last cycle.
func (x *Layouts) measure(w *Window, d *layout.Determiner) error {
	p, err := d.Program()
	if err != nil {
		return err
	}
	last := d.Window()
	m, book := last.Fixed, last.Book
	jobs, nodes, type3 := int64(m.Groups()), int64(w.Snapshot.Nodes.Len()), int64(0)
	for j := range w.Variants {
		if w.Variants[j].Spec.Exact() {
			type3++
		}
	}
	x.Fixed = ModelSize{int64(len(m.Value)), jobs + 2*nodes}
	x.Printed.Columns, x.Printed.Rows = layout.PaperSize(jobs, nodes, int64(len(book.Bids)), type3)
	x.Direct = ModelSize{int64(p.Columns()), int64(p.Rows())}
	return nil
}
