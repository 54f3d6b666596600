// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/malleable"
	"github.com/aucsched/aucsched/invasive/procs"
)

type certainty uint8

const (
	unknown certainty = iota // after a crash of ours
	yes
	no
)

// A job is one that is Slurm's to start, or runs.
type job struct {
	id   invasive.JobID
	wake chan struct{} // its steps have changed

	// what its processes have in their environment, and in the name of their control group
	number, socket, group []byte

	// hand is held by who changes where its processes run, or whether.
	hand    sync.Mutex
	cpus    *unix.CPUSet // nil: not known yet
	running certainty    // no: suspended
	said    string       // the last complaint

	mu      sync.Mutex
	steps   map[string]procs.Process // the slurmstepd of each
	at      time.Time
	started bool // some step was seen, once
	uid     *uint32
}

// newJob: socket is what the plug-in has told it of.
func newJob(id invasive.JobID, socket string) *job {
	return &job{
		id: id, wake: make(chan struct{}, 1), running: yes, steps: map[string]procs.Process{}, at: time.Now(),
		number: fmt.Appendf(nil, "\x00SLURM_JOB_ID=%d\x00", id), socket: fmt.Appendf(nil, "\x00%s=%s\x00", malleable.Variable, socket),
		group: fmt.Appendf(nil, "/job_%d/", id),
	}
}

func (j *job) stepd(name string) (procs.Process, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p, ok := j.steps[name]
	return p, ok
}

// add returns whether this is the first one ever.
func (j *job) add(name string, p procs.Process) (first bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.steps[name] = p
	first = !j.started
	if first {
		j.started, j.at = true, time.Now()
	}
	j.changed()
	return first
}

// prune forgets the steps that have ended: a slurmstepd may have been killed, and left its socket.
func (j *job) prune() (changed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, p := range j.steps {
		if !procs.Alive(p) {
			delete(j.steps, name)
			changed = true
		}
	}
	if changed {
		j.changed()
	}
	return changed
}

func (j *job) changed() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// stepds are the slurmstepds of its steps.
func (j *job) stepds() (pids []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.steps {
		if procs.Alive(p) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// family is all that runs for the job, slurmstepds too: what they start inherits their CPUs.
func (j *job) family() procs.Family {
	return func() []int {
		stepds := j.stepds()
		return append(j.processes(stepds), stepds...)
	}
}

// below are the job's own processes.
func (j *job) below() procs.Family {
	return func() []int { return j.processes(j.stepds()) }
}

// processes are those below the job's slurmstepds, and those that have left their parents: who
// loses them falls to a process above the stepd.
func (j *job) processes(stepds []int) []int {
	tree := procs.Look()
	over := map[int]bool{1: true}
	for _, pid := range stepds {
		for _, above := range procs.Above(pid) {
			over[above] = true
		}
	}
	var strays []int
	for above := range over {
		for _, pid := range tree.Children(above) {
			if !slices.Contains(stepds, pid) && !over[pid] && j.marks(pid) {
				strays = append(strays, pid)
			}
		}
	}
	return append(tree.Below(append(strays, stepds...)...), strays...)
}

// marks tells whether a process says by its environment, or Slurm by its control group, that it is
// the job's. Who lies about it is treated as one of the job's processes, and nobody else is.
func (j *job) marks(pid int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	env = append(append([]byte{0}, env...), 0)
	if err == nil && bytes.Contains(env, j.number) && bytes.Contains(env, j.socket) {
		return true
	}
	group, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	return err == nil && bytes.Contains(group, []byte("slurm")) && bytes.Contains(append(group, '/'), j.group)
}

func (j *job) has(above []int) bool {
	for _, stepd := range j.stepds() {
		for _, pid := range above {
			if pid == stepd {
				return true
			}
		}
	}
	return false
}

// user is whose the job is, if that is known: it is before this programme has Slurm start the job.
func (j *job) user() (uid uint32, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.uid == nil {
		return 0, false
	}
	return *j.uid, true
}

func (j *job) setUser(uid uint32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.uid = &uid
}

func (j *job) began() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.at
}

func (j *job) wasStarted() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.started
}

// says tells whether a complaint is a new one. The caller has the job in its hand.
func (j *job) says(err error) bool {
	if err.Error() == j.said {
		return false
	}
	j.said = err.Error()
	return true
}
