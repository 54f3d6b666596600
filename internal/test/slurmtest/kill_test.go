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
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// impatient makes a new slurmctld decide early that a job was never launched.
var impatient = []string{"BatchStartTimeout=3", "MessageTimeout=5"}

// However often slurmctld is killed, and whenever: what the auction starts runs once.
func TestKilledAtRandom(t *testing.T) {
	beside(t)
	n := min(nodes(t), 32)
	c := cluster(t, auction, Config{Groups: Uniform(n, 8, 2), ExtraLines: impatient})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var ids []uint32
	for range 100 {
		nodes := 1 + rng.IntN(4)
		args := []string{"-N", fmt.Sprint(nodes), "-n", fmt.Sprint(nodes * (1 + rng.IntN(4))),
			fmt.Sprint("--gres=gpu:", 1+rng.IntN(2)), "--time=2", "-H"}
		ids = append(ids, submit(t, c, fmt.Sprint("sleep ", rng.IntN(4)), args...))
	}
	waitSaved(t, c)
	release(t, c, ids...)
	waitSaved(t, c)
	for range 6 {
		wait := time.Duration(rng.IntN(1500)) * time.Millisecond
		t.Logf("killed %v after it answers", wait)
		time.Sleep(wait)
		kill(t, c)
	}
	waitEmptyHelping(t, c, 90*time.Second, false)
	requireOneStartEach(t, c, ids)
	log := c.Logs("slurmctld.log", 64<<20)
	t.Logf("ends repaired: %d, never launched: %d", strings.Count(log, " had ended ("), strings.Count(log, "was not launched"))
}

// requireOneStartEach checks by what the jobs' scripts wrote themselves that each ran once,
// and that Slurm's last word on each is that it completed.
func requireOneStartEach(t *testing.T, c *Cluster, ids []uint32) {
	t.Helper()
	starts, err := c.Starts()
	require.NoError(t, err)
	ended, err := c.Ended()
	require.NoError(t, err)
	ran, last := map[uint32]int{}, map[uint32]string{}
	for _, s := range starts {
		ran[s.ID]++
	}
	for _, e := range ended {
		last[e.ID] = e.State
	}
	for _, id := range ids {
		require.Equal(t, 1, ran[id], "starts of job %d\n%s", id, said(c, id))
		require.Equal(t, "COMPLETED", last[id], "job %d\n%s", id, said(c, id))
	}
}

