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
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

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
	changing sync.WaitGroup

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
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 7)), dir: dir, fuse: -1, agents: make([]*Agent, worldNodes),
		hands: make([]*hand, worldNodes), conns: make([]*duct, worldNodes), ledger: make([]invasive.JobID, worldNodes*worldCores),
		jobs: map[invasive.JobID]*entry{}, asks: map[uint64]*question{}, begun: map[invasive.JobID]*machine{}, kills: map[invasive.JobID]bool{}}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "jobs"), 0o700))
	h := newHead(HeadConfig{State: dir}) // nodes have the numbers of their machines
	h.shape = shape{1, worldCores}
	for k := range worldNodes {
		h.nodes = append(h.nodes, &node{number: k, savedNode: savedNode{fmt.Sprint("n", k), "disk"}})
	}
	require.NoError(t, h.saveNodes())
	for k := range worldNodes {
		m := &machine{w: w, number: k, dir: filepath.Join(dir, fmt.Sprint("node", k)), procs: map[invasive.JobID]*proc{}, over: map[invasive.JobID]bool{}}
		for _, sub := range []string{"jobs", "parts", "nodes"} {
			require.NoError(t, os.MkdirAll(filepath.Join(m.dir, sub), 0o700))
		}
		w.machines = append(w.machines, m)
	}
	return w
}

// startHead has a head take over the ledger.
func (w *world) startHead() {
	h := newHead(HeadConfig{State: w.dir, JobsDir: filepath.Join(w.dir, "jobs"), Nodes: worldNodes, LostAfter: worldLost, Log: w.log("head")})
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
		disk: "disk", stop: make(chan struct{}), launcher: hd, server: deaf{}, jobs: map[invasive.JobID]*local{}, clients: map[uint64]*client{}}
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

// free are cores that may be given away.
func (w *world) free() (cores []int) {
	if w.head == nil {
		return nil
	}
	away, _ := w.head.Away()
	for c, owner := range w.ledger {
		if owner == 0 && !away[c] {
			cores = append(cores, c)
		}
	}
	w.random.Shuffle(len(cores), func(i, j int) { cores[i], cores[j] = cores[j], cores[i] })
	return cores
}

// own notes new cores of a job in the ledger.
func (w *world) own(id invasive.JobID, cores []int) {
	if testing.Verbose() {
		fmt.Println(time.Now().Format("04:05.000"), "OWN", id, cores)
	}
	for _, c := range cores {
		w.ledger[c] = id
	}
}

// happens is one thing that happens.
func (w *world) happens() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var idle []invasive.JobID
	for id, e := range w.jobs {
		if !e.over && !e.busy {
			idle = append(idle, id)
		}
	}
	slices.Sort(idle)
	pick := func() (invasive.JobID, *entry) {
		if len(idle) == 0 {
			return 0, nil
		}
		id := idle[w.random.IntN(len(idle))]
		return id, w.jobs[id]
	}
	k := w.random.IntN(worldNodes)
	switch w.random.IntN(12) {
	case 0, 1:
		w.launches()
	case 2, 3:
		if id, e := pick(); e != nil && w.head != nil {
			w.resizes(id, e)
		}
	case 4, 5, 6:
		if id, e := pick(); e != nil {
			w.asksFor(id)
			_ = e
		}
	case 7:
		if id, e := pick(); e != nil { // its first process ends
			w.ends(id, e)
		}
	case 8:
		for _, q := range w.asks { // somebody who waits dies
			if !q.over && q.conn != nil {
				q.gone = true
				q.conn.Close()
				break
			}
		}
	case 9:
		go w.restartAgent(k, w.random.IntN(40)-10)
	case 10:
		if w.random.IntN(2) == 0 {
			w.fuse = 1 + w.random.IntN(4)
		}
		go w.restartHead(time.Duration(w.random.IntN(600)) * time.Millisecond)
	case 11:
		go w.cut(k)
	}
}

