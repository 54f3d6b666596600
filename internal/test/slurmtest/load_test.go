// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// loadJobs is how many jobs wait at once, as in the papers' largest windows.
const loadJobs = 500

// What a cycle costs with 500 jobs waiting, beside Slurm's own. Figures are asserted
// from 1,000 nodes up: a small machine's say nothing.
func TestLoad(t *testing.T) {
	slow(t)
	bed(t)
	n := nodes(t)
	var table strings.Builder
	fmt.Fprintf(&table, "%d nodes of 12 cores and 3 GPUs, %d jobs waiting; microseconds\n%-8s %-24s %8s %10s %10s %10s\n",
		n, loadJobs, "mode", "figure", "count", "last", "mean", "max")
	row := func(mode, name string, count int64, last, mean, max float64) {
		fmt.Fprintf(&table, "%-8s %-24s %8d %10.0f %10.0f %10.0f\n", mode, name, count, last, mean, max)
	}
	bothModes(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: Uniform(n, 12, 3)})
		ids := submitLoad(t, c, n)
		time.Sleep(12 * time.Second) // a dozen cycles, jobs starting and ending
		d, err := c.Sdiag(t.Context())
		require.NoError(t, err)
		row(m.name, "sdiag main", d.Main.Count, float64(d.Main.Last), float64(d.Main.Mean), float64(d.Main.Max))
		row(m.name, "sdiag backfill", d.Backfill.Count, float64(d.Backfill.Last), float64(d.Backfill.Mean), float64(d.Backfill.Max))
		if m.name == "auction" {
			requireLoadFigures(t, c, n, row)
		}
		all, most := startRate(t, c, ids)
		fmt.Fprintf(&table, "%-8s jobs started in 12 s: %d of %d, %.0f a second, at most %d in a second\n",
			m.name, all, len(ids), float64(all)/12, most)
		require.Positive(t, all)
	})
	fmt.Print(table.String())
}

// startRate is how many of the jobs slurmctld has started, and the most in one second, by the times
// that it gives.
func startRate(t *testing.T, c *Cluster, ids []uint32) (all, most int) {
	t.Helper()
	jobs, err := c.Jobs(t.Context())
	for try := 0; try < 5 && transient(err); try++ {
		// a machine that runs all those nodes too is slow to answer
		jobs, err = c.Jobs(t.Context())
	}
	require.NoError(t, err)
	second := map[string]int{}
	for _, j := range jobs {
		if slices.Contains(ids, j.ID) && !j.In("PENDING") {
			all++
			second[j.Fields["StartTime"]]++
			most = max(most, second[j.Fields["StartTime"]])
		}
	}
	return all, most
}

// submitLoad queues jobs that ask for three times the machine, all in all.
func submitLoad(t *testing.T, c *Cluster, n int) []uint32 {
	t.Helper()
	var ids []uint32
	rng := rand.New(rand.NewPCG(8, uint64(n)))
	together(t, c, func() {
		for range loadJobs {
			nodes := 1 + rng.IntN(max(n/50, 2))
			args := []string{"--time=10", "-n", fmt.Sprint(nodes * (1 + rng.IntN(8))), "-N", fmt.Sprint(nodes)}
			if g := rng.IntN(4); g > 0 {
				args = append(args, fmt.Sprint("--gres=gpu:", g))
			}
			ids = append(ids, submit(t, c, fmt.Sprint("sleep ", 2+rng.IntN(6)), args...))
		}
	})
	return ids
}

func requireLoadFigures(t *testing.T, c *Cluster, n int, row func(mode, name string, count int64, last, mean, max float64)) {
	t.Helper()
	s, err := c.Status()
	require.NoError(t, err)
	require.Zero(t, s.CyclesFailed, s.LastFailure)
	require.Positive(t, s.Started)
	for _, f := range []struct {
		name string
		Figure
	}{{"auction cycle", s.Cycle}, {"auction snapshot", s.Snapshot}, {"auction decide", s.Decide},
		{"auction start", s.StartFigure}, {"auction locks, no starts", s.Lock}} {
		row("auction", f.name, s.Cycles, f.Last, f.Mean, f.Max)
	}
	if n >= 1000 {
		require.Less(t, s.Decide.Mean, 200e3, "the deadline is 200 ms")
		require.Less(t, s.Decide.Max, 1000e3, "on a machine that runs all those nodes too")
		require.Less(t, s.Snapshot.Mean, 20e3)
		require.Less(t, s.Lock.Mean, 300e3)
		require.Less(t, s.StartFigure.Max, 1500e3)
	}
}

// busyCycles makes the auction go through n cycles as fast as it can: a queue that
// never starts, and something new in it all the time.
func busyCycles(t *testing.T, c *Cluster, n int64) {
	t.Helper()
	s, err := c.Status()
	require.NoError(t, err)
	until := s.Cycles + n
	end := time.Now().Add(2 * time.Hour)
	for i := 0; s.Cycles < until; i++ {
		// Of the highest priority, interactive, and small enough for what is idle: such a
		// job is tried at once, which calls for a cycle, and waits for that.
		_, err := c.Salloc(t.Context(), "-n", fmt.Sprint(1+i%8), "--gres=gpu:1-2", "--time=1", "--priority=4294967000", "true")
		require.NoError(t, err)
		s, err = c.Status()
		require.NoError(t, err)
		require.True(t, time.Now().Before(end), "%d cycles of %d", s.Cycles, until)
	}
}

