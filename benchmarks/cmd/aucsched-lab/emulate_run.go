// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/benchmarks/emulation"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/benchmarks/simulate"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// schedulers are those that a real Slurm can have.
var schedulers = []string{"auction1", "auction2", "backfill", "ipsched"}

// emulatedRun are the settings that the result of a run depends on.
type emulatedRun struct {
	policy                  policy.Flags
	replay                  replay.Flags
	cluster, load, priority string
	slurmBids               bool
	parameters              string
	rate, busy              float64
	nodes                   string
}

// register has the flags of simulate that mean something to a real Slurm, and its own.
func (r *emulatedRun) register(flags *pflag.FlagSet) {
	r.replay, r.policy.Others = replay.Flags{Config: sim.NewConfig(nil)}, simulate.Make
	shared := pflag.NewFlagSet("", pflag.ContinueOnError)
	r.policy.Register(shared)
	r.replay.Register(shared)
	shared.VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "policy", "rate", "seed", "solver", "keep-holes": // others, or none, here
		case "interval":
			f.Usage = "auctions, ipsched: scheduling interval in seconds"
			flags.AddFlag(f)
		case "deadline":
			f.Usage = "auctions, ipsched: time of a cycle; 0: the plug-in's own"
			flags.AddFlag(f)
		default:
			flags.AddFlag(f)
		}
	})
	r.replay.Rate = 1
	flags.StringVar(&r.policy.Policy, "scheduler", "", "backfill, auction2, auction1, ipsched; several with commas")
	flags.StringVar(&r.cluster, "cluster", "", "the machine (see simulate)")
	flags.StringVar(&r.load, "workload", "", "the workload (see simulate)")
	flags.StringVar(&r.priority, "priority", "basic", "Slurm's priority plug-in: basic, or multifactor: age and size with equal weights")
	flags.BoolVar(&r.slurmBids, "slurm-bids", false, "what an earlier version of the plug-ins could; now an error")
	flags.StringVar(&r.parameters, "parameters", "", "further SchedulerParameters, for every scheduler")
	flags.Float64Var(&r.rate, "rate", 200, "how much faster than the world's the clock runs while Slurm has nothing to do")
	flags.Float64Var(&r.busy, "busy-rate", 1, "and how much faster while it computes: so much slower than in the world is its computer")
	flags.StringVar(&r.nodes, "nodes", "emu", "emu: one process plays the nodes; full: a stock slurmd each")
}

// describe has help list the flags by subject, and the shell complete their values.
func (r *emulatedRun) describe(c *cobra.Command) {
	subjects := append(replay.Subjects(), cli.PolicySubjects()...)
	cli.Group(c, append(subjects,
		cli.Subject{Title: "The real Slurm", Flags: []string{"busy-rate", "nodes", "parameters", "tools", "plugins", "keep"}},
		cli.Subject{Title: "Output", Flags: []string{"json", "html", "out"}})...)
	replay.CompleteList(c, "scheduler", schedulers...)
	r.policy.Complete(c)
	replay.Complete(c)
	cli.CompleteFlag(c, "priority", "basic", "multifactor")
	cli.CompleteFlag(c, "nodes", "emu", "full")
}

// parseEmulated reads the arguments of a run, with its --seed.
func parseEmulated(args []string) (*emulatedRun, *pflag.FlagSet, error) {
	r := new(emulatedRun)
	flags := pflag.NewFlagSet("emulate", pflag.ContinueOnError)
	r.register(flags)
	flags.Uint64Var(&r.replay.Seed, "seed", 1, "seed of the workload")
	return r, flags, flags.Parse(args)
}

// options are those of the run, save where things are.
func (r *emulatedRun) options(flags *pflag.FlagSet) (*emulation.Options, error) {
	o := &emulation.Options{Rate: r.rate, Busy: r.busy}
	err := r.check()
	if err != nil {
		return nil, err
	}
	r.policy.WarnOfOld(flags)
	if o.Machine, err = traces.ParseCluster(r.cluster); err != nil {
		return nil, fmt.Errorf("--cluster: %w", err)
	}
	r.replay.Config.Nodes = o.Machine
	w, err := r.replay.Read(r.load)
	if err != nil {
		return nil, err
	}
	if _, err := r.policy.Make(flags); err != nil { // so that what is wrong is said of the flag
		return nil, err
	}
	o.Jobs = replay.Settled(&r.policy, r.policy.Policy, w.Jobs)
	o.Full, o.Multifactor = r.nodes == "full", r.priority == "multifactor"
	o.Parameters = r.parameters
	if r.policy.Policy != "backfill" {
		o.Auction, o.Ranges = true, r.policy.Policy != "ipsched"
		o.Parameters = strings.Trim(strings.Join(append(r.pluginParameters(flags), r.parameters), ","), ",")
	}
	return o, o.Validate()
}

