// SPDX-License-Identifier: BSD-3-Clause

package ihypervisor

import (
	"context"
	"errors"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/internal/turns"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A run is a job with processes. It belongs to the Runner's goroutine, but for its line of work.
type run struct {
	job       *invasive.Job
	work      turns.Line
	connected bool
	number    uint32   // of the last change that it was told of
	asked     []uint32 // it hasn't answered yet
	asks      int
	leaving   []uint32    // it has let go of them, and the ledger doesn't know yet
	wait      func() bool // stops the timer of asked
	ending    bool
}

// Variables that a job finds in its environment, beside malleable.Variable.
const (
	jobVariable   = "AUCSCHED_INVASIVE_JOB"
	coresVariable = "AUCSCHED_INVASIVE_CORES"
)

// launch starts a job. It may take a while; what else is done about the job comes after it.
func (h *Hypervisor) launch(job *invasive.Job, cores []uint32) {
	h.meter.starts(h.Clock.Now(), job.ID)
	r := &run{job: job}
	h.runs[job.ID] = r
	cpus := h.Topology.cpusOf(cores)
	env := []string{
		malleable.Variable + "=" + h.jobSocket(), jobVariable + "=" + strconv.FormatUint(uint64(job.ID), 10),
		coresVariable + "=" + strconv.Itoa(len(cores)),
	}
	h.Log.Info("launch", "job", uint64(job.ID), "cores", len(cores))
	r.work.Do(&h.workers, func() {
		err := h.launcher.Launch(job, cpus, env)
		var not *launch.UnlaunchedError
		switch {
		case errors.As(err, &not):
			h.Log.Error("a job can't be launched", "job", uint64(job.ID), "why", err)
			h.runner.Call(func() { h.exited(job.ID, launch.UnlaunchedExit) })
		case err != nil: // it may run: its cores stay its own until the next start finds out
			h.Log.Error("nobody knows whether a job was launched", "job", uint64(job.ID), "why", err)
		default:
			h.watch(job.ID)
		}
	})
}

// resume takes over a job that an earlier iHypervisor has launched, and sees to it that it is
// where the ledger says.
func (h *Hypervisor) resume(job *invasive.Job) {
	r := &run{job: job}
	h.runs[job.ID] = r
	cores := h.held(job.ID).Cores
	h.Log.Info("found again", "job", uint64(job.ID), "cores", len(cores))
	h.watch(job.ID)
	r.work.Do(&h.workers, func() {
		if len(cores) == 0 {
			h.complain(job.ID, h.launcher.Halt(job.ID))
			return
		}
		h.complain(job.ID, h.launcher.Confine(job.ID, h.Topology.cpusOf(cores), true))
	})
}

func (h *Hypervisor) complain(id invasive.JobID, err error) {
	if err != nil {
		h.Log.Error("a job isn't where it should be", "job", uint64(id), "why", err)
	}
}

// watch waits for the job's end.
func (h *Hypervisor) watch(id invasive.JobID) {
	go func() {
		code, err := h.launcher.Wait(id)
		if errors.Is(err, context.Canceled) { // its launcher was closed
			return
		}
		if err != nil {
			h.Log.Error("a job's end can't be seen", "job", uint64(id), "why", err)
			return
		}
		h.runner.Call(func() { h.exited(id, code) })
	}()
}

func (h *Hypervisor) exited(id invasive.JobID, code int32) {
	h.Log.Info("ended", "job", uint64(id), "exit", code)
	if r := h.runs[id]; r != nil {
		r.stopWaiting()
	}
	delete(h.runs, id)
	delete(h.stubborn, id)
	delete(h.wishes, id)
	h.freed(invasive.Event{Kind: invasive.Exited, ID: id, Exit: code})
	h.runner.Call(func() { h.meter.ended++ })
}

// held is what the ledger says of a job.
func (h *Hypervisor) held(id invasive.JobID) invasive.Held {
	for _, j := range h.machine.Jobs(nil) {
		if j.Job.ID == id {
			return j
		}
	}
	return invasive.Held{}
}

// grow lets a job run on all that it owns now, and tells it then.
func (h *Hypervisor) grow(id invasive.JobID) {
	r := h.runs[id]
	if r == nil {
		return
	}
	cores := without(h.held(id).Cores, r.leaving)
	r.work.Do(&h.workers, func() {
		h.complain(id, h.launcher.Confine(id, h.Topology.cpusOf(cores), false))
		h.runner.Call(func() { h.tell(r) })
	})
}

// tell says to a job which cores are its own, without those that it is asked for.
func (h *Hypervisor) tell(r *run) {
	r.number++
	if !r.connected {
		return
	}
	cores := without(without(h.held(r.job.ID).Cores, r.asked), r.leaving)
	change := malleable.Change{Number: r.number, CPUs: h.Topology.cpusOf(cores)}
	for _, c := range cores {
		change.Cores = append(change.Cores, int(c))
	}
	if len(cores) > 0 {
		h.jobs.Send(r.job.ID, change)
	}
}

func without(cores, gone []uint32) []uint32 {
	var left []uint32
	for _, c := range cores {
		for len(gone) > 0 && gone[0] < c {
			gone = gone[1:]
		}
		if len(gone) == 0 || gone[0] != c {
			left = append(left, c)
		}
	}
	return left
}

func (r *run) stopWaiting() {
	r.asked = nil
	if r.wait != nil {
		r.wait()
		r.wait = nil
	}
}

// end asks a job to end, and ends it if it doesn't.
func (h *Hypervisor) end(r *run) {
	if r.ending {
		return
	}
	r.ending = true
	id := r.job.ID
	// one that is halted mustn't run again, not even to end itself
	halted := len(h.held(id).Cores) == 0
	kill := func() {
		r.work.Do(&h.workers, func() { h.complain(id, h.launcher.Signal(id, unix.SIGKILL)) })
	}
	if halted {
		kill()
		return
	}
	r.work.Do(&h.workers, func() { h.complain(id, h.launcher.Signal(id, unix.SIGTERM)) })
	h.Clock.AfterFunc(h.Grace, func() {
		h.runner.Call(func() {
			if h.runs[id] == r {
				kill()
			}
		})
	})
}

// stubbornly notes what a job has withstood.
func (h *Hypervisor) stubbornly(id invasive.JobID, how invasive.How) {
	h.stubborn[id] = stubborn{how, h.Clock.Now().Add(h.Retry)}
}