// said is what the logs have of a job, and slurmctld's of its own starts.
func said(c *Cluster, id uint32) string {
	of := regexp.MustCompile(fmt.Sprintf(`\bJobId=%d\b|StepId=%d\b|\b[Jj]ob %d\b|slurmctld version`, id, id, id))
	var b strings.Builder
	for _, name := range []string{"slurmctld.log", "slurmd.log"} {
		fmt.Fprintf(&b, "%s:\n", name)
		for line := range strings.Lines(c.Logs(name, 64<<20)) {
			if of.MatchString(line) {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// A job that had ended is ended in the books of the next slurmctld too.
func TestKilledAfterAnEnd(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(3, 4, 0)})
	ctx := t.Context()
	good, bad, cancelled := submit(t, c, "sleep 6", "-n1", "--time=1", "-xn0003"),
		submit(t, c, "sleep 6; exit 3", "-n1", "--time=1", "-xn0003"), submit(t, c, "sleep 60", "-n1", "--time=2", "-xn0003")
	resumed := submit(t, c, "sleep 2", "-n1", "--time=1", "-xn0003")
	lost := submit(t, c, "sleep 60", "-n1", "--time=2", "-wn0003", "--no-requeue")
	running(t, c, patience, good, bad, cancelled, resumed, lost)
	_, err := c.Scontrol(ctx, "suspend", fmt.Sprint(resumed)) // and so it is saved
	require.NoError(t, err)
	waitSaved(t, c)
	_, err = c.Scontrol(ctx, "resume", fmt.Sprint(resumed))
	require.NoError(t, err)
	require.NoError(t, c.poll(ctx, patience, "three jobs to end", func() (bool, error) {
		ended, err := c.Ended()
		return len(ended) == 3, err
	}))
	_, err = c.Scontrol(ctx, "update", "NodeName=n0003", "State=DOWN", "Reason=test")
	require.NoError(t, err)
	j, err := c.WaitFor(ctx, lost, patience, "NODE_FAIL")
	require.NoError(t, err)
	failed := j.Fields["ExitCode"]
	require.NoError(t, c.Scancel(ctx, fmt.Sprint(cancelled)))
	kill(t, c)
	for _, want := range []struct {
		id    uint32
		state string
		codes []string
	}{
		{good, "COMPLETED", []string{"0:0"}}, {resumed, "COMPLETED", []string{"0:0"}}, {bad, "FAILED", []string{"3:0"}},
		// its script tells the signal later: the slurmctld that is killed may have been the one to hear it
		{cancelled, "CANCELLED", []string{"0:15", "0:0"}},
	} {
		j, err := c.WaitFor(ctx, want.id, patience, want.state)
		require.NoError(t, err, want)
		require.Contains(t, want.codes, j.Fields["ExitCode"], want)
	}
	j, err = c.WaitFor(ctx, lost, patience, "NODE_FAIL")
	require.NoError(t, err)
	// Till 24.05 it is the script's once that has ended, of which the slurmctld that is killed may hear alone.
	require.Contains(t, []string{failed, "0:0", "0:15"}, j.Fields["ExitCode"])
	require.NoError(t, c.WaitEmpty(ctx, patience))
	require.Regexp(t, fmt.Sprintf(`aucsched: JobId=(%d|%d|%d|%d) had ended`, good, bad, cancelled, resumed), c.Logs("slurmctld.log", 1<<20),
		"all was saved before the kill: nothing was tested")
}

// A slurmctld that was killed as it had just started jobs knows their batch steps: where there is
// a slurmdbd, it does not believe that the script of a job without one has ended.
func TestKilledKnowsSteps(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(4, 8, 0)})
	ctx := t.Context()
	var ids []uint32
	for range 8 {
		ids = append(ids, submit(t, c, "sleep 12", "-n4", "--time=1", "-H"))
	}
	waitSaved(t, c)
	release(t, c, ids...)
	require.NoError(t, c.poll(ctx, patience, "the scripts to begin", func() (bool, error) {
		starts, err := c.Starts()
		return len(starts) == len(ids), err
	}))
	kill(t, c)
	steps, err := c.Scontrol(ctx, "show", "steps")
	require.NoError(t, err)
	for _, id := range ids {
		require.Equal(t, 1, strings.Count(steps, fmt.Sprintf("StepId=%d.batch ", id)), "batch steps of job %d:\n%s", id, steps)
	}
	require.NoError(t, c.WaitEmpty(ctx, 40*time.Second))
	requireOneStartEach(t, c, ids)
}

// Who waits for nodes with srun or salloc hears of them, if slurmctld was killed when it had saved
// the start and had not yet told.
func TestKilledBeforeTold(t *testing.T) {
	beside(t)
	library, late := lateLibrary(t)
	c := cluster(t, auction, Config{Groups: Uniform(2, 4, 0), Env: []string{"LD_PRELOAD=" + library, "AUCSCHED_LATE=" + late}})
	ctx := t.Context()
	clients := make(chan error, 2)
	together(t, c, func() {
		for _, run := range []func(context.Context, ...string) (string, error){c.Srun, c.Salloc} {
			go func() {
				ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
				defer cancel()
				_, err := run(ctx, "-n1", "--time=2", "true")
				clients <- err
			}()
		}
		require.NoError(t, c.poll(ctx, patience, "two jobs to wait", func() (bool, error) {
			jobs, err := c.Jobs(ctx)
			return len(jobs) == 2, err
		}))
		require.NoError(t, os.WriteFile(late, nil, 0o600))
	})
	running(t, c, patience, 1, 2)
	waitSaved(t, c)
	require.NoError(t, c.KillController(ctx, syscall.SIGKILL))
	require.NoError(t, os.Remove(late))
	require.NoError(t, c.StartController(ctx))
	require.NoError(t, <-clients)
	require.NoError(t, <-clients)
	require.NoError(t, c.WaitEmpty(ctx, patience))
	require.Contains(t, c.Logs("slurmctld.log", 1<<20), "aucsched: JobId=1 had not been told")
}

