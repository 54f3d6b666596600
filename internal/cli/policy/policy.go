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
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
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
	// Older makes auction1 and ipsched; nil where another program does what asks for them.
	Older *older.Policies

	preset string
	solver string
	// nodeLimits and onTimeout are ipsched's own.
	nodeLimits bool
	onTimeout  string
}

// Register has the flags in flags.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Policy, "policy", "auction2", "scheduling policy: "+strings.Join(Names(), ", "))
	f.register(flags)
	flags.BoolVar(&f.nodeLimits, "node-limits", true,
		"ipsched: hold jobs to the numbers of nodes they ask for; =false leaves the paper's constraint 5 out")
	flags.StringVar(&f.onTimeout, "on-timeout", "incumbent",
		"ipsched: at the deadline start the best that is known (incumbent), or nothing, and "+
			"halve the next window (halve), as the paper does")
	flags.StringVar(&f.solver, "solver", "native", "auctions: native, highs or auto")
}

// register has the flags of the auctions' settings. Those of presets alone are for experiments, and
// hidden elsewhere.
func (f *Flags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.preset, "preset", "",
		"auctions: settings by a name: "+strings.Join(settings.Names(), ", ")+" (docs/reference/settings.md); other flags come on top")
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
		if s.Instead != "" && f.Older == nil {
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

// Of a slurmctld, in seconds: the default of bf_interval, and after how long the nodes of a job
// that has ended take the next. The first job to use them was started 1.4 to 2.0 s after the end,
// in the median, on the emulated machines of benchmarks/results/emulation.md.
const (
	slurmInterval = 30
	SlurmRelease  = 2
)

// Names are the policies that the flags know.
func Names() []string {
	return slices.Concat([]string{"auction1", "auction2", "backfill"}, easyNames(), []string{"ipsched", "plan"})
}

// elsewhere are those that another program makes.
func elsewhere() []string { return append(older.Names(), "plan") }

// HandOn has the laboratory do the command where flags ask for a policy or a solver that it has.
func HandOn(c *cobra.Command) {
	cli.Elsewhere(c, cli.Laboratory, "policy", elsewhere()...)
	cli.Elsewhere(c, cli.Laboratory, "solver", "highs")
}

// Make builds the policy that the flags ask for.
func (f *Flags) Make(flags *pflag.FlagSet) (core.Policy, error) {
	if f.Older == nil && slices.Contains(elsewhere(), f.Policy) {
		return nil, fmt.Errorf("--policy %s: this program has it not", f.Policy)
	}
	switch f.Policy {
	case "backfill":
		return sim.NewBackfill(f.Backfill())
	case "plan":
		return f.Older.Planned(f.Estimates, f.EASY(sim.QueueOrder).Backfill.Interval)
	case older.IPSched:
		o, err := f.IPSched(flags)
		if err != nil {
			return nil, cli.BadInput(fmt.Errorf("--%w", err))
		}
		a, err := f.Older.IPSched(o)
		return a, cli.BadInput(err)
	case older.Auction1, "auction2":
		solver, err := f.newSolver()
		if err != nil {
			return nil, err
		}
		o, err := f.Auction(flags)
		if err != nil {
			return nil, cli.BadInput(fmt.Errorf("--%w", err))
		}
		if o.Estimates = f.Estimates; f.Policy == older.Auction1 {
			o.Determiner = f.Older.Layouts
		}
		a, err := core.NewAuction(o, solver)
		return a, cli.BadInput(err)
	}
	if order, ok := EASYOrder(f.Policy); ok {
		return sim.NewList(f.EASY(order))
	}
	return nil, cli.Unknown("--policy", f.Policy, Names())
}

// newSolver makes the solver that --solver names, where auto is the native one: it has a good answer in
// milliseconds and repeats it bit for bit.
func (f *Flags) newSolver() (ipmodel.Solver, error) {
	switch f.solver {
	case "native", "auto":
		return native.New(), nil
	case "highs":
		if f.Older == nil {
			return nil, errors.New("--solver highs: this program has it not")
		}
		return f.Older.HiGHS()
	}
	return nil, cli.Unknown("--solver", f.solver, Solvers())
}

// Backfill are the options of backfill.
func (f *Flags) Backfill() sim.BackfillOptions {
	o := sim.DefaultBackfill()
	o.Estimates = f.Estimates
	if f.Slurmctld {
		o.Interval, o.Test = slurmInterval, f.BackfillTest
	}
	return o
}

// IPSched are the options of the policy of that name.
func (f *Flags) IPSched(flags *pflag.FlagSet) (o older.Options, err error) {
	o = older.DefaultOptions()
	o.NodeLimits = f.nodeLimits
	if _, err := f.Auction(flags); err != nil {
		return o, err
	}
	o.Read(Given(flags))
	o.OnTimeout, err = parseTimeout(f.onTimeout)
	return o, err
}

// Settle makes of a job's request what counts of it under the policy, whoever judges the plan: for
// ipsched without the paper's constraint 5 it asks for no number of nodes.
func (f *Flags) Settle(policy string, r *bids.Request) {
	if policy == older.IPSched && !f.nodeLimits {
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

// Solvers are the values of --solver.
func Solvers() []string { return []string{"native", "highs", "auto"} }

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

// easyNames are the policies of one reservation: easy, and easy-ORDER for each other order of the
// jobs behind the head.
func easyNames() []string {
	names := []string{"easy"}
	for _, o := range sim.Orders() {
		if o != sim.QueueOrder {
			names = append(names, "easy-"+o.String())
		}
	}
	return names
}

// EASYOrder is the order behind the head of a policy of that name, if there is one.
func EASYOrder(name string) (sim.Order, bool) {
	if name == "easy" {
		return sim.QueueOrder, true
	}
	for _, o := range sim.Orders() {
		if rest, ok := strings.CutPrefix(name, "easy-"); ok && rest == o.String() && o != sim.QueueOrder {
			return o, true
		}
	}
	return 0, false
}

// EASY are the options of such a policy.
func (f *Flags) EASY(behind sim.Order) sim.ListOptions {
	o := sim.DefaultList()
	o.Behind, o.Backfill.Estimates = behind, f.Estimates
	if f.Slurmctld {
		o.Backfill.Interval = slurmInterval
	}
	return o
}
