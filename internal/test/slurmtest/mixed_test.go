// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mixedMachine is the machine of the mixed workload.
func mixedMachine(n int) Config {
	return Config{
		Groups:     []Group{{Nodes: n - n/4, Cores: 8, GPUs: 3}, {Nodes: n / 4, Cores: 8, Features: "plain"}},
		Partitions: []Partition{{Name: "p", Default: true}, {Name: "q"}},
		Licenses:   "lic:10",
	}
}

// mixedJob is a random submission and what it asks for; arrays have tasks.
func mixedJob(rng *rand.Rand, n int, ranges bool) (args []string, ask Ask, tasks int) {
	nodes := 1 + rng.IntN(min(8, n/4))
	cpus := nodes * (1 + rng.IntN(4))
	switch rng.IntN(14) {
	case 0, 1, 2:
		args, ask = []string{"-n", fmt.Sprint(cpus)}, Ask{CPUs: cpus}
	case 3:
		args = []string{"-n", fmt.Sprint(cpus + nodes), "-N", fmt.Sprintf("%d-%d", nodes, 2*nodes)}
		ask = Ask{CPUs: cpus + nodes, MinNodes: nodes, MaxNodes: 2 * nodes}
	case 4:
		g := 1 + rng.IntN(3)
		args = []string{"-n", fmt.Sprint(cpus), "-N", fmt.Sprint(nodes), fmt.Sprint("--gres=gpu:", g)}
		ask = Ask{CPUs: cpus, MinNodes: nodes, MaxNodes: nodes}.GPURange(g, g)
	case 5, 6:
		lo := 1 + rng.IntN(2)
		hi := lo + rng.IntN(2)
		gres := fmt.Sprintf("--gres=gpu:%d-%d", lo, hi)
		if !ranges {
			gres, hi = fmt.Sprint("--gres=gpu:", lo), lo
		}
		args = []string{"-n", fmt.Sprint(cpus), "-N", fmt.Sprint(nodes), gres}
		ask = Ask{CPUs: cpus, MinNodes: nodes, MaxNodes: nodes}.GPURange(lo, hi)
	case 7:
		tasks = 2 + rng.IntN(4)
		args, ask = []string{"-n2", fmt.Sprintf("--array=1-%d", tasks)}, Ask{CPUs: 2}
	case 8:
		args = []string{"-n", fmt.Sprint(nodes), "-N", fmt.Sprint(nodes), "--contiguous"}
		ask = Ask{CPUs: nodes, MinNodes: nodes, MaxNodes: nodes, Contiguous: true}
	case 9:
		per := 1 + rng.IntN(3)
		args = []string{"-N", fmt.Sprint(nodes), fmt.Sprint("--ntasks-per-node=", per), "-c2"}
		ask = Ask{CPUs: 2 * per * nodes, MinNodes: nodes, MaxNodes: nodes, CPUsPerNode: 2 * per}
	case 10:
		args, ask = []string{"-n1", "--exclusive"}, Ask{CPUsPerNode: 8}
	case 11:
		name := NodeName(1 + rng.IntN(n))
		args, ask = []string{"-n2", "-w", name}, Ask{CPUs: 2, Including: []string{name}}
	case 12:
		args, ask = []string{"-n3", "-L", "lic:2", "--exclude=n0002", "--mem=100"}, Ask{CPUs: 3, Without: []string{"n0002"}}
	case 13:
		args, ask = []string{"-n2", "-p", "p,q", "-C", "plain"}, Ask{CPUs: 2}
	}
	return append(args, "--time=1"), ask, tasks
}

// clients submit mixed jobs and remember them.
type clients struct {
	cluster *Cluster
	watcher *Watcher
	nodes   int
	ranges  bool

	mu    sync.Mutex
	ids   []uint32
	tasks map[uint32]int // of arrays
}