// lateLibrary is what testdata/late.c is about, and the name of the file that switches it on.
func lateLibrary(t *testing.T) (library, file string) {
	t.Helper()
	dir := t.TempDir()
	library = filepath.Join(dir, "late.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, "testdata/late.c", "-ldl").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return library, filepath.Join(dir, "late")
}

// A job that runs in the books and was never launched goes back to the queue, and runs.
func TestKilledBeforeLaunch(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(2, 4, 0), ExtraLines: impatient})
	ctx := t.Context()
	lives := submit(t, c, "sleep 12", "-n1", "-w", "n0002", "--time=1")
	running(t, c, patience, lives)
	require.NoError(t, c.stopNode(ctx, "n0001")) // nobody is there to take the job
	id := submit(t, c, "sleep 1", "-n4", "--time=1")
	running(t, c, patience, id)
	waitSaved(t, c) // a job that was never saved would be lost
	kill(t, c)
	require.NoError(t, c.startNode("n0001"))
	j, err := c.WaitFor(ctx, id, 30*time.Second, "PENDING")
	require.NoError(t, err)
	require.Equal(t, 1, j.Restarts)
	// Slurm has it wait until its credential has expired. The node refuses one of the very
	// second in which it was told to end the job.
	time.Sleep(2 * time.Second)
	_, err = c.Scontrol(ctx, "update", fmt.Sprint("JobId=", id), "StartTime=now")
	require.NoError(t, err)
	_, err = c.WaitFor(ctx, id, patience, "COMPLETED")
	require.NoError(t, err)
	require.NoError(t, c.WaitEmpty(ctx, 30*time.Second))
	requireOneStartEach(t, c, []uint32{id, lives})
	log := c.Logs("slurmctld.log", 1<<20)
	require.Contains(t, log, fmt.Sprintf("aucsched: JobId=%d was not launched on n0001", id))
	require.NotContains(t, log, fmt.Sprintf("JobId=%d was not launched", lives))
}

// Nodes read their configuration once the jobs that were just started have their steps.
func TestReconfigureWaitsForLaunches(t *testing.T) {
	bed(t)
	if version, err := Version(); err != nil || version < "23.11" {
		t.Skip("Slurm ", version, " reads its configuration without a new slurmctld")
	}
	c := cluster(t, auction, Config{Groups: Uniform(2, 4, 0)})
	ctx := t.Context()
	reconfigure := func() time.Duration {
		t.Helper()
		controllers := func() int { return strings.Count(c.Logs("slurmctld.log", 1<<20), "Running as primary controller") }
		began, before := time.Now(), controllers()
		require.NoError(t, c.Reconfigure(ctx))
		require.NoError(t, c.poll(ctx, patience, "a new slurmctld", func() (bool, error) { return controllers() > before, nil }))
		return time.Since(began)
	}
	quiet := reconfigure()
	id := submit(t, c, "sleep 5", "-n1", "--time=1")
	running(t, c, patience, id)
	busy := reconfigure()
	t.Logf("a reconfiguration takes %v, and %v after a start", quiet, busy)
	require.Greater(t, busy, quiet+400*time.Millisecond)
	require.Less(t, busy, quiet+2500*time.Millisecond)
	require.NoError(t, c.WaitEmpty(ctx, 30*time.Second))
	requireOneStartEach(t, c, []uint32{id})
}

// What the auction launches as the configuration is about to be read again does reach its nodes:
// Slurm before 23.11 sends into the void while it reads.
func TestLaunchesBeforeReconfigure(t *testing.T) {
	beside(t)
	if version, err := Version(); err != nil || version >= "23.11" {
		t.Skip("Slurm ", version, " reads its configuration with a new slurmctld")
	}
	library, late := lateLibrary(t)
	c := cluster(t, auction, Config{Groups: Uniform(8, 8, 0), Env: []string{"LD_PRELOAD=" + library, "AUCSCHED_LATE_CONF=" + late}})
	require.NoError(t, os.WriteFile(late, nil, 0o600))
	ctx := t.Context()
	const rounds, jobs = 4, 10
	started := func() int { return strings.Count(c.Logs("slurmctld.log", 1<<24), "aucsched: started JobId=") }
	for round := range rounds {
		before := started()
		together(t, c, func() {
			for range jobs {
				submit(t, c, "sleep 0.2", "-n2", "--time=2")
			}
		})
		for begin := time.Now(); started() == before && time.Since(begin) < 20*time.Second; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(round+1) * 20 * time.Millisecond) // they are saved, and launched
		require.NoError(t, c.HUP(t.Context()))
		require.NoError(t, c.poll(ctx, patience, "all jobs to be started",
			func() (bool, error) { return started() >= before+jobs, nil }))
		time.Sleep(time.Second)
	}
	time.Sleep(2500 * time.Millisecond) // what has no AuthInfo is tried for two seconds
	starts, err := c.Starts()
	require.NoError(t, err)
	require.GreaterOrEqual(t, started(), rounds*jobs)
	t.Logf("%d of %d jobs began", len(starts), rounds*jobs)
	require.GreaterOrEqual(t, len(starts), rounds*jobs*19/20, "jobs that began on their nodes")
}

