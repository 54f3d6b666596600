// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A machine is a node of paper: it has the processes, and what is on the disk, and outlives agents.
type machine struct {
	w      *world
	number int
	dir    string

	mu    sync.Mutex
	procs map[invasive.JobID]*proc // by launch
	over  map[invasive.JobID]bool  // launches that are forgotten
	// A lost process may have been forgotten with the disk that it was on.
	excuse bool
}

// A proc is a launch that is not forgotten.
type proc struct {
	job    invasive.JobID
	cores  []int
	polite bool
	ended  bool
	code   int32
	done   chan struct{}
	at     time.Time
}

func (m *machine) end(p *proc, code int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !p.ended {
		trace("ends: on node %d, of job %d, on cores %v, with %d", m.number, p.job, p.cores, code)
		p.ended, p.code = true, code
		close(p.done)
	}
}

// check has no core be two jobs'. The lock is held.
func (m *machine) check(what string) {
	by := map[int]invasive.JobID{}
	for _, p := range m.procs {
		for _, c := range p.cores {
			if p.ended {
				continue
			}
			if by[c] != 0 && by[c] != p.job {
				m.w.fail("%s: core %d of node %d is of jobs %d and %d", what, c, m.number, by[c], p.job)
			}
			by[c] = p.job
		}
	}
}

// A hand is an agent's on its machine. When the agent has died whoever uses it comes to an end.
type hand struct {
	*machine
	agent  *Agent
	random *rand.Rand
	dead   chan struct{}
	once   sync.Once
	fuse   int // steps until the agent dies; below 0: never
}

func (h *hand) die() { h.once.Do(func() { close(h.dead) }) }

func (h *hand) live() {
	select {
	case <-h.dead:
		runtime.Goexit()
	default:
	}
}

// step is a Point: the agent may die at it.
func (h *hand) step(string) {
	h.live()
	h.mu.Lock()
	h.fuse--
	burnt := h.fuse == 0
	h.mu.Unlock()
	if burnt {
		h.die()
		h.w.changing.Add(1)
		go h.w.restartAgent(h.number, -1)
		runtime.Goexit()
	}
}

func (h *hand) Find() (seen []invasive.Seen, err error) {
	h.live()
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, p := range h.procs {
		seen = append(seen, invasive.Seen{ID: id, Exited: p.ended, Exit: p.code})
	}
	return seen, nil
}

func (h *hand) Abandon(invasive.JobID) (bool, error) { h.live(); return false, nil }

func (h *hand) get(id invasive.JobID) *proc {
	h.live()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.procs[id]
}

func (h *hand) Launch(job *invasive.Job, cpus []int, _ []string) error {
	h.step("launch")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.procs[job.ID] != nil {
		return nil
	}
	if h.over[job.ID] {
		h.w.fail("launch %d is begun again on node %d", job.ID, h.number)
	}
	var r launchRecord
	text, err := os.ReadFile(fmt.Sprintf("%s/parts/%d", h.dir, uint64(job.ID)))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		h.w.fail("launch %d has no record: %v", job.ID, err)
	}
	p := &proc{job: r.Job, cores: slices.Clone(cpus), polite: h.random.IntN(2) == 0, done: make(chan struct{}), at: time.Now()}
	h.procs[job.ID] = p
	trace("begins: %d on node %d, of job %d, on cores %v", job.ID&^commandBit, h.number, r.Job, cpus)
	h.check("launch")
	if isCommand(job.ID) {
		h.w.begins(job.ID, h.machine)
		time.AfterFunc(time.Duration(h.random.IntN(3000))*time.Millisecond, func() { h.end(p, 0) })
	}
	return nil
}

func (h *hand) Wait(id invasive.JobID) (int32, error) {
	p := h.get(id)
	if p == nil {
		return 0, errors.New("it was not launched")
	}
	select {
	case <-p.done:
		h.live()
		return p.code, nil
	case <-h.dead:
		runtime.Goexit()
	}
	return 0, nil
}

func (h *hand) Confine(id invasive.JobID, cpus []int, _ bool) error {
	h.step("confine")
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.procs[id]; p != nil {
		p.cores = slices.Clone(cpus)
		h.check("confine")
	}
	return nil
}

func (h *hand) Signal(id invasive.JobID, sig unix.Signal) error {
	h.step("signal")
	p := h.get(id)
	if p != nil && (sig == unix.SIGKILL || p.polite) {
		h.w.killed(id)
		h.end(p, 128+int32(sig))
	}
	return nil
}

func (h *hand) Started(id invasive.JobID) (time.Time, bool) {
	p := h.get(id)
	return time.Time{}, p != nil
}

func (h *hand) JobOf(int, uint32) (invasive.JobID, bool) { return 0, false }

func (h *hand) Forget(id invasive.JobID) error {
	h.step("forget")
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.procs[id]
	if p == nil {
		return nil
	}
	if !p.ended {
		h.w.fail("launch %d is forgotten, and runs", id)
	}
	delete(h.procs, id)
	h.over[id] = true
	return nil
}

// deaf are jobs that hear of nothing.
type deaf struct{}

func (deaf) Send(invasive.JobID, malleable.Change) bool { return true }
func (deaf) Close() error                               { return nil }
func (deaf) Reset()                                     {}
