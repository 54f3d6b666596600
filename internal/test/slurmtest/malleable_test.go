// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// malleableBed is a cluster of 16 nodes of two cores, of which urgent jobs and ordinary ones
// preempt companions, and a directory for users' files.
type malleableBed struct {
	*Cluster
	t        *testing.T
	dir, bin string
	cgroups  bool
}

func newMalleableBed(t *testing.T, m mode, a *Accounting) *malleableBed {
	t.Helper()
	bed(t)
	bin, err := programmes()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "malleable")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777))
	partitions := append(tiersOf("CANCEL"), Partition{Name: "urgent", Options: "PriorityTier=20 PreemptMode=OFF"})
	partitions[1].Options += " GraceTime=30"
	cfg := Config{Groups: Uniform(16, 2, 0), Partitions: partitions, PreemptType: "preempt/partition_prio", PreemptMode: "CANCEL",
		Accounting: a, CredExpire: 10 * time.Second}
	b := &malleableBed{t: t, dir: dir, bin: bin, cgroups: ownCgroups(t)}
	if b.cgroups {
		cfg.ExtraLines = []string{"ProctrackType=proctrack/cgroup", "TaskPlugin=task/affinity,task/cgroup"}
		cfg.Cgroups = []string{"CgroupPlugin=cgroup/v1", "ConstrainCores=yes"}
	}
	b.Cluster = cluster(t, m, cfg)
	t.Cleanup(func() {
		if !t.Failed() {
			os.RemoveAll(dir)
		}
	})
	require.NoError(t, os.Chmod(b.Dir, 0o755)) // for commands of jobs
	return b
}

// ownCgroups has this test alone use cgroups named after nodes, and says whether there are any
// here. Without, or with CGROUPS=no, a job's processes are known by their environment.
func ownCgroups(t *testing.T) bool {
	t.Helper()
	if os.Getenv("CGROUPS") == "no" {
		return false
	}
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "slurmtest-cgroups.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	t.Cleanup(func() {
		dropCgroups()
		lock.Close()
	})
	for _, dir := range cgroupDirs {
		if os.Mkdir(dir+"/slurm_n0000", 0o755) != nil {
			t.Log("no cgroups of version 1: the kernel's view is that of processes alone")
			return false
		}
	}
	dropCgroups()
	return true
}

var cgroupDirs = []string{"/sys/fs/cgroup/freezer", "/sys/fs/cgroup/cpuset"}

// dropCgroups removes those of nodes, innermost first, if nothing is in them.
func dropCgroups() {
	for _, dir := range cgroupDirs {
		for _, depth := range []string{"/*/*/*/*", "/*/*/*", "/*/*", "/*", ""} {
			paths, _ := filepath.Glob(dir + "/slurm_n????" + depth)
			for _, path := range paths {
				_ = unix.Rmdir(path)
			}
		}
	}
}

// A malleableDay is a day as it passes.
type malleableDay struct {
	*malleableBed
	day
	probe *probe
	ids   []uint32 // of the jobs

	door    sync.RWMutex // closed while slurmctld is away
	last    time.Time    // submission
	killed  map[string]int
	helps   map[string]int
	waiting map[string]time.Time
}

// Of 200 jobs, malleable, rigid and urgent ones, each does its work once although members, leads,
// slurmctld and nodes are killed; and all the time the crews, slurmctld and the kernel agree on who
// is where.
func TestMalleableDay(t *testing.T) {
	slow(t)
	long(t)
	bothModes(t, func(t *testing.T, m mode) {
		seed := uint64(time.Now().UnixNano())
		if text := os.Getenv("SEED"); text != "" {
			var err error
			seed, err = strconv.ParseUint(text, 10, 64)
			require.NoError(t, err, "SEED")
		}
		t.Logf("seed %d", seed)
		b := newMalleableBed(t, m, &Accounting{Accounts: []Account{{Name: "a", Users: []User{{Name: Alice}, {Name: Bob}, {Name: Carol}}}}})
		d := &malleableDay{malleableBed: b, day: newDay(seed), probe: newProbe(b), killed: map[string]int{},
			helps: map[string]int{}, waiting: map[string]time.Time{}}
		d.ids = make([]uint32, len(d.jobs))
		// slurmctld 26.05 with accounts does not begin again until it has once
		// saved all that there is.
		require.NoError(t, d.KillController(t.Context(), syscall.SIGTERM))
		require.NoError(t, d.StartController(t.Context()))
		began := time.Now()
		d.pass(m)
		t.Logf("%d jobs in %v; killed: %v; helped: %v", len(d.jobs), time.Since(began).Round(time.Second), d.killed, d.helps)
		d.probe.say(t)
		d.requireDone()
		d.requireNothingLeft()
		d.probe.require(t)
		d.requireAccounts()
	})
}