// busyMachine is full but for some nodes, with a queue of jobs that find no place.
func busyMachine(t *testing.T, m mode, cfg Config) *Cluster {
	t.Helper()
	cfg.Groups = Uniform(16, 8, 2)
	cfg.MinJobAge = 2 * time.Second
	cfg.SchedulerParameters = join(",", "auc_delay_ms=0,sched_min_interval=1000", cfg.SchedulerParameters)
	cfg.StartTimeout = 10 * time.Minute
	c := cluster(t, m, cfg)
	blocker := submit(t, c, "sleep 100000", "-n112", "-N14", "--gres=gpu:2")
	running(t, c, 2*time.Minute, blocker)
	for i := range 30 {
		submit(t, c, "true", "-n", fmt.Sprint(20+i%13), "-N4", "--gres=gpu:1-2", "--time=1")
	}
	return c
}

// Cycles leave slurmctld as large as it was, but for what it keeps of jobs: the stock
// one grows by 1.1 MB with a thousand jobs such as these, and so may ours.
func TestMemoryIsFlat(t *testing.T) {
	bed(t)
	long(t)
	c := busyMachine(t, auction, Config{})
	sizes := []int{}
	for range 3 {
		busyCycles(t, c, 1000)
		sizes = append(sizes, rssKB(t, c))
	}
	t.Logf("resident after 1,000, 2,000 and 3,000 cycles: %d KB", sizes)
	require.Less(t, sizes[2]-sizes[1], 2500, "KB more")
}

func rssKB(t *testing.T, c *Cluster) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.ControllerPid()))
	require.NoError(t, err)
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	require.NotNil(t, m)
	var kb int
	fmt.Sscan(string(m[1]), &kb)
	return kb
}

// ourFrame finds a frame of a valgrind report that is in the C code of aucsched's plug-ins.
func ourFrame() *regexp.Regexp {
	files, err := filepath.Glob("../../../slurmplugin/*.c")
	if err != nil || len(files) == 0 {
		panic("../../../slurmplugin/*.c: no such files")
	}
	for i := range files {
		files[i] = regexp.QuoteMeta(filepath.Base(files[i]))
	}
	return regexp.MustCompile(`(?m)^ +(?:at|by) 0x[0-9A-F]+: (?:auc_\w+ \(|.*\((?:` + strings.Join(files, "|") + `):\d+\))`)
}

var valgrindPrefix = regexp.MustCompile(`(?m)^[=-]{2}\d+[=-]{2} ?`)

// valgrindFaults are the errors and leaks of a valgrind log with one of our frames on
// the stack of the fault. The Go runtime, which moves stacks and reads strings by whole
// words, is not for valgrind to judge.
func valgrindFaults(log string) []string {
	var faults []string
	frame := ourFrame()
	for block := range strings.SplitSeq(valgrindPrefix.ReplaceAllString(log, ""), "\n\n") {
		stack, _, _ := strings.Cut(block, " Address 0x")
		if frame.MatchString(stack) && !strings.Contains(stack, ": runtime.") {
			faults = append(faults, block)
		}
	}
	return faults
}

func TestValgrindFaults(t *testing.T) {
	ours := `==7== Invalid read of size 8
==7==    at 0x57F6F80: _start_one (start.c:131)
==7==    by 0x585C2A9: auc_start (start.c:520)
==7==  Address 0x4d2d8b0 is 32 bytes inside a block of size 47 free'd
`
	leak := `==7== 48 bytes in 1 blocks are definitely lost in loss record 3 of 9
==7==    at 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==7==    by 0x484CCBF: _cycle (agent.c:33)
`
	others := `--541-- When reading debug info from /tmp/p/libaucsched.so:
==7== Thread 5 aucsched:
==7== Invalid write of size 8
==7==    at 0x587A809: runtime.asyncPreempt.abi0 (preempt_amd64.s:18)
==7== 
==7== Invalid read of size 8
==7==    at 0x57F6F80: slurm_free (xmalloc.c:131)
==7==  Address 0x4d2d8b0 is 32 bytes inside a block of size 47 alloc'd
==7==    at 0x57F6F80: auc_start (start.c:131)
`
	require.Len(t, valgrindFaults(ours+"==7== \n"+others+"==7== \n"+leak), 2)
	require.Empty(t, valgrindFaults(others))
}

// A thousand cycles under valgrind: no error and no leak in our frames.
func TestValgrind(t *testing.T) {
	bed(t)
	long(t)
	if _, err := exec.LookPath("valgrind"); err != nil {
		t.Skip("valgrind is not installed")
	}
	dir, err := os.MkdirTemp("", "slurmtest-valgrind")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	c := busyMachine(t, auction, Config{
		Wrapper: []string{"valgrind", "--leak-check=full", "--num-callers=30", "--errors-for-leak-kinds=definite",
			"--show-leak-kinds=definite", "--log-file=" + dir + "/%p"}})
	busyCycles(t, c, 1000)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	require.NoError(t, c.KillController(ctx, 15))
	logs, _ := filepath.Glob(dir + "/*")
	require.NotEmpty(t, logs)
	summaries := 0
	for _, l := range logs {
		text, err := os.ReadFile(l)
		require.NoError(t, err)
		summaries += strings.Count(string(text), "LEAK SUMMARY")
		for _, f := range valgrindFaults(string(text)) {
			t.Errorf("valgrind: %.3000s", f)
		}
	}
	require.Positive(t, summaries, "valgrind came to its end")
	require.NoError(t, c.StartController(ctx)) // cluster() wants it to be there at the end
}
