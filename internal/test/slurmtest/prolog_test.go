// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// prologs are scripts for PrologSlurmctld. The last fails for a third of the jobs, once.
var prologs = []struct {
	name, text string
	fails      bool
}{
	{"fast", "exit 0\n", false},
	{"slow", "exec sleep 1.$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')\n", false},
	{"failing", `sleep 0.$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')
failed=${0%/*}/work/failed.$SLURM_JOB_ID
[ $((SLURM_JOB_ID % 3)) != 0 ] || [ -e "$failed" ] && exit 0
: >"$failed"
exit 1
`, true},
}

// A prologRound is jobs under one prolog, while the state is saved slowly.
type prologRound struct {
	*Cluster
	t       *testing.T
	records string // where the jobs write lines of their own, "NAME begin" and "NAME end"
	fails   bool   // some prologs do
	batch   []string
	waited  map[string]error // srun and salloc: how they ended
}

// jobs are how many of each kind a round has; of array there are the tasks.
type jobs struct{ batch, srun, salloc, array int }

func (r *prologRound) body(name string) string {
	return fmt.Sprintf("echo %s begin >>%s; sleep 0.5; echo %[1]s end >>%[2]s", name, r.records)
}

// submit submits them, from three clients at once.
func (r *prologRound) submit(n jobs) {
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	errs := make([]error, n.batch+1)
	all.Go(func() {
		for i := range n.batch {
			name := fmt.Sprint("batch", i)
			r.batch = append(r.batch, name)
			_, errs[i] = r.Sbatch(ctx, []string{"-n1", "--time=5", "-o", "/dev/null", "-J", name}, "#!/bin/sh\n"+r.body(name)+"\n")
		}
	})
	all.Go(func() {
		_, errs[n.batch] = r.Sbatch(ctx, []string{"-n1", "--time=5", "-o", "/dev/null", fmt.Sprintf("--array=1-%d", n.array)},
			"#!/bin/sh\n"+r.body("task$SLURM_ARRAY_TASK_ID")+"\n")
	})
	wait := func(name string, run func(context.Context, ...string) (string, error), args ...string) {
		_, err := run(ctx, append([]string{"-n1", "--time=5", "-J", name}, append(args, "sh", "-c", r.body(name))...)...)
		mu.Lock()
		defer mu.Unlock()
		r.waited[name] = err
	}
	room := make(chan struct{}, 8)
	for i := range n.srun + n.salloc {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if i < n.srun {
				wait(fmt.Sprint("srun", i), r.Srun)
			} else {
				wait(fmt.Sprint("salloc", i), r.Salloc, "srun")
			}
		})
	}
	all.Wait()
	for i := range n.array {
		r.batch = append(r.batch, fmt.Sprint("task", i+1))
	}
	for _, err := range errs {
		require.NoError(r.t, err)
	}
}

// waitEmpty waits until the queue is empty. A job whose prolog has failed would wait for two
// minutes before it is tried again; nothing else is to need help.
func (r *prologRound) waitEmpty() {
	var left string
	require.NoError(r.t, r.poll(r.t.Context(), 3*time.Minute, "the queue to be empty", func() (bool, error) {
		var err error
		if left, err = r.Squeue(r.t.Context(), "%i %T %r"); err != nil {
			return false, nil
		}
		if strings.Contains(left, "held") || strings.Contains(left, "Held") {
			return false, fmt.Errorf("held: %s", left)
		}
		for line := range strings.SplitSeq(left, "\n") {
			if id, reason, _ := strings.Cut(line, " "); r.fails && strings.HasSuffix(reason, "BeginTime") {
				// it may just have begun
				r.Scontrol(r.t.Context(), "update", "JobId="+id, "StartTime=now")
			}
		}
		return strings.TrimSpace(left) == "", nil
	}), "left:\n%s", left)
}