// Garbage in the journal is said, once, and does no harm.
func TestJournalIsGarbage(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(2, 4, 0)})
	ctx := t.Context()
	id := submit(t, c, "sleep 8", "-n1", "--time=1")
	running(t, c, patience, id)
	waitSaved(t, c)
	require.NoError(t, c.KillController(ctx, syscall.SIGKILL))
	j := fmt.Sprintf("E %d\nE %d 7 3 0\nS -1 2\nS 1\x00 2\n%s\nE %d 1", id, id, strings.Repeat("S", 5000), id)
	require.NoError(t, os.WriteFile(c.path("state", "aucsched_journal"), []byte(j), 0o600))
	require.NoError(t, c.StartController(ctx))
	running(t, c, patience, id)
	_, err := c.WaitFor(ctx, id, patience, "COMPLETED")
	require.NoError(t, err)
	requireOneStartEach(t, c, []uint32{id})
	require.Regexp(t, `aucsched_journal: \d+ lines are no starts or ends`, c.Logs("slurmctld.log", 1<<20))
}

// A journal that an earlier installation has left does no harm: neither lines of other runs, nor of
// the run that goes on, nor a new file that was never finished.
func TestJournalIsStale(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(2, 4, 0)})
	ctx := t.Context()
	id := submit(t, c, "sleep 8", "-n1", "--time=1")
	running(t, c, patience, id)
	waitSaved(t, c)
	require.NoError(t, c.KillController(ctx, syscall.SIGTERM))
	path := c.path("state", "aucsched_journal")
	own, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(own), fmt.Sprintf("S %d ", id))
	old := time.Now().Add(-24 * time.Hour).Unix()
	stale := fmt.Sprintf("S %d %d\nE %d %d 3 0\nE %d %d 5 256\nS %d %d\nE %d %d 3 0\n", id, old, id, old, id, old+1, id+1, old, id+1, old)
	require.NoError(t, os.WriteFile(path, []byte(stale+string(own)+stale), 0o600))
	require.NoError(t, os.WriteFile(path+".new", []byte(stale), 0o600))
	require.NoError(t, c.StartController(ctx))
	running(t, c, patience, id)
	next := submit(t, c, "true", "-n1", "--time=1") // of the number that the journal has
	require.Equal(t, id+1, next)
	for _, id := range []uint32{id, next} {
		_, err = c.WaitFor(ctx, id, 30*time.Second, "COMPLETED")
		require.NoError(t, err)
	}
	requireOneStartEach(t, c, []uint32{id, next})
	require.NoFileExists(t, path+".new")
	require.NotRegexp(t, "requeued|had not been told", c.Logs("slurmctld.log", 1<<20))
}

func release(t *testing.T, c *Cluster, ids ...uint32) {
	t.Helper()
	for _, id := range ids {
		_, err := c.Scontrol(t.Context(), "release", fmt.Sprint(id))
		require.NoError(t, err)
	}
}

// waitSaved waits until slurmctld has saved the state of jobs as it is now, for which it needs
// a change: a comment of a job, of which there must be one that has not ended.
func waitSaved(t *testing.T, c *Cluster) {
	t.Helper()
	now := time.Now()
	ids, err := c.Squeue(t.Context(), "%A")
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(strings.Fields(ids), func(id string) bool {
		_, err = c.Scontrol(t.Context(), "update", "JobId="+id, "Comment=saved")
		return err == nil // it may just have ended
	}), "no job whose change could be saved: %v", err)
	require.NoError(t, c.poll(t.Context(), patience, "slurmctld to save its state", func() (bool, error) {
		info, err := os.Stat(c.path("state", "job_state"))
		return err == nil && info.ModTime().After(now), nil
	}))
}

