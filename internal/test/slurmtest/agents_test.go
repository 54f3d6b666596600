// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// managed is a batch job whose nodes an iHypervisor shares among jobs: examples/agents.
type managed struct {
	*crewBed
	job    uint32
	shared string // the directory of manage.sh
}

func newManaged(t *testing.T, nodes int) *managed {
	t.Helper()
	b := &managed{crewBed: newCrewBed(t, auction, nil)}
	script, err := os.ReadFile("../../../examples/agents/manage.sh")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "manage.sh"), script, 0o755))
	b.shared = filepath.Join(b.dir, "shared")
	b.start(nodes)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("manage.sh: %s", b.text("lead.out"))
			for _, pattern := range []string{"/output/*.out", "/output/*.err"} {
				names, _ := filepath.Glob(b.shared + pattern)
				for _, name := range names {
					text, _ := os.ReadFile(name)
					t.Logf("%s: %s", name, text)
				}
			}
		}
	})
	return b
}

// start has a batch job begin that manages its nodes.
func (b *managed) start(nodes int) {
	b.t.Helper()
	line := fmt.Sprintf("export AUCSCHED=%s/aucsched AUCSCHED_DISK=%s AUCSCHED_LISTEN=localhost:0\nexec %[2]s/manage.sh %s",
		b.bin, b.dir, b.shared)
	args := as(Alice, "-N", fmt.Sprint(nodes), "--exclusive", "--time=10", "-o", b.dir+"/lead.out", "-D", b.dir)
	b.job = submit(b.t, b.Cluster, line, args...)
	running(b.t, b.Cluster, 30*time.Second, b.job)
}

// ask is what a command of the iScheduler says, asked as the job's user on its first node.
func (b *managed) ask(args ...string) (string, error) {
	all := append([]string{"-u", Alice, "--", filepath.Join(b.bin, "aucsched"), "ischeduler", "--dir", b.shared + "/queue"}, args...)
	out, err := exec.Command("runuser", all...).CombinedOutput()
	return string(out), err
}

func (b *managed) submit(args ...string) {
	b.t.Helper()
	b.until(30*time.Second, "a job to be taken", func() bool {
		out, err := b.ask(append([]string{"submit"}, args...)...)
		if err != nil {
			b.t.Logf("%s%v", out, err) // it does not listen yet
		}
		return err == nil
	})
}

// ended is how a job has ended.
func (b *managed) ended(id int) string {
	out, err := b.ask("list")
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(fmt.Sprintf(`(?m)^%d +done +(-?\d+) `, id)).FindStringSubmatch(out)
	if m == nil {
		return ""
	}
	return m[1]
}

// The MPI program of examples/heat grows over the nodes of a batch job, gives cores on two nodes to
// an urgent job, and has the field of a run whose ranks stay.
func TestAgentsHeat(t *testing.T) {
	slow(t)
	beside(t)
	for _, tool := range []string{"mpicc", "mpirun", "ompi-server"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: it is in Debian's openmpi-bin and libopenmpi-dev", tool)
		}
	}
	b := newManaged(t, 4)
	b.buildHeat()
	heat := []string{"--", "env", "HEAT_MPIRUN=--oversubscribe --bind-to none --mca mpi_yield_when_idle 1",
		"HEAT_ON=" + b.bin + "/aucsched crew on", b.dir + "/heat.sh", "-n", "400", "-s", "1000"}
	b.submit(append([]string{"--min", "1"}, heat...)...)
	b.until(60*time.Second, "the rigid run", func() bool { return b.ended(1) == "0" })
	b.submit(append(append([]string{"--kind", "malleable", "--min", "1", "--max", "8"}, heat...), "-w", "10:8", "-w", "20:4")...)
	out := func(id int) string { return b.text(fmt.Sprintf("shared/output/%d.out", id)) }
	b.until(60*time.Second, "8 ranks", func() bool { return strings.Contains(out(2), " -> 8 ranks") })
	began := time.Now()
	b.submit("--urgent", "--min", "4", "--min-nodes", "2", "--max-nodes", "4", "--", "sh", "-c", "date +%s.%N; sleep 1")
	b.until(60*time.Second, "the urgent job", func() bool { return b.ended(3) == "0" })
	t.Logf("an urgent job of 4 cores on 2 nodes began and ended in %v", time.Since(began).Round(time.Millisecond))
	b.until(60*time.Second, "the end", func() bool { return b.ended(2) == "0" })
	t.Log(out(2))
	require.Contains(t, out(2), " -> 4 ranks")
	sum := regexp.MustCompile(`sum [0-9a-f]{16}\n`)
	require.Regexp(t, sum, out(1))
	require.Equal(t, sum.FindString(out(1)), sum.FindString(out(2)))
	b.end()
}