// pass has all happen, and returns when the queue is empty.
func (d *malleableDay) pass(m mode) {
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	began := time.Now()
	var all, watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			d.probe.take(ctx)
			d.door.RLock()
			d.help(ctx)
			d.door.RUnlock()
			time.Sleep(time.Second)
		}
	})
	all.Go(func() {
		for i, j := range d.jobs {
			time.Sleep(time.Until(began.Add(j.at)))
			d.submit(i)
		}
	})
	all.Go(func() {
		for _, k := range d.kills {
			time.Sleep(time.Until(began.Add(k.at)))
			d.probe.take(ctx)
			d.kill(k, m)
			d.probe.take(ctx)
		}
	})
	all.Wait()
	err := d.poll(ctx, 240*time.Second, "the end", func() (bool, error) {
		jobs, err := d.Squeue(ctx, "%i")
		return err == nil && strings.TrimSpace(jobs) == "", nil
	})
	cancel()
	watch.Wait()
	if err != nil {
		left, _ := d.Squeue(d.t.Context(), "%i %j %T %r %N")
		d.t.Fatalf("%v\n%s", err, left)
	}
}

func (d *malleableDay) file(i int, kind string) string {
	return fmt.Sprintf("%s/%d.%s", d.dir, i, kind)
}

func (d *malleableDay) submit(i int) {
	j := &d.jobs[i]
	args := as(j.user, "-N", fmt.Sprint(j.nodes), fmt.Sprint("--ntasks-per-node=", j.slots), "--time=15", "--requeue",
		"-o", d.file(i, "out"), "--open-mode=append", "-D", d.dir, "-J", j.kind)
	if j.kind == anUrgent {
		args = append(args, "-p", "urgent")
	}
	body := d.script(i)
	d.door.RLock()
	defer d.door.RUnlock()
	d.ids[i] = submit(d.t, d.Cluster, body, args...)
	d.last = time.Now()
}

func (d *malleableDay) script(i int) string {
	j := &d.jobs[i]
	sleep := fmt.Sprintf("sleep %.3f", j.length.Seconds())
	said := func(task string) string { // the answer is the task's number, squared, and the job's
		return fmt.Sprintf("echo %s $((%[1]s * %[1]s + %d)) >>%s", task, i, d.file(i, "log"))
	}
	crew := func(command string) string {
		line := fmt.Sprintf("%s/aucsched crew %s --listen localhost:0 --more %d --state %s", d.bin, command, j.more, d.file(i, "state"))
		for _, o := range []string{"--partition=low", fmt.Sprint("--ntasks=", j.slots), "--time=15", "--output=/dev/null"} {
			line += " --sbatch=" + o
		}
		return line
	}
	switch {
	case j.kind == aBag:
		task := sleep + "; " + said("$AUCSCHED_CREW_TASK") + "\n"
		require.NoError(d.t, os.WriteFile(d.file(i, "tasks"), []byte(strings.Repeat(task, j.tasks)), 0o644))
		return "exec " + crew("bag") + " --record " + d.file(i, "done") + " " + d.file(i, "tasks")
	case j.kind == aProgram:
		program := fmt.Sprintf(programText, d.file(i, "log"), j.tasks, d.bin, sleep, said("$TASK"))
		require.NoError(d.t, os.WriteFile(d.file(i, "program"), []byte(program), 0o755))
		return "exec " + crew("run") + " -- " + d.file(i, "program")
	case j.steps:
		return fmt.Sprintf("for try in 1 2 3 4 5; do srun sh -c '%s; %s' && exit 0; sleep 2; done; exit 1", sleep, said("$SLURM_PROCID"))
	}
	return sleep + "; " + said("0")
}

