// SPDX-License-Identifier: BSD-3-Clause

package program

import (
	"fmt"
	"strings"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/nodeset"
)

// machine is the nodes by name.
type machine struct {
	names []string
	index map[string]int
}

// newMachine numbers the nodes from 1: n1, n2, ...
func newMachine(nodes int) *machine {
	m := &machine{index: make(map[string]int, nodes)}
	for n := range nodes {
		m.names = append(m.names, fmt.Sprintf("n%d", n+1))
		m.index[m.names[n]] = n
	}
	return m
}

// told is a window in which the fields that most programs look at are always there: nobody has to know
// what they are if they are absent. The fields here hide those of the same name below.
type told struct {
	*format.Window
	Nodes   []node           `json:"nodes"`
	Running []format.Running `json:"running"`
	Jobs    []job            `json:"jobs"`
}

type node struct {
	format.Node
	GPUs int `json:"gpus"`
}

type job struct {
	format.Job
	Waited int64        `json:"waited_s"`
	Cores  int          `json:"cores"`
	Nodes  format.Range `json:"nodes"`
	Tasks  int          `json:"tasks_per_node"`
	GPUs   format.Range `json:"gpus_per_node"`
}

// window is a snapshot as a file. Each node has an element of its own, and lists of nodes are names
// with commas: a reader need not know hostlists. Its time is 1970 plus the simulated seconds.
func (m *machine) window(s *core.Snapshot) *told {
	f := &told{Window: &format.Window{Time: time.Unix(s.Now, 0).UTC().Format(time.RFC3339)}, Nodes: make([]node, 0, len(m.names)),
		Running: make([]format.Running, 0, len(s.Running)), Jobs: make([]job, 0, len(s.Pending))}
	t := s.Nodes
	for n, name := range m.names {
		total, free := t.Total(n), t.Free(n)
		cores, gpus := int(free.Cores), int(free.GPUs)
		x := format.Node{Name: name, Cores: int(total.Cores), GPUs: int(total.GPUs), FreeCores: &cores, FreeGPUs: &gpus}
		if !t.Up(n) {
			x.State = format.Down
		}
		for r := range t.Resources() {
			if x.Resources == nil {
				x.Resources, x.FreeResources = make(format.Amounts), make(format.Amounts)
			}
			x.Resources[t.ResourceName(r)], x.FreeResources[t.ResourceName(r)] = t.TotalOf(r)[n], t.FreeOf(r)[n]
		}
		f.Nodes = append(f.Nodes, node{x, x.GPUs})
	}
	for i := range s.Running {
		r := &s.Running[i]
		end := max(r.End-s.Now, 0)
		x := format.Running{ID: r.ID, End: &end, Held: format.Held{Place: m.place(r.Segs), Uses: named(t, r.Uses)}}
		f.Running = append(f.Running, x)
	}
	for _, waits := range s.Pending {
		limit := waits.TimeLimit
		x := format.Job{ID: waits.ID, Priority: waits.Priority, TimeLimit: &limit, Waited: max(s.Now-waits.Since, 0),
			Request: m.request(t, &waits.Request), Prefer: m.list(waits.Prefer)}
		for k := range waits.Alternatives {
			x.Alternatives = append(x.Alternatives, m.request(t, &waits.Alternatives[k]))
		}
		nodes := x.Nodes
		switch {
		case nodes != format.Range{}:
		case x.Cores > 0:
			nodes = format.Range{Low: 1, High: len(m.names)}
		default:
			nodes = format.Range{Low: 1, High: 1}
		}
		f.Jobs = append(f.Jobs, job{x, x.Waited, x.Cores, nodes, x.TasksPerNode, x.GPUs})
	}
	return f
}

// place is where an allocation is.
func (m *machine) place(segs []nodeset.Segment) (p format.Place) {
	var on []string
	for _, s := range segs {
		for _, name := range m.names[s.First : s.Last+1] {
			on, p.Cores, p.GPUs = append(on, name), append(p.Cores, int(s.Cores)), append(p.GPUs, int(s.GPUs))
		}
	}
	p.Nodes = strings.Join(on, ",")
	return p
}

func (m *machine) request(t *nodeset.Table, r *bids.Request) format.Request {
	x := format.Request{Cores: r.Cores, TasksPerNode: r.TasksPerNode, Contiguous: r.Contiguous, Uses: named(t, r.Uses),
		Nodes: format.Range{Low: r.MinNodes, High: r.MaxNodes}, GPUs: format.Range{Low: r.MinGPUs, High: max(r.MinGPUs, r.MaxGPUs)},
		Switches: r.Switches, Within: r.Within, Segment: r.Segment}
	switch {
	case r.MaxNodes == 0 && r.MinNodes > 0 && r.Cores == 0:
		x.Nodes.High = r.MinNodes
	case r.MaxNodes == 0 && r.MinNodes > 0:
		x.Nodes.High = max(r.MinNodes, min(r.Cores, len(m.names)))
	case r.MinNodes == 0 && r.MaxNodes > 0:
		x.Nodes.Low = 1
	}
	if r.MixedGPUs {
		uniform := false
		x.GPUsUniform = &uniform
	}
	if r.Eligible != nil {
		list := m.list(r.Eligible)
		x.Eligible = &list
	}
	return x
}

// list is the nodes of a mask; "" for none.
func (m *machine) list(mask nodeset.Mask) string {
	var on []string
	for n, name := range m.names {
		if n>>6 < len(mask) && mask[n>>6]>>(n&63)&1 != 0 {
			on = append(on, name)
		}
	}
	return strings.Join(on, ",")
}

func named(t *nodeset.Table, uses nodeset.Uses) format.Uses {
	if len(uses) == 0 {
		return nil
	}
	return format.Named(uses, t.ResourceName)
}
