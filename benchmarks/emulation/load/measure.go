// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
)

// Figures are what was measured of a rival.
type Figures struct {
	Size   Size
	Rival  Rival
	Window time.Duration
	// Main and Backfill are Slurm's own schedulers in the window, as sdiag has them.
	Main, Backfill slurmtest.Cycles
	Auction        *Auction // nil if it is off
	Squeue, Sbatch Latencies
	Sinfo          Latencies // none unless asked for
	Started        int       // jobs, in the window, by whatever scheduler
	Pending        int       // jobs, at the end of the window
	Running        int       // jobs, at the end of the window
	CPU            float64   // processors that slurmctld kept busy, in the mean
	RSS, PeakRSS   int64     // slurmctld's, in bytes, at the end of the window and at most
	// Filled is how long the rival took to have jobs on nearly all cores of the empty machine; 0
	// if it had not when the window began.
	Filled time.Duration
	// Busy is the share of the machine's cores that jobs held, in the mean of some looks.
	Busy  float64
	Looks int
	// Registrations are those of nodes in the window: a slurmctld that has just begun asks for all
	// of them, more than once.
	Registrations int
	// TimedOut is how many jobs of those that have ended had come to their limits.
	TimedOut int
	// Others is how many processors everything but slurmctld kept busy, clients too.
	Others float64
}

// Measure has a rival work on a prepared queue, and clients ask meanwhile.
func Measure(ctx context.Context, o *Options, size Size, rival Rival, state string) (f *Figures, err error) {
	err = o.bed(ctx, size, rival, state, o.config(size.Nodes, &rival), func(c *slurmtest.Cluster) error {
		f, err = o.measure(ctx, c, size, rival)
		return err
	})
	return f, err
}

// bed calls do with a cluster of a rival that has the prepared queue, and whose partition is down.
func (o *Options) bed(ctx context.Context, size Size, rival Rival, state string, cfg slurmtest.Config,
	do func(*slurmtest.Cluster) error) (err error) {
	if err := o.Validate(); err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "%d nodes, %d jobs: %s\n", size.Nodes, size.Jobs, rival.Name)
	dir := filepath.Join(o.Dir, "run")
	if err := copyState(state, filepath.Join(dir, "state")); err != nil {
		return err
	}
	c, err := slurmtest.Start(ctx, dir, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(), os.RemoveAll(dir)) }()
	if err := checkQueue(ctx, c, size.Jobs); err != nil {
		return err
	}
	if err := registered(ctx, c, size.Nodes); err != nil {
		return err
	}
	return do(c)
}

// measure has the machine filled, and measures.
func (o *Options) measure(ctx context.Context, c *slurmtest.Cluster, size Size, rival Rival) (*Figures, error) {
	jobs, err := Jobs(size.Nodes, size.Jobs+o.Asks, o.Seed)
	if err != nil {
		return nil, err
	}
	if err := open(ctx, c); err != nil {
		return nil, err
	}
	f := &Figures{Size: size, Rival: rival}
	if err := f.fill(ctx, o, c); err != nil {
		return nil, err
	}
	return f, f.window(ctx, o, c, jobs[size.Jobs:])
}

// open lets jobs start, with this slurmctld and with those that follow it.
func open(ctx context.Context, c *slurmtest.Cluster) error {
	up := []slurmtest.Partition{{Name: partition, Default: true}}
	if err := c.SetConfig(func(cfg *slurmtest.Config) { cfg.Partitions = up }); err != nil {
		return err
	}
	_, err := c.Scontrol(ctx, "update", "PartitionName="+partition, "State=UP")
	return err
}

// full is the share of the cores from which on the machine is.
const full = 0.95

// fill waits until the machine is full, for a third of the warm-up at least and all of it at most.
func (f *Figures) fill(ctx context.Context, o *Options, c *slurmtest.Cluster) error {
	for begin := time.Now(); ; {
		busy, err := busyCores(ctx, c)
		if err != nil {
			return err
		}
		took := time.Since(begin)
		if busy >= full && f.Filled == 0 {
			f.Filled = took
		}
		if took >= o.Warm || (f.Filled > 0 && took >= o.Warm/3) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// checkQueue makes sure that slurmctld has taken over the queue.
func checkQueue(ctx context.Context, c *slurmtest.Cluster, want int) error {
	out, err := c.Squeue(ctx, "%T")
	if err != nil {
		return err
	}
	if n := strings.Count(out, "PENDING\n"); n != want {
		return fmt.Errorf("slurmctld has %d pending jobs of the %d that were prepared", n, want)
	}
	return nil
}

// window measures. more are the jobs that sbatch submits meanwhile.
func (f *Figures) window(ctx context.Context, o *Options, c *slurmtest.Cluster, more []workload.Job) error {
	if _, err := c.Run(ctx, "sdiag", "--reset"); err != nil {
		return err
	}
	pid := c.ControllerPid()
	before, err := usageOf(pid)
	if err != nil {
		return err
	}
	idle, err := IdleTime()
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := f.observe(ctx, o, c, more); err != nil {
		return err
	}
	f.Window = time.Since(begin)
	after, err := usageOf(pid)
	if err != nil {
		return err
	}
	idleAfter, err := IdleTime()
	if err != nil {
		return err
	}
	f.CPU = float64(after.CPU-before.CPU) / float64(f.Window)
	f.Others = max(float64(runtime.NumCPU())-float64(idleAfter-idle)/float64(f.Window)-f.CPU, 0)
	f.RSS, f.PeakRSS = after.RSS, after.PeakRSS
	if err := f.diagnose(ctx, c); err != nil {
		return err
	}
	f.TimedOut, err = checkEnds(c)
	return err
}

// observe runs the clients, and looks at what can be seen from outside, until the window is over
// and all clients have their answers.
func (f *Figures) observe(ctx context.Context, o *Options, c *slurmtest.Cluster, more []workload.Job) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var watchers, clients sync.WaitGroup
	var errs [2]error
	watchers.Go(func() { errs[0] = f.lookAtCores(watching, c) })
	if f.Rival.Auction {
		f.Auction = &Auction{}
		watchers.Go(func() { *f.Auction, errs[1] = watch(watching, c) })
	}
	every, listed := o.Window/time.Duration(o.Asks), cmp.Or(o.Lists, o.Asks)
	clients.Go(func() {
		f.Squeue = pace(ctx, listed, o.Window/time.Duration(listed), func(ctx context.Context, _ int) error {
			_, err := c.Run(ctx, "squeue")
			return err
		})
	})
	// Between two squeues.
	clients.Go(func() {
		f.Sbatch = paceFrom(ctx, every/2, o.Asks, every, func(ctx context.Context, i int) error {
			return sbatch(ctx, c, f.Size.Jobs+i, &more[i])
		})
	})
	if o.Sinfo {
		clients.Go(func() {
			f.Sinfo = paceFrom(ctx, every/4, o.Asks, every, func(ctx context.Context, _ int) error {
				_, err := c.Run(ctx, "sinfo")
				return err
			})
		})
	}
	clients.Wait()
	stop()
	watchers.Wait()
	return errors.Join(ctx.Err(), errs[0], errs[1])
}