// programText has each task that is not done yet run on some place, and repeats what was lost.
const programText = `#!/bin/sh
log=%s
touch $log
while [ ! -s $AUCSCHED_CREW_NODES ]; do sleep 0.1; done
while :; do
	started=0
	for task in $(seq %d); do
		grep -q "^$task " $log && continue
		place=$(shuf -n 1 $AUCSCHED_CREW_NODES)
		%s/aucsched crew on --env TASK=$task ${place%%%% *} -- sh -c '%s; %s' &
		started=$((started + 1))
		[ $((started %% 3)) = 0 ] && wait
	done
	[ $started = 0 ] && exit 0
	wait
done
`

// kill kills what there is of a kind.
func (d *malleableDay) kill(k dayKill, m mode) {
	ctx := d.t.Context()
	switch k.kind {
	case aMember:
		var members []process
		_ = d.poll(ctx, 8*time.Second, "a member", func() (bool, error) {
			members = slices.DeleteFunc(d.processes(d.cgroups), func(p process) bool { return !p.member })
			return len(members) > 0, nil
		})
		if len(members) > 0 && syscall.Kill(members[k.pick%len(members)].pid, syscall.SIGKILL) == nil {
			d.killed[k.kind]++
		}
	case aLead:
		leads := slices.DeleteFunc(d.processes(d.cgroups), func(p process) bool { return p.state == "" })
		if len(leads) == 0 {
			return
		}
		if _, err := d.Scontrol(ctx, "requeue", fmt.Sprint(leads[k.pick%len(leads)].job)); err == nil {
			d.killed[k.kind]++
		}
	case aNode:
		node := NodeName(1 + k.pick%16)
		require.NoError(d.t, d.stopNode(ctx, node))
		time.Sleep(k.down)
		require.NoError(d.t, d.startNode(node))
		d.killed[k.kind]++
	case aController:
		d.killController(k, m)
		d.killed[k.kind]++
	}
}

// killController waits until slurmctld has saved what was submitted last: that is lost with any
// scheduler otherwise. Stock Slurm forgets its last starts after a SIGKILL, and ends in SIGTERM.
func (d *malleableDay) killController(k dayKill, m mode) {
	ctx, sig := d.t.Context(), syscall.SIGKILL
	if m.name == stock.name {
		sig = syscall.SIGTERM
	}
	d.door.Lock()
	defer d.door.Unlock()
	err := d.poll(ctx, 8*time.Second, "slurmctld to save its state", func() (bool, error) {
		info, err := os.Stat(d.path("state", "job_state"))
		return err == nil && info.ModTime().After(d.last), nil
	})
	if err != nil { // nothing may have changed since
		d.t.Log(err)
	}
	require.NoError(d.t, d.KillController(ctx, sig))
	time.Sleep(k.down)
	require.NoError(d.t, d.StartController(ctx))
}

// help does what Slurm wants of an administrator when launches have failed and jobs were requeued.
func (d *malleableDay) help(ctx context.Context) {
	left, err := d.Squeue(ctx, "%i|%T|%r|%j", "-t", "PD")
	if err != nil {
		return
	}
	for line := range strings.Lines(left) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 4 {
			continue
		}
		switch {
		case strings.HasSuffix(f[2], "held"):
			d.helped(ctx, "release", "release", f[0])
		case f[2] == "BeginTime" && d.waiting[f[0]].IsZero():
			d.waiting[f[0]] = time.Now()
		case f[2] == "BeginTime" && time.Since(d.waiting[f[0]]) > 3*time.Second:
			delete(d.waiting, f[0])
			d.helped(ctx, "start now", "update", "JobId="+f[0], "StartTime=now")
		}
	}
	nodes, _ := d.Sinfo(ctx, "%N %T")
	for line := range strings.Lines(nodes) {
		node, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(state, "drain") || strings.HasPrefix(state, "down") {
			d.helped(ctx, "resume", "update", "NodeName="+node, "State=RESUME")
		}
	}
}

