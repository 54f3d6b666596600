// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"fmt"
	"slices"
	"strings"
)

// rule is how a scheduler ranks nodes.
type rule int

// The five schedulers of section 4, and one beyond them.
const (
	fcfs rule = iota // algorithm 1: the earliest start
	eft              // algorithm 2: the file available earliest
	lea              // algorithm 3: locality and eviction aware
	leo              // algorithm 4: as EFT on nodes that are free now, as LEA on others
	// algorithm 5: as EFT while under 80% of the nodes are busy, as LEA from there on
	lem
	lead // from LEO to LEA, the more jobs wait: see benchmarks/results/locality-adaptive.md
)

var ruleNames = [...]string{"fcfs", "eft", "lea", "leo", "lem", "lead"}

const backfillSuffix = "-bf"

// Policies are the names of all twelve schedulers: fcfs, eft, lea, leo, lem and lead, each followed
// by its twin with backfilling (section 4.3), whose name ends in -bf.
func Policies() []string {
	var all []string
	for _, name := range ruleNames {
		all = append(all, name, name+backfillSuffix)
	}
	return all
}

// policy is one of the twelve.
type policy struct {
	rule rule
	// backfill has jobs take gaps before reservations of earlier ones.
	backfill bool
}

// policyOf is the one of that name. The empty name is fcfs.
func policyOf(name string) (policy, error) {
	if name == "" {
		return policy{}, nil
	}
	short, backfill := strings.CutSuffix(name, backfillSuffix)
	if r := slices.Index(ruleNames[:], short); r >= 0 {
		return policy{rule(r), backfill}, nil
	}
	known := strings.Join(Policies(), ", ")
	return policy{}, fmt.Errorf("policy: %q is unknown; known are %s", name, known)
}

func (p policy) String() string {
	if p.backfill {
		return ruleNames[p.rule] + backfillSuffix
	}
	return ruleNames[p.rule]
}

// weights are those of a node's score, t_k + load x LoadOverhead + evict x EvictionPenalty
// (algorithm 3, line 8). All schedulers are this sum with different weights.
type weights struct{ load, evict float64 }

var (
	startOnly  = weights{0, 0}
	finishSoon = weights{1, 0}   // algorithm 2
	keepFiles  = weights{500, 1} // algorithm 3, W = 500
)

// busyPercent is the share of busy nodes from which LEM keeps files (algorithm 5, line 3).
const busyPercent = 80
