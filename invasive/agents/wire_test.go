// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/lines/linestest"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/malleable"
)

var quiet = slog.New(slog.DiscardHandler)

// paperHead has two nodes of two cores, job 1 on cores 0 and 2 with its home on node 0, and job 2
// on core 3. A command of job 1 runs on core 2, and node 0 waits for it.
func paperHead(t testing.TB) *Head {
	h := &Head{HeadConfig: HeadConfig{JobsDir: t.TempDir(), Nodes: 2, LostAfter: time.Hour, Log: quiet, Point: func(string) {}},
		begun: true, connected: true, shape: shape{1, 2}, jobs: map[invasive.JobID]*job{}, commands: map[uint64]*asked{},
		changed: func() {}, handle: func(invasive.JobID, malleable.Request) {}}
	h.come = sync.NewCond(&h.mu)
	for k := range 2 {
		h.nodes = append(h.nodes, &node{number: k, joined: 1, ready: true, savedNode: savedNode{string(rune('a' + k)), "disk"},
			link: &session{wake: make(chan struct{}, 1)}})
	}
	require.NoError(t, h.Launch(&invasive.Job{ID: 1, Args: []string{"x"}}, []int{0, 2}, nil))
	require.NoError(t, h.Launch(&invasive.Job{ID: 2, Args: []string{"x"}}, []int{3}, nil))
	h.hear(h.nodes[0], &news{On: &on{ref: ref{1, 7}, Place: 2, Run: crew.Command{Argv: []string{"y"}}}})
	require.NotNil(t, h.commands[7])
	for _, n := range h.nodes {
		n.link.out = nil
	}
	return h
}

// What a node says of jobs and commands that are none of its own is not believed.
func TestNodesAreNotBelieved(t *testing.T) {
	h := paperHead(t)
	other := h.nodes[1]
	for _, lie := range []news{
		{Ended: &ended{Job: 1}}, {Ended: &ended{Job: 99}}, {Off: 7}, {Got: 7}, {Did: &did{Job: 1, Gen: 99}},
		{Said: &said{Job: 1, Line: "done 1"}}, {Did: &did{Job: 99}}, {Ran: &ran{ref: ref{1, 8}}},
	} {
		h.hear(other, &lie)
	}
	h.hear(h.nodes[0], &news{Ran: &ran{ref: ref{1, 7}}})
	require.False(t, h.jobs[1].dead)
	require.False(t, h.commands[7].done)
	require.Empty(t, h.nodes[0].link.out)
	require.Empty(t, other.link.out)
	for place, says := range map[int]string{3: "place 3 is not the job's", -1: "place -1", 1 << 40: "place"} {
		h.hear(h.nodes[0], &news{On: &on{ref: ref{1, 9}, Place: place}})
		last := h.nodes[0].link.out[len(h.nodes[0].link.out)-1]
		require.Contains(t, last.Answer.Error, says)
		require.Equal(t, crew.LostStatus, last.Answer.Status)
	}
	h.hear(other, &news{On: &on{ref: ref{2, 7}, Place: 3}})
	require.Contains(t, other.link.out[len(other.link.out)-1].Answer.Error, "another job's")
	h.hear(other, &news{Ran: &ran{ref: ref{1, 7}, Status: 3}})
	require.Equal(t, 3, h.nodes[0].link.out[len(h.nodes[0].link.out)-1].Answer.Status)
}

// A command is ended if nobody waits for it any more: who has asked for it has said so, or has not
// asked again in time after its node was away, or nobody has since a new head is there.
func TestNobodyWaits(t *testing.T) {
	h := paperHead(t)
	h.hear(h.nodes[0], &news{Off: 7})
	require.Equal(t, []order{{Stop: &stop{ref: ref{1, 7}}}}, h.nodes[1].link.out)
	h.hear(h.nodes[1], &news{Ran: &ran{ref{1, 7}, 143}})
	require.Equal(t, &ref{1, 7}, h.nodes[1].link.out[1].Thank)
	require.Empty(t, h.commands)

	h = paperHead(t)
	h.LostAfter = time.Millisecond
	h.hear(h.nodes[1], &news{Has: &ref{1, 8}})
	h.hear(h.nodes[1], &news{Has: &ref{1, 9}})
	h.hear(h.nodes[0], &news{On: &on{ref: ref{1, 9}, Place: 2}})
	require.Eventually(t, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.commands[8].off == doubted
	}, 60*time.Second, time.Millisecond)
	time.Sleep(5 * time.Millisecond)
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Equal(t, waited, h.commands[9].off, "somebody has asked")
	require.Equal(t, waited, h.commands[7].off)
	last := h.nodes[1].link.out[len(h.nodes[1].link.out)-1]
	require.Equal(t, &stop{ref{1, 8}, true}, last.Stop, "it is known if somebody asks after all")
}

