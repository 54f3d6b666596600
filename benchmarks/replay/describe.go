// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/generate"
)

// Subjects are those of the flags of a machine, a workload, and its replay.
func Subjects() []cli.Subject {
	return []cli.Subject{
		{Title: "Machine and workload", Flags: []string{"cluster", "workload", "first",
			"rate", "limit-factor", "extend-limits", "nodespec"}},
		{Title: "Simulation", Flags: []string{"seed", "priority", "interval", "deadline", "slurmctld", "backfill-test"}},
	}
}

// Complete has the shell complete --cluster and --workload, where the command has these. Of
// machines it offers the papers': ipsched's, machines S and M of aucsched1, Tsubame.
func Complete(c *cobra.Command) {
	cli.CompleteFlagFile(c, "cluster", []string{"1024x8x2", "128x8x2", "256x8x2", "1408x12x3"}, "conf", "csv", "txt", "json")
	cli.CompleteFlagFile(c, "workload", generate.Generators(), "swf", "swf.gz", "txt", "txt.gz", "csv", "csv.gz", "json")
}
