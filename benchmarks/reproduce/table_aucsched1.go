// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/papers"
	"github.com/aucsched/aucsched/core"
)

// aucsched1Tables are tables 5 to 8 of aucsched1: the workloads I.1 to V.3 on three
// machines, and variants of the auction on the largest.
func aucsched1Tables() []Table {
	notes := []string{
		"Both methods decide every 5 s, AUCSCHED's interval (section 6), with the papers' settings: 5 bids a job, no reservation, so that a wide job may wait for ever.",
		"The paper does not say which priorities its runs had. Backfill's printed waits and slowdowns come out here with basic priorities and AUCSCHED's with multifactor ones, not the other way round: on I.1 of machine S AUCSCHED waits 1.25 h with basic ones, 1.74 h with multifactor ones, and 1.74 h in the paper; backfill 1.7 h, 2.2 h and 1.71 h. So the rows have these, and those with basic priorities for both are beside them: with these the auction prefers many small jobs to a large one, and jobs wait less than under backfill. The paper says that AUCSCHED favours large jobs, as multifactor priorities do.",
		"Utilisation of IV is lower here under either method than in the paper, see docs/workloads.md. With basic priorities AUCSCHED is behind in it on IV and V: without reservations it passes over large jobs, which are left at the end. Priorities that grow with size and age take them before that (benchmarks/results/backfill.md has settings with which it is ahead in either case).",
		"What is not explained: in the paper AUCSCHED's jobs spread less than backfill's, here more where half of the jobs or none are contiguous. The paper leaves open which nodesets a bid combines, and in what order bids are made until there are 5.",
	}
	tables := make([]Table, 4)
	for i, title := range []string{"machine S, 128 nodes", "machine M, 256 nodes", "machine L, 1024 nodes", "machine L, variants without SLURM bids"} {
		tables[i] = Table{
			Name:  fmt.Sprintf("aucsched1-%d", 5+i),
			Title: fmt.Sprintf("Soner, Özturan: AUCSCHED, table %d: %s of 8 cores and 2 GPUs", 5+i, title),
			Notes: notes,
		}
	}
	tables[3].Title = "Soner, Özturan: AUCSCHED, table 8: machine L, variants without SLURM bids"
	tables[3].Notes = append(slices.Clone(notes),
		"The limits of CPLEX's time, 5 s, 10 s (longsolve) and 3 s (shortsolve), become limits of the solver's work in the same ratio, so that results do not depend on the computer.",
		"The paper ran backfill anew, on other jobs, for each variant; here all variants have the same jobs and the same run of backfill.")
	for _, p := range papers.Aucsched1Tables() {
		t := &tables[p.Table-5]
		row := aucsched1Row(p)
		if t.Rows = append(t.Rows, row); row.Baseline || p.Variant != "" {
			continue
		}
		basic := row
		basic.Method += ", basic priorities"
		basic.Args = slices.DeleteFunc(slices.Clone(row.Args), func(a string) bool { return a == multifactor })
		t.Rows = append(t.Rows, basic)
	}
	return tables
}

// multifactor is the flag for the priorities with which AUCSCHED's waits come out.
const multifactor = "--priority=multifactor"

func aucsched1Row(p papers.Aucsched1Row) Row {
	row := Row{
		Workload: p.Workload, Method: p.Method, Baseline: p.Method == papers.Aucsched1Backfill,
		Quick: p.Machine == "S", Remark: p.Remark,
		Args: []string{fmt.Sprintf("--cluster=%dx8x2", p.Nodes), "--workload=gen:" + p.Workload, "--interval=5"},
		Paper: map[string]float64{
			CPUUtilization: p.Utilization, Runtime: p.Runtime, Wait: p.WaitMean, WaitStd: p.WaitStd,
			Fragmentation: p.FragmentationMean, FragmStd: p.FragmentationStd,
			Slowdown: p.Slowdown, Spread: p.SpreadMean, SpreadStd: p.SpreadStd,
		},
	}
	if p.Variant != "" {
		row.Workload += ", " + p.Variant
	}
	if row.Baseline {
		row.Args = append(row.Args, "--policy=backfill")
		return row
	}
	row.Args = append(row.Args, "--policy=auction1", "--paper", multifactor)
	row.Args = append(row.Args, aucsched1Variant(p.Variant)...)
	return row
}

// aucsched1Variant are the settings of a variant of table 8 (aucsched1, section 6.2).
func aucsched1Variant(variant string) []string {
	// CPLEX has 5 s in the paper for what our solver's default work is here.
	seconds := func(s int64) string {
		return fmt.Sprintf("--work=%d", core.PaperAuctionOptions().Work*s/5)
	}
	switch variant {
	case "":
		return []string{"--slurm-bids"}
	case papers.NoSlurmBids:
		return nil
	case papers.Largest:
		return []string{"--bids=15"}
	case papers.LargestLongsolve:
		return []string{"--bids=15", seconds(10)}
	case papers.LargestShortsolve:
		return []string{"--bids=15", seconds(3)}
	case papers.ContigOnlyBids:
		return []string{"--contiguous-bids"}
	}
	panic("reproduce: aucsched1, table 8: unknown variant " + variant) // the data are compiled in
}
