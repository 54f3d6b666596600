// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// winners is the stage that chooses among the bids.
type winners struct {
	opts     *AuctionOptions
	by       market.Determiner
	in       market.Window // what it chooses from
	result   ipmodel.Result
	unproven bool // the deadline struck before the optimum was known
}

// workPerEntry is how much work a small model is worth: more than that rarely
// betters it.
const workPerEntry = 8000

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
	build market.Builder
}

// make builds the program of a window's bids. It speaks in the objective's unit, whatever the
// window's worths are divided by.
func (m *model) make(space *market.Space, variants []market.Variant, w *window, book *market.Book, required []bool) error {
	if err := m.build.Build(space, variants, book, required, &m.Model); err != nil {
		return err
	}
	up := 0
	if w.opts.Objective == ByRate {
		up = rateBits
	}
	m.Scale = math.Ldexp(m.Scale, up-w.shift)
	return nil
}