// A job that was found, and has no core where its first process is, ends; else
// nobody could be let in.
func TestAdrift(t *testing.T) {
	h := paperHead(t)
	require.ErrorContains(t, h.Confine(1, []int{2, 3}, false), "are elsewhere")
	require.False(t, h.jobs[1].dead, "a job whose cores are known keeps them")
	require.Equal(t, []uint32{0, 2}, h.jobs[1].cores)
	for _, drift := range []func(*Head) error{
		func(h *Head) error { return h.Confine(1, []int{2}, true) }, func(h *Head) error { return h.Halt(1) },
	} {
		again := paperHead(t)
		again.JobsDir, again.begun, again.begin = h.JobsDir, false, make(chan struct{})
		again.jobs = map[invasive.JobID]*job{}
		seen, err := again.Find()
		require.NoError(t, err)
		require.Len(t, seen, 2)
		require.NoError(t, again.Confine(2, []int{3}, true))
		require.False(t, again.begun)
		require.Error(t, drift(again))
		require.True(t, again.begun)
		require.True(t, again.jobs[1].dead)
	}
}

func TestHelloIsChecked(t *testing.T) {
	for want, change := range map[string]func(*hello){
		"must have 1 to": func(h *hello) { h.Node = "" },
		"no space":       func(h *hello) { h.Node = "a\nb" },
		"no slash":       func(h *hello) { h.Node = "../b" },
		"no name":        func(h *hello) { h.Disk = "" },
	} {
		h := hello{Node: "n", Disk: "d", Sockets: 1, Cores: 1}
		require.NoError(t, h.check())
		change(&h)
		require.ErrorContains(t, h.check(), want)
	}
}

// A node of a shape that can't be is turned away, be it the first: nothing of it is kept, and
// another may be the first. A kept one is looked at as well.
func TestShapesOfNodes(t *testing.T) {
	for _, c := range []struct {
		nodes          int
		sockets, cores uint32
		want           string
	}{
		{1, 0, 1, "0 sockets of 1 cores: must be 1"}, {1, 1, 0, "must be 1"}, {1, 1, 70000, "of 70000 cores: must be"},
		{1, 65536, 65536, "at most 16777216 cores"}, {1, 65536, 257, "at most"}, {1, 32768, 1024, "at most"},
		{65536, 1, 257, "at most"}, {65536, 16, 16, ""}, {1, 256, 65536, ""}, {2, 256, 65536, "at most"},
	} {
		dir := t.TempDir()
		open := func() (*Head, error) {
			return OpenHead(HeadConfig{State: filepath.Join(dir, "head"), Listen: "127.0.0.1:0",
				Invitation: filepath.Join(dir, "invitation"), Nodes: c.nodes, Log: quiet})
		}
		h, err := open()
		require.NoError(t, err)
		join := func(s shape) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			_, err := h.nodeOf(&hello{Node: "n", Disk: "d", Sockets: s.Sockets, Cores: s.Cores})
			return err
		}
		err = join(shape{c.sockets, c.cores})
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
			require.NoFileExists(t, h.nodesFile())
			require.NoError(t, join(shape{1, 2}), "another is the first")
		}
		require.NoError(t, h.Close())
		h, err = open()
		require.NoError(t, err)
		require.NoError(t, h.Close())
		if c.want == "" {
			continue
		}
		h.shape = shape{c.sockets, c.cores}
		require.NoError(t, h.saveNodes())
		_, err = open()
		require.ErrorContains(t, err, h.nodesFile())
	}
}

