// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ihypervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/link/linktest"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// runKilled is an iHypervisor that kills itself at its n-th step; with n = 0 it runs until SIGTERM,
// and leaves the number of its steps in the file steps.
func runKilled(root, at string) error {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	topology, err := killedTopology()
	if err != nil {
		return err
	}
	c := config(root, self, topology)
	c.Grow = true
	var steps atomic.Int64
	c.Point = func(string) {
		if steps.Add(1) == n {
			unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	}
	endpoint := link.Endpoint{Network: "unix", Address: filepath.Join(root, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	c.Stats = &link.Stats{}
	if c.Listener, err = endpoint.Listen(link.RealClock{}, c.Stats); err != nil {
		return err
	}
	h, err := New(c)
	if err != nil {
		return err
	}
	return errors.Join(h.Run(ctx), os.WriteFile(filepath.Join(root, "steps"), fmt.Append(nil, steps.Load()), 0o600))
}

func killedTopology() (*Topology, error) {
	partition := size(1, 2)
	partition.Name = "invasic"
	return Simulate(partition, sysCPU, true)
}

// A killBed is an iHypervisor as a process, an iScheduler in this one, and jobs
// that count their starts.
type killBed struct {
	bed
	hypervisor *exec.Cmd
	exited     chan error
}

func newKillBed(t *testing.T) *killBed {
	self, err := os.Executable()
	require.NoError(t, err)
	root := t.TempDir()
	topology, err := killedTopology()
	require.NoError(t, err)
	b := &killBed{bed: bed{t: t, root: root, self: self, topology: topology,
		stop: filepath.Join(root, "stop"), ended: map[invasive.JobID]int32{}}}
	b.endpoint = link.Endpoint{Network: "unix", Address: filepath.Join(root, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	t.Cleanup(func() {
		b.endAll()
		b.hypervisor.Process.Kill()
		<-b.exited
		b.killAll()
	})
	return b
}

// start starts an iHypervisor that dies at a step, and waits until it listens, or is dead.
func (b *killBed) start(at int) {
	b.hypervisor = exec.Command(b.self, "hypervisor", b.root, strconv.Itoa(at))
	b.hypervisor.Stderr = os.Stderr
	require.NoError(b.t, b.hypervisor.Start())
	cmd, exited := b.hypervisor, make(chan error, 2)
	b.exited = exited
	go func() {
		err := cmd.Wait()
		exited <- err
		exited <- err // for the end of the test
	}()
	require.Eventually(b.t, func() bool {
		c, err := b.endpoint.Dial(context.Background())
		if err == nil {
			c.Close()
		}
		return err == nil || len(exited) > 0
	}, patience, time.Millisecond)
}

// counts is a job that writes a line each time it is started.
func (b *killBed) counts(id invasive.JobID, then string) *invasive.Job {
	script := fmt.Sprintf("echo started >>'%s/count%d'; %s", b.root, id, then)
	return &invasive.Job{ID: id, MinCores: 1, MaxCores: 1, Args: []string{"sh", "-c", script}}
}

// grows is a malleable one of 1 or 2 cores.
func (b *killBed) grows(id invasive.JobID) *invasive.Job {
	j := b.counts(id, fmt.Sprintf("exec '%s' job adapt '%s'", b.self, b.stop))
	j.Flex, j.MaxCores = invasive.Malleable, 2
	return j
}

// said is what a job has written so far.
func (b *killBed) said(id invasive.JobID) string {
	text, _ := os.ReadFile(filepath.Join(b.root, "output", fmt.Sprintf("%d.out", id)))
	return string(text)
}

const both = "cores 0-1\n"

// scenario has a malleable job on both cores, an urgent one that takes one of them, one that comes
// later, and the first one grow again. The iHypervisor dies at a step, and another takes over.
func (b *killBed) scenario(at int) {
	b.start(at)
	b.startScheduler()
	b.submit(b.grows(1), b.counts(2, "sleep 0.02"), urgent(b.counts(3, "exit 4")))
	for until := time.Now().Add(patience); len(b.jobsEnded()) < 3; time.Sleep(2 * time.Millisecond) {
		if ended := b.jobsEnded(); ended[2] && ended[3] {
			if strings.HasSuffix(b.said(1), both) {
				b.endAll()
			}
		}
		if len(b.exited) > 0 {
			linktest.Killed(b.t, <-b.exited)
			b.areSaved()
			b.start(0)
		}
		require.True(b.t, time.Now().Before(until), "only these have ended: %v", b.jobsEnded())
	}
}

func (b *killBed) jobsEnded() map[invasive.JobID]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := map[invasive.JobID]bool{}
	for id := range b.ended {
		list[id] = true
	}
	return list
}

// areSaved checks, once the iHypervisor is dead, that jobs run nowhere but on cores that its
// journal says are theirs: the next one goes by that, and would give the others away.
func (b *killBed) areSaved() {
	b.t.Helper()
	j := linktest.Journal(b.t, filepath.Join(b.root, "state", "journal"), patience)
	defer j.Close()
	l := launch.New(launch.Config{Dir: filepath.Join(b.root, "state", "jobs")})
	_, err := l.Find()
	require.NoError(b.t, err)
	for _, s := range j.Saved() {
		cpus := b.topology.cpusOf(s.Cores)
		for _, pid := range l.Processes(s.Job.ID) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil || strings.Contains(string(text), "State:\tT") || strings.Contains(string(text), "State:\tZ") {
				continue
			}
			_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:\t")
			list, _, _ := strings.Cut(rest, "\n")
			on, err := malleable.ParseList(list)
			require.NoError(b.t, err)
			for _, cpu := range on {
				require.Contains(b.t, cpus, cpu, "process %d of job %d may run on %s, and cores %v are saved", pid, s.Job.ID, list, s.Cores)
			}
		}
	}
}

// finish checks that every job has run once, and that the iHypervisor ends in order. It returns
// its number of steps.
func (b *killBed) finish() int {
	for id := range invasive.JobID(3) {
		text, err := os.ReadFile(filepath.Join(b.root, fmt.Sprintf("count%d", id+1)))
		require.NoError(b.t, err)
		require.Equal(b.t, 1, strings.Count(string(text), "started"), "starts of job %d", id+1)
	}
	require.Equal(b.t, map[invasive.JobID]int32{1: 0, 2: 0, 3: 4}, b.ended)
	b.hypervisor.Process.Signal(unix.SIGTERM)
	if err := <-b.exited; err != nil { // its step came at the very end
		linktest.Killed(b.t, err)
		b.start(0)
		require.NoError(b.t, b.hypervisor.Process.Signal(unix.SIGTERM))
		require.NoError(b.t, <-b.exited)
	}
	text, err := os.ReadFile(filepath.Join(b.root, "steps"))
	require.NoError(b.t, err)
	steps, err := strconv.Atoi(string(text))
	require.NoError(b.t, err)
	return steps
}

// The iHypervisor is killed at its steps: before, within and after each write of its journal,
// and before each of its actions. Whatever was under way, no job is started twice, none is lost,
// and each end is told.
func TestKilledAtSteps(t *testing.T) {
	b := newKillBed(t)
	b.scenario(0)
	steps := b.finish()
	require.Greater(t, steps, 40)
	stride := 1
	if os.Getenv("AUCSCHED_INVASIVE_KILLS") == "" {
		stride = max(1, steps/6)
		t.Logf("only every %dth of %d steps: AUCSCHED_INVASIVE_KILLS=1 takes all", stride, steps)
	}
	for at := 1 + stride/2; at <= steps; at += stride {
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			b := newKillBed(t)
			b.scenario(at)
			b.finish()
		})
	}
}

// The iHypervisor is killed when a job has seen that it has grown again: the
// cores are saved by then.
func TestKilledOnceGrown(t *testing.T) {
	b := newKillBed(t)
	b.start(0)
	b.startScheduler()
	b.submit(b.grows(1))
	require.Eventually(t, func() bool { return b.said(1) == both }, patience, time.Millisecond)
	b.submit(urgent(b.counts(2, "exit 4")))
	require.Eventually(t, func() bool { return strings.Count(b.said(1), both) == 2 }, patience, time.Millisecond)
	require.NoError(t, b.hypervisor.Process.Kill())
	linktest.Killed(b.t, <-b.exited)
	b.areSaved()
	b.start(0)
	b.endAll()
	require.Eventually(t, func() bool { return len(b.jobsEnded()) == 2 }, patience, time.Millisecond)
}
