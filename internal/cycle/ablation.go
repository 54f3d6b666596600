// SPDX-License-Identifier: BSD-3-Clause

package cycle

import "context"

// Parts are those of the auction and of its solver that can be turned off one at a time, to measure
// what each is worth: true of what is off. The choice travels in the context of a call: it is
// neither a setting of users nor a state of the program.
type Parts struct {
	// In ipmodel/native, each with its file.
	Annealing   bool // anneal.go: the search for choices
	Prices      bool // prices.go: the volume algorithm's steps
	Enumeration bool // enumerate.go: the proofs of small windows
	Rank        bool // rank.go: the order by prices
	Promotion   bool // rank.go: what becomes of that order
	Near        bool // anneal.go: moves near the last exchange
	Repair      bool // eject.go: another column for the groups that went out
	Fill        bool // eject.go: rows filled in a repair
	Tightening  bool // tighten.go
	Dominated   bool // dominated.go

	// In core, of which other parts are settings.
	Duplicates bool
	Leftovers  bool
	Ranges     bool // numbers in place of ranges of GPUs
	Sorted     bool // the timetable's sorted orders, and the moves
	Moves      bool // the moves alone
	Planned    bool // three quarters of its jobs
}

type key struct{}

// Without returns a context in which a policy and its solver do without the parts in off.
func Without(ctx context.Context, off Parts) context.Context {
	return context.WithValue(ctx, key{}, off)
}

// Off are the parts to do without.
func Off(ctx context.Context) Parts {
	off, _ := ctx.Value(key{}).(Parts)
	return off
}
