// SPDX-License-Identifier: BSD-3-Clause

// Package policy is the flags of policies that commands share, and what they make of them.
package policy

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// Flags are the settings of policies that commands share.
type Flags struct {
	// Policy is the name of the policy; where a command takes several, with commas.
	Policy string
	// Slurmctld has backfill take its time as in a real one.
	Slurmctld bool
	// BackfillTest is how long backfill takes to look at a job.
	BackfillTest time.Duration
	// Estimates has blocked jobs told when they are expected to start.
	Estimates bool
	// Serial and ShrinkLimits are those of the auction.
	Serial       int
	ShrinkLimits bool
	// Others is nil where the laboratory does what asks for other policies and solvers.
	Others Others
	// Solver is the name of the auctions' solver.
	Solver string
	// NodeLimits and OnTimeout are ipsched's own.
	NodeLimits bool
	OnTimeout  string

	preset string
}

// Others makes all policies but auction2, and auction2 with another solver than the native one.
type Others func(f *Flags, flags *pflag.FlagSet) (core.Policy, error)

// Register has the flags in flags.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Policy, "policy", "auction2", "scheduling policy: "+strings.Join(Names(), ", "))
	f.register(flags)
	flags.BoolVar(&f.NodeLimits, "node-limits", true,
		"ipsched: hold jobs to the numbers of nodes they ask for; =false leaves the paper's constraint 5 out")
	flags.StringVar(&f.OnTimeout, "on-timeout", "incumbent",
		"ipsched: at the deadline start the best that is known (incumbent), or nothing, and "+
			"halve the next window (halve), as the paper does")
	flags.StringVar(&f.Solver, "solver", "native", "auctions: native, highs or auto")
}

// register has the flags of the auctions' settings. Those of presets alone are for experiments, and
// hidden elsewhere.
func (f *Flags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.preset, "preset", "",
		"auctions: settings by a name: "+strings.Join(settings.Names(), ", ")+
			" (docs/reference/settings.md); auction2 has default, the others none; what other flags do not say is the preset's")
	for _, p := range settings.Presets {
		if p.Old != "" {
			flags.Bool(p.Old, false, "--preset "+p.Name)
			_ = flags.MarkHidden(p.Old) // there is such a flag
		}
	}
	for _, s := range settings.All {
		name, usage := s.Flag(), "auctions: "+s.Meaning
		if slices.Contains(older.Shared, name) {
			usage = "auctions, ipsched: " + s.Meaning
		}
		switch {
		case s.Meaning == "":
			continue
		case s.Bool():
			flags.Bool(name, false, usage)
		case s.Values != nil:
			flags.String(name, s.Values[0], usage)
		case s.Seconds:
			flags.Duration(name, 0, usage)
		default:
			flags.Int64(name, s.Normal, usage)
		}
		cli.Unsaid(flags, name) // the preset says it
		if s.Instead != "" && f.Others == nil {
			_ = flags.MarkHidden(name) // likewise
		}
	}
}

// Given are the settings of the auctions that flags give, as "name=value".
func Given(flags *pflag.FlagSet) (given []string) {
	flags.Visit(func(flag *pflag.Flag) {
		name, value := strings.ReplaceAll(flag.Name, "-", "_"), flag.Value.String()
		switch {
		case settings.Find(name) == nil && settings.Instead(name) == "" && name != "preset":
			return
		case flag.Value.Type() == "bool":
			value = cli.YesNo(value == "true")
		case flag.Value.Type() == "duration":
			d, _ := time.ParseDuration(value) // it was parsed before
			value = strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
		}
		given = append(given, name+"="+value)
	})
	return given
}

// Solvers are the values of --solver.
func Solvers() []string { return []string{"native", "highs", "auto"} }

// auction2 is the policy that all programs make.
const auction2 = "auction2"

// Names are the policies that the flags know.
func Names() []string {
	return []string{older.Auction1, auction2, "backfill", "easy", "easy-sjf", "easy-saf", "easy-f1", "easy-wfp3", older.IPSched, "plan"}
}

// elsewhere are those that the laboratory makes.
func elsewhere() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == auction2 })
}