// submit has 4 clients submit n jobs each at once; each job may wait for the one
// before it.
func (s *clients) submit(ctx context.Context, n int, seed uint64) error {
	errs := make(chan error, 4)
	for client := range 4 {
		go func() {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			var last uint32
			var err error
			for i := 0; i < n && err == nil; i++ {
				last, err = s.one(ctx, rng, last)
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

func (s *clients) one(ctx context.Context, rng *rand.Rand, last uint32) (uint32, error) {
	args, ask, tasks := mixedJob(rng, s.nodes, s.ranges)
	if last != 0 && rng.IntN(10) == 0 {
		args = append(args, fmt.Sprint("--dependency=afterany:", last))
	}
	script := s.cluster.Script(fmt.Sprint("sleep ", 1+rng.IntN(3)))
	id, err := s.cluster.Sbatch(ctx, args, script)
	for try := 0; try < 5 && transient(err); try++ {
		id, err = s.cluster.Sbatch(ctx, args, script)
	}
	if err != nil {
		return 0, err
	}
	s.watcher.Expect(id, ask)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, id)
	if tasks > 0 {
		s.tasks[id] = tasks
	}
	return id, nil
}

// transient says whether a submission failed as it may under any stock slurmctld
// 22.05 that just reads its configuration: it drops requests then, and reads its own
// time-outs and munge socket as unset.
func transient(err error) bool {
	for _, words := range []string{"missing socket", "Connection re", "Zero Bytes", "timed out", "authentication", "Unspecified error"} {
		if strings.Contains(Stderr(err), words) {
			return true
		}
	}
	return false
}

// Hundreds of jobs of every kind, from four clients at once, while the
// administrator does what administrators do: every job runs, exactly once.
func TestMixed(t *testing.T) {
	beside(t)
	if version, err := Version(); err == nil && strings.HasPrefix(version, "25.05.") {
		t.Skip("without slurmdbd a stock slurmctld 25.05 ends by a signal when nodes register as it reads its configuration")
	}
	mostlyAuction(t, func(t *testing.T, m mode) {
		n := min(nodes(t), 64)
		c := cluster(t, m, mixedMachine(n))
		ctx := t.Context()
		s := &clients{cluster: c, watcher: watch(t, c), nodes: n, ranges: m.name == "auction", tasks: map[uint32]int{}}
		rounds := []func(){
			func() {
				require.NoError(t, c.DrainNode(ctx, "n0001"))
				for range 5 {
					time.Sleep(time.Second)
					require.NoError(t, c.Reconfigure(ctx))
				}
				require.NoError(t, c.ResumeNode(ctx, "n0001"))
				require.NoError(t, c.HUP(t.Context()))
			},
		}
		kills := 2
		if testing.Short() {
			kills = 0
		}
		for range kills {
			rounds = append(rounds, func() { killWhileStarting(t, c) })
		}
		for len(rounds) < 2 {
			rounds = append(rounds, func() {})
		}
		for round, disturb := range rounds {
			submitted := make(chan error, 1)
			go func() { submitted <- s.submit(ctx, 42, uint64(round)) }()
			if round == 0 {
				disturb()
				require.NoError(t, <-submitted)
				continue
			}
			require.NoError(t, <-submitted) // what is submitted just before a kill may be lost
			disturb()
		}
		waitEmptyHelping(t, c, 150*time.Second, m.name == "stock")
		runs, err := c.Runs(s.withTasks(t))
		require.NoError(t, err)
		require.Empty(t, runs.Faults)
		if ours := requireLogSaysForgotten(t, c, runs); m.name == "auction" {
			require.Empty(t, ours, "starts of the auction that ran again")
			requireEndsRepaired(t, c, runs)
		}
		out, err := c.Scontrol(ctx, "show", "licenses", "lic")
		require.NoError(t, err)
		require.Contains(t, out, "Used=0 ", "licences are given back")
		if m.name == "auction" {
			status, err := c.Status()
			require.NoError(t, err)
			require.Zero(t, status.CyclesFailed, status.LastFailure)
			t.Logf("status: %+v", status)
		}
	})
}

// withTasks are the jobs, with all tasks of arrays.
func (s *clients) withTasks(t *testing.T) []uint32 {
	t.Helper()
	ended, err := s.cluster.Ended()
	require.NoError(t, err)
	numbers := map[uint32]map[string]uint32{}
	for _, e := range ended {
		var array uint32
		if _, err := fmt.Sscan(e.Fields["ArrayJobId"], &array); err == nil {
			if numbers[array] == nil {
				numbers[array] = map[string]uint32{}
			}
			numbers[array][e.Fields["ArrayTaskId"]] = e.ID
		}
	}
	var ids []uint32
	for _, id := range s.ids {
		if s.tasks[id] == 0 {
			ids = append(ids, id)
			continue
		}
		require.Len(t, numbers[id], s.tasks[id], "tasks of array %d", id)
		for _, task := range numbers[id] {
			ids = append(ids, task)
		}
	}
	return ids
}
