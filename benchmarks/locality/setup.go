// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"cmp"
	"slices"
)

func newRun(nodes []Node, jobs []Job, o Options) (*run, error) {
	p, err := policyOf(o.Policy)
	if err != nil {
		return nil, err
	}
	r := &run{mode: o.Mode, policy: p, plain: o.plain, nodes: nodes, onStart: o.OnStart, outdated: true, keep: o.Keep}
	if p.rule == lead && r.keep == nil {
		r.keep = keepByLoad
	}
	if p.rule == fcfs {
		r.keep = nil
	}
	if o.Mode == Reference {
		r.programmeOrder()
	}
	if err := r.check(jobs); err != nil {
		return nil, err
	}
	for i, n := range r.nodes {
		r.allCores += n.Cores
		r.mostMemory = max(r.mostMemory, n.Memory)
		if n.Bandwidth > r.nodes[r.fastest].Bandwidth {
			r.fastest = int32(i)
		}
	}
	r.idle = r.allCores
	r.cores = newCores(r.nodes)
	r.using, r.newlyAt = make([]int32, len(nodes)), make([]int64, len(nodes))
	r.free = slices.Clone(r.cores.count)
	r.search.r = r
	r.takeJobs(jobs)
	r.line = coresLine{r.cores}
	switch {
	case p.backfill && o.Mode == Paper:
		r.gaps = newProfiles(r, len(r.queue.classes))
		r.line = r.gaps
	case p.backfill:
		r.holes = newHoles(r.cores)
	}
	if p == (policy{rule: fcfs}) && !o.plain {
		r.standing = &standing{pass: 1, differs: make([]bool, len(nodes))}
	}
	if o.Mode == Paper && p.rule != fcfs && !o.plain {
		r.plan = newPlan(r)
		r.line = planLine{r.line, r.plan}
	}
	return r, nil
}

// programmeOrder puts the nodes in the order in which the programme visits them: by memory, and in
// the file's order where that is equal.
func (r *run) programmeOrder() {
	if slices.IsSortedFunc(r.nodes, func(a, b Node) int { return cmp.Compare(a.Memory, b.Memory) }) {
		return
	}
	r.order = make([]int, len(r.nodes))
	for i := range r.order {
		r.order[i] = i
	}
	given := r.nodes
	slices.SortStableFunc(r.order, func(a, b int) int { return cmp.Compare(given[a].Memory, given[b].Memory) })
	r.nodes = make([]Node, len(given))
	for i, place := range r.order {
		r.nodes[i] = given[place]
	}
}

// takeJobs numbers the files and classes of the jobs, and makes those jobs that run.
func (r *run) takeJobs(jobs []Job) {
	r.given, r.jobs, r.kinds = jobs, make([]*job, len(jobs)), make([]kind, len(jobs))
	places := map[int64]int32{0: 0}
	for i := range jobs {
		place, ok := places[jobs[i].File]
		if !ok {
			place = int32(len(places))
			places[jobs[i].File] = place
		}
		r.kinds[i].file = place
	}
	r.files = newFiles(r.mode, len(r.nodes), len(places))
	r.settleHistory()
	r.classify()
	for i := range jobs {
		r.files.pending[r.kinds[i].file]++
		if jobs[i].Class == Evaluated {
			r.left++
		}
		if jobs[i].Class != Running {
			r.coming = append(r.coming, int32(i))
		}
	}
}

// classify finds the jobs' classes.
func (r *run) classify() {
	type request struct {
		cores int
		wall  int64
	}
	classes := map[request]int32{}
	for i := range r.given {
		wall := r.given[i].WallTime
		if r.jobs[i] != nil {
			wall = r.jobs[i].wall
		}
		key := request{cores: r.given[i].Cores}
		if r.policy.backfill {
			key.wall = wall
		}
		place, ok := classes[key]
		if !ok {
			place = int32(len(classes))
			classes[key] = place
			r.queue.classes = append(r.queue.classes, class{some: &job{Job: &r.given[i], wall: wall, class: place}})
		}
		r.kinds[i].class = place
		if r.jobs[i] != nil {
			r.jobs[i].class = place
		}
	}
}

// settleHistory finds when the simulation begins, and what is left then of the jobs that run.
func (r *run) settleHistory() {
	r.now = -1
	for i := range r.given {
		if j := &r.given[i]; j.Class == WarmUp || j.Class != Running && r.now < 0 && r.mode == Paper {
			if r.now = j.Submit; j.Class == WarmUp {
				break
			}
		}
	}
	r.now = max(r.now, 0)
	for i := range r.given {
		if r.given[i].Class == Running {
			j := r.job(int32(i))
			j.duration = max(1, j.duration-(r.now-j.Started))
			j.wall = max(1, j.wall-(r.now-j.Started))
		}
	}
}

// history is the jobs that run when the simulation begins, in the order in which the programme
// takes them: by the start of the log, the first ones in reverse where that is equal.
func (r *run) history() []int32 {
	var out []int32
	for i := range r.given {
		j := &r.given[i]
		if j.Class != Running {
			continue
		}
		at := 0
		if len(out) > 0 && r.given[out[0]].Started < j.Started {
			at, _ = slices.BinarySearchFunc(out, j.Started, func(i int32, t int64) int {
				if r.given[i].Started <= t {
					return -1
				}
				return 1
			})
		}
		out = slices.Insert(out, at, int32(i))
	}
	return out
}

// runHistory starts the jobs that run when the simulation begins, each on its node of the log.
// Those for which there are no cores left head the queue.
func (r *run) runHistory() {
	r.files.begin(r.now)
	for _, i := range r.history() {
		j := r.jobs[i]
		r.queue.add(r, i)
		j.node = int32(max(0, (j.StartNode-1)%len(r.nodes)))
		if j.start = max(r.now, r.cores.from(int(j.node), j.Cores)); j.start == never {
			continue // too small a node: the job waits for the first pass
		}
		r.cores.take(j.node, j.ids, j.start+j.wall)
		r.planned.push(j.start, j.seq, i)
	}
	r.startPlanned()
}
