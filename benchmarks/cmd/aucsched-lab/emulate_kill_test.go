// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A phase is a moment in the life of a run.
type phase struct {
	name    string
	reached func(d *driven) bool
}

var (
	starting   = phase{"starting", func(d *driven) bool { return len(d.children("sh")) > 0 }}
	controlled = phase{"slurmctld starting", func(d *driven) bool { return len(d.children("slurmctld")) > 0 }}
	submitting = phase{"submitting", func(d *driven) bool { return d.submitted(1) }}
	middle     = phase{"middle", func(d *driven) bool { return d.submitted(killJobs) }}
	ending     = phase{"ending", func(d *driven) bool { return d.jobsEnded() >= killJobs }}
	stopping   = phase{"stopping", func(d *driven) bool {
		if !d.submitted(1) {
			return false
		}
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		time.Sleep(20 * time.Millisecond) // Slurm 24.11 ends within 200
		return true
	}}
	// stepping is when a job runs whose node has a slurmd.
	stepping = phase{"job running", func(d *driven) bool { return strings.Contains(strings.Join(processesOf(d.tmp), "\n"), "slurmstepd") }}
	phases   = []phase{starting, controlled, submitting, middle, ending, stopping}
)

// after is the phase a while after the start.
func after(wait time.Duration) phase {
	end := time.Now().Add(wait)
	return phase{fmt.Sprint(wait), func(*driven) bool { return time.Now().After(end) }}
}

// A victim is what is killed, and what is to become of a run in whose middle that is done.
type victim struct {
	name string
	// hit kills it, if it is there.
	hit  func(d *driven)
	code int    // exit status; -1: it is the driver
	says string // on standard error
	// keeps says that nobody is left to remove the files.
	keeps bool
}

func (v *victim) driver() bool { return v.code < 0 }

// hitting kills all processes of that name; it waits for one to be there.
func hitting(name string) func(d *driven) {
	return func(d *driven) {
		d.until(func() bool {
			pids := d.children(name)
			killAll(pids...)
			return len(pids) > 0
		})
	}
}

func signalled(sig syscall.Signal) func(d *driven) {
	return func(d *driven) { _ = d.cmd.Process.Signal(sig) }
}

var (
	theDriver    = victim{"driver", func(d *driven) { killAll(d.cmd.Process.Pid) }, -1, "", false}
	reaper       = victim{"reaper", func(d *driven) { killAll(d.children("sh")[:1]...) }, 0, "", false}
	bothReapers  = victim{"both reapers", hitting("sh"), 0, "", false}
	driverReaper = victim{"driver and reaper",
		func(d *driven) { killAll(append(d.children("sh")[:1:1], d.cmd.Process.Pid)...) }, -1, "", false}
	driverReapers = victim{"driver and both reapers",
		func(d *driven) { killAll(append(d.children("sh"), d.cmd.Process.Pid)...) }, -1, "", true}
	slurmd      = victim{"slurmd", hitting("slurmd"), 1, "slurmd ended: signal: killed", false}
	slurmctld   = victim{"slurmctld", hitting("slurmctld"), 1, "slurmctld ended: signal: killed", false}
	vslurmd     = victim{"vslurmd", hitting("vslurmd"), 1, "vslurmd ended: signal: killed", false}
	interrupted = victim{"SIGINT", signalled(syscall.SIGINT), 130, "interrupted: 0 of 1 runs are done", false}
	terminated  = victim{"SIGTERM", signalled(syscall.SIGTERM), 143, "terminated: 0 of 1 runs are done", false}
	victims     = []victim{theDriver, reaper, bothReapers, driverReaper, driverReapers, slurmctld, vslurmd, interrupted, terminated}
)

// killed runs the command, kills the victim in the phase, and checks what becomes of it; if
// it is not sure that the run was then in its middle, only that nothing is left.
func (b *killBed) killed(t *testing.T, out string, v victim, p phase, sure bool, args ...string) {
	d := b.start(t, smallRun(out, args...))
	d.until(func() bool { return p.reached(d) && len(d.children("sh")) == 2 })
	if sure {
		require.False(t, d.ended(), "it has ended before it was %s: %s", p.name, d.errs.String())
	}
	if !d.ended() {
		v.hit(d)
	}
	limit := 10 * time.Second
	if v.code == 0 {
		limit = 2 * time.Minute // it goes on
	}
	d.wait(t, limit)
	d.nothingLeft(t, !v.keeps)
	status := d.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !sure:
		require.True(t, v.driver() && status.Signaled() || status.Exited() && status.ExitStatus() <= 1, "%v: %s", status, d.errs.String())
	case v.driver():
		require.Equal(t, syscall.SIGKILL, status.Signal())
	default:
		require.Equal(t, v.code, status.ExitStatus(), d.errs.String())
		require.Contains(t, d.errs.String(), v.says)
	}
}

