// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aucsched/aucsched/invasive/lines"
)

// Options are what a crew needs.
type Options struct {
	// Job is Slurm's number of the job, Nodes how many it has of its own, More how many companions
	// it may have beside.
	Job         string
	Nodes, More int
	// Address is where the lead listens, HOST:0.
	Address string
	// Args are further arguments of sbatch for companions.
	Args []string
	// Own is the command that has a member on each of the job's own nodes, and Companion the script
	// of a companion. Both find the invitation in their environment.
	Own       []string
	Companion string
	// State is a file that says what the crew has; "": none.
	State string
	Log   *slog.Logger
}

// crew is a lead with its companions.
type crew struct {
	Options
	lead       *Lead
	companions *companions
	joined     atomic.Bool // a member on one of the job's own nodes
}

// takenTime is how long a place may still seem to be there when Slurm kills what is on it: longer
// than a node that has failed is silent.
const takenTime = lines.Silence + 5*time.Second

// work is what a crew is for.
type work interface {
	// Handle hears of places.
	Handle(Event)
	// Waits reports whether more places are of use.
	Waits() bool
	// Running are the numbers of the tasks that run, by place.
	Running() map[int][]int
	// Over is closed when all is done.
	Over() <-chan struct{}
}

// RunBag runs tasks until all have ended, and returns how many have failed. It ends with an error
// if ctx ends before, or if the members on the job's own nodes do. No companion is left then.
func RunBag(ctx context.Context, o Options, tasks []string, slots int, record *Record, done map[int]int) (failed int, err error) {
	c := &crew{Options: o}
	b := &Bag{Tasks: tasks, Slots: slots, Save: record.Save, Log: o.Log, Spare: func(place int) bool { return place >= o.Nodes },
		Start:   func(place int, cmd Command) (uint64, error) { return c.lead.Run(place, cmd) },
		Release: func(place int) error { return c.lead.Release(place) },
		Later:   func(f func()) { time.AfterFunc(takenTime, f) }}
	b.Begin(done)
	if err := c.run(ctx, b, func(context.Context) error { return nil }); err != nil {
		return 0, err
	}
	return b.Result()
}

// RunProgram runs a program until it ends, and returns its exit status. It finds the variables of
// [Program] in its environment. If ctx ends before it gets SIGTERM, and SIGKILL ten seconds later.
// Otherwise it is as RunBag.
func RunProgram(ctx context.Context, o Options, argv []string) (status int, err error) {
	c := &crew{Options: o}
	p, err := NewProgram(os.TempDir(), o.Log)
	if err != nil {
		return LostStatus, err
	}
	defer p.Close()
	one := &programRun{Program: p, over: make(chan struct{})}
	err = c.run(ctx, one, func(ctx context.Context) error {
		p.lead = c.lead
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(cmd.Environ(), p.Environ()...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = 10 * time.Second
		if err := cmd.Start(); err != nil {
			return err
		}
		one.all.Add(1)
		go func() {
			defer one.all.Done()
			status = statusOf(cmd.Wait())
			close(one.over)
		}()
		return nil
	})
	one.all.Wait()
	return status, err
}

// programRun is a program that runs.
type programRun struct {
	*Program
	over chan struct{}
	all  sync.WaitGroup
}

func (*programRun) Waits() bool             { return true }
func (*programRun) Running() map[int][]int  { return nil }
func (p *programRun) Over() <-chan struct{} { return p.over }

// run is until all is done. Begin comes when there is a lead, before the first event.
func (c *crew) run(ctx context.Context, w work, begin func(context.Context) error) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	withdraw := sync.OnceFunc(func() { go c.companions.withdraw() })
	ready := make(chan struct{})
	c.lead, err = NewLead(c.Address, c.Log, func(e Event) {
		<-ready
		if e.Kind == Joined && e.Place < c.Nodes {
			c.joined.Store(true)
		}
		if e.Kind == Joined {
			c.companions.here(e.Place)
		}
		w.Handle(e)
		switch {
		case !w.Waits():
			withdraw()
		case e.Kind == Gone && e.Place >= c.Nodes && ctx.Err() == nil:
			c.companions.askAgain(ctx, e.Place, e.Lasted)
		}
	})
	if err != nil {
		return fmt.Errorf("the lead: %w", err)
	}
	defer c.lead.Close()
	c.companions = newCompanions(&c.Options, Commands(c.lead.Invitation()), KnownArrays)
	err = begin(ctx)
	close(ready)
	if err != nil {
		return err
	}
	if c.State != "" {
		defer c.keepState(w)()
	}
	return c.until(ctx, cancel, w.Over())
}

// until goes on until all is done.
func (c *crew) until(ctx context.Context, cancel func(), over <-chan struct{}) (err error) {
	var all sync.WaitGroup
	own := make(chan error, 1)
	all.Add(2)
	go func() {
		defer all.Done()
		own <- untilJoined(ctx, c.Log, c.joined.Load, c.own)
	}()
	go func() {
		defer all.Done()
		c.companions.run(ctx)
	}()
	places := make([]int, c.More)
	for k := range places {
		places[k] = c.Nodes + k
	}
	c.companions.ask(places...)
	select {
	case <-over:
	case err = <-own:
		err = fmt.Errorf("the members on the job's own nodes have ended: %w", errors.Join(err, ctx.Err()))
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.lead.Dismiss(2 * mercy)
	cancel()
	all.Wait()
	return err
}

// Who runs the job's own members tries for so long until one has joined, as nothing starts while
// slurmctld is away.
const (
	ownTime  = 5 * time.Minute
	ownPause = 3 * time.Second
)

// untilJoined runs the members again if that has failed before any has joined.
func untilJoined(ctx context.Context, log *slog.Logger, joined func() bool, run func(context.Context) error) error {
	for end := time.Now().Add(ownTime); ; {
		err := run(ctx)
		if err == nil || joined() || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		log.Warn("the members on the job's own nodes did not begin, and are tried again", "why", err)
		select {
		case <-ctx.Done():
		case <-time.After(ownPause):
		}
	}
}

// own runs the members on the job's own nodes.
func (c *crew) own(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.Own[0], c.Own[1:]...)
	cmd.Env = append(cmd.Environ(), Variable+"="+c.lead.Invitation().String())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	out := logWriter{c.Log}
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// logWriter has what a command prints in the log.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Info(string(p))
	return len(p), nil
}