// launches has a job begin. The lock is held, here and below.
func (w *world) launches() {
	free := w.free()
	if len(free) == 0 {
		return
	}
	cores := free[:1+w.random.IntN(len(free))]
	slices.Sort(cores)
	w.last++
	id := w.last
	w.jobs[id] = &entry{home: cores[0] / worldCores, busy: true}
	w.own(id, cores)
	go w.run(w.head, id, slices.Clone(cores), false)
}

// resizes has a job get more cores, or give some up.
func (w *world) resizes(id invasive.JobID, e *entry) {
	h := w.head
	var cores, drop []int
	for c, owner := range w.ledger {
		if owner == id {
			cores = append(cores, c)
		}
	}
	if w.random.IntN(2) == 0 {
		more := w.free()
		more = more[:w.random.IntN(len(more)+1)]
		w.own(id, more)
		cores = append(cores, more...)
	} else {
		kept := 0
		for _, c := range cores {
			if c/worldCores == e.home {
				kept++
			}
		}
		cores = slices.DeleteFunc(cores, func(c int) bool {
			home := c/worldCores == e.home
			if w.random.IntN(2) == 0 || home && kept == 1 {
				return false
			}
			if home {
				kept--
			}
			drop = append(drop, c)
			return true
		})
	}
	slices.Sort(cores)
	e.busy = true
	go func() {
		err := h.Confine(id, cores, false)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.head != h {
			return // the next one has the cores of the ledger
		}
		e.busy = false
		for _, c := range drop {
			if err == nil && !e.over {
				w.ledger[c] = 0
				if testing.Verbose() {
					fmt.Println(time.Now().Format("04:05.000"), "FREE", id, c)
				}
			}
		}
	}()
}

func (w *world) asksFor(id invasive.JobID) {
	key := w.random.Uint64()>>1 | 1
	q := &question{job: id, place: w.random.IntN(len(w.ledger))}
	for c, owner := range w.ledger { // mostly one of its own
		if owner == id && w.random.IntN(3) > 0 {
			q.place = c
		}
	}
	w.asks[key] = q
	go w.ask(key, q)
}

// ends has a job's first process come to its end, or be told to.
func (w *world) ends(id invasive.JobID, e *entry) {
	if w.random.IntN(3) == 0 && w.head != nil {
		e.ending = true
		sig := []unix.Signal{unix.SIGTERM, unix.SIGKILL}[w.random.IntN(2)]
		go func(h *Head) { _ = h.Signal(id, sig) }(w.head)
		return
	}
	m := w.machines[e.home]
	m.mu.Lock()
	p := m.procs[id]
	m.mu.Unlock()
	if p != nil {
		m.end(p, 0)
	}
}

// restartAgent kills an agent; the next one dies after some steps too, if fuse is above 0.
func (w *world) restartAgent(k, fuse int) {
	w.changing.Add(1)
	defer w.changing.Done()
	w.killAgent(k)
	w.mu.Lock()
	pause := time.Duration(w.random.IntN(300)) * time.Millisecond
	if w.random.IntN(8) == 0 {
		pause += worldLost
		w.machines[k].mu.Lock()
		w.machines[k].excuse = true
		w.machines[k].mu.Unlock()
	}
	w.mu.Unlock()
	time.Sleep(pause)
	w.mu.Lock()
	if w.hands[k] == nil {
		w.startAgent(k, fuse)
	}
	w.mu.Unlock()
}

func (w *world) restartHead(pause time.Duration) {
	w.changing.Add(1)
	defer w.changing.Done()
	time.Sleep(pause)
	w.killHead()
	time.Sleep(pause)
	w.mu.Lock()
	there := w.head != nil
	w.mu.Unlock()
	if !there {
		w.startHead()
	}
}

