// SPDX-License-Identifier: BSD-3-Clause

package ihypervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/malleable"
	"github.com/aucsched/aucsched/invasive/place"
)

// A Config is what a Hypervisor needs. Durations that are 0 stand for their defaults.
type Config struct {
	// State is the directory of all that has to survive; Output has what jobs write, ID.out and
	// ID.err. Both are made if they aren't there, for this user only.
	State, Output string
	Topology      *Topology
	Policy        place.Policy
	// Attempts, Reply and Report are the wishes for the terms.
	Attempts      uint32
	Reply, Report time.Duration
	// ShrinkTime is how long a job may take to let go of cores (10 s). What happens to one that
	// says nothing is Silent: 0 leaves them, Suspend or Kill. A job that has refused, or was
	// silent, is left in peace for Retry (60 s).
	ShrinkTime, Retry time.Duration
	Silent            invasive.How
	// Grace is the time from SIGTERM to SIGKILL (5 s).
	Grace time.Duration
	// OfferEvery is how often what was offered in vain is offered again (1 s).
	OfferEvery time.Duration
	// Grow gives malleable jobs the cores that nobody else wants. It needs a Policy.Horizon: they
	// are offered with a delay then.
	Grow bool
	// Credential is the user that jobs run as; nil: this process's.
	Credential *syscall.Credential
	// Supervisor is the command that calls launch.Supervise.
	Supervisor []string
	// Launcher starts the jobs, and ends them at their limits. Nil: they are processes of
	// this one's, by package launch, with Output, Credential and Supervisor, which are of
	// no account otherwise. One that has Nodes can't suspend jobs, and
	// leaves their limits to the Hypervisor.
	Launcher Launcher
	// JobSocket is where jobs that adapt connect; "": run/jobs in State.
	JobSocket string

	Listener net.Listener // see link.Endpoint.Listen; the caller closes it
	Clock    link.Clock
	Limits   link.Limits
	Stats    *link.Stats
	Log      *slog.Logger
	// Trace, if set, gets a line of each message, and of each change of the
	// ledger; see link.Config.
	Trace func(line string)
	// Point, if set, is called between steps; tests end the process there.
	Point func(step string)
}

