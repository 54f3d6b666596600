// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// NodeSpec is what a node has.
type NodeSpec struct {
	Index   int // place in the machine: neighbours are neighbours
	Cores   int
	Threads int // logical CPUs of a core
	GPUs    int
	Shards  int // shares of each GPU
	Memory  int // MB
}

// Machine is what each node has, by name.
type Machine map[string]NodeSpec

// Machine is the machine of the configuration.
func (c *Config) Machine() Machine {
	m := Machine{}
	for _, g := range c.Groups {
		for range g.Nodes {
			i := len(m)
			m[NodeName(i+1)] = NodeSpec{Index: i, Cores: max(g.Cores, 1) * max(g.Sockets, 1),
				Threads: max(g.Threads, 1), GPUs: g.gpus(), Shards: g.shards(), Memory: cmp.Or(g.MemoryMB, defaultMemoryMB)}
		}
	}
	return m
}

// Ask is what a submission asked for; zero members ask for nothing.
type Ask struct {
	CPUs        int // in all, exactly
	MinCPUs     int // in all, at least
	MinNodes    int
	MaxNodes    int
	CPUsPerNode int // on each node, exactly
	MinGPUs     int // on each node
	MaxGPUs     int // on each node, where HasGPUs; the same number on all nodes
	HasGPUs     bool
	GPUs        int // in all, exactly
	Shards      int // on each node, exactly, of one GPU
	MemoryMB    int // on each node, at least
	Contiguous  bool
	Within      []string // the only nodes that it may have
	Including   []string // nodes that it must have
	Without     []string // nodes that it must not have
}

// GPURange asks for lo to hi GPUs on each node.
func (a Ask) GPURange(lo, hi int) Ask {
	a.HasGPUs, a.MinGPUs, a.MaxGPUs = true, lo, hi
	return a
}

// Violation is something that must not be.
type Violation struct {
	At   time.Time
	Job  uint32 // 0 if it concerns no one job
	What string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s job %d: %s", v.At.Format("15:04:05.000"), v.Job, v.What)
}

// CheckJobs checks one moment: that what the running jobs hold exists and is held
// once, and that each running job whose ask is known (by its own id or its array's)
// has that. Completing jobs are left out, for they give their nodes back one by one.
func CheckJobs(m Machine, jobs []Job, asks map[uint32]Ask, at time.Time) []Violation {
	r := referee{machine: m, at: at, cores: map[place]uint32{}, gpus: map[place]uint32{}, shards: map[place]int{}, memory: map[string]int{}}
	for i := range jobs {
		j := &jobs[i]
		if j.State != "RUNNING" {
			continue
		}
		r.hold(j)
		ask, ok := asks[j.ID]
		if !ok {
			ask, ok = asks[j.ArrayID]
		}
		if ok {
			r.compare(j, ask)
		}
	}
	return r.violations
}

// place is a core or a GPU of a node.
type place struct {
	node  string
	index int
}

type referee struct {
	machine     Machine
	at          time.Time
	cores, gpus map[place]uint32 // by whom they are held
	shards      map[place]int    // how many are
	memory      map[string]int   // MB held of each node
	violations  []Violation
}

func (r *referee) fault(job uint32, format string, args ...any) {
	r.violations = append(r.violations, Violation{r.at, job, fmt.Sprintf(format, args...)})
}

// hold notes what j holds.
func (r *referee) hold(j *Job) {
	if len(j.Nodes) == 0 {
		r.fault(j.ID, "runs and holds no node")
	}
	seen := map[string]bool{}
	for _, s := range j.Nodes {
		if seen[s.Node] {
			r.fault(j.ID, "%s: listed twice", s.Node)
		}
		seen[s.Node] = true
		spec, ok := r.machine[s.Node]
		if !ok {
			r.fault(j.ID, "%s: there is no such node", s.Node)
			continue
		}
		r.take(j.ID, s.Node, "core", r.cores, coresOf(s.CPUs, spec.Threads), spec.Cores)
		r.take(j.ID, s.Node, "GPU", r.gpus, s.GPUs, spec.GPUs)
		r.takeShards(j.ID, &s, spec)
		r.memory[s.Node] += s.MemoryMB
		if r.memory[s.Node] > spec.Memory {
			r.fault(j.ID, "%s: %d MB are held by now, but it has %d", s.Node, r.memory[s.Node], spec.Memory)
		}
		if len(s.CPUs) == 0 {
			r.fault(j.ID, "%s: no CPU of it is held", s.Node)
		}
		if s.GPUCount != len(s.GPUs) {
			r.fault(j.ID, "%s: %d GPUs, but indices %v", s.Node, s.GPUCount, s.GPUs)
		}
	}
	if j.NumNodes != len(j.Nodes) {
		r.fault(j.ID, "NumNodes=%d, but %d nodes are listed", j.NumNodes, len(j.Nodes))
	}
}

