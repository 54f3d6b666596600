// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"fmt"
	"strings"
)

// Rule is how a scheduler ranks nodes.
type Rule int

// The five schedulers of section 4, and one beyond them.
const (
	FCFS Rule = iota // algorithm 1: the earliest start
	EFT              // algorithm 2: the file available earliest
	LEA              // algorithm 3: locality and eviction aware
	LEO              // algorithm 4: as EFT on nodes that are free now, as LEA on others
	LEM              // algorithm 5: as EFT while fewer than 80% of the nodes are busy, as LEA from there on
	LEAD             // from LEO to LEA, the more jobs wait: see benchmarks/results/locality-adaptive.md
)

var ruleNames = [...]string{"fcfs", "eft", "lea", "leo", "lem", "lead"}

// Policy is one of the twelve schedulers.
type Policy struct {
	Rule Rule
	// Backfill has jobs take gaps before reservations of earlier ones (section 4.3).
	Backfill bool
}

const backfillSuffix = "-bf"

// String is the policy's name, as [ParsePolicy] takes it.
func (p Policy) String() string {
	name := ruleNames[p.Rule]
	if p.Backfill {
		name += backfillSuffix
	}
	return name
}

// Policies are all twelve, each followed by its twin with backfilling.
func Policies() []Policy {
	var all []Policy
	for r := range ruleNames {
		all = append(all, Policy{Rule: Rule(r)}, Policy{Rule: Rule(r), Backfill: true})
	}
	return all
}

// ParsePolicy gives the policy called name: fcfs, eft, lea, leo, lem or lead, with or without -bf.
func ParsePolicy(name string) (Policy, error) {
	known := make([]string, 0, 2*len(ruleNames))
	for _, p := range Policies() {
		if p.String() == name {
			return p, nil
		}
		known = append(known, p.String())
	}
	return Policy{}, fmt.Errorf("policy: %q is unknown; known are %s", name, strings.Join(known, ", "))
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
