// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"context"
	"errors"

	"github.com/aucsched/aucsched/benchmarks/intprog"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Determiner makes an auction AUCSCHED1's: the program chooses how many cores each of a winner's
// nodes gives (aucsched1, section 3). A cycle may take four times Options.Work: as much for
// AUCSCHED2's choice, and the rest for a better one.
type Determiner struct {
	solver *Solver
	window *Window // of the last call
	result Result
}

// NewDeterminer returns a Determiner whose packing models the given solver solves.
func NewDeterminer(packing ipmodel.Solver) *Determiner { return &Determiner{solver: New(packing)} }

// Name is "auction1".
func (d *Determiner) Name() string { return "auction1" }

// Determine fills r with the best winners and layouts that it finds.
func (d *Determiner) Determine(ctx context.Context, w *Window, o ipmodel.Options, r *ipmodel.Result) error {
	d.window = w
	err := d.solver.Solve(ctx, w, o, &d.result)
	*r = d.result.Result
	return err
}

// Allocation is the layout of the i-th winner of the last answer.
func (d *Determiner) Allocation(i int) []nodeset.Segment { return d.result.Layout(i) }

// Program is the program of the last window as aucsched1 prints it.
func (d *Determiner) Program() (*intprog.Program, error) {
	if d.window == nil {
		return nil, errors.New("no window has been solved")
	}
	p, err := NewDirect(d.window.Space, d.window.Variants, d.window.Book, d.window.Fixed)
	if err != nil {
		return nil, err
	}
	return &p.Program, nil
}

// Window is the last one, nil before the first.
func (d *Determiner) Window() *Window { return d.window }