// end cancels the batch job: nothing is left of it.
func (b *managed) end() {
	b.t.Helper()
	require.NoError(b.t, b.Scancel(b.t.Context(), fmt.Sprint(b.job)))
	require.NoError(b.t, b.WaitEmpty(b.t.Context(), 60*time.Second))
	b.until(30*time.Second, "all processes to be gone", func() bool { return len(b.processes("")) == 0 })
}

// processes are those of the managed nodes with a word in their command lines.
func (b *managed) processes(word string) (pids []int) {
	b.t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(b.t, err)
	for _, name := range names {
		text, _ := os.ReadFile(name)
		line := strings.ReplaceAll(string(text), "\x00", " ")
		if strings.HasPrefix(line, b.bin+"/aucsched") && strings.Contains(line, b.dir) && strings.Contains(line, word) {
			var pid int
			if _, err := fmt.Sscanf(name, "/proc/%d/", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Agents, iHypervisor and iScheduler are killed at random in a batch job: each job runs once, and
// each of its commands ends well once.
func TestAgentsKilled(t *testing.T) {
	beside(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	b := newManaged(t, 4)
	program := b.dir + "/program"
	require.NoError(t, os.WriteFile(program, []byte(`#!/bin/sh
echo started >>`+b.dir+`/starts.$AUCSCHED_INVASIVE_JOB
while read -r place node; do
	for n in 1 2 3; do
		`+b.bin+`/aucsched crew on "$place" -- sh -c "echo begun >>`+b.dir+`/begun.$AUCSCHED_INVASIVE_JOB.$place.$n; sleep 0.7" ||
			echo "place $place: status $?" >>`+b.dir+`/failed
	done &
done <"$AUCSCHED_CREW_NODES"
wait
`), 0o755))
	const jobs = 6
	for range jobs {
		b.submit("--min", "4", "--min-nodes", "2", "--max-nodes", "4", "--", program)
	}
	killed := map[string]int{}
	for range 8 {
		time.Sleep(time.Duration(300+random.IntN(1500)) * time.Millisecond)
		for _, what := range []string{" agent ", " ihypervisor ", " agent "} {
			pids := b.processes(what)
			if len(pids) > 0 && random.IntN(2) == 0 {
				require.NoError(t, syscall.Kill(pids[random.IntN(len(pids))], syscall.SIGKILL))
				killed[what]++
			}
		}
	}
	t.Logf("killed %v", killed)
	for id := range jobs {
		b.until(120*time.Second, fmt.Sprintf("the end of job %d", id+1), func() bool { return b.ended(id+1) == "0" })
		require.Equal(t, "started\n", b.text(fmt.Sprintf("starts.%d", id+1)))
	}
	require.Empty(t, b.text("failed"))
	begun, err := filepath.Glob(b.dir + "/begun.*")
	require.NoError(t, err)
	require.Len(t, begun, jobs*4*3)
	for _, name := range begun {
		require.Equal(t, "begun\n", b.text(filepath.Base(name)), name)
	}

	// The queue goes on in another batch job, and what ran runs again.
	b.submit("--min", "2", "--", "sh", "-c", "echo started >>"+b.dir+"/twice; [ -e "+b.dir+"/go ] || sleep 1000")
	b.until(30*time.Second, "the last job", func() bool { return b.text("twice") != "" })
	b.end()
	require.NoError(t, os.WriteFile(b.dir+"/go", nil, 0o644))
	b.start(2)
	b.until(60*time.Second, "its end", func() bool { return b.ended(jobs+1) == "0" })
	require.Equal(t, "started\nstarted\n", b.text("twice"))
	b.end()
}
