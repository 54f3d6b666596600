// SPDX-License-Identifier: BSD-3-Clause

package ipmodel

import (
	"context"
	"time"
)

// Status says how good a Result is.
type Status int

// The zero Status is Unknown: no feasible choice is known.
const (
	Unknown    Status = iota
	Optimal           // Chosen is proven to be worth most
	Feasible          // Chosen is feasible, Bound may lie above it
	Infeasible        // a required group can't be served
)

func (s Status) String() string {
	return [...]string{"unknown", "optimal", "feasible", "infeasible"}[s]
}

// Options of one call of Solve. The zero value solves to the end.
type Options struct {
	// Deadline is when the answer is due; zero means no deadline.
	Deadline time.Time
	// Now is the clock of the deadline; nil means time.Now.
	Now func() time.Time
	// Work ends the search after that many units of work (about one touched matrix entry each); 0
	// means no limit. If the deadline is not reached, the same Work and Seed give the same answer
	// on every machine.
	Work int64
	// Gap ends the search when the best choice is proven to be worth at least Bound/(1+Gap): 0.001
	// stands for a thousandth. 0 asks for the optimum; NaN and negative numbers count as 0.
	Gap float64
	// Seed starts the random choices.
	Seed uint64
	// Start is a feasible choice to begin with, or nil. An infeasible one is ignored.
	Start []int32
}

// Result is the answer to one call of Solve. Solve reuses its memory.
type Result struct {
	Status Status
	// Chosen are the chosen columns, ascending. Valid until the next Solve with the same Result.
	Chosen []int32
	// Value is the total worth of Chosen and Bound an upper bound on that of
	// any feasible choice, both in the model's units.
	Value, Bound int64
	// Prices is empty, or has the value of one more unit of capacity of each row of Model.Cap, not
	// negative. These are Lagrange multipliers or LP duals of a bound, not necessarily the least.
	// Valid as long as Chosen.
	Prices []float64
	// Work is the number of units of work done, Nodes the number of nodes visited in a search tree.
	Work, Nodes int64
}

// WithinGap reports whether a value is at least bound/(1+gap): see Options.Gap.
func WithinGap(worth, bound int64, gap float64) bool {
	return worth >= bound || (gap > 0 && float64(bound)-float64(worth) <= gap*float64(worth))
}

// Solver solves models. A Solver may keep memory between calls and is not safe for concurrent use.
type Solver interface {
	// Name is how the command line calls the solver.
	Name() string
	// Solve fills r with the best choice that it finds by the deadline; ctx ends it early in the
	// same way. It returns an error if there is no answer (the solver is not built in, or failed),
	// not if the optimum is missed.
	Solve(ctx context.Context, m *Model, o Options, r *Result) error
}
