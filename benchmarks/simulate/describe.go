// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/internal/cli"
)

// describe has help list the flags by subject, and the shell complete their values.
func (f *Flags) describe(c *cobra.Command) {
	subjects := append(replay.Subjects(), cli.PolicySubjects()...)
	files := slices.Concat([]string{"files", "locality"}, localityOnly, fileSettings)
	cli.Group(c, append(subjects,
		cli.Subject{Title: "Policies of other programs", Flags: []string{"answer-within"}},
		cli.Subject{Title: "Memory of jobs, and pods to the letter", Flags: []string{"count-memory", "memory-in-bytes", "exact-pods"}},
		cli.Subject{Title: "Ranges of GPUs", Flags: rangeSettings},
		cli.Subject{Title: "Malleable jobs", Flags: crewSettings},
		cli.Subject{Title: "Input files and data locality", Flags: files},
		cli.Subject{Title: "Switches", Flags: treeSettings},
		cli.Subject{Title: "Pods on shared GPUs", Flags: podOnly},
		cli.Subject{Title: "Output",
			Flags: []string{"json", "csv", "markdown", "html", "plot", "panels", "jobs-csv", "bound", "dry-run"}})...)
	replay.CompleteList(c, "policy", slices.Concat(policyNames(), presetPolicies())...)
	f.Policy.Complete(c)
	replay.Complete(c)
	cli.CompleteFlag(c, "priority", priorityNames...)
	cli.CompleteFlag(c, "mode", ModeNames()...)
	cli.CompleteFlag(c, "gpus-of-range", "least", "greatest")
	cli.CompleteFlag(c, "speedup", "linear", "amdahl-0.9", "amdahl-0.7")
	_ = c.MarkFlagFilename("html", "html") // there are such flags
	_ = c.MarkFlagFilename("jobs-csv", "csv")
	_ = c.MarkFlagFilename("plot", "pdf", "svg")
	replay.CompleteList(c, "panels", report.Panels()...)
}
