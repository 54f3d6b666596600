// SPDX-License-Identifier: BSD-3-Clause

package policy

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/older"
)

// auctions are the policies that Make makes of core.Auction.
var auctions = []string{"auction1", "auction2"}

// lookAt says which policies look at a flag. Those that are not here go with every policy.
func lookAt(flag string) []string {
	switch flag {
	case "paper", "throughput", "preset", "promise", "depth", "bids", "drafts", "reservations", "patience", "compact",
		"contiguous-bids", "keep-holes", "solver":
		return auctions
	case "window", "work", "objective":
		return append(slices.Clone(auctions), "ipsched")
	case "node-limits", "on-timeout":
		return []string{"ipsched"}
	case "backfill-test":
		return []string{"backfill"}
	}
	return Names()
}

// Check refuses a policy that is none of known, and warns of flags at which none of the policies
// looks: who compares policies one by one may give all of them the same flags.
func (f *Flags) Check(flags *pflag.FlagSet, known []string) error {
	names := strings.Split(f.Policy, ",")
	for _, name := range names {
		if !slices.Contains(known, name) {
			return cli.Unknown("--policy", name, known)
		}
	}
	own := Names()
	if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(own, name) }) {
		return nil // who adds policies says what goes with them
	}
	flags.Visit(func(flag *pflag.Flag) {
		some := lookAt(flag.Name)
		if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(some, name) }) {
			slog.Warn(fmt.Sprintf("--%s does nothing with --policy %s; it is for %s", flag.Name, f.Policy, strings.Join(some, ", ")))
		}
	})
	return nil
}

// Objectives are the values of --objective.
func Objectives() []string {
	var names []string
	for o := core.ByPriority; o <= core.ByRate; o++ {
		names = append(names, o.String())
	}
	return names
}

func parseObjective(name string) (core.Objective, error) {
	o, err := core.ParseObjective(name)
	return o, cli.Did(err, name, Objectives())
}

func parseTimeout(name string) (older.Timeout, error) {
	t, err := older.ParseTimeout(name)
	return t, cli.Did(err, name, timeouts)
}

// timeouts are the values of --on-timeout.
var timeouts = []string{"incumbent", "halve"}

// Complete has the shell offer the values of the flags of policies; with several, where a command
// takes names with commas.
func (f *Flags) Complete(c *cobra.Command, flag string, several bool, policies []string) {
	if several {
		cli.CompleteFlagList(c, flag, policies...)
	} else {
		cli.CompleteFlag(c, flag, policies...)
	}
	cli.CompleteFlag(c, "preset", core.Presets()...)
	cli.CompleteFlag(c, "objective", Objectives()...)
	cli.CompleteFlag(c, "on-timeout", timeouts...)
	cli.CompleteFlag(c, "solver", Solvers()...)
}