func (d *malleableDay) helped(ctx context.Context, what string, argv ...string) {
	if _, err := d.Scontrol(ctx, argv...); err == nil {
		d.helps[what]++
	}
}

// probe compares the views of a bed again and again.
type probe struct {
	bed     *malleableBed
	machine Machine

	mu        sync.Mutex
	taken     int
	missed    int // slurmctld did not answer
	found     []string
	since     map[string]*lasting
	longest   map[string]time.Duration // by kind
	processes int
	places    int
	tasks     int // of crews' ledgers
	unseen    int // of these, not seen by the kernel at that moment
	crews     int // at most, at one moment
}

// lasting is a difference that lasts.
type lasting struct {
	times int
	began time.Time
}

// A difference must not last for so many probes, and so long. It takes longer until slurmctld knows
// that a companion was never launched, as it was killed before: BatchStartTimeout, of 10 s.
const (
	graceTimes = 8
	graceTime  = 12 * time.Second
	launchTime = 40 * time.Second
)

func newProbe(b *malleableBed) *probe {
	return &probe{bed: b, machine: b.cfg.Machine(), since: map[string]*lasting{}, longest: map[string]time.Duration{}}
}

// take takes all views once.
func (p *probe) take(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, err := p.bed.look(ctx, p.bed.cgroups)
	now := time.Now()
	if err != nil {
		if ctx.Err() == nil {
			p.missed++
			var command *CommandError
			if !errors.As(err, &command) {
				p.found = append(p.found, err.Error())
			}
		}
		return
	}
	p.taken++
	p.processes += len(v.processes)
	p.crews = max(p.crews, len(v.ledgers))
	for _, l := range v.ledgers {
		p.places += len(l.places)
		for _, place := range l.places {
			p.tasks += len(place.tasks)
		}
	}
	for _, f := range CheckJobs(p.machine, v.jobs, nil, now) {
		p.found = append(p.found, f.String())
	}
	for _, f := range v.faults() {
		p.found = append(p.found, now.Format("15:04:05.000 ")+f)
	}
	p.compare(now, v.differences())
}

var digits = regexp.MustCompile(`\bn?\d+\b`)

// compare counts the differences, and finds those that last.
func (p *probe) compare(now time.Time, differences map[string]bool) {
	for text := range p.since {
		if !differences[text] {
			delete(p.since, text)
		}
	}
	for text := range differences {
		if strings.HasPrefix(text, "a crew has task") {
			p.unseen++
		}
		l := p.since[text]
		if l == nil {
			l = &lasting{began: now}
			p.since[text] = l
		}
		l.times++
		kind, lasts := digits.ReplaceAllString(text, "N"), now.Sub(l.began)
		p.longest[kind] = max(p.longest[kind], lasts)
		grace := graceTime
		if strings.HasPrefix(text, "slurmctld runs companion") {
			grace = launchTime
		}
		if l.times >= graceTimes && lasts >= grace {
			p.found = append(p.found, fmt.Sprintf("%s for %v: %s", now.Format("15:04:05.000"), lasts, text))
			l.times = 0
		}
	}
}

// say says what was seen.
func (p *probe) say(t *testing.T) {
	t.Helper()
	t.Logf("%d probes, %d without slurmctld; in them %d processes, %d places and %d tasks of crews, %d crews at most at a time",
		p.taken, p.missed, p.processes, p.places, p.tasks, p.crews)
	for kind, longest := range p.longest {
		t.Logf("for %v at most: %s", longest.Round(time.Second/10), kind)
	}
}

// require has the views have agreed, and have had something to agree on.
func (p *probe) require(t *testing.T) {
	t.Helper()
	require.Empty(t, p.found)
	require.Greater(t, p.taken, 100)
	require.Greater(t, p.tasks, 200)
	require.Less(t, p.unseen, p.tasks*3/4, "tasks that the kernel has not seen when a crew had them")
}
