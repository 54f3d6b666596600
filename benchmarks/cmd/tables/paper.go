// SPDX-License-Identifier: BSD-3-Clause

package main

import "github.com/aucsched/aucsched/benchmarks/papers"

// The methods that are compared, as they are called here.
const (
	methodBackfill = "backfill"
	methodAuction  = "auction2"
	methodRanges   = "auction2, GPU ranges"
	methodPaper    = "auction2, papers' settings"
	methodPaperRng = "auction2, papers' settings, GPU ranges"
)

// variants are the workloads of 350 jobs.
var variants = []string{"1.NC", "1.HC", "1.FC"}

// printed are the paper's names of methods.
var printed = map[string]string{
	methodBackfill: papers.SlurmBackfill,
	methodAuction:  papers.Aucsched2,
	methodRanges:   papers.Aucsched2Ranges,
}

// paperOf is the paper's row for a method, or nil where it has none.
func paperOf(variant, method string) *papers.TsubameRow {
	r, ok := papers.TsubameResult(variant, printed[method])
	if !ok {
		return nil
	}
	return &r
}
