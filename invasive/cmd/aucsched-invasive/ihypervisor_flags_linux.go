// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/link"
)

const systemCPUs = "/sys/devices/system/cpu"

type ihypervisorFlags struct {
	c             ihypervisor.Config
	endpoint      endpointFlags
	partition     invasive.Partition
	oversubscribe bool
	user          string
	means         []string
	silent        string
	trace         string
	horizon       time.Duration
	slurm         string
	head          headFlags
}

func (f *ihypervisorFlags) add(s *pflag.FlagSet) {
	f.endpoint.add(s)
	s.StringVar(&f.c.State, "state", "/var/lib/aucsched-invasive",
		"directory of what has to survive: the journal, and what is known of running jobs")
	s.StringVar(&f.c.Output, "output", "", "directory of the jobs' output, ID.out and ID.err (default: output in --state)")
	s.StringVar(&f.user, "user", "", "the user that jobs run as, by name; another than this one only if this one is root")
	s.StringVar(&f.slurm, "slurm", "",
		"have Slurm start the jobs of this partition of it, which is this host; its commands "+
			"must be in PATH, and this user root")
	s.StringVar(&f.c.JobSocket, "job-socket", "",
		"socket for jobs that adapt (default: run/jobs in --state; with --slurm what auc_invasic_socket says)")

	f.head.add(s)
	s.StringVar(&f.trace, "trace", "", traceUsage)

	s.StringVar(&f.partition.Name, "name", "invasic", "the partition's name")
	s.Uint32Var(&f.partition.Nodes, "nodes", 0, "nodes that the partition is to have, all on this host (default: 1)")
	s.Uint32Var(&f.partition.Sockets, "sockets", 0, "sockets of a node (default: 1 if --cores is given, else the host's)")
	s.Uint32Var(&f.partition.CoresPerSocket, "cores", 0, "cores of a socket (default: the host's)")
	s.BoolVar(&f.oversubscribe, "oversubscribe", false, "let several cores of the partition be one of the host")

	s.Uint32Var(&f.c.Attempts, "attempts", 5, "offers after which both sides must accept; the lower wish of the two counts")
	s.DurationVar(&f.c.Reply, "reply", 10*time.Second, "how long an answer may take; the longer wish counts")
	s.DurationVar(&f.c.Report, "report", 5*time.Second, "time between status reports; the longer wish counts")
	s.DurationVar(&f.c.OfferEvery, "offer-every", time.Second, "how often what was offered in vain is offered again")

	p := &f.c.Policy
	s.Float64Var(&p.MinUse, "min-use", 0.5, "reject mappings that use less of the free cores while more jobs wait, 0 to 1")
	s.BoolVar(&p.Compact, "compact", true, "reject mappings that tear a job over sockets though it fits into one")
	s.Float64Var(&p.CapWatts, "power-cap", 0, "most that the partition may draw, in watts; 0: no cap")
	s.Float64Var(&p.CoreWatts, "core-power", 10, "what a busy core draws, in watts")
	s.Float64Var(&p.SocketWatts, "socket-power", 20, "what a socket with a busy core draws, in watts")
	s.DurationVar(&f.horizon, "horizon", 5*time.Minute, "how far ahead virtual offers look, by the jobs' limits; 0: none are made")

	s.BoolVar(&f.c.Grow, "grow", true, "give malleable jobs the cores that nobody else wants")
	s.StringSliceVar(&f.means, "urgent", []string{"shrink", "suspend"},
		"by what urgent jobs may take cores, in this order: shrink, suspend, kill")
	s.StringVar(&f.silent, "silent", "leave", "what becomes of a job that doesn't say whether it lets go of cores: leave, suspend, kill")
	s.DurationVar(&f.c.ShrinkTime, "shrink-time", 10*time.Second, "how long a job may take to let go of cores")
	s.DurationVar(&f.c.Retry, "retry", time.Minute, "how long a job that refused, or said nothing, is left in peace")
	s.DurationVar(&f.c.Grace, "grace", 5*time.Second, "time from SIGTERM to SIGKILL")
}