// check reports which flag has a value that it can't have, without those that are read
// further on: of the machine, the workload and the policy.
func (r *emulatedRun) check() error {
	for _, name := range []struct {
		flag, value string
		known       []string
	}{
		{"scheduler", r.policy.Policy, schedulers}, {"nodes", r.nodes, []string{"emu", "full"}},
		{"priority", r.priority, []string{"basic", "multifactor"}},
	} {
		if !slices.Contains(name.known, name.value) {
			return cli.Unknown("--"+name.flag, name.value, name.known)
		}
	}
	switch limit := r.replay.CycleLimit; {
	case !(r.rate >= 1 && r.rate <= emulation.MostRate):
		return fmt.Errorf("--rate: %g: must be from 1 to %d", r.rate, emulation.MostRate)
	case !(r.busy >= 1 && r.busy <= r.rate):
		return fmt.Errorf("--busy-rate: %g: must be from 1 to %g, the rate", r.busy, r.rate)
	case r.replay.Config.Interval < 1:
		return fmt.Errorf("--interval: %d: must be at least 1 second", r.replay.Config.Interval)
	case limit < 0 || limit%time.Millisecond != 0:
		return fmt.Errorf("--deadline: %v: must be whole milliseconds, or 0", limit)
	}
	return nil
}

// pluginParameters are the flags as the plug-in's settings (docs/reference/settings.md).
func (r *emulatedRun) pluginParameters(flags *pflag.FlagSet) []string {
	out := []string{"auc_lab=yes", "auc_policy=" + r.policy.Policy, fmt.Sprintf("auc_interval=%d", r.replay.Config.Interval)}
	if r.policy.Policy == "ipsched" || slices.Contains(policy.Given(flags), "preset=paper") { // nobody else starts jobs there
		out = append(out, "sched_interval=-1", "bf_interval=-1")
	}
	for _, setting := range policy.Given(flags) {
		out = append(out, "auc_"+setting)
	}
	if flags.Changed("node-limits") {
		on, _ := flags.GetBool("node-limits") // it is a bool
		out = append(out, "auc_node_limits="+cli.YesNo(on))
	}
	if flags.Changed("on-timeout") {
		out = append(out, "auc_on_timeout="+flags.Lookup("on-timeout").Value.String())
	}
	if d := r.replay.CycleLimit; d > 0 {
		out = append(out, fmt.Sprintf("auc_deadline_ms=%d", d.Milliseconds()))
	}
	return out
}

// emulationDirs say where things are, on which no result depends.
type emulationDirs struct {
	tools, plugins string
	keep           bool
	alone          *emulation.Alone // of all runs of this process
}

func (d *emulationDirs) register(flags *pflag.FlagSet) {
	flags.StringVar(&d.tools, "tools", "",
		"directory of vclock.so and vslurmd; build/emulation/VERSION of the working directory unless given")
	flags.StringVar(&d.plugins, "plugins", "",
		"directory of aucsched's plug-ins; build/slurm/VERSION of the working directory unless given")
	flags.BoolVar(&d.keep, "keep", false, "keep the directories of the clusters, with Slurm's logs, and say where they are")
}

// fill finds the directories that were not given.
func (d *emulationDirs) fill(version string) error {
	if err := d.fillTools(version); err != nil {
		return err
	}
	return fillDir(&d.plugins, "--plugins", filepath.Join("build", "slurm", version), "libaucsched.so")
}

// fillTools finds the tools alone.
func (d *emulationDirs) fillTools(version string) error {
	return fillDir(&d.tools, "--tools", filepath.Join("build", "emulation", version), "vslurmd")
}

// fillDir sets a directory that was not given, and has to hold a file.
func fillDir(dir *string, flag, standard, file string) error {
	*dir = cmp.Or(*dir, standard)
	if _, err := os.Stat(filepath.Join(*dir, file)); err != nil {
		return fmt.Errorf("%s: %w: make emulation builds it for the installed Slurm", flag, err)
	}
	return nil
}

