// SPDX-License-Identifier: BSD-3-Clause

package invasive

import "slices"

// The ledger: which job owns which cores. Cores become a job's before it is told of them (Place,
// Give), and are free only after it has let go (Released, Exited), so that an error or a crash
// at any point leaves a core idle rather than given twice. The slices of cores are never
// changed, only replaced.

func (h *Hypervisor) own(cores []uint32, id JobID) {
	for _, c := range cores {
		h.owner[c] = id
	}
}

// areOwnedBy tells whether cores are some, ascending, and all of them id's.
func (h *Hypervisor) areOwnedBy(cores []uint32, id JobID) bool {
	for i, c := range cores {
		if uint64(c) >= uint64(len(h.owner)) || h.owner[c] != id || i > 0 && cores[i-1] >= c {
			return false
		}
	}
	return len(cores) > 0
}

// accept takes a job over for good.
func (h *Hypervisor) accept(job *Job, parts []Part) {
	i, known := slices.BinarySearchFunc(h.jobs, job.ID, heldByID)
	if known {
		return
	}
	h.words += job.size()
	h.emit(Action{Kind: Save, Record: Record{Op: Add, Job: job, Parts: parts}})
	h.jobs = slices.Insert(h.jobs, i, held{job: job, parts: parts, state: Accepted})
}

func (h *Hypervisor) askPlace() { h.emit(Action{Kind: AskPlace}) }

// change saves that a job owns exactly these cores.
func (h *Hypervisor) change(j *held, cores []uint32) {
	h.own(j.cores, 0)
	j.cores = cores
	h.own(cores, j.job.ID)
	h.emit(Action{Kind: Save, Record: Record{Op: Own, ID: j.job.ID, Cores: cores}})
}

func (h *Hypervisor) place(j *held, cores []uint32) {
	j.state = Running
	h.change(j, cores)
	h.emit(Action{Kind: Launch, Job: j.job, ID: j.job.ID, Cores: cores})
}

func (h *Hypervisor) give(j *held, cores []uint32) {
	j.state = Running
	all := slices.Concat(j.cores, cores)
	slices.Sort(all)
	h.change(j, all)
	h.emit(Action{Kind: Grow, ID: j.job.ID, Cores: cores})
}

func (h *Hypervisor) take(j *held, cores []uint32, how How) {
	j.taking = cores
	h.emit(Action{Kind: Reclaim, ID: j.job.ID, Cores: cores, How: how})
}

func (h *Hypervisor) release(j *held, cores []uint32) {
	j.taking = nil
	left := slices.DeleteFunc(slices.Clone(j.cores), func(c uint32) bool {
		_, gone := slices.BinarySearch(cores, c)
		return gone
	})
	if len(left) == 0 {
		j.state = Suspended
	}
	h.change(j, left)
	h.askPlace()
}

func (h *Hypervisor) end(j *held, exit int32) {
	h.own(j.cores, 0)
	j.state, j.cores, j.taking, j.exit = Done, nil, nil, exit
	h.emit(Action{Kind: Save, Record: Record{Op: End, ID: j.job.ID, Exit: exit}})
}

// forget drops jobs whose end the iScheduler has saved.
func (h *Hypervisor) forget(acks []JobID) {
	for _, id := range acks {
		i, ok := slices.BinarySearchFunc(h.jobs, id, heldByID)
		if !ok || h.jobs[i].state != Done {
			continue
		}
		h.words -= h.jobs[i].job.size()
		h.jobs = slices.Delete(h.jobs, i, i+1)
		h.emit(Action{Kind: Save, Record: Record{Op: Remove, ID: id}})
		h.emit(Action{Kind: Forget, ID: id})
	}
}