// kill kills slurmctld and starts it again.
func kill(t *testing.T, c *Cluster) {
	t.Helper()
	require.NoError(t, c.KillController(t.Context(), syscall.SIGKILL))
	require.NoError(t, c.StartController(t.Context()))
}

// waitEmptyHelping waits until the queue is empty, and does what stock Slurm wants of
// an administrator after a kill. A killed slurmctld has forgotten its latest starts and
// starts those jobs again; a slurmd on which one still runs refuses, and the job is
// held, or the node is drained as one with a "Duplicate jobid". A launch that fails while
// the configuration is read again makes a job wait for two minutes. A job whose end it
// has forgotten runs on in the books: stock Slurm is helped with these (ends), our
// plug-ins have to end them.
func waitEmptyHelping(t *testing.T, c *Cluster, limit time.Duration, ends bool) {
	t.Helper()
	var left string
	helped, later := map[string]bool{}, map[string]time.Time{}
	help := func(what string, argv ...string) { // again next time if it can't be done yet
		if !helped[what] {
			_, err := c.Scontrol(t.Context(), argv...)
			helped[what] = err == nil
		}
	}
	endBooked := func(id string) {
		if !helped[id+" ended"] {
			helped[id+" ended"] = true
			c.Scancel(t.Context(), id) // it may just be gone
		}
	}
	require.NoError(t, c.poll(t.Context(), limit, "the queue to be empty", func() (bool, error) {
		var err error
		if left, err = c.Squeue(t.Context(), "%i %A %T %r"); err != nil {
			return false, err
		}
		ended, err := c.Ended()
		if err != nil {
			return false, err
		}
		drained, err := c.Sinfo(t.Context(), "%N %t")
		for line := range strings.SplitSeq(drained, "\n") {
			if node, state, _ := strings.Cut(line, " "); strings.HasPrefix(state, "dr") {
				help(node, "update", "NodeName="+node, "State=RESUME")
			}
		}
		for line := range strings.SplitSeq(left, "\n") {
			// 7_3 for a task: its number alone may be the array's
			id, rest, _ := strings.Cut(line, " ")
			number, _, _ := strings.Cut(rest, " ")
			if strings.HasSuffix(line, "launch failed requeued held") {
				help(id+" held", "release", id)
			}
			if ends && strings.Contains(line, " RUNNING ") && slices.ContainsFunc(ended,
				func(e Ended) bool { return fmt.Sprint(e.ID) == number && e.State == "COMPLETED" }) {
				endBooked(id)
			}
			// Slurm has it wait until its credential has expired. The node refuses one of the very
			// second in which it was told to end the job, and then the job fails.
			if strings.HasSuffix(line, "BeginTime") {
				if later[id].IsZero() {
					later[id] = time.Now()
				} else if time.Since(later[id]) > 2*time.Second {
					help(id+" later", "update", "JobId="+id, "StartTime=now")
				}
			}
		}
		return strings.TrimSpace(left) == "", err
	}), "left:\n%s", left)
	t.Logf("jobs that needed help: %v", helped)
}

// requireLogSaysForgotten checks that slurmctld's log has a start, and then a start of slurmctld,
// of each job that ran again after a kill, and that a new slurmctld took those for running whose
// ends were lost. What comes after is stock Slurm sorting out jobs that exist twice: ends of the
// first run are taken for the second's, requeued, and so on. It returns those of the jobs that the
// auction had started, without those that Slurm itself had requeued before it was killed: a launch
// that slurmd hears of while it reads its configuration fails.
func requireLogSaysForgotten(t *testing.T, c *Cluster, runs Runs) (ours []uint32) {
	t.Helper()
	t.Logf("a killed slurmctld had not saved the starts of jobs %v, which ran again, and the ends of jobs %v",
		runs.ForgottenStarts, runs.ForgottenEnds)
	log := c.Logs("slurmctld.log", 256<<20)
	const restart = `.*slurmctld version \S+ started.*`
	for _, id := range runs.ForgottenStarts {
		name := fmt.Sprintf(`JobId=(?:\d+_\d+\()?%d\b`, id)
		require.Regexp(t, `(?s)(?:[Ss]tarted|Allocate) `+name+restart, log)
		if regexp.MustCompile(`(?s)aucsched: started ` + name + restart + `(?:[Ss]tarted|Allocate) ` + name).MatchString(log) {
			if requeuedBySlurm(log, name) {
				t.Logf("job %d: its launch had failed, and Slurm had requeued it before it was killed", id)
				continue
			}
			ours = append(ours, id)
		}
	}
	t.Logf("of these starts the auction's were %v", ours)
	for _, id := range runs.ForgottenEnds {
		require.Regexp(t, fmt.Sprintf(`(?s)`+restart+`Recovered JobId=(?:\d+_\d+\()?%d\b`, id), log)
	}
	return ours
}