// config checks all of it.
func (f *ihypervisorFlags) config(flags *pflag.FlagSet) (*ihypervisor.Config, *link.Endpoint, error) {
	c := f.c
	endpoint, err := f.endpoint.endpoint()
	if err != nil {
		return nil, nil, err
	}
	if c.State, err = filepath.Abs(c.State); err != nil {
		return nil, nil, err
	}
	if err := f.head.check(flags, c.State); err != nil {
		return nil, nil, err
	}
	if f.head.nodes > 0 && !flags.Changed("urgent") {
		f.means = []string{"shrink"}
	}
	if c.JobSocket != "" {
		if c.JobSocket, err = filepath.Abs(c.JobSocket); err != nil {
			return nil, nil, err
		}
	}
	if c.Output == "" {
		c.Output = filepath.Join(c.State, "output")
	}
	if c.Output, err = filepath.Abs(c.Output); err != nil {
		return nil, nil, err
	}
	if c.Policy.Means, err = means(f.means); err != nil {
		return nil, nil, fmt.Errorf("--urgent: %w", err)
	}
	if f.silent != "leave" {
		how, err := means([]string{f.silent})
		if err != nil || how[0] == invasive.Shrink {
			return nil, nil, fmt.Errorf("--silent: %q: must be leave, suspend or kill", f.silent)
		}
		c.Silent = how[0]
	}
	if err := f.checkNumbers(); err != nil {
		return nil, nil, err
	}
	if f.head.nodes > 0 && (c.Silent == invasive.Suspend || slices.Contains(c.Policy.Means, invasive.Suspend)) {
		return nil, nil, errors.New("--urgent, --silent: jobs of --agents can't be suspended")
	}
	c.Policy.Horizon = uint32(f.horizon / time.Second)
	c.Grow = c.Grow && c.Policy.Horizon > 0
	switch {
	case f.head.nodes > 0:
		c.Topology = &ihypervisor.Topology{Partition: f.partition} // the rest the agents say
		return &c, endpoint, nil
	case f.slurm != "":
		err = f.checkSlurm()
	default:
		if c.Credential, err = credential(f.user); err != nil {
			err = fmt.Errorf("--user: %w", err)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	c.Topology, err = f.topology()
	return &c, endpoint, err
}

func (f *ihypervisorFlags) checkSlurm() error {
	switch {
	case f.user != "":
		return errors.New("--user: with --slurm jobs run as the users whose they are")
	case f.c.Output != "":
		return errors.New("--output: with --slurm jobs write where sbatch was told")
	case os.Geteuid() != 0:
		return errors.New("--slurm: only root can release held jobs of all users, and say where their processes run")
	}
	return nil
}

func (f *ihypervisorFlags) checkNumbers() error {
	p := &f.c.Policy
	for _, d := range []struct {
		flag      string
		is        time.Duration
		low, high time.Duration
	}{
		{"--reply", f.c.Reply, time.Millisecond, invasive.MaxTimer}, {"--report", f.c.Report, time.Millisecond, invasive.MaxTimer},
		{"--offer-every", f.c.OfferEvery, time.Millisecond, invasive.MaxTimer},
		{"--horizon", f.horizon, 0, invasive.MaxSeconds * time.Second},
		{"--shrink-time", f.c.ShrinkTime, time.Millisecond, invasive.MaxTimer}, {"--retry", f.c.Retry, time.Millisecond, invasive.MaxTimer},
		{"--grace", f.c.Grace, time.Millisecond, invasive.MaxTimer},
	} {
		if d.is < d.low || d.is > d.high {
			return fmt.Errorf("%s: %v: must be %v to %v", d.flag, d.is, d.low, d.high)
		}
	}
	for _, n := range []struct {
		flag string
		is   float64
		high float64
	}{{"--min-use", p.MinUse, 1}, {"--power-cap", p.CapWatts, 1e12}, {"--core-power", p.CoreWatts, 1e12},
		{"--socket-power", p.SocketWatts, 1e12}} {
		if !(n.is >= 0 && n.is <= n.high) || math.IsInf(n.is, 0) { // NaN as well
			return fmt.Errorf("%s: %v: must be 0 to %v", n.flag, n.is, n.high)
		}
	}
	if f.c.Attempts == 0 || f.c.Attempts > invasive.MaxAttempts {
		return fmt.Errorf("--attempts: %d: must be 1 to %d", f.c.Attempts, invasive.MaxAttempts)
	}
	if name := f.partition.Name; name == "" || len(name) > invasive.MaxText {
		return fmt.Errorf("--name: %q: must have 1 to %d bytes", name, invasive.MaxText)
	}
	return nil
}

// topology is the host's, or what the flags say.
func (f *ihypervisorFlags) topology() (*ihypervisor.Topology, error) {
	p := f.partition
	if p.CoresPerSocket == 0 && (p.Nodes > 1 || p.Sockets > 0) {
		return nil, errors.New("--nodes and --sockets need --cores")
	}
	if p.CoresPerSocket > 0 {
		p.Nodes, p.Sockets = max(1, p.Nodes), max(1, p.Sockets)
		t, err := ihypervisor.Simulate(p, systemCPUs, f.oversubscribe)
		if err != nil {
			return nil, fmt.Errorf("--nodes, --sockets, --cores: %w", err)
		}
		return t, nil
	}
	t, err := ihypervisor.ReadTopology(systemCPUs)
	if err != nil {
		return nil, err
	}
	t.Partition.Name = p.Name
	return t, nil
}

func means(names []string) (list []invasive.How, err error) {
	known := map[string]invasive.How{"shrink": invasive.Shrink, "suspend": invasive.Suspend, "kill": invasive.Kill}
	for _, name := range names {
		how := known[name]
		if how == 0 || len(list) > 0 && list[len(list)-1] >= how {
			return nil, fmt.Errorf("%q: must be some of shrink, suspend and kill, in this order", name)
		}
		list = append(list, how)
	}
	return list, nil
}

// credential is the user that jobs run as, nil for this one. Root has to say so, as its
// jobs could do anything.
func credential(name string) (*syscall.Credential, error) {
	if name == "" {
		if os.Geteuid() == 0 {
			return nil, errors.New("root has to say as whom jobs are to run, --user root if it must be")
		}
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	c := &syscall.Credential{}
	for _, n := range append([]string{u.Uid, u.Gid}, ids...) {
		id, err := strconv.ParseUint(n, 10, 32)
		if err != nil {
			return nil, err
		}
		c.Groups = append(c.Groups, uint32(id))
	}
	c.Uid, c.Gid, c.Groups = c.Groups[0], c.Groups[1], c.Groups[2:]
	if int(c.Uid) == os.Geteuid() {
		return nil, nil
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%s: only root can run jobs as another user", name)
	}
	return c, nil
}
