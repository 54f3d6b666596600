// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package agents

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A world has a real Head and real Agents in simulated time, with machines and a ledger of paper.
type world struct {
	t        *testing.T
	random   *rand.Rand
	dir      string
	machines []*machine
	changing atomic.Int32 // heads and agents that die and come back

	mu     sync.Mutex
	faults []string
	head   *Head // nil: it is dead
	fuse   int   // steps until the head dies
	agents []*Agent
	hands  []*hand
	conns  []*duct
	ledger []invasive.JobID // who owns a core
	jobs   map[invasive.JobID]*entry
	last   invasive.JobID
	asks   map[uint64]*question
	begun  map[invasive.JobID]*machine
	kills  map[invasive.JobID]bool
}

// shared is a source for several goroutines.
type shared struct {
	mu   sync.Mutex
	from *rand.PCG
}

func (s *shared) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from.Uint64()
}

// An entry is a job of the ledger.
type entry struct {
	home   int
	busy   bool // its cores are being changed
	over   bool
	code   int32
	ending bool // it was told to
}

// A question is a process that waits for a command.
type question struct {
	job   invasive.JobID
	place int
	gone  bool
	conn  *duct
	over  bool
}

const (
	worldNodes = 3
	worldCores = 2
	worldLost  = 20 * time.Second
)

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *world) begins(id invasive.JobID, m *machine) {
	w.mu.Lock()
	before := w.begun[id]
	w.begun[id] = m
	w.mu.Unlock()
	if before != nil {
		w.fail("command %d is begun twice", id)
	}
}

func (w *world) killed(id invasive.JobID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kills[id] = true
}

// log is of use with -v.
func (w *world) log(who string) *slog.Logger {
	if !testing.Verbose() {
		return quiet
	}
	return slog.New(slog.NewTextHandler(os.Stdout, nil)).With("who", who)
}

func newWorld(t *testing.T, seed uint64, dir string) *world {
	w := &world{t: t, random: rand.New(&shared{from: rand.NewPCG(seed, 7)}), dir: dir, fuse: -1, agents: make([]*Agent, worldNodes),
		hands: make([]*hand, worldNodes), conns: make([]*duct, worldNodes), ledger: make([]invasive.JobID, worldNodes*worldCores),
		jobs: map[invasive.JobID]*entry{}, asks: map[uint64]*question{},
		begun: map[invasive.JobID]*machine{}, kills: map[invasive.JobID]bool{}}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "jobs"), 0o700))
	h := newHead(HeadConfig{State: dir}) // nodes have the numbers of their machines
	h.shape = shape{1, worldCores}
	for k := range worldNodes {
		h.nodes = append(h.nodes, &node{number: k, savedNode: savedNode{fmt.Sprint("n", k), "disk"}})
	}
	require.NoError(t, h.saveNodes())
	for k := range worldNodes {
		m := &machine{w: w, number: k, dir: filepath.Join(dir, fmt.Sprint("node", k)),
			procs: map[invasive.JobID]*proc{}, over: map[invasive.JobID]bool{}}
		for _, sub := range []string{"jobs", "parts", "nodes"} {
			require.NoError(t, os.MkdirAll(filepath.Join(m.dir, sub), 0o700))
		}
		w.machines = append(w.machines, m)
	}
	return w
}

// startHead has a head take over the ledger.
func (w *world) startHead() {
	h := newHead(HeadConfig{State: w.dir, JobsDir: filepath.Join(w.dir, "jobs"), Nodes: worldNodes, LostAfter: worldLost,
		Log: w.log("head")})
	h.door, h.admits = io.NopCloser(nil), func(string) bool { return true }
	h.Point = func(string) {
		w.mu.Lock()
		w.fuse--
		burnt := w.fuse == 0
		w.mu.Unlock()
		if burnt {
			go w.killHead()
			runtime.Goexit() // it is dead
		}
	}
	require.NoError(w.t, h.loadNodes())
	h.missAll()
	seen, err := h.Find()
	require.NoError(w.t, err)
	w.mu.Lock()
	w.head = h
	known := map[invasive.JobID]bool{}
	for _, s := range seen {
		known[s.ID] = true
	}
	var again []invasive.JobID
	for id, e := range w.jobs {
		if e.busy = true; !e.over {
			again = append(again, id)
		}
	}
	slices.Sort(again)
	w.mu.Unlock()
	for _, s := range seen {
		if !slices.Contains(again, s.ID) {
			require.NoError(w.t, h.Forget(s.ID))
		}
	}
	for _, id := range again {
		go w.run(h, id, w.coresOf(id), known[id])
	}
	h.Connect(func(invasive.JobID, malleable.Request) {}, func() {})
}

