// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// mirror is a Cluster, and what it was told.
type mirror struct {
	*core.Cluster
	nodes    map[string]core.Node
	switches []nodeset.Switch
	quotas   map[string]int64
	units    map[string]int64
	running  map[string]core.Start
	waiting  map[string]core.JobSpec
}

func newMirror(o core.ClusterOptions, m *model) (*mirror, error) {
	c, err := core.NewCluster(o)
	if err != nil {
		return nil, err
	}
	x := &mirror{Cluster: c, nodes: make(map[string]core.Node), switches: m.switches, quotas: make(map[string]int64), units: m.units,
		running: make(map[string]core.Start), waiting: make(map[string]core.JobSpec)}
	return x, c.SetTopology(m.switches)
}

// fits reports whether what x was told can be changed to the model without another Cluster.
func (x *mirror) fits(m *model) bool {
	if x == nil || !slices.Equal(x.switches, m.switches) {
		return false
	}
	for name, unit := range m.units {
		if was, ok := x.units[name]; ok && was != unit {
			return false
		}
	}
	return true
}

// differences are the names that only was has, and those that only now has or has otherwise.
func differences[V any](was, now map[string]V, same func(a, b V) bool) (gone, news []string) {
	for _, name := range sorted(was) {
		if _, ok := now[name]; !ok {
			gone = append(gone, name)
		}
	}
	for _, name := range sorted(now) {
		if old, ok := was[name]; !ok || !same(old, now[name]) {
			news = append(news, name)
		}
	}
	return gone, news
}

// tell has the Cluster know what the model says. An error leaves it in between: another Cluster is due.
func (x *mirror) tell(m *model) error {
	ended, runs := differences(x.running, m.running, func(a, b core.Start) bool { return reflect.DeepEqual(a, b) })
	for _, id := range slices.Concat(ended, runs) { // those that are otherwise are adopted again
		if _, ok := x.running[id]; ok {
			if err := x.Ended(id); err != nil {
				return err
			}
			delete(x.running, id)
		}
	}
	waiting := make(map[string]core.JobSpec, len(m.waiting))
	for _, spec := range m.waiting {
		waiting[spec.ID] = spec
	}
	gone, submitted := differences(x.waiting, waiting, func(a, b core.JobSpec) bool { return reflect.DeepEqual(a, b) })
	for _, id := range gone {
		if err := x.Cancel(id); err != nil {
			return err
		}
		delete(x.waiting, id)
	}
	if err := x.tellNodes(m); err != nil {
		return err
	}
	for _, id := range runs {
		if err := x.Adopt(m.running[id]); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		x.running[id] = m.running[id]
	}
	news := make(map[string]bool, len(submitted))
	for _, id := range submitted {
		news[id] = true
	}
	for _, spec := range m.waiting { // in the order in which equals are served
		if news[spec.ID] {
			if err := x.submit(m, spec); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *mirror) tellNodes(m *model) error {
	nodes := make(map[string]core.Node, len(m.nodes))
	for _, n := range m.nodes {
		nodes[n.Name] = n
	}
	gone, news := differences(x.nodes, nodes, equal)
	for _, name := range gone {
		if _, err := x.RemoveNode(name); err != nil {
			return err
		}
	}
	slices.SortStableFunc(news, func(a, b string) int { return cmp.Compare(nodes[a].Leaf, nodes[b].Leaf) }) // neighbours
	for _, name := range news {
		if err := x.SetNode(nodes[name]); err != nil {
			return err
		}
	}
	x.nodes = nodes
	maps.Copy(x.units, m.units)
	free, limits := differences(x.quotas, m.quotas, func(a, b int64) bool { return a == b })
	for _, name := range free { // nobody is bounded by it any more
		m.quotas[name] = bids.MaxRate
	}
	for _, name := range slices.Concat(free, limits) {
		if err := x.SetQuota(name, m.quotas[name]); err != nil {
			return err
		}
	}
	x.quotas = m.quotas
	return nil
}

// submit submits a job, or changes it. Pods of one that is refused are told why.
func (x *mirror) submit(m *model, spec core.JobSpec) error {
	do := x.Submit
	_, known := x.waiting[spec.ID]
	if known {
		do = x.Update
	}
	fault := do(spec)
	if fault == nil {
		x.waiting[spec.ID] = spec
		return nil
	}
	for _, p := range slices.Concat(m.members[spec.ID]...) {
		m.refused[p] = fault.Error()
	}
	delete(x.waiting, spec.ID)
	if known {
		return x.Cancel(spec.ID)
	}
	return nil
}

// started has jobs be those that run, as they are until the next round tells more of them.
func (x *mirror) started(starts []core.Start) {
	for _, s := range starts {
		delete(x.waiting, s.Job)
		s.Begin = time.Time{}
		x.running[s.Job] = s
	}
}