// completes runs the command to its end, and returns its runs.
func (b *killBed) completes(t *testing.T, args []string) []emulated {
	t.Helper()
	d := b.start(t, args)
	d.until(func() bool { return middle.reached(d) })
	require.Empty(t, socketsIn(t, d.tmp))
	return d.runs(t)
}

// runs waits for the command's end, and returns its runs.
func (d *driven) runs(t *testing.T) (runs []emulated) {
	t.Helper()
	d.wait(t, 2*time.Minute)
	require.True(t, d.cmd.ProcessState.Success(), d.errs.String())
	d.nothingLeft(t, true)
	for lines := json.NewDecoder(&d.out); lines.More(); {
		var r emulated
		require.NoError(t, lines.Decode(&r))
		require.Equal(t, []int{killJobs, killJobs}, []int{r.Result.Jobs, r.Result.Metrics.Jobs})
		require.Len(t, r.Result.Lives, killJobs)
		require.Empty(t, r.Result.Faults)
		runs = append(runs, r)
	}
	return runs
}

// socketsIn are the sockets below a directory.
func socketsIn(t *testing.T, dir string) (found []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type()&fs.ModeSocket != 0 {
			found = append(found, path)
		}
		return nil // what goes away meanwhile is none
	})
	return found
}

// Whichever part of an emulation is killed, at whatever point, no process, socket, mount or
// file is left, the error says what happened, and the same command goes on afterwards.
func TestEmulateKilled(t *testing.T) {
	b := newKillBed(t)
	out := t.TempDir()
	for _, c := range []struct {
		v victim
		p phase
	}{
		{driverReaper, starting}, {theDriver, controlled}, {slurmctld, middle}, {vslurmd, middle},
		{driverReapers, middle}, {terminated, middle}, {theDriver, stopping},
	} {
		t.Run(c.v.name+", "+c.p.name, func(t *testing.T) { b.killed(t, out, c.v, c.p, true) })
	}
	require.Empty(t, stored(t, out), "no run has completed")
	t.Run(bothReapers.name+", middle, and all again", func(t *testing.T) {
		b.killed(t, out, bothReapers, middle, true)
		require.Len(t, stored(t, out), 1)
		require.Len(t, b.completes(t, smallRun(out)), 1)
	})
}