// run launches a job, or takes it over, and sees to its end.
func (w *world) run(h *Head, id invasive.JobID, cores []int, found bool) {
	if found {
		_ = h.Confine(id, cores, true)
	} else if err := h.Launch(&invasive.Job{ID: id, Args: []string{"x"}}, cores, nil); err != nil {
		w.fail("job %d is not launched: %v", id, err)
	}
	w.mu.Lock()
	if w.head == h {
		w.jobs[id].busy = false
	}
	w.mu.Unlock()
	code, err := h.Wait(id)
	if err != nil {
		return
	}
	w.mu.Lock()
	if w.head != h || w.jobs[id].over {
		w.mu.Unlock()
		return
	}
	e := w.jobs[id]
	e.over, e.code = true, code
	for c, owner := range w.ledger {
		if owner == id {
			w.ledger[c] = 0
		}
	}
	for _, q := range w.asks {
		if q.job == id && q.conn != nil {
			q.gone = true
			q.conn.Close()
		}
	}
	w.mu.Unlock()
	m := w.machines[e.home]
	m.mu.Lock()
	excuse := m.excuse
	m.mu.Unlock()
	if code != 0 && !(code == lostExit && excuse) && !(e.ending && code > 128) {
		w.fail("job %d has ended with %d, and nobody has asked for that", id, code)
	}
	_ = h.Forget(id)
}

func (w *world) coresOf(id invasive.JobID) (cores []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, owner := range w.ledger {
		if owner == id {
			cores = append(cores, c)
		}
	}
	return cores
}

func (w *world) killHead() {
	w.mu.Lock()
	h := w.head
	w.head, w.fuse = nil, -1
	w.mu.Unlock()
	if h != nil {
		_ = h.Close()
	}
}

// startAgent has an agent take over a machine, and join whatever head there is.
func (w *world) startAgent(k, fuse int) {
	m := w.machines[k]
	hd := &hand{machine: m, random: rand.New(rand.NewPCG(w.random.Uint64(), 1)), dead: make(chan struct{}), fuse: fuse}
	p := invasive.Partition{Nodes: 1, Sockets: 1, CoresPerSocket: worldCores}
	a := &Agent{AgentConfig: AgentConfig{Node: fmt.Sprint("n", k), State: m.dir, Log: w.log(fmt.Sprint("n", k)), Point: hd.step,
		Topology: &ihypervisor.Topology{Partition: p, CPUs: [][]int{{0}, {1}}}},
		disk: "disk", stop: make(chan struct{}), launcher: hd, server: deaf{},
		jobs: map[invasive.JobID]*local{}, clients: map[uint64]*client{}}
	hd.agent, w.hands[k] = a, hd
	go func() { // it may die at once
		if err := a.find(); err != nil {
			w.fail("agent %d: %v", k, err)
			return
		}
		hd.live()
		w.mu.Lock()
		if w.hands[k] == hd {
			w.agents[k] = a
		}
		w.mu.Unlock()
		for {
			w.join(k, a, hd)
			select {
			case <-hd.dead:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
}

// join is a connection of an agent to the head.
func (w *world) join(k int, a *Agent, hd *hand) {
	w.mu.Lock()
	h := w.head
	select {
	case <-hd.dead:
		h = nil
	default:
	}
	if h == nil {
		w.mu.Unlock()
		return
	}
	ours, theirs := newDuct(w.random.Uint64(), 20*time.Millisecond)
	w.conns[k] = ours
	w.mu.Unlock()
	go func() {
		defer theirs.Close()
		if serve, err := h.letIn(lines.New(theirs)); err == nil {
			serve()
		}
	}()
	_ = a.serveHead(lines.New(ours), "")
}

// cut ends a node's connection to the head.
func (w *world) cut(k int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conns[k] != nil {
		w.conns[k].cut()
	}
	for _, q := range w.asks {
		if e := w.jobs[q.job]; e.home == k && q.conn != nil && w.hands[k] != nil {
			select {
			case <-w.hands[k].dead:
				q.conn.Close() // its agent has died
			default:
			}
		}
	}
}

func (w *world) killAgent(k int) {
	w.mu.Lock()
	hd := w.hands[k]
	w.agents[k], w.hands[k] = nil, nil
	if hd != nil {
		hd.die()
		close(hd.agent.stop)
	}
	for _, q := range w.asks {
		if w.jobs[q.job].home == k && q.conn != nil {
			q.conn.Close()
		}
	}
	w.mu.Unlock()
	w.cut(k)
}

// ask is a process of a job that waits for a command, as crew.OnKept does.
func (w *world) ask(key uint64, q *question) {
	defer func() {
		w.mu.Lock()
		q.over = true
		w.mu.Unlock()
	}()
	for {
		w.mu.Lock()
		e := w.jobs[q.job]
		a, gone := w.agents[e.home], q.gone || e.over
		var ours *duct
		if a != nil && !gone {
			var theirs *duct
			ours, theirs = newDuct(key, 0)
			q.conn = ours
			c := &client{conn: lines.New(theirs), answer: make(chan answer, 1)}
			go func() {
				defer theirs.Close()
				if a.admit(c, q.job, &crew.OnRequest{Place: q.place, Key: key}) == nil {
					a.serve(c)
				}
			}()
		}
		w.mu.Unlock()
		if gone {
			return
		}
		var got crew.OnAnswer
		if ours != nil && lines.New(ours).Next(&got) == nil {
			ours.Close()
			w.heard(key, &got)
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// heard checks an answer: 0 means that the command has come to its end.
func (w *world) heard(key uint64, got *crew.OnAnswer) {
	w.mu.Lock()
	m, killed := w.begun[launchOf(key)], w.kills[launchOf(key)]
	w.mu.Unlock()
	switch {
	case got.Status == 0 && (m == nil || killed):
		w.fail("command %d has ended with 0, and was never begun, or killed", key)
	case got.Status != 0 && got.Status != crew.LostStatus && !killed:
		w.fail("command %d has ended with %d", key, got.Status)
	}
}
