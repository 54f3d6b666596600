// SPDX-License-Identifier: BSD-3-Clause

// Package ablation names the parts of the native solver that can be turned off one at a time, to
// measure what each is worth. The choice travels in the context of a call: it is
// neither a setting of users nor a state of the program.
package ablation

import "context"

// Parts is a set of parts.
type Parts uint32

// The parts, each with the file of ipmodel/native that it lives in.
const (
	Annealing   Parts = 1 << iota // anneal.go: the search for choices
	Prices                        // prices.go: the volume algorithm's steps
	Enumeration                   // enumerate.go: the proofs of small windows
	Rank                          // rank.go: the order by prices
	Promotion                     // rank.go: what becomes of that order
	Near                          // anneal.go: moves near the last exchange
	Repair                        // eject.go: another column for the groups that went out
	Fill                          // eject.go: rows filled in a repair
	Tightening                    // tighten.go
	Dominated                     // dominated.go
)

// All are all parts.
const All = 2*Dominated - 1

// Has reports whether all of q are in p.
func (p Parts) Has(q Parts) bool { return p&q == q }

type key struct{}

// Without returns a context in which the native solver does without the parts in off.
func Without(ctx context.Context, off Parts) context.Context {
	return context.WithValue(ctx, key{}, off)
}

// Off are the parts to do without.
func Off(ctx context.Context) Parts {
	off, _ := ctx.Value(key{}).(Parts)
	return off
}
