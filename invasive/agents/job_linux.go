// SPDX-License-Identifier: BSD-3-Clause

package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/crew"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/malleable"
)

const lostExit = launch.LostExit

// A job is one that was launched and is not forgotten. It belongs to the Head's lock.
type job struct {
	mark  mark
	known bool     // its cores are
	cores []uint32 // of the partition
	parts map[int]*state
	news  *sync.Cond
	dead  bool // its first process has ended, or is lost
	code  int32
}

func (j *job) has(place int) bool {
	return slices.ContainsFunc(j.cores, func(c uint32) bool { return int(c) == place })
}

// A mark is a job's file: it is to be launched, or was.
type mark struct {
	ID   invasive.JobID
	Work work
	// Home is the number of the node of its first process, Disk that node's at the launch.
	Home int
	Disk string
	At   time.Time
}

// A state is that of a part, as it is to be and as the agent last said that it is.
type state struct {
	cores    []int
	gen, did uint64
	force    bool
	signal   int // not known to be sent
	err      string
}

func (h *Head) markFile(id invasive.JobID) string {
	return filepath.Join(h.JobsDir, strconv.FormatUint(uint64(id), 10))
}

// Find returns the jobs that are marked. Agents are let in when the cores of all are known again.
func (h *Head) Find() (seen []invasive.Seen, err error) {
	entries, err := os.ReadDir(h.JobsDir)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".new") { // a write that was broken off
			continue
		}
		path := filepath.Join(h.JobsDir, e.Name())
		var m mark
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err == nil && strconv.FormatUint(uint64(m.ID), 10) != e.Name() {
			err = fmt.Errorf("is of job %d", m.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		h.jobs[m.ID] = h.newJob(m)
		h.unknown++
		seen = append(seen, invasive.Seen{ID: m.ID})
	}
	return seen, nil
}

func (h *Head) newJob(m mark) *job {
	return &job{mark: m, parts: map[int]*state{}, news: sync.NewCond(&h.mu)}
}

// Launch marks a job, and has its home begin it.
func (h *Head) Launch(ij *invasive.Job, cpus []int, env []string) error {
	if ij.ID&commandBit != 0 || len(cpus) == 0 {
		return &launch.UnlaunchedError{Err: fmt.Errorf("job %d on cores %v", ij.ID, cpus)}
	}
	m := mark{ID: ij.ID, At: time.Now(), Work: work{Args: launch.Words(ij.Args), Env: launch.Words(slices.Concat(ij.Env, env)),
		Dir: launch.Word(ij.Dir)}}
	h.mu.Lock()
	m.Home = cpus[0] / int(h.shape.size())
	m.Disk = h.nodes[m.Home].Disk
	m.Work.Nodes = h.nodesOf(cpus)
	h.mu.Unlock()
	text, err := json.Marshal(m)
	if err == nil {
		h.Point("before mark")
		err = durable.Write(h.markFile(ij.ID), text)
		if err != nil && os.Remove(h.markFile(ij.ID)) != nil {
			return err
		}
	}
	if err != nil {
		return &launch.UnlaunchedError{Err: err}
	}
	h.Point("after mark")
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.newJob(m)
	h.jobs[ij.ID] = j
	j.known = true
	h.arrange(j, cpus, false)
	return nil
}

// arrange has a job own these cores, and tells the nodes.
func (h *Head) arrange(j *job, cores []int, force bool) {
	size := int(h.shape.size())
	on := map[int][]int{}
	j.cores = nil
	for _, c := range cores {
		on[c/size] = append(on[c/size], c%size)
		j.cores = append(j.cores, uint32(c))
	}
	for k := range on {
		if j.parts[k] == nil {
			j.parts[k] = &state{}
		}
	}
	if j.parts[j.mark.Home] == nil {
		j.parts[j.mark.Home] = &state{}
	}
	for k, p := range j.parts {
		if p.gen > 0 && !force && p.err == "" && slices.Equal(p.cores, on[k]) {
			continue
		}
		p.cores, p.force = on[k], force
		h.renew(j, k, p)
	}
	for key, c := range h.commands {
		if c.job == j.mark.ID && c.node.link == nil && !c.done && !j.has(c.place) {
			h.ran(key, c, crew.LostStatus) // its agent ends it when it is back
		}
	}
}

// renew numbers a new state of a part, and tells the node of it.
func (h *Head) renew(j *job, number int, p *state) {
	p.gen++
	n := h.nodes[number]
	n.tell(h.orderOf(j, n, p, p.gen == 1))
}

// orderOf is a part as it is said to its node. With all it has what a first process needs to begin.
func (h *Head) orderOf(j *job, n *node, p *state, all bool) order {
	o := &part{Job: j.mark.ID, Gen: p.gen, Cores: []int{}, Force: p.force || all, Over: j.dead}
	if j.dead {
		return order{Part: o}
	}
	o.Cores = append(o.Cores, p.cores...)
	if n.number == j.mark.Home {
		o.Home, o.Signal = true, p.signal
		if all {
			o.Work = &j.mark.Work
		}
	}
	return order{Part: o}
}

// did notes that a part is as it was to be.
func (h *Head) did(n *node, d *did) {
	j := h.jobs[d.Job]
	if j == nil || j.parts[n.number] == nil {
		return
	}
	p := j.parts[n.number]
	if d.Gen < p.did || d.Gen > p.gen {
		return
	}
	p.did, p.err = d.Gen, d.Error
	if d.Gen == p.gen {
		p.signal = 0
	}
	j.news.Broadcast()
}

