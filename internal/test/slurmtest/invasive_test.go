// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Jobs of the partition are held until they were negotiated, and run on the cores of the ledger; an
// urgent one takes some from a malleable one; other partitions are Slurm's alone.
func TestInvasive(t *testing.T) {
	beside(t)
	b := newInvasiveBed(t, "")
	first := b.adapting("--comment=invasic=1-2,malleable;mine")
	j, err := b.ShowJob(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "mine;invasic=1-2,malleable,points=100", j.Fields["Comment"])
	require.Equal(t, "JobHeldUser", j.Reason)

	other := submit(t, b.Cluster, "sleep 1; env", "-n1", "--comment=invasic=nonsense", "-o", b.file("other"))
	b.ended(other, "COMPLETED") // as ever, while the first waits
	o, err := b.ShowJob(t.Context(), other)
	require.NoError(t, err)
	require.Equal(t, "invasic=nonsense", o.Fields["Comment"])
	text, err := os.ReadFile(b.file("other"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "AUCSCHED_INVASIVE")
	j, err = b.ShowJob(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "PENDING", j.State)

	b.startBoth()
	b.owns(first, "0-1")
	at := time.Now()
	urgent := b.sbatch("echo $AUCSCHED_INVASIVE_CORES; grep Cpus_allowed_list: /proc/self/status; exec sleep 100",
		"-n1", "--comment=invasic=urgent")
	b.owns(urgent, "1")
	require.Eventually(t, func() bool { text, _ := os.ReadFile(b.file(fmt.Sprint("out.", urgent))); return len(text) > 0 },
		invasiveTime, 20*time.Millisecond)
	t.Logf("an urgent job ran after %v", time.Since(at))
	b.owns(first, "0")
	require.NoError(t, b.Scancel(t.Context(), fmt.Sprint(urgent)))
	b.owns(first, "0-1")
	b.stopAdapting()
	b.ended(first, "COMPLETED")
	b.startedOnce(first, urgent)
	text, err = os.ReadFile(b.file(fmt.Sprint("out.", urgent)))
	require.NoError(t, err)
	require.Regexp(t, "^1\nCpus_allowed_list:\t"+b.cpus("1")+"\n", string(text), "from its beginning")
}

// What can't be understood, or isn't for such a partition, is refused in words.
func TestInvasiveRefused(t *testing.T) {
	slow(t)
	beside(t)
	b := newInvasiveBed(t, "auc_invasic_urgent=rush")
	for args, words := range map[string]string{
		"--comment=invasic=8-2":          "invasic=8-2: its cores must be a number from 1, or MIN-MAX",
		"--comment=a;invasic=2,fast":     "invasic=2,fast: must be CORES or MIN-MAX, rigid,",
		"-n3 --comment=invasic=1-2":      "invasic=1-2: its cores must have --ntasks times --cpus-per-task among them",
		"--comment=invasic=1-2,points=5": "must be CORES",
		"--comment=invasic=urgent":       "partition invasic: urgent jobs are those of a QOS",
		"--array=1-2":                    "partition invasic: its jobs can't be arrays",
		"--begin=now+1hour":              "can't have --begin",
		"-N2":                            "its jobs have one node",
		"-p invasic,p":                   "its jobs can't have other partitions as well",
		"-n99":                           "partition invasic: it has less cores",
		"--comment=invasic=5-8":          "partition invasic: it has less cores",
	} {
		_, err := b.Sbatch(t.Context(), append([]string{"-p", "invasic"}, strings.Fields(args)...), b.Script("true"))
		require.ErrorContains(t, err, words, args)
	}
	_, err := b.Srun(t.Context(), "-p", "invasic", "true")
	require.ErrorContains(t, err, "its jobs are batch jobs: use sbatch")
	id := b.sbatch("true", "-n2", "--nice=30")
	other := submit(t, b.Cluster, "true", "-n1", "-H")
	for _, c := range []struct {
		id            uint32
		change, words string
	}{
		{id, "Comment=invasic=9-1", "Invalid argument"}, {id, "Partition=p", "Invalid argument"},
		{other, "Partition=invasic", "Invalid argument"},
		{id, "StartTime=now+1hour", "Invalid argument"}, {id, "Comment=invasic=1-2,urgent", "Invalid argument"},
	} {
		_, err := b.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", c.id), c.change)
		require.ErrorContains(t, err, c.words, c.change)
	}
	comment := func(id uint32) string {
		j, err := b.ShowJob(t.Context(), id)
		require.NoError(t, err)
		return j.Fields["Comment"]
	}
	require.Equal(t, "invasic=2-2,rigid,points=70", comment(id))
	_, err = b.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", id), "Comment=hello;invasic=1-4,malleable,points=7")
	require.NoError(t, err)
	require.Equal(t, "hello;invasic=1-4,malleable,points=70", comment(id))
	_, err = b.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", other), "Comment=invasic=9-1")
	require.NoError(t, err, "a job of another partition")
}

// Nobody makes his jobs urgent, at the cost of others', unless the site says who may; a QOS that
// Slurm gives to everybody who asks is no word of the site's.
func TestInvasiveUrgent(t *testing.T) {
	slow(t)
	beside(t)
	b := newInvasiveBed(t, "")
	const ours = "auc_invasic=invasic"
	for _, c := range []struct{ setting, refused string }{
		{ours, "urgent jobs are those of a QOS"},
		{ours + ",auc_invasic_urgent=", "urgent jobs are those of a QOS"},
		{ours + ",auc_invasic_urgent=rush", "urgent jobs are those of a QOS"},
		{ours + ",auc_invasic_urgent=*", ""},
	} {
		require.NoError(t, b.SetParameters(t.Context(), c.setting))
		quiet := b.sbatch("true", "--qos=rush", "--comment=invasic=1")
		j, err := b.ShowJob(t.Context(), quiet)
		require.NoError(t, err)
		require.Equal(t, "invasic=1-1,rigid,points=100", j.Fields["Comment"], c.setting)
		id, err := b.Sbatch(t.Context(), []string{"-p", "invasic", "--qos=rush", "--comment=invasic=urgent"}, b.Script("true"))
		_, changed := b.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", quiet), "Comment=invasic=urgent")
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, c.setting)
			require.ErrorContains(t, changed, "Invalid argument", c.setting)
			continue
		}
		require.NoError(t, err, c.setting)
		require.NoError(t, changed, c.setting)
		for _, id := range []uint32{id, quiet} {
			j, err := b.ShowJob(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, "invasic=1-1,rigid,urgent,points=100", j.Fields["Comment"], c.setting)
		}
	}
}

