// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// crewBed is a cluster with a partition whose jobs are preempted, and a
// directory for a user's files.
type crewBed struct {
	*Cluster
	t        *testing.T
	dir, bin string
}

func newCrewBed(t *testing.T, m mode, a *Accounting) *crewBed {
	t.Helper()
	bin, err := programmes()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "crew")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	partitions := tiersOf("CANCEL")
	partitions[1].Options += " GraceTime=30"
	b := &crewBed{t: t, dir: dir, bin: bin, Cluster: cluster(t, m, Config{
		Groups: Uniform(8, 2, 0), Partitions: partitions, PreemptType: "preempt/partition_prio", PreemptMode: "CANCEL", Accounting: a,
	})}
	require.NoError(t, os.Chmod(b.Dir, 0o755)) // for commands of jobs
	return b
}

// bag submits a job with a bag of tasks.
func (b *crewBed) bag(tasks []string, more int, args ...string) uint32 {
	b.t.Helper()
	file := filepath.Join(b.dir, "tasks")
	require.NoError(b.t, os.WriteFile(file, []byte(strings.Join(tasks, "\n")+"\n"), 0o644))
	args = append([]string{"-N1", "-n2", "--time=10", "-o", b.dir + "/lead.out", "-D", b.dir}, args...)
	return submit(b.t, b.Cluster, b.line("bag --record "+b.dir+"/done", more)+file, as(Alice, args...)...)
}

// urgent has a job of 6 nodes preempt companions, and says how long it waited, and for how long of
// that the crew held on to nodes.
func (b *crewBed) urgent() uint32 {
	b.t.Helper()
	began := time.Now()
	id := submit(b.t, b.Cluster, "sleep 3", as(Bob, "-N6", "--exclusive", "--time=1", "-o", "/dev/null")...)
	running(b.t, b.Cluster, patience, id)
	waited, held := time.Since(began), time.Duration(0)
	left := map[string]time.Time{}
	for _, m := range saysOfPlace.FindAllStringSubmatch(b.text("lead.out"), -1) {
		at, err := time.Parse(time.RFC3339Nano, m[1])
		require.NoError(b.t, err)
		if since, ok := left[m[2]]; ok && m[3] == "gone" {
			held = max(held, at.Sub(since))
			delete(left, m[2])
		} else if m[3] == "leaving" {
			left[m[2]] = at
		}
	}
	b.t.Logf("the urgent job waited for %v, of which members took %v to leave", waited.Round(time.Millisecond), held)
	return id
}

var saysOfPlace = regexp.MustCompile(`time=(\S+) .*msg="place (\d+) (\w+)"`)

func (b *crewBed) text(name string) string {
	text, _ := os.ReadFile(filepath.Join(b.dir, name))
	return string(text)
}

// companions are the numbers of a crew's jobs in a state.
func (b *crewBed) companions(base uint32, state string) []string {
	b.t.Helper()
	out, err := b.Squeue(b.t.Context(), "%i", "-r", "-t", state, "--name", fmt.Sprint("crew-", base))
	require.NoError(b.t, err)
	return strings.Fields(out)
}

func (b *crewBed) until(limit time.Duration, what string, is func() bool) {
	b.t.Helper()
	if err := b.poll(b.t.Context(), limit, what, func() (bool, error) { return is(), nil }); err != nil {
		b.t.Fatalf("%v\n%s", err, b.text("lead.out"))
	}
}

// A bag of tasks takes all nodes that are free, gives them to an urgent job at once, takes them
// again, and each of its tasks ends once.
func TestCrew(t *testing.T) {
	slow(t)
	beside(t)
	bothModes(t, func(t *testing.T, m mode) {
		b := newCrewBed(t, m, nil)
		var tasks []string
		for range 700 {
			tasks = append(tasks, "sleep 0.5; echo $AUCSCHED_CREW_TASK >>"+b.dir+"/log")
		}
		base := b.bag(tasks, 7)
		b.until(60*time.Second, "the crew to grow", func() bool { return len(b.companions(base, "R")) == 7 })

		urgent := b.urgent()
		require.LessOrEqual(t, len(b.companions(base, "R")), 2)
		_, err := b.WaitFor(t.Context(), urgent, 60*time.Second, "COMPLETED")
		require.NoError(t, err)
		b.until(60*time.Second, "the crew to grow again", func() bool { return len(b.companions(base, "R")) > 3 })

		_, err = b.WaitFor(t.Context(), base, 120*time.Second, "COMPLETED")
		require.NoError(t, err)
		require.NoError(t, b.WaitEmpty(t.Context(), patience), "no companion is left")
		b.requireOnce(len(tasks))
	})
}

