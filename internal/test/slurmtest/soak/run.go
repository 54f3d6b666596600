// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// Mode is what a cluster schedules with.
type Mode string

// The modes.
const (
	Stock   Mode = "stock"
	Auction Mode = "aucsched"
)

// Attempt is one call of sbatch, srun or salloc.
type Attempt struct {
	Key      Key // without a task
	ID       uint32
	Accepted bool // sbatch printed the number; of srun and salloc: the command ended well
	At       time.Time
	Said     string // why not
}

// Done is an action that was taken.
type Done struct {
	Action Action
	Key    Key
	At     time.Time
	// Unsure is set if nobody answered: it may have been done.
	Unsure bool
}

// Help is what an administrator had to do because of a fault.
type Help struct {
	At   time.Time
	What string // scontrol's word, or "resume node"
	Of   string // a node with its reason, or a job's number and name
}

// Outcome is all that is known after a run.
type Outcome struct {
	Mode     Mode
	Plan     *Plan
	Attempts []Attempt
	Done     []Done
	Records  []Record
	Ended    []slurmtest.Ended // by the completion log
	Accounts map[Key]string    // what sacct says last of a job
	Kills    []time.Time
	Helps    []Help
	Watch    Watch
	Referee  slurmtest.Report
	Log      map[string]int // lines of slurmctld's log by pattern
	Faults   []string       // faults that could not be made, in words
	Left     []string       // lines of squeue of what would not end
	Starts   int            // by the auction
}

// Options is how a plan is run.
type Options struct {
	Mode    Mode
	Dir     string // of the cluster; it must not exist
	Plugins string // the directory of aucsched's plug-ins
	// Settle is how long the last jobs are waited for.
	Settle time.Duration
	// Say is told what happens.
	Say func(format string, v ...any)
}

// Parameters of both, and of aucsched alone: quick enough that what waits for a cycle
// is not all there is.
const (
	parameters = "batch_sched_delay=1,bf_interval=5,bf_window=120"
	ours       = "auc_interval=2,auc_deadline_ms=300"
)

// config is the cluster that plans are for.
func config(o Options, users []string) slurmtest.Config {
	account := slurmtest.Account{Name: "soak"}
	for _, name := range users {
		account.Users = append(account.Users, slurmtest.User{Name: name})
	}
	c := slurmtest.Config{
		Accounting: &slurmtest.Accounting{Accounts: []slurmtest.Account{account}}, Faults: true, Backup: true,
		Groups:               []slurmtest.Group{{Nodes: Nodes, Cores: Cores, GPUs: GPUs, MemoryMB: MemoryMB, Features: "all"}},
		SelectTypeParameters: "CR_Core_Memory",
		SchedulerParameters:  parameters,
		ExtraLines:           []string{"DefMemPerCPU=500", "MaxArraySize=1001"},
	}
	if o.Mode == Auction {
		c = c.WithAuction(o.Plugins, ours)
	}
	return c
}

// userNames are those of users that every Debian has and that nobody logs in as.
var userNames = []string{"games", "mail", "news", "lp", "man", "uucp", "nobody"}

