// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Laboratory is the program that measures, and has what only measurements need.
const Laboratory = "aucsched-lab"

// elsewhere is the annotation of a flag that has the command done by another program: its name, and
// the values that do so, if not all.
const elsewhere = "elsewhere"

// Elsewhere has the command done by that program if the flag is given, or with one of values if
// there are any.
func Elsewhere(c *cobra.Command, program, flag string, values ...string) {
	// fails for flags that there are not
	_ = c.Flags().SetAnnotation(flag, elsewhere, append([]string{program}, values...))
}

// DoneBy is the other program that does what the flags of the command ask for; empty if none does.
func DoneBy(c *cobra.Command) (program string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		by := f.Annotations[elsewhere]
		if len(by) == 1 || len(by) > 1 && slices.ContainsFunc(strings.Split(f.Value.String(), ","),
			func(v string) bool { return slices.Contains(by[1:], v) }) {
			program = by[0]
		}
	})
	return program
}
