// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/ipmodel"
)

// answer is what is known of a model's best choice so far. It trusts nobody:
// choices are checked, and bounds that contradict them are given up.
type answer struct {
	m          *ipmodel.Model
	known      bool
	chosen     []int32
	worth      int64
	bound      int64
	infeasible bool
	gap        float64 // that is near enough
	end        endFrame
	patience   time.Duration // before the worker is killed; 0: no limit
	blamed     error         // what the worker did first that it should not
}

func newAnswer(m *ipmodel.Model) *answer { return &answer{m: m, bound: trivialBound(m)} }

// offer keeps a choice that is feasible and better than what is known, and
// reports whether it is feasible.
func (a *answer) offer(chosen []int32) bool {
	worth, err := a.m.Check(chosen)
	if err != nil {
		return false
	}
	if !a.known || worth > a.worth {
		a.known, a.worth = true, worth
		a.chosen = append(a.chosen[:0], chosen...)
		slices.Sort(a.chosen)
	}
	return true
}

func (a *answer) tighten(bound int64) {
	a.bound = min(a.bound, bound)
	if a.known && a.bound < a.worth {
		a.blame(fmt.Errorf("%w: a bound below what is known", errNonsense))
	}
}

// nearEnough reports whether what is known is within the gap that is asked for. Without one the
// worker is to say itself that it is done.
func (a *answer) nearEnough() bool {
	return a.gap > 0 && a.known && ipmodel.WithinGap(a.worth, a.bound, a.gap)
}

// blame notes a fault of the worker that does not spoil the answer.
func (a *answer) blame(err error) {
	if a.blamed == nil {
		a.blamed = err
	}
}

// easy settles models that need no solver: those with a required group that has
// no columns, and those where the best column of each group fits.
func (a *answer) easy() bool {
	var best []int32
	for g := range a.m.Groups() {
		from, to := a.m.GroupStart[g], a.m.GroupStart[g+1]
		if from == to {
			if a.m.IsRequired(g) {
				a.infeasible = true
				return true
			}
			continue
		}
		most := from
		for i := from + 1; i < to; i++ {
			if a.m.Value[i] > a.m.Value[most] {
				most = i
			}
		}
		best = append(best, most)
	}
	return a.offer(best)
}

func (a *answer) fill(r *ipmodel.Result) {
	r.Work, r.Nodes = a.end.Work, a.end.Nodes
	r.Chosen = append(r.Chosen[:0], a.chosen...)
	r.Value = a.worth
	if a.known && a.bound < a.worth {
		a.bound = trivialBound(a.m)
	}
	r.Bound = a.bound
	switch {
	case a.known && a.bound == a.worth:
		r.Status = ipmodel.Optimal
	case a.known:
		r.Status = ipmodel.Feasible
	case a.infeasible:
		r.Status, r.Bound = ipmodel.Infeasible, 0
	default:
		r.Status = ipmodel.Unknown
	}
}