func someUsers() ([]string, error) {
	var found []string
	for _, name := range userNames {
		if _, err := user.Lookup(name); err == nil && len(found) < Users {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("none of the users %v exist", userNames)
	}
	return found, nil
}

// Run runs a plan on a cluster of its own, which is gone when it returns. It fails if there is no
// cluster, or ctx ends; what goes wrong on the cluster is in the outcome.
func Run(ctx context.Context, plan *Plan, o Options) (out *Outcome, err error) {
	users, err := someUsers()
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(o.Dir, 0o755); err != nil {
		return nil, err
	}
	c, err := slurmtest.Start(ctx, filepath.Join(o.Dir, "c"), config(o, users))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	// From 25.05 on slurmctld does not start again before it has saved all that it saves now and then.
	if err := errors.Join(c.KillController(ctx, syscall.SIGTERM), c.StartController(ctx)); err != nil {
		return nil, err
	}
	r := &runner{cluster: c, plan: plan, options: o, users: users, records: filepath.Join(o.Dir, "records"),
		accepted: map[int]Attempt{}, over: map[Key]time.Time{}, began: time.Now(), out: &Outcome{Mode: o.Mode, Plan: plan}}
	if err := os.WriteFile(r.records, nil, 0o666); err != nil {
		return nil, err
	}
	if err := os.Chmod(r.records, 0o666); err != nil { // whatever the umask
		return nil, err
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	if err := r.collect(ctx); err != nil {
		return nil, err
	}
	return r.out, nil
}

type runner struct {
	cluster *slurmtest.Cluster
	plan    *Plan
	options Options
	users   []string
	records string // the file that jobs write to
	began   time.Time

	clients  sync.WaitGroup // what was submitted and is not answered yet
	draining atomic.Bool    // the plan has drained a node

	mu       sync.Mutex
	accepted map[int]Attempt   // the last of each submission
	over     map[Key]time.Time // when an srun or salloc ended
	out      *Outcome
}

// note changes the outcome.
func (r *runner) note(f func(*Outcome)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.out)
}

// until waits for a moment of the plan; false if ctx has ended.
func (r *runner) until(ctx context.Context, at time.Duration) bool {
	return wait(ctx, time.Until(r.began.Add(at)))
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (r *runner) run(ctx context.Context) error {
	referee := r.cluster.Watch(ctx)
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	var watchers sync.WaitGroup
	watchers.Go(func() { r.watch(watching) })
	watchers.Go(func() { r.help(watching) })

	var lanes sync.WaitGroup
	clients, endClients := context.WithCancel(ctx)
	defer endClients()
	lanes.Go(func() { r.submitAll(clients) })
	lanes.Go(func() { r.actAll(ctx) })
	lanes.Go(func() { r.breakAll(ctx) })
	lanes.Wait()
	r.settle(ctx)
	endClients() // of srun and salloc that would wait for ever
	r.clients.Wait()
	unwatch()
	watchers.Wait()
	r.out.Referee = referee.Stop()
	return ctx.Err()
}

// settle waits until all jobs have ended. Those that may not be able to run are cancelled.
func (r *runner) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.options.Settle)
	defer cancel()
	for {
		left, err := r.jobs(ctx)
		if err == nil && len(left) == 0 {
			return
		}
		for _, j := range left {
			if j.state == "PENDING" && r.spoiled(j.key) {
				_ = r.cluster.Scancel(ctx, j.id) // again, if this can't be done or is forgotten
			}
		}
		if !wait(ctx, time.Second) {
			r.note(func(o *Outcome) {
				for _, j := range left {
					o.Left = append(o.Left, j.line)
				}
			})
			return
		}
	}
}

// collect reads what the run has left behind.
func (r *runner) collect(ctx context.Context) error {
	text, err := os.ReadFile(r.records)
	if err != nil {
		return err
	}
	o := r.out
	if o.Records, err = ParseRecords(string(text)); err != nil {
		return err
	}
	if o.Ended, err = r.cluster.Ended(); err != nil {
		return err
	}
	if o.Accounts, err = r.accounts(ctx); err != nil {
		return err
	}
	log := r.cluster.Logs("slurmctld.log", 1<<30) + "\n" + r.cluster.Logs("backup.log", 1<<30)
	o.Log = CountLines(log)
	for _, route := range slurmtest.ParseRoutes(log) {
		o.Starts += route.Started
	}
	return nil
}

// accounts are the states that slurmdbd has of the jobs, when it has those of all that have ended.
func (r *runner) accounts(ctx context.Context) (map[Key]string, error) {
	for begin := time.Now(); ; {
		out, err := r.cluster.Run(ctx, "sacct", "-a", "-X", "-D", "-n", "-P", "-S", "now-2days", "-o", "jobid,jobname,state")
		if err != nil {
			return nil, err
		}
		states, running := parseAccounts(out)
		if running <= len(r.out.Left) || time.Since(begin) > 20*time.Second {
			return states, nil
		}
		wait(ctx, time.Second)
	}
}

// parseAccounts reads lines of sacct: a job's last line counts.
func parseAccounts(text string) (states map[Key]string, running int) {
	states = map[Key]string{}
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Split(line, "|")
		if len(f) != 3 {
			continue
		}
		k, ok := ParseName(f[1])
		if !ok {
			continue
		}
		_, task, _ := strings.Cut(f[0], "_")
		k.Task, _ = strconv.Atoi(task)        // none: no array
		state, _, _ := strings.Cut(f[2], " ") // "CANCELLED by 0"
		states[k] = state
	}
	for _, state := range states {
		if state == "RUNNING" || state == "COMPLETING" {
			running++
		}
	}
	return states, running
}