func (c *Config) setDefaults() {
	set := func(to *time.Duration, d time.Duration) {
		if *to <= 0 {
			*to = d
		}
	}
	set(&c.ShrinkTime, 10*time.Second)
	set(&c.Retry, time.Minute)
	set(&c.Grace, 5*time.Second)
	set(&c.OfferEvery, time.Second)
	if c.Clock == nil {
		c.Clock = link.RealClock{}
	}
	if c.Stats == nil {
		c.Stats = &link.Stats{}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.Policy.ShrinkTime = uint32((c.ShrinkTime + time.Second - 1) / time.Second)
}

// A Hypervisor is an iHypervisor. What it knows belongs to the goroutine of its Runner.
type Hypervisor struct {
	Config
	journal  *link.Journal
	launcher Launcher
	machine  *invasive.Hypervisor
	runner   *link.Runner
	nodes    Nodes // nil: the host is all there is
	jobs     Jobs
	cleanup  func() error
	workers  sync.WaitGroup
	first    []invasive.Action

	runs     map[invasive.JobID]*run
	stubborn map[invasive.JobID]stubborn
	wishes   map[invasive.JobID]uint32
	meter    meter

	begin      time.Time
	negotiator *place.Negotiator
	open       link.Question // the AskOffer that waits for something new
	looking    bool          // next is called
}

// stubborn is what a job has withstood, and until when it counts.
type stubborn struct {
	how   invasive.How
	until time.Time
}

// New opens the directories, and finds the jobs of an earlier Hypervisor. After an error
// nothing is left open.
func New(c Config) (h *Hypervisor, err error) {
	c.setDefaults()
	h = &Hypervisor{
		Config: c, runs: map[invasive.JobID]*run{}, stubborn: map[invasive.JobID]stubborn{}, wishes: map[invasive.JobID]uint32{},
	}
	if c.Grow && c.Policy.Horizon == 0 {
		return nil, errors.New("jobs that grow need a horizon: their cores are offered with a delay")
	}
	h.nodes, _ = c.Launcher.(Nodes)
	if suspends := c.Silent == invasive.Suspend || slices.Contains(c.Policy.Means, invasive.Suspend); suspends && h.nodes != nil {
		return nil, errors.New("jobs on many nodes can't be suspended")
	}
	h.begin = c.Clock.Now()
	h.meter.start(h.begin)
	h.negotiator = place.NewNegotiator(&h.Policy, c.OfferEvery)
	if err = h.openDirs(); err != nil {
		return nil, err
	}
	if h.journal, err = link.OpenJournal(filepath.Join(c.State, "journal")); err != nil {
		return nil, err
	}
	h.journal.Point = c.Point
	for _, step := range []func() error{h.checkPartition, h.recover, h.listenJobs} {
		if err = step(); err != nil {
			return nil, errors.Join(err, h.journal.Close())
		}
	}
	for _, j := range h.machine.Jobs(nil) {
		if _, launched := h.launcher.Started(j.Job.ID); launched && (j.State == invasive.Running || j.State == invasive.Suspended) {
			h.resume(j.Job)
		}
	}
	return h, nil
}

func (h *Hypervisor) openDirs() error {
	mode := os.FileMode(0o700)
	if h.Launcher != nil || h.Credential != nil && int(h.Credential.Uid) != os.Geteuid() {
		mode = 0o711 // the job's user has to reach its socket and its output
	}
	if h.Launcher != nil {
		return errors.Join(link.CheckDir(h.State, mode), link.CheckDir(h.JobsDir(), 0o700))
	}
	return errors.Join(link.CheckDir(h.State, mode), link.CheckDir(h.Output, mode), link.CheckDir(h.JobsDir(), 0o700))
}

// checkPartition: cores of the journal are numbers, and have to mean the same as before.
func (h *Hypervisor) checkPartition() error {
	path := filepath.Join(h.State, "partition")
	if text, err := os.ReadFile(path); err == nil && len(h.journal.Saved()) > 0 {
		var before invasive.Partition
		if err := json.Unmarshal(text, &before); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if before != h.Topology.Partition {
			return fmt.Errorf("%s: has jobs on a partition %+v, and this one is %+v", h.State, before, h.Topology.Partition)
		}
		return nil
	}
	text, err := json.Marshal(h.Topology.Partition)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// recover makes the machine of the journal and of what is found of the jobs.
func (h *Hypervisor) recover() error {
	if h.launcher = h.Launcher; h.launcher == nil {
		h.launcher = launch.New(launch.Config{
			Dir: h.JobsDir(), Output: h.Output, Supervisor: h.Supervisor, Credential: h.Credential, Point: h.Point,
		})
	}
	seen, err := h.launcher.Find()
	if err != nil {
		return err
	}
	saved := h.journal.Saved()
	known := map[invasive.JobID]bool{}
	for _, s := range saved {
		known[s.Job.ID] = true
	}
	for _, s := range seen {
		if !known[s.ID] { // the crash came between its last record and this
			if err := h.launcher.Forget(s.ID); err != nil {
				return fmt.Errorf("the journal of %s doesn't know a job that runs: %w", h.State, err)
			}
		}
	}
	terms := invasive.Terms{Attempts: h.Attempts, Reply: h.Reply, Report: h.Report, Partition: h.Topology.Partition,
		Shrink: min(time.Duration(h.Policy.ShrinkTime)*time.Second, invasive.MaxTimer)}
	h.machine, h.first = invasive.NewHypervisor(terms, saved, seen, nil)
	h.runner = link.NewRunner(link.Config{
		Side: invasive.IHypervisor, Machine: h.machine, Journal: h.journal, Listener: h.Listener,
		Do: h.do, Hear: h.negotiator.Hear, Load: h.load,
		Clock: h.Clock, Limits: h.Limits, Stats: h.Stats, Log: h.Log, Point: h.Point, Trace: h.Trace,
	})
	return nil
}

// listenJobs opens the socket for jobs that adapt. Whose job it is who connects the kernel
// and the launcher say.
func (h *Hypervisor) listenJobs() error {
	handle := func(id invasive.JobID, r malleable.Request) { h.runner.Call(func() { h.said(id, r) }) }
	if h.nodes != nil {
		h.jobs = h.nodes.Connect(handle, func() { h.runner.Call(h.nodesChanged) })
		h.cleanup = func() error { return nil }
		return nil
	}
	uid := uint32(os.Geteuid())
	switch {
	case h.Launcher != nil:
		uid = anyUser
	case h.Credential != nil:
		uid = h.Credential.Uid
	}
	from, cleanup, err := link.ListenUnix(h.jobSocket(), []uint32{uid})
	if err != nil {
		return err
	}
	h.cleanup = cleanup
	h.jobs = malleable.NewServer(from, malleable.ServerConfig{
		Identify: func(p link.Peer) (invasive.JobID, bool) { return h.launcher.JobOf(p.PID, p.UID) },
		Handle:   handle,
		Tasks:    h.Topology.threads(),
		Log:      h.Log,
	})
	return nil
}

// anyUser is nobody's number; a socket for it is open to all.
const anyUser = ^uint32(0)

func (h *Hypervisor) jobSocket() string {
	if h.JobSocket != "" {
		return h.JobSocket
	}
	return filepath.Join(h.State, "run", "jobs")
}

// Run negotiates and runs jobs until ctx is done, and finalises then; the jobs run on. It returns
// an error if the journal can't be written, or the listener fails. It is called once; after it
// nothing is left open.
func (h *Hypervisor) Run(ctx context.Context) error {
	stop := h.every(time.Second, h.tick)
	err := h.runner.Perform(h.first)
	if err == nil {
		err = h.runner.Run(ctx)
	}
	stop()
	err = errors.Join(err, h.jobs.Close())
	h.workers.Wait()
	return errors.Join(err, h.cleanup(), h.journal.Close())
}

// every calls f in the Runner's goroutine, again and again.
func (h *Hypervisor) every(d time.Duration, f func()) (stop func()) {
	var mu sync.Mutex
	over := false
	var again func()
	again = func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			h.runner.Call(f)
			h.Clock.AfterFunc(d, again)
		}
	}
	h.Clock.AfterFunc(d, again)
	return func() { mu.Lock(); over = true; mu.Unlock() }
}