// settle waits until all nodes that are there have their parts of a job as they are to be. A node
// that is away does so before it is ready again. It returns what the home has said against it.
func (h *Head) settle(j *job) error {
	for !h.closed {
		waits := false
		for k, p := range j.parts {
			waits = waits || h.nodes[k].link != nil && p.did < p.gen && h.begun
		}
		if !waits {
			if p := j.parts[j.mark.Home]; p != nil && p.err != "" && p.did == p.gen {
				return fmt.Errorf("job %d: node %s: %s", j.mark.ID, h.nodes[j.mark.Home].Name, p.err)
			}
			return nil
		}
		j.news.Wait()
	}
	return context.Canceled
}

// Confine has a job own these cores only. Commands on others have ended when it returns, or will
// have before anybody gets their cores.
func (h *Head) Confine(id invasive.JobID, cpus []int, force bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.jobs[id]
	if j == nil {
		return fmt.Errorf("job %d: it was not launched", id)
	}
	size := int(h.shape.size())
	home := slices.ContainsFunc(cpus, func(c int) bool { return c/size == j.mark.Home })
	if !home {
		h.adrift(j)
		return fmt.Errorf("job %d: its first process is on node %d, and cores %v are elsewhere", id, j.mark.Home, cpus)
	}
	if !j.dead {
		h.arrange(j, cpus, force)
	}
	h.know(j)
	return h.settle(j)
}

// know notes that a job that was found has its cores.
func (h *Head) know(j *job) {
	if !j.known {
		j.known = true
		h.unknown--
		h.tryBegin()
	}
}

// adrift ends a job that was found, and for which no place is left where its first process is.
func (h *Head) adrift(j *job) {
	if !j.known {
		h.firstEnded(j, lostExit)
		h.know(j)
	}
}

// Halt is not possible over nodes.
func (h *Head) Halt(id invasive.JobID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j := h.jobs[id]; j != nil {
		h.adrift(j)
	}
	return fmt.Errorf("job %d: jobs on many nodes can't be suspended", id)
}

// Signal sends a signal to a job's first process, when its node is there.
func (h *Head) Signal(id invasive.JobID, sig unix.Signal) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.jobs[id]
	if j == nil {
		return fmt.Errorf("job %d: it was not launched", id)
	}
	if p := j.parts[j.mark.Home]; p != nil && !j.dead {
		p.signal = int(sig)
		h.renew(j, j.mark.Home, p)
	}
	return nil
}

// firstEnded notes a job's end. Wait sees to the rest of it.
func (h *Head) firstEnded(j *job, code int32) {
	if !j.dead {
		j.dead, j.code = true, code
		j.news.Broadcast()
	}
}

// Wait returns when a job has ended, and nothing of it runs on any node that is there.
func (h *Head) Wait(id invasive.JobID) (int32, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.jobs[id]
	if j == nil {
		return 0, fmt.Errorf("job %d: it was not launched", id)
	}
	for !j.dead && !h.closed {
		j.news.Wait()
	}
	if h.closed {
		return 0, context.Canceled
	}
	h.clear(j)
	if err := h.settle(j); errors.Is(err, context.Canceled) {
		return 0, err
	}
	return j.code, nil
}

// clear has nothing of a job that is over stay anywhere.
func (h *Head) clear(j *job) {
	j.cores = nil
	for k, p := range j.parts {
		p.cores, p.err = nil, ""
		h.renew(j, k, p)
	}
	for key, c := range h.commands {
		if c.job == j.mark.ID && !c.done {
			h.ran(key, c, crew.LostStatus)
		}
	}
}

// Started returns when a job was launched.
func (h *Head) Started(id invasive.JobID) (time.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j := h.jobs[id]; j != nil {
		return j.mark.At, true
	}
	return time.Time{}, false
}

// JobOf knows no process: they are the agents'.
func (h *Head) JobOf(int, uint32) (invasive.JobID, bool) { return 0, false }

// Home is the node of a job's first process.
func (h *Head) Home(id invasive.JobID) (uint32, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j := h.jobs[id]; j != nil {
		return uint32(j.mark.Home), true
	}
	return 0, false
}

// Forget removes a job's mark; agents forget what they have of it.
func (h *Head) Forget(id invasive.JobID) error {
	if err := os.Remove(h.markFile(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.jobs[id]
	if j == nil {
		return nil
	}
	if !j.known {
		h.unknown--
	}
	delete(h.jobs, id)
	for key, c := range h.commands {
		if c.job == id {
			delete(h.commands, key)
		}
	}
	for k := range j.parts {
		h.nodes[k].tell(order{Drop: id})
	}
	h.tryBegin()
	return nil
}

// voice is how jobs are told of changes.
type voice Head

// Send tells a job's home.
func (v *voice) Send(id invasive.JobID, c malleable.Change) bool {
	h := (*Head)(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.jobs[id]
	if j == nil || h.nodes[j.mark.Home].link == nil {
		return false
	}
	h.nodes[j.mark.Home].tell(order{Change: &change{Job: id, Line: c.String(), Nodes: h.nodesOf(c.Cores)}})
	return true
}

// nodesOf has a line PLACE NODE for each core.
func (h *Head) nodesOf(cores []int) string {
	var b strings.Builder
	for _, core := range cores {
		fmt.Fprintln(&b, core, h.nodes[core/int(h.shape.size())].Name)
	}
	return b.String()
}

// Close returns when nothing is handled any more.
func (v *voice) Close() error { return (*Head)(v).Close() }
