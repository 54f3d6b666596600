// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ischeduler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/link/linktest"
	"github.com/aucsched/aucsched/invasive/place"
	"github.com/aucsched/aucsched/invasive/queue"
)

// runSide is one of the two programmes, which kills itself at its n-th step; with n = 0 it runs
// until SIGTERM. In the end it leaves the number of its steps in a file.
func runSide(side, root, at string) error {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return err
	}
	var steps atomic.Int64
	point := func(string) {
		if steps.Add(1) == n {
			unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	}
	endpoint := link.Endpoint{Network: "unix", Address: filepath.Join(root, "run", "socket"), Users: euid()}
	if side == "scheduler" {
		err = schedulerProcess(ctx, root, endpoint, point)
	} else {
		err = hypervisorProcess(ctx, root, endpoint, point)
	}
	return errors.Join(err, os.WriteFile(filepath.Join(root, side+".steps"), fmt.Append(nil, steps.Load()), 0o600))
}

func schedulerProcess(ctx context.Context, root string, e link.Endpoint, point func(string)) error {
	terms := invasive.Terms{Attempts: 3, Reply: 20 * time.Second, Report: 30 * time.Millisecond}
	s, err := Open(Config{Dir: filepath.Join(root, "s"), Dial: e.Dial, Terms: terms, Limit: 100, Queue: queue.DefaultOptions(),
		Random: rand.New(rand.NewPCG(1, 2)), Log: quiet(), Point: point})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	return errors.Join(s.Run(ctx), <-served, s.Close())
}

func hypervisorProcess(ctx context.Context, root string, e link.Endpoint, point func(string)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	partition := invasive.Partition{Name: "invasic", Nodes: 1, Sockets: 1, CoresPerSocket: 3}
	topology, err := ihypervisor.Simulate(partition, "/sys/devices/system/cpu", true)
	if err != nil {
		return err
	}
	trace, err := os.OpenFile(filepath.Join(root, "trace"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer trace.Close()
	stats := &link.Stats{}
	listener, err := e.Listen(link.RealClock{}, stats)
	if err != nil {
		return err
	}
	h, err := ihypervisor.New(ihypervisor.Config{
		State: filepath.Join(root, "state"), Output: filepath.Join(root, "output"),
		Topology: topology, Attempts: 3, Reply: 20 * time.Second,
		Report: 30 * time.Millisecond, Policy: place.Policy{Means: []invasive.How{invasive.Shrink, invasive.Suspend}, Horizon: 60},
		OfferEvery: 20 * time.Millisecond, Grow: true, Supervisor: []string{self, "supervise"},
		Listener: listener, Stats: stats, Log: quiet(),
		Point: point, Trace: func(line string) { _, _ = trace.WriteString(line + "\n") },
	})
	if err != nil {
		return err
	}
	return errors.Join(h.Run(ctx), listener.Close())
}

// A killBed is both programmes as processes, either of which dies at a step and is started again,
// and jobs that count their starts.
type killBed struct {
	t      *testing.T
	root   string
	client Client
	sides  map[string]*side
	traced int64            // of the trace, what was checked
	owners []invasive.JobID // of each core, then
}

type side struct {
	cmd    *exec.Cmd
	exited chan error
}

var sideNames = []string{"hypervisor", "scheduler"}

func newKillBed(t *testing.T) *killBed {
	root := t.TempDir()
	b := &killBed{t: t, root: root, client: Client{filepath.Join(root, "s")}, sides: map[string]*side{}, owners: make([]invasive.JobID, 3)}
	t.Cleanup(func() {
		b.write("stop")
		for _, s := range b.sides {
			_ = s.cmd.Process.Kill()
			<-s.exited
		}
		require.Eventually(t, func() bool { return !supervised(root) }, patience, 5*time.Millisecond)
	})
	return b
}

// supervised tells whether a supervisor of the directory is left, also one that comes late
// and has nothing to do.
func supervised(root string) bool {
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(commands, func(path string) bool {
		text, _ := os.ReadFile(path)
		return strings.Contains(string(text), "supervise\x00"+root)
	})
}

func (b *killBed) write(name string) {
	require.NoError(b.t, os.WriteFile(filepath.Join(b.root, name), nil, 0o600))
}

func (b *killBed) start(name string, at int) {
	self, err := os.Executable()
	require.NoError(b.t, err)
	s := &side{cmd: exec.Command(self, name, b.root, strconv.Itoa(at)), exited: make(chan error, 2)}
	s.cmd.Stderr = os.Stderr
	require.NoError(b.t, s.cmd.Start())
	b.sides[name] = s
	go func() {
		err := s.cmd.Wait()
		s.exited <- err
		s.exited <- err // for the end of the test
	}()
}

// restart starts those again that have killed themselves.
func (b *killBed) restart() {
	b.t.Helper()
	for _, name := range sideNames {
		s := b.sides[name]
		if len(s.exited) == 0 {
			continue
		}
		linktest.Killed(b.t, <-s.exited)
		if name == "hypervisor" {
			b.checkTrace()
		}
		b.start(name, 0)
	}
}

// checkTrace sees to it that no core was given twice, as far as the trace tells, and by the journal
// of the iHypervisor that has ended.
func (b *killBed) checkTrace() {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.root, "trace"))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(b.t, err)
	}
	for line := range strings.Lines(string(text[b.traced:])) {
		var id invasive.JobID
		var list string
		switch n, _ := fmt.Sscanf(line, "job %d owns cores %s", &id, &list); {
		case n == 2:
			b.own(id, cores(list))
		case strings.Contains(line, " ended with "):
			_, _ = fmt.Sscanf(line, "job %d", &id)
			b.own(id, nil)
		}
	}
	b.traced = int64(len(text))
	j := linktest.Journal(b.t, filepath.Join(b.root, "state", "journal"), patience)
	defer j.Close()
	clear(b.owners) // a last record may have no line
	for _, s := range j.Saved() {
		b.own(s.Job.ID, s.Cores)
	}
}

