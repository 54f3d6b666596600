// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// atOnce are the modes as a site has them: batch jobs start without delay under stock too.
var (
	atOnceStock   = stock
	atOnceAuction = mode{"auction", func(t *testing.T, c Config) Config {
		return stock.setup(t, c.WithAuction(pluginDir(t), ""))
	}}
)

// aQueueOfOne times n jobs, each submitted when the one before is over, and says
// how long run measured.
func aQueueOfOne(t *testing.T, n int, run func(i int) (time.Duration, error)) []time.Duration {
	t.Helper()
	took := make([]time.Duration, n)
	for i := range took {
		var err error
		took[i], err = run(i)
		require.NoError(t, err)
	}
	return took
}

// sruns times n times "srun -N1 true", which must not say that it waits.
func sruns(t *testing.T, c *Cluster, n int) []time.Duration {
	t.Helper()
	return aQueueOfOne(t, n, func(int) (time.Duration, error) {
		begin := time.Now()
		said, err := c.Run(t.Context(), "sh", "-c", "srun -N1 true 2>&1")
		took := time.Since(begin)
		require.Empty(t, said, "srun has nothing to say")
		return took, err
	})
}

// batches times n batch jobs from their submission until they run. They are spread over the second,
// as slurmctld tries batch jobs when its clock comes to a full one, from 23.11 on.
func batches(t *testing.T, c *Cluster, n int) []time.Duration {
	t.Helper()
	return aQueueOfOne(t, n, func(i int) (time.Duration, error) {
		runs := c.path("work", "runs")
		phase := time.Duration(i) * time.Second / time.Duration(n)
		time.Sleep(time.Until(time.Now().Add(time.Second - phase).Truncate(time.Second).Add(phase)))
		begin := time.Now()
		_, err := c.Run(t.Context(), "sbatch", "-N1", "-o", "/dev/null", "--wrap", "touch "+runs)
		for ; err == nil && time.Since(begin) < 30*time.Second; time.Sleep(time.Millisecond) {
			if os.Remove(runs) == nil {
				return time.Since(begin), nil
			}
		}
		return 0, fmt.Errorf("the job does not run: %w", err)
	})
}

// quantile is the value that a part p of them does not exceed.
func quantile(took []time.Duration, p float64) time.Duration {
	took = slices.Sorted(slices.Values(took))
	return took[min(int(p*float64(len(took))), len(took)-1)]
}

// A job that could start now, with nobody in its way, starts as fast as under stock Slurm. Both
// are measured in turn, a part of each at a time, so that the machine's moods are everybody's.
func TestJobsAloneStartAtOnce(t *testing.T) {
	cfg := Config{Groups: Uniform(8, 8, 0)}
	without, with := cluster(t, atOnceStock, cfg), cluster(t, atOnceAuction, cfg)
	require.NoError(t, with.poll(t.Context(), 15*time.Second, "the auction to be on", func() (bool, error) {
		s, err := with.Status()
		return err == nil && s.State == "on", nil
	}))
	for _, kind := range []struct {
		name  string
		times func(*testing.T, *Cluster, int) []time.Duration
	}{{"srun", sruns}, {"sbatch", batches}} {
		var stock, ours []time.Duration
		least, most := 3, 12
		if os.Getenv("AUCSCHED_SLURM_LONG") == "1" {
			least, most = 20, 20
		}
		// Beside other tests a few times say little.
		asFast := func() bool { return quantile(ours, 0.5) <= quantile(stock, 0.5)+100*time.Millisecond }
		for round := 0; round < least || round < most && !asFast(); round++ {
			stock = append(stock, kind.times(t, without, 5)...)
			ours = append(ours, kind.times(t, with, 5)...)
		}
		for _, p := range []float64{0.5, 0.9, 0.99} {
			t.Logf("%s, quantile %.1f: stock %v, ours %v", kind.name, p, quantile(stock, p), quantile(ours, p))
		}
		require.True(t, asFast(), kind.name)
	}
	require.Empty(t, logLines(t, with, "Failed to start JobId"), "backfill tries nothing in vain")
	planned, err := with.Sinfo(t.Context(), "%t")
	require.NoError(t, err)
	require.NotContains(t, planned, "plnd", "no node is kept for jobs that have run")
}

// Of jobs that come together the first starts at once; the others are decided together.
func TestABurstIsDecidedTogether(t *testing.T) {
	beside(t)
	c := cluster(t, atOnceAuction, Config{Groups: Uniform(8, 8, 0)})
	require.NoError(t, c.poll(t.Context(), 15*time.Second, "the auction to be on", func() (bool, error) {
		s, err := c.Status()
		return err == nil && s.State == "on", nil
	}))
	const jobs = 40
	before, err := c.Status()
	require.NoError(t, err)
	_, err = c.Run(t.Context(), "sh", "-c",
		fmt.Sprintf(`for i in $(seq %d); do sbatch -n1 -o /dev/null --wrap "sleep 15" & done; wait`, jobs))
	require.NoError(t, err)
	require.NoError(t, c.poll(t.Context(), 10*time.Second, "all jobs to run", func() (bool, error) {
		out, err := c.Squeue(t.Context(), "%A", "--states=RUNNING")
		return len(strings.Fields(out)) == jobs, err
	}))
	routes, err := c.Routes()
	require.NoError(t, err)
	decided := 0
	for _, r := range routes {
		decided += r.Started
	}
	require.GreaterOrEqual(t, decided, jobs*3/4, "few start before the others are there")
	require.NoError(t, c.poll(t.Context(), 5*time.Second, "the status to count them", func() (bool, error) {
		s, err := c.Status()
		return err == nil && int(s.Started-before.Started) >= decided, nil
	}))
	after, err := c.Status()
	require.NoError(t, err)
	require.LessOrEqual(t, after.Cycles-before.Cycles, int64(8), "a few cycles decide them all")
}