func (r *referee) take(job uint32, node, what string, held map[place]uint32, indices []int, limit int) {
	for _, i := range indices {
		if i >= limit {
			r.fault(job, "%s: %s %d, but it has %d", node, what, i, limit)
		}
		p := place{node, i}
		if other, ok := held[p]; ok {
			r.fault(job, "%s: %s %d is also job %d's", node, what, i, other)
		}
		held[p] = job
	}
}

// takeShards notes shares of GPUs: a GPU is whole, or shared, and has so many.
func (r *referee) takeShards(job uint32, s *NodeShare, spec NodeSpec) {
	for gpu, count := range s.Shards {
		p := place{s.Node, gpu}
		if r.shards[p] += count; count > 0 && (gpu >= spec.GPUs || r.shards[p] > spec.Shards) {
			r.fault(job, "%s: %d shares of GPU %d are held, but it has %d, of %d GPUs", s.Node, r.shards[p], gpu, spec.Shards, spec.GPUs)
		}
	}
	for gpu := range spec.GPUs {
		p := place{s.Node, gpu}
		if whole, ok := r.gpus[p]; ok && r.shards[p] > 0 && (slices.Contains(s.GPUs, gpu) || gpu < len(s.Shards) && s.Shards[gpu] > 0) {
			r.fault(job, "%s: GPU %d is job %d's as a whole, and %d shares of it are held", s.Node, gpu, whole, r.shards[p])
		}
	}
}

// coresOf are the cores of logical CPUs, each once.
func coresOf(cpus []int, threads int) []int {
	cores := make([]int, len(cpus))
	for i, c := range cpus {
		cores[i] = c / max(threads, 1)
	}
	slices.Sort(cores)
	return slices.Compact(cores)
}

// compare checks that j has what was asked for.
func (r *referee) compare(j *Job, ask Ask) {
	cpus, gpus := 0, 0
	var indices []int
	var names []string
	for _, s := range j.Nodes {
		cpus += len(s.CPUs)
		gpus += len(s.GPUs)
		indices = append(indices, r.machine[s.Node].Index)
		names = append(names, s.Node)
		if ask.CPUsPerNode > 0 && len(s.CPUs) != ask.CPUsPerNode {
			r.fault(j.ID, "%s: %d CPUs, asked for %d a node", s.Node, len(s.CPUs), ask.CPUsPerNode)
		}
		if s.MemoryMB < ask.MemoryMB {
			r.fault(j.ID, "%s: %d MB, asked for %d", s.Node, s.MemoryMB, ask.MemoryMB)
		}
		if ask.HasGPUs {
			r.compareGPUs(j, s, ask)
		}
		if ask.Shards > 0 && (slices.Max(append(s.Shards, 0)) != ask.Shards || sum(s.Shards) != ask.Shards) {
			r.fault(j.ID, "%s: %v shares by GPU, asked for %d of one", s.Node, s.Shards, ask.Shards)
		}
		if ask.Within != nil && !slices.Contains(ask.Within, s.Node) || slices.Contains(ask.Without, s.Node) {
			r.fault(j.ID, "%s: not a node that was asked for", s.Node)
		}
	}
	for _, n := range ask.Including {
		if !slices.Contains(names, n) {
			r.fault(j.ID, "%s: asked for by name, not held", n)
		}
	}
	if ask.CPUs > 0 && cpus != ask.CPUs || cpus < ask.MinCPUs {
		r.fault(j.ID, "%d CPUs in all, asked for %d", cpus, max(ask.CPUs, ask.MinCPUs))
	}
	if ask.GPUs > 0 && gpus != ask.GPUs {
		r.fault(j.ID, "%d GPUs in all, asked for %d", gpus, ask.GPUs)
	}
	if n := len(j.Nodes); n < ask.MinNodes || ask.MaxNodes > 0 && n > ask.MaxNodes {
		r.fault(j.ID, "%d nodes, asked for %d-%d", n, ask.MinNodes, ask.MaxNodes)
	}
	slices.Sort(indices)
	if n := len(indices); ask.Contiguous && n > 0 && indices[n-1]-indices[0] != n-1 {
		r.fault(j.ID, "nodes %s are no neighbours", strings.Join(names, ","))
	}
}

