// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/generate"
)

// Subjects are those of the flags of a machine, a workload, and its replay.
func Subjects() []cli.Subject {
	return []cli.Subject{
		{Title: "Machine and workload", Flags: []string{"cluster", "workload", "first",
			"rate", "limit-factor", "extend-limits", "nodespec"}},
		{Title: "Simulation", Flags: []string{"seed", "seeds", "resample", "parallel",
			"priority", "interval", "deadline", "slurmctld", "backfill-test"}},
	}
}

// Complete has the shell complete --cluster and --workload, where the command has these: of machines
// it offers the papers', ipsched's, machines S and M of aucsched1, Tsubame. Where none of them begins
// as what was typed it offers files.
func Complete(c *cobra.Command) {
	orFiles := func(values ...string) cobra.CompletionFunc {
		return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return beginning(values, begun), cobra.ShellCompDirectiveDefault
		}
	}
	// fail for flags that there are not
	_ = c.RegisterFlagCompletionFunc("cluster", orFiles("1024x8x2", "128x8x2", "256x8x2", "1408x12x3"))
	_ = c.RegisterFlagCompletionFunc("workload", orFiles(generate.Generators()...))
}

// CompleteList has the shell offer values of a flag that takes several, with commas.
func CompleteList(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		given := begun[:strings.LastIndexByte(begun, ',')+1]
		var list []string
		for _, v := range values {
			if !slices.Contains(strings.Split(given, ","), v) {
				list = append(list, given+v)
			}
		}
		return beginning(list, begun), cobra.ShellCompDirectiveNoFileComp |
			cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	})
}

// beginning are the words that begin so, which not every shell looks at itself.
func beginning(words []string, begun string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, begun) })
}
