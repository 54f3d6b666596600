// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// dimension is a way to ask for less, in steps of one.
type dimension struct {
	fields []string // that it may change
	steps  int64
	hints  []int64 // numbers of steps to try first, ascending
	apply  func(j *Job, steps int64)
}

// dimensions are the ways to ask for less than the job does, of which e.x says what is in its
// way. Shorter time limits are among them if reservations are.
func (e *inquiry) dimensions() []dimension {
	var d []dimension
	add := func(steps int, apply func(*Job, int64), fields ...string) {
		if steps > 0 {
			d = append(d, dimension{fields: fields, steps: int64(steps), apply: apply})
		}
	}
	if e.asked(e.job).Contiguous && e.job.Contiguous {
		add(1, func(j *Job, steps int64) { j.Contiguous = steps == 0 }, "contiguous")
	}
	if j := e.job; j.Switches+j.Within+j.Segment > 0 && e.s.Topology != nil {
		add(1, func(j *Job, steps int64) {
			if steps > 0 {
				j.Switches, j.Within, j.Segment = 0, 0, 0
			}
		}, "switches", "within", "segment")
	}
	d = append(d, e.shorter()...)
	add(e.job.MinGPUs, fewerGPUs, "gpus_per_node")
	for i, u := range known(e.s.Nodes, e.job.Uses) { // what is taken by GPU tells of what kind the GPUs are, and stays
		less := func(name string, of func(u *nodeset.Use) *int64) {
			add(int(*of(&u))-1, func(j *Job, steps int64) {
				j.Uses = slices.Clone(j.Uses) // others have them too
				*of(&j.Uses[i]) -= steps
			}, fieldOf(e.s.Nodes, u.Row, name))
		}
		less("per_node", func(u *nodeset.Use) *int64 { return &u.PerNode })
		less("per_core", func(u *nodeset.Use) *int64 { return &u.PerCore })
	}
	fixed := fixedNodes(&e.job.Request)
	switch {
	case fixed > 0: // cores are nodes times tasks per node
		add(fixed-1, func(j *Job, steps int64) {
			narrow(j, fixed-int(steps))
			j.Cores = (fixed - int(steps)) * j.TasksPerNode
		}, "nodes", "cores", "tasks_per_node")
		add(e.job.TasksPerNode-1, func(j *Job, steps int64) {
			j.TasksPerNode -= int(steps)
			j.Cores = fixed * j.TasksPerNode
		}, "nodes", "cores", "tasks_per_node")
		return d
	case e.job.Cores == 0:
		add(e.job.MinNodes-1, func(j *Job, steps int64) { narrow(j, j.MinNodes-int(steps)) }, "nodes")
		add(e.job.TasksPerNode-1, func(j *Job, steps int64) { j.TasksPerNode -= int(steps) }, "tasks_per_node")
		return d
	}
	add(e.job.Cores-max(e.job.MinNodes, 1), func(j *Job, steps int64) { j.Cores -= int(steps) }, "cores")
	add(e.job.MinNodes-e.fewestNodes(), func(j *Job, steps int64) { narrow(j, j.MinNodes-int(steps)) }, "nodes")
	add(e.job.MinNodes-1, func(j *Job, steps int64) { // each node with the cores that it had
		n := j.MinNodes - int(steps)
		j.Cores = max(int(int64(j.Cores)*int64(n)/int64(j.MinNodes)), n)
		narrow(j, n)
	}, "nodes", "cores")
	if e.job.MaxNodes > 0 {
		add(min(e.s.Nodes.Len(), e.job.Cores)-e.job.MaxNodes, func(j *Job, steps int64) { j.MaxNodes += int(steps) }, "nodes")
	}
	return d
}

// fewestNodes is how many nodes the job's cores need at least if each gives what is free
// on the node with most.
func (e *inquiry) fewestNodes() int {
	most := 1
	for n, free := range e.s.Nodes.FreeCores() {
		if e.s.Nodes.Up(n) && e.job.Eligible.Has(n) {
			most = max(most, int(free))
		}
	}
	if e.job.TasksPerNode > 0 {
		most = min(most, e.job.TasksPerNode)
	}
	return (e.job.Cores + most - 1) / most
}

// fixedNodes is the number of nodes of a request whose cores and tasks per node
// settle it, otherwise 0.
func fixedNodes(r *bids.Request) int {
	t := r.TasksPerNode
	if t == 0 || r.Cores == 0 || r.Cores%t != 0 || r.Cores/t < r.MinNodes || (r.MaxNodes > 0 && r.Cores/t > r.MaxNodes) {
		return 0
	}
	return r.Cores / t
}

