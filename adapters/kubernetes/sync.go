// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
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

// tell has the Cluster know what the model says. An error leaves it in between: another Cluster is due.
func (x *mirror) tell(m *model) error {
	for id, s := range x.running {
		if now, ok := m.running[id]; !ok || !reflect.DeepEqual(s, now) {
			if err := x.Ended(id); err != nil {
				return err
			}
			delete(x.running, id)
		}
	}
	waiting := make(map[string]*core.JobSpec, len(m.waiting))
	for i := range m.waiting {
		waiting[m.waiting[i].ID] = &m.waiting[i]
	}
	for id := range x.waiting {
		if waiting[id] == nil {
			if err := x.Cancel(id); err != nil {
				return err
			}
			delete(x.waiting, id)
		}
	}
	nodes := make(map[string]bool, len(m.nodes))
	for _, n := range m.nodes {
		nodes[n.Name] = true
	}
	for name := range x.nodes {
		if !nodes[name] {
			if _, err := x.RemoveNode(name); err != nil {
				return err
			}
			delete(x.nodes, name)
		}
	}
	for _, n := range m.nodes {
		if was, ok := x.nodes[n.Name]; ok && equal(was, n) {
			continue
		}
		if err := x.SetNode(n); err != nil {
			return err
		}
		x.nodes[n.Name] = n
	}
	maps.Copy(x.units, m.units)
	for name := range x.quotas {
		if _, ok := m.quotas[name]; !ok {
			m.quotas[name] = bids.MaxRate // nobody is bounded by it any more
		}
	}
	for name, limit := range m.quotas {
		if was, ok := x.quotas[name]; ok && was == limit {
			continue
		}
		if err := x.SetQuota(name, limit); err != nil {
			return err
		}
		x.quotas[name] = limit
	}
	for _, id := range sorted(m.running) {
		if _, ok := x.running[id]; !ok {
			if err := x.Adopt(m.running[id]); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			x.running[id] = m.running[id]
		}
	}
	for i := range m.waiting {
		spec := &m.waiting[i]
		was, ok := x.waiting[spec.ID]
		do := x.Submit
		if ok {
			do = x.Update
		}
		if ok && reflect.DeepEqual(was, *spec) {
			continue
		}
		if err := do(*spec); err != nil {
			for _, p := range slices.Concat(m.members[spec.ID]...) {
				m.refused[p] = err.Error()
			}
			delete(x.waiting, spec.ID)
			if ok {
				if err := x.Cancel(spec.ID); err != nil {
					return err
				}
			}
			continue
		}
		x.waiting[spec.ID] = *spec
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