// HandOn has the laboratory do the command where flags ask for a policy or a solver that it has.
func HandOn(c *cobra.Command) {
	cli.Elsewhere(c, cli.Laboratory, "policy", elsewhere()...)
	cli.Elsewhere(c, cli.Laboratory, "solver", "highs")
}

// Make builds the policy that the flags ask for.
func (f *Flags) Make(flags *pflag.FlagSet) (core.Policy, error) {
	switch {
	case !slices.Contains(Names(), f.Policy):
		return nil, cli.Unknown("--policy", f.Policy, Names())
	case !slices.Contains(Solvers(), f.Solver):
		return nil, cli.Unknown("--solver", f.Solver, Solvers())
	case f.Policy == auction2 && f.Solver != "highs": // auto is the native one too
		return f.NewAuction(flags, native.New(), nil)
	case f.Others == nil:
		return nil, fmt.Errorf("--policy %s, --solver %s: this program has it not", f.Policy, f.Solver)
	}
	return f.Others(f, flags)
}

// NewAuction makes an auction of the flags, with a determiner of winners unless that is nil.
func (f *Flags) NewAuction(flags *pflag.FlagSet, solver ipmodel.Solver, by func(ipmodel.Solver) market.Determiner) (core.Policy, error) {
	o, err := f.Auction(flags)
	if err != nil {
		return nil, cli.BadInput(fmt.Errorf("--%w", err))
	}
	o.Estimates, o.Determiner = f.Estimates, by
	a, err := core.NewAuction(o, solver)
	return a, cli.BadInput(err)
}

// Settle changes a request to what counts of it under the policy. For ipsched without the paper's
// constraint 5 it asks for no number of nodes.
func (f *Flags) Settle(policy string, r *bids.Request) {
	if policy == older.IPSched && !f.NodeLimits {
		*r = older.WithoutNodeLimits(*r)
	}
}

// Auction are the auction's options: those of the preset, and on top the flags that were given.
func (f *Flags) Auction(flags *pflag.FlagSet) (o core.AuctionOptions, err error) {
	_, err = settings.Read(&o, append(Given(flags), "policy="+f.Policy))
	if fault := (*settings.Fault)(nil); errors.As(err, &fault) {
		return o, cli.Did(err, fault.Value, fault.Known)
	}
	o.Serial, o.ShrinkLimits = f.Serial, f.ShrinkLimits
	return o, nil
}

// auctions are the policies that Make makes of core.Auction.
var auctions = []string{"auction1", "auction2"}

// LookAt says which policies look at a flag. Those that are not here go with every policy.
func LookAt(flag string) []string {
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

// Check refuses a policy that is not in known. It warns of flags at which none of the policies
// looks: who compares policies may give all of them the same flags.
func (f *Flags) Check(flags *pflag.FlagSet, known []string) error {
	f.WarnOfOld(flags)
	names := strings.Split(f.Policy, ",")
	for _, name := range names {
		if !slices.Contains(known, name) && slices.Contains(settings.Names(), name) {
			return cli.BadInput(fmt.Errorf("--policy: %q is a preset of auction2: use --preset %[1]s", name))
		} else if !slices.Contains(known, name) {
			return cli.Unknown("--policy", name, known)
		}
	}
	own := Names()
	if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(own, name) }) {
		return nil // who adds policies says what goes with them
	}
	flags.Visit(func(flag *pflag.Flag) {
		some := LookAt(flag.Name)
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
		if why := settings.Instead(name); why != "" && (f.Others == nil || settings.Find(name) == nil) {
			why = strings.Replace(why, "preset=", "use --preset ", 1)
			slog.Warn(fmt.Sprintf("--%s is deprecated, and the next version does not have it: %s", flag.Name, why))
		}
	})
}

// Complete has the shell offer the values of the flags of policies, except for such as have theirs.
func (f *Flags) Complete(c *cobra.Command) {
	cli.CompleteFlag(c, "policy", Names()...)
	cli.CompleteFlag(c, "preset", settings.Names()...)
	cli.CompleteFlag(c, "objective", settings.Find("objective").Values...)
	cli.CompleteFlag(c, "on-timeout", "incumbent", "halve")
	cli.CompleteFlag(c, "solver", Solvers()...)
}