// FuzzNews: whatever a node says, the head keeps its jobs' cores, and says no
// more than it is asked.
func FuzzNews(f *testing.F) {
	for _, n := range []news{
		{Hello: &hello{Secret: "s", Node: "a", Disk: "d", Sockets: 1, Cores: 2}}, {Ready: true}, {Did: &did{Job: 1, Gen: 1, Error: "e"}},
		{Ended: &ended{Job: 1, Code: -1}}, {Said: &said{Job: 1, Line: "hello 1"}}, {Said: &said{Job: 1, Gone: true}}, {Off: 7}, {Got: 7},
		{On: &on{ref: ref{1, 8}, Place: 2, Run: crew.Command{Argv: []string{"a"}, Env: []string{"A=b"}, Dir: "/"}}},
		{Ran: &ran{ref{1, 7}, 3}}, {Has: &ref{1, 9}},
	} {
		text, err := json.Marshal(n)
		require.NoError(f, err)
		f.Add(append(text, '\n'), text)
	}
	h := paperHead(f)
	f.Fuzz(func(t *testing.T, one, two []byte) {
		said := 0
		for k, text := range [][]byte{one, two} {
			l := lines.New(linestest.Read(text))
			for {
				var n news
				err := l.Next(&n)
				if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrTooLong) {
					break
				}
				if err == nil {
					h.hear(h.nodes[k], &n)
					said++
				}
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		require.LessOrEqual(t, len(h.nodes[0].link.out)+len(h.nodes[1].link.out), 2*said)
		require.Len(t, h.jobs, 2)
		require.True(t, h.jobs[1].dead || len(h.jobs[1].cores) == 2)
		require.True(t, h.jobs[2].dead || len(h.jobs[2].cores) == 1)
		h.nodes[0].link.out, h.nodes[1].link.out = nil, nil
		if h.jobs[1].dead || h.jobs[2].dead || len(h.commands) > 100 {
			h.jobs[1].dead, h.jobs[2].dead, h.commands = false, false, map[uint64]*asked{}
		}
	})
}

// FuzzOrders: whatever a head says, the agent does not fall over, and nothing is begun twice. It
// has no supervisor, so nothing is begun at all.
func FuzzOrders(f *testing.F) {
	for _, o := range []order{
		{Part: &part{Job: 1, Gen: 1, Cores: []int{0, 1, 9}, Home: true, Work: &work{Args: []launch.Word{launch.Word("x")}}}},
		{Part: &part{Job: 1, Gen: 2, Cores: []int{0}, Signal: 9}}, {Part: &part{Job: 1, Gen: 3, Over: true}},
		{Sync: &roll{Jobs: []invasive.JobID{1}}},
		{Start: &start{ref{1, 7}, 0, crew.Command{Argv: []string{"y"}}}}, {Stop: &stop{ref: ref{1, 7}}}, {Thank: &ref{1, 7}}, {Drop: 1},
		{Change: &change{Job: 1, Line: "cores 1 0-1 0-1", Nodes: "0 a\n"}}, {Answer: &answer{Key: 7, Error: "e"}},
	} {
		text, err := json.Marshal(o)
		require.NoError(f, err)
		f.Add(append(text, '\n'))
	}
	a := newTestAgent(f, nil)
	f.Cleanup(func() { require.NoError(f, a.close()) })
	end, _ := newDuct(1, 0)
	end.cut()
	conn := lines.New(end) // nobody hears what the agent says
	f.Fuzz(func(t *testing.T, text []byte) {
		l := lines.New(linestest.Read(text))
		for {
			var o order
			err := l.Next(&o)
			if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrTooLong) {
				break
			}
			if err == nil && o.Sync == nil && o.check() == nil {
				a.obey(conn, &o)
			}
		}
		for _, id := range a.known() {
			a.obey(conn, &order{Drop: id})
		}
		require.Eventually(t, func() bool { return len(a.known()) == 0 }, 60*time.Second, time.Millisecond)
		for _, kept := range []string{"jobs", "parts", "nodes"} {
			left, err := os.ReadDir(a.path(kept))
			require.NoError(t, err)
			require.Empty(t, left, "nothing is left of a job that is over")
		}
	})
}