// All victims in all phases, and at random moments.
func TestEmulateKilledAnywhere(t *testing.T) {
	if os.Getenv("AUCSCHED_SLURM_LONG") != "1" {
		t.Skip("takes long: AUCSCHED_SLURM_LONG=1 to run it")
	}
	b := newKillBed(t)
	for _, p := range phases {
		for _, v := range victims {
			t.Run(v.name+", "+p.name, func(t *testing.T) { b.killed(t, t.TempDir(), v, p, false) })
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	out := t.TempDir()
	for range 20 {
		v, wait := victims[r.IntN(len(victims))], time.Duration(r.IntN(9000))*time.Millisecond
		t.Run(fmt.Sprintf("%s after %v", v.name, wait), func(t *testing.T) {
			b.killed(t, out, v, after(wait), false)
			require.Len(t, b.completes(t, smallRun(out)), 1)
			for _, path := range stored(t, out) { // for the next
				require.NoError(t, os.Remove(path))
			}
		})
	}
}

// An sbatch that is killed ends the run, with an error that says so.
func TestEmulateSbatchKilled(t *testing.T) {
	b := newKillBed(t)
	real, err := exec.LookPath("sbatch")
	require.NoError(t, err)
	dir := t.TempDir() // with an sbatch that is killed the second time
	text := fmt.Sprintf("#!/bin/sh\ncd %s\n[ ! -e once ] || kill -KILL $$\n: > once\nexec %s \"$@\"\n", dir, real)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sbatch"), []byte(text), 0o755))
	d := b.start(t, smallRun(t.TempDir()), "PATH="+dir+":"+os.Getenv("PATH"))
	d.wait(t, time.Minute)
	d.nothingLeft(t, true)
	require.Equal(t, 1, d.cmd.ProcessState.ExitCode())
	require.Contains(t, d.errs.String(), "job 2: sbatch --parsable")
	require.Contains(t, d.errs.String(), "signal: killed")
}

// A job that can never run is left out and listed, as in a simulation; with --keep the
// files stay, and nothing else.
func TestEmulateLeavesOut(t *testing.T) {
	b := newKillBed(t)
	trace := filepath.Join(t.TempDir(), "trace.swf")
	var text string
	for i, cores := range []int{8, 65, 16} { // 64 has the machine
		text += fmt.Sprintf("%d 0 -1 300 %d -1 -1 %d 300 -1 1 1 1 1 -1 -1 -1 -1\n", i+1, cores, cores)
	}
	require.NoError(t, os.WriteFile(trace, []byte(text), 0o644))
	d := b.start(t, []string{"emulate", "--scheduler=backfill", "--cluster=8x8x2",
		"--workload=" + trace, "--rate=100", "--json", "--keep", "--out=" + t.TempDir()})
	d.wait(t, time.Minute)
	require.True(t, d.cmd.ProcessState.Success(), d.errs.String())
	require.Contains(t, d.errs.String(), "not run, the first")
	d.nothingLeft(t, false)
	require.Contains(t, d.read("log/slurmctld.log"), "submit_batch_job", "--keep keeps the files")
	var r emulated
	require.NoError(t, json.NewDecoder(&d.out).Decode(&r))
	require.Equal(t, 2, r.Result.Jobs)
	require.Equal(t, 2, r.Result.Metrics.Jobs)
	require.Len(t, r.Result.Metrics.Unrun, 1)
	require.Equal(t, "2", r.Result.Metrics.Unrun[0].ID)
}

// With a stock slurmd for every node jobs have processes of their own, beside the daemons': those
// of a run that is killed end as well.
func TestEmulateFull(t *testing.T) {
	b := newKillBed(t)
	full := []string{"--nodes=full", "--rate=20"}
	for _, v := range []victim{slurmd, theDriver} {
		t.Run(v.name, func(t *testing.T) { b.killed(t, t.TempDir(), v, stepping, true, full...) })
	}
	d := b.start(t, smallRun(t.TempDir(), full...))
	d.until(func() bool { return stepping.reached(d) })
	require.Len(t, d.children("slurmd"), 8)
	require.Len(t, d.runs(t), 1)
}

// stored are the results on file.
func stored(t *testing.T, out string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(out, "*.json"))
	require.NoError(t, err)
	return found
}

// A run over seeds that was killed goes on where it was.
func TestEmulateGoesOn(t *testing.T) {
	b := newKillBed(t)
	seeds := "--seeds=1-2"
	if os.Getenv("AUCSCHED_SLURM_LONG") == "1" {
		seeds = "--seeds=1-3"
	}
	out := t.TempDir()
	d := b.start(t, smallRun(out, seeds))
	d.until(func() bool { return len(stored(t, out)) > 0 && len(d.children("slurmctld")) > 0 })
	require.False(t, d.ended(), d.errs.String())
	killAll(d.cmd.Process.Pid)
	d.wait(t, 10*time.Second)
	d.nothingLeft(t, true)
	first := stored(t, out)
	require.Len(t, first, 1)
	before, err := os.Stat(first[0])
	require.NoError(t, err)

	runs := b.completes(t, smallRun(out, seeds))
	for i, r := range runs {
		require.EqualValues(t, i+1, r.Seed)
	}
	require.Len(t, stored(t, out), len(runs))
	require.GreaterOrEqual(t, len(runs), 2)
	after, err := os.Stat(first[0])
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "the first was run again")
	require.Equal(t, before.ModTime(), after.ModTime())
}

// A second command would slow the first one's clock down, and its own: it is refused, says by whom,
// and leaves the first alone. What is stored can be looked at meanwhile.
func TestEmulateOneAtATime(t *testing.T) {
	b := newKillBed(t)
	out := t.TempDir()
	require.Len(t, b.completes(t, smallRun(out)), 1)
	first := b.start(t, smallRun(t.TempDir()))
	first.until(func() bool { return submitting.reached(first) })
	require.Len(t, b.start(t, smallRun(out)).runs(t), 1)
	second := b.start(t, smallRun(t.TempDir()))
	second.wait(t, 10*time.Second)
	second.nothingLeft(t, true)
	require.False(t, first.ended(), "it was over before the second began: %s", first.errs.String())
	require.Equal(t, 1, second.cmd.ProcessState.ExitCode())
	require.Contains(t, second.errs.String(), fmt.Sprintf("process %d emulates on this machine", first.cmd.Process.Pid))
	require.Len(t, first.runs(t), 1)
}
