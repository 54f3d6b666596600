// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/aucsched/aucsched/benchmarks/emulation"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
)

// submitters run sbatch, or vsubmit, at a time.
const submitters = 4

// sbatches is the longest queue that has an sbatch for each job. vsubmit, which is one process for
// many jobs, submits those that are longer.
const sbatches = 20_000

// asleep are SchedulerParameters with which nothing of Slurm looks at the queue.
const asleep = "defer,sched_interval=-1,bf_interval=-1"

// Prepare submits queues of jobs to a stock slurmctld with so many nodes, and keeps the state
// of each length in a directory of its own: the directories, in the order of lengths, which must be
// ascending. Those that are there already are taken as they are. Jobs have a priority of their
// own, so that their order does not depend on which was submitted first.
//
// Where a queue is longer than sbatches, that slurmctld has but as many nodes as the widest jobs
// need: what it saves of pending jobs does not depend on its nodes, and with each job that is
// submitted it looks at all of them.
func Prepare(ctx context.Context, o *Options, nodes int, lengths []int) (states []string, err error) {
	if len(lengths) == 0 || !slices.IsSorted(lengths) || lengths[0] < 1 {
		return nil, fmt.Errorf("lengths of queues %v: must be ascending, from 1 on", lengths)
	}
	made := 0
	for i, n := range lengths {
		states = append(states, filepath.Join(o.Dir, fmt.Sprintf("queue-%d-%d-%d", nodes, n, o.Seed)))
		if _, err := os.Stat(states[i]); err == nil && made == i {
			made++
		}
	}
	if made < len(lengths) {
		err = o.prepare(ctx, nodes, lengths, states, made)
	}
	return states, err
}

// prepare goes on after the first made queues.
func (o *Options) prepare(ctx context.Context, nodes int, lengths []int, states []string, made int) (err error) {
	jobs, err := Jobs(nodes, lengths[len(lengths)-1], o.Seed)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "%d nodes: submitting %d jobs\n", nodes, len(jobs))
	way := submit
	if len(jobs) > sbatches {
		way, nodes = o.submitMany, min(nodes, enough(jobs))
	}
	dir := filepath.Join(o.Dir, fmt.Sprintf("prepare-%d", nodes))
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	done := 0
	if made > 0 {
		done = lengths[made-1]
		if err := copyState(states[made-1], filepath.Join(dir, "state")); err != nil {
			return err
		}
	}
	c, err := slurmtest.Start(ctx, dir, o.config(nodes, &Rival{Parameters: asleep}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(), os.RemoveAll(dir)) }()
	for i, n := range lengths[made:] {
		if i > 0 {
			if err := c.StartController(ctx); err != nil {
				return err
			}
		}
		if err := way(ctx, c, jobs[:n], done); err != nil {
			return err
		}
		done = n
		// At its end it saves all there is.
		if err := c.KillController(ctx, syscall.SIGTERM); err != nil {
			return err
		}
		if err := keepState(filepath.Join(dir, "state"), states[made+i]); err != nil {
			return err
		}
	}
	return nil
}

// enough is how many nodes the widest of the jobs needs.
func enough(jobs []workload.Job) int {
	n := 1
	for i := range jobs {
		n = max(n, jobs[i].MinNodes, (jobs[i].Cores+int(Node.Cores)-1)/int(Node.Cores))
	}
	return n
}

// keepState copies slurmctld's saved state, all or nothing.
func keepState(from, to string) error {
	tmp := to + ".new"
	if err := errors.Join(os.RemoveAll(to), os.RemoveAll(tmp)); err != nil {
		return err
	}
	if err := copyState(from, tmp); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// submit submits the jobs from number first on, several at a time.
func submit(ctx context.Context, c *slurmtest.Cluster, jobs []workload.Job, first int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := atomic.Int64{}
	next.Store(int64(first))
	var all sync.WaitGroup
	for range submitters {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				if err := sbatch(ctx, c, i, &jobs[i]); err != nil {
					cancel(fmt.Errorf("job %d: %w", i, err))
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// sbatch submits job i of the queue.
func sbatch(ctx context.Context, c *slurmtest.Cluster, i int, j *workload.Job) error {
	args, script := emulation.Submission(i, j, false)
	_, err := c.Sbatch(ctx, append(args, fmt.Sprintf("--priority=%d", firstPriority-i)), script)
	return err
}

// copyState copies slurmctld's saved state. What it has of each job by itself, the script and
// the environment, it never changes, but may remove: such files are linked.
func copyState(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular() || rel == "slurmctld.pid":
			return nil
		case filepath.Dir(rel) != ".": // hash.7/job.17/script
			return os.Link(path, target)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
}
