// SPDX-License-Identifier: BSD-3-Clause

// Package policy is the flags of policies that commands share, and what they make of them.
package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
)

// Flags are the settings of policies that commands share.
type Flags struct {
	// Policy is the name of the policy; where a command takes several, with commas.
	Policy string
	// Auction has the flags' values, where they are flags of the auction. What a run has
	// depends on which of them were given.
	Auction core.AuctionOptions
	// Patience is that of the auction, as it was given.
	Patience time.Duration
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

	paper bool
	// throughput is core.ThroughputAuctionOptions.
	throughput bool
	preset     string
	promise    time.Duration
	solver     string
	// objective names what a start is worth.
	objective string
	// nodeLimits and onTimeout are ipsched's own.
	nodeLimits bool
	onTimeout  string
}

// Register has the flags in flags.
func (f *Flags) Register(flags *pflag.FlagSet) {
	f.Auction = core.DefaultAuctionOptions()
	flags.StringVar(&f.Policy, "policy", "auction2", "scheduling policy: "+strings.Join(Names(), ", "))
	flags.BoolVar(&f.paper, "paper", false,
		"auctions: the papers' settings (5 bids a job by their rules alone, no reservation); "+
			"other flags come on top; most of aucsched1's runs had --slurm-bids (simulate) as well")
	flags.BoolVar(&f.throughput, "throughput", false,
		"auctions: the settings that get most done: --objective rate --patience 4h --compact; "+
			"other flags come on top")
	flags.StringVar(&f.preset, "preset", "",
		"auctions: settings that plan over time and say what they promise: "+strings.Join(core.Presets(), ", ")+
			" (docs/worth.md); other flags come on top")
	flags.DurationVar(&f.promise, "promise", 0,
		"auctions, with --preset: jobs that have waited longer are not passed over any more; "+
			"0: no promise; without the flag: the preset's, 7 days")
	flags.IntVar(&f.Auction.Window, "window", f.Auction.Window, "auctions, ipsched: jobs of the queue that take part")
	flags.IntVar(&f.Auction.Depth, "depth", f.Auction.Depth,
		"auctions: jobs behind the window that may take what is left over; 0 as in the papers")
	flags.IntVar(&f.Auction.MaxBidsPerJob, "bids", f.Auction.MaxBidsPerJob, "auctions: most bids a job")
	flags.IntVar(&f.Auction.Drafts, "drafts", f.Auction.Drafts, "auctions: most of these that come from drafts of the whole window")
	flags.IntVar(&f.Auction.Reservations, "reservations", f.Auction.Reservations,
		"auctions: blocked jobs whose earliest start is kept free; 0 as in the papers")
	flags.DurationVar(&f.Patience, "patience", 0,
		"auctions: keep places for blocked jobs that are large and old first, not for those that "+
			"the queue has first: what waiting so long weighs as much as asking for all cores")
	flags.BoolVar(&f.Auction.Compact, "compact", false, "auctions: keep jobs together, in one block of nodes or in two")
	flags.BoolVar(&f.Auction.KeepHoles, "keep-holes", false,
		"auctions: start jobs of one node where that makes the fewest GPUs useless to others; with GPUs, "+
			"keep places for three blocked jobs beyond --reservations that ask for more than half of a "+
			"node's GPUs, unless that is 0")
	flags.BoolVar(&f.Auction.ContiguousOnly, "contiguous-bids", f.Auction.ContiguousOnly, "auctions: contiguous bids only")
	flags.Int64Var(&f.Auction.Work, "work", f.Auction.Work,
		"auctions, ipsched: work of one solve, about one matrix entry a unit; 0: until the deadline")
	flags.StringVar(&f.objective, "objective", "priority",
		"auctions, ipsched: what a start is worth: priority; size: priority times cores; "+
			"auctions also rate: priority times the share of the machine, by time limit")
	flags.BoolVar(&f.nodeLimits, "node-limits", true,
		"ipsched: hold jobs to the numbers of nodes they ask for; =false leaves the paper's constraint 5 out")
	flags.StringVar(&f.onTimeout, "on-timeout", "incumbent",
		"ipsched: at the deadline start the best that is known (incumbent), or nothing, and "+
			"halve the next window (halve), as the paper does")
	flags.StringVar(&f.solver, "solver", "native", "auctions: native, highs or auto")
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

// Make builds the policy that the flags ask for.
func (f *Flags) Make(flags *pflag.FlagSet) (core.Policy, error) {
	if f.Older == nil && slices.Contains(older.Names(), f.Policy) {
		return nil, fmt.Errorf("--policy %s: this program has it not", f.Policy)
	}
	switch f.Policy {
	case "backfill":
		o := sim.DefaultBackfill()
		o.Estimates = f.Estimates
		if f.Slurmctld {
			o.Interval, o.Test = slurmInterval, f.BackfillTest
		}
		return sim.NewBackfill(o)
	case "plan":
		o := f.easy(sim.QueueOrder)
		return sim.NewPlanned(o.Backfill)
	case older.IPSched:
		o, err := f.ipsched()
		if err != nil {
			return nil, cli.BadInput(fmt.Errorf("--%w", err))
		}
		a, err := f.Older.IPSched(o)
		return a, cli.BadInput(err)
	case older.Auction1, "auction2":
		solver, err := NewSolver(f.solver)
		if err != nil {
			return nil, err
		}
		o, err := f.auction(flags)
		if err != nil {
			return nil, cli.BadInput(fmt.Errorf("--%w", err))
		}
		if o.Estimates = f.Estimates; f.Policy == older.Auction1 {
			o.Determiner = f.Older.Layouts
		}
		a, err := core.NewAuction(o, solver)
		return a, cli.BadInput(err)
	}
	if order, ok := easyOrder(f.Policy); ok {
		return sim.NewList(f.easy(order))
	}
	return nil, cli.Unknown("--policy", f.Policy, Names())
}

// MakeAll builds the policies that the flags ask for, names with commas.
func (f *Flags) MakeAll(flags *pflag.FlagSet) ([]core.Policy, error) {
	var out []core.Policy
	seen := make(map[string]bool)
	for name := range strings.SplitSeq(f.Policy, ",") {
		if seen[name] {
			return nil, cli.BadInput(fmt.Errorf("--policy: %q is given twice", name))
		}
		seen[name] = true
		one := *f
		one.Policy = name
		p, err := one.Make(flags)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// ipsched are the options of the policy of that name.
func (f *Flags) ipsched() (o older.Options, err error) {
	o = older.DefaultOptions()
	o.Window, o.Work, o.NodeLimits = f.Auction.Window, f.Auction.Work, f.nodeLimits
	if o.Objective, err = parseObjective(f.objective); err != nil {
		return o, err
	}
	o.OnTimeout, err = parseTimeout(f.onTimeout)
	return o, err
}

// freesNodes reports whether the policy takes jobs to have asked for no number of nodes: ipsched
// without the paper's constraint 5.
func (f *Flags) freesNodes(policy string) bool { return policy == older.IPSched && !f.nodeLimits }

// Settle makes of a job's request what counts of it under the policy, whoever judges the plan.
func (f *Flags) Settle(policy string, r *bids.Request) {
	if f.freesNodes(policy) {
		*r = older.WithoutNodeLimits(*r)
	}
}

// Settled are a workload's jobs as the policy takes them: the same, or copies.
func (f *Flags) Settled(policy string, jobs []workload.Job) []workload.Job {
	if !f.freesNodes(policy) {
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		f.Settle(policy, &jobs[i].Request)
	}
	return jobs
}

// ChoosesGPUs reports whether the auctions say how many GPUs of a range a job gets by what that
// costs all.
func (f *Flags) ChoosesGPUs() bool { return f.preset != "" }

// AddOffers has the auctions get SLURM bids.
func (f *Flags) AddOffers(policies []core.Policy, flags *pflag.FlagSet) error {
	bidding := false
	for i, p := range policies {
		if _, ok := p.(*core.Auction); ok {
			policies[i], bidding = sim.NewOffers(p, f.Auction.Window), true
		}
	}
	if !bidding {
		return cli.BadInput(fmt.Errorf("--slurm-bids: policy %s makes no bids", f.Policy))
	}
	return nil
}

// auction are the auction's options: the recommended ones, or with --paper or --throughput those,
// and on top the flags that were given.
func (f *Flags) auction(flags *pflag.FlagSet) (core.AuctionOptions, error) {
	o := core.DefaultAuctionOptions()
	switch {
	case f.paper && f.throughput:
		return o, fmt.Errorf("throughput: goes without --paper")
	case f.preset != "" && (f.paper || f.throughput):
		return o, fmt.Errorf("preset: goes without --paper and --throughput")
	case f.preset != "":
		var err error
		if o, err = core.AuctionPreset(f.preset); err != nil {
			return o, cli.Did(err, f.preset, core.Presets())
		}
	case f.paper:
		o = core.PaperAuctionOptions()
	case f.throughput:
		o = core.ThroughputAuctionOptions()
	}
	objective, err := parseObjective(f.objective)
	if err != nil {
		return o, err
	}
	for name, d := range map[string]time.Duration{"patience": f.Patience, "promise": f.promise} {
		if d%time.Second != 0 {
			return o, fmt.Errorf("%s %v: must be whole seconds", name, d)
		}
	}
	for name, set := range map[string]func(){
		"window": func() { o.Window = f.Auction.Window }, "depth": func() { o.Depth = f.Auction.Depth },
		"bids":   func() { o.MaxBidsPerJob = f.Auction.MaxBidsPerJob },
		"drafts": func() { o.Drafts = f.Auction.Drafts }, "reservations": func() { o.Reservations = f.Auction.Reservations },
		"patience": func() { o.Patience = int64(f.Patience / time.Second) }, "compact": func() { o.Compact = f.Auction.Compact },
		"contiguous-bids": func() { o.ContiguousOnly = f.Auction.ContiguousOnly }, "work": func() { o.Work = f.Auction.Work },
		"promise":   func() { o.Promise = int64(f.promise / time.Second) },
		"objective": func() { o.Objective = objective }, "keep-holes": func() { o.KeepHoles = f.Auction.KeepHoles },
	} {
		if flags.Changed(name) {
			set()
		}
	}
	o.Serial, o.ShrinkLimits = f.Serial, f.ShrinkLimits
	if !flags.Changed("drafts") {
		o.Drafts = min(o.Drafts, o.MaxBidsPerJob)
	}
	return o, nil
}