// requeuedBySlurm says whether one and the same slurmctld had the auction's start of a job, and
// then requeued the job.
func requeuedBySlurm(log, name string) bool {
	requeued := regexp.MustCompile(`(?s)aucsched: started ` + name + `.*_job_complete: requeue ` + name + ` per user/system request`)
	lives := regexp.MustCompile(`slurmctld version \S+ started`).Split(log, -1)
	return slices.ContainsFunc(lives, requeued.MatchString)
}

func TestRequeuedBySlurm(t *testing.T) {
	const life, start, requeue = "slurmctld version 22.05.8 started on cluster c\n",
		"aucsched: started JobId=7 on n1\n", "_job_complete: requeue JobId=7 per user/system request\n"
	for log, want := range map[string]bool{
		life + start + requeue + life: true, life + start + life + requeue: false, life + start + life: false,
		life + requeue + start + life: false, life + start + "_job_complete: requeue JobId=77 per user/system request\n": false,
	} {
		require.Equal(t, want, requeuedBySlurm(log, `JobId=(?:\d+_\d+\()?7\b`), log)
	}
}

// requireEndsRepaired checks that every job whose end was forgotten is ended as it had
// ended, as the last thing that is said of it. Of a job that stock Slurm ran again the
// second run may be cut short.
func requireEndsRepaired(t *testing.T, c *Cluster, runs Runs) {
	t.Helper()
	ended, err := c.Ended()
	require.NoError(t, err)
	last := map[uint32]string{}
	for _, e := range ended {
		last[e.ID] = e.State
	}
	for _, id := range runs.ForgottenEnds {
		if !slices.Contains(runs.ForgottenStarts, id) {
			require.Equal(t, "COMPLETED", last[id], "job %d", id)
		}
	}
}

// killWhileStarting kills slurmctld as it starts jobs, once it has saved all
// submissions, and starts it again.
func killWhileStarting(t *testing.T, c *Cluster) {
	t.Helper()
	waitSaved(t, c)
	before := strings.Count(c.Logs("slurmctld.log", 1<<30), "tarted ")
	for range 300 {
		if strings.Count(c.Logs("slurmctld.log", 1<<30), "tarted ") > before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	kill(t, c)
}

// A slurmctld that is killed as it replaces its state leaves none but the one before: the next goes on
// with that, also from 25.05 on, where Slurm's own would begin without a job.
func TestKilledAsStateIsReplaced(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(2, 4, 0), Faults: true})
	id := submit(t, c, "sleep 6", "-n1", "--time=1")
	held := submit(t, c, "true", "-n1", "--time=1", "--hold")
	running(t, c, patience, id)
	waitSaved(t, c)
	require.NoError(t, c.KillController(t.Context(), syscall.SIGKILL))
	for _, name := range []string{"job_state", "node_state"} {
		require.NoError(t, os.Rename(c.path("state", name), c.path("state", name+".old")))
	}
	if version, err := Version(); err == nil && version >= "25.05" { // it does not begin without a job
		require.NoError(t, c.Faults().Set(OpLink, Fault{Name: "job_state", Error: syscall.EIO}))
		require.Error(t, c.StartController(t.Context()))
		require.NotEmpty(t, logLines(t, c, "can't link .*job_state.old"))
		require.NoError(t, c.Faults().Clear())
	}
	require.NoError(t, c.StartController(t.Context()))
	release(t, c, held)
	for _, id := range []uint32{id, held} {
		_, err := c.WaitFor(t.Context(), id, patience, "COMPLETED")
		require.NoError(t, err)
	}
	require.NoError(t, c.RanOnce([]uint32{id, held}))
}
