// SPDX-License-Identifier: BSD-3-Clause

package policy

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/settings"
)

// auctions are the policies that Make makes of core.Auction.
var auctions = []string{"auction1", "auction2"}

// lookAt says which policies look at a flag. Those that are not here go with every policy.
func lookAt(flag string) []string {
	name := strings.ReplaceAll(flag, "-", "_")
	switch {
	case slices.Contains(older.Shared, flag):
		return append(slices.Clone(auctions), "ipsched")
	case settings.Find(name) != nil || settings.Instead(name) != "" || flag == "preset" || flag == "solver":
		return auctions
	}
	switch flag {
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
	f.WarnOfOld(flags)
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

// WarnOfOld says of flags that the next version does not have what has their place.
func (f *Flags) WarnOfOld(flags *pflag.FlagSet) {
	flags.Visit(func(flag *pflag.Flag) {
		name := strings.ReplaceAll(flag.Name, "-", "_")
		if why := settings.Instead(name); why != "" && (f.Older == nil || settings.Find(name) == nil) {
			why = strings.Replace(why, "preset=", "use --preset ", 1)
			slog.Warn(fmt.Sprintf("--%s is deprecated, and the next version does not have it: %s", flag.Name, why))
		}
	})
}

func parseTimeout(name string) (older.Timeout, error) {
	t, err := older.ParseTimeout(name)
	return t, cli.Did(err, name, timeouts)
}

// timeouts are the values of --on-timeout.
var timeouts = []string{"incumbent", "halve"}

// Complete has the shell offer the values of the flags of policies, but for such as have theirs.
func (f *Flags) Complete(c *cobra.Command) {
	cli.CompleteFlag(c, "policy", Names()...)
	cli.CompleteFlag(c, "preset", settings.Names()...)
	cli.CompleteFlag(c, "objective", settings.Find("objective").Values...)
	cli.CompleteFlag(c, "on-timeout", timeouts...)
	cli.CompleteFlag(c, "solver", Solvers()...)
}
