// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ihypervisor

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/link/linktest"
	"github.com/aucsched/aucsched/invasive/malleable"
	"github.com/aucsched/aucsched/invasive/place"
)

const (
	patience = 60 * time.Second
	sysCPU   = "/sys/devices/system/cpu"
)

// The test's programme is also a supervisor, an iHypervisor to be killed, and a job. Those end by
// syscall.Exit: the race detector makes every os.Exit wait for a second.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		var err error
		switch os.Args[1] {
		case "supervise":
			err = launch.Supervise(os.Args[2], nil)
		case "hypervisor":
			err = runKilled(os.Args[2], os.Args[3])
		case "job":
			syscall.Exit(runJob(os.Args[2], os.Args[3]))
		default:
			os.Exit(m.Run())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0)
	}
	os.Exit(m.Run())
}

// runJob is a job that adapts in the way of mode. It ends when the file stop is there.
func runJob(mode, stop string) int {
	c, err := malleable.Connect(os.Getenv)
	if err != nil {
		return 9
	}
	defer c.Close()
	have, tick := 0, time.NewTicker(5*time.Millisecond)
	for {
		select {
		case change := <-c.Changes():
			less := len(change.Cores) < have
			switch {
			case less && mode == "keep":
				c.Keep(change, "in the middle of a step")
				continue
			case less && mode == "silent":
				continue
			case less && mode == "die":
				return 5
			}
			have = len(change.Cores)
			fmt.Println("cores", malleable.FormatList(change.Cores))
			c.Done(change)
			if n, is := strings.CutPrefix(mode, "want "); is {
				wish, _ := strconv.Atoi(n)
				c.Want(wish)
				mode = ""
			}
		case <-tick.C:
			if _, err := os.Stat(stop); err == nil {
				return 0
			}
		}
	}
}

// bed is an iHypervisor and an iScheduler, both in this process; the jobs are real.
type bed struct {
	t        *testing.T
	root     string
	self     string
	stop     string // a file that ends the jobs
	topology *Topology
	endpoint link.Endpoint
	h        *Hypervisor
	done     chan error
	cancel   func()

	mu    sync.Mutex
	agent *link.Runner
	ended map[invasive.JobID]int32
}