// line is that of a script with a command of crew.
func (b *crewBed) line(command string, more int) string {
	line := fmt.Sprintf("exec %s/aucsched crew %s --listen localhost:0 --more %d", b.bin, command, more)
	for _, o := range []string{"--partition=low", "--ntasks=2", "--time=10", "--output=" + b.dir + "/companion-%a.out"} {
		line += " --sbatch=" + o
	}
	return line + " -- "
}

// A program finds all places, runs a command on each, and its exit status is the job's.
func TestCrewProgram(t *testing.T) {
	slow(t)
	beside(t)
	b := newCrewBed(t, auction, nil)
	program := b.dir + "/program"
	require.NoError(t, os.WriteFile(program, []byte(`#!/bin/sh
while [ "$(grep -c . "$AUCSCHED_CREW_NODES" 2>/dev/null)" != 8 ]; do sleep 0.1; done
while read -r place node; do
	`+b.bin+`/aucsched crew on --env "NODE=$node" "$place" -- sh -c 'echo "$NODE $SLURMD_NODENAME"' >/dev/null || exit 1
done <"$AUCSCHED_CREW_NODES"
`+b.bin+`/aucsched crew on 3 -- sh -c 'exit 9'
exit $?
`), 0o755))
	base := submit(t, b.Cluster, b.line("run", 7)+program, as(Alice, "-N1", "-n2", "--time=10", "-o", b.dir+"/lead.out", "-D", b.dir)...)
	_, err := b.WaitFor(t.Context(), base, 60*time.Second, "FAILED")
	require.NoError(t, err)
	require.NoError(t, b.WaitEmpty(t.Context(), patience))
	ended, err := b.Ended()
	require.NoError(t, err)
	i := slices.IndexFunc(ended, func(e Ended) bool { return e.ID == base })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, "9:0", ended[i].Fields["ExitCode"])
	for place := 1; place < 8; place++ {
		text, err := os.ReadFile(fmt.Sprint(b.dir, "/companion-", place, ".out"))
		require.NoError(t, err)
		require.Regexp(t, `(?m)^(n\d+) n\d+$`, string(text))
	}
}