// program is the command emulate for single runs; alone is to be left after them. listen
// hears how far each is.
func (d *emulationDirs) program(listen func(emulation.Progress)) (*reproduce.Program, error) {
	if _, err := slurmtest.Programs(); err != nil {
		return nil, err
	}
	slurm, err := slurmtest.Version()
	if err != nil {
		return nil, err
	}
	if err := d.fill(slurm); err != nil {
		return nil, err
	}
	build, err := buildVersion()
	if err != nil {
		return nil, err
	}
	d.alone = emulation.NewAlone()
	p := &reproduce.Program{Version: build}
	p.Settings = func(args []string) ([]string, error) { return emulatedSettings(args, slurm) }
	p.Run = func(ctx context.Context, args []string) (*sim.Result, json.RawMessage, error) {
		return d.run(ctx, args, listen)
	}
	return p, nil
}

// collectSeldom has Go's collector wait until there is a gigabyte. It stops all threads, and those
// of the governor and its probes, which are more urgent than the thread that stops them, then ask
// for the processor again and again that it needs: the clock runs on at the rate that it has. To be
// called before the first run: what there is to collect by then would count.
func collectSeldom() {
	debug.FreeOSMemory()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 30)
}

// emulatedSettings checks the arguments of a run, and lists all that its result depends on.
func emulatedSettings(args []string, slurm string) ([]string, error) {
	r, flags, err := parseEmulated(args)
	if err != nil {
		return nil, err
	}
	o, err := r.options(flags)
	if err != nil {
		return nil, err
	}
	// What has its default is left out: runs take hours, and are to outlive flags that others need.
	settings := []string{fmt.Sprintf("emulation=%d", emulation.Version), "slurm=" + slurm, "SchedulerParameters=" + o.Parameters}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.String() != f.DefValue {
			settings = append(settings, f.Name+"="+f.Value.String())
		}
		settings = append(settings, meanings(f)...)
	})
	return settings, nil
}

// attempts is how often a run that is not faithful is done.
const attempts = 3

// run is one run, again if it was not faithful.
func (d *emulationDirs) run(ctx context.Context, args []string, listen func(emulation.Progress)) (*sim.Result, json.RawMessage, error) {
	r, flags, err := parseEmulated(args)
	if err != nil {
		return nil, nil, err
	}
	o, err := r.options(flags)
	if err == nil && r.slurmBids {
		err = errors.New("--slurm-bids: the plug-ins have no such bids any more; simulate has them")
	}
	if err != nil {
		return nil, nil, err
	}
	o.Tools, o.Plugins, o.Progress = d.tools, d.plugins, listen
	for n := 1; ; n++ {
		result, err := d.once(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		if len(result.Faults) == 0 {
			result.Metrics.Policy = r.policy.Policy
			notes, err := json.Marshal(result)
			return result.Metrics, notes, err
		}
		why := strings.Join(result.Faults, "; ")
		if n == attempts {
			return nil, nil, fmt.Errorf(
				"not faithful %d times, the last time because %s: give a lower --rate, or a machine with less to do",
				n, why)
		}
		slog.Warn(fmt.Sprintf("a run was not faithful (%s) and is done again: %s", why, strings.Join(args, " ")))
	}
}

// once is one run in a directory of its own, while no other process emulates. Who makes the
// directory also removes it: see [emulation.Options].
func (d *emulationDirs) once(ctx context.Context, o *emulation.Options) (*emulation.Result, error) {
	if err := d.alone.Enter(); err != nil {
		return nil, err
	}
	one := *o
	one.Dir, one.Ephemeral = filepath.Join(scratch(), fmt.Sprintf("aucemu%016x", rand.Uint64())), !d.keep
	if d.keep {
		slog.Warn("the cluster is kept in " + one.Dir)
	}
	return emulation.Run(ctx, one)
}

// scratch is where clusters live: TMPDIR if that is set, or else memory, if there is such a
// directory. slurmctld waits for a disk when it saves its state, and a fast clock runs on.
func scratch() string {
	const memory = "/dev/shm"
	if os.Getenv("TMPDIR") != "" || unix.Access(memory, unix.W_OK) != nil {
		return os.TempDir()
	}
	return memory
}