func newBed(t *testing.T, p invasive.Partition, change func(*Config)) *bed {
	self, err := os.Executable()
	require.NoError(t, err)
	root := t.TempDir()
	p.Name = "invasic"
	topology, err := Simulate(p, sysCPU, true)
	require.NoError(t, err)
	b := &bed{t: t, root: root, self: self, stop: filepath.Join(root, "stop"), topology: topology, ended: map[invasive.JobID]int32{}}
	b.endpoint = link.Endpoint{Network: "unix", Address: filepath.Join(root, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	t.Cleanup(func() {
		os.WriteFile(b.stop, nil, 0o600)
		b.killAll()
	})
	b.startHypervisor(change)
	b.startScheduler()
	return b
}

func twoCPUs(t *testing.T) {
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	if !set.IsSet(0) || !set.IsSet(1) {
		t.Skip("needs the CPUs 0 and 1")
	}
}

func config(root, self string, topology *Topology) Config {
	return Config{
		State: filepath.Join(root, "state"), Output: filepath.Join(root, "output"), Topology: topology,
		Attempts: 3, Reply: 20 * time.Second, Report: 30 * time.Millisecond,
		Policy: place.Policy{Means: []invasive.How{invasive.Shrink, invasive.Suspend, invasive.Kill}, Horizon: 60},
		Retry:  300 * time.Millisecond, Grace: 300 * time.Millisecond, OfferEvery: 20 * time.Millisecond,
		Supervisor: []string{self, "supervise"}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func (b *bed) startHypervisor(change func(*Config)) {
	c := config(b.root, b.self, b.topology)
	if testing.Verbose() {
		c.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	c.Stats = &link.Stats{}
	if change != nil {
		change(&c)
	}
	var err error
	c.Listener, err = b.endpoint.Listen(link.RealClock{}, c.Stats)
	require.NoError(b.t, err)
	b.h, err = New(c)
	require.NoError(b.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	b.done, b.cancel = done, cancel
	go func() {
		err := b.h.Run(ctx)
		c.Listener.Close()
		done <- err
	}()
	b.t.Cleanup(cancel)
}

func (b *bed) stopHypervisor() {
	b.t.Helper()
	b.cancel()
	select {
	case err := <-b.done:
		require.NoError(b.t, err)
	case <-time.After(patience):
		require.Fail(b.t, "the iHypervisor doesn't end")
	}
}

func (b *bed) startScheduler() {
	b.agent = linktest.Scheduler(b.t, filepath.Join(b.root, "scheduler"), &b.endpoint, 30*time.Millisecond,
		func(id invasive.JobID, exit int32) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ended[id] = exit
		})
}

func (b *bed) submit(jobs ...*invasive.Job) {
	for _, j := range jobs {
		b.agent.Post(invasive.Event{Kind: invasive.Submit, Job: j})
	}
}

// adapts is a malleable job in one of the modes of runJob.
func (b *bed) adapts(id invasive.JobID, mode string, least, most uint32) *invasive.Job {
	return &invasive.Job{ID: id, Flex: invasive.Malleable, MinCores: least, MaxCores: most, Args: []string{b.self, "job", mode, b.stop}}
}

// sleeps is a rigid job that ends when the stop file is there.
func (b *bed) sleeps(id invasive.JobID, cores uint32) *invasive.Job {
	script := "sleep 1000 & while [ ! -e '" + b.stop + "' ]; do sleep 0.02; done"
	return &invasive.Job{ID: id, MinCores: cores, MaxCores: cores, Args: []string{"sh", "-c", script}}
}

func urgent(j *invasive.Job) *invasive.Job { j.Urgent = true; return j }

// state is the ledger.
func (b *bed) state() (jobs map[invasive.JobID]invasive.Held) {
	done := make(chan struct{})
	b.h.runner.Call(func() {
		jobs = map[invasive.JobID]invasive.Held{}
		for _, j := range b.h.machine.Jobs(nil) {
			j.Cores, j.Taking = slices.Clone(j.Cores), slices.Clone(j.Taking)
			jobs[j.Job.ID] = j
		}
		close(done)
	})
	select {
	case <-done:
	case <-time.After(patience):
		require.Fail(b.t, "the iHypervisor doesn't answer")
	}
	return jobs
}

// eventually waits until jobs own so many cores, -1 for one that has ended, and their processes are
// where the ledger says.
func (b *bed) eventually(want map[invasive.JobID]int) {
	b.t.Helper()
	var why string
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if why = b.differs(want); why == "" {
			return
		}
	}
	require.Fail(b.t, why)
}

func (b *bed) differs(want map[invasive.JobID]int) string {
	jobs := b.state()
	for id, n := range want {
		j, ok := jobs[id]
		b.mu.Lock()
		_, ended := b.ended[id]
		b.mu.Unlock()
		switch {
		case n < 0 && !ended:
			return fmt.Sprintf("job %d hasn't ended: %v", id, j.State)
		case n >= 0 && (!ok || len(j.Cores) != n || j.Taking != nil):
			return fmt.Sprintf("job %d owns %v, asked for %v, %v", id, j.Cores, j.Taking, j.State)
		case n > 0:
			if why := b.misplaced(j); why != "" {
				return why
			}
		}
	}
	return ""
}

// misplaced compares a job's processes with the ledger.
func (b *bed) misplaced(j invasive.Held) string {
	want := malleable.FormatList(b.topology.cpusOf(j.Cores))
	pids := b.h.launcher.(*launch.Launcher).Processes(j.Job.ID)
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:\t")
		if got, _, _ := strings.Cut(rest, "\n"); got != want {
			return fmt.Sprintf("process %d of job %d may run on %s, the ledger says %s", pid, j.Job.ID, got, want)
		}
	}
	if len(pids) == 0 {
		return fmt.Sprintf("job %d has no process", j.Job.ID)
	}
	return ""
}

func (b *bed) endAll() { require.NoError(b.t, os.WriteFile(b.stop, nil, 0o600)) }

func (b *bed) exit(id invasive.JobID) int32 {
	b.t.Helper()
	b.eventually(map[invasive.JobID]int{id: -1})
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended[id]
}

func (b *bed) output(id invasive.JobID) string {
	text, err := os.ReadFile(filepath.Join(b.root, "output", strconv.Itoa(int(id))+".out"))
	require.NoError(b.t, err)
	return string(text)
}

// killAll ends what a failed test has left.
func (b *bed) killAll() {
	l := launch.New(launch.Config{Dir: filepath.Join(b.root, "state", "jobs")})
	seen, _ := l.Find()
	for _, s := range seen {
		if !s.Exited {
			l.Signal(s.ID, unix.SIGKILL)
			l.Wait(s.ID)
		}
	}
}

// hasBoth waits until a job has seen that it has the cores 0 and 1.
func (b *bed) hasBoth(id invasive.JobID) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return strings.HasSuffix(b.output(id), "cores 0-1\n") }, patience, time.Millisecond)
}

func itoa(n int) string { return strconv.Itoa(n) }