// requireOnce checks by what the jobs wrote themselves that each ran once, to its end, and that all
// nodes are in service.
func (r *prologRound) requireOnce() {
	text, err := os.ReadFile(r.records)
	require.NoError(r.t, err)
	lines := map[string]int{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		lines[line]++
	}
	for _, name := range r.batch {
		require.Equal(r.t, 1, lines[name+" begin"], "starts of %s", name)
		require.Equal(r.t, 1, lines[name+" end"], "ends of %s", name)
	}
	for name, err := range r.waited {
		want := 1
		if err != nil { // Slurm has cancelled it, since its prolog had failed
			require.True(r.t, r.fails, "%s: %v", name, err)
			require.NotErrorIs(r.t, err, context.DeadlineExceeded, name)
			want = 0
		}
		require.Equal(r.t, want, lines[name+" begin"], "starts of %s (%v)", name, err)
		require.Equal(r.t, want, lines[name+" end"], "ends of %s (%v)", name, err)
	}
	require.Empty(r.t, logLines(r.t, r.Cluster, "Duplicate jobid|launch failed requeued held"))
	states, err := r.nodeStates(r.t.Context())
	require.NoError(r.t, err)
	for state := range states {
		require.NotContains(r.t, state, "drain", "%v", states)
	}
}

// prologRounds has jobs run under each of the prologs and with each duration of fsync().
func prologRounds(t *testing.T, m mode, n jobs, fsyncs ...time.Duration) {
	c := cluster(t, m, Config{Groups: Uniform(8, 8, 0), SlurmUser: "slurm", Faults: true, PrologSlurmctld: "#!/bin/sh\nexit 0\n"})
	slow := int64(0)
	for _, prolog := range prologs {
		for _, fsync := range fsyncs {
			passed := t.Run(fmt.Sprint(prolog.name, " ", fsync), func(t *testing.T) {
				// A script that runs is not written over.
				require.NoError(t, os.WriteFile(c.path("prolog.new"), []byte("#!/bin/sh\n"+prolog.text), 0o755))
				require.NoError(t, os.Rename(c.path("prolog.new"), c.path("prolog")))
				require.NoError(t, c.Faults().Set(OpFsync, Fault{Delay: fsync}))
				r := &prologRound{Cluster: c, t: t, records: c.path("work", "records"), fails: prolog.fails, waited: map[string]error{}}
				require.NoError(t, os.WriteFile(r.records, nil, 0o666))
				r.submit(n)
				r.waitEmpty()
				r.requireOnce()
				slow += c.Faults().Hits(OpFsync)
			})
			if !passed {
				return // what is left of it is in the way of the others
			}
		}
	}
	require.Positive(t, slow)
}

// A job is launched once, by whom ever, also if slurmctld's prolog for it ends while the
// state is being saved; then nothing is held, and no node drained.
func TestPrologOfSlurmctld(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		prologRounds(t, m, jobs{batch: 6, srun: 2, salloc: 2, array: 4}, 80*time.Millisecond)
	})
}

// The same with 2,016 jobs, and saving from as fast as a disk to as slow as a file server.
func TestPrologsOfSlurmctld(t *testing.T) {
	slow(t)
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		prologRounds(t, m, jobs{batch: 80, srun: 16, salloc: 12, array: 60},
			time.Millisecond, 20*time.Millisecond, 80*time.Millisecond, 300*time.Millisecond)
	})
}

// Who waits for an allocation that is cancelled before he hears of it hears of that.
func TestCancelledWhileSaved(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(2, 8, 0), SlurmUser: "slurm", Faults: true})
	// salloc itself waits for what it runs, granted or not.
	for _, argv := range [][]string{{"srun", "-n1", "--time=1", "sleep", "60"}, {"salloc", "-n1", "--time=1", "srun", "sleep", "60"}} {
		require.NoError(t, c.Faults().Set(OpFsync, Fault{Name: "job_state", Delay: 700 * time.Millisecond}))
		started := len(logLines(t, c, "aucsched: started"))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := c.Run(ctx, argv...)
			ended <- err
		}()
		require.NoError(t, c.poll(ctx, patience, "the start", func() (bool, error) {
			return len(logLines(t, c, "aucsched: started")) > started, nil
		}))
		require.NoError(t, c.Scancel(ctx, "--user=root"))
		err := <-ended
		require.Error(t, err, argv)
		require.NotErrorIs(t, err, context.DeadlineExceeded, argv)
		require.NoError(t, c.Faults().Clear())
		// a save that takes too long is not waited for: none is left of this round
		time.Sleep(3 * time.Second)
	}
}
