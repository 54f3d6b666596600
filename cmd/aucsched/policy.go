package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/policies"
	"github.com/aucsched/aucsched/internal/portfolio"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/highs"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// policyFlags are the settings of policies, shared by plan and simulate.
type policyFlags struct {
	policy string
	paper  bool
	// throughput is core.ThroughputAuctionOptions.
	throughput bool
	patience   time.Duration
	opts       core.AuctionOptions
	solver     string
	// objective names what a start is worth.
	objective string
	// nodeLimits and onTimeout are ipsched's own.
	nodeLimits bool
	onTimeout  string
	// slurmctld has backfill take its time as in a real one.
	slurmctld bool
	// backfillTest is how long backfill takes to look at a job.
	backfillTest time.Duration
	// estimates has blocked jobs told when they are expected to start.
	estimates bool
}

func (f *policyFlags) register(flags *pflag.FlagSet) {
	f.opts = core.DefaultAuctionOptions()
	flags.StringVar(&f.policy, "policy", "auction2", "scheduling policy: "+strings.Join(policyNames(), ", "))
	flags.BoolVar(&f.paper, "paper", false, "auctions: the papers' settings (5 bids a job by their rules alone, no reservation); other flags come on top; most of aucsched1's runs had --slurm-bids (simulate) as well")
	flags.BoolVar(&f.throughput, "throughput", false, "auctions: the settings that get most done: --objective rate --patience 4h --compact; other flags come on top")
	flags.IntVar(&f.opts.Window, "window", f.opts.Window, "auctions, ipsched: jobs of the queue that take part")
	flags.IntVar(&f.opts.Depth, "depth", f.opts.Depth, "auctions: jobs behind the window that may take what is left over; 0 as in the papers")
	flags.IntVar(&f.opts.MaxBidsPerJob, "bids", f.opts.MaxBidsPerJob, "auctions: most bids a job")
	flags.IntVar(&f.opts.Drafts, "drafts", f.opts.Drafts, "auctions: most of these that come from drafts of the whole window")
	flags.IntVar(&f.opts.Reservations, "reservations", f.opts.Reservations, "auctions: blocked jobs whose earliest start is kept free; 0 as in the papers")
	flags.DurationVar(&f.patience, "patience", 0, "auctions: keep places for blocked jobs that are large and old first, not for those that the queue has first: what waiting so long weighs as much as asking for all cores")
	flags.BoolVar(&f.opts.Compact, "compact", false, "auctions: keep jobs together, in one block of nodes or in two")
	flags.BoolVar(&f.opts.ContiguousOnly, "contiguous-bids", f.opts.ContiguousOnly, "auctions: contiguous bids only")
	flags.Int64Var(&f.opts.Work, "work", f.opts.Work, "auctions, ipsched: work of one solve, about one matrix entry a unit; 0: until the deadline")
	flags.StringVar(&f.objective, "objective", "priority", "auctions, ipsched: what a start is worth: priority; size: priority times cores; auctions also rate: priority times the share of the machine, by time limit")
	flags.BoolVar(&f.nodeLimits, "node-limits", true, "ipsched: hold jobs to the numbers of nodes they ask for; =false leaves the paper's constraint 5 out")
	flags.StringVar(&f.onTimeout, "on-timeout", "incumbent", "ipsched: at the deadline start the best that is known (incumbent), or nothing, and halve the next window (halve), as the paper does")
	flags.StringVar(&f.solver, "solver", "native", "auctions: native, highs or auto")
}

// Of a slurmctld, in seconds: the default of bf_interval, and after how long the nodes of a job that has
// ended take the next. The first job to use them was started 1.4 to 2.0 s after the end, in the median, on
// the emulated machines of benchmarks/results/emulation.md.
const (
	slurmInterval = 30
	slurmRelease  = 2
)

func policyNames() []string { return []string{"auction1", "auction2", "backfill", "ipsched"} }

// make builds the policy that the flags ask for.
func (f *policyFlags) make(flags *pflag.FlagSet) (core.Policy, error) {
	switch f.policy {
	case "backfill":
		o := sim.DefaultBackfill()
		o.Estimates = f.estimates
		if f.slurmctld {
			o.Interval, o.Test = slurmInterval, f.backfillTest
		}
		return sim.NewBackfill(o)
	case "ipsched":
		o, err := f.ipsched()
		if err != nil {
			return nil, badInput(fmt.Errorf("--%w", err))
		}
		a, err := policies.NewIPSched(o)
		return a, badInput(err)
	case "auction1", "auction2":
		solver, err := newSolver(f.solver)
		if err != nil {
			return nil, err
		}
		o, err := f.auction(flags)
		if err != nil {
			return nil, badInput(fmt.Errorf("--%w", err))
		}
		if o.Estimates = f.estimates; f.policy == "auction1" {
			o.Determiner = policies.Layouts
		}
		a, err := core.NewAuction(o, solver)
		return a, badInput(err)
	}
	return nil, badInput(fmt.Errorf("--policy: %q is unknown; known are %s", f.policy, strings.Join(policyNames(), ", ")))
}