// Members, the job with its lead, and slurmctld are killed at random: each task still ends once,
// and no companion is left.
func TestCrewKilled(t *testing.T) {
	slow(t)
	beside(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	b := newCrewBed(t, auction, nil)
	var tasks []string
	for i := range 500 {
		task := "echo $AUCSCHED_CREW_TASK >>" + b.dir + "/log"
		if i < 400 {
			task = "sleep 0.5; " + task
		} else { // there is something to do until the last kill
			task = "until [ -e " + b.dir + "/stop ]; do sleep 0.2; done; " + task
		}
		tasks = append(tasks, task)
	}
	base := b.bag(tasks, 7, "--requeue")
	killed := map[string]int{}
	for range 12 {
		b.until(180*time.Second, "a companion", func() bool { return len(b.companions(base, "R")) > 0 || b.hurry(base) })
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
		switch rng.IntN(4) {
		case 0, 1:
			if pids := b.members(); len(pids) > 0 {
				killed["member"]++
				_ = syscall.Kill(pids[rng.IntN(len(pids))], syscall.SIGKILL)
			}
		case 2:
			killed["slurmctld"]++
			require.NoError(t, b.KillController(t.Context(), syscall.SIGKILL))
			require.NoError(t, b.StartController(t.Context()))
		case 3:
			if _, err := b.Scontrol(t.Context(), "requeue", fmt.Sprint(base)); err == nil {
				// it may wait already
				killed["job"]++
			}
		}
	}
	t.Logf("killed: %v", killed)
	require.NoError(t, os.WriteFile(b.dir+"/stop", nil, 0o644))
	b.until(240*time.Second, "the end", func() bool {
		jobs, err := b.Squeue(t.Context(), "%i")
		return err == nil && jobs == "" || b.hurry(base)
	})
	b.requireOnce(len(tasks))
}

// hurry has a job that was requeued start before Slurm's pause of two minutes is over.
func (b *crewBed) hurry(base uint32) bool {
	_, _ = b.Scontrol(b.t.Context(), "update", fmt.Sprint("JobId=", base), "StartTime=now")
	return false
}

// members are the processes of companions.
func (b *crewBed) members() (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(b.t, err)
	for _, path := range all {
		line, _ := os.ReadFile(path)
		var pid int
		if bytes.Contains(line, []byte("crew\x00member\x00--companion")) && bytes.HasPrefix(line, []byte(b.bin)) {
			if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Companions are of the job's account, whose limits hold for all together, and
// its accounts have them.
func TestCrewAccounts(t *testing.T) {
	slow(t)
	beside(t)
	b := newCrewBed(t, auction, &Accounting{Accounts: []Account{
		{Name: "free", Users: []User{{Name: Alice}}},
		{Name: "limited", Limits: "GrpTRES=node=4", Users: []User{{Name: Alice}}},
	}})
	var tasks []string
	for range 150 {
		tasks = append(tasks, "sleep 0.5; echo $AUCSCHED_CREW_TASK >>"+b.dir+"/log")
	}
	base := b.bag(tasks, 7, "--account=limited")
	b.until(60*time.Second, "the crew to grow", func() bool { return len(b.companions(base, "R")) == 3 })
	most := 0
	b.until(120*time.Second, "the end", func() bool {
		most = max(most, len(b.companions(base, "R")))
		jobs, err := b.Squeue(t.Context(), "%i")
		return err == nil && jobs == ""
	})
	require.Equal(t, 3, most)
	b.requireOnce(len(tasks))
	var rows []string
	b.until(30*time.Second, "the accounts", func() bool {
		out, err := b.Run(t.Context(), "sacct", "-a", "-n", "-P", "-X", "-o", "JobName,Account,State,NNodes,ElapsedRaw")
		require.NoError(t, err)
		rows = slices.DeleteFunc(strings.Fields(out), func(row string) bool { return !strings.Contains(row, "COMPLETED") })
		return len(rows) == 4
	})
	for _, row := range rows {
		require.Regexp(t, `^(sbatch|crew-\d+)\|limited\|COMPLETED\|1\|[1-9]\d*$`, row)
	}
}

// requireOnce checks that so many tasks have ended, each once and well, and that each has run.
func (b *crewBed) requireOnce(tasks int) {
	b.t.Helper()
	text, err := os.ReadFile(b.dir + "/done")
	require.NoError(b.t, err)
	var want []string
	for n := range tasks {
		want = append(want, fmt.Sprint(n+1, " 0"))
	}
	slices.Sort(want)
	got := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	slices.Sort(got)
	require.Equal(b.t, want, got)
	ran, err := os.ReadFile(b.dir + "/log")
	require.NoError(b.t, err)
	each := strings.Fields(string(ran))
	slices.Sort(each)
	require.Len(b.t, slices.Compact(slices.Clone(each)), tasks)
	b.t.Logf("%d tasks ran to their end %d times", tasks, len(each))
}

// Companions that slurmctld has forgotten, as it was killed before it had saved them, are asked for
// again: not one that was cancelled.
func TestCrewForgotten(t *testing.T) {
	slow(t)
	b := newCrewBed(t, auction, nil)
	ctx := t.Context()
	wait := func() { // companions do
		t.Helper()
		_, err := b.Scontrol(ctx, "update", "PartitionName=low", "State=DOWN")
		require.NoError(t, err)
	}
	file := filepath.Join(b.dir, "tasks")
	require.NoError(t, os.WriteFile(file, []byte("until [ -e "+b.dir+"/stop ]; do sleep 0.1; done\ntrue\ntrue\ntrue\n"), 0o644))
	body := "until [ -e " + b.dir + "/go ]; do sleep 0.1; done\n" + b.line("bag --slots 1 --record "+b.dir+"/done", 3) + file
	lead := submit(t, b.Cluster, body, as(Alice, "-N1", "-n1", "--time=10", "-o", b.dir+"/lead.out", "-D", b.dir)...)
	running(t, b.Cluster, patience, lead)
	time.Sleep(500 * time.Millisecond) // its step has begun
	require.NoError(t, b.KillController(ctx, syscall.SIGTERM))
	saved, err := os.ReadFile(b.path("state", "job_state"))
	require.NoError(t, err)
	require.NoError(t, b.StartController(ctx))
	wait()
	require.NoError(t, os.WriteFile(b.dir+"/go", nil, 0o644))
	b.until(30*time.Second, "companions that wait", func() bool { return len(b.companions(lead, "PD")) == 3 })
	require.NoError(t, b.KillController(ctx, syscall.SIGKILL))
	require.NoError(t, os.WriteFile(b.path("state", "job_state"), saved, 0o600))
	require.NoError(t, b.StartController(ctx))
	wait()
	require.Empty(t, b.companions(lead, "all"), "they are forgotten")
	b.until(60*time.Second, "companions that wait again", func() bool { return len(b.companions(lead, "PD")) == 3 })
	require.Contains(t, b.text("lead.out"), "Slurm has forgotten companions")

	require.NoError(t, b.Scancel(ctx, b.companions(lead, "PD")[2]))
	time.Sleep(40 * time.Second)
	require.Len(t, b.companions(lead, "PD"), 2, "who cancels one does not want it")
	require.NoError(t, os.WriteFile(b.dir+"/stop", nil, 0o644))
	// The srun of the job's own member may have met a slurmctld that was killed: it takes two
	// minutes then, of which some 70 s are over.
	err = b.WaitEmpty(ctx, 120*time.Second)
	t.Log(b.text("lead.out"))
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(b.text("done"), " 0\n"), b.text("done"))
}