// Connections of strangers who say nothing, or half of it, keep no agent out.
func TestIdleConnectionsKeepNoAgentOut(t *testing.T) {
	for _, said := range []string{"", "\x16\x03\x01"} {
		dir := t.TempDir()
		invitation := filepath.Join(dir, "invitation")
		h, err := OpenHead(HeadConfig{State: filepath.Join(dir, "head"), Listen: "127.0.0.1:0", Invitation: invitation,
			Nodes: 1, Log: quiet})
		require.NoError(t, err)
		text, err := os.ReadFile(invitation)
		require.NoError(t, err)
		i, err := lines.Parse(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		linestest.Flood(t, i.Address, 300, said)
		a := newTestAgent(t, func() (lines.Invitation, error) { return i, nil })
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- a.Run(ctx) }()
		within, cancel := context.WithTimeout(t.Context(), patience)
		_, err = h.Gather(within, "p")
		cancel()
		require.NoError(t, err)
		stop()
		require.NoError(t, <-over)
		require.NoError(t, h.Close())
	}
}

// Commands get what they were asked for with and where they are, but of the agent's environment no
// more than a list of names.
func TestEnvironmentOfCommands(t *testing.T) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		t.Setenv(name, "") // so that it is back afterwards
		require.NoError(t, os.Unsetenv(name))
	}
	for name, value := range map[string]string{"AGENT_SECRET": "x", "LD_PRELOAD": "/x", "LC_ALL": "C", "TZ": "UTC", "HOME": "/agent",
		"PATH": "/agent/bin", "TZ_SECRET": "x", "HOMER": "x"} {
		t.Setenv(name, value)
	}
	nobody, err := user.LookupId("65534")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		user *syscall.Credential
		want []string
	}{
		"the agent's user": {nil, []string{"HOME=/agent", "PATH=/agent/bin"}},
		"nobody": {&syscall.Credential{Uid: 65534, Gid: 65534}, []string{"HOME=" + nobody.HomeDir,
			"PATH=" + launch.DefaultPath, "USER=" + nobody.Username, "LOGNAME=" + nobody.Username}},
		"one without a name": {&syscall.Credential{Uid: 4000000000}, []string{"PATH=" + launch.DefaultPath}},
	} {
		a := &Agent{AgentConfig: AgentConfig{State: "/s", Credential: c.user}}
		got := a.commandEnv(1, []string{"A=b=c", "LC_ALL=other", "AUCSCHED_CREW_KEPT=0"})
		want := append(c.want, "A=b=c", "LC_ALL=other", "TZ=UTC", "AUCSCHED_INVASIVE=/s/run/jobs", "AUCSCHED_CREW_ON=/s/run/on",
			"AUCSCHED_CREW_NODES=/s/nodes/1", "AUCSCHED_CREW_KEPT=1")
		require.ElementsMatch(t, want, got, name)
	}
}

// newTestAgent is one of a node of two cores, which launches nothing.
func newTestAgent(t testing.TB, invitation func() (lines.Invitation, error)) *Agent {
	dir := t.TempDir()
	topology, err := ihypervisor.Simulate(invasive.Partition{Nodes: 1, Sockets: 1, CoresPerSocket: 2}, "/sys/devices/system/cpu", true)
	require.NoError(t, err)
	a, err := NewAgent(AgentConfig{Node: "n", Topology: topology, State: filepath.Join(dir, "state"), Output: filepath.Join(dir, "out"),
		Supervisor: []string{"/nonexistent"}, Invitation: invitation, Log: quiet})
	require.NoError(t, err)
	return a
}

// A process that asks before its launch is known is let in when it is; one that
// is of no job is not.
func TestJustBegun(t *testing.T) {
	a := newTestAgent(t, nil)
	defer func() { require.NoError(t, a.close()) }()
	late := &lateLauncher{launcher: a.launcher, at: time.Now().Add(100 * time.Millisecond)}
	a.launcher = late
	id, ok := a.jobSoon(link.Peer{PID: 7, UID: uint32(os.Geteuid())})
	require.True(t, ok)
	require.EqualValues(t, 5, id)
	late.at = time.Now().Add(time.Hour)
	_, ok = a.jobSoon(link.Peer{PID: 7, UID: uint32(os.Geteuid())})
	require.False(t, ok)
	require.Zero(t, a.unknown.Load())
}

// lateLauncher knows whose a process is from a time on.
type lateLauncher struct {
	launcher
	at time.Time
}

func (l *lateLauncher) JobOf(int, uint32) (invasive.JobID, bool) { return 5, time.Now().After(l.at) }

func (a *Agent) known() (list []invasive.JobID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.jobs {
		list = append(list, id)
	}
	return list
}