func sum(list []int) (all int) {
	for _, n := range list {
		all += n
	}
	return all
}

func (r *referee) compareGPUs(j *Job, s NodeShare, ask Ask) {
	n := len(s.GPUs)
	if n < ask.MinGPUs || n > ask.MaxGPUs {
		r.fault(j.ID, "%s: %d GPUs, asked for %d-%d", s.Node, n, ask.MinGPUs, ask.MaxGPUs)
	}
	if n != len(j.Nodes[0].GPUs) {
		r.fault(j.ID, "%s: %d GPUs, but %d on %s", s.Node, n, len(j.Nodes[0].GPUs), j.Nodes[0].Node)
	}
}

// saveLag is how much of its past a slurmctld may have lost that was killed: it
// saves its state every 5 s (SAVE_MAX_WAIT), and saving takes time.
const saveLag = 10 * time.Second

// Runs is what became of some jobs.
type Runs struct {
	// Faults says, in words, what did not run exactly once and complete.
	Faults []string
	// ForgottenStarts are the jobs that ran again, or failed (the number of an
	// array's task is given again, and slurmd refuses it as revoked), because
	// slurmctld was killed so soon after their start that it may not have saved it;
	// ForgottenEnds are those that
	// had completed and then ended in another way because it was killed just after
	// that. Both are so with any scheduler.
	ForgottenStarts, ForgottenEnds []uint32
}

// CheckRuns checks at the end that every job of ids ran exactly once and completed.
// More starts than one are right only where Slurm says so by a higher restart count,
// or where slurmctld was killed (kills) just after the start.
func CheckRuns(ids []uint32, starts []ScriptStart, ended []Ended, kills []time.Time) Runs {
	var runs Runs
	fault := func(format string, args ...any) { runs.Faults = append(runs.Faults, fmt.Sprintf(format, args...)) }
	started, ends := map[uint32][]ScriptStart{}, map[uint32][]Ended{}
	for _, s := range starts {
		started[s.ID] = append(started[s.ID], s)
	}
	for _, e := range ended {
		ends[e.ID] = append(ends[e.ID], e)
	}
	for _, id := range ids {
		if len(started[id]) == 0 {
			fault("job %d never started", id)
		}
		lostStart := false
		for i, s := range started[id] {
			lostStart = lostStart || forgotten(s.At, kills)
			if i == 0 {
				continue
			}
			before := started[id][i-1]
			switch {
			case forgotten(before.At, kills):
				runs.ForgottenStarts = append(runs.ForgottenStarts, id)
			case s.Restart <= before.Restart:
				fault("job %d started again at %v (restart count %d), after %v (%d)",
					id, s.At.Format(time.TimeOnly), s.Restart, before.At.Format(time.TimeOnly), before.Restart)
			}
		}
		words, lost := checkEnds(ends[id], kills)
		switch {
		case words == "ended FAILED" && lostStart:
			runs.ForgottenStarts = append(runs.ForgottenStarts, id)
		case words != "":
			fault("job %d %s", id, words)
		}
		if lost {
			runs.ForgottenEnds = append(runs.ForgottenEnds, id)
		}
	}
	return runs
}

// forgotten says whether slurmctld was killed before it had surely saved what
// happened at t, which is known to the second.
func forgotten(t time.Time, kills []time.Time) bool {
	return slices.ContainsFunc(kills, func(k time.Time) bool {
		return k.After(t.Add(-time.Second)) && k.Before(t.Add(saveLag))
	})
}

// checkEnds says what is wrong with a job's ends, and whether its completion was forgotten.
func checkEnds(ends []Ended, kills []time.Time) (words string, lost bool) {
	completed := 0
	for _, e := range ends {
		if e.State != "COMPLETED" {
			continue
		}
		completed++
		at, err := time.ParseInLocation("2006-01-02T15:04:05", e.End, time.Local)
		lost = lost || err == nil && forgotten(at, kills)
	}
	switch {
	case len(ends) == 0:
		return "has no line in the completion log", false
	case ends[len(ends)-1].State != "COMPLETED" && !lost:
		return "ended " + ends[len(ends)-1].State, false
	case completed > 1 && len(kills) == 0:
		return fmt.Sprintf("completed %d times", completed), false
	}
	return "", lost && len(ends) > 1
}