// makeAll builds the policies that the flags ask for, names with commas.
func (f *policyFlags) makeAll(flags *pflag.FlagSet) ([]core.Policy, error) {
	var out []core.Policy
	seen := make(map[string]bool)
	for name := range strings.SplitSeq(f.policy, ",") {
		if seen[name] {
			return nil, badInput(fmt.Errorf("--policy: %q is given twice", name))
		}
		seen[name] = true
		one := *f
		one.policy = name
		p, err := one.make(flags)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// ipsched are the options of the policy of that name.
func (f *policyFlags) ipsched() (o policies.IPSchedOptions, err error) {
	o = policies.DefaultIPSchedOptions()
	o.Window, o.Work, o.NodeLimits = f.opts.Window, f.opts.Work, f.nodeLimits
	if o.Objective, err = core.ParseObjective(f.objective); err != nil {
		return o, err
	}
	o.OnTimeout, err = policies.ParseTimeout(f.onTimeout)
	return o, err
}

// freesNodes reports whether the policy takes jobs to have asked for no number of nodes: ipsched without
// the paper's constraint 5.
func (f *policyFlags) freesNodes(policy string) bool { return policy == "ipsched" && !f.nodeLimits }

// settle makes of a job's request what counts of it under the policy, whoever judges the plan.
func (f *policyFlags) settle(policy string, r *bids.Request) {
	if f.freesNodes(policy) {
		*r = policies.WithoutNodeLimits(*r)
	}
}

// settled are a workload's jobs as the policy takes them: the same, or copies.
func (f *policyFlags) settled(policy string, jobs []workload.Job) []workload.Job {
	if !f.freesNodes(policy) {
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		f.settle(policy, &jobs[i].Request)
	}
	return jobs
}

// addOffers has the auctions get SLURM bids.
func (f *policyFlags) addOffers(policies []core.Policy, flags *pflag.FlagSet) error {
	bidding := false
	for i, p := range policies {
		if _, ok := p.(*core.Auction); ok {
			policies[i], bidding = sim.NewOffers(p, f.opts.Window), true
		}
	}
	if !bidding {
		return badInput(fmt.Errorf("--slurm-bids: policy %s makes no bids", f.policy))
	}
	return nil
}

// auction are the auction's options: the recommended ones, or with --paper or --throughput those,
// and on top the flags that were given.
func (f *policyFlags) auction(flags *pflag.FlagSet) (core.AuctionOptions, error) {
	o := core.DefaultAuctionOptions()
	switch {
	case f.paper && f.throughput:
		return o, fmt.Errorf("throughput: goes without --paper")
	case f.paper:
		o = core.PaperAuctionOptions()
	case f.throughput:
		o = core.ThroughputAuctionOptions()
	}
	objective, err := core.ParseObjective(f.objective)
	if err != nil {
		return o, err
	}
	if f.patience%time.Second != 0 {
		return o, fmt.Errorf("patience %v: must be whole seconds", f.patience)
	}
	for name, set := range map[string]func(){
		"window": func() { o.Window = f.opts.Window }, "depth": func() { o.Depth = f.opts.Depth }, "bids": func() { o.MaxBidsPerJob = f.opts.MaxBidsPerJob },
		"drafts": func() { o.Drafts = f.opts.Drafts }, "reservations": func() { o.Reservations = f.opts.Reservations },
		"patience": func() { o.Patience = int64(f.patience / time.Second) }, "compact": func() { o.Compact = f.opts.Compact },
		"contiguous-bids": func() { o.ContiguousOnly = f.opts.ContiguousOnly }, "work": func() { o.Work = f.opts.Work },
		"objective": func() { o.Objective = objective },
	} {
		if flags.Changed(name) {
			set()
		}
	}
	if !flags.Changed("drafts") {
		o.Drafts = min(o.Drafts, o.MaxBidsPerJob)
	}
	return o, nil
}

// newSolver makes the solver of that name for a policy, where auto is the native
// one: it has a good answer in milliseconds and repeats it bit for bit.
func newSolver(name string) (ipmodel.Solver, error) {
	switch name {
	case "native", "auto":
		return native.New(), nil
	case "highs":
		if !highs.Built {
			return nil, badInput(fmt.Errorf("--solver: highs is not built into this program: build it with make"))
		}
		return highs.New(highs.Options{}), nil
	}
	return nil, badInput(fmt.Errorf("--solver: %q is unknown; known are native, highs, auto", name))
}

// newFileSolver is newSolver for single models, where auto runs native and HiGHS side
// by side if HiGHS is built in.
func newFileSolver(name string) (ipmodel.Solver, error) {
	if name == "auto" && highs.Built {
		return portfolio.New(native.New(), highs.New(highs.Options{})), nil
	}
	return newSolver(name)
}

// deadline turns a time limit into the moment when an answer is due; 0 is none.
func deadline(limit time.Duration) time.Time {
	if limit <= 0 {
		return time.Time{}
	}
	return time.Now().Add(limit)
}
