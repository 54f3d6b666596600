// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

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
