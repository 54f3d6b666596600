// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package agents

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
)

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
	trace("job %d is given %v", id, cores)
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
		if id, _ := pick(); id != 0 {
			w.asksFor(id)
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
		w.changing.Add(1)
		go w.restartAgent(k, w.random.IntN(40)-10)
	case 10:
		if w.random.IntN(2) == 0 {
			w.fuse = 1 + w.random.IntN(4)
		}
		w.changing.Add(1)
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
				trace("job %d has given up %d", id, c)
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
	defer w.changing.Add(-1)
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
	defer w.changing.Add(-1)
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
	for w.changing.Load() > 0 {
		time.Sleep(10 * time.Millisecond)
	}
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
		w.endAll()
		time.Sleep(2 * worldLost)
	}
	synctest.Wait()
	w.look()
	for k := range w.machines {
		w.killAgent(k)
	}
	w.killHead()
	time.Sleep(time.Hour) // timers
}

// endAll has all first processes come to their end.
func (w *world) endAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, e := range w.jobs {
		m := w.machines[e.home]
		m.mu.Lock()
		p := m.procs[id]
		m.mu.Unlock()
		if p != nil {
			m.end(p, 0)
		}
	}
}

// look tells what is not as it should be once all is over.
func (w *world) look() {
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
			w.mu.Lock()
			defer w.mu.Unlock()
			require.Empty(t, w.faults, "AUCSCHED_AGENTS_SEED=%d", seed)
		})
		os.RemoveAll(dir)
	}
}