// finish has all come to rest, and looks at what is left.
func (w *world) finish() {
	w.changing.Wait()
	synctest.Wait()
	w.mu.Lock()
	w.fuse = -1
	for k, hd := range w.hands {
		if hd == nil {
			w.startAgent(k, -1)
			continue
		}
		hd.mu.Lock()
		hd.fuse = -1
		hd.mu.Unlock()
	}
	dead := w.head == nil
	w.mu.Unlock()
	if dead {
		w.startHead()
	}
	time.Sleep(2 * askTime)
	for range 4 { // one that was not begun yet begins
		for id, e := range w.jobs {
			m := w.machines[e.home]
			m.mu.Lock()
			p := m.procs[id]
			m.mu.Unlock()
			if p != nil {
				m.end(p, 0)
			}
		}
		time.Sleep(2 * worldLost)
	}
	for id, e := range w.jobs {
		if !e.over {
			w.fail("job %d does not end: %s", id, w.stateOf(id))
		}
	}
	for key, q := range w.asks {
		if !q.over {
			w.fail("who waits for command %d has no answer", key)
		}
	}
	for k, m := range w.machines {
		if len(m.procs) > 0 || len(w.agents[k].known()) > 0 {
			w.fail("node %d: %d launches and jobs %v are left", k, len(m.procs), w.agents[k].known())
		}
		left, err := os.ReadDir(filepath.Join(m.dir, "parts"))
		if err != nil || len(left) > 0 {
			w.fail("node %d: records of launches are left: %v", k, left)
		}
	}
	if len(w.head.jobs) > 0 || len(w.head.commands) > 0 {
		w.fail("the head knows of %d jobs and %d commands", len(w.head.jobs), len(w.head.commands))
	}
	for k := range w.machines {
		w.killAgent(k)
	}
	w.killHead()
	time.Sleep(time.Hour) // timers
}

// stateOf is what the head and the job's home know of a job.
func (w *world) stateOf(id invasive.JobID) (text string) {
	if j := w.head.jobs[id]; j != nil {
		text = fmt.Sprintf("head: home %d known %v dead %v cores %v ledger %v", j.mark.Home, j.known, j.dead, j.cores, w.coresOf(id))
		for k, p := range j.parts {
			text += fmt.Sprintf(" part %d gen %d did %d err %q", k, p.gen, p.did, p.err)
		}
	}
	if l := w.agents[w.jobs[id].home].jobs[id]; l != nil {
		text += fmt.Sprintf("; home: first %d dropped %v commands %d", l.first, l.dropped, len(l.commands))
		if p := w.machines[w.jobs[id].home].procs[id]; p != nil {
			text += fmt.Sprintf(" ended %v", p.ended)
		}
	}
	return text
}

// Head and agents are the real ones; machines, network, time and who has which cores are of paper.
// Whoever dies when, no core is two jobs', no job and no command is begun twice, all that are asked
// for have an answer that is true, and nothing is left in the end.
func TestWorlds(t *testing.T) {
	worlds, from := 60, rand.Uint64N(1<<32)
	if text := os.Getenv("AUCSCHED_AGENTS_WORLDS"); text != "" {
		worlds = number(text)
	}
	if text := os.Getenv("AUCSCHED_AGENTS_SEED"); text != "" {
		from = uint64(number(text))
	}
	base := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "agents"); err == nil { // a sync takes no time there
		base = shm
		t.Cleanup(func() { os.RemoveAll(shm) })
	}
	for n := range worlds {
		seed := from + uint64(n)
		dir := filepath.Join(base, fmt.Sprint(seed))
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed, dir)
			w.startHead()
			for k := range w.machines {
				w.startAgent(k, -1)
			}
			time.Sleep(time.Second)
			pace := 20 + w.random.IntN(400)
			for range 100 {
				w.happens()
				time.Sleep(time.Duration(w.random.IntN(pace)) * time.Millisecond)
			}
			w.finish()
			require.Empty(t, w.faults, "AUCSCHED_AGENTS_SEED=%d", seed)
		})
		os.RemoveAll(dir)
	}
}