// narrow asks for at least n nodes: exactly n if the job gave a number, otherwise for
// more of the range, if it gave any.
func narrow(j *Job, n int) {
	if j.MinNodes == 0 {
		return
	}
	if j.MaxNodes == j.MinNodes {
		j.MaxNodes = n
	}
	j.MinNodes = min(j.MinNodes, n)
}

// fewerGPUs asks for fewer GPUs on each node, exactly if the job gave a number.
func fewerGPUs(j *Job, steps int64) {
	if j.MaxGPUs == j.MinGPUs {
		j.MaxGPUs -= int(steps)
	}
	j.MinGPUs -= int(steps)
}

// shorter is the time limit, if reservations are in the way. The longest limits that
// end by the start of one are tried first.
func (e *inquiry) shorter() []dimension {
	var hints []int64
	for _, r := range e.x.Rivals {
		limit := r.At - e.s.Now
		if r.Role != roleKept || limit < 1 || limit >= e.job.TimeLimit {
			continue
		}
		if limit+1 < e.job.TimeLimit {
			hints = append(hints, e.job.TimeLimit-limit-1) // to rule it out
		}
		hints = append(hints, e.job.TimeLimit-limit)
	}
	if len(hints) == 0 {
		return nil
	}
	slices.Sort(hints)
	return []dimension{{fields: []string{"time_limit_s"}, steps: e.job.TimeLimit - 1, hints: slices.Compact(hints),
		apply: func(j *Job, steps int64) { j.TimeLimit -= steps }}}
}

// probes are the numbers of steps to try until one does, ascending: hints, then
// ever larger steps.
func (d *dimension) probes() []int64 {
	p := slices.Clone(d.hints)
	from, factor := int64(0), int64(2)
	if len(p) > 0 {
		from, factor = p[len(p)-1], 4 // the hints are good
	}
	for step := int64(1); from+step < d.steps; step *= factor {
		p = append(p, from+step)
	}
	if len(p) == 0 || p[len(p)-1] < d.steps {
		p = append(p, d.steps)
	}
	return p
}

// changes lists what differs between two requests on the machine of t, and how much in all.
func changes(t *nodeset.Table, a, b *Job) (list []Change, size float64) {
	add := func(field, from, to string, relative float64) {
		if from != to {
			list, size = append(list, Change{field, from, to}), size+relative
		}
	}
	count := func(field string, from, to int64) {
		add(field, fmt.Sprint(from), fmt.Sprint(to), relative(from, to))
	}
	add("contiguous", fmt.Sprint(a.Contiguous), fmt.Sprint(b.Contiguous), 0.5)
	for _, x := range [...]struct {
		field    string
		from, to int
	}{{"switches", a.Switches, b.Switches}, {"within", a.Within, b.Within}, {"segment", a.Segment, b.Segment}} {
		add(x.field, fmt.Sprint(x.from), fmt.Sprint(x.to), 0.5)
	}
	count("time_limit_s", a.TimeLimit, b.TimeLimit)
	add("gpus_per_node", span(a.MinGPUs, max(a.MinGPUs, a.MaxGPUs)), span(b.MinGPUs, max(b.MinGPUs, b.MaxGPUs)),
		max(relative(int64(a.MinGPUs), int64(b.MinGPUs)), relative(int64(a.MaxGPUs), int64(b.MaxGPUs))))
	for i, u := range known(t, a.Uses) {
		count(fieldOf(t, u.Row, "per_node"), u.PerNode, b.Uses[i].PerNode)
		count(fieldOf(t, u.Row, "per_core"), u.PerCore, b.Uses[i].PerCore)
	}
	add("nodes", span(a.MinNodes, a.MaxNodes), span(b.MinNodes, b.MaxNodes),
		max(relative(int64(a.MinNodes), int64(b.MinNodes)), relative(int64(a.MaxNodes), int64(b.MaxNodes))))
	count("cores", int64(a.Cores), int64(b.Cores))
	count("tasks_per_node", int64(a.TasksPerNode), int64(b.TasksPerNode))
	return list, size
}

// span writes N or MIN-MAX; without a most it is the least alone.
func span(low, high int) string {
	if low >= high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

func relative(from, to int64) float64 {
	if from == 0 {
		return 0
	}
	return max(float64(from-to), float64(to-from)) / float64(from)
}

// fieldOf names what is taken of a further resource as a window file has it; a share of a GPU is a
// number of its own there.
func fieldOf(t *nodeset.Table, resource int, name string) string {
	if r, shared := t.Shares(); shared && resource == r {
		return t.ResourceName(r)
	}
	return "uses." + t.ResourceName(resource) + "." + name
}

// known is uses, if a machine like t has these resources, or else nil: a request may be one that is
// not valid while an alternative is.
func known(t *nodeset.Table, uses nodeset.Uses) nodeset.Uses {
	if place.CheckUses(uses, t.Resources()) != nil {
		return nil
	}
	return uses
}