func (b *killBed) own(id invasive.JobID, cores []uint32) {
	b.t.Helper()
	for c, owner := range b.owners {
		if owner == id {
			b.owners[c] = 0
		}
	}
	for _, c := range cores {
		require.Zero(b.t, b.owners[c], "core %d is given to job %d", c, id)
		b.owners[c] = id
	}
}

// cores reads those of a line of the trace, as 0-1 or 0,2.
func cores(list string) (all []uint32) {
	for part := range strings.SplitSeq(list, ",") {
		var first, last uint32
		n, _ := fmt.Sscanf(part, "%d-%d", &first, &last)
		if n == 1 {
			last = first
		}
		for c := first; n > 0 && c <= last; c++ {
			all = append(all, c)
		}
	}
	return all
}

// submit submits a job until the iScheduler has it. One that died before it answered may have it
// too: then it lists it.
func (b *killBed) submit(name string, spec Spec, then string) {
	b.t.Helper()
	script := fmt.Sprintf("echo started >>'%s/%s.count'; %s", b.root, name, then)
	spec.Args, spec.Dir, spec.Env = []string{"sh", "-c", script}, b.root, []string{"PATH=" + os.Getenv("PATH")}
	b.until("job "+name+" to be taken", func() bool {
		list, err := b.client.List(context.Background())
		if err != nil {
			return false
		}
		for _, j := range list {
			if j.Args[2] == script {
				return true
			}
		}
		_, err = b.client.Submit(context.Background(), &spec)
		return err == nil
	})
}

func (b *killBed) until(what string, holds func() bool) {
	b.t.Helper()
	for late := time.Now().Add(2 * patience); !holds(); time.Sleep(5 * time.Millisecond) {
		b.restart()
		require.True(b.t, time.Now().Before(late), "waited for %s", what)
	}
}

func (b *killBed) counted(name string) int {
	text, _ := os.ReadFile(filepath.Join(b.root, name))
	return strings.Count(string(text), "\n")
}

// scenario has a malleable job on all cores, a normal one for which it shrinks, and an urgent one.
// Each side dies at its step, 0 for none.
func (b *killBed) scenario(hypervisor, scheduler int) {
	b.t.Helper()
	b.start("hypervisor", hypervisor)
	b.start("scheduler", scheduler)
	self, err := os.Executable()
	require.NoError(b.t, err)
	b.submit("malleable", Spec{Kind: "malleable", MinCores: 1, MaxCores: 3},
		fmt.Sprintf("exec '%s' adapt '%s'", self, filepath.Join(b.root, "stop")))
	b.submit("normal", Spec{}, "sleep 0.02; echo >>normal.end; exit 3")
	b.submit("urgent", Spec{Urgent: true}, "echo >>urgent.end; exit 4")
	b.until("the short jobs to end", func() bool { return b.counted("normal.end") > 0 && b.counted("urgent.end") > 0 })
	b.write("stop")
	b.until("all ends to be known", func() bool {
		st, err := b.client.Status(context.Background())
		return err == nil && st.Jobs == 0
	})
}

// finish ends both in order, and returns their numbers of steps.
func (b *killBed) finish() (steps [2]int) {
	b.t.Helper()
	for i, name := range []string{"scheduler", "hypervisor"} {
		s := b.sides[name]
		_ = s.cmd.Process.Signal(unix.SIGTERM)
		if err := <-s.exited; err != nil { // its step came at the very end
			linktest.Killed(b.t, err)
			b.start(name, 0)
			s = b.sides[name]
			time.Sleep(200 * time.Millisecond) // until it hears signals
			_ = s.cmd.Process.Signal(unix.SIGTERM)
			<-s.exited
		}
		text, _ := os.ReadFile(filepath.Join(b.root, name+".steps"))
		steps[1-i], _ = strconv.Atoi(string(text))
	}
	b.checkTrace()
	for _, name := range []string{"malleable", "normal", "urgent"} {
		require.Equal(b.t, 1, b.counted(name+".count"), "starts of the %s job", name)
	}
	require.Equal(b.t, []int{1, 1}, []int{b.counted("normal.end"), b.counted("urgent.end")})
	return steps
}

// Either side is killed at its steps: before, within and after each write of its journal,
// before each of its actions, and in the middle of launches; with normal, malleable and
// urgent jobs. Whatever was under way, no job is lost or started twice, no core has two
// owners, and all ends are told.
func TestKilledTogether(t *testing.T) {
	race.Slow(t)
	if _, err := ihypervisor.Simulate(invasive.Partition{Nodes: 1, Sockets: 1, CoresPerSocket: 3},
		"/sys/devices/system/cpu", true); err != nil {
		t.Skipf("this host doesn't tell its cores: %v", err)
	}
	b := newKillBed(t)
	b.scenario(0, 0)
	steps := b.finish()
	require.Greater(t, min(steps[0], steps[1]), 30)
	long := os.Getenv("AUCSCHED_INVASIVE_LONG") != ""
	if !long {
		t.Logf("only some of %d and %d steps: AUCSCHED_INVASIVE_LONG=1 takes all", steps[0], steps[1])
	}
	for i, name := range sideNames {
		stride := 1
		if !long {
			stride = max(1, steps[i]/4)
		}
		for at := 1 + stride/2; at <= steps[i]; at += stride {
			t.Run(name+"/"+strconv.Itoa(at), func(t *testing.T) {
				kill := [2]int{}
				kill[i] = at
				b := newKillBed(t)
				b.scenario(kill[0], kill[1])
				b.finish()
			})
		}
	}
}
