// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// winners is the stage that chooses among the bids.
type winners struct {
	opts     *AuctionOptions
	by       market.Determiner
	in       market.Window // what it chooses from
	result   ipmodel.Result
	start    []int32 // bids that are known to be feasible together
	rest     place.Residual
	used     []int64 // of each row of the model; scratch
	unproven bool    // the deadline struck before the optimum was known
}

// workPerEntry is how much work a small model is worth: more than that seldom
// betters it.
const workPerEntry = 8000

// bestStart is the most worthy choice that is known to be feasible: a draft, what the
// walk over the queue has kept, or, if nothing is, the offers.
func (x *winners) bestStart(w *window, r *reservations, book *market.Book, m *model) []int32 {
	x.start = append(x.start[:0], book.Kept...)
	var most int64
	for _, b := range x.start {
		most += w.variants[book.Bids[b].Job].Priority
	}
	for _, d := range book.Drafts {
		var worth int64
		musts := 0
		for _, b := range d {
			k := book.Bids[b].Job
			worth += w.variants[k].Priority
			if r.guarded[w.ways[k].job].must {
				musts++
			}
		}
		if worth > most && musts == len(book.Kept) && x.modelled(r, m, d) {
			x.start, most = append(x.start[:0], d...), worth
		}
	}
	if len(book.Kept) == 0 {
		n := len(x.start)
		all, worth := x.startOfOffers(x.start, &r.space, w.variants, book)
		if x.start = all[:n]; worth > most {
			x.start = all[n:]
		}
	}
	return x.start
}

// modelled reports whether the model's rows admit a draft. With GPUs that are shared and planned
// for later they know less than all that is feasible.
func (x *winners) modelled(r *reservations, m *model, draft []int32) bool {
	if _, shared := r.space.Now.Shares(); !shared || len(r.space.Left) == 0 {
		return true
	}
	x.used = resize(x.used, len(m.Cap))
	clear(x.used)
	for _, i := range draft {
		for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
			x.used[m.Row[k]] += int64(m.Coef[k])
		}
	}
	for row, used := range x.used {
		if used > m.Cap[row] {
			return false
		}
	}
	return true
}

// startOfOffers is the choice of all offers, each if those before it leave room for it.
func (x *winners) startOfOffers(
	dst []int32, space *market.Space, variants []market.Variant, book *market.Book,
) (chosen []int32, worth int64) {
	fresh := false
	for j := range variants {
		for b := book.JobStart[j]; b < book.JobStart[j+1]; b++ {
			if book.Bids[b].Class != market.ClassS {
				continue
			}
			if !fresh { // most windows have no offers
				x.rest.Reset(space.Now, space.Left)
				x.rest.Limit(&space.Quotas)
				fresh = true
			}
			if x.rest.Take(&variants[j].Spec, book.Allocation(int(b)), variants[j].Crosses) == nil {
				dst, worth = append(dst, b), worth+variants[j].Priority
				break
			}
		}
	}
	return dst, worth
}

// packing is the Determiner of AUCSCHED2.
type packing struct {
	solver ipmodel.Solver
	window *market.Window // of the last call
	chosen []int32
}

func (p *packing) Name() string { return "auction2" }

func (p *packing) Determine(ctx context.Context, w *market.Window, o ipmodel.Options, r *ipmodel.Result) error {
	if err := p.solver.Solve(ctx, w.Fixed, o, r); err != nil {
		return fmt.Errorf("solver %s: %w", p.solver.Name(), err)
	}
	p.window, p.chosen = w, r.Chosen
	return nil
}

func (p *packing) Allocation(i int) []nodeset.Segment {
	return p.window.Book.Allocation(int(p.chosen[i]))
}

func (p *packing) Window() *market.Window { return p.window }

// model is the stage that states the choice among the bids as an integer program.
type model struct {
	ipmodel.Model
	build    market.Builder
	required []bool // by job of the window: it has to start; nil: none has to
}

// make builds the program of a window's bids. It speaks in the objective's unit, whatever the
// window's worths are divided by.
func (m *model) make(space *market.Space, variants []market.Variant, w *window, book *market.Book, required []bool) error {
	if err := m.build.Build(space, variants, book, required, &m.Model); err != nil {
		return err
	}
	if m.required = required; len(m.Required) == 0 {
		m.required = nil
	}
	up := 0
	if w.opts.Objective == ByRate {
		up = rateBits
	}
	m.Scale = math.Ldexp(m.Scale, up-w.shift)
	return nil
}

// boundAll is an upper bound on the worth of any allocations of the window's jobs, in the
// objective's unit.
func (m *model) boundAll(w *window, gen *market.Generator) float64 {
	unit := 1 / math.Ldexp(m.Scale, w.shift) // to which worths are rounded
	bound := gen.Bound(m.required, m.build.Alpha()+unit)
	return math.Ldexp(bound*(1+rounding), w.shift)
}

// rounding is more than what the floating-point sums of boundAll can be off by.
const rounding = 1e-9
