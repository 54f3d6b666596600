// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ExactArgs takes n arguments.
func ExactArgs(n int) cobra.PositionalArgs { return betweenArgs(n, n) }

// MinimumArgs takes n arguments or more.
func MinimumArgs(n int) cobra.PositionalArgs { return betweenArgs(n, math.MaxInt) }

// MaximumArgs takes n arguments or fewer.
func MaximumArgs(n int) cobra.PositionalArgs { return betweenArgs(0, n) }

// betweenArgs takes least to most arguments, and names those that are missing as the command's Use
// line does. A word too many of a command that has others below it was to be one of these.
func betweenArgs(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) > most && c.HasAvailableSubCommands():
			return noCommand(c, args[most])
		case len(args) > most && most == 0:
			return seeHelp(c, fmt.Errorf("%s takes no arguments: %.60q is one", c.Name(), args[0]))
		case len(args) > most:
			return seeHelp(c, fmt.Errorf("%s: %.60q is an argument too many", c.Name(), args[most]))
		case len(args) < least:
			return Missing(c, argNames(c, least)[len(args):]...)
		}
		return nil
	}
}

// Missing is the error of arguments or flags of c that must be there and are not.
func Missing(c *cobra.Command, what ...string) error {
	verb := " is"
	if len(what) > 1 {
		verb = " are"
	}
	list := strings.Join(what, ", ")
	if last := strings.LastIndex(list, ", "); last >= 0 {
		list = list[:last] + " and " + list[last+2:]
	}
	err := fmt.Errorf("%s: %s%s missing", c.Name(), list, verb)
	if example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n"); example != "" {
		err = fmt.Errorf("%w; for example: %s", err, example)
	}
	return seeHelp(c, err)
}

// argNames are what the Use line calls the first n arguments.
func argNames(c *cobra.Command, n int) (names []string) {
	for _, word := range strings.Fields(c.Use)[1:] {
		word, _, _ = strings.Cut(strings.Trim(word, "[]"), "[")
		if word = strings.TrimSuffix(word, "..."); !strings.HasPrefix(word, "-") && word != "" {
			names = append(names, word)
		}
	}
	for len(names) < n {
		names = append(names, fmt.Sprintf("argument %d", len(names)+1))
	}
	return names[:n]
}

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