// asAlice runs a command as a user who is nobody special.
func (b *invasiveBed) asAlice(args ...string) error {
	cmd := exec.CommandContext(b.t.Context(), args[0], args[1:]...)
	cmd.Env, cmd.Dir = b.environ(), "/"
	alice, err := accountOf(Alice) // from 26.05 on nobody is no user to Slurm
	require.NoError(b.t, err)
	cmd.SysProcAttr = new(syscall.SysProcAttr)
	asUser(cmd.SysProcAttr, alice)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// Users can hold their jobs and let them go, but not past the negotiation; what waits, and what
// runs, can be cancelled. Jobs run as their users.
func TestInvasiveUsers(t *testing.T) {
	slow(t)
	beside(t)
	b := newInvasiveBed(t, "")
	require.NoError(t, os.Chmod(b.dir, 0o777))
	alices := func(args ...string) uint32 {
		return b.sbatch("exec "+b.bin+"/adapts job "+b.file("stop"), append([]string{"--uid=" + Alice}, args...)...)
	}
	require.NoError(t, os.WriteFile(b.startsFile(), nil, 0o666))
	require.NoError(t, os.Chmod(b.startsFile(), 0o666))
	first := alices("--comment=invasic=1-2,malleable")
	require.ErrorContains(t, b.asAlice("scontrol", "release", fmt.Sprint(first)), "Invalid argument")
	kept := alices("-H", "--comment=invasic=1-2")
	b.startBoth()
	b.owns(first, "0-1")
	_, err := b.ShowJob(t.Context(), kept)
	require.NoError(t, err)
	require.Empty(t, b.ledger(kept))

	require.NoError(t, b.asAlice("scontrol", "release", fmt.Sprint(kept)))
	b.owns(kept, "1") // the first one, which adapts, lets go of a core
	b.owns(first, "0")
	waiting := b.sbatch("exec sleep 100", "-n2")
	require.Eventually(t, func() bool { return strings.Contains(b.schedList(), fmt.Sprintf("\n%d ", waiting)) },
		invasiveTime, 100*time.Millisecond)
	require.NoError(t, b.Scancel(t.Context(), fmt.Sprint(waiting)))
	require.NoError(t, b.asAlice("scancel", fmt.Sprint(kept)))
	b.owns(first, "0-1")
	j, err := b.ShowJob(t.Context(), waiting)
	require.NoError(t, err)
	require.Equal(t, "CANCELLED", j.State)
	// nothing waits for the cancelled one
	last := b.sbatch("true", "-n1", "--comment=invasic=urgent")
	b.ended(last, "COMPLETED")
	require.Empty(t, b.ledger(waiting))
	b.stopAdapting()
	b.ended(first, "COMPLETED")
	b.startedOnce(first, kept, last)
}

// schedList is `aucsched ischeduler list`.
func (b *invasiveBed) schedList() string {
	out, _ := exec.Command(b.bin+"/aucsched", "ischeduler", "--dir", b.file("sched"), "list").CombinedOutput()
	return "\n" + string(out)
}

// Jobs are suspended if an urgent one can't have its cores otherwise, and go on
// later. Slurm says so.
func TestInvasiveSuspended(t *testing.T) {
	slow(t)
	beside(t)
	b := newInvasiveBed(t, "")
	b.startBoth()
	until := func(file, do string) string {
		return "until [ -e " + b.file(file) + " ]; do sleep 0.1; " + do + "; done"
	}
	rigid := b.sbatch(until("stop", "date +%s%N >> "+b.file("ticks")), "-n2", "--comment=invasic=2")
	b.owns(rigid, "0-1")
	ticks := func() int { text, _ := os.ReadFile(b.file("ticks")); return len(text) }
	goesOn := func() bool { n := ticks(); time.Sleep(500 * time.Millisecond); return ticks() > n }
	require.Eventually(t, goesOn, invasiveTime, time.Millisecond)
	urgent := b.sbatch(until("over", "true"), "-n2", "--comment=invasic=urgent")
	b.owns(urgent, "0-1")
	_, err := b.WaitFor(t.Context(), rigid, invasiveTime, "SUSPENDED")
	require.NoError(t, err)
	before := ticks()
	b.kill(&b.hyper) // the next one finds both
	b.startHyper()
	time.Sleep(time.Second)
	require.Equal(t, before, ticks(), "it is suspended")
	require.NoError(t, os.WriteFile(b.file("over"), nil, 0o644))
	b.ended(urgent, "COMPLETED")
	require.Eventually(t, goesOn, invasiveTime, time.Millisecond)
	b.owns(rigid, "0-1")
	b.stopAdapting()
	b.ended(rigid, "COMPLETED")
	b.startedOnce(rigid, urgent)
}

// Whoever is killed, and whenever: no job is lost, and none is started twice.
func TestInvasiveKilled(t *testing.T) {
	slow(t)
	beside(t)
	b := newInvasiveBed(t, "")
	b.startBoth()
	first := b.adapting("--comment=invasic=1-2,malleable")
	b.owns(first, "0-1")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	ids := []uint32{}
	for range 20 {
		note := []string{"--comment=", "--comment=invasic=1-2", "--comment=invasic=urgent"}[rng.IntN(3)]
		ids = append(ids, b.sbatch(fmt.Sprintf("sleep 0.%d", rng.IntN(9)), "-n1", note))
	}
	waitSaved(t, b.Cluster) // what was submitted later Slurm may forget
	for range 12 {
		time.Sleep(time.Duration(rng.IntN(1200)) * time.Millisecond)
		switch rng.IntN(3) {
		case 0:
			b.kill(&b.hyper)
			b.startHyper()
		case 1:
			b.kill(&b.sched)
			b.startSched()
		default:
			kill(t, b.Cluster)
		}
	}
	for _, id := range ids {
		b.ended(id, "COMPLETED")
	}
	b.owns(first, "0-1")
	b.stopAdapting()
	b.ended(first, "COMPLETED")
	b.startedOnce(append(ids, first)...)
}
