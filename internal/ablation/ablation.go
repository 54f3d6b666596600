// SPDX-License-Identifier: BSD-3-Clause

// Package ablation names the parts of the native solver that can be turned off one at a time,
// to measure what each is worth. The choice travels in the context of a call, so that it is
// neither a setting of users nor a state of the program.
package ablation

import "context"

// Parts is a set of parts.
type Parts uint32

// The parts, each with the file of ipmodel/native that it lives in.
const (
	Annealing  Parts = 1 << iota // anneal.go: the search for choices
	Prices                       // prices.go: the volume algorithm's steps
	Tree                         // tree.go: the linear relaxation and all that builds on it
	Branching                    // branch.go: all after the root
	Cliques                      // clique.go
	Rounding                     // gomory.go: mixed-integer rounding cuts
	CostFixing                   // root.go, branch.go: columns dropped by reduced cost
	Rank                         // rank.go: the order by prices
	Promotion                    // rank.go: what becomes of that order
	Near                         // anneal.go: moves near the last exchange
	Repair                       // eject.go: another column for the groups that went out
	Fill                         // eject.go: rows filled in a repair
	Tightening                   // tighten.go
	Dominated                    // dominated.go
	end
)

// All are all parts.
const All = end - 1

// Has reports whether all of q are in p.
func (p Parts) Has(q Parts) bool { return p&q == q }

type key struct{}

// Without returns a context in which the native solver does without the parts in off.
func Without(ctx context.Context, off Parts) context.Context {
	return context.WithValue(ctx, key{}, off)
}

// Off are the parts that the native solver has to do without.
func Off(ctx context.Context) Parts {
	off, _ := ctx.Value(key{}).(Parts)
	return off
}
